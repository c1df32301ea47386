"""Lines that are shifted or exchanged against their sources: found where planted, no alarm on what systems wrote."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import pytest

from nbcheck.shifts import first_exchange, first_shift
from nbkit.models.services.outputs import read_lines, read_pairs


@pytest.mark.thorough
def test_no_alarm_on_real_outputs_and_planted_faults_are_found(data_folder):
    """Systems and references of all directions of WMT; in four of each, one line lost, put in or exchanged, anywhere.

    Where two lines alike in length share no number or name with their sources, an exchange of them cannot be seen.
    """
    found, exchanged, draw = [], [], random.Random(0)
    for folder in sorted(data_folder.glob("wmt/wmt2[23]/*")):
        src, tgt = folder.name.split("-")
        paths = [*folder.glob(f"systems/*.{tgt}"), *folder.glob(f"reference-*.{tgt}")]
        assert len(paths) > 4
        sources = read_lines(folder / f"source.{src}")
        for path in paths:
            read_pairs(folder / f"source.{src}", path)
        for path in draw.sample(paths, 4):
            lines = read_lines(path)
            place, extra = draw.randrange(len(lines) - 1), draw.choice(lines)
            lost = [*lines[:place], *lines[place + 1 :], extra]
            shift = first_shift(sources, lost if draw.random() < 0.5 else [*lines[:place], extra, *lines[place:-1]])
            found.append(shift is not None and abs(shift.line - 1 - place) <= 20)
            swapped = [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]]
            exchanged.append(first_exchange(sources, swapped) == place + 1)
    assert len(found) == 72 and sum(found) >= 0.95 * len(found)
    assert sum(exchanged) >= 0.4 * len(exchanged)


def test_an_exchange_needs_both_lines_to_say_so():
    """One line that fits the other's source as well as its own is no exchange; neither are equal lines."""
    sources = [f"Number {n} and {n * n}, {'long ' * (n % 7)}." for n in range(1, 90)]
    assert first_exchange(sources, sources) is None
    for lines in (
        [*sources[:40], sources[41], *sources[41:]],  # the same translation twice
        [*sources[:40], f"{sources[40]} {sources[41]}", *sources[41:]],
        [*sources[:40], "", *sources[41:]],
    ):
        assert first_exchange(sources, lines) is None
    assert first_exchange(sources, [*sources[:40], sources[41], sources[40], *sources[42:]]) == 41
    assert first_exchange([], []) is None and first_exchange(["a", "b"], ["b", "a"]) is None


@pytest.mark.thorough
def test_checking_a_long_file_takes_little_memory_beside_its_texts(tmp_path: Path):
    """Words of lines as sets took 10 kB a line; lines and sources themselves are about 400 bytes here."""
    rng = random.Random(1)
    words = [f"w{number:05d}" for number in range(3000)]
    text = "".join(f"{' '.join(rng.choices(words, k=15))}\n" for _ in range(20_000))
    for name in ("source.en", "mine.de"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    tracemalloc.start()
    try:
        assert read_pairs(tmp_path / "source.en", tmp_path / "mine.de").lines == 20_000
        assert tracemalloc.get_traced_memory()[1] < 20_000 * 2_500
    finally:
        tracemalloc.stop()
