"""Sentences to read: what the perturbations do (Figure 3) and where they help (Tables 4 and 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbkit.models import label as model_label
from nbkit.perturb import CONTROL
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.word_order import per_sentence
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.tables import frame, perturbed_scores
from nbkit.studies.word_order.variants import CHUNK, chunk_starts, read_chunk, variants

if TYPE_CHECKING:
    import pandas as pd


def examples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """The first *k* pairs to which most perturbations apply, under each of them (Figure 3).

    Columns: language, pair, perturbation, category, side ("source" or "target"), text, perturbed.
    """
    store, rows = store or Store(), []
    for language in params.languages:
        pairs = read_chunk(params, language, 0, store)
        by_pair: dict[int, list] = {}
        for variant in variants(params, pairs, 0):
            by_pair.setdefault(variant.pair, []).append(variant)
        chosen = sorted(by_pair, key=lambda pair: (-len(by_pair[pair]), pair))[:k]
        for pair in chosen:
            for variant in by_pair[pair]:
                if variant.perturbation == CONTROL:
                    continue
                name, source, target = variant.perturbation, pairs[pair].source.text, pairs[pair].target.text
                rows.append((language, pair, name, "source", source, variant.perturbed_source))
                rows.append((language, pair, name, "target", target, variant.perturbed_reference))
    columns = ["language", "pair", "perturbation", "side", "text", "perturbed"]
    return per_sentence.with_category(frame(rows, columns))


def flip_samples(params: WordOrderParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* translations a language and model that got better when the source was perturbed (Tables 4 and 5).

    Drawn with addressed randomness among the flips (β1 > β in the run's κ), no sentence twice.
    Columns: language, model, pair, perturbation, source, perturbed_source, reference, hypothesis,
    perturbed_hypothesis, beta, beta1, beta2.
    """
    table = perturbed_scores(params, store)
    table = table[table["metric"] == params.kappa]
    return _drawn(params, table[table["beta1"] > table["beta"]], k, "flips", store)


def samples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* drawn sentences of every language, model and perturbation, translated.

    Columns as `flip_samples`.
    """
    table = perturbed_scores(params, store)
    table = table[table["metric"] == params.kappa]
    frames = [_drawn(params, group, k, "samples", store) for _, group in table.groupby("perturbation", sort=False)]
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else _drawn(params, table, k, "samples", store)


def _drawn(params: WordOrderParams, table: pd.DataFrame, k: int, purpose: str, store: Store | None) -> pd.DataFrame:
    """*k* rows a language and model of *table* with their texts, in the order of their addresses."""
    import pandas as pd

    store, frames = store or Store(), []
    for key, group in table.groupby(["language", "model"], sort=False):
        language, label = map(str, key)
        rank = [
            address(params.seed, purpose, language, label, int(pair), name)
            for pair, name in zip(group["pair"], group["perturbation"], strict=True)
        ]
        chosen = group.assign(rank=rank).sort_values("rank").drop_duplicates("pair").head(k)
        if len(chosen):
            frames.append(_with_texts(params, chosen.drop(columns="rank"), language, label, store))
    columns = ["language", "model", "pair", "perturbation", "source", "perturbed_source", "reference",
               "hypothesis", "perturbed_hypothesis", "beta", "beta1", "beta2"]  # fmt: skip
    return pd.concat(frames, ignore_index=True)[columns] if frames else frame([], columns)


def _with_texts(params: WordOrderParams, rows: pd.DataFrame, language: str, label: str, store: Store) -> pd.DataFrame:
    """*rows* with their texts; the translations come from the store."""
    model = next(name for name in params.models if model_label(name) == label)
    wanted = set(zip(rows["pair"], rows["perturbation"], strict=True))
    texts = {}
    for start in chunk_starts(int(rows["pair"].max()) + 1):
        if not any(start <= pair < start + CHUNK for pair, _ in wanted):
            continue
        pairs = read_chunk(params, language, start, store)
        for variant in variants(params, pairs, start, params.spacings[0]):
            if (variant.pair, variant.perturbation) in wanted:
                pair = pairs[variant.pair - start]
                texts[variant.pair, variant.perturbation] = (
                    pair.source.text, variant.perturbed_source, pair.target.text,
                )  # fmt: skip
    triples = [texts[key] for key in zip(rows["pair"], rows["perturbation"], strict=True)]
    plain = per_sentence.translate(params, model, [source for source, _, _ in triples], language, store)
    perturbed = per_sentence.translate(params, model, [source for _, source, _ in triples], language, store)
    return rows.assign(
        source=[source for source, _, _ in triples],
        perturbed_source=[source for _, source, _ in triples],
        reference=[reference for _, _, reference in triples],
        hypothesis=plain,
        perturbed_hypothesis=perturbed,
    )
