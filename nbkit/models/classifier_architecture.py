"""Classifiers with random weights, of the six architectures of the permutation study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from nbkit.corpora.nli_pair import LABELS
from nbkit.errors import DataError
from nbkit.models.classifier_recipe import SENTENCE_ENCODERS, ClassifierRecipe
from nbkit.models.classifier_vocabulary import POSITIONS

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
    transformers = {"roberta": _roberta, "bart": _bart, "distilbert": _distilbert}
    model = transformers[recipe.architecture or ""](recipe, tokenizer)
    _attend_to_the_like(model)
    _place_in_waves(model)
    return model


def _sentence_encoder(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from nbkit.models.encoders import SentencePairClassifier, SentencePairConfig

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


def _spread(recipe: ClassifierRecipe) -> float:
    """Standard deviation of random weights: outputs as large as inputs. The published 0.02 suits a width of 768."""
    return recipe.width**-0.5


#: What transformers calls the two projections that attention compares.
_COMPARED = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"))


@torch.no_grad()
def _attend_to_the_like(model: torch.nn.Module) -> None:
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
def _place_in_waves(model: torch.nn.Module) -> None:
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


def _roberta(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=recipe.ffn,
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.dropout,
        max_position_embeddings=POSITIONS + tokenizer.pad_token_id + 1,
        type_vocab_size=1,
        initializer_range=_spread(recipe),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **NAMES,
    )
    return RobertaForSequenceClassification(config)


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
        init_std=_spread(recipe),
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
        **NAMES,
    )
    return BartForSequenceClassification(config)


def _distilbert(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    config = DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=recipe.width,
        n_layers=recipe.layers,
        n_heads=recipe.heads,
        hidden_dim=recipe.ffn,
        dropout=recipe.dropout,
        attention_dropout=recipe.dropout,
        seq_classif_dropout=recipe.dropout,
        initializer_range=_spread(recipe),
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        **NAMES,
    )
    return DistilBertForSequenceClassification(config)
