"""What runs a model: said at the end of its name, after an ``@``, as two backends are two systems.

``opus-mt`` is run by transformers, ``opus-mt@ct2`` and ``opus-mt@ct2-int8`` by CTranslate2. The suffixes are a closed
set and come last, so that they are never taken for a hub revision: ``org/model@v2@ct2`` is revision v2 run by
CTranslate2, and a branch that is called ct2 is ``org/model@refs/heads/ct2``. A folder whose own name ends so is
written with a slash after it.

What a model is run on, and how exactly, is said by a device and a dtype, ``auto`` among them.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from nbkit.errors import MissingExtraError, ModelError

Model = TypeVar("Model")

#: Goes up when checkpoints are converted, or searched with the same settings, in another way.
CONVERSION = 1
#: Architectures, as ``config.json`` calls them, that are run by CTranslate2: encoders of classifiers, language models.
ENCODERS = ("bert", "camembert", "distilbert", "roberta", "xlm-roberta")
DECODERS = ("gpt2",)
_DEVICE = re.compile(r"auto|cpu|mps|(cuda|xpu)(:\d{1,3})?")


@dataclass(frozen=True)
class Backend:
    """Something that runs models.

    suffix: what a name ends with after ``@``, empty for transformers. label: what is added to the label of a model.
    package: the Python package it needs, which is an extra of its own suffix's first part (``nbkit[ct2]``).
    quantization: the type that weights are rounded to; None: as they are.
    """

    suffix: str
    label: str
    summary: str
    package: str
    quantization: str | None = None

    @property
    def problem(self) -> str | None:
        """Why it cannot be used, with the way out; None where nothing stands against it."""
        if find_spec(self.package) is not None:
            return None
        extra = self.suffix.partition("-")[0]
        return f"backend '{self.suffix}' needs the package {self.package}: pip install \"nbkit[{extra}]\""

    def require(self) -> None:
        """Raises `MissingExtraError` where its package is not installed."""
        if self.problem is not None:
            raise MissingExtraError(self.problem)

    @property
    def version(self) -> str | None:
        """The version of its package, None where that is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    def identity(self) -> dict[str, Any]:
        """What stands for it in a cache key."""
        if self == TRANSFORMERS:
            return {"backend": self.package, self.package: self.version, "torch": version("torch")}
        # The tokenizer is transformers' in every case.
        return {
            "backend": self.package,
            self.package: self.version,
            "conversion": CONVERSION,
            "quantization": self.quantization,
            "transformers": version("transformers"),
        }


TRANSFORMERS = Backend("", "", "transformers on torch: the reference", "transformers")
#: Backends by the suffix that chooses them.
BACKENDS: Mapping[str, Backend] = MappingProxyType(
    {
        backend.suffix: backend
        for backend in (
            Backend("ct2", "CT2", "run by CTranslate2: several times as fast on a CPU", "ctranslate2"),
            Backend(
                "ct2-int8", "CT2 int8", "run by CTranslate2 with 8-bit weights: faster still", "ctranslate2", "int8"
            ),
        )
    }
)


def split_backend(name: str) -> tuple[str, Backend]:
    """A model's name without the backend's suffix, and the backend: transformers where it has none.

    >>> split_backend("opus-mt@ct2-int8")[0], split_backend("opus-mt@ct2-int8")[1].quantization
    ('opus-mt', 'int8')
    >>> [split_backend(name)[0] for name in ("org/model@v2", "org/model@v2@ct2", "./folder@ct2/")]
    ['org/model@v2', 'org/model@v2', './folder@ct2/']
    """
    rest, at, suffix = name.rpartition("@")
    if at and rest and suffix in BACKENDS:
        return rest, BACKENDS[suffix]
    return name, TRANSFORMERS


@dataclass(frozen=True)
class Origin:
    """Where the files of the model *name* come from: a folder, a hub id, or a recipe to train by.

    Exactly one of *folder*, *hub* and *recipe* is set, none of them for a service or Python code; *revision* belongs to
    *hub*. *name* is that of the weights, without the backend that runs them.
    """

    name: str
    folder: Path | None = field(default=None, kw_only=True)
    hub: str | None = field(default=None, kw_only=True)
    revision: str | None = field(default=None, kw_only=True)
    recipe: str | None = field(default=None, kw_only=True)
    backend: Backend = field(default=TRANSFORMERS, kw_only=True)

    #: What messages call it, and the transformers class that loads the weights.
    noun: ClassVar[str] = "model"
    auto_class: ClassVar[str] = "AutoModel"

    @property
    def called(self) -> str:
        """The model as messages name it."""
        return f"{self.noun} '{self.name}'"

    @property
    def full_name(self) -> str:
        """The name with its backend: what stands for the system in tables and messages."""
        return f"{self.name}@{self.backend.suffix}" if self.backend.suffix else self.name

    @property
    def stem(self) -> str | None:
        """What the folder of a model that is trained here begins with."""
        return self.recipe

    @property
    def has_files(self) -> bool:
        """Whether it has files: a model behind a service, or in Python code, has none."""
        return any(place is not None for place in (self.folder, self.hub, self.recipe))


def backend_identity(device: str, dtype: str, backend: Backend = TRANSFORMERS) -> dict[str, Any]:
    """What stands for the arithmetic: the backend, library versions, the kind of device and the dtype."""
    kind = resolve_device(device).partition(":")[0]
    return {**backend.identity(), "device": kind, "dtype": resolve_dtype(dtype, kind)}


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


class Kept(Generic[Model]):
    """The last *most* models that were asked for; one that is not there is loaded, and the oldest let go first.

    >>> kept = Kept(most=2)
    >>> [kept.get(name, lambda name=name: name.upper()) for name in ("a", "b", "a", "c")]
    ['A', 'B', 'A', 'C']
    >>> list(kept.things)
    ['a', 'c']
    """

    def __init__(self, most: int):
        self.most = most
        self.things: OrderedDict[Hashable, Model] = OrderedDict()

    def get(self, key: Hashable, load: Callable[[], Model]) -> Model:
        """What is kept under *key*, loaded now where it is not."""
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        while len(self.things) >= self.most:
            self.things.popitem(last=False)
        self.things[key] = load()
        return self.things[key]
