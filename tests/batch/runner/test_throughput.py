"""Estimates rest on what was measured, as far as it was."""

from __future__ import annotations

import pytest

from nbkit.batch import plan as throughput
from nbkit.studies.base import Unit


def unit(model: str = "m", texts: int = 0, stored: int = 0) -> Unit:
    return Unit("translate", "study:translate", {"model": model}, texts=texts, stored=stored)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))


def test_nothing_measured_gives_a_guess():
    seconds, untimed = throughput.estimate([unit(texts=100, stored=50)], [None], workers=1)
    assert untimed == ("m", "notebooks")
    assert seconds == pytest.approx(50 * throughput.FULL_SIZE.per_text + throughput.SECONDS_PER_NOTEBOOK)


def test_a_model_that_is_trained_here_is_known_to_be_tiny():
    full, tiny = unit("opus-mt", texts=800), unit("sandbox-marian", texts=800)
    assert throughput.estimate([full], [], 1)[0] == 800 * throughput.FULL_SIZE.per_text
    assert throughput.estimate([tiny], [], 1)[0] == 800 * throughput.TINY.per_text
    training = throughput.estimate([unit("sandbox-marian")], [], 1)[0]
    assert training == throughput.TINY.per_unit > throughput.estimate([unit("opus-mt")], [], 1)[0]
    for name in ("sandbox-wsd-gpt", "sandbox-infersent"):
        assert throughput.estimate([unit(name)], [], 1)[0] == throughput.TINY.per_unit


def test_a_small_classifier_reads_faster_than_a_translator_writes():
    seconds = {
        name: throughput.estimate([unit(name, texts=1000)], [], 1).seconds
        for name in ("sick-infersent", "sandbox-roberta", "infersent", "roberta-large-mnli", "sandbox-marian")
    }
    assert seconds["sick-infersent"] == seconds["sandbox-roberta"] == 1
    assert seconds["sick-infersent"] < seconds["infersent"] < seconds["roberta-large-mnli"]


def test_measured_texts_count_by_what_is_not_stored():
    throughput.remember(unit(), seconds=20, texts=100)
    assert throughput.estimate([unit(texts=1000, stored=400), unit(texts=5, stored=5)], [3.0], 2) == (61.5, ())
    assert throughput.estimate([unit("other", texts=1)], [], 1).untimed == ("other",)


def test_units_that_count_nothing_are_known_by_their_time():
    throughput.remember(unit(), seconds=20, texts=None)
    throughput.remember(unit(), seconds=10, texts=None)
    assert throughput.estimate([unit(), unit(texts=10)], [], 1) == (30.0, ())


def test_a_unit_that_found_all_in_the_store_says_nothing():
    throughput.remember(unit(), seconds=0.1, texts=0)
    assert throughput.recall(unit()) is None


def test_an_unreadable_note_is_no_note(tmp_path):
    throughput.remember(unit(), seconds=20, texts=100)
    (note,) = (tmp_path / "throughput").iterdir()
    note.write_text("{")
    assert throughput.recall(unit()) is None
