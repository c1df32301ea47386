"""`nbkit annotate read` as it is typed; `make` refuses before anything is computed."""

from __future__ import annotations

import json

import pandas as pd
from click.testing import CliRunner

from nbkit.cli import main
from nbkit.corpora.nli import LABELS
from nbkit.measure.forms import key_path, make_form
from tests.annotate.filling import fill


def nbkit(*arguments: object):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def filled(tmp_path, name: str, answer):
    """A form, made once, with *answer* of each item's label in every row."""
    form = tmp_path / "form.csv"
    if not form.exists():
        rows = [(f"p {i}", f"h {i}", LABELS[i % 3], "D^c", "short") for i in range(9)]
        columns = ["premise", "hypothesis", "label", "stratum", "length_group"]
        make_form(pd.DataFrame(rows, columns=columns), form, labels=LABELS, instructions="")
    items = {item["item"]: item for item in json.loads(key_path(form).read_text("utf-8"))["items"]}
    return fill(form, tmp_path / name, lambda row: answer(items[row["item"]]["label"]))


def test_filled_forms_give_accuracy_and_agreement(tmp_path):
    x = filled(tmp_path, "x.csv", lambda label: label)
    y = filled(tmp_path, "y.csv", lambda label: "neutral")
    out = tmp_path / "all.csv"
    result = nbkit("annotate", "read", f"X={x}", y, "--key", tmp_path / "form.key.json", "--output", out)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert any(line.split()[:3] == ["X", "all", "9"] and "1.000" in line for line in lines)
    assert any(line.split()[:3] == ["y", "all", "9"] and "0.333" in line for line in lines)
    assert any("cohen" in line.split() for line in lines)
    assert len(pd.read_csv(out)) == 18


def test_a_bad_form_is_one_message_with_the_row(tmp_path):
    bad = filled(tmp_path, "bad.csv", lambda label: "maybe")
    result = nbkit("annotate", "read", bad, "--key", tmp_path / "form.key.json")
    assert result.exit_code == 2 and f"{bad}:2: unknown label 'maybe'" in result.output
    twice = nbkit("annotate", "read", f"X={bad}", f"X={bad}", "--key", tmp_path / "form.key.json")
    assert twice.exit_code == 2 and "two forms of annotator 'X'" in twice.output


def test_make_says_what_the_run_file_lacks(tmp_path):
    run = tmp_path / "run.yaml"
    run.write_text("name: mine\nruns:\n  - study: word_order\n")
    result = nbkit("annotate", "make", run, tmp_path / "form.csv")
    assert result.exit_code == 2 and "has no entry of the study nli_permutation" in result.output
    entry = "  - study: nli_permutation\n    name: {}\n    params: {{models: []}}\n"
    run.write_text("name: mine\nruns:\n" + entry.format("one") + entry.format("two"))
    several = nbkit("annotate", "make", run, tmp_path / "form.csv")
    assert several.exit_code == 2 and "--entry one or two" in several.output
    none = nbkit("annotate", "make", run, tmp_path / "form.csv", "--entry", "one")
    assert none.exit_code == 2 and "name one in models" in none.output
    assert not (tmp_path / "form.csv").exists()
