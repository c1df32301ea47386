"""The sandbox's dictionary: concepts and their words in all eight languages, read from TSV files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import yaml

from nbkit.errors import DataError, UnknownNameError
from nbkit.text.sentences import ROOT, Sentence

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
    """The table ``data/<name>.yaml``: the words of a language, mixtures, idioms, homographs, what the world knows."""
    return yaml.safe_load((files(__package__) / "data" / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def table(name: str) -> tuple[Lexeme, ...]:
    """All lexemes of one table, in file order; a malformed line is a `DataError` with its number.

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
            raise DataError(f"expected {len(header)} columns, found {len(cells)}", str(path), number)
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
    """Every lexeme that can head a noun phrase."""
    return tuple(lexeme for name in NOMINAL for lexeme in table(name))


@cache
def verbals() -> tuple[Lexeme, ...]:
    """Every lexeme that is a verb."""
    return tuple(lexeme for name in VERBAL for lexeme in table(name))


@cache
def _by_id(tables: tuple[str, ...]) -> dict[str, Lexeme]:
    return {lexeme.id: lexeme for name in reversed(tables) for lexeme in table(name)}


def find_lexeme(name: str, tables: tuple[str, ...]) -> Lexeme:
    """The lexeme with the id *name* in the first of *tables* that has it; `UnknownNameError` if none has.

    >>> find_lexeme("bank.river", NOMINAL).cells["de"]
    'n,Ufer,Ufer'
    """
    known = _by_id(tables)
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
    def kinds(self) -> frozenset[str]:
        """The kinds of the noun; a pronoun has none."""
        return self.noun.kinds if self.noun is not None else frozenset()

    @property
    def its_noun(self) -> Lexeme:
        """The noun of a phrase that has one."""
        assert self.noun is not None
        return self.noun

    @property
    def is_person(self) -> bool:
        return self.noun is None or not self.noun.kinds.isdisjoint(("person", "name"))

    @property
    def is_measure(self) -> bool:
        """So many of a unit: euros, kilometers, hours."""
        return "unit" in self.kinds

    @property
    def is_duration(self) -> bool:
        """So many of a unit of time: said of an event as an adverb is, though it has no preposition."""
        return "duration" in self.kinds

    @property
    def is_animate(self) -> bool:
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
        """The kinds of the verb; a clause without one has none."""
        return self.verb.kinds if self.verb is not None else frozenset()

    @property
    def its_verb(self) -> Lexeme:
        """The verb of a clause that has one."""
        assert self.verb is not None
        return self.verb

    @property
    def its_object(self) -> Phrase:
        """The object of a clause that has one."""
        assert self.object is not None
        return self.object


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
        """Append this subtree's nodes from left to right, and number them."""
        for node in self.before:
            node.in_order(into)
        self.index = len(into)
        into.append(self)
        for node in self.after:
            node.in_order(into)
        return into


def _without_needless_commas(nodes: list[Node]) -> list[Node]:
    """Leave out commas that meet another mark (the end of a relative clause at the end of its sentence)."""
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
    """The `Sentence` of a finished tree, and the addresses of each of its tokens.

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
