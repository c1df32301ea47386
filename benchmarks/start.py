"""How long nbkit takes to start: `import nbkit` and `nbkit list models`, beside Python itself and click.

    python benchmarks/start.py [--repeat 5] [--quick]

Every command is run in turn in a process of its own; the least CPU time of the turns counts.
The bars: `import nbkit` under 0.3 s, `nbkit list models` under 0.7 s. The bytes of a model of 300 MB are compared with
their digest in 0.3 s when it is loaded (the file in the system's cache).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reporting import Report, child_seconds, in_turn, parse, parser

COMMANDS = {
    "python": ["-c", "pass"],
    "import click": ["-c", "import click"],
    "import nbkit": ["-c", "import nbkit"],
    "nbkit list models": ["-m", "nbkit", "list", "models"],
    "import transformers": ["-c", "import transformers"],
}
BARS = {"import nbkit": "≤ 0.3", "nbkit list models": "≤ 0.7"}


def run(arguments: list[str]) -> None:
    """One Python process."""
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    options = parse(parser(__doc__, repeat=5), repeat=3)
    report = Report(__file__, "Start, least of the turns", options)
    turns = in_turn(
        {name: lambda arguments=arguments: run(arguments) for name, arguments in COMMANDS.items()},
        options.repeat,
        child_seconds,
    )
    base = turns["python"].least
    for name, turn in turns.items():
        report.add(name, turn.least, "s", bar=BARS.get(name, ""), note=f"{turn.least / base:.1f}× python")
    report.add("check the bytes of 300 MB", check_seconds(options.repeat), "s", bar="≤ 0.3")
    report.write()


def check_seconds(repeat: int) -> float:
    """The least seconds that it takes to see that a model's weights are what they were."""
    from nbkit.models.files import check_bytes, write_digests

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "model.safetensors").open("wb") as file:
            for _ in range(300):
                file.write(os.urandom(10**6))
        write_digests(folder)
        took = []
        for _ in range(repeat):
            started = time.process_time()
            check_bytes(folder, "model")
            took.append(time.process_time() - started)
    return min(took)


if __name__ == "__main__":
    main()
