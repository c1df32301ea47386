"""Senses that the systems of WMT 2022 and 2023 chose in all test suites: time, memory, and what a reader found right.

    python benchmarks/system_senses.py [--quick] [--kept]

Needs NBKIT_DATA, spaCy and eflomal. Everything is computed in an empty store, unless ``--kept`` reads the one of the
cache. ``gold/systems.tsv`` holds what a reader judged: 100 senses (is it that of the German word?) and 100 dissents (is
the sense wrong in this sentence?), drawn at random, at most one per line, homograph and sense; precision is that of the
rows whose word is still found.
"""

from __future__ import annotations

import csv
import os
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from reporting import Report, child_seconds, cpu_seconds, data_folder, need, parse, parser

from nbkit.measure.senses import OUTSIDE, majority_sense
from nbkit.models.services.outputs import read_lines
from nbkit.studies.disambiguation import STUDY, DisambiguationParams

GOLD = Path(__file__).with_name("gold") / "systems.tsv"
RUNS = Path(__file__).parent.parent / "params" / "disambiguation_wmt.yaml"


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--kept", action="store_true", help="read what the cache holds, and time nothing")
    options = parse(made)
    need("spacy", "eflomal")
    data = data_folder()
    report = Report(__file__, "Senses that systems of WMT 2022 and 2023 chose", options)
    gold = read_gold()
    counts: Counter[str] = Counter()
    verdicts: dict[str, list[bool]] = defaultdict(list)
    lines, began, cpu = 0, time.perf_counter(), cpu_seconds() + child_seconds()
    with tempfile.TemporaryDirectory(prefix="nbkit-senses-") as folder:
        if not options.kept:
            os.environ["NBKIT_CACHE"] = folder
        for entry in yaml.safe_load(RUNS.read_text(encoding="utf-8"))["runs"]:
            if entry["name"].startswith("suites"):
                params = DisambiguationParams(**entry["params"], **({"n_pairs": 2000} if options.quick else {}))
                votes, sizes = STUDY.read(params, "votes"), STUDY.read(params, "sizes")
                lines += int(sizes.loc[sizes["used"] == "test", "pairs"].sum()) * len(params.voters)
                suites = data / "wmt" / f"wmt{entry['name'][-2:]}-suites/en-de"
                count(votes[votes["left_out"] == ""], params.voters, suites, gold, counts, verdicts)
    seconds = time.perf_counter() - began
    if not options.kept:
        note = (
            f"{lines:,} translations, {counts['all']:,} occurrences; CPU {cpu_seconds() + child_seconds() - cpu:.0f} s"
        )
        report.add("wall time, one process and the aligner", seconds, "s", bar="≤ 1200", note=note)
        report.add("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")
    decided, nouns = counts["decided"], counts["all"] - sum(counts[reason] for reason in OUTSIDE)
    report.add("decided", 100 * decided / counts["all"], "%", bar="≥ 75", note=f"{decided:,} of {counts['all']:,}")
    report.add("decided, of those translated by a noun", 100 * decided / nouns, "%", note=f"of {nouns:,}")
    report.add(
        "dissent", 100 * counts["dissent"] / counts["voted"], "%", note=f"{counts['dissent']:,} of {counts['voted']:,}"
    )
    for kind, bar in (("sense", 97), ("dissent", 75)):
        if right := verdicts[kind]:
            note = f"{sum(right)} of {len(right)} read"
            report.add(f"{kind}: right", 100 * sum(right) / len(right), "%", bar=f"≥ {bar}", note=note)
    report.write()


def count(
    cast: pd.DataFrame,
    voters: Sequence[str],
    folder: Path,
    gold: dict[Any, dict[str, str]],
    counts: Counter[str],
    verdicts: dict[str, list[bool]],
) -> None:
    for _, own in cast.groupby("key", sort=False):
        majority = majority_sense(own["found"])
        for row in own.itertuples():
            counts.update(["all", "decided" if row.found else row.reason])
            kinds = ["sense"] if row.found else []
            if row.found and majority:
                counts["voted"] += 1
                if row.found != majority:
                    counts["dissent"] += 1
                    kinds.append("dissent")
            file = Path(voters[int(row.voter)].partition(":")[2]).name.replace("{tgt}", "de")
            pair = int(row.key.split("/")[-2])
            for kind in kinds:
                read = gold.get((folder.parent.name, file, pair, row.homograph, kind))
                if read and read["word"] == row.word:
                    texts = (lines_of(folder / place)[pair - 1] for place in ("source.en", f"systems/{file}"))
                    if blake2b("\t".join(texts).encode(), digest_size=6).hexdigest() == read["digest"]:
                        verdicts[kind].append(read["verdict"] == "right")


lines_of = cache(read_lines)


def read_gold() -> dict[Any, dict[str, str]]:
    with GOLD.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            (Path(row["file"]).parts[1], Path(row["file"]).name, int(row["line"]), row["homograph"], row["kind"]): row
            for row in rows
        }


if __name__ == "__main__":
    main()
