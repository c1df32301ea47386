"""The form as an annotator sees it, read back, and everything that makes it be refused."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook

from nbkit.corpora.nli import LABELS
from nbkit.errors import DataError, NbkitError
from nbkit.measure.forms import key_path, make_form, read_form, read_forms

N = 12


def table() -> pd.DataFrame:
    rows = [
        (
            f"premise {i} out order of",
            f"of {i} hypothesis order",
            LABELS[i % 3],
            "D^c" if i % 2 else "D^f",
            f"original {i}",
        )
        for i in range(N)
    ]
    return pd.DataFrame(rows, columns=["premise", "hypothesis", "label", "stratum", "original_premise"])


@pytest.fixture
def form(tmp_path) -> Path:
    path, key = make_form(table(), tmp_path / "form.xlsx", labels=LABELS, instructions="Choose.\nGuess.", seed=3)
    assert key == key_path(path)
    return path


def fill(form: Path, target: Path, answer=lambda row, gold: gold, edit=lambda sheet: None) -> Path:
    """A filled copy: *answer* of each row, then *edit* of the sheet."""
    items = {item["item"]: item for item in json.loads(key_path(form).read_text("utf-8"))["items"]}
    book = load_workbook(form)
    sheet = book["judgements"]
    header = [cell.value for cell in sheet[1]]
    for row in range(2, sheet.max_row + 1):
        gold = items[sheet.cell(row, 1).value]["label"]
        sheet.cell(row, header.index("label") + 1).value = answer(row, gold)
    edit(sheet)
    book.save(target)
    return target


def test_the_form_tells_nothing(form):
    book = load_workbook(form)
    sheet = book["judgements"]
    assert [cell.value for cell in sheet[1]] == ["item", "premise", "hypothesis", "label", "remark"]
    assert sheet.max_row == N + 1
    assert all(sheet.cell(row, 4).value is None for row in range(2, N + 2))
    shown = "\n".join(str(cell) for each in book for row in each.iter_rows(values_only=True) for cell in row)
    assert "original" not in shown and "D^" not in shown and not any(label in shown for label in LABELS)
    assert book["instructions"]["A2"].value == "Guess."


def test_every_row_has_the_drop_down(form):
    sheet = load_workbook(form)["judgements"]
    (choice,) = sheet.data_validations.dataValidation
    assert choice.type == "list" and choice.formula1 == '"entailment,neutral,contradiction"'
    assert all(f"D{row}" in choice.sqref for row in range(2, N + 2))
    assert sheet.protection.sheet and not sheet["D2"].protection.locked and sheet["B2"].protection.locked


def test_the_order_is_drawn_and_the_same_again(form, tmp_path):
    again, _ = make_form(table()[::-1], tmp_path / "again.xlsx", labels=LABELS, instructions="", seed=3)
    other, _ = make_form(table(), tmp_path / "other.xlsx", labels=LABELS, instructions="", seed=4)
    order = [[cell.value for cell in load_workbook(path)["judgements"]["B"]][1:] for path in (form, again, other)]
    assert order[0] == order[1] != order[2]
    assert order[0] != sorted(order[0], key=lambda text: int(text.split()[1]))


def test_a_filled_form_comes_back_with_all_that_the_key_knows(form, tmp_path):
    filled = fill(form, tmp_path / "ann.xlsx", lambda row, gold: f" {gold.upper()} ")  # typed by hand
    judgements = read_form(filled, key_path(form))
    assert len(judgements) == N and set(judgements["annotator"]) == {"ann"}
    assert (judgements["judgement"] == judgements["label"]).all()
    merged = judgements.merge(table(), on="premise", suffixes=("", "_made"))
    assert len(merged) == N
    for column in ("hypothesis", "label", "stratum", "original_premise"):
        assert (merged[column] == merged[f"{column}_made"]).all()


def test_moved_columns_and_rows_are_no_harm(form, tmp_path):
    def turned(sheet):
        rows = list(sheet.iter_rows(min_row=2, values_only=True))
        for place, row in enumerate(reversed(rows), start=2):
            for column, value in enumerate(row, start=1):
                sheet.cell(place, column).value = value
        sheet.move_range(f"E1:E{N + 1}", cols=2)
        sheet.insert_cols(1)

    filled = fill(form, tmp_path / "turned.xlsx", edit=turned)
    judgements = read_form(filled, key_path(form), annotator="X")
    assert len(judgements) == N and (judgements["judgement"] == judgements["label"]).all()


REFUSED = {
    "unknown label": (lambda sheet: setattr(sheet["D5"], "value", "maybe"), 5, "unknown label 'maybe'"),
    "no label": (lambda sheet: setattr(sheet["D7"], "value", None), 7, "no label; choose one of entailment"),
    "missing row": (lambda sheet: sheet.delete_rows(4), 4, "is missing"),
    "last row missing": (lambda sheet: sheet.delete_rows(N + 1), N + 1, "is missing"),
    "twice": (lambda sheet: setattr(sheet["A6"], "value", sheet["A3"].value), 6, "occurs twice"),
    "changed text": (lambda sheet: setattr(sheet["B6"], "value", "something else"), 6, "the premise of item"),
    "not in the key": (lambda sheet: setattr(sheet["A9"], "value", "0123456789"), 9, "is not in the key"),
    "no column": (lambda sheet: setattr(sheet["D1"], "value", "answer"), 1, "one column 'label' expected, 0 found"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_form_that_does_not_fit_is_refused_with_its_row(form, tmp_path, kind):
    edit, row, reason = REFUSED[kind]
    filled = fill(form, tmp_path / "bad.xlsx", edit=edit)
    with pytest.raises(DataError, match=reason) as caught:
        read_form(filled, key_path(form))
    assert caught.value.line == row and caught.value.path == str(filled)


def test_the_key_of_another_form_is_refused_with_the_row(form, tmp_path):
    others = table().assign(premise=lambda t: t["premise"] + " too")
    _, key = make_form(others, tmp_path / "other.xlsx", labels=LABELS, instructions="", seed=3)
    with pytest.raises(DataError, match=r"\.xlsx:2: item '.*' is not in the key other.key.json"):
        read_form(fill(form, tmp_path / "x.xlsx"), key)


def test_what_is_no_form_or_no_key(form, tmp_path):
    (tmp_path / "no.xlsx").write_text("hello")
    with pytest.raises(NbkitError, match=r"is not an \.xlsx spreadsheet"):
        read_form(tmp_path / "no.xlsx", key_path(form))
    (tmp_path / "no.key.json").write_text("[]")
    with pytest.raises(NbkitError, match="is not an annotation key"):
        read_form(form, tmp_path / "no.key.json")
    (tmp_path / "no.key.json").write_text('{"kind": "nbkit annotation key"}')
    with pytest.raises(NbkitError, match="lacks items, labels, texts, version"):
        read_form(form, tmp_path / "no.key.json")
    with pytest.raises(NbkitError, match="there is no annotation key"):
        read_form(form, tmp_path / "none.key.json")


def test_texts_that_a_spreadsheet_would_take_for_something_else(tmp_path):
    odd = pd.DataFrame({"premise": ["=1+1", "bell \a rings"], "hypothesis": ["-5", "+3"], "label": ["neutral"] * 2})
    form, key = make_form(odd, tmp_path / "odd.xlsx", labels=LABELS, instructions="")
    cells = [cell for row in load_workbook(form)["judgements"].iter_rows(min_row=2, max_col=3) for cell in row]
    assert {cell.data_type for cell in cells} == {"s"}
    judgements = read_form(fill(form, tmp_path / "filled.xlsx"), key)
    assert set(judgements["premise"]) == set(odd["premise"])


def test_what_makes_no_form(form, tmp_path):
    made = table()
    for bad, reason in {
        "no label column": (made.drop(columns="label"), "no column label"),
        "nothing": (made.iloc[:0], "has no rows"),
        "unknown label": (made.assign(label="maybe"), "unknown label 'maybe'; there are"),
        "twice": (pd.concat([made, made.iloc[:1]]), "occur twice"),
    }.values():
        with pytest.raises(NbkitError, match=reason):
            make_form(bad, tmp_path / "bad.xlsx", labels=LABELS, instructions="")
    assert not (tmp_path / "bad.xlsx").exists() and not key_path(tmp_path / "bad.xlsx").exists()
    with pytest.raises(NbkitError, match="exists already"):
        make_form(made, form, labels=LABELS, instructions="")
    with pytest.raises(NbkitError, match=r"must end in \.xlsx"):
        make_form(made, tmp_path / "form.csv", labels=LABELS, instructions="")


def test_several_annotators_stand_one_below_the_other(form, tmp_path):
    x = fill(form, tmp_path / "x.xlsx")
    y = fill(form, tmp_path / "y.xlsx", lambda row, gold: "neutral")
    both = read_forms({"X": x, "Y": y}, key_path(form))
    assert both.groupby("annotator").size().to_dict() == {"X": N, "Y": N}
