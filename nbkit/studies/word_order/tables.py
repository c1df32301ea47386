"""The word-order study's tables over perturbations, languages and models; every mean with a bootstrap interval.

The unit that is resampled is the sentence pair: all perturbations, metrics and models of a pair are
drawn together. A mean over several perturbations, languages or models is the mean of their means, so
that a perturbation that applies to few sentences counts as much as one that applies to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.languages import NAMES as LANGUAGE_NAMES
from nbkit.metrics.statistics import bootstrap_draws, percentile_interval
from nbkit.perturb import CONTROL, PERTURBATIONS
from nbkit.store import Store
from nbkit.studies.word_order import per_sentence
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.variants import chunk_starts

if TYPE_CHECKING:
    import pandas as pd

_SCORES = ("beta", "beta1", "beta2", "chance")


def counts(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """N, the pairs in which both sides can be perturbed (Table 1).

    Columns: language, perturbation, category, n, total (pairs read).
    """
    store = store or Store()
    table = per_sentence.difficulties(params, store)
    table = table[(table["metric"] == params.metrics[0]) & (table["perturbation"] != CONTROL)]
    n = table.groupby(["language", "perturbation"]).size()
    rows = [
        (language, name, int(n.get((language, name), 0)), per_sentence.n_pairs(params, language, store))
        for language in params.languages
        for name in params.perturbation_names
    ]
    return per_sentence.with_category(frame(rows, ["language", "perturbation", "n", "total"]))


def left_out(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """What was not used and why. Columns: language, reason, n, example."""
    store = store or Store()
    frames = [per_sentence.extent(params, language, store).assign(language=language) for language in params.languages]
    return _concat(frames)[["language", "reason", "n", "example"]]


def quality(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β: mean κ of the unperturbed translations (Table 2). Columns: language, model, metric, beta, low, high, n."""
    table = per_sentence.scores(params, store)
    once = table.drop_duplicates(["language", "model", "metric", "pair"]).assign(perturbation=CONTROL)
    return _means(once, ["language", "model", "metric"], {"beta": "beta"}, params).rename(
        columns={"beta_low": "low", "beta_high": "high"}
    )


def by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β, β1, β2, chance and β1 − β2 of every perturbation (Figures 2, 8–11, 13).

    Columns: language, model, perturbation, category, metric, spacing, n and, for each of beta, beta1,
    beta2, chance, difference: the mean, ``…_low`` and ``…_high``. All on the same N.
    """
    table = _with_difference(per_sentence.scores(params, store))
    by = ["language", "model", "perturbation", "category", "metric", "spacing"]
    return _means(table, by, {name: name for name in (*_SCORES, "difference")}, params)


def preference(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over perturbations (Figure 1): above 0 robust, below 0 faithful.

    Columns: language, model, metric, difference, low, high, n (perturbed pairs).
    """
    return _macro(params, ["language", "model", "metric"], store)


def preference_by_perturbation(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """β1 − β2 averaged over languages and models (Figure 2).

    Columns: perturbation, category, metric, difference, low, high, n.
    """
    return _macro(params, ["perturbation", "category", "metric"], store)


def difficulty(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """α: κ of a text and itself perturbed (Figure 12); high is easy.

    Columns: language, side, perturbation, category, metric, alpha, low, high, n.
    """
    table = per_sentence.difficulties(params, store)
    table = table[table["perturbation"] != CONTROL]
    by = ["language", "perturbation", "category", "metric"]
    frames = [
        _means(table, by, {"alpha": f"alpha_{side}"}, params)
        .rename(columns={"alpha_low": "low", "alpha_high": "high"})
        .assign(side=side)
        for side in ("source", "target")
    ]
    return _concat(frames)


def similarity(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean κ between two perturbations of the same text (Figures 5 and 14).

    Columns: language, side, metric, perturbation_a, perturbation_b, kappa, n; symmetric, 1 on the diagonal.
    """
    store = store or Store()
    frames = [
        per_sentence.similarity_chunk(params, language, start, store).assign(language=language)
        for language in params.languages
        for start in chunk_starts(per_sentence.n_pairs(params, language, store))
    ]
    keys = ["language", "side", "metric", "perturbation_a", "perturbation_b"]
    columns = [*keys, "kappa", "n"]
    sums = _concat(frames)
    if sums.empty:
        return frame([], columns)
    sums = sums.groupby(keys, sort=False)[["total", "n"]].sum().reset_index()
    sums["kappa"] = sums["total"] / sums["n"]
    mirrored = sums.rename(columns={"perturbation_a": "perturbation_b", "perturbation_b": "perturbation_a"})
    diagonal = counts(params, store).rename(columns={"perturbation": "perturbation_a"})
    diagonal = diagonal.assign(perturbation_b=diagonal["perturbation_a"], kappa=1.0)
    diagonal = diagonal[diagonal["n"] > 0].merge(sums[["language", "side", "metric"]].drop_duplicates(), on="language")
    return _concat([sums[columns], mirrored[columns], diagonal[columns]])


def flips(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """How often the perturbed source is translated better: β1 > β (Tables 3 and 6).

    Columns: language, model, perturbation, metric, flips, n, share.
    """
    table = perturbed_scores(params, store)
    table = table.assign(flip=table["beta1"] > table["beta"])
    by = ["language", "model", "perturbation", "metric"]
    out = table.groupby(by, sort=False)["flip"].agg(flips="sum", n="size").reset_index()
    return in_paper_order(out.assign(share=out["flips"] / out["n"]))


def spacing_effect(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """κ of the control, the source merely re-joined from its tokens, beside β: what token spacing alone costs.

    Columns: language, model, metric, spacing, beta, beta_low, beta_high, control, control_low,
    control_high, n.
    """
    table = per_sentence.scores(params, store)
    table = table[table["perturbation"] == CONTROL]
    by = ["language", "model", "metric", "spacing"]
    return _means(table, by, {"beta": "beta", "control": "beta1"}, params)


def _with_difference(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(difference=table["beta1"] - table["beta2"])


def _means(table: pd.DataFrame, by: list[str], columns: dict[str, str], params: WordOrderParams) -> pd.DataFrame:
    """Mean and interval of *columns* (name in the result → column) within each group of *by*; n is the group's size.

    Perturbations of one block (language, model, metric…) are resampled together, over all its pairs.
    """
    outer = [name for name in by if name not in ("perturbation", "category")]
    rows: dict[tuple[Any, ...], list[Any]] = {}
    for _, block in table.groupby(outer, sort=False, observed=True):
        sizes = block.groupby(by, sort=False, observed=True).size()
        inner = block["perturbation"] if "perturbation" in by else np.repeat("", len(block))
        first = block.groupby(inner, sort=False)[by].first()
        for column in columns.values():
            matrix, names = _by_pair(block.assign(perturbation=inner), column)
            draws = bootstrap_draws(matrix, seed=params.seed)
            for i, name in enumerate(names):
                key = tuple(first.loc[name])
                low, high = percentile_interval(draws[:, i])
                rows.setdefault(key, []).extend([_mean(matrix[:, i]), low, high])
        for labels, size in sizes.items():
            rows[labels if isinstance(labels, tuple) else (labels,)].append(size)
    names = [part for name in columns for part in (name, f"{name}_low", f"{name}_high")]
    return in_paper_order(frame([[*key, *values] for key, values in rows.items()], [*by, *names, "n"]))


def _macro(params: WordOrderParams, by: list[str], store: Store | None) -> pd.DataFrame:
    """Mean β1 − β2 of the cells (language, model, perturbation) that fall together under *by*, with interval."""
    table = _with_difference(perturbed_scores(params, store))
    rows = []
    for key, group in table.groupby(by, sort=False, observed=True):
        means: list[float] = []
        draws: list[np.ndarray] = []
        for _, block in group.groupby(["language", "model"], sort=False, observed=True):
            matrix, _ = _by_pair(block, "difference")
            means += [_mean(column) for column in matrix.T]
            draws += list(bootstrap_draws(matrix, seed=params.seed).T)
        low, high = percentile_interval(np.nanmean(np.vstack(draws), axis=0))
        rows.append([*key, float(np.nanmean(means)), low, high, len(group)])
    return in_paper_order(frame(rows, [*by, "difference", "low", "high", "n"]))


def in_paper_order(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with languages, models, then perturbations in the paper's order; all else stays as it was."""
    ranks = {"language": list(LANGUAGE_NAMES), "perturbation": [CONTROL, *PERTURBATIONS.names()]}
    keys = [column for column in ("language", "perturbation") if column in table]
    rank = table.assign(**{key: table[key].map({name: i for i, name in enumerate(ranks[key])}) for key in keys})
    if "model" in table:
        rank["model"] = table["model"].map({name: i for i, name in enumerate(dict.fromkeys(table["model"]))})
    order = rank.sort_values([k for k in ("language", "model", "perturbation") if k in table], kind="stable").index
    return table.loc[order].reset_index(drop=True)


def perturbed_scores(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """The scores that the main figures show: of perturbed sentences, in the first spacing of the run."""
    table = per_sentence.scores(params, store)
    return table[(table["spacing"] == params.spacings[0]) & (table["perturbation"] != CONTROL)]


def _by_pair(block: pd.DataFrame, column: str) -> tuple[np.ndarray, list[str]]:
    """*column* as a matrix of pairs × perturbations, NaN where a perturbation does not apply, and their names."""
    wide = block.pivot(index="pair", columns="perturbation", values=column)
    return wide.to_numpy(float), list(wide.columns)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _concat(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
