"""The sandbox's idiom sentences in the form of those that the matcher finds and the files hold: `IdiomPair`."""

from __future__ import annotations

from nbkit.corpora import sandbox
from nbkit.corpora.idiom_splits import IdiomSplits
from nbkit.corpora.idioms.pairs import IdiomPair


def sandbox_idiom_pairs(tgt: str, split: str = "idiom-test") -> tuple[IdiomPair, ...]:
    """All pairs of idiom-train or idiom-test, from English, with the places of their idioms.

    Raises `UnknownNameError` for a language or split that there is not, `NbkitError` for a split of regular text.

    >>> pair = next(pair for pair in sandbox_idiom_pairs("fr") if pair.idiom == "a white elephant")
    >>> pair.words
    ('white elephant',)
    """
    found = []
    for pair in sandbox.pairs("en", tgt, n=None, split=split, mixture="idioms"):
        gold = sandbox.gold_idiom(pair)
        found.append(IdiomPair(pair.id, pair.source.text, pair.target.text, gold.idiom, gold.spans))
    return tuple(found)


def sandbox_idiom_splits(tgt: str) -> IdiomSplits:
    """Idiom-train and idiom-test of the sandbox; nothing is discarded, as each idiom has several pairs.

    >>> sandbox_idiom_splits("de").frequencies()["kick the bucket"]
    (72, 72)
    """
    return IdiomSplits(sandbox_idiom_pairs(tgt, "idiom-train"), sandbox_idiom_pairs(tgt, "idiom-test"), ())
