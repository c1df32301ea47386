"""The sign-flip permutation test over clusters, with Holm's correction over several tests.

If two systems behave alike, their answers to the items of a cluster are exchangeable, so that the sign of the cluster's
difference is a coin toss. The test needs no distribution, holds for shares and scores, and does not count the items of
a sentence as independent. For independent items it is McNemar's exact test of a share.

References: Fisher 1935, *The Design of Experiments*, §21; Phipson & Smyth 2010 (p of drawn permutations); Holm 1979;
Tarone 1990, *A modified Bonferroni method for discrete data*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nbkit.seeding import generator

#: The error rate of all tests of a comparison together.
LEVEL: Final = 0.05
#: Draws of a test whose p may be small, at least; as many per test of the comparison, so that p can pass Holm's bound.
DRAWS: Final = 9_999
DRAWS_PER_TEST: Final = 200
#: Up to so many clusters that differ, all flips are counted.
_ALL = 12
_ZERO = 1e-12  # what rounding leaves of equal scores
_BLOCK = 1 << 22  # signs that are drawn at a time


def p_values(sums: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, int]:
    """p of each test of a comparison, p after Holm's correction, and over how many tests that was.

    sums: of each test what its clusters add to the difference. A test in which so few clusters differ that no signs of
    theirs would be significant does not count, and has p = 1 afterwards.
    """
    able = np.array([2.0 ** (1 - _differing(each)) <= LEVEL for each in sums], dtype=bool)
    tests = int(able.sum())
    p = np.array([sign_flip_p(each, max(DRAWS, DRAWS_PER_TEST * tests)) for each in sums], dtype=float)
    p_holm = np.where(np.isnan(p), np.nan, 1.0)
    ranked = np.flatnonzero(able)[np.argsort(p[able], kind="stable")]
    p_holm[ranked] = np.maximum.accumulate(p[ranked] * np.arange(tests, 0, -1)).clip(max=1)
    return p, p_holm, tests


def sign_flip_p(sums: np.ndarray, draws: int = DRAWS) -> float:
    """Two-sided p of the hypothesis that each cluster's difference is as likely as its opposite.

    sums: of the clusters. Of the 2ᵏ flips of k clusters that differ all are counted if there are few, else *draws* are
    drawn; only 999 of them where these leave no doubt that p is above `LEVEL`. NaN without clusters.

    >>> round(sign_flip_p(np.array([1.0] * 5 + [0.0] * 20)), 4)  # McNemar's exact test: 2 / 2⁵
    0.0625
    >>> sign_flip_p(np.zeros(4))
    1.0
    """
    if not len(sums):
        return np.nan
    # Sorted and scaled: the same result in whatever order clusters come, and no matter of rounding.
    sizes = np.sort(np.abs(sums[np.abs(sums) > _ZERO]))
    least = abs(sums.sum()) - 1e-9 * sizes.sum()
    if len(sizes) <= _ALL:
        totals = np.zeros(1)
        for size in sizes:
            totals = np.concatenate([totals + size, totals - size])
        return float((np.abs(totals) >= least).mean())
    random, above, drawn = generator(0, "sign flips", len(sizes)), 0, 0
    while drawn < draws:
        n = min(999 if not drawn else max(_BLOCK // len(sizes), 1), draws - drawn)
        signs = random.integers(0, 2, (n, len(sizes)), dtype=np.int8)
        above += int((np.abs((2.0 * signs - 1) @ sizes) >= least).sum())
        drawn += n
        if drawn == 999 and above > 2 * LEVEL * drawn:
            break
    return (above + 1) / (drawn + 1)


def _differing(sums: np.ndarray) -> int:
    """How many clusters differ."""
    return int((np.abs(sums) > _ZERO).sum())
