"""How often 95% intervals hold the truth: shares and means of few, skewed and clustered values, simulated.

    python benchmarks/coverage.py [--runs 2000] [--quick]

Each situation is drawn *runs* times with a fixed seed. Beside `intervals.share_interval` and `mean_interval` stand the
same of a stream (`StreamedBootstrap`, as in word order), the percentile bootstrap that nbkit had before, and for means
BCa and bootstrap-t. n counts units; in clusters each has four values with the intra-class correlation given. Single
values have a few possible outcomes only: where no interval that is the same for the same outcome can hold between 93
and 98.5 % of the time, the entry has no bar, and the closest coverages that there are stand in its note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Report, parse, parser
from scipy.stats import binom, norm

from nbkit.measure.statistics import (
    UNIT,
    StreamedBootstrap,
    mean_interval,
    mean_of_draws,
    share_interval,
    share_of_draws,
)

SIZES, SHARES, LEAST, MOST = (10, 30, 150), (0.01, 0.05, 0.2, 0.5), 93.0, 98.5
CLUSTER, RESAMPLES = 4, 999

#: Name, how to draw, the true mean, the range of the values.
MEANS: dict[str, tuple[Callable[[np.random.Generator, Any], np.ndarray], float, tuple[float, float] | None]] = {
    "normal": (lambda random, size: random.normal(size=size), 0.0, None),
    "exponential": (lambda random, size: random.exponential(size=size), 1.0, None),
    "lognormal, σ = 0.5": (lambda random, size: random.lognormal(0, 0.5, size), float(np.exp(0.125)), None),
    "BLEU-like, 30% zeros": (lambda random, size: _spiked(random, size, 0.3), 0.7 * 1.2 / 4.2, UNIT),
    "BLEU-like, 60% zeros": (lambda random, size: _spiked(random, size, 0.6), 0.4 * 1.2 / 4.2, UNIT),
}


def main(arguments: Sequence[str] | None = None) -> Path:
    made = parser(__doc__, repeat=1)
    made.add_argument("--runs", type=int, default=2000, help="samples of each situation")
    options = parse(made, arguments, runs=200)
    report = Report(__file__, "How often 95% intervals hold, and how wide they are", options)
    for n in SIZES:
        for share in SHARES:
            for correlation in (None, 0.2, 0.5):
                _shares(report, n, share, correlation, options.runs)
        for name in MEANS:
            for correlation in (None, 0.5):
                _means(report, n, name, correlation, options.runs)
    report.remark(
        f"Bars: at least {LEAST} and at most {MOST} %. In brackets: mean widths. ICC: intra-class correlation."
    )
    report.remark(
        "Lognormal values of σ = 1 (skewness 6.2) are beyond this: at n = 10, 30 and 150 their mean is held "
        + ", ".join(f"{_harder(n, options.runs):.1f}" for n in SIZES)
        + " % of the time (percentile: "
        + ", ".join(f"{_harder(n, options.runs, percentile=True):.1f}" for n in SIZES)
        + " %)."
    )
    return report.write()


def _shares(report: Report, n: int, share: float, correlation: float | None, runs: int) -> None:
    random, size = np.random.default_rng([n, int(1000 * share), int(10 * (correlation or 0))]), 1
    if correlation is None:
        totals = (random.random((runs, n)) < share).astype(float)
    else:
        size, spread = CLUSTER, 1 / correlation - 1
        totals = random.binomial(size, random.beta(share * spread, (1 - share) * spread, (runs, n))).astype(float)
    groups = np.repeat(np.arange(n), size)
    values = (np.arange(size) < totals[..., None]).astype(float).reshape(runs, -1)
    found = [share_interval(row, groups=groups)[1:3] for row in values]
    draws, means = _draws(totals / size), totals.mean(axis=1) / size
    stream = _streamed(totals / size)
    streamed = [share_of_draws(*pair, units=n, values=n * size) for pair in zip(means, stream, strict=True)]
    where = f"share of {share:.0%}, n = {n}" + ("" if correlation is None else f", clusters, ICC {correlation}")
    _rows(report, where, share, found, streamed, np.quantile(draws, [0.025, 0.975], axis=1).T, [],
          _possible(n, share) if correlation is None else [])  # fmt: skip


def _means(report: Report, n: int, name: str, correlation: float | None, runs: int) -> None:
    draw, truth, within = MEANS[name]
    random = np.random.default_rng([n, len(name), int(10 * (correlation or 0))])
    if correlation is None:
        values = draw(random, (runs, n, 1))
    else:  # a value is its cluster's with a chance of √ICC, so that two agree with a chance of ICC
        own, shared = draw(random, (runs, n, CLUSTER)), draw(random, (runs, n, 1))
        values = np.where(random.random(own.shape) < correlation**0.5, shared, own)
    groups = np.repeat(np.arange(n), values.shape[2])
    units = values.mean(axis=2)
    found = [mean_interval(row, groups=groups, within=within)[1:3] for row in values.reshape(runs, -1)]
    draws = _draws(units)
    means, stream = units.mean(axis=1), _streamed(units)
    streamed = [mean_of_draws(mean, own, units=n, within=within) for mean, own in zip(means, stream, strict=True)]
    others = [("BCa", _bca(units, draws)), ("bootstrap-t", _bootstrap_t(units, draws))]
    where = f"mean, {name}, n = {n}" + ("" if correlation is None else f", clusters, ICC {correlation}")
    _rows(report, where, truth, found, streamed, np.quantile(draws, [0.025, 0.975], axis=1).T, others, [])


def _rows(
    report: Report, where: str, truth: float, found: Any, streamed: Any, percentile: Any, others: Any, possible: list
) -> None:
    """Two rows of one situation: of values, and of a stream."""
    beside = [("percentile", percentile), *others]
    text = ", ".join(f"{name} {_held(each, truth):.1f} % [{_width(each):.3f}]" for name, each in beside)
    impossible = bool(possible) and not any(LEAST <= each <= MOST for each in possible)
    if impossible:
        nearest = sorted(possible, key=lambda each: abs(each - 95))[:2]
        text += "; possible: " + " or ".join(f"{each:.1f} %" for each in sorted(nearest))
    for what, intervals in (("values", found), ("streamed", streamed)):
        held = _held(intervals, truth)
        bar = "" if impossible else f"≥ {LEAST}" if held <= MOST else f"≤ {MOST}"
        report.add(f"{where}, {what}", held, "%", bar=bar, note=f"width {_width(intervals):.3f}; {text}")


def _held(intervals: Any, truth: float) -> float:
    low, high = np.asarray(intervals, dtype=float).T
    return float(100 * np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def _width(intervals: Any) -> float:
    low, high = np.asarray(intervals, dtype=float).T
    return float(np.nanmean(high - low))


def _possible(n: int, share: float) -> list[float]:
    """How often any interval can hold: the chance of a run of outcomes, those for which it holds, in per cent."""
    chances = binom.pmf(np.arange(n + 1), n, share)
    sums = np.concatenate([[0.0], np.cumsum(chances)])
    spans = [(a, b) for a in range(n + 1) for b in range(a + 1, n + 2) if sums[b] - sums[a] > 0.8]
    return [float(100 * (sums[b] - sums[a])) for a, b in spans]


def _spiked(random: np.random.Generator, size: Any, zeros: float) -> np.ndarray:
    return np.where(random.random(size) < zeros, 0.0, random.beta(1.2, 3, size))


@cache
def _weights(n: int) -> np.ndarray:
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(float)


def _draws(units: np.ndarray) -> np.ndarray:
    """Means of resamples: runs × resamples."""
    return units @ _weights(units.shape[1]).T / units.shape[1]


def _streamed(units: np.ndarray) -> np.ndarray:
    """The same of the streamed bootstrap, whose quantities are the runs."""
    stream = StreamedBootstrap(len(units), resamples=RESAMPLES)
    runs, n = units.shape
    stream.add(np.tile(np.arange(n), runs), np.repeat(np.arange(runs), n), units.ravel())
    return np.divide(stream.total_draws, stream.count_draws, out=np.full_like(stream.total_draws, np.nan),
                     where=stream.count_draws > 0)  # fmt: skip


def _bca(units: np.ndarray, draws: np.ndarray) -> np.ndarray:
    deviations = units - units.mean(axis=1, keepdims=True)
    spread = np.maximum((deviations**2).sum(axis=1), 1e-300)
    acceleration = (deviations**3).sum(axis=1) / (6 * spread**1.5)
    middle = units.mean(axis=1, keepdims=True)
    below = ((draws < middle).mean(axis=1) + (draws <= middle).mean(axis=1)) / 2
    bias = norm.ppf(np.clip(below, 0.001, 0.999))
    ends, ordered = [], np.sort(draws, axis=1)
    for quantile in (-norm.ppf(0.975), norm.ppf(0.975)):
        level = norm.cdf(bias + (bias + quantile) / (1 - acceleration * (bias + quantile)))
        place = np.clip((level * (RESAMPLES - 1)).round().astype(int), 0, RESAMPLES - 1)
        ends.append(np.take_along_axis(ordered, place[:, None], axis=1)[:, 0])
    return np.column_stack(ends)


def _bootstrap_t(units: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Resamples without spread have no t: those that differ from the mean count as infinite, at most 50."""
    n, means = units.shape[1], units.mean(axis=1, keepdims=True)
    errors = np.sqrt(np.maximum((units**2) @ _weights(n).T / n - draws**2, 1e-24) / (n - 1))
    t = np.clip((draws - means) / errors, -50, 50)
    error = units.std(axis=1, ddof=1) / n**0.5
    low, high = np.quantile(t, [0.975, 0.025], axis=1)
    return np.column_stack([means[:, 0] - low * error, means[:, 0] - high * error])


@cache
def _skewed(n: int, runs: int) -> np.ndarray:
    return np.random.default_rng(n).lognormal(0, 1, (runs, n))


def _harder(n: int, runs: int, *, percentile: bool = False) -> float:
    values = _skewed(n, runs)
    if percentile:
        return _held(np.quantile(_draws(values), [0.025, 0.975], axis=1).T, float(np.exp(0.5)))
    return _held([mean_interval(row)[1:3] for row in values], float(np.exp(0.5)))


if __name__ == "__main__":
    main()
