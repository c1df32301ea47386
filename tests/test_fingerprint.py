"""A finished notebook is out of date when what it depends on changed, and only then."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nbkit
from nbkit.batch.plan import read_source
from nbkit.errors import NbkitError
from nbkit.fingerprint import KEYED, digest, fingerprint
from nbkit.studies import STUDIES

FILES = {
    "fpkg/__init__.py": "'''Imports nothing.'''",
    "fpkg/study.py": """
from fpkg import lazy, rooms
from fpkg.rooms import a as first
import numpy, json

def step():
    return first.f() + lazy.use() + json.loads("1")

def page(words: rooms.Words):
    step = 1
    return [rooms.c for _ in words]

def aside():
    return numpy.zeros(1)
""",
    "fpkg/lazy.py": """
def use():
    from .rooms import b
    return b.g

def unused():
    return NAME

NAME = 'fpkg.named:THING'
""",
    "fpkg/named.py": "THING = 1\nOTHER = 2\n",
    "fpkg/unused.py": "THING = 2\n",
    "fpkg/rooms/__init__.py": "from fpkg.rooms.shared import c, Words\nNAMES = 'all of them'\n",
    "fpkg/rooms/a.py": "LIMIT = 1\n\ndef f():\n    return LIMIT\n\ndef g():\n    return 0\n",
    "fpkg/rooms/b.py": "g = open(__file__ + '/../words.yaml')\n",
    "fpkg/rooms/shared.py": """
from pathlib import Path

_HERE = Path(__file__).parent

class Words:
    pass

def c(name):
    TABLE["c"] = 1
    return _HERE / f"list.{name}", TABLE

def enter(function):
    TABLE[function.__name__] = function

@enter
def entered():
    return 1

TABLE = {}
for key in "ab":
    TABLE[key] = other
""",
    "fpkg/rooms/words.yaml": "made: fpkg.named:OTHER\n",
    "fpkg/rooms/list.tsv": "a\tb\n",
    "fpkg/rooms/other.csv": "a\n",
    "fpkg/rooms/more/list.csv": "a\n",
    "fpkg/rooms/inner/__init__.py": "",
    "fpkg/rooms/inner/list.csv": "a\n",
    "fpkg/dynamic/__init__.py": """
from importlib import import_module

_LAZY = {"f": "hidden"}

def __getattr__(name):
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)

def every(name):
    return import_module(f"fpkg.dynamic.kinds.{name}")
""",
    "fpkg/dynamic/hidden.py": "def f():\n    pass\n\ndef g():\n    pass\n",
    "fpkg/dynamic/kinds/__init__.py": "",
    "fpkg/dynamic/kinds/one.py": "x = 1\n",
    "fpkg/data.yaml": "- top\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def sources(*roots: str) -> set[str]:
    return set(fingerprint(roots).sources)


STUDY = {
    "fpkg/study.py", "fpkg/lazy.py", "fpkg/named.py", "fpkg/rooms/__init__.py", "fpkg/rooms/a.py", "fpkg/rooms/b.py",
    "fpkg/rooms/shared.py", "fpkg/rooms/words.yaml", "fpkg/rooms/list.tsv", "fpkg/rooms/more/list.csv",
    "fpkg/rooms/other.csv",
}  # fmt: skip


def test_what_a_module_reaches_counts(package):
    """Through imports at any depth and strings of registries; of data files those beside a source that reads any."""
    assert sources("fpkg.study") == STUDY
    assert set(fingerprint(["fpkg.study"]).versions) == {"numpy", "python"}
    assert sources("fpkg.rooms.a") == {"fpkg/rooms/a.py"}


@pytest.mark.parametrize("name", FILES)
def test_a_change_counts_where_the_file_does_and_a_comment_nowhere(package, name):
    before = fingerprint(["fpkg.study"])
    path = package / name
    text = path.read_text()
    if path.suffix == ".py":
        path.write_text(f"'''Another docstring.'''\n# A comment.\n\n{ast.unparse(ast.parse(text))}\n")
        assert text.startswith("'''") or fingerprint(["fpkg.study"]) == before
        path.write_text(f"{text}\nADDED = 1\n")
    else:
        path.write_text(f"{text}\n")
    assert (fingerprint(["fpkg.study"]) != before) == (name in STUDY)


def test_comments_of_yaml_do_not_count_unless_they_may_be_text(package):
    path = package / "fpkg/rooms/words.yaml"
    before = fingerprint(["fpkg.study"])
    path.write_text(f"# A comment.\n{path.read_text()}  # another\n")
    assert fingerprint(["fpkg.study"]) == before
    path.write_text("made: |\n  # text\n")
    other = fingerprint(["fpkg.study"])
    path.write_text("made: |\n  # another text\n")
    assert len({repr(before), repr(other), repr(fingerprint(["fpkg.study"]))}) == 3


def test_docstrings_of_functions_and_classes_do_not_count(package):
    path = package / "fpkg/rooms/a.py"
    before = fingerprint(["fpkg.rooms.a"])
    path.write_text('LIMIT = 1\n\ndef f():\n    """New."""\n    return LIMIT\n\ndef g():\n    # zero\n    return 0\n')
    assert fingerprint(["fpkg.rooms.a"]) == before


def test_of_packages_below_nbkit_every_file_counts():
    found = sources("nbkit.numbers")
    assert {"nbquantities/compare.py", "nbquantities/languages/de.yaml"} <= found and "nbkit/errors.py" in found
    assert not any(name.startswith("nbsandbox") for name in found)


def test_number_rules_from_outside_the_package_count(tmp_path, monkeypatch):
    before = sources("nbkit.numbers")
    (tmp_path / "sv.yaml").write_text("locales: [sv]\n", encoding="utf-8")
    monkeypatch.setenv("NBQUANTITIES_LANGUAGES", str(tmp_path))
    assert sources("nbkit.numbers") - before == {"NBQUANTITIES_LANGUAGES/sv.yaml"}


def test_networks_that_come_trained_have_keys_of_their_own():
    every, counted = (set(fingerprint(["nbsandbox"], without=without).sources) for without in ((), KEYED))
    assert "nbsandbox/models/sandbox/config.json" in every and "nbsandbox/__init__.py" in counted
    assert every - counted == {name for name in every if name.startswith("nbsandbox/models/")}


def test_what_the_code_of_a_notebook_reaches_counts(package):
    code = ["from fpkg import unused as u", "u.THING"]
    assert set(fingerprint((), code, packages=["fpkg"]).sources) == {"fpkg/unused.py"}


def test_loose_modules_beside_a_study_count(package):
    (package / "helpers.py").write_text("X = 1\n")
    (package / "mystudy.py").write_text("import helpers, yaml\n")
    assert sources("mystudy") == {"helpers.py", "mystudy.py"}


def test_a_root_that_does_not_exist_is_named(package):
    with pytest.raises(NbkitError, match=r"fpkg\.studdy"):
        fingerprint(["fpkg.studdy"])


def test_a_file_that_is_no_python_is_named(package):
    (package / "fpkg/lazy.py").write_text("def (:\n")
    with pytest.raises(NbkitError, match=r"lazy\.py:1"):
        fingerprint(["fpkg.study"])


def test_a_digest_leaves_out_what_has_keys_of_its_own_but_its_roots(package):
    aside = ("fpkg/rooms/",)
    whole, less = digest("fpkg.study"), digest("fpkg.study", without=aside)
    most = digest("fpkg.study", "fpkg.rooms.a", without=aside)
    assert len({whole, less, most}) == 3
    (package / "fpkg/rooms/b.py").write_text("g = 2\n")
    digest.cache_clear()
    assert digest("fpkg.study") != whole and digest("fpkg.study", without=aside) == less
    assert digest("fpkg.study", "fpkg.rooms.a", without=aside) == most


# The studies of nbkit itself.

PAGES = Path(__file__).parents[1] / "notebooks"

KEYS = """
import ast
from pathlib import Path
from nbkit.fingerprint import digest, fingerprint

def keys():
    digest.cache_clear()
    pages = {study: fingerprint((), code) for study, code in CODE.items()}
    return {**pages, **{name: digest(name) for name in MODULES}}

def study_of(name):
    return name.split(".")[2] if "." in name else name
"""


#: The studies of nbkit itself; packages bring others.
OWN = [study for study in STUDIES if STUDIES.get(study).package == "nbkit"]


def code_of_pages() -> dict[str, list[str]]:
    """The code of all pages of each study: what it reaches is what any of them reaches."""
    return {
        study: [code for page in sorted((PAGES / study).glob("*.ipynb")) for code in read_source(page).code]
        for study in OWN
    }


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the package's sources, to be changed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(
        Path(nbkit.__file__).parent, folder / "nbkit", ignore=shutil.ignore_patterns("__pycache__", "_bundle")
    )
    return folder


def after(copy: Path, script: str) -> str:
    """What *script* prints, run on the copy; it may call ``keys()`` and change files below `Path("nbkit")`."""
    modules = [
        f"nbkit.studies.{name}.{file.stem}"
        for name in OWN
        for file in sorted((copy / f"nbkit/studies/{name}").glob("[!_]*s.py"))
    ]
    code = f"CODE, MODULES = {code_of_pages()!r}, {modules!r}\n{KEYS}\n{script}"
    done = subprocess.run([sys.executable, "-"], input=code, cwd=copy, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_a_comment_or_a_docstring_anywhere_reruns_nothing(copy):
    script = """
before = keys()
for path in Path("nbkit").rglob("*.py"):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body[0].value.value = "Another docstring."
    # unparsing takes all comments out and changes the layout
    path.write_text("# A comment.\\n" + ast.unparse(tree) + "\\n# The end.\\n")
now = keys()
print([name for name in before if before[name] != now[name]])
"""
    assert after(copy, script) == "[]\n"


def test_digests_are_the_same_in_every_process():
    """Whatever order sets have there."""
    page = read_source(PAGES / "disambiguation" / "attractors.ipynb").code
    code = (
        "from nbkit.fingerprint import digest, fingerprint\n"
        f"print(digest('nbsandbox'), digest('nbkit.studies.numbers.judge'), fingerprint((), {page!r}))"
    )
    digests = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "NBKIT_CACHE": f"memory://{seed}"}  # nothing is remembered
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1, digests


def test_a_remembered_digest_is_that_of_the_files_as_they_are(copy, tmp_path):
    """The second process reads no source; one after a change does, and finds another digest."""
    code = """
import ast, nbkit.fingerprint as f
parsed, parse = [], ast.parse
ast.parse = lambda *given, **named: parsed.append(1) or parse(*given, **named)
print(f.digest("nbkit.numbers.formats"), bool(parsed))
"""

    def digests() -> list[str]:
        environment = {**os.environ, "NBKIT_CACHE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], cwd=copy, env=environment, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        return done.stdout.split()

    (first, read), (second, again) = digests(), digests()
    assert (read, again, second) == ("True", "False", first)
    source = copy / "nbkit/numbers/formats.py"
    kept = source.read_text(encoding="utf-8")
    source.write_text(f"{kept}\n\nADDED = 1\n", encoding="utf-8")
    changed, _ = digests()
    source.write_text(kept, encoding="utf-8")
    assert changed != first and digests()[0] == first


@pytest.mark.thorough
def test_a_change_in_a_study_leaves_the_others_as_they_are(copy):
    """Every function of a study's own folder is changed, one study after the other."""
    script = """
before = keys()
for study in CODE:
    files = [*Path(f"nbkit/studies/{study}").rglob("*.py")]
    kept = {path: path.read_text() for path in files}
    for path in files:
        tree = ast.parse(kept[path])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body.append(ast.parse("assert True").body[0])
        path.write_text(ast.unparse(tree))
    now = keys()
    for path, text in kept.items():
        path.write_text(text)
    print(study, sorted({study_of(name) for name in before if before[name] != now[name]}))
"""
    assert after(copy, script) == "".join(f"{study} ['{study}']\n" for study in OWN)


@pytest.fixture(scope="module")
def reached() -> dict[str, set[str]]:
    """The source and data files that the pages of each study reach."""
    return {study: set(fingerprint((), code).sources) for study, code in code_of_pages().items()}


@pytest.mark.parametrize(
    "path, expected",
    [
        ("measure/senses.py", {"disambiguation"}),
        ("measure/acceptance.py", {"nli_permutation"}),
        ("perturb/derangements.py", {"nli_permutation"}),
        ("measure/statistics.py", set(OWN)),
        ("figures/theme.yaml", set(OWN)),
        *((f"studies/{study}/judge.py", {study}) for study in OWN),
    ],
)
def test_a_metric_counts_for_the_studies_that_reach_it(reached, path, expected):
    assert {
        study for study, names in reached.items() if any(name.startswith(f"nbkit/{path}") for name in names)
    } == expected


def test_nothing_is_imported_for_it():
    code = """
import sys
from nbkit.fingerprint import digest, fingerprint

fingerprint(["nbkit.studies.word_order"])
print([name for name in ("torch", "pandas", "numpy", "nbkit.studies.word_order") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
