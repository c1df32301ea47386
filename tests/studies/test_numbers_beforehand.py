"""What is known before a model translates: numbers of its training sentences, and what copying would pass."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from nbkit.studies.answering import Cell
from nbkit.studies.numbers import STUDY, NumbersParams, judge
from nbtrain import TranslatorRecipe

#: Sources with the lengths that they add: whole numbers of 1, 2 and 5 digits, fractions of 2.
SENTENCES = ["It took 7 days.", "Some 42 of 86 came.", "It cost 3.25 euros.", "In all 12345 votes.",
             "He has 1,234,567 books.", "Two dogs."]  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))


def lengths(params: NumbersParams) -> dict[tuple[str, int], int]:
    cells = [Cell("en", "de", model) for model in params.models]
    table = pd.concat([judge.in_training(params, cell, cell.model) for cell in cells])
    return {(places, length): n for places, length, n in table[["places", "length", "n"]].itertuples(index=False)}


@pytest.fixture
def trained(tmp_path: Path) -> str:
    """A folder that says how its model was trained, as `nbkit train` leaves it."""
    corpus = tmp_path / "pairs.tsv"
    corpus.write_text("".join(f"{sentence}\tx\n" for sentence in SENTENCES), encoding="utf-8")
    recipe = TranslatorRecipe(train=str(corpus), pairs=len(SENTENCES), steps=1)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "nbkit.json").write_text(json.dumps({"recipe": recipe.model_dump()}), encoding="utf-8")
    return str(folder)


def test_numbers_in_digits_are_counted_by_their_lengths(trained: str) -> None:
    expected = {("digits", 1): 1, ("digits", 2): 2, ("digits", 5): 1, ("fraction", 2): 1}
    assert lengths(NumbersParams(models=[trained])) == expected


def test_a_model_that_never_sees_numbers_has_no_lengths(trained: str) -> None:
    assert not lengths(NumbersParams(models=[f"placeholder:{trained}"]))


def test_other_peoples_models_have_no_lengths(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    assert not lengths(NumbersParams(models=[str(tmp_path / "theirs"), "opus-mt", "no/such-model"]))


def test_the_sandbox_has_seen_five_digits_and_two_of_a_fraction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "TRAINING_SENTENCES", 200)
    found = lengths(NumbersParams(models=["sandbox-numbers"]))
    assert max(length for places, length in found if places == "digits") == 5
    assert max(length for places, length in found if places == "fraction") == 2


def test_copying_passes_where_both_languages_write_alike() -> None:
    params = NumbersParams(languages=["de", "zh"], models=[], n_numbers=3)
    table = STUDY.read(params, "copies").groupby(["pair", "capability"], sort=False)[["strict", "lenient"]]
    sizes, table = table.size(), table.mean()
    strict, lenient = table["strict"], table["lenient"]
    assert (strict["en→zh"][["integers", "decimals", "separators"]] == 1).all()
    assert strict["en→zh", "numerals"] == 0  # million is no Chinese word
    assert strict["en→de", "integers"] == 1
    # A fraction of three digits reads as thousands in German: two of the six formats are another number.
    assert strict["en→de", "decimals"] == 0 and lenient["en→de", "decimals"] == pytest.approx(4 / 6)
    assert (sizes == [10 * 3, 6 * 3, 5 * 3, 4 * 3] * 2).all()
