"""Language models with random weights and their tokenizers, of the classes that published ones have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbkit.models.language_model_recipe import LanguageModelRecipe
from nbkit.models.mimetic import attend_to_the_like, place_in_waves, spread
from nbkit.models.subwords import POSITIONS, ROBERTA_SPECIALS, byte_pairs, word_pieces
from nbkit.models.transformer_configs import encoder_config

#: What GPT-2 calls the beginning and the end of a text alike.
GPT2_END = "<|endoftext|>"


def new_tokenizer(texts: Iterable[str], recipe: LanguageModelRecipe) -> Any:
    """The tokenizer of the recipe's architecture, its vocabulary learnt from *texts*: byte pairs or word pieces."""
    from transformers import BertTokenizer, DistilBertTokenizer, GPT2Tokenizer, RobertaTokenizer

    size = recipe.vocabulary
    if recipe.architecture == "gpt2":
        return GPT2Tokenizer(**byte_pairs(texts, size, [GPT2_END]), model_max_length=POSITIONS)
    if recipe.architecture == "roberta":
        return RobertaTokenizer(**byte_pairs(texts, size, ROBERTA_SPECIALS), model_max_length=POSITIONS)
    kind = BertTokenizer if recipe.architecture == "bert" else DistilBertTokenizer
    return kind(**word_pieces(texts, size, lowercase=recipe.lowercase), model_max_length=POSITIONS)


def new_language_model(recipe: LanguageModelRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights; its output layer shares the embeddings."""
    if recipe.architecture == "gpt2":
        return _gpt2(recipe, tokenizer)
    from transformers import BertForMaskedLM, DistilBertForMaskedLM, RobertaForMaskedLM

    classes = {"bert": BertForMaskedLM, "distilbert": DistilBertForMaskedLM, "roberta": RobertaForMaskedLM}
    model = classes[recipe.architecture](encoder_config(recipe.architecture, recipe, tokenizer))
    attend_to_the_like(model)
    place_in_waves(model)
    return model


def _gpt2(recipe: LanguageModelRecipe, tokenizer: Any) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=POSITIONS,
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=recipe.heads,
        n_inner=recipe.ffn,
        resid_pdrop=recipe.dropout,
        embd_pdrop=recipe.dropout,
        attn_pdrop=recipe.dropout,
        initializer_range=spread(recipe.width),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return GPT2LMHeadModel(config)
