"""One line out of every answer, by the documented rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.models.services.asking import Answer, Usage, one_line

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
    line = one_line(Answer(raw), SOURCE, LABELS)
    assert (line.hypothesis, line.outcome) == (hypothesis, outcome)


def test_what_the_source_has_itself_stays():
    assert one_line(Answer('"Geh!"'), '"Go!"').hypothesis == '"Geh!"'
    assert (
        one_line(Answer("Translation: ein Buch"), "Translation: a book", LABELS).hypothesis == "Translation: ein Buch"
    )
    listed = one_line(Answer("Er sagte:\nGeh!"), "He said:")
    assert (listed.hypothesis, listed.outcome) == ("Er sagte:", "cut")


def test_the_server_s_word_on_why_it_stopped():
    assert one_line(Answer("Tom schl", "length"), SOURCE).outcome == "truncated"
    assert one_line(Answer("", "length"), SOURCE).outcome == "truncated"  # all of it was reasoning
    assert one_line(Answer("", "content_filter"), SOURCE).outcome == "refused"


@given(st.text(), st.text(), st.sampled_from(["", "stop", "length", "content_filter"]))
def test_always_one_line_and_never_made_up(raw, text, finish):
    line = one_line(Answer(raw, finish), text, LABELS)
    assert len(line.hypothesis.splitlines()) <= 1
    assert line.hypothesis == line.hypothesis.strip()
    assert line.hypothesis in raw
    assert (line.outcome == "as is") <= (line.hypothesis == raw.strip())


def test_usage_adds_up():
    usage = Usage()
    for raw, prompt, completion in (("a", 10, 2), ("b\nc", 11, 4), ("d", None, None)):
        answer = Answer(raw, "stop", prompt, completion)
        usage.add("Tom sleeps.", answer, one_line(answer, "Tom sleeps."))
    assert usage.facts() == {
        "texts": 3, "prompt_tokens": 21, "completion_tokens": 6, "characters": 33, "as is": 2, "cut": 1,
    }  # fmt: skip
