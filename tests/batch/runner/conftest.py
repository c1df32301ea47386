"""A toy study in a folder of its own, with everything it remembers."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from nbkit.studies import STUDIES


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: ``toy_study.py`` and what it imports, ``notebooks/toy/``, and a store of its own."""
    folder = tmp_path / "toy"
    shutil.copytree(Path(__file__).parent / "toy", folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    monkeypatch.setenv("NBKIT_CACHE", str(folder / "cache"))
    monkeypatch.setenv("TOY_LOG", str(folder / "log"))
    monkeypatch.delenv("NBKIT_OUTPUT", raising=False)
    for module in ("toy_study", "toy_letters"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    STUDIES.register("toy", "toy_study:STUDY", replace=True)
    return folder


# The toy study is no module of tests: it is copied, and imported from there.
collect_ignore = ["toy"]
