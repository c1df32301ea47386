"""Sentences with homographs: the words around one attract its sense, or mislead by attracting another one."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from nbkit.sandbox.constructions import sentences as complex
from nbkit.sandbox.constructions import sentences as events
from nbkit.sandbox.constructions import sentences as moods
from nbkit.sandbox.constructions.sentences import construction, person
from nbkit.sandbox.draw import Draw, nouns_of, verbs_of
from nbkit.sandbox.meaning import (
    Adverbial,
    Amount,
    Clause,
    Lexeme,
    Phrase,
    Place,
    Subordinate,
    Tense,
    find_lexeme,
    table,
)
from nbkit.sandbox.phenomena import Idiom, SandboxHomograph, homographs, literal_ends, literal_verbs, phrase_of

#: Text without homographs, which shows a model how the language is and where else adjectives stand.
_ORDINARY = (
    *(events.transitive, events.ditransitive, events.achievement, events.habit, events.negation, events.passive),
    *(events.possessive, events.place, events.motion, events.future, moods.copula_adjective, moods.copula_noun),
    *(complex.complement_clause, complex.subject_relative, complex.object_relative, complex.because, complex.when),
    *(complex.condition, complex.infinitive, complex.coordinated_objects, complex.noun_place),
)


#: How many of the words of a misleading context mislead; the others attract what is meant.
_MISLED = 0.75


_INANIMATE = frozenset({"abstract", "food"})


class _Cues:
    """One occurrence of a homograph: the sense that is meant, and what is drawn around it.

    A misleading context is drawn as if another sense were meant, of what is also said of the meant one.
    """

    def __init__(self, draw: Draw):
        self._draw = draw
        self.homograph: SandboxHomograph = draw.pick(homographs())
        shares = self.homograph.shares
        columns = range(len(shares))
        self._meant = draw.weighted(columns, shares)
        self._attracted = self._meant
        if draw.chance(draw.misleading):
            others = [0 if column == self._meant else share for column, share in enumerate(shares)]
            self._attracted = draw.weighted(columns, others)
            draw.remark = "misleading"
        self.sense = self.homograph.senses[self._meant]
        draw.concepts.append(self.sense)

    def draw(self, kind: str, barred: frozenset[str] = frozenset()) -> Lexeme:
        """A word of a kind of cues, preferably one that the text does not hold yet; none that is of *barred* kinds."""
        entries = [entry for entry in self.homograph.cues[kind] if not entry[0].kinds & barred]
        known = [entry for entry in entries if entry[0] not in self._draw.concepts] or entries
        misled = self._attracted != self._meant and self._draw.chance(_MISLED)
        column = self._attracted if misled else self._meant
        weights = [row[column] if row[self._meant] else 0 for _, row in known]
        if not any(weights):
            weights = [row[self._meant] for _, row in known]
        if not any(weights):
            known, weights = entries, [row[self._meant] for _, row in entries]
        word = self._draw.weighted([entry[0] for entry in known], weights)
        self._draw.concepts.append(word)
        return word

    def someone(self) -> Phrase:
        """Who does it."""
        if not self._draw.chance(0.75):
            return self._draw.subject(("adult",), pronouns=False)
        noun = self.draw("people")
        phrase = Phrase(self._draw.key(), noun, "definite", female="female" in noun.kinds)
        self._draw.qualify(phrase, 0.3)
        return phrase

    def thing(self) -> Phrase:
        """The homograph, half of the time with an adjective."""
        draw = self._draw
        phrase = Phrase(draw.key(), self.sense, "definite")
        if draw.chance(0.5):
            phrase.adjective = self.draw("adjectives")
        way = draw.uniform()
        if way < 0.2 and not self.sense.kinds & _INANIMATE:
            phrase.determiner = "indefinite"
        elif way < 0.35:
            phrase.determiner = draw.pick(("this", "that"))
        elif way < 0.45 and not self.sense.kinds & _INANIMATE:
            phrase.plural = True
        return phrase

    def place(self, clause: Clause, probability: float = 0.75) -> None:
        """Where it happens."""
        assert clause.verb is not None
        if self._draw.chance(probability) and not clause.verb.kinds & {"st", "wide"}:
            clause.place = Place(self._draw.key(), "at", Phrase(self._draw.key(), self.draw("places"), "definite"))


def _event(draw: Draw, cues: _Cues, subject: Phrase | None = None, coordinated: float = 0.35) -> Clause:
    """Somebody does something to the homograph somewhere."""
    verb = cues.draw("verbs")
    tense: Tense = "present" if "st" in verb.kinds else "past"
    clause = Clause(draw.key(), verb=verb, tense=tense, subject=subject or cues.someone(), object=cues.thing())
    assert clause.object is not None
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    elif draw.chance(coordinated):
        clause.object.coordinated = Phrase(draw.key(), cues.draw("things"), "definite")
    cues.place(clause)
    return clause


def _timed(draw: Draw, clause: Clause, probability: float = 0.6) -> list[Clause]:
    if clause.tense == "past" and draw.chance(probability):
        clause.time, clause.time_first = draw.adverb("time", "past"), draw.chance(0.3)
    return [clause]


@construction
def sense_object(draw: Draw) -> list[Clause]:
    return _timed(draw, _event(draw, _Cues(draw)), 0.8)


@construction
def sense_passive(draw: Draw) -> list[Clause]:
    cues = _Cues(draw)
    verbs = [verb for verb, row in cues.homograph.cues["verbs"] if verb.kinds & {"pass", "voice"} and any(row)]
    active = frozenset(v.id for v, _ in cues.homograph.cues["verbs"] if v not in verbs)
    clause = Clause(draw.key(), verb=cues.draw("verbs", active), tense="past", passive=True)
    clause.subject, clause.object = cues.thing(), cues.someone()
    clause.subject.plural = False
    cues.place(clause, 0.7)
    return _timed(draw, clause, 0.7)


@construction
def sense_relative(draw: Draw) -> list[Clause]:
    cues = _Cues(draw)
    barred = frozenset({"di", "st", "governs"})
    outer = Clause(draw.key(), verb=cues.draw("verbs", barred), tense="past", subject=draw.subject(("adult",)))
    thing = cues.thing()
    inner = Clause(draw.key(), verb=cues.draw("verbs", barred), tense="past", subject=cues.someone())
    cues.place(inner, 0.5)
    thing.relative, thing.relative_object, outer.object = inner, True, thing
    return [outer]


@construction
def sense_reported(draw: Draw) -> list[Clause]:
    cues = _Cues(draw)
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if "future" not in v.kinds))
    clause = Clause(draw.key(), subject=person(draw), verb=verb, tense="past" if verb.id == "say" else "present")
    (clause.content,) = _timed(draw, _event(draw, cues), 0.3)
    clause.content.time_first = False
    return [clause]


@construction
def sense_because(draw: Draw) -> list[Clause]:
    reason = _event(draw, _Cues(draw))
    clause = draw.event(("intr", "go"), "past", person(draw), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "because", reason)
    return [clause]


@construction
def sense_when(draw: Draw) -> list[Clause]:
    cues = _Cues(draw)
    clause = _event(draw, cues)
    clause.tense = "past"
    event = draw.event(("go",), "past", draw.subject(("adult",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", event, first=draw.chance(0.6))
    return [clause]


@construction
def sense_condition(draw: Draw) -> list[Clause]:
    cues = _Cues(draw)
    clause = _event(draw, cues)
    clause.tense = "future"
    event = draw.event(("go",), "condition", draw.subject(("adult",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "if", event, first=True)
    return [clause]


@construction
def ordinary(draw: Draw) -> list[Clause]:
    return draw.pick(_ORDINARY)(draw)


# ----------------------------------------------------------------------------
# Sentences with idioms, and regular text in which the same words are meant literally.

#: Draws what happens: by whom (None: anybody) and when.
_Event = Callable[[Draw, Phrase | None, Tense], Clause]


#: Draws a sentence around what happens.
Context = Callable[[Draw, _Event], list[Clause]]


_LITERAL_CLASSES = ("elephant", "horse", "cheese", "cake", "lamp", "book", "bicycle", "flower", "hat")


def idiomatic(idiom: Idiom) -> _Event:
    """An event that *idiom* tells of."""

    def event(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
        if idiom.verb is None:
            return _said_to_be(draw, idiom)
        clause = Clause(draw.key(), verb=idiom.verb, tense=tense, idiom=idiom)
        clause.subject = subject or draw.subject(("person",))
        draw.concepts += [idiom.verb, idiom.phrase.noun]
        determiner = idiom.phrase.determiner
        if determiner in ("own", "reflexive"):
            clause.object = phrase_of(idiom.phrase, draw.key(), "own")
            clause.object.possessor = _other(draw) if determiner == "own" else _oneself(draw, clause.subject)
            clause.object.reflexive = determiner == "reflexive"
        else:
            indefinite = determiner == "indefinite"
            clause.object = phrase_of(idiom.phrase, draw.key(), "indefinite" if indefinite else "definite")
        if idiom.recipient:
            clause.recipient = draw.recipient()
        return clause

    return event


def _said_to_be(draw: Draw, idiom: Idiom) -> Clause:
    noun = draw.concept(idiom.of)
    subject = Phrase(draw.key(), noun, draw.pick(("definite", "this", "that")), female="female" in noun.kinds)
    draw.qualify(subject, 0.3)
    phrase = phrase_of(idiom.phrase, draw.key(), "indefinite")
    return Clause(draw.key(), subject=subject, class_=phrase, tense="present", idiom=idiom)


def _other(draw: Draw) -> Phrase:
    """Someone: a name or a noun."""
    return draw.name() if draw.chance(0.5) else draw.noun(("work",), 0.2)


def _oneself(draw: Draw, subject: Phrase) -> Phrase:
    return Phrase(draw.key(), person=subject.agreement, female=subject.female)


def _literal(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
    """An event that is meant as it is said."""
    verb = draw.pick(tuple(literal_verbs()))
    draw.concepts.append(verb)
    clause = Clause(draw.key(), verb=verb, tense="present" if "st" in verb.kinds else tense)
    clause.subject = subject or draw.subject(("person",))
    clause.object = _thing(draw, draw.concept(literal_verbs()[verb]))
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    return clause


def _thing(draw: Draw, noun: Lexeme) -> Phrase:
    phrase = Phrase(draw.key(), noun, "definite", female="female" in noun.kinds)
    draw.qualify(phrase, 0.3)
    way, mass = draw.uniform(), "mass" in noun.kinds
    if "limb" in noun.kinds:
        phrase.determiner, phrase.possessor = "own", _other(draw)
    elif way < 0.25 and not mass:
        phrase.determiner = "indefinite"
    elif way < 0.4:
        phrase.determiner = draw.pick(("this", "that"))
    elif way < 0.55:
        phrase.determiner, phrase.possessor = "own", _other(draw)
    elif way < 0.7 and not mass:
        phrase.plural = True
    return phrase


def _tense(draw: Draw) -> Tense:
    return draw.pick(("past", "past", "past", "future"))


def _timed_idiom(draw: Draw, clause: Clause) -> Clause:
    """*clause* with the adverbials that its tense asks for or allows."""
    if clause.verb is None or clause.tense == "present":
        return clause
    if clause.tense == "future" or draw.chance(0.6):
        clause.time = draw.adverb("time", "future" if clause.tense == "future" else "past")
        clause.time_first = draw.chance(0.3)
    if draw.chance(0.25) and "go" not in clause.verb.kinds:
        clause.place = draw.place(("outdoor", "restaurant", "office", "hotel"))
    return clause


def plain(draw: Draw, event: _Event) -> list[Clause]:
    return [_timed_idiom(draw, event(draw, None, _tense(draw)))]


def reported(draw: Draw, event: _Event) -> list[Clause]:
    speaker = person(draw)
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if "future" not in v.kinds))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="past" if verb.id == "say" else "present")
    clause.content = _timed_idiom(draw, event(draw, draw.subject(("person",), pronouns=False), "past"))
    clause.content.time_first = False
    return [clause]


def because(draw: Draw, event: _Event) -> list[Clause]:
    clause = draw.event(("go", "intr"), "past", person(draw), extras=0.0)
    reason = event(draw, draw.subject(("person",), pronouns=False), "past")
    clause.subordinate = Subordinate(draw.key(), "because", reason)
    return [clause]


def when(draw: Draw, event: _Event) -> list[Clause]:
    clause = event(draw, None, "past")
    arrival = draw.event(("go",), "past", draw.subject(("person",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", arrival, first=draw.chance(0.5))
    return [clause]


def wanted(draw: Draw, event: _Event) -> list[Clause]:
    verb = draw.concept(tuple(v for v in verbs_of(("inf",)) if v.id in ("want", "promise", "decide", "hope", "try")))
    subject = draw.subject(("person",))
    clause = Clause(draw.key(), subject=subject, verb=verb, tense="present" if "present" in verb.kinds else "past")
    clause.infinitive = event(draw, subject, "present")
    clause.infinitive.subject = None
    if clause.tense == "past" and draw.chance(0.6):
        clause.time, clause.time_first = draw.adverb("time", "past"), True
    return [clause]


def negated(draw: Draw, event: _Event) -> list[Clause]:
    clause = _timed_idiom(draw, event(draw, None, _tense(draw)))
    clause.negative = True
    return [clause]


CONTEXTS: dict[str, Context] = {
    "plain": plain,
    "reported": reported,
    "because": because,
    "when": when,
    "wanted": wanted,
    "negated": negated,
}


#: Contexts for what something is said to be, in which it is said in the present.
_OF_NOUNS = ("plain", "reported")


def contexts_of(idiom: Idiom) -> tuple[str, ...]:
    """Where *idiom* can be told."""
    return _OF_NOUNS if idiom.verb is None else tuple(CONTEXTS)


@construction
def literal_event(draw: Draw) -> list[Clause]:
    return plain(draw, _literal)


@construction
def literal_reported(draw: Draw) -> list[Clause]:
    return reported(draw, _literal)


@construction
def literal_because(draw: Draw) -> list[Clause]:
    return because(draw, _literal)


@construction
def literal_when(draw: Draw) -> list[Clause]:
    return when(draw, _literal)


@construction
def literal_wanted(draw: Draw) -> list[Clause]:
    return wanted(draw, _literal)


@construction
def literal_negated(draw: Draw) -> list[Clause]:
    return negated(draw, _literal)


@construction
def literal_class(draw: Draw) -> list[Clause]:
    """The gift is a small elephant."""
    subject = Phrase(draw.key(), draw.concept([find_lexeme("gift", ("nouns",))]), draw.pick(("this", "that")))
    if draw.chance(0.5):
        subject.determiner, subject.possessor = "own", draw.name()
    thing = Phrase(draw.key(), find_lexeme(draw.pick(_LITERAL_CLASSES), ("nouns",)), "indefinite")
    assert thing.noun is not None
    draw.concepts.append(thing.noun)
    draw.qualify(thing, 0.6)
    clause = Clause(draw.key(), subject=subject, class_=thing, tense="present")
    if draw.chance(0.4):
        return [Clause(draw.key(), subject=person(draw), verb=_say(draw), tense="past", content=clause)]
    return [clause]


def _say(draw: Draw) -> Lexeme:
    return draw.concept([find_lexeme("say", ("verbs",))])


@construction
def literal_end(draw: Draw) -> list[Clause]:
    verb = draw.concept(literal_ends())

    def event(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
        return Clause(draw.key(), verb=verb, tense=tense, subject=subject or draw.subject(("person",)))

    return draw.pick((plain, plain, reported, because, when, wanted))(draw, event)


# ----------------------------------------------------------------------------
# Sentences with numbers in every written form: counts, prices, distances, weights, percentages, years.

_COUNTS = ("digits", "digits", "digits", "grouped", "grouped", "grouped", "scale", "native")


_MEASURES = ("digits", "digits", "fraction", "fraction", "grouped", "scale", "words", "financial")


#: Words of more digits than these are longer than a line.
_LONGEST_WORDS = 6


def _digits(draw: Draw, n: int) -> int:
    """A number of *n* digits, each as likely as the others, of at least 3: one and two agree in ways of their own."""
    low = 3 if n == 1 else 10 ** (n - 1)
    return low + int(draw.uniform() * (10**n - low))


def _integer(draw: Draw, most: int) -> int:
    """An integer of up to *most* digits, every length as likely; never one that ends as *twenty-one* does."""
    value = _digits(draw, 1 + int(draw.uniform() * most))
    return value + 1 if value % 10 == 1 else value


def _decimal(draw: Draw, most: int) -> Decimal:
    """A number with digits after its point, the last of them no zero."""
    places = 1 + int(draw.uniform() * draw.numerals["fraction"])
    fraction = int(draw.uniform() * 10 ** (places - 1)) * 10 + 1 + int(draw.uniform() * 9)
    return Decimal(_integer(draw, most)) + Decimal(fraction).scaleb(-places)


def _scaled(draw: Draw) -> Decimal:
    """So many million or billion, as far as the digits of the mixture reach."""
    mantissa = _decimal(draw, 2) if draw.chance(0.7) else Decimal(_integer(draw, 3))
    power = draw.pick((6, 9)) if draw.numerals["digits"] > 6 else 6
    return (mantissa * 10**power).to_integral_value()


def _count(draw: Draw) -> Amount:
    """How many things: an integer."""
    form = draw.pick(_COUNTS)
    if form == "scale":
        return Amount(_scaled(draw), form)
    return Amount(Decimal(_integer(draw, draw.numerals["digits"])), form)


def _measure(draw: Draw, unit: Lexeme) -> Amount:
    """How much of a unit: also fractions, and number words where they agree with the unit in every language."""
    form, digits = draw.pick(_MEASURES), draw.numerals["digits"]
    if form in ("words", "financial") and "spoken" not in unit.kinds:
        form = "digits"
    match form:
        case "fraction":
            return Amount(_decimal(draw, digits), draw.pick(("digits", "grouped")))
        case "scale" if "duration" not in unit.kinds:
            return Amount(_scaled(draw), form)
        case "words" | "financial":
            value = _integer(draw, min(digits, _LONGEST_WORDS))
            return Amount(Decimal(value if value > 9 else value + 10), form)  # a lone 陆 is land rather than six
        case _:
            return Amount(Decimal(_integer(draw, digits)), "grouped" if form == "grouped" else "digits")


def _much(draw: Draw, kind: str) -> Phrase:
    """So many of a unit."""
    unit = draw.concept(nouns_of((kind,), "units"))
    return Phrase(draw.key(), unit, "count", plural=True, amount=_measure(draw, unit))


def _many(draw: Draw, phrase: Phrase) -> Phrase:
    """*phrase* as so many of them."""
    phrase.determiner, phrase.plural, phrase.amount = "count", True, _count(draw)
    phrase.possessor, phrase.reflexive = None, False
    return phrase


def _things(draw: Draw, verb: Lexeme, adjective: float = 0.3) -> Phrase:
    """So many things that suit the verb; of people and animals the Russian accusative counts in another way."""
    nouns = [n for n in nouns_of(verb.objects) if not n.kinds & {"mass", "person", "animal", "place", "part"}]
    phrase = Phrase(draw.key(), draw.concept(nouns))
    draw.qualify(phrase, adjective)
    return _many(draw, phrase)


def _trade() -> tuple[Lexeme, ...]:
    """The verbs of which so many things can be the object."""
    return tuple(v for v in verbs_of(("tr", "ach")) if v.id in _TRADED)


_TRADED = frozenset({"buy", "sell", "find", "choose", "order", "take", "wash", "draw", "steal", "hide", "translate"})


def _when(draw: Draw, clause: Clause, probability: float = 0.5) -> list[Clause]:
    """*clause*, with a time or a year."""
    if draw.chance(probability):
        dated = draw.chance(0.25)
        clause.time = _year(draw) if dated else draw.adverb("time", "past")
        clause.time_first = dated or draw.chance(0.3)  # not "in 1987 12 tickets"
    return [clause]


def _year(draw: Draw) -> Adverbial:
    year = next(adverb for adverb in table("adverbs") if "year" in adverb.kinds)
    draw.concepts.append(year)
    return Adverbial(draw.key(), year, 1700 + int(draw.uniform() * 330))


def _did(draw: Draw, verb: Lexeme, subject: Phrase | None = None) -> Clause:
    return Clause(draw.key(), subject=subject or draw.subject(verb.subjects), verb=verb, tense="past")


@construction
def many_objects(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept(_trade()))
    assert clause.verb is not None
    clause.object = _things(draw, clause.verb)
    return _when(draw, clause)


@construction
def many_gifts(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept([v for v in verbs_of(("di",)) if "goods" in v.objects]))
    assert clause.verb is not None
    clause.object, clause.recipient = _things(draw, clause.verb), draw.recipient()
    return _when(draw, clause, 0.3)


@construction
def many_subjects(draw: Draw) -> list[Clause]:
    subject = _many(draw, Phrase(draw.key(), draw.concept(nouns_of(("work", "child")))))
    assert subject.noun is not None
    subject.female = "female" in subject.noun.kinds
    draw.qualify(subject, 0.3)
    return _when(draw, draw.event(("tr", "ach"), "past", subject, extras=0.0))


@construction
def many_workers(draw: Draw) -> list[Clause]:
    subject = _many(draw, Phrase(draw.key(), draw.concept(nouns_of(("work",)))))
    verb = next(v for v in verbs_of(("intr",)) if v.id == "work")
    clause = _did(draw, draw.concept([verb]), subject)
    clause.place = Place(draw.key(), "at", draw.noun(("building",), 0.3))
    return _when(draw, clause, 0.6)


@construction
def many_here(draw: Draw) -> list[Clause]:
    place = Place(draw.key(), "in", draw.noun(("building", "container"), 0.3))
    things = Phrase(draw.key(), draw.concept(nouns_of(("portable", "dish", "fruit"))))
    draw.qualify(things, 0.4)
    return [Clause(draw.key(), existing=_many(draw, things), place=place, tense="present")]


@construction
def two_numbers(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept(_trade()))
    assert clause.verb is not None
    clause.object = _things(draw, clause.verb, 0.1)
    clause.object.coordinated = _things(draw, clause.verb, 0.1)
    return _when(draw, clause, 0.3)


@construction
def cost(draw: Draw) -> list[Clause]:
    return _amounts_to(draw, "priced", "money")


@construction
def weight(draw: Draw) -> list[Clause]:
    (clause,) = _amounts_to(draw, "weighs", "mass")
    clause.tense, clause.time, clause.time_first = "present", None, False
    return [clause]


@construction
def distance(draw: Draw) -> list[Clause]:
    return _amounts_to(draw, "moves", "distance")


def _amounts_to(draw: Draw, frame: str, unit: str) -> list[Clause]:
    verb = draw.concept(verbs_of((frame,)))
    subject = draw.noun(verb.subjects, 0.5)
    if draw.chance(0.3):
        subject.determiner = draw.pick(("this", "that"))
    clause = _did(draw, verb, subject)
    clause.object = _much(draw, unit)
    return _when(draw, clause)


def _quantity(draw: Draw) -> Phrase:
    """The price of the old house."""
    quantity = Phrase(draw.key(), draw.concept(nouns_of(("quantity",), "units")), "own")
    quantity.possessor = draw.noun(("goods", "building", "vehicle"), 0.3)
    return quantity


@construction
def price(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept(verbs_of(("level",))), _quantity(draw))
    clause.object = _much(draw, "money")
    return _when(draw, clause)


@construction
def change(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept(verbs_of(("change",))), _quantity(draw))
    percent = draw.concept(nouns_of(("percent",), "units"))
    value = Decimal(_integer(draw, 3)) if draw.chance(0.4) else _decimal(draw, 2)
    clause.object = Phrase(draw.key(), percent, "count", plural=True, amount=Amount(value, "digits"))
    return _when(draw, clause)


@construction
def payment(draw: Draw) -> list[Clause]:
    verb = draw.concept(verbs_of(("pay",)))
    clause = _did(draw, verb, draw.subject(verb.subjects, pronouns=False))
    clause.object, clause.recipient = _much(draw, "money"), draw.recipient()
    return _when(draw, clause)


@construction
def loan(draw: Draw) -> list[Clause]:
    clause = _did(draw, draw.concept([v for v in verbs_of(("di",)) if v.id in ("lend", "give", "send", "offer")]))
    clause.object, clause.recipient = _much(draw, "money"), draw.recipient()
    return _when(draw, clause)


@construction
def duration(draw: Draw) -> list[Clause]:
    verbs = [v for v in verbs_of(("intr",)) if v.id in ("wait", "work", "travel")]
    clause = _did(draw, draw.concept(verbs), draw.subject(("person",)))
    clause.object = _much(draw, "duration")
    return _when(draw, clause, 0.4)


@construction
def dated(draw: Draw) -> list[Clause]:
    clause = draw.event(("tr", "ach", "di"), "past", extras=0.0)
    clause.time, clause.time_first = _year(draw), draw.chance(0.4)
    return [clause]


@construction
def reported_number(draw: Draw) -> list[Clause]:
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if v.id == "say"))
    content = draw.pick((cost, weight, price, change))(draw)[0]
    content.time_first, content.time = False, None
    return [Clause(draw.key(), subject=person(draw), verb=verb, tense="past", content=content)]
