"""What a result depends on: the definitions that its code reaches, the data files they read, its libraries' versions.

Read from source files without importing anything. A *definition* is a top-level statement of a module: a function, a
class, an assignment. From a root (a function, a module, the code of a notebook) each name that a definition mentions is
followed to the definition behind it, through imports, re-exports, the ``"package.module:name"`` strings of registries
and catalogues, and patterns of names given to `import_module`. What counts of a definition is its syntax tree without
docstrings, so that comments, docstrings and layout change nothing, and a changed line changes exactly what reaches it.

Annotations of functions are not followed: they do not run.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from nbkit.errors import NbkitError
from nbkit.files import cache_folder, first_sight, read_note, write_note

PACKAGE = "nbkit"
#: Packages of this project that nbkit imports: what they compute changes with their sources, not only their versions.
BELOW = ("nbquantities", "nbsandbox")
#: Rooms that `digest` omits: what comes from there is remembered under keys of its own.
KEYED = ("nbkit/models/", "nbkit/store/")
#: A definition: its module and its name. The name "" stands for all of a module.
Node: TypeAlias = tuple[str, str]
_DATA_SUFFIXES = frozenset({".csv", ".json", ".tsv", ".txt", ".yaml", ".yml"})
_COUNTED = _DATA_SUFFIXES | {".py"}
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?::([A-Za-z_]\w*))?")
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*\n", re.MULTILINE)
_BLOCK_SCALAR = re.compile(rb"[|>][+-]?\d*[ \t]*$", re.MULTILINE)  # in which a line with # is no comment
_WHOLE = ""
_DECLARING = frozenset({"step", "work"})
_DECLARED = re.compile(rb"^@\w+\.(?:step|work)\(", re.MULTILINE)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef)
_ASSIGNMENTS, _IMPORTS = (ast.Assign, ast.AnnAssign), (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Fingerprint:
    """sources: digest of each definition, as ``path:name``, and of each data file. versions: of the libraries used."""

    sources: dict[str, str]
    versions: dict[str, str]


def fingerprint(
    roots: Sequence[str] = (),
    code: Iterable[str] = (),
    *,
    packages: Sequence[str] = (),
    without: Sequence[str] = (),
    but: Sequence[str] = (),
    declarations: bool = True,
) -> Fingerprint:
    """The fingerprint of *roots* (``module`` or ``module:name``) and of *code*, and of all that these reach.

    Followed are names within nbkit, the packages `BELOW` it, *packages*, the packages of *roots*, and loose modules
    beside them. A data file counts if a definition that is reached reads files beside its module and names this one,
    or names none.
    without: beginnings of paths that are neither counted nor followed; but: paths among these that are. declarations:
    whether decorators count that declare a step or work of a study (``@STUDY.step(…)``): they say when a function is
    called and under which key its table is stored, not what it computes.
    Raises `NbkitError` for a root that does not exist.

    >>> found = fingerprint(["nbkit.seeding:generator"])
    >>> sorted(found.sources)[-1], list(found.versions)
    ('nbkit/seeding.py:generator', ['numpy', 'python'])
    """
    if not _shared:
        _forget()
    waiting = [_root(name) for name in roots]
    followed = {PACKAGE, *BELOW, *packages, *(module.partition(".")[0] for module, _ in waiting)}
    search = _Search(followed, (tuple(without), frozenset(but)), declarations)
    search.follow(waiting)
    search.follow_code("\n".join(code))
    _note()
    return Fingerprint(dict(sorted(search.sources().items())), _versions(search.libraries))


@cache
def digest(*roots: str, without: tuple[str, ...] = KEYED, but: tuple[str, ...] = ()) -> str:
    """16 hexadecimal digits of what is behind *roots*: what a remembered table carries of the code that makes it.

    without: beginnings of paths that do not count, by default those of rooms whose results have separate keys.
    but: paths among these that count. Raises as `fingerprint` does.

    >>> digest("nbkit.seeding") == digest("nbkit.seeding"), digest("nbkit.seeding") == digest("nbkit.errors")
    (True, False)
    """

    def answer() -> dict[str, str]:
        sources = fingerprint(roots, without=without, but=but, declarations=False).sources
        return {"code": _digest(repr(sources).encode(), 8)}

    place = cache_folder()
    if "://" in place or not all(root.partition(".")[0] == PACKAGE for root in roots):
        return answer()["code"]  # where the files of other packages are is known only after they were followed
    # Reading all files takes a process seconds: what was found is noted, and holds until one of them is written.
    package = Path(__file__).parent
    folders = (package, *(place for below in BELOW for place in _top(below)))
    files = [f for folder in folders for f in sorted(folder.rglob("*")) if f.suffix in _COUNTED and f.is_file()]
    asked = _digest(repr((sys.version, roots, without, but)).encode())
    return first_sight(package, files, Path(place).expanduser() / "code" / asked, answer)[0]["code"]


class _Search:
    """Definitions reached so far. packages: those whose sources are followed; of others the version counts."""

    def __init__(self, packages: set[str], aside: tuple[tuple[str, ...], frozenset[str]], declarations: bool):
        self._declarations = declarations
        self._packages, (self._without, self._but) = packages, aside
        self._folders = {place.parent for package in packages for place in _top(package)}
        self._reached: dict[str, dict[int, _Statement]] = {}
        self._seen: set[Node] = set()
        self._grown: set[str] = set()  # modules of which more was reached since their data files were looked at
        self.libraries: set[str] = set()

    def follow(self, waiting: list[Node]) -> None:
        """Everything that the definitions *waiting* reach."""
        while waiting:
            node = self._resolved(*waiting.pop())
            if node not in self._seen:
                self._seen.add(node)
                waiting += self._behind(*node)
            if not waiting:
                waiting += self._named()

    def follow_code(self, text: str) -> None:
        """Everything that *text* reaches; it does not itself count."""
        statements = _statements(ast.parse(text), "", False)
        module = _Module("", Path(), statements)
        for statement in statements:
            self.libraries.update(name.partition(".")[0] for name, _ in statement.imports.values())
            self.follow([*module.mentions(statement)])

    def sources(self) -> dict[str, str]:
        """The digest of each definition and data file that was reached."""
        found: dict[str, str] = {}
        for name, statements in self._reached.items():
            module = _module(name, self._declarations)
            shown = _shown(name, module.path)
            # In the order of the source: that in which they were reached differs from process to process.
            for _, statement in sorted(statements.items()):
                for bound in statement.bound or {"(statement)"}:
                    key = f"{shown}:{bound}"
                    found[key] = _digest((found.get(key, "") + statement.digest).encode())
            package = Path(shown).parent
            for file in _files_read(name, module, statements.values()):
                found[(package / file.relative_to(module.path.parent)).as_posix()] = _file_digest(file)
        return found

    def _resolved(self, name: str, attribute: str) -> Node:
        """The definition behind a dotted *attribute* of the module *name*: through re-exports and submodules."""
        first, _, rest = attribute.partition(".")
        if first == _WHOLE or _locate(name) is None or not self._is_source(name):
            return name, first
        module = _module(name)
        origin = module.imports.get(first, (name, first))
        if origin != (name, first):
            return self._resolved(origin[0], ".".join(filter(None, (origin[1], rest))))
        if (first not in module.bound or first in module.imports) and _locate(f"{name}.{first}"):
            return self._resolved(f"{name}.{first}", rest)
        return name, first

    def _is_source(self, name: str) -> bool:
        """Whether a module is one whose source is followed; of a library's the version counts."""
        package = name.partition(".")[0]
        if package in self._packages or _is_loose(package, self._folders):
            return True
        self.libraries.add(package)
        return False

    def _is_followed(self, name: str) -> bool:
        path = _locate(name) if self._is_source(name) else None
        if path is None:
            return False
        shown = _shown(name, path)
        return shown in self._but or not shown.startswith(self._without)

    def _behind(self, name: str, attribute: str) -> Iterator[Node]:
        if not self._is_followed(name):
            return
        module = _module(name, self._declarations)
        if attribute == _WHOLE:
            yield from ((name, bound) for bound in module.bound)
            places: Iterable[int] = range(len(module.statements))
        elif attribute in module.bound:
            places = module.bound[attribute]
        else:  # made on request, by the module's __getattr__
            yield from module.lazy(attribute)
            places = module.bound.get("__getattr__", ())
        reached = self._reached.setdefault(name, {})
        for place in (*places, *module.effects):
            if place not in reached:
                reached[place] = module.statements[place]
                self._grown.add(name)
                yield from _mentioned(name, place, self._declarations)

    def _named(self) -> Iterator[Node]:
        """What the data files name that the modules reached so far read."""
        for name in sorted(self._grown):
            for file in _files_read(name, _module(name, self._declarations), self._reached[name].values()):
                yield from _names_of(file)
        self._grown.clear()


class _Module:
    """A source file's statements, by the names that they bind."""

    def __init__(self, name: str, path: Path, statements: list[_Statement]):
        self.name, self.path, self.statements = name, path, statements
        self.bound: dict[str, list[int]] = {}
        self.imports: dict[str, Node] = {}
        for place, statement in enumerate(statements):
            for bound in sorted(statement.bound):
                self.bound.setdefault(bound, []).append(place)
            self.imports.update({name: node for name, node in statement.imports.items() if name in statement.bound})
        #: Statements that bind nothing of this module: they count wherever anything of it does.
        self.effects = [place for place, statement in enumerate(statements) if not statement.bound]

    def mentions(self, statement: _Statement) -> Iterator[Node]:
        """What *statement* mentions: modules, and dotted names below them, according to its imports."""
        for name, attribute in statement.uses:
            if name in statement.imports or name in self.imports:
                module, imported = statement.imports.get(name) or self.imports[name]
                yield module, ".".join(filter(None, (imported, attribute)))
            elif name in self.bound and self.name:
                yield self.name, name
        for text in statement.strings:
            yield from _dotted(text)
            if statement.imports_by_name and "*" in text:
                yield from _matching(text)

    def lazy(self, attribute: str) -> Iterator[Node]:
        """Where *attribute* comes from, by the tables of names that ``__getattr__`` reads: ``{"name": "module"}``."""
        for place in self.bound.get("__getattr__", ()):
            for name, _ in self.statements[place].uses:
                for table in self.bound.get(name, ()):
                    if attribute in self.statements[table].table:
                        yield f"{self.name}.{self.statements[table].table[attribute]}", attribute


@cache
def _mentioned(name: str, place: int, declarations: bool) -> tuple[Node, ...]:
    module = _module(name, declarations)
    return tuple(dict.fromkeys(module.mentions(module.statements[place])))


def _dotted(text: str) -> Iterator[Node]:
    found = _DOTTED.fullmatch(text) if len(text) < 200 else None
    if found and _locate(found[1]):
        yield found[1], found[2] or _WHOLE


def _matching(pattern: str) -> Iterator[Node]:
    """The modules whose names match *pattern*, such as ``nbsandbox.grammars.*``."""
    base = pattern.partition("*")[0].rpartition(".")[0]
    path = _locate(base) if "." in base else None
    if path is not None and path.name == "__init__.py":
        for name in _submodules(base):
            if fnmatch(name, pattern):
                yield name, _WHOLE


def check_definition(name: str) -> None:
    """Raise `NbkitError` if there is no definition ``module:name``; imports nothing."""
    _root(name)


def _root(name: str) -> Node:
    module, _, attribute = name.partition(":")
    if _locate(module) is None:
        raise NbkitError(f"the code of '{name}' cannot be found: there is no module '{module}'")
    if attribute and attribute not in _module(module).bound:
        raise NbkitError(f"the code of '{name}' cannot be found: '{module}' defines no '{attribute}'")
    return module, attribute


@cache
def _module(name: str, declarations: bool = True) -> _Module:
    path = _locate(name)
    assert path is not None
    state = path.stat()
    return _read(path, name, state.st_mtime_ns, state.st_size, declarations)


@lru_cache(maxsize=4096)
def _read(path: Path, name: str, changed: int, size: int, declarations: bool) -> _Module:
    """Read a source once, as long as it stays as it is (*changed*, *size*)."""
    source = path.read_bytes()
    if not declarations and not _DECLARED.search(source):
        return _read(path, name, changed, size, True)
    # Parsing all sources takes a process seconds: what their statements say is noted for the next one.
    noted, key, of = _noted(cache_folder()), f"{path}\n{name}\n{declarations}", _digest(_own_state() + source)
    if noted.get(key, {}).get("of") == of:
        return _Module(name, path, [_Statement.from_note(each) for each in noted[key]["statements"]])
    try:
        tree = ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise NbkitError(f"{path}:{error.lineno}: no valid Python: {error.msg}") from None
    if not declarations:
        for node in tree.body:
            if isinstance(node, _FUNCTIONS):
                node.decorator_list = [each for each in node.decorator_list if not _declares(each)]
    statements = _statements(tree, name, path.name == "__init__.py")
    noted[key] = {"of": of, "statements": [each.note() for each in statements]}
    _unwritten.add(cache_folder())
    return _Module(name, path, statements)


#: Caches with notes of sources that are not written yet.
_unwritten: set[str] = set()


@cache
def _own_state() -> bytes:
    """What notes of sources depend on beside the sources: how they are read."""
    return Path(__file__).read_bytes() + sys.version.encode()


@cache
def _noted(place: str) -> dict[str, Any]:
    """The notes of sources in the cache *place*: by file, name of the module, and whether declarations count."""
    return {} if "://" in place else read_note(_notes_file(place))


def _notes_file(place: str) -> Path:
    return Path(place).expanduser() / "code" / "sources.json"


def _note() -> None:
    """Write what was read anew, without sources that are gone."""
    for place in _unwritten:
        if "://" not in place:
            kept = {key: note for key, note in _noted(place).items() if Path(key.partition("\n")[0]).is_file()}
            write_note(_notes_file(place), kept)
    _unwritten.clear()


def _declares(decorator: ast.expr) -> bool:
    """Whether a decorator declares a step or work of a study."""
    called = decorator.func if isinstance(decorator, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _DECLARING


def _statements(tree: ast.Module, name: str, is_package: bool) -> list[_Statement]:
    assigned = {bound for node in tree.body for bound in _stored(node)}
    tables: dict[str, set[str]] = {}  # what each function of the module mentions of its assignments
    made: list[_Statement] = []
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        statement = _Reader(name, is_package).statement(node)
        names = {name for name, _ in statement.uses}
        if isinstance(node, _DOCUMENTED):
            tables[node.name] = names & assigned
            # A decorator of the same module may enter what it decorates in a table.
            entering = [each.id for each in node.decorator_list if isinstance(each, ast.Name)]
            statement.bound = {node.name}.union(*(tables.get(name, set()) for name in entering))
        else:  # imports, assignments, and statements that change what was assigned, such as a registry
            changed = set() if isinstance(node, (*_ASSIGNMENTS, *_IMPORTS)) and statement.bound else names
            statement.bound |= changed & assigned
        made.append(statement)
    return made


def _stored(node: ast.AST) -> set[str]:
    """The names that a statement assigns in its own scope."""
    if isinstance(node, (*_SCOPES, ast.ClassDef)):
        return set()
    found = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return found.union(*(_stored(child) for child in ast.iter_child_nodes(node)))


@dataclass
class _Statement:
    """A top-level statement: the names it binds or changes, and what it mentions.

    uses: (name, attribute or ""), of names that are not bound within. imports: what its imports bind, by name.
    strings: its string constants, ``*`` for each part that is filled in; both sorted, so that everything is followed in
    the same order in every process. table: the constants of a mapping that it assigns. digest: of the syntax tree
    without docstrings.
    """

    bound: set[str]
    uses: list[tuple[str, str]]
    strings: list[str]
    imports: dict[str, Node]
    table: dict[str, str]
    reads_files: bool
    imports_by_name: bool
    digest: str

    def note(self) -> list[Any]:
        """The statement as JSON takes it."""
        return [sorted(self.bound), *list(vars(self).values())[1:]]

    @classmethod
    def from_note(cls, note: list[Any]) -> _Statement:
        bound, uses, strings, imports, *others = note
        nodes = {name: (module, attribute) for name, (module, attribute) in imports.items()}
        return cls(set(bound), [(name, attribute) for name, attribute in uses], strings, nodes, *others)


class _Reader(ast.NodeVisitor):
    """Reads one top-level statement."""

    def __init__(self, module: str, is_package: bool):
        self._module, self._is_package = module, is_package
        self._local: list[set[str]] = []
        self.uses: set[tuple[str, str]] = set()
        self.strings: set[str] = set()
        self.imports: dict[str, Node] = {}
        self.reads_files = self.imports_by_name = False

    def statement(self, tree: ast.stmt) -> _Statement:
        self.visit(tree)
        value, table = getattr(tree, "value", None), {}
        if isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            table = {
                str(key.value): str(each.value)
                for key, each in pairs
                if isinstance(key, ast.Constant) and isinstance(each, ast.Constant)
            }
        # Where a name comes from is followed; how it is imported does not matter.
        is_import = isinstance(tree, _IMPORTS)
        digest = "import" if is_import else _digest(ast.dump(_without_docstrings(tree)).encode())
        bound, uses, strings = _stored(tree) | set(self.imports), sorted(self.uses), sorted(self.strings)
        return _Statement(bound, uses, strings, self.imports, table, self.reads_files, self.imports_by_name, digest)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.imports[alias.asname or name] = (name, _WHOLE)
            if not alias.asname and name != alias.name:  # import a.b.c binds a, and makes a.b.c known
                self.uses.add((name, alias.name.partition(".")[2]))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            parents = self._module.split(".")
            base = parents[: len(parents) - node.level + self._is_package]
            module = ".".join([*base, module] if module else base)
        for alias in node.names:
            self.imports[alias.asname or alias.name] = (module, alias.name)

    def visit_Name(self, node: ast.Name) -> None:
        self._use(node.id, "")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._use(inner.id, ".".join(reversed(chain)))
        else:
            self.visit(inner)
        self.imports_by_name |= "import_module" in chain
        self.reads_files |= "files" in chain

    def _use(self, name: str, attribute: str) -> None:
        self.imports_by_name |= name == "import_module"
        self.reads_files |= name == "__file__"
        if not any(name in names for names in self._local) or name in self.imports:
            self.uses.add((name, attribute))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.strings.add(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values]
        self.strings.add("".join(parts))
        for part in node.values:
            if not isinstance(part, ast.Constant):
                self.visit(part)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _FUNCTIONS):
            for outer in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(outer)
        elif isinstance(node, ast.AnnAssign) and self._local:
            for assigned in filter(None, (node.target, node.value)):
                self.visit(assigned)
            return
        if not isinstance(node, _SCOPES):
            super().generic_visit(node)
            return
        self._local.append(_bound_within(node))
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
            for part in body:
                self.visit(part)
            if isinstance(node, ast.Lambda):
                for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    self.visit(default)
        else:
            super().generic_visit(node)
        self._local.pop()


def _bound_within(scope: ast.AST) -> set[str]:
    """The names that are local to a function, lambda or comprehension."""
    found: set[str] = set()
    if isinstance(scope, (*_FUNCTIONS, ast.Lambda)):
        of = scope.args
        arguments = (*of.posonlyargs, *of.args, *of.kwonlyargs, *filter(None, (of.vararg, of.kwarg)))
        found = {argument.arg for argument in arguments}
        body: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    else:
        body = list(ast.iter_child_nodes(scope))
    outer: set[str] = set()
    while body:
        node = body.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        if isinstance(node, _DOCUMENTED):
            found.add(node.name)
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            body += ast.iter_child_nodes(node)
    return found - outer


def _without_docstrings(tree: ast.stmt) -> ast.stmt:
    """*tree* itself, with its docstrings taken out: nobody needs it otherwise."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _files_read(name: str, module: _Module, reached: Collection[_Statement]) -> Sequence[Path]:
    """The data files beside a module that its *reached* statements read."""
    if "." not in name or not any(statement.reads_files for statement in reached):
        return ()  # the top-level folder holds no data of its own
    folder = module.path.parent
    patterns = {text.rpartition("/")[2] for statement in reached for text in statement.strings}
    patterns |= {module.path.stem + pattern for pattern in patterns if pattern.startswith(".")}
    named = {file for pattern in patterns for file in _called(folder, pattern)}
    return [file for file in _data_files(folder) if not named or file in named]


@cache
def _called(folder: Path, pattern: str) -> tuple[Path, ...]:
    """The data files in *folder* that *pattern* names: a name, or one with wildcards; ``*`` alone names none."""
    matches = pattern.__eq__ if set("*?[").isdisjoint(pattern) else partial(fnmatch, pat=pattern)
    return tuple(file for file in _data_files(folder) if pattern != "*" and matches(file.name))


@cache
def _names_of(file: Path) -> tuple[Node, ...]:
    """The definitions that a data file names as ``package.module:name``."""
    text = file.read_text(encoding="utf-8") if file.suffix in (".yaml", ".yml") else ""
    return tuple((found[1], found[2]) for found in _DOTTED.finditer(text) if found[2] and _locate(found[1]))


def _submodules(package: str) -> Iterator[str]:
    """The modules of a package, at any depth."""
    path = _locate(package)
    assert path is not None
    for file in path.parent.rglob("*.py"):
        parts = file.relative_to(path.parent).with_suffix("").parts
        yield ".".join((package, *(part for part in parts if part != "__init__")))


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
def _file_digest(path: Path) -> str:
    """Of a file's bytes; of YAML without the lines that are comments."""
    content = path.read_bytes()
    if path.suffix in (".yaml", ".yml") and not _BLOCK_SCALAR.search(content):
        content = _COMMENT.sub(b"", content)
    return _digest(content)


def _digest(content: bytes, size: int = 16) -> str:
    return hashlib.blake2b(content, digest_size=size).hexdigest()


_shared: list[bool] = []  # one entry for each `one_look` that is open


def _forget() -> None:
    """Read files anew: they come and go between calls, not within one, nor within `one_look`."""
    for function in (_top, _locate, _data_files, _called, _module, _mentioned, _names_of, _file_digest):
        function.cache_clear()


@contextmanager
def one_look() -> Iterator[None]:
    """Fingerprints taken within are all of the files as they are now: each file is read once for all of them."""
    _forget()
    _shared.append(True)
    try:
        yield
    finally:
        _shared.pop()
