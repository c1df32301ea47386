"""Tables of the word-order study, styled: Tables 1 to 6 and Figure 3 of the paper, and the paired tests.

Each takes a table of `nbkit.studies.word_order` and returns a pandas Styler; its ``data`` is what a CSV copy
holds. What they say is data (``tables.yaml``). A run without models gives a table that says so.
"""

from __future__ import annotations

from collections.abc import Hashable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import panels, styles, theme
from nbkit.languages import in_order
from nbkit.measure.bleu import BleuAsCoded
from nbkit.models import label as model_label
from nbkit.perturb import CONTROL, PERTURBATIONS, label
from nbkit.studies import page
from nbkit.studies.word_order.figures import of_known
from nbkit.studies.word_order.tables import PUBLISHED

if TYPE_CHECKING:
    from nbkit.studies.word_order import WordOrderParams

#: Below this corrected p a difference between two models is counted as one.
SIGNIFICANT = 0.05

_SCORES = {"beta1": "β₁ robustness", "beta2": "β₂ faithfulness"}
_TEXTS = {
    "source": "source",
    "perturbed_source": "perturbed",
    "reference": "reference",
    "perturbed_reference": "reference, perturbed alike",
    "hypothesis": "translation",
    "perturbed_hypothesis": "translation of the perturbed",
}
_ORDERS = {"perturbation": panels.in_paper_order, "language": in_order}


def _perturbation(name: str) -> str:
    return label(name) if name == CONTROL or name in PERTURBATIONS else name


def _sentence(row: dict[Hashable, Any]) -> str:
    """All texts of a row, one below the other, what moved marked."""
    texts = {name: escape(row[name]) for name in _TEXTS if name in row}
    if "moved" in row:
        texts["perturbed_source"] = styles.marked(row["perturbed_source"], row["moved"])
    return "<br>".join(
        f'<span style="color: #586374">{_TEXTS[name]}:</span> {styles.isolated(text)}' for name, text in texts.items()
    )


#: The study's tables and the paper's.
TABLES = page.Sheets(
    Path(__file__).with_name("tables.yaml"),
    PUBLISHED,
    names={
        **dict.fromkeys(["perturbation", "perturbation_a", "perturbation_b"], _perturbation),
        "metric": theme.metric_label,
        "score": lambda score: _SCORES.get(score, score),
    },
    texts={
        "sentence": _sentence,
        "text": lambda row: styles.isolated(styles.marked(row["perturbed"], row["moved"])),
    },
    heads={"model": model_label},
)
show = TABLES.show


def signatures(params: WordOrderParams) -> dict[str, str]:
    """Each metric's settings by language, languages of one setting together."""
    found: dict[str, list[str]] = {}
    for metric in params.kappas():
        for language in (params.source, *params.languages):
            found.setdefault(metric.signature(language), []).append(language)
    return {f"{signature.partition('|')[0]} ({', '.join(langs)})": signature for signature, langs in found.items()}


def kappa_signature(params: WordOrderParams) -> str:
    """The settings of the metric that the main figures use, for captions; one for each way of cutting words."""
    kappa = params.kappas()[params.metrics.index(params.kappa)]
    return " and ".join(dict.fromkeys(kappa.signature(language) for language in params.languages))


def footer(params: WordOrderParams) -> provenance.Footer:
    """Where the page's results come from: parameters, settings of metrics, models, versions, device."""

    def key(name: str) -> list[Any]:
        return [params.model_key(language, name) for language in params.languages]

    pairs = [(params.source, language) for language in params.languages]
    shown = {**params.model_dump(), "perturbations": params.perturbations or "all"}
    return page.footer(params, signatures(params), params.models, key, pairs=pairs, shown=shown)


# ----------------------------------------------------------------------------
# What a run finds.


def table1(counts: pd.DataFrame) -> Styler:
    """N, the pairs perturbed on both sides, by perturbation and language (Table 1); the last row: pairs read.

    counts: `word_order.counts`.
    """
    totals = counts.groupby("language", as_index=False)["total"].first().assign(perturbation="pairs read")
    wide = wide_table(counts, "perturbation", "language", "n")
    total = styles.wide(totals, "perturbation", "language", "total", list(wide)[1:])
    return show("table1", pd.concat([wide, total], ignore_index=True))


@of_known("beta", empty=styles.empty)
def table2(rows: pd.DataFrame, metric: str = "bleu", signature: str = "") -> Styler:
    """β with its 95% interval, by language and model, the best of a row in bold (Table 2).

    rows: `word_order.quality`. signature: the metric's settings, for the caption.
    """
    wide = wide_table(rows.assign(cell=styles.cells(rows, "beta", ["low", "high"])), "language", "model", "cell")
    n = rows.groupby("language")["n"].max()
    return show(
        "table2",
        wide.fillna(styles.NOTHING).join(n, on="language"),
        best=styles.best(wide_table(rows, "language", "model", "beta").drop(columns="language")),
        headings=_model_headings(wide),
        kappa=_kappa(metric, signature),
    )


def examples(table: pd.DataFrame) -> Styler:
    """What each perturbation does to a sentence, what moved marked (Figure 3).

    table: `word_order.examples`.
    """
    order = {name: i for i, name in enumerate(panels.in_paper_order(table["perturbation"]), start=1)}
    plain = table.drop_duplicates(["language", "side", "pair"])
    unmoved: list[Any] = [()] * len(plain)
    plain = plain.assign(perturbation="unperturbed", perturbed=plain["text"], moved=unmoved)
    rows = pd.concat([plain, table]).assign(at=lambda each: each["perturbation"].map(order).fillna(0))
    rank = {code: i for i, code in enumerate(in_order(table["language"]))}
    by = ["language", "side", "pair", "at"]  # source comes before target
    return show("examples", rows.sort_values(by, key=lambda own: own.map(rank) if own.name == "language" else own))


def sentences(table: pd.DataFrame, caption: str) -> Styler:
    """Sentences with their translations, plain and perturbed, and scores (Tables 4 and 5).

    table: `word_order.flip_samples` or `word_order.samples`, in which what moved is marked, or the paper's own
    samples, whose orders are not known.
    """
    if table.empty:
        return TABLES.empty(TABLES.why("sentences"), caption)
    return show("sentences", table, caption=caption)


@of_known("beta1", empty=styles.empty)
def perturbation_scores(rows: pd.DataFrame, metric: str = "bleu", signature: str = "") -> Styler:
    """β₁, β₂ and their difference with intervals, one row per perturbation (and language, model, spacing)."""
    rank = {name: i for i, name in enumerate(panels.in_paper_order(rows["perturbation"]))}
    rows = rows.sort_values("perturbation", key=lambda names: names.map(rank), kind="stable")
    cells = styles.cells(rows, "chance", ["chance_low", "chance_high"], ".2f")
    parts = zip(cells, rows["chance_n"], rows["n"], strict=True)
    chance = [f"{cell} (N {n:.0f})" if n < most else cell for cell, n, most in parts]
    return show("scores", rows.assign(chance=chance), kappa=_kappa(metric, signature))


@of_known("rho", empty=styles.empty)
def correlation_table(rows: pd.DataFrame, metric: str, what: str) -> Styler:
    """Spearman's ρ with interval and p, one row per language, model and score.

    rows: `word_order.correlations` or `word_order.length_correlations`; what: what is correlated with.
    """
    return show("correlations", rows, what=what, kappa=_kappa(metric))


def model_tests(tests: pd.DataFrame, metric: str = "bleu", min_n: int = 1) -> Styler:
    """Two models compared over all perturbations: in how many of the paired tests one is above the other.

    tests: `word_order.model_tests` (Wilcoxon, Holm-corrected); its full table is saved as a file. min_n: the run's;
    tests of fewer pairs are not counted here.
    """
    rows = tests[(tests["metric"] == metric) & (tests["n"] >= min_n)]
    significant = rows["p_corrected"] < SIGNIFICANT
    rows = rows.assign(a=significant & (rows["difference"] > 0), b=significant & (rows["difference"] < 0), tests=1)
    how = {"difference": "mean", "effect": "mean", "a": "sum", "b": "sum", "tests": "sum"}
    groups = rows.groupby(["language", "score", "model_a", "model_b"], sort=False, as_index=False)
    return show("model_tests", groups.agg(how), significant=str(SIGNIFICANT), kappa=_kappa(metric))


def below_min_n(small: pd.DataFrame, min_n: int) -> HTML:
    """Which perturbations stay out of means over perturbations, each with its N. small: `word_order.below_min_n`."""
    if small.empty:
        return styles.note(f"Every perturbation applies to {min_n} sentence pairs or more, and counts in the means.")
    named = ", ".join(
        f"{label(name)} ({language}, N = {n})"
        for language, name, n in small[["language", "perturbation", "n"]].itertuples(index=False)
    )
    return styles.note(
        f"Not in the means over perturbations, as they apply to fewer than {min_n} sentence pairs (min_n): {named}."
    )


@of_known("control", empty=styles.empty)
def spacing_table(rows: pd.DataFrame, metric: str = "bleu", signature: str = "") -> Styler:
    """β and the control, the sentence re-joined from its own tokens: what token spacing alone costs.

    rows: `word_order.spacing_effect`.
    """
    return show("spacing", rows.assign(difference=rows["control"] - rows["beta"]), kappa=_kappa(metric, signature))


def carried_table(rows: pd.DataFrame) -> Styler:
    """Carried displacement of each language, model and perturbation. rows: `word_order.carried`."""
    chance = [f"{value:.2f}" if value == value else "–" for value in rows["chance"]]
    return show("carried", rows.assign(chance=chance))


def left_out(table: pd.DataFrame) -> Styler:
    """What was not used and why, without the rows that count nothing. table: `word_order.left_out`."""
    return show("left_out", table[table["n"] > 0])


@of_known("kappa", panels.NO_ROWS, empty=styles.empty, side="side")
def similarity(rows: pd.DataFrame, metric: str = "bleu", side: str = "source") -> Styler:
    """The cells of Figure 5 or 14 with their intervals: a row each two perturbations, a column each language.

    rows: `word_order.similarity`, or `word_order.similarity_of_languages`, which has no languages.
    """
    keys = ["perturbation_a", "perturbation_b"]
    rank = {name: i for i, name in enumerate(panels.in_paper_order([*rows[keys[0]], *rows[keys[1]]]))}
    rows = rows[rows[keys[0]].map(rank) < rows[keys[1]].map(rank)]
    rows = rows.sort_values(keys, key=lambda names: names.map(rank), kind="stable")
    kappa = _kappa(metric)
    if "language" not in rows:
        shown = rows[[*keys, "kappa", "n"]].assign(kappa=styles.cells(rows, "kappa", ["low", "high"], ".2f"))
        pooled = f"{kappa}. N: sentence pairs of all languages together; a source of several languages counts once "
        return show("similarity", shown, side=side, kappa=f"{pooled}for each")
    cells = rows.assign(cell=styles.cells(rows, "kappa", ["low", "high"], ".2f", n="n"))
    wide = styles.wide(cells, keys, "language", "cell", in_order(rows["language"])).fillna(styles.NOTHING)
    return show("similarity", wide, side=side, kappa=kappa)


def flip_table(flips: pd.DataFrame, rows: str, columns: str, metric: str = "bleu", *, inferred: bool = False) -> Styler:
    """Flips with their share of N and its interval, the model with the most of a row in bold (Tables 3 and 6).

    flips: `word_order.flips` by *rows* and *columns*: "language" and "model" in Table 3, "perturbation" and "language"
    or "model" in Table 6. inferred: by the criterion β ≤ ½ < β₁ that is inferred from the printed samples, not β₁ > β.
    """
    own, criterion = flips[flips["metric"] == metric], "β₁ > β"
    if own.empty:
        return TABLES.empty(panels.why_empty(flips, metric, panels.NO_MODEL))
    if inferred:
        criterion = "β ≤ ½ < β₁, inferred from the 75 printed samples"
        names = {"inferred": "flips", **{f"inferred_{name}": name for name in ("share", "low", "high")}}
        own = own.drop(columns=list(names.values())).rename(columns=names)
    cells = [
        f"{count:,} ({share:.1%} [{100 * low:.1f}, {100 * high:.1f}]){styles.dagger(n)}"
        for count, share, low, high, n in own[["flips", "share", "low", "high", "n"]].itertuples(index=False)
    ]
    numbers = wide_table(own, rows, columns, "flips").drop(columns=rows)
    wide = wide_table(own.assign(cell=cells), rows, columns, "cell").fillna(styles.NOTHING)
    if columns != "model":  # languages differ in their sentences: which has most says nothing
        return show("flips", wide, criterion=criterion, kappa=_kappa(metric))
    best, headings = styles.best(numbers) & (numbers > 0), _model_headings(wide)
    return show("flips", wide, best=best, headings=headings, criterion=criterion, kappa=_kappa(metric))


def wide_table(table: pd.DataFrame, rows: str, columns: str, value: str) -> pd.DataFrame:
    """*table* as *rows* × *columns*, both in the order in which figures show them."""
    if order := _ORDERS.get(rows):
        rank = {name: i for i, name in enumerate(order(table[rows]))}
        table = table.sort_values(rows, key=lambda names: names.map(rank), kind="stable")
    return styles.wide(table, rows, columns, value, _ORDERS[columns](table[columns]) if columns in _ORDERS else None)


def _kappa(metric: str, signature: str = "") -> str:
    return f"{theme.metric_label(metric)}, {signature}" if signature else theme.metric_label(metric)


def _model_headings(wide: pd.DataFrame) -> dict[str, str]:
    return {name: look.label for name, look in theme.model_looks(map(str, wide.columns[1:])).items()}


# ----------------------------------------------------------------------------
# Beside the paper, where the shares of its numbers have to be worked out.


def quality_beside(quality: pd.DataFrame, as_coded: pd.DataFrame) -> Styler:
    """Table 2 three ways: as printed, ours as the paper defines β, ours as its research code computes it.

    quality: `word_order.quality`. as_coded: `word_order.quality_as_coded`. Differences are ours − paper. Models that
    the paper did not test have no printed value, but the other two all the same.
    """
    on = ["language", "model", "metric"]
    rows = quality[quality["metric"] == "bleu"]
    if rows.empty:
        return TABLES.beside(quality, "table2", on)
    coded = as_coded[["language", "model", "beta"]].rename(columns={"beta": "coded"})
    table = PUBLISHED.beside(rows, "table2", on).merge(coded, on=["language", "model"], how="left")
    signature = BleuAsCoded().signature(str(rows["language"].iloc[0]))
    table = table.assign(coded_difference=table["coded"] - table["published"])
    return show("three_ways", table, title=PUBLISHED.title("table2"), signature=signature)


def counts_beside(counts: pd.DataFrame) -> Styler:
    """N of this run beside the paper's (Table 1), compared as shares, because the sets differ in size."""
    on = ["language", "perturbation"]
    known = PUBLISHED.beside(counts, "table1", on).query("published.notna()")
    if known.empty:
        return TABLES.beside(counts, "table1", on)
    totals = known[on].merge(PUBLISHED.load("table1")[[*on, "total"]], on=on, how="left")["total"]
    theirs, share = known["published"] / totals.to_numpy(), known["n"] / known["total"]
    table = known.assign(share=share, paper_share=theirs, difference=100 * (share - theirs))
    return show("counts_beside", table, title=PUBLISHED.title("table1"))


def flips_beside(flips: pd.DataFrame, artefact: str) -> Styler:
    """Flips of this run beside the paper's, compared as shares of N, because the sets differ in size.

    flips: `word_order.flips`, by what the table *artefact* ("table3", "table6_by_language", "table6_by_model")
    distinguishes. The paper prints numbers of flips; its share is of the perturbed sentences of its Table 1, under
    each of its models where the table adds them up.
    """
    keys = [name for name in ("language", "model", "perturbation") if name in PUBLISHED.load(artefact)]
    known = PUBLISHED.beside(flips, artefact, [*keys, "metric"]).query("published.notna()")
    if known.empty:
        return TABLES.beside(flips, artefact, [*keys, "metric"])
    counted = [name for name in keys if name != "model"]
    n = PUBLISHED.load("table1").groupby(counted, as_index=False)["n"].sum()
    theirs = known["published"] / known[counted].merge(n, on=counted, how="left")["n"].to_numpy()
    if "model" not in keys:
        theirs = theirs / PUBLISHED.load("table3")["model"].nunique()
    table = known.assign(
        paper_share=theirs,
        difference=100 * (known["share"] - theirs),
        inferred_difference=100 * (known["inferred_share"] - theirs),
    )
    return show("flips_beside", table, title=PUBLISHED.title(artefact))
