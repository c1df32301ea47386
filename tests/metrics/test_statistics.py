"""Intervals, correlations and tests against scipy and brute force."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import strategies as st

from nbkit.measure.statistics import (
    paired_tests,
    spearman_influence,
    spearman_of_clusters,
)

VALUES = st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=30)


def test_spearman_of_clusters_of_one_row_is_as_wide_as_fishers_interval() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.round(x + rng.normal(size=300), 1)  # with ties
    ours, rho = spearman_of_clusters(x, y, range(300)), scipy.stats.spearmanr(x, y).statistic
    half = 1.96 * ((1 + rho**2 / 2) / (300 - 3)) ** 0.5
    assert ours.rho == pytest.approx(rho) and ours.n == 300
    width = np.tanh(np.arctanh(rho) + half) - np.tanh(np.arctanh(rho) - half)
    assert ours.high - ours.low == pytest.approx(width, rel=0.15)


@pytest.mark.parametrize("ties", [False, True])
def test_a_correlation_of_few_rows_is_held_and_never_certain(ties: bool) -> None:
    """Percentiles of 5 units held ρ in 72 of 100 samples; ±1 was certain."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=n).T
        return (np.round(x), np.round(y)) if ties else (x, y)

    truth = scipy.stats.spearmanr(*draw(200_000)).statistic
    few = [spearman_of_clusters(*draw(5), range(5)) for _ in range(200)]
    known = [each for each in few if not math.isnan(each.rho)]
    assert np.mean([each.low <= truth <= each.high for each in known]) > 0.93
    assert all(each.low < each.high for each in known)


def test_copies_of_a_row_say_nothing_new_about_a_correlation() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    y = 0.3 * x + rng.normal(size=100)
    alone = spearman_of_clusters(x, y, np.arange(100))
    copies = spearman_of_clusters(np.tile(x, 16), np.tile(y, 16), np.tile(np.arange(100), 16))
    assert copies == pytest.approx(alone._replace(n=1600))


def test_the_influence_of_a_row_is_what_one_more_of_it_changes() -> None:
    """Against scipy, on rows written down a thousand times and one of them once more."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(5, size=9), rng.integers(7, size=9)
    rho, influence = spearman_influence(x, y)
    assert rho == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    for row in range(9):
        weights = np.full(9, 1000) + (np.arange(9) == row)
        more = scipy.stats.spearmanr(np.repeat(x, weights), np.repeat(y, weights)).statistic
        assert 1000 * (more - rho) == pytest.approx(influence[row], abs=2e-3)


@pytest.mark.parametrize(("n", "correlation"), [(10, 0.0), (20, 0.5), (40, 0.0), (40, 0.9)])
def test_a_correlation_of_clusters_is_held(n: int, correlation: float) -> None:
    """Percentiles of resamples held ρ = 0 of 40 clusters in 91.7 of 100 samples."""
    rng = np.random.default_rng(n)
    covariance = [[1, correlation], [correlation, 1]]
    units = np.repeat(np.arange(n), 4)
    truth = 6 / np.pi * np.arcsin(correlation / 2)  # of normal values
    held = []
    for _ in range(800):
        shared = rng.multivariate_normal([0, 0], covariance, n)[units]
        x, y = (shared + rng.multivariate_normal([0, 0], covariance, 4 * n)).T
        found = spearman_of_clusters(x, y, units)
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) > 0.93


def test_the_p_of_clusters_is_right_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(40), 5)
    ps = []
    for _ in range(1000):
        quality = np.repeat(rng.normal(size=40), 5)
        other = np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200)
        ps.append(spearman_of_clusters(quality, other, units).p)
    assert 0.03 < np.mean(np.array(ps) < 0.05) < 0.065


def test_spearman_of_clusters_where_it_is_not_defined() -> None:
    assert math.isnan(spearman_of_clusters([1, 1, 1, 1], [1, 2, 3, 4], range(4)).rho)
    single = spearman_of_clusters([1, 2, 3, 4], [1, 2, 4, 3], [7] * 4)
    assert single.rho == pytest.approx(0.8) and math.isnan(single.low) and math.isnan(single.p)


@pytest.mark.parametrize(("y", "end"), [([1, 2, 3, 4, 9], 1.0), ([9, 4, 3, 2, 1], -1.0)])
def test_spearman_of_a_perfect_order_is_not_certain(y: list[int], end: float) -> None:
    """Five rows in perfect order were 1.000 [1.000, 1.000]."""
    found = spearman_of_clusters([1, 2, 3, 4, 5], y, range(5))
    assert end in (found.low, found.high) and found.rho == pytest.approx(end) and found.low < 0.9 * found.high


@pytest.mark.parametrize(
    ("x", "y", "n"),
    [([], [], 0), ([1, 2, 3], [1, 2, 3], 3), ([1, 1, 1, 1], [1, 2, 3, 4], 4), ([1, 2, 3, 4], [0] * 4, 4)],
)
def test_spearman_where_it_is_not_defined(x: list[float], y: list[float], n: int) -> None:
    result = spearman_of_clusters(x, y, range(len(x)))
    assert result.n == n
    assert all(math.isnan(value) for value in result[:4])


def tidy(**systems: Sequence[float] | np.ndarray) -> pd.DataFrame:
    rows = [
        {"model": name, "pair": i, "beta": value} for name, values in systems.items() for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_paired_tests_agree_with_scipy_and_holm() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(40)
    scores = {"x": base, "y": base + rng.normal(0.05, 0.1, 40), "z": base + rng.normal(0, 0.1, 40)}
    tests = paired_tests(tidy(**scores), value="beta").set_index(["a", "b"])
    assert list(tests.index) == [("x", "y"), ("x", "z"), ("y", "z")]
    expected = []
    for a, b in tests.index:
        result = scipy.stats.wilcoxon(scores[a], scores[b], correction=True)
        row = tests.loc[(a, b)]
        assert row["p"] == pytest.approx(result.pvalue)
        assert row["w"] == pytest.approx(result.statistic)
        assert row["difference"] == pytest.approx(np.mean(scores[a] - scores[b]))
        ranks = scipy.stats.rankdata(abs(scores[a] - scores[b]))
        assert row["rank_biserial"] == pytest.approx((np.sign(scores[a] - scores[b]) * ranks).sum() / ranks.sum())
        assert np.sign(row["hedges_g"]) == np.sign(row["difference"])
        expected.append(result.pvalue)
    ordered = sorted(expected)
    holm = np.maximum.accumulate([min(1.0, (3 - i) * p) for i, p in enumerate(ordered)])
    assert sorted(tests["p_holm"]) == pytest.approx(list(holm))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9, 13, 14])
def test_p_of_few_differences_is_scipys_with_ties_and_zeros(n: int) -> None:
    """For n = 13 without ties, as those take SciPy a second."""
    rng = np.random.default_rng(n)
    for _ in range(4):
        scores = (
            {"x": rng.integers(-2, 3, n) / 4, "y": np.zeros(n)}
            if n != 13
            else dict(zip("xy", rng.random((2, n)), strict=True))
        )
        if (scores["x"] != scores["y"]).any():
            result = scipy.stats.wilcoxon(scores["x"], scores["y"], correction=True)
            (row,) = paired_tests(tidy(**scores), value="beta").to_dict("records")
            assert (row["w"], row["p"]) == (result.statistic, result.pvalue)


def test_paired_tests_average_a_units_values_and_use_common_units_only() -> None:
    frame = pd.concat([tidy(x=[1, 2, 3, 4], y=[1, 2, 4, 8]), tidy(x=[3, 4, 5, 6])])
    frame = pd.concat([frame, pd.DataFrame([{"model": "x", "pair": 99, "beta": 100.0}])])
    frame.loc[(frame["model"] == "y") & (frame["pair"] == 0), "beta"] = np.nan
    [row] = paired_tests(frame, value="beta").to_dict("records")
    assert (row["n"], row["mean_a"], row["mean_b"]) == (3, 4.0, pytest.approx(14 / 3))


def test_paired_tests_by_group_are_corrected_together() -> None:
    rng = np.random.default_rng(1)
    parts = []
    for lang in ("de", "fr"):
        x = rng.random(30)
        parts.append(tidy(x=x, y=x + rng.normal(0.03, 0.05, 30)).assign(lang=lang))
    frame = pd.concat(parts)
    tests = paired_tests(frame, value="beta", by=["lang"])
    assert tests[["lang", "a", "b"]].to_numpy().tolist() == [["de", "x", "y"], ["fr", "x", "y"]]
    assert (tests["p_holm"] >= tests["p"]).all()
    assert tests["p_holm"].min() == pytest.approx(min(1, 2 * tests["p"].min()))
    alone = paired_tests(parts[0], value="beta").iloc[0]
    assert tests.iloc[0]["p"] == pytest.approx(alone["p"])
    shuffled = paired_tests(frame.sample(frac=1, random_state=0), value="beta", by=["lang"])
    pd.testing.assert_frame_equal(tests, shuffled)


def test_paired_tests_of_equal_and_of_unrelated_systems() -> None:
    [same] = paired_tests(tidy(x=[0.1, 0.2, 0.3], y=[0.1, 0.2, 0.3]), value="beta").to_dict("records")
    assert (same["p"], same["p_holm"], same["rank_biserial"], same["hedges_g"], same["difference"]) == (1, 1, 0, 0, 0)
    apart = pd.concat([tidy(x=[1, 2]), tidy(y=[1, 2]).assign(pair=[7, 8])])
    [none] = paired_tests(apart, value="beta").to_dict("records")
    assert none["n"] == 0
    assert math.isnan(none["p"]) and math.isnan(none["p_holm"]) and math.isnan(none["hedges_g"])
    [constant] = paired_tests(tidy(x=[1, 1, 1], y=[0, 0, 0]), value="beta").to_dict("records")
    assert constant["rank_biserial"] == 1
    assert math.isnan(constant["hedges_g"])
    [single] = paired_tests(tidy(x=[1.0], y=[0.5]), value="beta").to_dict("records")
    assert (single["n"], single["p"], single["rank_biserial"]) == (1, 1.0, 1.0)
    assert paired_tests(tidy(x=[1, 2]), value="beta").empty
