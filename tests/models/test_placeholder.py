"""Numbers carried over by rule: what the model sees, what comes back, and what happens where a stand-in is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbkit.measure.numbers import judge_number
from nbkit.models import MODELS, ask, label, load
from nbkit.models.translators.placeholder import carry
from nbkit.numbers import forms
from nbkit.numbers.formats import draw_numbers, formats
from nbkit.store import Store
from tests.models.by_name import check_model, load_translator, model_identity, translate_remembered


class Inner:
    """A translator that does what its function does, and keeps what it was asked."""

    name = identity = "inner"

    def __init__(self, function: Callable[[str], str] = lambda text: text):
        self.function, self.asked = function, []

    def translate(self, texts: Sequence[str], *_: object, **__: object) -> list[str]:
        self.asked.append(list(texts))
        return [self.function(text) for text in texts]


def carried(text: str, function: Callable[[str], str] = lambda text: text, src: str = "en", tgt: str = "de"):
    return carry([text], src, tgt, Inner(function).translate)[0]


@pytest.mark.parametrize(
    ("text", "hypothesis"),
    [
        ("It cost 1,234.56 dollars.", "It cost 1.234,56 dollars."),
        ("It cost 10.5 million.", "It cost 10,5 Millionen."),
        ("It grew by 12.5% in 2019.", "It grew by 12,5% in 2019."),
        ("It cost 7, not 8, of 9 euros.", "It cost 7, not 8, of 9 euros."),
        ("A man has one dog.", "A man has one dog."),  # articles are the model's
    ],
)
def test_numbers_are_written_by_rule(text, hypothesis):
    assert carried(text)["hypothesis"] == hypothesis


def test_a_number_in_words_begins_a_sentence_with_a_capital():
    assert carried("Forty-two people came.")["hypothesis"] == "Zweiundvierzig people came."
    assert carried("There came forty-two people.")["hypothesis"] == "There came zweiundvierzig people."


def test_the_model_sees_small_numbers_that_the_text_does_not_hold():
    inner = Inner()
    carry(["It took 7 of 48,213 days and 6.25 hours."], "en", "de", inner.translate)
    ((masked,),) = inner.asked
    assert [int(each) for each in re.findall(r"\d+", masked)] == [8, 6, 9]


def test_the_model_may_write_a_stand_in_in_any_form_and_order():
    def reorders(text: str) -> str:
        first, second = re.findall(r"\d+", text)
        return f"{second} zuerst, dann {'sieben' if first == '7' else first}."

    outcome = carried("From 1,234.5 to 99.", reorders)
    assert (outcome["hypothesis"], outcome["numbers"]) == ("99 zuerst, dann 1.234,5.", "carried")


def test_a_lost_stand_in_gets_a_second_attempt():
    inner = Inner(lambda text: text.replace("7", "zero of").replace("five", "fünf"))
    (outcome,) = carry(["It cost 1,234 euros."], "en", "de", inner.translate)
    assert (outcome["hypothesis"], outcome["numbers"]) == ("It cost 1.234 euros.", "carried")
    assert inner.asked == [["It cost 7 euros."], ["It cost five euros."]]


def test_a_stand_in_that_begins_a_sentence_has_a_capital():
    """As the model has seen number words there; "five boys" is another text to it."""
    knows = {"Five boys play.": "Cinq garçons jouent."}
    found = carried("12 boys play.", lambda text: knows.get(text, "Des garçons."), tgt="fr")
    assert (found["hypothesis"], found["numbers"]) == ("12 garçons jouent.", "carried")


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        (lambda text: re.sub(r"\d+|five", "viele", text), "lost"),
        (lambda text: f"{text} {text}", "doubled"),
    ],
)
def test_what_is_lost_or_doubled_twice_is_the_models_own_translation(function, outcome):
    text = "It cost 1,234 euros."
    found = carried(text, function)
    assert (found["hypothesis"], found["numbers"]) == (function(text), outcome)


def test_texts_are_asked_in_batches_and_come_back_in_order():
    inner = Inner(lambda text: text.replace("7", "").replace("five", ""))  # both attempts fail
    texts = ["no number here", "1,234 here", "", "5,678 and 91 here", "none"]
    found = carry(texts, "en", "de", inner.translate)
    assert [each["numbers"] for each in found] == ["no number", "lost", "no number", "lost", "no number"]
    assert [len(batch) for batch in inner.asked] == [5, 2, 2]
    assert found[0]["hypothesis"] == "no number here"
    assert carry([], "en", "de", inner.translate) == []


def test_outcomes_come_with_the_answers(tmp_path):
    MODELS.register("inner", lambda texts: list(texts), replace=True)
    model = load("placeholder:inner", "translate", "en", "de")
    texts = [("It cost 12.",), ("It cost nothing.",), ("It cost 15.",), ("",)]
    found = list(ask(model, texts, Store(tmp_path), progress=False))
    assert [each["hypothesis"] for each in found] == [text for (text,) in texts]
    assert [each["numbers"] for each in found] == ["carried", "no number", "carried", "no number"]


def test_a_text_with_hundreds_of_numbers():
    text = " ".join(f"{number}," for number in range(1000, 1300))
    assert carried(text)["numbers"] == "carried"
    assert carried(text)["hypothesis"] == text


@settings(max_examples=40)
@given(
    src=st.sampled_from(["en", "de", "zh", "ne", "fr", "ru"]),
    tgt=st.sampled_from(["en", "de", "zh", "ta", "es", "ja"]),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_a_model_that_copies_passes_by_rule(src, tgt, seed, data):
    """Whatever the number, a model that keeps small numbers is enough."""
    patterns = [pattern for group in formats(src).values() for pattern in group]
    (number,) = draw_numbers(data.draw(st.sampled_from(patterns)), src, 1, seed)
    found = carried(f"- {number.written} -", src=src, tgt=tgt)
    assert judge_number(found["hypothesis"], number.value, number.written, src, tgt).strict
    assert found["numbers"] == ("no number" if number.value == 1 else "carried")


def test_the_name_stands_for_the_model_and_for_the_rules(checkpoints):
    folder = str(checkpoints["marian"])
    assert label(f"placeholder:{folder}") == "marian + placeholder"
    assert check_model(f"placeholder:{folder}", "en", "de") is None
    assert "there is no folder" in check_model("placeholder:./nowhere", "en", "de")
    plain, by_rule = (model_identity(name, "en", "de", device="cpu") for name in (folder, f"placeholder:{folder}"))
    assert by_rule == plain | {"placeholder": by_rule["placeholder"]}
    loaded = load_translator(f"placeholder:{folder}", "en", "de", device="cpu")
    assert loaded.name == f"placeholder:{folder}"
    assert len(loaded.translate(["The little dog sleeps ."], "en", "de", progress=False)) == 1


def test_remembered_translations_are_of_the_inner_model(tmp_path):
    inner = Inner()
    MODELS.register("inner", inner)
    store = Store(str(tmp_path / "store"))
    texts = ["It cost 1,234 euros.", "It cost nothing."]
    for _ in range(2):
        found = translate_remembered("placeholder:inner", texts, "en", "de", store=store)
        assert found == ["It cost 1.234 euros.", "It cost nothing."]
    assert inner.asked == [["It cost 7 euros.", "It cost nothing."]]
    assert translate_remembered("inner", texts, "en", "de", store=store)[0] == "It cost 1,234 euros."


def test_every_language_has_the_form_that_others_fall_back_to():
    assert all("digits" in forms(lang) for lang in ("en", "de", "zh", "ta", "ne", "fr", "es", "it", "ru", "ja"))
    assert carried("一共壹佰贰拾叁元", src="zh", tgt="en")["hypothesis"] == f"一共{Decimal(123)}元"
