"""The streamed bootstrap: the same whatever the parts, and with the same intervals as its values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.measure.statistics import (
    StreamedBootstrap,
    mean_interval,
    mean_of_draws,
    ratio,
    share_interval,
    share_of_draws,
)

ROWS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 2), st.one_of(st.floats(0, 1), st.just(float("nan")))), max_size=30
)


def streamed(rows: list[tuple[int, int, float]], parts: list[int], resamples: int = 20) -> StreamedBootstrap:
    stream = StreamedBootstrap(3, resamples=resamples)
    for start, stop in zip([0, *parts], [*parts, len(rows)], strict=True):
        units, quantities, values = zip(*rows[start:stop], strict=True) if rows[start:stop] else ((), (), ())
        stream.add(units, quantities, values)
    return stream


@given(ROWS, st.lists(st.integers(0, 30), max_size=3), st.randoms(use_true_random=False))
def test_parts_and_order_do_not_matter(rows, cuts, random) -> None:
    whole = streamed(rows, [])
    parts = streamed(random.sample(rows, len(rows)), sorted(min(cut, len(rows)) for cut in cuts))
    for name in ("totals", "counts", "total_draws", "count_draws"):
        assert np.allclose(getattr(whole, name), getattr(parts, name))


def test_means_and_intervals_are_those_of_their_units() -> None:
    rng = np.random.default_rng(0)
    values, units = rng.beta(2, 5, size=900), rng.integers(300, size=900)
    stream = StreamedBootstrap(1, resamples=4000)
    stream.add(units, np.zeros(900, dtype=int), values)
    expected = mean_interval(values, groups=units)
    assert stream.totals / stream.counts == pytest.approx([expected.mean])
    found = mean_of_draws(expected.mean, ratio(stream.total_draws, stream.count_draws)[0], units=expected.n)
    width = expected.high - expected.low
    assert found == pytest.approx(expected[1:3], abs=0.07 * width)


def test_shares_are_those_of_their_units_and_never_certain() -> None:
    """Flips in single sentences, in clusters, and in none at all, which was [0.000, 0.000]."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(150), 4)
    outcomes = [rng.random(600) < 0.1, np.repeat(rng.random(150) < 0.1, 4), np.zeros(600)]
    stream = StreamedBootstrap(3)
    for quantity, values in enumerate(outcomes):
        stream.add(units, np.full(600, quantity), values)
    draws, shares = ratio(stream.total_draws, stream.count_draws), stream.totals / stream.counts
    for values, share, own in zip(outcomes, shares, draws, strict=True):
        expected = share_interval(values, groups=units)
        found = share_of_draws(share, own, units=150, values=600)
        assert found == pytest.approx(expected[1:3], abs=0.07 * (expected.high - expected.low))
        assert found[0] < found[1]


def test_units_of_one_number_are_drawn_together_in_every_stream() -> None:
    """What two systems score on the same pairs keeps its difference in every resample."""
    values = np.random.default_rng(0).random(100)
    draws = []
    for shift in (0.0, 0.1):
        stream = StreamedBootstrap(1)
        stream.add(np.arange(100), np.zeros(100, dtype=int), values + shift)
        draws.append(ratio(stream.total_draws, stream.count_draws)[0])
    assert draws[1] - draws[0] == pytest.approx(0.1)


def test_seed_is_part_of_the_address_and_nothing_is_nothing() -> None:
    one, other = (StreamedBootstrap(1, seed=seed) for seed in (0, 1))
    for stream in (one, other):
        stream.add([1, 2], [0, 0], [0.5, float("nan")])
    assert not np.array_equal(one.count_draws, other.count_draws)
    assert one.counts.tolist() == [1]
    assert np.isnan(ratio(StreamedBootstrap(2).totals, StreamedBootstrap(2).counts)).all()
    with pytest.raises(NbkitError, match="at least 1 resample"):
        StreamedBootstrap(1, resamples=0)
