"""Questions, commands, and sentences with *to be*."""

from __future__ import annotations

from nbkit.corpora.sandbox.constructions.table import construction, person, state
from nbkit.corpora.sandbox.draw import Draw, adjectives_of, nouns_of, verbs_of
from nbkit.corpora.sandbox.meaning import FIRST, SECOND, THEY, THIRD, WE, Clause, Phrase, Tense


@construction
def polar_question(draw: Draw) -> list[Clause]:
    tense: Tense = draw.pick(("past", "past", "progressive", "future"))
    subject = Phrase(draw.key(), person=SECOND) if draw.chance(0.3) else None
    clause = draw.event(("tr", "di") if tense == "progressive" else ("tr", "di", "ach"), tense, subject)
    clause.force, clause.time_first = "polar", False
    if clause.tense == "progressive" and draw.chance(0.3):
        clause.tense, clause.modal = "present", "can"
    return [clause]


@construction
def subject_question(draw: Draw) -> list[Clause]:
    someone = Phrase(draw.key(), person=THIRD)
    clause = draw.event(("tr", "di", "ach"), draw.pick(("past", "past", "future")), someone)
    clause.subject, clause.question_key = None, someone.key
    if clause.object is not None and clause.object.reflexive:
        clause.object.determiner, clause.object.possessor, clause.object.reflexive = "definite", None, False
    clause.force, clause.time_first = "subject", False
    return [clause]


@construction
def object_question(draw: Draw) -> list[Clause]:
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


def _adjunct_question(draw: Draw, force: str, tense: Tense) -> list[Clause]:
    subject = Phrase(draw.key(), person=SECOND) if draw.chance(0.2) else None
    frames = ("tr", "di") if tense == "progressive" else ("tr", "di", "ach")
    clause = draw.event(frames, tense, subject, extras=0.7)
    if force == "time":
        clause.time = None
    if force == "place":
        clause.place = None
    clause.force, clause.time_first, clause.question_key = force, False, draw.key()  # type: ignore[assignment]
    return [clause]


@construction
def place_question(draw: Draw) -> list[Clause]:
    return _adjunct_question(draw, "place", draw.pick(("past", "past", "future")))


@construction
def time_question(draw: Draw) -> list[Clause]:
    return _adjunct_question(draw, "time", draw.pick(("past", "future")))


@construction
def reason_question(draw: Draw) -> list[Clause]:
    return _adjunct_question(draw, "reason", draw.pick(("past", "past", "progressive")))


@construction
def command(draw: Draw) -> list[Clause]:
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
    phrase = draw.thing(("goods", "place", "text", "animal"), None, 0.0)
    if phrase.determiner in ("indefinite", "count", "many"):
        phrase.determiner, phrase.plural, phrase.count = "definite", False, 0
    if draw.chance(0.4):
        phrase = person(draw)
        phrase.adjective = None
        clause = state(draw, phrase, draw.pick(("present", "past")))
    else:
        clause = _qualities(draw, phrase)
        clause.very = draw.chance(0.6)
        assert phrase.noun is not None
        if phrase.determiner == "definite" and draw.chance(0.5):
            if phrase.noun.kinds & {"place", "plant"}:
                phrase.determiner = "this"
            elif phrase.noun.kinds & {"goods", "text"}:
                phrase.determiner, phrase.possessor = "own", draw.noun(("adult",), 0.0)
    if draw.chance(0.2) and not clause.very:
        clause.negative = True
    elif draw.chance(0.2):
        clause.force = "polar"
    return [clause]


@construction
def copula_noun(draw: Draw) -> list[Clause]:
    subject = draw.owned(("family",), draw.pick((FIRST, THIRD, WE, THEY))) if draw.chance(0.6) else draw.name()
    subject.adjective = None
    jobs = [n for n in nouns_of(("work",)) if ("female" in n.kinds) == subject.female]
    job = Phrase(draw.key(), draw.concept(jobs), "indefinite", female=subject.female)
    job.adjective = draw.concept([a for a in adjectives_of(job.noun) if "state" not in a.kinds])
    return [Clause(draw.key(), subject=subject, class_=job, tense="present")]


@construction
def comparative(draw: Draw) -> list[Clause]:
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


def _qualities(draw: Draw, phrase: Phrase, kind: str = "") -> Clause:
    assert phrase.noun is not None
    options = [a for a in adjectives_of(phrase.noun) if "attribute" not in a.kinds and (not kind or kind in a.kinds)]
    return Clause(draw.key(), subject=phrase, quality=draw.concept(options), tense="present")
