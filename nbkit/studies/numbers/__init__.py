"""*As Easy as 1, 2, 3* (Wang et al., 2021): does a translator carry numbers over?

Every public function takes `NumbersParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.numbers.steps import STUDY, results, running_text, shrunk_failures
from nbkit.studies.numbers.tables import (
    PUBLISHED,
    TRAINING_SENTENCES,
    averages,
    capabilities,
    copy_rates,
    error_counts,
    errors_found,
    formats_used,
    lengths_in_training,
    mitigation,
    pass_rates,
    passed_samples,
    rates_by_digits,
    rates_by_format,
    rates_by_fraction,
    running_errors,
    running_rates,
    templates_used,
)

__all__ = [
    "PUBLISHED",
    "STUDY",
    "TRAINING_SENTENCES",
    "Direction",
    "NumbersParams",
    "averages",
    "capabilities",
    "copy_rates",
    "error_counts",
    "errors_found",
    "formats_used",
    "lengths_in_training",
    "mitigation",
    "pass_rates",
    "passed_samples",
    "rates_by_digits",
    "rates_by_format",
    "rates_by_fraction",
    "results",
    "running_errors",
    "running_rates",
    "running_text",
    "shrunk_failures",
    "templates_used",
]
