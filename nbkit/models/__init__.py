"""Texts in, texts out: the catalogue of models, translators, batching and training.

Importing this room imports neither torch nor transformers; they come with the first model that is loaded.

>>> from nbkit.models import Decoding, check_model, model_identity, translate_remembered
>>> Decoding(beams=5).beams
5
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nbkit.models.catalogue import MODELS, ModelEntry, label, resolve
from nbkit.models.decoding import Decoding

#: Names that are imported when they are used, and where from.
_LAZY = {
    "TranslatorRecipe": "recipe",
    "Translator": "translator",
    "check_model": "identity",
    "ensure_model": "local",
    "is_trained": "local",
    "load_translator": "translator",
    "model_identity": "identity",
    "train_translator": "training",
    "translate_remembered": "remember",
    "translation_config": "remember",
}

__all__ = ["MODELS", "Decoding", "ModelEntry", "label", "resolve", *sorted(_LAZY)]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
