"""What perturbations look at: one sentence's movable part, analysed once for all of them."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, TypeAlias

from nbkit.syntax.noun_phrases import base_noun_phrases
from nbkit.text import Sentence

#: What the noun perturbations move: base noun phrases as blocks (the paper's Figure 3), or single tokens.
Unit: TypeAlias = Literal["phrase", "token"]

#: A half-open range of tokens.
Span: TypeAlias = tuple[int, int]

#: A token's left dependents and its right ones.
Sides: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]

#: Coarse tags of the word classes of the paper's §4.2.
VERB = ("VERB", "AUX")
NOUN = ("NOUN", "PROPN")
PRONOUN = ("PRON",)
ADJECTIVE = ("ADJ",)
ADVERB = ("ADV",)
FUNCTIONAL = ("ADP", "DET", "CCONJ", "SCONJ")


class View:
    """A sentence up to its final punctuation, which keeps its place: what may move, and as what.

    Final punctuation is the run of tokens at the end that are tagged PUNCT or hold no letter or digit
    (closing quotes and brackets included; symbols, tagged SYM, are words).

    sentence: the whole sentence. unit: what the noun perturbations move.
    tokens: the tokens that may move, ``len(view)`` of them; all indices below are into them.

    >>> view = View(Sentence(("Go", "away", "!", "”"), "en", upos=("VERB", "ADV", "PUNCT", "PUNCT")))
    >>> view.tokens, view.verbs
    (('Go', 'away'), [0])
    """

    def __init__(self, sentence: Sentence, unit: Unit = "phrase"):
        self.sentence = sentence
        self.unit = unit
        self.tokens = sentence.tokens[: _movable(sentence)]

    def __len__(self) -> int:
        return len(self.tokens)

    def tagged(self, tags: tuple[str, ...]) -> list[int]:
        """Indices of the tokens with one of *tags*, from left to right."""
        places = self._places
        if len(tags) == 1:
            return places.get(tags[0], [])
        return sorted([index for tag in tags for index in places.get(tag, ())])

    @cached_property
    def verbs(self) -> list[int]:
        """Indices of verbs and auxiliaries."""
        return self.tagged(VERB)

    @cached_property
    def nominals(self) -> list[Span]:
        """Nouns, names and pronouns from left to right: as base noun phrases, or as tokens (see `unit`)."""
        if self.unit == "token":
            return spans(self.tagged(NOUN + PRONOUN))
        return [(start, end) for start, end in base_noun_phrases(self.sentence) if end <= len(self)]

    @cached_property
    def free_verbs(self) -> list[int]:
        """Verbs outside of every nominal: those inside (*the boiling water*) move with it."""
        inside = {index for start, end in self.nominals for index in range(start, end)}
        return [index for index in self.verbs if index not in inside]

    @cached_property
    def sides(self) -> list[Sides]:
        """The left and the right dependents of each token of the whole sentence, from left to right."""
        return [
            _divided(dependents, token) if dependents else _LEAF
            for token, dependents in enumerate(self.sentence.children)
        ]

    def reads_same(self, order: list[int]) -> bool:
        """Whether the tokens in *order* read as they do now: also *the* in the place of *the*."""
        return tuple(map(self.tokens.__getitem__, order)) == self.tokens

    def all_equal(self, indices: range | list[int]) -> bool:
        """Whether the tokens at *indices* are one and the same word, so that no exchange of them shows."""
        return len({self.tokens[index] for index in indices}) < 2

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        assert self.sentence.upos is not None
        places: dict[str, list[int]] = {}
        for index, tag in enumerate(self.sentence.upos[: len(self)]):
            places.setdefault(tag, []).append(index)
        return places


def spans(indices: list[int]) -> list[Span]:
    """Single tokens as spans of length one."""
    return [(index, index + 1) for index in indices]


_LEAF: Sides = ((), ())


def _divided(dependents: tuple[int, ...], token: int) -> Sides:
    left = sum([dependent < token for dependent in dependents])
    return dependents[:left], dependents[left:]


def _movable(sentence: Sentence) -> int:
    """The number of tokens before the final punctuation."""
    end = len(sentence)
    tags = sentence.upos
    while end and _is_punctuation(sentence.tokens[end - 1], None if tags is None else tags[end - 1]):
        end -= 1
    return end


def _is_punctuation(token: str, tag: str | None) -> bool:
    return tag == "PUNCT" or (tag != "SYM" and not any(map(str.isalnum, token)))
