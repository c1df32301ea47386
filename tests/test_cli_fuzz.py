"""No command line ends in a traceback, whatever its options, its files and the values in them are."""

from __future__ import annotations

import os
import signal
import sys
from functools import cache

import click
import pytest
from hypothesis import HealthCheck, example, given, settings

pytest.importorskip("resource", reason="processes are forked, and limited, as Unix does it")

from nbkit import cli
from tests.fuzz import forked
from tests.fuzz.bench import CELL, RUN, as_json
from tests.fuzz.lines import CommandLine, command_lines, commands

#: A hundred, the same ones each time; `make campaign` draws a thousand new ones.
EXAMPLES = max(100, settings.default.max_examples)
CELL_FILE = f"drawn-run/cells/{CELL['label']}.json"
TRANSLATE = ("translate", "text.en", "--pair", "en-de", "--system")
READ = ("annotate", "read", "--key", "form.key.json")
#: Hypothesis draws some lines several times, each by other choices.
outcome = cache(forked.outcome)


@pytest.fixture(scope="module", autouse=True)
def loaded():
    forked.preload()


@pytest.mark.thorough
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(command_lines())
# What once ended in a traceback.
@example(CommandLine(("validate", "a\0b")))
@example(CommandLine(("report", "a\0b")))
@example(CommandLine(("init", "a\0b")))
@example(CommandLine(("run", "grid.yaml", "--output", "a\0b")))
@example(CommandLine(("check-numbers", "a\0b", "text.de", "--pair", "en-de")))
@example(CommandLine(("report", "drawn-run"), (("drawn-run/run.json", as_json({"runs": 5, "order": 7})),)))
@example(CommandLine(("report", "drawn-run"), (("drawn-run/run.json", as_json({**RUN, "failures": 3})),)))
@example(CommandLine(("report", "drawn-run"), ((CELL_FILE, as_json({**CELL, "seconds": "abc"})),)))
@example(CommandLine((*TRANSLATE, "model", "--length-penalty", "1e308")))
@example(CommandLine((*TRANSLATE, "model", "--length-penalty", "nan")))
@example(CommandLine((*TRANSLATE, "model", "--device", "meta")))
@example(CommandLine((*TRANSLATE, "x" * 400)))
@example(CommandLine((*TRANSLATE, "drawn-model"), (("drawn-model/source.spm", b"\0" * 3000),)))
@example(CommandLine(("train", "translator", "", "--steps", "2")))
@example(CommandLine(("perturb", "Tom \ud800 .")))
@example(CommandLine(("annotate", "read", "drawn.csv", "--key", "form.key.json"), (("drawn.csv", b'"'),)))
@example(CommandLine((*READ, "form.csv", "--output", "")))
@example(CommandLine((*TRANSLATE, "model", "--output", ".")))
@example(CommandLine(("validate", "full")))  # a device without an end
@example(CommandLine((*READ, "full")))
@example(CommandLine(("annotate", "read", "form.csv", "--key", "full")))
@example(CommandLine(("validate", "drawn.yaml"), (("drawn.yaml", b"[" * 3000),)))
def test_no_command_line_ends_in_a_traceback(line: CommandLine):
    found = outcome(line)
    assert not found.is_traceback, f"{found.error}\n{found.printed[-3000:]}"
    assert found.status == 0 or found.printed.strip(), "it fails and says nothing"


def test_every_command_is_drawn_without_a_line_here(monkeypatch):
    names = {" ".join(each) for each in commands()}
    assert {"list", "train lm", "annotate make", "annotate senses", "init"} <= names
    monkeypatch.setitem(cli._COMMANDS, "new", "tests.test_cli_fuzz:new")
    assert set(commands.__wrapped__()) - set(commands()) == {("new",)}


@click.command()
def new() -> None:
    """A command that nobody has said anything about."""


@pytest.mark.thorough
def test_whatever_ends_a_command_otherwise_is_noticed(monkeypatch):
    def ends(call, *arguments: str) -> forked.Outcome:
        return forked.outcome(CommandLine(arguments), call=call)

    def loop(_: object) -> None:
        while True:
            pass

    assert ends(lambda _: sys.exit(2)) == forked.Outcome(2, "", pytest.approx(0, abs=60))
    assert not ends(lambda arguments: print(arguments)).is_traceback
    wrong = ends(lambda _: int("x"))
    assert (
        wrong.is_traceback
        and "ValueError: invalid literal" in wrong.printed
        and wrong.error.startswith("ValueError (70)")
    )
    assert ends(lambda _: bytes(8 << 30)).error.startswith("MemoryError")
    assert ends(lambda _: os.kill(os.getpid(), signal.SIGSEGV)).status == -signal.SIGSEGV
    assert ends(lambda _: print("\ud800")).is_traceback  # as a terminal has it
    monkeypatch.setattr(forked, "SECONDS", 1)
    monkeypatch.setattr(forked, "LONG_SECONDS", 1)
    assert ends(loop, "validate").is_traceback and not ends(loop, "train", "lm").is_traceback
