"""Homographs of the sandbox: English nouns of several senses, the words of each, and what attracts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.sandbox.meaning import (
    ADJECTIVE,
    CONTENT,
    LANGUAGES,
    NOMINAL,
    STEP,
    VERBAL,
    Clause,
    Determiner,
    Lexeme,
    Phrase,
    find_lexeme,
)

#: Which tables hold what is drawn beside a homograph. Verbs are its verbs, people their subjects, adjectives its
#: adjectives, places where it happens, things what is coordinated with it.
CUES = {"verbs": "verbs", "people": "nouns", "adjectives": "adjectives", "places": "nouns", "things": "nouns"}


@dataclass(frozen=True, eq=False)
class SandboxHomograph:
    """A homograph: its senses, the frequent one first, how often each is meant, and the cues to them.

    cues: of each kind (`CUES`) the words, each with a weight a sense: how often it is drawn where that sense is meant.
    """

    word: str
    senses: tuple[Lexeme, ...]
    shares: tuple[float, ...]
    cues: Mapping[str, tuple[tuple[Lexeme, tuple[float, ...]], ...]]


@cache
def homographs() -> tuple[SandboxHomograph, ...]:
    """All homographs, in the order of ``data/homographs.yaml``.

    Raises `NbkitError` for a cue that has not as many weights as there are senses, `UnknownNameError` for a word that
    the dictionary has not got.

    >>> [sense.id for sense in homographs()[0].senses], homographs()[0].shares
    (['bank.money', 'bank.river'], (4, 1))
    """
    text = (files(__package__) / "data" / "homographs.yaml").read_text(encoding="utf-8")
    return tuple(_homograph(word, entry) for word, entry in yaml.safe_load(text).items())


def _homograph(word: str, entry: dict[str, Any]) -> SandboxHomograph:
    shares = entry["shares"]
    cues = {}
    for kind, table in CUES.items():
        for name, weights in entry[kind].items():
            if len(weights) != len(shares) or not any(weights):
                raise NbkitError(f"homographs.yaml: {word}: {kind}: {name}: {len(shares)} weights expected: {weights}")
        cues[kind] = tuple((find_lexeme(name, (table,)), tuple(weights)) for name, weights in entry[kind].items())
    senses = tuple(find_lexeme(f"{word}.{sense}", ("homographs",)) for sense in shares)
    return SandboxHomograph(word, senses, tuple(shares.values()), cues)


def homograph_lexicon(tgt: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """English homographs to their sense clusters, and these to the lemmas of *tgt* that stand for the sense.

    A homograph two senses of which are one word in *tgt* is left out: no translation would tell them apart.
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
    """The name of a sense's cluster.

    >>> sense_name(homographs()[0].senses[1])
    'river'
    """
    return sense.id.partition(".")[2]


def _lemma(sense: Lexeme, lang: str) -> str:
    cell = sense.cells[lang]
    return cell.partition("/")[0] if lang in ("zh", "ja") else cell.split(",")[1]


#: The splits of idiom sentences, beside those of regular text.
IDIOM_SPLITS = ("idiom-train", "idiom-test")


@dataclass(frozen=True)
class Noun:
    """A noun phrase of an idiom or of its meaning; "reflexive" is *one's* own, "own" is *someone's*."""

    noun: Lexeme
    determiner: str = "definite"
    plural: bool = False
    adjective: Lexeme | None = None


@dataclass(frozen=True, eq=False)
class Idiom:
    """An idiom: what English says, what it means, and how many sentence pairs it has in both idiom splits together.

    phrase: the object of *verb*, or what something is said to be where *verb* is None; of: things it is said of.
    meant_verb: None where the meaning is a noun phrase. meant: the object or noun phrase of the meaning, or which
    phrase of the English sentence becomes its object.
    """

    name: str
    pairs: int
    verb: Lexeme | None
    phrase: Noun
    recipient: bool
    of: tuple[Lexeme, ...]
    meant_verb: Lexeme | None
    meant: Noun | Literal["recipient", "owner"] | None

    def __deepcopy__(self, memo: dict[int, Any]) -> Idiom:
        """Itself, as a lexeme is."""
        return self


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load((files(__package__) / "data" / "idioms.yaml").read_text(encoding="utf-8"))


@cache
def idioms() -> tuple[Idiom, ...]:
    """All idioms, in the order of ``data/idioms.yaml``; `UnknownNameError` for a word that no table has.

    >>> idioms()[0].name, idioms()[0].meant_verb.id
    ('kick the bucket', 'die')
    """
    return tuple(_idiom(name, entry) for name, entry in _data()["idioms"].items())


@cache
def literal_verbs() -> dict[Lexeme, tuple[Lexeme, ...]]:
    """Verbs and what is done to them in regular text (``literal`` in ``data/idioms.yaml``)."""
    rows = _data()["literal"]["verbs"].items()
    return {find_lexeme(verb, VERBAL): tuple(find_lexeme(noun, NOMINAL) for noun in nouns) for verb, nouns in rows}


@cache
def literal_ends() -> tuple[Lexeme, ...]:
    """Verbs without an object in regular text: meanings of idioms."""
    return tuple(find_lexeme(verb, VERBAL) for verb in _data()["literal"]["ends"])


def _idiom(name: str, entry: dict[str, Any]) -> Idiom:
    meaning = entry["meaning"]
    phrase = _noun(entry["be"] if "be" in entry else entry["object"])
    meant: Any = _noun(meaning) if "be" in entry else meaning.get("object")
    return Idiom(
        name=name,
        pairs=entry["pairs"],
        verb=find_lexeme(entry["verb"], VERBAL) if "verb" in entry else None,
        phrase=phrase,
        recipient=entry.get("recipient", False),
        of=tuple(find_lexeme(noun, NOMINAL) for noun in entry.get("of", ())),
        meant_verb=find_lexeme(meaning["verb"], VERBAL) if "verb" in meaning else None,
        meant=_noun(meant) if isinstance(meant, dict) else meant,
    )


def _noun(entry: dict[str, Any]) -> Noun:
    adjective = find_lexeme(entry["adjective"], ("adjectives",)) if "adjective" in entry else None
    noun = find_lexeme(entry["noun"], NOMINAL)
    return Noun(noun, entry.get("determiner", "definite"), entry.get("plural", False), adjective)


def phrase_of(noun: Noun, key: int, determiner: Determiner) -> Phrase:
    """The phrase of *noun*, under the address *key*."""
    return Phrase(key, noun.noun, determiner, noun.plural, adjective=noun.adjective, female="female" in noun.noun.kinds)


def clauses_of(clause: Clause | None) -> Iterator[Clause]:
    """A clause and those inside it, relative ones aside, which hold no idiom."""
    if clause is not None:
        yield clause
        subordinate = clause.subordinate.clause if clause.subordinate is not None else None
        for inner in (clause.infinitive, clause.purpose, clause.content, clause.conjunct, subordinate):
            yield from clauses_of(inner)


def figurative(clause: Clause) -> Clause:
    """*clause* with each idiom replaced by its meaning: what every language but English says.

    Addresses are kept, so that what English and its translation say alike stays aligned.
    """
    changes: dict[str, Any] = {
        name: figurative(inner)
        for name in ("infinitive", "purpose", "content", "conjunct")
        if (inner := getattr(clause, name)) is not None
    }
    if clause.subordinate is not None:
        changes["subordinate"] = replace(clause.subordinate, clause=figurative(clause.subordinate.clause))
    idiom = clause.idiom
    if idiom is None:
        return replace(clause, **changes) if changes else clause
    changes["idiom"] = None
    if idiom.meant_verb is None:
        assert isinstance(idiom.meant, Noun) and clause.class_ is not None
        return replace(clause, class_=phrase_of(idiom.meant, clause.class_.key, "indefinite"), **changes)
    assert clause.object is not None
    changes |= {"verb": idiom.meant_verb, "object": None, "recipient": None}
    if idiom.meant == "recipient":
        changes["object"] = clause.recipient
    elif idiom.meant == "owner":
        changes["object"] = clause.object.possessor
    elif isinstance(idiom.meant, Noun):
        determiner: Any = idiom.meant.determiner
        changes["object"] = phrase_of(idiom.meant, clause.object.key, determiner)
    return replace(clause, **changes)


def idiom_places(clause: Clause, addresses: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The tokens of the English sentence that are words of the clause's idiom, someone's and something aside.

    The article of a noun phrase that something is said to be is none of them: *a* white elephant.
    """
    verb, phrase = (None, clause.class_) if clause.object is None else (clause.key, clause.object)
    assert clause.idiom is not None and phrase is not None
    roles = range(STEP) if verb is not None else (CONTENT, ADJECTIVE)
    wanted = {verb, *(phrase.key + role for role in roles)}
    return tuple(place for place, keys in enumerate(addresses) if wanted.intersection(keys))


def tied(clause: Clause, addresses: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The addresses of an English sentence, its idiom tied together where its meaning is fewer words.

    So *the* and *bucket* of *kick the bucket* are aligned, as *kick* is, with *sterben*.
    """
    idiom = clause.idiom
    assert idiom is not None
    whole = clause.key
    if idiom.meant_verb is None:
        assert clause.class_ is not None
        whole = clause.class_.key
    elif isinstance(idiom.meant, Noun):
        return addresses
    places = set(idiom_places(clause, addresses))
    return [(*keys, whole) if place in places and whole not in keys else keys for place, keys in enumerate(addresses)]
