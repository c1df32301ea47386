"""Ranks of the systems of a run, by each measure whose verdicts a reader found precise, and by nothing else.

A measure ranks if its study declares how many of its failures were right when read (``read`` in ``behaviour.yaml``) and
these are at least `nbkit.studies.behaviours.BAR`; outcomes are all that is needed. Ranks are those of
`nbkit.studies.comparison.ranked`. There is no score over several measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbkit.measure.health import declared_measure
from nbkit.report.answers import direction
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import BAR, Measure, Read, is_people
from nbkit.studies.comparison import ranked
from nbkit.studies.estimates import DIRECTION, FEW
from nbkit.studies.results import read_outcomes

#: Systems without which there is nothing to rank.
LEAST = 3


@dataclass(frozen=True)
class Board:
    """The systems of one direction, best first. name: of the entry or file; rows: of `ranked`."""

    name: str
    title: str
    measure: Measure
    read: Read
    rows: tuple[Mapping[str, Any], ...]

    @property
    def direction(self) -> str:
        """Source and target language, as pages write them."""
        return direction(self.rows[0]["source_language"], self.rows[0]["target_language"])

    def shown(self) -> Iterator[dict[str, Any]]:
        """The rows as the index writes them."""
        for row in self.rows:
            yield {
                **row,
                "text": self.measure.written(row["value"]),
                "interval": self.measure.interval(row["low"], row["high"]),
                "ranks": f"{row['first']}–{row['last']}" if row["first"] != row["last"] else str(row["first"]),
                "few": row["n"] < FEW,
                "people": is_people(row["system"]),
            }


def boards(files: Mapping[str, Path], studies: Mapping[str, str], health: Sequence[Any] = ()) -> list[Board]:
    """The ranks of a run. files: outcomes by entry; studies: of each entry; health: its records."""
    found: list[Board] = []
    for name, path in files.items():
        if studies.get(name) in STUDIES:
            state = path.stat()
            found += _of_entry(path, name, (state.st_mtime_ns, state.st_size))
    for each in health:
        found += _of_health(each)
    return found


@lru_cache(maxsize=64)
def _of_entry(path: Path, name: str, state: tuple[int, int]) -> tuple[Board, ...]:
    [found] = read_outcomes(path, texts=False)
    measures = [each for each in found.behaviour.measures.values() if each.read]
    return tuple(
        board for each in measures for board in _boards(ranked(found, each), name, found.behaviour.title, each)
    )


def _boards(table: Any, name: str, title: str, measure: Measure) -> Iterator[Board]:
    for (source, target), part in table.groupby(DIRECTION, sort=False):
        read = measure.precision(source, target)
        if read is not None and read.right >= BAR * read.of and len(part) >= LEAST:
            yield Board(name, title, measure, read, tuple(part.to_dict("records")))


def _of_health(health: Any) -> Iterator[Board]:
    """The ranks by the health of outputs."""
    import pandas as pd

    if health.ranks:
        yield from _boards(pd.DataFrame(health.ranks), health.file, "Health of the outputs", health_measure())


def health_measure() -> Measure:
    """The measure that health is ranked by: lines in which nothing was found.

    >>> health_measure().better
    'higher'
    """
    return Measure(**declared_measure())
