"""Training pairs as ready-made batches of like length: a data set whose items are whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset

from nbkit.seeding import generator


@dataclass(frozen=True)
class Example:
    """Token ids of one training pair, special tokens included; the target as the labels are."""

    source: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def size(self) -> int:
        """Positions that the pair fills in a batch where it is the longest."""
        return len(self.source) + len(self.target)


class Batches(Dataset):
    """Batches of pairs of like length, each of *budget* tokens at most, padding included.

    What is trained on together is drawn from *seed* (pairs of one length are in random order), so that an
    interrupted run sees the same batches when it goes on. The trainer shuffles the batches.
    """

    def __init__(self, examples: Sequence[Example], budget: int, seed: int):
        order = generator(seed, "batches").permutation(len(examples))
        ranked = sorted(order.tolist(), key=lambda i: (len(examples[i].target), len(examples[i].source)))
        self.batches: list[list[Example]] = [[]]
        width = [0, 0]
        for i in ranked:
            example = examples[i]
            width = [max(width[0], len(example.source)), max(width[1], len(example.target))]
            if self.batches[-1] and (len(self.batches[-1]) + 1) * sum(width) > budget:
                self.batches.append([])
                width = [len(example.source), len(example.target)]
            self.batches[-1].append(example)

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> list[Example]:
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
        source = _padded([example.source for example in examples], self.pad)
        labels = _padded([example.target for example in examples], -100)
        shifted = [(self.start, *example.target[:-1]) for example in examples]
        return {
            "input_ids": source,
            "attention_mask": _padded([(1,) * len(example.source) for example in examples], 0),
            "labels": labels,
            "decoder_input_ids": _padded(shifted, self.pad),
        }


def _padded(rows: Sequence[tuple[int, ...]], fill: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + (fill,) * (longest - len(row)) for row in rows])
