"""LanguageTool is optional: its absence has a reason, and what was checked once is not checked again."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from nbkit.errors import MissingExtraError
from nbkit.perturb import word_sense as grammar
from nbkit.store import Store


def test_absence_has_a_reason_and_an_install_line(monkeypatch, tmp_path):
    monkeypatch.setattr(grammar, "find_spec", lambda name: None)
    assert "nbkit[languagetool]" in grammar.grammar_problem()
    with pytest.raises(MissingExtraError, match="languagetool"):
        grammar.grammar_errors(["a text"], "en", store=Store(tmp_path))
    monkeypatch.setattr(grammar, "find_spec", lambda name: object())
    monkeypatch.setattr(grammar.shutil, "which", lambda name: None)
    monkeypatch.delenv(grammar.SERVER, raising=False)
    assert "Java" in grammar.grammar_problem()
    monkeypatch.setenv(grammar.SERVER, "http://localhost:8081")
    assert grammar.grammar_problem() is None


def test_errors_are_counted_and_remembered(monkeypatch, tmp_path):
    asked = []

    class Tool:
        def __init__(self, code, remote_server=None):
            assert code == "en-US" and remote_server == "http://here"

        def check(self, text):
            asked.append(text)
            return ["error"] * text.count("teh")

        def close(self):
            asked.append("closed")

    monkeypatch.setitem(sys.modules, "language_tool_python", SimpleNamespace(LanguageTool=Tool))
    monkeypatch.setattr(grammar, "find_spec", lambda name: object())
    monkeypatch.setattr(grammar, "installed_version", lambda name: "0")
    monkeypatch.setenv(grammar.SERVER, "http://here")
    for _ in range(2):
        assert grammar.grammar_errors(["teh teh", "fine", "fine"], "en", store=Store(tmp_path)) == [2, 0, 0]
    assert asked == ["teh teh", "fine", "closed"]
