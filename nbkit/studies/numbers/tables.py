"""The numbers study's tables. An average is the mean of the cells' rates.

Every pass rate has the interval of a share whose units are the numbers: they are drawn, the templates are given, and a
number that a system cannot write fails in one template after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.fingerprint import digest
from nbkit.measure.numbers import error_types, judge_number
from nbkit.measure.statistics import share_interval
from nbkit.models import label
from nbkit.models.catalogue import BY_RULE
from nbkit.models.recipes import TranslatorRecipe
from nbkit.models.translators.texts import corpus_texts_identity, text_pairs
from nbkit.numbers import find_numbers, forms, write_number
from nbkit.numbers.formats import parse_format
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.base import trained_by
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.numbers.steps import OF, numbers_of, outcomes, results, running_text, templates_of
from nbkit.studies.paper import Paper
from nbkit.studies.results import objects

if TYPE_CHECKING:
    import pandas as pd

#: What `outcomes` say of an item that the headline table is grouped by.
_GROUPS = ("language", "direction", "capability")

#: Wang et al. 2021, "As Easy as 1, 2, 3".
PUBLISHED = Paper(Path(__file__).parent / "published", label)


def pass_rates(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """Pass rates by capability, language pair and model (Table 3).

    Columns: language, direction, pair, model, capability, n and, strict and lenient: the rate, ``…_low``, ``…_high``.
    """
    return _rates(results(params, store), [*OF, "capability"])


@outcomes.table
def pass_rates_of_outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """`pass_rates`, from outcomes alone."""
    found = found[found["measure"].isin(["strict", "lenient"])]
    verdicts = found.assign(**{name: [groups[name] for groups in found["groups"]] for name in _GROUPS})
    verdicts["pair"] = verdicts["source_language"] + "→" + verdicts["target_language"]
    strict, lenient = (verdicts[verdicts["measure"] == name].reset_index(drop=True) for name in ("strict", "lenient"))
    both = strict.assign(strict=strict["value"] == 1, lenient=lenient["value"] == 1)
    both = both.rename(columns={"system": "model"}).drop(columns="value").rename(columns={"cluster": "value"})
    return _rates(both, [*OF, "capability"])


#: All quantities of a sentence, whatever their kind.
ALL_KINDS = "all"


def running_rates(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """The share of sentences of running text whose quantities each system, and the reference, carries over.

    Undecided sentences (see `running_text`) are not counted.
    Columns: pair, model, kind (`ALL_KINDS` and each of them, the most frequent first), n, undecided, carried,
    carried_low, carried_high; best systems first.
    """
    rows = []
    for pair in params.pairs if params.sentences is not None else ():
        table = running_text(params, pair, store)
        kinds = table["kinds"].explode().value_counts().index
        for system, part in table.groupby("system", sort=False):
            for kind in [ALL_KINDS, *kinds]:
                own = part if kind == ALL_KINDS else part[[kind in each for each in part["kinds"]]]
                flags = [
                    [any(kind in (ALL_KINDS, flag["kind"]) for flag in each) for each in own[name]]
                    for name in ("own", "shared")
                ]
                decided = [not mine for mine, rest in zip(*flags, strict=True) if mine or not rest]
                rows.append(
                    (pair.pair, system, kind, len(decided), len(own) - len(decided), *share_interval(decided)[:3])
                )
    found = _frame(rows, ["pair", "model", "kind", "n", "undecided", "carried", "carried_low", "carried_high"])
    whole = found[found["kind"] == ALL_KINDS].sort_values("carried", ascending=False, kind="stable")
    best = {key: place for place, key in enumerate(whole[["pair", "model"]].itertuples(index=False, name=None))}
    pairs = [pair.pair for pair in params.pairs]
    places = [(pairs.index(pair), best[pair, model]) for pair, model in found[["pair", "model"]].values]
    order = sorted(range(len(found)), key=places.__getitem__)
    return found.iloc[order].reset_index(drop=True)


def running_errors(params: NumbersParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* sentences of each system with a quantity that it, and at most one other, gets wrong.

    Columns: pair, model, shown ("3 of 4": these and all there are of the system), line, said, source, hypothesis,
    source_spans, output_spans.
    """
    import pandas as pd

    frames = []
    for pair in params.pairs if params.sentences is not None else ():
        table = running_text(params, pair, store)
        table = table[table["own"].map(len) > 0].assign(pair=pair.pair).rename(columns={"system": "model"})
        ranks = [address(params.seed, "running", *row) for row in table[["pair", "model", "source"]].values]
        first = table.assign(rank=ranks).sort_values("rank").groupby("model", sort=False).head(k).sort_index()
        said = ["; ".join(flag["said"] for flag in flags) for flags in first["own"]]
        source, output = (objects(_places(flags, side) for flags in first["own"]) for side in ("source", "output"))
        there = table["model"].value_counts()
        shown = [f"{min(k, there[model])} of {there[model]:,}" for model in first["model"]]
        frames.append(first.assign(said=said, source_spans=source, output_spans=output, shown=shown))
    columns = ["pair", "model", "shown", "line", "said", "source", "hypothesis", "source_spans", "output_spans"]
    return pd.concat([_frame([], columns), *frames], ignore_index=True)[columns]


def _places(flags: Sequence[Any], side: str) -> list[tuple[int, int]]:
    return [(int(flag[side][0]), int(flag[side][1])) for flag in flags if len(flag[side])]


def rates_by_format(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """Pass rates by format. Columns as `pass_rates`, with format, digits and fraction_digits."""
    return _rates(results(params, store), [*OF, "capability", "format", "digits", "fraction_digits"])


def rates_by_digits(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """Pass rates of integers by number of digits, which §2 only describes. Columns as `pass_rates`, with digits."""
    table = results(params, store)
    return _rates(table[table["capability"] == "integers"], [*OF, "digits"])


def rates_by_fraction(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """Pass rates of decimals by length of the fraction, which §2 only describes.

    Columns as `pass_rates`, with fraction_digits in place of capability.
    """
    table = results(params, store)
    return _rates(table[table["capability"] == "decimals"], [*OF, "fraction_digits"])


def averages(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """Average pass rates of capabilities and of systems, in percent, with those that the paper prints.

    An average is the mean of the strict rates of Table 3's cells, as in the paper. Systems whose numbers are carried
    over by rule are not part of a capability's average.
    Columns: kind ("capability", "system"), name, percent (NaN for the paper's systems), cells, published,
    printed, difference, note.
    """
    import pandas as pd

    cells = pass_rates(params, store)
    plain = cells[~cells["model"].isin([label(model) for model in params.models if model.startswith(BY_RULE)])]
    frames = []
    for kind, column, table in (("capability", "capability", plain), ("system", "model", cells)):
        means = table.groupby(column, sort=False)["strict"].agg(["mean", "size"]).reset_index()
        frames.append(
            pd.DataFrame({"kind": kind, "name": means[column], "percent": 100 * means["mean"], "cells": means["size"]})
        )
    theirs = PUBLISHED.load("table3")[["kind", "name"]].assign(percent=float("nan"), cells=0)
    ours = pd.concat([*frames, theirs]).drop_duplicates(["kind", "name"], ignore_index=True)
    return PUBLISHED.beside(ours, "table3", on=["kind", "name"])


def errors_found(params: NumbersParams, k: int = 5, store: Store | None = None) -> pd.DataFrame:
    """*k* failures of each pair and model, as many types of errors among them as there are (Table 1).

    Columns: language, direction, pair, model, capability, template, error, source, hypothesis, found, correct (how the
    number is written in the target language).
    """
    table = results(params, store)
    failed = table[~table["strict"].astype(bool)]
    failed = failed.assign(rank=_ranks(params, "errors", failed), at=table.groupby(OF, sort=False).ngroup())
    failed = failed.sort_values("rank")
    failed = failed.assign(turn=failed.groupby([*OF, "error"]).cumcount()).sort_values(["turn", "rank"])
    chosen = failed.groupby(OF, sort=False).head(k).sort_values(["at", "rank"]).reset_index(drop=True)
    chosen["correct"] = [
        _correct(value, pattern, pair.partition("→")[2])
        for value, pattern, pair in chosen[["value", "format", "pair"]].values
    ]
    return chosen[[*OF, "capability", "template", "error", "source", "hypothesis", "found", "correct"]]


def passed_samples(params: NumbersParams, k: int = 2, store: Store | None = None) -> pd.DataFrame:
    """*k* cases of each pair, model and capability that passed, to see what else there is to a translation.

    Columns: language, direction, pair, model, capability, template, source, hypothesis.
    """
    table = results(params, store)
    passed = table[table["strict"].astype(bool)]
    columns = [*OF, "capability", "template", "source", "hypothesis"]
    passed = passed.assign(rank=_ranks(params, "passed", passed))
    chosen = passed.sort_values("rank").groupby([*OF, "capability"], sort=False).head(k)
    return chosen.sort_index()[columns].reset_index(drop=True)


def _ranks(params: NumbersParams, purpose: str, cases: pd.DataFrame) -> list[int]:
    """An addressed random rank of each case."""
    return [address(params.seed, purpose, *row) for row in cases[[*OF, "source"]].itertuples(index=False, name=None)]


def capabilities(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """What each capability asks for, with the first number of each of its formats in a sentence (Table 2).

    Columns: lang, capability, format, number, sentence. Taken from the first model's cases.
    """
    rows = []
    for lang, pair in {pair.src: pair for pair in params.pairs}.items():
        templates = templates_of(params, pair, next(iter(params.models), ""), store or Store())
        for name, patterns in params.patterns(lang).items():
            for i, pattern in enumerate(patterns):
                number, *_ = numbers_of(params, pattern, lang)
                sentence = templates[name][i % len(templates[name])].fill(number.written)
                rows.append((lang, name, pattern, number.written, sentence))
    return _frame(rows, ["lang", "capability", "format", "number", "sentence"])


def error_counts(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """How often each type of error is seen in each model, with an example (Table 4).

    Columns: model, error, meaning, n, share (of the model's failures), pair, template, source, hypothesis, found (of
    the example; empty where the model has no such error). Types are in the order in which they are decided.
    """
    table = results(params, store)
    failed = table[~table["strict"].astype(bool)]
    rows = []
    for model in dict.fromkeys(table["model"]):
        failures = failed[failed["model"] == model]
        for kind in error_types():
            these = failures[failures["error"] == kind["name"]]
            share = len(these) / len(failures) if len(failures) else float("nan")
            example = ["", "", "", "", ""]
            if len(these):
                ranks = [address(params.seed, "example", source) for source in these["source"]]
                chosen = these.iloc[ranks.index(min(ranks))]
                example = list(chosen[["pair", "template", "source", "hypothesis", "found"]])
            rows.append((model, kind["name"], kind["meaning"], len(these), share, *example))
    columns = ["model", "error", "meaning", "n", "share", "pair", "template", "source", "hypothesis", "found"]
    return _frame(rows, columns)


def templates_used(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """The templates of the run (Table 5). Columns: lang, capability, template, place, models that they were put to."""
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for pair, model in product(params.pairs, params.models):
        for name, templates in templates_of(params, pair, model, store or Store()).items():
            for template in templates:
                users = places.setdefault((pair.src, name, template.text, template.place), [])
                users += [label(model)] if label(model) not in users else []
    rows = [(*key, ", ".join(users)) for key, users in places.items()]
    return _frame(rows, ["lang", "capability", "template", "place", "models"])


def formats_used(params: NumbersParams) -> pd.DataFrame:
    """The formats of the run (Table 5).

    Columns: lang, capability, format, digits, fraction_digits, form, size (numbers it holds), drawn, examples.
    """
    rows = []
    for lang in dict.fromkeys(pair.src for pair in params.pairs):
        for name, patterns in params.patterns(lang).items():
            for pattern in patterns:
                parsed, drawn = parse_format(pattern), numbers_of(params, pattern, lang)
                examples = "; ".join(number.written for number in drawn[:3])
                rows.append((lang, name, pattern, parsed.digits, len(parsed.fraction), parsed.form, parsed.size(lang),
                             len(drawn), examples))  # fmt: skip
    columns = ["lang", "capability", "format", "digits", "fraction_digits", "form", "size", "drawn", "examples"]
    return _frame(rows, columns)


def mitigation(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """What carrying numbers over by rule buys: each model of the run that is there with and without it (§5).

    Columns: language, direction, pair, model, capability, n, plain and by_rule (strict rates, each with ``…_low`` and
    ``…_high``), gain, and the numbers of texts in which numbers were carried, stand-ins lost or doubled, and no number
    had to be carried.
    """
    table = results(params, store)
    rows = []
    for model in (model for model in params.models if BY_RULE + model in params.models):
        plain, by_rule = (table[table["model"] == label(name)] for name in (model, BY_RULE + model))
        for key, group in plain.groupby([*OF, "capability"], sort=False):
            other = by_rule[(by_rule["pair"] == key[2]) & (by_rule["capability"] == key[4])]
            rates = [share_interval(own["strict"].tolist(), groups=own["value"].tolist()) for own in (group, other)]
            intervals = [each for rate in rates for each in (rate.mean, rate.low, rate.high)]
            outcomes = [int((other["outcome"] == name).sum()) for name in ("carried", "lost", "doubled", "no number")]
            rows.append((*key, len(group), *intervals, rates[1].mean - rates[0].mean, *outcomes))
    rates_columns = [f"{name}{end}" for name in ("plain", "by_rule") for end in ("", "_low", "_high")]
    outcome_columns = ["carried", "lost", "doubled", "no_number"]
    return _frame(rows, [*OF, "capability", "n", *rates_columns, "gain", *outcome_columns])


def _rates(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Strict and lenient pass rates of the groups of *by*, in the order of their first rows."""
    rows = []
    for key, group in table.groupby(by, sort=False):
        rates: list[Any] = []
        for column in ("strict", "lenient"):
            rates += share_interval(group[column].tolist(), groups=group["value"].tolist())[:3]
        rows.append((*key, len(group), *rates))
    columns = [f"{name}{end}" for name in ("strict", "lenient") for end in ("", "_low", "_high")]
    return _frame(rows, [*by, "n", *columns])


def _correct(value: str, pattern: str, lang: str) -> str:
    """The number as the target language writes it in the form of its format, or in digits where it has none such."""
    form = parse_format(pattern).form
    return write_number(Decimal(value), lang, form if form in forms(lang) else "digits")


def _frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


# ----------------------------------------------------------------------------
# What is known before a model translates: the numbers of its training sentences, and what copying would pass.

#: Training sentences that numbers are counted in; the first ones, as the length of the longest shows in few.
TRAINING_SENTENCES = 2000


def lengths_in_training(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """How often numbers of each length stand in the sources of a model's training sentences.

    Known for models that nbkit has trained, from the first `TRAINING_SENTENCES` sentences; others have no rows, nor
    has a model whose numbers are carried over by rule: it never sees them.
    Columns: language, direction, pair, model, places ("digits": of whole numbers; "fraction": digits after the
    decimal separator), length, n. Counted are numbers in digits alone, as integers and decimals are tested.
    """

    rows = []
    for pair, model in product(params.pairs, params.models):
        recipe = None if model.startswith(BY_RULE) else trained_by(model, pair.src, pair.tgt)
        if recipe is not None:
            counts = _lengths(recipe, pair, store or Store()).itertuples(index=False, name=None)
            rows += [(pair.language, pair.direction, pair.pair, label(model), *count) for count in counts]
    return _frame(rows, [*OF, "places", "length", "n"])


def copy_rates(params: NumbersParams) -> pd.DataFrame:
    """Pass rates of the numbers themselves, taken over as the source writes them: what copying would get.

    Columns: pair, capability, n (numbers), strict, lenient.
    """

    rows = []
    for pair in params.pairs:
        for name, patterns in params.patterns(pair.src).items():
            numbers = [number for pattern in patterns for number in numbers_of(params, pattern, pair.src)]
            verdicts = [judge_number(each.written, each.value, each.written, pair.src, pair.tgt) for each in numbers]
            strict = share_interval([verdict.strict for verdict in verdicts]).mean
            lenient = share_interval([verdict.lenient for verdict in verdicts]).mean
            rows.append((pair.pair, name, len(numbers), strict, lenient))
    return _frame(rows, ["pair", "capability", "n", "strict", "lenient"])


def _lengths(recipe: TranslatorRecipe, pair: Direction, store: Store) -> pd.DataFrame:
    n = min(TRAINING_SENTENCES, recipe.pairs or TRAINING_SENTENCES)
    config = {
        "kind": "numbers.training",
        "code": digest("nbkit.numbers"),
        "corpus": corpus_texts_identity(recipe.train, pair.src, pair.tgt, n),
        "pair": pair.pair,
    }

    def compute() -> pd.DataFrame:
        import pandas as pd

        counts: Counter[tuple[str, int]] = Counter()
        for text in text_pairs(recipe.train, pair.src, pair.tgt, n):
            for number in find_numbers(text.source, pair.src):
                if number.form == "digits":
                    whole, _, fraction = format(abs(number.value), "f").partition(".")
                    counts[("fraction", len(fraction)) if fraction else ("digits", len(whole))] += 1
        rows: list[Any] = [(*key, n) for key, n in sorted(counts.items())]
        return pd.DataFrame(rows, columns=["places", "length", "n"])

    return store.table(config, compute)
