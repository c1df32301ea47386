"""Two grids at the same time, in processes of their own, on one store."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from nbkit.batch.params import entries, parse
from tests.batch.runner.test_run import GO, computed

GRID = "name: {}\nruns:\n  - {{study: toy, params: {{words: [{}], n: 60, delay: 0.05}}, notebooks: [summary]}}\n"


@pytest.mark.thorough
def test_two_grids_on_one_store_end_as_each_would_alone(toy):
    (toy / "go.py").write_text(GO)
    grids = {"forth": "eins, zwei", "back": "zwei, eins"}
    running = [
        subprocess.Popen(
            [sys.executable, "go.py", GRID.format(name, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=toy,
        )
        for name, words in grids.items()
    ]  # fmt: skip
    try:
        for process in running:
            printed, errors = process.communicate(timeout=900)  # a slow machine is not a hang
            assert process.returncode == 0, errors
            assert printed.split() == ["1", "0", "0"]
    finally:
        for process in running:
            process.kill()
    # A text that both were at was computed by both, at worst; nothing is missing, and nothing is another's.
    assert len(computed(toy)) == 120 and max(computed(toy).values()) <= 2
    for name in grids:
        (cell,) = json.loads((toy / "outputs" / name / "notebooks" / "toy.summary.ipynb").read_text())["cells"][-1:]
        assert ast.literal_eval("".join(cell["outputs"][0]["data"]["text/plain"])) == {"eins": 240, "zwei": 240}
    (entry,) = entries(parse(GRID.format("forth", "eins, zwei")))
    assert entry.study.read(entry.params, "letters")["letters"].tolist() == [4] * 120
    assert not list((toy / "cache").rglob("*.damaged")) and not list((toy / "cache").rglob(".tmp-*"))
