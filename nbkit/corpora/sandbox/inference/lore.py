"""What the world knows beyond its dictionary: opposites, kinds, times that exclude each other."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nbkit.corpora.sandbox import lexicon
from nbkit.corpora.sandbox.lexicon import Lexeme, table


@cache
def lore() -> dict[str, Any]:
    """The whole table (``data/entailment.yaml``)."""
    text = (files(lexicon.__package__) / "data" / "entailment.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


@cache
def named(name: str) -> dict[str, Lexeme]:
    """The lexemes of a table of the dictionary by their ids."""
    return {lexeme.id: lexeme for lexeme in table(name)}


@cache
def opposites(quality: Lexeme) -> tuple[Lexeme, ...]:
    """The adjectives that do not hold where *quality* does.

    >>> [other.id for other in opposites(named("adjectives")["big"])]
    ['small']
    """
    group = next((group for group in lore()["exclusive_qualities"] if quality.id in group), ())
    return tuple(named("adjectives")[other] for other in group if other != quality.id)


@cache
def other_times(time: Lexeme) -> tuple[Lexeme, ...]:
    """The times of the past at which nothing happens that happens at *time*."""
    rows = lore()["exclusive_times"]
    return tuple(named("adverbs")[other] for row in rows if time.id not in row for other in row)


@cache
def related(verb: Lexeme) -> frozenset[str]:
    """The verbs that an event of *verb* says something about, itself among them."""
    return frozenset({verb.id}.union(*(group for group in lore()["related_verbs"] if verb.id in group)))


@cache
def kinds_named() -> tuple[tuple[Lexeme, tuple[Lexeme, ...]], ...]:
    """The words for kinds, each with the things that it covers."""
    nouns = named("nouns")
    return tuple(
        (named("hypernyms")[kind], tuple(nouns[noun] for noun in covered))
        for kind, covered in lore()["hypernyms"].items()
    )


def kind_of(noun: Lexeme) -> Lexeme:
    """The word for the kind of a thing that has one."""
    return next(kind for kind, covered in kinds_named() if noun in covered)
