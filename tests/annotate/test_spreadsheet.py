"""Spreadsheets that are damaged, hostile or far too large: a clear error each, with its cell, and little memory."""

from __future__ import annotations

import json
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd
import pytest
from openpyxl import Workbook

from nbkit.errors import NbkitError
from nbkit.measure.forms import MOST_ROWS, key_path, make_form, read_form, read_sheet

LABELS = ("yes", "no")
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def form(tmp_path) -> Path:
    rows = [(f"premise {i}", f"hypothesis {i}", LABELS[i % 2]) for i in range(4)]
    table = pd.DataFrame(rows, columns=["premise", "hypothesis", "label"])
    return make_form(table, tmp_path / "form.xlsx", labels=LABELS, instructions="Choose.")[0]


def changed(form: Path, part: str, change: Callable[[str], str | bytes]) -> Path:
    """The form with one of its parts changed."""
    target = form.with_name("changed.xlsx")
    with ZipFile(form) as old, ZipFile(target, "w", ZIP_DEFLATED) as new:
        assert part in old.namelist()
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content.decode()) if name == part else content)
    return target


def value(cell: str, kind: str, text: str) -> Callable[[str], str]:
    """Another value in a cell of the answers, which are empty."""
    return lambda xml: re.sub(rf'<c r="{cell}"[^>]*?(/>|>.*?</c>)', f'<c r="{cell}" t="{kind}"><v>{text}</v></c>', xml)


def cut(xml: str) -> str:
    return xml[: len(xml) // 2]


def declared(xml: str) -> str:
    head, mark, rest = xml.partition("<worksheet")
    return f'{head}<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">]>{mark}{rest}'


def far(cell: str) -> Callable[[str], str]:
    row = "".join(filter(str.isdigit, cell))
    return lambda xml: xml.replace("</sheetData>", f'<row r="{row}"><c r="{cell}"><v>1</v></c></row></sheetData>')


def empty_rows(n: int) -> Callable[[str], str]:
    rows = "".join(f'<row r="{i}"/>' for i in range(6, n))
    return lambda xml: xml.replace("</sheetData>", f"{rows}</sheetData>")


PLACE = "annotation form .*changed.xlsx, sheet 'judgements'"
REFUSED: dict[str, tuple[str, Callable[[str], str | bytes], str]] = {
    "document type": (SHEET, declared, r"sheet1.xml: it declares a document type or entities"),
    "document type in UTF-16": (
        SHEET,
        lambda xml: declared(xml.partition("?>")[2]).encode("utf-16"),
        r"it declares a document type or entities",
    ),
    "document type of the styles": (
        "xl/styles.xml",
        lambda xml: f'<!DOCTYPE s SYSTEM "file:///etc/passwd">{xml.partition("?>")[2] or xml}',
        r"styles.xml: it declares a document type",
    ),
    "cut": (SHEET, cut, r"sheet1.xml: not valid XML \(.*line 1"),
    "cut styles": ("xl/styles.xml", cut, r"styles.xml: not valid XML"),
    "bad style": (
        "xl/styles.xml",
        lambda xml: xml.replace('fontId="', 'fontId="x'),
        r"changed.xlsx cannot be read \(\w+Error: .*save it as .xlsx again",
    ),
    "style of a cell": (
        SHEET,
        lambda xml: re.sub('r="A1"[^>]*>', 'r="A1" s="x1">', xml),
        rf"{PLACE}: cell A1: style 'x1' is not a number",
    ),
    "number": (SHEET, value("D3", "n", "1,5"), rf"{PLACE}: cell D3: '1,5' is not a number"),
    "text that is not there": (
        SHEET,
        value("D3", "s", "999"),
        rf"{PLACE}: cell D3: '999' is not a shared text of the sheet",
    ),
    "text before the first": (
        SHEET,
        value("D3", "s", "-1"),
        rf"{PLACE}: cell D3: '-1' is not a shared text of the sheet",
    ),
    "truth value": (SHEET, value("D3", "b", "maybe"), rf"{PLACE}: cell D3: 'maybe' is not a truth value"),
    "date": (SHEET, value("D3", "d", "2024-99-99"), rf"{PLACE}: cell D3: '2024-99-99' is not a date"),
    "cell of no row": (
        SHEET,
        lambda xml: xml.replace('<c r="D3"', '<c r="D33"'),
        rf"{PLACE}: row 3: 'D33' is not a cell of it",
    ),
    "cell of no name": (
        SHEET,
        lambda xml: xml.replace('<c r="D3"', '<c r="?"'),
        rf"{PLACE}: row 3: '\?' is not a cell",
    ),
    "row of no number": (
        SHEET,
        lambda xml: xml.replace('<row r="3"', '<row r="x"'),
        rf"{PLACE}: row 'x' is not a number",
    ),
    "last row of all": (SHEET, far("A1048576"), rf"{PLACE}: row 1,048,576 exceeds the limit of 100,000 rows"),
    "last column of all": (SHEET, far("XFD9"), rf"{PLACE}: cell XFD9: column exceeds the limit of 200"),
    "twice as many empty rows": (SHEET, empty_rows(2 * MOST_ROWS), rf"{PLACE}: row {MOST_ROWS + 1:,} exceeds"),
    "deep": (SHEET, lambda xml: xml.replace("</worksheet>", "<a>" * 10**5 + "</worksheet>"), r"more than 100 deep"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused(form, kind):
    part, change, message = REFUSED[kind]
    path = changed(form, part, change)
    tracemalloc.start()
    with pytest.raises(NbkitError, match=message):
        read_form(path, key_path(form))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_a_file_that_unpacks_to_hundreds_of_megabytes(form, tmp_path):
    bomb = tmp_path / "bomb.xlsx"
    shutil.copy(form, bomb)
    with ZipFile(bomb, "a", ZIP_DEFLATED) as archive, archive.open("xl/media/x.xml", "w", force_zip64=True) as part:
        for _ in range(646):
            part.write(bytes(10**6))
    assert bomb.stat().st_size < 10**6
    tracemalloc.start()
    with pytest.raises(
        NbkitError, match=r"files with 646,\d+,\d+ bytes, the limits are 1,000 files and 67,108,864 bytes"
    ):
        read_form(bomb, key_path(form))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_files_that_are_too_large_cut_missing_or_many(form, tmp_path):
    with ZipFile(tmp_path / "many.xlsx", "w") as archive:
        for number in range(1001):
            archive.writestr(f"{number}.xml", "<a/>")
    (tmp_path / "large.xlsx").write_bytes(bytes(20 * 2**20 + 1))
    (tmp_path / "cut.xlsx").write_bytes(form.read_bytes()[:-200])
    content = bytearray(form.read_bytes())
    content[200:260] = bytes(60)
    (tmp_path / "bits.xlsx").write_bytes(content)
    (tmp_path / "folder.xlsx").mkdir()
    for name, message in {
        "many": "1,001 files with",
        "large": "20,971,521 bytes exceed",
        "cut": r"is not an \.xlsx spreadsheet",
        "bits": "cannot be read|not valid XML|is not an .xlsx",
        "folder": "cannot be read: Is a directory",
        "none": "cannot be read: No such file",
    }.items():
        with pytest.raises(NbkitError, match=message):
            read_form(tmp_path / f"{name}.xlsx", key_path(form))


def test_rows_and_columns_within_the_limits_are_no_harm(form, tmp_path):
    """A wrong size in the file, empty rows below, and a remark far to the right."""
    part, change = SHEET, lambda xml: far("Z2000")(empty_rows(1000)(xml)).replace('ref="A1:E5"', 'ref="A1:XFD1048576"')
    rows = read_sheet(changed(form, part, change), "judgements")
    assert len(rows) == 2000 and rows[0][:2] == ("item", "premise") and rows[-1][-1] == 1


def test_sheets_without_rows_or_without_a_table(tmp_path):
    Workbook().save(tmp_path / "empty.xlsx")
    assert read_sheet(tmp_path / "empty.xlsx", "Sheet") in ([], [()])
    book = Workbook()
    book.create_chartsheet("judgements")
    book.save(tmp_path / "chart.xlsx")
    with pytest.raises(NbkitError, match=r"a chart, not a table|cannot be read|has no sheet"):
        read_sheet(tmp_path / "chart.xlsx", "judgements")


DAMAGES = [{"items": 5}, {"items": [5]}, {"items": [{}]}, {"items": [{"item": "a", "row": "1"}]}, {"texts": "premise"}]


@pytest.mark.parametrize("change", [*DAMAGES, {"labels": [1]}])
def test_a_damaged_key(form, change):
    key = json.loads(key_path(form).read_text())
    damaged = form.with_name("damaged.key.json")
    damaged.write_text(json.dumps({**key, **change}))
    with pytest.raises(NbkitError, match=r"annotation key .*damaged.key.json is damaged"):
        read_form(form, damaged)
    damaged.write_text("[" * 100_000)
    with pytest.raises(NbkitError, match=r"cannot be read"):
        read_form(form, damaged)
