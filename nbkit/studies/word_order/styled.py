"""Tables of the word-order study, styled: Tables 1 to 6 and Figure 3 of the paper, and the paired tests.

Each takes a table of `nbkit.studies.word_order` and returns a pandas Styler; its ``data`` is what a CSV copy
holds. A run without models gives a table that says so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import panels, styles, theme
from nbkit.languages import in_order
from nbkit.measure.bleu import BleuAsCoded
from nbkit.perturb import label
from nbkit.studies import page, published
from nbkit.studies.word_order.figures import of_known

if TYPE_CHECKING:
    from nbkit.studies.word_order import WordOrderParams

#: Below this corrected p a difference between two models is counted as one.
SIGNIFICANT = 0.05

_SCORES = {"beta1": "β₁ robustness", "beta2": "β₂ faithfulness"}
_NO_REPLICATION = "Another corpus, and where named otherwise other models: a comparison, not a replication."


def table1(counts: pd.DataFrame) -> Styler:
    """N, the pairs perturbed on both sides, by perturbation and language (Table 1); the last row: pairs read.

    counts: `word_order.counts`.
    """
    languages = in_order(counts["language"])
    wide = wide_table(counts, "perturbation", "language", "n", languages)
    totals = counts.groupby("language")["total"].first().reindex(languages)
    wide.loc[len(wide)] = ["pairs read", *totals]
    numbers = wide.set_index("perturbation").astype(int).reset_index()
    return styles.styled(
        numbers, caption="N: pairs of which both sides can be perturbed", headings=_headings(languages, "language")
    )


@of_known("beta", empty=styles.empty)
def table2(rows: pd.DataFrame, metric: str = "bleu", signature: str = "") -> Styler:
    """β with its 95% interval, by language and model, the best of a row in bold (Table 2).

    rows: `word_order.quality`. signature: the metric's settings, for the caption.
    """
    models, languages = list(dict.fromkeys(rows["model"])), in_order(rows["language"])
    wide = wide_table(rows.assign(cell=_cells(rows, "beta", "")), "language", "model", "cell", models)
    n = rows.groupby("language")["n"].max().reindex(languages)
    return styles.styled(
        wide.fillna(styles.NOTHING).assign(n=n.to_numpy()),
        caption=_caption("β of the unperturbed translations with 95% interval", metric, signature),
        best=_best(wide_table(rows, "language", "model", "beta", models)[models]),
        headings=_headings(models, "model"),
    )


def examples(table: pd.DataFrame) -> Styler:
    """What each perturbation does to a sentence, what moved marked (Figure 3).

    table: `word_order.examples`.
    """
    if table.empty:
        return styles.empty(panels.NO_ROWS)
    order = panels.in_paper_order(table["perturbation"])
    rows = []
    for language in in_order(table["language"]):
        for side in ("source", "target"):
            own = table[(table["language"] == language) & (table["side"] == side)]
            for _, group in own.groupby("pair", sort=True):
                rows.append((language, side, "unperturbed", styles.isolated(escape(group["text"].iloc[0]))))
                group = group.set_index("perturbation").reindex(
                    [name for name in order if name in set(group["perturbation"])]
                )
                rows += [
                    (language, side, label(name), styles.isolated(styles.marked(perturbed, moved)))
                    for name, perturbed, moved in zip(group.index, group["perturbed"], group["moved"], strict=True)
                ]
    frame = pd.DataFrame(rows, columns=["language", "side", "perturbation", "text"])
    return _with_html(frame, ["text"], caption="Perturbed sentences; words that moved are marked")


_TEXTS = {
    "source": "source",
    "perturbed_source": "perturbed",
    "reference": "reference",
    "hypothesis": "translation",
    "perturbed_hypothesis": "translation of the perturbed",
}


def sentences(table: pd.DataFrame, caption: str) -> Styler:
    """Sentences with their translations, plain and perturbed, and scores (Tables 4 and 5).

    table: `word_order.flip_samples` or `word_order.samples`, in which what moved is marked, or the paper's own
    samples, whose orders are not known.
    """
    if table.empty:
        return styles.empty("No such sentence in this run.", caption=caption)
    texts = table[[name for name in _TEXTS if name in table]].map(escape)
    if "moved" in table:
        texts["perturbed_source"] = list(map(styles.marked, table["perturbed_source"], table["moved"]))
    lines = [
        "<br>".join(
            f'<span style="color: #586374">{_TEXTS[str(name)]}:</span> {styles.isolated(text)}'
            for name, text in row.items()
        )
        for row in texts.to_dict("records")
    ]
    keys = [
        name for name in ("language", "model", "perturbation") if name == "perturbation" or table[name].nunique() > 1
    ]
    scores = [name for name in ("beta", "beta1", "beta2", "note") if name in table]
    shown = styles.named(table[keys]).assign(sentence=lines, **{name: table[name] for name in scores})
    return _with_html(shown, ["sentence"], caption=caption)


@of_known("beta1", empty=styles.empty)
def perturbation_scores(rows: pd.DataFrame, metric: str = "bleu", signature: str = "") -> Styler:
    """β₁, β₂ and their difference with intervals, one row a perturbation (and language, model, spacing)."""
    keys = [name for name in ("language", "model", "spacing") if rows[name].nunique() > 1]
    scores = ["beta", "beta1", "beta2", "difference", "chance"]
    rank = {name: i for i, name in enumerate(panels.in_paper_order(rows["perturbation"]))}
    rows = rows.sort_values("perturbation", key=lambda names: names.map(rank), kind="stable")
    cells = {score: _cells(rows, score, decimals=2) for score in scores}
    fewer = rows["chance_n"] < rows["n"]
    cells["chance"] = [
        f"{cell} (N {n:.0f})" if less else cell
        for cell, n, less in zip(cells["chance"], rows["chance_n"], fewer, strict=True)
    ]
    return styles.styled(
        styles.named(rows[[*keys, "perturbation", "n"]].assign(**cells)),
        caption=_caption("Means with 95% intervals", metric, signature),
        headings={"difference": "β₁ − β₂", "chance": "chance level of β₂"},
    )


@of_known("rho", empty=styles.empty)
def correlation_table(rows: pd.DataFrame, metric: str, what: str) -> Styler:
    """Spearman's ρ with interval and p, one row a language, model and score.

    rows: `word_order.correlations` or `word_order.length_correlations`; what: what is correlated with.
    """
    return styles.styled(
        rows.drop(columns="metric").assign(score=rows["score"].map(_SCORES)),
        caption=f"Spearman's rank correlation with {what}; 95% interval and p by resampling sentence pairs; κ is "
        f"{theme.metric_label(metric)}",
    )


def model_tests(tests: pd.DataFrame, metric: str = "bleu", min_n: int = 1) -> Styler:
    """Two models compared over all perturbations: in how many of the paired tests one is above the other.

    tests: `word_order.model_tests` (Wilcoxon, Holm-corrected); its full table is kept as a file. min_n: the run's;
    tests of fewer pairs are not counted here.
    """
    rows = tests[(tests["metric"] == metric) & (tests["n"] >= min_n)]
    if rows.empty:
        return styles.empty(
            "Paired tests need two models or more, and perturbations that apply to min_n sentence pairs: add names to "
            "the parameter models, or pairs, or lower the parameter min_n."
        )
    significant = rows["p_corrected"] < SIGNIFICANT
    rows = rows.assign(a=significant & (rows["difference"] > 0), b=significant & (rows["difference"] < 0))
    groups = rows.groupby(["language", "score", "model_a", "model_b"], sort=False)
    table = groups.agg(
        difference=("difference", "mean"),
        effect=("effect", "mean"),
        a=("a", "sum"),
        b=("b", "sum"),
        tests=("a", "size"),
    ).reset_index()
    return styles.styled(
        table.assign(score=table["score"].map(_SCORES)),
        caption=f"Paired tests, one a perturbation; p corrected, significant below {SIGNIFICANT}. κ is "
        f"{theme.metric_label(metric)}. Difference and effect are means over perturbations, A − B. p is exact for at "
        "most 50 pairs without ties, else that of the normal approximation with a continuity correction.",
        headings={"a": "A is higher", "b": "B is higher"},
    )


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
    cells = {score: _cells(rows, score) for score in ("beta", "control")}
    cost = rows["control"] - rows["beta"]
    table = rows[["language", "model", "spacing"]].assign(**cells, difference=cost, n=rows["n"])
    return styles.styled(
        table,
        caption=_caption("The sentence as it is, and re-joined from its own tokens", metric, signature),
        headings={"beta": "β as it is", "control": "control", "difference": "control − β"},
    )


def left_out(table: pd.DataFrame) -> Styler:
    """What was not used and why, without the rows that count nothing. table: `word_order.left_out`."""
    rows = table[table["n"] > 0]
    return styles.styled(rows, caption="Left out of this run") if len(rows) else styles.empty("Nothing was left out.")


@of_known("kappa", panels.NO_ROWS, empty=styles.empty, side="side")
def similarity(rows: pd.DataFrame, metric: str = "bleu", side: str = "source") -> Styler:
    """The cells of Figure 5 or 14 with their intervals: a row each two perturbations, a column each language.

    rows: `word_order.similarity`, or `word_order.similarity_of_languages`, which has no languages.
    """
    names = panels.in_paper_order([*rows["perturbation_a"], *rows["perturbation_b"]])
    rank = {name: i for i, name in enumerate(names)}
    first, second = rows["perturbation_a"].map(rank), rows["perturbation_b"].map(rank)
    rows = rows[first < second].assign(first=first, second=second).sort_values(["first", "second"], kind="stable")
    languages = in_order(rows["language"]) if "language" in rows else []
    cells = [
        styles.with_interval(kappa, low, high, 2, n if languages else None)
        for kappa, low, high, n in rows[["kappa", "low", "high", "n"]].itertuples(index=False)
    ]
    keys = ["perturbation_a", "perturbation_b"]
    if languages:
        wide = rows.assign(cell=cells).pivot(index=["first", "second", *keys], columns="language", values="cell")
        shown = wide.reindex(columns=languages).fillna(styles.NOTHING).reset_index()[[*keys, *languages]]
    else:
        shown = rows[[*keys, "n"]].assign(kappa=cells)[[*keys, "kappa", "n"]]
    pooled = ". N: sentence pairs of all languages together; a source of several languages counts once for each"
    counted = "" if languages else pooled
    return styles.styled(
        styles.named(shown).rename_axis(columns=None),
        caption=f"Mean κ of two perturbed forms of one {side} text with 95% interval; κ is "
        f"{theme.metric_label(metric)}{counted}",
        headings={
            "perturbation_a": "perturbation",
            "perturbation_b": "and",
            "kappa": "κ",
            **_headings(languages, "language"),
        },
    )


def flip_table(flips: pd.DataFrame, rows: str, columns: str, metric: str = "bleu", *, inferred: bool = False) -> Styler:
    """Flips with their share of N and its interval, the most of a row in bold (Tables 3 and 6).

    flips: `word_order.flips` by *rows* and *columns*: "language" and "model" in Table 3, "perturbation" and "language"
    or "model" in Table 6. inferred: by the criterion β ≤ ½ < β₁ that is inferred from the printed samples, not β₁ > β.
    """
    own, criterion = flips[flips["metric"] == metric], "β₁ > β"
    if own.empty:
        return styles.empty(panels.why_empty(flips, metric, panels.NO_MODEL))
    if inferred:
        criterion = "β ≤ ½ < β₁, inferred from the 75 printed samples"
        names = {"inferred": "flips", **{f"inferred_{name}": name for name in ("share", "low", "high")}}
        own = own.drop(columns=list(names.values())).rename(columns=names)
    shown = in_order(own[columns]) if columns == "language" else list(dict.fromkeys(own[columns]))
    cells = [
        f"{count:,} ({share:.1%} [{100 * low:.1f}, {100 * high:.1f}]){styles.dagger(n)}"
        for count, share, low, high, n in own[["flips", "share", "low", "high", "n"]].itertuples(index=False)
    ]
    numbers = wide_table(own, rows, columns, "flips", shown)[shown]
    return styles.styled(
        wide_table(own.assign(cell=cells), rows, columns, "cell", shown).fillna(styles.NOTHING),
        caption=f"Flips ({criterion}), their share of N and its 95% interval in per cent; κ is "
        f"{theme.metric_label(metric)}",
        best=_best(numbers) & (numbers > 0), headings=_headings(shown, columns),
    )  # fmt: skip


def _cells(rows: pd.DataFrame, score: str, of: str | None = None, decimals: int = 3) -> list[str]:
    """Means of *score* with their intervals; of: what the columns low and high begin with, by default the score."""
    ends = f"{score}_" if of is None else of
    parts = zip(rows[score], rows[f"{ends}low"], rows[f"{ends}high"], strict=True)
    return [styles.with_interval(*part, decimals=decimals) for part in parts]


def _best(numbers: pd.DataFrame) -> pd.DataFrame:
    """Which of several columns hold the highest of their row."""
    return numbers.eq(numbers.max(axis=1), axis=0) & (len(numbers.columns) > 1)


def wide_table(table: pd.DataFrame, rows: str, columns: str, value: str, names: list[str]) -> pd.DataFrame:
    """*table* as *rows* × *columns*, both in the order in which figures show them."""
    order = {"perturbation": panels.in_paper_order, "language": in_order}.get(
        rows, lambda found: list(dict.fromkeys(found))
    )
    wide = table.pivot(index=rows, columns=columns, values=value).reindex(index=order(table[rows]), columns=names)
    return styles.named(wide.reset_index()).rename_axis(columns=None)


def _caption(text: str, metric: str, signature: str) -> str:
    return f"{text}; κ is {theme.metric_label(metric)}" + (f", {signature}" if signature else "")


def _headings(names: Iterable[str], columns: str) -> dict[str, str]:
    """Headings of *columns* that are models, or languages: as codes, because seven have no room for their names."""
    if columns == "model":
        return {name: look.label for name, look in theme.model_looks(names).items()}
    return {code: code for code in names}


def _with_html(rows: pd.DataFrame, columns: list[Hashable], caption: str) -> Styler:
    """`styles.styled`, with *columns* that are HTML made here of escaped parts."""
    return styles.styled(rows, caption=caption).format(str, subset=columns)


# ----------------------------------------------------------------------------
# Settings of metrics, and where the page's results come from.


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
# The word-order paper's printed numbers, whole or beside those of this run.


def beside(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> Styler:
    """This run's numbers beside those the paper prints, with their difference (`published.beside`).

    Only rows for which the paper prints a number are shown; the columns say whose number is whose.
    """
    known = _printed(ours, artefact, on)
    if known.empty:
        return _none_printed(artefact)
    value = published.value_column(artefact)
    shown = known[[*on, value, "printed", "difference", *(["note"] if known["note"].ne("").any() else [])]]
    return styles.styled(
        styles.named(shown),
        caption=f"{published.title(artefact)}. {_NO_REPLICATION}",
        headings={value: "this run", "printed": "paper", "difference": "this run − paper"},
    )


def _printed(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> pd.DataFrame:
    """The rows of *ours* for which the paper prints a number."""
    joined = published.beside(ours, artefact, on)
    return joined[joined["published"].notna()]


def _none_printed(artefact: str) -> Styler:
    why = published.note(artefact)
    if published.is_printed(artefact):
        why = "The paper prints no number for any of these rows: it tested other models or languages."
    return styles.empty(why, caption=published.title(artefact))


def quality_beside(quality: pd.DataFrame, as_coded: pd.DataFrame) -> Styler:
    """Table 2 three ways: as printed, ours as the paper defines β, ours as its research code computes it.

    quality: `word_order.quality`. as_coded: `word_order.quality_as_coded`. Differences are ours − paper. Models that
    the paper did not test have no printed value, but the other two all the same.
    """
    on = ["language", "model", "metric"]
    rows = quality[quality["metric"] == "bleu"]
    if rows.empty:
        return beside(quality, "table2", on)
    defined = published.beside(rows, "table2", on)
    coded = published.beside(as_coded, "table2", on).rename(columns={"beta": "coded", "difference": "coded_difference"})
    table = defined.merge(
        coded[["language", "model", "coded", "coded_difference"]], on=["language", "model"], how="left"
    )
    columns = ["language", "model", "printed", "beta", "difference", "coded", "coded_difference", "n"]
    return styles.styled(
        table[columns],
        caption=f"{published.title('table2')}, three ways. As defined: BLEU-4 with smoothing, as in the table above. "
        "As coded: NLTK's sentence_bleu without smoothing and with translation and reference exchanged, which is what "
        f"the printed values come from ({BleuAsCoded().signature(str(rows['language'].iloc[0]))}). "
        f"{_NO_REPLICATION}",
        headings={
            "beta": "this run, as defined",
            "difference": "as defined − paper",
            "coded": "this run, as coded",
            "coded_difference": "as coded − paper",
        },
    )


def counts_beside(counts: pd.DataFrame) -> Styler:
    """N of this run beside the paper's (Table 1), compared as shares, because the sets differ in size."""
    known = _printed(counts, "table1", ["language", "perturbation"])
    if known.empty:
        return _none_printed("table1")
    totals = published.load("table1").set_index(["language", "perturbation"])["total"]
    theirs = (
        known["published"] / totals.loc[list(zip(known["language"], known["perturbation"], strict=True))].to_numpy()
    )
    share = known["n"] / known["total"]
    table = known[["language", "perturbation", "n"]].assign(
        share=share,
        published=known["published"],
        paper_share=theirs,
        difference=100 * (share - theirs),
        note=known["note"],
    )
    return styles.styled(
        styles.named(table),
        caption=f"{published.title('table1')}. Another corpus: a comparison, not a replication.",
        headings={
            "n": "N, this run",
            "share": "of pairs, this run",
            "published": "N, paper",
            "paper_share": "of pairs, paper",
            "difference": "difference (points)",
        },
    )


def flips_beside(flips: pd.DataFrame, artefact: str) -> Styler:
    """Flips of this run beside the paper's, compared as shares of N, because the sets differ in size.

    flips: `word_order.flips`, by what the table *artefact* ("table3", "table6_by_language", "table6_by_model") tells
    apart. The paper prints numbers of flips; its share is of the perturbed sentences of its Table 1, under each of
    its models where the table adds them up.
    """
    keys = [name for name in ("language", "model", "perturbation") if name in published.load(artefact)]
    known = _printed(flips, artefact, [*keys, "metric"])
    if known.empty:
        return _none_printed(artefact)
    counted = [name for name in keys if name != "model"]
    n = published.load("table1").groupby(counted, as_index=False)["n"].sum()
    theirs = known["published"].to_numpy() / known[counted].merge(n, on=counted, how="left")["n"].to_numpy()
    if "model" not in keys:
        theirs = theirs / published.load("table3")["model"].nunique()
    table = known[[*keys, "flips", "share", "inferred", "inferred_share"]].assign(
        published=known["published"],
        paper_share=theirs,
        difference=100 * (known["share"] - theirs),
        inferred_difference=100 * (known["inferred_share"] - theirs),
    )
    return styles.styled(
        styles.named(table),
        caption=f"{published.title(artefact)}. As worded: β₁ > β; inferred from the 75 printed samples: β ≤ ½ < β₁. "
        "Shares are of all perturbed sentences (the paper's: of the N of its Table 1). Another corpus, and where named "
        "otherwise other models: a comparison, not a replication.",
        headings={
            "flips": "flips, this run, as worded",
            "share": "of N, as worded",
            "inferred": "flips, this run, inferred",
            "inferred_share": "of N, inferred",
            "published": "flips, paper",
            "paper_share": "of N, paper",
            "difference": "as worded − paper (points)",
            "inferred_difference": "inferred − paper (points)",
        },
    )


def as_printed(artefact: str, rows: str, columns: str) -> Styler:
    """A whole table of the paper with its numbers as printed, *rows* × *columns*."""
    table = published.load(artefact)
    value = published.value_column(artefact)
    names = list(dict.fromkeys(table[columns]))
    wide = wide_table(table, rows, columns, value, names)
    bold = None
    if "bold" in table:
        bold = wide_table(table, rows, columns, "bold", names).drop(columns=rows).astype(bool)
    return styles.styled(
        wide, caption=f"As printed in the paper. {published.title(artefact)}", best=bold,
        headings=_headings(names, columns),
    )  # fmt: skip
