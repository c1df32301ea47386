"""A study of lines of a file, small enough to see through: what the engine's own tests run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from nbkit.files import file_digest
from nbkit.studies.answering import Cell
from nbkit.studies.base import NOT_IN_KEYS, Languages, TranslatorParams, Translators, only
from nbkit.studies.study import Study, Table


class ToyParams(TranslatorParams):
    """Parameters of the toy study."""

    file: Annotated[str, NOT_IN_KEYS] = ""
    source: Annotated[str, NOT_IN_KEYS] = "en"
    languages: Annotated[Languages, NOT_IN_KEYS] = Field(default=["de"])
    models: Annotated[Translators, NOT_IN_KEYS] = Field(default=["dummy"])
    n: Annotated[int | None, NOT_IN_KEYS] = None
    upper: bool = False
    penalty: Annotated[float, only("outcomes")] = 0.0
    best: Annotated[int, only("longest")] = 1
    shown: Annotated[int, NOT_IN_KEYS] = Field(default=3, description="Rows that a page shows.")

    def narrowed(self, language: str, model: str) -> ToyParams:
        return self.model_copy(update={"languages": [language], "models": [model]})


def lines(params: ToyParams, cell: Cell) -> str:
    return file_digest(params.file)


def check(params: ToyParams, cell: Cell) -> Iterator[str]:
    if not Path(params.file).is_file():
        yield f"file: there is no {params.file}"


def items(params: ToyParams, cell: Cell, start: int, n: int) -> Iterator[list[dict[str, Any]]]:
    """Of each line the whole, and its first word where it has several."""
    for line in Path(params.file).read_text().splitlines()[start : start + n]:
        text = line.upper() if params.upper else line
        yield [
            {"kind": "line", "source": text},
            *([{"kind": "word", "source": text.split()[0]}] if " " in text else []),
        ]


def outcomes(params: ToyParams, cell: Cell, items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    if (answers["source"] == "FAIL").any():
        raise ValueError("an answer that cannot be judged")
    ratio = answers["source"].str.len() / items["source"].str.len() - params.penalty
    same = answers["source"] == items["source"]
    return items[["item", "unit", "kind"]].assign(ratio=ratio, same=same, reason="changed")


def lengths(params: ToyParams, cell: Cell, items: pd.DataFrame) -> pd.DataFrame:
    return items[["item"]].assign(length=items["source"].str.len())


def longest(params: ToyParams, cell: Cell, all_items: pd.DataFrame) -> pd.DataFrame:
    order = all_items["source"].str.len().sort_values(ascending=False, kind="stable").index
    return all_items.loc[order[: params.best], ["item", "source"]]


def guarded(params: ToyParams, cell: Cell, all_items: pd.DataFrame) -> pd.DataFrame:
    """Reads a field that is in the key of another table alone."""
    return all_items.head(params.best)


def again(params: ToyParams, cell: Cell, longest: pd.DataFrame, ask: Any) -> pd.DataFrame:
    """Adaptive: asks what came of an answer."""
    first = ask(longest["source"].tolist())
    return longest.assign(first=first, second=ask(first))


def ranks(params: ToyParams, all_outcomes: pd.DataFrame) -> pd.DataFrame:  # pragma: no cover - only declared
    return all_outcomes


STUDY = Study(
    name="toy", title="Toy", paper="none", params=ToyParams, check=check,
    tables=(
        Table(items, inputs=lines, size=lambda params, cell: params.n, unit=4),
        Table(outcomes, columns=("item", "unit", "kind", "ratio", "same", "reason")),
        Table(lengths), Table(longest), Table(again),
    ),
)  # fmt: skip
GUARDED = Table(guarded)
