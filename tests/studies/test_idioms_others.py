"""Idioms without references: literal translations that few of the other systems have."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pandas as pd
import pytest

from nbkit.corpora.idioms import annotate, english_idioms, shared_translations
from nbkit.errors import ParamsError
from nbkit.studies.behaviours import BAR, behaviour_of
from nbkit.studies.idioms import STUDY, IdiomsParams, items, scores
from nbkit.text.phrases import PhraseMatcher
from nbkit.text.sentences import Pair, Sentence, Text
from tests.pages import run_page
from tests.studies.long_files import outcomes

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


def flagged(params: IdiomsParams) -> dict[str, int]:
    """How many literal translations each system has that few others have."""
    found = STUDY.read(params, "compared")
    return (found["triggers"].str.len() > 0).groupby(found["model"], sort=False).sum().to_dict()


def test_a_literal_translation_that_the_others_do_not_have_is_flagged(params):
    assert flagged(params) == {"literal": 8, "silent": 0, "free-1": 0, "free-2": 0, "free-3": 0}
    table = scores.read(params, "compared", controls=False)
    shares = scores.mean_over_idioms(table, "literal", interval="share").set_index("model")
    assert shares.loc["literal", "value"] == 1 and shares.loc["free-1", "value"] == 0
    assert shares["n"].to_dict() == {"literal": 8, "silent": 0, "free-1": 8, "free-2": 8, "free-3": 8}
    of_one = table[table["model"] == "literal"]
    assert set(of_one["triggers"].explode()) == {"cognent", "seau", "chaude", "patate"}
    assert set(of_one["votes"].explode()) == {0}


def test_a_third_of_the_others_makes_a_word_right(params):
    """Of two literal systems among six each has one of five others on its side, among five one of four: a quarter; of
    four, one of three."""
    six = with_systems(params, "literal", "literal-2", "free-1", "free-2", "free-3", "silent")
    five = with_systems(params, "literal", "literal-2", "free-1", "free-2", "free-3")
    four = with_systems(params, "literal", "literal-2", "free-1", "free-2")
    assert [flagged(each)["literal"] for each in (six, five, four)] == [8, 8, 0]


def test_words_that_good_translations_share_are_no_literal_ones(params, monkeypatch):
    given = {"kick the bucket": "cogner, cognent le seau"}
    monkeypatch.setattr("nbkit.studies.idioms.others.shared_translations", lambda src, tgt: given)
    table = STUDY.read(params, "compared").query("model == 'literal'")
    assert table[table["triggers"].str.len() > 0]["idiom"].unique().tolist() == ["hot potato"]
    assert not table[table["idiom"] == "kick the bucket"]["open"].any()


def test_outcomes_are_the_flags_and_nothing_that_reads_references(params):
    found = pd.concat(list(outcomes(params, texts=True)))
    assert set(found["measure"]) == {"literal"} and len(found) == 5 * 8
    assert found[found["system"] == "literal"]["verdict"].eq("fail").all()
    silent = found[found["system"] == "silent"]
    assert silent["verdict"].eq("undecided").all() and silent["value"].isna().all()
    assert found[found["system"] == "free-2"]["value"].eq(0).all() and found["reference"].isin(["", None]).all()
    marks = [mark for row in found[found["system"] == "literal"].to_dict("records") for mark in row["spans"]]
    assert {mark["label"] for mark in marks} == {"idiom", "trigger"}
    assert STUDY.read(params).empty and "voters and no references" in scores.why_empty(params)


def test_outputs_stand_side_by_side_flagged_ones_first(params, tmp_path, monkeypatch):
    mixed = params.model_copy(update={"models": {**params.models, "half": "half"}, "voters": [*SYSTEMS, "half"]})
    register(Dummy(lambda text: literally(text) if "today" in text else freely(text)), ["half"])
    page = run_page("idioms/others", mixed.model_dump(), tmp_path / "out", monkeypatch)
    table = pd.read_csv(page.kept["tables/side_by_side.texts.csv"])
    assert len(table) == 6 * 8 and table["of"].is_monotonic_decreasing
    assert table["model"].tolist()[:6] == [*SYSTEMS, "half"] and table["of"].iloc[0] == 2
    assert "today" in table["source"].iloc[0] and "[cognent]" not in page.text and "line 1" in page.text
    assert page.frame("dissents").set_index("model").loc["literal", "flagged"] == 8
    assert len(page.figures) == 1


def test_nothing_is_judged_against_references(params):
    labels = [unit.label for unit in STUDY.units(params)]
    assert sum("compared" in label for label in labels) == 5
    assert not any(name in label for label in labels for name in ("outcomes", "similar", "links", "probes"))


def test_three_voters_are_too_few(params):
    with pytest.raises((ParamsError, ValueError), match="at least four"):
        with_systems(params, "literal", "free-1", "free-2")


def test_sources_alone_are_mined_whatever_stands_beside_them(tmp_path, monkeypatch, params):
    """References are neither read nor compared in length, and a sentence that occurs twice counts once."""
    rows = [("They kicked the bucket .", "x"), ("They kicked the bucket .", "y"), ("It rains .", "z")]
    (tmp_path / "news.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    given = params.model_dump() | {"data": "mined", "corpora": {"news": str(tmp_path / "news.tsv")}}
    [pair] = STUDY.read(IdiomsParams(**given), "items").to_dict("records")
    assert (pair["idiom"], pair["reference"]) == ("kick the bucket", "")


def test_shared_translations_are_of_listed_idioms():
    assert set(shared_translations("en", "de")) <= set(english_idioms())
    assert shared_translations("en-GB", "de-AT") == shared_translations("en", "de")


# Read by a person, on the files of NBKIT_DATA.


def rows_of(name: str) -> list[dict[str, str]]:
    with (GOLD / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.thorough
def test_most_occurrences_that_the_matcher_finds_are_idioms(data_folder):
    """Every occurrence is one that was read, and at least 85% of them are idiomatic (79% before names and literal uses
    were excluded)."""
    gold = {(row["file"], int(row["line"]), row["idiom"]): row for row in rows_of("idioms_wmt.tsv")}
    matcher, right = PhraseMatcher(english_idioms()), []
    for name in sorted({file for file, *_ in gold if file.startswith("wmt/")}):
        lines = (data_folder / name).read_text(encoding="utf-8").split("\n")
        empty = Text((Sentence(("",), "de"),))
        for number, line in enumerate(lines, start=1):
            for found in annotate(Pair("", items.plain_text(line), empty), matcher) if line.strip() else ():
                row = gold[name, number, found.idiom]
                assert hashlib.blake2b(line.encode(), digest_size=6).hexdigest() == row["digest"], row
                right.append(row["verdict"] == "right")
    assert len(right) >= 320 and sum(right) / len(right) >= 0.95


def test_the_declared_precision_is_that_of_the_flags_that_were_read(data_folder):
    rows = rows_of("idiom_flags.tsv")
    read = behaviour_of(STUDY).measures["literal"].precision("en", "de")
    assert (read.right, read.of) == (sum(row["verdict"] == "right" for row in rows), len(rows))
    assert read.right / read.of >= BAR
    for row in rows:
        output = data_folder / row["file"]
        texts = [path.read_text(encoding="utf-8").split("\n")[int(row["line"]) - 1].rstrip("\r")
                 for path in (output.parents[1] / "source.en", output)]  # fmt: skip
        assert hashlib.blake2b("\t".join(texts).encode(), digest_size=6).hexdigest() == row["digest"], row
