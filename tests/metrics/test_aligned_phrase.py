"""APT-Eval against its definition, sacreBLEU and bad input."""

from __future__ import annotations

import math

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from nbkit.measure.aligners import linked_tokens
from nbkit.measure.literal import (
    AlignedPhrase,
    published_precision,
    published_signature,
    score_phrases,
    signature,
)

WORDS = st.lists(st.sampled_from(["pain", "et", "beurre", "la", "routine"]), max_size=5)


@given(WORDS, WORDS)
def test_scores_are_those_of_their_definitions(reference, hypothesis):
    scores = score_phrases([AlignedPhrase(tuple(reference), tuple(hypothesis))], "fr")
    if not reference:
        assert math.isnan(scores.unigram_precision[0]) and math.isnan(scores.chrf[0])
        return
    left, hits = list(hypothesis), 0
    for word in reference:
        if word in left:
            left.remove(word)
            hits += 1
    assert scores.unigram_precision[0] == pytest.approx(hits / len(reference))
    theirs = sacrebleu.CHRF().sentence_score(" ".join(hypothesis), [" ".join(reference)]).score / 100
    assert scores.chrf[0] == pytest.approx(theirs)


def test_case_is_ignored_by_words():
    assert score_phrases([AlignedPhrase(("La", "routine"), ("la",))], "fr").unigram_precision.tolist() == [0.5]


def test_equal_spans_score_1_and_empty_hypotheses_0():
    scores = score_phrases([AlignedPhrase(("x", "y"), ("y", "x")), AlignedPhrase(("x",), ())], "fr")
    assert scores.unigram_precision.tolist() == [1.0, 0.0]
    assert scores.chrf[1] == 0
    assert score_phrases([AlignedPhrase(("routine",), ("routine",))], "fr").chrf.tolist() == [1.0]


def test_links_of_split_phrases():
    links = ((0, 5), (1, 2), (3, 2), (3, 0))
    assert linked_tokens(links, [1, 3]) == (0, 2)
    phrase = AlignedPhrase.of([1, 3], ("abcdef", links), (["u", "v", "w"], ((3, 1),)))
    assert phrase == AlignedPhrase(("a", "c"), ("v",))


@given(WORDS, WORDS)
def test_the_published_precision_divides_distinct_words_by_all(reference, hypothesis):
    (found,) = published_precision([AlignedPhrase(tuple(reference), tuple(hypothesis))])
    if not reference:
        assert math.isnan(found)
        return
    assert found == pytest.approx(sum(word in hypothesis for word in dict.fromkeys(reference)) / len(reference))
    assert found <= score_phrases([AlignedPhrase(tuple(reference), tuple(hypothesis))], "fr").unigram_precision[0]


def test_the_published_precision_keeps_repeats_and_case():
    phrases = [AlignedPhrase(("de", "temps", "de"), ("de", "temps", "de")), AlignedPhrase(("La", "vie"), ("la", "vie"))]
    assert score_phrases(phrases, "fr").unigram_precision.tolist() == [1, 1]
    assert published_precision(phrases).tolist() == [pytest.approx(2 / 3), 0.5]


def test_the_signature_names_the_aligner():
    assert published_signature("eflomal") not in (signature("eflomal"), published_signature("lexicon"))
    assert signature("eflomal") != signature("embeddings:mbert")
