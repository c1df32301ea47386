"""Numbers and quantities (the package nbquantities), with nbkit's errors; `formats` draws numbers to write.

>>> from nbkit.numbers import find_numbers, write_number
>>> [str(number.value) for number in find_numbers("3亿2000万人", "zh")]
['320000000']
>>> write_number(320000000, "de", "scale")
'320 Millionen'
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import nbquantities
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.languages import LanguageDataError, base_language, check_language
from nbquantities import Number, Quantity, Verdict, errors, numerals, passes
from nbquantities.kinds import with_ends
from nbquantities.numerals import Kind
from nbquantities.writing import in_place

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _with_nbkit_errors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """*function* of nbquantities, whose errors are raised as those of nbkit; a language is checked first."""

    @wraps(function)
    def translated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except errors.UnknownNameError as error:
            if error.kind != "language":
                raise UnknownNameError(error.kind, error.name, error.known) from None
            file = f"{base_language(check_language(error.name))}.yaml"
            way_out = f"write {file}, as nbquantities/languages/README.md says, in the folder NBQUANTITIES_LANGUAGES"
            raise LanguageDataError("number rules", error.name, error.known, way_out) from None
        except nbquantities.QuantitiesError as error:
            raise NbkitError(str(error)) from error

    return translated


compare_quantities = _with_nbkit_errors(nbquantities.compare_quantities)
count_both = _with_nbkit_errors(numerals.count_both)
find_numbers = _with_nbkit_errors(nbquantities.find_numbers)
find_quantities = _with_nbkit_errors(nbquantities.find_quantities)
forms = _with_nbkit_errors(nbquantities.forms)
write_number = _with_nbkit_errors(nbquantities.write_number)

__all__ = [
    "Kind",
    "Number",
    "Quantity",
    "Verdict",
    "compare_quantities",
    "count_both",
    "find_numbers",
    "find_quantities",
    "forms",
    "in_place",
    "passes",
    "with_ends",
    "write_number",
]
