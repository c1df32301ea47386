"""Notebooks before they are executed: where they are found, their code, and the parameters they declare."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbkit.bundle import bundled
from nbkit.errors import DataError, NbkitError, closest


@dataclass(frozen=True)
class Source:
    """A notebook's file, the Python in its code cells, its parameters' names, and a digest of cells and tags.

    Outputs are no part of the digest: saving a notebook from JupyterLab makes nothing out of date.
    """

    path: Path
    code: tuple[str, ...]
    declared: frozenset[str]
    digest: str


def find_notebook(path: str) -> Path:
    """The file of a notebook: in ``notebooks/`` here (as `nbkit init` lays out), else the one that came with nbkit.

    Raises `NbkitError` where there is none, with the closest match.
    """
    roots = (Path("notebooks"), bundled("notebooks"))
    for root in roots:
        if (file := root / f"{path}.ipynb").is_file():
            return file.resolve()
    there_are = {file.relative_to(root).with_suffix("").as_posix() for root in roots for file in root.rglob("*.ipynb")}
    guess = closest(path, there_are)
    raise NbkitError(f"there is no notebook '{path}.ipynb'" + (f"; did you mean '{guess}'?" if guess else ""))


def read_source(path: Path) -> Source:
    """Read the notebook at *path*. Raises `DataError` where it is none or has no cell tagged ``parameters``."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        cells = [
            (cell["cell_type"], _joined(cell["source"]), cell.get("metadata", {}).get("tags", []))
            for cell in document["cells"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"no Jupyter notebook (version 4): {error!r}", path) from None
    code = [(_plain_python(text), tags) for kind, text, tags in cells if kind == "code"]
    parameters = [text for text, tags in code if "parameters" in tags]
    if not parameters:
        raise DataError("no code cell has the tag 'parameters'", path)
    declared: set[str] = set()
    for text, tags in code:
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise DataError(
                f"a code cell is no valid Python: {error.msg}: {(error.text or '').strip()}", path
            ) from None
        if "parameters" in tags:
            declared |= _assigned(tree)
    digest = hashlib.blake2b(json.dumps(cells).encode(), digest_size=16).hexdigest()
    return Source(path, tuple(text for text, _ in code), frozenset(declared), digest)


def _joined(source: Any) -> str:
    return source if isinstance(source, str) else "".join(source)


def _plain_python(code: str) -> str:
    """*code* without IPython's own lines (``%matplotlib inline``, ``!ls``, ``%%time``)."""
    lines = []
    for line in code.splitlines():
        text = line.lstrip()
        lines.append(line[: len(line) - len(text)] + "pass" if text[:1] in ("%", "!", "?") else line)
    return "\n".join(lines)


def _assigned(tree: ast.Module) -> set[str]:
    targets: list[ast.expr] = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.AnnAssign):
            targets.append(node.target)
    return {target.id for target in targets if isinstance(target, ast.Name)}
