"""Outcomes of made-up systems, as studies write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tests.studies.long_files import objects


def numbers_of(
    values: Sequence[float], system: str = "S", *, per_cluster: int = 1, groups: Sequence[str] = ("integers",),
    texts: bool = True, **columns: Any,
) -> pd.DataFrame:  # fmt: skip
    """Outcomes of the numbers study: strict is *values*, item after item; clusters are of *per_cluster* items each."""
    rows = []
    for i, value in enumerate(values):
        verdict = {1.0: "pass", 0.0: "fail"}.get(value, "undecided")
        row: dict[str, Any] = {
            "study": "numbers", "item": f"{i:032x}", "system": system,
            "source_language": "en", "target_language": "de", "measure": "strict", "value": value,
            "verdict": verdict, "reason": "" if value == 1 else "digit lost", "cluster": f"c{i // per_cluster}",
            "groups": {"capability": groups[i % len(groups)]},
        }  # fmt: skip
        if texts:
            row |= {"source": f"It is {i} km.", "changed": None, "reference": None,
                    "output": f"Es sind {i if value == 1 else 99} km.",
                    "spans": [{"text": "source", "start": 6, "end": 6 + len(str(i)), "label": "number"}]}  # fmt: skip
        rows.append({**row, **columns})
    return pd.DataFrame(rows)


def changed(found: pd.DataFrame, **values: Mapping[int, Any]) -> pd.DataFrame:
    """*found* with other values at some rows: ``changed(found, output={0: "…"})``."""
    columns = {name: found[name].tolist() for name in values}
    for name, at in values.items():
        for row, value in at.items():
            columns[name][row] = value
    return found.assign(**{name: objects(column) for name, column in columns.items()})
