"""How things of the disambiguation study appear: names and colours (``looks.yaml``), styled tables (``tables.yaml``).

A table function takes a table of `nbkit.studies.disambiguation`; `show` shows those that need no more than their entry.
The ``data`` of a styled table is what a CSV copy holds; one without rows says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import styles, theme
from nbkit.figures.panels import NO_MODEL
from nbkit.figures.theme import Look
from nbkit.measure.forms import (
    SENSE_ANSWERS,
    agreement,
    error_rates,
    naturalness,
    weighted_agreement,
)
from nbkit.models import label
from nbkit.models.python import remarked
from nbkit.perturb.word_sense import spelled
from nbkit.studies import page
from nbkit.studies.disambiguation.tables import PUBLISHED, SHOWN, looks
from nbkit.studies.paper import NOT_PRINTED

if TYPE_CHECKING:
    from nbkit.studies.disambiguation import DisambiguationParams

#: How an attractor and a homograph are marked, as in the paper: red and blue; and a word that was replaced.
ATTRACTOR = 'span style="color: #b3202c; font-weight: bold"'
HOMOGRAPH = 'span style="color: #1f4e9e; font-weight: bold"'
_STRUCK = 'span style="color: #8a8a8a; text-decoration: line-through"'
#: What makes HTML of a row.
_Html: TypeAlias = Callable[[Mapping[Hashable, Any]], str]


def footer(params: DisambiguationParams) -> provenance.Footer:
    """Where the page's results come from: parameters, aligners, language models, translators, versions, device.

    Translators are listed by the names that a run file uses; "names in tables" says what tables and figures call them.
    """
    named = {params.masked_lm: params.target, params.causal_lm: params.source}
    langs = {name: lang for name, lang in named.items() if name}
    language_models = remarked(langs, lambda name: params.language_model_key(name, langs[name]))
    facts = {
        "sense clusters": f"{params.lexicon} ({params.homographs.digest[:12]})",
        "aligners of training pairs, of translations": f"{params.aligner}, {params.hypothesis_aligner}",
        "language models": ", ".join(language_models) or "none",
    }
    if params.voters:
        facts["right senses"] = f"of two thirds of the other systems (voters: {len(params.voters)}); no references"
    called = {name: label(name) for name in params.translated_by}
    if shown := [f"{short} is {name}" for name, short in called.items() if short != name]:
        facts["names in tables"] = ", ".join(shown)
    if fixed := [called[name] for name in params.translated_by if name not in params.attackable]:
        facts["attacks"] = f"not measurable with outputs alone: {', '.join(fixed)}"
    pairs = [(params.source, params.target)]
    return page.footer(params, facts, params.translated_by, params.model_key, pairs=pairs, licensed=langs)


# ----------------------------------------------------------------------------
# Names and colours of sets, perturbation types and measures.


def set_looks() -> dict[str, Look]:
    """The looks of challenge sets and random ones, by their names in tables."""
    return {name: Look(**entry) for name, entry in looks()["sets"].items()}


def look(name: str) -> Look:
    """The look of a mark beside the sets: "all", "ceiling" or "published"."""
    return Look(**looks()[name])


def measure(name: str) -> str:
    """A measure as the paper's tables head it; a name that is none stays.

    >>> measure("freq_diff"), measure("ppmi_wrong")
    ('FREQ diff', 'PPMI✗')
    """
    return looks()["measures"].get(name, name)


def sense_colours(n: int) -> list[str]:
    """Colours for the senses of one homograph; they begin again where there are more senses than colours."""
    colours = looks()["senses"]
    return [colours[i % len(colours)] for i in range(n)]


def in_either(transfer: pd.DataFrame) -> pd.Series:
    """How many attacks each Jaccard index is over: those that succeed on one of the two models or on both."""
    return transfer[["only_a", "both", "only_b"]].sum(axis=1)


def smaller_side(correlations: pd.DataFrame) -> pd.Series:
    """The smaller number of each correlation's two: what it stands or falls with."""
    return correlations[["n_yes", "n_no"]].min(axis=1)


# ----------------------------------------------------------------------------
# Sentences as HTML: homographs, attractors and what these replaced are marked, everything else is escaped.


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


def sample_html(row: Mapping[Hashable, Any]) -> str:
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


def _printed_sample(text: str, row: Mapping[Hashable, Any], homograph: int) -> str:
    """A sample that the paper prints, in which the replaced word stands too. homograph: which of its places counts."""
    marks = []
    for word, element, place in (
        (row["attractor"], ATTRACTOR, 0),
        (row["homograph"], HOMOGRAPH, homograph),
        (row["replaced"], _STRUCK, 0),
    ):
        if word:
            found = [each.span() for each in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
            marks.append((*found[place], element))
    return styles.marked_by(text, marks)


def _word(text: str, word: str, element: str) -> _Html:
    """`marked_word` of two columns of a row."""
    return lambda row: marked_word(row[text], row[word], element)


def _change(before: str, after: str) -> _Html:
    return lambda row: escape(f"{row[before]} → {row[after]}")


def _html(table: pd.DataFrame, **columns: _Html) -> pd.DataFrame:
    """*table* with columns that are made of its rows."""
    rows = table.to_dict("records")
    return table.assign(**{name: list(map(make, rows)) for name, make in columns.items()})


#: The study's tables and the paper's.
TABLES = page.Sheets(
    Path(__file__).with_name("tables.yaml"),
    PUBLISHED,
    names={
        "corpus": lambda name: theme.short_name(name, 44),
        "fate": lambda name: looks()["fates"][name],
        "measure": measure,
        "reach": SHOWN.__getitem__,
        "set": lambda name: set_looks()[name].label if name in set_looks() else name,
    },
)
show = TABLES.show


#: Why there are no attacks where a run has systems, but all of them are files of translations.
NOT_ATTACKED = (
    "No model of this run can be attacked: add names to the parameter models. Attacks are not measurable with outputs "
    "alone, as files answer nothing new."
)


def shown_if(seen: bool | np.bool_, name: str, table: pd.DataFrame, nothing: str = NO_MODEL) -> Styler:
    """`show`, or where nothing of the table was *seen* why: what the entry says, or that there is no model."""
    return show(name, table if seen else table.iloc[:0], why="" if len(table) else nothing)


# ----------------------------------------------------------------------------
# What the paper prints.


def printed_attractors_table() -> Styler:
    """The paper's Table 1."""
    wide = styles.wide(PUBLISHED.load("table1"), "rank", "sense", "attractor")
    return show("printed_attractors", wide.drop(columns="rank"))


def printed_perturbations_table() -> Styler:
    """The paper's Table 4, marked."""
    table = _html(PUBLISHED.load("table4"), text=lambda row: _printed_sample(row["sentence"], row, 0))
    return show("printed_perturbations", table.assign(kind=table["perturbation"]))


def printed_successes_table(table: int) -> Styler:
    """A table of successful attacks as the paper prints it: 6, or 13 to 18."""
    printed = PUBLISHED.load(f"table{table}")
    own = printed[printed["table"] == table]
    shown = _html(
        own,
        source=lambda row: _printed_sample(row["source"], row, -1),
        original=_word("original", "original_word", HOMOGRAPH),
        perturbed=_word("perturbed", "perturbed_word", ATTRACTOR),
        sense=_change("seed_sense", "adversarial_sense"),
    )
    return show("printed_successes", shown, table=str(table), model=own["model"].iloc[0])


def printed_tables(tables: Mapping[str, Styler]) -> HTML:
    """Long tables of the paper by their names, each folded; a fold says which one."""
    return HTML("".join(styles.folded(table, PUBLISHED.title(name)).data for name, table in tables.items()))


def claims_table(topic: str) -> Styler:
    """What the paper's text says of a topic, number by number."""
    table = PUBLISHED.texts("text")
    return show("claims", table[table["topic"] == topic])


def compared_table(table: pd.DataFrame, artefact: str, domain: str) -> Styler:
    """Correlations of the run with the paper's of the same domain and model beside them, and the difference.

    table: with the columns model, measure and rbc. A column as_computed holds what the research code computes.
    """
    if table["rbc"].isna().all():
        return shown_if(False, "correlations", table)
    both = PUBLISHED.beside(table.assign(model=f"{domain} " + table["model"]), artefact, ["model", "measure"])
    both = both if both["published"].notna().any() else both.iloc[:0]
    name = "compared"
    if "as_computed" in both:
        name, both = "compared_code", both.assign(from_code=both["as_computed"] - both["published"])
    return show(name, both, title=PUBLISHED.title(artefact), domain=domain)


def _printed_of(topic: str) -> pd.Series:
    """What the paper's text prints on a topic, by domain."""
    table = PUBLISHED.texts(topic)
    return table[table["topic"] == topic].set_index("domain")["printed"]


# ----------------------------------------------------------------------------
# Biases and errors (§2 and the appendix of the paper), as far as their entry does not say it all.


def attractors_table(attractors: pd.DataFrame, homographs: int = 12) -> Styler:
    """The most frequent attractors of each sense with their counts (Table 1): of spring, and of the most frequent ones.

    attractors: `disambiguation.attractors`.
    """
    seen = attractors[attractors["pairs"] > 0]
    words = sorted(dict.fromkeys(seen["homograph"]), key=lambda word: word != "spring")[:homographs]
    rows = []
    for word in words:
        for sense, own in seen[seen["homograph"] == word].groupby("sense", sort=False):
            named = [f"{name} ({n:,})" for name, n in zip(own["attractor"], own["freq"], strict=True) if name]
            rows.append((word, sense, int(own["pairs"].iloc[0]), ", ".join(named)))
    return show("attractors", pd.DataFrame(rows, columns=["homograph", "sense", "pairs", "attractors"]))


def left_out_table(left_out: pd.DataFrame) -> Styler:
    """What is in the pool of test pairs and what is not. left_out: `disambiguation.pool_left_out`."""
    rows = left_out.assign(late=~left_out["reason"].isin(["pairs read", "in the pool"]))
    return show("left_out", rows.sort_values(["corpus", "late", "n"], ascending=[True, True, False], kind="stable"))


def reasons_table(undecided: pd.DataFrame) -> Styler:
    """Why senses of training pairs could not be identified, over all homographs. undecided: `undecided_senses`."""
    rows = undecided.groupby("reason", sort=False)
    names = [", ".join(group["homograph"].head(5)) for _, group in rows]
    shown = pd.DataFrame({"reason": list(rows.groups), "n": rows["n"].sum().to_numpy(), "most often of": names})
    return show("reasons", shown.sort_values("n", ascending=False))


def coverage_table(coverage: pd.DataFrame) -> Styler:
    """How many senses of training pairs are identified by the rule and its variants. coverage: `sense_coverage`."""
    return show(
        "coverage", coverage if coverage[["decided", "undecided", "set_aside"]].any(axis=None) else coverage[:0]
    )


def bleu_table(bleu: pd.DataFrame, domain: str) -> Styler:
    """BLEU of the models with intervals, beside the paper's (Table 2). bleu: `disambiguation.bleu`."""
    table = PUBLISHED.texts("table2")
    printed = (table["test"] + ": " + table["printed"]).groupby(table["model"]).agg("; ".join)
    shown = bleu.assign(printed=(f"{domain} " + bleu["model"]).map(printed).fillna(NOT_PRINTED))
    best = bleu["bleu"].eq(bleu.groupby("corpus")["bleu"].transform("max")) & (bleu["model"].nunique() > 1)
    return show("bleu", shown, best=pd.DataFrame({"cell": best}))


def settings_table(settings: pd.DataFrame) -> Styler:
    """How the models of the run were trained (Table 12). settings: `disambiguation.model_settings`."""
    return show("settings", styles.wide(settings, "parameter", "model", "value").fillna(styles.NOTHING))


def errors_table(errors: pd.DataFrame, has_references: bool = True) -> Styler:
    """Error rates of the models over the whole pool; without references, dissents. errors: `disambiguation.errors`."""
    name = "errors" if has_references else "dissents"
    return shown_if(errors[["n", "undecided"]].any(axis=None), name, errors)


def unanimous_table(pairs: pd.DataFrame) -> Styler:
    """Senses that all systems chose against the words around. pairs: `disambiguation.unanimous`."""
    shown = _html(
        pairs, source=_word("source", "homograph", HOMOGRAPH), reference=_word("reference", "word", HOMOGRAPH)
    )
    return show("unanimous", shown)


def error_rates_table(challenge_errors: pd.DataFrame) -> Styler:
    """Error rates in percent by set, with the factor over the random set (Figure 1)."""
    return shown_if(challenge_errors["n"].any(), "error_rates", challenge_errors)


def error_variants_table(variants: pd.DataFrame) -> Styler:
    """Error rates by where the translation is looked for. variants: `error_variants`."""
    return shown_if(variants[["n", "undecided"]].any(axis=None), "error_variants", variants)


def error_examples_table(examples: pd.DataFrame) -> Styler:
    """The errors of the most biased sentences. examples: `disambiguation.error_examples`."""
    shown = _html(
        examples,
        source=_word("source", "homograph", HOMOGRAPH),
        reference=_word("reference", "word", HOMOGRAPH),
        hypothesis=_word("hypothesis", "words", ATTRACTOR),
        sense=_change("sense", "found"),
    )
    return show("error_examples", shown)


def overlap_table(overlap: pd.DataFrame) -> Styler:
    """What the challenge set shares with that of rare senses, beside the paper's (§2.2). overlap: `rare_overlap`."""
    printed = overlap["domain"].map(_printed_of("overlap")).where(overlap["set"] == "rare sense")
    expected = overlap["size"] / overlap["of"].where(overlap["of"] > 0)
    return show("overlap", overlap.assign(expected=expected, printed=printed.fillna(NOT_PRINTED)))


def correlations_table(correlations: pd.DataFrame, yes: str = "errors") -> Styler:
    """RBC with intervals, one row per measure, the largest of each model in bold (Table 3); N: *yes* and others.

    correlations: rows of `disambiguation.correlations` with one row per model and measure, or `attack_correlations`.
    """
    if correlations["rbc"].isna().all():
        return shown_if(False, "correlations", correlations, NO_MODEL if yes == "errors" else NOT_ATTACKED)
    stars = np.where(correlations["p"] < 1e-5, "*", "")
    table = correlations.assign(cell=_with_bounds(correlations) + stars, size=correlations["rbc"].abs())
    shown, sizes = (styles.wide(table, "measure", "model", name) for name in ("cell", "size"))
    n = correlations.drop_duplicates("model").set_index("model")[["n_yes", "n_no"]].astype(int).astype(str)
    shown = shown.fillna(styles.NOTHING)
    shown.loc[len(shown)] = {"measure": f"N ({yes} / others)", **(n["n_yes"] + " / " + n["n_no"])}
    best = styles.best(sizes.drop(columns="measure"), "column").reindex(range(len(shown)), fill_value=False)
    return show("correlations", shown, best=best)


def variants_table(correlations: pd.DataFrame) -> Styler:
    """The mean beside the sum, and all kinds of PPMI. correlations: `disambiguation.correlations`."""
    rows = correlations[correlations["rbc"].notna() & (correlations["measure"] != "length")]
    if rows.empty:
        return shown_if(False, "variants", correlations)
    space = (", " + rows["space"]).where(rows["measure"].str.startswith("ppmi"), "")
    table = rows.assign(variant=rows["aggregate"] + space, cell=_with_bounds(rows))
    return show("variants", styles.wide(table, ["measure", "variant"], "model", "cell").fillna(styles.NOTHING))


def _with_bounds(correlations: pd.DataFrame) -> pd.Series:
    """Each correlation with its interval, as a cell."""
    table = correlations.assign(side=smaller_side(correlations))
    return pd.Series(styles.cells(table, "rbc", ["low", "high"], ".2f", n="side"), index=table.index)


def thresholds_table(thresholds: pd.DataFrame, what: str) -> Styler:
    """Thresholds of small, medium and large effects by model (Tables 7 and 8). thresholds: of the study's tables."""
    sizes = ["small", "medium", "large"]
    return show("thresholds", styles.wide(thresholds, ["model", "base_rate"], "size", "threshold", sizes), what=what)


# ----------------------------------------------------------------------------
# The attacks and their judges (§3 and §4 of the paper).


def samples_table(samples_made: pd.DataFrame) -> Styler:
    """How many samples each perturbation type makes. samples_made: `disambiguation.samples_made`."""
    return show("samples", samples_made.assign(kind=samples_made["kind"].map(spelled)))


def perturbations_table(examples: pd.DataFrame) -> Styler:
    """One sample of each perturbation type, as the paper marks them (Table 4).

    examples: `disambiguation.perturbation_examples`.
    """
    return show("perturbations", _html(examples, kind=lambda row: spelled(row["kind"]), text=sample_html))


def rates_table(rates: pd.DataFrame, what: str) -> Styler:
    """Success rates in percent, by *what*: "kind" of `success_by_kind`, or "set" of `attack_challenge`."""
    return shown_if(rates["n"].any(), f"rates_by_{what}", rates, NOT_ATTACKED)


def successes_table(successes: pd.DataFrame) -> Styler:
    """Successful attacks (Tables 6 and 13 to 18). successes: `disambiguation.successes`."""
    shown = _html(
        successes,
        source=sample_html,
        original=_word("seed_hypothesis", "seed_words", HOMOGRAPH),
        perturbed=_word("hypothesis", "words", ATTRACTOR),
        sense=_change("seed_sense", "adversarial_sense"),
    )
    return show("successes", shown)


def transfer_table(transfer: pd.DataFrame) -> Styler:
    """Jaccard indices in percent with intervals, beside the paper's ranges (§4). transfer: of the study."""
    printed = [_printed_transfer(*row) for row in transfer[["domain", "relation"]].values]
    return show("transfer", transfer.assign(either=in_either(transfer), printed=printed))


def _printed_transfer(domain: str, relation: str) -> str:
    table = PUBLISHED.texts("transfer")
    own = table[(table["topic"] == "transfer") & (table["domain"] == domain)]
    printed = dict(zip(own["measure"], own["printed"], strict=True))
    if not printed:
        return NOT_PRINTED
    if relation == "random seed":
        return printed["between two seeds of the Transformer"]
    return f"{printed['between architectures, from']} to {printed['between architectures, to']}"


def grammar_table(grammar: pd.DataFrame, skipped: str | None = None) -> Styler:
    """Samples with more grammar errors than their seeds, beside the paper's (§3.3). grammar: of the study.

    skipped: why there is nothing (`disambiguation.grammar_skipped`).
    """
    if not grammar.empty:
        grammar = grammar.assign(printed=grammar["domain"].map(_printed_of("grammar")).fillna(NOT_PRINTED))
    return show("grammar", grammar, why=skipped or "")


def judges_tables(params: DisambiguationParams) -> dict[str, Styler]:
    """What the completed forms of a run show (§3.3): judged_senses and naturalness, and the agreement on each.

    Raises `NbkitError` for forms that cannot be read (`read_forms`).
    """
    senses = params.judgements()
    scores = params.judgements("naturalness")
    measured: dict[str, tuple[str, pd.DataFrame | None, Callable[[pd.DataFrame], pd.DataFrame]]] = {
        "judged_senses": ("judged_senses", senses, error_rates),
        "judged_senses_agreement": ("agreement", senses, partial(agreement, labels=SENSE_ANSWERS, seed=params.seed)),
        "naturalness": ("naturalness", scores, naturalness),
        "naturalness_agreement": ("agreement", scores, partial(weighted_agreement, seed=params.seed)),
    }
    return {
        name: show(entry, pd.DataFrame() if judged is None else measure(judged))
        for name, (entry, judged, measure) in measured.items()
    }
