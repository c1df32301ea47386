"""*As Easy as 1, 2, 3* (Wang et al., 2021): does a translator carry numbers over?

Every public function takes `NumbersParams` and returns a tidy table, documented where it is made.
"""

from __future__ import annotations

from nbkit.studies.base import Notebook, Study
from nbkit.studies.numbers.judged import results, shrunk_failures
from nbkit.studies.numbers.params import Direction, NumbersParams
from nbkit.studies.numbers.tables import (
    PUBLISHED,
    averages,
    capabilities,
    error_counts,
    errors_found,
    formats_used,
    mitigation,
    pass_rates,
    rates_by_digits,
    rates_by_format,
    rates_by_fraction,
    templates_used,
)
from nbkit.studies.numbers.work import cells, inputs, problems, units

__all__ = [
    "PUBLISHED",
    "STUDY",
    "Direction",
    "NumbersParams",
    "averages",
    "capabilities",
    "error_counts",
    "errors_found",
    "formats_used",
    "mitigation",
    "pass_rates",
    "rates_by_digits",
    "rates_by_format",
    "rates_by_fraction",
    "results",
    "shrunk_failures",
    "templates_used",
]

#: In the order in which the report shows them; a test compares titles with the notebooks.
NOTEBOOKS: tuple[Notebook, ...] = ()

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
    modules=("nbkit.studies.numbers", "nbkit.figures"),
)
