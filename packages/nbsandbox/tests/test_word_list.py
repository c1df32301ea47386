"""Competitive linking by a list of word pairs; `tests/align` of nbkit measures it on the gold links."""

from __future__ import annotations

from nbsandbox.word_list import Entry, WordList, word_list


def test_the_stronger_pair_of_words_goes_first():
    words = WordList({("bank", "ufer"): Entry(1), ("bank", "bank"): Entry(5), ("shore", "ufer"): Entry(5)})
    assert words.links(["bank", "shore"], ["Ufer", "Bank"]) == ((0, 1), (1, 0))
    assert words.links(["bank"], ["Ufer"], threshold=0.5) == ()


def test_the_list_of_the_gold_links_is_case_folded_and_has_a_digest():
    words = word_list("en", "de", 50)
    assert all(word == word.casefold() for pair in words.entries for word in pair)
    assert words.digest == word_list("en", "de", 50).digest != word_list("en", "fr", 50).digest
