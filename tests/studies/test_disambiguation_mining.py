"""Bias mining: against a plain count, in shards and folds, over real captions, and what it does with adjectives."""

from __future__ import annotations

import importlib.util
import random
from collections import Counter
from pathlib import Path

import pytest

import nbkit.studies.disambiguation.mining
from nbkit.corpora import load_pairs
from nbkit.corpora.homographs import own_homographs
from nbkit.errors import DataError, NbkitError
from nbkit.measure.senses import REASONS, SenseFinder, sum_counts
from nbkit.store import Store
from nbkit.studies.disambiguation.mining import (
    Mining,
    count_senses,
    mine,
    mine_shard,
    n_pairs,
    shard_starts,
)
from tests.metrics.ten_pairs import LEXICON, german, parsed, triples


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


def test_order_and_parts_change_nothing():
    pairs = list(triples())
    whole = count_senses(pairs, LEXICON)
    random.Random(0).shuffle(pairs)
    parts = [count_senses(pairs[start::3], LEXICON) for start in range(3)]
    assert sum_counts(parts) == whole
    assert whole - parts[0] == parts[1] + parts[2]  # the other folds of a cross-fit


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
    assert count_senses([(source, None, None)], LEXICON).read == 1


def test_shards_are_remembered_and_add_up(tmp_path: Path):
    store = Store(tmp_path)
    mining = Mining("sandbox", n=60, lexicon="own", shard=20)
    assert shard_starts(mining, store) == [0, 20, 40]
    counts = mine(mining, store)
    assert counts.read == 60
    pairs = [(pair.source, pair.target, pair.alignment) for pair in load_pairs("sandbox", "en", "de", n=60)]
    assert counts == count_senses(pairs, own_homographs())
    assert sum_counts(mine_shard(mining, start, store) for start in (40, 0, 20)) == counts
    assert mine(Mining("sandbox", n=60, shard=60), store) == counts


def test_what_cannot_be_mined(tmp_path: Path):
    store = Store(tmp_path)
    with pytest.raises(NbkitError, match="is unbounded: set n"):
        n_pairs(Mining("sandbox"), store)
    with pytest.raises(NbkitError, match="shard is 0; at least one pair"):
        shard_starts(Mining("sandbox", n=5, shard=0), store)
    with pytest.raises(NbkitError, match="unknown homograph lexicon 'ownn'"):
        mine(Mining("sandbox", n=5, lexicon="ownn"), store)


def test_links_of_a_file_are_taken_by_their_places(tmp_path: Path):
    from tests.align.pharaoh import write_pharaoh

    pairs = list(load_pairs("sandbox", "en", "de", n=30))
    path = write_pharaoh([pair.alignment for pair in pairs], tmp_path / "links.txt")
    store = Store(tmp_path / "store")
    from_file = mine(Mining("sandbox", n=30, shard=7, aligner=f"pharaoh:{path}"), store)
    assert from_file == mine(Mining("sandbox", n=30, shard=30), store)
    lines = path.read_text(encoding="utf-8").splitlines()
    for text, line, reason in [
        (lines[:20], 20, "no links for the pair after it"),
        ([*lines[:16], "0~0", *lines[17:]], 17, "'0~0' is not a link"),
    ]:
        path.write_text("\n".join(text), encoding="utf-8")
        with pytest.raises(DataError, match=reason) as caught:
            mine(Mining("sandbox", n=30, shard=7, aligner=f"pharaoh:{path}"), store)
        assert caught.value.line == line
    with pytest.raises(NbkitError, match="let on_error be 'raise'"):
        mine(Mining("sandbox", n=30, aligner=f"pharaoh:{path}", on_error="skip"), store)
    with pytest.raises(NbkitError, match="no such file"):
        mine(Mining("sandbox", n=30, aligner="pharaoh:nowhere.txt"), store)


def test_gold_links_must_be_there(data_folder: Path, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    with pytest.raises(NbkitError, match=r"corpus pud has no gold links for the pair '.*': name an aligner"):
        mine(Mining("pud", n=5), Store(tmp_path))


@pytest.mark.skipif(
    importlib.util.find_spec("eflomal") is None, reason='eflomal is missing: pip install "nbkit[eflomal]"'
)
def test_real_captions(data_folder: Path, monkeypatch, tmp_path: Path):
    """Multi30k, real parsers, eflomal on the corpus as a whole: what is found is found in every cut of shards."""
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    models = data_folder / "models"
    settings = {
        "n": 60,
        "parsers": {lang: str(models / f"{lang}_ud_sm") for lang in ("en", "de")},
        "lexicon": str(data_folder / "homographs" / "en-de.sense_clusters.json"),
        "aligner": "eflomal",
        "aligner_options": {"iterations": 0.2, "samplers": 1},
    }
    store = Store(tmp_path)
    mining = Mining("multi30k", **settings, shard=25)
    counts = mine(mining, store)
    assert counts.read == 60 and counts.total >= 2
    assert {reason for _, reason in counts.undecided} <= set(REASONS)
    pairs = load_pairs("multi30k", "en", "de", n=60, parsers=settings["parsers"], store=store)
    finder = SenseFinder(mining.homographs())
    found = sum(len(finder.occurrences(pair.source)) for pair in pairs)
    assert counts.total <= found <= counts.total + sum(counts.undecided.values()) + 3  # some captions hold one twice
    monkeypatch.setattr(nbkit.studies.disambiguation.mining, "count_senses", None)  # all shards are remembered
    assert mine(mining, Store(tmp_path)) == counts
