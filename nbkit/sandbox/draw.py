"""Drawing phrases: nouns that suit their verbs, adjectives that suit their nouns."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeVar

from nbkit.sandbox.meaning import (
    FIRST,
    STEP,
    THEY,
    THIRD,
    WE,
    Adverbial,
    Clause,
    Lexeme,
    Phrase,
    Place,
    Relation,
    Tense,
    table,
)

T = TypeVar("T")


@cache
def nouns_of(kinds: tuple[str, ...], among: str = "nouns") -> tuple[Lexeme, ...]:
    """The nouns of the table *among* that are of any of *kinds*."""
    return tuple(noun for noun in table(among) if noun.kinds.intersection(kinds))


@cache
def verbs_of(frames: tuple[str, ...], among: tuple[str, ...] = ()) -> tuple[Lexeme, ...]:
    """The verbs of any of *frames*; where *among* names some, these alone."""
    verbs = (verb for verb in table("verbs") if verb.kinds.intersection(frames))
    return tuple(verb for verb in verbs if not among or verb.id in among)


@cache
def adjectives_of(noun: Lexeme) -> tuple[Lexeme, ...]:
    """The adjectives that suit *noun*."""
    return tuple(adjective for adjective in table("adjectives") if adjective.kinds & noun.kinds)


@cache
def adverbs_of(kind: str, detail: str = "") -> tuple[Lexeme, ...]:
    """The adverbs of a kind and, where given, of a detail of it (the tense of a time adverb)."""
    return tuple(a for a in table("adverbs") if kind in a.kinds and (not detail or detail in a.kinds))


class Draw:
    """One sentence's stream of choices. Only `random.Random.random` is used: its stream is fixed by contract."""

    def __init__(self, seed: int, numerals: Mapping[str, int] | None = None, misleading: float = 0.0):
        #: How many digits a number has at most, before and after its point, where a mixture writes numbers.
        self.numerals = numerals or {}
        #: The share of homographs whose context attracts another sense, where a mixture has homographs.
        self.misleading = misleading
        #: What a reader of the sentence should know besides its construction.
        self.remark = ""
        self._random = random.Random(seed).random
        self._key = 0
        self._subject = THIRD
        self.concepts: list[Lexeme] = []

    def key(self) -> int:
        """A new address."""
        self._key += STEP
        return self._key

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return self._random()

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """One of *options*, each as likely as its weight says."""
        limits = list(accumulate(weights))
        return options[bisect(limits, self._random() * limits[-1])]

    def concept(self, options: Sequence[Lexeme]) -> Lexeme:
        """A lexeme that this text does not hold yet, so that no word is repeated without need."""
        lexeme = self.pick(options)
        if lexeme in self.concepts:
            lexeme = self.pick([option for option in options if option not in self.concepts] or options)
        self.concepts.append(lexeme)
        return lexeme

    # --- phrases

    def name(self) -> Phrase:
        noun = self.concept(table("names"))
        return Phrase(self.key(), noun, female="female" in noun.kinds)

    def pronoun(self) -> Phrase:
        return Phrase(self.key(), person=self.pick((FIRST, THIRD, THIRD, WE, THEY)), female=self.chance(0.5))

    def noun(self, kinds: tuple[str, ...], adjective: float = 0.35) -> Phrase:
        """A definite noun phrase."""
        noun = self.concept(nouns_of(kinds))
        phrase = Phrase(self.key(), noun, "definite", female="female" in noun.kinds)
        if "kin" in noun.kinds:
            phrase.determiner, phrase.possessor = "own", self.speaker()
            adjective *= 0.3
        self.qualify(phrase, adjective)
        return phrase

    def speaker(self) -> Phrase:
        """I or we, whichever is not the subject: whose family it is."""
        return Phrase(self.key(), person=self.pick([p for p in (FIRST, WE) if p != self._subject]))

    def qualify(self, phrase: Phrase, probability: float = 1.0) -> None:
        """Give *phrase* an adjective."""
        options = adjectives_of(phrase.its_noun)
        if options and phrase.adjective is None and self.chance(probability):
            phrase.adjective = self.concept(options)

    def subject(self, kinds: tuple[str, ...], pronouns: bool = True) -> Phrase:
        """Someone who does something: a name, a pronoun, a noun with or without an owner."""
        person = kinds[0] == "person"
        way = self._random()
        if person and way < 0.18:
            return self.name()
        if person and way < 0.34 and pronouns:
            return self.pronoun()
        if person and way < 0.46:
            return self.owned(("family",), self.pick((FIRST, THIRD, WE, THEY)))
        phrase = self.noun(kinds)
        if "kin" in phrase.kinds:
            return phrase
        if way > 0.92:
            phrase.determiner = "indefinite"
        elif way > 0.84:
            phrase.determiner, phrase.plural = "this", self.chance(0.3)
        elif way > 0.76:
            phrase.plural = True
        return phrase

    def owned(self, kinds: tuple[str, ...], person: int) -> Phrase:
        """My brother, their neighbour."""
        phrase = self.noun(kinds, 0.15)
        phrase.determiner = "own"
        phrase.possessor = Phrase(self.key(), person=person, female=self.chance(0.5))
        return phrase

    def thing(self, kinds: tuple[str, ...], subject: Phrase | None = None, adjective: float = 0.4) -> Phrase:
        """What something is done to: definite, indefinite, owned, pointed at or counted."""
        phrase = self.noun(kinds, adjective)
        way = self._random()
        mass = "mass" in phrase.kinds
        if "kin" in phrase.kinds:
            return phrase
        if way < 0.30 and not mass:
            phrase.determiner = "indefinite"
        elif way < 0.42 and subject is not None and not phrase.kinds & _UNOWNED:
            self.own(phrase, subject)
        elif way < 0.52:
            phrase.determiner = self.pick(("this", "that"))
            phrase.plural = not mass and self.chance(0.2)
        elif way < 0.60 and not mass:
            self.number(phrase)
        elif way < 0.65 and not mass:
            phrase.plural = True
        return phrase

    def number(self, phrase: Phrase) -> None:
        """Make it two to five of them, or many."""
        phrase.plural = True
        if self.chance(0.7):
            phrase.determiner, phrase.count = "count", self.pick((2, 3, 4, 5))
        else:
            phrase.determiner = "many"

    def own(self, phrase: Phrase, subject: Phrase) -> None:
        """Give *phrase* an owner: mostly the subject itself, else a name or the speaker."""
        phrase.determiner = "own"
        if subject.is_person and self.chance(0.5):
            agreement = subject.agreement
            phrase.possessor = Phrase(self.key(), person=agreement, female=subject.female)
            phrase.reflexive = True
        elif self.chance(0.5):
            phrase.possessor = self.name()
        else:
            others = [person for person in (FIRST, WE) if person != subject.agreement]
            if subject.agreement in (FIRST, WE):
                others = [THIRD, THEY]
            phrase.possessor = Phrase(self.key(), person=self.pick(others), female=self.chance(0.5))

    def place(self, kinds: tuple[str, ...] = ("place",)) -> Place:
        ground = self.noun(kinds, 0.2)
        return Place(self.key(), "at", ground)

    def spot(self) -> Place:
        """On the table, under the bed, in the box, behind the house."""
        relation: Relation = self.pick(("on", "under", "in", "behind", "beside"))
        kinds = {
            "on": ("surface",),
            "under": ("surface", "tree", "built"),
            "in": ("container",),
            "behind": ("building", "furniture", "part"),
            "beside": ("building", "furniture", "plant", "part"),
        }[relation]
        return Place(self.key(), relation, self.noun(tuple(kinds), 0.2))

    def adverb(self, kind: str, detail: str = "") -> Adverbial:
        return Adverbial(self.key(), self.concept(adverbs_of(kind, detail)))

    def date(self, clause: Clause, probability: float = 1.0, first: float = 0.0, tense: Tense = "past") -> None:
        """Say with *probability* when it happens, and with probability *first* before everything else."""
        if probability == 1 or self.chance(probability):
            clause.time = self.adverb("time", tense)
            clause.time_first = self.chance(first) if 0 < first < 1 else bool(first)

    # --- events

    def event(
        self, frames: tuple[str, ...], tense: Tense, subject: Phrase | None = None, extras: float = 1.0
    ) -> Clause:
        """A clause about an event: verb, participants, and the adverbials that its tense asks for."""
        verb = self.concept(verbs_of(frames))
        clause = Clause(self.key(), verb=verb, tense=tense)
        clause.subject = subject if subject is not None else self.subject(verb.subjects)
        self.participants(clause)
        self.adverbials(clause, extras)
        return clause

    def participants(self, clause: Clause) -> None:
        """Object, recipient or goal, as the verb asks."""
        verb, subject = clause.its_verb, clause.subject
        if subject is not None:
            self._subject = subject.agreement
        if "go" in verb.kinds:
            clause.goal = self.noun(verb.objects, 0.2)
        elif verb.objects:
            clause.object = self.thing(verb.objects, subject)
        if "di" in verb.kinds:
            clause.recipient = self.recipient()

    def recipient(self) -> Phrase:
        """Who gets it."""
        return self.name() if self.chance(0.3) else self.noun(("person",), 0.2)

    def adverbials(self, clause: Clause, extras: float = 1.0) -> None:
        """The adverbs that the tense asks for, and with probability *extras* some more."""
        verb = clause.its_verb
        if clause.tense == "habit":
            clause.frequency = self.adverb("freq")
        elif clause.tense == "future":
            clause.time = self.adverb("time", "future")
        elif clause.tense == "past" and self.chance(0.45 * extras):
            clause.time = self.adverb("time", "past")
        elif clause.tense == "progressive" and self.chance(0.3 * extras):
            clause.time = self.adverb("time", "now")
        clause.time_first = clause.time is not None and self.chance(0.3)
        room = extras * (0.6 if clause.recipient is not None else 1.0)
        # "usually waits happily" would put two adverbs side by side in half of the languages
        once = clause.frequency is None or "phrase" in clause.frequency.adverb.kinds
        if once and self.chance(0.22 * room):
            self.manner(clause)
        elif self.chance(0.3 * room):
            self.instrument(clause)
        elif self.chance(0.35 * room):
            self.location(clause)
        elif self.chance(0.1 * room) and verb.kinds & {"intr", "go"}:
            self.companion(clause)
        if "intr" in verb.kinds and clause.tense == "past" and self.is_bare(clause):
            clause.time = self.adverb("time", "past")

    @staticmethod
    def is_bare(clause: Clause) -> bool:
        """Whether the clause is nothing but subject and verb."""
        return not (clause.time or clause.manner or clause.place or clause.companion or clause.frequency)

    def manner(self, clause: Clause) -> None:
        verb = clause.its_verb
        if verb.kinds & {"st", "sleep"} or (clause.goal is not None and clause.tense == "habit"):
            return
        if "ach" in verb.kinds:
            clause.manner = self.adverb("manner", "ach")
            return
        wanted = {"plain"} | (verb.kinds & {"sound", "patient"}) | ({"speech"} if "di" in verb.kinds else set())
        options = [a for a in adverbs_of("manner") if not a.kinds & {"sound", "patient", "speech"} - wanted]
        clause.manner = Adverbial(self.key(), self.concept(options))

    def instrument(self, clause: Clause) -> None:
        verb = clause.its_verb
        if verb.instruments and (clause.subject is None or clause.subject.is_person):
            clause.instrument = self.noun(verb.instruments, 0.25)
            if self.chance(0.5):
                clause.instrument.determiner = "indefinite"

    def location(self, clause: Clause) -> None:
        """Where it happens, if the verb and its object leave room for that."""
        things = clause.object.kinds if clause.object is not None else frozenset()
        if clause.kinds & {"st", "go", "wide", "water", "clean"} or things & {"place", "built", "part"}:
            return
        kinds: tuple[str, ...] = ("place",)
        if things & {"vehicle", "large", "plant"}:
            kinds = ("outdoor",)
        elif things & {"food", "drink", "dish", "furniture"}:
            kinds = ("home", "room", "restaurant", "hotel", "market")
        clause.place = self.place(kinds)

    def companion(self, clause: Clause) -> None:
        """With a friend, with her."""
        way = self._random()
        if way < 0.3:
            other = Phrase(self.key(), person=self.pick((THIRD, THEY)), female=self.chance(0.5))
            if clause.subject is not None and clause.subject.agreement in (THIRD, THEY) and clause.subject.noun is None:
                other = self.name()
        elif way < 0.6:
            other = self.name()
        else:
            other = self.owned(("family",), self.speaker().person)
        clause.companion = other


_UNOWNED = frozenset({"person", "place", "wild", "built", "awaited"})
