"""The leaderboards of a run: systems ranked by each measure whose verdicts a reader found precise, and nothing else.

A measure has one if its study declares how many of its failures were right when read (``read`` in ``behaviour.yaml``)
and these are at least `nbkit.studies.behaviours.BAR`; outcomes are all that is needed. Ranks are those of
`nbkit.studies.comparison.ranked`. There is no score over several measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nbkit.measure.health import declared_measure
from nbkit.measure.statistics import spearman
from nbkit.models.translators.texts import score_of_sums
from nbkit.report.answers import direction
from nbkit.report.drawing import point, scale, svg
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import BAR, FEW, Measure, Read, behaviour_of, is_people
from nbkit.studies.comparison import ranked
from nbkit.studies.results import read_outcomes

#: Systems without which there is nothing to rank.
LEAST = 3
#: Distances from the median, in scaled median absolute deviations, beyond which a system is an outlier: Mathur, Baldwin
#: & Cohn 2020, *Tangled up in BLEU*, section 4.2.
OUTLYING = 2.5
_OF = ["system", "source_language", "target_language"]
_COLUMNS = ["study", "item", "count", *_OF, "measure", "value", "sums", "verdict", "reason", "cluster", "groups"]
_WIDE, _HIGH = 150, 16


@dataclass(frozen=True)
class Board:
    """One leaderboard. name: of the entry or file; rows: of `ranked`, with chrf (NaN where it is not known)."""

    name: str
    title: str
    measure: Measure
    read: Read
    rows: tuple[Mapping[str, Any], ...]

    @property
    def direction(self) -> str:
        return direction(self.rows[0]["source_language"], self.rows[0]["target_language"])

    @property
    def anchor(self) -> str:
        return re.sub("[ /→]", "-", f"{self.name}-{self.direction}-{self.measure.measure}")

    @property
    def has_chrf(self) -> bool:
        return any(row["chrf"] == row["chrf"] for row in self.rows)

    @property
    def answer(self) -> str:
        """What the order is worth, in one sentence."""
        best = [row["system"] for row in self.rows if row["tied"]]
        if len(best) == len(self.rows):
            return "No system is significantly better than another."
        n = len(self.rows)
        verb = "is" if n - len(best) == 1 else "are"
        return (
            f"{len(best)} of {n} are tied for the first place; {n - len(best)} {verb} significantly worse than another."
        )

    def shown(self) -> Iterator[dict[str, Any]]:
        """The rows as the page writes them."""
        low = min(min(row["low"], row["value"]) for row in self.rows)
        high = max(max(row["high"], row["value"]) for row in self.rows)
        middle = 0.5 * (low == high)  # of the picture, where there is one value
        at = scale(low - middle, high + middle, 6, _WIDE - 6)
        for row in self.rows:
            text, interval = self.measure.written(row["value"]), self.measure.interval(row["low"], row["high"])
            dot = point(at, _HIGH / 2, (row["low"], row["value"], row["high"]), radius=3.6)
            yield {
                **row,
                "text": text,
                "interval": interval,
                "ranks": f"{row['first']}–{row['last']}" if row["first"] != row["last"] else str(row["first"]),
                "few": row["n"] < FEW,
                "people": is_people(row["system"]),
                "chrf_text": f"{row['chrf']:.1f}" if row["chrf"] == row["chrf"] else "–",
                "picture": svg([dot], _WIDE, _HIGH, f"{text} {interval}", "mark-of"),
            }

    def correlations(self) -> list[str]:
        """Rank correlation with chrF over systems that are no people, and without outliers, as sentences."""
        systems = [row for row in self.rows if row["chrf"] == row["chrf"]]
        odd = outliers({row["system"]: row["chrf"] for row in systems})
        parts = [("All systems", systems)]
        parts += (
            [(f"Without outliers ({', '.join(odd)})", [r for r in systems if r["system"] not in odd])] if odd else []
        )
        said = []
        for who, rows in parts:
            found = spearman([row["value"] for row in rows], [row["chrf"] for row in rows])
            if found.rho == found.rho:
                numbers = f"ρ = {found.rho:.2f} [{found.low:.2f}, {found.high:.2f}]".replace("-", "−")
                said.append(f"{who}: {numbers}, n = {found.n}.")
            else:
                said.append(f"{who}: not defined (n = {found.n}).")
        return said if systems else []


def outliers(scores: Mapping[str, float]) -> list[str]:
    """Systems whose score is further than `OUTLYING` × 1.483 × MAD from the median.

    Source: Mathur, Baldwin & Cohn 2020, section 4.2.

    >>> outliers({"a": 50.0, "b": 51.0, "c": 52.0, "d": 51.5, "e": 20.0})
    ['e']
    """
    if not scores:
        return []
    values = np.array(list(scores.values()))
    far = np.abs(values - np.median(values))
    bound = OUTLYING * 1.483 * np.median(far)
    return [name for name, each in zip(scores, far, strict=True) if each > bound > 0]


def boards(files: Mapping[str, Path], studies: Mapping[str, str], health: Sequence[Any] = ()) -> list[Board]:
    """The leaderboards of a run. files: outcomes by entry; studies: of each entry; health: its records."""
    found: list[Board] = []
    for name, path in files.items():
        if studies.get(name) in STUDIES:
            state = path.stat()
            found += _of_entry(path, name, studies[name], (state.st_mtime_ns, state.st_size))
    for each in health:
        found += _of_health(each, found)
    return found


@lru_cache(maxsize=64)
def _of_entry(path: Path, name: str, study: str, state: tuple[int, int]) -> tuple[Board, ...]:
    import pandas as pd

    declared = behaviour_of(STUDIES.get(study))
    measures = [each for each in declared.measures.values() if each.read] if declared else []
    wanted = {"chrf", *(each.measure for each in measures), *(each.minus for each in measures)}
    parts = [part.loc[part["measure"].isin(wanted), _COLUMNS] for part in read_outcomes(path)] if measures else []
    if not parts:
        return ()
    assert declared is not None
    outcomes = pd.concat(parts, ignore_index=True)
    chrf = {
        key: score_of_sums("chrf", [sums for sums in part["sums"] if sums is not None])
        for key, part in outcomes[outcomes["measure"] == "chrf"].groupby(_OF, sort=False)
    }
    return tuple(
        board
        for measure in measures
        for board in _boards(ranked(outcomes, measure), name, declared.title, measure, chrf)
    )


def _boards(table: Any, name: str, title: str, measure: Measure, chrf: Mapping[Any, float]) -> Iterator[Board]:
    for (source, target), part in table.groupby(_OF[1:], sort=False):
        read = measure.precision(source, target)
        if read is not None and read.right >= BAR * read.of and len(part) >= LEAST:
            scores = [np.nan if is_people(row[0]) else chrf.get(tuple(row), np.nan) for row in part[_OF].values]
            rows = part.assign(chrf=scores).to_dict("records")
            yield Board(name, title, measure, read, tuple(rows))


def _of_health(health: Any, others: Sequence[Board]) -> Iterator[Board]:
    """The leaderboard of the health of outputs; chrF is that of an entry of the run with the same systems."""
    import pandas as pd

    if not health.ranks:
        return
    systems = {row["system"] for row in health.ranks}
    same = (each for each in others if systems <= {row["system"] for row in each.rows} and each.has_chrf)
    chrf = {
        tuple(row[key] for key in _OF): row["chrf"]
        for board in same
        if board.direction == direction(health.source, health.target)
        for row in board.rows
    }
    yield from _boards(pd.DataFrame(health.ranks), health.file, "Health of the outputs", health_measure(), chrf)


def health_measure() -> Measure:
    """The measure that health is ranked by: lines in which nothing was found.

    >>> health_measure().better
    'higher'
    """
    return Measure(**declared_measure())
