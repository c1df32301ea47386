"""Parameters of any study, made in Python."""

from __future__ import annotations

import pickle

import pytest
from pydantic import ValidationError

from nbkit.errors import ParamsError
from nbkit.studies.numbers import NumbersParams
from nbkit.studies.word_order import WordOrderParams


def test_a_typo_is_told_as_in_a_run_file():
    with pytest.raises(
        ParamsError, match=r"^WordOrderParams: n_pair: unknown parameter; did you mean 'n_pairs'\?$"
    ) as caught:
        WordOrderParams(n_pair=1)
    assert isinstance(caught.value.__cause__, ValidationError)
    with pytest.raises(ParamsError, match=r"^my\.ipynb: sed: unknown parameter; did you mean 'seed'\?$"):
        NumbersParams.checked({"sed": 1}, "my.ipynb")


def test_parameters_are_pydantic_s_all_the_same():
    params = WordOrderParams(languages=["de"], n_pairs=3)
    assert WordOrderParams.model_validate(params.model_dump()) == params
    assert WordOrderParams.model_validate_json(params.model_dump_json()) == params
    assert pickle.loads(pickle.dumps(params)) == params  # noqa: S301 - its own
    assert params.model_copy(update={"seed": 1}).seed == 1
    with pytest.raises(ParamsError, match="did you mean 'n_pairs'"):
        WordOrderParams.model_validate({"n_pair": 1})
