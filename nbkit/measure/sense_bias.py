"""`SenseCounts`: what was counted of homographs in a parallel corpus, as integers that can be added.

Source: disambiguation paper, §2.1 (attractors) and §3.1 (modifier adjectives).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.text.sentences import Text

if TYPE_CHECKING:
    import pandas as pd

#: A homograph and the name of one of its sense clusters.
SenseKey: TypeAlias = tuple[str, str]
#: Columns of `SenseCounts.table`.
COLUMNS = ["kind", "of", "sense", "word", "n"]
#: Kind, homograph or noun, sense or reason, word.
_Row: TypeAlias = tuple[str, str, str, str]
#: The row of `SenseCounts.read`, and the fields that hold the counts of the other kinds of rows.
_READ = ("pairs read", "", "", "")
_FLAT = {"sense": "pairs", "undecided": "undecided", "reach": "reached"}
_NESTED = {"attractor": "attractors", "sense adjective": "sense_adjectives", "noun adjective": "noun_adjectives"}


@dataclass(frozen=True)
class SenseCounts:
    """Counts over a corpus; add those of its parts. Not to be changed once they are looked at.

    read: pairs that were looked at. pairs: extracted pairs a sense, n(sc): a pair counts once for each homograph in it
    that is translated in exactly one sense. attractors: for each sense, in how many of its pairs each lemma stands.
    undecided: occurrences whose sense cannot be told, by homograph and reason. sense_adjectives: adjectives by sense
    that they modify the homograph in; noun_adjectives: adjectives by other noun; occurrences in lower case, of positive
    degree, lemmas. reached: occurrences by where translations are looked for (`senses.Reach`) and what comes of
    it (`senses.Sense.outcome`).

    >>> a = SenseCounts(2, Counter({("bat", "animal"): 1}), {("bat", "animal"): Counter(cave=1)})
    >>> (a + a).pairs["bat", "animal"], (a + a).attractors["bat", "animal"]["cave"], (a + a - a) == a
    (2, 2, True)
    """

    read: int = 0
    pairs: Counter[SenseKey] = field(default_factory=Counter)
    attractors: Mapping[SenseKey, Counter[str]] = field(default_factory=dict)
    undecided: Counter[SenseKey] = field(default_factory=Counter)
    sense_adjectives: Mapping[SenseKey, Counter[str]] = field(default_factory=dict)
    noun_adjectives: Mapping[str, Counter[str]] = field(default_factory=dict)
    reached: Counter[SenseKey] = field(default_factory=Counter)

    def __add__(self, other: SenseCounts) -> SenseCounts:
        return sum_counts([self, other])

    def __sub__(self, other: SenseCounts) -> SenseCounts:
        """What is left without a part of the corpus, such as the other folds. Raises `NbkitError` for no part of it."""
        whole, part = self._rows(), other._rows()
        for row, n in part.items():
            if n > whole[row] and row != _READ:
                times = (
                    f"{n} times in a part, {whole[row]} in the whole"
                    if whole[row]
                    else "in a part, but not in the whole"
                )
                raise NbkitError(f"counts of senses: {' '.join(filter(None, row[1:]))!r} is counted {times}")
        if other.read > self.read:
            raise NbkitError(f"counts over {other.read} pairs are no part of those over {self.read}")
        whole.subtract(part)
        return _of_rows(whole)

    def _rows(self) -> Counter[_Row]:
        """Every count by its kind, homograph or noun, sense or reason, and word."""
        rows = Counter({_READ: self.read})
        for kind, name in _FLAT.items():
            rows.update({(kind, of, sense, ""): n for (of, sense), n in getattr(self, name).items()})
        for kind, name in _NESTED.items():
            for key, counts in getattr(self, name).items():
                of, sense = (key, "") if isinstance(key, str) else key
                rows.update({(kind, of, sense, word): n for word, n in counts.items()})
        return rows

    @cached_property
    def total(self) -> int:
        """N, all extracted pairs of all homographs."""
        return sum(self.pairs.values())

    @cached_property
    def of_homograph(self) -> Counter[str]:
        """The extracted pairs of each homograph."""
        totals: Counter[str] = Counter()
        for (homograph, _), n in self.pairs.items():
            totals[homograph] += n
        return totals

    @cached_property
    def of_word(self) -> Counter[str]:
        """n(a): in how many of all extracted pairs each attractor stands."""
        return _summed(self.attractors.values())

    @cached_property
    def of_word_and_homograph(self) -> dict[str, Counter[str]]:
        """In how many extracted pairs of each homograph each attractor stands."""
        parts: dict[str, list[Counter[str]]] = {}
        for (homograph, _), counts in self.attractors.items():
            parts.setdefault(homograph, []).append(counts)
        return {homograph: _summed(counters) for homograph, counters in parts.items()}

    @cached_property
    def senses_seen(self) -> Counter[str]:
        """In how many senses each homograph was extracted."""
        return Counter(homograph for (homograph, _), n in self.pairs.items() if n)

    @cached_property
    def attractors_of_sense(self) -> dict[SenseKey, int]:
        """Σ_a n(a, sc): all attractor counts of each sense."""
        return {key: counts.total() for key, counts in self.attractors.items()}

    def frequency(self, word: str, homograph: str, sense: str) -> int:
        """In how many pairs of the sense the word stands, n(a, sc): FREQ (1)."""
        counts = self.attractors.get((homograph, sense))
        return counts.get(word, 0) if counts else 0

    def top_attractors(
        self, homograph: str, sense: str, n: int, *, leave_out: Collection[str] = ()
    ) -> list[tuple[str, int]]:
        """The most frequent attractors of a sense with their counts, equally frequent ones by alphabet.

        leave_out: stop words (`nbkit.text.phrases`). Source: disambiguation paper, Table 1.
        """
        counts = self.attractors.get((homograph, sense), Counter())
        ranked = sorted((-count, word) for word, count in counts.items() if word not in leave_out)
        return [(word, -count) for count, word in ranked[:n]]

    def table(self) -> pd.DataFrame:
        """All counts as one tidy table, sorted: kind, of (homograph or noun), sense (or reason), word, n."""
        import pandas as pd

        rows = self._rows()
        return pd.DataFrame(sorted((*row, n) for row, n in rows.items() if n or row == _READ), columns=COLUMNS)

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> SenseCounts:
        """The counts that `table` was made of. Raises `NbkitError` for another table."""
        if list(table.columns) != COLUMNS:
            raise NbkitError(f"counts of senses: columns {', '.join(COLUMNS)} expected, not {', '.join(table.columns)}")
        rows: Counter[_Row] = Counter()
        for *row, n in zip(*(table[column].tolist() for column in COLUMNS), strict=True):
            rows[tuple(row)] += n
        return _of_rows(rows)


def _of_rows(rows: Counter[_Row]) -> SenseCounts:
    """The counts that `SenseCounts._rows` made rows of."""
    fields: dict[str, Any] = {**{name: Counter() for name in _FLAT.values()}, **{name: {} for name in _NESTED.values()}}
    for row, n in rows.items():
        kind, of, sense, word = row
        if kind in _FLAT and n:
            fields[_FLAT[kind]][of, sense] = n
        elif kind in _NESTED and n:
            fields[_NESTED[kind]].setdefault(of if kind == "noun adjective" else (of, sense), Counter())[word] = n
        elif row != _READ and n:
            raise NbkitError(f"counts of senses: unknown kind '{kind}'")
    return SenseCounts(rows[_READ], **fields)


def sum_counts(parts: Iterable[SenseCounts]) -> SenseCounts:
    """The counts over all *parts* of a corpus; of none, no counts."""
    rows: Counter[_Row] = Counter()
    for part in parts:
        rows.update(part._rows())
    return _of_rows(rows)


def _summed(counters: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in counters:
        total.update(counts)
    return total


#: DB(w, sc): counts, word, homograph, sense → bias; 0 for a word that is no attractor of the sense.
Measure: TypeAlias = Callable[[SenseCounts, str, str, str], float]


def freq(counts: SenseCounts, word: str, homograph: str, sense: str) -> float:
    """FREQ(a, sc): the number of extracted pairs in which the attractor stands beside the homograph in this sense. (1)

    >>> from collections import Counter
    >>> counts = SenseCounts(5, Counter({("bat", "animal"): 3}), {("bat", "animal"): Counter(cave=2)})
    >>> freq(counts, "cave", "bat", "animal"), freq(counts, "ball", "bat", "animal")
    (2.0, 0.0)
    """
    return float(counts.frequency(word, homograph, sense))


def ppmi(counts: SenseCounts, word: str, homograph: str, sense: str) -> float:
    """PPMI(a, sc) = max(0, log2 p(a, sc) / (p(a) p(sc))), in bits, over the extracted pairs of all homographs. (2)

    p(a, sc) = n(a, sc) / N, p(a) = n(a) / N, p(sc) = n(sc) / N. A pair with two homographs is two of the N: one in the
    senses of either.

    >>> from collections import Counter
    >>> counts = SenseCounts(4, Counter({("bat", "animal"): 1, ("bat", "club"): 1, ("bank", "money"): 2}),
    ...     {("bat", "animal"): Counter(old=1), ("bat", "club"): Counter(), ("bank", "money"): Counter(old=1)})
    >>> ppmi(counts, "old", "bat", "animal"), ppmi_of_homograph(counts, "old", "bat", "animal")
    (1.0, 1.0)
    """
    both = counts.frequency(word, homograph, sense)
    return _ppmi(both, counts.of_word[word], counts.pairs[homograph, sense], counts.total) if both else 0.0


def ppmi_of_homograph(counts: SenseCounts, word: str, homograph: str, sense: str) -> float:
    """As `ppmi`, with all probabilities over the extracted pairs of this homograph alone."""
    both = counts.frequency(word, homograph, sense)
    if not both:
        return 0.0
    of_word = counts.of_word_and_homograph[homograph][word]
    return _ppmi(both, of_word, counts.pairs[homograph, sense], counts.of_homograph[homograph])


#: What the research code adds to the count of every attractor of a homograph beside every sense of it.
SMOOTHING = 100


def ppmi_published(counts: SenseCounts, word: str, homograph: str, sense: str) -> float:
    """PPMI as the research code computes it: smoothed counts, within one homograph, over attractors instead of pairs.

    n'(a, sc) = n(a, sc) + 100 for every attractor a of the homograph and every sense sc of it that was extracted;
    PPMI(a, sc) = max(0, log2 n'(a, sc) N' / (n'(a) n'(sc))), where n'(a), n'(sc) and N' are sums of n' over senses,
    over attractors and over both. 0 for a word that was never seen beside the sense. The code counts every occurrence
    of a lower-cased word form; here n is `ppmi`'s, in pairs and lemmas.
    Source: the paper's repository, ``extract_attractor_terms.py``, ``_score_attractors``.

    >>> from collections import Counter
    >>> counts = SenseCounts(3, Counter({("bat", "animal"): 2, ("bat", "club"): 1}),
    ...     {("bat", "animal"): Counter(cave=100), ("bat", "club"): Counter(ball=100)})
    >>> round(ppmi_published(counts, "cave", "bat", "animal"), 3), ppmi(counts, "cave", "bat", "animal") > 5
    (0.415, False)
    """
    both = counts.frequency(word, homograph, sense)
    if not both:
        return 0.0
    of_words = counts.of_word_and_homograph[homograph]
    senses, words = counts.senses_seen[homograph], len(of_words)
    of_word = of_words[word] + SMOOTHING * senses
    of_sense = counts.attractors_of_sense[homograph, sense] + SMOOTHING * words
    total = of_words.total() + SMOOTHING * senses * words
    return _ppmi(both + SMOOTHING, of_word, of_sense, total)


def _ppmi(both: int, of_word: int, of_sense: int, total: int) -> float:
    return max(0.0, log2(both * total / (of_word * of_sense)))


#: Measures by name; "ppmi_homograph" is a variant of the sample space, "ppmi_published" the research code's.
MEASURES: dict[str, Measure] = {
    "freq": freq,
    "ppmi": ppmi,
    "ppmi_homograph": ppmi_of_homograph,
    "ppmi_published": ppmi_published,
}


def mean_bias(biases: Sequence[float]) -> float:
    """DB(S, sc) = 1/|S| Σ DB(w, sc) over the tokens w of S. (3)"""
    return sum(biases) / len(biases)


def total_bias(biases: Sequence[float]) -> float:
    """Σ DB(w, sc) over the tokens w of S: a variant that does not divide by the length, which equation 3 does."""
    return sum(biases)


#: How the biases of a sentence's tokens become the sentence's; "sum" is nbkit's own variant.
AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {"mean": mean_bias, "sum": total_bias}


class SentenceBias(NamedTuple):
    """Bias of a sentence towards the right sense (DB✓), and towards the wrong one that it is most biased to (DB✗).

    wrong_sense: the latter's name; of equal biases the first in the order of the lexicon.
    """

    right: float
    wrong: float
    wrong_sense: str

    @property
    def difference(self) -> float:
        """DB_DIFF = DB✗ − DB✓."""
        return self.wrong - self.right


def words_of(text: Text) -> list[str]:
    """What stands for each token of *text* in the counts: its lemma in lower case. Raises `NbkitError` without lemmas.

    >>> from nbkit.text.sentences import Sentence
    >>> words_of(Text((Sentence(("Bats", "flew"), "en", lemmas=("Bat", "fly")),)))
    ['bat', 'fly']
    """
    words: list[str] = []
    for sentence in text.sentences:
        if sentence.lemmas is None:
            raise NbkitError(f"{sentence.joined!r} has no lemmas: attractors are counted as lemmas; parse it")
        words += [lemma.lower() for lemma in sentence.lemmas]
    return words


def bias_towards(
    words: Sequence[str],
    counts: SenseCounts,
    homograph: str,
    sense: str,
    *,
    measure: str = "freq",
    aggregate: str = "mean",
) -> float:
    """DB(S, sc), the bias of a sentence towards one sense. (3)

    words: of all tokens of S (`words_of`); a word that is no attractor of the sense, such as the homograph itself and
    punctuation, counts 0. measure: one of `MEASURES`. aggregate: one of `AGGREGATES`.
    Raises `UnknownNameError` for these, `NbkitError` for a sentence without words.
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure of disambiguation bias", measure, MEASURES)
    if aggregate not in AGGREGATES:
        raise UnknownNameError("aggregate of disambiguation bias", aggregate, AGGREGATES)
    if not words:
        raise NbkitError(f"the bias of a sentence without words towards '{sense}' of '{homograph}' is not defined")
    of_word = MEASURES[measure]
    return AGGREGATES[aggregate]([of_word(counts, word, homograph, sense) for word in words])


def sentence_bias(
    words: Sequence[str],
    counts: SenseCounts,
    homograph: str,
    right: str,
    senses: Iterable[str],
    *,
    measure: str = "freq",
    aggregate: str = "mean",
) -> SentenceBias:
    """DB✓, DB✗ and their difference for a sentence (§2.2).

    right: the sense of the reference. senses: all senses of the homograph, in the order of the lexicon.
    Arguments and errors as of `bias_towards`; `NbkitError` where there is no wrong sense.

    >>> from collections import Counter
    >>> counts = SenseCounts(9, Counter({("bat", "animal"): 5, ("bat", "club"): 4}),
    ...     {("bat", "animal"): Counter(cave=2, see=1), ("bat", "club"): Counter(see=4)})
    >>> bias = sentence_bias(["he", "see", "a", "bat"], counts, "bat", "animal", ["animal", "club"])
    >>> bias.right, bias.wrong, bias.wrong_sense, bias.difference
    (0.25, 1.0, 'club', 0.75)
    """
    wrong = [sense for sense in senses if sense != right]
    if not wrong:
        raise NbkitError(f"'{homograph}' has no sense beside '{right}'")

    def towards(sense: str) -> float:
        return bias_towards(words, counts, homograph, sense, measure=measure, aggregate=aggregate)

    biases = [towards(sense) for sense in wrong]
    strongest = max(biases)
    return SentenceBias(towards(right), strongest, wrong[biases.index(strongest)])
