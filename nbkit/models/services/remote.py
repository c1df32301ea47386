"""Models that are asked over a network: what their names say, and the settings that all of them share."""

from __future__ import annotations

import base64
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import parse_qsl, quote, quote_plus

from nbkit.errors import ModelError, closest
from nbkit.models.decoding import Decoding

if TYPE_CHECKING:
    from nbkit.models.services.asking import RemoteTranslator


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

    #: What such a name begins with.
    prefix: ClassVar[str]

    @classmethod
    @abstractmethod
    def parsed(cls, name: str) -> Self:
        """The model that a name means. Raises `ModelError` for one that cannot be read."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What figures call it."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What stands for it in a cache key: all that changes an answer, and nothing else."""

    @abstractmethod
    def decoding(self, decoding: Decoding) -> dict[str, Any]:
        """What of these settings it can be told, for the cache key: a beam search cannot be asked for."""

    @abstractmethod
    def problem(self, src: str, tgt: str) -> str | None:
        """Why it cannot be used for the pair here; None where nothing stands against it. Asks nobody."""

    @abstractmethod
    def labels(self, src: str, tgt: str) -> tuple[str, ...]:
        """What its answers may begin with that is no part of them (`nbkit.models.services.asking.one_line`)."""

    @abstractmethod
    def translator(self) -> RemoteTranslator:
        """A translator that asks it. Raises `MissingExtraError` where a package is missing."""


def split_options(name: str) -> tuple[str, dict[str, str]]:
    """A name without the options behind its question mark, and these.

    >>> split_options("openai:gpt-4o-mini?prompt=plain&concurrency=16")
    ('openai:gpt-4o-mini', {'prompt': 'plain', 'concurrency': '16'})
    """
    rest, mark, query = name.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if mark else []
    except ValueError:
        raise ModelError(f"model '{name}': options are written ?option=value&option=value") from None
    return rest, dict(pairs)


def take_pacing(name: str, options: dict[str, str], defaults: Mapping[str, float] | None = None) -> Pacing:
    """The pacing that a name's options ask for; they are taken out of *options*."""
    values: dict[str, Any] = dict(defaults or {})
    for each in fields(Pacing):
        if each.name in options:
            values[each.name] = read_number(name, each.name, options.pop(each.name), type(each.default))
    try:
        return Pacing(**values)
    except ModelError as error:
        raise ModelError(f"model '{name}': {error}") from None


def check_options(name: str, left: Mapping[str, str], known: tuple[str, ...]) -> None:
    """Raises `ModelError` where an option is left that nobody knows."""
    if left:
        names = [*known, *(each.name for each in fields(Pacing) if each.default is not MISSING)]
        option = next(iter(left))
        guess = closest(option, names)
        hint = f"; did you mean '{guess}'?" if guess else "."
        raise ModelError(f"model '{name}': unknown option '{option}'{hint} There are: {', '.join(names)}")


#: No option of a server is larger; a seed has 32 bits.
MOST = 2**32


def read_number(name: str, option: str, value: str, kind: type) -> Any:
    """An option's value as an int or a float; `ModelError` where it is none."""
    try:
        number = kind(value)
        if abs(number) <= MOST:  # false of nan, too
            return number
        raise ModelError(f"model '{name}': {option}: {value} given, a number of at most {MOST:,} expected")
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
