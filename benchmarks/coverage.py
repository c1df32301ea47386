"""How often 95 % intervals hold the truth: every closed formula of `nbkit.studies.summarise`, simulated.

    python benchmarks/coverage.py [--runs 1000] [--quick]

Each situation is drawn *runs* times with a fixed seed, for 10, 20, 40 and 150 units. In clusters, each unit has four
values with the intra-class correlation given (ICC: two values of a unit are the same draw with that probability).
Beside each coverage stand the mean width and a peer: for shares and means the percentile bootstrap, for differences of
paired verdicts Student's. Verdicts have few possible outcomes: where no interval that is
the same for the same outcome can hold between 93 and 98.5 % of the time, there is no bar, and the note says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reporting import Report, parse, parser
from scipy.special import gammaln, xlogy
from scipy.stats import binom, norm, spearmanr, t

from nbkit.measure.statistics import (
    DIFFERENCE,
    UNIT,
    mean_interval,
    share_interval,
    spearman_of_clusters,
)
from nbkit.models.translators.texts import sentence_sums
from nbkit.studies.summarise import corpus_score, strengths, summarise

SIZES, LEAST, MOST = (10, 20, 40, 150), 93.0, 98.5
CLUSTER, RESAMPLES = 4, 499
SHARES = (0.01, 0.05, 0.2, 0.5)
#: Gains and losses of paired verdicts: none, rare, common; without and with a difference.
PAIRED = ((0.02, 0.02), (0.04, 0.04), (0.1, 0.1), (0.25, 0.25), (0.06, 0.02), (0.1, 0.04), (0.1, 0.0), (0.2, 0.1))

Ends = Sequence[tuple[float, float]] | np.ndarray
Draw = Callable[[np.random.Generator, Any], np.ndarray]


def _spiked(random: np.random.Generator, size: Any, zeros: float, signed: bool = False) -> np.ndarray:
    values = random.beta(1.2, 3, size) * (random.choice([-1, 1], size) if signed else 1)
    return np.where(random.random(size) < zeros, 0.0, values)


#: Name, how to draw, the true mean, the range of the values.
MEANS: dict[str, tuple[Draw, float, tuple[float, float] | None]] = {
    "normal": (lambda random, size: random.normal(size=size), 0.0, None),
    "Laplace": (lambda random, size: random.laplace(size=size), 0.0, None),
    "exponential": (lambda random, size: random.exponential(size=size), 1.0, None),
    "lognormal, σ = 0.5": (lambda random, size: random.lognormal(0, 0.5, size), float(np.exp(0.125)), None),
    "lognormal, σ = 1": (lambda random, size: random.lognormal(0, 1, size), float(np.exp(0.5)), None),
    "BLEU-like, 30% zeros": (lambda random, size: _spiked(random, size, 0.3), 0.7 * 1.2 / 4.2, UNIT),
    "BLEU-like, 60% zeros": (lambda random, size: _spiked(random, size, 0.6), 0.4 * 1.2 / 4.2, UNIT),
    "BLEU-like, 90% zeros": (lambda random, size: _spiked(random, size, 0.9), 0.1 * 1.2 / 4.2, UNIT),
    "differences of scores, 30% zeros": (lambda random, size: _spiked(random, size, 0.3, True), 0.0, DIFFERENCE),
    "differences of scores, 80% zeros": (lambda random, size: _spiked(random, size, 0.8, True), 0.0, DIFFERENCE),
}


def main(arguments: Sequence[str] | None = None) -> Path:
    made = parser(__doc__, repeat=1)
    made.add_argument("--runs", type=int, default=1000, help="samples of each situation")
    options = parse(made, arguments, runs=100)
    report = Report(__file__, "How often 95% intervals hold, and how wide they are", options)
    table = Table(report)
    for n in SIZES:
        for share in SHARES:
            for correlation in (None, 0.2, 0.5):
                shares(table, n, share, correlation, options.runs)
        opposed(table, n, options.runs)
        for name in MEANS:
            for correlation in (None, 0.5):
                means(table, n, name, correlation, options.runs)
        unequal(table, n, options.runs)
        for pair in PAIRED:
            paired(table, n, *pair)
        for pair in PAIRED[1:6:2]:
            paired_clusters(table, n, *pair, options.runs)
        for interval in ("mean", "share"):
            cells(table, n, interval, options.runs // 2)
        for kind in KINDS:
            for correlation in (0.0, 0.5, 0.9):
                correlations(table, n, kind, correlation, options.runs)
        for base in (0.1, 0.5):
            for effect in (0.0, 1.0):
                yes_or_no(table, n, base, effect, options.runs // 2)
        bleu(table, n, options.runs // 5)
    table.close()
    return report.write()


class Table:
    """The rows of the report, and the situations below the bar."""

    def __init__(self, report: Report):
        self._report, self._below, self._above, self._without = report, [], [], []

    def add(self, what: str, held: float, width: float, *, note: str = "", possible: Sequence[float] = ()) -> None:
        """held: how often, in per cent. possible: how often any interval could hold; none: as often as it likes."""
        impossible = bool(possible) and not any(LEAST <= each <= MOST for each in possible)
        if impossible:
            nearest = sorted(sorted(possible, key=lambda each: abs(each - 95))[:2])
            note += "; possible: " + " or ".join(f"{each:.1f} %" for each in nearest)
            self._without.append(what)
        elif held < LEAST:
            self._below.append(f"{what} ({held:.1f} %)")
        elif held > MOST:
            self._above.append(what)
        self._report.add(what, held, "%", bar="" if impossible else f"≥ {LEAST}", note=f"width {width:.3f}{note}")

    def close(self) -> None:
        """What the rows come to."""
        below = "; ".join(self._below) or "none"
        self._report.remark(f"Below {LEAST} %, where more can be had ({len(self._below)}): {below}.")
        self._report.remark(
            f"Above {MOST} %: {len(self._above)} situations, of rare outcomes or few units. "
            f"Without a bar, as no interval can hold between {LEAST} and {MOST} %: {len(self._without)}."
        )


def _held(ends: Ends, truth: float) -> float:
    low, high = np.asarray(ends, dtype=float).T
    return float(100 * np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def _width(ends: Ends) -> float:
    low, high = np.asarray(ends, dtype=float).T
    return float(np.nanmean(high - low))


def _beside(name: str, ends: Ends, truth: float) -> str:
    return f"; {name} {_held(ends, truth):.1f} % [{_width(ends):.3f}]"


def _clustered(draw: Draw, random: np.random.Generator, size: tuple[int, int], correlation: float) -> np.ndarray:
    """Runs × units × values, of which two of a unit are the same draw with a chance of the correlation."""
    own, shared = draw(random, (*size, CLUSTER)), draw(random, (*size, 1))
    return np.where(random.random(own.shape) < correlation**0.5, shared, own)


# Shares -------------------------------------------------------------------------------------------


def shares(table: Table, n: int, share: float, correlation: float | None, runs: int) -> None:
    """D8's function, on shares of single and of clustered verdicts."""
    random = np.random.default_rng([n, int(1000 * share), int(10 * (correlation or 0))])
    if correlation is None:
        totals, size = (random.random((runs, n)) < share).astype(float), 1
    else:
        size, spread = CLUSTER, 1 / correlation - 1
        totals = random.binomial(size, random.beta(share * spread, (1 - share) * spread, (runs, n))).astype(float)
    where = f"share of {share:.0%}, n = {n}" + ("" if correlation is None else f", clusters, ICC {correlation}")
    _shares(table, where, totals, size, share, _possible(n, share) if correlation is None else [])


def opposed(table: Table, n: int, runs: int) -> None:
    """D8: units of two right and two wrong verdicts, or nearly so, whose shares hardly differ."""
    random = np.random.default_rng([n, 8])
    totals = 2.0 + random.choice([-1, 0, 1], (runs, n), p=[0.05, 0.9, 0.05])
    _shares(table, f"share of 50%, n = {n}, clusters of two of each", totals, CLUSTER, 0.5, [])


def _shares(table: Table, where: str, totals: np.ndarray, size: int, share: float, possible: Sequence[float]) -> None:
    runs, n = totals.shape
    groups = np.repeat(np.arange(n), size)
    values = (np.arange(size) < totals[..., None]).astype(float).reshape(runs, -1)
    found = [share_interval(row, groups=groups)[1:3] for row in values]
    table.add(where, _held(found, share), _width(found), possible=possible,
              note=_beside("percentile", _percentiles(totals / size), share))  # fmt: skip


def _possible(n: int, share: float) -> list[float]:
    """How often any interval can hold: the chance of a run of outcomes, those for which it holds, in per cent."""
    chances = binom.pmf(np.arange(n + 1), n, share)
    sums = np.concatenate([[0.0], np.cumsum(chances)])
    spans = [(a, b) for a in range(n + 1) for b in range(a + 1, n + 2) if sums[b] - sums[a] > 0.8]
    return [float(100 * (sums[b] - sums[a])) for a, b in spans]


@cache
def _weights(n: int) -> np.ndarray:
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), RESAMPLES).astype(float)


def _percentiles(units: np.ndarray) -> np.ndarray:
    draws = units @ _weights(units.shape[1]).T / units.shape[1]
    return np.asarray(np.quantile(draws, [0.025, 0.975], axis=1).T)


# Means --------------------------------------------------------------------------------------------


def means(table: Table, n: int, name: str, correlation: float | None, runs: int) -> None:
    """D7's function, on values of many kinds."""
    draw, truth, within = MEANS[name]
    random = np.random.default_rng([n, len(name), int(10 * (correlation or 0))])
    values = draw(random, (runs, n, 1)) if correlation is None else _clustered(draw, random, (runs, n), correlation)
    groups = np.repeat(np.arange(n), values.shape[2])
    found = [mean_interval(row, groups=groups, within=within)[1:3] for row in values.reshape(runs, -1)]
    where = f"mean, {name}, n = {n}" + ("" if correlation is None else f", clusters, ICC {correlation}")
    units = values.mean(axis=2)
    half = t.ppf(0.975, n - 1) * units.std(axis=1, ddof=1) / n**0.5
    student = np.column_stack([units.mean(axis=1) - half, units.mean(axis=1) + half])
    note = _beside("percentile", _percentiles(units), truth) + _beside("Student", student, truth)
    table.add(where, _held(found, truth), _width(found), note=note)


def unequal(table: Table, n: int, runs: int) -> None:
    """Clusters of one to nine values, ICC 0.5."""
    random, found = np.random.default_rng([n, 9]), []
    for _ in range(runs):
        groups = np.repeat(np.arange(n), random.integers(1, 10, n))
        shared = random.beta(2, 5, n)[groups]
        values = np.where(random.random(len(groups)) < 0.5**0.5, shared, random.beta(2, 5, len(groups)))
        found.append(mean_interval(values, groups=groups, within=UNIT)[1:3])
    table.add(f"mean, beta, n = {n}, clusters of 1 to 9, ICC 0.5", _held(found, 2 / 7), _width(found))


# Differences of paired verdicts --------------------------------------------------------------------


def paired(table: Table, n: int, gained: float, lost: float) -> None:
    """D3, exactly: over all numbers of gains and losses that can come."""
    truth, held, width, student, whole = gained - lost, 0.0, 0.0, 0.0, 0.0
    gains, losses = np.indices((n + 1, n + 1))
    logs = gammaln(n + 1) - gammaln(gains + 1) - gammaln(losses + 1) - gammaln(np.maximum(n - gains - losses, 0) + 1)
    logs += xlogy(gains, gained) + xlogy(losses, lost) + (n - gains - losses) * np.log(1 - gained - lost)
    chances = np.where(gains + losses <= n, np.exp(logs), 0)
    for up, down in zip(*np.nonzero(chances > 1e-5), strict=True):
        chance = float(chances[up, down])
        low, high = _verdicts(n, int(up), int(down))
        mean, square = (up - down) / n, (up + down) / n
        half = t.ppf(0.975, n - 1) * ((square - mean**2) / (n - 1)) ** 0.5
        held += chance * (low <= truth + 1e-9 and truth - 1e-9 <= high)
        width += chance * (high - low)
        student += chance * (abs(mean - truth) <= half + 1e-9)
        whole += chance
    where = f"paired verdicts, {gained:.0%} gained, {lost:.0%} lost, n = {n}"
    table.add(where, 100 * held / whole, width, note=f"; exact; Student {100 * student / whole:.1f} %")


@cache
def _verdicts(n: int, gains: int, losses: int) -> tuple[float, float]:
    values = [1.0] * gains + [-1.0] * losses + [0.0] * (n - gains - losses)
    return mean_interval(values, within=DIFFERENCE)[1:3]


def paired_clusters(table: Table, n: int, gained: float, lost: float, runs: int) -> None:
    """D3, four pairs a unit."""

    def draw(random: np.random.Generator, size: Any) -> np.ndarray:
        chance = random.random(size)
        return (chance < gained).astype(float) - (chance > 1 - lost)

    values = _clustered(draw, np.random.default_rng([n, int(100 * gained), int(100 * lost)]), (runs, n), 0.3)
    groups = np.repeat(np.arange(n), CLUSTER)
    found = [mean_interval(row, groups=groups, within=DIFFERENCE)[1:3] for row in values.reshape(runs, -1)]
    where = f"paired verdicts, {gained:.0%} gained, {lost:.0%} lost, n = {n}, clusters, ICC 0.3"
    table.add(where, _held(found, gained - lost), _width(found))


# Means of cells' means -----------------------------------------------------------------------------


def cells(table: Table, n: int, interval: Any, runs: int) -> None:
    """Three cells of different means and sizes, of which each unit has some values."""
    random, truth = np.random.default_rng([n, len(interval)]), np.array([0.1, 0.3, 0.8])
    size = (runs, n, 6)
    cell = random.choice(3, size, p=[0.5, 0.3, 0.2])
    ease = random.random((runs, n, 1))  # of a unit, in all its cells
    level = np.where(random.random(size) < 0.5, ease, random.random(size))
    values = (level < truth[cell]).astype(float) if interval == "share" else level ** (1 / truth[cell] - 1)
    frame = _frame(size, cell=cell, value=values)
    found = summarise(frame, "value", "run", average_over="cell", interval=interval)[["low", "high"]].to_numpy()
    table.add(f"mean of three cells' {interval}s, n = {n}, clusters", _held(found, float(truth.mean())), _width(found))


def _frame(size: tuple[int, int, int], **columns: np.ndarray) -> pd.DataFrame:
    """Runs × units × rows, as outcomes."""
    run, unit, _ = np.indices(size)
    return pd.DataFrame({name: each.ravel() for name, each in {"run": run, "unit": unit, **columns}.items()})


# Correlations -------------------------------------------------------------------------------------

KINDS = ("single rows", "clusters", "clusters, ties", "clusters, skewed", "clusters of 1 to 9")


def correlations(table: Table, n: int, kind: str, correlation: float, runs: int) -> None:
    """D10's function, whose interval was that of percentiles."""
    random = np.random.default_rng([n, KINDS.index(kind), int(10 * correlation)])
    found = [spearman_of_clusters(*_rows(random, n, kind, correlation))[1:3] for _ in range(runs)]
    table.add(f"Spearman, ρ = {correlation:g}, n = {n}, {kind}", _held(found, _rho(kind, correlation)), _width(found))


def _rows(random: np.random.Generator, n: int, kind: str, correlation: float) -> tuple[np.ndarray, ...]:
    sizes = np.full(n, 1 if kind == "single rows" else CLUSTER)
    if kind == "clusters of 1 to 9":
        sizes = random.integers(1, 10, n)
    units = np.repeat(np.arange(n), sizes)
    spread = np.linalg.cholesky(np.array([[1, correlation], [correlation, 1]]))
    own, shared = (random.normal(size=(size, 2)) @ spread.T for size in (len(units), n))
    values = shared[units] if kind == "single rows" else (shared[units] + own) / 2**0.5
    if kind == "clusters, ties":
        values = values.round()
    if kind == "clusters, skewed":
        values = np.exp(values)
        values[:, 1] = np.where(values[:, 1] < 1, 0, values[:, 1])
    return values[:, 0], values[:, 1], units


@cache
def _rho(kind: str, correlation: float) -> float:
    if not correlation:
        return 0.0
    x, y, _ = _rows(np.random.default_rng(0), 100_000, kind, correlation)
    return float(spearmanr(x, y).statistic)


def yes_or_no(table: Table, n: int, base: float, effect: float, runs: int) -> None:
    """Rank-biserial correlations; three values a unit."""
    random, size = np.random.default_rng([n, int(10 * base), int(effect)]), (runs, n, 3)
    truth = 2 * float(norm.cdf(effect / 2)) - 1
    yes = random.random(size) < base
    scores = random.normal(size=(runs, n, 1)) + effect * yes + random.normal(size=size)
    found = strengths(_frame(size, score=scores, yes=yes), "score", "yes", "run")[["low", "high"]].dropna().to_numpy()
    what = f"rank-biserial of {base:.0%} yes, effect {effect:g}, n = {n}, clusters"
    table.add(what, _held(found, truth), _width(found))


# Corpus BLEU --------------------------------------------------------------------------------------


def bleu(table: Table, n: int, runs: int) -> None:
    """Of two sentences a unit, drawn from 4,000 units whose BLEU is the truth."""
    sums, truth = _population()
    drawn = sums[np.random.default_rng([n, 7]).integers(len(sums), size=(runs, n))]
    frame = _frame((runs, n, 2)).assign(sums=[*drawn.reshape(runs * n * 2, -1)])
    found = corpus_score(frame, "sums", "bleu", "run")[["low", "high"]].to_numpy()
    table.add(f"corpus BLEU, jackknife, n = {n}, clusters of two sentences", _held(found, truth), _width(found))


@cache
def _population() -> tuple[np.ndarray, float]:
    """The sums of units × sentences, and the corpus BLEU of all; words of a unit are easy or hard together."""
    random = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(200)])
    answers, references = [], []
    for _ in range(4000):
        ease = random.beta(4, 2)
        for _ in range(2):
            reference = random.choice(words, random.integers(6, 25))
            other = np.where(random.random(len(reference)) < ease, reference, random.choice(words, len(reference)))
            references.append(" ".join(reference))
            answers.append(" ".join(other[random.random(len(other)) < 0.95]))
    sums = sentence_sums("bleu", answers, references, "en")
    frame = pd.DataFrame({"unit": 0, "sums": sums})
    return np.array(sums).reshape(4000, 2, -1), float(corpus_score(frame, "sums", "bleu")["value"].iloc[0])


if __name__ == "__main__":
    main()
