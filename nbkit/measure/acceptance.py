"""Permutation acceptance: how often a classifier gives permuted pairs the label of the original; and POS mini-trees.

Acceptance is a pure function of a boolean matrix, examples × permutations (entry i, j: the j-th permutation of example
i gets the gold label of example i), and of whether each original gets it. Pairs with too few permutations are excluded
from both.

    M_cor(i) = the share of the permutations of example i that are accepted             (equation 1)
    𝒜        = the share of originals that are classified correctly, of those that are answered
    Ω_x      = the share of examples with M_cor > x                                     (equation 2)
    D^c      = the examples whose original is classified correctly
    D^f      = those whose original gets another label, but with an accepted permutation (flipped)
    𝒫^c, 𝒫^f = the mean of M_cor over D^c, over D^f                                     (equation 3)

A chat model may refuse to answer. A permutation that is refused is not accepted. An original that is refused is neither
right nor wrong (NaN): its example counts in Ω, but not in 𝒜, and is in neither D^c nor D^f.

The paper's research code (``print_stats``) computes 𝒫^c only over those of D^c with at least one accepted permutation;
the printed values come from it. `p_correct_as_coded` computes this variant, never lower than 𝒫^c and not part of
`Acceptance`.

Ω_max is Ω₀, at least one permutation accepted (equivalent to the paper's x = 1/|D_test| if |D_test| > n), and Ω_rand
is Ω with x = 1/3. The caption of the paper's Table 2 swaps 𝒫^c and 𝒫^f; nbkit follows the definitions of its §4.

Source: Sinha et al. 2021, "Unnatural Language Inference", §4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbkit.errors import NbkitError
from nbkit.measure.statistics import UNIT, Interval, mean_interval, ratio, share_interval, share_of_sums
from nbkit.text.conllu import UPOS
from nbkit.text.sentences import Order, Sentence

if TYPE_CHECKING:
    import pandas as pd

#: The threshold of Ω_rand: the chance of one of three labels.
RANDOM = 1 / 3
#: The sets of examples by their original and their permutations; those in neither are never accepted.
CORRECT, FLIPPED, NEITHER = "D^c", "D^f", "neither"


class Acceptance(NamedTuple):
    """The columns of Tables 2 to 4, in the paper's order, each with its interval.

    n of an interval counts all examples, or D^c for p_correct, or D^f for p_flipped (NaN if empty).
    """

    accuracy: Interval
    omega_max: Interval
    p_correct: Interval
    p_flipped: Interval
    omega_rand: Interval


def acceptance(accepted: np.ndarray, correct: np.ndarray, *, level: float = 0.95) -> Acceptance:
    """𝒜, Ω_max, 𝒫^c, 𝒫^f and Ω_rand, each a share with its interval; examples are the units.

    accepted: bool, examples × permutations. correct: one truth value per example, NaN where the original was refused.
    Raises `NbkitError` for other shapes or types, or without a single permutation.
    Source: §4, Tables 2 to 4.

    >>> accepted = np.array([[True, True, True], [False, True, False], [False, False, False], [True, True, False]])
    >>> result = acceptance(accepted, np.array([True, False, False, False]))
    >>> [round(interval.mean, 3) for interval in result]
    [0.25, 0.75, 1.0, 0.5, 0.5]
    >>> result.p_flipped.n
    2
    """
    rates, correct = acceptance_rates(accepted), _originals(accepted, correct)
    groups = example_groups(accepted, correct)
    of_correct, of_flipped = (np.where(groups == group, rates, np.nan) for group in (CORRECT, FLIPPED))
    columns = (correct, rates > 0, of_correct, of_flipped, rates > RANDOM)
    return Acceptance(*(share_interval(column, level=level) for column in columns))


def p_correct_as_coded(accepted: np.ndarray, correct: np.ndarray) -> Interval:
    """𝒫^c as the research code computes it: the mean of M_cor over the pairs of D^c with an accepted permutation.

    Arguments and errors as for `acceptance`; n is the number of these pairs. Source: ``print_stats`` of the research
    code, ``(pred_mode == "orig_correct") & exists``; equation 3 has no such condition.

    >>> accepted = np.array([[True, True], [False, False], [True, False]])
    >>> result = p_correct_as_coded(accepted, np.array([True, True, True]))
    >>> result.mean, result.n, acceptance(accepted, np.array([True, True, True])).p_correct.mean
    (0.75, 2, 0.5)
    """
    rates, correct = acceptance_rates(accepted), _originals(accepted, correct)
    return mean_interval(rates[(correct == 1) & (rates > 0)], within=UNIT)


def acceptance_rates(accepted: np.ndarray) -> np.ndarray:
    """M_cor of each example: the share of its permutations that are accepted (equation 1).

    >>> acceptance_rates(np.array([[True, False], [True, True]])).tolist()
    [0.5, 1.0]
    """
    accepted = np.asarray(accepted)
    if accepted.dtype != np.bool_ or accepted.ndim != 2 or not accepted.shape[1]:
        raise NbkitError(
            "acceptance: accepted must be a boolean matrix of examples × permutations (at least one), "
            f"not {accepted.dtype} of shape {accepted.shape}"
        )
    return accepted.mean(axis=1)


def omega(accepted: np.ndarray, threshold: float = 0.0) -> float:
    """Ω_x: the share of examples with strictly more than *threshold* of their permutations accepted.

    Ω_max with threshold 0 (at least one is), Ω_rand with `RANDOM`. NaN without examples. Source: equation 2.

    >>> accepted = np.array([[True, False, False], [True, True, False], [False, False, False]])
    >>> [round(omega(accepted, x), 3) for x in (0, RANDOM, 2 / 3)]
    [0.667, 0.333, 0.0]
    """
    rates = acceptance_rates(accepted)
    return float((rates > threshold).mean()) if len(rates) else float("nan")


def omega_curve(accepted: np.ndarray, thresholds: Sequence[float] | np.ndarray | None = None) -> pd.DataFrame:
    """Ω_x with its interval for every threshold: columns threshold, omega, low, high, n (examples).

    thresholds: by default all n at which Ω can change, 0, 1/n … (n − 1)/n: at the last one all permutations are
    accepted (plotted at x = 1.0 in Figure 7, where strictly more is impossible). Source: Appendix E, Figure 7.

    >>> curve = omega_curve(np.array([[True, False], [True, True], [False, False], [True, True]]))
    >>> curve[["threshold", "omega"]].values.tolist()
    [[0.0, 0.75], [0.5, 0.5]]
    """
    import pandas as pd

    rates = acceptance_rates(accepted)
    n = np.shape(accepted)[1]
    points = np.arange(n) / n if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    rows = [(point, *share_interval(rates > point)) for point in points]
    return pd.DataFrame(rows, columns=["threshold", "omega", "low", "high", "n"])


def example_groups(accepted: np.ndarray, correct: np.ndarray) -> np.ndarray:
    """The set of each example: `CORRECT` (D^c), `FLIPPED` (D^f) or `NEITHER`.

    >>> example_groups(np.array([[False], [True], [False], [True]]), np.array([1, 0, 0, np.nan])).tolist()
    ['D^c', 'D^f', 'neither', 'neither']
    """
    rates, correct = acceptance_rates(accepted), _originals(accepted, correct)
    return np.where(correct == 1, CORRECT, np.where((correct == 0) & (rates > 0), FLIPPED, NEITHER))


def entropy(probabilities: np.ndarray) -> np.ndarray:
    """−Σ p ln p of the label probabilities on the last axis, in nats: 0 is certain, ln 3 ≈ 1.0986 undecided.

    A row of NaN, of an answer that was refused, has the entropy NaN.
    Raises `NbkitError` where the last axis does not hold probabilities that sum to 1.

    >>> entropy(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).round(4).tolist()
    [0.0, 0.6931]
    """
    from scipy.special import entr

    values = np.asarray(probabilities, dtype=np.float64)
    # Half-precision models give probabilities with an error of some thousandths.
    if values.ndim == 0:
        raise NbkitError("entropy: probabilities that sum to 1 on the last axis expected")
    refused = np.isnan(values).all(axis=-1, keepdims=True)
    known = np.where(refused, 1 / values.shape[-1], values)
    if not (known >= 0).all() or not (np.abs(known.sum(axis=-1) - 1) < 0.01).all():
        raise NbkitError("entropy: probabilities that sum to 1 on the last axis expected")
    return entr(values).sum(axis=-1)


def accepted_entropy(entropies: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """The mean entropy of the accepted permutations of each example, NaN if none is accepted.

    entropies, accepted: examples × permutations. With `example_groups`: the boxes of Figure 1; with `by_group`: means.

    >>> accepted_entropy(np.array([[0.2, 0.4, 0.9], [0.1, 0.1, 0.1]]), np.array([[True, True, False], [False] * 3]))
    array([0.3, nan])
    """
    rates = acceptance_rates(accepted)
    entropies = _alike(entropies, accepted, "entropies")
    totals = np.where(accepted, entropies, 0.0).mean(axis=1)
    return ratio(totals, rates)


def by_group(
    values: np.ndarray, groups: np.ndarray, *, within: tuple[float, float] | None = None
) -> dict[str, Interval]:
    """The mean of a value per example over D^c and over D^f, with its interval; ignores NaN.

    within: the range of the values, as for `statistics.mean_interval`.

    >>> by_group(np.array([0.2, 0.4, np.nan]), np.array(["D^c", "D^c", "neither"]))["D^c"].n
    2
    """
    values = np.asarray(values)
    return {group: mean_interval(values[groups == group], within=within) for group in (CORRECT, FLIPPED)}


def acceptance_by(values: np.ndarray, accepted: np.ndarray, edges: Sequence[float] | np.ndarray) -> pd.DataFrame:
    """The share of permutations accepted, by one of their properties, with intervals; examples are the units.

    values: examples × permutations (or examples × 1: a property of the example, such as its length); ignores NaN.
    edges: of the bins, ascending; a bin includes its lower edge, the last one also its upper edge.

    Returns one row per bin: left, right, rate, low, high (NaN in an empty one), permutations and examples in it.
    Source: Figure 2 (BLEU-2), Figure 3 (mini-tree ratio), Figure 5 (length), Figure 9 (clumped).

    >>> bleu, accepted = np.array([[0.1, 0.3], [0.2, 0.4]]), np.array([[False, True], [True, True]])
    >>> acceptance_by(bleu, accepted, [0, 0.25, 0.5])[["left", "rate", "permutations"]].values.tolist()
    [[0.0, 0.5, 2.0], [0.25, 1.0, 2.0]]
    """
    import pandas as pd

    acceptance_rates(accepted)
    values, bounds = _alike(values, accepted, "values"), np.asarray(edges, dtype=np.float64)
    if len(bounds) < 2 or not (np.diff(bounds) > 0).all():
        raise NbkitError(f"acceptance: edges must be two or more ascending numbers, not {bounds.tolist()}")
    size = len(bounds) - 1
    bins = np.where(values == bounds[-1], size - 1, np.searchsorted(bounds, values, side="right") - 1)
    inside = (bins >= 0) & (bins < size)  # NaN is sorted after the last edge
    cells = (np.arange(len(values))[:, None] * size + bins)[inside]
    counts = np.bincount(cells, minlength=len(values) * size).reshape(-1, size)
    sums = np.bincount(cells, np.asarray(accepted)[inside], len(values) * size).reshape(-1, size)
    rows = []
    for left, right, count, total in zip(bounds, bounds[1:], counts.T, sums.T, strict=False):
        own = count > 0
        rate, low, high, examples = share_of_sums(total[own], count[own].astype(float))
        rows.append((left, right, rate, low, high, count.sum(), examples))
    return pd.DataFrame(rows, columns=["left", "right", "rate", "low", "high", "permutations", "examples"])


def floors(
    gold: Sequence[object] | np.ndarray, correct: np.ndarray, permutations: int, *, labels: int = 3
) -> pd.DataFrame:
    """Scores of predictors that ignore word order: one row per predictor, columns as in `Acceptance`.

    - constant: always the most frequent of the *gold* labels; it accepts all permutations of what it gets right.
    - bag of words: as accurate as the model, but insensitive to word order. Every permutation gets the original's
      label, so Ω_x is 𝒜 for every x and 𝒫^c is 1.
    - chance: one of the labels at random, anew for each of the *permutations* (expected values; hypothesis (a) of §4).

    𝒫^f is NaN for the first two, which flip nothing.

    >>> floors(["neutral", "neutral", "entailment"], np.array([True, True, False]), 100).round(3)
                  accuracy  omega_max  p_correct  p_flipped  omega_rand
    constant         0.667      0.667      1.000        NaN       0.667
    bag of words     0.667      0.667      1.000        NaN       0.667
    chance           0.333      1.000      0.333      0.333       0.481
    """
    import pandas as pd

    labels_of = np.asarray(gold)
    if len(labels_of) != len(correct) or permutations < 1:
        raise NbkitError(
            f"floors: {len(labels_of)} gold labels, {len(correct)} originals, {permutations} permutations given; "
            "one label per original and at least one permutation expected"
        )
    share = np.unique(labels_of, return_counts=True)[1].max() / len(labels_of) if len(labels_of) else np.nan
    answered = np.asarray(correct, dtype=np.float64)[~np.isnan(correct)]
    accuracy = float(answered.mean()) if len(answered) else np.nan
    some, many = omega_of_chance(np.array([0.0, RANDOM]), permutations, labels=labels)
    rows = {
        "constant": (share, share, 1.0, np.nan, share),
        "bag of words": (accuracy, accuracy, 1.0, np.nan, accuracy),
        "chance": (1 / labels, some, 1 / labels, 1 / labels / some, many),
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(Acceptance._fields))


def omega_of_chance(thresholds: np.ndarray, permutations: int, *, labels: int = 3) -> np.ndarray:
    """The expected Ω_x of a predictor that draws a label for each permutation: P(K > x · n), K ~ B(n, 1/labels).

    >>> omega_of_chance(np.array([0.0, 0.4, 1.0]), 100).round(3).tolist()
    [1.0, 0.066, 0.0]
    """
    from scipy.stats import binom

    shares = np.arange(permutations + 1) / permutations
    # The most permutations that are not strictly more than the threshold.
    most = np.searchsorted(shares, thresholds, side="right") - 1
    return binom.sf(most, permutations, 1 / labels)


def _originals(accepted: np.ndarray, correct: np.ndarray) -> np.ndarray:
    correct = np.asarray(correct)
    truths = correct.dtype.kind in "bf" and np.isin(correct[~np.isnan(correct)], (0, 1)).all()
    if not truths or correct.shape != np.shape(accepted)[:1]:
        raise NbkitError(
            f"acceptance: correct must be one truth value for each of {np.shape(accepted)[0]} originals, NaN where it "
            f"was refused, not {correct.dtype} of shape {correct.shape}"
        )
    return correct


def _alike(values: np.ndarray, accepted: np.ndarray, what: str) -> np.ndarray:
    """*values* as an array of the shape of *accepted*, to which a single column is broadcast."""
    array, shape = np.asarray(values, dtype=np.float64), np.shape(accepted)
    if array.shape not in (shape, (shape[0], 1)):
        raise NbkitError(f"acceptance: {what} must have the matrix's shape {shape}, not {array.shape}")
    return np.broadcast_to(array, shape)


# ----------------------------------------------------------------------------
# POS mini-trees: the parts of speech around a word, in a training corpus and in a (permuted) sentence.
#
#     ψ_{w,S}      the distribution of the 17 universal tags over the tokens at most r positions from the word w of
#                  sentence S, excluding w (fewer at the sentence's ends)
#     ψ_{w,D}      its mean over all occurrences of w in the training corpus D
#     β_{w,S}      |top_k ψ_{w,D} ∩ top_k ψ_{w,S}| / k: the overlap of the k most probable tags         (equation 4)
#     β_S          the mean of β_{w,S} over the words of S: its *signature*
#     β_Ŝ / β_S    above 1, a permutation Ŝ places words among parts of speech more like those of training than S does
#
# Unspecified in the paper: a word is its case-folded form (as in `nbkit.perturb.derangements`), and punctuation counts
# as words. Tags that do not occur are in no top k (with r = 2 and k = 4 a neighbourhood holds at most four,
# so its top 4 are those that occur), and ties are in alphabetical order. Words that the corpus lacks are excluded from
# the mean, of the permuted sentence and the original alike.
#
# Source: Sinha et al. 2021, "Unnatural Language Inference", §6, Figures 3 and 6, Appendix B.

#: The columns of every distribution: the universal tags in alphabetical order.
TAGS = tuple(sorted(UPOS))
_NUMBER = {tag: number for number, tag in enumerate(TAGS)}
#: Separates sentences, so that no neighbourhood extends into the next one.
_NO_TAG = len(TAGS)
#: Sentences counted per block.
_BLOCK = 4096


class MiniTrees:
    """The neighbourhoods of every word of a corpus, as exact sums: partial counts add up in any order.

    radius: number of positions to the left and to the right in a word's neighbourhood.
    unit: the weight of one neighbourhood, lcm(1 … 2 · radius), so that every share of it is a whole number.
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
            raise NbkitError(f"mini-trees: radius must be between 1 and 10, not {radius}")
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
        """The counts of both corpora combined. Raises `NbkitError` if their radii differ.

        >>> a, b = (Sentence((word, "cat"), "en", upos=("DET", "NOUN")) for word in ("the", "a"))
        >>> together, one_by_one = count_mini_trees([a, b]), count_mini_trees([b]).merged(count_mini_trees([a]))
        >>> together.to_frame().equals(one_by_one.to_frame())
        True
        """
        if self.radius != other.radius:
            raise NbkitError(f"mini-trees of radius {self.radius} and of radius {other.radius} cannot be merged")
        import pandas as pd

        both = pd.concat([self.to_frame(), other.to_frame()]).groupby("word").sum()
        return MiniTrees(self.radius, both.index.tolist(), both["occurrences"].to_numpy(), both[list(TAGS)].to_numpy())

    def to_frame(self) -> pd.DataFrame:
        """A table for `Store.table` or Parquet: word, radius, occurrences and one column of sums per tag; sorted."""
        import pandas as pd

        words = pd.Series(list(self.words), dtype="str")
        counted = {"word": words, "radius": np.int64(self.radius), "occurrences": self.occurrences}
        frame = pd.DataFrame({**counted, **dict(zip(TAGS, self.sums.T, strict=True))})
        return frame.sort_values("word", ignore_index=True)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> MiniTrees:
        """The counts in a table of `to_frame`. Raises `NbkitError` for any other table.

        >>> trees = count_mini_trees([Sentence(("the", "cat"), "en", upos=("DET", "NOUN"))])
        >>> MiniTrees.from_frame(trees.to_frame()).distribution("cat").tolist() == trees.distribution("cat").tolist()
        True
        """
        missing = [name for name in ("word", "radius", "occurrences", *TAGS) if name not in frame.columns]
        if missing or frame["radius"].nunique() != 1:
            problem = f"lacks {', '.join(missing)}" if missing else "has no radius or several radii"
            raise NbkitError(f"mini-trees: the table {problem}; count them again with count_mini_trees")
        sums = frame[list(TAGS)].to_numpy()
        return cls(int(frame["radius"].iloc[0]), frame["word"].tolist(), frame["occurrences"].to_numpy(), sums)


def count_mini_trees(sentences: Iterable[Sentence], radius: int = 2) -> MiniTrees:
    """Count the neighbourhoods of all words of a corpus, which is read once and not stored.

    Raises `NbkitError` for a sentence without parts of speech or with a non-universal tag.
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
        neighbours = [tags[at + step] for step in range(-radius, radius + 1) if step]
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

    Source: §6, Figure 6 (one word's distribution compared with that of training).

    >>> sentence = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> {tag: float(share) for tag, share in zip(TAGS, neighbourhoods(sentence)[1]) if share}
    {'DET': 0.5, 'VERB': 0.5}
    """
    counts = _counts(_tags(sentence)[None], radius)[0]
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def signatures(sentence: Sentence, orders: Sequence[Order] | np.ndarray, trees: MiniTrees, *, k: int = 4) -> np.ndarray:
    """β_S of a sentence in each of *orders*: one float per order, NaN if the corpus has none of its words.

    Source: equation 4.

    >>> training = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> trees = count_mini_trees([training], radius=1)
    >>> signatures(training, [[0, 1, 2], [1, 0, 2]], trees, k=1).round(3).tolist()
    [1.0, 0.667]
    """
    if not 1 <= k <= len(TAGS):
        raise NbkitError(f"mini-trees: k must be between 1 and {len(TAGS)}, not {k}")
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
    """β_Ŝ / β_S of each of *orders*; NaN if β_S is 0 or unknown. Source: §6, Figure 3.

    >>> training = Sentence(("the", "river", "runs"), "en", upos=("DET", "NOUN", "VERB"))
    >>> signature_ratios(training, [[1, 0, 2]], count_mini_trees([training], radius=1), k=1).round(3).tolist()
    [0.667]
    """
    original = signatures(sentence, [np.arange(len(sentence))], trees, k=k)[0]
    permuted = signatures(sentence, orders, trees, k=k)
    return permuted / original if original > 0 else np.full(len(permuted), np.nan)


def _top(weights: np.ndarray, k: int) -> np.ndarray:
    """The mask of the *k* heaviest tags on the last axis, without tags of weight 0; ties in alphabetical order."""
    present = weights > 0
    if int(present.sum(axis=-1).max(initial=0)) <= k:
        return present
    ranked = weights.astype(np.int64) * len(TAGS) + np.arange(len(TAGS))[::-1]
    return present & (ranked >= np.partition(ranked, -k, axis=-1)[..., -k, None])


def _counts(tags: np.ndarray, radius: int) -> np.ndarray:
    """How often each tag occurs around each position: sentences × tokens × 17."""
    marks = np.eye(len(TAGS), dtype=np.int8)[tags]
    counts = np.zeros_like(marks)
    for step in range(1, min(radius, tags.shape[1] - 1) + 1):
        counts[:, step:] += marks[:, :-step]
        counts[:, :-step] += marks[:, step:]
    return counts


def _in_one_line(block: list[Sentence], words: dict[str, int], radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Words (by row) and tags of all sentences, with gaps as wide as the radius; adds new words to *words*."""
    rows, tags = [0] * radius, [_NO_TAG] * radius
    for sentence in block:
        rows += [words.setdefault(token.casefold(), len(words)) for token in sentence.tokens]
        tags += _tags(sentence).tolist()
        rows += [0] * radius
        tags += [_NO_TAG] * radius
    return np.array(rows, dtype=np.int64), np.array(tags, dtype=np.int64)


def _tags(sentence: Sentence) -> np.ndarray:
    if sentence.upos is None:
        raise NbkitError(f"mini-trees: {sentence.joined!r} has no parts of speech; parse it first")
    try:
        return np.array([_NUMBER[tag] for tag in sentence.upos], dtype=np.intp)
    except KeyError as error:
        raise NbkitError(
            f"mini-trees: {error.args[0]!r} in {sentence.joined!r} is not a universal tag; use {', '.join(TAGS)}"
        ) from None


def _unit(radius: int) -> int:
    return math.lcm(*range(1, 2 * radius + 1))
