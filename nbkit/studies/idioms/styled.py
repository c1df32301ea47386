"""Names, colours (``looks.yaml``), tables (``tables.yaml``), marked sentences and remarks of the idioms pages.

A table function takes a table of `nbkit.studies.idioms`; `show` shows those that need only their entry. The ``data`` of
a styled table goes into its CSV copy; a table without rows says why.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.corpora.idioms import training_copies
from nbkit.figures import styles, theme
from nbkit.figures.theme import Look
from nbkit.models import model_identity
from nbkit.studies import page
from nbkit.studies.idioms.params import AS_IT_IS, paper_name
from nbkit.studies.idioms.steps import token_spans, with_states
from nbkit.studies.idioms.tables import OF, PUBLISHED, condition_name, is_control
from nbkit.text.phrases import PhraseMatch, PhraseMatcher
from nbkit.text.sentences import Text
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    from nbkit.studies.idioms import IdiomsParams

#: Measures of which less is better.
_DOWN = frozenset({"litter", "perplexity", "entropy_idiom", "entropy_other"})
_ENDS = ("low", "high")
_IDIOM = 'mark style="background-color: #e3edf9"'
_TRIGGER = 'mark style="background-color: #fbdcd4"'


def footer(params: IdiomsParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what is measured by what, models, versions."""
    pairs = [(params.source, language) for language in params.languages]
    by = {"aligners": ", ".join(params.aligners), "dictionary": params.dictionary}
    if params.voters:
        by |= {"references": f"a third of the other systems (voters: {len(params.voters)})"}
    names = [system.name for system in params.systems]
    return page.footer(params, by, names, lambda name: [model_identity(name, *pair) for pair in pairs], pairs=pairs)


# ----------------------------------------------------------------------------
# How models, conditions, contexts, controls and measures appear; names and colours are data.


@cache
def _data() -> dict[str, Any]:
    return read_own(Path(__file__).with_name("looks.yaml"))


def label(kind: str, name: str) -> str:
    """A name of one kind, "measures", "variants" or "contexts", as axes and tables call it; any other stays.

    >>> label("measures", "litter"), label("measures", "LitTER ↓")
    ('LitTER ↓', 'LitTER ↓')
    """
    return _data()[kind].get(name, name)


def model_looks(models: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each model, in the order given; controls are skipped.

    >>> looks = model_looks(["random", "pretrained", "references"])
    >>> looks["pretrained"].label, looks["pretrained"].colour == model_looks(["mBART"])["mBART"].colour, len(looks)
    ('pretrained', True, 2)
    """
    names = [name for name in dict.fromkeys(models) if not is_control(name)]
    known = _data()["models"]
    others = theme.model_looks(name for name in names if paper_name(name) not in known)
    found = {}
    for name in names:
        own = known.get(paper_name(name))
        found[name] = Look(name, **own) if own else replace(others[name], label=theme.short_name(name))
    return found


def control_looks() -> dict[str, Look]:
    """Name and colour of each control."""
    return {name: Look(**look) for name, look in _data()["controls"].items()}


def illustration() -> dict[str, Any]:
    """What `figures.probe_figure` draws: a sentence with its idiom and translation, and what each figure measures."""
    return _data()["illustration"]


def shade(colour: str, context: str) -> tuple[float, float, float]:
    """*colour* for a context: the less context, the lighter.

    >>> shade("#000000", "full"), shade("#000000", "word")[0]
    ((0.0, 0.0, 0.0), 0.75)
    """
    strength = _data()["strengths"][context]
    red, green, blue = (strength * part + 1 - strength for part in mpl.colors.to_rgb(colour))
    return red, green, blue


def system_label(model: str, condition: str) -> str:
    """Model and condition in one.

    >>> system_label("random", "upsample-20"), system_label("references", "")
    ('random, upsample 20x', 'references')
    """
    return f"{model}, {condition_name(condition)}" if condition not in ("", AS_IT_IS) else model


def condition_tick(condition: str) -> str:
    """A training condition below an axis: a long name on two lines.

    >>> condition_tick("upsample-20"), condition_tick(AS_IT_IS)
    ('upsample\\n20x', 'as it is')
    """
    return textwrap.fill(condition_name(condition), 8)


def in_order(conditions: Iterable[str]) -> list[str]:
    """Conditions without repeats, from least to most of idiom-train, then "as it is"; controls' empty one is skipped.

    >>> in_order(["as it is", "upsample-100", "joint", "", "zero", "upsample-20", "joint"])
    ['zero', 'joint', 'upsample-20', 'upsample-100', 'as it is']
    """
    names = [name for name in dict.fromkeys(conditions) if name]
    return sorted(names, key=lambda name: (name == AS_IT_IS, name != AS_IT_IS and training_copies(name)))


#: The study's tables and the paper's.
TABLES = page.Sheets(
    Path(__file__).with_name("tables.yaml"),
    PUBLISHED,
    names={
        "condition": lambda name: condition_name(name) or styles.NOTHING,
        "measure": lambda name: label("measures", name),
    },
)
show = TABLES.show


# ----------------------------------------------------------------------------
# Remarks.


def signatures(table: pd.DataFrame) -> HTML:
    """The signature of every score of *table*, once each, as a remark below it; with the variant's name if it has one.

    >>> signed = signatures(pd.DataFrame({"signature": ["a", "b", "a"], "variant": ["paper", "published", "paper"]}))
    >>> signed.data.partition(">")[2]
    'Signatures: as in the text: a · published figures: b</p>'
    """
    signed = table["signature"]
    if "variant" in table:
        signed = table["variant"].map(lambda name: label("variants", str(name))) + ": " + signed
    return styles.note("Signatures: " + " · ".join(dict.fromkeys(signed)))


def replaced_states(params: IdiomsParams) -> HTML:
    """A remark on which encoder states the probes replace, and on systems that have none to look into."""
    every = dict.fromkeys(system.label for system in params.systems)
    probed = {system.label for language in params.languages for system in with_states(params, language)}
    unseen = [label for label in every if label not in probed]
    more = f" Not measurable with outputs alone: {', '.join(unseen)}." if unseen else ""
    return styles.note(_data()["replaced_states"][params.end_state] + more)


def training_checked(checked: pd.DataFrame) -> HTML:
    """A remark on whose training data no sentence of idiom-test is in. checked: `idioms.training_checked`."""
    known = checked[checked["pairs"].notna()]
    parts = []
    if len(known):
        least, most = (f"{pairs:,.0f}" for pairs in (known["pairs"].min(), known["pairs"].max()))
        sizes = least if least == most else f"{least} to {most}"
        searched = f"Searched: the training data of {len(known)} of {len(checked)} models, {sizes} pairs each; "
        parts.append(f"{searched}it does not contain any sentence of idiom-test.")
    if len(known) < len(checked):
        others = checked.loc[checked["pairs"].isna(), "model"]
        parts.append(f"Unknown: the training data of {', '.join(dict.fromkeys(others))}.")
    return styles.note(" ".join(parts) or "This run has no model, so no training data was searched.")


# ----------------------------------------------------------------------------
# Tables, as far as their entry does not say it all.


def statistics_table(statistics: pd.DataFrame) -> Styler:
    """How many pairs there are of what, beside the paper's (Table 1). statistics: `idioms.data_statistics`."""
    printed = statistics["printed"].where(statistics["published"].isna(), statistics["published"].map("{:,.0f}".format))
    return show("statistics", statistics.assign(printed=printed))


def litter_table(errors: pd.DataFrame) -> Styler:
    """LitTER as the paper's text and as in its figures, and of covered pairs. errors: `idioms.literal_errors`."""
    every, covered, figures = (
        errors[(errors["variant"] == variant) & (errors["pairs"] == pairs)].reset_index(drop=True)
        for variant, pairs in (("paper", "paper"), ("paper", "covered"), ("published", "paper"))
    )
    values = ["value", *_ENDS]
    shown = every.join([covered[values].add_suffix("_covered"), figures[values].add_suffix("_published")])
    best = pd.DataFrame({"all": _best(every, "value", lower=True), "published": _best(figures, "value", lower=True)})
    return show("litter", shown.assign(n=_counts(every)), best=best)


def coverage_table(errors: pd.DataFrame) -> Styler:
    """How far the dictionary reaches, one row per language. errors: `idioms.literal_errors`."""
    return show("coverage", errors[errors["model"] == "references"].drop_duplicates("language"))


def variants_table(errors: pd.DataFrame) -> Styler:
    """LitTER by each way of counting, of all pairs. errors: `idioms.literal_errors`."""
    own = errors[errors["pairs"] == "paper"]
    ways = own["variant"].map(lambda name: label("variants", str(name)))
    cells = styles.cells(own, "value", _ENDS, n="idioms")
    return show("variants", styles.wide(own.assign(cell=cells, variant=ways), _keys(own), "variant", "cell"))


def accuracy_table(accuracy: pd.DataFrame) -> Styler:
    """APT-Eval by every aligner. accuracy: `idioms.accuracy`."""
    keys = [*_keys(accuracy), "aligner"]
    measures = accuracy["measure"].map(lambda name: label("measures", name))
    cells = styles.cells(accuracy, "value", _ENDS)
    shown = styles.wide(accuracy.assign(cell=cells, measure=measures), keys, "measure", "cell")
    first = accuracy.drop_duplicates(keys).reset_index(drop=True)
    more = first[["empty_reference", "empty_hypothesis"]]
    return show("accuracy", shown.assign(n=_counts(first)).join(more))


def scores_table(scores: pd.DataFrame) -> Styler:
    """BLEU and chrF on every test set. scores: `idioms.global_scores`."""
    names = scores["measure"].map(lambda name: label("measures", name).removesuffix(" ↑")) + ", " + scores["of"]
    order = list(names[scores["measure"].sort_values(kind="stable").index].unique())
    cells = _numbers(scores, "value", _ENDS, n="n")
    shown = styles.wide(scores.assign(cell=cells, column=names), _keys(scores), "column", "cell", order)
    sizes = ", ".join(f"{name} {n:,}" for name, n in scores.groupby("of", sort=False)["n"].max().items())
    return show("scores", shown, sizes=sizes)


def results_table(results: pd.DataFrame) -> Styler:
    """This run in the form of Tables 2 to 4, the best of a column in bold. results: `idioms.results`."""
    only_controls = results["model"].map(is_control).all()
    return _all_results("results", results.head(0) if only_controls else results)


def printed_table(artefact: str) -> Styler:
    """What the paper prints: "table2", "table3" (en→fr) or "table4" (en→es)."""
    return _all_results("printed", PUBLISHED.load(artefact), title=PUBLISHED.title(artefact))


def _all_results(name: str, table: pd.DataFrame, title: str = "") -> Styler:
    """One row per system and one column per measure, in the order in which they first appear."""
    rows = table.assign(column=list(map(_measure, table["measure"], table["of"])), cell=_numbers(table, "value"))
    columns = dict(zip(rows["column"], rows["measure"], strict=True))
    shown = styles.wide(rows, _keys(table), "column", "cell").fillna(styles.NOTHING)
    numbers = styles.wide(rows, OF, "column", "value")
    best = {column: _best(numbers, column, lower=measure in _DOWN) for column, measure in columns.items()}
    return show(name, shown, best=pd.DataFrame(best), title=title)


def beside_table(results: pd.DataFrame, measures: Iterable[str]) -> Styler:
    """This run and the paper for the same condition and kind of model, where the paper prints a number.

    results: `idioms.results`. measures: those shown.
    """
    own = results[results["measure"].isin(list(measures)) & results["published"].notna()]
    own = own.assign(from_code=own["as_computed"] - own["published"])
    shown = own.assign(
        measure=list(map(_measure, own["measure"], own["of"])),
        value=_numbers(own, "value", _ENDS, n="n"),
        as_computed=_numbers(own, "as_computed"),
        difference=_numbers(own, "difference", sign="+"),
        from_code=_numbers(own, "from_code", sign="+"),
    )
    return show("beside", shown)


def alignments_table(accuracy: pd.DataFrame) -> Styler:
    """Share of references whose idiom is aligned to nothing, beside the paper's two aligners (appendix B.2)."""
    ours = accuracy[accuracy["model"] == "references"].drop_duplicates(["language", "aligner"])
    theirs = PUBLISHED.load("alignments")
    return show("alignments", pd.concat([ours.assign(whose="this run"), theirs.assign(whose="paper")]))


def contexts_table(effects: pd.DataFrame, measures: Sequence[str]) -> Styler:
    """Each measure in each context, and what the loss of context changes. effects: `idioms.context_effects`."""
    form, heading = (".2f", "perplexity") if "perplexity" in measures else (".3f", "mean")
    return show("contexts", effects[effects["measure"].isin(list(measures))], form=form, heading=heading)


def _numbers(
    table: pd.DataFrame, of: str, ends: Sequence[str] = (), sign: str = "", n: str | None = None
) -> np.ndarray:
    """The cells of a column, as `styles.cells`: BLEU, in per cent, with one digit, other measures with three."""
    of_bleu, others = (styles.cells(table, of, ends, f"{sign}{form}", n=n) for form in (".1f", ".3f"))
    return np.where(table["measure"] == "bleu", of_bleu, others)


def _counts(table: pd.DataFrame) -> list[str]:
    """Pairs, and idioms in brackets."""
    return [f"{n:,} ({idioms:,}){styles.dagger(idioms)}" for n, idioms in zip(table["n"], table["idioms"], strict=True)]


def _best(table: pd.DataFrame, value: str, *, lower: bool) -> pd.Series:
    """Which rows of systems hold the best number of their language; none where there is one system."""
    numbers = table[value].where(~table["model"].map(is_control).astype(bool))
    by_language = numbers.groupby(table["language"])
    return numbers.eq(by_language.transform("min" if lower else "max")) & (by_language.transform("count") > 1)


def _measure(measure: str, of: str) -> str:
    """A measure and what it is of, as a column head."""
    name = label("measures", measure)
    return f"{name} ({of})" if of else name


def _keys(table: pd.DataFrame) -> list[str]:
    """The columns that tell systems apart."""
    return [*styles.varying(table, ["language"]), "condition", "model"]


# ----------------------------------------------------------------------------
# Sentences as HTML, with idioms, triggers and blocklists marked; everything else is escaped.


def examples_table(samples: pd.DataFrame, language: str = "fr") -> Styler:
    """Worked examples of LitTER (Figures 14 and 15): texts, blocklists, the verdict; the trigger is marked.

    samples: `idioms.litter_samples` or `idioms.published_examples`. language: of the translations, where the table does
    not say.
    """
    rows: list[dict[str, str]] = []
    for row in samples.to_dict("records"):
        triggers = json.loads(row["triggers"])
        names = list(dict.fromkeys(name for name, _ in triggers))
        idiom = f"<br><i>{escape(row['idiom'])}</i>" if row["spans"] == "[]" else ""
        places = token_spans(row["hypothesis"], row.get("language", language))
        hit = [places[token] for _, tokens in triggers for token in tokens]
        texts = {"source": _source(row) + idiom, "reference": styles.breakable(row["reference"])}
        texts["translation"] = styles.marked(row["hypothesis"], hit, _TRIGGER)
        verdict = f"literal error: {escape(', '.join(names))}" if row["error"] else "no error"
        if "agrees" in row:
            verdict += "<br>" + ("as printed" if row["agrees"] else "not as printed")
        lists = _blocklists(json.loads(row["blocklists"]), names)
        rows.append({"whose": _whose(row, samples), "texts": _lines(texts), "blocklists": lists, "verdict": verdict})
    return show("examples", pd.DataFrame(rows), whose="figure" if "figure" in samples else "model")


def dissents_table(dissents: pd.DataFrame) -> Styler:
    """Literal translations that few other systems have, by system. dissents: `idioms.dissents`."""
    best = pd.DataFrame({"literal": _best(dissents, "value", lower=True)})
    return show("dissents", dissents.assign(n=_counts(dissents)), best=best)


def side_by_side_table(outputs: pd.DataFrame) -> Styler:
    """The sentences in which a system is flagged, each with all outputs. outputs: `idioms.side_by_side`."""
    rows = []
    flagged = outputs[outputs["flagged"] > 0]
    for (language, number, idiom), own in flagged.groupby(["language", "id", "idiom"], sort=False):
        texts = {"source": _source(own.iloc[0].to_dict())}
        for row in own.to_dict("records"):
            triggers = json.loads(row["triggers"])
            places = token_spans(row["hypothesis"], str(language))
            hit = [places[token] for _, tokens, _ in triggers for token in tokens]
            beside = f" ({max(others for *_, others in triggers)})" if triggers else ""
            texts[escape(row["system"]) + beside] = styles.marked(row["hypothesis"], hit, _TRIGGER)
        where = f"line {str(number).rpartition(':')[2]}<br><i>{escape(str(idiom))}</i>"
        rows.append({"where": where, "texts": _lines(texts)})
    return show("side_by_side", pd.DataFrame(rows))


def context_examples_table(examples: pd.DataFrame, contexts: Sequence[str]) -> Styler:
    """Translations of the same sentences with the idiom in less and less context. examples:
    `idioms.context_examples`."""
    rows = []
    for row in examples.to_dict("records"):
        texts = {escape(name): styles.breakable(row[name]) for name in ("reference", *contexts)}
        rows.append({"whose": _whose(row, examples), "texts": _lines({"source": _source(row), **texts})})
    return show("context_examples", pd.DataFrame(rows))


def matches(found: Iterable[tuple[Text, Sequence[PhraseMatch]]]) -> HTML:
    """Texts with the phrases found in them, marked and named in the line by displaCy, which escapes them (Figure 9)."""
    from spacy import displacy

    documents = [
        {
            "text": text.text,
            "ents": [dict(zip(("start", "end"), each.span, strict=True), label=escape(_found(each))) for each in own],
        }
        for text, own in found
    ]
    return HTML(displacy.render(documents, style="ent", manual=True, jupyter=False, page=False))


def matches_table(found: Iterable[tuple[Text, Sequence[PhraseMatch]]]) -> Styler:
    """What was found in each text, the phrase's words marked; a wording that is not the list's is named."""
    rows = [
        {
            "text": styles.marked(text.text, [match.span for match in own], _IDIOM),
            "phrase": "<br>".join(escape(_found(match)) for match in own) or "none",
            "overlapping": "<br>".join(escape(each.phrase) for match in own for each in match.overlapping),
        }
        for text, own in found
    ]
    return show("matches", pd.DataFrame(rows))


def rules_table(phrase: str) -> Styler:
    """The patterns that spaCy's `Matcher` gets for one phrase: one row per token pattern (Figure 9)."""
    rows = [
        {"wording": number, "pattern": f"<code>{escape(json.dumps(pattern, ensure_ascii=False, default=list))}</code>"}
        for number, wording in enumerate(PhraseMatcher([phrase]).rules(phrase), start=1)
        for pattern in wording
    ]
    return show("rules", pd.DataFrame(rows))


def _found(match: PhraseMatch) -> str:
    """The phrase, and in brackets the variation that it was found by."""
    return f"{match.phrase} ({match.variation})" if match.variation else match.phrase


def _source(row: dict[Hashable, Any]) -> str:
    return styles.marked(row["source"], [tuple(span) for span in json.loads(row["spans"])], _IDIOM)


def _lines(texts: dict[str, str]) -> str:
    """Texts, as HTML, one below the other behind their names."""
    return "<br>".join(f"<b>{name}</b> {text}" for name, text in texts.items())


def _whose(row: dict[Hashable, Any], table: pd.DataFrame) -> str:
    """The figure of an example, or the system that made it; with its language where there are several."""
    if "figure" in row:
        return escape(str(row["figure"]))
    of = f"{row['language']}: " if table["language"].nunique() > 1 else ""
    return escape(f"{of}{system_label(row['model'], row['condition'])}")


def _blocklists(lists: Sequence[Sequence[Any]], triggers: Sequence[str]) -> str:
    """Each word with its translations: struck through where the reference has one, triggers marked."""
    lines = []
    for word, translations, left in lists:
        hit = triggers if left else ()
        shown = [styles.marked(each, [(0, len(each))] if each in hit else [], _TRIGGER) for each in translations]
        line = f"{escape(word)} → {', '.join(shown)}"
        lines.append(line if left else f"<s>{line}</s>")
    return "<br>".join(lines) or "none of its words is in the dictionary"
