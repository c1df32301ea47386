"""The life cycle of a model of any kind: resolved, checked, trained or fetched, identified, loaded and cached.

======================  ================================================================================
resolving a name        `ModelKind.resolve`: an `nbkit.models.catalogue.Origin`
checking availability   `ModelKind.check`
files                   `ModelKind.ensure`: downloads them, has them trained, converts for the backend
identity                `ModelKind.identity`, in the keys of all stored results
loading                 `ModelKind.load`; cached in this process: `ModelKind.kept`
======================  ================================================================================

One subclass each defines what differs for translators, classifiers and language models. It names its networks, which
are imported when they are needed: this module does not import torch.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, TypeVar

from nbkit.errors import ModelError, as_problem
from nbkit.models import weights
from nbkit.models.backends import TRANSFORMERS, Kept, Origin, backend_identity, resolve_device, resolve_dtype, version
from nbkit.models.catalogue import REINSTALL
from nbkit.models.weights import check_bytes, folder_digest
from nbsandbox.trained import shipped_folder

ReferenceT = TypeVar("ReferenceT", bound=Any)
ModelT = TypeVar("ModelT")
#: Number of loaded models per kind that a process caches (least recently used go first): enough to alternate.
KEPT = 2


class ModelKind(ABC, Generic[ReferenceT, ModelT]):
    """One kind of model; a subclass sets

    - field: the name of its `version` in an identity
    - resolve: resolves a name for languages
    - python: the wrapper of Python code (`nbkit.models.python`)
    - loaders, which load a model from a folder, by the package of the backend: as ``"package.module:name"``
    - shards: number of results computed and written together, by device: the most that an interruption loses
    """

    field: ClassVar[str]
    #: Incremented when results change for a reason other than the settings.
    version: ClassVar[int] = 1
    resolve: ClassVar[Callable[..., Any]]
    python: ClassVar[Any]
    loaders: ClassVar[Mapping[str, str]]
    shards: ClassVar[Mapping[str, int]] = {"cpu": 4096, "cuda": 32768}

    def __init__(self) -> None:
        self.loaded: Kept[ModelT] = Kept(KEPT)

    # What a subclass defines.

    @abstractmethod
    def check_folder(self, reference: ReferenceT, folder: Path) -> object:
        """Raises `ModelError` if *folder* does not hold a model of this kind for the languages and the backend."""

    def check_known(self, reference: ReferenceT) -> None:
        """Raises `ModelError` for errors that can be detected before the files exist."""

    def check_answering(self, reference: ReferenceT) -> None:
        """Raises `NbkitError` if a model without files (Python code, service) cannot be used here."""
        self.identity_of(reference)

    def answering_identity(self, reference: ReferenceT, device: str, dtype: str) -> dict[str, Any]:
        """The identity of a model without files."""
        return dict(reference.entry.python.identity(self._offered(reference, device, dtype)))

    def more_identity(self, reference: ReferenceT) -> dict[str, Any]:
        """Further fields of a model's identity."""
        return {}

    def answering(self, reference: ReferenceT, device: str, dtype: str) -> ModelT:
        """A model without files."""
        model: ModelT = self.python(reference.entry.python, self._offered(reference, device, dtype))
        return model

    def opened(self, reference: ReferenceT, folder: Path, device: str, dtype: str) -> ModelT:
        """Load the model in *folder*, whose bytes have been checked."""
        model: ModelT = resolve_name(self.loaders[reference.backend.package])(reference, folder, device, dtype)
        return model

    def kept_under(self, reference: ReferenceT, identity: Mapping[str, Any]) -> Hashable:
        """The key of a loaded model, equal for all references to the same model."""
        return (json.dumps(identity, sort_keys=True), *reference.languages.values())

    # What all kinds share.

    def files(self, reference: ReferenceT) -> Path:
        """The folder that holds a model's files; trains or downloads them if they are missing.

        If several processes call this, one trains and the others wait.
        """
        self.check_known(reference)
        if reference.trained is None:
            return self.fetched(reference)
        folder: Path = reference.trained.folder
        if not weights.is_complete(folder):
            reference.trained.train()
        return folder

    def fetched(self, reference: ReferenceT) -> Path:
        """The folder of a model that is not trained here; downloads it if it is missing."""
        folder = weights.fetch(reference)
        self.check_folder(reference, folder)
        return folder

    def ensure(self, *asked: Any) -> Path | None:
        """Train, download or convert a model's files if they are missing; returns their folder.

        asked: as for `resolve`: a name and languages. Returns None for a model without files.
        """
        reference = self.resolve(*asked)
        if not reference.has_files:
            return None
        reference.backend.require()
        folder = self.files(reference)
        if reference.backend != TRANSFORMERS:
            resolve_name("nbkit.models.ct2:ensure_converted")(reference, folder)
        return folder

    def is_here(self, *asked: Any) -> bool:
        """Whether a model's files are on this machine, trained or downloaded."""
        reference = self.resolve(*asked)
        if reference.trained is not None:
            return weights.is_complete(reference.trained.folder)
        return not reference.has_files or weights.find(reference) is not None

    def identity(self, *asked: Any, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
        """Everything about a model that can change its output, JSON-serialisable; loads no model."""
        return self.identity_of(self.resolve(*asked), device, dtype)

    def identity_of(self, reference: ReferenceT, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
        """`identity` of a resolved name."""
        if reference.has_files:
            found = origin_identity(reference)
            found |= backend_identity(device, dtype, reference.backend)
        else:
            found = self.answering_identity(reference, device, dtype)
        return {self.field: self.version, **found, **self.more_identity(reference)}

    @as_problem
    def check(self, *asked: Any) -> str | None:
        """What prevents a model from being used, in one message; None if nothing does. Loads nothing.

        Checks the name, the languages, the backend, and the files (on disk, in the Hugging Face cache, or available
        from the hub) or the training data. Without a network this takes a few seconds at most.
        """
        reference = self.resolve(*asked)
        if not reference.has_files:
            self.check_answering(reference)
            return None
        reference.backend.require()
        self.check_known(reference)
        if reference.trained is not None:
            reference.trained.check()
            return None
        folder = weights.find(reference)
        if folder is None:
            return weights.obstacle(reference)
        self.check_folder(reference, folder)
        return None

    def load(self, *asked: Any, device: str = "auto", dtype: str = "auto") -> ModelT:
        """Load the model onto the device after checking its bytes; download or train it first if necessary."""
        reference = self.resolve(*asked)
        if not reference.has_files:
            return self.answering(reference, device, dtype)
        reference.backend.require()
        folder = self.files(reference)
        way_out = REINSTALL if shipped_folder() in folder.parents else None
        weights.check_bytes(folder, reference.called, way_out, weights=reference.backend == TRANSFORMERS)
        place = resolve_device(device)
        return self.opened(reference, folder, place, resolve_dtype(dtype, place))

    def kept(self, identity: Mapping[str, Any], *asked: Any, device: str = "auto", dtype: str = "auto") -> ModelT:
        """`load`, with a cache of the last `KEPT` models of the kind in this process.

        identity: of the requested model, as in the store key. A name or a folder is not enough: it may hold a different
        model by now. Raises `ModelError` if the model changed while it was loaded.
        """
        reference = self.resolve(*asked)
        if reference.entry.python is not None:  # has its own cache
            return self.load(*asked, device=device, dtype=dtype)

        def load() -> ModelT:
            model = self.load(*asked, device=device, dtype=dtype)
            # A recipe or a commit identifies a model. In any other folder the files may have changed, and the results
            # of another model would be stored as this one's.
            is_folder = identity.get("weights") is not None and not {"recipe", "hub"} & set(identity)
            if is_folder and self.identity(*asked, device=device, dtype=dtype)["weights"] != identity["weights"]:
                raise ModelError(f"model '{asked[0]}' changed while it was being loaded: run again")
            return model

        return self.loaded.get((self.kept_under(reference, identity), asked[0], device, dtype), load)

    def shard(self, device: str) -> int:
        """Number of results computed and written together on *device*."""
        return self.shards.get(resolve_device(device).partition(":")[0], self.shards["cpu"])

    def check_tokenizer(self, reference: ReferenceT, folder: Path) -> None:
        """Raises `ModelError` if *folder* holds no tokenizer: transformers would make an empty one."""
        if not weights.has_tokenizer(folder):
            raise ModelError(f"{reference.called}: {folder} holds no tokenizer (tokenizer.json)")

    def _offered(self, reference: ReferenceT, device: str, dtype: str) -> dict[str, Any]:
        """The arguments available to a factory in Python: the languages, and the resolved device and dtype."""
        place = resolve_device(device)
        return {**reference.languages, "device": place, "dtype": resolve_dtype(dtype, place)}


def origin_identity(origin: Origin) -> dict[str, Any]:
    """The identity of a model's files."""
    if origin.trained is not None:
        return dict(origin.trained.identity)
    if origin.hub is not None:
        return {"hub": origin.hub, "weights": weights.revision(origin)}
    folder = weights.find(origin)
    return {"weights": None if folder is None else folder_digest(folder)}


def is_missing(identity: Mapping[str, Any]) -> bool:
    """Whether an identity belongs to a hub model that is not on this machine, whose revision is therefore unknown.

    >>> is_missing({"hub": "google/mt", "weights": None}), is_missing({"hub": "google/mt", "weights": "9ab3"})
    (True, False)
    """
    return "hub" in identity and identity["weights"] is None


def with_revision(address: Callable[[], dict[str, Any]], download: Callable[[], object]) -> dict[str, Any]:
    """The store key of a model's results, including its revision: a missing hub model is downloaded first.

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


# ----------------------------------------------------------------------------
# Any pretrained network by its hub id or folder: locating, identifying and loading its weights.
#
# For networks outside the catalogues: the encoders behind alignments and learned metrics. Nothing here
# imports torch or transformers before a network is loaded.

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
    return origin_identity(origin_of(model)) | {
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
