"""What the disambiguation pages have besides figures and tables: their footer, and human judgements read in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import styles, theme
from nbkit.figures.panels import NO_MODEL
from nbkit.files import expand_path
from nbkit.measure.forms import read_forms
from nbkit.models import costs
from nbkit.models.python import remarked
from nbkit.store import Store
from nbkit.studies.disambiguation import PUBLISHED, looks
from nbkit.studies.disambiguation.figures import (
    NO_BLEU,
    NO_ERROR,
    NO_PAIR,
    NO_PAIRS_COUNTED,
    NO_SAMPLE,
    NO_SET,
    ONE_MODEL,
    in_either,
    smaller_side,
)
from nbkit.studies.disambiguation.tables import SHOWN

if TYPE_CHECKING:
    import pandas as pd

    from nbkit.studies.disambiguation import DisambiguationParams


def footer(params: DisambiguationParams) -> provenance.Footer:
    """Where the page's results come from: parameters, aligners, language models, translators, versions, device."""
    facts = {
        "sense clusters": f"{params.lexicon} ({params.lexicon_digest[:12]})",
        "links of pairs, of translations": f"{params.aligner}, {params.hypothesis_aligner}",
        "language models": ", ".join(_language_models(params)) or "none",
    }
    charged = costs(params.translated_by, [(params.source, params.target)], params.decoding, store=Store())
    names = remarked(params.translated_by, params.model_key)
    return provenance.footer(params, signatures=facts, models=names, costs=charged)


def _language_models(params: DisambiguationParams) -> list[str]:
    langs = {
        name: lang for name, lang in ((params.masked_lm, params.target), (params.causal_lm, params.source)) if name
    }
    return remarked(langs, lambda name: params.language_model_key(name, langs[name]))


def sense_judgements(params: DisambiguationParams) -> pd.DataFrame | None:
    """The filled forms of the first task, None where the parameters name none. Raises as `read_forms`."""
    return _read(params.annotations, params.annotation_key)


def naturalness_judgements(params: DisambiguationParams) -> pd.DataFrame | None:
    """The filled forms of the second task, None where the parameters name none. Raises as `read_forms`."""
    return _read(params.naturalness, params.naturalness_key)


def _read(forms: dict[str, str], key: str | None) -> pd.DataFrame | None:
    if not forms or key is None:
        return None
    paths = {name: expand_path(path, "annotations") for name, path in forms.items()}
    return read_forms(paths, expand_path(key, "annotation key"))


# ----------------------------------------------------------------------------
# Tables of the disambiguation study, styled: those of biases and of errors (§2 and the appendix of the
# paper).
#
# Each takes a table of `nbkit.studies.disambiguation` and returns a pandas Styler; its ``data`` is what a CSV
# copy holds. A table without rows says why. Those of attacks are in `nbkit.studies.disambiguation.styled`.

#: How an attractor and a homograph are marked, as in the paper: red and blue.
ATTRACTOR = 'span style="color: #b3202c; font-weight: bold"'


HOMOGRAPH = 'span style="color: #1f4e9e; font-weight: bold"'


_SIZES = ("small", "medium", "large")


def attractors_table(attractors: pd.DataFrame, homographs: int = 12) -> Styler:
    """The most frequent attractors of each sense with their counts (Table 1): of spring, and of the most frequent ones.

    attractors: `disambiguation.attractors`.
    """
    seen = attractors[attractors["pairs"] > 0]
    if seen.empty:
        return styles.empty(NO_PAIRS_COUNTED)
    words = list(dict.fromkeys(seen["homograph"]))
    chosen = [*(["spring"] if "spring" in words else []), *(word for word in words if word != "spring")][:homographs]
    rows = []
    for word in chosen:
        for sense, own in seen[seen["homograph"] == word].groupby("sense", sort=False):
            named = [f"{name} ({n:,})" for name, n in zip(own["attractor"], own["freq"], strict=True) if name]
            rows.append((word, sense, int(own["pairs"].iloc[0]), ", ".join(named)))
    shown = pd.DataFrame(rows, columns=["homograph", "sense", "pairs", "attractors"])
    return styles.styled(
        shown,
        caption="Most frequent attractors of each sense, stop words aside; in parentheses in how many of its pairs",
        headings={"pairs": "training pairs", "attractors": "attractors (FREQ)"},
    )


def printed_attractors_table() -> Styler:
    """The paper's Table 1."""
    table = PUBLISHED.load("table1")
    wide = table.pivot(index="rank", columns="sense", values="attractor")[list(dict.fromkeys(table["sense"]))]
    caption = "The paper's Table 1: spring in OpenSubtitles2018"
    return styles.styled(wide.reset_index(drop=True).rename_axis(columns=None), caption=caption)


def clusters_table(clusters: pd.DataFrame) -> Styler:
    """Sense clusters with their training pairs (Table 11). clusters: `disambiguation.sense_clusters`."""
    shown = clusters[["homograph", "sense", "gloss", "translations", "pairs", "share"]]
    shown = shown.drop(columns=["gloss"]) if not clusters["gloss"].any() else shown
    return styles.styled(
        shown, caption="Sense clusters of the run", headings={"pairs": "training pairs", "share": "share"}
    )


def sizes_table(sizes: pd.DataFrame) -> Styler:
    """Sizes of the corpora (Tables 9 and 10). sizes: `disambiguation.corpus_sizes`."""
    shown = sizes.assign(corpus=[theme.short_name(name, 44) for name in sizes["corpus"]])
    for column in ("source_length", "target_length"):
        shown[column] = [f"{value:.2f}" for value in shown[column]]
    headings = {"source_words": "words (source)", "target_words": "words (target)",
                "source_length": "words a sentence (source)", "target_length": "words a sentence (target)"}  # fmt: skip
    return styles.styled(shown, caption="Corpora of the run; words are what white space separates", headings=headings)


def left_out_table(left_out: pd.DataFrame) -> Styler:
    """What is in the pool of test pairs and what is not. left_out: `disambiguation.pool_left_out`."""
    order = ["pairs read", "in the pool"]
    rows = left_out.assign(late=[0 if name in order else 1 for name in left_out["reason"]])
    rows = rows.sort_values(["corpus", "late", "n"], ascending=[True, True, False], kind="stable")
    rows["corpus"] = [theme.short_name(name, 44) for name in rows["corpus"]]
    return styles.styled(
        rows[["corpus", "reason", "n"]],
        caption="Test pairs: pairs that were read, homographs in the pool, and why others are not in it",
        headings={"reason": "", "n": "N"},
    )


def reasons_table(undecided: pd.DataFrame) -> Styler:
    """Why senses of training pairs could not be told, over all homographs. undecided: `undecided_senses`."""
    if undecided.empty:
        return styles.empty("The sense of every homograph of the training corpus could be told.")
    rows = undecided.groupby("reason", sort=False)
    names = [", ".join(group["homograph"].head(5)) for _, group in rows]
    shown = pd.DataFrame({"reason": list(rows.groups), "n": rows["n"].sum().to_numpy(), "most often of": names})
    shown = shown.sort_values("n", ascending=False)
    return styles.styled(shown, caption="Homographs of the training corpus whose sense could not be told")


def bleu_table(bleu: pd.DataFrame, domain: str) -> Styler:
    """BLEU of the models with intervals, beside the paper's (Table 2). bleu: `disambiguation.bleu`."""
    if bleu.empty:
        return styles.empty(NO_BLEU)
    cells = intervals(bleu, ["bleu", "low", "high"], 1)
    shown = bleu.assign(cell=cells, corpus=[theme.short_name(name, 40) for name in bleu["corpus"]])
    shown = shown.assign(printed=_printed_bleu(bleu["model"], domain))
    best = bleu["bleu"].eq(bleu.groupby("corpus")["bleu"].transform("max")) & (bleu["model"].nunique() > 1)
    shown = shown[["model", "corpus", "cell", "n", "printed"]]
    return styles.styled(
        shown,
        caption="BLEU with 95% bootstrap intervals; N: pairs. The paper's are on its own test sets",
        best=pd.DataFrame({"cell": best.to_numpy()}),
        headings={"cell": "BLEU", "printed": "paper"},
    )


def _printed_bleu(models: pd.Series, domain: str) -> list[str]:
    table = PUBLISHED.texts("table2")
    found = []
    for model in models:
        own = table[table["model"] == f"{domain} {model}"]
        found.append("; ".join(f"{row.test}: {row.printed}" for row in own.itertuples()) or "not printed")
    return found


def settings_table(settings: pd.DataFrame) -> Styler:
    """How the models of the run were trained (Table 12). settings: `disambiguation.model_settings`."""
    if settings.empty:
        return styles.empty("No model of this run was trained by nbkit: how others were trained is not known here.")
    wide = settings.pivot(index="parameter", columns="model", values="value")
    wide = wide.reindex(
        index=list(dict.fromkeys(settings["parameter"])), columns=list(dict.fromkeys(settings["model"]))
    )
    shown = wide.fillna(styles.NOTHING).reset_index().rename_axis(columns=None)
    return styles.styled(shown, caption="Training settings of the run's models")


def printed_table(name: str, index: Sequence[str], columns: str) -> Styler:
    """A printed table of the paper as it stands there: *columns* across, *index* down."""
    table = PUBLISHED.texts(name)
    order = [list(dict.fromkeys(table[column])) for column in (*index, columns)]
    wide = table.pivot(index=list(index), columns=columns, values="printed")[order[-1]]
    rows = list(dict.fromkeys(table[list(index)].itertuples(index=False, name=None)))
    wide = wide.reindex(rows if len(index) > 1 else order[0]).fillna(styles.NOTHING)
    heads = {key: looks.measure(key) for key in order[-1]} if columns == "measure" else {}
    shown = wide.reset_index().rename_axis(columns=None)
    return styles.styled(shown, caption=f"The paper's {PUBLISHED.title(name)}", headings=heads)


def correlations_table(correlations: pd.DataFrame, yes: str = "errors") -> Styler:
    """RBC with intervals, a row a measure, the largest of each model in bold (Table 3); N: *yes* and others.

    correlations: rows of `disambiguation.correlations` with one row a model and measure, or `attack_correlations`.
    """
    if correlations.empty or correlations["rbc"].isna().all():
        return styles.empty(NO_ERROR if len(correlations) else NO_MODEL)
    models, measures = (list(dict.fromkeys(correlations[name])) for name in ("model", "measure"))
    cells = intervals(correlations, ["rbc", "low", "high"], 2, n=smaller_side(correlations))
    stars = ["" if pd.isna(p) or p >= 1e-5 else "*" for p in correlations["p"]]
    table = correlations.assign(
        cell=[f"{cell}{star}" for cell, star in zip(cells, stars, strict=True)], size=correlations["rbc"].abs()
    )
    wide, sizes = (
        table.pivot(index="measure", columns="model", values=name).reindex(index=measures, columns=models)
        for name in ("cell", "size")
    )
    shown = wide.fillna(styles.NOTHING).reset_index().rename_axis(columns=None)
    shown["measure"] = [looks.measure(name) for name in measures]
    n = correlations.drop_duplicates("model").set_index("model").reindex(models)
    counts = {
        model: f"{a} / {b}" for model, a, b in zip(models, n["n_yes"].astype(int), n["n_no"].astype(int), strict=True)
    }
    shown.loc[len(shown)] = {"measure": f"N ({yes} / others)", **counts}
    return styles.styled(
        shown,
        caption="Rank-biserial correlation with 95% interval; * p < 1e-5 (Mann-Whitney U, two-sided)",
        best=sizes.eq(sizes.max(axis=0), axis=1).reset_index(drop=True).reindex(range(len(shown)), fill_value=False),
    )


def variants_table(correlations: pd.DataFrame) -> Styler:
    """The mean beside the sum, and all kinds of PPMI. correlations: `disambiguation.correlations`."""
    rows = correlations[correlations["rbc"].notna() & (correlations["measure"] != "length")]
    if rows.empty:
        return styles.empty(NO_ERROR if len(correlations) else NO_MODEL)
    space = [_space(name, where) for name, where in zip(rows["measure"], rows["space"], strict=True)]
    table = rows.assign(
        measure=[looks.measure(name) for name in rows["measure"]],
        variant=[f"{how}{where}" for how, where in zip(rows["aggregate"], space, strict=True)],
        cell=intervals(rows, ["rbc", "low", "high"], 2, n=smaller_side(rows)),
    )
    models = list(dict.fromkeys(table["model"]))
    wide = table.pivot(index=["measure", "variant"], columns="model", values="cell")
    order = list(dict.fromkeys(table[["measure", "variant"]].itertuples(index=False, name=None)))
    shown = wide.reindex(order, columns=models).fillna(styles.NOTHING).reset_index().rename_axis(columns=None)
    return styles.styled(shown, caption="Correlations by how a sentence's bias is computed")


def compared_table(table: pd.DataFrame, artefact: str, domain: str, on: Sequence[str]) -> Styler:
    """Values of the run with the paper's of the same domain and model beside them, and the difference.

    table: with the columns *on*, among them model, and the value column of the printed table. A column as_computed
    holds what the research code computes.
    """
    value = PUBLISHED.value_column(artefact)
    if table.empty or table[value].isna().all():
        return styles.empty(NO_ERROR if len(table) else NO_MODEL)
    named = table.assign(model=[f"{domain} {model}" for model in table["model"]])
    both = PUBLISHED.beside(named, artefact, on)
    if both["published"].isna().all():
        return styles.empty(f"The paper prints no values of the domain '{domain}'; its own are in the next table.")
    if "measure" in both:
        both["measure"] = [looks.measure(name) for name in both["measure"]]
    shown = both[[*on, value, *(["as_computed"] if "as_computed" in both else []), "printed", "difference"]]
    headings = {"rbc": "RBC"}
    if "as_computed" in both:
        shown = shown.assign(from_code=both["as_computed"] - both["published"])
        headings = {"rbc": "as defined", "as_computed": "as their code computes it",
                    "difference": "as defined − printed", "from_code": "as computed − printed"}  # fmt: skip
    return styles.styled(shown, caption=f"{PUBLISHED.title(artefact)}: ours and the paper's", headings=headings)


def thresholds_table(thresholds: pd.DataFrame, what: str) -> Styler:
    """Thresholds of small, medium and large effects by model (Tables 7 and 8). thresholds: of the study's tables."""
    if thresholds.empty:
        return styles.empty(f"No threshold: it needs a share of {what} above 0 and below 1.")
    wide = thresholds.pivot(index="model", columns="size", values="threshold")
    wide = wide.reindex(index=list(dict.fromkeys(thresholds["model"])), columns=list(_SIZES))
    rates = thresholds.drop_duplicates("model").set_index("model")["base_rate"].reindex(wide.index)
    shown = wide.round(4).map("{:.4f}".format).reset_index().rename_axis(columns=None)
    shown.insert(1, "base_rate", [f"{100 * rate:.1f}" for rate in rates])
    caption = f"Thresholds of effect sizes, adjusted for the share of {what}"
    return styles.styled(shown, caption=caption, headings={"base_rate": f"{what} (%)"})


def error_rates_table(challenge_errors: pd.DataFrame) -> Styler:
    """Error rates in percent by set, with the factor over the random set (Figure 1)."""
    if challenge_errors.empty or not challenge_errors["n"].sum():
        return styles.empty(NO_PAIR if len(challenge_errors) else NO_MODEL)
    rows = challenge_errors.assign(
        cell=intervals(challenge_errors, ["rate", "low", "high"], 1, 100),
        factor=[styles.NOTHING if pd.isna(value) else f"{value:.2f}" for value in challenge_errors["factor"]],
        set=[looks.set_looks()[name].label for name in challenge_errors["set"]],
    )
    return styles.styled(
        rows[["model", "set", "cell", "factor", "errors", "n", "undecided"]],
        caption="WSD error rate in percent with 95% interval; factor: over the random set; N: decided pairs",
        headings={"cell": "error rate (%)"},
    )


def overlap_table(overlap: pd.DataFrame) -> Styler:
    """What the challenge set shares with that of rare senses, beside the paper's (§2.2). overlap: `rare_overlap`."""
    printed = PUBLISHED.texts("overlap").query("topic == 'overlap'").set_index("domain")["printed"]
    rows = overlap.assign(
        printed=[
            printed.get(domain, "not printed") if name == "rare sense" else "not printed"
            for domain, name in zip(overlap["domain"], overlap["set"], strict=True)
        ],
        percent=[one_decimal(value) for value in overlap["percent"]],
        expected=[
            one_decimal(100 * n / of if of else np.nan) for n, of in zip(overlap["size"], overlap["of"], strict=True)
        ],
        set=[looks.set_looks()[name].label for name in overlap["set"]],
    )
    return styles.styled(
        rows[["domain", "set", "size", "of", "shared", "percent", "expected", "printed"]],
        caption="Overlap with the challenge set of the largest bias, in percent of a set",
        headings={"of": "pool", "percent": "overlap (%)", "expected": "by chance (%)", "set": "other set"},
    )


def claims_table(topic: str) -> Styler:
    """What the paper's text says of a topic, number by number."""
    table = PUBLISHED.texts("text")
    own = table[table["topic"] == topic][["domain", "measure", "printed", "note"]]
    return styles.styled(own, caption="What the paper's text says", headings={"note": "remark"})


def errors_table(errors: pd.DataFrame) -> Styler:
    """Error rates of the models over the whole pool. errors: `disambiguation.errors`."""
    if errors.empty or not (errors["n"] + errors["undecided"]).sum():
        return styles.empty(NO_PAIR if len(errors) else NO_MODEL)
    rows = errors.assign(cell=intervals(errors, ["rate", "low", "high"], 1, 100))
    return styles.styled(
        rows[["model", "cell", "errors", "n", "undecided"]],
        caption="WSD errors over all test pairs, with 95% interval; N: translations whose sense is told",
        headings={"cell": "error rate (%)"},
    )


def error_examples_table(examples: pd.DataFrame) -> Styler:
    """The errors of the most biased sentences. examples: `disambiguation.error_examples`."""
    if examples.empty:
        return styles.empty("No model of this run took a wrong sense." if examples.shape[1] else NO_MODEL)
    rows = pd.DataFrame(
        {
            "model": [escape(name) for name in examples["model"]],
            "source": marked_words(examples, "source", "homograph", HOMOGRAPH),
            "reference": marked_words(examples, "reference", "word", HOMOGRAPH),
            "hypothesis": marked_words(examples, "hypothesis", "words", ATTRACTOR),
            "sense": [escape(f"{a} → {b}") for a, b in examples[["sense", "found"]].values],
            "freq_diff": [f"{value:.1f}" for value in examples["freq_diff"]],
        }
    )
    caption = "Wrong senses in the sentences of the largest bias; blue: homograph and right word, red: wrong word"
    return with_html(rows, caption, {"freq_diff": "FREQ diff"})


def marked_word(text: str, word: str, element: str) -> str:
    """*text* as HTML with the first place of *word*, or of a form that begins so, marked; both escaped.

    >>> marked_word("two springs", "spring", 'span style="color: blue"')
    'two <span style="color: blue">springs</span>'
    """
    at = text.lower().find(word.lower()) if word else -1
    end = at + len(word)
    while end < len(text) and text[end].isalpha():
        end += 1
    return styles.marked(text, [(at, end)] if at >= 0 else [], element)


def with_html(rows: pd.DataFrame, caption: str, headings: dict[str, str] | None = None) -> Styler:
    """`styles.styled` of a table whose text columns are HTML made here of escaped parts."""
    texts: list[Any] = [name for name in rows if not styles._reads_as_number(rows[name])]
    table = styles.styled(rows, caption=caption, headings=headings).format(str, subset=texts)
    rules: list[Any] = [
        {"selector": f"td.col{place}", "props": "min-width: 13em"}
        for place, name in enumerate(rows.columns)
        if name in ("source", "reference", "hypothesis", "text", "seed", "original", "perturbed")
    ]
    return table.set_table_styles(rules, overwrite=False)


def intervals(
    table: pd.DataFrame, columns: Sequence[str], decimals: int, scale: float = 1.0, n: pd.Series | None = None
) -> list[str]:
    """A cell per row: a value with its interval, of three *columns* times *scale*. n: units, if no column says so."""
    of = [None] * len(table) if n is None else n.tolist()
    values = (scale * table[list(columns)]).to_numpy()
    return [styles.with_interval(a, b, c, decimals, each) for (a, b, c), each in zip(values, of, strict=True)]


def marked_words(table: pd.DataFrame, text: str, word: str, element: str) -> list[str]:
    """`marked_word` of two columns of a table."""
    return [marked_word(str(a), str(b), element) for a, b in table[[text, word]].to_numpy()]


def one_decimal(value: float) -> str:
    """A number with one decimal, or a dash."""
    return styles.NOTHING if pd.isna(value) else f"{value:.1f}"


def _space(measure: str, where: str) -> str:
    return f", {where}" if measure.startswith("ppmi") else ""


# ----------------------------------------------------------------------------
# Tables of the attacks on word senses, styled (§3 and §4 of the paper); see
# `nbkit.studies.disambiguation.styled`.

NO_FORMS = (
    "No filled form in this run: make two with nbkit annotate senses, have them filled in by two people or more, "
    "and name the files in annotations and annotation_key, naturalness and naturalness_key."
)


_STRUCK = 'span style="color: #8a8a8a; text-decoration: line-through"'


def seeds_table(seeds_left: pd.DataFrame) -> Styler:
    """What becomes of the test pairs as seeds. seeds_left: `disambiguation.seeds_left`."""
    names = {
        "another sense expected": "rejected: the masked language model expects another sense",
        "most biased": "rejected: among the most biased to a wrong sense",
        "not drawn": "left out: more than n_seeds",
        "seed": "seed sentences",
    }
    return styles.styled(
        seeds_left.assign(fate=[names[name] for name in seeds_left["fate"]]),
        caption="From test pairs to seed sentences, in the order of the filters",
        headings={"fate": "", "share": "of the pool"},
    )


def samples_table(samples_made: pd.DataFrame) -> Styler:
    """How many samples each perturbation type makes. samples_made: `disambiguation.samples_made`."""
    shown = samples_made.assign(kind=[looks.kind(name) for name in samples_made["kind"]]).drop(columns=["what"])
    headings = {"made": "samples", "fluent": "fluent enough", "kind": "perturbation", "share": "share"}
    return styles.styled(shown, caption="Samples by perturbation type", headings=headings)


def perturbations_table(examples: pd.DataFrame) -> Styler:
    """One sample of each perturbation type, as the paper marks them (Table 4).

    examples: `disambiguation.perturbation_examples`.
    """
    if examples.empty:
        return styles.empty(NO_SAMPLE)
    rows = pd.DataFrame(
        {
            "kind": [escape(looks.kind(name)) for name in examples["kind"]],
            "text": [sample_html(row) for row in examples.to_dict("records")],
        }
    )
    caption = "Samples; blue: homograph, red: attractor that was put in, struck out: adjective that it replaced"
    return with_html(rows, caption, {"kind": "perturbation", "text": "sample"})


def printed_perturbations_table() -> Styler:
    """The paper's Table 4, marked."""
    rows = []
    for row in PUBLISHED.load("table4").to_dict("records"):
        marks = [
            _place(row["sentence"], row["attractor"], ATTRACTOR),
            _place(row["sentence"], row["homograph"], HOMOGRAPH),
        ]
        marks += [_place(row["sentence"], row["replaced"], _STRUCK)] if row["replaced"] else []
        rows.append((escape(row["perturbation"]), styles.marked_by(row["sentence"], marks)))
    headings = {"kind": "perturbation", "text": "sample"}
    return with_html(pd.DataFrame(rows, columns=["kind", "text"]), "The paper's Table 4", headings)


def rates_table(rates: pd.DataFrame, what: str) -> Styler:
    """Success rates in percent, by *what*: "kind" of `success_by_kind`, or "set" of `attack_challenge`."""
    if rates.empty or not rates["n"].sum():
        without = NO_SET if what == "set" else NO_SAMPLE
        return styles.empty(without if len(rates) else NO_MODEL)
    rows = rates.assign(
        cell=intervals(rates, ["rate", "low", "high"], 1, 100),
        ceiling=[one_decimal(100 * value) for value in rates["ceiling"]],
    )
    if what == "set":
        rows["set"] = [looks.set_looks()[name].label for name in rates["set"]]
    more = []
    if "factor" in rows:
        rows["factor"] = [styles.NOTHING if pd.isna(value) else f"{value:.2f}" for value in rates["factor"]]
        more = ["factor"]
    return styles.styled(
        rows[["model", what, "cell", *more, "ceiling", "successes", "n", "another_sense", "undecided"]],
        caption="Attack success in percent of all samples with 95% interval; N: samples",
        headings={"cell": "success (%)", "ceiling": "ceiling (%)", "kind": "type", "another_sense": "other sense"},
    )


def successes_table(successes: pd.DataFrame) -> Styler:
    """Successful attacks (Tables 6 and 13 to 18). successes: `disambiguation.successes`."""
    if successes.empty:
        return styles.empty("No attack of this run succeeded, or there is no model in it.")
    rows = pd.DataFrame(
        {
            "model": [escape(name) for name in successes["model"]],
            "source": [sample_html(row) for row in successes.to_dict("records")],
            "original": marked_words(successes, "seed_hypothesis", "seed_words", HOMOGRAPH),
            "perturbed": marked_words(successes, "hypothesis", "words", ATTRACTOR),
            "sense": [escape(f"{a} → {b}") for a, b in successes[["seed_sense", "adversarial_sense"]].values],
        }
    )
    headings = {"original": "seed's translation", "perturbed": "sample's translation", "source": "sample"}
    return with_html(
        rows, "Successful attacks; blue: homograph and its right word, red: attractor and wrong word", headings
    )


def printed_successes_table(table: int) -> Styler:
    """A table of successful attacks as the paper prints it: 6, or 13 to 18."""
    own = PUBLISHED.load(f"table{table}")
    own = own[own["table"] == table]
    rows = []
    for row in own.to_dict("records"):
        source = row["source"]
        marks = [_place(source, row["attractor"], ATTRACTOR), _place(source, row["homograph"], HOMOGRAPH, last=True)]
        marks += [_place(source, row["replaced"], _STRUCK)] if row["replaced"] else []
        words = [marked_word(row[text], row[f"{text}_word"], element) for text, element in
                 (("original", HOMOGRAPH), ("perturbed", ATTRACTOR))]  # fmt: skip
        rows.append(
            (styles.marked_by(source, marks), *words, escape(f"{row['seed_sense']} → {row['adversarial_sense']}"))
        )
    shown = pd.DataFrame(rows, columns=["source", "original", "perturbed", "sense"])
    caption = f"The paper's Table {table}: {own['model'].iloc[0]}. In parentheses what was put in, and what it replaced"
    return with_html(shown, caption, {"original": "original output", "perturbed": "perturbed output"})


def transfer_table(transfer: pd.DataFrame) -> Styler:
    """Jaccard indices in percent with intervals, beside the paper's ranges (§4). transfer: of the study."""
    if transfer.empty:
        return styles.empty(ONE_MODEL)
    rows = transfer.assign(
        cell=intervals(transfer, ["jaccard", "low", "high"], 1, 100, in_either(transfer)),
        chance=[one_decimal(100 * value) for value in transfer["chance"]],
        printed=[_printed_transfer(*row) for row in transfer[["domain", "relation"]].values],
    )
    return styles.styled(
        rows[["model_a", "model_b", "relation", "cell", "chance", "only_a", "both", "only_b", "printed"]],
        caption="Jaccard index in percent of the sets of successful attacks, with 95% interval over seeds",
        headings={"cell": "Jaccard (%)", "chance": "by chance (%)", "only_a": "A only", "only_b": "B only",
                  "relation": "differ in"},
    )  # fmt: skip


def _printed_transfer(domain: str, relation: str) -> str:
    own = PUBLISHED.texts("transfer").query("topic == 'transfer'")
    own = own[own["domain"] == domain]
    printed = dict(zip(own["measure"], own["printed"], strict=True))
    if not printed:
        return "not printed"
    if relation == "random seed":
        return printed["between two seeds of the Transformer"]
    return f"{printed['between architectures, from']} to {printed['between architectures, to']}"


def grammar_table(grammar: pd.DataFrame, skipped: str | None = None) -> Styler:
    """Samples with more grammar errors than their seeds, beside the paper's (§3.3). grammar: of the study.

    skipped: why there is nothing (`disambiguation.grammar_skipped`).
    """
    if grammar.empty:
        return styles.empty(skipped or NO_SAMPLE)
    printed = PUBLISHED.texts("grammar").query("topic == 'grammar'").set_index("domain")["printed"]
    rows = grammar.assign(
        cell=intervals(grammar, ["percent", "low", "high"], 2),
        printed=[printed.get(domain, "not printed") for domain in grammar["domain"]],
    )
    return styles.styled(
        rows[["domain", "cell", "worse", "better", "n", "printed"]],
        caption="Samples of the attack challenge set that are less grammatical than their seeds, by LanguageTool",
        headings={"cell": "worse (%)"},
    )


def judged_senses_table(error_rates: pd.DataFrame | None) -> Styler:
    """How often judges did not choose the right sense (§3.3). error_rates: `nbkit.measure.forms.error_rates`."""
    if error_rates is None or error_rates.empty:
        return styles.empty(NO_FORMS)
    rows = error_rates.assign(
        cell=intervals(error_rates, ["error_rate", "low", "high"], 1, 100),
        **{name: [one_decimal(100 * value) for value in error_rates[name]] for name in ("wrong_sense", "both", "none")},
    )
    return styles.styled(
        rows[["set", "annotator", "cell", "wrong_sense", "both", "none", "n"]],
        caption="Judges' errors in percent with 95% intervals, and what they chose instead",
        headings={"cell": "errors (%)", "wrong_sense": "other sense (%)", "both": "both (%)", "none": "none (%)"},
    )


def naturalness_table(means: pd.DataFrame | None) -> Styler:
    """Mean naturalness from 1 to 5 (§3.3). means: `nbkit.measure.forms.naturalness`."""
    if means is None or means.empty:
        return styles.empty(NO_FORMS)
    cells = intervals(means, ["mean", "low", "high"], 2)
    rows = means.assign(cell=cells)[["set", "annotator", "cell", "n"]]
    return styles.styled(rows, caption="Mean naturalness with 95% interval; 5: completely natural",
                         headings={"cell": "naturalness"})  # fmt: skip


def agreement_table(agreement: pd.DataFrame | None) -> Styler:
    """Agreement of the judges. agreement: `agreement` or `weighted_agreement` of `nbkit.measure.forms`."""
    if agreement is None or agreement.empty:
        return styles.empty("No agreement without filled forms.")
    cells = intervals(agreement, ["value", "low", "high"], 2)
    first = "measure" if "measure" in agreement else "weights"
    rows = agreement.assign(cell=cells)[[first, "annotators", "cell", "n"]]
    return styles.styled(rows, caption="Agreement with 95% interval", headings={"cell": "agreement"})


def sample_html(row: dict) -> str:
    """A sample as HTML: homograph, attractor and, struck out before it, the adjective that it replaced."""
    marks = [(row["start"], row["end"], ATTRACTOR), (row["homograph_start"], row["homograph_end"], HOMOGRAPH)]
    text, replaced = row["text"], row["replaced"]
    if not replaced:
        return styles.marked_by(text, marks)
    # The replaced word is put back for show, so that what stands behind it moves.
    start, by = row["start"], len(replaced) + 1
    moved = [(a + by * (a >= start), b + by * (a >= start), element) for a, b, element in marks]
    shown = f"{text[:start]}{replaced} {text[start:]}"
    return styles.marked_by(shown, [(start, start + len(replaced), _STRUCK), *moved])


def _place(text: str, word: str, element: str, *, last: bool = False) -> tuple[int, int, str]:
    """Where a word stands in *text* by itself, the last time or the first."""
    found = [each.span() for each in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
    start, end = found[-1 if last else 0]
    return start, end, element


# ----------------------------------------------------------------------------
# Tables of the disambiguation study on what its rule decides, beside the variants of the rule.


def coverage_table(coverage: pd.DataFrame) -> Styler:
    """How many senses of training pairs are told by the rule and its variants. coverage: `sense_coverage`."""
    if not coverage[["decided", "undecided", "set_aside"]].to_numpy().sum():
        return styles.empty("No homograph stands in the training corpus.")
    rows = coverage.assign(reach=coverage["reach"].map(SHOWN), share=[_percent(value) for value in coverage["share"]])
    return styles.styled(
        rows[["reach", "decided", "by_gender", "undecided", "set_aside", "share"]],
        caption="Homographs of the training corpus whose sense is told; those set aside are translated by a verb or an "
        "adjective, and in no share. Variants are shown for comparison: biases are counted by the rule",
        headings={"reach": "looked for in", "by_gender": "by gender", "set_aside": "set aside", "share": "told (%)"},
    )


def error_variants_table(variants: pd.DataFrame) -> Styler:
    """Error rates by where the translation is looked for. variants: `error_variants`."""
    if variants.empty or not (variants["n"] + variants["undecided"]).sum():
        return styles.empty(NO_PAIR if len(variants) else NO_MODEL)
    rows = variants.assign(
        reach=variants["reach"].map(SHOWN),
        cell=intervals(variants, ["rate", "low", "high"], 1, 100),
        share=[_percent(value) for value in variants["share"]],
    )
    return styles.styled(
        rows[["model", "reach", "cell", "errors", "n", "undecided", "set_aside", "share"]],
        caption="WSD errors by where translations are looked for, with 95% bootstrap interval; the other tables are of "
        "the rule. The published code looks through the whole translation and counts a word of several senses as right "
        "where the reference's is among them",
        headings={"reach": "looked for in", "cell": "error rate (%)", "set_aside": "set aside", "share": "told (%)"},
    )


def _percent(share: float) -> str:
    return styles.NOTHING if pd.isna(share) else one_decimal(100 * share)
