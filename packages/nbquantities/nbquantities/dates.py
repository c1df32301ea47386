"""Dates as one thing: which of the numbers of a text are day, month and year of the same date.

`find_quantities` finds the parts of a date one by one. Compared one by one, *March 8* would be *3. August*; so
`compare_quantities` first matches dates as wholes, and what it matched is nobody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from babel import Locale

from nbquantities.number import language_data, read_yaml
from nbquantities.quantity import DATA, Quantity

#: Between the days of one month: *3.-5. August*, *August 3 and 4*.
_DAYS = re.compile(r"\W{0,3}(?:[-–—~～〜/&,、]|[^\W\d_]{1,4})\W{0,2}")
_SIGN = re.compile(r"[./-]")


@dataclass(frozen=True)
class Date:
    """A reading of a date: a month, its days (those of a range, or a list) and, if it is said, a year.

    localised: False if the order of day and month is another language's.
    """

    month: Quantity
    days: tuple[Quantity, ...]
    year: Quantity | None
    localised: bool = True

    def agrees(self, other: Date) -> bool:
        """Whether both may be the same date: the month, one of the days, and the year if both have one."""
        same = self.month.value == other.month.value and bool(_values(self.days) & _values(other.days))
        return same and (self.year is None or other.year is None or bool(_years(self.year) & _years(other.year)))

    def pairs(self, other: Date) -> Iterator[tuple[Quantity, Quantity]]:
        """The parts of two dates that agree, each with its counterpart."""
        yield self.month, other.month
        for day in self.days:
            yield from [(day, each) for each in other.days if each.value == day.value][:1]
        if self.year is not None and other.year is not None:
            yield self.year, other.year

    def turned(self, other: Date) -> bool:
        """Whether the day of one is the month of the other."""
        months = {self.month.value, other.month.value}
        return len(months) == 2 and bool(months & (_values(self.days) | _values(other.days)))


def find_dates(text: str, quantities: Sequence[Quantity], lang: str) -> list[tuple[Date, ...]]:
    """The dates with a month and a day among the *quantities* of *text*, each with all its readings.

    >>> from nbquantities.quantity import find_quantities, with_ends
    >>> def shown(text, lang):
    ...     dates = find_dates(text, with_ends(find_quantities(text, lang)), lang)
    ...     return [[(str(d.month.value), str(d.days[0].value)) for d in readings] for readings in dates]
    >>> shown("on March 8, or 2021-06-07", "en"), shown("am 3. August, oder 07.06.2021", "de")
    ([[('3', '8')], [('6', '7')]], [[('8', '3')], [('6', '7')]])
    >>> shown("on 07/06/2021", "en")
    [[('6', '7'), ('7', '6')]]
    """
    found, used = [], -1
    for i, quantity in enumerate(quantities):
        if i <= used or quantity.kind != "date":
            continue
        readings, last = _in_digits(text, quantities, i, lang) or _with_month(text, quantities, i, used, lang)
        if readings:
            found.append(readings)
            used = last
    return found


def _in_digits(text: str, quantities: Sequence[Quantity], i: int, lang: str) -> tuple[tuple[Date, ...], int] | None:
    """The readings of *07.06.2021* or *2021-06-07*, and the place of its last number."""
    three = quantities[i : i + 3]
    if len(three) < 3 or any(each.kind != "date" for each in three):
        return None
    signs = [text[a.span[1] : b.span[0]] for a, b in pairwise(three)]
    if signs[0] != signs[1] or not _SIGN.fullmatch(signs[0]):
        return None
    first, second, third = three
    if first.unit == "year":
        return (Date(second, (third,), first),), i + 2
    orders = _orders(lang)
    readings = {"d": (second, first), "m": (first, second)}
    valid = [order for order in readings if readings[order][0].value <= 12]
    usual = [order for order in valid if order in orders]
    return (
        tuple(Date(readings[o][0], (readings[o][1],), third, localised=o in orders) for o in usual or valid),
        i + 2,
    )


def _with_month(
    text: str, quantities: Sequence[Quantity], i: int, used: int, lang: str
) -> tuple[tuple[Date, ...], int]:
    """The reading of *March 8, 2019*, and the place of its last number; none if no day stands at the month."""
    month = quantities[i]
    if month.unit != "month":
        return (), i
    before, last = _days_before(text, quantities, i, used), i
    after = [] if before else _days_after(text, quantities, i)
    last += len(after)
    if not before and not after:
        return (), i
    year = None
    following = quantities[last + 1] if last + 1 < len(quantities) else None
    if following is not None and _is_year(following) and _is_link(text[quantities[last].span[1] : following.span[0]]):
        year, last = following, last + 1
    elif i - len(before) - 1 > used:
        ahead = quantities[i - len(before) - 1]
        begin = (before[0] if before else month).span[0]
        if ahead.unit == "year" and _is_link(text[ahead.span[1] : begin]):
            year = ahead
    return (Date(month, tuple(before or after), year),), last


def _days_before(text: str, quantities: Sequence[Quantity], i: int, used: int) -> list[Quantity]:
    days: list[Quantity] = []
    for k in range(i - 1, max(used, i - 6), -1):
        day, right = quantities[k], days[0] if days else quantities[i]
        gap = text[day.span[1] : right.span[0]]
        joined = _DAYS.fullmatch(gap) and len(gap) < 8 if days else gap and _is_link(gap)
        if not _is_day(day) or not joined:
            break
        days.insert(0, day)
    return days


def _days_after(text: str, quantities: Sequence[Quantity], i: int) -> list[Quantity]:
    days: list[Quantity] = []
    for day in quantities[i + 1 : i + 6]:
        gap = text[(days[-1] if days else quantities[i]).span[1] : day.span[0]]
        if not _is_day(day) or not (_DAYS.fullmatch(gap) if days else _is_link(gap) and "," not in gap):
            break
        days.append(day)
    return days


def _is_day(quantity: Quantity) -> bool:
    """Whether it can be the day of a month: a whole number up to 31 that counts nothing but what a neighbour does."""
    plain = quantity.kind in ("cardinal", "ordinal", "date") and quantity.unit in ("", "day")
    return (plain or quantity.soft) and quantity.value.denominator == 1 and 1 <= quantity.value <= 31


def _is_year(quantity: Quantity) -> bool:
    plain = quantity.kind == "cardinal" and not quantity.unit and quantity.value.denominator == 1
    return (plain and 1000 <= quantity.value < 2200) or (quantity.unit == "year" and quantity.kind == "date")


@cache
def _links() -> frozenset[str]:
    return frozenset(read_yaml(DATA / "units.yaml")["in_dates"])


def _is_link(gap: str) -> bool:
    """Whether nothing stands between two parts of a date but spaces, signs and words such as *of*."""
    return (
        len(gap) < 10
        and all(word.lower() in _links() for word in re.findall(r"[^\W\d_]+", gap))
        and not (set(gap) & set(";:()（）。!?–—"))
    )


@cache
def _orders(lang: str) -> frozenset[str]:
    """Whether the day (d), the month (m), or either comes first where the year comes last. Source: CLDR, by Babel."""
    locales = [Locale.parse(name) for name in language_data(lang)["locales"]]
    first = [re.sub("[^dmy]", "", str(locale.date_formats["short"].pattern).lower())[0] for locale in locales]
    return frozenset("dm") if first[0] == "y" else frozenset(first) - {"y"}


def _values(days: Sequence[Quantity]) -> set[object]:
    return {day.value for day in days}


def _years(year: Quantity) -> set[object]:
    return {year.value, *year.also}
