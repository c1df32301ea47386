"""One sentence's numbers: found, replaced if wished, translated, and judged as ``nbkit check-numbers`` does."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import pandas as pd

from nbkit.errors import NbkitError
from nbkit.figures import styles
from nbkit.numbers import (
    Quantity,
    Verdict,
    compare_quantities,
    find_numbers,
    find_quantities,
    forms,
    in_place,
    write_number,
)
from nbkit.studies.explore import Asked, Choice, Probe, Shown, lines, said

#: The elements that mark a quantity, by the grade of its verdict.
GRADES = {
    "same": 'mark style="background-color: #cdeedb"',
    "equivalent": 'mark style="background-color: #cdeedb"',
    "tolerable": 'mark style="background-color: #fdeeba"',
    "wrong": 'mark style="background-color: #f9c9c4"',
}


@dataclass(frozen=True)
class Numbers:
    """A sentence, its translation and the verdict on each quantity; free: those that a translation may leave unsaid."""

    source: str
    translation: str
    verdicts: tuple[Verdict, ...]
    free: tuple[Quantity, ...]


def rewritten(text: str, lang: str, number: str = "", form: str = "") -> str:
    """*text* with its first number replaced by *number*, written in *form* (both "": as it is).

    Raises `NbkitError` where *text* or *number* has no number, or *lang* does not write it so.

    >>> rewritten("It costs 1,200 euros.", "en", form="words"), rewritten("It costs 12 euros.", "en", "7.5 million")
    ('It costs one thousand, two hundred euros.', 'It costs 7.5 million euros.')
    """
    if not (number or form):
        return text
    found = [each for each in find_numbers(text, lang) if each.form != "article"]
    if not found:
        raise NbkitError("The sentence has no number that could be replaced.")
    start, end = found[0].span
    value, written = found[0].value, number
    if number:
        typed = find_numbers(number, lang)
        if len(typed) != 1:
            raise NbkitError(f"'{number}' is not a number in '{lang}'.")
        value = typed[0].value
    if form:
        written = write_number(value, lang, form)
    return text[:start] + in_place(written, text[:start]) + text[end:]


def probe(asked: Asked) -> Numbers:
    """The sentence, its number replaced as the options say, translated and judged."""
    src, tgt = asked.source, asked.target
    source = rewritten(asked.sentence, src, asked.options["number"].strip(), asked.options["format"])
    [translation] = asked.params.translate(asked.system, [source], src, tgt, asked.store, progress=False)
    verdicts = tuple(compare_quantities(source, translation, src, tgt))
    judged = {each.source.span for each in verdicts if each.source}
    return Numbers(
        source, translation, verdicts, tuple(q for q in find_quantities(source, src) if q.span not in judged)
    )


def as_html(result: Numbers) -> str:
    """The numbers marked in both texts, and the table of verdicts."""
    marks: dict[str, list[tuple[int, int, str]]] = {"source": [], "target": []}
    for verdict in result.verdicts:
        for side, places in marks.items():
            quantity = getattr(verdict, side)
            places += [(*quantity.span, GRADES[verdict.grade])] if quantity else []
    marks["source"] += [(*quantity.span, "u") for quantity in result.free]
    html = lines(
        {
            "source": styles.marked_by(result.source, marks["source"]),
            "translation": styles.marked_by(result.translation, marks["target"]),
        }
    )
    rows: list[tuple[str, ...]] = [
        (_surface(each.source), _surface(each.target), _value(each.source), _value(each.target), each.grade,
         each.wrong or each.note)
        for each in result.verdicts
    ]  # fmt: skip
    rows += [(each.surface, "", _value(each), "", "not required", "") for each in result.free]
    if not rows:
        return html + said("No number was found in the sentence, and none in its translation.")
    columns = ["in the source", "in the translation", "value there", "value here", "verdict", "reason"]
    return html + styles.styled(pd.DataFrame(rows, columns=columns), caption="Numbers, each with its verdict").to_html()


def _surface(quantity: Quantity | None) -> str:
    return quantity.surface if quantity else ""


def _value(quantity: Quantity | None) -> str:
    """Value, unit and kind, as a reader writes them."""
    if quantity is None:
        return ""
    value = quantity.value
    if quantity.kind == "clock":
        return f"{value // 60}:{int(value % 60):02} (clock)"
    if quantity.kind == "date":
        return f"{value} ({quantity.unit or 'date'})"
    exact = str(value) if quantity.kind == "fraction" or value.denominator == 1 else f"{float(value):.15g}"
    return " ".join(part for part in (exact, quantity.unit, f"({quantity.kind})") if part)


def _shown(asked: Asked) -> Shown:
    result = probe(asked)
    return Shown(as_html(result), result)


def _examples(asked: Asked, n: int) -> dict[str, None]:
    """The study's test cases, capabilities in turn."""
    params = asked.params.model_copy(update={"n_numbers": 1, "n_templates": 1, "models": [asked.system]})
    cases = params.study.read(params, "items")
    turns = chain.from_iterable(zip_longest(*cases.groupby("capability", sort=False)["source"].agg(list)))
    return dict.fromkeys(islice((source for source in turns if source), n))


def _forms(source: str) -> list[tuple[str, str]]:
    try:
        return [("as typed", ""), *((form, form) for form in forms(source))]
    except NbkitError:  # no number rules, which the probe says
        return [("as typed", "")]


PROBE = Probe(_shown, _examples, (Choice("number", "New number"), Choice("format", "Written in", choices=_forms)))
