"""Numbers in digits and in words: which characters belong to one number, and what its value is.

In the order of the file: numbers in digits; from the pieces of a number to its value; Nepali and Tamil number words;
the number words of a language; words for *both*.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import cache
from itertools import pairwise, takewhile
from typing import Any, TypeAlias, TypeVar
from typing import Literal as OneOf

from nbquantities.errors import QuantitiesError
from nbquantities.number import THIN_SPACE, Convention, grouped_properly, language_data, plain_sign

# ----------------------------------------------------------------------------
# Numbers written in digits: which runs of digits and signs are one number, and which is its value.
#
# Decided by the language's own convention first. What that cannot read, but can only mean one number by another
# convention (German ``1.23``, English ``1.234.567``), is read with ``localised=False``; everything else falls apart
# into its runs of digits (``3.5.2020``, ``1.2.3``, ``12:30``).

_SIGN = "[.,'\u2019\u00a0\u2007\u2009\u202f\uff0c\uff0e\uff07\u066c\u066b]"


#: A run of digits and of signs between digits; a plain space only where three digits follow.
LITERAL = rf"\d+(?:(?:{_SIGN}|[ ](?=\d\d\d(?!\d)))\d+)*"


#: Digits of the longest number that is read: a run of more, as a model that loops writes it, is no number.
MOST_DIGITS = 300


#: Tamil numerals with signs for 10, 100 and 1000 (௩௲௪௱௫௰௬ is 3456).
TRADITIONAL = "(?:[௦-௯]{0,3}[௰௱௲])+[௦-௯]?"


_PARTS = re.compile(r"\d+")


_FULL_WIDTH_COMMA = "\uff0c"


@dataclass(slots=True)  # not frozen: each number makes one, and freezing slows that down
class Literal:
    """A number in digits, at characters *start* to *end*. digits: ASCII, with "." as decimal sign."""

    start: int
    end: int
    value: Decimal
    digits: str
    grouped: bool
    localised: bool
    native: bool


def read_literal(text: str, start: int, rules: Convention) -> list[Literal]:
    """The numbers that a match of `LITERAL` holds, from left to right; *start* is its place.

    One of more than `MOST_DIGITS` digits is skipped.

    >>> from nbquantities.number import convention
    >>> def values(text, lang): return [str(n.value) for n in read_literal(text, 0, convention(lang))]
    >>> values("1.234", "de"), values("1.234", "en"), values("1.23", "de"), values("1.2.3", "de")
    (['1234'], ['1.234'], ['1.23'], ['1', '2', '3'])
    """
    if text.isdecimal():
        return [_whole(text, start)] if len(text) <= MOST_DIGITS else []
    runs = [match.span() for match in _PARTS.finditer(text)]
    parts = [text[a:b] for a, b in runs]
    signs = [plain_sign(text[a[1] : b[0]]) for a, b in pairwise(runs)]
    read = _one_number(parts, signs, rules)
    if read is not None:
        digits, localised = read
        if len(digits) > MOST_DIGITS:
            return []
        grouped = len(signs) > digits.count(".")
        native = not "".join(parts).isascii()
        return [Literal(start, start + len(text), Decimal(digits), digits, grouped, localised, native)]
    return _split(text, start, signs, runs, rules)


def read_runs(text: str, start: int) -> list[Literal]:
    """Every run of digits as a whole number (*15.30 Uhr* is 15 and 30)."""
    found = (match for match in _PARTS.finditer(text) if match.end() - match.start() <= MOST_DIGITS)
    return [_whole(match[0], start + match.start()) for match in found]


def _ascii(text: str) -> str:
    return text if text.isascii() else "".join(str(unicodedata.decimal(character)) for character in text)


def _whole(text: str, start: int) -> Literal:
    digits = _ascii(text)
    return Literal(start, start + len(text), Decimal(digits), digits, False, True, not text.isascii())


def _one_number(parts: list[str], signs: list[str], rules: Convention) -> tuple[str, bool] | None:
    """The digits with "." as decimal sign and whether they are localised, or None if it is not one number."""
    plain = list(map(_ascii, parts))
    last, before = signs[-1], signs[:-1]
    kinds = set(signs)
    if len(kinds) == 1 and grouped_properly(plain):
        if not before and last == rules.decimal:
            return f"{plain[0]}.{plain[1]}", True
        if _can_group(last, len(signs), rules) and not (last == rules.decimal and _is_address(plain)):
            return "".join(plain), _own_group(last, rules)
        return None
    if last not in (".", ",") or len(set(before)) > 1 or last in before:
        return None
    if not before:
        return f"{plain[0]}.{plain[1]}", last == rules.decimal
    if not grouped_properly(plain[:-1]) or not _can_group(before[0], len(before), rules):
        return None
    digits = "".join(plain[:-1]) + "." + plain[-1]
    return digits, (_own_group(before[0], rules, last) or (before[0] == _FULL_WIDTH_COMMA and last == rules.decimal))


def _can_group(sign: str, times: int, rules: Convention) -> bool:
    """A plain space groups in languages that say so, and anywhere where it does so twice."""
    return sign != " " or rules.loose_space or times > 1


def _own_group(sign: str, rules: Convention, decimal: str | None = None) -> bool:
    """Whether some locale of the language groups with *sign*, and has *decimal* as its decimal sign with it."""
    sign = "," if sign == _FULL_WIDTH_COMMA else sign
    if decimal is None:
        return rules.groups(sign)
    return (sign, decimal) in rules.pairs


def _is_address(parts: list[str]) -> bool:
    """192.168.100.200 is no number where the point is the decimal sign."""
    return len(parts) == 4 and all(int(part) < 256 for part in parts)


def _split(text: str, start: int, signs: list[str], runs: list[tuple[int, int]], rules: Convention) -> list[Literal]:
    """The parts between spaces first, then between the signs that are not decimal, then between all signs."""
    spaces = (" ", THIN_SPACE)
    kinds = set(signs)
    for cutting in (kinds.intersection(spaces), kinds.difference(spaces, rules.decimal), kinds):
        if cutting and cutting != kinds:
            break
    else:
        return read_runs(text, start)
    found, first = [], 0
    for i, sign in enumerate([*signs, None]):
        if sign is None or sign in cutting:
            a, b = runs[first][0], runs[i][1]
            found += read_literal(text[a:b], start + a, rules)
            first = i + 1
    return found


_TRADITIONAL_PARTS = re.compile("([௦-௯]*)([௰௱௲]?)")


_TRADITIONAL_UNITS = {"௰": 10, "௱": 100, "௲": 1000}


def traditional_literal(text: str, start: int) -> Literal:
    """The number of a match of `TRADITIONAL`.

    >>> traditional_literal("௩௲௪௱௫௰௬", 0).value, traditional_literal("௰௲", 0).value
    (Decimal('3456'), Decimal('10000'))
    """
    thousands = section = 0
    for digits, unit in _TRADITIONAL_PARTS.findall(text):
        count = int(digits) if digits else 0
        if unit == "௲":
            thousands, section = thousands + (section + count or 1) * 1000, 0
        elif unit:
            section += (count or 1) * _TRADITIONAL_UNITS[unit]
        else:
            section += count
    value = thousands + section
    return Literal(start, start + len(text), Decimal(value), str(value), False, True, True)


# ----------------------------------------------------------------------------
# From the pieces of a number (*three | hundred | five | million*) to its value. One machine for all
# languages.
#
# A number is a sum of parts of falling magnitude. Small words add up (*twenty five*), a multiplier below the
# first scale word (*hundred*, 十百千) multiplies what it follows, and a scale word (*thousand*, 万, lakh)
# multiplies everything smaller that stands before it (*dos mil quinientos millones*, 三千万亿).

#: So wide that no number of a text is ever rounded.
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


#: add: a word or digit that adds its value · literal: a number in digits · multiply: hundred, 十, 百, 千 ·
#: scale: thousand, 万, lakh and above · point: the spoken decimal sign · glue: *and* · half: *and a half* ·
#: denominator: the hundredths of *три целых пять сотых* ·
#: minus, percent: said before a number (*minus*, 百分之); no part of its value
Role: TypeAlias = OneOf[
    "add", "literal", "multiply", "scale", "point", "glue", "comma", "half", "denominator", "minus", "percent"
]


@dataclass(frozen=True, slots=True)
class Atom:
    """What a number word contributes. bare: a multiplier that may stand alone (*mil*, 十, but not *million*)."""

    role: Role
    value: Decimal = Decimal(0)
    ordinal: bool = False
    bare: bool = False
    article: bool = False
    financial: bool = False


@dataclass(slots=True)
class Piece:
    """An `Atom` at a place of a text.

    joined: whether it may continue the number of the piece before it.
    key: the word as it is looked up, or the digits of a literal with "." as decimal sign.
    literal: how it is written, where it is written in digits.
    """

    start: int
    end: int
    atom: Atom
    key: str
    joined: bool
    literal: Literal | None = None


#: The most characters between two parts of a number; text beyond them is not looked at for each part anew.
_WIDEST_GAP = 16


def gap_between(text: str, end: int, start: int) -> str:
    """What stands between two parts of a number, ``?`` where it is too much for them to be of one.

    >>> gap_between("one hundred", 3, 4), gap_between("one, or so they said, hundred", 3, 22)
    (' ', '?')
    """
    return text[end:start] if start - end <= _WIDEST_GAP else "?"


def literal_piece(literal: Literal, joined: bool) -> Piece:
    """The piece of a number in digits."""
    return Piece(literal.start, literal.end, Atom("literal", literal.value), literal.digits, joined, literal)


@dataclass(frozen=True)
class Grammar:
    """What differs between languages when pieces are put together.

    digit_tail: digits may follow a scale word (3万5000, 12 लाख 345).
    digit_multiplier: a multiplier takes the last digit alone (二百三十: 2·100 + 3·10), as in Chinese and Japanese,
        rather than all that stands before it (*twenty-five hundred*).
    short_tail: a last digit counts in tenths of the unit before it (一百二 is 120), as in Chinese.
    glued_hundreds: *and* stands between a word for hundreds and the rest (*cento e vinte*).
    """

    digit_tail: bool = False
    digit_multiplier: bool = False
    short_tail: bool = False
    glued_hundreds: bool = False


@dataclass
class _Sum:
    """The value so far: finished scaled parts, the section below the next scale word, the part still open."""

    grammar: Grammar
    parts: list[tuple[Decimal, Decimal]] = field(default_factory=list)  # (value, magnitude), falling
    section: Decimal | None = None
    unit: Decimal | None = None  # the last multiplier of the section
    open: Decimal | None = None
    room: Decimal | None = None  # what may still be added to the open part is below this
    fraction: bool = False

    @property
    def below(self) -> Decimal | None:
        """The section with its open part."""
        if self.open is None:
            return self.section
        return self.open if self.section is None else EXACT.add(self.section, self.open)

    @property
    def total(self) -> Decimal | None:
        below = self.below
        if not self.parts:
            return below
        total = Decimal(0) if below is None else below
        for value, _ in self.parts:
            total = EXACT.add(total, value)
        return total

    def ceiling(self) -> Decimal | None:
        """The magnitude that an added value has to stay below, or None if anything goes."""
        if self.section is not None:
            return self.unit
        return self.parts[-1][1] if self.parts else None

    def filled(self) -> bool:
        """Whether the open part is the 零 of 一千零一, which only fills a gap."""
        return self.open == 0 and self.ceiling() is not None

    def add(self, value: Decimal) -> bool:
        if self.fraction:
            return False
        if value >= 1000 and value % 1000 == 0 and self.below is None:  # ألفان, two thousand
            magnitude = Decimal(1000)
            while value % (magnitude * 1000) == 0:
                magnitude *= 1000
            if self.parts and self.parts[-1][1] <= magnitude:
                return False
            self.parts.append((value, magnitude))
            return True
        if self.open is None or self.filled():
            ceiling = self.ceiling()
            if ceiling is not None and value >= ceiling:
                return False
            self.open = value
        elif self.room is not None and 0 < value < self.room:
            self.open = EXACT.add(self.open, value)
        else:
            return False
        self.room = _room_after(value)
        return True

    def literal(self, value: Decimal, before_multiplier: bool) -> bool:
        if (self.open is not None and not self.filled()) or self.fraction:
            return False
        if self.section is not None:  # 1万8千257
            smaller = self.grammar.digit_multiplier and self.unit is not None and value < self.unit
            if smaller:
                self.open, self.room = value, None
            return smaller
        if self.parts and (value >= self.parts[-1][1] or not (self.grammar.digit_tail or before_multiplier)):
            return False
        self.open, self.room = value, None
        return True

    def multiply(self, unit: Decimal, bare: bool) -> bool:
        if self.fraction and self.grammar.digit_multiplier:
            return False
        if self.unit is not None and unit >= self.unit:
            return False
        self.fraction = False  # two and a half dozen
        factor = None if self.filled() else self.open
        if factor is None:
            if not bare:
                return False
            factor = Decimal(1)
        elif factor == 0 or factor >= self.largest_factor():
            return False
        product = _product(factor, unit)
        self.section = product if self.section is None else EXACT.add(self.section, product)
        self.open, self.room, self.unit = None, None, unit
        return True

    def largest_factor(self) -> int:
        """What a multiplier takes stays below this: one spoken digit, 三百 of digits, or *twelve hundred*."""
        if not self.grammar.digit_multiplier:
            return 100
        return 1000 if self.room is None else 10

    def scale(self, magnitude: Decimal, bare: bool) -> bool:
        factor = self.below
        if self.parts and self.parts[-1][1] == magnitude:
            if not self.grammar.digit_multiplier or factor is not None or len(self.parts) > 1:
                return False
            self.parts[-1] = (_product(self.parts[-1][0], magnitude), _product(magnitude, magnitude))  # 四万万
            return True
        if factor is None and not (self.parts and self.parts[-1][1] < magnitude):
            if not bare:
                return False
            factor = Decimal(1)
        factor = Decimal(0) if factor is None else factor
        if factor == 0 and not self.parts:
            return False
        while self.parts and self.parts[-1][1] < magnitude:
            factor = EXACT.add(factor, self.parts.pop()[0])
        if self.parts and self.parts[-1][1] == magnitude:
            return False
        if factor.adjusted() + magnitude.adjusted() > 2 * MOST_DIGITS:  # one and a half million and a half million …
            return False
        self.parts.append((_product(factor, magnitude), magnitude))
        self.section = self.open = self.room = self.unit = None
        self.fraction = False
        return True

    def portion(self, part: Decimal) -> Decimal:
        """*and a half*: of a unit, or of the scale word (*un milliard et demi*) or dozen that it follows."""
        if self.open is None and self.unit == 12:
            return _product(part, self.unit)
        scaled = self.below is None and self.parts
        return _product(part, self.parts[-1][1]) if scaled else part

    def extend(self, addend: Decimal) -> bool:
        """Close the number with a fraction; only a scale word may follow (*three point five million*)."""
        total = self.total
        if total is None or self.fraction:
            return False
        self.parts, self.section, self.unit, self.room = [], None, None, None
        self.open, self.fraction = EXACT.add(total, addend), True
        return True


def _product(factor: Decimal, unit: Decimal) -> Decimal:
    """1.50 million is 1500000, not 1500000.00."""
    product = EXACT.multiply(factor, unit)
    if product == product.to_integral_value():
        return product.quantize(Decimal(1), context=EXACT)
    return product.normalize(EXACT)


def _room_after(value: Decimal) -> Decimal:
    """*twenty* leaves room for 1–9, *doscientos* for 1–99; what does not end in zero, or is below 20, for nothing."""
    if value < 20 or value != value.to_integral_value():
        return Decimal(0)
    room = 1
    while value % (room * 10) == 0:
        room *= 10
    return Decimal(room)


_TENS = frozenset(Decimal(10 * i) for i in range(2, 10))


@dataclass(slots=True)
class Composed:
    """The value of the pieces up to *stop* (exclusive)."""

    value: Decimal
    stop: int
    ordinal: bool


def compose(pieces: Sequence[Piece], start: int, grammar: Grammar) -> Composed | None:
    """The longest number that begins at piece *start*, or None if none does.

    Where a multiplier turns out to belong to a second number (*between one hundred and two hundred*), the first
    number ends before the part that the multiplier takes.
    """
    first = pieces[start].atom
    if first.role in ("add", "literal") and (start + 1 == len(pieces) or not pieces[start + 1].joined):
        return Composed(first.value, start + 1, first.ordinal)
    so_far = _Sum(grammar)
    safe: Composed | None = None  # the number before the part that is still open
    doubtful = False  # a comma was passed, and nothing yet shows that the number goes on
    i = start
    while i < len(pieces):
        piece, atom = pieces[i], pieces[i].atom
        if i > start and not piece.joined:
            break
        following = pieces[i + 1] if i + 1 < len(pieces) and pieces[i + 1].joined else None
        before = so_far.total
        opens = so_far.open is None and before is not None
        if i > start and atom.article and piece.key in ("a", "an"):
            break  # 150 billion a year
        if atom.ordinal and atom.role == "add" and pieces[start].atom.role == "literal" and i > start:
            break  # 40 million second-level
        if i > start and not grammar.digit_multiplier and _counts_anew(pieces, start, i):
            break  # 1.7 million four years ago
        if atom.role in ("add", "literal"):
            if opens and before is not None and pieces[i - 1].atom.role not in ("glue", "comma"):
                safe = Composed(before, i, False)
            if atom.role == "add":
                taken = so_far.add(atom.value)
            else:
                multiplied = following is not None and following.atom.role in ("multiply", "scale")
                taken = so_far.literal(atom.value, multiplied)
        elif atom.role == "multiply":
            taken = so_far.multiply(atom.value, atom.bare)
        elif atom.role == "scale":
            taken = so_far.scale(atom.value, atom.bare)
        elif atom.role == "half":
            taken = so_far.extend(so_far.portion(atom.value))
        elif atom.role == "point":
            read = _fraction(pieces, i + 1) if before is not None else None
            taken = read is not None and so_far.extend(read[0])
            if taken and read is not None:
                i = read[1] - 1
        elif atom.role in ("glue", "comma"):
            if not _glues(so_far, atom, following):
                break
            safe, doubtful = Composed(before or Decimal(0), i, False), atom.role == "comma"
            i += 1
            continue
        else:
            taken = False
        if not taken:
            if atom.role in ("multiply", "scale") and so_far.open is not None and safe is not None:
                return safe
            break
        if atom.role in ("multiply", "scale"):
            safe, doubtful = None, False
        i += 1
        goes_on = following is not None and following.atom.ordinal and following.atom.value < 10
        if atom.ordinal and not (goes_on and atom.value in _TENS):  # vigésima primera
            total = so_far.total
            return None if total is None else Composed(total, i, True)
    if doubtful and safe is not None:
        return safe
    total = so_far.total
    if total is None or i == start:
        return None
    if grammar.short_tail:
        total = EXACT.add(total, _short_tail(so_far, pieces[max(start, i - 2) : i]))
    return Composed(total, i, False)


def _counts_anew(pieces: Sequence[Piece], start: int, i: int) -> bool:
    """Whether a word right after digits and a scale word begins another number: no further scale word follows it."""
    if pieces[start].atom.role != "literal" or pieces[i].atom.role != "add" or pieces[i - 1].atom.role != "scale":
        return False
    following = takewhile(lambda piece: piece.joined, pieces[i + 1 : i + 4])
    return pieces[i].atom.value < 100 and all(piece.atom.role not in ("multiply", "scale") for piece in following)


def _glues(so_far: _Sum, atom: Atom, following: Piece | None) -> bool:
    """Whether *and* (or the comma of *two thousand, three hundred*) goes on with a number."""
    if so_far.total is None or following is None:
        return False
    if so_far.open is not None:  # cento e vinte
        hundreds = so_far.grammar.glued_hundreds and so_far.open >= 100 and so_far.open % 100 == 0
        return hundreds and following.atom.role == "add" and following.atom.value < 100
    if atom.role == "comma" and not so_far.parts:
        return False
    thousand = following.atom.bare and following.atom.value == 1000 and bool(so_far.parts)  # tre milioni e mille
    return thousand or following.atom.role in ("add", "multiply")


def _short_tail(so_far: _Sum, last: Sequence[Piece]) -> Decimal:
    """What 一百二 and 三万五 leave unsaid: the last digit counts in tenths of the unit before it."""
    if len(last) < 2 or last[1].atom.role != "add" or so_far.open is None or not 1 <= so_far.open <= 9:
        return Decimal(0)
    unit = last[0].atom
    if unit.role not in ("multiply", "scale") or unit.value < 100:
        return Decimal(0)
    return EXACT.multiply(so_far.open, unit.value / 10 - 1)


def _fraction(pieces: Sequence[Piece], start: int) -> tuple[Decimal, int] | None:
    """The spoken digits after the point: *zero five* is .05, *vingt-cinq* is .25, *двадцать пять сотых* too.

    None if there are none, or more than `MOST_DIGITS`.
    """
    digits, total, i = "", Decimal(0), start
    while i < len(pieces) and pieces[i].joined and not pieces[i].atom.ordinal:
        if len(digits) > MOST_DIGITS:
            return None
        piece = pieces[i]
        if piece.atom.role == "literal" and piece.key.isdigit() and not digits:
            return Decimal("0." + piece.key), i + 1
        if piece.atom.role == "denominator" and digits and total < piece.atom.value:
            return total / piece.atom.value, i + 1
        if piece.atom.role != "add" or piece.atom.value >= 1000 or piece.atom.value % 1:
            break
        value = piece.atom.value
        tens = value in _TENS and i + 1 < len(pieces) and pieces[i + 1].joined
        if tens and pieces[i + 1].atom.role == "add" and 0 < pieces[i + 1].atom.value < 10:
            value += pieces[i + 1].atom.value
            i += 1
        digits, total = digits + str(value), total + value
        i += 1
    return (Decimal("0." + digits), i) if digits else None


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
    spoken = language_data(lang)["spoken"]
    scales = {int(scale): words for scale, words in spoken["scales"].items()}
    if number >= max(scales) * 10**7:
        raise QuantitiesError(f"{number} is too large for the number words of '{lang}': write it in digits")
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


# ----------------------------------------------------------------------------
# The number words of a language: what num2words says for small numbers, and the language's own YAML file.
#
# num2words is asked once a language, for the words below one hundred (and whole hundreds), and its ordinals;
# larger numbers are put together by `compose`. What it does not speak, or gets wrong, stands
# in the YAML file.

#: A word: letters and marks of the scripts in which number words are spelled.
WORD = (
    "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u052f\u0900-\u0963\u0971-\u097f"
    "\u0b80-\u0be5\u0620-\u065f\u066e-\u06d3\u1e00-\u1eff\u200c\u200d]+"
)


_WORDS = re.compile(WORD)


#: How many words of a language are remembered as looked up.
_REMEMBERED = 200_000


_Fact = TypeVar("_Fact")


class Remembered(dict[str, _Fact]):
    """What *look* finds for a word, remembered, because the words of a text repeat.

    >>> lengths = Remembered(len)
    >>> lengths["three"], list(lengths)
    (5, ['three'])
    """

    def __init__(self, look: Callable[[str], _Fact]):
        super().__init__()
        self._look = look

    def __missing__(self, word: str) -> _Fact:
        found = self._look(word)
        if len(word) <= MOST_LETTERS:
            if len(self) > _REMEMBERED:
                self.clear()
            self[word] = found
        return found


#: Letters of the longest word that is looked up; 999 999 has 56 in German, and what is longer is no number.
MOST_LETTERS = 200


def fold(word: str) -> str:
    """The spelling under which a word is looked up: no case, no accents, ß as ss.

    >>> fold("Dreißig"), fold("ventitré"), fold("ТРЁХ")
    ('dreissig', 'ventitre', 'трех')
    """
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    bare = "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f" and c not in "\u200c\u200d")
    return unicodedata.normalize("NFC", bare).replace("ँ", "ं")


@dataclass(frozen=True, slots=True)
class Part:
    """An atom at characters *start* to *end* of its word."""

    atom: Atom
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What a word may be: a number by itself (its parts), or the first word of phrases (longest first)."""

    key: str
    parts: tuple[Part, ...] = ()
    phrases: tuple[tuple[tuple[str, ...], Atom], ...] = ()

    @property
    def begins(self) -> bool:
        """Whether a number may begin with the word; *and*, *and a half* and *point* stand only within one."""
        first = [atom for _, atom in self.phrases] + [part.atom for part in self.parts[:1]]
        return any(atom.role in _SOLID for atom in first)


@dataclass
class Lexicon:
    """The number words of one language; `entry` looks a word up, compounds included."""

    lang: str
    grammar: Grammar
    atoms: dict[str, Atom] = field(default_factory=dict)
    phrases: dict[str, list[tuple[tuple[str, ...], Atom]]] = field(default_factory=dict)
    compound: re.Pattern[str] | None = None
    tails: re.Pattern[str] | None = None
    joints: tuple[tuple[str, str, str], ...] = ()
    roman: re.Pattern[str] | None = None
    prefix: str = ""
    proclitics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.entries = Remembered(self.entry)

    def entry(self, word: str) -> Entry | None:
        """What *word* means as a number word, or None; ``entries[word]`` remembers it."""
        if len(word) > MOST_LETTERS:
            return None
        key = fold(word)
        parts, phrases = self._parts(key), list(self.phrases.get(key, ()))
        if self.prefix and key.startswith(self.prefix):
            phrases += self.phrases.get(key.removeprefix(self.prefix), ())
        if not parts:
            parts = self._after_particle(key)
        if not parts and self.roman is not None and (match := self.roman.fullmatch(word)):
            parts = (Part(Atom("add", roman_value(match[1]), ordinal=True), 0, len(word)),)
        return Entry(key, parts, tuple(phrases)) if parts or phrases else None

    def _after_particle(self, key: str) -> tuple[Part, ...]:
        """The numeral after a particle or article that is written at it (بأربعة)."""
        for particle in self.proclitics:
            numeral = key[len(particle) :]
            if key.startswith(particle) and len(numeral) > 2 and numeral in self.atoms:
                atom = self.atoms[numeral]
                return (Part(atom, 0, len(key)),) if atom.role == "add" else ()  # بالمئة is no hundred
        return ()

    def _parts(self, key: str) -> tuple[Part, ...]:
        if key in self.atoms:
            return (Part(self.atoms[key], 0, len(key)),)
        parts = self._compound(key)
        if not parts and self.tails is not None:
            match = self.tails.search(key)
            if match:
                stem = key[: match.start()]
                parts = (Part(self.atoms[stem], 0, len(stem)),) if stem in self.atoms else self._compound(stem)
                if parts and parts[-1].atom.role not in ("add", "multiply", "scale"):
                    parts = ()
        return parts

    def _compound(self, key: str) -> tuple[Part, ...]:
        """The parts of a word that is put together of number words, all of it (*zwölfhundert*), or nothing."""
        for ending, restored, word in self.joints:
            if key.endswith(ending) and len(key) > len(ending):
                stem = key[: -len(ending)] + restored
                parts = (Part(self.atoms[stem], 0, len(stem)),) if stem in self.atoms else self._compound(stem)
                if parts and word:
                    return self._checked([*parts, Part(self.atoms[word], len(key) - 1, len(key))])
                if parts:
                    last = parts[-1]
                    ordinal = Atom(last.atom.role, last.atom.value, ordinal=True, bare=last.atom.bare)
                    return (*parts[:-1], Part(ordinal, last.start, len(key)))
        if self.compound is None or not key:
            return ()
        found: list[Part] = []
        position = 0
        while position < len(key):
            match = self.compound.match(key, position)
            if match is None:
                return ()
            found.append(Part(self.atoms[match[1]], match.start(1), match.end(1)))
            position = match.end()
        return self._checked(found)

    def _checked(self, parts: list[Part]) -> tuple[Part, ...]:
        pieces = [Piece(part.start, part.end, part.atom, "", joined=True) for part in parts]
        read = compose(pieces, 0, self.grammar)
        return tuple(parts) if read is not None and read.stop == len(parts) else ()


@cache
def lexicon(lang: str) -> Lexicon:
    """The lexicon of a language, built on first use.

    >>> [part.atom.value for part in lexicon("de").entry("Zwölfhundert").parts]
    [Decimal('12'), Decimal('100')]
    >>> lexicon("de").entry("Dreieck") is None
    True
    """
    data = language_data(lang)
    grammar = Grammar(**dict.fromkeys(data.get("grammar", ()), True))
    built = Lexicon(lang, grammar, proclitics=tuple(map(fold, data.get("proclitics", ()))))
    for words, atom in _vocabulary(data):
        if len(words) == 1:
            built.atoms.setdefault(words[0], atom)
        else:
            built.phrases.setdefault(words[0], []).append((words[1:], atom))
    for word, value in data.get("words", {}).items():
        if value is None:
            built.atoms.pop(fold(word), None)
    for found in built.phrases.values():
        found.sort(key=lambda phrase: -len(phrase[0]))
    if data.get("compound"):
        inflected = set(map(fold, data["compound"].get("inflected", ())))
        solid = sorted(
            (w for w, a in built.atoms.items() if a.role in _SOLID and len(w) > 1 and w not in inflected),
            key=len,
            reverse=True,
        )
        inner = "|".join(map(re.escape, data["compound"]["glue"]))
        built.prefix = inner if inner in data.get("glue", ()) else ""  # وخمسة عشر
        built.compound = re.compile(rf"(?:{inner})?({'|'.join(solid)})" if inner else f"({'|'.join(solid)})")
    if "roman" in data:
        # One letter alone is a numeral in the contexts that the language lists, or with an ending (Ve siècle).
        endings = "|".join(data["roman"])
        single = "[IVX]" if data.get("roman_letters") else f"[IVX](?:{endings or '[IVX]'})$"
        long_enough = f"(?=[IVX]{{2}}|{single})"
        built.roman = re.compile(f"{long_enough}(X{{0,3}}(?:IX|IV|V?I{{0,3}}))(?:{endings})?")
    if data.get("tails"):
        built.tails = re.compile("(?:" + "|".join(fold(tail) for tail in data["tails"]) + ")$")
    built.joints = tuple((fold(a), fold(b), fold(c)) for a, b, c in data.get("joints", ()))
    return built


_SOLID = frozenset({"add", "multiply", "scale"})


def roman_value(numeral: str) -> Decimal:
    """The value of a Roman numeral below forty.

    >>> roman_value("XIX")
    Decimal('19')
    """
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return Decimal(sum(-value if value < following else value for value, following in pairs))


def _vocabulary(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Atom]]:
    """Every word or phrase with its atom; where one word is said twice, the first holds."""
    bare = {fold(word) for word in data.get("bare", ())}
    for word in data.get("articles", ()):
        yield _key(word), Atom("add", Decimal(1), article=True)
    for word, value in data.get("words", {}).items():
        if value is not None:
            yield _key(word), Atom("add", Decimal(str(value)))
    for value, words in data.get("multipliers", {}).items():
        for word in words:
            yield _key(word), Atom("multiply", Decimal(value), bare=fold(word) in bare)
    for value, words in data["scales"].items():
        for word in words:
            yield _key(word), Atom("scale", Decimal(value), bare=fold(word) in bare)
    for word in data.get("point", ()):
        yield _key(word), Atom("point")
    for word in data.get("glue", ()):
        yield _key(word), Atom("glue")
    for name, part in (("half", "0.5"), ("quarter", "0.25")):
        for phrase in data.get(name, ()):
            yield tuple(fold(word) for word in phrase), Atom("half", Decimal(part))
    for word in data.get("minus", {}).get("words", ()):
        yield _key(word), Atom("minus")
    for value, words in data.get("denominators", {}).items():
        for word in words:
            yield _key(word), Atom("denominator", Decimal(value))
    for value, words in data.get("ordinals", {}).items():
        for word in words:
            yield _key(word), Atom(_role(value), Decimal(value), ordinal=True, bare=True)
    for value, words in enumerate(data.get("below_hundred", ())):
        for word in words.split("/"):
            yield _key(word), Atom("add", Decimal(value))
    yield from _spoken(data.get("lexicon"))


def _role(value: int) -> Role:
    if value >= 1000:
        return "scale"
    return "multiply" if value == 100 else "add"


def _key(phrase: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _WORDS.findall(phrase))


def _spoken(spec: Mapping[str, Any] | None) -> Iterator[tuple[tuple[str, ...], Atom]]:
    """The small numbers as num2words says them, in every locale, case and gender that *spec* names."""
    if spec is None:
        return
    from num2words import num2words

    hundreds = range(100, 1000, 100) if spec.get("hundreds") else ()
    values = range(1000) if spec.get("solid") else [*range(100), *hundreds]
    ranks = range(1, 1001) if spec.get("solid") else [*range(1, 101), 1000]
    for locale in spec["locales"]:
        for options in spec.get("options", [{}]):
            for value in values:
                key = _key(num2words(value, lang=locale, **options))
                if value < 100 or len(key) == 1:
                    for variant in _variants(key, spec.get("variants", {})):
                        yield variant, Atom("add", Decimal(value))
        for value in () if spec.get("no_ordinals") else ranks:
            key = _key(num2words(value, lang=locale, to="ordinal"))
            if value in (100, 1000):
                key = key[-1:]  # "one hundredth", of which the first word is a number of its own
            for variant in _variants(key, spec.get("ordinal_endings", {})):
                yield variant, Atom(_role(value), Decimal(value), ordinal=True, bare=True)


def _variants(key: tuple[str, ...], endings: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """*key* itself, and with each ending that may stand for its own."""
    yield key
    for ending, others in endings.items():
        if key[-1].endswith(fold(ending)):
            stem = key[-1][: len(key[-1]) - len(fold(ending))]
            for other in others:
                yield (*key[:-1], stem + fold(other))


# ----------------------------------------------------------------------------
# Words for *both*, which may stand for the number two and are no number themselves.


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
