"""Intervals of shares and of means that hold for small and skewed samples, too.

    share  Wilson's score interval, with n / deff in place of n. The design effect deff says how much less clustered
           values say than as many independent ones; it is estimated from the clusters, and lies between 1 and their
           size. The fewer cases of the rarer outcome there are, the less is known of it, and the closer it is taken
           to the size: w = e / (e + ¼) weighs the estimate, where e counts the rarer outcome in clusters' worth.
    mean   Student's t, corrected for skewness by Hall's cubic transformation: with the standard error s of the mean and
           γ, the skewness of the mean, the interval holds every μ for which t + γ t² / 3 + γ² t³ / 27 + γ / 6, with
           t = (mean − μ) / s, lies within the quantiles of t. At γ = 0 it is the usual interval.

Neither has width 0: 0 of 80 is [0, 0.046]. Where all values of a mean are the same there is no s. If they lie in a
known range, such as [0, 1], the share of other values that n draws may have missed bounds the mean; else there is no
interval (NaN). `benchmarks/coverage.py` measures how often each holds, beside the percentile bootstrap, BCa and
bootstrap-t.

References: Wilson 1927; Kish 1965, *Survey Sampling*, section 8.2 (design effect); Hall 1992, *On the removal of
skewness by transformation*; Dean & Pagano 2015 (intervals of shares from clusters).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from nbkit.errors import NbkitError

#: A mean or share of fewer units is marked on every page.
FEW = 30
#: The range of a share and of every bounded metric, and that of a difference of two of them.
UNIT, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)
# How many clusters' worth of the rarer outcome count as much as no knowledge of the design effect.
_PRIOR = 0.25


class Interval(NamedTuple):
    """A mean or share with its interval; NaN where there is none.

    n: how many units it is of: values, or groups of them where groups were given.
    """

    mean: float
    low: float
    high: float
    n: int


def share_interval(
    values: Sequence[float] | np.ndarray,
    *,
    groups: Sequence[object] | np.ndarray | None = None,
    level: float = 0.95,
) -> Interval:
    """The share of *values* that are 1 (true), with Wilson's interval of the effective sample size; NaN is left out.

    values: 0 or 1 each, or shares of such themselves (an idiom's share of literal errors). groups: the unit of each
    value, such as its sentence pair; None: each value is one. Raises `NbkitError` for values outside [0, 1].

    >>> share_interval([0.0] * 80)
    Interval(mean=0.0, low=0.0, high=0.045..., n=80)
    >>> share_interval([1, 1, 0, 0], groups=["a", "a", "b", "b"]) == share_interval([1, 0])
    True
    """
    totals, counts = _units(values, groups)
    return share_of_sums(totals, counts, level=level)


def share_of_sums(totals: np.ndarray, counts: np.ndarray, *, level: float = 0.95) -> Interval:
    """`share_interval` of units of which the sum and the number of values are known.

    >>> share_of_sums(np.array([2.0, 0.0]), np.array([2.0, 2.0])) == share_interval([1, 1, 0, 0], groups="aabb")
    True
    """
    check_level(level)
    units, values = len(totals), float(counts.sum())
    if not values:
        return _NOTHING
    if (totals < 0).any() or (totals > counts * (1 + 1e-9)).any():
        raise NbkitError("share: values from 0 to 1 expected; of anything else, ask for the interval of a mean")
    share = min(float(totals.sum()) / values, 1.0)
    fewest = values**2 / float((counts**2).sum())
    # Values that are shares themselves say more than as many zeros and ones.
    most = values if (totals == totals.round()).all() else np.inf
    variance = ((totals - share * counts) ** 2).sum() / values**2 * units / max(units - 1, 1)
    return Interval(share, *share_bounds(share, float(variance), fewest=fewest, most=most, level=level), units)


def share_of_draws(
    share: float, draws: np.ndarray, *, units: int, values: float, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a share of which there are bootstrap *draws*: their variance shows the design effect.

    units: how many were resampled. values: how many the share is over.

    >>> share_of_draws(0.0, np.zeros(999), units=80, values=80) == share_interval([0] * 80)[1:3]
    True
    """
    known = draws[~np.isnan(draws)]
    variance = float(known.var()) * units / max(units - 1, 1) if len(known) else 0.0
    return share_bounds(share, variance, fewest=min(units, values), most=values, level=level)


def share_bounds(
    share: float, variance: float, *, fewest: float, most: float, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval of a *share* with this sampling *variance*.

    fewest: the values it is worth if those of a unit always agree, and what it is taken for where all are the same.
    most: those it is worth if all are independent.

    >>> share_bounds(0.25, 0.25 * 0.75 / 40, fewest=40, most=40)
    (0.14..., 0.40...)
    """
    check_level(level)
    if np.isnan(share) or not fewest > 0:
        return float("nan"), float("nan")
    n, plain = fewest, share * (1 - share)
    if plain > 0 and variance > 0:
        measured = min(max(plain / variance, fewest), max(most, fewest))
        rarer = min(share, 1 - share) * fewest
        weight = rarer / (rarer + _PRIOR)
        n = 1 / (weight / measured + (1 - weight) / fewest)
    square = normal_quantile(level) ** 2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = (plain * square / n + (square / (2 * n)) ** 2) ** 0.5 / (1 + square / n)
    # The ends of 0 of n and of n of n are exact; rounding would leave 1e-17.
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))


def mean_interval(
    values: Sequence[float] | np.ndarray,
    *,
    groups: Sequence[object] | np.ndarray | None = None,
    within: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Interval:
    """The mean of *values* with Hall's interval of a skewed sample; NaN values are left out.

    groups: the unit of each value (such as its sentence pair), whose values are not independent; None: each value is
    one. within: the range that values can have; the interval stays inside, and needs it where all values are the same.

    >>> mean_interval([0.0, 0.5, 1.0, float("nan")], within=(0, 1))
    Interval(mean=0.5, low=0.0, high=1.0, n=3)
    >>> mean_interval([0.0] * 80, within=(0, 1)), mean_interval([2.0] * 80)
    (Interval(mean=0.0, low=0.0, high=0.045..., n=80), Interval(mean=2.0, low=nan, high=nan, n=80))
    """
    check_level(level)
    totals, counts = _units(values, groups)
    n = len(totals)
    if not n:
        return _NOTHING
    mean = float(totals.sum() / counts.sum())
    slack = 1e-6 * max(1.0, abs(mean))  # what networks compute in single precision can be a little more
    if within is not None and not within[0] - slack <= mean <= within[1] + slack:
        raise NbkitError(f"mean: values from {within[0]:g} to {within[1]:g} expected, their mean is {mean:g}")
    deviations = (totals - mean * counts) / counts.mean()
    squares = float((deviations**2).sum())
    if n == 1 or squares**0.5 <= 1e-9 * max(1.0, abs(mean)):
        return Interval(mean, *_unvaried(mean, n, within, level), n)
    # Both cumulants without bias: few values show less skewness than there is.
    skewness = float((deviations**3).sum()) * n / max((n - 1) * (n - 2), 1) / (squares / (n - 1)) ** 1.5
    error = squares**0.5 / (n - 1)
    return Interval(mean, *_skewed(mean, error, skewness / n**0.5, n, within, level), n)


def mean_of_draws(
    mean: float,
    draws: np.ndarray,
    *,
    units: float,
    within: tuple[float, float] | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """The interval of a mean, or of what is made of means, by the spread and the skewness of its bootstrap *draws*.

    units: how many were resampled. within: as of `mean_interval`.

    >>> low, high = mean_of_draws(0.5, np.random.default_rng(0).normal(0.5, 0.1, 999), units=500)
    >>> round(low, 1), round(high, 1)
    (0.3, 0.7)
    """
    check_level(level)
    known = draws[~np.isnan(draws)]
    if np.isnan(mean) or not units or not len(known):
        return float("nan"), float("nan")
    deviations = known - known.mean()
    spread = float(deviations.std())
    # Stored draws are in single precision: what differs by less is the same.
    if units <= 1 or spread <= 1e-6 * abs(mean):
        return _unvaried(mean, units, within, level)
    skewness = float((deviations**3).mean()) / spread**3
    return _skewed(mean, spread * (units / (units - 1)) ** 0.5, skewness, units, within, level)


_NOTHING = Interval(float("nan"), float("nan"), float("nan"), 0)


def _skewed(
    mean: float, error: float, skewness: float, n: float, within: tuple[float, float] | None, level: float
) -> tuple[float, float]:
    """Hall's interval; skewness: of the mean, which is that of the values over √n."""
    from scipy.stats import t

    def studentised(quantile: float) -> float:
        """The t that the transformation takes to *quantile*."""
        if abs(skewness) < 1e-6:
            return quantile
        return 3 * float(np.cbrt(1 + skewness * (quantile - skewness / 6)) - 1) / skewness

    quantile = float(t.ppf((1 + level) / 2, n - 1))
    low, high = mean - error * studentised(quantile), mean - error * studentised(-quantile)
    return (max(low, float(within[0])), min(high, float(within[1]))) if within else (low, high)


def _unvaried(value: float, n: float, within: tuple[float, float] | None, level: float) -> tuple[float, float]:
    """The interval of the mean of *n* values that are all the same: what share of others they can have missed."""
    if within is None or not np.isfinite(within).all():
        return float("nan"), float("nan")
    _, missed = share_bounds(0.0, 0.0, fewest=n, most=n, level=level)
    return value - missed * (value - within[0]), value + missed * (within[1] - value)


def _units(
    values: Sequence[float] | np.ndarray, groups: Sequence[object] | np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The sum and the number of the values of each unit that has any, in an order that only they decide."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise NbkitError(f"interval: one-dimensional values expected, not an array of shape {array.shape}")
    present = ~np.isnan(array)
    totals: np.ndarray = array[present]
    counts: np.ndarray = np.ones(len(totals))
    if groups is not None:
        if len(groups) != len(array):
            raise NbkitError(f"interval: {len(array)} values but {len(groups)} groups")
        numbers: dict[object, int] = {}
        units = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)[present]
        counts = np.bincount(units, minlength=len(numbers)).astype(np.float64)
        totals, counts = np.bincount(units, totals, len(numbers))[counts > 0], counts[counts > 0]
    order = np.lexsort((counts, totals))
    return totals[order], counts[order]


def normal_quantile(level: float) -> float:
    """How many standard errors to either side hold *level* of a normal distribution.

    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    from scipy.stats import norm

    return float(norm.ppf((1 + level) / 2))


def check_level(level: float, what: str = "interval") -> None:
    """Raise `NbkitError` for a level that is no probability."""
    if not 0 < level < 1:
        raise NbkitError(f"{what}: level is a probability such as 0.95, not {level}")


# ----------------------------------------------------------------------------
# Averages over phrases, so that a frequent idiom counts no more than a rare one. Source: idioms paper, §2.3.


class Averages(NamedTuple):
    """macro: over phrases, whose number is its n. micro: over pairs; phrases are the units of its interval too,
    as pairs of one phrase are not independent. pairs: how many.
    """

    macro: Interval
    micro: Interval
    pairs: int


def macro_average(
    values: Sequence[float] | np.ndarray, phrases: Sequence[Hashable], *, share: bool = False
) -> Averages:
    """E = 1/|L| Σⱼ 1/|Pⱼ| Σᵢ M(θ(sᵢ), tᵢ), L the phrases and Pⱼ the pairs of phrase j (equation 1); micro beside it.

    values: M of each pair, from 0 to 1. phrases: the phrase of each. NaN values are left out; a phrase without a value
    is not in L. share: whether M is 1 or 0, an error or none, so that the averages are shares.
    Raises `NbkitError` where the two are not equally long. Source: idioms paper, §2.3, equation 1.

    >>> averages = macro_average([1, 1, 1, 0], ["piece of cake", "piece of cake", "piece of cake", "swan song"])
    >>> averages.macro.mean, averages.micro.mean
    (0.5, 0.75)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) != len(phrases):
        raise NbkitError(
            f"macro average: one phrase a value expected, {array.shape} values and {len(phrases)} phrases found"
        )
    by_phrase = phrase_means(array, phrases)
    interval = share_interval if share else partial(mean_interval, within=UNIT)
    macro, micro = interval(list(by_phrase.values())), interval(array, groups=phrases)
    return Averages(macro, micro, int(np.count_nonzero(~np.isnan(array))))


def phrase_means(values: Sequence[float] | np.ndarray, phrases: Sequence[Hashable]) -> dict[Hashable, float]:
    """The mean of each phrase's values, in the order in which phrases first have one; NaN values are left out.

    >>> phrase_means([1.0, float("nan"), 0.0], ["a", "b", "a"])
    {'a': 0.5}
    """
    groups: dict[Hashable, list[float]] = {}
    for value, phrase in zip(values, phrases, strict=True):
        if not np.isnan(value):
            groups.setdefault(phrase, []).append(float(value))
    return {phrase: float(np.mean(group)) for phrase, group in groups.items()}
