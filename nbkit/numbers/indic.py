"""Nepali and Tamil numbers in words, which no library here speaks: tens of millions, hundred thousands, thousands."""

from __future__ import annotations

from typing import Any

from nbkit.errors import NbkitError
from nbkit.numbers.languages import language_data


def spell_indic(number: int, lang: str) -> str:
    """A whole number in the words of the language's own table. Raises `NbkitError` above the largest scale's reach.

    Source: Unicode CLDR, rule-based number formatting of Nepali; Tamil with the joining forms that its words take
    before another part of the same number.

    >>> spell_indic(12345678, "ne")
    'एक करोड तेइस लाख पैँतालिस हजार छ सय अठहत्तर'
    >>> spell_indic(2345, "ta")
    'இரண்டாயிரத்து முந்நூற்று நாற்பத்து ஐந்து'
    """
    spoken = language_data(lang)["spoken"]
    scales = {int(scale): words for scale, words in spoken["scales"].items()}
    if number >= max(scales) * 10**7:
        raise NbkitError(f"{number} is larger than the number words of '{lang}' go: write it in digits")
    for scale in sorted(scales, reverse=True):
        count, rest = divmod(number, scale)
        if count:
            alone, joining = scales[scale]
            word = joining if rest else alone
            counted = spoken.get("counted", {}).get(scale, {}).get(count)
            if counted is not None:
                head = counted[1] if rest else counted[0]
            else:
                head = f"{spoken['one_before_scale'] if count == 1 else spell_indic(count, lang)} {word}"
            return f"{head} {spell_indic(rest, lang)}" if rest else head
    return _below_thousand(number, lang, spoken)


def _below_thousand(number: int, lang: str, spoken: dict[str, Any]) -> str:
    hundreds, rest = divmod(number, 100)
    if hundreds:
        alone, joining = spoken["hundreds"][hundreds - 1]
        return f"{joining} {_below_thousand(rest, lang, spoken)}" if rest else alone
    tens, units = divmod(number, 10)
    if "tens_joining" in spoken and tens > 1 and units:
        return f"{spoken['tens_joining'][tens - 2]} {_first(units, lang)}"
    return _first(number, lang)


def _first(number: int, lang: str) -> str:
    """The first of the spellings of a number below one hundred."""
    return language_data(lang)["below_hundred"][number].split("/")[0]
