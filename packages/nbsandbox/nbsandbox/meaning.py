"""The sandbox's dictionary: concepts and words of all eight languages, from TSV files; and phrases drawn from it."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any, Literal, TypeAlias, TypeVar

import yaml

from nbsandbox.errors import SandboxError, UnknownNameError
from nbsandbox.sentences import ROOT, Sentence

LANGUAGES = ("en", "de", "fr", "es", "it", "ru", "zh", "ja")
#: What a noun phrase is made of: things, words for whole kinds of things, units and what is measured, names, the senses
#: of homographs, and the nouns that only idioms and their meanings need.
NOMINAL = ("nouns", "hypernyms", "units", "names", "homographs", "idiom_nouns")
#: Verbs, and those that only idioms and their meanings need.
VERBAL = ("verbs", "idiom_verbs")
TABLES = (*NOMINAL, *VERBAL, "adjectives", "adverbs")


@dataclass(frozen=True, eq=False, slots=True)
class Lexeme:
    """A concept: its kinds (what it combines with), and one cell of forms per language."""

    id: str
    kinds: frozenset[str]
    cells: dict[str, str]
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Lexeme:
        """Itself: a copied meaning speaks of the same concepts."""
        return self


@cache
def data(name: str) -> dict[str, Any]:
    """The content of ``data/<name>.yaml``: words of a language, mixtures, idioms, homographs, facts for inference."""
    text = (files(__package__) / "data" / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader


@cache
def table(name: str) -> tuple[Lexeme, ...]:
    """All lexemes of one table, in file order; a malformed line is a `SandboxError` with its number.

    >>> table("nouns")[0].cells["de"]
    'm,Lehrer,Lehrer'
    """
    path = files(__package__) / "data" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    lexemes = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise SandboxError(f"{path}:{number}: expected {len(header)} columns, found {len(cells)}")
        row = dict(zip(header, cells, strict=True))
        lexemes.append(
            Lexeme(
                id=row["id"],
                kinds=frozenset((row["id"], *row.get("kinds", row.get("frame", "")).split())),
                cells={lang: row[lang] for lang in LANGUAGES},
                subjects=tuple(row.get("subject", "").split()),
                objects=tuple(row.get("object", "").split()),
                instruments=tuple(row.get("instrument", "").split()),
            )
        )
    return tuple(lexemes)


@cache
def nominals() -> tuple[Lexeme, ...]:
    """Every lexeme that can be the noun of a phrase."""
    return tuple(lexeme for name in NOMINAL for lexeme in table(name))


@cache
def verbals() -> tuple[Lexeme, ...]:
    """Every lexeme that is a verb."""
    return tuple(lexeme for name in VERBAL for lexeme in table(name))


@cache
def _lexemes_by_id(tables: tuple[str, ...]) -> dict[str, Lexeme]:
    """The lexemes of several tables by their ids; of equal ids, that of the first table."""
    return {lexeme.id: lexeme for name in reversed(tables) for lexeme in table(name)}


def find_lexeme(name: str, tables: tuple[str, ...]) -> Lexeme:
    """The lexeme with the id *name* in the first of *tables* that has it; `UnknownNameError` if none has.

    >>> find_lexeme("bank.river", NOMINAL).cells["de"]
    'n,Ufer,Ufer'
    """
    known = _lexemes_by_id(tables)
    if name not in known:
        raise UnknownNameError("sandbox word", name, known)
    return known[name]


def lexemes() -> tuple[Lexeme, ...]:
    """Every lexeme of every table."""
    return tuple(lexeme for name in TABLES for lexeme in table(name))


#: "no" is an indefinite one under a negation.
Determiner: TypeAlias = Literal["definite", "indefinite", "no", "this", "that", "own", "count", "many", "none"]
Tense: TypeAlias = Literal["habit", "present", "progressive", "past", "future", "condition"]
Force: TypeAlias = Literal["statement", "polar", "subject", "object", "place", "time", "reason", "command"]
Relation: TypeAlias = Literal["at", "in", "on", "under", "behind", "beside"]
#: Person and number, in the order of every verb table: I, you, he/she, we, they.
FIRST, SECOND, THIRD, WE, THEY = range(5)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, and the form in which every language writes it that has that form (see `nbquantities.forms`)."""

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
        """The index of the verb form that agrees with this phrase as a subject (person and number)."""
        if self.coordinated is not None:
            if self.person == FIRST or self.coordinated.person == FIRST:
                return WE
            return THEY
        return THEY if self.plural and self.person == THIRD else self.person

    @property
    def kinds(self) -> frozenset[str]:
        """The semantic classes of the noun, such as *person* or *mass*; none for a pronoun."""
        return self.noun.kinds if self.noun is not None else frozenset()

    @property
    def its_noun(self) -> Lexeme:
        """The noun; the phrase must have one."""
        assert self.noun is not None
        return self.noun

    @property
    def is_person(self) -> bool:
        """Whether it refers to a person: any pronoun, a name or a noun for a person."""
        return self.noun is None or not self.noun.kinds.isdisjoint(("person", "name"))

    @property
    def is_measure(self) -> bool:
        """Whether it is an amount of a unit: *12 euros*, *12 hours*."""
        return "unit" in self.kinds

    @property
    def is_duration(self) -> bool:
        """Whether it is an amount of time (*12 hours*), which is said as an adverb is, without a preposition."""
        return "duration" in self.kinds

    @property
    def is_animate(self) -> bool:
        """Whether it refers to a person or an animal."""
        return self.is_person or "animal" in self.kinds


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


@dataclass(frozen=True)
class IdiomNoun:
    """A noun phrase of an idiom or of its meaning; "reflexive" is *one's* own, "own" is *someone's*."""

    noun: Lexeme
    determiner: str = "definite"
    plural: bool = False
    adjective: Lexeme | None = None


@dataclass(frozen=True, eq=False)
class Idiom:
    """An idiom: what English says, what it means, and how many sentence pairs it has in both idiom splits together.

    phrase: the object of *verb*, or what something is said to be where *verb* is None; of: things it is said of.
    meant_verb: None if the meaning is a noun phrase. meant: the object or noun phrase of the meaning, or which
    phrase of the English sentence becomes its object.
    """

    name: str
    pairs: int
    verb: Lexeme | None
    phrase: IdiomNoun
    recipient: bool
    of: tuple[Lexeme, ...]
    meant_verb: Lexeme | None
    meant: IdiomNoun | Literal["recipient", "owner"] | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Idiom:
        """Itself, as a lexeme is."""
        return self


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

    @property
    def kinds(self) -> frozenset[str]:
        """The semantic classes of the verb; none for a clause without one."""
        return self.verb.kinds if self.verb is not None else frozenset()

    @property
    def its_verb(self) -> Lexeme:
        """The verb; the clause must have one."""
        assert self.verb is not None
        return self.verb

    @property
    def its_object(self) -> Phrase:
        """The object; the clause must have one."""
        assert self.object is not None
        return self.object


def concepts(clause: Clause | None) -> list[Lexeme]:
    """The content words of a clause, its phrases and its dependent clauses."""
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
        found += _concepts_of_phrase(phrase)
    found += [adverbial.adverb for adverbial in (clause.manner, clause.frequency, clause.time) if adverbial is not None]
    for inner in (clause.infinitive, clause.purpose, clause.content, clause.conjunct):
        found += concepts(inner)
    if clause.subordinate is not None:
        found += concepts(clause.subordinate.clause)
    return found


def _concepts_of_phrase(phrase: Phrase | None) -> list[Lexeme]:
    """The content words of a phrase, its owner, place, relative clause and coordinated phrase."""
    if phrase is None:
        return []
    found = [word for word in (phrase.noun, phrase.adjective) if word is not None]
    if phrase.determiner == "own":
        found += _concepts_of_phrase(phrase.possessor)
    if phrase.place is not None:
        found += _concepts_of_phrase(phrase.place.ground)
    return found + concepts(phrase.relative) + _concepts_of_phrase(phrase.coordinated)


# What a token says about a thing of the meaning. A token's address is (key of the thing + role), the same in
# every language; two tokens of a pair are aligned where they share an address. Keys are multiples of STEP.
STEP = 16
CONTENT, DET, CASE, AUX, NEGATION, MARK, CLASSIFIER, COUNT, ADJECTIVE, DEGREE, MODAL, PART = range(12)
FINAL = -1
_COMMAS = frozenset(",，、")


class Node:
    """A word with its dependents before and after it, so that every tree is projective by construction."""

    __slots__ = ("after", "before", "deprel", "feats", "form", "index", "keys", "lemma", "space", "tag", "upos")

    def __init__(self, form: str, upos: str, deprel: str, keys: tuple[int, ...] = (), lemma: str = "", feats: str = ""):
        self.form, self.upos, self.deprel, self.keys = form, upos, deprel, keys
        self.lemma = lemma or form
        self.feats = feats
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.space = True
        self.index = -1
        self.tag = ""  # a note from a grammar to its own spelling rules

    def in_order(self, into: list[Node]) -> list[Node]:
        """Append the nodes of this subtree to *into*, from left to right, and number them."""
        for node in self.before:
            node.in_order(into)
        self.index = len(into)
        into.append(self)
        for node in self.after:
            node.in_order(into)
        return into


def _without_needless_commas(nodes: list[Node]) -> list[Node]:
    """The nodes without commas that stand beside another mark, as after a relative clause at the end of a sentence."""
    last = len(nodes) - 1
    needless = [n for i, n in enumerate(nodes) if n.form in _COMMAS and i < last and nodes[i + 1].upos == "PUNCT"]
    if not needless:
        return nodes
    kept = [node for node in nodes if node not in needless]
    for node in needless:
        node.index = len(kept)
    for index, node in enumerate(kept):
        node.index = index
    return kept


def realise(
    root: Node, lang: str, spell: Callable[[list[Node]], None], spaced: bool
) -> tuple[Sentence, list[tuple[int, ...]]]:
    """The `Sentence` of a finished tree, and for each token the numbers (`Draw.key`) of the concepts that it expresses.

    *spell* applies the language's rules for neighbouring words (elision, a/an) to the nodes in order.
    """
    nodes = _without_needless_commas(root.in_order([]))
    spell(nodes)
    heads = [ROOT] * (len(nodes) + 1)  # the last entry takes what the dropped commas point at
    for node in nodes:
        for dependent in node.before:
            heads[dependent.index] = node.index
        for dependent in node.after:
            heads[dependent.index] = node.index
    first = nodes[0] if nodes[0].form[0].isalnum() or len(nodes) == 1 else nodes[1]
    first.form = first.form[0].upper() + first.form[1:]
    nodes[-1].space = False
    sentence = Sentence(
        tokens=tuple([node.form for node in nodes]),
        lang=lang,
        spaces=tuple([node.space for node in nodes]) if spaced else (False,) * len(nodes),
        upos=tuple([node.upos for node in nodes]),
        heads=tuple(heads[:-1]),
        deprels=tuple([node.deprel for node in nodes]),
        lemmas=tuple([node.lemma for node in nodes]),
        feats=tuple([node.feats for node in nodes]),
    )
    return sentence, [node.keys for node in nodes]


# ----------------------------------------------------------------------------
# Drawing phrases: nouns that suit their verbs, adjectives that suit their nouns.

T = TypeVar("T")


@cache
def nouns_of(kinds: tuple[str, ...], among: str = "nouns") -> tuple[Lexeme, ...]:
    """The nouns of any of *kinds* in the table *among*."""
    return tuple(noun for noun in table(among) if noun.kinds.intersection(kinds))


@cache
def verbs_of(frames: tuple[str, ...], among: tuple[str, ...] = ()) -> tuple[Lexeme, ...]:
    """The verbs of any of *frames*; if *among* names verbs, only these."""
    verbs = (verb for verb in table("verbs") if verb.kinds.intersection(frames))
    return tuple(verb for verb in verbs if not among or verb.id in among)


@cache
def adjectives_of(noun: Lexeme) -> tuple[Lexeme, ...]:
    """The adjectives that suit *noun*."""
    return tuple(adjective for adjective in table("adjectives") if adjective.kinds & noun.kinds)


@cache
def adverbs_of(kind: str, detail: str = "") -> tuple[Lexeme, ...]:
    """The adverbs of *kind*, such as "time", and of *detail* (the tense of a time adverb) if given."""
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
        """A new number for a concept: its words in all languages are aligned by it."""
        self._key += STEP
        return self._key

    def uniform(self) -> float:
        """A random number in [0, 1)."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """Whether a random event of this *probability* happens."""
        return self._random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """A random one of *options*, all as likely."""
        return options[int(self._random() * len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """A random one of *options*, as likely as its weight."""
        limits = list(accumulate(weights))
        return options[bisect(limits, self._random() * limits[-1])]

    def concept(self, options: Sequence[Lexeme]) -> Lexeme:
        """A random one of *options*, preferably one that the text does not have yet."""
        lexeme = self.pick(options)
        if lexeme in self.concepts:
            lexeme = self.pick([option for option in options if option not in self.concepts] or options)
        self.concepts.append(lexeme)
        return lexeme

    # --- phrases

    def name(self) -> Phrase:
        """A random person's name."""
        noun = self.concept(table("names"))
        return Phrase(self.key(), noun, female="female" in noun.kinds)

    def pronoun(self) -> Phrase:
        """A random personal pronoun."""
        return Phrase(self.key(), person=self.pick((FIRST, THIRD, THIRD, WE, THEY)), female=self.chance(0.5))

    def noun(self, kinds: tuple[str, ...], adjective: float = 0.35) -> Phrase:
        """A random definite noun phrase of any of *kinds*, with an adjective with probability *adjective*."""
        noun = self.concept(nouns_of(kinds))
        phrase = Phrase(self.key(), noun, "definite", female="female" in noun.kinds)
        if "kin" in noun.kinds:
            phrase.determiner, phrase.possessor = "own", self.speaker()
            adjective *= 0.3
        self.qualify(phrase, adjective)
        return phrase

    def speaker(self) -> Phrase:
        """*I* or *we*, whichever is not the subject, as owner in *my brother*."""
        return Phrase(self.key(), person=self.pick([p for p in (FIRST, WE) if p != self._subject]))

    def qualify(self, phrase: Phrase, probability: float = 1.0) -> None:
        """Give *phrase* with *probability* an adjective that suits it."""
        options = adjectives_of(phrase.its_noun)
        if options and phrase.adjective is None and self.chance(probability):
            phrase.adjective = self.concept(options)

    def subject(self, kinds: tuple[str, ...], pronouns: bool = True) -> Phrase:
        """A random subject: a name, a pronoun, a noun with or without an owner."""
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
        """A phrase with a pronoun of *person* as owner: *my brother*, *their neighbour*."""
        phrase = self.noun(kinds, 0.15)
        phrase.determiner = "own"
        phrase.possessor = Phrase(self.key(), person=person, female=self.chance(0.5))
        return phrase

    def thing(self, kinds: tuple[str, ...], subject: Phrase | None = None, adjective: float = 0.4) -> Phrase:
        """A random object: definite, indefinite, with owner, demonstrative or number. subject: a likely owner."""
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
        """Make *phrase* plural, with a number from two to five or *many*."""
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
        """A random phrase of place: *in the park*."""
        ground = self.noun(kinds, 0.2)
        return Place(self.key(), "at", ground)

    def spot(self) -> Place:
        """A random place relative to a thing: *on the table*, *behind the house*."""
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
        """A random adverb of *kind*, and of *detail* if given."""
        return Adverbial(self.key(), self.concept(adverbs_of(kind, detail)))

    def date(self, clause: Clause, probability: float = 1.0, first: float = 0.0, tense: Tense = "past") -> None:
        """Give *clause* with *probability* a time in *tense*, which comes first with probability *first*."""
        if probability == 1 or self.chance(probability):
            clause.time = self.adverb("time", tense)
            clause.time_first = self.chance(first) if 0 < first < 1 else bool(first)

    # --- events

    def event(
        self, frames: tuple[str, ...], tense: Tense, subject: Phrase | None = None, extras: float = 1.0
    ) -> Clause:
        """A clause with a verb of *frames*, its participants and adverbials; *extras*: the chance of optional ones."""
        verb = self.concept(verbs_of(frames))
        clause = Clause(self.key(), verb=verb, tense=tense)
        clause.subject = subject if subject is not None else self.subject(verb.subjects)
        self.participants(clause)
        self.adverbials(clause, extras)
        return clause

    def participants(self, clause: Clause) -> None:
        """Give *clause* the object, recipient or goal that its verb requires."""
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
        """A random recipient, as *Anna* in *gave Anna a book*."""
        return self.name() if self.chance(0.3) else self.noun(("person",), 0.2)

    def adverbials(self, clause: Clause, extras: float = 1.0) -> None:
        """Give *clause* the adverbials that its tense requires, and with probability *extras* others."""
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
        """Whether *clause* has nothing but subject and verb."""
        return not (clause.time or clause.manner or clause.place or clause.companion or clause.frequency)

    def manner(self, clause: Clause) -> None:
        """Give *clause* an adverb of manner that suits its verb, if any does."""
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
        """Give *clause* an instrument that suits its verb, if any does: *with a knife*."""
        verb = clause.its_verb
        if verb.instruments and (clause.subject is None or clause.subject.is_person):
            clause.instrument = self.noun(verb.instruments, 0.25)
            if self.chance(0.5):
                clause.instrument.determiner = "indefinite"

    def location(self, clause: Clause) -> None:
        """Give *clause* a place, if its verb and object allow one: *in the park*."""
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
        """Give *clause* a companion: *with a friend*, *with her*."""
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
