"""Bilingual word lists as files: MUSE's dictionaries, and any list of the same form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbkit.corpora.readers import read_lines
from nbkit.errors import DataError, NbkitError


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
