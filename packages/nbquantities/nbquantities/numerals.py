"""`find_numbers`: the numbers of a text, left to right, by the conventions of its language.

In the order of the file: from the pieces of a number to its value; the number words of a language; words for *both*;
what the signs and words around a number make of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal
from decimal import Context as Precision
from functools import cache
from itertools import takewhile
from typing import Any, TypeAlias
from typing import Literal as OneOf

from nbquantities.language import (
    check_text,
    language_data,
)
from nbquantities.tokenise import (
    MOST_DIGITS,
    MOST_LETTERS,
    SOLID,
    WORDS,
    Atom,
    Entry,
    Part,
    Piece,
    Reader,
    Remembered,
    Role,
    fold,
    spaced_reader,
    unspaced_reader,
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
# The number words of a language: what num2words says for small numbers, and the language's own YAML file.
#
# num2words is asked once a language, for the words below one hundred (and whole hundreds), and its ordinals;
# larger numbers are put together by `compose`. What it does not speak, or gets wrong, stands
# in the YAML file.


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
            (w for w, a in built.atoms.items() if a.role in SOLID and len(w) > 1 and w not in inflected),
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


_MINUS_SIGNS = frozenset("-\u2212\u2013\u2012\uff0d\ufe63")


_TRUE_MINUS = "\u2212"


_CURRENCY_SIGN = "$€£¥₹₽￥"


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
    return read_numbers(text, lang) if _rules(lang).reader.may_hold(text) else []


def read_numbers(text: str, lang: str) -> list[Number]:
    """The numbers of a text in which one may begin, as `find_numbers` finds them.

    >>> [str(number.value) for number in read_numbers("five", "en")]
    ['5']
    """
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


def may_begin_number(text: str, lang: str) -> bool:
    """Whether *text* holds a digit, or a word or character that a number may begin with.

    >>> may_begin_number("a man and his five dogs", "en"), may_begin_number("men and dogs", "en")
    (True, False)
    """
    return _rules(lang).reader.begins(text)


@dataclass(frozen=True)
class Context:
    """When a word that is also another word (*sei*, *neuf*, छ) is a number; patterns for its neighbours."""

    after: re.Pattern[str] | None
    before: re.Pattern[str] | None
    not_after: re.Pattern[str] | None
    not_before: re.Pattern[str] | None

    def holds(self, previous: str, following: str) -> bool:
        """Whether the word is a number between these neighbours; alone in its text it always is."""
        if not previous and not following:
            return True
        if self.not_after is not None and self.not_after.fullmatch(previous):
            return False
        if self.not_before is not None and self.not_before.fullmatch(following):
            return False
        if self.after is None and self.before is None:
            return True
        after = self.after is not None and self.after.fullmatch(previous) is not None
        return after or (self.before is not None and self.before.fullmatch(following) is not None)


@dataclass(frozen=True)
class Rules:
    """What surrounds a number in one language."""

    reader: Reader
    grammar: Grammar
    percent: re.Pattern[str]
    ordinal_suffix: re.Pattern[str] | None
    ordinal_dot: frozenset[str] | None  # words that begin a sentence, where "3." is an ordinal otherwise
    ordinal_prefix: str
    article_before: re.Pattern[str] | None
    not_minus_after: frozenset[str]
    minus_after: frozenset[str]
    fraction_of: frozenset[str] | None  # None: ordinals do not serve as denominators
    contexts: dict[str, Context]
    neighbours: Callable[[str, int, int], tuple[str, str]]


@cache
def _rules(lang: str) -> Rules:
    data = language_data(lang)
    reader: Reader = unspaced_reader(lang) if data.get("script") == "han" else spaced_reader(lang, lexicon(lang))
    words = "|".join(data.get("percent", ()))
    boundary = "" if data.get("script") == "han" else r"(?!\w)"
    return Rules(
        reader=reader,
        grammar=Grammar(**dict.fromkeys(data.get("grammar", ()), True)),
        percent=re.compile(f"{_PERCENT_SIGN}|[{_SPACES}-]*(?:{words}){boundary}", re.IGNORECASE),
        ordinal_suffix=_optional(data.get("ordinal_suffix")),
        ordinal_dot=frozenset(data["sentence_starts"]) if "sentence_starts" in data else None,
        article_before=_optional(data.get("article_before")),
        ordinal_prefix=data.get("ordinal_prefix", ""),
        not_minus_after=frozenset(data.get("minus", {}).get("not_after", ())),
        minus_after=frozenset(data.get("minus_after", "")),
        fraction_of=frozenset(data["fraction_of"]) if "fraction_of" in data else None,
        contexts={fold(word): _context(spec) for word, spec in data.get("contexts", {}).items()},
        neighbours=_characters_beside if data.get("script") == "han" else _words_beside,
    )


def _optional(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern)


def _context(spec: dict[str, list[str]]) -> Context:
    def any_of(name: str) -> re.Pattern[str] | None:
        return re.compile("|".join(spec[name]), re.IGNORECASE) if name in spec else None

    return Context(any_of("after"), any_of("before"), any_of("not_after"), any_of("not_before"))


def _number(
    text: str, pieces: Sequence[Piece], first: int, read: Composed, before: Sequence[Number], rules: Rules
) -> tuple[Number | None, int]:
    """The number of the pieces from *first* to ``read.stop``, and where the reading goes on."""
    used = pieces[first : read.stop]
    start, end = used[0].start, used[-1].end
    signed = first > 0 and pieces[first - 1].atom.role == "minus" and used[0].joined
    lone = len(used) == 1 and used[0].literal is None and not signed
    context = rules.contexts.get(used[0].key) if lone else None
    if context is not None and not context.holds(*rules.neighbours(text, start, end)):
        return None, end
    if read.ordinal and before and _is_denominator(text, start, end, before[-1], rules):
        return None, end
    if _is_full_hour(text, used):
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
        elif first and pieces[first - 1].atom.role == "percent" and used[0].joined:
            kind = "percent"
        elif rules.ordinal_prefix and text.startswith(rules.ordinal_prefix, sign_start - len(rules.ordinal_prefix)):
            kind, sign_start = "ordinal", sign_start - len(rules.ordinal_prefix)
    form = _form(text, used, value, kind)
    if value == 1 and kind == "cardinal" and rules.article_before is not None and rules.article_before.match(text, end):
        form = "article"
    localised = all(piece.literal.localised for piece in used if piece.literal is not None)
    return Number(value, (sign_start, end), form, kind, localised), done


def _form(text: str, used: Sequence[Piece], value: Decimal, kind: Kind) -> str:
    literal = used[0].literal
    if len(used) == 1 and literal is not None:  # most numbers
        return "native" if literal.native else "grouped" if literal.grouped else "digits"
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
    previous_end = before[-1].span[1] if before else -1
    if first and pieces[first - 1].atom.role == "minus" and pieces[first].joined:
        minus = pieces[first - 1]
        subtracts = previous_end >= 0 and not text[previous_end : minus.start].strip(_SPACES)
        if not subtracts and _previous_word(text, minus.start).lower() not in rules.not_minus_after:
            return value.copy_negate(), minus.start
    if pieces[first].literal is None:
        return value, start
    at = start - 1
    while at > 0 and text[at] in _CURRENCY_SIGN:
        at -= 1
    if at < 0 or text[at] not in _MINUS_SIGNS:
        return value, start
    left = _last_but(_SPACES, text, at)
    if text[at] == _TRUE_MINUS:
        return (value, start) if left[:1].isdigit() or left == ")" else (value.copy_negate(), at)
    if not left or left in rules.minus_after:
        return value.copy_negate(), at
    touching = text[at - 1] not in _SPACES
    if touching:
        left = _last_but(".", text, at) or left  # 3.-5. Mai
    joins = left.isdigit() or left in "%)" or (touching and (left.isalnum() or left in "-–—"))
    return (value, start) if joins else (value.copy_negate(), at)


def _last_but(characters: str, text: str, end: int) -> str:
    """The last character before *end* that is none of these, empty if there is none.

    >>> _last_but(" ", "ab  -5", 4), _last_but(" ", "  -5", 2)
    ('b', '')
    """
    while end and text[end - 1] in characters:
        end -= 1
    return text[end - 1 : end]


def _ordinal_end(text: str, used: Sequence[Piece], rules: Rules) -> int | None:
    """Where the number with its ordinal suffix ends (*3rd*, *3º*, *3.* in German), or None if it has none."""
    literal = used[-1].literal
    if rules.ordinal_suffix is not None and (literal is not None or rules.ordinal_prefix):
        match = rules.ordinal_suffix.match(text, used[-1].end)
        if match:
            return match.end()
    if literal is None or len(used) > 1 or rules.ordinal_dot is None or not literal.digits.isdecimal():
        return None
    if len(literal.digits) > 3 or literal.grouped or text[literal.end : literal.end + 1] != ".":
        return None
    after = text[literal.end + 1 : literal.end + 2]
    following = _next_word(text, literal.end + 1)
    if not after or after not in _SPACES or not following or following in rules.ordinal_dot:
        return None
    return literal.end + 1


def _is_full_hour(text: str, used: Sequence[Piece]) -> bool:
    """Whether a number is the minutes of *7:00*, which *7 Uhr* and *7 a.m.* leave unsaid."""
    start, literal = used[0].start, used[0].literal
    if literal is None or literal.digits != "00" or start < 2:
        return False
    return text[start - 1] in ":.hH" and text[start - 2].isdecimal()


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
