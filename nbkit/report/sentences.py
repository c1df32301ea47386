"""The browser of sentences: all items of a run with every system's output, packed into one page.

It is made of the outcomes in the run's folder alone. Texts, items, answers and results are columns of numbers and one
block of text, deflated and written into the page as base64; ``sentences.js`` unpacks, filters and shows them.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.errors import DataError, NbkitError
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import behaviour_of
from nbkit.studies.results import VERDICTS, Outcomes, groups_of, read_outcomes, spans_of

if TYPE_CHECKING:
    import pandas as pd

#: Items that a page holds; of more, each entry keeps its share of them.
MOST_ITEMS = 100_000
_NONE = -1
_ANSWER = ("item", "system", "groupsOf", "source", "changed", "reference", "output", "spansOf")
_RESULT = ("answer", "measure", "value", "verdict", "reason")


def digest(files: Mapping[str, Path]) -> str:
    """The digest of what the page is made of beside the run's records. files: outcomes by entry."""
    state = hashlib.blake2b(digest_size=16)
    for name, path in files.items():
        with path.open("rb") as file:
            state.update(name.encode() + hashlib.file_digest(file, "blake2b").digest())
    return state.hexdigest()


class Numbered(dict[Any, int]):
    """Values by their number: each new one gets the next."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


class Pack:
    """The items of several entries as columns.

    An item has answers: what one system wrote for it, with the texts that belong to it. An answer has results: one a
    measure. Answers stand in the order of their items, results in the order of their answers.
    """

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.left_out = 0
        self._texts, self._systems, self._measures, self._reasons = Numbered(), Numbered(), Numbered(), Numbered()
        self._directions, self._groups, self._spans = Numbered(), Numbered(), Numbered()
        self._items: list[tuple[int, int, str]] = []
        self._answers: list[tuple[int, ...]] = []
        self._results = {name: array("f" if name == "value" else "i") for name in _RESULT}

    def add(self, entry: Mapping[str, Any], tables: Iterable[pd.DataFrame]) -> None:
        """Add the outcomes of an *entry*, as `described`. tables: measured rows with the column *measure*."""
        number = len(self.entries)
        items, answers = Numbered(), Numbered()
        before = len(self._items), len(self._answers)
        for table in tables:
            rows: Iterator[Any] = table.itertuples(index=False)
            for row, named in zip(rows, groups_of(table), strict=True):
                key = (row.source_language, row.target_language, row.item)
                item = items.get(key)
                if item is None:
                    item = items[key]
                    direction = self._directions[f"{row.source_language}-{row.target_language}".rstrip("-")]
                    self._items.append((number, direction, row.item))
                texts = (self._text(getattr(row, name, None)) for name in ("source", "changed", "reference", "output"))
                groups = self._groups[json.dumps(named, ensure_ascii=False)]
                spans = json.dumps(spans_of(getattr(row, "spans", None)), ensure_ascii=False)
                marks = self._spans[spans] if spans != "[]" else _NONE
                answer = (before[0] + item, self._systems[row.system], groups, *texts, marks)
                place = answers.get(answer)
                if place is None:
                    place = answers[answer]
                    self._answers.append(answer)
                verdict = VERDICTS.index(row.verdict) + 1 if isinstance(row.verdict, str) else 0
                of = (self._measures[row.measure], row.value, verdict, self._reasons[row.reason])
                for column, value in zip(self._results.values(), (before[1] + place, *of), strict=True):
                    column.append(value)
        self.entries.append({**entry, "items": len(items)})

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self._items)

    def _text(self, text: Any) -> int:
        return self._texts[text] if isinstance(text, str) else _NONE

    def packed(self) -> tuple[bytes, int]:
        """The deflated columns, and their length before: the length of a JSON head, the head, arrays, and the texts.

        A number of an array has 4 bytes, and a zero ends each text.
        """
        order = sorted(range(len(self._answers)), key=lambda place: self._answers[place][0])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        answers = np.array([self._answers[place] for place in order], dtype=np.int32)
        answers = answers.reshape(len(order), len(_ANSWER))
        results = {name: np.array(values) for name, values in self._results.items()}
        results["answer"] = rank[results["answer"]].astype(np.int32)
        in_turn = np.lexsort((results["measure"], results["answer"]))
        columns: dict[str, np.ndarray] = {
            name: np.array([item[place] for item in self._items], dtype=np.int32)
            for place, name in enumerate(("entry", "direction"))
        }
        columns |= {name: answers[:, place] for place, name in enumerate(_ANSWER)}
        columns |= {name: values[in_turn] for name, values in results.items()}
        # Half a surrogate pair cannot be written.
        texts = [text.replace("\0", " ").encode("utf-8", "replace") for text in self._texts]
        columns["starts"] = np.cumsum([0, *(len(text) + 1 for text in texts)], dtype=np.int32)
        head = {
            "columns": [
                [name, "f" if values.dtype == np.float32 else "i", len(values)] for name, values in columns.items()
            ],
            "ids": [item[2] for item in self._items],
            "verdicts": ["", *VERDICTS],
            "entries": self.entries,
            "left_out": self.left_out,
        }
        known = {"systems": self._systems, "directions": self._directions, "measures": self._measures}
        head |= {name: list(values) for name, values in (known | {"reasons": self._reasons}).items()}
        head |= {name: list(map(json.loads, values)) for name, values in
                 (("groups", self._groups), ("spans", self._spans))}  # fmt: skip
        written = json.dumps(head, ensure_ascii=False).encode("utf-8", "replace")
        written += b" " * (-len(written) % 4)
        arrays = b"".join(values.astype(values.dtype.newbyteorder("<")).tobytes() for values in columns.values())
        whole = b"".join([len(written).to_bytes(4, "little"), written, arrays, *(text + b"\0" for text in texts)])
        return zlib.compress(whole, 6), len(whole)


def pack(entries: Sequence[Mapping[str, Any]], files: Mapping[str, Path], most: int = MOST_ITEMS) -> Pack:
    """The items of *entries* (see `described`) that have outcomes, at most *most*.

    Of more, those with the smallest ids of each entry, which are the same for each system and in each run. Raises
    `DataError` for a file that cannot be read.
    """
    made = Pack()
    found = {name: _ids(path) for name, path in files.items()}
    left, share = most, {}
    for place, (name, ids) in enumerate(sorted(found.items(), key=lambda each: len(each[1]))):
        share[name] = min(len(ids), left // (len(found) - place))
        left -= share[name]
    for entry in entries:
        name = entry["name"]
        if name in files:
            ids = found[name]
            made.left_out += len(ids) - share[name]
            below = "" if share[name] == len(ids) else sorted(ids)[share[name]]
            [outcomes] = read_outcomes(files[name], below=below)
            made.add(entry, measured(outcomes))
    return made


def measured(found: Outcomes) -> Iterator[pd.DataFrame]:
    """The measured rows of each measure, with the column *measure*."""
    for name in found.names:
        yield found.measured(name).assign(measure=name)


def is_readable(path: Path) -> bool:
    """Whether *path* is a Parquet file, by what it ends with: a report does without a broken one.

    >>> is_readable(Path("nowhere.parquet"))
    False
    """
    try:
        with path.open("rb") as file:
            file.seek(-4, os.SEEK_END)
            return file.read() == b"PAR1"
    except OSError:
        return False


def _ids(path: Path) -> set[str]:
    """The ids of the items in a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(path).iter_batches(columns=["item"])
        return {item for batch in batches for item in batch.column(0).unique().to_pylist()}
    except (OSError, pa.ArrowException, KeyError) as error:
        raise DataError(f"not readable as Parquet ({error}); delete it and run again", path) from None


def described(name: str, study: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the page says of an entry: its study's title, what changed texts are called, its corpora and licences."""
    known: dict[str, Any] = {"name": name, "study": study, "title": study, "changed": "as given", "corpora": []}
    try:
        found = STUDIES.get(study)
        checked = found.params(**(params or {}))
    except NbkitError:  # a plug-in that is not here, or parameters of another version
        return known
    from nbkit.studies.named import corpora

    behaviour = behaviour_of(found)
    known |= {"title": behaviour.title, "changed": behaviour.changed} if behaviour else {"title": found.title}
    known["called"] = (
        {each.measure: each.called for each in behaviour.measures.values() if each.called} if behaviour else {}
    )
    return known | {"corpora": [{**each, "name": Path(each["name"]).name} for each in corpora(checked)]}
