"""Clipped n-gram matches of many pairs of sequences at once, counted by one sort for all orders.

Counting n-grams in Python dictionaries is what makes sentence-level BLEU and chrF slow. Here every position
of a block of pairs becomes one integer: pair, the N symbols that start there, side. In sorted order,
equal n-grams of a pair stand together for *every* n ≤ N, because a prefix of a sorted key is sorted too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

#: Symbols handled at once: bounds the memory, and keeps the arrays in the processor's cache.
_BLOCK = 1 << 14


class Sequences(NamedTuple):
    """Many sequences of symbols, one behind the other.

    symbols: non-negative integers, all sequences concatenated. lengths: one entry a sequence.
    """

    symbols: np.ndarray
    lengths: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Where each sequence starts, and the end of the last one."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def take(self, which: np.ndarray) -> Sequences:
        """The sequences numbered *which*, in that order, repeats included.

        >>> Sequences(np.array([7, 8, 9]), np.array([1, 2])).take(np.array([1, 1])).symbols.tolist()
        [8, 9, 8, 9]
        """
        lengths = self.lengths[which]
        shift = self.starts[which] - np.concatenate([[0], np.cumsum(lengths)[:-1]])
        return Sequences(self.symbols[np.arange(lengths.sum()) + np.repeat(shift, lengths)], lengths)


def match_counts(hypotheses: Sequences, references: Sequences, order: int) -> np.ndarray:
    """How many n-grams of each hypothesis its reference matches, at most as often as the reference has them.

    Returns an integer array, pairs × *order*; column n − 1 counts the n-grams.

    >>> hypothesis = Sequences(np.array([1, 2, 2, 3]), np.array([4]))
    >>> reference = Sequences(np.array([2, 3, 1, 2]), np.array([4]))
    >>> match_counts(hypothesis, reference, 3).tolist()
    [[4, 2, 0]]
    """
    counts = np.zeros((len(hypotheses.lengths), order), dtype=np.int64)
    hypothesis_starts, reference_starts = hypotheses.starts, references.starts
    for start, end in _blocks(hypotheses.lengths + references.lengths):
        counts[start:end] = _count(
            Sequences(
                hypotheses.symbols[hypothesis_starts[start] : hypothesis_starts[end]],
                hypotheses.lengths[start:end],
            ),
            Sequences(
                references.symbols[reference_starts[start] : reference_starts[end]],
                references.lengths[start:end],
            ),
            order,
        )
    return counts


def _blocks(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Half-open ranges of pairs of about `_BLOCK` symbols, at least one pair each."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        yield start, end
        start = end


def _count(hypotheses: Sequences, references: Sequences, order: int) -> np.ndarray:
    pairs = len(hypotheses.lengths)
    lengths = np.concatenate([hypotheses.lengths, references.lengths])
    pair = np.repeat(np.tile(np.arange(pairs), 2), lengths)
    symbols = np.concatenate([hypotheses.symbols, references.symbols])
    counts = np.zeros((pairs, order), dtype=np.int64)
    if not len(symbols):
        return counts
    pair_bits = pairs.bit_length()
    numbers, largest = _numbered(symbols)
    if not _fits(largest, order, pair_bits):
        numbers, largest = _numbered_by_pair(numbers, pair)
        if not _fits(largest, order, pair_bits):
            return _count_by_dictionary(hypotheses, references, order)
    bits = largest.bit_length()

    # Each sequence is followed by order - 1 zeros, so that no window runs into the next sequence.
    ends = np.repeat(np.arange(2 * pairs) * (order - 1), lengths)
    places = np.arange(len(symbols)) + ends
    padded = np.zeros(len(symbols) + 2 * pairs * (order - 1) + order, dtype=np.int64)
    padded[places] = numbers
    size = len(padded) - order
    windows = padded[:size].copy()
    for n in range(1, order):
        windows <<= bits
        windows |= padded[n : n + size]
    reference_side = np.arange(len(symbols)) >= len(hypotheses.symbols)
    keys = np.sort((((pair << (bits * order)) | windows[places]) << 1) | reference_side)

    from_reference = np.concatenate([[0], np.cumsum(keys & 1)])
    keys >>= 1
    last_symbol = (1 << bits) - 1
    for n in range(order, 0, -1):
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        bounds = np.append(starts, len(keys))
        references_in = np.diff(from_reference[bounds])
        matches = np.minimum(references_in, np.diff(bounds) - references_in)
        gram = keys[starts]
        matches[(gram & last_symbol) == 0] = 0  # too close to the end for an n-gram
        counts[:, n - 1] = np.bincount(gram >> (bits * n), weights=matches, minlength=pairs)
        keys >>= bits
    return counts


def _fits(largest: int, order: int, pair_bits: int) -> bool:
    """Whether a key of pair, *order* symbols up to *largest* and side is a non-negative 64-bit integer."""
    return largest.bit_length() * order + pair_bits + 1 <= 63


def _numbered(symbols: np.ndarray) -> tuple[np.ndarray, int]:
    """The symbols numbered from 1 on, and the largest number."""
    used = np.zeros(int(symbols.max()) + 1, dtype=bool)
    used[symbols] = True
    numbers = np.cumsum(used)
    return numbers[symbols], int(numbers[-1])


def _numbered_by_pair(numbers: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, int]:
    """The same with every pair's symbols numbered from 1 on: slower, but few bits for any alphabet."""
    known, inverse = np.unique((pair << 32) | numbers, return_inverse=True)
    first = np.searchsorted(known, np.arange(int(pair.max()) + 1) << 32)
    local = inverse - first[pair] + 1
    return local, int(local.max())


def _count_by_dictionary(hypotheses: Sequences, references: Sequences, order: int) -> np.ndarray:
    """The counts of a block in which a pair has more distinct symbols than fit into a key (1,023 for chrF)."""
    counts = []
    for pair in zip(
        np.split(hypotheses.symbols, hypotheses.starts[1:-1]),
        np.split(references.symbols, references.starts[1:-1]),
        strict=True,
    ):
        sides = [side.tolist() for side in pair]
        row = []
        for n in range(1, order + 1):
            grams = [Counter(zip(*(side[i:] for i in range(n)), strict=False)) for side in sides]
            row.append((grams[0] & grams[1]).total())
        counts.append(row)
    return np.array(counts)
