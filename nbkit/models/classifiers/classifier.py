"""NLI classifiers: pairs of texts in, probabilities out; and pairs as token ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from nbkit.corpora.nli import LABELS
from nbkit.models.batching import Budgeted, CutWarning, bulk_encoded, has_bulk
from nbkit.models.catalogue import ClassifierReference, classifier_label, output_order, own_architecture
from nbkit.models.classifiers.lifecycle import Pair, Row
from nbkit.models.lifecycle import positions
from nbkit.models.loading import (
    load_tokenizer,
    load_trained,
    on_device,
    padded,
    torch_device,
    torch_dtype,
)
from nbkit.progress import progress_bar

# ----------------------------------------------------------------------------
# Pairs as token ids.

#: The ids of a pair, special tokens included, and, if the model uses them, the side of each (0 or 1).
Encoded = tuple[tuple[int, ...], ...]


#: What the parts of `Encoded` are to a model.
INPUTS = ("input_ids", "token_type_ids")


_CHUNK = 4096


def encode_pairs(tokenizer: Any, pairs: Iterable[Pair], most: int, name: str) -> Iterator[Encoded]:
    """The ids of each pair, tokenized in bulk; the longer side of a pair of more than *most* tokens is truncated.

    Warns of the first truncated pair. Marks such as ``</s>`` in a text are treated as ordinary text.
    """
    stream, warn = iter(pairs), CutWarning(f"classifier '{name}'")
    while chunk := list(islice(stream, _CHUNK)):
        for pair, encoded in zip(chunk, _whole(tokenizer, chunk), strict=True):
            size = len(encoded[0])
            if size <= most:
                yield encoded
                continue
            warn(size, f"its {most} positions", pair[0])
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
    """The maximum number of tokens of a pair."""
    return at_most(positions(model), tokenizer)


def at_most(positions: int | None, tokenizer: Any) -> int:
    """The same for a model with that many *positions*, None if it does not state them."""
    return min(positions or tokenizer.model_max_length, tokenizer.model_max_length)


# ----------------------------------------------------------------------------
# The classifiers that transformers loads: Transformers that read both texts at once, and encoders of single
# sentences.

#: Pairs per window: those in memory, among which equal lengths are searched.
WINDOW = 4096


def load_pair_classifier(reference: ClassifierReference, folder: Path, device: str, dtype: str) -> PairClassifier:
    """Load the classifier in *folder* with transformers, in the class of its architecture's package if it has one."""
    from transformers import AutoModelForSequenceClassification as Auto

    what, own = reference.called, own_architecture(folder)
    model = load_trained(Auto, folder, torch_device(device), torch_dtype(dtype), what, "classifier")
    return (own or PairClassifier)(reference, folder, model, positions=positions(model))


class PairClassifier(Budgeted):
    """A transformers model that reads premise and hypothesis together, and its tokenizer.

    positions: the longest pair in tokens, None if the model does not state it.
    """

    #: Tokens per batch, both sides of its pairs. Larger batches are slower on a CPU, as they exceed its caches.
    budgets: ClassVar = {"cpu": 1024, "cuda": 131072}

    def __init__(self, reference: ClassifierReference, folder: Path, model: Any, *, positions: int | None):
        self.name = reference.full_name
        self.reference, self.folder, self.model = reference, folder, model
        self.tokenizer = load_tokenizer(folder, reference.called)
        self.device: torch.device = model.device
        self._order = output_order(reference, folder)
        self._positions = at_most(positions, self.tokenizer)

    def probabilities(self, pairs: Sequence[Pair], *, progress: bool = True) -> np.ndarray:
        """p(label | premise, hypothesis), one row per pair; the columns are in the order of `LABELS`.

        Shape (pairs × 3), float64; each row sums to 1. Equal pairs are classified once. Rows do not depend on other
        pairs, as far as float arithmetic allows. If a pair exceeds the model's positions, its longer side is truncated,
        with a warning.
        """
        with progress_bar(f"{classifier_label(self.name)} {self.reference.lang}", len(pairs), progress) as bar:
            rows = list(self.rows(pairs, done=bar.update))
        return np.array(rows, dtype=np.float64).reshape(len(pairs), len(LABELS))

    def rows(self, pairs: Iterable[Pair], done: Callable[[int], object] = lambda count: None) -> Iterator[Row]:
        """The same for a stream of pairs, row by row; one window at a time is in memory."""
        return self._batches(
            self._encoded(pairs),
            lambda item: len(item[0]),
            self._classify,
            group=self._group,
            window=WINDOW,
            done=done,
            ahead=self.device.type == "cuda",
        )

    def _encoded(self, pairs: Iterable[Pair]) -> Iterator[Encoded]:
        return encode_pairs(self.tokenizer, pairs, self._positions, self.name)

    def _group(self, item: Encoded) -> Hashable:
        """The common property of pairs in a batch: with one length there is no padding or mask, which is fastest."""
        return len(item[0])

    def _classify(self, batch: list[Encoded]) -> list[Row]:
        """Rows of pairs of one group."""
        columns = (on_device(padded(column, 0), self.device) for column in zip(*batch, strict=True))
        with torch.inference_mode():
            return self._as_rows(self.model(**dict(zip(INPUTS, columns, strict=False))).logits)

    def _as_rows(self, logits: torch.Tensor) -> list[Row]:
        return [tuple(row) for row in logits[:, self._order].double().softmax(-1).tolist()]
