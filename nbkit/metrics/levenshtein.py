"""Normalised Levenshtein similarity over tokens, computed by rapidfuzz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nbkit.metrics.base import check_pairs
from nbkit.metrics.tokens import cut, tokenizer_signature


@dataclass(frozen=True)
class Levenshtein:
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

    def identity(self, lang: str) -> dict[str, Any]:
        """The metric's part of a cache key: its name and its signature for *lang*.

        >>> Levenshtein().identity("en") == Levenshtein().identity("ja")  # words, characters
        False
        """
        return {"metric": self.name, "signature": self.signature(lang)}

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
