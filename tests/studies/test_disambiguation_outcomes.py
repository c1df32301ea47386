"""The disambiguation study's outcomes: verdicts, texts and marks agree, and items are the same in every run."""

from __future__ import annotations

import pandas as pd
import pytest

from nbkit.studies.disambiguation import STUDY
from tests.studies.long_files import outcomes

from .test_disambiguation import run  # noqa: F401 - a fixture


@pytest.fixture(scope="module")
def found(run) -> pd.DataFrame:  # noqa: F811
    return pd.concat(list(outcomes(run[0], texts=True)), ignore_index=True)


def test_each_test_pair_has_a_sense_and_a_bias_and_each_sample_an_attack(run, found):  # noqa: F811
    params, _ = run
    pool, samples = STUDY.read(params, "items"), STUDY.read(params, "samples")
    assert found["measure"].value_counts().to_dict() == {
        "sense": len(pool), "bias": len(pool), "attack": int(samples["fluent"].sum()),
    }  # fmt: skip
    assert STUDY.used(params) == {"n_pairs": [params.n_pairs], "n_test": [len(pool)]}
    assert STUDY.used(params.model_copy(update={"min_tokens": 3})) == {}  # not read yet
    gap = (pool["freq_wrong_mean"] - pool["freq_right_mean"]).to_numpy()
    assert found.loc[found["measure"] == "bias", "value"].to_numpy() == pytest.approx(gap)


def test_twins_are_attacked_and_not_exported(run, found):  # noqa: F811
    params, _ = run
    twin = params.model_copy(update={"twins": {"follower": "sandbox"}})
    assert {cell.model for cell in STUDY.points(twin) if STUDY.exported(twin, cell)} == {"follower"}


def test_the_homograph_is_marked_in_the_source(found):
    pairs = found[found["measure"] == "sense"]
    for source, spans, groups in zip(pairs["source"], pairs["spans"], pairs["groups"], strict=True):
        (span,) = [span for span in spans if span["text"] == "source"]
        assert span["label"] == groups["homograph"]
        assert source[span["start"] : span["end"]].lower().startswith(groups["homograph"][:3])


def test_verdicts_and_texts_belong_together(run, found):  # noqa: F811
    known = STUDY.read(run[0], "items").set_index("item")
    senses = found[found["measure"] == "sense"]
    assert len(senses) and set(senses["verdict"]) <= {"pass", "fail", "undecided"}
    for row in senses.head(40).itertuples():
        pair = known.loc[row.item]
        (span,) = [each for each in row.spans if each["text"] == "reference"]
        assert row.reference[span["start"] : span["end"]] == pair["word"]
        judged = [each for each in row.spans if each["text"] == "output"]
        assert all(row.output[each["start"] : each["end"]] for each in judged)
        assert judged or row.verdict == "undecided"
        assert (row.reason == "") == (row.verdict == "pass")
    for row in found[found["measure"] == "attack"].head(40).itertuples():
        (span,) = [each for each in row.spans if each["text"] != "source"]
        assert row.changed != row.source and row.changed[span["start"] : span["end"]]


def test_an_item_is_the_same_whatever_else_is_in_the_run(run, found):  # noqa: F811
    fewer = run[0].model_copy(update={"n_pairs": 150})
    others = pd.concat(list(outcomes(fewer)), ignore_index=True)
    senses = others["measure"] == "sense"
    assert set(others.loc[others["measure"] == "bias", "item"]) == set(others.loc[senses, "item"])
    assert len(others[senses]) and set(others.loc[senses, "item"]) <= set(found["item"])
    both = others.merge(found, on=["system", "item", "measure"]).query("measure != 'bias'")
    assert (both["verdict_x"] == both["verdict_y"]).mean() > 0.9  # aligned by what other pairs taught
