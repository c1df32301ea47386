"""Texts in, texts or probabilities out: catalogues, translators, classifiers and batching.

Importing this package imports neither torch nor transformers; loading the first model does.

>>> from nbkit.models import Decoding, check_model, model_identity, translate_remembered
>>> Decoding(beams=5).beams
5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nbkit.models.backends import Decoding
from nbkit.models.catalogue import (
    CLASSIFIERS,
    LANGUAGE_MODELS,
    MODELS,
    ClassifierEntry,
    LanguageModelEntry,
    ModelEntry,
    classifier_label,
    label,
    language_model_label,
    resolve,
    resolve_classifier,
    resolve_language_model,
)

#: Names that are imported on first use, and the module that defines them.
_LAZY = {
    "Classifier": "classifiers.lifecycle",
    "LanguageModel": "language_models.language_model",
    "Usage": "services.asking",
    "answers_remembered": "translators.lifecycle",
    "Translator": "translators.lifecycle",
    "check_classifier": "classifiers.lifecycle",
    "check_language_model": "language_models.lifecycle",
    "check_model": "translators.lifecycle",
    "costs": "translators.lifecycle",
    "classification_config": "classifiers.lifecycle",
    "classifier_identity": "classifiers.lifecycle",
    "classify_remembered": "classifiers.lifecycle",
    "ensure_classifier": "classifiers.lifecycle",
    "ensure_language_model": "language_models.lifecycle",
    "ensure_model": "translators.lifecycle",
    "is_classifier_here": "classifiers.lifecycle",
    "is_language_model_here": "language_models.lifecycle",
    "is_trained": "translators.lifecycle",
    "iter_classified": "classifiers.lifecycle",
    "iter_perplexities": "language_models.lifecycle",
    "language_model_identity": "language_models.lifecycle",
    "load_classifier": "classifiers.lifecycle",
    "load_language_model": "language_models.lifecycle",
    "load_translator": "translators.lifecycle",
    "masked_remembered": "language_models.lifecycle",
    "model_identity": "translators.lifecycle",
    "perplexities_remembered": "language_models.lifecycle",
    "translate_remembered": "translators.lifecycle",
    "translation_config": "translators.lifecycle",
    "usage_remembered": "translators.lifecycle",
}

__all__ = [
    "CLASSIFIERS",
    "LANGUAGE_MODELS",
    "MODELS",
    "ClassifierEntry",
    "Decoding",
    "LanguageModelEntry",
    "ModelEntry",
    "classifier_label",
    "label",
    "language_model_label",
    "resolve",
    "resolve_classifier",
    "resolve_language_model",
    *sorted(_LAZY),
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
