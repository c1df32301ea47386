"""The sandbox's constructions: each draws the meaning of one text (a list of clauses, one a sentence)."""

from __future__ import annotations

from nbkit.sandbox.constructions import phenomena, sentences
from nbkit.sandbox.constructions.sentences import Construction, entered

__all__ = ["CONSTRUCTIONS", "Construction"]

#: All constructions by name.
CONSTRUCTIONS: dict[str, Construction] = entered(sentences, phenomena)
