"""Shared helpers for loading and running models on torch: devices, dtypes, padding, and quiet libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nbkit.errors import ModelError


def torch_device(name: str) -> torch.device:
    """The device of that name. Raises `ModelError` if it is not available."""
    try:
        device = torch.device(name)
        if device.type == "cuda" and not torch.cuda.is_available():
            raise ModelError(
                f"device '{name}': torch {torch.__version__} finds no CUDA device; use device: cpu or auto"
            )
    except RuntimeError as error:
        raise ModelError(f"device '{name}': {error}") from None
    return device


def torch_dtype(name: str) -> torch.dtype:
    """The floating-point type of that name. Raises `ModelError` if there is none."""
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ModelError(f"unknown dtype '{name}'; there are: auto, float32, bfloat16, float16")
    return dtype


def times_the_memory(device: torch.device) -> int:
    """The GPU's memory in units of 32 GiB, at least 1, by which batches grow; 1 for a CPU.

    >>> times_the_memory(torch.device("cpu"))
    1
    """
    if device.type != "cuda":
        return 1
    return max(1, round(torch.cuda.get_device_properties(device).total_memory / 2**35))


def on_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """*tensor* on the device; copied to a GPU asynchronously, from pinned memory.

    >>> on_device(torch.ones(2), torch.device("cpu"))
    tensor([1., 1.])
    """
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def padded(rows: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
    """Rows of ids as one tensor, (rows × longest), int64, padded with *fill*.

    >>> padded([(5, 6, 7), (8,), ()], fill=0).tolist()
    [[5, 6, 7], [8, 0, 0], [0, 0, 0]]
    """
    there = _there(rows)
    table = np.full(there.shape, fill, np.int64)
    table[there] = np.fromiter(chain.from_iterable(rows), np.int64, np.count_nonzero(there))
    return torch.from_numpy(table)


def attention_mask(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """The attention mask of `padded` rows, int64: 1 for ids, 0 for padding.

    >>> attention_mask([(5, 6, 7), (8,)]).tolist()
    [[1, 1, 1], [1, 0, 0]]
    """
    return torch.from_numpy(_there(rows).astype(np.int64))


def _there(rows: Sequence[Sequence[int]]) -> np.ndarray:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return np.arange(lengths.max()) < lengths[:, np.newaxis]


#: How model files are read: local files only, no code and no pickles.
SAFELY: Mapping[str, Any] = {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True}


@contextmanager
def reading(what: str, folder: Path, failed: str = "cannot be loaded") -> Iterator[None]:
    """Silence transformers; raise `ModelError` if it cannot load what is requested from *folder*."""
    from safetensors import SafetensorError

    try:
        with quiet():
            yield
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, SafetensorError) as error:
        raise ModelError(f"{what}: {folder} {failed}: {error}") from error


def load_trained(
    auto: Any,
    folder: Path,
    device: torch.device,
    dtype: torch.dtype,
    what: str,
    kind: str,
    *,
    unused: str | None = None,
    **settings: Any,
) -> Any:
    """Load a folder with the transformers class *auto* onto a device; every weight must come from the folder.

    what, kind: the model and its required kind, for the `ModelError` about a folder of another kind. unused: prefix of
    the weights that may be missing. settings: override the checkpoint's configuration.
    """
    with reading(what, folder, f"cannot be loaded as {kind}"):
        model, report = auto.from_pretrained(folder, dtype=dtype, output_loading_info=True, **SAFELY, **settings)
    missing = sorted(key for key in report["missing_keys"] if unused is None or not key.startswith(unused))
    if missing:  # transformers would initialise these at random
        raise ModelError(f"{what}: {folder} holds no trained {kind}; missing: {', '.join(missing[:3])}")
    return model.to(device).eval()


def load_tokenizer(folder: Path, what: str) -> Any:
    """The tokenizer in a folder. what: the model, for the `ModelError` about unusable files."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # Rust libraries raise a bare Exception for damaged files
        raise ModelError(f"{what}: no tokenizer can be loaded from {folder}: {error}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars and warnings: nbkit shows its own bar, and every setting is explicit."""
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
