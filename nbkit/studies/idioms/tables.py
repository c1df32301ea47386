"""The idioms study's tables and outcomes. Targeted scores are means over idioms (equation 1), the units of their
intervals."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.corpora.idioms import training_copies
from nbkit.errors import NbkitError
from nbkit.measure.literal import (
    AlignedPhrase,
    Blocklist,
    LiteralJudgement,
    Trigger,
    WordDictionary,
    coverage,
    empty_matches,
    published_litter,
    published_signature,
    signature,
)
from nbkit.measure.statistics import (
    DIFFERENCE,
    UNIT,
    Interval,
    bootstrap_draws,
    macro_average,
    mean_interval,
    mean_of_draws,
    phrase_means,
)
from nbkit.models.probes import corpus_perplexity
from nbkit.models.translators.texts import score_of_sums
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.engine import as_table
from nbkit.studies.idioms.others import compared
from nbkit.studies.idioms.params import AS_IT_IS, IdiomsParams, System, paper_name
from nbkit.studies.idioms.steps import (
    CONTROLS,
    REFERENCES,
    STUDY,
    UNITS,
    aligned,
    data_key,
    generic_pairs,
    judged,
    judged_lists,
    load_data,
    parser_key,
    phrases,
    plain_text,
    probed,
    probed_pairs,
    run_litters,
    scored,
    similar,
    source_texts,
    token_spans,
    with_states,
)
from nbkit.studies.paper import NOT_PRINTED, Paper
from nbkit.studies.results import item_id, objects
from nbkit.text.parsers import load_parser
from nbkit.text.phrases import PhraseMatch, PhraseMatcher, Variation
from nbkit.text.sentences import Text
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    import pandas as pd

#: Baziotis et al. 2023, "Automatic Evaluation and Analysis of Idioms in Neural Machine Translation".
PUBLISHED = Paper(Path(__file__).parent / "published", paper_name)
#: The table that holds all results of a language, which the paper translates English into.
RESULTS_OF = {"fr": "table3", "es": "table4"}
PAPERS_SOURCE = "en"
#: What every row of a system begins with.
OF = ("language", "condition", "model")
#: What every row of `results` begins with.
_RESULT = [*OF, "measure", "of"]
_SCORES = ("value", "low", "high", "n")
#: The measures of APT-Eval.
APT_EVAL = ("unigram_precision", "unigram_precision_published", "aligned_chrf")
_PAPERS_ALIGNERS = {"embeddings": "awesome-align"} | dict.fromkeys(("eflomal", "lexicon", "pharaoh"), "fast-align")
#: Why LitTER could not find an error.
_NO_WORD = "the dictionary has none of the idiom's words"
_EVERY_WORD = "the reference has a translation of each of the idiom's words"
_NO_CONTENT = "the dictionary has no noun or adjective of the idiom"
_THEIRS = "a third of the other systems, or a good translation, has each of the idiom's words; or nothing is translated"
_INTERVALS = ("value", "low", "high", "micro", "micro_low", "micro_high")


def data_statistics(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """How many sentence pairs there are of what (Table 1), with those that the paper prints.

    Columns: language, statistic, value (NaN where it is not known), published, printed, difference, note.
    """
    import pandas as pd

    rows: list[tuple[str, str, float]] = []
    for language in params.languages:
        data = load_data(params, language, store or Store())
        counts = {
            **data.sizes,
            "Idiom-train": len(data.splits.train),
            "Idiom-test": len(data.splits.test),
            "Discarded: idioms on one side only": len(data.splits.discarded),
            "Idioms": len(data.splits.frequencies()),
            "Idiom-test, translated here": len(data.test),
            **{f"{name}-test": len(pairs) for name, pairs in generic_pairs(params, language).items()},
        }
        rows += [(language, name, np.nan if n is None else float(n)) for name, n in counts.items()]
    ours = pd.DataFrame(rows, columns=["language", "statistic", "value"])
    if params.source != PAPERS_SOURCE:
        return _not_printed(ours)
    # The paper's names have no year: WMT-test is that of 2014 or 2013.
    known = ours["statistic"].str.replace(r"\d+(?=-test$|$)", "", regex=True)
    beside = PUBLISHED.beside(ours.assign(statistic=known), "table1", on=["language", "statistic"])
    return beside.assign(statistic=ours["statistic"])


@as_table("language", "rank", "idiom", "train", "test")
def idiom_frequencies(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """How often each idiom is in idiom-train and in idiom-test, the most frequent first (Figures 10 and 11).

    Columns: language, rank (from 1), idiom, train, test.
    """
    for language in params.languages:
        counts = load_data(params, language, store or Store()).splits.frequencies()
        yield from ((language, rank, idiom, *both) for rank, (idiom, both) in enumerate(counts.items(), start=1))


@as_table(
    *(*OF, "variant", "pairs", *_INTERVALS, "n", "idioms"),
    *("covered_pairs", "open_pairs", "covered_idioms", "signature"),
)
def literal_errors(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """LitTER of every system and control, as in the paper's text and in its figures and by each variant.

    Columns: language, condition, model, variant ("paper": the text; "published": what the research code computes for
    the figures (`nbkit.measure.literal.published_litter`); and `IdiomsParams.variants`), pairs ("paper": every pair
    counts; "covered": only those of whose idiom the dictionary has a word), value (the mean over idioms), low, high,
    micro (over pairs), micro_low, micro_high, n (pairs), idioms, covered_pairs, open_pairs and covered_idioms (shares,
    see `nbkit.measure.literal.Coverage`), signature.
    """
    store = store or Store()
    litters_into = {language: run_litters(params, language, store) for language in params.languages}
    for language, system, of in _each(params):
        litters = litters_into[language]
        table = judged(params, language, system, store=store)
        for variant in ("paper", "published", *params.variants):
            side = "published_" if variant == "published" else ""
            covered, left = table[f"{side}covered"], table[f"{side}open"]
            reach = coverage(list(map(_reach, covered, left)), list(table["idiom"]))
            errors = _errors(params, language, system, table, variant, store)
            litter = litters.get(variant, litters["paper"])
            by = params.aligners[0] if variant == "aligned" else "no"
            for pairs in ("paper", "covered"):
                values = errors if pairs == "paper" else np.where(covered, errors, np.nan)
                found = _averages(system.model, values, table["idiom"], share=True)
                yield *of, variant, pairs, *found, *reach, litter.signature(pairs, aligned=by)


@as_table(*OF, "value", "low", "high", "n", "idioms", "flagged", "undecided")
def dissents(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """How often each system has a literal translation of an idiom that fewer than a third of the others have.

    Columns: language, condition, model, value (the mean over idioms of the share of their occurrences), low, high,
    n (occurrences where one was possible), idioms, flagged (occurrences with one), undecided (the others).
    """
    for language, system, of in _each(params, controls=False) if params.voters else ():
        table = compared(params, language, system, store=store or Store())
        left = table[table["open"]]
        values = left["triggers"].ne("[]").to_numpy(float)
        found = macro_average(values, list(left["idiom"]), share=True)
        mean, low, high, idioms = found.macro
        yield *of, mean, low, high, len(left), idioms, int(values.sum()), len(table) - len(left)


@as_table(*(*OF, "aligner", "measure", *_INTERVALS, "n", "idioms", "empty_reference", "empty_hypothesis", "signature"))
def accuracy(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """APT-Eval of every system and control by every aligner.

    Columns: language, condition, model, aligner, measure ("unigram_precision", "unigram_precision_published"
    (as the research code computes it), "aligned_chrf"), value, low, high,
    micro, micro_low, micro_high, n, idioms, empty_reference and empty_hypothesis (shares of pairs whose idiom is
    aligned to nothing), signature.
    """
    for language, system, of in _each(params):
        for aligner in params.aligners:
            table = aligned(params, language, system, aligner, store=store)
            empty = empty_matches(list(map(_phrase, table["reference_words"], table["hypothesis_words"])))
            for measure in APT_EVAL:
                found = _averages(system.model, table[measure].to_numpy(float), table["idiom"])
                signed = published_signature if measure.endswith("_published") else signature
                yield *of, aligner, measure, *found, *empty, signed(aligner)


@as_table(*OF, "of", "measure", *_SCORES, "signature")
def global_scores(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """Corpus BLEU (per cent) and chrF (share) of every system and control on every test set (Figures 3 and 13).

    Columns: language, condition, model, of (the test set), measure, value, low, high, n (sentences), signature.
    """
    return (_of(of, scored(params, language, system, store=store)) for language, system, of in _each(params))


def results(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """Everything that Tables 2 to 4 hold, with what they print.

    Columns: language, condition, model, measure ("litter", "unigram_precision", "aligned_chrf", "bleu", "chrf"), of
    (the aligner or the test set; "" of LitTER), value, low, high, n (idioms, or sentences of a test set), as_computed
    (the value by the research code, NaN where it computes what the paper defines), published, printed, difference (of
    value), note. A statistical aligner stands beside the paper's fast-align, one by embeddings beside its
    awesome-align.
    """
    import pandas as pd

    store = store or Store()
    errors = literal_errors(params, store)
    errors = errors[errors["pairs"] == "paper"].assign(measure="litter", of="", n=errors["idioms"])
    targeted = accuracy(params, store).rename(columns={"aligner": "of"})
    targeted["n"] = targeted["idioms"]
    is_theirs = targeted["measure"] == "unigram_precision_published"
    ours = [errors[errors["variant"] == "paper"], targeted[~is_theirs], global_scores(params, store)]
    by_code = [errors[errors["variant"] == "published"], targeted[is_theirs].assign(measure="unigram_precision")]
    tables = (pd.concat(parts, ignore_index=True) for parts in (ours, by_code))
    return _beside_the_papers(_beside_the_codes(*tables), params.source)


def published_results(params: IdiomsParams) -> pd.DataFrame:
    """What Tables 3 and 4 print for the run's languages: language, condition, model, measure, of, value, note."""
    import pandas as pd

    known = [language for language in params.languages if language in RESULTS_OF and params.source == PAPERS_SOURCE]
    tables = [PUBLISHED.load(RESULTS_OF[language]) for language in known]
    return pd.concat(tables, ignore_index=True) if tables else PUBLISHED.load("table3").head(0)


def _each(params: IdiomsParams, *, controls: bool = True) -> Iterator[tuple[str, System, tuple[str, str, str]]]:
    """The run's systems and then the controls, by language; with each what the columns `OF` hold. Controls are of
    references: raises `NbkitError` where voters take their place."""
    if controls and params.voters:
        raise NbkitError("this run has voters and no references: of its systems, only the page 'others' is measurable")
    for language in params.languages:
        for system in (*params.systems, *(CONTROLS if controls else ())):
            yield language, system, (language, system.condition, system.model)


def _of(of: Sequence[str], table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**dict(zip(OF, of, strict=True)))


def is_control(model: str) -> bool:
    """Whether a row of a table is a control's.

    >>> is_control("references"), is_control("random")
    (True, False)
    """
    return model in {control.model for control in CONTROLS}


def condition_name(condition: str) -> str:
    """A training condition as the paper's tables write it.

    >>> condition_name("upsample-20"), condition_name("zero"), condition_name("")
    ('upsample 20x', 'zero', '')
    """
    kind, _, times = condition.partition("-")
    return f"{kind} {times}x" if times and condition != AS_IT_IS else condition


def _beside_the_codes(ours: pd.DataFrame, by_code: pd.DataFrame) -> pd.DataFrame:
    """Our results, each with what the research code would compute."""
    as_computed = by_code[[*_RESULT, "value"]].rename(columns={"value": "as_computed"})
    return ours[[*_RESULT, *_SCORES]].merge(as_computed, on=_RESULT, how="left")


def _beside_the_papers(ours: pd.DataFrame, source: str) -> pd.DataFrame:
    import pandas as pd

    looked_up = ours.assign(shown=ours["of"], of=ours["of"].map(_paper_of))
    frames = []
    for language, rows in looked_up.groupby("language", sort=False):
        if language in RESULTS_OF and source == PAPERS_SOURCE:
            frames.append(PUBLISHED.beside(rows, RESULTS_OF[str(language)], on=_RESULT[1:]))
        else:
            frames.append(_not_printed(rows, f"the paper has no {source}→{language}"))
    found = pd.concat(frames).sort_index()
    return found.assign(of=found["shown"]).drop(columns="shown")


def _not_printed(rows: pd.DataFrame, note: str = "") -> pd.DataFrame:
    return rows.assign(published=np.nan, printed=NOT_PRINTED, difference=np.nan, note=note)


def _paper_of(name: str) -> str:
    """The paper's aligner that one of ours stands beside; every other name as it is."""
    return _PAPERS_ALIGNERS.get(name.partition(":")[0], name)


def _errors(
    params: IdiomsParams, language: str, system: System, table: pd.DataFrame, variant: str, store: Store
) -> np.ndarray:
    """1 for each literal error as *variant* counts them, 0 for each other pair."""
    if variant != "aligned":
        return table[variant].to_numpy(float)
    places = aligned(params, language, system, params.aligners[0], store=store)["hypothesis_tokens"]
    triggers = ([Trigger(*each) for each in json.loads(row)] for row in table["triggers"])
    rows = zip(triggers, map(json.loads, places), strict=True)
    return np.array([any(each.is_aligned(near) for each in found) for found, near in rows], dtype=float)


def _reach(covered: bool, left: bool) -> LiteralJudgement:
    """A judgement that is covered, and has a blocklist left, as a row of `judged` says."""
    some = (Blocklist("", ()),)
    return LiteralJudgement(some if covered else (), some if left else (), ())


def _phrase(reference: str, hypothesis: str) -> AlignedPhrase:
    """The words that are aligned to an idiom, as a row of `aligned` has them."""
    return AlignedPhrase(tuple(reference.split()), tuple(hypothesis.split()))


def _averages(model: str, values: np.ndarray, idioms: Iterable[str], *, share: bool = False) -> Iterator[Any]:
    """The six numbers of `_INTERVALS`, the number of pairs and of idioms.

    What the references score against themselves is known in advance and not of a sample: it has no interval.
    """
    found = macro_average(values, list(idioms), share=share)
    for mean, low, high, _ in (found.macro, found.micro):
        yield from (mean, np.nan, np.nan) if model == REFERENCES.model else (mean, low, high)
    yield found.pairs
    yield found.macro.n


# ----------------------------------------------------------------------------
# Outcomes. Measures: "litter", and "litter/VARIANT" by every other way of counting; "unigram_precision/ALIGNER" and the
# like (APT-Eval); "bleu/SET" and "chrf/SET" of each sentence of a test set; "probe/…" of each context.


@STUDY.outcomes(headline="nbkit.studies.idioms.tables:results")
def outcomes(params: IdiomsParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Each sentence of idiom-test by every targeted measure, each sentence of a test set by BLEU and chrF, and probes;
    where voters take the place of references, each idiom by its literal translations that few others have.

    Idioms are the clusters, of whole sentences the sentence. LitTER is undecided where it could not find an error:
    where no translation of a word of the idiom is known, or the reference has one of each word.
    """
    parts = (_others_outcomes,) if params.voters else (_targeted_outcomes, _sentence_outcomes, _probe_outcomes)
    for language, system, _ in _each(params, controls=not params.voters):
        for part in parts:
            for table in part(params, language, system, store):
                yield table.assign(system=system.label, source_language=params.source, target_language=language)


def _targeted_outcomes(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[pd.DataFrame]:
    """LitTER in every way of counting, and APT-Eval."""
    table = judged(params, language, system, store=store)
    found = [[Trigger(*each) for each in json.loads(row)] for row in table["triggers"]]
    shared = _items(params, language, system, table, [{} for _ in found], _marked(table, found, language))
    verdicts, reasons = [], []
    for triggers, covered, left in zip(found, table["covered"], table["open"], strict=True):
        words = ", ".join(each.translation for each in triggers)
        verdicts.append("fail" if words else "pass" if left else "undecided")
        reasons.append(words or ("" if left else _EVERY_WORD if covered else _NO_WORD))
    yield shared.assign(measure="litter", value=table["paper"].astype(float), verdict=verdicts, reason=reasons)
    for variant in ("published", *params.variants):
        errors = _errors(params, language, system, table, variant, store)
        yield shared.assign(measure=f"litter/{variant}", value=errors)
    for aligner in params.aligners:
        scores = aligned(params, language, system, aligner, store=store)
        for measure in APT_EVAL:
            yield shared.assign(measure=f"{measure}/{aligner}", value=scores[measure].astype(float))


def _others_outcomes(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[pd.DataFrame]:
    """Literal translations that few of the other systems have."""
    table = compared(params, language, system, store=store).assign(reference="")
    found = [[Trigger(word, tuple(places)) for word, places, _ in json.loads(row)] for row in table["triggers"]]
    shared = _items(params, language, system, table, [{} for _ in found], _marked(table, found, language))
    verdicts, reasons = [], []
    for triggers, words, left in zip(found, table["words"], table["open"], strict=True):
        verdicts.append("fail" if triggers else "pass" if left else "undecided")
        why = "" if left else _NO_CONTENT if words == "[]" else _THEIRS
        reasons.append(", ".join(each.translation for each in triggers) or why)
    values = table["triggers"].ne("[]").astype(float).where(table["open"])
    yield shared.assign(measure="literal", value=values, verdict=verdicts, reason=reasons)


def _marked(table: pd.DataFrame, found: Sequence[Sequence[Trigger]], language: str) -> list[list[dict[str, Any]]]:
    """The triggers in each output, as spans of outcomes."""
    return [
        _spans("output", [token_spans(text, language)[i] for each in triggers for i in each.tokens], "trigger")
        for text, triggers in zip(table["hypothesis"], found, strict=True)
    ]


def _sentence_outcomes(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[pd.DataFrame]:
    """BLEU and chrF of each sentence, with what the corpus scores add up."""
    table = similar(params, language, system, store=store)
    texts = zip(table["source"], table["reference"], strict=True)
    items = [item_id([params.source, language, *row], {}) for row in texts]
    groups = objects({**_groups(system), "set": name} for name in table["of"])
    shared = table[["source", "reference"]].assign(item=items, cluster=items, output=table["hypothesis"], groups=groups)
    for measure in UNITS:
        sums = table[f"{measure}_sums"].map(lambda row: list(map(float, json.loads(row))))
        yield shared.assign(measure=f"{measure}/" + table["of"], value=table[measure], sums=sums)


def _probe_outcomes(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[pd.DataFrame]:
    """What a system makes of each context: the translation, how likely the reference is, and how sure it is of it."""
    if not params.contexts or system not in with_states(params, language):
        return
    table = _with_texts(params, language, store, probed(params, language, system, store=store))
    treatments = [{"context": context, "end_state": params.end_state} for context in table["context"]]
    shared = _items(params, language, system, table, treatments, [[] for _ in treatments])
    yield shared.assign(measure="probe/chrf", value=table["chrf"])
    sums = table[["log_probability", "subwords"]].astype(float)
    values = corpus_perplexity(sums["log_probability"], sums["subwords"])
    yield shared.assign(measure="probe/perplexity", value=values, sums=sums.apply(list, axis=1))
    for measure in ("entropy_idiom", "entropy_other"):
        yield shared.assign(measure=f"probe/{measure}", value=table[measure].astype(float))


def _with_texts(params: IdiomsParams, language: str, store: Store, table: pd.DataFrame) -> pd.DataFrame:
    """A table of probed pairs with their source, spans (JSON) and reference."""
    pairs = {(pair.id, pair.idiom): pair for pair in probed_pairs(params, language, store)}
    shown = [pairs[each] for each in zip(table["id"], table["idiom"], strict=True)]
    spans = [json.dumps(pair.spans) for pair in shown]
    return table.assign(source=[pair.source for pair in shown], spans=spans, reference=[pair.target for pair in shown])


def _groups(system: System) -> dict[str, str]:
    return {"condition": system.condition, "model": system.model}


def _items(
    params: IdiomsParams, language: str, system: System, table: pd.DataFrame, treatments: Sequence[Mapping[str, str]],
    spans: Sequence[Any],
) -> pd.DataFrame:  # fmt: skip
    """What all measures of sentences with an idiom share. spans: beside those of the idioms."""
    items, groups, marks = [], [], []
    texts = (table[name] for name in ("source", "reference", "idiom", "spans"))
    for source, reference, idiom, places, treatment, more in zip(*texts, treatments, spans, strict=True):
        given = [params.source, language, source, reference]
        items.append(item_id(given, {"idiom": idiom, "spans": places, **treatment}))
        context = {name: each for name, each in treatment.items() if name == "context"}
        groups.append({**_groups(system), "idiom": idiom, **context})
        marks.append(_spans("source", json.loads(places), "idiom") + more)
    shared = table[["source", "reference"]].assign(output=table["hypothesis"], cluster=table["idiom"])
    return shared.assign(item=items, groups=objects(groups), spans=objects(marks))


def _spans(text: str, places: Iterable[Sequence[int]], label: str) -> list[dict[str, Any]]:
    return [{"text": text, "start": start, "end": end, "label": label} for start, end in places]


@outcomes.table
def results_of_outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """`results`, from outcomes alone; corpus scores come without intervals, which resample sentences in their order."""
    import pandas as pd

    measures = found["measure"].str.partition("/")
    table = found.assign(
        language=found["target_language"],
        condition=[groups["condition"] for groups in found["groups"]],
        model=[groups["model"] for groups in found["groups"]],
        measure=measures[0],
        of=measures[2],
    )
    rows: list[tuple[Any, ...]] = []
    groups: Any = table.groupby(_RESULT, sort=False)
    for (*of, model, measure, name), own in groups:
        is_litter, is_corpus = measure == "litter", measure in UNITS
        if is_corpus:
            scores = (score_of_sums(measure, list(own["sums"])) / UNITS[measure], np.nan, np.nan, len(own))
        elif measure in APT_EVAL or (is_litter and name in ("", "published")):
            value, low, high, *_, n = _averages(model, own["value"].to_numpy(float), own["cluster"], share=is_litter)
            scores = (value, low, high, n)
        else:
            continue
        is_theirs = (is_litter and name == "published") or measure.endswith("_published")
        shown = (measure.removesuffix("_published"), "" if is_litter else name)
        rows.append((is_theirs, is_corpus - is_litter, *of, model, *shown, *scores))
    again = pd.DataFrame(rows, columns=["theirs", "turn", *_RESULT, *_SCORES]).sort_values("turn", kind="stable")
    together = _beside_the_codes(again[~again["theirs"]], again[again["theirs"]])
    return _beside_the_papers(together, found["source_language"].iloc[0])


# ----------------------------------------------------------------------------
# The paper's main findings, asked of a run: does training on idioms, and pretraining, lower literal errors
# here?


@as_table("language", "finding", "difference", "low", "high", "holds", "n")
def findings(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """Comparisons of which the paper says that the first has more literal errors than the second (§3.3.1).

    Columns: language, finding, difference (of the two LitTER, mean over idioms), low, high (idioms are the units, the
    same ones of both), holds: "yes" where the whole interval is above 0, "no" where it is below, else "not sure"; n
    (idioms). Compared are *zero*, *joint* and the least upsampling of one model, each with the next, and *random* with
    the model in mBART's place. The paper claims nothing about more upsampling: in Table 3 it leaves as many errors or
    more.
    """
    for language, (worse, better, finding) in product(params.languages, _claims(params)):
        sides = [judged(params, language, system, store=store) for system in (worse, better)]
        means = [phrase_means(side["paper"].to_numpy(float), list(side["idiom"])) for side in sides]
        differences = np.array([means[0][idiom] - means[1][idiom] for idiom in means[0]])
        found = mean_interval(differences, within=DIFFERENCE)
        holds = "yes" if found.low > 0 else "no" if found.high < 0 else "not sure"
        yield language, finding, found.mean, found.low, found.high, holds, found.n


def _claims(params: IdiomsParams) -> list[tuple[System, System, str]]:
    systems = {(system.model, system.condition): system for system in params.systems if system.condition != AS_IT_IS}
    order = sorted(params.conditions, key=training_copies)
    least = [name for name in order if training_copies(name) <= 1]
    least += [name for name in order if name not in least][:1]
    claims = []
    for model in params.models:
        for first, second in pairwise(name for name in least if (model, name) in systems):
            finding = f"{model}: {condition_name(first)} > {condition_name(second)}"
            claims.append((systems[model, first], systems[model, second], finding))
    kinds = {paper_name(model): model for model in params.models}
    if {"random", "mbart"} <= kinds.keys():
        for name in order:
            pair = [systems.get((kinds[kind], name)) for kind in ("random", "mbart")]
            if pair[0] and pair[1]:
                claims.append((pair[0], pair[1], f"{condition_name(name)}: {pair[0].model} > {pair[1].model}"))
    return claims


# ----------------------------------------------------------------------------
# What less context of an idiom does to each system (§4).


@as_table(*OF, "measure", "context", "value", "low", "high", "change", "change_low", "change_high", "n")
def context_effects(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """What less context does to each system (Figures 5 to 7, 16, 18 and 20).

    Columns: language, condition, model, measure, context, value, low, high, change (from the context before it; NaN for
    "full"), change_low, change_high, n (pairs). Measures: chrf (a share; mean over pairs), perplexity (by subword, of
    all references together), entropy_idiom and entropy_other (nats). The unit of the intervals is the idiom, the same
    ones in every context.
    """
    for language, system, of in _probed_systems(params):
        table = probed(params, language, system, store=store)
        for measure in ("chrf", "perplexity", "entropy_idiom", "entropy_other"):
            before = None
            for context in params.contexts:
                own = table[table["context"] == context]
                value = _summary(own, None, measure, params)
                change = _NOTHING if before is None else _summary(own, before, measure, params)
                yield *of, measure, context, *value[:3], *change[:3], len(own)
                before = own


def _probed_systems(params: IdiomsParams) -> Iterator[tuple[str, System, tuple[str, str, str]]]:
    for language, system, of in _each(params, controls=False) if params.contexts else ():
        if system in with_states(params, language):
            yield language, system, of


def context_examples(params: IdiomsParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """Pairs whose translation changes most when the idiom loses its context, *k* of each system.

    Columns: language, condition, model, idiom, source, spans (JSON), reference, and the hypothesis of each context.
    """
    columns = [*OF, "idiom", "source", "spans", "reference", *params.contexts]
    return as_table(*columns)(_context_examples)(params, k, store or Store())


def _context_examples(params: IdiomsParams, k: int, store: Store) -> Iterator[pd.DataFrame]:
    for language, system, of in _probed_systems(params):
        table = probed(params, language, system, store=store)
        wide = table.pivot(index=["id", "idiom"], columns="context", values=["hypothesis", "chrf"])
        loss = (wide["chrf"]["full"] - wide["chrf"][params.contexts[-1]]).astype(float)
        chosen = loss.sort_values(ascending=False, kind="stable").head(k).index
        yield _of(of, _with_texts(params, language, store, wide["hypothesis"].loc[chosen].reset_index()))


_NOTHING = Interval(float("nan"), float("nan"), float("nan"), 0)


def _summary(table: pd.DataFrame, other: pd.DataFrame | None, measure: str, params: IdiomsParams) -> Interval:
    """The value of *measure* in a table, or its difference from that in *other*, of the same pairs."""
    idioms = list(table["idiom"])
    if measure != "perplexity":
        values = table[measure].to_numpy(float) - (0.0 if other is None else other[measure].to_numpy(float))
        within = None if measure != "chrf" else UNIT if other is None else DIFFERENCE
        return mean_interval(values, groups=idioms, within=within)
    sides = [table] if other is None else [table, other]
    columns = [side[name] for side in sides for name in ("log_probability", "subwords")]
    sums = np.column_stack([column.groupby(table["idiom"].to_numpy(), sort=True).sum() for column in columns])

    def perplexity(totals: np.ndarray) -> np.ndarray:
        values = [corpus_perplexity(totals[..., at], totals[..., at + 1]) for at in range(0, len(columns), 2)]
        return values[0] if other is None else values[0] - values[1]

    value, draws = float(perplexity(sums.sum(axis=0))), perplexity(bootstrap_draws(sums, seed=params.seed))
    within = (1.0, np.inf) if other is None else None
    return Interval(value, *mean_of_draws(value, draws, units=len(sums), within=within), len(sums))


# ----------------------------------------------------------------------------
# Sentences to look at: worked examples of LitTER, and what the phrase matcher finds in texts.

_EXAMPLE = ("idiom", "source", "spans", "reference", "hypothesis", "blocklists", "triggers", "error")


@as_table("figure", *_EXAMPLE, "agrees")
def published_examples() -> Iterator[Any]:
    """The five examples of Figures 14 and 15 with their printed blocklists, judged as the research code did.

    Columns: figure, idiom, source, spans, reference, hypothesis, blocklists and triggers (JSON, as `judged`), error,
    agrees (whether all is as printed).
    """
    for example in read_own(Path(__file__).parent / "published" / "examples.yaml"):
        lists = {word: tuple(words) for word, words in example["blocklists"].items()}
        litter = published_litter(WordDictionary("printed", "file", lists), None, "en", "fr")
        judgement = litter.judge_texts(example["idiom"], example["reference"], example["hypothesis"])
        left = [blocklist.word for blocklist in judgement.blocklists]
        found = [trigger.translation for trigger in judgement.triggers]
        agrees = left == example["surviving"] and sorted(found) == sorted(example["triggers"])
        texts = (example["idiom"], example["source"], "[]", example["reference"], example["hypothesis"])
        yield example["name"], *texts, *judged_lists(judgement), judgement.error, agrees


@as_table(*OF, *_EXAMPLE)
def litter_samples(params: IdiomsParams, k: int = 3, store: Store | None = None) -> Iterator[Any]:
    """*k* pairs of each system with a literal error, and as many without one though a blocklist was left.

    Columns: language, condition, model, idiom, source, spans, reference, hypothesis, blocklists, triggers (JSON, see
    `judged`), error. Idioms take turns; which are drawn depends on the run's seed and the sentences.
    """
    for language, system, of in _each(params, controls=False):
        table = judged(params, language, system, store=store)
        keys = zip(table["source"], table["idiom"], strict=True)
        rank = [address(params.seed, "litter sample", *key) for key in keys]
        table = table.assign(error=table["paper"].astype(bool), rank=rank).sort_values("rank")
        table["turn"] = table.groupby(["idiom", "error"]).cumcount()
        table = table[table["open"].astype(bool)].sort_values(["turn", "rank"])
        yield from (_of(of, table[table["error"] == error].head(k)) for error in (True, False))


def find_phrases(
    texts: list[str],
    lines: list[str] | None = None,
    parser: str | None = None,
    *,
    variations: Collection[Variation] = (),
) -> list[tuple[Text, list[PhraseMatch]]]:
    """What the phrase matcher finds in English *texts*: each text in tokens, with its matches (Figures 8 and 9).

    lines: a phrase list; nbkit's own idioms where none is given. parser: a spaCy pipeline, for lemmas; without one,
    words are known by their forms. variations: "passive" and "modifier" also find wordings that the paper's rules do
    not (`nbkit.text.phrases`).

    >>> [(text, [found])] = find_phrases(["He pulled the wool over the voters' eyes."])
    >>> found.phrase, text.text[slice(*found.span)]
    ("pull the wool over someone's eyes", "pulled the wool over the voters' eyes")
    """
    matcher = PhraseMatcher(lines if lines is not None else phrases(IdiomsParams()), variations=variations)
    parsed = load_parser(parser, "en").parse(texts) if parser else map(plain_text, texts)
    return [(text, matcher.find(text)) for text in parsed]


def matcher_recall(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """Whether the matcher finds the idioms of the data where the data says they are, by rules made from their names.

    Columns: language, pairs (of idiom-train and idiom-test), spans (given), found (a match of the same idiom shares a
    word with it), exact (a match has exactly its words), extra (matches of an idiom of the list in these sentences that
    no span is given for). Sentences are cut into words without a parser unless the run names one.
    """
    import pandas as pd

    return pd.concat([recall(params, language, store=store) for language in params.languages], ignore_index=True)


@STUDY.step(
    per=("language",), key=lambda params, language: {**data_key(params, language), "parser": parser_key(params)}
)
@as_table("language", "pairs", "spans", "found", "exact", "extra")
def recall(params: IdiomsParams, language: str, store: Store) -> Iterator[Any]:
    """`matcher_recall` of one language pair."""
    splits = load_data(params, language, store).splits
    pairs = [*splits.train, *splits.test, *splits.discarded]
    matcher = PhraseMatcher(sorted({pair.idiom for pair in pairs}))
    idioms: dict[str, set[str]] = {}
    for pair in pairs:
        idioms.setdefault(pair.source, set()).add(pair.idiom)
    matches = {
        source: [(match.phrase, text.text[slice(*match.span)]) for match in matcher.find_all(text)]
        for source, text in zip(idioms, source_texts(params, list(idioms)), strict=True)
    }
    found = exact = spans = 0
    for pair in pairs:
        own = [text for name, text in matches[pair.source] if name == pair.idiom]
        for words in pair.words:
            spans += 1
            found += any(set(text.casefold().split()) & set(words.casefold().split()) for text in own)
            exact += words in own
    extra = sum(name not in idioms[source] for source, own in matches.items() for name, _ in own)
    yield language, len(pairs), spans, found / spans, exact / spans, extra
