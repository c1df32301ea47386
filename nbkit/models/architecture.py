"""Models with random weights, of the architectures that can be trained here."""

from __future__ import annotations

from typing import Any

import torch

from nbkit.models.recipe import TranslatorRecipe

_POSITIONS = 512


def new_model(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights.

    The embedding of ``<pad>``, with which Marian's decoder starts, is zero and stays zero in training, as in
    published Marian models (converters to other formats rely on it). Looking ``<pad>`` up never changes it, but the
    output layer, which shares the embeddings, would: its part of the gradient is cut off. ``<pad>`` is never
    generated.
    """
    from transformers import M2M100Config, M2M100ForConditionalGeneration, MarianConfig, MarianMTModel

    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    shape = {
        "vocab_size": len(tokenizer),
        "d_model": recipe.d_model,
        "encoder_layers": recipe.encoder_layers,
        "decoder_layers": recipe.decoder_layers,
        "encoder_attention_heads": recipe.heads,
        "decoder_attention_heads": recipe.heads,
        "encoder_ffn_dim": recipe.ffn,
        "decoder_ffn_dim": recipe.ffn,
        "dropout": recipe.dropout,
        "attention_dropout": 0.0,
        "encoder_layerdrop": 0.0,
        "decoder_layerdrop": 0.0,
        "max_position_embeddings": _POSITIONS,
        "init_std": recipe.d_model**-0.5,
        "scale_embedding": True,
        "pad_token_id": pad,
        "eos_token_id": end,
    }
    model: Any
    if recipe.architecture == "marian":
        config = MarianConfig(
            **shape, activation_function="swish", bos_token_id=None, decoder_start_token_id=pad, forced_eos_token_id=end
        )
        model = MarianMTModel(config)
    else:
        settings = M2M100Config(**shape, bos_token_id=tokenizer.bos_token_id, decoder_start_token_id=end)
        model = M2M100ForConditionalGeneration(settings)
    shared = model.get_input_embeddings().weight
    with torch.no_grad():
        shared[pad].zero_()
    rest = torch.ones(len(tokenizer), 1)
    rest[pad] = 0
    shared.register_hook(lambda gradient: gradient * rest.to(gradient))
    model.generation_config.update(num_beams=4, max_length=_POSITIONS, bad_words_ids=[[pad]])
    return model
