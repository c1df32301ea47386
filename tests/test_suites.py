"""Suites: expectations by their table of hard cases, verdicts, reading and writing, what is wrong with a suite."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path

import pytest
import yaml

from nbkit.errors import DataError, NbkitError
from nbkit.suites import EXPECTATIONS, Case, Suite, Test, decide, lint, quarantined, read_suite, rows_of, write_suite
from nbkit.suites.expectations import compiled

TABLE = Path(__file__).parent / "suites" / "expectations.tsv"
with TABLE.open(encoding="utf-8", newline="") as _file:
    HARD = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))
DEMO = Suite("demo", "en", "de", ())


def case_of(row: dict[str, str]) -> Case:
    src, tgt = row["pair"].split("-")
    return Case(row["source"], row["output"], src, tgt, others={"She paid.": "Sie zahlte.", "Elle paie.": "Her pays."})


@pytest.mark.parametrize("row", HARD, ids=[f"{n}-{row['expectation']}" for n, row in enumerate(HARD, start=2)])
def test_hard_cases(row):
    expectation = EXPECTATIONS.get(row["expectation"])
    judged = expectation.judged(expectation.takes(yaml.safe_load(row["wanted"])), case_of(row))
    assert (judged.verdict if judged else "none") == row["verdict"], judged
    if judged and (row["marked"] or judged.verdict == "pass"):
        assert "|".join(row["output"][slice(*span)] for span in judged.spans) == row["marked"]
    if judged:
        assert bool(judged.reason) == (judged.verdict != "pass")


def test_each_expectation_has_hard_cases_in_several_languages():
    for name in EXPECTATIONS:
        own = [row for row in HARD if row["expectation"] == name]
        if name != "not_literal":
            assert len({row["pair"] for row in own}) >= 2 or name == "differs_from", name
            assert {"pass", "fail"} & {row["verdict"] for row in own}, name
        assert EXPECTATIONS.summary(name)
