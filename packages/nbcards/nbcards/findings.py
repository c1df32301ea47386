"""What the papers claim in words, as data, and whether it holds for each system: decided from outcomes alone.

A study's `findings.yaml` lists claims, which its files of outcomes carry; each names the outcomes that decide it, and
what they are compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from nbcards.values import DIRECTION, interval_of, scored
from nbkit.studies.behaviours import Answers, Declared, Measure, Words
from nbkit.studies.results import Outcomes, group
from nbkit.studies.summarise import correlate

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["holds", "differs", "not sure"]


class Finding(Declared):
    """A claim and the comparison that decides it.

    source: section, table or figure of the paper. page: the notebook, without folder, that shows it. measure, minus,
    where, unlike, share: as of a `Measure`. of: the groups that the claim is about; all, if there are none. against:
    those that they are compared with, by default all others; than: a number in their place. with: another measure of
    the same items, or a group of numbers as ``group:NAME``; what is compared is then the rank correlation with it, by
    default with 0. across: groups that identify a system in place of its name, for a claim that compares systems, such
    as two trainings of one model.
    """

    claim: str
    source: str
    page: str
    measure: str
    minus: str = ""
    where: dict[str, Words] = Field(default_factory=dict)
    unlike: dict[str, Words] = Field(default_factory=dict)
    share: bool = True
    of: dict[str, Words] = Field(default_factory=dict)
    against: dict[str, Words] = Field(default_factory=dict)
    than: float | None = None
    with_: str = Field(default="", alias="with")
    across: Words = ()
    is_: Literal["above", "below"] = Field(alias="is")

    @property
    def measured(self) -> Measure:
        """What is compared, as a measure whose values are written as the study's are."""
        return Measure(
            label=self.claim, reading=self.claim, answer=Answers(above=""), average="cluster", measure=self.measure,
            minus=self.minus, where=self.where, unlike=self.unlike, share=self.share and not self.with_,
            range=(0.0, 1.0) if self.share and not self.with_ else None,
        )  # fmt: skip


class Decided(Declared):
    """A finding for one system: by how much, with the interval, and of how many units on the smaller side."""

    finding: Finding
    system: str
    source_language: str
    target_language: str
    verdict: Verdict
    value: float
    low: float
    high: float
    n: int

    @property
    def numbers(self) -> str:
        """The numbers behind the verdict: ``+0.24 [0.21, 0.27], N = 40``."""
        measured = self.finding.measured
        value = measured.written(self.value)
        if self.finding.with_:
            return f"ρ = {value} {measured.interval(self.low, self.high)}, N = {self.n:,}"
        sign = "+" if self.finding.than is None and self.value > 0 else ""
        return f"{sign}{value} {measured.interval(self.low, self.high)}, N = {self.n:,}"


def decide(found: Outcomes, finding: Finding) -> list[Decided]:
    """Whether *finding* holds for each system and direction in outcomes.

    The difference of two means over clusters has an interval of the two means' intervals: its ends are as far from it
    as theirs are, by Pythagoras (Zou and Donner 2008; Newcombe 1998 for shares). It takes the two for independent:
    where they share sentences the interval is wider than it had to be. *not sure*: it contains what is compared with.
    A system without both sides of a comparison is skipped. A correlation is Spearman's, with an interval over clusters.
    """
    rows = scored(found, finding.measured)
    if finding.with_:
        rows = rows.assign(other=_others(found, rows, finding))
    rows = rows[rows["score"].notna()]
    across: dict[str, Any] = {f"across {name}": group(rows, name) for name in finding.across}
    rows = rows.assign(**across)
    decided = []
    for (*system, source, target), own in rows.groupby([*(across or ["system"]), *DIRECTION], sort=False):
        if (known := (_correlation if finding.with_ else _comparison)(own, finding)) is None:
            continue
        value, low, high, n = known
        verdict = _verdict(low, high, finding.than or 0.0, finding.is_)
        found_: dict[str, Any] = {"source_language": source, "target_language": target, "verdict": verdict}
        decided.append(
            Decided(finding=finding, system=", ".join(map(str, system)), value=value, low=low, high=high, n=n, **found_)
        )
    return decided


_Known: TypeAlias = "tuple[float, float, float, int] | None"


def _comparison(own: pd.DataFrame, finding: Finding) -> _Known:
    """The value of the claim's groups, or how far it is from that of others, with its interval and number of units."""
    inside = _fits(own, finding.of)
    other = _fits(own, finding.against) if finding.against else ~inside
    sides = [own[inside]] if finding.than is not None else [own[inside], own[other]]
    if any(side.empty for side in sides):
        return None
    value, low, high = _difference(*(interval_of(side, finding.measured) for side in sides))
    return value, low, high, min(side["cluster"].nunique() for side in sides)


def _correlation(own: pd.DataFrame, finding: Finding) -> _Known:
    """Spearman's ρ within the claim's groups, with its interval and number of units; None where it is not defined."""
    own = own[_fits(own, finding.of) & own["other"].notna().to_numpy()]
    if (n := own["cluster"].nunique()) < 2:
        return None
    [row] = correlate(own, "score", "other", cluster="cluster").to_dict("records")
    return None if np.isnan(row["value"]) else (row["value"], row["low"], row["high"], n)


def _others(found: Outcomes, rows: pd.DataFrame, finding: Finding) -> Any:
    """What *rows* are correlated with: a group's numbers, or the other measure at the same items."""
    import pandas as pd

    kind, _, name = finding.with_.partition(":")
    if kind == "group":
        return pd.to_numeric(group(rows, name), errors="coerce")
    keys = ["system", *DIRECTION, "item"]
    others = found.measured(finding.with_).drop_duplicates(keys).set_index(keys)["value"]
    return rows[keys].join(others.rename("other"), on=keys)["other"].to_numpy()


def _fits(rows: pd.DataFrame, wanted: dict[str, tuple[str, ...]]) -> np.ndarray:
    fits = np.ones(len(rows), dtype=bool)
    for name, values in wanted.items():
        fits &= group(rows, name).isin(values).to_numpy()
    return fits


_Interval: TypeAlias = tuple[float, float, float]


def _difference(one: _Interval, other: _Interval | None = None) -> _Interval:
    """The mean with its interval, or the difference of two.

    >>> _difference((0.5, 0.4, 0.6), (0.2, 0.1, 0.3))
    (0.3, 0.158..., 0.441...)
    """
    if other is None:
        return one
    (mean, low, high), (mean_2, low_2, high_2) = one, other
    value = mean - mean_2
    return (
        value,
        float(value - np.hypot(mean - low, high_2 - mean_2)),
        float(value + np.hypot(high - mean, mean_2 - low_2)),
    )


def _verdict(low: float, high: float, than: float, wanted: str) -> Verdict:
    """What an interval says; one without ends (NaN) says nothing.

    >>> _verdict(0.1, 0.3, 0.0, "above"), _verdict(0.1, 0.3, 0.0, "below"), _verdict(-0.1, 0.3, 0.0, "above")
    ('holds', 'differs', 'not sure')
    """
    if low > than or high < than:
        return "holds" if (low > than) == (wanted == "above") else "differs"
    return "not sure"
