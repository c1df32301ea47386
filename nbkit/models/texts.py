"""Pairs as running text, for training and for BLEU: raw corpora are not parsed for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from nbkit.corpora import OnError, Request, find_corpus
from nbkit.corpora.corpus import RawCorpus
from nbkit.syntax.skipped import keep_good


class TextPair(NamedTuple):
    """A source and its reference; *joined* is the source as joined tokens, where the corpus knows its tokens."""

    id: str
    source: str
    target: str
    joined: str


def text_pairs(
    corpus: str, src: str, tgt: str, n: int | None = None, *, on_error: OnError = "raise"
) -> Iterator[TextPair]:
    """The first *n* good pairs of a corpus as text. Raises as `nbkit.corpora.load_pairs` does, parsers aside."""
    found, split = find_corpus(corpus)
    request = Request(src, tgt, split, n, on_error=on_error)
    if isinstance(found, RawCorpus):
        for raw in islice(keep_good(found.raw_pairs(request), on_error, None), n):
            yield TextPair(raw.id, raw.source, raw.target, raw.source)
    else:
        for pair in found.pairs(request):
            yield TextPair(pair.id, pair.source.text, pair.target.text, pair.source.joined)
