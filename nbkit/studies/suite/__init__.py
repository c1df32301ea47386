"""Suites: tests that people write down, as one more behaviour (docs/suites.md).

Every public function takes `SuiteParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.suite.params import SuiteParams
from nbkit.studies.suite.steps import LABELS, STUDY, aside, faults, pass_rates, people, suites_of

__all__ = ["LABELS", "STUDY", "SuiteParams", "aside", "faults", "pass_rates", "people", "suites_of"]
