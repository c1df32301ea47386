"""POS mini-trees: which parts of speech stand around a word, in a training corpus and in a (permuted) sentence.

    ψ_{w,S}      the distribution of the 17 universal tags over the tokens at most r places from the word w of
                 sentence S, w itself left out (fewer at the sentence's ends)
    ψ_{w,D}      its mean over all occurrences of w in the training corpus D
    β_{w,S}      |top_k ψ_{w,D} ∩ top_k ψ_{w,S}| / k: the overlap of the k most probable tags         (equation 4)
    β_S          the mean of β_{w,S} over the words of S: its *signature*
    β_Ŝ / β_S    above 1, a permutation Ŝ puts words among parts of speech more like those of training than S does

What the paper leaves open: a word is its form without case (as in `nbkit.perturb.derangements`), punctuation is a word
like any other. Tags that do not occur are in no top k (with r = 2 and k = 4 a neighbourhood holds at most four, so that
its top 4 are those that occur), and equally probable ones come in alphabetical order. Words that the corpus lacks are
left out of the mean, of the permuted sentence and the original alike.

Source: Sinha et al. 2021, "Unnatural Language Inference", §6, Figures 3 and 6, Appendix B.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from nbkit.errors import NbkitError
from nbkit.syntax.conllu import UPOS
from nbkit.text import Order, Sentence

if TYPE_CHECKING:
    import pandas as pd

#: The columns of every distribution: the universal tags in alphabetical order.
TAGS = tuple(sorted(UPOS))

_NUMBER = {tag: number for number, tag in enumerate(TAGS)}

#: What stands between sentences, so that no neighbourhood reaches into the next one.
_NO_TAG = len(TAGS)

#: Sentences that are counted at once.
_BLOCK = 4096


class MiniTrees:
    """The neighbourhoods of every word of a corpus, as exact sums: partial counts add up in any order.

    radius: how many places to the left and to the right belong to a word's neighbourhood.
    unit: what one neighbourhood weighs, lcm(1 … 2 · radius), so that every share of it is a whole number.
    words: the row of each word. occurrences: words. sums: words × 17, in units.

    >>> river = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> trees = count_mini_trees([river, Sentence(("A", "river", "!"), "en", upos=("DET", "NOUN", "PUNCT"))])
    >>> {tag: float(share) for tag, share in zip(TAGS, trees.distribution("River")) if share}
    {'DET': 0.5, 'PUNCT': 0.25, 'VERB': 0.25}
    >>> len(trees), "lake" in trees
    (5, False)
    """

    def __init__(self, radius: int, words: Sequence[str], occurrences: np.ndarray, sums: np.ndarray):
        if not 1 <= radius <= 10:
            raise NbkitError(f"mini-trees: radius lies between 1 and 10, not {radius}")
        self.radius = radius
        self.words = {word: row for row, word in enumerate(words)}
        self.occurrences = np.asarray(occurrences, dtype=np.int64)
        self.sums = np.asarray(sums, dtype=np.int64).reshape(len(self.words), len(TAGS))

    @property
    def unit(self) -> int:
        return _unit(self.radius)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word.casefold() in self.words

    def distribution(self, word: str) -> np.ndarray | None:
        """ψ_{w,D}: 17 probabilities in the order of `TAGS`, or None for a word the corpus lacks."""
        row = self.words.get(word.casefold())
        return None if row is None else self.sums[row] / (self.occurrences[row] * self.unit)

    def merged(self, other: MiniTrees) -> MiniTrees:
        """The counts of both corpora together. Raises `NbkitError` where their radii differ.

        >>> a, b = (Sentence((word, "cat"), "en", upos=("DET", "NOUN")) for word in ("the", "a"))
        >>> together, one_by_one = count_mini_trees([a, b]), count_mini_trees([b]).merged(count_mini_trees([a]))
        >>> together.to_frame().equals(one_by_one.to_frame())
        True
        """
        if self.radius != other.radius:
            raise NbkitError(f"mini-trees of radius {self.radius} and of radius {other.radius} cannot be merged")
        words = list(dict.fromkeys([*self.words, *other.words]))
        rows = {word: row for row, word in enumerate(words)}
        occurrences = np.zeros(len(words), dtype=np.int64)
        sums = np.zeros((len(words), len(TAGS)), dtype=np.int64)
        for trees in (self, other):
            at = np.array([rows[word] for word in trees.words], dtype=np.intp)
            occurrences[at] += trees.occurrences
            sums[at] += trees.sums
        return MiniTrees(self.radius, words, occurrences, sums)

    def to_frame(self) -> pd.DataFrame:
        """A table for `Store.table` or Parquet: word, radius, occurrences and a column of sums a tag; words sorted."""
        import pandas as pd

        frame = pd.DataFrame(self.sums, columns=list(TAGS))
        frame.insert(0, "occurrences", self.occurrences)
        frame.insert(0, "radius", np.int64(self.radius))
        frame.insert(0, "word", pd.Series(list(self.words), dtype="str"))
        return frame.sort_values("word", ignore_index=True)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> MiniTrees:
        """What `to_frame` made a table of. Raises `NbkitError` for any other table.

        >>> trees = count_mini_trees([Sentence(("the", "cat"), "en", upos=("DET", "NOUN"))])
        >>> MiniTrees.from_frame(trees.to_frame()).distribution("cat").tolist() == trees.distribution("cat").tolist()
        True
        """
        missing = [name for name in ("word", "radius", "occurrences", *TAGS) if name not in frame.columns]
        if missing or frame["radius"].nunique() != 1:
            problem = f"lacks {', '.join(missing)}" if missing else "has no radius, or several"
            raise NbkitError(f"mini-trees: the table {problem}; count them again with count_mini_trees")
        sums = frame[list(TAGS)].to_numpy()
        return cls(int(frame["radius"].iloc[0]), frame["word"].tolist(), frame["occurrences"].to_numpy(), sums)


def count_mini_trees(sentences: Iterable[Sentence], radius: int = 2) -> MiniTrees:
    """The neighbourhoods of all words of a corpus, which is read once and not kept.

    Raises `NbkitError` for a sentence without parts of speech or with a tag that is not universal.
    Source: §6 (ψ_{w, D_train}).
    """
    words: dict[str, int] = {}
    occurrences, sums = np.zeros(0, dtype=np.int64), np.zeros((0, len(TAGS)), dtype=np.int64)
    stream = iter(sentences)
    while block := list(islice(stream, _BLOCK)):
        rows, tags = _in_one_line(block, words, radius)
        occurrences = np.pad(occurrences, (0, len(words) - len(occurrences)))
        sums = np.pad(sums, ((0, len(words) - len(sums)), (0, 0)))
        at = np.flatnonzero(tags != _NO_TAG)
        neighbours = [tags[at + step] for step in _steps(radius)]
        size = np.sum([found != _NO_TAG for found in neighbours], axis=0)
        weight = _unit(radius) // np.maximum(size, 1)
        np.add.at(occurrences, rows[at[size > 0]], 1)  # a word alone in its sentence has no neighbourhood
        for found in neighbours:
            near = found != _NO_TAG
            np.add.at(sums.reshape(-1), rows[at[near]] * len(TAGS) + found[near], weight[near])
    seen = occurrences > 0
    return MiniTrees(radius, [word for word, row in words.items() if seen[row]], occurrences[seen], sums[seen])


def neighbourhoods(sentence: Sentence, radius: int = 2) -> np.ndarray:
    """ψ_{w,S} of each word of a sentence: tokens × 17 probabilities (a row of 0 for a word alone in its sentence).

    Source: §6, Figure 6 (one word's distribution beside that of training).

    >>> sentence = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> {tag: float(share) for tag, share in zip(TAGS, neighbourhoods(sentence)[1]) if share}
    {'DET': 0.5, 'VERB': 0.5}
    """
    counts = _counts(_tags(sentence)[None], radius)[0]
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def signatures(sentence: Sentence, orders: Sequence[Order] | np.ndarray, trees: MiniTrees, *, k: int = 4) -> np.ndarray:
    """β_S of a sentence in each of *orders*: one float an order, NaN where the corpus has none of its words.

    Source: equation 4.

    >>> training = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> trees = count_mini_trees([training], radius=1)
    >>> signatures(training, [[0, 1, 2], [1, 0, 2]], trees, k=1).round(3).tolist()
    [1.0, 0.667]
    """
    if not 1 <= k <= len(TAGS):
        raise NbkitError(f"mini-trees: k lies between 1 and {len(TAGS)}, not {k}")
    tags, permuted = _tags(sentence), np.array([np.asarray(order) for order in orders], dtype=np.intp)
    rows = np.array([trees.words.get(token.casefold(), -1) for token in sentence.tokens], dtype=np.intp)
    known = rows >= 0
    if not len(permuted) or not known.any():
        return np.full(len(permuted), np.nan)
    expected = np.zeros((len(tags), len(TAGS)), dtype=bool)
    expected[known] = _top(trees.sums[rows[known]], k)
    found = _top(_counts(tags[permuted], trees.radius), k)
    overlaps = (expected[permuted] & found).sum(axis=(1, 2))
    return overlaps / (k * np.count_nonzero(known))


def signature_ratios(
    sentence: Sentence, orders: Sequence[Order] | np.ndarray, trees: MiniTrees, *, k: int = 4
) -> np.ndarray:
    """β_Ŝ / β_S of each of *orders*; NaN where β_S is 0 or not known. Source: §6, Figure 3.

    >>> training = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> signature_ratios(training, [[1, 0, 2]], count_mini_trees([training], radius=1), k=1).round(3).tolist()
    [0.667]
    """
    original = signatures(sentence, [np.arange(len(sentence))], trees, k=k)[0]
    permuted = signatures(sentence, orders, trees, k=k)
    return permuted / original if original > 0 else np.full(len(permuted), np.nan)


def _top(weights: np.ndarray, k: int) -> np.ndarray:
    """Which tags are the *k* heaviest on the last axis: those of weight 0 are not, equal ones go by alphabet."""
    present = weights > 0
    if int(present.sum(axis=-1).max(initial=0)) <= k:
        return present
    ranked = weights.astype(np.int64) * len(TAGS) + np.arange(len(TAGS))[::-1]
    return present & (ranked >= np.partition(ranked, -k, axis=-1)[..., -k, None])


def _counts(tags: np.ndarray, radius: int) -> np.ndarray:
    """How often each tag stands around each place: sentences × tokens × 17."""
    marks = np.eye(len(TAGS), dtype=np.int8)[tags]
    counts = np.zeros_like(marks)
    for step in range(1, min(radius, tags.shape[1] - 1) + 1):
        counts[:, step:] += marks[:, :-step]
        counts[:, :-step] += marks[:, step:]
    return counts


def _in_one_line(block: list[Sentence], words: dict[str, int], radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Words (by row) and tags of all sentences, with gaps as wide as the radius; *words* grows by the new ones."""
    rows, tags = [0] * radius, [_NO_TAG] * radius
    for sentence in block:
        rows += [words.setdefault(token.casefold(), len(words)) for token in sentence.tokens]
        tags += _tags(sentence).tolist()
        rows += [0] * radius
        tags += [_NO_TAG] * radius
    return np.array(rows, dtype=np.int64), np.array(tags, dtype=np.int64)


def _tags(sentence: Sentence) -> np.ndarray:
    if sentence.upos is None:
        raise NbkitError(f"mini-trees need parts of speech, which {sentence.joined!r} lacks: parse it first")
    try:
        return np.array([_NUMBER[tag] for tag in sentence.upos], dtype=np.intp)
    except KeyError as error:
        raise NbkitError(
            f"mini-trees: {error.args[0]!r} in {sentence.joined!r} is no universal tag; there are: {', '.join(TAGS)}"
        ) from None


def _steps(radius: int) -> Iterator[int]:
    yield from range(-radius, 0)
    yield from range(1, radius + 1)


def _unit(radius: int) -> int:
    return math.lcm(*range(1, 2 * radius + 1))
