"""From outcomes to numbers with 95 % intervals. Units are clusters: all values of one unit are resampled together.

All intervals but those of shares and ranks come from one formula. A statistic θ is a function of sums over clusters,
and each cluster c changes it by its influence u_c (the derivative of θ in the direction of c's sums; they add up to
0). The pseudo-values θ + C u_c of the C clusters have the mean θ, and its interval is that of
`nbkit.measure.statistics.mean_interval` (Student's t, corrected for skewness). For the mean of K cells' means,
u_c = Σ_k (s_ck − m_k n_ck) / (K n_k) with the sums s and numbers n of values; of other functions of sums (corpus BLEU,
perplexity) it is how much θ falls without the cluster (delete-one jackknife): sacreBLEU counts in whole numbers, so
that a numerical derivative is wrong.
Reference: Efron 1982, *The jackknife, the bootstrap and other resampling plans*, chapter 6 (infinitesimal jackknife).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from nbkit.measure.statistics import (
    adjusted_thresholds,
    mean_interval,
    paired_tests,
    rank_biserial,
    share_bounds,
    share_of_sums,
    spearman_of_clusters,
)
from nbkit.models.translators.texts import score_of_sums

Names = str | Sequence[str]


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def summarise(
    outcomes: Any,
    value: str,
    by: Names = (),
    *,
    average_over: Names = (),
    interval: Literal["mean", "share"] = "mean",
    cluster: Names = "unit",
    min_n: int = 1,
    within: tuple[float, float] | None = (0, 1),
) -> pd.DataFrame:
    """The mean of *value* in each group of *by*, with its interval. Missing values are left out.

    Parameters
    ----------
    outcomes
        A DataFrame, or a DuckDB relation, which is added up out of core: ``duckdb.sql(f"FROM read_parquet({files})")``.
    value
        A column or an expression: ``"beta1 - beta2"``, ``"beta1 > beta"``.
    average_over
        Columns whose combinations weigh alike, however many values each has: the mean of their means.
    interval
        "share" if values are 0 or 1 (Wilson's, with the design effect of the clusters), else "mean".
    cluster
        What is independent: the unit of the corpus.
    min_n
        Fewest values with which a combination of *average_over* (or a group, without) counts.
    within
        The range of possible values, None without one.

    Returns
    -------
    DataFrame
        The columns *by*, value, low, high, n (values) and units (clusters); groups as they come first.
    """
    names, over, cluster = _list(by), _list(average_over), _list(cluster)
    by = names or [_ALL]
    sums = _sums(outcomes, value, [*names, *over, *cluster]).assign(**{_ALL: 0})
    cells = _added_up(sums, [*by, *over])
    cells = cells[cells["n"] >= min_n].assign(mean=cells["total"] / cells["n"])
    cells["k"] = cells.groupby(by, observed=True, dropna=False)["n"].transform("size")
    sums = sums.merge(cells, on=[*by, *over], suffixes=("", "_cell"))
    sums["influence"] = (sums["total"] - sums["mean"] * sums["n"]) / (sums["k"] * sums["n_cell"])
    means = cells.groupby(by, observed=True, dropna=False, as_index=False)["mean"].mean()
    units = _added_up(sums, [*by, *cluster], "influence").merge(means, on=by)
    rows = []
    for key, own in units.groupby(by, sort=False, observed=True, dropna=False):
        mean, influence = float(own["mean"].iloc[0]), own["influence"].to_numpy()
        if interval == "share" and not over:
            found = share_of_sums(own["total"].to_numpy(float), own["n"].to_numpy(float))
        else:
            found = mean_interval(mean + len(own) * influence, within=within)
        rows.append((*key, mean, found.low, found.high, int(own["n"].sum()), found.n))
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "n", "units"])[
        [*names, "value", "low", "high", "n", "units"]
    ]


#: The group of everything, where there is no other.
_ALL = "_all"


def _added_up(sums: pd.DataFrame, keys: list[str], *more: str) -> pd.DataFrame:
    return sums.groupby(keys, sort=False, observed=True, dropna=False)[["total", "n", *more]].sum().reset_index()


def _sums(outcomes: Any, value: str, keys: list[str]) -> pd.DataFrame:
    """Sum and number of the values of each cluster in each cell."""
    if isinstance(outcomes, pd.DataFrame):
        values = outcomes.eval(value).astype(float)
        sums = _added_up(outcomes[keys].assign(total=values, n=values.notna().astype(int)), keys)
    else:
        names = ", ".join(keys)
        sums = outcomes.aggregate(f"{names}, sum(({value})::DOUBLE) AS total, count({value}) AS n", names).df()
    return sums[sums["n"] > 0]


def _groups(frame: pd.DataFrame, by: list[str]) -> Any:
    return frame.groupby(by, sort=False, observed=True, dropna=False) if by else [((), frame)] if len(frame) else []


def of_sums(
    outcomes: pd.DataFrame, sums: Names, function: Callable[[np.ndarray], float], by: Names = (), *,
    cluster: Names = "unit", within: tuple[float, float] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """A *function* of the sums over each group, such as a perplexity, with its interval.

    sums: a column that holds what is added up (a list each row), or columns. Columns: *by*, value, low, high, n, units.
    """
    by, rows = _list(by), []
    for key, group in _groups(outcomes, by):
        each = np.stack(group[sums].to_list()) if isinstance(sums, str) else group[list(sums)].to_numpy()
        units = group.groupby(_list(cluster), sort=False, observed=True).ngroup().to_numpy()
        parts = np.zeros((units.max() + 1, each.shape[1]))
        np.add.at(parts, units, each.astype(float))
        whole = parts.sum(axis=0)
        theta, without = function(whole), np.array([function(whole - part) for part in parts])
        influence = (len(parts) - 1) / len(parts) * (without.mean() - without)
        found = mean_interval(theta + len(parts) * influence, within=within)
        rows.append((*key, theta, found.low, found.high, len(group), len(parts)))
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "n", "units"])


def corpus_score(
    outcomes: pd.DataFrame, sums: str, measure: Literal["bleu", "chrf"], by: Names = (), *, cluster: Names = "unit"
) -> pd.DataFrame:
    """Corpus BLEU or chrF in per cent from the column *sums* of each row (`nbkit…texts.sentence_sums`): `of_sums`."""
    score = partial(score_of_sums, measure)
    return of_sums(outcomes, sums, lambda whole: score([whole]), by, cluster=cluster, within=(0, 100))


def correlate(
    outcomes: pd.DataFrame, x: str, y: str, by: Names = (), *, cluster: str = "unit", seed: int = 0
) -> pd.DataFrame:
    """Spearman's ρ of two columns in each group, with the interval and p of a cluster bootstrap.

    Columns: *by*, value, low, high, p, n.
    """
    by, rows = _list(by), []
    for key, group in _groups(outcomes, by):
        values = (group[name].to_numpy() for name in (x, y, cluster))
        rows.append((*key, *spearman_of_clusters(*values, seed=seed)))
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "p", "n"])


def strengths(outcomes: pd.DataFrame, score: str, yes: str, by: Names = (), *, cluster: Names = "unit") -> pd.DataFrame:
    """The rank-biserial correlation of *score* with *yes* (expressions): positive where those with yes score more.

    (ρ + 1) / 2 is the share θ of the pairs of a yes and a no of which the yes scores more (ties: half), and its
    interval that of a share. A cluster changes it by u_c = Σ_yes (p_i − θ) / n_yes + Σ_no (p_j − θ) / n_no, where p is
    the share of the pairs of one value. Columns: *by*, value, low, high, p (Mann–Whitney U), n_yes, n_no, and the
    thresholds small, medium, large of effects at this base rate (`adjusted_thresholds`); NaN where a side is empty.
    """
    by, rows = _list(by), []
    for key, group in _groups(outcomes, by):
        scores, chosen = group.eval(score).to_numpy(float), group.eval(yes).to_numpy(bool)
        known, ends = ~np.isnan(scores), (np.nan,) * 4
        scores, chosen = scores[known], chosen[known]
        found = rank_biserial(scores[chosen], scores[~chosen])
        limits: Sequence[float] = (np.nan,) * 3
        if found.n_first and found.n_second:
            limits = adjusted_thresholds(found.base_rate)
            theta, share = (found.rbc + 1) / 2, np.empty(len(scores))
            for own, other, sign in ((chosen, ~chosen, 1), (~chosen, chosen, -1)):
                ranks = np.sort(sign * scores[other])
                below, upto = (np.searchsorted(ranks, sign * scores[own], side) for side in ("left", "right"))
                share[own] = ((below + upto) / (2 * len(ranks)) - theta) / own.sum()
            units = group[known].groupby(_list(cluster), sort=False, observed=True).ngroup().to_numpy()
            influence = np.bincount(units, share)
            fewest = min(len(np.unique(units[chosen])), len(np.unique(units[~chosen])))
            variance = (influence**2).sum() * len(influence) / max(len(influence) - 1, 1)
            bounds = share_bounds(theta, variance, fewest=fewest, most=found.n_first * found.n_second)
            ends = (found.rbc, *(2 * each - 1 for each in bounds), found.p)
        rows.append((*key, *ends, found.n_first, found.n_second, *limits))
    return pd.DataFrame(rows, columns=[*by, "value", "low", "high", "p", "n_yes", "n_no", "small", "medium", "large"])


def difference(
    outcomes: pd.DataFrame, value: str, between: str, by: Names = (), *, item: Names = "item", **how: Any
) -> pd.DataFrame:
    """The mean difference of *value* of every two systems (*between*) on the items that both have, a − b.

    how: as for `summarise`. Columns: a, b and those of `summarise`.
    """
    by, item = _list(by), _list(item)
    kept = list(dict.fromkeys([*by, *_list(how.get("average_over", ())), *_list(how.get("cluster", "unit")), *item]))
    values = outcomes.assign(_value=outcomes.eval(value).astype(float))
    wide = values.pivot_table(index=kept, columns=between, values="_value", sort=False)
    systems = list(dict.fromkeys(outcomes[between]))
    tables = []
    for place, a in enumerate(systems):
        for b in systems[place + 1 :]:
            own = (wide[a] - wide[b]).rename("difference").reset_index()
            table = summarise(own, "difference", by, within=(-1, 1), **how)
            table.insert(0, "b", b)
            table.insert(0, "a", a)
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def test_systems(
    outcomes: pd.DataFrame, value: str, between: str = "model", by: Names = (), unit: str = "unit"
) -> pd.DataFrame:
    """Wilcoxon's signed-rank test between every two systems, Holm-corrected (`paired_tests`)."""
    return paired_tests(outcomes, value=value, system=between, unit=unit, by=_list(by))
