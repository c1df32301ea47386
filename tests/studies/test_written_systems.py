"""Systems as a run file writes them: mappings of commands, and patterns that stand for many systems."""

from __future__ import annotations

import json

import pytest

from nbkit.errors import ParamsError
from nbkit.models import label
from nbkit.studies.disambiguation import DisambiguationParams
from nbkit.studies.idioms import IdiomsParams
from nbkit.studies.numbers import NumbersParams
from nbkit.studies.word_order import WordOrderParams

COMMAND = {"isolate": "batch", "command": ["marian-decoder", "-c", "{src}.yml"], "workers": 2, "version": "ü"}
NAME = 'command:{"command": ["marian-decoder", "-c", "{src}.yml"], "isolate": "batch", "version": "ü", "workers": 2}'


@pytest.mark.parametrize("params", [WordOrderParams, NumbersParams, DisambiguationParams])
def test_a_mapping_is_a_command(params):
    """Under one name however its keys are ordered, and again what it is after a way through JSON."""
    found = params(models=["opus-mt", COMMAND, dict(reversed(COMMAND.items()))])
    assert found.models == ["opus-mt", NAME]
    assert params(**json.loads(found.model_dump_json())) == found


def test_the_idioms_study_has_commands_as_values():
    assert IdiomsParams(models={"mine": COMMAND, "other": "opus-mt"}).models == {"mine": NAME, "other": "opus-mt"}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"comand": ["rev"]}, "comand: unknown option; did you mean 'command'?"),
        ({"isolate": "batch"}, "command: is missing"),
        ({"command": "rev -x"}, "command: expected a list, such as [a, b], found 'rev -x'"),
        ({"command": ["rev"], "workers": 0.5}, "workers: expected a whole number, found 0.5"),
        ({"command": ["rev"], "version": __import__("datetime").date(2024, 5, 1)}, "put text in quotes"),
        (3, "expected text"),
    ],
)
def test_a_mapping_that_is_no_command_is_refused(model, message):
    for params, models in ((WordOrderParams, [model]), (IdiomsParams, {"mine": model})):
        with pytest.raises(ParamsError) as error:
            params(models=models)
        assert message in str(error.value)


@pytest.fixture
def systems(tmp_path):
    """Makes files of translations of the systems for a pair."""

    def made(pair: str, *names: str) -> None:
        folder = tmp_path / pair / "systems"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / f"{name}.{pair.partition('-')[2]}").write_text("x\n", encoding="utf-8")

    made.pattern = f"outputs:{tmp_path}/{{src}}-{{tgt}}/systems/*.{{tgt}}"
    return made


def test_a_star_stands_for_each_system(systems):
    """Those with a file for each pair of the run, with their names as labels; hidden files and sources are none."""
    for pair in ("en-de", "en-fr"):
        systems(pair, "B (1)", "A.x", ".hidden", "source")
    params = WordOrderParams(languages=["de", "fr"], models=["opus-mt", systems.pattern])
    assert params.models == ["opus-mt", systems.pattern.replace("*", "A.x"), systems.pattern.replace("*", "B (1)")]
    assert [label(name) for name in params.models[1:]] == ["A.x", "B (1)"]
    assert WordOrderParams(**params.model_dump()) == params
    by_rule = NumbersParams(languages=["de"], models=[f"placeholder:{systems.pattern}"])
    assert by_rule.models[0] == f"placeholder:{systems.pattern.replace('*', 'A.x')}"
    assert len(DisambiguationParams(models=[systems.pattern]).models) == 2


def test_a_star_is_filled_in_variables_and_options(systems, tmp_path, monkeypatch):
    systems("en-de", "GPT4")
    monkeypatch.setenv("NBKIT_DATA", str(tmp_path))
    name = "outputs:${NBKIT_DATA}/{pair}/systems/*.{tgt}?source=news.en"
    assert WordOrderParams(models=[name]).models == [name.replace("*", "GPT4")]


def test_labels_of_the_idioms_study_are_filled_as_well(systems):
    systems("en-fr", "A", "B")
    found = IdiomsParams(models={"WMT *": systems.pattern}).models
    assert list(found) == ["WMT A", "WMT B"] and found["WMT B"] == systems.pattern.replace("*", "B")
    with pytest.raises(ParamsError, match="refers to 2 systems: write \\* into what they are called"):
        IdiomsParams(models={"WMT": systems.pattern})


def test_a_system_that_lacks_a_pair_is_named(systems):
    systems("en-de", "A", "B", "C")
    systems("de-en", "A")
    with pytest.raises(
        ParamsError,
        match="system 'B' has no file for de-en, system 'C' has no file for de-en; write one entry of the run file per",
    ):
        NumbersParams(languages=["de"], directions=["out", "back"], models=[systems.pattern])
    assert len(NumbersParams(languages=["de"], directions=["back"], models=[systems.pattern]).models) == 1


@pytest.mark.parametrize(
    "wrong", ["outputs:{0}/*/systems/A.de", "outputs:{0}/en-de/systems/*.*", "outputs:{0}/*?source=*"]
)
def test_a_star_stands_alone_in_the_last_part(wrong, systems, tmp_path):
    systems("en-de", "A")
    with pytest.raises(ParamsError, match="one \\* is expected, in the last part of the path"):
        WordOrderParams(models=[wrong.replace("{0}", str(tmp_path))])


def test_a_pattern_without_a_match_is_refused(systems, monkeypatch):
    with pytest.raises(ParamsError, match="no file matches for en-de"):
        WordOrderParams(models=[systems.pattern])
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    with pytest.raises(ParamsError, match="NBKIT_DATA"):
        WordOrderParams(models=["outputs:${NBKIT_DATA}/*.de"])


def test_the_wrong_language_is_what_is_reported(systems):
    with pytest.raises(ParamsError) as error:
        WordOrderParams(languages=["xx"], models=[systems.pattern])
    assert "xx" in str(error.value) and "no file matches" not in str(error.value)
