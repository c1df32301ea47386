"""What a program can see of a figure that a reader could not read: `faults` lists it in words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text

from nbkit.figures import panels, theme

#: Points below which text cannot be read in print, and inches above which a single bar is a slab.
LEAST, SLAB = 7.0, 0.6
#: Pixels, of 72 an inch, that boxes of text may share: the space around letters.
_SHARED = 1.5
#: A condition of a figure: colour and shape of its mark.
Kind = tuple[str, str]


def faults(figure: Figure) -> list[str]:
    """All faults of a figure at the width of the report, of a page and, where it fits one, of a column."""
    if theme.message_of(figure):
        return []
    figure.set_dpi(72)
    whole = figure.get_figwidth()
    found = [*_sizes(figure), *_axes(figure), *_conditions(figure), *_slabs(figure)]
    with theme.style():
        for name, width in (("report", whole), ("page", min(whole, theme.PAGE)), ("column", theme.COLUMN)):
            panels.set_width(figure, width)
            if name != "column" or panels._fits_column(figure):
                found += [f"{name}: {fault}" for fault in _texts(figure)]
    panels.set_width(figure, whole)
    return list(dict.fromkeys(found))


def _shown(figure: Figure) -> list[Axes]:
    return [axis for axis in figure.axes if axis.get_visible() and axis.get_label() != "<colorbar>"]


def _written(figure: Figure) -> list[Text]:
    found = []
    for text in figure.findobj(lambda each: isinstance(each, Text) and each.get_visible()):
        axis = text.axes
        if text.get_text().strip() and (axis is None or axis.get_visible()):
            found.append(text)
    ticks = {id(label) for axis in figure.axes for each in (axis.xaxis, axis.yaxis) for label in _ticks(each)}
    every = {id(tick.label1) for axis in figure.axes for each in (axis.xaxis, axis.yaxis)
             for tick in (*each.get_major_ticks(), *each.get_minor_ticks())}  # fmt: skip
    every |= {id(tick.label2) for axis in figure.axes for each in (axis.xaxis, axis.yaxis)
              for tick in (*each.get_major_ticks(), *each.get_minor_ticks())}  # fmt: skip
    return [text for text in found if id(text) not in every or id(text) in ticks]


def _ticks(axis: Any) -> list[Text]:
    """The labels of an axis that are drawn: those of ticks within its view."""
    low, high = sorted(axis.get_view_interval())
    reach = 1e-6 * (high - low)
    return [
        tick.label1
        for tick in axis.get_major_ticks()
        if axis.axes.axison
        and tick.label1.get_visible()
        and axis.get_visible()
        and low - reach <= tick.get_loc() <= high + reach
    ]


def _texts(figure: Figure) -> Iterator[str]:
    """Texts that overlap, or leave the figure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    yield from (str(each.message) for each in caught)
    boxes = [(text, text.get_window_extent()) for text in _written(figure)]
    boxes = [(text, box) for text, box in boxes if box.width > 0]
    for (one, a), (other, b) in combinations(boxes, 2):
        wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if wide > _SHARED and high > _SHARED:
            yield f"{one.get_text()!r} overlaps {other.get_text()!r}"
    whole = figure.bbox
    for text, box in boxes:
        if min(box.x0, box.y0) < -_SHARED or box.x1 > whole.x1 + _SHARED or box.y1 > whole.y1 + _SHARED:
            yield f"{text.get_text()!r} leaves the figure"


def _sizes(figure: Figure) -> Iterator[str]:
    for text in _written(figure):
        if text.get_fontsize() < LEAST:
            yield f"{text.get_text()!r} has {text.get_fontsize():g} pt"


def _axes(figure: Figure) -> Iterator[str]:
    """Panels without content, axes that differ or cannot be read, and marks outside the axes or on their frame."""
    figure.draw_without_rendering()
    for across, name in ((True, "horizontal"), (False, "vertical")):
        limits: dict[str, set[tuple[float, float]]] = {}
        for axis in _shown(figure):
            ends = axis.get_xlim() if across else axis.get_ylim()
            label = _label(axis, figure, across)
            if label:
                limits.setdefault(label, set()).add((round(ends[0], 9), round(ends[1], 9)))
        yield from (f"{name} axes of {label!r} differ" for label, ends in limits.items() if len(ends) > 1)
    for axis in _shown(figure):
        if axis.axison and not (axis.collections or axis.lines or axis.patches):
            yield f"the panel {axis.get_title()!r} is empty"
        if axis.get_xlabel() and not any(text.get_text() for text in _ticks(axis.xaxis)):
            yield f"the horizontal axis of {axis.get_title()!r} has a name and no numbers"
        for marks in axis.collections:
            if isinstance(marks, PathCollection) and len(marks.get_offsets()):
                places = np.ma.filled(np.ma.asarray(marks.get_offsets(), dtype=float), np.nan)
                places = axis.transAxes.inverted().transform(axis.transData.transform(places[~np.isnan(places).any(1)]))
                if len(places) and (places.min() < 0.002 or places.max() > 0.998):
                    yield f"a mark lies on or beyond the frame of {axis.get_title()!r}"


def _label(axis: Axes, figure: Figure, across: bool) -> str:
    """What an axis measures: its own label, or that of the panel below it, or to its left."""
    own = axis.get_xlabel() if across else axis.get_ylabel()
    if own:
        return own
    place = axis.get_position()
    near = [other for other in _shown(figure) if abs(
        (other.get_position().x0 - place.x0) if across else (other.get_position().y0 - place.y0)) < 0.01]  # fmt: skip
    return next((label for other in near if (label := other.get_xlabel() if across else other.get_ylabel())), "")


def _kind(colour: Any, path: Any) -> Kind:
    return to_hex(colour), "" if path is None else str(np.round(path.vertices, 3).tolist())


def _marks(axis: Axes) -> Iterator[tuple[Kind, np.ndarray]]:
    """Each condition of a panel with the places of its marks, in data."""
    for each in axis.collections:
        if isinstance(each, PathCollection) and len(each.get_offsets()):
            colours = [*each.get_edgecolors(), *each.get_facecolors()]  # type: ignore[attr-defined]
            yield _kind(colours[0], each.get_paths()[0]), np.ma.filled(np.ma.asarray(each.get_offsets(), float), np.nan)
    for line in axis.lines:
        if line.get_transform() == axis.transData and line.get_marker() not in ("", "None", None, " "):
            marker = line._marker  # type: ignore[attr-defined]
            yield _kind(line.get_color(), marker.get_path().transformed(marker.get_transform())), line.get_xydata()


def _conditions(figure: Figure) -> Iterator[str]:
    """Conditions that cannot be distinguished, that cover one another, or that nothing names."""
    named, looks = set(), []
    for legend in figure.legends:
        if legend.get_gid() != panels._FEW:
            for handle in legend.legend_handles:
                is_box = isinstance(handle, Patch)
                colour = handle.get_facecolor() if is_box else handle.get_color()  # type: ignore[union-attr]
                shape = "box" if is_box else f"{handle.get_marker()} {handle.get_linestyle()}"  # type: ignore[union-attr]
                looks.append((to_hex(colour), shape))
                named.add(looks[-1][0])
    if len(set(looks)) < len(looks):
        yield "two entries of the legend look alike"
    for axis in _shown(figure):
        marks = list(_marks(axis))
        rows = [tick.get_loc() for tick in axis.yaxis.get_major_ticks()]
        beside = [each for each in _shown(figure) if abs(each.get_position().y0 - axis.get_position().y0) < 0.01]
        words = [text for each in beside for text in each.get_yticklabels() if text.get_text()]
        for (kind, places), (other, there) in combinations(marks, 2):
            if kind != other and places.shape == there.shape and np.allclose(places, there, equal_nan=True):
                yield f"in {axis.get_title()!r} one condition covers another"
        unnamed: dict[int, set[Kind]] = {}
        for kind, places in marks:
            if kind[0] in named:
                continue
            for _, height in places:
                row = int(np.abs(np.asarray(rows) - height).argmin()) if words and rows else 0
                unnamed.setdefault(row, set()).add(kind)
        if any(len(kinds) > 1 for kinds in unnamed.values()):
            yield f"in {axis.get_title()!r} a mark is named by no legend, row or panel"


def _slabs(figure: Figure) -> Iterator[str]:
    """Bars that are as high as a panel."""
    for axis in _shown(figure):
        for bar in axis.patches:
            if isinstance(bar, Rectangle) and (bar.get_alpha() or 1) > 0.3:  # bands are lighter
                box = bar.get_window_extent()
                if min(box.width, box.height) / figure.dpi > SLAB:
                    yield f"a bar of {axis.get_title()!r} is a slab"
