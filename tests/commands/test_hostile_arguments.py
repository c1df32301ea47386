"""Arguments and files that no command has a use for: one message and exit code 2, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbkit.cli import main
from nbkit.models import MODELS

LONG = "x" * 400
TRANSLATE = ("translate", "in.txt", "--system", "sandbox-marian", "--pair", "en-de")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "in.txt").write_text("Tom sleeps.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("validate", "a\0b.yaml"), "contains a NUL character"),
        (("run", "params/demo.yaml", "--output", "a\0b"), "contains a NUL character"),
        (("report", "a\0b"), "contains a NUL character"),
        (("init", "a\0b"), "contains a NUL character"),
        (("check-numbers", "a\0b", "in.txt", "--pair", "en-de"), "contains a NUL character"),
        (("perturb", "half \ud83d a pair"), "half a surrogate pair"),
        (("perturb", "a byte: \udcff"), "not UTF-8"),
        (("perturb", "-5 dogs sleep"), "A text that begins with '-' goes last, behind '--'."),
        (("check-numbers", "in.txt", "/dev/full", "--pair", "en-de"), "it is a device, not a file"),
        (
            ("translate", "in.txt", "--system", "openai:x@http://127.0.0.1:1/v1?rate=1e-9", "--pair", "en-de"),
            "rate: 0 (unlimited) or at least 0.001 a minute expected, 1e-09 given",
        ),
        (("train", "translator", "", "--steps", "1"), "OUTPUT: '.' names no new folder"),
        (("train", "classifier", "..", "--steps", "1"), "OUTPUT: '..' names no new folder"),
        (("train", "lm", "/", "--steps", "1"), "OUTPUT: '/' names no new folder"),
        (("train", "translator", "new", "--epochs", "inf"), "epochs: at most 1,000,000,000 expected, inf given"),
        (("train", "translator", "new", "--steps", "1", "--seed", str(2**32)), "seed: must be at most 4294967295"),
        ((*TRANSLATE, "--length-penalty", "1e308"), "length_penalty: 1e+308 given, -10 to 10 expected"),
        ((*TRANSLATE, "--length-penalty", "nan"), "length_penalty: nan given"),
        ((*TRANSLATE, "--beams", "1000000"), "beams: 1000000 given, 1 to 1,000 expected"),
        ((*TRANSLATE, "--device", "meta"), "unknown device 'meta'; use auto, cpu, mps, cuda or xpu"),
        ((*TRANSLATE[:3], LONG, "--pair", "en-de"), "too long for a folder or a hub id"),
        (
            (*TRANSLATE[:3], f"hub/{LONG}", "--pair", "en-de"),
            "too long for a folder or a hub id",
        ),
        ((*TRANSLATE[:3], f"{TRANSLATE[3]}#{'9' * 23}", "--pair", "en-de"), "write a number from 0 to 4294967295"),
        (
            (*TRANSLATE[:3], "openai:x@http://h:99999/v1", "--pair", "en-de"),
            "the port must be a number from 1 to 65535",
        ),
    ],
)
def test_one_message_and_no_traceback(command, message):
    result = CliRunner().invoke(main, list(command))
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2 and message in result.output
    assert not os.path.lexists("new")


def test_bytes_that_are_no_text_from_a_real_shell():
    """The system hands them over as half surrogate pairs."""
    command = [sys.executable, "-m", "nbkit", "perturb", b"half \xed\xa0\xbd a pair"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "not UTF-8" in result.stderr and "Traceback" not in result.stderr


def test_what_the_screen_cannot_show_is_stated():
    command = [sys.executable, "-m", "nbkit", "perturb", "Котик спит тут долго .", "--tokenized", "--only", "reversed"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "NBKIT_DATA": ""}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 2 and "cannot be written as latin-1: set PYTHONUTF8=1" in result.stderr


def test_validate_names_the_place_of_an_overlong_name(here):
    entry = "{study: word_order, params: {models: [%s], corpus: %s}}"
    (here / "grid.yaml").write_text("name: grid\nruns:\n  - " + entry % (f"hub/{LONG}", f"./{LONG}"))
    result = CliRunner().invoke(main, ["validate", "grid.yaml"])
    assert result.exit_code == 1 and "grid.yaml:3 (word_order): " in result.output
    assert "Errno" not in result.output and isinstance(result.exception, SystemExit)


def test_translations_keep_blanks_that_are_not_line_breaks(here):
    name = "keeps blanks"
    MODELS.register(name, lambda texts: ["20\u202f%\u00a0\u3000x\n  y\u2028z" for _ in texts])
    done = CliRunner().invoke(main, ["translate", "in.txt", "--system", name, "--pair", "en-de"])
    assert done.exit_code == 0 and done.output == "20\u202f%\u00a0\u3000x   y z\n"


def test_a_text_may_begin_with_a_minus_sign(here):
    done = CliRunner().invoke(main, ["perturb", "--only", "reversed", "--", "-5 dogs sleep"])
    assert done.exit_code == 0 and "sleep dogs" in done.output
