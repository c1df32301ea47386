"""Outcomes that a test made in the long form, as a file that says how its columns are read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbkit.studies import exports

LONG_VERSION = 1


def objects(values: Iterable[Any]) -> np.ndarray:
    """*values* as they are, in an array: pandas would look into lists."""
    return np.fromiter(values, dtype=object)


def write_outcomes(tables: Iterable[pd.DataFrame], path: Path, form: str = "parquet", *, key: str = "") -> int:
    """Write tables in the long form as one file of outcomes; the number of rows."""
    found = pd.concat(list(tables), ignore_index=True)
    names = list(dict.fromkeys(name for groups in found["groups"] for name in groups))
    rows = found.drop(columns=["groups", "schema_version", "study", "count"], errors="ignore")
    rows = rows.rename(columns={"system": "model", "cluster": "unit"}).assign(
        table="outcomes", **{f"of_{name}": [groups.get(name) for groups in found["groups"]] for name in names}
    )
    measures = {
        name: {
            "value": "value", "where": f"measure == {name!r}", "verdict": "verdict", "reason": "reason",
            "groups": {group: f"of_{group}" for group in names}, "sums": "sums" if "sums" in rows else "",
        }
        for name in found["measure"].unique()
    }  # fmt: skip
    columns = {"measures": measures, "groups": [], "cluster": "unit"}
    return exports.write_table(rows, path, found["study"].iloc[0], columns, form=form, key=key)
