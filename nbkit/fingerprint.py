"""What a result depends on: the source files that its code imports, the data files that these read, and libraries.

Read from source files without importing anything. From a module, or the code of a notebook, imports are followed to
files, and so are the dotted names in strings (``"package.module:name"``) by which registries and catalogues import.
What counts of a file is its syntax tree without docstrings, so that comments, docstrings and layout change nothing.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nbkit.errors import NbkitError
from nbkit.files import cache_folder, first_sight

PACKAGE = "nbkit"
#: Packages of this project that nbkit imports: what they compute changes with their sources, not only their versions.
BELOW = ("nbquantities", "nbsandbox")
#: Rooms that `digest` omits: what comes from there is remembered under keys of its own.
KEYED = ("nbkit/models/", "nbkit/store/", "nbsandbox/models/")
_DATA_SUFFIXES = frozenset({".csv", ".json", ".tsv", ".txt", ".yaml", ".yml"})
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*)?")
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*\n", re.MULTILINE)
_BLOCK_SCALAR = re.compile(rb"[|>][+-]?\d*[ \t]*$", re.MULTILINE)  # in which a line with # is no comment
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Fingerprint:
    """sources: the digest of each source and data file. versions: of the libraries used."""

    sources: dict[str, str]
    versions: dict[str, str]


def fingerprint(
    roots: Sequence[str] = (),
    code: Iterable[str] = (),
    *,
    packages: Sequence[str] = (),
    without: Sequence[str] = (),
    but: Sequence[str] = (),
) -> Fingerprint:
    """The fingerprint of the modules *roots* and of *code*, and of all that these import.

    Followed are modules of nbkit, of the packages `BELOW` it, of *packages* and of those of *roots*, and loose modules
    beside them. A data file counts if a module in its folder reads files beside itself and names this one, or none.
    without: beginnings of paths that are neither counted nor followed; but: paths among these that are.
    Raises `NbkitError` for a root that does not exist.

    >>> found = fingerprint(["nbkit.seeding"])
    >>> list(found.sources), list(found.versions)
    (['nbkit/seeding.py'], ['numpy', 'python'])
    """
    for root in roots:
        if _locate(root) is None:
            raise NbkitError(f"there is no module '{root}'")
    followed = {PACKAGE, *BELOW, *packages, *(root.partition(".")[0] for root in roots)}
    beside = {place.parent for name in followed for place in _top(name)}
    libraries: set[str] = set()
    sources: dict[str, str] = {}
    waiting = [*roots, *(name for text in code for name in _mentioned(ast.parse(text), "", False))]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if top not in followed and not _is_loose(top, beside):
            libraries.add(top)
            continue
        if _locate(name) is None:
            continue
        module = _module(name)
        if module.place.startswith(tuple(without)) and module.place not in but:
            continue
        sources |= {
            file: own for file, own in module.sources.items() if not file.startswith(tuple(without)) or file in but
        }
        waiting += module.names - seen
        seen |= module.names
    return Fingerprint(dict(sorted(sources.items())), _versions(libraries))


@cache
def digest(*roots: str, without: tuple[str, ...] = KEYED, but: tuple[str, ...] = ()) -> str:
    """16 hexadecimal digits of what is behind *roots*: what a remembered table carries of the code that makes it.

    without: beginnings of paths that do not count, by default those of rooms whose results have separate keys.
    but: paths among these that count. Raises as `fingerprint` does.

    >>> digest("nbkit.seeding") == digest("nbkit.seeding"), digest("nbkit.seeding") == digest("nbkit.errors")
    (True, False)
    """

    def answer() -> dict[str, str]:
        return {"code": _digest(repr(fingerprint(roots, without=without, but=but).sources).encode(), 8)}

    place = cache_folder()
    if "://" in place or not all(root.partition(".")[0] == PACKAGE for root in roots):
        return answer()["code"]  # where the files of other packages are is known only after they were followed
    # Reading all files takes a process seconds: what was found is noted, and holds until one of them is written.
    package = Path(__file__).parent
    folders = (package, *(each for below in BELOW for each in _top(below)))
    counted = _DATA_SUFFIXES | {".py"}
    files = [f for folder in folders for f in sorted(folder.rglob("*")) if f.suffix in counted and f.is_file()]
    asked = _digest(repr((sys.version, roots, without, but)).encode())
    return first_sight(package, files, Path(place).expanduser() / "code" / asked, answer)[0]["code"]


# ----------------------------------------------------------------------------
# One file.


@dataclass(frozen=True)
class _Module:
    """A module's file, from its package on; the digests of this and of its data files; the modules that they name."""

    place: str
    sources: dict[str, str]
    names: frozenset[str]


@cache
def _module(name: str) -> _Module:
    """A module, read once in a process (`forget`). Raises `NbkitError`, with the line, if it is no Python."""
    path = _locate(name)
    assert path is not None
    place = f"{name.replace('.', '/')}{'/__init__' if path.name == '__init__.py' else ''}.py"
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        raise NbkitError(f"{path}:{error.lineno}: not Python: {error.msg}") from None
    mentioned = set(_mentioned(tree, name, path.name == "__init__.py"))
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    strings, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            strings.add("".join(str(each.value) if isinstance(each, ast.Constant) else "*" for each in node.values))
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    sources = {place: _digest(ast.dump(tree).encode())}
    for file in _files_read(path.parent, strings) if {"__file__", "files"} & names else ():
        content = file.read_bytes()
        if file.suffix in (".yaml", ".yml"):
            if not _BLOCK_SCALAR.search(content):
                content = _COMMENT.sub(b"", content)
            mentioned |= _named_in(content.decode("utf-8", "replace"), {PACKAGE, *BELOW, name.partition(".")[0]})
        sources[(Path(place).parent / file.relative_to(path.parent)).as_posix()] = _digest(content)
    return _Module(place, sources, frozenset(mentioned))


def _files_read(folder: Path, strings: set[str]) -> list[Path]:
    """The data files in *folder* that a module with these *strings* names, or all if it names none.

    In a string, ``*`` stands for what is filled in.
    """
    parts = {part for text in strings if "\n" not in text for part in text.split("/")}
    wild = [part for part in parts if "*" in part and part.strip("*")]

    def is_named(part: str) -> bool:
        return part in parts or any(fnmatchcase(part, pattern) for pattern in wild)

    files = _data_files(folder)
    return [file for file in files if any(map(is_named, file.relative_to(folder).parts))] or files


def _named_in(text: str, packages: set[str]) -> set[str]:
    """The modules of *packages* that a data file names, as ``package.module:name``."""
    found = (each.partition(":")[0] for each in _DOTTED.findall(text) if ":" in each)
    return {each for each in found if each.partition(".")[0] in packages and _locate(each) is not None}


def _mentioned(tree: ast.AST, name: str, is_package: bool) -> Iterator[str]:
    """The modules that the code of a module *name* imports, except for type checkers alone, and those it names."""
    for node in _running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = name.split(".")
                base = ".".join([*parents[: len(parents) - node.level + is_package], *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if _locate(inner) is not None else base
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _DOTTED.fullmatch(node.value):
            module = node.value.partition(":")[0]
            if _locate(module) is not None:
                yield module


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under ``if TYPE_CHECKING``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        is_typing = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        waiting += node.orelse if is_typing else ast.iter_child_nodes(node)  # type: ignore[attr-defined]


def _data_files(folder: Path) -> list[Path]:
    """The data files in *folder* and its sub-folders, but not those of a package below it."""
    found: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not (entry / "__init__.py").exists():
            found += _data_files(entry)
        elif entry.suffix in _DATA_SUFFIXES:
            found.append(entry)
    return found


# ----------------------------------------------------------------------------
# Where modules are.


def _is_loose(package: str, folders: set[Path]) -> bool:
    """Whether *package* lies beside the studies' own code and belongs to no installed distribution."""
    if package in sys.stdlib_module_names or _version(package):
        return False
    return any(place.parent in folders for place in _top(package))


@cache
def _top(package: str) -> tuple[Path, ...]:
    """The folders of a top-level package (or the file of a top-level module), found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(map(Path, spec.submodule_search_locations))
    return (Path(spec.origin),) if spec.origin and spec.origin.endswith(".py") else ()


@cache
def _locate(name: str) -> Path | None:
    """The source file of a module, None where *name* is no module."""
    package, *parts = name.split(".")
    for place in _top(package):
        if place.suffix == ".py":
            return place if not parts else None
        folder = place.joinpath(*parts)
        if (folder / "__init__.py").is_file():
            return folder / "__init__.py"
        if parts and folder.with_name(f"{folder.name}.py").is_file():
            return folder.with_name(f"{folder.name}.py")
    return None


def _versions(libraries: set[str]) -> dict[str, str]:
    found = {library: _version(library) for library in libraries - sys.stdlib_module_names}
    versions = {library: number for library, number in found.items() if number is not None}
    return dict(sorted({**versions, "python": "{}.{}".format(*sys.version_info)}.items()))


@cache
def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:  # not installed, or distributed under another name than it is imported by
        return None


def forget() -> None:
    """Read files anew: nbkit's sources do not change while it runs, those of its tests do."""
    for function in (_top, _locate, _module, digest):
        function.cache_clear()


def _digest(content: bytes, size: int = 16) -> str:
    return hashlib.blake2b(content, digest_size=size).hexdigest()
