"""How a service is asked for many texts: several at a time, patiently, and so that nothing it said is lost."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed

import tenacity

from nbkit.errors import ModelError
from nbkit.models.answers import Answer, Usage, one_line
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.remote import RemoteModel
from nbkit.progress import progress_bar

#: Seconds that a server may ask to wait; what asks for more is told to the user, who can come back.
LONGEST_WAIT = 600.0
#: Seconds between two attempts at most, where the server says nothing.
_LONGEST_BACKOFF = 60.0


class TransientError(ModelError):
    """A request that may succeed when it is made again. wait: seconds the server asks for, None where it does not."""

    def __init__(self, reason: str, wait: float | None = None):
        self.reason, self.wait = reason, wait
        super().__init__(reason)

    def __reduce__(self):
        return type(self), (self.reason, self.wait)


class StoppedError(ModelError):
    """A request that was not made, because another one failed for good."""


class RemoteTranslator(ABC):
    """A translator behind a service; a subclass asks for one text (`ask`).

    ``usage`` counts what all answers so far cost and what became of them.
    """

    def __init__(self, model: RemoteModel):
        self.model, self.name = model, model.name
        self.usage = Usage()
        self._gate = _Gate(model.pacing.rate)

    @abstractmethod
    def ask(self, text: str, src: str, tgt: str, decoding: Decoding) -> Answer:
        """One attempt for one text, of one line; called from several threads.

        Raises `TransientError` where another attempt may succeed, and `ModelError` where it cannot.
        """

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The one line that is taken of every answer (`nbkit.models.answers.one_line`), in order.

        Equal texts are asked for once, blank ones not at all. Raises what `answers` raises.
        """
        labels = self.model.labels(src, tgt)
        said = dict(self.answers(texts, src, tgt, decoding, progress=progress))
        return [one_line(said[text], text, labels).hypothesis if text in said else "" for text in texts]

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """Raises `ModelError`: a service does not say how likely it finds a translation that is not its own."""
        raise ModelError(f"model '{self.name}' scores no references: a service only translates")

    def answers(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> Iterator[tuple[str, Answer]]:
        """Every distinct text that is not blank, with what was said to it, as answers come in.

        Where one is given up, no new one is asked for, those under way are still handed out, and the error comes
        last: `ModelError`, for a text that was asked in vain as often as the pacing has it, or that the service
        refuses for good.
        """
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        stop = threading.Event()
        labels = self.model.labels(src, tgt)
        problem: ModelError | None = None
        pool = ThreadPoolExecutor(self.model.pacing.concurrency, thread_name_prefix="nbkit-ask")
        try:
            asked = {pool.submit(self._answer, text, src, tgt, decoding, stop): text for text in wanted}
            description = f"{self.model.label} {src}→{tgt}"
            with progress_bar(description, len(wanted), progress) as bar:
                for future in as_completed(asked):
                    answer = _result(future)
                    if isinstance(answer, ModelError):
                        problem = answer if problem is None or isinstance(problem, StoppedError) else problem
                        for other in asked:
                            other.cancel()
                        continue
                    text = asked[future]
                    self.usage.add(text, answer, one_line(answer, text, labels))
                    bar.update()
                    yield text, answer
            if problem is not None:
                raise problem
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, text: str, src: str, tgt: str, decoding: Decoding, stop: threading.Event) -> Answer:
        """The answer to one text, after as many attempts as it takes and the pacing allows."""
        pacing = self.model.pacing
        line = " ".join(text.split())

        def attempt() -> Answer:
            self._gate.enter(stop)
            return self.ask(line, src, tgt, decoding)

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
                f"model '{self.name}': {error.reason}, after {times} for {line[:60]!r}; "
                "what was answered before is kept: run again to go on"
            ) from error
        except ModelError as error:
            stop.set()  # before this thread takes the next text
            raise ModelError(f"{error} (asked for {line[:60]!r})") from error

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next attempt; where the server names them, they hold for all requests."""
        error = state.outcome.exception() if state.outcome is not None else None
        first = self.model.pacing.backoff
        # Jitter keeps requests apart that failed together; it has no part in any result.
        if not isinstance(error, TransientError) or error.wait is None:
            grown = first * 2 ** (state.attempt_number - 1)
            return min(_LONGEST_BACKOFF, grown) * random.uniform(0.5, 1.0)
        if error.wait > LONGEST_WAIT:
            raise ModelError(
                f"model '{self.name}': {error.reason}, and asks to wait {error.wait:.0f} s; "
                "what was answered before is kept: run again then"
            )
        self._gate.hold(error.wait)
        return error.wait + random.uniform(0.0, min(first, 1.0))

    def hold(self, seconds: float) -> None:
        """No request goes out for so long: what a server says of its limits beside an answer."""
        self._gate.hold(min(seconds, LONGEST_WAIT))


class _Gate:
    """When the next request may go out: not more than *rate* a minute, and not before the server said."""

    def __init__(self, rate: float):
        self._gap = 60.0 / rate if rate else 0.0
        self._free = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._free = max(self._free, time.monotonic() + seconds)

    def enter(self, stop: threading.Event) -> None:
        """Waits for its turn; `StoppedError` where *stop* is set meanwhile."""
        while not stop.is_set():
            with self._lock:
                wait = self._free - time.monotonic()
                if wait <= 0:
                    self._free = time.monotonic() + self._gap if self._gap else self._free
                    return
            stop.wait(wait)
        raise StoppedError("stopped, because another request failed")


def _result(future: Future[Answer]) -> Answer | ModelError:
    try:
        return future.result()
    except CancelledError:
        return StoppedError("stopped, because another request failed")
    except ModelError as error:
        return error
