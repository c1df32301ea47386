"""Store keys of ninety-five names are what they always were: warm stores stay warm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.models import names


def test_keys_of_ninety_five_names_are_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for variable, value in names.ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    names.place_files(tmp_path)
    names.register_all()
    frozen = json.loads(names.FROZEN.read_text(encoding="utf-8"))
    found = dict(names.keys())
    for place, key in frozen["keys"].items():
        assert found[place] == key, place
    assert {place: names.digest(key) for place, key in found.items()} == frozen["digests"]
