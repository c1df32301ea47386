"""nbkit: behavioural tests of translation models, as functions and as notebooks.

Importing the package is cheap: rooms that need torch, transformers, spaCy or pandas are imported
when something in them is used.
"""

from typing import Any

__version__ = "0.1.0"

#: What a notebook begins with, and the package that brings it.
_FRONT = {"card": "nbcards", "compare": "nbcards", "sentences": "nbcards"}


def __getattr__(name: str) -> Any:
    if name not in _FRONT:
        raise AttributeError(f"module 'nbkit' has no attribute {name!r}")
    from nbkit.registry import from_package

    return from_package("nbkit.front", name, _FRONT[name])
