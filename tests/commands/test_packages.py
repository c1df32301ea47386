"""Commands and pages of the packages above nbkit: there with the package, else one line that says how to get it."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import CliRunner

import nbkit
from nbkit import registry
from nbkit.cli import main
from nbkit.errors import MissingExtraError
from nbkit.report import site


def points(monkeypatch: pytest.MonkeyPatch, *found: EntryPoint) -> None:
    for module in (registry, site):
        monkeypatch.setattr(module, "entry_points", lambda **wanted: list(found))


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


def test_nbkit_imports_no_package_above():
    for path in Path(nbkit.__file__).parent.rglob("*.py"):
        assert "import nbcards" not in (text := path.read_text(encoding="utf-8")) and "from nbcards" not in text, path
