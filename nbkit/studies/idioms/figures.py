"""Figures of the idioms study: grouped bars by training condition and model (Figures 2, 3, 10 to 13 of the paper).

Each takes tables of `nbkit.studies.idioms` and returns a matplotlib figure; a table without rows gives a figure that
says why. What the references and a copy of the source score is drawn in, as ceiling and floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from nbkit.figures import panels, theme
from nbkit.figures.theme import Look
from nbkit.studies.idioms.styled import (
    TABLES,
    condition_tick,
    control_looks,
    illustration,
    in_order,
    label,
    model_looks,
    shade,
)
from nbkit.studies.idioms.tables import is_control

_TRAIN, _TEST = "#D55E00", "#4477AA"
_DASHED = (0, (4, 3))
#: Idioms of a figure that are named on its axis.
_NAMED = 48


def litter_figure(errors: pd.DataFrame, pairs: str = "paper") -> Figure:
    """LitTER by training condition and model, one panel per language (Figures 2a, 12a and 12c).

    errors: `idioms.literal_errors`. pairs: which of the two signatures is drawn.
    """
    rows = errors[(errors["variant"] == "paper") & (errors["pairs"] == pairs)]
    return _bars({"litter": rows}, _measure)


def accuracy_figure(accuracy: pd.DataFrame, aligner: str) -> Figure:
    """Unigram precision and chrF of the idioms' translations by one aligner (Figures 2b, 12b and 12d).

    accuracy: `idioms.accuracy`.
    """
    own = accuracy[accuracy["aligner"] == aligner]
    return _bars({name: own[own["measure"] == name] for name in ("unigram_precision", "aligned_chrf")}, _measure)


def bleu_figure(scores: pd.DataFrame) -> Figure:
    """BLEU on each test set, idiom-test last (Figures 3 and 13). scores: `idioms.global_scores`."""
    bleu = scores[scores["measure"] == "bleu"]
    names = [*(name for name in dict.fromkeys(bleu["of"]) if name != "idiom-test"), "idiom-test"]
    # Of the references 100 is known, and would leave the bars no room.
    bleu = bleu[bleu["model"] != "references"]
    return _bars({name: bleu[bleu["of"] == name] for name in names}, lambda name: f"BLEU ↑, {name}", share=False)


def published_figure(published: pd.DataFrame, measures: Sequence[tuple[str, str]]) -> Figure:
    """What the paper prints, drawn as this run is. published: `idioms.published_results`.

    measures: pairs of measure and what it is of: "" for LitTER, an aligner, or a test set; "WMT" is that of any year.
    """
    if published.empty:
        return theme.message("The paper has none of the languages of this run.")
    parts = {}
    for measure, of in measures:
        is_of = published["of"].map(lambda name, of=of: of in (name, name.rstrip("0123456789")))
        rows = published[(published["measure"] == measure) & is_of]
        parts[f"{_measure(measure)}{', ' if of else ''}{of}"] = rows.assign(low=np.nan, high=np.nan)
    share = all(measure != "bleu" for measure, _ in measures)
    return _bars(parts, lambda name: f"paper: {name}", share=share)


def frequencies_figure(frequencies: pd.DataFrame) -> Figure:
    """How often each idiom is in idiom-test and in idiom-train, the most frequent first (Figures 10 and 11).

    frequencies: `idioms.idiom_frequencies`.
    """
    if frequencies.empty:
        return theme.message(TABLES.why("frequencies"))
    languages = list(dict.fromkeys(frequencies["language"]))
    named = frequencies.groupby("language").size().max() <= _NAMED
    with theme.style():
        figure, axes = panels.grid(len(languages), 1, theme.WIDTH, (3.3 if named else 2.5) * len(languages))
        for language, (panel,) in zip(languages, axes, strict=True):
            own = frequencies[frequencies["language"] == language]
            panels.lead(panel.bar(own["rank"], own["test"], width=0.8, color=_TEST, linewidth=0), own)
            panel.hlines(own["train"], own["rank"] - 0.4, own["rank"] + 0.4, color=_TRAIN, linewidth=1.6)
            panel.set_title(f"into {theme.language_label(language)}: {len(own)} idioms")
            panel.set_ylabel("sentence pairs")
            panel.set_xlim(0.3, len(own) + 0.7)
            panel.grid(axis="x", visible=False)
            panel.yaxis.set_major_locator(MaxNLocator(integer=True))
            if named:
                panel.set_xticks(own["rank"], own["idiom"], rotation=55, ha="right", rotation_mode="anchor")
            else:
                panel.set_xlabel("rank of the idiom by its pairs in idiom-test")
        handles = [
            Patch(color=_TEST, label="idiom-test"),
            Line2D([], [], color=_TRAIN, linewidth=1.6, label="idiom-train"),
        ]
        figure.legend(handles=handles, loc="outside upper right", ncols=2)
    return figure


def _measure(name: str) -> str:
    return label("measures", name)


def _bars(parts: Mapping[str, pd.DataFrame], title: Callable[[str], str], *, share: bool = True) -> Figure:
    """A row of panels per language, a panel per part: groups by condition, a bar per model, controls as lines."""
    rows = pd.concat(parts.values())
    systems = rows[~rows["model"].map(is_control).astype(bool)]
    if systems.empty:
        return theme.message(TABLES.why("litter"))
    languages, looks, conditions = _layout(rows, systems)
    controls = {name: look for name, look in control_looks().items() if name in set(rows["model"])}
    with theme.style():
        width = min(theme.WIDTH, max(6.6, 1.0 + len(parts) * (1.0 + 0.28 * len(looks) * len(conditions))))
        height = 0.9 + (2.3 if panels.few(looks.values()) else 3.4) * len(languages)
        figure, axes = panels.grid(len(languages), len(parts), width, height, sharey="col")
        for language, line in zip(languages, axes, strict=True):
            for (name, part), panel in zip(parts.items(), line, strict=True):
                own = part[part["language"] == language]
                _groups(panel, own, conditions, looks)
                for control, look in controls.items():
                    for value in own.loc[own["model"] == control, "value"]:
                        panel.axhline(value, color=look.colour, linestyle=_DASHED, linewidth=1.1, zorder=1)
                _condition_axis(panel, conditions, looks)
                panel.set_title(title(name) if len(languages) == 1 else f"{title(name)}, {language}")
                top = np.nanmax([*part["high"], *part["value"], 0.01])
                lines = own.loc[own["model"].isin(list(controls)), "value"]
                bottom = -0.02 * top if (lines <= 0).any() else 0  # a line at nothing would lie on the axis
                panel.set_ylim(bottom, 1.03 if share and top > 0.9 else 1.08 * top)
        dashes = [Line2D([], [], color=look.colour, linestyle=_DASHED, label=look.label) for look in controls.values()]
        _legend(figure, looks, dashes, width / 1.9)
    return figure


def _layout(rows: pd.DataFrame, systems: pd.DataFrame) -> tuple[list[str], dict[str, Look], list[str]]:
    """Languages, looks of the models, and conditions."""
    return list(dict.fromkeys(rows["language"])), model_looks(systems["model"]), in_order(systems["condition"])


def _legend(figure: Figure, looks: Mapping[str, Look], more: Sequence[Any], columns: float) -> None:
    handles = [*(Patch(color=look.colour, label=look.label) for look in panels.few(looks.values())), *more]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), round(columns)))


def _groups(panel: Axes, rows: pd.DataFrame, conditions: Sequence[str], looks: Mapping[str, Look]) -> None:
    """A group of bars a condition, with their intervals; a model that was not trained in a condition leaves a gap."""
    size, offsets = _places(len(looks))
    for offset, (model, look) in zip(offsets, looks.items(), strict=True):
        own = rows[rows["model"] == model]
        at = [conditions.index(name) + offset for name in own["condition"]]
        bars = panel.bar(at, own["value"], width=0.92 * size, color=look.colour, linewidth=0, zorder=2)
        panels.lead(bars, own)
        known = own["low"].notna().to_numpy()
        ends = own["low"][known], own["high"][known]
        panel.vlines(np.array(at)[known], *ends, color="#222222", linewidth=1.1, zorder=3)
        of = next((name for name in ("idioms", "n") if name in own), None)  # what is printed has neither
        if of:
            panels.hollow(panel, at, own["value"], own[of])


def _places(n: int) -> tuple[float, list[float]]:
    """The room of each of *n* bars in a group, and where their middles are."""
    size = min(0.8 / n, 0.4)
    return size, [(place - (n - 1) / 2) * size for place in range(n)]


def _condition_axis(panel: Axes, conditions: Sequence[str], looks: Mapping[str, Look]) -> None:
    """The conditions below their groups; of many models each below its bar, as no legend names it."""
    ticks = [condition_tick(name) for name in conditions]
    if panels.few(looks.values()):
        panel.set_xticks(range(len(ticks)), ticks)
    else:
        bars = product(enumerate(ticks), zip(_places(len(looks))[1], looks.values(), strict=True))
        named = [(i + at, f"{look.label}, {tick}" if len(ticks) > 1 else look.label) for (i, tick), (at, look) in bars]
        panel.set_xticks(*zip(*named, strict=True), rotation=90, fontsize=7)
    panel.set_xlim(-0.6, len(conditions) - 0.4)
    panel.grid(axis="x", visible=False)
    panel.tick_params(axis="x", length=0)


# ----------------------------------------------------------------------------
# Figures of the idioms study's probes: per system a group of ever lighter bars, from full context to none.
#  As in the paper, the darkest bar is an idiom encoded in its sentence, and each lighter one has less context; what one
# bar shows beyond the bar to its left is what the loss of context changes (Figures 5 to 7, 16, 18 and 20).


def context_figure(effects: pd.DataFrame, measures: Sequence[str]) -> Figure:
    """*measures* by context, one row per measure and one column per language. effects: `idioms.context_effects`."""
    if effects.empty:
        return theme.message(TABLES.why("contexts"))
    languages, looks, conditions = _layout(effects, effects)
    shared = _shared(measures)
    with theme.style():
        width = min(theme.WIDTH, max(7.2, len(languages) * (1.4 + 0.42 * len(looks) * len(conditions))))
        figure, axes = panels.grid(len(measures), len(languages), width, 1.0 + 2.3 * len(measures), sharey=shared)
        for measure, line in zip(measures, axes, strict=True):
            for language, panel in zip(languages, line, strict=True):
                own = effects[(effects["measure"] == measure) & (effects["language"] == language)]
                _overlapping(panel, own, conditions, looks)
                _condition_axis(panel, conditions, looks)
                beside = effects[effects["measure"].isin(measures if shared is True else [measure])]
                panel.set_ylim(0, 1.08 * np.nanmax([*beside["high"], *beside["value"], 0.01]))
                panel.set_title(_measure(measure) if len(languages) == 1 else f"{_measure(measure)}, {language}")
        contexts = dict.fromkeys(effects["context"])
        shades = [Patch(color=shade("#333333", name), label=label("contexts", name)) for name in contexts]
        _legend(figure, looks, shades, width / 1.8)
    return figure


def probe_figure(measure: str) -> Figure:
    """How states of an idiom come from three contexts, and what is measured with them (Figures 4, 17, 19 and 21).

    measure: "chrf" (Figures 4 and 17), "perplexity" (Figure 19) or "entropy" (Figure 21).
    """
    drawn = illustration()
    words, (start, end), step = drawn["source"].split(), drawn["idiom"], drawn["steps"][measure]
    # Which words the encoder reads together, by context.
    together = {"full": [(0, len(words))], "phrase": [(start, end)], "word": [(i, i + 1) for i in range(start, end)]}
    with theme.style():
        figure, ((panel,),) = panels.grid(1, 1, theme.WIDTH * 0.8, 4.2)
        for row, (context, reads) in enumerate(together.items()):
            colour = shade(_TEST, context)
            panel.text(-0.75, row, label("contexts", context), ha="right", va="center", fontsize=9)
            for first, last in reads:
                for place in range(first, last):
                    _box(panel, place, row, words[place], colour if start <= place < end else "white")
                panel.plot([first - 0.42, last - 0.58], [row + 0.33] * 2, color="#555555", linewidth=1.4)
        panel.text(len(words) - 0.45, 1, "a line: what the\nencoder reads at once", ha="left", va="center", fontsize=8)
        for place, word in enumerate(words):
            _box(panel, place, 3.2, word, shade(_TEST, "phrase") if start <= place < end else "white")
        panel.text(-0.75, 3.2, "states given to\nthe decoder", ha="right", va="center", fontsize=9)
        panel.annotate("", (2, 2.85), (2, 2.45), arrowprops={"arrowstyle": "->", "color": "#555555"})
        panel.text(2.15, 2.65, "the idiom's states come from one of the three", va="center", fontsize=8)
        panel.annotate("", (2, 4.05), (2, 3.6), arrowprops={"arrowstyle": "->", "color": "#555555"})
        panel.text(2.15, 3.82, step["decoder"], va="center", fontsize=8)
        for place, word in enumerate(drawn["reference"].split()):
            is_marked = step["marked"] and drawn["translated"][0] <= place < drawn["translated"][1]
            _box(panel, place, 4.4, word, shade(_TRAIN, "phrase") if is_marked else "white")
        panel.text(-0.5, 4.95, step["below"], ha="left", va="center", fontsize=9)
        panel.set(xlim=(-2.9, len(words) + 1.3), ylim=(5.2, -0.5))
        panel.set_axis_off()
    return figure


def _box(panel: Axes, x: float, y: float, word: str, colour: Any) -> None:
    box = {"boxstyle": "round,pad=0.3", "facecolor": colour, "edgecolor": "#8A8A8A", "linewidth": 0.8}
    panel.text(x, y, word, ha="center", va="center", fontsize=9, bbox=box)


def _shared(measures: Sequence[str]) -> Any:
    """Entropies are compared with each other, other measures with themselves only."""
    return True if all(name.startswith("entropy") for name in measures) else "row"


def _overlapping(panel: Axes, rows: pd.DataFrame, conditions: Sequence[str], looks: Mapping[str, Look]) -> None:
    """Bars of one system overlap: the widest context in front, the others behind it, each further to the right."""
    group = min(0.86 / len(looks), 0.5)
    contexts = list(dict.fromkeys(rows["context"]))
    step = 0.8 * group / (len(contexts) + 1)
    for place, (model, look) in enumerate(looks.items()):
        for condition in conditions:
            own = rows[(rows["model"] == model) & (rows["condition"] == condition)].set_index("context")
            left = conditions.index(condition) + (place - len(looks) / 2) * group + 0.1 * group
            for number, context in enumerate(contexts):
                if context not in own.index:
                    continue
                value, low, high, n = own.loc[context, ["value", "low", "high", "n"]].astype(float)
                middle = left + step * (number + 1)
                panel.bar(middle, value, width=2 * step, color=shade(look.colour, context), linewidth=0.6,
                          edgecolor="white", zorder=4 - number)  # fmt: skip
                # Lines stand apart from each other, each over the part of its bar that is seen.
                panel.vlines(middle + 0.5 * step, low, high, color="#222222", linewidth=1.0, zorder=6)
                panels.hollow(panel, [middle + 0.5 * step], [value], [n])
