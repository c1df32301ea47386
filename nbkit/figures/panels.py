"""What figures are drawn with, and copies of figures and tables beside the report: PDF, CSV and LaTeX.

The folder of the copies is ``$NBKIT_OUTPUT`` (default ``outputs/explore``). Files appear whole or not at all.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter
from pandas.io.formats.style import Styler

from nbkit.figures import styles, theme
from nbkit.figures.theme import Look
from nbkit.files import as_csv, atomic_write
from nbkit.measure.statistics import FEW
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS, label

# ----------------------------------------------------------------------------
# Copies of figures and tables beside the report: PDF, CSV and LaTeX.

#: Models above which each is named where it is drawn: a legend would be searched in vain.
MANY = 8
#: What mathtext is written with, and a tick that is a number.
_MATH = re.compile(r"[$\\{}^]|\\(?:mathrm|mathcal)")
_NUMBER = re.compile(r"[−-]?[\d.,]+(?:\$\\mathdefault.*)?|\$.*\$")

Table = TypeVar("Table", Styler, pd.DataFrame)


def output_folder() -> Path:
    """Where this run keeps its files: ``$NBKIT_OUTPUT``, or ``outputs/explore``."""
    return Path(os.environ.get("NBKIT_OUTPUT") or Path("outputs") / "explore")


def save_figure(figure: Figure, name: str) -> Figure:
    """Keep *figure* as ``figures/<name>.pdf``, and where it fits a column as ``<name>.column.pdf``; returns the figure.

    It is laid out anew to fit the width of a page of text, or of its column, so that its writing has the size that it
    was given. A figure whose panels stand beside each other does not fit a column.
    """
    size = figure.get_size_inches()
    page = min(size[0], theme.PAGE)
    with theme.style():
        try:
            if _room(figure, page) >= _LEAST:
                legends = [(legend, legend._ncols) for legend in figure.legends]  # type: ignore[attr-defined]
                for legend, columns in legends:
                    legend.set_ncols(min(columns, 2))
                _save(figure, _path("figures", name, ".column.pdf"), theme.COLUMN, most=theme.COLUMN + 0.2)
                for legend, columns in legends:
                    legend.set_ncols(columns)
            _save(figure, _path("figures", name, ".pdf"), page)
        finally:
            figure.set_size_inches(*size)
    return figure


#: Inches that a panel is wide at least in a column.
_LEAST = 1.5


def _room(figure: Figure, width: float) -> float:
    """Inches that a column leaves for panels, judged by their labels; 0 for panels beside each other."""
    panels = [panel for panel in figure.axes if panel.get_visible()]
    if len({panel.get_position().x0.round(2) for panel in panels}) != 1:
        return 0.0
    figure.set_size_inches(width, figure.get_size_inches()[1])
    figure.draw_without_rendering()
    boxes = [(panel.get_window_extent().width, panel.get_tightbbox().width) for panel in panels]  # type: ignore[union-attr]
    return float(theme.COLUMN - max(whole - inside for inside, whole in boxes) / figure.dpi)


def _save(figure: Figure, path: Path, width: float, most: float | None = None) -> None:
    """Write a PDF of this width, unless what is drawn is wider than *most*."""
    figure.set_size_inches(width, figure.get_size_inches()[1])
    if most is not None:
        with warnings.catch_warnings(record=True) as said:  # that panels have no room
            warnings.simplefilter("always")
            figure.draw_without_rendering()
        if said or figure.get_tightbbox().width > most:
            path.unlink(missing_ok=True)
            return
    with atomic_write(path) as temporary:
        figure.savefig(temporary, format="pdf", bbox_inches="tight", metadata={"CreationDate": None})


def described(figure: Figure) -> str:
    """What *figure* shows in words, for who cannot see it: of each panel title, axis and where its values lie.

    >>> with theme.style():
    ...     figure, ((panel,),) = grid(1, 1, 4, 3)
    ...     marks = panel.scatter([0.25, 0.5], [0, 1])
    ...     _ = panel.set(title="BLEU", xlabel="share", yticks=[0, 1], yticklabels=["German", "Japanese"])
    ...     described(figure)
    'BLEU: share, values from 0.25 to 0.5.'
    """
    legends = [text.get_text() for legend in figure.legends if legend.get_gid() is None for text in legend.get_texts()]
    parts = [_panel_described(panel) for panel in figure.axes if panel.get_visible()]
    shown = f" Shown: {', '.join(legends)}." if legends else ""
    return _MATH.sub("", f"{' '.join(filter(None, parts))}{shown}")


def _panel_described(panel: Axes) -> str:
    rows = any(not _NUMBER.fullmatch(text.get_text()) for text in panel.get_yticklabels() if text.get_text())
    across, label = (0, panel.get_xlabel()) if rows else (1, panel.get_ylabel())
    marks = [each for each in panel.collections if isinstance(each, PathCollection) and each.get_gid() != _FEW]
    points: list[Any] = [np.asarray(each.get_offsets())[:, across] for each in marks]
    # Lines across a whole panel have another transform than those of data.
    points += [
        np.asarray(line.get_xydata())[:, across] for line in panel.lines if line.get_transform() == panel.transData
    ]
    points += [[bar.get_width() if rows else bar.get_height()] for bar in panel.patches if isinstance(bar, Rectangle)]
    points += [array.ravel() for each in panel.collections if (array := each.get_array()) is not None]
    values = np.concatenate([[], *(np.ma.filled(np.ma.asarray(each, dtype=float), np.nan) for each in points)])
    values = values[~np.isnan(values)]
    if not len(values):
        return ""
    title = " ".join(filter(None, (panel.get_title(), panel.get_title(loc="left"))))
    named = ": ".join(" ".join(text.split()) for text in (title, label) if text)
    ends = f"from {values.min():.3g} to {values.max():.3g}".replace("-", "−")
    return f"{named}, values {ends}." if named else f"Values {ends}."


def save_table(table: Table, name: str) -> Table:
    """Keep *table* as ``tables/<name>.csv``; a styled one as ``tables/<name>.tex`` too, for a paper.

    Returns the table, to be shown. For tables that hold sentences of a corpus use `save_text_table`.
    """
    if isinstance(table, Styler):
        path = _path("tables", name, ".tex")
        _write(path, styles.to_latex(table, label=path.stem))
    _write(_path("tables", name, ".csv"), as_csv(_frame(table)))
    return table


def save_text_table(table: Table, name: str) -> Table:
    """Keep a table that holds corpus text as ``tables/<name>.texts.csv``; returns the table.

    The suffix marks what a report without text omits; there is no LaTeX copy for the same reason.
    """
    _write(_path("tables", name, ".texts.csv"), as_csv(_frame(table)))
    return table


def _frame(table: Styler | pd.DataFrame) -> pd.DataFrame:
    return table.data if isinstance(table, Styler) else table  # type: ignore[attr-defined]


def _path(folder: str, name: str, suffix: str) -> Path:
    """The path of a copy, its folder made; anything but letters, digits and ``.-_`` in *name* becomes ``-``."""
    parent = output_folder() / folder
    parent.mkdir(parents=True, exist_ok=True)
    safe = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "unnamed"
    return parent / f"{safe}{suffix}"


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


# ----------------------------------------------------------------------------
# What the figures are drawn with: panels, means with intervals, the axis of perturbations, legends.

NO_MODEL = "No model in this run, so nothing was translated: add names to the parameter models."
NO_MEAN = (
    "No model in this run, or no perturbation that applies to min_n sentence pairs: add names to the parameter models, "
    "or pairs, or lower the parameter min_n."
)
NO_ROWS = "No sentence of this run could be perturbed on both sides: there is nothing to show."
#: Writes shares in per cent, without the sign.
PER_CENT = PercentFormatter(1.0, decimals=0, symbol="")
_FEW = "few"  # the mark of values of few units, and its legend
_GAP = 0.7  # between categories of perturbations, in rows


def rows_of(table: pd.DataFrame, metric: str, value: str, *, spacing: str | None = None) -> pd.DataFrame:
    """The rows of *table* for one metric (and one spacing) in which *value* is a number."""
    rows = table[table["metric"] == metric]
    if spacing is not None and "spacing" in rows:
        rows = rows[rows["spacing"] == spacing]
    return rows[rows[value].notna()]


def why_empty(table: pd.DataFrame, metric: str, reason: str) -> str:
    """Why `rows_of` found nothing: *reason* for a table without rows, or the metric that was not computed.

    >>> why_empty(pd.DataFrame({"metric": ["bleu"]}), "chrf", NO_MODEL)
    'chrF: not computed in this run; add "chrf" to the parameter metrics.'
    """
    if table.empty or metric in set(table["metric"]):
        return reason
    return f'{theme.metric_label(metric)}: not computed in this run; add "{metric}" to the parameter metrics.'


def grid(n_rows: int, n_columns: int, width: float, height: float, **shared: Any) -> tuple[Figure, np.ndarray]:
    """An empty figure of *n_rows* × *n_columns* panels, in inches; panels as a two-dimensional array."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def several(n: int, per_line: int, width: float, height: float, **shared: Any) -> tuple[Figure, list[Axes]]:
    """A figure of *n* panels, so many a line; what is left of the last line stays empty."""
    figure, axes = grid(-(-n // per_line), per_line, width, height, **shared)
    for panel in axes.flat[n:]:
        panel.set_visible(False)
    return figure, list(axes.flat[:n])


def dodge(n: int) -> np.ndarray:
    """Offsets of *n* marks that share a row of height 1, the first on top; few stand close together.

    >>> dodge(1).tolist(), dodge(2).tolist()
    ([0.0], [-0.15, 0.15])
    """
    reach = min(0.35 if n <= MANY else 0.44, 0.15 * (n - 1))
    return np.linspace(-reach, reach, n) if n > 1 else np.zeros(1)


def intervals(
    panel: Axes, frame: pd.DataFrame, heights: Iterable[float], look: Look, value: str, low: str, high: str
) -> None:
    """A mark at each *value* with a line from *low* to *high*, at *heights* on the vertical axis.

    Where *frame* has a column n, marks of few units are hollow.
    """
    y = np.asarray(list(heights), dtype=float)
    bounded = frame[low].notna() & frame[high].notna()
    panel.hlines(y[bounded], frame.loc[bounded, low], frame.loc[bounded, high], color=look.colour, linewidth=1.5)
    marks = panel.scatter(frame[value], y, color=look.colour, marker=look.marker, s=22, linewidth=0.6, zorder=3)
    marks.set_urls(styles.links(frame))
    if "n" in frame:
        hollow(panel, frame[value], y, frame["n"])


def lead(bars: Iterable[Any], frame: pd.DataFrame) -> None:
    """Make each bar a link to the sentences behind its row of *frame*."""
    for bar, link in zip(bars, styles.links(frame), strict=True):
        bar.set_url(link)


def line(
    panel: Axes, frame: pd.DataFrame, places: Iterable[float], look: Look, value: str, low: str, high: str,
    linestyle: Any = "-",
) -> None:  # fmt: skip
    """A line through each *value* at *places* on the horizontal axis, with its interval at each; few units as above."""
    x = list(places)
    panel.plot(x, frame[value], color=look.colour, marker=look.marker, markersize=4.5, linewidth=1.2,
               linestyle=linestyle, url=styles.common_link(frame))  # fmt: skip
    panel.vlines(x, frame[low], frame[high], color=look.colour, linewidth=1.2, alpha=0.7)
    hollow(panel, x, frame[value], frame["n"])


def hollow(panel: Axes, x: Iterable[float], y: Iterable[float], n: Iterable[float]) -> None:
    """A light point in each mark that stands for fewer than `FEW` units, and once a figure, above it, what that means.

    x, y: where the marks stand. n: of how many units each is; NaN where that is not known.
    """
    places = np.array([list(x), list(y), list(n)], dtype=float)
    few = places[:, places[2] < FEW]
    if few.size:
        panel.scatter(few[0], few[1], color="white", marker="o", s=6, linewidth=0, zorder=8, gid=_FEW)
        few_note(panel, marker="o")


def few_note(panel: Axes, marker: str = "") -> None:
    """Says, once above the figure, what the mark of few units means; marker: "" where it is a dagger."""
    figure: Any = panel.figure
    if any(legend.get_gid() == _FEW for legend in figure.legends):
        return
    text = styles.FEW_NOTE.removeprefix(f"{styles.DAGGER} ") if marker else styles.FEW_NOTE
    handle = Line2D([], [], color="#555555", marker=marker, markersize=5, markerfacecolor="white", linestyle="none",
                    label=text)  # fmt: skip
    legend = figure.legend(handles=[handle], loc="outside upper right", fontsize=8, handletextpad=0.2,
                           handlelength=1.0 if marker else 0.0)  # fmt: skip
    legend.set_gid(_FEW)


def ticks(panel: Axes, values: Iterable[float], heights: Iterable[float], look: Look) -> None:
    """Short vertical bars: a floor or a ceiling beside the marks of a row."""
    panel.scatter(list(values), list(heights), color=look.colour, marker="|", s=60, linewidth=1.4, zorder=2)


def rows_axis(panel: Axes, names: Sequence[str], looks: Collection[Look] = ()) -> None:
    """The vertical axis of a panel whose rows, from the top, are *names*; a thin line between two rows.

    looks: what shares each row (`dodge`): where these are many, each is named on the axis, not in a legend (`few`).
    """
    if looks and not few(looks):
        each = list(product(enumerate(names), zip(dodge(len(looks)), looks, strict=True)))
        labels = [f"{name}  {look.label}" if len(names) > 1 else look.label for (_, name), (_, look) in each]
        panel.set_yticks([row + offset for (row, _), (offset, _) in each], labels)
    else:
        panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    for edge in range(1, len(names)):
        panel.axhline(edge - 0.5, color="#EDEDED", linewidth=0.8)


def few(looks: Iterable[Look]) -> list[Look]:
    """*looks* as a legend's entries; none where they are so many that each has to be named where it is drawn."""
    entries = list(looks)
    return entries if len(entries) <= MANY else []


def share_axis(panel: Axes, what: str) -> None:
    """The horizontal axis of shares from 0 to 1, written in per cent; what: what they are, with its unit."""
    panel.set(xlim=(-0.04, 1.04), xticks=(0, 0.25, 0.5, 0.75, 1), xlabel=what)
    panel.xaxis.set_major_formatter(PER_CENT)


def in_paper_order(names: Iterable[str]) -> list[str]:
    """Perturbations without repeats in the paper's order, custom ones after them, the control last.

    >>> in_paper_order(["control", "reversed", "mine", "noun_swaps", "reversed"])
    ['noun_swaps', 'reversed', 'mine', 'control']
    """
    found = list(dict.fromkeys(names))
    known = [name for name in NAMES if name in found]
    return [*known, *(n for n in found if n not in NAMES and n != CONTROL), *(n for n in found if n == CONTROL)]


def category_of(name: str) -> str:
    """The category of a perturbation; "control" for the control and for names that are not registered here."""
    return PERTURBATIONS.get(name).category if name in PERTURBATIONS else CONTROL


def perturbation_rows(names: Sequence[str]) -> dict[str, float]:
    """A height for each perturbation, with a gap where the category changes."""
    heights: dict[str, float] = {}
    y, before = 0.0, None
    for name in names:
        category = category_of(name)
        y += _GAP if before not in (None, category) else 0.0
        heights[name] = y
        y, before = y + 1, category
    return heights


def perturbation_axis(panel: Axes, heights: Mapping[str, float], *, labels: bool, categories: bool) -> None:
    """The vertical axis of a panel whose rows are perturbations: names left, categories right."""
    panel.set_yticks(list(heights.values()), [label(name) for name in heights] if labels else [])
    top, bottom = min(heights.values()), max(heights.values())
    panel.set_ylim(bottom + 0.6, top - 0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    looks = theme.category_looks()
    for category in dict.fromkeys(map(category_of, heights)):
        own = [y for name, y in heights.items() if category_of(name) == category]
        panel.axhspan(min(own) - 0.5, max(own) + 0.5, color=looks[category].colour, alpha=0.045, linewidth=0)
        if categories and len(own) > 1:
            panel.text(
                1.015, (min(own) + max(own)) / 2, looks[category].label, transform=panel.get_yaxis_transform(),
                rotation=270, va="center", ha="left", fontsize=8, color=looks[category].colour,
            )  # fmt: skip


def legend(figure: Figure, looks: Iterable[Look], *, columns: int = 5) -> None:
    """A legend below all panels, outside the data."""
    handles = [
        Line2D(
            [], [], color=look.colour, marker=look.marker, markersize=9 if look.marker == "|" else 5,
            markeredgewidth=1.4 if look.marker == "|" else 0.6, linestyle=look.line, label=look.label,  # type: ignore[arg-type]
        )
        for look in looks
    ]  # fmt: skip
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), columns), handletextpad=0.3)


def score_legend(score: str, metric: str) -> Look:
    """A legend entry for a score that carries the paper's symbol."""
    look = theme.score_look(score)
    shown = score if score != "chance" else "beta2"
    name = f"{theme.symbol(shown, metric)}  {look.label}" if score != "chance" else look.label
    return Look(name, look.colour, look.marker)


def unit_range(panel: Axes, values: pd.DataFrame) -> None:
    """The horizontal axis from nothing (0) to perfect (1), or wider where a metric leaves that range."""
    numbers = values.to_numpy(dtype=float)
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    panel.set_xlim(min(-0.03, low - 0.05), max(1.03, high + 0.05))
