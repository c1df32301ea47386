"""docs/adding-a-study.md does what it says: its study is run, rerun, resumed, reported and written down as outcomes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "adding-a-study.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the files that the page has a reader write."""
    folder = tmp_path_factory.mktemp("study")
    study, notebook, _ = blocks("python")
    (run,) = blocks("yaml")
    (folder / "length_study.py").write_text(study, encoding="utf-8")
    (folder / "length.yaml").write_text(run, encoding="utf-8")
    subprocess.run([sys.executable, "-c", notebook], cwd=folder, check=True)
    return folder


def said(folder: Path, *command: str) -> str:
    environment = {**os.environ, "NBKIT_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def nbkit(folder: Path, *arguments: str) -> str:
    return said(folder, "-m", "nbkit", "--plugin", "length_study.py", *arguments)


def test_the_page_does_what_it_says(folder):
    commands = [line.split()[3:] for line in blocks("sh")[0].splitlines()]
    validated, planned, ran, written = (nbkit(folder, *command) for command in commands)
    assert "ready to run" in validated
    assert re.search(r"units of work +3\ntexts +40, of which 0 are stored", planned), planned
    assert "[stage 2 2/2] translate" in ran and "1 notebook executed" in ran and "40 outcomes" in written
    assert (folder / "outputs/length/index.html").is_file()
    (page,) = (folder / "outputs/length/html").rglob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "stutter" in text and '<img alt="Figure: Is anything dropped' in text
    rows = [json.loads(line) for line in (folder / "length.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["system"] for row in rows} == {"echo", "stutter"} and sum(row["count"] for row in rows) == 40
    assert all((row["verdict"] == "fail") == (row["system"] == "stutter") for row in rows)
    again = nbkit(folder, "run", "length.yaml")
    assert "0 notebooks executed, 1 unchanged" in again
    said(folder, "-c", blocks("python")[2])


def test_what_is_remembered_is_not_done_again(folder):
    """Of a longer run, the texts of the shorter one are there."""
    if not (folder / "outputs/length/index.html").is_file():  # the test above did not run in this process
        nbkit(folder, "run", "length.yaml")
    run = (folder / "length.yaml").read_text(encoding="utf-8")
    (folder / "more.yaml").write_text(run.replace("name: length", "name: more").replace("20}", "30}"), encoding="utf-8")
    planned = nbkit(folder, "run", "more.yaml", "--dry-run")
    assert re.search(r"texts +60, of which 40 are stored", planned), planned


def test_it_runs_on_dask(folder):
    pytest.importorskip("distributed")
    run = (folder / "length.yaml").read_text(encoding="utf-8").replace("name: length", "name: elsewhere")
    (folder / "elsewhere.yaml").write_text(run.replace("20}", "25}"), encoding="utf-8")
    nbkit(folder, "run", "elsewhere.yaml", "--executor", "dask", "--workers", "2")
    assert (folder / "outputs/elsewhere/index.html").is_file()


def test_columns_of_outcomes_are_checked_before_a_run_and_by_it(folder, tmp_path):
    """A column that no code names is found before anything runs; one that is too much, when the tables are there."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    code = (folder / "length_study.py").read_text(encoding="utf-8")
    file = tmp_path / "length_study.py"

    def fails(*command: str) -> str:
        environment = {**os.environ, "NBKIT_CACHE": str(folder / "cache")}
        done = subprocess.run(
            [sys.executable, "-m", "nbkit", "--plugin", "length_study.py", *command, "length.yaml"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in (1, 2), done.stdout + done.stderr
        return " ".join((done.stdout + done.stderr).split())

    file.write_text(code.replace("source_language=params.source,", "language=params.source,"), encoding="utf-8")
    message = r"study 'length', outcomes \(length_study.py:\d+\): "
    missing = "the study's code never names the column 'source_language'; add it to each table that the function yields"
    assert re.search(message + missing, said := fails("validate")), said
    strange = "'{}' is not a column of outcomes; did you mean '{}'"  # the page is finished, its outcomes are not
    assert re.search(message + strange.format("language", "source_language"), said := fails("run")), said
    file.write_text(code.replace("reason=fails", "raison=fails"), encoding="utf-8")
    assert re.search(message + strange.format("raison", "reason"), said := fails("run")), said
    record = json.loads((tmp_path / "outputs/length/run.json").read_text(encoding="utf-8"))
    assert record["status"] == "failed" and [each["label"] for each in record["failures"]] == ["outcomes of length"]
