"""The idioms study's tables. Targeted scores are means over idioms (equation 1), the units of their intervals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.corpora.idioms import training_copies
from nbkit.measure.intervals import DIFFERENCE, macro_average, mean_interval, phrase_means
from nbkit.measure.literal import (
    AlignedPhrase,
    Blocklist,
    LiteralJudgement,
    Trigger,
    coverage,
    empty_matches,
    published_signature,
    signature,
)
from nbkit.store import Store
from nbkit.studies.idioms.data import generic_pairs, load_data
from nbkit.studies.idioms.params import AS_IT_IS, IdiomsParams, System, paper_name
from nbkit.studies.idioms.steps import CONTROLS, REFERENCES, aligned, global_scores_of, judged, run_litters
from nbkit.studies.paper import NOT_PRINTED, Paper

if TYPE_CHECKING:
    import pandas as pd

#: Baziotis et al. 2023, "Automatic Evaluation and Analysis of Idioms in Neural Machine Translation".
PUBLISHED = Paper(Path(__file__).parent / "published", paper_name)


#: The table that holds all results of a language, which the paper translates English into.
RESULTS_OF = {"fr": "table3", "es": "table4"}


PAPERS_SOURCE = "en"


#: What every row of a system begins with.
OF = ["language", "condition", "model"]


_INTERVALS = ["value", "low", "high", "micro", "micro_low", "micro_high"]


def data_statistics(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """How many sentence pairs there are of what (Table 1), with those that the paper prints.

    Columns: language, statistic, value (NaN where it is not known), published, printed, difference, note.
    """
    store = store or Store()
    rows: list[tuple[str, str, float]] = []
    for language in params.languages:
        data = load_data(params, language, store)
        counts: dict[str, int | None] = dict(data.sizes)
        counts["Idiom-train"], counts["Idiom-test"] = len(data.splits.train), len(data.splits.test)
        counts["Discarded: idioms on one side only"] = len(data.splits.discarded)
        counts["Idioms"] = len(data.splits.frequencies())
        counts["Idiom-test, translated here"] = len(data.test)
        counts |= {f"{name}-test": len(pairs) for name, pairs in generic_pairs(params, language).items()}
        rows += [(language, name, np.nan if n is None else float(n)) for name, n in counts.items()]
    ours = _frame(rows, ["language", "statistic", "value"])
    if params.source != PAPERS_SOURCE:
        return _not_printed(ours)
    # The paper's names have no year: WMT-test is that of 2014 or 2013.
    known = ours["statistic"].str.replace(r"\d+(?=-test$|$)", "", regex=True)
    beside = PUBLISHED.beside(ours.assign(statistic=known), "table1", on=["language", "statistic"])
    return beside.assign(statistic=ours["statistic"])


def idiom_frequencies(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """How often each idiom is in idiom-train and in idiom-test, the most frequent first (Figures 10 and 11).

    Columns: language, rank (from 1), idiom, train, test.
    """
    rows = []
    for language in params.languages:
        counts = load_data(params, language, store or Store()).splits.frequencies()
        rows += [(language, rank, idiom, *both) for rank, (idiom, both) in enumerate(counts.items(), start=1)]
    return _frame(rows, ["language", "rank", "idiom", "train", "test"])


def literal_errors(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """LitTER of every system and control, as the paper's text and its figures have it and by each variant.

    Columns: language, condition, model, variant ("paper": the text; "published": what the research code computes for
    the figures (`nbkit.measure.literal.published_litter`); and `IdiomsParams.variants`), pairs ("paper": every pair
    counts; "covered": only those of whose idiom the dictionary has a word), value (the mean over idioms), low, high,
    micro (over pairs), micro_low, micro_high, n (pairs), idioms, covered_pairs, open_pairs and covered_idioms (shares,
    see `nbkit.measure.literal.Coverage`), signature.
    """
    store = store or Store()
    rows = []
    for language in params.languages:
        litters = run_litters(params, language, store)
        for system in all_systems(params):
            table = judged(params, language, system, store)
            for variant in ("paper", "published", *params.variants):
                side = "published_" if variant == "published" else ""
                covered, left = table[f"{side}covered"], table[f"{side}open"]
                reach = coverage(list(map(_reach, covered, left)), list(table["idiom"]))
                errors = _errors(params, language, system, table, variant, store)
                litter = litters.get(variant, litters["paper"])
                by = params.aligners[0] if variant == "aligned" else "no"
                for pairs in ("paper", "covered"):
                    values = errors if pairs == "paper" else np.where(covered, errors, np.nan)
                    found = _averages(system, values, table["idiom"], share=True)
                    signature = litter.signature(pairs, aligned=by)
                    rows.append((language, system.condition, system.model, variant, pairs, *found, *reach, signature))
    shares = ["covered_pairs", "open_pairs", "covered_idioms"]
    return _frame(rows, [*OF, "variant", "pairs", *_INTERVALS, "n", "idioms", *shares, "signature"])


def accuracy(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """APT-Eval of every system and control by every aligner.

    Columns: language, condition, model, aligner, measure ("unigram_precision", "unigram_precision_published"
    (as the research code computes it), "aligned_chrf"), value, low, high,
    micro, micro_low, micro_high, n, idioms, empty_reference and empty_hypothesis (shares of pairs whose idiom is
    aligned to nothing), signature.
    """
    store = store or Store()
    rows = []
    for language in params.languages:
        for system in all_systems(params):
            for aligner in params.aligners:
                table = aligned(params, language, system, aligner, store)
                empty = empty_matches(list(map(_phrase, table["reference_words"], table["hypothesis_words"])))
                for measure in ("unigram_precision", "unigram_precision_published", "aligned_chrf"):
                    found = _averages(system, table[measure].to_numpy(float), table["idiom"])
                    key = (language, system.condition, system.model, aligner, measure)
                    signed = published_signature if measure.endswith("_published") else signature
                    rows.append((*key, *found, *empty, signed(aligner)))
    more = ["n", "idioms", "empty_reference", "empty_hypothesis", "signature"]
    return _frame(rows, [*OF, "aligner", "measure", *_INTERVALS, *more])


def global_scores(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """Corpus BLEU (per cent) and chrF (share) of every system and control on every test set (Figures 3 and 13).

    Columns: language, condition, model, of (the test set), measure, value, low, high, n (sentences), signature.
    """
    import pandas as pd

    frames = []
    for language in params.languages:
        for system in all_systems(params):
            table = global_scores_of(params, language, system, store or Store())
            frames.append(table.assign(language=language, condition=system.condition, model=system.model))
    columns = [*OF, "of", "measure", "value", "low", "high", "n", "signature"]
    return pd.concat(frames, ignore_index=True)[columns]


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
    keys = [*OF, "measure", "of"]
    by_code = [errors[errors["variant"] == "published"], targeted[is_theirs].assign(measure="unigram_precision")]
    parts = [errors[errors["variant"] == "paper"], targeted[~is_theirs], global_scores(params, store)]
    ours = pd.concat([part[[*keys, "value", "low", "high", "n"]] for part in parts], ignore_index=True)
    as_computed = pd.concat([part[[*keys, "value"]] for part in by_code]).rename(columns={"value": "as_computed"})
    ours = ours.merge(as_computed, on=keys, how="left")
    return _beside_the_papers(ours, params.source)


def published_results(params: IdiomsParams) -> pd.DataFrame:
    """What Tables 3 and 4 print for the run's languages: language, condition, model, measure, of, value, note."""
    import pandas as pd

    known = [language for language in params.languages if language in RESULTS_OF and params.source == PAPERS_SOURCE]
    tables = [PUBLISHED.load(RESULTS_OF[language]) for language in known]
    return pd.concat(tables, ignore_index=True) if tables else PUBLISHED.load("table3").head(0)


def all_systems(params: IdiomsParams) -> list[System]:
    """The run's systems, then the controls."""
    return [*params.systems, *CONTROLS]


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


def _beside_the_papers(ours: pd.DataFrame, source: str) -> pd.DataFrame:
    import pandas as pd

    looked_up = ours.assign(shown=ours["of"], of=ours["of"].map(_paper_of))
    frames = []
    for language, rows in looked_up.groupby("language", sort=False):
        if language in RESULTS_OF and source == PAPERS_SOURCE:
            key = ["condition", "model", "measure", "of"]
            frames.append(PUBLISHED.beside(rows, RESULTS_OF[str(language)], on=key))
        else:
            frames.append(_not_printed(rows, f"the paper has no {source}→{language}"))
    found = pd.concat(frames).sort_index()
    return found.assign(of=found["shown"]).drop(columns="shown")


def _not_printed(rows: pd.DataFrame, note: str = "") -> pd.DataFrame:
    return rows.assign(published=np.nan, printed=NOT_PRINTED, difference=np.nan, note=note)


def _paper_of(name: str) -> str:
    """The paper's aligner that one of ours stands beside; every other name as it is."""
    kind = name.partition(":")[0]
    return {
        "embeddings": "awesome-align",
        "eflomal": "fast-align",
        "lexicon": "fast-align",
        "pharaoh": "fast-align",
    }.get(kind, name)


def _errors(
    params: IdiomsParams, language: str, system: System, table: pd.DataFrame, variant: str, store: Store
) -> np.ndarray:
    """1 for each literal error as *variant* counts them, 0 for each other pair."""
    if variant != "aligned":
        return table[variant].to_numpy(float)
    places = aligned(params, language, system, params.aligners[0], store)["hypothesis_tokens"]
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


def _averages(system: System, values: np.ndarray, idioms: Iterable[str], *, share: bool = False) -> Iterator[Any]:
    """The six numbers of `_INTERVALS`, the number of pairs and of idioms.

    What the references score against themselves is known beforehand and not of a sample: it has no interval.
    """
    found = macro_average(values, list(idioms), share=share)
    for mean, low, high, _ in (found.macro, found.micro):
        yield from (mean, np.nan, np.nan) if system == REFERENCES else (mean, low, high)
    yield found.pairs
    yield found.macro.n


def _frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


# ----------------------------------------------------------------------------
# The paper's main findings, asked of a run: does training on idioms, and pretraining, lower literal errors
# here?


def findings(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """Comparisons of which the paper says that the first has more literal errors than the second (§3.3.1).

    Columns: language, finding, difference (of the two LitTER, mean over idioms), low, high (idioms are the units, the
    same ones of both), holds: "yes" where the whole interval is above 0, "no" where it is below, else "not sure"; n
    (idioms). Compared are *zero*, *joint* and the least upsampling of one model, each with the next, and *random* with
    what stands for mBART. Of more upsampling the paper claims nothing: in Table 3 it leaves as many errors, or more.
    """
    import pandas as pd

    rows = []
    for language in params.languages:
        for worse, better, finding in _claims(params):
            sides = [judged(params, language, system, store or Store()) for system in (worse, better)]
            means = [phrase_means(side["paper"].to_numpy(float), list(side["idiom"])) for side in sides]
            differences = np.array([means[0][idiom] - means[1][idiom] for idiom in means[0]])
            found = mean_interval(differences, within=DIFFERENCE)
            holds = "yes" if found.low > 0 else "no" if found.high < 0 else "not sure"
            rows.append((language, finding, found.mean, found.low, found.high, holds, found.n))
    return pd.DataFrame(rows, columns=["language", "finding", "difference", "low", "high", "holds", "n"])


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
