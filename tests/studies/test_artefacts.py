"""Every table and figure of a paper has a page of its study, by the paper's own numbering."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest

from nbkit.studies import STUDIES
from nbkit.yaml_text import read_own

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
#: How many figures and tables each paper has, in its main text and appendix.
COUNTS = {
    "word_order": {"Figure": 15, "Table": 6},
    "numbers": {"Figure": 0, "Table": 5},
    "nli_permutation": {"Figure": 9, "Table": 6},
    "idioms": {"Figure": 21, "Table": 4},
    "disambiguation": {"Figure": 3, "Table": 18},
}
#: Studies whose ``artefacts.yaml`` names pages.
LISTED = tuple(COUNTS)
_STATES = {"whole": set(), "part": {"why"}}


def listed(name: str) -> dict[str, dict]:
    return read_own(STUDIES.get(name).printed.folder / "artefacts.yaml")


def numbered(title: str) -> set[str]:
    """The tables and figures that a title names: "Tables 4 and 5: …" names two."""
    found = re.match(r"(Figure|Table)s? (\d+)(?:(?:,| and) (\d+))*:", title)
    return {f"{found[1]} {n}" for n in re.findall(r"\d+", found[0])} if found else set()


@pytest.mark.parametrize("name", COUNTS)
def test_every_table_and_figure_of_the_paper_is_listed(name: str) -> None:
    of_paper = {f"{kind} {i + 1}" for kind, n in COUNTS[name].items() for i in range(n)}
    assert of_paper == set().union(*(numbered(each["title"]) for each in listed(name).values()))


@pytest.mark.parametrize("name", COUNTS)
def test_every_number_in_the_papers_text_is_counted(name: str) -> None:
    data = os.environ.get("NBKIT_DATA")
    paper = Path(data or "").parent / "papers" / f"{name}.txt"
    if not data or not paper.is_file():
        pytest.skip("NBKIT_DATA is not set, or has no papers beside it")
    text = paper.read_text(encoding="utf-8")
    for kind, n in COUNTS[name].items():
        found = {int(each) for each in re.findall(rf"{kind}s? (\d+)", text)}
        assert found <= set(range(1, n + 1)), kind


@pytest.mark.parametrize("name", LISTED)
def test_each_has_a_page_that_shows_it_and_says_what_is_missing(name: str) -> None:
    for artefact, each in listed(name).items():
        assert {"title", "page", "state", *_STATES[each["state"]]} <= set(each), artefact
        notebook = nbformat.read(NOTEBOOKS / name / f"{each['page']}.ipynb", as_version=4)
        code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        assert f'"{artefact}"' in code, f"{each['page']} does not show {artefact}"
        if "file" in each:
            assert len(STUDIES.get(name).printed.texts(artefact)), artefact
