"""From the pieces of a number (*three | hundred | five | million*) to its value: one machine for all languages.

A number is a sum of parts of falling magnitude. Small words add up (*twenty five*), a multiplier below the first scale
word (*hundred*, 十百千) multiplies what it follows, and a scale word (*thousand*, 万, lakh) multiplies everything
smaller that stands before it (*dos mil quinientos millones*, 三千万亿).

What differs between languages is their `grammar`, a set of names. digit_tail: digits may follow a scale word (3万5000,
12 लाख 345). digit_multiplier: a multiplier takes the last digit alone (二百三十: 2·100 + 3·10), as in Chinese and
Japanese, rather than all that stands before it (*twenty-five hundred*). short_tail: a last digit counts in tenths of
the unit before it (一百二 is 120), as in Chinese. glued_hundreds: *and* stands between a word for hundreds and the rest
(*cento e vinte*).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from functools import reduce
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from nbquantities.tokenise import MOST_DIGITS, Atom, Piece

#: So wide that no number of a text is ever rounded.
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


Grammar: TypeAlias = Collection[str]


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
            follows = "digit_multiplier" in self.grammar and self.unit is not None and value < self.unit
        else:
            tail = "digit_tail" in self.grammar or before_multiplier
            follows = not self.parts or (value < self.parts[-1][1] and tail)
        if follows:
            self.open, self.room = value, None
        return follows

    def multiply(self, unit: Decimal, bare: bool) -> bool:
        if self.fraction and "digit_multiplier" in self.grammar:
            return False
        if self.unit is not None and unit >= self.unit:
            return False
        self.fraction = False  # two and a half dozen
        factor = None if self.filled() else self.open
        if factor is None:
            if not bare:
                return False
            factor = Decimal(1)
        # What a multiplier takes stays below this: one spoken digit, 三百 of digits, or *twelve hundred*.
        most = 100 if "digit_multiplier" not in self.grammar else 1000 if self.room is None else 10
        if factor == 0 or factor >= most:
            return False
        self.section = _total(self.section, _product(factor, unit))
        self.open, self.room, self.unit = None, None, unit
        return True

    def scale(self, magnitude: Decimal, bare: bool) -> bool:
        factor = self.below
        if self.parts and self.parts[-1][1] == magnitude:
            if "digit_multiplier" not in self.grammar or factor is not None or len(self.parts) > 1:
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
            or ("digit_multiplier" not in grammar and _counts_anew(pieces, start, i))
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
    if "short_tail" in grammar:
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
        hundreds = "glued_hundreds" in so_far.grammar and so_far.open >= 100 and so_far.open % 100 == 0
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
