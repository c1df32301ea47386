"""Fixtures of nbkit's own tests: a cache and a hub for each test, tiny checkpoints, real data."""

from __future__ import annotations

from tests.conftest import hubs_put_back, registries_put_back
from tests.models.conftest import checkpoints, mbart25, own_cache, sentences

__all__ = ["checkpoints", "hubs_put_back", "mbart25", "own_cache", "registries_put_back", "sentences"]
