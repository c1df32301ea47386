"""Number formats: what parses, what is drawn, and what is not."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.numbers import find_numbers, forms
from nbkit.numbers.formats import CAPABILITIES, capability, draw_numbers, formats, parse_format

LANGUAGES = ("en", "de", "zh", "ta", "ne", "fr", "es", "it", "ru", "ja")
ALL = [(lang, pattern) for lang in LANGUAGES for patterns in formats(lang).values() for pattern in patterns]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_25_are_what_the_paper_describes(lang):
    """§2: 25 formats across four capabilities; ten Integers, six Decimals, five Separators, four Numerals."""
    listed = formats(lang)
    assert tuple(listed) == CAPABILITIES
    assert [len(patterns) for patterns in listed.values()] == [10, 6, 5, 4]
    assert listed["integers"] == tuple("d" * n for n in range(1, 11))
    assert (listed["decimals"][0], listed["decimals"][-1]) == ("d.d", "dddd.dddd")
    assert (listed["separators"][0], listed["separators"][-1]) == ("d,ddd", "ddd,ddd,ddd.dd")
    assert {"d.dn", "ddd.ddn"} < set(listed["numerals"])
    for name, patterns in listed.items():
        assert {capability(pattern) for pattern in patterns} == {name}
        assert {parse_format(pattern).form for pattern in patterns} <= set(forms(lang))


@pytest.mark.parametrize(("lang", "pattern"), ALL)
def test_drawn_numbers_are_of_their_format_and_different(lang, pattern):
    parsed = parse_format(pattern)
    drawn = draw_numbers(pattern, lang, min(30, parsed.size(lang)), seed=3)
    values = [number.value for number in drawn]
    assert len(set(values)) == len(values)
    assert len({number.written for number in drawn}) == len(drawn)
    for number in drawn:
        fits = [_shape(number.value, power) == (len(parsed.integer), len(parsed.fraction))
                for power in parsed.scales(lang)]  # fmt: skip
        assert sum(fits) == 1


@pytest.mark.parametrize(("lang", "pattern"), ALL)
def test_what_is_written_is_read_as_the_value(lang, pattern):
    for number in draw_numbers(pattern, lang, 9, seed=5):
        assert [found.value for found in find_numbers(number.written, lang)] == [number.value]


def _shape(value: Decimal, power: int) -> tuple[int, int]:
    """Digits before the point and, without idle zeros, after it."""
    whole, _, fraction = format(value.scaleb(-power), "f").partition(".")
    return len(whole), len(fraction.rstrip("0"))


@given(
    whole=st.integers(1, 9),
    fraction=st.integers(0, 5),
    n=st.integers(1, 9),
    more=st.integers(0, 20),
    seed=st.integers(0, 5),
)
def test_a_longer_draw_begins_with_the_shorter_one(whole, fraction, n, more, seed):
    pattern = "d" * whole + ("." + "d" * fraction if fraction else "")
    held = parse_format(pattern).size("en")
    shorter, longer = (draw_numbers(pattern, "en", min(size, held), seed) for size in (n, n + more))
    assert longer[: len(shorter)] == shorter
    assert [each.value for each in draw_numbers(pattern, "ne", len(shorter), seed)] == [n.value for n in shorter]


def test_seeds_and_formats_are_addresses():
    first = draw_numbers("ddddd", "en", 5, seed=0)
    assert first == draw_numbers("ddddd", "en", 5, seed=0)
    assert first != draw_numbers("ddddd", "en", 5, seed=1)


def test_a_format_is_exhausted_without_repeats():
    assert sorted(int(n.value) for n in draw_numbers("d", "en", 9, 0)) == list(range(1, 10))
    tenths = {number.value for number in draw_numbers("d.d", "en", 81, 0)}
    assert len(tenths) == 81 and not any(value == value.to_integral_value() for value in tenths)
    with pytest.raises(NbkitError, match=r"'d\.d': only 81 numbers in 'en', but 82 are requested"):
        draw_numbers("d.d", "en", 82, 0)


def test_literal_digits_stand_where_they_are_written():
    assert {number.value for number in draw_numbers("d00", "en", 9, 0)} == {Decimal(100 * i) for i in range(1, 10)}
    assert all(number.value < 1 for number in draw_numbers("0.dd", "en", 9, 0))
    assert {number.value for number in draw_numbers("1.d0", "en", 10, 0)} == {1 + Decimal(i) / 10 for i in range(10)}
    assert parse_format("5").size("en") == 1


def test_separators_are_the_languages_own():
    written = {lang: draw_numbers("ddd,ddd,ddd.dd", lang, 1, seed=0)[0].written for lang in ("en", "de", "ne")}
    digits = {re.sub(r"[.,]", "", each) for each in written.values()}
    assert len(digits) == 1
    assert re.fullmatch(r"\d{3},\d{3},\d{3}\.\d\d", written["en"])
    assert re.fullmatch(r"\d{3}\.\d{3}\.\d{3},\d\d", written["de"])
    assert re.fullmatch(r"\d\d,\d\d,\d\d,\d{3}\.\d\d", written["ne"])


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "expected a digit at position 1"),
        ("ddx", "'x' is not a digit (d, 0-9), numeral (n) or separator (, .) at position 3"),
        ("d.d.d", "a second decimal separator at position 4"),
        ("dd.", "expected a digit after the decimal separator at position 4"),
        (".d", "expected a digit at position 1"),
        ("d,dd", "three digits expected between thousands separators at position 3"),
        ("dddd,ddd", "one to three digits expected between thousands separators at position 1"),
        ("d,ddd,d.d", "three digits expected between thousands separators at position 7"),
        ("d.d,ddd", "a thousands separator in the fraction at position 4"),
        ("dnd", "something follows the numeral n, which must come last, at position 3"),
        ("0d", "a leading 0, which only 0.… can have, at position 1"),
        ("0.dn", "a leading 0, which only 0.… can have, at position 1"),
        ("d,dddn", "a thousands separator before a numeral at position 2"),
        ("words:d.d", "a separator in a number without digits at position 8"),
        ("roman:dd", "unknown form 'roman' at position 1; there are: words, native, financial"),
    ],
)
def test_what_does_not_parse_is_named_with_its_place(pattern, problem):
    with pytest.raises(NbkitError) as caught:
        parse_format(pattern)
    assert str(caught.value) == f"number format '{pattern}': {problem}"


def test_a_language_without_rules_or_form_is_an_error():
    with pytest.raises(UnknownNameError, match="language"):
        formats("xx")
    with pytest.raises(NbkitError, match="'de' has no form 'native'; it has digits"):
        draw_numbers("native:dd", "de", 1, 0)
