"""What holds for every perturbation of any sentence, and how the random ones are distributed."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from nbkit.perturb import NAMES, PERTURBATIONS, Draws, View, perturb, perturb_all, perturb_text
from nbkit.text.sentences import Sentence, Text, base_noun_phrases
from tests.perturb.annotated import annotated
from tests.strategies import sentences, texts

RANDOM = [name for name in NAMES if PERTURBATIONS.get(name).random]
UNITS = st.sampled_from(("phrase", "token"))


def read(sentence: Sentence, order: np.ndarray | None) -> tuple[str, ...] | None:
    return None if order is None else tuple(sentence.tokens[index] for index in order)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(sentence=sentences(), seed=st.integers(0, 3), draw=st.integers(0, 3), unit=UNITS)
def test_an_order_is_a_permutation_that_reads_differently_and_ends_as_before(name, sentence, seed, draw, unit) -> None:
    order = perturb(sentence, name, seed=seed, draw=draw, unit=unit)
    if order is None:
        return
    assert order.dtype == np.intp
    assert sorted(order.tolist()) == list(range(len(sentence)))
    assert read(sentence, order) != sentence.tokens
    for index in reversed(range(len(sentence))):
        if sentence.upos[index] != "PUNCT":
            break
        assert order[index] == index


@settings(max_examples=40, deadline=None)
@given(text=texts(), seed=st.integers(0, 3), draw=st.integers(0, 3), unit=UNITS, names=st.permutations(NAMES))
def test_orders_do_not_depend_on_what_else_is_asked(text, seed, draw, unit, names) -> None:
    together = perturb_all(text, names, seed=seed, draw=draw, unit=unit)
    assert list(together) == names
    for name in NAMES:
        alone = perturb_text(text, name, seed=seed, draw=draw, unit=unit)
        one_by_one = [perturb(sentence, name, seed=seed, draw=draw, unit=unit) for sentence in text.sentences]
        assert (alone is None) == (together[name] is None)
        if alone is None:
            assert len(text) < 4 or all(order is None for order in one_by_one)
        else:
            for first, second, third in zip(alone, together[name], one_by_one, strict=True):
                np.testing.assert_array_equal(first, second)
                np.testing.assert_array_equal(first, third)


@settings(deadline=None)
@given(sentence=sentences(), unit=UNITS)
def test_only_what_the_definition_names_moves(sentence, unit) -> None:
    """The tokens that keep their place in every draw: those of other word classes, or of the other half."""
    upos, view = sentence.upos, View(sentence)
    verbs = {i for i in range(len(sentence)) if upos[i] in ("VERB", "AUX")}
    functional = {i for i in range(len(sentence)) if upos[i] in ("ADP", "DET", "CCONJ", "SCONJ")}
    middle = (view.length + 1) // 2
    movable = {
        "verb_swaps": verbs,
        "adverb_verb_swap": verbs | {i for i in range(len(sentence)) if upos[i] == "ADV"},
        "noun_adj_swap": {i for i in range(len(sentence)) if upos[i] in ("NOUN", "PROPN", "ADJ")},
        "functional_shuffle": functional,
        "shuffle_first_half": set(range(middle)),
        "shuffle_last_half": set(range(middle, view.length)),
    }
    for name, places in movable.items():
        order = perturb(sentence, name, unit=unit)
        if order is not None:
            assert {i for i in range(len(sentence)) if order[i] != i} <= places
            if name == "functional_shuffle":
                assert {i for i in range(len(sentence)) if order[i] != i} == functional


@settings(deadline=None)
@given(sentence=sentences())
def test_swapped_noun_phrases_stay_in_one_piece_and_the_rest_in_order(sentence) -> None:
    phrases = base_noun_phrases(sentence)
    inside = {i for start, end in phrases for i in range(start, end)}
    verbs = {i for i in range(len(sentence)) if sentence.upos[i] in ("VERB", "AUX")} - inside
    for name, others in (("noun_swaps", set()), ("noun_verb_swap", verbs), ("noun_verb_mismatched", verbs)):
        order = perturb(sentence, name)
        if order is None:
            continue
        place = {token: position for position, token in enumerate(order.tolist())}
        for start, end in phrases:
            assert [place[i] - place[start] for i in range(start, end)] == list(range(end - start))
        still = [i for i in order.tolist() if i not in inside | others]
        assert still == sorted(still)


@settings(deadline=None)
@given(sentence=sentences())
def test_closest_and_farthest_are_those_of_a_plain_search(sentence) -> None:
    """An independent reading of the definition: measure every distance, left to right, the left one on a tie."""
    tags = sentence.upos
    verbs = [i for i, tag in enumerate(tags) if tag in ("VERB", "AUX")]
    nouns = [i for i, tag in enumerate(tags) if tag in ("NOUN", "PROPN", "PRON")]
    for name, sign in (("noun_verb_swap", 1), ("noun_verb_mismatched", -1)):
        expected, free = list(range(len(sentence))), list(verbs)
        for noun in nouns:
            if free:
                verb = min(free, key=lambda place, noun=noun: (sign * abs(place - noun), place))
                free.remove(verb)
                expected[noun], expected[verb] = verb, noun
        words = tuple(sentence.tokens[i] for i in expected)
        assert read(sentence, perturb(sentence, name, unit="token")) == (None if words == sentence.tokens else words)


@settings(deadline=None)
@given(sentence=sentences(max_words=8))
def test_trees_are_walked_as_a_plain_recursion_walks_them(sentence) -> None:
    left = [[c for c in sentence.children[i] if c < i] for i in range(len(sentence))]
    right = [[c for c in sentence.children[i] if c > i] for i in range(len(sentence))]

    def walk(node, parts):
        return [token for part in parts(node) for token in ([part] if part == node else walk(part, parts))]

    def plain(node):
        return [*left[node], node, *right[node]]

    expected = {
        "tree_mirror_pre": walk(sentence.root, lambda node: [node, *right[node], *left[node]]),
        "tree_mirror_post": walk(sentence.root, lambda node: [*right[node], *left[node], node]),
        "tree_mirror_in": walk(sentence.root, lambda node: [*right[node], node, *left[node]]),
        "rotate_around_root": [
            *(token for child in right[sentence.root] for token in walk(child, plain)),
            sentence.root,
            *(token for child in left[sentence.root] for token in walk(child, plain)),
        ],
    }
    end = View(sentence).length
    for name, order in expected.items():
        order = [i for i in order if i < end] + list(range(end, len(sentence)))
        words = tuple(sentence.tokens[i] for i in order)
        assert read(sentence, perturb(sentence, name)) == (None if words == sentence.tokens else words)


@settings(max_examples=200, deadline=None)
@given(sentence=sentences(max_words=6, words=("ha", "ho")), name=st.sampled_from(RANDOM), unit=UNITS)
def test_none_means_that_no_draw_would_show(sentence, name, unit) -> None:
    """Checked against all permutations of what the perturbation moves, in sentences of two words only."""
    view = View(sentence, unit)
    blocks = {
        "noun_swaps": view.nominals,
        "verb_swaps": [(i, i + 1) for i in view.verbs],
        "functional_shuffle": [(i, i + 1) for i in view.classes["function word"]],
        "word_shuffle": [(i, i + 1) for i in range(view.length)],
        "shuffle_first_half": [(i, i + 1) for i in range((view.length + 1) // 2)],
        "shuffle_last_half": [(i, i + 1) for i in range((view.length + 1) // 2, view.length)],
    }[name]
    readings = set()
    for permutation in permutations(range(len(blocks))):
        if name == "functional_shuffle" and any(i == j for i, j in enumerate(permutation)):
            continue
        words, done = [], 0
        for (start, end), index in zip(blocks, permutation, strict=True):
            words += view.tokens[done:start] + view.tokens[slice(*blocks[index])]
            done = end
        readings.add((*words, *view.tokens[done:]))
    readings.discard(view.tokens)
    drawn = {read(sentence, perturb(sentence, name, draw=draw, unit=unit)) for draw in range(3)}
    if readings:
        assert drawn <= {(*words, *sentence.tokens[view.length :]) for words in readings}
    else:
        assert drawn == {None}


TOM = annotated(
    "Tom/PROPN/2/nsubj said/VERB/0/root he/PRON/6/nsubj could/AUX/6/aux n't/PART/6/advmod find/VERB/2/ccomp "
    "a/DET/9/det decent/ADJ/9/amod place/NOUN/6/obj to/PART/11/mark live/VERB/9/acl in/ADP/14/case the/DET/14/det "
    "town/NOUN/11/obl and/CCONJ/17/cc of/ADP/17/case peace/NOUN/14/conj ./PUNCT/2/punct"
)

#: How many readings each random perturbation of the sentence above has, all equally likely.
SUPPORTS = {"noun_swaps": 119, "verb_swaps": 23, "functional_shuffle": 44}


@pytest.mark.parametrize("name", SUPPORTS)
def test_all_orders_of_a_random_perturbation_are_equally_likely(name) -> None:
    counts = Counter(read(TOM, perturb(TOM, name, draw=draw)) for draw in range(60 * SUPPORTS[name]))
    assert len(counts) == SUPPORTS[name]  # 5! - 1, 4! - 1 and the derangements of 5
    assert chisquare(list(counts.values())).pvalue > 0.001


@pytest.mark.parametrize(("name", "size"), [("word_shuffle", 119), ("shuffle_first_half", 5), ("shuffle_last_half", 1)])
def test_all_orders_of_a_shuffle_are_equally_likely(name, size) -> None:
    sentence = Sentence(("I", "saw", "Tom", "this", "morning", "."), "en")
    counts = Counter(read(sentence, perturb(sentence, name, seed=draw)) for draw in range(60 * size))
    assert len(counts) == size
    assert size == 1 or chisquare(list(counts.values())).pvalue > 0.001


def test_repeated_words_leave_the_orders_that_show_equally_likely() -> None:
    """ "a a b": of the five other permutations, one reads the same; two read "a b a" and two "b a a"."""
    sentence = Sentence(("a", "a", "b"), "en")
    counts = Counter(read(sentence, perturb(sentence, "word_shuffle", draw=draw)) for draw in range(2000))
    assert set(counts) == {("a", "b", "a"), ("b", "a", "a")}
    assert chisquare(list(counts.values())).pvalue > 0.001


@pytest.mark.parametrize("size", [1, 2, 5, 8, 9, 40])
def test_a_permutation_s_items_are_anywhere_equally_often(size) -> None:
    streams = [Draws(seed, "test", 0, b"address") for seed in range(500)]
    drawn = np.array([draws.permutation(size) for draws in streams for _ in range(4)])
    assert (np.sort(drawn, axis=1) == np.arange(size)).all()
    if size > 1:
        firsts = np.bincount(drawn[:, 0], minlength=size)
        assert chisquare(firsts).pvalue > 0.001
        assert chisquare(np.bincount(drawn[:, -1], minlength=size)).pvalue > 0.001


def test_draws_seeds_names_and_sentences_are_addresses_of_their_own() -> None:
    """Pairs of addresses that differ in one part only agree no more often than chance has it (1 in 24)."""

    def stream(seed, name, draw, digest):
        return tuple(Draws(seed, name, draw, digest).permutation(4))

    pairs = {
        "draw": [(stream(0, "a", 2 * i, b"x"), stream(0, "a", 2 * i + 1, b"x")) for i in range(2400)],
        "seed": [(stream(2 * i, "a", 0, b"x"), stream(2 * i + 1, "a", 0, b"x")) for i in range(2400)],
        "name": [(stream(i, "a", 0, b"x"), stream(i, "b", 0, b"x")) for i in range(2400)],
        "digest": [(stream(i, "a", 0, b"x"), stream(i, "a", 0, b"y")) for i in range(2400)],
    }
    for part, drawn in pairs.items():
        same = sum(one == other for one, other in drawn)
        assert 60 < same < 140, part  # 100 expected, standard deviation 10


def test_the_same_orders_on_every_machine_and_under_every_hash_seed() -> None:
    """Written down once; results remembered by one version must be those of the next."""
    drawn = {name: " ".join(map(str, perturb(TOM, name, seed=1, draw=2))) for name in RANDOM}
    assert drawn == {
        "noun_swaps": "2 1 0 3 4 5 6 7 8 9 10 11 16 14 15 12 13 17",
        "verb_swaps": "0 5 2 1 4 10 6 7 8 9 3 11 12 13 14 15 16 17",
        "functional_shuffle": "0 1 2 3 4 5 14 7 8 9 10 12 15 13 11 6 16 17",
        "word_shuffle": "8 1 7 14 4 11 9 13 2 10 15 3 0 6 16 12 5 17",
        "shuffle_first_half": "5 1 7 6 4 3 2 8 0 9 10 11 12 13 14 15 16 17",
        "shuffle_last_half": "0 1 2 3 4 5 6 7 8 16 10 14 9 12 11 15 13 17",
    }


@settings(deadline=None)
@given(sentence=sentences(min_words=4))
def test_a_text_of_a_single_sentence_is_that_sentence(sentence) -> None:
    for name, orders in perturb_all(Text((sentence,))).items():
        np.testing.assert_array_equal(orders[0] if orders else None, perturb(sentence, name))
