"""Natural language inference: the sets by name, pairs of any of them, and what identifies these.

A corpus is a name of `NLI_CORPORA` (``sick``, ``sick:train``) or a file of one's own: JSON lines, TSV with a header,
or Parquet. Columns are recognised by their names or given behind a question mark:
``mine.tsv?premise=a&hypothesis=b&label=gold``; ``&classes=entailment,neutral,contradiction`` says what integer
labels stand for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from nbkit.corpora.nli_files import FORMATS, NliFiles, Unlabelled, catalogue, named_files
from nbkit.corpora.nli_pair import LABELS, NliPair, RawNli
from nbkit.corpora.nli_sandbox import NliSandbox
from nbkit.corpora.nli_tokens import (
    check_tokenizer,
    has_parts_of_speech,
    tokenised,
    tokenizer_for,
    tokenizer_identity,
)
from nbkit.corpora.places import LocalPlace
from nbkit.corpora.readers import content_problem
from nbkit.errors import DataError, NbkitError, UnknownNameError
from nbkit.languages import check_language
from nbkit.registry import Registry
from nbkit.store import Store
from nbkit.syntax import OnError, Skipped
from nbkit.syntax.skipped import keep_good

__all__ = [
    "LABELS",
    "NLI_CORPORA",
    "NliPair",
    "check_nli",
    "find_nli",
    "load_nli",
    "nli_identity",
    "nli_tokenizer",
    "raw_nli",
]

NliCorpus: TypeAlias = NliFiles | NliSandbox

#: All NLI sets that have a name. Register your own: ``NLI_CORPORA.register("mine", named_files("mine", {…}))``.
NLI_CORPORA: Registry[NliCorpus] = Registry("NLI corpus")

#: Pairs that are tokenised at a time: a corpus of any size is read in as much memory as these need.
CHUNK = 1000

_SUFFIXES = {".jsonl": "jsonl", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet"}


def load_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    start: int = 0,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
    store: Store | None = None,
) -> Iterator[NliPair]:
    """The pairs ``start … start + n - 1`` of an NLI set (all without *n*), tokenised, streaming.

    corpus: a name, ``name:split`` or a path (see this module). lang: the language it is written in.
    parsers: language to what cuts its texts: a spaCy pipeline (name or folder), "tokenizer" or "jieba"; see
    `nbkit.corpora.nli_tokens`. The sandbox needs none.
    on_error: "raise" ends with the first malformed row, "skip" leaves it out and adds it to *skipped*. Rows without
    a gold label are always left out and added to *skipped*. Neither counts towards *n* and *start*.
    store: where parses are remembered (default: `Store()`).

    Raises `UnknownNameError` (corpus, split), `MissingExtraError` (parser), `DataError` (file and line),
    `NbkitError` (language, files, hub).
    """
    found, split = _found(corpus, lang, split, n, start)
    if isinstance(found, NliSandbox):
        return found.pairs(lang, split, start, n)
    spec = tokenizer_for(lang, parsers)
    problem = check_tokenizer(spec, lang)
    if problem:
        raise NbkitError(problem)
    raw = _good(found.raw(lang, split), on_error, skipped)
    return _tokenised(islice(raw, start, None if n is None else start + n), spec, lang, store or Store())


def raw_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    start: int = 0,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Premise, hypothesis and label as running text, for training: no tokenizer, no parser. Otherwise as `load_nli`."""
    found, split = _found(corpus, lang, split, n, start)
    if isinstance(found, NliSandbox):
        drawn = found.pairs(lang, split, start, n)
        return ((pair.premise.text, pair.hypothesis.text, pair.label) for pair in drawn)
    raw = _good(found.raw(lang, split), on_error, skipped)
    stop = None if n is None else start + n
    return ((pair.premise, pair.hypothesis, pair.label) for pair in islice(raw, start, stop))


def nli_identity(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What the pairs of `load_nli` depend on, for cache keys: the file's digest or pinned revision, how it is read,
    the tokenizer's identity, language and *n*. Reads files but parses nothing.
    """
    found, split = _found(corpus, lang, split, n, 0)
    tokens = {} if isinstance(found, NliSandbox) else tokenizer_identity(tokenizer_for(lang, parsers), lang)
    return {**found.identity(lang, split), "tokens": tokens, "lang": lang, "n": n}


def nli_tokenizer(corpus: str, lang: str, parsers: Mapping[str, str] | None = None) -> tuple[str, bool]:
    """What cuts the texts of *corpus* into tokens, and whether it tags parts of speech.

    >>> nli_tokenizer("sandbox", "en"), nli_tokenizer("sick", "en", {"en": "tokenizer"})
    (('gold', True), ('tokenizer', False))
    """
    if isinstance(find_nli(corpus)[0], NliSandbox):
        return "gold", True
    spec = tokenizer_for(lang, parsers)
    return spec, has_parts_of_speech(spec)


def check_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
) -> list[str]:
    """What stands in the way of `load_nli`, a message each. Files of this machine are read, as far as the first *n*
    pairs, and the first malformed row is named. Loads no parser.

    >>> check_nli("sik", "en", n=10)
    ["unknown NLI corpus 'sik'; did you mean 'sick'? There are: ..."]
    """
    try:
        found, split = _found(corpus, lang, split, n, 0)
    except NbkitError as error:
        return [str(error)]
    problems = found.problems(lang, split) or _content_problems(found, lang, split, n, on_error)
    if found.endless and n is None:
        problems.append(f"NLI corpus {found.name} has no last pair: say how many are wanted (n)")
    if isinstance(found, NliSandbox):
        return problems
    problem = check_tokenizer(tokenizer_for(lang, parsers), lang)
    return [*problems, problem] if problem else problems


def _content_problems(found: NliCorpus, lang: str, split: str | None, n: int | None, on_error: OnError) -> list[str]:
    if isinstance(found, NliSandbox) or not isinstance(found.place, LocalPlace):
        return []
    try:
        problem = content_problem(_labelled(found.raw(lang, split), None), on_error, 0, n)
    except NbkitError as error:
        return [str(error)]
    return [f"NLI corpus {found.name}: {problem}"] if problem else []


def find_nli(spec: str) -> tuple[NliCorpus, str | None]:
    """The NLI set that *spec* stands for, and the split it names.

    Raises `UnknownNameError` with the closest name, `NbkitError` for a path that cannot be a corpus.

    >>> find_nli("sick:train")[1], find_nli("snli")[0].splits
    ('train', ('test', 'dev', 'train'))
    >>> find_nli("mine.tsv?label=gold")[0].columns
    {'label': 'gold'}
    """
    path, question, query = spec.partition("?")
    suffix = next((suffix for suffix in _SUFFIXES if path.endswith(suffix)), None)
    if suffix:
        return _own_file(spec, path, _SUFFIXES[suffix], query if question else ""), None
    head, colon, split = path.partition(":")
    if head in NLI_CORPORA:
        if colon and not split:
            raise NbkitError(f"NLI corpus '{spec}' names no split after the colon")
        return NLI_CORPORA.get(head), split or None
    if "/" in spec:
        raise NbkitError(f"NLI corpus '{spec}' is a path to no known format; it has to end in {', '.join(_SUFFIXES)}")
    raise UnknownNameError("NLI corpus", head, NLI_CORPORA.names())


def _own_file(spec: str, path: str, format_name: str, query: str) -> NliFiles:
    given = {name: values[-1] for name, values in parse_qs(query).items()}
    classes = tuple(given.pop("classes", "").split(",")) if "classes" in given else ()
    unknown = next((name for name in given if name not in catalogue()["columns"]), None)
    if unknown:
        raise UnknownNameError(f"column of NLI corpus '{spec}'", unknown, [*catalogue()["columns"], "classes"])
    if classes and sorted(classes) != sorted(LABELS):
        raise NbkitError(f"NLI corpus '{spec}': classes are {', '.join(LABELS)} in the order of the file's integers")
    assert format_name in FORMATS
    return NliFiles(name=path, format=format_name, place=LocalPlace(path, path), columns=given, classes=classes)


def _found(corpus: str, lang: str, split: str | None, n: int | None, start: int) -> tuple[NliCorpus, str | None]:
    """The corpus and its split, with the numbers checked."""
    found, named = find_nli(corpus)
    check_language(lang)
    if split and named and split != named:
        raise NbkitError(f"NLI corpus '{corpus}' names the split '{named}', but split is '{split}'; give one of them")
    if n is not None and n < 1:
        raise NbkitError(f"n is {n}; at least one pair is needed (or no n, for all of NLI corpus {corpus})")
    if start < 0:
        raise NbkitError(f"start is {start}; it counts pairs from 0")
    return found, split or named


def _good(rows: Iterator[RawNli | DataError], on_error: OnError, skipped: Skipped | None) -> Iterator[RawNli]:
    return keep_good(_labelled(rows, skipped), on_error, skipped)


def _labelled(rows: Iterator[RawNli | DataError], skipped: Skipped | None) -> Iterator[RawNli | DataError]:
    """*rows* without those that have no gold label, which are counted and never an error."""
    for row in rows:
        if not isinstance(row, Unlabelled):
            yield row
        elif skipped is not None:
            skipped.add(row)


def _tokenised(raw: Iterator[RawNli], spec: str, lang: str, store: Store) -> Iterator[NliPair]:
    while chunk := list(islice(raw, CHUNK)):
        texts = tokenised([text for pair in chunk for text in (pair.premise, pair.hypothesis)], spec, lang, store)
        for pair, premise, hypothesis in zip(chunk, texts[::2], texts[1::2], strict=True):
            yield NliPair(pair.id, premise, hypothesis, pair.label, pair.note)


def _register() -> None:
    NLI_CORPORA.register(
        "sandbox",
        "nbkit.corpora.nli_sandbox:SANDBOX",
        summary="the built-in world: entailment, neutral and contradiction by rule, with gold parts of speech",
    )
    for name, entry in catalogue()["corpora"].items():
        NLI_CORPORA.register(name, named_files(name, entry), summary=entry["summary"])


_register()
