"""Numbers carried over by rule: any translator behind a step that takes numbers out and puts them back in.

Source: Wang et al. 2021, "As Easy as 1, 2, 3", §5, "Separate treatment of numbers": identify numbers in the input,
apply translation rules to them, incorporate the translation into the output (Tu et al. 2012).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, count
from pkgutil import resolve_name
from typing import Any, Literal

from nbkit.fingerprint import digest
from nbkit.models.model import Input, Model, Record
from nbkit.numbers import Number, find_numbers, forms, in_place, write_number

#: Outcome of a text: it has no number to carry over; its numbers were carried over; or a stand-in was lost or occurred
#: more than once in every attempt, and the model's translation of the original text was used.
Outcome = Literal["no number", "carried", "lost", "doubled"]


#: Stand-ins for numbers while the model translates, by attempt: small numbers, which are most frequent in training, so
#: that models preserve them best, and which are plural; in digits, then in words.
_ATTEMPTS = (("digits", (7, 8, 6, 9, 5)), ("words", (5, 4, 6, 3, 7, 8, 9)))


@dataclass(frozen=True)
class Carried:
    """A hypothesis, and the outcome for its numbers."""

    hypothesis: str
    outcome: Outcome


@dataclass(frozen=True)
class _Masked:
    """A text with stand-ins for its numbers: stand-in to the number's value and form."""

    text: str
    numbers: dict[Decimal, Number]


class Placeholder(Model):
    """``placeholder:NAME``: the model NAME, its numbers carried over by rule; a stand-in is stored, not a number."""

    reference: Any
    inner: Model

    def __init__(self, reference: Any):
        super().__init__(reference)
        name = reference.name.removeprefix(reference.service)
        how = {"decoding": reference.decoding, "device": reference.device, "dtype": reference.dtype}
        load = resolve_name("nbkit.models.answers:load")
        self.inner = inner = load(name, "translate", reference.lang, reference.tgt, **how)
        for name in ("stored", "is_fixed", "program", "key", "check", "fetch", "waiting"):
            setattr(self, name, getattr(inner, name))

    @property
    def label(self) -> str:
        return f"{self.inner.label} + placeholder"

    @property
    def is_here(self) -> bool:
        return self.inner.is_here

    @property
    def remark(self) -> str | None:
        return self.inner.remark

    def identity(self) -> Record:
        return {**self.inner.identity(), "placeholder": rules_digest()}

    def read_key(self) -> Record:
        return {**self.inner.read_key(), "model": self.versioned()}

    def sent(self, given: Input) -> Input:
        return (masked_texts(given, self.reference.lang)[0],)

    def answers(self, inputs: Sequence[Input]) -> Iterator[tuple[Input, Record]]:
        return self.inner.answers(inputs)

    def through(
        self, inputs: Sequence[Input], ask: Callable[[Model, Iterable[Input]], Iterator[Record]]
    ) -> list[Record]:
        def translate(texts: list[str]) -> list[str]:
            return [answer["hypothesis"] for answer in ask(self.inner, [(text,) for text in texts])]

        carried = carry([text for (text,) in inputs], self.reference.lang, self.reference.tgt, translate)
        return [{"hypothesis": each.hypothesis, "numbers": each.outcome} for each in carried]


def carry(texts: Sequence[str], src: str, tgt: str, translate: Callable[[list[str]], list[str]]) -> list[Carried]:
    """Translate *texts* with their numbers carried over by rule.

    Each number of a text is replaced by a small number that the text does not contain, the text is translated, and the
    stand-in, in whatever form, is replaced by the number's translation (`nbquantities.write_number`, in the form of
    the source if the target language has it). If a stand-in is not found exactly once, a second attempt uses number
    words; if that fails as well, the model's translation of the original text is used, and the outcome is that of the
    first stand-in. Articles, the number one and ordinals are left to the model, as grammar depends on them.

    translate: called at most three times, in batches.

    >>> def shout(texts): return [text.upper() for text in texts]
    >>> carry(["it cost 1,234.5 dollars", "it cost a lot"], "en", "de", shout)
    [Carried(hypothesis='IT COST 1.234,5 DOLLARS', outcome='carried'),
     Carried(hypothesis='IT COST A LOT', outcome='no number')]
    """
    there = [find_numbers(text, src) for text in texts]
    done: dict[int, Carried] = {}
    reasons: dict[int, Outcome] = {}
    for form, stand_ins in _ATTEMPTS:
        left = [i for i in range(len(texts)) if i not in done]
        masked = {i: _mask(texts[i], there[i], src, form, stand_ins) for i in left}
        for i, hypothesis in zip(left, translate([masked[i].text for i in left]) if left else [], strict=True):
            if not masked[i].numbers:
                done[i] = Carried(hypothesis, "no number")
                continue
            unmasked, outcome = _unmask(hypothesis, masked[i], tgt)
            reasons.setdefault(i, outcome)
            if unmasked is not None:
                done[i] = Carried(unmasked, "carried")
    left = [i for i in range(len(texts)) if i not in done]
    plain = translate([texts[i] for i in left]) if left else []
    done |= {i: Carried(hypothesis, reasons[i]) for i, hypothesis in zip(left, plain, strict=True)}
    return [done[i] for i in range(len(texts))]


def masked_texts(texts: Sequence[str], src: str) -> list[str]:
    """The first input of the inner translator: the texts with small numbers instead of theirs.

    >>> masked_texts(["It cost 1,234.5 dollars."], "en")
    ['It cost 7 dollars.']
    """
    return [_mask(text, find_numbers(text, src), src, *_ATTEMPTS[0]).text for text in texts]


def rules_digest() -> str:
    """Digest of these rules for a store key: of their source and of the number rules that they use."""
    return digest("nbquantities", __name__, without=("nbkit/",))


def _is_carried(number: Number) -> bool:
    return number.form != "article" and number.kind != "ordinal" and abs(number.value) != 1


def _mask(text: str, there: Sequence[Number], src: str, form: str, stand_ins: Sequence[int]) -> _Masked:
    free = _free({number.value for number in there}, stand_ins)
    pieces, at, assigned = [], 0, {}
    for number, stand_in in zip(filter(_is_carried, there), free, strict=False):
        assigned[stand_in] = number
        start = number.span[0]
        pieces += [text[at:start], in_place(write_number(stand_in, src, form), text[:start])]
        at = number.span[1]
    return _Masked("".join([*pieces, text[at:]]), assigned)


def _free(taken: set[Decimal], stand_ins: Sequence[int]) -> Iterator[Decimal]:
    """An unbounded sequence of stand-ins that are not in the text."""
    return (Decimal(number) for number in chain(stand_ins, count(11)) if number not in taken)


def _unmask(hypothesis: str, masked: _Masked, tgt: str) -> tuple[str | None, Outcome]:
    """The hypothesis with its stand-ins replaced; None, and the outcome, if one does not occur exactly once."""
    there = [number for number in find_numbers(hypothesis, tgt) if number.value in masked.numbers]
    found = Counter(number.value for number in there)
    if any(found[stand_in] == 0 for stand_in in masked.numbers):
        return None, "lost"
    if any(found[stand_in] > 1 for stand_in in masked.numbers):
        return None, "doubled"
    pieces, at = [], 0
    for number in there:
        start = number.span[0]
        pieces += [hypothesis[at:start], in_place(_write(masked.numbers[number.value], tgt), hypothesis[:start])]
        at = number.span[1]
    return "".join([*pieces, hypothesis[at:]]), "carried"


def _write(number: Number, tgt: str) -> str:
    """The number in the target language, in the form of the source if possible."""
    return write_number(number.value, tgt, number.form if number.form in forms(tgt) else "digits")
