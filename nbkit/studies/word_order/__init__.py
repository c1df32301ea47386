"""*Sometimes We Want Ungrammatical Translations* (Parthasarathi et al., 2021): robust or faithful to word order?

Every public function takes `WordOrderParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.relations import (
    correlations,
    difficulty_by_length,
    length_correlations,
    length_effect,
    model_tests,
)
from nbkit.studies.word_order.samples import examples, flip_samples, samples
from nbkit.studies.word_order.scores import difficulties, scores
from nbkit.studies.word_order.tables import (
    by_perturbation,
    counts,
    difficulty,
    flips,
    left_out,
    preference,
    preference_by_perturbation,
    quality,
    similarity,
    spacing_effect,
)
from nbkit.studies.word_order.work import cells, inputs, problems, units

__all__ = [
    "STUDY",
    "WordOrderParams",
    "by_perturbation",
    "correlations",
    "counts",
    "difficulties",
    "difficulty",
    "difficulty_by_length",
    "examples",
    "flip_samples",
    "flips",
    "left_out",
    "length_correlations",
    "length_effect",
    "model_tests",
    "preference",
    "preference_by_perturbation",
    "quality",
    "samples",
    "scores",
    "similarity",
    "spacing_effect",
]

STUDY = Study(
    name="word_order",
    title="Word order: robust or faithful?",
    paper="Parthasarathi, Sinha, Pineau and Williams (2021), Sometimes We Want Ungrammatical Translations",
    params=WordOrderParams,
    cells=cells,
    units=units,
    problems=problems,
    inputs=inputs,
    notebooks=(),
    modules=("nbkit.studies.word_order", "nbkit.figures"),
)
