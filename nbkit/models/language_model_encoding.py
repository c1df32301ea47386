"""Texts as token ids for language models: whole, masked token by token, and with candidates in a place."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from nbkit.errors import ModelError
from nbkit.models.bulk import bulk_encoded, has_bulk

Ids = tuple[int, ...]
#: A place in a text: its first character, and the first one after it.
Span = tuple[int, int]
_CHUNK = 1024


class Likelihood(NamedTuple):
    """log_probability: the sum over a text's scored tokens, in nats. tokens: how many these are."""

    log_probability: float
    tokens: int

    @property
    def perplexity(self) -> float:
        """exp of the mean negative log-probability; NaN where no token is scored.

        >>> round(Likelihood(-6.0, 3).perplexity, 4), Likelihood(0.0, 0).perplexity
        (7.3891, nan)
        """
        if not self.tokens:
            return math.nan
        try:
            return math.exp(-self.log_probability / self.tokens)
        except OverflowError:
            return math.inf


class Filled(NamedTuple):
    """A text as ids with its special tokens; what stands in the place are those from *start* to before *stop*."""

    ids: Ids
    start: int
    stop: int


@dataclass(frozen=True)
class TextEncoder:
    """A fast tokenizer and the most *positions* its model has; what goes beyond them is cut, with a warning."""

    tokenizer: Any
    positions: int
    name: str

    def __post_init__(self) -> None:
        if not self.tokenizer.is_fast:
            raise ModelError(
                f"language model '{self.name}': its tokenizer, {type(self.tokenizer).__name__}, has no offsets: it "
                "cannot say where a token stands. Take a model with a fast tokenizer (tokenizer.json)"
            )

    def contents(self, texts: Iterable[str], room: int) -> Iterator[Ids]:
        """The ids of each text without special tokens, the first *positions* less *room* of them.

        Marks such as ``<|endoftext|>`` that stand in a text are text like any other.
        """
        stream, warned, most = iter(texts), False, self.positions - room
        while chunk := list(islice(stream, _CHUNK)):
            for text, ids in zip(chunk, self._contents(chunk), strict=True):
                if len(ids) > most:
                    if not warned:
                        warned = True
                        self._warn(len(ids), most, text)
                    ids = ids[:most]
                yield tuple(ids)

    def _contents(self, texts: Sequence[str]) -> Iterator[list[int]]:
        if has_bulk(self.tokenizer):
            return (encoded.ids for encoded in bulk_encoded(self.tokenizer, texts, specials=False))
        return iter(self._tokenized(texts, add_special_tokens=False)["input_ids"])

    def frame(self) -> tuple[Ids, Ids]:
        """The special tokens before and after a text."""
        ids = self._tokenized([""], add_special_tokens=True)["input_ids"][0]
        middle = 1 if len(ids) > 1 else 0  # [CLS] [SEP], <s> </s>
        return tuple(ids[:middle]), tuple(ids[middle:])

    def filled(self, asked: Iterable[tuple[str, Span, str]]) -> Iterator[Filled]:
        """Each text with its candidate written in the place; of a long one as much as fits around the place.

        A place within a word is widened to the whole subwords that it touches. Raises `ModelError` for a place that is
        not in the text, and for a candidate without any subword.
        """
        stream, warned = iter(asked), False
        before, after = self.frame()
        most = self.positions - len(before) - len(after)
        while chunk := list(islice(stream, _CHUNK)):
            for text, (start, stop), _ in chunk:
                if not 0 <= start <= stop <= len(text):
                    raise ModelError(f"place {start}:{stop} is not in the text of {len(text)} characters: {text!r}")
            texts = [text[:start] + candidate + text[stop:] for text, (start, stop), candidate in chunk]
            encoded = self._tokenized(texts, add_special_tokens=False, return_offsets_mapping=True)
            rows = zip(chunk, texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
            for (_, (start, _), candidate), text, ids, offsets in rows:
                end = start + len(candidate)
                # RoBERTa's piece for the space before a word, where it stands alone, is empty and at the word's start.
                places = [i for i, (a, b) in enumerate(offsets) if (a < end and b > start) or a == b == start]
                if not places or not candidate.strip():
                    raise ModelError(f"candidate {candidate!r}: language model '{self.name}' has no token for it")
                first, last = places[0], places[-1] + 1
                if last - first > most:
                    raise ModelError(f"candidate {candidate[:60]!r} has more than {most} tokens")
                if len(ids) > most and not warned:
                    warned = True
                    self._warn(len(ids), most, text)
                # As much on the one side as on the other, and all that there is on a short one.
                left = max(0, min(first - (most - (last - first)) // 2, len(ids) - most))
                shift = len(before) - left
                yield Filled((*before, *ids[left : left + most], *after), first + shift, last + shift)

    def _tokenized(self, texts: Sequence[str], **options: Any) -> Any:
        return self.tokenizer(
            list(texts),
            return_attention_mask=False,
            return_token_type_ids=False,
            split_special_tokens=True,
            verbose=False,
            **options,
        )

    def _warn(self, count: int, most: int, text: str) -> None:
        size = f"{count} tokens cut to {most}, as it has {self.positions} positions"
        warnings.warn(f"language model '{self.name}': {size}: {text[:60]!r} …", stacklevel=3)
