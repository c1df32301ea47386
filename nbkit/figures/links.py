"""What leads from tables and from marks of figures to the sentences behind them, in the browser of the report."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any
from urllib.parse import urlencode

import pandas as pd
from pandas.api.types import is_numeric_dtype

from nbkit.figures.styles import ACROSS, reads_as_number

_NAME = 60  # characters: what is longer is a sentence
#: What the browser of sentences calls a column, and the columns that may hold a sentence.
_FILTERS: dict[Hashable, str] = {"target_language": "language"}
_SENTENCES = ("source", "premise", "sentence", "text")


def filters(frame: pd.DataFrame) -> list[dict[str, str]]:
    """What each row of *frame* is of, by its columns of names: the filters that lead to its sentences.

    >>> filters(pd.DataFrame({"target_language": ["de"], "beta": [0.1], "shown": ["0.1 [0.0, 0.2]"]}))
    [{'language': 'de'}]
    """
    texts = [name for name in frame if not is_numeric_dtype(frame[name]) and not reads_as_number(frame[name])]
    rows = (
        {_FILTERS.get(key, str(key)): value for key, value in row.items()} for row in frame[texts].to_dict("records")
    )
    return [
        {k: value for k, value in row.items() if isinstance(value, str) and 0 < len(value) <= _NAME} for row in rows
    ]


def cell_filters(frame: pd.DataFrame, columns: Iterable[Hashable]) -> dict[str, Any]:
    """What the cells of a table are of: `filters` of its rows, its *columns*, and of what these are values, if of any.

    frame: the table's rows, with columns that are not shown.
    """
    across = frame.attrs.get(ACROSS, "")
    heads = [_FILTERS.get(name, str(name)) for name in columns]
    return {"rows": filters(frame), "columns": heads, "across": _FILTERS.get(across, across)}


def text_filters(frame: pd.DataFrame, columns: Iterable[Hashable]) -> dict[str, Any]:
    """What leads from a table of sentences to each of them: the *column* with it, and a phrase of it for each row.

    frame: the table's rows, with columns that are not shown. The phrase stands in the sentence as it is: without
    quotation marks and what HTML marks in it. Empty where there are no sentences, or none is shown.

    >>> frame = pd.DataFrame({"source": ['He said "it is <mark>12</mark> kilometres from here".'], "n": [1]})
    >>> text_filters(frame, ["n", "source"])
    {'column': 1, 'phrases': ['kilometres from here']}
    """
    column = next((name for name in _SENTENCES if name in frame and not is_numeric_dtype(frame[name])), None)
    shown = list(map(str, columns))
    place = next((shown.index(name) for name in (column, "texts", "text", "sentence") if name in shown), None)
    if column is None or place is None:
        return {}
    parts = ([part.strip() for part in re.split(r"<[^>]*>|[\"<>&\n]", str(text))] for text in frame[column])
    return {"column": place, "phrases": [max(part, key=len)[:_NAME] for part in parts]}


def links(frame: pd.DataFrame) -> list[str]:
    """The addresses, seen from a page of the report, of the sentences behind each row of *frame*.

    >>> links(pd.DataFrame({"language": ["de"], "beta": [0.1]}))
    ['../sentences.html#language=de']
    """
    return [f"../sentences.html#{urlencode(each)}" for each in filters(frame)]


def common_link(frame: pd.DataFrame) -> str | None:
    """The address of the sentences behind all rows of *frame*, None where these have nothing in common.

    >>> common_link(pd.DataFrame({"language": ["de", "de"], "model": ["a", "b"]}))
    '../sentences.html#language=de'
    """
    rows = [set(each.items()) for each in filters(frame)]
    shared = set.intersection(*rows) if rows else set()
    return f"../sentences.html#{urlencode(sorted(shared))}" if shared else None


def lead(bars: Iterable[Any], frame: pd.DataFrame) -> None:
    """Make each bar a link to the sentences behind its row of *frame*."""
    for bar, link in zip(bars, links(frame), strict=True):
        bar.set_url(link)
