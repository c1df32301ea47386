"""The four perturbations that see a sentence as a mere row of tokens (word-order paper, §4.1).

A sentence has two halves; where its length is odd, the token in the middle belongs to the first one, as in
the samples of Tables 4 and 5 ("I saw Tom …" → "Tom I saw …" of five words). Final punctuation is in neither.
"""

from __future__ import annotations

from nbkit.perturb.draws import Draws
from nbkit.perturb.view import View


def word_shuffle(view: View, draws: Draws) -> list[int] | None:
    """All tokens in a random order, every order that reads differently being equally likely."""
    return _shuffled(view, draws, range(len(view)))


def shuffle_first_half(view: View, draws: Draws) -> list[int] | None:
    """The tokens of the first half in a random order, the others as they are."""
    return _shuffled(view, draws, range(_middle(view)))


def shuffle_last_half(view: View, draws: Draws) -> list[int] | None:
    """The tokens of the last half in a random order, the others as they are."""
    return _shuffled(view, draws, range(_middle(view), len(view)))


def reversed_order(view: View, draws: Draws) -> list[int] | None:
    """The tokens from the last to the first."""
    return list(range(len(view) - 1, -1, -1))


def _middle(view: View) -> int:
    return (len(view) + 1) // 2


def _shuffled(view: View, draws: Draws, part: range) -> list[int] | None:
    if view.all_equal(part):
        return None
    # Where two words differ, at least every other order shows it, so that this ends soon.
    while True:
        shuffled = [part[index] for index in draws.permutation(len(part))]
        order = [*range(part.start), *shuffled, *range(part.stop, len(view))]
        if not view.reads_same(order):
            return order
