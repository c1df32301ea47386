"""Premises and hypotheses from the sandbox's world, with the label that follows from how they were made.

A family draws the meaning of a hypothesis; a rule makes of it what must have been said for it to follow, to be open or
to be wrong. ``data/entailment.yaml`` says which rules a family has, and which label each of them gives.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate

from nbsandbox.errors import SandboxError, UnknownNameError
from nbsandbox.grammars import grammar
from nbsandbox.meaning import (
    LANGUAGES,
    Adverbial,
    Clause,
    Draw,
    Lexeme,
    Phrase,
    Subordinate,
    adjectives_of,
    data,
    nouns_of,
    table,
    verbs_of,
)
from nbsandbox.seeding import address
from nbsandbox.sentences import Text
from nbsandbox.stream import SPLITS, VERSION, part_of

# ----------------------------------------------------------------------------
# What the world knows beyond its dictionary: opposites, kinds, times that exclude each other.


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
    group = next((group for group in data("entailment")["exclusive_qualities"] if quality.id in group), ())
    return tuple(named("adjectives")[other] for other in group if other != quality.id)


@cache
def other_times(time: Lexeme) -> tuple[Lexeme, ...]:
    """The times of the past at which nothing happens that happens at *time*."""
    rows = data("entailment")["exclusive_times"]
    return tuple(named("adverbs")[other] for row in rows if time.id not in row for other in row)


@cache
def related(verb: Lexeme) -> frozenset[str]:
    """The verbs that an event of *verb* says something about, itself among them."""
    return frozenset({verb.id}.union(*(group for group in data("entailment")["related_verbs"] if verb.id in group)))


@cache
def kinds_named() -> tuple[tuple[Lexeme, tuple[Lexeme, ...]], ...]:
    """The words for kinds, each with the things that it covers."""
    nouns = named("nouns")
    return tuple(
        (named("hypernyms")[kind], tuple(nouns[noun] for noun in covered))
        for kind, covered in data("entailment")["hypernyms"].items()
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
    """Something that someone did, and no more: who, what, to whom."""
    clause = Clause(draw.key(), verb=verb, subject=subject or someone(draw), tense="past")
    if verb.objects:
        clause.object = thing(draw, verb)
    if "di" in verb.kinds:
        clause.recipient = someone(draw)
    return clause


def thing(draw: Draw, verb: Lexeme) -> Phrase:
    """What something was done to: a definite or indefinite thing, or a person."""
    phrase = draw.noun(tuple(kind for kind in verb.objects if kind != "person") or verb.objects, 0.0)
    if phrase.determiner == "definite" and not phrase.kinds & {"mass", "person"} and draw.chance(0.3):
        phrase.determiner = "indefinite"
    return phrase


def enriched(draw: Draw, clause: Clause, least: int = 1, most: int = 3) -> Clause | None:
    """*clause* with some more said of it; None if there is not that much to say."""
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
    """A deed with its time."""
    clause = deed(draw, draw.concept(_verbs()))
    draw.date(clause, first=0.3)
    return enriched(draw, clause)


@family
def described(draw: Draw) -> Clause | None:
    """A deed done to something with an adjective that has an opposite."""
    clause = deed(draw, draw.concept(_verbs()))
    phrase = clause.its_object
    options = [
        a for a in adjectives_of(phrase.its_noun) if any(o in adjectives_of(phrase.its_noun) for o in opposites(a))
    ]
    if not options or phrase.determiner == "own":
        return None
    phrase.adjective = draw.concept(options)
    return enriched(draw, clause)


@family
def roles(draw: Draw) -> Clause | None:
    """A deed of one person to another, whose roles can be exchanged."""
    verb = draw.concept([named("verbs")[name] for name in data("entailment")["deeds"]])
    clause = Clause(draw.key(), verb=verb, subject=someone(draw), tense="past")
    if "di" in verb.kinds:
        clause.recipient = someone(draw)
        clause.object = thing(draw, verb)
    else:
        clause.object = someone(draw)
    draw.date(clause, 0.5, first=0.5)
    return enriched(draw, clause, 1, 2)


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
    return enriched(draw, clause, 1, 2)


@family
def denied(draw: Draw) -> Clause | None:
    clause = deed(draw, draw.concept(_verbs()))
    clause.negative = True
    return enriched(draw, clause, 2, 3)


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
    return enriched(draw, clause, 2, 3)


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
    phrase = clause.its_object
    if phrase.determiner == "own" or phrase.kinds & {"mass", "person", "place", "part"}:
        return None
    return clause


def _count(draw: Draw, phrase: Phrase) -> None:
    """Make it so many of them."""
    phrase.determiner, phrase.plural, phrase.count = "count", True, draw.pick((2, 3, 4, 5))


def _uncount(phrase: Phrase) -> None:
    """Make it one of them."""
    phrase.determiner, phrase.plural, phrase.count = "indefinite", False, 0


@family
def counted(draw: Draw) -> Clause | None:
    clause = _countable(draw)
    if clause is None:
        return None
    _count(draw, clause.its_object)
    return enriched(draw, clause, 2, 3)


@family
def existing(draw: Draw) -> Clause | None:
    clause = _countable(draw)
    if clause is None:
        return None
    clause.its_object.determiner = "indefinite"
    return enriched(draw, clause, 2, 3)


def phrases(clause: Clause) -> list[Phrase]:
    """The phrases whose nouns may be described: not names, and not people of the speaker's family."""
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
    barred = () if clause.quality is None else (clause.quality, *opposites(clause.quality))
    return tuple(a for a in adjectives_of(phrase.its_noun) if a not in barred)


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
    """The same event from the patient's side.

    A passive clause has the patient as its subject and the agent as its object.
    """
    return replace(clause, subject=clause.object, object=clause.subject, passive=True)


# ----------------------------------------------------------------------------
# From a hypothesis to a premise.

#: Makes the premise (told in the active voice) of a hypothesis, or None where this hypothesis has none.
Rule = Callable[[Draw, Clause], Clause | None]


#: All rules by name.
RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    """Enter *function* in the table under its own name; there it gets a copy of the hypothesis, free to be changed."""
    RULES[function.__name__] = lambda draw, hypothesis: function(draw, deepcopy(hypothesis))
    return function


def more(draw: Draw, clause: Clause, most: int = 2) -> Clause | None:
    """*clause* with one or more things more said of it."""
    if not add(draw, clause):
        return None
    for _ in range(draw.pick(range(most))):
        add(draw, clause)
    return clause


def denial(clause: Clause) -> Clause:
    """That *clause* did not happen, at all."""
    clause.negative = True
    clause.manner = clause.instrument = None
    if clause.object is not None and clause.object.determiner == "count":
        _uncount(clause.object)
    return clause


# ----------------------------------------------------------------------------
# More or less said of the same event, or something else in its place; and that it did not happen.


@rule
def modifier_dropped(draw: Draw, premise: Clause) -> Clause | None:
    """*The old man read a letter yesterday* ⊨ *The man read a letter yesterday*."""
    return more(draw, premise)


@rule
def modifier_added(draw: Draw, premise: Clause) -> Clause | None:
    """*The man read a letter* ⊭ *The man read a letter yesterday*; something else may have been said instead."""
    wanted = _details(premise)
    if not remove(draw, premise):
        return None
    if draw.chance(0.5):
        add(draw, premise)
        details = _details(premise)
        if wanted.items() <= details.items() or _excludes(details, wanted):
            return None
    return premise


def _details(clause: Clause) -> dict[str, Lexeme]:
    """What a clause says besides who did what, by where it says it."""
    names = ("subject", "object", "recipient", "than")
    details = {name: p.adjective for name in names if (p := getattr(clause, name)) is not None}
    details |= {name: a.adverb for name in ("time", "manner") if (a := getattr(clause, name)) is not None}
    details["place"] = clause.place.ground.noun if clause.place is not None else None
    details["instrument"] = clause.instrument.noun if clause.instrument is not None else None
    return {name: word for name, word in details.items() if word is not None}


def _excludes(details: dict[str, Lexeme], wanted: dict[str, Lexeme]) -> bool:
    """Whether a premise says another time, place, manner or opposite quality than its hypothesis asks for."""
    changed = [name for name in wanted if name in details and details[name] is not wanted[name]]
    qualities = {"subject", "object", "recipient", "than"}
    return any(name not in qualities or details[name] in opposites(wanted[name]) for name in changed)


@rule
def other_quality(draw: Draw, premise: Clause) -> Clause | None:
    """*bought an expensive bag* ⊭ *bought a red bag*."""
    phrase = premise.its_object
    assert phrase.adjective is not None
    barred = {phrase.adjective, *opposites(phrase.adjective)}
    phrase.adjective = draw.concept([a for a in adjectives_of(phrase.its_noun) if a not in barred])
    return premise


@rule
def antonym(draw: Draw, premise: Clause) -> Clause | None:
    """*bought a blue bag* contradicts *bought a red bag*."""
    phrase = premise.its_object
    assert phrase.adjective is not None
    phrase.adjective = draw.concept([a for a in opposites(phrase.adjective) if a in adjectives_of(phrase.its_noun)])
    return premise


@rule
def other_time(draw: Draw, premise: Clause) -> Clause | None:
    """*this morning* contradicts *last week*."""
    assert premise.time is not None
    premise.time = Adverbial(premise.time.key, draw.concept(other_times(premise.time.adverb)))
    return premise


@rule
def negated(draw: Draw, premise: Clause) -> Clause | None:
    """*The man did not read a letter* contradicts *The man read a letter yesterday*."""
    denial(premise)
    if draw.chance(0.5):
        remove(draw, premise)
    return premise


@rule
def done(draw: Draw, premise: Clause) -> Clause | None:
    """*The man read the letter* contradicts *The man did not read the letter*."""
    premise.negative = False
    return premise


@rule
def done_and_more(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man read the old letter yesterday* contradicts *The man did not read the letter*."""
    premise = done(draw, hypothesis)
    return more(draw, premise) if premise is not None else None


@rule
def denied_more_widely(draw: Draw, premise: Clause) -> Clause | None:
    """*The man did not read the letter* ⊨ *The man did not read the letter yesterday*."""
    return premise if remove(draw, premise) else None


@rule
def denied_more_narrowly(draw: Draw, premise: Clause) -> Clause | None:
    """*The man did not read the letter yesterday* ⊭ *The man did not read the letter*."""
    return more(draw, premise, 1)


# ----------------------------------------------------------------------------
# Premises of two clauses: what is known, said, intended or forgotten, and what else was done.


def _reported(draw: Draw, premise: Clause, verb: str) -> Clause:
    content = premise
    content.time_first = False
    return Clause(draw.key(), subject=someone(draw), verb=named("verbs")[verb], tense="present", content=content)


@rule
def fact_known(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Paul knows that Anna read the letter* ⊨ *Anna read the letter*."""
    return _reported(draw, hypothesis, "realize")


@rule
def only_said(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Paul thinks that Anna read the letter* ⊭ *Anna read the letter*."""
    return _reported(draw, hypothesis, draw.pick(("say", "think", "believe")))


def _as_infinitive_of(draw: Draw, premise: Clause, verbs: tuple[str, ...]) -> Clause:
    """*Anna read the letter* as the infinitive of one of *verbs*: *Anna wanted to read the letter*."""
    inner = premise
    verb = named("verbs")[draw.pick(verbs)]
    premise = Clause(draw.key(), subject=inner.subject, verb=verb, tense="past")
    premise.time, premise.time_first = inner.time, inner.time is not None
    inner.subject, inner.time, inner.time_first, inner.tense = None, None, False, "present"
    inner.manner = inner.instrument = inner.place = None
    premise.infinitive = inner
    return premise


@rule
def only_intended(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna wanted to read the letter* ⊭ *Anna read the letter*."""
    return _as_infinitive_of(draw, hypothesis, ("want", "try", "decide", "promise"))


@rule
def forgotten(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna forgot to read the letter* contradicts *Anna read the letter*."""
    return _as_infinitive_of(draw, hypothesis, ("forgetto",))


def _beside(draw: Draw, hypothesis: Clause) -> Clause | None:
    """Something else that someone else did."""
    assert hypothesis.verb is not None
    verbs = [v for v in verbs_of(("tr", "ach")) if v.objects and v.id not in related(hypothesis.verb)]
    clause = deed(draw, draw.concept(verbs))
    return None if clause.object is not None and clause.object.is_person else clause


@rule
def conjunct_dropped(draw: Draw, premise: Clause) -> Clause | None:
    """*Anna read the letter and Paul washed the car* ⊨ *Anna read the letter*."""
    other = _beside(draw, premise)
    return None if other is None else _joined(draw, premise, other)


def _joined(draw: Draw, clause: Clause, other: Clause) -> Clause:
    first, second = (clause, other) if draw.chance(0.5) else (other, clause)
    second.time_first = False
    first.conjunct = second
    # "and" has no place for a negation in the first clause of a Japanese sentence
    first.conjunction = "but" if clause.negative else draw.pick(("and", "but"))
    return first


@rule
def participants_crossed(draw: Draw, premise: Clause) -> Clause | None:
    """*Paul read the letter and Anna washed the car* contradicts *Anna read the letter*."""
    other = _beside(draw, premise)
    if other is None:
        return None
    premise.subject, other.subject = other.subject, premise.subject
    return _joined(draw, premise, other)


@rule
def reason_dropped(draw: Draw, premise: Clause) -> Clause | None:
    """*Anna read the letter because Paul broke the lamp* ⊨ both of its clauses."""
    other = _beside(draw, premise)
    if other is None:
        return None
    if draw.chance(0.5):
        premise, other = other, premise
    other.time_first = False
    premise.subordinate = Subordinate(draw.key(), "because", other, first=False)
    return premise


# ----------------------------------------------------------------------------
# Who did what to whom: roles, other events, kinds and numbers of things, comparisons.


@rule
def roles_kept(draw: Draw, premise: Clause) -> Clause | None:
    """*Today Anna praised the man* ⊨ *Anna praised the man today*: the same roles, perhaps in the other voice."""
    return _retold(draw, premise)


def _retold(draw: Draw, clause: Clause) -> Clause | None:
    """*clause* with more said of it, or with its time at another place: the same is done to roles kept and swapped."""
    if clause.time is None or draw.chance(0.5):
        return more(draw, clause)
    clause.time_first = not clause.time_first
    return clause


@rule
def roles_swapped(draw: Draw, premise: Clause) -> Clause | None:
    """*Anna praised the man* contradicts *The man praised Anna*: the same words with the roles exchanged."""
    if premise.recipient is not None:
        premise.subject, premise.recipient = premise.recipient, premise.subject
    else:
        premise.subject, premise.object = premise.object, premise.subject
    return _retold(draw, premise)


@rule
def other_deed(draw: Draw, premise: Clause) -> Clause | None:
    """*Anna praised the man* ⊭ *Anna invited the man*."""
    premise.verb = _other_verb(draw, premise, [named("verbs")[name] for name in data("entailment")["deeds"]])
    return premise if premise.verb is not None else None


def _other_verb(draw: Draw, clause: Clause, among: list[Lexeme]) -> Lexeme | None:
    verb, thing = clause.its_verb, clause.its_object
    kinds = thing.kinds | ({"person"} if thing.is_person else set())
    options = [
        v
        for v in among
        if v.id not in related(verb) and kinds & set(v.objects) and ("di" in v.kinds) == (clause.recipient is not None)
    ]
    if clause.instrument is not None:
        options = [v for v in options if clause.instrument.noun is not None and _takes(v, clause.instrument.noun)]
    return draw.concept(options) if options else None


def _takes(verb: Lexeme, instrument: Lexeme) -> bool:
    return bool(instrument.kinds & set(verb.instruments))


@rule
def other_event(draw: Draw, premise: Clause) -> Clause | None:
    """*Anna read the letter* ⊭ *Anna washed the car*: something else is done, to the same thing or to another."""
    assert premise.verb is not None
    verbs = [v for v in verbs_of(("tr", "ach")) if v.objects]
    if premise.recipient is None and draw.chance(0.6):
        premise.verb = _other_verb(draw, premise, verbs)
        premise.manner = premise.instrument = None
        return premise if premise.verb is not None else None
    other = deed(draw, draw.concept([v for v in verbs if v.id not in related(premise.verb)]), premise.subject)
    if other.object is not None and other.object.is_person:
        return None
    other.time, other.time_first, other.negative = premise.time, premise.time_first, premise.negative
    add(draw, other)
    return other


@rule
def order_swapped(draw: Draw, premise: Clause) -> Clause | None:
    """*The cow is bigger than the dog* contradicts *The dog is bigger than the cow*."""
    premise.subject, premise.than = premise.than, premise.subject
    if draw.chance(0.5):
        add(draw, premise)
    return premise


@rule
def antonym_compared(draw: Draw, premise: Clause) -> Clause | None:
    """*The cow is smaller than the dog* contradicts *The cow is bigger than the dog*."""
    assert premise.quality is not None
    premise.quality = draw.concept(opposites(premise.quality))
    return premise


@rule
def converse(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The cow is bigger than the dog* ⊨ *The dog is smaller than the cow*."""
    premise = antonym_compared(draw, hypothesis)
    return None if premise is None else order_swapped(draw, premise)


@rule
def other_comparison(draw: Draw, premise: Clause) -> Clause | None:
    """*The book is longer than the novel* ⊭ *The book is more boring than the novel*."""
    assert premise.quality is not None and premise.subject is not None and premise.than is not None
    barred = {premise.quality, *opposites(premise.quality), premise.subject.adjective, premise.than.adjective}
    options = [a for a in table("adjectives") if "compare" in a.kinds and a not in barred]
    options = [a for a in options if all(a in adjectives_of(p.noun) for p in (premise.subject, premise.than) if p.noun)]
    if not options:
        return None
    premise.quality = draw.concept(options)
    return premise


@rule
def hyponym(draw: Draw, premise: Clause) -> Clause | None:
    """*bought an apple* ⊨ *bought a fruit*."""
    thing, verb = premise.its_object, premise.its_verb
    covered = next(covered for kind, covered in kinds_named() if kind is thing.noun)
    options = [n for n in covered if n.kinds & set(verb.objects)]
    options = [n for n in options if thing.adjective is None or thing.adjective in adjectives_of(n)]
    if not options:
        return None
    thing.noun = draw.concept(options)
    return premise


@rule
def hypernym(draw: Draw, premise: Clause) -> Clause | None:
    """*bought a fruit* ⊭ *bought an apple*."""
    premise.its_object.noun = kind_of(premise.its_object.its_noun)
    return premise


@rule
def kind_denied(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*did not buy a fruit* contradicts *bought an apple*."""
    premise = hypernym(draw, hypothesis)
    return None if premise is None else denial(premise)


@rule
def number_weakened(draw: Draw, premise: Clause) -> Clause | None:
    """*bought three apples* ⊨ *bought an apple*."""
    _count(draw, premise.its_object)
    return premise


@rule
def number_added(draw: Draw, premise: Clause) -> Clause | None:
    """*bought an apple* ⊭ *bought three apples*."""
    _uncount(premise.its_object)
    return premise


@rule
def other_number(draw: Draw, premise: Clause) -> Clause | None:
    """*bought five apples* contradicts *bought three apples*."""
    thing = premise.its_object
    thing.count = draw.pick([n for n in (2, 3, 4, 5) if n != thing.count])
    return premise


# ----------------------------------------------------------------------------
# Streams of premise and hypothesis in any of the languages.

LABELS = ("entailment", "neutral", "contradiction")


#: Hypotheses have at least so many tokens, so that there are many ways to permute them.
_SHORTEST = {"en": 8, "zh": 7}


def entailment(
    lang: str, *, n: int | None, split: str = "test", start: int = 0
) -> Iterator[tuple[str, Text, Text, str, str]]:
    """Stream *n* labelled pairs (id, premise, hypothesis, label, rule), from place *start* on (None: without end).

    The pair at place i is a function of (version, *split*, i) and the language alone, and the same i has the same
    meaning and label in all languages. Three pairs in a row have the three labels, in a drawn order. The
    content words of the hypothesis decide on the split, as in `sandbox.pairs`: no hypothesis is found in two splits,
    nor is another one of the same words.

    The rule says how the premise was made of the hypothesis; its family stands before the stroke
    (``"roles/roles_swapped"``). Rules and their labels are listed in ``data/entailment.yaml``.

    Raises `UnknownNameError` for a language or split that does not exist, `SandboxError` for a negative number.

    >>> _, premise, hypothesis, label, rule = next(entailment("en", n=1))
    >>> label in LABELS, rule.count("/")
    (True, 1)
    >>> sorted(label for _, _, _, label, _ in entailment("ja", n=3))
    ['contradiction', 'entailment', 'neutral']
    """
    if lang not in LANGUAGES:
        raise UnknownNameError("sandbox language", lang, LANGUAGES)
    if split not in SPLITS:
        raise UnknownNameError("sandbox split", split, SPLITS)
    if start < 0 or (n is not None and n < 0):
        raise SandboxError(f"sandbox entailment: n={n} and start={start} must not be negative")
    return _stream(lang, n, split, start)


def _stream(lang: str, n: int | None, split: str, start: int) -> Iterator[tuple[str, Text, Text, str, str]]:
    index = start
    while n is None or index < start + n:
        premise, hypothesis, label, rule = inference(split, index)
        speaks = grammar(lang)
        texts = [Text((speaks.sentence(clause)[0],)) for clause in (premise, hypothesis)]
        yield f"entailment/{split}/{index}", texts[0], texts[1], label, rule
        index += 1


#: As studies read the same pairs for each of their tables.
@lru_cache(maxsize=2048)
def inference(split: str, index: int) -> tuple[Clause, Clause, str, str]:
    """Premise, hypothesis, label and rule at place *index* of a split, the same for every language."""
    # label, family and rule are chosen before anything is drawn that may be thrown away: all labels are as frequent
    # as they should be, and so are the hypotheses of each
    seed = address(VERSION, "entailment", data("entailment")["version"], split, index)
    label = _label(split, index)
    draw = Draw(seed)
    family = _pick(draw, {name: entry["weight"] for name, entry in data("entailment")["families"].items()})
    rule = _pick(draw, data("entailment")["families"][family][label])
    while True:
        seed += 1
        found = _attempt(Draw(seed), family, rule, split)
        if found is not None:
            return *found, label, f"{family}/{rule}"


def _label(split: str, index: int) -> str:
    """The labels of three consecutive pairs are in an order that is specific to these three."""
    block, place = divmod(index, len(LABELS))
    draw = Draw(address(VERSION, "entailment", data("entailment")["version"], split, "labels", block))
    left = list(LABELS)
    for _ in range(place):
        left.remove(draw.pick(left))
    return draw.pick(left)


def _pick(draw: Draw, weights: Mapping[str, int]) -> str:
    limits = tuple(accumulate(weights.values()))
    return tuple(weights)[bisect(limits, draw.uniform() * limits[-1])]


def _attempt(draw: Draw, family: str, rule: str, split: str) -> tuple[Clause, Clause] | None:
    """One draw of a pair; None if it failed: too short, of another split, without a premise."""
    hypothesis = FAMILIES[family](draw)
    if hypothesis is None or part_of([hypothesis]) not in SPLITS[split]:
        return None
    if any(_length(hypothesis, lang) < least for lang, least in _SHORTEST.items()):
        return None
    voices = draw.chance(0.4), draw.chance(0.4)
    premise = RULES[rule](draw, hypothesis)
    if premise is None:
        return None
    voiced = tuple(
        passive(clause) if wanted and family == "roles" and can_be_passive(clause) else clause
        for clause, wanted in zip((premise, hypothesis), voices, strict=True)
    )
    premise, hypothesis = voiced
    same = grammar("en").sentence(premise)[0].tokens == grammar("en").sentence(hypothesis)[0].tokens
    return None if same else (premise, hypothesis)


def _length(clause: Clause, lang: str) -> int:
    return len(grammar(lang).sentence(clause)[0])


def entailment_identity(lang: str, *, split: str = "test") -> dict[str, str]:
    """What a stream of labelled pairs depends on besides the places of its pairs: part of cache keys."""
    return {
        "corpus": "sandbox",
        "version": VERSION,
        "mixture": f"entailment-{data('entailment')['version']}",
        "split": split,
        "lang": lang,
    }
