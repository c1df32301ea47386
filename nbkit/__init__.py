"""nbkit: behavioural tests of translation models, as functions and as notebooks.

Importing the package is cheap: rooms that need torch, transformers, spaCy or pandas are imported
when something in them is used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: What a notebook begins with, and its module, without ``nbkit.`` (a digest of code follows names in full).
_FRONT = {"card": "batch.card", "compare": "report.compare", "sentences": "report.browse"}


def __getattr__(name: str) -> Any:
    if name not in _FRONT:
        raise AttributeError(f"module 'nbkit' has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FRONT[name]}"), name)
