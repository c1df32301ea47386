"""One folder per paper: composes the rooms into documented tables."""

from __future__ import annotations

from nbkit.registry import CUSTOM, Registry
from nbkit.studies.exports import outcomes, write_outcomes
from nbkit.studies.parts import item_id
from nbkit.studies.results import Outcomes, read_outcomes
from nbkit.studies.study import Study

__all__ = ["STUDIES", "Outcomes", "item_id", "outcomes", "read_outcomes", "write_outcomes"]

STUDIES: Registry[Study] = Registry("study", way_out=CUSTOM)
for _target, _summary in {
    "nbkit.studies.word_order:STUDY":
        "Sometimes We Want Ungrammatical Translations: robust or faithful to perturbed word order?",
    "nbkit.studies.nli_permutation:STUDY": "Unnatural Language Inference: do classifiers accept permuted sentences?",
    "nbkit.studies.numbers:STUDY": "As Easy as 1, 2, 3: are numbers carried over, in every form?",
    "nbkit.studies.idioms:STUDY":
        "Automatic Evaluation and Analysis of Idioms in NMT: are they translated literally, and why?",
    "nbkit.studies.disambiguation:STUDY":
        "Detecting Word Sense Disambiguation Biases: can wrong senses be predicted and provoked?",
}.items():  # fmt: skip
    STUDIES.register(_target.removeprefix("nbkit.studies.").removesuffix(":STUDY"), _target, summary=_summary)
