"""Log-probabilities of chosen tokens from any transformers language model, without all of its logits in memory.

Batch × length × vocabulary logits are what fills memory when sentences are scored. Here the network's last layer is
given its inputs at the places that are asked for only, and these a few rows at a time; of each chunk of logits nothing
but the normaliser and the tokens asked for is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from nbkit.errors import ModelError

#: Logits in memory at a time, by kind of device.
LOGITS = {"cpu": 2**23, "cuda": 2**28}


@contextmanager
def given_instead(layer: torch.nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within it *layer* is given what *change* makes of its input."""
    hook = layer.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    try:
        yield
    finally:
        hook.remove()


class OutputLayer:
    """The layer of *model* that has an output for each entry of the vocabulary.

    Raises `ModelError` where it has none, or where something is done to its logits afterwards (soft caps, scales).
    """

    def __init__(self, model: Any, name: str):
        self.model, self.layer = model, model.get_output_embeddings()
        if self.layer is None:
            raise ModelError(f"language model '{name}': {type(model).__name__} has no output layer over a vocabulary")
        self.vocabulary: int = self.layer.weight.shape[0]
        self._check(name)

    def states(self, chosen: Tensor, **inputs: Any) -> Tensor:
        """What the layer is given at the places that *chosen* (texts × tokens) is true at, (places × width)."""
        caught: list[Tensor] = []

        def catch(given: Tensor) -> Tensor:
            caught.append(given[chosen])
            return given[:0]  # nothing is left to compute for the layer

        with given_instead(self.layer, catch):
            self.model(**inputs)
        return caught[0]

    def log_probabilities(self, states: Tensor, tokens: Tensor) -> Tensor:
        """log p of *tokens* (places × any number) at the places of *states*, float32, the same shape."""
        parts = []
        for rows, wanted in zip(self._chunks(states), self._chunks(tokens), strict=True):
            logits = self._logits(rows)
            parts.append(logits.gather(1, wanted) - logits.logsumexp(1, keepdim=True))
        return torch.cat(parts) if parts else torch.zeros(tokens.shape)

    def _chunks(self, rows: Tensor) -> Iterator[Tensor]:
        size = max(1, LOGITS.get(rows.device.type, LOGITS["cpu"]) // self.vocabulary)
        return iter(rows.split(size)) if len(rows) else iter(())

    def _logits(self, rows: Tensor) -> Tensor:
        """Logits in float32. Half precision would be out by up to half a nat, as GPT-2's are about −100."""
        weight, bias = self.layer.weight, getattr(self.layer, "bias", None)
        if rows.is_cuda and rows.dtype != torch.float32:
            logits = torch.mm(rows, weight.t(), out_dtype=torch.float32)
            return logits if bias is None else logits + bias
        return linear(rows.float(), weight.float(), None if bias is None else bias.float())

    @torch.inference_mode()
    def _check(self, name: str) -> None:
        """One look at both ways: a model that does more with its logits would be scored wrongly."""
        ids = torch.arange(min(8, self.vocabulary), device=self.layer.weight.device).unsqueeze(0)
        whole = self.model(input_ids=ids).logits[0].float()
        ours = self._logits(self.states(torch.ones_like(ids, dtype=torch.bool), input_ids=ids))
        if not torch.allclose(whole, ours, rtol=0.05, atol=0.05):
            raise ModelError(
                f"language model '{name}': {type(self.model).__name__} changes its logits after the output layer, "
                "and cannot be scored here"
            )
