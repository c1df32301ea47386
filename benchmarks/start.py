"""How long nbkit takes to start: `import nbkit` and `nbkit list models`, beside Python itself and click.

    python benchmarks/start.py [--repeats 5]

Every command is run in turn in a process of its own; printed are the least wall time and CPU time of the repeats.
The bars: `import nbkit` under 0.3 s, `nbkit list models` under 0.7 s.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

COMMANDS = {
    "python": ["-c", "pass"],
    "import click": ["-c", "import click"],
    "import nbkit": ["-c", "import nbkit"],
    "nbkit list models": ["-m", "nbkit", "list", "models"],
    "import transformers": ["-c", "import transformers"],
}
BARS = {"import nbkit": 0.3, "nbkit list models": 0.7}


def seconds(arguments: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(repeats):
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    base = min(wall for wall, _ in taken["python"])
    for name, times in taken.items():
        wall, cpu = min(w for w, _ in times), min(c for _, c in times)
        bar = f"   (bar {BARS[name]} s)" if name in BARS else ""
        print(f"{name:22} {wall:6.2f} s wall  {cpu:6.2f} s CPU  {wall / base:5.1f} x python{bar}")


if __name__ == "__main__":
    main()
