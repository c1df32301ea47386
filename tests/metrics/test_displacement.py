"""Carried displacement: what a copier, a repairer and the sandbox's own scrambled references come to."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from nbkit.corpora import load_pairs
from nbkit.measure.displacement import LEAST_MOVED, RANGE, carried_displacement, displacement
from nbkit.perturb import perturb_text

LETTERS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
WORDS = st.lists(st.sampled_from(LETTERS), min_size=2)


@given(st.integers(4, 12), st.randoms(use_true_random=False))
def test_it_is_one_minus_kendalls_tau(n, draws):
    words = [f"w{chr(97 + i)}" for i in range(n)]
    moved = draws.sample(words, n)
    tau = kendalltau(range(n), [moved.index(word) for word in words]).statistic
    shown = displacement(" ".join(words), " ".join(moved), "en")
    assert shown == pytest.approx(1 - tau)


@given(WORDS, st.randoms(use_true_random=False))
def test_a_copier_carries_all_and_a_repairer_nothing(words, draws):
    moved = draws.sample(words, len(words))
    source = " ".join(words), " ".join(moved)
    value = carried_displacement(source, source, "en", "en")
    assume(not math.isnan(value))
    assert value == 1 and RANGE[0] <= value <= RANGE[1]
    assert carried_displacement(source, (source[0], source[0]), "en", "en") == 0


def test_words_that_occur_twice_and_punctuation_do_not_count():
    plain = "The dog and the cat saw, and heard, one old bird."
    assert displacement(plain, plain.replace("The dog", "the Dog"), "en") == 0
    assert math.isnan(displacement("the the the a a cat", "cat the a", "en"))


def test_an_output_that_was_reworded_is_undecided():
    source = "the old dog sleeps here", "here sleeps dog old the"
    assert math.isnan(carried_displacement(source, ("der alte Hund schläft hier", "hier ruht ein Greis"), "en", "de"))
    assert math.isnan(carried_displacement((source[0], source[0]), ("a b c d", "d c b a"), "en", "de"))
    long = " ".join(f"w{chr(97 + i)}" for i in range(20))
    assert displacement(long, long.replace("wa wb", "wb wa"), "en") < LEAST_MOVED


@pytest.mark.parametrize(("target", "within"), [("de", 0.02), ("ru", 0.02), ("ja", 0.1)])
def test_gold_of_the_sandbox_is_faithful(target, within):
    """The reference in the reverse order is faithful to a reversed source; characters keep their order in a word."""
    values = []
    for pair in load_pairs("sandbox", "en", target, n=40):
        orders = [perturb_text(text, "reversed") for text in (pair.source, pair.target)]
        if None not in orders:
            both = zip((pair.source, pair.target), orders, strict=True)
            texts = [(text.joined, text.reorder(order)) for text, order in both]
            values.append(carried_displacement(*texts, "en", target))
    known = [value for value in values if not math.isnan(value)]
    assert len(known) >= 20 and sum(known) / len(known) == pytest.approx(1, abs=within)


def test_words_in_random_order_come_to_chance():
    draws = random.Random(3)
    words = [f"w{chr(97 + i)}" for i in range(12)]
    source = " ".join(words), " ".join(reversed(words))
    values = [
        carried_displacement(source, (source[0], " ".join(draws.sample(words, 12))), "en", "de") for _ in range(400)
    ]
    assert sum(values) / len(values) == pytest.approx(0.5, abs=0.03)
