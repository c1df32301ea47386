"""How things of the numbers study appear: names and colours (``looks.yaml``) and styled tables (``tables.yaml``).

A table function takes a table of `nbkit.studies.numbers`; `show` shows those that need no more than their entry. The
``data`` of a styled table is what a CSV copy holds; one without rows says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.corpora.templates import PLACEHOLDER
from nbkit.errors import NbkitError
from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.models import label
from nbkit.models.catalogue import BY_RULE
from nbkit.numbers import find_numbers
from nbkit.numbers.formats import DrawnNumber
from nbkit.perturb.shrink_numbers import is_simplest
from nbkit.studies import page
from nbkit.studies.behaviours import behaviour_of
from nbkit.studies.numbers.steps import STUDY
from nbkit.studies.numbers.tables import ALL_KINDS, PUBLISHED
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    from nbkit.studies.numbers import NumbersParams

#: What reads and writes numbers besides nbkit's own rules.
_LIBRARIES = ("Babel", "num2words", "cn2an")
#: What the label of a model behind the placeholder step ends with.
_BY_RULE = label(f"{BY_RULE}model").removeprefix("model")
#: What stands for all capabilities together in a row of Table 3.
ALL, MEAN = "all test cases", "mean of the capabilities"


def footer(params: NumbersParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what numbers are read and written with, models, versions."""
    libraries = ", ".join(f"{name} {version}" for name, version in provenance.versions(_LIBRARIES).items())
    pairs = [(pair.src, pair.tgt) for pair in params.pairs]

    def key(name: str) -> list[Any]:
        return [params.model_key(pair, name) for pair in params.pairs]

    return page.footer(params, {"number rules": libraries}, params.models, key, pairs=pairs)


def precision(params: NumbersParams) -> str:
    """How precise errors of a single system were when read, for each language pair of the run."""
    behaviour = behaviour_of(STUDY)
    assert behaviour is not None
    measure = behaviour.measures["carried"]
    read = {pair.pair: measure.precision(pair.src, pair.tgt) for pair in params.pairs}
    return " ".join(
        f"{pair}: of errors that a reader checked, {found.said}."
        if found
        else f"{pair}: nobody has checked the errors."
        for pair, found in read.items()
    )


# ----------------------------------------------------------------------------
# Names and colours of models, capabilities and types of errors.


@cache
def _data() -> dict[str, Any]:
    return read_own(Path(__file__).with_name("looks.yaml"))


def is_by_rule(model: str) -> bool:
    """Whether a model's label says that its numbers are carried over by rule.

    >>> is_by_rule("Helsinki-OPUS + placeholder"), is_by_rule("Helsinki-OPUS")
    (True, False)
    """
    return model.endswith(_BY_RULE)


def model_looks(labels: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each model, in the order given; one behind the placeholder step has its own marker.

    >>> looks = model_looks(["Helsinki-OPUS", "Helsinki-OPUS + placeholder"])
    >>> len({look.colour for look in looks.values()}), len({look.marker for look in looks.values()})
    (1, 2)
    """
    labels = list(dict.fromkeys(labels))
    alone = theme.model_looks([each.removesuffix(_BY_RULE) for each in labels])
    looks = {each: alone[each.removesuffix(_BY_RULE)] for each in labels}
    marker = _data()["by_rule_marker"]
    return {
        each: replace(look, label=look.label + _BY_RULE, marker=marker) if is_by_rule(each) else look
        for each, look in looks.items()
    }


def capability(name: str) -> str:
    """A capability as the paper writes it; a name that is none stays.

    >>> capability("integers")
    'Integers'
    """
    return _data()["capabilities"].get(name, name)


def copied() -> Look:
    """What copying the source's number would get."""
    return Look(**_data()["copy"])


def looks(kind: str) -> dict[str, Look]:
    """The looks of one kind: "rates" or "steps"."""
    return {name: Look(**entry) for name, entry in _data()[kind].items()}


def error_looks() -> dict[str, Look]:
    """Name and colour of each type of error, in the order in which they are decided."""
    return {name: Look(name, entry["colour"], "s") for name, entry in _data()["errors"].items()}


# ----------------------------------------------------------------------------
# Sentences as HTML: the number of a row is marked, all else is escaped.


def _marked(text: str, number: str) -> str:
    """*text* as HTML with *number* marked where it stands for itself; both are escaped.

    >>> _marked("11 of 1 <b>", "1").count("<mark"), "11 of <mark" in _marked("11 of 1 <b>", "1")
    (1, True)
    """
    alone = re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text) if number else None
    start = alone.start() if alone else text.find(number) if number else -1
    return styles.marked(text, [(start, start + len(number))] if start >= 0 else [])


def _source(row: dict[Hashable, Any]) -> str:
    """The source, the number that was filled in marked."""
    source, (before, _, after) = row["source"], row["template"].partition(PLACEHOLDER)
    return styles.marked(source, [(len(before), len(source) - len(after))])


def _hypothesis(row: dict[Hashable, Any]) -> str:
    """The hypothesis, what was found in place of the number marked."""
    return _marked(row["hypothesis"], row.get("found", ""))


def _both(row: dict[Hashable, Any]) -> str:
    return f"{_source(row)}<br>{_hypothesis(row)}"


def _escaped(column: str) -> Callable[[dict[Hashable, Any]], str]:
    return lambda row: escape(row[column])


#: The study's tables and the paper's.
TABLES = page.Sheets(
    Path(__file__).with_name("tables.yaml"),
    PUBLISHED,
    names={"capability": capability, "lang": theme.language_label},
    texts={
        "source": _source,
        "hypothesis": _hypothesis,
        "example": _both,
        "report": _both,
        "source_marked": lambda row: styles.marked(row["source"], row["source_spans"]),
        "hypothesis_marked": lambda row: styles.marked(row["hypothesis"], row["output_spans"]),
        "sentence": lambda row: _marked(row["sentence"], row["number"]),
        **{name: _escaped(name) for name in ("correct", "written", "smallest")},
    },
)
show = TABLES.show


# ----------------------------------------------------------------------------
# Tables 1 to 5 of the paper, and those of what its text only tells, as far as their entry does not say it all.


def rates_table(pass_rates: pd.DataFrame) -> Styler:
    """Strict pass rates in percent with their intervals, the best of a row in bold (Table 3).

    pass_rates: `numbers.pass_rates`. The last rows of a pair are the share of all its test cases, which the report's
    index and cards show, and the mean of its capabilities, which the paper averages.
    """
    if pass_rates.empty:
        return TABLES.empty(panels.NO_MODEL)
    keys = ["pair", "capability"]
    of = pass_rates.assign(passed=pass_rates["strict"] * pass_rates["n"]).groupby(["pair", "model"], sort=False)
    means = of["strict"].mean().reset_index().assign(capability=MEAN)
    whole = of[["passed", "n"]].sum().assign(strict=lambda sums: sums["passed"] / sums["n"], capability=ALL)
    whole = whole.drop(columns="passed").reset_index()
    pairs = pass_rates["pair"].unique()
    rows = pd.concat([table[table["pair"] == pair] for pair in pairs for table in (pass_rates, whole, means)])
    shown = _by_model(rows, keys).join(rows.groupby(keys)["n"].max().astype("Int64"), on=keys)
    strict = styles.wide(rows, keys, "model", "strict")
    return show("rates", shown, best=styles.best(strict.drop(columns=keys)), headings=_model_headings(rows))


def running_table(rates: pd.DataFrame) -> Styler:
    """Shares of sentences in percent, a column for each kind of quantity, the best of each in bold.

    rates: `numbers.running_rates`.
    """
    if rates.empty:
        return TABLES.empty(TABLES.why("running"))
    keys = ["pair", "model"]
    wide = styles.wide(rates, keys, "kind", "carried")
    kinds = list(dict.fromkeys(rates["kind"]))
    most = rates.groupby("kind")["n"].max().to_dict()
    whole = rates[rates["kind"] == ALL_KINDS].reset_index(drop=True)
    shown = whole.merge(wide[[*keys, *kinds[1:]]], on=keys)
    shown = shown.assign(**{kind: styles.cells(shown, kind, form=".1f", times=100) for kind in kinds[1:]})
    best = styles.best(wide[kinds], by="column").rename(columns={ALL_KINDS: "carried"})
    return show("running", shown, best=best, headings={kind: f"{kind} (N ≤ {most[kind]:,})" for kind in kinds[1:]})


def format_rates_table(rates: pd.DataFrame) -> Styler:
    """Strict pass rates in percent of each format. rates: `numbers.rates_by_format`."""
    shown = _by_model(rates, ["pair", "capability", "format"], "n")
    return show("format_rates", shown, headings=_model_headings(rates))


def training_table(in_training: pd.DataFrame, sentences: int) -> Styler:
    """How often numbers of each length stand in training sentences. in_training: `numbers.lengths_in_training`."""
    places = in_training["places"].map({"digits": "whole numbers", "fraction": "fractions"})
    wide = in_training.assign(what=places).pivot(index=["pair", "model", "what"], columns="length", values="n")
    wide = wide.fillna(0).astype(int).sort_index(ascending=[True, True, False])
    return show("training", wide.reset_index().rename_axis(columns=None), sentences=f"{sentences:,}")


def averages_table(averages: pd.DataFrame) -> Styler:
    """Average pass rates of capabilities and systems beside those that the paper prints. See `numbers.averages`."""
    shown = averages.assign(
        name=averages["name"].where(averages["kind"] != "capability", averages["name"].map(capability))
    )
    shown = shown if averages["note"].ne("").any() else shown.drop(columns="note")
    return show("averages", shown, title=PUBLISHED.title("table3"))


def notation_table(pass_rates: pd.DataFrame) -> Styler:
    """Strict and lenient pass rates in percent, and how far they are apart. pass_rates: `numbers.pass_rates`."""
    return show("notation", pass_rates.assign(apart=pass_rates["lenient"] - pass_rates["strict"]))


def mitigation_table(mitigation: pd.DataFrame) -> Styler:
    """Strict pass rates without and with the placeholder step, and what it did. mitigation: `numbers.mitigation`."""
    carried = [f"{carried} of {n}" for carried, n in zip(mitigation["carried"], mitigation["n"], strict=True)]
    return show("mitigation", mitigation.assign(carried=carried))


def errors_table(errors_found: pd.DataFrame) -> Styler:
    """Errors that were found: source, output and the correct number side by side, numbers marked (Table 1).

    errors_found: `numbers.errors_found`.
    """
    return show("errors", _with_whose(errors_found))


def error_types_table(error_counts: pd.DataFrame) -> Styler:
    """How often each type of error is seen, what it means, and one example (Table 4). See `numbers.error_counts`."""
    seen = error_counts[error_counts["n"] > 0]
    return show("error_types", seen, why="" if len(error_counts) else panels.NO_MODEL)


def unseen_types(error_counts: pd.DataFrame) -> str:
    """A sentence that names the types of errors that no model of a run has."""
    seen = error_counts.groupby("error", sort=False)["n"].sum()
    absent = [str(name) for name, n in seen.items() if n == 0]
    return f"Not seen in this run: {', '.join(absent)}." if absent else "Every type of error was seen in this run."


def shrunk_table(shrunk: pd.DataFrame) -> Styler:
    """The smallest failing number of each shrunk failure, in its sentence. shrunk: `numbers.shrunk_failures`."""
    columns = zip(*(shrunk[name] for name in ("proved", "smallest", "smallest_format", "pair")), strict=True)
    return show("shrunk", _with_whose(shrunk).assign(proved=[_of_simpler(*each) for each in columns]))


def _of_simpler(proved: bool, smallest: str, pattern: str, pair: str) -> str:
    """What is known of numbers simpler than the smallest that fails."""
    src = pair.partition("→")[0]
    try:
        (value,) = (each.value for each in find_numbers(smallest, src))
        if is_simplest(DrawnNumber(value, smallest), pattern, src):
            return "nothing simpler"
    except (NbkitError, ValueError):  # a smallest number that nbkit cannot read
        pass
    return "yes" if proved else "neighbours"


def bug_reports(shrunk: pd.DataFrame) -> list[str]:
    """One line a failure, to be pasted where bugs are reported. shrunk: `numbers.shrunk_failures`."""
    return [
        f"{row['pair']} {row['model']}: {row['smallest']} → {row['found'] or 'nothing'} ({row['error']}) "
        f"in “{row['source']}” → “{row['hypothesis']}”"
        for row in shrunk.to_dict("records")
    ]


def _with_whose(table: pd.DataFrame) -> pd.DataFrame:
    """Pair and model, as HTML in one column, which leaves room for sentences; no column where all rows share them."""
    keys = styles.varying(table, ["pair", "model"])
    lines = ["<br>".join(map(escape, row)) for row in table[keys].itertuples(index=False, name=None)]
    return table.assign(whose=lines) if keys else table


def _by_model(rates: pd.DataFrame, keys: list[str], n: str | None = None) -> pd.DataFrame:
    """Strict rates in percent, a column a model. n: see `styles.cells`."""
    cells = styles.cells(rates, "strict", ["strict_low", "strict_high"], ".1f", 100, n)
    return styles.wide(rates.assign(cell=cells), keys, "model", "cell").fillna(styles.NOTHING)


def _model_headings(rates: pd.DataFrame) -> dict[str, str]:
    return {name: look.label for name, look in model_looks(rates["model"]).items()}
