"""Sentences to read: what the perturbations do (Figure 3) and where they help (Tables 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from nbkit.perturb import CONTROL, perturb_text
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.word_order import per_sentence
from nbkit.studies.word_order.blocks import perturbed_scores
from nbkit.studies.word_order.moved import Span, moved_spans
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.tables import frame, in_paper_order
from nbkit.studies.word_order.variants import CHUNK, chunk_starts, read_chunk, variants
from nbkit.text import Text

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["language", "model", "pair", "perturbation", "source", "perturbed_source", "moved", "reference",
            "hypothesis", "perturbed_hypothesis", "beta", "beta1", "beta2"]  # fmt: skip


def examples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """The first *k* pairs to which most perturbations apply, under each of them (Figure 3).

    Columns: language, pair, perturbation, category, side ("source" or "target"), text, perturbed, moved (where in
    the perturbed text the words stand that moved: `moved_spans`).
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
                for side, text, perturbed in (
                    ("source", pairs[pair].source, variant.perturbed_source),
                    ("target", pairs[pair].target, variant.perturbed_reference),
                ):
                    moved = _moved(params, text, variant.perturbation, perturbed)
                    rows.append((language, pair, variant.perturbation, side, text.text, perturbed, moved))
    columns = ["language", "pair", "perturbation", "side", "text", "perturbed", "moved"]
    return per_sentence.with_category(frame(rows, columns))


def flip_samples(params: WordOrderParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* translations a language and model that got better when the source was perturbed (Tables 4 and 5).

    Drawn with addressed randomness among the flips (β1 > β in the run's κ), no sentence twice.
    Columns: language, model, pair, perturbation, source, perturbed_source, moved (in the perturbed source, as in
    `examples`), reference, hypothesis, perturbed_hypothesis, beta, beta1, beta2.
    """
    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen = None
        for table in _of_kappa(params, language, model, store):
            chosen = _first(params, "flips", [chosen, table[table["beta1"] > table["beta"]]], k)
        frames.append(_with_texts(params, chosen, language, model, store))
    return _together(frames)


def samples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* drawn sentences of every language, model and perturbation, translated.

    Columns as `flip_samples`.
    """
    import pandas as pd

    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen: dict[str, pd.DataFrame] = {}
        for table in _of_kappa(params, language, model, store):
            for name, group in table.groupby("perturbation", sort=False, observed=True):
                chosen[str(name)] = _first(params, "samples", [chosen.get(str(name)), group], k)
        rows = pd.concat(chosen.values()) if chosen else None
        frames.append(_with_texts(params, rows, language, model, store))
    return in_paper_order(_together(frames))


def _of_kappa(params: WordOrderParams, language: str, model: str, store: Store) -> Iterator[pd.DataFrame]:
    for table in perturbed_scores(params, language, model, store):
        yield table[table["metric"] == params.kappa]


def _first(params: WordOrderParams, purpose: str, tables: list[pd.DataFrame | None], k: int) -> pd.DataFrame:
    """The *k* rows of *tables* whose addresses come first, no pair twice: the same whatever the chunks."""
    import pandas as pd

    rows = pd.concat([table for table in tables if table is not None])
    rank = [
        address(params.seed, purpose, str(language), str(model), int(pair), str(name))
        for language, model, pair, name in rows[["language", "model", "pair", "perturbation"]].itertuples(index=False)
    ]
    return rows.assign(rank=rank).sort_values("rank").drop_duplicates("pair").head(k).drop(columns="rank")


def _with_texts(
    params: WordOrderParams, rows: pd.DataFrame | None, language: str, model: str, store: Store
) -> pd.DataFrame:
    """*rows* with their texts; the translations come from the store."""
    if rows is None or rows.empty:
        return frame([], _COLUMNS)
    wanted = set(zip(rows["pair"], rows["perturbation"], strict=True))
    texts = {}
    for start in chunk_starts(int(rows["pair"].max()) + 1):
        if not any(start <= pair < start + CHUNK for pair, _ in wanted):
            continue
        pairs = read_chunk(params, language, start, store)
        for variant in variants(params, pairs, start, params.spacings[0]):
            if (variant.pair, variant.perturbation) in wanted:
                pair = pairs[variant.pair - start]
                moved = _moved(params, pair.source, variant.perturbation, variant.perturbed_source)
                texts[variant.pair, variant.perturbation] = (
                    pair.source.text, variant.perturbed_source, moved, pair.target.text,
                )  # fmt: skip
    found = [texts[key] for key in zip(rows["pair"], rows["perturbation"], strict=True)]
    sources, perturbed_sources, moves, references = (list(part) for part in zip(*found, strict=True))
    plain = per_sentence.translate(params, model, sources, language, store)
    perturbed = per_sentence.translate(params, model, perturbed_sources, language, store)
    return rows.assign(
        source=sources,
        perturbed_source=perturbed_sources,
        moved=moves,
        reference=references,
        hypothesis=plain,
        perturbed_hypothesis=perturbed,
    )[_COLUMNS]


def _moved(params: WordOrderParams, text: Text, perturbation: str, perturbed: str) -> tuple[Span, ...]:
    """What moved in *perturbed*, the main draw of the perturbation of *text*."""
    orders = perturb_text(text, perturbation, seed=params.seed, unit=params.unit, min_tokens=params.min_tokens)
    return () if orders is None else moved_spans(text, orders, perturbed)


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    full = [table for table in frames if len(table)]
    return pd.concat(full, ignore_index=True) if full else frame([], _COLUMNS)
