"""What the project's own files promise: the README's snippets run, and conda gets what pip gets."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent


def snippets() -> list[str]:
    """The Python blocks of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [
        textwrap.dedent(block) for block in re.findall(r"^ *```python\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    ]


def test_snippets_of_the_readme_run():
    """All of them in one process of their own, but for what would train a model."""
    code = "\n".join(snippets())
    assert "word_order.preference(params)" in code and "first_to_last" in code
    code = code.replace("word_order.preference(params)", "assert params.n_pairs == 100")
    code += """
from nbkit.measure import Kappa
mine = load_metric("shared_words")
assert isinstance(mine, Kappa) and mine.scores(["a b c", ""], ["b c d", ""], "en").tolist() == [0.5, 0.0]
print(pair.source.joined)
print(pair.source.reorder(perturb_text(pair.source, "first_to_last")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    given, moved = (line.split() for line in done.stdout.splitlines()[-2:])
    assert moved == [*given[1:-1], given[0], given[-1]]


def test_conda_gets_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[\[<>=,]", line)[0].replace("-", "_") for line in project["dependencies"]}
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    from_pip = next(line["pip"] for line in environment if isinstance(line, dict))
    lines = [line for line in environment if isinstance(line, str)] + from_pip
    there = {re.split(r"[<>=]", line)[0].replace("-", "_") for line in lines}  # conda has huggingface_hub
    assert wanted - {"torch"} <= there
    (torch,) = (line for line in project["dependencies"] if line.startswith("torch=="))
    assert f"pytorch-cpu={torch.removeprefix('torch==')}" in environment


PINS = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("package", PINS)
def test_pins_can_be_installed_by_the_oldest_python(package):
    """Debian 12 has Python 3.11.2: a pin that asks for a later 3.11 makes the whole setup fail there."""
    try:
        needed = importlib.metadata.metadata(package).get("Requires-Python")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{package} is not installed here")
    assert SpecifierSet(needed or "").contains("3.11.2")
