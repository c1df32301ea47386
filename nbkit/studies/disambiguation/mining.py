"""What is mined: a corpus with its links, a lexicon, and the shards that it is counted in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.corpora import OnError, Pair, corpus_identity, find_corpus, is_endless, load_pairs
from nbkit.corpora.corpus import RawCorpus, Request
from nbkit.corpora.homographs import HomographLexicon, OnConflict, load_homographs
from nbkit.errors import DataError, NbkitError
from nbkit.files import expand_path, file_digest, keep_good
from nbkit.fingerprint import KEYED, digest
from nbkit.measure.aligners import Aligner, Alignment, from_pharaoh, load_aligner
from nbkit.measure.senses import (
    REACHES,
    Sense,
    SenseCounts,
    SenseFinder,
    SenseKey,
    SenseMatching,
    TargetNouns,
    sum_counts,
)
from nbkit.store import Store
from nbkit.text.sentences import ROOT, Sentence, Text

if TYPE_CHECKING:
    import pandas as pd

#: What a name of links in a file begins with.
FILE = "pharaoh:"


#: Corpora, parsers and aligners have separate keys.
_KEYED = (
    *KEYED,
    *("nbkit/corpora/", "nbkit/sandbox/", "nbkit/text/parsers", "nbkit/text/conllu"),
    *("nbkit/measure/aligners", "nbkit/measure/learned", "nbkit/measure/aligners"),
)


@dataclass(frozen=True)
class Mining:
    """What is counted on which pairs.

    corpus, src, tgt, n, parsers, on_error: as of `load_pairs`. lexicon, on_conflict: as of `load_homographs`.
    aligner: "gold" (the pairs' own links), a name of `nbkit.measure.aligners.ALIGNERS` with its aligner_options, or one
    that is loaded. matching: which target words are translations (`SenseMatching`). target_nouns: which of
    them can show a sense (`TargetNouns`). shard: pairs of one unit of work; reading
    one skips those before it, so that corpora of millions want shards of 100,000.
    """

    corpus: str
    src: str = "en"
    tgt: str = "de"
    n: int | None = None
    parsers: Mapping[str, str] | None = None
    on_error: OnError = "raise"
    lexicon: str = "own"
    on_conflict: OnConflict = "raise"
    aligner: str | Aligner = "gold"
    aligner_options: Mapping[str, Any] = field(default_factory=dict)
    matching: SenseMatching = "compounds"
    shard: int = 10_000
    target_nouns: TargetNouns = "tagged"

    def homographs(self) -> HomographLexicon:
        """The lexicon. Raises as `load_homographs` does."""
        return load_homographs(self.lexicon, self.tgt, src=self.src, on_conflict=self.on_conflict)

    def pairs_key(self) -> dict[str, Any]:
        """All that pairs and links depend on."""
        identity = corpus_identity(self.corpus, self.src, self.tgt, n=self.n, parsers=self.parsers)
        return {"corpus": identity, "on_error": self.on_error, "aligner": self.aligner_key(), "shard": self.shard}

    def counts_key(self) -> dict[str, Any]:
        """All that the counts depend on."""
        return {
            **self.pairs_key(),
            "lexicon": self.homographs().digest,
            "matching": self.matching,
            "target_nouns": self.target_nouns,
            "code": digest(__name__, without=_KEYED),
        }

    def aligner_key(self) -> Any:
        """All that the links depend on, besides the pairs. Raises as `links_file` does."""
        if self.aligner == "gold":
            return "gold"
        if self.links_from_file:
            return {"aligner": "pharaoh", "file": file_digest(links_file(self))}
        return self.loaded().identity

    @property
    def links_from_file(self) -> bool:
        """Whether links come by their places in a file."""
        return isinstance(self.aligner, str) and self.aligner.startswith(FILE)

    def loaded(self, **options: Any) -> Aligner:
        """The aligner, loaded now unless it is. options: besides its aligner_options, where it is loaded now."""
        if not isinstance(self.aligner, str):
            return self.aligner
        return load_aligner(self.aligner, self.src, self.tgt, **{**options, **self.aligner_options})


def shard_starts(mining: Mining, store: Store, *, keep: bool = True) -> list[int]:
    """Where the shards begin. The pairs of a corpus that must be read to be counted are counted once."""
    if mining.shard < 1:
        raise NbkitError(f"shard is {mining.shard}; at least one pair is needed")
    return list(range(0, n_pairs(mining, store, keep=keep), mining.shard))


def n_pairs(mining: Mining, store: Store, *, keep: bool = True) -> int:
    """How many usable pairs there are, at most n; none is parsed where the corpus is raw text.

    keep: whether a number that had to be counted is remembered; without it nothing is written. Raises `NbkitError` for
    a corpus without a last pair where no n is given.
    """
    if is_endless(mining.corpus):
        if mining.n is None:
            raise NbkitError(f"corpus '{mining.corpus}' is unbounded: set n")
        return mining.n
    identity = corpus_identity(mining.corpus, mining.src, mining.tgt, n=mining.n, parsers=mining.parsers)
    key = {"kind": "disambiguation.n_pairs", "version": 2, "corpus": identity, "on_error": mining.on_error}
    counted = partial(_count_pairs, ByContent(json.dumps(key, sort_keys=True), mining))
    if not keep and store.table_rows(key) is None:
        return counted()

    def compute() -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"n": [counted()]})

    return int(store.table(key, compute)["n"].iloc[0])


@dataclass(frozen=True)
class ByContent:
    """What something is remembered by in this process: *content* stands for the files that *of* names."""

    content: str
    of: Any = field(compare=False)


@lru_cache(maxsize=64)
def _count_pairs(counted: ByContent) -> int:
    mining: Mining = counted.of
    found, split = find_corpus(mining.corpus)
    request = Request(mining.src, mining.tgt, split, mining.n, mining.parsers, mining.on_error)
    pairs: Iterable[Any] = found.raw_pairs(request) if isinstance(found, RawCorpus) else found.pairs(request)
    good = keep_good(pairs, "skip", None)  # a malformed line does not count towards n, and is told when it is read
    return sum(1 for _ in islice(good, mining.n))


def shard_pairs(mining: Mining, start: int, store: Store) -> Iterator[Pair]:
    """The parsed pairs of the shard that begins at *start*. Raises as `load_pairs` does."""
    stop = start + mining.shard if mining.n is None else min(start + mining.shard, mining.n)
    return load_pairs(
        mining.corpus, mining.src, mining.tgt, n=stop - start, start=start, parsers=mining.parsers,
        on_error=mining.on_error, store=store,
    )  # fmt: skip


def links_file(mining: Mining) -> Path:
    """The file of ``pharaoh:FILE``. Raises `NbkitError` if there is none, or where pairs have no fixed places."""
    assert isinstance(mining.aligner, str)
    path = Path(expand_path(mining.aligner.removeprefix(FILE), "aligner"))
    if not path.is_file():
        raise NbkitError(
            f"aligner '{mining.aligner}': no such file; a line of links for each pair of the corpus expected"
        )
    if mining.on_error != "raise":
        raise NbkitError(
            f"aligner '{mining.aligner}' knows pairs by their places, which move where malformed lines are skipped: "
            "mend the corpus, and let on_error be 'raise'"
        )
    return path


# ----------------------------------------------------------------------------
# The pairs of a corpus with their links, shard by shard; links of a statistical aligner are remembered.

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
    aligned = cache(lambda: _link_tables(mining, store))  # not asked for where all shards are remembered
    for start in shard_starts(mining, store):
        _shard_links(mining, start, store, aligned)


def _shard_links(
    mining: Mining, start: int, store: Store, aligned: Callable[[], dict[int, pd.DataFrame]]
) -> pd.DataFrame:
    key = {"kind": "disambiguation.links", "version": 1, "start": start, **mining.pairs_key()}
    return store.table(key, lambda: aligned()[start])


def _links(mining: Mining, start: int, shard: list[Pair], store: Store) -> Iterable[Alignment]:
    if is_of_a_corpus(mining):

        def aligned() -> dict[int, pd.DataFrame]:
            tables = _link_tables(mining, store)
            for other in tables.keys() - {start}:  # kept as well: the next shard need not read the whole corpus again
                _shard_links(mining, other, store, lambda: tables)
            return tables

        return [_alignment(flat) for flat in _shard_links(mining, start, store, aligned)["links"]]
    if mining.links_from_file:
        return _read_links(links_file(mining), start, len(shard))
    return mining.loaded().align([(pair.source.tokens, pair.target.tokens) for pair in shard], progress=False)


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
        raise DataError(
            f"no links for the pair after it; one line per pair expected, {start + n} at least", path, number
        )


def _link_tables(mining: Mining, store: Store) -> dict[int, pd.DataFrame]:
    """The links of the whole corpus, a table a shard, by where the shard begins."""
    import pandas as pd

    starts = shard_starts(mining, store)
    tokens = [
        (pair.source.tokens, pair.target.tokens) for start in starts for pair in shard_pairs(mining, start, store)
    ]
    flat = [[place for link in each for place in link] for each in mining.loaded(store=store).align(tokens)]
    cut = {start: flat[start : start + mining.shard] for start in starts}
    return {
        start: pd.DataFrame({"links": links}, index=range(start, start + len(links))) for start, links in cut.items()
    }


def _alignment(flat: Sequence[Any]) -> Alignment:
    places = [int(place) for place in flat]
    return tuple(zip(places[::2], places[1::2], strict=True))


def is_of_a_corpus(mining: Mining) -> bool:
    """Whether the links depend on all pairs together, so that `align_corpus` comes before the counting."""
    name = mining.aligner if isinstance(mining.aligner, str) else mining.aligner.identity.get("aligner")
    return name in _OF_A_CORPUS


# ----------------------------------------------------------------------------
# Bias mining: one pass over a parsed and aligned parallel corpus that counts what stands beside each sense.
#
# Pairs come as (source, target, links). What is counted is bounded by the vocabulary, not by the corpus, and
# adds up (`SenseCounts`), so that a corpus is counted in shards by as many processes as there are; each shard
# is remembered.
#
# Source: disambiguation paper, §2.1 and §3.1.

_MODIFIER = "amod"


_NOUNS = ("NOUN", "PROPN")


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
    >>> sorted(counts.attractors["bat", "animal"].items()), counts.sense_adjectives["bat", "animal"]
    ([('old', 1), ('sleep', 1)], Counter({'old': 1}))
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
        self._reached: Counter[SenseKey] = Counter()
        self._words = _Words()

    def add(self, source: Text, target: Text, links: Sequence[tuple[int, int]]) -> None:
        """Count one pair. Raises `NbkitError` where it is not parsed, or a link points outside the target.

        Where no homograph is in the source, *links* are not looked at.
        """
        self._read += 1
        senses = self.finder.pair_senses(source, target, links)
        if senses:
            self._add_senses(source, senses)
            self._add_reached(source, target, links, senses)
        start = 0
        for sentence in source.sentences:
            # Most sentences hold no adjective before a noun: looking at the column as a whole costs next to nothing.
            if sentence.deprels is not None and _MODIFIER in sentence.deprels:
                self._add_adjectives(sentence, start, senses)
            start += len(sentence.tokens)

    def counts(self) -> SenseCounts:
        """What was counted so far; a copy."""
        return sum_counts([SenseCounts(
            self._read, self._pairs, self._attractors, self._undecided, self._sense_adjectives, self._noun_adjectives,
            self._reached,
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

    def _add_reached(self, source: Text, target: Text, links: Sequence[tuple[int, int]], senses: list[Sense]) -> None:
        """Count what the rule and its variants decide; biases are of the rule's senses alone."""
        is_told = all(sense.cluster is not None for sense in senses)
        for reach in REACHES:
            own = senses if is_told or reach == "links" else self.finder.pair_senses(source, target, links, reach)
            self._reached.update((reach, sense.outcome) for sense in own)

    def _add_adjectives(self, sentence: Sentence, start: int, senses: list[Sense]) -> None:
        upos, heads, lemmas, deprels = sentence.upos, sentence.heads, sentence.lemmas, sentence.deprels
        if upos is None or heads is None or lemmas is None or deprels is None:
            return
        for token, relation in enumerate(deprels):
            head = heads[token]
            if relation != _MODIFIER or upos[token] != "ADJ" or head == ROOT or upos[head] != "NOUN":
                continue
            feats = sentence.feats[token] if sentence.feats is not None else ""
            if "Degree=Cmp" in feats or "Degree=Sup" in feats or _in_compound(upos, deprels, head):
                continue
            if sentence.tokens[token][:1].isupper():
                continue  # attacks write what is counted in lower case: *an asian man* is no English
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
    pairs: Iterable[tuple[Text, Text, Alignment]],
    lexicon: HomographLexicon,
    *,
    matching: SenseMatching = "compounds",
    nouns: TargetNouns = "tagged",
) -> SenseCounts:
    """The counts of a stream of (source, target, links): parsed texts with lemmas, the target's trees aside.

    See `SenseMiner`; memory is bounded by the vocabulary.
    """
    miner = SenseMiner(SenseFinder(lexicon, matching, nouns=nouns))
    for source, target, links in pairs:
        miner.add(source, target, links)
    return miner.counts()


def mine_shard(mining: Mining, start: int, store: Store) -> SenseCounts:
    """The counts of one shard, remembered: the unit of work."""

    def compute() -> pd.DataFrame:
        triples = ((pair.source, pair.target, links) for pair, links in aligned_pairs(mining, start, store))
        nouns = mining.target_nouns
        return count_senses(triples, mining.homographs(), matching=mining.matching, nouns=nouns).table()

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
