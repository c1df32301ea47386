"""What the rule decides beside its variants: counted on training pairs, judged on translations, shown in tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbkit.corpora.homographs import load_homographs
from nbkit.errors import ParamsError
from nbkit.measure.senses import AMBIGUOUS, BY_GENDER, DECIDED, NO_NOUN, NOT_ALIGNED, UNKNOWN, Sense, SenseCounts
from nbkit.store import Store
from nbkit.studies.disambiguation import DisambiguationParams, styled
from nbkit.studies.disambiguation import tables as reach
from nbkit.studies.disambiguation.mining import Mining, count_senses
from nbkit.studies.disambiguation.steps import PUBLISHED_CODE, RIGHT, UNDECIDED, WRONG, Found, _judged_by
from nbkit.text.sentences import Sentence, Text
from tests.metrics.ten_pairs import LEXICON, german, parsed

BAT = parsed("bat/NOUN/root/-1")


def test_miner_counts_what_variants_decide_but_biases_by_the_rule_alone():
    verb = Text((Sentence(("sie", "schlägt"), "de", upos=("PRON", "VERB"), lemmas=("sie", "schlagen")),))
    pairs = [
        (BAT, german("Keule"), ((0, 0),)),
        (BAT, german("Ding", "Keule"), ((0, 0),)),
        (BAT, german("Ding", "Ding", "Ding", "Ding", "Keule"), ((0, 0),)),
        (BAT, verb, ((0, 1),)),
    ]
    counts = count_senses(pairs, LEXICON)
    assert counts.pairs == {("bat", "club"): 1}
    assert counts.reached == {
        ("links", DECIDED): 1, ("links", UNKNOWN): 2, ("links", NO_NOUN): 1,
        ("window", DECIDED): 2, ("window", UNKNOWN): 1, ("window", NO_NOUN): 1,
        ("translation", DECIDED): 3, ("translation", NO_NOUN): 1,
    }  # fmt: skip
    assert (counts - count_senses(pairs[:1], LEXICON)).reached == count_senses(pairs[1:], LEXICON).reached
    assert SenseCounts.from_table(counts.table()).reached == counts.reached


def test_verbs_are_in_no_share_of_training_pairs(monkeypatch):
    reached = Counter(
        {
            ("links", DECIDED): 6,
            ("links", BY_GENDER): 1,
            ("links", NOT_ALIGNED): 2,
            ("links", NO_NOUN): 5,
            ("window", DECIDED): 8,
        }
    )
    monkeypatch.setattr(reach, "counts", lambda params, store: SenseCounts(reached=reached))
    found = reach.sense_coverage(DisambiguationParams(), Store("memory://reach")).set_index("reach")
    assert found.loc["links"].tolist() == [7, 2, 5, 7 / 9, 1] and found.loc["window", "share"] == 1
    assert np.isnan(found.loc["translation", "share"])
    shown = styled.coverage_table(found.reset_index()).data
    assert shown["share"].tolist()[:2] == ["77.8", "100.0"]
    assert "contains no homograph" in str(styled.coverage_table(found.reset_index().head(0)).to_html())


@pytest.mark.parametrize(
    ("told", "outcomes"),
    [  # by the nouns near by, the whole translation, and the published code
        (Sense("bat", 0, "club", None), [RIGHT, RIGHT, RIGHT]),
        (Sense("bat", 0, "animal", None), [WRONG, WRONG, WRONG]),
        (Sense("bat", 0, None, NOT_ALIGNED), [UNDECIDED] * 3),
        (Sense("bat", 0, None, AMBIGUOUS, possible=frozenset({"club", "animal"})), [UNDECIDED, UNDECIDED, RIGHT]),
        (Sense("bat", 0, None, AMBIGUOUS, possible=frozenset({"animal"})), [UNDECIDED] * 3),
    ],
)
def test_outcomes_by_the_variants(told, outcomes):
    found = Found("", "", "", "", {"links": told, "window": told, "translation": told})
    assert [_judged_by(name, found, "club") for name in ("window", "translation", PUBLISHED_CODE)] == outcomes
    assert _judged_by("window", Found("", "", "", "", {}), "club") == UNDECIDED


def test_error_rates_by_the_variants(monkeypatch):
    outcomes = pd.DataFrame({
        "reason": ["", "", NO_NOUN, UNKNOWN],
        "outcome": [RIGHT, WRONG, UNDECIDED, UNDECIDED],
        "outcome_window": [RIGHT, WRONG, UNDECIDED, RIGHT],
        "outcome_translation": [RIGHT, WRONG, UNDECIDED, WRONG],
        f"outcome_{PUBLISHED_CODE}": [RIGHT, WRONG, RIGHT, RIGHT],
    })  # fmt: skip
    monkeypatch.setattr(reach, "judged", lambda params, model, store: outcomes)
    monkeypatch.setattr(reach, "pool", lambda params, store: pd.DataFrame({"corpus": "x", "pair": list("abcd")}))
    found = reach.error_variants(DisambiguationParams(models=["./m"]), Store("memory://reach")).set_index("reach")
    assert found["errors"].tolist() == [1, 1, 2, 1] and found["n"].tolist() == [2, 3, 3, 4]
    assert found["undecided"].tolist() == [1, 0, 0, 0] and found["set_aside"].tolist() == [1, 1, 1, 0]
    assert found["share"].tolist() == [2 / 3, 1, 1, 1]
    shown = styled.error_variants_table(found.reset_index()).data
    assert len(shown) == 4 and list(shown["reach"]) == list(reach.SHOWN.values())


def test_nouns_of_languages_without_capitals_need_a_parser_or_an_option():
    with pytest.raises(ParamsError, match=r"target_nouns: 'tagged' cannot identify nouns of 'fr' .*; .* any"):
        DisambiguationParams(target="fr", lexicon="./x.yaml")
    for settings in ({"target_nouns": "any"}, {"target_words": "lemmas"}):
        DisambiguationParams(target="fr", lexicon="./x.yaml", **settings)


def test_counts_of_other_target_nouns_are_remembered_apart():
    kinds = [Mining("sandbox", n=5, target_nouns=nouns).counts_key() for nouns in ("tagged", "any")]
    assert kinds[0] != kinds[1]


def test_ambiguous_words_of_published_files_keep_their_clusters(tmp_path: Path):
    content = {"bank": {
        "1": {"[SENSES]": ["Geldinstitut"], "[AMBIGUOUS SENSES]": ["Bank"]},
        "2": {"[SENSES]": ["Ufer", "Kante"], "[AMBIGUOUS SENSES]": ["Bank"]},
        "3": {"[SENSES]": ["Reihe", "Kante"]},
    }}  # fmt: skip
    path = tmp_path / "clusters.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    bank = load_homographs(str(path), on_conflict="drop").homographs["bank"]
    assert bank.shared == {"bank": {"1", "2"}, "kante": {"2", "3"}}
