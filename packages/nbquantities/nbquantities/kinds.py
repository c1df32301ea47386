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
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from babel import Locale
from babel.units import format_unit

from nbquantities.language import base_language, check_text, language_data, read_yaml
from nbquantities.normalise import Normal, normalise
from nbquantities.numerals import Number, find_numbers
from nbquantities.tokenise import Remembered

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
    masked, found = _claimed(rules.patterns["dotted"].sub(".", text) if "・" in text else text, rules)
    numbers = find_numbers(masked, lang)
    covered = _worded(masked, numbers, found, rules)
    covered.update(
        i
        for i, number in enumerate(numbers)
        if _POWER_OF_UNIT.search(text[max(0, number.span[0] - 5) : number.span[0]])
    )
    found += [_quantity(text, number, rules) for i, number in enumerate(numbers) if i not in covered]
    found.sort(key=lambda quantity: quantity.span)
    if any(quantity.kind == "always" for quantity in found):
        found = [replace(q, certainty=WEAK) if (q.value, q.unit) in ALWAYS else q for q in found]
    if not found:
        return []
    found = _joined(text, found, "before_percent" in rules.data)
    for span, _ in rules.idioms.finditer(text):
        for i in _within(found, *span):
            found[i] = replace(found[i], certainty=WEAK, lexical=True)
    return _ranged(text, found)


_Spanned = TypeVar("_Spanned", Number, Quantity)


def _within(items: Sequence[_Spanned], start: int, end: int) -> range:
    """The places of the *items* of which a part stands between two characters."""
    first = bisect_right(items, start, key=lambda item: item.span[1])
    return range(first, bisect_left(items, end, lo=first, key=lambda item: item.span[0]))


def _worded(text: str, numbers: Sequence[Number], found: list[Quantity], rules: Rules) -> set[int]:
    """Add the words that mean a number to *found*; the places of the *numbers* that they cover."""
    covered: set[int] = set()
    for (a, b), ((value, *also), unit) in rules.words.finditer(text):
        overlapping = _within(numbers, a, b)
        spans = [numbers[i].span for i in overlapping]
        if all(a <= s[0] and s[1] <= b and (unit or s != (a, b)) for s in spans):
            covered.update(overlapping)
            unit = unit or _unit_of_word(text[a:b], rules)
            if not unit and 0 < value < 1:
                unit, _ = rules.unit(text, b) or ("", b)
            kind: Kind = "always" if unit == "always" else "measure" if unit else "cardinal"
            unit = "" if kind == "always" else unit
            found.append(Quantity(value, kind, unit, (a, b), text[a:b], WEAK, lexical=True, also=tuple(also)))
    return covered


def has_word_for_few(text: str, lang: str) -> bool:
    """Whether a word of *text* says a small number without naming it.

    >>> has_word_for_few("ein paar Leute", "de"), has_word_for_few("zwei Leute", "de")
    (True, False)
    """
    return _rules(base_language(lang)).patterns["few"].search(text) is not None


def with_ends(quantities: Iterable[Quantity]) -> list[Quantity]:
    """Quantities with the two ends of each range in its place.

    >>> [str(q.value) for q in with_ends(find_quantities("3 to 5 km, 7 kg", "en"))]
    ['3', '5', '7']
    """
    return [part for q in quantities for part in (q.parts if q.kind == "range" else (q,))]


# ----------------------------------------------------------------------------
# The rules of a language.

_Handler: TypeAlias = "Callable[[re.Match[str], Rules], list[Quantity]]"


class Lookup:
    """Patterns, each with what it means: the first that matches holds. Tried are those that the letter may begin."""

    def __init__(self, patterns: Sequence[tuple[Any, str]], start: str = "", flags: int = 0):
        self.meanings = [meaning for meaning, _ in patterns]
        known = [(_held(parser.parse(each))[0], i, each) for i, (_, each) in enumerate(patterns)]
        letters: set[str] = set().union(*(first for first, *_ in known))
        tried = {
            letter: [(i, each) for first, i, each in known if not first or letter in first] for letter in letters | {""}
        }
        self._tried = {
            letter: re.compile("|".join(f"(?P<g{i}>{each})" for i, each in some) or "(?!)", flags)
            for letter, some in tried.items()
        }
        begins = {letter: re.escape(letter) if letter != "0" else r"\d" for letter in sorted(letters)}
        ahead = f"(?=[{''.join(begins.values())}])" if letters and not tried[""] else ""
        scanned = [f"(?={begins[letter]})(?:{'|'.join(each for _, each in tried[letter])})" for letter in begins]
        scanned += [each for _, each in tried[""]]
        self._scanned = re.compile(f"{ahead}{start}(?:{'|'.join(scanned) or '(?!)'})", flags)

    def match(self, text: str, at: int) -> tuple[int, Any] | None:
        """Where the pattern that matches at a place ends, and what it means."""
        tried = self._tried.get(_LETTERS[text[at : at + 1]]) or self._tried[""]
        found = tried.match(text, at)
        return None if found is None else (found.end(), _meant(found, self.meanings))

    def finditer(self, text: str) -> Iterator[tuple[tuple[int, int], Any]]:
        """The spans of all matches, one after the other, and what they mean."""
        for scanned in self._scanned.finditer(text):
            found = self.match(text, scanned.start())
            if found is not None:
                yield scanned.span(), found[1]


def _meant(match: re.Match[str], meanings: Sequence[Any]) -> Any:
    """What the last group of *match*, which has a letter and a number, means."""
    return meanings[int((match.lastgroup or "g0")[1:])]


@cache
def shared_data() -> dict[str, Any]:
    return read_yaml(DATA / "units.yaml")


#: What may stand between a sign of money and a number.
_AFTER_SIGN = " \n\u00a0\u2009\u202f\u3000.-−"
_SPACE = "[ \u00a0\u2009\u202f\u3000]"
#: The 2 of *135 m2*.
_POWER_OF_UNIT = re.compile(r"(?:(?:\d ?|[/.] ?)[ckdкс]?[mм]|/[ck]?m )$")
_BEFORE_UNIT = re.compile(f"\\.?{_SPACE}?-?")
#: Lists of words of a language, and what stands before and after one of them.
_AROUND = {
    "scales": (f"{_SPACE}?", "END"),
    "permille": (f"{_SPACE}?", ""),
    "percent": (f"{_SPACE}?-?", ""),
    "before_percent": (r"(?<!\w)", f"{_SPACE}?$"),
    "day_parts": ("START", "END"),
    "few": ("START", "END"),
    "vague_before": (r"(?<!\w)", r"\s+$"),
    "dotted": (r"(?<=^[0０])・(?=\d)|(?<=[^\d][0０])・(?=\d)|(?<=\d)・(?=\d{1,3}", ")"),
    "in_words": ("", r"[\w\u093e-\u094d\u0bbe-\u0bcd]{0,4}$"),
    "of": (_SPACE, ""),
}


class Rules:
    """What surrounds and replaces numbers in one language."""

    def __init__(self, lang: str):
        numbers, common = language_data(lang), shared_data()
        self.lang, self.han = lang, numbers.get("script") == "han"
        self.data: dict[str, Any] = numbers.get("quantities", {})
        data, clock = self.data, self.data.get("clock", {})
        start, end = ("", "") if self.han else (r"(?<!\w)", r"(?!\w)")
        units = [(name, f"(?:{each})(?![A-Za-zÀ-ɏ0-9])") for name, each in _pairs(common["symbols"])]
        units += [(name, f"(?i:{each}){end}") for name, each in [*_pairs(data.get("units", {})), *_cldr_units(lang)]]
        units = list(dict.fromkeys(units))
        units.sort(key=lambda unit: (-len(re.findall("[ /]", unit[1])), -_length(unit[1])))  # miles per hour first
        self.units = Lookup(units)
        before = [(name, each.replace(" ", _SPACE)) for name, each in _pairs(data.get("before", {}), common["before"])]
        before.sort(key=lambda unit: -len(unit[1]))
        self.before = re.compile(f"(?<![A-Za-z])(?:{_groups(each for _, each in before)})[-−]?$")
        self.before_names = [name for name, _ in before]
        self.before_ends = frozenset(c for _, each in before for c in each)
        words = [(_meaning(value), each + end) for value, each in _pairs(data.get("words", {}))]
        idioms = [("", each + end) for each in data.get("idioms", ())]
        self.words, self.idioms = (
            Lookup(sorted(each, key=lambda word: -len(word[1])), start, re.IGNORECASE) for each in (words, idioms)
        )
        lists = {
            **data,
            "permille": ["‰", *data.get("permille", ())],
            "day_parts": [word for _, word in _pairs(clock.get("day_parts", {}))],
            "scales": [_groups(data["scales"])] if "scales" in data else (),
            "in_words": [_groups(data["in_words"].values())] if "in_words" in data else (),
        }
        self.patterns = {
            name: _alternatives(lists.get(name, ()), *(p.replace("START", start).replace("END", end) for p in around))
            for name, around in _AROUND.items()
        }
        self.months = _months(lang, data)
        self.month_stems = {stem: month for month, stem in _pairs(data.get("month_stems", {}))}
        self.notations = list(_notations(self))
        self.in_words = [notation for notation in self.notations if not notation.at_digits]

    def unit(self, text: str, at: int) -> tuple[str, int] | None:
        """The unit that begins at a place, after a point, a space or a hyphen, and where it ends."""
        begin = _BEFORE_UNIT.match(text, at)
        found = self.units.match(text, begin.end() if begin else at)
        return None if found is None else (found[1], found[0])


_rules = cache(Rules)


def _pairs(*tables: Mapping[Any, Iterable[str]]) -> list[tuple[Any, str]]:
    """Each pattern of *tables* with its key."""
    return [(key, each) for table in tables for key, patterns in table.items() for each in patterns]


def _length(pattern: str) -> int:
    """The length of a pattern without what it looks ahead for."""
    return len(re.sub(r"\(\?[=!][^)]*\)", "", pattern))


def _groups(patterns: Iterable[str]) -> str:
    return "|".join(f"(?P<g{i}>{pattern})" for i, pattern in enumerate(patterns))


def _alternatives(patterns: Iterable[str], before: str, after: str) -> re.Pattern[str]:
    words = "|".join(sorted(map(str, patterns), key=len, reverse=True))
    return re.compile(f"{before}(?:{words}){after}" if words else "(?!)", re.IGNORECASE)


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

_RUN = re.compile(r"\d+")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_HAN = "〇零一二两兩三四五六七八九十"
_NOON = 720


def _claimed(text: str, rules: Rules) -> tuple[str, list[Quantity]]:
    """*text* with what the notations take as their own hidden, and what they found in it."""
    found: list[Quantity] = []
    alike, runs = _alike(text), [match.start() for match in _RUN.finditer(text)]
    for pattern, reads, at_digits, part, others in rules.notations if runs else rules.in_words:
        if part not in alike and not (others and any(map(alike.__contains__, others))):
            continue
        pieces, done = [], 0
        for match in filter(None, (pattern.match(text, at) for at in runs)) if at_digits else pattern.finditer(text):
            quantities = reads(match, rules) if match.start() >= done else []
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
    """What reads the matches of a pattern, whether each begins with a digit, and a string or others that it holds."""

    pattern: re.Pattern[str]
    reads: _Handler
    at_digits: bool
    part: str
    others: Collection[str]


def _alike(text: str) -> str:
    """*text* with one spelling for what patterns take for the same: letters of either case, and digits."""
    return _DIGIT.sub("0", text.casefold().replace("ı", "i").replace("\u0307", ""))


_DIGIT = re.compile(r"[\d⁰¹²³⁴-⁹₀-₉¼-¾⅐-⅞]")
_LETTERS = Remembered(lambda character: _alike(character)[:1])


def _held(items: Iterable[tuple[Any, Any]]) -> tuple[set[str], set[str]]:
    """What a parsed pattern tells of its matches, spelled as by `_alike`; nothing if it cannot be told.

    The letters that one may begin with, and strings of which each match holds one.

    >>> def held(pattern): return [sorted(each) for each in _held(parser.parse(pattern))]
    >>> held(r"\\d{1,2} o.clock"), held("(?<!x)(?:half|a half) past"), held(r"\\d?x*")
    ([['0'], ['clock']], [['a', 'h'], [' past']], [[], []])
    """
    run, begins, at_start, best = "", set[str](), True, set[str]()
    for operator, given in items:
        first: set[str] = set()
        held: set[str] = set()
        if operator is parser.LITERAL:
            run += _alike(chr(given))
            first, held = {_alike(chr(given))[:1]}, {run}
        elif operator in (parser.SUBPATTERN, parser.ASSERT):
            first, held = _held(given[-1])
        elif operator in (parser.MAX_REPEAT, parser.POSSESSIVE_REPEAT):
            first, held = _held(given[2])
        elif operator is parser.BRANCH:
            branches = zip(*map(_held, given[1]), strict=True)
            first, held = (set().union(*each) if all(each) else set() for each in branches)
        elif operator is parser.IN:
            first = held = {_member(*each) for each in given}
        optional = operator in (parser.MAX_REPEAT, parser.POSSESSIVE_REPEAT) and not given[0]
        if operator not in (parser.LITERAL, parser.AT, parser.ASSERT_NOT):
            run = ""
        if at_start and operator not in (parser.AT, parser.ASSERT, parser.ASSERT_NOT):
            begins = begins | first if first and "" not in first else {""}
            at_start = optional and "" not in begins
        if held and "" not in held and not optional:
            held = {part for part in held if not any(other in part and other != part for other in held)}
            best = max(best, held, key=lambda parts: (min(map(_rarity, parts), default=0), -len(parts)))
    return begins if not at_start and "" not in begins else set(), best


def _rarity(part: str) -> int:
    return 4 if part == "0" else len(part)


def _member(kind: Any, value: Any) -> str:
    """What a member of a class of characters stands for: one character, a digit, or nothing that can be told."""
    if kind is parser.LITERAL:
        return _alike(chr(value))
    digits = value is parser.CATEGORY_DIGIT or (kind is parser.RANGE and all(chr(end).isnumeric() for end in value))
    return "0" if digits else ""


def _notations(rules: Rules) -> Iterator[Notation]:
    """The rules of ``common/notations.yaml`` in one language."""
    data = read_yaml(DATA / "notations.yaml")
    clock = rules.data.get("clock", {})
    own = {**data["tables"], **rules.data, **clock, "clock_words": clock.get("words", {})}
    parts = {**data["parts"], **_language_parts(rules)}
    for rule in data["rules"]:
        name, pattern = next(iter(rule.items()))
        given = {key: rule[key] for key in rule.keys() - {name, "if", "each", "case", "words"}}
        words = {}
        if table := own.get(rule.get("words")):
            pairs = _values_of_words(table)
            given["values"] = [value for value, _ in pairs]
            words = {"words": _groups(word for _, word in pairs)}
        filled = _filled(pattern, {**parts, **words}) if "if" not in rule or f"if {rule['if']}" in parts else None
        for each in own.get(rule["each"], ()) if "each" in rule else [""]:
            if filled is not None:
                whole = filled.replace("{each}", each)
                flags = re.IGNORECASE if rule.get("case") == "any" else 0
                reads = partial(globals()[f"_{name}"], **given)
                part, *others = _held(parser.parse(whole, flags))[1] or [""]
                yield Notation(re.compile(whole, flags), reads, whole.startswith(r"(?=\d)"), part, others)


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
    data, clock = rules.data, rules.data.get("clock", {})
    parts = {name: "|".join(words) for name, words in {**data, **clock}.items() if words and isinstance(words, list)}
    parts["any_oclock"] = parts.get("oclock", "(?!)")
    parts["numerals"] = "".join(f"|{each}" for each in sorted(data.get("numerals", ()), key=len, reverse=True))
    parts |= {"if han": "", "boundary": ""} if rules.han else {"if spaced": ""}
    if clock.get("norm") == 24:
        parts["if hours_24"] = ""
    if months := sorted({form for name in rules.months for form in (name, name.title(), name.upper())}):
        stems = [rf"(?i:{re.escape(stem)})\w{{0,6}}" for stem in rules.month_stems]
        parts["months"] = "|".join([*sorted(map(re.escape, months), key=len, reverse=True), *stems])
    if "month_tails" in parts:
        parts["month_tails"] = f"|(?={parts['month_tails']})"
    if combining := data.get("combining"):
        parts["combining_numerals"] = "|".join(sorted(_combining_values(rules.lang), key=len, reverse=True))
        parts["combining_units"] = "|".join(f"(?P<{name}>{stem})" for name, stem in combining["units"].items())
    return parts


def _hidden(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, 0, "identifier", certainty=WEAK)] if re.search(r"\d", match[0]) else []


def _amount(
    match: re.Match[str],
    rules: Rules,
    kind: Kind,
    unit: str = "",
    of: Mapping[str, str] = MappingProxyType({}),
    parts: Mapping[str, str] = MappingProxyType({}),
    values: Sequence[int] = (),
    certainty: float = 1.0,
) -> list[Quantity]:
    """The value of a word, or the sum of the groups in *of*, times its factor; *parts*: groups with their units."""
    value = Fraction(_value(match, values)) if values else Fraction(0)
    for group, factor in of.items():
        text = (match[group] or "0").replace(",", ".")
        value += Fraction(factor) * (Fraction(text) if "." in text else _integer(text, rules) or 0)
    inner = tuple(_made(match, int(match[group]), kind, name) for group, name in parts.items())
    return [_made(match, value, kind, unit, certainty=certainty, parts=inner)]


def _integer(text: str, rules: Rules, *, ordinals: bool = True) -> int | None:
    """A small whole number in digits or words."""
    if text.isdecimal():
        return int(text)
    found = find_numbers(text, rules.lang)
    whole = len(found) == 1 and found[0].value == int(found[0].value) and (ordinals or found[0].kind == "cardinal")
    return int(found[0].value) if whole else None


def _power(match: re.Match[str], rules: Rules) -> list[Quantity]:
    factor = Fraction((match["factor"] or "1").replace(",", "."))
    power = int(re.sub(r"[\^{}]", "", match["power"]).translate(_SUPERSCRIPT).replace("−", "-"))
    if abs(power) > 300:
        return [_made(match, power, "identifier")]
    return [_measured(match.string, _made(match, factor * Fraction(10) ** power, "power"), rules)]


def _clock(match: re.Match[str], rules: Rules) -> list[Quantity]:
    got, clock = {name: text for name, text in match.groupdict().items() if text}, rules.data.get("clock", {})
    written = got.get("h", got.get("w", ""))
    hour = rules.data.get("numerals", {}).get(written) or _integer(written, rules)
    written = got.get("m", got.get("mm", ""))
    minute = _integer(written, rules) if written else 30 if "half" in got else 0
    if "quarter" in got:
        minute = 15 * (_integer(got["quarter"][0], rules) or 0)
    marked = "am" in got or "pm" in got
    if hour is None or hour > 24 or minute is None or minute > 59 or ("dot" in got and not (marked or "oclock" in got)):
        return []
    if "pm" in got and hour < 12 and not (hour < 6 and re.search(clock.get("night", "(?!)"), got["pm"])):
        hour += 12
    elif "am" in got and hour == 12:
        hour = 0
    by_24 = clock.get("norm") == 24 and (written or "oclock" in got) and "w" not in match.re.groupindex
    exact = marked or hour > 12 or hour == 0 or by_24
    parts = tuple(
        Quantity(Fraction(value), "cardinal", "", match.span(), match[0], WEAK)
        for value in ([hour, minute] if written else [hour])
    )
    return [_made(match, (hour % 24) * 60 + minute, "clock", _half_of_day(match, exact, rules), parts=parts)]


def _half_of_day(match: re.Match[str], exact: bool, rules: Rules) -> str:
    """24: the time names the half of the day; 12: other words of the text do; empty: nothing does."""
    if exact:
        return "24"
    return "12" if _names_half_of_day(match.string, rules.lang) else ""


@lru_cache(4)
def _names_half_of_day(text: str, lang: str) -> bool:
    return _rules(lang).patterns["day_parts"].search(text) is not None


def _spoken_clock(match: re.Match[str], rules: Rules, value: int) -> list[Quantity]:
    """*half past three*; *value*: minutes after the hour, or 1 and -1 for minutes that are said."""
    clock = rules.data["clock"]
    hour = clock.get("genitive", {}).get(match["hour"].lower()) or _integer(match["hour"], rules)
    if hour is None or not 1 <= hour <= 24:
        return []
    if abs(value) == 1:
        text_of_minutes = match["minutes"].lower()
        count = 15 if clock.get("quarter", "\0") in text_of_minutes else _integer(text_of_minutes, rules)
        if count is None or not 0 < count < 60:
            return []
        value *= count
    return [_made(match, (hour * 60 + value) % _NOON, "clock", _half_of_day(match, False, rules))]


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
    if unit is None or unit[1] != match.end("unit"):
        return []
    return [_made(match, share, "measure", unit[0], certainty=WEAK if share < 1 else 1.0)]


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


def _era(match: re.Match[str], rules: Rules, values: Sequence[int]) -> list[Quantity]:
    year = 1 if match["y"] == "元" else _integer(match["y"], rules) or 0
    return [_made(match, _value(match, values) + year, "date", "year", also=(Fraction(year),))]


def _han_decade(match: re.Match[str], rules: Rules) -> list[Quantity]:
    century = _integer(match["c"], rules) if match["c"] else None
    start = 100 * (century - 1) if century else 0
    tens = re.fullmatch(rf"([{_HAN}])([{_HAN}])十", match["y"])
    if tens:  # 六七十年代
        return [_made(match, start + 10 * (_integer(ten, rules) or 0), "decade") for ten in tens.groups()]
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
    made = [_made(match, _integer(digit, rules) or 0, "cardinal", certainty=WEAK) for digit in match["n"]]
    start = match.start("n")
    return [replace(q, span=(i, i + 1), surface=match.string[i]) for i, q in enumerate(made, start)]


def _about(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """七八十, seventy or eighty."""
    got = match.groupdict()
    found = [find_numbers(f"{got.get('whole') or ''}{digit}{match['u']}", rules.lang) for digit in match["n"]]
    kind: Kind = "percent" if got.get("p") else "approximate"
    return [_made(match, Fraction(number.value), kind, certainty=WEAK) for numbers in found for number in numbers]


def _after_count(match: re.Match[str], rules: Rules) -> list[Quantity]:
    """*社数4.8万社*, where 数 is no *several*."""
    found = find_numbers(match[0], rules.lang)
    if match["n"].strip("0") == "1":
        return []  # 数10億
    return (
        [_measured(match.string, _made(match, Fraction(found[0].value), "cardinal"), rules)] if len(found) == 1 else []
    )


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
    numerator = _integer(match["n"], rules, ordinals=False)  # of a third quarter, not three quarters
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


# ----------------------------------------------------------------------------
# Plain numbers: the unit beside them, and what they share with their neighbours.

#: Said beside *24/7*, or in its place.
ALWAYS = frozenset({(24, "hour"), (7, "day"), (365, "day"), (24, "")})
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
#: What a hyphen before a number joins it to.
_TOUCHED = re.compile(r"\d|[^\W\d_\u3040-\U0010ffff]")
#: A number that begins a text as the mark of a list: *(2)*, *3.*
_MARK = re.compile(r"[ (（]*\d{1,2}[.)）、](?!\d)(?=.?$)")
_IN_PARTS, _LETTERED = map(re.compile, (r"\d{1,2}[.,]\d{1,2}|\d{1,3}(?: \d{3})+", r"\d{1,6}[A-Zk]"))


def _quantity(text: str, number: Number, rules: Rules) -> Quantity:
    a, b = number.span
    value, surface = _exactly(number.value), text[a:b]
    kind: Kind = "roman" if number.kind == "ordinal" and number.form == "roman" else number.kind
    digits = any(map(str.isdecimal, surface))
    if surface[0] in _MINUS and value < 0 and _TOUCHED.match(text[a - 1 : a]):
        value, a = -value, a + 1  # VP−730, 7−20
    counted = (text[b : b + 2].strip()[:1] or " ") in rules.data.get("counters", "")
    part_of_word = rules.han and not digits and b - a == 1 and kind != "percent" and not counted
    weak = part_of_word or (
        _need_no_digits(text, (a, b), value, kind, rules, counted)
        if digits
        else kind != "percent" and _is_weak(text, (a, b), value, number, rules)
    )
    also: tuple[Fraction, ...] = ()
    if digits and kind == "cardinal" and number.form != "scale" and (scale := rules.patterns["scales"].match(text, b)):
        value *= _meant(scale, list(rules.data["scales"].values()))
        b = scale.end()
    if digits and a > 1 and text[a - 1] in "-−－" and surface[0] not in "-−－" and value > 0:
        if text[a - 2] >= "\u3040" and text[a - 2] not in _DATED and not text[a - 2].isdecimal():
            a, value = a - 1, -value  # 距离-5米
        elif text[a - 2].isalpha():
            also += (-value,)  # iodine-131, 碘-131
    if digits and rules.data.get("minus_behind") and re.match(r"-(?:\s|$)", text[b : b + 2]):
        b, value = b + 1, -value
    if rules.data.get("comma_groups") and _COMMA_GROUP.fullmatch(surface):
        also += (value * 1000,)
    if digits and _LETTERED.fullmatch(surface):
        also += (Fraction(int(surface[:-1])),)
    following = text[b : b + 1] or " "
    if len(surface) == 2 and surface.isdecimal() and ((text[a - 1 : a] or " ") in "'’‘" or following in "年后後"):
        also += (1800 + value, 1900 + value, 2000 + value)
    elif rules.han and _HAN_PAIR.fullmatch(surface):
        also += (1900 + value,)  # 九二共识
    elif following in "年년" and 1000 <= value < 2200 and value.denominator == 1:
        return Quantity(value, "date", "year", (a, b), text[a:b], WEAK if weak else 1.0, number.localised)
    runs = re.split("[., ]", surface) if _IN_PARTS.fullmatch(surface) else []
    if kind == "cardinal" and (
        rules.patterns["percent"].match(text, b) or rules.patterns["before_percent"].search(text[max(0, a - 8) : a])
    ):
        kind = "percent"
    quantity = Quantity(
        value,
        kind,
        "",
        (a, b),
        text[a:b],
        WEAK if weak or (kind == "percent" and value == 100) else 1.0,  # wholly
        number.localised,
        also=also,
        parts=tuple(Quantity(Fraction(int(run)), "cardinal", "", (a, b), surface) for run in runs),
        lexical=number.form == "article" or part_of_word or (not digits and value == 0),
    )
    return _measured(text, quantity, rules) if kind == "cardinal" else quantity


def _need_no_digits(text: str, span: tuple[int, int], value: Fraction, kind: Kind, rules: Rules, counted: bool) -> bool:
    """Whether a number in digits may be left unsaid: the mark of a list, a low ordinal, the 8 of *m8*."""
    a, b = span
    before, after = text[a - 1 : a], text[b : b + 1]
    return (
        (rules.han and not a and b < 3 and after == " " and len(text) > b + 1 and not counted)
        or (b - a < 3 and a < 8 and after in (".", ")", "）", "、") and _MARK.match(text[: b + 2]) is not None)
        or (b - a < 3 and after in (")", "）") and before in "(（ ")
        or (kind == "ordinal" and (value < (3 if rules.han else 2) or _is_name(text, b, rules)))
        or (rules.han and text[a:b] in ("1", "１") and after >= "\u3040")  # 1枚ずつ
        or (b - a == 1 and "a" <= before <= "z")
    )


@lru_cache(4096)
def _exactly(value: Decimal) -> Fraction:
    return Fraction(value)


def _is_weak(text: str, span: tuple[int, int], value: Fraction, number: Number, rules: Rules) -> bool:
    """Whether a number in words may be left unsaid: a small one, an ordinal, a round one that is vague."""
    if number.kind == "ordinal" or number.form in ("article", "roman") or value in (0, 1, 2):
        return True
    is_round = value in _ROUND
    if is_round and len(text[slice(*number.span)].split()) <= 2:
        return True
    tens = is_round or (value >= 10 and str(value).strip("0") == "1")  # tens of billions
    return tens and rules.patterns["vague_before"].search(text[max(0, span[0] - 24) : span[0]]) is not None


def _is_name(text: str, end: int, rules: Rules) -> bool:
    """Whether an ordinal stands in a rank or a name (*3rd party*), which other languages say without it."""
    following = re.match(r"[ -]?([^\W\d_]{1,20})", text[end : end + 24])
    return following is not None and following[1].lower() in rules.data.get("ordinal_names", ())


def _measured(text: str, quantity: Quantity, rules: Rules) -> Quantity:
    """*quantity* with the unit that stands beside it."""
    a, b = quantity.span
    if rules.patterns["permille"].match(text, b):
        return replace(quantity, kind="permille")
    ahead = text[max(0, a - 8) : a]
    before = rules.before.search(ahead) if ahead.rstrip(_AFTER_SIGN)[-1:] in rules.before_ends else None
    if before is not None:
        money = replace(quantity, kind="money", unit=_meant(before, rules.before_names))
        scale = re.match("[mk](?![A-Za-z])", text[b : b + 2])
        if scale is None:
            return money
        thousands = 1000 if scale[0] == "k" else 10**6
        return replace(money, value=quantity.value * thousands, span=(a, b + 1), surface=text[a : b + 1])
    after = rules.unit(text, b)
    of = rules.patterns["of"].match(text, b) if after is None else None
    if of and (quantity.value >= 10**6 or quantity.value < 1):
        after = rules.unit(text, of.end())
    if after is None and quantity.value.denominator == 2:
        after = _unit_within(text, a, b, rules)
    if after is None:
        inner = _unit_of_word(quantity.surface, rules)
        if inner == "percent":
            return replace(quantity, kind="percent")
        return replace(quantity, kind="measure", unit=inner) if inner else quantity
    name, end = after
    if name == "second" and quantity.lexical and re.match(r" [^\W\d]", text[end : end + 2]):
        return quantity  # a second tree
    if name == "degree" and (scale_before := _SCALE_OF_DEGREES.search(text[max(0, a - 4) : a])):
        name = _meant(scale_before, list(shared_data()["before_degrees"]))
    kind: Kind = "money" if name.isupper() or name in ("yen", "rupee") else "measure"
    mark = text[b:end].strip()
    quoted = mark in _QUOTES and name in ("inch", "foot")
    if quoted and text.count(_QUOTES[mark], max(0, a - 300), a) % 2:
        return quantity  # a closing quotation mark
    also = quantity.also + ((quantity.value * 10**6,) if text[b:end] == "m" else ())
    soft = quoted and re.search('["“„”]', text[max(0, a - 300) : a - 1]) is not None
    return replace(quantity, kind=kind, unit=name, also=also, lexical=False, soft=soft)


#: Before the number: 摂氏90度.
_SCALE_OF_DEGREES = re.compile(f"(?:{_groups(shared_data()['before_degrees'].values())}) ?$")
#: Marks of inches and feet, and the quotation mark that each may close.
_QUOTES = {"”": "“", '"': '"', "'": "'", "''": "''"}


def _unit_of_word(word: str, rules: Rules) -> str:
    """The unit in a word that a number begins: *dreistündig*, *пятилетний*."""
    found = rules.patterns["in_words"].search(word) if word.isalpha() else None
    return _meant(found, list(rules.data["in_words"])) if found else ""


def _unit_within(text: str, start: int, end: int, rules: Rules) -> tuple[str, int] | None:
    """The unit before a half: *deux heures et demie*, 二時間半."""
    if rules.han:
        inner = re.match(rf"[\d{_HAN}百千]{{1,12}}", text[start:end])
    else:
        words = "|".join(language_data(rules.lang).get("half_after", ()))
        inner = re.search(f" (?=(?:{words}) )", text[start:end]) if words else None
    return rules.unit(text, start + inner.end()) if inner else None


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
        both = factor and after.value < factor and len(gap) < 14 and not _APART.search(gap)
        metres = quantity.unit == "meter" and not after.unit and after.value < 100 and re.fullmatch(r" \w{1,8} ", gap)
        if both or metres:
            value, span = quantity.value + after.value / (factor or 100), (quantity.span[0], after.span[1])
            parts = (quantity, after) if both else ()
            result[-1] = Quantity(value, "measure", quantity.unit, span, text[slice(*span)], parts=parts)
            continue
        if is_year(quantity) and gap.strip() in ("-", "–", "—", "/") and re.fullmatch(r"\d\d", after.surface):
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
        low = result[-1] if result else quantity
        start, end = low.span[1], quantity.span[0]
        alike = low.kind == quantity.kind and low.kind in _RANGED and not low.lexical and not quantity.lexical
        if alike and 0 < end - start < 12:
            between = _BETWEEN.search(text[max(0, low.span[0] - 16) : low.span[0]])
            upwards = low.value < quantity.value or (between and low.value != quantity.value)
            if upwards and (_AND if between else _TO).fullmatch(text, start, end):
                span, certainty = (low.span[0], quantity.span[1]), max(low.certainty, quantity.certainty)
                result[-1] = Quantity(
                    low.value, "range", quantity.unit, span, text[slice(*span)], certainty, parts=(low, quantity)
                )
                continue
        result.append(quantity)
    return result


def is_year(quantity: Quantity) -> bool:
    """Whether it can be a year of our time.

    >>> [is_year(quantity) for quantity in find_quantities("1998, 800 m", "en")]
    [True, False]
    """
    return quantity.unit in ("", "year") and quantity.value.denominator == 1 and 1000 <= quantity.value < 2200


def _shared(quantity: Quantity, after: Quantity, gap: str) -> Quantity:
    if quantity.kind not in ("cardinal", "money") or (quantity.unit and quantity.kind != "money"):
        return quantity
    if after.kind == "clock" and quantity.value.denominator == 1 and quantity.value <= 24:
        return replace(quantity, kind="clock", value=quantity.value * 60, unit="", parts=(quantity,))
    also = quantity.also
    if after.value > quantity.value:
        scaled = any(map(str.isalpha, after.surface)) and not any(map(str.isalpha, quantity.surface))
        steps = _SCALES if scaled else _SCALES[:1] if "-" in gap and after.value % 1000 == 0 else ()
        most = 10**4 if re.search("[万億亿萬千]", after.surface) else 10**3  # before the scale word
        also += tuple(quantity.value * step for step in steps if after.value / most <= step <= after.value)
    if after.kind in ("percent", "permille", "money", "measure") and not quantity.unit and not is_year(quantity):
        return replace(quantity, kind=after.kind, unit=after.unit, soft=True, also=also)
    return replace(quantity, also=also)
