"""Translations that exist already, as a system: ``outputs:FILE`` and ``outputs:FOLDER``.

- ``outputs:FILE`` holds one translation per line of a source file: ``source.{src}`` in the file's folder or the one
  above, or the file that the option says (``outputs:mine.de?source=news.en``).
- ``outputs:FOLDER`` holds rounds that `nbkit sources` wrote (``1.en-de.en``, one text per line) and that were
  translated somewhere (``1.en-de.de``).

Nothing is stored: the files are the store. A file that does not fit its sources is an error that names the line;
lines that are shifted against their sources are found by `first_shift`.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import unicodedata
from array import array
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from nbkit.errors import DataError, ModelError, NbkitError
from nbkit.files import expand_path, file_digest, good
from nbkit.files import read_lines as numbered_lines
from nbkit.models.model import Decoding
from nbkit.models.services.asking import Answer, RemoteTranslator, line_of
from nbkit.models.services.names import LABEL_FILE, RemoteModel, read_options
from nbkit.store import Store

#: What lies beside the rounds: what each is for, and the digest of each text.
MANIFEST = "manifest.json"
#: What a file of a round is called, and what its translation is called: number, pair, language.
ROUND = re.compile(r"(?P<number>\d+)\.(?P<src>[\w-]+?)-(?P<tgt>[\w-]+)\.(?P<lang>[\w-]+)")


class MissingOutputsError(ModelError):
    """Texts that no file has a translation of.

    texts: all of them, for `nbkit sources`; wanted: how many are needed. way_out: how to get translations, and final:
    whether there is none with this name. partly: whether only some texts were looked up.
    """

    def __init__(
        self, name: str, texts: Sequence[str], src: str, tgt: str, way_out: str, wanted: int, *,
        final: bool = False, partly: bool = False,
    ):  # fmt: skip
        self.name, self.texts, self.src, self.tgt, self.way_out = name, list(texts), src, tgt, way_out
        self.wanted, self.final, self.partly = wanted, final, partly
        least, most = ("at least ", "up to ") if partly else ("", "")
        super().__init__(
            f"model '{name}' has no {'label' if tgt == LABEL_FILE else f'translation {src}→{tgt}'} of "
            f"{least}{len(self.texts):,} of {most}{wanted:,} texts, such as "
            f"{shorten(self.texts[0], 60, placeholder='…')!r}; {way_out}"
        )

    def __reduce__(self):
        given = (self.name, self.texts, self.src, self.tgt, self.way_out, self.wanted)
        return partial(type(self), final=self.final, partly=self.partly), given


@dataclass(frozen=True)
class OutputsModel(RemoteModel):
    """``outputs:PLACE``, in which ``{src}``, ``{tgt}`` and variables of the environment are filled in.

    >>> OutputsModel.parsed("outputs:wmt/{src}-{tgt}/systems/GPT4-5shot.{tgt}").label
    'GPT4-5shot'
    """

    place: str
    source: str | None = None

    prefix: ClassVar[str] = "outputs:"
    client: ClassVar[str] = "nbkit.models.services.outputs:OutputsTranslator"
    stored: ClassVar[bool] = False
    plain: ClassVar[bool] = True
    requested: ClassVar[bool] = False

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `ModelError` for a name without a place, and for an unknown option."""
        rest, options, pacing = read_options(name, {"source": str})
        place = rest.removeprefix(cls.prefix)
        if not place:
            raise ModelError(f"model '{name}': write outputs:FILE or outputs:FOLDER")
        return cls(name, pacing, place, options.get("source"))

    def for_pair(self, src: str, tgt: str) -> Self:
        """The place with languages and variables filled in. Raises `NbkitError` for a variable that is not set."""

        codes = {"src": src, "tgt": tgt, "pair": f"{src}-{tgt}"}

        def filled(place: str) -> str:
            return re.sub(r"\{(src|tgt|pair)\}", lambda found: codes[found[1]], expand_path(place, "outputs"))

        return replace(self, place=filled(self.place), source=self.source and filled(self.source))

    @property
    def label(self) -> str:
        """The file's name without its language, or the folder's."""
        name = re.sub(r"[-_.]*\{\w+\}[-_.]*", "", Path(self.place).name)
        stem = name if Path(self.place).is_dir() else re.sub(r"\.(labels|[a-z]{2,3}(-\w+)?)$", "", name)
        return stem or Path(self.place).name

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def folder(self) -> Path:
        return self.path

    @property
    def is_fixed(self) -> bool:
        """Whether it answers for the lines of its source alone, and no round can add to them."""
        return not self.path.is_dir()

    def files(self, src: str, tgt: str) -> list[tuple[Path, Path]]:
        """The pairs of files with sources and translations. Raises `ModelError` if there are none."""
        if self.path.is_dir():
            return self._rounds(src, tgt)
        if not self.path.is_file():
            if "*" in self.place:
                raise ModelError(
                    f"model '{self.name}': * stands for several systems in the models of a run file alone; name one "
                    f"{self.prefix}FILE for each system"
                )
            way_out = f"'nbkit sources RUN.yaml {shlex.quote(self.place)}' writes what a run needs translated"
            raise ModelError(f"model '{self.name}': there is no file or folder {self.path}; {way_out}")
        if self.source is not None:
            wanted = [Path(self.source)]
        else:
            wanted = [folder / f"source.{src}" for folder in (self.path.parent, self.path.parent.parent)]
        found = next((path for path in wanted if path.is_file()), None)
        if found is None:
            places = " or ".join(dict.fromkeys(map(str, wanted)))
            raise ModelError(
                f"model '{self.name}': no source file {places}; say which one was translated: "
                f"{self.prefix}{self.place}?source=FILE"
            )
        return [(found, self.path)]

    def _rounds(self, src: str, tgt: str) -> list[tuple[Path, Path]]:
        rounds = ([self.path / f"{n}.{src}-{tgt}.{lang}" for lang in (src, tgt)] for n in self._sources(src, tgt))
        return [(source, lines) for source, lines in rounds if lines.is_file()]

    def _sources(self, src: str, tgt: str) -> list[str]:
        """The numbers of the rounds whose sources are there, in order."""
        found = (ROUND.fullmatch(path.name) for path in self.path.iterdir())
        wanted = (src, tgt, src)
        return sorted(
            (each["number"] for each in found if each and (each["src"], each["tgt"], each["lang"]) == wanted), key=int
        )

    def read(self, src: str, tgt: str) -> list[Lines]:
        """The checked translations of each file, of the first round first. Raises `ModelError` and `DataError`."""
        manifest = self.path / MANIFEST
        files = tuple((_stamp(source), _stamp(lines)) for source, lines in self.files(src, tgt))
        return _read_all(files, tgt, _stamp(manifest) if manifest.is_file() else None)

    def missing(self, texts: Sequence[str], src: str, tgt: str) -> list[str]:
        """Those of *texts* that have no translation. Raises as `read`."""
        known = ChainMap(*(lines.translations for lines in self.read(src, tgt)))
        return [text for text in texts if text.strip() and as_key(text) not in known]

    def lacking(
        self, texts: Sequence[str], src: str, tgt: str, wanted: int, partly: bool = False
    ) -> MissingOutputsError:
        """The error that says that *texts*, of so many *wanted* ones, have no translation, and how to get them."""
        way_out = self._way_out(src, tgt)
        return MissingOutputsError(self.name, texts, src, tgt, way_out, wanted, final=self.is_fixed, partly=partly)

    def _way_out(self, src: str, tgt: str) -> str:
        if self.is_fixed:
            return (
                "not measurable with outputs alone: a file answers only for the lines of its source; name a folder, "
                "outputs:FOLDER, for which 'nbkit sources RUN.yaml FOLDER' writes the texts of this study"
            )
        for number in self._sources(src, tgt):
            source, lines = (f"{number}.{src}-{tgt}.{lang}" for lang in (src, tgt))
            if not (self.path / lines).is_file():
                return f"{self.path / lines} is missing: write the translations of {source} there, one per line"
        return f"'nbkit sources RUN.yaml {shlex.quote(self.place)}' writes what a run needs translated"

    def waiting(self, run: str, src: str, tgt: str) -> list[str]:
        """What to do about each file that was written for *run* and is not translated, where it is still there."""
        found = []
        for path, record in _written(self.path / MANIFEST) if (self.path / MANIFEST).is_file() else ():
            target = path.with_name(f"{path.stem}.{tgt}")
            of_pair = path.name.endswith(f".{src}-{tgt}.{src}")
            if record["run"] == run and of_pair and path.is_file() and not target.is_file():
                found.append(
                    f"model '{self.name}': {target} is missing: write the translations of {path.name} there, one per "
                    f"line, or delete {path.name} if this run no longer asks for it"
                )
        return found

    def identity(self) -> dict[str, Any]:
        """The digests of all files that can be read."""
        if self.path.is_dir():
            paths = [path for path in self.path.iterdir() if ROUND.fullmatch(path.name) and path.is_file()]
        else:
            paths = [path for path in (self.path, Path(self.source or "")) if path.is_file()]
            if self.source is None:
                around = (self.path.parent, self.path.parent.parent)
                paths += [each for folder in around for each in folder.glob("source.*") if each.is_file()]
        return {"backend": "outputs", "files": sorted({file_digest(path) for path in paths})}

    def problem(self, src: str, tgt: str) -> str | None:
        try:
            self.read(src, tgt)
        except NbkitError as error:
            return str(error) if isinstance(error, ModelError) else f"model '{self.name}': {error}"
        return None

    def remark(self, src: str, tgt: str) -> str | None:
        """The round that a page shows, empty lines, and sources with several translations.

        None if files have changed since and cannot be read.
        """
        try:
            rounds = self.read(src, tgt)
        except NbkitError:
            return None
        count = {name: sum(getattr(lines, name) for lines in rounds) for name in ("lines", "empty", "ambiguous")}
        parts = [f"{count['lines']:,} lines", f"{count['empty']:,} empty"]
        if self.path.is_dir():
            last = ROUND.fullmatch(self.files(src, tgt)[-1][0].name) if rounds else None
            parts = [f"round {last['number'] if last else 0}", *parts]
        if count["ambiguous"]:
            parts.append(f"{count['ambiguous']:,} repeat a source with another translation: the first one counts")
        return f"{src}→{tgt}: {', '.join(parts)}"


def fixed_files(names: Iterable[str], src: str, tgt: str) -> list[tuple[Path, Path]]:
    """The files with sources and translations of each ``outputs:FILE`` of *names*. Raises as `OutputsModel.files`."""
    named = (OutputsModel.parsed(name) for name in names if name.startswith(OutputsModel.prefix))
    models = [model.for_pair(src, tgt) for model in named]
    return [model.files(src, tgt)[0] for model in models if model.is_fixed]


def sources_of(files: Sequence[tuple[Path, Path]], src: str, tgt: str) -> str:
    """The sources that all *files* translate, with a reference, as the name of a corpus.

    The reference is the first ``reference*.{tgt}`` beside the source that is not one of the translations, or a file
    that is called as the source is, in the target language. Raises `ModelError` if there is none, for translations of
    different sources, and for a source that is not called NAME.{src}.
    """
    (source, first), *others = files
    for other, lines in others:
        if other.resolve() != source.resolve():
            raise ModelError(f"{first} and {lines} translate different sources, {source} and {other}")
    if source.suffix != f".{src}":
        raise ModelError(f"the source is not called NAME.{src}: {source}")
    if reference := reference_of(source, [lines for _, lines in files], tgt):
        return f"moses:{source.parent}/{{{source.stem}|{reference.stem}}}.{{lang}}"
    raise ModelError(f"there is no reference beside {source}: save one there as reference.{tgt}")


def reference_of(source: Path, translated: Iterable[Path], tgt: str) -> Path | None:
    """The reference beside *source* that is none of the files *translated*, as `sources_of` finds it."""
    known = {lines.resolve() for lines in translated}
    beside = (*sorted(source.parent.glob(f"reference*.{tgt}")), source.with_suffix(f".{tgt}"))
    return next((each for each in beside if each.is_file() and each.resolve() not in known), None)


class OutputsTranslator(RemoteTranslator):
    """Looks translations up."""

    model: OutputsModel

    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """The line of one text. Raises `MissingOutputsError`."""
        return dict(self.answers([text], src, tgt, decoding))[text]

    def answers(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding, *, progress: bool = True
    ) -> Iterator[tuple[str, Answer]]:
        """Every distinct text that is not blank with its translation; `MissingOutputsError` for those without."""
        wanted = [text for text in dict.fromkeys(texts) if text.strip()]
        if missing := self.model.missing(wanted, src, tgt):
            raise self.model.lacking(missing, src, tgt, len(wanted))
        known = ChainMap(*(lines.translations for lines in self.model.read(src, tgt)))
        for text in wanted:
            answer = Answer(known[as_key(text)])
            self.usage.add(text, answer, line_of(self.model, answer, text, src, tgt))
            yield text, answer


def as_key(text: str) -> str:
    """*text* with every run of white space as one space: what a line is found by."""
    return " ".join(text.split())


# ----------------------------------------------------------------------------
# Files of lines.


class Lines(NamedTuple):
    """Translations by source text, the number of lines, of empty ones, and of those that are not used.

    ambiguous: lines whose source occurs before with another translation, which is the one that is used.
    """

    translations: dict[str, str]
    lines: int
    empty: int
    ambiguous: int


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file; a byte-order mark, ``\\r\\n`` and a missing last line break are accepted.

    Only line feeds end a line: other separators of Unicode are part of a text. Raises `DataError`, with the line, for
    what is not UTF-8, and `NbkitError` for a file that cannot be read.
    """
    lines = [good(line) for _, line in numbered_lines(path)]
    if (number := next((n for n, line in enumerate(lines, start=1) if "\0" in line), None)) is not None:
        raise DataError("a NUL character", path, number)
    return lines


def read_pairs(source: Path, translated: Path, *, aligned: bool = True) -> Lines:
    """The translations of a file by their sources, checked; of lines that are labels (not *aligned*) only the number.

    Raises `DataError`, with the file and a line, for another number of lines than the source's and for lines that are
    shifted against it.
    """
    texts, lines = _source_lines(_stamp(source)), read_lines(translated)
    if not lines and texts:
        raise DataError(f"empty, but {source} has {len(texts):,} lines", translated)
    shift, first = _misplaced(_stamp(source), _stamp(translated)) if aligned else (None, None)
    if len(texts) != len(lines):
        where = f"; the first line that does not fit is about {shift.line}" if shift else ""
        difference = len(lines) - len(texts)
        what = f"{_counted(abs(difference))} {'too many' if difference > 0 else 'missing'}"
        raise DataError(
            f"{_counted(len(lines))} for the {len(texts):,} of {source}: {what}{where}", translated,
            shift.line if shift else min(len(lines), len(texts)) + 1,
        )  # fmt: skip
    if shift:
        raise DataError(
            f"from here on the lines fit the sources {_counted(abs(shift.by))} "
            f"{'later' if shift.by > 0 else 'earlier'} in {source} (to about line {shift.last})",
            translated, shift.line,
        )  # fmt: skip
    if first:
        raise DataError(
            f"lines {first} and {first + 1} are exchanged: each fits the other's source in {source}", translated, first
        )
    found: dict[str, str] = {}
    ambiguous = empty = 0
    for key, line in zip(_source_keys(_stamp(source)), lines, strict=True):
        answer = line.strip()
        ambiguous += found.setdefault(key, answer) != answer
        empty += not answer and bool(key)
    return Lines(found, len(lines), empty, ambiguous)


def _counted(lines: int) -> str:
    return f"{lines:,} line{'s' * (lines != 1)}"


def text_digest(text: str) -> str:
    """What a manifest knows a text of a round by.

    >>> text_digest("One  text.") == text_digest("One text. ")
    True
    """
    return blake2b(as_key(text).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def check_unchanged(manifest: Path) -> None:
    """Raises `DataError`, with the line, for a round whose sources are no longer those that were written.

    A file that was deleted before it was translated has been given up.
    """
    for path, record in _written(manifest):
        digests = record["digests"].split()
        if not path.is_file():
            if not manifest.with_name(record["translation"]).exists():
                continue
            raise DataError(f"is not there, but {manifest} says that it was written", path)
        found = map(text_digest, _source_lines(_stamp(path)))
        for number, (before, now) in enumerate(zip_longest(digests, found), start=1):
            if before != now:
                what = "missing" if now is None else "one too many" if before is None else "another text"
                raise DataError(
                    f"{what}: changed since 'nbkit sources' wrote it; restore it, or start over in another folder",
                    path,
                    number,
                )


def _written(manifest: Path) -> list[tuple[Path, dict[str, str]]]:
    """The files that a manifest says were written, with their records and the run. Raises `DataError`."""
    try:
        rounds = json.loads(manifest.read_text(encoding="utf-8"))["rounds"]
        found = [{"run": "", **one, **each} for one in rounds for each in one["files"]]
        return [
            (manifest.with_name(each["source"]), {name: str(each[name]) for name in ("run", "translation", "digests")})
            for each in found
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a manifest of 'nbkit sources': {error!r}", manifest) from None


#: A file, when it was changed last, and its size.
_Stamp: TypeAlias = tuple[Path, int, int]


def _stamp(path: Path) -> _Stamp:
    try:
        return path, path.stat().st_mtime_ns, path.stat().st_size
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


#: The systems whose translations stay in memory, for one direction each.
@lru_cache(maxsize=32)
def _read_all(files: tuple[tuple[_Stamp, _Stamp], ...], tgt: str, manifest: _Stamp | None) -> list[Lines]:
    if manifest is not None:
        check_unchanged(manifest[0])
    return [read_pairs(source[0], lines[0], aligned=tgt != LABEL_FILE) for source, lines in files]


@lru_cache(maxsize=1024)
def _misplaced(source: _Stamp, translated: _Stamp) -> tuple[Shift | None, int | None]:
    """`first_shift` and `first_exchange` of two files, stored: most of what it takes to read them."""

    def found(asked: list[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
        texts, lines = _source_lines(source), read_lines(translated[0])
        both = _both(texts, lines)
        shift = _shift(both)
        exchanged = _exchange(both) if shift is None and len(texts) == len(lines) else None
        yield {"shift": json.dumps(shift), "exchanged": json.dumps(exchanged)}

    config = {"kind": "shifts", "version": 1}
    (row,) = Store().records(config, [(file_digest(source[0]), file_digest(translated[0]))], found)
    shift = json.loads(row["shift"])
    return shift and Shift(*shift), json.loads(row["exchanged"])


@lru_cache(maxsize=2)
def _source_lines(file: _Stamp) -> tuple[str, ...]:
    return tuple(read_lines(file[0]))


@lru_cache(maxsize=4)
def _source_keys(file: _Stamp) -> tuple[str, ...]:
    """What the lines of a source are found by: one text in memory for all systems, and for a line that is its key."""
    return tuple(text if (key := as_key(text)) == text else key for text in _source_lines(file))


# ----------------------------------------------------------------------------
# Lines that are shifted against their sources.

#: Evidence, in nats, from which on lines are called shifted: no file of WMT 2022 and 2023 reaches 10, of planted shifts
#: 99 % pass 25 (`benchmarks/shifts.py`).
_EVIDENCE = 15.0
#: The same for two lines that are exchanged: no file reaches 9.5.
_EXCHANGED = 10.5
_REACH = 2
#: Lines whose words are compared at a time.
_BLOCK = 20_000
_WORD = re.compile(r"[^\W\d_]{3,}")
_DIGITS = re.compile(r"\d+")
_MARKS = re.compile(r"[?!:;()%&#@/*+=<>\[\]|~$€£]")


class Shift(NamedTuple):
    """Lines (counted from 1) that fit other sources: line i the source of line i + by."""

    line: int
    last: int
    by: int


def first_shift(sources: Sequence[str], lines: Sequence[str]) -> Shift | None:
    """Where *lines* begin to fit the sources before or after their own better than these; None if they do not.

    A line fits a source by its length (normal in the logarithm, with the file's own ratio and spread) and by the
    numbers, word beginnings and marks that both have (rare ones weigh more). The evidence for a shift by k is the sum
    over lines of how much better the source k lines on fits; the stretch of lines with the largest sum is a shift if
    that passes a threshold. Languages in different scripts share numbers and names; otherwise lengths decide.

    >>> sources = [f"Item {n} costs {n * 7} euros{' or more' * (n % 4)}." for n in range(1, 60)]
    >>> lines = [f"Posten {n} kostet {n * 7} Euro{' oder mehr' * (n % 4)}." for n in range(1, 60)]
    >>> first_shift(sources, lines) is None, first_shift(sources, [*lines[:20], *lines[21:], lines[0]])
    (True, Shift(line=21, last=58, by=1))
    """
    return _shift(_both(sources, lines))


def _shift(both: tuple[_Features, _Features]) -> Shift | None:
    fits = _fits(both, _REACH, lambda rare: 0.7 * np.clip(rare - 1, 0, 4), lambda z: z.clip(0, 9) / 2)
    best, found = _EVIDENCE, None
    for by, fit in fits.items():
        gain, start = 0.0, 0
        for i, more in enumerate((np.clip(np.nan_to_num(fit - fits[0], nan=-1.0), -6.0, 6.0) - 0.3).tolist()):
            if gain <= 0:
                gain, start = 0.0, i
            gain += more
            if gain > best:
                best, found = gain, Shift(start + 1, i + 1, by)
    return found


def first_exchange(sources: Sequence[str], lines: Sequence[str]) -> int | None:
    """The first line (counted from 1) that is exchanged with the next one; None if there is none that shows it.

    Both lines fit the other's source better than their own, by the measure of `first_shift`, and the sum of what they
    gain passes a threshold: of two lines alike in length that share no number or name with their sources nothing shows.

    >>> sources = [f"Item {n} costs {n * 7} euros{' or more' * (n % 4)}." for n in range(1, 60)]
    >>> lines = [f"Posten {n} kostet {n * 7} Euro{' oder mehr' * (n % 4)}." for n in range(1, 60)]
    >>> first_exchange(sources, lines), first_exchange(sources, [*lines[:20], lines[21], lines[20], *lines[22:]])
    (None, 21)
    """
    return _exchange(_both(sources, lines))


def _exchange(both: tuple[_Features, _Features]) -> int | None:
    if not (fits := _fits(both, 1, lambda rare: rare.clip(max=8), lambda z: z.clip(0, 32) / 4)):
        return None
    gains = (fits[1] - fits[0])[:-1], (fits[-1] - fits[0])[1:]
    found = np.flatnonzero((np.minimum(*gains) > 0) & (np.add(*gains) > _EXCHANGED))
    return int(found[0]) + 1 if len(found) else None


class _Features(NamedTuple):
    """The length of each line without white space around it, and its numbers, beginnings of words, and marks.

    words: their numbers in the sources' vocabulary, line after line and sorted within one; starts: where each line's
    begin, and the end. Arrays, as sets of words would take a hundred times as much memory.
    """

    lengths: np.ndarray
    words: np.ndarray
    starts: np.ndarray

    def keys(self, first: int, last: int, by: int, size: int) -> np.ndarray:
        """The words of lines *first* to *last*, a number for each with its line plus *by*; sorted."""
        count = np.diff(self.starts[first : last + 1])
        words = self.words[self.starts[first] : self.starts[last]]
        return np.repeat(np.arange(first + by, last + by), count) * size + words


def _both(sources: Sequence[str], lines: Sequence[str]) -> tuple[_Features, _Features]:
    vocabulary, asked = _asked(tuple(sources))
    return asked, _features(lines, vocabulary.get)


@lru_cache(maxsize=1)
def _asked(sources: tuple[str, ...]) -> tuple[dict[str, int], _Features]:
    vocabulary: dict[str, int] = {}
    return vocabulary, _features(sources, lambda word: vocabulary.setdefault(word, len(vocabulary)))


def _features(lines: Sequence[str], number: Callable[[str], int | None]) -> _Features:
    """*number*: of a word, None for one that no source has."""
    words, starts = array("i"), array("q", [0])
    for line in lines:
        text = line if line.isascii() else unicodedata.normalize("NFKC", line)
        own = {word[:5].lower() for word in _WORD.findall(text)}.union(_DIGITS.findall(text), _MARKS.findall(text))
        words.extend(sorted(known for word in own if (known := number(word)) is not None))
        starts.append(len(words))
    lengths = np.fromiter((len(line.strip()) for line in lines), dtype=float, count=len(lines))
    return _Features(lengths, np.array(words), np.array(starts))


def _fits(
    both: tuple[_Features, _Features],
    reach: int,
    worth: Callable[[np.ndarray], np.ndarray],
    penalty: Callable[[np.ndarray], np.ndarray],
) -> dict[int, np.ndarray]:
    """How well line i fits source i + by, for each i, by the latter up to *reach*; NaN where there is no such source.

    worth: of shared words, of the logarithm of how rare they are. penalty: for lengths, of their squared z-score.
    """
    asked, given = both
    lengths, others = asked.lengths, given.lengths
    n = min(len(lengths), len(others))
    known = (lengths[:n] > 0) & (others[:n] > 0)
    if n < 2 or not known.any():
        return {}
    ratios = np.log(others[:n] + 3) - np.log(lengths[:n] + 3)
    ratio = float(np.median(ratios[known]))
    spread = max(0.15, 1.4826 * float(np.median(np.abs(ratios[known] - ratio))))
    weight = worth(math.log(len(lengths)) - np.log(np.bincount(asked.words))) if len(asked.words) else np.zeros(1)

    def alike(first: int, last: int, by: int) -> np.ndarray:
        """What the words are worth that lines *first* to *last* share with the sources *by* further on."""
        of, own = asked.keys(first + by, last + by, -by, len(weight)), given.keys(first, last, 0, len(weight))
        line, word = np.divmod(np.intersect1d(of, own, assume_unique=True), len(weight))
        return np.bincount(line - first, weight[word], last - first)

    def fits(by: int) -> np.ndarray:
        fit = np.full(n, np.nan)
        first, last = max(0, -by), min(n, len(lengths) - by)
        there, here = lengths[first + by : last + by], others[first:last]
        apart = (np.log(here + 3) - np.log(there + 3) - ratio) / spread
        blocks = (alike(start, min(start + _BLOCK, last), by) for start in range(first, last, _BLOCK))
        shared = np.concatenate([np.zeros(0), *blocks])
        fit[first:last] = np.where((there > 0) & (here > 0), shared - penalty(apart * apart), 0.0)
        return fit

    return {by: fits(by) for by in range(-reach, reach + 1)}
