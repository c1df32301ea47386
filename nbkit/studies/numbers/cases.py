"""The test cases: every number of a format in every template of its capability (§2 and A.1 of the paper)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

from nbkit.corpora.templates import Template, load_templates
from nbkit.errors import NbkitError
from nbkit.metrics.number_match import template_numbers
from nbkit.models import translate_remembered
from nbkit.models.catalogue import BY_RULE
from nbkit.models.texts import corpus_texts_identity
from nbkit.numbers.formats import DrawnNumber, draw_numbers, parse_format
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.numbers.harvest import harvest_corpus, harvest_with
from nbkit.studies.numbers.params import Direction, NumbersParams


@dataclass(frozen=True)
class Case:
    """A number in a template."""

    capability: str
    pattern: str
    template: Template
    number: DrawnNumber

    @property
    def source(self) -> str:
        """The sentence that is translated."""
        return self.template.fill(self.number.written)


def cases(params: NumbersParams, pair: Direction, model: str, store: Store) -> list[Case]:
    """The cases of a language pair: for every model the same, unless the model chooses its templates itself.

    Raises `NbkitError` where there is no template for a capability.
    """
    templates = templates_of(params, pair, model, store)
    return [
        Case(name, pattern, template, number)
        for name, patterns in params.patterns(pair.src).items()
        for pattern in patterns
        for number in numbers_of(params, pattern, pair.src)
        for template in templates[name]
    ]


def numbers_of(params: NumbersParams, pattern: str, lang: str) -> list[DrawnNumber]:
    """The numbers drawn of a format: as many as asked for, or all that it holds."""
    n = min(params.n_numbers, parse_format(pattern).size(lang))
    return draw_numbers(pattern, lang, n, params.seed)


def templates_of(params: NumbersParams, pair: Direction, model: str, store: Store) -> dict[str, list[Template]]:
    """The templates of each capability: the first ones of a file; drawn ones where they come from a corpus.

    Raises `NbkitError` where there is none for a capability.
    """
    wanted = params.patterns(pair.src)
    if params.template_corpus is None:
        found = load_templates(pair.src, params.template_file(pair.src), placeholders=params.placeholders)
        chosen = {name: [each for each in found if each.capability == name][: params.n_templates] for name in wanted}
    else:
        found = _harvested(params, params.template_corpus, pair, model, store)
        chosen = {name: _fitting(found, name)[: params.n_templates] for name in wanted}
    for name, templates in chosen.items():
        if not templates:
            raise NbkitError(f"templates '{params.templates}' hold none for {name} in '{pair.src}': add one")
    return chosen


def _fitting(found: list[Template], capability: str) -> list[Template]:
    """The templates for a capability, those first whose own number was of it: where one number stood, any can stand."""
    own = [each for each in found if each.capability == capability]
    others = [replace(each, capability=capability) for each in found if each.capability != capability]
    return own + others


def _harvested(params: NumbersParams, corpus: str, pair: Direction, model: str, store: Store) -> list[Template]:
    """The templates of a corpus, those without other numbers first, and in the order of their addresses."""
    if params.harvest_by == "reference":
        # A corpus that is edited while a kernel runs has the same name and other sentences.
        content = json.dumps(corpus_texts_identity(corpus, pair.src, pair.tgt, params.harvest_pairs), sort_keys=True)
        found = list(_by_reference(corpus, pair.src, pair.tgt, params.harvest_pairs, content))
    else:
        name = model.removeprefix(BY_RULE)  # so that the two have the same templates and can be compared

        def translate(texts: list[str]) -> list[str]:
            return translate_remembered(
                name, texts, pair.src, pair.tgt, params.decoding,
                store=store, device=params.device, dtype=params.dtype,
            )  # fmt: skip

        found = harvest_with(corpus, pair.src, pair.tgt, params.harvest_pairs, translate)
    return sorted(
        found,
        key=lambda each: (bool(template_numbers(each.around, each.lang)), address(params.seed, "templates", each.text)),
    )


@lru_cache(maxsize=16)
def _by_reference(corpus: str, src: str, tgt: str, n: int, content: str) -> tuple[Template, ...]:
    return tuple(harvest_corpus(corpus, src, tgt, n))
