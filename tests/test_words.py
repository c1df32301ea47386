"""What users read is plain English: no phrase of `words.yaml` in messages, help, tables, notebooks or pages."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
PHRASES = {
    name: {**entry, "avoid": re.compile("".join(entry["avoid"]), re.IGNORECASE)}
    for name, entry in yaml.safe_load((Path(__file__).parent / "words.yaml").read_text(encoding="utf-8")).items()
}
#: Keys of YAML files whose values are shown, in any file of nbkit.
SHOWN = {"caption", "description", "headings", "label", "note", "summary", "title"}
#: YAML files all of whose values are shown.
SHOWN_FILES = {"looks.yaml", "tables.yaml"}


def strings(code: str) -> Iterator[tuple[int, str]]:
    """The line and text of each string with a space, and of each public docstring; ``{}`` for what is filled in."""
    tree = ast.parse(code)
    hidden, parts = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.startswith("_"):
            hidden |= {id(statement.value) for statement in node.body[:1] if isinstance(statement, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (hidden | parts):
            text = node.value
        else:
            continue
        if " " in text:
            yield node.lineno, text


def shown(values: object, all_of_it: bool) -> Iterator[str]:
    """The texts of a YAML file that users see."""
    if isinstance(values, str):
        yield from [values] * all_of_it
    elif isinstance(values, list):
        for value in values:
            yield from shown(value, all_of_it)
    elif isinstance(values, dict):
        for key, value in values.items():
            yield from shown(value, all_of_it or key in SHOWN)


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The line and text of each paragraph."""
    for found in re.finditer(r"\S.*?(?=\n\s*\n|\s*\Z)", text, re.DOTALL):
        yield 1 + text.count("\n", 0, found.start()), found.group()


def cells(notebook: str) -> Iterator[tuple[str, str]]:
    """The place and text of what the cells of a notebook say."""
    for number, cell in enumerate(json.loads(notebook)["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield f"cell {number}", source
        else:
            for line, text in strings(re.sub("^[%!]", "#", source, flags=re.MULTILINE)):
                yield f"cell {number}, line {line}", text


@cache
def texts() -> list[tuple[str, object, str]]:
    """The file, the place in it and each text that users read."""
    everything: list[tuple[str, object, str]] = []
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    files = [*pages, *(ROOT / "notebooks").rglob("*.ipynb"), *(ROOT / "params").rglob("*.yaml")]
    for file in [*files, *(ROOT / "nbkit").rglob("*.py"), *(ROOT / "nbkit").rglob("*.yaml")]:
        name, content = file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")
        if name == "CHANGELOG.md":  # what earlier releases said
            continue
        if file.suffix == ".py":
            found = strings(content)
        elif file.suffix == ".ipynb":
            found = cells(content)
        elif name.startswith("nbkit/"):
            found = (("", text) for text in shown(yaml.safe_load(content), file.name in SHOWN_FILES))
        else:
            found = paragraphs(content)
        everything += ((name, place, text) for place, text in found)
    return everything


def complaints(text: str) -> Iterator[str]:
    """The phrases to avoid in *text*, with what to write."""
    text = " ".join(text.split())
    for phrase in PHRASES.values():
        right = [found for each in phrase.get("but", []) for found in re.finditer(each["in"], text, re.IGNORECASE)]
        for found in phrase["avoid"].finditer(text):
            if not any(each.start() <= found.start() < each.end() for each in right):
                round_it = text[max(0, found.start() - 40) : found.end() + 30]
                yield f"'{found.group().strip()}' in '…{round_it}…': write {phrase['write']}"


def test_users_read_plain_english():
    wrong = [f"{file}:{place}: {complaint}" for file, place, text in texts() for complaint in complaints(text)]
    assert not wrong, "\n" + "\n".join(wrong)


def test_each_phrase_finds_its_example_and_not_what_to_write():
    for name, phrase in PHRASES.items():
        assert phrase["avoid"].search(phrase["finds"]), name
        assert list(complaints(phrase["write"])) == [], name


def test_each_exception_is_needed():
    everything = [" ".join(text.split()) for _, _, text in texts()]
    for phrase in PHRASES.values():
        for each in phrase.get("but", []):
            assert each["because"]
            there = re.compile(each["in"], re.IGNORECASE)
            assert any(phrase["avoid"].search(found.group()) for text in everything for found in there.finditer(text))


def test_what_is_collected():
    code = (
        'def command(x):\n    """Help text."""\n    raise E(f"no {x} here")\n\ndef _f():\n    """Not public."""\n'
        'class P:\n    n: int = Field(1, description="how many")\n    key = "plain"\n'
    )
    assert [text for _, text in strings(code)] == ["Help text.", "no {} here", "how many"]
    values = {"t": {"caption": "A table", "columns": "a b", "headings": {"a": "an a"}}}
    assert list(shown(values, False)) == ["A table", "an a"]
    assert list(shown(values, True)) == ["A table", "a b", "an a"]
    markdown = {"cell_type": "markdown", "source": ["# One\n", "two"]}
    code_cell = {"cell_type": "code", "source": ['%matplotlib\nprint("three four")']}
    assert list(cells(json.dumps({"cells": [markdown, code_cell]}))) == [
        ("cell 1", "# One\ntwo"),
        ("cell 2, line 2", "three four"),
    ]
    assert list(paragraphs("a\nb\n\n\nc\n")) == [(1, "a\nb"), (5, "c")]
