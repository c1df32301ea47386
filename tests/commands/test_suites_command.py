"""`nbkit test` and `nbkit outcomes --as-suite`: exit codes, what is shown, forms that come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from openpyxl import load_workbook

from nbkit.batch.card import make_card, plan_card
from nbkit.cli import main
from nbkit.models import MODELS
from nbkit.studies import STUDIES, outcomes, read_outcomes
from nbkit.studies.behaviours import behaviours
from nbkit.studies.suite import SuiteParams, aside, leaderboard, pass_rates
from nbkit.suites import EXPECTATIONS

SUITE = """
name: ours
pair: en-de
tests:
- {id: dog, source: The dog., category: a, must: [Hund], right: [Der Hund.]}
- {id: cat, source: The cat., category: b, right: [Die Katze.]}
- {id: two, source: Two dogs., category: b, quantities: kept, phenomenon: numbers}
"""
SAID = {
    "good": {"The dog.": "Der Hund.", "The cat.": "Die Katze.", "Two dogs.": "Zwei Hunde."},
    "fair": {"The dog.": "Ein Hund.", "The cat.": "Ein Kater.", "Two dogs.": "2 Hunde."},
    "poor": {"The dog.": "Das Pferd.", "The cat.": "", "Two dogs.": "Drei Hunde."},
}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    for name, said in SAID.items():
        system = lambda texts, said=said: [said.get(text, "?") for text in texts]  # noqa: E731
        system.identity = name
        MODELS.register(name, system)
    Path("ours.yaml").write_text(SUITE, encoding="utf-8")


def nbkit(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize(
    ("systems", "options", "code"),
    [
        (["good"], [], 0),
        (["good"], ["--strict"], 0),
        (["fair"], [], 0),
        (["fair"], ["--strict"], 1),
        (["good", "poor"], [], 1),
    ],
)
def test_exit_codes(systems, options, code):
    done = nbkit("test", "ours.yaml", "--systems", *systems, *options)
    assert done.exit_code == code, done.output
    assert ("failed (dog) poor: must: none of: Hund\n  The dog. → Das Pferd." in done.output) == ("poor" in systems)


def test_a_suite_alone_is_linted():
    assert nbkit("test", "ours.yaml").exit_code == 0
    Path("odd.yaml").write_text("pair: en-de\ntests:\n- {id: x, source: y}\n- {source: z, must: /a$b/}\n")
    done = nbkit("test", "odd.yaml")
    assert (
        done.exit_code == 2 and "odd.yaml:3: no expectation (x)" in done.output and ":4: never matches" in done.output
    )
    done = nbkit("test", "odd.yaml", "--systems", "good")
    assert done.exit_code == 0 and "In quarantine: 2 tests (1 no expectation, 1 never matches)" in done.output
    assert nbkit("test", "odd.yaml", "--systems", "good", "--strict").exit_code == 1
    assert nbkit("test", "odd.yaml", "--systems", "good", "--no-quarantine").exit_code == 1


@pytest.mark.parametrize("arguments", [("nowhere.yaml",), ("ours.yaml", "--systems", "nobody"), ("ours.csv",)])
def test_what_is_not_there_is_said(arguments):
    Path("ours.csv").write_text("source,must\nx,y\n")
    done = nbkit("test", *arguments)
    assert done.exit_code == 2 and done.output.startswith("nbkit: ")


def test_outcomes_with_texts_and_marks():
    assert nbkit("test", "ours.yaml", "--systems", "good", "poor", "--output", "found.jsonl").exit_code == 1
    rows = [row for table in read_outcomes(Path("found.jsonl")) for row in table.to_dict("records")]
    assert len(rows) == 6 and {row["study"] for row in rows} == {"suite"}
    first = next(row for row in rows if row["groups"]["test"] == "dog" and row["system"] == "good")
    assert first["verdict"] == "pass" and first["groups"]["by"] == "must, right" and first["groups"]["category"] == "a"
    assert first["spans"][0]["label"] == "right" and first["source"] == "The dog."
    assert [row["reason"] for row in rows if row["system"] == "poor"][1] == "nothing was translated"


def test_what_people_judge_comes_back():
    done = nbkit("test", "ours.yaml", "--systems", "fair", "--form", "people.xlsx")
    assert "(1 translations)" in done.output and Path("people.key.json").is_file()
    book = load_workbook("people.xlsx")
    sheet = book["judgements"]
    column = next(cell.column for cell in sheet[1] if cell.value == "label")
    sheet.cell(2, column, "wrong")
    book.save("filled.xlsx")
    done = nbkit("test", "ours.yaml", "--systems", "fair", "--judged", "anna=filled.xlsx", "--key", "people.key.json")
    assert done.exit_code == 1 and "failed (cat) fair: judged by people" in done.output


def test_what_failed_becomes_a_suite():
    run = {
        "name": "r",
        "title": "r",
        "runs": [{"study": "suite", "params": {"suite": "ours.yaml", "models": ["poor"]}}],
    }
    Path("r.yaml").write_text(json.dumps(run))
    done = nbkit("outcomes", "r.yaml", "--as-suite", "failed.jsonl")
    assert done.exit_code == 0 and "3 tests in failed.jsonl" in done.output
    again = nbkit("test", "failed.jsonl", "--systems", "poor", "good")
    assert again.exit_code == 1 and "2 more" not in again.output
    assert nbkit("outcomes", "r.yaml", "--as-suite", "all.csv", "--all").exit_code == 0
    run["runs"][0]["params"]["models"] = ["good"]
    Path("r.yaml").write_text(json.dumps(run))
    assert "nothing failed" in nbkit("outcomes", "r.yaml", "--as-suite", "no.csv").output


def test_tables_and_quarantine_of_a_run():
    params = SuiteParams(suite="ours.yaml", models=["good", "fair", "poor"])
    rates = pass_rates(params).set_index(["system", "category", "phenomenon"])
    assert rates.loc[("good", "", ""), "rate"] == 1 and rates.loc[("fair", "b", ""), "undecided"] == 1
    board = leaderboard(params)
    assert board["system"].tolist()[-1] == "poor" and set(board["better"]) == {0}  # too few to be sure
    assert aside(params).empty
    jury = params.model_copy(update={"models": ["good"], "jury": ["fair", "poor"]})
    assert {row.system for table in outcomes(jury) for row in table.itertuples()} == {"good"}
    assert next(cell.params.jury for cell in params.study.cells(params)) == ["good", "fair", "poor"]


def test_a_change_of_the_file_or_of_an_expectation_is_seen():
    params = SuiteParams(suite="ours.yaml", models=["good"])
    before = params.suite_key
    Path("ours.yaml").write_text(SUITE.replace("[Hund]", "[Hase]"), encoding="utf-8")
    assert params.suite_key != before
    (table,) = outcomes(params)
    assert table["verdict"].tolist() == ["undecided", "pass", "pass"]  # right by the sentence, and no Hase
    EXPECTATIONS.register("even", lambda wanted, case: len(case.output) % 2 == 0)
    try:
        assert set(params.suite_key["custom"]) == {"even"}
    finally:
        EXPECTATIONS._entries.pop("even")


def test_a_card_has_a_suite_that_is_asked_for(monkeypatch, tmp_path):
    alone = {"suite": behaviours(STUDIES)["suite"]}
    monkeypatch.setattr("nbkit.batch.card.behaviours", lambda studies: alone)
    assert not plan_card(["good"], ("en", "de")).behaviours
    card = make_card(plan_card(["good"], ("en", "de"), overrides={"suite": {"suite": "ours.yaml"}}), tmp_path / "card")
    (shown,) = card.behaviours
    assert shown.answers["good"][0].startswith("good passes 100.0% of 3 tests")
    assert {value.group for value in shown.measures[0].groups} == {"a", "b"}
