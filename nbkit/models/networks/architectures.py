"""How small Transformers begin that have few texts to learn from: attention to the like, and positions in waves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from nbkit.corpora.nli import LABELS
from nbkit.errors import DataError
from nbkit.models.networks.vocabularies import POSITIONS, ROBERTA_SPECIALS, byte_pairs, word_pieces
from nbkit.models.recipes import SENTENCE_ENCODERS, ClassifierRecipe, LanguageModelRecipe, TranslatorRecipe

#: What transformers calls the two projections that attention compares.
_COMPARED = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"))


def spread(width: int) -> float:
    """Standard deviation of random weights: outputs as large as inputs. The published 0.02 suits a width of 768."""
    return width**-0.5


@torch.no_grad()
def attend_to_the_like(model: torch.nn.Module) -> None:
    """Lets each token attend to tokens like itself at first: keys are projected as queries are.

    Which words of the hypothesis stand in the premise is what pairs are judged by; from random projections that takes
    a Transformer more pairs to find out than small sets have. After Trockman & Kolter 2023, "Mimetic Initialization of
    Self-Attention Layers", who found such projections in pretrained models.
    """
    for module in model.modules():
        for query, key in _COMPARED:
            if hasattr(module, query) and hasattr(module, key):
                getattr(module, key).weight.copy_(getattr(module, query).weight)


@torch.no_grad()
def place_in_waves(model: torch.nn.Module) -> None:
    """Lets positions begin as sines and cosines (Vaswani et al. 2017), so that near ones are alike; they are learnt on.

    As large as the random vectors of words, so that neither drowns the other.
    """
    for name, table in model.named_modules():
        if isinstance(table, torch.nn.Embedding) and "position" in name:
            positions, width = table.weight.shape
            rates = 10000 ** (-torch.arange(0, width, 2) / width)
            angles = torch.arange(positions).unsqueeze(1) * rates
            waves = torch.stack((angles.sin(), angles.cos()), 2).reshape(positions, -1)[:, :width]
            table.weight.copy_(waves * (2 / width) ** 0.5)


# ----------------------------------------------------------------------------
# Settings of small Transformers, in the words of each architecture: for classifiers and language models
# alike.


class Sizes(Protocol):
    """What a recipe says of a Transformer's size."""

    @property
    def width(self) -> int: ...
    @property
    def ffn(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def dropout(self) -> float: ...


def encoder_config(architecture: str, sizes: Sizes, tokenizer: Any, **more: Any) -> Any:
    """The transformers configuration of a ``bert``, ``distilbert`` or ``roberta`` for the tokenizer's vocabulary.

    more: goes over it, such as the names of a classifier's outputs.
    """
    return _CONFIGS[architecture](sizes, tokenizer, more)


def _bert(sizes: Sizes, tokenizer: Any, more: Mapping[str, Any]) -> Any:
    from transformers import BertConfig

    return BertConfig(**_bert_like(sizes, tokenizer), max_position_embeddings=POSITIONS, **more)


def _roberta(sizes: Sizes, tokenizer: Any, more: Mapping[str, Any]) -> Any:
    from transformers import RobertaConfig

    return RobertaConfig(
        **_bert_like(sizes, tokenizer),
        max_position_embeddings=POSITIONS + tokenizer.pad_token_id + 1,
        type_vocab_size=1,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **more,
    )


def _bert_like(sizes: Sizes, tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.ffn,
        "hidden_dropout_prob": sizes.dropout,
        "attention_probs_dropout_prob": sizes.dropout,
        "initializer_range": spread(sizes.width),
        "pad_token_id": tokenizer.pad_token_id,
    }


def _distilbert(sizes: Sizes, tokenizer: Any, more: Mapping[str, Any]) -> Any:
    from transformers import DistilBertConfig

    return DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=sizes.width,
        n_layers=sizes.layers,
        n_heads=sizes.heads,
        hidden_dim=sizes.ffn,
        dropout=sizes.dropout,
        attention_dropout=sizes.dropout,
        seq_classif_dropout=sizes.dropout,
        initializer_range=spread(sizes.width),
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        **more,
    )


_CONFIGS: Mapping[str, Callable[[Sizes, Any, Mapping[str, Any]], Any]] = {
    "bert": _bert,
    "distilbert": _distilbert,
    "roberta": _roberta,
}


# ----------------------------------------------------------------------------
# Models with random weights, of the architectures that can be trained here.

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
    from nbkit.models.networks.sequence import LstmConfig, LstmTranslator

    config = LstmConfig(
        **_own(recipe, tokenizer),
        # fairseq's 0.1 at its width of 512, and sums as large at any other.
        init_std=0.1 * (512 / recipe.d_model) ** 0.5,
    )
    return LstmTranslator(config)


def _convs2s(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    from nbkit.models.networks.sequence import ConvS2SConfig, ConvS2STranslator

    config = ConvS2SConfig(**_own(recipe, tokenizer), kernel_size=recipe.kernel)
    return ConvS2STranslator(config)


# ----------------------------------------------------------------------------
# Classifiers with random weights, of the six architectures of the permutation study.

#: What the outputs of a classifier that is trained here stand for, as its settings say.
NAMES: dict[str, Any] = {
    "id2label": dict(enumerate(LABELS)),
    "label2id": {name: i for i, name in enumerate(LABELS)},
}


def new_classifier(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights, or with given word vectors.

    Raises `DataError` for word vectors that cannot be read.
    """
    if recipe.architecture in SENTENCE_ENCODERS:
        return _sentence_encoder(recipe, tokenizer)
    model = _bart(recipe, tokenizer) if recipe.architecture == "bart" else _encoder(recipe, tokenizer)
    attend_to_the_like(model)
    place_in_waves(model)
    return model


def _sentence_encoder(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from nbkit.models.networks.encoders import SentencePairClassifier, SentencePairConfig

    config = SentencePairConfig(
        encoder=recipe.architecture or "",
        vocab_size=len(tokenizer),
        embedding_size=recipe.embedding,
        hidden_size=recipe.width,
        comparison_size=recipe.comparison,
        dropout=recipe.dropout,
        pad_token_id=tokenizer.pad_token_id,
        **NAMES,
    )
    model = SentencePairClassifier(config)
    if recipe.vectors is not None:
        _fill(model.embeddings.get_parameter("weight"), tokenizer.get_vocab(), Path(recipe.vectors))
    return model


def _fill(table: torch.Tensor, vocabulary: dict[str, int], path: Path) -> None:
    """Writes the vectors of known words into *table*: one word a line, then its numbers, as GloVe has them."""
    width = table.shape[1]
    with path.open(encoding="utf-8") as lines, torch.no_grad():
        for number, line in enumerate(lines, 1):
            word, *values = line.rstrip().rsplit(" ", width)
            if len(values) == 1 and number == 1:
                continue  # fastText begins with the numbers of words and of dimensions
            if len(values) != width:
                raise DataError(f"a word and {width} numbers expected (as embedding has it)", path, number)
            if word in vocabulary:
                try:
                    table[vocabulary[word]] = torch.tensor([float(value) for value in values])
                except ValueError as error:
                    raise DataError(str(error), path, number) from None


def _encoder(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from transformers import DistilBertForSequenceClassification, RobertaForSequenceClassification

    classes = {"distilbert": DistilBertForSequenceClassification, "roberta": RobertaForSequenceClassification}
    architecture = recipe.architecture or ""
    return classes[architecture](encoder_config(architecture, recipe, tokenizer, **NAMES))


def _bart(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from transformers import BartConfig, BartForSequenceClassification

    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=recipe.width,
        encoder_layers=recipe.layers,
        decoder_layers=recipe.layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_ffn_dim=recipe.ffn,
        decoder_ffn_dim=recipe.ffn,
        dropout=recipe.dropout,
        attention_dropout=recipe.dropout,
        classifier_dropout=recipe.dropout,
        init_std=spread(recipe.width),
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        **NAMES,
    )
    return BartForSequenceClassification(config)


# ----------------------------------------------------------------------------
# Language models with random weights and their tokenizers, of the classes that published ones have.

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
