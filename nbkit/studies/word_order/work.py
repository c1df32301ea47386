"""The word-order study as the batch runner sees it: cells, units of work, and what can be wrong beforehand."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nbkit import corpora, models
from nbkit.corpora.corpus import RawCorpus
from nbkit.errors import DataError, NbkitError
from nbkit.measure import check_metric
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit, cell_label, no_device
from nbkit.studies.word_order import steps
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.steps import CHUNK, chunk_starts, read_chunk

_HERE = "nbkit.studies.word_order.work"
#: Texts that one unit translates at most, on average: some minutes of work, many times what loading a model takes.
PART_TEXTS = 4000
#: Chunks whose texts are parted together, so that one that stands in several is translated once.
SPAN = 16


def cells(params: WordOrderParams) -> list[Cell]:
    """One cell a language and model; none where the run has no models."""
    return [
        Cell(
            label=cell_label(language, models.label(model)),
            params=params.narrowed(language, model),
            tags={"language": language, "model": models.label(model), "corpus": params.corpus},
        )
        for language in params.languages
        for model in params.models
    ]


def units(params: WordOrderParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store, in stages: train or download models, read texts; translate; score; sum.

    Corpora whose size is asked for, or can be counted without parsing, are cut: reading and scoring into chunks of
    pairs, translating into parts of the distinct texts, so that no two units translate the same one. With *count*,
    each unit that reads says how many pairs it scores, each that translates how many texts, and how many are
    remembered; of a corpus that was never read, how many they are at most.
    """
    dump, store = params.model_dump(mode="json"), store or Store()
    work = [
        Unit(f"{'download' if models.is_trained(model, params.source, language) else 'train'} "
             f"{models.label(model)} {language}", f"{_HERE}:ensure_model",
             {"params": dump, "language": language, "model": model}, stage=0)
        for model, language in _not_here(params)
    ]  # fmt: skip
    sizes = {language: params.pairs_wanted(language) or _size(params, language) for language in params.languages}
    unread = {language: _unread(params, language, store) for language in params.languages} if count else {}
    for language, size in sizes.items():
        for start in _cuts(size):
            arguments: dict[str, Any] = {"params": dump, "language": language, "start": start}
            reads = Unit(_named(f"texts {language}", start), f"{_HERE}:score_texts", arguments, stage=0)
            if count:
                most = unread[language]
                texts, stored = (_within(most, start), 0) if most else _count_pairs(params, language, start, store)
                reads = replace(reads, texts=texts, stored=stored)
            work.append(reads)
        if size is not None and size > CHUNK:
            arguments = {"params": dump, "language": language}
            work.append(Unit(f"sums of texts {language}", f"{_HERE}:sum_texts", arguments, stage=1))
    # A model of many languages stays loaded where it is: its languages come one after the other.
    for model in params.models:
        for language, size in sizes.items():
            name, of = f"{models.label(model)} {language}", {"params": dump, "language": language, "model": model}
            for start, part, parts in _parts(params, size):
                shown = f"{part + 1}/{parts}" if parts > 1 else None
                label = _named(_named(f"translate {name}", start), shown)
                arguments = {**of, "start": start, "part": part, "parts": parts}
                translates = Unit(label, f"{_HERE}:translate_texts", arguments, stage=1)
                if count:
                    most = unread[language]
                    if most:
                        texts, stored = _most_texts(params, _within(most, start, SPAN)) // parts, 0
                    else:
                        wanted = _texts(params, language, start, part, parts, store)
                        texts, stored = len(wanted), _translated(params, language, model, wanted, store)
                    translates = replace(translates, texts=texts, stored=stored)
                work.append(translates)
            for start in _cuts(size):
                arguments = {**of, "start": start}
                label = _named(f"score {name}", start)
                work.append(Unit(label, f"{_HERE}:score_translations", arguments, stage=2, only_scores=True))
            if size is not None and size > CHUNK:  # of one chunk, pages are as quick
                work.append(Unit(f"sums of {name}", f"{_HERE}:sum_scores", of, stage=3, only_scores=True))
    return work


def _named(what: str, cut: int | str | None) -> str:
    return what if cut is None else f"{what} {cut}"


def ensure_model(params: Mapping[str, Any], language: str, model: str) -> None:
    """Unit of work: train a model that comes as a recipe, or download one of the hub's, unless it is there."""
    models.ensure_model(model, WordOrderParams(**params).source, language)


def score_texts(params: Mapping[str, Any], language: str, start: int | None) -> int:
    """Unit of work: read, parse and perturb one chunk of pairs, or all of them where *start* is None.

    α, chance, similarity, and the texts to translate. Returns how many pairs were not scored before, for estimates.
    """
    checked, store = WordOrderParams(**params), Store()
    n = 0
    for each in _starts(checked, language, start, store):
        if not steps.is_scored(checked, language, each, store):
            n += len(read_chunk(checked, language, each, store))
        steps.difficulty_chunk(checked, language, each, store)
        steps.similarity_chunk(checked, language, each, store)
        if checked.models:
            steps.texts_chunk(checked, language, each, store)
    return n


def sum_texts(params: Mapping[str, Any], language: str) -> None:
    """Unit of work: how many pairs there are, and sums over them, from what was read before."""
    alone, store = WordOrderParams(**params).narrowed(language), Store()
    steps.n_pairs(alone, language, store)
    for _ in (*steps.difficulty_blocks(alone, store), *steps.similarity_blocks(alone, store)):
        pass


def translate_texts(
    params: Mapping[str, Any], language: str, model: str, start: int | None, part: int, parts: int
) -> int:
    """Unit of work: translate one of the *parts* of the distinct texts of up to `SPAN` chunks.

    Returns how many were translated, so that estimates know the model's speed.
    """
    checked, store = WordOrderParams(**params), Store()
    texts = _texts(checked, language, start, part, parts, store)
    stored = _translated(checked, language, model, texts, store)
    steps.translate(checked, model, texts, language, store)
    return len(texts) - stored


def score_translations(params: Mapping[str, Any], language: str, model: str, start: int | None) -> None:
    """Unit of work: score one chunk of pairs, or all of them where *start* is None."""
    checked, store = WordOrderParams(**params), Store()
    for each in _starts(checked, language, start, store):
        steps.behaviour_chunk(checked, language, model, each, store)


def sum_scores(params: Mapping[str, Any], language: str, model: str) -> None:
    """Unit of work: sums of scores over the pairs, which pages would make one after the other."""
    for _ in steps.score_blocks(WordOrderParams(**params).narrowed(language, model), Store()):
        pass


def _cuts(size: int | None) -> list[int | None]:
    """Where the chunks of a corpus begin; None, for all of it, where it is one, or its size is not known yet."""
    return [None] if size is None or size <= CHUNK else list(chunk_starts(size))


def _parts(params: WordOrderParams, size: int | None) -> Iterator[tuple[int | None, int, int]]:
    """Begin of a span of `SPAN` chunks, number of a part of its texts, and how many parts there are.

    As many as leave each part `PART_TEXTS` at most, where every perturbation applies.
    """
    for start in _cuts(size)[::SPAN]:
        most = 1 if size is None else _most_texts(params, _within(size, start, SPAN))
        parts = -(-most // PART_TEXTS)
        yield from ((start, part, parts) for part in range(parts))


def _within(size: int, start: int | None, chunks: int = 1) -> int:
    """How many of *size* pairs lie in so many chunks from *start* on; all where *start* is None."""
    return size if start is None else max(0, min(CHUNK * chunks, size - start))


def _texts(params: WordOrderParams, language: str, start: int | None, part: int, parts: int, store: Store) -> list[str]:
    """The texts of one part of a span: those whose digest falls to it, wherever they stand and however often."""
    starts = [start] if start is None else range(start, start + SPAN * CHUNK, CHUNK)
    texts = dict.fromkeys(
        text
        for given in starts
        for each in _starts(params, language, given, store)
        for text in steps.texts_chunk(params, language, each, store)
    )
    return [text for text in texts if zlib.crc32(text.encode()) % parts == part]


def _starts(params: WordOrderParams, language: str, start: int | None, store: Store) -> list[int]:
    """The chunk that begins at *start* where the corpus reaches that far; every chunk where *start* is None."""
    if start is None:
        return list(chunk_starts(steps.n_pairs(params, language, store)))
    if steps.is_counted(params, language, store):
        return [start] if start < steps.n_pairs(params, language, store) else []
    there = steps.is_scored(params, language, start, store) or read_chunk(params, language, start, store)
    return [start] if there else []


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


def _count_pairs(params: WordOrderParams, language: str, start: int | None, store: Store) -> tuple[int, int]:
    """Pairs of the chunk at *start* (of all where it is None), and how many are scored as far as no model is needed."""
    n = steps.n_pairs(params, language, store)
    sizes = {each: _within(n, each) for each in _starts(params, language, start, store)}
    return sum(sizes.values()), sum(
        size for each, size in sizes.items() if steps.is_scored(params, language, each, store)
    )


def _unread(params: WordOrderParams, language: str, store: Store) -> int | None:
    """How many pairs a corpus has at most that was never read, without parsing it; None where it has to be, or was."""
    if steps.is_counted(params, language, store):
        return None
    sizes = [size for size in (params.pairs_wanted(language), _size(params, language)) if size is not None]
    return min(sizes, default=None)


def _most_texts(params: WordOrderParams, n_pairs: int) -> int:
    """How many texts *n_pairs* are if every perturbation applies."""
    return n_pairs * (1 + len(params.spacings) * (1 + len(params.perturbation_names)))


def _translated(params: WordOrderParams, language: str, model: str, texts: Sequence[str], store: Store) -> int:
    """How many of *texts* are translated already."""
    config = models.translation_config(
        model, params.source, language, params.decoding, device=params.device, dtype=params.dtype
    )
    return len(texts) - len(store.missing(config, [(text,) for text in texts]))
