"""The health of the outputs of WMT 2022 and 2023: what is found, how much of it a reader found right, CPU time, memory.

    python benchmarks/health.py [--quick]

Needs NBKIT_DATA. ``gold/health.tsv`` holds file, line, digest of source and output, kind, verdict and reason of the
findings that were read: at most six drawn per system and set. Precision is that of the rows that are still found.
"""

from __future__ import annotations

import csv
import resource
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from reporting import Report, cpu_seconds, data_folder, parse, parser

from nbcheck.health import KINDS, check_outputs
from nbkit.models.services.outputs import read_lines

GOLD = Path(__file__).with_name("gold") / "health.tsv"


def main() -> None:
    options = parse(parser(__doc__))
    data = data_folder()
    report = Report(__file__, "Health of the outputs of WMT 2022 and 2023", options)
    with GOLD.open(encoding="utf-8", newline="") as lines:
        gold = {(row["file"], int(row["line"]), row["kind"]): row for row in csv.DictReader(lines, delimiter="\t")}
    counts: Counter[str] = Counter()
    read: dict[str, list[bool]] = defaultdict(list)
    alone: Counter[bool] = Counter()  # truncation beside a reference alone, by whether it is found beside all as well
    n, began = 0, cpu_seconds()
    for folder in sorted(data.glob("wmt/wmt2[23]*/*"))[:: 8 if options.quick else 1]:
        src, tgt = folder.name.split("-")
        paths = [*sorted(folder.glob(f"systems/*.{tgt}")), *sorted(folder.glob(f"reference-*.{tgt}"))]
        sources = read_lines(folder / f"source.{src}")
        outputs = {path.relative_to(data).as_posix(): read_lines(path) for path in paths}
        n += len(sources) * len(outputs)
        short: set[tuple[str, int]] = set()
        for each in check_outputs(sources, outputs, src, tgt):
            counts[each.kind] += 1
            if each.kind == "truncation":
                short.add((each.system, each.line))
            row = gold.get((each.system, each.line, each.kind))
            texts = f"{sources[each.line - 1]}\t{outputs[each.system][each.line - 1]}".encode()
            if row and blake2b(texts, digest_size=6).hexdigest() == row["digest"]:
                read[each.kind].append(row["verdict"] == "right")
        read_so_far = cpu_seconds()
        for system, line in beside_reference(sources, outputs, src, tgt):
            alone[(system, line) in short] += 1
        began += cpu_seconds() - read_so_far
    seconds = cpu_seconds() - began
    report.add("lines read and judged", n / seconds, "lines/s", note=f"{n:,} lines, {seconds:.0f} s of CPU time")
    report.add("peak memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB", bar="≤ 1000")
    for kind in KINDS:
        right = read[kind]
        note = f"{sum(right)} of {len(right)} read" if right else "by definition" if kind == "empty" else "none read"
        if right:
            report.add(
                f"{kind}: {counts[kind]:,} found; right", 100 * sum(right) / len(right), "%", bar="≥ 85", note=note
            )
        else:
            report.add(f"{kind}: found", counts[kind], "", note=note)
    report.add(
        "truncation beside one reference: found beside all, too", 100 * alone[True] / max(1, alone.total()), "%",
        bar="≥ 85", note=f"{alone[True]:,} of {alone.total():,}",
    )  # fmt: skip
    report.write()


def beside_reference(
    sources: Sequence[str], outputs: Mapping[str, Sequence[str]], src: str, tgt: str
) -> Iterator[tuple[str, int]]:
    """The lines of each system that are cut short beside the first reference and no other output."""
    first = next((name for name in outputs if "reference-" in name), None)
    for name in outputs if first else ():
        if "reference-" not in name:
            found = check_outputs(sources, {name: outputs[name], str(first): outputs[str(first)]}, src, tgt)
            yield from ((name, each.line) for each in found if each.kind == "truncation" and each.system == name)


if __name__ == "__main__":
    main()
