"""How far annotators agree beyond chance: Cohen's κ, Fleiss' κ, Krippendorff's α."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.errors import NbkitError
from nbkit.measure.intervals import share_interval
from nbkit.measure.statistics import percentile_interval
from nbkit.seeding import generator

if TYPE_CHECKING:
    import pandas as pd


def agreement(judgements: pd.DataFrame, *, labels: Sequence[str], resamples: int = 999, seed: int = 0) -> pd.DataFrame:
    """Agreement between every two annotators and between all of them, with intervals over items.

    judgements: as `nbkit.measure.forms.read_forms` gives them: columns annotator, item, judgement.

    Columns: measure ("share", "cohen", "fleiss", "krippendorff"), annotators ("X, Y" or "all"), value, low, high, n
    (items that all of them judged; for α every item with two judgements). "share" is raw agreement. Cohen's κ of two
    annotators, by scikit-learn; Fleiss' κ of all, by statsmodels; `krippendorff_alpha` of all. NaN where chance
    agreement is 1 (only one label was given). Where all agree on everything, κ and α have no interval (NaN). Raises
    `NbkitError` with fewer than two annotators.

    Source: Cohen 1960; Fleiss 1971; Krippendorff 2011.
    """
    import pandas as pd

    wide = judgements.pivot(index="item", columns="annotator", values="judgement")
    names = list(dict.fromkeys(judgements["annotator"]))
    if len(names) < 2:
        raise NbkitError(f"agreement needs two annotators or more; there is {', '.join(names) or 'none'}")
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([[places.get(value, -1) for value in row] for row in wide[names].to_numpy()]).T
    size = len(labels)
    rows = []
    for a, b in combinations(range(len(names)), 2):
        both = codes[[a, b]][:, (codes[[a, b]] >= 0).all(axis=0)]
        pair = f"{names[a]}, {names[b]}"
        rows.append(("share", pair, *share_interval(both[0] == both[1])))
        rows.append(("cohen", pair, *_interval(_cohen, both, size, resamples, seed)))
    complete = codes[:, (codes >= 0).all(axis=0)]
    rows.append(("fleiss", "all", *_interval(_fleiss, complete, size, resamples, seed)))
    judged = codes[:, (codes >= 0).sum(axis=0) > 1]
    rows.append(("krippendorff", "all", *_interval(krippendorff_alpha, judged, size, resamples, seed)))
    return pd.DataFrame(rows, columns=["measure", "annotators", "value", "low", "high", "n"])


def krippendorff_alpha(codes: np.ndarray, size: int) -> float:
    """Krippendorff's α for nominal labels: 1 − Dₒ / Dₑ from the matrix of coincidences.

    codes: annotators × items, label numbers below *size*, −1 where an annotator gave none. An item with m judgements
    adds 1 / (m − 1) for each ordered pair of them; items with fewer than two add nothing. Dₒ is the share of
    coincidences of different labels, Dₑ the share expected of labels drawn without replacement. 1: full
    agreement, 0: chance. NaN where one label alone was given.

    Source: Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*, section C.

    >>> krippendorff_alpha(np.array([[0, 1, 1, 0], [0, 1, 0, 0]]), 2)
    0.53...
    """
    counts = np.stack([(codes == label).sum(axis=0) for label in range(size)]).astype(float)  # labels × items
    judgements = counts.sum(axis=0)
    counts, judgements = counts[:, judgements > 1], judgements[judgements > 1]
    coincidences = (counts / (judgements - 1)) @ counts.T - np.diag((counts / (judgements - 1)).sum(axis=1))
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    expected = n * n - (totals**2).sum()
    if expected == 0:
        return float("nan")
    return float(1 - (n - 1) * (n - np.trace(coincidences)) / expected)


def _cohen(codes: np.ndarray, size: int) -> float:
    from sklearn.metrics import cohen_kappa_score

    if (codes == codes.flat[0]).all():
        return float("nan")
    return float(cohen_kappa_score(codes[0], codes[1], labels=range(size)))


def _fleiss(codes: np.ndarray, size: int) -> float:
    from statsmodels.stats.inter_rater import fleiss_kappa

    if (codes == codes.flat[0]).all():
        return float("nan")
    return float(fleiss_kappa(np.stack([(codes == label).sum(axis=0) for label in range(size)], axis=1)))


def _interval(measure, codes: np.ndarray, size: int, resamples: int, seed: int) -> tuple[float, float, float, int]:
    """The measure, its percentile interval over resampled items, and their number."""
    n = codes.shape[1]
    if n == 0:
        return float("nan"), float("nan"), float("nan"), 0
    random = generator(seed, "agreement", n)
    draws = np.array([measure(codes[:, random.integers(n, size=n)], size) for _ in range(resamples)])
    return (measure(codes, size), *percentile_interval(draws), n)


def accuracy_table(
    judgements: pd.DataFrame, *, labels: Sequence[str], by: Sequence[str] = ("stratum",), level: float = 0.95
) -> pd.DataFrame:
    """Accuracy and macro-F1 of every annotator, over all items and in each stratum.

    judgements: as `nbkit.measure.forms.read_form` gives them. by: columns in whose values the items are looked at
    apart.

    Columns: annotator, by ("all", or a column of *by*), value, n, accuracy, low, high (Wilson's interval),
    half_width (Wald's, z·√(p(1 − p)/n): what Table 6 prints behind ±), macro_f1 (the mean over all *labels* of F1; a
    label that neither stands in the key nor was given counts 0). Raises `NbkitError` where a column is missing.

    Source: §8, Table 6; Wilson 1927 (interval), by statsmodels; F1 by scikit-learn.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"annotator": "X", "judgement": ["e", "n", "n"], "label": ["e", "n", "c"]})
    >>> row = accuracy_table(table, labels=["e", "n", "c"], by=[]).iloc[0]
    >>> row["n"].item(), round(row["accuracy"].item(), 3), round(row["macro_f1"].item(), 3)
    (3, 0.667, 0.556)
    """
    import pandas as pd

    missing = [column for column in ("annotator", "judgement", "label", *by) if column not in judgements]
    if missing:
        raise NbkitError(f"judgements: no column {', '.join(missing)}; there are: {', '.join(judgements.columns)}")
    rows = []
    for annotator, group in judgements.groupby("annotator", sort=False):
        rows.append({"annotator": annotator, "by": "all", "value": "", **_accuracy(group, labels, level)})
        for column in by:
            for value, part in group.groupby(column, sort=True):
                rows.append({"annotator": annotator, "by": column, "value": value, **_accuracy(part, labels, level)})
    return pd.DataFrame(rows)


def _accuracy(group: pd.DataFrame, labels: Sequence[str], level: float) -> dict[str, Any]:
    from scipy.stats import norm
    from sklearn.metrics import f1_score
    from statsmodels.stats.proportion import proportion_confint

    n, correct = len(group), int((group["judgement"] == group["label"]).sum())
    accuracy = correct / n
    low, high = proportion_confint(correct, n, alpha=1 - level, method="wilson")
    half = norm.ppf((1 + level) / 2) * (accuracy * (1 - accuracy) / n) ** 0.5
    f1 = f1_score(group["label"], group["judgement"], labels=list(labels), average="macro", zero_division=0)
    return {
        "n": n,
        "accuracy": accuracy,
        "low": float(low),
        "high": float(high),
        "half_width": float(half),
        "macro_f1": float(f1),
    }
