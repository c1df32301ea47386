"""Whether the device that a run asks for is there; asked by `nbkit validate` before anything is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_models_run_elsewhere: ContextVar[bool] = ContextVar("models_run_elsewhere", default=False)


def no_device(device: str) -> str | None:
    """Why *device* cannot be used here, or None; asks torch only where an NVIDIA card is meant.

    >>> print(no_device("cpu"))
    None
    """
    if not device.startswith("cuda") or _models_run_elsewhere.get():
        return None
    import torch

    there = torch.cuda.device_count()
    if int(device.partition(":")[2] or 0) < there:
        return None
    return f"device '{device}': torch {torch.__version__} sees {there} CUDA devices here; use device: cpu or auto"


@contextmanager
def models_run_elsewhere() -> Iterator[None]:
    """Within, no device is missed here: a login node of a cluster has none.

    >>> with models_run_elsewhere():
    ...     print(no_device("cuda:7"))
    None
    """
    token = _models_run_elsewhere.set(True)
    try:
        yield
    finally:
        _models_run_elsewhere.reset(token)
