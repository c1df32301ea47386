"""Similarity by characters and by edits: chrF and Levenshtein.

chrF = (1 + β²) · P · R / (β² · P + R) with β = 2, where P and R are the means of the precision and the recall of
character n-grams, n = 1 … 6, over the orders that both texts have (effective order, no ε smoothing): sacreBLEU's
numbers, bit for bit, many times faster. Levenshtein is computed by rapidfuzz.

Source: Popović 2015; Post 2018 (sacreBLEU); Levenshtein 1966.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nbkit.measure import Kappa, check_pairs
from nbkit.measure.bleu import Sequences, cut, match_counts, tokenizer_signature

_ORDER = 6
_BETA = 2


@dataclass(frozen=True)
class Chrf(Kappa):
    """chrF over the characters of both texts without white space, in [0, 1]; it cannot see spacing.

    An empty side scores 0, as in sacreBLEU.

    >>> Chrf().scores(["The cat sat on a mat."], ["The cat sat on the mat."], "en").round(3).tolist()
    [0.658]
    >>> Chrf().signature("en")
    'chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no'
    """

    name: ClassVar[str] = "chrf"
    symbol: ClassVar[str] = "chrF"
    bounded: ClassVar[bool] = True

    def signature(self, lang: str) -> str:
        """The settings in sacreBLEU's notation; the same for every language, as characters are.

        >>> Chrf().signature("ja") == Chrf().signature("en")
        True
        """
        return f"chrF{_BETA}|nrefs:1|case:mixed|eff:yes|nc:{_ORDER}|nw:0|space:no"

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """chrF2 of each pair as a fraction: a float64 array in [0, 1], one entry a pair; the formula is the module's.

        A hundredth of sacreBLEU's ``sentence_score``, to the last bit. *lang* changes nothing. Raises `NbkitError`
        where the lists are not equally long or hold anything but texts. Source: Popović 2015.

        >>> Chrf().scores(["ca n't", "", "dog"], ["can't", "cat", "cat"], "en").tolist()
        [1.0, 0.0, 0.0]
        """
        check_pairs(self.name, hypotheses, references, lang)
        hypothesis, reference = _characters(hypotheses), _characters(references)
        matches = match_counts(hypothesis, reference, _ORDER)
        return _percent(matches, _ngrams_in(hypothesis.lengths), _ngrams_in(reference.lengths)) / 100


def _ngrams_in(lengths: np.ndarray) -> np.ndarray:
    """How many n-grams texts of so many characters have: texts × orders."""
    return np.maximum(lengths[:, None] - np.arange(_ORDER), 0)


def _characters(texts: Sequence[str]) -> Sequences:
    """The code points of *texts*, white space left out."""
    dense = ["".join(text.split()) for text in texts]
    lengths = np.array([len(text) for text in dense], dtype=np.int64)
    encoded = "".join(dense).encode("utf-32-le", errors="surrogatepass")
    return Sequences(np.frombuffer(encoded, dtype="<u4").astype(np.int64), lengths)


def _percent(matches: np.ndarray, hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """chrF in per cent of n-gram counts (pairs × orders), in sacreBLEU's own order of floating-point operations."""
    precision, recall, orders = np.zeros((3, len(matches)))
    for n in range(_ORDER):
        both = (hypothesis[:, n] > 0) & (reference[:, n] > 0)
        precision += np.divide(matches[:, n], hypothesis[:, n], out=np.zeros(len(matches)), where=both)
        recall += np.divide(matches[:, n], reference[:, n], out=np.zeros(len(matches)), where=both)
        orders += both
    some = orders > 0
    np.divide(precision, orders, out=precision, where=some)
    np.divide(recall, orders, out=recall, where=some)
    factor = _BETA**2
    score = (1 + factor) * precision * recall
    np.divide(score, factor * precision + recall, out=score, where=precision + recall > 0)
    return 100 * score


@dataclass(frozen=True)
class Levenshtein(Kappa):
    """1 − d/max(h, r): d token insertions, deletions and substitutions, lengths h and r, in [0, 1].

    Two empty texts are alike (1); one empty text is unlike any other (0). Symmetric.

    Source: Levenshtein 1966; the L of the word-order paper's figures 11–14.

    >>> Levenshtein().scores(["the cat sat", "", "a"], ["the cat sat down", "", ""], "en").tolist()
    [0.75, 1.0, 0.0]
    >>> Levenshtein().signature("en")
    'Levenshtein|nrefs:1|case:mixed|tok:nbkit-cut.v1|norm:max'
    """

    name: ClassVar[str] = "levenshtein"
    symbol: ClassVar[str] = "L"
    bounded: ClassVar[bool] = True

    def signature(self, lang: str) -> str:
        """The settings and the tokenizer for *lang*, in sacreBLEU's notation.

        >>> Levenshtein().signature("ja")
        'Levenshtein|nrefs:1|case:mixed|tok:nbkit-cut.v1-char|norm:max'
        """
        return f"Levenshtein|nrefs:1|case:mixed|tok:{tokenizer_signature(lang)}|norm:max"

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """1 − d/max(h, r) of each pair, in tokens: a float64 array in [0, 1], one entry a pair.

        Both sides are cut by the tokenizer for *lang*. Raises `NbkitError` where the lists are not equally long or
        hold anything but texts. Source: Levenshtein 1966.

        >>> Levenshtein().scores(["Tom sleeps", "a b"], ["Tom slept", "b a b a"], "en").tolist()
        [0.5, 0.5]
        """
        check_pairs(self.name, hypotheses, references, lang)
        return token_similarities([cut(text, lang) for text in hypotheses], [cut(text, lang) for text in references])


def token_similarities(hypotheses: Sequence[list[str]], references: Sequence[list[str]]) -> np.ndarray:
    """The normalised Levenshtein similarity of each pair of token lists.

    >>> token_similarities([["a", "b"]], [["b", "a"]]).tolist()
    [0.0]
    """
    from rapidfuzz.distance import Levenshtein as distance
    from rapidfuzz.process import cpdist

    return cpdist(hypotheses, references, scorer=distance.normalized_similarity, dtype=np.float64)
