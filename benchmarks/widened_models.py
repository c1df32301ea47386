"""A small trained Marian in a larger shape: what it answers is kept, and the arithmetic is the larger shape's.

Random weights tell nothing of how long hypotheses are, where a search ends, and what rounding changes. A trained model
that is widened does. Every feature is there several times, and weights are divided by as many, so that layer
normalization sees the mean and the variance that it saw before; layers that are put on top add nothing to what is
normalized already; entries that are put into the vocabulary are never chosen.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

_SIDES = ("encoder", "decoder")
_MULTIPLIED = ("d_model", *(f"{side}_{what}" for side in _SIDES for what in ("attention_heads", "ffn_dim")))
#: Logit of an entry that is put into the vocabulary.
_NEVER = -1e4


def widened_marian(model: Path, folder: Path, *, times: int, layers: int, vocabulary: int) -> str:
    """A folder: *model* with each feature *times* times, *layers* on each side, so large a *vocabulary*."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import MarianConfig
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    folder.mkdir(parents=True)
    for path in model.iterdir():
        if path.suffix != ".safetensors":
            shutil.copyfile(path, folder / path.name)
    config = MarianConfig.from_pretrained(model)
    tensors = load_file(model / "model.safetensors")
    more = vocabulary - config.vocab_size
    names = json.loads((model / "vocab.json").read_text(encoding="utf-8"))
    names |= {f"▁never{i}": i for i in range(config.vocab_size, vocabulary)}
    (folder / "vocab.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")

    # Where the model scales embeddings, it does so by the root of the width; logits are sums over the width.
    scale = times**-0.5 if config.scale_embedding else 1.0
    embeddings, bias = tensors.pop("model.shared.weight"), tensors.pop("final_logits_bias")
    drawn = torch.randn(more, config.d_model, generator=torch.Generator().manual_seed(0)) * embeddings.std()
    wide = {
        "model.shared.weight": torch.cat([embeddings, drawn]).tile(1, times) * scale,
        "final_logits_bias": torch.cat([bias, torch.full((1, more), _NEVER)], 1),
    }
    wide |= {name: _tiled(tensor, times) for name, tensor in tensors.items()}
    positions = MarianSinusoidalPositionalEmbedding(config.max_position_embeddings, config.d_model).create_weight()
    for side, there in zip(_SIDES, (config.encoder_layers, config.decoder_layers), strict=True):
        wide[f"model.{side}.embed_positions.weight"] = positions.tile(1, times)
        _put_on_top(wide, f"model.{side}.layers", there, layers)
    for what in ("weight", "bias"):
        wide[f"model.decoder.layers.{layers - 1}.final_layer_norm.{what}"] /= times * scale
    save_file({name: tensor.contiguous() for name, tensor in wide.items()}, folder / "model.safetensors")
    sizes: dict[str, Any] = {key: getattr(config, key) * times for key in _MULTIPLIED}
    sizes |= {f"{side}_layers": layers for side in _SIDES}
    config.update(sizes | {"vocab_size": vocabulary, "decoder_vocab_size": vocabulary})
    config.save_pretrained(folder)
    return str(folder)


def _tiled(tensor: Tensor, times: int) -> Tensor:
    """A bias that many times; a matrix that many times each way, where what comes in is that many times the same."""
    return tensor.tile(times) if tensor.dim() == 1 else tensor.tile(times, times) / times


def _put_on_top(tensors: dict[str, Tensor], prefix: str, there: int, layers: int) -> None:
    """Layers that give what they get: their normalizations change no more than the scale, which the last one brings."""
    import torch

    last = {
        name.removeprefix(f"{prefix}.{there - 1}."): tensor
        for name, tensor in tensors.items()
        if name.startswith(f"{prefix}.{there - 1}.")
    }
    for number in range(there - 1, layers):
        for name, tensor in last.items():
            if "final_layer_norm" in name or (number >= there and "layer_norm" in name):
                tensor = torch.ones_like(tensor) if name.endswith("weight") else torch.zeros_like(tensor)
            elif number >= there and ("out_proj" in name or "fc2" in name):
                tensor = torch.zeros_like(tensor)
            tensors[f"{prefix}.{number}.{name}"] = tensor.clone()
    for what in ("weight", "bias"):
        tensors[f"{prefix}.{layers - 1}.final_layer_norm.{what}"] = last[f"final_layer_norm.{what}"].clone()
