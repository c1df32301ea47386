"""*Automatic Evaluation and Analysis of Idioms in NMT* (Baziotis et al., 2023): are idioms translated literally, and
why?

Every public function takes `IdiomsParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.idioms.data import training_checked
from nbkit.studies.idioms.params import IdiomsParams, System
from nbkit.studies.idioms.samples import find_phrases, litter_samples, matcher_recall, published_examples
from nbkit.studies.idioms.steps import context_effects, context_examples
from nbkit.studies.idioms.tables import (
    PUBLISHED,
    accuracy,
    data_statistics,
    findings,
    global_scores,
    idiom_frequencies,
    literal_errors,
    published_results,
    results,
)
from nbkit.studies.idioms.work import cells, inputs, problems, units

__all__ = [
    "PUBLISHED",
    "STUDY",
    "IdiomsParams",
    "System",
    "accuracy",
    "context_effects",
    "context_examples",
    "data_statistics",
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
]

#: In the order in which the report shows them; a test compares titles with the notebooks.
NOTEBOOKS = (
    Notebook("idioms/idiom_data", "Which idioms are there, and how often?", "grid"),
    Notebook("idioms/phrase_matcher", "How are idioms found in a text?", "grid"),
    Notebook("idioms/literal_errors", "How often are idioms translated word by word?", "grid"),
    Notebook("idioms/worked_examples", "What counts as a literal error?", "grid"),
    Notebook("idioms/accuracy", "Are idioms translated as in the reference?", "grid"),
    Notebook("idioms/global_scores", "Do idioms show in a score of the whole sentence?", "grid"),
    Notebook("idioms/context_translation", "Does the translation need the idiom's context?", "grid"),
    Notebook("idioms/context_likelihood", "How likely is the reference when the idiom loses its context?", "grid"),
    Notebook("idioms/uncertainty", "Are models less sure when they translate an idiom?", "grid"),
    Notebook("idioms/model_card", "How does this model treat idioms?", "cell"),
)

STUDY = Study(
    name="idioms",
    title="Idioms: translated literally, and why?",
    paper="Baziotis, Mathur and Hasler (2023), Automatic Evaluation and Analysis of Idioms in Neural Machine "
    "Translation",
    params=IdiomsParams,
    cells=cells,
    units=units,
    problems=problems,
    inputs=inputs,
    notebooks=NOTEBOOKS,
)
