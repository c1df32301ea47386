"""What is computed is remembered: content-addressed results in Parquet shards, without server or lock.

One folder a configuration, ``<kind>/<digest of the configuration>/``: a ``config.json`` for people, and shards.
A shard's name is the time it was written and the digest of its bytes: it is written under a temporary name and
renamed (one PUT on an object store), is never changed, and one that does not match its name is set aside.
"""

from nbkit.files import cache_folder
from nbkit.store.shards import DamagedShardWarning, StoreError
from nbkit.store.store import NOT_REMEMBERED, Block, Store, cache_problem

__all__ = ["NOT_REMEMBERED", "Block", "DamagedShardWarning", "Store", "StoreError", "cache_folder", "cache_problem"]
