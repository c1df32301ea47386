"""Environment variables in paths, and digests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nbkit.errors import NbkitError
from nbkit.files import expand_path, file_digest, folder_digest


def test_variables_and_home_are_filled_in(monkeypatch):
    monkeypatch.setenv("PLACE", "/data")
    monkeypatch.setenv("HOME", "/home/tom")
    assert expand_path("${PLACE}/a/$PLACE", "corpus") == "/data/a//data"
    assert expand_path("~/a", "corpus") == "/home/tom/a"
    assert expand_path("a/b~c", "corpus") == "a/b~c"
    assert expand_path("costs$$5", "corpus") == "costs$5"


def test_what_cannot_be_filled_in_is_named(monkeypatch):
    monkeypatch.delenv("PLACE", raising=False)
    with pytest.raises(NbkitError, match=r"parser '\$PLACE/x': the environment variable PLACE is not set"):
        expand_path("$PLACE/x", "parser")
    with pytest.raises(NbkitError, match=r"the '\$' does not begin a variable"):
        expand_path("5$ a", "corpus")


def test_a_file_of_the_same_size_with_another_content_has_another_digest(tmp_path):
    path = tmp_path / "a"
    path.write_text("one")
    first = file_digest(path)
    assert file_digest(path) == first
    path.write_text("two")
    os.utime(path, ns=(1, 1))
    assert file_digest(path) != first


def test_a_folder_is_its_files_names_and_contents(tmp_path):
    def folder(name: str, files: dict[str, str]) -> Path:
        for file, content in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path / name

    digest = folder_digest(folder("a", {"x": "1", "sub/y": "2"}))
    assert folder_digest(folder("b", {"sub/y": "2", "x": "1"})) == digest
    assert folder_digest(folder("c", {"x": "2", "sub/y": "1"})) != digest
    assert folder_digest(folder("d", {"x": "1", "y": "2"})) != digest
