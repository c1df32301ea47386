"""What a finished notebook depended on: the source of the modules behind it, and its libraries' versions.

Read from source files without importing anything, so that it costs milliseconds and no torch. Not the git
commit: a change of the README, or of another study, leaves a finished grid as it is.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from nbkit.errors import NbkitError

PACKAGE = "nbkit"
#: Rooms that `digest` leaves out: what comes from there is remembered under keys of its own.
KEYED = ("nbkit/models/", "nbkit/store/")
_DATA_SUFFIXES = frozenset({".csv", ".json", ".tsv", ".txt", ".yaml", ".yml"})
_QUOTED = "'"  # marks a name that stands in a string, and counts only if there is such a module
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


@dataclass(frozen=True)
class Fingerprint:
    """sources: digest of each source and data file, by its path in the package. versions: of the libraries used."""

    sources: dict[str, str]
    versions: dict[str, str]


def fingerprint(roots: Sequence[str], code: Iterable[str] = ()) -> Fingerprint:
    """The fingerprint of the modules *roots*, of the imports in *code*, and of all that these import.

    Followed are ``import`` statements anywhere in a module and the ``"package.module:name"`` strings of
    registries, within nbkit, the packages of *roots* and loose modules beside them. Data files beside a module
    belong to it; a package that is only on the way to a module does not count.
    Raises `NbkitError` for a root that does not exist.

    >>> seeding = fingerprint(["nbkit.seeding"])
    >>> list(seeding.sources), list(seeding.versions)
    (['nbkit/seeding.py'], ['numpy', 'python'])
    """
    if not _look.is_shared:
        _look.begin()
    for root in roots:
        if _locate(root) is None:
            raise NbkitError(f"a study names the module '{root}', which does not exist")
    packages = {PACKAGE, *(root.partition(".")[0] for root in roots)}
    folders = {place.parent for package in packages for place in _top(package)}
    waiting = [
        *_submodules(roots),
        *(name for text in code for name in _resolved(_imported(ast.walk(ast.parse(text)), "", False))),
    ]
    seen: set[str] = set()
    sources: dict[str, str] = {}
    libraries: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        package = name.partition(".")[0]
        if package not in packages and not _is_loose(package, folders):
            libraries.add(package)
            continue
        path = _locate(name)
        if path is None:  # an attribute of a module that was met under its own name
            continue
        sources[_shown(name, path)] = _digest(path)
        sources.update(_data_beside(name, path))
        waiting += _references(path, name)
    return Fingerprint(dict(sorted(sources.items())), _versions(libraries))


@cache
def digest(*modules: str, without: tuple[str, ...] = KEYED, but: tuple[str, ...] = ()) -> str:
    """16 hexadecimal digits of the sources behind *modules*: what a remembered table carries of the code behind it.

    without: beginnings of the paths that do not count, by default those of rooms whose results have keys of their own.
    but: paths among these that count. Raises as `fingerprint` does.

    >>> digest("nbkit.seeding") == digest("nbkit.seeding"), digest("nbkit.seeding") == digest("nbkit.errors")
    (True, False)
    """
    sources = fingerprint(modules).sources
    relevant = sorted(item for item in sources.items() if not item[0].startswith(without) or item[0] in but)
    return hashlib.blake2b(repr(relevant).encode(), digest_size=8).hexdigest()


def _submodules(roots: Iterable[str]) -> Iterator[str]:
    """The roots; of one that is a package, its modules too."""
    for root in roots:
        yield root
        path = _locate(root)
        if path is not None and path.name == "__init__.py":
            for file in path.parent.rglob("*.py"):
                parts = file.relative_to(path.parent).with_suffix("").parts
                yield ".".join((root, *(part for part in parts if part != "__init__")))


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


def _shown(name: str, path: Path) -> str:
    """The path of a module's file from its top-level package on, equal in a checkout and an installed wheel."""
    stem = name.replace(".", "/")
    return f"{stem}/__init__.py" if path.name == "__init__.py" else f"{stem}.py"


def _data_beside(name: str, path: Path) -> Iterator[tuple[str, str]]:
    if "." not in name:
        return  # the top-level folder holds no data of its own
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    if "." in package:
        for file in _data_files(path.parent):
            yield f"{package.replace('.', '/')}/{file.relative_to(path.parent).as_posix()}", _digest(file)


@cache
def _data_files(folder: Path) -> tuple[Path, ...]:
    """The data files in *folder* and its sub-folders, but not those of a package below it."""
    found: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not (entry / "__init__.py").exists():
            found += _data_files(entry)
        elif entry.suffix in _DATA_SUFFIXES:
            found.append(entry)
    return tuple(found)


@cache
def _references(path: Path, name: str) -> tuple[str, ...]:
    """The modules that a module refers to; of a package that imports by name, all its own."""
    state = path.stat()
    scan = _scan(path, name, state.st_mtime_ns, state.st_size)
    by_name = scan.imports_by_name and path.name == "__init__.py"  # which ones cannot be read off the source
    return (*_resolved(scan.names), *(_submodules([name]) if by_name else ()))


@dataclass(frozen=True)
class _Scan:
    """What one source refers to: dotted names that may be modules, or attributes of the module before the dot."""

    names: frozenset[str]
    imports_by_name: bool


@lru_cache(maxsize=4096)
def _scan(path: Path, name: str, changed: int, size: int) -> _Scan:
    """Read a source once, as long as it stays as it is (*changed*, *size*)."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise NbkitError(f"{path}:{error.lineno}: no valid Python: {error.msg}") from None
    nodes = list(ast.walk(tree))
    names = frozenset(_imported(nodes, name, path.name == "__init__.py"))
    return _Scan(names, any(map(_imports_by_name, nodes)))


def _resolved(names: Iterable[str]) -> Iterator[str]:
    """*names* with each ``module.attribute`` cut down to the module, where it is no module itself."""
    for name in names:
        dotted = name.removeprefix(_QUOTED)
        if dotted == name:
            module = dotted.rpartition(".")[0]
            yield dotted if not module or _locate(dotted) else module
        elif _locate(dotted):
            yield dotted


def _imports_by_name(node: ast.AST) -> bool:
    """Whether *node* is a module's lazy ``__getattr__`` or a call of ``import_module``."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    return "import_module" in (getattr(node, "id", ""), getattr(node, "attr", ""))


def _imported(nodes: Iterable[ast.AST], name: str, is_package: bool) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parents = name.split(".")
                base = parents[: len(parents) - node.level + is_package]
                module = ".".join([*base, module] if module else base)
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            target = node.value.partition(":")[0]
            if len(target) < 200 and _DOTTED.fullmatch(target):
                yield _QUOTED + target


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


@cache
def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


class _Look:
    """When files are looked at anew: they come and go between calls, not within one, nor within `one_look`."""

    is_shared = False

    @staticmethod
    def begin() -> None:
        for function in (_top, _locate, _data_files, _references, _digest):
            function.cache_clear()


_look = _Look()


@contextmanager
def one_look() -> Iterator[None]:
    """Fingerprints taken within are all of the files as they are now: each file is read once for all of them."""
    _look.begin()
    _look.is_shared, before = True, _look.is_shared
    try:
        yield
    finally:
        _look.is_shared = before
