"""`Number`: one number as it stands in a text."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["cardinal", "ordinal", "percent"]


@dataclass(frozen=True)
class Number:
    """One number found in a text.

    value: the exact value; 5 for *5 %* and for *5th*, −5 for *minus five*.
    span: half-open range of characters, with sign and scale word, without percent sign, unit or measure word.
    form: how it is written: "digits", "grouped", "scale" (digits and a scale word), "words", "native" (other
        digits than 0–9), "financial" (壹贰叁), "roman", or "article" for a weak or lone *one* (*ein*, *un*,
        *one*, *一个*), which may stand for the value 1 and may as well mean nothing.
    kind: "cardinal", "ordinal" or "percent".
    localised: False where the notation is another convention's and cannot be misread (German ``1.23``).

    >>> Number(Decimal("1.23"), (0, 4), "digits", "cardinal", localised=False)
    Number(value=Decimal('1.23'), span=(0, 4), form='digits', kind='cardinal', localised=False)
    """

    value: Decimal
    span: tuple[int, int]
    form: str
    kind: Kind
    localised: bool
