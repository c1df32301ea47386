"""`write_number`: a value as a language writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

from nbquantities.compose import EXACT
from nbquantities.errors import QuantitiesError, UnknownNameError
from nbquantities.language import convention, language_data


@cache
def forms(lang: str) -> tuple[str, ...]:
    """The forms that `write_number` knows in a language.

    >>> forms("en")
    ('digits', 'grouped', 'scale', 'words')
    >>> forms("zh"), forms("ne")
    (('digits', 'grouped', 'scale', 'words', 'financial'), ('digits', 'grouped', 'scale', 'words', 'native'))
    """
    data = language_data(lang)
    has = {"native": "native_zero" in data, "financial": "financial" in data}
    return tuple(form for form in _FORMS if has.get(form, True))


def write_number(value: Decimal | int, lang: str, form: str = "digits") -> str:
    """Write *value* in *lang*; the inverse of `find_numbers`, exact to the last digit.

    Parameters
    ----------
    value : Decimal or int
        The number.
    lang : str
        A language with number rules.
    form : str
        "digits" (the language's decimal sign, no grouping), "grouped" (by CLDR), "scale" (digits and the largest scale
        word that does not exceed the value: *1.23 million*, 123万; below the smallest one the same as "digits"),
        "words" (spelled out, a fraction digit by digit), "native" (the language's native digits, ungrouped) or
        "financial" (壹贰叁).

    Returns
    -------
    str
        The written number.

    Raises
    ------
    UnknownNameError
        For a language without number rules, or a form that the language lacks.
    QuantitiesError
        For a value that is not exact (a float), not finite, or too large for the language's number words.

    Examples
    --------
    >>> write_number(Decimal("1234.5"), "de"), write_number(Decimal("1234.5"), "de", "grouped")
    ('1234,5', '1.234,5')
    >>> write_number(10010000, "en", "scale"), write_number(10010000, "zh", "scale")
    ('10.01 million', '1001万')
    >>> write_number(1210, "de", "words"), write_number(Decimal("0.25"), "fr", "words")
    ('eintausendzweihundertzehn', 'zéro virgule deux cinq')
    >>> write_number(1234567, "ne", "native"), write_number(321, "zh", "financial")
    ('१२३४५६७', '叁佰贰拾壹')
    """
    if form not in forms(lang):
        raise UnknownNameError(f"form of numbers in '{lang}'", form, forms(lang))
    if isinstance(value, bool) or not isinstance(value, Decimal | int):
        raise QuantitiesError(f"{value!r} is not an exact number: only a Decimal or an int can be written in '{lang}'")
    number = Decimal(value)
    if not number.is_finite():
        raise QuantitiesError(f"{value} cannot be written in '{lang}': it is not finite")
    return _FORMS[form](number, lang)


def in_place(written: str, before: str) -> str:
    """A written number as it appears after *before*: capitalised if it begins the text.

    >>> in_place("five", ""), in_place("five", "The "), in_place("5 million", "")
    ('Five', 'five', '5 million')
    """
    return written if before else written[:1].upper() + written[1:]


def _digits(number: Decimal, lang: str) -> str:
    """The number in digits, with the decimal sign of the language, not grouped: *1234,5*."""
    return f"{number:f}".replace(".", convention(lang).decimal)


def _grouped(number: Decimal, lang: str) -> str:
    """The number in digits, grouped as the language does by CLDR: *1.234,5*."""
    from babel.numbers import format_decimal

    whole, _, fraction = f"{number:f}".partition(".")
    with localcontext(EXACT):  # Babel rounds to the context's precision
        grouped = format_decimal(Decimal(whole.lstrip("-")), locale=language_data(lang)["locales"][0])
    sign = "-" if number.is_signed() and number else ""
    return sign + grouped + (convention(lang).decimal + fraction if fraction else "")


def _scale(number: Decimal, lang: str) -> str:
    """The number in digits with the largest scale word it reaches (*1.23 million*, 123万), if any."""
    data = language_data(lang)
    scales: Mapping[int, Any] = data["written_scales"]
    magnitude = max((scale for scale in scales if scale <= number.copy_abs()), default=None)
    if magnitude is None:
        return _digits(number, lang)
    mantissa = number.scaleb(-(len(str(magnitude)) - 1), EXACT).normalize(EXACT)
    words = scales[magnitude]
    singular, plural = (words, words) if isinstance(words, str) else words
    alone = -2 < mantissa < 2 if data.get("singular_below") else mantissa == 1
    space = "" if data.get("script") == "han" else " "
    return _digits(mantissa, lang) + space + (singular if alone else plural)


def _native(number: Decimal, lang: str) -> str:
    """The number in the language's native digits, not grouped: *१२३४*."""
    zero = ord(language_data(lang)["native_zero"])
    return _digits(number, lang).translate({ord("0") + i: chr(zero + i) for i in range(10)})


def _words(number: Decimal, lang: str) -> str:
    """The number in words, its fraction digit by digit: *zéro virgule deux cinq*."""
    data = language_data(lang)
    space = "" if data.get("script") == "han" else " "
    whole, _, fraction = f"{number.copy_abs():f}".partition(".")
    parts = [_whole_in_words(int(whole), lang)]
    if fraction:
        point = data["written_point"] if "written_point" in data else data["point"][0]
        parts += [point, *(_whole_in_words(int(digit), lang) for digit in fraction)]
    if number < 0:
        parts.insert(0, data["minus"]["words"][0])
    return space.join(parts)


def _financial(number: Decimal, lang: str) -> str:
    """The number in the characters that cheques are written in: 叁佰贰拾壹."""
    data = language_data(lang)
    if data["speaks"].get("library") == "cn2an":
        return _chinese_words(number, "up")
    return _words(number, lang).translate(str.maketrans(data["financial_spelling"]))


def _whole_in_words(whole: int, lang: str) -> str:
    """A whole number in the words of the language; raises `QuantitiesError` if it is too large."""
    speaks = language_data(lang)["speaks"]
    if "library" in speaks:
        return _chinese_words(Decimal(whole), "low")
    if "locale" not in speaks:
        return spell_indic(whole, lang)
    from num2words import num2words

    if whole >= max(language_data(lang)["scales"]) * 1000:
        raise QuantitiesError(f"{whole} is too large for the number words of '{lang}': write it in digits")
    rest = whole % 1000 if speaks.get("thousands_apart") else 0
    parts = [each for each in (whole - rest, rest) if each] or [0]
    spelled = "".join(num2words(each, lang=speaks["locale"]) for each in parts)
    for pattern, replacement in speaks.get("fixes", ()):
        spelled = re.sub(pattern, replacement, spelled)
    return spelled


def _chinese_words(number: Decimal, mode: str) -> str:
    """The number in Chinese number words: everyday ones (三百) if *mode* is "low", financial ones (叁佰) if "up"."""
    from cn2an import an2cn

    try:
        return an2cn(f"{number:f}", mode)
    except ValueError as error:
        raise QuantitiesError(f"{number} is too large for Chinese number words: write it in digits") from error


# ----------------------------------------------------------------------------
# Nepali and Tamil numbers in words, which no library here speaks: tens of millions, hundred thousands,
# thousands.


def spell_indic(number: int, lang: str) -> str:
    """A whole number in the words of the language's table. Raises `QuantitiesError` above the largest scale's reach.

    Source: Unicode CLDR, rule-based number formatting of Nepali; Tamil with the joining forms that its words take
    before another part of the same number.

    >>> spell_indic(12345678, "ne")
    'एक करोड तेइस लाख पैँतालिस हजार छ सय अठहत्तर'
    >>> spell_indic(2345, "ta")
    'இரண்டாயிரத்து முந்நூற்று நாற்பத்து ஐந்து'
    """
    data = language_data(lang)
    spoken = data["spoken"]
    if number >= max(spoken["scales"]) * 10**7:
        raise QuantitiesError(f"{number} is too large for the number words of '{lang}': write it in digits")
    for scale in sorted(spoken["scales"], reverse=True):
        count, rest = divmod(number, scale)
        if count:
            words = spoken.get("counted", {}).get(scale, {}).get(count)
            if words is None:
                counted = spoken["one_before_scale"] if count == 1 else spell_indic(count, lang)
                words = [f"{counted} {word}" for word in spoken["scales"][scale]]
            return f"{words[1]} {spell_indic(rest, lang)}" if rest else words[0]
    tens, units = divmod(number, 10)
    if "tens_joining" in spoken and tens > 1 and units:
        return f"{spoken['tens_joining'][tens - 2]} {spell_indic(units, lang)}"
    return data["below_hundred"][number].split("/")[0]


_FORMS = {each.__name__[1:]: each for each in (_digits, _grouped, _scale, _words, _native, _financial)}
