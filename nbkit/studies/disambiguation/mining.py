"""Bias mining: one pass over a parsed and aligned parallel corpus that counts what stands beside each sense.

Pairs come as (source, target, links). What is counted is bounded by the vocabulary, not by the corpus, and adds up
(`SenseCounts`), so that a corpus is counted in shards by as many processes as there are; each shard is remembered.

Source: disambiguation paper, §2.1 and §3.1.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from nbkit.align import Alignment, load_aligner, read_pharaoh
from nbkit.corpora import OnError, Pair, corpus_identity, find_corpus, load_pairs
from nbkit.corpora.corpus import RawCorpus, Request
from nbkit.corpora.homographs import HomographLexicon, OnConflict, load_homographs
from nbkit.errors import DataError, NbkitError
from nbkit.fingerprint import fingerprint
from nbkit.metrics.sense_counts import SenseCounts, SenseKey, sum_counts
from nbkit.metrics.sense_decision import Sense, SenseFinder, SenseMatching
from nbkit.store import Store
from nbkit.text import Sentence, Text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Mining", "SenseCounts", "SenseMiner", "aligned_pairs", "count_senses", "mine", "mine_shard", "shard_starts"]

#: Aligners whose links depend on all pairs together: a corpus is aligned at once, not shard by shard.
_OF_A_CORPUS = frozenset({"eflomal"})
_MODIFIER = "amod"
_NOUNS = ("NOUN", "PROPN")


@dataclass(frozen=True)
class Mining:
    """What is counted on which pairs; JSON-able by `dataclasses.asdict`, so that a unit of work can be given it.

    corpus, src, tgt, n, parsers, on_error: as of `load_pairs`. lexicon, on_conflict: as of `load_homographs`.
    aligner: "gold" (the pairs' own links), or a name of `nbkit.align.ALIGNERS` with its aligner_options. matching:
    which target words are translations (`SenseMatching`). shard: pairs of one unit of work; reading one skips those
    before it, so that corpora of millions want shards of 100,000.
    """

    corpus: str
    src: str = "en"
    tgt: str = "de"
    n: int | None = None
    parsers: Mapping[str, str] | None = None
    on_error: OnError = "raise"
    lexicon: str = "own"
    on_conflict: OnConflict = "raise"
    aligner: str = "gold"
    aligner_options: Mapping[str, Any] = field(default_factory=dict)
    matching: SenseMatching = "compounds"
    shard: int = 10_000

    def homographs(self) -> HomographLexicon:
        """The lexicon. Raises as `load_homographs` does."""
        return load_homographs(self.lexicon, self.tgt, on_conflict=self.on_conflict)

    def pairs_key(self) -> dict[str, Any]:
        """All that pairs and links depend on."""
        identity = corpus_identity(self.corpus, self.src, self.tgt, n=self.n, parsers=self.parsers)
        return {"corpus": identity, "on_error": self.on_error, "aligner": self._aligner_key(), "shard": self.shard}

    def counts_key(self) -> dict[str, Any]:
        """All that the counts depend on."""
        return {**self.pairs_key(), "lexicon": self.homographs().digest, "matching": self.matching, "code": _digest()}

    def _aligner_key(self) -> Any:
        if self.aligner == "gold":
            return "gold"
        return load_aligner(self.aligner, self.src, self.tgt, **self.aligner_options).identity


class SenseMiner:
    """Counts pairs one by one.

    >>> from nbkit.corpora.homographs import load_homographs
    >>> def text(lang, words, upos, deprels, heads):
    ...     columns = (tuple(column.split()) for column in (words, upos, deprels))
    ...     words, upos, deprels = columns
    ...     return Text((Sentence(words, lang, upos=upos, deprels=deprels, heads=heads, lemmas=words),))
    >>> source = text("en", "old bat sleep", "ADJ NOUN VERB", "amod nsubj root", (1, 2, -1))
    >>> target = text("de", "alte Fledermaus schlafen", "ADJ NOUN VERB", "amod nsubj root", (1, 2, -1))
    >>> miner = SenseMiner(SenseFinder(load_homographs("own")))
    >>> miner.add(source, target, [(0, 0), (1, 1), (2, 2)])
    >>> counts = miner.counts()
    >>> counts.attractors["bat", "animal"], counts.sense_adjectives["bat", "animal"]
    (Counter({'old': 1, 'sleep': 1}), Counter({'old': 1}))
    """

    def __init__(self, finder: SenseFinder):
        self.finder = finder
        self._homographs = frozenset(finder.lexicon.homographs)
        self._read = 0
        self._pairs: Counter[SenseKey] = Counter()
        self._attractors: dict[SenseKey, Counter[str]] = {}
        self._undecided: Counter[SenseKey] = Counter()
        self._sense_adjectives: dict[SenseKey, Counter[str]] = {}
        self._noun_adjectives: dict[str, Counter[str]] = {}
        self._words = _Words()

    def add(self, source: Text, target: Text, links: Iterable[tuple[int, int]]) -> None:
        """Count one pair. Raises `NbkitError` where it is not parsed, or a link points outside the target.

        Where no homograph is in the source, *links* are not looked at.
        """
        self._read += 1
        senses = self.finder.pair_senses(source, target, links)
        if senses:
            self._add_senses(source, senses)
        start = 0
        for sentence in source.sentences:
            # Most sentences hold no adjective before a noun: looking at the column as a whole costs next to nothing.
            if sentence.deprels is not None and _MODIFIER in sentence.deprels:
                self._add_adjectives(sentence, start, senses)
            start += len(sentence.tokens)

    def counts(self) -> SenseCounts:
        """What was counted so far; a copy."""
        return sum_counts([SenseCounts(
            self._read, self._pairs, self._attractors, self._undecided, self._sense_adjectives, self._noun_adjectives
        )])  # fmt: skip

    def _add_senses(self, source: Text, senses: list[Sense]) -> None:
        told: set[SenseKey] = set()
        for sense in senses:
            if sense.cluster is None:
                assert sense.reason is not None
                self._undecided[sense.homograph, sense.reason] += 1
            else:
                told.add((sense.homograph, sense.cluster))
        if not told:
            return
        words = self._words
        context = {words[lemma] for sentence in source.sentences for lemma in sentence.lemmas or ()}
        context.discard("")
        for key in told:
            self._pairs[key] += 1
            # Footnote 7: any word beside the homograph is an attractor, but for the homograph itself.
            self._attractors.setdefault(key, Counter()).update(context - {key[0]})

    def _add_adjectives(self, sentence: Sentence, start: int, senses: list[Sense]) -> None:
        upos, heads, lemmas, deprels = sentence.upos, sentence.heads, sentence.lemmas, sentence.deprels
        if upos is None or heads is None or lemmas is None or deprels is None:
            return
        for token, relation in enumerate(deprels):
            head = heads[token]
            if relation != _MODIFIER or upos[token] != "ADJ" or upos[head] != "NOUN":
                continue
            feats = sentence.feats[token] if sentence.feats is not None else ""
            if "Degree=Cmp" in feats or "Degree=Sup" in feats or _in_compound(upos, deprels, head):
                continue
            adjective, noun = self._words[lemmas[token]], self._words[lemmas[head]]
            if not adjective or not noun:
                continue
            if noun not in self._homographs:
                self._noun_adjectives.setdefault(noun, Counter())[adjective] += 1
                continue
            for sense in senses:
                if sense.token == start + head and sense.cluster is not None:
                    self._sense_adjectives.setdefault((noun, sense.cluster), Counter())[adjective] += 1


class _Words(dict[str, str]):
    """Lemmas as they are counted, each looked at once: in lower case, and empty for what is no word."""

    def __missing__(self, lemma: str) -> str:
        word = lemma.lower() if any(map(str.isalnum, lemma)) else ""
        self[lemma] = word
        return word


def _in_compound(upos: tuple[str, ...], deprels: tuple[str, ...], noun: int) -> bool:
    """Whether the noun stands before another one, whose adjective it then is: *an old steel spring*'s *steel*."""
    before_noun = noun + 1 < len(upos) and upos[noun + 1] in _NOUNS
    return before_noun or deprels[noun].startswith("compound")


def count_senses(
    pairs: Iterable[tuple[Text, Text, Alignment]], lexicon: HomographLexicon, *, matching: SenseMatching = "compounds"
) -> SenseCounts:
    """The counts of a stream of (source, target, links): parsed texts with lemmas, the target's trees aside.

    See `SenseMiner`; memory is bounded by the vocabulary.
    """
    miner = SenseMiner(SenseFinder(lexicon, matching))
    for source, target, links in pairs:
        miner.add(source, target, links)
    return miner.counts()


def aligned_pairs(mining: Mining, start: int, store: Store) -> Iterator[tuple[Pair, Alignment]]:
    """The pairs of the shard that begins at *start*, with their links.

    Links of a statistical aligner are those of the whole corpus, computed once and remembered shard by shard: ask for
    `align_corpus` first where several processes are to count. Raises as `load_pairs` and the aligner do.
    """
    pairs = _shard_pairs(mining, start, store)
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
    starts = shard_starts(mining, store)
    for start, table in zip(starts, _link_tables(mining, store), strict=True):
        store.table(_links_key(mining, start), lambda table=table: table)


def mine_shard(mining: Mining, start: int, store: Store) -> SenseCounts:
    """The counts of one shard, remembered: the unit of work."""

    def compute() -> pd.DataFrame:
        triples = ((pair.source, pair.target, links) for pair, links in aligned_pairs(mining, start, store))
        return count_senses(triples, mining.homographs(), matching=mining.matching).table()

    key = {"kind": "disambiguation.sense_counts", "start": start, **mining.counts_key()}
    return SenseCounts.from_table(store.table(key, compute))


def mine(mining: Mining, store: Store | None = None) -> SenseCounts:
    """The counts of the whole corpus; shards that are remembered are not read again.

    >>> counts = mine(Mining("sandbox", n=20, lexicon="own"), Store("memory://nbkit-doctest"))
    >>> counts.read
    20
    """
    store = store or Store()
    return sum_counts(mine_shard(mining, start, store) for start in shard_starts(mining, store))


def mine_unit(mining: Mapping[str, Any], start: int | None) -> int:
    """Unit of work for any executor: the shard at *start* counted, or the whole corpus aligned where it is None.

    mining: ``dataclasses.asdict`` of a `Mining`. Returns how many pairs were read.
    """
    settings, store = Mining(**mining), Store()
    if start is None:
        align_corpus(settings, store)
        return 0
    return mine_shard(settings, start, store).read


def mining_units(mining: Mining, store: Store | None = None) -> list[tuple[dict[str, Any], int | None]]:
    """The arguments of every `mine_unit`, in order: the alignment of the corpus, where one is needed, comes first."""
    arguments = asdict(mining)
    first: list[int | None] = [None] if _is_of_a_corpus(mining) else []
    return [(arguments, start) for start in [*first, *shard_starts(mining, store or Store())]]


def shard_starts(mining: Mining, store: Store) -> list[int]:
    """Where the shards begin. The pairs of a corpus that must be read to be counted are counted once."""
    if mining.shard < 1:
        raise NbkitError(f"shard is {mining.shard}; at least one pair is needed")
    return list(range(0, n_pairs(mining, store), mining.shard))


def n_pairs(mining: Mining, store: Store) -> int:
    """How many usable pairs there are, at most n; none is parsed where the corpus is raw text.

    Raises `NbkitError` for a corpus without a last pair where no n is given.
    """
    found, split = find_corpus(mining.corpus)
    if getattr(found, "endless", False):
        if mining.n is None:
            raise NbkitError(f"corpus '{mining.corpus}' has no last pair: say how many are wanted (n)")
        return mining.n

    def compute() -> pd.DataFrame:
        import pandas as pd

        request = Request(mining.src, mining.tgt, split, mining.n, mining.parsers, mining.on_error)
        pairs: Iterable[Any] = found.raw_pairs(request) if isinstance(found, RawCorpus) else found.pairs(request)
        return pd.DataFrame({"n": [sum(not isinstance(pair, DataError) for pair in islice(pairs, mining.n))]})

    identity = corpus_identity(mining.corpus, mining.src, mining.tgt, n=mining.n, parsers=mining.parsers)
    key = {"kind": "disambiguation.n_pairs", "version": 1, "corpus": identity, "on_error": mining.on_error}
    return int(store.table(key, compute)["n"].iloc[0])


def _shard_pairs(mining: Mining, start: int, store: Store) -> Iterator[Pair]:
    stop = start + mining.shard if mining.n is None else min(start + mining.shard, mining.n)
    return load_pairs(
        mining.corpus, mining.src, mining.tgt, n=stop - start, start=start, parsers=mining.parsers,
        on_error=mining.on_error, store=store,
    )  # fmt: skip


def _links(mining: Mining, start: int, shard: list[Pair], store: Store) -> Iterator[Alignment]:
    if _is_of_a_corpus(mining):

        def compute() -> pd.DataFrame:
            tables = list(_link_tables(mining, store))
            return tables[start // mining.shard]

        yield from _from_table(store.table(_links_key(mining, start), compute))
    elif mining.aligner.startswith("pharaoh:"):
        # A file of the whole corpus: its lines are taken by the pairs' places.
        yield from islice(read_pharaoh(mining.aligner.removeprefix("pharaoh:")), start, start + len(shard))
    else:
        aligner = load_aligner(mining.aligner, mining.src, mining.tgt, **mining.aligner_options)
        yield from aligner.align([(pair.source.tokens, pair.target.tokens) for pair in shard], progress=False)


def _link_tables(mining: Mining, store: Store) -> Iterator[pd.DataFrame]:
    """The links of the whole corpus, a table a shard."""
    import pandas as pd

    tokens = []
    starts = shard_starts(mining, store)
    for start in starts:
        tokens += [(pair.source.tokens, pair.target.tokens) for pair in _shard_pairs(mining, start, store)]
    aligner = load_aligner(mining.aligner, mining.src, mining.tgt, **{"store": store, **mining.aligner_options})
    links = aligner.align(tokens)
    for start in starts:
        flat = [[place for link in each for place in link] for each in islice(links, mining.shard)]
        yield pd.DataFrame({"links": flat}, index=range(start, start + len(flat)))


def _from_table(table: pd.DataFrame) -> Iterator[Alignment]:
    for flat in table["links"]:
        places = [int(place) for place in flat]
        yield tuple(zip(places[::2], places[1::2], strict=True))


def _is_of_a_corpus(mining: Mining) -> bool:
    return mining.aligner.partition(":")[0] in _OF_A_CORPUS


def _links_key(mining: Mining, start: int) -> dict[str, Any]:
    return {"kind": "disambiguation.links", "version": 1, "start": start, **mining.pairs_key()}


@cache
def _digest() -> str:
    """Digest of the sources behind the counts: corpora, aligners and models have keys of their own."""
    sources = fingerprint([__name__]).sources
    behind = ("nbkit/metrics/sense_", "nbkit/metrics/word_matching", "nbkit/studies/disambiguation/mining")
    relevant = sorted(item for item in sources.items() if item[0].startswith(behind))
    return hashlib.blake2b(repr(relevant).encode(), digest_size=8).hexdigest()
