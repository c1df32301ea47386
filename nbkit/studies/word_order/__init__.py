"""*Sometimes We Want Ungrammatical Translations* (Parthasarathi et al., 2021): robust or faithful to word order?

Every public function takes `WordOrderParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.samples import examples, flip_samples, samples
from nbkit.studies.word_order.steps import difficulties, scores
from nbkit.studies.word_order.tables import (
    below_min_n,
    by_perturbation,
    correlations,
    counts,
    difficulty,
    difficulty_by_length,
    flips,
    left_out,
    length_correlations,
    length_effect,
    model_tests,
    preference,
    preference_by_perturbation,
    quality,
    quality_as_coded,
    similarity,
    similarity_of_languages,
    spacing_effect,
)
from nbkit.studies.word_order.work import cells, inputs, problems, units

__all__ = [
    "STUDY",
    "WordOrderParams",
    "below_min_n",
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
    "quality_as_coded",
    "samples",
    "scores",
    "similarity",
    "similarity_of_languages",
    "spacing_effect",
]

#: In the order in which the report shows them; a test compares titles with the notebooks.
NOTEBOOKS = (
    Notebook("word_order/perturbations", "What do the perturbations do, and to how many sentences?", "grid"),
    Notebook("word_order/similarity", "How alike are the perturbations?", "grid"),
    Notebook("word_order/robust_or_faithful", "Are the models robust or faithful?", "grid"),
    Notebook("word_order/per_perturbation", "Which perturbations break which model?", "grid"),
    Notebook("word_order/length", "Does the length of a sentence matter?", "grid"),
    Notebook("word_order/correlations", "Are better translations more robust?", "grid"),
    Notebook("word_order/flips", "When does scrambling help?", "grid"),
    Notebook("word_order/model_comparison", "Which model is more robust, and is the difference real?", "grid"),
    Notebook("word_order/model_card", "How does this model treat scrambled sentences?", "cell"),
)

STUDY = Study(
    name="word_order",
    title="Word order: robust or faithful?",
    paper="Parthasarathi, Sinha, Pineau and Williams (2021), Sometimes We Want Ungrammatical Translations",
    params=WordOrderParams,
    cells=cells,
    units=units,
    problems=problems,
    inputs=inputs,
    notebooks=NOTEBOOKS,
)
