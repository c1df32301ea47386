"""Outcomes in general: ids, identical items, files, versions. A study that is made up says what it is told to."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from nbkit.errors import DataError, NbkitError
from nbkit.store import Store
from nbkit.studies import STUDIES, headline, item_id, outcomes, read_outcomes, write_outcomes
from nbkit.studies.base import StudyParams
from nbkit.studies.engine import Study
from nbkit.studies.results import COLUMNS, SCHEMA_VERSION, TEXTS, objects, outdated


class MadeUp(StudyParams):
    """parts: the values of each part of the stream; an item is its value, as text."""

    parts: list[list[int]] = Field(default=[])


STUDY = Study(name="made-up", title="", paper="", params=MadeUp)


@STUDY.outcomes(headline="none")
def made_up(params: MadeUp, store: Store, texts: bool):
    for part in params.parts:
        found = pd.DataFrame(
            {
                "item": [item_id([str(value)], {}) for value in part],
                "value": [float(value) for value in part],
                "groups": objects({"parity": str(value % 2)} for value in part),
                "cluster": [str(value) for value in part],
            }
        ).assign(system="S", source_language="en", measure="itself", verdict="pass")
        yield found.assign(source=[str(value) for value in part], spans=objects([] for _ in part)) if texts else found


@made_up.table
def sums(found: pd.DataFrame) -> pd.DataFrame:
    return found.groupby("system")["value"].agg(["size", "sum"]).reset_index()


def rows(parts: list[list[int]], texts: bool = False) -> pd.DataFrame:
    frames = list(outcomes(MadeUp(parts=parts), texts=texts))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)


@given(st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=4), st.randoms())
def test_identical_items_are_one_row_wherever_they_stand(parts, random):
    flat = [value for part in parts for value in part]
    found = rows(parts)
    assert dict(zip(found["value"], found["count"], strict=True)) == {
        float(value): flat.count(value) for value in dict.fromkeys(flat)
    }
    shuffled = random.sample(flat, len(flat))
    again = rows([shuffled[::2], shuffled[1::2]])
    assert set(again["item"]) == set(found["item"])
    if flat:
        table = headline(MadeUp(parts=parts), [found])
        assert table.loc[0, ["size", "sum"]].tolist() == [len(flat), sum(flat)]


@given(
    st.lists(st.text(max_size=8), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from("abc"), st.text(max_size=4)),
    st.integers(0, 3),
)
def test_an_id_is_of_texts_treatment_and_draw(texts, treatment, draw):
    own = item_id(texts, treatment, [0, draw])
    assert own == item_id(texts, dict(reversed(treatment.items())), [0, draw]) and len(own) == 32
    assert own != item_id([*texts, ""], treatment, [0, draw])
    assert own != item_id(texts, {**treatment, "d": "1"}, [0, draw])
    assert own not in {item_id(texts, treatment, [0, draw + 1]), item_id(texts, treatment)}


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("texts", [False, True])
def test_files_hold_what_the_stream_says(tmp_path: Path, form, texts):
    path, whole = tmp_path / f"found.{form}", rows([[1, 2], [2, 3]], texts)
    assert write_outcomes(outcomes(MadeUp(parts=[[1, 2], [2, 3]]), texts=texts), path, form) == 3
    if form == "csv":
        again = pd.read_csv(path)
        assert [json.loads(groups)["parity"] for groups in again["groups"]] == ["1", "1", "0"]
    else:
        again = pd.concat(list(read_outcomes(path)), ignore_index=True)
        assert list(again["groups"]) == list(whole["groups"])
    assert list(again.columns) == [*COLUMNS, *(TEXTS if texts else ())]
    for name in ("item", "count", "value", "system", "cluster", "schema_version"):
        assert list(again[name].astype(whole[name].dtype)) == list(whole[name]), name


def test_nothing_is_written_where_nothing_was_found(tmp_path: Path):
    for form in ("parquet", "jsonl", "csv"):
        assert write_outcomes(outcomes(MadeUp()), tmp_path / f"none.{form}", form) == 0
    assert (
        list(read_outcomes(tmp_path / "none.parquet")) == []
        or sum(map(len, read_outcomes(tmp_path / "none.parquet"))) == 0
    )


def test_another_version_is_refused_with_the_way_out(tmp_path: Path):
    path = tmp_path / "old.jsonl"
    write_outcomes(outcomes(MadeUp(parts=[[1]])), path, "jsonl")
    path.write_text(path.read_text().replace(f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 99'))
    with pytest.raises(DataError, match=r"old\.jsonl.*version 99.*write them again, with `nbkit outcomes RUN`"):
        list(read_outcomes(path))
    with pytest.raises(NbkitError, match=r"no format 'xml'.*parquet, jsonl, csv"):
        write_outcomes([], path, "xml")
    assert path.exists()


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path: Path):
    def fails():
        yield from outcomes(MadeUp(parts=[[1]]))
        raise NbkitError("the run ended")

    with pytest.raises(NbkitError, match="the run ended"):
        write_outcomes(fails(), tmp_path / "half.jsonl", "jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_study_says_what_its_outcomes_lack():
    class Bare(StudyParams):
        """Parameters of a study without outcomes."""

    study = Study(name="bare", title="", paper="", params=Bare)
    with pytest.raises(NbkitError, match="'bare' declares no outcomes"):
        list(outcomes(Bare()))

    @study.outcomes(headline="none")
    def half(params, store, texts):
        yield pd.DataFrame({"item": ["a"], "system": ["S"], "source_language": ["en"], "measure": ["m"]})

    with pytest.raises(
        NbkitError,
        match=r"study 'bare', outcomes \(test_results.py:\d+\): column 'value' is missing; add it to each table",
    ):
        list(outcomes(Bare()))

    @study.outcomes(headline="none")
    def strange(params, store, texts):
        yield next(made_up.stream(MadeUp(parts=[[1]]), store, texts)).assign(verdict="good")

    with pytest.raises(NbkitError, match="column 'verdict': pass, fail, undecided or None expected, found 'good'"):
        list(outcomes(Bare()))
    complete = rows([[1]]).drop(columns=["schema_version", "study", "count", "sums"])
    is_none = "is not a column of outcomes; "
    for table, message in (
        (complete.rename(columns={"verdict": "verdikt"}), f"'verdikt' {is_none}did you mean 'verdict'"),
        (complete.rename(columns={"cluster": "clusters"}), f"'clusters' {is_none}did you mean 'cluster'"),
        (complete.assign(temperature=1), f"'temperature' {is_none}drop it, or put its values into 'groups'"),
        (complete.drop(columns="item"), "column 'item' is missing; add it .*adding-a-study"),
        (complete.assign(value="1"), "column 'value': numbers or NaN expected, found '1'"),
        (complete.assign(groups="odd"), "column 'groups': dictionaries expected, found 'odd'"),
    ):

        @study.outcomes(headline="none")
        def given(params, store, texts, table=table):
            yield table

        with pytest.raises(NbkitError, match=rf"study 'bare', outcomes \(test_results.py:\d+\): {message}"):
            list(outcomes(Bare()))
        given.stream.__defaults__ = (complete,)
        assert len(list(outcomes(Bare()))) == 1
    with pytest.raises(NbkitError, match="no axis 'modell'; there are: none"):
        study.step(per=["modell"], key=dict, unit="fill")(print)
    with pytest.raises(NbkitError, match="does not say how its headline follows"):
        headline(Bare(), [])


@pytest.mark.parametrize("name", [name for name in STUDIES if hasattr(STUDIES.get(name), "results")])
def test_every_study_names_a_headline_that_there_is(name):
    results = STUDIES.get(name).results
    module, _, function = results.headline.partition(":")
    assert callable(getattr(import_module(module), function)) and results.again is not None


def broken_study() -> Study:
    """A study whose steps do what a plug-in may do wrong; *values* say which."""
    study = Study(name="broken", title="", paper="", params=type("BrokenParams", (MadeUp,), {"__module__": __name__}))

    @study.step(key=lambda params: {"parts": params.parts, "odd": {1} if params.parts == [[1]] else 0})
    def table(params, store):
        return "no table" if params.parts == [[2]] else pd.DataFrame({"value": [1 / (params.parts[0][0] - 3)]})

    @study.outcomes(headline="none")
    def found(params, store, texts):
        if params.parts == [[4]]:
            return ["no table"]
        table(params, store=store)
        return int("x")

    return study


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, r"study 'broken', step 'table' \(test_results.py:\d+\): its key must hold what JSON can .*\{1\}"),
        (2, r"study 'broken', step 'table' \(test_results.py:\d+\): a table .* is expected, found 'no table'"),
        (3, r"^study 'broken', step 'table' \(test_results.py:\d+\): ZeroDivisionError: division by zero$"),
        (4, r"study 'broken', outcomes \(test_results.py:\d+\): tables .* are expected, found 'no table'"),
        (5, r"^study 'broken', outcomes \(test_results.py:\d+\): ValueError: invalid literal"),
    ],
)
def test_what_a_study_does_wrong_is_said_with_study_step_and_line(tmp_path, monkeypatch, value, message):
    monkeypatch.setattr("nbkit.studies.engine.digest", lambda *roots, **settings: "0")  # its step is within a function
    study = broken_study()
    with pytest.raises(NbkitError, match=message) as caught:
        list(outcomes(study.params(parts=[[value]]), store=Store(tmp_path)))
    if value == 3:
        line = int(str(caught.value).partition("test_results.py:")[2].partition(")")[0])
        assert "1 / (params" in Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1]


def test_two_steps_or_works_of_one_name_are_refused():
    study = Study(name="twice", title="", paper="", params=type("TwiceParams", (MadeUp,), {}))

    def fill(params, store):
        return pd.DataFrame()

    study.step(key=lambda params: {})(fill)
    with pytest.raises(NbkitError, match=r"study 'twice': two steps or works are called 'fill' .*rename one"):
        study.work("fill")(fill)


def test_tables_of_other_code_are_found_with_their_size(tmp_path, monkeypatch):
    codes = iter(["0", "1", "1"])
    monkeypatch.setattr("nbkit.studies.engine.digest", lambda *roots, **settings: next(codes))
    study, store = broken_study(), Store(tmp_path)
    params = study.params(parts=[[5]])
    study.steps[0](params, store=store)
    (old,) = outdated([study], store)
    assert old.kind == "broken.table" and old.config["code"] == "0" and old.size > 0
    assert outdated([], store) == []
    old.remove()
    assert outdated([study], store) == [] and list(store.blocks()) == []
