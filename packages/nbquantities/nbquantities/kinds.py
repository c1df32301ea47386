"""`find_quantities`: the amounts of a text with what they count, on top of `nbquantities.find_numbers`.

Three readers, one after the other, each of which hides what it read from the next: notation that means more than its
digits (clock times, dates, decades, fractions, powers, identifiers); plain numbers with the unit beside them; words
that hold an amount (*fortnight*, *doppelt*, 半年). The words of a language are data: ``languages/<language>.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Literal, NamedTuple, TypeAlias

from babel import Locale
from babel.units import format_unit

from nbquantities.language import base_language, check_text, language_data, read_yaml
from nbquantities.normalise import Normal, normalise
from nbquantities.numerals import Number, find_numbers

DATA = Path(__file__).parent / "common"

Kind: TypeAlias = Literal[
    "cardinal", "ordinal", "roman", "fraction", "percent", "permille", "range", "date", "clock", "decade", "money",
    "measure", "identifier", "approximate", "power", "always",
]  # fmt: skip

#: Certainty of what a translator may leave unsaid or say in other words.
WEAK = 0.5


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in a text.

    Parameters
    ----------
    value : Fraction
        The exact value: minutes after midnight of a clock time, the first year of a decade, 5 of *5 %*, the first end
        of a range.
    kind : str
        What it is: cardinal, ordinal, roman (*Louis XIV*), fraction, percent, permille, range (its ends are its
        *parts*), date (a part of one), clock, decade, money, measure, identifier, approximate, power, or always
        (*24/7*).
    unit : str
        The unit as pint names it, an ISO 4217 code, "day", "month" or "year" of a date, "24" of a clock time that
        names the half of the day; empty if there is none.
    span : tuple of (int, int)
        Half-open range of characters.
    surface : str
        The text at *span*.
    certainty : float
        1 for an amount that a translation has to carry, `WEAK` for one that may be left unsaid.
    localised : bool
        False if the notation is another language's.
    soft : bool
        Whether kind and unit are those of a neighbour (the first number of *3 to 5 %*).
    also : tuple of Fraction
        Other values that the notation can have (21 for the year 2021).
    parts : tuple of Quantity
        What the notation falls into where its whole has no match (day and month of *5/11*), and the ends of a range.

    Examples
    --------
    >>> [(str(q.value), q.kind, q.unit) for q in find_quantities("It rose 5 % to $5 bn at 3 pm.", "en")]
    [('5', 'percent', ''), ('5000000000', 'money', 'USD'), ('900', 'clock', '24')]
    """

    value: Fraction
    kind: Kind
    unit: str
    span: tuple[int, int]
    surface: str
    certainty: float = 1.0
    localised: bool = True
    soft: bool = False
    also: tuple[Fraction, ...] = ()
    parts: tuple[Quantity, ...] = ()
    lexical: bool = False


def find_quantities(text: str, lang: str) -> list[Quantity]:
    """Find the quantities of *text*, left to right, by the conventions of *lang*.

    Raises
    ------
    UnknownNameError
        For a language without number rules.

    Examples
    --------
    >>> def found(text, lang): return [(str(q.value), q.kind, q.unit) for q in find_quantities(text, lang)]
    >>> found("⅔ der 12,5 km langen Strecke", "de")
    [('2/3', 'fraction', ''), ('25/2', 'measure', 'kilometer')]
    >>> found("20世纪80年代下午5点半", "zh")
    [('1980', 'decade', ''), ('1050', 'clock', '24')]
    """
    check_text(text)
    normal = normalise(text)
    found = _find(normal.text, lang)
    return found if normal.text is text else [_in_original(quantity, normal, text) for quantity in found]


def _in_original(quantity: Quantity, normal: Normal, text: str) -> Quantity:
    """A quantity of a normalised text with its place in *text*."""
    span = normal.span(*quantity.span)
    parts = tuple(_in_original(part, normal, text) for part in quantity.parts)
    return replace(quantity, span=span, surface=text[slice(*span)], parts=parts)


def _find(text: str, lang: str) -> list[Quantity]:
    rules = _rules(base_language(lang))
    plain = rules.dotted.sub(".", text) if rules.dotted is not None and "・" in text else text
    masked, found = _claimed(plain, rules)
    numbers = find_numbers(masked, lang)
    covered = _worded(masked, numbers, found, rules)
    for i, number in enumerate(numbers):
        if i not in covered and not _is_power_of_unit(text, number.span[0]):
            found.append(_quantity(text, number, rules))
    found.sort(key=lambda quantity: quantity.span)
    if len(found) > 1:
        found = _joined(text, found, rules.before_percent is not None)
    if any(quantity.kind == "always" for quantity in found):
        found = [replace(q, certainty=WEAK) if (q.value, q.unit) in _ALWAYS else q for q in found]
    if (
        found
        and rules.idioms is not None
        and not all(quantity.lexical and quantity.certainty == WEAK for quantity in found)
    ):
        starts, ends = [q.span[0] for q in found], [q.span[1] for q in found]
        for match in rules.idioms.finditer(text):
            for i in range(bisect_right(ends, match.start()), bisect_left(starts, match.end())):
                found[i] = replace(found[i], certainty=WEAK, lexical=True)
    return _ranged(text, found) if len(found) > 1 else found


def _worded(text: str, numbers: Sequence[Number], found: list[Quantity], rules: Rules) -> set[int]:
    """Add the words that mean a number to *found*; the places of the *numbers* that they cover."""
    spans = [number.span for number in numbers]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    covered: set[int] = set()
    for match in rules.words.finditer(text):
        a, b = match.span()
        which = rules.which.match(text, a)
        first, after = bisect_right(ends, a), bisect_left(starts, b)
        overlapping = spans[first:after]
        if not which or not which.lastgroup:
            continue
        (value, *also), unit = rules.meanings[int(which.lastgroup[1:])]
        if all(a <= s[0] and s[1] <= b and (unit or s != (a, b)) for s in overlapping):
            covered.update(range(first, after))
            unit = unit or _unit_of_word(match[0], rules) or (_unit_after(text, b, rules) if 0 < value < 1 else "")
            kind: Kind = "always" if unit == "always" else "measure" if unit else "cardinal"
            unit = "" if kind == "always" else unit
            found.append(Quantity(value, kind, unit, (a, b), match[0], WEAK, lexical=True, also=tuple(also)))
    return covered


def has_word_for_few(text: str, lang: str) -> bool:
    """Whether a word of *text* says a small number without naming it.

    >>> has_word_for_few("ein paar Leute", "de"), has_word_for_few("zwei Leute", "de")
    (True, False)
    """
    few = _rules(base_language(lang)).few
    return few is not None and few.search(text) is not None


def with_ends(quantities: Iterable[Quantity]) -> list[Quantity]:
    """Quantities with the two ends of each range in its place.

    >>> [str(q.value) for q in with_ends(find_quantities("3 to 5 km, 7 kg", "en"))]
    ['3', '5', '7']
    """
    return [part for q in quantities for part in (q.parts if q.kind == "range" else (q,))]


# ----------------------------------------------------------------------------
# The rules of a language.

_Handler: TypeAlias = "Callable[[re.Match[str], Rules], list[Quantity]]"


@dataclass(frozen=True)
class Rules:
    """What surrounds and replaces numbers in one language."""

    lang: str
    han: bool
    data: Mapping[str, Any]
    notations: tuple[Notation, ...]
    without_figures: tuple[Notation, ...]
    units: Mapping[str, re.Pattern[str]]
    unit_names: tuple[str, ...]
    before: re.Pattern[str]
    before_names: tuple[str, ...]
    before_ends: frozenset[str]
    scales: re.Pattern[str] | None
    permille: re.Pattern[str]
    percent: re.Pattern[str] | None
    before_percent: re.Pattern[str] | None
    words: re.Pattern[str]
    which: re.Pattern[str]
    meanings: tuple[tuple[list[Fraction], str], ...]
    idioms: re.Pattern[str] | None
    in_idioms: Collection[str]
    day_parts: re.Pattern[str] | None
    vague: re.Pattern[str] | None
    few: re.Pattern[str] | None
    dotted: re.Pattern[str] | None
    of: re.Pattern[str] | None
    in_words: re.Pattern[str] | None
    in_words_names: tuple[str, ...]
    months: Mapping[str, int]
    month_stems: Mapping[str, int]

    def unit(self, text: str, at: int) -> re.Match[str] | None:
        """The unit that begins at a place, after a point, a space or a hyphen: its group is the place of its name."""
        start = _BEFORE_UNIT.match(text, at)
        assert start is not None
        first = text[start.end() : start.end() + 2].lower()
        pattern = self.units.get(first) or self.units.get(first[:1]) or self.units[""]
        return pattern.match(text, at)


@cache
def shared_data() -> dict[str, Any]:
    return read_yaml(DATA / "units.yaml")


#: What may stand between a sign of money and a number.
_AFTER_SIGN = " \n\u00a0\u2009\u202f\u3000.-−"
_SPACE = "[ \u00a0\u2009\u202f\u3000]"
_BEFORE_UNIT = re.compile(f"\\.?{_SPACE}?-?")


@cache
def _rules(lang: str) -> Rules:
    numbers = language_data(lang)
    data, han = numbers.get("quantities", {}), numbers.get("script") == "han"
    start, end = ("", "") if han else (r"(?<!\w)", r"(?!\w)")
    common = shared_data()
    units = [(name, f"(?:{each})(?![A-Za-zÀ-ɏ0-9])") for name, all_ in common["symbols"].items() for each in all_]
    units += [(name, f"(?i:{each}){end}") for name, all_ in data.get("units", {}).items() for each in all_]
    units += [(name, f"(?i:{each}){end}") for name, each in _cldr_units(lang)]
    units = list(dict.fromkeys(units))
    units.sort(key=lambda unit: (-len(re.findall("[ /]", unit[1])), -_length(unit[1])))  # miles per hour before miles
    before = [
        (name, each.replace(" ", _SPACE))
        for table in (data.get("before", {}), common["before"])
        for name, all_ in table.items()
        for each in all_
    ]
    before.sort(key=lambda unit: -len(unit[1]))
    words = [(value, each) for value, all_ in data.get("words", {}).items() for each in all_]
    words.sort(key=lambda word: -len(word[1]))
    idioms = sorted(map(str, data.get("idioms", ())), key=len, reverse=True)
    months = _months(lang, data)
    rules = Rules(
        lang=lang,
        han=han,
        data=data,
        notations=(),
        without_figures=(),
        units=_by_first(units),
        unit_names=tuple(name for name, _ in units),
        before=re.compile(f"(?<![A-Za-z])(?:{_groups('b', [each for _, each in before])})[-−]?$"),
        before_names=tuple(name for name, _ in before),
        before_ends=frozenset(c for _, each in before for c in each),
        scales=re.compile(f"{_SPACE}?(?:{_groups('s', data['scales'])}){end}", re.IGNORECASE)
        if "scales" in data
        else None,
        permille=re.compile(f"{_SPACE}?(?:‰|{'|'.join(data.get('permille', ['‰']))})", re.IGNORECASE),
        percent=_alternatives(data.get("percent", ()), f"{_SPACE}?-?(?:", ")"),
        before_percent=_alternatives(data.get("before_percent", ()), r"(?<!\w)(?:", rf"){_SPACE}?$"),
        words=re.compile(f"{start}{_by_letter(w for _, w in words)}{end}", re.IGNORECASE),
        which=re.compile(f"(?:{_groups('w', [w for _, w in words])}){end}", re.IGNORECASE),
        meanings=tuple(_meaning(value) for value, _ in words),
        idioms=re.compile(f"{start}{_by_letter(idioms)}{end}", re.IGNORECASE) if idioms else None,
        in_idioms={part for each in idioms for part in _held(parser.parse(each, re.IGNORECASE))[1] or ("",)},
        day_parts=_alternatives(
            (word for words in data.get("clock", {}).get("day_parts", {}).values() for word in words),
            f"{start}(?:",
            f"){end}",
        ),
        few=_alternatives(data.get("few", ()), f"{start}(?:", f"){end}"),
        vague=_alternatives(data.get("vague_before", ()), r"(?<!\w)(?:", r")\s+$"),
        dotted=_alternatives(
            data.get("dotted", ()), r"(?<=\d)・(?=\d{1,3}(?:", r"))|(?<=[^\d][0０])・(?=\d)|(?<=^[0０])・(?=\d)"
        ),
        in_words=re.compile(f"(?:{_groups('i', data['in_words'].values())}){_LETTER}{{0,4}}$")
        if "in_words" in data
        else None,
        in_words_names=tuple(data.get("in_words", ())),
        of=_alternatives(data.get("of", ()), f"{_SPACE}(?:", ")"),
        months=months,
        month_stems={stem: month for month, stems in data.get("month_stems", {}).items() for stem in stems},
    )
    notations = tuple(_notations(rules))
    without = tuple(notation for notation in notations if not notation.figure)
    return replace(rules, notations=notations, without_figures=without)


def _by_first(units: list[tuple[str, str]]) -> dict[str, re.Pattern[str]]:
    """The units by their first letter, or first two, in their order; under "" those that no letter begins.

    One alternation of all of them would be tried as a whole at every number.
    """
    begins = [each[each.index(":") + 1 :] for _, each in units]
    first = ["" if re.match(r".?[?*{]|[^()]*\||[(\[\\](?!\$)", each) else each[:1].lower() for each in begins]
    first = [
        each[:2].lower() if letter and each[:2].isalpha() and not re.match("[?*{]", each[2:]) else letter
        for letter, each in zip(first, begins, strict=True)
    ]
    numbered = list(zip(first, (f"(?P<u{i}>{each})" for i, (_, each) in enumerate(units)), strict=True))
    letters = {key[:n] for key in first if key.isalpha() for n in (1, 2)}
    found = {key: [each for f, each in numbered if f in ("", key[0], key)] for key in letters}
    found[""] = [each for f, each in numbered if not f.isalpha()]
    return {key: re.compile(f"{_BEFORE_UNIT.pattern}(?:{'|'.join(each) or '(?!)'})") for key, each in found.items()}


def _length(pattern: str) -> int:
    """The length of a pattern without what it looks ahead for."""
    return len(re.sub(r"\(\?[=!][^)]*\)", "", pattern))


def _by_letter(patterns: Iterable[str]) -> str:
    """An alternation of *patterns* in their order, of which only those that may begin with the letter at hand are
    tried."""
    begins = [(_first_letters(pattern), pattern) for pattern in patterns] or [(set(), "(?!)")]
    letters = sorted({letter for first, _ in begins for letter in first})
    tried = [
        f"(?={letter})(?:{'|'.join(each for first, each in begins if not first or letter in first)})"
        for letter in letters
    ]
    other = [each for first, each in begins if not first]
    ahead = "" if other else f"(?=[{''.join(letters)}])"
    return f"{ahead}(?:{'|'.join([*tried, *other])})"


def _first_letters(pattern: str) -> set[str]:
    """The letters and digits that a match of *pattern* may begin with, none if they cannot be told."""
    found = re.match(r"(?:\(\?<[!=][^)]*\))?(?:\(\?:([^()]*)\)(\??))?(.)(?![?*{])", pattern)
    if found is None:
        return set()
    choices, optional, after = found.groups()
    first = {choice[:1].lower() for choice in (choices or "").split("|")} if choices else set()
    if not choices or optional:
        first.add(after.lower())
    return first if all(letter.isalnum() for letter in first) else set()


def _groups(letter: str, patterns: Iterable[str]) -> str:
    return "|".join(f"(?P<{letter}{i}>{pattern})" for i, pattern in enumerate(patterns))


def _alternatives(patterns: Iterable[str], before: str, after: str) -> re.Pattern[str] | None:
    ordered = sorted(map(str, patterns), key=len, reverse=True)
    return re.compile(f"{before}{'|'.join(ordered)}{after}", re.IGNORECASE) if ordered else None


def _meaning(meaning: str) -> tuple[list[Fraction], str]:
    """The values that a word can have, likeliest first, and the unit: 14|15 day for *quinze jours*."""
    if meaning == "always":
        return [Fraction(0)], "always"
    values, _, unit = str(meaning).partition(" ")
    return [Fraction(value) for value in values.split("|")], unit


def _cldr_units(lang: str) -> Iterator[tuple[str, str]]:
    """The names that CLDR has for units after a number, as regular expressions, by way of Babel."""
    for name, cldr in shared_data()["cldr"].items():
        for count in (1, 2, 5, 1.5):
            written = format_unit(count, cldr, length="long", locale=lang)
            word = re.sub(r"^\d(?:[.,]\d)?\s?", "", written)
            if word != written and cldr not in word:  # which Babel writes where it knows no name
                yield name, re.escape(word)


def _months(lang: str, data: Mapping[str, Any]) -> dict[str, int]:
    """Names of months, full and short, in lower case. Source: Unicode CLDR by way of Babel."""
    found: dict[str, int] = {}
    if language_data(lang).get("script") == "han":
        return found
    months = Locale.parse(lang).months
    for width in ("wide", "abbreviated"):
        for form in ("format", "stand-alone"):
            for month, name in months[form][width].items():
                found.setdefault(name.rstrip(".").lower(), month)
    for month, names in data.get("months_more", {}).items():
        found.update(dict.fromkeys(names, month))
    for name in data.get("no_months", ()):
        found.pop(name, None)
    return {name: month for name, month in found.items() if len(name) > (2 if name.isascii() else 1)}


# ----------------------------------------------------------------------------
# Notation that means more than its digits. Every repeat is bounded, so that the work is linear.

_FIGURES = "₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_FIGURE = re.compile(rf"[\d{_FIGURES}]")
#: Letters that regular expressions take for the same whatever their case, and lower case does not make the same.
_ALIKE = str.maketrans({"ı": "i", "ſ": "s", "ς": "σ", "µ": "μ", "\u0307": None})
_UNLIKE = re.compile("[ıſςµ\u0307]")
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LETTER = r"[\w\u093e-\u094d\u0bbe-\u0bcd]"
_HAN = "〇零一二两兩三四五六七八九十"
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018, "H": 1988, "S": 1925, "R": 2018}
_NOON = 720


def _claimed(text: str, rules: Rules) -> tuple[str, list[Quantity]]:
    """*text* with what the notations take as their own hidden, and what they found in it."""
    found: list[Quantity] = []
    alike = _alike(text)
    for pattern, handler, _, parts, only in rules.notations if _FIGURE.search(text) else rules.without_figures:
        if only not in alike or (parts and not only and not any(map(alike.__contains__, parts))):
            continue
        pieces, done = [], 0
        for match in pattern.finditer(text):
            quantities = handler(match, rules)
            if quantities:
                found += quantities
                a, b = match.span("all") if "all" in pattern.groupindex else match.span()
                pieces += [text[done:a], "\x01" * (b - a)]
                done = b
        if pieces:
            text = "".join([*pieces, text[done:]])
    return text, found


def _made(match: re.Match[str], value: Fraction | int, kind: Kind, unit: str = "", group: str | int = 0, **more: Any):
    return Quantity(Fraction(value), kind, unit, match.span(group), match[group], **more)


class Notation(NamedTuple):
    """What reads the matches of a pattern, and what each of these holds: a figure or not, one of some strings."""

    pattern: re.Pattern[str]
    reads: _Handler
    figure: bool
    parts: Collection[str]
    only: str  # the string, if there is but one


def _held(items: Iterable[tuple[Any, Any]]) -> tuple[bool, Collection[str]]:
    """Whether each match of a parsed pattern holds a figure; strings, without case, of which each holds one (if any).

    >>> _held(parser.parse(r"(?P<hour>\\d{1,2}) o.clock")), _held(parser.parse("(?<!x)(?:half|a half) past"))
    ((True, {'clock'}), (False, {' past'}))
    """
    figure, run, found = False, "", [set[str]()]
    for operator, given in items:
        inner: tuple[bool, Collection[str]] = (False, ())
        if operator is parser.LITERAL:
            run += _alike(chr(given))
            figure |= _is_figure(operator, given)
            found.append({run})
        elif operator in (parser.SUBPATTERN, parser.ASSERT):
            inner = _held(given[-1])
        elif operator in (parser.MAX_REPEAT, parser.POSSESSIVE_REPEAT) and given[0]:
            inner = _held(given[2])
        elif operator is parser.BRANCH:
            branches = [_held(branch) for branch in given[1]]
            every = all(parts for _, parts in branches)
            inner = all(each for each, _ in branches), set().union(*(parts for _, parts in branches)) if every else ()
        elif operator is parser.IN:
            few = all(kind is parser.LITERAL for kind, _ in given)
            inner = all(_is_figure(*each) for each in given), {_alike(chr(c)) for _, c in given} if few else ()
        figure |= inner[0]
        found.append(set(inner[1]))
        run = run if operator in (parser.LITERAL, parser.AT, parser.ASSERT_NOT) else ""
    return figure, max(found, key=lambda parts: (min(map(len, parts), default=0), -len(parts)))


def _is_figure(operator: Any, value: Any) -> bool:
    """Whether all that a member of a class of characters stands for is a figure."""
    if operator is parser.CATEGORY:
        return value is parser.CATEGORY_DIGIT
    ends = value if operator is parser.RANGE else [value]
    return operator is not parser.NEGATE and all(_FIGURE.match(chr(end)) for end in ends)


def _alike(text: str) -> str:
    """*text* in lower case, with one letter for those that patterns take for the same where case is none to them."""
    lower = text.lower()
    return lower.translate(_ALIKE) if _UNLIKE.search(lower) else lower


def _notations(rules: Rules) -> Iterator[Notation]:
    """The rules of ``common/notations.yaml`` in one language."""
    data = read_yaml(DATA / "notations.yaml")
    own = {**rules.data, **rules.data.get("clock", {}), "clock_words": rules.data.get("clock", {}).get("words", {})}
    parts = {**data["parts"], **_language_parts(rules)}
    for rule in data["rules"]:
        name, pattern = next(iter(rule.items()))
        reads, values = _READERS[name], {}
        if "value" in rule:
            reads = partial(reads, value=rule["value"])
        elif table := own.get(rule.get("words")):
            words = _values_of_words(table)
            reads = partial(reads, values=[value for value, _ in words])
            values = {"words": _groups("v", [word for _, word in words])}
        filled = _filled(pattern, {**parts, **values}) if "if" not in rule or f"if {rule['if']}" in parts else None
        for each in own.get(rule["each"], ()) if "each" in rule else [""]:
            if filled is not None:
                flags = re.IGNORECASE if rule.get("case") == "any" else 0
                compiled = re.compile(filled.replace("{each}", each), flags)
                figure, held = _held(parser.parse(compiled.pattern, compiled.flags))
                yield Notation(compiled, reads, figure, held, next(iter(held)) if len(held) == 1 else "")


def _values_of_words(table: Mapping[Any, Any]) -> list[tuple[Any, str]]:
    """Each word with its value, from a table of words by their value, or of values by their word."""
    if all(isinstance(key, int) for key in table):
        return [(value, word) for value, words in table.items() for word in words]
    return [(value, word) for word, value in table.items()]


def _value(match: re.Match[str], values: Sequence[Any]) -> Any:
    """The value of the word that *match* holds."""
    return next(values[int(name[1:])] for name, word in match.groupdict().items() if word and name[1:].isdecimal())


def _filled(pattern: str, parts: Mapping[str, str]) -> str | None:
    """*pattern* with its parts, None if the language lacks one."""
    for name in re.findall(r"\{([a-z]\w*)\}", pattern):
        if name != "each":
            filled = _filled(parts[name], parts) if name in parts else None
            if filled is None:
                return None
            pattern = pattern.replace("{" + name + "}", filled)
    return pattern


def _language_parts(rules: Rules) -> dict[str, str]:
    """Words of the language in the patterns of all, without those that it lacks; its conditions, too."""
    data = rules.data
    clock, combining = data.get("clock", {}), data.get("combining")
    written = sorted({form for name in rules.months for form in (name, name.title(), name.upper())})
    stems = [rf"(?i:{re.escape(stem)})\w{{0,6}}" for stem in rules.month_stems]
    parts = {name: "|".join(clock.get(name, ())) for name in ("oclock", "before_am", "before_pm")}
    parts["months"] = "|".join([*sorted(map(re.escape, written), key=len, reverse=True), *stems])
    if combining:
        parts["combining_numerals"] = "|".join(sorted(_combining_values(rules.lang), key=len, reverse=True))
        parts["combining_units"] = "|".join(f"(?P<{name}>{stem})" for name, stem in combining["units"].items())
    parts["if hours_24"] = "24" * (clock.get("norm") == 24)
    return {name: part for name, part in parts.items() if part} | {
        "if han" if rules.han else "if spaced": "",
        **{name: "|".join(clock.get(name) or ["(?!)"]) for name in ("am", "pm")},
        "any_oclock": parts["oclock"] or "(?!)",
        "numerals": "".join(f"|{each}" for each in sorted(data.get("numerals", ()), key=len, reverse=True)),
        "boundary": "" if rules.han else r"\b",
        "no_identifiers": "|".join(["(?!)", *data.get("no_identifiers", ())]),
        "month_tails": f"|(?={'|'.join(data['month_tails'])})" if "month_tails" in data else "",
    }


def _hidden(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, 0, "identifier", certainty=WEAK)] if re.search(r"\d", match[0]) else []


def _always(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, 0, "always", certainty=WEAK)]


def _integer(text: str, rules: Rules) -> int | None:
    """A small whole number in digits or words."""
    if text.isdecimal():
        return int(text)
    if text and all(c in _HAN for c in text):
        ahead, ten, behind = text.partition("十")
        if ten:
            return _HAN_DIGITS.get(ahead, 1) * 10 + _HAN_DIGITS.get(behind, 0)
        return int("".join(str(_HAN_DIGITS[c]) for c in text))
    found = find_numbers(text, rules.lang)
    if len(found) == 1 and found[0].kind == "cardinal" and found[0].value == int(found[0].value):
        return int(found[0].value)
    return None


def _power(match: re.Match[str], rules: Rules) -> list[Quantity]:
    factor = Fraction((match["factor"] or "1").replace(",", "."))
    power = int(re.sub(r"[\^{}]", "", match["power"]).translate(_SUPERSCRIPT).replace("−", "-"))
    if abs(power) > 300:
        return [_made(match, power, "identifier")]
    made = _measured(match.string, _made(match, factor * Fraction(10) ** power, "power"), rules)
    return [made]


def _clock(match: re.Match[str], rules: Rules) -> list[Quantity]:
    got, clock = match.groupdict(), rules.data.get("clock", {})
    hour_text = got.get("h") or got.get("w") or ""
    hour = rules.data.get("numerals", {}).get(hour_text) or _integer(hour_text, rules)
    if hour is None or hour > 24 or (got.get("h") == clock.get("no_hour", "") and not (got.get("am") or got.get("pm"))):
        return []
    minute_text = got.get("m") or got.get("mm")
    minute = _integer(minute_text, rules) if minute_text else 30 if got.get("half") else 0
    if got.get("quarter"):
        minute = 15 * (_integer(got["quarter"][0], rules) or 0)
    if minute is None or minute > 59:
        return []
    marked, spoken = got.get("am") or got.get("pm"), got.get("oclock")
    if got.get("dot") and not (marked or spoken):
        return []
    if got.get("pm") and hour < 12 and not (hour < 6 and re.search(clock.get("night", "(?!)"), got["pm"])):
        hour += 12
    elif got.get("am") and hour == 12:
        hour = 0
    exact = bool(marked) or hour > 12 or hour == 0
    exact = exact or (clock.get("norm") == 24 and bool(minute_text or spoken) and "w" not in match.re.groupindex)
    parts: tuple[Quantity, ...] = (Quantity(Fraction(hour), "cardinal", "", match.span(), match[0], WEAK),)
    if minute_text:
        parts += (Quantity(Fraction(minute), "cardinal", "", match.span(), match[0], WEAK),)
    return [_made(match, (hour % 24) * 60 + minute, "clock", _half_of_day(match, exact, rules), parts=parts)]


def _half_of_day(match: re.Match[str], exact: bool, rules: Rules) -> str:
    """24: the time names the half of the day; 12: other words of the text do; empty: nothing does."""
    if exact:
        return "24"
    return "12" if _names_half_of_day(match.string, rules.lang) else ""


@lru_cache(4)
def _names_half_of_day(text: str, lang: str) -> bool:
    words = _rules(lang).day_parts
    return words is not None and words.search(text) is not None


def _spoken_clock(match: re.Match[str], rules: Rules, value: int) -> list[Quantity]:
    """*half past three*; *value*: minutes after the hour, or 1 and -1 for minutes that are said."""
    clock = rules.data["clock"]
    numbers = find_numbers(match["hour"], rules.lang)
    hour = int(numbers[0].value) if len(numbers) == 1 else None
    hour = clock.get("genitive", {}).get(match["hour"].lower(), hour)
    if hour is None or not 1 <= hour <= 24:
        return []
    if abs(value) == 1:
        minutes = match["minutes"].lower()
        count = 15 if clock.get("quarter", "\0") in minutes else _integer(minutes, rules)
        if count is None or not 0 < count < 60:
            return []
        value *= count
    return [_made(match, (hour * 60 + value) % _NOON, "clock", _half_of_day(match, False, rules))]


def _lap(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*1:58.7*, minutes and seconds of a race."""
    return [_made(match, Fraction(f"{match['s']}.{match['f']}") + 60 * int(match["m"]), "measure", "second")]


def _height(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*5'10*, feet and inches of a person."""
    feet, inches = int(match["f"]), int(match["i"])
    parts = tuple(_made(match, value, "measure", unit) for value, unit in ((feet, "foot"), (inches, "inch")))
    return [_made(match, feet + Fraction(inches, 12), "measure", "foot", parts=parts)]


def _metres(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*1m85*, metres and centimetres of a person."""
    return [_made(match, Fraction(int(match["m"] + match["c"]), 100), "measure", "meter")]


def _mixed(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*3 1/2*."""
    whole, above, below = (int(match[group]) for group in "nab")
    value = whole + Fraction(above, below)
    return [_measured(match.string, _made(match, value, "fraction"), rules)] if above < below else []


def _counted_ordinal(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """２本目, the second one; one and two are said in other words too often to be demanded."""
    value = rules.data.get("numerals", {}).get(match["n"]) or _integer(match["n"], rules)
    return [_made(match, value, "ordinal", certainty=WEAK if value < 3 else 1.0)] if value else []


def _named_day(match: re.Match[str], rules: Rules, values: Sequence[Sequence[int]]) -> list[Quantity]:
    """六四, a day that is named by its digits."""
    return [
        _made(match, number, "date", unit, certainty=WEAK, lexical=True)
        for number, unit in zip(_value(match, values), ("month", "day"), strict=True)
    ]


def _halves(match: re.Match[str], rules: Rules, value: str) -> list[Quantity]:
    """*a litre and a half*, *half an inch*."""
    share, unit = Fraction(value), rules.unit(match.string, match.start("unit"))
    if unit is None or unit.end() != match.end("unit") or unit.lastgroup is None:
        return []
    return [
        _made(match, share, "measure", rules.unit_names[int(unit.lastgroup[1:])], certainty=WEAK if share < 1 else 1.0)
    ]


@cache
def _combining_values(lang: str) -> dict[str, int]:
    numerals = language_data(lang)["quantities"]["combining"]["numerals"]
    return {form: int(value) for value, forms in numerals.items() for form in forms}


def _combining(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """Numerals and a unit in one word, of forms that only stand there: *dvaa|třiceti|letý*, *cztero|dniowy*."""
    values = _combining_values(rules.lang)
    forms = "|".join(sorted(values, key=len, reverse=True))
    total = sum(values[form.lower()] for form in re.findall(forms, match["n"], re.IGNORECASE))
    return [_made(match, total, "measure", match.lastgroup or "")]


def _clock_word(match: re.Match[str], rules: Rules, values: Sequence[int]) -> list[Quantity]:
    return [_made(match, _value(match, values), "clock", "24", certainty=WEAK)]


def _date_part(match: re.Match[str], group: str, unit: str, also: tuple[Fraction, ...] = ()) -> Quantity:
    return _made(match, int(match[group]), "date", unit, group, also=also)


def _date(match: re.Match[str], rules: Rules) -> list[Quantity]:
    a, b, c = (int(match[group]) for group in "abc")
    names = "cba" if len(match["a"]) < 3 else "abc"
    first, second, year = (a, b, c) if names == "cba" else (b, c, a)
    if not (0 < first <= 31 and 0 < second <= 31 and min(first, second) <= 12):
        return []
    also = tuple(Fraction(century + year) for century in (1900, 2000)) if year < 100 else ()
    parts = [_date_part(match, group, "") for group in names[1:]]
    return sorted([*parts, _date_part(match, names[0], "year", also)], key=lambda part: part.span)


_SENTENCE_END = re.compile(r"\s*$|\s+[^\W\d_a-zäöüß]")


def _short_date(match: re.Match[str], rules: Rules) -> list[Quantity]:
    if not (0 < int(match["a"]) <= 31 and 0 < int(match["b"]) <= 12):
        return []
    words, text = rules.data.get("before_date"), match.string
    before = text[max(0, match.start() - 12) : match.start()].lower()
    if words and _SENTENCE_END.match(text, match.end()) and not re.search(rf"(?<!\w)(?:{'|'.join(words)}) $", before):
        return []  # version 3.10. at the end of a sentence
    return [_date_part(match, "a", "day"), _date_part(match, "b", "month")]


def _version(match: re.Match[str], rules: Rules) -> list[Quantity]:
    runs = match[0].split(".")
    if (
        all(len(run) == 3 for run in runs[1:])
        and len(runs[0]) < 4
        and not (len(runs) == 4 and max(map(int, runs)) < 256)
    ):
        return []  # groups of three
    return [_made(match, int("".join(runs)), "identifier")]


def _telephone(match: re.Match[str], rules: Rules) -> list[Quantity]:
    digits = re.sub(r"\D", "", match[0])
    if len(digits) < 7 or not re.search(r"[+(-]", match[0]) or (len(digits) < 9 and match[0][0] not in "+(0"):
        return []
    if re.fullmatch(r"\(?\d{4} ?- ?\d{4}", match[0]):
        return []  # years
    parts = tuple(_made(match, int(run), "cardinal") for run in re.findall(r"\d+", match[0]))
    return [_made(match, int(digits), "identifier", parts=parts)]


def _identifier(match: re.Match[str], rules: Rules) -> list[Quantity]:
    if match.string[match.end() : match.end() + 1] in ("%", "％"):
        return []  # MAX60%
    plain = unicodedata.normalize("NFKC", match[0])
    digits = re.search(r"\d{1,15}(?:\.\d{1,15})?", plain)
    if not digits:
        return []
    value = Fraction(digits[0])
    also = (2000 + value,) if len(digits[0]) == 2 else (Fraction(int(value)),) if value.denominator > 1 else ()
    return [_made(match, value, "identifier", certainty=WEAK, also=also)]


def _era(match: re.Match[str], rules: Rules) -> list[Quantity]:
    year = 1 if match["y"] == "元" else _integer(match["y"], rules)
    return [_made(match, _ERAS[match["era"]] + (year or 0), "date", "year", also=(Fraction(year or 0),))]


def _han_decade(match: re.Match[str], rules: Rules) -> list[Quantity]:
    century = _integer(match["c"], rules) if match["c"] else None
    start = 100 * (century - 1) if century else 0
    tens = re.fullmatch(rf"([{_HAN}])([{_HAN}])十", match["y"])
    if tens:  # 六七十年代
        return [_made(match, start + 10 * _HAN_DIGITS.get(ten, 0), "decade") for ten in tens.groups()]
    year = _integer(match["y"], rules)
    if year is None or year % 10:
        return []
    young = year == 10 and not century
    return [_made(match, start + year, "decade", certainty=WEAK if young else 1.0)]


def _han_month(match: re.Match[str], rules: Rules) -> list[Quantity]:
    month = _integer(match["m"], rules)
    return [_made(match, month, "date", "month", "all")] if month else []


def _han_fraction(match: re.Match[str], rules: Rules) -> list[Quantity]:
    if match["d"] in ("百", "千"):
        if match["d"] == "千":
            value = find_numbers(match["n"], rules.lang)
            return [_made(match, Fraction(value[0].value), "permille")] if value else []
        return []
    pair = [find_numbers(match[group], rules.lang) for group in "nd"]
    if not all(len(found) == 1 and found[0].value for found in pair):
        return []
    parts = tuple(_made(match, Fraction(found[0].value), "cardinal") for found in pair)
    return [_made(match, Fraction(pair[0][0].value) / Fraction(pair[1][0].value), "fraction", parts=parts)]


def _listed(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """三四五年级, the third, fourth and fifth years."""
    made = [_made(match, _HAN_DIGITS[digit], "cardinal", certainty=WEAK) for digit in match["n"]]
    start = match.start("n")
    return [replace(q, span=(i, i + 1), surface=match.string[i]) for i, q in enumerate(made, start)]


def _about(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """七八十, seventy or eighty."""
    got = match.groupdict()
    found = [find_numbers(f"{got.get('whole') or ''}{digit}{match['u']}", rules.lang) for digit in match["n"]]
    kind: Kind = "percent" if got.get("p") else "approximate"
    return [_made(match, Fraction(number.value), kind, certainty=WEAK) for numbers in found for number in numbers]


def _minute(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, int(match["n"]), "measure", "minute")]


def _after_count(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*社数4.8万社*, where 数 is no *several*."""
    found = find_numbers(match[0], rules.lang)
    if match["n"].strip("0") == "1":
        return []  # 数10億
    return (
        [_measured(match.string, _made(match, Fraction(found[0].value), "cardinal"), rules)] if len(found) == 1 else []
    )


def _tenths(match: re.Match[str], rules: Rules) -> list[Quantity]:
    tens, ones = _integer(match["n"], rules), _integer(match["m"], rules) if match["m"] else 0
    return [_made(match, (tens or 0) * 10 + (ones or 0), "percent")]


def _decade(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, int(match["y"]), "decade")]


def _spoken_year(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*nineteen eighty-four*."""
    century, year = (_integer(match[group], rules) for group in "cy")
    return [_made(match, 100 * (century or 0) + (year or 0), "cardinal")]


def _decade_word(match: re.Match[str], rules: Rules, values: Sequence[int]) -> list[Quantity]:
    return [_made(match, _value(match, values), "decade", certainty=WEAK)]


def _month(match: re.Match[str], rules: Rules) -> list[Quantity]:
    name = match["all"].lower()
    month = rules.months.get(name) or next(m for stem, m in rules.month_stems.items() if name.startswith(stem))
    near = match["near"] or match["after"]
    titled, wide = _full_months(rules.lang)
    doubtful = name in rules.data.get("months_ambiguous", ()) or not (name in wide or len(name) > 4)
    if not near and not titled and match["all"].istitle() and match.start("all"):
        doubtful = True  # Avril Lavigne
    if doubtful and titled and match["all"].islower():
        return []
    if doubtful and not near:
        if find_numbers(match["all"], rules.lang):
            return []  # sept
        return [_made(match, month, "date", "month", "all", certainty=WEAK, lexical=True)]
    return [_made(match, month, "date", "month", "all")]


@cache
def _full_months(lang: str) -> tuple[bool, frozenset[str]]:
    """Whether months have a capital letter, and their full names without it."""
    months = Locale.parse(lang).months
    return months["format"]["wide"][1].istitle(), frozenset(map(str.lower, months["stand-alone"]["wide"].values()))


def _thousands(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*2 000*, which is no list of numbers in any language."""
    return [_measured(match.string, _made(match, int(match[0].replace(" ", "")), "cardinal"), rules)]


def _vulgar(match: re.Match[str], rules: Rules) -> list[Quantity]:
    value = Fraction(unicodedata.numeric(match["sign"])).limit_denominator(20)
    if match["whole"]:
        value += int(match["whole"])
    return [_measured(match.string, _made(match, value, "fraction"), rules)]


def _slash(match: re.Match[str], rules: Rules) -> list[Quantity]:
    a, b = int(match["a"]), int(match["b"])
    if not b or (a > 31 and b > 31):
        return []
    parts = tuple(_made(match, int(match[group]), "cardinal", "", group) for group in "ab")
    return list(parts) if a >= b else [_made(match, Fraction(a, b), "fraction", parts=parts)]


def _fraction(match: re.Match[str], rules: Rules, values: Sequence[int]) -> list[Quantity]:
    numerator = _integer(match["n"], rules)
    if numerator is None or not 0 < numerator < 100:
        return []
    data, text, end = rules.data, match.string, match.end()
    if (numerator >= 20 and numerator % 10 == 0) or re.fullmatch(data.get("no_fraction", "(?!)"), match[0]):
        return []  # sixty-sixth, dix-septième
    share = Fraction(numerator, _value(match, values))
    if text.startswith(data.get("no_fraction_before", "\0"), end):
        return []
    whole = re.search(data.get("fraction_after_whole", "(?!)"), text[max(0, match.start() - 21) : match.end("n")])
    if whole and _integer(whole[1], rules) is not None:
        return []
    if numerator == 1 and share < Fraction(1, 4) and match["n"] not in data.get("ordinal_fractions", (match["n"],)):
        following = re.match(r" (\w{1,9})", text[end : end + 10])
        if following is None or following[1] not in language_data(rules.lang)["fraction_of"]:
            return []  # an ordinal: une neuvième place
    weak = numerator == 1 or share >= 1
    quarters = (_made(match, numerator, "cardinal"),) if share.denominator in (1, 2, 4) else ()  # of a year
    return [_made(match, share, "fraction", certainty=WEAK if weak else 1.0, parts=quarters)]


_READERS: Mapping[str, Callable[..., list[Quantity]]] = {
    each.__name__.strip("_"): each
    for each in (
        _about,
        _after_count,
        _always,
        _clock,
        _clock_word,
        _combining,
        _counted_ordinal,
        _date,
        _decade,
        _decade_word,
        _era,
        _fraction,
        _halves,
        _han_decade,
        _han_fraction,
        _han_month,
        _height,
        _hidden,
        _identifier,
        _lap,
        _listed,
        _metres,
        _minute,
        _mixed,
        _month,
        _named_day,
        _power,
        _short_date,
        _slash,
        _spoken_clock,
        _spoken_year,
        _telephone,
        _tenths,
        _thousands,
        _version,
        _vulgar,
    )
}
# ----------------------------------------------------------------------------
# Plain numbers: the unit beside them, and what they share with their neighbours.

#: Said beside *24/7*, or in its place.
_ALWAYS = frozenset({(Fraction(24), "hour"), (Fraction(7), "day"), (Fraction(365), "day")})
#: After these a hyphen joins two dates or times, or two numbers.
_DATED = "日月年号號時时分点點至到～〜〇零一二三四五六七八九十百千万亿億第、。，）)"
_MINUS = "-−－–"
_ROUND = frozenset({12, *(10**power for power in range(2, 10))})


def _joining(kind: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """A pattern of what joins two numbers: signs, or words of `joins` in common/units.yaml."""
    words = "|".join(sorted(map(re.escape, shared_data()["joins"][kind]), key=len, reverse=True))
    return re.compile(f"{before}(?:{words}){after}", re.IGNORECASE)


_MORE = _joining("more").pattern
#: Between two numbers that share a unit: *3 to 5 km*, 3～5公里.
_JOIN = _joining("share", f"-?{_SPACE}?(?:[-–—~～〜/x×,、&]|", f"|,{_SPACE}?){_SPACE}?(?:{_MORE}{_SPACE})?")
#: Between the ends of a range; *and* only after *between*.
_TO = _joining("range", f"{_SPACE}?(?:[-–—~～〜至到]|", f"){_SPACE}?")
_APART = _joining("range", r"[,;.–—(，、。]|(?<!\w)(?:", r")(?!\w)")
_AND = _joining("both", f"{_SPACE}?", f"{_SPACE}?")
_BETWEEN = _joining("between", r"(?<!\w)", r"\W{0,3}$")
_SCALES = tuple(Fraction(10**power) for power in (3, 4, 6, 8, 9, 12))


#: What a notation may fall into: *5.11*, *40 000*, *747B*.
_HAN_PAIR = re.compile("[二三四五六七八九][〇零一二三四五六七八九]")
_COMMA_GROUP = re.compile(r"\d{1,3},\d{3}")
_TWO_PARTS, _SPACED, _LETTERED = map(re.compile, (r"\d{1,2}[.,]\d{1,2}", r"\d{1,3}(?: \d{3})+", r"\d{1,6}[A-Zk]"))


def _quantity(text: str, number: Number, rules: Rules) -> Quantity:
    a, b = number.span
    signed, value = number.value, _exactly(number.value)
    surface = text[a:b]
    kind: Kind = number.kind
    also: tuple[Fraction, ...] = ()
    digits = surface.isdecimal() or (not surface.isalpha() and any(map(str.isdecimal, surface)))
    certainty, part_of_word = 1.0, False
    if kind == "ordinal" and number.form == "roman":
        kind = "roman"
    if (
        surface[0] in _MINUS
        and signed < 0
        and (text[a - 1 : a].isdecimal() or (text[a - 1 : a].isalpha() and text[a - 1] < "\u3040"))
    ):
        signed, value, a = -signed, -value, a + 1  # VP−730, 7−20
    if digits:
        if rules.han and not a and b < 3 and text[b : b + 1] == " ":
            counted = text[b + 1 : b + 2] in rules.data.get("counters", "")
            certainty = 1.0 if counted else WEAK
        if b - a < 3 and text[b : b + 1] in ".)）、" and b < len(text):
            if a < 8 and not text[:a].strip(" (（") and not text[b + 1 : b + 2].isdecimal():
                certainty = WEAK  # the mark of a list
            elif text[b] in ")）" and (text[a - 1 : a] in "(（ "):
                certainty = WEAK
    elif kind != "percent":
        if _is_weak(text, (a, b), signed, number, rules):
            certainty = WEAK
        if rules.han and b - a == 1 and (text[b : b + 2].strip()[:1] or " ") not in rules.data.get("counters", ""):
            certainty, part_of_word = WEAK, True
    if kind == "ordinal" and digits and (value < (3 if rules.han else 2) or _is_name(text, b, rules)):
        certainty = WEAK
    if surface in ("1", "１") and rules.han and text[b : b + 1] >= "\u3040":
        certainty = WEAK  # 1枚ずつ
    if a > 0 and b - a == 1 and "a" <= text[a - 1] <= "z" and surface.isdecimal():
        certainty = WEAK  # m8
    if digits and kind == "cardinal":
        scale = rules.scales.match(text, b) if rules.scales is not None else None
        if scale is not None and number.form != "scale":
            value *= list(rules.data["scales"].values())[int((scale.lastgroup or "s0")[1:])]
            b = scale.end()
    if digits and a > 1 and text[a - 1] in "-−－" and surface[0] not in "-−－" and value > 0:
        if text[a - 2] >= "\u3040" and text[a - 2] not in _DATED and not text[a - 2].isdecimal():
            a, value = a - 1, -value  # 距离-5米
        elif text[a - 2].isalpha():
            also += (-value,)  # iodine-131, 碘-131
    if digits and rules.data.get("minus_behind") and text[b : b + 1] == "-" and (text[b + 1 : b + 2] or " ").isspace():
        b, value = b + 1, -value
    if rules.data.get("comma_groups") and _COMMA_GROUP.fullmatch(surface):
        also += (value * 1000,)
    if digits and surface[-1].isalpha() and _LETTERED.fullmatch(surface):
        also += (Fraction(int(surface[:-1])),)
    following = text[b : b + 1] or " "
    if len(surface) == 2 and surface.isdecimal() and ((text[a - 1 : a] or " ") in "'’‘" or following in "年后後"):
        also += (1800 + value, 1900 + value, 2000 + value)
    elif rules.han and _HAN_PAIR.fullmatch(surface):
        also += (1900 + value,)  # 九二共识
    elif following in "年년" and 1000 <= value < 2200 and value.denominator == 1:
        return Quantity(value, "date", "year", (a, b), text[a:b], certainty, number.localised)
    parts: tuple[Quantity, ...] = ()
    if digits and not surface.isdecimal():
        if _TWO_PARTS.fullmatch(surface):
            halves = [int(half) for half in re.split("[.,]", surface)]
            parts = tuple(Quantity(Fraction(half), "cardinal", "", (a, b), surface) for half in halves)
        elif _SPACED.fullmatch(surface):
            parts = tuple(Quantity(Fraction(int(run)), "cardinal", "", (a, b), surface) for run in surface.split())
    percent = rules.percent.match(text, b) if kind == "cardinal" and rules.percent is not None else None
    if kind == "cardinal" and rules.before_percent is not None:
        percent = percent or rules.before_percent.search(text[max(0, a - 8) : a])
    kind = "percent" if percent else kind
    if kind == "percent" and value == 100:
        certainty = WEAK  # wholly
    article = number.form == "article" or part_of_word or (not digits and value == 0)
    made = Quantity(
        value, kind, "", (a, b), text[a:b], certainty, number.localised, also=also, parts=parts, lexical=article
    )  # fmt: skip
    return _measured(text, made, rules) if kind in ("cardinal", "percent") else made


@lru_cache(4096)
def _exactly(value: Decimal) -> Fraction:
    return Fraction(value)


def _is_weak(text: str, span: tuple[int, int], value: Decimal, number: Number, rules: Rules) -> bool:
    """Whether a number in words may be left unsaid: a small one, an ordinal, a round one that is vague."""
    if number.kind == "ordinal" or number.form in ("article", "roman") or value in (0, 1, 2):
        return True
    is_round = value in _ROUND
    if is_round and len(text[slice(*number.span)].split()) <= 2:
        return True
    tens = is_round or (value >= 10 and str(_exactly(value)).strip("0") == "1")  # tens of billions
    return tens and rules.vague is not None and rules.vague.search(text[max(0, span[0] - 24) : span[0]]) is not None


def _is_power_of_unit(text: str, start: int) -> bool:
    """The 2 of *135 m2*."""
    if not text[max(0, start - 3) : start].rstrip().endswith(("m", "м")):
        return False
    return re.search(r"(?:\d ?|[/.] ?)[ckdкс]?[mм]$|/[ck]?m $", text[max(0, start - 5) : start]) is not None


def _is_name(text: str, end: int, rules: Rules) -> bool:
    """Whether an ordinal stands in a rank or a name (*3rd party*), which other languages say without it."""
    following = re.match(r"[ -]?([^\W\d_]{1,20})", text[end : end + 24])
    return following is not None and following[1].lower() in rules.data.get("ordinal_names", ())


def _measured(text: str, quantity: Quantity, rules: Rules) -> Quantity:
    """*quantity* with the unit that stands beside it."""
    a, b = quantity.span
    if quantity.kind == "percent":
        return quantity
    permille = rules.permille.match(text, b)
    if permille:
        return replace(quantity, kind="permille")
    ahead = text[max(0, a - 8) : a]
    before = rules.before.search(ahead) if ahead.rstrip(_AFTER_SIGN)[-1:] in rules.before_ends else None
    if before is not None and before.lastgroup is not None:
        name = rules.before_names[int(before.lastgroup[1:])]
        if scale := {"k": 1000, "m": 10**6}.get((re.match("[mk](?![A-Za-z])", text[b : b + 2]) or " ")[0]):
            return replace(
                quantity,
                value=quantity.value * scale,
                kind="money",
                unit=name,
                span=(a, b + 1),
                surface=text[a : b + 1],
            )
        return replace(quantity, kind="money", unit=name)
    after = rules.unit(text, b)
    of = rules.of.match(text, b) if after is None and rules.of is not None else None
    if of and (quantity.value >= 10**6 or quantity.value < 1):
        after = rules.unit(text, of.end())
    if after is None and quantity.value.denominator == 2:
        after = _unit_within(text, a, b, rules)
    if after is None or after.lastgroup is None:
        inner = _unit_of_word(quantity.surface, rules)
        if inner == "percent":
            return replace(quantity, kind="percent")
        return replace(quantity, kind="measure", unit=inner) if inner else quantity
    name = rules.unit_names[int(after.lastgroup[1:])]
    if name == "second" and quantity.lexical and re.match(r" [^\W\d]", text[after.end() :][:2]):
        return quantity  # a second tree
    if name == "degree" and (symbol := _SCALE_OF_DEGREES.search(text[max(0, a - 4) : a])):
        name = list(shared_data()["before_degrees"])[int((symbol.lastgroup or "s0")[1:])]
    kind: Kind = "money" if name.isupper() or name in ("yen", "rupee") else "measure"
    if name in ("inch", "foot") and after[0].strip() in _QUOTES and not _opens_nothing(text, a, after):
        return quantity  # a closing quotation mark
    also = quantity.also
    if after[0] == "m":
        also += (quantity.value * 10**6,)
    closing = (
        name in ("inch", "foot")
        and after[0].strip() in _QUOTES
        and re.search('["“„”]', text[max(0, a - 300) : a - 1]) is not None
    )
    return replace(quantity, kind=kind, unit=name, also=also, lexical=False, soft=closing)


#: Before the number: 摂氏90度.
_SCALE_OF_DEGREES = re.compile(f"(?:{_groups('s', shared_data()['before_degrees'].values())}) ?$")
_QUOTES = ('"', "'", "”", "''")


def _unit_of_word(word: str, rules: Rules) -> str:
    """The unit in a word that a number begins: *dreistündig*, *пятилетний*."""
    found = rules.in_words.search(word) if rules.in_words is not None and word.isalpha() else None
    return rules.in_words_names[int(found.lastgroup[1:])] if found is not None and found.lastgroup else ""


def _unit_after(text: str, end: int, rules: Rules) -> str:
    found = rules.unit(text, end)
    return rules.unit_names[int(found.lastgroup[1:])] if found is not None and found.lastgroup else ""


def _unit_within(text: str, start: int, end: int, rules: Rules) -> re.Match[str] | None:
    """The unit before a half: *deux heures et demie*, 二時間半."""
    if rules.han:
        inner = re.match(rf"[\d{_HAN}百千]{{1,12}}", text[start:end])
    else:
        words = "|".join(language_data(rules.lang).get("half_after", ()))
        inner = re.search(f" (?=(?:{words}) )", text[start:end]) if words else None
    return rules.unit(text, start + inner.end()) if inner else None


def _opens_nothing(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a quotation mark after a number closes nothing that was opened, and so is the sign of inches."""
    opening = {"”": "“", '"': '"', "'": "'", "''": "''"}[mark[0].strip()]
    return text.count(opening, max(0, start - 300), start) % 2 == 0


_COMPOUND = {("foot", "inch"): 12, ("hour", "minute"): 60, ("minute", "second"): 60, ("pound", "ounce"): 16,
             ("stone", "pound"): 14, ("year", "month"): 12, ("meter", "centimeter"): 100}  # fmt: skip


def _joined(text: str, found: list[Quantity], percent_first: bool) -> list[Quantity]:
    """Neighbours that share a unit or a scale (*3 to 5 million km*), and amounts in two units (*6 ft 2 in*)."""
    result: list[Quantity] = []
    for quantity in reversed(found):
        after = result[-1] if result else None
        if after is None or after.span[0] - quantity.span[1] > 18 or quantity.lexical or after.lexical:
            result.append(quantity)
            continue
        gap = text[quantity.span[1] : after.span[0]]
        factor = _COMPOUND.get((quantity.unit, after.unit)) if quantity.kind == after.kind == "measure" else None
        if factor and after.value < factor and len(gap) < 14 and not _APART.search(gap):
            whole = (quantity.span[0], after.span[1])
            result[-1] = Quantity(
                quantity.value + after.value / factor, "measure", quantity.unit, whole, text[slice(*whole)],
                parts=(quantity, after),
            )  # fmt: skip
            continue
        if quantity.unit == "meter" and not after.unit and re.fullmatch(r" \w{1,8} ", gap) and after.value < 100:
            whole = (quantity.span[0], after.span[1])
            result[-1] = Quantity(quantity.value + after.value / 100, "measure", "meter", whole, text[slice(*whole)])
            continue
        if _is_year(quantity) and gap.strip() in ("-", "–", "—", "/") and re.fullmatch(r"\d\d", after.surface):
            full = quantity.value // 100 * 100 + after.value  # 1981-87
            if full > quantity.value:
                result[-1] = after = replace(after, value=full, also=(*after.also, after.value))
        if percent_first and quantity.kind == "percent" and after.kind == "cardinal" and _TO.fullmatch(gap):
            result[-1] = after = replace(after, kind="percent")  # yüzde 30 ila 43
        result.append(_shared(quantity, after, gap) if _JOIN.fullmatch(gap) else quantity)
    return result[::-1]


_RANGED = frozenset({"cardinal", "percent", "permille", "money", "measure", "date", "clock"})


def _ranged(text: str, found: list[Quantity]) -> list[Quantity]:
    """*found* with what stands between the ends of a range as one quantity. *4-1* is a score."""
    result: list[Quantity] = []
    for quantity in found:
        low = result[-1] if result else None
        if low is None or low.kind != quantity.kind or low.kind not in _RANGED or low.lexical or quantity.lexical:
            result.append(quantity)
            continue
        start, end = low.span[1], quantity.span[0]
        between = _BETWEEN.search(text[max(0, low.span[0] - 16) : low.span[0]])
        upwards = low.value < quantity.value or (between and low.value != quantity.value)
        if 0 < end - start < 12 and upwards and (_AND if between else _TO).fullmatch(text, start, end):
            span = (low.span[0], quantity.span[1])
            certainty = max(low.certainty, quantity.certainty)
            result[-1] = Quantity(
                low.value, "range", quantity.unit, span, text[slice(*span)], certainty, parts=(low, quantity)
            )
        else:
            result.append(quantity)
    return result


def _is_year(quantity: Quantity) -> bool:
    return quantity.unit in ("", "year") and quantity.value.denominator == 1 and 1000 <= quantity.value < 2200


def _shared(quantity: Quantity, after: Quantity, gap: str) -> Quantity:
    if quantity.kind not in ("cardinal", "money") or (quantity.unit and quantity.kind != "money"):
        return quantity
    if after.kind == "clock" and quantity.value.denominator == 1 and quantity.value <= 24:
        return replace(quantity, kind="clock", value=quantity.value * 60, unit="", parts=(quantity,))
    also = quantity.also
    if after.value > quantity.value:
        scaled = any(c.isalpha() for c in after.surface) and not any(c.isalpha() for c in quantity.surface)
        thousands = "-" in gap and after.value % 1000 == 0
        steps = _SCALES if scaled else _SCALES[:1] if thousands else ()
        most = 10**4 if re.search("[万億亿萬千]", after.surface) else 10**3  # before the scale word
        also += tuple(quantity.value * step for step in steps if after.value / most <= step <= after.value)
    if after.kind in ("percent", "permille", "money", "measure") and not quantity.unit and not _is_year(quantity):
        return replace(quantity, kind=after.kind, unit=after.unit, soft=True, also=also)
    return replace(quantity, also=also)
