"""Which names mean a model behind a service."""

from __future__ import annotations

from nbkit.models.services.remote import RemoteModel
from nbkit.models.services.server import ServerModel, server_url
from nbkit.models.services.web import WebModel, services

#: What a name begins with, and the models it stands for.
KINDS: dict[str, type[RemoteModel]] = {kind.prefix: kind for kind in (ServerModel, WebModel)}


def is_remote(name: str) -> bool:
    """Whether a name means a model behind a service.

    >>> is_remote("openai:gpt-4o-mini"), is_remote("deep-translator:google"), is_remote("opus-mt")
    (True, True, False)
    """
    return name.startswith(tuple(KINDS))


def parse_remote(name: str) -> RemoteModel:
    """The model behind a service that a name means. Raises `ModelError` and `UnknownNameError` for one that is none."""
    return next(kind for prefix, kind in KINDS.items() if name.startswith(prefix)).parsed(name)


def offered() -> list[tuple[str, str, str]]:
    """Name, place and summary of what can be asked for by name, for lists; MODEL stands for what a server has."""
    server = f"{ServerModel.prefix}MODEL"
    rows = [(server, server_url(), "a chat model behind a server that speaks OpenAI's protocol, also openai:MODEL@URL")]
    return rows + [(f"{WebModel.prefix}{name}", each.label, each.summary) for name, each in services().items()]
