"""Classifiers whose encoder CTranslate2 runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from nbkit.models.classifier import PairClassifier
from nbkit.models.classifier_catalogue import ClassifierReference
from nbkit.models.ct2_encoder import load_converted_classifier
from nbkit.models.loading import torch_device


class ConvertedClassifier(PairClassifier):
    """`PairClassifier` on a converted encoder: the same pairs, cut and batched as there, and the same head."""

    budgets: ClassVar = {"cpu": 2048, "cuda": 131072}

    def __init__(self, reference: ClassifierReference, folder: Path, device: str, dtype: str, tokenizer: Any):
        model, positions = load_converted_classifier(reference, folder, torch_device(device), dtype)
        super().__init__(reference, folder, model, tokenizer, positions=positions)
