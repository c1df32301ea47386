"""How accurate annotators are: accuracy with interval, macro-F1, accuracy by stratum (Table 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nbkit.errors import NbkitError

if TYPE_CHECKING:
    import pandas as pd


def accuracy_table(
    judgements: pd.DataFrame, *, labels: Sequence[str], by: Sequence[str] = ("stratum",), level: float = 0.95
) -> pd.DataFrame:
    """Accuracy and macro-F1 of every annotator, over all items and in each stratum.

    judgements: as `nbkit.annotate.read_form` gives them. by: columns in whose values the items are looked at apart.

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
