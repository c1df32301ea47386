"""Writing numbers: the published examples, the round trip, and values that cannot be written."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbquantities import QuantitiesError, find_numbers, forms, write_number
from nbquantities.errors import UnknownNameError

LANGUAGES = ("en", "de", "fr", "es", "it", "ru", "zh", "ja", "ta", "ne")
EVERY = [(lang, form) for lang in LANGUAGES for form in forms(lang)]


@pytest.mark.parametrize(
    ("value", "lang", "form", "written"),
    [
        # Wang et al. 2021, Tables 1, 2 and 4 and A.1.
        ("10010000", "en", "scale", "10.01 million"),
        ("10010000", "zh", "scale", "1001万"),
        ("1230000", "en", "grouped", "1,230,000"),
        ("1234000", "en", "scale", "1.234 million"),
        ("1234.5", "en", "grouped", "1,234.5"),
        ("1234.5", "de", "grouped", "1.234,5"),
        ("1234.5", "fr", "grouped", "1\u202f234,5"),
        ("1234.5", "ru", "grouped", "1\u00a0234,5"),
        ("1234567.5", "ta", "grouped", "12,34,567.5"),
        ("1234567.5", "ne", "grouped", "12,34,567.5"),
        ("1234567", "ne", "native", "१२३४५६७"),
        ("1234.5", "ta", "native", "௧௨௩௪.௫"),
        ("1234.50", "de", "digits", "1234,50"),
        ("1000000", "de", "scale", "1 Million"),
        ("1500000", "de", "scale", "1,5 Millionen"),
        ("1500000", "fr", "scale", "1,5 million"),
        ("2500000", "fr", "scale", "2,5 millions"),
        ("2500000000", "es", "scale", "2500 millones"),
        ("12300000", "ne", "scale", "1.23 करोड"),
        ("320000000", "ja", "scale", "3.2億"),
        ("999", "en", "scale", "999"),
        ("21000", "es", "words", "veintiún mil"),
        ("31000", "es", "words", "treinta y un mil"),
        ("101000", "de", "words", "einhunderteintausend"),
        ("3.14", "zh", "words", "三点一四"),
        ("123", "zh", "financial", "壹佰贰拾叁"),
        ("123", "ja", "financial", "百弐拾参"),
        ("-2.5", "de", "words", "minus zwei Komma fünf"),
        ("1234567", "ta", "words", "பன்னிரண்டு லட்சத்து முப்பத்து நான்கு ஆயிரத்து ஐநூற்று அறுபத்து ஏழு"),
        ("99999", "ne", "words", "उनान्सय हजार नौ सय उनान्सय"),
    ],
)
def test_written_forms(value, lang, form, written):
    assert write_number(Decimal(value), lang, form) == written


@st.composite
def written_numbers(draw) -> tuple[Decimal, str, str]:
    lang, form = draw(st.sampled_from(EVERY))
    whole = draw(st.integers(0, 10 ** draw(st.integers(1, 12))))
    return Decimal(draw(st.sampled_from((1, 1, -1))) * whole).scaleb(-draw(st.integers(0, 6))), lang, form


@given(written_numbers())
def test_what_is_written_is_read_again(case):
    value, lang, form = case
    written = write_number(value, lang, form)
    assert [number.value for number in find_numbers(written, lang)] == [value]


@pytest.mark.thorough
@pytest.mark.parametrize(("lang", "form"), EVERY)
def test_a_thousand_numbers_without_a_miss_or_a_false_alarm(lang, form):
    draw = random.Random(f"{lang} {form}")
    for _ in range(1000):
        value = Decimal(draw.randrange(10 ** draw.randint(1, 12)))
        if draw.random() < 0.3:
            value = value.scaleb(-draw.randint(1, 6))
        if draw.random() < 0.1:
            value = -value
        written = write_number(value, lang, form)
        (number,) = find_numbers(written, lang)
        assert (number.value, number.span, number.kind, number.localised) == (
            value,
            (0, len(written)),
            "cardinal",
            True,
        ), written


CARRIERS = {
    "en": "They counted {} cases, he said.",
    "de": "Am Ende zählten sie {} Fälle.",
    "zh": "他们数到了{}元。",
    "ta": "மார்ச்சில் {} வழக்குகள் பதிவாகின.",
    "ne": "मार्चमा {} घटना भए।",
    "fr": "Ils ont compté {} cas en mars.",
    "es": "Contaron {} casos en marzo.",
    "it": "Hanno contato {} casi a marzo.",
    "ru": "Они насчитали {} случаев.",
    "ja": "{}件を数えた。",
}


@pytest.mark.parametrize(("lang", "form"), EVERY)
def test_numbers_are_found_inside_sentences(lang, form):
    draw = random.Random(f"{lang} {form} carried")
    for _ in range(200):
        value = Decimal(draw.randrange(2, 10 ** draw.randint(1, 11)))
        if draw.random() < 0.3 and value > 10:
            value = value.scaleb(-1)
        if value == 1:
            continue
        text = CARRIERS[lang].format(write_number(value, lang, form))
        assert [n.value for n in find_numbers(text, lang) if n.form != "article"] == [value], text


def test_whole_numbers_of_any_length_in_digits():
    value = Decimal("123456789012345678901234567890.123456789")
    for form in ("digits", "grouped", "native"):
        (number,) = find_numbers(write_number(value, "ne", form), "ne")
        assert number.value == value


@pytest.mark.parametrize(("lang", "form"), [("en", "financial"), ("de", "native"), ("zh", "nonsense")])
def test_a_form_that_a_language_has_not_is_named(lang, form):
    with pytest.raises(UnknownNameError, match=f"form of numbers in '{lang}' '{form}'"):
        write_number(5, lang, form)


def test_a_language_without_rules_is_named():
    with pytest.raises(UnknownNameError, match="'sv'"):
        write_number(5, "sv")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(QuantitiesError, match="not finite"):
        write_number(Decimal(value), "en")


@pytest.mark.parametrize("value", [1.5, True, None])
def test_what_is_not_exact_is_refused(value):
    with pytest.raises(QuantitiesError, match=f"{value} is not an exact number"):
        write_number(value, "de")


@pytest.mark.parametrize("lang", sorted(LANGUAGES))
def test_words_end_somewhere(lang):
    with pytest.raises(QuantitiesError, match="write it in digits"):
        write_number(Decimal(10) ** 400, lang, "words")
