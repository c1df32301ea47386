"""Idioms without references: literal translations that few of the other systems have."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest

from nbkit.corpora.idioms import annotate, english_idioms, shared_translations
from nbkit.errors import NbkitError, ParamsError
from nbkit.studies import idioms, outcomes
from nbkit.studies.behaviours import BAR, behaviour_of
from nbkit.studies.idioms import IdiomsParams, steps
from nbkit.studies.idioms.others import compared
from nbkit.text.phrases import PhraseMatcher
from nbkit.text.sentences import Pair, Sentence, Text

from .conftest import Dummy, register
from .idioms_cases import literally, toy_params

GOLD = Path(__file__).parents[2] / "benchmarks" / "gold"
SYSTEMS = ["literal", "silent", "free-1", "free-2", "free-3"]


def freely(text: str) -> str:
    return literally(text).replace("cognent le seau", "meurent").replace("une chaude patate", "gênant")


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    """Two idioms in eight sentences: one system translates word by word, one writes nothing, three know the idioms."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    register(Dummy(literally), ["literal", "literal-2"])
    register(Dummy(freely), SYSTEMS[2:])
    register(Dummy(lambda text: ""), ["silent"])
    given = toy_params(tmp_path).model_dump() | {"models": dict(zip(SYSTEMS, SYSTEMS, strict=True)), "voters": SYSTEMS}
    return IdiomsParams(**given | {"tested": "all", "variants": []})


def with_systems(params: IdiomsParams, *names: str) -> IdiomsParams:
    return IdiomsParams(**params.model_dump() | {"models": {name: name for name in names}, "voters": list(names)})


def test_a_literal_translation_that_the_others_do_not_have_is_flagged(params):
    table = idioms.dissents(params).set_index("model")
    assert table["flagged"].to_dict() == {"literal": 8, "silent": 0, "free-1": 0, "free-2": 0, "free-3": 0}
    assert table.loc["literal", "value"] == 1 and table.loc["free-1", "value"] == 0
    assert table["n"].to_dict() == {"literal": 8, "silent": 0, "free-1": 8, "free-2": 8, "free-3": 8}
    found = compared(params, "fr", params.systems[0])
    assert {word for row in found["triggers"] for word, *_ in json.loads(row)} == {
        "cognent",
        "seau",
        "chaude",
        "patate",
    }
    assert {others for row in found["triggers"] for *_, others in json.loads(row)} == {0}


def test_a_third_of_the_others_makes_a_word_right(params):
    """Of two literal systems among six each has one of five others on its side, among five one of four: a quarter; of
    four, one of three."""
    six = with_systems(params, "literal", "literal-2", "free-1", "free-2", "free-3", "silent")
    five = with_systems(params, "literal", "literal-2", "free-1", "free-2", "free-3")
    four = with_systems(params, "literal", "literal-2", "free-1", "free-2")
    flagged = [idioms.dissents(each).set_index("model").loc["literal", "flagged"] for each in (six, five, four)]
    assert flagged == [8, 8, 0]


def test_words_that_good_translations_share_are_no_literal_ones(params, monkeypatch):
    given = {"kick the bucket": "cogner, cognent le seau"}
    monkeypatch.setattr("nbkit.studies.idioms.others.shared_translations", lambda src, tgt: given)
    table = compared(params, "fr", params.systems[0])
    assert table[table["triggers"] != "[]"]["idiom"].unique().tolist() == ["hot potato"]
    assert not table[table["idiom"] == "kick the bucket"]["open"].any()


def test_outcomes_are_the_flags_and_nothing_that_reads_references(params):
    import pandas as pd

    found = pd.concat(list(outcomes(params, texts=True)))
    assert set(found["measure"]) == {"literal"} and len(found) == 5 * 8
    assert found[found["system"] == "literal"]["verdict"].eq("fail").all()
    silent = found[found["system"] == "silent"]
    assert silent["verdict"].eq("undecided").all() and silent["value"].isna().all()
    assert found[found["system"] == "free-2"]["value"].eq(0).all()
    marks = [mark for row in found[found["system"] == "literal"].to_dict("records") for mark in row["spans"]]
    assert {mark["label"] for mark in marks} == {"idiom", "trigger"}
    with pytest.raises(NbkitError, match="no references"):
        idioms.literal_errors(params)


def test_outputs_stand_side_by_side_flagged_ones_first(params):
    mixed = params.model_copy(update={"models": {**params.models, "half": "half"}, "voters": [*SYSTEMS, "half"]})
    register(Dummy(lambda text: literally(text) if "today" in text else freely(text)), ["half"])
    table = idioms.side_by_side(mixed)
    assert len(table) == 6 * 8 and table["flagged"].is_monotonic_decreasing
    assert table["system"].tolist()[:6] == [*SYSTEMS, "half"] and table["flagged"].iloc[0] == 2
    assert "today" in table["source"].iloc[0]


def test_nothing_is_judged_against_references(params):
    labels = [unit.label for unit in idioms.STUDY.units(params)]
    assert sum("compare" in label for label in labels) == 5
    assert not any("judge" in label or "probe" in label for label in labels)


def test_three_voters_are_too_few(params):
    with pytest.raises((ParamsError, ValueError), match="at least four"):
        with_systems(params, "literal", "free-1", "free-2")


def test_sources_alone_are_mined_whatever_stands_beside_them(tmp_path, monkeypatch, params):
    """References are neither read nor compared in length, and a sentence that occurs twice counts once."""
    rows = [("They kicked the bucket .", "x"), ("They kicked the bucket .", "y"), ("It rains .", "z")]
    (tmp_path / "news.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    given = params.model_dump() | {"data": "mined", "corpora": {"news": str(tmp_path / "news.tsv")}}
    [pair] = steps.load_data(IdiomsParams(**given), "fr", steps.Store()).test
    assert (pair.idiom, pair.target) == ("kick the bucket", "")


def test_shared_translations_are_of_listed_idioms():
    assert set(shared_translations("en", "de")) <= set(english_idioms())
    assert shared_translations("en-GB", "de-AT") == shared_translations("en", "de")


# Read by a person, on the files of NBKIT_DATA.


def rows_of(name: str) -> list[dict[str, str]]:
    with (GOLD / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_most_occurrences_that_the_matcher_finds_are_idioms(data_folder):
    """Every occurrence is one that was read, and at least 85% of them are idiomatic (79% before names and literal uses
    were excluded)."""
    gold = {(row["file"], int(row["line"]), row["idiom"]): row for row in rows_of("idioms_wmt.tsv")}
    matcher, right = PhraseMatcher(english_idioms()), []
    for name in sorted({file for file, *_ in gold if file.startswith("wmt/")}):
        lines = (data_folder / name).read_text(encoding="utf-8").split("\n")
        empty = Text((Sentence(("",), "de"),))
        for number, line in enumerate(lines, start=1):
            for found in annotate(Pair("", steps.plain_text(line), empty), matcher) if line.strip() else ():
                row = gold[name, number, found.idiom]
                assert hashlib.blake2b(line.encode(), digest_size=6).hexdigest() == row["digest"], row
                right.append(row["verdict"] == "right")
    assert len(right) >= 320 and sum(right) / len(right) >= 0.95


def test_the_declared_precision_is_that_of_the_flags_that_were_read(data_folder):
    rows = rows_of("idiom_flags.tsv")
    read = behaviour_of(idioms.STUDY).measures["literal"].precision("en", "de")
    assert (read.right, read.of) == (sum(row["verdict"] == "right" for row in rows), len(rows))
    assert read.right / read.of >= BAR
    for row in rows:
        output = data_folder / row["file"]
        texts = [path.read_text(encoding="utf-8").split("\n")[int(row["line"]) - 1].rstrip("\r")
                 for path in (output.parents[1] / "source.en", output)]  # fmt: skip
        assert hashlib.blake2b("\t".join(texts).encode(), digest_size=6).hexdigest() == row["digest"], row
