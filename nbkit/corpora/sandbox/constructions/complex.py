"""Sentences with more than one clause or a coordination, and texts of two sentences."""

from __future__ import annotations

from nbkit.corpora.sandbox.constructions.table import again, construction, person, plain_scope, state
from nbkit.corpora.sandbox.draw import Draw, nouns_of, verbs_of
from nbkit.corpora.sandbox.meaning import Clause, Phrase, Place, Subordinate, Tense


@construction
def complement_clause(draw: Draw) -> list[Clause]:
    speaker = person(draw)
    verb = draw.concept(verbs_of(("say",)))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="present")
    tense: Tense = "future" if "future" in verb.kinds else draw.pick(("past", "future", "progressive"))
    subject = again(draw, speaker) if draw.chance(0.4) else None
    clause.content = draw.event(("tr", "intr", "di"), tense, subject, extras=0.5)
    clause.content.time_first = False
    return [clause]


@construction
def reported_ability(draw: Draw) -> list[Clause]:
    speaker = person(draw)
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if v.id == "say"))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="past")
    subject = again(draw, speaker) if draw.chance(0.7) else draw.subject(("person",))
    content = draw.event(("tr", "able", "di"), "past", subject, extras=0.0)
    content.modal, content.negative = "can", draw.chance(0.7)
    if content.object is not None:
        draw.qualify(content.object, 0.7)
    clause.content = plain_scope(content) if content.negative else content
    return [clause]


@construction
def subject_relative(draw: Draw) -> list[Clause]:
    subject = draw.noun(("work", "child"), 0.1)
    subject.relative = draw.event(("tr", "intr"), draw.pick(("past", "progressive")), subject, extras=0.3)
    subject.relative.subject, subject.relative.time_first = None, False
    if draw.chance(0.3):
        return [state(draw, subject, "present")]
    return [draw.event(("tr", "ach"), "past", subject, extras=0.5)]


@construction
def object_relative(draw: Draw) -> list[Clause]:
    kinds = ("goods", "portable", "text")
    verbs = tuple(v for v in verbs_of(("tr", "ach")) if set(v.objects).intersection(kinds) and "governs" not in v.kinds)
    verb = draw.concept(tuple(v for v in verbs_of(("tr", "ach", "di")) if set(v.objects).intersection(kinds)))
    clause = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(verb.subjects))
    thing = draw.noun(tuple(kind for kind in verb.objects if kind in kinds), 0.3)
    clause.object = thing
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    assert thing.noun is not None
    fitting = tuple(v for v in verbs if thing.noun.kinds & set(v.objects) and v is not clause.verb)
    verb = draw.concept(fitting)
    relative = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(verb.subjects))
    if draw.chance(0.3):
        relative.time = draw.adverb("time", "past")
    thing.relative, thing.relative_object = relative, True
    return [clause]


@construction
def coordinated_nouns(draw: Draw) -> list[Clause]:
    subject = draw.subject(("person",), pronouns=False) if draw.chance(0.6) else draw.name()
    subject.coordinated = (
        draw.name() if subject.noun is not None and "name" not in subject.noun.kinds else draw.noun(("adult",), 0.2)
    )
    return [draw.event(("tr", "intr", "go"), draw.pick(("past", "progressive", "future")), subject, extras=0.7)]


@construction
def coordinated_objects(draw: Draw) -> list[Clause]:
    verbs = tuple(v for v in verbs_of(("tr", "di")) if len(nouns_of(v.objects)) > 5)
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense=draw.pick(("past", "future", "progressive")))
    clause.subject = draw.subject(verb.subjects)
    draw.participants(clause)
    assert clause.object is not None
    clause.object.coordinated = draw.thing(verb.objects, clause.subject)
    draw.adverbials(clause, 0.5)
    return [clause]


@construction
def coordinated_verbs(draw: Draw) -> list[Clause]:
    subject = draw.subject(("person",))
    clause = draw.event(("tr", "ach"), "past", subject, extras=0.3)
    clause.conjunct = draw.event(("tr", "di"), "past", subject, extras=0.0)
    clause.conjunction, clause.shared_subject = "and", True
    clause.conjunct.time = None
    return [clause]


@construction
def coordinated_clauses(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "di", "go"), "past", extras=0.3)
    clause.conjunct = draw.event(("tr", "intr"), "past", extras=0.2)
    clause.conjunct.time_first = False
    clause.conjunction = draw.pick(("and", "but"))
    return [clause]


@construction
def because(draw: Draw) -> list[Clause]:
    subject = person(draw)
    clause = draw.event(("tr", "ach", "go", "intr"), "past", subject, extras=0.2)
    reason = (
        state(draw, again(draw, subject), "past")
        if draw.chance(0.6)
        else draw.event(("tr", "ach"), "past", draw.subject(("person",)), extras=0.0)
    )
    clause.subordinate = Subordinate(draw.key(), "because", reason, first=False)
    return [clause]


@construction
def when(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "intr"), "past", extras=0.0)
    event = draw.event(("ach", "go"), "past", draw.subject(("person",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", event, first=draw.chance(0.6))
    return [clause]


@construction
def condition(draw: Draw) -> list[Clause]:
    subject = person(draw)
    event = draw.event(("tr", "ach"), "condition", subject, extras=0.0)
    clause = draw.event(("tr", "di", "go"), "future", again(draw, subject), extras=0.0)
    clause.time_first = False
    clause.subordinate = Subordinate(draw.key(), "if", event, first=True)
    return [clause]


@construction
def infinitive(draw: Draw) -> list[Clause]:
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
    if tense == "past" and draw.chance(0.5):
        clause.time, clause.time_first = draw.adverb("time", "past"), True
    if "want" in verb.kinds and tense == "present" and draw.chance(0.3):
        clause.negative = True
        plain_scope(clause.infinitive)
    return [clause]


@construction
def purpose(draw: Draw) -> list[Clause]:
    clause = draw.event(("go",), "past", draw.subject(("person",)), extras=0.0)
    clause.purpose = draw.event(("tr",), "present", clause.subject, extras=0.0)
    clause.purpose.subject = None
    if draw.chance(0.4):
        clause.time, clause.time_first = draw.adverb("time", "past"), True
    return [clause]


@construction
def noun_place(draw: Draw) -> list[Clause]:
    spot: Place = draw.spot()
    kinds = ("portable", "dish") if spot.relation in ("on", "in") else ("pet",)
    thing = draw.noun(kinds, 0.3)
    thing.place = spot
    return [_seen(draw, thing)]


def _seen(draw: Draw, thing: Phrase) -> Clause:
    assert thing.noun is not None
    verbs = [v for v in verbs_of(("tr", "ach")) if thing.noun.kinds & set(v.objects) and "place" not in v.kinds]
    verb = draw.concept(verbs)
    clause = Clause(draw.key(), verb=verb, tense="past", subject=draw.subject(("person",)), object=thing)
    if draw.chance(0.4):
        clause.time = draw.adverb("time", "past")
        clause.time_first = draw.chance(0.5)
    return clause


@construction
def two_sentences(draw: Draw) -> list[Clause]:
    subject = person(draw)
    first = draw.event(("tr", "ach", "go"), "past", subject, extras=0.0)
    same = again(draw, subject)
    if draw.chance(0.4):
        return [first, state(draw, same, "past")]
    second = draw.event(("tr", "di"), "future", same, extras=0.0)
    second.time_first = draw.chance(0.5)
    return [first, second]
