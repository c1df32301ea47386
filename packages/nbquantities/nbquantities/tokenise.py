"""A text is cut into the pieces of numbers: words and digits, with spaces between words or without.

In the order of the file: numbers in digits; what a piece is; words; the readers of both kinds of script.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import compress, pairwise
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

from nbquantities.language import (
    THIN_SPACE,
    Convention,
    convention,
    filled_in,
    grouped_properly,
    language_data,
    plain_sign,
)

# ----------------------------------------------------------------------------
# Pieces: what a word or a number in digits contributes.

#: add: a word or digit that adds its value · literal: a number in digits · multiply: hundred, 十, 百, 千 ·
#: scale: thousand, 万, lakh and above · point: the spoken decimal sign · glue: *and* · half: *and a half* ·
#: denominator: the hundredths of *три целых пять сотых* ·
#: minus, percent: said before a number (*minus*, 百分之); no part of its value
Role: TypeAlias = OneOf[
    "add", "literal", "multiply", "scale", "point", "glue", "comma", "half", "denominator", "minus", "percent"
]


@dataclass(frozen=True, slots=True)
class Atom:
    """What a number word contributes.

    bare: a multiplier that may stand alone (*mil*, 十, but not *million*).
    leading: an article that only begins a number (*a hundred a day*).
    """

    role: Role
    value: Decimal = Decimal(0)
    ordinal: bool = False
    bare: bool = False
    leading: bool = False
    financial: bool = False


class Written(NamedTuple):
    """How a number in digits is written: in groups, as the language does, in digits other than 0–9."""

    grouped: bool
    localised: bool
    native: bool


@dataclass(slots=True)
class Piece:
    """An `Atom` at a place of a text.

    joined: whether it may continue the number of the piece before it.
    key: the word as it is looked up, or the digits of a literal with "." as decimal sign.
    written: of a number in digits alone.
    """

    start: int
    end: int
    atom: Atom
    key: str
    joined: bool
    written: Written | None = None


#: The most characters between two parts of a number; text beyond them is not looked at for each part anew.
_WIDEST_GAP = 16


def gap_between(text: str, end: int, start: int) -> str:
    """What stands between two parts of a number, ``?`` where it is too much for them to be of one.

    >>> gap_between("one hundred", 3, 4), gap_between("one, or so they said, hundred", 3, 22)
    (' ', '?')
    """
    return text[end:start] if start - end <= _WIDEST_GAP else "?"


def in_digits(
    start: int, end: int, digits: str, grouped: bool = False, localised: bool = True, native: bool = False
) -> Piece:
    """The piece of a number in digits, of which *digits* are ASCII, with "." as decimal sign."""
    return Piece(start, end, Atom("literal", Decimal(digits)), digits, False, Written(grouped, localised, native))


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


def read_literal(text: str, start: int, rules: Convention) -> list[Piece]:
    """The numbers that a match of `LITERAL` holds, from left to right; *start* is its place.

    One of more than `MOST_DIGITS` digits is skipped.

    >>> from nbquantities.language import convention
    >>> def values(text, lang): return [str(n.atom.value) for n in read_literal(text, 0, convention(lang))]
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
        return [in_digits(start, start + len(text), digits, grouped, localised, native)]
    return _split(text, start, signs, runs, rules)


def read_runs(text: str, start: int) -> list[Piece]:
    """Every run of digits as a whole number (*15.30 Uhr* is 15 and 30)."""
    found = (match for match in _PARTS.finditer(text) if match.end() - match.start() <= MOST_DIGITS)
    return [_whole(match[0], start + match.start()) for match in found]


def _ascii(text: str) -> str:
    return text if text.isascii() else "".join(str(unicodedata.decimal(character)) for character in text)


def _whole(text: str, start: int) -> Piece:
    digits = _ascii(text)
    return in_digits(start, start + len(text), digits, native=not text.isascii())


def _one_number(parts: list[str], signs: list[str], rules: Convention) -> tuple[str, bool] | None:
    """The digits with "." as decimal sign and whether they are localised, or None if it is not one number."""
    plain = list(map(_ascii, parts))
    last, before = signs[-1], signs[:-1]
    group = "," if signs[0] == _FULL_WIDTH_COMMA else signs[0]
    if len(set(signs)) == 1 and grouped_properly(plain):
        if not before and last == rules.decimal:
            return f"{plain[0]}.{plain[1]}", True
        if _can_group(last, len(signs), rules) and not (last == rules.decimal and _is_address(plain)):
            return "".join(plain), rules.groups(group)
        return None
    if last not in (".", ",") or len(set(before)) > 1 or last in before:
        return None
    if not before:
        return f"{plain[0]}.{plain[1]}", last == rules.decimal
    if not grouped_properly(plain[:-1]) or not _can_group(before[0], len(before), rules):
        return None
    localised = (group, last) in rules.pairs or (before[0] == _FULL_WIDTH_COMMA and last == rules.decimal)
    return "".join(plain[:-1]) + "." + plain[-1], localised


def _can_group(sign: str, times: int, rules: Convention) -> bool:
    """A plain space groups in languages that say so, and anywhere where it does so twice."""
    return sign != " " or rules.loose_space or times > 1


def _is_address(parts: list[str]) -> bool:
    """192.168.100.200 is no number where the point is the decimal sign."""
    return len(parts) == 4 and all(int(part) < 256 for part in parts)


def _split(text: str, start: int, signs: list[str], runs: list[tuple[int, int]], rules: Convention) -> list[Piece]:
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


def traditional_literal(text: str, start: int) -> Piece:
    """The number of a match of `TRADITIONAL`.

    >>> traditional_literal("௩௲௪௱௫௰௬", 0).key, traditional_literal("௰௲", 0).key
    ('3456', '10000')
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
    return in_digits(start, start + len(text), str(value), native=True)


# ----------------------------------------------------------------------------
# Words: how they are looked up.

SOLID = frozenset({"add", "multiply", "scale"})


#: A word: letters and marks of the scripts in which number words are spelled.
WORD = (
    "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u0370-\u052f\u0900-\u0963\u0971-\u097f"
    "\u0b80-\u0be5\u0620-\u065f\u066e-\u06d3\u1e00-\u1eff\u200c\u200d]+"
)


WORDS = re.compile(WORD)


#: How many words of a language are remembered as looked up, because the words of a text repeat.
REMEMBERED = 1 << 16


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
class Entry:
    """What a word may be: a number by itself (its parts), or the first word of phrases (longest first)."""

    key: str
    parts: tuple[Piece, ...] = ()
    phrases: tuple[tuple[tuple[str, ...], Atom], ...] = ()


# ----------------------------------------------------------------------------
# Pieces of numbers in languages that put spaces between words.

#: Fractions in one sign.
VULGAR = "¼½¾⅕⅖⅗⅘⅛⅜⅝⅞"
_TOKEN = re.compile(rf"{WORD}|({TRADITIONAL})|({LITERAL})|[{VULGAR}]")


_COMMA = Atom("comma")


_GAP = re.compile("[ \u00a0\u2009\u202f]*")
_NARROW = ("", " ", "\u2009", "\u202f")


_HYPHENS = frozenset("-\u2010\u2011\u00ad")


#: Within a word: п'ять.
_APOSTROPHES = frozenset("'\u2019\u02bc")


_CURRENCY = "$€£¥₹₽￥"


class SpacedReader:
    """Cuts a text into pieces, by words and runs of digits; *entry*: what a word is as a number word, or None."""

    def __init__(self, lang: str, entry: Callable[[str], Entry | None]):
        data = language_data(lang)
        attached, money = data.get("attached", {}), data.get("after_currency", {})
        letters = "|".join(sorted(attached, key=len, reverse=True)) or "(?!)"
        self.rules = convention(lang)
        self.entry = entry
        self.after_digits = {w: Atom("scale", Decimal(value)) for w, value in data.get("after_digits", {}).items()}
        # 3 M€: the letter of a scale may stand after a space where a currency sign follows it.
        self.attached = re.compile(rf"(?:{letters})(?![^\W_])|{_GAP.pattern[:-1]}{{0,3}}(?:{letters})(?=[{_CURRENCY}])")
        self.after_currency = re.compile(rf"(?:{'|'.join(sorted(money, key=len, reverse=True)) or '(?!)'})(?![^\W_])")
        self.suffixes = {suffix: Decimal(value) for suffix, value in {**attached, **money}.items()}
        self.comma = bool(data.get("comma"))
        self.half_after = frozenset(data.get("half_after", ()))
        self.clock_after = re.compile(data.get("clock_after", "(?!)"))
        self._known = lru_cache(REMEMBERED)(self._look)
        self._folded = lru_cache(REMEMBERED)(fold)

    def _look(self, token: str) -> Entry | bool:
        """What is known of a token: as a number word, True for one that `_other` reads, False for any other word."""
        other = not token[0].isalpha() or token.lower() in self.after_digits
        return self.entry(token) or other

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of numbers in *text*, left to right."""
        pieces: list[Piece] = []
        tokens = list(_TOKEN.finditer(text))
        known = [self._known(token[0]) for token in tokens]
        skip = 0
        for i in compress(range(len(tokens)), known):
            if i < skip:
                continue
            found, token = known[i], tokens[i]
            if not isinstance(found, Entry):
                self._other(text, token, pieces)
                continue
            start, key = token.start(), found.key
            phrase = next((each for each in found.phrases if self._follows(text, tokens, i, each[0])), None)
            if phrase is not None:
                words, atom = phrase
                skip = i + len(words) + 1
                end = tokens[skip - 1].end()
                joined = self._joined(text, pieces, start) or (
                    atom.role == "half"
                    and i > 0
                    and text[end : end + 1] not in _HYPHENS
                    and self._after_unit(text, pieces, tokens[i - 1], start)
                )
                pieces.append(Piece(start, end, atom, key, joined))
                continue
            for part in found.parts:
                joined = part.start > 0 or self._joined(text, pieces, start)
                begin, end = (start + min(place, len(token[0])) for place in (part.start, part.end))
                pieces.append(Piece(begin, end, part.atom, key, joined))
            if found.parts:
                pieces[-1].end = token.end()
        return pieces

    def _other(self, text: str, token: re.Match[str], pieces: list[Piece]) -> None:
        """The pieces of what is no number word."""
        start = token.start()
        if token.lastindex == 2:
            self._literals(text, token[2], start, pieces)
        elif token.lastindex == 1:
            pieces.append(traditional_literal(token[1], start))
        elif token[0] in VULGAR:
            self._vulgar(text, token[0], start, pieces)
        elif pieces and pieces[-1].written is not None:  # 5 millions: a plural that is no number by itself
            atom = self.after_digits.get(token[0].lower())
            if atom is not None and self._joined(text, pieces, start):
                pieces.append(Piece(start, token.end(), atom, token[0], joined=True))

    def _follows(self, text: str, tokens: list[re.Match[str]], i: int, rest: tuple[str, ...]) -> bool:
        """Whether the words of *rest* come after token *i*, each after a space or a hyphen."""
        if i + len(rest) >= len(tokens):
            return False
        for j, word in enumerate(rest, i + 1):
            if self._folded(tokens[j][0]) != word:
                return False
            gap = gap_between(text, tokens[j - 1].end(), tokens[j].start())
            if gap not in _HYPHENS and gap not in _APOSTROPHES and not (gap and _GAP.fullmatch(gap)):
                return False
        return True

    def _after_unit(self, text: str, pieces: list[Piece], unit: re.Match[str], start: int) -> bool:
        """*deux heures et demie*: whether only a unit stands between the last piece and the half at *start*.

        With a hyphen after it, the half is another word's: *two years and a half-term holiday*.
        """
        if not pieces or unit[0].lower() not in self.half_after:
            return False
        gaps = gap_between(text, pieces[-1].end, unit.start()), gap_between(text, unit.end(), start)
        return all(gap and _GAP.fullmatch(gap) for gap in gaps)

    def _joined(self, text: str, pieces: list[Piece], start: int) -> bool:
        """Whether a word at *start* may continue the last piece; a comma between them becomes a piece of its own."""
        if not pieces:
            return False
        last = pieces[-1]
        gap = gap_between(text, last.end, start)
        if gap in _HYPHENS or (_GAP.fullmatch(gap) if gap else last.written is not None):
            return True
        if self.comma and gap == ", " and last.atom.role == "scale":
            pieces.append(Piece(last.end, last.end + 1, _COMMA, ",", joined=True))
            return True
        return False

    def _literals(self, text: str, run: str, start: int, pieces: list[Piece]) -> None:
        before, end = text[start - 1 : start], start + len(run)
        if self._leading_point(text, start, run):
            found = [in_digits(start - 1, end, "0." + run, native=not run.isascii())]
        elif "." in run and self.clock_after.match(text, end):
            found = read_runs(run, start)
        else:
            found = read_literal(run, start, self.rules)
        for literal in found:
            gap = gap_between(text, pieces[-1].end, literal.start) if pieces else "?"
            literal.joined = bool(gap) and _GAP.fullmatch(gap) is not None
            pieces.append(literal)
        if not found or before.isalpha():
            return  # too long to be a number, or a name: MP3, B2B
        match = before and before in _CURRENCY and self.after_currency.match(text, end)
        match = match or self.attached.match(text, end)
        if match:
            suffix = match[0].strip()
            scale = Atom("scale", self.suffixes[suffix])
            pieces.append(Piece(match.end() - len(suffix), match.end(), scale, suffix, joined=True))

    def _leading_point(self, text: str, start: int, run: str) -> bool:
        """*.5* is one half where the point is the decimal sign, after a space or a currency sign; *,05* alike."""
        if not run.isdecimal() or start == 0 or text[start - 1] != self.rules.decimal:
            return False
        if self.rules.decimal == "," and not run.startswith("0"):
            return False
        return start == 1 or text[start - 2] in " (-\u2212$€£"

    def _vulgar(self, text: str, sign: str, start: int, pieces: list[Piece]) -> None:
        """*½* adds to the number before it (*2½*), or is a number by itself."""
        value = Decimal(str(round(unicodedata.numeric(sign), 3)))
        last = pieces[-1] if pieces else None
        if last is not None and last.written is not None and gap_between(text, last.end, start) in _NARROW:
            pieces.append(Piece(start, start + 1, Atom("half", value), sign, joined=True))
        else:
            pieces.append(in_digits(start, start + 1, str(value)))


# ----------------------------------------------------------------------------
# Pieces of numbers in Chinese and Japanese, where every character of a number is a piece of its own.

_UNSPACED_GAP = re.compile("[ \u00a0\u2009\u202f\u3000]*")


class UnspacedReader:
    """Cuts a text into pieces, by characters and runs of digits; *atoms*: what each word of numbers is."""

    def __init__(self, lang: str, atoms: dict[str, Atom]):
        data = language_data(lang)
        self.rules = convention(lang)
        self.atoms = atoms
        self.digits = {character: str(value) for character, value in data["digits"].items()}
        self.suffixes = {suffix: Decimal(value) for suffix, value in data.get("attached", {}).items()}
        self.about = frozenset(data.get("about", ""))
        self.spaced = bool(data.get("spaced"))
        self.scales = frozenset(word for word, atom in atoms.items() if atom.role == "scale")
        self.spelled = {
            **{word: Atom("add", Decimal(value)) for word, value in data.get("spelled", _NONE)["values"].items()},
            **{w: replace(a, bare=True) for w, a in atoms.items() if a.role in ("multiply", "scale", "point")},
        }
        self.syllables = re.compile(_longest_first(self.spelled))
        self.token = _token(data, atoms, self.scales)

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of numbers in *text*, left to right."""
        pieces: list[Piece] = []

        def add(start: int, end: int, atom: Atom, key: str, joined: bool | None = None) -> None:
            pieces.append(Piece(start, end, atom, key, self._joined(text, pieces, start) if joined is None else joined))

        for token in self.token.finditer(text):  # without what is skipped, and runs without an end
            start, end, kind, matched = token.start(), token.end(), token.lastgroup, token[0]
            touches = bool(pieces) and pieces[-1].end == start
            if kind in ("word", "point"):
                add(start, end, self.atoms[matched], matched)
            elif kind == "literal":
                for literal in read_literal(matched, start, self.rules):
                    literal.joined = self._joined(text, pieces, literal.start)
                    pieces.append(literal)
            elif kind == "decade":
                year = self._decade(matched)
                add(start, end, Atom("literal", year), str(year), joined=False)
            elif kind == "suffix" and touches:
                add(start, end, Atom("scale", self.suffixes[matched]), matched)
            elif kind == "half" and touches:
                add(end - 1, end, Atom("half", Decimal("0.5")), matched[-1:], joined=True)
            elif kind == "spelled":
                for part in self.syllables.finditer(matched):
                    add(start + part.start(), start + part.end(), self.spelled[part[0]], part[0])
            elif kind == "run":
                digits = "".join(self.digits[character] for character in matched)
                add(start, end, Atom("literal", Decimal(digits)), digits)
        return pieces

    def _decade(self, text: str) -> Decimal:
        """*20世纪80年代* and *二十世纪八十年代* are the 1980s."""
        century, _, decade = re.split("(世纪|世紀)", text)
        return 100 * (self._small(century) - 1) + self._small(decade)

    def _small(self, text: str) -> Decimal:
        if text.isdecimal():
            return Decimal(int(text))
        ahead, ten, behind = text.partition("十")
        tens = int(self.digits.get(ahead, "1")) * 10 if ten else 0
        return Decimal(tens + int(self.digits.get(behind if ten else ahead, "0")))

    def _joined(self, text: str, pieces: list[Piece], start: int) -> bool:
        """Whether the piece at *start* touches the last one; a space may stand beside digits (300 万),
        and *more than* before a scale word (一千多万)."""
        if not pieces:
            return False
        last = pieces[-1]
        if last.end == start:
            return True
        gap = gap_between(text, last.end, start)
        if gap in self.about:
            return text[start] in self.scales
        below = text[start].isdecimal() or last.key in self.spelled
        spaced = self.spaced and gap == " " and below and last.written is None
        return spaced or (last.written is not None and _UNSPACED_GAP.fullmatch(gap) is not None)


_NONE: dict[str, Any] = {"patterns": [], "values": {}, "signs": {}}


def _longest_first(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True)) or "(?!)"


def _token(data: dict[str, Any], atoms: dict[str, Atom], scales: Iterable[str]) -> re.Pattern[str]:
    """What is read as one token, or skipped.

    A repeat before something that may fail has a limit: without one, a long run would be gone over from each of its
    characters. What is possessive (``+`` behind it) gives nothing back, as nothing shorter can match either.
    """
    spelled, attached = data.get("spelled", _NONE), data.get("attached", {})
    multipliers = "".join(w for w, atom in atoms.items() if atom.role in ("multiply", "scale") and len(w) == 1)
    signs = {"digits": "".join(data["digits"]), "multipliers": multipliers}
    signs["numerals"] = signs["digits"] + multipliers
    digit, multiplier, numeral = f"[{signs['digits']}]", f"[{multipliers}]", f"[{signs['numerals']}]"
    positional = f"[{''.join(c for c in data['digits'] if c not in data.get('counting', ''))}]"
    by_first: dict[str, list[str]] = {}
    for word in sorted(data["skip"], key=len, reverse=True):
        by_first.setdefault(word[0], []).append(_whole_word(word, signs["numerals"]))
    skipped = [f"(?={first})(?:{'|'.join(words)})" for first, words in by_first.items()]
    skipped += [filled_in(pattern, signs) or "(?!)" for pattern in data["patterns"]]
    words = [word for word, atom in atoms.items() if atom.role != "point"]
    after_whole = rf"(?<=[\d{signs['numerals']}])(?<!\d{{4}})(?<![.．]\d)"  # no year, no decimal fraction
    single = "".join(word for word in scales if len(word) == 1)
    begins = {word[0] for word in [*data["skip"], *words, *data["point"], *attached, *data["half_after"]]}
    begins |= {*(word[0] for word in spelled["values"]), *data["ordinal_prefix"], *data["digits"]}
    begins |= {c for pattern in data["patterns"] for c in pattern if c.isalpha() and not c.isascii()}
    kinds = {
        "skip": "|".join(skipped),
        "spelled": "|".join(filled_in(p, spelled["signs"]) or "(?!)" for p in spelled["patterns"]) or "(?!)",
        "decade": f"(?:[12]?\\d|{numeral}{{1,3}})(?:世纪|世紀)(?:\\d0|{digit}十)(?=年代)",
        "literal": LITERAL,
        "suffix": f"(?<=\\d)(?:{_longest_first(attached)})(?![A-Za-z])",
        "half": f"{after_whole}(?:{'|'.join(data['half_after'])})半(?![{data['half_words']}])",
        "endless": f"{positional}{{{MOST_DIGITS + 1},}}",
        "run": f"(?<!{multiplier}){positional}{{2,{MOST_DIGITS}}}+"
        f"(?:(?!{numeral})|(?<={positional}{{3}})(?=[{single}]))",
        "point": f"(?<={numeral})[{''.join(data['point'])}](?={digit})(?!{numeral}{{1,30}}+[{data['clock']}])",
        "word": _longest_first(map(re.escape, words)),
    }
    alternatives = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
    return re.compile(f"(?=[\\d{''.join(sorted(begins))}])(?:{alternatives})")


def _whole_word(word: str, numerals: str) -> str:
    """A word that holds a number sign, where that sign does not belong to a number (万一 in 二万一千)."""
    before = rf"(?<![\d{numerals}点])" if word[0] in numerals else ""
    return before + word + (f"(?![{numerals}点])" if word[-1] in numerals else "")
