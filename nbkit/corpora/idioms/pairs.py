"""Sentence pairs with the places of an idiom in the source: found by the matcher, or read from files.

The files are the idioms paper's: line-aligned ``NAME.en``, ``NAME.fr`` and ``NAME.spans.en`` with a line
``IDIOM<TAB>[(start, end), …]`` a pair, in characters of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from nbkit.corpora.pair import Pair
from nbkit.corpora.readers import RawPair, read_lines, read_moses
from nbkit.errors import DataError, NbkitError
from nbkit.files import atomic_write
from nbkit.syntax.phrases import PhraseMatcher

_SPANS = re.compile(r"\[\s*(?:\(\s*\d+\s*,\s*\d+\s*\)\s*(?:,\s*\(\s*\d+\s*,\s*\d+\s*\)\s*)*)\]")
_SPAN = re.compile(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)")


@dataclass(frozen=True)
class IdiomPair:
    """One idiom in one sentence pair; a source with two idioms makes two of them, under one id.

    id: of the sentence pair. source, target: running text. idiom: as its list has it. spans: where it stands in the
    source, as half-open ranges of characters, from left to right and not overlapping.

    Raises `NbkitError` for a span that is empty, outside the source, or that no word is in.

    >>> IdiomPair("7", "It was a piece of cake.", "C'était du gâteau.", "piece of cake", ((9, 22),)).words
    ('piece of cake',)
    """

    id: str
    source: str
    target: str
    idiom: str
    spans: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not self.spans:
            raise NbkitError(f'pair {self.id}: the idiom "{self.idiom}" has no span')
        for start, end in self.spans:
            problem = _problem(start, end, self.source)
            if problem:
                raise NbkitError(f'pair {self.id}: span ({start}, {end}) of "{self.idiom}" {problem}')

    @property
    def words(self) -> tuple[str, ...]:
        """The text of each span."""
        return tuple(self.source[start:end] for start, end in self.spans)


def _problem(start: int, end: int, source: str) -> str | None:
    if not 0 <= start < end:
        return "is empty or reversed"
    if end > len(source):
        return f"ends outside the source, which has {len(source)} characters"
    if not any(map(str.isalnum, source[start:end])):
        return f"holds no word: {source[start:end]!r}"
    return None


def annotate(pair: Pair, matcher: PhraseMatcher) -> tuple[IdiomPair, ...]:
    """An entry for each phrase of *matcher* in the source of *pair*, with all its places; none for a regular pair.

    Where phrases overlap, the longest counts (`PhraseMatcher.find`). Source: idioms paper, §3.1.

    >>> from nbkit.text import Sentence, Text
    >>> source = Text((Sentence(tuple("Time for its swan song .".split()), "en"),))
    >>> target = Text((Sentence(tuple("Le chant du cygne .".split()), "fr"),))
    >>> [(each.idiom, each.words) for each in annotate(Pair("1", source, target), PhraseMatcher(["swan song"]))]
    [('swan song', ('swan song',))]
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for match in matcher.find(pair.source):
        spans.setdefault(match.phrase, []).append(match.span)
    return tuple(
        IdiomPair(pair.id, pair.source.text, pair.target.text, idiom, tuple(places)) for idiom, places in spans.items()
    )


def read_idiom_pairs(source: str | Path, target: str | Path, spans: str | Path) -> list[IdiomPair]:
    """Line-aligned files of sources, references and idioms with their spans; ids are line numbers, from 1.

    Overlapping spans of one line (a placeholder at the edge, matched and not matched) become the longest.
    Raises `DataError` with file and line for files of unequal length, an empty side, a line of spans of another form,
    and a span outside its sentence or without a word in it. Source: idioms paper's repository.
    """
    pairs = read_moses(Path(source), Path(target))
    found = []
    for number, (pair, line) in enumerate(zip_longest(pairs, read_lines(Path(spans))), start=1):
        if pair is None or line is None:
            longer, shorter = (spans, source) if pair is None else (source, spans)
            reason = f"{Path(shorter).name} has only {number - 1} lines: the two are not line-aligned"
            raise DataError(reason, longer, number)
        if isinstance(pair, DataError):
            raise pair
        if isinstance(line[1], DataError):
            raise line[1]
        found.append(_annotated(pair, line[1], Path(spans), number))
    return found


def _annotated(pair: RawPair, line: str, path: Path, number: int) -> IdiomPair:
    columns = line.split("\t")
    if len(columns) != 2:
        raise DataError(
            f"an idiom and its spans, separated by one tab, expected; {len(columns)} columns found", path, number
        )
    idiom, listed = columns
    if not idiom.strip() or not _SPANS.fullmatch(listed.strip()):
        raise DataError(f"spans such as [(12, 25), (40, 53)] expected after the idiom, found {listed!r}", path, number)
    places = [(int(start), int(end)) for start, end in _SPAN.findall(listed)]
    for start, end in places:
        problem = _problem(start, end, pair.source)
        if problem:
            raise DataError(f'span ({start}, {end}) of "{idiom}" {problem}', path, number)
    return IdiomPair(pair.id, pair.source, pair.target, idiom.strip(), longest(places))


def longest(places: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Of ranges that overlap the longest, of equally long ones the first; from left to right.

    >>> longest([(0, 8), (0, 11), (20, 25)])
    ((0, 11), (20, 25))
    """
    kept: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda place: (place[0] - place[1], place[0])):
        if all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end))
    return tuple(sorted(kept))


def write_idiom_pairs(pairs: Iterable[IdiomPair], source: str | Path, target: str | Path, spans: str | Path) -> None:
    """The three files that `read_idiom_pairs` reads; each appears complete or not at all.

    Raises `NbkitError` for a text with a line break, which would shift the lines after it.
    """
    paths = [Path(source), Path(target), Path(spans)]
    with ExitStack() as stack:
        unfinished = [stack.enter_context(atomic_write(path)) for path in paths]
        files = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in unfinished]
        for pair in pairs:
            rows = pair.source, pair.target, f"{pair.idiom}\t{list(pair.spans)}"
            for file, row in zip(files, rows, strict=True):
                if "\n" in row or "\r" in row:
                    raise NbkitError(f"pair {pair.id}: a line break in {row[:60]!r}; one line a text is written")
                file.write(row + "\n")
