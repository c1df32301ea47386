"""How far work is: what a log file gets, and what a terminal does."""

from __future__ import annotations

import io
import sys

import pytest

from nbkit import progress
from nbkit.store import Store


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _bars_are_not_forbidden(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress_bar("opus-mt en→de", 3, True) as bar:
        bar.update(3)
    assert "opus-mt en→de: 100%" in terminal.getvalue()


def test_who_forbids_bars_gets_none(monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "SECONDS_A_LINE", 0.0)
        with progress.progress_bar("opus-mt en→de", 3, True) as bar:
            bar.update(3)
        assert stream.getvalue() == ""


def test_a_file_gets_a_line_now_and_then_and_none_for_what_is_quick(monkeypatch, capsys):
    for seconds, expected in ((30.0, []), (0.0, ["opus-mt en→de: 1/2 texts, 0 s", "opus-mt en→de: 2/2 texts, 0 s"])):
        monkeypatch.setattr(progress, "SECONDS_A_LINE", seconds)
        with progress.progress_bar("opus-mt en→de", 2, True) as bar:
            bar.update()
            bar.update()
        assert capsys.readouterr().err.splitlines() == expected
    for shown, total in ((False, 2), (True, 0)):
        with progress.progress_bar("opus-mt en→de", total, shown) as bar:
            bar.update()
    assert capsys.readouterr().err == ""


def test_what_is_counted_has_its_own_word(monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_A_LINE", 0.0)
    with progress.progress_bar("align", 3, unit="pair") as bar:
        bar.update(3)
    assert capsys.readouterr().err == "align: 3/3 pairs, 0 s\n"


def test_the_store_tells_of_what_it_computes_and_of_nothing_else(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_A_LINE", 0.0)
    config = {"kind": "length", "version": 1}

    def lengths(inputs):
        return [{"n": len(text)} for (text,) in inputs]

    for lines in (1, 0):
        Store(tmp_path).records(config, [("ein",)], lengths, progress="parsing (en)")
        assert capsys.readouterr().err.count("parsing (en): 1/1 texts") == lines
