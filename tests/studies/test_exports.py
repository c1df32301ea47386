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

from nbkit.errors import DataError, NbkitError, UnknownNameError
from nbkit.store import DamagedShardWarning
from nbkit.studies import STUDIES, exports, results
from nbkit.studies.parts import Run
from nbkit.studies.results import written_key
from nbkit.studies.summarise import summarise
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


@pytest.mark.parametrize("content", [b"", b"nothing", b"PAR1" + bytes(20) + b"PAR1"])
def test_a_file_that_is_not_parquet_is_named(content: bytes, tmp_path: Path):
    (tmp_path / "none.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"none.parquet: not readable as Parquet \(.*\); delete it and run again"):
        exports.read_declaration(tmp_path / "none.parquet")


def test_other_tables_and_copies_are_no_outcomes(params: ToyParams, tmp_path: Path):
    pd.DataFrame({"item": ["1"]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(DataError, match=r"other.parquet: not a file of outcomes: name one that `nbkit outcomes RUN`"):
        exports.read_declaration(tmp_path / "other.parquet")
    exports.write_outcomes([params], tmp_path / "o.parquet", "parquet")
    pd.read_parquet(tmp_path / "o.parquet").to_parquet(tmp_path / "copy.parquet")
    with pytest.raises(DataError, match=r"copy.parquet: a copy without the metadata .*: use the file from which"):
        exports.read_declaration(tmp_path / "copy.parquet")


@pytest.mark.parametrize("name", ["item", "model", "source_language", "unit"])
def test_a_file_that_lacks_a_column_is_refused_with_the_column(params: ToyParams, name: str, tmp_path: Path):
    exports.write_outcomes([params], tmp_path / "o.parquet", "parquet")
    table = pq.read_table(tmp_path / "o.parquet")
    pq.write_table(table.drop_columns([name]), tmp_path / "less.parquet")
    with pytest.raises(DataError, match=rf"less.parquet: no column '{name}', which outcomes of 'toy' have: write them"):
        exports.read_declaration(tmp_path / "less.parquet")


@pytest.mark.parametrize("large", [False, True])
def test_a_column_that_outcomes_lack_is_named_with_those_that_there_are(
    params: ToyParams, large: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exports, "LARGE", 3 if large else 10**6)
    rows = exports.outcomes(params)
    with pytest.raises(UnknownNameError, match=r"unknown column 'ration'; did you mean 'ratio'\? There are: "):
        exports.where(rows, "ration > 0.5")
    with pytest.raises(UnknownNameError, match=r"unknown column 'modell'; did you mean 'model'\? There are: "):
        summarise(rows, "ratio", "modell")
    with pytest.raises(UnknownNameError, match=r"unknown column of the table 'outcomes' 'ration'; did you mean 'rat"):
        STUDY.read(params, columns=["item", "ration"])


def test_damaged_parts_are_computed_again_before_a_relation_reads_them(
    params: ToyParams, monkeypatch: pytest.MonkeyPatch
):
    before = exports.outcomes(params)
    monkeypatch.setattr(exports, "LARGE", 3)
    file = Path(Run(STUDY, params).files()[1])
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.warns(DamagedShardWarning, match="is damaged.*: moved to .*; its results are recomputed"):
        again = exports.outcomes(params)
    assert again.df()["ratio"].tolist() == before["ratio"].tolist()


def test_a_format_that_is_none_is_refused(params: ToyParams, tmp_path: Path):
    with pytest.raises(NbkitError, match="there is no format 'xlsx' for outcomes; there are: parquet, jsonl, csv"):
        exports.write_outcomes([params], tmp_path / "o.xlsx", "xlsx")


def test_large_outcomes_are_a_relation(params: ToyParams, monkeypatch: pytest.MonkeyPatch):
    small = exports.outcomes(params)
    monkeypatch.setattr(exports, "LARGE", 3)
    large = exports.outcomes(params)
    assert type(large).__name__ == "DuckDBPyRelation"
    assert large.df()["ratio"].tolist() == small["ratio"].tolist()


def test_json_lines_give_back_every_number_to_the_last_bit(tmp_path):
    row = dict.fromkeys(("item", "unit", "source_language", "target_language", "model"), "x")
    values = [0.1 + 0.2, 2 / 3, 0.42044820762685725, 1e-17, 123456789.12345679]
    head = {"schema_version": exports.SCHEMA_VERSION, "study": "numbers", **row}
    lines = [json.dumps({**head, "strict": value}) for value in values]
    (tmp_path / "o.jsonl").write_text("\n".join(lines) + "\n")
    [found] = results.read_outcomes(tmp_path / "o.jsonl", STUDIES)
    assert found.rows["strict"].tolist() == values
