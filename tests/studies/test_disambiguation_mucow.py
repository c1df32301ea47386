"""MuCoW's own score, on sentences whose verdicts are counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbkit.corpora.homographs import MucowItem
from nbkit.errors import NbkitError
from nbkit.measure.senses import MucowScore, mucow_verdict
from nbkit.studies.disambiguation import STUDY, DisambiguationParams
from tests.pages import run_page

from .conftest import Dummy, register

SPRING = MucowItem("ted", "spring", ("feder",), ("frühling", "frühjahr"))
#: Source, German, right words, wrong words; what the script of the suite says.
SENTENCES = [
    ("The spring of the watch broke.", "Die Feder der Uhr brach.", "feder", "frühling", "right"),
    ("The spring games begin.", "Die Spiele beginnen.", "spiel", "wild", "right"),  # by the lemma
    ("The old spring broke.", "Der alte Frühling brach.", "feder", "frühling", "wrong"),
    ("Each spring has a spring.", "Jeden Frühling eine Feder.", "feder", "frühling", "wrong"),  # both are there
    ("A spring is made of steel.", "Sie ist aus Stahl.", "feder", "frühling", "neither"),
]


@pytest.mark.parametrize(
    ("forms", "lemmas", "verdict"),
    [
        ("Die Feder brach", "die Feder brechen", "right"),
        ("Die FEDER brach", "", "right"),
        ("Die Federn brachen", "die Feder brechen", "right"),
        ("Im Frühling brach die Feder", "", "wrong"),
        ("Die Feder brach", "die Frühling", "right"),  # lemmas are not read where a form decides
        ("Sprungfeder", "Sprungfeder", "neither"),
        ("", "", "neither"),
    ],
)
def test_words_anywhere_in_an_output_decide(forms, lemmas, verdict):
    assert mucow_verdict(SPRING, forms.split(), lemmas.split()) == verdict


def test_scores_without_a_right_output_are_zero():
    assert (MucowScore(0, 3, 1).precision, MucowScore(0, 3, 1).recall, MucowScore(0, 0, 4).f1) == (0.0, 0.0, 0.0)
    score = MucowScore(2, 2, 1)
    assert (score.precision, score.recall, score.f1) == (0.5, 2 / 3, pytest.approx(4 / 7))


@pytest.fixture
def params(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_folder: Path) -> DisambiguationParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    columns = {
        "key": [f"{n}\tted\tspring\t{row[2]}\t{row[3]}" for n, row in enumerate(SENTENCES)],
        "text": [row[0] for row in SENTENCES],
        "ref": ["Die Feder." for _ in SENTENCES],
    }
    for name, lines in columns.items():
        (tmp_path / f"en-de.{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    register(Dummy({row[0]: row[1] for row in SENTENCES}.__getitem__), ["by-hand"])
    (tmp_path / "words.tsv").write_text("spring\tFeder\n", encoding="utf-8")
    parsers = {lang: str(data_folder / "models" / f"{lang}_ud_sm") for lang in ("en", "de")}
    return DisambiguationParams(
        models=["by-hand"], lexicon=str(tmp_path / "en-de.key.txt"), parsers=parsers, training_pairs=20,
        training_corpus="sandbox-homographs:train", test_corpora=[f"moses:{tmp_path}/{{src}}-{{tgt}}.{{text|ref}}.txt"],
        aligner=f"lexicon:{tmp_path}/words.tsv", hypothesis_aligner=f"lexicon:{tmp_path}/words.tsv", n_pairs=None,
        min_tokens=3, bleu_pairs=0, masked_lm=None, causal_lm=None,
    )  # fmt: skip


def test_the_suites_score_counts_every_sentence(params):
    assert STUDY.read(params, "mucow")["verdict"].tolist() == [row[4] for row in SENTENCES]
    other = params.model_copy(update={"lexicon": "own"})
    assert STUDY.read(other, "mucow").empty and STUDY.read(other, "mucow_items").empty


def test_the_page_shows_both_scores(params, monkeypatch, tmp_path):
    page = run_page("disambiguation/models", params.model_dump(), tmp_path / "out", monkeypatch)
    row = page.frame("mucow").iloc[0]
    assert (row["n"], row["right"], row["wrong"], row["neither"]) == (5, 2, 2, 1)
    assert (row["precision"], row["recall"], row["f1"]) == (0.5, pytest.approx(2 / 3), pytest.approx(4 / 7))
    assert row["low"] <= row["share"] <= row["high"] or row["decided"] == 0


def test_a_key_needs_as_many_sentences(params, tmp_path):
    for name in ("text", "ref"):
        with (tmp_path / f"en-de.{name}.txt").open("a", encoding="utf-8") as file:
            file.write("One more.\n")
    with pytest.raises(NbkitError, match=r"6 sentences for 5 items of en-de\.key\.txt"):
        STUDY.read(params, "mucow_items")
