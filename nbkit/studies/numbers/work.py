"""The numbers study as the batch runner sees it: cells, units of work, and what can be wrong beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbkit import models
from nbkit.corpora.templates import load_templates
from nbkit.errors import NbkitError
from nbkit.models.translators.catalogue import BY_RULE
from nbkit.models.translators.placeholder import masked_texts
from nbkit.models.translators.texts import corpus_texts_problems
from nbkit.numbers import forms
from nbkit.numbers.formats import parse_format
from nbkit.store import Store
from nbkit.studies.base import Cell, Unit, cell_label, no_device
from nbkit.studies.numbers.cases import cases as test_cases
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.numbers.steps import judged, shrunk

_HERE = "nbkit.studies.numbers.work"


def cells(params: NumbersParams) -> list[Cell]:
    """One cell a language and model."""
    return [
        Cell(
            label=cell_label(language, models.label(model)),
            params=params.narrowed(language, model),
            tags={"language": language, "model": models.label(model), "templates": params.templates},
        )
        for language in params.languages
        for model in params.models
    ]


def units(params: NumbersParams, *, count: bool = False, store: Store | None = None) -> list[Unit]:
    """The work that fills the store: train or download models, then translate, judge and shrink a pair at a time."""
    dump = params.model_dump(mode="json")
    work = []
    for model, pair in _not_here(params):
        verb = "download" if models.is_trained(model, pair.src, pair.tgt) else "train"
        arguments = {"params": dump, "pair": list(pair), "model": model}
        work.append(Unit(f"{verb} {models.label(model)} {pair.pair}", f"{_HERE}:ensure_model", arguments, stage=0))
    for pair in params.pairs:
        for model in params.models:
            texts, stored = _count(params, pair, model, store or Store()) if count else (0, 0)
            arguments = {"params": dump, "pair": list(pair), "model": model}
            label = f"translate {models.label(model)} {pair.pair}"
            work.append(Unit(label, f"{_HERE}:judge", arguments, stage=1, texts=texts, stored=stored))
    return work


def ensure_model(params: Mapping[str, Any], pair: list[str], model: str) -> None:
    """Unit of work: train a model that comes as a recipe, or download one of the hub's, unless it is there."""
    direction = Direction(*pair)
    models.ensure_model(model, direction.src, direction.tgt)


def judge(params: Mapping[str, Any], pair: list[str], model: str) -> int:
    """Unit of work: all cases of a pair and model translated, judged and shrunk.

    Returns how many texts were translated, so that estimates know the model's speed.
    """
    checked, direction, store = NumbersParams(**params), Direction(*pair), Store()
    texts, stored = _count(checked, direction, model, store)
    narrowed = checked.narrowed(direction.language, model)
    judged(narrowed, direction, model, store)
    shrunk(narrowed, direction, model, store)
    return texts - stored


def problems(params: NumbersParams) -> list[str]:
    """What stands in the way of this run here, one message each; loads no model."""
    found: list[str | None] = [no_device(params.device)] if params.models else []
    for pair in params.pairs:
        found += _template_problems(params, pair)
        for patterns in params.patterns(pair.src).values():
            for pattern in patterns:
                if parse_format(pattern).form not in forms(pair.src):
                    form, known = parse_format(pattern).form, ", ".join(forms(pair.src))
                    found.append(f"format '{pattern}': '{pair.src}' has no form '{form}'; it has {known}")
        found += [models.check_model(model, pair.src, pair.tgt) for model in params.models]
    return list(dict.fromkeys(problem for problem in found if problem))


def inputs(params: NumbersParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: templates, corpora, models."""
    return {
        pair.pair: {
            "cases": params.cases_key(pair),
            "models": [params.model_key(pair, model) for model in params.models],
        }
        for pair in params.pairs
    }


def _template_problems(params: NumbersParams, pair: Direction) -> list[str]:
    if params.template_corpus is not None:
        return corpus_texts_problems(params.template_corpus, pair.src, pair.tgt, params.harvest_pairs, "harvest_pairs")
    try:
        file = Path(params.template_file(pair.src))
        found = {each.capability for each in load_templates(pair.src, file, placeholders=params.placeholders)}
    except NbkitError as error:
        return [str(error)]
    absent = [name for name in params.patterns(pair.src) if name not in found]
    return [f"templates {file}: none for {', '.join(absent)}"] if absent else []


def _not_here(params: NumbersParams) -> list[tuple[str, Direction]]:
    """Model and one of its pairs for all that has to be trained or downloaded, each of them once."""
    absent: dict[Any, tuple[str, Direction]] = {}
    for model in params.models:
        for pair in params.pairs:
            identity = models.model_identity(model, pair.src, pair.tgt)
            missing = "hub" in identity and identity["weights"] is None
            if missing or not models.is_trained(model, pair.src, pair.tgt):
                absent.setdefault(identity.get("hub") or identity["weights"], (model, pair))
    return list(absent.values())


def _count(params: NumbersParams, pair: Direction, model: str, store: Store) -> tuple[int, int]:
    """How many texts the cases are, and how many are translated already; shrinking asks for more, as it needs them."""
    if params.harvest_by == "system" and params.template_corpus is not None:
        return 0, 0  # which sentences there are is known only after the model has translated the corpus
    texts = [case.source for case in test_cases(params, pair, model, store)]
    if model.startswith(BY_RULE):
        texts = masked_texts(texts, pair.src)
    texts = list(dict.fromkeys(texts))
    config = models.translation_config(
        model.removeprefix(BY_RULE), pair.src, pair.tgt, params.decoding, device=params.device, dtype=params.dtype
    )
    return len(texts), len(texts) - len(store.missing(config, [(text,) for text in texts]))
