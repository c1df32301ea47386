"""What health finds beside what people marked: MQM of WMT 2023 (en-de) and annotated hallucinations (de-en).

    python benchmarks/people.py [--quick]

Needs NBKIT_DATA. Precision stands beside what the same systems' lines would give by chance, as annotation is a lower
bound: people leave faults unmarked. Recall is that of what they marked. ρ: Spearman's over systems, of lines with a
finding and of the mean MQM score.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reporting import Report, data_folder, parse, parser
from scipy.stats import spearmanr

from nbcheck.health import check_outputs
from nbkit.models.services.outputs import read_lines

#: What a finding should go with: the kind, what annotators call it, and whether an error of MQM is it.
EXPECTED: tuple[tuple[str, str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("numbers", "an accuracy error", lambda error: error["category"].startswith("accuracy")),
    ("truncation", "an omission", lambda error: error["category"] == "accuracy/omission"),
    ("loop", "a major accuracy error", lambda error: error["category"].startswith("accuracy") and is_major(error)),
)


def is_major(error: Mapping[str, Any]) -> bool:
    """Whether an error of MQM is more than minor."""
    return error["severity"] in ("major", "critical")


def main() -> None:
    options = parse(parser(__doc__))
    data = data_folder()
    report = Report(__file__, "Health beside what people marked", options)
    beside_mqm(report, data)
    beside_hallucinations(report, data / "people" / "hallucinations-de-en.csv", 200 if options.quick else None)
    report.write()


def beside_mqm(report: Report, data: Path) -> None:
    """Findings in twelve systems' outputs, and the spans that professional translators marked in them."""
    folder = data / "wmt" / "wmt23" / "en-de"
    outputs = {path.stem: read_lines(path) for path in sorted(folder.glob("systems/*.de"))}
    errors = annotated(data / "people" / "wmt23-en-de.mqm.seg.rating", outputs)
    found: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for each in check_outputs(read_lines(folder / "source.en"), outputs, "en", "de"):
        if (each.system, each.line) in errors:
            found[each.kind].add((each.system, each.line))
    for kind, called, is_it in EXPECTED:
        having = {line for line, marked in errors.items() if any(map(is_it, marked))}
        right, chance = found[kind] & having, by_chance(found[kind], having, errors)
        note = f"{len(right)} of {len(found[kind])}; of the same systems' lines {100 * chance:.0f} % have one"
        report.add(f"MQM, {kind}: with {called}", 100 * len(right) / max(1, len(found[kind])), "%", note=note)
    any_kind = set().union(*found.values())
    omitted = {
        line for line, marked in errors.items()
        if any(error["category"] == "accuracy/omission" and is_major(error) for error in marked)
    }  # fmt: skip
    recall(report, "MQM, major omissions: found by any kind", any_kind, omitted)
    lines, flags, scores = Counter(each[0] for each in errors), Counter(each[0] for each in any_kind), Counter[str]()
    for (system, _), marked in errors.items():
        scores[system] += sum(error["score"] for error in marked)
    rho = spearmanr(*([counts[each] / lines[each] for each in outputs] for counts in (flags, scores)))
    report.add(f"MQM, {len(outputs)} systems: ρ of findings and errors", float(rho.statistic), "")


def annotated(path: Path, systems: Iterable[str]) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """The errors that translators marked in each output that they read, by system and line (from 1)."""
    errors, lines = {}, Counter[str]()
    for row in path.read_text(encoding="utf-8").splitlines():
        system, marked = row.split("\t")
        lines[system] += 1
        if marked != "None" and system in systems:
            errors[system, lines[system]] = json.loads(marked)["errors"]
    return errors


def by_chance(found: set[tuple[str, int]], having: set[tuple[str, int]], read: Iterable[tuple[str, int]]) -> float:
    """The share that findings would hit if each fell on a line of its own system at random."""
    lines, hits = Counter(system for system, _ in read), Counter(system for system, _ in having)
    return sum(hits[system] / lines[system] for system, _ in found) / max(1, len(found))


def beside_hallucinations(report: Report, path: Path, most: int | None) -> None:
    """Findings in one Transformer's worst outputs, each judged beside its reference alone, and what experts said."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))[:most]
    outputs = {name: [row[name] for row in rows] for name in ("mt", "ref")}
    found: dict[str, set[int]] = defaultdict(set)
    for each in check_outputs([row["src"] for row in rows], outputs, "de", "en"):
        if each.system == "mt":
            found[each.kind].add(each.line)
    marked = {name: {n for n, row in enumerate(rows, 1) if row[name] == "1"} for name in rows[0]}
    detached = marked["strong-unsupport"] | marked["full-unsupport"]
    for kind, name in (("loop", "repetitions"), ("truncation", "omission")):
        right = found[kind] & (marked[name] | detached)
        note = f"{len(right)} of {len(found[kind])}"
        called = f"hallucinations, {kind}: {name} or detached"
        report.add(called, 100 * len(right) / max(1, len(found[kind])), "%", note=note)
        recall(report, f"hallucinations, {name}: found as {kind}", found[kind], marked[name])
    recall(report, "hallucinations, detached: found by any kind", set().union(*found.values()), detached)


def recall(report: Report, what: str, found: set[Any], marked: set[Any]) -> None:
    """A row: how many of those *marked* are *found*."""
    report.add(
        what, 100 * len(found & marked) / max(1, len(marked)), "%", note=f"{len(found & marked)} of {len(marked)}"
    )


if __name__ == "__main__":
    main()
