"""BLEU equals sacreBLEU on the same tokens: not nearly, exactly."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import spacy
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.measure.bleu import Bleu, BleuAsCoded, Sequences, bleu_percent, cut, match_counts
from nbkit.text.conllu import read_conllu

from .references import PAIRS, nltk_sentence_bleu


def sacre(hypotheses: list[list[str]], references: list[list[str]], max_order: int = 4) -> list[float]:
    metric = sacrebleu.BLEU(
        tokenize="none", effective_order=True, smooth_method="exp", max_ngram_order=max_order, force=True
    )
    return [
        metric.sentence_score(" ".join(h), [" ".join(r)]).score for h, r in zip(hypotheses, references, strict=True)
    ]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        # All five unigrams and the four bigrams match; brevity 1.
        ("a b c d e", "a b c d e", 1.0),
        # Two tokens: effective order 2.
        ("a b", "a b", 1.0),
        # 5/6 · 3/5 · 1/4 · (1/2)/3 under the fourth root.
        ("the cat sat on a mat", "the cat sat on the mat", (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25),
        # Reversed: 4/4 unigrams, then smoothed 1/(2·3), 1/(4·2), 1/(8·1).
        ("d c b a", "a b c d", (1 / 6 / 8 / 8) ** 0.25),
        # Half as long: brevity exp(1 − 2).
        ("a b", "a b c d", float(np.exp(-1))),
        ("x y", "a b", 0.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_by_hand(hypothesis: str, reference: str, expected: float) -> None:
    [score] = Bleu().scores([hypothesis], [reference], "en")
    assert score == pytest.approx(expected, abs=1e-12)
    assert (
        bleu_percent([hypothesis.split()], [reference.split()])[0]
        == sacre([hypothesis.split()], [reference.split()])[0]
    )


@given(PAIRS, st.integers(1, 6))
def test_equals_sacrebleu(pairs: list[tuple[list[str], list[str]]], max_order: int) -> None:
    hypotheses, references = [list(h) for h, _ in pairs], [list(r) for _, r in pairs]
    assert bleu_percent(hypotheses, references, max_order).tolist() == sacre(hypotheses, references, max_order)


@given(PAIRS)
def test_does_not_depend_on_the_other_pairs(pairs: list[tuple[list[str], list[str]]]) -> None:
    hypotheses, references = [" ".join(h) for h, _ in pairs], [" ".join(r) for _, r in pairs]
    together = Bleu().scores(hypotheses, references, "en")
    apart = [Bleu().scores([h], [r], "en")[0] for h, r in zip(hypotheses, references, strict=True)]
    assert together.tolist() == apart
    assert ((together >= 0) & (together <= 1)).all()


@given(st.lists(st.sampled_from(["a", "b", "c's", "3.5", "can't"]), min_size=1))
def test_a_text_is_itself(words: list[str]) -> None:
    assert Bleu().scores([" ".join(words)], [" ".join(words)], "en").tolist() == [1.0]


@pytest.mark.parametrize("lang", ["fr", "zh"])
def test_equals_sacrebleu_on_perturbed_treebanks(lang: str, data_folder: Path) -> None:
    rng = random.Random(0)
    references, hypotheses = [], []
    for text in read_conllu(data_folder / "pud" / f"{lang}.conllu", lang):
        references.append(cut(text.text, lang))
        at = rng.randrange(len(references[-1]))
        hypotheses.append(references[-1][at:] + references[-1][: max(0, at - 2)])
    assert bleu_percent(hypotheses, references).tolist() == sacre(hypotheses, references)


def test_sixteen_hypotheses_of_one_reference() -> None:
    reference = ["the", "cat", "sat", "on", "the", "mat", ",", "the", "old", "one", "."]
    rng = random.Random(1)
    hypotheses = [rng.sample(reference, len(reference)) for _ in range(16)]
    assert bleu_percent(hypotheses, [reference] * 16).tolist() == sacre(hypotheses, [reference] * 16)


def test_blocks_and_alphabets_of_any_size() -> None:
    """More symbols than one block holds, than fit into a key as they are, and than fit into it numbered by pair."""
    rng = random.Random(2)
    many = [[str(rng.randrange(20000)) for _ in range(30)] for _ in range(2000)]
    near = [rng.sample(tokens, 29) for tokens in many]
    assert bleu_percent(near, many).tolist() == sacre(near, many)
    huge = [str(i) for i in range(40000)]
    shifted = huge[:100] + huge[200:]
    assert bleu_percent([shifted, ["1"]], [huge, ["1"]]).tolist() == sacre([shifted, ["1"]], [huge, ["1"]])


def test_counts_by_dictionary_and_by_sort_agree() -> None:
    """Order 12 leaves no room for keys, order 4 does: their first four columns are the same."""
    rng = np.random.default_rng(0)
    one, two = (Sequences(rng.integers(40, size=500), np.array([200, 0, 300])) for _ in range(2))
    assert (match_counts(one, two, 12)[:, :4] == match_counts(one, two, 4)).all()


def test_spacing_alone_costs_nothing() -> None:
    assert Bleu().scores(["He could n't pay $ 3.50 ."], ["He couldn't pay $3.50."], "en").tolist() == [1.0]
    assert Bleu().scores(["猫が魚を食べた"], ["猫 が 魚 を 食べ た"], "ja").tolist() == [1.0]


def test_nothing_to_score() -> None:
    assert Bleu().scores([], [], "en").shape == (0,)


def test_bad_input_is_named() -> None:
    with pytest.raises(NbkitError, match="bleu: 2 hypotheses but 1 references"):
        Bleu().scores(["a", "b"], ["a"], "en")
    with pytest.raises(NbkitError, match=r"references\[1\] is None, not a text"):
        Bleu().scores(["a", "b"], ["a", None], "en")  # type: ignore[list-item]
    with pytest.raises(NbkitError, match="hypotheses must be a list of texts, not a single text"):
        Bleu().scores("a", ["a"], "en")
    with pytest.raises(NbkitError, match="max_order: 1 or more expected, 0 given"):
        Bleu(max_order=0)


@given(PAIRS)
def test_bleu_as_coded_is_nltks_with_the_sides_exchanged(pairs: list[tuple[list[str], list[str]]]) -> None:
    """`utils/metrics.py: bleu(a, b)` is ``sentence_bleu([a], b)`` with *a* the translation and *b* the reference."""
    sides = [(" ".join(hypothesis), " ".join(reference)) for hypothesis, reference in pairs]
    scores = BleuAsCoded().scores([h for h, _ in sides], [r for _, r in sides], "en")
    # Tokens of these alphabets that spaCy's English rules leave whole.
    assert scores == pytest.approx([nltk_sentence_bleu(h, r) for h, r in pairs], abs=1e-12)


def test_bleu_as_coded_on_real_sentences(data_folder: Path) -> None:
    """German sentences against themselves cut short, in the tokens of spaCy's German rules."""
    lines = (data_folder / "multi30k" / "test_2016_flickr.de").read_text(encoding="utf-8").splitlines()[:300]
    noisy = [" ".join(line.split()[i % 3 :]) for i, line in enumerate(lines)]
    rules = spacy.blank("de")
    tokens = [[[token.text for token in rules(text)] for text in side] for side in (noisy, lines)]
    expected = [nltk_sentence_bleu(h, r) for h, r in zip(*tokens, strict=True)]
    assert BleuAsCoded().scores(noisy, lines, "de") == pytest.approx(expected, abs=1e-12)
    assert 0 < np.mean(expected) < 1
    exchanged = [nltk_sentence_bleu(r, h) for h, r in zip(*tokens, strict=True)]
    assert abs(np.mean(exchanged) - np.mean(expected)) > 0.01  # which side is which matters


@pytest.mark.parametrize("lang", ["ko", "vi", "be", "gl", "ka", "eo", "cy", "mt", "sw", "jv", "pt-BR", "sr-Latn"])
def test_the_metric_as_coded_has_scores_in_languages_that_spacy_lacks(lang):
    from nbkit.measure import load_metric

    assert load_metric("bleu-nltk").scores(["a b c d e"], ["a b c d e"], lang).tolist() == [1.0]
