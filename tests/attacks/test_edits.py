"""Edits of one word: everything else of the sentence stays as it was, and what pointed to it still does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.perturb.word_sense import Candidate, edited_text, put_adjective
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
    edited = put_adjective(SEED, 4, "hot")
    assert edited.text == "She loves the old hot spring."
    assert edited.heads == (1, -1, 5, 5, 5, 1, 1) and edited.deprels[4] == "amod" and edited.upos[4] == "ADJ"


def test_a_replaced_word_takes_over_head_and_capital():
    edited = put_adjective(SEED, 3, "new", replaces=True)
    assert edited.text == "She loves the new spring." and edited.heads == SEED.heads and edited.lemmas[3] == "new"
    assert put_adjective(Sentence(("Old", "springs"), "en"), 0, "hot", replaces=True).joined == "Hot springs"


def test_a_text_of_several_sentences_is_edited_in_one():
    text = Text((SEED, SEED))
    edited, origin = edited_text(text, 1, Candidate("IH", SEED, 4, 4, "hot"))
    assert edited.text == "She loves the old spring. She loves the old hot spring."
    assert origin == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, None, 10, 11)
    assert edited_text(text, 0, Candidate("RH", SEED, 4, 4, "new", 3))[1] == (0, 1, 2, None, *range(4, 12))


@pytest.mark.parametrize("word", ["", "two words", " hot"])
def test_one_word_at_a_time(word):
    with pytest.raises(NbkitError, match="one word"):
        put_adjective(SEED, 1, word)


def test_places_outside_are_refused():
    for at in (-1, 6):
        with pytest.raises(NbkitError, match="no token"):
            put_adjective(SEED, at, "hot", replaces=True)


@given(st.lists(st.sampled_from(["a", "bank", "Of", "!"]), min_size=1, max_size=8), st.data())
def test_all_other_tokens_stay_in_their_order(tokens, data):
    sentence = Sentence(tuple(tokens), "en", heads=(-1, *[0] * (len(tokens) - 1)))
    at = data.draw(st.integers(0, len(tokens) - 1))
    for replaced in (None, at):
        edited, origin = edited_text(Text((sentence,)), 0, Candidate("IH", sentence, at, at, "hot", replaced))
        (edited,) = edited.sentences
        kept = [(old, edited.tokens[new]) for new, old in enumerate(origin) if old is not None]
        assert [old for old, _ in kept] == sorted({old for old, _ in kept})
        assert all(tokens[old] == token for old, token in kept)
        assert len(tokens) - len(kept) == len(sentence) + 1 - len(edited)
        assert edited.root >= 0  # still a tree with one root
        for old, new in ((old, origin.index(old)) for old, _ in kept):
            head, moved = sentence.heads[old], edited.heads[new]
            assert moved == (-1 if head == -1 else origin.index(head) if head in origin else at)
