"""The sandbox's public functions: a stream of parallel sentences, and what identifies it in cache keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from nbkit.corpora.pair import Pair
from nbkit.corpora.sandbox.dealt import DealtSentence, has_idiom_splits, idiom_sentences
from nbkit.corpora.sandbox.generate import SPLITS, VERSION, grammar, meaning, mixtures
from nbkit.corpora.sandbox.idioms import IDIOM_SPLITS, figurative, tied
from nbkit.corpora.sandbox.lexicon import LANGUAGES
from nbkit.corpora.sandbox.meaning import Clause
from nbkit.corpora.sandbox.tree import AUX, FINAL, STEP
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.text import Text

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
    """Stream *n* sentence pairs of a split, from place *start* on (None: without end).

    The pair at place i is a function of (`VERSION`, *mixture*, *split*, i) and the two languages alone: it does not
    depend on *n* or *start*, and the same i has the same meaning in all languages. No English sentence is in two
    splits. `Pair.note` holds the construction, `Pair.alignment` the gold links.

    The mixture ``idioms`` has two splits more, idiom-train and idiom-test, which end (*n* and None mean at most), and
    calls its train also *regular*, as the idioms paper does; in the two, note is "context: idiom".

    Raises `UnknownNameError` for a language, split or mixture that does not exist, `NbkitError` where *src* is *tgt*
    or a number is negative.

    >>> pair = next(pairs("en", "fr", n=1, split="test"))
    >>> pair.source.lang, pair.target.lang, pair.id
    ('en', 'fr', 'general/test/0')
    >>> [p.id for p in pairs("de", "ja", n=2, split="dev", start=5)]
    ['general/dev/5', 'general/dev/6']
    """
    _check(src, tgt, split, mixture)
    if start < 0 or (n is not None and n < 0):
        raise NbkitError(f"sandbox pairs: n={n} and start={start} must not be negative")
    return _stream(src, tgt, n, split, mixture, start)


def _stream(src: str, tgt: str, n: int | None, split: str, mixture: str, start: int) -> Iterator[Pair]:
    split = _ALIASES.get(split, split)
    if split in IDIOM_SPLITS:
        yield from _idiomatic(src, tgt, n, split, mixture, start)
        return
    for index in count(start) if n is None else range(start, start + n):
        construction, clauses = meaning(mixture, split, index)
        source, source_keys = _text(clauses, src)
        target, target_keys = _text(clauses, tgt)
        yield Pair(f"{mixture}/{split}/{index}", source, target, _align(source_keys, target_keys), construction)


def _idiomatic(src: str, tgt: str, n: int | None, split: str, mixture: str, start: int) -> Iterator[Pair]:
    stop = None if n is None else start + n
    for index, dealt in enumerate(idiom_sentences(split, mixture)[start:stop], start):
        source, source_keys = _said(dealt, src)
        target, target_keys = _said(dealt, tgt)
        note = f"{dealt.context}: {dealt.idiom.name}"
        yield Pair(f"{mixture}/{split}/{index}", source, target, _align(source_keys, target_keys), note)


def _said(dealt: DealtSentence, lang: str) -> tuple[Text, list[tuple[int, ...]]]:
    """The sentence in *lang*, which says the meaning of the idiom if it is not English, and its tokens' addresses."""
    if lang != "en":
        return _text([figurative(dealt.clause)], lang)
    text, addresses = _text([dealt.clause], lang)
    return text, tied(dealt.idiomatic, addresses)


def _text(clauses: list[Clause], lang: str) -> tuple[Text, list[tuple[int, ...]]]:
    """The text in *lang*, and the addresses of all its tokens."""
    speaks = grammar(lang)
    sentences, addresses = [], []
    for number, clause in enumerate(clauses):
        sentence, keys = speaks.sentence(clause)
        sentences.append(sentence)
        # the final mark of each sentence has an address of its own
        addresses += [tuple(FINAL - number if key == FINAL else key for key in token) for token in keys]
    return Text(tuple(sentences)), addresses


def _align(source: list[tuple[int, ...]], target: list[tuple[int, ...]]) -> tuple[tuple[int, int], ...]:
    """All (source token, target token) that share an address.

    An auxiliary that has none to meet (*hat* … *gekauft* for *bought*) meets the verb itself.
    """
    sources, targets = _places(source), _places(target)
    links = {(s, t) for key, tokens in sources.items() for s in tokens for t in targets.get(key, ())}
    links |= {(s, t) for key in sources.keys() - targets.keys() for s in sources[key] for t in _verb(targets, key)}
    links |= {(s, t) for key in targets.keys() - sources.keys() for t in targets[key] for s in _verb(sources, key)}
    return tuple(sorted(links))


def _places(addresses: list[tuple[int, ...]]) -> dict[int, list[int]]:
    """The tokens of each address."""
    places: dict[int, list[int]] = {}
    for token, keys in enumerate(addresses):
        for key in keys:
            places.setdefault(key, []).append(token)
    return places


def _verb(places: dict[int, list[int]], key: int) -> list[int]:
    """The tokens of the verb that *key* is the auxiliary of."""
    return places.get(key - AUX, []) if key % STEP == AUX else []


def identity(src: str = "en", tgt: str = "de", *, split: str = "test", mixture: str = "general") -> dict[str, str]:
    """What a stream's sentences depend on besides their places: part of cache keys.

    >>> identity("en", "ja")["mixture"]
    'general-1'
    """
    _check(src, tgt, split, mixture)
    return {
        "corpus": "sandbox",
        "version": VERSION,
        "mixture": f"{mixture}-{mixtures()[mixture]['version']}",
        "split": _ALIASES.get(split, split),
        "src": src,
        "tgt": tgt,
    }


def _check(src: str, tgt: str, split: str, mixture: str) -> None:
    for lang in (src, tgt):
        if lang not in LANGUAGES:
            raise UnknownNameError("sandbox language", lang, LANGUAGES)
    if src == tgt:
        raise NbkitError(f"sandbox pairs: source and target are both '{src}'; choose two languages")
    if mixture not in mixtures():
        raise UnknownNameError("sandbox mixture", mixture, mixtures())
    known = (*SPLITS, *_ALIASES, *IDIOM_SPLITS) if has_idiom_splits(mixture) else tuple(SPLITS)
    if split not in known:
        raise UnknownNameError("sandbox split", split, known)


def training_splits() -> Iterator[tuple[str, str]]:
    """Every mixture with what models are trained on: its train and, where it has that, its idiom-train.

    >>> list(training_splits())[-2:]
    [('idioms', 'train'), ('idioms', 'idiom-train')]
    """
    for mixture in mixtures():
        yield mixture, "train"
        if has_idiom_splits(mixture):
            yield mixture, IDIOM_SPLITS[0]
