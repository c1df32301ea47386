"""Challenge sets: the most biased test pairs, those of rare senses, random ones; and how much sets have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nbkit.seeding import address

#: The sets by what their members were chosen for.
CHALLENGE, RANDOM, RARE = "challenge", "random", "rare sense"


def ranked(scores: Sequence[float] | np.ndarray, keys: Sequence[object], *where: object) -> np.ndarray:
    """Places in the order of *scores*, the largest first; equal ones in an order drawn by their *keys*.

    >>> ranked([0.1, 0.5, 0.1], ["a", "b", "c"]).tolist()[0]
    1
    """
    drawn = np.array([address("tie", *where, key) for key in keys], dtype=np.uint64)
    return np.lexsort((drawn, -np.asarray(scores, dtype=np.float64)))


def drawn(keys: Sequence[object], *where: object) -> np.ndarray:
    """All places in an order drawn by their *keys*: the first n are a random sample, and part of that of n + 1."""
    return np.argsort(np.array([address("random", *where, key) for key in keys], dtype=np.uint64), kind="stable")


def rarity(homographs: Sequence[str], clusters: Sequence[str], counts: Mapping[tuple[str, str], int]) -> np.ndarray:
    """How rare the sense of each pair is: 1 − its share of the homograph's training pairs where it is the homograph's
    rarest (or as rare as that), minus its share elsewhere. Pairs in a rarest sense come first, the rarest of all ahead.

    counts: training pairs by (homograph, cluster), zeros included: a sense that was never seen is the rarest there is.
    Of a homograph that was never seen no sense is known to be rare: −1.

    >>> rarity(["bat"] * 2, ["animal", "club"], {("bat", "animal"): 3, ("bat", "club"): 1}).tolist()
    [-0.75, 0.75]
    """
    totals: Counter[str] = Counter()
    rarest: dict[str, int] = {}
    for (homograph, _), count in counts.items():
        totals[homograph] += count
        rarest[homograph] = min(count, rarest.get(homograph, count))

    def value(homograph: str, count: int) -> float:
        if not totals[homograph]:
            return -1.0
        share = count / totals[homograph]
        return 1 - share if count == rarest[homograph] else -share

    found = zip(homographs, clusters, strict=True)
    return np.array([value(homograph, counts[homograph, cluster]) for homograph, cluster in found], dtype=np.float64)


def capped(order: Iterable[int], groups: Sequence[object], size: int, per_group: int) -> np.ndarray:
    """The first *size* places of *order*, at most *per_group* of each group.

    >>> capped([3, 2, 1, 0], ["a", "b", "a", "a"], size=3, per_group=2).tolist()
    [3, 2, 1]
    """
    taken: Counter[object] = Counter()
    chosen: list[int] = []
    for place in order:
        if len(chosen) == size:
            break
        if taken[groups[place]] < per_group:
            taken[groups[place]] += 1
            chosen.append(place)
    return np.array(chosen, dtype=np.int64)


def overlap(a: Iterable[int], b: Iterable[int]) -> float:
    """The share of the members of the smaller set that the other one has too; NaN where one is empty.

    >>> overlap([1, 2, 3], [2, 3, 4]), overlap([], [1])
    (0.666..., nan)
    """
    left, right = set(a), set(b)
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else float("nan")


def jaccard(a: Iterable[int], b: Iterable[int]) -> float:
    """|A ∩ B| / |A ∪ B|; NaN where both are empty (§4 of the paper).

    >>> jaccard([1, 2, 3], [2, 3, 4])
    0.5
    """
    left, right = set(a), set(b)
    union = len(left | right)
    return len(left & right) / union if union else float("nan")
