"""How long nbkit takes to start: `import nbkit` and `nbkit list models`, beside Python itself and click.

    python benchmarks/start.py [--repeat 5] [--quick]

Every command is run in turn in a process of its own; the least CPU time of the turns counts.
The bars: `import nbkit` under 0.3 s, `nbkit list models` under 0.7 s.
"""

from __future__ import annotations

import subprocess
import sys

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
    report.write()


if __name__ == "__main__":
    main()
