"""Perturbations of word order: a `Sentence` to a permutation of its tokens.

The 16 of "Sometimes We Want Ungrammatical Translations" (Parthasarathi et al. 2021), §4. To add a custom
one: ``PERTURBATIONS.register("mine", Perturbation("mine", "random", (), "tokens", function))``.
"""

from nbkit.perturb.catalogue import (
    CONTROL,
    NAMES,
    PERTURBATIONS,
    Perturbation,
    is_drawn,
    label,
    perturb,
    perturb_all,
    perturb_text,
)
from nbkit.perturb.moves import moved, moved_spans
from nbkit.perturb.reorderings import Draws, Unit, View
from nbkit.text.sentences import Span

__all__ = [
    "CONTROL",
    "NAMES",
    "PERTURBATIONS",
    "Draws",
    "Perturbation",
    "Span",
    "Unit",
    "View",
    "is_drawn",
    "label",
    "moved",
    "moved_spans",
    "perturb",
    "perturb_all",
    "perturb_text",
]
