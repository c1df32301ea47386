"""Figures of the numbers study: what Table 3 of the paper holds, and what its text only tells.

Each takes tables of `nbkit.studies.numbers` and returns a matplotlib figure; a table without rows gives a figure that
says why. What copying the source's number would pass is drawn in as the floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from nbkit.figures import panels, theme
from nbkit.figures.theme import Look
from nbkit.studies.numbers import styled
from nbkit.studies.numbers.styled import TABLES, capability

_SHARE = PercentFormatter(1.0, decimals=0, symbol="")


def rates_figure(pass_rates: pd.DataFrame, copies: pd.DataFrame) -> Figure:
    """Strict pass rates by capability, language pair and model, 95% intervals (Table 3).

    pass_rates: `numbers.pass_rates`. copies: `numbers.copy_rates`, drawn as bars.
    """
    if pass_rates.empty:
        return theme.message(panels.NO_MODEL)
    names, pairs = _in_order(pass_rates["capability"]), _in_order(pass_rates["pair"])
    models = styled.model_looks(pass_rates["model"])
    with theme.style():
        height = 1.2 + len(pairs) * max(0.45, 0.19 * len(models) + 0.1)
        figure, axes = panels.grid(1, len(names), theme.WIDTH, height, sharey=True)
        for name, panel in zip(names, axes[0], strict=True):
            own = copies[(copies["capability"] == name) & copies["pair"].isin(pairs)]
            panels.ticks(panel, own["strict"], map(pairs.index, own["pair"]), styled.copied())
            for offset, (model, look) in zip(panels.dodge(len(models)), models.items(), strict=True):
                rows = pass_rates[(pass_rates["model"] == model) & (pass_rates["capability"] == name)]
                heights = [pairs.index(pair) + offset for pair in rows["pair"]]
                panels.intervals(panel, rows, heights, look, "strict", "strict_low", "strict_high")
            panel.set_title(capability(name))
            _rows(panel, pairs)
            _share_axis(panel, "pass rate (%)")
        panels.legend(figure, [*models.values(), styled.copied()], columns=3)
    return figure


def digits_figure(rates: pd.DataFrame, in_training: pd.DataFrame) -> Figure:
    """The pass rate of integers by their number of digits, a panel a language pair.

    rates: `numbers.rates_by_digits`. in_training: `numbers.lengths_in_training`; the longest of a model is a dashed
    line in its colour, and what is longer than any known model has seen is shaded.
    """
    return _lengths(rates, in_training, "digits", "digits of the integer")


def fraction_figure(rates: pd.DataFrame, in_training: pd.DataFrame) -> Figure:
    """The pass rate of decimals by the length of their fraction, as `digits_figure`."""
    return _lengths(rates, in_training, "fraction_digits", "digits after the decimal separator")


def errors_figure(results: pd.DataFrame) -> Figure:
    """What failures are made of: the share of the cases of each type of error, a panel a capability (Table 4).

    results: `numbers.results`. The bars' whole length is the share that fails the strict rate.
    """
    if results.empty:
        return theme.message(panels.NO_MODEL)
    failed = results[~results["strict"].astype(bool)]
    if failed.empty:
        return theme.message(TABLES.why("errors"))
    names, keys = _in_order(results["capability"]), _keys(results)
    types = [name for name in styled.error_looks() if name in set(failed["error"])]
    with theme.style():
        figure, axes = panels.grid(1, len(names), theme.WIDTH, 1.6 + 0.3 * len(keys), sharey=True)
        for name, panel in zip(names, axes[0], strict=True):
            shares = _error_shares(results[results["capability"] == name], keys, types)
            start = pd.Series(0.0, index=shares.index)
            for error in types:
                colour = styled.error_looks()[error].colour
                panel.barh(range(len(keys)), shares[error], 0.66, left=start, color=colour)
                start = start + shares[error]
            panel.set_title(capability(name))
            _rows(panel, _key_names(keys))
            _share_axis(panel, "of all cases (%)")
        panels.legend(figure, [styled.error_looks()[error] for error in types], columns=4)
    return figure


def notation_figure(pass_rates: pd.DataFrame) -> Figure:
    """Strict and lenient pass rates, a panel a capability. pass_rates: `numbers.pass_rates`."""
    return _dumbbells(pass_rates, styled.looks("rates"), panels.NO_MODEL)


def placeholder_figure(mitigation: pd.DataFrame) -> Figure:
    """Strict pass rates without and with the placeholder step, a panel a capability.

    mitigation: `numbers.mitigation`.
    """
    return _dumbbells(mitigation, styled.looks("steps"), TABLES.why("mitigation"))


def _lengths(rates: pd.DataFrame, in_training: pd.DataFrame, column: str, what: str) -> Figure:
    if rates.empty:
        return theme.message(
            panels.NO_MODEL if column == "digits" else "No decimals among the formats of this run, or no model in it."
        )
    pairs, models = _in_order(rates["pair"]), styled.model_looks(rates["model"])
    seen = in_training[in_training["places"] == ("digits" if column == "digits" else "fraction")]
    seen = seen[seen["model"].isin(models)]
    longest = seen.groupby(["pair", "model"])["length"].max()
    per_line = min(len(pairs), 3)
    lines = -(-len(pairs) // per_line)
    with theme.style():
        width = min(theme.WIDTH, 1.6 + 3.6 * per_line)
        figure, axes = panels.grid(lines, per_line, width, 1.0 + 2.4 * lines, sharex=True, sharey=True)
        for panel in axes.flat[len(pairs) :]:
            panel.set_visible(False)
        for pair, panel in zip(pairs, axes.flat, strict=False):
            own = rates[rates["pair"] == pair]
            panel.set_xlim(rates[column].min() - 0.6, rates[column].max() + 0.6)
            limits = {model: longest[pair, model] for model in models if (pair, model) in longest.index}
            _training_limits(panel, limits, models)
            for offset, (model, look) in zip(panels.dodge(len(models)), models.items(), strict=True):
                line = own[own["model"] == model].sort_values(column)
                _line(panel, line, line[column] + 0.6 * offset, look, styled.is_by_rule(model))
            panel.set_title(pair)
            panel.set_xlabel(what)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.set_ylim(-0.04, 1.04)
            panel.yaxis.set_major_formatter(_SHARE)
        for row in axes:
            row[0].set_ylabel("pass rate (%)")
        _length_legend(figure, models, bool(len(longest)))
    return figure


def _training_limits(panel: Axes, limits: Mapping[str, float], models: Mapping[str, Look]) -> None:
    """A line behind the longest number of each model's training, once where models of one colour share it."""
    for limit, colour in dict.fromkeys((limit, models[model].colour) for model, limit in limits.items()):
        panel.axvline(limit + 0.5, color=colour, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    if limits:
        panel.axvspan(max(limits.values()) + 0.5, panel.get_xlim()[1], color="#8A8A8A", alpha=0.1, linewidth=0)


def _line(panel: Axes, line: pd.DataFrame, places: pd.Series, look: Look, dashed: bool) -> None:
    style: Any = (0, (2, 2)) if dashed else "-"
    panel.vlines(places, line["strict_low"], line["strict_high"], color=look.colour, linewidth=1.2, alpha=0.6)
    panel.plot(places, line["strict"], color=look.colour, marker=look.marker, markersize=5, linewidth=1.2,
               linestyle=style)  # fmt: skip
    panels.hollow(panel, places, line["strict"], line["n"])


def _length_legend(figure: Figure, models: Mapping[str, Look], known: bool) -> None:
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, markersize=5, linewidth=1.2, label=look.label,
               linestyle=(0, (2, 2)) if styled.is_by_rule(model) else "-")
        for model, look in models.items()
    ]  # fmt: skip
    if known:
        handles.append(
            Line2D([], [], color="#555555", linewidth=1, linestyle=(0, (4, 3)), label="the longest of its training")
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 3))


def _dumbbells(table: pd.DataFrame, conditions: Mapping[str, Look], why: str) -> Figure:
    """Two rates of the same cases, joined by a line; columns are named after the conditions."""
    if table.empty:
        return theme.message(why)
    names, keys = _in_order(table["capability"]), _keys(table)
    with theme.style():
        figure, axes = panels.grid(1, len(names), theme.WIDTH, 1.2 + 0.32 * len(keys), sharey=True)
        for name, panel in zip(names, axes[0], strict=True):
            own = table[table["capability"] == name]
            heights = [keys.index(key) for key in zip(own["pair"], own["model"], strict=True)]
            ends = own[list(conditions)]
            panel.hlines(heights, ends.min(axis=1), ends.max(axis=1), color="#CFCFCF", linewidth=3, zorder=1)
            for offset, (condition, look) in zip((-0.12, 0.12), conditions.items(), strict=True):
                shifted = [height + offset for height in heights]
                panels.intervals(panel, own, shifted, look, condition, f"{condition}_low", f"{condition}_high")
            panel.set_title(capability(name))
            _rows(panel, _key_names(keys))
            _share_axis(panel, "pass rate (%)")
        panels.legend(figure, conditions.values())
    return figure


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


def _share_axis(panel: Axes, what: str) -> None:
    panel.set(xlim=(-0.04, 1.04), xticks=(0, 0.25, 0.5, 0.75, 1), xlabel=what)
    panel.xaxis.set_major_formatter(_SHARE)


def _rows(panel: Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    for edge in range(1, len(names)):
        panel.axhline(edge - 0.5, color="#EDEDED", linewidth=0.8)
