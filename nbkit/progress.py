"""How far a long piece of work is: a bar where somebody looks at one, else a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

#: Seconds between two lines where no bar can be drawn.
SECONDS_A_LINE = 30.0


def progress_bar(description: str, total: int, shown: bool = True, *, unit: str = "text") -> Any:
    """A bar over *total* texts, for a ``with`` block that calls its ``update(count)``.

    Lines where the output goes to a file (`Lines`), nothing for what is not *shown* or holds nothing, nor where the
    environment has ``TQDM_DISABLE``.
    unit: what is counted, in the singular.

    >>> with progress_bar("translate", 0) as bar:
    ...     bar.update(1)
    """
    wanted = shown and total > 0 and not os.environ.get("TQDM_DISABLE")
    if wanted and not is_live():
        return Lines(description, total, f"{unit}s")
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=description, unit=unit, disable=not wanted)


def is_live() -> bool:
    """Whether a bar can be drawn over itself: on a terminal and in a notebook."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    return sys.stderr.isatty() or bool(kernel and kernel.IPKernelApp.initialized())


class Lines:
    """What a bar shows, as a line on standard error every `SECONDS_A_LINE` seconds: for log files."""

    def __init__(self, description: str, total: int, unit: str):
        self.description, self.total, self.unit = description, total, unit
        self.done, self.note = 0, ""
        self._began = self._said = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, count: int = 1) -> None:
        """So many more are done."""
        self.done += count
        if time.monotonic() - self._said >= SECONDS_A_LINE:
            self.say()

    def set_postfix_str(self, note: str, refresh: bool = True) -> None:
        """What the next line says after the numbers."""
        self.note = note

    def say(self) -> None:
        """Write a line."""
        self._said = time.monotonic()
        parts = [f"{self.done}/{self.total} {self.unit}", self.note, f"{self._said - self._began:.0f} s"]
        print(f"{self.description}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing more is to come."""
