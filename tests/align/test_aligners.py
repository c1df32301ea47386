"""The aligners that need no model: gold links, a word list, Pharaoh files; and finding aligners by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nbkit.corpora.sandbox import LANGUAGES
from nbkit.corpora.sandbox import pairs as sandbox_pairs
from nbkit.errors import DataError, NbkitError, UnknownNameError
from nbkit.measure.aligners import ALIGNERS, Aligner, check_aligner, load_aligner
from tests.align.pharaoh import write_pharaoh
from tests.align.scores import score_alignments


def tokens_of(pairs):
    return [(pair.source.tokens, pair.target.tokens) for pair in pairs]


@pytest.fixture(scope="module")
def german():
    return list(sandbox_pairs("en", "de", n=200))


def test_every_aligner_is_an_aligner(tmp_path):
    given = {
        "lexicon": load_aligner("lexicon", "en", "de", pairs=10),
        "eflomal": load_aligner("eflomal", "en", "de"),
        "pharaoh": load_aligner(f"pharaoh:{write_pharaoh([], tmp_path / 'no.align')}", "en", "de"),
        "embeddings": load_aligner("embeddings:some/model", "en", "de"),
    }
    assert list(given) == ALIGNERS.names()
    for name, aligner in given.items():
        assert isinstance(aligner, Aligner)
        assert aligner.identity["aligner"] == name
        assert list(aligner.align([])) == []
        assert ALIGNERS.summary(name)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("eflomel", {}, "unknown aligner 'eflomel'; did you mean 'eflomal'"),
        ("pharaoh", {}, "file missing; write pharaoh:FILE"),
        ("embeddings:", {}, "model missing; write embeddings:MODEL"),
        ("eflomal:x", {}, "'eflomal' takes no argument"),
        ("eflomal", {"trainign": []}, "unknown option 'trainign'; did you mean 'training'"),
        ("gold", {}, "unknown aligner 'gold'"),
        ("eflomal", {"training": [([], ["a"])]}, "training contains no pair with words on both sides"),
        ("embeddings:x/y", {"method": "match"}, "unknown method of alignment 'match'"),
        ("embeddings:x/y", {"layer": -1}, "expected, -1 given"),
        ("lexicon:nowhere.tsv", {}, "nowhere.tsv"),
    ],
)
def test_what_cannot_be_loaded_says_why(name, options, message):
    with pytest.raises(NbkitError, match=message):
        load_aligner(name, "en", "de", **options)
    assert check_aligner(name, "en", "de", **options) is not None


@pytest.mark.thorough
def test_texts_in_place_of_tokens():
    for aligner in (load_aligner("lexicon", "en", "de"), load_aligner("eflomal", "en", "de")):
        with pytest.raises(NbkitError, match="not the texts 'the dog'"):
            list(aligner.align([("the dog", "der Hund")]))


# ---- word lists

#: Alignment error rates that a word list may have on the sandbox, where the truth is known.
WORST = {"de": 0.04, "fr": 0.08, "es": 0.1, "it": 0.1, "ru": 0.06, "zh": 0.1, "ja": 0.1}


@pytest.mark.parametrize(
    "lang", ["de", *(pytest.param(lang, marks=pytest.mark.thorough) for lang in LANGUAGES if lang not in ("en", "de"))]
)
def test_a_word_list_finds_the_gold_links_of_the_sandbox(lang):
    pairs = list(sandbox_pairs("en", lang, n=200))
    found = list(load_aligner("lexicon", "en", lang, pairs=1000).align(tokens_of(pairs)))
    scores = score_alignments(found, [pair.alignment for pair in pairs])
    assert scores.aer < WORST[lang], scores
    assert min(scores.precision, scores.recall) > 0.85, scores


def align_with(entries, source, target, **options):
    aligner = load_aligner("lexicon", "en", "de", entries=entries, **options)
    (links,) = aligner.align([(source.split(), target.split())])
    return links


def test_equal_words_are_linked_in_order():
    entries = {("the", "der"): 1, ("cat", "katze"): 1, ("dog", "hund"): 1, ("sees", "sieht"): 1}
    assert align_with(entries, "the cat sees the dog", "der Katze sieht der Hund") == tuple((i, i) for i in range(5))


def test_articles_follow_their_nouns_where_order_differs():
    entries = {("the", "der"): 1, ("cat", "katze"): 1, ("dog", "hund"): 1}
    assert align_with(entries, "the cat the dog", "der Hund der Katze") == ((0, 2), (1, 3), (2, 0), (3, 1))


def test_a_stronger_pair_of_words_goes_first():
    entries = {("bank", "ufer"): 1, ("bank", "bank"): 5, ("shore", "ufer"): 5}
    assert align_with(entries, "bank shore", "Ufer Bank") == ((0, 1), (1, 0))
    assert align_with(entries, "bank", "Ufer") == ((0, 0),)
    assert align_with(entries, "bank", "Ufer", threshold=0.5) == ()


def test_names_and_numbers_need_no_entry():
    assert align_with({}, "Tom paid 1,234.5", "1.234,5 Tom zahlte") == ((0, 1), (2, 0))
    assert align_with({}, "Tom", "Anna") == ()


def test_an_unknown_word_between_linked_ones_is_linked():
    entries = {("the", "der"): 1, ("sleeps", "schläft"): 1}
    assert align_with(entries, "the zebra sleeps", "der Esel schläft") == ((0, 0), (1, 1), (2, 2))
    assert align_with(entries, "the zebra sleeps", "der Esel bellt") == ((0, 0),)


def test_a_word_list_from_a_file(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("# a comment\ndog\tHund\n\ncat Katze\nice cream\tEis\n", encoding="utf-8")
    aligner = load_aligner(f"lexicon:{path}", "en", "de")
    assert list(aligner.align([(["Cat", "Dog"], ["HUND", "katze"])])) == [((0, 1), (1, 0))]
    other = load_aligner("lexicon", "en", "de", entries={("dog", "Hund"): 1})
    assert len({str(a.identity) for a in (aligner, other, load_aligner("lexicon", "en", "de"))}) == 3


@pytest.mark.parametrize("line", ["dog", "dog\tHund\tnoun", "a big dog Hund", "dog\t"])
def test_a_malformed_line_of_a_word_list(tmp_path, line):
    path = tmp_path / "words.tsv"
    path.write_text(f"cat\tKatze\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"words\.tsv:2: expected a word and a translation"):
        load_aligner(f"lexicon:{path}", "en", "de")


def test_the_sandbox_list_speaks_the_sandbox_languages():
    with pytest.raises(UnknownNameError, match="unknown sandbox language 'ta'"):
        load_aligner("lexicon", "en", "ta")


# ---- Pharaoh files


def test_links_of_another_aligner(german, tmp_path):
    path = write_pharaoh([pair.alignment for pair in german], tmp_path / "corpus.align")
    aligner = load_aligner(f"pharaoh:{path}", "en", "de")
    assert list(aligner.align(tokens_of(german))) == [pair.alignment for pair in german]
    assert aligner.problem() is None
    before = aligner.identity
    write_pharaoh([()] * len(german), path)
    assert aligner.identity != before


def test_a_pharaoh_file_of_another_corpus(german, tmp_path):
    path = write_pharaoh([pair.alignment for pair in german], tmp_path / "corpus.align")
    aligner = load_aligner(f"pharaoh:{path}", "en", "de")
    with pytest.raises(DataError, match=r"corpus\.align: 200 lines for 199 pairs"):
        list(aligner.align(tokens_of(german[1:])))
    short = [(("a",), ("b",)), *tokens_of(german[1:])]
    with pytest.raises(DataError, match=r"corpus\.align:1: link \d+-\d+ points outside"):
        list(aligner.align(short))
    assert "nowhere" in check_aligner(f"pharaoh:{tmp_path / 'nowhere.align'}", "en", "de")


def test_checking_aligners_imports_no_torch():
    code = (
        "import sys; from nbkit.measure.aligners import ALIGNERS, check_aligner\n"
        "[check_aligner(f'{name}:x', 'en', 'de') for name in ALIGNERS]\n"
        "print([name for name in ('torch', 'transformers', 'pandas', 'spacy') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
