"""Sentences written down with their annotation, and what the paper prints of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from nbkit.text.sentences import Sentence


def annotated(line: str, lang: str = "en") -> Sentence:
    """A sentence of ``word/UPOS/head/label`` (heads from 1, 0 for the root), ``word/UPOS`` or plain words."""
    words = [word.split("/") for word in line.split()]
    columns = list(zip(*words, strict=True))
    return Sentence(
        tokens=columns[0],
        lang=lang,
        upos=columns[1] if len(columns) > 1 else None,
        heads=tuple(int(head) - 1 for head in columns[2]) if len(columns) > 2 else None,
        deprels=columns[3] if len(columns) > 3 else None,
    )


class Example(NamedTuple):
    """A published example.

    verdict: "exact" where the definition gives the printed order; "reachable" where it is one of the
    orders of a random perturbation, "unreachable" where it is none; "differs" where the definition
    gives another order (*definition*, nothing for none), for the *reason* given.
    """

    where: str
    name: str
    sentence: str
    printed: str
    verdict: str
    definition: str
    reason: str

    @property
    def printed_tokens(self) -> tuple[str, ...]:
        """The printed words; the paper sometimes leaves the full stop on the last one ("race in the.")."""
        words = self.printed.split()
        if len(words[-1]) > 1 and words[-1][-1] in ".?!":
            words[-1:] = [words[-1][:-1], words[-1][-1]]
        return tuple(words)


def published() -> list[Example]:
    """Every example of Figure 3 and Tables 4 and 5 but one of two sentences, which has a test of its own."""
    text = (Path(__file__).parent / "published.tsv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Example(*row) for row in rows]
