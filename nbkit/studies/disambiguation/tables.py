"""How strongly a bias goes with errors or successes: rank-biserial correlation, its interval, what to call it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbkit import models
from nbkit.errors import NbkitError
from nbkit.measure.senses import AGGREGATES, BY_GENDER, DECIDED, MEASURES, OUTSIDE, REACHES, WINDOW
from nbkit.measure.statistics import COHEN, adjusted_thresholds, rank_biserial, share_bounds, share_interval
from nbkit.models import label
from nbkit.models.translators.texts import corpus_bleu, text_pairs
from nbkit.seeding import generator
from nbkit.store import Store
from nbkit.studies.base import trained_by
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    CHALLENGE,
    RANDOM,
    RARE,
    counts,
    drawn,
    lexicon_of,
    overlap,
    pair_groups,
    pool,
    ranked,
    rarity,
)
from nbkit.studies.disambiguation.steps import PUBLISHED_CODE, RIGHT, UNDECIDED, WRONG, judged
from nbkit.studies.paper import Paper
from nbkit.text.phrases import stop_words

if TYPE_CHECKING:
    import pandas as pd

#: Resamples times rows that are drawn at most; with more rows, resamples are fewer.
_DRAWS = 200_000_000


class Strength(NamedTuple):
    """A correlation of scores with a yes or no.

    rbc: rank-biserial, positive where those that say yes have larger scores. low, high: 95 % interval. p: of
    the Mann–Whitney U test, two-sided. n_yes, n_no: sizes. small, medium, large: adjusted thresholds (equation 8).
    effect: what the correlation is called by them. All NaN, and effect "", where a group is empty.
    """

    rbc: float
    low: float
    high: float
    p: float
    n_yes: int
    n_no: int
    small: float
    medium: float
    large: float
    effect: str


def strength(
    scores: Sequence[float] | np.ndarray,
    yes: Sequence[bool] | np.ndarray,
    groups: Sequence[object] | np.ndarray,
    *,
    resamples: int = 999,
    seed: int = 0,
) -> Strength:
    """The rank-biserial correlation of *scores* with *yes* and all that is said of it.

    groups: what the rows belong to that are not independent (samples of one seed sentence); groups are resampled.
    (RBC + 1) / 2 is a share, of the pairs of a yes and a no of which the yes has the larger score, and the interval is
    that of a share with the resamples' variance: worth at least as many values as the smaller side has groups, and at
    most as many as there are pairs (percentiles hold 50 % of the time for 3 against 10 at 0.9, and 30 % for 1).

    >>> found = strength([3.0, 4.0, 5.0, 1.0, 2.0, 3.0], [True] * 3 + [False] * 3, range(6))
    >>> round(found.rbc, 3), found.effect
    (0.889, 'large')
    """
    values, chosen = np.asarray(scores, dtype=np.float64), np.asarray(yes, dtype=bool)
    if not len(values) == len(chosen) == len(groups):
        raise NbkitError(f"correlation: {len(values)} scores, {len(chosen)} outcomes and {len(groups)} groups")
    known = ~np.isnan(values)
    values, chosen = values[known], chosen[known]
    found = rank_biserial(values[chosen], values[~chosen])
    nothing = float("nan")
    if not found.n_first or not found.n_second:
        sizes = (found.n_first, found.n_second)
        return Strength(nothing, nothing, nothing, nothing, *sizes, nothing, nothing, nothing, effect="")
    low, high = _interval(found.rbc, values, chosen, np.asarray(groups)[known], resamples, seed)
    limits = adjusted_thresholds(found.base_rate)
    return Strength(found.rbc, low, high, found.p, found.n_first, found.n_second, *limits, limits.strength(found.rbc))


def _interval(
    rbc: float, values: np.ndarray, chosen: np.ndarray, groups: np.ndarray, resamples: int, seed: int
) -> tuple[float, float]:
    _, places = np.unique(values, return_inverse=True)
    _, units = np.unique(groups, return_inverse=True)
    size, n = int(places.max()) + 1, int(units.max()) + 1
    random = generator(seed, "rank biserial", n, len(values))
    draws = []
    for _ in range(min(resamples, max(99, _DRAWS // len(values)))):
        weights = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)[units]
        yes = np.bincount(places[chosen], weights[chosen], minlength=size)
        no = np.bincount(places[~chosen], weights[~chosen], minlength=size)
        below = np.cumsum(no) - no
        above = no.sum() - np.cumsum(no)
        pairs = yes.sum() * no.sum()
        draws.append(float(yes @ (below - above) / pairs) if pairs else np.nan)
    variance = float(np.nanvar(draws)) / 4 if not np.isnan(draws).all() else 0.0
    fewest = min(len(np.unique(units[chosen])), len(np.unique(units[~chosen])))
    most = int(chosen.sum()) * int((~chosen).sum())
    low, high = share_bounds((rbc + 1) / 2, variance, fewest=fewest, most=most)
    return 2 * low - 1, 2 * high - 1


def beside_research_code(found: pd.DataFrame) -> pd.DataFrame:
    """RBC by the run's choice and as the research code computes it: means over words and its own PPMI.

    found: `nbkit.studies.disambiguation.tables`. Columns: model, measure, rbc, as_computed.
    """
    is_theirs = (found["space"] == "published") | ~found["measure"].str.startswith("ppmi")
    is_theirs &= (found["aggregate"] == "mean") | (found["measure"] == "length")
    theirs = found.loc[is_theirs, ["model", "measure", "rbc"]].rename(columns={"rbc": "as_computed"})
    return found.loc[found["main"], ["model", "measure", "rbc"]].merge(theirs, on=["model", "measure"], how="left")


# ----------------------------------------------------------------------------
# Tables of the disambiguation study: attractors, models, and how far biases predict WSD errors (§2 of the
# paper).
#
# Each rate has an interval over test pairs; undecided translations count in no rate, and are told beside it.

#: "Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks".
PUBLISHED = Paper(Path(__file__).parent / "published", label)


#: The biases of Table 3, by their names in the published values: measure, and side or "diff".
MEASURED = ("freq_correct", "ppmi_correct", "freq_wrong", "ppmi_wrong", "freq_diff", "ppmi_diff", "length")


#: The measure that each choice of the parameter ``ppmi`` is.
PPMI_OF = {"pooled": "ppmi", "homograph": "ppmi_homograph", "published": "ppmi_published"}


_STRENGTH = list(Strength._fields)


#: The settings of Table 12 and the fields of a recipe that hold them; other fields follow.
_SETTINGS = {
    "architecture": "architecture",
    "training corpus": "train",
    "pairs": "pairs",
    "batch size (subwords)": "batch_tokens",
    "# total updates": "steps",
    "# epochs": "epochs",
    "# warm-up updates": "warmup",
    "learning rate": "learning_rate",
    "vocabulary": "vocabulary",
    "embedding size": "d_model",
    "hidden size": "ffn",
    "# encoder layers": "encoder_layers",
    "# decoder layers": "decoder_layers",
    "dropout": "dropout",
    "label smoothing": "label_smoothing",
    "random seed": "seed",
}


def attractors(params: DisambiguationParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """The *k* most frequent attractors of every sense, stop words aside (Table 1).

    Columns: homograph, sense, gloss, pairs (training pairs of the sense), rank, attractor, freq, ppmi. Homographs
    with the most training pairs first; senses without a pair have one row with rank 0.
    """
    known = counts(params, store)
    lexicon, stop = lexicon_of(params), stop_words(params.source)
    rows: list[tuple[Any, ...]] = []
    for word in sorted(lexicon.homographs, key=lambda word: (-known.of_homograph[word], word)):
        for cluster in sorted(lexicon.homographs[word].clusters, key=lambda each: -known.pairs[word, each.name]):
            named = (word, cluster.label, cluster.gloss, known.pairs[word, cluster.name])
            top = known.top_attractors(word, cluster.name, k, leave_out=stop)
            rows += [
                (*named, rank, each, n, MEASURES["ppmi"](known, each, word, cluster.name))
                for rank, (each, n) in enumerate(top, start=1)
            ] or [(*named, 0, "", 0, 0.0)]
    return frame(rows, ["homograph", "sense", "gloss", "pairs", "rank", "attractor", "freq", "ppmi"])


def sense_clusters(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """The sense clusters of the run with their training pairs (Table 11).

    Columns: homograph, sense, gloss, translations, pairs, share (of the homograph's training pairs; NaN without any).
    """
    known = counts(params, store)
    rows = []
    for word, homograph in lexicon_of(params).homographs.items():
        total = known.of_homograph[word]
        for cluster in homograph.clusters:
            n = known.pairs[word, cluster.name]
            translations = ", ".join(sorted(cluster.translations))
            rows.append((word, cluster.label, cluster.gloss, translations, n, n / total if total else np.nan))
    return frame(rows, ["homograph", "sense", "gloss", "translations", "pairs", "share"])


def undecided_senses(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Homographs of the training corpus whose sense could not be told, by reason. Columns: homograph, reason, n."""
    found = counts(params, store).undecided
    rows = sorted(((*key, n) for key, n in found.items()), key=lambda row: (-row[2], row[:2]))
    return frame(rows, ["homograph", "reason", "n"])


def corpus_sizes(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Sizes of the corpora as running text (Tables 9 and 10).

    Columns: corpus, used ("training", "test"), pairs, source_words, target_words, source_length, target_length (words a
    sentence; words are what white space separates).
    """
    import pandas as pd

    store = store or Store()
    rows = []
    used = [(params.training_corpus, "training", params.training_pairs)]
    used += [(corpus, "test", params.n_pairs) for corpus in params.test_corpora]
    for corpus, role, n in used:

        def compute(corpus: str = corpus, n: int | None = n) -> pd.DataFrame:
            sizes = np.zeros(3, dtype=np.int64)
            for pair in text_pairs(corpus, params.source, params.target, n, on_error=params.on_error):
                sizes += (1, len(pair.source.split()), len(pair.target.split()))
            return pd.DataFrame([sizes], columns=["pairs", "source_words", "target_words"])

        key = {"kind": "disambiguation.sizes", "version": 1, **params.corpus_key(corpus, n)}
        pairs, source, target = (int(value) for value in store.table(key, compute).iloc[0])
        rows.append((corpus, role, pairs, source, target, source / max(pairs, 1), target / max(pairs, 1)))
    columns = ["corpus", "used", "pairs", "source_words", "target_words", "source_length", "target_length"]
    return frame(rows, columns)


def model_settings(params: DisambiguationParams) -> pd.DataFrame:
    """How the models of the run were trained, as far as nbkit trained them (Table 12).

    Columns: model, parameter (as the paper calls it, where it prints it), value.
    """
    rows = []
    for model in params.translated_by:
        recipe = trained_by(model, params.source, params.target)
        if recipe is not None:
            fields = recipe.model_dump(mode="json")
            rows += [
                (label(model), name, str(fields[field]))
                for name, field in _SETTINGS.items()
                if fields.get(field) is not None
            ]
    return frame(rows, ["model", "parameter", "value"])


def bleu(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Corpus BLEU of every model on the first ``bleu_pairs`` pairs of every test corpus (Table 2).

    Columns: model, corpus, bleu, low, high (sacreBLEU's bootstrap over pairs), n, signature.
    """
    store = store or Store()
    rows = []
    for corpus in params.test_corpora if params.bleu_pairs else []:
        pairs = bleu_texts(params, corpus)
        for model in params.translated_by:
            hypotheses = models.translate_remembered(
                model, [source for source, _ in pairs], params.source, params.target, params.decoding,
                store=store, device=params.device, dtype=params.dtype,
            )  # fmt: skip
            rows.append(
                (label(model), corpus, *corpus_bleu(hypotheses, [target for _, target in pairs], params.target))
            )
    return frame(rows, ["model", "corpus", "bleu", "low", "high", "n", "signature"])


def bleu_texts(params: DisambiguationParams, corpus: str) -> list[tuple[str, str]]:
    """The pairs that BLEU is computed on."""
    n = params.bleu_pairs if params.n_pairs is None else min(params.bleu_pairs, params.n_pairs)
    pairs = text_pairs(corpus, params.source, params.target, n, on_error=params.on_error)
    return [(pair.source, pair.target) for pair in pairs]


def errors(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How often each model took another sense than the reference, over the whole pool.

    Columns: model, n (decided translations), errors, rate, low, high, undecided (translations whose sense cannot be
    told).
    """
    store = store or Store()
    groups = pair_groups(pool(params, store))
    return error_rates(
        (label(model), judged(params, model, store=store)["outcome"].to_numpy(), groups) for model in params.models
    )


def error_rates(outcomes: Iterable[tuple[str, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """`errors` of models' outcomes, given as label, what came of each pair, and the unit of each."""
    rows = [(model, *_error_rate(outcome, groups)) for model, outcome, groups in outcomes]
    return frame(rows, ["model", "n", "errors", "rate", "low", "high", "undecided"])


def undecided_translations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Why the sense of translations of the pool could not be told. Columns: model, reason, n."""
    rows = []
    for model in params.models:
        found = judged(params, model, store=store)
        reasons = found.loc[found["outcome"] == UNDECIDED, "reason"].value_counts(sort=True)
        rows += [(label(model), str(reason), int(n)) for reason, n in reasons.items()]
    return frame(rows, ["model", "reason", "n"])


def correlations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Rank-biserial correlations of biases with WSD errors (Table 3), by both aggregates and all kinds of PPMI.

    Columns: model, measure (`MEASURED`), aggregate ("mean", "sum"; "mean" for the length), space (of PPMI: one of
    `PPMI_OF`; the run's for others), main (whether it is the run's choice), and those of `Strength`.
    """
    store = store or Store()
    pairs = pool(params, store)
    rows = []
    for model in params.models:
        outcome = judged(params, model, store=store)["outcome"].to_numpy()
        decided = outcome != UNDECIDED
        wrong, groups = outcome[decided] == WRONG, pair_groups(pairs)[decided]
        for measure, aggregate, space in _variants():
            scores = bias(pairs, measure, aggregate, space)[decided]
            main = aggregate in (params.bias, "") and space in (params.ppmi, "")
            found = strength(scores, wrong, groups, seed=params.seed)
            rows.append((label(model), measure, aggregate or params.bias, space or params.ppmi, main, *found))
    # Also of no rows, "main" has to be a mask.
    return frame(rows, ["model", "measure", "aggregate", "space", "main", *_STRENGTH]).astype({"main": bool})


def thresholds(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Effect sizes adjusted for each model's base rate of WSD errors (Table 7, equation 8).

    Columns: model, size ("small", "medium", "large"), threshold, base_rate (share of errors). Models without an error,
    or with nothing else, have no rows.
    """
    rates = errors(params, store).set_index("model")["rate"]
    return threshold_rows(rates)


def threshold_rows(rates: pd.Series) -> pd.DataFrame:
    """The adjusted thresholds of each named base rate."""
    rows = []
    for name, rate in rates.items():
        if 0 < rate < 1:
            limits = adjusted_thresholds(float(rate))
            rows += [(name, size, getattr(limits, size), rate) for size in COHEN]
    return frame(rows, ["model", "size", "threshold", "base_rate"])


def sets(params: DisambiguationParams, store: Store | None = None) -> dict[str, np.ndarray]:
    """Places in the pool of the challenge set (largest FREQ_DIFF), of a random one, and of that of rare senses (§2.2).

    Sets have ``challenge_size`` pairs, or all there are where the pool has fewer.
    """
    pairs = pool(params, store)
    keys, size = pairs["key"].tolist(), params.challenge_size
    known, lexicon = counts(params, store).pairs, lexicon_of(params).homographs
    n_of = {(word, cluster.name): known[word, cluster.name] for word in lexicon for cluster in lexicon[word].clusters}
    rare = rarity(pairs["homograph"].tolist(), pairs["sense"].tolist(), n_of)
    return {
        CHALLENGE: ranked(bias(pairs, "freq_diff", params.bias, "pooled"), keys, params.seed)[:size],
        RANDOM: drawn(keys, params.seed, "challenge")[:size],
        RARE: ranked(rare, keys, params.seed)[:size],
    }


def challenge_errors(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """WSD error rates on the challenge set, on the random one and on that of rare senses (Figure 1).

    Columns: model, set, n (decided), errors, rate, low, high, undecided, factor (the rate over the random set's;
    NaN for that itself and where it has no error).
    """
    store = store or Store()
    chosen, groups = sets(params, store), pair_groups(pool(params, store))
    rows: list[tuple[Any, ...]] = []
    for model in params.models:
        outcome = judged(params, model, store=store)["outcome"].to_numpy()
        rates = {name: _error_rate(outcome[places], groups[places]) for name, places in chosen.items()}
        chance = rates[RANDOM][2]
        for name, rate in rates.items():
            factor = rate[2] / chance if name != RANDOM and chance > 0 else np.nan
            rows.append((label(model), name, *rate, factor))
    return frame(rows, ["model", "set", "n", "errors", "rate", "low", "high", "undecided", "factor"])


def rare_overlap(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """What the challenge set has in common with that of rare senses, and with the random one as a floor (§2.2).

    Columns: domain, set ("rare sense", "random"), size (of the smaller), of (pairs in the pool), shared, percent. Where
    sets hold most of the pool, they have much in common by chance: 100 · size / of is expected.
    """
    chosen = sets(params, store)
    n = len(pool(params, store))
    rows = []
    for name in (RARE, RANDOM):
        both = len(set(chosen[CHALLENGE].tolist()) & set(chosen[name].tolist()))
        percent = 100 * overlap(chosen[CHALLENGE].tolist(), chosen[name].tolist())
        rows.append((params.domain, name, min(len(chosen[CHALLENGE]), len(chosen[name])), n, both, percent))
    return frame(rows, ["domain", "set", "size", "of", "shared", "percent"])


def error_examples(params: DisambiguationParams, k: int = 5, store: Store | None = None) -> pd.DataFrame:
    """The *k* errors of each model with the largest FREQ_DIFF. Columns: model, homograph, sense, found, source,
    reference, word, hypothesis, words, freq_diff.
    """
    pairs = pool(params, store)
    biases = bias(pairs, "freq_diff", params.bias, "pooled")
    rows = []
    for model in params.models:
        made = judged(params, model, store=store)
        wrong = np.flatnonzero((made["outcome"] == WRONG).to_numpy())
        for place in wrong[ranked(biases[wrong], [pairs["key"].iloc[i] for i in wrong], params.seed)[:k]]:
            pair, own = pairs.iloc[place], made.iloc[place]
            senses = [sense_label(params, pair["homograph"], name) for name in (pair["sense"], own["found"])]
            rows.append(
                (label(model), pair["homograph"], *senses, pair["source"], pair["reference"], pair["word"],
                 own["hypothesis"], own["words"], biases[place])
            )  # fmt: skip
    columns = [
        "model",
        "homograph",
        "sense",
        "found",
        "source",
        "reference",
        "word",
        "hypothesis",
        "words",
        "freq_diff",
    ]
    return frame(rows, columns)


def bias(pairs: pd.DataFrame, measure: str, aggregate: str, space: str) -> np.ndarray:
    """One of `MEASURED` for each row of the pool. aggregate: "mean" or "sum"; space: of PPMI."""
    if measure == "length":
        return pairs["length"].to_numpy(dtype=np.float64)
    name, side = measure.split("_")
    name = PPMI_OF[space] if name == "ppmi" else name
    sides = {each: pairs[f"{name}_{each}_{aggregate}"].to_numpy(dtype=np.float64) for each in ("right", "wrong")}
    if side == "diff":
        return sides["wrong"] - sides["right"]
    return sides["right" if side == "correct" else "wrong"]


def _variants() -> list[tuple[str, str, str]]:
    """Measure, aggregate and sample space; "" where there is no choice."""
    found = []
    for measure in MEASURED:
        for aggregate in [""] if measure == "length" else AGGREGATES:
            found += [(measure, aggregate, space) for space in (PPMI_OF if "ppmi" in measure else [""])]
    return found


def _error_rate(outcome: np.ndarray, groups: np.ndarray) -> tuple[int, int, float, float, float, int]:
    """Decided, errors, rate with interval, undecided."""
    decided = np.isin(outcome, (RIGHT, WRONG))
    wrong = outcome[decided] == WRONG
    rate = share_interval(wrong, groups=groups[decided])
    return int(decided.sum()), int(wrong.sum()), rate.mean, rate.low, rate.high, int((~decided).sum())


def sense_label(params: DisambiguationParams, homograph: str, name: str) -> str:
    """What a sense is called in tables."""
    return lexicon_of(params).homographs[homograph].cluster(name).label if name else ""


def frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


# ----------------------------------------------------------------------------
# What the rule decides (the linked nouns), and what its variants would: how many senses are told, and how
# many wrong.
#
# Variants stand beside the rule and never in its place: pool, biases and every other table are of the linked
# words.

#: What `Reach` and the published code's way to judge are called in tables.
SHOWN = {
    "links": "linked nouns (the rule)",
    "window": f"else nouns within ±{WINDOW} words",
    "translation": "else all nouns of the translation",
    PUBLISHED_CODE: "as the published code judges",
}


def sense_coverage(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many occurrences of homographs in the training corpus have a sense, by where it is looked for.

    Columns: reach (`Reach`), decided, undecided, set_aside (translated by a verb or an adjective: mostly wrong tags, in
    no share), share (of the decided ones), by_gender (how many of them nothing but the gender of a noun tells that the
    lexicon calls ambiguous).
    """
    reached = counts(params, store or Store()).reached
    rows = []
    for reach in REACHES:
        own = {reason: n for (name, reason), n in reached.items() if name == reach}
        by_gender = own.get(BY_GENDER, 0)
        decided, aside = own.get(DECIDED, 0) + by_gender, sum(own.get(reason, 0) for reason in OUTSIDE)
        undecided = sum(own.values()) - decided - aside
        share = decided / (decided + undecided) if decided + undecided else np.nan
        rows.append((reach, decided, undecided, aside, share, by_gender))
    return frame(rows, ["reach", "decided", "undecided", "set_aside", "share", "by_gender"])


def error_variants(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """The WSD error rates of the models by where translations are looked for.

    Columns: model, reach (`Reach`, or "published code": the whole translation, and a word of several senses is right
    where the reference's is among them), n (decided), errors, rate, low, high, undecided, set_aside, share (of the
    decided ones).
    """
    store = store or Store()
    groups = pair_groups(pool(params, store))
    rows = []
    for model in params.models:
        found = judged(params, model, store=store)
        aside = found["reason"].isin(OUTSIDE).to_numpy()
        for reach in SHOWN:
            outcome = found["outcome" if reach == "links" else f"outcome_{reach}"].to_numpy()
            decided = np.isin(outcome, (RIGHT, WRONG))
            rate = share_interval((outcome[decided] == WRONG).astype(float), groups=groups[decided])
            n, left = int(decided.sum()), int((~decided & ~aside).sum())
            rows.append(
                (label(model), reach, n, int((outcome == WRONG).sum()), rate.mean, rate.low, rate.high, left,
                 int((~decided & aside).sum()), n / (n + left) if n + left else np.nan)
            )  # fmt: skip
    columns = ["model", "reach", "n", "errors", "rate", "low", "high", "undecided", "set_aside", "share"]
    return frame(rows, columns)
