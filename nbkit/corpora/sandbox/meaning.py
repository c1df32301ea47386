"""What a sentence of the sandbox means: trees of concepts that belong to no language."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from nbkit.corpora.sandbox.lexicon import Lexeme

if TYPE_CHECKING:
    from nbkit.corpora.sandbox.idioms import Idiom

Determiner: TypeAlias = Literal["definite", "indefinite", "this", "that", "own", "count", "many", "none"]
Tense: TypeAlias = Literal["habit", "present", "progressive", "past", "future", "condition"]
Force: TypeAlias = Literal["statement", "polar", "subject", "object", "place", "time", "reason", "command"]
Relation: TypeAlias = Literal["at", "in", "on", "under", "behind", "beside"]

#: Person and number, in the order of every verb table: I, you, he/she, we, they.
FIRST, SECOND, THIRD, WE, THEY = range(5)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, and the form in which every language writes it that has that form (see `nbkit.numbers.forms`)."""

    value: Decimal
    form: str


@dataclass(slots=True)
class Phrase:
    """A thing spoken of: a noun phrase, a name or a pronoun (then *noun* is None)."""

    key: int
    noun: Lexeme | None = None
    determiner: Determiner = "none"
    plural: bool = False
    count: int = 0
    #: A number that is written by rule, where *count* is one of the dictionary's.
    amount: Amount | None = None
    person: int = THIRD
    female: bool = False
    #: The pronoun's antecedent, where it stands in the same text; languages that drop pronouns drop this one.
    antecedent: Phrase | None = None
    #: Whose it is; for a pronoun that refers to the subject of the clause *reflexive* is set too.
    possessor: Phrase | None = None
    reflexive: bool = False
    adjective: Lexeme | None = None
    place: Place | None = None
    relative: Clause | None = None
    #: Whether the gap of the relative clause is its object (else its subject).
    relative_object: bool = False
    coordinated: Phrase | None = None

    @property
    def agreement(self) -> int:
        """Row of the verb table that this phrase takes as a subject."""
        if self.coordinated is not None:
            if self.person == FIRST or self.coordinated.person == FIRST:
                return WE
            return THEY
        return THEY if self.plural and self.person == THIRD else self.person

    @property
    def is_person(self) -> bool:
        return self.noun is None or "person" in self.noun.kinds or "name" in self.noun.kinds

    @property
    def is_measure(self) -> bool:
        """So many of a unit: euros, kilometers, hours."""
        return self.noun is not None and "unit" in self.noun.kinds

    @property
    def is_duration(self) -> bool:
        """So many of a unit of time: said of an event as an adverb is, though it has no preposition."""
        return self.noun is not None and "duration" in self.noun.kinds

    @property
    def is_animate(self) -> bool:
        return self.is_person or (self.noun is not None and "animal" in self.noun.kinds)


@dataclass(slots=True)
class Place:
    """Where something is. The relation "at" is a place's ordinary preposition: in the park, at the station."""

    key: int
    relation: Relation
    ground: Phrase


@dataclass(slots=True)
class Adverbial:
    """An adverb or a fixed adverbial phrase; *number* stands where the phrase leaves a gap for one (in 1987)."""

    key: int
    adverb: Lexeme
    number: int = 0


@dataclass(slots=True)
class Subordinate:
    """An adverbial clause: because, when, if."""

    key: int
    conjunction: str
    clause: Clause
    first: bool = False


@dataclass(slots=True)
class Clause:
    """Something that happens or holds. Exactly one of *verb*, *quality*, *class_*, *existing* is given."""

    key: int
    subject: Phrase | None = None
    verb: Lexeme | None = None
    quality: Lexeme | None = None
    very: bool = False
    than: Phrase | None = None
    class_: Phrase | None = None
    existing: Phrase | None = None
    object: Phrase | None = None
    recipient: Phrase | None = None
    goal: Phrase | None = None
    place: Place | None = None
    instrument: Phrase | None = None
    companion: Phrase | None = None
    manner: Adverbial | None = None
    frequency: Adverbial | None = None
    time: Adverbial | None = None
    time_first: bool = False
    tense: Tense = "past"
    modal: str = ""
    modal_key: int = 0
    negative: bool = False
    passive: bool = False
    please: bool = False
    force: Force = "statement"
    question_key: int = 0
    #: An infinitive complement ("try to …") or a purpose ("in order to …"): a clause without a subject of its own.
    infinitive: Clause | None = None
    purpose: Clause | None = None
    content: Clause | None = None
    subordinate: Subordinate | None = None
    conjunction: str = ""
    conjunct: Clause | None = None
    #: Whether the conjunct shares this clause's subject.
    shared_subject: bool = False
    #: The idiom that verb and object (or *class_*) are; they are what English says, other languages say its meaning.
    idiom: Idiom | None = None


def concepts(clause: Clause | None) -> list[Lexeme]:
    """The content words of a clause and of everything in it."""
    if clause is None:
        return []
    found = [word for word in (clause.verb, clause.quality) if word is not None]
    for phrase in (
        clause.subject,
        clause.than,
        clause.class_,
        clause.existing,
        clause.object,
        clause.recipient,
        clause.goal,
        clause.instrument,
        clause.companion,
        clause.place.ground if clause.place is not None else None,
    ):
        found += _of_phrase(phrase)
    found += [adverbial.adverb for adverbial in (clause.manner, clause.frequency, clause.time) if adverbial is not None]
    for inner in (clause.infinitive, clause.purpose, clause.content, clause.conjunct):
        found += concepts(inner)
    if clause.subordinate is not None:
        found += concepts(clause.subordinate.clause)
    return found


def _of_phrase(phrase: Phrase | None) -> list[Lexeme]:
    if phrase is None:
        return []
    found = [word for word in (phrase.noun, phrase.adjective) if word is not None]
    if phrase.determiner == "own":
        found += _of_phrase(phrase.possessor)
    if phrase.place is not None:
        found += _of_phrase(phrase.place.ground)
    return found + concepts(phrase.relative) + _of_phrase(phrase.coordinated)
