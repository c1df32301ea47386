"""What becomes of a malformed line: an error with file and line, or an entry in the list of what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from nbkit.errors import DataError, NbkitError

T = TypeVar("T")

#: "raise": the first malformed line ends the reading. "skip": it is counted and listed, and reading goes on.
OnError: TypeAlias = Literal["raise", "skip"]


@dataclass
class Skipped:
    """The entries that ``on_error="skip"`` left out: which file, which line and why.

    >>> skipped = Skipped()
    >>> skipped.add(DataError("2 columns expected, 3 found", "pairs.tsv", 17))
    >>> len(skipped), skipped.rows()
    (1, [('pairs.tsv', 17, '2 columns expected, 3 found')])
    >>> print(skipped.summary())
    1 entry skipped:
      pairs.tsv:17: 2 columns expected, 3 found
    """

    errors: list[DataError] = field(default_factory=list)

    def add(self, error: DataError) -> None:
        """Count and keep *error*."""
        self.errors.append(error)

    def rows(self) -> list[tuple[str, int | None, str]]:
        """One (file, line, reason) an entry, in reading order."""
        return [(error.path, error.line, error.reason) for error in self.errors]

    def summary(self, shown: int = 10) -> str:
        """The number of entries left out and the first *shown* of them, one a line."""
        count = len(self.errors)
        if not count:
            return "nothing skipped"
        lines = [f"{count} {'entry' if count == 1 else 'entries'} skipped:"]
        lines += [f"  {error}" for error in self.errors[:shown]]
        if count > shown:
            lines.append(f"  … and {count - shown} more")
        return "\n".join(lines)

    def __len__(self) -> int:
        return len(self.errors)

    def __iter__(self) -> Iterator[DataError]:
        return iter(self.errors)


def keep_good(items: Iterable[T | DataError], on_error: OnError, skipped: Skipped | None) -> Iterator[T]:
    """The items that are no errors; an error among them is raised, or added to *skipped*, as *on_error* says.

    >>> skipped = Skipped()
    >>> list(keep_good(["a", DataError("empty line", "f.txt", 2), "b"], "skip", skipped)), len(skipped)
    (['a', 'b'], 1)
    """
    if on_error not in ("raise", "skip"):
        raise NbkitError(f"on_error is '{on_error}'; it must be 'raise' or 'skip'")
    for item in items:
        if not isinstance(item, DataError):
            yield item
        elif on_error == "raise":
            raise item
        elif skipped is not None:
            skipped.add(item)
