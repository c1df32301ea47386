"""How a model is run: its backend, the device and dtype, and the settings of beam search; parts of every store key.

A backend is the library that runs a model, chosen by a suffix of its name, as two backends are two systems:
transformers runs ``opus-mt``; CTranslate2, which runs translators alone, runs ``opus-mt@ct2`` and ``opus-mt@ct2-int8``.
The suffixes are a closed set and come last, so they cannot be confused with a hub revision: ``org/model@v2@ct2`` is
revision v2 run by CTranslate2, and a branch called ct2 is ``org/model@refs/heads/ct2``. A folder whose name ends in
such a suffix is written with a trailing slash. A device and a dtype (``auto``, for example) determine the hardware and
the precision.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from nbkit.errors import MissingExtraError, ModelError, ParamsError

Model = TypeVar("Model")
#: Of an installed package; every identity asks, and each answer is read from a file.
version = cache(metadata.version)
#: Incremented when the conversion of checkpoints, or the search with given settings, changes.
CONVERSION = 1
_DEVICE = re.compile(r"auto|cpu|mps|(cuda|xpu)(:\d{1,3})?")


@dataclass(frozen=True)
class Backend:
    """A library that runs models.

    suffix: the end of a model's name after ``@``, empty for transformers. label: appended to the label of a model.
    package: the required Python package, installed by the extra called like the first part of the suffix
    (``nbkit[ct2]``). quantization: the type to which weights are rounded; None: unchanged.
    """

    suffix: str
    label: str
    summary: str
    package: str
    quantization: str | None = None

    @property
    def problem(self) -> str | None:
        """Why it cannot be used, and what to do; None if it can."""
        if find_spec(self.package) is not None:
            return None
        extra = self.suffix.partition("-")[0]
        return f"backend '{self.suffix}' needs the package {self.package}: pip install \"nbkit[{extra}]\""

    def require(self) -> None:
        """Raises `MissingExtraError` if its package is not installed."""
        if self.problem is not None:
            raise MissingExtraError(self.problem)

    @property
    def version(self) -> str | None:
        """The version of its package, None if that is not installed."""
        try:
            return version(self.package)
        except metadata.PackageNotFoundError:
            return None

    def identity(self) -> dict[str, Any]:
        """Its part of a store key."""
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
    """A model's name without the backend's suffix, and the backend: transformers if there is no suffix.

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
    """The source of the files of the model *name*: a folder, a hub id, or a package that trains it.

    One of *folder*, *hub* and *trained* is set, none for a service or Python code; *revision* belongs to *hub*.
    *name* refers to the weights, without the backend suffix.
    """

    name: str
    folder: Path | None = field(default=None, kw_only=True)
    hub: str | None = field(default=None, kw_only=True)
    revision: str | None = field(default=None, kw_only=True)
    backend: Backend = field(default=TRANSFORMERS, kw_only=True)

    #: The noun for it in messages, and the transformers class that loads the weights.
    noun: ClassVar[str] = "model"
    auto_class: ClassVar[str] = "AutoModel"

    @property
    def called(self) -> str:
        """The model's noun and name, for messages."""
        return f"{self.noun} '{self.name}'"

    @property
    def full_name(self) -> str:
        """The name with its backend suffix, which identifies the system in tables and messages."""
        return f"{self.name}@{self.backend.suffix}" if self.backend.suffix else self.name

    @cached_property
    def trained(self) -> Any:
        """The `nbkit.models.catalogue.Trained` model that its entry names, None for any other."""
        make = None if self.folder is not None else getattr(getattr(self, "entry", None), "trained", None)
        return None if make is None else make(self)

    @property
    def has_files(self) -> bool:
        """Whether it has files: a model behind a service or in Python code has none."""
        return any(place is not None for place in (self.folder, self.hub, self.trained))


def backend_identity(device: str, dtype: str, backend: Backend = TRANSFORMERS) -> dict[str, Any]:
    """The identity of the arithmetic: backend, library versions, kind of device and dtype."""
    kind = resolve_device(device).partition(":")[0]
    return {**backend.identity(), "device": kind, "dtype": resolve_dtype(dtype, kind)}


def check_device(device: str) -> str:
    """*device*, unchanged. Raises `ModelError` if no model can run on it.

    >>> check_device("meta")
    Traceback (most recent call last):
    nbkit.errors.ModelError: unknown device 'meta'; use auto, cpu, mps, cuda or xpu, with a number as in cuda:1
    """
    if not _DEVICE.fullmatch(device):
        raise ModelError(f"unknown device {device!r}; use auto, cpu, mps, cuda or xpu, with a number as in cuda:1")
    return device


def resolve_device(device: str) -> str:
    """Resolve ``auto``: ``cuda`` if torch finds one, else ``cpu``; other devices are checked (`check_device`)."""
    return _best_device() if device == "auto" else check_device(device)


def resolve_dtype(dtype: str, device: str) -> str:
    """Resolve ``auto``: ``bfloat16`` on CUDA, ``float32`` elsewhere; other values are returned unchanged.

    >>> resolve_dtype("auto", "cuda:1"), resolve_dtype("auto", "cpu"), resolve_dtype("float16", "cuda")
    ('bfloat16', 'float32', 'float16')
    """
    if dtype != "auto":
        return dtype
    return "bfloat16" if device.startswith("cuda") else "float32"


@cache
def _best_device() -> str:
    if version("torch").endswith("+cpu"):
        return "cpu"  # known without importing torch
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


class Kept(Generic[Model]):
    """A cache of the *most* recently used models; a missing one is loaded after dropping the oldest.

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
        """The model cached under *key*; loads it if it is missing."""
        if key in self.things:
            self.things.move_to_end(key)
            return self.things[key]
        while len(self.things) >= self.most:
            self.things.popitem(last=False)
        self.things[key] = load()
        return self.things[key]


# ----------------------------------------------------------------------------
# The settings of beam search.

#: Upper bounds, beyond what any search can use.
MOST_BEAMS, MOST_NEW_TOKENS, MOST_PENALTY = 1000, 10_000, 10
_STEP = 16


@dataclass(frozen=True)
class Decoding:
    """Settings of beam search; 1 beam is greedy search. nbkit never samples.

    Parameters
    ----------
    beams : int
        Number of hypotheses that survive each step, 1 to 1,000.
    max_new_tokens : int or None
        Maximum length of a hypothesis in the model's tokens, 1 to 10,000; None derives it from the source (`limit`).
    length_penalty : float
        Exponent λ of the hypothesis length in log p(y | x) / |y|^λ, from -10 to 10.
    early_stopping : bool
        True ends the search once *beams* hypotheses are finished; False continues until no running hypothesis is
        likely to become better (the meaning that transformers gives it).

    Raises
    ------
    ParamsError
        A value is out of range.

    Notes
    -----
    These settings override a checkpoint's beams, length and penalty, so that all models of a grid are decoded alike.
    What a checkpoint forbids or forces (``bad_words_ids``, forced first and last tokens) remains in force.

    Examples
    --------
    >>> Decoding(beams=1).identity()
    {'beams': 1, 'max_new_tokens': 'source', 'length_penalty': 1.0, 'early_stopping': False}
    """

    beams: int = 4
    max_new_tokens: int | None = None
    length_penalty: float = 1.0
    early_stopping: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= MOST_BEAMS:
            raise ParamsError(f"beams: {self.beams} given, 1 to {MOST_BEAMS:,} expected")
        if self.max_new_tokens is not None and not 1 <= self.max_new_tokens <= MOST_NEW_TOKENS:
            raise ParamsError(
                f"max_new_tokens: {self.max_new_tokens} given, 1 to {MOST_NEW_TOKENS:,} expected, or none"
            )
        if not -MOST_PENALTY <= self.length_penalty <= MOST_PENALTY:  # neither is nan
            given = f"length_penalty: {self.length_penalty:g} given"
            raise ParamsError(f"{given}, a number from -{MOST_PENALTY} to {MOST_PENALTY} expected")

    def limit(self, source_tokens: int) -> int:
        """The maximum hypothesis length for a source of that many tokens: twice the rounded source length plus 32.

        The source length is rounded up to a multiple of 16, so that texts of similar length share a
        batch and a hypothesis does not depend on the rest of its batch.

        >>> Decoding().limit(7), Decoding().limit(16), Decoding().limit(17), Decoding(max_new_tokens=20).limit(17)
        (64, 64, 96, 20)
        """
        if self.max_new_tokens is not None:
            return self.max_new_tokens
        return 2 * _STEP * -(-source_tokens // _STEP) + 32

    def identity(self) -> dict[str, Any]:
        """These settings as part of a store key."""
        return asdict(self) | {"max_new_tokens": self.max_new_tokens or "source"}


#: The settings of a run that does not specify any.
DEFAULT = Decoding()
