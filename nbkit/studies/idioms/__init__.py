"""*Automatic Evaluation and Analysis of Idioms in NMT* (Baziotis et al., 2023): are idioms translated literally, and
why?

Every public function takes `IdiomsParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.idioms.others import side_by_side
from nbkit.studies.idioms.params import IdiomsParams, System
from nbkit.studies.idioms.steps import STUDY, training_checked
from nbkit.studies.idioms.tables import (
    PUBLISHED,
    accuracy,
    context_effects,
    context_examples,
    data_statistics,
    dissents,
    find_phrases,
    findings,
    global_scores,
    idiom_frequencies,
    literal_errors,
    litter_samples,
    matcher_recall,
    published_examples,
    published_results,
    results,
)

__all__ = [
    "PUBLISHED",
    "STUDY",
    "IdiomsParams",
    "System",
    "accuracy",
    "context_effects",
    "context_examples",
    "data_statistics",
    "dissents",
    "find_phrases",
    "findings",
    "global_scores",
    "idiom_frequencies",
    "literal_errors",
    "litter_samples",
    "matcher_recall",
    "published_examples",
    "published_results",
    "training_checked",
    "results",
    "side_by_side",
]
