"""What a corpus is to the rest of nbkit (`Corpus`), the corpora that are read from files, and where their files are."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from nbkit.corpora.readers import (
    Pair,
    RawPair,
    content_problem,
    read_coded_tsv,
    read_moses,
    read_parquet,
    read_treebanks,
    read_tsv,
)
from nbkit.errors import DataError, NbkitError, UnknownNameError
from nbkit.files import expand_path, file_digest, keep_good
from nbkit.languages import check_language
from nbkit.store import Store
from nbkit.text.parsers import (
    OnError,
    Skipped,
    check_parser,
    check_usable,
    find_pipeline,
    parse_remembered,
    parser_for,
    parser_identity,
)

# ----------------------------------------------------------------------------
# Where the files of a corpus are: on this machine, or in a pinned revision of a repository of the hub.

_FIELD = re.compile(r"(?<!\$)\{(\w*)\}")


class Place(Protocol):
    """Finds files by a template whose ``{fields}`` are filled in."""

    def path(self, fields: Mapping[str, str]) -> Path:
        """The file on this machine, fetched if need be. Raises `NbkitError` with the way out."""

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """What stands for the file's content in cache keys; fetches nothing."""

    def problem(self, fields: Mapping[str, str]) -> str | None:
        """Why the file cannot be had, or None. Fetches nothing."""


def fill(template: str, fields: Mapping[str, str], thing: str) -> str:
    """*template* with its ``{fields}`` filled in; ``${VARIABLES}`` are left for `expand_path`.

    >>> fill("${DATA}/{split}.{lang}", {"split": "test", "lang": "de"}, "corpus")
    '${DATA}/test.de'
    >>> fill("{language}.txt", {"lang": "de", "src": "en"}, "corpus")
    Traceback (most recent call last):
    ...
    nbkit.errors.NbkitError: corpus '{language}.txt': {language} cannot be filled in; there are {lang}, {src}
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in fields:
            known = ", ".join(f"{{{name}}}" for name in fields)
            raise NbkitError(f"{thing} '{template}': {match[0]} cannot be filled in; there are {known}")
        return fields[match[1]]

    return _FIELD.sub(value, template)


@dataclass(frozen=True)
class LocalPlace:
    """Files of this machine. template: a path, with environment variables and ``{fields}``."""

    template: str
    corpus: str

    def path(self, fields: Mapping[str, str]) -> Path:
        thing = f"corpus {self.corpus}: the path"
        path = Path(expand_path(fill(self.template, fields, thing), thing))
        if not path.is_file():
            raise NbkitError(f"corpus {self.corpus}: there is no file {path} (meant by '{self.template}')")
        return path

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        path = self.path(fields)
        return {"file": path.name, "digest": file_digest(path)}

    def problem(self, fields: Mapping[str, str]) -> str | None:
        try:
            self.path(fields)
        except NbkitError as error:
            return str(error)
        return None


@dataclass(frozen=True)
class HubPlace:
    """One file of a data set repository at a pinned revision, kept in the hub's own cache (``HF_HOME``).

    Single files are fetched, never a repository's loading script. local: what can be given in its place.
    """

    repository: str
    revision: str
    template: str
    corpus: str
    local: str = "pairs.tsv, moses:PREFIX, conllu:PATH"

    def path(self, fields: Mapping[str, str]) -> Path:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.utils import httpx

        # Asked first because it fails at once where there is no network; a download tries again for half a minute.
        if problem := self.problem(fields):
            raise NbkitError(problem)
        name = self._name(fields)
        try:
            return Path(hf_hub_download(self.repository, name, repo_type="dataset", revision=self.revision))
        except (httpx.HTTPError, OSError) as error:
            raise NbkitError(self._unreachable(name, error)) from error

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        return {"repository": self.repository, "revision": self.revision, "file": self._name(fields)}

    def problem(self, fields: Mapping[str, str]) -> str | None:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
        from huggingface_hub.utils import httpx

        name = self._name(fields)
        cached = try_to_load_from_cache(self.repository, name, repo_type="dataset", revision=self.revision)
        if isinstance(cached, str):
            return None
        url = hf_hub_url(self.repository, name, repo_type="dataset", revision=self.revision)
        try:
            get_hf_file_metadata(url, timeout=10)
        except (httpx.HTTPError, OSError) as error:
            return self._unreachable(name, error)
        return None

    def _name(self, fields: Mapping[str, str]) -> str:
        return fill(self.template, fields, f"corpus {self.corpus}")

    def _unreachable(self, name: str, error: Exception) -> str:
        from huggingface_hub.constants import HF_HUB_CACHE

        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        return (
            f"corpus {self.corpus}: {name} of the data set {self.repository} (revision {self.revision[:12]}) is "
            f"neither in the cache {HF_HUB_CACHE} nor can it be fetched ({type(error).__name__}: {reason}). Set "
            f"HF_HOME to a folder that has it, or give local files as the corpus ({self.local})"
        )


# ----------------------------------------------------------------------------
# What a corpus is to the rest of nbkit, and the corpora that are read from files.

#: Pairs that are parsed at a time: a corpus of any size is read in as much memory as these need.
CHUNK = 2000


#: Counts up when the same files are read as other pairs, so that results on the old ones are not used.
READING = 1


@dataclass(frozen=True)
class Request:
    """Which pairs of a corpus are meant, and how they are read (see `nbkit.corpora.load_pairs`)."""

    src: str
    tgt: str
    split: str | None = None
    n: int | None = None
    parsers: Mapping[str, str] | None = None
    on_error: OnError = "raise"
    skipped: Skipped | None = None
    store: Store | None = None
    start: int = 0

    @property
    def stop(self) -> int | None:
        """The number of the first pair that is not meant any more; None where all are."""
        return None if self.n is None else self.start + self.n


class Corpus(Protocol):
    """Anything that can be registered in `CORPORA`.

    languages: codes it has, none where it takes any. splits: the first one is the default, none where it has one.
    One without a last pair, such as the sandbox, has ``endless = True``; of its splits, those in ``finite`` have one.
    """

    @property
    def languages(self) -> tuple[str, ...]: ...

    @property
    def splits(self) -> tuple[str, ...]: ...

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop``, streaming."""

    def identity(self, request: Request) -> dict[str, Any]:
        """What the pairs depend on, for cache keys: file digests or revisions, the parsers."""

    def problems(self, request: Request) -> list[str]:
        """What stands in the way of `pairs`; local files are read as far as `pairs` would, without parsing."""


@dataclass(frozen=True)
class Layout:
    """What a catalogue entry says about its files besides their place; see ``catalogue.yaml``."""

    languages: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    header: int = 0
    pivot: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    varieties: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class FileCorpus(ABC):
    """A corpus in files at a `Place`."""

    name: str
    place: Place
    layout: Layout = Layout()

    @property
    def languages(self) -> tuple[str, ...]:
        return self.layout.languages

    @property
    def splits(self) -> tuple[str, ...]:
        return self.layout.splits

    @abstractmethod
    def pairs(self, request: Request) -> Iterator[Pair]:
        """The good pairs ``request.start`` to ``request.stop``."""

    @abstractmethod
    def raw_pairs(self, request: Request) -> Iterator[Any]:
        """All pairs as the files have them, and a `DataError` in the place of each malformed one."""

    def identity(self, request: Request) -> dict[str, Any]:
        """How the files are read, and digest or revision of each; the same under whatever name or path they go."""
        self.check(request)
        return {
            "reader": type(self).__name__,
            "version": READING,
            "columns": list(self.layout.columns),
            "header": self.layout.header,
            "varieties": {lang: list(codes) for lang, codes in self.layout.varieties.items()},
            "files": [self.place.identity(fields) for fields in self._files(request)],
        }

    def problems(self, request: Request) -> list[str]:
        """Languages, split and files; in local files, the first malformed one of the pairs that are meant."""
        try:
            self.check(request)
            fields = self._files(request)
            absent = [problem for one in fields if (problem := self.place.problem(one))]
            if absent or not isinstance(self.place, LocalPlace):
                return absent
            problem = content_problem(self.raw_pairs(request), request.on_error, request.start, request.stop)
        except NbkitError as error:
            return [str(error)]
        files = " and ".join(str(self.place.path(one)) for one in fields)
        return [f"{files}: {problem}"] if problem else []

    def check(self, request: Request) -> None:
        """Raises `NbkitError` where the corpus has not got the split or the languages that are asked for."""
        self._split(request)
        for lang in (request.src, request.tgt):
            check_language(lang)
            if self.languages and lang not in self.languages:
                raise NbkitError(f"corpus {self.name} has no '{lang}'; it has {', '.join(self.languages)}")
        pivot = self.layout.pivot
        if pivot and pivot not in (request.src, request.tgt):
            raise NbkitError(
                f"corpus {self.name} has no pairs {request.src}-{request.tgt}: one side is always '{pivot}'"
            )

    def _split(self, request: Request) -> str | None:
        if request.split is None:
            return self.splits[0] if self.splits else None
        if request.split not in self.splits:
            raise UnknownNameError(f"split of corpus {self.name}", request.split, self.splits)
        return request.split

    def _files(self, request: Request) -> list[dict[str, str]]:
        """The template fields of each file that the corpus consists of: one file, unless a reader says otherwise."""
        return [self._fields(request)]

    def _fields(self, request: Request, **more: str) -> dict[str, str]:
        codes = [self.layout.codes.get(lang, lang) for lang in (request.src, request.tgt)]
        fields = {"src": request.src, "tgt": request.tgt, "pair": "-".join(sorted(codes)), **more}
        split = self._split(request)
        return fields | ({"split": split} if split else {})

    def _side_fields(self, request: Request) -> list[dict[str, str]]:
        return [self._fields(request, lang=lang) for lang in (request.src, request.tgt)]

    def _paths(self, request: Request) -> list[Path]:
        self.check(request)
        return [self.place.path(fields) for fields in self._files(request)]


class RawCorpus(FileCorpus):
    """Raw text on both sides, which a parser of each language turns into `Text`s."""

    @abstractmethod
    def raw_pairs(self, request: Request) -> Iterator[RawPair | DataError]:
        """The unparsed pairs, and the malformed lines in their places."""

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The good pairs ``request.start`` to ``request.stop``; `CHUNK` of them are parsed at a time.

        Raises at once, before anything is read, where a file or a parser is missing.
        """
        raw = self.raw_pairs(request)
        specs = [parser_for(lang, request.parsers) for lang in (request.src, request.tgt)]
        for spec, lang in zip(specs, (request.src, request.tgt), strict=True):
            check_usable(find_pipeline(spec), spec, lang)
        good = islice(keep_good(raw, request.on_error, request.skipped), request.start, request.stop)
        return self._parsed(good, request, *specs)

    @staticmethod
    def _parsed(raw: Iterator[RawPair], request: Request, source_parser: str, target_parser: str) -> Iterator[Pair]:
        store = request.store or Store()
        while chunk := list(islice(raw, CHUNK)):
            sources = parse_remembered([pair.source for pair in chunk], source_parser, request.src, store=store)
            targets = parse_remembered([pair.target for pair in chunk], target_parser, request.tgt, store=store)
            for pair, source, target in zip(chunk, sources, targets, strict=True):
                yield Pair(pair.id, source, target)

    def identity(self, request: Request) -> dict[str, Any]:
        """As for any files, and both parsers."""
        parsers = [parser_identity(parser_for(lang, request.parsers), lang) for lang in (request.src, request.tgt)]
        return super().identity(request) | {"parsers": parsers}

    def problems(self, request: Request) -> list[str]:
        """As for any files, and whether both parsers are there."""
        problems = super().problems(request)
        for lang in dict.fromkeys((request.src, request.tgt)):
            try:
                problem = check_parser(parser_for(lang, request.parsers), lang)
            except NbkitError as error:  # an unknown language is named by the check of the files already
                problem = str(error) if str(error) not in problems else None
            problems += [problem] if problem else []
        return problems


class TsvCorpus(RawCorpus):
    """Two tab-separated columns: source and target, or the languages that ``layout.columns`` names."""

    def raw_pairs(self, request: Request) -> Iterator[RawPair | DataError]:
        (path,) = self._paths(request)
        columns = self.layout.columns or (request.src, request.tgt)
        source, target = columns.index(request.src), len(columns) - 1 - columns[::-1].index(request.tgt)
        return read_tsv(path, source, target, self.layout.header)


class CodedTsvCorpus(RawCorpus):
    """The Tatoeba Challenge's four columns: language codes, texts."""

    def raw_pairs(self, request: Request) -> Iterator[RawPair | DataError]:
        (path,) = self._paths(request)
        return read_coded_tsv(path, self._codes(request.src), self._codes(request.tgt))

    def _codes(self, lang: str) -> tuple[str, ...]:
        return self.layout.varieties.get(lang) or (self.layout.codes.get(lang, lang),)


class MosesCorpus(RawCorpus):
    """Two line-aligned files, one a language."""

    def _files(self, request: Request) -> list[dict[str, str]]:
        return self._side_fields(request)

    def raw_pairs(self, request: Request) -> Iterator[RawPair | DataError]:
        source, target = self._paths(request)
        return read_moses(source, target)


class ParquetCorpus(RawCorpus):
    """A Parquet file with a ``translation`` column."""

    def raw_pairs(self, request: Request) -> Iterator[RawPair | DataError]:
        (path,) = self._paths(request)
        codes = self.layout.codes
        return read_parquet(path, codes.get(request.src, request.src), codes.get(request.tgt, request.tgt))


class ConlluCorpus(FileCorpus):
    """Two CoNLL-U files with the same sentences: gold trees, no parser."""

    def _files(self, request: Request) -> list[dict[str, str]]:
        return self._side_fields(request)

    def raw_pairs(self, request: Request) -> Iterator[Pair | DataError]:
        source, target = self._paths(request)
        return read_treebanks(source, target, request.src, request.tgt)

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The good pairs ``request.start`` to ``request.stop``."""
        pairs = self.raw_pairs(request)
        return islice(keep_good(pairs, request.on_error, request.skipped), request.start, request.stop)


#: The formats by the name that a catalogue or a corpus ``format:path`` gives them.
FORMATS: dict[str, type[FileCorpus]] = {
    "tsv": TsvCorpus,
    "coded-tsv": CodedTsvCorpus,
    "moses": MosesCorpus,
    "parquet": ParquetCorpus,
    "conllu": ConlluCorpus,
}
