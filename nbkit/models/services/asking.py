"""Requests to a service for many texts: concurrency and retries, the answers with their cost, and their one line."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nbkit.corpora.nli import LABELS
from nbkit.corpora.nli import catalogue as nli_catalogue
from nbkit.errors import ModelError
from nbkit.fingerprint import digest
from nbkit.models.answers import load
from nbkit.models.caps import take_request
from nbkit.models.model import Decoding, Input, Model, Record, keep
from nbkit.models.names import BY_RULE, filled
from nbkit.models.services.names import LABEL_FILE, RemoteModel, parse_remote
from nbkit.progress import progress_bar
from nbkit.store import Store

if TYPE_CHECKING:
    import tenacity

# ----------------------------------------------------------------------------
# A server's answer to a text, its cost, and the rule that reduces it to one line.

#: Outcome of an answer. as is: one line, unchanged. trimmed: a label, quotes, a fence or reasoning around the
#: translation was removed. cut: lines after it were dropped. truncated: the model reached its limit. empty: no text.
#: refused: the server's filter withheld it.
Outcome = Literal["as is", "trimmed", "cut", "truncated", "empty", "refused"]
_QUOTES = ('""', "''", "“”", "„“", "„”", "‘’", "‚‘", "«»", "»«", "‹›", "「」", "『』", "``")
_REASONING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """A server's answer to one text, stored unchanged: the rule of `one_line` can change without new requests.

    finish: why the model stopped, in the server's words (``stop``, ``length``, ``content_filter``), empty if not
    stated. prompt_tokens, completion_tokens: as counted by the server, None if not counted.
    """

    raw: str
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class Line:
    """A hypothesis, and how it was reduced to one line."""

    hypothesis: str
    outcome: Outcome


@dataclass
class Usage:
    """The total cost and the outcomes of answers.

    prompt_tokens, completion_tokens: as far as the server counts them. characters: of the source texts, the unit that
    translation services charge for.

    >>> usage = Usage()
    >>> usage.add("Tom sleeps.", Answer("Tom schläft.", "stop", 30, 5), Line("Tom schläft.", "as is"))
    >>> usage.facts()
    {'texts': 1, 'prompt_tokens': 30, 'completion_tokens': 5, 'characters': 11, 'as is': 1}
    """

    texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    characters: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, answer: Answer, line: Line) -> None:
        """Count one more answer."""
        tokens = answer.prompt_tokens or 0, answer.completion_tokens or 0
        self.update(Usage(1, *tokens, len(text), Counter([line.outcome])))

    def update(self, other: Usage) -> None:
        """Add the counts of *other*."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def facts(self) -> dict[str, int]:
        """The counts as a flat, JSON-serialisable mapping, for provenance."""
        counts = {name: value for name, value in asdict(self).items() if name != "outcomes"}
        return counts | dict(sorted(self.outcomes.items()))


def one_line(answer: Answer, text: str, labels: Iterable[str] = ()) -> Line:
    """The one line of an answer that counts as the translation of *text*.

    In this order: reasoning in tags (``<think>``) and code fences are dropped; the first non-blank line is taken, or
    the second if the first is a lead-in that ends in a colon and *text* does not; a label with its colon
    (``Translation:``) and quotation marks around the whole are removed, each only if *text* has none. The outcome is
    the most serious of these.

    labels: labels that may precede an answer.

    >>> one_line(Answer("Tom schläft."), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='as is')
    >>> one_line(Answer('Here you are:\\n\\n"Tom schläft."'), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='trimmed')
    >>> one_line(Answer("Tom schläft.\\nOder: Tom pennt."), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='cut')
    """
    thought = _REASONING.sub("", answer.raw)
    lines = [line.strip() for line in thought.splitlines()]
    kept = [line for line in lines if line and not line.startswith("```")]
    if len(kept) > 1 and kept[0].endswith((":", "：")) and not text.rstrip().endswith((":", "：")):
        del kept[0]
    first = kept[0] if kept else ""
    line = _unquoted(_unlabelled(first, text, labels), text)
    return Line(line, _outcome(answer, line, kept))


def line_of(model: RemoteModel, answer: Answer, text: str, src: str, tgt: str) -> Line:
    """The line of an answer that is taken as the translation: all of it from a program, by `one_line` from a server."""
    if model.plain:
        line = answer.raw.strip()
        return Line(line, "as is" if line else "empty")
    return one_line(answer, text, model.labels(src, tgt))


def _outcome(answer: Answer, line: str, kept: Sequence[str]) -> Outcome:
    if answer.finish == "content_filter":
        return "refused"
    if answer.finish == "length":
        return "truncated"  # also if nothing is left, because the model reasoned without end
    if not line:
        return "empty"
    if len(kept) > 1:
        return "cut"
    return "as is" if line == answer.raw.strip() else "trimmed"


def _unlabelled(line: str, text: str, labels: Iterable[str]) -> str:
    for label in labels:
        pattern = re.compile(rf"\s*[*_]*{re.escape(label)}[*_]*\s*[:：][*_]*\s*", re.IGNORECASE)
        found = pattern.match(line)
        if found and found.end() < len(line) and not pattern.match(text):
            return line[found.end() :]
    return line


def _unquoted(line: str, text: str) -> str:
    inner = line[1:-1].strip()
    if not inner or _is_quoted(text.strip()) or not _is_quoted(line):
        return line
    return line if set(line[0] + line[-1]) & set(inner) and line[0] != "'" else inner


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] + text[-1] in _QUOTES


# ----------------------------------------------------------------------------
# Requests for many texts: concurrent, with retries, and without losing an answer.

#: Longest waiting time in seconds accepted from a server; a longer one is reported to the user.
LONGEST_WAIT = 600.0
#: Longest time in seconds between two attempts if the server does not specify it.
_LONGEST_BACKOFF = 60.0


class TransientError(ModelError):
    """A request that may succeed when repeated. wait: the server's waiting time in seconds, None if not given."""

    def __init__(self, reason: str, wait: float | None = None):
        self.reason, self.wait = reason, wait
        super().__init__(reason)


class StoppedError(ModelError):
    """A request that was not sent, because another one failed for good."""


class RemoteTranslator(ABC):
    """A translator behind a service; a subclass sends the request for one text (`ask`).

    ``usage`` counts the cost and outcomes of all answers so far.
    """

    def __init__(self, model: RemoteModel):
        self.model, self.name = model, model.name
        self.usage = Usage()
        self._gate = _Gate(model.pacing.rate)

    @abstractmethod
    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """One attempt for one text on one line; called from several threads.

        Raises `TransientError` if another attempt may succeed, and `ModelError` if it cannot.
        """

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding, *, progress: bool = True
    ) -> list[str]:
        """The one line of every answer (`nbkit.models.services.asking.one_line`), in order.

        Equal texts are requested once, blank ones not at all. Raises what `answers` raises.
        """
        known = dict(self.answers(texts, src, tgt, decoding, progress=progress))
        return [line_of(self.model, known[text], text, src, tgt).hypothesis if text in known else "" for text in texts]

    def answers(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding, *, progress: bool = True
    ) -> Iterator[tuple[str, Answer]]:
        """Yield every distinct, non-blank text with its answer, as answers arrive.

        If a text fails, no new request is sent, pending answers are still yielded, and the error is raised last:
        `ModelError` for a text that failed after the configured number of attempts, or that the service refuses for
        good.
        """
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        stop = threading.Event()
        problem: ModelError | None = None
        pool = ThreadPoolExecutor(self.model.pacing.concurrency, thread_name_prefix="nbkit-ask")
        try:
            asked = {pool.submit(self._answer, text, src, tgt, decoding, stop): text for text in wanted}
            description = f"{self.model.label} {src}→{tgt}"
            with progress_bar(description, len(wanted), progress) as bar:
                for future in as_completed(asked):
                    try:
                        answer = future.result()
                    except StoppedError:
                        continue
                    except ModelError as error:
                        problem = problem or error
                        continue
                    text = asked[future]
                    self.usage.add(text, answer, line_of(self.model, answer, text, src, tgt))
                    bar.update()
                    yield text, answer
            if problem is not None:
                raise problem
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, text: str, src: str, tgt: str, decoding: Decoding, stop: threading.Event) -> Answer:
        """The answer to one text, after as many attempts as necessary and configured."""
        pacing = self.model.pacing
        line = " ".join(text.split())

        def attempt() -> Answer:
            self._gate.enter(stop)
            if self.model.requested:
                take_request(self.name)
            return self.ask(line, src, tgt, decoding)

        import tenacity  # which loads asyncio: a tenth of the start of a command

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(pacing.attempts),
            wait=self._wait,
            sleep=tenacity.sleep_using_event(stop),
            retry=tenacity.retry_if_exception_type(TransientError),
            reraise=True,
        )
        try:
            return retrying(attempt)
        except StoppedError:
            raise
        except TransientError as error:
            stop.set()
            times = f"{pacing.attempts} attempt{'s' * (pacing.attempts != 1)}"
            raise ModelError(
                f"model '{self.name}': {error.reason}; gave up after {times} for {line[:60]!r}; "
                "earlier answers are stored: run again to continue"
            ) from error
        except ModelError as error:
            stop.set()  # before this thread takes the next text
            raise ModelError(f"{error} (text: {line[:60]!r})") from error

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next attempt; if the server specifies them, they hold for all requests."""
        error = state.outcome.exception() if state.outcome is not None else None
        first = self.model.pacing.backoff
        # Jitter spreads requests that failed together; it does not affect results.
        if not isinstance(error, TransientError) or error.wait is None:
            grown = first * 2 ** (state.attempt_number - 1)
            return min(_LONGEST_BACKOFF, grown) * random.uniform(0.5, 1.0)
        if error.wait > LONGEST_WAIT:
            raise ModelError(
                f"model '{self.name}': {error.reason}; the server asks to wait {error.wait:.0f} s; "
                "earlier answers are stored: run again after that time"
            )
        self._gate.hold(error.wait)
        return error.wait + random.uniform(0.0, min(first, 1.0))

    def hold(self, seconds: float) -> None:
        """Send no request for that long, as requested by a server along with an answer."""
        self._gate.hold(min(seconds, LONGEST_WAIT))


class _Gate:
    """Decides when the next request may be sent: at most *rate* per minute, and not before the server allows it."""

    def __init__(self, rate: float):
        self._gap = 60.0 / rate if rate else 0.0
        self._free = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)

    def enter(self, stop: threading.Event) -> None:
        """Wait for a turn. Raises `StoppedError` if *stop* is set meanwhile."""
        while not stop.is_set():
            with self._lock:
                wait = self._free - time.monotonic()
                if wait <= 0:
                    self._free = time.monotonic() + self._gap if self._gap else self._free
                    return
            stop.wait(wait)
        raise StoppedError("stopped, because another request failed")


# ----------------------------------------------------------------------------
# As a model: what was said is stored, not what it means, so that the rules for a line or a label can change.


class Remote(Model):
    """A model without weights here: behind a server, in a program, or in files."""

    def __init__(self, reference: Any):
        super().__init__(reference)
        place, entry = reference.entry.hub or reference.name, reference.entry
        codes = {name: entry.codes.get(lang or "", lang or "") for name, lang in reference.languages.items()}
        if self.task.name == "translate" and not place.startswith(("command:", "outputs:")):
            place = filled(place, reference.name, codes)  # programs and files fill in languages themselves
        self._named = parse_remote(place)
        self._codes = codes.get("src", reference.lang), codes.get("tgt", reference.lang)
        #: The languages of texts and of answers; a classifier answers in labels.
        self.langs = reference.lang, reference.tgt or LABEL_FILE
        self.stored, self.shard = self._named.stored, self._named.shard
        self.cost = "requests" if self._named.requested else "texts" if self.stored else "nothing"

    @cached_property
    def service(self) -> RemoteModel:
        """What is asked, with the languages filled in."""
        service = self._named.for_pair(*self._codes)
        return service if self.task.name == "translate" else service.as_classifier()

    @property
    def label(self) -> str:
        return self.reference.label if self.reference.entry.hub else self._named.label

    @property
    def name(self) -> str:
        return self.service.name

    @property
    def is_fixed(self) -> bool:  # type: ignore[override]
        return self.service.is_fixed

    @property
    def program(self) -> str | None:  # type: ignore[override]
        return self.service.shown

    @property
    def folder(self) -> Path | None:  # type: ignore[override]
        return self.service.folder

    @property
    def remark(self) -> str | None:
        return self.service.remark(*self.langs)

    def identity(self) -> Record:
        return self.service.identity()

    def key(self) -> Record:
        model = self.versioned() if self.task.name == "translate" else self.identity()
        decoding = self.service.decoding(self.reference.decoding)
        return {"kind": "answer", "version": 1, "model": model, "src": self.langs[0], "tgt": self.langs[1],
                "decoding": decoding}  # fmt: skip

    def read_key(self) -> Record:
        code = digest(__name__)
        decoding = self.service.decoding(self.reference.decoding)
        read = {"labels": list(self.service.labels(*self.langs)), "code": code}
        return {"model": self.versioned(), "decoding": {**decoding, **read}}

    def check(self) -> None:
        if problem := self.service.problem(*self.langs):
            raise ModelError(problem)

    def sent(self, given: Input) -> Input:
        return given if self.task.name == "translate" else (self.service.asked(*given),)

    def answers(self, inputs: Sequence[Input]) -> Iterator[tuple[Input, Record]]:
        self.check()
        identity = json.dumps(self.identity(), sort_keys=True)
        # One for all that ask it in this process, so that a rate holds and a program is checked once.
        translator = keep("services", (self.name, identity, self.langs), self.service.translator, most=8)
        texts = [text for (text,) in inputs]
        for text, answer in translator.answers(texts, *self.langs, self.reference.decoding, progress=False):
            yield (text,), {"text": text, **asdict(answer)}

    def read(self, given: Input, answer: Record) -> Record:
        (text,) = self.sent(given)
        found = Answer(**{name: value for name, value in answer.items() if name != "text"})
        line = line_of(self.service, found, text, *self.langs)
        values = (line.hypothesis,) if self.task.name == "translate" else as_row(line.hypothesis)
        tokens = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
        return {**dict(zip(self.task.columns, values, strict=True)), "outcome": line.outcome, **tokens}

    def unanswered(self, inputs: Sequence[Input]) -> list[Input]:
        return [(text,) for text in self.service.missing([text for (text,) in inputs], *self.langs)]

    def waiting(self, run: str) -> list[str]:
        return self.service.waiting(run, *self.langs)

    def files(self) -> list[tuple[Path, Path]]:
        return self.service.files(*self.langs)

    def lacking(self, texts: Sequence[str], wanted: int, *, partly: bool = False) -> Any:
        return self.service.lacking(texts, *self.langs, wanted, partly=partly)

    def usage(self, store: Store, texts: Iterable[str] | None = None) -> Usage | None:
        if not self.stored:
            return None
        usage, wanted = Usage(), None if texts is None else set(texts)
        for record in store.kept(self.key()):
            text = record.pop("text")
            if wanted is None or text in wanted:
                answer = Answer(**record)
                usage.add(text, answer, line_of(self.service, answer, text, *self.langs))
        return usage


def costs(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], decoding: Decoding | None = None, *, store: Store
) -> dict[str, dict[str, int]]:
    """What the stored answers of the models behind services among *names* cost, summed over pairs, for provenance.

    Translations that are read from files cost nothing.
    """
    found = {}
    for name in dict.fromkeys(name.removeprefix(BY_RULE) for name in names):
        models = [load(name, "translate", *pair, decoding=decoding or Decoding()) for pair in pairs]
        if usages := [usage for model in models if (usage := model.usage(store)) is not None]:
            total = Usage()
            for usage in usages:
                total.update(usage)
            found[name] = total.facts()
    return found


def as_row(answer: str) -> tuple[float, ...]:
    """The probabilities that an answer or a line of a file stands for: one label, or three numbers that sum to 1.

    NaN, three times, for an answer that holds none of the labels or several.

    >>> as_row("Neutral."), as_row("0.2, 0.5, 0.3"), as_row("I cannot answer that.")
    ((0.0, 1.0, 0.0), (0.2, 0.5, 0.3), (nan, nan, nan))
    """
    parts = answer.replace(",", " ").split()
    if len(parts) == len(LABELS):
        try:
            numbers = tuple(map(float, parts))
        except ValueError:
            numbers = ()
        if numbers and all(0 <= p <= 1 for p in numbers) and abs(sum(numbers) - 1) < 0.01:
            return numbers
    words = set(re.findall(r"[\w-]+", answer.casefold()))
    words -= {word for word in words if len(word) == 1 and len(words) > 1}  # "e" is a label only by itself
    known = nli_catalogue()["labels"]
    meant = [float(not words.isdisjoint(known[label])) for label in LABELS]
    return tuple(meant) if sum(meant) == 1 else (float("nan"),) * len(LABELS)
