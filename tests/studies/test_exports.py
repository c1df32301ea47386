"""Outcomes as files that describe themselves: every format gives back each number to the last bit."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbkit.errors import DataError, NbkitError
from nbkit.studies import exports
from nbkit.studies.results import written_key
from tests.studies.conftest import Dummy, register
from tests.studies.long_files import outcomes, read_outcomes
from tests.studies.toy import STUDY, ToyParams

BEHAVIOUR = """
title: Toy
question: Is a text changed?
measures:
  ratio: {label: ratio, measure: ratio, reading: How long, share: false, answer: {above: "{value}"}}
outcomes:
  groups: [kind]
  measures:
    ratio: {value: ratio}
    same/{kind}: {value: same, where: "ratio > 0", verdict: value, reason: reason, groups: []}
"""


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyParams]:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "lines.txt").write_text("one\ntwo words\nthree\n=1+1 is\nfünf\n")
    (tmp_path / "behaviour.yaml").write_text(BEHAVIOUR)
    register(Dummy(lambda text: text[:2]), ["dummy"])
    replace(STUDY, behaviour=tmp_path / "behaviour.yaml")
    yield ToyParams(file=str(tmp_path / "lines.txt"), penalty=0.1)
    replace(STUDY)


def same(one: pd.Series, other: pd.Series) -> bool:
    return all(a == b or (pd.isna(a) and pd.isna(b)) for a, b in zip(one, other, strict=True))


def test_a_file_says_what_its_columns_are(params: ToyParams, tmp_path: Path):
    path = tmp_path / "outcomes.parquet"
    assert exports.write_outcomes([params], path, "parquet", key="k") == 7
    about = exports.read_declaration(path)
    assert about["schema_version"] == 2 and about["study"] == "toy" and written_key(path) == "k"
    assert about["behaviour"]["measures"]["ratio"]["label"] == "ratio"
    table = pq.read_table(path).to_pandas()
    assert list(table)[:6] == ["table", "item", "unit", "source_language", "target_language", "model"]
    assert table["source"].tolist()[:3] == ["one", "two words", "two"] and table["output"].tolist()[:2] == ["on", "tw"]


@pytest.mark.parametrize("form", exports.FORMATS)
def test_every_number_comes_back_to_the_last_bit(params: ToyParams, tmp_path: Path, form: str):
    path, wanted = tmp_path / f"outcomes.{form}", STUDY.read(params)
    exports.write_outcomes([params], path, form)
    if form == "parquet":
        again = pd.read_parquet(path)
    elif form == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            again = pd.DataFrame(csv.DictReader(file)).astype({"ratio": float})
    else:
        again = pd.DataFrame(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
        assert set(again["schema_version"]) == {2}
    assert again["ratio"].tolist() == wanted["ratio"].tolist()  # not: nearly
    assert again["item"].tolist() == wanted["item"].tolist()


def test_no_text_is_a_formula_to_a_spreadsheet(params: ToyParams, tmp_path: Path):
    exports.write_outcomes([params], tmp_path / "o.csv", "csv")
    assert "'=1+1 is" in (tmp_path / "o.csv").read_text() and ",=1" not in (tmp_path / "o.csv").read_text()


def test_each_measure_has_its_rows(params: ToyParams, tmp_path: Path):
    path = tmp_path / "outcomes.parquet"
    exports.write_outcomes([params], path, "parquet")
    computed, read = (
        pd.concat(tables, ignore_index=True).sort_values(["measure", "item"], ignore_index=True)
        for tables in (outcomes(params, texts=True), read_outcomes(path))
    )
    for name in computed.columns.drop("groups"):
        assert same(computed[name], read[name]), name
    assert set(read["measure"]) == {"ratio", "same/line", "same/word"}
    judged = read[read["measure"] == "same/line"]
    assert set(judged["verdict"]) == {"fail"} and set(judged["reason"]) == {"changed"}
    assert judged["groups"].tolist() == [{}] * len(judged)
    kinds = [groups["kind"] for groups in read[read["measure"] == "ratio"]["groups"]]
    assert sorted(kinds) == ["line"] * 5 + ["word"] * 2
    assert read["verdict"].isna().sum() == 7 and not any(map(math.isnan, read["value"]))


def test_another_version_is_refused_with_the_way_out(tmp_path: Path):
    pd.DataFrame({"schema_version": [1]}).to_parquet(tmp_path / "old.parquet")
    with pytest.raises(DataError, match="outcomes of version 1, this nbkit reads 2: write them again, with `nbkit out"):
        exports.read_declaration(tmp_path / "old.parquet")
    new = pa.table({"item": ["a"]}).replace_schema_metadata({exports.METADATA: b'{"schema_version": 3}'})
    pq.write_table(new, tmp_path / "new.parquet")
    with pytest.raises(DataError, match="outcomes of version 3, this nbkit reads 2: update nbkit"):
        exports.read_declaration(tmp_path / "new.parquet")
    (tmp_path / "none.parquet").write_text("nothing")
    with pytest.raises(DataError, match="not readable as Parquet"):
        exports.read_declaration(tmp_path / "none.parquet")


def test_a_format_that_is_none_is_refused(params: ToyParams, tmp_path: Path):
    with pytest.raises(NbkitError, match="there is no format 'xlsx' for outcomes; there are: parquet, jsonl, csv"):
        exports.write_outcomes([params], tmp_path / "o.xlsx", "xlsx")


def test_large_outcomes_are_a_relation(params: ToyParams, monkeypatch: pytest.MonkeyPatch):
    small = exports.outcomes(params)
    monkeypatch.setattr(exports, "LARGE", 3)
    large = exports.outcomes(params)
    assert type(large).__name__ == "DuckDBPyRelation"
    assert large.df()["ratio"].tolist() == small["ratio"].tolist()
