"""YAML that people write: bombs, depth, and values that versions of YAML read differently."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nbkit
from nbkit.batch.params import parse
from nbkit.corpora.homographs import read_lexicon
from nbkit.corpora.templates import load_templates
from nbkit.errors import DataError, NbkitError
from nbkit.models.services.prompts import load_prompt
from nbkit.yaml_text import MOST_CHARACTERS, load

#: Nine aliases of nine aliases of nine …
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{this}: &{this} [{','.join([f'*{last}'] * 9)}]\n" for last, this in zip("abcdefgh", "bcdefghi", strict=True)
)
#: The same with merged mappings.
MERGED = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 9))
#: No bomb, but as deep as it is long.
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 3000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "x.yaml:6: its aliases expand to more than 100,000 values"),
        (MERGED, "x.yaml:6: its aliases expand to more than 100,000 values"),
        (CHAIN, "values are nested more than 50 deep"),
        ("[" * 3000, "x.yaml:1: values are nested more than 50 deep"),
        ("{a: " * 3000, "values are nested more than 50 deep"),
        ("- " * 100_000, "values are nested more than 50 deep"),
        (" " * (MOST_CHARACTERS + 1), "characters, but at most"),
        ("a: &a [*a]", "x.yaml:1: an alias occurs inside the value that it refers to"),
        (
            "a:\n  b: [c\nd: e",
            r"x.yaml:3: invalid YAML: .* \(while parsing a flow sequence, which begins in line 2\)",
        ),
        ("a: *b", "x.yaml:1: invalid YAML: found undefined alias"),
        ("x: " + "1" * 5000, "x.yaml: invalid YAML"),
        ("x: \ud800", "x.yaml: invalid YAML"),
        ("x: 010", r"x.yaml:1: 010 is read differently .*8, for one.*quote it"),
        ("\nx: 1:30", r"x.yaml:2: 1:30 is read differently .*90, for one.*quote it"),
        ("x: 1:30.5", "is read differently"),
        ("x: 0o17", r"0o17 is read differently .*quote it"),
        ("x: 0b11", "is read differently"),
        ("x: 1_000", "is read differently"),
        ("x: 2024-01-01", "is read differently .*quote it"),
        ("x: 2024-99-99", "is read differently .*quote it"),
        ("x: yes", "write true or false, or quote it"),
        ("no: x", "write true or false, or quote it"),
        ("x: !!int '010'", "is read differently"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(DataError, match=message):
        load(text, "x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("x: '010'", {"x": "010"}),
        ('x: "1:30"', {"x": "1:30"}),
        ("x: 'yes'", {"x": "yes"}),
        ("x: |\n  0o17", {"x": "0o17"}),
        ("x: [0, 12, -3, +4, 0x1F]", {"x": [0, 12, -3, 4, 31]}),
        ("x: [1.5, -0.5, .5, 1.]", {"x": [1.5, -0.5, 0.5, 1.0]}),
        ("x: [true, False, null, ~]", {"x": [True, False, None, None]}),
        ("a: &a {n: 1}\nb: {<<: *a, m: 2}", {"a": {"n": 1}, "b": {"n": 1, "m": 2}}),
    ],
)
def test_what_is_read(text, value):
    assert load(text, "x.yaml")[1] == value


def test_every_reader_of_users_files_has_the_limits(tmp_path):
    file = tmp_path / "x.yaml"
    for text in (BOMB, "[" * 3000):
        file.write_text(text)
        for read in (
            lambda: parse(text, "x.yaml"),  # noqa: B023 - called at once
            lambda: load_prompt(str(file)),
            lambda: load_templates("de", file),
            lambda: read_lexicon(file, "mine", "en", "de"),
        ):
            with pytest.raises(NbkitError, match=r"aliases expand to|50 deep"):
                read()


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "a:\n  b: 1\n \tc: 2\n", "- a\n\t- b\n"])
def test_an_indent_with_a_tab_says_what_to_do(text):
    with pytest.raises(NbkitError, match=r"x\.yaml:[23]: .*; indent with spaces, not tabs$"):
        load(text, "x.yaml")
    with pytest.raises(NbkitError, match=r"[^s]$"):
        load("a: [\tb", "x.yaml")


def test_only_files_of_nbkit_are_read_without_limits():
    """`yaml.safe_load` is for what lies beside the code; a new caller belongs in this list, or uses `yaml_text`."""
    package = Path(nbkit.__file__).parent
    own = re.compile(r"__file__|__package__|resources|_HERE|artefacts.yaml|tables.yaml")
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "yaml.safe_load" in text:
            assert own.search(text), f"{path}: reads YAML that is not nbkit's own: use nbkit.yaml_text"
        assert path.stem == "yaml_text" or not re.search(r"yaml\.(load|compose|parse)\(", text), path
