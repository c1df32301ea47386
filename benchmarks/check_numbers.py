"""How long `nbkit check-numbers` takes for 100,000 line pairs on one core, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/check_numbers.py [--lines 100000] [--repeats 3]

The pairs are Tatoeba and Multi30k English-German, again from the top where there are fewer; files, output and the start
of Python included, in seconds of CPU time, the fastest of the repeats.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

BAR = 30  # seconds for 100,000 line pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000, help="how many line pairs")
    parser.add_argument("--repeats", type=int, default=3, help="how often each corpus is checked")
    options = parser.parse_args()
    folder = Path(os.environ.get("NBKIT_DATA", ""))
    if not (folder / "tatoeba").is_dir():
        sys.exit("NBKIT_DATA is not set to the folder of real data")
    print(f"{'corpus':12}{'seconds':>9}{'lines/s':>10}{'× bar':>7}   lines that do not carry their numbers")
    for name, pairs in (("tatoeba", tatoeba(folder)), ("multi30k", multi30k(folder))):
        with tempfile.TemporaryDirectory() as place:
            files = [Path(place) / "source.en", Path(place) / "hypothesis.de"]
            sides = zip(*islice(cycle(pairs), options.lines), strict=True)
            for file, side in zip(files, sides, strict=True):
                file.write_text("\n".join(side) + "\n", encoding="utf-8")
            runs = [checked(files) for _ in range(options.repeats)]
        seconds, outcome = min(runs)
        rate = options.lines / seconds
        print(f"{name:12}{seconds:9.1f}{rate:10,.0f}{rate / (100_000 / BAR):7.2f}   {outcome}")


def checked(files: list[Path]) -> tuple[float, str]:
    """Seconds of CPU time of one run of the command, and what it says in the end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "nbkit", "check-numbers", *map(str, files), "--src", "en", "--tgt", "de"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):
        sys.exit(ran.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, ran.stderr.strip().splitlines()[-1]


def tatoeba(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "tatoeba" / "en-de.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(source, target) for source, target in (line.split("\t")[:2] for line in lines)]


def multi30k(folder: Path) -> list[tuple[str, str]]:
    sides = [(folder / "multi30k" / f"train.{lang}").read_text(encoding="utf-8").splitlines() for lang in ("en", "de")]
    return list(zip(*sides, strict=True))


if __name__ == "__main__":
    main()
