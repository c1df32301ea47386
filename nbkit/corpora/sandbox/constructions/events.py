"""Simple sentences about events: who does what to whom, when, where and how."""

from __future__ import annotations

from nbkit.corpora.sandbox.constructions.table import construction, known_object, plain_scope
from nbkit.corpora.sandbox.draw import Draw, verbs_of
from nbkit.corpora.sandbox.meaning import Clause, Tense


def _tense(draw: Draw) -> Tense:
    return draw.pick(("past", "past", "progressive", "habit", "future"))


@construction
def intransitive(draw: Draw) -> list[Clause]:
    clause = draw.event(("intr",), _tense(draw))
    if clause.place is None and clause.manner is None:
        draw.location(clause)
    return [clause]


@construction
def transitive(draw: Draw) -> list[Clause]:
    return [draw.event(("tr",), _tense(draw))]


@construction
def achievement(draw: Draw) -> list[Clause]:
    return [draw.event(("ach",), draw.pick(("past", "past", "future")))]


@construction
def stative(draw: Draw) -> list[Clause]:
    clause = known_object(draw.event(("st",), "present"))
    if clause.object is not None:
        draw.qualify(clause.object)
    return [clause]


@construction
def ditransitive(draw: Draw) -> list[Clause]:
    return [draw.event(("di",), _tense(draw))]


@construction
def future(draw: Draw) -> list[Clause]:
    return [draw.event(("tr", "di", "intr"), "future")]


@construction
def progressive(draw: Draw) -> list[Clause]:
    return [draw.event(("tr", "di", "intr"), "progressive")]


@construction
def habit(draw: Draw) -> list[Clause]:
    return [draw.event(("tr", "intr", "go"), "habit")]


@construction
def modal(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "able", "di"), "present")
    clause.modal = draw.pick(("can", "must"))
    if draw.chance(0.4):
        clause.time = draw.adverb("time", draw.pick(("now", "future")))
    return [clause]


@construction
def negation(draw: Draw) -> list[Clause]:
    tense: Tense = draw.pick(("past", "past", "progressive", "future", "present"))
    frames = {"present": ("fond",), "progressive": ("tr",)}.get(tense, ("tr", "di", "ach"))
    clause = draw.event(frames, tense)
    clause.negative = True
    return [plain_scope(known_object(clause) if tense == "present" else clause)]


@construction
def negated_modal(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "able"), draw.pick(("present", "past")))
    clause.modal = "can"
    clause.negative = True
    if clause.tense == "past" and clause.time is None:
        clause.time = draw.adverb("time", "past")
    return [plain_scope(clause)]


@construction
def manner(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "di", "intr"), draw.pick(("past", "progressive", "future")), extras=0.4)
    if clause.manner is None:
        draw.manner(clause)
    clause.instrument = None
    return [clause]


@construction
def time_first(draw: Draw) -> list[Clause]:
    tense: Tense = draw.pick(("past", "future"))
    clause = draw.event(("tr", "di", "ach", "go"), tense, extras=0.7)
    if clause.time is None:
        clause.time = draw.adverb("time", tense)
    clause.time_first = True
    return [clause]


@construction
def possessive(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "ach"), draw.pick(("past", "future")), extras=0.6)
    thing = clause.object
    assert thing is not None and thing.noun is not None
    if not thing.noun.kinds & {"person", "place", "wild", "built", "awaited"}:
        owner = draw.name() if draw.chance(0.4) else draw.noun(("adult",), 0.0)
        thing.determiner, thing.possessor, thing.reflexive = "own", owner, False
        thing.plural, thing.count = draw.chance(0.15) and "mass" not in thing.noun.kinds, 0
    return [clause]


@construction
def place(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "intr"), draw.pick(("past", "progressive", "habit")), extras=0.3)
    draw.location(clause)
    return [clause]


@construction
def instrument(draw: Draw) -> list[Clause]:
    verbs = tuple(v for v in verbs_of(("tr", "ach")) if v.instruments)
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(("person",)))
    draw.participants(clause)
    draw.instrument(clause)
    if draw.chance(0.5):
        clause.time = draw.adverb("time", "past")
    return [clause]


@construction
def motion(draw: Draw) -> list[Clause]:
    return [draw.event(("go",), draw.pick(("past", "past", "progressive", "future", "habit")))]


@construction
def companion(draw: Draw) -> list[Clause]:
    clause = draw.event(("intr", "go"), draw.pick(("past", "progressive", "future")), extras=0.3)
    if clause.subject is not None and clause.subject.is_person:
        clause.manner = None
        draw.companion(clause)
    return [clause]


@construction
def passive(draw: Draw) -> list[Clause]:
    verb = draw.concept(verbs_of(("pass",)))
    patient = draw.noun(verb.objects, 0.4)
    if draw.chance(0.3):
        patient.determiner = "this"
    agent = draw.noun(("adult", "child"), 0.15) if draw.chance(0.7) else draw.name()
    clause = Clause(draw.key(), verb=verb, subject=patient, object=agent, tense="past", passive=True)
    if draw.chance(0.5):
        clause.time = draw.adverb("time", "past")
        clause.time_first = draw.chance(0.3)
    return [clause]


@construction
def numeral(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "di"), draw.pick(("past", "future")), extras=0.6)
    thing = clause.object
    assert thing is not None and thing.noun is not None
    if "mass" not in thing.noun.kinds:
        thing.possessor, thing.reflexive = None, False
        draw.number(thing)
    return [clause]
