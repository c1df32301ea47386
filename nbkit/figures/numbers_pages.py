"""What the numbers pages have besides figures and tables: their footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbkit import provenance

if TYPE_CHECKING:
    from nbkit.studies.numbers import NumbersParams

#: What reads and writes numbers besides nbkit's own rules.
_LIBRARIES = ("Babel", "num2words", "cn2an")


def footer(params: NumbersParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what numbers are read and written with, models, versions."""
    libraries = [f"{name} {version}" for name, version in provenance.versions(_LIBRARIES).items()]
    return provenance.footer(params, signatures={"number rules": ", ".join(libraries)}, models=params.models)
