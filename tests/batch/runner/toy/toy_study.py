"""A study as small as they come: counts the letters of words, slowly if asked to. For tests of the batch runner."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field
from toy_letters import count

from nbkit.store import Store
from nbkit.studies.base import Notebook, StudyParams
from nbkit.studies.engine import Axis, Study, asked

if TYPE_CHECKING:
    import pandas as pd

SHARD = 10


class ToyParams(StudyParams):
    """words: the grid. n: texts a word. bad, dumb: words whose notebook, outcomes fail."""

    words: list[str] = Field(default=["eins"])
    n: int = 20
    delay: float = 0.0
    bad: list[str] = Field(default=[])
    killer: list[str] = Field(default=[])

    def narrowed(self, word: str) -> ToyParams:
        return self.model_copy(update={"words": [word]})


STUDY = Study(
    name="toy",
    title="How many letters?",
    paper="none",
    params=ToyParams,
    axes={"word": Axis(lambda params: params.words)},
    grid=("word",),
    check=lambda params: [f"no such word: {word}" for word in params.words if word == "nix"],
    inputs=lambda params: {"alphabet": os.environ.get("TOY_ALPHABET", "latin")},
    notebooks=(
        Notebook("toy/letters", "Letters of a word", "cell"),
        Notebook("toy/summary", "Letters of all words", "grid"),
    ),
)


@STUDY.work("prepare")
def prepare(params: ToyParams, store: Store) -> None:
    _log("prepare")


@STUDY.work(
    "letters of {word}",
    per=["word"],
    after=[prepare],
    counts=lambda params, word, store: asked(_config(), _inputs(word, params.n), store),
)
def fill(params: ToyParams, word: str, store: Store) -> None:
    if word in params.killer:
        os.kill(os.getpid(), 9)
    lengths(word, params.n, params.delay)


@STUDY.outcomes(headline="toy_study:lengths")
def found(params: ToyParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    import pandas as pd

    for word in params.words:
        if word == os.environ.get("TOY_DUMB"):
            raise ValueError(f"{word} is a dumb word")
        values = lengths(word, params.n, params.delay)
        names = [f"{word} {number}" for number in range(params.n)]
        table = pd.DataFrame({"item": names, "value": [float(value) for value in values], "cluster": names})
        table = table.assign(system="counter", source_language="de", measure="letters", groups=[{}] * len(names))
        yield table.assign(source=names, output=[str(value) for value in values]) if texts else table


@found.table
def again(found: pd.DataFrame) -> pd.DataFrame:
    return found.groupby("system")["value"].sum().reset_index()


def lengths(word: str, n: int, delay: float = 0.0) -> list[int]:
    """What the notebook shows: computed where it is not remembered."""

    def compute(inputs: list[tuple[str, ...]]) -> Iterator[dict]:
        for (text,) in inputs:
            time.sleep(delay)
            _log(text)
            yield {"letters": count(text)}

    return [row["letters"] for row in Store().records(_config(), _inputs(word, n), compute, shard=SHARD)]


def _inputs(word: str, n: int) -> list[tuple[str]]:
    return [(f"{word} {number}",) for number in range(n)]


def _config() -> dict:
    return {"kind": "letters", "version": 1}


def _log(line: str) -> None:
    with Path(os.environ["TOY_LOG"]).open("a") as log:  # a line of a few bytes is appended whole
        log.write(f"{os.environ.get('OMP_NUM_THREADS')} {line}\n")
