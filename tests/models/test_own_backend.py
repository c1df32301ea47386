"""A backend is one file and one line in a dictionary: one for names, and one that runs weights."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from nbkit.models import Decoding, answers, ask, check, label, load, missing, model, names
from nbkit.models.model import Input, Model, Record, Task
from nbkit.store import Store


class Reversed(Model):
    """``reversed:TAG``: says every text backwards."""

    def identity(self) -> Record:
        return {"backend": "reversed", "tag": self.reference.name.removeprefix("reversed:")}

    def answers(self, inputs: Sequence[Input]) -> Iterator[tuple[Input, Record]]:
        for (text,) in inputs:
            yield (text,), {"hypothesis": text[::-1]}


class Constant:
    """Weights that have one answer to everything: what its folder is called."""

    def __init__(self, reference: names.Reference, folder: Path):
        self.answer = folder.name

    def answers(self, reference: names.Reference, inputs: Sequence[Input]) -> Iterator[tuple[Input, Record]]:
        for given in reversed(inputs):
            yield given, {"hypothesis": f"{self.answer} {reference.tgt}"}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name by which this module is found."""
    monkeypatch.setitem(sys.modules, "own_backend", sys.modules[__name__])
    return "own_backend"


def test_a_backend_for_names_is_one_line(here: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    translate = model.TASKS["translate"]
    own = Task(**{**vars(translate), "services": (*translate.services, "reversed:")})
    monkeypatch.setitem(model.TASKS, "translate", own)
    monkeypatch.setitem(names.SERVICES, "reversed:", f"{here}:Reversed")
    found, store = load("reversed:1", "translate", "en", "de", decoding=Decoding(beams=1)), Store(tmp_path)
    assert check("reversed:1", "translate", "en", "de") is None and label("reversed:1") == "reversed:1"
    asked = [("abc",), ("de",), ("abc",), (" ",)]
    assert missing(found, asked, store) == [("abc",), ("de",)]
    assert [each["hypothesis"] for each in ask(found, asked, store, progress=False)] == ["cba", "ed", "cba", ""]
    assert missing(found, asked, store) == []
    assert found.key()["model"] == {"translation": 1, "backend": "reversed", "tag": "1"}


def test_a_backend_that_runs_weights_is_one_line(
    here: str, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(answers.NETWORKS, (None, "translate"), f"{here}:Constant")
    found = load(str(checkpoints["marian"]), "translate", "en", "de")
    texts = [(f"text {number}",) for number in range(5)]
    assert {each["hypothesis"] for each in ask(found, texts, Store(tmp_path), progress=False)} == {"marian de"}
