"""Edits of one word: everything else of the sentence stays as it was, and what pointed to it still does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.perturb.word_sense import edited_text, insert_word, replace_word
from nbkit.text.sentences import Sentence, Text

SEED = Sentence(
    ("She", "loves", "the", "old", "spring", "."),
    "en",
    (True, True, True, True, False, False),
    upos=("PRON", "VERB", "DET", "ADJ", "NOUN", "PUNCT"),
    heads=(1, -1, 4, 4, 1, 1),
    deprels=("nsubj", "root", "det", "amod", "obj", "punct"),
    lemmas=("she", "love", "the", "old", "spring", "."),
    feats=("",) * 6,
)


def test_an_inserted_word_is_an_adjective_of_its_noun():
    edited = insert_word(SEED, 4, "hot", head=4)
    assert edited.sentence.text == "She loves the old hot spring."
    assert edited.sentence.heads == (1, -1, 5, 5, 5, 1, 1) and edited.sentence.deprels[4] == "amod"
    assert edited.sentence.upos[4] == "ADJ" and edited.new == 4 and edited.origin == (0, 1, 2, 3, None, 4, 5)


def test_a_replaced_word_takes_over_head_and_capital():
    edited = replace_word(SEED, 3, "new")
    assert edited.sentence.text == "She loves the new spring." and edited.sentence.heads == SEED.heads
    assert edited.sentence.lemmas[3] == "new" and edited.origin == (0, 1, 2, None, 4, 5)
    assert replace_word(Sentence(("Old", "springs"), "en"), 0, "hot").sentence.joined == "Hot springs"


def test_a_text_of_several_sentences_is_edited_in_one():
    text = Text((SEED, SEED))
    edited, origin = edited_text(text, 1, insert_word(SEED, 4, "hot", head=4))
    assert edited.text == "She loves the old spring. She loves the old hot spring."
    assert origin == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, None, 10, 11)


@pytest.mark.parametrize("word", ["", "two words", " hot"])
def test_one_word_at_a_time(word):
    with pytest.raises(NbkitError, match="one word"):
        insert_word(SEED, 1, word, head=1)


def test_places_outside_are_refused():
    for at in (-1, 6):
        with pytest.raises(NbkitError, match="no token"):
            replace_word(SEED, at, "hot")


@given(st.lists(st.sampled_from(["a", "bank", "Of", "!"]), min_size=1, max_size=8), st.data())
def test_all_other_tokens_stay_in_their_order(tokens, data):
    sentence = Sentence(tuple(tokens), "en", heads=(-1, *[0] * (len(tokens) - 1)))
    at = data.draw(st.integers(0, len(tokens) - 1))
    for edited in (insert_word(sentence, at, "hot", head=at), replace_word(sentence, at, "hot")):
        kept = [(old, edited.sentence.tokens[new]) for new, old in enumerate(edited.origin) if old is not None]
        assert [old for old, _ in kept] == sorted({old for old, _ in kept})
        assert all(tokens[old] == token for old, token in kept)
        assert len(tokens) - len(kept) == len(sentence) + 1 - len(edited.sentence)
        assert edited.sentence.root >= 0  # still a tree with one root
        for old, new in ((old, edited.origin.index(old)) for old, _ in kept):
            head, moved = sentence.heads[old], edited.sentence.heads[new]
            assert moved == (-1 if head == -1 else edited.origin.index(head) if head in edited.origin else at)
