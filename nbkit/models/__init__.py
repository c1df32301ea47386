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

#: Names that are imported when they are used, and where from.
_LAZY = {
    "Classifier": "classifier",
    "ClassifierRecipe": "classifier_recipe",
    "TranslatorRecipe": "recipe",
    "Usage": "answers",
    "answers_remembered": "remember",
    "Translator": "translator",
    "check_classifier": "classifier_local",
    "check_model": "identity",
    "costs": "remember",
    "classification_config": "classifier_remember",
    "classifier_identity": "classifier_local",
    "classify_remembered": "classifier_remember",
    "ensure_classifier": "classifier_local",
    "ensure_model": "local",
    "is_classifier_here": "classifier_local",
    "is_trained": "local",
    "iter_classified": "classifier_remember",
    "load_classifier": "classifier",
    "load_translator": "translator",
    "model_identity": "identity",
    "train_classifier": "classifier_training",
    "train_translator": "training",
    "translate_remembered": "remember",
    "translation_config": "remember",
    "usage_remembered": "remember",
}

__all__ = [
    "CLASSIFIERS",
    "MODELS",
    "ClassifierEntry",
    "Decoding",
    "ModelEntry",
    "classifier_label",
    "label",
    "resolve",
    "resolve_classifier",
    *sorted(_LAZY),
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
