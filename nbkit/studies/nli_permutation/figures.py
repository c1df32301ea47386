"""Figures of the NLI permutation study: Figures 1 to 9 of the paper, and one of its tables.

Each takes a table of `nbkit.studies.nli_permutation` and returns a matplotlib figure; a table without rows gives
a figure that says why. Floor and ceiling are drawn in where there are any. Names, colours and markers of models, groups
of pairs and measures are data (``looks.yaml``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.studies.nli_permutation.styled import TABLES, corpus_label, looks_of, measure, model_looks

#: The largest entropy of three labels, in nats.
UNDECIDED = math.log(3)
#: Bins of fewer pairs are not drawn: their shares are accidents.
FEW_PAIRS = 5

_BAG_OF_WORDS = "bag of words"
_CHANCE = {"color": "#8A8A8A", "linewidth": 1, "linestyle": (0, (4, 3)), "zorder": 1}
_ACCEPTED = "permutations accepted (share)"


def _drawn(name: str) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Draw in the theme's style; a first table without rows gives a figure that says why, as the table *name* does."""

    def decorate(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        @wraps(draw)
        def drawn(table: pd.DataFrame, *more: Any) -> Figure:
            if table.empty:
                return theme.message(TABLES.why(name))
            with theme.style():
                return draw(table, *more)

        return drawn

    return decorate


# ----------------------------------------------------------------------------
# The figures.


@_drawn("results")
def results_figure(results: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """The values of Tables 2 to 4, a panel a measure, a row a set; bars: predictors that do not read word order."""
    rows = results[results["corpus"].isin(floors["corpus"]) & results["measure"].isin(floors["measure"])]
    corpora, looks = _unique(rows["corpus"]), model_looks(rows["model"])
    measures, blind = _unique(rows["measure"]), looks_of("ceilings")[_BAG_OF_WORDS]
    height = 1.3 + len(corpora) * max(0.5, 0.17 * len(looks) + 0.15)
    figure, axes = panels.grid(1, len(measures), theme.WIDTH, height, sharey=True)
    for name, panel in zip(measures, axes[0], strict=True):
        of_measure = floors[(floors["measure"] == name) & floors["value"].notna()]
        for predictor, look in looks_of("floors").items():
            own = of_measure[of_measure["predictor"] == predictor].drop_duplicates("corpus")
            panels.ticks(panel, own["value"], map(corpora.index, own["corpus"]), look)
        bags = of_measure[of_measure["predictor"] == _BAG_OF_WORDS]
        for offset, (model, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
            own = rows[(rows["model"] == model) & (rows["measure"] == name) & rows["value"].notna()]
            panels.intervals(panel, own, _heights(own, corpora, offset), look, "value", "low", "high")
            bag = bags[bags["model"] == model]
            panels.ticks(panel, bag["value"], _heights(bag, corpora, offset), blind)
        panel.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1))
        panel.set_title(measure(name, "mathtext"))
        panels.rows_axis(panel, list(map(corpus_label, corpora)), looks.values())
    panels.legend(figure, [*panels.few(looks.values()), *looks_of("floors").values(), blind], columns=3)
    return figure


def _heights(table: pd.DataFrame, corpora: list[str], offset: float) -> list[float]:
    return [corpora.index(corpus) + offset for corpus in table["corpus"]]


@_drawn("results")
def fig1_entropy(entropies: pd.DataFrame, control: pd.DataFrame) -> Figure:
    """How sure the models are of the permutations that they accept (Figure 1).

    entropies: `nli_permutation.entropies`. A box holds the middle half of the pairs, its line is the median;
    whiskers reach to the last pair within 1.5 box lengths. control: `nli_permutation.control_entropies`; a bar is the
    median of the pairs in their own order, which a bag of words keeps on every permutation.
    """
    models, corpora = _unique(entropies["model"]), _unique(entropies["corpus"])
    groups, own_order = looks_of("groups"), looks_of("ceilings")["control"]
    figure, axes = _panel_each(models, 3, lambda lines: 0.9 + lines * (0.7 + 0.45 * len(corpora)), theme.WIDTH)
    for model, panel in zip(models, axes.flat, strict=False):
        own = entropies[entropies["model"] == model]
        sns.boxplot(
            own, x="entropy", y="corpus", hue="group", order=corpora, hue_order=list(groups), ax=panel,
            palette={name: look.colour for name, look in groups.items()}, legend=False, fliersize=1.5,
            linewidth=0.8, width=0.7,
        )  # fmt: skip
        panel.axvline(UNDECIDED, **_CHANCE)
        bars = control[(control["model"] == model) & control["corpus"].isin(corpora)]
        rows = np.array([corpora.index(corpus) for corpus in bars["corpus"]])
        panel.vlines(bars["value"], rows - 0.47, rows + 0.47, color=own_order.colour, linewidth=2, zorder=5)
        panel.set_title(model)
        panel.set(xlim=(-0.03, UNDECIDED + 0.05), xlabel="entropy (nats; dashed: undecided)", ylabel="")
        panel.set_yticks(range(len(corpora)), list(map(corpus_label, corpora)))
    panels.legend(figure, [*_patches(groups), own_order])
    return figure


@_drawn("results")
def fig2_bleu(bleu_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by their BLEU-2 against the original (Figure 2)."""
    return _binned(bleu_effect, "BLEU-2 of the permuted pair against the original (0 to 1)", 3.6)


@_drawn("mini_trees")
def fig3_mini_trees(mini_tree_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by the ratio of POS mini-tree overlaps (Figure 3)."""
    return _binned(
        mini_tree_effect, r"$\beta^k_{\hat S}\,/\,\beta^k_{S}$ (1: as close to training as the original)", 3.6
    )


def fig4_max_entropy(max_entropy: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """Accuracy and Ω_max with usual and with maximum-entropy training (Figure 4, Table 5).

    floors: `nli_permutation.floor_table`; bars are a constant and a random predictor.
    """
    return _drawn("max_entropy")(_dumbbells)(max_entropy, "training", "training", ["accuracy", "omega_max"], floors)


@_drawn("results")
def fig5_length(length_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by the length of the pair, for D^c and D^f apart (Figure 5)."""
    titles = {group: look.label for group, look in looks_of("groups").items()}
    return _binned(length_effect, "tokens of premise and hypothesis together", 3.4, "group", titles, chance=False)


@_drawn("mini_trees")
def fig6_word(word_signature: pd.DataFrame) -> Figure:
    """The POS mini-tree of one word in training, in a sentence and in its permutation (Figure 6)."""
    looks = looks_of("where")
    shown = word_signature.groupby("tag")["probability"].max()
    tags = [tag for tag in _unique(word_signature["tag"]) if shown[tag] > 0]
    figure, axes = panels.grid(1, 1, theme.WIDTH * 0.85, 3.2)
    panel, width = axes[0, 0], 0.8 / len(looks)
    for i, (where, look) in enumerate(looks.items()):
        own = word_signature[word_signature["where"] == where].set_index("tag").reindex(tags)
        places = np.arange(len(tags)) + (i - (len(looks) - 1) / 2) * width
        panel.bar(places, own["probability"], width * 0.92, color=look.colour)
    panel.set_xticks(range(len(tags)), tags)
    panel.grid(axis="x", visible=False)
    panel.set_ylabel("probability among its neighbours")
    panel.set_title(f"“{word_signature['word'].iloc[0]}”")
    panels.legend(figure, _patches(looks))
    return figure


@_drawn("results")
def fig7_thresholds(thresholds: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """Ω_x for every threshold x (Figure 7), a panel a set; bands are 95% intervals, the bar stands at x = 1/3.

    floors: `nli_permutation.floor_table`. Dotted: a bag of words as accurate as the model, which accepts all
    permutations of a pair or none.
    """
    corpora, looks = _unique(thresholds["corpus"]), model_looks(thresholds["model"])
    bags = floors[(floors["predictor"] == _BAG_OF_WORDS) & (floors["measure"] == "omega_max")]
    figure, axes = _panel_each(corpora, 4, lambda lines: 0.9 + 2.6 * lines)
    for corpus, panel in zip(corpora, axes.flat, strict=False):
        own = thresholds[thresholds["corpus"] == corpus]
        panel.axvline(1 / 3, **_CHANCE)
        for model, look in looks.items():
            line = own[own["model"] == model]
            for accuracy in bags.loc[(bags["model"] == model) & (bags["corpus"] == corpus), "value"]:
                panel.axhline(accuracy, color=look.colour, linewidth=1, linestyle=":")
            panel.step(line["threshold"], line["omega"], where="post", color=look.colour, linewidth=1.4)
            band = [line[name] for name in ("threshold", "low", "high")]
            panel.fill_between(*band, step="post", color=look.colour, alpha=0.15, linewidth=0)
        mark = styles.dagger(own["n"].min())
        if mark:
            panels.few_note(panel)
        panel.set_title(corpus_label(corpus) + mark)
        panel.set(xlim=(0, 1), ylim=(-0.02, 1.02))
        panel.set_xlabel("threshold $x$ (dotted: a bag of words)")
    for row in axes:
        row[0].set_ylabel(r"$\Omega_x$ (share of pairs)")
    panels.legend(figure, looks.values(), columns=4)
    return figure


def fig8_hypothesis_only(hypothesis_only: pd.DataFrame, floors: pd.DataFrame, control: pd.DataFrame) -> Figure:
    """Both sides permuted against the hypothesis alone: Ω_max and the share of accepted permutations (Figure 8).

    floors, control: `nli_permutation.floor_table` and `nli_permutation.control`; bars are a constant predictor, a
    random one, and the accuracy on the control, which both measures reach if word order is not read.
    """
    measures = ["omega_max", "acceptance"]
    # A predictor that does not read the words accepts as many permutations as it gets originals right; a bag of words
    # treats permutations as it treats the control.
    wordless = floors[floors["predictor"] != _BAG_OF_WORDS]
    shares = wordless[wordless["measure"] == "accuracy"].assign(measure="acceptance")
    blind = [control.assign(predictor="control", measure=name, value=control["control"]) for name in measures]
    bars = pd.concat([wordless, shares, *blind])[["model", "corpus", "predictor", "measure", "value"]]
    return _drawn("results" if floors.empty else "hypothesis_only")(_dumbbells)(
        hypothesis_only, "scheme", "schemes", measures, bars
    )


@_drawn("clumped")
def fig9_clumped(clump_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by BLEU-2, -3 and -4, clumped and others together (Figure 9)."""
    titles = {order: f"BLEU-{order}" for order in _unique(clump_effect["order"])}
    return _binned(clump_effect, "against the original (0 to 1)", 3.3, "order", titles)


@_drawn("kept")
def kept_figure(kept: pd.DataFrame) -> Figure:
    """The share of its pairs that each variant keeps, a panel a set. kept: `nli_permutation.kept`."""
    corpora, schemes = _unique(kept["corpus"]), _unique(kept["scheme"])
    figure, axes = _panel_each(corpora, 4, lambda lines: lines * (0.9 + 0.3 * len(schemes)))
    for corpus, panel in zip(corpora, axes.flat, strict=False):
        own = kept[kept["corpus"] == corpus].set_index("scheme").reindex(schemes)
        panel.barh(range(len(schemes)), own["share"], height=0.6, color="#0072B2")
        for height, share in enumerate(own["share"]):
            if share > 0.85:
                panel.text(share - 0.02, height, f"{share:.0%}", ha="right", va="center", size=8, color="white")
            elif share >= 0:
                panel.text(share + 0.02, height, f"{share:.0%}", ha="left", va="center", size=8)
        panel.set_title(corpus_label(corpus))
        panel.set(xlim=(0, 1), xlabel="pairs kept (share)")
        panels.rows_axis(panel, schemes)
    return figure


@_drawn("annotators")
def human_figure(printed: pd.DataFrame, judged: pd.DataFrame | None = None) -> Figure:
    """Accuracy of annotators on permutations that a model accepts, 95% intervals (Table 6).

    printed: the paper's Table 6. judged: `annotate.accuracy_table` of this run's forms, where there are any. The
    dashed line is chance; the model is at 1 by construction.
    """
    paper = printed[printed["measure"] == "accuracy"]
    value, half = paper["value"].astype(float), paper["interval"].astype(float)
    whose = paper["annotator"] + " (paper)"
    rows = [paper.assign(annotator=whose, value=value, low=value - half, high=value + half, n=np.nan)]
    if judged is not None:
        own = judged[judged["by"].isin(["all", "stratum"])]
        strata = own["value"].where(own["by"] != "all", "all")
        rows.append(own.assign(annotator=own["annotator"] + " (this run)", stratum=strata, value=own["accuracy"]))
    table = pd.concat([frame[["annotator", "stratum", "value", "low", "high", "n"]] for frame in reversed(rows)])
    names, looks = _unique(table["annotator"]), {**looks_of("strata"), **looks_of("groups")}
    figure, axes = panels.grid(1, 1, theme.WIDTH * 0.75, 1.2 + 0.5 * len(names))
    panel = axes[0, 0]
    panel.axvline(1 / 3, **_CHANCE)
    panel.axvline(1, color="#3A3A3A", linewidth=1.2)
    for offset, (stratum, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
        own = table[table["stratum"] == stratum]
        heights = [names.index(name) + offset for name in own["annotator"]]
        panels.intervals(panel, own, heights, look, "value", "low", "high")
    panel.set(xlim=(-0.03, 1.03), xlabel="accuracy (dashed: chance; line at 1: the model)")
    panels.rows_axis(panel, names)
    panels.legend(figure, looks.values())
    return figure


# ----------------------------------------------------------------------------
# What several of them are made of.


def _unique(column: pd.Series) -> list[Any]:
    return list(dict.fromkeys(column))


def _patches(looks: Mapping[str, Look]) -> list[Look]:
    """Looks of areas in a legend."""
    return [Look(look.label, look.colour, "s") for look in looks.values()]


def _panel_each(
    names: Sequence[str], per_line: int, height: Callable[[int], float], width: float | None = None
) -> tuple[Figure, np.ndarray]:
    """A panel for each name, *per_line* at most side by side. height: of the figure, of the number of lines."""
    per_line = min(len(names), per_line)
    lines = -(-len(names) // per_line)
    width = min(theme.WIDTH, 2.0 + 3.2 * per_line) if width is None else width
    figure, axes = panels.grid(lines, per_line, width, height(lines), sharex=True, sharey=True)
    for panel in axes.flat[len(names) :]:
        panel.set_visible(False)
    return figure, axes


def _binned(
    table: pd.DataFrame, what: str, height: float, by: str | None = None, titles: Mapping[Any, str] | None = None, *,
    chance: bool = True,
) -> Figure:  # fmt: skip
    """One line a model over bins of *what*, a panel for each value of *by*; the dashed line is chance."""
    parts = {title: table[table[by] == value] for value, title in (titles or {}).items()} if by else {"": table}
    looks = model_looks(table["model"])
    width = theme.WIDTH if by else theme.WIDTH * 0.75
    figure, axes = panels.grid(1, len(parts), width, height, sharex=True, sharey=True)
    for (title, part), panel in zip(parts.items(), axes[0], strict=True):
        if chance:
            panel.axhline(1 / 3, **_CHANCE)
        _binned_lines(panel, part, looks)
        panel.set_title(title)
        panel.set_xlabel(what)
    axes[0, 0].set_ylabel(_ACCEPTED)
    panels.legend(figure, looks.values(), columns=4)
    return figure


def _binned_lines(panel: Axes, table: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """The rate in the middle of each bin with its interval; bins of few pairs are left out."""
    if not (table["examples"] >= FEW_PAIRS).any():
        panel.text(0.5, 0.5, f"no bin of {FEW_PAIRS} pairs", transform=panel.transAxes, ha="center", color="#5A5A5A")
    for model, look in looks.items():
        line = table[(table["model"] == model) & (table["examples"] >= FEW_PAIRS)].sort_values("left")
        middle = (line["left"] + line["right"]) / 2
        panel.plot(middle, line["rate"], color=look.colour, marker=look.marker, markersize=4, linewidth=1.2,
                   url=styles.common_link(line))  # fmt: skip
        panel.vlines(middle, line["low"], line["high"], color=look.colour, linewidth=1.2, alpha=0.7)
        panels.hollow(panel, middle, line["rate"], line["examples"])
    panel.set_ylim(-0.02, 1.02)


def _dumbbells(table: pd.DataFrame, by: str, kind: str, measures: Sequence[str], bars: pd.DataFrame) -> Figure:
    """Two conditions of the same models and sets, joined by a line; a panel a measure; floors and ceilings as bars."""
    keys = list(dict.fromkeys(zip(table["corpus"], table["model"], strict=True)))
    looks, known = looks_of(kind), {**looks_of("floors"), **looks_of("ceilings")}
    beside = {name: look for name, look in known.items() if name in set(bars["predictor"])}
    figure, axes = panels.grid(1, len(measures), theme.WIDTH, 1.4 + 0.3 * len(keys), sharey=True)
    for name, panel in zip(measures, axes[0], strict=True):
        own = table[table["measure"] == name]
        wide = own.pivot(index=["corpus", "model"], columns=by, values="value").reindex(keys)
        for predictor, look in beside.items():
            at = bars[(bars["predictor"] == predictor) & (bars["measure"] == name)]
            values = at.set_index(["corpus", "model"])["value"].reindex(keys)
            panels.ticks(panel, values, range(len(keys)), look)
        panel.hlines(range(len(keys)), wide.min(axis=1), wide.max(axis=1), color="#CFCFCF", linewidth=1)
        for condition, look in looks.items():
            rows = own[own[by] == condition]
            heights = [keys.index(key) for key in zip(rows["corpus"], rows["model"], strict=True)]
            panels.intervals(panel, rows, heights, look, "value", "low", "high")
        panel.set_title(f"{measure(name, 'mathtext')}  {measure(name, 'words')}")
        panel.set(xlim=(-0.03, 1.03), xlabel="share")
        panels.rows_axis(panel, [f"{model} · {corpus_label(corpus)}" for corpus, model in keys])
    panels.legend(figure, [*looks.values(), *beside.values()], columns=3)
    return figure
