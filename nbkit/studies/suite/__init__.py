"""Suites: tests that people write down, as one more behaviour (docs/suites.md).

Every public function takes `SuiteParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.suite.params import SuiteParams
from nbkit.studies.suite.steps import LABELS, STUDY, aside, people, suites_of
from nbkit.studies.suite.tables import (
    by_category,
    by_phenomenon,
    failures,
    faults,
    leaderboard,
    pass_rates,
    verdicts,
)

__all__ = [
    "LABELS",
    "STUDY",
    "SuiteParams",
    "aside",
    "by_category",
    "by_phenomenon",
    "failures",
    "faults",
    "leaderboard",
    "pass_rates",
    "people",
    "suites_of",
    "verdicts",
]
