"""Estimates rest on what was measured, as far as it was; what was not is named with what is assumed of it."""

from __future__ import annotations

import pytest

from nbkit.batch import duration
from nbkit.batch.duration import Stopwatch, Work, estimate, recall, remember
from nbkit.batch.workers import run_unit
from nbkit.studies.base import Unit
from nbkit.studies.numbers import STUDY as NUMBERS


def unit(model: str = "m", texts: int = 0, left: int = 0, stage: int = 0, label: str = "translate") -> Work:
    return Work.unit(
        Unit(label, "study:translate", {"model": model}, stage, texts, texts - left, left, runs_models=True)
    )


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))


def test_what_was_never_measured_is_named_with_what_is_assumed():
    seconds, assumed = estimate([unit(texts=100, left=50), Work.page("a/b"), Work.page("a/c")], workers=1)
    assert assumed == ("translate 10 texts/s", "a page 5 s", "start and report 15 s")
    rest, page = duration.REST.uncounted, duration.PAGE.uncounted
    assert seconds == rest + duration.FULL_SIZE.seconds(50) + 2 * page
    assert estimate([], 1) == estimate([unit(texts=5)], 1) == (0.0, ())


def test_a_model_that_is_trained_here_is_known_to_be_tiny():
    assert unit("opus-mt").assumed == duration.FULL_SIZE
    assert {unit(name).assumed for name in ("sandbox-marian", "sandbox-wsd-gpt", "sandbox-infersent")} <= {
        duration.TINY, duration.SMALL_CLASSIFIER,
    }  # fmt: skip


def test_a_small_classifier_reads_faster_than_a_translator_writes():
    names = ("sick-infersent", "sandbox-roberta", "infersent", "roberta-large-mnli", "sandbox-marian")
    seconds = {name: unit(name).assumed.seconds(1000) for name in names}
    assert seconds["sick-infersent"] == seconds["sandbox-roberta"] == 6
    assert seconds["sick-infersent"] < seconds["infersent"] < seconds["roberta-large-mnli"]


def test_work_without_a_model_or_of_files_is_quick():
    assert unit("outputs:a.de").assumed == duration.WITHOUT_MODEL
    assert Work.unit(Unit("read", "study:read", {})).assumed == duration.WITHOUT_MODEL


def test_measured_texts_count_by_what_is_not_stored():
    remember({"rest": "of a run"}, 10)
    for texts, seconds in ((100, 12), (600, 62), (1100, 112)):
        remember(unit().kind, seconds, texts)
    found, assumed = estimate([unit(texts=1000, left=400), unit(texts=5)], 2)
    assert found == pytest.approx(10 + 2 + 40) and assumed == ()  # one unit, however many workers
    assert estimate([unit("other", texts=1, left=1)], 1).assumed == ("translate 10 texts/s",)


def test_translations_in_files_are_stored_but_still_have_to_be_judged(tmp_path):
    (tmp_path / "pairs.tsv").write_text("en\tde\nI saw 5 men.\tIch sah 5 Männer.\nYou had 7.\tDu hattest 7.\n")
    (tmp_path / "mine.de").write_text("Ich sah 6 Männer.\nDu hattest 7.\n")
    (tmp_path / "source.en").write_text("I saw 5 men.\nYou had 7.\n")
    params = NUMBERS.params(
        languages=["de"], templates=None, sentences=f"tsv:{tmp_path}/pairs.tsv",
        models=[f"outputs:{tmp_path}/mine.de?source={tmp_path}/source.en"],
    )  # fmt: skip

    def judging() -> Unit:
        (found,) = (each for each in NUMBERS.units(params, count=True) if each.label.startswith("numbers flags"))
        return found

    before = judging()
    assert (before.texts, before.stored, before.left) == (2, 2, 2)
    seconds, assumed = estimate([Work.unit(before)], 1)
    assert seconds > duration.REST.uncounted and assumed == (f"{before.label} 500 texts/s", "start and report 15 s")
    texts, seconds = run_unit(before.function, before.arguments, {})
    assert texts == 2 and judging().left == 0
    Stopwatch().add(Work.unit(before), seconds, texts)
    assert estimate([Work.unit(judging())], 1) == (0.0, ())
    another = Unit("judge another", before.function, {**before.arguments, "model": "outputs:b.de"}, 1, 9, 9, left=9)
    assert recall(Work.unit(another).kind) is not None  # files take as long as each other


def test_one_measurement_of_few_texts_is_mostly_a_start():
    remember(unit().kind, 4, 10)
    assert recall(unit().kind).seconds(10) == pytest.approx(4)
    assert recall(unit().kind).seconds(1000) < 300


def test_a_page_that_was_made_in_any_folder_is_timed_and_others_are_assumed_like_it():
    watch = Stopwatch()
    watch.add(Work.page("a/b"), 4.0)
    watch.add(Work.page("a/c"), 8.0)
    watch.stop(30.0, workers=2)  # 22 more than 8 s of pages on two workers
    assert estimate([Work.page("a/b"), Work.page("a/c")], 2) == (30.0, ())
    assert estimate([Work.page("a/d")], 1) == (28.0, ("a page 6 s",))


def test_stages_wait_for_each_other_and_share_workers():
    remember({"rest": "of a run"}, 0)
    remember(unit("x").kind, 10)
    remember(unit("y").kind, 4)
    works = [unit(name, label=str(n)) for n, name in enumerate("xyyy")] + [unit("x", stage=1)]
    assert estimate(works, 2).seconds == 11 + 10
    assert estimate(works, 8).seconds == 10 + 10


def test_what_entries_share_is_done_once():
    remember({"rest": "of a run"}, 0)
    watch = Stopwatch()
    watch.add(unit(), 90)
    watch.add(unit(), 0.1)  # found trained
    assert estimate([unit(), unit()], 1) == (90.0, ())


def test_a_unit_that_found_all_in_the_store_says_nothing():
    Stopwatch().add(unit(), 0.1, texts=0)
    assert recall(unit().kind) is None


def test_an_unreadable_note_is_no_note(tmp_path):
    remember(unit().kind, 20, 100)
    (note,) = (tmp_path / "throughput").iterdir()
    note.write_text("{")
    assert recall(unit().kind) is None
