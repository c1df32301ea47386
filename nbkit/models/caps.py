"""Hard caps on what systems are asked: texts for each system, and requests to services; never exceeded."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nbkit.errors import ModelError


class CapError(ModelError):
    """Asking more would exceed a cap; nothing was asked that does."""


@dataclass
class Caps:
    """What may be asked while they hold, and what was: texts of each system, requests in total; None: no cap."""

    texts: int | None = None
    requests: int | None = None
    asked: Counter[str] = field(default_factory=Counter)
    requested: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take_texts(self, system: str, n: int) -> None:
        """Count *n* texts that *system* is about to be asked. Raises `CapError` if they are too many."""
        with self._lock:
            if self.texts is not None and self.asked[system] + n > self.texts:
                raise CapError(
                    f"'{system}' would be asked {self.asked[system] + n:,} texts, the cap is {self.texts:,}: raise "
                    "--max-texts, or ask for less with --params"
                )
            self.asked[system] += n

    def take_request(self, system: str) -> None:
        """Count a request that is about to be sent, each attempt. Raises `CapError` if it is one too many."""
        with self._lock:
            if self.requests is not None and self.requested + 1 > self.requests:
                raise CapError(f"'{system}': the cap of {self.requests:,} requests is reached: raise --max-requests")
            self.requested += 1


_held: list[Caps] = []


@contextmanager
def capped(*, texts: int | None = None, requests: int | None = None) -> Iterator[Caps]:
    """Within, in all threads of this process, systems are asked no more than this.

    >>> with capped(texts=2) as caps:
    ...     caps.take_texts("mine", 2)
    ...     caps.take_texts("mine", 1)
    Traceback (most recent call last):
    nbkit.models.caps.CapError: 'mine' would be asked 3 texts, the cap is 2: raise --max-texts, or ask for less ...
    """
    caps = Caps(texts, requests)
    _held.append(caps)
    try:
        yield caps
    finally:
        _held.remove(caps)


def take_texts(system: str, n: int) -> None:
    """Count texts against all caps that hold."""
    for caps in _held:
        caps.take_texts(system, n)


def take_request(system: str) -> None:
    """Count a request against all caps that hold."""
    for caps in _held:
        caps.take_request(system)
