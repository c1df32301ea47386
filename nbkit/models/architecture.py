"""Models with random weights, of the architectures that can be trained here."""

from __future__ import annotations

from typing import Any

import torch

from nbkit.models.recipe import TranslatorRecipe

_POSITIONS = 512
#: What Gehring et al. 2017 and fairseq's LSTM are made for.
_OWN_POSITIONS = 1024


def new_model(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights.

    The embedding of ``<pad>``, with which Marian's decoder starts, is zero and stays zero in training, as in
    published Marian models (converters to other formats rely on it). Looking ``<pad>`` up never changes it, but the
    output layer, which shares the embeddings, would: its part of the gradient is cut off. ``<pad>`` is never
    generated.
    """
    make = {"marian": _marian, "m2m100": _m2m100, "mbart": _mbart, "lstm": _lstm, "convs2s": _convs2s}
    model = make[recipe.architecture](recipe, tokenizer)
    pad = tokenizer.pad_token_id
    rest = torch.ones(len(tokenizer), 1)
    rest[pad] = 0
    tables = [side.embed_tokens.weight for side in (model.get_encoder(), model.get_decoder())]
    for shared in {id(table): table for table in tables}.values():
        with torch.no_grad():
            shared[pad].zero_()
        shared.register_hook(lambda gradient: gradient * rest.to(gradient))
    model.generation_config.update(num_beams=4, max_length=_POSITIONS, bad_words_ids=[[pad]])
    return model


def _special(tokenizer: Any) -> dict[str, Any]:
    return {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}


def _transformer(recipe: TranslatorRecipe, tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "d_model": recipe.d_model,
        "encoder_layers": recipe.encoder_layers,
        "decoder_layers": recipe.decoder_layers,
        "encoder_attention_heads": recipe.heads,
        "decoder_attention_heads": recipe.heads,
        "encoder_ffn_dim": recipe.ffn,
        "decoder_ffn_dim": recipe.ffn,
        "dropout": recipe.dropout,
        "attention_dropout": recipe.attention_dropout,
        "encoder_layerdrop": 0.0,
        "decoder_layerdrop": 0.0,
        "max_position_embeddings": _POSITIONS,
        "init_std": recipe.d_model**-0.5,
        "scale_embedding": True,
        **_special(tokenizer),
    }


def _marian(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        **_transformer(recipe, tokenizer),
        activation_function="swish",
        bos_token_id=None,
        decoder_start_token_id=tokenizer.pad_token_id,
        forced_eos_token_id=tokenizer.eos_token_id,
    )
    return MarianMTModel(config)


def _m2m100(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    config = M2M100Config(
        **_transformer(recipe, tokenizer),
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
    )
    return M2M100ForConditionalGeneration(config)


def _mbart(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    """The architecture of mBART for one pair: layers normalised before and not after, no language tokens."""
    from transformers import MBartConfig, MBartForConditionalGeneration

    config = MBartConfig(
        **_transformer(recipe, tokenizer),
        bos_token_id=None,
        decoder_start_token_id=tokenizer.eos_token_id,
        forced_eos_token_id=tokenizer.eos_token_id,
    )
    return MBartForConditionalGeneration(config)


def _own(recipe: TranslatorRecipe, tokenizer: Any) -> dict[str, Any]:
    """What the project's own architectures have in common."""
    return {
        "vocab_size": len(tokenizer),
        "d_model": recipe.d_model,
        "encoder_layers": recipe.encoder_layers,
        "decoder_layers": recipe.decoder_layers,
        "dropout": recipe.dropout,
        "max_position_embeddings": _OWN_POSITIONS,
        "decoder_start_token_id": tokenizer.eos_token_id,
        **_special(tokenizer),
    }


def _lstm(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    from nbkit.models.recurrent import LstmConfig, LstmTranslator

    config = LstmConfig(
        **_own(recipe, tokenizer),
        # fairseq's 0.1 at its width of 512, and sums as large at any other.
        init_std=0.1 * (512 / recipe.d_model) ** 0.5,
    )
    return LstmTranslator(config)


def _convs2s(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    from nbkit.models.convolutional import ConvS2SConfig, ConvS2STranslator

    config = ConvS2SConfig(**_own(recipe, tokenizer), kernel_size=recipe.kernel)
    return ConvS2STranslator(config)
