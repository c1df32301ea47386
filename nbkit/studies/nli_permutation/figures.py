"""Figures of the NLI permutation study: Figures 1 to 9 of the paper, and one of its tables.

Each takes a table of `nbkit.studies.nli_permutation` and returns a matplotlib figure; a table without rows gives
a figure that says why. Floor and ceiling are drawn in where there are any.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.studies.nli_permutation import looks as nli_looks

NO_MODEL = "No model in this run, so nothing was classified: add names to the parameter models."


NO_TAGS = (
    "No parts of speech in this run: mini-trees need them in the test sets and in the training corpus "
    "(parameter parsers: a spaCy pipeline)."
)


NO_TWIN = (
    "No model trained with maximum entropy in this run: name one beside its usual form in the parameter max_entropy, "
    "such as sandbox-infersent: sandbox-infersent-max-entropy."
)


NO_HYPOTHESIS = "Hypotheses alone were not permuted in this run (parameter hypothesis_only)."


NO_CLUMPS = "No words were kept together in this run (parameter clumps)."


#: The largest entropy of three labels, in nats.
UNDECIDED = math.log(3)


#: Bins of fewer pairs are not drawn: their shares are accidents.
FEW_PAIRS = 5


_BAG_OF_WORDS = "bag of words"


_CHANCE = {"color": "#9A9A9A", "linewidth": 1, "linestyle": (0, (4, 3)), "zorder": 1}


def results_figure(results: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """The values of Tables 2 to 4, a panel a measure, a row a set; bars: predictors that do not read word order."""
    shown = results["corpus"].isin(floors["corpus"]) & results["measure"].isin(floors["measure"])
    rows = results[shown] if len(results) else results
    if rows.empty:
        return theme.message(NO_MODEL)
    corpora, looks = list(dict.fromkeys(rows["corpus"])), nli_looks.model_looks(rows["model"])
    measures = list(dict.fromkeys(rows["measure"]))
    blind = {_BAG_OF_WORDS: nli_looks.looks("ceilings")[_BAG_OF_WORDS]}
    with theme.style():
        height = 1.3 + len(corpora) * max(0.5, 0.17 * len(looks) + 0.15)
        figure, axes = panels.grid(1, len(measures), theme.WIDTH, height, sharey=True)
        for name, panel in zip(measures, axes[0], strict=True):
            for predictor, look in nli_looks.looks("floors").items():
                own = floors[(floors["predictor"] == predictor) & (floors["measure"] == name)]
                own = own.drop_duplicates("corpus").dropna(subset="value")
                panels.ticks(panel, own["value"], [corpora.index(corpus) for corpus in own["corpus"]], look)
            for offset, (model, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
                own = rows[(rows["model"] == model) & (rows["measure"] == name) & rows["value"].notna()]
                heights = [corpora.index(corpus) + offset for corpus in own["corpus"]]
                panels.intervals(panel, own, heights, look, "value", "low", "high")
                bags = floors[(floors["predictor"] == _BAG_OF_WORDS) & (floors["measure"] == name)]
                bags = bags[(bags["model"] == model) & bags["value"].notna()]
                heights = [corpora.index(corpus) + offset for corpus in bags["corpus"]]
                panels.ticks(panel, bags["value"], heights, blind[_BAG_OF_WORDS])
            panel.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1))
            panel.set_title(nli_looks.measure(name, "mathtext"))
            _corpus_axis(panel, corpora)
        panels.legend(figure, [*looks.values(), *nli_looks.looks("floors").values(), *blind.values()], columns=3)
    return figure


def fig1_entropy(entropies: pd.DataFrame, control: pd.DataFrame) -> Figure:
    """How sure the models are of the permutations that they accept (Figure 1).

    entropies: `nli_permutation.entropies`. A box holds the middle half of the pairs, its line is the median;
    whiskers reach to the last pair within 1.5 box lengths. control: `nli_permutation.control_entropies`; a bar is the
    median of the pairs in their own order, which a bag of words keeps on every permutation.
    """
    if entropies.empty:
        return theme.message(NO_MODEL)
    models, corpora = list(dict.fromkeys(entropies["model"])), list(dict.fromkeys(entropies["corpus"]))
    groups, own_order = nli_looks.looks("groups"), nli_looks.looks("ceilings")["control"]
    per_line = min(len(models), 3)
    lines = -(-len(models) // per_line)
    with theme.style():
        figure, axes = panels.grid(
            lines, per_line, theme.WIDTH, 0.9 + lines * (0.7 + 0.45 * len(corpora)), sharex=True, sharey=True
        )
        for panel in axes.flat[len(models) :]:
            panel.set_visible(False)
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
            panel.set_yticks(range(len(corpora)), list(map(nli_looks.corpus_label, corpora)))
        panels.legend(figure, [*(Look(look.label, look.colour, "s") for look in groups.values()), own_order])
    return figure


def fig2_bleu(bleu_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by their BLEU-2 against the original (Figure 2)."""
    return _lines(bleu_effect, "BLEU-2 of the permuted pair against the original (0 to 1)", NO_MODEL)


def fig3_mini_trees(mini_tree_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by the ratio of POS mini-tree overlaps (Figure 3)."""
    return _lines(
        mini_tree_effect, r"$\beta^k_{\hat S}\,/\,\beta^k_{S}$ (1: as close to training as the original)", NO_TAGS
    )


def fig4_max_entropy(max_entropy: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """Accuracy and Ω_max with usual and with maximum-entropy training (Figure 4, Table 5).

    floors: `nli_permutation.floor_table`; bars are a constant and a random predictor.
    """
    looks = nli_looks.looks("training")
    return _dumbbells(max_entropy, "training", looks, ["accuracy", "omega_max"], NO_TWIN, floors)


def fig5_length(length_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by the length of the pair, for D^c and D^f apart (Figure 5)."""
    if length_effect.empty:
        return theme.message(NO_MODEL)
    groups, looks = nli_looks.looks("groups"), nli_looks.model_looks(length_effect["model"])
    with theme.style():
        figure, axes = panels.grid(1, 2, theme.WIDTH, 3.4, sharex=True, sharey=True)
        for (group, shown), panel in zip(groups.items(), axes[0], strict=True):
            _binned_lines(panel, length_effect[length_effect["group"] == group], looks)
            panel.set_title(shown.label)
            panel.set_xlabel("tokens of premise and hypothesis together")
        axes[0, 0].set_ylabel("permutations accepted (share)")
        panels.legend(figure, looks.values(), columns=4)
    return figure


def fig6_word(word_signature: pd.DataFrame) -> Figure:
    """The POS mini-tree of one word in training, in a sentence and in its permutation (Figure 6)."""
    if word_signature.empty:
        return theme.message(NO_TAGS)
    looks = nli_looks.looks("where")
    shown = word_signature.groupby("tag")["probability"].max()
    tags = [tag for tag in dict.fromkeys(word_signature["tag"]) if shown[tag] > 0]
    with theme.style():
        figure, axes = panels.grid(1, 1, theme.WIDTH * 0.85, 3.2)
        panel = axes[0, 0]
        width = 0.8 / len(looks)
        for i, (where, look) in enumerate(looks.items()):
            own = word_signature[word_signature["where"] == where].set_index("tag").reindex(tags)
            places = np.arange(len(tags)) + (i - (len(looks) - 1) / 2) * width
            panel.bar(places, own["probability"], width * 0.92, color=look.colour)
        panel.set_xticks(range(len(tags)), tags)
        panel.grid(axis="x", visible=False)
        panel.set_ylabel("probability among its neighbours")
        panel.set_title(f"“{word_signature['word'].iloc[0]}”")
        panels.legend(figure, [Look(look.label, look.colour, "s") for look in looks.values()])
    return figure


def fig7_thresholds(thresholds: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """Ω_x for every threshold x (Figure 7), a panel a set; bands are 95% intervals, the bar stands at x = 1/3.

    floors: `nli_permutation.floor_table`. Dotted: a bag of words as accurate as the model, which accepts all
    permutations of a pair or none.
    """
    if thresholds.empty:
        return theme.message(NO_MODEL)
    corpora, looks = list(dict.fromkeys(thresholds["corpus"])), nli_looks.model_looks(thresholds["model"])
    per_line = min(len(corpora), 4)
    lines = -(-len(corpora) // per_line)
    with theme.style():
        width = min(theme.WIDTH, 2.0 + 3.2 * per_line)
        figure, axes = panels.grid(lines, per_line, width, 0.9 + 2.6 * lines, sharex=True, sharey=True)
        for panel in axes.flat[len(corpora) :]:
            panel.set_visible(False)
        for corpus, panel in zip(corpora, axes.flat, strict=False):
            own = thresholds[thresholds["corpus"] == corpus]
            panel.axvline(1 / 3, **_CHANCE)
            bags = floors[(floors["predictor"] == _BAG_OF_WORDS) & (floors["corpus"] == corpus)]
            for model, look in looks.items():
                line = own[own["model"] == model]
                for accuracy in bags.loc[(bags["model"] == model) & (bags["measure"] == "omega_max"), "value"]:
                    panel.axhline(accuracy, color=look.colour, linewidth=1, linestyle=":")
                panel.step(line["threshold"], line["omega"], where="post", color=look.colour, linewidth=1.4)
                panel.fill_between(
                    line["threshold"],
                    line["low"],
                    line["high"],
                    step="post",
                    color=look.colour,
                    alpha=0.15,
                    linewidth=0,
                )
            mark = styles.dagger(own["n"].min())
            if mark:
                panels.few_note(panel)
            panel.set_title(nli_looks.corpus_label(corpus) + mark)
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
    why = NO_MODEL if floors.empty else NO_HYPOTHESIS
    return _dumbbells(hypothesis_only, "scheme", nli_looks.looks("schemes"), measures, why, bars)


def fig9_clumped(clump_effect: pd.DataFrame) -> Figure:
    """The share of accepted permutations by BLEU-2, -3 and -4, clumped and others together (Figure 9)."""
    if clump_effect.empty:
        return theme.message(NO_CLUMPS)
    looks = nli_looks.model_looks(clump_effect["model"])
    orders = list(dict.fromkeys(clump_effect["order"]))
    with theme.style():
        figure, axes = panels.grid(1, len(orders), theme.WIDTH, 3.3, sharex=True, sharey=True)
        for order, panel in zip(orders, axes[0], strict=True):
            panel.axhline(1 / 3, **_CHANCE)
            _binned_lines(panel, clump_effect[clump_effect["order"] == order], looks)
            panel.set_title(f"BLEU-{order}")
            panel.set_xlabel("against the original (0 to 1)")
        axes[0, 0].set_ylabel("permutations accepted (share)")
        panels.legend(figure, looks.values(), columns=4)
    return figure


def kept_figure(kept: pd.DataFrame) -> Figure:
    """The share of its pairs that each variant keeps, a panel a set. kept: `nli_permutation.kept`."""
    corpora, schemes = list(dict.fromkeys(kept["corpus"])), list(dict.fromkeys(kept["scheme"]))
    if not schemes:
        return theme.message("No pair was read in this run.")
    per_line = min(len(corpora), 4)
    lines = -(-len(corpora) // per_line)
    with theme.style():
        width = min(theme.WIDTH, 2.0 + 3.2 * per_line)
        figure, axes = panels.grid(lines, per_line, width, lines * (0.9 + 0.3 * len(schemes)), sharex=True, sharey=True)
        for panel in axes.flat[len(corpora) :]:
            panel.set_visible(False)
        for corpus, panel in zip(corpora, axes.flat, strict=False):
            own = kept[kept["corpus"] == corpus].set_index("scheme").reindex(schemes)
            panel.barh(range(len(schemes)), own["share"], height=0.6, color="#0072B2")
            for height, share in enumerate(own["share"]):
                if share > 0.85:
                    panel.text(share - 0.02, height, f"{share:.0%}", ha="right", va="center", size=8, color="white")
                elif share >= 0:
                    panel.text(share + 0.02, height, f"{share:.0%}", ha="left", va="center", size=8)
            panel.set_title(nli_looks.corpus_label(corpus))
            panel.set(xlim=(0, 1), xlabel="pairs kept (share)")
            _rows(panel, schemes)
    return figure


def human_figure(printed: pd.DataFrame, judged: pd.DataFrame | None = None) -> Figure:
    """Accuracy of annotators on permutations that a model accepts, 95% intervals (Table 6).

    printed: the paper's Table 6. judged: `annotate.accuracy_table` of this run's forms, where there are any. The
    dashed line is chance; the model is at 1 by construction.
    """
    paper = printed[printed["measure"] == "accuracy"]
    value, half = paper["value"].astype(float), paper["interval"].astype(float)
    rows = [
        paper.assign(
            annotator=paper["annotator"] + " (paper)", value=value, low=value - half, high=value + half, n=np.nan
        )
    ]
    if judged is not None:
        own = judged[judged["by"].isin(["all", "stratum"])]
        strata = own["value"].where(own["by"] != "all", "all")
        rows.append(own.assign(annotator=own["annotator"] + " (this run)", stratum=strata, value=own["accuracy"]))
    table = pd.concat([frame[["annotator", "stratum", "value", "low", "high", "n"]] for frame in reversed(rows)])
    names = list(dict.fromkeys(table["annotator"]))
    looks = {**nli_looks.looks("strata"), **nli_looks.looks("groups")}
    with theme.style():
        figure, axes = panels.grid(1, 1, theme.WIDTH * 0.75, 1.2 + 0.5 * len(names))
        panel = axes[0, 0]
        panel.axvline(1 / 3, **_CHANCE)
        panel.axvline(1, color="#3A3A3A", linewidth=1.2)
        for offset, (stratum, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
            own = table[table["stratum"] == stratum]
            heights = [names.index(name) + offset for name in own["annotator"]]
            panels.intervals(panel, own, heights, look, "value", "low", "high")
        panel.set(xlim=(-0.03, 1.03), xlabel="accuracy (dashed: chance; line at 1: the model)")
        _rows(panel, names)
        panels.legend(figure, looks.values())
    return figure


def _lines(table: pd.DataFrame, what: str, why: str) -> Figure:
    """One line a model over bins; the dashed line is chance."""
    if table.empty:
        return theme.message(why)
    looks = nli_looks.model_looks(table["model"])
    with theme.style():
        figure, axes = panels.grid(1, 1, theme.WIDTH * 0.75, 3.6)
        panel = axes[0, 0]
        panel.axhline(1 / 3, **_CHANCE)
        _binned_lines(panel, table, looks)
        panel.set_xlabel(what)
        panel.set_ylabel("permutations accepted (share)")
        panels.legend(figure, looks.values(), columns=4)
    return figure


def _binned_lines(panel: Axes, table: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """The rate in the middle of each bin with its interval; bins of few pairs are left out."""
    if not (table["examples"] >= FEW_PAIRS).any():
        panel.text(0.5, 0.5, f"no bin of {FEW_PAIRS} pairs", transform=panel.transAxes, ha="center", color="#5A5A5A")
    for model, look in looks.items():
        line = table[(table["model"] == model) & (table["examples"] >= FEW_PAIRS)].sort_values("left")
        middle = (line["left"] + line["right"]) / 2
        panel.plot(middle, line["rate"], color=look.colour, marker=look.marker, markersize=4, linewidth=1.2)
        panel.vlines(middle, line["low"], line["high"], color=look.colour, linewidth=1.2, alpha=0.7)
        panels.hollow(panel, middle, line["rate"], line["examples"])
    panel.set_ylim(-0.02, 1.02)


def _dumbbells(
    table: pd.DataFrame, by: str, looks: Mapping[str, Look], measures: Sequence[str], why: str, bars: pd.DataFrame
) -> Figure:
    """Two conditions of the same models and sets, joined by a line; a panel a measure; floors and ceilings as bars."""
    if table.empty:
        return theme.message(why)
    keys = list(dict.fromkeys(zip(table["corpus"], table["model"], strict=True)))
    names = [f"{model} · {nli_looks.corpus_label(corpus)}" for corpus, model in keys]
    known = {**nli_looks.looks("floors"), **nli_looks.looks("ceilings")}
    beside = {name: look for name, look in known.items() if name in set(bars["predictor"])}
    with theme.style():
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
            panel.set_title(f"{nli_looks.measure(name, 'mathtext')}  {nli_looks.measure(name, 'words')}")
            panel.set(xlim=(-0.03, 1.03), xlabel="share")
            _rows(panel, names)
        panels.legend(figure, [*looks.values(), *beside.values()], columns=3)
    return figure


def _corpus_axis(panel: Axes, corpora: Sequence[str]) -> None:
    _rows(panel, list(map(nli_looks.corpus_label, corpora)))


def _rows(panel: Axes, names: Sequence[str]) -> None:
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    for edge in range(1, len(names)):
        panel.axhline(edge - 0.5, color="#EDEDED", linewidth=0.8)
