"""Every case translated and judged, and failures shrunk: computed a language pair and model at a time, remembered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from nbkit.fingerprint import digest
from nbkit.measure.numbers import Judgement, judge_number, template_numbers
from nbkit.models import ensure_model, label, translate_remembered
from nbkit.models.lifecycle import with_revision
from nbkit.models.translators.catalogue import BY_RULE
from nbkit.models.translators.lifecycle import carry_remembered
from nbkit.numbers import find_numbers
from nbkit.numbers.formats import DrawnNumber, parse_format
from nbkit.perturb.shrink_numbers import Shrunk, shrink_number
from nbkit.store import Store
from nbkit.studies.numbers.cases import Case, cases
from nbkit.studies.numbers.params import Direction, NumbersParams

if TYPE_CHECKING:
    import pandas as pd

_CASE_COLUMNS = ["capability", "format", "digits", "fraction_digits", "template", "value", "written", "source"]


_VERDICT_COLUMNS = ["hypothesis", "strict", "lenient", "error", "found", "outcome"]


_SHRUNK_COLUMNS = ["capability", "format", "template", "written", "smallest", "smallest_format", "source",
                   "hypothesis", "error", "found", "asked", "proved"]  # fmt: skip


#: What a row of several pairs and models begins with.
OF = ["language", "direction", "pair", "model"]


def judged(params: NumbersParams, pair: Direction, model: str, store: Store) -> pd.DataFrame:
    """One row a case: what was asked, what came, whether the number was carried.

    Columns: capability, format, digits, fraction_digits (of the format), template, value (exact, as text), written,
    source, hypothesis, strict, lenient, error, found ("" where it passed), outcome (what the placeholder step did
    with the text, "" for a model without one).
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        asked = cases(params, pair, model, store)
        hypotheses, outcomes = _translated(params, pair, model, [case.source for case in asked], store)
        rows = []
        for case, hypothesis, outcome in zip(asked, hypotheses, outcomes, strict=True):
            verdict = _judge(case, case.number, hypothesis, pair)
            rows.append([*_described(case), hypothesis, verdict.strict, verdict.lenient, verdict.error or "",
                         verdict.found, outcome])  # fmt: skip
        return pd.DataFrame(rows, columns=[*_CASE_COLUMNS, *_VERDICT_COLUMNS])

    return store.table(_config("judged", params, pair, model), compute)


def shrunk(params: NumbersParams, pair: Direction, model: str, store: Store) -> pd.DataFrame:
    """The smallest failing number of up to ``n_shrunk`` formats in which a model failed, capabilities in turn.

    Columns: capability, format, template, written (the failure it began with), smallest, smallest_format, source and
    hypothesis (with the smallest), error, found, asked (numbers tried), proved (whether all simpler ones passed).
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        table = judged(params, pair, model, store)
        asked = cases(params, pair, model, store)
        first: dict[str, dict[str, Case]] = {}
        for case, passed in zip(asked, table["strict"], strict=True):
            if not passed:
                first.setdefault(case.capability, {}).setdefault(case.pattern, case)
        turns = chain.from_iterable(zip_longest(*(failures.values() for failures in first.values())))
        chosen = [case for case in turns if case is not None][: params.n_shrunk]
        rows = [_shrunk_row(params, pair, model, case, store) for case in chosen]
        return pd.DataFrame(rows, columns=_SHRUNK_COLUMNS)

    return store.table(_config("shrunk", params, pair, model, n_shrunk=params.n_shrunk), compute)


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
            found = table(params.narrowed(pair.language, model), pair, model, store)
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


def _config(kind: str, params: NumbersParams, pair: Direction, model: str, **more: Any) -> dict[str, Any]:
    """The store key of one remembered table; a hub model is downloaded first: only then its revision is known."""
    key = with_revision(lambda: dict(params.model_key(pair, model)), lambda: ensure_model(model, pair.src, pair.tgt))
    code = digest("nbkit.numbers", "nbkit.studies.numbers.steps")
    return {"kind": f"numbers.{kind}", "code": code, **params.cases_key(pair), **key, **more}
