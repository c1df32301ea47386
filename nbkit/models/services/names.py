"""Names of models behind a service, and the settings that they share.

Chat models behind a server with OpenAI's protocol (vLLM, ``transformers serve``, llama.cpp, or a vendor) are prompted
(``prompts.yaml``, or a custom file).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from pkgutil import resolve_name
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, urlsplit

from nbkit.errors import DataError, ModelError, UnknownNameError, as_problem, closest
from nbkit.languages import language_name
from nbkit.models.model import Decoding
from nbkit.yaml_text import load

if TYPE_CHECKING:
    from nbkit.models.services.asking import RemoteTranslator

#: What stands in place of a target language if labels are asked for, in names of files and addresses of the store.
LABEL_FILE = "labels"
#: No option of a name is larger; a seed has 32 bits.
_MOST = 2**32


#: The fewest requests a minute that are not none, and the longest wait in seconds: a week.
SLOWEST, LONGEST = 1e-3, 604_800.0


@dataclass(frozen=True)
class Pacing:
    """Rate and retry settings of a service; none of them changes an answer.

    concurrency: concurrent requests. rate: maximum number of requests per minute, 0: unlimited.
    timeout: maximum duration in seconds, from the request to the last byte of the answer.
    attempts: maximum number of attempts per text. backoff: seconds before the second attempt, doubled for each further
    one, up to a minute, with jitter; a waiting time given by the server takes precedence.
    """

    concurrency: int = 8
    rate: float = 0.0
    timeout: float = 120.0
    attempts: int = 6
    backoff: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("concurrency", 1), ("attempts", 1), ("rate", 0.0), ("backoff", 0.0)):
            if not getattr(self, name) >= least:
                raise ModelError(f"{name}: at least {least:g} expected, {getattr(self, name):g} given")
        if not self.timeout > 0:
            raise ModelError(f"timeout: more than 0 seconds expected, {self.timeout:g} given")
        if 0 < self.rate < SLOWEST:
            raise ModelError(f"rate: 0 (unlimited) or at least {SLOWEST:g} a minute expected, {self.rate:g} given")
        for name in ("timeout", "backoff"):  # the system's clock cannot wait for what is much longer
            if not getattr(self, name) <= LONGEST:
                raise ModelError(f"{name}: at most {LONGEST:g} seconds expected, {getattr(self, name):g} given")


@dataclass(frozen=True)
class RemoteModel(ABC):
    """A model behind a service, by its full name; a subclass defines the service and its requests."""

    name: str
    pacing: Pacing

    #: The prefix of such a name, and the class that sends requests, imported with the first one.
    prefix: ClassVar[str]
    client: ClassVar[str]
    #: Whether answers are stored; not where they are read from files.
    stored: ClassVar[bool] = True
    #: Whether an answer is the translation, of which nothing is taken off.
    plain: ClassVar[bool] = False
    #: Whether each attempt is a request to somebody else's machine, of which a card sends so many at most.
    requested: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def parsed(cls, name: str) -> Self:
        """Parse a name. Raises `ModelError` for an invalid one."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Its name in figures."""

    @property
    def shard(self) -> int:
        """Answers that are asked for before any is waited for to the end: few, as each of them costs."""
        return 64

    def for_pair(self, src: str, tgt: str) -> Self:
        """The model with the languages filled in where its name has places for them."""
        return self

    def as_classifier(self) -> Self:
        """The model as it is asked for labels."""
        return self

    @property
    def is_fixed(self) -> bool:
        """Whether it answers certain texts alone."""
        return False

    @property
    def folder(self) -> Path | None:
        """Where it reads translations that exist already."""
        return None

    @property
    def shown(self) -> str | None:
        """The program that it starts, as one would type it."""
        return None

    def files(self, src: str, tgt: str) -> list[tuple[Path, Path]]:
        """The pairs of files with sources and translations that it reads."""
        return []

    def missing(self, texts: Sequence[str], src: str, tgt: str) -> list[str]:
        """Those of *texts* that it has no translation of, if it reads translations that exist already."""
        return []

    def lacking(self, texts: Sequence[str], src: str, tgt: str, wanted: int, partly: bool = False) -> ModelError:
        """The error that says that it has no translation of *texts*, of so many *wanted* ones."""
        raise NotImplementedError

    def waiting(self, run: str, src: str, tgt: str) -> list[str]:
        """What somebody has to do about texts that were written for *run*."""
        return []

    def asked(self, premise: str, hypothesis: str) -> str:
        """A pair as the one text that it is asked about, as a classifier."""
        return f"{premise} ||| {hypothesis}"

    def remark(self, src: str, tgt: str) -> str | None:
        """What a page says of it for the pair, beside its name and costs."""
        return None

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Its part of a store key: everything that changes an answer, and nothing else."""

    @abstractmethod
    def problem(self, src: str, tgt: str) -> str | None:
        """What prevents its use for the pair; None if nothing does. Sends no request."""

    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        """The decoding settings that it accepts, for the store key: beam search cannot be requested."""
        return {}

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        """Labels that may precede its answers (`nbkit.models.services.asking.one_line`)."""
        return ()

    def translator(self) -> RemoteTranslator:
        """A translator that sends requests to it. Raises `MissingExtraError` if a package is missing."""
        return resolve_name(self.client)(self)


def read_options(
    name: str, own: Mapping[str, type], defaults: Mapping[str, float] = MappingProxyType({})
) -> tuple[str, dict[str, Any], Pacing]:
    """Split a name into the part before its question mark, its model options, and its pacing.

    own: the model options and their types; a number may be ``none``. defaults: of the pacing. Raises `ModelError` for
    an unknown option and for an invalid value.

    >>> read_options("openai:gpt-4o-mini?prompt=plain&concurrency=16", {"prompt": str})[:2]
    ('openai:gpt-4o-mini', {'prompt': 'plain'})
    """
    rest, mark, query = name.partition("?")
    try:
        given = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True, strict_parsing=True)) if mark else {}
    except ValueError:
        raise ModelError(f"model '{name}': write options as ?option=value&option=value") from None
    kinds = {**own, **{each.name: type(each.default) for each in fields(Pacing)}}
    if unknown := [option for option in given if option not in kinds]:
        guess = closest(unknown[0], kinds)
        hint = f"; did you mean '{guess}'?" if guess else "."
        raise ModelError(f"model '{name}': unknown option '{unknown[0]}'{hint} There are: {', '.join(kinds)}")
    values: dict[str, Any] = {}
    for option, value in given.items():
        is_none = option in own and kinds[option] is not str and value == "none"
        values[option] = None if is_none else _read_value(name, option, value, kinds[option])
    try:
        pacing = Pacing(**{**defaults, **{option: value for option, value in values.items() if option not in own}})
    except ModelError as error:
        raise ModelError(f"model '{name}': {error}") from None
    return rest, {option: value for option, value in values.items() if option in own}, pacing


def _read_value(name: str, option: str, value: str, kind: type) -> Any:
    if kind is str:
        return value
    try:
        number = kind(value)
        if abs(number) <= _MOST:  # false of nan, too
            return number
        raise ModelError(f"model '{name}': {option}: a number of at most {_MOST:,} expected, {value} given")
    except ValueError:
        noun = "a whole number" if kind is int else "a number"
        raise ModelError(f"model '{name}': {option}: {noun} expected, {value!r} given") from None


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    """*text* on one line, without *secrets* in any of the forms in which servers and libraries repeat them.

    These are the secret itself and its encodings in URLs, JSON, hexadecimal digits and Base64, there also as part of a
    longer string (``Basic …``, ``Bearer …``).

    >>> without_secrets("no key 'sk-1234' or c2stMTIzNA==", ["sk-1234", None])
    "no key '…' or …"
    """
    line = " ".join(text.split())
    for secret in filter(None, secrets):
        for form in sorted({secret, *_quoted(secret)}, key=len, reverse=True):
            line = re.sub(re.escape(form), "…", line, flags=re.IGNORECASE)
        for form in _coded(secret):  # with everything encoded together with it
            line = re.sub(rf"[\w+/-]*{re.escape(form)}[\w+/=-]*", "…", line)
    return line


def _quoted(secret: str) -> Iterator[str]:
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1])
    yield secret.encode("utf-8", "surrogateescape").hex()


def _coded(secret: str) -> Iterator[str]:
    """The secret in Base64: the characters that encode only its bits, whatever precedes or follows it."""
    data = secret.encode("utf-8", "surrogateescape")
    for before in range(3 if len(data) > 3 else 0):  # preceding bytes shift the bits
        coded = base64.b64encode(bytes(before) + data).decode()
        own = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield from (own, own.translate(str.maketrans("+/", "-_")))


# ----------------------------------------------------------------------------
# Prompts of chat models.

_FILE = Path(__file__).with_name("prompts.yaml")
_ROLES = ("system", "user", "assistant")
_FIELDS = ("text", "source", "target", "src", "tgt")


@dataclass(frozen=True)
class Prompt:
    """Chat messages with placeholders for a text and its languages, as (role, content).

    labels: labels that may precede an answer (`nbkit.models.services.asking.one_line`).
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
        raise DataError(f"the prompt cannot be read: {error}", path) from None
    _, values = load(text, path, "the prompt cannot be read")
    if not isinstance(values, dict):
        raise DataError(f"a mapping with 'messages' expected, {type(values).__name__} found", path)
    return values


def _checked(values: Mapping[str, Any], path: Path) -> Prompt:
    if not isinstance(values.get("messages"), list) or not values["messages"]:
        raise DataError("'messages' must be a list of roles with their content (user: Translate {text})", path)
    strange = sorted(set(values) - {"messages", "labels"})
    if strange:
        raise DataError(f"unknown field '{strange[0]}'; a prompt has the fields messages and labels", path)
    messages = tuple(_message(message, path) for message in values["messages"])
    labels = tuple(map(str, values.get("labels") or ()))
    texts: Sequence[str] = (*(content for _, content in messages), *labels)
    used = {field for text in texts for field in _fields(text, path)}
    if used - set(_FIELDS):
        known = ", ".join(f"{{{field}}}" for field in _FIELDS)
        raise DataError(f"unknown placeholder {{{min(used - set(_FIELDS))}}}; there are: {known}", path)
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


# ----------------------------------------------------------------------------
# Chat models behind a server.

#: The default server, unless the name or ``$OPENAI_BASE_URL`` gives another.
VENDOR = "https://api.openai.com/v1"
URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
#: A server after ``@`` that is not a base URL: another protocol, a port, a path that ends in a version.
_PLACE = re.compile(r"@(\w+://.*|[^@]*:\d+(/.*)?|[^@]*/v\d+/?)$")
_PORTS = {"http": 80, "https": 443}
_LIMITS = ("max_tokens", "max_completion_tokens", "none")


@dataclass(frozen=True)
class ServerModel(RemoteModel):
    """``openai:MODEL``, ``openai:MODEL@URL``, with options after a question mark.

    MODEL is the server's name for the model. URL is the base URL (``http://localhost:8000/v1``); without it
    ``$OPENAI_BASE_URL``, or else OpenAI's. The key in ``$OPENAI_API_KEY`` is sent only to that server. The key for a
    server named by URL is in a variable named after the server (`key_variable`), so that a run file from elsewhere
    cannot direct a key to another server.
    Keys are sent over https only, except to this machine.

    Options: *prompt* (a name of ``prompts.yaml`` or a YAML file), *temperature* (0) and *seed* (0), ``none`` for a
    server that rejects them, *limit* (the field for the maximum number of new tokens: ``max_tokens``,
    ``max_completion_tokens`` or ``none``), and those of `Pacing`.

    >>> model = ServerModel.parsed("openai:qwen3:8b@http://localhost:11434/v1?temperature=none&concurrency=2")
    >>> model.model, model.url, model.temperature, model.pacing.concurrency
    ('qwen3:8b', 'http://localhost:11434/v1', None, 2)
    """

    model: str
    named_url: str | None
    prompt: str = "translate"
    temperature: float | None = 0.0
    seed: int | None = 0
    limit: str = _LIMITS[0]

    prefix: ClassVar[str] = "openai:"
    client: ClassVar[str] = "nbkit.models.services.clients:ServerTranslator"

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `ModelError` for a name without a model, a URL that is none, and an unknown option."""
        rest, options, pacing = read_options(name, {"prompt": str, "temperature": float, "seed": int, "limit": str})
        rest = rest.removeprefix(cls.prefix)
        # A model's own name may hold slashes, colons and an @.
        found = re.fullmatch(r"(.*)@(https?://.*)", rest, re.DOTALL)
        model, url = found.groups() if found else (rest, None)
        if not model:
            raise ModelError(f"model '{name}': write {cls.prefix}MODEL, where MODEL is the server's name for the model")
        if url is None and _PLACE.search(model):
            place = model.rpartition("@")[2]
            raise ModelError(f"model '{name}': '{place}' is not a base URL; write one such as http://localhost:8000/v1")
        limit = options.get("limit", _LIMITS[0])
        if limit not in _LIMITS:
            raise ModelError(f"model '{name}': limit: one of {', '.join(_LIMITS)} expected, '{limit}' given")
        named_url = None if url is None else _checked_url(url, f"model '{cls.prefix}{model}@…'")
        return cls(name, pacing, model, named_url, **options)

    @property
    def url(self) -> str:
        """The server's base URL. Raises `ModelError` if ``$OPENAI_BASE_URL`` is not a URL."""
        return self.named_url or server_url()

    @property
    def label(self) -> str:
        """The model's name, with the options that differ from the defaults."""
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
        """The key for this server, None if there is none to send.

        Raises `ModelError` for a key that would be sent over a network unencrypted.
        """
        key = os.environ.get(self.key_variable) or None
        if key is not None and urlsplit(self.url).scheme != "https" and not is_this_machine(self.url):
            raise ModelError(
                f"model '{self.name}': the key in {self.key_variable} would be sent to {self.url} unencrypted: write "
                "https://, use a tunnel (http://localhost:…), or unset the key if the server needs none"
            )
        return key

    def as_classifier(self) -> Self:
        return self if "prompt=" in self.name else replace(self, prompt="classify")

    def asked(self, premise: str, hypothesis: str) -> str:
        return f"Premise: {premise} Hypothesis: {hypothesis}"

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        return load_prompt(self.prompt).labels_for(src, tgt)

    def identity(self) -> dict[str, Any]:
        """Model, host, digest of the prompt and sampling settings; a server does not report its weights."""
        return {
            "backend": "openai",
            "model": self.model,
            "server": _host(self.url),
            "prompt": load_prompt(self.prompt).digest,
            "temperature": self.temperature,
            "seed": self.seed,
        }

    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        if self.limit == "none":
            return {"max_new_tokens": None}
        return {"max_new_tokens": decoding.identity()["max_new_tokens"]}

    @as_problem
    def problem(self, src: str, tgt: str) -> str | None:
        url, key = self.url, self.key
        load_prompt(self.prompt)
        if key is not None or _host(url) != _host(VENDOR):
            return None  # most private servers need no key; one that does rejects the request
        return (
            f"model '{self.name}': {self.key_variable} is not set, and {url} requires a key; "
            f"for another server set {URL_VARIABLE} (http://localhost:8000/v1) or write openai:MODEL@URL"
        )


def server_url() -> str:
    """The server of names without a URL. Raises `ModelError` if ``$OPENAI_BASE_URL`` is not a URL."""
    return _checked_url(os.environ.get(URL_VARIABLE) or VENDOR, f"the environment variable {URL_VARIABLE}")


def _checked_url(url: str, place: str) -> str:
    """*url* without its last slash. Raises `ModelError`, which shows no possible password, for an invalid one."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ModelError(f"{place}: not a base URL: {error}; write one such as http://localhost:8000/v1") from None
    if "@" in parts.netloc:
        raise ModelError(f"{place}: a URL must not contain user and password; put a key into {KEY_VARIABLE}")
    if "@" in parts.path:
        raise ModelError(f"{place}: a base URL must not contain @; a server's model takes no backend suffix")
    if not _is_port(parts):
        raise ModelError(f"{place}: the port must be a number from 1 to 65535, as in http://localhost:8000/v1")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        shown = url.partition("?")[0]
        raise ModelError(f"{place}: '{shown}' is not a base URL; write one such as http://localhost:8000/v1")
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
    """The environment variable that holds the key for the server of *url*; no two servers share one.

    A dot between letters or digits becomes an underscore, any other character two underscores and its code; scheme and
    port follow the host unless they are those of ``https://HOST``.

    >>> [key_variable(f"https://{host}/v1") for host in ("api.mistral.ai", "api-mistral.ai", "api_mistral.ai")]
    ['NBKIT_KEY_API_MISTRAL_AI', 'NBKIT_KEY_API__2DMISTRAL_AI', 'NBKIT_KEY_API__5FMISTRAL_AI']
    >>> key_variable("http://localhost:8000/v1"), key_variable("https://localhost:8000/v1")
    ('NBKIT_KEY_LOCALHOST__HTTP_8000', 'NBKIT_KEY_LOCALHOST__HTTPS_8000')
    """
    scheme, host, port = _server(url)
    # An underscore always precedes a letter or digit, or is one of two that precede a code or a scheme.
    written = re.sub(r"(?<=[a-z0-9])\.(?=[a-z0-9])", "_", re.sub(r"[^a-z0-9.]", _escaped, host))
    place = "" if (scheme, port) == ("https", 443) else f"__{scheme}_{port}"
    return f"NBKIT_KEY_{written.replace('.', '__2e')}{place}".upper()


def _escaped(character: re.Match[str]) -> str:
    return "".join(f"__{byte:02x}" for byte in character[0].encode())


def is_this_machine(url: str) -> bool:
    """Whether the server of *url* is reachable without a network.

    >>> [is_this_machine(f"http://{host}/v1") for host in ("localhost:8000", "127.0.0.1", "[::1]", "localhost.me")]
    [True, True, True, False]
    """
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _host(url: str) -> str:
    """Host and port, which distinguish servers."""
    return urlsplit(url).netloc.lower()


# ----------------------------------------------------------------------------
# All of them.

#: What a name begins with, and the class of the models it stands for.
KINDS: Mapping[str, str] = {
    ServerModel.prefix: "nbkit.models.services.names:ServerModel",
    "command:": "nbkit.models.services.commands:CommandModel",
    "outputs:": "nbkit.models.services.outputs:OutputsModel",
}


def is_remote(name: str) -> bool:
    """Whether a name refers to a model behind a service.

    >>> is_remote("openai:gpt-4o-mini"), is_remote("opus-mt")
    (True, False)
    """
    return name.startswith(tuple(KINDS))


def parse_remote(name: str) -> RemoteModel:
    """The model behind a service that a name means. Raises `ModelError` and `UnknownNameError` for one that is none."""
    kind: type[RemoteModel] = resolve_name(next(kind for prefix, kind in KINDS.items() if name.startswith(prefix)))
    return kind.parsed(name)


def offered() -> list[tuple[str, str, str]]:
    """Name, address and summary of the available services, for lists; MODEL stands for a server's models."""
    server = f"{ServerModel.prefix}MODEL"
    return [
        (server, server_url(), "a chat model behind a server with OpenAI's protocol, also openai:MODEL@URL"),
        (
            "command:PROGRAM",
            "programs here",
            "a program that reads lines and writes lines, started with --allow-commands",
        ),
        (
            "outputs:FILE",
            "files here",
            "translations that exist already, line by line; also outputs:FOLDER (nbkit sources)",
        ),
    ]
