"""Notebook pages run in this process: what their cells show and keep, for tests of the pages of a study."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path
from re import sub
from typing import Any

import nbformat
import pandas as pd
import pytest
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

FOLDER = Path(__file__).parents[1] / "notebooks"


@dataclass(frozen=True)
class Page:
    """One executed page.

    shown: what each cell of code shows, by the cell's id. values: the notebook's variables. kept: the files in its
    output folder, relative to it.
    """

    shown: dict[str, Any]
    values: dict[str, Any]
    kept: dict[str, Path]

    @property
    def figures(self) -> dict[str, Figure]:
        """What was drawn, by cell."""
        return {name: each for name, each in self.shown.items() if isinstance(each, Figure)}

    @cached_property
    def text(self) -> str:
        """All that can be read in tables and remarks, without markup."""
        return " ".join(unescape(sub(r"<[^>]+>", " ", html(each))) for each in self.shown.values())

    def frame(self, name: str) -> pd.DataFrame:
        """A table that the page kept, as its CSV copy has it."""
        return pd.read_csv(self.kept[f"tables/{name}.csv"])


def run_page(name: str, parameters: Mapping[str, Any], output: Path, patch: pytest.MonkeyPatch) -> Page:
    """Runs the cells of ``notebooks/<name>.ipynb``, one after the other, with *parameters* as papermill gives them.

    output: an empty folder for the copies of figures and tables; those of figures are empty, as `Page.shown` has the
    figures themselves and drawing them takes most of the time. Raises whatever a cell raises.
    """
    import matplotlib.pyplot as plt

    patch.setenv("NBKIT_OUTPUT", str(output))
    patch.setattr(Figure, "savefig", lambda figure, path, **_: Path(path).touch())
    values: dict[str, Any] = {"__name__": "__main__"}
    shown = {}
    for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type != "code":
            continue
        *body, last = ast.parse(cell.source).body
        if not isinstance(last, ast.Expr):
            body, last = [*body, last], None
        place = f"{name}, cell {cell.id}"
        exec(compile(ast.Module(body, []), place, "exec"), values)  # noqa: S102
        if last is not None:
            shown[cell.id] = eval(compile(ast.Expression(last.value), place, "eval"), values)  # noqa: S307
        if "parameters" in cell.metadata.get("tags", []):
            values |= parameters
    plt.close("all")
    found = sorted(path for path in output.rglob("*.*") if path.is_file())
    return Page(shown, values, {str(path.relative_to(output)): path for path in found})


def html(shown: Any) -> str:
    """What a notebook shows of an object that is no figure."""
    if isinstance(shown, Styler):
        return shown.to_html()
    return (shown._repr_html_() or "") if hasattr(shown, "_repr_html_") else ""
