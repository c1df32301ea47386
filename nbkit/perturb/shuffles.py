"""The four perturbations that see a sentence as a mere row of tokens (word-order paper, §4.1).

A sentence has two halves; where its length is odd, the token in the middle belongs to the first one, as in
the samples of Tables 4 and 5 ("I saw Tom …" → "Tom I saw …" of five words). Final punctuation is in neither.
"""

from __future__ import annotations

from nbkit.perturb.draws import Draws
from nbkit.perturb.exchange import shuffled
from nbkit.perturb.view import View


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
