"""Homographs of the sandbox: English nouns of several senses, the words of each, and what attracts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nbkit.corpora.sandbox.lexicon import LANGUAGES, Lexeme, find_lexeme
from nbkit.errors import NbkitError, UnknownNameError

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
