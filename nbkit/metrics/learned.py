"""What the two learned metrics share: where their weights are, how they are loaded, and how texts are cut to fit.

Nothing here imports torch or transformers before a model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.catalogue import ModelEntry, Reference
from nbkit.models.identity import folder_digest, resolve_device

#: Tokens of one batch. Batches hold texts of one length, so nothing is padded and a score does not depend on its batch.
BUDGETS = {"cpu": 4096, "cuda": 65536}
#: Longest input of a model that does not say its own, in tokens.
_USUAL_LIMIT = 512


def located(model: str) -> Reference:
    """Where *model* is: a folder, or a hub id with an optional ``@revision``.

    >>> located("Elron/bleurt-base-128").hub
    'Elron/bleurt-base-128'
    """
    folder = Path(model).expanduser()
    if folder.is_dir() or model.startswith(("/", "~", ".")):
        return Reference(model, ModelEntry(hub=model), "", "", folder=folder)
    hub, _, revision = model.partition("@")
    return Reference(model, ModelEntry(hub=model), "", "", hub=hub, revision=revision or None)


def label(model: str) -> str:
    """What signatures call a model: its hub id, or its folder's name without the path, which may be private.

    >>> label("~/models/my-bleurt"), label("Elron/bleurt-base-128")
    ('my-bleurt', 'Elron/bleurt-base-128')
    """
    reference = located(model)
    return reference.folder.resolve().name if reference.folder is not None else model


def obstacle(model: str) -> str | None:
    """Why the weights of *model* cannot be had, or None; loads nothing."""
    reference = located(model)
    try:
        folder = weights.find(reference)
        if folder is not None:
            weights.check_files(reference, folder)
    except ModelError as error:
        return str(error)
    return None if folder is not None else weights.obstacle(reference)


def weights_identity(model: str, device: str) -> dict[str, Any]:
    """What stands for the weights and what runs them in a cache key; a folder's digest, or a hub model's commit.

    Weights that cannot be had are None here, and an error when they are loaded.
    """
    reference = located(model)
    folder = weights.find(reference)
    if reference.hub is not None:
        source = {"hub": reference.hub, "weights": weights.revision(reference)}
    else:
        source = {"weights": folder_digest(folder) if folder is not None else None}
    return source | {
        "device": resolve_device(device).partition(":")[0],
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def load(model: str, auto_class: str, device: str, **settings: Any) -> tuple[Any, Any]:
    """The tokenizer and the model (in float32, on its device) that ``transformers.<auto_class>`` makes of *model*.

    settings: go over the checkpoint's own configuration. Raises `ModelError` where the weights cannot be had, do not
    fit the class, or the device is not there.
    """
    reference = located(model)
    folder = weights.fetch(reference)
    import torch
    import transformers
    from safetensors import SafetensorError

    place = resolve_device(device)
    if place.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(f"model '{model}': device '{device}' asked for, but torch sees no GPU here; take 'cpu'")
    try:
        with _quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            network, report = getattr(transformers, auto_class).from_pretrained(
                folder,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **settings,
            )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"model '{model}': {folder} cannot be loaded as {auto_class}: {error}") from error
    # transformers fills missing weights with random ones. An encoder's own pooler is not used.
    missing = sorted(key for key in report["missing_keys"] if not key.startswith("pooler."))
    if missing:
        asked = f" with {settings}" if settings else ""
        raise ModelError(
            f"model '{model}': {folder} is no trained {auto_class}{asked}: it holds no {', '.join(missing[:3])}"
        )
    network.eval()
    network.to(place)
    # Some tokenizers do not know their model's limit and say 10³⁰, which the Rust code behind them cannot hold.
    tokenizer.model_max_length = min(tokenizer.model_max_length, _positions(network))
    return tokenizer, network


def budget(network: Any) -> int:
    """The tokens of one batch on the device that *network* is on.

    >>> import torch
    >>> budget(torch.zeros(1))  # all that is asked for is its device
    4096
    """
    return BUDGETS.get(network.device.type, BUDGETS["cpu"])


def _positions(network: Any) -> int:
    """The longest input of *network* in tokens, special ones included."""
    positions = getattr(network.config, "max_position_embeddings", None) or 0
    if positions <= 0:
        return _USUAL_LIMIT
    # RoBERTa and its kin count positions from padding_idx + 1 on.
    embeddings = getattr(network.base_model, "embeddings", None)
    padding = getattr(embeddings, "padding_idx", None)
    return positions - (0 if padding is None else padding + 1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' loading bars and its report of unused weights (the layers that are not wanted)."""
    from transformers.utils import logging

    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()
