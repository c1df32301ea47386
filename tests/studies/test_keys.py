"""Keys cannot lie: whatever is changed, tables that are stored equal those of an empty store.

Every parameter of every study is changed, one at a time (`changes.yaml`), on a store that holds the tables of the
parameters before; what is read then is compared with what an empty store computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from nbkit.studies import STUDIES
from nbkit.studies.study import Run
from tests.frozen.runs import PARAMETERS, working

CHANGES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("changes.yaml").read_text())
CASES = [(study, name) for study, changes in CHANGES.items() for name in changes if name != "not"]


def tables(params: Any) -> dict[str, pd.DataFrame]:
    run = Run(params.study, params)
    run.fill()
    return {table.name: run.read(table.name) for table in params.study.tables}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, Mapping[str, Any]]]]:
    """The folder of each study with its tables in the store, and the parameters; made when a study is first asked."""
    yield {}


def base(study: str, runs: dict[str, Any], factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, Any]]:
    if study not in runs:
        folder = factory.mktemp(study)
        with working(study, folder):
            values = PARAMETERS[study]()
            tables(STUDIES.get(study).params(**values))
        runs[study] = folder, values
    return runs[study]


@pytest.mark.slow
@pytest.mark.parametrize(("study", "name"), CASES, ids=lambda value: value)
def test_a_warm_store_gives_what_an_empty_one_does(
    study: str, name: str, runs: dict[str, Any], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    folder, before = base(study, runs, tmp_path_factory)
    value = CHANGES[study][name]
    change = value["with"] if isinstance(value, dict) and set(value) == {"with"} else {name: value}
    kind = STUDIES.get(study).params
    params = kind(**{**before, **change})
    assert params != kind(**before), "the value is no other one"
    with working(study, folder):
        warm = tables(params)
        monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "empty"))
        cold = tables(params)
    assert any((tmp_path / "empty").iterdir())
    for table in warm:
        pd.testing.assert_frame_equal(warm[table], cold[table], check_exact=True, obj=f"{study}.{table}")


@pytest.mark.parametrize("study", CHANGES)
def test_every_parameter_has_another_value_or_a_reason(study: str):
    changes = CHANGES[study]
    assert {*changes, *changes.get("not", {})} - {"not"} == set(STUDIES.get(study).params.model_fields)
