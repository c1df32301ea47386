"""Gold links, as a corpus brings them with its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nbkit.align.base import no_argument
from nbkit.align.links import Alignment, TokenPair, check_links, pairs_digest, to_pharaoh, token_pairs
from nbkit.corpora.pair import Pair
from nbkit.errors import NbkitError


class GoldAligner:
    """The links of `Pair.alignment`, for the pairs it was made of and no others: hypotheses have no gold links.

    pairs: of a corpus that has links, as the sandbox has.

    >>> from nbkit.corpora.sandbox import pairs
    >>> pair = next(pairs("en", "de", n=1))
    >>> gold = GoldAligner("en", "de", None, pairs=[pair])
    >>> next(gold.align([(pair.source.tokens, pair.target.tokens)])) == pair.alignment
    True
    """

    def __init__(self, src: str, tgt: str, argument: str | None = None, *, pairs: Iterable[Pair]):
        no_argument("gold", argument)
        self._links: dict[TokenPair, Alignment] = {}
        for pair in pairs:
            if pair.alignment is None:
                raise NbkitError(f"aligner 'gold': the corpus has no gold links for the pair '{pair.id}'; {_WAY_OUT}")
            key = (pair.source.tokens, pair.target.tokens)
            links = check_links(pair.alignment, key)
            if self._links.setdefault(key, links) != links:
                raise NbkitError(
                    f"aligner 'gold': the pair '{pair.id}' has the tokens of another one, but other links: "
                    f"{' '.join(key[0])!r}, {' '.join(key[1])!r}"
                )

    @property
    def identity(self) -> dict[str, Any]:
        """Digests of the pairs and of their links."""
        order = sorted(self._links)
        links = [((to_pharaoh(self._links[key]),), ()) for key in order]
        return {"aligner": "gold", "pairs": pairs_digest(order), "links": pairs_digest(links)}

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`. Raises `NbkitError` for a pair that has no gold links."""
        for pair in token_pairs(pairs):
            if pair not in self._links:
                raise NbkitError(
                    f"aligner 'gold': no gold links for {' '.join(pair[0])!r}, {' '.join(pair[1])!r}; {_WAY_OUT}"
                )
            yield self._links[pair]


_WAY_OUT = "take another aligner (lexicon for hypotheses of the sandbox, eflomal for other corpora)"
