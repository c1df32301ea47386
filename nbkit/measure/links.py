"""What an alignment is: sorted links between the tokens of two texts; how it is projected, written and read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import and_, or_
from pathlib import Path
from typing import NamedTuple, TypeAlias

from nbkit.errors import DataError, NbkitError, UnknownNameError
from nbkit.files import atomic_write

#: Word links as (source token, target token), counted from 0, sorted, each once: what `Pair.alignment` holds.
Alignment: TypeAlias = tuple[tuple[int, int], ...]
#: The tokens of a source text and of its translation.
TokenPair: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
_LINK = re.compile(r"([0-9]+)-([0-9]+)")


def token_pairs(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> list[TokenPair]:
    """*pairs* as tuples of tuples. Raises `NbkitError` for a text in place of its tokens, or a token that is none.

    >>> token_pairs([(["a", "cat"], ["eine", "Katze"])])
    [(('a', 'cat'), ('eine', 'Katze'))]
    >>> token_pairs([("a cat", "eine Katze")])
    Traceback (most recent call last):
    nbkit.errors.NbkitError: pair 0: 'a cat' is a text; its tokens are expected
    """
    checked = []
    for number, (source, target) in enumerate(pairs):
        for side in (source, target):
            if isinstance(side, str):
                raise NbkitError(f"pair {number}: {side[:40]!r} is a text; its tokens are expected")
            for token in side:
                if not isinstance(token, str):
                    raise NbkitError(f"pair {number}: {token!r} is no token; texts are expected")
        checked.append((tuple(source), tuple(target)))
    return checked


def check_links(links: Iterable[tuple[int, int]], pair: TokenPair) -> Alignment:
    """*links* sorted and each once. Raises `NbkitError` for one outside the texts.

    >>> check_links([(1, 0), (0, 1), (1, 0)], (("a", "b"), ("c", "d")))
    ((0, 1), (1, 0))
    """
    alignment = tuple(sorted(set(links)))
    for source, target in alignment:
        if not (0 <= source < len(pair[0]) and 0 <= target < len(pair[1])):
            raise NbkitError(
                f"link {source}-{target} points outside its texts of {len(pair[0])} and {len(pair[1])} tokens: "
                f"{' '.join(pair[0])!r}, {' '.join(pair[1])!r}"
            )
    return alignment


def target_of(alignment: Iterable[tuple[int, int]], span: tuple[int, int]) -> tuple[int, ...]:
    """The target tokens that the source tokens of a half-open *span* are linked to, from left to right.

    Empty where none of them is linked. For the other direction: ``target_of(inverted(alignment), span)``.
    Raises `NbkitError` where *span* is no span. Source: idioms paper, §2.2 (the words aligned with the idiom).

    >>> target_of(((0, 0), (1, 3), (1, 2), (2, 1)), (1, 2))
    (2, 3)
    """
    start, end = span
    if not 0 <= start < end:
        raise NbkitError(f"({start}, {end}) is no half-open span of tokens: 0 ≤ start < end expected")
    return tuple(sorted({target for source, target in alignment if start <= source < end}))


def inverted(alignment: Iterable[tuple[int, int]]) -> Alignment:
    """The links seen from the other side.

    >>> inverted(((0, 1), (1, 0)))
    ((0, 1), (1, 0))
    >>> inverted(((0, 2),))
    ((2, 0),)
    """
    return tuple(sorted((target, source) for source, target in alignment))


def to_pharaoh(alignment: Iterable[tuple[int, int]]) -> str:
    """One line of a Pharaoh-format file.

    >>> to_pharaoh(((0, 0), (1, 2)))
    '0-0 1-2'
    """
    return " ".join(f"{source}-{target}" for source, target in alignment)


def from_pharaoh(line: str) -> Alignment:
    """The links of one line of a Pharaoh-format file; the empty line holds none. Raises `NbkitError`.

    >>> from_pharaoh("1-2 0-0")
    ((0, 0), (1, 2))
    >>> from_pharaoh("0-0 1_2")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: '1_2' is no link; source-target expected, as in 3-4, counted from 0
    """
    links = set()
    for field in line.split():
        match = _LINK.fullmatch(field)
        if match is None:
            raise NbkitError(f"{field!r} is no link; source-target expected, as in 3-4, counted from 0")
        links.add((int(match[1]), int(match[2])))
    return tuple(sorted(links))


def read_pharaoh(path: str | Path) -> Iterator[Alignment]:
    """The alignments of a Pharaoh-format file, one a line. Raises `DataError` with file and line, for no file too."""
    place = Path(path).expanduser()
    try:
        with place.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield from_pharaoh(line)
                except NbkitError as error:
                    raise DataError(str(error), path, number) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"no Pharaoh-format file can be read here: {error}", path) from None


def write_pharaoh(alignments: Iterable[Iterable[tuple[int, int]]], path: str | Path) -> Path:
    """Write one line an alignment, atomically; the file's path."""
    place = Path(path).expanduser()
    with atomic_write(place) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{to_pharaoh(sorted(set(alignment)))}\n" for alignment in alignments)
    return place


def pairs_digest(pairs: Iterable[TokenPair]) -> str:
    """What stands for all texts of *pairs*, and their order, in a cache key."""
    digest = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        for side in pair:
            digest.update(len(side).to_bytes(4, "little"))
            for token in side:
                data = token.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()


# ----------------------------------------------------------------------------
# One alignment out of two: what each direction of a statistical aligner finds is one-to-many by itself.

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


#: Heuristics by name, each a function of the links of the two directions.
SYMMETRISATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "grow-diag-final-and": lambda f, b: _final(_grow_diag(f, b), f, b, free=and_),
    "grow-diag-final": lambda f, b: _final(_grow_diag(f, b), f, b, free=or_),
    "grow-diag": _grow_diag,
    "intersection": lambda f, b: f & b,
    "union": lambda f, b: f | b,
    "forward": lambda f, b: f,
    "backward": lambda f, b: b,
}


# ----------------------------------------------------------------------------
# How good an alignment is against gold links: precision, recall, alignment error rate.


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
