"""Pairs of one language and their perturbed variants, chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit import corpora
from nbkit.corpora import OnError, Pair, Skipped, corpus_identity, load_pairs
from nbkit.errors import NbkitError
from nbkit.fingerprint import digest
from nbkit.measure import Kappa
from nbkit.measure.statistics import StreamedBootstrap
from nbkit.models import ensure_model, translate_remembered
from nbkit.models import label as model_label
from nbkit.models.lifecycle import with_revision
from nbkit.perturb import CONTROL, PERTURBATIONS, is_drawn, perturb_all
from nbkit.store import Store
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.text.sentences import Spacing, Text

if TYPE_CHECKING:
    import pandas as pd

#: Pairs handled, and remembered, at a time: memory does not grow with the corpus.
CHUNK = 1000


@dataclass(frozen=True)
class Variant:
    """One pair under one perturbation; both sides could be perturbed, so it is part of N.

    pair: index of the pair in the corpus. second_draw: the reference under an independent draw of the same
    perturbation, None where the perturbation draws nothing, or has one outcome for this reference (two verbs to swap).
    """

    pair: int
    perturbation: str
    perturbed_source: str
    perturbed_reference: str
    second_draw: str | None


def chunk_starts(n_pairs: int) -> range:
    """Where the chunks of a corpus of *n_pairs* begin.

    >>> list(chunk_starts(2500))
    [0, 1000, 2000]
    """
    return range(0, n_pairs, CHUNK)


def read_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> Sequence[Pair]:
    """The pairs ``start … start + CHUNK - 1`` of the corpus, parsed; kept for the next call."""
    wanted = params.pairs_wanted(language)
    stop = start + CHUNK if wanted is None else min(start + CHUNK, wanted)
    parsers = tuple(sorted(params.parsers.items()))
    # A file that is edited while a kernel runs has the same name and other pairs.
    content = json.dumps(corpus_identity(params.corpus, params.source, language, parsers=params.parsers or None))
    return _read(params.corpus, params.source, language, parsers, params.on_error, start, stop, store.url, content)


@lru_cache(maxsize=2)
def _read(
    corpus: str, source: str, language: str, parsers: tuple[tuple[str, str], ...], on_error: OnError,
    start: int, stop: int, store_url: str, content: str,
) -> tuple[Pair, ...]:  # fmt: skip
    pairs = load_pairs(
        corpus, source, language, n=stop - start, start=start, parsers=dict(parsers) or None,
        on_error=on_error, skipped=Skipped(), store=Store(store_url),
    )  # fmt: skip
    return tuple(pairs)


def variants(
    params: WordOrderParams, pairs: Sequence[Pair], start: int, spacing: Spacing = "joined"
) -> Iterator[Variant]:
    """The control and every perturbation of every pair in which both sides can be perturbed.

    Source and reference are perturbed by independent draws, as in the paper (§6.1).
    """
    names = params.perturbation_names
    drawing = [name for name in names if PERTURBATIONS.get(name).random]
    for index, pair in enumerate(pairs, start):
        if min(len(pair.source), len(pair.target)) < params.min_tokens:
            continue
        yield Variant(index, CONTROL, _control(pair.source, spacing), _control(pair.target, spacing), None)
        sources = _perturbed(params, pair.source, names, 0, spacing)
        references = _perturbed(params, pair.target, names, 0, spacing)
        second = _perturbed(params, pair.target, [name for name in drawing if name in references], 1, spacing)
        for name in [name for name, drawn in second.items() if drawn == references[name]]:
            if not is_drawn(pair.target, name, seed=params.seed, unit=params.unit):
                del second[name]
        for name in names:
            if name in sources and name in references:
                yield Variant(index, name, sources[name], references[name], second.get(name))


def _perturbed(
    params: WordOrderParams, text: Text, names: Sequence[str], draw: int, spacing: Spacing
) -> dict[str, str]:
    """*text* under each of the perturbations that apply to it."""
    orders = perturb_all(text, names, seed=params.seed, draw=draw, unit=params.unit, min_tokens=params.min_tokens)
    return {name: text.reorder(order, spacing) for name, order in orders.items() if order is not None}


def _control(text: Text, spacing: Spacing) -> str:
    return text.joined if spacing == "joined" else text.text


# ----------------------------------------------------------------------------
# Per-sentence scores of the word-order study: computed chunk by chunk, remembered, never averaged here.
#
# Two tables a chunk of pairs. *Difficulty* needs no model: α on both sides and the chance level. *Behaviour*
# needs translations: β, β1 (robustness), β2 (faithfulness). §3 of the paper:
#
#     β  = κ(g_o, t_o)      translation of the source against the reference
#     β1 = κ(g_o, t_o⁻)     translation of the perturbed source against the reference
#     β2 = κ(g_o⁻, t_o⁻)    ... against the equally perturbed reference
#     α  = κ(g, g⁻)         a text against itself perturbed

_SCORE_COLUMNS = ["language", "model", "pair", "perturbation", "category", "spacing", "metric", "length",
                  "beta", "beta1", "beta2", "alpha_source", "alpha_target", "chance"]  # fmt: skip


def n_pairs(params: WordOrderParams, language: str, store: Store | None = None) -> int:
    """How many usable pairs the corpus holds for *language*, counted once and remembered.

    Raises `NbkitError` where it holds none: there is nothing to study.
    """
    n = int(extent(params, language, store)["n_pairs"].iloc[0])
    if n == 0:
        raise NbkitError(f"corpus '{params.corpus}' holds no usable pair {params.source}-{language}")
    return n


def extent(params: WordOrderParams, language: str, store: Store | None = None) -> pd.DataFrame:
    """Pairs used and left out, by reason: columns n_pairs, reason, n, example."""
    store = store or Store()

    def compute() -> pd.DataFrame:
        import pandas as pd

        skipped, short, total = corpora.Skipped(), [], 0
        for pair in corpora.load_pairs(
            params.corpus, params.source, language, n=params.pairs_wanted(language), parsers=params.parsers or None,
            on_error=params.on_error, skipped=skipped, store=store,
        ):  # fmt: skip
            total += 1
            if min(len(pair.source), len(pair.target)) < params.min_tokens:
                short.append(pair.id)
        reasons = [
            ("malformed line skipped", len(skipped), skipped.summary() if len(skipped) else ""),
            (f"a side shorter than {params.min_tokens} tokens", len(short), ", ".join(short[:3])),
        ]
        return pd.DataFrame([(total, *reason) for reason in reasons], columns=["n_pairs", "reason", "n", "example"])

    return store.table(config("extent", params, language), compute)


def difficulty_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """α and chance level of one chunk: one row a pair, perturbation and metric.

    Columns: pair, perturbation, metric, length (source tokens), alpha_source, alpha_target, chance
    (κ of two independent draws on the reference; NaN where the reference has one outcome, as two verbs to swap do).
    """

    def compute() -> pd.DataFrame:
        pairs = read_chunk(params, language, start, store)
        rows = list(variants(params, pairs, start))
        drawn = [variant for variant in rows if variant.second_draw is not None]
        tables = []
        for metric in params.kappas():
            table = _keys(rows, metric)
            table["length"] = [len(pairs[v.pair - start].source) for v in rows]
            table["alpha_source"] = metric.scores(
                [v.perturbed_source for v in rows],
                [pairs[v.pair - start].source.text for v in rows],
                params.source,
            )
            table["alpha_target"] = metric.scores(
                [v.perturbed_reference for v in rows], [pairs[v.pair - start].target.text for v in rows], language
            )
            chance = metric.scores(
                [v.second_draw or "" for v in drawn], [v.perturbed_reference for v in drawn], language
            )
            by_row = dict(zip(map(id, drawn), chance, strict=True))
            table["chance"] = [by_row.get(id(v), float("nan")) for v in rows]
            tables.append(table)
        return _stack(tables)

    return store.table(config("difficulty", params, language, start=start), compute)


def behaviour_chunk(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> pd.DataFrame:
    """β, β1 and β2 of one chunk: one row a pair, perturbation, spacing and metric.

    Columns: pair, perturbation, spacing, metric, beta, beta1, beta2 (β2 of the control is κ against the
    re-joined reference, which no κ of nbkit can tell from the reference).
    """

    def compute() -> pd.DataFrame:
        pairs = read_chunk(params, language, start, store)
        references = [pair.target.text for pair in pairs]
        plain = translate(params, model, [pair.source.text for pair in pairs], language, store)
        tables = []
        for spacing in params.spacings:
            rows = list(variants(params, pairs, start, spacing))
            hypotheses = translate(params, model, [v.perturbed_source for v in rows], language, store)
            for metric in params.kappas():
                beta = metric.scores(plain, references, language)
                table = _keys(rows, metric)
                table["spacing"] = spacing
                table["beta"] = [beta[v.pair - start] for v in rows]
                table["beta1"] = metric.scores(hypotheses, [references[v.pair - start] for v in rows], language)
                table["beta2"] = metric.scores(hypotheses, [v.perturbed_reference for v in rows], language)
                tables.append(table)
        return _stack(tables)

    key = model_key(params, language, model)
    return store.table(config("behaviour", params, language, start=start, **key), compute)


def similarity_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """κ between the perturbations of the same text (Figures 5 and 14), for metrics that cost little.

    Columns: pair, side ("source" or "target"), metric, perturbation_a, perturbation_b, kappa; one row each unordered
    pair of perturbations that apply to the same text.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        grouped: dict[int, list[Variant]] = {}
        for variant in variants(params, read_chunk(params, language, start, store), start):
            if variant.perturbation != CONTROL:
                grouped.setdefault(variant.pair, []).append(variant)
        two = [pair for group in grouped.values() for pair in combinations(group, 2)]
        tables = []
        for side, lang in (("source", params.source), ("target", language)):
            for metric in params.kappas():
                if hasattr(metric, "problem"):  # has weights: too slow for every pair of perturbations
                    continue
                kappa = metric.scores([_side(b, side) for _, b in two], [_side(a, side) for a, _ in two], lang)
                table = pd.DataFrame({
                    "pair": [a.pair for a, _ in two],
                    "side": side,
                    "metric": metric.name,
                    "perturbation_a": [a.perturbation for a, _ in two],
                    "perturbation_b": [b.perturbation for _, b in two],
                    "kappa": kappa,
                })  # fmt: skip
                tables.append(_as_categories(table, params))
        return _stack(tables) if tables else pd.DataFrame()

    return store.table(config("similarity", params, language, start=start), compute)


def is_scored(params: WordOrderParams, language: str, start: int, store: Store) -> bool:
    """Whether what needs no model, `difficulty_chunk` and `similarity_chunk`, is remembered of a chunk."""

    kept = (store.table_rows(config(kind, params, language, start=start)) for kind in ("difficulty", "similarity"))
    return None not in kept


def is_counted(params: WordOrderParams, language: str, store: Store) -> bool:
    """Whether `n_pairs` is remembered; else it reads the corpus, and may have to parse it."""
    return store.table_rows(config("extent", params, language)) is not None


def texts_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> list[str]:
    """The distinct texts of one chunk that each model is asked to translate: as they are, and under every variant.

    Remembered, because it is asked for beforehand (how many are translated already) once a model.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = read_chunk(params, language, start, store)
        texts = [pair.source.text for pair in pairs]
        for spacing in params.spacings:
            texts += [variant.perturbed_source for variant in variants(params, pairs, start, spacing)]
        return pd.DataFrame({"text": list(dict.fromkeys(texts))})

    key = config("texts", params, language, start=start, spacings=list(params.spacings))
    return store.table(key, compute)["text"].tolist()


def translate(params: WordOrderParams, model: str, texts: Sequence[str], language: str, store: Store) -> list[str]:
    """Translations of *texts*, each distinct text translated once ever with these settings."""
    return translate_remembered(
        model, texts, params.source, language, params.decoding,
        store=store, device=params.device, dtype=params.dtype,
    )  # fmt: skip


def score_chunk(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> pd.DataFrame:
    """Every score of one chunk under one model: the rows of `scores` that belong to it, same columns."""
    base = difficulty_chunk(params, language, start, store)
    ours = behaviour_chunk(params, language, model, start, store)
    merged = ours.merge(base, on=["pair", "perturbation", "metric"], validate="many_to_one")
    merged = merged.sort_values("pair", kind="stable")  # the same rows whatever the size of a chunk
    return _compact(merged.assign(language=language, model=model_label(model)), params)[_SCORE_COLUMNS]


def scores(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Every per-sentence score of the run: one row a language, model, pair, perturbation, spacing and metric.

    Columns: language, model, pair, perturbation, category, spacing, metric, length, beta, beta1, beta2,
    alpha_source, alpha_target, chance. It holds the whole grid, about 60 bytes a row; `score_chunk` streams.
    """
    import pandas as pd

    store = store or Store()
    frames = [
        score_chunk(params, language, model, start, store)
        for language in params.languages
        for model in params.models
        for start in chunk_starts(n_pairs(params, language, store))
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_SCORE_COLUMNS)


def difficulties(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Per-sentence α and chance of the run; needs no model. Columns as `difficulty_chunk`, plus language, category.

    It holds all languages; `difficulty_chunk` streams.
    """
    import pandas as pd

    store = store or Store()
    frames = [
        _compact(difficulty_chunk(params, language, start, store).assign(language=language), params)
        for language in params.languages
        for start in chunk_starts(n_pairs(params, language, store))
    ]
    return pd.concat(frames, ignore_index=True)


def _compact(table: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """*table* with its category, in a third of the memory."""
    return _as_categories(with_category(table).astype({"pair": "int32", "length": "int32"}), params)


def _as_categories(table: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """*table* with names as categories that are the same in every chunk."""
    import pandas as pd

    perturbations = [CONTROL, *params.perturbation_names]
    names: dict[str, list[str]] = {
        "language": params.languages,
        "model": [model_label(model) for model in params.models],
        "perturbation": perturbations,
        "perturbation_a": perturbations,
        "perturbation_b": perturbations,
        "category": [CONTROL, *dict.fromkeys(PERTURBATIONS.get(n).category for n in params.perturbation_names)],
        "spacing": [*params.spacings],
        "side": ["source", "target"],
        "metric": params.metrics,
    }
    types: dict[str, Any] = {column: pd.CategoricalDtype(values) for column, values in names.items()}
    return table.astype({column: dtype for column, dtype in types.items() if column in table})


def with_category(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with the category (tree, pos, random, control) of its column perturbation."""
    categories = {
        name: CONTROL if name == CONTROL else PERTURBATIONS.get(name).category
        for name in table["perturbation"].unique()
    }
    return table.assign(category=table["perturbation"].map(categories))


def model_key(params: WordOrderParams, language: str, model: str) -> Mapping[str, Any]:
    """The model's part of a key; one of the hub's is downloaded first, as only then its revision is known."""
    return with_revision(
        lambda: dict(params.model_key(language, model)), lambda: ensure_model(model, params.source, language)
    )


def config(kind: str, params: WordOrderParams, language: str, *, code: str = __name__, **more: Any) -> dict[str, Any]:
    """The store key of one remembered table. code: the module that makes it."""
    metrics = (
        {} if kind in ("extent", "texts") else {"metrics": [metric.identity(language) for metric in params.kappas()]}
    )
    return {
        "kind": f"word_order.{kind}",
        "code": digest("nbkit.perturb", code),
        "chunk": CHUNK,
        **params.language_key(language),
        **metrics,
        **more,
    }


def _keys(rows: Sequence[Variant], metric: Kappa) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame({"pair": [v.pair for v in rows], "perturbation": [v.perturbation for v in rows]})
    return table.assign(metric=metric.name)


def _stack(tables: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _side(variant: Variant, side: str) -> str:
    return variant.perturbed_source if side == "source" else variant.perturbed_reference


# ----------------------------------------------------------------------------
# Sums of one language and model at a time, with their bootstrap resamples: what the tables are made of.
#
# A grid does not fit in memory, and neither need a corpus: the scores of a block, a language under one model,
# are read chunk by chunk, and what stays of them are sums and counts of every quantity, in every resample of
# the sentence pairs. Blocks are remembered; means, shares and what is pooled over blocks follow from them
# (`tables`).

_THIS = "nbkit.studies.word_order.steps"


#: The threshold of `flip_criteria`, read off the printed samples.
INFERRED = 0.5


@dataclass(frozen=True)
class Block:
    """The quantities of one block, and what is known of each.

    quantities: one row each, such as language, model, metric, spacing, perturbation, score.
    totals, counts: sum and number of its values. total_draws, count_draws: the same in every resample of the
    pairs, quantities × resamples; resamples of blocks belong together, pair by pair.
    """

    quantities: pd.DataFrame
    totals: np.ndarray
    counts: np.ndarray
    total_draws: np.ndarray
    count_draws: np.ndarray

    def where(self, chosen: pd.Series | np.ndarray) -> Block:
        """The quantities for which *chosen* is true."""
        keep = np.asarray(chosen, dtype=bool)
        return Block(
            self.quantities[keep].reset_index(drop=True),
            *(part[keep] for part in (self.totals, self.counts, self.total_draws, self.count_draws)),
        )


def score_blocks(params: WordOrderParams, store: Store | None = None) -> Iterator[Block]:
    """β, β1, β2, chance, β1 − β2 and flips, a block a language and model.

    Quantities: language, model, metric, spacing, perturbation, score ("beta", "beta1", "beta2", "chance",
    "difference", "flip", "flip_inferred": see `flip_criteria`).
    """
    store = store or Store()
    for language in params.languages:
        for model in params.models:
            block = _remembered(
                config("score_sums", params, language, code=_THIS, **model_key(params, language, model)),
                lambda language=language, model=model: _score_sums(params, language, model, store),
                store,
            )
            yield _labelled(block, language=language, model=model_label(model))


def difficulty_blocks(params: WordOrderParams, store: Store | None = None) -> Iterator[Block]:
    """α of both sides, a block a language.

    Quantities: language, metric, perturbation, score ("alpha_source", "alpha_target").
    """
    store = store or Store()
    for language in params.languages:
        block = _remembered(
            config("difficulty_sums", params, language, code=_THIS),
            lambda language=language: _difficulty_sums(params, language, store),
            store,
        )
        yield _labelled(block, language=language)


def similarity_blocks(params: WordOrderParams, store: Store | None = None) -> Iterator[Block]:
    """κ between perturbations of the same text, a block a language.

    Quantities: language, side, metric, perturbation_a, perturbation_b (each unordered pair once).
    """
    store = store or Store()
    for language in params.languages:
        block = _remembered(
            config("similarity_sums", params, language, code=_THIS),
            lambda language=language: _similarity_sums(params, language, store),
            store,
        )
        yield _labelled(block, language=language)


def perturbed_scores(params: WordOrderParams, language: str, model: str, store: Store) -> Iterator[pd.DataFrame]:
    """The scores that the main figures show, chunk by chunk: perturbed sentences in the first spacing of the run."""
    for start in chunk_starts(n_pairs(params, language, store)):
        table = score_chunk(params, language, model, start, store)
        yield table[(table["spacing"] == params.spacings[0]) & (table["perturbation"] != CONTROL)]


def flip_criteria(scores: pd.DataFrame) -> dict[str, pd.Series]:
    """Whether each row of *scores* (columns beta and beta1) is a flip, by both criteria.

    flip: β₁ > β, as the word-order paper words it (§7). flip_inferred: β ≤ ½ < β₁, which is inferred: the research code
    holds no criterion, all 75 printed samples have β ≤ ½ and all but one β₁ > ½, and only so are flips as rare as
    printed.
    """
    return {
        "flip": scores["beta1"] > scores["beta"],
        "flip_inferred": (scores["beta"] <= INFERRED) & (scores["beta1"] > INFERRED),
    }


def _score_sums(params: WordOrderParams, language: str, model: str, store: Store) -> pd.DataFrame:
    scores = ["beta", "beta1", "beta2", "chance", "difference", "flip", "flip_inferred"]
    names = [CONTROL, *params.perturbation_names]
    sums = _Sums(params.seed, metric=params.metrics, spacing=params.spacings, perturbation=names, score=scores)
    for start in chunk_starts(n_pairs(params, language, store)):
        table = score_chunk(params, language, model, start, store)
        flips = {name: flipped.astype(float) for name, flipped in flip_criteria(table).items()}
        sums.add(table.assign(difference=table["beta1"] - table["beta2"], **flips), scores)
    return sums.table()


def _difficulty_sums(params: WordOrderParams, language: str, store: Store) -> pd.DataFrame:
    scores = ["alpha_source", "alpha_target"]
    sums = _Sums(params.seed, metric=params.metrics, perturbation=params.perturbation_names, score=scores)
    for start in chunk_starts(n_pairs(params, language, store)):
        table = difficulty_chunk(params, language, start, store)
        sums.add(table[table["perturbation"] != CONTROL], scores)
    return sums.table()


def _similarity_sums(params: WordOrderParams, language: str, store: Store) -> pd.DataFrame:
    names = params.perturbation_names
    sums = _Sums(
        params.seed, side=["source", "target"], metric=params.metrics, perturbation_a=names, perturbation_b=names,
        score=["kappa"],
    )  # fmt: skip
    for start in chunk_starts(n_pairs(params, language, store)):
        sums.add(similarity_chunk(params, language, start, store), ["kappa"])
    return sums.table().drop(columns="score")


class _Sums:
    """A `StreamedBootstrap` whose quantities are the combinations of named values, the score innermost."""

    def __init__(self, seed: int, **axes: Sequence[str]):
        self._axes = axes
        self._sizes = [len(values) for values in axes.values()]
        self._stream = StreamedBootstrap(int(np.prod(self._sizes)), seed=seed)

    def add(self, table: pd.DataFrame, scores: Sequence[str]) -> None:
        """Add the columns *scores* of *table*, which has a column pair and one for each axis but the score."""
        import pandas as pd

        if table.empty:
            return
        codes = [
            pd.Index(list(values)).get_indexer(pd.Index(table[name].astype(str)))
            for name, values in self._axes.items()
            if name != "score"
        ]
        first = np.ravel_multi_index([*codes, np.zeros(len(table), dtype=np.int64)], self._sizes)
        self._stream.add(
            np.tile(table["pair"].to_numpy(), len(scores)),
            np.concatenate([first + number for number in range(len(scores))]),
            table[list(scores)].to_numpy(dtype=float).ravel(order="F"),
        )

    def table(self) -> pd.DataFrame:
        """The quantities that have values, with their sums, as a table that the store keeps."""
        import pandas as pd

        # Single precision is far finer than what 999 resamples tell, and half the bytes.
        total_draws, count_draws = (
            list(draws.astype(np.float32)) for draws in (self._stream.total_draws, self._stream.count_draws)
        )
        names = pd.MultiIndex.from_product(list(self._axes.values()), names=list(self._axes)).to_frame(index=False)
        table = names.assign(
            total=self._stream.totals,
            count=self._stream.counts,
            total_draws=total_draws,
            count_draws=count_draws,
        )
        return table[table["count"] > 0]


def _remembered(config: dict[str, Any], compute: Any, store: Store) -> Block:
    table = store.table(config, compute).reset_index(drop=True)
    draws = [
        np.stack(table[name].to_list()).astype(float) if len(table) else np.zeros((0, 0))
        for name in ("total_draws", "count_draws")
    ]
    quantities = table.drop(columns=["total", "count", "total_draws", "count_draws"])
    return Block(quantities, table["total"].to_numpy(), table["count"].to_numpy(), *draws)


def _labelled(block: Block, **labels: str) -> Block:
    columns = [*labels, *block.quantities.columns]
    return Block(
        block.quantities.assign(**labels)[columns],
        block.totals, block.counts, block.total_draws, block.count_draws,
    )  # fmt: skip
