"""Real corpora of ``NBKIT_DATA``, read to the end."""

from __future__ import annotations

import pytest

from nbkit.corpora import Skipped, check_corpus, load_pairs
from nbkit.corpora.readers import RawPair, read_tsv
from nbkit.errors import DataError
from nbkit.store import Store
from nbkit.text.conllu import conllu_entries

PUD = ("en", "de", "fr", "es", "zh", "ja")


@pytest.mark.parametrize("lang", PUD)
def test_every_pud_sentence_is_valid_and_reads_as_its_text_comment(data_folder, lang):
    entries = list(conllu_entries(data_folder / "pud" / f"{lang}.conllu", lang))
    assert len(entries) == 1000
    assert [entry for entry in entries if isinstance(entry, DataError)] == []
    # No deviation at all: multiword tokens and SpaceAfter=No rebuild each of the 1,000 sentences.
    assert [entry.id for entry in entries if entry.text.text != entry.comments["text"]] == []
    for entry in entries:
        (sentence,) = entry.text.sentences
        reached = {sentence.root}
        frontier = [sentence.root]
        while frontier:
            frontier = [child for token in frontier for child in sentence.children[token]]
            reached.update(frontier)
        assert reached == set(range(len(sentence)))  # a tree over all tokens


@pytest.mark.parametrize(("lang", "merged"), [("en", 129), ("de", 331), ("fr", 595), ("es", 467), ("zh", 0), ("ja", 0)])
def test_pud_multiword_tokens_are_merged(data_folder, lang, merged):
    # Independent count: word lines less the words that multiword ranges cover, plus one token a range.
    words = ranges = covered = 0
    for line in (data_folder / "pud" / f"{lang}.conllu").read_text("utf-8").splitlines():
        identifier = line.split("\t")[0]
        if identifier.isdigit():
            words += 1
        elif "-" in identifier and not line.startswith("#"):
            first, last = map(int, identifier.split("-"))
            ranges += 1
            covered += last - first + 1
    entries = conllu_entries(data_folder / "pud" / f"{lang}.conllu", lang)
    tokens = sum(len(entry.text) for entry in entries if not isinstance(entry, DataError))
    assert ranges == merged
    assert tokens == words - covered + ranges


@pytest.mark.parametrize("tgt", PUD[1:])
def test_pud_pairs(data_folder, monkeypatch, tgt):
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    assert check_corpus("pud", "en", tgt) == []
    pairs = list(load_pairs("pud", "en", tgt))
    assert len(pairs) == len({pair.id for pair in pairs}) == 1000
    assert pairs[0].id == "n01001011"
    assert pairs[0].source.text.startswith("“While much of the digital transition")
    assert {pair.target.lang for pair in pairs} == {tgt}


@pytest.mark.thorough
@pytest.mark.parametrize("tgt", ["de", "fr"])
def test_multi30k_with_the_small_ud_pipelines(data_folder, monkeypatch, tmp_path, tgt):
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    parsers = {lang: f"${{NBKIT_DATA}}/models/{lang}_ud_sm" for lang in ("en", tgt)}
    assert check_corpus("multi30k", "en", tgt, parsers) == []
    store = Store(tmp_path)
    pairs = list(load_pairs("multi30k", "en", tgt, n=200, parsers=parsers, store=store))
    lines = (data_folder / "multi30k" / f"test_2016_flickr.{tgt}").read_text("utf-8").split("\n")
    assert [pair.target.text for pair in pairs] == [" ".join(line.split()) for line in lines[:200]]
    tags = {tag for pair in pairs for sentence in pair.target.sentences for tag in sentence.upos or ()}
    assert {"NOUN", "VERB", "DET", "ADP", "PUNCT"} <= tags
    assert list(load_pairs("multi30k", "en", tgt, n=200, parsers=parsers, store=store)) == pairs


def test_multi30k_files_are_aligned_and_whole(data_folder):
    from nbkit.corpora.readers import read_moses

    for split, expected in (("train", 29_000), ("val", 1_014), ("test_2016_flickr", 1_000)):
        for lang in ("de", "fr"):
            items = list(read_moses(*(data_folder / "multi30k" / f"{split}.{code}" for code in ("en", lang))))
            assert sum(isinstance(item, RawPair) for item in items) == expected


def test_tatoeba_skips_its_header_and_nothing_else(data_folder, monkeypatch, tmp_path):
    items = list(read_tsv(data_folder / "tatoeba" / "en-de.tsv", header=1))
    assert len(items) == 50_001
    assert [str(item) for item in items if isinstance(item, DataError)] == []
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    parsers = {lang: f"${{NBKIT_DATA}}/models/{lang}_ud_sm" for lang in ("en", "de")}
    skipped = Skipped()
    options = {"n": 5, "parsers": parsers, "store": Store(tmp_path), "skipped": skipped}
    forth = list(load_pairs("tatoeba", "en", "de", **options))
    back = list(load_pairs("tatoeba", "de", "en", **options))
    assert (forth[0].id, forth[0].source.text, forth[0].target.text) == ("2", "Go.", "Geh.")
    assert [(pair.target, pair.source) for pair in back] == [(pair.source, pair.target) for pair in forth]
    assert len(skipped) == 0
