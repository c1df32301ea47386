"""How far a long piece of work is: a bar where somebody looks at one, else a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from tqdm.auto import tqdm
from transformers import TrainerCallback

#: Seconds between two lines where no bar can be drawn.
SECONDS_A_LINE = 30.0


def progress_bar(description: str, total: int, shown: bool) -> Any:
    """A bar over texts, for a ``with`` block; lines where the output goes to a file, none for what is quick."""
    if shown and total and not is_live() and not os.environ.get("TQDM_DISABLE"):
        return Lines(description, total, "texts")
    return tqdm(total=total, desc=description, unit="text", disable=not shown or total == 0)


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


class TrainingProgress(TrainerCallback):
    """The steps of a training with its last loss and measures, under the model's name.

    In a worker process, which draws no bars (``TQDM_DISABLE``), it writes lines.
    """

    def __init__(self, name: str):
        self._description = f"train {name}"
        self._bar: Any = None
        self._notes: dict[str, float] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not state.is_world_process_zero:
            return
        if is_live() and not os.environ.get("TQDM_DISABLE"):
            self._bar = tqdm(total=state.max_steps, initial=state.global_step, desc=self._description, unit="step")
        else:
            self._bar = Lines(self._description, state.max_steps, "steps")
            self._bar.done = state.global_step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._bar is not None:
            self._bar.update()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if self._bar is None:
            return
        named = {name.removeprefix("eval_"): value for name, value in (logs or {}).items() if name in _TOLD}
        self._notes.update(named)
        self._bar.set_postfix_str(", ".join(f"{name} {value:.3f}" for name, value in self._notes.items()))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if isinstance(self._bar, Lines):
            self._bar.say()
        if self._bar is not None:
            self._bar.close()


#: What is told of all that the trainer measures; its speed counts batches, which says nothing of pairs.
_TOLD = ("loss", "eval_accuracy", "eval_entropy")


def tell(trainer: Any, name: str) -> None:
    """Let *trainer* tell its progress under the model's *name*, in place of its own bars and raw numbers."""
    from transformers import PrinterCallback, ProgressCallback

    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)
    trainer.add_callback(TrainingProgress(name))
