"""The panel without a browser: set its values, press the button, read it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nbkit.errors import ModelError, UnknownNameError
from nbkit.models import CLASSIFIERS, MODELS
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import behaviours
from nbkit.studies.explore import Explorer

EXPLORED = [name for name, each in behaviours(STUDIES).items() if each.explore]
HOSTILE = "<img src=x onerror=alert(1)> 12 banks by the <b>bat</b> / <script>kick the bucket now</script>"


@pytest.fixture(autouse=True)
def systems(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A translator that copies, one that is missing; one, and a classifier, that a test sets."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path_factory.getbasetemp() / "explore"))  # what is mined, once
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    functions: dict[str, Any] = {"classify": lambda *_: "neutral", "translate": str}

    def missing(texts: list[str]) -> list[str]:
        raise ModelError("model 'missing' is <nowhere>")

    MODELS.register("copy", lambda texts: texts)
    MODELS.register("missing", missing)
    MODELS.register("set", lambda texts: [functions["translate"](text) for text in texts])
    CLASSIFIERS.register("judge", lambda pairs: [functions["classify"](*pair) for pair in pairs])
    return functions


def opened(behaviour: str, sentence: str | None = None, system: str = "set", **more: Any) -> Explorer:
    """A panel on *behaviour*, with *sentence* typed."""
    kind = {"classifier" if behaviour == "nli_permutation" else "system": system}
    small = {"disambiguation": {"training_pairs": 600, "n_pairs": 60, "aligner_pairs": 600}}
    explorer = Explorer(behaviour, **{"parameters": small, **kind, **more})
    if sentence is not None:
        explorer.sentence.value = sentence
    return explorer


def shown(explorer: Explorer) -> str:
    """The words of the panel after its button was pressed, with what is marked in [brackets]."""
    explorer.button.click()
    marked = re.sub(r"<mark[^>]*>(.*?)</mark>", r"[\1]", explorer.output.value)
    return " ".join(re.sub(r"<[^>]*>", " ", marked).split())


def test_word_order_of_a_sentence_of_the_corpus() -> None:
    explorer = opened("word_order", system="copy")
    assert explorer.sentence.value == explorer.sentence.options[0]
    explorer.more.value = "perturbations: [reversed]"
    html = shown(explorer)
    assert "perturbation: reversed" in html and "bleu/beta2" in html and "[" in html
    found = explorer.found
    assert found is not None and set(found["source"]) == {explorer.sentence.value}
    assert {groups["perturbation"] for groups in found["groups"]} == {"control", "reversed"}


def test_word_order_of_a_typed_sentence_needs_a_parser(tiny_pipelines: dict[str, str]) -> None:
    parameters = {"word_order": {"parsers": tiny_pipelines, "perturbations": ["reversed"]}}
    explorer = opened("word_order", "Tom sees <i>him</i> now .", "copy", parameters=parameters)
    html = shown(explorer)
    assert "perturbation: reversed" in html and "<i>" not in explorer.output.value
    found = explorer.found
    assert found is not None and (found.loc[found["measure"] == "bleu/beta", "value"] == 1).all()  # its own reference
    explorer.reference.value = "Tom sieht ihn jetzt ."
    shown(explorer)
    assert explorer.found is not None and "Tom sieht ihn jetzt ." in set(explorer.found["reference"])
    assert "no_such_pipeline" in shown(opened("word_order", "Tom.", parameters={"word_order": {"parsers": {
        "en": "no_such_pipeline"}}}))  # fmt: skip


def test_numbers_that_are_wrong_are_marked(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Es kostet 1300 Euro um 22:30 Uhr."
    html = shown(opened("numbers", "It costs 1,200 euros at 10:30 PM."))
    assert "costs [1,200] euros at" in html and "kostet [1300] Euro um" in html
    assert "carried: 0 fail 1,200" in html and "1 judged" in html


@pytest.mark.thorough
def test_literal_words_of_an_idiom_are_marked(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Sie trat den Eimer um."
    explorer = opened("idioms", "She kicked the bucket today.")
    html = shown(explorer)
    assert "She [kicked the bucket] today." in html and "den [Eimer] um" in html
    assert "idioms translated literally, where that can be seen: 100.0%" in html and "references" not in html
    explorer.reference.value = "Der Eimer ist jetzt weg."
    assert "LitTER, as the paper counts: 0.0%" in shown(explorer)  # which cannot be seen, and counts as right
    explorer.sentence.value = "The dog sees a cat."
    assert "no item of this sentence" in shown(explorer) and explorer.found is None


def test_the_sense_of_a_homograph_is_shown(systems: dict[str, Any], tiny_pipelines: dict[str, str]) -> None:
    explorer = opened("disambiguation")
    systems["translate"] = lambda text: "Nichts."
    html = shown(explorer)
    assert "homograph:" in html and "undecided not aligned" in html


def test_answers_stay_and_gold_labels_are_those_of_the_pair(systems: dict[str, Any]) -> None:
    explorer = opened("nli_permutation", "The old dog sleeps here. / The dog sleeps in a garden.", "judge")
    explorer.more.value = "permutations: 7"
    assert "answers that stay under permutation: 100.0% (7 judged)" in shown(explorer)
    explorer.reference.value = "entailment"
    html = shown(explorer)
    assert "accuracy on the pairs as written: 0.0%" in html and "under permutation: 100.0% (7 judged)" in html
    explorer.sentence.value = "The dog sleeps."
    assert "a premise and a hypothesis" in shown(explorer)


@pytest.mark.parametrize("behaviour", EXPLORED)
def test_each_behaviour_says_what_prevents_it(behaviour: str) -> None:
    explorer = opened(behaviour, "  ", "copy")
    assert "There is no sentence" in shown(explorer)
    explorer.sentence.value = HOSTILE
    explorer.system.value = "<script>no/such</script>"
    explorer.button.click()
    assert "&lt;script&gt;no" in explorer.output.value and explorer.found is None
    explorer.system.value = " "
    assert "There is no system" in shown(explorer)
    explorer.target.value = explorer.source.value
    assert explorer.output.value


@pytest.mark.parametrize(
    "behaviour", ["numbers", pytest.param("idioms", marks=pytest.mark.thorough), "nli_permutation"]
)
def test_what_was_typed_is_inert(behaviour: str, systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: f"{text} <script>13 Schläger</script>"
    explorer = opened(behaviour, HOSTILE, "judge" if behaviour == "nli_permutation" else "set")
    explorer.more.value = "permutations: 2" if behaviour == "nli_permutation" else ""
    shown(explorer)
    assert explorer.found is not None, explorer.output.value
    assert "&lt;script&gt;" in explorer.output.value.replace("&lt; script &gt;", "&lt;script&gt;")
    assert not re.search(r"<(script|img|b>bat)", explorer.output.value)


def test_problems_of_parameters_are_shown() -> None:
    explorer = opened("numbers", "3 cats", parameters={"numbers": {"beam": 1}})
    assert "did you mean" in shown(explorer)
    explorer = opened("numbers", "3 cats", "copy")
    explorer.more.value = "beams"
    assert "names and values expected" in shown(explorer)
    assert "is &lt;nowhere&gt;" in (missing := opened("numbers", system="missing"), shown(missing))[0].output.value
    parameters = {"word_order": {"corpus": "no-such-corpus"}}
    assert "No sentences to choose from" in opened("word_order", parameters=parameters).output.value
    with pytest.raises(UnknownNameError, match="did you mean 'numbers'"):
        Explorer("number")
    with pytest.raises(UnknownNameError, match="unknown behaviour 'idiom'"):
        Explorer(parameters={"idiom": {}})


def test_another_behaviour_has_other_systems_and_sentences() -> None:
    explorer = opened("word_order", system="copy", classifier="judge")
    before = explorer.sentence.value
    explorer.behaviour.value = "nli_permutation"
    assert explorer.system.value == "judge" and " / " in explorer.sentence.value
    assert "sandbox-convnet" in explorer.system.options
    explorer.behaviour.value = "numbers"
    assert explorer.system.value == "copy" and explorer.sentence.value not in ("", before)
    explorer.sentence.value = "I typed this."
    explorer.behaviour.value = "idioms"
    assert explorer.sentence.value == "I typed this." and "I typed this." not in explorer.sentence.options
    assert explorer.output.value == ""
    assert set(dict(explorer.behaviour.options).values()) == set(EXPLORED)
