"""One small lazy registry class for models, corpora, perturbations, metrics and studies."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from nbkit.errors import NbkitError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things, where a thing may be given as ``"package.module:attribute"`` and is imported on use.

    Names registered by other distributions under the entry-point group ``nbkit.<kind>`` are found too.

    >>> shouts = Registry("shout")
    >>> shouts.register("upper", str.upper, summary="capital letters")
    >>> shouts.register("join", "os.path:join")
    >>> shouts.get("upper")("a"), shouts.get("join")("a", "b")
    ('A', 'a/b')
    >>> shouts.summary("upper")
    'capital letters'
    """

    def __init__(self, kind: str):
        self.kind = kind
        self._entries: dict[str, T | str] = {}
        self._summaries: dict[str, str] = {}
        self._plugins_read = False

    def register(self, name: str, thing: T | str, *, summary: str = "", replace: bool = False) -> None:
        """Add *thing* under *name*; a name that is taken is an error unless ``replace=True``."""
        if name in self._entries and not replace:
            raise NbkitError(f"{self.kind} '{name}' is already registered; pass replace=True to replace it")
        self._entries[name] = thing
        self._summaries[name] = summary

    def get(self, name: str) -> T:
        """The thing under *name*, imported now if it was given as a path. Raises `UnknownNameError`."""
        self._read_plugins()
        if name not in self._entries:
            raise UnknownNameError(self.kind, name, self._entries)
        entry = self._entries[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = getattr(import_module(module), attribute)
            self._entries[name] = entry
        return entry

    def summary(self, name: str) -> str:
        """The one-line summary given at registration."""
        return self._summaries.get(name, "")

    def names(self) -> list[str]:
        """All names, in the order of registration."""
        self._read_plugins()
        return list(self._entries)

    def __contains__(self, name: object) -> bool:
        self._read_plugins()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _read_plugins(self) -> None:
        if self._plugins_read:
            return
        self._plugins_read = True
        for point in entry_points(group=f"nbkit.{self.kind}"):
            self._entries.setdefault(point.name, point.value)
            self._summaries.setdefault(point.name, f"from {point.dist.name}" if point.dist else "")
