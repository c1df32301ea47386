"""The pairs of a corpus with their links, shard by shard; links of a statistical aligner are remembered."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.align import Alignment
from nbkit.align.links import from_pharaoh
from nbkit.corpora import Pair
from nbkit.errors import DataError, NbkitError
from nbkit.store import Store
from nbkit.studies.disambiguation.mining_settings import Mining, links_file, shard_pairs, shard_starts

if TYPE_CHECKING:
    import pandas as pd

#: Aligners whose links depend on all pairs together: a corpus is aligned at once, not shard by shard.
_OF_A_CORPUS = frozenset({"eflomal"})


def aligned_pairs(mining: Mining, start: int, store: Store) -> Iterator[tuple[Pair, Alignment]]:
    """The pairs of the shard that begins at *start*, with their links.

    Links of a statistical aligner are those of the whole corpus, computed once and remembered shard by shard: ask for
    `align_corpus` first where several processes are to count. Raises as `load_pairs` and the aligner do.
    """
    pairs = shard_pairs(mining, start, store)
    if mining.aligner == "gold":
        for pair in pairs:
            if pair.alignment is None:
                raise NbkitError(
                    f"corpus {mining.corpus} has no gold links for the pair '{pair.id}': name an aligner (eflomal)"
                )
            yield pair, pair.alignment
        return
    shard = list(pairs)
    yield from zip(shard, _links(mining, start, shard, store), strict=True)


def align_corpus(mining: Mining, store: Store) -> None:
    """Align a whole corpus with a statistical aligner, and keep the links by shard; unit of work before the counting.

    Tokens of the whole corpus are in memory: for millions of pairs, take links from a file (``pharaoh:FILE``).
    """
    aligned = cache(lambda: list(_link_tables(mining, store)))  # not asked for where all shards are remembered

    def table(start: int) -> pd.DataFrame:
        return aligned()[start // mining.shard]

    for start in shard_starts(mining, store):
        store.table(_links_key(mining, start), partial(table, start))


def _links(mining: Mining, start: int, shard: list[Pair], store: Store) -> Iterator[Alignment]:
    if is_of_a_corpus(mining):

        def compute() -> pd.DataFrame:
            tables = list(_link_tables(mining, store))
            for first, table in zip(shard_starts(mining, store), tables, strict=True):
                if first != start:  # kept as well, so that the next shard need not read the whole corpus again
                    store.table(_links_key(mining, first), partial(_same, table))
            return tables[start // mining.shard]

        yield from _from_table(store.table(_links_key(mining, start), compute))
    elif mining.links_from_file:
        yield from _read_links(links_file(mining), start, len(shard))
    else:
        yield from mining.loaded().align([(pair.source.tokens, pair.target.tokens) for pair in shard], progress=False)


def _same(table: pd.DataFrame) -> pd.DataFrame:
    return table


def _read_links(path: Path, start: int, n: int) -> Iterator[Alignment]:
    """The links of *n* pairs from *start* on, of a file of the whole corpus. The lines before are not looked at."""
    number = start
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(islice(lines, start, start + n), start=start + 1):
            try:
                yield from_pharaoh(line)
            except NbkitError as error:
                raise DataError(str(error), path, number) from None
    if number < start + n:
        raise DataError(f"no links for the pair after it; one line a pair expected, {start + n} at least", path, number)


def _link_tables(mining: Mining, store: Store) -> Iterator[pd.DataFrame]:
    """The links of the whole corpus, a table a shard."""
    import pandas as pd

    tokens = []
    starts = shard_starts(mining, store)
    for start in starts:
        tokens += [(pair.source.tokens, pair.target.tokens) for pair in shard_pairs(mining, start, store)]
    links = mining.loaded(store=store).align(tokens)
    for start in starts:
        flat = [[place for link in each for place in link] for each in islice(links, mining.shard)]
        yield pd.DataFrame({"links": flat}, index=range(start, start + len(flat)))


def _from_table(table: pd.DataFrame) -> Iterator[Alignment]:
    for flat in table["links"]:
        places = [int(place) for place in flat]
        yield tuple(zip(places[::2], places[1::2], strict=True))


def is_of_a_corpus(mining: Mining) -> bool:
    """Whether the links depend on all pairs together, so that `align_corpus` comes before the counting."""
    name = mining.aligner if isinstance(mining.aligner, str) else mining.aligner.identity.get("aligner")
    return name in _OF_A_CORPUS


def _links_key(mining: Mining, start: int) -> dict[str, Any]:
    return {"kind": "disambiguation.links", "version": 1, "start": start, **mining.pairs_key()}
