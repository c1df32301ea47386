"""YAML that people write: read with limits, and without the numbers that YAML 1.1 and 1.2 read differently.

Every YAML file that is not nbkit's own goes through `compose` or `load`, its own through `read_own`. Only YAML's plain
types are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from nbkit.errors import DataError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: Characters that a file may have, values that may stand inside each other, and values that its aliases may stand for.
MOST_CHARACTERS, MOST_DEPTH, MOST_REPEATED = 16 * 2**20, 50, 100_000
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
#: What both versions of YAML read alike; any other plain value of these types is refused.
_ALIKE = {
    f"{_TAG}int": re.compile(r"[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+)"),
    f"{_TAG}float": re.compile(
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    ),
    f"{_TAG}bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    f"{_TAG}timestamp": re.compile(r"(?!)"),
    f"{_TAG}str": re.compile(r"(?!0o[0-7]+$).*", re.DOTALL),
}
_ADVICE = {f"{_TAG}bool": "write true or false, or quote it if it is text", f"{_TAG}timestamp": "quote it"}


def read_own(file: Path | Traversable) -> Any:
    """The content of one of nbkit's own YAML files, by the parser in C, which takes a tenth of the time."""
    return yaml.load(file.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe loader


def compose(text: str, place: str | Path, what: str = "invalid YAML") -> yaml.Node | None:
    """The nodes of a YAML text, None if it is empty; errors call it *place*.

    Raises `DataError`, with the line and beginning with *what*, for a text that is not YAML, is too long or too deep,
    or whose aliases expand to too much.

    >>> compose("a: [1, 2]", "demo.yaml").value[0][0].value
    'a'
    >>> compose("[" * 3000, "demo.yaml")
    Traceback (most recent call last):
    nbkit.errors.DataError: demo.yaml:1: values are nested more than 50 deep
    """
    if len(text) > MOST_CHARACTERS:
        raise DataError(f"{len(text):,} characters, but at most {MOST_CHARACTERS:,} are read: split the file", place)
    try:
        _check_size(yaml.parse(text, _LOADER), place)
        return yaml.compose(text, _LOADER)
    except yaml.YAMLError as error:
        raise _refused(error, text, place, what) from None
    except UnicodeError as error:  # half a surrogate pair
        raise DataError(f"{what}: {error}", place) from None


def load(text: str, place: str | Path, what: str = "invalid YAML") -> tuple[yaml.Node | None, Any]:
    """The nodes of a YAML text, which know their lines, and its value. Raises as `compose` does.

    Numbers, truth values and dates that YAML 1.1 and 1.2 read differently are an error, too.

    >>> load("n: 10", "demo.yaml")[1]
    {'n': 10}
    >>> load("n: 010", "demo.yaml")
    Traceback (most recent call last):
    nbkit.errors.DataError: demo.yaml:1: 010 is read differently by different versions of YAML (8, for one): write a
    plain decimal number, or quote it if it is text
    """
    node = compose(text, place, what)
    if node is None:
        return None, None
    for scalar in _scalars(node, set()):
        _check_scalar(scalar, place)
    try:
        return node, yaml.load(text, _LOADER)  # noqa: S506 - a safe loader; making the value would change the nodes
    except yaml.YAMLError as error:
        raise _refused(error, text, place, what) from None
    except (ValueError, OverflowError) as error:  # a number of more digits than Python reads
        raise DataError(f"{what}: {error}", place) from None


def line_of(node: yaml.Node) -> int:
    """The line that a node begins in."""
    return node.start_mark.line + 1


def _refused(error: yaml.YAMLError, text: str, place: str | Path, what: str) -> DataError:
    mark, context, begun = (getattr(error, name, None) for name in ("problem_mark", "context", "context_mark"))
    reason: str = getattr(error, "problem", None) or " ".join(str(error).split())
    if mark and begun and begun.line < mark.line:
        reason += f" ({context}, which begins in line {begun.line + 1})"
    line = "".join(text.split("\n")[mark.line : mark.line + 1]) if mark else ""
    advice = "; indent with spaces, not tabs" if re.match(r"\s*\t", line) else ""
    return DataError(f"{what}: {reason}{advice}", place, mark.line + 1 if mark else None)


def _check_size(events: Iterable[yaml.Event], place: str | Path) -> None:
    """Raises `DataError` for a text whose nodes would be too deep, or too many once aliases are replaced."""
    sizes: dict[str, tuple[int, int]] = {}  # of what has an anchor: nodes in it, levels in it
    opened: list[tuple[str | None, int, int]] = []  # anchor, nodes before it, the deepest level below it
    nodes = repeated = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else None
        deepest = len(opened)
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
            deepest += 1
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _, _ in opened):
                raise DataError("an alias occurs inside the value that it refers to", place, line)
            inside, levels = sizes.get(str(event.anchor), (0, 0))
            nodes, repeated, deepest = nodes + inside, repeated + inside, deepest + levels
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, nodes, deepest))
        elif isinstance(event, yaml.ScalarEvent) and event.anchor:
            sizes[event.anchor] = (1, 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before, lowest = opened.pop()
            deepest = lowest
            if anchor:
                sizes[anchor] = (nodes - before + 1, lowest - len(opened))
        if opened and deepest > opened[-1][2]:
            opened[-1] = (*opened[-1][:2], deepest)
        if deepest > MOST_DEPTH:
            raise DataError(f"values are nested more than {MOST_DEPTH} deep", place, line)
        if repeated > MOST_REPEATED:
            raise DataError(f"its aliases expand to more than {MOST_REPEATED:,} values: write them out", place, line)


def _scalars(node: yaml.Node, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.CollectionNode):
        for item in node.value:
            for each in item if isinstance(item, tuple) else (item,):  # of a mapping, key and value
                yield from _scalars(each, seen)


def _check_scalar(node: yaml.ScalarNode, place: str | Path) -> None:
    is_quoted = bool(node.style) and node.tag == f"{_TAG}str"
    if is_quoted or node.tag not in _ALIKE or _ALIKE[node.tag].fullmatch(node.value) is not None:
        return
    raise DataError(
        f"{node.value:.40} is read differently by different versions of YAML{_meaning(node)}: "
        f"{_ADVICE.get(node.tag, 'write a plain decimal number, or quote it if it is text')}",
        place,
        line_of(node),
    )


def _meaning(node: yaml.ScalarNode) -> str:
    try:
        return f" ({_LOADER('').construct_document(node)}, for one)"
    except (yaml.YAMLError, ValueError, OverflowError):
        return ""
