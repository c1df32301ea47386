"""Pairs as token ids: for classifying, for training, and padded into batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch

from nbkit.models.bulk import bulk_encoded, has_bulk
from nbkit.models.collate import attention_mask, padded
from nbkit.models.pretrained import positions

Pair = tuple[str, str]
#: The ids of a pair, special tokens included, and, where the model is told, which side each belongs to (0 or 1).
Encoded = tuple[tuple[int, ...], ...]

#: What the parts of `Encoded` are to a model.
INPUTS = ("input_ids", "token_type_ids")
_CHUNK = 4096


def encode_pairs(tokenizer: Any, pairs: Iterable[Pair], most: int, name: str) -> Iterator[Encoded]:
    """The ids of each pair, tokenized in bulk; a pair of more than *most* tokens is cut at its longer side.

    The first one that is cut is warned of. Marks such as ``</s>`` that stand in a text are text like any other.
    """
    stream, warned = iter(pairs), False
    while chunk := list(islice(stream, _CHUNK)):
        for pair, encoded in zip(chunk, _whole(tokenizer, chunk), strict=True):
            size = len(encoded[0])
            if size <= most:
                yield encoded
                continue
            if not warned:
                cut = f"{size} tokens cut to its {most} positions"
                warnings.warn(f"classifier '{name}': {cut}: {pair[0][:60]!r} …", stacklevel=2)
            warned = True
            yield next(_tokenized(tokenizer, [pair], truncation="longest_first", max_length=most))


def _whole(tokenizer: Any, pairs: Sequence[Pair]) -> Iterator[Encoded]:
    if not has_bulk(tokenizer):
        return _tokenized(tokenizer, pairs, truncation=False)
    rows = bulk_encoded(tokenizer, pairs)
    if INPUTS[1] in tokenizer.model_input_names:
        return ((tuple(row.ids), tuple(row.type_ids)) for row in rows)
    return ((tuple(row.ids),) for row in rows)


def _tokenized(tokenizer: Any, pairs: Sequence[Pair], **options: Any) -> Iterator[Encoded]:
    premises, hypotheses = (list(side) for side in zip(*pairs, strict=True))
    found = tokenizer(
        premises, hypotheses, return_attention_mask=False, split_special_tokens=True, verbose=False, **options
    )
    return zip(*(map(tuple, found[part]) for part in INPUTS if part in found), strict=True)


def positions_of(model: Any, tokenizer: Any) -> int:
    """How many tokens a pair may have at most."""
    return at_most(positions(model), tokenizer)


def at_most(positions: int | None, tokenizer: Any) -> int:
    """The same for a model of so many *positions*, None where it does not say."""
    return min(positions or tokenizer.model_max_length, tokenizer.model_max_length)


@dataclass(frozen=True)
class NliExample:
    """A training pair and its permuted copies as ids; the label is an output of the model."""

    pair: Encoded
    label: int
    copies: tuple[Encoded, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """Positions of the pair, and of all of its copies."""
        return len(self.pair[0]), sum(len(copy[0]) for copy in self.copies)


@dataclass(frozen=True)
class CollatePairs:
    """Makes tensors of batches: pairs and then their copies, which have no label (−100), padded with *pad*.

    >>> example = NliExample(pair=((5, 6),), label=2, copies=(((6, 5, 7),),))
    >>> batch = CollatePairs(pad=9)([[example]])
    >>> batch["input_ids"].tolist(), batch["attention_mask"].tolist(), batch["labels"].tolist()
    ([[5, 6, 9], [6, 5, 7]], [[1, 1, 0], [1, 1, 1]], [2, -100])
    """

    pad: int

    def __call__(self, batches: Sequence[Sequence[NliExample]]) -> dict[str, torch.Tensor]:
        examples = [example for batch in batches for example in batch]
        copies = [copy for example in examples for copy in example.copies]
        rows = [example.pair for example in examples] + copies
        tensors = {"attention_mask": attention_mask([row[0] for row in rows])}
        for part, column, fill in zip(INPUTS, zip(*rows, strict=True), (self.pad, 0), strict=False):
            tensors[part] = padded(column, fill)
        tensors["labels"] = torch.tensor([example.label for example in examples] + [-100] * len(copies))
        return tensors
