"""Word alignment by a list of word pairs, such as those that the sandbox links: competitive linking.

Source: Melamed 2000, §3.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nbsandbox.stream import pairs, training_splits

#: Links weaker than this are not considered.
THRESHOLD = 0.01
# Bonus of a link for each linked diagonal neighbour: enough to choose among equal words (the second "the" belongs to
# the noun after it), too little to overrule the word list.
_NEIGHBOUR = 0.1
# Penalty of a link if one of its words occurs more than once in its text: other links, which come first, decide.
_REPEATED = 0.3


class Entry(NamedTuple):
    """How often two words translate each other, and how often one of them then also has another link."""

    times: float
    shared: float = 0.0


class _Candidate(NamedTuple):
    source: int
    target: int
    strength: float
    distance: float
    is_repeated: bool
    shared: float
    companion: float


class WordList:
    """Pairs of word forms, case folded, with the strength of each as Dice's 2 c(s, t) / (c(s) + c(t))."""

    def __init__(self, entries: Mapping[tuple[str, str], Entry]):
        self.entries = dict(entries)
        self._sources: dict[str, float] = defaultdict(float)
        self._targets: dict[str, float] = defaultdict(float)
        for (source, target), entry in self.entries.items():
            self._sources[source] += entry.times
            self._targets[target] += entry.times

    @property
    def digest(self) -> str:
        """A digest of the list, for store keys."""
        rows = sorted((*words, *entry) for words, entry in self.entries.items())
        return hashlib.blake2b(repr(rows).encode(), digest_size=16).hexdigest()

    def strength(self, source: str, target: str) -> float:
        """How strongly two words are linked, in [0, 1]: 1 for words outside the list that are equal, as names are."""
        entry = self.entries.get((source, target))
        if entry is not None:
            return 2 * entry.times / (self._sources[source] + self._targets[target])
        return float(source == target or (_digits(source) == _digits(target) != ""))

    def links(
        self, sources: Sequence[str], targets: Sequence[str], threshold: float = THRESHOLD
    ) -> tuple[tuple[int, int], ...]:
        """The links of two tokenised texts: the strongest pair of words first, each word once.

        The strength of two words is that of the list, plus a bonus for each linked diagonal neighbour; ties go to the
        most similar relative positions, then to the leftmost. Remaining words join a linked word if they do so in most
        of their links in the list (*hat* … *gekauft* for *bought*). Case is ignored.

        >>> words = WordList({("dog", "hund"): Entry(2), ("old", "alte"): Entry(1)})
        >>> words.links(["The", "old", "dog"], ["Der", "alte", "Hund"])
        ((1, 1), (2, 2))
        """
        candidates = list(self._candidates(sources, targets, threshold))
        found: set[tuple[int, int]] = set()
        linked: tuple[set[int], set[int]] = (set(), set())

        def add(candidate: _Candidate) -> None:
            found.add(candidate[:2])
            linked[0].add(candidate.source)
            linked[1].add(candidate.target)

        def merit(candidate: _Candidate) -> tuple[float, float, int, int]:
            source, target = candidate.source, candidate.target
            neighbours = ((source - 1, target - 1) in found) + ((source + 1, target + 1) in found)
            strength = candidate.strength + _NEIGHBOUR * neighbours - _REPEATED * candidate.is_repeated
            return strength, -candidate.distance, -source, -target

        waiting = candidates
        while waiting := [c for c in waiting if c.source not in linked[0] and c.target not in linked[1]]:
            add(max(waiting, key=merit))
        # Remaining words join a linked word; the certainty of the companion decides, then the distance.
        shared = [candidate for candidate in candidates if candidate.shared > 0.5]
        shared.sort(key=lambda each: (round(each.companion, 1), -each.distance, -each.source, -each.target))
        lone_targets = {c.target: c for c in shared if c.target not in linked[1] and c.source in linked[0]}
        lone_sources = {c.source: c for c in shared if c.source not in linked[0] and c.target in linked[1]}
        for candidate in (*lone_targets.values(), *lone_sources.values()):
            add(candidate)
        # Phrases linked as a whole (*this evening*, *heute Abend*): each word is linked to a neighbour of the other.
        first = frozenset(found)
        for source, target, *_ in shared:
            beside = [(source, target + step) in first for step in (-1, 1)]
            if any(beside) and any((source + step, target) in first for step in (-1, 1)):
                found.add((source, target))
        # Words missing from the list, between the same linked words on both sides.
        for source in set(range(len(sources))) - linked[0]:
            for target in set(range(len(targets))) - linked[1]:
                if {(source - 1, target - 1), (source + 1, target + 1)} <= first:
                    found.add((source, target))
        return tuple(sorted(found))

    def _candidates(self, sources: Sequence[str], targets: Sequence[str], threshold: float) -> Iterator[_Candidate]:
        """Possible links of at least *threshold*, with what decides between them."""
        sources, targets = ([token.casefold() for token in side] for side in (sources, targets))
        for i, source in enumerate(sources):
            for j, target in enumerate(targets):
                strength = self.strength(source, target)
                if strength >= threshold:
                    # The share of the links of the two in which one also had another link, and the probability that the
                    # more certain of the two is linked to the other.
                    shared = companion = 0.0
                    if entry := self.entries.get((source, target)):
                        shared = entry.shared / entry.times
                        companion = entry.times / min(self._sources[source], self._targets[target])
                    is_repeated = sources.count(source) > 1 or targets.count(target) > 1
                    distance = abs(i / len(sources) - j / len(targets))
                    yield _Candidate(i, j, strength, distance, is_repeated, shared, companion)


def _digits(word: str) -> str:
    """The digits of a number, independent of separators: *1,234*, *1.234*."""
    return "".join(filter(str.isdigit, word))


@cache
def word_list(src: str, tgt: str, n: int = 4000) -> WordList:
    """The word forms paired by the gold links of *n* pairs of each mixture of the training splits, and of idioms.

    >>> word_list("en", "de", n=500).strength("dog", "hund") > 0.5
    True
    """
    counts: dict[tuple[str, str], float] = defaultdict(float)
    shared: dict[tuple[str, str], float] = defaultdict(float)
    for mixture, split in training_splits():
        # There are 690 idiom pairs: a shorter list uses fewer of them, or they would outweigh ordinary words.
        for pair in pairs(src, tgt, n=n if split == "train" else n // 6, split=split, mixture=mixture):
            fertile_sources, fertile_targets = (Counter(side) for side in zip(*pair.alignment, strict=True))
            for source, target in pair.alignment:
                words = (pair.source.tokens[source].casefold(), pair.target.tokens[target].casefold())
                # An idiom linked as one block says little about its single words: *the* in *kick the bucket*.
                weight = 1 / min(fertile_sources[source], fertile_targets[target]) ** 2
                counts[words] += weight
                shared[words] += weight * (fertile_sources[source] > 1 or fertile_targets[target] > 1)
    return WordList({words: Entry(count, shared[words]) for words, count in counts.items()})
