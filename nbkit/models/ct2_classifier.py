"""Classifiers whose encoder CTranslate2 runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import torch

from nbkit.models.classifier import PairClassifier, Row
from nbkit.models.classifier_catalogue import ClassifierReference
from nbkit.models.classifier_encoding import INPUTS, Encoded
from nbkit.models.collate import attention_mask, padded
from nbkit.models.ct2_encoder import load_converted_classifier
from nbkit.models.loading import torch_device


class ConvertedClassifier(PairClassifier):
    """`PairClassifier` on a converted encoder: the same pairs, cut as there, and the same head.

    The engine leaves padding out of all products but attention's, so that batches are of like lengths, not of one.
    """

    budgets: ClassVar = {"cpu": 2048, "cuda": 131072}

    def __init__(self, reference: ClassifierReference, folder: Path, device: str, dtype: str, tokenizer: Any):
        model, positions = load_converted_classifier(reference, folder, torch_device(device), dtype)
        super().__init__(reference, folder, model, tokenizer, positions=positions)

    def _group(self, item: Encoded) -> None:
        return None

    def _classify(self, batch: list[Encoded]) -> list[Row]:
        rows = [padded(column, 0).to(self.device) for column in zip(*batch, strict=True)]
        mask = attention_mask([item[0] for item in batch])
        with torch.inference_mode():
            return self._as_rows(self.model(**dict(zip(INPUTS, rows, strict=False)), attention_mask=mask).logits)
