"""What the world knows beyond its dictionary: opposites, kinds, times that exclude each other."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nbkit.sandbox import meaning as lexicon
from nbkit.sandbox.draw import Draw, adjectives_of, nouns_of, verbs_of
from nbkit.sandbox.meaning import Clause, Lexeme, Phrase, table


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


#: Draws the meaning of a hypothesis, or None where this draw came to nothing.
Family = Callable[[Draw], Clause | None]


#: All families by name.
FAMILIES: dict[str, Family] = {}


def family(function: Family) -> Family:
    """Enter *function* in the table under its own name."""
    FAMILIES[function.__name__] = function
    return function


def someone(draw: Draw) -> Phrase:
    """A person who is spoken of by name, by trade or as one of the family."""
    return draw.name() if draw.chance(0.35) else draw.noun(("person",), 0.0)


def deed(draw: Draw, verb: Lexeme, subject: Phrase | None = None) -> Clause:
    """Something that someone did, told barely: who, what, to whom."""
    clause = Clause(draw.key(), verb=verb, subject=subject or someone(draw), tense="past")
    if verb.objects:
        clause.object = thing(draw, verb)
    if "di" in verb.kinds:
        clause.recipient = someone(draw)
    return clause


def thing(draw: Draw, verb: Lexeme) -> Phrase:
    """What something was done to: a definite or indefinite thing, or a person."""
    phrase = draw.noun(tuple(kind for kind in verb.objects if kind != "person") or verb.objects, 0.0)
    assert phrase.noun is not None
    if phrase.determiner == "definite" and not phrase.noun.kinds & {"mass", "person"} and draw.chance(0.3):
        phrase.determiner = "indefinite"
    return phrase


def told(draw: Draw, clause: Clause, least: int = 1, most: int = 3) -> Clause | None:
    """*clause* with some more said of it; None where there is not that much to say."""
    for _ in range(draw.pick(range(least, most + 1))):
        if not add(draw, clause):
            return None
    return clause


def _verbs() -> tuple[Lexeme, ...]:
    """The verbs of deeds done to things."""
    return tuple(v for v in verbs_of(("tr", "ach", "di")) if set(v.objects) - {"person"} and v.id not in _UNTOLD)


#: "answered the question", "looked for": some languages have no passive, no indefinite object for them.
_UNTOLD = frozenset({"answer", "await", "seek"})


@family
def timed(draw: Draw) -> Clause | None:
    clause = deed(draw, draw.concept(_verbs()))
    clause.time = draw.adverb("time", "past")
    clause.time_first = draw.chance(0.3)
    return told(draw, clause)


@family
def described(draw: Draw) -> Clause | None:
    clause = deed(draw, draw.concept(_verbs()))
    phrase = clause.object
    assert phrase is not None and phrase.noun is not None
    options = [a for a in adjectives_of(phrase.noun) if any(o in adjectives_of(phrase.noun) for o in opposites(a))]
    if not options or phrase.determiner == "own":
        return None
    phrase.adjective = draw.concept(options)
    return told(draw, clause)


@family
def roles(draw: Draw) -> Clause | None:
    verb = draw.concept([named("verbs")[name] for name in lore()["deeds"]])
    clause = Clause(draw.key(), verb=verb, subject=someone(draw), tense="past")
    if "di" in verb.kinds:
        clause.recipient = someone(draw)
        clause.object = thing(draw, verb)
    else:
        clause.object = someone(draw)
    if draw.chance(0.5):
        clause.time, clause.time_first = draw.adverb("time", "past"), draw.chance(0.5)
    return told(draw, clause, 1, 2)


@family
def compared(draw: Draw) -> Clause | None:
    group = draw.pick(("work", "animal", "vehicle", "place", "clothing", "text", "tool", "fruit"))
    nouns = nouns_of((group,))
    first, second = draw.concept(nouns), draw.concept(nouns)
    options = [a for a in adjectives_of(first) if a in adjectives_of(second) and "compare" in a.kinds]
    options = [a for a in options if any("compare" in other.kinds for other in opposites(a))]
    if not options or first is second:
        return None
    sides = []
    for noun in (first, second):
        side = Phrase(draw.key(), noun, draw.pick(("this", "that", "definite")), female="female" in noun.kinds)
        if "kin" in noun.kinds:
            return None
        sides.append(side)
    if draw.chance(0.25) and "person" not in first.kinds:
        sides[1].determiner, sides[1].possessor = "own", draw.name()
    clause = Clause(draw.key(), subject=sides[0], quality=draw.concept(options), than=sides[1], tense="present")
    return told(draw, clause, 1, 2)


@family
def denied(draw: Draw) -> Clause | None:
    clause = deed(draw, draw.concept(_verbs()))
    clause.negative = True
    return told(draw, clause, 2, 3)


def _of_kind(draw: Draw) -> tuple[Lexeme, Lexeme, Lexeme]:
    """A kind, a thing of that kind and a verb that it goes with."""
    kind, covered = draw.pick(kinds_named())
    noun = draw.pick(covered)
    verbs = [verb for verb in _verbs() if noun.kinds & set(verb.objects)]
    return kind, noun, draw.concept(verbs)


def _specific(draw: Draw, noun: Lexeme, verb: Lexeme) -> Clause | None:
    clause = Clause(draw.key(), verb=verb, subject=someone(draw), tense="past")
    clause.object = Phrase(draw.key(), noun, "indefinite")
    draw.concepts.append(noun)
    if "di" in verb.kinds:
        clause.recipient = someone(draw)
    return told(draw, clause, 2, 3)


@family
def kind_named(draw: Draw) -> Clause | None:
    kind, _, verb = _of_kind(draw)
    return _specific(draw, kind, verb)


@family
def kind_specified(draw: Draw) -> Clause | None:
    _, noun, verb = _of_kind(draw)
    return _specific(draw, noun, verb)


def _countable(draw: Draw) -> Clause | None:
    clause = deed(draw, draw.concept(_verbs()))
    phrase = clause.object
    assert phrase is not None and phrase.noun is not None
    if phrase.determiner == "own" or phrase.noun.kinds & {"mass", "person", "place", "part"}:
        return None
    return clause


@family
def counted(draw: Draw) -> Clause | None:
    clause = _countable(draw)
    if clause is None or clause.object is None:
        return None
    clause.object.plural, clause.object.determiner = True, "count"
    clause.object.count = draw.pick((2, 3, 4, 5))
    return told(draw, clause, 2, 3)


@family
def existing(draw: Draw) -> Clause | None:
    clause = _countable(draw)
    if clause is None or clause.object is None:
        return None
    clause.object.determiner = "indefinite"
    return told(draw, clause, 2, 3)


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
