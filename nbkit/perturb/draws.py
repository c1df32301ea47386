"""Random numbers that are addressed: equal for one address on every machine, drawn without a bias.

A NumPy generator costs some ten microseconds to seed, more than a perturbation takes. A keyed hash in
counter mode costs one, needs no state but a counter, and does not change with a library's version.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from math import factorial

from nbkit.seeding import address

_BLOCK = 64  # bytes that one hash yields


@lru_cache(maxsize=4096)
def _prefix(seed: int, name: str, draw: int) -> bytes:
    return address(seed, name, draw).to_bytes(8, "little")


class Draws:
    """Random numbers of one (run seed, perturbation name, draw index, sentence digest).

    No hash is computed before the first number is asked for.

    >>> draws = Draws(0, "word_shuffle", 0, b"digest of a sentence")
    >>> draws.permutation(5), draws.permutation(5), draws.below(100)
    ([1, 2, 3, 4, 0], [1, 2, 4, 0, 3], 0)
    >>> Draws(0, "word_shuffle", 1, b"digest of a sentence").permutation(5)
    [4, 3, 2, 0, 1]
    """

    __slots__ = ("_counter", "_key")

    def __init__(self, seed: int, name: str, draw: int, digest: bytes):
        self._key = _prefix(seed, name, draw) + digest
        self._counter = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to ``limit - 1``, all equally likely (by rejection)."""
        size = limit.bit_length() // 8 + 5  # four bytes to spare: a rejection is rarer than one in 2**32
        values = 1 << 8 * size
        ceiling = values - values % limit
        while True:
            value = int.from_bytes(self._bytes(size), "little")
            if value < ceiling:
                return value % limit

    def permutation(self, n: int) -> list[int]:
        """A permutation of ``0 … n - 1``, all n! equally likely: one number below n!, read digit by digit."""
        items = list(range(n))
        rank = self.below(factorial(n))
        for last in range(n - 1, 0, -1):
            rank, other = divmod(rank, last + 1)
            items[last], items[other] = items[other], items[last]
        return items

    def _bytes(self, size: int) -> bytes:
        blocks = []
        for _ in range(0, size, _BLOCK):
            blocks.append(blake2b(self._key + self._counter.to_bytes(8, "little")).digest())
            self._counter += 1
        return b"".join(blocks)[:size]
