"""Noise on what a translator reads in training: masked source words, random source words, random target words.

Source: idioms paper, §3.2: "mask 10% of the source tokens" (+mask), "replace 10% of the source tokens with random
ones" (+replace (enc)), "replace 10% of the target tokens with random ones" (+replace (dec)). On the target side it is
what the decoder has read that is replaced (Voita et al. 2021, "Analyzing the Source and Target Contributions to
Predictions in Neural Machine Translation"); what it has to write, the labels, stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch.utils.data import Dataset
from transformers import TrainerCallback

from nbkit.models.catalogue import Family
from nbkit.models.collate import Batches, Example
from nbkit.models.recipe import TranslatorRecipe
from nbkit.seeding import generator


@dataclass(frozen=True)
class Noise:
    """Shares of tokens, and what they become; special tokens are never touched.

    mask, replace_source, replace_target: each ordinary token is hit with this probability by itself; a source token
    that is both masked and replaced is masked. mask_id: what masked ones become. special: ids that are left alone.
    vocabulary: how many ids there are; replacements are drawn uniformly from those that are not special. start: the
    decoder's start.
    """

    seed: int
    mask: float
    replace_source: float
    replace_target: float
    mask_id: int
    special: frozenset[int]
    vocabulary: int
    start: int

    @classmethod
    def of(cls, recipe: TranslatorRecipe, tokenizer: Any, family: Family, start: int) -> Noise:
        """As the recipe says; a vocabulary without ``<mask>`` has its unknown token in its place.

        The family's language tokens are special, whether the tokenizer's files list them as such or not.
        """
        mask = tokenizer.mask_token_id
        special = {token for token in (*tokenizer.all_special_ids, mask) if token is not None}
        if family.token is not None:
            names = [family.token.format(code=code) for code in family.codes.values()]
            special.update(token for token in tokenizer.convert_tokens_to_ids(names) if token is not None)
        return cls(
            seed=recipe.seed,
            mask=recipe.mask,
            replace_source=recipe.replace_source,
            replace_target=recipe.replace_target,
            mask_id=tokenizer.unk_token_id if mask is None else mask,
            special=frozenset(special),
            vocabulary=len(tokenizer),
            start=start,
        )

    def __call__(self, example: Example, number: int, epoch: int) -> Example:
        """The example with noise that belongs to its *number* and the *epoch*: every pass sees another.

        >>> noise = Noise(0, 1 - 1e-9, 0, 0, mask_id=3, special=frozenset({0, 3}), vocabulary=9, start=0)
        >>> noise(Example((5, 6, 7, 8, 0), (4, 0)), 1, 0)  # all but the end
        Example(source=(3, 3, 3, 3, 0), target=(4, 0), prefix=None)
        """
        source, prefix = np.array(example.source), example.prefix
        if self.replace_source:
            source = self._replaced(source, self.replace_source, "source", number, epoch)
        if self.mask:
            hit = self._hit(np.array(example.source), self.mask, "mask", number, epoch)
            source = np.where(hit, self.mask_id, source)
        if self.replace_target:
            read = np.array(prefix or (self.start, *example.target[:-1]))
            prefix = tuple(self._replaced(read, self.replace_target, "target", number, epoch).tolist())
        return replace(example, source=tuple(source.tolist()), prefix=prefix)

    def _hit(self, ids: np.ndarray, share: float, kind: str, number: int, epoch: int) -> np.ndarray:
        drawn = generator(self.seed, "noise", kind, number, epoch).random(len(ids)) < share
        return drawn & ~np.isin(ids, list(self.special))

    def _replaced(self, ids: np.ndarray, share: float, kind: str, number: int, epoch: int) -> np.ndarray:
        others = np.setdiff1d(np.arange(self.vocabulary), list(self.special))
        drawn = generator(self.seed, "random tokens", kind, number, epoch).choice(others, len(ids))
        return np.where(self._hit(ids, share, kind, number, epoch), drawn, ids)


@dataclass(frozen=True)
class _Numbered:
    number: int
    example: Example

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.example.lengths


class NoisyBatches(Dataset):
    """`Batches` whose examples get their noise when they are asked for; *epoch* says which."""

    def __init__(self, examples: Sequence[Example], budget: int, seed: int, noise: Noise):
        self.batches = Batches([_Numbered(*row) for row in enumerate(examples)], budget, seed)
        self.noise, self.epoch = noise, 0

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> list[Example]:
        return [self.noise(row.example, row.number, self.epoch) for row in self.batches[index]]


class NewNoise(TrainerCallback):
    """Tells noisy batches which pass over the data begins, also where a run goes on in the middle of one."""

    def __init__(self, batches: NoisyBatches):
        self.batches = batches

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.batches.epoch = int((state.epoch or 0) + 1e-6)
