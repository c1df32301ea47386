"""Settings of small Transformers, in the words of each architecture: for classifiers and language models alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from nbkit.models.mimetic import spread
from nbkit.models.subwords import POSITIONS


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
