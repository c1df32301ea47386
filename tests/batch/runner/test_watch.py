"""A run can be watched: its report is there after the first page, and stays fresh."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbkit.batch.params import parse
from nbkit.batch.run import run


@pytest.mark.thorough
def test_the_report_is_shown_once_after_the_first_page(toy):
    seen: list[tuple[int, str]] = []

    def watch(index: Path) -> None:
        record = json.loads((index.parent / "run.json").read_text())
        seen.append((len(list((index.parent / "html").iterdir())), record["status"]))
        assert 'http-equiv="refresh"' in index.read_text()

    grid = parse("name: toys\nruns:\n  - {study: toy, params: {words: [eins, zwei]}, notebooks: [letters, summary]}\n")
    summary = run(grid, workers=1, watch=watch)
    assert seen == [(1, "running")]
    assert summary.report is not None and 'http-equiv="refresh"' not in summary.report.read_text()
    again: list[Path] = []
    run(grid, workers=1, watch=again.append)  # nothing is left to do: the report is shown all the same
    assert again == [summary.report]
