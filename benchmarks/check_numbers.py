"""How long `nbkit check-numbers` takes for 100,000 line pairs on one core, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/check_numbers.py [--lines 100000] [--repeat 3] [--quick]

The pairs are Tatoeba and Multi30k English-German, again from the top where there are fewer; files, output and the start
of Python included, in seconds of CPU time, the fastest of the repeats.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from reporting import Report, child_seconds, data_folder, parse, parser

BAR = 30  # seconds for 100,000 line pairs


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--lines", type=int, default=100_000, help="how many line pairs")
    options = parse(made, lines=5000)
    folder = data_folder()
    report = Report(__file__, "check-numbers, fastest of the turns", options)
    for name, pairs in (("tatoeba", tatoeba(folder)), ("multi30k", multi30k(folder))):
        with tempfile.TemporaryDirectory() as place:
            files = [Path(place) / "source.en", Path(place) / "hypothesis.de"]
            sides = zip(*islice(cycle(pairs), options.lines), strict=True)
            for file, side in zip(files, sides, strict=True):
                file.write_text("\n".join(side) + "\n", encoding="utf-8")
            runs = [checked(files) for _ in range(options.repeat)]
        seconds, outcome = min(runs)
        rate = options.lines / seconds
        report.add(f"lines a second, {name}", rate, "", bar=f"≥ {100_000 / BAR:.0f}", note=outcome)
    report.write()


def checked(files: list[Path]) -> tuple[float, str]:
    """Seconds of CPU time of one run of the command, and what it says in the end."""
    before = child_seconds()
    command = [sys.executable, "-m", "nbkit", "check-numbers", *map(str, files), "--pair", "en-de"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1) or "Traceback" in ran.stderr:  # 1: lines that do not carry their numbers
        sys.exit(ran.stderr)
    return child_seconds() - before, ran.stderr.strip().splitlines()[-1]


def tatoeba(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "tatoeba" / "en-de.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(source, target) for source, target in (line.split("\t")[:2] for line in lines)]


def multi30k(folder: Path) -> list[tuple[str, str]]:
    sides = [(folder / "multi30k" / f"train.{lang}").read_text(encoding="utf-8").splitlines() for lang in ("en", "de")]
    return list(zip(*sides, strict=True))


if __name__ == "__main__":
    main()
