"""Measured rows of all measures in one table, with the columns study, measure and groups, as tests like to see them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbkit.registry import Registry
from nbkit.studies import STUDIES, exports, results
from nbkit.studies.behaviours import Behaviour, behaviour_of, findings_of
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
        declared = known.model_dump(mode="json", exclude={"fit"})
    findings = tuple(findings_of(STUDIES.get(study))) if study in STUDIES else ()
    return Outcomes(study, rows, Behaviour(**{**declared, "outcomes": {"measures": measures}}), findings)


def write_outcomes(tables: Iterable[pd.DataFrame], path: Path, form: str = "parquet", *, key: str = "") -> int:
    """Write tables of one study as a file of outcomes; the number of rows."""
    found = tidy(*tables)
    about = found.behaviour.model_dump(mode="json", exclude={"fit"})
    return exports.write_table(found.rows, path, found.study, about, found.findings, form=form, key=key)
