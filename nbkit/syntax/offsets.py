"""Between characters and tokens: which tokens a range of characters covers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from nbkit.errors import NbkitError

#: A half-open range of characters.
Span: TypeAlias = tuple[int, int]


def tokens_in(spans: Iterable[Span], offsets: Sequence[Span]) -> tuple[int, ...]:
    """The tokens that share a character with any of *spans*, from left to right.

    Raises `NbkitError` for a span that no token matches.

    >>> tokens_in([(2, 9)], [(0, 1), (2, 14)])
    (1,)
    >>> tokens_in([(40, 44)], [(0, 3)])
    Traceback (most recent call last):
    nbkit.errors.NbkitError: no token is in the span (40, 44); tokens end at 3
    """
    found: set[int] = set()
    for start, end in spans:
        covered = [number for number, (first, last) in enumerate(offsets) if first < end and start < last]
        if not covered:
            last_end = offsets[-1][1] if offsets else 0
            raise NbkitError(f"no token is in the span ({start}, {end}); tokens end at {last_end}")
        found.update(covered)
    return tuple(sorted(found))
