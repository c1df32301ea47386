"""How good an alignment is against gold links: precision, recall, alignment error rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nbkit.errors import NbkitError


class AlignmentScores(NamedTuple):
    """precision, recall, aer: in [0, 1]. links, sure: how many were found, and how many gold ones are sure."""

    precision: float
    recall: float
    aer: float
    links: int
    sure: int


def score_alignments(
    alignments: Sequence[Iterable[tuple[int, int]]],
    gold: Sequence[Iterable[tuple[int, int]]],
    possible: Sequence[Iterable[tuple[int, int]]] | None = None,
) -> AlignmentScores:
    """Scores of a corpus, over all its links A: S are the *gold* ones, P ⊇ S those and the *possible* ones.

    precision = |A ∩ P| / |A|, recall = |A ∩ S| / |S|, AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|).
    Without possible links AER is 1 − F1. Of nothing found precision is 1, of nothing to find recall is 1, of neither
    AER is 0. Raises `NbkitError` where the lists are not equally long. Source: Och and Ney 2003, §6.

    >>> score_alignments([[(0, 0), (1, 1), (2, 1)]], [[(0, 0), (1, 2)]], [[(1, 1)]])
    AlignmentScores(precision=0.666..., recall=0.5, aer=0.4, links=3, sure=2)
    """
    extra: Sequence[Iterable[tuple[int, int]]] = [()] * len(gold) if possible is None else possible
    if not len(alignments) == len(gold) == len(extra):
        raise NbkitError(
            f"{len(alignments)} alignments, {len(gold)} gold ones and {len(extra)} possible ones: "
            "one of each a pair expected"
        )
    links = sure = hits = allowed = 0
    for found, wanted, also in zip(map(set, alignments), map(set, gold), extra, strict=True):
        links += len(found)
        sure += len(wanted)
        hits += len(found & wanted)
        allowed += len(found & (wanted | set(also)))
    return AlignmentScores(
        precision=allowed / links if links else 1.0,
        recall=hits / sure if sure else 1.0,
        aer=1 - (hits + allowed) / (links + sure) if links + sure else 0.0,
        links=links,
        sure=sure,
    )
