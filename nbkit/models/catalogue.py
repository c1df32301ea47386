"""What a model's name means, of whichever kind it is: entries of catalogues, and where an entry's files come from.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from string import Formatter, Template
from typing import Any, ClassVar, TypeVar

import yaml

from nbkit.errors import ModelError, UnknownNameError
from nbkit.files import looks_secret, public_environment
from nbkit.models.backends import BACKENDS, TRANSFORMERS, Backend
from nbkit.models.python import as_entry
from nbkit.registry import Registry

_LONGEST_PART = 255


_HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True)
class Entry:
    """A model that goes by a name: what the catalogues of all kinds of models hold.

    hub: hub id (``@revision`` pins it) or folder, in which languages and ``${VARIABLE}`` are filled in; None where
    *recipe* names a model that is trained here. label: what figures call it. python: Python code of the user's own.
    """

    hub: str | None = None
    _: KW_ONLY
    label: str = ""
    summary: str = ""
    recipe: str | None = None
    python: Any = None


EntryT = TypeVar("EntryT", bound=Entry)


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

    @property
    def stem(self) -> str | None:
        """What the folder of a model that is trained here begins with."""
        return self.recipe

    @property
    def has_files(self) -> bool:
        """Whether it has files: a model behind a service, or in Python code, has none."""
        return any(place is not None for place in (self.folder, self.hub, self.recipe))


def read_catalogue(entry: type[EntryT], kind: str, path: Path) -> Registry[EntryT]:
    """The models of a catalogue at *path*, beside the ``__file__`` of its wing.

    `Registry.register` adds one's own *entry*, or Python code (`nbkit.models.python`).
    """
    registry: Registry[EntryT] = Registry(kind, partial(as_entry, entry, kind))
    for name, fields in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        values: dict[str, Any] = {
            field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()
        }
        registry.register(name, entry(**values), summary=fields["summary"])
    return registry


def catalogue_label(registry: Registry[EntryT], name: str) -> str:
    """What figures call a model: the catalogue's label, the last part of a path or hub id otherwise."""
    return (name in registry and registry.get(name).label) or last_part(name)


def last_part(name: str) -> str:
    """The last part of a path or hub id that is more than placeholders."""
    parts = [re.sub(r"[-_.]*\{\w+\}[-_.]*", "", part) for part in name.rstrip("/").split("/")]
    return next((part for part in reversed(parts) if part), name)


def find_entry(registry: Registry[EntryT], entry: type[EntryT], name: str, place: str | None = None) -> EntryT:
    """What a catalogue has under *name*, or an *entry* of a folder or hub id (of *place*, where it is given).

    Raises `UnknownNameError` for a name that is neither, with the closest match.
    """
    place = place or name
    return entry(hub=place) if name not in registry and is_place(place) else registry.get(name)


def check_made_for(what: str, languages: tuple[str, ...] | None, lang: str | None) -> None:
    """Raises `ModelError` for a language that a model, *what*, was not made for. languages: None: any."""
    if languages is not None and lang not in languages:
        raise ModelError(f"{what} is not for '{lang}'; it is for: {', '.join(languages)}")


def origin_of(
    what: str, name: str, entry: Entry, backend: Backend, values: Mapping[str, str], place: str | None = None
) -> dict[str, Any]:
    """The fields of an `Origin`: a recipe, files, or neither of them for Python code.

    what: the model, as messages name it. values: what is filled into the entry's place. place: what messages about that
    call the model, where it is not *name*.

    Raises `ModelError` for a place that cannot be filled in, for an entry without one, and for Python code with a
    backend.
    """
    if entry.recipe is not None:
        return {"recipe": entry.recipe, "backend": backend}
    if entry.python is not None:
        if backend != TRANSFORMERS:
            raise ModelError(
                f"'{name}' is Python code of your own: no backend '{backend.suffix}' runs it; leave it out"
            )
        return {}
    if entry.hub is None:
        raise ModelError(f"{what}: its entry has neither hub id, folder nor recipe")
    return {**located(place or name, entry.hub, values), "backend": backend}


def located(name: str, template: str, values: Mapping[str, str]) -> dict[str, Any]:
    """An `Origin`'s folder, or its hub id and revision, from a place with ``{placeholders}`` and ``${VARIABLES}``.

    Raises `ModelError` for one of these that cannot be filled in.
    """
    place = filled(template, name, values)
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


def filled(template: str, name: str, values: Mapping[str, str]) -> str:
    """A place with its placeholders and variables filled in. Raises `ModelError` for one that cannot be."""
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
