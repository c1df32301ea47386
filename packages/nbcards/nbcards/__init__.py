"""Cards, comparisons, gates, the browser of sentences and ranks: everything that only reads outcomes.

>>> import nbcards
>>> found = nbcards.compare("outputs/before", "outputs/after")  # doctest: +SKIP
>>> found.answer  # doctest: +SKIP
'B is worse at numbers carried over (−30.0 pp).'
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "card": "making", "read_card": "card", "compare": "compare", "sentences": "sentences", "ranked": "comparison",
    "estimates": "estimates", "outcomes_at": "places",
}  # fmt: skip
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'nbcards' has no attribute {name!r}")
    return getattr(import_module(f"nbcards.{_NAMES[name]}"), name)


class _Package(ModuleType):
    """Importing a module that is called as a function, such as `nbcards.compare`, does not hide the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _NAMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
