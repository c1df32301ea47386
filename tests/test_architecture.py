"""What ARCHITECTURE.md promises of the source tree: imports point one way, rooms stay small, importing stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import nbkit

PACKAGE = Path(nbkit.__file__).parent
GROUND = (
    *("errors", "languages", "registry", "seeding", "progress", "files", "yaml_text"),
    *("store", "fingerprint", "provenance"),
)
ROOMS = (
    *("numbers", "text", "corpora", "perturb", "models", "measure"),
    *("figures", "studies", "report", "batch", "cli"),
)
LEVEL = {
    **dict.fromkeys(GROUND, 0),
    **{room: level for level, room in enumerate(ROOMS, 1)},
    "__init__": 0,
    "__main__": 99,
}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports anywhere, also inside functions."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("nbkit.")}
        elif isinstance(node, ast.ImportFrom) and node.module == "nbkit":
            rooms |= {alias.name for alias in node.names if alias.name in LEVEL}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nbkit."):
            rooms.add(node.module.split(".")[1])
    return rooms


def test_imports_point_one_way():
    """No file imports a room that stands after its own in ARCHITECTURE.md; the package itself imports none."""
    upwards = [
        f"{path.relative_to(PACKAGE)} imports {other}, which stands after it in ARCHITECTURE.md"
        for path in SOURCES
        for other in sorted(imported_rooms(path))
        if LEVEL[other] > LEVEL[room_of(path)]
    ]
    assert not upwards, "\n" + "\n".join(upwards)
    assert imported_rooms(PACKAGE / "__init__.py") == {"registry"}  # which finds what other packages bring


def module_of(path: Path) -> str:
    return ".".join(("nbkit", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


def imported_modules(path: Path, known: set[str]) -> tuple[set[str], int]:
    """The modules of nbkit that a file imports when it runs, and how many statements within functions do."""
    found: set[str] = set()
    hidden = 0
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.If)]  # TYPE_CHECKING
    within = {id(node) for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef) for node in ast.walk(scope)}
    for node in ast.walk(tree):
        names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            names = {name if name in known else node.module for name in names}
        own = names & known
        found |= own
        hidden += bool(own) and id(node) in within
    return found - {module_of(path)}, hidden


def test_no_module_imports_itself_through_others():
    """No import circle, not even by imports within functions; and of those there are few."""
    known = {module_of(path) for path in SOURCES}
    imports = {module_of(path): imported_modules(path, known) for path in SOURCES}
    order = list(TopologicalSorter({name: modules for name, (modules, _) in imports.items()}).static_order())
    assert len(order) == len(known)
    hidden = {name: n for name, (_, n) in imports.items() if n}
    assert sum(hidden.values()) <= 40, hidden


def test_every_room_is_in_the_document():
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for room in {room_of(path) for path in SOURCES} - {"__init__", "__main__"}:
        assert f"`{room}" in text, f"ARCHITECTURE.md does not mention {room}"


def test_importing_every_room_is_cheap():
    """`import nbkit` and each room import neither torch, transformers, spaCy, datasets nor pandas."""
    rooms = ", ".join(sorted({f"nbkit.{room_of(path)}" for path in SOURCES} - {"nbkit.__init__", "nbkit.__main__"}))
    code = (
        f"import sys, {rooms}\n"
        "print([m for m in ('torch', 'transformers', 'spacy', 'datasets', 'pandas', 'seaborn') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
