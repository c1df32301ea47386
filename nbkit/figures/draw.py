"""What several notebooks draw alike, from tables of `nbkit.studies.summarise`; what one alone draws stands in it.

Colours and names follow from the column: a model, a language, a category or a score looks the same in every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbkit.figures import panels, theme
from nbkit.figures.panels import NO_MODEL
from nbkit.figures.theme import Look
from nbkit.perturb import label as perturbation_label

Names = Callable[[str], str] | Mapping[str, str] | None

#: How the values of a column are called and look; any other column takes its values as they are, and free colours.
_LANGUAGES = ("language", "source_language", "target_language")


def looks(column: str | None, values: Sequence[str], names: Names = None) -> dict[str, Look]:
    """Name, colour and marker of each value of a column.

    >>> looks("category", ["tree"])["tree"].label, looks("error", ["digit lost"])["digit lost"].label
    ('tree', 'digit lost')
    """
    found: Mapping[str, Look]
    if column in _LANGUAGES:
        found = theme.language_looks(values)
    elif column == "category":
        found = theme.category_looks()
    elif column == "score" and set(values) <= set(theme.theme_data()["scores"]):
        found = {value: theme.score_look(value) for value in values}
    elif column == "model":
        found = theme.model_looks(values)
    else:
        free = [*theme.theme_data()["models"].values(), *theme.theme_data()["more_models"]]
        found = {value: Look(str(value), **free[i % len(free)]) for i, value in enumerate(values)}
    if names is not None:
        read = called(column or "", names)
        return {value: Look(read(value), found[value].colour, found[value].marker) for value in values}
    return {value: found[value] for value in values}


def called(column: str, names: Names = None) -> Callable[[str], str]:
    """How values of a column are written: by *names*, or else as languages, perturbations and models are.

    >>> called("target_language")("de"), called("perturbation")("reversed"), called("x", {"a": "A"})("a")
    ('German (de)', 'Reversed', 'A')
    """
    if isinstance(names, Mapping):
        return lambda value: names.get(value, str(value))
    if names is not None:
        return names
    if column in _LANGUAGES:
        return theme.language_label
    if column == "perturbation":
        return perturbation_label
    return (lambda value: theme.short_name(str(value))) if column == "model" else str


def ordered(values: Sequence[str] | pd.Series, order: Sequence[str] = ()) -> list[str]:
    """The distinct values: those of *order* first, in its order, then the others as they come.

    >>> ordered(["b", "a", "c", "a"], ["c", "d", "a"])
    ['c', 'a', 'b']
    """
    there = list(dict.fromkeys(values))
    return list(dict.fromkeys([*(name for name in order if name in there), *there]))


def forest(
    table: pd.DataFrame,
    y: str,
    *,
    hue: str | None = None,
    panel: str | None = None,
    x: str = "value",
    low: str = "low",
    high: str = "high",
    label: str = "",
    zero: float | None = None,
    unit: bool = False,
    order: Sequence[str] = (),
    names: Names = None,
    hues: Names = None,
    titles: Names = None,
    marks: pd.DataFrame | None = None,
    mark: str = "",
    empty: str = NO_MODEL,
) -> Figure:
    """A row for each value of *y*: a mark at *x* and a line from *low* to *high*.

    Parameters
    ----------
    table : DataFrame
        One row a mark; with a column ``n``, marks of few units are hollow.
    hue, panel : str, optional
        Columns whose values stand side by side in a row, and in panels.
    label : str
        The horizontal axis, with its unit.
    zero : float, optional
        A vertical line to compare with.
    unit : bool
        Whether the axis runs from 0 to 1.
    order : sequence of str
        The order of the rows.
    names, hues, titles : callable or mapping, optional
        How rows, hues and panels are called.
    marks : DataFrame, optional
        Floors or ceilings, drawn as bars: columns *y*, value and, with panels, *panel*; *mark* is their name.
    empty : str
        What the figure says where the table has no rows.
    """
    table = table[table[x].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    rows = ordered(table[y], order)
    shown = [None] if panel is None else ordered(table[panel])
    own = looks(hue or y, ordered(table[hue or y]), hues if hue else None)
    shares_rows = hue is not None and bool(table.duplicated([y, *([panel] if panel else [])]).any())
    offsets = dict(zip(own, panels.dodge(len(own)) if shares_rows else np.zeros(len(own)), strict=True))
    if hue is None:
        own = dict.fromkeys(own, Look("", theme.theme_data()["models"]["opus-mt"]["colour"], "o"))
    per_line = min(len(shown), 3)
    height = 0.9 + len(rows) * (max(0.26, 0.16 * len(own)) if shares_rows else 0.26)
    with theme.style():
        lines = -(-len(shown) // per_line)
        figure, axes = panels.several(
            len(shown), per_line, theme.WIDTH, max(1.6, height * lines + 0.3), sharex=True, sharey=True
        )
        for name, axis in zip(shown, axes, strict=True):
            here = table if panel is None else table[table[panel] == name]
            for value, look in own.items():
                part = here[here[hue or y] == value]
                heights = part[y].map(rows.index).to_numpy(float) + offsets[value]
                if len(part):
                    panels.intervals(axis, _linked(part), heights, look, x, low, high)
            if marks is not None:
                beside = marks if panel is None else marks[marks[panel] == name]
                beside = beside[beside[y].isin(rows) & beside["value"].notna()]
                panels.ticks(axis, beside["value"], beside[y].map(rows.index), Look(mark, "#333333", "|"))
            if zero is not None:
                axis.axvline(zero, color="#8A8A8A", linewidth=1, zorder=1)
            panels.rows_axis(axis, list(map(called(y, names), rows)), list(own.values()) if shares_rows else ())
            axis.set(xlabel=label, title="" if name is None else called(panel or "", titles)(name))
        if unit:
            panels.unit_range(axes[0], table[[x]])
        entries = panels.few(own.values()) if hue is not None and (len(own) > 1 or hue == "score") else []
        panels.legend(figure, [*entries, *([Look(mark, "#333333", "|")] if mark and marks is not None else [])])
    return figure


def curves(
    table: pd.DataFrame,
    x: str,
    *,
    hue: str,
    panel: str | None = None,
    y: str = "value",
    label: str = "",
    across: str = "",
    order: Sequence[str] = (),
    names: Names = None,
    hues: Names = None,
    titles: Names = None,
    zero: float | None = None,
    empty: str = NO_MODEL,
) -> Figure:
    """A line for each value of *hue* through its values at each *x*, with their intervals; as `forest` otherwise.

    label: the vertical axis, with its unit; across: the horizontal one.
    """
    table = table[table[y].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    places = ordered(table[x], order)
    shown = [None] if panel is None else ordered(table[panel])
    own = looks(hue, ordered(table[hue]), hues)
    per_line = min(len(shown), 3)
    with theme.style():
        lines = -(-len(shown) // per_line)
        figure, axes = panels.several(len(shown), per_line, theme.WIDTH, 3.0 * lines, sharex=True, sharey=True)
        for name, axis in zip(shown, axes, strict=True):
            here = table if panel is None else table[table[panel] == name]
            for i, (value, look) in enumerate(own.items()):
                part = here[here[hue] == value]
                if len(part):
                    shift = 0.04 * (i - (len(own) - 1) / 2)
                    at = part[x].map(places.index).to_numpy(float) + shift
                    few = part if "n" in part else part.assign(n=np.nan)
                    panels.line(axis, _linked(few), at, look, y, "low", "high")
            if zero is not None:
                axis.axhline(zero, color="#8A8A8A", linewidth=1, zorder=1)
            axis.set_xticks(range(len(places)), list(map(called(x, names), places)))
            axis.set(xlabel=across, title="" if name is None else called(panel or "", titles)(name))
        for axis in axes[::per_line]:
            axis.set_ylabel(label)
        panels.legend(figure, own.values())
    return figure


def heatmap(
    table: pd.DataFrame,
    y: str,
    x: str,
    *,
    panel: str | None = None,
    value: str = "value",
    order: Sequence[str] = (),
    names: Names = None,
    columns: Names = None,
    titles: Names = None,
    within: tuple[float, float] = (0, 1),
    label: str = "",
    form: str = ".2f",
    empty: str = NO_MODEL,
) -> Figure:
    """A cell for each value of *y* × *x*, on one scale in all panels; dark is large. As `forest` otherwise."""
    import seaborn as sns

    table = table[table[value].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    rows, across = ordered(table[y], order), ordered(table[x], order)
    shown = [None] if panel is None else ordered(table[panel])
    per_line = max(1, min(len(shown), int(9 // max(1.6, 0.42 * len(across)))))
    with theme.style():
        lines = -(-len(shown) // per_line)
        height = (1.5 + 0.25 * len(rows)) * lines
        figure, axes = panels.several(len(shown), per_line, theme.WIDTH, height, sharey=True)
        for name, axis in zip(shown, axes, strict=True):
            here = table if panel is None else table[table[panel] == name]
            wide = here.pivot(index=y, columns=x, values=value).reindex(index=rows, columns=across)
            written = {"size": 6.5} if len(across) * per_line <= 24 else None
            sns.heatmap(
                wide.astype(float), vmin=within[0], vmax=within[1], cmap="crest", ax=axis, cbar=axis is axes[-1],
                annot=written is not None, fmt=form, annot_kws=written, cbar_kws={"label": label, "shrink": 0.8},
            )  # fmt: skip
            axis.set(xlabel="", ylabel="", title="" if name is None else called(panel or "", titles)(name))
            axis.set_xticklabels(list(map(called(x, columns), across)), rotation=60, ha="right")
            axis.set_yticklabels(list(map(called(y, names), rows)), rotation=0)
    return figure


def frame_axis(axis: Axes, label: str, rows: Sequence[str]) -> None:
    """The axes of a panel that a notebook draws by hand: named rows from the top, and the horizontal label."""
    panels.rows_axis(axis, rows)
    axis.set_xlabel(label)


def _linked(part: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns by which the browser of sentences filters."""
    return part.rename(columns={"target_language": "language"})


def figure(rows: int = 1, columns: int = 1, height: float = 3.0, **shared: Any) -> tuple[Figure, np.ndarray]:
    """An empty figure of the report's width, with the theme's look, for what a notebook draws itself."""
    with theme.style():
        return panels.grid(rows, columns, theme.WIDTH, height, **shared)
