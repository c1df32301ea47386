"""Figures of the word-order study that show translations: Figures 1, 2, 6 to 11 and 13 of the paper.

Each takes a table of `nbkit.studies.word_order` and returns a matplotlib figure; a run without models, or
without the metric asked for, gives a figure that says so. Floor and ceiling are drawn in where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.languages import in_order
from nbkit.measure.statistics import FEW
from nbkit.perturb import label

_PREFERENCE = "← faithful        {robustness} − {faithfulness}        robust →"

#: What an average over all models of a run is called in place of a model.
AVERAGE = "mean of all models"

T = TypeVar("T")


def of_known(
    value: str, reason: str = panels.NO_MODEL, empty: Callable[[str], Any] = theme.message, **only: str
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Declare a figure or table of the rows that are of its metric (and spacing) and in which *value* is a number.

    It may be called with any table. Without such rows it says why, by *empty*: *reason*, or that the metric was not
    computed. only: what columns have to hold, besides; the name of an argument stands for what was given. The rows
    know in ``attrs["spacings"]`` how many spacings the whole table has.
    """

    def declare(make: Callable[..., T]) -> Callable[..., T]:
        @wraps(make)
        def made(table: pd.DataFrame, *arguments: Any, **named: Any) -> T:
            bound = signature(make).bind(table, *arguments, **named)
            bound.apply_defaults()
            given = bound.arguments
            rows = panels.rows_of(table, given["metric"], value, spacing=given.get("spacing"))
            for column, wanted in only.items():
                rows = rows[rows[column] == given.get(wanted, wanted)]
            if rows.empty:
                return empty(panels.why_empty(table, given["metric"], reason))
            rows = rows.reset_index(drop=True)
            rows.attrs["spacings"] = table["spacing"].nunique() if "spacing" in table else 1
            with theme.style():
                return make(rows, *arguments, **named)

        return made

    return declare


@of_known("difference", panels.NO_MEAN)
def fig1_preference(rows: pd.DataFrame, metric: str = "bleu") -> Figure:
    """Robust or faithful, by language and model: the mean of β₁ − β₂ over all perturbations (Figure 1).

    rows: `word_order.preference`. Marks are means, lines 95% intervals; at 0 a model is as
    faithful as it is robust. The paper draws robustness to the left, this figure to the right.
    """
    languages, looks = in_order(rows["language"]), theme.model_looks(rows["model"])
    height = 1.3 + len(languages) * max(0.42, 0.17 * len(looks) + 0.1)
    figure, (panel,) = panels.several(1, 1, theme.WIDTH * 0.8, height)
    for offset, (model, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
        own = rows[rows["model"] == model]
        heights = [languages.index(language) + offset for language in own["language"]]
        panels.intervals(panel, own, heights, look, "difference", "low", "high")
    panels.rows_axis(panel, list(map(theme.language_label, languages)), looks.values())
    _preference_axis(panel, metric, rows)
    panels.legend(figure, panels.few(looks.values()), columns=4)
    return figure


@of_known("difference", panels.NO_MEAN)
def fig2_preference_by_perturbation(rows: pd.DataFrame, metric: str = "bleu") -> Figure:
    """Robust or faithful, by perturbation: β₁ − β₂ averaged over languages and models (Figure 2).

    rows: `word_order.preference_by_perturbation`.
    """
    heights = panels.perturbation_rows(panels.in_paper_order(rows["perturbation"]))
    figure, (panel,) = panels.several(1, 1, theme.WIDTH * 0.8, 1.2 + 0.23 * len(heights))
    for category, look in theme.category_looks().items():
        own = rows[rows["perturbation"].map(panels.category_of) == category]
        panels.intervals(panel, own, own["perturbation"].map(heights), look, "difference", "low", "high")
    panels.perturbation_axis(panel, heights, labels=True, categories=True)
    _preference_axis(panel, metric, rows)
    return figure


def carried_figure(rows: pd.DataFrame) -> Figure:
    """Carried displacement by perturbation, a panel per language. rows: `word_order.carried`.

    At 1 a scrambled source arrives as scrambled as it is, at 0 it is repaired; a short bar is chance, where it is below
    two.
    """
    known = rows[rows["carried"].notna()]
    if known.empty:
        return theme.message("No sentence of this run has a carried displacement.")
    with theme.style():
        heights = panels.perturbation_rows(panels.in_paper_order(known["perturbation"]))
        languages, looks = in_order(known["language"]), theme.model_looks(known["model"])
        figure, axes = panels.several(
            len(languages), len(languages), theme.WIDTH * (0.8 if len(languages) == 1 else 1), 1.4 + 0.23 * len(heights)
        )
        for language, panel in zip(languages, axes, strict=True):
            own = known[known["language"] == language]
            for offset, (model, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
                part = own[own["model"] == model]
                places = [heights[name] + offset for name in part["perturbation"]]
                panels.intervals(panel, part, places, look, "carried", "low", "high")
            chance = own.groupby("perturbation")["chance"].mean()
            panel.plot(chance, [heights[name] for name in chance.index], "|", color="grey", markersize=9, zorder=0)
            panels.perturbation_axis(panel, heights, labels=language == languages[0], categories=True)
            panel.axvline(0, color="black", linewidth=0.8)
            panel.axvline(1, color="black", linewidth=0.8)
            panel.set_xlim(-0.05, 2.05)  # chance and intervals of few sentences go beyond
            panel.set_title(theme.language_label(language))
            panel.set_xlabel("← repaired    carried displacement    faithful →")
        panels.legend(figure, looks.values(), columns=4)
        return figure


@of_known("mean")
def fig6_length(rows: pd.DataFrame, metric: str = "bleu") -> Figure:
    """Robustness and faithfulness by the length of the source sentence (Figure 6). rows: `word_order.length_effect`."""
    figure = _both_scores(rows, metric, "length", "length of the source (tokens)")
    for panel in figure.axes[-2:]:
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


@of_known("mean")
def fig15_scores_by_difficulty(rows: pd.DataFrame, metric: str = "bleu") -> Figure:
    """Robustness and faithfulness by α, how easy the perturbation is (Figure 15).

    rows: `word_order.scores_by_difficulty`.
    """
    alpha = theme.symbol("alpha_source", rows["difficulty"].iloc[0])
    return _both_scores(rows, metric, "alpha", f"{alpha} (1 = unchanged, easy)")


def _both_scores(rows: pd.DataFrame, metric: str, by: str, what: str) -> Figure:
    """β₁ and β₂ in groups of {by}_low to {by}_high, a row of panels a language; a mean stands in its group's middle.

    The broken line beside β₁ is β of the same sentences unperturbed: what a model reaches that repairs everything.
    """
    languages, looks = in_order(rows["language"]), theme.model_looks(rows["model"])
    scores = ["beta1", "beta2"]
    figure, axes = panels.grid(len(languages), 2, theme.WIDTH, 1.1 + 1.65 * len(languages), sharex=True, sharey="row")
    for language, row in zip(languages, axes, strict=True):
        for score, panel in zip(scores, row, strict=True):
            of_language = rows[rows["language"] == language]
            _lines_by(panel, of_language[of_language["score"] == score], looks, by)
            if score == "beta1":
                _lines_by(panel, of_language[of_language["score"] == "beta"], looks, by, linestyle="--")
            panel.set_ylabel(theme.symbol(score, metric), rotation=0, labelpad=10, va="center")
            panel.tick_params(axis="y", labelleft=True)
        row[0].set_title(theme.language_label(language), loc="left")
    for panel in axes[-1]:
        panel.set_xlabel(what)
    plain = Look(f"{theme.symbol('beta', metric)}, unperturbed", theme.score_look("beta").colour, "", "--")
    panels.legend(figure, [*looks.values(), plain], columns=4)
    return figure


@of_known("rho")
def fig7_correlations(rows: pd.DataFrame, metric: str = "bleu", of: str = "beta") -> Figure:
    """Does quality go with robustness? Spearman's ρ(β₁, β) and ρ(β₂, β) by language (Figure 7).

    rows: `word_order.correlations`; one panel per model, lines are 95% confidence intervals. With
    `word_order.robust_and_faithful` and *of* "beta2": ρ(β₁, β₂) (Figure 6a).
    """
    languages, looks = in_order(rows["language"]), theme.model_looks(rows["model"])
    scores = list(dict.fromkeys(rows["score"]))
    per_line = min(len(looks), 4)
    lines = -(-len(looks) // per_line)
    width = theme.WIDTH if per_line > 2 else theme.WIDTH * (0.55 + 0.25 * (per_line - 1))
    height = 0.9 + lines * (0.8 + 0.4 * len(languages))
    figure, small = panels.several(len(looks), per_line, width, height, sharex=True, sharey=True)
    for (model, look), panel in zip(looks.items(), small, strict=True):
        for offset, score in zip(panels.dodge(len(scores)), scores, strict=True):
            own = rows[(rows["model"] == model) & (rows["score"] == score)]
            heights = [languages.index(language) + offset for language in own["language"]]
            panels.intervals(panel, own, heights, theme.score_look(score), "rho", "low", "high")
        panel.axvline(0, color="#555555", linewidth=1)
        panel.set_title(look.label)
        panel.set(xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))
        panel.set_xlabel(f"Spearman's $\\rho$ with {theme.symbol(of, metric)}")
        panels.rows_axis(panel, list(map(theme.language_label, languages)))
    panels.legend(figure, [panels.score_legend(score, metric) for score in scores])
    return figure


@of_known("beta1")
def fig8_robustness_and_faithfulness(rows: pd.DataFrame, metric: str = "bleu", spacing: str = "joined") -> Figure:
    """β₁ and β₂ of every perturbation, a row of panels per language, one column per model (Figures 8 to 11).

    rows: `word_order.by_perturbation`. Bars: β of the unperturbed source on the same pairs, and the
    chance level of β₂, κ of two independent draws of a random perturbation on the reference.
    """
    languages, looks = in_order(rows["language"]), theme.model_looks(rows["model"])
    heights = panels.perturbation_rows(panels.in_paper_order(rows["perturbation"]))
    cells = [(language, model) for language in languages for model in looks]
    per_line = len(looks) if len(looks) > 1 else min(3, len(languages))
    lines = -(-len(cells) // per_line)
    scale = f"{theme.metric_label(metric)}, 1 = perfect"
    if rows.attrs["spacings"] > 1:
        scale += f"\nspacing of tokens: {spacing}"
    width = min(theme.WIDTH, 4.6 + 2.3 * (per_line - 1))
    height = 1.0 + lines * (0.75 + 0.175 * len(heights))
    figure, small = panels.several(len(cells), per_line, width, height, sharex=True)
    for i, ((language, model), panel) in enumerate(zip(cells, small, strict=True)):
        own = rows[(rows["language"] == language) & (rows["model"] == model)]
        _dumbbells(panel, own, heights)
        last = i % per_line == per_line - 1 or i == len(cells) - 1
        panels.perturbation_axis(panel, heights, labels=i % per_line == 0, categories=last)
        panel.set_title(f"{theme.language_label(language)}\n{looks[model].label}", fontsize=9)
        panels.unit_range(panel, rows[["beta1", "beta2", "beta", "chance"]])
        panel.tick_params(axis="x", labelbottom=True)  # the figure is taller than a screen
        if i + per_line >= len(cells):
            panel.set_xlabel(scale)
    shown = [s for s in ("beta1", "beta2", "beta", "chance") if rows[s].notna().any()]
    panels.legend(figure, [panels.score_legend(score, metric) for score in shown], columns=2 if width < 7 else 4)
    return figure


def fig8_average(table: pd.DataFrame, metric: str = "bleu", spacing: str = "joined") -> Figure:
    """β₁ and β₂ of every perturbation averaged over models, one panel per language (Figures 8 to 11, as the paper's).

    table: `word_order.by_perturbation_of_models`.
    """
    return fig8_robustness_and_faithfulness(table.assign(model=AVERAGE), metric, spacing)


@of_known("beta1")
def fig13_heatmaps(rows: pd.DataFrame, metric: str = "levenshtein", spacing: str = "joined") -> Figure:
    """β₁ and β₂ of every model, perturbation and language as heatmaps of one scale (Figure 13).

    rows: `word_order.by_perturbation`. Intervals of the same means: `fig8_robustness_and_faithfulness`.
    """
    languages, looks = in_order(rows["language"]), theme.model_looks(rows["model"])
    names = panels.in_paper_order(rows["perturbation"])
    scores = ["beta1", "beta2"]
    top = float(np.nanmax(rows[scores].to_numpy()))
    cells = [(score, model) for score in scores for model in looks]
    per_line = len(looks) if len(cells) * len(languages) > 14 else len(cells)
    lines = len(cells) // per_line
    wanted = max(0.34 * len(languages), 0.085 * max(len(look.label) for look in looks.values())) + 0.15
    width = min(theme.WIDTH, 2.4 + per_line * wanted)
    height = 0.5 + lines * (0.6 + 0.2 * len(names))
    figure, small = panels.several(len(cells), per_line, width, height, sharex=True, sharey=True)
    for (score, model), panel in zip(cells, small, strict=True):
        own = rows[rows["model"] == model]
        wide = [own.pivot(index="perturbation", columns="language", values=name) for name in (score, "n")]
        values, n = (each.reindex(index=names, columns=languages).astype(float) for each in wide)
        if (n < FEW).any(axis=None):
            panels.few_note(panel)
        sns.heatmap(
            values, annot=values.map("{:.2f}".format) + n.map(styles.dagger), fmt="",
            ax=panel, vmin=0, vmax=max(top, 0.01), cmap="crest", cbar=False,
            annot_kws={"fontsize": 6.5}, linewidths=0.4,
        )  # fmt: skip
        readable_numbers(panel, len(languages))
        panel.set(xlabel="", ylabel="")
        panel.set_title(f"{looks[model].label}\n{theme.symbol(score, metric)}", fontsize=9)
        panel.set_yticks(np.arange(len(names)) + 0.5, list(map(label, names)), rotation=0)
        panel.tick_params(axis="both", length=0)
        panel.tick_params(axis="x", labelrotation=0)
    _colour_bar(figure, f"{theme.metric_label(metric)}, 1 = perfect")
    return figure


def _dumbbells(panel: Axes, own: pd.DataFrame, heights: dict[str, float]) -> None:
    """β₁ and β₂ of each perturbation joined by a line, with chance and the unperturbed β as bars."""
    y = own["perturbation"].map(heights)
    both = own["beta2"].notna()
    panel.hlines(y[both], own.loc[both, "beta1"], own.loc[both, "beta2"], color="#CFCFCF", linewidth=1, zorder=1)
    for score in ("beta", "chance"):
        panels.ticks(panel, own[score], y, theme.score_look(score))
    for score in ("beta2", "beta1"):
        known = own[own[score].notna()]
        look = theme.score_look(score)
        panels.intervals(panel, known, known["perturbation"].map(heights), look, score, f"{score}_low", f"{score}_high")


def _lines_by(panel: Axes, own: pd.DataFrame, looks: dict[str, Look], by: str, linestyle: str = "-") -> None:
    """One line per model over the groups of *by*, with its interval at each."""
    for model, look in looks.items():
        line = own[own["model"] == model].sort_values(f"{by}_low")
        middle = (line[f"{by}_low"] + line[f"{by}_high"]) / 2
        panels.line(panel, line, middle, look, "mean", "low", "high", linestyle)


def _preference_axis(panel: Axes, metric: str, rows: pd.DataFrame) -> None:
    """The horizontal axis of a difference, symmetric around no preference."""
    panel.axvline(0, color="#555555", linewidth=1)
    reach = max(0.05, float(np.nanmax(np.abs(rows[["difference", "low", "high"]].to_numpy(dtype=float))))) * 1.08
    panel.set_xlim(-reach, reach)
    panel.set_xlabel(
        _PREFERENCE.format(robustness=theme.symbol("beta1", metric), faithfulness=theme.symbol("beta2", metric))
    )


# ----------------------------------------------------------------------------
# Figures of the word-order study that need no translation: Figures 5, 12, 14 and 15 of the paper.


@of_known("kappa", panels.NO_ROWS, side="source")
def fig5_similarity(rows: pd.DataFrame, metric: str = "bleu") -> Figure:
    """κ between every two perturbations of the same source sentence (Figure 5).

    rows: `word_order.similarity_of_languages`, of which the source side is shown. Below each mean
    stands half the width of its 95% interval.
    """
    names = panels.in_paper_order([*rows["perturbation_a"], *rows["perturbation_b"]])
    side = 2.6 + 0.38 * len(names)
    figure, (panel,) = panels.several(1, 1, side + 0.9, side)
    _heatmap(panel, rows, names, numbers=True, labels=(True, True))
    _colour_bar(figure, f"{theme.symbol('kappa', metric)} (1 = same order)")
    return figure


@of_known("kappa", panels.NO_ROWS, side="target")
def fig14_similarity_by_language(rows: pd.DataFrame, metric: str = "levenshtein") -> Figure:
    """κ between every two perturbations of the same reference, one panel per language (Figure 14).

    rows: `word_order.similarity`, of which the target sides are shown.
    """
    names = panels.in_paper_order([*rows["perturbation_a"], *rows["perturbation_b"]])
    languages = in_order(rows["language"])
    per_line = len(languages) if len(languages) < 4 else 4 if len(languages) in (4, 7, 8) else 3
    lines = -(-len(languages) // per_line)
    size = min(2.4, (theme.WIDTH - 2.2) / per_line - 0.12)
    width, height = 2.2 + per_line * (size + 0.12), 1.3 + lines * (size + 0.3)
    figure, small = panels.several(len(languages), per_line, width, height)
    for i, (language, panel) in enumerate(zip(languages, small, strict=True)):
        own = rows[rows["language"] == language]
        _heatmap(panel, own, names, numbers=False, labels=(i % per_line == 0, i // per_line == lines - 1))
        panel.set_title(theme.language_label(language))
    _colour_bar(figure, f"{theme.symbol('kappa', metric)} (1 = same order)")
    return figure


@of_known("alpha", panels.NO_ROWS)
def fig12_difficulty(rows: pd.DataFrame, metric: str = "levenshtein") -> Figure:
    """How much of a text a perturbation leaves in place: α on both sides, by language (Figure 12).

    rows: `word_order.difficulty`. A high α is an easy perturbation; 1 is the text itself.
    """
    heights = panels.perturbation_rows(panels.in_paper_order(rows["perturbation"]))
    looks = theme.language_looks(in_order(rows["language"]))
    sides = {"source": ("source side", "alpha_source"), "target": ("reference side", "alpha_target")}
    height = 1.2 + len(heights) * max(0.22, 0.075 * len(looks) + 0.08)
    figure, axes = panels.grid(1, 2, theme.WIDTH, height)
    for column, ((side, (name, score)), panel) in enumerate(zip(sides.items(), axes[0], strict=True)):
        for offset, (language, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
            own = rows[(rows["side"] == side) & (rows["language"] == language)]
            panels.intervals(panel, own, own["perturbation"].map(heights) + offset, look, "alpha", "low", "high")
        panels.perturbation_axis(panel, heights, labels=column == 0, categories=column == 1)
        panels.unit_range(panel, rows[["alpha"]])
        panel.axvline(1, color="#111111", linewidth=0.8, linestyle=":")
        if len(looks) > 1:
            panel.hlines(np.array(list(heights.values())) + 0.5, *panel.get_xlim(), color="#FFFFFF", linewidth=2.5)
        panel.set_title(f"{name}  {theme.symbol(score, metric)}")
        panel.set_xlabel(f"{theme.metric_label(metric)} (1 = unchanged)")
    panels.legend(figure, looks.values(), columns=7 if len(looks) > 5 else 5)
    return figure


@of_known("alpha", panels.NO_ROWS)
def fig15_difficulty_by_length(rows: pd.DataFrame, metric: str = "levenshtein") -> Figure:
    """α of the source against its length, the length divided by the longest plus one (Figure 15).

    rows: `word_order.difficulty_by_length`; one panel per language, lines are 95% intervals.
    """
    languages = in_order(rows["language"])
    looks = theme.language_looks(languages)
    per_line = min(4, len(languages))
    lines = -(-len(languages) // per_line)
    width = theme.WIDTH if per_line > 2 else 2.0 + 2.8 * per_line
    figure, small = panels.several(len(languages), per_line, width, 0.7 + 2.0 * lines, sharex=True, sharey=True)
    for i, (language, panel) in enumerate(zip(languages, small, strict=True)):
        own = rows[rows["language"] == language].sort_values("normalised_length")
        look = replace(looks[language], marker="o")
        panels.line(panel, own, own["normalised_length"], look, "alpha", "low", "high")
        panel.set_title(look.label)
        panel.set_xlim(0, 1)
        panel.tick_params(axis="x", labelbottom=i + per_line >= len(languages))
        if i % per_line == 0:
            panel.set_ylabel(theme.symbol("alpha_source", metric), rotation=0, labelpad=14, va="center")
    figure.supxlabel("length of the source / (longest + 1)", fontsize=9)
    return figure


def _heatmap(
    panel: Axes, rows: pd.DataFrame, names: Sequence[str], *, numbers: bool, labels: tuple[bool, bool]
) -> None:
    """The lower half of a symmetric matrix; labels: whether names stand on the left, and below.

    numbers: whether each cell says its mean, and below it ± half of its interval's width.
    """
    matrix = pd.DataFrame(np.nan, index=list(names), columns=list(names))
    cells = pd.DataFrame("", index=list(names), columns=list(names))
    columns = ["perturbation_a", "perturbation_b", "kappa", "low", "high", "n"]
    for a, b, kappa, low, high, n in rows[columns].itertuples(index=False):
        first, second = sorted((names.index(a), names.index(b)))
        matrix.iloc[second, first] = kappa
        half = f"\n±{(high - low) / 2:.2f}".replace("0.", ".") if high > low else ""
        mark = styles.dagger(n) if half else ""  # a form and itself are the same by definition
        cells.iloc[second, first] = f"{kappa:.2f}{mark}{half}"
        if mark and numbers:
            panels.few_note(panel)
    sns.heatmap(
        matrix, ax=panel, vmin=0, vmax=1, cmap="crest", cbar=False, square=True, linewidths=0.4,
        annot=cells if numbers else None, fmt="", annot_kws={"fontsize": 6.5, "linespacing": 1.1},
    )  # fmt: skip
    readable_numbers(panel, len(names))
    positions = np.arange(len(names)) + 0.5
    shown = [label(name) for name in names]
    size = 8 if numbers else 6.5
    panel.set_yticks(positions, shown if labels[0] else [""] * len(names), rotation=0, fontsize=size)
    panel.set_xticks(positions, shown if labels[1] else [""] * len(names), rotation=90, fontsize=size)
    panel.tick_params(axis="both", length=0)
    panel.grid(visible=False)
    looks = theme.category_looks()
    for ticks in (panel.get_yticklabels(), panel.get_xticklabels()):
        for tick, name in zip(ticks, names, strict=True):
            tick.set_color(looks[panels.category_of(name)].colour)


def readable_numbers(panel: Axes, columns: int) -> None:
    """Write the numbers of a heatmap of so many *columns* in black or white, whichever stands out more.

    (seaborn's own choice is white from middling colours on, where black has twice the contrast.)
    """
    cells = panel.collections[0]
    cells.update_scalarmappable()
    colours = np.asarray(cells.get_facecolor(), dtype=float)
    for text in panel.texts:
        x, y = text.get_position()
        channels = colours[int(y) * columns + int(x), :3]
        linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        text.set_color("black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white")  # WCAG 2.1: equal contrast


def _colour_bar(figure: Figure, label: str) -> None:
    bar = figure.colorbar(figure.axes[0].collections[0], ax=figure.axes, shrink=0.5, aspect=30, pad=0.02)
    bar.set_label(label)
    bar.outline.set_visible(False)
