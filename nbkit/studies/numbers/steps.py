"""The numbers study's steps: every case translated and judged, failures shrunk; a pair and model at a time.

What is computed is remembered (`nbkit.studies.engine`); `results` and `shrunk_failures` put the pairs and models of a
run together, and `outcomes` are the verdicts in the shape that all studies share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit import models
from nbkit.corpora.templates import load_templates
from nbkit.errors import NbkitError
from nbkit.measure.numbers import Judgement, judge_number, template_numbers
from nbkit.models import label, translate_remembered
from nbkit.models.translators.catalogue import BY_RULE
from nbkit.models.translators.lifecycle import carry_remembered
from nbkit.models.translators.placeholder import masked_texts
from nbkit.models.translators.texts import corpus_texts_problems
from nbkit.numbers import find_numbers, forms
from nbkit.numbers.formats import DrawnNumber, parse_format
from nbkit.perturb.shrink_numbers import Shrunk, shrink_number
from nbkit.store import Store
from nbkit.studies.base import Notebook
from nbkit.studies.engine import TRANSLATOR, Axis, Study, Use, asked
from nbkit.studies.numbers.cases import Case, cases
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.results import item_id, objects

if TYPE_CHECKING:
    import pandas as pd

_CASE_COLUMNS = ["capability", "format", "digits", "fraction_digits", "template", "value", "written", "source"]
_VERDICT_COLUMNS = ["hypothesis", "strict", "lenient", "error", "found", "outcome"]
_SHRUNK_COLUMNS = ["capability", "format", "template", "written", "smallest", "smallest_format", "source",
                   "hypothesis", "error", "found", "asked", "proved"]  # fmt: skip
#: What a row of several pairs and models begins with.
OF = ["language", "direction", "pair", "model"]


def _problems(params: NumbersParams) -> Iterator[str]:
    """What stands in the way of this run beside its models: templates, and formats that a language does not have."""
    for pair in params.pairs:
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
            "cases": params.cases_key(pair),
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
    verdict="pass: the number is carried over with its value and, for strict, in the target language's notation",
    tags=lambda params: {"templates": params.templates},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: [use for pair in params.pairs for model in params.models for use in _uses(params, pair, model)],
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("numbers/test_cases", "Which numbers are asked for, and in which sentences?", "grid"),
        Notebook("numbers/pass_rates", "Are numbers carried over?", "grid"),
        Notebook("numbers/length", "Are longer numbers harder?", "grid"),
        Notebook("numbers/errors", "What goes wrong with the numbers?", "grid"),
        Notebook("numbers/notation", "Is the value wrong, or only how it is written?", "grid"),
        Notebook("numbers/smallest_failures", "What is the smallest number that goes wrong?", "grid"),
        Notebook("numbers/placeholders", "What would it buy to carry numbers over by rule?", "grid"),
        Notebook("numbers/model_card", "How does this model treat numbers?", "cell"),
    ),
)


def _key(params: NumbersParams, pair: Direction, model: str) -> dict[str, Any]:
    return {**params.cases_key(pair), **params.model_key(pair, model)}


def _counts(params: NumbersParams, pair: Direction, model: str, store: Store) -> tuple[int, int]:
    """The texts of the cases, and how many are translated; shrinking asks for more, as it needs them."""
    if params.harvest_by == "system" and params.template_corpus is not None:
        return 0, 0  # which sentences there are is known only after the model has translated the corpus
    texts = [case.source for case in cases(params, pair, model, store)]
    if model.startswith(BY_RULE):
        texts = masked_texts(texts, pair.src)
    name, settings = model.removeprefix(BY_RULE), {"device": params.device, "dtype": params.dtype}
    return asked(models.translation_config(name, pair.src, pair.tgt, params.decoding, **settings), texts, store)


@STUDY.step(per=("pair", "model"), key=_key, uses=_uses)
def judged(params: NumbersParams, pair: Direction, model: str, store: Store) -> pd.DataFrame:
    """One row a case: what was asked, what came, whether the number was carried.

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


@STUDY.work("translate {model} {pair}", per=("pair", "model"), uses=_uses, counts=_counts)
def translate_and_judge(params: NumbersParams, pair: Direction, model: str, store: Store) -> None:
    """All cases of a pair and model translated and judged, and failures shrunk."""
    narrowed = params.narrowed(pair.language, model)
    judged(narrowed, pair, model, store=store)
    shrunk(narrowed, pair, model, store=store)


@STUDY.outcomes(headline="nbkit.studies.numbers.tables:pass_rates")
def outcomes(params: NumbersParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Each case by both verdicts; numbers are the clusters: they are drawn, the templates are given."""
    import pandas as pd

    for pair in params.pairs:
        for model in params.models:
            table = judged(params.narrowed(pair.language, model), pair, model, store=store)
            items = [
                item_id([pair.src, pair.tgt, source], {"number": value, "format": pattern})
                for source, value, pattern in zip(table["source"], table["value"], table["format"], strict=True)
            ]
            direction = "out" if pair.src == params.source else "back"
            names = ["capability", "format", "digits", "fraction_digits"]
            groups = [
                {"language": pair.language, "direction": direction, **dict(zip(names, map(str, row), strict=True))}
                for row in table[names].itertuples(index=False, name=None)
            ]
            shared = pd.DataFrame({"item": items, "cluster": table["value"], "groups": groups}).assign(
                system=label(model), source_language=pair.src, target_language=pair.tgt
            )
            if texts:
                spans = (
                    [{"text": "source", "start": source.index(written), "end": source.index(written) + len(written),
                      "label": "number"}]
                    for source, written in zip(table["source"], table["written"], strict=True)
                )  # fmt: skip
                shared = shared.assign(source=table["source"], output=table["hypothesis"], spans=objects(spans))
            for measure in ("strict", "lenient"):
                passed = table[measure].astype(bool)
                verdicts = passed.map({True: "pass", False: "fail"})
                yield shared.assign(
                    measure=measure, value=passed.astype(float), verdict=verdicts,
                    reason=table["error"].where(~passed, ""),
                )  # fmt: skip


def results(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """`judged` of all pairs and models of the run, with the columns language, direction, pair and model before."""
    return _stacked(params, judged, [*_CASE_COLUMNS, *_VERDICT_COLUMNS], store)


def shrunk_failures(params: NumbersParams, store: Store | None = None) -> pd.DataFrame:
    """`shrunk` of all pairs and models of the run, with the columns language, direction, pair and model before."""
    return _stacked(params, shrunk, _SHRUNK_COLUMNS, store)


def _stacked(params: NumbersParams, table: Any, columns: list[str], store: Store | None) -> pd.DataFrame:
    import pandas as pd

    store = store or Store()
    frames = []
    for pair in params.pairs:
        for model in params.models:
            found = table(params.narrowed(pair.language, model), pair, model, store=store)
            direction = "out" if pair.src == params.source else "back"
            frames.append(found.assign(language=pair.language, direction=direction, pair=pair.pair, model=label(model)))
    columns = [*OF, *columns]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def _described(case: Case) -> list[Any]:
    parsed = parse_format(case.pattern)
    value = format(case.number.value, "f")
    return [case.capability, case.pattern, parsed.digits, len(parsed.fraction), case.template.text, value,
            case.number.written, case.source]  # fmt: skip


def _translated(
    params: NumbersParams, pair: Direction, model: str, texts: Sequence[str], store: Store, progress: bool = True
) -> tuple[list[str], list[str]]:
    """Hypotheses, and what the placeholder step made of each text."""
    settings: Any = {"store": store, "device": params.device, "dtype": params.dtype, "progress": progress}
    if model.startswith(BY_RULE):
        carried = carry_remembered(model, texts, pair.src, pair.tgt, params.decoding, **settings)
        return [each.hypothesis for each in carried], [each.outcome for each in carried]
    hypotheses = translate_remembered(model, texts, pair.src, pair.tgt, params.decoding, **settings)
    return hypotheses, [""] * len(texts)


def _judge(case: Case, number: DrawnNumber, hypothesis: str, pair: Direction) -> Judgement:
    own = template_numbers(case.template.around, pair.src)
    return judge_number(hypothesis, number.value, number.written, pair.src, pair.tgt, own)


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
