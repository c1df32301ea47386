"""How far a training is: what a log file gets of it."""

from __future__ import annotations

import pytest

from nbkit import progress
from nbtrain import train_translator
from tests.models.small_recipes import tiny, write_words

pytestmark = pytest.mark.thorough


@pytest.fixture
def corpus(tmp_path):
    return write_words(tmp_path / "words.tsv")


@pytest.fixture(autouse=True)
def _bars_are_not_forbidden(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.parametrize("seconds", [30.0, 0.0])
def test_training_says_what_it_takes_in_lines_that_name_the_model(corpus, tmp_path, capfd, monkeypatch, seconds):
    monkeypatch.setattr(progress, "SECONDS_A_LINE", seconds)
    train_translator(tiny(corpus), tmp_path / "my-model")
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == (2 if seconds else 8)
    assert all(line.startswith("train my-model: ") for line in lines)
    assert lines[0].startswith("train my-model: 6 steps of ")
    assert lines[-1].startswith("train my-model: 6/6 steps, ")
