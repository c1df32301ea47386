"""nbkit: behavioural tests of translation models, as functions and as notebooks.

Importing the package is cheap: rooms that need torch, transformers, spaCy or pandas are imported
when something in them is used.
"""

from importlib import import_module
from typing import Any

from nbkit.deprecation import explain_moved_modules

__version__ = "0.1.0"
explain_moved_modules()

#: What notebooks call by one name, and the module that defines it, which is imported on first use.
_LAZY = {"card": "nbkit.batch.card"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'nbkit' has no attribute {name!r}")
