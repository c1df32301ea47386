"""Links of any other aligner (fast_align, awesome-align, GIZA++), from a Pharaoh-format file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nbkit.align.base import an_argument
from nbkit.align.links import Alignment, check_links, pairs_digest, read_pharaoh, to_pharaoh, token_pairs
from nbkit.errors import DataError, NbkitError


class PharaohAligner:
    """Line k of a file holds the links of pair k, ``0-0 1-2 …``, source first, counted from 0.

    A file knows pairs by their places alone, so that `align` wants all of them at once and in the file's order.
    """

    def __init__(self, src: str, tgt: str, argument: str | None = None):
        self.path = an_argument("pharaoh", argument, "FILE")

    @property
    def identity(self) -> dict[str, Any]:
        """The digest of the file's links. Raises `DataError` where it cannot be read."""
        links = [((to_pharaoh(alignment),), ()) for alignment in read_pharaoh(self.path)]
        return {"aligner": "pharaoh", "links": pairs_digest(links)}

    def problem(self) -> str | None:
        """Why the file cannot be used, or None."""
        try:
            for _ in read_pharaoh(self.path):
                pass
        except DataError as error:
            return str(error)
        return None

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`. Raises `DataError` where lines and pairs differ in number, or a link points outside."""
        alignments, checked = list(read_pharaoh(self.path)), token_pairs(pairs)
        if len(alignments) != len(checked):
            raise DataError(
                f"{len(alignments)} lines for {len(checked)} pairs; one line a pair expected, in their order", self.path
            )
        for number, (links, pair) in enumerate(zip(alignments, checked, strict=True), start=1):
            try:
                yield check_links(links, pair)
            except NbkitError as error:
                raise DataError(str(error), self.path, number) from None
