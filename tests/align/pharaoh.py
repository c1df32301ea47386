"""Files of word alignments as aligners write them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nbkit.measure.aligners import to_pharaoh


def write_pharaoh(alignments: Iterable[Iterable[tuple[int, int]]], path: Path) -> Path:
    """One line per alignment; returns the file's path."""
    path.write_text("".join(f"{to_pharaoh(sorted(set(links)))}\n" for links in alignments), encoding="utf-8")
    return path
