"""The word-order study's tables over perturbations, languages and models; every mean with an interval.

The unit of every interval is the sentence pair: all perturbations, metrics and models of a pair are resampled together.
Means have the intervals of `nbkit.measure.intervals`, and flips those of shares. A mean over several perturbations,
languages or models is the mean of their means, each of at least `min_n` pairs: all count alike, however many sentences
they apply to. Flips are shares of all sentences instead, as the paper adds them up.

Everything is made from sums (`blocks`), so that memory does not grow with the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.languages import in_order
from nbkit.measure.bleu import BleuAsCoded
from nbkit.measure.intervals import DIFFERENCE, UNIT, mean_interval, mean_of_draws, share_of_draws
from nbkit.measure.statistics import paired_tests, ratio, spearman_of_clusters
from nbkit.models import label as model_label
from nbkit.perturb import CONTROL, PERTURBATIONS
from nbkit.store import Store
from nbkit.studies.word_order import steps
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.steps import (
    Block,
    chunk_starts,
    difficulty_blocks,
    perturbed_scores,
    read_chunk,
    score_blocks,
    similarity_blocks,
)

if TYPE_CHECKING:
    import pandas as pd


def counts(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """N, the pairs in which both sides can be perturbed (Table 1).

    Columns: language, perturbation, category, n, total (pairs read).
    """
    store = store or Store()
    rows = []
    for language, block in zip(params.languages, difficulty_blocks(params, store), strict=True):
        known = block.quantities
        first = block.where((known["metric"] == params.metrics[0]) & (known["score"] == "alpha_source"))
        n = dict(zip(first.quantities["perturbation"], first.counts, strict=True))
        total = steps.n_pairs(params, language, store)
        rows += [(language, name, int(n.get(name, 0)), total) for name in params.perturbation_names]
    return steps.with_category(frame(rows, ["language", "perturbation", "n", "total"]))


def left_out(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """What was not used and why. Columns: language, reason, n, example."""
    store = store or Store()
    frames = [steps.extent(params, language, store).assign(language=language) for language in params.languages]
    return _concat(frames)[["language", "reason", "n", "example"]]


def quality(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β: mean κ of the unperturbed translations (Table 2). Columns: language, model, metric, beta, low, high, n."""
    # The control stands once for every pair, and so does β beside it, in every spacing.
    table = _each(params, map(_control, score_blocks(params, store)), _SCORE_KEYS)
    once = table["spacing"].eq(params.spacings[0]) & table["score"].eq("beta")
    return in_paper_order(
        table[once].rename(columns={"mean": "beta"})[["language", "model", "metric", "beta", "low", "high", "n"]]
    )


def quality_as_coded(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β by `BleuAsCoded`, on the pairs of `quality`: what the paper's Table 2 prints (Table 2).

    Columns: language, model, metric ("bleu", the metric whose printed values it belongs to), beta, low, high, n.
    """
    store, kappa, rows = store or Store(), BleuAsCoded(), []
    for language in params.languages:
        for model in params.models:
            key = steps.model_key(params, language, model)

            def compute(language: str = language, model: str = model) -> pd.DataFrame:
                scores: list[float] = []
                for start in chunk_starts(steps.n_pairs(params, language, store)):
                    pairs = [
                        pair
                        for pair in read_chunk(params, language, start, store)
                        if min(len(pair.source), len(pair.target)) >= params.min_tokens
                    ]
                    texts = [pair.source.text for pair in pairs]
                    hypotheses = steps.translate(params, model, texts, language, store)
                    scores += kappa.scores(hypotheses, [pair.target.text for pair in pairs], language).tolist()
                return frame([mean_interval(np.array(scores), within=UNIT)], ["beta", "low", "high", "n"])

            config = steps.config(
                "quality_as_coded", params, language, code=__name__, as_coded=kappa.identity(language), **key
            )
            beta = store.table(config, compute).iloc[0]
            rows.append((language, model_label(model), "bleu", beta["beta"], beta["low"], beta["high"], int(beta["n"])))
    return in_paper_order(frame(rows, ["language", "model", "metric", "beta", "low", "high", "n"]))


def by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β, β1, β2, chance and β1 − β2 of every perturbation (Figures 2, 8–11, 13).

    Columns: language, model, perturbation, category, metric, spacing, n and, for each of beta, beta1,
    beta2, chance, difference: the mean, ``…_low`` and ``…_high``. All on the same N, but chance: on the chance_n
    of them whose reference has more than one outcome (NaN without any).
    """
    scores = {name: name for name in ("beta", "beta1", "beta2", "chance", "difference")}
    by = ["language", "model", "perturbation", "metric", "spacing"]
    means = _each(params, score_blocks(params, store), _SCORE_KEYS)
    table = steps.with_category(_side_by_side(means, by, scores))
    several = means.loc[means["score"] == "chance", [*by, "n"]].rename(columns={"n": "chance_n"})
    table = table.merge(several, on=by, how="left", validate="one_to_one")
    return in_paper_order(_led_by(table, ["language", "model", "perturbation", "category", "metric", "spacing"]))


def preference(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over perturbations of at least min_n pairs (Figure 1): above 0 robust, below 0 faithful.

    Columns: language, model, metric, difference, low, high, n (perturbed pairs).
    """
    return in_paper_order(_mean_of_means(params, ["language", "model", "metric"], store))


def preference_by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over the languages in which a perturbation has min_n pairs, and over models (Figure 2).

    Columns: perturbation, category, metric, difference, low, high, n.
    """
    table = steps.with_category(_mean_of_means(params, ["perturbation", "metric"], store))
    return in_paper_order(_led_by(table, ["perturbation", "category", "metric"]))


def below_min_n(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """The perturbations that stay out of means over perturbations. Columns: language, perturbation, n (below min_n)."""
    table = counts(params, store)
    small = table["n"].gt(0) & table["n"].lt(params.min_n)
    return table.loc[small, ["language", "perturbation", "n"]].reset_index(drop=True)


def difficulty(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """α: κ of a text and itself perturbed (Figure 12); high is easy.

    Columns: language, side, perturbation, category, metric, alpha, low, high, n.
    """
    table = _each(params, difficulty_blocks(params, store), ["language", "metric", "perturbation", "score"])
    table = steps.with_category(table.rename(columns={"mean": "alpha"}))
    table = table.assign(side=table["score"].str.removeprefix("alpha_"))
    columns = ["language", "side", "perturbation", "category", "metric", "alpha", "low", "high", "n"]
    return _concat([in_paper_order(table.loc[table["side"] == side, columns]) for side in ("source", "target")])


def similarity(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean κ between two perturbations of the same text (Figure 14).

    Columns: language, side, metric, perturbation_a, perturbation_b, kappa, low, high, n; symmetric, 1 on the diagonal.
    """
    keys = ["language", "side", "metric", "perturbation_a", "perturbation_b"]
    return _symmetric(_each(params, similarity_blocks(params, store), keys), counts(params, store))


def similarity_of_languages(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean κ between two perturbations of the same text, the texts of all languages together (Figure 5).

    Columns: side, metric, perturbation_a, perturbation_b, kappa, low, high, n; symmetric, 1 on the diagonal.
    """
    sums = _pooled(params, similarity_blocks(params, store), ["side", "metric", "perturbation_a", "perturbation_b"])
    return _symmetric(sums, counts(params, store).groupby("perturbation", sort=False)["n"].sum().reset_index())


def flips(
    params: WordOrderParams, store: Store | None = None, *, by: Sequence[str] = ("language", "model", "perturbation")
) -> pd.DataFrame:
    """How often the perturbed source is translated better (Tables 3 and 6), by both of `blocks.flip_criteria`.

    by: of "language", "model" and "perturbation" those to be told apart; the sentences of the others are added up.
    Columns: those of *by*, metric, flips (β1 > β), n, share, low, high (of the share); inferred, inferred_share,
    inferred_low, inferred_high: the same by the inferred criterion, β ≤ ½ < β1.
    """
    keys = [*by, "metric"]
    blocks = (_main(params, block, "flip", "flip_inferred") for block in score_blocks(params, store))
    table = _pooled(params, blocks, [*keys, "score"], share=True)
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
    table = _each(params, map(_control, score_blocks(params, store)), _SCORE_KEYS)
    by = ["language", "model", "metric", "spacing"]
    table = _side_by_side(table, by, {"beta": "beta", "beta1": "control"})
    return in_paper_order(_led_by(table, by))


def in_paper_order(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with languages, models, then perturbations in the paper's order; all else stays as it was."""
    languages = in_order(table["language"]) if "language" in table else []
    ranks = {"language": languages, "perturbation": [CONTROL, *PERTURBATIONS.names()]}
    keys = [column for column in ("language", "perturbation") if column in table]
    rank = table.assign(**{key: table[key].map({name: i for i, name in enumerate(ranks[key])}) for key in keys})
    if "model" in table:
        rank["model"] = table["model"].map({name: i for i, name in enumerate(dict.fromkeys(table["model"]))})
    order = rank.sort_values([k for k in ("language", "model", "perturbation") if k in table], kind="stable").index
    return table.loc[order].reset_index(drop=True)


_SCORE_KEYS = ["language", "model", "metric", "spacing", "perturbation", "score"]


def _main(params: WordOrderParams, block: Block, *scores: str) -> Block:
    """What the main figures show of *scores*: of perturbed sentences, in the first spacing of the run."""
    known = block.quantities
    perturbed = known["perturbation"].ne(CONTROL) & known["spacing"].eq(params.spacings[0])
    return block.where(perturbed & known["score"].isin(scores))


def _control(block: Block) -> Block:
    return block.where(block.quantities["perturbation"] == CONTROL)


def _each(params: WordOrderParams, blocks: Iterable[Block], keys: list[str]) -> pd.DataFrame:
    """Mean, interval and n of every quantity, each block for itself. Columns as `_pooled`."""
    return _concat([_pooled(params, [], keys), *(_pooled(params, [block], keys) for block in blocks)])


def _pooled(params: WordOrderParams, blocks: Iterable[Block], keys: list[str], *, share: bool = False) -> pd.DataFrame:
    """Mean, interval and n of all values that agree in *keys*. Columns: *keys*, mean, low, high, total, n.

    share: the values are 0 or 1. A quantity has one value per pair, so that there are as many pairs as its N, and of
    several quantities at least as many as the largest N.
    """
    pooled: dict[tuple[str, ...], list[Any]] = {}
    pairs: dict[tuple[str, ...], int] = {}
    for block in blocks:
        parts = zip(block.totals, block.counts, block.total_draws, block.count_draws, strict=True)
        for key, part in zip(block.quantities[keys].itertuples(index=False, name=None), parts, strict=True):
            pooled[key] = [a + b for a, b in zip(pooled[key], part, strict=True)] if key in pooled else list(part)
            pairs[key] = max(int(part[1]), pairs.get(key, 0))
    rows, within = [], {score: ranges(params, score) for score in ("difference", "")}
    for key, (total, n, totals, counts) in pooled.items():
        draws, of = ratio(totals, counts), dict(zip(keys, key, strict=True))
        if share or of.get("score") in ("flip", "flip_inferred"):
            interval = share_of_draws(total / n, draws, units=pairs[key], values=n)
        else:
            bounds = within["difference" if of.get("score") == "difference" else ""][of["metric"]]
            interval = mean_of_draws(total / n, draws, units=pairs[key], within=bounds)
        rows.append((*key, total / n, *interval, total, int(n)))
    return frame(rows, [*keys, "mean", "low", "high", "total", "n"])


def ranges(params: WordOrderParams, score: str = "") -> dict[str, tuple[float, float] | None]:
    """What values a score by each metric of the run can have, None where the metric has no bounds."""
    bounds = DIFFERENCE if score == "difference" else UNIT
    return {kappa.name: bounds if kappa.bounded else None for kappa in params.kappas()}


def _mean_of_means(params: WordOrderParams, keys: list[str], store: Store | None) -> pd.DataFrame:
    """Mean β1 − β2 of the cells (language, model, perturbation) that agree in *keys*, with interval.

    Columns: *keys*, difference, low, high, n.
    """
    sums: dict[tuple[str, ...], np.ndarray] = {}  # of means and of their draws, the numbers of cells, n, 1 / n
    for block in score_blocks(params, store):
        block = _main(params, block, "difference")
        block = block.where(block.counts >= params.min_n)
        means, draws = ratio(block.totals, block.counts), ratio(block.total_draws, block.count_draws)
        values = np.column_stack([means, draws])
        n = np.broadcast_to(block.counts[:, None], values.shape)
        parts = np.stack([np.nan_to_num(values), ~np.isnan(values), n, 1 / n])
        for i, key in enumerate(block.quantities[keys].itertuples(index=False, name=None)):
            sums[key] = sums.get(key, 0.0) + parts[:, i]
    rows, within = [], ranges(params, "difference")
    for key, (total, cells, n, inverse) in sums.items():
        means = ratio(total, cells)
        # What a mean of means of unequal N is as sure as: the harmonic mean of the N.
        interval = mean_of_draws(
            means[0], means[1:], units=cells[0] / inverse[0], within=within[key[keys.index("metric")]]
        )
        rows.append((*key, means[0], *interval, int(n[0])))
    return frame(rows, [*keys, "difference", "low", "high", "n"])


def _side_by_side(table: pd.DataFrame, by: list[str], scores: dict[str, str]) -> pd.DataFrame:
    """One row a combination of *by*: mean and interval of each of *scores* (score → name in the result), and n."""
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


def correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ(β1, β) and ρ(β2, β) over perturbed sentences (Figure 7), with a cluster bootstrap's interval.

    The perturbed forms of one sentence pair are drawn together (`spearman_of_clusters`).
    Columns: language, model, metric, score ("beta1" or "beta2"), rho, low, high, p, n (perturbed sentences).
    """
    return _correlations(params, "beta", store)


def length_correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ of β1 and β2 with the source's length in tokens (Figure 6). Columns as `correlations`."""
    return _correlations(params, "length", store)


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
                steps.difficulty_chunk(params, language, start, store)
                for start in chunk_starts(steps.n_pairs(params, language, store))
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


def _correlations(params: WordOrderParams, with_column: str, store: Store | None) -> pd.DataFrame:
    """Remembered a language and model: the bootstrap of ranks takes seconds for each."""
    import pandas as pd

    columns = ["language", "model", "metric", "score", "rho", "low", "high", "p", "n"]
    store, frames = store or Store(), [frame([], columns)]
    for language in params.languages:
        for model in params.models:
            one = params.narrowed(language, model)
            key = steps.model_key(params, language, model)
            config = steps.config(f"correlations.{with_column}", one, language, code=__name__, **key)

            def compute(one: WordOrderParams = one) -> pd.DataFrame:
                rows = []
                for labels, group in _by_metric(one, store):
                    for score in ("beta1", "beta2"):
                        result = spearman_of_clusters(
                            group[score].to_numpy(), group[with_column].to_numpy(), group["pair"].to_numpy(),
                            seed=one.seed,
                        )  # fmt: skip
                        rows.append((*labels, score, result.rho, result.low, result.high, result.p, result.n))
                return frame(rows, columns)

            frames.append(store.table(config, compute).assign(model=model_label(model)))
    return pd.concat([table for table in frames if len(table)] or frames[:1], ignore_index=True)


def _by_metric(params: WordOrderParams, store: Store | None) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Language, model and metric, and the scores of its perturbed sentences; one language and model in memory."""
    store = store or Store()
    for language in params.languages:
        for model in params.models:
            chunks = perturbed_scores(params, language, model, store)
            table = _stacked(chunks, ["pair", "metric", "length", "beta", "beta1", "beta2"])
            for metric, group in table.groupby("metric", sort=False, observed=True):
                yield (language, model_label(model), str(metric)), group


def _stacked(chunks: Iterable[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """The *columns* of all *chunks*."""
    import pandas as pd

    return pd.concat([chunk[columns] for chunk in chunks], ignore_index=True)
