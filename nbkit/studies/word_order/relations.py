"""How robustness and faithfulness go with quality, with length and between models (§6.2, §7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nbkit.metrics.statistics import bootstrap_mean, paired_tests, spearman
from nbkit.perturb import CONTROL
from nbkit.store import Store
from nbkit.studies.word_order import per_sentence
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.tables import frame, perturbed_scores

if TYPE_CHECKING:
    import pandas as pd

#: Sentences per length group are about equal in number; this many groups where the lengths allow.
LENGTH_GROUPS = 6


def correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ(β1, β) and ρ(β2, β) over perturbed sentences (Figure 7), with confidence interval.

    Columns: language, model, metric, score ("beta1" or "beta2"), rho, low, high, p, n.
    """
    return _correlate(perturbed_scores(params, store), "beta", ("beta1", "beta2"))


def length_correlations(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Spearman's ρ of β1 and β2 with the source's length in tokens (Figure 6). Columns as `correlations`."""
    return _correlate(perturbed_scores(params, store), "length", ("beta1", "beta2"))


def length_effect(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Mean β1 and β2 by source length, in groups of about equally many sentences (Figure 6).

    Columns: language, model, metric, length_bin, length_low, length_high (tokens, inclusive),
    score, mean, low, high, n.
    """
    rows = []
    for key, group in perturbed_scores(params, store).groupby(["language", "model", "metric"], sort=False):
        for index, (shortest, longest) in enumerate(length_groups(group["length"])):
            inside = group[group["length"].between(shortest, longest)]
            for score in ("beta1", "beta2"):
                mean = bootstrap_mean(inside[score].to_numpy(), groups=inside["pair"].to_numpy(), seed=params.seed)
                rows.append((*key, index, shortest, longest, score, mean.mean, mean.low, mean.high, mean.n))
    columns = ["language", "model", "metric", "length_bin", "length_low", "length_high",
               "score", "mean", "low", "high", "n"]  # fmt: skip
    return frame(rows, columns)


def difficulty_by_length(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """α of the source by normalised length (Figure 15): length / (longest + 1), in [0, 1).

    Columns: language, metric, length_bin, normalised_length (the group's mean), alpha, low, high, n.
    """
    table = per_sentence.difficulties(params, store)
    table = table[table["perturbation"] != CONTROL]
    rows = []
    for key, group in table.groupby(["language", "metric"], sort=False):
        longest_of_all = int(group["length"].max()) + 1
        for index, (shortest, longest) in enumerate(length_groups(group["length"])):
            inside = group[group["length"].between(shortest, longest)]
            mean = bootstrap_mean(inside["alpha_source"].to_numpy(), groups=inside["pair"].to_numpy(), seed=params.seed)
            normalised = float(inside["length"].mean()) / longest_of_all
            rows.append((*key, index, normalised, mean.mean, mean.low, mean.high, mean.n))
    return frame(rows, ["language", "metric", "length_bin", "normalised_length", "alpha", "low", "high", "n"])


def model_tests(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Paired tests between models over the same perturbed pairs, corrected for their number.

    Wilcoxon's signed-rank test on the differences in β1 and in β2 of two models (a minus b), one test a
    language, perturbation, metric and pair of models; p corrected after Holm within each language, metric and
    score; effect is the matched-pairs rank-biserial correlation.

    Columns: language, perturbation, metric, score, model_a, model_b, mean_a, mean_b, difference, p,
    p_corrected, effect, n.
    """
    import pandas as pd

    table = perturbed_scores(params, store)
    frames = []
    for key, group in table.groupby(["language", "metric"], sort=False):
        language, metric = map(str, key)
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


def _correlate(table: pd.DataFrame, with_column: str, columns: tuple[str, ...]) -> pd.DataFrame:
    rows = []
    for key, group in table.groupby(["language", "model", "metric"], sort=False):
        for score in columns:
            result = spearman(group[score].to_numpy(), group[with_column].to_numpy())
            rows.append((*key, score, result.rho, result.low, result.high, result.p, result.n))
    return frame(rows, ["language", "model", "metric", "score", "rho", "low", "high", "p", "n"])
