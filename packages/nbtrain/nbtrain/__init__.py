"""Training of the models that nbkit studies: translators, NLI classifiers and language models, tiny or paper-sized.

A recipe goes in, an ordinary ``from_pretrained`` folder with a model card comes out. Once this package is installed,
nbkit knows the models of ``models.yaml`` by their names, and has `nbkit train`; `nbkit train model NAME` makes them.

>>> from nbtrain import TranslatorRecipe, train_translator
>>> TranslatorRecipe(targets=("fr",), steps=100).d_model
128
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nbtrain.recipes import ClassifierRecipe, LanguageModelRecipe, TranslatorRecipe

_TRAINERS = {
    "train_classifier": "nbtrain.classifiers",
    "train_language_model": "nbtrain.language_models",
    "train_translator": "nbtrain.translators",
}

__all__ = ["ClassifierRecipe", "LanguageModelRecipe", "TranslatorRecipe", *_TRAINERS]


def __getattr__(name: str) -> Any:
    """The trainers, which import torch, are imported on first use."""
    if name not in _TRAINERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_TRAINERS[name]), name)
