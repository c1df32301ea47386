"""Prompts of chat models: of ``prompts.yaml`` by name, or a file in the same form."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from nbkit.errors import DataError, UnknownNameError
from nbkit.languages import language_name
from nbkit.yaml_text import load, read_own

_FILE = Path(__file__).with_name("prompts.yaml")
_ROLES = ("system", "user", "assistant")
_FIELDS = ("text", "source", "target", "src", "tgt")


@dataclass(frozen=True)
class Prompt:
    """Chat messages with placeholders for a text and its languages, as (role, content).

    labels: labels that may precede an answer (`nbkit.models.services.service.one_line`).
    """

    messages: tuple[tuple[str, str], ...]
    labels: tuple[str, ...] = ()

    def filled(self, text: str, src: str, tgt: str) -> list[dict[str, str]]:
        """The messages that request one text, in the server's format.

        >>> load_prompt("plain").filled("Tom {sleeps}.", "en", "ta")
        [{'role': 'user', 'content': 'Translate the following sentence into Tamil: Tom {sleeps}.'}]
        """
        values = {"text": text, **_languages(src, tgt)}
        return [{"role": role, "content": content.format(**values)} for role, content in self.messages]

    def labels_for(self, src: str, tgt: str) -> tuple[str, ...]:
        """The labels with the languages filled in."""
        return tuple(label.format(text="", **_languages(src, tgt)) for label in self.labels)

    @property
    def digest(self) -> str:
        """The digest of the messages for a store key; labels are not sent to the model."""
        return hashlib.blake2b(json.dumps(self.messages).encode(), digest_size=8).hexdigest()


def load_prompt(name: str) -> Prompt:
    """The prompt of that name, or from a YAML file (``messages`` and, optionally, ``labels``).

    Raises `UnknownNameError` for a name that is neither, and `DataError`, with the file, for an invalid prompt: no
    ``{text}`` in it, an unknown placeholder, an unknown role.
    """
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise DataError(f"the prompt cannot be read: {error}", path) from None
        return _checked(load(text, path, "the prompt cannot be read")[1], path)
    known = read_own(_FILE)
    if name not in known:
        raise UnknownNameError("prompt", name, known)
    return _checked(known[name], _FILE)


def _checked(values: Any, path: Path) -> Prompt:
    if not isinstance(values, dict):
        raise DataError(f"a mapping with 'messages' expected, {type(values).__name__} found", path)
    if not isinstance(values.get("messages"), list) or not values["messages"]:
        raise DataError("'messages' must be a list of roles with their content (user: Translate {text})", path)
    if strange := sorted(set(values) - {"messages", "labels"}):
        raise DataError(f"unknown field '{strange[0]}'; a prompt has the fields messages and labels", path)
    messages = tuple(_message(message, path) for message in values["messages"])
    labels = tuple(map(str, values.get("labels") or ()))
    texts: Sequence[str] = (*(content for _, content in messages), *labels)
    if strange := sorted({field for text in texts for field in _fields(text, path)} - set(_FIELDS)):
        known = ", ".join(f"{{{field}}}" for field in _FIELDS)
        raise DataError(f"unknown placeholder {{{strange[0]}}}; there are: {known}", path)
    if not any("text" in _fields(content, path) for _, content in messages):
        raise DataError("no message of this prompt contains {text}; add it where the source text belongs", path)
    return Prompt(messages, labels)


def _message(message: Any, path: Path) -> tuple[str, str]:
    if not isinstance(message, dict) or len(message) != 1 or not set(message) <= set(_ROLES):
        raise DataError(f"a message must be a role ({', '.join(_ROLES)}) with its content, not {message!r:.80}", path)
    ((role, content),) = message.items()
    return role, str(content)


def _fields(text: str, path: Path) -> set[str]:
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise DataError(f"{error}: {text!r:.80} (double a literal brace)", path) from None


def _languages(src: str, tgt: str) -> Mapping[str, str]:
    return {"source": language_name(src), "target": language_name(tgt), "src": src, "tgt": tgt}
