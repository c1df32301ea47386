"""Units of work on other machines, through Dask. A worker first proves that it shares store, code and versions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import queue
import shutil
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

import nbkit
from nbkit import provenance
from nbkit.batch.workers import Done, Task, TaskError, call, run_unit
from nbkit.batch.workers import places as own_places
from nbkit.errors import MissingExtraError, NbkitError
from nbkit.models.backends import resolve_device
from nbkit.store.shards import Folder

if TYPE_CHECKING:
    from distributed import Client, Future

# ----------------------------------------------------------------------------
# A worker: it proves that it sees the same store and runs the same nbkit, then works.

#: Packages whose versions are part of keys or file formats: a worker with another one would store what nobody finds.
COMPARED = ("torch", "transformers", "ctranslate2", "spacy", "pyarrow")


#: Folder of the proofs of a shared store, in ``$NBKIT_CACHE``.
ROOM = "cluster"


# Where this machine mounts the store and the data: read when the worker starts, before any unit sets them.
_OWN = {name: os.environ[name] for name in ("NBKIT_CACHE", "NBKIT_DATA") if name in os.environ}


_proved: set[tuple[str, bool]] = set()


_one_at_a_time = threading.Lock()


class ClusterError(NbkitError):
    """A cluster or worker that cannot be used; the run stops, and stored results stay."""


@dataclass(frozen=True)
class Pledge:
    """What a worker must have in common with the machine that started the run.

    token: name and content of a file in the store. versions: see `versions`. device: what "auto" resolves to, if some
    parameters say "auto".
    """

    token: str
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None


def versions() -> dict[str, str]:
    """Versions of Python, of the libraries that results depend on, and of nbkit with a digest of its sources."""
    folder = Path(nbkit.__file__).parent
    sources = hashlib.blake2b(digest_size=4)
    for path in sorted(folder.rglob("*.py")):
        sources.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    # Two checkouts bear the same version; keys of remembered tables hold digests of the code behind them.
    found = {
        "python": ".".join(python_version().split(".")[:2]),
        "nbkit": f"{nbkit.__version__} (sources {sources.hexdigest()})",
    }
    return {**found, **dict.fromkeys(COMPARED, "none"), **provenance.versions(COMPARED)}


def places(theirs: Mapping[str, str]) -> dict[str, str]:
    """Where this worker finds store and data: its own variables if it was started with them, else *theirs*."""
    return {**theirs, **_OWN}


def prove(pledge: Pledge, where: Mapping[str, str], runs_models: bool) -> None:
    """Raise `ClusterError` if this worker does not agree with *pledge*.

    runs_models: whether the device of models matters.
    """
    known = (pledge.token, runs_models)
    if known in _proved:
        return
    cache = places(where)["NBKIT_CACHE"]
    try:
        seen = Folder.at(f"{cache.rstrip('/')}/{ROOM}").read(pledge.token).decode()
    except (FileNotFoundError, NbkitError):
        seen = ""
    if seen != pledge.token:
        raise ClusterError(
            f"the store is not shared: there, NBKIT_CACHE is {cache}, which holds nothing of {where['NBKIT_CACHE']} "
            "here; start workers with NBKIT_CACHE at a folder (or a bucket's URL) that all machines see"
        )
    own, wanted = versions(), pledge.versions
    if other := [f"{name} {own[name]} (here: {wanted[name]})" for name in wanted if own[name] != wanted[name]]:
        raise ClusterError(f"another installation: {', '.join(other)}; its results would have other keys: {_SAME}")
    device = resolve_device("auto").partition(":")[0] if runs_models and pledge.device is not None else pledge.device
    if device != pledge.device:
        raise ClusterError(
            f"device: auto is {device} there and {pledge.device} here, and the device is part of the keys; "
            f"set device: {device} in the run file"
        )
    _proved.add(known)


def run_there(
    function: str, arguments: Mapping[str, Any], where: Mapping[str, str], pledge: Pledge, runs_models: bool
) -> Any:
    """Run a unit on a worker that fulfils *pledge*, one at a time however many threads the worker has."""
    with _one_at_a_time:  # models are loaded once per process and are not thread-safe
        os.environ.update({"TQDM_DISABLE": "1", "TOKENIZERS_PARALLELISM": "false"})
        prove(pledge, where, runs_models)
        return call(run_unit, (function, arguments, places(where)))


# ----------------------------------------------------------------------------
# A Dask scheduler by its address, or workers as jobs of SLURM, PBS or LSF.

#: Values of ``--executor`` besides "processes".
EXECUTORS = ("dask", "slurm", "pbs", "lsf")


_JOBS = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster"}


CONNECT_SECONDS = 10.0


FIRST_WORKER_SECONDS = 60.0  # for a scheduler that somebody started; jobs may wait in a queue for hours


LOOK_SECONDS = 10.0  # between looks at the cluster while nothing ends


RETRIES = 1  # of a unit that fails: a full disk or a broken GPU is often one machine's


GPU = "GPU"  # what workers call it: dask worker … --resources GPU=1


_SAME = "start workers in the same environment as the run"


KEPT = "finished work is stored, and the same command resumes"


@contextmanager
def hired(
    executor: str, *, address: str | None, workers: int, environment: Mapping[str, str], auto_device: bool
) -> Iterator[Cluster]:
    """A checked cluster as a context; workers started here end with it, others stay.

    executor: one of `EXECUTORS`. address: of a running scheduler (``tcp://host:8786``), for "dask" only; without it,
    "dask" starts *workers* processes on this machine with the variables in *environment*.
    auto_device: whether parameters say ``device: auto``, which must mean the same on the workers as here.
    Raises `ClusterError` if the scheduler cannot be reached, a worker sees another store or runs another nbkit, or
    there is no job scheduler; `MissingExtraError` without Dask.
    """
    _require(executor, address)
    with ExitStack() as stack:
        pledge = stack.enter_context(_pledged(auto_device))
        if executor in _JOBS:
            target = stack.enter_context(_jobs(executor, workers))
        else:
            target = address or stack.enter_context(_processes(workers, environment))
        cluster = Cluster(stack.enter_context(_client(target)), pledge, patient=executor in _JOBS)
        cluster.check()
        yield cluster


class Cluster:
    """Runs units on the workers of a Dask cluster. The units of a lost worker run again elsewhere.

    patient: whether to wait for the first worker as long as it takes.
    """

    def __init__(self, client: Client, pledge: Pledge, patient: bool = False):
        self.client, self.pledge, self.patient = client, pledge, patient
        self.address = str(getattr(client.scheduler, "address", "?"))
        self.has_gpus = False
        self._said: set[str] = set()

    def check(self) -> None:
        """Wait for the first worker, then let all present workers prove that they can be used."""
        self._wait_for_worker()
        self._compare_schedulers()
        workers = self._workers()
        with_gpu = {address for address, worker in workers.items() if worker["resources"].get(GPU)}
        self.has_gpus = bool(with_gpu)
        self._prove(with_gpu or workers, True)
        if with_gpu:
            self._prove(workers, False)
        if any(worker["nthreads"] > 1 for worker in workers.values()):
            self._note("a worker runs one unit at a time: start workers with --nthreads 1")

    def __call__(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Yield each of *tasks* (calls of `run_unit`) as it ends. Raises `ClusterError` if the scheduler goes away."""
        ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        waiting: dict[Any, tuple[Task, Future]] = {}
        try:
            for task in tasks:
                future = self._submit(task)
                waiting[future.key] = task, future
                future.add_done_callback(ended.put)
            while waiting:
                try:
                    future = ended.get(timeout=LOOK_SECONDS)
                except queue.Empty:
                    self._look()
                    continue
                task, _ = waiting.pop(future.key)
                yield self._done(task, future)
                future.release()  # the result lives on its worker: if held, losing that worker would run the unit again
        finally:
            if waiting:
                with suppress(Exception):
                    self.client.cancel([future for _, future in waiting.values()], force=True)

    def _submit(self, task: Task) -> Future:
        runs_models = task.runs_models
        try:
            return self.client.submit(
                run_there, *task.arguments, self.pledge, runs_models,
                key=f"nbkit-{uuid.uuid4().hex}", pure=False, retries=RETRIES,
                resources={GPU: 1} if runs_models and self.has_gpus else None,
            )  # fmt: skip
        except (OSError, RuntimeError) as error:  # a client without a scheduler
            raise self._gone() from error

    def _done(self, task: Task, future: Future) -> Done:
        from distributed import KilledWorker

        value, error = None, None
        if future.status not in ("cancelled", "lost"):
            try:
                value = future.result(timeout=CONNECT_SECONDS)
            except Exception as raised:  # noqa: BLE001 - whatever comes over the wire
                error = raised
        if future.status in ("cancelled", "lost") or self.client.status != "running":
            raise self._gone() from error
        if isinstance(error, ClusterError):
            raise ClusterError(f"{task.label}: {error}; {KEPT}") from None
        if isinstance(error, KilledWorker):
            message = (
                f"{error.allowed_failures + 1} workers ended while they ran it: killed for lack of memory or by the "
                "time limit of their jobs; give them more"
            )
            error = TaskError("WorkerKilled", message)
        return Done.of(task, value, error)

    def _look(self) -> None:
        if self.client.status != "running":
            raise self._gone()
        if not self._workers():
            self._note("no worker is left; waiting for new ones (finished work is stored; Ctrl-C stops)")

    def _workers(self) -> dict[str, Any]:
        try:
            return dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, RuntimeError) as error:
            raise self._gone() from error

    def _wait_for_worker(self) -> None:
        until = time.monotonic() + FIRST_WORKER_SECONDS
        while not self._workers():
            hint = ": see the queue, and the logs of jobs that have ended" if self.patient else ""
            self._note(f"waiting for the first worker of {self.address}{hint}")
            if not self.patient and time.monotonic() > until:
                raise ClusterError(
                    f"the scheduler at {self.address} has no workers; start some with: "
                    f"dask worker {self.address} --nthreads 1"
                )
            time.sleep(0.5)

    def _compare_schedulers(self) -> None:
        found: Any = self.client.get_versions()
        ours, theirs = found["client"], found["scheduler"]
        for name, of in (("python", "host"), ("dask", "packages"), ("distributed", "packages")):
            here, there = dict(ours[of])[name], dict((theirs or {}).get(of, {})).get(name)
            if name == "python":
                here, there = (".".join(str(number).split(".")[:2]) for number in (here, there))
            if here != there:
                raise ClusterError(
                    f"the scheduler at {self.address} has {name} {there}, this machine {here}: "
                    f"{_SAME.replace('workers', 'scheduler and workers')}"
                )

    def _prove(self, workers: Iterable[str], runs_models: bool) -> None:
        said = self.client.run(
            prove, self.pledge, own_places(), runs_models, workers=sorted(workers), on_error="return"
        )
        for address, error in sorted(said.items()):
            if not isinstance(error, BaseException) or isinstance(error, OSError):
                continue  # one that ended meanwhile is no obstacle
            reason = f" cannot be used: {type(error).__name__}: {error}"
            if isinstance(error, ClusterError):
                reason = f": {error}"
            elif isinstance(error, ImportError):
                reason = f" has no nbkit, or another one ({error}): {_SAME}"
            raise ClusterError(f"worker {address}{reason}") from None

    def _gone(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} went away; start one again: {KEPT}")

    def _note(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            tqdm.write(text, file=sys.stderr)


def _require(executor: str, address: str | None) -> None:
    if executor not in EXECUTORS:
        raise NbkitError(f"unknown executor '{executor}'; there are: processes, {', '.join(EXECUTORS)}")
    if address is not None and executor != "dask":
        raise NbkitError(f"--address requires --executor dask, not {executor}")
    if address is not None and not address.strip():
        raise NbkitError("--address is empty; a Dask scheduler's is expected, such as tcp://HOST:8786")
    try:
        import distributed  # noqa: F401

        if executor in _JOBS:
            import dask_jobqueue  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f'--executor {executor} needs Dask ({error}): pip install "nbkit[dask]"') from None


@contextmanager
def _pledged(auto_device: bool) -> Iterator[Pledge]:
    """The pledge of a run; the file that proves that the store is shared exists meanwhile."""
    folder = Folder.at(f"{own_places()['NBKIT_CACHE'].rstrip('/')}/{ROOM}")
    token = uuid.uuid4().hex
    folder.write(token, token.encode())
    try:
        yield Pledge(token, versions(), resolve_device("auto").partition(":")[0] if auto_device else None)
    finally:
        with suppress(NbkitError):
            folder.remove(token)


@contextmanager
def _client(target: Any) -> Iterator[Client]:
    from distributed import Client

    try:
        if isinstance(target, str):
            asyncio.run(_greet(target))
        client = Client(target, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, EOFError, LookupError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {target} ({type(error).__name__}: {error}); start one with: dask scheduler, "
            "and give the address that it prints: --address tcp://HOST:8786"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost scheduler is reported here
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=2)


async def _greet(address: str) -> None:
    """Raise if no scheduler answers at *address*. A client that found none would try again when it is deleted."""
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=arguments) as scheduler:
        await asyncio.wait_for(scheduler.identity(), CONNECT_SECONDS)


@contextmanager
def _processes(workers: int, environment: Mapping[str, str]) -> Iterator[Any]:
    """A scheduler and *workers* processes on this machine."""
    import dask
    from distributed import LocalCluster

    before = dict(os.environ)  # Dask sets the variables of a worker in this process first, and leaves them there
    with dask.config.set({"distributed.nanny.pre-spawn-environ": dict(environment)}):
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=None, dashboard_address=":0", silence_logs=40
        )
    try:
        with cluster:
            yield cluster
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _jobs(executor: str, workers: int) -> Iterator[Any]:
    """*workers* workers as jobs of the cluster's own scheduler, configured by Dask (``jobqueue.slurm``)."""
    import dask_jobqueue

    kind = getattr(dask_jobqueue, _JOBS[executor])
    command = kind.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise ClusterError(
            f"--executor {executor}: there is no {command} on this machine; run nbkit where jobs are submitted"
        )
    try:
        cluster = kind()
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        raise ClusterError(
            f"--executor {executor}: {str(error).partition(', for example')[0]}; "
            "describe jobs in ~/.config/dask/jobqueue.yaml (docs/cluster.md)"
        ) from None
    with cluster:
        # Unlike `scale`, this submits a new job when one reaches its time limit.
        cluster.adapt(minimum=workers, maximum=workers)
        yield cluster
