"""What the sandbox knows of its own sentences: the sense of each homograph, the words of each idiom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nbkit.corpora.pair import Pair
from nbkit.corpora.sandbox.dealt import idiom_sentences
from nbkit.corpora.sandbox.generate import grammar, meaning
from nbkit.corpora.sandbox.homographs import sense_name
from nbkit.corpora.sandbox.idioms import IDIOM_SPLITS, clauses_of, idiom_places
from nbkit.corpora.sandbox.lexicon import Lexeme
from nbkit.corpora.sandbox.meaning import Clause
from nbkit.corpora.sandbox.tree import CONTENT
from nbkit.errors import NbkitError
from nbkit.text import Text


@dataclass(frozen=True)
class GoldSense:
    """One homograph of a source: its token, counted over `Text.tokens`, its English word, the sense it is meant in.

    is_misleading: whether its context was drawn to attract another sense.
    """

    token: int
    word: str
    sense: str
    is_misleading: bool


@dataclass(frozen=True)
class GoldIdiom:
    """The idiom of a source: its tokens, counted over `Text.tokens`, and half-open ranges of characters.

    Words that stand in for *someone* are left out, so that there may be several ranges.
    """

    idiom: str
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def gold_senses(pair: Pair) -> tuple[GoldSense, ...]:
    """The homographs in the English source of a pair of the mixture ``homographs``, from left to right.

    Raises `NbkitError` for a pair of another mixture or with another source language.

    >>> from nbkit.corpora.sandbox.stream import pairs
    >>> pair = next(p for p in pairs("en", "de", n=9, split="train", mixture="homographs") if p.note != "ordinary")
    >>> [pair.source.tokens[gold.token] in (gold.word, gold.word + "s", gold.word + "es") for gold in gold_senses(pair)]
    [True]
    """
    split, index = _place(pair, "homographs")
    note, clauses = meaning("homographs", split, index)
    found = []
    start = 0
    for clause in clauses:
        sentence, addresses = grammar("en").sentence(clause)
        senses = dict(_homographs(clause))
        for place, keys in enumerate(addresses):
            for noun in (senses[key] for key in keys if key in senses):
                word = noun.cells["en"].partition(",")[0]
                found.append(GoldSense(start + place, word, sense_name(noun), note.endswith(" misleading")))
        start += len(sentence)
    return tuple(found)


def _homographs(clause: Clause) -> Iterator[tuple[int, Lexeme]]:
    """The address and the sense of each homograph."""
    for inner in clauses_of(clause):
        for phrase in (inner.subject, inner.object):
            if phrase is not None and phrase.noun is not None and "homograph" in phrase.noun.kinds:
                yield phrase.key + CONTENT, phrase.noun


def gold_idiom(pair: Pair) -> GoldIdiom:
    """The idiom in the English source of a pair of idiom-train or idiom-test.

    Raises `NbkitError` for a pair of regular text, of another mixture or with another source language.

    >>> from nbkit.corpora.sandbox.stream import pairs
    >>> pairs_ = pairs("en", "fr", n=None, split="idiom-test", mixture="idioms")
    >>> pair = next(pair for pair in pairs_ if pair.note.endswith("kick the bucket"))
    >>> gold_idiom(pair).idiom, [pair.source.text[start:end][-10:] for start, end in gold_idiom(pair).spans]
    ('kick the bucket', ['the bucket'])
    """
    split, index = _place(pair, "idioms")
    if split not in IDIOM_SPLITS:
        raise NbkitError(f"pair {pair.id} is regular text; idioms are in the splits {', '.join(IDIOM_SPLITS)}")
    dealt = idiom_sentences(split)[index]
    _, addresses = grammar("en").sentence(dealt.clause)
    places = idiom_places(dealt.idiomatic, addresses)
    return GoldIdiom(dealt.idiom.name, places, _spans(pair.source, places))


def _place(pair: Pair, mixture: str) -> tuple[str, int]:
    """Split and index of a pair of *mixture* whose source is English."""
    parts = pair.id.split("/")
    if parts[0] != mixture or len(parts) != 3:
        raise NbkitError(f"pair {pair.id} is none of the sandbox's mixture '{mixture}'")
    if pair.source.lang != "en":
        raise NbkitError(f"pair {pair.id}: the source is '{pair.source.lang}'; only English ones are annotated")
    return parts[1], int(parts[2])


def _spans(text: Text, places: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Ranges of characters of *text*, of one sentence, one for each run of neighbouring tokens."""
    (sentence,) = text.sentences
    starts, position = [], 0
    for token, space in zip(sentence.tokens, sentence.spaces or (), strict=True):
        starts.append(position)
        position += len(token) + space
    spans: list[tuple[int, int]] = []
    for place in places:
        start, end = starts[place], starts[place] + len(sentence.tokens[place])
        if spans and place - 1 in places:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)
