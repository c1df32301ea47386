"""Notebooks before they are executed: where they are found, their code, and the parameters they declare."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nbkit.batch.params import Entry, RunFile, entries
from nbkit.bundle import bundled
from nbkit.errors import DataError, NbkitError, closest
from nbkit.fingerprint import fingerprint, one_look
from nbkit.models.python import forgotten
from nbkit.studies.base import Cell, Notebook


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


# ----------------------------------------------------------------------------
# What a run consists of: which notebooks are executed with which parameters, and when each is out of date.


@dataclass(frozen=True)
class Execution:
    """One notebook executed for one cell of the grid, or for the whole grid.

    label: names its files; unique in the run. source: the notebook to execute.
    parameters: what is injected into it. key: digest of everything that can change what it shows.
    """

    label: str
    entry: str
    study: str
    notebook: str
    title: str
    scope: str
    tags: Mapping[str, str]
    parameters: Mapping[str, Any]
    source: Path
    key: str


@dataclass(frozen=True)
class Plan:
    """A run file worked out: its checked entries and its executions, those of cells before those of grids.

    not_remembered: models whose results stay in the process that asks them, which is that of each notebook.
    """

    run: RunFile
    entries: tuple[Entry, ...]
    cells: int
    executions: tuple[Execution, ...]
    not_remembered: tuple[str, ...] = ()


def make_plan(run: RunFile) -> Plan:
    """The plan of *run*. Raises `ParamsError` where it does not fit the schemas, `NbkitError` for a bad notebook."""
    with one_look():  # notebooks share nearly all of the code behind them
        return _make_plan(run)


def _make_plan(run: RunFile) -> Plan:
    checked = entries(run)
    executions: list[Execution] = []
    forgets: list[str] = []
    cells = 0
    for entry in checked:
        grid = entry.study.cells(entry.params)
        points = {"cell": grid, "grid": [Cell("", entry.params)]}
        inputs = {cell.label: entry.study.inputs(cell.params) for cell in [*grid, *points["grid"]]}
        cells += len(grid)
        forgets += forgotten(inputs)
        for notebook in entry.notebooks:
            source = read_source(find_notebook(notebook.path))
            code = asdict(fingerprint((), source.code, packages=(entry.study.package,)))
            for cell in points[notebook.scope]:
                depends = {"inputs": inputs[cell.label], "code": code, "notebook": source.digest}
                executions.append(_execution(entry, notebook, cell, source, depends))
    executions = _told_apart(executions)
    executions.sort(key=lambda execution: execution.scope != "cell")
    label, times = Counter(execution.label for execution in executions).most_common(1)[0] if executions else ("", 0)
    if times > 1:
        raise NbkitError(
            f"run '{run.name}': {times} notebooks would be written to '{label}': rename a cell or an entry"
        )
    return Plan(run, tuple(checked), cells, tuple(executions), tuple(dict.fromkeys(forgets)))


def _told_apart(executions: list[Execution]) -> list[Execution]:
    """*executions* with labels that differ by more than case: some disks do not tell a file ``A`` from a file ``a``."""
    spellings = Counter(label.casefold() for label in {execution.label for execution in executions})
    return [
        replace(each, label=f"{each.label}-{hashlib.blake2b(each.label.encode(), digest_size=3).hexdigest()}")
        if spellings[each.label.casefold()] > 1
        else each
        for each in executions
    ]


def _execution(entry: Entry, notebook: Notebook, cell: Cell, source: Source, depends: Mapping[str, Any]) -> Execution:
    values = cell.params.model_dump(mode="json")
    # papermill only warns about a parameter that the notebook does not have, and then ignores it.
    for name, default in type(cell.params)().model_dump(mode="json").items():
        if name not in source.declared and values[name] != default:
            raise DataError(f"parameter '{name}' is set but missing in the notebook's parameters cell", source.path)
    parameters = {name: value for name, value in values.items() if name in source.declared}
    everything = json.dumps({**depends, "parameters": parameters}, sort_keys=True)
    return Execution(
        label=".".join(filter(None, (entry.name, cell.label, Path(notebook.path).name))),
        entry=entry.name,
        study=entry.study.name,
        notebook=notebook.path,
        title=notebook.title,
        scope=notebook.scope,
        tags={"study": entry.study.name, "run": entry.name, **cell.tags},
        parameters=parameters,
        source=source.path,
        key=hashlib.blake2b(everything.encode(), digest_size=16).hexdigest(),
    )
