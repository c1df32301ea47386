"""The NLI permutation study as the batch runner sees it: cells, units of work, and what can be wrong beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbkit import models
from nbkit.corpora.nli import check_nli
from nbkit.files import expand_path, file_digest
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit, cell_label, no_device
from nbkit.studies.nli_permutation import steps
from nbkit.studies.nli_permutation.params import HYPOTHESIS, NliPermutationParams
from nbkit.studies.nli_permutation.steps import chunk_starts

_HERE = "nbkit.studies.nli_permutation.work"

#: Chunks of one unit: enough work to be worth sending to a process that has to load the model first.
CHUNKS_A_UNIT = 5


def cells(params: NliPermutationParams) -> list[Cell]:
    """One cell a model; none where the run has no models."""
    return [
        Cell(
            label=cell_label(params.language, models.classifier_label(model)),
            params=params.narrowed(model),
            tags={
                "language": params.language,
                "model": models.classifier_label(model),
                "corpus": ", ".join(params.corpora),
            },
        )
        for model in params.models
    ]


def units(params: NliPermutationParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store, in stages: train or download models and read texts, then classify.

    Sets of a known size are cut into parts. With *count*, each classifying unit says how many texts it classifies and
    how many of these are remembered: counted where the set was read, else at most so many.
    """
    dump = params.model_dump(mode="json")
    work = [
        Unit(f"train or download {models.classifier_label(model)}", f"{_HERE}:ensure_model",
             {"params": dump, "model": model}, stage=0)
        for model in params.scored_models
        if not models.is_classifier_here(model, params.language)
    ]  # fmt: skip
    for corpus in params.corpora:
        work.append(Unit(f"texts {corpus}", f"{_HERE}:read_texts", {"params": dump, "corpus": corpus}, stage=0))
    for corpus in params.corpora:
        starts = None if params.n_pairs is None else list(chunk_starts(params.n_pairs))
        parts = [None] if starts is None else starts[::CHUNKS_A_UNIT]
        for model in params.scored_models:
            for part in parts:
                arguments = {"params": dump, "corpus": corpus, "model": model, "start": part}
                texts, stored = _count(params, corpus, model, part, store or Store()) if count else (0, 0)
                label = f"classify {models.classifier_label(model)} {corpus}" + ("" if len(parts) == 1 else f" {part}")
                work.append(Unit(label, f"{_HERE}:classify_texts", arguments, stage=1, texts=texts, stored=stored))
    return work


def ensure_model(params: Mapping[str, Any], model: str) -> None:
    """Unit of work: train a classifier that comes as a recipe, or download one of the hub's, unless it is there."""
    models.ensure_classifier(model, NliPermutationParams(**params).language)


def read_texts(params: Mapping[str, Any], corpus: str) -> None:
    """Unit of work: read, tokenise and permute one set; BLEU and mini-trees of its permutations."""
    checked, store = NliPermutationParams(**params), Store()
    tagged = steps.has_parts_of_speech(checked)
    for start in chunk_starts(steps.n_pairs(checked, corpus, store)):
        for scheme in checked.schemes():
            if scheme != HYPOTHESIS:
                steps.properties_chunk(checked, corpus, scheme, start, store)
        if tagged:
            steps.ratios_chunk(checked, corpus, start, store)


def classify_texts(params: Mapping[str, Any], corpus: str, model: str, start: int | None) -> int:
    """Unit of work: classify one part of a set, or all of it where *start* is None, in every variant.

    Returns how many texts were classified, so that estimates know the model's speed.
    """
    checked, store = NliPermutationParams(**params), Store()
    texts, stored = _count(checked, corpus, model, start, store)
    for each in _starts(checked, corpus, start, store):
        for scheme in checked.schemes(model):
            steps.scores_chunk(checked, corpus, model, scheme, each, store)
    return texts - stored


def _starts(params: NliPermutationParams, corpus: str, start: int | None, store: Store) -> list[int]:
    """The chunks of the part that begins at *start*, as far as the set reaches; all of them where *start* is None."""
    available = list(chunk_starts(steps.n_pairs(params, corpus, store)))
    if start is None:
        return available
    part = chunk_starts(params.n_pairs or 0)
    first = part.index(start)
    return [each for each in part[first : first + CHUNKS_A_UNIT] if each in available]


def problems(params: NliPermutationParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    found: list[str | None] = [no_device(params.device)] if params.models else []
    for corpus in params.corpora:
        found += check_nli(
            corpus, params.language, n=params.n_pairs, parsers=params.parsers or None, on_error=params.on_error
        )
        if params.language == "zh" and params.unit == "word" and params.tokenizer(corpus)[0] == "tokenizer":
            found.append(
                "unit 'word': without a Chinese pipeline or jieba, texts are cut into characters; name one "
                "(parsers: {zh: jieba}) or choose unit: character"
            )
    if all(params.tokenizer(corpus)[1] for corpus in params.corpora):  # else there are no mini-trees
        n, parsers = params.training_pairs, params.parsers or None
        found += check_nli(params.training_corpus, params.language, n=n, parsers=parsers, on_error=params.on_error)
    found += [models.check_classifier(model, params.language) for model in params.scored_models]
    for path in _annotation_files(params):
        if not Path(path).is_file():
            found.append(f"annotations: there is no file {path}")
    return list(dict.fromkeys(problem for problem in found if problem))


def inputs(params: NliPermutationParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: sets, tokenizers, models, filled forms."""
    return {
        "corpora": {corpus: params.corpus_key(corpus) for corpus in params.corpora},
        "training": params.training_key() if steps.has_parts_of_speech(params) else None,
        "models": {model: dict(params.model_key(model)) for model in params.scored_models},
        "annotations": {path: file_digest(path) for path in _annotation_files(params) if Path(path).is_file()},
    }


def _annotation_files(params: NliPermutationParams) -> list[str]:
    paths = [*params.annotations.values(), *([params.annotation_key] if params.annotation_key else [])]
    return [expand_path(path, "annotations") for path in paths]


def _count(params: NliPermutationParams, corpus: str, model: str, start: int | None, store: Store) -> tuple[int, int]:
    """The texts of one part of a set (of all of it where *start* is None), and how many of them are classified.

    Permuting them all to look each of them up would take minutes. What is scored has been classified; elsewhere the
    texts of the first pairs of a chunk stand for the others.
    """
    config = models.classification_config(model, params.language, device=params.device, dtype=params.dtype)
    texts = stored = 0
    for each in _starts(params, corpus, start, store):
        own = [steps.n_texts(params, corpus, scheme, each, store) for scheme in params.schemes(model)]
        texts += sum(own)
        if all(steps.is_scored(params, corpus, model, scheme, each, store) for scheme in params.schemes(model)):
            stored += sum(own)
            continue
        if store.has_records(config) and (some := steps.some_texts(params, corpus, model, each, store)):
            stored += round(sum(own) * (1 - len(store.missing(config, some)) / len(some)))
    return texts, stored
