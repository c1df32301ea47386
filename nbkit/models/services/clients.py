"""A single request to a service, and the interpretation of its answer."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

import nbkit
from nbkit.errors import ModelError
from nbkit.models.model import Decoding
from nbkit.models.services.asking import Answer, RemoteTranslator, TransientError
from nbkit.models.services.names import ServerModel, is_this_machine, load_prompt, without_secrets

# ----------------------------------------------------------------------------
# A request to a server with OpenAI's chat protocol.

#: Maximum size of an answer in bytes; a translation of a sentence is never larger.
_MOST_BYTES = 4 * 2**20
#: Temporary errors besides server errors (5xx): time-out, conflict, "too early", too many requests.
_PASSING = frozenset({408, 409, 425, 429})
#: Codes of a 429 for which waiting does not help.
_FINAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


class ServerTranslator(RemoteTranslator):
    """A chat model that translates one text per request."""

    model: ServerModel

    def __init__(self, model: ServerModel):
        super().__init__(model)
        self.prompt = load_prompt(model.prompt)
        pacing = model.pacing
        self._client = httpx.Client(
            headers={"User-Agent": f"nbkit/{nbkit.__version__}", "Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(pacing.timeout, connect=min(10.0, pacing.timeout)),
            limits=httpx.Limits(max_connections=pacing.concurrency),
            trust_env=not is_this_machine(model.url),  # no proxy for a server on this machine
        )
        self._url = f"{model.url}/chat/completions"

    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """One request. Raises what `RemoteTranslator.ask` documents."""
        deadline = time.monotonic() + self.model.pacing.timeout
        payload = self._payload(text, src, tgt, decoding)
        try:
            with self._client.stream("POST", self._url, json=payload, headers=self._authorization()) as response:
                body = self._read(response, deadline)
        except httpx.TimeoutException:
            raise TransientError(self._late()) from None
        except httpx.RequestError as error:
            raise TransientError(f"{self._url}: {type(error).__name__}: {self._shown(str(error))}") from None
        if response.status_code != 200:
            raise self._error(response, body)
        if response.headers.get("x-ratelimit-remaining-requests") == "0":
            self.hold(seconds(response.headers.get("x-ratelimit-reset-requests", "")) or 0.0)
        return self._parsed(body)

    def _authorization(self) -> dict[str, str]:
        """The current key: a wrong one may have been corrected meanwhile."""
        key = self.model.key
        if key is None:
            return {}
        if not (key.isascii() and key.isprintable()):  # httpx's message would show it
            raise ModelError(
                f"model '{self.name}': the key in {self.model.key_variable} contains an invalid character; "
                "set it to printable ASCII"
            )
        return {"Authorization": f"Bearer {key}"}

    def _payload(self, text: str, src: str, tgt: str, decoding: Decoding) -> dict[str, Any]:
        model = self.model
        payload: dict[str, Any] = {
            "model": model.model, "messages": self.prompt.filled(text, src, tgt), "stream": False,
            "temperature": model.temperature, "seed": model.seed,
        }  # fmt: skip
        if model.limit != "none":
            # The server's tokenizer is unknown here; none makes more tokens than there are bytes.
            payload[model.limit] = decoding.limit(len(text.encode()))
        return {name: value for name, value in payload.items() if value is not None}

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """The whole body; the deadline also holds for a server that sends it slowly."""
        body = b""
        try:
            # Not httpx's decoded parts: 64 KB can unpack to 64 MB of zeros.
            for part in _unpacked(response):
                body += part
                if time.monotonic() > deadline:
                    raise TransientError(self._late())
                if len(body) > _MOST_BYTES:
                    raise ModelError(f"model '{self.name}': {self._url} answered with more than {_MOST_BYTES} bytes")
        except (zlib.error, httpx.DecodingError) as error:
            raise TransientError(f"{self._url}: the answer cannot be unpacked: {error}") from None
        return body

    def _late(self) -> str:
        return f"{self._url}: no answer within {self.model.pacing.timeout:g} s"

    def _error(self, response: httpx.Response, body: bytes) -> ModelError:
        """The error for a status other than 200."""
        status, (message, code) = response.status_code, _message(body)
        answer = f"{self._url} answered {status}" + (f": {self._shown(message)}" if message else "")
        if (status in _PASSING or status >= 500) and code not in _FINAL_CODES:
            return TransientError(answer, _wait(response.headers))
        variable = self.model.key_variable
        sent = f"the key in {variable} was rejected" if self.model.key else f"no key was sent: {variable} is not set"
        unknown = f"is '{self.model.model}' the server's name for the model?"
        hint = {401: f" ({sent})", 403: f" ({sent})", 404: f" ({unknown})"}.get(status, _remedy(message))
        return ModelError(f"model '{self.name}': {answer}{hint}")

    def _parsed(self, body: bytes) -> Answer:
        try:
            completion = json.loads(body)
            choice = completion["choices"][0]
            content = choice["message"].get("content") or ""
            if not isinstance(content, str):  # some servers answer in parts
                content = "".join(part.get("text") or "" for part in content)
            content.encode()  # an unpaired surrogate is not valid text and could not be stored
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            start = self._shown(body.decode("utf-8", "replace"))[:80]
            raise TransientError(f"{self._url}: no chat completion in the answer {start!r}") from None
        usage = completion.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return Answer(
            content,
            str(choice.get("finish_reason") or ""),
            _count(counts.get("prompt_tokens")),
            _count(counts.get("completion_tokens")),
        )

    def _shown(self, message: str) -> str:
        """A server's message as one short line, without the key, which some servers repeat."""
        return without_secrets(message, [self.model.key])[:300]


def _unpacked(response: httpx.Response) -> Iterator[bytes]:
    """The unpacked body in parts, none much larger than `_MOST_BYTES`, whatever the compression ratio."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        yield from response.iter_raw()
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"'{encoding}', which was not asked for")
    stream = zlib.decompressobj(zlib.MAX_WBITS | 32)  # with the header of gzip or of zlib
    for packed in response.iter_raw():
        # Whatever exceeds this stays packed: the caller stops there.
        yield stream.decompress(packed, _MOST_BYTES + 1)
    yield stream.flush()


def seconds(text: str) -> float | None:
    """The seconds given in a header: a number, ``6m0s``, ``20ms``, or a date; None if it cannot be parsed.

    >>> seconds("3"), seconds("6m0s"), seconds("20ms"), seconds("1m30.5s"), seconds("soon")
    (3.0, 360.0, 0.02, 90.5, None)
    >>> seconds("Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    """
    text = text.strip()
    try:
        return max(0.0, float(text)) if text.lower() not in ("nan", "inf", "-inf", "infinity") else None
    except ValueError:
        pass
    found = _DURATION.fullmatch(text)
    if text and found:
        hours, minutes, whole, thousandths = (float(part or 0) for part in found.groups())
        return 3600 * hours + 60 * minutes + whole + thousandths / 1000
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (date - datetime.now(UTC)).total_seconds()) if date.tzinfo is not None else None


def _wait(headers: httpx.Headers) -> float | None:
    """The server's requested waiting time in seconds; None if not given."""
    thousandths = seconds(headers.get("retry-after-ms", ""))
    return seconds(headers.get("retry-after", "")) if thousandths is None else thousandths / 1000


def _message(body: bytes) -> tuple[str, str]:
    """Message and code in the body of an error, in the formats that servers use."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace"), ""
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return str(error), ""
    return str(error.get("message") or error.get("detail") or ""), str(error.get("code") or "")


def _remedy(message: str) -> str:
    """The remedy for a rejected request, if the server's message names an unsupported field.

    >>> _remedy("Unsupported value: 'temperature' does not support 0 with this model")
    '; omit or rename the field by options of the model name: ?temperature=none'
    >>> _remedy("context too long")
    ''
    """
    written = {"max_tokens": "limit=max_completion_tokens", "temperature": "temperature=none", "seed": "seed=none"}
    options = [option for field, option in written.items() if field in message]
    return f"; omit or rename the field by options of the model name: ?{'&'.join(options)}" if options else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
