"""Lines shifted against their sources, on the outputs of WMT: alarms on real files, planted faults found, seconds.

    python benchmarks/shifts.py [--quick]

Needs NBKIT_DATA. In every system's and reference's file of WMT 2022 and 2023, one line is lost or put in at a random
place; a planted shift counts as found if the line named is at most 20 lines from the place. In each, five times two
neighbouring lines that differ are exchanged, anywhere.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from pathlib import Path

from reporting import Report, parse, parser

from nbcheck.shifts import first_exchange, first_shift
from nbkit.models.services.outputs import read_lines, read_pairs


def main() -> None:
    options = parse(parser(__doc__))
    data = os.environ.get("NBKIT_DATA")
    if not data:
        print("NBKIT_DATA is not set: no outputs of WMT")
        sys.exit(77)
    report = Report(__file__, "Lines shifted against their sources", options)
    folders = sorted(Path(data).glob("wmt/wmt2[23]*/*"))
    files = alarms = lines_read = 0
    started = time.process_time()
    pairs = []
    for folder in folders[:: 6 if options.quick else 1]:
        src, tgt = folder.name.split("-")
        for path in [*folder.glob(f"systems/*.{tgt}"), *folder.glob(f"reference-*.{tgt}")]:
            lines = read_lines(path)
            pairs.append((folder / f"source.{src}", path))
            files, lines_read = files + 1, lines_read + len(lines)
            try:
                read_pairs(*pairs[-1])
            except Exception as error:  # noqa: BLE001 - any alarm counts
                print(error)
                alarms += 1
    seconds = time.process_time() - started
    report.add(f"{files} files, {lines_read:,} lines: alarms", alarms, "", bar="≤ 0")
    report.add("loaded and checked", lines_read / seconds, "lines/s", note=f"{seconds:.1f} s of CPU time")
    draw, found, exchanged = random.Random(0), [], []
    for source, path in pairs:
        texts, lines = read_lines(source), read_lines(path)
        if len(lines) > 5000:
            continue
        for place in (draw.randrange(len(lines) - 1) for _ in range(1 if options.quick else 5)):
            if lines[place] != lines[place + 1]:
                planted = [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]
                exchanged.append(first_exchange(texts, planted) == place + 1)
        place, extra = draw.randrange(len(lines) - 1), draw.choice(lines)
        planted = [*lines[:place], *lines[place + 1 :], extra]
        shift = first_shift(texts, planted if draw.random() < 0.5 else [*lines[:place], extra, *lines[place:-1]])
        found.append(shift is not None and abs(shift.line - 1 - place) <= 20)
        if not found[-1]:
            print(f"missed: {path} at line {place + 1} of {len(lines)}: {shift}")
    report.add(f"{len(found)} planted shifts: found", 100 * sum(found) / len(found), "%", bar="≥ 95")
    report.add(f"{len(exchanged)} planted exchanges of neighbours: found", 100 * sum(exchanged) / len(exchanged), "%")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.add("peak memory", peak, "MB", note="of all of the above")
    report.write()


if __name__ == "__main__":
    main()
