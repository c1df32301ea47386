"""What the sandbox's mixture of idioms is to the study: idiom-train, idiom-test, and the dictionary of its words."""

from __future__ import annotations

from functools import cache
from typing import Any

from nbkit.corpora import sandbox
from nbkit.corpora.idiom_splits import IdiomSplits
from nbkit.corpora.idioms import IdiomPair
from nbkit.errors import NbkitError
from nbkit.metrics.word_dictionary import WordDictionary

#: The mixture, as the sandbox calls it.
MIXTURE = "idioms"


@cache
def sandbox_splits(src: str, tgt: str) -> IdiomSplits:
    """Idiom-train and idiom-test, which the sandbox deals itself; nothing is discarded. The source is English."""
    parts = []
    for split in sandbox.IDIOM_SPLITS:
        pairs = sandbox.pairs(src, tgt, n=None, split=split, mixture=MIXTURE)
        found = []
        for pair in pairs:
            gold = sandbox.gold_idiom(pair)
            found.append(IdiomPair(pair.id, pair.source.text, pair.target.text, gold.idiom, gold.spans))
        parts.append(tuple(found))
    train, test = parts
    return IdiomSplits(train, test, ())


def sandbox_identity(src: str, tgt: str) -> dict[str, Any]:
    """The versions of the sandbox and of its mixture. Raises `NbkitError` where the source is not English."""
    if src != "en":
        raise NbkitError(f"the sandbox's idioms are English; source is '{src}'")
    return dict(sandbox.identity(src, tgt, split=sandbox.IDIOM_SPLITS[1], mixture=MIXTURE))


def sandbox_dictionary(src: str, tgt: str) -> WordDictionary:
    """The literal translations of the sandbox's words.

    >>> sandbox_dictionary("en", "fr").translations("bucket")
    ('seau',)
    """
    return WordDictionary("idioms", "sandbox", sandbox.idiom_dictionary(src, tgt))


def sandbox_problems(src: str, tgt: str) -> list[str]:
    """A language that the sandbox's idioms do not have."""
    try:
        sandbox_identity(src, tgt)
    except NbkitError as error:
        return [str(error)]
    return []
