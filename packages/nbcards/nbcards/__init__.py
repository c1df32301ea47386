"""Cards, comparisons, gates, the browser of sentences and ranks: everything that only reads outcomes.

>>> import nbcards
>>> found = nbcards.compare("outputs/before", "outputs/after")  # doctest: +SKIP
>>> found.answer  # doctest: +SKIP
'B is worse at numbers carried over (−30.0 pp).'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "card": "making", "read_card": "cards", "compare": "comparison", "sentences": "browser", "ranked": "paired",
    "estimates": "values", "outcomes_at": "places",
}  # fmt: skip
__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'nbcards' has no attribute {name!r}")
    return getattr(import_module(f"nbcards.{_NAMES[name]}"), name)
