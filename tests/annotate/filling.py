"""Forms filled in, as an annotator would in a spreadsheet program."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

Row = dict[str, str]


def rows_of(form: Path) -> list[Row]:
    """The rows of a form by column."""
    with form.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(
    form: Path, target: Path, answer: Callable[[Row], str], edit: Callable[[list[list[str]]], object] = len
) -> Path:
    """Write a copy of *form* with the *answer* to each row, then changed by *edit* (all cells, the header first)."""
    rows = rows_of(form)
    cells = [list(rows[0]), *(list((row | {"label": answer(row)}).values()) for row in rows)]
    edit(cells)
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(cells)
    return target
