"""The disambiguation study as the batch runner sees it: cells, units of work, and what can be wrong beforehand.

Stages: models are trained, corpora aligned where they have to be, biases counted; test pairs are found; they are
translated, and seeds chosen among them; samples are made; samples are translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbkit import models
from nbkit.corpora import check_corpus, find_corpus, is_endless, load_pairs
from nbkit.corpora.corpus import FileCorpus
from nbkit.corpora.homographs import check_homographs
from nbkit.errors import NbkitError
from nbkit.files import expand_path, file_digest
from nbkit.measure.aligners import check_aligner
from nbkit.perturb.word_sense import grammar_identity, grammar_problem
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit, cell_label, no_device
from nbkit.studies.disambiguation.mining import align_corpus, is_of_a_corpus, mine_shard, n_pairs, pairs_there
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    is_cross_fitted,
    is_found,
    linked,
    pool,
    pool_shard,
    seeds,
    tested,
    training,
    word_list,
)
from nbkit.studies.disambiguation.steps import CHUNK, attacked_chunk, chunks, generated_chunk, judged
from nbkit.studies.disambiguation.tables import bleu, bleu_texts, corpus_sizes
from nbkit.text.parsers import check_parser, parser_for

_HERE = "nbkit.studies.disambiguation.work"
#: Parts that seeds are handled in at most, each a unit of work.
MOST_PARTS = 16


def cells(params: DisambiguationParams) -> list[Cell]:
    """One cell a model; twins have none of their own."""
    return [
        Cell(
            label=cell_label(params.domain, models.label(model)),
            params=params.narrowed(model),
            tags={"language": params.target, "model": models.label(model), "corpus": params.domain},
        )
        for model in params.models
    ]


def units(params: DisambiguationParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store; a corpus is counted, and looked through, a shard a unit.

    With *count*, translating units say how many texts they have and how many are remembered; of test pairs that were
    not found yet, how many they are at most. Nothing is written then.
    """
    store = store or Store()
    size = pairs_there if count else n_pairs
    dump = params.model_dump(mode="json")
    n = size(params.mined, store)
    mined = training(params, n)
    looked_through = {corpus: tested(params, corpus, n) for corpus in params.corpora}
    sizes = {corpus: size(mining, store) for corpus, mining in looked_through.items()}

    def unit(label: str, function: str, stage: int, **arguments: Any) -> Unit:
        return Unit(label, f"{_HERE}:{function}", {"params": dump, **arguments}, stage)

    work = [*_trainings(params, dump), unit(f"corpora {params.domain}", "read_corpora", 0)]
    if is_of_a_corpus(mined):
        work.append(unit(f"align {params.training_corpus}", "align_training", 0))
    counting = 1 if is_of_a_corpus(mined) else 0
    for start in range(0, n, mined.shard):
        work.append(unit(f"count {params.training_corpus} {start}", "count_senses", counting, start=start))
    if params.aligner != "gold" and params.hypothesis_aligner == "eflomal":
        work.append(unit(f"align test pairs {params.domain}", "align_tests", 1))
    for corpus, mining in looked_through.items():
        for start in range(0, sizes[corpus], mining.shard):
            work.append(unit(f"test pairs {corpus} {start}", "find_pairs", 2, corpus=corpus, start=start))
    work.append(unit(f"seeds {params.domain}", "choose_seeds", 3))
    for part, shown in _parts(params):
        work.append(unit(f"samples {params.domain}{shown}", "make_samples", 4, part=part))
    is_known = count and all(
        is_found(params, corpus, start, store)
        for corpus, mining in looked_through.items()
        for start in range(0, sizes[corpus], mining.shard)
    )
    for model in params.translated_by:
        name = models.label(model)
        texts, stored = _count(params, model, store) if is_known else (sum(sizes.values()) if count else 0, 0)
        translating = unit(f"translate {name} {params.domain}", "translate_pairs", 3, model=model)
        work.append(replace(translating, texts=texts, stored=stored))
        for part, shown in _parts(params):
            work.append(unit(f"attack {name} {params.domain}{shown}", "attack", 5, model=model, part=part))
    return work


def ensure_model(params: Mapping[str, Any], model: str) -> None:
    """Unit of work: train a translator that comes as a recipe, or download one of the hub's, unless it is there."""
    checked = DisambiguationParams(**params)
    models.ensure_model(model, checked.source, checked.target)


def ensure_language_model(params: Mapping[str, Any], model: str, lang: str) -> None:
    """Unit of work: train or download a language model, unless it is there."""
    models.ensure_language_model(model, lang)


def read_corpora(params: Mapping[str, Any]) -> None:
    """Unit of work: how many pairs and words the corpora have, and the word list of gold links where it is used."""
    checked, store = DisambiguationParams(**params), Store()
    corpus_sizes(checked, store)
    if checked.hypothesis_aligner == "lexicon":
        word_list(checked, store)


def align_training(params: Mapping[str, Any]) -> None:
    """Unit of work: the training corpus aligned as a whole."""
    checked, store = DisambiguationParams(**params), Store()
    align_corpus(training(checked, n_pairs(checked.mined, store)), store)


def count_senses(params: Mapping[str, Any], start: int) -> None:
    """Unit of work: attractors and adjectives counted in the shard of the training corpus that begins at *start*."""
    checked, store = DisambiguationParams(**params), Store()
    mine_shard(training(checked, n_pairs(checked.mined, store)), start, store)


def align_tests(params: Mapping[str, Any]) -> None:
    """Unit of work: each test corpus without gold links aligned as a whole, by what was learned on the training one."""
    checked, store = DisambiguationParams(**params), Store()
    for corpus in checked.corpora:
        if not is_cross_fitted(checked, corpus):
            align_corpus(linked(checked, corpus, store), store)


def find_pairs(params: Mapping[str, Any], corpus: str, start: int) -> None:
    """Unit of work: the test pairs of one shard of a corpus, with their biases."""
    pool_shard(DisambiguationParams(**params), corpus, start, Store())


def choose_seeds(params: Mapping[str, Any]) -> None:
    """Unit of work: what becomes of the test pairs as seeds."""
    seeds(DisambiguationParams(**params), Store())


def make_samples(params: Mapping[str, Any], part: int) -> None:
    """Unit of work: the samples of one part of the seeds."""
    checked, store = DisambiguationParams(**params), Store()
    for start in _chunks(checked, part, store):
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


def attack(params: Mapping[str, Any], model: str, part: int) -> None:
    """Unit of work: the samples of one part of the seeds translated by one model and judged."""
    checked, store = DisambiguationParams(**params), Store()
    for start in _chunks(checked, part, store):
        attacked_chunk(checked, model, start, store)


def _n_parts(params: DisambiguationParams) -> int:
    """In how many parts seeds are handled: how many there are is known when test pairs are found, but for the limit."""
    return MOST_PARTS if params.n_seeds is None else min(MOST_PARTS, -(-params.n_seeds // CHUNK))


def _parts(params: DisambiguationParams) -> list[tuple[int, str]]:
    """The number of each part, and what its unit is called after it."""
    n = _n_parts(params)
    return [(part, f" {part + 1}/{n}" if n > 1 else "") for part in range(n)]


def _chunks(params: DisambiguationParams, part: int, store: Store) -> range:
    return chunks(params, store)[part :: _n_parts(params)]


def problems(params: DisambiguationParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    source, target = params.source, params.target
    found: list[str | None] = [no_device(params.device)]
    parsers = params.parsers or None
    for corpus in dict.fromkeys([params.training_corpus, *params.test_corpora]):
        n = params.training_pairs if corpus == params.training_corpus else params.n_pairs
        found += check_corpus(corpus, source, target, parsers, n=n, on_error=params.on_error)
    found += _endless_problems(params)
    found.append(check_homographs(params.lexicon, target, src=source, on_conflict=params.on_conflict))
    found += _link_problems(params)
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


def _endless_problems(params: DisambiguationParams) -> Iterator[str]:
    wanted = [(params.training_corpus, "training_pairs", params.training_pairs)]
    wanted += [(corpus, "n_pairs", params.n_pairs) for corpus in params.test_corpora]
    for corpus, name, n in wanted:
        with suppress(NbkitError):  # `check_corpus` says what is wrong with it
            if n is None and is_endless(corpus):
                yield f"corpus '{corpus}' has no last pair: say how many are wanted ({name})"


def _link_problems(params: DisambiguationParams) -> Iterator[str | None]:
    """What is wrong with the links of the corpora; gold ones have to be there in all of them."""
    if params.aligner != "gold":
        problem = check_aligner(params.aligner, params.source, params.target)
        try:
            if problem is None:
                params.mined.aligner_key()  # malformed lines that may be left out move the places of a file's links
        except NbkitError as error:
            problem = str(error)
        yield problem
        return
    for corpus in dict.fromkeys([params.training_corpus, *params.test_corpora]):
        with suppress(NbkitError):
            if not _has_links(params, corpus):
                yield f"corpus '{corpus}' has no gold links: name what is to link its pairs (aligner: eflomal)"


def _has_links(params: DisambiguationParams, corpus: str) -> bool:
    """Whether a corpus has gold links: one in files has none, of another one the first pair tells."""
    if isinstance(find_corpus(corpus)[0], FileCorpus):
        return False
    first = next(load_pairs(corpus, params.source, params.target, n=1, parsers=params.parsers or None), None)
    return first is None or first.alignment is not None


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
