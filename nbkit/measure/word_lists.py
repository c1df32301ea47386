"""Gold links, as a corpus brings them with its pairs."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nbkit import sandbox
from nbkit.corpora.readers import read_word_pairs
from nbkit.errors import DataError, NbkitError
from nbkit.measure.aligners import an_argument, no_argument
from nbkit.measure.links import Alignment, TokenPair, check_links, pairs_digest, read_pharaoh, to_pharaoh, token_pairs
from nbkit.sandbox.stream import mixtures
from nbkit.text.sentences import Pair


class GoldAligner:
    """The links of `Pair.alignment`, for the pairs it was made of and no others: hypotheses have no gold links.

    pairs: of a corpus that has links, as the sandbox has.

    >>> from nbkit.sandbox import pairs
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


#: Gold-aligned pairs of the sandbox that its word list is counted from.
SANDBOX_PAIRS = 4000


#: Links weaker than this are not considered.
THRESHOLD = 0.01


# How much a link gains for each diagonal neighbour that is linked already: enough to choose among equal words (the
# second "the" goes with the noun after it), too little to overrule the word list.
_NEIGHBOUR = 0.1


# What a link loses where one of its words stands in its text more than once: the others, which go first, show which.
_REPEATED = 0.3


class Entry(NamedTuple):
    """How often two words translate each other, and how often one of the two then has another link beside it."""

    times: float
    shared: float = 0.0


class WordList:
    """Pairs of word forms, case folded, with the strength of each as Dice's 2 c(s, t) / (c(s) + c(t))."""

    def __init__(self, entries: Mapping[tuple[str, str], Entry]):
        self.entries = dict(entries)
        sources: dict[str, float] = {}
        targets: dict[str, float] = {}
        for (source, target), entry in self.entries.items():
            sources[source] = sources.get(source, 0) + entry.times
            targets[target] = targets.get(target, 0) + entry.times
        self._sources, self._targets = sources, targets

    def strength(self, source: str, target: str) -> float:
        """In [0, 1]. Words that the list does not pair: 1 for equal ones, which names are, and for equal digits."""
        entry = self.entries.get((source, target))
        if entry is not None:
            return 2 * entry.times / (self._sources[source] + self._targets[target])
        return float(source == target or (_digits(source) == _digits(target) != ""))

    def sharing(self, source: str, target: str) -> tuple[float, float]:
        """Of the links of two words, the share of those where one of them had another link beside it; and how likely
        the more certain of the two is to be linked to the other.
        """
        entry = self.entries.get((source, target))
        if entry is None:
            return 0.0, 0.0
        return entry.shared / entry.times, entry.times / min(self._sources[source], self._targets[target])

    @property
    def digest(self) -> str:
        """What stands for the list in cache keys."""
        rows = sorted((*words, *entry) for words, entry in self.entries.items())
        return hashlib.blake2b(repr(rows).encode(), digest_size=16).hexdigest()


def _digits(word: str) -> str:
    """The digits of a number, which separators of other conventions leave as they are: *1,234*, *1.234*."""
    return "".join(filter(str.isdigit, word))


@cache
def sandbox_word_list(src: str, tgt: str, pairs: int = SANDBOX_PAIRS) -> WordList:
    """The word forms that the sandbox's gold links pair, counted over its training splits, every mixture, idioms too.

    >>> sandbox_word_list("en", "de").strength("dog", "hund") > 0.5
    True
    """
    counts: dict[tuple[str, str], float] = defaultdict(float)
    shared: dict[tuple[str, str], float] = defaultdict(float)
    for mixture, split in sandbox.training_splits():
        # There are 690 idiom pairs: a shorter list has fewer of them too, or they would outweigh ordinary words.
        n = pairs if split == "train" else pairs // 6
        for pair in sandbox.pairs(src, tgt, n=n, split=split, mixture=mixture):
            assert pair.alignment is not None
            fertile_sources = Counter(source for source, _ in pair.alignment)
            fertile_targets = Counter(target for _, target in pair.alignment)
            for source, target in pair.alignment:
                words = (pair.source.tokens[source].casefold(), pair.target.tokens[target].casefold())
                # An idiom that is linked as one block says little about each of its words: *the* of *kick the bucket*.
                weight = 1 / min(fertile_sources[source], fertile_targets[target]) ** 2
                counts[words] += weight
                shared[words] += weight * (fertile_sources[source] > 1 or fertile_targets[target] > 1)
    return WordList({words: Entry(count, shared[words]) for words, count in counts.items()})


def read_word_list(path: str | Path) -> WordList:
    """A file as `nbkit.corpora.readers.read_word_pairs` reads it, which raises what that raises; case is ignored."""
    return WordList({(source.casefold(), target.casefold()): Entry(1) for source, target in read_word_pairs(path)})


class LexiconAligner:
    """Competitive linking by a word list: the strongest pair of words first, each word once.

    The strength of two words is that of the `WordList`, plus a bonus for each diagonal neighbour that is linked; of
    equal ones, those at the most alike places of their texts come first, then the leftmost. What is left over joins a
    linked word where the list has it do so in most of its links (*hat* … *gekauft* for *bought*). Case is ignored.

    argument: a file for `read_word_list`; without one, the sandbox's list. entries: a list of one's own in place of
    both, {(source, target): how often}. pairs: how many pairs a mixture the sandbox's list is counted from.
    threshold: words that are paired less strongly are not linked. Source: Melamed 2000, §3, for competitive linking.
    """

    def __init__(
        self,
        src: str,
        tgt: str,
        argument: str | None = None,
        *,
        entries: Mapping[tuple[str, str], float] | None = None,
        pairs: int = SANDBOX_PAIRS,
        threshold: float = THRESHOLD,
    ):
        self.threshold = threshold
        self._src, self._tgt, self._pairs = src, tgt, pairs
        self._words: WordList | None = None
        if entries is not None:
            self._words = WordList({(s.casefold(), t.casefold()): Entry(n) for (s, t), n in entries.items()})
        elif argument is not None:
            self._words = read_word_list(argument)
        else:
            sandbox.identity(src, tgt)  # raises for languages that the sandbox does not speak

    @property
    def identity(self) -> dict[str, Any]:
        """The list (its digest, or the sandbox's version) and the threshold."""
        if self._words is not None:
            words: Any = self._words.digest
        else:
            versions = [sandbox.identity(self._src, self._tgt, split="train", mixture=name) for name in mixtures()]
            words = {"sandbox": versions, "pairs": self._pairs}
        return {"aligner": "lexicon", "version": 2, "words": words, "threshold": self.threshold}

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`."""
        words = self._words or sandbox_word_list(self._src, self._tgt, self._pairs)
        known: dict[TokenPair, Alignment] = {}
        for pair in token_pairs(pairs):
            if pair not in known:
                known[pair] = _link(words, pair, self.threshold)
            yield known[pair]


class _Candidate(NamedTuple):
    source: int
    target: int
    strength: float
    distance: float
    is_repeated: bool
    shared: float
    companion: float


def _link(words: WordList, pair: TokenPair, threshold: float) -> Alignment:
    candidates = list(_candidates(words, pair, threshold))
    links: set[tuple[int, int]] = set()
    sources: set[int] = set()
    targets: set[int] = set()

    def add(candidate: _Candidate) -> None:
        links.add(candidate[:2])
        sources.add(candidate.source)
        targets.add(candidate.target)

    def merit(candidate: _Candidate) -> tuple[float, float, int, int]:
        source, target = candidate.source, candidate.target
        neighbours = ((source - 1, target - 1) in links) + ((source + 1, target + 1) in links)
        strength = candidate.strength + _NEIGHBOUR * neighbours - _REPEATED * candidate.is_repeated
        return strength, -candidate.distance, -source, -target

    waiting = candidates
    while waiting := [c for c in waiting if c.source not in sources and c.target not in targets]:
        add(max(waiting, key=merit))
    shared = [c for c in candidates if c.shared > 0.5]
    # Words left over join a linked word; how sure the linked word is of such a companion decides, then the distance.
    linked_sources, linked_targets = frozenset(sources), frozenset(targets)
    lone_targets = [c for c in shared if c.target not in linked_targets and c.source in linked_sources]
    lone_sources = [c for c in shared if c.source not in linked_sources and c.target in linked_targets]
    for found in (*_grouped(lone_targets, "target"), *_grouped(lone_sources, "source")):
        add(max(found, key=lambda c: (round(c.companion, 1), -c.distance, -c.source, -c.target)))
    # Phrases that are linked as wholes: *this evening*, *heute Abend*.
    first = frozenset(links)
    links.update(c[:2] for c in shared if _closes_block(c, first))
    # Words that the list does not know, between the same linked words on both sides.
    for source in set(range(len(pair[0]))) - sources:
        for target in set(range(len(pair[1]))) - targets:
            if {(source - 1, target - 1), (source + 1, target + 1)} <= first:
                links.add((source, target))
    return tuple(sorted(links))


def _grouped(candidates: list[_Candidate], side: str) -> Iterable[list[_Candidate]]:
    """The candidates of each word of one side."""
    groups: dict[int, list[_Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(getattr(candidate, side), []).append(candidate)
    return groups.values()


def _closes_block(candidate: _Candidate, links: frozenset[tuple[int, int]]) -> bool:
    """Whether both words are linked, each to a word beside the other one."""
    source, target = candidate[:2]
    return any((source, target + step) in links for step in (-1, 1)) and any(
        (source + step, target) in links for step in (-1, 1)
    )


def _candidates(words: WordList, pair: TokenPair, threshold: float) -> Iterator[_Candidate]:
    sources, targets = ([token.casefold() for token in side] for side in pair)
    for i, source in enumerate(sources):
        for j, target in enumerate(targets):
            strength = words.strength(source, target)
            if strength >= threshold:
                distance = abs(i / len(sources) - j / len(targets))
                shared, companion = words.sharing(source, target)
                is_repeated = sources.count(source) > 1 or targets.count(target) > 1
                yield _Candidate(i, j, strength, distance, is_repeated, shared, companion)


class PharaohAligner:
    """Line k of a file holds the links of pair k, ``0-0 1-2 …``, source first, counted from 0.

    A file knows pairs by their places alone, so that `align` wants all of them at once and in the file's order.
    """

    def __init__(self, src: str, tgt: str, argument: str | None = None):
        self.path = an_argument("pharaoh", argument, "FILE")

    @property
    def identity(self) -> dict[str, Any]:
        """The digest of the file's links. Raises `DataError` where it cannot be read."""
        links = [((to_pharaoh(alignment),), ()) for alignment in read_pharaoh(self.path)]
        return {"aligner": "pharaoh", "links": pairs_digest(links)}

    def problem(self) -> str | None:
        """Why the file cannot be used, or None."""
        try:
            for _ in read_pharaoh(self.path):
                pass
        except DataError as error:
            return str(error)
        return None

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`. Raises `DataError` where lines and pairs differ in number, or a link points outside."""
        alignments, checked = list(read_pharaoh(self.path)), token_pairs(pairs)
        if len(alignments) != len(checked):
            raise DataError(
                f"{len(alignments)} lines for {len(checked)} pairs; one line a pair expected, in their order", self.path
            )
        for number, (links, pair) in enumerate(zip(alignments, checked, strict=True), start=1):
            try:
                yield check_links(links, pair)
            except NbkitError as error:
                raise DataError(str(error), self.path, number) from None
