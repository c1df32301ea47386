"""`find_quantities`: the amounts of a text with what they count, on top of `nbquantities.find_numbers`.

Three readers, one after the other, each of which hides what it read from the next: notation that means more than its
digits (clock times, dates, decades, fractions, powers, identifiers); plain numbers with the unit beside them; words
that hold an amount (*fortnight*, *doppelt*, 半年). The words of a language are data: ``quantities/<language>.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial, reduce
from operator import or_
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Literal, NamedTuple, TypeAlias

from babel import Locale
from babel.units import format_unit

from nbquantities.lexicon import Remembered
from nbquantities.number import Number, base_language, check_text, language_data, read_yaml
from nbquantities.reading import find_numbers, may_begin_number, read_numbers, unspaced_reader
from nbquantities.text import Normal, normalise

DATA = Path(__file__).parent / "quantities"

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
    signs = rules.signs
    plain = rules.dotted.sub(".", text) if rules.dotted is not None and "・" in text else text
    told = reduce(or_, set(map(signs.__getitem__, signs.cut(plain))), 0)
    if not told:
        return []
    said = _alike(plain)
    masked, found = _claimed(text, plain, told, said, rules)
    if masked is not plain and _EDGES.search(masked):
        # A word begins or ends where something is hidden, which no word of the text has shown: rule nothing out.
        told = -1
        masked, found = _claimed(text, plain, told, said, rules, every=True)
    if masked is plain:
        numbers = read_numbers(plain, lang) if told & Signs.NUMBER else []
    else:
        numbers = find_numbers(masked, lang)
    covered = _worded(masked, numbers, found, rules) if signs.may_hold_word(told, said) else set()
    for i, number in enumerate(numbers):
        if i not in covered and not _is_power_of_unit(text, number.span[0]):
            found.append(_quantity(text, number, rules))
    found.sort(key=lambda quantity: quantity.span)
    if len(found) > 1:
        found = _joined(text, found, rules.before_percent is not None)
    if any(quantity.kind == "always" for quantity in found):
        found = [replace(q, certainty=WEAK) if (q.value, q.unit) in _ALWAYS else q for q in found]
    idioms = rules.idioms if signs.may_hold_idiom(told, said) else None
    if idioms is not None and not all(quantity.lexical and quantity.certainty == WEAK for quantity in found):
        starts, ends = [q.span[0] for q in found], [q.span[1] for q in found]
        for match in idioms.finditer(text):
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


def says_few(text: str, lang: str) -> bool:
    """Whether a word of *text* says a small number without naming it.

    >>> says_few("ein paar Leute", "de"), says_few("zwei Leute", "de")
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
    signs: Signs
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
def _common() -> dict[str, Any]:
    return read_yaml(DATA / "common.yaml")


#: What may stand between a sign of money and a number.
_AFTER_SIGN = " \n\u00a0\u2009\u202f\u3000.-−"
_SPACE = "[ \u00a0\u2009\u202f\u3000]"
_BEFORE_UNIT = re.compile(f"\\.?{_SPACE}?-?")


@cache
def _rules(lang: str) -> Rules:
    numbers = language_data(lang)
    path = DATA / f"{lang}.yaml"
    data = read_yaml(path) if path.exists() else {}
    han = numbers.get("script") == "han"
    start, end = ("", "") if han else (r"(?<!\w)", r"(?!\w)")
    common = _common()
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
        signs=Signs(lang, han),
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
    return replace(rules, signs=Signs(lang, han, (word for _, word in words), idioms, _claims(rules)))


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
    begins = [(_first_letters(pattern), pattern) for pattern in patterns]
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


def _meaning(said: str) -> tuple[list[Fraction], str]:
    """The values that a word can have, likeliest first, and the unit: 14|15 day for *quinze jours*."""
    if said == "always":
        return [Fraction(0)], "always"
    values, _, unit = str(said).partition(" ")
    return [Fraction(value) for value in values.split("|")], unit


def _cldr_units(lang: str) -> Iterator[tuple[str, str]]:
    """The names that CLDR has for units after a number, as regular expressions, by way of Babel."""
    for name, cldr in _common()["cldr"].items():
        for count in (1, 2, 5, 1.5):
            said = format_unit(count, cldr, length="long", locale=lang)
            word = re.sub(r"^\d(?:[.,]\d)?\s?", "", said)
            if word != said and cldr not in word:  # which Babel writes where it knows no name
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
# What a text must hold for a pattern to match at all: most patterns are passed over for most texts.

#: In `needed`, for any digit.
_A_DIGIT = r"\d"
#: A letter and a digit side by side, as in *A4*, *1980s*, *CO₂*: what `_CODES` finds.
_A_CODE = r"\w\d"
#: Where a word begins or ends; what a pattern only looks ahead for ends with the second.
_EDGE, _AHEAD = "\x02", "\x03"
_WORD_SIGN = [(parser.IN, [(parser.CATEGORY, parser.CATEGORY_WORD)])]
#: By characters, the letter alone tells: Latin, Cyrillic.
_LETTERS = re.compile("[A-Za-zА-Яа-яＡ-Ｚａ-ｚ]")
_CODES = re.compile(r"[^\W\d_][-‐‑－]?\d|\d[^\W\d_]|[₀-₉]")
#: Larger classes of characters tell texts apart too seldom.
_MOST_CHARACTERS = 24
#: Characters that regular expressions take for the same whatever their case, and lower case does not make the same.
_ALIKE = str.maketrans({"ı": "i", "ſ": "s", "ς": "σ", "µ": "μ", "\u0307": None})
_UNLIKE = re.compile("[ıſςµ\u0307]")
#: What a notation may begin with, beside a digit: a phone number, the year '98.
_BEFORE_DIGITS = "+('’‘"
#: How many choices of notations are remembered.
_MOST_CHOSEN = 1000


def needed(pattern: re.Pattern[str]) -> tuple[bool, tuple[str, ...]]:
    """What every match of *pattern* holds: whether a digit, and one of which parts (none: any; `_A_DIGIT`: a digit).

    A part may begin or end with `_EDGE`, where a word begins or ends.

    >>> needed(re.compile(r"(?P<hour>\\d{1,2}) (?:past|to)"))
    (True, (' past', ' to'))
    """
    found = list(_needed(parser.parse(pattern.pattern, pattern.flags)))
    best = max(found, key=_tells, default=frozenset())
    tells = best and best != {_A_DIGIT} and _tells(best)[0] >= 0
    return frozenset([_A_DIGIT]) in found, tuple(sorted(best)) if tells else ()


def _needed(items: Iterable[tuple[Any, Any]]) -> Iterator[frozenset[str]]:
    runs = {""}  # what the signs since the last that could be many can be
    for operator, given in [*items, (None, None)]:
        said = _strings(operator, given)
        if said and len(runs) * len(said) <= _MOST_CHARACTERS:
            runs = _products(runs, said)
            continue
        yield from _run(runs)
        runs = said or {""}
        if said:
            continue
        if operator is parser.IN:
            yield from _characters(given)
        elif operator is parser.SUBPATTERN:
            yield from _needed(given[3])
        elif operator is parser.ASSERT:
            yield from _needed(given[1])
        elif operator in (parser.MAX_REPEAT, parser.POSSESSIVE_REPEAT) and given[0]:
            yield from _needed(given[2])
        elif operator is parser.BRANCH:
            best = [max(_needed(branch), key=_tells, default=None) for branch in given[1]]
            if all(best):
                yield frozenset(part for parts in best for part in parts or ())


def _run(runs: Iterable[str]) -> Iterator[frozenset[str]]:
    """One of the strings, without those that hold another; with the edges of words only at their ends."""
    found = set()
    for run in runs:
        run = run.rstrip(_AHEAD)
        inner = run.replace(_EDGE, "")
        left, right = run[:1] == _EDGE and _is_word(inner[:1]), run[-1:] == _EDGE and _is_word(inner[-1:])
        found.add(_EDGE * left + inner + _EDGE * right)
    if all(found):
        yield frozenset(each for each in found if not any(other in each for other in found - {each}))
        if all(any(map(str.isdecimal, each)) for each in found):
            yield frozenset([_A_DIGIT])


def _words(part: str) -> Iterator[str]:
    """The words of a part, each with the edges that the spaces beside it are."""
    words = part.split()
    for i, word in enumerate(words):
        left, right = i > 0 or part[0].isspace(), i + 1 < len(words) or part[-1].isspace()
        yield _EDGE * (left and _is_word(word[0])) + word + _EDGE * (right and _is_word(word[-1]))


def _sought(part: str) -> str:
    """A pattern of a part, with its edges."""
    if part == _A_DIGIT:
        return part
    return r"(?<!\w)" * (part[:1] == _EDGE) + re.escape(part.strip(_EDGE)) + r"(?!\w)" * (part[-1:] == _EDGE)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _strings(operator: Any, given: Any) -> set[str]:
    """All that an item of a pattern can match, if that is little: *four[ -]seasons?* is one of four."""
    if operator is parser.LITERAL:
        return {_alike(chr(given))}
    if operator in (parser.AT, parser.ASSERT_NOT):
        return {_EDGE if operator is parser.ASSERT_NOT and list(given[1]) == _WORD_SIGN else ""}
    if operator is parser.ASSERT and given[0] > 0:
        return {run + _AHEAD for run in _sequence(given[1])}
    if operator is parser.IN:
        return {part for parts in _characters(given) for part in parts if _A_DIGIT not in parts}
    if operator is parser.SUBPATTERN:
        return _sequence(given[3])
    if operator is parser.BRANCH:
        branches = [_sequence(branch) for branch in given[1]]
        return set().union(*branches) if all(branches) else set()
    if operator is parser.MAX_REPEAT and given[:2] == (0, 1):
        return {"", *said} if (said := _sequence(given[2])) else set()
    return set()


def _sequence(items: Iterable[tuple[Any, Any]]) -> set[str]:
    found = {""}
    for operator, given in items:
        found = _products(found, _strings(operator, given))
        if len(found) > _MOST_CHARACTERS:
            return set()
    return found


def _products(runs: Iterable[str], said: Collection[str]) -> set[str]:
    """Each of *runs* with each of *said* after it; what a pattern looks ahead for is where the next begins, too."""
    return {run if run.endswith(_AHEAD) else run + each for run in runs for each in said}


def _characters(given: Iterable[tuple[Any, Any]]) -> Iterator[frozenset[str]]:
    """The characters of a class, if they are few."""
    found: set[str] = set()
    for operator, value in given:
        if operator is parser.LITERAL:
            found.add(_alike(chr(value)))
        elif operator is parser.RANGE and value[1] - value[0] < _MOST_CHARACTERS:
            found |= {_alike(chr(c)) for c in range(value[0], value[1] + 1)}
        elif operator is parser.CATEGORY and value is parser.CATEGORY_DIGIT:
            found.add(_A_DIGIT)
        else:
            return
    found = {_A_DIGIT if part.isdecimal() else part for part in found}
    if len(found) <= _MOST_CHARACTERS:
        yield frozenset(found)


def _tells(parts: frozenset[str]) -> tuple[int, int]:
    """How well it tells texts apart: long and few parts first, then digits, then single Latin letters and spaces."""

    def length(part: str) -> int:
        told = len(part.strip(" -.,、\u00a0\u2009\u202f\u3000"))
        return 0 if part == _A_DIGIT else -1 if not told or (told == 1 and part.isascii() and part.isalnum()) else told

    return min(map(length, parts)), -len(parts)


def _begins_with_digit(items: Iterable[tuple[Any, Any]]) -> bool:
    """Whether every match begins with a digit, or one of `_BEFORE_DIGITS`."""
    for operator, given in items:
        if operator is parser.LITERAL:
            return chr(given).isdecimal() or chr(given) in _BEFORE_DIGITS
        if operator is parser.IN:
            return all(_is_digit(*each) for each in given)
        if operator is parser.SUBPATTERN:
            return _begins_with_digit(given[3])
        if operator is parser.BRANCH:
            return all(map(_begins_with_digit, given[1]))
        if operator is parser.MAX_REPEAT:
            begins = _begins_with_digit(given[2])
            if given[0] or not begins:
                return begins
        elif operator not in (parser.ASSERT, parser.ASSERT_NOT):
            return False
    return False


def _is_digit(operator: Any, value: Any) -> bool:
    """Whether a member of a class of characters is a digit, or one of `_BEFORE_DIGITS`."""
    if operator is parser.CATEGORY:
        return value is parser.CATEGORY_DIGIT
    ends = value if operator is parser.RANGE else [value]
    return operator is not parser.NEGATE and all(chr(c).isdecimal() or chr(c) in _BEFORE_DIGITS for c in ends)


def _without_names(pattern: re.Pattern[str]) -> str:
    """A pattern that matches at least wherever *pattern* does, without groups; what a group holds again is one sign."""
    plain = re.sub(r"\(\?P=\w+\)", ".", re.sub(r"\(\?P<\w+>", "(?:", pattern.pattern))
    return f"(?i:{plain})" if pattern.flags & re.IGNORECASE else f"(?:{plain})"


def _alike(text: str) -> str:
    """*text* without differences that patterns pass over where case is none to them."""
    said = text.lower()
    return said.translate(_ALIKE) if _UNLIKE.search(said) else said


class Claim(NamedTuple):
    """A notation: what reads a match of its pattern, one of the parts that every match holds (none: any), and what it
    asks of `Signs`."""

    pattern: re.Pattern[str]
    handler: _Handler
    parts: tuple[str, ...]
    asks: int


class Signs(Remembered[int]):
    """For a word (of a script without spaces: a character), what a text with it may hold.

    In bits: a digit, the beginning of a number; from there on each claim, then each piece of words and idioms.
    """

    DIGIT, NUMBER, CLAIM = 1, 2, 4

    def __init__(
        self,
        lang: str,
        han: bool,
        words: Iterable[str] = (),
        idioms: Iterable[str] = (),
        claims: Iterable[tuple[re.Pattern[str], _Handler]] = (),
    ):
        super().__init__(self._told)
        self._lang, self._han, self._codes = lang, han, _LETTERS if han else _CODES
        self._pieces: dict[str, int] = {}
        self._claims: list[Claim] = []
        self._digits_first, digits_first = 0, []
        sign = self.CLAIM
        for pattern, handler in claims:
            digit, parts = (False, (_A_CODE,)) if handler in (_identifier, _hash) else needed(pattern)
            for part in parts or (_A_DIGIT if digit else "",):
                self._asked(part, sign)
            exact = not {_A_DIGIT, _A_CODE} & set(parts) and (han or any(" " in part.strip() for part in parts))
            checked = tuple({part.strip(_EDGE) for part in parts}) if exact else ()
            self._claims.append(Claim(pattern, handler, checked, sign | self.DIGIT * digit))
            if _begins_with_digit(parser.parse(pattern.pattern, pattern.flags)):
                self._digits_first |= sign
                digits_first.append(_without_names(pattern))
            sign <<= 1
        self._any_digits_first = re.compile(rf"(?=[\d{_BEFORE_DIGITS}])(?:{'|'.join(digits_first)})")
        self._chosen = lru_cache(_MOST_CHOSEN)(self._choose)
        self.may_hold_word = self._any_of(words, sign)
        self.may_hold_idiom = self._any_of(idioms, sign << len(self._pieces))
        #: The words of a text, or its characters, without many that say nothing.
        self.cut: Callable[[str], list[str]] = list if han else str.split
        if han and "" not in self._pieces:
            own = "".join(map(re.escape, sorted({*"".join(self._pieces), *map(chr, _ALIKE)} - {_EDGE})))
            self.cut = re.compile(
                rf"{_LETTERS.pattern}|[\d{own}İ]|{unspaced_reader(lang).present.pattern}", re.IGNORECASE
            ).findall

    def _any_of(self, patterns: Iterable[str], sign: int) -> Callable[[int, str], bool]:
        """Whether a text with some signs holds a part of what one of *patterns*, which are whole words, matches."""
        of: dict[str, set[str]] = defaultdict(set)
        for each in patterns:
            digit, parts = needed(re.compile(each if self._han else rf"(?<!\w)(?:{each})(?!\w)", re.IGNORECASE))
            for part in parts or (_A_DIGIT if digit else "",):
                of[self._piece(part)].add("" if part == _A_DIGIT else part.strip(_EDGE))
        signs = {self._asked(piece, sign << i): parts for i, (piece, parts) in enumerate(of.items())}
        every = reduce(or_, signs, 0)

        @lru_cache(_MOST_CHOSEN)
        def chosen(told: int) -> frozenset[str]:
            return frozenset(part for sign, parts in signs.items() if sign & told for part in parts)

        def may_hold(told: int, said: str) -> bool:
            told &= every
            return told != 0 and any(map(said.__contains__, chosen(told)))

        return may_hold

    def _asked(self, part: str, sign: int) -> int:
        piece = self._piece(part)
        self._pieces[piece] = self._pieces.get(piece, 0) | sign
        return sign

    def _piece(self, part: str) -> str:
        """What of a part one word, or character, holds."""
        if self._han and part not in (_A_DIGIT, _A_CODE):
            return part.strip(_EDGE).strip()[-1:]
        return max(_words(part), key=len, default="")

    def _told(self, word: str) -> int:
        digit = _DIGIT.search(word) is not None
        said = _alike(word) + _A_DIGIT * digit + _A_CODE * (self._codes.search(word) is not None)
        told = self.DIGIT * digit | self.NUMBER * may_begin_number(word, self._lang)
        for piece, signs in self._pieces.items():
            if piece.strip(_EDGE) in said and (_EDGE not in piece or re.search(_sought(piece), said)):
                told |= signs
        return told

    def in_digits(self, told: int, text: str) -> bool:
        """Whether *text*, which has these signs, may hold a notation that begins with a digit."""
        return told & self.DIGIT != 0 and self._any_digits_first.search(text) is not None

    def claims(self, told: int, digits_first: bool) -> tuple[Claim, ...]:
        """The claims that a text with these signs may hold."""
        return self._chosen(told if digits_first else told & ~self._digits_first)

    def _choose(self, told: int) -> tuple[Claim, ...]:
        return tuple(claim for claim in self._claims if claim.asks & told == claim.asks)


# ----------------------------------------------------------------------------
# Notation that means more than its digits. Every repeat is bounded, so that the work is linear.

_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LETTER = r"[\w\u093e-\u094d\u0bbe-\u0bcd]"
#: Hours and minutes, in Devanagari as well.
_HOUR = r"(?:[01०१]?\d|[2२][0-4०-४])"
_SIXTY = r"[0-5०-५]\d"
_HAN = "〇零一二两兩三四五六七八九十"
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018, "H": 1988, "S": 1925, "R": 2018}
_NOON = 720
#: Not right after a letter or a number, in scripts that put spaces between words.
_NOT_AFTER = r"(?<![0-9A-Za-zÀ-ɏА-я_.,])"


_EDGES = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af]\x01|\x01[^\W\u2e80-\u9fff\uac00-\ud7af]")


def _claimed(
    text: str, plain: str, told: int, said: str, rules: Rules, every: bool = False
) -> tuple[str, list[Quantity]]:
    """*plain* with what the claims take as their own hidden, and what they found in *text*."""
    masked, found, signs = plain, [], rules.signs
    passed_over = not every and not signs.in_digits(told, masked)
    for pattern, handler, parts, _ in signs.claims(told, not passed_over):
        if parts and not any(map(said.__contains__, parts)):
            continue
        pieces, done = [], 0
        for match in pattern.finditer(masked):
            quantities = handler(match, rules)
            if quantities:
                found += quantities
                a, b = match.span("all") if "all" in pattern.groupindex else match.span()
                pieces += [masked[done:a], "\x01" * (b - a)]
                done = b
        if pieces:
            masked = "".join([*pieces, masked[done:]])
            if passed_over and signs.in_digits(told, masked):  # by what is hidden, digits may stand alone
                return _claimed(text, plain, told, said, rules, every=True)
    return masked, found


def _made(match: re.Match[str], value: Fraction | int, kind: Kind, unit: str = "", group: str | int = 0, **more: Any):
    return Quantity(Fraction(value), kind, unit, match.span(group), match[group], **more)


def _claims(rules: Rules) -> Iterator[tuple[re.Pattern[str], _Handler]]:
    data, clock = rules.data, rules.data.get("clock", {})
    yield re.compile(r"(?:https?://|www\.)[^\s<>\"，。）]{1,300}|[\w.+-]{1,60}@[\w-]{1,60}\.[\w.-]{1,60}"), _url
    yield re.compile(r"(?<![\w.@])@\w{1,60}(?:\.\w{1,60}){0,3}"), _url  # a handle
    yield re.compile(r"</?[A-Za-z][^<>]{0,200}>"), _url  # mark-up
    yield re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{1,4}(?![\w:])"), _url
    yield re.compile(r"(?<!\w)(?=[0-9a-f]{16})(?=[0-9a-f]{0,63}[a-f])(?=[0-9a-f]{0,63}\d)[0-9a-f]{16,64}(?!\w)"), _hash
    yield re.compile(r"(?<![\d/])24 ?/ ?7(?![\d/])"), lambda m, r: [_made(m, 0, "always", certainty=WEAK)]
    yield (
        re.compile(
            rf"{_NOT_AFTER}(?:(?P<factor>\d{{1,12}}(?:[.,]\d{{1,12}})?){_SPACE}?[×x·*]{_SPACE}?)?10"
            r"(?P<power>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}|\^\{?[-−+]?\d{1,4}\}?)"
        ),
        _power,
    )
    yield re.compile(r"(?<![\w.,])(?P<factor>\d{1,12}(?:[.,]\d{1,12})?)[eE](?P<power>[-−+]?\d{1,4})(?!\w)"), _power
    yield re.compile(rf"(?<![\d.,:])(?P<m>\d{{1,2}}):{_SPACE}?(?P<s>[0-5]\d)[.,](?P<f>\d{{1,3}})(?![\d:])"), _lap
    yield re.compile(r"(?<![\d.,'’′])(?P<f>[3-8])['’′] ?(?P<i>1[01]|\d)(?!\d)(?:''|[\"”“″])?"), _height
    yield (
        re.compile(r"(?<![\w.,/-])(?P<n>\d{1,3})[ -](?P<a>\d{1,2}) ?/ ?(?P<b>[2-9]|10|12|16|32|64)(?![\d/]|[.,]\d)"),
        _mixed,
    )
    yield re.compile(r"(?<![\w.,])(?P<m>[12]) ?m ?(?P<c>\d\d)(?!\w)"), _metres
    if data:
        yield from _clock_claims(rules)
    for pattern in data.get("ordinals", ()):
        yield re.compile(pattern), _counted_ordinal
    for name, (month, day) in data.get("named_days", {}).items():
        yield re.compile(name), _named_day(month, day)
    for name, value in (("and_half", Fraction(3, 2)), ("half_of", Fraction(1, 2))):
        for pattern in data.get(name, ()):
            yield re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), partial(_halves, value=value)
    for pattern in data.get("heights", ()):
        yield re.compile(rf"(?<![\w.,]){pattern}"), _height
    if "combining" in data:
        yield _combining(data["combining"])
    yield (
        re.compile(
            r"(?<![\d./-])(?P<a>\d{1,4})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<c>\d{4}|\d{1,3})(?![\d/])(?![.-]\d)"
        ),
        _date,
    )
    if clock.get("norm") == 24:
        yield re.compile(r"(?<![\d.,:])(?P<a>[0-3]?\d)\.(?P<b>[01]?\d)\.(?!\d)"), _short_date
    yield re.compile(rf"{_NOT_AFTER}\d{{1,4}}(?:\.\d{{1,4}}){{2,6}}(?![0-9A-Za-zА-я])(?!\.\d)"), _version
    yield (
        re.compile(
            r"(?<![\w.,-])(?:\+|\(\d|\d)[\d]{0,4}\)?(?:(?:[ /-]|- | -| - )\(?\d{2,6}\)?){1,6}(?:-[A-Z]{2,8})?(?![\w,])"
        ),
        _telephone,
    )
    others = "|".join(["(?!)", *data.get("no_identifiers", ())])
    yield (
        re.compile(
            rf"(?<![A-Za-zА-Яа-я0-9$€£])(?!{others})"
            r"(?=[A-Za-zА-ЯＡ-Ｚ]{1,16}[-‐‑－]?\d)(?!(?:US|USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|RUB|No|Nr|AM|PM|Nos|Rs)\d)"
            r"(?=[A-Za-z]{0,15}[A-ZА-ЯＡ-Ｚ])[A-Za-zА-ЯＡ-Ｚ]{1,16}[-‐‑－]?\d[A-Za-z\d]{0,20}(?:[-./～][A-Za-z\d]{1,20}){0,4}"
            r"(?:[₀-₉]{0,3})|(?<![\w.,])\d{1,2}[GDd](?![\w])|[A-Z][A-Za-z]{0,8}[₀-₉]{1,3}"
        ),
        _identifier,
    )
    if rules.han:
        for era in ("明治|大正|昭和|平成|令和", r"(?<![A-Za-z])[HSR](?=\d{1,2}年)"):
            yield (
                re.compile(
                    rf"(?P<era>{era}){_SPACE}?(?P<y>\d{{1,2}}|元|[{_HAN}]{{1,3}})(?:年度?|(?=[（(]\d{{4}}[）)]年))"
                ),
                _era,
            )
        yield (
            re.compile(
                rf"(?:(?P<c>\d{{1,2}}|[{_HAN}]{{1,3}}){_SPACE}?世[纪紀]{_SPACE}?)?"
                rf"(?P<y>\d{{2,4}}|[{_HAN}]{{1,4}})(?:{_SPACE}?(?:年代|년대)|代(?=[のがにはで、前半後若男女\d]))"
            ),
            _han_decade,
        )
        yield (
            re.compile(
                rf"(?<![\d{_HAN}个個か箇ヶカヵケ几数]){_SPACE}?(?P<all>(?P<m>1[0-2]|0?[1-9]|１[０-２]|[０１]?[１-９]|十[一二]?|[一二三四五六七八九])"
                rf"{_SPACE}?(?:月份?|월))(?![球間])"
            ),
            _han_month,
        )
        yield re.compile(rf"(?<![{_HAN}\d])(?P<n>[一二三四五六七八九]{{2,9}})(?=年[级級]|班)"), _listed
        yield (
            re.compile(rf"(?<![点點・{_HAN}百千万\d])(?P<n>三四五六?七?|一二三四?五?六?)(?![点點{_HAN}百千万])"),
            _listed,
        )
        yield (
            re.compile(
                r"(?P<p>)(?P<n>两三|二、?三|三、?四|四、?五|五、?六|六、?七|七、?八|八、?九)(?P<u>)"
                r"(?=[个個套天次年人名只条件本块位家日回枚時か])"
            ),
            _about,
        )
        yield (
            re.compile(r"(?P<whole>[一二三四五六七八九]万)(?P<n>一二|二三|三四|四五|五六|六七|七八|八九)(?P<u>千)"),
            _about,
        )
        yield (
            re.compile(r"(?P<p>百分之)?(?P<n>一二|二三|三四|四五|五六|六七|七八|八九)(?P<u>十|百|千|万|亿|萬|億)"),
            _about,
        )
        yield (
            re.compile(rf"(?P<d>[\d{_HAN}百千万]{{1,12}})(?:分[之の]|분의 ?)(?P<n>[\d{_HAN}百千万]{{1,12}})"),
            _han_fraction,
        )
        yield re.compile(rf"(?<!\d)(?P<n>\d{{1,3}})分(?=の(?![\d{_HAN}]))"), _minute
        yield re.compile(r"(?<=数)(?P<n>\d{1,12}(?:[,.]\d{1,12}){0,3})(?P<scale>[千万億亿]?)"), _after_count
        yield (
            re.compile(
                rf"(?<![\d{_HAN}])(?P<n>[1-9]|[一二三四五六七八九])(?P<m>(?!))?成(?![立为為功员員本长長果绩績就都分熟人年交效型因])"
            ),
            _tenths,
        )
        yield re.compile(rf"(?P<n>\d|[{_HAN}])割(?:(?P<m>\d|[{_HAN}])分)?(?![りれ引安る])"), _tenths
    for pattern in data.get("decades", ()):
        yield re.compile(rf"(?<![\w.,$€£]){pattern}(?!\w)", re.IGNORECASE), _decade
    for pattern in data.get("years", ()):
        yield re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), _spoken_year
    for value, words in data.get("decade_words", {}).items():
        yield re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE), _decade_word(value)
    if rules.months:
        written = {form for name in rules.months for form in (name, name.title(), name.upper())}
        tails = f"|(?={'|'.join(data['month_tails'])})" if "month_tails" in data else ""
        stems = [rf"(?i:{re.escape(stem)})\w{{0,6}}" for stem in rules.month_stems]
        names = "|".join([*sorted(map(re.escape, written), key=len, reverse=True), *stems])
        yield (
            re.compile(
                rf"(?<!\w)(?P<near>\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?{_SPACE}(?:(?:of|de|di){_SPACE})?)?"
                rf"(?P<all>{names})(?:(?!\w){tails})(?P<after>\.?,?{_SPACE}?(?:de {_SPACE}?)?\d)?"
            ),
            _month,
        )
    yield re.compile(r"(?<![\w.,])(?<!\d )(?P<n>[1-9]\d{0,2})(?: 000){1,3}(?![\d.,])"), _thousands
    yield re.compile(rf"(?P<whole>\d{{1,9}}{_SPACE}?)?(?P<sign>[{_VULGAR}])"), _vulgar
    yield re.compile(rf"(?<![\w/.,])(?P<a>\d{{1,4}}){_SPACE}?[/⁄]{_SPACE}?(?P<b>\d{{1,4}})(?![\d/]|[.,]\d)"), _slash
    for name, before, after in (
        ("denominators", rf"(?P<n>{_LETTER}{{1,16}})[ -]", ""),
        ("lower_first", "", rf" (?P<n>{_LETTER}{{1,16}})"),
    ):
        lower = [(n, each) for n, all_ in data.get(name, {}).items() for each in all_]
        if lower:
            words = _groups("d", [each for _, each in lower])
            handler = partial(_fraction, denominators=tuple(int(n) for n, _ in lower))
            yield re.compile(rf"(?<!\w){before}(?:{words}){after}(?!\w)", re.IGNORECASE), handler


def _url(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, 0, "identifier", certainty=WEAK)] if re.search(r"\d", match[0]) else []


def _hash(match: re.Match[str], rules: Rules) -> list[Quantity]:
    return [_made(match, 0, "identifier", certainty=WEAK)]


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


def _clock_claims(rules: Rules) -> Iterator[tuple[re.Pattern[str], _Handler]]:
    clock = rules.data.get("clock", {})
    am, pm = ("|".join(clock.get(half) or ["(?!)"]) for half in ("am", "pm"))
    oclock = "|".join(clock.get("oclock", ())) or "(?!)"
    half = rf"(?:(?P<am>{am})|(?P<pm>{pm}))"
    if rules.han:
        numerals = sorted(rules.data.get("numerals", {}), key=len, reverse=True)
        hour = "|".join([r"\d{1,2}", f"[{_HAN}]{{1,3}}", *numerals])
        hour = f"(?P<h>{hour})"
        minutes = rf"(?P<m>\d{{1,2}}|[{_HAN}]{{1,3}}){_SPACE}?[分분]"
        minutes = rf"(?:{_SPACE}?{minutes}|(?P<half>半|{_SPACE}?반)|(?P<quarter>[一三]刻))"
        yield (
            re.compile(
                rf"{half}{_SPACE}?の?{hour}(?:[:：](?P<mm>\d\d)|{_SPACE}?[点點时時시](?:钟|鐘)?(?:{minutes})?)(?!間|간|\d)"
            ),
            _clock,
        )
        yield (
            re.compile(
                rf"(?<![\d.:]){hour}(?:[:：](?P<mm>\d\d)(?:[:：]\d\d)?(?![\d:：])|{_SPACE}?[点點时時시]{minutes}(?!間))"
            ),
            _clock,
        )
        yield (
            re.compile(
                rf"(?<![\d.:]){hour}{_SPACE}?(?:[点點](?:钟|鐘)(?!头)|時(?![間代計期点刻速価給差])|시(?=[ ,.에까부]|$))"
            ),
            _clock,
        )
        yield re.compile(rf"{half}{_SPACE}?{hour}(?=[-~～〜至到から—–])"), _clock
    else:
        if "before_am" in clock:
            first = rf"(?:(?P<am>{'|'.join(clock['before_am'])})|(?P<pm>{'|'.join(clock['before_pm'])}))"
            yield (
                re.compile(
                    rf"(?<!\w){first} (?P<h>\d{{1,2}}|{_LETTER}{{2,16}})(?::(?P<m>{_SIXTY}))? (?:{oclock})(?!\w)"
                ),
                _clock,
            )
        spaced = rf" (?=\d\d{_SPACE}?(?:{am}|{pm}|{oclock})(?!\w))"  # 7 30 pm
        after = rf"(?:{_SPACE}?(?:{half}|(?P<oclock>{oclock}))(?!\w))"
        yield (
            re.compile(
                rf"(?<![\d.,:])(?P<h>{_HOUR})(?::{_SPACE}?|(?P<dot>\.|{spaced})|{_SPACE}?[hH]{_SPACE}?)(?P<m>{_SIXTY})"
                rf"(?::{_SIXTY})?(?![\d:])(?!\.\d){after}?",
                re.IGNORECASE,
            ),
            _clock,
        )
        if oclock != "(?!)":  # 6 Uhr 30
            words = r"(?P<w>[^\W\d]{2,12})"
            yield (
                re.compile(rf"(?<!\w){words} (?P<oclock>{oclock}) (?P<m>[^\W\d]{{3,20}})(?!\w)", re.IGNORECASE),
                _clock,
            )
            yield re.compile(rf"(?<![\d.,:])(?P<h>1?\d|2[0-4]) (?P<oclock>{oclock}) (?P<m>[0-5]\d)(?![\d.:])"), _clock
        yield re.compile(rf"(?<![\d.,:])(?P<h>1?\d|2[0-4]){after}", re.IGNORECASE), _clock
        for pattern in clock.get("hours", ()):
            yield re.compile(pattern), _clock
        for name, sign in (("half_past", 30), ("half_to", -30), ("quarter_to", -45), ("past", 1), ("to", -1)):
            for pattern in clock.get(name, ()):
                yield re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), _spoken_clock(sign)
        if oclock != "(?!)":
            yield (
                re.compile(
                    rf"(?<!\w)(?P<w>[^\W\d]{{2,12}}) (?P<oclock>{oclock})(?!\w)(?: {half}(?!\w))?", re.IGNORECASE
                ),
                _clock,
            )
    for word, minute in clock.get("words", {}).items():
        boundary = "" if rules.han else r"\b"
        yield re.compile(rf"{boundary}{word}{boundary}", re.IGNORECASE), _clock_word(minute)


def _clock(match: re.Match[str], rules: Rules) -> list[Quantity]:
    got = match.groupdict()
    said = got.get("h") or got.get("w") or ""
    hour = rules.data.get("numerals", {}).get(said) or _integer(said, rules)
    if (
        hour is None
        or hour > 24
        or (got.get("h") == "一" and rules.lang == "ja" and not (got.get("am") or got.get("pm")))
    ):
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
    if got.get("pm") and hour < 12 and not (hour < 6 and re.search("ночи|nachts", got["pm"])):
        hour += 12
    elif got.get("am") and hour == 12:
        hour = 0
    exact = bool(marked) or hour > 12 or hour == 0
    exact = exact or (
        rules.data["clock"]["norm"] == 24 and bool(minute_text or spoken) and "w" not in match.re.groupindex
    )
    parts: tuple[Quantity, ...] = (Quantity(Fraction(hour), "cardinal", "", match.span(), match[0], WEAK),)
    if minute_text:
        parts += (Quantity(Fraction(minute), "cardinal", "", match.span(), match[0], WEAK),)
    return [_made(match, (hour % 24) * 60 + minute, "clock", _half_of_day(match, exact, rules), parts=parts)]


def _half_of_day(match: re.Match[str], exact: bool, rules: Rules) -> str:
    """24: the time names the half of the day; 12: other words of the text do; empty: nothing does."""
    if exact:
        return "24"
    return "12" if _says_half_of_day(match.string, rules.lang) else ""


@lru_cache(4)
def _says_half_of_day(text: str, lang: str) -> bool:
    words = _rules(lang).day_parts
    return words is not None and words.search(text) is not None


def _spoken_clock(sign: int) -> _Handler:
    def handler(match: re.Match[str], rules: Rules) -> list[Quantity]:
        numbers = find_numbers(_genitive_hour(match["hour"]), rules.lang)  # half of the third hour, in Czech
        hour = int(numbers[0].value) if len(numbers) == 1 else None
        if hour is None or not 1 <= hour <= 24:
            return []
        minutes = sign
        if abs(sign) == 1:
            said = match["minutes"].lower()
            count = 15 if re.search("qu?art|kwart|viert|cuart|четверт", said) else _integer(said, rules)
            if count is None or not 0 < count < 60:
                return []
            minutes = sign * count
        return [_made(match, (hour * 60 + minutes) % _NOON, "clock", _half_of_day(match, False, rules))]

    return handler


def _genitive_hour(word: str) -> str:
    return "один" if word.lower() == "первого" else word


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


def _named_day(month: int, day: int) -> _Handler:
    """六四, a day that is named by its digits."""
    return lambda match, rules: [
        _made(match, value, "date", unit, certainty=WEAK, lexical=True)
        for value, unit in ((month, "month"), (day, "day"))
    ]


def _halves(match: re.Match[str], rules: Rules, value: Fraction) -> list[Quantity]:
    """*a litre and a half*, *half an inch*."""
    unit = rules.unit(match.string, match.start("unit"))
    if unit is None or unit.end() != match.end("unit") or unit.lastgroup is None:
        return []
    return [
        _made(match, value, "measure", rules.unit_names[int(unit.lastgroup[1:])], certainty=WEAK if value < 1 else 1.0)
    ]


def _combining(data: Mapping[str, Any]) -> tuple[re.Pattern[str], _Handler]:
    """Numerals and a unit in one word, of forms that only stand there: *dvaa|třiceti|letý*, *cztero|dniowy*."""
    values = {form: int(value) for value, forms in data["numerals"].items() for form in forms}
    forms = "|".join(sorted(values, key=len, reverse=True))
    units = "|".join(f"(?P<{name}>{stems})" for name, stems in data["units"].items())

    def handler(match: re.Match[str], rules: Rules) -> list[Quantity]:
        total = sum(values[form.lower()] for form in re.findall(forms, match["n"], re.IGNORECASE))
        return [_made(match, total, "measure", match.lastgroup or "")]

    return re.compile(rf"(?<!\w)(?P<n>(?:{forms}){{1,3}})(?:{units})\w{{0,5}}(?!\w)", re.IGNORECASE), handler


def _clock_word(minute: int) -> _Handler:
    return lambda match, rules: [_made(match, minute, "clock", "24", certainty=WEAK)]


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


def _decade_word(value: int) -> _Handler:
    return lambda match, rules: [_made(match, value, "decade", certainty=WEAK)]


def _month(match: re.Match[str], rules: Rules) -> list[Quantity]:
    name = match["all"].lower()
    month = rules.months.get(name) or next(m for stem, m in rules.month_stems.items() if name.startswith(stem))
    near = match["near"] or match["after"]
    titled, wide = _full_months(rules.lang)
    full = name in wide or len(name) > 4
    doubtful = name in rules.data.get("months_ambiguous", ()) or not (
        full or name.title() in ("June", "July", "Juni", "Juli", "Mai", "März")
    )
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
    """Whether months have a capital letter, and their full names that have none."""
    months = Locale.parse(lang).months
    return months["format"]["wide"][1].istitle(), frozenset(months["stand-alone"]["wide"].values())


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


def _fraction(match: re.Match[str], rules: Rules, denominators: tuple[int, ...]) -> list[Quantity]:
    group = next((name for name, said in match.groupdict().items() if said and name != "n"), None)
    numerator = _integer(match["n"], rules)
    if group is None or numerator is None or not 0 < numerator < 100:
        return []
    if (numerator >= 20 and numerator % 10 == 0) or (
        rules.lang == "fr" and "-" in match[0] and match[0].endswith("ième")
    ):
        return []  # sixty-sixth, dix-septième
    value = Fraction(numerator, denominators[int(group[1:])])
    if rules.lang == "en" and match.string[match.end() : match.end() + 1] == "-":
        return []  # a third-year student
    whole = re.search(r"(\w{1,16}) and $", match.string[max(0, match.start() - 21) : match.start()])
    if whole and match["n"] == "a" and _integer(whole[1], rules) is not None:
        return []  # two and a quarter
    if numerator == 1 and value < Fraction(1, 4) and rules.lang in ("fr", "es", "it", "ru"):
        following = re.match(r" (\w{1,9})", match.string[match.end() : match.end() + 10])
        of = following is not None and following[1] in language_data(rules.lang)["fraction_of"]
        if not of and match["n"] != "одна":
            return []  # an ordinal: une neuvième place
    weak = numerator == 1 or value >= 1
    quarters = (_made(match, numerator, "cardinal"),) if value.denominator in (1, 2, 4) else ()  # of a year
    return [_made(match, value, "fraction", certainty=WEAK if weak else 1.0, parts=quarters)]


_DIGIT = re.compile(rf"[\d{_VULGAR}]")


# ----------------------------------------------------------------------------
# Plain numbers: the unit beside them, and what they share with their neighbours.

#: Said beside *24/7*, or in its place.
_ALWAYS = frozenset({(Fraction(24), "hour"), (Fraction(7), "day"), (Fraction(365), "day")})
#: After these a hyphen joins two dates or times, or two numbers.
_DATED = "日月年号號時时分点點至到～〜〇零一二三四五六七八九十百千万亿億第、。，）)"
_MINUS = "-−－–"
_ROUND = frozenset({12, *(10**power for power in range(2, 10))})


def _joining(kind: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """A pattern of what joins two numbers: signs, or words of `joins` in common.yaml."""
    words = "|".join(sorted(map(re.escape, _common()["joins"][kind]), key=len, reverse=True))
    return re.compile(f"{before}(?:{words}){after}", re.IGNORECASE)


_MORE = _joining("more").pattern
#: Between two numbers that share a unit: *3 to 5 km*, 3～5公里.
_JOIN = _joining("share", f"-?{_SPACE}?(?:[-–—~～〜/x×,、&]|", f"|,{_SPACE}?){_SPACE}?(?:{_MORE}{_SPACE})?")
#: Between the ends of a range; *and* only after *between*.
_TO = _joining("range", f"{_SPACE}?(?:[-–—~～〜至到]|", f"){_SPACE}?")
_AND = _joining("both", f"{_SPACE}?", f"{_SPACE}?")
_BETWEEN = _joining("between", r"(?<!\w)", r"\W{0,3}$")
_SCALES = tuple(Fraction(10**power) for power in (3, 4, 6, 8, 9, 12))


#: What a notation may fall into: *5.11*, *40 000*, *747B*.
_HAN_PAIR = re.compile("[二三四五六七八九][〇零一二三四五六七八九]")
_COMMA_GROUP = re.compile(r"\d{1,3},\d{3}")
_TWO_PARTS, _SPACED, _LETTERED = map(re.compile, (r"\d{1,2}[.,]\d{1,2}", r"\d{1,3}(?: \d{3})+", r"\d{1,6}[A-Zk]"))


def _quantity(text: str, number: Number, rules: Rules) -> Quantity:
    a, b = number.span
    said, value = number.value, _exactly(number.value)
    surface = text[a:b]
    kind: Kind = number.kind
    also: tuple[Fraction, ...] = ()
    digits = surface.isdecimal() or (not surface.isalpha() and any(map(str.isdecimal, surface)))
    certainty, part_of_word = 1.0, False
    if kind == "ordinal" and number.form == "roman":
        kind = "roman"
    if (
        surface[0] in _MINUS
        and said < 0
        and (text[a - 1 : a].isdecimal() or (text[a - 1 : a].isalpha() and text[a - 1] < "\u3040"))
    ):
        said, value, a = -said, -value, a + 1  # VP−730, 7−20
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
        if _is_weak(text, (a, b), said, number, rules):
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
    if name == "degree" and (said := _SCALE_OF_DEGREES.search(text[max(0, a - 4) : a])):
        name = "degree_Celsius" if said["celsius"] else "degree_Fahrenheit"
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
_SCALE_OF_DEGREES = re.compile("(?:(?P<celsius>摂氏|摄氏|攝氏|섭씨)|華氏|华氏|화씨) ?$")
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
        if factor and after.value < factor and len(gap) < 14 and not re.search("[,;.–—(，、。]|bis|to ", gap):
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
