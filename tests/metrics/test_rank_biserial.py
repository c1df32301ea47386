"""Rank-biserial correlation and U against SciPy, pingouin and the definition; thresholds and base rates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pingouin
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from nbkit.measure.statistics import adjusted_thresholds, rank_biserial

SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)


@settings(max_examples=40)
@given(SCORES, SCORES)
def test_is_the_definition(first, second):
    pairs = list(product(first, second))
    favourable = sum(a > b for a, b in pairs) / len(pairs)
    unfavourable = sum(a < b for a, b in pairs) / len(pairs)
    found = rank_biserial(first, second)
    assert found.rbc == pytest.approx(favourable - unfavourable)
    ranks = scipy.stats.rankdata([*first, *second])
    n1, n2 = len(first), len(second)
    u1 = ranks[:n1].sum() - n1 * (n1 + 1) / 2
    u2 = ranks[n1:].sum() - n2 * (n2 + 1) / 2
    assert found.u == pytest.approx(min(u1, u2))
    assert (found.n_first, found.n_second) == (n1, n2)
    assert rank_biserial(second, first).rbc == pytest.approx(-found.rbc)
    assert rank_biserial(second, first).p == pytest.approx(found.p)


@pytest.mark.parametrize("ties", [False, True])
def test_is_that_of_pingouin(ties):
    generator = np.random.default_rng(0)
    first, second = generator.normal(0.4, size=60), generator.normal(size=200)
    if ties:
        first, second = first.round(0), second.round(0)
    row = pingouin.mwu(first, second).iloc[0]
    found = rank_biserial(first, second)
    assert (found.rbc, found.p) == (pytest.approx(row["RBC"]), pytest.approx(row["p_val"]))
    assert found.u == min(row["U_val"], 60 * 200 - row["U_val"])


def test_p_by_hand_with_ties():
    """The normal approximation, written out: tie correction Σ(t³ − t), continuity 1/2."""
    first, second = [1, 2, 2, 3, 5, 5], [2, 2, 4, 4, 5, 6, 7, 7, 7]
    n1, n2 = len(first), len(second)
    n = n1 + n2
    _, ties = np.unique([*first, *second], return_counts=True)
    spread = np.sqrt(n1 * n2 / 12 * ((n + 1) - (ties**3 - ties).sum() / (n * (n - 1))))
    found = rank_biserial(first, second)
    z = (n1 * n2 - found.u - n1 * n2 / 2 - 0.5) / spread
    assert found.p == pytest.approx(2 * scipy.stats.norm.sf(z))


def test_edges():
    empty = rank_biserial([], [1.0])
    assert np.isnan(empty.rbc) and np.isnan(empty.p) and empty.n_second == 1
    assert rank_biserial([1.0, 1.0], [1.0])[:3] == (0.0, 1.0, 1.0)
    assert rank_biserial([1.0, float("nan")], [0.0])[3:] == (1, 1)
    assert rank_biserial([1.0], [0.0, 0.0, 0.0]).base_rate == 0.25


def test_large_groups_take_no_table_of_pairs():
    generator = np.random.default_rng(1)
    found = rank_biserial(generator.normal(1, size=60_000), generator.normal(size=60_000))
    assert found.rbc == pytest.approx(2 * scipy.stats.norm.cdf(1 / np.sqrt(2)) - 1, abs=0.01)  # 3.6e9 pairs


@settings(max_examples=40)
@given(st.floats(0.001, 0.5))
def test_thresholds_are_those_of_either_group(base_rate):
    assert adjusted_thresholds(base_rate) == pytest.approx(adjusted_thresholds(1 - base_rate))


def test_thresholds_at_equal_groups():
    assert adjusted_thresholds(0.5)["medium"] == pytest.approx(0.5 / np.sqrt(0.25 + 4))
