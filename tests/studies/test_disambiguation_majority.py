"""Senses by the majority of the other systems, on the sandbox, whose references say who is right."""

from __future__ import annotations

import pytest

from nbkit.corpora import load_pairs
from nbkit.errors import ParamsError
from nbkit.measure.senses import majority_sense
from nbkit.studies.disambiguation import STUDY, DisambiguationParams
from nbkit.studies.disambiguation.pages import error_rates, read
from nbkit.studies.disambiguation.senses import NO_MAJORITY
from tests.pages import run_page

from .conftest import Dummy, register

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
    gold = DisambiguationParams(models=[], **settings)
    references = {pair.source.text: pair.target.text for pair in load_pairs("sandbox-homographs:test", "en", "de", n=N)}
    for name in (*SYSTEMS[:3], "right-4"):
        register(Dummy(references.__getitem__), [name])
    wrong = dict(references)
    for row in STUDY.read(gold, "items").to_dict("records"):
        senses = gold.homographs.homographs[row["homograph"]].clusters
        other = min(next(each for each in senses if each.name != row["sense"]).translations)
        wrong[row["source"]] = row["reference"].replace(row["word"], other)
    register(Dummy(lambda text: ""), ["silent"])
    register(Dummy(wrong.__getitem__), ["wrong"])
    return DisambiguationParams(models=SYSTEMS, voters=SYSTEMS, **settings)


def test_the_majority_is_right_and_who_dissents_is_wrong(params):
    pairs = STUDY.read(params, "items").set_index("pair")
    gold = STUDY.read(params.model_copy(update={"voters": []}), "items").set_index("pair")
    both = pairs.index.intersection(gold.index)
    assert len(both) > N / 2
    assert (pairs.loc[both, "sense"] == gold.loc[both, "sense"]).all()
    biases = [name for name in pairs if name.startswith(("freq_", "ppmi_"))]
    assert (pairs.loc[both, biases] == gold.loc[both, biases]).all(axis=None)
    rates = error_rates(read(params)).set_index("model")
    assert (rates.loc[SYSTEMS[:3], "errors"] == 0).all() and rates.loc["silent", "n"] == 0
    assert rates.loc["wrong", "errors"] > 0.9 * len(both)
    assert STUDY.used(params) == {"n_pairs": [N], "n_test": [len(pairs)]}


def test_a_voters_senses_are_those_that_it_voted_for(params):
    votes = STUDY.read(params, "votes").query("left_out == ''")
    outcomes = STUDY.read(params)
    cast = outcomes.assign(voter=outcomes["model"].map(SYSTEMS.index)).merge(votes, on=["key", "voter"])
    assert len(cast) == len(outcomes) and (cast["found_x"] == cast["found_y"]).all()


def test_an_equal_vote_decides_nothing(params):
    four = params.model_copy(update={"voters": ["right-1", "right-2", "wrong", "silent"]})
    assert STUDY.read(four, "items").empty  # three decided: nobody has three others
    assert STUDY.read(four, "pairs")["left_out"].value_counts()[NO_MAJORITY] > N / 2


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
    one = params.narrowed("sandbox", "wrong")
    rates = error_rates(read(one))
    assert rates["model"].tolist() == ["wrong"] and rates["value"].item() > 0.9
    register(Dummy(lambda text: "Unbekannt"), ["new"])
    new = one.model_copy(update={"models": ["new"]})
    assert error_rates(read(new))["undecided"].item() == len(STUDY.read(params, "items"))


def test_wrong_senses_are_compared_where_nothing_can_be_attacked(params, monkeypatch, tmp_path):
    monkeypatch.setattr(DisambiguationParams, "attackable", [])
    three = params.model_copy(update={"models": ["right-1", "wrong", "right-2"]})
    found = run_page("disambiguation/transferability", three.model_dump(), tmp_path, monkeypatch)
    table = found.frame("section4_transfer")
    assert (table["relation"] == "wrong senses").all() and len(table) == 3
    with_wrong = table[(table["model_a"] == "wrong") | (table["model_b"] == "wrong")]
    assert (with_wrong["value"] == 0).all() and (with_wrong["both"] == 0).all()
    assert table.drop(with_wrong.index)["value"].isna().all()  # neither is ever wrong


@pytest.mark.thorough
def test_what_all_agree_on_against_the_context_is_listed(params, monkeypatch, tmp_path):
    rights = params.model_copy(update={"voters": ["right-1", "right-2", "right-3", "right-4"]})
    rights = rights.model_copy(update={"models": rights.voters})
    for run, folder in ((params, "all"), (rights, "right")):
        (tmp_path / folder).mkdir()
        page = run_page("disambiguation/error_prediction", run.model_dump(), tmp_path / folder, monkeypatch)
        agreed = page.values["agreed"]
        if run is params:
            assert agreed.empty  # one of them disagrees each time, or none is decided
        else:
            assert (agreed["ppmi_diff"] > 0).all() and (agreed["systems"] == 4).all()
            assert (agreed["sense"] != agreed["wrong_sense"]).all()
