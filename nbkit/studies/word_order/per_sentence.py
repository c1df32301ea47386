"""Per-sentence scores of the word-order study: computed chunk by chunk, remembered, never averaged here.

Two tables a chunk of pairs. *Difficulty* needs no model: α on both sides and the chance level.
*Behaviour* needs translations: β, β1 (robustness), β2 (faithfulness). §3 of the paper:

    β  = κ(g_o, t_o)      translation of the source against the reference
    β1 = κ(g_o, t_o⁻)     translation of the perturbed source against the reference
    β2 = κ(g_o⁻, t_o⁻)    ... against the equally perturbed reference
    α  = κ(g, g⁻)         a text against itself perturbed
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from nbkit import corpora
from nbkit.errors import NbkitError
from nbkit.fingerprint import fingerprint
from nbkit.metrics import Kappa
from nbkit.models import ensure_model, translate_remembered
from nbkit.perturb import CONTROL, PERTURBATIONS
from nbkit.store import Store
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.variants import CHUNK, Variant, chunk_starts, read_chunk, variants

if TYPE_CHECKING:
    import pandas as pd


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
            params.corpus, params.source, language, n=params.n_pairs, parsers=params.parsers or None,
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

    return store.table(_config("extent", params, language), compute)


def difficulty_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """α and chance level of one chunk: one row a pair, perturbation and metric.

    Columns: pair, perturbation, metric, length (source tokens), alpha_source, alpha_target, chance
    (κ of two independent draws on the reference; NaN where the perturbation draws nothing).
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

    return store.table(_config("difficulty", params, language, start=start), compute)


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

    key = _model_key(params, language, model)
    return store.table(_config("behaviour", params, language, start=start, **key), compute)


def similarity_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """Sums of κ between the perturbations of the same text (Figures 5 and 14), for metrics that cost little.

    Columns: side ("source" or "target"), metric, perturbation_a, perturbation_b, total, n; each unordered
    pair of perturbations once, over the texts to which both apply.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        rows = list(variants(params, read_chunk(params, language, start, store), start))
        grouped: dict[int, list[Variant]] = {}
        for variant in rows:
            if variant.perturbation != CONTROL:
                grouped.setdefault(variant.pair, []).append(variant)
        records = []
        for side, lang in (("source", params.source), ("target", language)):
            names, left, right = [], [], []
            for group in grouped.values():
                for i, a in enumerate(group):
                    for b in group[i + 1 :]:
                        names.append((a.perturbation, b.perturbation))
                        left.append(_side(a, side))
                        right.append(_side(b, side))
            for metric in params.kappas():
                if hasattr(metric, "problem"):  # has weights: too slow for every pair of perturbations
                    continue
                table = pd.DataFrame(names, columns=["perturbation_a", "perturbation_b"])
                table["kappa"] = metric.scores(right, left, lang)
                sums = table.groupby(["perturbation_a", "perturbation_b"], sort=False)["kappa"].agg(["sum", "count"])
                sums = sums.reset_index().rename(columns={"sum": "total", "count": "n"})
                records.append(sums.assign(side=side, metric=metric.name))
        return pd.concat(records, ignore_index=True) if records else pd.DataFrame()

    return store.table(_config("similarity", params, language, start=start), compute)


def translate(params: WordOrderParams, model: str, texts: Sequence[str], language: str, store: Store) -> list[str]:
    """Translations of *texts*, each distinct text translated once ever with these settings."""
    return translate_remembered(
        model, texts, params.source, language, params.decoding,
        store=store, device=params.device, dtype=params.dtype,
    )  # fmt: skip


def scores(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Every per-sentence score of the run: one row a language, model, pair, perturbation, spacing and metric.

    Columns: language, model, pair, perturbation, category, spacing, metric, length, beta, beta1, beta2,
    alpha_source, alpha_target, chance.
    """
    import pandas as pd

    from nbkit.models import label as model_label

    columns = ["language", "model", "pair", "perturbation", "category", "spacing", "metric", "length",
               "beta", "beta1", "beta2", "alpha_source", "alpha_target", "chance"]  # fmt: skip
    store = store or Store()
    frames = []
    for language in params.languages:
        starts = chunk_starts(n_pairs(params, language, store))
        for model in params.models:
            for start in starts:
                base = difficulty_chunk(params, language, start, store)
                ours = behaviour_chunk(params, language, model, start, store)
                merged = ours.merge(base, on=["pair", "perturbation", "metric"], validate="many_to_one")
                merged = merged.sort_values("pair", kind="stable")  # the same rows whatever the size of a chunk
                frames.append(_compact(merged.assign(language=language, model=model_label(model)), params)[columns])
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def difficulties(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Per-sentence α and chance of the run; needs no model. Columns as `difficulty_chunk`, plus language, category."""
    import pandas as pd

    store = store or Store()
    frames = [
        _compact(difficulty_chunk(params, language, start, store).assign(language=language), params)
        for language in params.languages
        for start in chunk_starts(n_pairs(params, language, store))
    ]
    return pd.concat(frames, ignore_index=True)


def _compact(table: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """*table* with its category, in a third of the memory: names as categories that are the same in every chunk."""
    import pandas as pd

    from nbkit.models import label as model_label

    names: dict[str, list[str]] = {
        "language": params.languages,
        "model": [model_label(model) for model in params.models],
        "perturbation": [CONTROL, *params.perturbation_names],
        "category": [CONTROL, *dict.fromkeys(PERTURBATIONS.get(n).category for n in params.perturbation_names)],
        "spacing": [*params.spacings],
        "metric": params.metrics,
    }
    types: dict[str, Any] = {column: pd.CategoricalDtype(values) for column, values in names.items()}
    types |= {"pair": "int32", "length": "int32"}
    table = with_category(table)
    return table.astype({column: dtype for column, dtype in types.items() if column in table})


def with_category(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with the category (tree, pos, random, control) of its column perturbation."""
    categories = {
        name: CONTROL if name == CONTROL else PERTURBATIONS.get(name).category
        for name in table["perturbation"].unique()
    }
    return table.assign(category=table["perturbation"].map(categories))


def _model_key(params: WordOrderParams, language: str, model: str) -> Mapping[str, Any]:
    """The model's part of a key; one of the hub's is downloaded first, as only then its revision is known."""
    key = params.model_key(language, model)
    identity = key.get("model", {})
    if "hub" in identity and identity["weights"] is None:
        ensure_model(model, params.source, language)
        key = params.model_key(language, model)
    return key


def _config(kind: str, params: WordOrderParams, language: str, **more: Any) -> dict[str, Any]:
    """The store key of one remembered table."""
    metrics = {} if kind == "extent" else {"metrics": [metric.identity(language) for metric in params.kappas()]}
    return {
        "kind": f"word_order.{kind}",
        "code": _code(),
        "chunk": CHUNK,
        **params.language_key(language),
        **metrics,
        **more,
    }


@cache
def _code() -> str:
    """Digest of the sources behind these tables, so that tables of older definitions are not taken for these.

    Without the models' room: what comes from there has keys of its own.
    """
    sources = fingerprint(["nbkit.perturb", "nbkit.studies.word_order.per_sentence"]).sources
    relevant = sorted(item for item in sources.items() if not item[0].startswith(("nbkit/models/", "nbkit/store/")))
    return hashlib.blake2b(repr(relevant).encode(), digest_size=8).hexdigest()


def _keys(rows: Sequence[Variant], metric: Kappa) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame({"pair": [v.pair for v in rows], "perturbation": [v.perturbation for v in rows]})
    return table.assign(metric=metric.name)


def _stack(tables: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def _side(variant: Variant, side: str) -> str:
    return variant.perturbed_source if side == "source" else variant.perturbed_reference
