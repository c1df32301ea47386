"""A text is one text in every encoding of itself: composed or not, with soft hyphens, with typographic signs."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from nbcheck.suite import Suite, Test
from nbcheck.verdicts import decide

SUITE = Suite("forms", "en", "de", ())


def verdict(wanted: dict, output: str, source: str = "The key is small.") -> str:
    return decide(Test("1", source, wanted), output, SUITE).verdict


@pytest.mark.parametrize(
    ("wanted", "output", "expected"),
    [
        ({"must_not": ("Schlüssel",)}, "Der Schlu\u0308ssel ist klein.", "fail"),
        ({"must": ("Tür",)}, "Die Tu\u0308r ist klein.", "pass"),
        ({"keeps": (("José",),)}, "Jose\u0301 ist klein.", "pass"),
        ({"right": ("Der Turm ist höher.",)}, normalize("NFD", "Der Turm ist höher."), "pass"),
        ({"right": (normalize("NFD", "Straße über"),)}, "Straße über", "pass"),
        ({"must": ("Dampfschiff",)}, "Das Dampf\u00adschiff", "pass"),
        ({"must": ("Blume",)}, "Die Blu\u200bme", "pass"),
        ({"right": ("I didn't go.",)}, "I didn’t go.", "pass"),
        ({"right": ('He said "no".',)}, "He said “no”.", "pass"),
        ({"right": ("a well-known man",)}, "a well\u2011known man", "pass"),
    ],
)
def test_encodings_of_a_text_are_alike(wanted, output, expected):
    assert verdict(wanted, output) == expected


def test_marks_are_places_of_the_text_as_it_is_shown():
    output = "Ho\u0308her als der Dampf\u00adkessel ist die Tu\u0308r."
    decision = decide(Test("1", "The door is high.", {"must": ("Tür",)}), output, SUITE)
    assert [output[slice(*span)] for _, span in decision.spans] == ["Tu\u0308r"]
