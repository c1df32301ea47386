"""Word alignments behind one interface: gold, a word list, Pharaoh files, eflomal; embeddings are in `learned`.

>>> aligner = load_aligner("lexicon", "en", "de")
>>> list(aligner.align([(("the", "old", "dog", "sleeps"), ("der", "alte", "Hund", "schläft"))], progress=False))
[((0, 0), (1, 1), (2, 2), (3, 3))]
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from nbkit import sandbox
from nbkit.corpora.readers import read_word_pairs
from nbkit.errors import DataError, MissingExtraError, NbkitError, UnknownNameError, as_problem
from nbkit.measure.links import (
    SYMMETRISATIONS,
    Alignment,
    TokenPair,
    check_links,
    from_pharaoh,
    pairs_digest,
    read_pharaoh,
    symmetrise,
    to_pharaoh,
    token_pairs,
)
from nbkit.registry import Registry, check_options
from nbkit.sandbox.stream import mixtures
from nbkit.store import Store
from nbkit.text.sentences import Pair

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class Aligner(Protocol):
    """Links the words of texts and of their translations.

    An aligner that may be unusable here (a package, a file or weights not there) also has ``problem() -> str | None``,
    which says why without loading anything heavy.
    """

    @property
    def identity(self) -> dict[str, Any]:
        """The aligner's part of a cache key: JSON-able, different whenever its links may be. Costs no model load."""

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """The links of each pair of (source tokens, target tokens), in the order of *pairs*, sorted.

        A side without tokens has no links. Raises `NbkitError` where *pairs* hold texts instead of tokens, and what
        the aligner raises. Equal pairs get equal links; links do not depend on the order of the pairs. Those of a
        statistical aligner depend on all pairs together: give it a corpus at once, not by parts.
        """


#: Names to factories ``(src, tgt, argument, **options) -> Aligner``; *argument* is what a name holds after its
#: colon (None without one).
ALIGNERS: Registry[Callable[..., Aligner]] = Registry("aligner")
ALIGNERS.register("gold", "nbkit.measure.aligners:GoldAligner", summary="the corpus's own links: pairs=")
ALIGNERS.register(
    "lexicon",
    "nbkit.measure.aligners:LexiconAligner",
    summary="a word list: the sandbox's own, or lexicon:FILE (TSV)",
)
ALIGNERS.register(
    "eflomal", "nbkit.measure.aligners:EflomalAligner", summary="statistical, of the corpus itself or training="
)
ALIGNERS.register("pharaoh", "nbkit.measure.aligners:PharaohAligner", summary="pharaoh:FILE, of any other aligner")
ALIGNERS.register(
    "embeddings", "nbkit.measure.learned:EmbeddingAligner", summary="embeddings:MODEL, a multilingual encoder"
)


def load_aligner(name: str, src: str, tgt: str, **options: Any) -> Aligner:
    """The aligner called *name*, for texts in *src* and their translations into *tgt*.

    name: one of `ALIGNERS`, with what it works on after a colon: ``gold``, ``lexicon``, ``lexicon:words.tsv``,
    ``eflomal``, ``pharaoh:corpus.align``, ``embeddings:google-bert/bert-base-multilingual-cased``.
    options: of the aligner; ``store=`` (a `nbkit.store.Store`) has eflomal and embeddings remember their links.

    Raises `UnknownNameError` for a name, `NbkitError` for an option or an argument that is not known or missing.

    >>> load_aligner("pharaoh", "en", "de")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: aligner 'pharaoh': which file? Write pharaoh:FILE
    >>> load_aligner("lexicon", "en", "de", colour="red")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: aligner 'lexicon': unknown option 'colour'. There are: entries, pairs, threshold
    """
    head, colon, argument = name.partition(":")
    factory = ALIGNERS.get(head)
    check_options(f"aligner '{head}'", factory, options, given=3)
    return factory(src, tgt, argument if colon else None, **options)


@as_problem
def check_aligner(name: str, src: str, tgt: str, **options: Any) -> str | None:
    """Why the aligner cannot be used here, or None; loads no model and no torch.

    >>> check_aligner("lexicon", "en", "de")
    >>> check_aligner("eflomall", "en", "de")
    "unknown aligner 'eflomall'; did you mean 'eflomal'? There are: eflomal, embeddings, gold, lexicon, pharaoh"
    """
    problem = getattr(load_aligner(name, src, tgt, **options), "problem", None)
    return problem() if problem else None


def no_argument(aligner: str, argument: str | None) -> None:
    """Raise `NbkitError` where a name holds something after its colon that the aligner does not take."""
    if argument is not None:
        raise NbkitError(f"aligner '{aligner}:{argument}': '{aligner}' takes nothing after a colon")


def an_argument(aligner: str, argument: str | None, what: str) -> str:
    """What a name holds after its colon; `NbkitError` where it holds nothing."""
    if not argument:
        raise NbkitError(f"aligner '{aligner}': which {what.lower()}? Write {aligner}:{what}")
    return argument


# ----------------------------------------------------------------------------
# Links that are there already: a corpus's own, a word list's, a file's.


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

    @as_problem
    def problem(self) -> str | None:
        """Why the file cannot be used, or None."""
        for _ in read_pharaoh(self.path):
            pass
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


# ----------------------------------------------------------------------------
# eflomal: a Bayesian model of word alignment (IBM 1, HMM and fertility), sampled. GPL; an optional extra.
#
# Source: Östling and Tiedemann 2016, "Efficient Word Alignment with Markov Chain Monte Carlo". It stands in
# for the fast_align of the papers, whose own links come in through ``pharaoh:FILE``.

_INSTALL = (
    "aligner 'eflomal' needs the package eflomal, which is compiled (gcc, make, the headers of Python): "
    'pip install "nbkit[eflomal]"; other aligners: lexicon, pharaoh:FILE, embeddings:MODEL'
)
#: Texts of more tokens are left out by eflomal.
MOST_TOKENS = 1023


class EflomalAligner:
    """Both directions are sampled, then made one alignment.

    training: pairs of (source tokens, target tokens) to learn from first. Priors counted from their links are then
    what other pairs are aligned with, so that a few test sentences profit from a corpus; the training pairs
    themselves get the links of that first run. Without it, `align` learns from the pairs that it is given alone.
    symmetrisation: one of `SYMMETRISATIONS`. model: 1 (IBM 1), 2 (and HMM) or 3 (and fertility). samplers: independent
    chains whose expectations are averaged. iterations: relative to eflomal's own number, which falls with the size of
    the corpus. null_prior: probability of a word without a link. store: remembers links and priors.

    Each distinct pair counts once, and pairs are sorted first, so that their order and repeats change nothing. Case is
    ignored. Texts of more than 1,023 tokens get no links, with a warning. eflomal takes its seed from the system and
    offers no way to set one: two runs differ a little, and *store* is what makes one run's links last.

    Raises `MissingExtraError` when links are asked for without the package, `NbkitError` for settings out of range.
    """

    def __init__(
        self,
        src: str,
        tgt: str,
        argument: str | None = None,
        *,
        training: Iterable[tuple[Sequence[str], Sequence[str]]] | None = None,
        symmetrisation: str = "grow-diag-final-and",
        model: int = 3,
        samplers: int = 3,
        iterations: float = 1.0,
        null_prior: float = 0.2,
        store: Store | None = None,
    ):
        no_argument("eflomal", argument)
        if symmetrisation not in SYMMETRISATIONS:
            raise UnknownNameError("symmetrisation", symmetrisation, SYMMETRISATIONS)
        if model not in (1, 2, 3) or samplers < 1 or iterations <= 0 or not 0 < null_prior < 1:
            raise NbkitError(
                f"aligner 'eflomal': model={model}, samplers={samplers}, iterations={iterations}, "
                f"null_prior={null_prior}; 1, 2 or 3, at least 1, more than 0, and between 0 and 1 expected"
            )
        self._settings = {
            "model": model,
            "n_samplers": samplers,
            "rel_iterations": iterations,
            "null_prior": null_prior,
        }
        self._symmetrisation = symmetrisation
        self._training = None if training is None else _usable(token_pairs(training))
        if self._training == []:
            raise NbkitError("aligner 'eflomal': training holds no pair with words on both sides")
        self._store = store

    @property
    def identity(self) -> dict[str, Any]:
        """The package's version, the settings, and the digest of the training pairs. No seed: there is none to set."""
        return {**self._sampling, "training": self._training_digest, "symmetrisation": self._symmetrisation}

    def problem(self) -> str | None:
        """The install line where the package is missing, else None."""
        return None if find_spec("eflomal") else _INSTALL

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`: all pairs are one unit of work, sampled together and remembered together."""
        checked = token_pairs(pairs)
        usable = _usable(checked)
        places = {pair: place for place, pair in enumerate(usable)}
        directions = self._directions(usable) if usable else None
        for pair in checked:
            if directions is None or pair not in places:
                yield ()
                continue
            forward, backward = (from_pharaoh(lines[places[pair]]) for lines in directions)
            yield symmetrise(forward, backward, self._symmetrisation)

    @property
    def _sampling(self) -> dict[str, Any]:
        return {
            "aligner": "eflomal",
            "version": 1,
            "eflomal": version("eflomal") if find_spec("eflomal") else None,
            **self._settings,
        }

    @cached_property
    def _training_digest(self) -> str | None:
        return None if self._training is None else pairs_digest(self._training)

    def _directions(self, pairs: list[TokenPair]) -> tuple[list[str], list[str]]:
        """The links of each direction, a line a pair: remembered, or sampled now."""
        digest = pairs_digest(pairs)
        if digest == self._training_digest:
            return self._of_training
        if self._training is None:
            return self._remembered(pairs, digest, None, lambda: None)
        return self._remembered(pairs, digest, self._training_digest, lambda: self._priors)

    @cached_property
    def _of_training(self) -> tuple[list[str], list[str]]:
        assert self._training is not None
        assert self._training_digest is not None
        return self._remembered(self._training, self._training_digest, None, lambda: None)

    def _remembered(
        self, pairs: list[TokenPair], digest: str, training: str | None, priors: Callable[[], list[str] | None]
    ) -> tuple[list[str], list[str]]:
        def sample() -> pd.DataFrame:
            import pandas as pd

            forward, backward = _sample(pairs, self._settings, priors())
            return pd.DataFrame({"forward": forward, "backward": backward})

        config = {"kind": "alignment", **self._sampling, "training": training, "pairs": digest}
        table = self._table(config, sample)
        return table["forward"].to_list(), table["backward"].to_list()

    @cached_property
    def _priors(self) -> list[str]:
        """The lines of eflomal's priors file, counted from the links of the training pairs."""

        def count() -> pd.DataFrame:
            import pandas as pd

            _check_package()
            from eflomal import calculate_priors, write_priors

            lines = StringIO()
            write_priors(lines, *calculate_priors(*_lines(self._training or []), *self._of_training))
            return pd.DataFrame({"line": lines.getvalue().splitlines()})

        config = {"kind": "alignment-priors", **self._sampling, "training": self._training_digest}
        return self._table(config, count)["line"].to_list()

    def _table(self, config: dict[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        return compute() if self._store is None else self._store.table(config, compute)


def _usable(pairs: Iterable[TokenPair]) -> list[TokenPair]:
    """The distinct pairs with words on both sides, and not too many for eflomal, sorted."""
    distinct = {pair for pair in pairs if all(pair)}
    usable = sorted(pair for pair in distinct if max(map(len, pair)) <= MOST_TOKENS)
    if len(usable) < len(distinct):
        warnings.warn(
            f"{len(distinct) - len(usable)} pairs hold a text of more than {MOST_TOKENS} tokens, which eflomal does "
            "not align: they get no links",
            stacklevel=3,
        )
    return usable


def _lines(pairs: list[TokenPair]) -> tuple[list[str], list[str]]:
    """The texts of each side in lower case, as eflomal reads them: one word for each token, whatever is in it."""
    source, target = ([" ".join(map(_word, pair[side])) for pair in pairs] for side in (0, 1))
    return source, target


def _word(token: str) -> str:
    return "_".join(token.lower().split()) or "_"


def _check_package() -> None:
    if not find_spec("eflomal"):
        raise MissingExtraError(_INSTALL)


def _sample(pairs: list[TokenPair], settings: dict[str, Any], priors: list[str] | None) -> tuple[list[str], list[str]]:
    """Run eflomal on *pairs*; the links of each direction, source first, a line a pair."""
    _check_package()
    import eflomal

    source, target = _lines(pairs)
    with tempfile.TemporaryDirectory(prefix="nbkit-align-") as folder:
        links = [Path(folder) / name for name in ("forward", "backward")]
        try:
            eflomal.Aligner(**settings).align(
                source,
                target,
                links_filename_fwd=str(links[0]),
                links_filename_rev=str(links[1]),
                priors_input=priors,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise NbkitError(
                f"aligner 'eflomal' failed on {len(pairs)} pairs: {error}. Where it was compiled on another machine, "
                "compile it on this one: pip install --force-reinstall --no-cache-dir eflomal"
            ) from error
        forward, backward = (path.read_text(encoding="ascii").splitlines() for path in links)
    if not len(forward) == len(backward) == len(pairs):
        raise NbkitError(f"eflomal gave {len(forward)} and {len(backward)} lines of links for {len(pairs)} pairs")
    return forward, backward
