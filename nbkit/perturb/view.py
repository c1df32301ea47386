"""What a perturbation is given: a `View` of the sentence, and `Draws`, random permutations that are addressed."""

from __future__ import annotations

from functools import cached_property, lru_cache
from hashlib import blake2b
from operator import eq
from struct import unpack
from typing import Literal, TypeAlias

from nbkit.errors import NbkitError
from nbkit.seeding import address
from nbkit.text.noun_phrases import base_noun_phrases
from nbkit.text.sentences import Sentence

# ----------------------------------------------------------------------------
# Random permutations that are addressed: equal for one address on every machine and in every version.
#
# A NumPy generator costs some ten microseconds to seed, more than a whole perturbation takes. A hash in counter mode
# costs less than one and keeps no state but the counter.


@lru_cache(maxsize=4096)
def _prefix(seed: int, name: str, draw: int) -> bytes:
    return address(seed, name, draw).to_bytes(8, "little")


class Draws:
    """Random permutations, one after another, addressed by seed, perturbation, draw and sentence.

    Parameters
    ----------
    seed : int
        Seed of the run.
    name : str
        Name of the perturbation.
    draw : int
        Index of the draw.
    digest : bytes
        Digest of the sentence (`Sentence.digest`).

    Notes
    -----
    Equal for the same address on every machine and in every version. No hash is computed before the first permutation
    is requested.

    Examples
    --------
    >>> draws = Draws(0, "word_shuffle", 0, b"digest of a sentence")
    >>> draws.permutation(5), draws.permutation(5)
    ([3, 4, 1, 2, 0], [0, 4, 3, 1, 2])
    >>> Draws(0, "word_shuffle", 1, b"digest of a sentence").permutation(5)
    [1, 2, 0, 3, 4]
    """

    def __init__(self, seed: int, name: str, draw: int, digest: bytes):
        self._key = _prefix(seed, name, draw) + digest
        self._blocks = 0
        self._unused: tuple[int, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether anything has been drawn: if not, the outcome does not depend on chance."""
        return self._blocks > 0

    def permutation(self, n: int) -> list[int]:
        """A permutation of ``0 … n - 1``, all n! equally likely: the order of n random 32-bit numbers.

        (If two of them are equal, the smaller index comes first: a chance of n² / 2³³, far below what any number of
        draws could detect.)
        """
        numbers = self._unused
        while len(numbers) < n:
            numbers += unpack("<16I", blake2b(self._key + self._blocks.to_bytes(8, "little")).digest())
            self._blocks += 1
        self._unused = numbers[n:]
        return sorted(range(n), key=numbers.__getitem__)


class _NoDraws(Draws):
    """The `Draws` of a perturbation that is not registered as random: its result would be reused for every draw."""

    def permutation(self, n: int) -> list[int]:
        raise NbkitError("a perturbation that draws at random must be registered with random=True")


NO_DRAWS = _NoDraws(0, "", 0, b"")


# ----------------------------------------------------------------------------
# What perturbations look at: one sentence's movable part, analysed once for all of them.

#: What the noun perturbations move: base noun phrases as blocks (the paper's Figure 3), or single tokens.
Unit: TypeAlias = Literal["phrase", "token"]


#: A half-open range of tokens.
Span: TypeAlias = tuple[int, int]


#: The word classes of the paper's §4.2 by coarse tag.
CLASSES = {
    "VERB": "verb",
    "AUX": "verb",
    "NOUN": "noun",
    "PROPN": "noun",
    "PRON": "pronoun",
    "ADJ": "adjective",
    "ADV": "adverb",
    "ADP": "function word",
    "DET": "function word",
    "CCONJ": "function word",
    "SCONJ": "function word",
}


class View:
    """A sentence up to its final punctuation, with the parts that may move.

    Parameters
    ----------
    sentence : Sentence
        The whole sentence.
    unit : {"phrase", "token"}
        What the noun perturbations move: base noun phrases or single tokens.

    Attributes
    ----------
    tokens : tuple of str
        The tokens that may move.
    length : int
        Their number.
    final : tuple of int
        The positions of the final punctuation.

    Notes
    -----
    Final punctuation does not move. It is the run of tokens at the end that are tagged PUNCT or contain no letter or
    digit, closing quotes and brackets included, although the opening ones move. Symbols (SYM) are words.

    Examples
    --------
    >>> view = View(Sentence(("Go", "away", "!", "”"), "en", upos=("VERB", "ADV", "PUNCT", "PUNCT")))
    >>> view.tokens, view.verbs
    (('Go', 'away'), [0])
    """

    def __init__(self, sentence: Sentence, unit: Unit = "phrase"):
        self.sentence = sentence
        self.unit = unit
        self.length = _movable(sentence)
        self.tokens = sentence.tokens[: self.length]
        self.final = tuple(range(self.length, len(sentence.tokens)))

    @cached_property
    def classes(self) -> dict[str, list[int]]:
        """The indices of the words of each of the paper's `CLASSES`, from left to right."""
        assert self.sentence.upos is not None
        classes: dict[str, list[int]] = {name: [] for name in CLASSES.values()}
        for index, tag in enumerate(self.sentence.upos[: self.length]):
            if tag in CLASSES:
                classes[CLASSES[tag]].append(index)
        return classes

    @property
    def verbs(self) -> list[int]:
        """Indices of verbs and auxiliaries."""
        return self.classes["verb"]

    @cached_property
    def nominals(self) -> list[Span]:
        """Nouns, names and pronouns from left to right: as base noun phrases, or as tokens (see `unit`)."""
        if self.unit == "token":
            return spans(sorted(self.classes["noun"] + self.classes["pronoun"]))
        return [span for span in base_noun_phrases(self.sentence) if span[1] <= self.length]

    @cached_property
    def pieces(self) -> list[tuple[int, ...]]:
        """What moves with each token that may move: a whole nominal with its first token, nothing with its others."""
        places = tuple(range(self.length))
        pieces: list[tuple[int, ...]] = [(place,) for place in places]
        for start, end in self.nominals:
            pieces[start:end] = [places[start:end]] + [()] * (end - start - 1)
        return pieces

    @cached_property
    def free_verbs(self) -> list[int]:
        """Verbs outside of every nominal: those inside (*the boiling water*) move with it."""
        inside = {place for span in self.nominals for place in range(*span)}
        return [verb for verb in self.verbs if verb not in inside]

    def reads_same(self, order: list[int]) -> bool:
        """Whether the tokens in *order* read as before, also with *the* in place of *the*."""
        return all(map(eq, map(self.tokens.__getitem__, order), self.tokens))


def spans(indices: list[int]) -> list[Span]:
    """Single tokens as spans of length one."""
    return [(index, index + 1) for index in indices]


def _movable(sentence: Sentence) -> int:
    """The number of tokens before the final punctuation."""
    tokens, tags = sentence.tokens, sentence.upos
    end = len(tokens)
    while end and is_punctuation(tokens[end - 1], None if tags is None else tags[end - 1]):
        end -= 1
    return end


def is_punctuation(token: str, tag: str | None) -> bool:
    """Whether *token* is punctuation: tagged PUNCT, or without a letter or digit and not tagged SYM."""
    return tag == "PUNCT" or (tag != "SYM" and not any(map(str.isalnum, token)))
