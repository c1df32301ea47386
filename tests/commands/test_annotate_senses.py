"""`nbkit annotate senses`: two forms and two keys from a run file."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

from nbkit.cli import main
from nbkit.studies.disambiguation import sets

RUN = "name: a\nruns:\n  - {study: disambiguation, params: {models: []}}\n"


@pytest.fixture
def sample(monkeypatch):
    rows = [
        (f"Sentence {i}.", "bat", "Schläger", "Fledermaus", "adversarial" if i % 2 else "regular") for i in range(4)
    ]
    table = pd.DataFrame(rows, columns=["sentence", "homograph", "correct", "other", "set"])
    monkeypatch.setattr(sets, "judgement_sample", lambda params, n: table.head(n))


def test_two_forms_with_keys(sample, tmp_path):
    (tmp_path / "a.yaml").write_text(RUN, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["annotate", "senses", str(tmp_path / "a.yaml"), str(tmp_path / "f.csv"), "--n", "4"]
    )
    assert done.exit_code == 0, done.output
    assert "2 adversarial sentences, 2 regular sentences" in done.output
    names = {"f-senses.csv", "f-senses.key.json", "f-naturalness.csv", "f-naturalness.key.json"}
    assert names <= {path.name for path in tmp_path.iterdir()}


def test_run_files_of_other_studies_and_several_entries_are_reported(sample, tmp_path):
    (tmp_path / "a.yaml").write_text("name: a\nruns:\n  - {study: numbers, params: {}}\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["annotate", "senses", str(tmp_path / "a.yaml"), str(tmp_path / "f")])
    assert done.exit_code and "no entry of the study disambiguation" in done.output
    two = RUN.replace("disambiguation,", "disambiguation, name: x,") + RUN.splitlines()[-1].replace(
        "disambiguation,", "disambiguation, name: y,"
    )
    (tmp_path / "b.yaml").write_text(two + "\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["annotate", "senses", str(tmp_path / "b.yaml"), str(tmp_path / "f")])
    assert done.exit_code and "--entry x or y" in done.output
    done = CliRunner().invoke(
        main, ["annotate", "senses", str(tmp_path / "b.yaml"), str(tmp_path / "f"), "--entry", "z"]
    )
    assert done.exit_code and "--entry x or y" in done.output
