"""Tables of the word-order study's schema with invented numbers, in three shapes, for the figures' tests."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from nbkit.languages import TARGETS
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS

MODELS = ["opus-mt", "mbart50", "m2m100-418m", "m2m100-1.2b"]
METRICS = ["bleu", "levenshtein", "chrf"]
#: One language and one model; a middling grid with a model of one's own; the paper's grid.
SHAPES = {
    "1x1": (["de"], ["sandbox-marian"]),
    "3x2": (["de", "ru", "ja"], ["sandbox-marian", "a-model-with-quite-a-long-name-of-my-own"]),
    "7x4": (list(TARGETS), MODELS),
}


class Synthetic:
    """The study's tables for one shape; every method returns the table of the same name."""

    def __init__(self, languages: list[str], models: list[str], seed: int = 0):
        self.languages, self.models = languages, models
        self.rng = np.random.default_rng(seed)

    def _rows(self, **axes: list) -> pd.DataFrame:
        return pd.MultiIndex.from_product(list(axes.values()), names=list(axes)).to_frame(index=False)

    def _category(self, table: pd.DataFrame) -> pd.DataFrame:
        def category(name: str) -> str:
            return CONTROL if name == CONTROL else PERTURBATIONS.get(name).category

        return table.assign(category=table["perturbation"].map(category))

    def _mean(self, table: pd.DataFrame, name: str, low: float, high: float, bounds: tuple[str, str]) -> pd.DataFrame:
        mean = self.rng.uniform(low, high, len(table))
        half = self.rng.uniform(0.005, 0.03, len(table))
        return table.assign(**{name: mean, bounds[0]: mean - half, bounds[1]: mean + half})

    def _n(self, table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(n=self.rng.integers(20, 200, len(table)))

    def counts(self) -> pd.DataFrame:
        return self._n(self._category(self._rows(language=self.languages, perturbation=list(NAMES)))).assign(total=200)

    def quality(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, model=self.models, metric=METRICS)
        return self._n(self._mean(table, "beta", 0.05, 0.7, ("low", "high")))

    def by_perturbation(self) -> pd.DataFrame:
        table = self._category(
            self._rows(
                language=self.languages,
                model=self.models,
                perturbation=[*NAMES, CONTROL],
                metric=METRICS,
                spacing=["joined"],
            )
        )
        for score, low, high in (("beta", 0.5, 0.7), ("beta1", 0.3, 0.6), ("beta2", 0.1, 0.4), ("chance", 0.05, 0.2)):
            table = self._mean(table, score, low, high, (f"{score}_low", f"{score}_high"))
        random = table["category"] == "random"
        table.loc[~random, ["chance", "chance_low", "chance_high"]] = np.nan
        table = self._mean(table, "difference", -0.1, 0.4, ("difference_low", "difference_high"))
        table = self._n(table)
        return table.assign(
            chance_n=table["n"].where(table["chance"].notna()) - table["perturbation"].eq("word_shuffle")
        )

    def preference(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, model=self.models, metric=METRICS)
        return self._n(self._mean(table, "difference", -0.05, 0.4, ("low", "high")))

    def preference_by_perturbation(self) -> pd.DataFrame:
        table = self._category(self._rows(perturbation=list(NAMES), metric=METRICS))
        return self._n(self._mean(table, "difference", -0.1, 0.4, ("low", "high")))

    def difficulty(self) -> pd.DataFrame:
        sides = ["source", "target"]
        table = self._rows(language=self.languages, side=sides, perturbation=list(NAMES), metric=METRICS)
        return self._n(self._mean(self._category(table), "alpha", 0.2, 0.9, ("low", "high")))

    def similarity(self) -> pd.DataFrame:
        return self._similarity(language=self.languages)

    def similarity_of_languages(self) -> pd.DataFrame:
        return self._similarity()

    def _similarity(self, **axes: list) -> pd.DataFrame:
        table = self._rows(
            **axes, side=["source", "target"], metric=METRICS, perturbation_a=list(NAMES), perturbation_b=list(NAMES)
        )
        table = self._mean(table, "kappa", 0.1, 0.9, ("low", "high"))
        same = table["perturbation_a"] == table["perturbation_b"]
        table.loc[same, ["kappa", "low", "high"]] = 1.0
        return self._n(table)

    def length_effect(self) -> pd.DataFrame:
        table = self._rows(
            language=self.languages, model=self.models, metric=METRICS, length_bin=list(range(6)),
            score=["beta1", "beta2", "beta"],
        )  # fmt: skip
        table = table.assign(length_low=4 + 3 * table["length_bin"], length_high=6 + 3 * table["length_bin"])
        return self._n(self._mean(table, "mean", 0.2, 0.6, ("low", "high")))

    def scores_by_difficulty(self) -> pd.DataFrame:
        table = self._rows(
            language=self.languages, model=self.models, metric=METRICS, part=list(range(5)),
            score=["beta1", "beta2", "beta"],
        )  # fmt: skip
        table = table.assign(difficulty=METRICS[0], alpha_low=table["part"] / 5, alpha_high=(table["part"] + 1) / 5)
        return self._n(self._mean(table, "mean", 0.2, 0.6, ("low", "high")))

    def by_perturbation_of_models(self) -> pd.DataFrame:
        return Synthetic(self.languages, self.models[:1]).by_perturbation().drop(columns="model")

    def correlations(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, model=self.models, metric=METRICS, score=["beta1", "beta2"])
        return self._n(self._mean(table, "rho", -0.2, 0.7, ("low", "high"))).assign(p=0.003)

    def difficulty_by_length(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, metric=METRICS, length_bin=list(range(6)))
        table = table.assign(normalised_length=0.1 + 0.15 * table["length_bin"])
        return self._n(self._mean(table, "alpha", 0.3, 0.8, ("low", "high")))

    def flips(self) -> pd.DataFrame:
        return self._flips(language=self.languages, model=self.models, perturbation=list(NAMES))

    def flips_by_language_and_model(self) -> pd.DataFrame:
        return self._flips(language=self.languages, model=self.models)

    def flips_by_language(self) -> pd.DataFrame:
        return self._flips(perturbation=list(NAMES), language=self.languages)

    def flips_by_model(self) -> pd.DataFrame:
        return self._flips(perturbation=list(NAMES), model=self.models)

    def _flips(self, **axes: list) -> pd.DataFrame:
        table = self._n(self._rows(**axes, metric=METRICS))
        flips = self.rng.binomial(table["n"], 0.1)
        share = flips / table["n"]
        table = table.assign(flips=flips, share=share, low=(share - 0.03).clip(0), high=share + 0.03)
        inferred = {"inferred_share": share / 5, "inferred_low": 0.0, "inferred_high": share / 2}
        return table.assign(inferred=flips // 5, **inferred)

    def flip_samples(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, model=self.models, perturbation=list(NAMES)[:3])
        return table.assign(
            pair=3,
            source="Tom couldn't find <script>alert('x')</script> & a place.",
            perturbed_source="place a & <script>alert('x')</script> find could n't Tom .",
            moved=[((0, 5), (10, 37))] * len(table),
            reference="Том не мог найти место.",
            hypothesis="トムは場所を見つけられなかった。",
            perturbed_hypothesis="場所トムは。",
            beta=0.2,
            beta1=0.7,
            beta2=0.1,
        )

    def examples(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, perturbation=list(NAMES), side=["source", "target"])
        return self._category(table).assign(
            pair=0,
            text="Tom said he could <b>n't</b> find it.",
            perturbed="said Tom he could find <b>n't</b> it .",
            moved=[((0, 4), (5, 8))] * len(table),
        )

    def model_tests(self) -> pd.DataFrame:
        pairs = list(combinations(self.models, 2))
        table = self._rows(
            language=self.languages, perturbation=list(NAMES), metric=METRICS, score=["beta1", "beta2"],
            pair=list(range(len(pairs))),
        )  # fmt: skip
        table = table.assign(
            model_a=[pairs[i][0] for i in table["pair"]], model_b=[pairs[i][1] for i in table["pair"]]
        ).drop(columns="pair")
        a, b = self.rng.uniform(0.2, 0.6, (2, len(table)))
        p = self.rng.uniform(0, 0.2, len(table))
        columns = {"mean_a": a, "mean_b": b, "difference": a - b, "p": p, "p_corrected": p * 2, "effect": a - b}
        return self._n(table.assign(**columns))

    def spacing_effect(self) -> pd.DataFrame:
        table = self._rows(language=self.languages, model=self.models, metric=METRICS, spacing=["joined", "original"])
        table = self._mean(table, "beta", 0.4, 0.7, ("beta_low", "beta_high"))
        return self._n(self._mean(table, "control", 0.3, 0.7, ("control_low", "control_high")))
