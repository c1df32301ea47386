"""`find_numbers`: the numbers of a text, left to right, by the conventions of its language.

In the order of the file: from the pieces of a number to its value; the number words of a language; words for *both*;
what the signs and words around a number make of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal
from decimal import Context as Precision
from functools import cache, reduce
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

from nbquantities.language import check_text, language_data
from nbquantities.tokenise import (
    MOST_DIGITS,
    MOST_LETTERS,
    SOLID,
    WORDS,
    Atom,
    Entry,
    Piece,
    Reader,
    Role,
    SpacedReader,
    UnspacedReader,
    fold,
)

Kind: TypeAlias = OneOf["cardinal", "ordinal", "percent"]


@dataclass(frozen=True)
class Number:
    """One number found in a text.

    Parameters
    ----------
    value : Decimal
        The exact value; 5 for *5 %* and for *5th*, −5 for *minus five*.
    span : tuple of (int, int)
        Half-open range of characters, with sign and scale word, without percent sign, unit or measure word.
    form : str
        How the number is written: "digits", "grouped", "scale" (digits and a scale word), "words", "native" (other
        digits than 0–9), "financial" (壹贰叁), "roman", or "article" for a weak or lone *one* (*ein*, *un*, *one*,
        *一个*), which may have the value 1 or none.
    kind : {"cardinal", "ordinal", "percent"}
        The kind of number.
    localised : bool
        False if the notation is another convention's and cannot be misread (German ``1.23``).

    Examples
    --------
    >>> Number(Decimal("1.23"), (0, 4), "digits", "cardinal", localised=False)
    Number(value=Decimal('1.23'), span=(0, 4), form='digits', kind='cardinal', localised=False)
    """

    value: Decimal
    span: tuple[int, int]
    form: str
    kind: Kind
    localised: bool


# ----------------------------------------------------------------------------
# From the pieces of a number (*three | hundred | five | million*) to its value. One machine for all
# languages.
#
# A number is a sum of parts of falling magnitude. Small words add up (*twenty five*), a multiplier below the
# first scale word (*hundred*, 十百千) multiplies what it follows, and a scale word (*thousand*, 万, lakh)
# multiplies everything smaller that stands before it (*dos mil quinientos millones*, 三千万亿).

#: So wide that no number of a text is ever rounded.
EXACT = Precision(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


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
        return _total(self.section, self.open)

    @property
    def total(self) -> Decimal | None:
        return _total(self.section, self.open, *(value for value, _ in self.parts))

    def ceiling(self) -> Decimal | None:
        """The magnitude that an added value has to stay below, or None if anything goes."""
        return self.unit if self.section is not None else self.parts[-1][1] if self.parts else None

    def filled(self) -> bool:
        """Whether the open part is the 零 of 一千零一, which only fills a gap."""
        return self.open == 0 and self.ceiling() is not None

    def add(self, value: Decimal) -> bool:
        ceiling = self.ceiling()
        if self.fraction:
            return False
        if value >= 1000 and value % 1000 == 0 and self.below is None:  # ألفان, two thousand
            magnitude = Decimal(1000) ** (_zeros(value) // 3)
            if ceiling is not None and ceiling <= magnitude:
                return False
            self.parts.append((value, magnitude))
            return True
        if self.open is None or self.filled():
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
            follows = self.grammar.digit_multiplier and self.unit is not None and value < self.unit
        else:
            tail = self.grammar.digit_tail or before_multiplier
            follows = not self.parts or (value < self.parts[-1][1] and tail)
        if follows:
            self.open, self.room = value, None
        return follows

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
        self.section = _total(self.section, _product(factor, unit))
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


def _total(*values: Decimal | None) -> Decimal | None:
    """The exact sum of those that are there, None if none is."""
    present = [value for value in values if value is not None]
    return reduce(EXACT.add, present) if present else None


def _product(factor: Decimal, unit: Decimal) -> Decimal:
    """1.50 million is 1500000, not 1500000.00."""
    product = EXACT.multiply(factor, unit)
    if product == product.to_integral_value():
        return product.quantize(Decimal(1), context=EXACT)
    return product.normalize(EXACT)


def _zeros(value: Decimal) -> int:
    return len(str(value)) - len(str(value).rstrip("0"))


def _room_after(value: Decimal) -> Decimal:
    """*twenty* leaves room for 1–9, *doscientos* for 1–99; what does not end in zero, or is below 20, for nothing."""
    zeros = _zeros(value) if value >= 20 and value == value.to_integral_value() else 0
    return Decimal(10**zeros if zeros else 0)


_TENS = frozenset(Decimal(10 * i) for i in range(2, 10))


class Composed(NamedTuple):
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
        if i > start and (
            not piece.joined
            or atom.leading
            or (atom.ordinal and atom.role == "add" and pieces[start].atom.role == "literal")  # 2 million, second
            or (not grammar.digit_multiplier and _counts_anew(pieces, start, i))
        ):
            break
        following = pieces[i + 1] if i + 1 < len(pieces) and pieces[i + 1].joined else None
        before = so_far.total
        if atom.role in ("add", "literal"):
            if before is not None and so_far.open is None and pieces[i - 1].atom.role not in ("glue", "comma"):
                safe = Composed(before, i, False)  # eine Million zwei Millionen
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
    """Whether a word right after digits and a scale word begins another number: *1.7 million four years ago*."""
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
# The number words of a language: what num2words says for small numbers, and the language's own YAML file.
#
# num2words is asked once a language, for the words below one hundred (and whole hundreds), and its ordinals;
# larger numbers are put together by `compose`. What it does not speak, or gets wrong, stands
# in the YAML file.


class Lexicon:
    """The number words of one language; `entry` looks a word up, compounds included.

    >>> [part.atom.value for part in Lexicon("de").entry("Zwölfhundert").parts]
    [Decimal('12'), Decimal('100')]
    >>> Lexicon("de").entry("Dreieck") is None
    True
    """

    def __init__(self, lang: str):
        data = language_data(lang)
        compound = data.get("compound", {"glue": ()})
        self.grammar = Grammar(**dict.fromkeys(data.get("grammar", ()), True))
        self.proclitics = tuple(map(fold, data.get("proclitics", ())))
        self.joints = [(fold(a), fold(b), fold(c)) for a, b, c in data.get("joints", ())]
        self.tails = re.compile(f"(?:{'|'.join(map(fold, data['tails']))})$" if "tails" in data else "(?!)")
        self.atoms: dict[str, Atom] = {}
        self.phrases: dict[str, list[tuple[tuple[str, ...], Atom]]] = {}
        for (first, *rest), atom in _vocabulary(data):
            if rest:
                self.phrases.setdefault(first, []).append((tuple(rest), atom))
            else:
                self.atoms.setdefault(first, atom)
        for word, value in data.get("words", {}).items():
            if value is None:
                self.atoms.pop(fold(word), None)
        for phrases in self.phrases.values():
            phrases.sort(key=lambda phrase: -len(phrase[0]))
        whole = {word for word in self.atoms if len(word) < 2} | set(map(fold, compound.get("inflected", ())))
        solid = [word for word, atom in self.atoms.items() if atom.role in SOLID and word not in whole]
        inner = "|".join(map(re.escape, compound["glue"]))
        self.prefix = inner if inner in data.get("glue", ()) else "\0"  # وخمسة عشر
        words = "|".join(sorted(solid, key=len, reverse=True)) if "compound" in data else "(?!)"
        self.compound = re.compile(f"(?:{inner})?({words})")
        # One letter alone is a numeral in the contexts that the language lists, or with an ending (Ve siècle).
        endings = "|".join(data.get("roman", ()))
        single = "[IVX]" if data.get("roman_letters") else f"[IVX](?:{endings or '[IVX]'})$"
        roman = f"(?=[IVX]{{2}}|{single})(X{{0,3}}(?:IX|IV|V?I{{0,3}}))(?:{endings})?"
        self.roman = re.compile(roman if "roman" in data else "(?!)")

    def entry(self, word: str) -> Entry | None:
        """What *word* means as a number word, or None."""
        if len(word) > MOST_LETTERS:
            return None
        key = fold(word)
        parts, phrases = self._parts(key) or self._after_particle(key), list(self.phrases.get(key, ()))
        if key.startswith(self.prefix):
            phrases += self.phrases.get(key.removeprefix(self.prefix), ())
        if not parts and (match := self.roman.fullmatch(word)):
            parts = (Piece(0, len(word), Atom("add", roman_value(match[1]), ordinal=True), "", True),)
        return Entry(key, parts, tuple(phrases)) if parts or phrases else None

    def _after_particle(self, key: str) -> tuple[Piece, ...]:
        """The numeral after a particle or article that is written at it (بأربعة)."""
        for particle in self.proclitics:
            atom = self.atoms.get(key[len(particle) :])
            if atom is not None and key.startswith(particle) and len(key) > len(particle) + 2:
                return (Piece(0, len(key), atom, "", True),) if atom.role == "add" else ()  # بالمئة is no hundred
        return ()

    def _parts(self, key: str) -> tuple[Piece, ...]:
        parts, tail = self._solid(key), self.tails.search(key)
        if not parts and tail:
            parts = self._solid(key[: tail.start()])
            return parts if parts and parts[-1].atom.role in SOLID else ()
        return parts

    def _solid(self, key: str) -> tuple[Piece, ...]:
        """The parts of a number word, or of a word that is put together of them, all of it (*zwölfhundert*)."""
        if key in self.atoms:
            return (Piece(0, len(key), self.atoms[key], "", True),)
        for ending, restored, word in self.joints:
            parts = self._solid(key[: -len(ending)] + restored) if key.endswith(ending) and key != ending else ()
            if parts and word:
                return self._checked([*parts, Piece(len(key) - 1, len(key), self.atoms[word], "", True)])
            if parts:
                ordinal = replace(parts[-1].atom, ordinal=True)
                return (*parts[:-1], replace(parts[-1], end=len(key), atom=ordinal))
        found = list(self.compound.finditer(key))
        complete = found and sum(match.end() - match.start() for match in found) == len(key)
        return (
            self._checked([Piece(*match.span(1), self.atoms[match[1]], "", True) for match in found])
            if complete
            else ()
        )

    def _checked(self, parts: list[Piece]) -> tuple[Piece, ...]:
        read = compose(parts, 0, self.grammar)
        return tuple(parts) if read is not None and read.stop == len(parts) else ()


def roman_value(numeral: str) -> Decimal:
    """The value of a Roman numeral below forty.

    >>> roman_value("XIX")
    Decimal('19')
    """
    values = [{"I": 1, "V": 5, "X": 10}[letter] for letter in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return Decimal(sum(-value if value < following else value for value, following in pairs))


def _vocabulary(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Atom]]:
    """Every word or phrase with its atom; where one word is there twice, the first holds."""
    bare = {fold(word) for word in data.get("bare", ())}
    below_hundred = {value: words.split("/") for value, words in enumerate(data.get("below_hundred", ()))}
    tables: list[tuple[Role | None, Mapping[Any, Iterable[str]]]] = [
        ("multiply", data.get("multipliers", {})),
        ("scale", data["scales"]),
        ("point", {0: data.get("point", ())}),
        ("glue", {0: data.get("glue", ())}),
        ("half", {"0.5": map(" ".join, data.get("half", ())), "0.25": map(" ".join, data.get("quarter", ()))}),
        ("minus", {0: data.get("minus", {}).get("words", ())}),
        ("denominator", data.get("denominators", {})),
        (None, data.get("ordinals", {})),
        ("add", below_hundred),
    ]
    for word in data.get("articles", ()):
        yield _key(word), Atom("add", Decimal(1), leading=word in data.get("leading", ()))
    for word, value in data.get("words", {}).items():
        if value is not None:
            yield _key(word), Atom("add", Decimal(str(value)))
    for role, table in tables:
        for value, words in table.items():
            for word in words:
                stands_alone = role is None or fold(word) in bare
                yield _key(word), Atom(role or _role(value), Decimal(value), ordinal=role is None, bare=stands_alone)
    yield from _spoken(data.get("lexicon"))


def _role(value: int) -> Role:
    if value >= 1000:
        return "scale"
    return "multiply" if value == 100 else "add"


def _key(phrase: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in WORDS.findall(phrase))


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
    """Yield *key*, then *key* with the ending of its last word replaced by each alternative ending."""
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


# ----------------------------------------------------------------------------
# `find_numbers`: the numbers of a text, left to right.

_SPACES = " \u00a0\u2009\u202f"


#: A sign before a number, and between them a sign of money.
_SIGN = re.compile("[-\u2212\u2013\u2012\uff0d\ufe63][$€£¥₹₽￥]{0,3}$")
#: What stands before the minutes of *7:00*, which *7 Uhr* and *7 a.m.* leave unsaid.
_FULL_HOUR = re.compile(r"\d[:.hH]")


_TRUE_MINUS = "\u2212"


_PERCENT_SIGN = f"[{_SPACES}]*[%％٪﹪]"


_ROMAN = re.compile(r"[IVX]+\w*")


def find_numbers(text: str, lang: str) -> list[Number]:
    """Find the numbers of *text*, left to right, by the conventions of *lang*.

    Parameters
    ----------
    text : str
        Any text. The work is linear in its length.
    lang : str
        A language with number rules: en, de, zh, ta, ne, fr, es, it, ru or ja.

    Returns
    -------
    list of Number
        Digits with the separators, groups and native digits of the language; scale words (*1.5 million*, 3亿2000万,
        ``1.5k``); spelled-out cardinals and ordinals; signs and percentages.

    Raises
    ------
    UnknownNameError
        For a language without number rules.

    Notes
    -----
    Ambiguous notation is read by the rules of the language (German ``1.234`` is 1234). Dates, times, ranges and version
    strings are split into their parts (``3-5`` is 3 and 5). Chinese and Japanese names of months and weekdays (5月,
    星期三), vague quantities (*thousands*, 几百), and runs of more than `nbquantities.tokenise.MOST_DIGITS` digits,
    which looping models produce, do not count as numbers.

    References
    ----------
    Wang et al. 2021, "As Easy as 1, 2, 3", §2 and A.1: the forms that count as correct.

    Examples
    --------
    >>> [str(n.value) for n in find_numbers("Sie zahlten 1.234,50 Euro für zwölfhundert Stühle.", "de")]
    ['1234.50', '1200']
    >>> [(str(n.value), n.form, n.localised) for n in find_numbers("1.23", "de")]
    [('1.23', 'digits', False)]
    >>> [(str(n.value), n.kind) for n in find_numbers("the 3rd of 20 % or two and a half million", "en")]
    [('3', 'ordinal'), ('20', 'percent'), ('2500000', 'cardinal')]
    """
    check_text(text)
    rules = _rules(lang)
    pieces = rules.reader.pieces(text)
    numbers: list[Number] = []
    i, done = 0, 0
    while i < len(pieces):
        if pieces[i].start < done:
            i += 1
            continue
        read = compose(pieces, i, rules.grammar)
        if read is None:
            i += 1
            continue
        number, done = _number(text, pieces, i, read, numbers, rules)
        if number is not None:
            numbers.append(number)
        i = read.stop
    return numbers


class Context:
    """When a word that is also another word (*sei*, *neuf*, छ) is a number; patterns for its neighbours."""

    def __init__(self, spec: Mapping[str, Sequence[str]]):
        self.after, self.before, self.not_after, self.not_before = (
            re.compile("|".join(spec.get(name, ["(?!)"])), re.IGNORECASE)
            for name in ("after", "before", "not_after", "not_before")
        )
        self.anywhere = not spec.keys() & {"after", "before"}

    def holds(self, previous: str, following: str) -> bool:
        """Whether the word is a number between these neighbours; alone in its text it always is."""
        if not previous and not following:
            return True
        if self.not_after.fullmatch(previous) or self.not_before.fullmatch(following):
            return False
        return self.anywhere or bool(self.after.fullmatch(previous) or self.before.fullmatch(following))


class Rules:
    """What surrounds a number in one language."""

    def __init__(self, lang: str):
        data = language_data(lang)
        han, minus = data.get("script") == "han", data.get("minus", {})
        self.reader: Reader = UnspacedReader(lang) if han else SpacedReader(lang, Lexicon(lang).entry)
        self.grammar = Grammar(**dict.fromkeys(data.get("grammar", ()), True))
        words = f"(?:{'|'.join(data.get('percent', ()))})" + ("" if han else r"(?!\w)")
        self.percent = re.compile(f"{_PERCENT_SIGN}|[{_SPACES}-]*{words}", re.IGNORECASE)
        self.ordinal_suffix = re.compile(data.get("ordinal_suffix", "(?!)"))
        self.sentence_starts: Sequence[str] | None = data.get("sentence_starts")  # before them, "3." is no ordinal
        self.ordinal_prefix: str = data.get("ordinal_prefix", "")
        self.article_before = re.compile(data.get("article_before", "(?!)"))
        self.not_minus_after: Sequence[str] = minus.get("not_after", ())
        self.minus_after = frozenset(data.get("minus_after", ""))
        self.fraction_of: Sequence[str] | None = data.get("fraction_of")  # None: ordinals are no denominators
        self.contexts = {fold(word): Context(spec) for word, spec in data.get("contexts", {}).items()}
        self.neighbours = _characters_beside if han else _words_beside


_rules = cache(Rules)


def _number(
    text: str, pieces: Sequence[Piece], first: int, read: Composed, before: Sequence[Number], rules: Rules
) -> tuple[Number | None, int]:
    """The number of the pieces from *first* to ``read.stop``, and where the reading goes on."""
    used = pieces[first : read.stop]
    start, end = used[0].start, used[-1].end
    ahead = pieces[first - 1].atom.role if first and used[0].joined else None
    lone = len(used) == 1 and used[0].literal is None and ahead != "minus"
    context = rules.contexts.get(used[0].key) if lone else None
    if (
        (context is not None and not context.holds(*rules.neighbours(text, start, end)))
        or (read.ordinal and before and _is_denominator(text, start, end, before[-1], rules))
        or (used[0].key == "00" and _FULL_HOUR.match(text[max(0, start - 2) : start]))
    ):
        return None, end
    value, sign_start = _signed(text, pieces, first, read.value, before, rules)
    kind: Kind = "ordinal" if read.ordinal else "cardinal"
    done = end
    if not read.ordinal:
        suffix = _ordinal_end(text, used, rules)
        percent = rules.percent.match(text, end)
        if suffix is not None:
            kind, end, done = "ordinal", suffix, suffix
        elif percent is not None:
            kind, done = "percent", percent.end()
        elif ahead == "percent":
            kind = "percent"
        elif rules.ordinal_prefix and text.startswith(rules.ordinal_prefix, sign_start - len(rules.ordinal_prefix)):
            kind, sign_start = "ordinal", sign_start - len(rules.ordinal_prefix)
    form = _form(text, used, value, kind)
    if value == 1 and kind == "cardinal" and rules.article_before.match(text, end):
        form = "article"
    localised = all(piece.literal.localised for piece in used if piece.literal is not None)
    return Number(value, (sign_start, end), form, kind, localised), done


def _form(text: str, used: Sequence[Piece], value: Decimal, kind: Kind) -> str:
    literals = [piece.literal for piece in used if piece.literal is not None]
    if any(piece.atom.financial for piece in used):
        return "financial"
    if not literals:
        if len(used) == 1 and kind == "cardinal" and value in (1, -1):
            return "article"
        return "roman" if _ROMAN.fullmatch(text[used[0].start : used[-1].end]) else "words"
    if any(piece.atom.role in ("scale", "multiply") for piece in used):
        return "scale"
    if any(literal.native for literal in literals):
        return "native"
    return "grouped" if any(literal.grouped for literal in literals) else "digits"


def _signed(
    text: str, pieces: Sequence[Piece], first: int, value: Decimal, before: Sequence[Number], rules: Rules
) -> tuple[Decimal, int]:
    """The value with its sign, and where the number begins with it.

    A sign stands at a beginning: not between two numbers (3-5, 3 − 5) nor after a letter (COVID-19).
    """
    start = pieces[first].start
    if first and pieces[first - 1].atom.role == "minus" and pieces[first].joined:
        minus = pieces[first - 1].start
        subtracts = before and not text[before[-1].span[1] : minus].strip(_SPACES)
        if not subtracts and _previous_word(text, minus).lower() not in rules.not_minus_after:
            return value.copy_negate(), minus
    sign = _SIGN.search(text[max(0, start - 4) : start]) if pieces[first].literal is not None else None
    if sign is None:
        return value, start
    at = start - len(sign[0])
    beside = text[max(0, at - 40) : at]
    left = beside.rstrip(_SPACES)[-1:]
    if sign[0][0] == _TRUE_MINUS:
        joins = left.isdigit() or left == ")"
    elif not left or left in rules.minus_after:
        joins = False
    else:
        touching = beside[-1] not in _SPACES
        left = beside.rstrip(".")[-1:] or left if touching else left  # 3.-5. Mai
        joins = (
            left.isdigit() or left in "%)" or (touching and (unicodedata.category(left)[0] in "LMN" or left in "-–—"))
        )
    return (value, start) if joins else (value.copy_negate(), at)


def _ordinal_end(text: str, used: Sequence[Piece], rules: Rules) -> int | None:
    """Where the number with its ordinal suffix ends (*3rd*, *3º*, *3.* in German), or None if it has none."""
    literal = used[-1].literal
    match = rules.ordinal_suffix.match(text, used[-1].end)
    if match and (literal is not None or rules.ordinal_prefix):
        return match.end()
    if literal is None or len(used) > 1 or rules.sentence_starts is None or literal.grouped:
        return None
    following = _next_word(text, literal.end + 1)
    dotted = len(literal.digits) < 4 and literal.digits.isdecimal() and text[literal.end : literal.end + 1] == "."
    spaced = text[literal.end + 1 : literal.end + 2] in tuple(_SPACES)
    return literal.end + 1 if dotted and spaced and following and following not in rules.sentence_starts else None


def _is_denominator(text: str, start: int, end: int, before: Number, rules: Rules) -> bool:
    """Whether an ordinal is the *third* of *two thirds*, or of *one third of*."""
    gap = text[before.span[1] : start]
    if rules.fraction_of is None or gap not in (" ", "-") or before.kind != "cardinal":
        return False
    return before.form != "article" or _next_word(text, end).lower() in rules.fraction_of


_NEXT = re.compile(r"[\s\u00a0-]*([^\s.,;:!?()«»\"“”'’-]{1,64})")


_PREVIOUS = re.compile(r"([^\s.,;:!?()«»\"“”'’-]+)[\s'’-]*$")


def _words_beside(text: str, start: int, end: int) -> tuple[str, str]:
    return _previous_word(text, start), _next_word(text, end)


def _characters_beside(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - 1) : start], text[end : end + 1]


def _next_word(text: str, end: int) -> str:
    match = _NEXT.match(text, end)
    return match[1] if match else ""


def _previous_word(text: str, start: int) -> str:
    match = _PREVIOUS.search(text[max(0, start - 40) : start])
    return match[1] if match else ""
