"""Pairs of one NLI set and their permutations, chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbkit.corpora.nli import NliPair, load_nli, nli_identity
from nbkit.perturb.derangements import DerangedPair, clump_pair, derange_hypothesis, derange_pair
from nbkit.store import Store
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, share_of
from nbkit.syntax import OnError, Skipped

#: Pairs handled, and remembered, at a time: memory grows neither with the set nor with n permutations of all of it.
CHUNK = 200


@dataclass(frozen=True)
class Permuted:
    """One pair under one variant. index: its place in the set."""

    index: int
    pair: NliPair
    permuted: DerangedPair

    @property
    def original(self) -> tuple[str, str]:
        """Premise and hypothesis as they are written."""
        return self.pair.premise.text, self.pair.hypothesis.text

    @property
    def length(self) -> int:
        """Units of both sides, punctuation included."""
        return len(self.permuted.premise) + len(self.permuted.hypothesis)


def chunk_starts(n_pairs: int) -> range:
    """Where the chunks of a set of *n_pairs* begin.

    >>> list(chunk_starts(500))
    [0, 200, 400]
    """
    return range(0, n_pairs, CHUNK)


def read_chunk(
    params: NliPermutationParams, corpus: str, start: int, store: Store, size: int | None = None
) -> Sequence[NliPair]:
    """The pairs ``start … start + size - 1`` of the set, a whole chunk of them by default; kept for the next call."""
    size = CHUNK if size is None else size
    stop = start + size if params.n_pairs is None else min(start + size, params.n_pairs)
    parsers = tuple(sorted(params.parsers.items()))
    # A file that is edited while a kernel runs has the same name and other pairs.
    content = json.dumps(nli_identity(corpus, params.language, parsers=params.parsers or None))
    return _read(corpus, params.language, parsers, params.on_error, start, stop, store.url, content)


@lru_cache(maxsize=4)
def _read(
    corpus: str, language: str, parsers: tuple[tuple[str, str], ...], on_error: OnError,
    start: int, stop: int, store_url: str, content: str,
) -> tuple[NliPair, ...]:  # fmt: skip
    pairs = load_nli(
        corpus, language, n=stop - start, start=start, parsers=dict(parsers) or None,
        on_error=on_error, skipped=Skipped(), store=Store(store_url),
    )  # fmt: skip
    return tuple(pairs)


def variants(
    params: NliPermutationParams, pairs: Sequence[NliPair], start: int, scheme: str = PERMUTED
) -> Iterator[Permuted]:
    """Every pair that has all n permutations on both sides, under *scheme*.

    Pairs without them are dropped from every variant, so that variants are compared on the same pairs; a clumped
    variant drops further ones, which have too few clumped permutations.
    """
    for index, pair in enumerate(pairs, start):
        permuted = permute(params, pair, scheme)
        if permuted is not None:
            yield Permuted(index, pair, permuted)


def permute(params: NliPermutationParams, pair: NliPair, scheme: str) -> DerangedPair | None:
    """The permutations of *pair* under *scheme*, None where it is dropped."""
    both = derange_pair(
        pair.premise, pair.hypothesis, params.permutations,
        seed=params.seed, unit=params.unit, punctuation=params.punctuation,
    )  # fmt: skip
    if both is None or scheme == PERMUTED:
        return both
    if scheme == HYPOTHESIS:
        return derange_hypothesis(
            pair.premise, pair.hypothesis, params.permutations,
            seed=params.seed, unit=params.unit, punctuation=params.punctuation,
        )  # fmt: skip
    share = share_of(scheme)
    assert share is not None
    return clump_pair(
        pair.premise, pair.hypothesis, params.clumped_permutations, share,
        seed=params.seed, unit=params.unit, punctuation=params.punctuation,
    )  # fmt: skip
