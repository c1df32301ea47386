"""What several notebooks draw alike, from tables of `nbkit.studies.summarise`; what one alone draws stands in it.

Colours and names follow from the column: a model, a language, a category or a score looks the same in every figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbkit.figures import panels, styles, theme
from nbkit.figures.panels import NO_MODEL
from nbkit.figures.theme import Look
from nbkit.measure.statistics import FEW
from nbkit.models import label as model_label
from nbkit.models.catalogue import BY_RULE
from nbkit.numbers.formats import CAPABILITIES
from nbkit.perturb import CONTROL, PERTURBATIONS
from nbkit.perturb import label as perturbation_label

Names = Callable[[str], str] | Mapping[str, str] | None
Columns = str | Sequence[str] | None

#: How the values of a column are called and look; any other column takes its values as they are, and free colours.
_LANGUAGES = ("language", "source_language", "target_language")
_PERTURBATIONS = ("perturbation", "perturbation_a", "perturbation_b")


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
        found = _model_looks(values)
    else:
        free = [*theme.theme_data()["models"].values(), *theme.theme_data()["more_models"]]
        found = {value: Look(str(value), **free[i % len(free)]) for i, value in enumerate(values)}
    if names is not None:
        read = called(column or "", names)
        return {value: Look(read(value), found[value].colour, found[value].marker) for value in values}
    return {value: found[value] for value in values}


#: What the label of a model behind the placeholder step ends with, and the marker of such a model.
_BY_RULE, _BY_RULE_MARKER = model_label(f"{BY_RULE}model").removeprefix("model"), "X"


def _model_looks(models: Sequence[str]) -> dict[str, Look]:
    """The looks of models; one behind the placeholder step has the colour of the model and a marker of its own.

    >>> found = _model_looks(["Helsinki-OPUS", "Helsinki-OPUS + placeholder"])
    >>> len({look.colour for look in found.values()}), len({look.marker for look in found.values()})
    (1, 2)
    """
    alone = theme.model_looks([each.removesuffix(_BY_RULE) for each in models])
    looks = {each: alone[each.removesuffix(_BY_RULE)] for each in models}
    behind = [each for each in models if each.endswith(_BY_RULE)]
    return looks | {
        each: replace(looks[each], label=looks[each].label + _BY_RULE, marker=_BY_RULE_MARKER) for each in behind
    }


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
    if column in _PERTURBATIONS:
        return lambda name: perturbation_label(name) if name == CONTROL or name in PERTURBATIONS else name
    if column == "metric":
        return theme.metric_label
    if column == "capability":
        return lambda name: name.capitalize() if name in CAPABILITIES else name
    return (lambda value: theme.model_looks([str(value)])[str(value)].label) if column == "model" else str


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
    panel: Columns = None,
    x: str = "value",
    low: str = "low",
    high: str = "high",
    label: str = "",
    zero: float | Sequence[float] | None = None,
    unit: bool = False,
    limits: tuple[float, float] | Literal["symmetric"] | None = None,
    joined: bool = False,
    order: Sequence[str] = (),
    names: Names = None,
    hues: Names = None,
    titles: Names = None,
    marks: pd.DataFrame | None = None,
    mark: str = "",
    percent: bool = False,
    more: Sequence[Look] = (),
    per_line: int = 3,
    empty: str = NO_MODEL,
) -> Figure:
    """A row for each value of *y*: a mark at *x* and a line from *low* to *high*.

    Rows that are perturbations stand in the paper's order, on bands of their categories.

    Parameters
    ----------
    table : DataFrame
        One row a mark; with a column ``n``, marks of few units are hollow.
    hue, panel : str or sequence of str, optional
        Columns whose values stand side by side in a row, and in panels; a panel may be of two columns. Scores whose
        look is a bar (quality, chance) are drawn as bars, without intervals.
    label : str
        The horizontal axis, with its unit.
    zero : float or sequence of float, optional
        Vertical lines to compare with.
    unit : bool
        Whether the axis runs from 0 to 1.
    limits : tuple or "symmetric", optional
        The ends of the axis; "symmetric": as far to the left of 0 as to the right.
    joined : bool
        Whether the marks of a row stand at one height, joined by a line.
    order : sequence of str
        The order of the rows.
    names, hues, titles : callable or mapping, optional
        How rows, hues and panels are called; of two columns, *titles* names the last.
    marks : DataFrame, optional
        Floors or ceilings, drawn as bars: columns *y*, value and, with panels, *panel*; *mark* is their name. With a
        column *hue*, each stands beside its mark.
    percent : bool
        Whether shares are written in per cent.
    more : sequence of Look
        Entries of the legend for what is drawn into the figure afterwards.
    per_line : int
        Panels that stand side by side at most.
    empty : str
        What the figure says where the table has no rows.
    """
    table = table[table[x].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    shown, by_category = _panels(table, panel, titles), y in _PERTURBATIONS
    heights = _heights(y, table[y], order)
    own = looks(hue or y, ordered(table[hue or y]), hues if hue else None)
    bars = {value for value, look in own.items() if hue == "score" and look.marker == "|"}
    side_by_side = [value for value in own if value not in bars]
    dodged = hue is not None and not joined and bool(table.duplicated([y, *_listed(panel)]).any())
    offsets = dict(zip(side_by_side, panels.dodge(len(side_by_side)), strict=True)) if dodged else {}
    if hue is None:
        own = dict.fromkeys(own, Look("", theme.theme_data()["models"]["opus-mt"]["colour"], "o"))
    per_line = min(len(shown), per_line)
    with theme.style():
        lines, width = -(-len(shown) // per_line), theme.WIDTH * (0.8 if per_line == 1 else 1)
        height = _height(heights, len(offsets), by_category) * lines + 0.5
        figure, axes = panels.several(
            len(shown), per_line, width, max(1.7, height), sharex=True, sharey=not by_category
        )
        for place, ((title, here), axis) in enumerate(zip(shown, axes, strict=True)):
            if joined:
                ends = here[~here[hue].isin(bars)].groupby(y, observed=True)[x].agg(["min", "max"])
                axis.hlines(ends.index.map(heights), ends["min"], ends["max"], color="#CFCFCF", linewidth=1, zorder=1)
            for value, look in reversed(own.items()):  # the first lies on top
                part = here[here[hue or y] == value]
                at = part[y].map(heights).to_numpy(float) + offsets.get(value, 0)
                if value in bars:
                    panels.ticks(axis, part[x], at, look)
                elif len(part):
                    panels.intervals(axis, _linked(part), at, look, x, low, high)
            if marks is not None:
                beside = _same(marks, here, panel)
                beside = beside[beside[y].isin(heights) & beside["value"].notna()]
                at = beside[y].map(heights).to_numpy(float)
                at = at + ([offsets.get(value, 0) for value in beside[hue]] if hue in beside else 0)
                panels.ticks(axis, beside["value"], at, Look(mark, "#333333", "|"))
            for at in [] if zero is None else [zero] if isinstance(zero, int | float) else zero:
                axis.axvline(at, color="#8A8A8A", linewidth=1, zorder=1)
            last = place % per_line == per_line - 1 or place == len(shown) - 1
            if by_category:
                panels.perturbation_axis(axis, heights, labels=place % per_line == 0, categories=last)
            else:
                panels.rows_axis(axis, list(map(called(y, names), heights)), list(own.values()) if dodged else ())
            axis.set(xlabel=label if place + per_line >= len(shown) else "", title=title)
            axis.tick_params(axis="x", labelbottom=True)
            if percent:
                axis.xaxis.set_major_formatter(panels.PER_CENT)
        if unit:
            panels.unit_range(axes[0], table[[x]])
        elif limits is not None:
            axes[0].set_xlim(*(_symmetric(table[[x, low, high]]) if limits == "symmetric" else limits))
        several = hue is not None and (len(own) > 1 or hue in ("score", "model")) and hue not in (y, *_listed(panel))
        several = several and not (by_category and hue == "category")  # bands name the categories
        entries = list(own.values()) if several and (by_category or panels.few(own.values())) else []
        panels.legend(figure, [*entries, *([Look(mark, "#333333", "|")] if mark and marks is not None else []),
                               *more], columns=2 if len(entries) == 4 and width < theme.WIDTH else 5)  # fmt: skip
    return figure


def curves(
    table: pd.DataFrame,
    x: str,
    *,
    hue: str,
    panel: Columns = None,
    y: str = "value",
    label: str = "",
    across: str = "",
    order: Sequence[str] = (),
    names: Names = None,
    hues: Names = None,
    titles: Names = None,
    zero: float | None = None,
    marks: pd.DataFrame | None = None,
    mark: str = "",
    per_line: int = 3,
    empty: str = NO_MODEL,
) -> Figure:
    """A line for each value of *hue* through its values at each *x*, with their intervals; as `forest` otherwise.

    label: the vertical axis, with its unit; across: the horizontal one. Numbers in *x* stand where they are, anything
    else side by side. marks: a table like *table* whose lines are broken. Lines of models behind the placeholder step
    are dotted.
    """
    table = table[table[y].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    measured = pd.api.types.is_numeric_dtype(table[x])
    places = [] if measured else ordered(table[x], order)
    shown = _panels(table, panel, titles)
    own = looks(hue, ordered(table[hue]), hues)
    per_line = min(len(shown), per_line)
    with theme.style():
        lines = -(-len(shown) // per_line)
        height = 3.0 if lines == 1 else 2.3
        figure, axes = panels.several(len(shown), per_line, theme.WIDTH, height * lines + 0.3, sharex=True, sharey=True)
        for place, ((title, here), axis) in enumerate(zip(shown, axes, strict=True)):
            broken = None if marks is None else _same(marks, here, panel)
            for i, (value, look) in enumerate(own.items()):
                for lined, line in ((here, "-"), (broken, "--")):
                    part = here.head(0) if lined is None else lined[lined[hue] == value]
                    if len(part):
                        part = part.sort_values(x) if measured else part
                        shift = 0 if measured else 0.04 * (i - (len(own) - 1) / 2)
                        at = (part[x] if measured else part[x].map(places.index)).to_numpy(float) + shift
                        few = part if "n" in part else part.assign(n=np.nan)
                        dotted = hue == "model" and value.endswith(_BY_RULE)
                        panels.line(axis, _linked(few), at, look, y, "low", "high", ":" if dotted else line)
            if zero is not None:
                axis.axhline(zero, color="#8A8A8A", linewidth=1, zorder=1)
            if not measured:
                axis.set_xticks(range(len(places)), list(map(called(x, names), places)))
            axis.set(xlabel=across if place + per_line >= len(shown) else "", title=title)
            axis.tick_params(axis="y", labelleft=True)
        for axis in axes[::per_line]:
            axis.set_ylabel(label)
        entries = [] if hue in _listed(panel) else list(own.values())
        panels.legend(figure, [*entries, *([Look(mark, "#111111", "", "--")] if marks is not None else [])])
    return figure


def heatmap(
    table: pd.DataFrame,
    y: str,
    x: str,
    *,
    panel: Columns = None,
    value: str = "value",
    order: Sequence[str] = (),
    names: Names = None,
    columns: Names = None,
    titles: Names = None,
    within: tuple[float, float] = (0, 1),
    label: str = "",
    form: str = ".2f",
    written: str | None = None,
    empty: str = NO_MODEL,
) -> Figure:
    """A cell for each value of *y* × *x*, on one scale in all panels; dark is large. As `forest` otherwise.

    Numbers stand in the cells where there is room, those of few units (column ``n``) with a dagger. written: the column
    with what stands there instead. Perturbations on both axes are the same rows and columns, in the paper's order.
    """
    import seaborn as sns

    table = table[table[value].notna()] if len(table) else table
    if not len(table):
        return theme.message(empty)
    rows, across = (list(_heights(each, table[each], order)) for each in (y, x))
    if both := y in _PERTURBATIONS and x in _PERTURBATIONS:
        rows = across = panels.in_paper_order([*table[y], *table[x]])
    table = table.assign(_written=table[written] if written else _numbers(table, value, form))
    shown = _panels(table, panel, titles)
    numbers = len(shown) == 1 or len(across) <= 8
    longest = max(len(line) for title, _ in shown for line in title.splitlines() or [""])
    wide = max((0.42 if numbers else 2.3 / len(across)) * len(across), 0.085 * longest)
    per_line = min(len(shown), max(1, int((theme.WIDTH - 2.6) // (wide + 0.15))))
    lines = -(-len(shown) // per_line)
    high = (0.38 if both else 0.22) * len(rows) if numbers else 2.3
    with theme.style():
        figure, axes = panels.several(
            len(shown), per_line, min(theme.WIDTH, 2.6 + per_line * (wide + 0.15)), 1.4 + lines * (high + 0.45)
        )
        for place, ((title, here), axis) in enumerate(zip(shown, axes, strict=True)):
            values, texts = (here.pivot(index=y, columns=x, values=each).reindex(index=rows, columns=across)
                             for each in (value, "_written"))  # fmt: skip
            texts = texts.astype(object).fillna("")
            sns.heatmap(
                values.astype(float), vmin=within[0], vmax=within[1], cmap="crest", ax=axis, cbar=False, linewidths=0.4,
                annot=texts if numbers else None, fmt="", annot_kws={"size": 6.5, "linespacing": 1.1},
            )  # fmt: skip
            readable_numbers(axis, len(across))
            axis.set(xlabel="", ylabel="", title=title)
            axis.grid(visible=False)
            named = ((axis.set_yticks, y, rows, names, place % per_line == 0, 0),
                     (axis.set_xticks, x, across, columns or names, place + per_line >= len(shown), 90))  # fmt: skip
            for set_ticks, column, values_, names_, is_named, turned in named:
                ticks = list(map(called(column, names_), values_)) if is_named else [""] * len(values_)
                turned = 0 if max(map(len, ticks)) <= 3 else turned
                set_ticks(np.arange(len(values_)) + 0.5, ticks, rotation=turned, fontsize=8 if numbers else 6.5)
                if column in _PERTURBATIONS:
                    _coloured(axis.get_yticklabels() if column == y else axis.get_xticklabels(), values_)
            axis.tick_params(axis="both", length=0)
            if numbers and "†" in "".join(texts.to_numpy().ravel()):
                panels.few_note(axis)
        bar = figure.colorbar(axes[0].collections[0], ax=figure.axes, shrink=0.5, aspect=30, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return figure


def readable_numbers(axis: Axes, columns: int) -> None:
    """Write the numbers of a heatmap of so many *columns* in black or white, whichever stands out more.

    (seaborn's own choice is white from middling colours on, where black has twice the contrast.)
    """
    cells = axis.collections[0]
    cells.update_scalarmappable()
    colours = np.asarray(cells.get_facecolor(), dtype=float)
    for text in axis.texts:
        x, y = text.get_position()
        channels = colours[int(y) * columns + int(x), :3]
        linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        text.set_color("black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white")  # WCAG 2.1: equal contrast


def _numbers(table: pd.DataFrame, value: str, form: str) -> list[str]:
    units = table["n"] if "n" in table else [FEW] * len(table)
    return [f"{each:{form}}{styles.dagger(n)}" for each, n in zip(table[value], units, strict=True)]


def _coloured(labels: Sequence[Any], names: Sequence[str]) -> None:
    """Names of perturbations in the colours of their categories."""
    known = theme.category_looks()
    for text, name in zip(labels, names, strict=True):
        text.set_color(known[panels.category_of(name)].colour)


def _listed(columns: Columns) -> list[str]:
    return [] if columns is None else [columns] if isinstance(columns, str) else list(columns)


def _panels(table: pd.DataFrame, panel: Columns, titles: Names) -> list[tuple[str, pd.DataFrame]]:
    """The title and the rows of each panel."""
    by = _listed(panel)
    if not by:
        return [("", table)]
    read = [*(called(name) for name in by[:-1]), called(by[-1], titles)]
    found: Iterator[Any] = iter(table.groupby(by, sort=False, observed=True))
    return [("\n".join(name(value) for name, value in zip(read, key, strict=True)), rows) for key, rows in found]


def _same(other: pd.DataFrame, here: pd.DataFrame, panel: Columns) -> pd.DataFrame:
    """The rows of another table that belong to the panel of these."""
    for name in _listed(panel):
        other = other[other[name] == here[name].iloc[0]] if name in other else other
    return other


def _heights(column: str, values: pd.Series, order: Sequence[str]) -> dict[str, float]:
    """Where each row stands."""
    if column in _PERTURBATIONS:
        return panels.perturbation_rows(panels.in_paper_order(values))
    return {name: float(place) for place, name in enumerate(ordered(values, order))}


def _height(heights: Mapping[str, float], dodged: int, by_category: bool) -> float:
    """Inches of a panel with these rows, in each of which so many marks stand side by side."""
    if by_category:
        return 0.8 + len(heights) * max(0.2, 0.08 * dodged + 0.08)
    return 0.8 + len(heights) * max(0.26 if len(heights) > 8 else 0.4, 0.16 * dodged)


def _symmetric(values: pd.DataFrame) -> tuple[float, float]:
    """Ends of an axis as far from 0 to both sides."""
    reach = max(0.05, float(np.nanmax(np.abs(values.to_numpy(dtype=float))))) * 1.08
    return -reach, reach


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
