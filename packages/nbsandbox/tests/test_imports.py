"""The package stands below nbkit: it imports nothing of it, and no big library but for the networks of its models."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import nbsandbox

ALLOWED = {"babel", "nbquantities", "nbsandbox", "yaml"} | sys.stdlib_module_names
#: Of the extra `models`.
NETWORKS = {"torch", "transformers"}


def test_imports():
    for path in Path(nbsandbox.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            allowed = ALLOWED | NETWORKS if path.stem == "networks" else ALLOWED
            assert {name.partition(".")[0] for name in names} <= allowed, (path, names)


def test_importing_the_sandbox_is_light():
    code = "import sys, nbsandbox; print([m for m in ('torch', 'transformers', 'spacy', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
