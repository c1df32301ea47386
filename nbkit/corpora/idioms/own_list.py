"""The project's own list of English idioms."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

from nbkit.syntax.phrases import read_phrases


@lru_cache(maxsize=1)
def english_idioms() -> tuple[str, ...]:
    """The idioms of ``en.txt``, for `nbkit.syntax.phrases.PhraseMatcher`.

    >>> "kick the bucket" in english_idioms()
    True
    """
    with as_file(files(__package__) / "en.txt") as path:
        return tuple(read_phrases(path))
