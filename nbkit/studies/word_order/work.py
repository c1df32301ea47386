"""The word-order study as the batch runner sees it: cells, units of work, and what can be wrong beforehand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nbkit import corpora, models
from nbkit.corpora.corpus import RawCorpus
from nbkit.errors import DataError, NbkitError
from nbkit.metrics import check_metric
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit
from nbkit.studies.devices import no_device
from nbkit.studies.word_order import per_sentence
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.variants import CHUNK, chunk_starts

_HERE = "nbkit.studies.word_order.work"


def cells(params: WordOrderParams) -> list[Cell]:
    """One cell a language and model; none where the run has no models."""
    return [
        Cell(
            label=re.sub(r"[^A-Za-z0-9.]+", "-", f"{language}.{models.label(model)}").strip("-"),
            params=params.narrowed(language, model),
            tags={"language": language, "model": models.label(model), "corpus": params.corpus},
        )
        for language in params.languages
        for model in params.models
    ]


def units(params: WordOrderParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store, in stages: train or download models, read and score texts, translate and score.

    Corpora whose size is asked for, or can be counted without parsing, are cut into chunks. With *count*, each unit
    that reads says how many pairs it scores, each that translates how many texts, and how many are remembered; of a
    corpus that was never read, how many they are at most.
    """
    dump, store = params.model_dump(mode="json"), store or Store()
    work = [
        Unit(f"{'download' if models.is_trained(model, params.source, language) else 'train'} "
             f"{models.label(model)} {language}", f"{_HERE}:ensure_model",
             {"params": dump, "language": language, "model": model}, stage=0)
        for model, language in _not_here(params)
    ]  # fmt: skip
    unread = {language: _unread(params, language, store) for language in params.languages} if count else {}
    for language in params.languages:
        most = unread.get(language)
        texts, stored = (0, 0) if not count else (most, 0) if most else _count_pairs(params, language, store)
        arguments: dict[str, Any] = {"params": dump, "language": language}
        work.append(Unit(f"texts {language}", f"{_HERE}:score_texts", arguments, stage=0, texts=texts, stored=stored))
    for language in params.languages:
        size = params.pairs_wanted(language) or _size(params, language)
        starts = [None] if size is None else list(chunk_starts(size))
        for model in params.models:
            for start in starts:
                arguments = {"params": dump, "language": language, "model": model, "start": start}
                if most := unread.get(language):
                    texts, stored = _most_texts(params, most, start), 0
                else:
                    texts, stored = _count(params, language, model, start, store) if count else (0, 0)
                label = f"translate {models.label(model)} {language}" + ("" if len(starts) == 1 else f" {start}")
                work.append(Unit(label, f"{_HERE}:score_translations", arguments, stage=1, texts=texts, stored=stored))
    return work


def ensure_model(params: Mapping[str, Any], language: str, model: str) -> None:
    """Unit of work: train a model that comes as a recipe, or download one of the hub's, unless it is there."""
    models.ensure_model(model, WordOrderParams(**params).source, language)


def score_texts(params: Mapping[str, Any], language: str) -> int:
    """Unit of work: read, parse and perturb the corpus for one language; α, chance and similarity.

    Returns how many pairs were not scored before, for estimates.
    """
    checked, store = WordOrderParams(**params), Store()
    pairs, stored = _count_pairs(checked, language, store)
    for start in chunk_starts(per_sentence.n_pairs(checked, language, store)):
        per_sentence.difficulty_chunk(checked, language, start, store)
        per_sentence.similarity_chunk(checked, language, start, store)
    return pairs - stored


def score_translations(params: Mapping[str, Any], language: str, model: str, start: int | None) -> int:
    """Unit of work: translate and score one chunk of pairs, or all of them where *start* is None.

    Returns how many texts were translated, so that estimates know the model's speed.
    """
    checked, store = WordOrderParams(**params), Store()
    texts, stored = _count(checked, language, model, start, store)
    for each in _starts(checked, language, start, store):
        per_sentence.behaviour_chunk(checked, language, model, each, store)
    return texts - stored


def _starts(params: WordOrderParams, language: str, start: int | None, store: Store) -> list[int]:
    """The chunk that begins at *start* where the corpus reaches that far; every chunk where *start* is None."""
    available = chunk_starts(per_sentence.n_pairs(params, language, store))
    return [each for each in available if start is None or each == start]


def problems(params: WordOrderParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    found: list[str | None] = [no_device(params.device)] if params.models else []
    if params.n_pairs is None and _is_endless(params.corpus):
        found.append(f"corpus '{params.corpus}' has no last pair: say how many are wanted (n_pairs)")
    for language in params.languages:
        n, parsers = params.pairs_wanted(language), params.parsers or None
        found += corpora.check_corpus(params.corpus, params.source, language, parsers, n=n, on_error=params.on_error)
        for model in params.models:
            found.append(models.check_model(model, params.source, language))
    for name in params.metrics:
        options: Mapping[str, Any] = params.metric_options.get(name, {})
        found.append(check_metric(name, **options))
    return list(dict.fromkeys(problem for problem in found if problem))


def _is_endless(corpus: str) -> bool:
    try:
        return corpora.is_endless(corpus)
    except NbkitError:  # `check_corpus` says what is wrong with it
        return False


def _size(params: WordOrderParams, language: str) -> int | None:
    """How many pairs the corpus holds, where counting takes no parser; None where it would, or it cannot be read."""
    try:
        found, split = corpora.find_corpus(params.corpus)
        if not isinstance(found, RawCorpus):
            return None
        request = corpora.Request(params.source, language, split)
        return sum(not isinstance(pair, DataError) for pair in found.raw_pairs(request)) or None
    except NbkitError:  # the unit that reads it says so, with file and line
        return None


def inputs(params: WordOrderParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: corpus, parsers, metrics' weights, models."""
    found: dict[str, Any] = {}
    for language in params.languages:
        found[language] = {
            "texts": params.language_key(language),
            "metrics": [metric.identity(language) for metric in params.kappas()],
            "models": [params.model_key(language, model) for model in params.models],
        }
    return found


def _not_here(params: WordOrderParams) -> list[tuple[str, str]]:
    """Model and one of its languages for all that has to be trained or downloaded, what serves most languages first.

    A model of many languages takes longest to train: started first, the others fill the time beside it. One of the
    hub's has to be there before it is used, because its revision is part of the keys of what it answers.
    """
    serves: dict[tuple[str, str], list[str]] = {}
    for model in params.models:
        for language in params.languages:
            identity = models.model_identity(model, params.source, language)
            absent = "hub" in identity and identity["weights"] is None
            if absent or not models.is_trained(model, params.source, language):
                serves.setdefault((model, identity.get("hub") or identity["weights"]), []).append(language)
    first = sorted(serves, key=lambda key: -len(serves[key]))
    return [(model, serves[model, source][0]) for model, source in first]


def _count_pairs(params: WordOrderParams, language: str, store: Store) -> tuple[int, int]:
    """Pairs of the corpus, and how many of them are scored as far as no model is needed."""
    n = per_sentence.n_pairs(params, language, store)
    sizes = {start: min(CHUNK, n - start) for start in chunk_starts(n)}
    return n, sum(size for start, size in sizes.items() if per_sentence.is_scored(params, language, start, store))


def _unread(params: WordOrderParams, language: str, store: Store) -> int | None:
    """How many pairs a corpus has at most that was never read, without parsing it; None where it has to be, or was."""
    if per_sentence.is_counted(params, language, store):
        return None
    sizes = [size for size in (params.pairs_wanted(language), _size(params, language)) if size is not None]
    return min(sizes, default=None)


def _most_texts(params: WordOrderParams, n_pairs: int, start: int | None) -> int:
    """How many texts *n_pairs*, or the chunk of them that begins at *start*, are if every perturbation applies."""
    pairs = n_pairs if start is None else max(0, min(CHUNK, n_pairs - start))
    return pairs * (1 + len(params.spacings) * (1 + len(params.perturbation_names)))


def _count(params: WordOrderParams, language: str, model: str, start: int | None, store: Store) -> tuple[int, int]:
    """The texts of the chunk that begins at *start* (of all chunks where it is None), and how many are translated."""
    starts = _starts(params, language, start, store)
    texts = dict.fromkeys(text for each in starts for text in per_sentence.texts_chunk(params, language, each, store))
    config = models.translation_config(
        model, params.source, language, params.decoding, device=params.device, dtype=params.dtype
    )
    return len(texts), len(texts) - len(store.missing(config, [(text,) for text in texts]))
