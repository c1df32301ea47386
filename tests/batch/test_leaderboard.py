"""Leaderboards: who is ranked, by what, and what the order is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbkit.batch.health import ranks
from nbkit.measure.health import check_outputs
from nbkit.report import leaderboard
from nbkit.studies import numbers
from nbkit.studies.behaviours import Measure, Read, behaviour_of
from nbkit.studies.comparison import ranked
from tests.studies.long_files import write_outcomes

from ..studies.comparison_cases import numbers_of

CARRIED = behaviour_of(numbers.STUDY).measures["carried"]


def systems(**shares: float) -> pd.DataFrame:
    """Outcomes of systems that get this share of 200 sentences right, the same ones first."""
    parts = [
        numbers_of(
            [float(i < 200 * share) for i in range(200)], system.replace("_", "-"), measure="carried", texts=False
        )
        for system, share in shares.items()
    ]
    return pd.concat(parts, ignore_index=True)


def chrf_of(**scores: int) -> pd.DataFrame:
    """Outcomes of chrF: of 100 n-grams of each order so many match."""
    rows = [
        numbers_of([score / 100], name.replace("_", "-"), measure="chrf", texts=False, sums=[100, 100, score] * 6)
        for name, score in scores.items()
    ]
    return pd.concat(rows, ignore_index=True)


def test_ranks_say_what_is_significant():
    board = ranked(systems(a=1.0, b=0.99, c=0.8, d=0.8), CARRIED)
    assert list(board["system"]) == ["a", "b", "c", "d"]
    assert list(zip(board["first"], board["last"], strict=True)) == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert list(board["tied"]) == [True, True, False, False]
    assert set(board["tests"]) == {4}  # a and b differ in two sentences, c and d in none: these cannot be significant


def test_lower_may_be_better_and_undecided_items_do_not_count():
    found = systems(a=1.0, b=0.5, c=0.2)
    lower = CARRIED.model_copy(update={"better": "lower"})
    assert list(ranked(found, lower)["system"]) == ["c", "b", "a"]
    assert list(ranked(found, lower)["first"]) == [1, 2, 3]
    found.loc[(found["system"] == "c") & (found["value"] == 0), "value"] = np.nan
    board = ranked(found, CARRIED).set_index("system")
    assert board.loc["c", "value"] == 1 and board.loc["c", "undecided"] == 160
    assert board.loc["c", "last"] == 3 and board.loc["a", "last"] == 2  # on the 40 items that b has, too, c is as good


def test_directions_are_ranked_apart():
    found = pd.concat([systems(a=1.0, b=0.5, c=0.5), systems(a=0.5, b=1.0, c=0.5).assign(target_language="fr")])
    board = ranked(found, CARRIED)
    best = board[board["tied"]].set_index("target_language")["system"]
    assert best.to_dict() == {"de": "a", "fr": "b"}


def written(tmp_path: Path, *found: pd.DataFrame) -> dict[str, Path]:
    path = tmp_path / "numbers.parquet"
    write_outcomes(found, path, "parquet")
    return {"numbers": path}


def test_only_measures_that_were_found_precise_have_a_board(tmp_path: Path):
    found = systems(a=1.0, b=0.9, c=0.8)
    files = written(tmp_path, pd.concat([found, found.assign(measure="strict"), found.assign(target_language="nl")]))
    [board] = leaderboard.boards(files, {"numbers": "numbers"})
    assert board.measure.measure == "carried" and board.direction == "en→de" and board.read.of >= 20
    assert Measure(label="", measure="", reading="", answer={"above": ""}).precision("en", "de") is None
    few = [Read(right=84, of=100)]
    assert few[0].right < leaderboard.BAR * few[0].of


def test_two_systems_are_no_leaderboard(tmp_path: Path):
    assert leaderboard.boards(written(tmp_path, systems(a=1.0, b=0.9)), {"numbers": "numbers"}) == []


def test_correlation_with_chrf_with_and_without_outliers(tmp_path: Path):
    found = systems(a=0.99, b=0.97, c=0.96, d=0.95, e_1=0.2, reference=1.0)
    scores = chrf_of(a=50, b=51, c=52, d=53, e_1=20, reference=100)
    [board] = leaderboard.boards(written(tmp_path, scores, found), {"numbers": "numbers"})
    whole, without = board.correlations()
    assert whole.startswith("All systems: ρ = ") and "n = 5" in whole
    assert without.startswith("Without outliers (e-1): ρ = −1.00") and "n = 4" in without
    shown = {row["system"]: row for row in board.shown()}
    assert shown["reference"]["people"] and shown["reference"]["chrf_text"] == "–" != shown["e-1"]["chrf_text"]


@pytest.mark.parametrize(("scores", "odd"), [({}, []), ({"a": 1.0, "b": 1.0, "c": 9.0}, []), ({"a": 5.0}, [])])
def test_no_outliers_without_a_spread(scores, odd):
    assert leaderboard.outliers(scores) == odd


def test_the_health_of_outputs_is_ranked():
    sources = [f"This is sentence number {i} of them all." for i in range(60)]
    good = [f"Das ist Satz Nummer {i} von allen." for i in range(60)]
    outputs = {"good": good, "fine": good, "other": good, "bad": ["" if i % 3 else each for i, each in enumerate(good)]}
    found = pd.DataFrame(check_outputs(sources, outputs, "en", "de"), columns=["system", "line", "kind", "evidence"])
    board = ranks(found, list(outputs), sources, "en", "de").set_index("system")
    assert board.loc["good", "value"] == 1 and board.loc["bad", "value"] == pytest.approx(1 / 3)
    assert board["tied"].to_dict() == {"good": True, "fine": True, "other": True, "bad": False}
