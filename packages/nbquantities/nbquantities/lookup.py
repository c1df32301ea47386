"""Many patterns at once: the first that matches holds, and only those are tried that may match.

What a pattern's matches begin with, and what they hold, is read off its syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from nbquantities.language import REMEMBERED

_DIGIT = re.compile(r"[\d⁰¹²³⁴-⁹₀-₉¼-¾⅐-⅞]")


class Lookup:
    """Patterns, each with what it means, between *before* and *after*; tried are those that the letter may begin."""

    def __init__(self, patterns: Iterable[tuple[Any, str]], before: str = "", after: str = "", flags: int = 0):
        known = [(meaning, each, held(each)[0]) for meaning, each in patterns]
        self.meanings = [meaning for meaning, *_ in known]
        letters: set[str] = set().union(*(begins for *_, begins in known))
        signs = {letter: re.escape(letter) if letter != "0" else r"\d" for letter in sorted(letters)} | {"": ""}
        self._tried, scanned = {}, []
        for letter, sign in signs.items():
            some = [(i, each) for i, (_, each, begins) in enumerate(known) if not begins or letter in begins]
            self._tried[letter] = re.compile(groups(some) + after, flags)
            scanned.append(f"(?=(?i:{sign}))(?:{'|'.join(each for _, each in some) or '(?!)'})")
        ahead = f"(?=(?i:[{''.join(signs.values())}]))" if letters and all(begins for *_, begins in known) else ""
        self._scanned = re.compile(f"{before}{ahead}(?:{'|'.join(scanned)}){after}", flags)

    def match(self, text: str, at: int) -> tuple[Any, int] | None:
        """What the pattern that matches at a place means, and where it ends."""
        tried = self._tried.get(_first_letter(text[at : at + 1])) or self._tried[""]
        found = tried.match(text, at)
        return None if found is None else (self.meanings[int((found.lastgroup or "g0")[1:])], found.end())

    def search(self, text: str) -> Any:
        """What the first match in a text means, or None."""
        scanned = self._scanned.search(text)
        found = self.match(text, scanned.start()) if scanned else None
        return found and found[0]

    def finditer(self, text: str) -> Iterator[tuple[tuple[int, int], Any]]:
        """The spans of all matches, one after the other, and what they mean."""
        for scanned in self._scanned.finditer(text):
            if found := self.match(text, scanned.start()):
                yield scanned.span(), found[0]


def groups(patterns: Iterable[tuple[int, str]]) -> str:
    """A regular expression for any of many (number, pattern), each a group with the letter g and its number."""
    return f"(?:{'|'.join(f'(?P<g{i}>{pattern})' for i, pattern in patterns) or '(?!)'})"


def alike(text: str) -> str:
    """*text* normalised to compare it with patterns: letters in lower case, each digit as 0."""
    return _DIGIT.sub("0", text.casefold().replace("ı", "i").replace("\u0307", ""))


@lru_cache(REMEMBERED)
def _first_letter(character: str) -> str:
    """The first letter of a character normalised by `alike`, cached; empty for no character."""
    return alike(character)[:1]


def held(pattern: str) -> tuple[set[str], set[str]]:
    """(first letters, strings of which each match holds one) of a pattern, spelled as by `alike`; empty if unknown.

    >>> [[sorted(each) for each in held(pattern)] for pattern in (r"\\d{1,2} o.clock", "(?<!x)(?:half|a half) past")]
    [[['0'], ['clock']], [['a', 'h'], [' past']]]
    """
    return _held_by_parsed(parser.parse(pattern))


def _held_by_parsed(items: Iterable[tuple[Any, Any]]) -> tuple[set[str], set[str]]:
    """(first letters, strings of which each match holds one), as of `held`, of a pattern that is parsed already."""
    run, begins, at_start, best = "", set[str](), True, set[str]()
    for operator, given in items:
        first: set[str] = set()
        held: set[str] = set()
        if operator is parser.LITERAL:
            run += alike(chr(given))
            first, held = {alike(chr(given))[:1]}, {run}
        elif operator in (parser.SUBPATTERN, parser.ASSERT, parser.MAX_REPEAT, parser.POSSESSIVE_REPEAT):
            first, held = _held_by_parsed(given[-1])
        elif operator is parser.BRANCH:
            branches = zip(*map(_held_by_parsed, given[1]), strict=True)
            first, held = (set().union(*each) if all(each) else set() for each in branches)
        elif operator is parser.IN:
            first = held = {_class_member(*each) for each in given}
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
    """How rare a string is in texts: its length, but 4 for a single digit."""
    return 4 if part == "0" else len(part)


def _class_member(kind: Any, value: Any) -> str:
    """The character that a parsed member of a class ([ab0-9]) means: 0 for digits, empty for any other range."""
    if kind is parser.LITERAL:
        return alike(chr(value))
    digits = value is parser.CATEGORY_DIGIT or (kind is parser.RANGE and all(chr(end).isnumeric() for end in value))
    return "0" if digits else ""
