"""Ranks: which systems, by which measures, and what the order is worth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cards_cases import numbers_of, tidy, write_outcomes

from nbcards import ranks as leaderboard
from nbcards.paired import ranked as ranked_outcomes
from nbcheck.health import declared_measure
from nbkit.report.site import build
from nbkit.studies import numbers
from nbkit.studies.behaviours import Measure, Read, behaviour_of

CARRIED = behaviour_of(numbers.STUDY).measures["carried"]


def ranked(found: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    return ranked_outcomes(tidy(found), measure)


def systems(**shares: float) -> pd.DataFrame:
    """Outcomes of systems that get this share of 200 sentences right, the same ones first."""
    parts = [
        numbers_of(
            [float(i < 200 * share) for i in range(200)], system.replace("_", "-"), measure="carried", texts=False
        )
        for system, share in shares.items()
    ]
    return pd.concat(parts, ignore_index=True)


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


@pytest.mark.thorough
def test_a_thousand_systems_are_ordered_and_not_tested():
    board = ranked(systems(**{f"s{n}": (n % 11) / 10 for n in range(1000)}), CARRIED)
    assert len(board) == 1000 and board["value"].is_monotonic_decreasing
    assert set(board["first"]) == {1} and set(board["last"]) == {1000} and set(board["tests"]) == {0}


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
    [board] = leaderboard.boards(files)
    assert board.measure.measure == "carried" and board.direction == "en→de" and board.read.of >= 20
    assert Measure(label="", measure="", reading="", answer={"above": ""}).precision("en", "de") is None
    few = [Read(right=84, of=100)]
    assert few[0].right < leaderboard.BAR * few[0].of


def test_two_systems_are_not_ranked(tmp_path: Path):
    assert leaderboard.boards(written(tmp_path, systems(a=1.0, b=0.9))) == []


def test_the_index_has_one_table_of_ranks(tmp_path: Path):
    for room in ("cells", "notebooks", "outcomes"):
        (tmp_path / room).mkdir()
    grid = {"name": "numbers", "study": "numbers", "params": {"models": ["a", "b", "c"]}}
    (tmp_path / "run.json").write_text(json.dumps({"status": "done", "title": "Mine", "runs": [grid]}))
    written(tmp_path / "outcomes", systems(a=0.99, b=0.97, e_1=0.2, reference=1.0))
    page = build(tmp_path).read_text(encoding="utf-8")
    table = page[page.index('id="ranks"') : page.index("</details>", page.index('id="ranks"'))]
    assert table.count("<tr>") == 5 and "<strong>a</strong>" in table and ">20.0%<" in table
    assert table.count(">people<") == 1 and ">1–2<" in table and ">4<" in table
    assert "of the failures that a reader checked" in table and not (tmp_path / "leaderboard.html").exists()


def test_the_health_of_outputs_is_ranked():
    good, bad = [], [line for line in range(1, 61) if (line - 1) % 3]
    flagged = {"good": good, "fine": good, "other": good, "bad": bad}
    named = [{"system": name, "flagged": lines} for name, lines in flagged.items()]
    health = {
        "file": "a.en", "source": "en", "target": "de", "clusters": [*range(60), None], "systems": named,
        "measure": declared_measure(),
    }  # fmt: skip
    outcomes = leaderboard.health_outcomes(health)
    board = ranked_outcomes(outcomes, outcomes.behaviour.headline).set_index("system")
    assert board.loc["good", "value"] == 1 and board.loc["bad", "value"] == pytest.approx(1 / 3)
    assert board["tied"].to_dict() == {"good": True, "fine": True, "other": True, "bad": False}
    [shown] = leaderboard.boards({}, [health])
    assert (shown.name, shown.title, shown.direction) == ("a.en", "Health of the outputs", "en→de")
