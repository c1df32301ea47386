"""The table of constructions, and what several of them need."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from nbkit.sandbox.draw import Draw, adjectives_of, nouns_of, verbs_of
from nbkit.sandbox.meaning import FIRST, SECOND, THEY, THIRD, WE, Clause, Phrase, Place, Subordinate, Tense, table

#: Draws the meaning of one text: a list of clauses, one a sentence.
Construction = Callable[[Draw], list[Clause]]


_ENTERED: list[Construction] = []


def construction(function: Construction) -> Construction:
    """Enter *function* in the table under its own name."""
    _ENTERED.append(function)
    return function


def entered(*modules: ModuleType) -> dict[str, Construction]:
    """The constructions of *modules*, by name."""
    names = {module.__name__ for module in modules}
    return {function.__name__: function for function in _ENTERED if function.__module__ in names}


def again(draw: Draw, antecedent: Phrase) -> Phrase:
    """A pronoun for *antecedent*."""
    return Phrase(draw.key(), person=antecedent.agreement, female=antecedent.female, antecedent=antecedent)


def person(draw: Draw) -> Phrase:
    """Someone who can be spoken of again as he or she in every language."""
    way = draw.pick((0, 1, 1, 2))
    if way == 0:
        return draw.name()
    if way == 1:
        return draw.noun(("adult",), 0.3)
    return draw.owned(("family",), draw.pick((FIRST, WE)))


def state(draw: Draw, subject: Phrase, tense: Tense) -> Clause:
    """Someone is in a state: hungry, busy, sad."""
    states = [a for a in table("adjectives") if "state" in a.kinds and "person" in a.kinds]
    return Clause(draw.key(), subject=subject, quality=draw.concept(states), tense=tense, very=draw.chance(0.4))


def plain_scope(clause: Clause) -> Clause:
    """Leave out what would be in doubt under a negation: how, with what; three of them; many."""
    clause.manner = clause.instrument = None
    if clause.object is not None and clause.object.determiner in ("count", "many"):
        clause.object.determiner, clause.object.count = "definite", 0
    return clause


def known_object(clause: Clause) -> Clause:
    """Whom one loves or knows is not just anyone: no indefinite object."""
    if clause.object is not None and clause.object.determiner == "indefinite":
        clause.object.determiner = "definite"
    return clause


# ----------------------------------------------------------------------------
# Simple sentences about events: who does what to whom, when, where and how.


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


# ----------------------------------------------------------------------------
# Questions, commands, and sentences with *to be*.


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


# ----------------------------------------------------------------------------
# Sentences with more than one clause or a coordination, and texts of two sentences.


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
