"""Scores of alignments against gold links: precision, recall, alignment error rate (Och and Ney 2003, §6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Links = Sequence[Iterable[tuple[int, int]]]


class Scores(NamedTuple):
    precision: float
    recall: float
    aer: float


def score_alignments(alignments: Links, gold: Links) -> Scores:
    """Score all links of a corpus: AER is 1 − F1 if all gold links are sure."""
    found, sure = ({(n, *link) for n, links in enumerate(each) for link in links} for each in (alignments, gold))
    assert len(alignments) == len(gold) and found and sure
    hits = len(found & sure)
    return Scores(hits / len(found), hits / len(sure), 1 - 2 * hits / (len(found) + len(sure)))
