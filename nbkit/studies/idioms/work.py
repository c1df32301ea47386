"""The idioms study as the batch runner sees it: cells, units of work, and what can be wrong beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbkit import models
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit, cell_label, no_device
from nbkit.studies.idioms.data import (
    data_key,
    data_problems,
    generic_key,
    generic_pairs,
    is_mined,
    load_data,
    mined_corpus,
)
from nbkit.studies.idioms.params import IdiomsParams, System
from nbkit.studies.idioms.steps import (
    CONTROLS,
    align_texts,
    aligned,
    aligner_key,
    alignment_problems,
    dictionary_key,
    dictionary_problems,
    global_scores_of,
    judged,
    probe_problems,
    probed,
    probes_stored,
    run_dictionary,
    translated,
)

_HERE = "nbkit.studies.idioms.work"


def cells(params: IdiomsParams) -> list[Cell]:
    """One cell a language and model, in all its conditions."""
    return [
        Cell(
            label=cell_label(language, model),
            params=params.narrowed(language, model),
            tags={"language": language, "model": model},
        )
        for language in params.languages
        for model in params.models
    ]


def units(params: IdiomsParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store: mine and train, then translate, then align and judge, then probe."""
    dump, store = params.model_dump(mode="json"), store or Store()
    work = []
    for language in params.languages:
        of = {"params": dump, "language": language}
        pair = f"{params.source}→{language}"
        work += [
            Unit(f"mine {corpus} {pair}", f"{_HERE}:mine_corpus", {**of, "corpus": corpus}, stage=0)
            for corpus in params.corpora.values()
        ]
        work.append(Unit(f"align references {pair}", f"{_HERE}:learn", of, stage=1))
        for system in params.systems:
            named = {**of, "system": list(system)}
            texts, stored = _translations(params, language, system, store) if count else (0, 0)
            label = f"translate {system.label} {pair}"
            work.append(Unit(label, f"{_HERE}:translate", named, stage=1, texts=texts, stored=stored))
            work.append(Unit(f"align and judge {system.label} {pair}", f"{_HERE}:judge", named, stage=2))
            if params.contexts:
                texts, stored = _probes(params, language, system, store) if count else (0, 0)
                label = f"probe {system.label} {pair}"
                work.append(Unit(label, f"{_HERE}:probe", named, stage=3, texts=texts, stored=stored))
        work += [
            Unit(f"judge the {each.model} {pair}", f"{_HERE}:judge", {**of, "system": list(each)}, stage=2)
            for each in CONTROLS
        ]
    for system, language in _not_here(params):
        verb = "download" if models.is_trained(system.name, params.source, language) else "train"
        arguments = {"params": dump, "language": language, "system": list(system)}
        label = f"{verb} {system.label} {params.source}→{language}"
        work.append(Unit(label, f"{_HERE}:ensure_model", arguments, stage=0))
    return work


def mine_corpus(params: Mapping[str, Any], language: str, corpus: str) -> None:
    """Unit of work: the idiom pairs of one corpus."""
    mined_corpus(IdiomsParams(**params), language, corpus, Store())


def ensure_model(params: Mapping[str, Any], language: str, system: list[str]) -> None:
    """Unit of work: train a model that comes as a recipe, or download one of the hub's, unless it is there."""
    models.ensure_model(System(*system).name, IdiomsParams(**params).source, language)


def learn(params: Mapping[str, Any], language: str) -> None:
    """Unit of work: the dictionary, what a statistical aligner learns, and its links of the references.

    These cannot be sampled twice alike: every system is judged against the ones that are sampled here.
    """
    checked, store = IdiomsParams(**params), Store()
    run_dictionary(checked, language, store)
    pairs = load_data(checked, language, store).test
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    for name in checked.aligners:
        if aligner_key(checked, language, name)["learns_from"] is not None:
            align_texts(checked, language, name, sources, references, store)


def translate(params: Mapping[str, Any], language: str, system: list[str]) -> int:
    """Unit of work: idiom-test and the generic sets, translated. Returns how many texts were, for estimates."""
    checked, store, chosen = IdiomsParams(**params), Store(), System(*system)
    texts, stored = _translations(checked, language, chosen, store)
    sources = _sources(checked, language, store)
    translated(checked, language, chosen, sources, sources, store)
    return texts - stored


def judge(params: Mapping[str, Any], language: str, system: list[str]) -> None:
    """Unit of work: LitTER, APT-Eval by every aligner, BLEU and chrF of one system."""
    checked, store, chosen = IdiomsParams(**params), Store(), System(*system)
    judged(checked, language, chosen, store)
    for aligner in checked.aligners:
        aligned(checked, language, chosen, aligner, store)
    global_scores_of(checked, language, chosen, store)


def probe(params: Mapping[str, Any], language: str, system: list[str]) -> int:
    """Unit of work: the probes of one system. Returns how many pairs were probed."""
    checked, store, chosen = IdiomsParams(**params), Store(), System(*system)
    texts, stored = probes_stored(checked, language, chosen, store)
    probed(checked, language, chosen, store)
    return texts - stored


def problems(params: IdiomsParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    found: list[str | None] = [no_device(params.device)] if params.models else []
    for language in params.languages:
        found += data_problems(params, language)
        found += alignment_problems(params, language)
        found += dictionary_problems(params, language)
        found += [models.check_model(system.name, params.source, language) for system in params.systems]
        found += probe_problems(params, language)
    return list(dict.fromkeys(problem for problem in found if problem))


def inputs(params: IdiomsParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: sentences, dictionary, aligners, models."""
    return {
        language: {
            "data": data_key(params, language),
            "generic": {name: generic_key(params, language, name) for name in params.generic},
            "dictionary": dictionary_key(params, language),
            "aligners": [aligner_key(params, language, name) for name in params.aligners],
            "models": [params.model_key(system, language) for system in params.systems],
        }
        for language in params.languages
    }


def _sources(params: IdiomsParams, language: str, store: Store) -> list[str]:
    texts = [pair.source for pair in load_data(params, language, store).test]
    for pairs in generic_pairs(params, language).values():
        texts += [pair.source for pair in pairs]
    return list(dict.fromkeys(texts))


def _translations(params: IdiomsParams, language: str, system: System, store: Store) -> tuple[int, int]:
    """How many texts one system translates, and how many of them are remembered; none known before mining."""
    if not is_mined(params, language, store):
        return 0, 0
    texts = _sources(params, language, store)
    config = models.translation_config(
        system.name, params.source, language, params.decoding, device=params.device, dtype=params.dtype
    )
    return len(texts), len(texts) - len(store.missing(config, [(text,) for text in texts]))


def _probes(params: IdiomsParams, language: str, system: System, store: Store) -> tuple[int, int]:
    return probes_stored(params, language, system, store) if is_mined(params, language, store) else (0, 0)


def _not_here(params: IdiomsParams) -> list[tuple[System, str]]:
    """Each system and language that has to be trained or downloaded, each model once."""
    absent: dict[Any, tuple[System, str]] = {}
    for language in params.languages:
        for system in params.systems:
            identity = models.model_identity(system.name, params.source, language)
            missing = "hub" in identity and identity["weights"] is None
            if missing or not models.is_trained(system.name, params.source, language):
                absent.setdefault(identity.get("hub") or identity["weights"], (system, language))
    return list(absent.values())
