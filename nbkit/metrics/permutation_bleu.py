"""BLEU-2, -3 and -4 of a permutation against its original: how much of the local word order it keeps.

A permutation has its original's words and length, so that only the n-grams from two on tell them apart.

Source: Sinha et al. 2021, "Unnatural Language Inference", §6 (Figure 2) and Appendix D (Figure 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from nbkit.errors import NbkitError
from nbkit.metrics.bleu import percent_of_matches
from nbkit.metrics.ngrams import Sequences, match_counts
from nbkit.text import Order, Sentence


def permutation_bleu(
    sentence: Sentence,
    orders: Sequence[Order] | np.ndarray,
    max_orders: Sequence[int] = (2, 3, 4),
    *,
    smoothing: Literal["exp", "none"] = "exp",
) -> np.ndarray:
    """BLEU up to n-grams of each of *max_orders* words: orders × max_orders, in [0, 1].

    Equal to `nbkit.metrics.bleu.Bleu`, but over the sentence's own tokens, which are not cut again (case kept).
    smoothing: sacreBLEU's names. With "exp", its default, ten words that keep no bigram have a BLEU-2 of 0.24; with
    "none" it is 0, and only then is anything in Figure 2's range of 0 to 0.15.

    Raises `NbkitError` for another smoothing.

    >>> boats = Sentence(tuple("There are boats close to bars and restaurants .".split()), "en")
    >>> permutation_bleu(boats, [range(9), [1, 0, 3, 2, 4, 5, 6, 7, 8]]).round(3).tolist()
    [[1.0, 1.0, 1.0], [0.707, 0.598, 0.517]]
    >>> permutation_bleu(boats, [[1, 0, 3, 2, 5, 4, 7, 6, 8]], smoothing="none").tolist()
    [[0.0, 0.0, 0.0]]
    """
    if smoothing not in ("exp", "none"):
        raise NbkitError(f"permutation_bleu: smoothing is 'exp' or 'none', not {smoothing!r}")
    numbers: dict[str, int] = {}
    row = np.array([numbers.setdefault(token, len(numbers)) for token in sentence.tokens], dtype=np.int64)
    permuted = row[np.array([np.asarray(order) for order in orders], dtype=np.intp).reshape(-1, len(row))]
    lengths = np.full(len(permuted), len(row), dtype=np.int64)
    original = np.tile(row, len(permuted))
    matches = match_counts(Sequences(permuted.ravel(), lengths), Sequences(original, lengths), max(max_orders))
    percents = [percent_of_matches(matches[:, :order], lengths, lengths) for order in max_orders]
    scores = np.minimum(np.column_stack(percents) / 100, 1.0)
    if smoothing == "none":  # an order that the sentence is too short for does not count
        counted = [min(order, len(row)) for order in max_orders]
        scores[np.column_stack([(matches[:, :order] == 0).any(axis=1) for order in counted])] = 0.0
    return scores
