"""Templates out of a corpus: a sentence whose number a translator carries over has a place where any number can stand.

Source: Wang et al. 2021, "As Easy as 1, 2, 3", A.1, the four steps for new domains: a corpus with numbers; is there a
number in the output; is it the correct one; then the sentence is a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from nbkit.corpora.templates import PLACEHOLDER, Template, load_templates
from nbkit.errors import NbkitError
from nbkit.languages import is_unspaced
from nbkit.measure.numbers import compare_numbers, template_numbers
from nbkit.models import translate_remembered
from nbkit.models.catalogue import BY_RULE
from nbkit.models.translators.texts import corpus_texts_identity, text_pairs
from nbkit.numbers import Number, find_numbers
from nbkit.numbers.formats import DrawnNumber, draw_numbers, parse_format
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.numbers.params import Direction, NumbersParams

#: Sentences that are translated at a time.
_BATCH = 500


#: What may not touch a number that another is put in place of: it would be part of a time, a score, a name or a range.
_ATTACHED = re.compile(r"[\w:/+*=#@–-]")


def harvest(
    texts: Iterable[str], src: str, tgt: str, translate: Callable[[list[str]], Sequence[str]], *, places: str = "text"
) -> Iterator[Template]:
    """The templates in *texts*, as *translate* does with them: a monolingual corpus and a translator are enough.

    A sentence becomes a template where one of its numbers can be exchanged (a cardinal number or a percentage that is
    no part of a date, time, name or range, no year by its looks, not *one*, and not there twice) and its translation
    carries all numbers and no other. Its first such number becomes [NUM]; its capability is that of the number's
    writing.
    places: what a template's place begins with, before the sentence's number.

    >>> copy = list
    >>> [template.text for template in harvest(["It weighs 12.5 kg.", "It is heavy."], "en", "de", copy)]
    []
    >>> [template.text for template in harvest(["It weighs 12 kg.", "It is heavy."], "en", "de", copy)]
    ['It weighs [NUM] kg.']
    """
    numbered = ((number, text, _exchangeable(text, src)) for number, text in enumerate(texts, start=1))
    usable = ((number, text, slot) for number, text, slot in numbered if slot is not None)
    while batch := list(islice(usable, _BATCH)):
        hypotheses = translate([text for _, text, _ in batch])
        for (number, text, slot), hypothesis in zip(batch, hypotheses, strict=True):
            if not compare_numbers(text, hypothesis, src, tgt):
                start, end = slot.span
                sentence = text[:start] + PLACEHOLDER + text[end:]
                yield Template(sentence, src, _capability(slot), f"{places}:{number}")


def harvest_corpus(corpus: str, src: str, tgt: str, n: int) -> list[Template]:
    """The templates among the first *n* pairs of a parallel corpus whose references carry their numbers."""
    references: dict[str, str] = {}
    for pair in text_pairs(corpus, src, tgt, n):
        references.setdefault(pair.source, pair.target)
    found = harvest(references, src, tgt, lambda texts: [references[text] for text in texts], places=corpus)
    return _distinct(found)


def harvest_with(
    corpus: str, src: str, tgt: str, n: int, translate: Callable[[list[str]], Sequence[str]]
) -> list[Template]:
    """The templates among the first *n* source sentences of a corpus whose numbers *translate* carries over."""
    sources = dict.fromkeys(pair.source for pair in text_pairs(corpus, src, tgt, n))
    return _distinct(harvest(sources, src, tgt, translate, places=corpus))


def _distinct(templates: Iterable[Template]) -> list[Template]:
    """The first of each sentence: two often differ by their number alone."""
    first: dict[str, Template] = {}
    for template in templates:
        first.setdefault(template.text, template)
    return list(first.values())


def _exchangeable(text: str, src: str) -> Number | None:
    """The first number of a sentence that another can be put in place of."""
    if PLACEHOLDER in text or "\n" in text:
        return None
    numbers = find_numbers(text, src)
    values = [number.value for number in numbers]
    for number in numbers:
        plain = number.kind != "ordinal" and number.form not in ("article", "roman") and number.localised
        year = number.form == "digits" and 1000 <= number.value < 2100 and number.kind != "percent"
        if (
            plain
            and not year
            and number.value != 1
            and values.count(number.value) == 1
            and _stands_alone(text, number, src)
        ):
            return number
    return None


def _stands_alone(text: str, number: Number, src: str) -> bool:
    start, end = number.span
    before, after = text[:start][-1:], text[end:][:1]
    if is_unspaced(src):  # letters touch every number there
        before, after = (mark if not mark.isalpha() or mark.isascii() else "" for mark in (before, after))
    return not _ATTACHED.match(before) and not _ATTACHED.match(after)


def _capability(number: Number) -> str:
    if number.form == "digits":
        return "integers" if number.value == number.value.to_integral_value() else "decimals"
    return "separators" if number.form == "grouped" else "numerals"


# ----------------------------------------------------------------------------
# The test cases: every number of a format in every template of its capability (§2 and A.1 of the paper).


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
