"""`find_numbers`: the numbers of a text, left to right, by the conventions of its language.

A reader cuts the text into the pieces of numbers, with spaces between words or without; `nbquantities.lexicon` puts
them together; signs, percentages and the words around a number decide what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import compress
from operator import itemgetter
from typing import Any, Protocol

from nbquantities.lexicon import (
    LITERAL,
    MOST_DIGITS,
    TRADITIONAL,
    WORD,
    Atom,
    Composed,
    Entry,
    Grammar,
    Lexicon,
    Literal,
    Piece,
    Remembered,
    compose,
    fold,
    gap_between,
    lexicon,
    literal_piece,
    read_literal,
    read_runs,
    traditional_literal,
)
from nbquantities.number import Convention, Kind, Number, check_text, convention, language_data

# ----------------------------------------------------------------------------
# Pieces of numbers in languages that put spaces between words.

_WORDS = re.compile(WORD)


_TOKEN = re.compile(rf"{WORD}|({TRADITIONAL})|({LITERAL})|[¼½¾⅕⅖⅗⅘⅙⅛⅜⅝⅞]")


_WHOLE = itemgetter(0)


_DIGIT = re.compile(r"[\d¼½¾⅛⅜⅝⅞௰௱௲]")


_COMMA = Atom("comma")


_VULGAR = {"¼": ".25", "½": ".5", "¾": ".75", "⅕": ".2", "⅖": ".4", "⅗": ".6", "⅘": ".8"} | {
    "⅛": ".125",
    "⅜": ".375",
    "⅝": ".625",
    "⅞": ".875",
}


_GAP = re.compile("[ \u00a0\u2009\u202f]*")


_HYPHENS = frozenset("-\u2010\u2011\u00ad")


#: Within a word: п'ять.
_APOSTROPHES = frozenset("'\u2019\u02bc")


_CURRENCY = "$€£¥₹₽￥"


@dataclass
class SpacedReader:
    """Cuts a text into pieces, by words and runs of digits."""

    words: Lexicon
    rules: Convention
    after_digits: dict[str, Atom]
    attached: re.Pattern[str] | None
    before_currency: re.Pattern[str] | None
    after_currency: re.Pattern[str] | None
    suffixes: dict[str, Decimal]
    comma: bool
    half_after: frozenset[str]
    clock_after: re.Pattern[str] | None

    def __post_init__(self) -> None:
        self._begins = Remembered(self.begins)
        self._known = Remembered(self._look)
        self._folded = Remembered(fold)

    def _look(self, token: str) -> Entry | bool:
        """What is known of a token: as a number word, True for one that `_other` reads, False for any other word."""
        other = not token[0].isalpha() or token[0] in _VULGAR or token.lower() in self.after_digits
        return self.words.entry(token) or other

    def may_hold(self, text: str) -> bool:
        return any(map(self._begins.__getitem__, text.split()))

    def begins(self, text: str) -> bool:
        entries = map(self.words.entries.__getitem__, _WORDS.findall(text))
        return _DIGIT.search(text) is not None or any(found is not None and found.begins for found in entries)

    def pieces(self, text: str) -> list[Piece]:
        """All pieces, left to right."""
        pieces: list[Piece] = []
        tokens = list(_TOKEN.finditer(text))
        known = list(map(self._known.__getitem__, map(_WHOLE, tokens)))
        skip = 0
        for i in compress(range(len(tokens)), known):
            if i < skip:
                continue
            found, token = known[i], tokens[i]
            if not isinstance(found, Entry):
                self._other(text, token, pieces)
                continue
            start, length = token.start(), 0
            for rest, atom in found.phrases:
                if self._follows(text, tokens, i, rest):
                    length = len(rest)
                    end = tokens[i + length].end()
                    joined = self._joined(text, pieces, start)
                    if atom.role == "half" and i and not joined:
                        joined = text[end : end + 1] not in _HYPHENS and self._after_unit(
                            text, pieces, tokens[i - 1], start
                        )
                    pieces.append(Piece(start, end, atom, found.key, joined))
                    break
            else:
                for part in found.parts:
                    joined = part.start > 0 or self._joined(text, pieces, start)
                    begin, end = start + min(part.start, len(token[0])), start + min(part.end, len(token[0]))
                    pieces.append(Piece(begin, end, part.atom, found.key, joined))
                if found.parts:
                    pieces[-1].end = token.end()
            skip = i + length + 1
        return pieces

    def _other(self, text: str, token: re.Match[str], pieces: list[Piece]) -> None:
        """The pieces of what is no number word."""
        if token.lastindex == 2:
            self._literals(text, token[2], token.start(), pieces)
        elif token.lastindex == 1:
            pieces.append(literal_piece(traditional_literal(token[1], token.start()), joined=False))
        elif token[0] in _VULGAR:
            self._vulgar(text, token[0], token.start(), pieces)
        elif pieces and pieces[-1].literal is not None:
            self._after_digits(text, token[0], token.start(), pieces)

    def _follows(self, text: str, tokens: list[re.Match[str]], i: int, rest: tuple[str, ...]) -> bool:
        """Whether the words of *rest* come after token *i*, each after a space or a hyphen."""
        if i + len(rest) >= len(tokens):
            return False
        for j, word in enumerate(rest, i + 1):
            if self._folded[tokens[j][0]] != word:
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
        if gap in (" ", "-") or (gap in _HYPHENS) or (gap and _GAP.fullmatch(gap)):
            return True
        if gap == "" and last.literal is not None:
            return True
        if self.comma and gap == ", " and last.atom.role == "scale":
            pieces.append(Piece(last.end, last.end + 1, _COMMA, ",", joined=True))
            return True
        return False

    def _literals(self, text: str, run: str, start: int, pieces: list[Piece]) -> None:
        before = text[start - 1] if start else ""
        if self._leading_point(text, start, run):
            digits = "0." + run
            literal = Literal(start - 1, start + len(run), Decimal(digits), digits, False, True, not run.isascii())
            found = [literal]
        elif self.clock_after is not None and "." in run and self.clock_after.match(text, start + len(run)):
            found = read_runs(run, start)
        else:
            found = read_literal(run, start, self.rules)
        if not found:
            return  # too long to be a number
        for literal in found:
            gap = gap_between(text, pieces[-1].end, literal.start) if pieces else "?"
            joined = bool(gap) and _GAP.fullmatch(gap) is not None
            pieces.append(literal_piece(literal, joined))
        if before.isalpha():
            return  # a name: MP3, B2B
        money = self.after_currency if before and before in _CURRENCY else None
        end = start + len(run)
        for pattern in (money, self.attached, self.before_currency):
            match = pattern.match(text, end) if pattern is not None else None
            if match:
                suffix = match[0].strip()
                scale = Atom("scale", self.suffixes[suffix])
                pieces.append(Piece(match.end() - len(suffix), match.end(), scale, suffix, joined=True))
                break

    def _leading_point(self, text: str, start: int, run: str) -> bool:
        """*.5* is one half where the point is the decimal sign and stands after a space or a currency sign."""
        if self.rules.decimal != "." or not run.isdecimal() or start == 0 or text[start - 1] != ".":
            return False
        return start == 1 or text[start - 2] in " (-\u2212$€£"

    def _vulgar(self, text: str, sign: str, start: int, pieces: list[Piece]) -> None:
        """*½* adds to the number before it (*2½*), or is a number by itself."""
        value = Decimal("0" + _VULGAR.get(sign, ""))
        last = pieces[-1] if pieces else None
        if (
            last is not None
            and last.literal is not None
            and gap_between(text, last.end, start) in ("", " ", "\u2009", "\u202f")
        ):
            pieces.append(Piece(start, start + 1, Atom("half", value), sign, joined=True))
        else:
            literal = Literal(start, start + 1, value, str(value), False, True, False)
            pieces.append(literal_piece(literal, joined=False))

    def _after_digits(self, text: str, word: str, start: int, pieces: list[Piece]) -> None:
        """*5 millions*: a plural that is no number by itself, but one after digits."""
        atom = self.after_digits.get(word.lower())
        if atom is not None and self._joined(text, pieces, start):
            pieces.append(Piece(start, start + len(word), atom, word, joined=True))


@cache
def spaced_reader(lang: str) -> SpacedReader:
    """The reader of a language, built on first use."""
    data = language_data(lang)
    attached, money = data.get("attached", {}), data.get("after_currency", {})
    return SpacedReader(
        words=lexicon(lang),
        rules=convention(lang),
        after_digits={word: Atom("scale", Decimal(value)) for word, value in data.get("after_digits", {}).items()},
        attached=_suffix(attached),
        before_currency=_before_currency(attached),
        after_currency=_suffix(money),
        suffixes={suffix: Decimal(value) for suffix, value in {**attached, **money}.items()},
        comma=bool(data.get("comma")),
        half_after=frozenset(data.get("half_after", ())),
        clock_after=re.compile(data["clock_after"]) if "clock_after" in data else None,
    )


def _suffix(suffixes: dict[str, int]) -> re.Pattern[str] | None:
    if not suffixes:
        return None
    return re.compile(f"(?:{'|'.join(sorted(suffixes, key=len, reverse=True))})(?![^\\W_])")


def _before_currency(suffixes: dict[str, int]) -> re.Pattern[str] | None:
    """*3 M€*: the letter of a scale may stand after a space where a currency sign follows it."""
    if not suffixes:
        return None
    letters = "|".join(sorted(suffixes, key=len, reverse=True))
    return re.compile(f"[ \u00a0\u2009\u202f]{{0,3}}(?:{letters})(?=[{_CURRENCY}])")


# ----------------------------------------------------------------------------
# Pieces of numbers in Chinese and Japanese, where every character of a number is a piece of its own.

_UNSPACED_GAP = re.compile("[ \u00a0\u2009\u202f\u3000]*")


@dataclass(frozen=True)
class UnspacedReader:
    """Cuts a text into pieces, by characters and runs of digits."""

    rules: Convention
    atoms: dict[str, Atom]
    digits: dict[str, str]
    present: re.Pattern[str]
    token: re.Pattern[str]
    suffixes: dict[str, Decimal]
    about: frozenset[str]
    spaced: bool
    scales: frozenset[str]
    spelled: dict[str, Atom]
    syllables: re.Pattern[str]

    def begins(self, text: str) -> bool:
        return self.present.search(text) is not None

    may_hold = begins

    def pieces(self, text: str) -> list[Piece]:
        """All pieces, left to right."""
        pieces: list[Piece] = []
        for token in self.token.finditer(text):
            start, end, kind, matched = token.start(), token.end(), token.lastgroup, token[0]
            if kind in ("word", "point"):
                pieces.append(Piece(start, end, self.atoms[matched], matched, self._joined(text, pieces, start)))
            elif kind == "literal":
                for literal in read_literal(matched, start, self.rules):
                    joined = self._joined(text, pieces, literal.start)
                    pieces.append(literal_piece(literal, joined))
            elif kind == "decade":
                year = self._decade(matched)
                pieces.append(Piece(start, end, Atom("literal", year), str(year), joined=False))
            elif kind == "suffix":
                if pieces and pieces[-1].end == start:
                    scale = Atom("scale", self.suffixes[matched])
                    pieces.append(Piece(start, end, scale, matched, joined=True))
            elif kind == "half":
                if pieces and pieces[-1].end == start:
                    pieces.append(Piece(end - 1, end, Atom("half", Decimal("0.5")), matched[-1:], joined=True))
            elif kind == "spelled":
                for part in self.syllables.finditer(matched):
                    a, b = start + part.start(), start + part.end()
                    pieces.append(Piece(a, b, self.spelled[part[0]], part[0], self._joined(text, pieces, a)))
            elif kind == "run":
                digits = "".join(self.digits[character] for character in matched)
                atom = Atom("literal", Decimal(digits))
                pieces.append(Piece(start, end, atom, digits, self._joined(text, pieces, start)))
        return pieces  # without what is skipped, and runs without an end

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
        spaced = self.spaced and gap == " " and below and last.literal is None
        return spaced or (last.literal is not None and _UNSPACED_GAP.fullmatch(gap) is not None)


@cache
def unspaced_reader(lang: str) -> UnspacedReader:
    """The reader of a language, built on first use."""
    data = language_data(lang)
    atoms = dict(_atoms(data))
    digits = {character: str(value) for character, value in data["digits"].items()}
    multipliers = [word for word, atom in atoms.items() if atom.role in ("multiply", "scale")]
    signs = {"digits": "".join(digits), "multipliers": "".join(m for m in multipliers if len(m) == 1)}
    signs["numerals"] = signs["digits"] + signs["multipliers"]
    digit, multiplier, numeral = f"[{signs['digits']}]", f"[{signs['multipliers']}]", f"[{signs['numerals']}]"
    positional = f"[{''.join(c for c in digits if c not in data.get('counting', ''))}]"
    attached = data.get("attached", {})
    by_first: dict[str, list[str]] = {}
    for word in sorted(data["skip"], key=len, reverse=True):
        by_first.setdefault(word[0], []).append(_whole_word(word, signs["numerals"]))
    skipped = [f"(?={first})(?:{'|'.join(words)})" for first, words in by_first.items()]
    skipped += [_named(pattern, signs) for pattern in data["patterns"]]
    spelled = data.get("spelled", {"patterns": [], "values": {}})
    syllables = {word: Atom("add", Decimal(value)) for word, value in spelled["values"].items()}
    syllables |= {
        word: replace(atom, bare=True) for word, atom in atoms.items() if atom.role in ("multiply", "scale", "point")
    }
    # A repeat before something that may fail has a limit: without one, a long run would be gone over from each of its
    # characters. What is possessive (``+`` behind it) gives nothing back, as nothing shorter can match either.
    clock = f"(?!{numeral}{{1,30}}+[{data['clock']}])"
    scales = "".join(word for word, atom in atoms.items() if atom.role == "scale" and len(word) == 1)
    points = f"(?<={numeral})[{''.join(data['point'])}](?={digit}){clock}"
    after_whole = rf"(?<=[\d{signs['numerals']}])(?<!\d{{4}})(?<![.．]\d)"  # no year, no decimal fraction
    words = sorted((w for w, a in atoms.items() if a.role != "point"), key=len, reverse=True)
    alternatives = [
        f"(?P<skip>{'|'.join(skipped)})",
        f"(?P<spelled>{'|'.join(_named(p, spelled['signs']) for p in spelled['patterns']) or '(?!)'})",
        f"(?P<decade>(?:[12]?\\d|{numeral}{{1,3}})(?:世纪|世紀)(?:\\d0|{digit}十)(?=年代))",
        f"(?P<literal>{LITERAL})",
        f"(?P<suffix>(?<=\\d)(?:{'|'.join(sorted(attached, key=len, reverse=True))})(?![A-Za-z]))",
        f"(?P<half>{after_whole}(?:{'|'.join(data['half_after'])})半(?![{data['half_words']}]))",
        f"(?P<endless>{positional}{{{MOST_DIGITS + 1},}})",
        f"(?P<run>(?<!{multiplier}){positional}{{2,{MOST_DIGITS}}}+(?:(?!{numeral})|(?<={positional}{{3}})(?=[{scales}])))",
        f"(?P<point>{points})",
        f"(?P<word>{'|'.join(map(re.escape, words))})",
    ]
    begins = "".join(
        sorted({word[0] for word, atom in {**syllables, **atoms}.items() if atom.role not in ("point", "glue")})
    )
    return UnspacedReader(
        rules=convention(lang),
        atoms=atoms,
        digits=digits,
        present=re.compile(rf"[\d{begins}]"),
        token=re.compile(f"(?=[{_first_characters(data, words, attached)}])(?:{'|'.join(alternatives)})"),
        suffixes={suffix: Decimal(value) for suffix, value in attached.items()},
        about=frozenset(data.get("about", "")),
        spaced=bool(data.get("spaced")),
        scales=frozenset(word for word, atom in atoms.items() if atom.role == "scale"),
        spelled=syllables,
        syllables=re.compile("|".join(sorted(syllables, key=len, reverse=True))),
    )


def _whole_word(word: str, numerals: str) -> str:
    """A word that holds a number sign, where that sign does not belong to a number (万一 in 二万一千)."""
    before = rf"(?<![\d{numerals}点])" if word[0] in numerals else ""
    return before + word + (f"(?![{numerals}点])" if word[-1] in numerals else "")


def _first_characters(data: dict[str, Any], words: list[str], attached: dict[str, int]) -> str:
    """Every character that a token may begin with (and some more), so that the others are passed over at once."""
    begins = {word[0] for word in [*data["skip"], *words, *data["point"], *attached, *data["half_after"]]}
    begins |= {word[0] for word in data.get("spelled", {}).get("values", ())} | set(data["ordinal_prefix"])
    begins |= {c for pattern in data["patterns"] for c in pattern if c.isalpha() and not c.isascii()}
    return "\\d" + "".join(sorted(begins | set(data["digits"])))


def _named(pattern: str, signs: dict[str, str]) -> str:
    """A pattern of the YAML file with its ``{digits}``, ``{numerals}`` and ``{multipliers}`` filled in."""
    for name, characters in signs.items():
        pattern = pattern.replace("{" + name + "}", characters)
    return pattern


def _atoms(data: dict[str, Any]) -> list[tuple[str, Atom]]:
    financial = frozenset(data.get("financial", ""))
    bare = frozenset(data["bare"])

    def atom(role: Any, word: str, value: Any) -> tuple[str, Atom]:
        return word, Atom(role, Decimal(value), bare=word in bare, financial=word in financial)

    found = [atom("add", word, value) for word, value in {**data["digits"], **data.get("words", {})}.items()]
    found += [atom("multiply", word, value) for word, value in data["multipliers"].items()]
    found += [atom("scale", word, value) for value, words in data["scales"].items() for word in words]
    found += [atom("point", word, 0) for word in data["point"]]
    found += [atom("minus", word, 0) for word in data["minus"]["words"]]
    found += [atom("percent", word, 0) for word in data.get("percent_before", ())]
    return found


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
    星期三), vague quantities (*thousands*, 几百), and runs of more than `nbquantities.lexicon.MOST_DIGITS` digits,
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


class Reader(Protocol):
    def begins(self, text: str) -> bool:
        """Whether a number may begin in *text*, a word."""

    def may_hold(self, text: str) -> bool:
        """Whether a number may begin in *text*, of any length."""

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of numbers in *text*."""


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
    reader: Reader = unspaced_reader(lang) if data.get("script") == "han" else spaced_reader(lang)
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
