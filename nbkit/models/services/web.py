"""Translation services of the web, by way of the package deep-translator (``web.yaml``)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import yaml

from nbkit.errors import MissingExtraError, ModelError, UnknownNameError
from nbkit.models.decoding import Decoding
from nbkit.models.services.remote import RemoteModel, check_options, split_options, take_pacing

if TYPE_CHECKING:
    from nbkit.models.services.asking import RemoteTranslator

PACKAGE = "deep_translator"


#: What such services bear, most of them without a contract.
_PACING = {"concurrency": 2, "rate": 240.0, "timeout": 60.0}


@dataclass(frozen=True)
class Service:
    """A translation service; see ``web.yaml``."""

    class_name: str
    label: str
    summary: str
    keys: Mapping[str, str] = field(default_factory=dict)
    wishes: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False

    def environment(self) -> dict[str, str]:
        """Its arguments that come from the environment, as far as they are set."""
        return {name: os.environ[key] for name, key in {**self.keys, **self.wishes}.items() if os.environ.get(key)}


@cache
def services() -> Mapping[str, Service]:
    """All services by name."""
    entries = yaml.safe_load(Path(__file__).with_name("web.yaml").read_text(encoding="utf-8"))
    return MappingProxyType({name: Service(class_name=each.pop("class"), **each) for name, each in entries.items()})


@dataclass(frozen=True)
class WebModel(RemoteModel):
    """``deep-translator:SERVICE``, with the options of `Pacing` behind a question mark.

    >>> WebModel.parsed("deep-translator:deepl?rate=60").label
    'DeepL'
    """

    service: str

    prefix: ClassVar[str] = "deep-translator:"

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `UnknownNameError` for a service that there is not, and `ModelError` for an unknown option."""
        rest, options = split_options(name)
        service = rest.removeprefix(cls.prefix)
        if service not in services():
            raise UnknownNameError("deep-translator service", service, services())
        pacing = take_pacing(name, options, _PACING)
        check_options(name, options, ())
        return cls(name, pacing, service)

    @property
    def entry(self) -> Service:
        """What is known of its service."""
        return services()[self.service]

    @property
    def label(self) -> str:
        """The service's own name."""
        return self.entry.label

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        return ()

    def identity(self) -> dict[str, Any]:
        """The service, and where it is if that was said; what runs there, a service does not tell."""
        own = {} if "custom_url" not in self.entry.wishes else {"server": self.entry.environment().get("custom_url")}
        return {"backend": "deep-translator", "service": self.service, **own}

    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        return {}

    def problem(self, src: str, tgt: str) -> str | None:
        if find_spec(PACKAGE) is None:
            return f"model '{self.name}' needs the package deep-translator: pip install \"nbkit[deep-translator]\""
        unset = [variable for variable in self.entry.keys.values() if not os.environ.get(variable)]
        if unset:
            verb = "is not set" if len(unset) == 1 else "are not set"
            return f"model '{self.name}': {' and '.join(unset)} {verb}, which {self.label} asks for"
        if self.entry.asks:
            return None
        from nbkit.models.services.clients import WebTranslator

        try:
            WebTranslator(self).made(src, tgt)
        except ModelError as error:
            return str(error)
        return None

    def translator(self) -> RemoteTranslator:
        if find_spec(PACKAGE) is None:
            raise MissingExtraError(self.problem("", "") or "")
        from nbkit.models.services.clients import WebTranslator

        return WebTranslator(self)
