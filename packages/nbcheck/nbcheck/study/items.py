"""The tests of a suite as items: all texts that a system is to translate for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nbcheck import Test
from nbcheck.study.params import SuiteParams
from nbkit.models import load, missing
from nbkit.models.model import Model
from nbkit.store import Store
from nbkit.studies.answering import Cell

#: What distinguishes tests.
GROUPS = ("test", "cluster", "category", "phenomenon")
COLUMNS = ("item", *GROUPS, "line", "role", "source")


def size(params: SuiteParams, cell: Cell) -> int:
    """The number of tests."""
    return len(params.read)


def inputs(params: SuiteParams, cell: Cell) -> dict[str, Any]:
    """What the tests depend on: the suite and, with `only_answered`, files of translations, by name."""
    answered = [model.table_key() for model in _file_systems(params, cell)]
    return {"suite": params.read.identity, "answered": answered}


def items(params: SuiteParams, cell: Cell, start: int, n: int) -> Iterator[list[dict[str, Any]]]:
    """The texts of *n* tests from *start* on: the judged one (role "test"), and those it is compared with ("other").

    unit: the number of the test in the suite. cluster: its entry in the file, such as a template.
    """
    tests = list(params.read.tests(start, start + n))
    unanswered = _unanswered(params, cell, tests)
    for test in tests:
        is_tested = test.labels["category"] not in params.without and unanswered.isdisjoint(test.sources)
        about = {"test": test.id, "cluster": test.cluster, **test.labels, "line": test.line}
        texts = enumerate(test.sources if is_tested else ())
        yield [{**about, "role": "other" if place else "test", "source": text} for place, text in texts]


def _file_systems(params: SuiteParams, cell: Cell) -> list[Model]:
    """The systems that are files (`outputs:`), if only tests that they answer are taken."""
    systems = [load(model, "translate", cell.source, cell.target) for model in params.models]
    return [model for model in systems if not model.stored] if params.only_answered else []


def _unanswered(params: SuiteParams, cell: Cell, tests: Sequence[Test]) -> set[str]:
    """The texts of tests that some file of translations does not have."""
    texts = [(text,) for test in tests for text in test.sources]
    return {text for model in _file_systems(params, cell) for (text,) in missing(model, texts, Store())}
