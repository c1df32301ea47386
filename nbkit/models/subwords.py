"""Vocabularies of subwords, learnt from texts, for the tokenizer classes that published Transformers have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

#: The longest input of the Transformers that are trained here, in tokens.
POSITIONS = 512
#: RoBERTa's and BART's, DistilBERT's and BERT's, in the order of their ids.
ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def byte_pairs(texts: Iterable[str], size: int, specials: Sequence[str]) -> dict[str, Any]:
    """Byte pairs: ``vocab`` and ``merges``, as RoBERTa's and GPT-2's tokenizers take them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    return {"vocab": learnt["vocab"], "merges": [tuple(merge) for merge in learnt["merges"]]}


def word_pieces(texts: Iterable[str], size: int, *, lowercase: bool) -> dict[str, Any]:
    """Word pieces: ``vocab`` and ``do_lower_case``, as BERT's and DistilBERT's tokenizers take them."""
    kept = list(texts)
    # The trainer numbers continuations in the order of a hash table, and breaks ties by these numbers: only where it is
    # told them beforehand do the same texts give the same vocabulary again.
    single = _trained(kept, 0, lowercase, BERT_SPECIALS)
    continuations = sorted(piece for piece in single if len(piece) == 3 and piece.startswith("##"))
    learnt = _trained(kept, size, lowercase, (*BERT_SPECIALS, *continuations))
    return {"vocab": learnt, "do_lower_case": lowercase}


def _trained(texts: list[str], size: int, lowercase: bool, first: Sequence[str]) -> dict[str, int]:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(first), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.get_vocab()
