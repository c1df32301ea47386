"""*Sometimes We Want Ungrammatical Translations* (Parthasarathi et al., 2021): robust or faithful to word order?

Every public function takes `WordOrderParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.steps import STUDY, difficulties, scores
from nbkit.studies.word_order.tables import (
    PUBLISHED,
    below_min_n,
    by_perturbation,
    by_perturbation_of_models,
    carried,
    correlations,
    counts,
    difficulty,
    difficulty_by_length,
    examples,
    flip_samples,
    flips,
    left_out,
    length_correlations,
    length_effect,
    model_tests,
    preference,
    preference_by_perturbation,
    quality,
    quality_as_coded,
    robust_and_faithful,
    samples,
    scores_by_difficulty,
    similarity,
    similarity_of_languages,
    spacing_effect,
)

__all__ = [
    "PUBLISHED",
    "STUDY",
    "WordOrderParams",
    "below_min_n",
    "by_perturbation",
    "by_perturbation_of_models",
    "carried",
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
    "robust_and_faithful",
    "samples",
    "scores",
    "scores_by_difficulty",
    "similarity",
    "similarity_of_languages",
    "spacing_effect",
]
