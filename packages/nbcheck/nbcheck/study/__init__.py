"""Suites: tests that people write down, as one more behaviour (docs/suites.md).

`STUDY` has the tables ``items`` (the texts of each test), ``aside`` (which tests are in quarantine, and why) and
``outcomes`` (the verdict on each translation).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbcheck.study import items as testing
from nbcheck.study import judge
from nbcheck.study.params import SuiteParams
from nbkit.models import label
from nbkit.studies import base
from nbkit.studies.answering import Cell
from nbkit.studies.base import Notebook, cell_label
from nbkit.studies.study import Study, Table

__all__ = ["STUDY", "SuiteParams"]


def _cells(params: SuiteParams) -> Iterator[Cell]:
    """A cell for each model; without models one for the languages alone, for tests and quarantine."""
    yield from (Cell(params.source, params.target, model) for model in params.models or [""])


def _model_pages(params: SuiteParams) -> Iterator[base.PageCell]:
    """A page for each model."""
    for model in params.models:
        yield base.PageCell(cell_label(label(model)), params.for_model(model), {"model": label(model)})


STUDY = Study(
    name="suite",
    title="A suite: does a translation have what people say it must?",
    paper="",
    params=SuiteParams,
    tables=(
        Table(testing.items, inputs=testing.inputs, size=testing.size, columns=testing.COLUMNS),
        Table(judge.aside, inputs=judge.aside_inputs, columns=judge.ASIDE),
        Table(judge.outcomes, inputs=judge.inputs, columns=judge.OUTCOMES),
    ),
    grid=("model",),
    points=_cells,
    pages=_model_pages,
    check=lambda params, cell: params.form_problems(),
    verdict="pass: the translation is as the suite expects; undecided: its expectations say nothing or contradict "
    "each other, and people have to judge",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    notebooks=(
        Notebook("suite/leaderboard", "Which system has what the suite asks for?", "grid"),
        Notebook("suite/quarantine", "Which tests say more of the suite than of a system?", "grid"),
        Notebook("suite/model_card", "Where does this system fail the suite?", "cell"),
    ),
)
