"""Corpus scores are sacreBLEU's own, cut as the language wants it; of nothing there is none."""

from __future__ import annotations

import math

import pytest
from sacrebleu.metrics import BLEU, CHRF

from nbkit.models.translators.texts import corpus_bleu, corpus_chrf

TEXTS = ["the cat sat on the mat", "a dog ran off", "it is raining in the town today"]
REFERENCES = ["the cat sat on a mat", "a dog ran away", "it rains in the town today"]


@pytest.mark.parametrize(("lang", "tokenize"), [("de", "13a"), ("zh", "zh"), ("ja", "char")])
def test_bleu_is_cut_by_language(lang, tokenize):
    found = corpus_bleu(TEXTS, REFERENCES, lang, resamples=99)
    assert found.score == BLEU(tokenize=tokenize).corpus_score(TEXTS, [REFERENCES]).score
    assert found.low < found.score < found.high and found.n == 3 and f"tok:{tokenize}" in found.signature


def test_chrf_and_scores_without_interval():
    found = corpus_chrf(TEXTS, REFERENCES, resamples=0)
    assert found.score == CHRF().corpus_score(TEXTS, [REFERENCES]).score and math.isnan(found.low)


def test_of_no_sentences_there_is_no_score():
    found = corpus_bleu([], [], "de")
    assert math.isnan(found.score) and (found.n, found.signature) == (0, "")
