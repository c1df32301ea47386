"""Sentences with gold trees, and pairs of texts with gold word links: what the sandbox yields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

#: The head of the root.
ROOT = -1
#: Languages whose tokens are written without spaces.
UNSPACED = frozenset({"zh", "ja"})


@dataclass(frozen=True)
class Sentence:
    """One sentence: tokens and their annotation in Universal Dependencies.

    Parameters
    ----------
    tokens : tuple of str
        Surface tokens.
    lang : str
        Language code.
    spaces : tuple of bool
        Whether a space follows each token.
    upos, deprels, lemmas, feats : tuple of str
        Part of speech, relation to the head, lemma and morphological features of each token.
    heads : tuple of int
        Index of each token's head; `ROOT` (-1) for the root.
    """

    tokens: tuple[str, ...]
    lang: str
    spaces: tuple[bool, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    lemmas: tuple[str, ...]
    feats: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def text(self) -> str:
        """The sentence as running text."""
        return "".join(token + " " * space for token, space in zip(self.tokens, self.spaces, strict=True)).strip()

    @property
    def joined(self) -> str:
        """The tokens, with spaces between them in languages that write spaces."""
        return ("" if self.lang in UNSPACED else " ").join(self.tokens)


@dataclass(frozen=True)
class Text:
    """One or several sentences of a language."""

    sentences: tuple[Sentence, ...]

    @property
    def lang(self) -> str:
        """The language code."""
        return self.sentences[0].lang

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of all sentences."""
        return tuple(token for sentence in self.sentences for token in sentence.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def text(self) -> str:
        """The sentences as running text."""
        return ("" if self.lang in UNSPACED else " ").join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True)
class Pair:
    """The same meaning in two languages.

    Parameters
    ----------
    id : str
        Mixture, split and place.
    source, target : Text
        The two sides.
    alignment : tuple of (int, int)
        Gold word links as (source token, target token), counted from 0 over `Text.tokens`.
    note : str
        The construction.
    """

    id: str
    source: Text
    target: Text
    alignment: tuple[tuple[int, int], ...]
    note: str


_NOT_WORDS = re.compile(r"[\W_]+")


def sentence_key(sentence: str) -> str:
    """The letters and digits of a sentence, case-folded: equal for all spellings of the same sentence.

    >>> sentence_key("A piece of cake!") == sentence_key("a piece  of cake")
    True
    """
    return _NOT_WORDS.sub(" ", sentence.casefold()).strip()
