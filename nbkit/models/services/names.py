"""Which names mean a model behind a service: what they say, and the settings that all of them share.

Chat models behind a server that speaks OpenAI's protocol (vLLM, ``transformers serve``, llama.cpp, or a vendor) are
asked by prompts (``prompts.yaml``, or a file of one's own), and translation services of the web (``web.yaml``) by way
of the package deep-translator.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from pkgutil import resolve_name
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import SplitResult, parse_qsl, quote, quote_plus, urlsplit

import yaml

from nbkit.errors import DataError, MissingExtraError, ModelError, UnknownNameError, as_problem, closest
from nbkit.languages import language_name
from nbkit.models.decoding import Decoding
from nbkit.yaml_text import load

if TYPE_CHECKING:
    from nbkit.models.services.asking import RemoteTranslator

#: What stands in place of a target language if labels are asked for, in names of files and addresses of the store.
LABEL_FILE = "labels"
#: No option of a name is larger; a seed has 32 bits.
_MOST = 2**32


@dataclass(frozen=True)
class Pacing:
    """How a service is asked; nothing of it changes an answer.

    concurrency: requests under way at a time. rate: most requests a minute, 0: as many as it takes.
    timeout: seconds that an answer may take, from the request to its last byte.
    attempts: how often a text is asked before it is given up. backoff: seconds before the second attempt, doubled with
    each further one, up to a minute, with jitter; what the server says of waiting comes first.
    """

    concurrency: int = 8
    rate: float = 0.0
    timeout: float = 120.0
    attempts: int = 6
    backoff: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("concurrency", 1), ("attempts", 1), ("rate", 0.0), ("backoff", 0.0)):
            if not getattr(self, name) >= least:
                raise ModelError(f"{name}: {getattr(self, name):g} given, at least {least:g} expected")
        if not self.timeout > 0:
            raise ModelError(f"timeout: {self.timeout:g} given, more than 0 seconds expected")


@dataclass(frozen=True)
class RemoteModel(ABC):
    """A model behind a service, by its full name; a subclass says which service and how it is asked."""

    name: str
    pacing: Pacing

    #: What such a name begins with, and what asks the service: a class that is imported with the first question.
    prefix: ClassVar[str]
    client: ClassVar[str]
    #: Whether answers are stored; not where they are read from files.
    stored: ClassVar[bool] = True
    #: Whether an answer is the translation, of which nothing is taken off.
    plain: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def parsed(cls, name: str) -> Self:
        """The model that a name means. Raises `ModelError` for one that cannot be read."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What figures call it."""

    def for_pair(self, src: str, tgt: str) -> Self:
        """The model with the languages filled in where its name has places for them."""
        return self

    def asked(self, premise: str, hypothesis: str) -> str:
        """A pair as the one text that it is asked about, as a classifier."""
        return f"{premise} ||| {hypothesis}"

    def remark(self) -> str | None:
        """What the footer of a page says of it beside its costs."""
        return None

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What stands for it in a cache key: all that changes an answer, and nothing else."""

    @abstractmethod
    def problem(self, src: str, tgt: str) -> str | None:
        """Why it cannot be used for the pair here; None where nothing stands against it. Asks nobody."""

    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        """What of these settings it can be told, for the cache key: a beam search cannot be asked for."""
        return {}

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        """What its answers may begin with that is no part of them (`nbkit.models.services.asking.one_line`)."""
        return ()

    def translator(self) -> RemoteTranslator:
        """A translator that asks it. Raises `MissingExtraError` where a package is missing."""
        return resolve_name(self.client)(self)


def read_options(
    name: str, own: Mapping[str, type], defaults: Mapping[str, float] = MappingProxyType({})
) -> tuple[str, dict[str, Any], Pacing]:
    """A name without the options behind its question mark, what is given of its *own* options, and its pacing.

    own: what type each has; a number may be ``none``. defaults: of the pacing. Raises `ModelError` for an option that
    there is not, and for a value that cannot be read.

    >>> read_options("openai:gpt-4o-mini?prompt=plain&concurrency=16", {"prompt": str})[:2]
    ('openai:gpt-4o-mini', {'prompt': 'plain'})
    """
    rest, mark, query = name.partition("?")
    try:
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=True)) if mark else {}
    except ValueError:
        raise ModelError(f"model '{name}': options are written ?option=value&option=value") from None
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
        raise ModelError(f"model '{name}': {option}: {value} given, a number of at most {_MOST:,} expected")
    except ValueError:
        noun = "a whole number" if kind is int else "a number"
        raise ModelError(f"model '{name}': {option}: {value!r} given, {noun} expected") from None


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    """*text* in one line, without *secrets* in any of the forms that servers and libraries repeat them in.

    These are the secret itself, and as it stands in addresses, in JSON, in hexadecimal digits and in Base64, there also
    as a part of something longer (``Basic …``, ``Bearer …``).

    >>> without_secrets("no key 'sk-1234' or c2stMTIzNA==", ["sk-1234", None])
    "no key '…' or …"
    """
    line = " ".join(text.split())
    for secret in filter(None, secrets):
        for form in sorted({secret, *_quoted(secret)}, key=len, reverse=True):
            line = re.sub(re.escape(form), "…", line, flags=re.IGNORECASE)
        for form in _coded(secret):  # with all that is coded together with it
            line = re.sub(rf"[\w+/-]*{re.escape(form)}[\w+/=-]*", "…", line)
    return line


def _quoted(secret: str) -> Iterator[str]:
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1])
    yield secret.encode("utf-8", "surrogateescape").hex()


def _coded(secret: str) -> Iterator[str]:
    """The secret in Base64: the characters that hold bits of it alone, whatever stands before and behind it."""
    data = secret.encode("utf-8", "surrogateescape")
    for before in range(3 if len(data) > 3 else 0):  # what stands before shifts the bits
        coded = base64.b64encode(bytes(before) + data).decode()
        own = coded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield from (own, own.translate(str.maketrans("+/", "-_")))


# ----------------------------------------------------------------------------
# What a chat model is asked.

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


def _checked(values: Mapping[str, Any], path: Path) -> Prompt:
    if not isinstance(values.get("messages"), list) or not values["messages"]:
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
# Chat models behind a server.

#: The server where neither the name nor ``$OPENAI_BASE_URL`` says another.
VENDOR = "https://api.openai.com/v1"
URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
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
            raise ModelError(f"model '{name}': write {cls.prefix}MODEL, where MODEL is what the server calls it")
        if url is None and _PLACE.search(model):
            place = model.rpartition("@")[2]
            raise ModelError(f"model '{name}': '{place}' is no base URL, such as http://localhost:8000/v1")
        limit = options.get("limit", _LIMITS[0])
        if limit not in _LIMITS:
            raise ModelError(f"model '{name}': limit: '{limit}' given, one of {', '.join(_LIMITS)} expected")
        named_url = None if url is None else _checked_url(url, f"model '{cls.prefix}{model}@…'")
        return cls(name, pacing, model, named_url, **options)

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

    def asked(self, premise: str, hypothesis: str) -> str:
        return f"Premise: {premise} Hypothesis: {hypothesis}"

    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        return load_prompt(self.prompt).labels_for(src, tgt)

    def identity(self) -> dict[str, Any]:
        """Model, host, digest of the prompt and what is sent of sampling; a server does not tell its weights."""
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
            return None  # servers of one's own mostly want no key; one that does says so when it is asked
        return (
            f"model '{self.name}': {self.key_variable} is not set, and {url} asks for a key; "
            f"for another server set {URL_VARIABLE} (http://localhost:8000/v1) or write openai:MODEL@URL"
        )


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


# ----------------------------------------------------------------------------
# Translation services of the web.

PACKAGE = "deep_translator"
#: The library's errors that say that a language is not spoken, and all that no second attempt helps against. All else
#: may pass: the library has many ways to say that a request failed, down to a bare Exception.
_LANGUAGE = ("LanguageNotSupportedException", "InvalidSourceOrTargetLanguage")
_FINAL = (*_LANGUAGE, "NotValidPayload", "NotValidLength", "ApiKeyException", "AuthorizationException")
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
    return MappingProxyType({name: Service(**each) for name, each in entries.items()})


@dataclass(frozen=True)
class WebModel(RemoteModel):
    """``deep-translator:SERVICE``, with the options of `Pacing` behind a question mark.

    >>> WebModel.parsed("deep-translator:deepl?rate=60").label
    'DeepL'
    """

    service: str

    prefix: ClassVar[str] = "deep-translator:"
    client: ClassVar[str] = "nbkit.models.services.clients:WebTranslator"

    @classmethod
    def parsed(cls, name: str) -> Self:
        """Raises `UnknownNameError` for a service that there is not, and `ModelError` for an unknown option."""
        rest, _, pacing = read_options(name, {}, _PACING)
        service = rest.removeprefix(cls.prefix)
        if service not in services():
            raise UnknownNameError("deep-translator service", service, services())
        return cls(name, pacing, service)

    @property
    def entry(self) -> Service:
        """What is known of its service."""
        return services()[self.service]

    @property
    def label(self) -> str:
        """The service's own name."""
        return self.entry.label

    def identity(self) -> dict[str, Any]:
        """The service, and where it is if that was said; what runs there, a service does not tell."""
        own = {} if "custom_url" not in self.entry.wishes else {"server": self.entry.environment().get("custom_url")}
        return {"backend": "deep-translator", "service": self.service, **own}

    def require(self) -> None:
        """Raises `MissingExtraError` where the package is not installed."""
        if find_spec(PACKAGE) is None:
            raise MissingExtraError(
                f"model '{self.name}' needs the package deep-translator: pip install \"nbkit[deep-translator]\""
            )

    @as_problem
    def problem(self, src: str, tgt: str) -> str | None:
        self.require()
        unset = [variable for variable in self.entry.keys.values() if not os.environ.get(variable)]
        if unset:
            verb = "is not set" if len(unset) == 1 else "are not set"
            return f"model '{self.name}': {' and '.join(unset)} {verb}, which {self.label} asks for"
        if self.entry.asks:
            return None
        from deep_translator.exceptions import BaseError

        try:
            self.made(src, tgt)
        except BaseError as error:
            return self.told(error)[0]
        return None

    def made(self, src: str, tgt: str) -> Any:
        """The library's object for the pair. Raises what the library raises for what the service does not translate."""
        import deep_translator

        entry = self.entry
        return getattr(deep_translator, entry.class_name)(
            source=entry.codes.get(src, src),
            target=entry.codes.get(tgt, tgt),
            **entry.arguments,
            **entry.environment(),
        )

    def told(self, error: BaseException) -> tuple[str, bool]:
        """What an error of the library says, in one short line without keys, and whether no second attempt helps.

        The library writes keys into addresses and messages.
        """
        keys = [value for name, value in self.entry.environment().items() if name in self.entry.keys]
        kind, shown = type(error).__name__, without_secrets(str(error), keys)[:200]
        if kind in _LANGUAGE:
            said = f"does not translate '{shown.partition(' -->')[0]}'"
            return f"model '{self.name}': {self.label} {said}", True
        said = f"{self.label}: {kind}: {shown}"
        return (f"model '{self.name}': {said}", True) if kind in _FINAL else (said, False)


# ----------------------------------------------------------------------------
# All of them.

#: What a name begins with, and the class of the models it stands for.
KINDS: Mapping[str, str] = {
    ServerModel.prefix: "nbkit.models.services.names:ServerModel",
    WebModel.prefix: "nbkit.models.services.names:WebModel",
    "command:": "nbkit.models.services.commands:CommandModel",
    "outputs:": "nbkit.models.services.outputs:OutputsModel",
}


def is_remote(name: str) -> bool:
    """Whether a name means a model behind a service.

    >>> is_remote("openai:gpt-4o-mini"), is_remote("deep-translator:google"), is_remote("opus-mt")
    (True, True, False)
    """
    return name.startswith(tuple(KINDS))


def parse_remote(name: str) -> RemoteModel:
    """The model behind a service that a name means. Raises `ModelError` and `UnknownNameError` for one that is none."""
    kind: type[RemoteModel] = resolve_name(next(kind for prefix, kind in KINDS.items() if name.startswith(prefix)))
    return kind.parsed(name)


def offered() -> list[tuple[str, str, str]]:
    """Name, place and summary of what can be asked for by name, for lists; MODEL stands for what a server has."""
    server = f"{ServerModel.prefix}MODEL"
    rows = [
        (server, server_url(), "a chat model behind a server that speaks OpenAI's protocol, also openai:MODEL@URL"),
        (
            "command:PROGRAM",
            "a program here",
            "a program that reads lines and writes lines; {src}, {tgt} are filled in",
        ),
        (
            "outputs:FILE",
            "files here",
            "translations that exist already, line by line; also outputs:FOLDER (nbkit sources)",
        ),
    ]
    return rows + [(f"{WebModel.prefix}{name}", each.label, each.summary) for name, each in services().items()]
