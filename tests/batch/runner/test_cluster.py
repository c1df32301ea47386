"""Units on a real scheduler with worker processes on loopback: lost workers, a lost scheduler, and Ctrl-C."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nbkit.batch import cluster
from nbkit.batch import run as runner
from nbkit.batch.cluster import ClusterError
from nbkit.batch.params import RunFile, parse
from nbkit.batch.run import run
from nbkit.batch.workers import Task, run_unit
from nbkit.errors import NbkitError
from nbkit.models.services.commands import VARIABLE as COMMANDS

pytest.importorskip("distributed")
SHARD = 10  # as in toy_study
_GRID = "name: toys\nruns:\n  - {{study: toy, params: {{words: {}, n: {}, delay: {}}}, notebooks: [{}]}}\n"


def grid(words: list[str], n: int = 20, delay: float = 0.0, notebooks: str = "summary") -> RunFile:
    return parse(_GRID.format(words, n, delay, notebooks))


def computed(toy: Path) -> Counter[str]:
    """How often each text was computed."""
    log = toy / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(line.partition(" ")[2] for line in lines if not line.endswith("prepare"))


class Machines:
    """A scheduler and workers as processes of their own, as somebody else would start them."""

    def __init__(self, folder: Path):
        self.folder, self.workers = folder, []
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(folder / "scheduler.json"))
        self.address = ""
        until(lambda: self._listens(), self.scheduler)

    def worker(self, *options: str, **variables: str) -> subprocess.Popen:
        nanny = () if "--nanny" in options else ("--no-nanny",)
        options = ("--nthreads", "1", *nanny, "--memory-limit", "0", *options)
        self.workers.append(self._start("worker", self.address, *options, **variables))
        return self.workers[-1]

    def end(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait(20)

    def _start(self, what: str, *options: str, **variables: str) -> subprocess.Popen:
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
            *options,
        ]
        with (self.folder / "machines.log").open("a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env={**os.environ, **variables})

    def _listens(self) -> bool:
        try:
            self.address = json.loads((self.folder / "scheduler.json").read_text())["address"]
        except (OSError, ValueError):
            return False
        return True


def until(condition: Callable[[], bool], process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline, "it ended, or it hangs"
        time.sleep(0.05)


@pytest.fixture
def machines(toy: Path) -> Iterator[Machines]:
    started = Machines(toy)
    yield started
    started.end()


def when(condition: Callable[[], bool], do: Callable[[], object]) -> None:
    """*do* in the background, as soon as *condition* is true."""

    def wait() -> None:
        deadline = time.monotonic() + 300
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.02)
        do()

    threading.Thread(target=wait, daemon=True).start()


@pytest.fixture
def no_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_run_notebooks", lambda job, *_: [])


@pytest.mark.thorough
def test_a_grid_survives_a_killed_worker_and_goes_on_after_a_scheduler_that_went_away(toy, machines, monkeypatch):
    victim, _ = machines.worker(), machines.worker()
    when(lambda: computed(toy).total() > 25, victim.kill)
    summary = run(grid(["eins", "zwei", "drei", "vier"], 30, 0.02), executor="dask", address=machines.address)
    assert summary.exit_code == 0 and victim.wait(20) == -signal.SIGKILL
    # What was stored was not computed again: with the worker, a shard at most was lost.
    assert len(computed(toy)) == 120 and computed(toy).total() - 120 <= SHARD
    (cell,) = json.loads((summary.output / "notebooks" / "toy.summary.ipynb").read_text())["cells"][-1:]
    printed = "".join(cell["outputs"][0]["data"]["text/plain"])
    assert ast.literal_eval(printed) == {"eins": 120, "zwei": 120, "drei": 120, "vier": 120}
    # The same grid by processes of this machine finds all of it.
    monkeypatch.setattr(runner, "_run_notebooks", lambda job, *_: [])
    assert run(grid(["eins", "zwei"], 30, 0.02), workers=1, force=True).exit_code == 0
    before = computed(toy).total()
    assert before - 120 <= SHARD

    machines.worker()
    when(lambda: computed(toy).total() > before + 15, machines.scheduler.kill)
    with pytest.raises(ClusterError, match=r"scheduler at tcp://.* went away; .* same command resumes"):
        run(grid(["neun", "zehn", "elf"], 30, 0.05), executor="dask", address=machines.address)
    assert json.loads((summary.output / "run.json").read_text())["status"] == "interrupted"
    for worker in machines.workers:
        worker.kill()  # it would go on with its unit, and end when it has looked for its scheduler in vain
        worker.wait(20)
    assert before + 15 < computed(toy).total() < before + 90
    run(grid(["neun", "zehn", "elf"], 30), workers=1)
    assert len(computed(toy)) == 210 and computed(toy).total() - before - 90 <= 2 * SHARD


def test_a_scheduler_without_workers_is_an_error(toy, machines, monkeypatch):
    monkeypatch.setattr(cluster, "FIRST_WORKER_SECONDS", 0.1)
    with pytest.raises(ClusterError, match=r"has no workers; start some with: dask worker tcp://"):
        run(grid(["eins"]), executor="dask", address=machines.address)
    assert computed(toy).total() == 0 and not (toy / "outputs" / "toys" / "run.json").exists()


@pytest.mark.thorough
def test_models_run_where_a_gpu_is_and_the_store_is_where_a_worker_mounts_it(toy, machines, no_notebooks):
    (toy / "mounted").symlink_to(toy / "cache")
    with_gpu = machines.worker("--resources", "GPU=1", NBKIT_CACHE=str(toy / "mounted"))
    machines.worker()
    with cluster.open_cluster("dask", address=machines.address, workers=1, environment={}) as hired:
        until(lambda: len(hired._workers()) == 2, machines.scheduler)
        tasks = [Task(str(n), run_unit, ("os:getpid", {}), runs_models=True) for n in range(4)]
        tasks.append(Task("where", run_unit, ("os:getenv", {"key": "NBKIT_CACHE"}), runs_models=True))
        tasks.append(Task("bad", run_unit, ("os:no_such_call", {})))
        done = {each.task.label: each for each in hired(tasks)}
    assert "cannot be found" in str(done.pop("bad").error)
    assert done.pop("where").value == str(toy / "mounted")
    assert {each.value for each in done.values()} == {with_gpu.pid}


@pytest.mark.thorough
def test_a_unit_whose_workers_die_fails_alone(toy, machines, monkeypatch):
    """Dask gives it to a few workers in turn, then gives up."""
    for _ in range(5):
        machines.worker("--nanny")
    with cluster.open_cluster("dask", address=machines.address, workers=1, environment={}) as hired:
        tasks = [
            Task("deadly", run_unit, ("os:abort", {})),
            Task("good", run_unit, ("os:getpid", {})),
        ]
        done = {each.task.label: each for each in hired(tasks)}
    assert done["deadly"].error.name == "KilledWorker" and done["good"].error is None


@pytest.mark.thorough
def test_ctrl_c_ends_a_run_whose_workers_are_dead(toy, machines, no_notebooks):
    worker = machines.worker()

    def stop() -> None:
        worker.kill()
        worker.wait(20)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which processes in the background ignore
    when(lambda: computed(toy).total() > 5, stop)
    with pytest.raises(KeyboardInterrupt):
        run(grid(["eins", "zwei"], 30, 0.05), executor="dask", address=machines.address)
    signal.signal(signal.SIGINT, before)
    assert json.loads((toy / "outputs" / "toys" / "run.json").read_text())["status"] == "interrupted"


@pytest.mark.thorough
@pytest.mark.parametrize("allowed", [True, False])
def test_workers_know_whether_the_run_may_start_programs(toy, machines, monkeypatch, allowed):
    """Whatever they were started with; as a unit of work sees it."""
    monkeypatch.setenv(COMMANDS, "allow" if allowed else "deny")
    machines.worker(**{COMMANDS: "deny" if allowed else "allow"})
    asked = Task("asked", run_unit, ("nbkit.models.services.commands:commands_allowed", {}))
    with cluster.open_cluster("dask", address=machines.address, workers=1, environment={}) as hired:
        (done,) = hired([asked])
    assert done.error is None and done.value is allowed


@pytest.mark.thorough
def test_without_an_address_workers_are_processes_of_this_machine(toy, no_notebooks):
    variables = dict(os.environ)
    summary = run(grid(["eins", "zwei"]), executor="dask", workers=2)
    assert dict(os.environ) == variables
    assert summary.failures == () and computed(toy).total() == 40


SBATCH = """#!/bin/sh
# Stands in for a job scheduler: a job begins at once, on this machine.
cp "$1" {folder}/job.$$
sh {folder}/job.$$ > {folder}/job.$$.log 2>&1 &
echo $! >> {folder}/jobs
echo "Submitted batch job $!"
"""


@pytest.mark.thorough
def test_workers_are_jobs_of_a_cluster(toy, no_notebooks, monkeypatch):
    import dask

    with pytest.raises(ClusterError, match="there is no sbatch here"):
        run(grid(["eins"]), executor="slurm")
    for name, text in {"sbatch": SBATCH.format(folder=toy), "scancel": "#!/bin/sh\nkill $1\n"}.items():
        (toy / "bin").mkdir(exist_ok=True)
        (toy / "bin" / name).write_text(text)
        (toy / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{toy / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ClusterError, match=r"how much cores and memory .*docs/cluster.md"):
        run(grid(["eins"]), executor="slurm")
    job = {"cores": 1, "processes": 1, "memory": "1GB", "interface": "lo"}
    with dask.config.set({f"jobqueue.slurm.{name}": value for name, value in job.items()}):
        summary = run(grid(["eins", "zwei"]), executor="slurm", workers=1)
    assert summary.failures == () and computed(toy).total() == 40
    assert len((toy / "jobs").read_text().split()) >= 1


def test_a_wrong_address_is_an_error_at_once(toy, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    started = time.monotonic()
    for address in ("tcp://127.0.0.1:9", "nowhere://127.0.0.1:9", "node7", "tcp://127.0.0.1"):
        with pytest.raises(ClusterError, match=rf"no Dask scheduler answers at {address}.*dask scheduler"):
            run(grid(["eins"]), executor="dask", address=address)
    assert time.monotonic() - started < 30 and not (toy / "outputs" / "toys" / "run.json").exists()


def test_what_does_not_fit_together_is_refused(toy):
    with pytest.raises(NbkitError, match="--address requires --executor dask"):
        run(grid(["eins"]), executor="slurm", address="tcp://127.0.0.1:8786")
    with pytest.raises(NbkitError, match="unknown executor 'slrum'; there are: processes, dask, slurm, pbs, lsf"):
        run(grid(["eins"]), executor="slrum")
