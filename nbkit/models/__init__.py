"""Texts in, texts or probabilities out: catalogues, translators, classifiers, batching and training.

Importing this room imports neither torch nor transformers; they come with the first model that is loaded.

>>> from nbkit.models import Decoding, check_model, model_identity, translate_remembered
>>> Decoding(beams=5).beams
5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nbkit.models.catalogue import MODELS, ModelEntry, label, resolve
from nbkit.models.classifier_catalogue import CLASSIFIERS, ClassifierEntry, classifier_label, resolve_classifier
from nbkit.models.decoding import Decoding
from nbkit.models.language_model_catalogue import (
    LANGUAGE_MODELS,
    LanguageModelEntry,
    language_model_label,
    resolve_language_model,
)

#: Names that are imported when they are used, and where from.
_LAZY = {
    "Classifier": "classifier",
    "ClassifierRecipe": "classifier_recipe",
    "LanguageModel": "language_model",
    "LanguageModelRecipe": "language_model_recipe",
    "TranslatorRecipe": "recipe",
    "Usage": "answers",
    "answers_remembered": "remember",
    "Translator": "translator",
    "check_classifier": "classifier_local",
    "check_language_model": "language_model_local",
    "check_model": "identity",
    "costs": "remember",
    "classification_config": "classifier_remember",
    "classifier_identity": "classifier_local",
    "classify_remembered": "classifier_remember",
    "ensure_classifier": "classifier_local",
    "ensure_language_model": "language_model_local",
    "ensure_model": "local",
    "is_classifier_here": "classifier_local",
    "is_language_model_here": "language_model_local",
    "is_trained": "local",
    "iter_classified": "classifier_remember",
    "iter_perplexities": "language_model_remember",
    "language_model_identity": "language_model_local",
    "load_classifier": "classifier",
    "load_language_model": "language_model",
    "load_translator": "translator",
    "masked_remembered": "language_model_remember",
    "model_identity": "identity",
    "perplexities_remembered": "language_model_remember",
    "train_classifier": "classifier_training",
    "train_language_model": "language_model_training",
    "train_translator": "training",
    "translate_remembered": "remember",
    "translation_config": "remember",
    "usage_remembered": "remember",
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
