"""Commands and pages of the packages above nbkit: there with the package, else one line that says how to get it."""

from __future__ import annotations

import ast
import json
import re
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import CliRunner

import nbkit
from nbkit import registry
from nbkit.cli import main
from nbkit.errors import MissingExtraError
from nbkit.report import site

DOCS = Path(__file__).parents[2] / "docs/api.md"


def points(monkeypatch: pytest.MonkeyPatch, *found: EntryPoint) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: list(found))


def test_without_its_package_a_command_says_how_to_install_it(monkeypatch):
    points(monkeypatch)
    for arguments in (["card", "mine", "--pair", "en-de"], ["compare", "a", "b", "--fail-if", "numbers < 0"]):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 2 and done.stderr == (
            f"nbkit: '{arguments[0]}' comes with the package nbcards: pip install its wheel beside nbkit's, or "
            "packages/nbcards of the checkout\n"
        )
    assert "Comes with the package nbcards" in CliRunner().invoke(main, ["--help"]).output
    with pytest.raises(MissingExtraError, match="'sentences' comes with the package nbcards"):
        nbkit.sentences("outputs/mine")


def test_a_package_that_fails_on_import_is_named_and_the_rest_works(monkeypatch, tmp_path: Path):
    points(monkeypatch, EntryPoint("cards", "nbbroken.index:Index", "nbkit.report"))
    (tmp_path / "run.json").write_text(json.dumps({"title": "Mine", "runs": []}))
    with pytest.warns(UserWarning, match="the package nbbroken.index:Index cannot be imported: ModuleNotFoundError"):
        index = site.build(tmp_path)
    assert "Mine" in index.read_text()
    done = CliRunner().invoke(main, ["compare", "a", "b"])
    assert done.exit_code == 2 and "cannot be imported" in done.stderr


@pytest.mark.parametrize("command", ["test", "check-numbers", "check-outputs"])
def test_without_nbcheck_its_commands_say_how_to_install_it(monkeypatch, command: str):
    points(monkeypatch)
    done = CliRunner().invoke(main, [command, "a", "b", "--pair", "en-de"])
    assert done.exit_code == 2 and done.stderr == (
        f"nbkit: '{command}' comes with the package nbcheck: pip install its wheel beside nbkit's, or "
        "packages/nbcheck of the checkout\n"
    )


def test_without_nbcheck_no_health_is_shown(monkeypatch):
    points(monkeypatch)
    assert registry.find_package("nbkit.health") is None
    points(monkeypatch, EntryPoint("health", "nbbroken.health", "nbkit.health"))
    with pytest.warns(UserWarning, match="the package nbbroken.health cannot be imported"):
        assert registry.find_package("nbkit.health") is None


def test_nbkit_imports_no_package_above():
    for path in Path(nbkit.__file__).parent.rglob("*.py"):
        assert not {name.partition(".")[0] for name in imported(path)} & ABOVE.keys(), path


#: The packages above nbkit, and what they may import beside it and the packages below.
ABOVE = {
    "nbcards": {"click", "jinja2", "markupsafe", "numpy", "pandas", "pyarrow", "pydantic", "scipy"},
    "nbcheck": {"click", "numpy", "pandas", "pydantic", "re2", "regex", "yaml"},
    "nbtrain": {
        "accelerate", "click", "filelock", "numpy", "pydantic", "safetensors", "sentencepiece", "tokenizers", "torch",
        "tqdm", "transformers",
    },
}  # fmt: skip


def imported(path: Path) -> set[str]:
    """What a file imports: modules, and names as ``module.name``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("package", ABOVE)
def test_packages_import_public_names_alone(package):
    """Those that docs/api.md lists, and of other packages only their dependencies."""
    rows = re.findall(r"^\| `(nbkit[\w.]*)` \| (.*) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    public = {module for module, _ in rows}
    for module, names in rows:
        listed = re.findall(r"`(\w+)`", names)
        public |= {f"{module}.{name}" for name in (import_module(module).__all__ if listed == ["__all__"] else listed)}
    below = {"nbquantities", "nbsandbox", package} | ABOVE[package] | set(sys.stdlib_module_names)
    for path in Path(import_module(package).__file__ or "").parent.rglob("*.py"):
        ours, others = set(), set()
        for name in imported(path):
            (ours if name.partition(".")[0] == "nbkit" else others).add(name)
        assert not ours - public, (path.name, sorted(ours - public))
        assert not {name.partition(".")[0] for name in others} - below, path
