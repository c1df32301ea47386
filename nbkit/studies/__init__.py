"""One folder per paper: composes the rooms into documented tables."""

from __future__ import annotations

from nbkit.registry import CUSTOM, Registry
from nbkit.studies.exports import outcomes, write_outcomes
from nbkit.studies.parts import item_id
from nbkit.studies.results import Outcomes, read_outcomes
from nbkit.studies.study import Study

__all__ = ["STUDIES", "Outcomes", "item_id", "outcomes", "read_outcomes", "write_outcomes"]

STUDIES: Registry[Study] = Registry("study", way_out=CUSTOM)
STUDIES.register(
    "word_order",
    "nbkit.studies.word_order:STUDY",
    summary="Sometimes We Want Ungrammatical Translations: robust or faithful to perturbed word order?",
)
STUDIES.register(
    "nli_permutation",
    "nbkit.studies.nli_permutation:STUDY",
    summary="Unnatural Language Inference: do classifiers accept permuted sentences?",
)
STUDIES.register(
    "numbers",
    "nbkit.studies.numbers:STUDY",
    summary="As Easy as 1, 2, 3: are numbers carried over, in every form?",
)
STUDIES.register(
    "idioms",
    "nbkit.studies.idioms:STUDY",
    summary="Automatic Evaluation and Analysis of Idioms in NMT: are they translated literally, and why?",
)
STUDIES.register(
    "disambiguation",
    "nbkit.studies.disambiguation:STUDY",
    summary="Detecting Word Sense Disambiguation Biases: can wrong senses be predicted and provoked?",
)
