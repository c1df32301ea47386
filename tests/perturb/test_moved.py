"""Words that moved are told from words that were pushed along."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies

from nbkit.perturb import moved


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 1, 2, 3], ""),
        ([0, 3, 2, 1, 4], "13"),  # a swap: what stands between them stays
        ([0, 4, 5, 3, 1, 2, 6], "1245"),  # phrases of two words change places
        ([3, 4, 2, 0, 1, 5], "0134"),
        ([4, 3, 0, 1, 2, 5], "0124"),  # of unequal length: the verb between them was pushed along, no more
        ([3, 0, 1, 2, 4], "3"),  # to the front; the rest was pushed along
        ([1, 2, 3, 0, 4], "0"),
        ([3, 2, 1, 0], "0123"),
        ([4, 3, 2, 1, 0], "0134"),
        ([1, 0, 2], "01"),
    ],
)
def test_words_that_moved_are_distinguished_from_words_that_were_pushed_along(order: list[int], expected: str) -> None:
    found = sorted(token for token, has_moved in zip(order, moved(order), strict=True) if has_moved)
    assert "".join(map(str, found)) == expected


@given(strategies.integers(0, 9).flatmap(lambda n: strategies.permutations(range(n))))
def test_words_that_did_not_move_keep_their_order(order: list[int]) -> None:
    kept = [token for token, has_moved in zip(order, moved(order), strict=True) if not has_moved]
    assert kept == sorted(kept)
    assert (order == sorted(order)) == (len(kept) == len(order))
