"""What the numbers pages have besides figures and tables: their footer."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.corpora.templates import PLACEHOLDER
from nbkit.figures import panels, styles
from nbkit.figures.theme import language_label
from nbkit.models import costs
from nbkit.models.python import remarked
from nbkit.store import Store
from nbkit.studies.numbers import PUBLISHED
from nbkit.studies.numbers import looks as numbers_looks
from nbkit.studies.numbers.figures import NO_FAILURE, NO_TWIN

if TYPE_CHECKING:
    from nbkit.studies.numbers import NumbersParams

#: What reads and writes numbers besides nbkit's own rules.
_LIBRARIES = ("Babel", "num2words", "cn2an")


def footer(params: NumbersParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what numbers are read and written with, models, versions."""
    libraries = [f"{name} {version}" for name, version in provenance.versions(_LIBRARIES).items()]
    pairs = [(pair.src, pair.tgt) for pair in params.pairs]
    charged = costs(params.models, pairs, params.decoding, store=Store())
    names = remarked(params.models, lambda name: [params.model_key(pair, name) for pair in params.pairs])
    rules = {"number rules": ", ".join(libraries)}
    return provenance.footer(params, signatures=rules, models=names, costs=charged)


# ----------------------------------------------------------------------------
# Tables of the numbers study, styled: Tables 1 to 5 of the paper, and those of what its text only tells.
#
# Each takes a table of `nbkit.studies.numbers` and returns a pandas Styler; its ``data`` is what a CSV copy
# holds. A table without rows says why.

#: What stands for all capabilities together in a row of Table 3.
ALL = "mean of the capabilities"


#: Columns that hold sentences.
_SENTENCES = ("source", "hypothesis", "example", "report", "sentence")


_WHOSE = {"whose": "pair and model"}


_LANG = {"lang": "language"}


_NOT_SHRUNK = "No failure of this run was shrunk: there is none, or the parameter n_shrunk is 0."


def capabilities_table(capabilities: pd.DataFrame) -> Styler:
    """What each capability asks for, an example a format, the number marked (Table 2). See `numbers.capabilities`."""
    texts = [_marked(*row) for row in capabilities[["sentence", "number"]].itertuples(index=False, name=None)]
    keys = styles.varying(capabilities, ["lang"])
    shown = _named(capabilities.assign(sentence=texts)[[*keys, "capability", "format", "sentence"]])
    return _with_html(shown, ["sentence"], "A sentence of each format; the number that was filled in is marked", _LANG)


def formats_table(formats: pd.DataFrame) -> Styler:
    """The formats, how many numbers they hold, and some of those drawn (Table 5). formats: `numbers.formats_used`."""
    columns = ["capability", "format", "digits", "fraction_digits", "size", "drawn", "examples"]
    shown = _named(formats[[*styles.varying(formats, ["lang"]), *columns]])
    table = styles.styled(
        shown,
        caption="Formats: d is a digit, n a numeral such as million; , and . are written as the language writes them. "
        "Holds: how many numbers there are of it",
        headings={"fraction_digits": "fraction", "size": "holds", **_LANG},
    )
    return _spaced(table, ["examples"])


def templates_table(templates: pd.DataFrame) -> Styler:
    """The sentences that numbers were put in (Table 5). templates: `numbers.templates_used`."""
    if templates.empty:
        return styles.empty(panels.NO_MODEL)
    first, last = (styles.varying(templates, [name]) for name in ("lang", "models"))
    shown = _named(templates[[*first, "capability", "template", "place", *last]])
    return styles.styled(shown, caption="Templates", headings={"models": "put to", **_LANG})


def rates_table(pass_rates: pd.DataFrame) -> Styler:
    """Strict pass rates in percent with their intervals, the best of a row in bold (Table 3).

    pass_rates: `numbers.pass_rates`. The last row of a pair is the mean of its capabilities.
    """
    if pass_rates.empty:
        return styles.empty(panels.NO_MODEL)
    keys, models = ["pair", "capability"], list(dict.fromkeys(pass_rates["model"]))
    means = pass_rates.groupby(["pair", "model"], sort=False)["strict"].mean().reset_index()
    rows = pd.concat([pass_rates, means.assign(capability=ALL)], ignore_index=True)
    rows["cell"] = [_percent(*row) for row in rows[["strict", "strict_low", "strict_high"]].itertuples(index=False)]
    order = [
        (pair, name)
        for pair in dict.fromkeys(pass_rates["pair"])
        for name in [*dict.fromkeys(pass_rates.loc[pass_rates["pair"] == pair, "capability"]), ALL]
    ]
    index = pd.MultiIndex.from_tuples(order, names=keys)
    wide, values = (rows.pivot(index=keys, columns="model", values=name).reindex(index, columns=models)
                    for name in ("cell", "strict"))  # fmt: skip
    best = values.eq(values.max(axis=1), axis=0) & (len(models) > 1)
    n = pass_rates.groupby(keys)["n"].max().reindex(index)
    return styles.styled(
        _named(wide.fillna(styles.NOTHING).reset_index().rename_axis(columns=None)).assign(n=n.astype("Int64").array),
        caption="Strict pass rate in percent with 95% interval; N: cases a model",
        best=best.reset_index(drop=True),
        headings=_model_headings(models),
    )


def format_rates_table(rates: pd.DataFrame) -> Styler:
    """Strict pass rates in percent of each format. rates: `numbers.rates_by_format`."""
    if rates.empty:
        return styles.empty(panels.NO_MODEL)
    keys, models = ["pair", "capability", "format"], list(dict.fromkeys(rates["model"]))
    cells = rates.assign(cell=[_percent(*row) for row in rates[["strict", "strict_low", "strict_high", "n"]].values])
    order = list(dict.fromkeys(rates[keys].itertuples(index=False, name=None)))
    wide = cells.pivot(index=keys, columns="model", values="cell")
    wide = wide.reindex(pd.MultiIndex.from_tuples(order, names=keys), columns=models).fillna(styles.NOTHING)
    return styles.styled(
        _named(wide.reset_index().rename_axis(columns=None)),
        caption="Strict pass rate in percent by format, with 95% interval",
        headings=_model_headings(models),
    )


def length_table(rates: pd.DataFrame, column: str, heading: str) -> Styler:
    """Strict pass rates in percent by a length. rates: `numbers.rates_by_digits` or `numbers.rates_by_fraction`."""
    if rates.empty:
        return styles.empty(panels.NO_MODEL)
    cells = [_percent(*row) for row in rates[["strict", "strict_low", "strict_high"]].itertuples(index=False)]
    return styles.styled(
        rates[["pair", "model", column]].assign(strict=cells, n=rates["n"]),
        caption=f"Strict pass rate in percent by {heading}, with 95% interval",
        headings={column: heading},
    )


def training_table(in_training: pd.DataFrame, sentences: int) -> Styler:
    """How often numbers of each length stand in training sentences. in_training: `numbers.lengths_in_training`."""
    if in_training.empty:
        return styles.empty("No model of this run was trained by nbkit, so what they saw in training is not known.")
    places = in_training["places"].map({"digits": "whole numbers", "fraction": "fractions"})
    rows = in_training[["pair", "model", "n"]].assign(what=places, length=in_training["length"])
    wide = rows.pivot(index=["pair", "model", "what"], columns="length", values="n").fillna(0).astype(int)
    return styles.styled(
        wide.sort_index(ascending=[True, True, False]).reset_index().rename_axis(columns=None),
        caption=f"Numbers of each length, in digits, in the first {sentences:,} sources that a model was trained on",
    )


def copy_table(copies: pd.DataFrame) -> Styler:
    """What passes if numbers are copied, in percent. copies: `numbers.copy_rates`."""
    rates = {name: (100 * copies[name]).map(_one_decimal) for name in ("strict", "lenient")}
    return styles.styled(
        _named(copies[["pair", "capability"]]).assign(**rates, n=copies["n"]),
        caption="Pass rates in percent of numbers that are copied as the source writes them; N: numbers",
    )


def averages_table(averages: pd.DataFrame) -> Styler:
    """Average pass rates of capabilities and systems beside those that the paper prints. See `numbers.averages`."""
    notes = averages["note"].ne("").any()
    columns = ["kind", "name", "percent", "cells", "printed", "difference", *(["note"] if notes else [])]
    shown = averages[columns].assign(
        name=[numbers_looks.capability(name) if kind == "capability" else name
              for kind, name in averages[["kind", "name"]].itertuples(index=False)],
        percent=averages["percent"].map(_one_decimal),
        difference=averages["difference"].map("{:+.1f}".format).where(averages["difference"].notna(), styles.NOTHING),
    )  # fmt: skip
    return styles.styled(
        shown,
        caption=f"Average strict pass rates in percent. {PUBLISHED.title('table3')}. Other systems and other test "
        "cases: a comparison, not a replication.",
        headings={"percent": "this run", "cells": "cells averaged", "difference": "this run − paper"},
    )


def notation_table(pass_rates: pd.DataFrame) -> Styler:
    """Strict and lenient pass rates in percent, and how far they are apart. pass_rates: `numbers.pass_rates`."""
    if pass_rates.empty:
        return styles.empty(panels.NO_MODEL)
    rates = {
        name: [_percent(*row) for row in pass_rates[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)]
        for name in ("strict", "lenient")
    }
    apart = (100 * (pass_rates["lenient"] - pass_rates["strict"])).map(_one_decimal)
    keys = styles.varying(pass_rates, ["pair", "model"])
    table = styles.styled(
        _named(pass_rates[[*keys, "capability"]]).assign(**rates, apart=apart, n=pass_rates["n"]),
        caption="Pass rates in percent with 95% intervals; lenient − strict: what fails by its notation alone, "
        "in percentage points",
        headings={"apart": "lenient − strict"},
    )
    return _spaced(table)


def mitigation_table(mitigation: pd.DataFrame) -> Styler:
    """Strict pass rates without and with the placeholder step, and what it did. mitigation: `numbers.mitigation`."""
    if mitigation.empty:
        return styles.empty(NO_TWIN)
    rates = {
        name: [_percent(*row) for row in mitigation[[name, f"{name}_low", f"{name}_high", "n"]].values]
        for name in ("plain", "by_rule")
    }
    gain = (100 * mitigation["gain"]).map("{:+.1f}".format)
    keys = styles.varying(mitigation, ["pair", "model"])
    carried = [f"{carried} of {n}" for carried, n in mitigation[["carried", "n"]].itertuples(index=False, name=None)]
    shown = _named(mitigation[[*keys, "capability"]]).assign(**rates, gain=gain, carried=carried)
    table = styles.styled(
        shown.join(mitigation[["lost", "doubled", "no_number"]]),
        caption="Strict pass rates in percent with 95% intervals, their difference in percentage points, and "
        "how many numbers were carried or not",
        headings={"plain": "alone", "by_rule": "by rule", "no_number": "left"},
    )
    return _spaced(table)


def errors_table(errors_found: pd.DataFrame) -> Styler:
    """Errors that were found: source, output and the correct number side by side, numbers marked (Table 1).

    errors_found: `numbers.errors_found`.
    """
    if errors_found.empty:
        return styles.empty(NO_FAILURE)
    shown = (
        _whose(errors_found)
        .join(_named(errors_found[["capability", "error"]]))
        .assign(
            source=_sources(errors_found),
            hypothesis=_hypotheses(errors_found),
            correct=[escape(number) for number in errors_found["correct"]],
        )
    )
    html: list[Hashable] = [*_whose(errors_found).columns, "source", "hypothesis", "correct"]
    return _with_html(shown, html, "Errors of this run; numbers are marked", _WHOSE)


def passed_table(passed: pd.DataFrame) -> Styler:
    """Translations that passed. passed: `numbers.passed_samples`."""
    if passed.empty:
        return styles.empty("No number of this run was carried over.")
    shown = _named(passed[[*styles.varying(passed, ["pair", "model"]), "capability"]]).assign(
        source=_sources(passed), hypothesis=passed["hypothesis"].map(escape)
    )
    return _with_html(shown, ["source", "hypothesis"], "Cases that passed")


def error_types_table(error_counts: pd.DataFrame) -> Styler:
    """How often each type of error is seen, what it means, and one example (Table 4). See `numbers.error_counts`."""
    if error_counts["n"].sum() == 0:
        return styles.empty(NO_FAILURE if len(error_counts) else panels.NO_MODEL)
    seen = error_counts[error_counts["n"] > 0]
    keys = styles.varying(error_counts, ["model"])
    examples = [
        f"{source}<br>{hypothesis}" for source, hypothesis in zip(_sources(seen), _hypotheses(seen), strict=True)
    ]
    shown = seen[[*keys, "error", "n", "share", "meaning", "pair"]].assign(example=examples)
    return _with_html(
        shown, ["example"], "Types of errors among the failures of the strict rate",
        headings={"n": "failures", "share": "of the model's"},
    )  # fmt: skip


def unseen_types(error_counts: pd.DataFrame) -> str:
    """A sentence that names the types of errors that no model of a run has."""
    seen = error_counts.groupby("error", sort=False)["n"].sum()
    absent = [str(name) for name, n in seen.items() if n == 0]
    return f"Not seen in this run: {', '.join(absent)}." if absent else "Every type of error was seen in this run."


def shrunk_table(shrunk: pd.DataFrame) -> Styler:
    """The smallest failing number of each shrunk failure, in its sentence. shrunk: `numbers.shrunk_failures`."""
    if shrunk.empty:
        return styles.empty(_NOT_SHRUNK)
    reports = [f"{source}<br>{hypothesis}" for source, hypothesis in
               zip(_sources(shrunk), _hypotheses(shrunk), strict=True)]  # fmt: skip
    shown = _whose(shrunk).join(_named(shrunk[["capability"]])).assign(
        written=shrunk["written"].map(escape), smallest=shrunk["smallest"].map(escape), error=shrunk["error"],
        report=reports, asked=shrunk["asked"], proved=shrunk["proved"].map({True: "yes", False: "neighbours"}),
    )  # fmt: skip
    html: list[Hashable] = [*_whose(shrunk).columns, "written", "smallest", "report"]
    return _with_html(
        shown, html, "The smallest number that fails, from each failure",
        {**_WHOSE, "written": "failed with", "report": "sentence and translation", "asked": "tried",
         "proved": "simpler pass"},
    )  # fmt: skip


def bug_reports(shrunk: pd.DataFrame) -> list[str]:
    """One line a failure, to be pasted where bugs are reported. shrunk: `numbers.shrunk_failures`."""
    return [
        f"{row['pair']} {row['model']}: {row['smallest']} → {row['found'] or 'nothing'} ({row['error']}) "
        f"in “{row['source']}” → “{row['hypothesis']}”"
        for row in shrunk.to_dict("records")
    ]


def _sources(table: pd.DataFrame) -> list[str]:
    """The sources as HTML, the number that was filled in marked."""
    texts = []
    for template, source in table[["template", "source"]].itertuples(index=False, name=None):
        before, _, after = template.partition(PLACEHOLDER)
        texts.append(styles.marked(source, [(len(before), len(source) - len(after))]))
    return texts


def _hypotheses(table: pd.DataFrame) -> list[str]:
    """The hypotheses as HTML, what was found in place of the number marked."""
    return [_marked(*row) for row in table[["hypothesis", "found"]].itertuples(index=False, name=None)]


def _marked(text: str, number: str) -> str:
    """*text* as HTML with *number* marked where it stands for itself; both are escaped.

    >>> _marked("11 of 1 <b>", "1").count("<mark"), "11 of <mark" in _marked("11 of 1 <b>", "1")
    (1, True)
    """
    alone = re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text) if number else None
    start = alone.start() if alone else text.find(number) if number else -1
    return styles.marked(text, [(start, start + len(number))] if start >= 0 else [])


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with capabilities and languages under the names they are read by."""
    known = {
        "capability": lambda name: name if name == ALL else numbers_looks.capability(name),
        "lang": language_label,
    }
    return table.assign(**{name: table[name].map(read) for name, read in known.items() if name in table})


def _whose(table: pd.DataFrame) -> pd.DataFrame:
    """Pair and model, as HTML in one column, which leaves room for sentences; no column where all rows share them."""
    keys = styles.varying(table, ["pair", "model"])
    lines = ["<br>".join(map(escape, row)) for row in table[keys].itertuples(index=False, name=None)]
    return pd.DataFrame({"whose": lines} if keys else {}, index=table.index)


def _percent(rate: float, low: float, high: float, n: float | None = None) -> str:
    return styles.with_interval(100 * rate, 100 * low, 100 * high, decimals=1, n=n)


def _one_decimal(percent: float) -> str:
    return styles.NOTHING if pd.isna(percent) else f"{percent:.1f}"


def _model_headings(models: Iterable[str]) -> dict[str, str]:
    return {name: look.label for name, look in numbers_looks.model_looks(models).items()}


def _with_html(
    rows: pd.DataFrame, columns: list[Hashable], caption: str, headings: Mapping[str, str] | None = None
) -> Styler:
    """`styles.styled`, with *columns* that are HTML made here of escaped parts."""
    table = styles.styled(rows, caption=caption, headings=headings).format(str, subset=columns)
    return _spaced(table, [name for name in _SENTENCES if name in rows])


def _spaced(table: Styler, wide: Sequence[str] = ()) -> Styler:
    """*table* with room for the columns *wide*, and models on one line where theirs are the only words."""
    columns = list(table.data.columns)  # type: ignore[attr-defined]
    rules = [(name, "min-width: 15em") for name in wide]
    rules += [("model", "white-space: nowrap")] if "model" in columns and not wide else []
    added: list[Any] = [{"selector": f"td.col{columns.index(name)}", "props": rule} for name, rule in rules]
    return table.set_table_styles(added, overwrite=False)
