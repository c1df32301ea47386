"""How well `compare_quantities` judges what people and systems wrote, measured on lines that its rules were not made from.

    NBKIT_DATA=… python benchmarks/quantities.py [--blocks odd] [--flags FILE] [--groups …] [--quick]

Each file is cut into blocks of 50 lines: the even ones (the first is 0) may be read to improve the rules, the odd ones
are only counted. ``--flags FILE`` writes every flagged pair as file, line, digest and verdict; ``--texts FILE`` adds the
two texts, which belong outside the project. A flag is a false alarm unless a reader found the quantity lost:
``gold/quantities.tsv`` holds file, line, digest, verdict and reason of those that were read.
"""

from __future__ import annotations

import csv
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from reporting import Report, cpu_seconds, data_folder, parse, parser


from nbkit.measure.quantities import compare_quantities

BLOCK = 50
GOLD = Path(__file__).with_name("gold") / "quantities.tsv"
#: GPT-4 and the commercial engines, which the organisers call online systems.
STRONG = re.compile(r"(?i)gpt4|online-")
#: The largest share of pairs flagged wrongly, in percent.
BARS = {"references": 0.5, "strong systems": 0.4, "PUD": 0.5, "Tatoeba": 0.1, "Multi30k": 0.2}


class Aligned(NamedTuple):
    """One pair of texts: its place, and what it is part of."""

    group: str
    file: str
    line: int
    src: str
    tgt: str
    source: str
    target: str

    @property
    def digest(self) -> str:
        return blake2b(f"{self.source}\t{self.target}".encode(), digest_size=6).hexdigest()


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--blocks", choices=["even", "odd"], default="odd", help="the blocks that are counted")
    made.add_argument("--flags", type=Path, help="file that every flag goes to")
    made.add_argument("--texts", type=Path, help="file that every flag goes to with its texts, outside the project")
    made.add_argument("--groups", nargs="*", default=[*BARS, "NLLB"], help="what is compared")
    made.add_argument("--every", type=int, default=1, help="only each so-manieth line of systems")
    made.add_argument("--corrupted", type=int, default=400, help="how many pairs are corrupted per kind")
    options = parse(made, every=10, corrupted=50)
    folder = data_folder()
    odd = options.blocks == "odd"
    report = Report(__file__, f"quantities, {options.blocks} blocks of {BLOCK} lines", options)
    flags, counts, before = [], Counter(), Counter()
    seconds = 0.0
    for pair in pairs(folder, options.groups, odd=odd, every=options.every):
        counts[pair.group] += 1
        began = cpu_seconds()
        found = compare_quantities(pair.source, pair.target, pair.src, pair.tgt)
        seconds += cpu_seconds() - began
        wrong = [verdict for verdict in found if verdict.grade == "wrong"]
        if wrong:
            flags.append((pair, wrong))
    print(f"{sum(counts.values()) / seconds:.0f} pairs a second")
    write_flags(flags, options.flags, options.texts)


def write_flags(flags, plain: Path | None, texts: Path | None) -> None:
    for path, full in ((plain, False), (texts, True)):
        if path is None:
            continue
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n")
            for pair, wrong in flags:
                said = "; ".join(map(str, wrong))
                rest = [said, pair.source, pair.target] if full else [", ".join(verdict.wrong for verdict in wrong)]
                rows.writerow([pair.file, pair.line, pair.digest, *rest])


def pairs(folder: Path, groups: list[str], *, odd: bool, every: int = 1) -> Iterator[Aligned]:
    """The pairs of the blocks asked for."""
    for pair in all_pairs(folder, groups, every):
        if (pair.line - 1) // BLOCK % 2 == odd:
            yield pair


def all_pairs(folder: Path, groups: list[str], every: int) -> Iterator[Aligned]:
    for direction in sorted((folder / "wmt").glob("wmt2[23]/*-*")):
        src, tgt = direction.name.split("-")
        source = read(direction / f"source.{src}")
        files = [*sorted(direction.glob(f"reference-*.{tgt}")), *sorted(direction.glob(f"systems/*.{tgt}"))]
        for file in files:
            group, step = group_of(file), 1 if "reference" in file.name else every
            if group in groups:
                name = str(file.relative_to(folder))
                for line, texts in enumerate(zip(source, read(file), strict=True), start=1):
                    if line % step == 0:
                        yield Aligned(group, name, line, src, tgt, *texts)
    if "PUD" in groups:
        source = read_conllu(folder / "pud" / "en.conllu")
        for tgt in ("de", "fr", "es", "zh", "ja"):
            target = read_conllu(folder / "pud" / f"{tgt}.conllu")
            for line, texts in enumerate(zip(source, target, strict=True), start=1):
                yield Aligned("PUD", f"pud/{tgt}.conllu", line, "en", tgt, *texts)
    if "Tatoeba" in groups:
        for line, row in enumerate(read(folder / "tatoeba" / "en-de.tsv")[1:], start=1):
            yield Aligned("Tatoeba", "tatoeba/en-de.tsv", line, "en", "de", *row.split("\t")[:2])
    if "Multi30k" in groups:
        for tgt in ("de", "fr"):
            source, target = (read(folder / "multi30k" / f"train.{lang}") for lang in ("en", tgt))
            for line, texts in enumerate(zip(source, target, strict=True), start=1):
                yield Aligned("Multi30k", f"multi30k/train.{tgt}", line, "en", tgt, *texts)


def group_of(file: Path) -> str:
    if file.name.startswith("reference"):
        return "references"
    if "NLLB" in file.name:
        return "NLLB"
    return "strong systems" if STRONG.search(file.name) else "other systems"


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.suffix == ".tsv" else path.read_text(encoding="utf-8").split("\n")[:-1]


def read_conllu(path: Path) -> list[str]:
    """The texts of a treebank, by sentence id."""
    text = path.read_text(encoding="utf-8")
    return [match[1] for match in re.finditer(r"^# text = (.*)$", text, re.MULTILINE)]


if __name__ == "__main__":
    main()
