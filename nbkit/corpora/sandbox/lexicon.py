"""The sandbox's dictionary: concepts with what stands for them in all eight languages, read from TSV files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nbkit.errors import DataError, UnknownNameError

LANGUAGES = ("en", "de", "fr", "es", "it", "ru", "zh", "ja")
#: What a noun phrase is made of: things, words for whole kinds of things, units and what is measured, names, the senses
#: of homographs, and the nouns that only idioms and their meanings need.
NOMINAL = ("nouns", "hypernyms", "units", "names", "homographs", "idiom_nouns")
#: Verbs, and those that only idioms and their meanings need.
VERBAL = ("verbs", "idiom_verbs")
TABLES = (*NOMINAL, *VERBAL, "adjectives", "adverbs")


@dataclass(frozen=True, eq=False, slots=True)
class Lexeme:
    """A concept: its kinds (what it combines with), and one cell of forms a language."""

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
            raise DataError(f"{len(header)} columns expected, {len(cells)} found", str(path), number)
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
    """The lexeme with the id *name* in the first of *tables* that has it; `UnknownNameError` where none has.

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


@cache
def function_words(lang: str) -> dict[str, Any]:
    """Pronouns, articles, prepositions and other closed classes of a language (``data/<lang>.yaml``)."""
    text = (files(__package__) / "data" / f"{lang}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
