"""The disambiguation study's outcomes: its headline follows from them, and items are the same in every run."""

from __future__ import annotations

import json
from importlib import import_module

import pandas as pd
import pytest

from nbkit.studies import disambiguation as study
from nbkit.studies import headline, outcomes
from nbkit.studies.disambiguation import steps

from .test_disambiguation import run  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def found(run) -> pd.DataFrame:  # noqa: F811
    params, store, _ = run
    return pd.concat(list(outcomes(params, texts=True, store=store)), ignore_index=True)


def test_the_headline_follows_from_outcomes_alone(run, found):  # noqa: F811
    params, store, _ = run
    expected = study.errors(params, store).sort_values("model", ignore_index=True)
    again = headline(params, [found]).sort_values("model", ignore_index=True)
    pd.testing.assert_frame_equal(again, expected)
    of_one = found[(found["measure"] == "sense") & (found["system"] == found["system"].iloc[0])]
    used = study.STUDY.used(params, store)
    assert used == {"n_pairs": [params.n_pairs], "n_test": [of_one["count"].sum()]} and json.dumps(used)
    assert study.STUDY.used(params.model_copy(update={"min_tokens": 3}), store) == {}  # not looked for yet
    attacks = found[found["measure"] == "attack"]
    rates = study.attack_rates(params, store).set_index("model")
    for model, own in attacks.groupby("system"):
        assert (own.loc[own["verdict"] == "fail", "count"].sum()) == rates.loc[model, "successes"]


def test_of_many_test_pairs_some_are_drawn_the_same_ones_in_every_run(run, found):  # noqa: F811
    params, store, _ = run
    few = params.model_copy(update={"n_test": 50})
    drawn, every = study.pool(few, store), study.pool(params, store)
    assert (
        len(drawn) == 50
        and set(drawn["key"]) < set(every["key"])
        and drawn["key"].is_monotonic_increasing == (every["key"].is_monotonic_increasing)
    )
    fewer = study.pool(params.model_copy(update={"n_test": 20}), store)
    assert set(fewer["key"]) < set(drawn["key"])
    other = study.pool(few.model_copy(update={"seed": 1}), store)
    assert set(other["key"]) != set(drawn["key"])
    counted = study.pool_left_out(few, store).set_index("reason")["n"]
    assert counted["in the pool"] == 50 and counted["not drawn"] == len(every) - 50
    assert study.STUDY.used(few, store)["n_test"] == [50]


def test_the_homograph_is_marked_in_the_source(found):
    pairs = found[found["measure"] == "sense"]
    for source, spans, groups in zip(pairs["source"], pairs["spans"], pairs["groups"], strict=True):
        (span,) = [span for span in spans if span["text"] == "source"]
        assert span["label"] == groups["homograph"]
        assert source[span["start"] : span["end"]].lower().startswith(groups["homograph"][:3])


def test_verdicts_and_texts_belong_together(run, found):  # noqa: F811
    params, store, _ = run
    told = study.pool(params, store).set_index(["source", "reference", "homograph"])
    senses = found[found["measure"] == "sense"]
    assert len(senses) and set(senses["verdict"]) <= {"pass", "fail", "undecided"}
    for row in senses.head(40).itertuples():
        pair = told.loc[(row.source, row.reference, row.groups["homograph"])]
        pair = pair.iloc[0] if isinstance(pair, pd.DataFrame) else pair
        (span,) = [each for each in row.spans if each["text"] == "reference"]
        assert row.reference[span["start"] : span["end"]] == pair["word"]
        judged = [each for each in row.spans if each["text"] == "output"]
        assert all(row.output[each["start"] : each["end"]] for each in judged)
        assert judged or row.verdict == "undecided"
        assert (row.reason == "") == (row.verdict == "pass")
    for row in found[found["measure"] == "attack"].head(40).itertuples():
        (span,) = [each for each in row.spans if each["text"] != "source"]
        assert row.changed != row.source and row.changed[span["start"] : span["end"]]


def test_an_item_is_the_same_whatever_else_is_in_the_run(run, found, monkeypatch):  # noqa: F811
    params, store, _ = run
    monkeypatch.setattr(import_module("nbkit.studies.disambiguation.pool"), "CHUNK", 7)
    monkeypatch.setattr(steps, "CHUNK", 7)
    fewer = params.model_copy(update={"n_pairs": 150})
    others = pd.concat(list(outcomes(fewer, store=store)), ignore_index=True)
    assert set(others.loc[others["measure"] == "bias", "item"]) == set(others.loc[others["measure"] == "sense", "item"])
    both = others.merge(found, on=["system", "item", "measure"]).query("measure != 'bias'")
    senses = others["measure"] == "sense"
    assert len(others[senses]) and set(others.loc[senses, "item"]) <= set(found["item"])
    assert (both["verdict_x"] == both["verdict_y"]).mean() > 0.9  # aligned by what other pairs taught
