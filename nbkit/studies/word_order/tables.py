"""The word-order study's tables over perturbations, languages and models; every mean with an interval.

The unit of every interval is the sentence pair: all perturbations, metrics and models of a pair are resampled together.
Means have the intervals of `nbkit.measure.statistics`, and flips those of shares. A mean over several perturbations,
languages or models is the mean of their means, each of at least `min_n` pairs: all count alike, however many sentences
they apply to. Flips are shares of all sentences instead, as the paper adds them up.

Everything is made from sums (`steps.Block`), so that memory does not grow with the grid. The blocks of a run are read
once for all tables that follow from them, which are cached for the next call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from nbkit.languages import in_order
from nbkit.measure.bleu import BleuAsCoded
from nbkit.measure.displacement import RANGE
from nbkit.measure.statistics import (
    DIFFERENCE,
    UNIT,
    mean_interval,
    mean_of_draws,
    paired_tests,
    ratio,
    share_of_draws,
    spearman_of_clusters,
)
from nbkit.models import label as model_label
from nbkit.perturb import CONTROL, PERTURBATIONS
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.engine import Held, Step
from nbkit.studies.paper import Paper
from nbkit.studies.results import item_id
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.steps import (
    STUDY,
    Block,
    Sums,
    Variant,
    behaviour_chunk,
    blocks,
    carried_chunk,
    category_of,
    chunk_of,
    chunk_starts,
    difficulty_chunk,
    difficulty_sums,
    extent,
    flip_criteria,
    model_key,
    n_pairs,
    perturbed_scores,
    read_chunk,
    score_sums,
    similarity_sums,
    translate,
    uses,
    with_category,
)

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

#: Parthasarathi et al. 2021, "Sometimes We Want Ungrammatical Translations". Figures are drawings without numbers.
PUBLISHED = Paper(Path(__file__).parent / "published", model_label)

_DIFFICULTY_KEYS = ["language", "metric", "perturbation", "score"]
_SIMILARITY_KEYS = ["side", "metric", "perturbation_a", "perturbation_b"]
_SCORE_KEYS = ["language", "model", "metric", "spacing", "perturbation", "score"]
#: What flips can be told apart by.
_FLIPS_BY = ("language", "model", "perturbation")


def counts(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """N, the pairs in which both sides can be perturbed (Table 1).

    Columns: language, perturbation, category, n, total (pairs read).
    """
    store = store or Store()
    alphas = _alphas(params, store)
    first = alphas[(alphas["metric"] == params.metrics[0]) & (alphas["score"] == "alpha_source")]
    n = first.set_index(["language", "perturbation"])["n"]
    rows = [
        (language, name, n.get((language, name), 0), n_pairs(params, language, store))
        for language in params.languages
        for name in params.perturbation_names
    ]
    return with_category(frame(rows, ["language", "perturbation", "n", "total"]))


def left_out(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """What was not used and why. Columns: language, reason, n, example."""
    frames = [extent(params, language, store=store).assign(language=language) for language in params.languages]
    return _concat(frames)[["language", "reason", "n", "example"]]


def quality(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β: mean κ of the unperturbed translations (Table 2). Columns: language, model, metric, beta, low, high, n."""
    # The control stands once for every pair, and so does β beside it, in every spacing.
    table = _control(_means(params, store))
    once = table["spacing"].eq(params.spacings[0]) & table["score"].eq("beta")
    return in_paper_order(
        table[once].rename(columns={"mean": "beta"})[["language", "model", "metric", "beta", "low", "high", "n"]]
    )


@STUDY.step(
    per=("language", "model"),
    key=lambda params, language, model: model_key(params, language, model, as_coded=BleuAsCoded().identity(language)),
    uses=uses,
)
def coded_quality(params: WordOrderParams, language: str, model: str, store: Store) -> pd.DataFrame:
    """One row of `quality_as_coded`: beta, low, high, n."""
    kappa, scores = BleuAsCoded(), []
    for start in chunk_starts(n_pairs(params, language, store)):
        pairs = [
            pair
            for pair in read_chunk(params, language, start, store).pairs
            if min(len(pair.source), len(pair.target)) >= params.min_tokens
        ]
        hypotheses = translate(params, model, [pair.source.text for pair in pairs], language, store)
        scores += kappa.scores(hypotheses, [pair.target.text for pair in pairs], language).tolist()
    return frame([mean_interval(np.array(scores), within=UNIT)], ["beta", "low", "high", "n"])


def quality_as_coded(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β by `BleuAsCoded`, on the pairs of `quality`: what the paper's Table 2 prints (Table 2).

    Columns: language, model, metric ("bleu", the metric whose printed values it belongs to), beta, low, high, n.
    """
    rows = []
    for language, model in product(params.languages, params.models):
        beta = coded_quality(params, language, model, store=store).iloc[0]
        rows.append((language, model_label(model), "bleu", *beta[["beta", "low", "high"]], int(beta["n"])))
    return in_paper_order(frame(rows, ["language", "model", "metric", "beta", "low", "high", "n"]))


def by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β, β1, β2, chance and β1 − β2 of every perturbation (Figures 2, 8–11, 13).

    Columns: language, model, perturbation, category, metric, spacing, n and, for each of beta, beta1,
    beta2, chance, difference: the mean, ``…_low`` and ``…_high``. All on the same N, but chance: on the chance_n
    of them whose reference has more than one outcome (NaN without any).
    """
    return _beside_each_other(_means(params, store), "model")


def by_perturbation_of_models(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """The scores of `by_perturbation` averaged over the models of the run, which weigh alike (Figures 8 to 11).

    Columns as `by_perturbation`, without model; n are perturbed sentences of all models together.
    """
    return _beside_each_other(_once(params, score_sums, _of_models, store))


def _beside_each_other(means: pd.DataFrame, *model: str) -> pd.DataFrame:
    scores = {name: name for name in ("beta", "beta1", "beta2", "chance", "difference")}
    by = ["language", *model, "perturbation", "metric", "spacing"]
    table = with_category(_side_by_side(means, by, scores))
    several = means.loc[means["score"] == "chance", [*by, "n"]].rename(columns={"n": "chance_n"})
    table = table.merge(several, on=by, how="left", validate="one_to_one")
    return in_paper_order(_led_by(table, ["language", *model, "perturbation", "category", "metric", "spacing"]))


def preference(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over perturbations of at least min_n pairs (Figure 1): above 0 robust, below 0 faithful.

    Columns: language, model, metric, difference, low, high, n (perturbed pairs).
    """
    return in_paper_order(_once(params, score_sums, _of_scores, store)[1])


def preference_by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over the languages in which a perturbation has min_n pairs, and over models (Figure 2).

    Columns: perturbation, category, metric, difference, low, high, n.
    """
    table = with_category(_once(params, score_sums, _of_scores, store)[2])
    return in_paper_order(_led_by(table, ["perturbation", "category", "metric"]))


def carried(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Carried displacement of every perturbation in the run's first spacing: 1 faithful, 0 repaired.

    Columns: language, model, perturbation, category, carried (mean), low, high, n, undecided (sentences that moved too
    little, or whose output was reworded), chance: of the same sentences with their words in random order.
    """
    store = store or Store()
    rows = []
    for language, model in product(params.languages, params.models):
        starts = chunk_starts(n_pairs(params, language, store))
        table = _concat([carried_chunk(params, language, model, start, store=store) for start in starts])
        table = table[table["spacing"] == params.spacings[0]] if len(table) else table
        for name, own in table.groupby("perturbation", sort=False) if len(table) else ():
            known = own[own["carried"].notna()]
            mean, low, high, _ = mean_interval(
                known["carried"].to_numpy(), groups=known["pair"].to_numpy(), within=RANGE
            )
            of = (language, model_label(model), name)
            rows.append((*of, mean, low, high, len(known), len(own) - len(known), known["chance"].mean()))
    keys = ["language", "model", "perturbation"]
    table = with_category(frame(rows, [*keys, "carried", "low", "high", "n", "undecided", "chance"]))
    return in_paper_order(_led_by(table, [*keys, "category"]))


def below_min_n(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """The perturbations that stay out of means over perturbations. Columns: language, perturbation, n (below min_n)."""
    table = counts(params, store)
    small = table["n"].gt(0) & table["n"].lt(params.min_n)
    return table.loc[small, ["language", "perturbation", "n"]].reset_index(drop=True)


def difficulty(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """α: κ of a text and itself perturbed (Figure 12); high is easy.

    Columns: language, side, perturbation, category, metric, alpha, low, high, n.
    """
    table = with_category(_alphas(params, store).rename(columns={"mean": "alpha"}))
    table = table.assign(side=table["score"].str.removeprefix("alpha_"))
    columns = ["language", "side", "perturbation", "category", "metric", "alpha", "low", "high", "n"]
    return _concat([in_paper_order(table.loc[table["side"] == side, columns]) for side in ("source", "target")])


def similarity(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean κ between two perturbations of the same text (Figure 14).

    Columns: language, side, metric, perturbation_a, perturbation_b, kappa, low, high, n; symmetric, 1 on the diagonal.
    """
    return _symmetric(_once(params, similarity_sums, _of_similarities, store)[0], counts(params, store))


def similarity_of_languages(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean κ between two perturbations of the same text, the texts of all languages together (Figure 5).

    Columns: side, metric, perturbation_a, perturbation_b, kappa, low, high, n; symmetric, 1 on the diagonal.
    """
    n = counts(params, store).groupby("perturbation", sort=False)["n"].sum().reset_index()
    return _symmetric(_once(params, similarity_sums, _of_similarities, store)[1], n)


def flips(
    params: WordOrderParams, store: Store | None = None, *, by: Sequence[str] = ("language", "model", "perturbation")
) -> pd.DataFrame:
    """How often the perturbed source is translated better (Tables 3 and 6), by both of `steps.flip_criteria`.

    by: of "language", "model" and "perturbation" those to distinguish; the sentences of the others are added up.
    Columns: those of *by*, metric, flips (β1 > β), n, share, low, high (of the share); inferred, inferred_share,
    inferred_low, inferred_high: the same by the inferred criterion, β ≤ ½ < β1.
    """
    keys = [*by, "metric"]
    table = _once(params, score_sums, _of_flips, store)[frozenset(by)]
    table = table.assign(flips=table["total"].round().astype(int)).rename(columns={"mean": "share"})
    columns = ["flips", "n", "share", "low", "high"]
    worded, inferred = (table.loc[table["score"] == score, [*keys, *columns]] for score in ("flip", "flip_inferred"))
    names = {"flips": "inferred", **{name: f"inferred_{name}" for name in ("share", "low", "high")}}
    inferred = inferred.drop(columns="n").rename(columns=names)
    return in_paper_order(worded.merge(inferred, on=keys, validate="one_to_one"))


def spacing_effect(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """κ of the control, the source merely re-joined from its tokens, beside β: what token spacing alone costs.

    Columns: language, model, metric, spacing, beta, beta_low, beta_high, control, control_low,
    control_high, n.
    """
    by = ["language", "model", "metric", "spacing"]
    table = _side_by_side(_control(_means(params, store)), by, {"beta": "beta", "beta1": "control"})
    return in_paper_order(_led_by(table, by))


def in_paper_order(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with languages, models, then perturbations in the paper's order; all else stays as it was."""
    orders: dict[Any, Callable[[pd.Series], Iterable[Any]]] = {
        "language": in_order,
        "model": dict.fromkeys,
        "perturbation": lambda _: [CONTROL, *PERTURBATIONS.names()],
    }

    def rank(column: pd.Series) -> pd.Series:
        return column.map({name: i for i, name in enumerate(orders[column.name](column))})

    return table.sort_values([name for name in orders if name in table], key=rank, kind="stable", ignore_index=True)


# ----------------------------------------------------------------------------
# From blocks to tables.

#: What follows from the blocks of a run, kept while a page is made of it.
_held_tables = Held(size=16)


def _once(params: WordOrderParams, step: Step, make: Callable[..., T], store: Store | None) -> T:
    """What *make* makes of the blocks of a step of sums; each block is read once."""
    store = store or Store()
    configs = [step.config(params, **at) for at in STUDY.points(params, step.per)]
    key = [make.__name__, store.url, params.min_n, configs]
    return _held_tables(key, lambda: make(params, blocks(step, params, store)))


def _alphas(params: WordOrderParams, store: Store | None) -> pd.DataFrame:
    return _once(params, difficulty_sums, _of_difficulties, store)


def _means(params: WordOrderParams, store: Store | None) -> pd.DataFrame:
    """Of every quantity of `score_sums`, each language and model for itself."""
    return _once(params, score_sums, _of_scores, store)[0]


def _of_difficulties(params: WordOrderParams, found: Iterable[Block]) -> pd.DataFrame:
    each = _Pool(params, _DIFFICULTY_KEYS)
    return _concat([each.table(), *(each.alone(block) for block in found)])


def _of_similarities(params: WordOrderParams, found: Iterable[Block]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Of each language, and of all of them together."""
    each, together = _Pool(params, ["language", *_SIMILARITY_KEYS]), _Pool(params, _SIMILARITY_KEYS)
    tables = [each.table()]
    for block in found:
        tables.append(each.alone(block))
        together.add(block)
    return _concat(tables), together.table()


def _of_scores(params: WordOrderParams, found: Iterable[Block]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Means of every quantity, and of β1 − β2 by language and model, and by perturbation."""
    each = _Pool(params, _SCORE_KEYS)
    by_model, by_name = (_MeanOfMeans(params, keys) for keys in (["language", "model", "metric"],
                                                                 ["perturbation", "metric"]))  # fmt: skip
    tables = [each.table()]
    for block in found:
        tables.append(each.alone(block))
        main = _main(params, block, "difference")
        by_model.add(main)
        by_name.add(main)
    return _concat(tables), by_model.table(), by_name.table()


def _of_models(params: WordOrderParams, found: Iterable[Block]) -> pd.DataFrame:
    """Means over all models together; every model has the same sentences. One language in memory."""
    keys, tables = [key for key in _SCORE_KEYS if key != "model"], []
    for _, own in groupby(found, key=lambda block: block.quantities["language"].iloc[0]):
        pool = _Pool(params, keys)
        for block in own:
            pool.add(block)
        tables.append(pool.table())
    return _concat(tables or [_Pool(params, keys).table()])


def _of_flips(params: WordOrderParams, found: Iterable[Block]) -> dict[frozenset[str], pd.DataFrame]:
    """Flips told apart by every choice of language, model and perturbation."""
    several = [by for n in range(len(_FLIPS_BY) + 1) for by in combinations(_FLIPS_BY, n)]
    pools = {frozenset(by): _Pool(params, [*by, "metric", "score"]) for by in several}
    tables: dict[frozenset[str], list[pd.DataFrame]] = {by: [] for by in pools}
    for block in found:
        main = _main(params, block, "flip", "flip_inferred")
        for by, pool in pools.items():
            if {"language", "model"} <= by:  # all of it is in this block
                tables[by].append(pool.alone(main))
            else:
                pool.add(main)
    return {by: _concat([*tables[by], pool.table()]) for by, pool in pools.items()}


def _main(params: WordOrderParams, block: Block, *scores: str) -> Block:
    """What the main figures show of *scores*: of perturbed sentences, in the first spacing of the run."""
    known = block.quantities
    perturbed = known["perturbation"].ne(CONTROL) & known["spacing"].eq(params.spacings[0])
    return block.where(perturbed & known["score"].isin(scores))


def _control(means: pd.DataFrame) -> pd.DataFrame:
    return means[means["perturbation"] == CONTROL]


class _Pool:
    """Mean, interval and n of all values that agree in *keys*, a block after the other.

    A quantity has one value per pair, so that there are as many pairs as its N, and of several quantities at least as
    many as the largest N. Values of the scores "flip" and "flip_inferred" are 0 or 1: their means are shares.
    """

    def __init__(self, params: WordOrderParams, keys: list[str]):
        self._params, self._keys = params, keys
        self._sums: dict[tuple[str, ...], np.ndarray] = {}
        self._pairs: dict[tuple[str, ...], int] = {}

    def add(self, block: Block) -> None:
        """Add the values of *block*."""
        for key, part in block.parts(self._keys, block.sums):
            self._sums[key] = self._sums.get(key, 0.0) + part
            self._pairs[key] = max(int(part[1, 0]), self._pairs.get(key, 0))

    def alone(self, block: Block) -> pd.DataFrame:
        """The table of *block* by itself."""
        pool = _Pool(self._params, self._keys)
        pool.add(block)
        return pool.table()

    def table(self) -> pd.DataFrame:
        """Columns: the keys, mean, low, high, total, n."""
        rows, within = [], {score: ranges(self._params, score) for score in ("difference", "")}
        for key, sums in self._sums.items():
            of, (total, n), units = dict(zip(self._keys, key, strict=True)), sums[:, 0], self._pairs[key]
            mean, draws = total / n, ratio(*sums[:, 1:])
            if of.get("score") in ("flip", "flip_inferred"):
                interval = share_of_draws(mean, draws, units=units, values=n)
            else:
                bounds = within["difference" if of.get("score") == "difference" else ""][of["metric"]]
                interval = mean_of_draws(mean, draws, units=units, within=bounds)
            rows.append((*key, mean, *interval, total, int(n)))
        return frame(rows, [*self._keys, "mean", "low", "high", "total", "n"])


class _MeanOfMeans:
    """Mean β1 − β2 of the cells (language, model, perturbation) that agree in *keys*, a block after the other.

    Cells of fewer pairs than the run's min_n are skipped.
    """

    def __init__(self, params: WordOrderParams, keys: list[str]):
        self._params, self._keys = params, keys
        self._sums: dict[tuple[str, ...], np.ndarray] = {}  # of means and of their draws, the numbers of cells, n, 1/n

    def add(self, block: Block) -> None:
        """Add the cells of *block*, whose quantities are differences."""
        block = block.where(block.sums[1, :, 0] >= self._params.min_n)
        means, n = ratio(*block.sums), np.broadcast_to(block.sums[1, :, :1], block.sums.shape[1:])
        parts = np.stack([np.nan_to_num(means), ~np.isnan(means), n, 1 / n])
        for key, part in block.parts(self._keys, parts):
            self._sums[key] = self._sums.get(key, 0.0) + part

    def table(self) -> pd.DataFrame:
        """Columns: the keys, difference, low, high, n."""
        rows, within = [], ranges(self._params, "difference")
        for key, (total, cells, n, inverse) in self._sums.items():
            means = ratio(total, cells)
            # What a mean of means of unequal N is as sure as: the harmonic mean of the N.
            bounds = within[key[self._keys.index("metric")]]
            interval = mean_of_draws(means[0], means[1:], units=cells[0] / inverse[0], within=bounds)
            rows.append((*key, means[0], *interval, int(n[0])))
        return frame(rows, [*self._keys, "difference", "low", "high", "n"])


def ranges(params: WordOrderParams, score: str = "") -> dict[str, tuple[float, float] | None]:
    """What values a score by each metric of the run can have, None where the metric has no bounds."""
    bounds = DIFFERENCE if score == "difference" else UNIT
    return {kappa.name: bounds if kappa.bounded else None for kappa in params.kappas()}


def _side_by_side(table: pd.DataFrame, by: list[str], scores: dict[str, str]) -> pd.DataFrame:
    """One row per combination of *by*: mean and interval of each of *scores* (score → name in the result), and n."""
    first = next(iter(scores))
    wide = table.loc[table["score"] == first, [*by, "n"]]
    for score, name in scores.items():
        names = {"mean": name, "low": f"{name}_low", "high": f"{name}_high"}
        part = table.loc[table["score"] == score, [*by, *names]].rename(columns=names)
        wide = wide.merge(part, on=by, how="left", validate="one_to_one")
    return wide


def _symmetric(sums: pd.DataFrame, n: pd.DataFrame) -> pd.DataFrame:
    """κ of each unordered pair of perturbations in both orders, and of each with itself, n times."""
    keys = [name for name in ("language", "side", "metric") if name in sums]
    columns = [*keys, "perturbation_a", "perturbation_b", "kappa", "low", "high", "n"]
    sums = sums.rename(columns={"mean": "kappa"})
    mirrored = sums.rename(columns={"perturbation_a": "perturbation_b", "perturbation_b": "perturbation_a"})
    same = n[n["n"] > 0].rename(columns={"perturbation": "perturbation_a"})
    # By definition, not of a sample: without an interval.
    same = same.assign(perturbation_b=same["perturbation_a"], kappa=1.0, low=np.nan, high=np.nan)
    shown = sums[keys].drop_duplicates()
    same = same.merge(shown, on="language") if "language" in keys else same.merge(shown, how="cross")
    return _concat([sums[columns], mirrored[columns], same[columns]])


def _led_by(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """*table* with *columns* first and n last."""
    return table[[*columns, *(name for name in table if name not in columns and name != "n"), "n"]]


def frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    full = [table for table in frames if len(table)]
    return pd.concat(full or frames[:1], ignore_index=True)


# ----------------------------------------------------------------------------
# How robustness and faithfulness go with quality, with length and between models (§6.2, §7).

#: Sentences per length group are about equal in number; this many groups where the lengths allow.
LENGTH_GROUPS = 6
#: Equal parts of the range of α, 0 to 1.
ALPHA_GROUPS = 5

_CORRELATION_COLUMNS = ["language", "model", "metric", "score", "rho", "low", "high", "p", "n"]


def correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ(β1, β) and ρ(β2, β) over perturbed sentences (Figure 7), with a cluster bootstrap's interval.

    The perturbed forms of one sentence pair are drawn together (`spearman_of_clusters`).
    Columns: language, model, metric, score ("beta1" or "beta2"), rho, low, high, p, n (perturbed sentences).
    """
    return _correlations(params, "beta", store)


def length_correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ of β1 and β2 with the source's length in tokens (Figure 6). Columns as `correlations`."""
    return _correlations(params, "length", store)


def robust_and_faithful(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ(β1, β2) over perturbed sentences (Figure 6a). Columns as `correlations`."""
    return _correlations(params, "beta2", store)


def length_effect(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean β1, β2 and, on the same rows, β by source length, in groups of about equally many sentences (Figure 6).

    Columns: language, model, metric, length_bin, length_low, length_high (tokens, inclusive),
    score, mean, low, high, n.
    """
    rows, within = [], ranges(params)
    for key, group in _by_metric(params, store):
        for index, (shortest, longest) in enumerate(length_groups(group["length"])):
            inside = group[group["length"].between(shortest, longest)]
            for score in ("beta1", "beta2", "beta"):
                mean = mean_interval(inside[score].to_numpy(), groups=inside["pair"].to_numpy(), within=within[key[2]])
                rows.append((*key, index, shortest, longest, score, mean.mean, mean.low, mean.high, mean.n))
    columns = ["language", "model", "metric", "length_bin", "length_low", "length_high",
               "score", "mean", "low", "high", "n"]  # fmt: skip
    return frame(rows, columns)


def difficulty_by_length(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """α of the source by normalised length (Figure 15): length / (longest + 1), in [0, 1).

    Columns: language, metric, length_bin, normalised_length (the group's mean), alpha, low, high, n.
    """
    store, rows, within = store or Store(), [], ranges(params)
    for language in params.languages:
        table = _stacked(
            (
                difficulty_chunk(params, language, start, store=store)
                for start in chunk_starts(n_pairs(params, language, store))
            ),
            ["pair", "perturbation", "metric", "length", "alpha_source"],
        )
        for metric, group in table[table["perturbation"] != CONTROL].groupby("metric", sort=False):
            longest_of_all = int(group["length"].max()) + 1
            for index, (shortest, longest) in enumerate(length_groups(group["length"])):
                inside = group[group["length"].between(shortest, longest)]
                pairs = inside["pair"].to_numpy()
                mean = mean_interval(inside["alpha_source"].to_numpy(), groups=pairs, within=within[str(metric)])
                normalised = float(inside["length"].mean()) / longest_of_all
                rows.append((language, metric, index, normalised, mean.mean, mean.low, mean.high, mean.n))
    return frame(rows, ["language", "metric", "length_bin", "normalised_length", "alpha", "low", "high", "n"])


def scores_by_difficulty(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean β1, β2 and, on the same rows, β by α of the source, in fifths of its range (Figure 15, §6.2).

    α is by Levenshtein similarity, as in the paper, or by the first metric of a run without it.
    Columns: language, model, metric, difficulty (the metric of α), alpha_low, alpha_high, score, mean, low, high, n.
    """
    store, rows, within = store or Store(), [], ranges(params)
    of = "levenshtein" if "levenshtein" in params.metrics else params.metrics[0]
    keys, edges = ["pair", "perturbation"], np.linspace(0, 1, ALPHA_GROUPS + 1)
    for language in params.languages:
        starts = chunk_starts(n_pairs(params, language, store))
        chunks = (difficulty_chunk(params, language, start, store=store) for start in starts)
        alphas = _stacked((each[each["metric"] == of] for each in chunks), [*keys, "alpha_source"])
        alpha = alphas.astype({"perturbation": str}).set_index(keys)["alpha_source"]
        for key, group in _by_metric(params.narrowed(language), store, "perturbation"):
            joined = group.astype({"perturbation": str}).join(alpha, on=keys)
            part = np.clip(np.searchsorted(edges, joined["alpha_source"], side="right") - 1, 0, ALPHA_GROUPS - 1)
            for index, inside in joined.groupby(part):
                for score in ("beta1", "beta2", "beta"):
                    pairs = inside["pair"].to_numpy()
                    mean = mean_interval(inside[score].to_numpy(), groups=pairs, within=within[key[2]])
                    at = (edges[int(str(index))], edges[int(str(index)) + 1])
                    rows.append((*key, of, *at, score, mean.mean, mean.low, mean.high, mean.n))
    columns = ["language", "model", "metric", "difficulty", "alpha_low", "alpha_high",
               "score", "mean", "low", "high", "n"]  # fmt: skip
    return frame(rows, columns)


def model_tests(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Paired tests between models over the same perturbed pairs, corrected for their number.

    Wilcoxon's signed-rank test on the differences in β1 and in β2 of two models (a minus b), one test a
    language, perturbation, metric and pair of models; p corrected after Holm within each language, metric and
    score; effect is the matched-pairs rank-biserial correlation. p is exact for at most 50 pairs without ties or zeros,
    else that of the normal approximation with a continuity correction, pingouin's default.

    Columns: language, perturbation, metric, score, model_a, model_b, mean_a, mean_b, difference, p,
    p_corrected, effect, n.
    """
    import pandas as pd

    store, frames = store or Store(), []
    for language in params.languages if len(params.models) > 1 else []:
        chunks = (chunk for model in params.models for chunk in perturbed_scores(params, language, model, store))
        table = _stacked(chunks, ["model", "pair", "perturbation", "metric", "beta1", "beta2"])
        for metric, group in table.groupby("metric", sort=False, observed=True):
            for score in ("beta1", "beta2"):
                tests = paired_tests(group, value=score, by=("perturbation",))
                frames.append(tests.assign(language=language, metric=metric, score=score))
    columns = ["language", "perturbation", "metric", "score", "model_a", "model_b", "mean_a", "mean_b",
               "difference", "p", "p_corrected", "effect", "n"]  # fmt: skip
    if not frames:
        return frame([], columns)
    names = {"a": "model_a", "b": "model_b", "p_holm": "p_corrected", "rank_biserial": "effect"}
    return pd.concat(frames, ignore_index=True).rename(columns=names)[columns]


def length_groups(lengths: Iterable[int], groups: int = LENGTH_GROUPS) -> list[tuple[int, int]]:
    """Ranges of length, both ends inclusive, that hold about equally many of *lengths*; a length is never split.

    >>> length_groups([4, 4, 5, 6, 7, 9], groups=3)
    [(4, 4), (5, 6), (7, 9)]
    """
    values = np.sort(np.fromiter(lengths, dtype=int))
    if not len(values):
        return []
    edges = np.unique(np.quantile(values, np.linspace(0, 1, groups + 1)[1:], method="lower"))
    starts = [int(values[0]), *(int(values[values > edge][0]) for edge in edges[:-1])]
    return list(zip(starts, (int(edge) for edge in edges), strict=True))


@STUDY.step(per=("language", "model", "of"), key=model_key, uses=uses)
def correlated(params: WordOrderParams, language: str, model: str, of: str, store: Store) -> pd.DataFrame:
    """Rows of `correlations` with the column *of*; the bootstrap of ranks takes seconds for each."""
    rows = []
    for labels, group in _by_metric(params.narrowed(language, model), store):
        for score in ("beta1", "beta2") if of != "beta2" else ("beta1",):
            values = (group[name].to_numpy() for name in (score, of, "pair"))
            result = spearman_of_clusters(*values, seed=params.seed)
            rows.append((*labels, score, result.rho, result.low, result.high, result.p, result.n))
    return frame(rows, _CORRELATION_COLUMNS)


def _correlations(params: WordOrderParams, of: str, store: Store | None) -> pd.DataFrame:
    frames = [frame([], _CORRELATION_COLUMNS)]
    for language, model in product(params.languages, params.models):
        # What is kept may be of another run, in which the same model goes by another name.
        frames.append(correlated(params, language, model, of, store=store).assign(model=model_label(model)))
    return _concat(frames)


def _by_metric(
    params: WordOrderParams, store: Store | None, *more: str
) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Language, model and metric, and the scores of its perturbed sentences; one language and model in memory.

    more: further columns.
    """
    store = store or Store()
    for language, model in product(params.languages, params.models):
        chunks = perturbed_scores(params, language, model, store)
        table = _stacked(chunks, ["pair", "metric", "length", "beta", "beta1", "beta2", *more])
        for metric, group in table.groupby("metric", sort=False, observed=True):
            yield (language, model_label(model), str(metric)), group


def _stacked(chunks: Iterable[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """The *columns* of all *chunks*."""
    import pandas as pd

    return pd.concat([chunk[columns] for chunk in chunks], ignore_index=True)


# ----------------------------------------------------------------------------
# Sentences to read: what the perturbations do (Figure 3) and where they help (Tables 4 and 5).

_COLUMNS = ["language", "model", "pair", "perturbation", "source", "perturbed_source", "moved", "reference",
            "perturbed_reference", "hypothesis", "perturbed_hypothesis", "beta", "beta1", "beta2"]  # fmt: skip


def examples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """The first *k* pairs to which most perturbations apply, under each of them (Figure 3).

    Columns: language, pair, perturbation, category, side ("source" or "target"), text, perturbed, moved (where in
    the perturbed text the words stand that moved: `moved_spans`).
    """
    store, rows = store or Store(), []
    for language in params.languages:
        by_pair: dict[int, list[Variant]] = {}
        for variant in read_chunk(params, language, 0, store).variants():
            by_pair.setdefault(variant.index, []).append(variant)
        chosen = sorted(by_pair, key=lambda pair: (-len(by_pair[pair]), pair))[:k]
        for each in (variant for pair in chosen for variant in by_pair[pair] if variant.perturbation != CONTROL):
            of = (language, each.index, each.perturbation)
            rows.append((*of, "source", each.pair.source.text, each.source, each.moved("source")))
            rows.append((*of, "target", each.pair.target.text, each.reference, each.moved("reference")))
    columns = ["language", "pair", "perturbation", "side", "text", "perturbed", "moved"]
    return with_category(frame(rows, columns))


def flip_samples(params: WordOrderParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* translations a language and model that got better when the source was perturbed (Tables 4 and 5).

    Drawn with addressed randomness among the flips (β1 > β in the run's κ), no sentence twice.
    Columns: language, model, pair, perturbation, source, perturbed_source, moved (in the perturbed source, as in
    `examples`), reference, perturbed_reference, hypothesis, perturbed_hypothesis, beta, beta1, beta2.
    """
    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen = None
        for table in _of_kappa(params, language, model, store):
            chosen = _first(params, "flips", [chosen, table[table["beta1"] > table["beta"]]], k)
        frames.append(_with_texts(params, chosen, language, model, store))
    return _concat([frame([], _COLUMNS), *frames])


def samples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* drawn sentences of every language, model and perturbation, translated.

    Columns as `flip_samples`.
    """
    import pandas as pd

    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen: dict[str, pd.DataFrame] = {}
        for table in _of_kappa(params, language, model, store):
            for name, group in table.groupby("perturbation", sort=False, observed=True):
                chosen[str(name)] = _first(params, "samples", [chosen.get(str(name)), group], k)
        rows = pd.concat(chosen.values()) if chosen else None
        frames.append(_with_texts(params, rows, language, model, store))
    return in_paper_order(_concat([frame([], _COLUMNS), *frames]))


def _of_kappa(params: WordOrderParams, language: str, model: str, store: Store) -> Iterator[pd.DataFrame]:
    for table in perturbed_scores(params, language, model, store):
        yield table[table["metric"] == params.kappa]


def _first(params: WordOrderParams, purpose: str, tables: list[pd.DataFrame | None], k: int) -> pd.DataFrame:
    """The *k* rows of *tables* whose addresses come first, no pair twice: the same whatever the chunks."""
    import pandas as pd

    rows = pd.concat([table for table in tables if table is not None])
    rank = [
        address(params.seed, purpose, str(language), str(model), int(pair), str(name))
        for language, model, pair, name in rows[["language", "model", "pair", "perturbation"]].itertuples(index=False)
    ]
    return rows.assign(rank=rank).sort_values("rank").drop_duplicates("pair").head(k).drop(columns="rank")


def _with_texts(
    params: WordOrderParams, rows: pd.DataFrame | None, language: str, model: str, store: Store
) -> pd.DataFrame:
    """*rows* with their texts; the translations come from the store."""
    if rows is None or rows.empty:
        return frame([], _COLUMNS)
    known = {
        (variant.index, variant.perturbation): variant
        for start in sorted({chunk_of(int(pair)) for pair in rows["pair"]})
        for variant in read_chunk(params, language, start, store).variants(params.spacings[0])
    }
    found = [known[key] for key in zip(rows["pair"], rows["perturbation"], strict=True)]
    sources, perturbed = [each.pair.source.text for each in found], [each.source for each in found]
    moves: list[Any] = [each.moved("source") for each in found]
    return rows.assign(
        source=sources,
        perturbed_source=perturbed,
        moved=moves,
        reference=[each.pair.target.text for each in found],
        perturbed_reference=[each.reference for each in found],
        hypothesis=translate(params, model, sources, language, store),
        perturbed_hypothesis=translate(params, model, perturbed, language, store),
    )[_COLUMNS]


# ----------------------------------------------------------------------------
# Scores in the shape that all studies share.


#: The measure of outcomes that is nbkit's own.
CARRIED = "carried displacement"


@STUDY.outcomes(headline="nbkit.studies.word_order.tables:preference")
def outcomes(params: WordOrderParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """β, β₁ and β₂ of every pair, under every perturbation and the control, in every spacing, by every metric.

    A flip is a *fail* of β₁: a model that translates the scrambled sentence better (β₁ > β) was thrown by the order
    of the plain one, or is right by luck; the reason says which of both `steps.flip_criteria` it meets. All else of a
    perturbed sentence is a *pass*; β, β₂ and the control are numbers without a verdict. Pairs are the clusters: the
    perturbed forms of one are resampled together. The headline is `preference`, Figure 1 of the paper. Carried
    displacement, nbkit's own, is a number; undecided where it is not defined.
    """
    for language in params.languages:
        for start in chunk_starts(n_pairs(params, language, store)):
            chunk = read_chunk(params, language, start, store)
            for spacing in params.spacings:
                rows = chunk.variants(spacing)
                items = _items(params, language, rows)
                for model in params.models:
                    table = behaviour_chunk(params, language, model, start, store=store)
                    table = table[table["spacing"] == spacing]
                    shown = _shown(params, language, model, rows, store) if texts else {}
                    for metric, own in table.groupby("metric", sort=False):
                        for score in ("beta", "beta1", "beta2"):
                            yield items.assign(
                                system=model_label(model), measure=f"{metric}/{score}", value=own[score].to_numpy(),
                                **(_verdicts(own) if score == "beta1" else {}), **shown.get(score, {}),
                            )  # fmt: skip
                    yield _carried_outcomes(params, language, model, start, spacing, items, store).assign(
                        **shown.get("perturbed", {})
                    )


def _carried_outcomes(
    params: WordOrderParams, language: str, model: str, start: int, spacing: str, items: pd.DataFrame, store: Store
) -> pd.DataFrame:
    """The carried displacement of the perturbed ones among *items*."""
    table = carried_chunk(params, language, model, start, store=store)
    value = table.loc[table["spacing"] == spacing, "carried"].to_numpy()
    undecided = np.isnan(value)
    verdicts = np.full(len(value), None, dtype=object)
    verdicts[undecided] = "undecided"
    return items[[groups["perturbation"] != CONTROL for groups in items["groups"]]].assign(
        system=model_label(model), measure=CARRIED, value=value, verdict=verdicts,
        reason=np.where(undecided, "moved too little, or reworded", ""),
    )  # fmt: skip


def _items(params: WordOrderParams, language: str, rows: Sequence[Variant]) -> pd.DataFrame:
    """What the outcomes of *rows* have in common, whatever the model: ids, clusters and groups."""
    import pandas as pd

    found = []
    for each in rows:
        treatment = {"perturbation": each.perturbation, "spacing": each.spacing}
        given = [params.source, language, each.pair.source.text, each.pair.target.text]
        is_random = each.perturbation != CONTROL and PERTURBATIONS.get(each.perturbation).random
        item = item_id([*given, each.source, each.reference], treatment, [params.seed, 0] if is_random else [])
        more = {"category": category_of(each.perturbation), "length": str(len(each.pair.source))}
        found.append((item, item_id(given, {}), treatment | more))
    table = pd.DataFrame(found, columns=["item", "cluster", "groups"])
    return table.assign(source_language=params.source, target_language=language)


def _verdicts(table: pd.DataFrame) -> dict[str, np.ndarray]:
    flips = flip_criteria(table)
    reasons = np.select([flips["flip_inferred"], flips["flip"]], ["flip, β ≤ ½ < β₁", "flip, β₁ > β"], "")
    verdicts = np.where(flips["flip"], "fail", "pass").astype(object)
    verdicts[table["perturbation"] == CONTROL] = None
    return {"verdict": verdicts, "reason": np.where(verdicts == "fail", reasons, "")}


def _shown(
    params: WordOrderParams, language: str, model: str, rows: Sequence[Variant], store: Store
) -> dict[str, dict[str, list[Any]]]:
    """The texts of *rows* by score: what was translated and with what it was compared, words that moved marked."""

    def marks(text: str, side: Literal["source", "reference"]) -> list[list[dict[str, Any]]]:
        return [[{"text": text, "start": start, "end": end, "label": "moved"} for start, end in row.moved(side)]
                for row in rows]  # fmt: skip

    sources, changed = [row.pair.source.text for row in rows], [row.source for row in rows]
    plain: dict[str, Any] = {
        "source": sources,
        "reference": [row.pair.target.text for row in rows],
        "output": translate(params, model, sources, language, store),
        "spans": [[] for _ in rows],
    }
    beta1 = plain | {"changed": changed, "output": translate(params, model, changed, language, store)}
    beta1["spans"] = marks("changed", "source")
    both = [a + b for a, b in zip(beta1["spans"], marks("reference", "reference"), strict=True)]
    perturbed = {name: [cell for cell, row in zip(cells, rows, strict=True) if row.perturbation != CONTROL]
                 for name, cells in beta1.items()}  # fmt: skip
    beta2 = beta1 | {"reference": [v.reference for v in rows], "spans": both}
    return {"beta": plain, "beta1": beta1, "beta2": beta2, "perturbed": perturbed}


@outcomes.table
def preference_of_outcomes(found: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """`preference`, from outcomes alone.

    Resamples draw pairs by their number, which outcomes do not hold: they are numbered as they come, so that intervals
    are those of `preference` where no pair is too short and none stands twice, and else of other draws.
    """
    found = found[found["measure"] != CARRIED]
    found = found.assign(
        **{name: [groups[name] for groups in found["groups"]] for name in ("perturbation", "spacing")},
        pair=found.groupby("target_language")["cluster"].transform(lambda clusters: clusters.factorize()[0]),
    )
    found[["metric", "score"]] = found["measure"].str.split("/", expand=True).to_numpy()
    main = found["perturbation"].ne(CONTROL) & found["spacing"].eq(params.spacings[0]) & found["score"].ne("beta")
    keys = ["target_language", "system", "pair", "perturbation", "metric", "item"]
    found = found[main].assign(again=found[main].groupby([*keys, "score"]).cumcount())  # items that stand twice
    wide = found.set_index([*keys, "again", "score"])["value"].unstack("score").reset_index()
    wide = wide.assign(difference=wide["beta1"] - wide["beta2"])
    pool = _MeanOfMeans(params, ["language", "model", "metric"])
    for language, model in product(params.languages, map(model_label, params.models)):
        names = params.perturbation_names
        sums = Sums(params.seed, metric=params.metrics, perturbation=names, score=["difference"])
        sums.add(wide[(wide["target_language"] == language) & (wide["system"] == model)], ["difference"])
        pool.add(Block.of(sums.table(), language=language, model=model))
    return in_paper_order(pool.table())
