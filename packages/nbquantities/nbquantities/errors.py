"""The errors that nbquantities raises on purpose."""

from __future__ import annotations

from collections.abc import Iterable


class QuantitiesError(ValueError):
    """Base class of the errors that nbquantities raises on purpose; the message says what is wrong and what to do."""


class UnknownNameError(QuantitiesError):
    """A language without number rules, or a form that a language lacks.

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
    >>> print(UnknownNameError("language", "sv", ["en", "de"]))
    unknown language 'sv': there are de, en
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        self.kind, self.name, self.known = kind, name, sorted(known)
        super().__init__(f"unknown {kind} '{name}': there are {', '.join(self.known)}")

    def __reduce__(self):
        return type(self), (self.kind, self.name, self.known)
