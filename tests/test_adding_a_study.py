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

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).resolve().parents[1] / "docs" / "adding-a-study.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the files that the page has a reader write."""
    folder = tmp_path_factory.mktemp("study")
    study, notebook, _ = blocks("python")
    behaviour, run = blocks("yaml")
    (folder / "behaviour.yaml").write_text(behaviour, encoding="utf-8")
    (folder / "length_study.py").write_text(study, encoding="utf-8")
    (folder / "length.yaml").write_text(run, encoding="utf-8")
    subprocess.run([sys.executable, "-c", notebook], cwd=folder, check=True)
    return folder


def printed(folder: Path, *command: str) -> str:
    environment = {**os.environ, "NBKIT_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def nbkit(folder: Path, *arguments: str) -> str:
    return printed(folder, "-m", "nbkit", "--plugin", "length_study.py", *arguments)


def test_the_page_does_what_it_says(folder):
    commands = [line.split()[3:] for line in blocks("sh")[0].splitlines()]
    validated, planned, ran, written = (nbkit(folder, *command) for command in commands)
    assert "ready to run" in validated
    assert re.search(r"units of work +2\ntexts +40, of which 0 are stored", planned), planned
    assert re.search(r"length outcomes en de \S*stutter", ran) and "1 notebook executed" in ran
    assert "40 outcomes" in written
    assert (folder / "outputs/length/index.html").is_file()
    (page,) = (folder / "outputs/length/html").rglob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "stutter" in text and '<img alt="characters of the translation over those of the source' in text
    rows = [json.loads(line) for line in (folder / "length.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["model"] for row in rows} == {"echo", "stutter"} and len(rows) == 40
    assert all(row["fits"] == (row["model"] == "echo") for row in rows)
    again = nbkit(folder, "run", "length.yaml")
    assert "0 notebooks executed, 1 unchanged" in again
    assert "stutter" in printed(folder, "-c", blocks("python")[2])


def test_what_is_remembered_is_not_done_again(folder):
    """Of a longer run, the texts of the shorter one are there."""
    if not (folder / "outputs/length/index.html").is_file():  # the test above did not run in this process
        nbkit(folder, "run", "length.yaml")
    run = (folder / "length.yaml").read_text(encoding="utf-8")
    (folder / "more.yaml").write_text(run.replace("name: length", "name: more").replace("20}", "30}"), encoding="utf-8")
    planned = nbkit(folder, "run", "more.yaml", "--dry-run")
    assert re.search(r"texts +60, of which 40 are stored", planned), planned


@pytest.mark.thorough
def test_it_runs_on_dask(folder):
    pytest.importorskip("distributed")
    run = (folder / "length.yaml").read_text(encoding="utf-8").replace("name: length", "name: elsewhere")
    (folder / "elsewhere.yaml").write_text(run.replace("20}", "25}"), encoding="utf-8")
    nbkit(folder, "run", "elsewhere.yaml", "--executor", "dask", "--workers", "2")
    assert (folder / "outputs/elsewhere/index.html").is_file()


@pytest.mark.thorough
def test_a_mistake_in_a_table_is_placed(folder, tmp_path):
    """A column that is declared and not made, and a parameter read outside its key, name table, file and line."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    code = (folder / "length_study.py").read_text(encoding="utf-8")

    def fails(changed: str) -> str:
        (tmp_path / "length_study.py").write_text(changed, encoding="utf-8")
        environment = {**os.environ, "NBKIT_CACHE": str(folder / "cache")}
        command = [sys.executable, "-m", "nbkit", "--plugin", "length_study.py", "run", "length.yaml"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        return " ".join((done.stdout + done.stderr).split())

    place = r"length outcomes en de echo \(length_study.py:\d+\): "
    assert re.search(
        place + "no column 'fits', which is declared", out := fails(code.replace("fits=ratio", "fit=ratio"))
    ), out
    marked = code.replace("longest: float", 'longest: Annotated[float, only("other")]').replace(
        "import NOT", "import only, NOT"
    )
    assert "'longest' is read, but it is not in this table's key" in (out := fails(marked)), out
