"""The GPUs of this machine, and who gets which: one worker each."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import queue
import signal
import tempfile
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

from nbkit.errors import NbkitError
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
from nbkit.models.classifiers.catalogue import resolve_classifier
from nbkit.models.classifiers.lifecycle import CLASSIFIER
from nbkit.models.translators.catalogue import split_variant
from nbkit.registry import Registry
from nbkit.store import cache_folder
from nbkit.store.shards import Folder
from nbkit.studies.base import Unit


def visible_gpus() -> tuple[str, ...]:
    """The GPUs that torch may use, by the names that ``CUDA_VISIBLE_DEVICES`` has for them.

    Where that variable is set it counts: a job of a cluster sees what it was given.
    """
    if version("torch").endswith("+cpu"):
        return ()  # no need to wait for torch to say so
    import torch

    count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = map(str, range(count)) if named is None else map(str.strip, named.split(","))
    return tuple(names)[:count]


def local_processes(workers: int, environment: Mapping[str, str], units: Iterable[Unit]) -> LocalProcesses | Lanes:
    """Who does *units* on this machine.

    Where there are several GPUs, units that run models on "cuda" go to one process a GPU, which sees no other; left
    alone, all of them would take the first. All other units go to *workers* processes beside them, and so does
    everything where there is one GPU, which they share, or where parameters name one by its number (``cuda:1``).
    """
    devices = {unit.device for unit in units if unit.runs_models}
    gpus = visible_gpus() if devices and devices <= {"auto", "cuda", None} else ()
    others = LocalProcesses(workers, environment)
    if len(gpus) < 2:
        return others
    # One process keeps a GPU busy with texts only where it tokenizes them by several threads.
    threads = str(max(1, (os.cpu_count() or 1) // len(gpus)))
    own = {**environment, "TOKENIZERS_PARALLELISM": "true", "RAYON_NUM_THREADS": threads}
    return Lanes(LocalProcesses(len(gpus), own, gpus), others)


# ----------------------------------------------------------------------------
# How fast work went before, so that a dry run can say how long it will take.

# Guesses where nothing was measured, on the slow side: a model of full size on two CPU cores, or a tiny one that
# is trained here.
TEXTS_PER_SECOND = 10.0


TEXTS_PER_SECOND_TINY = 80.0


# A small classifier that is trained here reads each pair once and writes nothing.
PAIRS_PER_SECOND_SMALL = 1000.0


SMALL_WIDTH = 256


SECONDS_PER_UNIT = 30.0


SECONDS_PER_TRAINING = 90.0


SECONDS_PER_NOTEBOOK = 10.0


_HALF_LIFE = 0.5  # weight of what was measured before, beside a new measurement


@dataclass(frozen=True)
class Speed:
    """What is known of one kind of work: seconds a unit, and seconds a text where texts were counted."""

    seconds_per_unit: float
    seconds_per_text: float | None = None


def remember(unit: Unit, seconds: float, texts: int | None) -> None:
    """Note that *unit* took *seconds* for *texts* texts (None where it did not count them).

    One that found everything in the store tells nothing of its speed.
    """
    if texts == 0:
        return
    before = recall(unit)
    per_text = seconds / texts if texts else None
    if before is not None:
        seconds = _blend(before.seconds_per_unit, seconds)
        if before.seconds_per_text is not None:
            per_text = before.seconds_per_text if per_text is None else _blend(before.seconds_per_text, per_text)
    record = {"unit": _kind(unit), "seconds_per_unit": seconds, "seconds_per_text": per_text}
    _folder().write(_name(unit), json.dumps(record, indent=2).encode())


def recall(unit: Unit) -> Speed | None:
    """What earlier runs measured for units like this one; None where there were none."""
    try:
        record = json.loads(_folder().read(_name(unit)))
        per_text = record["seconds_per_text"]
        return Speed(float(record["seconds_per_unit"]), None if per_text is None else float(per_text))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


class Estimate(NamedTuple):
    """seconds: how long work takes. untimed: models, and "notebooks", that were not timed yet and are guessed."""

    seconds: float
    untimed: tuple[str, ...]


def estimate(units: Iterable[Unit], notebooks: Iterable[float | None], workers: int) -> Estimate:
    """How long *units* and *notebooks* will take.

    notebooks: what each took when it was last executed, None where it was not.
    """
    seconds = 0.0
    untimed: dict[str, None] = {}
    for unit in units:
        if unit.texts and unit.stored >= unit.texts:
            continue
        speed = recall(unit)
        if speed is None:
            untimed[unit.arguments.get("model") or unit.label] = None
        if speed is not None and (speed.seconds_per_text is None or not unit.texts):
            seconds += speed.seconds_per_unit
        elif unit.texts:
            per_text = speed.seconds_per_text if speed and speed.seconds_per_text else 1 / _texts_per_second(unit)
            seconds += (unit.texts - unit.stored) * per_text
        else:
            seconds += SECONDS_PER_TRAINING if _is_tiny(unit) else SECONDS_PER_UNIT
    for took in notebooks:
        if took is None:
            untimed["notebooks"] = None
        seconds += SECONDS_PER_NOTEBOOK if took is None else took
    return Estimate(seconds / workers, tuple(untimed))


def _texts_per_second(unit: Unit) -> float:
    """A guess, by the kind and size of the unit's model."""
    model = unit.arguments.get("model")
    if isinstance(model, str) and model in CLASSIFIERS:
        entry = CLASSIFIERS.get(model)
        if entry.recipe is None:
            return TEXTS_PER_SECOND
        width = CLASSIFIER.recipe(resolve_classifier(model, (entry.languages or ("en",))[0])).width
        return PAIRS_PER_SECOND_SMALL if width <= SMALL_WIDTH else TEXTS_PER_SECOND_TINY
    return TEXTS_PER_SECOND_TINY if _is_tiny(unit) else TEXTS_PER_SECOND


def _is_tiny(unit: Unit) -> bool:
    """Whether the unit's model is one that is trained here, on the sandbox."""
    model = unit.arguments.get("model")
    if not isinstance(model, str):
        return False
    base = split_variant(model)[0]
    registries: tuple[Registry[Any], ...] = (MODELS, CLASSIFIERS, LANGUAGE_MODELS)
    return any(base in known and known.get(base).recipe is not None for known in registries)


def _kind(unit: Unit) -> Mapping[str, Any]:
    return {"function": unit.function, "model": unit.arguments.get("model")}


def _name(unit: Unit) -> str:
    return hashlib.blake2b(json.dumps(_kind(unit)).encode(), digest_size=8).hexdigest() + ".json"


def _folder() -> Folder:
    return Folder.at(f"{cache_folder().rstrip('/')}/throughput")


def _blend(before: float, now: float) -> float:
    return _HALF_LIFE * before + (1 - _HALF_LIFE) * now


# ----------------------------------------------------------------------------
# Tasks on executors: any `concurrent.futures.Executor`, or worker processes of our own that may be killed.

_PATIENCE = 5.0  # seconds between asking a worker to end and ending it


class TaskError(NbkitError):
    """What a task raised, as plain text: any exception comes back from a worker, also one that cannot be pickled."""

    def __init__(self, name: str, message: str, details: str = ""):
        self.name, self.message, self.details = name, message, details
        super().__init__(name, message, details)

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


@dataclass(frozen=True)
class Task:
    """A call of *function*, which any process can import, with picklable *arguments*.

    runs_models: whether it is for a worker with a GPU, where some workers have one.
    """

    label: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    runs_models: bool = False


@dataclass(frozen=True)
class Done:
    """A task that ended: with a value, or with an error."""

    task: Task
    value: Any = None
    error: TaskError | None = None


_KILLED = TaskError(
    "WorkerKilled",
    "its process ended without a word: killed for lack of memory (use fewer --workers), or never started, as under a "
    'script that calls run() without `if __name__ == "__main__":`',
)


class Runner(Protocol):
    """What runs tasks: gives each back as it ends, in no particular order, and never raises for one of them."""

    def __call__(self, tasks: Sequence[Task]) -> Iterator[Done]: ...


class ForeignExecutor:
    """Runs tasks on an executor that somebody else made and will shut down."""

    def __init__(self, executor: Executor):
        self.executor = executor

    def __call__(self, tasks: Sequence[Task]) -> Iterator[Done]:
        waiting = {_submit(self.executor, task): task for task in tasks}
        try:
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield _ended(waiting.pop(future), future)
        finally:
            for future in waiting:
                future.cancel()


class LocalProcesses:
    """Runs tasks in *workers* processes of its own (spawned: no state of this process leaks in), as a context.

    gpus: as ``CUDA_VISIBLE_DEVICES`` names them: each worker sees one of them and no other, so that "cuda" is another
    one in each; as many workers as GPUs then.

    A worker that is killed breaks a whole `ProcessPoolExecutor`. Then the tasks that were running are tried
    once more, each alone in a pool of one: the one that breaks that too is to blame and fails,
    and the rest goes on in a new pool.
    """

    def __init__(self, workers: int, environment: Mapping[str, str], gpus: Sequence[str] = ()):
        self.workers, self.environment, self.gpus = len(gpus) or workers, dict(environment), tuple(gpus)
        self._pool: ProcessPoolExecutor | None = None
        self._ended = False

    def __enter__(self) -> LocalProcesses:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        pool, self._pool, self._ended = self._pool, None, True
        if pool is None:
            return
        if kind is None:
            pool.shutdown()
        else:
            _end(pool)

    def __call__(self, tasks: Sequence[Task]) -> Iterator[Done]:
        queue = deque(tasks)
        while queue and not self._ended:
            suspects = yield from self._until_broken(queue)
            for task in suspects:
                with LocalProcesses(1, self.environment, self.gpus[:1]) as alone:
                    if (yield from alone._until_broken(deque([task]))):
                        yield Done(task, error=_KILLED)

    def _until_broken(self, queue: deque[Task]) -> Generator[Done, None, list[Task]]:
        """Work the queue off; where the pool breaks, stop and return the tasks that were running."""
        if self._pool is None:
            spawn = multiprocessing.get_context("spawn")
            free: Any = spawn.SimpleQueue() if self.gpus else None
            for gpu in self.gpus:
                free.put(gpu)
            self._pool = ProcessPoolExecutor(self.workers, spawn, prepare_worker, (self.environment, free))
        running: dict[Future[Any], Task] = {}
        suspects: list[Task] = []
        broken = False
        while (queue or running) and not broken:
            try:
                # Only as many as there are workers: what is in here when the pool breaks was running.
                while queue and len(running) < self.workers:
                    running[_submit(self._pool, queue[0])] = queue[0]
                    queue.popleft()
            except BrokenExecutor:
                broken = True
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                if isinstance(future.exception(), BrokenExecutor):
                    suspects.append(task)
                    broken = True
                else:
                    yield _ended(task, future)
        if broken:
            self._pool.shutdown()
            self._pool = None
        return [*suspects, *running.values()]


class Lanes:
    """Tasks that run models in the processes of *models*, all others in those of *others*, at the same time."""

    def __init__(self, models: LocalProcesses, others: LocalProcesses):
        self.models, self.others = models, others

    def __enter__(self) -> Lanes:
        return self

    def __exit__(self, *how: Any) -> None:
        self.models.__exit__(*how)
        self.others.__exit__(*how)

    def __call__(self, tasks: Sequence[Task]) -> Iterator[Done]:
        ended: queue.SimpleQueue[Done | BaseException | None] = queue.SimpleQueue()

        def work(lane: LocalProcesses, own: Sequence[Task]) -> None:
            try:
                for done in lane(own):
                    ended.put(done)
                ended.put(None)
            except BaseException as error:  # noqa: BLE001 - for the thread that waits
                ended.put(error)

        lanes = [(self.models, [task for task in tasks if task.runs_models])]
        lanes += [(self.others, [task for task in tasks if not task.runs_models])]
        for lane in lanes:
            threading.Thread(target=work, args=lane, daemon=True).start()
        at_work = len(lanes)
        while at_work:
            done = ended.get()
            if isinstance(done, BaseException):
                raise done
            if done is None:
                at_work -= 1
            else:
                yield done


def prepare_worker(environment: Mapping[str, str], gpus: Any = None) -> None:
    """First thing in a worker: its environment, Ctrl-C left to the parent, and an end with the parent's end.

    gpus: a queue of names; one of them is the only GPU that this worker sees.
    """
    os.environ.update(environment)
    tempfile.tempdir = None  # TMPDIR may be another one now
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus.get()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """From now on this process of multiprocessing ends when the one that started it ends, even by ``kill -9``.

    Without this the workers of a parent that was killed wait for tasks for ever, and kernels for messages.
    """

    def wait_and_end(parent: Any) -> None:
        parent.join()
        os._exit(1)

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=wait_and_end, args=(parent,), daemon=True).start()


def _end(pool: ProcessPoolExecutor) -> None:
    """End the workers of *pool* now; what they were writing appears whole or not at all anyway."""
    workers = list((pool._processes or {}).values())  # public from Python 3.14 on: pool.terminate_workers()
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        with suppress(ProcessLookupError):
            worker.terminate()
    for worker in workers:
        worker.join(_PATIENCE)
        if worker.is_alive():
            worker.kill()


def _submit(executor: Executor, task: Task) -> Future[Any]:
    return executor.submit(call, task.function, task.arguments)


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """*function* of *arguments*; whatever it raises comes back as a `TaskError`."""
    try:
        return function(*arguments)
    except Exception as error:
        raise TaskError(type(error).__name__, str(error), traceback.format_exc()) from error


def _ended(task: Task, future: Future[Any]) -> Done:
    error = CancelledError() if future.cancelled() else future.exception()
    if error is None:
        return Done(task, future.result())
    return Done(task, error=error if isinstance(error, TaskError) else TaskError(type(error).__name__, str(error)))
