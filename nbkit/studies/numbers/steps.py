"""The numbers study's steps: templates and cases; every case translated and judged, failures shrunk.

What is computed is remembered, a pair and model at a time (`nbkit.studies.engine`); `results` and `shrunk_failures` put
the pairs and models of a run together, and `outcomes` are the verdicts in the shape that all studies share.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.corpora.templates import PLACEHOLDER, Template, load_templates
from nbkit.errors import NbkitError
from nbkit.languages import is_unspaced
from nbkit.measure.health import MOST_OWN, quantity_of, wrong_quantities
from nbkit.measure.numbers import Judgement, compare_numbers, judge_number, template_numbers
from nbkit.measure.quantities import Verdict, compare_quantities, passes
from nbkit.models import label, resolve
from nbkit.models.catalogue import BY_RULE
from nbkit.models.services.outputs import MissingOutputsError, OutputsModel
from nbkit.models.translators.lifecycle import carry_remembered
from nbkit.models.translators.placeholder import masked_texts
from nbkit.models.translators.texts import (
    corpus_texts_identity,
    corpus_texts_problems,
    score_of_sums,
    sentence_sums,
    text_pairs,
)
from nbkit.numbers import Number, find_numbers, forms
from nbkit.numbers.formats import DrawnNumber, draw_numbers, parse_format
from nbkit.numbers.quantity import Quantity, find_quantities, with_ends
from nbkit.perturb.shrink_numbers import Shrunk, shrink_number
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.base import Notebook
from nbkit.studies.engine import TRANSLATOR, Axis, Counts, Point, Study, Use, as_table, asked_translations
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.results import COLUMNS, TEXTS, item_id, objects

if TYPE_CHECKING:
    import pandas as pd

_CASE_COLUMNS = ["capability", "format", "digits", "fraction_digits", "template", "value", "written", "source"]
_VERDICT_COLUMNS = ["hypothesis", "strict", "lenient", "error", "found", "outcome"]
_SHRUNK_COLUMNS = ["capability", "format", "template", "written", "smallest", "smallest_format", "source",
                   "hypothesis", "error", "found", "asked", "proved"]  # fmt: skip
#: What a row of several pairs and models begins with.
OF = ["language", "direction", "pair", "model"]


# ----------------------------------------------------------------------------
# Templates out of a corpus: a sentence whose number a translator carries over has a place where any number can stand.
#
# Source: Wang et al. 2021, "As Easy as 1, 2, 3", A.1, the four steps for new domains: a corpus with numbers; is there a
# number in the output; is it the correct one; then the sentence is a template.

#: Sentences that are translated at a time.
_BATCH = 500


#: What may not touch a number that another is put in place of: it would be part of a time, a score, a name or a range.
_ATTACHED = re.compile(r"[\w:/+*=#@–-]")
#: What may stand between a day and the name of its month, and the eras that follow a year.
_TO_MONTH = re.compile(r"[.º]?\s(?:(?:of|the|de|di)\s)?")
_ERA = re.compile(r"\s(?:BCE?|CE|AD|[vn]\.\s?(?:Chr|u\.\s?Z)|(?:av|apr)\.\s?J|[ad]\.\s?C)\b")


def harvest(
    texts: Iterable[str], src: str, tgt: str, translate: Callable[[list[str]], Sequence[str]], *, places: str = "text"
) -> Iterator[Template]:
    """The templates in *texts*, as *translate* does with them: a monolingual corpus and a translator are enough.

    A sentence becomes a template where one of its numbers can be exchanged (a cardinal number or a percentage that is
    no part of a date, time, name or range, no year by its looks, not *one*, and not there twice) and its translation
    carries all numbers and no other, by the paper's rules and with kinds and units. Its first such number becomes
    [NUM]; its capability is that of the number's writing.
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
            carried = passes(compare_quantities(text, hypothesis, src, tgt))
            if carried and not compare_numbers(text, hypothesis, src, tgt):
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
            and not _of_a_date(text, number, src)
        ):
            return number
    return None


def _stands_alone(text: str, number: Number, src: str) -> bool:
    start, end = number.span
    before, after = text[:start][-1:], text[end:][:1]
    if is_unspaced(src):  # letters touch every number there
        before, after = (mark if not mark.isalpha() or mark.isascii() else "" for mark in (before, after))
    return not _ATTACHED.match(before) and not _ATTACHED.match(after)


def _of_a_date(text: str, number: Number, src: str) -> bool:
    """Whether a number is the day beside the name of a month, or a year with its era (*18 June*, *59 BC*)."""
    start, end = number.span
    months = (each.span for each in find_quantities(text, src) if each.kind == "date")
    gaps = (text[end:first] if end <= first else text[last:start] for first, last in months)
    return bool(_ERA.match(text, end)) or any(_TO_MONTH.fullmatch(gap) for gap in gaps)


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
    if params.templates is None:
        return []
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

    Raises `NbkitError` if there is none for a capability.
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
            return params.translate(name, texts, pair.src, pair.tgt, store)

        found = harvest_with(corpus, pair.src, pair.tgt, params.harvest_pairs, translate)
    return sorted(
        found,
        key=lambda each: (bool(template_numbers(each.around, each.lang)), address(params.seed, "templates", each.text)),
    )


@lru_cache(maxsize=16)
def _by_reference(corpus: str, src: str, tgt: str, n: int, content: str) -> tuple[Template, ...]:
    return tuple(harvest_corpus(corpus, src, tgt, n))


# ----------------------------------------------------------------------------
# The study.


def _problems(params: NumbersParams) -> Iterator[str]:
    """Problems of this run beside its models: templates, and formats that a language does not have."""
    if params.templates is None and params.sentences is None:
        yield "templates and sentences are both null: there is nothing to ask for"
    for pair in params.pairs:
        if params.sentences is not None:
            if found := corpus_texts_problems(params.sentences, pair.src, pair.tgt, params.n_sentences, "n_sentences"):
                yield from found
            elif not any(required(each.source, pair.src) for each in _texts(params, pair)):
                yield f"corpus {params.sentences}: no text in '{pair.src}' states a quantity: there is nothing to judge"
        if params.templates is None:
            continue
        yield from _template_problems(params, pair)
        known = forms(pair.src)
        for pattern in chain.from_iterable(params.patterns(pair.src).values()):
            form = parse_format(pattern).form
            if form not in known:
                yield f"format '{pattern}': '{pair.src}' has no form '{form}'; it has {', '.join(known)}"


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


def _inputs(params: NumbersParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: templates, corpora, models."""
    return {
        pair.pair: {
            "cases": params.cases_key(pair) | params.sentences_key(pair),
            "models": [params.model_key(pair, model) for model in params.models],
        }
        for pair in params.pairs
    }


def _uses(params: NumbersParams, pair: Direction, model: str) -> list[Use]:
    return [Use(TRANSLATOR, model, (pair.src, pair.tgt))]


STUDY = Study(
    name="numbers",
    title="Numbers: are they carried over?",
    paper="Wang, Xu, Guzmán, El-Kishky, Rubinstein and Cohn (2021), As Easy as 1, 2, 3: Behavioural Testing of NMT "
    "Systems for Numerical Translation",
    params=NumbersParams,
    axes={
        "language": Axis(lambda params: params.languages),
        "pair": Axis(lambda params: params.pairs, lambda pair: pair.pair, lambda pair: Direction(*pair)),
        "model": Axis(lambda params: params.models, label),
    },
    grid=("language", "model"),
    used=lambda params, store: {"n_cases": sorted(_cases_judged(params, store))},
    verdict="pass: the number is carried over with its value and, for strict, in the target language's notation",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    tags=lambda params: {"templates": params.templates},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: chain.from_iterable(_uses(params, *point) for point in product(params.pairs, params.models)),
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("numbers/test_cases", "Which numbers are asked for, and in which sentences?", "grid", "templates"),
        Notebook("numbers/pass_rates", "Are numbers carried over?", "grid", "templates"),
        Notebook("numbers/running_text", "Which quantities of running text are carried over?", "grid", "sentences"),
        Notebook("numbers/length", "Are longer numbers harder?", "grid", "templates"),
        Notebook("numbers/errors", "What goes wrong with the numbers?", "grid", "templates"),
        Notebook("numbers/notation", "Is the value wrong, or only how it is written?", "grid", "templates"),
        Notebook("numbers/smallest_failures", "What is the smallest number that goes wrong?", "grid", "templates"),
        Notebook("numbers/placeholders", "What would it buy to carry numbers over by rule?", "grid", "templates"),
        Notebook("numbers/model_card", "How does this model treat numbers?", "cell", "templates"),
    ),
)


def _key(params: NumbersParams, pair: Direction, model: str) -> dict[str, Any]:
    return {**params.cases_key(pair), **params.model_key(pair, model)}


def _counts(params: NumbersParams, pair: Direction, model: str, store: Store) -> Counts:
    """The texts of the cases, and how many are translated; shrinking asks for more, as it needs them."""
    name = model.removeprefix(BY_RULE)
    by_system = params.harvest_by == "system" and params.template_corpus is not None
    if by_system and not isinstance(resolve(name, pair.src, pair.tgt).remote, OutputsModel):
        return Counts(0, 0)  # which sentences there are is known only after the model has translated the corpus
    try:
        texts = [case.source for case in cases(params, pair, model, store)]
    except MissingOutputsError as error:
        return Counts(error.wanted, 0, error.texts)
    if model.startswith(BY_RULE):
        texts = masked_texts(texts, pair.src)
    rows = judged.rows(params, pair, model, store=store)
    return asked_translations(params, name, pair.src, pair.tgt, texts, store, rows)


@STUDY.step(per=("pair", "model"), key=_key, uses=_uses)
def judged(params: NumbersParams, pair: Direction, model: str, store: Store) -> pd.DataFrame:
    """One row per case: what was asked, what came, whether the number was carried.

    Columns: capability, format, digits, fraction_digits (of the format), template, value (exact, as text), written,
    source, hypothesis, strict, lenient, error, found ("" where it passed), outcome (what the placeholder step did
    with the text, "" for a model without one).
    """
    import pandas as pd

    given = cases(params, pair, model, store)
    hypotheses, outcomes = _translated(params, pair, model, [case.source for case in given], store)
    rows = []
    for case, hypothesis, outcome in zip(given, hypotheses, outcomes, strict=True):
        verdict = _judge(case, case.number, hypothesis, pair)
        rows.append([*_described(case), hypothesis, verdict.strict, verdict.lenient, verdict.error or "",
                     verdict.found, outcome])  # fmt: skip
    return pd.DataFrame(rows, columns=[*_CASE_COLUMNS, *_VERDICT_COLUMNS])


@STUDY.step(
    per=("pair", "model"),
    key=lambda params, pair, model: {**_key(params, pair, model), "n_shrunk": params.n_shrunk},
    uses=_uses,
)
def shrunk(params: NumbersParams, pair: Direction, model: str, store: Store) -> pd.DataFrame:
    """The smallest failing number of up to ``n_shrunk`` formats in which a model failed, capabilities in turn.

    Columns: capability, format, template, written (the failure it began with), smallest, smallest_format, source and
    hypothesis (with the smallest), error, found, asked (numbers tried), proved (whether all simpler ones passed).
    """
    import pandas as pd

    table = judged(params, pair, model, store=store)
    first: dict[str, dict[str, Case]] = {}
    for case, passed in zip(cases(params, pair, model, store), table["strict"], strict=True):
        if not passed:
            first.setdefault(case.capability, {}).setdefault(case.pattern, case)
    turns = chain.from_iterable(zip_longest(*(failures.values() for failures in first.values())))
    chosen = [case for case in turns if case is not None][: params.n_shrunk]
    rows = [_shrunk_row(params, pair, model, case, store) for case in chosen]
    return pd.DataFrame(rows, columns=_SHRUNK_COLUMNS)


def _cases_judged(params: NumbersParams, store: Store) -> set[int]:
    """How many cases the pairs of the run have, as far as they are judged."""
    points = product(params.pairs, params.models)
    found = (judged.rows(params.narrowed(pair.language, model), pair, model, store=store) for pair, model in points)
    return {n for n in found if n is not None}


def _points(field: str) -> Callable[[NumbersParams], Iterator[Point]]:
    """All pairs and models, if a run has this field."""
    return lambda params: STUDY.points(params, ("pair", "model")) if getattr(params, field) is not None else iter(())


@STUDY.work("translate {model} {pair}", per=("pair", "model"), uses=_uses, counts=_counts, points=_points("templates"))
def translate_and_judge(params: NumbersParams, pair: Direction, model: str, store: Store) -> None:
    """All cases of a pair and model translated and judged, and failures shrunk."""
    narrowed = params.narrowed(pair.language, model)
    judged(narrowed, pair, model, store=store)
    shrunk(narrowed, pair, model, store=store)


# ----------------------------------------------------------------------------
# Running text: the quantities of a corpus's own sentences. No number is put into them, so that files of translations
# (`outputs:`) can be judged. What more than two systems get wrong at the same quantity is everyone's: its source is
# unclear, or nbkit misreads it; such sentences are undecided for these systems.

#: What the corpus's own translations are called, which are judged like a system.
REFERENCE = "reference"
#: Kinds of quantities as tables show them.
KINDS = {
    "cardinal": "numbers", "approximate": "numbers", "power": "numbers", "always": "numbers", "measure": "measures",
    "money": "money", "date": "dates", "decade": "dates", "clock": "times", "percent": "shares", "permille": "shares",
    "fraction": "shares", "ordinal": "ordinals", "roman": "ordinals", "identifier": "codes",
}  # fmt: skip


def required(text: str, lang: str) -> list[Quantity]:
    """The quantities of *text* that a translation has to carry over, both ends of a range.

    >>> [each.surface for each in required("One of them paid 3 to 5 euros.", "en")]
    ['3', '5']
    """
    return [each for each in with_ends(find_quantities(text, lang)) if each.certainty == 1]


def _texts(params: NumbersParams, pair: Direction) -> Iterable[Any]:
    return text_pairs(params.sentences or "", pair.src, pair.tgt, params.n_sentences)


@STUDY.step(per=("pair",), key=lambda params, pair: {**params.sentences_key(pair), "pair": pair.pair})
@as_table("line", "source", "reference", "kinds")
def sentences(params: NumbersParams, pair: Direction, store: Store) -> Iterator[Any]:
    """The sentences with quantities. Columns: line (from 1), source, reference, kinds (a list of values of `KINDS`)."""
    for line, each in enumerate(_texts(params, pair), start=1):
        if found := required(each.source, pair.src):
            yield line, each.source, each.target, sorted({KINDS[quantity.kind] for quantity in found})


def _flagged_key(params: NumbersParams, pair: Direction, model: str) -> dict[str, Any]:
    of_model = {"model": REFERENCE} if model == REFERENCE else params.model_key(pair, model)
    return {**params.sentences_key(pair), "pair": pair.pair, **of_model}


@STUDY.step(per=("pair", "model"), key=_flagged_key, uses=lambda params, pair, model: ())
@as_table("hypothesis", "flags", "chrf", "chrf_sums")
def flagged(params: NumbersParams, pair: Direction, model: str, store: Store) -> Iterator[Any]:
    """What is wrong with the quantities of each sentence of `sentences`, in its order; model may be `REFERENCE`.

    Columns: hypothesis, flags (a list of: place, equal for the same quantity of a source; kind; said; spans in source
    and output, [] where it is not there), chrf (a share) and chrf_sums (`sentence_sums`) against the reference.
    """
    given = sentences(params, pair, store=store)
    texts, references = list(given["source"]), list(given["reference"])
    answers = references if model == REFERENCE else params.translate(model, texts, pair.src, pair.tgt, store)
    sums = sentence_sums("chrf", answers, references, pair.tgt)
    for source, hypothesis, own in zip(texts, answers, sums, strict=True):
        wrong = wrong_quantities(compare_quantities(source, hypothesis, pair.src, pair.tgt))
        yield hypothesis, [_flag(each) for each in wrong], score_of_sums("chrf", [own]) / 100, own


def _flag(verdict: Verdict) -> dict[str, Any]:
    quantity = verdict.source or verdict.target
    assert quantity is not None
    spans = {
        side: list(each.span) if each else []
        for side, each in zip(_SIDES, (verdict.source, verdict.target), strict=True)
    }
    return {"place": str(quantity_of(verdict)), "kind": KINDS[quantity.kind], "said": str(verdict), **spans}


_SIDES = ("source", "output")


@STUDY.work(
    "judge quantities of {model} {pair}", per=("pair", "model"), uses=_uses, points=_points("sentences"),
    counts=lambda params, pair, model, store: asked_translations(
        params, model, pair.src, pair.tgt, sentences(params, pair, store=store)["source"], store,
        flagged.rows(params, pair, model, store=store),
    ),
)  # fmt: skip
def judge_running_text(params: NumbersParams, pair: Direction, model: str, store: Store) -> None:
    """All sentences with quantities translated and judged."""
    flagged(params, pair, model, store=store)


def running_text(params: NumbersParams, pair: Direction, store: Store | None = None) -> pd.DataFrame:
    """What each system, and the reference, makes of each sentence with quantities.

    Columns: system, line, source, reference, kinds, hypothesis, chrf, chrf_sums, own (flags that at most one other
    output of the sentence has; see `flagged`), shared (the other ones).
    """
    import pandas as pd

    given = sentences(params, pair, store=store)
    tables = {label(model): flagged(params, pair, model, store=store) for model in [*params.models, REFERENCE]}
    having = Counter(
        (place, row)
        for table in tables.values()
        for row, flags in enumerate(table["flags"])
        for place in {flag["place"] for flag in flags}
    )
    parts = []
    for system, table in tables.items():
        split: dict[str, list[Any]] = {"own": [], "shared": []}
        for row, flags in enumerate(table["flags"]):
            for name, wanted in (("own", True), ("shared", False)):
                split[name].append([each for each in flags if (having[each["place"], row] <= MOST_OWN) is wanted])
        parts.append(given.join(table.drop(columns="flags")).assign(system=system, **split))
    return pd.concat(parts, ignore_index=True)


@STUDY.outcomes(headline="nbkit.studies.numbers.tables:pass_rates")
def outcomes(params: NumbersParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Each case by both verdicts, and the smallest failures; drawn numbers are the clusters: templates are given.

    Of running text each sentence ("carried"), each kind of quantity in it ("carried/kind"), and its chrF.
    """
    import pandas as pd

    for pair in params.pairs if params.sentences is not None else ():
        yield from _of_running_text(params, pair, store, texts)
    for pair, model in product(params.pairs, params.models) if params.templates is not None else ():
        table = judged(params.narrowed(pair.language, model), pair, model, store=store)
        items = [
            item_id([pair.src, pair.tgt, source], {"number": value, "format": pattern})
            for source, value, pattern in zip(table["source"], table["value"], table["format"], strict=True)
        ]
        of = table[["capability", "format", "digits", "fraction_digits"]].astype(str).to_dict("records")
        groups = [{"language": pair.language, "direction": pair.direction, **each} for each in of]
        shared = pd.DataFrame({"item": items, "cluster": table["value"], "groups": groups}).assign(
            system=label(model), source_language=pair.src, target_language=pair.tgt
        )
        if texts:
            # Not looked for in the source, which begins with a capital letter even where the number is a word.
            starts = (template.index(PLACEHOLDER) for template in table["template"])
            spans = (
                [{"text": "source", "start": start, "end": start + len(written), "label": "number"}]
                for start, written in zip(starts, table["written"], strict=True)
            )
            shared = shared.assign(source=table["source"], output=table["hypothesis"], spans=objects(spans))
        for measure in ("strict", "lenient"):
            passed = table[measure].astype(bool)
            yield shared.assign(
                measure=measure, value=passed.astype(float), verdict=passed.map({True: "pass", False: "fail"}),
                reason=table["error"].where(~passed, ""),
            )  # fmt: skip
        yield _smallest(params, pair, model, store, texts)


def _smallest(params: NumbersParams, pair: Direction, model: str, store: Store, texts: bool) -> pd.DataFrame:
    """The smallest numbers that fail, as outcomes whose value is the number."""
    import pandas as pd

    table = shrunk(params.narrowed(pair.language, model), pair, model, store=store)
    values = [float(find_numbers(each, pair.src)[0].value) for each in table["smallest"]]
    groups = table[["capability", "format", "smallest_format"]].astype(str).to_dict("records")
    found = pd.DataFrame({
        "item": [item_id([pair.src, pair.tgt, each], {"shrunk from": of})
                 for each, of in zip(table["source"], table["written"], strict=True)],
        "cluster": table["written"], "measure": "smallest failure", "value": values, "verdict": "fail",
        "reason": table["error"], "system": label(model), "source_language": pair.src, "target_language": pair.tgt,
        "groups": [{"language": pair.language, "direction": pair.direction, **each} for each in groups],
    })  # fmt: skip
    return found.assign(source=table["source"], output=table["hypothesis"]) if texts else found


def _of_running_text(params: NumbersParams, pair: Direction, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    table = running_text(params, pair, store)
    ids = [item_id([pair.src, pair.tgt, source], {"quantities": "all"}) for source in table["source"]]
    groups = objects({"language": pair.language, "direction": pair.direction} for _ in range(len(table)))
    whole = table.assign(item=ids, cluster=ids, groups=groups, source_language=pair.src, target_language=pair.tgt)
    whole = whole.rename(columns={"hypothesis": "output"})
    kinds = whole.explode("kinds", ignore_index=True)
    kinds = kinds.assign(
        item=[item_id([each], {"quantities": kind}) for each, kind in kinds[["cluster", "kinds"]].values],
        groups=objects({**group, "kind": kind} for group, kind in kinds[["groups", "kinds"]].values),
        own=objects(_of_kind(flags, kind) for flags, kind in kinds[["own", "kinds"]].values),
        shared=objects(_of_kind(flags, kind) for flags, kind in kinds[["shared", "kinds"]].values),
    )
    columns = [*COLUMNS, *(TEXTS if texts else ())]
    asked = {source: required(source, pair.src) for source in table["source"].unique()} if texts else {}
    for measure, rows in (("carried", whole), ("carried/kind", kinds)):
        of = rows["kinds"] if measure == "carried/kind" else [None] * len(rows)
        flags = [[*own, *rest] for own, rest in rows[["own", "shared"]].values]
        verdicts = ["fail" if own else "undecided" if rest else "pass" for own, rest in rows[["own", "shared"]].values]
        said = ["; ".join(flag["said"] for flag in each) for each in flags]
        found = rows.assign(
            measure=measure,
            verdict=verdicts,
            value=[_VALUES[verdict] for verdict in verdicts],
            reason=[f"everyone's: {why}" if verdict == "undecided" else why
                    for verdict, why in zip(verdicts, said, strict=True)],
            spans=objects(
                _marks(each)
                or [
                    {"text": "source", "start": quantity.span[0], "end": quantity.span[1], "label": "quantity"}
                    for quantity in asked.get(source, ())
                    if kind in (None, KINDS[quantity.kind])
                ]
                for each, source, kind in zip(flags, rows["source"], of, strict=True)
            ),
        )  # fmt: skip
        yield found[[name for name in columns if name in found]]
    sums = objects(list(map(int, each)) for each in whole["chrf_sums"])
    scored = whole.assign(measure="chrf", value=whole["chrf"], sums=sums)
    yield scored[[name for name in columns if name in scored]]


_VALUES = {"pass": 1.0, "fail": 0.0, "undecided": float("nan")}


def _of_kind(flags: Iterable[Any], kind: str) -> list[Any]:
    return [flag for flag in flags if flag["kind"] == kind]


def _marks(flags: Iterable[Any]) -> list[dict[str, Any]]:
    """What flags are on, as spans of outcomes."""
    return [
        {"text": side, "start": int(flag[side][0]), "end": int(flag[side][1]), "label": "wrong"}
        for flag in flags
        for side in _SIDES
        if len(flag[side])
    ]


def results(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """`judged` of all pairs and models of the run, with the columns language, direction, pair and model before."""
    return _stacked(params, judged, [*_CASE_COLUMNS, *_VERDICT_COLUMNS], store)


def shrunk_failures(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """`shrunk` of all pairs and models of the run, with the columns language, direction, pair and model before."""
    return _stacked(params, shrunk, _SHRUNK_COLUMNS, store)


def _stacked(params: NumbersParams, table: Any, columns: list[str], store: Store | None) -> pd.DataFrame:
    import pandas as pd

    frames = [pd.DataFrame(columns=columns)] if not params.models else []
    for pair, model in product(params.pairs, params.models):
        found = table(params.narrowed(pair.language, model), pair, model, store=store)
        frames.append(
            found.assign(language=pair.language, direction=pair.direction, pair=pair.pair, model=label(model))
        )
    return pd.concat(frames, ignore_index=True).reindex(columns=[*OF, *columns])


def _described(case: Case) -> list[Any]:
    parsed = parse_format(case.pattern)
    value = format(case.number.value, "f")
    return [case.capability, case.pattern, parsed.digits, len(parsed.fraction), case.template.text, value,
            case.number.written, case.source]  # fmt: skip


def _translated(
    params: NumbersParams, pair: Direction, model: str, texts: Sequence[str], store: Store, progress: bool = True
) -> tuple[list[str], list[str]]:
    """Hypotheses, and what the placeholder step made of each text."""
    if model.startswith(BY_RULE):
        settings: Any = {"store": store, "progress": progress, **params.running}
        carried = carry_remembered(model, texts, pair.src, pair.tgt, params.decoding, **settings)
        return [each.hypothesis for each in carried], [each.outcome for each in carried]
    return params.translate(model, texts, pair.src, pair.tgt, store, progress=progress), [""] * len(texts)


def _judge(case: Case, number: DrawnNumber, hypothesis: str, pair: Direction) -> Judgement:
    own = template_numbers(case.template.around, pair.src)
    at = case.template.text.index(PLACEHOLDER) / len(case.template.text)
    return judge_number(hypothesis, number.value, number.written, pair.src, pair.tgt, own, at)


def _shrunk_row(params: NumbersParams, pair: Direction, model: str, case: Case, store: Store) -> list[Any]:
    def fails(writings: list[str]) -> list[bool]:
        texts = [case.template.fill(each) for each in writings]
        hypotheses, _ = _translated(params, pair, model, texts, store, progress=False)
        numbers = [DrawnNumber(find_numbers(each, pair.src)[0].value, each) for each in writings]
        return [
            not _judge(case, number, hypothesis, pair).strict
            for number, hypothesis in zip(numbers, hypotheses, strict=True)
        ]

    outcome: Shrunk = shrink_number(case.number, case.pattern, pair.src, fails)
    source = case.template.fill(outcome.number.written)
    (hypothesis,), _ = _translated(params, pair, model, [source], store, progress=False)
    verdict = _judge(case, outcome.number, hypothesis, pair)
    return [case.capability, case.pattern, case.template.text, case.number.written, outcome.number.written,
            outcome.pattern, source, hypothesis, verdict.error or "", verdict.found, outcome.asked,
            outcome.smallest]  # fmt: skip
