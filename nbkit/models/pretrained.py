"""Any pretrained network by its hub id or folder: locating, identifying and loading its weights.

For networks outside the catalogues: the encoders behind alignments and learned metrics. Nothing here imports torch or
transformers before a network is loaded.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbkit.errors import as_problem
from nbkit.models import weights
from nbkit.models.backends import Origin, resolve_device
from nbkit.models.lifecycle import origin_identity
from nbkit.models.weights import check_bytes

#: Tokens per batch, by device. A batch holds texts of one length, so there is no padding and results do not depend on
#: batches.
BUDGETS = {"cpu": 4096, "cuda": 65536}
#: Longest input, in tokens, of a network that does not state its limit.
_USUAL_LIMIT = 512


def origin_of(model: str) -> Origin:
    """The source of *model*: a folder, or a hub id with an optional ``@revision``.

    >>> origin_of("google-bert/bert-base-multilingual-cased@main").revision
    'main'
    """
    folder = Path(model).expanduser()
    if folder.is_dir() or model.startswith(("/", "~", ".")):
        return Origin(model, folder=folder)
    hub, _, revision = model.partition("@")
    return Origin(model, hub=hub, revision=revision or None)


def signature_label(model: str) -> str:
    """A model's name in signatures: its hub id, or its folder's name without the path, which may be private.

    >>> signature_label("~/models/my-bleurt"), signature_label("Elron/bleurt-base-128")
    ('my-bleurt', 'Elron/bleurt-base-128')
    """
    origin = origin_of(model)
    return origin.folder.resolve().name if origin.folder is not None else model


@as_problem
def obstacle(model: str) -> str | None:
    """Why the weights of *model* are not available, or None; loads nothing."""
    origin = origin_of(model)
    folder = weights.find(origin)
    if folder is None:
        return weights.obstacle(origin)
    weights.check_files(origin, folder)
    return None


def network_identity(model: str, device: str) -> dict[str, Any]:
    """Store key of the weights (a folder's digest or a hub model's commit) and the libraries that run them.

    The weights are None if they are not available; loading them raises an error.
    """
    return origin_identity(origin_of(model), None) | {
        "device": resolve_device(device).partition(":")[0],
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def load_network(model: str, auto_class: str, device: str, **settings: Any) -> tuple[Any, Any]:
    """Load the tokenizer and the network (float32, on its device) of *model* with ``transformers.<auto_class>``.

    settings: override the checkpoint's configuration. Raises `ModelError` if the weights are not available or do not
    fit the class, or the device is not available.
    """
    origin = origin_of(model)
    folder = weights.fetch(origin)
    import torch
    import transformers

    from nbkit.models.loading import load_tokenizer, load_trained, torch_device

    what, asked = f"model '{model}'", f" with {settings}" if settings else ""
    place = torch_device(resolve_device(device))
    check_bytes(folder, what)
    tokenizer = load_tokenizer(folder, what)
    auto, kind = getattr(transformers, auto_class), f"{auto_class}{asked}"
    # An encoder's pooler is not used.
    network = load_trained(auto, folder, place, torch.float32, what, kind, unused="pooler.", **settings)
    # Some tokenizers do not know their model's limit and give 10³⁰, which overflows their Rust code.
    tokenizer.model_max_length = min(tokenizer.model_max_length, positions(network) or _USUAL_LIMIT)
    return tokenizer, network


def budget(network: Any) -> int:
    """The tokens per batch on *network*'s device.

    >>> import torch
    >>> budget(torch.zeros(1))  # only the device is used
    4096
    """
    return BUDGETS.get(network.device.type, BUDGETS["cpu"])


def positions(network: Any) -> int | None:
    """The longest input of *network* in tokens, special ones included; None if it does not state it."""
    most = getattr(network.config, "max_position_embeddings", None) or 0
    if most <= 0:
        return None
    # RoBERTa and related models count positions from after their padding id.
    table = getattr(getattr(network.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return most - (0 if padding is None else padding + 1)
