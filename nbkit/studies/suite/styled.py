"""How a suite's results appear: a figure, and tables (``tables.yaml``), of what `nbkit.studies.suite` returns."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import panels, styles, theme
from nbkit.studies import page
from nbkit.studies.page import Sheets
from nbkit.studies.suite.params import SuiteParams


def footer(params: SuiteParams) -> provenance.Footer:
    """Where the page's results come from: the suite, parameters, models, versions."""
    suite = params.read
    facts = {"suite": f"{suite.name} ({len(suite):,} tests)"}
    pair = (params.source, params.target)
    return page.footer(params, facts, params.systems, lambda name: params.translator_key(name, *pair), pairs=[pair])


def _output(row: dict[Hashable, Any]) -> str:
    spans = [(span["start"], span["end"]) for span in row["spans"]]
    return styles.marked(row["output"], [] if spans == [(0, len(row["output"]))] else spans)


TABLES = Sheets(
    Path(__file__).with_name("tables.yaml"),
    texts={"output": _output, "source": lambda row: styles.breakable(row["source"])},
)
show = TABLES.show


def leaderboard_table(board: pd.DataFrame) -> Styler:
    """`suite.leaderboard`, the best value of each column in bold."""
    return show("leaderboard", board, largest=board["largest"].iloc[0] if len(board) else "")


def leaderboard_figure(board: pd.DataFrame) -> Figure:
    """The share of tests that each system passes, with 95% intervals, the best on top."""
    if board.empty:
        return theme.message(panels.NO_MODEL)
    looks = theme.model_looks(board["system"])
    with theme.style():
        figure, ((panel,),) = panels.grid(1, 1, 6, 0.9 + 0.24 * len(board))
        for height, (system, look) in enumerate(looks.items()):
            panels.intervals(panel, board[board["system"] == system], [height], look, "rate", "low", "high")
        panel.set(yticks=range(len(looks)), xlabel="tests passed, as a share of those decided")
        panel.set_yticklabels([theme.short_name(look.label) for look in looks.values()])
        panel.invert_yaxis()
    return figure


def rates_table(name: str, rates: pd.DataFrame, rows: str | list[str]) -> Styler:
    """Pass rates in percent, *rows* × systems; N is the number of tests that one system or more decided."""
    if rates.empty:
        return show(name, rates)
    shown = rates.assign(percent=100 * rates["rate"])
    wide = styles.wide(shown, rows, "system", "percent")
    keys = [rows] if isinstance(rows, str) else rows
    sizes = rates.assign(N=rates["n"] + rates["undecided"]).groupby(keys, sort=False)["N"].max().reset_index()
    values = wide.drop(columns=keys)
    best = values.eq(values.max(axis=1), axis=0) & values.ne(values.min(axis=1), axis=0)
    wide = pd.concat(
        [wide[keys].merge(sizes, on=keys), values.map("{:.1f}".format).replace("nan", styles.NOTHING)], axis=1
    )
    return show(name, wide, best=best.reindex(columns=wide.columns, fill_value=False))


def reasons_table(aside: pd.DataFrame) -> Styler:
    """How many tests are in quarantine for each kind of reason."""
    kinds = aside["reason"].str.partition(":")[0].str.replace(r"^\d+ of (the )?\d+", "many of the", regex=True)
    counts = kinds.value_counts().rename_axis("reason").reset_index(name="tests")
    return show("reasons", counts)
