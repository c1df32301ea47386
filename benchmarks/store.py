"""How fast 85,000 remembered results are read, beside reading the same rows as JSON lines.

    python benchmarks/store.py [--rows 85000] [--repeat 3] [--quick]

What a stream of results takes in memory is measured in ``memory.py``.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from reporting import Report, in_turn, parse, parser

from nbkit.store import Store

BAR_SECONDS = 3.0
CONFIG = {"kind": "benchmark", "version": 1}


def inputs(n: int) -> list[tuple[str, ...]]:
    """Texts of the length that sentences have."""
    return [(f"Sentence {i} of a corpus, as long as sentences tend to be there.",) for i in range(n)]


def compute(texts: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    """What a translation and its score look like."""
    return [{"translation": text[::-1], "score": len(text) / 7} for (text,) in texts]


def read_json_lines(path: Path, texts: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    """The least a store could do: one file of text and result, looked up by text."""
    with path.open() as lines:
        rows = {row["input"]: row for row in map(json.loads, lines)}
    return [rows[text] for (text,) in texts]


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=85_000)
    options = parse(made, rows=20_000)
    texts = inputs(options.rows)
    report = Report(__file__, "Store", options)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        written = in_turn({"write": lambda: store.records(CONFIG, texts, compute)}, 1)["write"].median
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
        lines = Path(folder) / "lines.jsonl"
        with lines.open("w") as file:
            for (text,), row in zip(texts, compute(texts), strict=True):
                file.write(json.dumps({"input": text, **row}) + "\n")
        sides = {
            "cold": lambda: Store(folder).records(CONFIG, texts, compute),
            "plain": lambda: read_json_lines(lines, texts),
            "warm": lambda: store.records(CONFIG, texts, compute),
            "missing": lambda: Store(folder).missing(CONFIG, texts),
        }
        seconds = {name: turn.median for name, turn in in_turn(sides, options.repeat).items()}
    report.add("written, in shards of 2,000", written, "s", note=f"{size / options.rows:.0f} bytes a result")
    bar = f"≤ {BAR_SECONDS * options.rows / 85_000:.2g}"
    report.add("read, another process's", seconds["cold"], "s", bar=bar)
    report.add("read, another process's", seconds["plain"] / seconds["cold"], against="JSON lines, which check nothing")
    report.add("read again", seconds["warm"], "s")
    report.add("asked what is missing", seconds["missing"], "s")
    report.write()


if __name__ == "__main__":
    main()
