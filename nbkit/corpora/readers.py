"""Files of sentence pairs, read line by line: a good pair or an error that describes the line.

Errors are items of the stream, so that one place decides between raising and skipping (`nbkit.files.keep_good`).
What shifts every later pair (files of unequal length) is always raised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from nbkit.errors import DataError, NbkitError
from nbkit.files import OnError, Skipped, aligned_lines, keep_good, read_lines
from nbkit.text.conllu import conllu_entries
from nbkit.text.sentences import Pair

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
    return f"it contains no usable pair; {passed_over}, the first because of {skipped.errors[0]}"


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


def read_parquet(path: Path, source: str, target: str) -> Iterator[RawPair | DataError]:
    """A ``translation`` column of ``{language: text}``, as in the hub's translation data sets."""
    for number, row in parquet_rows(path):
        texts = row.get("translation")
        if isinstance(texts, dict) and source in texts and target in texts:
            yield as_pair([texts[source] or "", texts[target] or ""], path, number)
        else:
            yield DataError(f"no translation from {source} into {target} in columns {', '.join(row)}", path, number)


def as_pair(
    sides: Sequence[str | DataError], path: Path, number: int, target_path: Path | None = None
) -> RawPair | DataError:
    """The pair of line *number*, or what is wrong with one of its sides."""
    for side, name, place in zip(sides, ("source", "target"), (path, target_path or path), strict=True):
        if isinstance(side, DataError):
            return side
        if not side.strip():
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
            reason = f"{shorter.name} has only {count} sentences: the two files are not aligned"
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
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            raise line
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
