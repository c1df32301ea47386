"""Word-sense disambiguation biases: can a translator's errors be predicted, and provoked?

*Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks*. Every public
function takes `DisambiguationParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import STUDY, counts, pool, pool_left_out, seeds
from nbkit.studies.disambiguation.steps import attacked, bleu, corpus_sizes, generated, judged
from nbkit.studies.disambiguation.tables import (
    PUBLISHED,
    attack_challenge,
    attack_correlations,
    attack_rates,
    attack_thresholds,
    attractors,
    beside_research_code,
    challenge_errors,
    correlations,
    error_examples,
    error_variants,
    errors,
    grammar,
    grammar_skipped,
    judgement_sample,
    model_settings,
    perturbation_examples,
    rare_overlap,
    samples_made,
    seeds_left,
    sense_clusters,
    sense_coverage,
    success_by_kind,
    successes,
    thresholds,
    transfer,
    undecided_senses,
    undecided_translations,
)

__all__ = [
    "PUBLISHED",
    "STUDY",
    "DisambiguationParams",
    "attack_challenge",
    "attack_correlations",
    "attack_rates",
    "attack_thresholds",
    "attacked",
    "attractors",
    "beside_research_code",
    "bleu",
    "challenge_errors",
    "corpus_sizes",
    "correlations",
    "counts",
    "error_examples",
    "error_variants",
    "errors",
    "generated",
    "grammar",
    "grammar_skipped",
    "judged",
    "judgement_sample",
    "model_settings",
    "perturbation_examples",
    "pool",
    "pool_left_out",
    "rare_overlap",
    "samples_made",
    "seeds",
    "seeds_left",
    "sense_clusters",
    "sense_coverage",
    "success_by_kind",
    "successes",
    "thresholds",
    "transfer",
    "undecided_senses",
    "undecided_translations",
]
