"""The pages of the numbers study as they are committed: their parameters, their order, and what they show of texts."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbkit.studies.numbers import STUDY, NumbersParams

FOLDER = Path(__file__).parents[2] / "notebooks"
PAGES = sorted((FOLDER / "numbers").glob("*.ipynb"))
#: Functions whose tables hold sentences.
TEXTS = r"study\.(capabilities|templates_used|errors_found|passed_samples)\(|save_text_table\(|tables\.bug_reports\("


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_parameters_are_the_schema(path: Path) -> None:
    tagged = [cell for cell in read(path).cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    values = {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(tagged[0].source).body}  # type: ignore[attr-defined]
    assert values == NumbersParams().model_dump()
    assert list(values) == [*(name for name in NumbersParams.model_fields if name != "seed"), "seed"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_sentences_are_tagged_and_the_footer_comes_last(path: Path) -> None:
    notebook = read(path)
    assert notebook.cells[-1].source == "pages.footer(params)"
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.id != "tables"]
    for cell in shown:
        if re.search(TEXTS, cell.source):
            assert "corpus-text" in cell.metadata.get("tags", []), cell.id


def test_the_study_knows_its_pages_and_they_have_its_titles() -> None:
    assert {notebook.path for notebook in STUDY.notebooks} == {f"numbers/{path.stem}" for path in PAGES}
    assert [n.path for n in STUDY.notebooks if n.scope == "cell"] == ["numbers/model_card"]
    for notebook in STUDY.notebooks:
        assert read(FOLDER / f"{notebook.path}.ipynb").cells[0].source.startswith(f"# {notebook.title}\n")
