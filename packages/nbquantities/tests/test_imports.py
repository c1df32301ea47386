"""The package imports its few dependencies and nothing of nbkit."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import nbquantities

ALLOWED = {"babel", "cn2an", "nbquantities", "num2words", "pint", "yaml"}


def test_the_package_imports_nothing_of_nbkit():
    for file in Path(nbquantities.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            packages = {name.partition(".")[0] for name in names}
            assert packages <= ALLOWED | sys.stdlib_module_names, (file.name, packages)
