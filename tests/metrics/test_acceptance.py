"""Permutation acceptance: the definitions of §4 on matrices made by hand, their identities, and the floors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nbkit.errors import NbkitError
from nbkit.measure.acceptance import (
    CORRECT,
    FLIPPED,
    NEITHER,
    RANDOM,
    Acceptance,
    acceptance,
    acceptance_by,
    acceptance_rates,
    accepted_entropy,
    by_group,
    entropy,
    example_groups,
    floors,
    omega,
    omega_curve,
    p_correct_as_coded,
)

#: Four originals right, four wrong; all, two, one and none of three permutations accepted of each.
ACCEPTED = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0], [0, 0, 0]] * 2, dtype=bool)
ORIGINALS = np.array([True] * 4 + [False] * 4)


def means(result: Acceptance) -> dict[str, float]:
    return {name: interval.mean for name, interval in result._asdict().items()}


@st.composite
def judged(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 8)))
    return draw(arrays(np.bool_, shape)), draw(arrays(np.bool_, shape[0]))


def test_the_definitions_on_a_matrix_made_by_hand() -> None:
    result = acceptance(ACCEPTED, ORIGINALS)
    assert result.accuracy.mean == 4 / 8
    assert result.omega_max.mean == 6 / 8
    assert result.omega_rand.mean == 4 / 8  # a third itself is not more than a third
    assert result.p_correct.mean == pytest.approx((1 + 2 / 3 + 1 / 3 + 0) / 4)  # those never accepted count too
    assert result.p_flipped.mean == pytest.approx((1 + 2 / 3 + 1 / 3) / 3)  # here they are not flipped
    assert [interval.n for interval in result] == [8, 8, 4, 3, 8]
    assert example_groups(ACCEPTED, ORIGINALS).tolist() == [CORRECT] * 4 + [FLIPPED] * 3 + [NEITHER]


def test_which_of_p_correct_and_p_flipped_is_which() -> None:
    """Table 2's caption swaps them; by equation 3, 𝒫^c is over the originals that were right."""
    accepted = np.array([[True] * 10, [True] + [False] * 9])
    assert means(acceptance(accepted, np.array([True, False]))) | {"omega_max": 1.0} == {
        "accuracy": 0.5,
        "omega_max": 1.0,
        "p_correct": 1.0,
        "p_flipped": 0.1,
        "omega_rand": 0.5,
    }


@settings(max_examples=60)
@given(judged())
def test_what_the_definitions_imply(case) -> None:
    accepted, correct = case
    n, rates = accepted.shape[1], accepted.mean(axis=1)
    result = acceptance(accepted, correct)
    ladder = [omega(accepted, x) for x in np.linspace(0, 1, 4 * n + 1)]
    assert ladder == sorted(ladder, reverse=True)  # Ω is non-increasing in x
    assert ladder[-1] == 0  # strictly more than all: never
    assert result.omega_max.mean == omega(accepted) == np.mean([any(row) for row in accepted.tolist()])
    assert result.omega_rand.mean == omega(accepted, RANDOM)
    assert result.omega_rand.mean == np.mean([3 * sum(row) > n for row in accepted.tolist()])  # without rounding
    # The mean of M_cor is the part of D^c and that of D^f.
    parts = [(i.mean * i.n if i.n else 0.0) for i in (result.p_correct, result.p_flipped)]
    assert sum(parts) == pytest.approx(rates.sum())
    assert result.p_correct.n == correct.sum()
    # Every example is accepted somewhere, right and never accepted, or in neither.
    assert result.p_flipped.n == (rates[~correct] > 0).sum()
    for interval in result:
        assert math.isnan(interval.mean) == (interval.n == 0)
        if interval.n:
            assert 0 <= interval.low <= interval.high <= 1


@settings(max_examples=30)
@given(judged(), st.randoms())
def test_no_value_depends_on_the_order_of_examples_or_permutations(case, random) -> None:
    accepted, correct = case
    examples, columns = list(range(accepted.shape[0])), list(range(accepted.shape[1]))
    random.shuffle(examples)
    random.shuffle(columns)
    shuffled = acceptance(accepted[examples][:, columns], correct[examples])
    for one, other in zip(acceptance(accepted, correct), shuffled, strict=True):
        assert one.n == other.n
        assert one.mean == pytest.approx(other.mean, nan_ok=True)


def test_empty_sets_have_no_mean() -> None:
    right = acceptance(np.ones((3, 2), dtype=bool), np.ones(3, dtype=bool))
    assert (right.p_correct.mean, right.p_correct.high, right.p_flipped.n) == (1.0, 1.0, 0)
    assert right.p_correct.low < 0.5, "of three examples"
    assert all(map(math.isnan, right.p_flipped[:3]))
    nothing = acceptance(np.zeros((0, 5), dtype=bool), np.zeros(0, dtype=bool))
    assert all(interval.n == 0 and math.isnan(interval.mean) for interval in nothing)
    assert math.isnan(omega(np.zeros((0, 5), dtype=bool)))


def test_intervals_are_as_wide_as_the_binomial_s() -> None:
    random = np.random.default_rng(0)
    accepted, correct = random.random((900, 20)) < 0.03, random.random(900) < 0.7
    result = acceptance(accepted, correct)
    for interval in (result.accuracy, result.omega_max):
        expected = 2 * 1.96 * math.sqrt(interval.mean * (1 - interval.mean) / 900)
        assert interval.high - interval.low == pytest.approx(expected, rel=0.1)
    narrow = acceptance(accepted, correct, level=0.5).omega_max
    assert result.omega_max.low < narrow.low < narrow.high < result.omega_max.high


@pytest.mark.parametrize(
    ("accepted", "correct", "problem"),
    [
        (np.zeros((2, 3)), np.zeros(2, dtype=bool), r"boolean matrix.*not float64 of shape \(2, 3\)"),
        (np.zeros(2, dtype=bool), np.zeros(2, dtype=bool), r"boolean matrix.*shape \(2,\)"),
        (np.zeros((2, 0), dtype=bool), np.zeros(2, dtype=bool), "at least one"),
        (np.zeros((2, 3), dtype=bool), np.zeros(3, dtype=bool), r"each of 2 originals.*shape \(3,\)"),
        (np.zeros((2, 3), dtype=bool), np.array([0, 1]), "each of 2 originals.*int64"),
    ],
)
def test_other_input_is_refused(accepted, correct, problem) -> None:
    with pytest.raises(NbkitError, match=problem):
        acceptance(accepted, correct)


def test_the_curve_has_every_threshold_at_which_omega_changes() -> None:
    curve = omega_curve(ACCEPTED)
    assert curve["threshold"].tolist() == [0, 1 / 3, 2 / 3]
    assert curve["omega"].tolist() == [6 / 8, 4 / 8, 2 / 8]  # the last: all permutations accepted
    assert (curve["low"] <= curve["omega"]).all() and (curve["omega"] <= curve["high"]).all()
    assert curve["n"].tolist() == [8] * 3
    own = omega_curve(ACCEPTED, [0.0, 0.34, 1.0])
    assert own["omega"].tolist() == [6 / 8, 4 / 8, 0.0]
    first = acceptance(ACCEPTED, ORIGINALS).omega_max
    assert (curve["low"][0], curve["high"][0]) == (first.low, first.high)


def test_entropy_is_in_nats_and_wants_probabilities() -> None:
    uniform = np.full((2, 4, 3), 1 / 3)
    assert entropy(uniform) == pytest.approx(np.full((2, 4), math.log(3)))
    random = np.random.default_rng(0).dirichlet((1, 1, 1), size=50)
    assert entropy(random) == pytest.approx([-sum(p * math.log(p) for p in row) for row in random])
    assert entropy(np.array([1.0, 0.0, 0.0])) == 0
    assert entropy(np.array([[0.999, 0.0015, 0.0005]], dtype=np.float16)).shape == (1,)  # half precision sums to 1.0005
    for wrong in (np.array([2.0, -1.0, 0.0]), np.array([1.0, 2.0, 3.0]), np.array([np.nan, 0.5, 0.5]), np.array(1.0)):
        with pytest.raises(NbkitError, match="probabilities that sum to 1"):
            entropy(wrong)


def test_entropy_counts_on_accepted_permutations_only() -> None:
    entropies = np.array([[0.1, 0.3, 1.0], [0.5, 9.0, 9.0], [9.0, 9.0, 9.0]])
    accepted = np.array([[True, True, False], [True, False, False], [False] * 3])
    averaged = accepted_entropy(entropies, accepted)
    assert averaged[:2] == pytest.approx([0.2, 0.5])
    assert math.isnan(averaged[2])
    split = by_group(averaged, example_groups(accepted, np.array([True, False, True])))
    assert split[CORRECT][0] == pytest.approx(0.2)  # the never accepted one has no entropy
    assert (split[FLIPPED].mean, split[FLIPPED].n) == (0.5, 1)
    with pytest.raises(NbkitError, match=r"entropies must have the matrix's shape \(3, 3\), not \(3, 2\)"):
        accepted_entropy(entropies[:, :2], accepted)


def test_acceptance_by_a_property_of_permutations() -> None:
    bleu = np.array([[0.0, 0.1, 0.5], [0.2, np.nan, 1.0]])
    accepted = np.array([[True, False, True], [True, True, False]])
    table = acceptance_by(bleu, accepted, [0, 0.2, 0.5, 0.9, 1.0])
    assert table["permutations"].tolist() == [2, 1, 1, 1]  # a bin holds its lower edge; the last both
    assert table["examples"].tolist() == [1, 1, 1, 1]
    assert table["rate"].tolist() == [0.5, 1.0, 1.0, 0.0]
    empty = acceptance_by(bleu, accepted, [2, 3])
    assert empty["permutations"].tolist() == [0]
    assert empty[["rate", "low", "high"]].isna().all(axis=None)
    with pytest.raises(NbkitError, match="edges must be two or more ascending"):
        acceptance_by(bleu, accepted, [1, 0])


def test_acceptance_by_a_property_of_examples_resamples_examples() -> None:
    """All permutations of an example alike: the interval is that of the examples, not of a hundred times as many."""
    correct = np.random.default_rng(1).random(400) < 0.5
    accepted = np.repeat(correct[:, None], 100, axis=1)
    [row] = acceptance_by(np.full((400, 1), 9.0), accepted, [0, 10]).to_dict("records")
    assert row["rate"] == correct.mean()
    assert row["permutations"] == 40_000 and row["examples"] == 400
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.12)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(("entailment", "neutral", "contradiction")), min_size=1, max_size=30), st.data())
def test_the_floors_are_what_such_predictors_would_get(gold, data) -> None:
    labels = np.array(gold)
    correct = data.draw(arrays(np.bool_, len(gold)))
    n = data.draw(st.integers(1, 12))
    table = floors(gold, correct, n)
    most = max(set(gold), key=gold.count)
    for name, right in (("constant", labels == most), ("bag of words", correct)):
        measured = means(acceptance(np.repeat(right[:, None], n, axis=1), right))
        if not right.any():
            measured["p_correct"] = 1.0  # of none: still, whatever is right stays right
        assert table.loc[name].to_dict() == pytest.approx(measured, nan_ok=True)


@pytest.mark.parametrize("n", [1, 3, 10, 99, 100])
def test_the_floor_of_chance_is_what_chance_gets(n) -> None:
    random = np.random.default_rng(n)
    accepted = random.integers(3, size=(20_000, n)) == 0
    correct = random.integers(3, size=20_000) == 0
    measured = means(acceptance(accepted, correct))
    expected = floors(["neutral"] * 20_000, correct, n).loc["chance"].to_dict()
    assert expected == pytest.approx(measured, abs=0.015)


def test_sick_s_constant_floor_is_its_share_of_neutral_pairs() -> None:
    gold = ["neutral"] * 57 + ["entailment"] * 29 + ["contradiction"] * 14
    table = floors(gold, np.ones(100, dtype=bool), 100)
    assert table.loc["constant", ["accuracy", "omega_max", "omega_rand"]].tolist() == [0.57] * 3
    assert list(table.columns) == list(Acceptance._fields)
    with pytest.raises(NbkitError, match="2 gold labels, 3 originals"):
        floors(["neutral"] * 2, np.ones(3, dtype=bool), 100)


def test_p_correct_as_coded_leaves_out_pairs_without_an_accepted_permutation() -> None:
    """The research code's condition ``(pred_mode == "orig_correct") & exists``, written out; equation 3 has none."""
    drawn = np.random.default_rng(0)
    accepted = drawn.random((400, 20)) < drawn.random((400, 1)) * (drawn.random((400, 1)) < 0.7)
    correct = drawn.random(400) < 0.6
    means = [row.mean() for row, right in zip(accepted, correct, strict=True) if right and row.any()]
    coded, defined = p_correct_as_coded(accepted, correct), acceptance(accepted, correct).p_correct
    assert coded.mean == pytest.approx(np.mean(means)) and coded.n == len(means) < defined.n == correct.sum()
    assert coded.low < coded.mean < coded.high and coded.mean > defined.mean
    nothing = p_correct_as_coded(np.zeros((3, 2), dtype=bool), np.ones(3, dtype=bool))
    assert np.isnan(nothing.mean) and nothing.n == 0


def test_rates_are_exact_shares() -> None:
    assert acceptance_rates(ACCEPTED).tolist() == [1, 2 / 3, 1 / 3, 0] * 2
