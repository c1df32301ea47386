"""Derangements of a row of word forms, some of which repeat: counted, listed and drawn with equal probability.

Another order g₁ … g_m of the forms f₁ … f_m *deranges* them if gᵢ ≠ fᵢ everywhere. A form that stands c times may go
to none of its c places, so the number of derangements is that of the ways to place m rooks that neither attack each
other nor stand on a c × c block of any form:

    number = Σₖ (−1)ᵏ rₖ (m − k)! / Π c!,   Σₖ rₖ xᵏ = Π Σⱼ C(c, j)² j! xʲ   (one factor a form)

Every row of forms belongs to equally many permutations of its tokens (Π c!), so that a permutation drawn uniformly
from those that derange is a uniform derangement. Everything here works on integers that stand for forms.

Source: Riordan 1958, chapters 7 and 8 (rook polynomials; permutations with forbidden positions).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate
from math import comb, factorial, prod

import numpy as np

#: Rows with at most this many derangements have all of them listed and shuffled.
FEW = 1000

#: Where a smaller share of all permutations deranges, derangements are drawn form by form, not by rejection.
SELDOM = 1 / 500

#: Entries of one block of permutations (8 MB).
_BLOCK = 1 << 20


def number_of_derangements(forms: tuple[int, ...]) -> int:
    """How many distinct rows derange *forms*, exactly.

    >>> [number_of_derangements(tuple(range(m))) for m in range(1, 7)]  # no repeats: m! / e, rounded
    [0, 1, 2, 9, 44, 265]
    >>> number_of_derangements((0, 0, 1, 1))  # only 1 1 0 0
    1
    """
    copies = sorted(Counter(forms).values())
    return _permutations(len(forms), tuple((c, c) for c in copies)) // prod(map(factorial, copies))


def sample_derangements(forms: tuple[int, ...], n: int, random: np.random.BitGenerator) -> np.ndarray | None:
    """Index orders (n × m) that derange *forms*, no two with the same forms, or None where there are fewer than *n*.

    Every succession of n distinct derangements is equally likely, and so is each way to tell the copies of a form
    apart. The first k of n orders are those that a call for k gets. Few derangements (`FEW`) are all listed and
    shuffled; otherwise permutations are drawn until one deranges; and where that is hopeless (`SELDOM`), forms are put
    place by place, each with the probability that the number of ways to go on gives it.

    >>> sample_derangements((0, 0, 1, 1, 2), 3, np.random.PCG64(0)).tolist()
    [[4, 2, 0, 1, 3], [2, 4, 1, 0, 3], [3, 2, 4, 1, 0]]
    >>> print(sample_derangements((0, 0, 0, 1, 2), 1, np.random.PCG64(0)))
    None
    """
    number = number_of_derangements(forms)
    if number < n or not forms:  # of no forms at all there is one derangement, which changes nothing
        return None
    row = np.array(forms)
    if number <= FEW:
        chosen = _listed(forms)[_shuffled(number, random)[:n]]
        return np.array([_order(row, derangement, random) for derangement in chosen])
    share = number * prod(map(factorial, Counter(forms).values())) / factorial(len(forms))
    if share < SELDOM:
        return np.array(_first_distinct(_drawn_by_counting(forms, random), row, n))
    return np.array(_first_distinct(_drawn_by_rejection(row, int(n / share * 1.2) + 8, random), row, n))


def _first_distinct(orders: Iterable[np.ndarray], row: np.ndarray, n: int) -> list[np.ndarray]:
    """The first *n* of *orders* that put different forms in place."""
    seen: set[bytes] = set()
    kept = []
    for order in orders:
        derangement = row[order].tobytes()
        if derangement not in seen:
            seen.add(derangement)
            kept.append(order)
            if len(kept) == n:
                break
    return kept


def _drawn_by_rejection(row: np.ndarray, expected: int, random: np.random.BitGenerator) -> Iterator[np.ndarray]:
    """Uniform orders that derange *row*, without end: one permutation a row of random numbers, kept if it deranges.

    expected: how many permutations are drawn at once; the orders do not depend on it.
    """
    rows = max(1, min(expected, _BLOCK // len(row)))
    while True:
        orders = np.argsort(random.random_raw(rows * len(row)).reshape(rows, len(row)), axis=1)
        yield from orders[(row[orders] != row).all(axis=1)]


def _drawn_by_counting(forms: tuple[int, ...], random: np.random.BitGenerator) -> Iterator[np.ndarray]:
    """Uniform orders that derange *forms*, without end, at a cost that does not depend on how few they are."""
    row = np.array(forms)
    while True:
        places, tokens = Counter(forms), Counter(forms)
        derangement = []
        for rest, place in zip(reversed(range(len(forms))), forms, strict=True):
            places[place] -= 1
            ways = []
            for form, copies in tokens.items():
                ways.append(0)
                if copies and form != place:
                    tokens[form] -= 1
                    ways[-1] = copies * _permutations(rest, _blocks(places, tokens))
                    tokens[form] += 1
            chosen = list(tokens)[_weighted(ways, random)]
            tokens[chosen] -= 1
            derangement.append(chosen)
        yield _order(row, np.array(derangement), random)


def _blocks(places: Counter[int], tokens: Counter[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((count, tokens[form]) for form, count in places.items() if count and tokens[form]))


@lru_cache(maxsize=1 << 16)
def _permutations(m: int, blocks: tuple[tuple[int, int], ...]) -> int:
    """The ways to put m tokens in m places where, for each (a, b) of *blocks*, b of them may go to none of a places."""
    rooks = _rook_numbers(blocks)
    return sum((-1) ** k * ways * factorial(m - k) for k, ways in enumerate(rooks))


def _rook_numbers(blocks: tuple[tuple[int, int], ...]) -> list[int]:
    """The coefficients of Π Σⱼ C(a, j) C(b, j) j! xʲ; the many blocks of one token make a power of 1 + x."""
    singles = blocks.count((1, 1))
    numbers = [comb(singles, k) for k in range(singles + 1)]
    for a, b in blocks:
        if (a, b) == (1, 1):
            continue
        factor = [comb(a, j) * comb(b, j) * factorial(j) for j in range(min(a, b) + 1)]
        product = [0] * (len(numbers) + len(factor) - 1)
        for i, x in enumerate(numbers):
            for j, y in enumerate(factor):
                product[i + j] += x * y
        numbers = product
    return numbers


@lru_cache(maxsize=512)
def _listed(forms: tuple[int, ...]) -> np.ndarray:
    """All derangements of *forms*, a row each."""
    rows: list[list[int]] = [[]]
    for place, form in enumerate(forms):
        rows = [
            [*row, other]
            for row in rows
            for other in dict.fromkeys(forms)
            if other != form and row.count(other) < forms.count(other) and _can_go_on(forms, place + 1, [*row, other])
        ]
    return np.array(rows)


def _can_go_on(forms: tuple[int, ...], place: int, row: list[int]) -> bool:
    """Whether the forms that *row* has left can derange the places from *place* on (Hall's condition)."""
    left, rest = Counter(forms), len(forms) - place
    left.subtract(row)
    return all(copies + forms[place:].count(form) <= rest for form, copies in left.items() if copies)


def _order(row: np.ndarray, derangement: np.ndarray, random: np.random.BitGenerator) -> np.ndarray:
    """An order that makes *derangement* of *row*, in which the copies of a form stand in random succession."""
    order = np.empty(len(row), dtype=np.intp)
    order[np.argsort(derangement, kind="stable")] = np.lexsort((random.random_raw(len(row)), row))
    return order


def _shuffled(n: int, random: np.random.BitGenerator) -> np.ndarray:
    return np.argsort(random.random_raw(n))


def _weighted(weights: list[int], random: np.random.BitGenerator) -> int:
    """An index drawn with a probability proportional to its weight, exactly, however large weights are."""
    total = sum(weights)
    bits = total.bit_length()
    while True:
        number = 0
        for _ in range((bits + 63) // 64):
            number = number << 64 | int(random.random_raw())
        number &= (1 << bits) - 1
        if number < total:
            return bisect_right(list(accumulate(weights)), number)
