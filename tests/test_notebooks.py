"""The notebooks as they are committed, and two of them executed."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbkit.studies.word_order import STUDY, WordOrderParams

FOLDER = Path(__file__).parents[1] / "notebooks"
PAGES = sorted(FOLDER.rglob("*.ipynb"))
WORD_ORDER = sorted((FOLDER / "word_order").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_of(notebook: Any) -> list[tuple[Any, ast.Module]]:
    return [(cell, ast.parse(cell.source)) for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_valid_without_outputs_for_any_python_3(path: Path) -> None:
    nbformat.validate(json.loads(path.read_text(encoding="utf-8")))
    notebook = read(path)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info == {"name": "python"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
    assert all(re.fullmatch(r"[a-z0-9-]+", cell.id) for cell in notebook.cells)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_asks_a_question_in_plain_words(path: Path) -> None:
    notebook = read(path)
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and re.match(r"# .+\?\n", first.source)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "$" not in prose  # no formulas that need a network to be shown
    assert "**How to read it.**" in prose


@pytest.mark.parametrize("path", WORD_ORDER, ids=lambda path: path.stem)
def test_parameters_are_the_schema(path: Path) -> None:
    tagged = [cell for cell in read(path).cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(tagged[0].source).body}
    assert values == WordOrderParams().model_dump()
    assert list(values) == [*(name for name in WordOrderParams.model_fields if name != "seed"), "seed"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_everything_that_is_imported_and_called_exists(path: Path) -> None:
    modules: dict[str, Any] = {}
    for _, tree in code_of(read(path)):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.module is not None
                for name in node.names:
                    package = importlib.import_module(node.module)
                    if not hasattr(package, name.name):
                        importlib.import_module(f"{node.module}.{name.name}")
                    modules[name.asname or name.name] = getattr(package, name.name)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                assert hasattr(modules[node.value.id], node.attr), f"{node.value.id}.{node.attr}"


@pytest.mark.parametrize("path", WORD_ORDER, ids=lambda path: path.stem)
def test_sentences_are_tagged_and_the_footer_comes_last(path: Path) -> None:
    notebook = read(path)
    assert notebook.cells[-1].source == "notebook.footer(params)"
    shows_text = r"word_order\.(examples|samples|flip_samples|left_out)\(|save_text_table\("
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(shows_text, cell.source):
            assert "corpus-text" in cell.metadata.tags


def test_the_study_knows_its_pages() -> None:
    assert {notebook.path for notebook in STUDY.notebooks} == {f"word_order/{path.stem}" for path in WORD_ORDER}
    assert [n.path for n in STUDY.notebooks if n.scope == "cell"] == ["word_order/model_card"]
    for notebook in STUDY.notebooks:
        assert read(FOLDER / f"{notebook.path}.ipynb").cells[0].source.startswith(f"# {notebook.title}\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perturbations", "robust_or_faithful"])
def test_runs_top_to_bottom_without_a_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import papermill
    from traitlets.config import Config

    from nbkit.batch.kernel import OwnKernelManager

    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path / "run"))
    settings = {"transport": "ipc", "connection_file": str(tmp_path / "kernel.json")}
    done = papermill.execute_notebook(
        FOLDER / f"word_order/{name}.ipynb", tmp_path / f"{name}.ipynb",
        {"languages": ["de", "ja"], "models": [], "n_pairs": 20}, kernel_name="python3", progress_bar=False,
        kernel_manager_class=OwnKernelManager, config=Config({"OwnKernelManager": settings}),
    )  # fmt: skip
    shown = json.dumps([cell.get("outputs", []) for cell in done.cells])
    assert "image/svg+xml" in shown and "nbkit-provenance" in shown
    kept = {str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*.*")}
    if name == "perturbations":
        assert {"figures/fig12_difficulty.pdf", "tables/table1_counts.tex", "tables/fig3_examples.texts.csv"} <= kept
    else:
        assert "No model in this run" in shown and "figures/fig1_preference.pdf" in kept
