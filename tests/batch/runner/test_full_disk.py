"""Grids on disks that are really full: the run stops with a message, and goes on once there is room."""

from __future__ import annotations

import json

import pytest

from tests.batch.runner.test_run import computed
from tests.small_disk import run_on_small_disk

GRID = "name: toys\nruns:\n  - {study: toy, params: {words: [eins, zwei, drei], n: 60}, notebooks: [summary]}\n"
PAGES = "name: toys\nruns:\n  - {study: toy, params: {words: [eins, zwei], n: 20}, notebooks: [letters]}\n"

PROGRAM = """
from nbkit.studies import STUDIES

STUDIES.register("toy", "toy_study:STUDY")
from nbkit.report import site as report
from nbkit.batch.params import parse
from nbkit.batch.run import run
from nbkit.errors import NbkitError

def refused(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except NbkitError as error:
        print("told:", error)
    else:
        raise SystemExit("it fitted")

def go():
    return run(parse(sys.argv[2]), workers=1, output=sys.argv[3])

if __name__ == "__main__":
"""


@pytest.mark.thorough
def test_a_full_disk_of_results_stops_the_run_which_goes_on_from_there(toy):
    program = """
    (DISK / "store").mkdir()
    fill(7)
    refused(go)
    BALLAST.unlink()
    summary = go()
    print("done:", len(summary.executed), len(summary.failures))
"""
    disk, output = toy / "disk", toy / "outputs" / "toys"
    done = run_on_small_disk(
        PROGRAM + program, disk, 1024, GRID, str(output), folder=toy, variables={"NBKIT_CACHE": str(disk)}
    )
    assert done.returncode == 0, done.stderr
    error, finished = done.stdout.splitlines()
    assert error.startswith(f"told: toy letters eins from 10: the store cannot write {disk}/store/toy.letters/")
    assert "No space left on device; make room" in error and error.endswith("the same command resumes")
    assert finished == "done: 1 0"
    # What was stored before the disk was full was not computed again; a unit failed, another had been handed over.
    assert len(computed(toy)) == 180 and computed(toy).total() <= 180 + 2 * 10
    assert json.loads((output / "run.json").read_text())["status"] == "done"


@pytest.mark.thorough
def test_a_full_disk_of_outputs_loses_no_results_and_no_finished_page(toy):
    program = """
    output = Path(sys.argv[3])
    output.mkdir()
    fill(6)
    refused(go)
    finished = sorted(path.stem for path in (output / "cells").glob("*.json"))
    BALLAST.unlink()
    summary = go()
    assert sorted(summary.skipped) == finished, (summary.skipped, finished)
    print("done:", len(summary.executed) + len(finished), len(summary.failures))
    page = (output / "index.html").read_text()
    for html in (output / "html").glob("*.html"):
        html.unlink()
    fill(1)
    refused(report.build, output)
    assert (output / "index.html").read_text() == page
    BALLAST.unlink()
    assert report.build(output).is_file() and len(list((output / "html").glob("*.html"))) == 2
"""
    disk = toy / "disk"
    done = run_on_small_disk(PROGRAM + program, disk, 4096, PAGES, str(disk / "toys"), folder=toy)
    assert done.returncode == 0, done.stderr
    error, finished, page = done.stdout.splitlines()
    assert error.startswith(f"told: cannot write to {disk}/toys") and "No space left on device; make room" in error
    assert finished == "done: 2 0" and page.startswith(f"told: cannot write to {disk}/toys/html/")
    assert computed(toy).total() == len(computed(toy)) == 40
