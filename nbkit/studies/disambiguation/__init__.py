"""Word-sense disambiguation biases: can a translator's errors be predicted, and provoked?

*Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks*. Every public
function takes `DisambiguationParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.disambiguation import work  # noqa: F401 - declares units of work and outcomes
from nbkit.studies.disambiguation.attack_tables import (
    attack_challenge,
    attack_correlations,
    attack_rates,
    attack_thresholds,
    grammar,
    grammar_skipped,
    judgement_sample,
    outcomes,
    perturbation_examples,
    samples_made,
    seeds_left,
    success_by_kind,
    successes,
    transfer,
)
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import counts, pool, pool_left_out, seeds
from nbkit.studies.disambiguation.steps import generated, judged
from nbkit.studies.disambiguation.study import STUDY
from nbkit.studies.disambiguation.tables import (
    PUBLISHED,
    attractors,
    beside_research_code,
    bleu,
    challenge_errors,
    corpus_sizes,
    correlations,
    error_examples,
    error_variants,
    errors,
    model_settings,
    rare_overlap,
    sense_clusters,
    sense_coverage,
    thresholds,
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
    "outcomes",
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
