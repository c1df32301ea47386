"""Which model a name means: the catalogue, families of architectures and their language codes.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from string import Formatter, Template
from types import MappingProxyType
from typing import Any, ClassVar

import yaml

from nbkit.errors import ModelError, UnknownNameError
from nbkit.files import looks_secret, public_environment
from nbkit.models.backends import BACKENDS, TRANSFORMERS, Backend, split_backend
from nbkit.models.python import as_entry
from nbkit.models.services.names import RemoteModel, is_remote, parse_remote
from nbkit.models.translators.recipe import AS_IT_IS, Variant, check_condition, matching, split_seed
from nbkit.registry import Registry

_HERE = Path(__file__).parent


#: What a model's name begins with where numbers are carried over by rule (`nbkit.models.translators.placeholder`).
BY_RULE = "placeholder:"


_LONGEST_PART = 255


_HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True)
class Family:
    """An architecture: its tokenizer class, and how it is told the languages (``families.yaml``).

    tokenizer: name of the transformers class. model_type: as in ``config.json``.
    token: format of the language token, None where the family has none (Marian).
    codes: languages to the family's own codes; empty where every checkpoint has its own pair.
    token_starts: whether the language token begins what the decoder reads, as mBART's does, and is not generated first.
    converts: whether CTranslate2 runs it.
    """

    name: str
    tokenizer: str
    model_type: str
    token: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    token_starts: bool = False
    converts: bool = False

    def code(self, lang: str) -> str | None:
        """The family's own code of a language, None where it does not speak it.

        >>> families()["mbart50"].code("de"), families()["nllb"].code("zho_Hant"), families()["mbart50"].code("cy")
        ('de_DE', 'zho_Hant', None)
        """
        if lang in self.codes:
            return self.codes[lang]
        own = self.name == "nllb" and re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", lang) is not None
        return lang if own or lang in self.codes.values() else None


@dataclass(frozen=True)
class ModelEntry:
    """A model that goes by a name: an entry of ``catalogue.yaml``, or one of the user's own.

    hub: hub id (``@revision`` pins it), folder, or name of a model behind a service (``openai:…``), in which
    ``{src}``, ``{tgt}`` and ``${VARIABLE}`` are filled in; None where *recipe* names a model that is trained here.
    family: a name of ``families.yaml``, or None: read from the files. label: what figures call it.
    codes: language to the hub's spelling in ``{src}`` and ``{tgt}``.
    sources, targets: the languages it was made for; None: all of its family's.
    prefixes: target language to what every source text begins with. python: Python code of the user's own.

    >>> captions = ModelEntry(hub="${HOME}/models/captions-{src}-{tgt}", label="Captions")
    >>> registry = Registry("model")  # in use: nbkit.models.MODELS
    >>> registry.register("captions", captions)
    """

    hub: str | None = None
    family: str | None = None
    label: str = ""
    summary: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    recipe: str | None = None
    python: Any = None


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

    #: The transformers class that loads the weights.
    auto_class: ClassVar[str] = "AutoModel"

    @property
    def full_name(self) -> str:
        """The name with its backend: what stands for the system in tables and messages."""
        return f"{self.name}@{self.backend.suffix}" if self.backend.suffix else self.name


@dataclass(frozen=True)
class Reference(Origin):
    """What a name means for one language pair.

    remote: a model behind a service, which has no files here: no folder, hub id or recipe.
    variant: what its recipe is changed by, for a model that is trained here.
    """

    entry: ModelEntry
    src: str
    tgt: str
    remote: RemoteModel | None = field(default=None, kw_only=True)
    variant: Variant = field(default=AS_IT_IS, kw_only=True)

    auto_class: ClassVar[str] = "AutoModelForSeq2SeqLM"


def _read_catalogue() -> Registry[ModelEntry]:
    registry: Registry[ModelEntry] = Registry("model", partial(as_entry, ModelEntry, "model"))
    for name, fields in yaml.safe_load((_HERE / "catalogue.yaml").read_text(encoding="utf-8")).items():
        for key in ("sources", "targets"):
            if key in fields:
                fields[key] = tuple(fields[key])
        registry.register(name, ModelEntry(**fields), summary=fields["summary"])
    return registry


#: The models that go by a short name; `Registry.register` adds one's own `ModelEntry`, or Python code that translates
#: (`nbkit.models.python`).
MODELS = _read_catalogue()


@cache
def families() -> Mapping[str, Family]:
    """All architectures by name, from ``families.yaml``."""
    entries = yaml.safe_load((_HERE / "families.yaml").read_text(encoding="utf-8"))
    return MappingProxyType({name: Family(name=name, **fields) for name, fields in entries.items()})


def label(name: str) -> str:
    """What figures call a model: the catalogue's label, the last part of a path or hub id otherwise.

    >>> label("m2m100-418m"), label("models/m30k-{src}-{tgt}"), label("Helsinki-NLP/opus-mt-en-de")
    ('M2M-100-418M', 'm30k', 'opus-mt-en-de')
    >>> label("mine/{src}-{tgt}"), label("placeholder:opus-mt")
    ('mine', 'Helsinki-OPUS + placeholder')
    >>> label("sandbox-marian#2"), label("sandbox-idioms-zero")
    ('Sandbox-Marian (seed 2)', 'random zero')
    >>> label("opus-mt@ct2"), label("placeholder:./models/{src}-{tgt}@ct2-int8")
    ('Helsinki-OPUS CT2', 'models CT2 int8 + placeholder')
    >>> label("openai:Qwen/Qwen3-8B@http://localhost:8000/v1"), label("deep-translator:google")
    ('Qwen3-8B', 'Google')
    """
    if name.startswith(BY_RULE):
        return f"{label(name.removeprefix(BY_RULE))} + placeholder"
    if is_remote(name):
        return parse_remote(name).label
    name, backend = split_backend(name)
    if backend.label:
        return f"{label(name)} {backend.label}"
    base, variant = split_variant(name)
    if base not in MODELS:
        return last_part(name)
    return f"{MODELS.get(base).label or last_part(base)}{variant.label}"


def last_part(name: str) -> str:
    """The last part of a path or hub id that is more than placeholders."""
    parts = [re.sub(r"[-_.]*\{\w+\}[-_.]*", "", part) for part in name.rstrip("/").split("/")]
    return next((part for part in reversed(parts) if part), name)


def resolve(name: str, src: str, tgt: str) -> Reference:
    """What *name* means for the pair: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    A name ends in ``#2`` for the same model trained with that seed, and has a condition where the catalogue's has
    ``{condition}`` (`nbkit.models.translators.recipe`). ``placeholder:NAME`` is the same model, asked
    otherwise: the reference is that of *NAME*. ``NAME@ct2`` and ``NAME@ct2-int8`` are the same weights, run by another
    backend (`nbkit.models.backends`). ``openai:MODEL`` and ``deep-translator:SERVICE`` are models behind a service
    (`nbkit.models.services.names`).

    Raises `UnknownNameError` for a name that is none of these, with the closest match, and `ModelError` for a
    placeholder, ``{condition}`` among them, or an environment variable that cannot be filled in.

    >>> resolve("opus-mt", "en", "ja").hub
    'Helsinki-NLP/opus-mt-en-jap'
    >>> resolve("opus-nt", "en", "de")
    Traceback (most recent call last):
    nbkit.errors.UnknownNameError: unknown model 'opus-nt'; did you mean 'opus-mt'? There are: ...
    """
    name = name.removeprefix(BY_RULE)
    if is_remote(name):
        return _behind_service(name, ModelEntry(hub=name), src, tgt)
    name, backend = split_backend(name)
    check_suffix(name, MODELS)
    base, variant = split_variant(name)
    check_condition(name)
    entry = ModelEntry(hub=name) if base not in MODELS and is_place(name) else MODELS.get(base)
    if entry.recipe is not None:
        return Reference(name, entry, src, tgt, recipe=entry.recipe, backend=backend, variant=variant)
    if variant.seed is not None:
        raise ModelError(f"model '{name}': '{base}' is not trained here, so it has no other seeds")
    if entry.python is not None:
        check_python(name, backend)
        return Reference(name, entry, src, tgt)
    if entry.hub is None:
        raise ModelError(f"model '{name}': its entry has neither hub id, folder nor recipe")
    if is_remote(entry.hub):
        if backend != TRANSFORMERS:
            raise ModelError(f"model '{name}' is behind a service: no backend '{backend.suffix}' runs it here")
        return _behind_service(name, entry, src, tgt)
    values = _codes(entry, src, tgt) | ({"condition": variant.condition} if variant.condition else {})
    return Reference(name, entry, src, tgt, **located(name, entry.hub, values), backend=backend)


def check_python(name: str, backend: Backend) -> None:
    """Raises `ModelError` for Python code with a backend's suffix."""
    if backend != TRANSFORMERS:
        raise ModelError(f"'{name}' is Python code of your own: no backend '{backend.suffix}' runs it; leave it out")


def split_variant(name: str) -> tuple[str, Variant]:
    """The catalogue's name of a model without its seed and condition, and these.

    >>> split_variant("sandbox-wsd-lstm#2"), split_variant("opus-mt")[0]
    (('sandbox-wsd-lstm', Variant(seed=2, condition=None)), 'opus-mt')
    """
    base, seed = split_seed(name)
    known, condition = matching(base, MODELS)
    return known, Variant(seed, condition)


def _behind_service(name: str, entry: ModelEntry, src: str, tgt: str) -> Reference:
    remote = parse_remote(_filled(entry.hub or "", name, _codes(entry, src, tgt)))
    return Reference(name, entry, src, tgt, remote=remote)


def _codes(entry: ModelEntry, src: str, tgt: str) -> dict[str, str]:
    return {"src": entry.codes.get(src, src), "tgt": entry.codes.get(tgt, tgt)}


def located(name: str, template: str, values: Mapping[str, str]) -> dict[str, Any]:
    """An `Origin`'s folder, or its hub id and revision, from a place with ``{placeholders}`` and ``${VARIABLES}``.

    Raises `ModelError` for one of these that cannot be filled in.
    """
    place = _filled(template, name, values)
    folder = Path(place).expanduser()
    if folder.is_dir() or not _HUB_ID.fullmatch(place):
        return {"folder": folder}
    hub, _, revision = place.partition("@")
    return {"hub": hub, "revision": revision or None}


def is_place(name: str) -> bool:
    """Whether a name that no catalogue knows can be a folder or a hub id. Raises `ModelError` where it is too long."""
    if any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART for part in re.split(r"[/\\]", name)):
        raise ModelError(f"model '{name:.60}…': a name of more than {_LONGEST_PART} bytes is no folder's and no hub id")
    return "/" in name or "\\" in name or name.startswith(("~", "$", ".")) or Path(name).is_dir()


def check_suffix(name: str, known: Container[str]) -> None:
    """Raises `UnknownNameError` for a name of a catalogue, *known*, with an ``@`` behind it that is no backend's."""
    model, at, suffix = name.rpartition("@")
    if at and name not in known and model in known:
        raise UnknownNameError("backend", suffix, BACKENDS)


def _filled(template: str, name: str, values: Mapping[str, str]) -> str:
    try:
        place = Template(template).substitute(public_environment())
    except KeyError as error:
        variable = error.args[0]
        reason = "looks like a key, which no name holds" if looks_secret(variable) else "is not set"
        raise ModelError(f"model '{name}': the environment variable {variable} {reason}") from None
    except ValueError:
        raise ModelError(f"model '{name}': a '$' that begins no variable; write '$$' for a plain one") from None
    try:
        wanted: set[Any] = {part[1] for part in Formatter().parse(place) if part[1] is not None}
    except ValueError as error:
        raise ModelError(f"model '{name}': {error}") from None
    if wanted - set(values):
        strange = ", ".join(f"{{{part}}}" for part in sorted(wanted - set(values)))
        known = " and ".join(f"{{{part}}}" for part in values)
        raise ModelError(f"model '{name}': {strange} cannot be filled in; there are {known}")
    return place.format(**values)
