"""Bias mining: against a plain count, in shards and folds, over real captions, and what it does with adjectives."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbkit.corpora import load_pairs
from nbkit.corpora.homographs import own_homographs
from nbkit.errors import NbkitError
from nbkit.measure.senses import REASONS, SenseCounts, SenseFinder
from nbkit.store import Store
from nbkit.studies.disambiguation import STUDY, DisambiguationParams
from nbkit.studies.disambiguation.mining import fold_counts, fold_of
from nbkit.studies.parts import Run
from tests.align.pharaoh import write_pharaoh
from tests.metrics.ten_pairs import LEXICON, german, parsed, triples
from tests.senses import count_senses, sense_table


def test_is_a_plain_count():
    """The same by loops over tokens, one attractor at a time."""
    expected: dict[tuple[str, str], Counter[str]] = {}
    for source, target, ((place, _),) in triples():
        for homograph in LEXICON.homographs.values():
            for cluster in homograph.clusters:
                if source.tokens[place] == homograph.word and target.tokens[0] in cluster.translations:
                    words = {w for w in source.tokens if w.isalpha() and w != homograph.word}
                    expected.setdefault((homograph.word, cluster.name), Counter()).update(words)
    assert count_senses(triples(), LEXICON).attractors == expected


def test_order_changes_nothing():
    pairs = list(triples())
    whole = count_senses(pairs, LEXICON)
    random.Random(0).shuffle(pairs)
    assert count_senses(pairs, LEXICON) == whole


def test_an_attractor_counts_once_a_pair_and_a_pair_once_a_homograph():
    source = parsed(
        "bat/NOUN/root/-1 bat/NOUN/dep/0 old/ADJ/dep/0 Old/ADJ/dep/0 bank/NOUN/dep/0 1/NUM/dep/0 !/PUNCT/dep/0"
    )
    counts = count_senses([(source, german("Keule", "Ufer"), ((0, 0), (1, 0), (4, 1)))], LEXICON)
    assert counts.pairs == {("bat", "club"): 1, ("bank", "river"): 1}
    # Each homograph is an attractor of the other one, and punctuation of none.
    assert counts.attractors["bat", "club"] == {"old": 1, "bank": 1, "1": 1}
    assert counts.attractors["bank", "river"] == {"old": 1, "bat": 1, "1": 1}


@pytest.mark.parametrize(
    ("line", "sense", "nouns"),
    [
        ("old/ADJ/amod/1 bat/NOUN/root/-1", {"old": 1}, {}),
        ("old/ADJ/amod/1 tree/NOUN/nsubj/2 hide/VERB/root/-1 bat/NOUN/obj/2", {}, {"tree": {"old": 1}}),
        ("Asian/ADJ/amod/1 bat/NOUN/root/-1", {}, {}),  # "an asian bat" would be no English
        ("red/ADJ/amod/1 tree/NOUN/root/-1 Asian/ADJ/amod/3 tree/NOUN/dep/1", {}, {"tree": {"red": 1}}),
        ("old/VERB/amod/1 bat/NOUN/root/-1", {}, {}),  # a participle
        ("old/ADJ/acl/1 bat/NOUN/root/-1", {}, {}),
        ("old/ADJ/amod/1 Tom/PROPN/root/-1", {}, {}),
        ("old/ADJ/amod/1 bat/NOUN/compound/2 cave/NOUN/root/-1", {}, {}),  # the cave is old
        ("old/ADJ/amod/1 bat/NOUN/dep/2 Cave/PROPN/root/-1", {}, {}),
    ],
)
def test_adjectives_by_what_they_modify(line, sense, nouns):
    source = parsed(line)
    links = tuple((token, 0) for token in range(len(source)))
    counts = count_senses([(source, german("Keule"), links)], LEXICON)
    assert counts.sense_adjectives.get(("bat", "club"), {}) == sense
    assert counts.noun_adjectives == nouns


def test_adjectives_of_undecided_senses_and_compared_ones_are_not_kept():
    from dataclasses import replace

    from nbkit.text.sentences import Text

    source = parsed("old/ADJ/amod/1 bat/NOUN/root/-1")
    assert count_senses([(source, german("Ding"), ((1, 0),))], LEXICON).sense_adjectives == {}
    compared = Text((replace(source.sentences[0], feats=("Degree=Cmp", "")),))
    assert count_senses([(compared, german("Keule"), ((1, 0),))], LEXICON).sense_adjectives == {}


def test_pairs_without_homograph_cost_no_look_at_the_target():
    source = parsed("old/ADJ/amod/1 tree/NOUN/root/-1")
    assert sense_table([(source, None, None)], LEXICON)["kind"].eq("pairs read").any()


@pytest.fixture
def cache(monkeypatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def params_of(**changes: Any) -> DisambiguationParams:
    known = {"models": [], "masked_lm": None, "causal_lm": None, "training_corpus": "sandbox", "training_pairs": 60,
             "lexicon": "own"}  # fmt: skip
    return DisambiguationParams(**{**known, **changes})


def counts(params: DisambiguationParams, fold: int = -1) -> SenseCounts:
    return fold_counts(STUDY.read(params, "senses"))(fold)


def test_parts_are_stored_and_add_up(cache):
    pairs = [(pair.source, pair.target, pair.alignment) for pair in load_pairs("sandbox", "en", "de", n=60)]
    found = counts(params_of())
    assert found == count_senses(pairs, own_homographs())
    folded = params_of(folds=3)
    others = [count_senses([*pairs[:start], *pairs[start + 20 :]], own_homographs()) for start in (0, 20, 40)]
    assert counts(folded) == found
    assert [counts(folded, fold) for fold in range(3)] == others


def test_folds_are_consecutive_pairs():
    """A hundred lines may be of one film: parts that alternate would leak."""
    first = pd.DataFrame({"first": [0, 40, 80]})
    assert [fold_of(first, place) for place in (0, 39, 40, 79, 80, 200)] == [0, 0, 1, 1, 2, 2]
    assert fold_of(first[:0], 7) == -1


def test_a_larger_corpus_keeps_the_parts_that_are_there(cache):
    few, more = params_of(training_pairs=20_000), params_of(training_pairs=30_000)
    keys = [[part.config for part in Run(STUDY, params).parts(STUDY.table("senses"))] for params in (few, more)]
    assert keys[0] == keys[1][:2] and len(keys[1]) == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"training_pairs": None}, "is unbounded: set training_pairs"),
        ({"lexicon": "./ownn.yaml"}, "ownn.yaml"),
        ({"aligner": "pharaoh:nowhere.txt", "hypothesis_aligner": "embeddings:x"}, "no such file"),
    ],
)
def test_what_cannot_be_counted(cache, change, reason):
    with pytest.raises(NbkitError, match=reason):
        STUDY.read(params_of(**change), "senses")


def test_links_of_a_file_are_taken_by_their_places(cache):
    pairs = list(load_pairs("sandbox", "en", "de", n=60))
    path = write_pharaoh([pair.alignment for pair in pairs], cache / "links.txt")
    (cache / "words.tsv").write_text("bat\tFledermaus\n", encoding="utf-8")
    linked = {"aligner": f"pharaoh:{path}", "hypothesis_aligner": f"lexicon:{cache}/words.tsv"}
    assert counts(params_of(**linked)) == counts(params_of())
    lines = path.read_text(encoding="utf-8").splitlines()
    for text, line, reason in [
        (lines[:20], 20, "no links for the pair after it"),
        ([*lines[:16], "0~0", *lines[17:]], 17, "'0~0' is not a link"),
    ]:
        path.write_text("\n".join(text), encoding="utf-8")
        with pytest.raises(NbkitError, match=rf"links\.txt:{line}: .*{reason}"):
            STUDY.read(params_of(**linked), "senses")
    with pytest.raises(NbkitError, match="let on_error be 'raise'"):
        STUDY.read(params_of(**linked, on_error="skip"), "senses")


def test_gold_links_must_be_there(data_folder: Path, monkeypatch, cache):
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    parsers = {lang: str(data_folder / "models" / f"{lang}_ud_sm") for lang in ("en", "de")}
    with pytest.raises(NbkitError, match=r"corpus 'pud' has no gold links: name what is to link its pairs"):
        STUDY.read(params_of(training_corpus="pud", training_pairs=5, parsers=parsers), "senses")


@pytest.mark.thorough
@pytest.mark.skipif(
    importlib.util.find_spec("eflomal") is None, reason='eflomal is missing: pip install "nbkit[eflomal]"'
)
def test_real_captions(data_folder: Path, monkeypatch, cache):
    """Multi30k, real parsers, eflomal on the corpus as a whole, also on a test corpus; cross-fitted, its own links."""
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    params = params_of(
        training_corpus="multi30k", training_pairs=60, test_corpora=["multi30k:val"], n_pairs=30, min_tokens=4,
        parsers={lang: str(data_folder / "models" / f"{lang}_ud_sm") for lang in ("en", "de")},
        lexicon=str(data_folder / "homographs" / "en-de.sense_clusters.json"), on_conflict="drop", aligner="eflomal",
        hypothesis_aligner="eflomal", folds=2,
    )  # fmt: skip
    found, senses = counts(params), STUDY.read(params, "senses")
    undecided = senses[senses["kind"] == "undecided"]
    assert senses.loc[senses["kind"] == "pairs read", "n"].sum() == 60 and set(undecided["sense"]) <= set(REASONS)
    pairs = load_pairs("multi30k", "en", "de", n=60, parsers=params.parsers, store=Store())
    occurrences = sum(len(SenseFinder(params.homographs).occurrences(pair.source)) for pair in pairs)
    assert found.total <= occurrences <= found.total + undecided["n"].sum() + 3  # some hold one twice
    tested, linked = STUDY.read(params, "pairs"), STUDY.read(params, "linked")
    assert len(linked) == 30 and set(linked["corpus"]) == {"multi30k:val"}
    own = tested[(tested["corpus"] == "multi30k") & (tested["left_out"] == "")]
    assert {(row.homograph, row.sense) for row in own.itertuples()} <= set(found.pairs)
