"""*Unnatural Language Inference* (Sinha et al., 2021): do NLI classifiers accept permuted sentences?

Every public function takes `NliPermutationParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, clumped
from nbkit.studies.nli_permutation.steps import STUDY, properties, scores
from nbkit.studies.nli_permutation.tables import (
    accepted_examples,
    accuracy_beside_majority,
    annotation_sample,
    bleu_effect,
    clump_effect,
    clump_means,
    control,
    control_entropies,
    entropies,
    entropy_means,
    floor_table,
    hypothesis_only,
    kept,
    left_out,
    length_effect,
    max_entropy,
    mini_tree_effect,
    permutation_examples,
    results,
    thresholds,
    word_signature,
)

__all__ = [
    "HYPOTHESIS",
    "PERMUTED",
    "STUDY",
    "NliPermutationParams",
    "accepted_examples",
    "accuracy_beside_majority",
    "annotation_sample",
    "bleu_effect",
    "clump_effect",
    "clump_means",
    "clumped",
    "control",
    "control_entropies",
    "entropies",
    "entropy_means",
    "floor_table",
    "hypothesis_only",
    "kept",
    "left_out",
    "length_effect",
    "max_entropy",
    "mini_tree_effect",
    "permutation_examples",
    "properties",
    "results",
    "scores",
    "thresholds",
    "word_signature",
]
