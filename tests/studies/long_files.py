"""Measured rows of all measures in one table, with the columns study, measure and groups, as tests like to see them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbkit.registry import Registry
from nbkit.studies import results
from nbkit.studies.results import Outcomes


def objects(values: Iterable[Any]) -> np.ndarray:
    """*values* as they are, in an array: pandas would look into lists."""
    return np.fromiter(values, dtype=object)


def long(found: Outcomes) -> pd.DataFrame:
    """A row per item, system and measure."""
    parts = []
    for name in found.names:
        rows = found.measured(name)
        spans = {"spans": objects(map(results.spans_of, rows["spans"]))} if "spans" in rows else {}
        rows = rows.assign(study=found.study, measure=name, groups=objects(results.groups_of(rows)), **spans)
        parts.append(rows[[each for each in rows if not each.startswith(results.GROUP)]])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["measure"])


def outcomes(params: Any, *, texts: bool = False) -> list[pd.DataFrame]:
    """The measured rows of a run."""
    return [long(results.computed(params, texts))]


def read_outcomes(path: Path, studies: Registry[Any] | None = None) -> list[pd.DataFrame]:
    """The measured rows in a file."""
    return [long(found) for found in results.read_outcomes(path, studies)]
