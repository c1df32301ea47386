"""``python -m nbquantities sv``: reads the gold sentences of languages, and lists those that are misread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction

from nbquantities.errors import QuantitiesError
from nbquantities.kinds import find_quantities, with_ends
from nbquantities.language import language_data, language_files


def misread(text: str, expected: str, lang: str) -> str:
    """The quantities found in *text* if *expected* ones are missing or others are certain; "" otherwise.

    >>> misread("12,5 km", "25/2:kilometer", "de"), misread("12,5 km", "12", "de")
    ('', '25/2:measure:kilometer')
    """
    found = with_ends(find_quantities(text, lang))
    left = list(found)
    for each in expected.split():
        value, _, name = each.partition(":")
        fitting = [q for q in left if q.value == Fraction(value) and name in ("", q.kind, q.unit)]
        if not fitting:
            break
        left.remove(fitting[0])
    else:
        if all(quantity.certainty < 1 for quantity in left):
            return ""
    return " ".join(":".join(filter(None, (str(q.value), q.kind, q.unit))) for q in found) or "nothing"


def misread_gold(lang: str) -> Iterator[str]:
    """The gold sentences of a language that are misread, with file, line and what is found in them."""
    gold, file = language_data(lang)["gold"], language_files()[lang]
    rows = file.read_text(encoding="utf-8").splitlines()
    for text, expected in gold.items():
        if found := misread(text, str(expected), lang):
            line = next((i for i, row in enumerate(rows, 1) if text.replace("'", "''") in row), 0)
            yield f"{file}: line {line}: '{text}' is to be read as {expected}: found {found}"


if __name__ == "__main__":
    try:
        problems = [problem for lang in sys.argv[1:] or language_files() for problem in misread_gold(lang)]
    except QuantitiesError as error:
        problems = [str(error)]
    print(*problems or ["all gold sentences are read as their files say"], sep="\n")
    sys.exit(bool(problems))
