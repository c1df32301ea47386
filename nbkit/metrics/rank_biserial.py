"""How strongly a score goes with a yes or no: rank-biserial correlation, Mann–Whitney U, and when an effect is large.

Source: disambiguation paper, §2.2 (equations 4 to 7) and appendix A.5 (equation 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from nbkit.errors import NbkitError

#: Cohen's d from which on an effect is called small, medium and large (Cohen 1988, 2013).
COHEN = {"small": 0.2, "medium": 0.5, "large": 0.8}

Strength = Literal["none", "small", "medium", "large"]


class RankBiserial(NamedTuple):
    """How scores differ between two groups; NaN where a group is empty.

    rbc: in [−1, 1], positive where the first group has larger scores. u: the smaller U. p: two-sided.
    n_first, n_second: sizes without NaN.
    """

    rbc: float
    u: float
    p: float
    n_first: int
    n_second: int

    @property
    def base_rate(self) -> float:
        """The share of the first group (p1 of equation 8)."""
        n = self.n_first + self.n_second
        return self.n_first / n if n else float("nan")


class Thresholds(NamedTuple):
    """From which absolute correlation on an effect is small, medium and large."""

    small: float
    medium: float
    large: float

    def strength(self, correlation: float) -> Strength:
        """What a correlation is called, by its absolute value.

        >>> adjusted_thresholds(0.08).strength(-0.53), adjusted_thresholds(0.08).strength(0.02)
        ('large', 'none')
        """
        size = abs(correlation)
        if size >= self.large:
            return "large"
        if size >= self.medium:
            return "medium"
        return "small" if size >= self.small else "none"


def rank_biserial(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> RankBiserial:
    """Rank-biserial correlation and Mann–Whitney U of two groups of scores, such as of wrong and of right translations.

    RBC = f − u, with f the share of the (first, second) pairs whose first score is larger and u the share of those
    whose second is (4). With the sums R of the ranks, ties sharing their mean: U1 = R1 − n1(n1 + 1)/2,
    U2 = R2 − n2(n2 + 1)/2, U = min(U1, U2) (5–7), so that RBC = (U1 − U2) / (n1 n2). p is two-sided, of the normal
    approximation with corrections for ties and continuity (SciPy, as pingouin's ``mwu`` takes it for larger groups);
    1 where all scores are equal. NaN scores are left out. Memory is that of the scores: pingouin builds a table of all
    pairs.

    Source: Cureton 1956; Mann & Whitney 1947; disambiguation paper, §2.2.

    >>> rank_biserial([3, 4, 5], [1, 2, 3])._replace(p=0)
    RankBiserial(rbc=0.888..., u=0.5, p=0, n_first=3, n_second=3)
    >>> rank_biserial([], [1, 2]).n_second
    2
    """
    left, right = (_scores(values) for values in (first, second))
    n1, n2 = len(left), len(right)
    if not n1 or not n2:
        return RankBiserial(np.nan, np.nan, np.nan, n1, n2)
    from scipy.stats import mannwhitneyu

    u1, p = mannwhitneyu(left, right, alternative="two-sided", method="asymptotic", use_continuity=True)
    u2 = n1 * n2 - u1
    is_constant = np.ptp(np.concatenate([left, right])) == 0
    return RankBiserial(float((u1 - u2) / (n1 * n2)), float(min(u1, u2)), 1.0 if is_constant else float(p), n1, n2)


def adjusted_threshold(d: float, base_rate: float) -> float:
    """The correlation that a standardised difference *d* amounts to between groups with shares p1 and p2 = 1 − p1.

    r = d / sqrt(d² + 1 / (p1 p2)). (8)

    d: Cohen's d. base_rate: p1, in (0, 1). Raises `NbkitError` outside.
    Source: McGrath & Meyer 2006; disambiguation paper, appendix A.5.

    >>> round(adjusted_threshold(0.8, 0.5), 4)
    0.3714
    """
    if not 0 < base_rate < 1:
        raise NbkitError(f"base rate {base_rate}: a share between 0 and 1 expected (both groups have members)")
    return float(d / np.sqrt(d * d + 1 / (base_rate * (1 - base_rate))))


def adjusted_thresholds(base_rate: float) -> Thresholds:
    """Cohen's small, medium and large effect as correlations, for groups with shares *base_rate* and the rest.

    Source: disambiguation paper, appendix A.5, Tables 7 and 8.

    >>> [round(threshold, 4) for threshold in adjusted_thresholds(base_rate_of(0.2121, COHEN["large"]))]
    [0.0542, 0.1344, 0.2121]
    """
    return Thresholds(*(adjusted_threshold(d, base_rate) for d in COHEN.values()))


def base_rate_of(threshold: float, d: float) -> float:
    """The smaller of the two shares at which *d* amounts to *threshold*: equation 8 the other way round.

    p1 p2 = r² / (d² (1 − r²)). Raises `NbkitError` for a threshold that no base rate leads to.

    >>> round(base_rate_of(adjusted_threshold(0.5, 0.1), 0.5), 6)
    0.1
    """
    product = threshold**2 / (d * d * (1 - threshold**2)) if abs(threshold) < 1 and d else np.inf
    if not 0 < product <= 0.25 * (1 + 1e-9):  # equal groups, but for rounding
        raise NbkitError(f"threshold {threshold}: no base rate makes d = {d} that large (or that small)")
    return float((1 - np.sqrt(max(0.0, 1 - 4 * product))) / 2)


def _scores(values: Sequence[float] | np.ndarray) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise NbkitError(f"rank_biserial: one-dimensional scores expected, not an array of shape {array.shape}")
    return array[~np.isnan(array)]
