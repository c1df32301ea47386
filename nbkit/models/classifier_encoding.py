"""Pairs as token ids: for classifying, for training, and padded into batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch

from nbkit.models.collate import padded
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
        found = _tokenized(tokenizer, chunk, truncation=False)
        for i, ids in enumerate(found[0]):
            if len(ids) <= most:
                yield tuple(tuple(rows[i]) for rows in found)
                continue
            if not warned:
                size = f"{len(ids)} tokens cut to its {most} positions"
                warnings.warn(f"classifier '{name}': {size}: {chunk[i][0][:60]!r} …", stacklevel=2)
            warned = True
            cut = _tokenized(tokenizer, [chunk[i]], truncation="longest_first", max_length=most)
            yield tuple(tuple(rows[0]) for rows in cut)


def _tokenized(tokenizer: Any, pairs: Sequence[Pair], **options: Any) -> list[list[list[int]]]:
    premises, hypotheses = (list(side) for side in zip(*pairs, strict=True))
    found = tokenizer(
        premises, hypotheses, return_attention_mask=False, split_special_tokens=True, verbose=False, **options
    )
    return [found[part] for part in INPUTS if part in found]


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
        tensors = {"attention_mask": padded([(1,) * len(row[0]) for row in rows], 0)}
        for part, column, fill in zip(INPUTS, zip(*rows, strict=True), (self.pad, 0), strict=False):
            tensors[part] = padded(column, fill)
        tensors["labels"] = torch.tensor([example.label for example in examples] + [-100] * len(copies))
        return tensors
