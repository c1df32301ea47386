"""Whether the device that a run asks for is there; asked by `nbkit validate` before anything is loaded."""

from __future__ import annotations


def no_device(device: str) -> str | None:
    """Why *device* cannot be used here, or None; asks torch only where an NVIDIA card is meant.

    >>> print(no_device("cpu"))
    None
    """
    if not device.startswith("cuda"):
        return None
    import torch

    there = torch.cuda.device_count()
    if int(device.partition(":")[2] or 0) < there:
        return None
    return f"device '{device}': torch {torch.__version__} sees {there} CUDA devices here; use device: cpu or auto"
