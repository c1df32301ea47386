"""How far work is: what a log file gets, and what a terminal does."""

from __future__ import annotations

import io
import sys

import pytest

from nbkit.models import progress, train_translator
from tests.models.test_training import corpus, tiny  # noqa: F401 - a fixture


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _bars_are_not_forbidden(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.parametrize("seconds", [30.0, 0.0])
def test_training_writes_lines_that_name_the_model(corpus, tmp_path, capfd, monkeypatch, seconds):  # noqa: F811
    monkeypatch.setattr(progress, "SECONDS_A_LINE", seconds)
    train_translator(tiny(corpus), tmp_path / "my-model")
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == (1 if seconds else 7)
    assert all(line.startswith("train my-model: ") for line in lines)
    assert lines[-1].startswith("train my-model: 6/6 steps, ")


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress_bar("opus-mt en→de", 3, True) as bar:
        bar.update(3)
    assert "opus-mt en→de: 100%" in terminal.getvalue()


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
