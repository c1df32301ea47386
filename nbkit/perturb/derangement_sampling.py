"""Derangements of a row of word forms, some of which repeat: counted, listed and drawn with equal probability.

Another order g₁ … g_m of the forms f₁ … f_m *deranges* them if gᵢ ≠ fᵢ everywhere. A form that stands c times may go
to none of its c places, so the number of derangements is that of the ways to place m rooks that neither attack each
other nor stand on a c × c block of any form:

    number = Σₖ (−1)ᵏ rₖ (m − k)! / Π c!,   Σₖ rₖ xᵏ = Π Σⱼ C(c, j)² j! xʲ   (one factor a form)

Every row of forms belongs to equally many permutations of its tokens (Π c!), so that a permutation drawn uniformly
from those that derange is a uniform derangement. Everything here works on integers that stand for forms.

Source: Riordan 1958, chapters 7 and 8 (rook polynomials; permutations with forbidden positions). The paper gives
(w − 1)! as the number of permutations of w words (§4); five different words have 44 and not 24.
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

#: Where a smaller share of all permutations deranges, derangements are built form by form, not drawn by rejection.
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
    copies = tuple(sorted(Counter(forms).values()))
    return _permutations(copies) // prod(map(factorial, copies))


def sample_derangements(forms: tuple[int, ...], n: int, random: np.random.BitGenerator) -> np.ndarray | None:
    """Index orders (n × m) that derange *forms*, no two with the same forms, or None where there are fewer than *n*.

    Every succession of n distinct derangements is equally likely, and so is each way to tell the copies of a form
    apart. The first k of n orders are those that a call for k gets. Few derangements (`FEW`) are all listed and
    shuffled; otherwise permutations are drawn until one deranges; and where that is hopeless (`SELDOM`), a permutation
    is built form by form, each step with the probability that counting gives it.

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
        chosen = _listed(forms)[np.argsort(random.random_raw(number))[:n]]
        return np.array([_order(row, derangement, random) for derangement in chosen])
    share = _permutations(tuple(sorted(Counter(forms).values()))) / factorial(len(forms))
    if share < SELDOM:
        return np.array(_first_distinct(_drawn_by_insertion(forms, random), row, n))
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


def _drawn_by_insertion(forms: tuple[int, ...], random: np.random.BitGenerator) -> Iterator[np.ndarray]:
    """Uniform orders that derange *forms*, without end, at a cost that does not depend on how few they are.

    A permutation grows form by form: place i points to the token it holds, and the copies of the next form are put
    into these arrows. How many arrows are at home after each form is drawn first, backwards from none at the end.
    """
    groups = [np.flatnonzero(np.array(forms) == form).tolist() for form, _ in Counter(forms).most_common()]
    copies = tuple(map(len, groups))
    while True:
        at_home, steps = 0, []
        for k in reversed(range(len(groups))):
            options, weights = _last_steps(copies, k, at_home)
            before, broken, made = options[_weighted(weights, random)]
            steps.append((broken, made))
            at_home = before
        holds: dict[int, int] = {}
        home: list[int] = []
        for group, (broken, made) in zip(groups, reversed(steps), strict=True):
            _insert(group, holds, home, broken, made, random)
        yield np.array([holds[place] for place in range(len(forms))])


@lru_cache(maxsize=64)
def _at_home(copies: tuple[int, ...]) -> tuple[dict[int, int], ...]:
    """For each number of forms that are in, the number of permutations by how many tokens are at home.

    A token is at home at any place of its form. Numbers of tokens that the forms to come cannot drive out are left out.
    """
    tables: list[dict[int, int]] = [{0: 1}]
    for k, c in enumerate(copies):
        m, rest = sum(copies[:k]), sum(copies[k + 1 :])
        table: dict[int, int] = {}
        for at_home, ways in tables[-1].items():
            for made in range(c + 1):
                for broken in range(min(at_home, c - made) + 1):
                    after = at_home - broken + made
                    if after <= rest:
                        more = ways * _insertions(m, c, at_home, broken, made)
                        table[after] = table.get(after, 0) + more
        tables.append(table)
    return tuple(tables)


@lru_cache(maxsize=1 << 14)
def _last_steps(copies: tuple[int, ...], k: int, after: int) -> tuple[list[tuple[int, int, int]], list[int]]:
    """The ways in which form *k* may have come in: (at home before, driven out, newly at home), with their numbers."""
    m, c = sum(copies[:k]), copies[k]
    options, weights = [], []
    for before, ways in _at_home(copies)[k].items():
        for made in range(c + 1):
            broken = before + made - after
            if 0 <= broken <= c - made:
                options.append((before, broken, made))
                weights.append(ways * _insertions(m, c, before, broken, made))
    return options, weights


def _insertions(m: int, c: int, at_home: int, broken: int, made: int) -> int:
    """The ways to put c new tokens of one form into a permutation of m, *made* of them at home, *broken* driven out.

    C(c, t)² t! ways to have t arrows among the new ones leave b = c − t chains, which go into b arrows of the old,
    s of them among the h at home: b! C(h, s) C(m − h, b − s).
    """
    chains = c - made
    into = comb(at_home, broken) * comb(m - at_home, chains - broken)
    return comb(c, made) ** 2 * factorial(made) * factorial(chains) * into


def _insert(
    group: list[int], holds: dict[int, int], home: list[int], broken: int, made: int, random: np.random.BitGenerator
) -> None:
    """Put the copies of a form into the permutation *holds*; *home* are the places that hold a token of their form."""
    away = sorted(holds.keys() - set(home))
    home_drawn = _choose(home, len(home), random)
    opened = home_drawn[:broken] + _choose(away, len(group) - made - broken, random)
    sources, targets = _choose(group, made, random), _choose(group, made, random)
    arrows = dict(zip(sources, targets, strict=True))
    firsts = [token for token in group if token not in set(targets)]
    for place, first in zip(_choose(opened, len(opened), random), firsts, strict=True):
        last = first
        while last in arrows:
            last = arrows[last]
        holds[last], holds[place] = holds[place], first
    holds.update(arrows)
    home[:] = sorted([*home_drawn[broken:], *sources])


def _choose(items: list[int], k: int, random: np.random.BitGenerator) -> list[int]:
    """*k* different ones of *items* in random order."""
    return [items[i] for i in np.argsort(random.random_raw(len(items)))[:k]] if items else []


@lru_cache(maxsize=1 << 14)
def _permutations(copies: tuple[int, ...]) -> int:
    """How many permutations of all tokens derange forms of so many copies each."""
    singles = copies.count(1)
    rooks = [comb(singles, k) for k in range(singles + 1)]  # (1 + x) to the power of the forms that do not repeat
    for c in copies:
        if c == 1:
            continue
        factor = [comb(c, j) ** 2 * factorial(j) for j in range(c + 1)]
        product = [0] * (len(rooks) + c)
        for i, x in enumerate(rooks):
            for j, y in enumerate(factor):
                product[i + j] += x * y
        rooks = product
    return sum((-1) ** k * ways * factorial(sum(copies) - k) for k, ways in enumerate(rooks))


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
