"""The eight perturbations by part of speech (word-order paper, §4.2).

Nouns are base noun phrases, pronouns included, which move as blocks (``unit="phrase"``, as in Figure 3:
"a decent place"), or single tokens (``unit="token"``); in `noun_adj_swap` they are always the single nouns
and names. Verbs are VERB and AUX. Blocks of different length trade places, and what stands between them
stays between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from operator import eq
from typing import Any, TypeAlias

from nbkit.perturb.draws import Draws
from nbkit.perturb.view import ADJECTIVE, ADVERB, FUNCTIONAL, NOUN, Span, View, spans

#: `min` or `max`: the closest partner or the farthest one.
Choose: TypeAlias = Callable[..., Any]


def noun_swaps(view: View, draws: Draws) -> list[int] | None:
    """A random exchange of the positions of all noun phrases; one may stay where it is ("Tom" in Figure 3)."""
    return _exchanged_at_random(view, draws, view.nominals)


def verb_swaps(view: View, draws: Draws) -> list[int] | None:
    """A random exchange of the positions of all verbs; one may stay where it is."""
    return _exchanged_at_random(view, draws, spans(view.verbs))


def adverb_verb_swap(view: View, draws: Draws) -> list[int] | None:
    """Each adverb trades places with the closest verb that has not yet done so."""
    return _paired(view, spans(view.tagged(ADVERB)), view.verbs, min)


def noun_adj_swap(view: View, draws: Draws) -> list[int] | None:
    """Each noun trades places with the closest adjective that has not yet done so."""
    return _paired(view, spans(view.tagged(NOUN)), view.tagged(ADJECTIVE), min)


def noun_verb_swap(view: View, draws: Draws) -> list[int] | None:
    """Each noun phrase trades places with the closest verb that has not yet done so."""
    return _paired(view, view.nominals, view.free_verbs, min)


def noun_verb_mismatched(view: View, draws: Draws) -> list[int] | None:
    """Each noun phrase trades places with the farthest verb that has not yet done so."""
    return _paired(view, view.nominals, view.free_verbs, max)


def functional_shuffle(view: View, draws: Draws) -> list[int] | None:
    """Each adposition, determiner and conjunction takes another one's place, all such orders equally likely."""
    places = view.tagged(FUNCTIONAL)
    if view.all_equal(places):
        return None
    while True:  # about one permutation in e leaves nothing in its place
        permutation = draws.permutation(len(places))
        if any(map(eq, permutation, range(len(places)))):
            continue
        order = list(range(len(view)))
        for place, index in zip(places, permutation, strict=True):
            order[place] = places[index]
        if not view.reads_same(order):
            return order


def verb_at_beginning(view: View, draws: Draws) -> list[int] | None:
    """The first VERB, or the first AUX where there is no VERB, moves to the front."""
    verbs = view.tagged(("VERB",)) or view.tagged(("AUX",))
    if not verbs:
        return None
    first = verbs[0]
    return [first, *range(first), *range(first + 1, len(view))]


def _exchanged_at_random(view: View, draws: Draws, units: Sequence[Span]) -> list[int] | None:
    """The units in a random order, every permutation of them that reads differently being equally likely."""
    if len({view.tokens[start:end] for start, end in units}) < 2:
        return None
    for _ in range(_TRIES):
        order = _filled(len(view), units, [units[index] for index in draws.permutation(len(units))])
        if not view.reads_same(order):
            return order
    # Two units differ, so at least every other permutation shows it, unless units of different length
    # make the same text in any order ("a" and "a a"): then no exchange of two of them shows either.
    shown = [order for order in _exchanges_of_two(view, units) if not view.reads_same(order)]
    return shown[draws.below(len(shown))] if shown else None


_TRIES = 64


def _exchanges_of_two(view: View, units: Sequence[Span]) -> Iterator[list[int]]:
    for one, other in combinations(range(len(units)), 2):
        contents = list(units)
        contents[one], contents[other] = units[other], units[one]
        yield _filled(len(view), units, contents)


def _paired(view: View, units: Sequence[Span], partners: Sequence[int], choose: Choose) -> list[int] | None:
    """Each unit, from left to right, trades places with the partner that *choose* picks of those left over.

    The distance is counted from the nearer edge of the unit: 1 for neighbours. `min` and `max` return
    the first of equals, which is the left one.
    """
    left_over = list(partners)
    trades: dict[Span, Span] = {}
    for start, end in units[: len(partners)]:
        partner = choose(left_over, key=lambda place, s=start, e=end: s - place if place < s else place - e + 1)
        left_over.remove(partner)
        trades[start, end] = (partner, partner + 1)
        trades[partner, partner + 1] = (start, end)
    if not trades:
        return None
    slots = sorted(trades)
    return _filled(len(view), slots, [trades[slot] for slot in slots])


def _filled(length: int, slots: Sequence[Span], contents: Sequence[Span]) -> list[int]:
    """The order of *length* tokens in which each slot, from left to right, holds the content given for it."""
    order: list[int] = []
    done = 0
    for (start, end), (first, stop) in zip(slots, contents, strict=True):
        order += range(done, start)
        order += range(first, stop)
        done = end
    order += range(done, length)
    return order
