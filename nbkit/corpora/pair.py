"""`Pair`: one entry of a parallel corpus, parsed on both sides."""

from __future__ import annotations

from dataclasses import dataclass

from nbkit.text import Text


@dataclass(frozen=True)
class Pair:
    """A source text and its reference translation.

    id: unique in its corpus and the same in every run (a line number, a ``sent_id``).
    alignment: word links as (source token, target token), counted from 0 over `Text.tokens`; None
    where the corpus has no gold links.
    note: anything a reader of a sample table should know (the sandbox puts the construction here).

    >>> from nbkit.text import Sentence
    >>> pair = Pair("1", Text((Sentence(("Hi", "."), "en"),)), Text((Sentence(("Salut", "."), "fr"),)))
    >>> pair.source.joined, pair.target.joined
    ('Hi .', 'Salut .')
    """

    id: str
    source: Text
    target: Text
    alignment: tuple[tuple[int, int], ...] | None = None
    note: str = ""
