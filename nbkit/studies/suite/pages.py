"""What several pages of a suite show."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from nbkit.figures import styles
from nbkit.studies.notebook import show


def show_rates(rates: pd.DataFrame, rows: Sequence[str], name: str, caption: str, fold: str = "") -> None:
    """Show pass rates (`pass_rates`) in percent, *rows* × systems, the best of each row in bold.

    N is the number of tests that count, of the system with most of them.
    """
    rows = list(rows)
    wide = styles.wide(rates.assign(percent=100 * rates["value"]), rows, "model", "percent")
    values = wide.drop(columns=rows)
    best = values.eq(values.max(axis=1), axis=0) & values.ne(values.min(axis=1), axis=0)
    sizes = rates.assign(N=rates["n"] + rates["undecided"]).groupby(rows, sort=False)["N"].max().reset_index()
    percent = values.map("{:.1f}".format).replace("nan", styles.NOTHING)
    table = pd.concat([wide[rows].merge(sizes, on=rows), percent], axis=1)
    table.attrs.update(wide.attrs)
    best = best.reindex(columns=table.columns, fill_value=False)
    show(table, name, caption=caption, best=best, data=rates, fold=fold)
