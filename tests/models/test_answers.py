"""One line out of every answer, by the documented rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.models.services.service import one_line

SOURCE = "Tom sleeps."
LABELS = ("Translation", "German", "German translation")


@pytest.mark.parametrize(
    ("raw", "hypothesis", "outcome"),
    [
        ("Tom schläft.", "Tom schläft.", "as is"),
        ("  Tom schläft.\n", "Tom schläft.", "as is"),
        ('"Tom schläft."', "Tom schläft.", "trimmed"),
        ("„Tom schläft.“", "Tom schläft.", "trimmed"),
        ("「トムは寝ている。」", "トムは寝ている。", "trimmed"),
        ("'Tom's Hund schläft.'", "Tom's Hund schläft.", "trimmed"),
        ("“Tom” und “Ann”", "“Tom” und “Ann”", "as is"),
        ("Translation: Tom schläft.", "Tom schläft.", "trimmed"),
        ("**German:** Tom schläft.", "Tom schläft.", "trimmed"),
        ("German translation: „Tom schläft.“", "Tom schläft.", "trimmed"),
        ("Um 8: Tom schläft.", "Um 8: Tom schläft.", "as is"),
        ("```\nTom schläft.\n```", "Tom schläft.", "trimmed"),
        ("```text\nTom schläft.\n```", "Tom schläft.", "trimmed"),
        ("Sure! Here is the translation:\n\nTom schläft.", "Tom schläft.", "trimmed"),
        ("Tom schläft.\n\n(Note: literally.)", "Tom schläft.", "cut"),
        ("Tom schläft.\nTom pennt.", "Tom schläft.", "cut"),
        ("Tom schläft.\u2028Tom pennt.", "Tom schläft.", "cut"),
        ("<think>He sleeps.\nSo:</think>\nTom schläft.", "Tom schläft.", "trimmed"),
        ("<think>He sleeps, and", "", "empty"),
        ("Here is the translation:", "Here is the translation:", "as is"),
        ("Translation:", "Translation:", "as is"),
        ('""', '""', "as is"),
        ("", "", "empty"),
        (" \n ", "", "empty"),
    ],
)
def test_the_rule(raw, hypothesis, outcome):
    assert one_line(raw, "", SOURCE, LABELS) == (hypothesis, outcome)


def test_what_the_source_has_itself_stays():
    assert one_line('"Geh!"', "", '"Go!"')[0] == '"Geh!"'
    assert one_line("Translation: ein Buch", "", "Translation: a book", LABELS)[0] == "Translation: ein Buch"
    assert one_line("Er sagte:\nGeh!", "", "He said:") == ("Er sagte:", "cut")


def test_the_server_s_word_on_why_it_stopped():
    assert one_line("Tom schl", "length", SOURCE)[1] == "truncated"
    assert one_line("", "length", SOURCE)[1] == "truncated"  # all of it was reasoning
    assert one_line("", "content_filter", SOURCE)[1] == "refused"


@given(st.text(), st.text(), st.sampled_from(["", "stop", "length", "content_filter"]))
def test_always_one_line_and_never_made_up(raw, text, finish):
    line, outcome = one_line(raw, finish, text, LABELS)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert line in raw
    assert (outcome == "as is") <= (line == raw.strip())
