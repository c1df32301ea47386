"""What the idioms pages have besides figures and tables: signatures and their footer."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import styles
from nbkit.models import model_identity
from nbkit.studies import page
from nbkit.studies.idioms import PUBLISHED
from nbkit.studies.idioms.data import token_spans
from nbkit.studies.idioms.figures import NO_PROBE, NO_SYSTEM, measure_label, system_label, variant_label
from nbkit.studies.idioms.tables import condition_name, is_control
from nbkit.text.phrases import PhraseMatch
from nbkit.text.sentences import Text

if TYPE_CHECKING:
    from nbkit.studies.idioms import IdiomsParams


def signatures(table: pd.DataFrame) -> HTML:
    """The signature of every score of *table*, once each, as a remark below it; with the variant's name if it has one.

    >>> signed = signatures(pd.DataFrame({"signature": ["a", "b", "a"], "variant": ["paper", "published", "paper"]}))
    >>> signed.data.partition(">")[2]
    'Signatures: as in the text: a · published figures: b</p>'
    """
    signed = list(table["signature"])
    if "variant" in table:
        names = table["variant"].map(lambda name: variant_label(str(name)))
        signed = [f"{name}: {each}" for name, each in zip(names, signed, strict=True)]
    return styles.note("Signatures: " + " · ".join(dict.fromkeys(signed)))


def not_printed(*names: str, more: str = "") -> HTML:
    """A remark that the paper only draws these figures. more: what else there is to say of them.

    >>> not_printed("fig5", "fig16").data.partition(">")[2]
    'Published values: not printed; the paper only draws Figure 5 and Figure 16.</p>'
    """
    return styles.note(f"Published values: not printed; the paper only draws {_numbers(names)}. {more}".strip())


def drawn_from(figures: Sequence[str], tables: Sequence[str]) -> HTML:
    """A remark on figures whose values the paper prints, in tables.

    >>> drawn_from(["fig3", "fig13"], ["table3"]).data.partition(">")[2]
    'Published values: those that Figure 3 and Figure 13 draw are printed in Table 3.</p>'
    """
    return styles.note(f"Published values: those that {_numbers(figures)} draw are printed in {_numbers(tables)}.")


def illustrated(*names: str) -> HTML:
    """A remark on drawings of the paper that show a procedure, and no values.

    >>> illustrated("fig1").data.partition(">")[2]
    'Illustrations of what is done here, without values: Figure 1: overview of LitTER.</p>'
    """
    titles = "; ".join(map(PUBLISHED.title, names))
    return styles.note(f"Illustrations of what is done here, without values: {titles}.")


def replaced_states(params: IdiomsParams) -> HTML:
    """A remark on which encoder states the probes replace: as the paper words it, or as its research code does."""
    if params.end_state == "kept":
        return styles.note(
            "Replaced: the states of the idiom's subwords, as the paper words it. Its research code replaces that of "
            "the sentence's end, too: set end_state to 'replaced'."
        )
    return styles.note(
        "Replaced: the states of the idiom's subwords and those of the special tokens after the sentence, which become "
        "those of the last part encoded by itself, as in the paper's research code; the paper does not mention the end."
    )


def training_checked(checked: pd.DataFrame) -> HTML:
    """A remark on whose training data no sentence of idiom-test is in. checked: `idioms.training_checked`."""
    known = checked[checked["pairs"].notna()]
    parts = []
    if len(known):
        sizes = sorted({int(pairs) for pairs in known["pairs"]})
        most = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
        parts.append(f"Looked through: what {len(known)} of {len(checked)} models were trained on, {most} pairs each; "
                     "no sentence of idiom-test is in it.")  # fmt: skip
    if len(known) < len(checked):
        others = checked.loc[checked["pairs"].isna(), "model"]
        parts.append(f"Not known: what {', '.join(dict.fromkeys(others))} saw in training.")
    return styles.note(" ".join(parts) or "No model in this run, so no training data was looked through.")


def _numbers(names: Sequence[str]) -> str:
    """The numbers that figures and tables have in the paper."""
    return " and ".join(PUBLISHED.title(name).partition(":")[0] for name in names)


def footer(params: IdiomsParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what is measured by what, models, versions."""
    names = [system.name for system in params.systems]
    pairs = [(params.source, language) for language in params.languages]
    by = {"aligners": ", ".join(params.aligners), "dictionary": params.dictionary}
    return page.footer(params, by, names, lambda name: [model_identity(name, *pair) for pair in pairs], pairs=pairs)


# ----------------------------------------------------------------------------
# Tables of the idioms study, styled: Tables 1 to 4 of the paper, and those beside its figures.
#
# Each takes a table of `nbkit.studies.idioms` and returns a pandas Styler; its ``data`` is what a CSV copy
# holds. A table without rows says why.

#: What counts as better where it rises, and where it falls.
_DOWN = frozenset({"litter", "perplexity", "entropy_idiom", "entropy_other"})


def statistics_table(statistics: pd.DataFrame) -> Styler:
    """How many pairs there are of what, beside the paper's (Table 1). statistics: `idioms.data_statistics`."""
    shown = statistics[[*styles.varying(statistics, ["language"]), "statistic"]].assign(
        value=[_whole(value) for value in statistics["value"]],
        printed=[text if text == "not printed" else _whole(float(text)) for text in statistics["printed"]],
    )
    caption = "Sentence pairs, and how many idioms they hold"
    return styles.styled(shown, caption=caption, headings={"statistic": "what", "value": "this run"})


def frequencies_table(frequencies: pd.DataFrame) -> Styler:
    """How often each idiom is there. frequencies: `idioms.idiom_frequencies`."""
    columns = [*styles.varying(frequencies, ["language"]), "rank", "idiom", "train", "test"]
    caption = "Sentence pairs of each idiom"
    return styles.styled(frequencies[columns], caption=caption, headings={"train": "idiom-train", "test": "idiom-test"})


def recall_table(recall: pd.DataFrame) -> Styler:
    """What of the data's own idioms the matcher finds. recall: `idioms.matcher_recall`."""
    shown = recall[["language", "pairs", "spans"]].assign(
        found=recall["found"].map("{:.1%}".format), exact=recall["exact"].map("{:.1%}".format), extra=recall["extra"]
    )
    return styles.styled(
        shown,
        caption="Idioms of the data that the matcher finds, by rules made of their own names",
        headings={
            "spans": "given places",
            "found": "found",
            "exact": "with the same words",
            "extra": "found beside them",
        },
    )


def litter_table(errors: pd.DataFrame) -> Styler:
    """LitTER as the paper's text and as its figures have it, and of covered pairs. errors: `idioms.literal_errors`."""
    own, figures = errors[errors["variant"] == "paper"], errors[errors["variant"] == "published"]
    if own.empty:
        return styles.empty(NO_SYSTEM)
    every, covered = (own[own["pairs"] == pairs].reset_index(drop=True) for pairs in ("paper", "covered"))
    figures = figures[figures["pairs"] == "paper"].reset_index(drop=True)
    shown = _systems(own).assign(
        all=_cells(every, "value", "low", "high"),
        published=_cells(figures, "value", "low", "high"),
        micro=_cells(every, "micro", "micro_low", "micro_high"),
        covered=_cells(covered, "value", "low", "high"),
        n=_counts(every),
    )
    best = pd.DataFrame(False, index=shown.index, columns=shown.columns)
    best["all"] = _best(every, "value", lower=True)
    best["published"] = _best(figures, "value", lower=True)
    return styles.styled(
        shown,
        best=best,
        caption="LitTER: share of translations with a literal error, mean over idioms, 95% intervals over "
        "idioms. Text: as the paper defines it; published figures: as its research code computed them; micro (mean "
        "over pairs) and covered (pairs that the dictionary reaches): as defined. N: pairs (idioms)",
        headings={"all": "text, all pairs", "published": "published figures", "covered": "covered pairs"},
    )


def findings_table(findings: pd.DataFrame) -> Styler:
    """Whether the paper's main findings hold in this run. findings: `idioms.findings`."""
    if findings.empty:
        return styles.empty("This run has no two conditions or models to compare.")
    cells = findings[["difference", "low", "high"]].itertuples(index=False, name=None)
    shown = findings[[*styles.varying(findings, ["language"]), "finding"]].assign(
        difference=[_change(value, low, high, 3) for value, low, high in cells],
        holds=findings["holds"],
        n=findings["n"],
    )
    return styles.styled(
        shown,
        caption="Of which the paper says that the first has more literal errors: the difference in LitTER, mean over "
        "idioms with 95% interval; not sure: the interval holds 0. N: idioms",
    )


def coverage_table(errors: pd.DataFrame) -> Styler:
    """How far the dictionary reaches, a row a language. errors: `idioms.literal_errors`."""
    columns = ["covered_pairs", "open_pairs", "covered_idioms"]
    of_references = errors[errors["model"] == "references"]
    first = of_references.groupby("language", sort=False)[columns].first().reset_index()
    shown = first.assign(**{name: first[name].map("{:.1%}".format) for name in columns})
    return styles.styled(
        shown,
        caption="What the dictionary reaches: only these pairs could show a literal error",
        headings={"covered_pairs": "pairs with a blocklist", "open_pairs": "with one that the reference leaves",
                  "covered_idioms": "idioms with a blocklist"},
    )  # fmt: skip


def variants_table(errors: pd.DataFrame) -> Styler:
    """LitTER by each way of counting, of all pairs. errors: `idioms.literal_errors`."""
    own = errors[errors["pairs"] == "paper"]
    if own.empty:
        return styles.empty(NO_SYSTEM)
    parts = {}
    for variant in dict.fromkeys(own["variant"]):
        side = own[own["variant"] == variant].reset_index(drop=True)
        parts[variant_label(str(variant))] = _cells(side, "value", "low", "high", n="idioms")
    return styles.styled(
        _systems(own).assign(**parts),
        caption="LitTER by way of counting, mean over idioms with 95% interval; as in the text: the paper's "
        "definition, published figures: what its research code computes; the others are nbkit's own",
    )


def accuracy_table(accuracy: pd.DataFrame) -> Styler:
    """APT-Eval by every aligner. accuracy: `idioms.accuracy`."""
    if accuracy.empty:
        return styles.empty(NO_SYSTEM)
    measures = list(dict.fromkeys(accuracy["measure"]))
    sides = [accuracy[accuracy["measure"] == name].reset_index(drop=True) for name in measures]
    cells = {measure_label(str(name)): _cells(side, "value", "low", "high")
             for name, side in zip(measures, sides, strict=True)}  # fmt: skip
    first = sides[0]
    shown = pd.concat([first[_keys(first)], first[["aligner"]]], axis=1)
    empty = {f"empty_{side}": first[f"empty_{side}"].map("{:.1%}".format) for side in ("reference", "hypothesis")}
    return styles.styled(
        _named(shown).assign(**cells, n=_counts(first), **empty),
        caption="APT-Eval: mean over idioms with 95% interval. N: pairs (idioms). Empty: share of the pairs whose "
        "idiom is aligned to nothing in the reference, and in the translation",
        headings={"empty_reference": "empty", "empty_hypothesis": "in transl."},
    )


def scores_table(scores: pd.DataFrame) -> Styler:
    """BLEU and chrF on every test set. scores: `idioms.global_scores`."""
    if scores.empty:
        return styles.empty(NO_SYSTEM)
    columns: dict[str, list[str]] = {}
    for measure in ("bleu", "chrf"):
        for name in dict.fromkeys(scores["of"]):
            side = scores[(scores["of"] == name) & (scores["measure"] == measure)].reset_index(drop=True)
            decimals = 1 if measure == "bleu" else 3
            cells = _cells(side, "value", "low", "high", decimals, n="n")
            columns[f"{measure_label(measure).removesuffix(' ↑')}, {name}"] = cells
    sizes = ", ".join(f"{name} {n:,}" for name, n in scores.groupby("of", sort=False)["n"].max().items())
    return styles.styled(
        _systems(scores).assign(**columns),
        caption="Corpus BLEU (per cent) and chrF (a share) with sacreBLEU's 95% intervals over sentences. "
        f"Sentences: {sizes}",
    )


def results_table(results: pd.DataFrame) -> Styler:
    """This run in the form of Tables 2 to 4, the best of a column in bold. results: `idioms.results`."""
    systems = results[~results["model"].map(is_control).astype(bool)]
    if systems.empty:
        return styles.empty(NO_SYSTEM)
    return _wide(
        results, "All results of this run: LitTER and APT-Eval as means over idioms, BLEU in per cent, chrF as a share"
    )


def printed_table(artefact: str) -> Styler:
    """What the paper prints: "table2", "table3" (en→fr) or "table4" (en→es)."""
    return _wide(PUBLISHED.load(artefact), f"{PUBLISHED.title(artefact)}, as printed")


def beside_table(results: pd.DataFrame, measures: Iterable[str]) -> Styler:
    """This run and the paper for the same condition and kind of model, where the paper prints a number.

    results: `idioms.results`. measures: those shown.
    """
    own = results[results["measure"].isin(list(measures))]
    known = own[own["published"].notna()]
    if known.empty:
        return styles.empty("The paper prints no number for a model and condition of this run's: not printed.")
    decimals = [1 if measure == "bleu" else 3 for measure in known["measure"]]
    from_code = known["as_computed"] - known["published"]
    shown = _named(known[[*_keys(known)]]).assign(
        measure=[_measure(measure, of) for measure, of in known[["measure", "of"]].itertuples(index=False)],
        value=list(map(styles.with_interval, known["value"], known["low"], known["high"], decimals, known["n"])),
        as_computed=[_plain(value, n, "") for value, n in zip(known["as_computed"], decimals, strict=True)],
        printed=known["printed"],
        difference=[_plain(value, n) for value, n in zip(known["difference"], decimals, strict=True)],
        from_code=[_plain(value, n) for value, n in zip(from_code, decimals, strict=True)],
    )
    return styles.styled(
        shown,
        caption="This run beside the paper. Other data, models and dictionary: what can be compared is which condition "
        "and model is better, not how good they are. A dash: the research code computes what the paper defines",
        headings={
            "value": "this run, as defined",
            "as_computed": "as their code computes it",
            "difference": "as defined − printed",
            "from_code": "as computed − printed",
        },
    )


def alignments_table(accuracy: pd.DataFrame) -> Styler:
    """Share of references whose idiom is aligned to nothing, beside the paper's two aligners (appendix B.2)."""
    ours = accuracy[accuracy["model"] == "references"].groupby(["language", "aligner"], sort=False)["empty_reference"]
    shares = ours.first().reset_index().itertuples(index=False, name=None)
    rows = [(aligner, language, f"{share:.1%}", "this run") for language, aligner, share in shares]
    theirs = PUBLISHED.load("alignments")
    rows += [(each.aligner, each.language, f"{each.empty_reference:.1%}", "paper") for each in theirs.itertuples()]
    return styles.styled(
        pd.DataFrame(rows, columns=["aligner", "language", "empty", "whose"]),
        caption="References in which the idiom is aligned to nothing",
        headings={"empty": "empty matches", "whose": "from"},
    )


def contexts_table(effects: pd.DataFrame, measures: Sequence[str]) -> Styler:
    """Each measure in each context, and what the loss of context changes. effects: `idioms.context_effects`."""
    own = effects[effects["measure"].isin(list(measures))].reset_index(drop=True)
    if own.empty:
        return styles.empty(NO_PROBE)
    keys = [*_keys(own), *(["measure"] if len(measures) > 1 else []), "context"]
    decimals = 2 if "perplexity" in measures else 3
    changes = own[["change", "change_low", "change_high"]].itertuples(index=False, name=None)
    shown = _named(own[keys]).assign(
        value=_cells(own, "value", "low", "high", decimals),
        change=[_change(value, low, high, decimals) for value, low, high in changes],
        n=own["n"],
    )
    return styles.styled(
        shown,
        caption="By context of the idiom, with 95% intervals over idioms; change: from the context above. N: pairs",
        headings={"value": "mean" if "perplexity" not in measures else "perplexity"},
    )


def _change(value: float, low: float, high: float, decimals: int) -> str:
    if pd.isna(value):
        return styles.NOTHING
    shown = f"{value:+.{decimals}f}"
    return shown if pd.isna(low) or pd.isna(high) else f"{shown} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


def _plain(value: float, decimals: int, sign: str = "+") -> str:
    return styles.NOTHING if pd.isna(value) else f"{value:{sign}.{decimals}f}"


def _counts(table: pd.DataFrame) -> list[str]:
    """Pairs, and idioms in brackets."""
    return [f"{n:,} ({idioms:,}){styles.dagger(idioms)}" for n, idioms in zip(table["n"], table["idioms"], strict=True)]


def _wide(table: pd.DataFrame, caption: str) -> Styler:
    """A row a system and a column a measure, in the order in which they first appear."""
    keys = _keys(table)
    measures = list(dict.fromkeys(zip(table["measure"], table["of"], strict=True)))
    systems = table[keys].drop_duplicates().reset_index(drop=True)
    shown, best = _named(systems), pd.DataFrame(False, index=systems.index, columns=systems.columns)
    for measure, of in measures:
        own = table[(table["measure"] == measure) & (table["of"] == of)]
        merged = systems.merge(own, on=keys, how="left")
        name = _measure(str(measure), str(of))
        shown[name] = [styles.NOTHING if pd.isna(value) else f"{value:.{1 if measure == 'bleu' else 3}f}"
                       for value in merged["value"]]  # fmt: skip
        best[name] = _best(merged.assign(language=merged.get("language", "")), "value", lower=measure in _DOWN)
    return styles.styled(shown, caption=caption, best=best)


def _best(table: pd.DataFrame, value: str, *, lower: bool) -> list[bool]:
    """Which rows of systems hold the best number of their language; none where there is one system."""
    found = pd.Series(False, index=table.index)
    systems = table[~table["model"].map(is_control).astype(bool)]
    for _, rows in systems.groupby("language", sort=False):
        if rows[value].count() > 1:
            found[rows.index] = rows[value] == (rows[value].min() if lower else rows[value].max())
    return list(found)


def _measure(measure: str, of: str) -> str:
    """A measure and what it is of, as a column head."""
    name = measure_label(measure)
    return f"{name} ({of})" if of else name


def _systems(table: pd.DataFrame) -> pd.DataFrame:
    """Language, condition and model of each system, once; the columns that tell rows apart."""
    return _named(table[_keys(table)].drop_duplicates().reset_index(drop=True))


def _keys(table: pd.DataFrame) -> list[str]:
    return [*styles.varying(table, ["language"]), "condition", "model"]


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with conditions and measures under the names they are read by."""
    readers = {"condition": lambda name: condition_name(name) or styles.NOTHING, "measure": measure_label}
    return table.assign(**{name: table[name].map(read) for name, read in readers.items() if name in table})


def _cells(table: pd.DataFrame, value: str, low: str, high: str, decimals: int = 3, n: str | None = None) -> list[str]:
    """Values with intervals; n: the column of the units of each, where the table shown has none."""
    of = table[n] if n else [None] * len(table)
    rows = zip(table[value], table[low], table[high], of, strict=True)
    return [styles.with_interval(mean, lowest, highest, decimals, each) for mean, lowest, highest, each in rows]


def _whole(value: float) -> str:
    return styles.NOTHING if pd.isna(value) else f"{value:,.0f}"


# ----------------------------------------------------------------------------
# Sentences of the idioms pages as HTML, with idioms, triggers and blocklists marked; everything else is
# escaped.

_IDIOM = 'mark style="background-color: #e3edf9"'


_TRIGGER = 'mark style="background-color: #fbdcd4"'


def examples_table(samples: pd.DataFrame, language: str | None = None) -> Styler:
    """Worked examples of LitTER (Figures 14 and 15): texts, blocklists, the verdict; the trigger is marked.

    samples: `idioms.litter_samples` or `idioms.published_examples`. language: of the translations, where the table does
    not say.
    """
    if samples.empty:
        return styles.empty(
            "No translation of this run had a blocklist that its reference leaves: nothing could be triggered."
        )
    several = "language" in samples and samples["language"].nunique() > 1
    rows: list[dict[Hashable, Any]] = []
    for row in samples.to_dict("records"):
        lang = row.get("language", language) or "fr"
        triggers = json.loads(row["triggers"])
        shown: dict[Hashable, Any] = {"whose": _whose(row, several)}
        source = styles.marked(row["source"], [tuple(span) for span in json.loads(row["spans"])], _IDIOM)
        if row["spans"] == "[]":
            source = f"{source}<br><i>{escape(row['idiom'])}</i>"
        hit = sorted({token for _, tokens in triggers for token in tokens})
        places = token_spans(row["hypothesis"], lang)
        shown["texts"] = "<br>".join([
            f"<b>source</b> {source}",
            f"<b>reference</b> {styles.breakable(row['reference'])}",
            f"<b>translation</b> {styles.marked(row['hypothesis'], [places[token] for token in hit], _TRIGGER)}",
        ])  # fmt: skip
        shown["blocklists"] = _blocklists(json.loads(row["blocklists"]), [name for name, _ in triggers])
        names = ", ".join(dict.fromkeys(name for name, _ in triggers))
        shown["verdict"] = f"literal error: {escape(names)}" if row["error"] else "no error"
        if "agrees" in row:
            shown["verdict"] += "<br>" + ("as printed" if row["agrees"] else "not as printed")
        rows.append(shown)
    headings = {"whose": "figure" if "figure" in samples else "model", "texts": "texts"}
    table = _html_table(
        pd.DataFrame(rows), "Blocklists that the reference empties are struck through; the trigger is marked", headings
    )
    return _with_widths(table, {"texts": "26em", "blocklists": "13em"})


def context_examples_table(examples: pd.DataFrame, contexts: Sequence[str]) -> Styler:
    """Translations of the same sentences with the idiom in less and less context. examples:
    `idioms.context_examples`."""
    if examples.empty:
        return styles.empty(NO_PROBE)
    several = examples["language"].nunique() > 1
    rows: list[dict[Hashable, Any]] = []
    for row in examples.to_dict("records"):
        source = styles.marked(row["source"], [tuple(span) for span in json.loads(row["spans"])], _IDIOM)
        lines = [f"<b>source</b> {source}", f"<b>reference</b> {styles.breakable(row['reference'])}"]
        lines += [f"<b>{escape(name)}</b> {styles.breakable(row[name])}" for name in contexts]
        rows.append({"whose": _whose(row, several), "texts": "<br>".join(lines)})
    table = _html_table(
        pd.DataFrame(rows),
        "Where the translation changes most when the idiom is encoded word by word",
        {"whose": "model"},
    )
    return _with_widths(table, {"texts": "34em"})


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
    if not rows:
        return styles.empty("There is no text to look at.")
    table = _html_table(
        pd.DataFrame(rows), "Phrases found; the longest of overlapping ones counts", {"overlapping": "overlapped by it"}
    )
    return _with_widths(table, {"text": "24em"})


def _found(match: PhraseMatch) -> str:
    """The phrase, and in brackets the variation that it was found by."""
    return f"{match.phrase} ({match.variation})" if match.variation else match.phrase


def rules_table(rules: Sequence[Sequence[dict[str, Any]]]) -> Styler:
    """The patterns that spaCy's `Matcher` gets for one phrase: a row a token pattern (Figure 9)."""
    rows = [
        {"wording": number, "pattern": f"<code>{escape(json.dumps(pattern, ensure_ascii=False, default=list))}</code>"}
        for number, wording in enumerate(rules, start=1)
        for pattern in wording
    ]
    return _html_table(
        pd.DataFrame(rows), "Token patterns, in order; OP ? may be missing, {0,4} is a gap of up to four words", {}
    )


def _whose(row: dict[Hashable, Any], several: bool) -> str:
    """The figure of an example, or the system that made it; with its language where there are several."""
    if "figure" in row:
        return escape(str(row["figure"]))
    of = f"{row['language']}: " if several else ""
    return escape(f"{of}{system_label(row['model'], row['condition'])}")


def _blocklists(lists: Sequence[Sequence[Any]], triggers: Sequence[str]) -> str:
    """Each word with its translations: struck through where the reference has one, triggers marked."""
    if not lists:
        return "the dictionary has none of its words"
    lines = []
    for word, translations, left in lists:
        shown = [
            styles.marked(each, [(0, len(each))] if left and each in triggers else [], _TRIGGER)
            for each in translations
        ]
        line = f"{escape(word)} → {', '.join(shown)}"
        lines.append(line if left else f"<s>{line}</s>")
    return "<br>".join(lines)


def _html_table(frame: pd.DataFrame, caption: str, headings: dict[str, str]) -> Styler:
    """`styles.styled`, with columns that are HTML made here of escaped parts."""
    return styles.styled(frame, caption=caption, headings=headings).format(str)


def _with_widths(table: Styler, widths: dict[str, str]) -> Styler:
    columns = list(table.data.columns)  # type: ignore[attr-defined]
    rules: list[Any] = [
        {"selector": f"td.col{columns.index(name)}", "props": f"min-width: {width}; white-space: normal"}
        for name, width in widths.items()
    ]
    return table.set_table_styles(rules, overwrite=False)
