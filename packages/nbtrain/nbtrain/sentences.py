"""Classifiers that encode each sentence by itself: nbkit has each distinct sentence encoded once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import torch

import nbtrain.networks  # noqa: F401 - makes the architectures known to transformers
from nbkit.models.classifiers.classifier import WINDOW, Encoded, PairClassifier
from nbkit.models.classifiers.lifecycle import Pair, Row
from nbkit.models.loading import on_device, padded

#: Pairs of sentence codes that are compared at a time.
_COMPARED = 512


class SentenceClassifier(PairClassifier):
    """A sentence encoder: every distinct sentence is encoded once, however many pairs it is in."""

    def rows(self, pairs: Iterable[Pair], done: Callable[[int], object] = lambda count: None) -> Iterator[Row]:
        stream = iter(pairs)
        while window := list(islice(stream, WINDOW)):
            sides = [self._sides(item) for item in self._encoded(window)]
            both = (side for pair in sides for side in pair)
            codes = self._batches(both, len, self._encode, group=len, window=2 * WINDOW)
            while part := list(islice(zip(codes, codes, strict=True), _COMPARED)):
                premises, hypotheses = (torch.stack(side) for side in zip(*part, strict=True))
                with torch.inference_mode():
                    yield from self._as_rows(self.model.compare(premises, hypotheses))
                done(len(part))

    @staticmethod
    def _sides(item: Encoded) -> tuple[tuple[int, ...], tuple[int, ...]]:
        ids, sides = item
        first = sides.index(1)
        return ids[:first], ids[first:]

    def _encode(self, batch: list[tuple[int, ...]]) -> Sequence[torch.Tensor]:
        with torch.inference_mode():
            return self.model.encode(on_device(padded(batch, 0), self.device)).unbind()
