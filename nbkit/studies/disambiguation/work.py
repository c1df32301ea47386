"""The disambiguation study as the batch runner sees it: cells, units of work, and what can be wrong beforehand.

Stages: models are trained and biases counted; test pairs are found and translated, seeds and samples made; samples are
translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbkit import models
from nbkit.align import check_aligner
from nbkit.attacks.grammar import grammar_identity, grammar_problem
from nbkit.corpora import check_corpus
from nbkit.corpora.homographs import check_homographs
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit
from nbkit.studies.devices import no_device
from nbkit.studies.disambiguation.generated import chunks, generated_chunk
from nbkit.studies.disambiguation.judged import attacked_chunk, judged
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import counts, pool, pool_shard, pool_starts, word_list
from nbkit.studies.disambiguation.seeds import seeds
from nbkit.studies.disambiguation.tables import bleu, bleu_texts, corpus_sizes
from nbkit.syntax import check_parser, parser_for
from nbkit.syntax.files import expand_path, file_digest

_HERE = "nbkit.studies.disambiguation.work"


def cells(params: DisambiguationParams) -> list[Cell]:
    """One cell a model; twins have none of their own."""
    return [
        Cell(
            label=re.sub(r"[^A-Za-z0-9.]+", "-", f"{params.domain}.{models.label(model)}").strip("-"),
            params=params.narrowed(model),
            tags={"language": params.target, "model": models.label(model), "corpus": params.domain},
        )
        for model in params.models
    ]


def units(params: DisambiguationParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store. With *count*, translating units say how many texts they have and how many are
    remembered, as far as the texts are known already.
    """
    dump = params.model_dump(mode="json")
    work = [*_trainings(params, dump)]
    work.append(Unit(f"count {params.training_corpus}", f"{_HERE}:count_senses", {"params": dump}, stage=0))
    for corpus in params.corpora:
        work.append(Unit(f"test pairs {corpus}", f"{_HERE}:find_pairs", {"params": dump, "corpus": corpus}, stage=1))
    work.append(Unit(f"samples {params.domain}", f"{_HERE}:make_samples", {"params": dump}, stage=2))
    for model in params.translated_by:
        arguments = {"params": dump, "model": model}
        name = models.label(model)
        texts, stored = _count(params, model, store or Store()) if count else (0, 0)
        work.append(Unit(f"translate {name} {params.domain}", f"{_HERE}:translate_pairs", arguments, 2, texts, stored))
        work.append(Unit(f"attack {name} {params.domain}", f"{_HERE}:attack", arguments, stage=3))
    return work


def ensure_model(params: Mapping[str, Any], model: str) -> None:
    """Unit of work: train a translator that comes as a recipe, or download one of the hub's, unless it is there."""
    checked = DisambiguationParams(**params)
    models.ensure_model(model, checked.source, checked.target)


def ensure_language_model(params: Mapping[str, Any], model: str, lang: str) -> None:
    """Unit of work: train or download a language model, unless it is there."""
    models.ensure_language_model(model, lang)


def count_senses(params: Mapping[str, Any]) -> None:
    """Unit of work: align the training corpus where it has to be, and count attractors and adjectives."""
    checked, store = DisambiguationParams(**params), Store()
    counts(checked, store)
    if checked.aligner == "gold":
        word_list(checked, store)


def find_pairs(params: Mapping[str, Any], corpus: str) -> None:
    """Unit of work: the test pairs of one corpus, with their biases."""
    checked, store = DisambiguationParams(**params), Store()
    for start in pool_starts(checked, corpus, store):
        pool_shard(checked, corpus, start, store)
    corpus_sizes(checked, store)


def make_samples(params: Mapping[str, Any]) -> None:
    """Unit of work: filter the seeds and make their samples."""
    checked, store = DisambiguationParams(**params), Store()
    seeds(checked, store)
    for start in chunks(checked, store):
        generated_chunk(checked, start, store)


def translate_pairs(params: Mapping[str, Any], model: str) -> int:
    """Unit of work: the test pairs, and those for BLEU, translated by one model and judged.

    Returns how many texts were translated, so that estimates know the model's speed.
    """
    checked, store = DisambiguationParams(**params), Store()
    texts, stored = _count(checked, model, store)
    judged(checked, model, store)
    bleu(checked.model_copy(update={"models": [model], "twins": {}}), store)
    return texts - stored


def attack(params: Mapping[str, Any], model: str) -> None:
    """Unit of work: all samples translated by one model and judged."""
    checked, store = DisambiguationParams(**params), Store()
    for start in chunks(checked, store):
        attacked_chunk(checked, model, start, store)


def problems(params: DisambiguationParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    source, target = params.source, params.target
    found: list[str | None] = [no_device(params.device)]
    parsers = params.parsers or None
    for corpus in dict.fromkeys([params.training_corpus, *params.test_corpora]):
        n = params.training_pairs if corpus == params.training_corpus else params.n_pairs
        found += check_corpus(corpus, source, target, parsers, n=n, on_error=params.on_error)
    found.append(check_homographs(params.lexicon, target, on_conflict=params.on_conflict))
    if params.aligner != "gold":
        found.append(check_aligner(params.aligner, source, target))
    found.append(check_aligner(params.hypothesis_aligner, source, target))
    if params.target_words == "lemmas":
        found.append(check_parser(parser_for(target, parsers), target))
    found += [models.check_model(model, source, target) for model in params.translated_by]
    if params.masked_lm is not None:
        found.append(models.check_language_model(params.masked_lm, target, kind="masked"))
    if params.causal_lm is not None:
        found.append(models.check_language_model(params.causal_lm, source))
    for path in annotation_files(params):
        if not Path(path).is_file():
            found.append(f"annotations: there is no file {path}")
    return list(dict.fromkeys(problem for problem in found if problem))


def inputs(params: DisambiguationParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: corpora, sense clusters, models, filled forms."""
    return {
        "samples": params.samples_key(),
        "models": {model: params.translation_key(model) for model in params.translated_by},
        "grammar": None if params.grammar == "off" else [grammar_identity(), grammar_problem()],
        "annotations": {path: file_digest(path) for path in annotation_files(params) if Path(path).is_file()},
    }


def annotation_files(params: DisambiguationParams) -> list[str]:
    """All forms and keys that the parameters name."""
    forms = [*params.annotations.values(), *params.naturalness.values()]
    keys = [key for key in (params.annotation_key, params.naturalness_key) if key]
    return [expand_path(path, "annotations") for path in (*forms, *keys)]


def _trainings(params: DisambiguationParams, dump: dict[str, Any]) -> list[Unit]:
    work = []
    for model in params.translated_by:
        if not models.is_trained(model, params.source, params.target) or _is_missing(params, model):
            verb = "download" if models.is_trained(model, params.source, params.target) else "train"
            arguments = {"params": dump, "model": model}
            work.append(Unit(f"{verb} {models.label(model)}", f"{_HERE}:ensure_model", arguments, stage=0))
    for name, lang in ((params.masked_lm, params.target), (params.causal_lm, params.source)):
        if name is not None and not models.is_language_model_here(name, lang):
            shown = f"train or download {models.language_model_label(name)} {lang}"
            arguments = {"params": dump, "model": name, "lang": lang}
            work.append(Unit(shown, f"{_HERE}:ensure_language_model", arguments, stage=0))
    return work


def _is_missing(params: DisambiguationParams, model: str) -> bool:
    """Whether a hub's model is not on this machine yet."""
    identity = models.model_identity(model, params.source, params.target)
    return "hub" in identity and identity["weights"] is None


def _count(params: DisambiguationParams, model: str, store: Store) -> tuple[int, int]:
    """The texts of the pool and for BLEU, and how many of them are translated already."""
    texts = set(pool(params, store)["source"])
    for corpus in params.test_corpora if params.bleu_pairs else []:
        texts.update(source for source, _ in bleu_texts(params, corpus))
    config = models.translation_config(
        model, params.source, params.target, params.decoding, device=params.device, dtype=params.dtype
    )
    return len(texts), len(texts) - len(store.missing(config, sorted((text,) for text in texts)))
