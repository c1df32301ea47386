"""A finished notebook is out of date when what it depends on changed, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nbkit.errors import NbkitError
from nbkit.fingerprint import digest, fingerprint, one_look

FILES = {
    "fpkg/__init__.py": "'''Imports nothing.'''",
    "fpkg/study.py": "from fpkg import lazy\nfrom fpkg.rooms.a import f\nimport numpy, json\n",
    "fpkg/lazy.py": "def use():\n    from .rooms import b\nNAME = 'fpkg.named:THING'\n",
    "fpkg/named.py": "THING = 1\n",
    "fpkg/unused.py": "THING = 2\n",
    "fpkg/rooms/__init__.py": "NAMES = 'all of them'\n",
    "fpkg/rooms/a.py": "f = 1\n",
    "fpkg/rooms/b.py": "g = 1\n",
    "fpkg/rooms/words.yaml": "- a\n",
    "fpkg/rooms/more/list.tsv": "a\tb\n",
    "fpkg/rooms/inner/__init__.py": "",
    "fpkg/rooms/inner/data.csv": "a\n",
    "fpkg/dynamic/__init__.py": "def __getattr__(name):\n    return name\n",
    "fpkg/dynamic/hidden.py": "x = 1\n",
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


def test_what_is_imported_counts_with_the_data_beside_it(package):
    found = fingerprint(["fpkg.study"])
    assert set(found.sources) == {
        "fpkg/study.py",
        "fpkg/lazy.py",
        "fpkg/named.py",
        "fpkg/rooms/a.py",
        "fpkg/rooms/b.py",
        "fpkg/rooms/words.yaml",
        "fpkg/rooms/more/list.tsv",
    }
    assert set(found.versions) == {"numpy", "python"}


@pytest.mark.parametrize("name", FILES)
def test_a_change_counts_where_the_file_does(package, name):
    before = fingerprint(["fpkg.study"])
    path = package / name
    path.write_text(path.read_text() + "\n")
    assert (fingerprint(["fpkg.study"]) != before) == (name in before.sources)


def test_a_package_as_root_brings_all_its_modules(package):
    found = fingerprint(["fpkg.rooms"]).sources
    assert {"fpkg/rooms/__init__.py", "fpkg/rooms/a.py", "fpkg/rooms/inner/data.csv"} <= set(found)
    assert "fpkg/study.py" not in found


def test_a_package_that_imports_by_name_brings_all_its_modules(package):
    (package / "fpkg/unused.py").write_text("from fpkg.dynamic import hidden_thing\n")
    assert "fpkg/dynamic/hidden.py" in fingerprint(["fpkg.unused"]).sources


def test_a_notebooks_own_imports_count(package):
    before = fingerprint(["fpkg.rooms.a"], ["x = 1"])
    assert "fpkg/unused.py" not in before.sources
    assert "fpkg/unused.py" in fingerprint(["fpkg.rooms.a"], ["import fpkg.unused as u"]).sources


def test_a_root_that_does_not_exist_is_named(package):
    with pytest.raises(NbkitError, match=r"fpkg\.studdy"):
        fingerprint(["fpkg.studdy"])


def test_a_file_that_is_no_python_is_named(package):
    (package / "fpkg/lazy.py").write_text("def (:\n")
    with pytest.raises(NbkitError, match=r"lazy\.py:1"):
        fingerprint(["fpkg.study"])


def test_studies_do_not_depend_on_each_other_or_on_the_runner():
    found = fingerprint(["nbkit.studies.word_order"]).sources
    assert {"nbkit/studies/base.py", "nbkit/perturb/tree.py", "nbkit/metrics/bleu.py", "nbkit/store/store.py"} <= set(
        found
    )
    assert "nbkit/studies/__init__.py" not in found and not any(name.startswith("nbkit/batch/") for name in found)


def test_a_digest_leaves_out_what_has_keys_of_its_own(package):
    aside = ("fpkg/rooms/",)
    whole, less = digest("fpkg.study"), digest("fpkg.study", without=aside)
    most = digest("fpkg.study", without=aside, but=("fpkg/rooms/a.py",))
    assert len({whole, less, most}) == 3
    (package / "fpkg/rooms/b.py").write_text("g = 2\n")
    digest.cache_clear()
    assert digest("fpkg.study") != whole and digest("fpkg.study", without=aside) == less
    assert digest("fpkg.study", without=aside, but=("fpkg/rooms/a.py",)) == most


def test_one_look_is_at_the_files_as_they_are_when_it_begins(package):
    before = fingerprint(["fpkg.study"])
    with one_look():
        assert fingerprint(["fpkg.study"]) == before
        (package / "fpkg/rooms/b.py").write_text("g = 2\n")
        (package / "fpkg/rooms/words.yaml").write_text("- b\n")
        assert fingerprint(["fpkg.study"]) == before
    after = fingerprint(["fpkg.study"]).sources
    changed = {name for name, found in after.items() if found != before.sources[name]}
    assert changed == {"fpkg/rooms/b.py", "fpkg/rooms/words.yaml"}
    with one_look():
        assert fingerprint(["fpkg.study"]).sources == after


def test_nothing_is_imported_for_it():
    code = """
import sys
from nbkit.fingerprint import digest, fingerprint, one_look

fingerprint(["nbkit.studies.word_order"])
print([name for name in ("torch", "pandas", "numpy", "nbkit.studies.word_order") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
