"""What a run consists of, and what makes a finished notebook out of date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nbkit.batch.params import parse
from nbkit.batch.plan import find_notebook, make_plan, read_source
from nbkit.errors import DataError, NbkitError

GRID = """
name: toys
runs:
  - study: toy
    params: {words: [eins, zwei]}
  - study: toy
    name: more
    params: {words: [drei]}
    notebooks: [letters]
"""


def keys() -> dict[str, str]:
    return {execution.label: execution.key for execution in make_plan(parse(GRID)).executions}


def changed(before: dict[str, str]) -> set[str]:
    return {label for label, key in keys().items() if before[label] != key}


def edit(path: Path, change) -> None:
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook, indent=3))


def test_cells_come_before_grids_and_know_their_tags(toy):
    plan = make_plan(parse(GRID))
    labels = ["toy.eins.letters", "toy.zwei.letters", "more.drei.letters", "toy.summary"]
    assert [execution.label for execution in plan.executions] == labels and plan.cells == 3
    zwei = plan.executions[1]
    assert zwei.parameters == {"words": ["zwei"], "n": 20, "delay": 0.0, "bad": [], "killer": [], "seed": 0}
    assert dict(zwei.tags) == {"study": "toy", "run": "toy", "word": "zwei"} and zwei.title == "Letters of a word"
    assert plan.executions[3].parameters["words"] == ["eins", "zwei"]


def test_keys_are_the_same_the_next_time(toy):
    assert changed(keys()) == set()
    assert len(set(keys().values())) == 4


def test_a_change_in_an_imported_module_reruns_all_an_unrelated_one_none(toy):
    before = keys()
    (toy / "toy_other.py").write_text("print('changed')\n")
    assert changed(before) == set()
    letters = (toy / "toy_letters.py").read_text()
    (toy / "toy_letters.py").write_text(f"# Counts.\n\n\n{letters}")
    assert changed(before) == set()
    (toy / "toy_letters.py").write_text(letters.replace("isalpha", "isalnum"))
    assert changed(before) == set(before)


def test_a_change_in_a_notebook_reruns_that_notebook(toy):
    before = keys()
    path = toy / "notebooks" / "toy" / "summary.ipynb"
    edit(path, lambda notebook: notebook["cells"][2].update(outputs=[{"output_type": "stream"}], execution_count=3))
    assert changed(before) == set()
    edit(path, lambda notebook: notebook["cells"][0].update(source="# Another question"))
    assert changed(before) == {"toy.summary"}


def test_a_change_behind_the_parameters_reruns(toy, monkeypatch):
    before = keys()
    monkeypatch.setenv("TOY_ALPHABET", "greek")
    assert changed(before) == set(before)


def test_planning_imports_nothing_heavy(toy):
    import subprocess

    code = """
import sys
from nbkit.studies import STUDIES
STUDIES.register("toy", "toy_study:STUDY")
from nbkit.batch.params import parse
from nbkit.batch.plan import make_plan
make_plan(parse(sys.argv[1]))
print([name for name in ("torch", "transformers", "papermill", "nbformat") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code, GRID], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def test_a_parameter_that_the_notebook_does_not_have(toy):
    path = toy / "notebooks" / "toy" / "letters.ipynb"
    edit(path, lambda notebook: notebook["cells"][1].update(source="words = []"))
    assert make_plan(parse(GRID)).executions[0].parameters == {"words": ["eins"]}
    with pytest.raises(DataError, match=r"letters\.ipynb: parameter 'n' is set but missing .* or 'run = \{\}'"):
        make_plan(parse(GRID.replace("words: [drei]", "n: 5")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda notebook: notebook["cells"][1]["metadata"].clear(), "no code cell has the tag 'parameters'"),
        (lambda notebook: notebook.pop("cells"), "not a Jupyter notebook"),
        (lambda notebook: notebook["cells"][2].update(source="def (:"), "not valid Python"),
    ],
)
def test_a_notebook_that_cannot_be_executed(toy, change, message):
    path = toy / "notebooks" / "toy" / "letters.ipynb"
    edit(path, change)
    with pytest.raises(DataError, match=message):
        make_plan(parse(GRID))


def test_ipython_lines_are_no_obstacle(toy):
    path = toy / "notebooks" / "toy" / "letters.ipynb"
    source = ["%%time\n", "%matplotlib inline\n", "if True:\n", "    !ls\n", "import toy_other\n"]
    edit(path, lambda notebook: notebook["cells"][2].update(source=source))
    assert "import toy_other" in read_source(path).code[1]


def test_notebooks_are_found_here_first_then_where_nbkit_is(toy):
    assert find_notebook("toy/letters") == toy / "notebooks" / "toy" / "letters.ipynb"
    with pytest.raises(NbkitError, match="did you mean 'toy/letters'"):
        find_notebook("toy/leters")


def test_two_notebooks_of_one_name_are_refused(toy):
    with pytest.raises(NbkitError, match=r"2 notebooks .* 'toy\.eins\.letters'"):
        make_plan(parse(GRID.replace("[eins, zwei]", "[eins, eins]")))


def test_labels_differ_by_more_than_case(toy):
    """On some disks the pages of `hub/Abc` and `hub/abc` would be one file."""
    plain = [execution.label for execution in make_plan(parse(GRID.replace("zwei", "drei"))).executions]
    assert plain == ["toy.eins.letters", "toy.drei.letters", "more.drei.letters", "toy.summary"]
    labels = [execution.label for execution in make_plan(parse(GRID.replace("zwei", "EINS"))).executions]
    assert len({label.casefold() for label in labels}) == len(labels) == 4
    assert labels[0].startswith("toy.eins.letters-") and labels[1].startswith("toy.EINS.letters-")
    assert labels[2:] == ["more.drei.letters", "toy.summary"]


def test_a_notebook_that_names_few_parameters_is_given_the_others_as_a_mapping(toy):
    path = toy / "notebooks" / "toy" / "letters.ipynb"
    edit(path, lambda notebook: notebook["cells"][1].update(source="words = []\nrun = {}"))
    with_n = {each.parameters["n"]: each for n in (5, 6) for each in plan_of(f"n: {n}")}
    execution = with_n[5]
    given = execution.injected
    assert set(given) == {"words", "run"} and given["run"]["n"] == 5
    assert {"words": given["words"], **given["run"]} == execution.parameters
    assert with_n[6].key != execution.key


def plan_of(params: str):
    return make_plan(parse(GRID.replace("words: [drei]", params))).executions
