"""*Unnatural Language Inference* (Sinha et al., 2021): do NLI classifiers accept permuted sentences?

Every public function takes `NliPermutationParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, clumped
from nbkit.studies.nli_permutation.samples import accepted_examples, annotation_sample, permutation_examples
from nbkit.studies.nli_permutation.steps import properties, scores, word_signature
from nbkit.studies.nli_permutation.tables import (
    accuracy_beside_majority,
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
    results,
    thresholds,
)
from nbkit.studies.nli_permutation.work import cells, inputs, problems, units

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

#: In the order in which the report shows them; a test compares titles with the notebooks.
NOTEBOOKS = (
    Notebook("nli_permutation/permutations", "What do the permutations look like, and which pairs have them?", "grid"),
    Notebook("nli_permutation/acceptance", "Do the models accept permuted pairs?", "grid"),
    Notebook("nli_permutation/thresholds", "How many of its permutations does a pair have accepted?", "grid"),
    Notebook("nli_permutation/confidence", "How sure are the models of permuted pairs?", "grid"),
    Notebook("nli_permutation/local_order", "Is it the word order that is left?", "grid"),
    Notebook("nli_permutation/mini_trees", "Are accepted permutations closer to ordinary grammar?", "grid"),
    Notebook("nli_permutation/length", "Does the length of a pair matter?", "grid"),
    Notebook("nli_permutation/hypothesis_only", "Is it enough to permute the hypothesis?", "grid"),
    Notebook("nli_permutation/max_entropy", "Can a model learn to reject permuted pairs?", "grid"),
    Notebook("nli_permutation/human_evaluation", "Can people do it?", "grid"),
    Notebook("nli_permutation/model_card", "How does this model treat permuted pairs?", "cell"),
)

STUDY = Study(
    name="nli_permutation",
    title="NLI permutation: do classifiers accept nonsense?",
    paper="Sinha, Parthasarathi, Pineau and Williams (2021), Unnatural Language Inference",
    params=NliPermutationParams,
    cells=cells,
    units=units,
    problems=problems,
    inputs=inputs,
    notebooks=NOTEBOOKS,
)
