"""The schema of outcomes where they are written: three small files, which the tests of nbcards read.

`python -m tests.studies.test_schema` writes them anew; a column or a key that changes its meaning raises
`nbkit.studies.exports.SCHEMA_VERSION`.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from nbkit.studies import exports
from tests.studies.toy import STUDY, ToyParams

FOLDER = Path(__file__).parents[2] / "packages/nbcards/tests/outcomes"
_ANSWER = {"above": "{system}: {value} {interval}."}
TOY = {
    "title": "Toy", "question": "Is a text cut?", "main": "lengths",
    "measures": {"ratio": {"label": "ratio", "measure": "ratio", "by": "kind", "share": False, "range": None,
                           "reading": "How much of a text is left.", "answer": _ANSWER}},
    "outcomes": {"groups": ["kind"], "measures": {
        "ratio": {"value": "ratio"},
        "same/{kind}": {"value": "same", "where": "ratio > -1", "verdict": "value", "reason": "reason", "groups": []},
    }},
}  # fmt: skip
FINDINGS = [{"claim": "Words are cut less.", "source": "here", "page": "lengths", "measure": "ratio", "share": False,
             "of": {"kind": "word"}, "is": "above"}]  # fmt: skip
TABLE = {
    "title": "Order", "question": "Is it repaired?", "changed": "scrambled",
    "measures": {"preference": {
        "label": "β₁ − β₂", "measure": "bleu/beta1", "minus": "bleu/beta2", "unlike": {"perturbation": "control"},
        "average": "perturbation", "by": "perturbation", "range": [-1, 1], "share": False, "better": None,
        "zero": {"value": 0, "label": "neither"}, "reading": "Above 0: repaired.", "answer": _ANSWER,
    }},
    "outcomes": {"groups": ["perturbation", "length"], "measures": {
        "{metric}/beta1": {"value": "beta1", "verdict": "verdict", "reason": "reason"},
        "{metric}/beta2": {"value": "beta2", "texts": {"reference": "changed_reference"}},
    }},
}  # fmt: skip


def table() -> pd.DataFrame:
    """Two metrics, three perturbations, a missing value, an undecided item and spans."""
    rows = [
        {"table": "outcomes", "item": f"i{n}", "unit": f"u{n // 3}", "source_language": "en", "target_language": "de",
         "model": "mine", "metric": metric, "perturbation": ("control", "reversed", "shuffled")[n % 3], "length": 5 + n,
         "beta1": None if n == 4 else (n * 7 % 11) / 11, "beta2": (n * 5 % 11) / 11,
         "verdict": "undecided" if n == 4 else "pass" if n % 2 else "fail", "reason": "empty" if n == 4 else "worse",
         "source": f"a dog {n}", "changed": f"{n} dog a", "reference": f"ein Hund {n}", "output": f"Hund {n}",
         "changed_reference": f"{n} Hund ein", "spans": [{"text": "changed", "start": 0, "end": 1, "label": "moved"}]}
        for metric in ("bleu", "chrf")
        for n in range(12)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def write_table(path: Path, behaviour: dict[str, Any]) -> None:
    """The table in a file that declares this behaviour."""
    about = {"schema_version": exports.SCHEMA_VERSION, "study": "order", "key": "", "findings": []}
    exports.write_parts(lambda: iter([table()]), path, "parquet", {**about, "behaviour": behaviour})


def write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The files: of a study's run, of a table, and of a version that nobody has yet."""
    files = {name: folder / f"{name}.parquet" for name in ("toy", "order", "newer")}
    (folder / "lines.txt").write_text("one\ntwo words\nthree\n=1+1 is\nfünf\n")
    declared = folder / "behaviour.yaml"
    declared.write_text(json.dumps(TOY))
    declared.with_name("findings.yaml").write_text(json.dumps(FINDINGS))
    replace(STUDY, behaviour=declared)
    exports.write_outcomes([ToyParams(file=str(folder / "lines.txt"), penalty=0.1)], files["toy"], "parquet", key="k")
    replace(STUDY)
    write_table(files["order"], TABLE)
    monkeypatch.setattr(exports, "SCHEMA_VERSION", exports.SCHEMA_VERSION + 1)
    write_table(files["newer"], {**TABLE, "palette": "viridis"})
    return files


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    from tests.studies.conftest import Dummy, register

    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    register(Dummy(lambda text: text[:2]), ["dummy"])
    return write(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["toy", "order", "newer"])
def test_files_are_written_as_nbcards_reads_them(files: dict[str, Path], name: str):
    ours, kept = (pq.read_table(folder / f"{name}.parquet") for folder in (files["toy"].parent, FOLDER))
    assert ours.schema.equals(kept.schema)
    about = [json.loads(each.schema.metadata[exports.METADATA]) for each in (ours, kept)]
    assert about[0] == about[1]
    assert ours.equals(kept)


if __name__ == "__main__":
    from tests.studies.conftest import Dummy, register

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        os.environ["NBKIT_CACHE"] = f"{place}/cache"
        register(Dummy(lambda text: text[:2]), ["dummy"])
        for path in write(Path(place), patch).values():
            (FOLDER / path.name).write_bytes(path.read_bytes())
