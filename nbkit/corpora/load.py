"""`load_pairs` and `CORPORA`: the pairs of any corpus, by a registered name (the sandbox among them) or a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, ClassVar

import yaml

from nbkit import sandbox
from nbkit.corpora.corpus import FORMATS, Corpus, FileCorpus, HubPlace, Layout, LocalPlace, Place, Request
from nbkit.corpora.idioms import IdiomPair, IdiomSplits
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.registry import Registry
from nbkit.store import Store
from nbkit.text.parsers import OnError, Skipped
from nbkit.text.sentences import Pair

# ----------------------------------------------------------------------------
# The sandbox as a registered corpus; the sandbox itself knows nothing of corpora.

DEFAULT_SPLIT = "test"


@dataclass(frozen=True)
class SandboxCorpus:
    """Drawn sentences of a mixture, with gold trees and alignments: no file, no parser, no malformed line.

    finite: splits that have a last pair.
    """

    name: str = "sandbox"
    mixture: str = "general"
    languages: tuple[str, ...] = sandbox.LANGUAGES
    endless: ClassVar[bool] = True
    splits: tuple[str, ...] = (DEFAULT_SPLIT, *(split for split in sandbox.SPLITS if split != DEFAULT_SPLIT))
    finite: tuple[str, ...] = ()

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop`` of the split; where it has no end, there must be an *n*."""
        self.identity(request)  # a split or a language that is not there is told first
        split = request.split or DEFAULT_SPLIT
        if request.n is None and split not in self.finite:
            raise NbkitError(f"corpus {self.name} has no last pair: say how many are wanted (n)")
        return sandbox.pairs(
            request.src, request.tgt, n=request.n, split=split, mixture=self.mixture, start=request.start
        )

    def identity(self, request: Request) -> dict[str, Any]:
        """The versions of the sandbox and of its mixture, and the split."""
        split = request.split or DEFAULT_SPLIT
        return dict(sandbox.identity(request.src, request.tgt, split=split, mixture=self.mixture))

    def problems(self, request: Request) -> list[str]:
        """A language or a split that the sandbox has not got."""
        try:
            self.identity(request)
        except NbkitError as error:
            return [str(error)]
        return []


SANDBOX = SandboxCorpus()


SANDBOX_NUMBERS = SandboxCorpus("sandbox-numbers", "numbers")


SANDBOX_HOMOGRAPHS = SandboxCorpus("sandbox-homographs", "homographs")


SANDBOX_IDIOMS = SandboxCorpus(
    "sandbox-idioms",
    "idioms",
    splits=(DEFAULT_SPLIT, "regular", "dev", *sandbox.IDIOM_SPLITS),
    finite=sandbox.IDIOM_SPLITS,
)


# ----------------------------------------------------------------------------
# The sandbox's idiom sentences in the form of those that the matcher finds and the files hold: `IdiomPair`.


def sandbox_idiom_pairs(tgt: str, split: str = "idiom-test") -> tuple[IdiomPair, ...]:
    """All pairs of idiom-train or idiom-test, from English, with the places of their idioms.

    Raises `UnknownNameError` for a language or split that there is not, `NbkitError` for a split of regular text.

    >>> pair = next(pair for pair in sandbox_idiom_pairs("fr") if pair.idiom == "a white elephant")
    >>> pair.words
    ('white elephant',)
    """
    found = []
    for pair in sandbox.pairs("en", tgt, n=None, split=split, mixture="idioms"):
        gold = sandbox.gold_idiom(pair)
        found.append(IdiomPair(pair.id, pair.source.text, pair.target.text, gold.idiom, gold.spans))
    return tuple(found)


def sandbox_idiom_splits(tgt: str) -> IdiomSplits:
    """Idiom-train and idiom-test of the sandbox; nothing is discarded, as each idiom has several pairs.

    >>> sandbox_idiom_splits("de").frequencies()["kick the bucket"]
    (72, 72)
    """
    return IdiomSplits(sandbox_idiom_pairs(tgt, "idiom-train"), sandbox_idiom_pairs(tgt, "idiom-test"), ())


# ----------------------------------------------------------------------------
# The corpora by name: `CORPORA`, filled from ``catalogue.yaml`` and open to anybody's own.

#: All corpora that have a name. Register your own: ``CORPORA.register("mine", corpus, summary="…")``.
CORPORA: Registry[Corpus] = Registry("corpus")


_SUFFIXES = {".tsv": "tsv", ".conllu": "conllu", ".parquet": "parquet"}


#: What may stand before the colon of a path; the four columns of coded-tsv need the catalogue's codes.
_PREFIXES = ("tsv", "moses", "conllu", "parquet")


def file_corpus(name: str, entry: dict[str, Any]) -> FileCorpus:
    """The corpus of a catalogue entry.

    >>> corpus = file_corpus("mine", {"format": "tsv", "files": "data/{src}-{tgt}.tsv", "languages": ["en", "de"]})
    >>> corpus.languages
    ('en', 'de')
    """
    if entry["format"] not in FORMATS:
        raise UnknownNameError(f"format of corpus {name}", entry["format"], FORMATS)
    hub = entry.get("hub")
    place: Place = (
        HubPlace(hub["repository"], hub["revision"], entry["files"], name) if hub else LocalPlace(entry["files"], name)
    )
    layout = Layout(
        languages=tuple(entry.get("languages", ())),
        splits=tuple(entry.get("splits", ())),
        columns=tuple(entry.get("columns", ())),
        header=entry.get("header", 0),
        pivot=entry.get("pivot"),
        codes=entry.get("codes", {}),
        varieties={lang: tuple(codes) for lang, codes in entry.get("varieties", {}).items()},
    )
    return FORMATS[entry["format"]](name, place, layout)


def find_corpus(spec: str) -> tuple[Corpus, str | None]:
    """The corpus that *spec* stands for, and the split it names.

    spec: a registered name, ``name:split``, ``tsv:PATH``, ``moses:PREFIX`` (``PREFIX.en``, ``PREFIX.de``),
    ``conllu:PATH``, ``parquet:PATH``, or a path that ends in .tsv, .conllu or .parquet. In a path,
    ``{src}``, ``{tgt}``, ``{pair}``, ``{lang}`` and environment variables are filled in.

    Raises `UnknownNameError` with the closest name, `NbkitError` for a path that cannot be a corpus.

    >>> find_corpus("pud")[0].languages
    ('en', 'de', 'fr', 'es', 'zh', 'ja')
    >>> find_corpus("multi30k:val")[1]
    'val'
    >>> find_corpus("multi3k")
    Traceback (most recent call last):
    ...
    nbkit.errors.UnknownNameError: unknown corpus 'multi3k'; did you mean 'multi30k'? There are: ...
    """
    head, colon, rest = spec.partition(":")
    if colon and head in _PREFIXES:
        return _path_corpus(spec, head, rest), None
    if head in CORPORA:
        if colon and not rest:
            raise NbkitError(f"corpus '{spec}' names no split after the colon")
        return CORPORA.get(head), rest or None
    for suffix, format_name in _SUFFIXES.items():
        if spec.endswith(suffix):
            return _path_corpus(spec, format_name, spec), None
    if "/" in spec:
        raise NbkitError(
            f"corpus '{spec}' is a path without a format; write tsv:PATH, moses:PREFIX, conllu:PATH or parquet:PATH"
        )
    raise UnknownNameError("corpus", head, CORPORA.names())


def _path_corpus(spec: str, format_name: str, path: str) -> FileCorpus:
    if not path:
        raise NbkitError(f"corpus '{spec}' names no path after the colon")
    if format_name == "moses" and "{lang}" not in path:
        path += ".{lang}"
    if format_name == "conllu" and "{lang}" not in path:
        raise NbkitError(
            f"corpus '{spec}': a CoNLL-U corpus has one file a language; write {{lang}} where the code stands"
        )
    return file_corpus(spec, {"format": format_name, "files": path})


def _register() -> None:
    CORPORA.register(
        "sandbox",
        "nbkit.corpora.load:SANDBOX",
        summary="the built-in world: eight languages, gold trees and word alignments",
    )
    CORPORA.register(
        "sandbox-numbers",
        "nbkit.corpora.load:SANDBOX_NUMBERS",
        summary="sentences of the built-in world with numbers in every written form; longer ones in test than in train",
    )
    CORPORA.register(
        "sandbox-homographs",
        "nbkit.corpora.load:SANDBOX_HOMOGRAPHS",
        summary="sentences of the built-in world with homographs; in test, the context often attracts another sense",
    )
    CORPORA.register(
        "sandbox-idioms",
        "nbkit.corpora.load:SANDBOX_IDIOMS",
        summary="regular text of the built-in world without idioms, and idiom sentences to train and to test on",
    )
    text = resources.files("nbkit.corpora").joinpath("catalogue.yaml").read_text("utf-8")
    for name, entry in yaml.safe_load(text).items():
        CORPORA.register(name, file_corpus(name, entry), summary=f"{entry['summary']} ({entry['licence']})")


_register()


# ----------------------------------------------------------------------------
# `load_pairs`: the pairs of any corpus; what identifies them; and the problems of a corpus.


def load_pairs(
    corpus: str,
    src: str,
    tgt: str,
    *,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
    store: Store | None = None,
    start: int = 0,
) -> Iterator[Pair]:
    """The first *n* pairs of a corpus (all without *n*), parsed on both sides, streaming.

    corpus: a registered name, ``name:split``, or a path; see `nbkit.corpora.load.find_corpus`.
    parsers: a spaCy pipeline (name or folder) a language, where it is not to be the default one; corpora with
    gold trees need none.
    on_error: "raise" ends with the first malformed line, "skip" leaves it out and adds it to *skipped*. Left
    out lines do not count towards *n*.
    store: where parses are remembered (default: `Store()`).
    start: leave out this many pairs first, unparsed: ``n=100, start=100`` is the second hundred.

    Raises `UnknownNameError` (corpus, split, language), `MissingExtraError` (parser), `DataError` (file and
    line), `NbkitError` (files, environment variables, hub), the first two before anything is read.
    """
    found, split = find_corpus(corpus)
    if n is not None and n < 1:
        raise NbkitError(f"n is {n}; at least one pair is needed (or no n, for all of corpus {corpus})")
    if start < 0:
        raise NbkitError(f"start is {start}; it counts pairs from 0")
    return found.pairs(Request(src, tgt, split, n, parsers, on_error, skipped, store, start))


def is_endless(corpus: str) -> bool:
    """Whether a corpus has no last pair, so that there must be an *n*. Raises as `find_corpus` does.

    >>> is_endless("sandbox-idioms:regular"), is_endless("sandbox-idioms:idiom-test"), is_endless("pud")
    (True, False, False)
    """
    found, split = find_corpus(corpus)
    return getattr(found, "endless", False) and (split or found.splits[0]) not in getattr(found, "finite", ())


def corpus_identity(
    corpus: str,
    src: str,
    tgt: str,
    *,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What the pairs of `load_pairs` depend on, for cache keys: content digests or pinned revisions, the
    parsers' identities, languages and *n*. Reads files but parses nothing.
    """
    found, split = find_corpus(corpus)
    identity = found.identity(Request(src, tgt, split, n, parsers))
    return {**identity, "src": src, "tgt": tgt, "n": n}


def check_corpus(
    corpus: str,
    src: str,
    tgt: str,
    parsers: Mapping[str, str] | None = None,
    *,
    n: int | None = None,
    on_error: OnError = "raise",
) -> list[str]:
    """What stands in the way of `load_pairs`, a message each: an unknown name, a language or split that the
    corpus has not got, files, variables, the hub, parsers. Files of this machine are read, as far as the first
    *n* pairs, and the first malformed line is named. Loads no parser.

    >>> check_corpus("sandbocks", "en", "de")
    ["unknown corpus 'sandbocks'; did you mean 'sandbox'? There are: ..."]
    """
    try:
        found, split = find_corpus(corpus)
        return found.problems(Request(src, tgt, split, n, parsers, on_error))
    except NbkitError as error:
        return [str(error)]
