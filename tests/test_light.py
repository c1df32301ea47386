"""nbkit's base: without torch, spaCy and notebooks it perturbs, validates, judges files, and compares outcomes."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
OURS = ("nbquantities", "nbsandbox", "nbcards", "nbcheck")
RUN = """\
name: light
runs:
  - study: numbers
    params:
      templates: null
      sentences: "tsv:pairs.tsv"
      languages: [de]
      models: ["outputs:SYSTEM/mine.de?source=pairs.en"]
"""


def base() -> Iterator[str]:
    """The distributions that ``pip install nbkit nbcards nbcheck`` has, without extras."""
    places = [ROOT, *(ROOT / "packages" / name for name in OURS)]
    files = [tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8")) for place in places]
    waiting = [line for file in files for line in file["project"]["dependencies"]]
    seen: set[str] = set()
    while waiting:
        wanted = Requirement(waiting.pop())
        name = canonicalize_name(wanted.name)
        if name in seen or name in ("nbkit", *OURS) or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        yield name
        waiting += importlib.metadata.requires(name) or []


@pytest.fixture(scope="module")
def light(tmp_path_factory) -> Callable[..., str]:
    """Runs `nbkit` in an environment that has the base alone; each library is a link to that of this environment."""
    folder = tmp_path_factory.mktemp("light")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")}))
    for name in base():
        for file in importlib.metadata.files(name) or ():
            top = Path(str(importlib.metadata.distribution(name).locate_file(file.parts[0])))
            if not file.parts[0].startswith(("..", "__pycache__")) and not (place / top.name).exists():
                (place / top.name).symlink_to(top)
    for path in (ROOT, *(ROOT / "packages" / name for name in OURS)):
        name = "nbkit" if path == ROOT else path.name
        (place / name).symlink_to(path / name)
        info = importlib.metadata.distribution(name).locate_file("")
        [made] = Path(str(info)).glob(f"{name}-*.dist-info")
        (place / made.name).symlink_to(made)
    python = folder / "venv/bin/python"

    def run(*arguments: str, code: int = 0) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NBKIT_", "PYTHON"))}
        environment = {**kept, "HOME": str(folder), "NBKIT_CACHE": str(folder / "cache")}
        done = subprocess.run(
            [python, "-m", "nbkit", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    lines = [("I saw 12 dogs.", "Ich sah 12 Hunde."), ("She has 30 cats.", "Sie hat 30 Katzen.")] * 3
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in lines), encoding="utf-8")
    (folder / "pairs.en").write_text("".join(f"{a}\n" for a, _ in lines), encoding="utf-8")
    for number, system in enumerate(("one", "two")):
        translations = [b.replace("30", "13") if number else b for _, b in lines]
        (folder / system).mkdir()
        (folder / system / "mine.de").write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")
        (folder / f"{system}.yaml").write_text(RUN.replace("SYSTEM", system), encoding="utf-8")
    return run


def test_no_big_library_is_among_the_dependencies():
    assert not {*base()} & {"torch", "transformers", "spacy", "jupyterlab", "matplotlib", "seaborn", "pingouin"}


@pytest.mark.thorough
def test_it_perturbs_and_checks_files(light):
    assert "could he said Tom" in light("perturb", "Tom said he could", "--only", "reversed")
    found = light("check-numbers", "pairs.en", "two/mine.de", "--pair", "en-de", code=1)
    assert "two/mine.de:2: 30 ≠ 13 (value)" in found and "numbers differ in 3 of 6 lines" in found


@pytest.mark.thorough
def test_it_validates_computes_outcomes_and_compares(light):
    light("validate", "one.yaml")
    for system in ("one", "two"):
        light("outcomes", f"{system}.yaml", "--output", f"{system}.parquet")
    compared = light("compare", "one.parquet", "two.parquet")
    assert "en→de: No difference could be shown in texts with all quantities right" in compared


def test_what_is_missing_is_named_with_its_extra(light):
    [where] = light("translate", "pairs.en", "--system", "sandbox", "--pair", "en-de", code=2).splitlines()
    assert where.startswith("nbkit: model 'sandbox' needs the package transformers: pip install \"nbkit[models]\"")
    assert "this needs the package" in light("run", "one.yaml", code=2)
