"""What several pages of a suite show."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from nbcheck.study.params import SuiteParams
from nbkit import provenance
from nbkit.figures import styles
from nbkit.figures.panels import NO_MODEL
from nbkit.studies import notebook
from nbkit.studies.notebook import show

#: What stands in place of a table if every test is skipped or in quarantine.
NO_TEST = "No test counts: all are in quarantine, in a category of the parameter without, or not translated by all."


def why_empty(params: SuiteParams) -> str:
    """The text in place of a figure or table of systems if there are no rows."""
    return NO_TEST if params.models else NO_MODEL


def show_rates(
    params: SuiteParams, rates: pd.DataFrame, rows: Sequence[str], name: str, caption: str, fold: str = ""
) -> None:
    """Show pass rates (`nbcheck.study.rates.pass_rates`) in percent, *rows* × systems, the best in bold.

    N is the number of tests that count, of the system with most of them.
    """
    rows = list(rows)
    if rates.empty:
        show(rates, name, caption=caption, empty=why_empty(params))
        return
    wide = styles.wide(rates.assign(percent=100 * rates["value"]), rows, "model", "percent")
    values = wide.drop(columns=rows)
    best = values.eq(values.max(axis=1), axis=0) & values.ne(values.min(axis=1), axis=0)
    sizes = rates.assign(N=rates["n"] + rates["undecided"]).groupby(rows, sort=False)["N"].max().reset_index()
    percent = values.map("{:.1f}".format).replace("nan", styles.NOTHING)
    table = pd.concat([wide[rows].merge(sizes, on=rows), percent], axis=1)
    best = best.reindex(columns=table.columns, fill_value=False)
    show(table, name, caption=caption, best=best, data=rates, fold=fold)


def footer(params: SuiteParams) -> provenance.Footer:
    """The page's footer: suite, parameters, models and versions that the results come from."""
    return notebook.footer(params, {"suite": f"{params.read.name} ({len(params.read):,} tests)"})
