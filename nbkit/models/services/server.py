"""What a chat model is asked, as data: ``prompts.yaml``, or a file of one's own."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import SplitResult, urlsplit

from nbkit.errors import DataError, ModelError, NbkitError, UnknownNameError
from nbkit.languages import language_name
from nbkit.models.decoding import Decoding
from nbkit.models.services.remote import RemoteModel, check_options, read_number, split_options, take_pacing
from nbkit.yaml_text import load

if TYPE_CHECKING:
    from nbkit.models.services.asking import RemoteTranslator

_FILE = Path(__file__).with_name("prompts.yaml")


_ROLES = ("system", "user", "assistant")


_FIELDS = ("text", "source", "target", "src", "tgt")


@dataclass(frozen=True)
class Prompt:
    """Messages of a chat with places for a text and its languages, as (role, content).

    labels: what an answer may begin with that is no part of it (`nbkit.models.services.asking.one_line`).
    """

    messages: tuple[tuple[str, str], ...]
    labels: tuple[str, ...] = ()

    def filled(self, text: str, src: str, tgt: str) -> list[dict[str, str]]:
        """The messages that ask for one text, as a server takes them.

        >>> load_prompt("plain").filled("Tom {sleeps}.", "en", "ta")
        [{'role': 'user', 'content': 'Translate the following sentence into Tamil: Tom {sleeps}.'}]
        """
        values = {"text": text, **_languages(src, tgt)}
        return [{"role": role, "content": content.format(**values)} for role, content in self.messages]

    def labels_for(self, src: str, tgt: str) -> tuple[str, ...]:
        """The labels with the names of the languages in them."""
        return tuple(label.format(text="", **_languages(src, tgt)) for label in self.labels)

    @property
    def digest(self) -> str:
        """What stands for the messages in a cache key; labels have no part in what a model is asked."""
        return hashlib.blake2b(json.dumps(self.messages).encode(), digest_size=8).hexdigest()


def load_prompt(name: str) -> Prompt:
    """The prompt of that name, or that of a YAML file (``messages`` and, where wanted, ``labels``).

    Raises `UnknownNameError` for a name that is neither, and `DataError`, with the file, for a prompt that cannot be
    used: no ``{text}`` in it, a place that nothing can be put into, a role that there is not.
    """
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        return _checked(_read(path), path)
    known = _own()
    if name not in known:
        raise UnknownNameError("prompt", name, known)
    return _checked(known[name], _FILE)


@cache
def _own() -> dict[str, Any]:
    return _read(_FILE)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"this prompt cannot be read: {error}", path) from None
    _, values = load(text, path, "this prompt cannot be read")
    if not isinstance(values, dict):
        raise DataError(f"a mapping with messages expected, {type(values).__name__} found", path)
    return values


def _checked(values: Any, path: Path) -> Prompt:
    if not isinstance(values, dict) or not isinstance(values.get("messages"), list) or not values["messages"]:
        raise DataError("a prompt has messages: a list of role and content (user: Translate {text})", path)
    strange = sorted(set(values) - {"messages", "labels"})
    if strange:
        raise DataError(f"a prompt has messages and labels, not '{strange[0]}'", path)
    messages = tuple(_message(message, path) for message in values["messages"])
    labels = tuple(map(str, values.get("labels") or ()))
    texts: Sequence[str] = (*(content for _, content in messages), *labels)
    used = {field for text in texts for field in _fields(text, path)}
    if used - set(_FIELDS):
        known = ", ".join(f"{{{field}}}" for field in _FIELDS)
        raise DataError(f"nothing can be put into {{{min(used - set(_FIELDS))}}}; there are: {known}", path)
    if not any("text" in _fields(content, path) for _, content in messages):
        raise DataError("no message of this prompt holds {text}", path)
    return Prompt(messages, labels)


def _message(message: Any, path: Path) -> tuple[str, str]:
    if not isinstance(message, dict) or len(message) != 1 or not set(message) <= set(_ROLES):
        raise DataError(f"a message is one of {', '.join(_ROLES)} and its content, not {message!r:.80}", path)
    ((role, content),) = message.items()
    return role, str(content)


def _fields(text: str, path: Path) -> set[str]:
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise DataError(f"{error}: {text!r:.80} (a brace that is meant is doubled)", path) from None


def _languages(src: str, tgt: str) -> Mapping[str, str]:
    return {"source": language_name(src), "target": language_name(tgt), "src": src, "tgt": tgt}


# ----------------------------------------------------------------------------
# Chat models behind a server that speaks OpenAI's protocol: vLLM, ``transformers serve``, llama.cpp, or a
# vendor.

#: The server where neither the name nor ``$OPENAI_BASE_URL`` says another.
VENDOR = "https://api.openai.com/v1"


URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"


_OPTIONS = ("prompt", "temperature", "seed", "limit")


#: What looks like a server behind an ``@``, and is not a URL: another protocol, a port, a path that ends in a version.
_PLACE = re.compile(r"@(\w+://.*|[^@]*:\d+(/.*)?|[^@]*/v\d+/?)$")


_PORTS = {"http": 80, "https": 443}


_LIMITS = ("max_tokens", "max_completion_tokens", "none")


@dataclass(frozen=True)
class ServerModel(RemoteModel):
    """``openai:MODEL``, ``openai:MODEL@URL``, with options behind a question mark.

    MODEL is what the server calls it. URL is the base of its addresses (``http://localhost:8000/v1``);
    ``$OPENAI_BASE_URL`` where the name has none, else OpenAI's own. The key in ``$OPENAI_API_KEY`` is sent to that
    server alone. That of another, named by URL, is in a variable called after it (`key_variable`), so that a run file
    from elsewhere cannot call a key to where it does not belong.
    Keys go over https alone, but for this machine itself.

    Options: *prompt* (a name of ``prompts.yaml`` or a YAML file), *temperature* (0) and *seed* (0), ``none`` for a
    server that will not have them, *limit* (the field that carries the most new tokens: ``max_tokens``,
    ``max_completion_tokens`` or ``none``), and those of `Pacing`.

    >>> model = ServerModel.parsed("openai:qwen3:8b@http://localhost:11434/v1?temperature=none&concurrency=2")
    >>> model.model, model.url, model.temperature, model.pacing.concurrency
    ('qwen3:8b', 'http://localhost:11434/v1', None, 2)
    """

    model: str
    named_url: str | None
    prompt: str
    temperature: float | None
    seed: int | None
    limit: str

    prefix: ClassVar[str] = "openai:"

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `ModelError` for a name without a model, a URL that is none, and an unknown option."""
        rest, options = split_options(name)
        model, url = _split_url(rest.removeprefix(cls.prefix))
        if not model:
            raise ModelError(f"model '{name}': write {cls.prefix}MODEL, where MODEL is what the server calls it")
        if url is None and _PLACE.search(model):
            place = model.rpartition("@")[2]
            raise ModelError(f"model '{name}': '{place}' is no base URL, such as http://localhost:8000/v1")
        limit = options.pop("limit", _LIMITS[0])
        if limit not in _LIMITS:
            raise ModelError(f"model '{name}': limit: '{limit}' given, one of {', '.join(_LIMITS)} expected")
        found = cls(
            name=name,
            pacing=take_pacing(name, options),
            model=model,
            named_url=None if url is None else _checked_url(url, f"model '{cls.prefix}{model}@…'"),
            prompt=options.pop("prompt", "translate"),
            temperature=_optional(name, "temperature", options, float, 0.0),
            seed=_optional(name, "seed", options, int, 0),
            limit=limit,
        )
        check_options(name, options, _OPTIONS)
        return found

    @property
    def url(self) -> str:
        """The base of the server's addresses. Raises `ModelError` where ``$OPENAI_BASE_URL`` is no URL."""
        return self.named_url or server_url()

    @property
    def label(self) -> str:
        """The model's own name, with what was changed of how it is asked."""
        changed = [self.prompt.rpartition("/")[2].removesuffix(".yaml")] if self.prompt != "translate" else []
        changed += [f"t={self.temperature:g}"] if self.temperature else []
        changed += [f"seed {self.seed}"] if self.seed else []
        return self.model.rpartition("/")[2] + (f" ({', '.join(changed)})" if changed else "")

    @property
    def key_variable(self) -> str:
        """The environment variable that holds the key for this server.

        >>> ServerModel.parsed("openai:mistral-small@https://api.mistral.ai/v1").key_variable
        'NBKIT_KEY_API_MISTRAL_AI'
        """
        if _server(self.url) == _server(server_url()):
            return KEY_VARIABLE
        return key_variable(self.url)

    @property
    def key(self) -> str | None:
        """The key for this server, None where there is none to send.

        Raises `ModelError` for one that would go over a network unencrypted.
        """
        key = os.environ.get(self.key_variable) or None
        if key is not None and urlsplit(self.url).scheme != "https" and not is_this_machine(self.url):
            raise ModelError(
                f"model '{self.name}': the key in {self.key_variable} would go to {self.url} unencrypted: write "
                "https://, reach the server by a tunnel (http://localhost:…), or unset the key where it wants none"
            )
        return key

    def loaded_prompt(self) -> Prompt:
        """Its prompt. Raises as `load_prompt` does."""
        return load_prompt(self.prompt)

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        return self.loaded_prompt().labels_for(src, tgt)

    def identity(self) -> dict[str, Any]:
        """Model, host, digest of the prompt and what is sent of sampling; a server does not tell its weights."""
        return {
            "backend": "openai",
            "model": self.model,
            "server": _host(self.url),
            "prompt": self.loaded_prompt().digest,
            "temperature": self.temperature,
            "seed": self.seed,
        }

    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        if self.limit == "none":
            return {"max_new_tokens": None}
        return {"max_new_tokens": decoding.identity()["max_new_tokens"]}

    def problem(self, src: str, tgt: str) -> str | None:
        try:
            url, key = self.url, self.key
            self.loaded_prompt()
        except NbkitError as error:
            return str(error)
        if key is not None or _host(url) != _host(VENDOR):
            return None  # servers of one's own mostly want no key; one that does says so when it is asked
        return (
            f"model '{self.name}': {self.key_variable} is not set, and {url} asks for a key; "
            f"for another server set {URL_VARIABLE} (http://localhost:8000/v1) or write openai:MODEL@URL"
        )

    def translator(self) -> RemoteTranslator:
        from nbkit.models.services.clients import ServerTranslator

        return ServerTranslator(self)


def _split_url(rest: str) -> tuple[str, str | None]:
    """Model and URL of what stands behind the prefix; a model's own name may hold slashes, colons and an ``@``."""
    for scheme in ("@http://", "@https://"):
        model, at, url = rest.rpartition(scheme)
        if at:
            return model, f"{scheme[1:]}{url}"
    return rest, None


def server_url() -> str:
    """The server of names without a URL. Raises `ModelError` where ``$OPENAI_BASE_URL`` is no URL."""
    return _checked_url(os.environ.get(URL_VARIABLE) or VENDOR, f"the environment variable {URL_VARIABLE}")


def _checked_url(url: str, place: str) -> str:
    """*url* without its last slash; `ModelError`, without showing what may be a password, where it is not one."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ModelError(f"{place}: no base URL, such as http://localhost:8000/v1: {error}") from None
    if "@" in parts.netloc:
        raise ModelError(f"{place}: a URL holds no user and password; put a key into {KEY_VARIABLE}")
    if "@" in parts.path:
        raise ModelError(f"{place}: no @ stands in a base URL; what runs a server's model is not said here")
    if not _is_port(parts):
        raise ModelError(f"{place}: a port is a number from 1 to 65535, such as in http://localhost:8000/v1")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        shown = url.partition("?")[0]
        raise ModelError(f"{place}: '{shown}' is no base URL, such as http://localhost:8000/v1")
    return url.rstrip("/")


def _is_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _server(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: what a key belongs to."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def key_variable(url: str) -> str:
    """The environment variable that holds the key for the server of *url*; no two servers have the same.

    A dot between letters or digits is an underscore, any other character two and its code; behind the host stand scheme
    and port where they are not those of ``https://HOST``.

    >>> [key_variable(f"https://{host}/v1") for host in ("api.mistral.ai", "api-mistral.ai", "api_mistral.ai")]
    ['NBKIT_KEY_API_MISTRAL_AI', 'NBKIT_KEY_API__2DMISTRAL_AI', 'NBKIT_KEY_API__5FMISTRAL_AI']
    >>> key_variable("http://localhost:8000/v1"), key_variable("https://localhost:8000/v1")
    ('NBKIT_KEY_LOCALHOST__HTTP_8000', 'NBKIT_KEY_LOCALHOST__HTTPS_8000')
    """
    scheme, host, port = _server(url)
    # An underscore is always followed by a letter or digit, or is one of two with a code or a scheme behind them.
    written = re.sub(r"(?<=[a-z0-9])\.(?=[a-z0-9])", "_", re.sub(r"[^a-z0-9.]", _escaped, host))
    place = "" if (scheme, port) == ("https", 443) else f"__{scheme}_{port}"
    return f"NBKIT_KEY_{written.replace('.', '__2e')}{place}".upper()


def _escaped(character: re.Match[str]) -> str:
    return "".join(f"__{byte:02x}" for byte in character[0].encode())


def is_this_machine(url: str) -> bool:
    """Whether the server of *url* is reached without a network.

    >>> [is_this_machine(f"http://{host}/v1") for host in ("localhost:8000", "127.0.0.1", "[::1]", "localhost.me")]
    [True, True, True, False]
    """
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _host(url: str) -> str:
    """Host and port, which tell servers apart."""
    return urlsplit(url).netloc.lower()


def _optional(name: str, option: str, options: dict[str, str], kind: type, default: Any) -> Any:
    value = options.pop(option, None)
    if value is None:
        return default
    return None if value == "none" else read_number(name, option, value, kind)
