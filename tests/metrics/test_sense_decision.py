"""Which sense a translation took: every reason not to tell it, compounds and inflection."""

from __future__ import annotations

import pytest

from nbkit.corpora.homographs import Homograph, HomographLexicon, SenseCluster, own_homographs
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.metrics.sense_decision import (
    AMBIGUOUS,
    DIFFERENT,
    NOT_ALIGNED,
    SEVERAL,
    UNKNOWN,
    SenseFinder,
)
from nbkit.text import Sentence, Text
from tests.metrics.ten_pairs import LEXICON, german, parsed

OWN = own_homographs()
SOURCE = parsed("the/DET/det/1 bat/NOUN/nsubj/2 break/VERB/root/-1")


@pytest.mark.parametrize(
    ("target", "links", "cluster", "reason"),
    [
        (["Schläger"], [(1, 0)], "club", None),
        (["SCHLÄGER"], [(1, 0)], "club", None),
        (["Keule", "Schläger"], [(1, 0), (1, 1)], "club", None),
        (["der", "Schläger"], [(0, 0), (1, 0), (1, 1)], "club", None),
        (["Schläger"], [(0, 0)], None, NOT_ALIGNED),
        (["Schläger"], [], None, NOT_ALIGNED),
        (["Ding"], [(1, 0)], None, UNKNOWN),
        (["Keule", "Fledermaus"], [(1, 0), (1, 1)], None, SEVERAL),
    ],
)
def test_the_sense_is_that_of_the_aligned_words(target, links, cluster, reason):
    (sense,) = SenseFinder(LEXICON).senses(SOURCE, german(*target), links)
    assert (sense.homograph, sense.token, sense.cluster, sense.reason) == ("bat", 1, cluster, reason)


def test_ambiguous_translations_tell_nothing_but_do_no_harm():
    source = parsed("the/DET/det/1 nail/NOUN/root/-1")
    finder = SenseFinder(OWN)
    assert finder.senses(source, german("Nagel"), [(1, 0)])[0].reason == AMBIGUOUS
    assert finder.senses(source, german("Nagel", "Ding"), [(1, 0), (1, 1)])[0].reason == AMBIGUOUS
    assert finder.senses(source, german("Nagel", "Fingernagel"), [(1, 0), (1, 1)])[0].cluster == "finger"


@pytest.mark.parametrize(
    ("word", "lemma", "form", "clusters"),
    [  # exact, inflected, compounds, parts
        ("spring", "Quelle", "Quelle", ["water"] * 4),
        ("spring", "Quelle", "Quellen", ["water"] * 4),  # the parser's lemma
        ("spring", "Quellen", "Quellen", [None, "water", "water", "water"]),  # no lemma that is one
        ("spring", "Naturquelle", "Naturquelle", [None, None, "water", "water"]),  # Table 16
        ("spring", "Naturquellen", "Naturquellen", [None, None, "water", "water"]),
        ("spring", "Frühjahrsdosis", "Frühjahrsdosis", [None, None, None, "season"]),  # Table 16
        ("letter", "Grußbrief", "Grußbriefe", [None, None, "message", "message"]),  # Table 18
        ("capital", "Finanzkapital", "Finanzkapital", [None, None, "money", "money"]),
        ("drop", "Blutabfall", "Blutabfall", [None, None, "decrease", "decrease"]),  # Table 16
        ("arm", "Alarm", "Alarm", [None] * 4),  # "Al" is no word before "Arm"
        ("arm", "Schwarm", "Schwarm", [None] * 4),  # nor is "Schw"
        ("horn", "Hupe", "Horn", ["car"] * 4),
        ("horn", "Horn", "Horn", [AMBIGUOUS] * 4),
        ("band", "Bänder", "Bänder", [None, AMBIGUOUS, AMBIGUOUS, AMBIGUOUS]),
    ],
)
def test_compounds_and_inflection(word, lemma, form, clusters):
    found = [
        SenseFinder(OWN, way).cluster_of(word, lemma, form) for way in ("exact", "inflected", "compounds", "parts")
    ]
    assert found == clusters


def test_a_stem_of_two_senses_tells_none():
    lexicon = HomographLexicon("x", "en", "de", {"x": Homograph("x", (
        SenseCluster("a", frozenset({"Bank"})), SenseCluster("b", frozenset({"Bänke"}))))})  # fmt: skip
    finder = SenseFinder(lexicon)
    assert finder.cluster_of("x", "Bank") == "a" and finder.cluster_of("x", "Banken") in (None, AMBIGUOUS)
    assert finder.cluster_of("x", "Bänken") == AMBIGUOUS


def test_a_form_can_tell_what_its_lemma_does_not():
    """As the published lexicon has it, whose inflected forms are translations of their own."""
    clusters = (SenseCluster("music", frozenset({"Bands"})), SenseCluster("strip", frozenset({"Bänder"})))
    lexicon = HomographLexicon("x", "en", "de", {"band": Homograph("band", clusters, frozenset({"Band"}))})
    finder = SenseFinder(lexicon)
    assert [finder.cluster_of("band", "Band", form) for form in ("Band", "Bands", "Bänder")] == [
        AMBIGUOUS,
        "music",
        "strip",
    ]


def test_the_longest_head_counts():
    lexicon = HomographLexicon("x", "en", "de", {"x": Homograph("x", (
        SenseCluster("a", frozenset({"Quelle"})), SenseCluster("b", frozenset({"Wasserquelle"}))))})  # fmt: skip
    assert SenseFinder(lexicon).cluster_of("x", "Heilwasserquelle") == "b"


def test_languages_without_compounds_and_stems_match_what_they_can():
    chinese = HomographLexicon("x", "en", "zh", {"bat": Homograph("bat", (
        SenseCluster("animal", frozenset({"蝙蝠"})), SenseCluster("club", frozenset({"球棒"}))))})  # fmt: skip
    assert SenseFinder(chinese, "parts").cluster_of("bat", "球棒") == "club"
    assert SenseFinder(chinese, "parts").cluster_of("bat", "棒球球棒") is None


def test_only_nouns_are_homographs_and_texts_of_several_sentences_count_on():
    sentences = parsed("bat/VERB/root/-1").sentences + parsed("A/DET/det/1 Bat/NOUN/root/-1").sentences
    assert SenseFinder(LEXICON).occurrences(Text(sentences)) == [("bat", 2)]
    target = Text(german("Ding").sentences + german("Keule").sentences)
    assert SenseFinder(LEXICON).senses(Text(sentences), target, [(2, 1)])[0].cluster == "club"


def test_pairs_with_several_senses_of_a_homograph_have_none():
    source = parsed("bat/NOUN/root/-1 bat/NOUN/dep/0 bank/NOUN/dep/0")
    finder = SenseFinder(LEXICON)
    both = german("Fledermaus", "Keule", "Ufer")
    links = [(0, 0), (1, 1), (2, 2)]
    assert [sense.cluster for sense in finder.senses(source, both, links)] == ["animal", "club", "river"]
    assert [(sense.cluster, sense.reason) for sense in finder.pair_senses(source, both, links)] == [
        (None, DIFFERENT), (None, DIFFERENT), ("river", None)]  # fmt: skip
    # One that cannot be told does not contradict the other.
    half = finder.pair_senses(source, both, [(0, 0), (2, 2)])
    assert [(sense.cluster, sense.reason) for sense in half] == [("animal", None), (None, NOT_ALIGNED), ("river", None)]


def test_bad_input():
    with pytest.raises(NbkitError, match=r"link 1-7 points outside 'Schläger', of 1 tokens"):
        SenseFinder(LEXICON).senses(SOURCE, german("Schläger"), [(1, 7)])
    with pytest.raises(NbkitError, match="has no lemmas or no parts of speech"):
        SenseFinder(LEXICON).occurrences(Text((Sentence(("bat",), "en"),)))
    with pytest.raises(UnknownNameError, match="matching of senses 'compound'; did you mean 'compounds'"):
        SenseFinder(LEXICON, "compound")
