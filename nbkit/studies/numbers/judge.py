"""Whether a number arrives: with its value, written as the target language writes it, and with no other number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from itertools import chain, zip_longest
from typing import Any

import pandas as pd

from nbkit.corpora.templates import PLACEHOLDER, Template
from nbkit.measure.numbers import Judgement, judge_number, template_numbers
from nbkit.models import ask, load
from nbkit.models.names import BY_RULE
from nbkit.models.translators.texts import corpus_texts_identity, text_pairs
from nbkit.numbers import find_numbers
from nbkit.numbers.formats import DrawnNumber
from nbkit.perturb.shrink_numbers import shrink_number
from nbkit.store import Store
from nbkit.studies.answering import Cell
from nbkit.studies.base import trained_by
from nbkit.studies.numbers.items import draw_cases
from nbkit.studies.numbers.params import NumbersParams

#: The columns of cases and of smallest failures.
GROUPS = ["item", "unit", "capability", "format", "digits", "fraction_digits", "value"]
#: Training sentences that numbers are counted in; the first ones, as the length of the longest shows in few.
TRAINING_SENTENCES = 2000
SMALLEST = ("item", "unit", "capability", "format", "written", "smallest", "smallest_format", "smallest_value",
            "source", "output", "error", "found", "verdict", "asked", "proved")  # fmt: skip


def outcomes(params: NumbersParams, cell: Cell, items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """strict and lenient: whether the number is carried over; error and found: what came in its place (§3, §4).

    stand_in: what became of the numbers of a system behind the placeholder step, "" of any other.
    """
    given = zip(items["template"], items["value"], items["written"], answers["source"], strict=True)
    judged = [_judge(template, Decimal(value), written, answer, cell) for template, value, written, answer in given]
    stand_ins = [""] * len(items)
    if cell.model.startswith(BY_RULE):
        model = load(cell.model, "translate", *cell[:2], decoding=params.decoding, **params.running)
        inputs = [(source,) for source in items["source"].tolist()]
        stand_ins = [answer["numbers"] for answer in ask(model, inputs, Store(), progress=False)]
    return items[GROUPS].assign(
        **params.names(cell),
        **{verdict: [getattr(each, verdict) for each in judged] for verdict in ("strict", "lenient")},
        error=[each.error or "" for each in judged],
        found=[each.found for each in judged],
        stand_in=stand_ins,
    )


def copies(params: NumbersParams, cell: Cell) -> pd.DataFrame:
    """The drawn numbers, and whether each would pass if it were copied as the source writes it: the floor."""
    found = [(name, pattern, f"{number.value:f}", number.written,
              judge_number(number.written, number.value, number.written, *cell[:2]))
             for name, pattern, number in draw_cases(params, cell)]  # fmt: skip
    table = pd.DataFrame(found, columns=["capability", "format", "value", "written", "judged"])
    verdicts = {name: [getattr(each, name) for each in table["judged"]] for name in ("strict", "lenient")}
    return table.drop(columns="judged").assign(**params.names(cell), **verdicts)


def smallest(
    params: NumbersParams, cell: Cell, all_items: pd.DataFrame, outcomes: pd.DataFrame,
    ask: Callable[[list[str]], list[str]],
) -> pd.DataFrame:  # fmt: skip
    """The smallest number that still fails, of up to ``n_shrunk`` formats in which one did, capabilities in turn.

    item and written: the failure that it begins with. asked: how many numbers were tried. proved: whether all simpler
    ones passed.
    """
    failed = outcomes[~outcomes["strict"].astype(bool)].drop_duplicates(["capability", "format"])
    failed = failed.join(all_items.drop_duplicates("item").set_index("item")[["template", "written"]], on="item")
    turns = zip_longest(*(group.to_dict("records") for _, group in failed.groupby("capability", sort=False)))
    rows = []
    for case in [case for case in chain.from_iterable(turns) if case is not None][: params.n_shrunk]:
        judged = partial(_ask_filled, ask, Template(case["template"], cell.source, case["capability"]), cell)
        first = DrawnNumber(Decimal(case["value"]), case["written"])
        shrunk = shrink_number(first, case["format"], cell.source, partial(_fails, judged))
        ((source, output, verdict),) = judged([shrunk.number.written])
        rows.append((*(case[name] for name in SMALLEST[:5]), shrunk.number.written, shrunk.pattern,
                     float(_value(shrunk.number.written, cell.source)), source, output, verdict.error or "",
                     verdict.found, "fail", shrunk.tried, shrunk.smallest))  # fmt: skip
    return pd.DataFrame(rows, columns=list(SMALLEST)).assign(**params.names(cell))


def _ask_filled(
    ask: Callable[[list[str]], list[str]], template: Template, cell: Cell, writings: list[str]
) -> list[tuple[str, str, Judgement]]:
    """The template filled with each writing of a number, its translation, and how that is judged."""
    sources = [template.fill(each) for each in writings]
    return [
        (source, answer, _judge(template.text, _value(written, cell.source), written, answer, cell))
        for source, answer, written in zip(sources, ask(sources), writings, strict=True)
    ]


def _fails(judged: Callable[[list[str]], list[Any]], writings: list[str]) -> list[bool]:
    """Whether each writing of a number fails in its template."""
    return [not verdict.strict for *_, verdict in judged(writings)]


def _value(written: str, lang: str) -> Decimal:
    """The value of a written number."""
    return find_numbers(written, lang)[0].value


def _judge(template: str, value: Decimal, written: str, answer: str, cell: Cell) -> Judgement:
    """Judge a translation of a filled template."""
    own, at = _of_template(template, cell.source)
    return judge_number(answer, value, written, *cell[:2], own, at)


@cache
def _of_template(template: str, lang: str) -> tuple[tuple[Decimal, ...], float]:
    """The template's own numbers, and where, from 0 to 1, the one that is filled in stands."""
    own = template_numbers(Template(template, lang, "").around, lang)
    return tuple(own), template.index(PLACEHOLDER) / len(template)


def training_inputs(params: NumbersParams, cell: Cell) -> Any:
    """The identity of the sentences that a model was trained on."""
    corpus = _training_corpus(cell)
    return corpus and corpus_texts_identity(*corpus)


def in_training(params: NumbersParams, cell: Cell, model: str) -> pd.DataFrame:
    """How often numbers of each length stand, in digits, in the sources of a model's first training sentences.

    places: "digits" of whole numbers, "fraction": digits after the decimal separator. No rows for models that nbkit has
    not trained, and for those whose numbers are carried over by rule: they never see them.
    """
    counts: Counter[tuple[str, int]] = Counter()
    corpus = _training_corpus(cell)
    for text in text_pairs(*corpus) if corpus else ():
        for number in find_numbers(text.source, cell.source):
            if number.form == "digits":
                whole, _, fraction = f"{abs(number.value):f}".partition(".")
                counts["fraction" if fraction else "digits", len(fraction or whole)] += 1
    rows = [(*key, n) for key, n in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["places", "length", "n"]).assign(**params.names(cell))


def _training_corpus(cell: Cell) -> tuple[str, str, str, int] | None:
    """The corpus that a model was trained on, its languages, and how many of its first sentences are read."""
    recipe = None if cell.model.startswith(BY_RULE) or not cell.model else trained_by(cell.model, *cell[:2])
    return recipe and (recipe.train, *cell[:2], min(TRAINING_SENTENCES, recipe.pairs or TRAINING_SENTENCES))
