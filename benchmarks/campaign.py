"""Whether nbkit survives: runs that are killed at any moment, and command lines that nobody would write.

    python benchmarks/campaign.py [--kills 50] [--lines 500] [--seed 0] [--quick]

Kills: a small real run (`campaign.yaml`) is ended by ``kill -9`` at moments drawn by the seed, half of them while
notebooks are executed: its main process, its whole process group, or one worker. The same command goes on from there,
and once it has finished, every table must be, byte for byte, that of a run nobody disturbed; nothing may be left of the
killed one: no process, no partial and no temporary file. Command lines: those of `tests/test_cli_fuzz.py`, each in a
process of its own; none may end in a traceback. The exit status is 1 where a bar is missed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psutil
from reporting import Report, is_met, need, parse, parser

from nbkit.seeding import address

STAGES = ("units", "notebooks")
TARGETS = ("main", "group", "worker")
#: Kills of one run before it is left to finish: in its units of work first, then in its notebooks.
A_RUN = {"units": 2, "notebooks": 2}
#: Where the log of a run says that a stage has begun.
BEGUN = {"units": "[stage ", "notebooks": "[notebooks 0/"}
PATIENCE = 30  # seconds that the processes of a killed run may take to notice
LONGEST = 900  # seconds that a run may take
SMALL = ("--steps=20", "--pairs=200", "--vocabulary=300")
NARROW = ("--d-model=32", "--ffn=64", "--heads=2", "--encoder-layers=1", "--decoder-layers=1", "--card-pairs=2")
TRAINED = {
    "en-de": ("translator", *SMALL, *NARROW),
    "en-fr": ("translator", "--pair=en-fr", *SMALL, *NARROW),
    "nli": ("classifier", "--architecture=infersent", "--steps=20", "--pairs=200", "--save-every=20"),
}


@dataclass(frozen=True)
class Kill:
    """stage: where the run is then. target: what is killed. moment: as a share of the time that the stage takes."""

    number: int
    stage: str
    target: str
    moment: float

    @classmethod
    def drawn(cls, seed: int, number: int) -> Kill:
        """The kill of this *number*, whatever others there are.

        >>> Kill.drawn(0, 3) == Kill.drawn(0, 3), Kill.drawn(0, 3).stage, Kill.drawn(0, 4).stage
        (True, 'notebooks', 'units')
        """
        random = Random(address(seed, "kill", number))
        return cls(number, STAGES[number % 2], random.choice(TARGETS), random.random())


class Runs:
    """Runs in a folder of their own, with a store of their own and what was *prepared*."""

    def __init__(self, folder: Path, prepared: Path | None):
        self.folder, self.mark = folder, uuid.uuid4().hex
        (folder / "tmp").mkdir(parents=True)
        if prepared is not None:
            shutil.copytree(prepared, folder, dirs_exist_ok=True)
        self.log = folder / "log"

    @property
    def tables(self) -> dict[str, bytes]:
        """Every table that is there."""
        root = self.folder / "out" / "tables"
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def command(self, *arguments: str) -> subprocess.Popen[bytes]:
        """nbkit with these *arguments*, at the head of a process group."""
        own = {"NBKIT_CACHE": self.folder / "cache", "TMPDIR": self.folder / "tmp", "NBKIT_CAMPAIGN": self.mark}
        environment = {**os.environ, **{name: str(value) for name, value in own.items()}, "HF_HUB_OFFLINE": "1"}
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "nbkit", *arguments],
                cwd=self.folder,
                env=environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def run(self) -> subprocess.Popen[bytes]:
        return self.command("run", "campaign.yaml", "--output", "out", "--workers", "2", "--offline")

    def finished(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether *process* ends well."""
        return process.wait(timeout=LONGEST) == 0

    def reached(self, stage: str, process: subprocess.Popen[bytes]) -> bool:
        """Waits for *stage*; whether it was reached before the end."""
        while BEGUN[stage] not in self.log.read_text(encoding="utf-8", errors="replace"):
            if process.poll() is not None:
                return False
            time.sleep(0.05)
        return True

    def processes(self) -> list[psutil.Process]:
        """All processes of these runs, orphans too: they have the mark in their environment."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get("NBKIT_CAMPAIGN") == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def orphans(self) -> list[psutil.Process]:
        """Processes that outlive a run for longer than they may; they are ended."""
        deadline = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.2)
        self.end()
        return left

    def end(self) -> None:
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def partial(self) -> list[str]:
        """What lies in the output folder and was never finished."""
        root = self.folder / "out"
        hidden = [path for path in root.rglob(".*") if path.name not in (".lock", ".staging")]
        return [str(path.relative_to(root)) for path in (*hidden, *root.glob(".staging/*"))]

    def leftovers(self) -> list[str]:
        """What is left in the folder for temporary files."""
        return sorted(path.name for path in (self.folder / "tmp").iterdir())

    def age(self) -> None:
        """Makes what lies in the folder for temporary files look an hour old: a run spares what is younger."""
        for path in (self.folder / "tmp").iterdir():
            with suppress(OSError):
                os.utime(path, (0, time.time() - 3600), follow_symlinks=False)

    def unfinished(self) -> list[str]:
        """What killed writers left in the store; it goes when it is some days old."""
        return [path.name for path in (self.folder / "cache").rglob(".tmp-*")]


class Tally:
    """What the kills did."""

    def __init__(self) -> None:
        self.kills: Counter[tuple[str, str]] = Counter()
        self.runs = self.differ = self.failed = 0
        self.orphans: list[str] = []
        self.partial: list[str] = []
        self.leftovers: list[str] = []
        self.unfinished: list[str] = []


@contextmanager
def ended(runs: Runs) -> Iterator[Runs]:
    """*runs*, of which nothing is left after the block, whatever ends it."""
    try:
        yield runs
    finally:
        runs.end()
        shutil.rmtree(runs.folder, ignore_errors=True)


def killed(runs: Runs, kill: Kill, seconds: float) -> bool:
    """Starts a run and kills it; whether there was still something to kill.

    seconds: what the kill's stage takes in a run that nobody disturbs.
    """
    process = runs.run()
    if not runs.reached(kill.stage, process):
        return False
    deadline = time.monotonic() + kill.moment * seconds
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    if process.poll() is not None:
        return False
    if kill.target == "worker":
        workers = [each for each in psutil.Process(process.pid).children() if "spawn_main" in " ".join(_words(each))]
        if not workers:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return True
        workers[kill.number % len(workers)].kill()
        process.wait(timeout=LONGEST)  # the run goes on without it
        return True
    (os.killpg if kill.target == "group" else os.kill)(process.pid, signal.SIGKILL)
    process.wait()
    return True


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def next_kills(waiting: deque[Kill]) -> list[Kill]:
    """The kills of one run, taken from those that are *waiting*.

    >>> waiting = deque(Kill.drawn(0, number) for number in range(6))
    >>> [kill.stage for kill in next_kills(waiting)], len(waiting)
    (['units', 'units', 'notebooks', 'notebooks'], 2)
    """
    taken = []
    for stage in STAGES:
        of_stage = [kill for kill in waiting if kill.stage == stage][: A_RUN[stage]]
        taken += of_stage
        for kill in of_stage:
            waiting.remove(kill)
    return taken


def survive(kills: Sequence[Kill], scratch: Path, prepared: Path, tally: Tally) -> None:
    """All of *kills*, a few a run, each run finished afterwards and compared."""
    with ended(Runs(scratch / "undisturbed", prepared)) as runs:
        expected, seconds = undisturbed(runs)
    waiting, most = deque(kills), 3 * len(kills)
    while waiting and tally.runs < most:
        with ended(Runs(scratch / f"run-{tally.runs}", prepared)) as runs:
            tally.runs += 1
            for kill in (taken := next_kills(waiting)):
                if not killed(runs, kill, seconds[kill.stage]):
                    waiting.extend(taken[taken.index(kill) :])  # it had finished: they are for another run
                    break
                tally.kills[kill.stage, kill.target] += 1
                tally.orphans += [f"{kill}: {' '.join(_words(each))[:80]}" for each in runs.orphans()]
                print(f"kill {tally.kills.total()} of {len(kills)}: {kill}", flush=True)
            runs.age()
            for _ in range(2):  # where a worker was killed, the first may say that a unit failed
                if done := runs.finished(runs.run()):
                    break
            compare(runs, expected, tally, done)


def undisturbed(runs: Runs) -> tuple[dict[str, bytes], dict[str, float]]:
    """The tables of a run that nobody disturbs, and the seconds that each of its stages takes."""
    process = runs.run()
    began = []
    for stage in STAGES:
        runs.reached(stage, process)
        began.append(time.monotonic())
    if not runs.finished(process):
        sys.exit(f"the run fails even when nobody disturbs it:\n{runs.log.read_text(errors='replace')[-3000:]}")
    ends = (*began[1:], time.monotonic())
    return runs.tables, {stage: end - start for stage, start, end in zip(STAGES, began, ends, strict=True)}


def compare(runs: Runs, expected: Mapping[str, bytes], tally: Tally, done: bool) -> None:
    """Adds to *tally* what is wrong with a run that was killed and has finished."""
    tables = runs.tables
    different = [name for name in expected.keys() | tables.keys() if expected.get(name) != tables.get(name)]
    tally.differ += len(different)
    tally.failed += not done
    tally.orphans += [" ".join(_words(each))[:80] for each in runs.orphans()]
    tally.partial += runs.partial()
    tally.leftovers += runs.leftovers()
    tally.unfinished += runs.unfinished()
    if different or not done:
        print(f"tables that differ: {different}\n{runs.log.read_text(errors='replace')[-2000:]}", flush=True)


def prepare(folder: Path) -> None:
    """The run file and the models of `TRAINED`, made once."""
    with ended(Runs(folder.with_name("training"), None)) as runs:
        for name, options in TRAINED.items():
            if not runs.finished(runs.command("train", options[0], f"models/{name}", *options[1:])):
                sys.exit(f"{name} cannot be trained:\n{runs.log.read_text(errors='replace')[-3000:]}")
        shutil.copytree(runs.folder / "models", folder / "models")
    shutil.copyfile(Path(__file__).with_suffix(".yaml"), folder / "campaign.yaml")


def tracebacks(count: int, seed: int) -> tuple[int, dict[str, str]]:
    """How many command lines were tried, and of those that ended in a traceback the shortest of each error."""
    if not count:
        return 0, {}
    import hypothesis

    from tests.fuzz.forked import outcome, preload
    from tests.fuzz.lines import CommandLine, command_lines

    preload()
    found: dict[str, str] = {}
    tried = 0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, phases=[hypothesis.Phase.generate], database=None, deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(command_lines())
    def each(line: CommandLine) -> None:
        nonlocal tried
        tried += 1
        result = outcome(line)
        if result.is_traceback:
            found[result.error] = min(found.get(result.error, repr(line)), repr(line), key=len)

    each()
    return tried, found


def main(arguments: Sequence[str] | None = None) -> int:
    made = parser(__doc__)
    made.add_argument("--kills", type=int, default=50, help="kills, half of them while notebooks are executed")
    made.add_argument("--lines", type=int, default=500, help="command lines")
    made.add_argument("--seed", type=int, default=0, help="of moments and command lines")
    options = parse(made, arguments, kills=4, lines=100)
    need("hypothesis", "pytest")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the command lines are those of a test
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report = Report(__file__, "Kills and command lines", options)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="nbkit-campaign-", ignore_cleanup_errors=True) as scratch:
        prepare(Path(scratch, "prepared"))
        survive(
            [Kill.drawn(options.seed, n) for n in range(options.kills)], Path(scratch), Path(scratch, "prepared"), tally
        )
    tried, found = tracebacks(options.lines, options.seed)
    met = report_tally(report, options, tally, tried, found)
    if not options.quick or options.results:
        report.write()
    return 0 if met else 1


def report_tally(report: Report, options: Any, tally: Tally, tried: int, found: Mapping[str, str]) -> bool:
    """Fills the table; whether every bar is met."""
    where = ", ".join(f"{count} of a {target} in {stage}" for (stage, target), count in sorted(tally.kills.items()))
    figures = {
        "kills": (tally.kills.total(), f"≥ {options.kills}", f"{where}; {tally.runs} runs"),
        "kills: tables that differ from an undisturbed run's": (tally.differ, "≤ 0", "byte by byte, after resuming"),
        "kills: runs that did not finish afterwards": (tally.failed, "≤ 0", ""),
        "kills: processes left behind": (len(tally.orphans), "≤ 0", _some(tally.orphans)),
        "kills: partial files in the output folder": (len(tally.partial), "≤ 0", _some(tally.partial)),
        "kills: files left in TMPDIR": (len(tally.leftovers), "≤ 0", _some(tally.leftovers)),
        "kills: unfinished files in the store": (len(tally.unfinished), "", "swept when they are days old"),
        "command lines": (tried, "", f"drawn by seed {options.seed}"),
        "command lines: tracebacks": (len(found), "≤ 0", _some(sorted(found))),
    }
    met = True
    for what, (figure, bar, note) in figures.items():
        report.add(what, figure, "", bar=bar, note=note)
        met &= not bar or is_met(figure, bar)
    for error, line in found.items():
        report.remark(f"{error}: `{line}`")
    return met


def _some(names: Sequence[str]) -> str:
    kinds = Counter(name[:40] for name in names)
    return ", ".join(f"{name} ({count})" if count > 1 else name for name, count in kinds.most_common(4))


if __name__ == "__main__":
    sys.exit(main())
