"""What the rule decides beside its variants: counted on training pairs, judged on translations, shown in tables."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from nbkit.corpora.homographs import load_homographs
from nbkit.errors import ParamsError
from nbkit.measure.senses import DECIDED, NO_NOUN, OUTSIDE, UNKNOWN
from nbkit.studies.disambiguation import STUDY, DisambiguationParams, pages
from nbkit.studies.disambiguation.senses import PUBLISHED_CODE, RIGHT, UNDECIDED, WRONG, sense_verdict
from nbkit.text.sentences import Sentence, Text
from tests.metrics.ten_pairs import LEXICON, german, parsed
from tests.pages import FOLDER, run_page
from tests.senses import count_senses

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


@pytest.mark.parametrize(
    ("sense", "possible", "outcomes"),
    [  # by the nouns near by, the whole translation, and the published code
        ("club", [], [RIGHT, RIGHT, RIGHT]),
        ("animal", [], [WRONG, WRONG, WRONG]),
        (None, [], [UNDECIDED] * 3),
        (None, ["animal", "club"], [UNDECIDED, UNDECIDED, RIGHT]),
        (None, ["animal"], [UNDECIDED] * 3),
    ],
)
def test_outcomes_by_the_variants(sense, possible, outcomes):
    reached = json.dumps({reach: [sense, possible] for reach in ("links", "window", "translation")})
    assert [sense_verdict(reached, name, "club") for name in ("window", "translation", PUBLISHED_CODE)] == outcomes
    assert sense_verdict("{}", "window", "club") == UNDECIDED  # an empty translation


def test_verbs_are_in_no_share_of_training_pairs(monkeypatch, tmp_path):
    rows = [("links", "decided", 6), ("links", "decided by gender", 1), ("links", "not aligned", 2),
            ("links", NO_NOUN, 5), ("window", "decided", 8)]  # fmt: skip
    senses = pd.DataFrame([(-1, "reach", *row[:2], "", row[2]) for row in rows],
                          columns=["fold", "kind", "of", "sense", "word", "n"])  # fmt: skip
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    read = type(STUDY).read
    monkeypatch.setattr(type(STUDY), "read", lambda self, *of: senses if of[1:] == ("senses",) else read(self, *of))
    small = {"training_pairs": 20, "n_pairs": 20, "aligner_pairs": 20, "masked_lm": None, "causal_lm": None}
    page = run_page("disambiguation/attractors", {"models": [], "run": small, **small}, tmp_path / "out", monkeypatch)
    found = page.frame("sense_coverage").set_index("reach")
    columns = ["decided", "undecided", "set_aside", "share", "by_gender"]
    assert found.loc["links", columns].tolist() == pytest.approx([7, 2, 5, 7 / 9, 1])
    assert found.loc["window", "share"] == 1


def test_error_rates_by_the_variants():
    """What the page's cell makes of four translations, two of which the rule leaves undecided."""
    made = {
        "model": "by-hand", "unit": range(4), "reason": ["", "wrong", NO_NOUN, UNKNOWN],
        "outcome": [RIGHT, WRONG, UNDECIDED, UNDECIDED],
        "outcome_window": [RIGHT, WRONG, UNDECIDED, RIGHT],
        "outcome_translation": [RIGHT, WRONG, UNDECIDED, WRONG],
        f"outcome_{PUBLISHED_CODE}": [RIGHT, WRONG, RIGHT, RIGHT],
    }  # fmt: skip
    cells = nbformat.read(FOLDER / "disambiguation" / "error_prediction.ipynb", as_version=4).cells
    (code,) = (cell.source.partition("listed =")[0] for cell in cells if cell.id == "reach")
    names = {"outcomes": pd.DataFrame(made), "pages": pages, "pd": pd, "OUTSIDE": OUTSIDE}
    exec(code, names)  # noqa: S102
    found = names["variants"].set_index("reach")
    assert found["errors"].tolist() == [1, 1, 2, 1] and found["n"].tolist() == [2, 3, 3, 4]
    assert found["undecided"].tolist() == [1, 0, 0, 0] and found["set_aside"].tolist() == [1, 1, 1, 0]
    assert found["share"].tolist() == pytest.approx([2 / 3, 1, 1, 1])
    assert list(found.index) == list(pages.REACH)


def test_nouns_of_languages_without_capitals_need_a_parser_or_an_option():
    with pytest.raises(ParamsError, match=r"target_nouns: 'tagged' cannot identify nouns of 'fr' .*; .* any"):
        DisambiguationParams(target="fr", lexicon="./x.yaml")
    for settings in ({"target_nouns": "any"}, {"target_words": "lemmas"}):
        DisambiguationParams(target="fr", lexicon="./x.yaml", **settings)


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
