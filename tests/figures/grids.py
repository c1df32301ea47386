"""A small run of a study, its tables copied to the grid of its paper: what pages draw of many models and languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbkit.studies.parts import Run
from nbkit.studies.study import Study

#: The values of one axis of a grid: the columns that each value sets.
Axis = Sequence[Mapping[str, Any]]


def widened(rows: pd.DataFrame, axes: Sequence[Axis], noisy: Sequence[str]) -> pd.DataFrame:
    """*rows* of one cell, copied to each combination of the axes whose columns they have; *noisy* columns differ."""
    own = [axis for axis in axes if len(rows) and any(name in rows and rows[name].iloc[0] for name in axis[0])]
    if not own:
        return rows
    copies = []
    for place, values in enumerate(product(*own)):
        rng = np.random.default_rng(place)
        merged = {name: value for each in values for name, value in each.items() if name in rows}
        shift = rng.uniform(0, 0.5)
        moved = {
            name: rows[name] ^ (rng.random(len(rows)) < shift) if rows[name].dtype == bool
            else (rows[name] + shift + rng.normal(0, 0.02, len(rows))).clip(0, 1)
            for name in noisy if name in rows
        }  # fmt: skip
        copies.append(rows.assign(**merged, **moved))
    return pd.concat(copies, ignore_index=True)


def on_grid(patch: pytest.MonkeyPatch, small: Any, axes: Sequence[Axis], noisy: Sequence[str]) -> None:
    """Makes every run of the study read the tables of the *small* one, copied to a grid."""
    read, with_texts, known = Study.read, Study.with_texts, dict[str, pd.DataFrame]()
    first = {name: value for axis in axes for name, value in axis[0].items()}

    def wide(
        study: Study, params: Any, table: str = "outcomes", where: Callable[[pd.DataFrame], Any] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pd.DataFrame:  # fmt: skip
        if table not in known:
            rows = read(small.study, small, table)
            one = {name: rows[name].iloc[0] for name in first if name in rows and len(rows)}
            known[table] = widened(rows[(rows[list(one)] == pd.Series(one)).all(axis=1)] if one else rows, axes, noisy)
        rows = known[table]
        if "model" in rows and isinstance(names := params.models, list):
            own = [study.label(params, name) for name in names] + [*getattr(params, "max_entropy", {}).values()]
            rows = rows[rows["model"].isin(["", *own])]
        rows = rows if where is None or not len(rows) else rows.loc[where]
        return (rows if columns is None else rows[list(columns)]).reset_index(drop=True)

    def texts(study: Study, params: Any, rows: pd.DataFrame, items: str = "items") -> pd.DataFrame:
        source = read(small.study, small, "outcomes").iloc[0] if len(rows) else {}
        of = [name for name in (*small.study.of, "model") if name in rows]
        found = with_texts(
            small.study, small, rows.assign(**{name: source[name] for name in of} if len(rows) else {}), items
        )
        return found.assign(**{name: rows[name] for name in of})

    patch.setattr(Study, "read", wide)
    patch.setattr(Study, "with_texts", texts)
    patch.setattr("nbkit.studies.exports.LARGE", float("inf"))
    patch.setattr(Run, "files", lambda run, table="outcomes": [])
