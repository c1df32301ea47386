"""Files of sentence pairs, read line by line: a good pair or the error that tells what is wrong with the line.

Errors are items of the stream, so that one place decides between raising and skipping (`nbkit.files.keep_good`).
What shifts every later pair (files of unequal length) is always raised.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from nbkit.errors import DataError, NbkitError
from nbkit.files import OnError, Skipped, keep_good
from nbkit.text.conllu import Entry, conllu_entries
from nbkit.text.sentences import Pair

#: Rows of a Parquet file that are in memory at a time.
PARQUET_ROWS = 1000


@dataclass(frozen=True)
class RawPair:
    """An unparsed pair; id: its line number, from 1."""

    id: str
    source: str
    target: str


def read_lines(path: Path) -> Iterator[tuple[int, str | DataError]]:
    """The numbered lines of a UTF-8 file without their ends; only ``\\n`` and ``\\r\\n`` end a line."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise NbkitError(f"corpus file {path} cannot be read: {error.strerror}") from None
    with file:
        for number, line in enumerate(file, start=1):
            line = line.removesuffix(b"\n").removesuffix(b"\r")
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                yield (
                    number,
                    DataError(
                        f"bad UTF-8 at byte {error.start + 1} of the line; convert the file to UTF-8", path, number
                    ),
                )


def content_problem(items: Iterable[Any], on_error: OnError, start: int = 0, stop: int | None = None) -> str | None:
    """What is wrong with the good ones among *items* from *start* to *stop*: that there are none. Reads them all.

    Raises the first `DataError` among *items* up to there, unless *on_error* is "skip".

    >>> content_problem(["a pair"], "raise"), content_problem([DataError("empty line", "x.tsv", 1)], "skip")
    (None, 'there is no pair in it that can be used; 1 was left out, the first because of x.tsv:1: empty line')
    """
    skipped = Skipped()
    good = sum(1 for _ in islice(keep_good(items, on_error, skipped), start, stop))
    if good:
        return None
    if not skipped:
        return "there is no pair in it" + (f" after the first {start}" if start else "")
    left_out = f"{len(skipped)} {'was' if len(skipped) == 1 else 'were'} left out"
    return f"there is no pair in it that can be used; {left_out}, the first because of {skipped.errors[0]}"


def read_tsv(path: Path, source: int = 0, target: int = 1, header: int = 0) -> Iterator[RawPair | DataError]:
    """Two tab-separated columns; *source* and *target* say which is which. The first *header* lines are no pairs."""
    for number, line in islice(read_lines(path), header, None):
        if isinstance(line, DataError):
            yield line
            continue
        columns = line.split("\t")
        if not line.strip():
            yield DataError("empty line", path, number)
        elif len(columns) != 2:
            yield DataError(f"2 tab-separated columns expected, {len(columns)} found", path, number)
        else:
            yield _pair(columns[source], columns[target], path, number)


def read_coded_tsv(path: Path, source: Collection[str], target: Collection[str]) -> Iterator[RawPair | DataError]:
    """The Tatoeba Challenge's four columns: two language codes, two texts.

    source, target: the codes that are meant. Rows of another variety (``cmn_Hant`` beside ``cmn_Hans``) are
    not part of the corpus; they are passed over, not counted as malformed.
    """
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            yield line
            continue
        columns = line.split("\t")
        if not line.strip():
            yield DataError("empty line", path, number)
        elif len(columns) != 4:
            yield DataError(f"4 tab-separated columns expected, {len(columns)} found", path, number)
        elif columns[0] in source and columns[1] in target:
            yield _pair(columns[2], columns[3], path, number)
        elif columns[1] in source and columns[0] in target:
            yield _pair(columns[3], columns[2], path, number)


def read_moses(source: Path, target: Path) -> Iterator[RawPair | DataError]:
    """Two files of which line *n* of one translates line *n* of the other."""
    for left, right in zip_longest(read_lines(source), read_lines(target)):
        if left is None or right is None:
            longer, shorter = (target, source) if left is None else (source, target)
            number, _ = left or right
            reason = f"{shorter.name} has only {number - 1} lines: the two are not line-aligned"
            raise DataError(reason, longer, number)
        (number, source_line), (_, target_line) = left, right
        if isinstance(source_line, DataError):
            yield source_line
        elif isinstance(target_line, DataError):
            yield target_line
        else:
            yield _pair(source_line, target_line, source, number, target)


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file, numbered from 1, in as much memory as `PARQUET_ROWS` of them need.

    (`datasets` reads a whole row group at a time, which in many files is all of it.)
    Raises `NbkitError` where it cannot be read.
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
    """A ``translation`` column of ``{language: text}``, as the hub's translation data sets have it."""
    for number, row in parquet_rows(path):
        yield _parquet_pair(row, path, source, target, number)


def _parquet_pair(row: dict[str, Any], path: Path, source: str, target: str, number: int) -> RawPair | DataError:
    texts = row.get("translation")
    if not isinstance(texts, dict) or source not in texts or target not in texts:
        return DataError(f"no translation of {source} to {target} in columns {', '.join(row)}", path, number)
    return _pair(texts[source] or "", texts[target] or "", path, number)


def _pair(source: str, target: str, path: Path, number: int, target_path: Path | None = None) -> RawPair | DataError:
    if not source.strip():
        return DataError("the source side is empty", path, number)
    if not target.strip():
        return DataError("the target side is empty", target_path or path, number)
    return RawPair(str(number), source, target)


def read_treebanks(source: Path, target: Path, src: str, tgt: str) -> Iterator[Pair | DataError]:
    """Two CoNLL-U files with the same sentences in the same order. A pair has the source's ``sent_id``.

    Raises `DataError` where one file ends before the other, or where the files share their ``sent_id``s (as
    the Parallel Universal Dependencies do) and two of them differ.
    """
    shared: bool | None = None
    count = 0
    for left, right in zip_longest(conllu_entries(source, src), conllu_entries(target, tgt)):
        if left is None or right is None:
            longer, shorter = (right, source) if left is None else (left, target)
            assert longer is not None
            reason = f"{shorter.name} has only {count} sentences: the two are not aligned"
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
            raise DataError(_shifted(left, right), right.path, right.line)
        yield Pair(left.id, left.text, right.text)


def _shifted(left: Entry, right: Entry) -> str:
    return f"sentence '{right.id}' stands where {Path(left.path).name} has '{left.id}': the two are not aligned"


# ----------------------------------------------------------------------------
# Bilingual word lists as files: MUSE's dictionaries, and any list of the same form.


def read_word_pairs(path: str | Path) -> Iterator[tuple[str, str]]:
    """The pairs of a word list in its order: a line ``word translation``, with a tab or white space between.

    With a tab, either side may be several words. Empty lines and lines that begin with ``#`` are left out.
    Raises `DataError` with file and line for another number of fields and for bad UTF-8, with the file for one without
    any pair, and `NbkitError` for a file that cannot be read. Source: Lample et al. 2018 (MUSE), for the form.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise NbkitError(f"word list {path} cannot be read: there is no such file")
    found = 0
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            raise line
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")] if "\t" in line else line.split()
        if len(fields) != 2 or not all(fields):
            reason = f"a word and a translation expected, {len(fields)} fields found: {line[:60]!r}"
            raise DataError(reason, path, number)
        found += 1
        yield fields[0], fields[1]
    if not found:
        raise DataError("there is no entry in this word list", path)
