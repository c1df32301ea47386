"""From an address to a pair of sentences: which meaning stands at place i of a mixture's split."""

from __future__ import annotations

import hashlib
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count
from typing import Any

from nbsandbox.constructions import CONSTRUCTIONS
from nbsandbox.errors import SandboxError, UnknownNameError
from nbsandbox.grammars import grammar
from nbsandbox.meaning import AUX, CONTENT, FINAL, LANGUAGES, STEP, Clause, Draw, Idiom, Lexeme, concepts, data
from nbsandbox.phenomena import (
    CONTEXTS,
    IDIOM_SPLITS,
    PHENOMENA,
    clauses_of,
    contexts_of,
    event_of_idiom,
    idiom_tokens,
    idioms,
    sense_name,
    with_idiom_aligned,
    with_idioms_explained,
)
from nbsandbox.seeding import address
from nbsandbox.sentences import Pair, Text, sentence_key

#: Part of every address and of cache keys: raise it when the grammar or the dictionary changes.
VERSION = "2"


#: The splits, and which of the eight equal parts of all sentences each of them holds.
SPLITS = {"train": (0, 1, 2, 3, 4, 5), "dev": (6,), "test": (7,)}


#: All constructions by name.
_CONSTRUCTIONS = CONSTRUCTIONS | PHENOMENA


def mixtures() -> dict[str, Any]:
    """The settings of each mixture of sentences, from ``data/mixtures.yaml``."""
    return data("mixtures")


@cache
def _cumulative_weights(mixture: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The names of the mixture's constructions, and their weights added up."""
    if mixture not in mixtures():
        raise UnknownNameError("sandbox mixture", mixture, mixtures())
    weights = mixtures()[mixture]["weights"]
    return tuple(weights), tuple(accumulate(weights.values()))


def part_of(clauses: list[Clause]) -> int:
    """The number of the part (0 to 7) that a meaning belongs to, decided by its content words alone.

    The English words decide, in no order, so that neither a sentence nor another sentence of the same
    words (its negation, its past) is found in two splits.
    """
    words = sorted(lexeme.cells["en"].partition(",")[0] for clause in clauses for lexeme in concepts(clause))
    return hashlib.blake2b("\x1f".join(words).encode(), digest_size=1).digest()[0] % 8


def meaning(mixture: str, split: str, index: int) -> tuple[str, list[Clause]]:
    """The construction's name and the clauses of pair number *index* of a split, the same for every language."""
    if split not in SPLITS:
        raise UnknownNameError("sandbox split", split, SPLITS)
    names, limits = _cumulative_weights(mixture)
    version = mixtures()[mixture]["version"]
    numerals = mixtures()[mixture].get("numerals", {}).get(split)
    seed = address(VERSION, mixture, version, split, index)
    misleading = mixtures()[mixture].get("misleading", {}).get(split, 0.0)
    while True:
        draw = Draw(seed, numerals, misleading)
        name = names[bisect(limits, draw.uniform() * limits[-1])]
        clauses = _CONSTRUCTIONS[name](draw)
        if part_of(clauses) in SPLITS[split]:
            return f"{name} {draw.remark}".rstrip(), clauses
        seed += 1  # this meaning belongs to another split: draw the next one


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

    Words in place of *someone* are excluded, so that there may be several ranges.
    """

    idiom: str
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def gold_senses(pair: Pair) -> tuple[GoldSense, ...]:
    """The homographs in the English source of a pair of the mixture ``homographs``, from left to right.

    Raises `SandboxError` for a pair of another mixture or with another source language.

    >>> from nbsandbox.stream import pairs
    >>> pair = next(p for p in pairs("en", "de", n=9, split="train", mixture="homographs") if p.note != "ordinary")
    >>> [pair.source.tokens[gold.token] in (gold.word, gold.word + "s", gold.word + "es") for gold in gold_senses(pair)]
    [True]
    """
    split, index = _split_and_index(pair, "homographs")
    note, clauses = meaning("homographs", split, index)
    found = []
    start = 0
    for clause in clauses:
        sentence, addresses = grammar("en").sentence(clause)
        senses = dict(_senses_in(clause))
        for place, keys in enumerate(addresses):
            for noun in (senses[key] for key in keys if key in senses):
                word = noun.cells["en"].partition(",")[0]
                found.append(GoldSense(start + place, word, sense_name(noun), note.endswith(" misleading")))
        start += len(sentence)
    return tuple(found)


def _senses_in(clause: Clause) -> Iterator[tuple[int, Lexeme]]:
    """The concept number (`Draw.key`) and the sense of each homograph in *clause*."""
    for inner in clauses_of(clause):
        for phrase in (inner.subject, inner.object):
            if phrase is not None and phrase.noun is not None and "homograph" in phrase.noun.kinds:
                yield phrase.key + CONTENT, phrase.noun


def gold_idiom(pair: Pair) -> GoldIdiom:
    """The idiom in the English source of a pair of idiom-train or idiom-test.

    Raises `SandboxError` for a pair of regular text, of another mixture or with another source language.

    >>> from nbsandbox.stream import pairs
    >>> pairs_ = pairs("en", "fr", n=None, split="idiom-test", mixture="idioms")
    >>> pair = next(pair for pair in pairs_ if pair.note.endswith("kick the bucket"))
    >>> gold_idiom(pair).idiom, [pair.source.text[start:end][-10:] for start, end in gold_idiom(pair).spans]
    ('kick the bucket', ['the bucket'])
    """
    split, index = _split_and_index(pair, "idioms")
    if split not in IDIOM_SPLITS:
        raise SandboxError(f"pair {pair.id} is regular text; idioms are in the splits {', '.join(IDIOM_SPLITS)}")
    dealt = idiom_sentences(split)[index]
    _, addresses = grammar("en").sentence(dealt.clause)
    places = idiom_tokens(dealt.idiom_clause, addresses)
    return GoldIdiom(dealt.idiom.name, places, _character_spans(pair.source, places))


def _split_and_index(pair: Pair, mixture: str) -> tuple[str, int]:
    """Split and index from the id of a pair of *mixture*; its source must be English."""
    parts = pair.id.split("/")
    if parts[0] != mixture or len(parts) != 3:
        raise SandboxError(f"pair {pair.id} is not in the sandbox's mixture '{mixture}'")
    if pair.source.lang != "en":
        raise SandboxError(f"pair {pair.id}: the source is '{pair.source.lang}'; only English ones are annotated")
    return parts[1], int(parts[2])


def _character_spans(text: Text, places: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Start and end in *text*, of one sentence, of each run of neighbouring tokens among *places*."""
    (sentence,) = text.sentences
    starts, position = [], 0
    for token, space in zip(sentence.tokens, sentence.spaces, strict=True):
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


@dataclass(frozen=True)
class DealtSentence:
    """A sentence with an idiom, the context of the idiom, and its English spelling for comparisons."""

    idiom: Idiom
    context: str
    clause: Clause
    key: str

    @property
    def idiom_clause(self) -> Clause:
        """The clause that has the idiom."""
        return next(clause for clause in clauses_of(self.clause) if clause.idiom is not None)


def has_idiom_splits(mixture: str) -> bool:
    """Whether the mixture has idiom-train and idiom-test beside the splits of all mixtures.

    >>> has_idiom_splits("idioms"), has_idiom_splits("general")
    (True, False)
    """
    return "contexts" in mixtures().get(mixture, {})


@cache
def idiom_sentences(split: str, mixture: str = "idioms") -> tuple[DealtSentence, ...]:
    """All sentences of idiom-train or idiom-test, in an order that mixes the idioms.

    Of each idiom the sentences go to the two splits in turn, idiom-test first, so that it has half of them and the odd
    one; all are different sentences. Source: idioms paper, §3.1.

    >>> len(idiom_sentences("idiom-test")) - len(idiom_sentences("idiom-train"))
    0
    """
    places = [(idiom, place) for idiom in idioms() for place in range(idiom.pairs)]
    chosen = [row for row in places if row[1] % 2 == (0 if split == IDIOM_SPLITS[1] else 1)]
    chosen.sort(key=lambda row: address(VERSION, mixture, "order", row[0].name, row[1]))
    drawn = {idiom: _draw_sentences(idiom, mixture) for idiom in idioms()}
    return tuple(drawn[idiom][place] for idiom, place in chosen)


@cache
def _draw_sentences(idiom: Idiom, mixture: str) -> tuple[DealtSentence, ...]:
    """The different sentences of *idiom*, each in a random context."""
    settings = mixtures()[mixture]
    weights = {context: settings["contexts"][context] for context in contexts_of(idiom)}
    found: dict[str, DealtSentence] = {}
    for place in range(idiom.pairs):
        seed = address(VERSION, mixture, settings["version"], "idiom", idiom.name, place)
        while len(found) == place:
            draw = Draw(seed)
            context = draw.weighted(tuple(weights), tuple(weights.values()))
            (clause,) = CONTEXTS[context](draw, event_of_idiom(idiom))
            key = sentence_key(grammar("en").sentence(clause)[0].text)
            found.setdefault(key, DealtSentence(idiom, context, clause, key))
            seed += 1  # where the sentence is there already: draw the next one
    return tuple(found.values())


#: Other names of splits, of a mixture that has idiom splits.
_ALIASES = {"regular": "train"}


def pairs(
    src: str = "en",
    tgt: str = "de",
    *,
    n: int | None,
    split: str = "test",
    mixture: str = "general",
    start: int = 0,
) -> Iterator[Pair]:
    """Stream *n* sentence pairs of a split, from place *start* on (None: unbounded).

    The pair at place i is a function of (`VERSION`, *mixture*, *split*, i) and the two languages alone: it does not
    depend on *n* or *start*, and the same i has the same meaning in all languages. No English sentence is in two
    splits. `Pair.note` holds the construction, `Pair.alignment` the gold links.

    The mixture ``idioms`` has two splits more, idiom-train and idiom-test, which end (*n* and None mean at most), and
    calls its train also *regular*, as the idioms paper does; in the two, note is "context: idiom".

    Raises `UnknownNameError` for a language, split or mixture that does not exist, `SandboxError` if *src* is *tgt*
    or a number is negative.

    >>> pair = next(pairs("en", "fr", n=1, split="test"))
    >>> pair.source.lang, pair.target.lang, pair.id
    ('en', 'fr', 'general/test/0')
    >>> [p.id for p in pairs("de", "ja", n=2, split="dev", start=5)]
    ['general/dev/5', 'general/dev/6']
    """
    _check_request(src, tgt, split, mixture)
    if start < 0 or (n is not None and n < 0):
        raise SandboxError(f"sandbox pairs: n={n} and start={start} must not be negative")
    return _stream_pairs(src, tgt, n, split, mixture, start)


def _stream_pairs(src: str, tgt: str, n: int | None, split: str, mixture: str, start: int) -> Iterator[Pair]:
    """`pairs` without its checks."""
    split = _ALIASES.get(split, split)
    if split in IDIOM_SPLITS:
        yield from _stream_idioms(src, tgt, n, split, mixture, start)
        return
    for index in count(start) if n is None else range(start, start + n):
        construction, clauses = meaning(mixture, split, index)
        source, source_keys = _realise_text(clauses, src)
        target, target_keys = _realise_text(clauses, tgt)
        yield Pair(f"{mixture}/{split}/{index}", source, target, _align(source_keys, target_keys), construction)


def _stream_idioms(src: str, tgt: str, n: int | None, split: str, mixture: str, start: int) -> Iterator[Pair]:
    """Pairs of idiom-train or idiom-test."""
    stop = None if n is None else start + n
    for index, dealt in enumerate(idiom_sentences(split, mixture)[start:stop], start):
        source, source_keys = _realise(dealt, src)
        target, target_keys = _realise(dealt, tgt)
        note = f"{dealt.context}: {dealt.idiom.name}"
        yield Pair(f"{mixture}/{split}/{index}", source, target, _align(source_keys, target_keys), note)


def _realise(dealt: DealtSentence, lang: str) -> tuple[Text, list[tuple[int, ...]]]:
    """The text in *lang* and each token's concept numbers; outside English, idioms are replaced by their meanings."""
    if lang != "en":
        return _realise_text([with_idioms_explained(dealt.clause)], lang)
    text, addresses = _realise_text([dealt.clause], lang)
    return text, with_idiom_aligned(dealt.idiom_clause, addresses)


def _realise_text(clauses: list[Clause], lang: str) -> tuple[Text, list[tuple[int, ...]]]:
    """The text of *clauses* in *lang*, and the concept numbers (`Draw.key`) of each token."""
    speaks = grammar(lang)
    sentences, addresses = [], []
    for number, clause in enumerate(clauses):
        sentence, keys = speaks.sentence(clause)
        sentences.append(sentence)
        # the final mark of each sentence has an address of its own
        addresses += [tuple(FINAL - number if key == FINAL else key for key in token) for token in keys]
    return Text(tuple(sentences)), addresses


def _align(source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> tuple[tuple[int, int], ...]:
    """All (source token, target token) that express the same concept.

    An auxiliary that has none to meet (*hat* … *gekauft* for *bought*) meets the verb itself.
    """
    sources, targets = _tokens_by_address(source), _tokens_by_address(target)
    links = {(s, t) for key, tokens in sources.items() for s in tokens for t in targets.get(key, ())}
    links |= {(s, t) for key in sources.keys() - targets.keys() for s in sources[key] for t in _verb_at(targets, key)}
    links |= {(s, t) for key in targets.keys() - sources.keys() for t in targets[key] for s in _verb_at(sources, key)}
    return tuple(sorted(links))


def _tokens_by_address(addresses: list[tuple[int, ...]]) -> dict[int, list[int]]:
    """The tokens that express each concept, by its number."""
    places: dict[int, list[int]] = {}
    for token, keys in enumerate(addresses):
        for key in keys:
            places.setdefault(key, []).append(token)
    return places


def _verb_at(places: dict[int, list[int]], key: int) -> list[int]:
    """The tokens of the verb if *key* is the concept number of an auxiliary; none otherwise."""
    return places.get(key - AUX, []) if key % STEP == AUX else []


def identity(src: str = "en", tgt: str = "de", *, split: str = "test", mixture: str = "general") -> dict[str, str]:
    """What the sentences of a stream depend on, besides which of them are read: part of cache keys.

    >>> identity("en", "ja")["mixture"]
    'general-1'
    """
    _check_request(src, tgt, split, mixture)
    return {
        "corpus": "sandbox",
        "version": VERSION,
        "mixture": f"{mixture}-{mixtures()[mixture]['version']}",
        "split": _ALIASES.get(split, split),
        "src": src,
        "tgt": tgt,
    }


def _check_request(src: str, tgt: str, split: str, mixture: str) -> None:
    """Raise an error unless languages, split and mixture exist and go together."""
    for lang in (src, tgt):
        if lang not in LANGUAGES:
            raise UnknownNameError("sandbox language", lang, LANGUAGES)
    if src == tgt:
        raise SandboxError(f"sandbox pairs: source and target are both '{src}'; choose two languages")
    if mixture not in mixtures():
        raise UnknownNameError("sandbox mixture", mixture, mixtures())
    known = (*SPLITS, *_ALIASES, *IDIOM_SPLITS) if has_idiom_splits(mixture) else tuple(SPLITS)
    if split not in known:
        raise UnknownNameError("sandbox split", split, known)


def training_splits() -> Iterator[tuple[str, str]]:
    """Every mixture with the splits that models are trained on: its train and, if it has one, its idiom-train.

    >>> list(training_splits())[-2:]
    [('idioms', 'train'), ('idioms', 'idiom-train')]
    """
    for mixture in mixtures():
        yield mixture, "train"
        if has_idiom_splits(mixture):
            yield mixture, IDIOM_SPLITS[0]


#: Gold-aligned pairs of regular text behind the dictionary: each form of each word of an idiom is in them.
DICTIONARY_PAIRS = 4000


_WORDS = frozenset({"NOUN", "VERB", "ADJ"})


#: A translation that a word has less often than this is a chance of the alignment.
_RARE = 0.02


@cache
def idiom_dictionary(src: str, tgt: str) -> dict[str, tuple[str, ...]]:
    """Source words, lower-cased, to their literal translations, the most frequent first: nouns, verbs and adjectives.

    Counted over the gold links of regular text of the mixture ``idioms``, which has no idiom, so that no figurative
    translation is among them. Each form of a word is a separate word, as in MUSE's dictionaries.
    Raises as `pairs` does. Source of the use: idioms paper, §2.1, step 2.

    >>> idiom_dictionary("en", "fr")["bucket"], "sterben" in idiom_dictionary("en", "de")["kick"]
    (('seau',), False)
    """
    counts: dict[str, Counter[str]] = {}
    for pair in pairs(src, tgt, n=DICTIONARY_PAIRS, split="regular", mixture="idioms"):
        tags = [[tag for sentence in text.sentences for tag in sentence.upos] for text in (pair.source, pair.target)]
        for source, target in pair.alignment:
            if tags[0][source] in _WORDS and tags[0][source] == tags[1][target]:
                word = pair.source.tokens[source].lower()
                counts.setdefault(word, Counter())[pair.target.tokens[target].lower()] += 1
    return {word: _frequent_first(counts[word]) for word in sorted(counts)}


def _frequent_first(counts: Counter[str]) -> tuple[str, ...]:
    """The words by frequency, without rare ones."""
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, count in ranked if count >= _RARE * total)
