"""Corpora as running text: what their keys hold, and what stands in the way."""

from __future__ import annotations

from nbkit.models.translators.texts import corpus_texts_identity, corpus_texts_problems, text_pairs


def test_texts_of_a_file_are_known_by_their_content(tmp_path):
    path = tmp_path / "c.tsv"
    path.write_text("one\teins\ntwo\tzwei\n", encoding="utf-8")
    assert [pair.target for pair in text_pairs(str(path), "en", "de", 1)] == ["eins"]
    assert corpus_texts_problems(str(path), "en", "de", 500) == []
    assert "no such file" in corpus_texts_problems(str(tmp_path / "no.tsv"), "en", "de", 500)[0]
    before = corpus_texts_identity(str(path), "en", "de", 10)
    path.write_text("one\teins\n", encoding="utf-8")
    assert corpus_texts_identity(str(path), "en", "de", 10) != before


def test_a_split_has_a_last_pair_or_not():
    (problem,) = corpus_texts_problems("sandbox-idioms:regular", "en", "fr", None, "n_aligned")
    assert problem.endswith("is unbounded: set n_aligned")
    assert corpus_texts_problems("sandbox-idioms:regular", "en", "fr", 10) == []
    assert corpus_texts_problems("sandbox-idioms:idiom-test", "en", "fr", None) == []
    assert len(list(text_pairs("sandbox-idioms:idiom-test", "en", "fr"))) == 690
