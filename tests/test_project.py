"""What the project's own files promise: the README's snippets run, and conda gets what pip gets."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from nbkit.batch.params import entries, parse
from nbkit.measure import METRICS
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
from nbkit.numbers import find_numbers, find_quantities, write_number
from nbkit.perturb import PERTURBATIONS

ROOT = Path(__file__).parent.parent


def snippets(page: str = "README.md", language: str = "python") -> list[str]:
    """The blocks of a page that are in one language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


GUIDES = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("adding-*.md"))
GUIDES.remove("docs/adding-a-study.md")  # whose blocks are files: see test_adding_a_study.py


@pytest.mark.thorough
@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_runs(page, tmp_path):
    """All Python blocks in order, in an empty folder with an empty store; then run files know what these registered."""
    code = snippets(page)
    runs = [block for block in snippets(page, "yaml") if re.search("^runs:", block, re.MULTILINE)]
    for number, block in enumerate(runs):
        (tmp_path / f"run{number}.yaml").write_text(block, encoding="utf-8")
        code.append(f"from nbkit.cli import main\nmain(['validate', 'run{number}.yaml'], standalone_mode=False)\n")
    (tmp_path / "guide.py").write_text("\n".join(code), encoding="utf-8")
    environment = {**os.environ, "NBKIT_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "guide.py"], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= 120
    assert f"({page})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_plug_in_of_the_guide_is_quiet_and_valid(tmp_path):
    """The blocks that are marked as the plug-in, alone, are all that the guide's run file needs."""
    page = "docs/adding-a-perturbation.md"
    blocks = [block for block in snippets(page) if block.startswith("# my_perturbations.py")]
    (tmp_path / "my_perturbations.py").write_text("\n".join(blocks), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(snippets(page, "yaml")[0], encoding="utf-8")
    command = [sys.executable, "-m", "nbkit", "--plugin", "my_perturbations.py", "validate", "mine.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("mine.yaml: ready to run\n", "")


@pytest.mark.parametrize("page", GUIDES)
def test_entry_points_of_a_guide_are_of_a_registry(page):
    kinds = {
        registry.kind.replace(" ", "_") for registry in (CLASSIFIERS, LANGUAGE_MODELS, METRICS, MODELS, PERTURBATIONS)
    }
    for block in snippets(page, "toml"):
        groups = tomllib.loads(block)["project"]["entry-points"]
        assert {group.removeprefix("nbkit.") for group in groups} <= {*kinds, "study"}


def test_number_rules_of_the_guide_read_and_write(tmp_path, monkeypatch):
    """In a folder of one's own, the rules do what the page says of them."""
    run, rules = snippets("docs/adding-a-language.md", "yaml")
    (entry,) = entries(parse(run))
    assert entry.params.parsers.keys() == {"en", "pt"}
    (tmp_path / "sv.yaml").write_text(rules, encoding="utf-8")
    monkeypatch.setenv("NBQUANTITIES_LANGUAGES", str(tmp_path))
    found = find_numbers("1 234,50 euro, tjugofem personer, 1,5 miljoner", "sv")
    assert [str(number.value) for number in found] == ["1234.50", "25", "1500000"]
    assert write_number(1234, "sv", "words") == "etttusen tvåhundratrettiofyra"
    (quantity,) = find_quantities("kl. 10:30", "sv")  # without words of its own
    assert (quantity.value, quantity.kind) == (630, "clock")
    modules = [module for name, module in sys.modules.items() if name.startswith("nbquantities")]
    for kept in {id(each): each for module in modules for each in vars(module).values()}.values():
        if hasattr(kept, "cache_clear"):  # Swedish has no rules again
            kept.cache_clear()


def test_conda_gets_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in ("models", "notebooks", "parse") for line in extras[name])]
    wanted = {re.split(r"[\[<>=,]", line)[0].replace("-", "_") for line in lines}
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    from_pip = next(line["pip"] for line in environment if isinstance(line, dict))
    lines = [line for line in environment if isinstance(line, str)] + from_pip
    names = [line.removeprefix("-e packages/") for line in lines]
    there = {re.split(r"[<>=]", name)[0].replace("-", "_") for name in names}  # conda has huggingface_hub
    assert wanted - {"torch"} <= there
    [torch] = re.findall(r"^torch==([\d.]+)$", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"pytorch-cpu={torch}" in environment


def test_pins_can_be_installed_by_the_oldest_python():
    """Debian 12 has Python 3.11.2: a pin that asks for a later 3.11 makes the whole setup fail there."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    installed = {canonicalize_name(each.metadata["Name"]): each.metadata for each in importlib.metadata.distributions()}
    needed = {name: installed[name].get("Requires-Python") or "" for name in pins & installed.keys()}
    assert len(needed) > len(pins) / 2
    assert not {name: version for name, version in needed.items() if not SpecifierSet(version).contains("3.11.2")}


def test_nothing_but_the_project_is_tracked():
    """What a run writes by accident is seen before it is committed for good."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    tracked = [name for name in listed.stdout.split("\0") if name]
    rooms = {name.partition("/")[0] for name in tracked if "/" in name}
    assert rooms == {".ci", "benchmarks", "docs", "nbkit", "notebooks", "outputs", "packages", "params", "tests"}
    assert [name for name in tracked if name.startswith("outputs/")] == ["outputs/README.md"]
    made = {".parquet", ".arrow", ".pyc", ".log", ".zip"}
    assert not [name for name in tracked if Path(name).suffix in made and "tests/" not in name]
