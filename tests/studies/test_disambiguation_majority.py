"""Senses by the majority of the other systems, on the sandbox, whose references say who is right."""

from __future__ import annotations

from importlib import import_module

import pytest

from nbkit.corpora import load_pairs
from nbkit.errors import ParamsError
from nbkit.measure.senses import majority_sense
from nbkit.store import Store
from nbkit.studies import disambiguation as study
from nbkit.studies.disambiguation import DisambiguationParams, tables

from .conftest import Dummy, register

pool_module = import_module("nbkit.studies.disambiguation.pool")
N = 60
SYSTEMS = ["right-1", "right-2", "right-3", "silent", "wrong"]


@pytest.fixture
def params(monkeypatch: pytest.MonkeyPatch, tmp_path) -> DisambiguationParams:
    """Three systems that write the references, one that writes nothing, one that takes another sense each time."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    settings = {
        "masked_lm": None, "causal_lm": None, "training_pairs": 300, "aligner_pairs": 300, "n_pairs": N,
        "min_tokens": 4, "bleu_pairs": 0, "challenge_size": 10,
    }  # fmt: skip
    gold = DisambiguationParams(models=["right-1"], **settings)
    references = {pair.source.text: pair.target.text for pair in load_pairs("sandbox-homographs:test", "en", "de", n=N)}
    for name in (*SYSTEMS[:3], "right-4"):
        register(Dummy(references.__getitem__), [name])
    wrong = dict(references)
    for row in study.pool(gold, Store()).to_dict("records"):
        senses = gold.homographs.homographs[row["homograph"]].clusters
        other = min(next(each for each in senses if each.name != row["sense"]).translations)
        wrong[row["source"]] = row["reference"].replace(row["word"], other)
    register(Dummy(lambda text: ""), ["silent"])
    register(Dummy(wrong.__getitem__), ["wrong"])
    return DisambiguationParams(models=SYSTEMS, voters=SYSTEMS, **settings)


def test_the_majority_is_right_and_who_dissents_is_wrong(params):
    store = Store()
    pairs = study.pool(params, store).set_index("pair")
    gold = study.pool(params.model_copy(update={"voters": []}), store).set_index("pair")
    both = pairs.index.intersection(gold.index)
    assert len(both) > N / 2
    assert (pairs.loc[both, "sense"] == gold.loc[both, "sense"]).all()
    biases = [name for name in pairs if name.startswith(("freq_", "ppmi_"))]
    assert (pairs.loc[both, biases] == gold.loc[both, biases]).all(axis=None)
    rates = study.errors(params, store).set_index("model")
    assert (rates.loc[SYSTEMS[:3], "errors"] == 0).all() and rates.loc["silent", "n"] == 0
    assert rates.loc["wrong", "errors"] > 0.9 * len(both)
    left_out = study.pool_left_out(params, store).set_index("reason")["n"]
    assert left_out["pairs read"] == N and left_out["in the pool"] == len(pairs)


def test_an_equal_vote_decides_nothing(params, monkeypatch):
    four = params.model_copy(update={"voters": ["right-1", "right-2", "wrong", "silent"]})
    monkeypatch.setenv("NBKIT_CACHE", "memory://equal")
    store = Store()
    assert study.pool(four, store).empty  # three decided: nobody has three others
    left_out = study.pool_left_out(four, store).set_index("reason")["n"]
    assert left_out[pool_module.NO_MAJORITY] > N / 2


@pytest.mark.parametrize(
    ("senses", "majority"),
    [
        (["a"] * 3, None),
        (["a"] * 4, "a"),
        (["a"] * 3 + ["b"], "a"),
        (["a"] * 3 + ["b", "b"], None),  # for the third of them, the others are 2 to 2
        (["a"] * 5 + ["b", "b"], "a"),  # 4 of 6 others: two thirds
        (["a"] * 4 + ["b", "b", None], None),  # 3 of 5
        ([None] * 9, None),
    ],
)
def test_majorities_hold_whichever_system_is_left_out(senses, majority):
    assert majority_sense(senses) == majority


def test_a_majority_needs_systems_and_no_folds():
    with pytest.raises(ParamsError, match="at least four"):
        DisambiguationParams(voters=["a", "b", "c"])
    with pytest.raises(ParamsError, match="folds: 0"):
        DisambiguationParams(voters=SYSTEMS, folds=2)


def test_one_system_is_compared_with_all_of_them(params):
    store = Store()
    one = params.narrowed("sandbox", "wrong")
    rates = study.errors(one, store)
    assert rates["model"].tolist() == ["wrong"] and rates["rate"].item() > 0.9
    register(Dummy(lambda text: "Unbekannt"), ["new"])
    new = one.model_copy(update={"models": ["new"]})
    assert study.errors(new, store)["undecided"].item() == len(study.pool(params, store))


def test_wrong_senses_are_compared_where_nothing_can_be_attacked(params, monkeypatch):
    monkeypatch.setattr(DisambiguationParams, "attackable", [])
    found = study.transfer(params.model_copy(update={"models": ["right-1", "wrong", "right-2"]}), Store())
    assert (found["relation"] == tables.WRONG_SENSES).all() and len(found) == 3
    with_wrong = found[(found["model_a"] == "wrong") | (found["model_b"] == "wrong")]
    assert (with_wrong["jaccard"] == 0).all() and (with_wrong["both"] == 0).all()
    assert found.drop(with_wrong.index)["jaccard"].isna().all()  # neither is ever wrong


def test_what_all_agree_on_against_the_context_is_listed(params):
    agreed = study.unanimous(params, store=Store())
    assert agreed.empty  # one of them disagrees each time, or none is decided
    rights = params.model_copy(update={"voters": ["right-1", "right-2", "right-3", "right-4"]})
    listed = study.unanimous(rights, store=Store())
    assert (listed["ppmi_diff"] > 0).all() and (listed["systems"] == 4).all()
    assert (listed["sense"] != listed["wrong_sense"]).all()
