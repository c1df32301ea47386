"""What all benchmarks share: options, turns, and one small table each, ``results/NAME.md``.

Seconds are of CPU time, so that other work on the machine counts less; peers take turns, so that a slow spell hits
both; the median of the turns counts. A benchmark that lacks data or a package says so and ends with `SKIPPED`, which
``make bench`` takes for what it is.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from nbkit.files import atomic_write
from nbkit.provenance import device, versions

#: The exit status of a benchmark that cannot run here, as test suites of Unix have it.
SKIPPED = 77
COLUMNS = ("what", "against", "figure", "bar", "met", "note")


def skip(reason: str) -> NoReturn:
    """Ends the script: it cannot run here."""
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def data_folder() -> Path:
    """The folder of real data; without one the script is skipped."""
    folder = os.environ.get("NBKIT_DATA")
    if not folder or not Path(folder).is_dir():
        skip("NBKIT_DATA does not name the folder of real data")
    return Path(folder)


def need(*packages: str) -> None:
    """Skips the script where one of *packages* is not installed."""
    for package in packages:
        if find_spec(package) is None:
            skip(f"the package {package} is not installed")


def parser(description: str | None, *, repeat: int = 3) -> argparse.ArgumentParser:
    """Options that every benchmark has."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="a small size, for slow machines")
    made.add_argument("--repeat", type=int, default=repeat, help="turns of each side")
    made.add_argument("--results", type=Path, help="folder that the table goes to; the project's own without it")
    return made


def parse(made: argparse.ArgumentParser, arguments: Sequence[str] | None = None, **quick: Any) -> argparse.Namespace:
    """What was asked for; with ``--quick``, *quick* are the defaults.

    >>> sizes = parser(None)
    >>> _ = sizes.add_argument("--texts", type=int, default=1000)
    >>> parse(sizes, ["--quick"], texts=50).texts, parse(sizes, ["--quick", "--texts", "7"], texts=50).texts
    (50, 7)
    """
    if made.parse_known_args(arguments)[0].quick:
        made.set_defaults(**quick)
    return made.parse_args(arguments)


def cpu_seconds() -> float:
    """CPU time of this process and all its threads."""
    return time.process_time()


def child_seconds() -> float:
    """CPU time of the processes that this one started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Turns:
    """seconds: of each turn. result: of the last one."""

    seconds: tuple[float, ...]
    result: Any

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)


def in_turn(
    functions: Mapping[str, Callable[[], Any]], repeat: int, clock: Callable[[], float] = cpu_seconds
) -> dict[str, Turns]:
    """Calls all *functions* one after the other, *repeat* times over.

    >>> calls = []
    >>> found = in_turn({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    >>> calls, len(found["a"].seconds)
    (['a', 'b', 'a', 'b'], 2)
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    results: dict[str, Any] = {}
    for _ in range(repeat):
        for name, function in functions.items():
            began = clock()
            results[name] = function()
            seconds[name].append(clock() - began)
    return {name: Turns(tuple(seconds[name]), results[name]) for name in functions}


def peak_of(code: str, *arguments: object) -> int:
    """The peak memory, in MiB, of a Python process that runs *code*.

    Not by getrusage, which begins with the memory of the process that started it.

    >>> small, large = peak_of("1"), peak_of("b'1' * (100 << 20)")
    >>> 90 < large - small < 110
    True
    """
    if not Path("/proc/self/status").is_file():
        skip("peaks of memory are read from /proc, which is not there")
    code += "\nimport re\nprint(re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())[1])"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return int(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]) // 1024


def is_met(figure: float, bar: str) -> bool:
    """Whether a figure reaches its bar.

    >>> is_met(9.6, "≥ 10"), is_met(2.9, "≤ 3")
    (False, True)
    """
    sign, bound = bar.split()
    return figure >= float(bound) if sign == "≥" else figure <= float(bound)


class Report:
    """The table of one benchmark."""

    def __init__(
        self, script: str, title: str, options: argparse.Namespace, *, where: str = "cpu", seconds: str = "CPU time"
    ):
        self.name = Path(script).stem
        self._rows: list[tuple[str, ...]] = []
        self._remarks: list[str] = []
        load = f"load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
        packages = ", ".join(f"{name} {version}" for name, version in versions().items())
        shown = {name: value for name, value in vars(options).items() if name != "results"}
        settings = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in shown.items())
        self._folder = getattr(options, "results", None) or Path(__file__).with_name("results")
        self._head = [
            f"# {title}",
            "",
            f"- machine: {device(where)}, {load}; {platform.system()}, python {platform.python_version()}",
            f"- versions: {packages}",
            f"- settings: {settings}",
            f"- seconds are of {seconds}; on a busy machine they say little, their ratios much",
            "",
        ]
        print("\n".join(self._head))

    def add(
        self, what: str, figure: float, unit: str = "×", *, against: str = "", bar: str = "", note: str = ""
    ) -> None:
        """A row. bar: ``≥ 10`` or ``≤ 3``, in the figure's own unit; empty: none."""
        met = ("yes" if is_met(figure, bar) else "**no**") if bar else ""
        with_unit = f"{bar}{_glued(unit)}" if bar else ""
        row = (what, against, f"{_figure(figure)}{_glued(unit)}", with_unit, met, note)
        self._rows.append(tuple(cell.replace("|", "\\|") for cell in row))
        print("  ".join(filter(None, (what, f"{row[2]}", f"against {against}" if against else "", met, note))))

    def remark(self, text: str) -> None:
        """A line under the table."""
        self._remarks.append(text)
        print(text)

    def text(self) -> str:
        """The table as Markdown."""
        lines = [*self._head, _line(COLUMNS), _line(["---"] * len(COLUMNS)), *map(_line, self._rows)]
        for remark in self._remarks:
            lines += ["", remark]
        return "\n".join(lines) + "\n"

    def write(self, folder: Path | None = None) -> Path:
        """Puts the table into *folder*, or where ``--results`` says."""
        path = (folder or self._folder) / f"{self.name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as unfinished:
            unfinished.write_text(self.text(), encoding="utf-8")
        return path


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _glued(unit: str) -> str:
    return unit if unit in ("×", "%", "") else f" {unit}"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
