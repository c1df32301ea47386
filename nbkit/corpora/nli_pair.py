"""`NliPair`: a premise and a hypothesis with their label, and the labels in the order of every matrix."""

from __future__ import annotations

from dataclasses import dataclass

from nbkit.text import Text

#: The three classes; columns of probabilities are in this order everywhere.
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class NliPair:
    """One example of natural language inference, tokenised.

    id: unique in its corpus and the same in every run. label: one of `LABELS`.
    note: anything a reader of a sample table should know (a genre, the sandbox's rule).

    >>> from nbkit.text import Sentence
    >>> premise = Text((Sentence(("A", "dog", "sleeps", "."), "en"),))
    >>> pair = NliPair("1", premise, Text((Sentence(("Nothing", "sleeps", "."), "en"),)), "contradiction")
    >>> pair.premise.joined, pair.hypothesis.joined
    ('A dog sleeps .', 'Nothing sleeps .')
    """

    id: str
    premise: Text
    hypothesis: Text
    label: str
    note: str = ""


@dataclass(frozen=True)
class RawNli:
    """The same as running text, before any tokenizer."""

    id: str
    premise: str
    hypothesis: str
    label: str
    note: str = ""
