"""Slow and plain references that the fast metrics are held against."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

#: Token lists over a tiny alphabet, so that n-grams repeat and match, and over a larger one.
TOKENS = st.one_of(
    st.lists(st.sampled_from("abc"), max_size=12),
    st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", ",", "北", "é"]), max_size=25),
)
PAIRS = st.lists(st.tuples(TOKENS, TOKENS), max_size=8)


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Levenshtein distance by the textbook's dynamic programme."""
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y)))
        previous = current
    return previous[-1]
