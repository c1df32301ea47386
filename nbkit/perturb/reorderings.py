"""The functions of the paper's 16 perturbations: by the dependency tree, by part of speech, and at random.

Each takes a `View` and `Draws` and returns the new order of the movable tokens, or None if it does not apply.

Source: "Sometimes We Want Ungrammatical Translations" (Parthasarathi et al. 2021), §4, Figures 3 and 4.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations
from operator import eq, ne
from typing import TypeAlias

from nbkit.perturb.view import Draws, Span, View

# ----------------------------------------------------------------------------
# The four perturbations of the dependency tree (word-order paper, §4.3, Figures 3 and 4).
#
# In the mirrored tree every node's left and right dependents have traded sides, the order within a side being kept.
# Where a subtree is not contiguous, the walk's order counts, not the sentence's. Each subtree's order is put together
# from those of its parts, leaves first, so that no depth of a tree is too much. Final punctuation is left out
# wherever it hangs in the tree, as it keeps its place.


def tree_mirror_pre(view: View, draws: Draws) -> list[int] | None:
    """Pre-order of the mirrored tree: node, right dependents, left dependents."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order = [*subtrees[token]]
        for dependent in right + left:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def tree_mirror_post(view: View, draws: Draws) -> list[int] | None:
    """Post-order of the mirrored tree: right dependents, left dependents, node."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order: list[int] = []
        for dependent in right + left:
            order += subtrees[dependent]
        order += subtrees[token]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def tree_mirror_in(view: View, draws: Draws) -> list[int] | None:
    """In-order of the mirrored tree: right dependents, node, left dependents."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order: list[int] = []
        for dependent in right:
            order += subtrees[dependent]
        order += subtrees[token]
        for dependent in left:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def rotate_around_root(view: View, draws: Draws) -> list[int] | None:
    """What hangs right of the root, the root, what hangs left of it; each part in its own in-order.

    Figure 3 prints another order ("live find said Tom …"), which is no rotation; the samples of
    Tables 4 and 5 ("a car accident seen Have you ever ?") agree with the definition.
    """
    subtrees, root = [*view.leaves], view.sentence.root
    for token, left, right in view.sentence.branches:
        if token == root:
            left, right = right, left
        order: list[int] = []
        for dependent in left:
            order += subtrees[dependent]
        order += subtrees[token]
        for dependent in right:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[root]]


# ----------------------------------------------------------------------------
# The eight perturbations by part of speech (word-order paper, §4.2).
#
# Nouns are base noun phrases, pronouns included, which move as blocks (``unit="phrase"``, as in Figure 3: "a
# decent place"), or single tokens (``unit="token"``); in `noun_adj_swap` they are always the single nouns and
# names. Verbs are VERB and AUX, and always single tokens.


def noun_swaps(view: View, draws: Draws) -> list[int] | None:
    """A random exchange of the positions of all noun phrases; one may stay where it is ("Tom" in Figure 3)."""
    return shuffled_blocks(view, draws)


def verb_swaps(view: View, draws: Draws) -> list[int] | None:
    """A random exchange of the positions of all verbs; one may stay where it is."""
    return shuffled(view, draws, view.verbs)


def adverb_verb_swap(view: View, draws: Draws) -> list[int] | None:
    """Each adverb, from left to right, trades places with the closest verb that has not yet done so."""
    return paired_tokens(view, view.classes["adverb"], view.verbs)


def noun_adj_swap(view: View, draws: Draws) -> list[int] | None:
    """Each noun, from left to right, trades places with the closest adjective that has not yet done so."""
    return paired_tokens(view, view.classes["noun"], view.classes["adjective"])


def noun_verb_swap(view: View, draws: Draws) -> list[int] | None:
    """Each noun phrase, from left to right, trades places with the closest verb that has not yet done so."""
    return paired_blocks(view, view.free_verbs, closest)


def noun_verb_mismatched(view: View, draws: Draws) -> list[int] | None:
    """Each noun phrase, from left to right, trades places with the farthest verb that has not yet done so."""
    return paired_blocks(view, view.free_verbs, farthest)


def functional_shuffle(view: View, draws: Draws) -> list[int] | None:
    """Each adposition, determiner and conjunction takes another one's place, all such orders equally likely."""
    return deranged(view, draws, view.classes["function word"])


def verb_at_beginning(view: View, draws: Draws) -> list[int] | None:
    """The first VERB, or the first AUX where there is no VERB, moves to the front."""
    verbs, tags = view.verbs, view.sentence.upos
    if not verbs:
        return None
    assert tags is not None
    first = verbs[0]
    for index in verbs:
        if tags[index] == "VERB":
            first = index
            break
    return [first, *range(first), *range(first + 1, view.length)]


# ----------------------------------------------------------------------------
# The four perturbations that see a sentence as a mere row of tokens (word-order paper, §4.1).
#
# A sentence has two halves; where its length is odd, the token in the middle belongs to the first one, as in
# the samples of Tables 4 and 5 ("I saw Tom …" → "Tom I saw …" of five words). Final punctuation is in
# neither.


def word_shuffle(view: View, draws: Draws) -> list[int] | None:
    """All tokens in a random order."""
    return shuffled(view, draws, range(view.length))


def shuffle_first_half(view: View, draws: Draws) -> list[int] | None:
    """The tokens of the first half in a random order, the others as they are."""
    return shuffled(view, draws, range(_middle(view)))


def shuffle_last_half(view: View, draws: Draws) -> list[int] | None:
    """The tokens of the last half in a random order, the others as they are."""
    return shuffled(view, draws, range(_middle(view), view.length))


def reversed_order(view: View, draws: Draws) -> list[int] | None:
    """The tokens from the last to the first."""
    return list(range(view.length - 1, -1, -1))


def _middle(view: View) -> int:
    return (view.length + 1) // 2


# ----------------------------------------------------------------------------
# Exchanging places: what the perturbations by part of speech and the shuffles are made of.

#: Takes places from left to right and a span that holds none of them; returns the index of one of the places.
Choice: TypeAlias = Callable[[Sequence[int], Span], int]


def shuffled(view: View, draws: Draws, places: Sequence[int]) -> list[int] | None:
    """The tokens at *places* in a random order, every permutation that reads differently being equally likely.

    None where all of them are the same word. Otherwise at least every other permutation shows.
    """
    words = _words(view, places)
    size = len(words)
    if _alike(words):
        return None
    if size == 2:
        return _placed(view.length, places, (1, 0))
    while True:
        permutation = draws.permutation(size)
        if words[permutation[0]] != words[0] or _shows(words, permutation):
            return _placed(view.length, places, permutation)


def deranged(view: View, draws: Draws, places: Sequence[int]) -> list[int] | None:
    """As `shuffled`, but no token at *places* stays where it is.

    None where all of them are the same word; otherwise the rotation by one is such an order.
    """
    words = _words(view, places)
    if _alike(words):
        return None
    if len(words) == 2:
        return _placed(view.length, places, (1, 0))
    while True:  # about one permutation in e leaves nothing in its place
        permutation = draws.permutation(len(words))
        if True not in map(eq, permutation, range(len(words))) and _shows(words, permutation):
            return _placed(view.length, places, permutation)


def shuffled_blocks(view: View, draws: Draws) -> list[int] | None:
    """As `shuffled`, for the nominals, whole blocks of tokens; what stands between them stays between them."""
    starts = [start for start, _ in view.nominals]
    if len(starts) < 2:
        return None
    if len(starts) == 2:
        order = _exchanged(view, starts, (1, 0))
        return None if view.reads_same(order) else order
    for _ in range(_TRIES):
        order = _exchanged(view, starts, draws.permutation(len(starts)))
        if not view.reads_same(order):
            return order
    # If two blocks differ, at least every other permutation shows, unless blocks of different length make
    # the same text in any order ("ha" and "ha ha"): then no exchange of two of them shows either.
    shown = [order for order in _exchanges_of_two(view, starts) if not view.reads_same(order)]
    return shown[draws.permutation(len(shown))[0]] if shown else None


def paired_blocks(view: View, partners: Sequence[int], choose: Choice) -> list[int] | None:
    """Each nominal, from left to right, trades places with the token that *choose* picks of the partners left over."""
    blocks = view.nominals
    if not blocks or not partners:
        return None
    left_over = list(partners)
    pieces = view.pieces.copy()
    for block in blocks[: len(partners)]:
        partner = left_over.pop(choose(left_over, block))
        start = block[0]
        pieces[start], pieces[partner] = pieces[partner], pieces[start]
    return list(chain.from_iterable(pieces))


def paired_tokens(view: View, tokens: Sequence[int], partners: Sequence[int]) -> list[int] | None:
    """As `paired_blocks`, for single tokens and the closest partner."""
    if not tokens or not partners:
        return None
    left_over = list(partners)
    order = list(range(view.length))
    for token in tokens[: len(partners)]:
        partner = left_over.pop(closest(left_over, (token, token + 1)))
        order[token], order[partner] = partner, token
    return order


def closest(places: Sequence[int], block: Span) -> int:
    """The index of the place closest to an edge of the block (neighbours are 1 apart), the left one on a tie."""
    start, end = block
    right = bisect_left(places, start)
    if right == len(places) or (right and start - places[right - 1] <= places[right] - end + 1):
        return right - 1
    return right


def farthest(places: Sequence[int], block: Span) -> int:
    """The index of the place farthest from an edge of the block, the left one on a tie."""
    start, end = block
    return 0 if _distance(places[0], start, end) >= _distance(places[-1], start, end) else len(places) - 1


_TRIES = 64


def _distance(place: int, start: int, end: int) -> int:
    return start - place if place < start else place - end + 1


def _words(view: View, places: Sequence[int]) -> Sequence[str]:
    if isinstance(places, range):  # the long ones: a slice costs next to nothing
        return view.tokens[places.start : places.stop]
    return [view.tokens[place] for place in places]


def _alike(items: Sequence[object]) -> bool:
    """Whether no two of them differ."""
    return not items or (items[0] == items[-1] and items.count(items[0]) == len(items))


def _shows(words: Sequence[str], permutation: Sequence[int]) -> bool:
    return True in map(ne, map(words.__getitem__, permutation), words)


def _exchanges_of_two(view: View, starts: Sequence[int]) -> Iterator[list[int]]:
    for one, other in combinations(range(len(starts)), 2):
        permutation = list(range(len(starts)))
        permutation[one], permutation[other] = other, one
        yield _exchanged(view, starts, permutation)


def _exchanged(view: View, starts: Sequence[int], permutation: Sequence[int]) -> list[int]:
    """The order in which each nominal, known by where it starts, makes room for the one that the permutation names."""
    whole = view.pieces
    pieces = whole.copy()
    for start, index in zip(starts, permutation, strict=True):
        pieces[start] = whole[starts[index]]
    return list(chain.from_iterable(pieces))


def _placed(length: int, places: Sequence[int], permutation: Sequence[int]) -> list[int]:
    """The order of *length* tokens in which each place holds the token of the place that the permutation names."""
    if isinstance(places, range):
        start, stop = places.start, places.stop
        moved = [start + index for index in permutation] if start else permutation
        return [*range(start), *moved, *range(stop, length)]
    order = list(range(length))
    for place, index in zip(places, permutation, strict=True):
        order[place] = places[index]
    return order
