"""BLEURT: how well a candidate conveys its reference, as a regression model learned to judge it.

Source: Sellam et al. 2020; the word-order paper's figure 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nbkit.errors import ModelError
from nbkit.metrics.base import check_pairs
from nbkit.models import pretrained
from nbkit.models.batching import run_batches
from nbkit.progress import progress_bar

#: The published base checkpoint, ported to transformers.
DEFAULT_MODEL = "Elron/bleurt-base-128"


class _Regressor(NamedTuple):
    tokenizer: Any
    network: Any


@dataclass(frozen=True)
class Bleurt:
    """BLEURT by a sequence classifier of one output; the scale is the checkpoint's own, mostly −1 to 1.

    model: hub id or folder of an ``AutoModelForSequenceClassification`` with ``num_labels=1``; it reads reference and
    candidate, in this order. device: "auto" (CUDA where there is one), "cpu", "cuda".
    The longer side of a pair that is too long for the model is cut. Empty texts are scored like others.

    >>> Bleurt().signature("de")
    'BLEURT|model:Elron/bleurt-base-128|nrefs:1|case:mixed'
    """

    model: str = DEFAULT_MODEL
    device: str = "auto"
    name: ClassVar[str] = "bleurt"
    symbol: ClassVar[str] = "BLEURT"
    bounded: ClassVar[bool] = False

    def signature(self, lang: str) -> str:
        """The model (a folder without its path) and the settings; *lang* changes nothing.

        >>> Bleurt(model="Elron/bleurt-tiny-512").signature("en")
        'BLEURT|model:Elron/bleurt-tiny-512|nrefs:1|case:mixed'
        """
        return f"BLEURT|model:{pretrained.signature_label(self.model)}|nrefs:1|case:mixed"

    def identity(self, lang: str) -> dict[str, Any]:
        """The metric's part of a cache key: name, signature, what stands for the weights, device and versions.

        Loads nothing. Weights that cannot be had are None here.

        >>> sorted(Bleurt(device="cpu").identity("en"))
        ['device', 'hub', 'metric', 'signature', 'torch', 'transformers', 'weights']
        """
        return {
            "metric": self.name,
            "signature": self.signature(lang),
            **pretrained.network_identity(self.model, self.device),
        }

    def problem(self, lang: str | None = None) -> str | None:
        """Why it cannot be used here, or None; loads nothing."""
        return pretrained.obstacle(self.model)

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """The regression model's rating of each pair: a float64 array on the checkpoint's own scale, not bounded.

        Raises `NbkitError` where the lists are not equally long or hold anything but texts, `ModelError` for weights
        that cannot be had or that are no regression model. Source: Sellam et al. 2020.

        >>> Bleurt().scores([], [], "en").tolist()
        []
        """
        check_pairs(self.name, hypotheses, references, lang)
        if not len(hypotheses):
            return np.zeros(0)
        pairs = (
            self._tokens(reference, candidate) for reference, candidate in zip(references, hypotheses, strict=True)
        )
        with progress_bar(f"{self.name} {lang}", len(hypotheses), unit="pair") as bar:
            values = run_batches(
                pairs,
                length=lambda pair: len(pair[0]),
                run=self._run,
                budget=pretrained.budget(self._regressor.network),
                group=lambda pair: len(pair[0]),
                done=bar.update,
            )
            return np.fromiter(values, dtype=np.float64, count=len(hypotheses))

    def _tokens(self, reference: str, candidate: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Token and segment numbers of a pair."""
        tokenizer = self._regressor.tokenizer
        encoded = tokenizer(
            reference,
            candidate,
            truncation="longest_first",
            max_length=tokenizer.model_max_length,
            return_token_type_ids=True,
        )
        return tuple(encoded["input_ids"]), tuple(encoded["token_type_ids"])

    def _run(self, batch: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[float]:
        """Scores of pairs that have as many tokens as each other."""
        import torch

        network = self._regressor.network
        tokens, segments = (torch.tensor(side, device=network.device) for side in zip(*batch, strict=True))
        given = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if getattr(network.config, "type_vocab_size", 0) > 1:
            given["token_type_ids"] = segments
        with torch.inference_mode():
            return network(**given).logits[:, 0].tolist()

    @cached_property
    def _regressor(self) -> _Regressor:
        """The tokenizer and the classifier, loaded now."""
        tokenizer, network = pretrained.load_network(self.model, "AutoModelForSequenceClassification", self.device)
        if network.config.num_labels != 1:
            raise ModelError(
                f"bleurt: '{self.model}' has {network.config.num_labels} outputs; "
                "a regression model has one (num_labels=1)"
            )
        return _Regressor(tokenizer, network)
