"""Hypothesis strategies for what every room passes on: sentences with random tags and random trees."""

from __future__ import annotations

from hypothesis import strategies as st

from nbkit.text.sentences import ROOT, Sentence, Text

#: Few words, so that sentences repeat themselves.
WORDS = ("the", "a", "cat", "dog", "ha", "sees", "old", "of", "and", "n't", "very")
TAGS = (
    "NOUN",
    "PROPN",
    "PRON",
    "VERB",
    "AUX",
    "ADJ",
    "ADV",
    "ADP",
    "DET",
    "CCONJ",
    "SCONJ",
    "NUM",
    "PART",
    "PUNCT",
    "X",
)
RELATIONS = (
    *("nsubj", "obj", "obl", "nmod", "nmod:poss", "det", "amod", "nummod", "compound", "flat", "case", "cc", "conj"),
    *("advmod", "mark", "aux", "cop", "acl:relcl", "punct", "expl", "fixed", "nk", "poss", "appos"),
)
ENDINGS = ((), (".",), ("!",), ("?", '"'), ("。",), ("…", ")"))


@st.composite
def heads(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    """A random tree over *size* tokens, projective or not: each token hangs on one drawn before it."""
    order = draw(st.permutations(range(size)))
    chosen = [ROOT] * size
    for position, token in enumerate(order[1:], start=1):
        chosen[token] = order[draw(st.integers(0, position - 1))]
    return tuple(chosen)


@st.composite
def sentences(draw: st.DrawFn, min_words: int = 1, max_words: int = 14, words: tuple[str, ...] = WORDS) -> Sentence:
    """A sentence with tags, tree and labels, which mean nothing, and with or without final punctuation."""
    body = draw(st.lists(st.sampled_from(words), min_size=min_words, max_size=max_words))
    ending = draw(st.sampled_from(ENDINGS))
    size = len(body) + len(ending)
    return Sentence(
        tokens=(*body, *ending),
        lang=draw(st.sampled_from(("en", "de", "zh"))),
        spaces=tuple(draw(st.lists(st.booleans(), min_size=size, max_size=size))),
        upos=(*(draw(st.sampled_from(TAGS)) for _ in body), *("PUNCT" for _ in ending)),
        heads=draw(heads(size)),
        deprels=tuple(draw(st.sampled_from(RELATIONS)) for _ in range(size)),
    )


def texts(max_sentences: int = 3) -> st.SearchStrategy[Text]:
    """A text of one or a few such sentences in one language."""
    return st.lists(sentences(), min_size=1, max_size=max_sentences).map(
        lambda several: Text(tuple(s for s in several if s.lang == several[0].lang))
    )
