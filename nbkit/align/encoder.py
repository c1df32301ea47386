"""Contextual vectors of subwords from any encoder of transformers, and the word that each of them belongs to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.catalogue import Origin
from nbkit.models.identity import folder_digest, resolve_device

#: Tokens of one batch, by device.
BUDGETS = {"cpu": 4096, "cuda": 65536}


class Subwords(NamedTuple):
    """ids: of a whole text, special ones included. words: the word of each id, None for special ones."""

    ids: tuple[int, ...]
    words: tuple[int | None, ...]


def located(model: str) -> Origin:
    """Where *model* is: a folder, or a hub id with an optional ``@revision``.

    >>> located("google-bert/bert-base-multilingual-cased@main").revision
    'main'
    """
    folder = Path(model).expanduser()
    if folder.is_dir() or model.startswith(("/", "~", ".")):
        return Origin(model, folder=folder)
    hub, _, revision = model.partition("@")
    return Origin(model, hub=hub, revision=revision or None)


def obstacle(model: str) -> str | None:
    """Why the weights of *model* cannot be had, or None; loads nothing."""
    origin = located(model)
    try:
        folder = weights.find(origin)
        if folder is not None:
            weights.check_files(origin, folder)
    except ModelError as error:
        return str(error)
    return None if folder is not None else weights.obstacle(origin)


def encoder_identity(model: str, device: str) -> dict[str, Any]:
    """What stands for the weights (None where they cannot be had) and what runs them, in a cache key."""
    origin = located(model)
    folder = weights.find(origin)
    if origin.hub is not None:
        source = {"hub": origin.hub, "weights": weights.revision(origin)}
    else:
        source = {"weights": None if folder is None else folder_digest(folder)}
    return source | {
        "device": resolve_device(device).partition(":")[0],
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


class Encoder:
    """The lower *layer* layers of an encoder, in float32, with its tokenizer.

    Raises `ModelError` where the weights cannot be had, hold fewer layers, or where the tokenizer cannot say which
    word a subword belongs to.
    """

    def __init__(self, model: str, layer: int, device: str = "auto"):
        import torch
        import transformers
        from safetensors import SafetensorError

        from nbkit.models.loading import quiet, torch_device

        origin = located(model)
        folder = weights.fetch(origin)
        place = torch_device(resolve_device(device))
        try:
            with quiet():
                self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
                network, report = transformers.AutoModel.from_pretrained(
                    folder,
                    trust_remote_code=False,
                    use_safetensors=True,
                    dtype=torch.float32,
                    output_loading_info=True,
                )
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ModelError(f"model '{model}': {folder} cannot be loaded as an encoder: {error}") from error
        missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
        if missing:
            raise ModelError(f"model '{model}': {folder} is no trained encoder: it holds no {', '.join(missing[:3])}")
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
        self.network = network.eval().to(place)
        self.layer = layer
        self.limit = min(self.tokenizer.model_max_length, _positions(network))
        self.budget = BUDGETS.get(place.type, BUDGETS["cpu"])

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


def _positions(network: Any) -> int:
    """The longest input of *network* in tokens, special ones included."""
    positions = getattr(network.config, "max_position_embeddings", None) or 512
    # RoBERTa and its kin count positions from padding_idx + 1 on.
    padding = getattr(getattr(network, "embeddings", None), "padding_idx", None)
    return positions - (0 if padding is None else padding + 1)
