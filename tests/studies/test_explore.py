"""One sentence through each behaviour, and the panel without a browser: set its values, press the button, read it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nbkit.errors import ModelError, NbkitError, UnknownNameError
from nbkit.models import CLASSIFIERS, MODELS
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import behaviours
from nbkit.studies.explore import Explorer
from nbkit.studies.idioms.explore import Judged
from nbkit.studies.numbers.explore import rewritten
from nbkit.studies.word_order import explore
from nbkit.studies.word_order.explore import probe, tree
from nbkit.text.sentences import Sentence, Text

STUDIED = [name for name, each in behaviours(STUDIES).items() if each.explore]
#: As little of the sandbox as has every homograph.
SMALL = {"disambiguation": {"training_pairs": 600, "n_pairs": 60, "aligner_pairs": 600}}
HOSTILE = "<img src=x onerror=alert(1)> 12 banks by the <b>bat</b> / <script>kick the bucket now</script>"

CAT = Sentence(
    tokens=("The", "<b>cat</b>", "sees", "a", "dog", "."),
    lang="en",
    spaces=(True, True, True, True, False, False),
    upos=("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT"),
    heads=(1, 2, -1, 4, 2, 2),
    deprels=("det", "nsubj", "root", "det", "obj", "punct"),
)


@pytest.fixture(autouse=True)
def systems(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A translator that copies, in capitals; one that is not there; one, and a classifier, that a test sets."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path_factory.getbasetemp() / "explore"))  # what is mined, once
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    said: dict[str, Any] = {}

    def missing(texts: list[str]) -> list[str]:
        raise ModelError("model 'missing' is <nowhere>")

    MODELS.register("copy", lambda texts: [text.upper() for text in texts])
    MODELS.register("missing", missing)
    MODELS.register("set", lambda texts: [said["translate"](text) for text in texts])
    CLASSIFIERS.register("judge", lambda pairs: [said["classify"](*pair) for pair in pairs])
    return said


def opened(behaviour: str, sentence: str | None = None, system: str = "set", **more: Any) -> Explorer:
    """A panel on *behaviour*, with *sentence* typed."""
    kind = {"classifier" if behaviour == "nli_permutation" else "system": system}
    explorer = Explorer(behaviour, **{"parameters": SMALL, "n": 5, **kind, **more})
    if sentence is not None:
        explorer.sentence.value = sentence
    return explorer


def shown(explorer: Explorer, **options: Any) -> str:
    """What the panel says after *options* were set and the button was pressed."""
    for name, value in options.items():
        explorer.options[name].value = value
    explorer.button.click()
    return explorer.output.value


def read(html: str) -> str:
    """The words of *html*, with what is marked in [brackets]."""
    marked = re.sub(r"<mark[^>]*>(.*?)</mark>", r"[\1]", re.sub(r"<style.*?</style>", "", html, flags=re.S))
    return " ".join(re.sub(r"<[^>]*>", " ", marked).split())


# ----------------------------------------------------------------------------
# Word order.


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


def test_word_order_from_choice_to_result() -> None:
    explorer = opened("word_order", system="copy")
    assert len(explorer.sentence.options) == 5 and explorer.sentence.value == explorer.sentence.options[0]
    html = shown(explorer, perturbation="reversed")
    assert "<svg" in html and "BLEU-4" in html and "chrF" in html
    assert explorer.sentence.value.upper() in html.replace("&#x27;", "'")
    explorer.target.value = "ja"
    assert "perturbed reference" in shown(explorer)
    assert explorer.found.perturbed_hypothesis == explorer.found.perturbed.upper()


def test_word_order_of_a_typed_sentence(tiny_pipelines: dict[str, str]) -> None:
    parameters = {"word_order": {"parsers": tiny_pipelines}}
    explorer = opened("word_order", "Tom sleeps <i>now</i> .", "copy", parameters=parameters)
    html = shown(explorer, perturbation="reversed")
    assert "<svg" in html and "<i>" not in html


def test_word_order_without_a_pipeline_needs_no_tree_for_a_shuffle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbkit.corpora.nli.check_parser", lambda *_: "not installed")
    explorer = opened("word_order", "Tom sleeps in the garden.", "copy")
    assert "[garden] [the]" in read(shown(explorer, perturbation="reversed"))
    said = shown(explorer, perturbation="tree_mirror_pre")
    assert "not parsed" in said and "parsers" in said and explorer.found is None


# ----------------------------------------------------------------------------
# Numbers.


def test_numbers_are_marked_with_verdict_and_reason(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Es kostet 1300 Euro um 22:30 Uhr, sagen 3 Männer."
    explorer = opened("numbers", "It costs 1,200 euros at 10:30 PM, say one of 3 men.")
    said = read(shown(explorer))
    assert "costs [1,200] euros at [10:30 PM]" in said and "kostet [1300] Euro um [22:30 Uhr]" in said
    assert "1,200 1300 1200 EUR (money) 1300 EUR (money) wrong value" in said
    assert "10:30 PM 22:30 Uhr 22:30 (clock) 22:30 (clock) equivalent clock" in said
    assert "one 1 (cardinal) not required" in said
    assert [verdict.grade for verdict in explorer.found.verdicts] == ["wrong", "equivalent", "same"]


def test_a_number_is_replaced_before_the_sentence_is_translated(systems: dict[str, Any]) -> None:
    asked: list[str] = []
    systems["translate"] = lambda text: asked.append(text) or text
    explorer = opened("numbers", "12 cats see 3 dogs.")
    shown(explorer, format="words")
    shown(explorer, number="7.5 million", format="")
    shown(explorer, number="7.5 million", format="grouped")
    assert asked == ["Twelve cats see 3 dogs.", "7.5 million cats see 3 dogs.", "7,500,000 cats see 3 dogs."]
    assert "'frog' is not a number" in read(shown(explorer, number="frog")).replace("&#x27;", "'")
    explorer.sentence.value = "Cats see dogs."
    assert "no number that could be replaced" in shown(explorer, number="3", format="")
    assert "No number was found" in shown(explorer, number="")
    with pytest.raises(NbkitError, match="no number"):
        rewritten("Cats.", "en", form="words")


def test_formats_are_those_of_the_language() -> None:
    explorer = opened("numbers", system="copy")
    assert "financial" not in dict(explorer.options["format"].options)
    explorer.source.value = "zh"
    assert "financial" in dict(explorer.options["format"].options)
    assert "there are no number rules for Swedish" in shown(opened("numbers", "3 cats", "copy", source="sv"))


# ----------------------------------------------------------------------------
# Idioms.


def test_literal_words_of_an_idiom_are_marked_and_judged(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Sie trat den Eimer um."
    explorer = opened("idioms", "Last night she kicked the bucket.")
    said = read(shown(explorer))
    assert "she [kicked the bucket]" in said and "den [Eimer] um" in said
    assert "kick the bucket : translated literally (eimer)" in said and "bucket eimer yes" in said
    said = read(shown(explorer, reference="Der Eimer ist weg."))
    assert "no literal translation" in said and "bucket eimer no: in the reference" in said
    [(idiom, judgement)] = explorer.found.idioms
    assert idiom.words == ("kicked the bucket",) and not judgement.error and judgement.covered


def test_sentences_of_the_corpus_bring_their_idiom_and_reference(systems: dict[str, Any]) -> None:
    systems["translate"] = str
    explorer = opened("idioms")
    said = read(shown(explorer))
    assert "reference" in said and "[" in said.partition("reference")[0]
    assert len({explorer._examples[each][0].idiom for each in explorer.sentence.options}) == 5


def test_what_idioms_cannot_show_is_said(systems: dict[str, Any]) -> None:
    systems["translate"] = str.upper
    explorer = opened("idioms", "The dog sees a cat.")
    said = read(shown(explorer))
    assert "No idiom of the phrase list was found" in said and "THE DOG SEES A CAT." in said
    explorer.sentence.value = "It is a litmus test."  # on the list, and without a word of it in the dictionary
    assert "undecided: none of its words is in the dictionary" in read(shown(explorer))
    explorer = opened("idioms", "She kicked the bucket.", parameters={"idioms": {"dictionary": "/nowhere.tsv"}})
    said = read(shown(explorer))
    assert "[kicked the bucket]" in said and "SHE KICKED" in said and "/nowhere.tsv" in said and "no verdict" in said
    assert isinstance(explorer.found, Judged)


# ----------------------------------------------------------------------------
# Word senses.


def test_a_homograph_with_clusters_biases_and_an_attack(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Der Bauer hat die heiße Quelle gesehen." if "hot" in text else (
        "Der Bauer hat den Frühling gesehen.")  # fmt: skip
    explorer = opened("disambiguation", "The farmer saw the spring.")
    said = read(shown(explorer))
    assert "saw the [spring]" in said and "[Frühling]" in said and "sense season" in said
    assert "coil Feder" in said and "Bias of the sentence" in said
    biases = explorer.found.biases.set_index("word")
    assert biases.loc["farmer", "FREQ season"] > 0 and explorer.found.means["season"] > 0
    assert "hot" in explorer.options["attractor"].options
    said = read(shown(explorer, attractor="hot"))
    assert "saw the hot [spring]" in said and "[Quelle]" in said
    assert "changes the sense from season to water" in said
    assert explorer.found.attack.found.sense == "water"


def test_a_sentence_of_the_corpus_has_a_sense_and_a_tree(systems: dict[str, Any]) -> None:
    systems["translate"] = lambda text: "Nichts."
    explorer = opened("disambiguation")
    known = explorer._examples[explorer.sentence.value]
    said = read(shown(explorer, attractor="best"))
    assert explorer.found.sense and f"translation (sense {explorer.found.sense})" in said
    assert "undecided: not aligned" in said and "cannot be compared" in said
    assert "positive" in explorer.found.attack.broken and "attested" in explorer.found.attack.broken
    assert len(explorer.found.attack.text.tokens) == len(known.source.tokens) + 1


def test_what_word_senses_cannot_show_is_said(systems: dict[str, Any]) -> None:
    systems["translate"] = str
    explorer = opened("disambiguation", "The dog sees a cat.")
    assert "no homograph of this sentence; it has bank, bat" in shown(explorer)
    explorer.sentence.value = "The banks are near the bats."
    assert "Also homographs: bat." in read(shown(explorer))
    assert explorer.options["homograph"].options == ("bank", "bat")
    assert "are near the [bats]" in read(shown(explorer, homograph="bat"))
    assert "unknown homograph" in shown(explorer, homograph="dog")
    assert "one word at a time" in shown(explorer, homograph="", attractor="very old")
    explorer = opened("disambiguation", "The bank is old.", target="pt")
    assert "disambiguation" in shown(explorer) and explorer.found is None


# ----------------------------------------------------------------------------
# Inference under permuted words.


def test_permutations_get_labels_and_a_share_accepted(systems: dict[str, Any]) -> None:
    pair = "The old dog sleeps in the garden.", "The dog sleeps in a garden."
    systems["classify"] = lambda premise, hypothesis: (
        "entailment" if (premise, hypothesis) == pair or hypothesis.startswith("sleeps") else "neutral"
    )
    explorer = opened("nli_permutation", " / ".join(pair), "judge")
    said = read(shown(explorer, permutations=30))
    found = explorer.found
    accepted = sum(hypothesis.startswith("sleeps") for _, hypothesis in found.texts[2:])
    assert 0 < accepted < 30 and found.accepted == accepted and len(found.texts) == 32
    assert f"{accepted} of 30 permutations" in said and "get the label of the pair as written, entailment" in said
    assert f"neutral {30 - accepted}" in said and "The first 20 of 30" in said
    assert all(sorted(premise.split()) == sorted(found.texts[1][0].split()) for premise, _ in found.texts[2:])


def test_the_gold_label_counts_where_it_is_known(systems: dict[str, Any]) -> None:
    systems["classify"] = lambda premise, hypothesis: "neutral"
    explorer = opened("nli_permutation", system="judge")
    for sentence in explorer.sentence.options:
        explorer.sentence.value = sentence
        gold = explorer._examples[sentence].label
        said = read(shown(explorer, permutations=3))
        assert f"{3 * (gold == 'neutral')} of 3 permutations" in said and f"get the gold label, {gold}" in said


def test_what_inference_cannot_show_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = opened("nli_permutation", "The dog sleeps.", "judge")
    assert "a premise and a hypothesis" in shown(explorer)
    explorer.sentence.value = "The dog sleeps. / Nobody is here now."
    assert "fewer than 20 orders" in shown(explorer)
    assert "at least 1" in shown(explorer, permutations=0)
    explorer.system.value = "copy"
    assert "unknown classifier" in shown(explorer, permutations=2)
    undecided = [(float("nan"),) * 3] * 4  # a chat model that did not answer
    monkeypatch.setattr("nbkit.studies.nli_permutation.explore.iter_classified", lambda *_, **__: iter(undecided))
    assert "gives the pair as written no label" in shown(explorer)


# ----------------------------------------------------------------------------
# The panel, whatever the behaviour.


@pytest.mark.parametrize("behaviour", STUDIED)
def test_each_behaviour_says_what_is_in_the_way(behaviour: str) -> None:
    explorer = opened(behaviour, "  ", "copy")
    options = {"perturbation": "reversed"} if behaviour == "word_order" else {}
    assert "There is no sentence" in shown(explorer, **options)
    explorer.sentence.value = HOSTILE
    explorer.system.value = "<script>no/such</script>"
    assert "&lt;script&gt;no" in shown(explorer) and explorer.found is None
    explorer.system.value = " "
    assert "There is no system" in shown(explorer)
    explorer.target.value = explorer.source.value
    assert explorer.output.value


@pytest.mark.parametrize("behaviour", STUDIED)
def test_what_was_typed_is_inert(behaviour: str, systems: dict[str, Any]) -> None:
    systems |= {"translate": lambda text: f"{text} <script>13 Schläger</script>", "classify": lambda *_: "neutral"}
    explorer = opened(behaviour, HOSTILE, "judge" if behaviour == "nli_permutation" else "set")
    html = shown(explorer, **{"perturbation": "reversed"} if behaviour == "word_order" else {})
    assert explorer.found is not None, html
    assert "&lt;script&gt;" in html.replace("&lt; script &gt;", "&lt;script&gt;")
    assert not re.search(r"<(script|img|b>bat)", html)


def test_panel_says_what_is_in_the_way_of_examples() -> None:
    explorer = opened("word_order", system="missing", n=2)
    assert "is &lt;nowhere&gt;" in shown(explorer)
    parameters = {"word_order": {"parsers": {"en": "no_such_pipeline"}}}
    assert "no_such_pipeline" in shown(opened("word_order", "Nobody has parsed this yet.", parameters=parameters))
    parameters = {"word_order": {"corpus": "no-such-corpus"}}
    assert "No sentences to choose from" in opened("word_order", parameters=parameters).output.value
    assert "did you mean" in shown(opened("numbers", "3 cats", parameters={"numbers": {"beam": 1}}))
    with pytest.raises(UnknownNameError, match="did you mean 'numbers'"):
        Explorer("number")
    with pytest.raises(UnknownNameError, match="unknown behaviour 'idiom'"):
        Explorer(parameters={"idiom": {}})


def test_another_behaviour_has_other_choices_systems_and_sentences(systems: dict[str, Any]) -> None:
    explorer = opened("word_order", system="copy", classifier="judge")
    before = explorer.sentence.value
    assert list(explorer.options) == ["perturbation", "draw"]
    explorer.behaviour.value = "nli_permutation"
    assert list(explorer.options) == ["permutations"] and explorer.system.value == "judge"
    assert " / " in explorer.sentence.value and "sandbox-convnet" in explorer.system.options
    explorer.behaviour.value = "numbers"
    assert explorer.system.value == "copy" and explorer.sentence.value not in ("", before)
    explorer.system.value = "set"
    explorer.sentence.value = "I typed this."
    explorer.behaviour.value = "nli_permutation"
    explorer.behaviour.value = "idioms"
    assert explorer.system.value == "set" and explorer.sentence.value == "I typed this."
    assert "I typed this." not in explorer.sentence.options and explorer.output.value == ""


def test_every_study_can_be_explored() -> None:
    assert dict(Explorer(n=1).behaviour.options) == {
        each.title: name for name, each in behaviours(STUDIES).items() if each.explore
    }
