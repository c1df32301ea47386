"""Corpus scores are sacreBLEU's own, cut as the language wants it; of nothing there is none."""

from __future__ import annotations

import math

import pytest
from sacrebleu.metrics import BLEU

from nbkit.models.translators.texts import corpus_bleu, score_signature

TEXTS = ["the cat sat on the mat", "a dog ran off", "it is raining in the town today"]
REFERENCES = ["the cat sat on a mat", "a dog ran away", "it rains in the town today"]


@pytest.mark.parametrize(("lang", "tokenize"), [("de", "13a"), ("zh", "zh"), ("ja", "char")])
def test_bleu_is_cut_by_language(lang, tokenize):
    metric = BLEU(tokenize=tokenize)
    assert corpus_bleu(TEXTS, REFERENCES, lang) == metric.corpus_score(TEXTS, [REFERENCES]).score
    assert score_signature("bleu", lang) == str(metric.get_signature())


def test_of_no_sentences_there_is_no_score():
    assert math.isnan(corpus_bleu([], [], "de"))
