"""LitTER: the paper's examples, its definition against a brute-force version, its variants and bad input."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import nbkit
from nbkit.errors import NbkitError
from nbkit.measure.literal import (
    Litter,
    WordDictionary,
    compound_parts,
    published_litter,
    read_dictionary,
    source_words,
)
from nbkit.text.phrases import PhraseMatcher
from nbkit.text.sentences import Sentence

PUBLISHED = Path(nbkit.__file__).parent / "studies/idioms/published"
EXAMPLES = yaml.safe_load((PUBLISHED / "examples.yaml").read_text(encoding="utf-8"))


def dictionary(entries: dict[str, list[str]]) -> WordDictionary:
    return WordDictionary("test", "file", {word: tuple(translations) for word, translations in entries.items()})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_figures_14_and_15(example):
    litter = Litter(dictionary(example["blocklists"]), "en", "fr")
    judgement = litter.judge_texts(example["idiom"], example["reference"], example["hypothesis"])
    printed = {word: tuple(translations) for word, translations in example["blocklists"].items()}
    assert judgement.candidates == printed
    assert list(judgement.blocklists) == example["surviving"]
    assert set(judgement.triggers) == set(example["triggers"])
    assert judgement.error == bool(example["triggers"])


def test_encodings_of_a_word_are_alike(tmp_path):
    (tmp_path / "words.tsv").write_text(f"{normalize('NFD', 'déjà')}\tschon\nl’eau\tWasser\n", encoding="utf-8")
    words = read_dictionary(tmp_path / "words.tsv")
    assert words.translations("Déjà") == words.translations(normalize("NFD", "déjà")) == ("schon",)
    assert words.translations("l'eau") == ("Wasser",)


#: Blocklisted words as a dictionary spells them; the figures print them without their accents.
SPELT = {"ecorces": "écorces", "ecorce": "écorce", "errone": "erroné"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_published_figures_print_the_blocklists_of_figures_14_and_15(example):
    """Words with accents, half of them in the dictionary of the other direction alone, become the printed lists."""
    forward: dict[str, list[str]] = {word: [] for word in example["blocklists"]}
    reverse: dict[str, list[str]] = {}
    for word, translations in example["blocklists"].items():
        for number, printed in enumerate(translations):
            spelt = SPELT.get(printed, printed)
            if number % 2:
                reverse.setdefault(spelt, []).append(word)
            else:
                forward[word].append(spelt)
    litter = published_litter(dictionary(forward), dictionary(reverse), "en", "fr")
    judgement = litter.judge_texts(example["idiom"], example["reference"], example["hypothesis"])
    printed_lists = {word: set(translations) for word, translations in example["blocklists"].items()}
    assert {word: set(each) for word, each in judgement.candidates.items()} == printed_lists
    assert list(judgement.blocklists) == example["surviving"]
    assert set(judgement.triggers) == set(example["triggers"])
    assert "|accents:stripped|" in litter.signature() and "spans:last" in litter.signature()


def test_text_and_published_figures_differ_by_accents_both_directions_and_spans():
    forward, reverse = dictionary({"bark": ["aboyer"]}), dictionary({"écorce": ["bark"], "été": ["summer"]})
    text, figures = Litter(forward, "en", "fr"), published_litter(forward, reverse, "en", "fr")
    assert not text.judge_texts("bark", "rien", "une ecorce").error
    assert figures.judge_texts("bark", "rien", "une ecorce").error and figures.judge_texts("bark", "", "écorce").error
    assert not figures.judge_texts("bark", "une écorce", "une ecorce").error  # it is in the reference, too
    assert figures.judge_texts("summer", "rien", "un ete").covered and not text.judge_texts("summer", "", "").covered
    # A pair with several places: the research code looks up the last alone.
    assert text.judge_spans(["bark", "up"], "rien", "aboyer").error
    assert not figures.judge_spans(["bark", "up"], "rien", "aboyer").error
    assert figures.judge_spans(["up", "bark"], "rien", "aboyer").error
    assert text.signature() != published_litter(forward, None, "en", "fr").signature() != figures.signature()
    assert (
        published_litter(dictionary({"eye": ["œil"]}), None, "en", "fr").judge_texts("eye", "", "un oeil").error
        is False
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("can't see the wood", "can see the wood"),
        ("Can’t", "can"),
        ("cannot", "can not"),
        ("won't wash", "will wash"),
        ("shan't", "shall"),
        ("America's", "America"),
    ],
)
def test_verbs_without_nt_are_words(text, words):
    assert " ".join(source_words(text, "en")) == words


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_inflected_finds_the_first_failure_of_figure_14(example):
    litter = Litter(dictionary(example["blocklists"]), "en", "fr", matching="inflected")
    judgement = litter.judge_texts(example["idiom"], example["reference"], example["hypothesis"])
    assert set(judgement.triggers) == set(example["inflected"])


def test_the_matcher_finds_the_idioms_of_the_figures():
    matcher = PhraseMatcher(
        ["pull one's punches", "put something on ice", "bark up the wrong tree", "bread and butter", "eye candy"]
    )
    for example in EXAMPLES:
        tokens = source_tokens(example["source"])
        [match] = matcher.find(Sentence(tuple(tokens), "en"))
        assert source_words(" ".join(tokens[match.start : match.end]), "en") == example["idiom"].split()


def source_tokens(text: str) -> list[str]:
    return text.replace(".", " .").replace(",", " ,").split()


def test_all_occurrences_of_a_translation_are_triggers():
    litter = Litter(dictionary({"the": ["le"], "bucket": ["seau"]}), "en", "fr")
    found = litter.judge(["the", "bucket"], ["il", "mourut"], ["le", "roi", "a", "le", "seau"])
    assert found.triggers == {"le": (0, 3), "seau": (4,)}


def test_a_blocklist_dies_as_a_whole():
    litter = Litter(dictionary({"butter": ["et", "pain", "beurre"], "bread": ["pain"]}), "en", "fr")
    judgement = litter.judge_texts("bread and butter", "lui et moi", "le beurre et le pain")
    assert list(judgement.blocklists) == ["bread"]
    assert list(judgement.triggers) == ["pain"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, False),
        ({"accents": "ignored"}, True),
    ],
)
def test_accents(settings, error):
    litter = Litter(dictionary({"bark": ["ecorce", "oeil"]}), "en", "fr", **settings)
    assert litter.judge_texts("bark", "rien", "Une ÉCORCE").error == error


def test_ligatures_are_accents():
    litter = Litter(dictionary({"eye": ["oeil"]}), "en", "fr", accents="ignored")
    assert litter.judge_texts("eye", "rien", "son œil").error


def test_german_compounds():
    words = dictionary({"piece": ["stück"], "cake": ["kuchen"]})
    exact, compounds = (Litter(words, "en", "de", matching=matching) for matching in ("exact", "compounds"))
    assert not exact.judge_texts("piece of cake", "ein Kinderspiel", "ein Kuchenstück").error
    judgement = compounds.judge_texts("piece of cake", "ein Kinderspiel", "ein Kuchenstück")
    assert list(judgement.triggers) == ["stück", "kuchen"]
    assert not compounds.judge_texts("piece of cake", "ein Kuchenstück", "ein Stück Kuchen").blocklists  # step 3 too
    assert not compounds.judge_texts("piece of cake", "ein Kinderspiel", "das Frühstück").error  # früh is not known


@pytest.mark.parametrize(
    ("word", "known", "parts"),
    [
        ("arbeitszimmer", {"arbeit", "zimmer"}, [("arbeit", "zimmer")]),
        ("preis", {"eis"}, []),
        ("eis", {"eis"}, []),
        ("bergeis", {"berg", "eis"}, [("berg", "eis")]),
    ],
)
def test_compound_parts(word, known, parts):
    assert list(compound_parts(word, frozenset(known))) == parts


def test_entries_of_several_words_and_chinese():
    litter = Litter(dictionary({"surrender": ["se rendre"]}), "en", "fr")
    assert litter.judge_texts("surrender", "x", "il veut se rendre").triggers == {"se rendre": (2, 3)}
    assert not litter.judge_texts("surrender", "x", "se faire rendre").error
    chinese = Litter(dictionary({"cake": ["蛋糕"]}), "en", "zh")
    assert chinese.judge_texts("piece of cake", "小菜一碟", "一块蛋糕").triggers == {"蛋糕": (2, 3)}


def test_source_words_leave_endings_out():
    found = source_words("don't pull Tom's leg, they're wolf-like", "en")
    assert " ".join(found) == "do pull Tom leg they wolf like"
    assert source_words("l'homme", "fr") == ["l", "homme"]


WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXTS = st.lists(WORDS, max_size=5)


@given(
    st.dictionaries(st.sampled_from(["u", "v", "w"]), st.lists(WORDS, min_size=1, max_size=3, unique=True)),
    st.lists(st.sampled_from(["u", "v", "w", "x"]), max_size=4),
    TEXTS,
    TEXTS,
)
def test_the_algorithm_word_by_word(entries, idiom, reference, hypothesis):
    """The four steps of §2.1 as they stand there."""
    blocklists = [list(entries[word]) for word in idiom if word in entries]
    for word in reference:
        blocklists = [blocklist for blocklist in blocklists if word not in blocklist]
    error = any(word in blocklist for blocklist in blocklists for word in hypothesis)
    judgement = Litter(dictionary(entries), "en", "fr").judge(idiom, reference, hypothesis)
    assert judgement.error == error
    assert judgement.covered == any(word in entries for word in idiom)


@given(TEXTS, TEXTS)
def test_a_reference_has_no_literal_errors(idiom, reference):
    words = dictionary({word: ["a", "b"] for word in "abcde"})
    for matching in ("exact", "inflected", "compounds"):
        assert not Litter(words, "en", "de", matching=matching).judge(idiom, reference, reference).error


def test_signatures():
    litter = Litter(dictionary({"ice": ["glace"]}), "en", "fr")
    signatures = {litter.signature(), litter.signature("covered"), litter.signature(aligned="eflomal")}
    signatures.add(Litter(litter.dictionary, "en", "fr", accents="ignored").signature())
    signatures.add(Litter(litter.dictionary, "en", "fr", matching="inflected").signature())
    signatures.add(Litter(dictionary({"ice": ["verglas"]}), "en", "fr").signature())
    assert len(signatures) == 6


def test_a_language_without_a_stemmer_has_no_inflections():
    with pytest.raises(NbkitError, match=r"inflected.*zh"):
        Litter(dictionary({"ice": ["冰"]}), "en", "zh", matching="inflected")
