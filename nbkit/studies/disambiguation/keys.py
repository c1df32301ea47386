"""What remembered tables of this study carry of the code behind them."""

from __future__ import annotations

import hashlib
from functools import cache

from nbkit.fingerprint import fingerprint

_ELSEWHERE = ("nbkit/models/", "nbkit/store/", "nbkit/figures/")


@cache
def code(module: str) -> str:
    """Digest of a module of this study and of all that it imports.

    Without the models' room: what comes from there has keys of its own.
    """
    sources = fingerprint([f"nbkit.studies.disambiguation.{module}"]).sources
    relevant = sorted(item for item in sources.items() if not item[0].startswith(_ELSEWHERE))
    return hashlib.blake2b(repr(relevant).encode(), digest_size=8).hexdigest()
