"""The form as an annotator sees it, read back, and everything that makes it be refused."""

from __future__ import annotations

import codecs
import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from nbkit.corpora.nli import LABELS
from nbkit.errors import DataError, NbkitError
from nbkit.measure.forms import key_path, make_form, read_form, read_forms
from tests.annotate.filling import fill, rows_of

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
    path, key = make_form(table(), tmp_path / "form.csv", labels=LABELS, instructions="Choose.\nGuess.", seed=3)
    assert key == key_path(path)
    return path


def gold(form: Path):
    """The answer of the key to a row."""
    items = {item["item"]: item for item in json.loads(key_path(form).read_text("utf-8"))["items"]}
    return lambda row: items[row["item"]]["label"]


def test_the_form_shows_the_texts_alone(form):
    rows = rows_of(form)
    assert list(rows[0]) == ["item", "premise", "hypothesis", "label", "remark"] and len(rows) == N
    assert {row["label"] + row["remark"] for row in rows} == {""}
    shown = form.read_text("utf-8")
    assert "original" not in shown and "D^" not in shown and not any(label in shown for label in LABELS)
    assert form.read_bytes().startswith(codecs.BOM_UTF8)
    guide = form.with_suffix(".instructions.txt").read_text("utf-8")
    assert guide == "Choose.\nGuess.\n\nLabels: entailment, neutral, contradiction\n"


def test_no_program_reads_the_name_of_an_item_as_a_number(form):
    assert all(row["item"].startswith("i") for row in rows_of(form))


def test_the_order_is_drawn_and_the_same_again(form, tmp_path):
    again, _ = make_form(table()[::-1], tmp_path / "again.csv", labels=LABELS, instructions="", seed=3)
    other, _ = make_form(table(), tmp_path / "other.csv", labels=LABELS, instructions="", seed=4)
    order = [[row["premise"] for row in rows_of(path)] for path in (form, again, other)]
    assert order[0] == order[1] != order[2]
    assert order[0] != sorted(order[0], key=lambda text: int(text.split()[1]))


def test_a_filled_form_comes_back_with_all_that_the_key_knows(form, tmp_path):
    filled = fill(form, tmp_path / "ann.csv", lambda row: f" {gold(form)(row).upper()} ")  # typed by hand
    judgements = read_form(filled, key_path(form))
    assert len(judgements) == N and set(judgements["annotator"]) == {"ann"}
    assert (judgements["judgement"] == judgements["label"]).all()
    merged = judgements.merge(table(), on="premise", suffixes=("", "_made"))
    assert len(merged) == N
    for column in ("hypothesis", "label", "stratum", "original_premise"):
        assert (merged[column] == merged[f"{column}_made"]).all()


def test_moved_columns_and_rows_do_no_harm(form, tmp_path):
    def turned(cells):
        cells[1:] = [[], *reversed(cells[1:])]
        for row in cells:
            row[:] = ["", *row[:4], "", *row[4:]]

    judgements = read_form(fill(form, tmp_path / "turned.csv", gold(form), turned), key_path(form), annotator="X")
    assert len(judgements) == N and (judgements["judgement"] == judgements["label"]).all()


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_as_programs_of_some_countries_write_them(form, tmp_path, separator):
    target = tmp_path / "excel.csv"
    cells = [row | {"label": gold(form)(row), "remark": "so, so\nor not"} for row in rows_of(form)]
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(cells[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(cells)
    judgements = read_form(target, key_path(form))
    assert (judgements["judgement"] == judgements["label"]).all() and set(judgements["remark"]) == {"so, so or not"}


def cell(row: int, column: int, value: str):
    def edit(cells):
        cells[row - 1][column] = value

    return edit


REFUSED = {
    "unknown label": (cell(5, 3, "maybe"), 5, "unknown label 'maybe'"),
    "no label": (cell(7, 3, ""), 7, "no label; choose one of entailment"),
    "missing row": (lambda cells: cells.pop(3), 4, "is missing"),
    "last row missing": (lambda cells: cells.pop(N), N + 1, "is missing"),
    "twice": (lambda cells: cell(6, 0, cells[2][0])(cells), 6, "occurs twice"),
    "changed text": (cell(6, 1, "something else"), 6, "the premise of item"),
    "not in the key": (cell(9, 0, "0123456789"), 9, "is not in the key"),
    "no column": (cell(1, 3, "answer"), 1, "one column 'label' expected, 0 found"),
    "nothing": (lambda cells: cells.clear(), 1, "one column 'item' expected, 0 found"),
    "no end": (cell(8, 4, "x" * 200_000), 8, r"not a CSV file \(field larger than field limit"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_form_that_does_not_fit_is_refused_with_its_row(form, tmp_path, kind):
    edit, row, reason = REFUSED[kind]
    filled = fill(form, tmp_path / "bad.csv", gold(form), edit)
    with pytest.raises(DataError, match=reason) as caught:
        read_form(filled, key_path(form))
    assert caught.value.line == row and caught.value.path == str(filled)


def test_the_key_of_another_form_is_refused_with_the_row(form, tmp_path):
    others = table().assign(premise=lambda t: t["premise"] + " too")
    _, key = make_form(others, tmp_path / "other.csv", labels=LABELS, instructions="", seed=3)
    with pytest.raises(DataError, match=r"\.csv:2: item '.*' is not in the key other.key.json"):
        read_form(fill(form, tmp_path / "x.csv", gold(form)), key)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("latin", "is not a CSV file in UTF-8; save it as one"),
        ("packed", "is not a CSV file in UTF-8; save it as one"),
        ("large", "20,971,521 bytes exceed the limit of 20,971,520"),
        ("folder", "cannot be read: Is a directory"),
        ("none", "cannot be read: No such file"),
    ],
)
def test_files_that_are_no_forms(form, tmp_path, name, message):
    (tmp_path / "latin.csv").write_bytes("item,prämisse".encode("latin-1"))
    (tmp_path / "packed.csv").write_bytes(b"PK\x03\x04\x14\xff\xfe")
    (tmp_path / "large.csv").write_bytes(bytes(20 * 2**20 + 1))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(NbkitError, match=message):
        read_form(tmp_path / f"{name}.csv", key_path(form))


def test_a_device_is_no_form(form):
    with pytest.raises(NbkitError, match="not a regular file but a device or a pipe"):
        read_form("/dev/zero", key_path(form))


def test_what_is_no_key(form, tmp_path):
    for text, message in {
        "[]": "is not an annotation key, or damaged",
        '{"kind": "nbkit annotation key"}': r"or damaged \(version: Field required\); restore",
        "[" * 100_000: "is not an annotation key, or damaged",
    }.items():
        (tmp_path / "no.key.json").write_text(text)
        with pytest.raises(NbkitError, match=message):
            read_form(form, tmp_path / "no.key.json")
    with pytest.raises(NbkitError, match=r"annotation key .*cannot be read: No such file"):
        read_form(form, tmp_path / "none.key.json")
    with pytest.raises(NbkitError, match="cannot be read: Is a directory"):
        read_form(form, tmp_path)


DAMAGES = [{"items": 5}, {"items": [5]}, {"items": [{}]}, {"items": [{"item": "a", "row": "1"}]}, {"texts": "premise"}]


@pytest.mark.parametrize("change", [*DAMAGES, {"labels": [1]}, {"version": 2}])
def test_a_damaged_key(form, change):
    key = json.loads(key_path(form).read_text())
    damaged = form.with_name("damaged.key.json")
    damaged.write_text(json.dumps({**key, **change}))
    with pytest.raises(NbkitError, match=r"damaged.key.json is .*damaged"):
        read_form(form, damaged)


def test_texts_that_a_spreadsheet_would_take_for_something_else(tmp_path):
    texts = ["=1+1", "bell \a rings", "two\nlines"]
    odd = pd.DataFrame({"premise": texts, "hypothesis": ["-5", "+x", "a,b"], "label": ["neutral"] * 3})
    form, key = make_form(odd, tmp_path / "odd.csv", labels=LABELS, instructions="")
    shown = {value for row in rows_of(form) for value in row.values()}
    assert {"'=1+1", "bell rings", "two lines", "-5", "'+x", "a,b"} <= shown
    judgements = read_form(fill(form, tmp_path / "filled.csv", gold(form)), key)
    assert set(judgements["premise"]) == set(texts)

    def without_apostrophes(cells):
        cells[:] = [[value.lstrip("'") for value in row] for row in cells]

    bare = fill(form, tmp_path / "bare.csv", gold(form), without_apostrophes)
    assert len(read_form(bare, key)) == 3


def test_what_makes_no_form(form, tmp_path):
    made = table()
    for bad, reason in {
        "no label column": (made.drop(columns="label"), "no column label"),
        "nothing": (made.iloc[:0], "has no rows"),
        "unknown label": (made.assign(label="maybe"), "unknown label 'maybe'; there are"),
        "twice": (pd.concat([made, made.iloc[:1]]), "occur twice"),
        "half a pair": (
            made.assign(premise=pd.Series(["\ud83d"] * N, dtype=object)),
            r"half a surrogate pair.*'\\ud83d'",
        ),
    }.values():
        with pytest.raises(NbkitError, match=reason):
            make_form(bad, tmp_path / "bad.csv", labels=LABELS, instructions="")
    assert not (tmp_path / "bad.csv").exists() and not key_path(tmp_path / "bad.csv").exists()
    with pytest.raises(NbkitError, match="exists already"):
        make_form(made, form, labels=LABELS, instructions="")
    with pytest.raises(NbkitError, match=r"must end in \.csv"):
        make_form(made, tmp_path / "form.xlsx", labels=LABELS, instructions="")


def test_several_annotators_stand_one_below_the_other(form, tmp_path):
    x = fill(form, tmp_path / "x.csv", gold(form))
    y = fill(form, tmp_path / "y.csv", lambda row: "neutral")
    both = read_forms({"X": x, "Y": y}, key_path(form))
    assert both.groupby("annotator").size().to_dict() == {"X": N, "Y": N}
