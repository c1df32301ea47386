"""Counts of senses of pairs that a test writes down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pandas as pd

from nbkit.corpora.homographs import HomographLexicon
from nbkit.measure.senses import COLUMNS, SenseCounts, SenseFinder
from nbkit.studies.disambiguation.mining import sense_rows


def count_senses(pairs: Iterable[tuple[Any, Any, Any]], lexicon: HomographLexicon) -> SenseCounts:
    """The counts of (source, target, links)."""
    return SenseCounts.from_table(sense_table(pairs, lexicon))


def sense_table(pairs: Iterable[tuple[Any, Any, Any]], lexicon: HomographLexicon) -> pd.DataFrame:
    """The rows from which the counts are made."""
    finder, rows = SenseFinder(lexicon, "compounds"), Counter[Any]()
    for source, target, links in pairs:
        rows.update(sense_rows(source, target, links, finder))
    return pd.DataFrame([(*row, n) for row, n in rows.items()], columns=COLUMNS)
