"""Homographs and idioms of the sandbox: their data, and the constructions that draw sentences with them.

The words around a homograph attract its sense, or mislead by attracting another one. An idiom is what English says;
other languages say its meaning, and in regular text the same words are meant literally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from nbsandbox.constructions import CONSTRUCTIONS, Construction, person
from nbsandbox.errors import SandboxError, UnknownNameError
from nbsandbox.meaning import (
    ADJECTIVE,
    CONTENT,
    LANGUAGES,
    NOMINAL,
    STEP,
    VERBAL,
    Clause,
    Determiner,
    Draw,
    Idiom,
    IdiomNoun,
    Lexeme,
    Phrase,
    Place,
    Subordinate,
    Tense,
    data,
    find_lexeme,
    verbs_of,
)

#: All constructions with homographs or idioms, and those of regular text beside them, by name.
PHENOMENA: dict[str, Construction] = {}


def phenomenon(function: Construction) -> Construction:
    """Enter a construction in the table `PHENOMENA` under its function's name (a decorator)."""
    PHENOMENA[function.__name__] = function
    return function


#: Which tables hold what is drawn beside a homograph. Verbs are its verbs, people their subjects, adjectives its
#: adjectives, places where it happens, things what is coordinated with it.
CUES = {"verbs": "verbs", "people": "nouns", "adjectives": "adjectives", "places": "nouns", "things": "nouns"}


@dataclass(frozen=True, eq=False)
class SandboxHomograph:
    """A homograph: its senses, the frequent one first, how often each is meant, and the cues to them.

    cues: of each kind (`CUES`) the words, each with one weight per sense: how often it is drawn for that sense.
    """

    word: str
    senses: tuple[Lexeme, ...]
    shares: tuple[float, ...]
    cues: Mapping[str, tuple[tuple[Lexeme, tuple[float, ...]], ...]]


@cache
def homographs() -> tuple[SandboxHomograph, ...]:
    """All homographs, in the order of ``data/homographs.yaml``.

    Raises `SandboxError` for a cue that has not as many weights as there are senses, `UnknownNameError` for a word that
    the dictionary does not have.

    >>> [sense.id for sense in homographs()[0].senses], homographs()[0].shares
    (['bank.money', 'bank.river'], (4, 1))
    """
    return tuple(_read_homograph(word, entry) for word, entry in data("homographs").items())


def _read_homograph(word: str, entry: dict[str, Any]) -> SandboxHomograph:
    """A homograph from its *entry* in ``data/homographs.yaml``."""
    shares = entry["shares"]
    cues = {}
    for kind, table in CUES.items():
        for name, weights in entry[kind].items():
            if len(weights) != len(shares) or not any(weights):
                raise SandboxError(
                    f"homographs.yaml: {word}: {kind}: {name}: expected {len(shares)} weights, found {weights}"
                )
        cues[kind] = tuple((find_lexeme(name, (table,)), tuple(weights)) for name, weights in entry[kind].items())
    senses = tuple(find_lexeme(f"{word}.{sense}", ("homographs",)) for sense in shares)
    return SandboxHomograph(word, senses, tuple(shares.values()), cues)


def homograph_lexicon(tgt: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """English homographs → names of their senses → lemmas of *tgt* that express the sense.

    A homograph with two senses that are one word in *tgt* is excluded: no translation would distinguish them.
    Raises `UnknownNameError` for a language that the sandbox does not translate to.
    Source of the form: disambiguation paper, §2.1 (homographs and sense clusters).

    >>> homograph_lexicon("de")["bank"], "crane" in homograph_lexicon("fr")
    ({'money': ('Bank',), 'river': ('Ufer',)}, False)
    """
    targets = tuple(lang for lang in LANGUAGES if lang != "en")
    if tgt not in targets:
        raise UnknownNameError("target language of the sandbox's homographs", tgt, targets)
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for homograph in homographs():
        clusters: dict[str, tuple[str, ...]] = {sense_name(sense): (_lemma(sense, tgt),) for sense in homograph.senses}
        if len(set(clusters.values())) == len(clusters):
            found[homograph.word] = clusters
    return found


def sense_name(sense: Lexeme) -> str:
    """The name of a sense of a homograph: *river*.

    >>> sense_name(homographs()[0].senses[1])
    'river'
    """
    return sense.id.partition(".")[2]


def _lemma(sense: Lexeme, lang: str) -> str:
    """The lemma that expresses *sense* in a language."""
    cell = sense.cells[lang]
    return cell.partition("/")[0] if lang in ("zh", "ja") else cell.split(",")[1]


#: Text without homographs, which shows a model how the language is and where else adjectives stand.
_ORDINARY = (
    *("transitive", "ditransitive", "achievement", "habit", "negation", "passive", "possessive", "place", "motion"),
    *("future", "copula_adjective", "copula_noun", "complement_clause", "subject_relative", "object_relative"),
    *("because", "when", "condition", "infinitive", "coordinated_objects", "noun_place"),
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
        """A cue of *kind* for the meant or a misleading sense, if possible new to the text; none of *barred* kinds."""
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
        """A subject: a person who is a cue, or any person."""
        if not self._draw.chance(0.75):
            return self._draw.subject(("adult",), pronouns=False)
        noun = self.draw("people")
        phrase = Phrase(self._draw.key(), noun, "definite", female="female" in noun.kinds)
        self._draw.qualify(phrase, 0.3)
        return phrase

    def thing(self) -> Phrase:
        """The homograph as a phrase, half of the time with an adjective that is a cue."""
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
        """Give *clause* with *probability* a place that is a cue."""
        if self._draw.chance(probability) and not clause.kinds & {"st", "wide"}:
            clause.place = Place(self._draw.key(), "at", Phrase(self._draw.key(), self.draw("places"), "definite"))


def _homograph_event(draw: Draw, cues: _Cues, subject: Phrase | None = None, coordinated: float = 0.35) -> Clause:
    """A clause with the homograph as object: *The clerk closed the bank in the city*."""
    verb = cues.draw("verbs")
    tense: Tense = "present" if "st" in verb.kinds else "past"
    clause = Clause(draw.key(), verb=verb, tense=tense, subject=subject or cues.someone(), object=cues.thing())
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    elif draw.chance(coordinated):
        clause.its_object.coordinated = Phrase(draw.key(), cues.draw("things"), "definite")
    cues.place(clause)
    return clause


def _with_time(draw: Draw, clause: Clause, probability: float = 0.6) -> list[Clause]:
    """*clause*, if it is in the past, with *probability* with a time."""
    if clause.tense == "past":
        draw.date(clause, probability, first=0.3)
    return [clause]


@phenomenon
def sense_object(draw: Draw) -> list[Clause]:
    """A sentence with the homograph as object: *The clerk closed the bank yesterday.*"""
    return _with_time(draw, _homograph_event(draw, _Cues(draw)), 0.8)


@phenomenon
def sense_passive(draw: Draw) -> list[Clause]:
    """A sentence with the homograph as subject of a passive: *The bank was closed by the clerk.*"""
    cues = _Cues(draw)
    verbs = [verb for verb, row in cues.homograph.cues["verbs"] if verb.kinds & {"pass", "voice"} and any(row)]
    active = frozenset(v.id for v, _ in cues.homograph.cues["verbs"] if v not in verbs)
    clause = Clause(draw.key(), verb=cues.draw("verbs", active), tense="past", passive=True)
    clause.subject, clause.object = cues.thing(), cues.someone()
    clause.subject.plural = False
    cues.place(clause, 0.7)
    return _with_time(draw, clause, 0.7)


@phenomenon
def sense_relative(draw: Draw) -> list[Clause]:
    """A sentence whose homograph has a relative clause: *Anna found the bank that the clerk closed.*"""
    cues = _Cues(draw)
    barred = frozenset({"di", "st", "governs"})
    outer = Clause(draw.key(), verb=cues.draw("verbs", barred), tense="past", subject=draw.subject(("adult",)))
    thing = cues.thing()
    inner = Clause(draw.key(), verb=cues.draw("verbs", barred), tense="past", subject=cues.someone())
    cues.place(inner, 0.5)
    thing.relative, thing.relative_object, outer.object = inner, True, thing
    return [outer]


@phenomenon
def sense_reported(draw: Draw) -> list[Clause]:
    """A sentence with the homograph in a reported clause: *Anna said that the clerk closed the bank.*"""
    cues = _Cues(draw)
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if "future" not in v.kinds))
    clause = Clause(draw.key(), subject=person(draw), verb=verb, tense="past" if verb.id == "say" else "present")
    (clause.content,) = _with_time(draw, _homograph_event(draw, cues), 0.3)
    clause.content.time_first = False
    return [clause]


@phenomenon
def sense_because(draw: Draw) -> list[Clause]:
    """A sentence with the homograph in a reason: *Anna slept because the clerk closed the bank.*"""
    reason = _homograph_event(draw, _Cues(draw))
    clause = draw.event(("intr", "go"), "past", person(draw), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "because", reason)
    return [clause]


@phenomenon
def sense_when(draw: Draw) -> list[Clause]:
    """A sentence with the homograph beside a *when*-clause: *The clerk closed the bank when Anna arrived.*"""
    cues = _Cues(draw)
    clause = _homograph_event(draw, cues)
    clause.tense = "past"
    event = draw.event(("go",), "past", draw.subject(("adult",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", event, first=draw.chance(0.6))
    return [clause]


@phenomenon
def sense_condition(draw: Draw) -> list[Clause]:
    """A sentence with the homograph beside an *if*-clause: *If Anna arrives, the clerk will close the bank.*"""
    cues = _Cues(draw)
    clause = _homograph_event(draw, cues)
    clause.tense = "future"
    event = draw.event(("go",), "condition", draw.subject(("adult",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "if", event, first=True)
    return [clause]


@phenomenon
def ordinary(draw: Draw) -> list[Clause]:
    """A sentence without a homograph, by a construction of the general mixture."""
    return CONSTRUCTIONS[draw.pick(_ORDINARY)](draw)


# ----------------------------------------------------------------------------
# Idioms: the table, and sentences around them.

#: The splits of idiom sentences, beside those of regular text.
IDIOM_SPLITS = ("idiom-train", "idiom-test")


@cache
def idioms() -> tuple[Idiom, ...]:
    """All idioms, in the order of ``data/idioms.yaml``; `UnknownNameError` for a word that no table has.

    >>> idioms()[0].name, idioms()[0].meant_verb.id
    ('kick the bucket', 'die')
    """
    return tuple(_read_idiom(name, entry) for name, entry in data("idioms")["idioms"].items())


@cache
def literal_verbs() -> dict[Lexeme, tuple[Lexeme, ...]]:
    """For each verb of sentences without idioms, the objects it takes there (``literal`` of ``data/idioms.yaml``)."""
    rows = data("idioms")["literal"]["verbs"].items()
    return {find_lexeme(verb, VERBAL): tuple(find_lexeme(noun, NOMINAL) for noun in nouns) for verb, nouns in rows}


@cache
def literal_intransitives() -> tuple[Lexeme, ...]:
    """The verbs of sentences without idioms that take no object, such as *die*, which an idiom means."""
    return tuple(find_lexeme(verb, VERBAL) for verb in data("idioms")["literal"]["ends"])


def _read_idiom(name: str, entry: dict[str, Any]) -> Idiom:
    """An idiom from its *entry* in ``data/idioms.yaml``."""
    meaning = entry["meaning"]
    phrase = _read_noun(entry["be"] if "be" in entry else entry["object"])
    meant: Any = _read_noun(meaning) if "be" in entry else meaning.get("object")
    return Idiom(
        name=name,
        pairs=entry["pairs"],
        verb=find_lexeme(entry["verb"], VERBAL) if "verb" in entry else None,
        phrase=phrase,
        recipient=entry.get("recipient", False),
        of=tuple(find_lexeme(noun, NOMINAL) for noun in entry.get("of", ())),
        meant_verb=find_lexeme(meaning["verb"], VERBAL) if "verb" in meaning else None,
        meant=_read_noun(meant) if isinstance(meant, dict) else meant,
    )


def _read_noun(entry: dict[str, Any]) -> IdiomNoun:
    """A noun of an idiom, with determiner, number and adjective, from its *entry* in ``data/idioms.yaml``."""
    adjective = find_lexeme(entry["adjective"], ("adjectives",)) if "adjective" in entry else None
    noun = find_lexeme(entry["noun"], NOMINAL)
    return IdiomNoun(noun, entry.get("determiner", "definite"), entry.get("plural", False), adjective)


def phrase_of(noun: IdiomNoun, key: int, determiner: Determiner) -> Phrase:
    """A phrase of the idiom's *noun* whose concepts are numbered from *key* on."""
    return Phrase(key, noun.noun, determiner, noun.plural, adjective=noun.adjective, female="female" in noun.noun.kinds)


def clauses_of(clause: Clause | None) -> Iterator[Clause]:
    """*clause* and its dependent clauses, except relative ones, which hold no idiom."""
    if clause is not None:
        yield clause
        subordinate = clause.subordinate.clause if clause.subordinate is not None else None
        for inner in (clause.infinitive, clause.purpose, clause.content, clause.conjunct, subordinate):
            yield from clauses_of(inner)


def with_idioms_explained(clause: Clause) -> Clause:
    """*clause* with each idiom replaced by its meaning, which all languages but English express.

    Addresses do not change, so that what English and its translation have in common stays aligned.
    """
    changes: dict[str, Any] = {
        name: with_idioms_explained(inner)
        for name in ("infinitive", "purpose", "content", "conjunct")
        if (inner := getattr(clause, name)) is not None
    }
    if clause.subordinate is not None:
        changes["subordinate"] = replace(clause.subordinate, clause=with_idioms_explained(clause.subordinate.clause))
    idiom = clause.idiom
    if idiom is None:
        return replace(clause, **changes) if changes else clause
    changes["idiom"] = None
    if idiom.meant_verb is None:
        assert isinstance(idiom.meant, IdiomNoun) and clause.class_ is not None
        return replace(clause, class_=phrase_of(idiom.meant, clause.class_.key, "indefinite"), **changes)
    changes |= {"verb": idiom.meant_verb, "object": None, "recipient": None}
    if idiom.meant == "recipient":
        changes["object"] = clause.recipient
    elif idiom.meant == "owner":
        changes["object"] = clause.its_object.possessor
    elif isinstance(idiom.meant, IdiomNoun):
        determiner: Any = idiom.meant.determiner
        changes["object"] = phrase_of(idiom.meant, clause.its_object.key, determiner)
    return replace(clause, **changes)


def idiom_tokens(clause: Clause, addresses: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Indices of the English tokens that belong to the clause's idiom, without the *someone* or *something* in it.

    The article of a noun phrase that something is said to be is none of them: *a* white elephant.
    """
    verb, phrase = (None, clause.class_) if clause.object is None else (clause.key, clause.object)
    assert clause.idiom is not None and phrase is not None
    roles = range(STEP) if verb is not None else (CONTENT, ADJECTIVE)
    wanted = {verb, *(phrase.key + role for role in roles)}
    return tuple(place for place, keys in enumerate(addresses) if wanted.intersection(keys))


def with_idiom_aligned(clause: Clause, addresses: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """*addresses* (each English token's concepts), an idiom's one-word meaning added to all words of the idiom.

    So *the* and *bucket* of *kick the bucket* are aligned, as *kick* is, with *sterben*.
    """
    idiom = clause.idiom
    assert idiom is not None
    whole = clause.key
    if idiom.meant_verb is None:
        assert clause.class_ is not None
        whole = clause.class_.key
    elif isinstance(idiom.meant, IdiomNoun):
        return addresses
    places = set(idiom_tokens(clause, addresses))
    return [(*keys, whole) if place in places and whole not in keys else keys for place, keys in enumerate(addresses)]


#: Draws what happens: by whom (None: anybody) and when.
_Event = Callable[[Draw, Phrase | None, Tense], Clause]


#: Draws a sentence around what happens.
Context = Callable[[Draw, _Event], list[Clause]]


_LITERAL_CLASSES = ("elephant", "horse", "cheese", "cake", "lamp", "book", "bicycle", "flower", "hat")


def event_of_idiom(idiom: Idiom) -> _Event:
    """A function that draws a clause with *idiom*, given a subject and a tense."""

    def event(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
        if idiom.verb is None:
            return _idiom_as_class(draw, idiom)
        clause = Clause(draw.key(), verb=idiom.verb, tense=tense, idiom=idiom)
        clause.subject = subject or draw.subject(("person",))
        draw.concepts += [idiom.verb, idiom.phrase.noun]
        determiner = idiom.phrase.determiner
        if determiner in ("own", "reflexive"):
            clause.object = phrase_of(idiom.phrase, draw.key(), "own")
            clause.object.possessor = _random_owner(draw) if determiner == "own" else _as_pronoun(draw, clause.subject)
            clause.object.reflexive = determiner == "reflexive"
        else:
            indefinite = determiner == "indefinite"
            clause.object = phrase_of(idiom.phrase, draw.key(), "indefinite" if indefinite else "definite")
        if idiom.recipient:
            clause.recipient = draw.recipient()
        return clause

    return event


def _idiom_as_class(draw: Draw, idiom: Idiom) -> Clause:
    """A clause with a noun idiom as its predicate: *This gift is a white elephant*."""
    noun = draw.concept(idiom.of)
    subject = Phrase(draw.key(), noun, draw.pick(("definite", "this", "that")), female="female" in noun.kinds)
    draw.qualify(subject, 0.3)
    phrase = phrase_of(idiom.phrase, draw.key(), "indefinite")
    return Clause(draw.key(), subject=subject, class_=phrase, tense="present", idiom=idiom)


def _random_owner(draw: Draw) -> Phrase:
    """Someone who owns something: a name or a noun."""
    return draw.name() if draw.chance(0.5) else draw.noun(("work",), 0.2)


def _as_pronoun(draw: Draw, subject: Phrase) -> Phrase:
    """A pronoun for *subject*, as owner in *his bags*."""
    return Phrase(draw.key(), person=subject.agreement, female=subject.female)


def _literal_event(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
    """A clause with words of idioms in their literal sense: *Paul painted the bucket*."""
    verb = draw.pick(tuple(literal_verbs()))
    draw.concepts.append(verb)
    clause = Clause(draw.key(), verb=verb, tense="present" if "st" in verb.kinds else tense)
    clause.subject = subject or draw.subject(("person",))
    clause.object = _random_phrase_of(draw, draw.concept(literal_verbs()[verb]))
    if "di" in verb.kinds:
        clause.recipient = draw.recipient()
    return clause


def _random_phrase_of(draw: Draw, noun: Lexeme) -> Phrase:
    """A phrase of *noun* with a random determiner, number and adjective."""
    phrase = Phrase(draw.key(), noun, "definite", female="female" in noun.kinds)
    draw.qualify(phrase, 0.3)
    way, mass = draw.uniform(), "mass" in noun.kinds
    if "limb" in noun.kinds:
        phrase.determiner, phrase.possessor = "own", _random_owner(draw)
    elif way < 0.25 and not mass:
        phrase.determiner = "indefinite"
    elif way < 0.4:
        phrase.determiner = draw.pick(("this", "that"))
    elif way < 0.55:
        phrase.determiner, phrase.possessor = "own", _random_owner(draw)
    elif way < 0.7 and not mass:
        phrase.plural = True
    return phrase


def _random_tense(draw: Draw) -> Tense:
    """Past or, less often, future."""
    return draw.pick(("past", "past", "past", "future"))


def _timed_idiom(draw: Draw, clause: Clause) -> Clause:
    """*clause* with the time and place that its tense requires or allows."""
    if clause.verb is None or clause.tense == "present":
        return clause
    if clause.tense == "future" or draw.chance(0.6):
        clause.time = draw.adverb("time", "future" if clause.tense == "future" else "past")
        clause.time_first = draw.chance(0.3)
    if draw.chance(0.25) and "go" not in clause.verb.kinds:
        clause.place = draw.place(("outdoor", "restaurant", "office", "hotel"))
    return clause


def plain(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence of *event* alone: *She kicked the bucket.*"""
    return [_timed_idiom(draw, event(draw, None, _random_tense(draw)))]


def reported(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence with *event* in a reported clause: *Paul says that she kicked the bucket.*"""
    speaker = person(draw)
    verb = draw.concept(tuple(v for v in verbs_of(("say",)) if "future" not in v.kinds))
    clause = Clause(draw.key(), subject=speaker, verb=verb, tense="past" if verb.id == "say" else "present")
    clause.content = _timed_idiom(draw, event(draw, draw.subject(("person",), pronouns=False), "past"))
    clause.content.time_first = False
    return [clause]


def because(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence with *event* as a reason: *Paul travelled because she kicked the bucket.*"""
    clause = draw.event(("go", "intr"), "past", person(draw), extras=0.0)
    reason = event(draw, draw.subject(("person",), pronouns=False), "past")
    clause.subordinate = Subordinate(draw.key(), "because", reason)
    return [clause]


def when(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence with *event* at the time of an arrival: *She kicked the bucket when Paul arrived.*"""
    clause = event(draw, None, "past")
    arrival = draw.event(("go",), "past", draw.subject(("person",), pronouns=False), extras=0.0)
    clause.subordinate = Subordinate(draw.key(), "when", arrival, first=draw.chance(0.5))
    return [clause]


def wanted(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence with *event* as an intention: *She wants to kick the bucket.*"""
    verb = draw.concept(verbs_of(("inf",), ("want", "promise", "decide", "hope", "try")))
    subject = draw.subject(("person",))
    clause = Clause(draw.key(), subject=subject, verb=verb, tense="present" if "present" in verb.kinds else "past")
    clause.infinitive = event(draw, subject, "present")
    clause.infinitive.subject = None
    if clause.tense == "past":
        draw.date(clause, 0.6, first=1)
    return [clause]


def negated(draw: Draw, event: _Event) -> list[Clause]:
    """A sentence that negates *event*: *She did not kick the bucket.*"""
    clause = _timed_idiom(draw, event(draw, None, _random_tense(draw)))
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
    """The names of the contexts (`CONTEXTS`) in which *idiom* can occur."""
    return _OF_NOUNS if idiom.verb is None else tuple(CONTEXTS)


def _literal_text_in(context: Context) -> Construction:
    """A construction of literal text in a context of idioms."""
    return lambda draw: context(draw, _literal_event)


PHENOMENA |= {
    f"literal_{'event' if name == 'plain' else name}": _literal_text_in(context) for name, context in CONTEXTS.items()
}


@phenomenon
def literal_class(draw: Draw) -> list[Clause]:
    """A sentence with an idiom's noun in its literal sense: *The gift is a small elephant.*"""
    subject = Phrase(draw.key(), draw.concept([find_lexeme("gift", ("nouns",))]), draw.pick(("this", "that")))
    if draw.chance(0.5):
        subject.determiner, subject.possessor = "own", draw.name()
    thing = Phrase(draw.key(), find_lexeme(draw.pick(_LITERAL_CLASSES), ("nouns",)), "indefinite")
    draw.concepts.append(thing.its_noun)
    draw.qualify(thing, 0.6)
    clause = Clause(draw.key(), subject=subject, class_=thing, tense="present")
    if draw.chance(0.4):
        return [Clause(draw.key(), subject=person(draw), verb=_verb_of_saying(draw), tense="past", content=clause)]
    return [clause]


def _verb_of_saying(draw: Draw) -> Lexeme:
    """The verb *say*."""
    return draw.concept([find_lexeme("say", ("verbs",))])


@phenomenon
def literal_end(draw: Draw) -> list[Clause]:
    """A sentence with a verb that an idiom means, in a random context: *Paul says that she died.*"""
    verb = draw.concept(literal_intransitives())

    def event(draw: Draw, subject: Phrase | None, tense: Tense) -> Clause:
        return Clause(draw.key(), verb=verb, tense=tense, subject=subject or draw.subject(("person",)))

    return draw.pick((plain, plain, reported, because, when, wanted))(draw, event)
