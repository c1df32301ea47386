"""A parallel corpus of ten pairs, small enough to count by hand, and a lexicon of two homographs for it."""

from __future__ import annotations

from nbkit.corpora.homographs import Homograph, HomographLexicon, SenseCluster
from nbkit.text.sentences import Sentence, Text

LEXICON = HomographLexicon("hand-made", "en", "de", {
    "bat": Homograph("bat", (SenseCluster("animal", frozenset({"Fledermaus"})),
                             SenseCluster("club", frozenset({"Schläger", "Keule"})))),
    "bank": Homograph("bank", (SenseCluster("money", frozenset({"Bank", "Kreditinstitut"})),
                               SenseCluster("river", frozenset({"Ufer"})))),
})  # fmt: skip

#: Source (word/part of speech/relation/head) and the word that the homograph is linked to.
ROWS = [
    ("old/ADJ/amod/1 bat/NOUN/nsubj/2 sleep/VERB/root/-1", "Fledermaus"),
    ("small/ADJ/amod/1 bat/NOUN/nsubj/2 fly/VERB/root/-1", "Fledermaus"),
    ("old/ADJ/amod/1 bat/NOUN/nsubj/2 fly/VERB/root/-1 ./PUNCT/punct/2", "Fledermaus"),
    ("old/ADJ/amod/1 bat/NOUN/nsubj/2 break/VERB/root/-1", "Schläger"),
    ("wooden/ADJ/amod/1 bat/NOUN/nsubj/2 break/VERB/root/-1", "Schläger"),
    ("old/ADJ/amod/2 wooden/ADJ/amod/2 bat/NOUN/root/-1", "Keule"),
    ("old/ADJ/amod/1 bank/NOUN/nsubj/2 close/VERB/root/-1", "Bank"),
    ("bank/NOUN/nsubj/1 close/VERB/root/-1 early/ADV/advmod/1", "Kreditinstitut"),
    ("green/ADJ/amod/1 bank/NOUN/root/-1", "Ufer"),
    ("old/ADJ/amod/1 bat/NOUN/root/-1", "Ding"),
]


def parsed(line: str, lang: str = "en") -> Text:
    """A text of ``word/part of speech/relation/head`` tokens, whose words are their lemmas."""
    words, upos, deprels, heads = zip(*(token.split("/") for token in line.split()), strict=True)
    return Text((Sentence(words, lang, upos=upos, deprels=deprels, heads=tuple(map(int, heads)), lemmas=words),))


def german(*words: str) -> Text:
    """A German text of nouns."""
    n = len(words)
    heads = (-1, *[0] * (n - 1))
    return Text((Sentence(words, "de", upos=("NOUN",) * n, lemmas=words, heads=heads, deprels=("dep",) * n),))


def triples():
    """The ten pairs, each homograph linked to its translation."""
    for line, translation in ROWS:
        source = parsed(line)
        place = next(token for token, word in enumerate(source.tokens) if word in LEXICON.homographs)
        yield source, german(translation), ((place, 0),)
