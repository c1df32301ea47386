"""Pass rates of systems, and which of them are better than others, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from nbkit.measure.signflips import LEVEL, p_values
from nbkit.studies.summarise import summarise


def pass_rates(outcomes: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """The share of decided tests that each system passes, by columns *by*; the cases of a template are one cluster.

    Columns: model, *by*, value, low, high, n (decided tests), undecided. Tests in quarantine count for nobody.
    """
    names, own = ["model", *by], outcomes[outcomes["aside"] == ""]
    tests = own.assign(n=own["passed"].notna(), undecided=own["passed"].isna())
    counts = tests.groupby(names, sort=False)[["n", "undecided"]].sum().astype(int).reset_index()
    rates = summarise(own, "passed", names, interval="share", cluster="cluster")[[*names, "value", "low", "high"]]
    return counts.merge(rates, on=names, how="left")[[*names, "value", "low", "high", "n", "undecided"]]


def significantly_better(outcomes: pd.DataFrame) -> list[tuple[str, str]]:
    """(better, worse) pairs of systems that differ significantly on tests that both have decided.

    By sign flips of clusters (`nbkit.measure.signflips.p_values`), with Holm's correction over all pairs.
    """
    decided = outcomes[outcomes["passed"].notna()]
    wide = decided.pivot_table(index=["cluster", "test"], columns="model", values="passed", aggfunc="first")
    pairs = list(combinations(wide.columns, 2))
    sums = [(wide[a] - wide[b]).dropna().groupby(level="cluster").sum().to_numpy() for a, b in pairs]
    p = p_values(sums)[1] if pairs else np.empty(0)
    sure = [(pair, each.sum()) for pair, each, holm in zip(pairs, sums, p, strict=True) if holm <= LEVEL]
    return [pair if total > 0 else pair[::-1] for pair, total in sure]
