"""What stands for a model in a cache key, and what stands against using it: asked without loading anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from nbkit.errors import ModelError, NbkitError
from nbkit.languages import in_order
from nbkit.models import weights
from nbkit.models.backends import TRANSFORMERS, Backend
from nbkit.models.integrity import folder_digest
from nbkit.models.translators.catalogue import BY_RULE, Origin, Reference, families, resolve
from nbkit.models.translators.languages import check_backend, check_pair
from nbkit.models.translators.local import recipe_digest, recipe_for

#: Goes up when translating changes in a way that settings do not show.
VERSION = 1


_DEVICE = re.compile(r"auto|cpu|mps|(cuda|xpu)(:\d{1,3})?")


def model_identity(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """All about a model that can change what it answers, JSON-able; costs no model load and, on CPU builds, no torch.

    A folder stands there as the digest of its files (so that equal copies share results wherever they lie), a hub
    model as its id and the commit in the cache, a model trained here as the digest of its recipe; beside it the
    backend, its version and torch's, the kind of device and the dtype. A model behind a service stands there by what
    it is called, where it is and what it is asked. Python code stands there by its name and the identity that it gives;
    without one by `nbkit.store.NOT_REMEMBERED`.

    Raises `UnknownNameError` and `ModelError` as `resolve` does. Files that are missing are no error here: their
    digest or commit is None then.

    >>> model_identity("opus-mt", "en", "de", device="cpu")["hub"]
    'Helsinki-NLP/opus-mt-en-de'
    """
    reference = resolve(name, src, tgt)
    identity: dict[str, Any] = {"translation": VERSION}
    if reference.remote is not None:
        identity |= reference.remote.identity()
    elif reference.entry.python is not None:
        identity |= reference.entry.python.identity(offered(device, dtype, src=src, tgt=tgt))
    else:
        trained = None if reference.recipe is None else recipe_digest(recipe_for(reference))
        identity |= origin_identity(reference, trained) | backend_identity(device, dtype, reference.backend)
    if reference.entry.prefixes.get(tgt):
        identity["prefix"] = reference.entry.prefixes[tgt]
    if name.startswith(BY_RULE):
        from nbkit.models.translators.placeholder import rules_digest

        identity["placeholder"] = rules_digest()
    return identity


def origin_identity(origin: Origin, trained: str | None) -> dict[str, Any]:
    """What stands for a model's files; *trained* is the digest of the recipe of a model that is trained here."""
    if origin.recipe is not None:
        return {"recipe": origin.recipe, "weights": trained}
    if origin.hub is not None:
        return {"hub": origin.hub, "weights": weights.revision(origin)}
    folder = weights.find(origin)
    return {"weights": None if folder is None else folder_digest(folder)}


def fetched_identity(origin: Origin, trained: str | None) -> dict[str, Any]:
    """`origin_identity` of what a model is fine-tuned from; a hub model that is not here is fetched first.

    Before that its commit is not known, and the model would be known by another name after it was trained. Where it
    cannot be had it stands there without one: whoever trains says why.
    """
    identity = origin_identity(origin, trained)
    if is_missing(identity) and weights.obstacle(origin) is None:
        weights.fetch(origin)
        return origin_identity(origin, trained)
    return identity


def backend_identity(device: str, dtype: str, backend: Backend = TRANSFORMERS) -> dict[str, Any]:
    """What stands for the arithmetic: the backend, library versions, the kind of device and the dtype."""
    kind = resolve_device(device).partition(":")[0]
    return {**backend.identity(), "device": kind, "dtype": resolve_dtype(dtype, kind)}


def offered(device: str, dtype: str, **languages: str | None) -> dict[str, Any]:
    """What Python code that makes a model may ask for: the languages, and the device and dtype spelled out."""
    place = resolve_device(device)
    return {**languages, "device": place, "dtype": resolve_dtype(dtype, place)}


def is_missing(identity: Mapping[str, Any]) -> bool:
    """Whether an identity is that of a hub model that is not on this machine, so that its revision is not known yet.

    >>> is_missing({"hub": "google/mt", "weights": None}), is_missing({"hub": "google/mt", "weights": "9ab3"})
    (True, False)
    """
    return "hub" in identity and identity["weights"] is None


def with_revision(address: Callable[[], dict[str, Any]], download: Callable[[], object]) -> dict[str, Any]:
    """The store's *address* of a model's results, its revision in it: a hub model that is not here is fetched first.

    >>> here = []
    >>> address = lambda: {"model": {"hub": "google/mt", "weights": here[0] if here else None}}
    >>> with_revision(address, lambda: here.append("9ab3"))
    {'model': {'hub': 'google/mt', 'weights': '9ab3'}}
    """
    config = address()
    if is_missing(config["model"]):
        download()
        return address()
    return config


def check_unchanged(name: str, identity: Mapping[str, Any], now: Callable[[], Mapping[str, Any]]) -> None:
    """Raises `ModelError` where the folder of a model that was loaded holds another one *now* than its *identity* says.

    What it gives would be remembered as the other one's. Models with a recipe or a commit are known by that.

    >>> check_unchanged("models/mine", {"weights": "9ab3"}, lambda: {"weights": "77c1"})
    Traceback (most recent call last):
    nbkit.errors.ModelError: model 'models/mine' was changed while it was used: run it again
    """
    if identity.get("weights") is None or "recipe" in identity or "hub" in identity:
        return
    if now()["weights"] != identity["weights"]:
        raise ModelError(f"model '{name}' was changed while it was used: run it again")


def check_model(name: str, src: str, tgt: str) -> str | None:
    """Why a model cannot be had for a pair, in one message; None where nothing stands against it.

    Looks at the name, the backend, the languages, the family and the files (on disk, in the Hugging Face cache, or
    offered by the hub), without loading the model. Where no network is reachable this takes seconds at most.

    >>> check_model("sandbox-marian", "en", "sw")
    "model 'sandbox-marian' does not translate to 'sw'; it translates to: de, fr, es, it, ru, zh, ja"
    """
    try:
        reference = resolve(name, src, tgt)
        if reference.remote is not None:
            check_remote(reference)
            return None
        if reference.entry.python is not None:
            check_remote(reference)
            model_identity(name, src, tgt)
            return None
        reference.backend.require()
        if reference.entry.family in families():
            check_pair(reference, families()[reference.entry.family or ""], None)
        if reference.recipe is not None:
            recipe_for(reference)
            return None
        folder = weights.find(reference)
        if folder is None:
            return weights.obstacle(reference)
        weights.check_files(reference, folder)
        family = weights.family(reference, folder)
        check_pair(reference, family, folder)
        check_backend(reference, family)
    except NbkitError as error:
        return str(error)
    return None


def check_remote(reference: Reference) -> None:
    """Raises `ModelError` where a model behind a service, or in Python, is not for the pair here; asks nobody."""
    entry, remote = reference.entry, reference.remote
    for side, lang, spoken in (("from", reference.src, entry.sources), ("to", reference.tgt, entry.targets)):
        if spoken is not None and lang not in spoken:
            known = ", ".join(in_order(spoken))
            raise ModelError(
                f"model '{reference.name}' does not translate {side} '{lang}'; it translates {side}: {known}"
            )
    problem = None if remote is None else remote.problem(reference.src, reference.tgt)
    if problem is not None:
        raise ModelError(problem)


def check_device(device: str) -> str:
    """*device*. Raises `ModelError` where no model can run on such a thing.

    >>> check_device("meta")
    Traceback (most recent call last):
    nbkit.errors.ModelError: unknown device 'meta': auto, cpu, mps, cuda or xpu, or one of several as cuda:1
    """
    if not _DEVICE.fullmatch(device):
        raise ModelError(f"unknown device {device!r}: auto, cpu, mps, cuda or xpu, or one of several as cuda:1")
    return device


def resolve_device(device: str) -> str:
    """``auto`` spelled out: ``cuda`` where torch sees one, ``cpu`` otherwise; others stay, or are a `ModelError`."""
    return _best_device() if device == "auto" else check_device(device)


def resolve_dtype(dtype: str, device: str) -> str:
    """``auto`` spelled out: ``bfloat16`` on CUDA, ``float32`` elsewhere; anything else stays.

    >>> resolve_dtype("auto", "cuda:1"), resolve_dtype("auto", "cpu"), resolve_dtype("float16", "cuda")
    ('bfloat16', 'float32', 'float16')
    """
    if dtype != "auto":
        return dtype
    return "bfloat16" if device.startswith("cuda") else "float32"


@cache
def _best_device() -> str:
    if version("torch").endswith("+cpu"):
        return "cpu"  # no need to wait for torch to say so
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
