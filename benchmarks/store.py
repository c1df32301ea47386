"""How fast 85,000 remembered results are read, beside reading the same rows as JSON lines; memory of a stream.

Run: ``python benchmarks/store.py [results]``. Prints seconds, and ratios measured in this one run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbkit.store import Store

RESULTS = 85_000
BAR_SECONDS = 3.0
CONFIG = {"kind": "benchmark", "version": 1}

# In a process of its own: the memory that stays in use while many more inputs than a window pass by.
STREAM = """
import resource, sys
from nbkit.store import Store

def inputs(n):
    return ((f"Sentence {i} of a corpus, as long as sentences tend to be there.",) for i in range(n))

def compute(texts):
    return [{"translation": text[::-1], "score": len(text) / 7} for (text,) in texts]

store = Store(sys.argv[1])
for row in store.iter_records({"kind": "stream", "version": 1}, inputs(int(sys.argv[2])), compute):
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def inputs(n: int) -> list[tuple[str, ...]]:
    """Texts of the length that sentences have."""
    return [(f"Sentence {i} of a corpus, as long as sentences tend to be there.",) for i in range(n)]


def compute(texts: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    """What a translation and its score look like."""
    return [{"translation": text[::-1], "score": len(text) / 7} for (text,) in texts]


def seconds(call: Callable[[], Any]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def read_json_lines(path: Path, texts: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    """The least a store could do: one file of text and result, looked up by text."""
    with path.open() as lines:
        rows = {row["input"]: row for row in map(json.loads, lines)}
    return [rows[text] for (text,) in texts]


def main() -> None:
    """Write, read cold, read warm, ask what is missing, stream."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    texts = inputs(n)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        written = seconds(lambda: store.records(CONFIG, texts, compute))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
        cold = seconds(lambda: Store(folder).records(CONFIG, texts, compute))
        warm = seconds(lambda: store.records(CONFIG, texts, compute))
        missing = seconds(lambda: Store(folder).missing(CONFIG, texts))
        lines = Path(folder) / "lines.jsonl"
        with lines.open("w") as file:
            for (text,), row in zip(texts, compute(texts), strict=True):
                file.write(json.dumps({"input": text, **row}) + "\n")
        plain = seconds(lambda: read_json_lines(lines, texts))
        print(f"{n:,} results")
        print(f"write, in shards of 2,000  {written:6.2f} s   {size / n:.0f} bytes a result")
        print(f"read, another process's    {cold:6.2f} s   {cold / plain:.2f} x JSON lines ({plain:.2f} s)")
        print(f"read again                 {warm:6.2f} s")
        print(f"which are missing          {missing:6.2f} s")
        verdict = "met" if cold <= BAR_SECONDS else "MISSED"
        print(f"bar: {BAR_SECONDS:.0f} s for reading      {verdict}, {BAR_SECONDS / cold:.1f} x")
        peaks = []
        for count in (n, 4 * n):
            command = [sys.executable, "-c", STREAM, f"{folder}/stream-{count}", str(count)]
            peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        print(f"peak memory of a stream    {peaks[0]} MB for {n:,}, {peaks[1]} MB for {4 * n:,}")


if __name__ == "__main__":
    main()
