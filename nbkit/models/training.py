"""Training a model of any kind: its folder, made once and resumed after a kill, its card, progress and batches."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from filelock import FileLock
from torch.utils.data import Dataset
from tqdm.auto import tqdm
from transformers import TrainerCallback

from nbkit.errors import ModelError, NbkitError
from nbkit.models import weights
from nbkit.models.loading import attention_mask, padded
from nbkit.models.recipes import Recipe
from nbkit.models.weights import RECORD_FILE, write_digests
from nbkit.progress import Lines, is_live
from nbkit.seeding import generator

#: Bytes that a checkpoint always needs: with less left, the disk is what was in the way.
_ROOM = 2**20


def trained_once(
    record: Mapping[str, Any], output: Path, train: Callable[[Path], Path], *, resume: bool = True
) -> Path:
    """*output*, as *train* makes it in a working folder beside it: what it returns is moved to *output*.

    record: what identifies the model, its ``recipe`` above all. A folder that was made by it is left as it is; one in
    training goes on from what is there (``resume=False`` begins anew). Of several processes one works and the others
    wait. Raises `ModelError` where *output* is there already and was not made by the recipe, or where the disk is full.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    work = output.with_name(f".{output.name}.training")
    with _one_at_a_time(output), _full_disk_told(output):
        if _recipe_in(output) == record["recipe"] and weights.is_complete(output):
            return output
        if output.exists():
            raise ModelError(f"{output} is there already, and not by this recipe: remove it or take another folder")
        if is_main_process():
            if not resume or _recipe_in(work) != record["recipe"]:
                shutil.rmtree(work, ignore_errors=True)
            work.mkdir(exist_ok=True)
            write_record(record, work)
        finished = train(work)
        if is_main_process():
            write_digests(finished)
            finished.replace(output)
            shutil.rmtree(work)
    return output


@dataclass(frozen=True)
class Card:
    """What differs between the model cards (``README.md``) of the kinds of models.

    task: as hubs call it. title: what it is. data: what it was trained on, and what that means. scores: how good it is,
    with a heading. packages: it was made with. remarks: what else is to be known, before these.
    """

    task: str
    title: str
    data: str
    scores: str
    packages: tuple[str, ...]
    remarks: str = ""


@dataclass(frozen=True)
class Training:
    """One model in training: its recipe, what identifies it, the folder it is made in, and its name.

    started: the clock when it began.
    """

    recipe: Any
    record: Mapping[str, Any]
    work: Path
    name: str
    started: float = field(default_factory=time.monotonic)

    @property
    def checkpoints(self) -> Path:
        """The folder of its checkpoints."""
        return self.work / "checkpoints"

    def through(
        self,
        trainer: Any,
        tokenizer: Any,
        facts: Callable[[Any], Mapping[str, Any]],
        card: Callable[[Path], Card],
    ) -> Path:
        """The folder of the model that *trainer* made, trained on from its last checkpoint, with tokenizer and card.

        facts: what the card says of the training, by its result; weights that it changes are those that are kept.
        card: of the model in a folder.
        """
        tell(trainer, self.name)
        result = trainer.train(resume_from_checkpoint=last_checkpoint(self.checkpoints))
        finished = self.work / "finished"
        if trainer.is_world_process_zero():
            model = trainer.accelerator.unwrap_model(trainer.model)
            found = facts(result)
            save_trained(model, tokenizer, self.record, finished)
            found = {**found, "parameters": model.num_parameters(), "vocabulary": len(tokenizer)}
            found_card = card(finished)
            write_card(found_card, self.recipe, finished, {**found, "seconds": round(time.monotonic() - self.started)})
        trainer.accelerator.wait_for_everyone()
        return finished


def train_by(
    recipe: Recipe,
    languages: Mapping[str, Any],
    output: Path,
    train: Callable[[Training], Path],
    *,
    resume: bool = True,
) -> Path:
    """`trained_once` by a *recipe*; *languages* stand beside it in the folder's record."""
    record = {**languages, "recipe": recipe.model_dump(mode="json")}
    output = Path(output)
    return trained_once(record, output, lambda work: train(Training(recipe, record, work, output.name)), resume=resume)


def write_card(card: Card, recipe: Recipe, folder: Path, facts: Mapping[str, Any]) -> None:
    """Writes ``README.md``: data, settings, what came of the training (*facts*) and how good the model is."""
    languages = "\n".join(f"  - {lang}" for lang in recipe.languages)
    made_with = ", ".join(f"{name} {version(name)}" for name in ("nbkit", *card.packages))
    (folder / "README.md").write_text(
        f"""---
library_name: transformers
pipeline_tag: {card.task}
language:
{languages}
---

# {card.title}

{card.data} Made for behavioural tests, not for use.

{card.scores}

## Training

{table("| | |", facts.items())}

## Settings

{table("| field | value |", recipe.settings.items())}

{card.remarks}Made with {made_with}.
""",
        encoding="utf-8",
    )


def table(header: str, rows: Iterable[Iterable[object]]) -> str:
    """A table of a model card.

    >>> print(table("| loss | steps |", [(0.5, 2)]))
    | loss | steps |
    |---|---|
    | 0.5 | 2 |
    """
    lines = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join([header, "|" + "---|" * (header.count("|") - 1), *lines])


def last_checkpoint(folder: Path) -> str | None:
    """The newest checkpoint that was written to its end: the trainer's state is its last file."""
    found = [path for path in folder.glob("checkpoint-*") if _is_whole(path / "trainer_state.json")]
    newest = max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    return None if newest is None else str(newest)


def _is_whole(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def _recipe_in(folder: Path) -> Any:
    return weights.read_record(folder).get("recipe")


def write_record(record: Mapping[str, Any], folder: Path) -> None:
    """Writes `RECORD_FILE`, whole or not at all."""
    temporary = folder / f".{RECORD_FILE}.{os.getpid()}"
    temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")
    temporary.replace(folder / RECORD_FILE)


def save_trained(model: Any, tokenizer: Any, record: Mapping[str, Any], folder: Path) -> None:
    """Everything that a folder needs to be loaded from, and what it was made by."""
    fresh(folder)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_record(record, folder)


def fresh(folder: Path) -> Path:
    """*folder*, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def common_arguments(recipe: Recipe, folder: Path) -> dict[str, Any]:
    """What the trainers of all kinds of models are told: an item of their data set is a whole batch."""
    return {
        "output_dir": str(folder),
        "max_steps": recipe.steps or -1,
        "num_train_epochs": recipe.epochs or 1.0,
        "per_device_train_batch_size": 1,
        "warmup_steps": recipe.warmup,
        "max_grad_norm": 1.0,
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        "seed": recipe.seed,
        "save_strategy": "steps",
        "save_steps": recipe.save_every,
        "save_total_limit": 2,
        "logging_steps": 50,
        "remove_unused_columns": False,
        "dataloader_pin_memory": torch.cuda.is_available(),
        "disable_tqdm": True,
        "report_to": [],
    }


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many CPU threads: sums are then rounded alike in every run."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _full_disk_told(output: Path) -> Iterator[None]:
    """Libraries have words of their own for it ("PytorchStreamWriter failed writing file"), and no place."""
    try:
        yield
    except NbkitError:
        raise
    except Exception as error:
        if shutil.disk_usage(output.parent).free > _ROOM:
            raise
        raise ModelError(
            f"training stopped: the disk of {output.parent} is full ({type(error).__name__}: {str(error)[:80]}); make "
            "room there and run it again, which goes on from the last checkpoint"
        ) from error


@contextmanager
def _one_at_a_time(output: Path) -> Iterator[None]:
    """One process trains a folder; under ``accelerate launch`` the first one locks for its whole team."""
    if not is_main_process():
        yield
        return
    with FileLock(output.with_name(f".{output.name}.lock")):
        yield


def is_main_process() -> bool:
    """Whether this is the first, or only, process of a training run."""
    return int(os.environ.get("RANK", "0")) == 0


# ----------------------------------------------------------------------------
# How far a training is: its steps under the model's name, with its last loss and measures.


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


# ----------------------------------------------------------------------------
# Training pairs as ready-made batches of like length: a data set whose items are whole batches.


@dataclass(frozen=True)
class Example:
    """Token ids of one training pair, special tokens included; the target as the labels are.

    prefix: what the decoder reads, where that is not its start and the labels but the last.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    prefix: tuple[int, ...] | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Positions of the target and of the source."""
        return len(self.target), len(self.source)


class HasLengths(Protocol):
    """Anything of parts, each of which is padded to the longest of its batch."""

    @property
    def lengths(self) -> tuple[int, ...]: ...


ExampleT = TypeVar("ExampleT", bound=HasLengths)


class Batches(Dataset, Generic[ExampleT]):
    """Batches of pairs of like length, each of *budget* tokens at most, padding included.

    What is trained on together is drawn from *seed* (pairs of one length are in random order), so that an
    interrupted run sees the same batches when it goes on. The trainer shuffles the batches.
    """

    def __init__(self, examples: Sequence[ExampleT], budget: int, seed: int):
        order = generator(seed, "batches").permutation(len(examples))
        ranked = sorted(order.tolist(), key=lambda i: examples[i].lengths)
        self.batches: list[list[ExampleT]] = [[]]
        widths: tuple[int, ...] = ()
        for i in ranked:
            lengths = examples[i].lengths
            widths = tuple(map(max, widths, lengths)) if self.batches[-1] else lengths
            if self.batches[-1] and (len(self.batches[-1]) + 1) * sum(widths) > budget:
                self.batches.append([])
                widths = lengths
            self.batches[-1].append(examples[i])

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> list[ExampleT]:
        return self.batches[index]


@dataclass(frozen=True)
class Collate:
    """Makes tensors of batches: padded ids, their mask, labels (−100 where padded) and the decoder's inputs.

    pad: the padding id. start: the token that the decoder starts with.

    >>> batch = Collate(pad=9, start=0)([[Example((5, 1), (6, 7, 1)), Example((5, 6, 1), (8, 1))]])
    >>> batch["labels"].tolist(), batch["decoder_input_ids"].tolist()
    ([[6, 7, 1], [8, 1, -100]], [[0, 6, 7], [0, 8, 9]])
    """

    pad: int
    start: int

    def __call__(self, batches: Sequence[Sequence[Example]]) -> dict[str, torch.Tensor]:
        examples = [example for batch in batches for example in batch]
        source = padded([example.source for example in examples], self.pad)
        labels = padded([example.target for example in examples], -100)
        shifted = [example.prefix or (self.start, *example.target[:-1]) for example in examples]
        return {
            "input_ids": source,
            "attention_mask": attention_mask([example.source for example in examples]),
            "labels": labels,
            "decoder_input_ids": padded(shifted, self.pad),
        }
