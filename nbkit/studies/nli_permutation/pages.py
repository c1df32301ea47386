"""What several NLI pages show alike: names, figures of `nbkit.studies.nli_permutation.acceptance`'s tables, tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look, looks, ordered
from nbkit.measure.acceptance import CORRECT, FLIPPED
from nbkit.measure.statistics import FEW
from nbkit.studies.nli_permutation.acceptance import AVERAGES, OF, control
from nbkit.studies.notebook import show, with_intervals
from nbkit.studies.study import Study

#: Measures as tables call them, in the paper's order; ^ and _ raise and lower an index.
SYMBOLS = {"accuracy": "𝒜", "omega_max": "Ω_max", "p_correct": "𝒫^c", "p_correct_coded": "𝒫^c as coded",
           "p_flipped": "𝒫^f", "omega_rand": "Ω_rand", "acceptance": "M_cor", "entropy": "H permuted",
           "control_entropy": "H original order"}  # fmt: skip
#: As figures call them.
TITLES = {
    "accuracy": r"$\mathcal{A}$", "omega_max": r"$\Omega_{\max}$", "p_correct": r"$\mathcal{P}^c$",
    "p_flipped": r"$\mathcal{P}^f$", "omega_rand": r"$\Omega_{rand}$", "acceptance": "$M_{cor}$",
}  # fmt: skip
#: What is counted, below each panel.
WORDS = {
    "accuracy": "originals right\n(share)", "omega_max": "pairs with one\naccepted (share)",
    "p_correct": "accepted of\ncorrect pairs", "p_flipped": "accepted of\nflipped pairs",
    "omega_rand": "pairs with over\n1/3 accepted", "acceptance": "accepted of all\npairs (share)",
}  # fmt: skip
GROUPS = {
    CORRECT: Look("originally correct ($D^c$)", "#0072B2", "o"),
    FLIPPED: Look("flipped ($D^f$)", "#D55E00", "s"),
}
#: Predictors that do not read word order, and the pair in its own order.
FLOORS = {
    "constant": Look("always the most frequent label", "#3A3A3A", "|"),
    "chance": Look("a label at random", "#929292", "|"),
    "bag of words": Look("a bag of words as accurate as the model", "#7A4B00", "|"),
    "control": Look("the control: original order, re-joined", "#009E73", "|"),
}
#: Said in place of a table or figure of a run without models, or without parts of speech.
NO_MODEL = (
    "Nothing was classified: this run has no model (parameter models), or no pair with enough permutations (parameter "
    "permutations)."
)
NO_TAGS = (
    "This run has no parts of speech: mini-trees need them in the test sets and in the training corpus (parameter "
    "parsers: a spaCy pipeline)."
)
#: The largest entropy of three labels, in nats.
UNDECIDED = math.log(3)
#: Bins of fewer pairs are not drawn: their shares are accidents.
FEW_PAIRS = 5
DASHED: dict[str, Any] = {"color": "#8A8A8A", "linewidth": 1, "linestyle": (0, (4, 3)), "zorder": 1}


def corpus_label(corpus: str) -> str:
    """A set as figures call it: the name of a file without its folders.

    >>> corpus_label("snli:dev"), corpus_label("data/mine.tsv?label=gold")
    ('snli:dev', 'mine.tsv')
    """
    return corpus if "/" not in corpus and "?" not in corpus else Path(corpus.partition("?")[0]).name


# ----------------------------------------------------------------------------
# Figures.


def results_figure(results: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """The values of Tables 2 to 4, a panel a measure, a row a set; bars: predictors that do not read word order."""
    rows = results[~results["corpus"].isin(AVERAGES) & results["measure"].isin(set(floors["measure"]))]
    own = looks("model", ordered(rows["model"]))
    return _forest(rows, "corpus", "model", own, floors, ordered(rows["measure"]), NO_MODEL)


_ENDS = ("value", "low", "high")


def paired_figure(
    table: pd.DataFrame, by: str, named: Mapping[str, Look], bars: pd.DataFrame, measures: Sequence[str], empty: str
) -> Figure:  # fmt: skip
    """Two conditions (*by*) of the same models and sets side by side, a panel a measure; floors as *bars*."""
    own, floors = (
        each.assign(row=[f"{row.model} · {corpus_label(str(row.corpus))}" for row in each.itertuples()])
        for each in (table, bars)
    )
    return _forest(own, "row", by, named, floors, measures, empty)


def _forest(
    table: pd.DataFrame, y: str, hue: str, named: Mapping[str, Look], bars: pd.DataFrame, measures: Sequence[str],
    empty: str,
) -> Figure:  # fmt: skip
    """A row for each value of *y*, in it a mark for each of *hue*, a panel a measure; a bar stands beside its mark."""
    table = table[table["measure"].isin(measures) & table["value"].notna()]
    if table.empty:
        return theme.message(empty)
    rows, offsets = ordered(table[y]), dict(zip(named, panels.dodge(len(named)), strict=True))

    def heights(own: pd.DataFrame) -> np.ndarray:
        beside = own[hue].map(offsets).astype(float).fillna(0) if hue in own else 0.0
        return np.asarray(own[y].map(rows.index).astype(float) + beside)

    with theme.style():
        known = [*panels.few(named.values()), *(FLOORS[name] for name in FLOORS if name in set(bars["predictor"]))]
        height = 1.2 + 0.2 * -(-len(known) // 3) + len(rows) * max(0.3, 0.14 * len(named) + 0.12)
        figure, axes = panels.grid(1, len(measures), theme.WIDTH, height, sharey=True)
        for name, axis in zip(measures, axes[0], strict=True):
            here = bars[(bars["measure"] == name) & bars["value"].notna() & bars[y].isin(rows)]
            for predictor, own in here.groupby("predictor"):
                own = own if predictor == "bag of words" else own.drop(columns=hue, errors="ignore").drop_duplicates()
                panels.ticks(axis, own["value"], heights(own), FLOORS[str(predictor)])
            for value, look in reversed(list(named.items())):  # the first lies on top
                own = table[(table[hue] == value) & (table["measure"] == name)]
                panels.intervals(axis, own, heights(own), look, *_ENDS)
            axis.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1), title=TITLES[name], xlabel=WORDS[name])
            axis.set_xticklabels(["0", "0.5", "1"])
            labels = [corpus_label(each) if y == "corpus" else each for each in rows]
            panels.rows_axis(axis, list(map(theme.short_name, labels)), named.values())
        panels.legend(figure, known)
    return figure


def binned_figure(
    table: pd.DataFrame, across: str, panel: str = "", titles: Mapping[Any, str] | None = None, *, chance: bool = True,
    at: float | None = None, empty: str = NO_MODEL,
) -> Figure:  # fmt: skip
    """The rates of `acceptance_by` in each bin, one line per model, side by side; bins of few pairs are skipped.

    at: a value to compare with, on the horizontal axis.
    """
    drawn = table[table["examples"] >= FEW_PAIRS] if len(table) else table
    if drawn.empty:
        return theme.message(f"No bin has {FEW_PAIRS} pairs." if len(table) else empty)
    own = looks("model", ordered(table["model"]))
    shown = {
        value: title for value, title in (titles or {"": ""}).items() if not panel or (drawn[panel] == value).any()
    }
    with theme.style():
        width = theme.WIDTH if len(shown) > 1 else theme.WIDTH * 0.75
        figure, axes = panels.grid(1, len(shown), width, 3.4, sharex=True, sharey=True)
        for (value, title), axis in zip(shown.items(), axes[0], strict=True):
            here = drawn[drawn[panel] == value] if panel else drawn
            if chance:
                axis.axhline(1 / 3, **DASHED)
            if at is not None:
                axis.axvline(at, **DASHED)
            for (model, look), shift in zip(own.items(), panels.dodge(len(own)), strict=True):
                line = here[here["model"] == model].rename(columns={"examples": "n"})
                x = line["left"] + (0.5 + 0.6 * shift) * (line["right"] - line["left"])
                panels.line(axis, line, x, look, "rate", "low", "high")
            axis.set(ylim=(-0.02, 1.02), xlabel=across, title=title)
        axes[0, 0].set_ylabel("permutations accepted (share)")
        panels.legend(figure, own.values())
    return figure


def entropy_figure(pairs: pd.DataFrame) -> Figure:
    """How sure the models are of the permutations that they accept (Figure 1), one panel per model.

    A box holds the middle half of the pairs, its line is the median; whiskers reach to the last pair within 1.5 box
    lengths. A bar is the median of the pairs in their own order, which a bag of words keeps on every permutation.
    """
    import seaborn as sns

    boxes = pairs[pairs["group"].isin(GROUPS) & pairs["accepted_entropy"].notna()]
    if boxes.empty:
        return theme.message(NO_MODEL if pairs.empty else "No permutation of this run was accepted.")
    models, corpora = ordered(boxes["model"]), ordered(boxes["corpus"])
    per_line = min(len(models), 3)
    lines = -(-len(models) // per_line)
    with theme.style():
        height = 0.9 + lines * (0.7 + 0.45 * len(corpora))
        figure, axes = panels.several(len(models), per_line, theme.WIDTH, height, sharex=True, sharey=True)
        for place, (model, axis) in enumerate(zip(models, axes, strict=True)):
            sns.boxplot(
                boxes[boxes["model"] == model], x="accepted_entropy", y="corpus", hue="group", order=corpora,
                hue_order=list(GROUPS), palette=[look.colour for look in GROUPS.values()], legend=False, ax=axis,
                fliersize=1.5, linewidth=0.8, width=0.7,
            )  # fmt: skip
            axis.axvline(UNDECIDED, **DASHED)
            medians = pairs[pairs["model"] == model].groupby("corpus")["control_entropy"].median().reindex(corpora)
            rows, colour = np.arange(len(corpora)), FLOORS["control"].colour
            axis.vlines(medians, rows - 0.47, rows + 0.47, color=colour, linewidth=2, zorder=5)
            is_lowest = place + per_line >= len(models)
            axis.set(title=theme.short_name(model, 26), ylabel="", xlabel="entropy (nats)" if is_lowest else "")
            axis.tick_params(labelbottom=is_lowest)
            axis.set(xlim=(-0.03, UNDECIDED + 0.05))
            axis.set_yticks(rows, list(map(corpus_label, corpora)))
        patches = [Look(look.label, look.colour, "s") for look in GROUPS.values()]
        panels.legend(figure, [*patches, FLOORS["control"], Look("undecided", "#8A8A8A", "", "--")])
    return figure


def omega_figure(curve: pd.DataFrame, floors: pd.DataFrame) -> Figure:
    """Ω_x at every threshold x (Figure 7), a panel a set; the dashed line stands at x = 1/3.

    Bands are 95 % intervals. Dotted: a bag of words as accurate as the model, which accepts all permutations of a pair
    or none.
    """
    if curve.empty:
        return theme.message(NO_MODEL)
    corpora, own = ordered(curve["corpus"]), looks("model", ordered(curve["model"]))
    bags = floors[(floors["predictor"] == "bag of words") & (floors["measure"] == "omega_max")]
    accuracy = {(row["model"], row["corpus"]): row["value"] for row in bags.to_dict("records")}
    per_line = min(len(corpora), 4)
    lines = -(-len(corpora) // per_line)
    last = curve.groupby(OF, sort=False).tail(1).assign(threshold=1.0)  # a share above it is 1: the line goes on to 1
    curve = pd.concat([curve, last])
    with theme.style():
        width = min(theme.WIDTH, 2.0 + 3.2 * per_line)
        figure, axes = panels.several(len(corpora), per_line, width, 0.9 + 2.4 * lines, sharex=True, sharey=True)
        for place, (corpus, axis) in enumerate(zip(corpora, axes, strict=True)):
            here = curve[curve["corpus"] == corpus]
            axis.axvline(1 / 3, **DASHED)
            for model, look in own.items():
                line = here[here["model"] == model]
                axis.axhline(accuracy.get((model, corpus), np.nan), color=look.colour, linewidth=1, linestyle=":")
                axis.step(line["threshold"], line["omega"], where="post", color=look.colour, linewidth=1.4)
                low, high = line["low"], line["high"]
                axis.fill_between(line["threshold"], low, high, step="post", color=look.colour, alpha=0.15, linewidth=0)
            if few := here["n"].min() < FEW:
                panels.few_note(axis)
            axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=(0, 0.5, 1), xticklabels=("0", "0.5", "1"))
            axis.set_title(theme.short_name(corpus_label(corpus), 72 // per_line) + styles.DAGGER * bool(few))
            axis.set_xlabel("threshold $x$" if place + per_line >= len(corpora) else "")
            axis.tick_params(labelbottom=True)
        for axis in axes[::per_line]:
            axis.set_ylabel(r"$\Omega_x$ (share of pairs)")
        lines_of = [Look(look.label, look.colour, "", "-") for look in own.values()]
        panels.legend(figure, [*lines_of, Look("a bag of words as accurate", "#555555", "", ":")])
    return figure


# ----------------------------------------------------------------------------
# Tables.


def show_results(results: pd.DataFrame, name: str) -> None:
    """𝒜 to Ω_rand by model and set (Tables 2 to 4), the best model of a set in bold; folded, with their intervals."""
    if results.empty:
        return show(results, caption="Permutation acceptance", empty=NO_MODEL)
    measured = [measure for measure in SYMBOLS if measure in set(results["measure"])]
    refused = results[results["measure"] == "refused"]
    wide, n = (styles.wide(results, OF, "measure", each, measured) for each in ("value", "n"))
    own = wide[measured].where(~wide["corpus"].isin(AVERAGES))
    best = own.groupby(wide["corpus"], group_keys=False)[measured].apply(lambda each: styles.best(each, "column"))
    named = zip(refused["model"], map(corpus_label, refused["corpus"]), refused["value"], strict=True)
    shares = [f"{model} ({corpus}): {share:.1%}" for model, corpus, share in named]
    bold = "Bold: the highest of all models on a set. " if best.any(axis=None) else ""
    declined = f"Permutations that a model refused to label are not accepted: {', '.join(shares)}. " if shares else ""
    sets = "; of means, sets" if wide["corpus"].isin(AVERAGES).any() else ""
    caption = (
        f"Permutation acceptance. {bold}{declined}N: pairs{sets}. The paper prints 𝒫^c as coded: a mean over the pairs "
        "of D^c with at least one accepted permutation"
    )
    table = wide.assign(n=n["accuracy"], n_flipped=n["p_flipped"])
    show(table, name, caption=caption, best=best.reindex(wide.index), headings={**SYMBOLS, "n_flipped": "N of 𝒫^f"})
    # Values with three digits, as the paper prints them, and intervals with two: so many of them fit the page.
    known = results[results["low"].notna() & (results["measure"] != "refused")]
    ends = known[["value", "low", "high", "n"]].itertuples(index=False)
    cells = [f"{value:.3f} [{low:.2f}, {high:.2f}]{styles.dagger(n)}" for value, low, high, n in ends]
    intervals = styles.wide(known.assign(cell=cells), OF, "measure", "cell", measured).fillna(styles.NOTHING)
    caption = "Permutation acceptance with 95% intervals over pairs"
    show(intervals, caption=caption, headings=SYMBOLS, fold="With intervals")


def show_control(pairs: pd.DataFrame, name: str) -> None:
    """Show what the control costs, by model and set: the pair re-joined from its words in their original order."""
    show(
        with_intervals(control(pairs), "difference"), name, empty=NO_MODEL,
        headings={"accuracy": "𝒜 as written", "control": "𝒜 of the control", "difference": "control − as written"},
        caption="The control: the pair re-joined from its words in their original order",
    )  # fmt: skip


def beside_results(study: Study, results: pd.DataFrame) -> list[str]:
    """Show the run's numbers beside Tables 2 to 4, 𝒫^c also as coded; the names of the tables that have any of them."""
    on, found = [*OF, "measure"], []
    coded = results.loc[results["measure"] == "p_correct_coded", [*OF, "value"]].rename(columns={"value": "coded"})
    ours = results.merge(coded.assign(measure="p_correct"), on=on, how="left")
    for name in ("table2", "table3", "table4") if len(results) else ():
        table = study.printed.beside(ours, name, on)
        if len(known := table[table["published"].notna()]):
            known = known.assign(
                coded_difference=known["coded"] - known["published"], measure=known["measure"].map(SYMBOLS)
            )
            columns = [*on, "value", "printed", "difference", "coded", "coded_difference", "note"]
            columns = columns if known["note"].ne("").any() else columns[:-1]
            heads = {"value": "this run, as defined", "difference": "as defined − paper",
                     "coded": "this run, as coded", "coded_difference": "as coded − paper"}  # fmt: skip
            show(known[columns], caption=study.printed.title(name), headings=heads)
            found.append(name)
    return found


def show_examples(examples: pd.DataFrame, name: str = "", fold: str = "") -> None:
    """Originals and accepted permutations, one below the other (Table 1)."""
    sides = {"original": ["premise", "hypothesis"], "permuted": ["permuted_premise", "permuted_hypothesis"]}
    keys = [*styles.varying(examples, OF), "label"]
    rows = [
        (*(row[key] for key in keys), order, *(row[side] for side in own))
        for row in examples.to_dict("records")
        for order, own in sides.items()
    ]
    table = pd.DataFrame(rows, columns=[*keys, "order", "premise", "hypothesis"])
    show(
        table, name, text=True, data=examples, fold=fold,
        caption="Original and permuted pairs that both get the gold label",
        headings={"label": "gold label and answer", "hypothesis": "hypothesis"},
        empty="No pair of this run has an accepted permutation.",
    )  # fmt: skip


def tokens(study_params: Any) -> dict[str, str]:
    """What cut the texts of each set into tokens, for the footer of a page."""
    corpora = dict.fromkeys([*study_params.corpora, study_params.training_corpus])
    return {f"tokens of {corpus_label(corpus)}": study_params.tokenizer(corpus)[0] for corpus in corpora}
