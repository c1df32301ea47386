"""Edits of a `Sentence`: one word put in, or one word put in the place of another.

Every other token stays as it is, and so do the heads that pointed to it: `Edited.origin` says where it was.
Perturbations of word order insert nothing and are elsewhere (`nbkit.perturb`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from nbkit.errors import MissingExtraError, NbkitError
from nbkit.store import Store
from nbkit.text.sentences import ROOT, Sentence, Text


@dataclass(frozen=True)
class Edited:
    """A sentence after an edit.

    sentence: the new sentence. origin: for each of its tokens the index of the same token in the seed, None for the
    word that is new.
    """

    sentence: Sentence
    origin: tuple[int | None, ...]

    @property
    def new(self) -> int:
        """Index of the new word."""
        return self.origin.index(None)


def insert_word(sentence: Sentence, at: int, word: str, *, head: int) -> Edited:
    """*word* put in before token *at*, as an adjective that depends on token *head* (an index before the edit).

    A space follows it. Raises `NbkitError` for places outside the sentence, and for a word with white space in it.

    >>> seed = Sentence(("She", "loves", "spring", "."), "en", (True, True, False, False), heads=(1, -1, 1, 1))
    >>> edited = insert_word(seed, 2, "hot", head=2)
    >>> edited.sentence.text, edited.sentence.heads, edited.origin
    ('She loves hot spring.', (1, -1, 3, 1, 1), (0, 1, None, 2, 3))
    """
    _check(sentence, at, word)
    _check(sentence, head, word)
    n = len(sentence)
    origin = (*range(at), None, *range(at, n))
    moved = [token + (token >= at) for token in range(n)]
    columns: dict[str, Any] = {"tokens": _put(sentence.tokens, at, word)}
    new = {"spaces": True, "upos": "ADJ", "deprels": "amod", "lemmas": word.lower(), "feats": "Degree=Pos"}
    for name, value in new.items():
        old = getattr(sentence, name)
        columns[name] = None if old is None else _put(old, at, value)
    if sentence.heads is not None:
        heads = tuple(ROOT if each == ROOT else moved[each] for each in sentence.heads)
        columns["heads"] = _put(heads, at, moved[head])
    return Edited(Sentence(lang=sentence.lang, **columns), origin)


def replace_word(sentence: Sentence, at: int, word: str) -> Edited:
    """*word* in the place of token *at*, with its head, its dependents and, at the beginning, its capital letter.

    Raises `NbkitError` for a place outside the sentence, and for a word with white space in it.

    >>> seed = Sentence(("New", "spring", "!"), "en", (True, False, False))
    >>> replace_word(seed, 0, "hot").sentence.text
    'Hot spring!'
    """
    _check(sentence, at, word)
    written = word[:1].upper() + word[1:] if at == 0 and sentence.tokens[0][:1].isupper() else word
    columns: dict[str, Any] = {"tokens": _in_place(sentence.tokens, at, written)}
    for name, value in (("upos", "ADJ"), ("lemmas", word.lower()), ("feats", "Degree=Pos")):
        old = getattr(sentence, name)
        columns[name] = None if old is None else _in_place(old, at, value)
    origin = tuple(None if token == at else token for token in range(len(sentence)))
    return Edited(replace(sentence, **columns), origin)


def edited_text(text: Text, sentence: int, edited: Edited) -> tuple[Text, tuple[int | None, ...]]:
    """*text* with its sentence number *sentence* edited, and the origin of each token over the whole text.

    >>> text = Text((Sentence(("Hi", "!"), "en"), Sentence(("Spring", "!"), "en")))
    >>> edited_text(text, 1, replace_word(text.sentences[1], 0, "winter"))[1]
    (0, 1, None, 3)
    """
    sentences = list(text.sentences)
    start = sum(len(each) for each in sentences[:sentence])
    end = start + len(sentences[sentence])
    sentences[sentence] = edited.sentence
    own = tuple(None if token is None else token + start for token in edited.origin)
    return Text(tuple(sentences)), (*range(start), *own, *range(end, len(text)))


def _check(sentence: Sentence, at: int, word: str) -> None:
    if not 0 <= at < len(sentence):
        raise NbkitError(f"{sentence.joined!r} has {len(sentence)} tokens: there is no token {at} to edit at")
    if not word or word.split() != [word]:
        raise NbkitError(f"one word is put in at a time, found {word!r}")


def _put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at:])


def _in_place(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])


#: The address of a LanguageTool server of one's own, such as http://localhost:8081; no Java is needed here then.
SERVER = "NBKIT_LANGUAGETOOL"


_CODES = {"en": "en-US", "de": "de-DE"}


_INSTALL = 'pip install "nbkit[languagetool]"'


def grammar_problem() -> str | None:
    """Why grammar cannot be checked here, or None."""
    if not find_spec("language_tool_python"):
        return f"grammar: LanguageTool is not installed; {_INSTALL}, and have Java, or a server named by {SERVER}"
    if not os.environ.get(SERVER) and not shutil.which("java"):
        return f"grammar: LanguageTool needs Java, which is not on the PATH, or a server named by {SERVER}"
    return None


def grammar_identity() -> dict[str, Any]:
    """What the numbers of errors depend on, as far as it can be told here."""
    installed = version("language-tool-python") if find_spec("language_tool_python") else None
    return {"languagetool": installed, "server": os.environ.get(SERVER)}


def grammar_errors(texts: Sequence[str], lang: str, *, store: Store) -> list[int]:
    """How many errors LanguageTool finds in each text, remembered. Raises `MissingExtraError` where it cannot run."""

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, int]]:
        problem = grammar_problem()
        if problem:
            raise MissingExtraError(problem)
        import language_tool_python

        tool = language_tool_python.LanguageTool(_CODES.get(lang, lang), remote_server=os.environ.get(SERVER) or None)
        try:
            for (text,) in missing:
                yield {"errors": len(tool.check(text))}
        finally:
            tool.close()

    config = {"kind": "grammar", "version": 1, "lang": lang, **grammar_identity()}
    return [record["errors"] for record in store.records(config, [(text,) for text in texts], compute)]
