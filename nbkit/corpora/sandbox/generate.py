"""From an address to a pair of sentences: which meaning stands at place i of a mixture's split."""

from __future__ import annotations

import hashlib
from bisect import bisect
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import accumulate
from typing import Any

import yaml

from nbkit.corpora.sandbox.constructions import CONSTRUCTIONS
from nbkit.corpora.sandbox.draw import Draw
from nbkit.corpora.sandbox.grammars.base import Grammar
from nbkit.corpora.sandbox.meaning import Clause, concepts
from nbkit.errors import UnknownNameError
from nbkit.seeding import address

#: Part of every address and of cache keys: raise it when the grammar or the dictionary changes.
VERSION = "2"

#: The splits, and which of the eight equal parts of all sentences each of them holds.
SPLITS = {"train": (0, 1, 2, 3, 4, 5), "dev": (6,), "test": (7,)}

_GRAMMARS = {
    "en": "english:English",
    "de": "german:German",
    "fr": "french:French",
    "es": "spanish:Spanish",
    "it": "italian:Italian",
    "ru": "russian:Russian",
    "zh": "chinese:Chinese",
    "ja": "japanese:Japanese",
}


@cache
def grammar(lang: str) -> Grammar:
    """The grammar of *lang*, made on first use."""
    module, _, name = _GRAMMARS[lang].partition(":")
    return getattr(import_module(f"nbkit.corpora.sandbox.grammars.{module}"), name)()


@cache
def mixtures() -> dict[str, Any]:
    """The table of mixtures (``data/mixtures.yaml``)."""
    return yaml.safe_load((files(__package__) / "data" / "mixtures.yaml").read_text(encoding="utf-8"))


@cache
def _weights(mixture: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    if mixture not in mixtures():
        raise UnknownNameError("sandbox mixture", mixture, mixtures())
    weights = mixtures()[mixture]["weights"]
    return tuple(weights), tuple(accumulate(weights.values()))


def part_of(clauses: list[Clause]) -> int:
    """Which of eight parts a meaning belongs to: decided by its content words alone.

    The English words decide, in no order, so that neither a sentence nor another sentence of the same
    words (its negation, its past) is found in two splits.
    """
    words = sorted(lexeme.cells["en"].partition(",")[0] for clause in clauses for lexeme in concepts(clause))
    return hashlib.blake2b("\x1f".join(words).encode(), digest_size=1).digest()[0] % 8


def meaning(mixture: str, split: str, index: int) -> tuple[str, list[Clause]]:
    """Construction and clauses at place *index* of a split, the same for every language."""
    if split not in SPLITS:
        raise UnknownNameError("sandbox split", split, SPLITS)
    names, limits = _weights(mixture)
    version = mixtures()[mixture]["version"]
    numerals = mixtures()[mixture].get("numerals", {}).get(split)
    seed = address(VERSION, mixture, version, split, index)
    misleading = mixtures()[mixture].get("misleading", {}).get(split, 0.0)
    while True:
        draw = Draw(seed, numerals, misleading)
        name = names[bisect(limits, draw.uniform() * limits[-1])]
        clauses = CONSTRUCTIONS[name](draw)
        if part_of(clauses) in SPLITS[split]:
            return f"{name} {draw.remark}".rstrip(), clauses
        seed += 1  # this meaning belongs to another split: draw the next one
