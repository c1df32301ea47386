"""The GPUs of this machine, and who gets which: one worker each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from nbkit.batch.pool import Lanes, LocalProcesses
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
