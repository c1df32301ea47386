"""Corpora of sentence pairs: where their files are, how they are read, which are known by name, and `load_pairs`.

Files are read line by line: a good pair, or an error that describes the line. Errors are items of the stream, so that
one place decides between raising and skipping (`nbkit.files.keep_good`). What shifts every later pair (files of unequal
length) is always raised.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeGuard

from nbkit.corpora import sandbox
from nbkit.errors import DataError, NbkitError, UnknownNameError, as_problem
from nbkit.files import (
    OnError,
    Skipped,
    aligned_lines,
    closest_place,
    expand_path,
    file_digest,
    good,
    json_rows,
    keep_good,
    read_lines,
)
from nbkit.languages import base_language, check_language, serving
from nbkit.registry import Registry
from nbkit.store import Store
from nbkit.text.conllu import conllu_entries
from nbkit.text.form import one_form
from nbkit.text.parsers import check_parser, check_usable, find_pipeline, parse_remembered, parser_for, parser_identity
from nbkit.text.sentences import Pair
from nbkit.yaml_text import read_own

# ----------------------------------------------------------------------------
# Files of sentence pairs.

#: Rows of a Parquet file that are in memory at a time.
PARQUET_ROWS = 1000


@dataclass(frozen=True)
class RawPair:
    """An unparsed pair; id: its line number, from 1."""

    id: str
    source: str
    target: str


def content_problem(items: Iterable[Any], on_error: OnError, start: int = 0, stop: int | None = None) -> str | None:
    """Why none of *items* from *start* to *stop* is usable, or None. Reads them all.

    Raises the first `DataError` among *items* up to there, unless *on_error* is "skip".

    >>> content_problem(["a pair"], "raise"), content_problem([DataError("empty line", "x.tsv", 1)], "skip")
    (None, 'it contains no usable pair; 1 was skipped, the first because of x.tsv:1: empty line')
    """
    skipped = Skipped()
    good = sum(1 for _ in islice(keep_good(items, on_error, skipped), start, stop))
    if good:
        return None
    if not skipped:
        return "it contains no pair" + (f" after the first {start}" if start else "")
    passed_over = f"{len(skipped)} {'was' if len(skipped) == 1 else 'were'} skipped"
    return f"it contains no usable pair; {passed_over}, the first because of {skipped[0]}"


def tsv_rows(path: Path, columns: int | None = None, header: int = 0) -> Iterator[tuple[int, list[str] | DataError]]:
    """The cells of each line behind the *header*, numbered. columns: how many there are; None: as many as at first."""
    for number, line in islice(read_lines(path), header, None):
        if isinstance(line, DataError):
            yield number, line
            continue
        cells = line.split("\t")
        if columns is None:
            columns = len(cells)
            yield number, cells
        elif not line.strip():
            yield number, DataError("empty line", path, number)
        elif len(cells) != columns:
            yield number, DataError(f"expected {columns} tab-separated columns, found {len(cells)}", path, number)
        else:
            yield number, cells


def read_tsv(path: Path, source: int = 0, target: int = 1, header: int = 0) -> Iterator[RawPair | DataError]:
    """Two tab-separated columns, numbered by *source* and *target*. The first *header* lines are skipped."""
    for number, cells in tsv_rows(path, 2, header):
        yield cells if isinstance(cells, DataError) else as_pair([cells[source], cells[target]], path, number)


def read_coded_tsv(path: Path, source: Collection[str], target: Collection[str]) -> Iterator[RawPair | DataError]:
    """The Tatoeba Challenge's four columns: two language codes, two texts.

    source, target: the codes that are meant. Rows of another variety (``cmn_Hant`` beside ``cmn_Hans``) are
    not part of the corpus; they are passed over, not counted as malformed.
    """
    for number, cells in tsv_rows(path, 4):
        if isinstance(cells, DataError):
            yield cells
        elif cells[0] in source and cells[1] in target:
            yield as_pair(cells[2:], path, number)
        elif cells[1] in source and cells[0] in target:
            yield as_pair([cells[3], cells[2]], path, number)


def read_moses(source: Path, target: Path) -> Iterator[RawPair | DataError]:
    """Two files of which line *n* of one translates line *n* of the other."""
    for number, lines in aligned_lines(source, target):
        yield as_pair(lines, source, number, target)


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file, numbered from 1, in as much memory as `PARQUET_ROWS` of them need.

    (`datasets` reads a whole row group at a time, which in many files is all of it.)
    Raises `NbkitError` if it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=PARQUET_ROWS)
            yield from enumerate(chain.from_iterable(map(pa.RecordBatch.to_pylist, batches)), start=1)
    except (OSError, pa.ArrowException) as error:
        raise NbkitError(f"corpus file {path} cannot be read as Parquet: {error}") from error


#: What columns of source, reference and translation are called in people's files; the first that a row has counts.
COLUMNS = {
    "source": ("source", "src_text", "source_text", "src"),
    "target": ("target", "reference", "refs", "ref", "tgt_text", "target_text", "tgt"),
    "hypothesis": ("hypothesis", "translation", "tgt_text", "mt"),
}
#: What stands for a column that is not there.
_MISSING = object()
_DIRECTION = (("src_lang", "source_lang"), ("tgt_lang", "target_lang"))
#: A line of a log of fairseq-generate: what it is of which sentence; scores stand before hypotheses.
_FAIRSEQ = re.compile(r"([STHD])-(\d+)\t(.*)")


def fairseq_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The sentences of a log of fairseq-generate in their order: source, target and best hypothesis (D, else H)."""
    found: dict[int, dict[str, str]] = {}
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            yield number, line
        elif match := _FAIRSEQ.fullmatch(line):
            kind, n, text = match.groups()
            text = text.partition("\t")[2] if kind in "HD" else text
            found.setdefault(int(n), {}).setdefault(kind, text.replace("@@ ", ""))
    for n in sorted(found):
        named = zip(COLUMNS, (found[n].get("S"), found[n].get("T"), found[n].get("D", found[n].get("H"))), strict=True)
        yield n + 1, {name: text for name, text in named if text is not None}


def text_of(row: Mapping[str, Any], side: str, lang: str) -> str | None:
    """The *side* (of `COLUMNS`) of a row: in a column or a ``translation`` that names the language, else by its name.

    >>> text_of({"src_text": "A dog.", "refs": {"refA": {"ref": "Ein Hund."}}}, "target", "de")
    'Ein Hund.'
    """
    inner = row.get("translation")
    known = {**row, **inner} if isinstance(inner, dict) else row
    named = (known[name] for name in (lang, *COLUMNS[side]) if name in known)
    value = next((each for each in named if not isinstance(each, dict) or each is row.get("refs")), _MISSING)
    while isinstance(value, dict):
        value = next(iter(value.values()), "")
    return None if value is _MISSING else str(value or "").replace("\n", " ")


def is_of(row: Mapping[str, Any], src: str, tgt: str) -> bool:
    """Whether a row is of a direction, by the languages that it names (``src_lang``, ``lp``); those of no name are.

    >>> is_of({"lp": "en-cs_CZ"}, "en", "cs"), is_of({}, "en", "de"), is_of({"lp": "de-en"}, "en", "de")
    (True, True, False)
    """
    named = [next((str(row[name]) for name in names if name in row), "") for names in _DIRECTION]
    named = named if all(named) else str(row.get("lp", "")).split("-")
    return len(named) != 2 or all(map(_is_in, named, (src, tgt)))


@lru_cache(maxsize=1024)
def _is_in(code: str, lang: str) -> bool:
    return lang in (code, base_language(code)) or serving(code.replace("_", "-"), [lang]) is not None


def read_rows(
    rows: Iterable[tuple[int, Mapping[str, Any] | DataError]], path: Path, src: str, tgt: str, codes: Sequence[str]
) -> Iterator[RawPair | DataError]:
    """Pairs of rows with named columns (`text_of`). Rows of another direction are passed over. codes: as columns have
    the languages."""
    for number, row in rows:
        if isinstance(row, DataError):
            yield row
        elif is_of(row, src, tgt):
            sides = [text_of(row, side, code) for side, code in zip(("source", "target"), codes, strict=True)]
            if None in sides:
                yield DataError(
                    f"no translation from {codes[0]} into {codes[1]} in columns {', '.join(row)}", path, number
                )
            else:
                yield as_pair([side or "" for side in sides], path, number)


def lines_of(path: Path, src: str, tgt: str) -> dict[str, list[str]]:
    """The lines of a log or of JSON, by names of files: ``source.en``, ``reference.de`` and each system's.

    Raises `DataError` for a row without a source, and for a reference or a system that some rows lack.
    """
    found: dict[str, list[str]] = {}
    rows = json_rows(path) if path.suffix in (".json", ".jsonl") else fairseq_rows(path)
    of_pair = ((number, good(row)) for number, row in rows)
    for n, (number, row) in enumerate((number, row) for number, row in of_pair if is_of(row, src, tgt)):
        systems = row["tgt_text"] if isinstance(row.get("tgt_text"), dict) else None
        systems = systems or {path.stem: text_of(row, "hypothesis", tgt)}
        texts = {f"source.{src}": text_of(row, "source", src), f"reference.{tgt}": text_of(row, "target", tgt)}
        texts |= {f"{name.replace('/', '_')}.{tgt}": text and text.replace("\n", " ") for name, text in systems.items()}
        known = {name: text for name, text in texts.items() if text is not None}
        if f"source.{src}" not in known or (n and known.keys() != found.keys()):
            raise DataError(
                f"texts for {', '.join(known)}; expected {', '.join(found) or f'source.{src}'}", path, number
            )
        for name, text in known.items():
            found.setdefault(name, []).append(text)
    if not found:
        raise DataError(f"it contains no row for {src}-{tgt}", path)
    return found


def as_pair(
    sides: Sequence[str | DataError], path: Path, number: int, target_path: Path | None = None
) -> RawPair | DataError:
    """The pair of line *number*, or what is wrong with one of its sides."""
    for side, name, place in zip(sides, ("source", "target"), (path, target_path or path), strict=True):
        if isinstance(side, DataError):
            return side
        if not one_form(side).strip():  # nothing visible
            return DataError(f"the {name} side is empty", place, number)
    return RawPair(str(number), *map(str, sides))


def read_treebanks(source: Path, target: Path, src: str, tgt: str) -> Iterator[Pair | DataError]:
    """Two CoNLL-U files with the same sentences in the same order. A pair has the source's ``sent_id``.

    Raises `DataError` if one file ends before the other, or where the files share their ``sent_id``s (as
    the Parallel Universal Dependencies do) and two of them differ.
    """
    shared: bool | None = None
    count = 0
    for left, right in zip_longest(conllu_entries(source, src), conllu_entries(target, tgt)):
        if left is None or right is None:
            longer, shorter = (right, source) if left is None else (left, target)
            assert longer is not None
            reason = f"{shorter.name} has only {count} sentence{'s' * (count != 1)}: the two files are not aligned"
            raise DataError(reason, longer.path, longer.line)
        count += 1
        if isinstance(left, DataError):
            yield left
            continue
        if isinstance(right, DataError):
            yield right
            continue
        same = left.comments.get("sent_id") == right.comments.get("sent_id")
        shared = same if shared is None else shared
        if shared and not same:
            known = f"'{left.id}' of {Path(left.path).name}"
            reason = f"sentence '{right.id}' is paired with {known}: the two files are not aligned"
            raise DataError(reason, right.path, right.line)
        yield Pair(left.id, left.text, right.text)


def check_lengths(source: Path, target: Path) -> None:
    """Raises `DataError` for CoNLL-U files of different length, however few of their sentences are wanted."""
    n, other = (len(re.findall(rb"(?m)^1\t", path.read_bytes())) for path in (source, target))
    if n != other:
        reason = f"{other:,} sentences for the {n:,} of {source.name}: the two files are not aligned"
        raise DataError(reason, target)


# ----------------------------------------------------------------------------
# Bilingual word lists as files: MUSE's dictionaries, and any list of the same form.


def read_word_pairs(path: str | Path) -> Iterator[tuple[str, str]]:
    """The pairs of a word list in its order: a line ``word translation``, separated by a tab or white space.

    With a tab, either side may be several words. Empty lines and lines that begin with ``#`` are skipped. Raises
    `DataError` with file and line for another number of fields and for bad UTF-8, with the file for a list without
    pairs, and `NbkitError` for a file that cannot be read. Source: Lample et al. 2018 (MUSE), for the form.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise NbkitError(f"word list {path} cannot be read: no such file")
    found = 0
    for number, read in read_lines(path):
        line = good(read)
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
        if len(fields) != 2 or not all(fields):
            reason = f"expected a word and a translation, found {len(fields)} fields: {line[:60]!r}"
            raise DataError(reason, path, number)
        found += 1
        yield fields[0], fields[1]
    if not found:
        raise DataError("the word list contains no entry", path)


# ----------------------------------------------------------------------------
# Named corpora.

# ----------------------------------------------------------------------------
# Where the files of a corpus are: on this machine, or in a pinned revision of a repository of the hub.

_FIELD = re.compile(r"(?<!\$)\{(?:(\w*)|([^{}|]+)\|([^{}|]+))\}")


def fill(template: str, fields: Mapping[str, str], thing: str) -> str:
    """*template* with its ``{fields}`` filled in; ``${VARIABLES}`` are left for `expand_path`.

    ``{A|B}`` is A in the source's file and B in the target's.

    >>> fill("${DATA}/{split}.{lang}", {"split": "test", "lang": "de"}, "corpus")
    '${DATA}/test.de'
    >>> fill("{source|reference-A}.{lang}", {"src": "en", "lang": "de"}, "corpus")
    'reference-A.de'
    >>> fill("{language}.txt", {"lang": "de", "src": "en"}, "corpus")
    Traceback (most recent call last):
    ...
    nbkit.errors.NbkitError: corpus '{language}.txt': {language} cannot be filled in; available: {lang}, {src}
    """

    def value(match: re.Match[str]) -> str:
        if match[2] is not None and {"src", "lang"} <= fields.keys():
            return match[2] if fields["lang"] == fields["src"] else match[3]
        if match[1] not in fields:
            known = ", ".join(f"{{{name}}}" for name in fields)
            raise NbkitError(f"{thing} '{template}': {match[0]} cannot be filled in; available: {known}")
        return fields[match[1]]

    return _FIELD.sub(value, template)


@dataclass(frozen=True)
class LocalPlace:
    """Files of this machine. template: a path, with environment variables and ``{fields}``."""

    template: str
    corpus: str

    def path(self, fields: Mapping[str, str]) -> Path:
        """The file with *fields* filled in. Raises `NbkitError` with the way out."""
        thing = f"corpus {self.corpus}: the path"
        path = Path(expand_path(fill(self.template, fields, thing), thing))
        if not path.is_file():
            of = "" if str(path) == self.template else f" (from '{self.template}')"
            raise NbkitError(f"corpus {self.corpus}: no such file: {path}{of}{closest_place(path)}")
        return path

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """What identifies the file's content in cache keys."""
        path = self.path(fields)
        return {"file": path.name, "digest": file_digest(path)}

    @as_problem
    def problem(self, fields: Mapping[str, str]) -> str | None:
        """Why the file cannot be read, or None."""
        self.path(fields)
        return None


@dataclass(frozen=True)
class HubPlace:
    """One file of a data set repository at a pinned revision, stored in the hub's cache (``HF_HOME``).

    Single files are fetched, never a repository's loading script. local: what can be given in its place.
    """

    repository: str
    revision: str
    template: str
    corpus: str
    local: str = "pairs.tsv, moses:PREFIX, conllu:PATH"

    def path(self, fields: Mapping[str, str]) -> Path:
        """The file on this machine, fetched if need be. Raises `NbkitError` with the way out."""
        from huggingface_hub import hf_hub_download

        # Asked first because it fails at once where there is no network; a download tries again for half a minute.
        if problem := self.problem(fields):
            raise NbkitError(problem)
        with self._reaching(name := self._name(fields)):
            return Path(hf_hub_download(self.repository, name, repo_type="dataset", revision=self.revision))

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """What identifies the file's content in cache keys; fetches nothing."""
        return {"repository": self.repository, "revision": self.revision, "file": self._name(fields)}

    @as_problem
    def problem(self, fields: Mapping[str, str]) -> str | None:
        """Why the file cannot be fetched, or None. Fetches nothing."""
        from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache

        name, where = self._name(fields), {"repo_type": "dataset", "revision": self.revision}
        if not isinstance(try_to_load_from_cache(self.repository, name, **where), str):
            with self._reaching(name):
                get_hf_file_metadata(hf_hub_url(self.repository, name, **where), timeout=10)
        return None

    def _name(self, fields: Mapping[str, str]) -> str:
        return fill(self.template, fields, f"corpus {self.corpus}")

    @contextmanager
    def _reaching(self, name: str) -> Iterator[None]:
        from huggingface_hub.constants import HF_HUB_CACHE
        from huggingface_hub.utils import httpx

        try:
            yield
        except (httpx.HTTPError, OSError) as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise NbkitError(
                f"corpus {self.corpus}: {name} of the data set {self.repository} (revision {self.revision[:12]}) is "
                f"not in the cache {HF_HUB_CACHE}, and fetching it failed ({type(error).__name__}: {reason}). Set "
                f"HF_HOME to a folder that has it, or give local files as the corpus ({self.local})"
            ) from error


Place: TypeAlias = LocalPlace | HubPlace


def place_of(name: str, entry: Mapping[str, Any], template: str, local: str = HubPlace.local) -> Place:
    """Where the files of a catalogue entry are. local: what can be given in place of the hub's."""
    hub = entry.get("hub")
    return HubPlace(hub["repository"], hub["revision"], template, name, local) if hub else LocalPlace(template, name)


@dataclass(frozen=True)
class Files:
    """Data in files: at a place, in some languages (none: in any) and splits, of which the first is the default."""

    name: str
    place: Place
    languages: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    kind: ClassVar[str] = "corpus"

    def chosen_split(self, split: str | None) -> str | None:
        """The requested split, or the default one. Raises `UnknownNameError`."""
        if split is None:
            return self.splits[0] if self.splits else None
        if split not in self.splits:
            raise UnknownNameError(f"split of {self.kind} {self.name}", split, self.splits)
        return split

    def check_language(self, lang: str) -> None:
        """Raises `NbkitError` if the corpus does not have the language."""
        check_language(lang)
        if self.languages and lang not in self.languages:
            raise NbkitError(f"{self.kind} {self.name} has no '{lang}'; it has {', '.join(self.languages)}")


# ----------------------------------------------------------------------------
# What a corpus is to the rest of nbkit, and the corpora that are read from files.

#: Pairs that are parsed at a time: a corpus of any size is read in as much memory as these need.
CHUNK = 2000
#: Counts up when the same files are read as other pairs, so that results on the old ones are not used.
READING = 1


@dataclass(frozen=True)
class Request:
    """The requested pairs of a corpus, and how they are read (see `nbkit.corpora.load_pairs`).

    parsed: whether raw text is parsed, so that parsers are part of its identity and of its problems.
    """

    src: str
    tgt: str
    split: str | None = None
    n: int | None = None
    parsers: Mapping[str, str] | None = None
    on_error: OnError = "raise"
    skipped: Skipped | None = None
    store: Store | None = None
    start: int = 0
    parsed: bool = True

    def check(self, corpus: str) -> None:
        """Raises `NbkitError` for numbers that no pair has."""
        if self.n is not None and self.n < 1:
            raise NbkitError(f"n is {self.n}; it must be at least 1 (unset, it means all of {corpus})")
        if self.start < 0:
            raise NbkitError(f"start is {self.start}; pairs are counted from 0")

    @property
    def stop(self) -> int | None:
        """The number of the first pair after the requested ones; None if all are requested."""
        return None if self.n is None else self.start + self.n


class Corpus(Protocol):
    """Anything that can be registered in `CORPORA`.

    Attributes
    ----------
    languages : tuple of str
        Codes of its languages; empty if it accepts any.
    splits : tuple of str
        Names of its splits, the default one first; empty if it is not split.
    endless : bool, optional
        True if the corpus is unbounded, like the sandbox, except for the splits in ``finite``.
    finite : tuple of str, optional
        The bounded splits of an unbounded corpus.
    """

    @property
    def languages(self) -> tuple[str, ...]: ...

    @property
    def splits(self) -> tuple[str, ...]: ...

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop``, streaming."""

    def identity(self, request: Request) -> dict[str, Any]:
        """Everything the pairs depend on, for cache keys: file digests or revisions, the parsers."""

    def problems(self, request: Request) -> list[str]:
        """The problems that would stop `pairs`; reads local files as far as `pairs` would, without parsing."""


class Format(NamedTuple):
    """How files are read.

    name: in keys. read: yields all pairs of a corpus, given the request and the paths, with a `DataError` in place of
    each malformed one. by_side: whether each side has a separate file. has_trees: whether pairs are parsed.
    """

    name: str
    read: Callable[..., Iterator[Any]]
    by_side: bool = False
    has_trees: bool = False


def _tsv(corpus: FileCorpus, request: Request, path: Path) -> Iterator[RawPair | DataError]:
    """Two tab-separated columns: source and target, or the languages that ``columns`` names."""
    columns = corpus.columns or (request.src, request.tgt)
    source, target = columns.index(request.src), len(columns) - 1 - columns[::-1].index(request.tgt)
    return read_tsv(path, source, target, corpus.header)


def _coded(corpus: FileCorpus, request: Request, path: Path) -> Iterator[RawPair | DataError]:
    sides = (corpus.varieties.get(lang) or (corpus.code(lang),) for lang in (request.src, request.tgt))
    return read_coded_tsv(path, *sides)


def _named(rows: Callable[[Path], Iterable[tuple[int, Any]]]) -> Callable[..., Iterator[RawPair | DataError]]:
    def read(corpus: FileCorpus, request: Request, path: Path) -> Iterator[RawPair | DataError]:
        codes = [corpus.code(request.src), corpus.code(request.tgt)]
        return read_rows(rows(path), path, request.src, request.tgt, codes)

    return read


def _treebanks(corpus: FileCorpus, request: Request, source: Path, target: Path) -> Iterator[Pair | DataError]:
    return read_treebanks(source, target, request.src, request.tgt)


#: The formats by the name that a catalogue or a corpus ``format:path`` gives them.
FORMATS: dict[str, Format] = {
    "tsv": Format("TsvCorpus", _tsv),
    "coded-tsv": Format("CodedTsvCorpus", _coded),
    "moses": Format("MosesCorpus", lambda corpus, request, *paths: read_moses(*paths), by_side=True),
    "parquet": Format("ParquetCorpus", _named(parquet_rows)),
    "json": Format("JsonCorpus", _named(json_rows)),
    "fairseq": Format("FairseqCorpus", _named(fairseq_rows)),
    "conllu": Format("ConlluCorpus", _treebanks, by_side=True, has_trees=True),
}


@dataclass(frozen=True)
class FileCorpus(Files):
    """A corpus in files. The fields are those of ``catalogue.yaml``."""

    format: Format = FORMATS["tsv"]
    columns: tuple[str, ...] = ()
    header: int = 0
    pivot: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    varieties: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def raw_pairs(self, request: Request) -> Iterator[Any]:
        """All pairs of the files, unparsed, with a `DataError` in place of each malformed one."""
        self.check(request)
        return self.format.read(self, request, *[self.place.path(fields) for fields in self._files(request)])

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The good pairs ``request.start`` to ``request.stop``; raw text is parsed, `CHUNK` pairs at a time.

        Raises at once, before anything is read, if a file or a parser is missing.
        """
        raw = self.raw_pairs(request)
        specs = self._parsers(request)
        for lang, spec in specs.items():
            check_usable(find_pipeline(spec), spec, lang)
        good_ones = islice(keep_good(raw, request.on_error, request.skipped), request.start, request.stop)
        return self._parsed(good_ones, request, specs) if specs else good_ones

    @staticmethod
    def _parsed(raw: Iterator[RawPair], request: Request, parsers: Mapping[str, str]) -> Iterator[Pair]:
        store = request.store or Store()
        while chunk := list(islice(raw, CHUNK)):
            sides = ((request.src, [pair.source for pair in chunk]), (request.tgt, [pair.target for pair in chunk]))
            parses = [parse_remembered(texts, parsers[lang], lang, store=store) for lang, texts in sides]
            for pair, source, target in zip(chunk, *parses, strict=True):
                yield Pair(pair.id, source, target)

    def _parsers(self, request: Request) -> dict[str, str]:
        """The parser of each language of raw text that is parsed."""
        languages = (request.src, request.tgt) if request.parsed and not self.format.has_trees else ()
        return {lang: parser_for(lang, request.parsers) for lang in languages}

    def identity(self, request: Request) -> dict[str, Any]:
        """How the files are read, the digest or revision of each, whatever their names or paths, and the parsers."""
        parsers = self._parsers(request)
        known = [parser_identity(parsers[lang], lang) for lang in (request.src, request.tgt)] if parsers else []
        return self._files_identity(request) | ({"parsers": known} if parsers else {})

    def _files_identity(self, request: Request) -> dict[str, Any]:
        self.check(request)
        return {
            "reader": self.format.name,
            "version": READING,
            "columns": list(self.columns),
            "header": self.header,
            "varieties": {lang: list(codes) for lang, codes in self.varieties.items()},
            "files": [self.place.identity(fields) for fields in self._files(request)],
        }

    def problems(self, request: Request) -> list[str]:
        """Problems of languages, split, files and parsers; in local files, the first malformed one of the pairs."""
        problems = self._files_problems(request)
        for lang in dict.fromkeys((request.src, request.tgt)) if request.parsed and not self.format.has_trees else ():
            try:
                problem = check_parser(parser_for(lang, request.parsers), lang)
            except NbkitError as error:  # an unknown language is named by the check of the files already
                problem = str(error) if str(error) not in problems else None
            problems += [problem] if problem else []
        return problems

    def _files_problems(self, request: Request) -> list[str]:
        try:
            self.check(request)
            fields = self._files(request)
            absent = [problem for one in fields if (problem := self.place.problem(one))]
            if absent or not isinstance(self.place, LocalPlace):
                return absent
            problem = content_problem(self.raw_pairs(request), request.on_error, request.start, request.stop)
            paths = [self.place.path(one) for one in fields]
            if self.format.has_trees:
                check_lengths(*paths)
        except NbkitError as error:
            return [str(error)]
        return [f"{' and '.join(map(str, paths))}: {problem}"] if problem else []

    def check(self, request: Request) -> None:
        """Raises `NbkitError` if the corpus does not have the requested split or languages."""
        self.chosen_split(request.split)
        self.check_language(request.src)
        self.check_language(request.tgt)
        if self.pivot and self.pivot not in (request.src, request.tgt):
            raise NbkitError(
                f"corpus {self.name} has no pairs {request.src}-{request.tgt}: one side is always '{self.pivot}'"
            )

    def _files(self, request: Request) -> list[dict[str, str]]:
        """The template fields of each file that the corpus consists of."""
        sides = request.src, request.tgt
        fields = {"src": request.src, "tgt": request.tgt, "pair": "-".join(sorted(map(self.code, sides)))}
        if split := self.chosen_split(request.split):
            fields["split"] = split
        return [{**fields, "lang": lang} for lang in sides] if self.format.by_side else [fields]

    def code(self, lang: str) -> str:
        """The corpus's own code of a language."""
        return self.codes.get(lang, lang)


def is_raw(corpus: Corpus) -> TypeGuard[FileCorpus]:
    """Whether a corpus is of files of raw text, whose `FileCorpus.raw_pairs` need no parser."""
    return isinstance(corpus, FileCorpus) and not corpus.format.has_trees


@dataclass(frozen=True)
class JoinedCorpus(FileCorpus):
    """Several corpora of raw text, one after the other. parts: each with the split that was named."""

    parts: tuple[tuple[FileCorpus, str | None], ...] = ()

    def raw_pairs(self, request: Request) -> Iterator[Any]:
        """All pairs of all parts; ids are preceded by the number of the part."""
        # Every part is opened at once: a missing file is an error before the first pair.
        streams = [part.raw_pairs(asked) for part, asked in self._asked(request)]
        return (
            replace(pair, id=f"{number}:{pair.id}") if isinstance(pair, RawPair) else pair
            for number, stream in enumerate(streams, start=1)
            for pair in stream
        )

    def _files_identity(self, request: Request) -> dict[str, Any]:
        return {"joined": [part._files_identity(asked) for part, asked in self._asked(request)]}

    def _files_problems(self, request: Request) -> list[str]:
        return list(dict.fromkeys(each for part, asked in self._asked(request) for each in part._files_problems(asked)))

    def _asked(self, request: Request) -> Iterator[tuple[FileCorpus, Request]]:
        return ((part, replace(request, split=split)) for part, split in self.parts)


# ----------------------------------------------------------------------------
# The sandbox as a registered corpus; the sandbox itself knows nothing of corpora.

DEFAULT_SPLIT = "test"
#: The splits of the sandbox, the default first.
SANDBOX_SPLITS = (DEFAULT_SPLIT, *(split for split in sandbox.SPLITS if split != DEFAULT_SPLIT))


@dataclass(frozen=True)
class SandboxCorpus:
    """Generated sentences, with gold trees and alignments: no file, no parser, no malformed line.

    mixtures: whose sentences it holds in turn, and how many of each at a time. finite: the bounded splits.
    """

    name: str
    mixtures: Mapping[str, int]
    splits: tuple[str, ...]
    finite: tuple[str, ...]
    languages: ClassVar[tuple[str, ...]] = sandbox.LANGUAGES
    endless: ClassVar[bool] = True

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop`` of the split; an unbounded split needs *n*."""
        self.identity(request)  # a split or a language that is not there is told first
        split = request.split or DEFAULT_SPLIT
        if request.n is None and split not in self.finite:
            raise NbkitError(f"corpus {self.name} is unbounded: set n")
        turn, first = divmod(request.start, sum(self.mixtures.values()))
        streams = [
            (sandbox.pairs(request.src, request.tgt, n=None, split=split, mixture=name, start=turn * share), share)
            for name, share in self.mixtures.items()
        ]
        turns = iter(lambda: [pair for stream, share in streams for pair in islice(stream, share)], [])
        return islice(chain.from_iterable(turns), first, None if request.n is None else first + request.n)

    def identity(self, request: Request) -> dict[str, Any]:
        """The versions of the sandbox and of its mixtures, and the split."""
        split = request.split or DEFAULT_SPLIT
        found = [
            sandbox.identity(request.src, request.tgt, split=split, mixture=name)
            for name, share in self.mixtures.items()
            for _ in range(share)
        ]
        return {**found[0], "mixture": "+".join(each["mixture"] for each in found)}

    def problems(self, request: Request) -> list[str]:
        """A language or a split that the sandbox does not have."""
        try:
            self.identity(request)
        except NbkitError as error:
            return [str(error)]
        return []


# ----------------------------------------------------------------------------
# The corpora by name: `CORPORA`, filled from ``catalogue.yaml`` and open to anybody's own.

#: All corpora that have a name. Register your own: ``CORPORA.register("mine", corpus, summary="…")``.
CORPORA: Registry[Corpus] = Registry("corpus")
_SUFFIXES = {".tsv": "tsv", ".conllu": "conllu", ".parquet": "parquet", ".json": "json", ".jsonl": "json"}
#: What may stand before the colon of a path; the four columns of coded-tsv need the catalogue's codes.
_PREFIXES = ("tsv", "moses", "conllu", "parquet", "json", "fairseq")
#: What a catalogue entry says besides how its files are read.
_NOT_READING = ("summary", "domain", "licence", "format", "files", "hub")


def file_corpus(name: str, entry: dict[str, Any]) -> FileCorpus:
    """The corpus of a catalogue entry.

    >>> corpus = file_corpus("mine", {"format": "tsv", "files": "data/{src}-{tgt}.tsv", "languages": ["en", "de"]})
    >>> corpus.languages
    ('en', 'de')
    """
    if entry["format"] not in FORMATS:
        raise UnknownNameError(f"format of corpus {name}", entry["format"], FORMATS)
    how = {key: value for key, value in entry.items() if key not in _NOT_READING}
    lists = {key: tuple(value) for key, value in how.items() if isinstance(value, list)}
    return FileCorpus(name, place_of(name, entry, entry["files"]), format=FORMATS[entry["format"]], **{**how, **lists})


def find_corpus(spec: str) -> tuple[Corpus, str | None]:
    """Find the corpus that *spec* refers to, and the split that it names.

    Parameters
    ----------
    spec : str
        A registered name, ``name:split``, ``tsv:PATH``, ``moses:PREFIX`` (``PREFIX.en``, ``PREFIX.de``),
        ``conllu:PATH``, ``parquet:PATH``, ``json:PATH``, ``fairseq:LOG``, or a path that ends in .tsv, .conllu,
        .parquet, .json or .jsonl. In a path, ``{src}``, ``{tgt}``, ``{pair}``, ``{lang}``, ``{SOURCE|TARGET}`` (by
        side) and environment variables are filled in.
        Several of raw text are joined by `` + ``: ``multi30k:train + tatoeba``.

    Returns
    -------
    tuple of (Corpus, str or None)
        The corpus, and the split if *spec* names one.

    Raises
    ------
    UnknownNameError
        For an unknown name, with the closest known one.
    NbkitError
        For a path that cannot be a corpus.

    Examples
    --------
    >>> find_corpus("pud")[0].languages
    ('en', 'de', 'fr', 'es', 'zh', 'ja')
    >>> find_corpus("multi30k:val")[1]
    'val'
    >>> [split for _, split in find_corpus("multi30k:train + tatoeba")[0].parts]
    ['train', None]
    >>> find_corpus("multi3k")
    Traceback (most recent call last):
    ...
    nbkit.errors.UnknownNameError: unknown corpus 'multi3k'; did you mean 'multi30k'? There are: ...
    """
    if " + " in spec:
        return _joined(spec), None
    head, colon, rest = spec.partition(":")
    if colon and head in _PREFIXES:
        return _path_corpus(spec, head, rest), None
    if head in CORPORA:
        if colon and not rest:
            raise NbkitError(f"corpus '{spec}' lacks the split after the colon")
        return CORPORA.get(head), rest or None
    for suffix, format_name in _SUFFIXES.items():
        if spec.endswith(suffix):
            return _path_corpus(spec, format_name, spec), None
    if "/" in spec:
        raise NbkitError(
            f"corpus '{spec}' is a path without a format; write tsv:PATH, moses:PREFIX, conllu:PATH, parquet:PATH, "
            "json:PATH or fairseq:LOG"
        )
    raise UnknownNameError("corpus", head, CORPORA.names())


def declared(spec: str) -> str:
    """The name of the declared corpus that *spec* names, or whose files it gives; "" for other files.

    >>> declared("multi30k:val"), declared("moses:${NBKIT_DATA}/multi30k/val.{lang}"), declared("mine.tsv")
    ('multi30k', 'multi30k', '')
    """
    head, _, path = spec.partition(":")
    if head in CORPORA:
        return head
    for name in CORPORA:
        corpus = CORPORA.get(name)
        if isinstance(corpus, FileCorpus) and isinstance(corpus.place, LocalPlace):
            template = re.escape(os.path.expandvars(corpus.place.template))
            if re.fullmatch(re.sub(r"\\\{.*?\\\}", "[^/]+", template), os.path.expandvars(path or spec)):
                return name
    return ""


def _joined(spec: str) -> JoinedCorpus:
    parts = []
    for name in spec.split(" + "):
        corpus, split = find_corpus(name.strip())
        if not is_raw(corpus):
            raise NbkitError(f"corpus '{spec}': only corpora of raw text can be joined, not {name}")
        parts.append((corpus, split))
    return JoinedCorpus(spec, parts[0][0].place, parts=tuple(parts))


def _path_corpus(spec: str, format_name: str, path: str) -> FileCorpus:
    if not path:
        raise NbkitError(f"corpus '{spec}' lacks the path after the colon")
    if format_name == "moses" and "{lang}" not in path and "|" not in path:
        path += ".{lang}"
    if format_name == "conllu" and "{lang}" not in path:
        raise NbkitError(
            f"corpus '{spec}': a CoNLL-U corpus has one file per language; write {{lang}} in place of the language code"
        )
    return file_corpus(spec, {"format": format_name, "files": path})


def _register() -> None:
    for name, entry in read_own(resources.files("nbkit.corpora").joinpath("catalogue.yaml")).items():
        about = {each: entry.get(each, "") for each in ("summary", "domain", "licence")}
        if "mixtures" in entry:
            splits, finite = tuple(entry.get("splits", SANDBOX_SPLITS)), tuple(entry.get("finite", ()))
            CORPORA.register(name, SandboxCorpus(name, entry["mixtures"], splits, finite), **about)
        else:
            CORPORA.register(name, file_corpus(name, entry), **about)


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
    """Yield the first *n* pairs of a corpus, parsed on both sides.

    Parameters
    ----------
    corpus : str
        A registered name, ``name:split``, or a path; see `nbkit.corpora.corpus.find_corpus`.
    src, tgt : str
        Language codes of the two sides.
    n : int, optional
        Number of pairs; by default all. An unbounded corpus needs it.
    parsers : mapping of str to str, optional
        A spaCy pipeline (name or folder) per language, in place of the default one. Corpora with gold trees need none.
    on_error : {"raise", "skip"}
        What a malformed line does: "raise" ends with it; "skip" skips it and adds it to *skipped*. Skipped lines do not
        count towards *n*.
    skipped : Skipped, optional
        Collects the skipped lines.
    store : Store, optional
        Where parses are stored; by default `Store()`.
    start : int
        Number of pairs to skip first, unparsed: ``n=100, start=100`` is the second hundred.

    Returns
    -------
    Iterator of Pair
        A stream; only a chunk of it is in memory at a time.

    Raises
    ------
    UnknownNameError
        For an unknown corpus, split or language, before anything is read.
    MissingExtraError
        If a parser is not installed, before anything is read.
    DataError
        For a malformed line, with file and line.
    NbkitError
        For files, environment variables or a repository of the hub that cannot be read.
    """
    found, split = find_corpus(corpus)
    request = Request(src, tgt, split, n, parsers, on_error, skipped, store, start)
    request.check(f"corpus {corpus}")
    return found.pairs(request)


def is_endless(corpus: str) -> bool:
    """Whether a corpus is unbounded, so that *n* is required. Raises what `find_corpus` raises.

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
    """Identify the pairs of `load_pairs` in cache keys; reads files but parses nothing.

    Parameters
    ----------
    corpus, src, tgt, n, parsers
        As for `load_pairs`.

    Returns
    -------
    dict
        Everything that the pairs depend on: content digests or pinned revisions, the parsers' identities, the languages
        and *n*.

    Raises
    ------
    NbkitError
        For an unknown name, and for files that cannot be read.
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
    """List the problems that would stop `load_pairs`. Loads no parser.

    Parameters
    ----------
    corpus, src, tgt, parsers, n, on_error
        As for `load_pairs`.

    Returns
    -------
    list of str
        One message per problem: an unknown name, a language or split that the corpus lacks, files, variables, the hub,
        parsers. Local files are read as far as the first *n* pairs, and the first malformed line is named.

    Examples
    --------
    >>> check_corpus("sandbocks", "en", "de")
    ["unknown corpus 'sandbocks'; did you mean 'sandbox'? There are: ..."]
    """
    try:
        found, split = find_corpus(corpus)
        return found.problems(Request(src, tgt, split, n, parsers, on_error))
    except NbkitError as error:
        return [str(error)]
