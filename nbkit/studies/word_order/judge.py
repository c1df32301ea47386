"""How translations are judged, by the paper's §3. κ is a similarity, g a text, g⁻ its perturbed form."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbkit.measure.bleu import BleuAsCoded
from nbkit.measure.displacement import carried_displacement, displacement
from nbkit.perturb import CONTROL
from nbkit.studies.answering import Cell
from nbkit.studies.word_order.params import WordOrderParams

#: What rows are told apart by.
GROUPS = ["item", "unit", "perturbation", "category", "spacing", "length"]


def outcomes(params: WordOrderParams, cell: Cell, items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """β = κ(t, g), β₁ = κ(t⁻, g) (robustness) and β₂ = κ(t⁻, g⁻) (faithfulness), a row each item and metric.

    carried: how much of the source's displacement arrives (`nbkit.measure.displacement`); arrives_by_chance: how much
    does of words in random order.
    """
    texts = zip(items["source"], items["changed"], answers["source"], answers["changed"], strict=True)
    carried = np.array([carried_displacement((a, b), (c, d), *cell[:2]) for a, b, c, d in texts])
    moved = [
        displacement(*each, cell.source).displacement for each in zip(items["source"], items["changed"], strict=True)
    ]
    chance = np.where(np.isnan(carried), np.nan, 1 / np.where(np.isnan(carried), 1, moved))
    once = ~items.duplicated("unit")
    tables = []
    for kappa in params.kappas():
        plain = _scores(kappa, answers["source"][once], items["reference"][once], cell.target)
        tables.append(items[GROUPS].assign(
            metric=kappa.name,
            beta=items["unit"].map(dict(zip(items["unit"][once], plain, strict=True))),
            beta1=_scores(kappa, answers["changed"], items["reference"], cell.target),
            beta2=_scores(kappa, answers["changed"], items["changed_reference"], cell.target),
            carried=carried,
            arrives_by_chance=chance,
        ))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def difficulty(params: WordOrderParams, cell: Cell, items: pd.DataFrame) -> pd.DataFrame:
    """α = κ(g, g⁻) of both sides, and chance: κ of two draws of a reference, where it has more than one outcome."""
    items = items[items["spacing"] == params.spacings[0]]
    drawn = items["second"].notna()
    tables = []
    for kappa in params.kappas():
        chance = pd.Series(_scores(kappa, items["second"][drawn], items["changed_reference"][drawn], cell.target))
        tables.append(items[GROUPS].assign(
            metric=kappa.name,
            alpha_source=_scores(kappa, items["changed"], items["source"], cell.source),
            alpha_target=_scores(kappa, items["changed_reference"], items["reference"], cell.target),
            chance=pd.Series(chance.to_numpy(), index=items.index[drawn], dtype=float),
        ))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def similarity(params: WordOrderParams, cell: Cell, items: pd.DataFrame) -> pd.DataFrame:
    """κ between two perturbations of the same text, for metrics without weights: a row each unordered pair of them."""
    items = items[(items["spacing"] == params.spacings[0]) & (items["perturbation"] != CONTROL)]
    items = items.assign(place=items["perturbation"].map(params.perturbation_names.index))
    two = items.merge(items, on="unit", suffixes=("_a", "_b")).query("place_a < place_b")
    sides = {"source": ("changed", cell.source), "target": ("changed_reference", cell.target)}
    tables = [
        two[["unit", "perturbation_a", "perturbation_b"]].assign(
            side=side, metric=kappa.name, kappa=_scores(kappa, two[f"{text}_b"], two[f"{text}_a"], language)
        )
        for side, (text, language) in sides.items()
        for kappa in params.kappas() if not hasattr(kappa, "problem")
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def as_coded(params: WordOrderParams, cell: Cell, items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """β as the paper's research code computes it, a row each pair (Table 2)."""
    once = ~items.duplicated("unit")
    beta = _scores(BleuAsCoded(), answers["source"][once], items["reference"][once], cell.target)
    return pd.DataFrame({"unit": items["unit"][once], "beta": beta})


def _scores(kappa: object, hypotheses: pd.Series, references: pd.Series, language: str) -> np.ndarray:
    return kappa.scores(hypotheses.tolist(), references.tolist(), language)  # type: ignore[attr-defined]
