"""What can be said or left unsaid of an event without making it another one."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

from nbkit.corpora.sandbox.draw import Draw, adjectives_of
from nbkit.corpora.sandbox.inference.lore import opposites
from nbkit.corpora.sandbox.lexicon import Lexeme
from nbkit.corpora.sandbox.meaning import Clause, Phrase


def copied(clause: Clause) -> Clause:
    """The same meaning, free to be changed."""
    return deepcopy(clause)


def phrases(clause: Clause) -> list[Phrase]:
    """The phrases whose nouns may be described: not names, and not people of one's own."""
    participants = (clause.subject, clause.object, clause.recipient, clause.than)
    return [p for p in participants if p is not None and p.noun is not None and "name" not in p.noun.kinds]


def _describe(draw: Draw, clause: Clause) -> bool:
    options = [p for p in phrases(clause) if p.adjective is None and p.determiner != "own" and _fitting(p, clause)]
    if not options:
        return False
    phrase = draw.pick(options)
    phrase.adjective = draw.concept(_fitting(phrase, clause))
    return True


def _fitting(phrase: Phrase, clause: Clause) -> tuple[Lexeme, ...]:
    """Adjectives for a phrase; what is compared by its size is not called big beside."""
    assert phrase.noun is not None
    barred = () if clause.quality is None else (clause.quality, *opposites(clause.quality))
    return tuple(a for a in adjectives_of(phrase.noun) if a not in barred)


def _date(draw: Draw, clause: Clause) -> bool:
    if clause.time is None and clause.tense == "past":
        clause.time = draw.adverb("time", "past")
        return True
    return False


def _extend(kind: str) -> Callable[[Draw, Clause], bool]:
    """A modifier of manner, place or instrument; a clause takes one of them."""

    def extend(draw: Draw, clause: Clause) -> bool:
        taken = clause.manner or clause.place or clause.instrument
        if clause.verb is None or taken is not None or (clause.negative and kind != "location"):
            return False
        getattr(draw, kind)(clause)
        return bool(clause.manner or clause.place or clause.instrument)

    return extend


_WAYS = (_describe, _describe, _date, _extend("manner"), _extend("location"), _extend("instrument"))


def add(draw: Draw, clause: Clause) -> bool:
    """Say one thing more; False where there is nothing more to be said."""
    ways = list(_WAYS)
    while ways:
        way = draw.pick(ways)
        ways.remove(way)
        if way(draw, clause):
            return True
    return False


def remove(draw: Draw, clause: Clause) -> bool:
    """Leave one thing unsaid; False where all is bare."""
    slots: list[tuple[object, str]] = [(p, "adjective") for p in phrases(clause) if p.adjective is not None]
    names = ("time", "manner", "place", "instrument")
    slots += [(clause, name) for name in names if getattr(clause, name) is not None]
    if not slots:
        return False
    holder, name = draw.pick(slots)
    setattr(holder, name, None)
    return True


def can_be_passive(clause: Clause) -> bool:
    """Whether the grammars have a passive for this clause."""
    verb = clause.verb
    return (
        verb is not None
        and bool(verb.kinds & {"pass", "voice"})
        and clause.tense == "past"
        and not (clause.negative or clause.modal or clause.recipient or clause.instrument)
        and clause.subject is not None
        and clause.object is not None
        and clause.object.determiner != "count"
    )


def passive(clause: Clause) -> Clause:
    """The same event told from the side of the thing done to.

    A passive clause has the patient as its subject and the agent as its object.
    """
    return replace(clause, subject=clause.object, object=clause.subject, passive=True)
