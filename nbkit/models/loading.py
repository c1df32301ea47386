"""What loading and running any model needs: devices, dtypes and quiet libraries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from nbkit.errors import ModelError


def torch_device(name: str) -> torch.device:
    """The device of that name; `ModelError` where there is none."""
    try:
        device = torch.device(name)
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ModelError(f"device '{name}': torch {torch.__version__} sees no CUDA device; use device: cpu or auto")
    except RuntimeError as error:
        raise ModelError(f"device '{name}': {error}") from None
    return device


def torch_dtype(name: str) -> torch.dtype:
    """The floating-point type of that name; `ModelError` where there is none."""
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ModelError(f"unknown dtype '{name}'; there are: auto, float32, bfloat16, float16")
    return dtype


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' own bars and remarks: ours is the one progress bar, and every setting is explicit."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
