"""Training a model of any kind: its folder, made once and resumed after a kill, its card, progress and batches."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
import yaml
from filelock import FileLock
from torch.utils.data import Dataset
from tqdm.auto import tqdm
from transformers import PrinterCallback, ProgressCallback, Trainer, TrainerCallback, TrainingArguments

from nbkit.errors import ModelError, NbkitError
from nbkit.models import weights
from nbkit.models.loading import attention_mask, padded, quiet
from nbkit.models.recipes import Recipe
from nbkit.models.weights import RECORD_FILE, write_digests
from nbkit.progress import Lines, is_live
from nbkit.seeding import generator

#: Bytes that a checkpoint always needs: with less left, the disk is what was in the way.
_ROOM = 2**20


def trained_once(
    record: Mapping[str, Any], output: Path, train: Callable[[Path], Path], *, resume: bool = True
) -> Path:
    """*output*, made by *train* in a working folder beside it: the folder that it returns is moved to *output*.

    record: identifies the model, mainly by its ``recipe``. A finished folder with this record is unchanged; an
    unfinished one is resumed (``resume=False`` starts over). Of several processes one works and the others wait. Raises
    `ModelError` if *output* exists and was not made by the recipe, or if the disk is full.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    work = output.with_name(f".{output.name}.training")
    with _one_at_a_time(output), _full_disk_told(output):
        if _recipe_in(output) == record["recipe"] and weights.is_complete(output):
            return output
        if output.exists():
            raise ModelError(f"{output} exists and was not made by this recipe: remove it or use another folder")
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
    """The model card of a kind of model in ``cards.yaml``.

    rows: how good the model is. said: what the card's texts name beside the fields of the recipe.
    """

    kind: str
    rows: Iterable[Iterable[object]]
    said: Mapping[str, object]

    def page(self, recipe: Recipe, facts: Mapping[str, object]) -> str:
        """The text of ``README.md``: data, settings, what came of the training (*facts*) and how good the model is."""
        known = {**dict(recipe), **self.said}
        texts = {part: text.format(**known) for part, text in _cards()[self.kind].items()}
        return _cards()["page"].format(
            **texts,
            languages="\n".join(f"  - {lang}" for lang in recipe.languages),
            measured=table(texts["columns"], self.rows),
            training=table("| | |", facts.items()),
            settings=table("| field | value |", recipe.settings.items()),
            made_with=", ".join(f"{name} {version(name)}" for name in texts["packages"].split()),
        )


@cache
def _cards() -> dict[str, Any]:
    return yaml.safe_load(Path(__file__).with_name("cards.yaml").read_text(encoding="utf-8"))


def shown(value: float | None, form: str, none: str) -> str:
    """A measure on a card, *none* where there was nothing to measure.

    >>> shown(0.123, ".1%", "no pairs"), shown(None, ".1%", "no pairs")
    ('12.3%', 'no pairs')
    """
    return none if value is None else format(value, form)


def table(header: str, rows: Iterable[Iterable[object]]) -> str:
    """A table of a model card.

    >>> print(table("| loss | steps |", [(0.5, 2)]))
    | loss | steps |
    |---|---|
    | 0.5 | 2 |
    """
    lines = (f"| {' | '.join(map(str, row))} |" for row in rows)
    return "\n".join([header, "|" + "---|" * (header.count("|") - 1), *lines])


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

    def arguments(self, **more: Any) -> TrainingArguments:
        """The arguments of the trainers of all kinds of models; *more* overrides them.

        An item of their data set is a whole batch.
        """
        recipe: Recipe = self.recipe
        common: dict[str, Any] = {
            "output_dir": str(self.checkpoints),
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
        return TrainingArguments(**{**common, **more})

    def best_by(self, measure: str) -> dict[str, Any]:
        """Arguments of a trainer that measures each checkpoint on dev and keeps the one with the highest *measure*."""
        return {
            "eval_strategy": "steps",
            "eval_steps": self.recipe.save_every,
            "load_best_model_at_end": True,
            "metric_for_best_model": measure,
            "greater_is_better": True,
        }

    def through(
        self,
        trainer: Trainer,
        tokenizer: Any,
        facts: Callable[[Any], Mapping[str, Any]],
        card: Callable[[Path], Card],
    ) -> Path:
        """The folder of the model that *trainer* made, trained on from its last checkpoint, with tokenizer and card.

        facts: what the card says of the training, by its result; weights that it changes are those that are stored.
        card: of the model in a folder.
        """
        for bars in (PrinterCallback, ProgressCallback):  # the trainer's own bars and raw numbers
            trainer.remove_callback(bars)
        if trainer.is_world_process_zero():
            trainer.add_callback(TrainingProgress(self.name))
        result = trainer.train(resume_from_checkpoint=last_checkpoint(self.checkpoints))
        finished = self.work / "finished"
        if trainer.is_world_process_zero():
            model: Any = trainer.accelerator.unwrap_model(trainer.model)
            found = dict(facts(result))
            save_trained(model, tokenizer, self.record, finished)
            found |= {"parameters": model.num_parameters(), "vocabulary": len(tokenizer)}
            page = card(finished).page(self.recipe, {**found, "seconds": round(time.monotonic() - self.started)})
            (finished / "README.md").write_text(page, encoding="utf-8")
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
    """`trained_once` by a *recipe*, on its threads; *languages* stand beside it in the folder's record."""
    record = {**languages, "recipe": recipe.model_dump(mode="json")}
    output = Path(output)

    def in_folder(work: Path) -> Path:
        with threads(recipe.threads), quiet():
            return train(Training(recipe, record, work, output.name))

    return trained_once(record, output, in_folder, resume=resume)


def checkpoints_in(folder: Path) -> list[Path]:
    """The checkpoints in *folder*, oldest first."""
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))


def last_checkpoint(folder: Path) -> str | None:
    """The newest checkpoint that was written to its end: the trainer's state is its last file."""
    whole = [path for path in checkpoints_in(folder) if _is_whole(path / "trainer_state.json")]
    return str(whole[-1]) if whole else None


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
    """Replace libraries' errors for a full disk ("PytorchStreamWriter failed writing file"), which name no folder."""
    try:
        yield
    except NbkitError:
        raise
    except Exception as error:
        if shutil.disk_usage(output.parent).free > _ROOM:
            raise
        raise ModelError(
            f"training stopped: the disk of {output.parent} is full ({type(error).__name__}: {str(error)[:80]}); free "
            "space there and run again to continue from the last checkpoint"
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
    """The steps of a training with its last loss and measures, under the model's name; of the first process alone.

    In a worker process, which draws no bars (``TQDM_DISABLE``), it writes lines.
    """

    def __init__(self, name: str):
        self._description = f"train {name}"
        self._bar: Any = None
        self._notes: dict[str, float] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if is_live() and not os.environ.get("TQDM_DISABLE"):
            self._bar = tqdm(total=state.max_steps, initial=state.global_step, desc=self._description, unit="step")
        else:
            self._bar = Lines(self._description, state.max_steps, "steps")
            self._bar.done = state.global_step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._bar.update()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        named = {name.removeprefix("eval_"): value for name, value in (logs or {}).items() if name in _TOLD}
        self._notes.update(named)
        self._bar.set_postfix_str(", ".join(f"{name} {value:.3f}" for name, value in self._notes.items()))

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if isinstance(self._bar, Lines):
            self._bar.say()
        self._bar.close()


#: The trainer's measures that are shown; its speed is in batches, which is not informative.
_TOLD = ("loss", "eval_accuracy", "eval_entropy", "eval_bleu")


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
    numbers: of the examples in each batch.
    """

    def __init__(self, examples: Sequence[ExampleT], budget: int, seed: int):
        self.examples = examples
        order = generator(seed, "batches").permutation(len(examples))
        self.numbers: list[list[int]] = [[]]
        widths: tuple[int, ...] = ()
        for number in sorted(order.tolist(), key=lambda number: examples[number].lengths):
            lengths = examples[number].lengths
            widths = tuple(map(max, widths, lengths)) if self.numbers[-1] else lengths
            if self.numbers[-1] and (len(self.numbers[-1]) + 1) * sum(widths) > budget:
                self.numbers.append([])
                widths = lengths
            self.numbers[-1].append(number)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> list[ExampleT]:
        return [self.examples[number] for number in self.numbers[index]]


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
