"""Figures of the numbers study: what Table 3 of the paper holds, and what its text only describes.

Each takes tables of `nbkit.studies.numbers` and returns a matplotlib figure; a table without rows gives a figure that
says why. What copying the source's number would pass is drawn in as the floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.studies.numbers import styled
from nbkit.studies.numbers.steps import REFERENCE
from nbkit.studies.numbers.styled import TABLES, capability
from nbkit.studies.numbers.tables import ALL_KINDS

_DASHED: dict[bool, Any] = {True: (0, (2, 2)), False: "-"}  # whether numbers are carried over by rule
_LIMIT: Any = {"linewidth": 1, "linestyle": (0, (4, 3))}  # of a model's training


def rates_figure(pass_rates: pd.DataFrame, copies: pd.DataFrame) -> Figure:
    """Strict pass rates by capability, language pair and model, 95% intervals (Table 3).

    pass_rates: `numbers.pass_rates`. copies: `numbers.copy_rates`, drawn as bars.
    """
    if pass_rates.empty:
        return theme.message(panels.NO_MODEL)
    pairs, models = _in_order(pass_rates["pair"]), styled.model_looks(pass_rates["model"])
    with theme.style():
        height = 1.2 + len(pairs) * max(0.45, 0.19 * len(models) + 0.1)
        figure, shown = _each_capability(pass_rates, pairs, height, looks=list(models.values()))
        for name, panel in shown:
            own = copies[(copies["capability"] == name) & copies["pair"].isin(pairs)]
            panels.ticks(panel, own["strict"], map(pairs.index, own["pair"]), styled.copied())
            for offset, (model, look) in zip(panels.dodge(len(models)), models.items(), strict=True):
                rows = pass_rates[(pass_rates["model"] == model) & (pass_rates["capability"] == name)]
                heights = [pairs.index(pair) + offset for pair in rows["pair"]]
                panels.intervals(panel, rows, heights, look, "strict", "strict_low", "strict_high")
        panels.legend(figure, [*panels.few(models.values()), styled.copied()], columns=3)
    return figure


#: Kinds that the figure of running text has panels for, beside all together.
_KINDS = 4


def running_figure(rates: pd.DataFrame) -> Figure:
    """The share of sentences with all quantities right, and by kind, each with its interval; the reference is a line.

    rates: `numbers.running_rates`.
    """
    if rates.empty:
        return theme.message(TABLES.why("running"))
    rows = list(dict.fromkeys(zip(rates["pair"], rates["model"], strict=True)))
    names = _key_names(rows) if rates["pair"].nunique() > 1 else [theme.short_name(model) for _, model in rows]
    kinds = _in_order(rates["kind"])[: _KINDS + 1]
    with theme.style():
        figure, axes = panels.grid(1, len(kinds), theme.WIDTH, 1.0 + 0.24 * len(rows), sharey=True)
        for kind, panel in zip(kinds, axes[0], strict=True):
            own = rates[rates["kind"] == kind]
            for model, look in styled.model_looks(rates["model"]).items():
                part = own[own["model"] == model]
                heights = [rows.index(key) for key in zip(part["pair"], part["model"], strict=True)]
                panels.intervals(panel, part, heights, look, "carried", "carried_low", "carried_high")
            people = own[own["model"] == REFERENCE]
            if len(set(own["pair"])) == 1:
                panel.axvline(people["carried"].iloc[0], color="#8A8A8A", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            panels.rows_axis(panel, names)
            panel.set(title="all quantities" if kind == ALL_KINDS else kind, xlabel="sentences (%)")
            panel.xaxis.set_major_formatter(panels.PER_CENT)
            panel.xaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    return figure


def digits_figure(rates: pd.DataFrame, in_training: pd.DataFrame) -> Figure:
    """The pass rate of integers by their number of digits, one panel per language pair.

    rates: `numbers.rates_by_digits`. in_training: `numbers.lengths_in_training`; the longest of a model is a dashed
    line in its colour, and what is longer than anything in known training data is shaded.
    """
    if rates.empty:
        return theme.message(panels.NO_MODEL)
    return _lengths(rates, in_training[in_training["places"] == "digits"], "digits", "digits of the integer")


def fraction_figure(rates: pd.DataFrame, in_training: pd.DataFrame) -> Figure:
    """The pass rate of decimals by the length of their fraction, as `digits_figure`."""
    if rates.empty:
        return theme.message("No decimals among the formats of this run, or no model in it.")
    seen = in_training[in_training["places"] == "fraction"]
    return _lengths(rates, seen, "fraction_digits", "digits after the decimal separator")


def errors_figure(results: pd.DataFrame) -> Figure:
    """What failures are made of: the share of the cases of each type of error, one panel per capability (Table 4).

    results: `numbers.results`. The bars' whole length is the share that fails the strict rate.
    """
    if results.empty:
        return theme.message(panels.NO_MODEL)
    failed = results[~results["strict"].astype(bool)]
    if failed.empty:
        return theme.message(TABLES.why("errors"))
    keys = _keys(results)
    types = {name: look for name, look in styled.error_looks().items() if name in set(failed["error"])}
    with theme.style():
        figure, shown = _each_capability(results, _key_names(keys), 1.6 + 0.3 * len(keys), "of all cases (%)")
        for name, panel in shown:
            shares = _error_shares(results[results["capability"] == name], keys, list(types))
            start = pd.Series(0.0, index=shares.index)
            for error, look in types.items():
                bars = panel.barh(range(len(keys)), shares[error], 0.66, left=start, color=look.colour)
                of = shares.index.to_frame(index=False).assign(capability=name, reason=error)
                panels.lead(bars, of)
                start = start + shares[error]
        panels.legend(figure, types.values(), columns=4)
    return figure


def notation_figure(pass_rates: pd.DataFrame) -> Figure:
    """Strict and lenient pass rates, one panel per capability. pass_rates: `numbers.pass_rates`."""
    return _dumbbells(pass_rates, "rates", panels.NO_MODEL)


def placeholder_figure(mitigation: pd.DataFrame) -> Figure:
    """Strict pass rates without and with the placeholder step, one panel per capability.

    mitigation: `numbers.mitigation`.
    """
    return _dumbbells(mitigation, "steps", TABLES.why("mitigation"))


def _lengths(rates: pd.DataFrame, seen: pd.DataFrame, column: str, what: str) -> Figure:
    """Pass rates by a length, one panel per language pair, or per model where these are many. seen: in training."""
    pairs, every = _in_order(rates["pair"]), styled.model_looks(rates["model"])
    seen = seen[seen["model"].isin(every)]
    longest = seen.groupby(["pair", "model"])["length"].max()
    shown = [(pair, pair, every) for pair in pairs]
    if not panels.few(every.values()):
        shown = [
            (f"{pair}  {look.label}" if len(pairs) > 1 else look.label, pair, {name: look})
            for pair in pairs
            for name, look in every.items()
        ]
    per_line = min(len(shown), 3)
    with theme.style():
        width, each = min(theme.WIDTH, 1.6 + 3.6 * per_line), 2.4 if panels.few(every.values()) else 1.7
        height = 1.0 + each * -(-len(shown) // per_line)
        figure, small = panels.several(len(shown), per_line, width, height, sharex=True, sharey=True)
        for place, ((title, pair, models), panel) in enumerate(zip(shown, small, strict=True)):
            panel.set_xlim(rates[column].min() - 0.6, rates[column].max() + 0.6)
            limits = {model: longest[pair, model] for model in models if (pair, model) in longest.index}
            _training_limits(panel, limits, models)
            for offset, (model, look) in zip(panels.dodge(len(models)), models.items(), strict=True):
                line = rates[(rates["pair"] == pair) & (rates["model"] == model)].sort_values(column)
                _line(panel, line, line[column] + 0.6 * offset, look, _DASHED[styled.is_by_rule(model)])
            below = len(every) > panels.MANY and place + per_line < len(shown)
            panel.set(
                title=title,
                xlabel="" if below else what,
                ylabel="" if place % per_line else "pass rate (%)",
                ylim=(-0.04, 1.04),
            )
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.yaxis.set_major_formatter(panels.PER_CENT)
        handles = [
            Line2D([], [], color=look.colour, marker=look.marker, markersize=5, linewidth=1.2, label=look.label,
                   linestyle=_DASHED[styled.is_by_rule(model)])
            for model, look in every.items() if panels.few(every.values())
        ]  # fmt: skip
        if len(longest):
            handles.append(Line2D([], [], color="#555555", label="the longest of its training", **_LIMIT))
        if handles:
            figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 3))
    return figure


def _line(panel: Axes, line: pd.DataFrame, places: pd.Series, look: Look, style: Any) -> None:
    panel.vlines(places, line["strict_low"], line["strict_high"], color=look.colour, linewidth=1.2, alpha=0.6)
    panel.plot(places, line["strict"], color=look.colour, marker=look.marker, markersize=5, linewidth=1.2,
               linestyle=style, url=styles.common_link(line))  # fmt: skip
    panels.hollow(panel, places, line["strict"], line["n"])


def _training_limits(panel: Axes, limits: Mapping[str, float], models: Mapping[str, Look]) -> None:
    """A line behind the longest number of each model's training, once where models of one colour share it."""
    for limit, colour in dict.fromkeys((limit, models[model].colour) for model, limit in limits.items()):
        panel.axvline(limit + 0.5, color=colour, zorder=1, **_LIMIT)
    if limits:
        panel.axvspan(max(limits.values()) + 0.5, panel.get_xlim()[1], color="#8A8A8A", alpha=0.1, linewidth=0)


def _dumbbells(table: pd.DataFrame, kind: str, why: str) -> Figure:
    """Two rates of the same cases, joined by a line; columns are named after the looks of this *kind*."""
    if table.empty:
        return theme.message(why)
    keys, conditions = _keys(table), styled.looks(kind)
    with theme.style():
        figure, shown = _each_capability(table, _key_names(keys), 1.2 + 0.32 * len(keys))
        for name, panel in shown:
            own = table[table["capability"] == name]
            heights = [keys.index(key) for key in zip(own["pair"], own["model"], strict=True)]
            ends = own[list(conditions)]
            panel.hlines(heights, ends.min(axis=1), ends.max(axis=1), color="#CFCFCF", linewidth=3, zorder=1)
            for offset, (condition, look) in zip((-0.12, 0.12), conditions.items(), strict=True):
                shifted = [height + offset for height in heights]
                panels.intervals(panel, own, shifted, look, condition, f"{condition}_low", f"{condition}_high")
        panels.legend(figure, conditions.values())
    return figure


def _each_capability(
    table: pd.DataFrame, rows: Sequence[str], height: float, what: str = "pass rate (%)", looks: Sequence[Look] = ()
) -> tuple[Figure, Iterator[tuple[str, Axes]]]:
    """One panel per capability, side by side; after drawing it gets the names of its *rows* and a share axis."""
    names = _in_order(table["capability"])
    figure, axes = panels.grid(1, len(names), theme.WIDTH, height, sharey=True)

    def each() -> Iterator[tuple[str, Axes]]:
        for name, panel in zip(names, axes[0], strict=True):
            yield name, panel
            panel.set_title(capability(name))
            panels.rows_axis(panel, rows, looks)
            panels.share_axis(panel, what)

    return figure, each()


def _error_shares(cases: pd.DataFrame, keys: Sequence[tuple[str, str]], types: Sequence[str]) -> pd.DataFrame:
    """The share of the cases of each pair and model that have each type of error; 0 where there are no cases."""
    rows = pd.MultiIndex.from_tuples(keys, names=["pair", "model"])
    n = cases.groupby(["pair", "model"]).size().reindex(rows, fill_value=0)
    counts = pd.crosstab([cases["pair"], cases["model"]], cases["error"])
    return counts.reindex(index=rows, columns=list(types), fill_value=0).div(n, axis=0).fillna(0.0)


def _in_order(values: pd.Series) -> list[str]:
    return list(dict.fromkeys(values))


def _keys(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(table["pair"], table["model"], strict=True)))


def _key_names(keys: Sequence[tuple[str, str]]) -> list[str]:
    """Rows by language pair, and by model where there are several."""
    several = len({model for _, model in keys}) > 1
    return [f"{pair}  {theme.short_name(model)}" if several else pair for pair, model in keys]
