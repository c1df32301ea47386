"""*As Easy as 1, 2, 3* (Wang et al., 2021): does a translator carry numbers over?

Every public function takes `NumbersParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.numbers.steps import results, shrunk_failures
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
    templates_used,
)
from nbkit.studies.numbers.work import cells, inputs, problems, units

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
    "shrunk_failures",
    "templates_used",
]

#: In the order in which the report shows them; a test compares titles with the notebooks.
NOTEBOOKS = (
    Notebook("numbers/test_cases", "Which numbers are asked for, and in which sentences?", "grid"),
    Notebook("numbers/pass_rates", "Are numbers carried over?", "grid"),
    Notebook("numbers/length", "Are longer numbers harder?", "grid"),
    Notebook("numbers/errors", "What goes wrong with the numbers?", "grid"),
    Notebook("numbers/notation", "Is the value wrong, or only how it is written?", "grid"),
    Notebook("numbers/smallest_failures", "What is the smallest number that goes wrong?", "grid"),
    Notebook("numbers/placeholders", "What would it buy to carry numbers over by rule?", "grid"),
    Notebook("numbers/model_card", "How does this model treat numbers?", "cell"),
)

STUDY = Study(
    name="numbers",
    title="Numbers: are they carried over?",
    paper="Wang, Xu, Guzmán, El-Kishky, Rubinstein and Cohn (2021), As Easy as 1, 2, 3: Behavioural Testing of NMT "
    "Systems for Numerical Translation",
    params=NumbersParams,
    cells=cells,
    units=units,
    problems=problems,
    inputs=inputs,
    notebooks=NOTEBOOKS,
)
