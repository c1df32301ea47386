"""Training texts as batches of ids, and which of their tokens a language model is to guess."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils.data import Dataset

from nbkit.models.classifier_encoding import encode_pairs
from nbkit.models.collate import Batches, attention_mask, padded
from nbkit.models.language_model_encoding import Ids, TextEncoder
from nbkit.models.language_model_texts import Sample
from nbkit.models.subwords import POSITIONS
from nbkit.seeding import generator

#: Of the tokens to be guessed: how many are masked, and how many are masked or replaced; the rest stays.
MASKED, CHANGED = 0.8, 0.9
_CHUNK = 1024


class LanguageModelExample(NamedTuple):
    """ids: of a text or a pair, special tokens included. sides: 0 or 1 a token, empty where the model is not told."""

    ids: Ids
    sides: Ids = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """Positions of the text."""
        return (len(self.ids),)


def examples(tokenizer: Any, samples: Iterable[Sample], *, is_causal: bool) -> Iterator[LanguageModelExample]:
    """The ids of each sample; a long text makes several, a long pair is cut.

    A causal model reads BOS, the text and EOS; a masked one what its tokenizer makes of one text or of two.
    """
    encoder = TextEncoder(tokenizer, sys.maxsize, "in training")  # long texts are cut here, into several
    before, after = ((tokenizer.bos_token_id,), (tokenizer.eos_token_id,)) if is_causal else encoder.frame()
    has_sides = "token_type_ids" in tokenizer.model_input_names
    room = POSITIONS - len(before) - len(after)
    stream = iter(samples)
    while chunk := list(islice(stream, _CHUNK)):
        single = [sample[0] for sample in chunk if len(sample) == 1]
        for content in encoder.contents(single, 0):
            for start in range(0, len(content), room):
                ids = (*before, *content[start : start + room], *after)
                yield LanguageModelExample(ids, (0,) * len(ids) if has_sides else ())
        pairs = [(sample[0], sample[1]) for sample in chunk if len(sample) == 2]
        for encoded in encode_pairs(tokenizer, pairs, POSITIONS, "in training"):
            yield LanguageModelExample(encoded[0], encoded[1] if len(encoded) > 1 else ())


class Rounds(Dataset):
    """Rounds over all batches, one after the other, each in an order of its own, with the number of each batch.

    A whole training in one data set: what is masked in a batch is drawn from its number, so that every round masks
    other tokens, and a run that was interrupted the same ones.
    """

    def __init__(self, batches: Batches[LanguageModelExample], rounds: int, seed: int):
        self.batches, self.rounds, self.seed = batches, rounds, seed
        self._order = lru_cache(2)(lambda number: generator(seed, "round", number).permutation(len(batches)).tolist())

    def __len__(self) -> int:
        return len(self.batches) * self.rounds

    def __getitem__(self, index: int) -> tuple[int, list[LanguageModelExample]]:
        number, place = divmod(index, len(self.batches))
        return index, self.batches[self._order(number)[place]]


@dataclass(frozen=True)
class CollateCausal:
    """Ids padded behind with *pad*; the label of each place is the next token (−100: there is none).

    >>> batch = CollateCausal(pad=0)([(7, [LanguageModelExample((0, 5, 6, 0)), LanguageModelExample((0, 8, 0))])])
    >>> batch["input_ids"].tolist(), batch["labels"].tolist()
    ([[0, 5, 6, 0], [0, 8, 0, 0]], [[5, 6, 0, -100], [8, 0, -100, -100]])
    """

    pad: int

    def __call__(self, numbered: Sequence[tuple[int, Sequence[LanguageModelExample]]]) -> dict[str, torch.Tensor]:
        rows = [example.ids for _, batch in numbered for example in batch]
        return {
            "input_ids": padded(rows, self.pad),
            "labels": padded([(*ids[1:], -100) for ids in rows], -100),
        }


@dataclass(frozen=True)
class CollateMasked:
    """Ids in which tokens are masked, and these tokens as labels (−100: not to be guessed).

    special: ids that are never guessed. vocabulary: how many entries it has. share: of tokens that are guessed.
    """

    pad: int
    mask: int
    special: tuple[int, ...]
    vocabulary: int
    share: float
    seed: int

    def __call__(self, numbered: Sequence[tuple[int, Sequence[LanguageModelExample]]]) -> dict[str, torch.Tensor]:
        rows = list(chain.from_iterable(batch for _, batch in numbered))
        ids = padded([row.ids for row in rows], self.pad)
        draw = generator(self.seed, "masks", *(number for number, _ in numbered))
        labels, masked = self._masked(ids.numpy(), draw)
        tensors = {
            "input_ids": torch.from_numpy(masked),
            "attention_mask": attention_mask([row.ids for row in rows]),
            "labels": torch.from_numpy(labels),
        }
        if rows[0].sides:
            tensors["token_type_ids"] = padded([row.sides for row in rows], 0)
        return tensors

    def _masked(self, ids: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chances = np.where(np.isin(ids, self.special), 1.0, draw.random(ids.shape))
        # At least one token of a batch is guessed, however few there are.
        chosen = chances < max(self.share, np.nextafter(chances.min(), 1.0))
        fate = draw.random(ids.shape)
        others = np.setdiff1d(np.arange(self.vocabulary), self.special)
        replaced = np.where(fate < MASKED, self.mask, draw.choice(others, ids.shape))
        masked = np.where(chosen & (fate < CHANGED), replaced, ids)
        return np.where(chosen, ids, -100), masked
