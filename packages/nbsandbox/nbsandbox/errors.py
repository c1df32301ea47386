"""The errors that nbsandbox raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SandboxError(ValueError):
    """Base class of the errors that nbsandbox raises on purpose; the message says what is wrong and what to do."""


class UnknownNameError(SandboxError):
    """A language, split, mixture or word that the sandbox lacks, with the closest match.

    Parameters
    ----------
    kind : str
        What the name should be.
    name : str
        The name.
    known : iterable of str
        The names that exist.

    Examples
    --------
    >>> print(UnknownNameError("sandbox split", "tset", ["train", "dev", "test"]))
    unknown sandbox split 'tset'; did you mean 'test'? There are: dev, test, train
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        self.kind, self.name, self.known = kind, name, sorted(known)
        close = get_close_matches(name.lower(), self.known, n=1, cutoff=0.5)
        guess = f"; did you mean '{close[0]}'?" if close else "."
        super().__init__(f"unknown {kind} '{name}'{guess} There are: {', '.join(self.known)}")

    def __reduce__(self):
        return type(self), (self.kind, self.name, self.known)
