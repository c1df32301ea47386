"""`nbkit split-idioms`: the files that models are trained on hold what the study does not test on."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from nbkit.cli import main
from nbkit.corpora.idioms import read_idiom_pairs

PLACES = ["today", "here", "there", "again", "now", "soon"]


@pytest.fixture
def run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    lines = [f"They kicked the bucket {place} .\tIls sont morts ici ." for place in PLACES]
    lines += [f"They sleep {place} .\tIls dorment ici ." for place in PLACES]
    lines += ["A hot potato .\tC'est gênant .", "too short\tbien trop long pour une paire"]
    (tmp_path / "corpus.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "list.txt").write_text("kick the bucket\nhot potato\n", encoding="utf-8")
    path = tmp_path / "run.yaml"
    path.write_text(
        f"name: mine\nruns:\n  - study: idioms\n    params:\n      data: mined\n      idioms: {tmp_path}/list.txt\n"
        f'      corpora: {{mine: "{tmp_path}/corpus.tsv"}}\n',
        encoding="utf-8",
    )
    return path


def test_what_is_trained_on_is_not_tested_on(run_file, tmp_path):
    result = CliRunner().invoke(main, ["split-idioms", str(run_file), str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "out" / "en-fr"
    assert result.stdout == f"{folder}: regular 6, idiom-train 3, idiom-test 3\n"
    sides = [(folder / f"regular.{lang}").read_text(encoding="utf-8").splitlines() for lang in ("en", "fr")]
    assert len(sides[0]) == len(sides[1]) == 6 and all("sleep" in line for line in sides[0])
    parts = {
        name: read_idiom_pairs(*(folder / f"{name}.{end}" for end in ("en", "fr", "spans.en")))
        for name in ("idiom-train", "idiom-test")
    }
    sources = [{pair.source for pair in pairs} for pairs in parts.values()]
    assert not sources[0] & sources[1] and len(sources[0] | sources[1]) == 6
    assert {pair.words for pairs in parts.values() for pair in pairs} == {("kicked the bucket",)}
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_of_several_studies_one_is_written(run_file, tmp_path):
    """Both would be written to the same folders, the one over the other."""
    text = run_file.read_text(encoding="utf-8")
    study = text[text.index("  - study") :]
    run_file.write_text(f"{text.replace('study: idioms', 'study: idioms' + chr(10) + '    name: one')}"
                        f"{study.replace('study: idioms', 'study: idioms' + chr(10) + '    name: two')}")  # fmt: skip
    asked = ["split-idioms", str(run_file), str(tmp_path / "out")]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 2 and "choose an entry of the study idioms with --entry one or two" in result.output
    assert not (tmp_path / "out").exists()
    assert CliRunner().invoke(main, [*asked, "--entry", "two"]).exit_code == 0


def test_a_run_file_without_idioms_is_named(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("name: other\nruns:\n  - study: numbers\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["split-idioms", str(path), str(tmp_path / "out")])
    assert result.exit_code == 2 and "run.yaml has no entry of the study idioms" in result.output
