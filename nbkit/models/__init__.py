"""Texts in, texts or probabilities out: catalogues, translators, classifiers, batching and training.

Importing this room imports neither torch nor transformers; they come with the first model that is loaded.

>>> from nbkit.models import Decoding, check_model, model_identity, translate_remembered
>>> Decoding(beams=5).beams
5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nbkit.models.classifiers.catalogue import CLASSIFIERS, ClassifierEntry, classifier_label, resolve_classifier
from nbkit.models.decoding import Decoding
from nbkit.models.language_models.catalogue import (
    LANGUAGE_MODELS,
    LanguageModelEntry,
    language_model_label,
    resolve_language_model,
)
from nbkit.models.translators.catalogue import MODELS, ModelEntry, label, resolve

#: Names that are imported when they are used, and where from.
_LAZY = {
    "Classifier": "classifiers.classifier",
    "ClassifierRecipe": "classifiers.recipe",
    "LanguageModel": "language_models.language_model",
    "LanguageModelRecipe": "language_models.recipe",
    "TranslatorRecipe": "translators.recipe",
    "Usage": "services.asking",
    "answers_remembered": "translators.remember",
    "Translator": "translators.translator",
    "check_classifier": "classifiers.local",
    "check_language_model": "language_models.local",
    "check_model": "translators.identity",
    "costs": "translators.remember",
    "classification_config": "classifiers.remember",
    "classifier_identity": "classifiers.local",
    "classify_remembered": "classifiers.remember",
    "ensure_classifier": "classifiers.local",
    "ensure_language_model": "language_models.local",
    "ensure_model": "translators.local",
    "is_classifier_here": "classifiers.local",
    "is_language_model_here": "language_models.local",
    "is_trained": "translators.local",
    "iter_classified": "classifiers.remember",
    "iter_perplexities": "language_models.remember",
    "language_model_identity": "language_models.local",
    "load_classifier": "classifiers.classifier",
    "load_language_model": "language_models.language_model",
    "load_translator": "translators.translator",
    "masked_remembered": "language_models.remember",
    "model_identity": "translators.identity",
    "perplexities_remembered": "language_models.remember",
    "train_classifier": "classifiers.training",
    "train_language_model": "language_models.training",
    "train_translator": "translators.training",
    "translate_remembered": "translators.remember",
    "translation_config": "translators.remember",
    "usage_remembered": "translators.remember",
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
