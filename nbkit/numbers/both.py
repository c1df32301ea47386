"""Words for *both*, which may stand for the number two and are no number themselves."""

from __future__ import annotations

import re
from functools import cache

from nbkit.numbers.languages import language_data


def count_both(text: str, lang: str) -> int:
    """How many words of *text* say *both* (*beide*, *les deux*, 俩): a translation of *two*, or translated by it.

    Raises `UnknownNameError` for a language without number rules.

    >>> count_both("Geht es euch beiden gut?", "de"), count_both("Both men left.", "en")
    (1, 1)
    """
    return len(_pattern(lang).findall(text))


@cache
def _pattern(lang: str) -> re.Pattern[str]:
    data = language_data(lang)
    words = "|".join(map(re.escape, data.get("both", ())))
    if not words:
        return re.compile(r"(?!)")
    return re.compile(words if data.get("script") == "han" else rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
