"""The wheels, installed far from the checkout: nbkit with all libraries, and each package with its own alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from zipfile import ZipFile

import pytest

import nbkit

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parent.parent
#: The cheapest page: permutations of a few sentences, which asks no model.
RUN = """\
name: tiny
runs:
  - study: word_order
    params: {languages: [de], models: [], n_pairs: 20, metrics: [bleu]}
    notebooks: [perturbations]
"""


def bare(home: Path) -> dict[str, str]:
    """The variables of this process without those of nbkit and Python, and with another home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NBKIT_", "PYTHON", "VIRTUAL"))}
    return {**kept, "HOME": str(home), "NBKIT_CACHE": str(home / "cache")}


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Path:
    """The wheels of nbkit and of the packages that it imports, built as `make wheel` does, which needs no network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    sources = [ROOT, *sorted((ROOT / "packages").iterdir())]
    done = subprocess.run([*command, "--wheel-dir", folder, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist) -> Path:
    [built] = dist.glob("nbkit-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory) -> Path:
    """An empty environment with the wheels; a .pth file lends it the libraries of this one, not its editable nbkit."""
    place = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    command = [sys.executable, "-m", "pip", "--python", place / "bin/python", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-index", *dist.iterdir()], check=True)
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


@pytest.fixture(scope="module")
def nbkit_of_the_wheel(installed, tmp_path_factory):
    """Run a command of the installed package in another folder, with an empty home and no variables of nbkit's."""
    folder = tmp_path_factory.mktemp("work")
    home = tmp_path_factory.mktemp("home")
    environment = {**bare(home), "HF_HUB_OFFLINE": "1"}

    def run(*arguments: str) -> str:
        command = [installed / "bin/nbkit", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run.folder = folder
    return run


def test_the_wheel_holds_the_package_with_its_data_notebooks_and_run_files(wheel):
    """Every file of the checkout that belongs there, and no test, output or stored result."""
    held = set(ZipFile(wheel).namelist())
    listed = subprocess.run(
        ["git", "ls-files", "nbkit", "notebooks", "params"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    files = listed.stdout.split() or pytest.skip("no git checkout")
    wanted = {
        file if file.startswith("nbkit/") else f"nbkit/_bundle/{file}" for file in files if (ROOT / file).exists()
    }
    assert wanted <= held
    assert {name for name in held - wanted if ".dist-info/" not in name} == set()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in held)


def test_commands_work_without_the_checkout(nbkit_of_the_wheel):
    assert nbkit_of_the_wheel("--version") == f"nbkit {nbkit.__version__}\n"
    assert "opus-mt" in nbkit_of_the_wheel("list", "models")
    assert f"{nbkit.__version__} (installed package)" in nbkit_of_the_wheel("doctor", "--offline")
    assert nbkit_of_the_wheel("validate", "params/demo.yaml") == "params/demo.yaml: ready to run\n"
    nbkit_of_the_wheel("init", "mine")
    assert (nbkit_of_the_wheel.folder / "mine/notebooks/word_order/perturbations.ipynb").is_file()
    assert nbkit_of_the_wheel("validate", "mine/params/demo.yaml") == "mine/params/demo.yaml: ready to run\n"


def test_a_page_is_executed_without_the_checkout(nbkit_of_the_wheel):
    (nbkit_of_the_wheel.folder / "tiny.yaml").write_text(RUN)
    nbkit_of_the_wheel("run", "tiny.yaml", "--offline", "--workers", "1")
    output = nbkit_of_the_wheel.folder / "outputs/tiny"
    assert json.loads((output / "run.json").read_text())["status"] == "done"
    [page] = (output / "html").iterdir()
    assert "Where these results come from" in page.read_text() and str(ROOT) not in page.read_text()


#: What shows that a package works, in an environment that has it and what it names as its dependencies.
WORKS = {
    "nbkit": """
        import sys
        from nbkit.cli import main
        main(["perturb", "Tom said he could", "--only", "reversed"], standalone_mode=False)
        assert "nbcards" not in sys.modules and "torch" not in sys.modules
        """,
    "nbquantities": "",
    "nbsandbox": "",
    "nbcards": """
        import nbcards
        [found] = nbcards.outcomes_at("{root}/packages/nbcards/tests/outcomes/toy.parquet")
        assert len(nbcards.estimates(found, found.behaviour.headline)) == 1
        """,
    "nbcheck": """
        from nbcheck.cli import check_numbers
        open("a.en", "w").write("Two dogs.\\n"), open("a.de", "w").write("Zwei Hunde.\\n")
        check_numbers(["a.en", "a.de", "--pair", "en-de"], standalone_mode=False)
        """,
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> None:
    """Skips where no package index can be reached."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        tmp_path_factory.mktemp("any"),
    ]
    if subprocess.run([*command, "click"], capture_output=True, check=False).returncode:
        pytest.skip("no package index can be reached")


@pytest.mark.parametrize("package", WORKS)
def test_a_package_works_in_an_empty_environment(package, dist, index, tmp_path):
    """With its own dependencies and no others; the blocks of the README of a package below nbkit run."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    pip = [sys.executable, "-m", "pip", "--python", place / "bin/python", "install", "--quiet", "--find-links", dist]
    installed = subprocess.run([*pip, package], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    code = textwrap.dedent(WORKS[package]).replace("{root}", str(ROOT))
    if not code:
        readme = (ROOT / "packages" / package / "README.md").read_text(encoding="utf-8")
        [code] = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    command = [place / "bin/python", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=bare(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_nbtrain_works_beside_nbkit(installed, tmp_path):
    """Torch and transformers are lent by this environment: an index has them in several gigabytes."""
    command = [installed / "bin/nbkit", "train", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=bare(tmp_path))
    assert done.returncode == 0 and "translator" in done.stdout, done.stderr
