"""Run files: what is wrong in them is said with file, line and the closest match."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbkit.batch import bundled
from nbkit.batch.params import Problem, entries, listing, parse, read, validate
from nbkit.cli import main
from nbkit.errors import DataError, NbkitError, ParamsError
from nbkit.files import expand_path
from nbkit.models import names
from nbkit.studies import STUDIES

GRID = """\
name: demo
title: A tour
runs:
  - study: toy
    params:
      words: [eins, zwei]
      n: 5
  - study: toy
    name: other
    notebooks: [summary]
"""


@pytest.fixture(autouse=True)
def registered(toy: Path) -> None:
    assert "toy" in STUDIES


def test_a_run_file_becomes_checked_entries():
    run = parse(GRID)
    first, second = entries(run)
    assert (run.name, run.title, first.name, second.name) == ("demo", "A tour", "toy", "other")
    assert first.params.words == ["eins", "zwei"] and first.params.n == 5 and second.params.words == ["eins"]
    assert [notebook.path for notebook in first.notebooks] == ["toy/letters", "toy/summary"]
    assert [notebook.path for notebook in second.notebooks] == ["toy/summary"]
    assert validate(run) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title:", "titel:"), "grid.yaml:2: titel: unknown key; did you mean 'title'?"),
        (("    params:", "    parms:"), "grid.yaml:5: runs.0.parms: unknown key; did you mean 'params'?"),
        (("name: demo", "nam: demo"), "grid.yaml:1: name: is missing"),
        (("name: demo", "name: ../demo"), "grid.yaml:1: name: '../demo' cannot name a folder everywhere: "),
        (("  - study: toy\n    params", "  - null\n  - study: toy\n    params"), "runs.0: expected a mapping of keys"),
        (("name: other", "name: toy"), "grid.yaml:3: runs: two entries are called 'toy'"),
        (("A tour", "[x"), "grid.yaml:3: invalid YAML"),
        (("      n: 5", "      n: 5\n      n: 6"), "grid.yaml:8: 'n' is given twice (first in line 7)"),
    ],
)
def test_a_file_that_is_no_run_file(change, message):
    with pytest.raises(NbkitError) as error:
        parse(GRID.replace(*change), "grid.yaml")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("study: toy\n    params", "study: tyo\n    params"), "grid.yaml:4: unknown study 'tyo'; did you mean 'toy'?"),
        (("words:", "wrods:"), "grid.yaml:6: runs.0.params.wrods: unknown parameter; did you mean 'words'?"),
        (("n: 5", "n: many"), "grid.yaml:7: runs.0.params.n: expected a whole number, found 'many'"),
        (("[eins, zwei]", "[eins, 2]"), "grid.yaml:6: runs.0.params.words.1: expected text (in quotes if"),
        (("[summary]", "[sumary]"), "study 'toy' has no notebook 'sumary'; did you mean 'summary'?"),
    ],
)
def test_a_run_file_that_does_not_fit_its_study(change, message):
    run = parse(GRID.replace(*change), "grid.yaml")
    with pytest.raises(ParamsError) as error:
        entries(run)
    assert message in str(error.value)
    assert any(message in str(problem) for problem in validate(run))


def test_validate_lists_all_problems_at_once_those_of_the_study_too():
    run = parse(GRID.replace("eins", "nix").replace("name: other", "name: other\n    params: {m: 1}"), "grid.yaml")
    assert [str(problem).partition(": ")[0] for problem in validate(run)] == ["grid.yaml:10", "grid.yaml:4 (toy)"]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words", "runs: {}"])
def test_yaml_of_another_shape(text):
    with pytest.raises(ParamsError):
        parse(text, "grid.yaml")


def test_yaml_that_would_make_objects_or_holds_itself_is_refused():
    with pytest.raises(DataError, match=r"grid\.yaml:2"):
        parse("name: x\ntitle: !!python/object/apply:os.system [ls]\nruns: []\n", "grid.yaml")
    with pytest.raises(NbkitError):
        parse("name: x\nruns: &a [*a]\n", "grid.yaml")


def test_folders_of_the_environment_are_filled_in(monkeypatch):
    monkeypatch.setenv("NBKIT_DATA", "/drei")
    run = parse(GRID.replace("zwei", "'${NBKIT_DATA}-$NBKIT_DATA'"))
    assert run.runs[0].params["words"] == ["eins", "/drei-/drei"]
    monkeypatch.delenv("NBKIT_DATA")
    with pytest.raises(ParamsError, match=r"grid.yaml:6: \$\{NBKIT_DATA\} is not set in the environment: export"):
        parse(GRID.replace("zwei", "'${NBKIT_DATA}'"), "grid.yaml")


def test_variables_come_from_the_command_never_from_the_environment(monkeypatch):
    monkeypatch.setenv("MINE", "taken")
    text = GRID.replace("zwei", "'${MINE}/x'")
    assert parse(text, settings={"MINE": "fünf"}).runs[0].params["words"] == ["eins", "fünf/x"]
    with pytest.raises(
        ParamsError, match=r"grid.yaml:6: \$\{MINE\} has no value: give it with --set MINE=…; only NBKIT"
    ):
        parse(text, "grid.yaml")
    with pytest.raises(ParamsError, match=r"--set MIEN: no parameter of the file contains \$\{MIEN\}"):
        parse(text, settings={"MIEN": "x", "MINE": "y"})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MY_TOKEN", "x", r"\$\{MY_TOKEN\} looks like a key or a password"),
        ("MINE", "$HOME", r"--set MINE: a value must not contain another variable or \$"),
        ("MINE", "a\0b", "contains a NUL character"),
        ("MIN", "x", "no parameter of the file contains"),
        ("", "x", "no parameter of the file contains"),
    ],
)
def test_settings_that_are_refused(name, value, message):
    with pytest.raises(ParamsError, match=message):
        parse(GRID.replace("zwei", "'${MINE}-${MY_TOKEN}'"), settings={name: value})


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("openai:x@http://HOST/${OPENAI_API_KEY}/v1", r"grid.yaml:6: \$\{OPENAI_API_KEY\} looks like a key"),
        ("openai:x@http://HOST/$OPENAI_API_KEY/v1", r"\$\{OPENAI_API_KEY\} looks like a key"),
        ("openai:x@http://HOST/$$OPENAI_API_KEY/v1", r"\$\{OPENAI_API_KEY\} looks like a key"),
        ("${SESSION}", r"grid.yaml:6: \$\{SESSION\} has no value: give it with --set SESSION=.* only NBKIT_DATA"),
        ("$SESSION", r"\$\{SESSION\} has no value"),
        ("${${LEFT}}", r"only the name of a variable may stand in"),
        ("$${LEFT}_API_KEY", r"only the name of a variable may stand in"),
    ],
)
def test_nothing_else_of_the_environment_gets_into_a_run(word, message, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("SESSION", "sk-secret")
    with pytest.raises(ParamsError, match=message) as caught:
        parse(GRID.replace("zwei", f"'{word}'"), "grid.yaml", {"LEFT": "OPENAI"} if "LEFT" in word else {})
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('title: "a\\0b"', r"grid.yaml:2: .* contains a NUL character"),
        ('title: "\\ud800"', r"grid.yaml:2: invalid YAML: .*Unicode"),
        ("variables: {MINE: x}", r"grid.yaml:2: variables: unknown key"),
    ],
)
def test_titles_and_keys_that_are_refused(line, message):
    with pytest.raises(NbkitError, match=message):
        parse(GRID.replace("title: A tour", line), "grid.yaml")


def test_no_path_and_no_name_of_a_model_is_filled_in_with_a_key(monkeypatch):
    """Functions that are called from Python fill in any variable but those."""
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    with pytest.raises(NbkitError, match="MY_API_KEY looks like a key") as path:
        expand_path("$MY_API_KEY/x", "corpus")
    with pytest.raises(NbkitError, match="MY_API_KEY looks like a key") as model:
        names.filled("openai:x@https://host/${MY_API_KEY}", "x", {})
    assert "sk-secret" not in f"{path.value}{model.value}"


def test_variables_are_set_on_the_command_line(tmp_path):
    grid = tmp_path / "grid.yaml"
    grid.write_text(GRID.replace("zwei", "'${WORD}'"))
    ready = CliRunner().invoke(main, ["validate", str(grid), "--set", "WORD=drei"])
    assert (ready.exit_code, ready.output) == (0, f"{grid}: ready to run\n")
    unset = CliRunner().invoke(main, ["run", str(grid), "--dry-run"])
    assert unset.exit_code == 2 and "--set WORD=…" in unset.output
    assert "write --set NAME=VALUE" in CliRunner().invoke(main, ["validate", str(grid), "--set", "WORD"]).output


def test_problems_that_are_alike_stand_together():
    def parser(lang: str) -> Problem:
        return Problem(
            "grid.yaml:4", f"parser '{lang}' is not installed; install it with 'get {lang}' or name a folder"
        )

    other = Problem("grid.yaml:4", "the corpus cannot be read at all\n  Ways out: none")
    elsewhere = Problem("grid.yaml:9", parser("de").message)
    text = listing([parser("de"), other, parser("fr"), elsewhere, parser("ja")])
    assert text.splitlines() == [
        f"grid.yaml:4: {parser('de').message}",
        "  likewise: 'fr', 'ja'",
        "grid.yaml:4: the corpus cannot be read at all",
        "  Ways out: none",
        f"grid.yaml:9: {parser('de').message}",
    ]


def test_no_problem_is_lost_among_those_that_are_alike():
    """Two that differ from the first in the same words, and from each other in later ones, both stay to be seen."""
    texts = [f"model {m} is missing for the pair en-{lang} in the cache" for m, lang in ("ax", "bx", "by")]
    text = listing(Problem("grid.yaml:4", message) for message in texts)
    assert text.count("en-x") + text.count("en-y") >= 2 and "model b is missing for the pair en-y" in text


def test_a_run_file_that_is_not_there_is_guessed_from_run_files_only(tmp_path, monkeypatch):
    (tmp_path / "demo.yaml").write_text(GRID)
    (tmp_path / "demos.yaml").write_text("services: {}\n")
    with pytest.raises(ParamsError, match=r"no such run file: .*demos.yml; did you mean '.*/demo.yaml'"):
        read(tmp_path / "demos.yml")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "docker-compose.yaml").write_text("services: {}\n")
    with pytest.raises(ParamsError, match=r"did you mean 'params/word_order\.yaml' \(bundled\)"):
        read("params/wordorder.yml")
    with pytest.raises(ParamsError, match=r"Bundled run files: params/demo\.yaml, "):
        read("docker-compose.yml")
    with pytest.raises(ParamsError, match=r"no such run file: .*/demo.yml$"):
        read(elsewhere / "demo.yml")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "demo.yaml").write_bytes(b"name: \xff")
    with pytest.raises(DataError, match="bad UTF-8"):
        read(tmp_path / "demo.yaml")
    with pytest.raises(NbkitError, match="cannot be read"):
        read(tmp_path)


def test_the_run_files_that_come_with_nbkit_fit_their_schemas(subtests, monkeypatch):
    monkeypatch.setenv("NBKIT_DATA", "/data")
    files = sorted(bundled("params").glob("*.yaml"))
    assert files
    for file in files:
        with subtests.test(file=file.name):
            run = read(file)
            assert run.name == file.stem
            try:
                assert entries(run)
            except ParamsError as error:  # files of systems are not there, which have to be for their names
                assert all(
                    re.search("no file matches for [a-z]{2}-[a-z]{2}$", line) for line in str(error).splitlines()
                )


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_file_is_called_empty(text):
    with pytest.raises(ParamsError, match=r"^my\.yaml: the file is empty: a mapping with"):
        parse(text, "my.yaml")


def test_an_unknown_study_may_be_one_of_your_own():
    with pytest.raises(ParamsError, match=r"unknown study 'mine'.*: nbkit --plugin FILE\.py"):
        entries(parse(GRID.replace("study: toy\n    params", "study: mine\n    params")))


def test_a_grid_with_nothing_in_it_runs_the_pages_that_need_nothing():
    empty = GRID.replace("[eins, zwei]", "[]")
    assert validate(parse(empty, "grid.yaml")) == []
    other = empty.replace("  - study: toy\n    params", "  - study: toy\n    {}\n    params")
    assert validate(parse(other.format("notebooks: [summary]"))) == []
    (problem,) = validate(parse(other.format("notebooks: [letters]"), "grid.yaml"))
    assert str(problem) == "grid.yaml:4 (toy): words: [] leaves nothing to run: name at least one"


def test_notebooks_that_a_study_declares_are_there(toy):
    (toy / "notebooks" / "toy" / "summary.ipynb").rename(toy / "elsewhere.ipynb")
    found = "\n".join(map(str, validate(parse(GRID, "grid.yaml"))))
    assert "grid.yaml:4 (toy): study 'toy': there is no notebook 'toy/summary.ipynb'" in found
