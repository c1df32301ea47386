"""Outcomes of made-up systems, as studies write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbkit.studies import STUDIES, Outcomes, exports
from nbkit.studies.behaviours import Behaviour, behaviour_of, findings_of


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


def objects(values: Iterable[Any]) -> np.ndarray:
    """*values* as they are, in an array: pandas would look into lists."""
    return np.fromiter(values, dtype=object)


def tidy(*tables: pd.DataFrame) -> Outcomes:
    """Tables of one study as outcomes, with what the study of that name declares; each measure has its own rows."""
    found = pd.concat(tables, ignore_index=True)
    [study] = found["study"].unique()
    names = list(dict.fromkeys(name for groups in found["groups"] for name in groups))
    rows = found.drop(columns=["groups", "study"]).rename(columns={"system": "model", "cluster": "unit"}).assign(
        table="outcomes", **{f"of_{name}": [groups.get(name) for groups in found["groups"]] for name in names}
    )  # fmt: skip
    measures = {
        name: {
            "value": "value", "where": f"measure == {name!r}", "verdict": "verdict", "reason": "reason",
            "groups": {group: f"of_{group}" for group in names},
        }
        for name in found["measure"].unique()
    }  # fmt: skip
    declared: dict[str, Any] = {"title": study, "question": "", "measures": {
        name: {"label": name, "measure": name, "reading": "", "answer": {"above": "{value}"}} for name in measures
    }}  # fmt: skip
    if study in STUDIES and (known := behaviour_of(STUDIES.get(study))):
        declared = known.model_dump(mode="json", exclude=exports.NOT_OF_OUTCOMES)
    findings = tuple(findings_of(STUDIES.get(study))) if study in STUDIES else ()
    return Outcomes(study, rows, Behaviour(**{**declared, "outcomes": {"measures": measures}}), findings)


def write_outcomes(tables: Iterable[pd.DataFrame], path: Path, form: str = "parquet", *, key: str = "") -> int:
    """Write tables of one study as a file of outcomes; the number of rows."""
    found = tidy(*tables)
    about = {
        "schema_version": exports.SCHEMA_VERSION, "study": found.study, "key": key, "findings": list(found.findings),
        "behaviour": found.behaviour.model_dump(mode="json", exclude=exports.NOT_OF_OUTCOMES),
    }  # fmt: skip
    return exports.write_parts(lambda: iter([found.rows]), path, form, about)
