"""Outcomes with the texts that browsers show, and where in these the homograph, its sense and the attractor are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from nbkit.studies.disambiguation.items import source_of
from nbkit.studies.disambiguation.senses import characters


def with_texts(rows: pd.DataFrame, items: pd.DataFrame, answers: pd.DataFrame, lang: str) -> pd.DataFrame:
    """Rows of outcomes or attacks with source, reference, output and spans; attacks with changed, too.

    items: those of the rows, or their samples, with the *answers* to each.
    """
    is_attack = "text" in items
    known = items.assign(output=answers["text" if is_attack else "source"]).set_index("item").loc[rows["item"]]
    every: list[dict[Any, Any]] = known.assign(words=rows["words"].to_numpy()).to_dict("records")
    shown = known[["source", *(["text"] if is_attack else []), "reference", "output"]].set_axis(rows.index)
    spans = [_attractor(row) if is_attack else [*_homograph(row, lang), *_judged(row), _sense(row)] for row in every]
    return rows.assign(**shown.rename(columns={"text": "changed"}), spans=pd.Series(spans, rows.index, dtype=object))


def _attractor(row: Mapping[Any, Any]) -> list[dict[str, Any]]:
    return [{"text": "changed", "start": int(row["start"]), "end": int(row["end"]), "label": "attractor"}]


def _sense(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {"text": "reference", "start": int(row["start"]), "end": int(row["end"]), "label": "sense"}


def _judged(row: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """The words of the output that the homograph became; not those that occur more than once."""
    for word in dict.fromkeys(row["words"].split()):
        places = [each.span() for each in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", row["output"])]
        if len(places) == 1:
            yield {"text": "output", "start": places[0][0], "end": places[0][1], "label": "judged"}


def _homograph(row: Mapping[Any, Any], lang: str) -> list[dict[str, Any]]:
    """Where the homograph of a test pair is in its source."""
    place = characters(row["source"], source_of(row, lang).tokens, int(row["token"]))
    return [{"text": "source", "start": place[0], "end": place[1], "label": row["homograph"]}] if place else []
