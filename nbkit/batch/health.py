"""The health of the files of translations that a run reads (`nbkit.measure.health`), for the head of its report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from nbkit.errors import NbkitError
from nbkit.files import file_digest
from nbkit.fingerprint import digest
from nbkit.measure.health import KINDS, Finding, check_outputs
from nbkit.models.services.outputs import read_lines
from nbkit.store import Store
from nbkit.studies.answering import Translators, Use

#: Findings that a report quotes, of each system and kind.
_QUOTED = 3


def health_of(uses: Iterable[Use], store: Store) -> list[dict[str, Any]]:
    """What is wrong with the translations of each source file and direction, by system; as JSON.

    flagged: a system's lines in which something was found; clusters: a number for each line, the same for equal
    sources, None for empty ones.

    Sources are the same where their content is. Files of rounds that are not translated yet are not read, and neither
    are those that a finished run no longer has.
    """
    groups: dict[tuple[str, str, str], dict[str, tuple[Path, Path]]] = {}
    for use in dict.fromkeys(uses):
        if use.kind == Translators and use.model.cost == "nothing":
            src, tgt = use.langs
            with suppress(NbkitError, OSError):
                for source, lines in (use.model.inner or use.model).files():
                    groups.setdefault((file_digest(source), src, tgt), {})[use.label] = (source, lines)
    first = {key: next(iter(files.values()))[0] for key, files in groups.items()}
    # Files of one name in several folders are known by as much of their path as differs.
    above = Path(os.path.commonpath([path.parent for path in first.values()])) if first else Path()
    return [
        {"file": str(first[key].relative_to(above)), **_of_group(files, first[key], *key[1:], store)}
        for key, files in groups.items()
    ]


def _of_group(files: Mapping[str, tuple[Path, Path]], source: Path, src: str, tgt: str, store: Store) -> dict[str, Any]:
    sources = read_lines(source)
    config = {
        "kind": "health",
        "code": digest("nbkit.measure.health:check_outputs"),
        "pair": [src, tgt],
        "source": file_digest(source),
        "outputs": {name: file_digest(lines) for name, (_, lines) in files.items()},
    }

    def compute() -> pd.DataFrame:
        outputs = {name: read_lines(lines) for name, (_, lines) in files.items()}
        return pd.DataFrame(check_outputs(sources, outputs, src, tgt), columns=list(Finding._fields))

    found = store.table(config, compute)
    places = {text: number for number, text in enumerate(dict.fromkeys(filter(str.strip, sources)))}
    lines = found.groupby("system")["line"].unique()
    systems = [{**each, "flagged": sorted(map(int, lines.get(each["system"], ())))} for each in by_system(found, files)]
    clusters = [places.get(each) for each in sources]
    return {"source": src, "target": tgt, "lines": len(sources), "systems": systems, "clusters": clusters}


def by_system(found: pd.DataFrame, names: Iterable[str]) -> list[dict[str, Any]]:
    """What `check_outputs` *found*, of each system: counts by kind, lines with any, and some that are quoted."""
    systems = []
    for name in names:
        own = found[found["system"] == name]
        counts = own["kind"].value_counts()
        quoted = own.groupby("kind", sort=False).head(_QUOTED)
        systems.append(
            {
                "system": name,
                "counts": {kind: int(counts[kind]) for kind in KINDS if kind in counts},
                "lines_with": int(own["line"].nunique()),
                "quoted": quoted[["kind", "line", "evidence"]].to_dict("records"),
            }
        )
    return systems
