"""Suites: behaviours that people write down. Expectations, reading and writing, verdicts, linting and quarantine."""

from __future__ import annotations

from nbcheck.expectations import EXPECTATIONS, Case, Expectation, Judged
from nbcheck.suite import Suite, Test, read_suite, rows_of, write_suite
from nbcheck.verdicts import Decision, Fault, decide, lint, suspects

__all__ = [
    "EXPECTATIONS", "Case", "Decision", "Expectation", "Fault", "Judged", "Suite", "Test", "decide", "lint",
    "read_suite", "rows_of", "suspects", "write_suite",
]  # fmt: skip
