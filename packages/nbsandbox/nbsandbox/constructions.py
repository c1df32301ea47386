"""The sandbox's constructions: each draws the meaning of one text (a list of clauses, one a sentence).

Those with homographs and idioms stand beside their data, in `nbsandbox.phenomena`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial

from nbsandbox.meaning import (
    FIRST,
    SECOND,
    THEY,
    THIRD,
    WE,
    Adverbial,
    Amount,
    Clause,
    Draw,
    Force,
    Lexeme,
    Phrase,
    Place,
    Subordinate,
    Tense,
    adjectives_of,
    nouns_of,
    table,
    verbs_of,
)

#: Draws the meaning of one text: a list of clauses, one a sentence.
Construction = Callable[[Draw], list[Clause]]


#: The constructions of this module by name.
CONSTRUCTIONS: dict[str, Construction] = {}


def construction(function: Construction) -> Construction:
    """Enter a construction in the table `CONSTRUCTIONS` under its function's name (a decorator)."""
    CONSTRUCTIONS[function.__name__] = function
    return function


def pronoun_for(draw: Draw, antecedent: Phrase) -> Phrase:
    """A pronoun that refers to *antecedent*."""
    return Phrase(draw.key(), person=antecedent.agreement, female=antecedent.female, antecedent=antecedent)


def person(draw: Draw) -> Phrase:
    """Someone who can be referred to as *he* or *she* in every language: a name, a noun or a relative."""
    way = draw.pick((0, 1, 1, 2))
    if way == 0:
        return draw.name()
    if way == 1:
        return draw.noun(("adult",), 0.3)
    return draw.owned(("family",), draw.pick((FIRST, WE)))


def state(draw: Draw, subject: Phrase, tense: Tense) -> Clause:
    """A clause that *subject* is in a drawn state: *Paul was very hungry*."""
    states = [a for a in table("adjectives") if "state" in a.kinds and "person" in a.kinds]
    return Clause(draw.key(), subject=subject, quality=draw.concept(states), tense=tense, very=draw.chance(0.4))


def _past_event(draw: Draw, verb: Lexeme, subject: Phrase | None = None) -> Clause:
    """A clause in the past of subject and verb alone: *Anna bought*; the caller adds the object."""
    return Clause(draw.key(), subject=subject or draw.subject(verb.subjects), verb=verb, tense="past")


def without_doubtful_scope(clause: Clause) -> Clause:
    """Drop from a clause what a negation could refer to: *with a knife*, *slowly*, *three*."""
    clause.manner = clause.instrument = None
    if clause.object is not None and clause.object.determiner in ("count", "many"):
        clause.object.determiner, clause.object.count = "definite", 0
    return clause


def with_definite_object(clause: Clause) -> Clause:
    """Make the object definite: *loves a dog* becomes *loves the dog*."""
    if clause.object is not None and clause.object.determiner == "indefinite":
        clause.object.determiner = "definite"
    return clause


# ----------------------------------------------------------------------------
# Simple sentences about events: who does what to whom, when, where and how.


_TENSES: tuple[Tense, ...] = ("past", "past", "progressive", "habit", "future")


#: Sentences about one event with nothing special to them: frames of the verb, and the tenses that are drawn from.
_EVENTS: dict[str, tuple[str, Sequence[Tense]]] = {
    "transitive": ("tr", _TENSES),
    "ditransitive": ("di", _TENSES),
    "achievement": ("ach", ("past", "past", "future")),
    "future": ("tr di intr", ("future",)),
    "progressive": ("tr di intr", ("progressive",)),
    "habit": ("tr intr go", ("habit",)),
    "motion": ("go", ("past", "past", "progressive", "future", "habit")),
}


def _event_of(draw: Draw, frames: str, tenses: Sequence[Tense]) -> list[Clause]:
    """A clause with a verb of *frames* (separated by spaces) in one of *tenses*: *Anna bought a car*."""
    return [draw.event(tuple(frames.split()), draw.pick(tenses) if len(tenses) > 1 else tenses[0])]


CONSTRUCTIONS |= {name: partial(_event_of, frames=frames, tenses=tenses) for name, (frames, tenses) in _EVENTS.items()}


@construction
def intransitive(draw: Draw) -> list[Clause]:
    """A sentence with an intransitive verb: *The child slept in the garden.*"""
    clause = draw.event(("intr",), draw.pick(_TENSES))
    if clause.place is None and clause.manner is None:
        draw.location(clause)
    return [clause]


@construction
def stative(draw: Draw) -> list[Clause]:
    """A sentence with a stative verb: *Anna loves the old house.*"""
    clause = with_definite_object(draw.event(("st",), "present"))
    if clause.object is not None:
        draw.qualify(clause.object)
    return [clause]


@construction
def modal(draw: Draw) -> list[Clause]:
    """A sentence with a modal verb: *Paul must wash the car today.*"""
    clause = draw.event(("tr", "able", "di"), "present")
    clause.modal = draw.pick(("can", "must"))
    if draw.chance(0.4):
        clause.time = draw.adverb("time", draw.pick(("now", "future")))
    return [clause]


@construction
def negation(draw: Draw) -> list[Clause]:
    """A negated sentence: *The man did not read the letter.*"""
    tense: Tense = draw.pick(("past", "past", "progressive", "future", "present"))
    frames = {"present": ("fond",), "progressive": ("tr",)}.get(tense, ("tr", "di", "ach"))
    clause = draw.event(frames, tense)
    clause.negative = True
    return [without_doubtful_scope(with_definite_object(clause) if tense == "present" else clause)]


@construction
def negated_modal(draw: Draw) -> list[Clause]:
    """A sentence whose modal verb is negated: *Anna cannot find the key.*"""
    clause = draw.event(("tr", "able"), draw.pick(("present", "past")))
    clause.modal = "can"
    clause.negative = True
    if clause.tense == "past" and clause.time is None:
        draw.date(clause)
    return [without_doubtful_scope(clause)]


@construction
def manner(draw: Draw) -> list[Clause]:
    """A sentence with an adverb of manner: *The woman opened the door slowly.*"""
    clause = draw.event(("tr", "di", "intr"), draw.pick(("past", "progressive", "future")), extras=0.4)
    if clause.manner is None:
        draw.manner(clause)
    clause.instrument = None
    return [clause]


@construction
def time_first(draw: Draw) -> list[Clause]:
    """A sentence that begins with its adverbial of time: *Yesterday Paul bought a book.*"""
    tense: Tense = draw.pick(("past", "future"))
    clause = draw.event(("tr", "di", "ach", "go"), tense, extras=0.7)
    if clause.time is None:
        clause.time = draw.adverb("time", tense)
    clause.time_first = True
    return [clause]


@construction
def possessive(draw: Draw) -> list[Clause]:
    """A sentence whose object has an owner: *Anna found Paul's book.*"""
    clause = draw.event(("tr", "ach"), draw.pick(("past", "future")), extras=0.6)
    thing = clause.its_object
    if not thing.kinds & {"person", "place", "wild", "built", "awaited"}:
        owner = draw.name() if draw.chance(0.4) else draw.noun(("adult",), 0.0)
        thing.determiner, thing.possessor, thing.reflexive = "own", owner, False
        thing.plural, thing.count = draw.chance(0.15) and "mass" not in thing.kinds, 0
    return [clause]


@construction
def place(draw: Draw) -> list[Clause]:
    """A sentence with an adverbial of place: *The child is reading a book in the park.*"""
    clause = draw.event(("tr", "intr"), draw.pick(("past", "progressive", "habit")), extras=0.3)
    draw.location(clause)
    return [clause]


@construction
def instrument(draw: Draw) -> list[Clause]:
    """A sentence with an instrument: *Paul cut the bread with a knife.*"""
    verbs = tuple(v for v in verbs_of(("tr", "ach")) if v.instruments)
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(("person",)))
    draw.participants(clause)
    draw.instrument(clause)
    draw.date(clause, 0.5)
    return [clause]


@construction
def companion(draw: Draw) -> list[Clause]:
    """A sentence with a companion: *Anna is travelling with her brother.*"""
    clause = draw.event(("intr", "go"), draw.pick(("past", "progressive", "future")), extras=0.3)
    if clause.subject is not None and clause.subject.is_person:
        clause.manner = None
        draw.companion(clause)
    return [clause]


@construction
def passive(draw: Draw) -> list[Clause]:
    """A sentence in the passive: *This letter was written by the teacher.*"""
    verb = draw.concept(verbs_of(("pass",)))
    patient = draw.noun(verb.objects, 0.4)
    if draw.chance(0.3):
        patient.determiner = "this"
    agent = draw.noun(("adult", "child"), 0.15) if draw.chance(0.7) else draw.name()
    clause = Clause(draw.key(), verb=verb, subject=patient, object=agent, tense="past", passive=True)
    draw.date(clause, 0.5, first=0.3)
    return [clause]


@construction
def numeral(draw: Draw) -> list[Clause]:
    """A sentence whose object is counted: *Paul bought three apples.*"""
    clause = draw.event(("tr", "di"), draw.pick(("past", "future")), extras=0.6)
    thing = clause.its_object
    if "mass" not in thing.kinds:
        thing.possessor, thing.reflexive = None, False
        draw.number(thing)
    return [clause]


# ----------------------------------------------------------------------------
# Questions, commands, and sentences with *to be*.


@construction
def polar_question(draw: Draw) -> list[Clause]:
    """A yes-no question: *Did Anna read the book?*"""
    tense: Tense = draw.pick(("past", "past", "progressive", "future"))
    subject = Phrase(draw.key(), person=SECOND) if draw.chance(0.3) else None
    clause = draw.event(("tr", "di") if tense == "progressive" else ("tr", "di", "ach"), tense, subject)
    clause.force, clause.time_first = "polar", False
    if clause.tense == "progressive" and draw.chance(0.3):
        clause.tense, clause.modal = "present", "can"
    return [clause]


@construction
def subject_question(draw: Draw) -> list[Clause]:
    """A question for the subject: *Who read the book?*"""
    someone = Phrase(draw.key(), person=THIRD)
    clause = draw.event(("tr", "di", "ach"), draw.pick(("past", "past", "future")), someone)
    clause.subject, clause.question_key = None, someone.key
    if clause.object is not None and clause.object.reflexive:
        clause.object.determiner, clause.object.possessor, clause.object.reflexive = "definite", None, False
    clause.force, clause.time_first = "subject", False
    return [clause]


@construction
def object_question(draw: Draw) -> list[Clause]:
    """A question for the object: *What did Anna read?*"""
    tense: Tense = draw.pick(("past", "past", "progressive", "future"))
    things = tuple(v for v in verbs_of(("tr", "di")) if "person" not in v.objects and v.id not in _NO_WHAT)
    verb = draw.concept(things)
    clause = Clause(draw.key(), verb=verb, tense=tense, subject=draw.subject(verb.subjects), force="object")
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    draw.adverbials(clause)
    clause.instrument, clause.time_first, clause.question_key = None, False, draw.key()
    return [clause]


_NO_WHAT = frozenset({"answer", "clean", "prepare", "await", "help"})


#: Questions for a place, a time and a reason, and the tenses that are drawn from.
_ADJUNCTS: dict[Force, tuple[Tense, ...]] = {
    "place": ("past", "past", "future"),
    "time": ("past", "future"),
    "reason": ("past", "past", "progressive"),
}


def _adjunct_question(draw: Draw, force: Force) -> list[Clause]:
    """A question for place, time or reason, according to *force*: *Where did Anna read the book?*"""
    tense = draw.pick(_ADJUNCTS[force])
    subject = Phrase(draw.key(), person=SECOND) if draw.chance(0.2) else None
    frames = ("tr", "di") if tense == "progressive" else ("tr", "di", "ach")
    clause = draw.event(frames, tense, subject, extras=0.7)
    if force == "time":
        clause.time = None
    if force == "place":
        clause.place = None
    clause.force, clause.time_first, clause.question_key = force, False, draw.key()
    return [clause]


CONSTRUCTIONS |= {f"{force}_question": partial(_adjunct_question, force=force) for force in _ADJUNCTS}


@construction
def command(draw: Draw) -> list[Clause]:
    """A request in the imperative: *Please wash the car now!*"""
    you = Phrase(draw.key(), person=SECOND)
    verbs = tuple(v for v in verbs_of(("tr", "di")) if v.id not in _NOT_COMMANDED)
    clause = Clause(draw.key(), verb=draw.concept(verbs), subject=you, tense="present", force="command")
    draw.participants(clause)
    clause.please = draw.chance(0.6)
    if draw.chance(0.4):
        clause.time = draw.adverb("time", draw.pick(("now", "future")))
    elif draw.chance(0.3):
        draw.location(clause)
    return [clause]


_NOT_COMMANDED = frozenset({"steal", "await", "praise"})


@construction
def existential(draw: Draw) -> list[Clause]:
    """A sentence that says that something is there: *There are three apples on the table.*"""
    spot = draw.spot()
    kinds = {"on": ("portable", "dish", "fruit"), "in": ("portable", "dish")}.get(spot.relation, ("portable", "pet"))
    thing = draw.noun(kinds, 0.6)
    thing.determiner = "indefinite"
    if draw.chance(0.35):
        draw.number(thing)
    clause = Clause(draw.key(), existing=thing, place=spot, tense="present")
    if draw.chance(0.15) and thing.determiner == "indefinite":
        clause.force = "polar"
    return [clause]


@construction
def copula_adjective(draw: Draw) -> list[Clause]:
    """A sentence with an adjective as predicate: *The house is very old.*"""
    phrase = draw.thing(("goods", "place", "text", "animal"), None, 0.0)
    if phrase.determiner in ("indefinite", "count", "many"):
        phrase.determiner, phrase.plural, phrase.count = "definite", False, 0
    if draw.chance(0.4):
        phrase = person(draw)
        phrase.adjective = None
        clause = state(draw, phrase, draw.pick(("present", "past")))
    else:
        clause = _quality_clause(draw, phrase)
        clause.very = draw.chance(0.6)
        if phrase.determiner == "definite" and draw.chance(0.5):
            if phrase.kinds & {"place", "plant"}:
                phrase.determiner = "this"
            elif phrase.kinds & {"goods", "text"}:
                phrase.determiner, phrase.possessor = "own", draw.noun(("adult",), 0.0)
    if draw.chance(0.2) and not clause.very:
        clause.negative = True
    elif draw.chance(0.2):
        clause.force = "polar"
    return [clause]


@construction
def copula_noun(draw: Draw) -> list[Clause]:
    """A sentence with a noun as predicate: *My brother is a good teacher.*"""
    subject = draw.owned(("family",), draw.pick((FIRST, THIRD, WE, THEY))) if draw.chance(0.6) else draw.name()
    subject.adjective = None
    jobs = [n for n in nouns_of(("work",)) if ("female" in n.kinds) == subject.female]
    job = Phrase(draw.key(), draw.concept(jobs), "indefinite", female=subject.female)
    job.adjective = draw.concept([a for a in adjectives_of(job.noun) if "state" not in a.kinds])
    return [Clause(draw.key(), subject=subject, class_=job, tense="present")]


@construction
def comparative(draw: Draw) -> list[Clause]:
    """A sentence that compares two things: *This car is faster than the bus.*"""
    things = [
        (noun, [a for a in adjectives_of(noun) if "compare" in a.kinds])
        for noun in nouns_of(("work", "animal", "vehicle", "place", "clothing", "text", "tool", "fruit"))
    ]
    noun, adjectives = draw.pick([entry for entry in things if entry[1]])
    draw.concepts.append(noun)
    quality = draw.concept(adjectives)
    group = noun.kinds & {"work", "animal", "vehicle", "place", "clothing", "text", "tool", "fruit"}
    others = [n for n, options in things if n is not noun and n.kinds & group and quality in options]
    subject = Phrase(draw.key(), noun, "definite", female="female" in noun.kinds)
    if draw.chance(0.4):
        subject.determiner = draw.pick(("this", "that"))
    other = draw.concept(others or [n for n, _ in things if n is not noun])
    than = Phrase(draw.key(), other, "definite", female="female" in other.kinds)
    if "person" not in other.kinds and draw.chance(0.3):
        than.determiner, than.possessor = "own", draw.name()
    return [Clause(draw.key(), subject=subject, quality=quality, than=than, tense="present")]


def _quality_clause(draw: Draw, phrase: Phrase, kind: str = "") -> Clause:
    """A clause that *phrase* has an adjective, of *kind* if given, that suits it: *The house is old*."""
    options = [
        a for a in adjectives_of(phrase.its_noun) if "attribute" not in a.kinds and (not kind or kind in a.kinds)
    ]
    return Clause(draw.key(), subject=phrase, quality=draw.concept(options), tense="present")


# ----------------------------------------------------------------------------
# Sentences with more than one clause or a coordination, and texts of two sentences.


@construction
def complement_clause(draw: Draw) -> list[Clause]:
    """A sentence with a *that* clause: *Anna hopes that Paul will write the letter.*"""
    speaker = person(draw)
    verb = draw.concept(verbs_of(("say",)))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="present")
    tense: Tense = "future" if "future" in verb.kinds else draw.pick(("past", "future", "progressive"))
    subject = pronoun_for(draw, speaker) if draw.chance(0.4) else None
    clause.content = draw.event(("tr", "intr", "di"), tense, subject, extras=0.5)
    clause.content.time_first = False
    return [clause]


@construction
def reported_ability(draw: Draw) -> list[Clause]:
    """A sentence that reports what someone could not do: *Paul said that he could not find the key.*"""
    speaker = person(draw)
    verb = draw.concept(verbs_of(("say",), ("say",)))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="past")
    subject = pronoun_for(draw, speaker) if draw.chance(0.7) else draw.subject(("person",))
    content = draw.event(("tr", "able", "di"), "past", subject, extras=0.0)
    content.modal, content.negative = "can", draw.chance(0.7)
    if content.object is not None:
        draw.qualify(content.object, 0.7)
    clause.content = without_doubtful_scope(content) if content.negative else content
    return [clause]


@construction
def subject_relative(draw: Draw) -> list[Clause]:
    """A sentence with a relative clause on its subject: *The teacher who bought the car is tired.*"""
    subject = draw.noun(("work", "child"), 0.1)
    subject.relative = draw.event(("tr", "intr"), draw.pick(("past", "progressive")), subject, extras=0.3)
    subject.relative.subject, subject.relative.time_first = None, False
    if draw.chance(0.3):
        return [state(draw, subject, "present")]
    return [draw.event(("tr", "ach"), "past", subject, extras=0.5)]


@construction
def object_relative(draw: Draw) -> list[Clause]:
    """A sentence with a relative clause on its object: *Anna read the book that Paul bought.*"""
    kinds = ("goods", "portable", "text")
    verbs = tuple(v for v in verbs_of(("tr", "ach")) if set(v.objects).intersection(kinds) and "governs" not in v.kinds)
    verb = draw.concept(tuple(v for v in verbs_of(("tr", "ach", "di")) if set(v.objects).intersection(kinds)))
    clause = _past_event(draw, verb)
    thing = draw.noun(tuple(kind for kind in verb.objects if kind in kinds), 0.3)
    clause.object = thing
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    fitting = tuple(v for v in verbs if thing.kinds & set(v.objects) and v is not clause.verb)
    verb = draw.concept(fitting)
    relative = _past_event(draw, verb)
    draw.date(relative, 0.3)
    thing.relative, thing.relative_object = relative, True
    return [clause]


@construction
def coordinated_nouns(draw: Draw) -> list[Clause]:
    """A sentence with two subjects: *Paul and the teacher bought a car.*"""
    subject = draw.subject(("person",), pronouns=False) if draw.chance(0.6) else draw.name()
    subject.coordinated = (
        draw.name() if subject.noun is not None and "name" not in subject.noun.kinds else draw.noun(("adult",), 0.2)
    )
    return [draw.event(("tr", "intr", "go"), draw.pick(("past", "progressive", "future")), subject, extras=0.7)]


@construction
def coordinated_objects(draw: Draw) -> list[Clause]:
    """A sentence with two objects: *Anna bought an apple and a book.*"""
    verbs = tuple(v for v in verbs_of(("tr", "di")) if len(nouns_of(v.objects)) > 5)
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense=draw.pick(("past", "future", "progressive")))
    clause.subject = draw.subject(verb.subjects)
    draw.participants(clause)
    clause.its_object.coordinated = draw.thing(verb.objects, clause.subject)
    draw.adverbials(clause, 0.5)
    return [clause]


@construction
def coordinated_verbs(draw: Draw) -> list[Clause]:
    """A sentence with two verbs of one subject: *Anna bought a book and read the letter.*"""
    subject = draw.subject(("person",))
    clause = draw.event(("tr", "ach"), "past", subject, extras=0.3)
    clause.conjunct = draw.event(("tr", "di"), "past", subject, extras=0.0)
    clause.conjunction, clause.shared_subject = "and", True
    clause.conjunct.time = None
    return [clause]


@construction
def coordinated_clauses(draw: Draw) -> list[Clause]:
    """Two clauses with two subjects in one sentence: *Anna washed the car, but Paul read a book.*"""
    clause = draw.event(("tr", "di", "go"), "past", extras=0.3)
    clause.conjunct = draw.event(("tr", "intr"), "past", extras=0.2)
    clause.conjunct.time_first = False
    clause.conjunction = draw.pick(("and", "but"))
    return [clause]


@construction
def because(draw: Draw) -> list[Clause]:
    """A sentence with a reason: *Anna slept because she was tired.*"""
    subject = person(draw)
    clause = draw.event(("tr", "ach", "go", "intr"), "past", subject, extras=0.2)
    reason = (
        state(draw, pronoun_for(draw, subject), "past")
        if draw.chance(0.6)
        else draw.event(("tr", "ach"), "past", draw.subject(("person",)), extras=0.0)
    )
    clause.subordinate = Subordinate(draw.key(), "because", reason, first=False)
    return [clause]


@construction
def when(draw: Draw) -> list[Clause]:
    """A sentence with a clause of time: *The child slept when Anna arrived.*"""
    clause = draw.event(("tr", "intr"), "past", extras=0.0)
    event = draw.event(("ach", "go"), "past", draw.subject(("person",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", event, first=draw.chance(0.6))
    return [clause]


@construction
def condition(draw: Draw) -> list[Clause]:
    """A sentence with a condition: *If Anna finds the key, she will open the door.*"""
    subject = person(draw)
    event = draw.event(("tr", "ach"), "condition", subject, extras=0.0)
    clause = draw.event(("tr", "di", "go"), "future", pronoun_for(draw, subject), extras=0.0)
    clause.time_first = False
    clause.subordinate = Subordinate(draw.key(), "if", event, first=True)
    return [clause]


@construction
def infinitive(draw: Draw) -> list[Clause]:
    """A sentence with a verb that takes an infinitive: *Anna wants to buy a car.*"""
    verb = draw.concept(verbs_of(("inf",)))
    subject = draw.subject(verb.subjects)
    tense: Tense = "present" if "present" in verb.kinds else "past"
    if "want" in verb.kinds and draw.chance(0.4):
        tense = "past"
    clause = Clause(draw.key(), verb=verb, subject=subject, tense=tense)
    clause.infinitive = draw.event(
        ("tr",) if "begin" in verb.kinds else ("tr", "di", "go"), "present", subject, extras=0.0
    )
    clause.infinitive.subject = None
    if tense == "past":
        draw.date(clause, 0.5, first=1)
    if "want" in verb.kinds and tense == "present" and draw.chance(0.3):
        clause.negative = True
        without_doubtful_scope(clause.infinitive)
    return [clause]


@construction
def purpose(draw: Draw) -> list[Clause]:
    """A sentence with an infinitive of purpose: *Anna went to the market to buy a book.*"""
    clause = draw.event(("go",), "past", draw.subject(("person",)), extras=0.0)
    clause.purpose = draw.event(("tr",), "present", clause.subject, extras=0.0)
    clause.purpose.subject = None
    draw.date(clause, 0.4, first=1)
    return [clause]


@construction
def noun_place(draw: Draw) -> list[Clause]:
    """A sentence with a place that belongs to its object: *Anna found the book on the table.*"""
    spot: Place = draw.spot()
    kinds = ("portable", "dish") if spot.relation in ("on", "in") else ("pet",)
    thing = draw.noun(kinds, 0.3)
    thing.place = spot
    return [_past_event_with(draw, thing)]


def _past_event_with(draw: Draw, thing: Phrase) -> Clause:
    """A clause in the past with *thing* as its object: *Anna found the book*."""
    verbs = [v for v in verbs_of(("tr", "ach")) if thing.kinds & set(v.objects) and "place" not in v.kinds]
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(("person",)), object=thing)
    draw.date(clause, 0.4, first=0.5)
    return clause


@construction
def two_sentences(draw: Draw) -> list[Clause]:
    """Two sentences, of which the second refers to the first's subject: *Anna bought a car. She was tired.*"""
    subject = person(draw)
    first = draw.event(("tr", "ach", "go"), "past", subject, extras=0.0)
    same = pronoun_for(draw, subject)
    if draw.chance(0.4):
        return [first, state(draw, same, "past")]
    second = draw.event(("tr", "di"), "future", same, extras=0.0)
    second.time_first = draw.chance(0.5)
    return [first, second]


# ----------------------------------------------------------------------------
# Sentences with numbers in every written form: counts, prices, distances, weights, percentages, years.

_COUNTS = ("digits", "digits", "digits", "grouped", "grouped", "grouped", "scale", "native")


_MEASURES = ("digits", "digits", "fraction", "fraction", "grouped", "scale", "words", "financial")


#: Words of more digits than these are longer than a line.
_LONGEST_WORDS = 6


def _number_of_length(draw: Draw, n: int) -> int:
    """A random number of *n* digits, from 3 on, as words agree with 1 and 2 irregularly."""
    low = 3 if n == 1 else 10 ** (n - 1)
    return low + int(draw.uniform() * (10**n - low))


def _random_integer(draw: Draw, most: int) -> int:
    """A random integer of up to *most* digits, all lengths as likely; none ends in 1, as *twenty-one* does."""
    value = _number_of_length(draw, 1 + int(draw.uniform() * most))
    return value + 1 if value % 10 == 1 else value


def _random_decimal(draw: Draw, most: int) -> Decimal:
    """A random number of up to *most* digits before its point and some after it, the last not 0."""
    places = 1 + int(draw.uniform() * draw.numerals["fraction"])
    fraction = int(draw.uniform() * 10 ** (places - 1)) * 10 + 1 + int(draw.uniform() * 9)
    return Decimal(_random_integer(draw, most)) + Decimal(fraction).scaleb(-places)


def _random_millions(draw: Draw) -> Decimal:
    """A random number of millions or billions, within the digits that the mixture allows."""
    mantissa = _random_decimal(draw, 2) if draw.chance(0.7) else Decimal(_random_integer(draw, 3))
    power = draw.pick((6, 9)) if draw.numerals["digits"] > 6 else 6
    return (mantissa * 10**power).to_integral_value()


def _random_count(draw: Draw) -> Amount:
    """A random number of things, with the form to write it in: *12*, *1,200*, *1.2 million*."""
    form = draw.pick(_COUNTS)
    if form == "scale":
        return Amount(_random_millions(draw), form)
    return Amount(Decimal(_random_integer(draw, draw.numerals["digits"])), form)


def _random_measure(draw: Draw, unit: Lexeme) -> Amount:
    """A random amount of *unit*, with the form to write it in; unlike a count, also with a fraction."""
    form, digits = draw.pick(_MEASURES), draw.numerals["digits"]
    if form in ("words", "financial") and "spoken" not in unit.kinds:
        form = "digits"
    match form:
        case "fraction":
            return Amount(_random_decimal(draw, digits), draw.pick(("digits", "grouped")))
        case "scale" if "duration" not in unit.kinds:
            return Amount(_random_millions(draw), form)
        case "words" | "financial":
            value = _random_integer(draw, min(digits, _LONGEST_WORDS))
            return Amount(Decimal(value if value > 9 else value + 10), form)  # a lone 陆 is land rather than six
        case _:
            return Amount(Decimal(_random_integer(draw, digits)), "grouped" if form == "grouped" else "digits")


def _amount_of_unit(draw: Draw, kind: str) -> Phrase:
    """A phrase such as *12 euros*: a random amount of a unit of this *kind*."""
    unit = draw.concept(nouns_of((kind,), "units"))
    return Phrase(draw.key(), unit, "count", plural=True, amount=_random_measure(draw, unit))


def _with_random_count(draw: Draw, phrase: Phrase) -> Phrase:
    """*phrase* with a random number: *12 books*."""
    phrase.determiner, phrase.plural, phrase.amount = "count", True, _random_count(draw)
    phrase.possessor, phrase.reflexive = None, False
    return phrase


def _counted_objects(draw: Draw, verb: Lexeme, adjective: float = 0.3) -> Phrase:
    """A phrase such as *12 new books*: a random number of things that *verb* can have as object."""
    nouns = [n for n in nouns_of(verb.objects) if not n.kinds & {"mass", "person", "animal", "place", "part"}]
    phrase = Phrase(draw.key(), draw.concept(nouns))
    draw.qualify(phrase, adjective)
    return _with_random_count(draw, phrase)


#: The verbs of which so many things can be the object.
_TRADED = ("buy", "sell", "find", "choose", "order", "take", "wash", "draw", "steal", "hide", "translate")


def _with_time(draw: Draw, clause: Clause, probability: float = 0.5) -> list[Clause]:
    """*clause*, with *probability* with a time added: *yesterday*, *in 1987*."""
    if draw.chance(probability):
        dated = draw.chance(0.25)
        clause.time = _random_year(draw) if dated else draw.adverb("time", "past")
        clause.time_first = dated or draw.chance(0.3)  # not "in 1987 12 tickets"
    return [clause]


def _random_year(draw: Draw) -> Adverbial:
    """An adverbial such as *in 1987*."""
    year = next(adverb for adverb in table("adverbs") if "year" in adverb.kinds)
    draw.concepts.append(year)
    return Adverbial(draw.key(), year, 1700 + int(draw.uniform() * 330))


@construction
def many_objects(draw: Draw) -> list[Clause]:
    """A sentence with a random number of objects: *Paul bought 12 books.*"""
    clause = _past_event(draw, draw.concept(verbs_of(("tr", "ach"), _TRADED)))
    clause.object = _counted_objects(draw, clause.its_verb)
    return _with_time(draw, clause)


@construction
def many_gifts(draw: Draw) -> list[Clause]:
    """A sentence with a random number of objects and a recipient: *Paul gave her 12 books.*"""
    clause = _past_event(draw, draw.concept([v for v in verbs_of(("di",)) if "goods" in v.objects]))
    clause.object, clause.recipient = _counted_objects(draw, clause.its_verb), draw.recipient()
    return _with_time(draw, clause, 0.3)


@construction
def many_subjects(draw: Draw) -> list[Clause]:
    """A sentence with a random number of subjects: *12 teachers bought the car.*"""
    subject = _with_random_count(draw, Phrase(draw.key(), draw.concept(nouns_of(("work", "child")))))
    subject.female = "female" in subject.kinds
    draw.qualify(subject, 0.3)
    return _with_time(draw, draw.event(("tr", "ach"), "past", subject, extras=0.0))


@construction
def many_workers(draw: Draw) -> list[Clause]:
    """A sentence with a random number of subjects and no object: *12 teachers worked in the hotel.*"""
    subject = _with_random_count(draw, Phrase(draw.key(), draw.concept(nouns_of(("work",)))))
    clause = _past_event(draw, draw.concept(verbs_of(("intr",), ("work",))), subject)
    clause.place = Place(draw.key(), "at", draw.noun(("building",), 0.3))
    return _with_time(draw, clause, 0.6)


@construction
def many_here(draw: Draw) -> list[Clause]:
    """A sentence that says that a random number of things is there: *There are 12 books in the box.*"""
    place = Place(draw.key(), "in", draw.noun(("building", "container"), 0.3))
    things = Phrase(draw.key(), draw.concept(nouns_of(("portable", "dish", "fruit"))))
    draw.qualify(things, 0.4)
    return [Clause(draw.key(), existing=_with_random_count(draw, things), place=place, tense="present")]


@construction
def two_numbers(draw: Draw) -> list[Clause]:
    """A sentence with two random numbers: *Paul bought 12 books and 30 apples.*"""
    clause = _past_event(draw, draw.concept(verbs_of(("tr", "ach"), _TRADED)))
    clause.object = _counted_objects(draw, clause.its_verb, 0.1)
    clause.object.coordinated = _counted_objects(draw, clause.its_verb, 0.1)
    return _with_time(draw, clause, 0.3)


@construction
def cost(draw: Draw) -> list[Clause]:
    """A sentence with a price: *The book cost 12 euros.*"""
    return _amounts_to(draw, "priced", "money")


@construction
def weight(draw: Draw) -> list[Clause]:
    """A sentence with a weight: *The dog weighs 12 kilograms.*"""
    (clause,) = _amounts_to(draw, "weighs", "mass")
    clause.tense, clause.time, clause.time_first = "present", None, False
    return [clause]


@construction
def distance(draw: Draw) -> list[Clause]:
    """A sentence with a distance: *The bus covered 12 kilometers.*"""
    return _amounts_to(draw, "moves", "distance")


def _amounts_to(draw: Draw, frame: str, unit: str) -> list[Clause]:
    """A sentence with a verb of *frame* and a random amount of a unit of this kind: *The book cost 12 euros.*"""
    verb = draw.concept(verbs_of((frame,)))
    subject = draw.noun(verb.subjects, 0.5)
    if draw.chance(0.3):
        subject.determiner = draw.pick(("this", "that"))
    clause = _past_event(draw, verb, subject)
    clause.object = _amount_of_unit(draw, unit)
    return _with_time(draw, clause)


def _measured_quantity(draw: Draw) -> Phrase:
    """A phrase such as *the price of the old house*."""
    quantity = Phrase(draw.key(), draw.concept(nouns_of(("quantity",), "units")), "own")
    quantity.possessor = draw.noun(("goods", "building", "vehicle"), 0.3)
    return quantity


@construction
def price(draw: Draw) -> list[Clause]:
    """A sentence on the level of a measured quantity: *The price of the house reached 12 euros.*"""
    clause = _past_event(draw, draw.concept(verbs_of(("level",))), _measured_quantity(draw))
    clause.object = _amount_of_unit(draw, "money")
    return _with_time(draw, clause)


@construction
def change(draw: Draw) -> list[Clause]:
    """A sentence on the change of a measured quantity: *The price of the house rose by 12 percent.*"""
    clause = _past_event(draw, draw.concept(verbs_of(("change",))), _measured_quantity(draw))
    percent = draw.concept(nouns_of(("percent",), "units"))
    value = Decimal(_random_integer(draw, 3)) if draw.chance(0.4) else _random_decimal(draw, 2)
    clause.object = Phrase(draw.key(), percent, "count", plural=True, amount=Amount(value, "digits"))
    return _with_time(draw, clause)


@construction
def payment(draw: Draw) -> list[Clause]:
    """A sentence with a payment: *Paul paid her 12 euros.*"""
    verb = draw.concept(verbs_of(("pay",)))
    clause = _past_event(draw, verb, draw.subject(verb.subjects, pronouns=False))
    clause.object, clause.recipient = _amount_of_unit(draw, "money"), draw.recipient()
    return _with_time(draw, clause)


@construction
def loan(draw: Draw) -> list[Clause]:
    """A sentence with a loan of money: *Paul lent her 12 euros.*"""
    clause = _past_event(draw, draw.concept(verbs_of(("di",), ("lend", "give", "send", "offer"))))
    clause.object, clause.recipient = _amount_of_unit(draw, "money"), draw.recipient()
    return _with_time(draw, clause)


@construction
def duration(draw: Draw) -> list[Clause]:
    """A sentence with a duration: *Paul waited 12 hours.*"""
    verbs = verbs_of(("intr",), ("wait", "work", "travel"))
    clause = _past_event(draw, draw.concept(verbs), draw.subject(("person",)))
    clause.object = _amount_of_unit(draw, "duration")
    return _with_time(draw, clause, 0.4)


@construction
def dated(draw: Draw) -> list[Clause]:
    """A sentence with a year: *Paul bought a car in 1987.*"""
    clause = draw.event(("tr", "ach", "di"), "past", extras=0.0)
    clause.time, clause.time_first = _random_year(draw), draw.chance(0.4)
    return [clause]


@construction
def reported_number(draw: Draw) -> list[Clause]:
    """A sentence that reports a price: *Anna said that the book cost 12 euros.*"""
    verb = draw.concept(verbs_of(("say",), ("say",)))
    content = draw.pick((cost, weight, price, change))(draw)[0]
    content.time_first, content.time = False, None
    return [Clause(draw.key(), subject=person(draw), verb=verb, tense="past", content=content)]
