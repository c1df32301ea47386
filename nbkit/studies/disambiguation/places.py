"""Where tokens stand in running text."""

from __future__ import annotations

from nbkit.errors import NbkitError
from nbkit.text import Text


def character_of(text: Text, token: int) -> int:
    """Where in its running text a token begins, counted in characters. Raises `NbkitError` where there is none.

    >>> from nbkit.text import Sentence
    >>> character_of(Text((Sentence(("I", "'m", "in"), "en", (False, True, False)),)), 2)
    4
    """
    at, start = token, 0
    for sentence in text.sentences:
        if 0 <= at < len(sentence):
            spaces = sentence.spaces or (bool(sentence.separator),) * len(sentence)
            return start + sum(len(sentence.tokens[i]) + spaces[i] for i in range(at))
        at -= len(sentence)
        start += len(sentence.text) + len(sentence.separator)
    raise NbkitError(f"there is no token {token} in {text.text!r}")


def sentence_of(text: Text, token: int) -> tuple[int, int]:
    """The number of the sentence that a token of a text is in, and its place there. Raises `NbkitError`.

    >>> from nbkit.text import Sentence
    >>> sentence_of(Text((Sentence(("Hi", "!"), "en"), Sentence(("Well", "."), "en"))), 2)
    (1, 0)
    """
    at = token
    for number, sentence in enumerate(text.sentences):
        if 0 <= at < len(sentence):
            return number, at
        at -= len(sentence)
    raise NbkitError(f"there is no token {token} in {text.text!r}")
