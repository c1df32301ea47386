"""The families of hypotheses: each draws what is to be inferred, in the active voice, without a look at the label."""

from __future__ import annotations

from collections.abc import Callable

from nbkit.corpora.sandbox.draw import Draw, adjectives_of, nouns_of, verbs_of
from nbkit.corpora.sandbox.inference.lore import kinds_named, lore, named, opposites
from nbkit.corpora.sandbox.inference.modifiers import add
from nbkit.corpora.sandbox.lexicon import Lexeme
from nbkit.corpora.sandbox.meaning import Clause, Phrase

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
