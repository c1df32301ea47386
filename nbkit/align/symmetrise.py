"""One alignment out of two: what each direction of a statistical aligner finds is one-to-many by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nbkit.align.links import Alignment
from nbkit.errors import UnknownNameError

Links = set[tuple[int, int]]

# In the order in which Moses looks at them.
_BESIDE = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(
    forward: Iterable[tuple[int, int]], backward: Iterable[tuple[int, int]], heuristic: str = "grow-diag-final-and"
) -> Alignment:
    """The links of both directions made one alignment by a heuristic out of `SYMMETRISATIONS`.

    forward: links of the direction that gives each target token at most one source token.
    backward: of the other one; both as (source, target). ``grow-diag``: from the intersection on, links of the union
    beside a link, diagonally too, where one of their words has none yet; ``-final``: then the other links of each
    direction where one word has none; ``-final-and``: where both have none.
    Raises `UnknownNameError`. Source: Koehn, Och and Marcu 2003; Koehn et al. 2005, as in Moses' manual.

    >>> forward, backward = [(0, 0), (1, 1), (3, 3)], [(0, 0), (4, 3)]
    >>> symmetrise(forward, backward, "intersection"), symmetrise(forward, backward, "union")
    (((0, 0),), ((0, 0), (1, 1), (3, 3), (4, 3)))
    >>> symmetrise(forward, backward)
    ((0, 0), (1, 1), (3, 3))
    """
    if heuristic not in SYMMETRISATIONS:
        raise UnknownNameError("symmetrisation", heuristic, SYMMETRISATIONS)
    return tuple(sorted(SYMMETRISATIONS[heuristic](set(forward), set(backward))))


def _grow_diag(forward: Links, backward: Links) -> Links:
    links, union = forward & backward, forward | backward
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    points = sorted(union)
    grows = True
    while grows:
        grows = False
        for source, target in points:
            if (source, target) not in links:
                continue
            for down, right in _BESIDE:
                near = (source + down, target + right)
                if near in union and near not in links and (near[0] not in sources or near[1] not in targets):
                    links.add(near)
                    sources.add(near[0])
                    targets.add(near[1])
                    grows = True
    return links


def _final(links: Links, *directions: Links, free: Callable[[bool, bool], bool]) -> Links:
    """*links* and those of each direction whose words, source and target, are *free* enough."""
    links = set(links)
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    for direction in directions:
        for source, target in sorted(direction - links):
            if free(source not in sources, target not in targets):
                links.add((source, target))
                sources.add(source)
                targets.add(target)
    return links


def _either(source_is_free: bool, target_is_free: bool) -> bool:
    return source_is_free or target_is_free


def _both(source_is_free: bool, target_is_free: bool) -> bool:
    return source_is_free and target_is_free


#: Heuristics by name, each a function of the links of the two directions.
SYMMETRISATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "grow-diag-final-and": lambda f, b: _final(_grow_diag(f, b), f, b, free=_both),
    "grow-diag-final": lambda f, b: _final(_grow_diag(f, b), f, b, free=_either),
    "grow-diag": _grow_diag,
    "intersection": lambda f, b: f & b,
    "union": lambda f, b: f | b,
    "forward": lambda f, b: f,
    "backward": lambda f, b: b,
}
