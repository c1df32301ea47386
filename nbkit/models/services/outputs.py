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
from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np

from nbkit.errors import DataError, ModelError
from nbkit.files import expand_path, file_digest
from nbkit.models.backends import DEFAULT, Decoding
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
    def is_fixed(self) -> bool:
        """Whether it answers for the lines of its source alone, and no round can add to them."""
        return not self.path.is_dir()

    def files(self, src: str, tgt: str) -> list[tuple[Path, Path]]:
        """The pairs of files with sources and translations. Raises `ModelError` if there are none."""
        if self.path.is_dir():
            return self._rounds(src, tgt)
        if not self.path.is_file():
            way_out = f"'nbkit sources RUN.yaml {shlex.quote(self.place)}' writes what a run needs translated"
            raise ModelError(f"model '{self.name}': there is no file or folder {self.path}; {way_out}")
        if self.source is not None:
            wanted = [Path(self.source)]
        else:
            wanted = [folder / f"source.{src}" for folder in (self.path.parent, self.path.parent.parent)]
        found = next((path for path in wanted if path.is_file()), None)
        if found is None:
            places = " or ".join(map(str, wanted))
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
        except (DataError, ModelError) as error:
            return f"model '{self.name}': {error}" if isinstance(error, DataError) else str(error)
        return None

    def remark(self, src: str, tgt: str) -> str | None:
        """The round that a page shows, empty lines, and sources with several translations.

        None if files have changed since and cannot be read.
        """
        try:
            rounds = self.read(src, tgt)
        except (DataError, ModelError):
            return None
        count = {name: sum(getattr(lines, name) for lines in rounds) for name in ("lines", "empty", "ambiguous")}
        parts = [f"{count['lines']:,} lines", f"{count['empty']:,} empty"]
        if self.path.is_dir():
            last = ROUND.fullmatch(self.files(src, tgt)[-1][0].name) if rounds else None
            parts = [f"round {last['number'] if last else 0}", *parts]
        if count["ambiguous"]:
            parts.append(f"{count['ambiguous']:,} repeat a source with another translation: the first one counts")
        return f"{src}→{tgt}: {', '.join(parts)}"


class OutputsTranslator(RemoteTranslator):
    """Looks translations up."""

    model: OutputsModel

    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """The line of one text. Raises `MissingOutputsError`."""
        return dict(self.answers([text], src, tgt, decoding))[text]

    def answers(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
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

    Only line feeds end a line: other separators of Unicode are part of a text. Raises `DataError`, with the line, for a
    file that cannot be read or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"not UTF-8 ({error.reason}): save it as UTF-8", path, data.count(b"\n", 0, error.start) + 1
        ) from None
    if "\0" in text:
        raise DataError("a NUL character", path, text.count("\n", 0, text.index("\0")) + 1)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


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
    """Raises `DataError`, with the line, for a round whose sources are no longer those that were written."""
    try:
        rounds = json.loads(manifest.read_text(encoding="utf-8"))["rounds"]
        written = [(each["source"], each["digests"].split()) for one in rounds for each in one["files"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a manifest of 'nbkit sources': {error!r}", manifest) from None
    for name, digests in written:
        path = manifest.with_name(name)
        if not path.is_file():
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
        shift = first_shift(texts, lines)
        exchanged = first_exchange(texts, lines) if shift is None and len(texts) == len(lines) else None
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
    """What the lines of a source are found by: the same texts for all systems."""
    return tuple(map(as_key, _source_lines(file)))


# ----------------------------------------------------------------------------
# Lines that are shifted against their sources.

#: Evidence, in nats, from which on lines are called shifted: no file of WMT 2022 and 2023 reaches 10, of planted shifts
#: 99 % pass 25 (`benchmarks/shifts.py`).
_EVIDENCE = 15.0
#: The same for two lines that are exchanged: no file reaches 9.5.
_EXCHANGED = 10.5
_REACH = 2
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
    fits = _fits(sources, lines, _REACH, lambda rare: 0.7 * min(4.0, max(0.0, rare - 1)), lambda z: z.clip(0, 9) / 2)
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
    if not (fits := _fits(sources, lines, 1, lambda rare: min(8.0, rare), lambda z: z.clip(0, 32) / 4)):
        return None
    gains = (fits[1] - fits[0])[:-1], (fits[-1] - fits[0])[1:]
    found = np.flatnonzero((np.minimum(*gains) > 0) & (np.add(*gains) > _EXCHANGED))
    return int(found[0]) + 1 if len(found) else None


def _fits(
    sources: Sequence[str],
    lines: Sequence[str],
    reach: int,
    worth: Callable[[float], float],
    penalty: Callable[[np.ndarray], np.ndarray],
) -> dict[int, np.ndarray]:
    """How well line i fits source i + by, for each i, by the latter up to *reach*; NaN where there is no such source.

    worth: of a shared word, of the logarithm of how rare it is. penalty: for lengths, of their squared z-score.
    """
    n = min(len(sources), len(lines))
    texts, answers = _features(tuple(sources)), _features(tuple(lines))
    lengths, others = (np.array([length for length, _ in each], dtype=float) for each in (texts, answers))
    both = (lengths[:n] > 0) & (others[:n] > 0)
    if n < 2 or not both.any():
        return {}
    ratios = np.log(others[:n] + 3) - np.log(lengths[:n] + 3)
    ratio = float(np.median(ratios[both]))
    spread = max(0.15, 1.4826 * float(np.median(np.abs(ratios[both] - ratio))))
    seen = Counter(word for _, words in texts for word in words)
    shared = seen.keys() & set().union(*(words for _, words in answers))
    weight = {word: worth(math.log(len(texts) / seen[word])) for word in shared}
    asked, given = ([words & shared for _, words in each] for each in (texts, answers))

    def fits(by: int) -> np.ndarray:
        fit = np.full(n, np.nan)
        first, last = max(0, -by), min(n, len(texts) - by)
        there, here = lengths[first + by : last + by], others[first:last]
        apart = (np.log(here + 3) - np.log(there + 3) - ratio) / spread
        alike = [
            sum(weight[word] for word in words & some) if words and some else 0.0
            for words, some in zip(asked[first + by : last + by], given[first:last], strict=True)
        ]
        fit[first:last] = np.where((there > 0) & (here > 0), alike - penalty(apart * apart), 0.0)
        return fit

    return {by: fits(by) for by in range(-reach, reach + 1)}


@lru_cache(maxsize=2)
def _features(lines: tuple[str, ...]) -> list[tuple[int, frozenset[str]]]:
    """The length of each line without white space around it, with its numbers, beginnings of words, and marks."""
    plain = (line if line.isascii() else unicodedata.normalize("NFKC", line) for line in lines)
    return [
        (
            len(line.strip()),
            frozenset([w[:5].lower() for w in _WORD.findall(text)] + _DIGITS.findall(text) + _MARKS.findall(text)),
        )
        for line, text in zip(lines, plain, strict=True)
    ]
