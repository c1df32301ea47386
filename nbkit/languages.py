"""The languages of the papers: their names, their order in figures, and which are written without spaces."""

from __future__ import annotations

from nbkit.errors import UnknownNameError

#: The word-order paper's target languages, in the order in which every figure and table shows them.
TARGETS = ("de", "fr", "es", "it", "ru", "zh", "ja")

NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "ru": "Russian",
    "zh": "Chinese",
    "ja": "Japanese",
    "ta": "Tamil",
    "ne": "Nepali",
}

#: Written without spaces between words: tokens are joined by nothing and scored by character.
UNSPACED = frozenset({"zh", "ja"})


def check_language(code: str) -> str:
    """*code* itself, or an `UnknownNameError` that lists the known ones.

    >>> check_language("de")
    'de'
    """
    if code not in NAMES:
        raise UnknownNameError("language", code, NAMES)
    return code


def in_order(codes) -> list[str]:
    """Language codes without repeats in the papers' order, unknown ones last in alphabetical order.

    >>> in_order(["ja", "xx", "de", "ja"])
    ['de', 'ja', 'xx']
    """
    rank = {code: i for i, code in enumerate(NAMES)}
    return sorted(set(codes), key=lambda code: (rank.get(code, len(rank)), code))
