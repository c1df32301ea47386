"""Tables of the disambiguation study: how biased pairs and models are, and which attacks succeed.

Each rate has an interval over test pairs, as the samples of one seed are not independent. Undecided translations count
in no error rate, and are reported beside it; a success rate is over all samples, and its ceiling is the share of
samples whose seed was translated right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbkit.corpora.homographs import MUCOW
from nbkit.errors import NbkitError
from nbkit.measure.senses import AGGREGATES, BY_GENDER, DECIDED, MEASURES, OUTSIDE, REACHES, WINDOW, MucowScore
from nbkit.measure.statistics import COHEN, adjusted_thresholds, rank_biserial, share_bounds, share_interval
from nbkit.models import label
from nbkit.perturb.word_sense import PERTURBATIONS, grammar_errors, grammar_problem
from nbkit.seeding import address, generator
from nbkit.store import Store
from nbkit.studies.base import trained_by
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    BIASED,
    CHALLENGE,
    EXPECTED,
    NOT_DRAWN,
    RANDOM,
    RARE,
    UNEXPECTED,
    capped,
    counts,
    drawn,
    jaccard,
    overlap,
    pair_groups,
    pool,
    ranked,
    rarity,
    records,
    seeds,
)
from nbkit.studies.disambiguation.steps import (
    OTHER,
    PUBLISHED_CODE,
    RIGHT,
    SAMPLE,
    SEED_WRONG,
    SUCCESS,
    UNDECIDED,
    WRONG,
    attacked,
    generated,
    judged,
    mucow_verdicts,
    outcomes,
)
from nbkit.studies.paper import Paper
from nbkit.text.phrases import stop_words
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    import pandas as pd

#: "Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks".
PUBLISHED = Paper(Path(__file__).parent / "published", label)
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
    sizes = (found.n_first, found.n_second)
    if not all(sizes):
        return Strength(np.nan, np.nan, np.nan, np.nan, *sizes, np.nan, np.nan, np.nan, effect="")
    low, high = _interval(found.rbc, values, chosen, np.asarray(groups)[known], resamples, seed)
    limits = adjusted_thresholds(found.base_rate)
    return Strength(found.rbc, low, high, found.p, *sizes, *limits, limits.strength(found.rbc))


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
# Attractors, models, and how far biases predict WSD errors (§2 of the paper).

#: The columns of an error rate, of a rate of successful attacks, and of a correlation.
_ERROR_RATE = "n errors rate low high undecided"
_SUCCESS_RATE = "n successes rate low high ceiling another_sense undecided"
_STRENGTH = " ".join(Strength._fields)
#: The biases of Table 3, by their names in the published values: measure, and side or "diff".
MEASURED = ("freq_correct", "ppmi_correct", "freq_wrong", "ppmi_wrong", "freq_diff", "ppmi_diff", "length")
#: The measure that each choice of the parameter ``ppmi`` is.
PPMI_OF = {"pooled": "ppmi", "homograph": "ppmi_homograph", "published": "ppmi_published"}


@cache
def looks() -> dict[str, Any]:
    """How things of the study look and what they are called, as ``looks.yaml`` has it."""
    return read_own(Path(__file__).with_name("looks.yaml"))


def attractors(params: DisambiguationParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """The *k* most frequent attractors of every sense, stop words aside (Table 1).

    Columns: homograph, sense, gloss, pairs (training pairs of the sense), rank, attractor, freq, ppmi. Homographs
    with the most training pairs first; senses without a pair have one row with rank 0.
    """
    known = counts(params, store)
    lexicon, stop = params.homographs, stop_words(params.source)
    rows: list[tuple[Any, ...]] = []
    for word in sorted(lexicon.homographs, key=lambda word: (-known.of_homograph[word], word)):
        for cluster in sorted(lexicon.homographs[word].clusters, key=lambda each: -known.pairs[word, each.name]):
            named = (word, cluster.label, cluster.gloss, known.pairs[word, cluster.name])
            top = known.top_attractors(word, cluster.name, k, leave_out=stop)
            rows += [
                (*named, rank, each, n, MEASURES["ppmi"](known, each, word, cluster.name))
                for rank, (each, n) in enumerate(top, start=1)
            ] or [(*named, 0, "", 0, 0.0)]
    return frame(rows, "homograph sense gloss pairs rank attractor freq ppmi")


def sense_clusters(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """The sense clusters of the run with their training pairs (Table 11).

    Columns: homograph, sense, gloss, translations, pairs, share (of the homograph's training pairs; NaN without any).
    """
    known = counts(params, store)
    rows = []
    for word, homograph in params.homographs.homographs.items():
        total = known.of_homograph[word]
        for cluster in homograph.clusters:
            n = known.pairs[word, cluster.name]
            translations = ", ".join(sorted(cluster.translations))
            rows.append((word, cluster.label, cluster.gloss, translations, n, n / total if total else np.nan))
    return frame(rows, "homograph sense gloss translations pairs share")


def undecided_senses(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Homographs of the training corpus without an identified sense, by reason. Columns: homograph, reason, n."""
    found = counts(params, store).undecided
    rows = sorted(((*key, n) for key, n in found.items()), key=lambda row: (-row[2], row[:2]))
    return frame(rows, "homograph reason n")


def model_settings(params: DisambiguationParams) -> pd.DataFrame:
    """How the models of the run were trained, as far as nbkit trained them (Table 12).

    Columns: model, parameter (as the paper calls it, where it prints it), value.
    """
    rows = []
    for model in params.translated_by:
        recipe = trained_by(model, params.source, params.target)
        if recipe is not None:
            fields = recipe.model_dump(mode="json")
            named = ((name, fields.get(field)) for name, field in looks()["settings"].items())
            rows += [(label(model), name, str(value)) for name, value in named if value is not None]
    return frame(rows, "model parameter value")


def errors(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How often each model took another sense than the reference, over the whole pool.

    Columns: model, n (decided translations), errors, rate, low, high, undecided (translations without an identified
    sense).
    """
    groups = pair_groups(pool(params, store))
    return _errors((model, found["outcome"].to_numpy(), groups) for model, found in _by_model(judged, params, store))


def mucow(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """MuCoW's own score of each model on all of its sentences, beside the senses of aligned words (`errors`).

    Columns: model, n (sentences), right, wrong, neither, precision, recall, f1 (`MucowScore`), decided (test pairs
    whose sense is identified), share, low, high (of these in the right sense). Empty unless the lexicon is MuCoW's.
    """
    rows = []
    if params.lexicon.endswith(MUCOW):
        ours = errors(params, store)[["n", "rate", "low", "high"]].to_numpy(dtype=np.float64)
        both = zip(_by_model(mucow_verdicts, params, store), ours, strict=True)
        for (name, verdicts), (n, rate, low, high) in both:
            score = MucowScore(*(int((verdicts["verdict"] == each).sum()) for each in MucowScore._fields))
            of_score = (*score, score.precision, score.recall, score.f1)
            rows.append((name, len(verdicts), *of_score, int(n), 1 - rate, 1 - high, 1 - low))
    return frame(rows, "model n right wrong neither precision recall f1 decided share low high")


def unanimous(params: DisambiguationParams, k: int = 40, store: Store | None = None) -> pd.DataFrame:
    """The test pairs in which all decided voters agree on a sense that the words around speak against: for people.

    No majority can find an error that all systems make. The *k* with the largest PPMI_DIFF above 0, one per homograph
    and sense at most three. Columns: homograph, sense, wrong_sense (that the context speaks for), systems, source,
    reference (a translation), word, ppmi_diff. Empty without voters.
    """
    pairs = pool(params, store)
    if not params.voters or pairs.empty:
        return frame([], "homograph sense wrong_sense systems source reference word ppmi_diff")
    found = [judged(params, model, store=store)["outcome"].to_numpy() for model in params.voters]
    agreed = np.sum([outcome == RIGHT for outcome in found], axis=0)
    alone = ~np.any([outcome == WRONG for outcome in found], axis=0)
    gap = bias(pairs, "ppmi_diff", params.bias, params.ppmi)
    shown = pairs.assign(systems=agreed, ppmi_diff=gap)[alone & (gap > 0)].sort_values("ppmi_diff", ascending=False)
    shown = shown.groupby(["homograph", "sense"], sort=False).head(3).head(k)
    rows = [_with_labels(params, row, sense="sense", wrong_sense="wrong_sense") for row in records(shown)]
    return frame(rows, "homograph sense wrong_sense systems source reference word ppmi_diff")


def _errors(outcomes: Iterable[tuple[str, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """`errors` of models' outcomes, given as label, what came of each pair, and the unit of each."""
    rows = [(model, *_error_rate(outcome, groups)) for model, outcome, groups in outcomes]
    return frame(rows, f"model {_ERROR_RATE}")


@outcomes.table
def errors_of_outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """`errors`, from outcomes alone."""
    back = {"pass": RIGHT, "fail": WRONG, "undecided": UNDECIDED}
    own = found[found["measure"] == "sense"]
    return _errors(
        (str(model), of_model["verdict"].map(back).to_numpy(), of_model["cluster"].to_numpy(dtype=object))
        for model, of_model in own.groupby("system", sort=False)
    )


def undecided_translations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Why the sense of translations of the pool could not be identified. Columns: model, reason, n."""
    rows = []
    for model, found in _by_model(judged, params, store):
        reasons = found.loc[found["outcome"] == UNDECIDED, "reason"].value_counts(sort=True)
        rows += [(model, str(reason), int(n)) for reason, n in reasons.items()]
    return frame(rows, "model reason n")


def correlations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Rank-biserial correlations of biases with WSD errors (Table 3), by both aggregates and all kinds of PPMI.

    Columns: model, measure (`MEASURED`), aggregate ("mean", "sum"; "mean" for the length), space (of PPMI: one of
    `PPMI_OF`; the run's for others), main (whether it is the run's choice), and those of `Strength`.
    """
    pairs = pool(params, store)
    rows = []
    for model, found in _by_model(judged, params, store):
        outcome = found["outcome"].to_numpy()
        decided = outcome != UNDECIDED
        wrong, groups = outcome[decided] == WRONG, pair_groups(pairs)[decided]
        for measure, aggregate, space in _variants():
            scores = bias(pairs, measure, aggregate, space)[decided]
            main = aggregate in (params.bias, "") and space in (params.ppmi, "")
            found_strength = strength(scores, wrong, groups, seed=params.seed)
            rows.append((model, measure, aggregate or params.bias, space or params.ppmi, main, *found_strength))
    # Also of no rows, "main" has to be a mask.
    return frame(rows, f"model measure aggregate space main {_STRENGTH}").astype({"main": bool})


def thresholds(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Effect sizes adjusted for each model's base rate of WSD errors (Table 7, equation 8).

    Columns: model, size ("small", "medium", "large"), threshold, base_rate (share of errors). Models without an error,
    or with nothing else, have no rows.
    """
    return _thresholds(errors(params, store))


def _thresholds(rates: pd.DataFrame) -> pd.DataFrame:
    """The adjusted thresholds of each model's rate."""
    rows = []
    for model, rate in zip(rates["model"], rates["rate"], strict=True):
        if 0 < rate < 1:
            limits = adjusted_thresholds(float(rate))
            rows += [(model, size, getattr(limits, size), rate) for size in COHEN]
    return frame(rows, "model size threshold base_rate")


def sets(params: DisambiguationParams, store: Store | None = None) -> dict[str, np.ndarray]:
    """Places in the pool of the challenge set (largest FREQ_DIFF), of a random one, and of that of rare senses (§2.2).

    Sets have ``challenge_size`` pairs, or all there are where the pool has fewer.
    """
    pairs = pool(params, store)
    keys, size = pairs["key"].tolist(), params.challenge_size
    known, lexicon = counts(params, store).pairs, params.homographs.homographs
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
    chosen, groups = sets(params, store), pair_groups(pool(params, store))
    rows: list[tuple[Any, ...]] = []
    for model, found in _by_model(judged, params, store):
        outcome = found["outcome"].to_numpy()
        rates = {name: _error_rate(outcome[places], groups[places]) for name, places in chosen.items()}
        rows += [(model, *row) for row in _over_random(rates)]
    return frame(rows, f"model set {_ERROR_RATE} factor")


def rare_overlap(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """What the challenge set has in common with that of rare senses, and with the random one as a floor (§2.2).

    Columns: domain, set ("rare sense", "random"), size (of the smaller), of (pairs in the pool), shared, percent. Where
    sets hold most of the pool, they have much in common by chance: 100 · size / of is expected.
    """
    chosen = {name: places.tolist() for name, places in sets(params, store).items()}
    n, rows = len(pool(params, store)), []
    for name in (RARE, RANDOM):
        one, other = chosen[CHALLENGE], chosen[name]
        shared = len({*one} & {*other})
        rows.append((params.domain, name, min(len(one), len(other)), n, shared, 100 * overlap(one, other)))
    return frame(rows, "domain set size of shared percent")


def error_examples(params: DisambiguationParams, k: int = 5, store: Store | None = None) -> pd.DataFrame:
    """The *k* errors of each model with the largest FREQ_DIFF. Columns: model, homograph, sense, found, source,
    reference, word, hypothesis, words, freq_diff.
    """
    pairs = pool(params, store)
    biases = bias(pairs, "freq_diff", params.bias, "pooled")
    rows: list[dict[str, Any]] = []
    for model, made in _by_model(judged, params, store):
        wrong = np.flatnonzero((made["outcome"] == WRONG).to_numpy())
        chosen = wrong[ranked(biases[wrong], pairs["key"].iloc[wrong].tolist(), params.seed)[:k]]
        both = pairs.assign(model=model, freq_diff=biases, **made[["found", "hypothesis", "words"]])
        rows += [_with_labels(params, row, sense="sense", found="found") for row in records(both.iloc[chosen])]
    return frame(rows, "model homograph sense found source reference word hypothesis words freq_diff")


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


def _error_rate(outcome: np.ndarray, groups: np.ndarray) -> tuple[Any, ...]:
    """The values of `_ERROR_RATE`."""
    decided = np.isin(outcome, (RIGHT, WRONG))
    return *_rate(outcome[decided] == WRONG, groups[decided]), int((~decided).sum())


def _rate(hits: np.ndarray, groups: np.ndarray) -> tuple[int, int, float, float, float]:
    """How many there are, how many of them are hits, and their share with its interval."""
    share = share_interval(hits, groups=groups)
    return len(hits), int(hits.sum()), share.mean, share.low, share.high


def _over_random(rates: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Each set with its rate and the factor over the random set's; NaN for that itself and where it has no hit."""
    chance = rates[RANDOM][2]
    for name, rate in rates.items():
        yield name, *rate, rate[2] / chance if name != RANDOM and chance > 0 else np.nan


def _by_model(
    table: Callable[..., pd.DataFrame], params: DisambiguationParams, store: Store | None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The label of each model of the run with its *table*."""
    store = store or Store()
    wanted = params.attackable if table is attacked else params.models
    return ((label(model), table(params, model, store=store)) for model in params.models if model in wanted)


def _with_labels(params: DisambiguationParams, row: dict[str, Any], **columns: str) -> dict[str, Any]:
    """*row* with the senses in some columns as tables call them: the name of the new column, and that of the old."""
    senses = params.homographs.homographs[row["homograph"]]
    return {**row, **{new: senses.cluster(row[old]).label for new, old in columns.items()}}


def frame(rows: Sequence[Any], columns: str) -> pd.DataFrame:
    """A table of *rows*, tuples or mappings, with these *columns*, named with spaces between, also without rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns.split())


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
    no share), share (of the decided ones), by_gender (how many of them only the gender of a noun decides, which the
    lexicon calls ambiguous).
    """
    reached = counts(params, store).reached
    rows = []
    for reach in REACHES:
        own = {reason: n for (name, reason), n in reached.items() if name == reach}
        by_gender = own.get(BY_GENDER, 0)
        decided, aside = own.get(DECIDED, 0) + by_gender, sum(own.get(reason, 0) for reason in OUTSIDE)
        undecided = sum(own.values()) - decided - aside
        share = decided / (decided + undecided) if decided + undecided else np.nan
        rows.append((reach, decided, undecided, aside, share, by_gender))
    return frame(rows, "reach decided undecided set_aside share by_gender")


def error_variants(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """The WSD error rates of the models by where translations are looked for.

    Columns: model, reach (`Reach`, or "published code": the whole translation, and a word of several senses is right
    where the reference's is among them), n (decided), errors, rate, low, high, undecided, set_aside, share (of the
    decided ones).
    """
    groups = pair_groups(pool(params, store))
    rows = []
    for model, found in _by_model(judged, params, store):
        outside = found["reason"].isin(OUTSIDE).to_numpy()
        for reach in SHOWN:
            outcome = found["outcome" if reach == "links" else f"outcome_{reach}"].to_numpy()
            *rate, undecided = _error_rate(outcome, groups)
            aside = int((outside & ~np.isin(outcome, (RIGHT, WRONG))).sum())
            n, left = rate[0], undecided - aside
            rows.append((model, reach, *rate, left, aside, n / (n + left) if n + left else np.nan))
    return frame(rows, f"model reach {_ERROR_RATE} set_aside share")


# ----------------------------------------------------------------------------
# The attacks: what samples there are, which succeed, and whether they carry over (§3 and §4 of the paper).

#: The biases of Table 5, by their names in the published values.
ATTRACTOR_BIASES = ("freq_wrong", "ppmi_wrong", "freq_diff", "ppmi_diff")


#: A random set of the samples that the challenge set is chosen from: those at the homograph.
RANDOM_NEAR = "random, at the homograph"


_NEAR = ("IH", "RH")


def seeds_left(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many test pairs become seeds, and what the others fail at (§3.1).

    Columns: fate (in the order of the filters; "seed" last), n, share (of the pool).
    """
    found = seeds(params, store=store)["fate"].value_counts()
    total = max(int(found.sum()), 1)
    rows = [(fate, int(found.get(fate, 0))) for fate in (UNEXPECTED, BIASED, NOT_DRAWN, EXPECTED)]
    return frame([(fate, n, n / total) for fate, n in rows], "fate n share")


def samples_made(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many samples each perturbation type makes, and how many are fluent enough.

    Columns: kind, what (in words), made, fluent, share, seeds (that a fluent sample was made of), attractors.
    """
    table = generated(params, store, ["kind", "key", "attractor", "fluent"], every=True)
    rows = []
    for kind in params.kinds:
        own = table[table["kind"] == kind]
        fluent = own[own["fluent"].astype(bool)]
        share = len(fluent) / len(own) if len(own) else np.nan
        sizes = (len(own), len(fluent), share, fluent["key"].nunique(), fluent["attractor"].nunique())
        rows.append((kind, PERTURBATIONS[kind], *sizes))
    return frame(rows, "kind what made fluent share seeds attractors")


def perturbation_examples(params: DisambiguationParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* samples of each perturbation type (Table 4).

    Columns: kind, homograph, text, start, end (characters of the attractor), attractor, replaced, noun,
    homograph_start, homograph_end, seed.
    """
    table = generated(params, store)
    sources = pool(params, store).set_index("key")["source"]
    rows = []
    for kind in params.kinds:
        own = records(table[table["kind"] == kind])
        own.sort(key=lambda row: address(params.seed, "table4", row["sample"]))
        rows += [{**_with_span(row), "seed": sources[row["key"]]} for row in own[:k]]
    return frame(rows, "kind homograph text start end attractor replaced noun homograph_start homograph_end seed")


def attack_rates(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How often attacks succeed, over all samples of the run.

    Columns: model, n, successes, rate, low, high, ceiling (share of samples whose seed was right), another_sense,
    undecided (counts).
    """
    rows = [(model, *_success(table)) for model, table in _by_model(attacked, params, store)]
    return frame(rows, f"model {_SUCCESS_RATE}")


def success_by_kind(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Success rates by perturbation type (Figure 2). Columns: model, kind and those of `attack_rates`."""
    rows = [
        (model, kind, *_success(table[table["kind"] == kind]))
        for model, table in _by_model(attacked, params, store)
        for kind in params.kinds
    ]
    return frame(rows, f"model kind {_SUCCESS_RATE}")


def attack_correlations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Rank-biserial correlations of the attractors' biases with attack success (Table 5).

    Columns: model, measure (`ATTRACTOR_BIASES`), and those of `Strength`. Over all samples; wrong is the
    adversarial sense.
    """
    rows: list[tuple[Any, ...]] = []
    for model, table in _by_model(attacked, params, store):
        won, seeds_of = (table["outcome"] == SUCCESS).to_numpy(), table["key"].to_numpy()
        for measure in ATTRACTOR_BIASES:
            found = strength(attractor_bias(table, measure), won, seeds_of, seed=params.seed)
            rows.append((model, measure, *found))
    return frame(rows, f"model measure {_STRENGTH}")


def attack_thresholds(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Effect sizes adjusted for the base rates of attack success (Table 8, equation 8). Columns as of `thresholds`."""
    return _thresholds(attack_rates(params, store))


def attack_sets(params: DisambiguationParams, store: Store | None = None) -> dict[str, np.ndarray]:
    """Places among the fluent samples of the attack challenge set and of random ones (§3.2).

    The challenge set holds the IH and RH samples whose attractors have the largest FREQ_DIFF, at most
    ``per_homograph`` of each homograph; random sets of the same size are drawn from all samples, as in the paper,
    and from IH and RH alone.
    """
    table = generated(params, store, SAMPLE)
    names, homographs = table["sample"].tolist(), table["homograph"].tolist()
    near = table["kind"].isin(_NEAR).to_numpy()
    order = ranked(attractor_bias(table, "freq_diff"), names, params.seed)
    chosen = capped(order[near[order]], homographs, params.attack_size, params.per_homograph)
    by_chance = drawn(names, params.seed, "attacks")
    return {
        CHALLENGE: chosen,
        RANDOM: by_chance[: len(chosen)],
        RANDOM_NEAR: by_chance[near[by_chance]][: len(chosen)],
    }


def attack_challenge(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Success rates on the attack challenge set and on random ones (Figure 3).

    Columns: model, set, those of `attack_rates`, factor (the rate over that of the random set; NaN where that has
    none).
    """
    chosen = attack_sets(params, store)
    rows: list[tuple[Any, ...]] = []
    for model, table in _by_model(attacked, params, store):
        rates = {name: _success(table.iloc[places]) for name, places in chosen.items()}
        rows += [(model, *row) for row in _over_random(rates)]
    return frame(rows, f"model set {_SUCCESS_RATE} factor")


def successes(params: DisambiguationParams, k: int = 5, store: Store | None = None) -> pd.DataFrame:
    """*k* successful attacks on each model, those of the challenge set first, of as many homographs as there are
    (Tables 6 and 13 to 18).

    Columns: model, kind, homograph, seed_sense, adversarial_sense, text, start, end (of the attractor), replaced,
    homograph_start, homograph_end, seed_hypothesis, seed_words, hypothesis, words, freq_diff.
    """
    samples = generated(params, store)
    samples["late"] = True
    samples.loc[attack_sets(params, store)[CHALLENGE], "late"] = False
    samples["freq_diff"] = attractor_bias(samples, "freq_diff")
    rows: list[dict[str, Any]] = []
    for model, found in _by_model(attacked, params, store):
        own = samples.assign(model=model, **found[["outcome", "hypothesis", "words", "seed_hypothesis", "seed_words"]])
        won = records(own[own["outcome"] == SUCCESS])
        won.sort(key=lambda row: (row["late"], address(params.seed, "success", row["sample"])))
        chosen = _in_turns(won, lambda row: (row["late"], row["homograph"]))[:k]
        named = (_with_labels(params, row, seed_sense="sense", adversarial_sense="adversarial") for row in chosen)
        rows += map(_with_span, named)
    return frame(
        rows,
        "model kind homograph seed_sense adversarial_sense text start end replaced homograph_start homograph_end "
        "seed_hypothesis seed_words hypothesis words freq_diff",
    )


def _in_turns(rows: list[dict[str, Any]], group: Callable[[dict[str, Any]], tuple[bool, str]]) -> list[dict[str, Any]]:
    """*rows* with those of each (late, name) group in turn; the late groups after all others."""
    turns: Counter[tuple[bool, str]] = Counter()
    places = []
    for row in rows:
        late, name = group(row)
        places.append((late, turns[late, name]))
        turns[late, name] += 1
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: places[i])]


def transfer(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Jaccard indices of the successful attacks on every two models (§4); of wrong senses, if fewer than two can be
    attacked: files of outputs answer nothing new. Pairs that either model leaves undecided then do not count.

    Columns: domain, model_a, model_b, relation ("models", "random seed" for a model and its twin, or `WRONG_SENSES`),
    only_a, both, only_b, jaccard, low, high, chance (what sets of these sizes have in common when they are drawn
    independently).
    """
    attacks = len(params.attackable) > 1
    table, hit = (attacked, SUCCESS) if attacks else (judged, WRONG)
    tables = {model: table(params, model, store=store) for model in (params.attackable if attacks else params.models)}
    rows = []
    for a, b in combinations(tables, 2):
        decided = np.ones(len(tables[a]), dtype=bool)
        if not attacks:
            decided = (tables[a]["outcome"] != UNDECIDED).to_numpy() & (tables[b]["outcome"] != UNDECIDED).to_numpy()
        one, two = ((tables[model]["outcome"] == hit).to_numpy(dtype=bool)[decided] for model in (a, b))
        either, both = one | two, one & two
        groups = tables[a]["key"].to_numpy() if attacks else pair_groups(pool(params, store))
        interval = share_interval(both[either], groups=groups[decided][either])
        is_twin = params.twins.get(a) == b or params.twins.get(b) == a
        relation = ("random seed" if is_twin else "models") if attacks else WRONG_SENSES
        index = jaccard(np.flatnonzero(one).tolist(), np.flatnonzero(two).tolist())
        sizes = (int((one & ~two).sum()), int(both.sum()), int((two & ~one).sum()))
        chance = _chance_jaccard(int(one.sum()), int(two.sum()), len(one))
        named = (params.domain, label(a), label(b), relation)
        rows.append((*named, *sizes, index, interval.low, interval.high, chance))
    return frame(rows, "domain model_a model_b relation only_a both only_b jaccard low high chance")


#: What `transfer` compares where models cannot be attacked.
WRONG_SENSES = "wrong senses"


def attractor_bias(samples: pd.DataFrame, measure: str) -> np.ndarray:
    """One of `ATTRACTOR_BIASES` for each sample."""
    name, side = measure.split("_")
    wrong = samples[f"{name}_wrong"].to_numpy(dtype=np.float64)
    return wrong - samples[f"{name}_right"].to_numpy(dtype=np.float64) if side == "diff" else wrong


def _with_span(sample: dict[str, Any]) -> dict[str, Any]:
    """A sample with the characters of the homograph: where its token number comes to stand among its tokens."""
    at = 0
    for token in sample["tokens"][: sample["token"]]:
        at = sample["text"].index(token, at) + len(token)
    homograph = sample["tokens"][sample["token"]]
    start = sample["text"].index(homograph, at)
    return {**sample, "homograph_start": start, "homograph_end": start + len(homograph)}


def _success(table: pd.DataFrame) -> tuple[Any, ...]:
    """The values of `_SUCCESS_RATE` over the samples of *table*."""
    outcome = table["outcome"].to_numpy()
    ceiling = float((outcome != SEED_WRONG).mean()) if len(outcome) else np.nan
    others = (int((outcome == name).sum()) for name in (OTHER, UNDECIDED))
    return *_rate(outcome == SUCCESS, table["key"].to_numpy()), ceiling, *others


def _chance_jaccard(a: int, b: int, n: int) -> float:
    if not n or not a + b:
        return float("nan")
    both = a * b / n
    return both / (a + b - both)


# ----------------------------------------------------------------------------
# Would anybody notice? Grammar of the samples, and sentences for human judges (§3.3 of the paper).

#: The two kinds of sentences that judges see.
ADVERSARIAL, REGULAR = "adversarial", "regular"


_TERMS = 5


def grammar(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many samples of the attack challenge set have more grammar errors than their seeds, by LanguageTool (§3.3).

    Columns: domain, n, worse, better, percent (worse), low, high. Empty where the run does not check grammar, and where
    LanguageTool cannot run here (`grammar_skipped` says why).
    """
    columns = "domain n worse better percent low high"
    if grammar_skipped(params):
        return frame([], columns)
    store = store or Store()
    samples = generated(params, store).iloc[attack_sets(params, store)[CHALLENGE]]
    if samples.empty:
        return frame([], columns)
    sources = pool(params, store).set_index("key")["source"]
    texts = samples["text"].tolist()
    before = grammar_errors([sources[key] for key in samples["key"]], params.source, store=store)
    rise = np.array(grammar_errors(texts, params.source, store=store)) - np.array(before)
    share = share_interval(rise > 0, groups=samples["key"].to_numpy())
    counts = (len(rise), int((rise > 0).sum()), int((rise < 0).sum()))
    return frame([(params.domain, *counts, 100 * share.mean, 100 * share.low, 100 * share.high)], columns)


def grammar_skipped(params: DisambiguationParams) -> str | None:
    """Why grammar is not checked in this run, None where it is."""
    if params.grammar == "off":
        return 'Grammar was not checked: set grammar to "languagetool" (it needs LanguageTool and Java).'
    return grammar_problem()


def judgement_sample(params: DisambiguationParams, n: int = 100, store: Store | None = None) -> pd.DataFrame:
    """*n* sentences for human judges: half adversarial samples, half regular ones, of both challenge sets (§3.3).

    Of an adversarial sample the other sense is the adversarial one, of a regular sentence a drawn one. Fewer rows where
    there are not so many; every sentence once.

    Columns: sentence, homograph, correct and other (the first terms of the two senses), set ("adversarial", "regular"),
    sense, other_sense (names), key.
    """
    store = store or Store()
    lexicon, pairs = params.homographs, pool(params, store)
    samples = generated(params, store).iloc[attack_sets(params, store)[CHALLENGE]]
    regular = pairs.iloc[sets(params, store)[CHALLENGE]]
    rows: list[tuple[Any, ...]] = []
    for name, table, of in ((ADVERSARIAL, samples, n - n // 2), (REGULAR, regular, n // 2)):
        ids = table["sample" if name == ADVERSARIAL else "key"].tolist()
        seen: set[str] = set()
        for place in drawn(ids, params.seed, "judgement"):
            row = table.iloc[place]
            sentence = row["text" if name == ADVERSARIAL else "source"]
            if len(seen) == of or sentence in seen:
                continue
            seen.add(sentence)
            clusters = {cluster.name: cluster for cluster in lexicon.homographs[row["homograph"]].clusters}
            others = sorted(set(clusters) - {row["sense"]})
            drawn_one = others[address(params.seed, "other sense", row["key"]) % len(others)]
            other = row["adversarial"] if name == ADVERSARIAL else drawn_one
            terms = [", ".join(sorted(clusters[sense].translations)[:_TERMS]) for sense in (row["sense"], other)]
            rows.append((sentence, row["homograph"], *terms, name, row["sense"], other, row["key"]))
    return frame(rows, "sentence homograph correct other set sense other_sense key")
