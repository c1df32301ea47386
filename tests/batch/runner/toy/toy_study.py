"""A study as small as they come: counts the letters of words, slowly if asked to. For tests of the batch runner."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field
from toy_letters import count

from nbkit.studies import base
from nbkit.studies.answering import Cell
from nbkit.studies.base import NOT_IN_KEYS, Notebook, StudyParams
from nbkit.studies.study import Study, Table

SHARD = 10


class ToyParams(StudyParams):
    """words: the grid. n: texts a word. bad: words whose notebook fails. killer: words whose unit of work is killed."""

    words: Annotated[list[str], NOT_IN_KEYS] = Field(default=["eins"])
    n: Annotated[int, NOT_IN_KEYS] = 20
    delay: Annotated[float, NOT_IN_KEYS] = 0.0
    bad: Annotated[list[str], NOT_IN_KEYS] = Field(default=[])
    killer: Annotated[list[str], NOT_IN_KEYS] = Field(default=[])

    def narrowed(self, word: str) -> ToyParams:
        return self.model_copy(update={"words": [word]})


def prepare(params: ToyParams) -> pd.DataFrame:
    _log("prepare")
    return pd.DataFrame({"ready": [True]})


def letters(params: ToyParams, cell: Cell, prepare: pd.DataFrame, start: int, n: int) -> Iterator[list[dict[str, Any]]]:
    """The number of letters of each text."""
    if cell.source in params.killer and "NBKIT_OUTPUT" not in os.environ:  # as if memory had run out
        os.kill(os.getpid(), 9)
    for number in range(start, min(start + n, params.n)):
        text = f"{cell.source} {number}"
        time.sleep(params.delay)
        _log(text)
        yield [{"item": text, "source": text, "letters": count(text)}]


def outcomes(params: ToyParams, cell: Cell, letters: pd.DataFrame) -> pd.DataFrame:
    if cell.source == os.environ.get("TOY_DUMB"):
        raise ValueError(f"{cell.source} is a dumb word")
    return letters[["item", "unit", "letters"]]


STUDY = Study(
    name="toy",
    title="How many letters?",
    paper="none",
    params=ToyParams,
    tables=(
        Table(prepare),
        Table(
            letters,
            inputs=lambda params, cell: os.environ.get("TOY_ALPHABET", "latin"),
            size=lambda params, cell: params.n,
            unit=SHARD,
        ),
        Table(outcomes),
    ),
    grid=("word",),
    points=lambda params: [Cell(word, "") for word in params.words],
    pages=lambda params: [base.PageCell(word, params.narrowed(word), {"word": word}) for word in params.words],
    check=lambda params, cell: [f"no such word: {cell.source}"] if cell.source == "nix" else [],
    notebooks=(
        Notebook("toy/letters", "Letters of a word", "cell"),
        Notebook("toy/summary", "Letters of all words", "grid"),
    ),
    behaviour=Path(__file__).with_name("behaviour.yaml"),
)


def _log(line: str) -> None:
    with Path(os.environ["TOY_LOG"]).open("a") as log:  # a line of a few bytes is appended whole
        log.write(f"{os.environ.get('OMP_NUM_THREADS')} {line}\n")
