"""A campaign: fifty times the runner is killed at any moment; what it leaves, the next run completes."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from nbkit.batch.params import entries, parse
from tests.batch.runner.test_run import GO

KILLS = 50
GRID = "name: toys\nruns:\n  - {study: toy, params: {words: [eins, zwei], n: 30, delay: 0.02}, notebooks: [summary]}\n"


def start(toy: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "go.py", GRID]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=toy)


def is_killed(process: subprocess.Popen[str], after: float) -> bool:
    """Whether a run was killed, with all that it had started, or ended before that; it must not fail."""
    try:
        _, errors = process.communicate(timeout=after)
        assert process.returncode == 0, errors
        return False
    except subprocess.TimeoutExpired:
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        assert psutil.wait_procs(family, timeout=60)[1] == [], "something outlives the runner"
        return True


def results(toy: Path) -> dict[str, Any]:
    """All that a finished run has: tables of the store, of its pages, and outcomes."""
    (entry,) = entries(parse(GRID))
    output = toy / "outputs" / "toys"
    pages = {path.relative_to(output).as_posix(): path.read_text() for path in sorted(output.glob("tables/*/*"))}
    tables = {table.name: entry.study.read(entry.params, table.name) for table in entry.study.tables}
    return {**pages, **tables, "file": pd.read_parquet(output / "outcomes" / "toy.parquet")}


@pytest.mark.thorough
def test_fifty_kills_change_no_table(toy):
    (toy / "go.py").write_text(GO)
    began = time.monotonic()
    assert not is_killed(start(toy), 600)
    whole, wanted = time.monotonic() - began, results(toy)
    draw, kills, rounds = random.Random(42), 0, 0
    while kills < KILLS or rounds == 0:
        for folder in ("cache", "outputs"):
            shutil.rmtree(toy / folder, ignore_errors=True)
        for _ in range(2 * KILLS):
            if kills == KILLS or not is_killed(start(toy), draw.uniform(0, whole)):
                break
            kills += 1
        assert not is_killed(start(toy), 600)
        rounds += 1
        found = results(toy)
        assert found.keys() == wanted.keys()
        for name, table in wanted.items():
            if isinstance(table, str):
                assert found[name] == table, name
            else:
                pd.testing.assert_frame_equal(found[name], table, check_exact=True, obj=name)
        assert not list((toy / "cache").rglob("*.damaged"))
