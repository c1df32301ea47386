"""The pages of the NLI permutation study as they are committed, and two of them executed."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbkit.studies.nli_permutation import STUDY, NliPermutationParams

FOLDER = Path(__file__).parents[1] / "notebooks"
PAGES = sorted((FOLDER / "nli_permutation").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_parameters_are_the_schema(path: Path) -> None:
    tagged = [cell for cell in read(path).cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(tagged[0].source).body}
    assert values == NliPermutationParams().model_dump()
    assert list(values) == [*(name for name in NliPermutationParams.model_fields if name != "seed"), "seed"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_sentences_are_tagged_and_the_footer_comes_last(path: Path) -> None:
    notebook = read(path)
    assert notebook.cells[-1].source == "pages.footer(params)"
    shows_text = r"study\.(accepted_examples|permutation_examples|left_out)\(|save_text_table\(|fig6_word\("
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(shows_text, cell.source) and cell.id != "tables":
            assert "corpus-text" in cell.metadata.tags


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_has_floor_and_ceiling_and_says_what_was_left_out(path: Path) -> None:
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    for heading in ("**How to read it.**", "Floor and ceiling", "**What was left out.**"):
        assert heading in prose


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_symbols_are_typeset_and_headings_have_none(path: Path) -> None:
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    assert not re.search(r"[𝒫ΩDM][\^_]|\$", prose)
    assert not re.search(r"^#.*<su[bp]>", prose, re.MULTILINE)  # a heading also names figures, as plain text


def test_every_artefact_of_the_paper_stands_on_a_page() -> None:
    """Tables 1 to 6 and Figures 1 to 9: their published values, or the remark that none are printed, are shown."""
    code = "\n".join(cell.source for path in PAGES for cell in read(path).cells if cell.cell_type == "code")
    for name in (*(f"table{i}" for i in range(1, 7)), *(f"fig{i}" for i in range(1, 10))):
        assert f'"{name}"' in code, name


def test_the_study_knows_its_pages() -> None:
    assert {notebook.path for notebook in STUDY.notebooks} == {f"nli_permutation/{path.stem}" for path in PAGES}
    assert [n.path for n in STUDY.notebooks if n.scope == "cell"] == ["nli_permutation/model_card"]
    for notebook in STUDY.notebooks:
        assert read(FOLDER / f"{notebook.path}.ipynb").cells[0].source.startswith(f"# {notebook.title}\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["permutations", "human_evaluation"])
def test_runs_top_to_bottom_without_a_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import papermill
    from traitlets.config import Config

    from nbkit.batch.kernel import OwnKernelManager

    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path / "run"))
    settings = {"transport": "ipc", "connection_file": str(tmp_path / "kernel.json")}
    done = papermill.execute_notebook(
        FOLDER / f"nli_permutation/{name}.ipynb", tmp_path / f"{name}.ipynb",
        {"models": [], "n_pairs": 12, "permutations": 6, "training_pairs": 20}, kernel_name="python3",
        progress_bar=False, kernel_manager_class=OwnKernelManager, config=Config({"OwnKernelManager": settings}),
    )  # fmt: skip
    shown = json.dumps([cell.get("outputs", []) for cell in done.cells])
    assert "Where these results come from" in shown
    assert "Traceback" not in shown
