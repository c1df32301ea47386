"""Progress of long work: a bar if somebody is watching, else a line now and then."""

from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from typing import Any

#: Seconds between two lines, if no bar can be drawn.
SECONDS_A_LINE = 30.0


def progress_bar(description: str, total: int, shown: bool = True, *, unit: str = "text") -> Any:
    """A bar over *total* texts, for a ``with`` block that calls its ``update(count)``.

    Prints lines if the output goes to a file (`Lines`), and nothing if not *shown*, if *total* is 0, or if
    ``TQDM_DISABLE`` is set.
    unit: what is counted, in the singular.

    >>> with progress_bar("translate", 0) as bar:
    ...     bar.update(1)
    """
    wanted = shown and total > 0 and not os.environ.get("TQDM_DISABLE")
    if wanted and not is_live():
        return nullcontext(Lines(description, total, f"{unit}s"))
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=description, unit=unit, disable=not wanted)


def is_live() -> bool:
    """Whether a bar can be redrawn in place: on a terminal and in a notebook."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    return sys.stderr.isatty() or bool(kernel and kernel.IPKernelApp.initialized())


class Lines:
    """The content of a bar as a line on standard error every `SECONDS_A_LINE` seconds, for log files."""

    def __init__(self, description: str, total: int, unit: str):
        self.description, self.total, self.unit = description, total, unit
        self.done, self.note = 0, ""
        self._began = self._written = time.monotonic()

    def update(self, count: int = 1) -> None:
        """Count *count* more items as done, and print a line if it is time for one."""
        self.done += count
        if time.monotonic() - self._written >= SECONDS_A_LINE:
            self.write_line()

    def set_postfix_str(self, note: str, refresh: bool = True) -> None:
        """Set what the next line shows after the numbers."""
        self.note = note

    def write_line(self) -> None:
        """Write a line."""
        self._written = time.monotonic()
        parts = [f"{self.done}/{self.total} {self.unit}", self.note, f"{self._written - self._began:.0f} s"]
        print(f"{self.description}: {', '.join(filter(None, parts))}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End without a last line."""


def duration(seconds: float) -> str:
    """*seconds* in readable units.

    >>> duration(0.4), duration(75), duration(7260)
    ('0.4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
