"""The eight perturbations by part of speech (word-order paper, §4.2).

Nouns are base noun phrases, pronouns included, which move as blocks (``unit="phrase"``, as in Figure 3:
"a decent place"), or single tokens (``unit="token"``); in `noun_adj_swap` they are always the single nouns
and names. Verbs are VERB and AUX, and always single tokens.
"""

from __future__ import annotations

from nbkit.perturb.draws import Draws
from nbkit.perturb.exchange import closest, deranged, farthest, paired_blocks, paired_tokens, shuffled, shuffled_blocks
from nbkit.perturb.view import View


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
