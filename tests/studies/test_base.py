"""Parameters of any study, made in Python."""

from __future__ import annotations

import pickle
import re
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

import pytest
from annotated_types import Le, Lt
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nbkit.errors import ParamsError
from nbkit.studies import STUDIES
from nbkit.studies.base import cell_label
from nbkit.studies.numbers import NumbersParams
from nbkit.studies.word_order import WordOrderParams


def test_a_typo_is_reported_as_in_a_run_file():
    with pytest.raises(
        ParamsError, match=r"^WordOrderParams: n_pair: unknown parameter; did you mean 'n_pairs'\?$"
    ) as caught:
        WordOrderParams(n_pair=1)
    assert isinstance(caught.value.__cause__, ValidationError)
    with pytest.raises(ParamsError, match=r"^my\.ipynb: sed: unknown parameter; did you mean 'seed'\?$"):
        NumbersParams.checked({"sed": 1}, "my.ipynb")


DECLARED = 'corpus = "sandbox"\nlanguages = ["de"]\nrun = {}'


@pytest.mark.parametrize(
    ("variables", "executed"),
    [
        ({"n_pair": 3}, ["", DECLARED, "# Parameters\nn_pair = 3\n"]),  # papermill -p n_pair 3
        ({"n_pair": 3}, ["", DECLARED, DECLARED + "\nn_pair = 3"]),  # the cell edited in JupyterLab and run again
        ({"run": {"n_pair": 3}}, ["", DECLARED]),
    ],
)
def test_a_misspelt_parameter_of_a_notebook_is_an_error(variables, executed):
    with pytest.raises(ParamsError, match=r"^notebook: n_pair: unknown parameter; did you mean 'n_pairs'\?$"):
        WordOrderParams.from_notebook({"languages": ["de"], **variables, "In": executed})


def test_a_notebook_s_parameters_are_those_it_names_those_of_the_run_and_defaults():
    other_variables = {"metric": "levenshtein", "n_pair": 3, "name": "card"}  # of cells that are no parameters
    executed = ["", "# Parameters\nn_pair = 3", "# Parameters\nseed = 2", DECLARED, "metric = 'bleu'", "a ="]
    values = {"corpus": "sandbox", "languages": "fr", "seed": 2, "run": {"kappa": "chrf", "seed": 1}, "beams": 1}
    params = WordOrderParams.from_notebook({**other_variables, **values, "In": executed})
    assert params == WordOrderParams(languages=["fr"], kappa="chrf", seed=2, beams=1)
    assert WordOrderParams.from_notebook({}) == WordOrderParams()


def test_parameters_are_pydantic_s_all_the_same():
    params = WordOrderParams(languages=["de"], n_pairs=3)
    assert WordOrderParams.model_validate(params.model_dump()) == params
    assert WordOrderParams.model_validate_json(params.model_dump_json()) == params
    assert pickle.loads(pickle.dumps(params)) == params  # noqa: S301 - its own
    assert params.model_copy(update={"seed": 1}).seed == 1
    with pytest.raises(ParamsError, match="did you mean 'n_pairs'"):
        WordOrderParams.model_validate({"n_pair": 1})


#: Labels of models that runs have had, and what their files have been called.
KNOWN = {
    "OPUS-MT": "de.OPUS-MT",
    "mBART +mask": "de.mBART-mask",
    "tiny (plain, t=0.7)": "de.tiny-plain-t-0.7",
    "LSTM (seed 2)": "de.LSTM-seed-2",
    "opus_mt": "de.opus-mt",
    "M2M100 1.2B + placeholder": "de.M2M100-1.2B-placeholder",
}


@pytest.mark.parametrize("name", KNOWN)
def test_labels_of_ordinary_names_stay(name):
    assert cell_label("de", name) == KNOWN[name]


@given(st.lists(st.one_of(st.text("模型ёñ", min_size=1, max_size=5), st.just("x" * 400), st.text("aé-", min_size=1))))
def test_no_label_is_empty_too_long_or_that_of_another_script(names):
    labels = {name: cell_label("de", name) for name in names}
    for name, label in labels.items():
        assert re.fullmatch(r"de(\.|-|$)[A-Za-z0-9.-]*", label) and len(label) <= 100
        if not name.isascii():
            assert re.fullmatch(r"[A-Za-z0-9.-]+", cell_label(name))
    foreign = {name for name in names if any(letter.isalpha() and not letter.isascii() for letter in name)}
    assert len({labels[name] for name in foreign}) == len(foreign)


@pytest.mark.parametrize("study", list(STUDIES))
def test_every_number_has_a_range(study):
    schema = STUDIES.get(study).params
    for name, field in schema.model_fields.items():
        kinds, limits = {field.annotation}, [*field.metadata]
        for part in get_args(field.annotation) if get_origin(field.annotation) in (Union, UnionType) else ():
            kinds.add(get_args(part)[0] if get_origin(part) is Annotated else part)
            limits += [
                each
                for info in get_args(part)[1:]
                if get_origin(part) is Annotated
                for each in getattr(info, "metadata", ())
            ]
        if dict in map(get_origin, kinds):  # checked by the study, see the next test
            continue
        if kinds & {int, float}:
            assert any(isinstance(limit, Le | Lt) for limit in limits), f"{study}: {name} has no upper end"
        if int in kinds:
            with pytest.raises(ParamsError, match=rf"{name}: must be at most \d+, found 1{'0' * 26}"):
                schema(**{name: 10**26})


@pytest.mark.parametrize(
    ("study", "values", "message"),
    [
        (
            "word_order",
            {"n_pairs": 10**26},
            "n_pairs: a number of pairs is an integer of at most 1,000,000,000",
        ),
        ("word_order", {"n_pairs": {"de": 10**26}}, "at most 1,000,000,000 and at least 1, found 1"),
        ("word_order", {"beams": 10**6}, "beams: must be at most 1000, found 1000000"),
        (
            "word_order",
            {"models": ["openai:x@http://h:99999/v1"]},
            "models: model 'openai:x@…': the port must be a number from",
        ),
        ("numbers", {"models": ["sandbox-marian#99999999999999999999999"]}, "write a number from 0 to 4294967295"),
        ("numbers", {"n_numbers": -1}, "n_numbers: must be at least 1, found -1"),
        (
            "numbers",
            {"harvest_by": "sytem"},
            "harvest_by: must be 'reference' or 'system', found 'sytem'; did you mean 'system'?",
        ),
        ("numbers", {"device": "meta"}, "device: unknown device 'meta'"),
        ("idioms", {"conditions": ["upsample-99999999999"]}, "upsample-20 (at most 10000)"),
        ("disambiguation", {"perplexity_rise": float("inf")}, "perplexity_rise: must be at most 1000.0"),
        ("nli_permutation", {"permutations": 10**9}, "permutations: must be at most 10000"),
    ],
)
def test_ranges_are_stated(study, values, message):
    with pytest.raises(ParamsError, match=re.escape(message)):
        STUDIES.get(study).params(**values)


@pytest.mark.parametrize("schema", [NumbersParams, WordOrderParams])
def test_every_parameter_is_described_where_it_is_declared(schema):
    for name, field in schema.model_fields.items():
        assert field.description, name
