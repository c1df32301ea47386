"""The panel without a browser: set its values, press the button, read its output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nbkit.errors import ModelError, NbkitError
from nbkit.studies.word_order import explore
from nbkit.studies.word_order.explore import Explorer, probe, tree
from nbkit.text.sentences import Sentence, Text

CAT = Sentence(
    tokens=("The", "<b>cat</b>", "sees", "a", "dog", "."),
    lang="en",
    spaces=(True, True, True, True, False, False),
    upos=("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
    heads=(1, 2, -1, 4, 2, 2),
    deprels=("det", "nsubj", "root", "det", "obj", "punct"),
)


@pytest.fixture(autouse=True)
def word_by_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A translator that copies, in capitals; results go to a folder of the test's own."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))

    def translate(model: str, texts: Sequence[str], *args: object, **kwargs: object) -> list[str]:
        if model == "missing":
            raise ModelError("model 'missing' is <nowhere>")
        return [text.upper() for text in texts]

    monkeypatch.setattr(explore, "translate_remembered", translate)


def test_scores_of_a_faithful_copy() -> None:
    reference = Text((Sentence(tuple(token.upper() for token in CAT.tokens), "de", CAT.spaces, CAT.upos, CAT.heads),))
    result = probe(Text((CAT,)), "reversed", "copy", "de", reference=reference, metrics=["levenshtein"])
    assert result.perturbed == "dog a sees <b>cat</b> The ."
    assert result.perturbed_reference == result.perturbed_hypothesis == "DOG A SEES <B>CAT</B> THE ."
    scores = dict(zip(result.scores["score"].str[:2].str.strip(), result.scores["Levenshtein similarity"], strict=True))
    assert scores["β"] == scores["β₂"] == 1.0
    assert scores["β₁"] < 0.6 and scores["α"] == scores["β₁"]


def test_without_a_reference_only_the_others_are_scored() -> None:
    scores = probe(Text((CAT,)), "reversed", "copy", "de").scores
    assert scores["BLEU-4"].isna().tolist() == [True, True, True, False, False]


def test_a_perturbation_that_does_not_apply_is_said() -> None:
    result = probe(Text((CAT,)), "adverb_verb_swap", "copy", "de")
    assert result.perturbed is None and result.perturbed_hypothesis is None
    assert "does not apply" in explore.as_html(Text((CAT,)), result, "adverb_verb_swap")


def test_the_tree_is_drawn_and_its_words_are_inert() -> None:
    svg = tree(CAT)
    assert svg.count('displacy-arrow"') == len(CAT) - 1
    assert "<b>" not in svg and "&lt;b&gt;" in svg
    with pytest.raises(NbkitError, match="parse it first"):
        tree(Sentence(("a",), "en"))


def test_panel_from_choice_to_result() -> None:
    explorer = Explorer("sandbox", "en", "de", "copy", n=5)
    assert len(explorer.sentence.options) == 5 and explorer.sentence.value == explorer.sentence.options[0]
    explorer.perturbation.value = "reversed"
    explorer.button.click()
    assert "<svg" in explorer.output.value and "BLEU-4" in explorer.output.value
    assert explorer.sentence.value.upper() in explorer.output.value.replace("&#x27;", "'")
    explorer.language.value = "ja"
    explorer.show()
    assert "perturbed reference" in explorer.output.value


def test_panel_says_what_is_in_the_way() -> None:
    explorer = Explorer("sandbox", "en", "de", "missing", n=2)
    explorer.show()
    assert "is &lt;nowhere&gt;" in explorer.output.value
    explorer.sentence.value = "  "
    explorer.show()
    assert "There is no sentence" in explorer.output.value
    explorer.sentence.value = "Nobody has parsed this yet."
    explorer = Explorer("sandbox", "en", "de", "copy", n=2, parsers={"en": "no_such_pipeline"})
    explorer.sentence.value = "Nobody has parsed this yet."
    explorer.show()
    assert "no_such_pipeline" in explorer.output.value
    assert "No sentences to choose from" in Explorer("no-such-corpus").output.value


def test_a_typed_sentence_is_parsed(tiny_pipelines: dict[str, str]) -> None:
    explorer = Explorer("sandbox", "en", "de", "copy", n=2, parsers=tiny_pipelines)
    explorer.sentence.value = "Tom sleeps <i>now</i> ."
    explorer.perturbation.value = "reversed"
    explorer.show()
    assert "<svg" in explorer.output.value and "<i>" not in explorer.output.value
