"""Training pairs as ready-made batches of like length: a data set whose items are whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from torch.utils.data import Dataset

from nbkit.seeding import generator


@dataclass(frozen=True)
class Example:
    """Token ids of one training pair, special tokens included; the target as the labels are.

    prefix: what the decoder reads, where that is not its start and the labels but the last.
    """

    source: tuple[int, ...]
    target: tuple[int, ...]
    prefix: tuple[int, ...] | None = None

    @property
    def lengths(self) -> tuple[int, ...]:
        """Positions of the target and of the source."""
        return len(self.target), len(self.source)


class HasLengths(Protocol):
    """Anything of parts, each of which is padded to the longest of its batch."""

    @property
    def lengths(self) -> tuple[int, ...]: ...


ExampleT = TypeVar("ExampleT", bound=HasLengths)


class Batches(Dataset, Generic[ExampleT]):
    """Batches of pairs of like length, each of *budget* tokens at most, padding included.

    What is trained on together is drawn from *seed* (pairs of one length are in random order), so that an
    interrupted run sees the same batches when it goes on. The trainer shuffles the batches.
    """

    def __init__(self, examples: Sequence[ExampleT], budget: int, seed: int):
        order = generator(seed, "batches").permutation(len(examples))
        ranked = sorted(order.tolist(), key=lambda i: examples[i].lengths)
        self.batches: list[list[ExampleT]] = [[]]
        widths: tuple[int, ...] = ()
        for i in ranked:
            lengths = examples[i].lengths
            widths = tuple(map(max, widths, lengths)) if self.batches[-1] else lengths
            if self.batches[-1] and (len(self.batches[-1]) + 1) * sum(widths) > budget:
                self.batches.append([])
                widths = lengths
            self.batches[-1].append(examples[i])

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> list[ExampleT]:
        return self.batches[index]


@dataclass(frozen=True)
class Collate:
    """Makes tensors of batches: padded ids, their mask, labels (−100 where padded) and the decoder's inputs.

    pad: the padding id. start: the token that the decoder starts with.

    >>> batch = Collate(pad=9, start=0)([[Example((5, 1), (6, 7, 1)), Example((5, 6, 1), (8, 1))]])
    >>> batch["labels"].tolist(), batch["decoder_input_ids"].tolist()
    ([[6, 7, 1], [8, 1, -100]], [[0, 6, 7], [0, 8, 9]])
    """

    pad: int
    start: int

    def __call__(self, batches: Sequence[Sequence[Example]]) -> dict[str, torch.Tensor]:
        examples = [example for batch in batches for example in batch]
        source = padded([example.source for example in examples], self.pad)
        labels = padded([example.target for example in examples], -100)
        shifted = [example.prefix or (self.start, *example.target[:-1]) for example in examples]
        return {
            "input_ids": source,
            "attention_mask": attention_mask([example.source for example in examples]),
            "labels": labels,
            "decoder_input_ids": padded(shifted, self.pad),
        }


def padded(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
    """Rows of ids as one tensor, (rows × longest), int64, filled up with *fill*.

    >>> padded([(5, 6, 7), (8,), ()], fill=0).tolist()
    [[5, 6, 7], [8, 0, 0], [0, 0, 0]]
    """
    there = _there(rows)
    table = np.full(there.shape, fill, np.int64)
    table[there] = np.fromiter(chain.from_iterable(rows), np.int64, np.count_nonzero(there))
    return torch.from_numpy(table)


def attention_mask(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Where `padded` rows have an id of their own: 1, int64; 0 where they are filled up.

    >>> attention_mask([(5, 6, 7), (8,)]).tolist()
    [[1, 1, 1], [1, 0, 0]]
    """
    return torch.from_numpy(_there(rows).astype(np.int64))


def _there(rows: Sequence[Sequence[int]]) -> np.ndarray:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return np.arange(lengths.max()) < lengths[:, np.newaxis]
