"""How far a training is: its steps under the model's name, with its last loss and measures."""

from __future__ import annotations

import os
from typing import Any

from tqdm.auto import tqdm
from transformers import TrainerCallback

from nbkit.progress import Lines, is_live


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
_TOLD = ("loss", "eval_accuracy", "eval_entropy", "eval_bleu")


def tell(trainer: Any, name: str) -> None:
    """Let *trainer* tell its progress under the model's *name*, in place of its own bars and raw numbers."""
    from transformers import PrinterCallback, ProgressCallback

    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)
    trainer.add_callback(TrainingProgress(name))
