"""The form: a spreadsheet without answers for the annotator, a key with them for the evaluation.

The form holds the texts in a drawn order, a drop-down in every row, and nothing else: not the label, not the
original texts, not which model accepted them. All of that is in the key, which the annotators do not get.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import NbkitError
from nbkit.files import atomic_write
from nbkit.seeding import address

if TYPE_CHECKING:
    import pandas as pd
    from openpyxl.worksheet.worksheet import Worksheet

#: Counts up when forms are laid out in another way.
VERSION = 1

SHEET = "judgements"
INSTRUCTIONS_SHEET = "instructions"
#: Columns of the form around the texts.
ITEM, ANSWER, REMARK = "item", "label", "remark"
#: The first row with a text; above it stands the header.
FIRST_ROW = 2

_WIDTHS = {ITEM: 12, ANSWER: 16, REMARK: 30}
_TEXT_WIDTH = 60
_CHARACTERS_PER_LINE = 55


def key_path(form: str | Path) -> Path:
    """Where the key of *form* is written.

    >>> str(key_path("round1.xlsx"))
    'round1.key.json'
    """
    return Path(form).with_suffix(".key.json")


def make_form(
    table: pd.DataFrame,
    path: str | Path,
    *,
    labels: Sequence[str],
    instructions: str,
    texts: Sequence[str] = ("premise", "hypothesis"),
    seed: int = 0,
    provenance: Mapping[str, Any] | None = None,
) -> tuple[Path, Path]:
    """Write the form of *table* at *path* (.xlsx) and its key beside it; returns both places.

    table: one row a judgement: the columns *texts*, which are shown, ``label``, the answer, and any others (stratum,
    length group, original texts …), which go into the key. labels: what the drop-down offers. instructions: shown
    on a sheet of their own. provenance: where the rows come from (models, corpus, seed), kept in the key.
    The rows stand in an order drawn with *seed*; nothing in it tells of the table's order.

    Raises `NbkitError` where a column is missing, a label is none of *labels*, a row stands there twice, the
    table is empty, or a file is there already: forms are sent around, and another one of the same name would not
    fit the key that is kept.
    """
    path = Path(path)
    if path.suffix != ".xlsx":
        raise NbkitError(f"annotation form '{path}': a spreadsheet ends in .xlsx")
    for target in (path, key_path(path)):
        if target.exists():
            raise NbkitError(f"{target} is there already: choose another name, the forms that were sent need their key")
    items = _items(table, labels, texts, seed)
    key = {
        "kind": "nbkit annotation key",
        "version": VERSION,
        "form": path.name,
        "labels": list(labels),
        "texts": list(texts),
        "seed": seed,
        "provenance": dict(provenance or {}),
        "items": items,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    # The key first: a form without a key is worth nothing, a key without a form is made again.
    _written(key_path(path), json.dumps(key, ensure_ascii=False, indent=1).encode())
    _written(path, _spreadsheet(items, labels, texts, instructions))
    return path, key_path(path)


def _items(table: pd.DataFrame, labels: Sequence[str], texts: Sequence[str], seed: int) -> list[dict[str, Any]]:
    """The rows in their drawn order, each with its name: a digest of what is shown in it."""
    missing = [column for column in (*texts, ANSWER) if column not in table]
    if missing:
        raise NbkitError(f"annotation form: no column {', '.join(missing)}; there are: {', '.join(table.columns)}")
    if table.empty:
        raise NbkitError("annotation form: there is nothing to judge, the table has no rows")
    rows = json.loads(table.to_json(orient="records", force_ascii=False))
    drawn = sorted(
        (address(seed, "annotation", *(row[column] for column in texts)), row) for row in _unique(rows, texts)
    )
    for _, row in drawn:
        if row[ANSWER] not in labels:
            raise NbkitError(f"annotation form: label '{row[ANSWER]}' is none of {', '.join(labels)}")
    return [{ITEM: f"{number:016x}"[:10], "row": FIRST_ROW + place, **row} for place, (number, row) in enumerate(drawn)]


def _unique(rows: list[dict[str, Any]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """*rows*; an error where two of them show the same."""
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        shown = tuple(str(row[column]) for column in texts)
        if shown in seen:
            raise NbkitError(f"annotation form: these texts stand there twice: {' / '.join(shown)}")
        seen.add(shown)
    return rows


def _spreadsheet(
    items: Sequence[Mapping[str, Any]], labels: Sequence[str], texts: Sequence[str], instructions: str
) -> bytes:
    import io

    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Protection
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = SHEET
    columns = [ITEM, *texts, ANSWER, REMARK]
    _header(sheet, columns)
    choice = DataValidation(type="list", formula1=f'"{",".join(labels)}"', allow_blank=True, showErrorMessage=True)
    choice.errorTitle, choice.error = "Unknown label", f"Choose one of {', '.join(labels)}."
    sheet.add_data_validation(choice)
    wrapped = Alignment(wrap_text=True, vertical="top")
    for item in items:
        row = int(item["row"])
        for number, column in enumerate(columns, start=1):
            cell = sheet.cell(row, number)
            cell.alignment = wrapped
            if column in (ANSWER, REMARK):
                cell.protection = Protection(locked=False)
            else:
                # A text that begins with "=" is a text, not a formula.
                cell.value, cell.data_type = _printable(str(item[column])), "s"
            if column == ANSWER:
                choice.add(cell)
        longest = max(len(str(item[column])) for column in texts)
        sheet.row_dimensions[row].height = 15 * (1 + longest // _CHARACTERS_PER_LINE)
    sheet.protection.sheet = True  # against slips only: no password
    page = book.create_sheet(INSTRUCTIONS_SHEET)
    page.column_dimensions["A"].width = 100
    for number, line in enumerate(instructions.splitlines(), start=1):
        page.cell(number, 1, line).alignment = wrapped
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _header(sheet: Worksheet, columns: Sequence[str]) -> None:
    from openpyxl.styles import Font, PatternFill
    from openpyxl.utils import get_column_letter

    for number, column in enumerate(columns, start=1):
        cell = sheet.cell(1, number, column)
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="DDDDDD")
        sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS.get(column, _TEXT_WIDTH)
    sheet.freeze_panes = "A2"


def _printable(text: str) -> str:
    """*text* without the control characters that a spreadsheet cannot hold."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text)


def _written(path: Path, data: bytes) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(data)
