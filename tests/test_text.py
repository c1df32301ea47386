"""Sentences and texts: orders made text, trees looked at, and what a broken order or annotation is told."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.text.sentences import ROOT, Sentence, Text
from tests.strategies import sentences

GO = Sentence(("Go", "away", "!"), "en", (True, False, True))
HATE = Sentence(("I", "hate", "you", "!"), "en", (True, True, False, False))


@given(indices=st.lists(st.integers(-5, 5), max_size=5), size=st.integers(0, 5), array=st.booleans())
def test_an_order_is_taken_exactly_where_it_is_a_permutation(indices, size, array) -> None:
    sentence = Sentence(tuple("abcde"[:size]), "en")
    order = np.array(indices, dtype=np.intp) if array else indices
    if sorted(indices) == list(range(size)):
        assert sentence.reorder(order).split() == ["abcde"[index] for index in indices]
    else:
        with pytest.raises(NbkitError, match=r"not a permutation of the \d tokens"):
            sentence.reorder(order)


@pytest.mark.parametrize("order", [[0, 0, 2], [0, 1], [0, 1, 2, 2], [1, 2, 3], [0, 1, -1]])
def test_no_token_is_dropped_or_repeated(order) -> None:
    for spacing in ("joined", "original"):
        with pytest.raises(NbkitError, match="not a permutation of the 3 tokens of 'Go away !'"):
            GO.reorder(order, spacing=spacing)
        with pytest.raises(NbkitError, match="not a permutation"):
            Text((GO, HATE)).reorder([np.array(order), None], spacing=spacing)


def test_a_sentence_without_an_order_stays_and_every_sentence_needs_one_or_none() -> None:
    text = Text((GO, HATE))
    assert text.reorder([None, None]) == text.joined == "Go away ! I hate you !"
    assert text.reorder([None, None], spacing="original") == "Go away! I hate you!"
    with pytest.raises(NbkitError, match="1 orders for 2 sentences"):
        text.reorder([None])


@given(sentence=sentences())
def test_children_are_the_tokens_that_name_their_head(sentence) -> None:
    for token, children in enumerate(sentence.children):
        assert list(children) == [i for i, head in enumerate(sentence.heads) if head == token]
    assert sentence.heads[sentence.root] == ROOT


def test_what_is_computed_once_is_the_same_object_and_no_part_of_the_sentence() -> None:
    tree = Sentence(("Tom", "sleeps"), "en", heads=(1, ROOT))
    plain = replace(tree)
    assert tree.children is tree.children == ((), (0,))
    assert tree.digest == plain.digest and tree.text == plain.text
    assert tree == plain and hash(tree) == hash(plain) and repr(tree) == repr(plain)
    twin = copy.deepcopy(tree)
    assert twin == tree and twin.children == tree.children
    assert replace(tree, heads=(ROOT, 0)).children == ((1,), ())


def test_language_and_words_are_what_a_digest_stands_for() -> None:
    digests = {
        Sentence(("a", "b"), "en").digest,
        Sentence(("a", "b"), "de").digest,
        Sentence(("b", "a"), "en").digest,
        Sentence(("ab",), "en").digest,
    }
    assert len(digests) == 4
    assert Sentence(("a", "b"), "en", (False, False), upos=("X", "X")).digest in digests


def test_a_sentence_without_a_tree_says_so() -> None:
    for ask in (lambda: GO.root, lambda: GO.children):
        with pytest.raises(NbkitError, match="'Go away !' has no dependency tree: parse it first"):
            ask()


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ({"upos": ("VERB",)}, "3 tokens but 1 upos"),
        ({"heads": (ROOT, ROOT, 0)}, "expected exactly one root, found 2"),
        ({"heads": (1, 2, 0)}, "expected exactly one root, found 0"),
    ],
)
def test_annotation_that_does_not_fit_is_named(annotation, message) -> None:
    with pytest.raises(NbkitError, match=f"'Go away !': {message}"):
        Sentence(("Go", "away", "!"), "en", **annotation)


def test_a_text_holds_a_sentence() -> None:
    with pytest.raises(NbkitError, match="at least one sentence"):
        Text(())
