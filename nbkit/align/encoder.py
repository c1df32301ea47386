"""Contextual vectors of subwords from any encoder of transformers, and the word that each of them belongs to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from nbkit.errors import ModelError
from nbkit.models.pretrained import budget, load_network


class Subwords(NamedTuple):
    """ids: of a whole text, special ones included. words: the word of each id, None for special ones."""

    ids: tuple[int, ...]
    words: tuple[int | None, ...]


class Encoder:
    """The lower *layer* layers of an encoder, in float32, with its tokenizer.

    Raises `ModelError` where the weights cannot be had, hold fewer layers, or where the tokenizer cannot say which
    word a subword belongs to.
    """

    def __init__(self, model: str, layer: int, device: str = "auto"):
        self.tokenizer, network = load_network(model, "AutoModel", device)
        if not self.tokenizer.is_fast:
            raise ModelError(
                f"model '{model}': its tokenizer, {type(self.tokenizer).__name__}, has no offsets: it cannot say which "
                "word a subword belongs to. Take a model with a fast tokenizer (tokenizer.json)"
            )
        if network.config.is_encoder_decoder:
            network = network.get_encoder()
        layers = network.config.num_hidden_layers
        if not 0 <= layer <= layers:
            raise ModelError(f"model '{model}': layer {layer} asked for; it has 0 (the embeddings) to {layers}")
        self.network = network
        self.layer = layer
        self.limit: int = self.tokenizer.model_max_length
        self.budget = budget(network)

    def subwords(self, texts: Sequence[Sequence[str]]) -> list[Subwords]:
        """The subwords of tokenised texts; what goes over the model's limit is cut off, with a warning."""
        encoded = self.tokenizer([list(words) for words in texts], is_split_into_words=True, verbose=False)
        whole = [Subwords(tuple(ids), tuple(encoded.word_ids(i))) for i, ids in enumerate(encoded["input_ids"])]
        longer = sum(len(text.ids) > self.limit for text in whole)
        if not longer:
            return whole
        warnings.warn(
            f"{longer} texts have more than the model's {self.limit} subwords: words after these get no links",
            stacklevel=3,
        )
        cut = self.tokenizer(
            [list(words) for words in texts], is_split_into_words=True, truncation=True, max_length=self.limit
        )
        return [Subwords(tuple(ids), tuple(cut.word_ids(i))) for i, ids in enumerate(cut["input_ids"])]

    def embed(self, batch: list[Subwords]) -> list[Any]:
        """A vector of length 1 for each subword of a word, (subwords × dimensions) a text. All texts are equally long,
        so that nothing is padded and no vector depends on the batch.
        """
        import torch

        ids = torch.tensor([text.ids for text in batch], device=self.network.device)
        with torch.inference_mode():
            states = self.network(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            ).hidden_states[self.layer]
            states = torch.nn.functional.normalize(states, dim=-1)
        return [
            rows[[place for place, word in enumerate(text.words) if word is not None]]
            for rows, text in zip(states, batch, strict=True)
        ]
