"""What an output may bring to a page: checked on known attacks and on whatever hypothesis makes of them."""

from __future__ import annotations

import base64
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from nbkit.report.page import clean_css, clean_html, excerpt
from nbkit.studies.notebook import answer

ATTACKS = (Path(__file__).parent / "attacks.txt").read_text().splitlines()
RUNS_OR_FETCHES = frozenset({
    "script", "iframe", "object", "embed", "form", "input", "button", "link", "meta", "base", "svg", "math",
    "template", "video", "audio", "textarea", "noscript", "xmp", "title",
})  # fmt: skip


def assert_harmless(html: str) -> None:
    """What a parser makes of *html* holds nothing that runs, fetches or takes another's place."""
    for element in BeautifulSoup(html, "html.parser").find_all(True):
        assert element.name not in RUNS_OR_FETCHES, html
        for name, value in element.attrs.items():
            text = " ".join(value) if isinstance(value, list) else value
            assert not name.startswith("on"), html
            assert name not in ("srcdoc", "srcset", "formaction", "background", "ping"), html
            if name == "src":
                assert text.startswith("data:image/"), html
            if name == "href":
                assert text.startswith(("https://", "http://", "mailto:", "#")), html
            if name == "id":
                assert text.startswith("T_"), html
            if name == "style":
                assert "url(" not in text and "position" not in text, html
        if element.name == "style":
            assert "url(" not in element.text and "@import" not in element.text, html
            assert all(rule.strip().startswith("#T_") for rule in element.text.split("}") if rule.strip()), html


@pytest.mark.parametrize("attack", ATTACKS)
def test_known_attacks_are_disarmed(attack: str):
    assert_harmless(clean_html(attack))
    assert_harmless(clean_html(f"<table><thead><tr><th>{attack}</th></tr></thead><tr><td>{attack}</td></tr></table>"))
    assert_harmless(clean_html(pd.DataFrame({"text": [attack]}).style.to_html()))


@given(
    st.lists(
        st.sampled_from([*ATTACKS, "</style>", "<style>", "</svg>", "<svg>", "<b>", "-->", "'", '"', "&#x3c;"]),
        max_size=5,
    )
)
def test_no_mixture_of_attacks_gets_through(parts: list[str]):
    assert_harmless(clean_html("".join(parts)))


def test_a_script_is_shown_as_it_was_written():
    html = clean_html("<p>Der <script>alert('x')</script> Hund</p>")
    assert BeautifulSoup(html, "html.parser").text == "Der <script>alert('x')</script> Hund"


def test_styled_tables_keep_their_looks():
    table = (
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}).style.highlight_max("a", props="font-weight: bold").bar("a")
    )
    table.set_table_styles([{"selector": "td", "props": "text-align: right; white-space: nowrap"}])
    html = clean_html(table.set_caption("α, β").to_html())
    soup = BeautifulSoup(html, "html.parser")
    css = soup.style.text
    assert "font-weight: bold" in css and "linear-gradient(" in css and "white-space: nowrap" in css
    bold = next(rule for rule in css.splitlines() if "font-weight: bold" in rule).partition(" {")[0]
    assert [cell.text for cell in soup.select(bold)] == ["2.000000"]
    assert soup.caption.text == "α, β"


def test_plain_tables_lose_the_style_that_pandas_gives_them():
    html = clean_html(pd.DataFrame({"a": [1]})._repr_html_())
    assert "style scoped" not in html and "vertical-align" not in html
    assert BeautifulSoup(html, "html.parser").td.text == "1"


def test_drawings_become_pictures():
    html = clean_html('<div><svg viewBox="0 0 9 9"><text>the tree</text></svg></div>')
    picture = BeautifulSoup(html, "html.parser").img
    svg = base64.b64decode(picture["src"].partition(",")[2]).decode()
    assert svg == '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>the tree</text></svg>'
    assert picture["alt"]


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("#T_a td {color: red}", "#T_a td {color: red}"),
        ("#T_a td, body {color: red}", ""),
        ("#T_a td {color: red; behavior: url(x)}", "#T_a td {color: red}"),
        ("#T_a td {color: expression(x())}", ""),
        ("@media print { #T_a td {color: red} }", ""),
        ("#T_a td {content: 'x'}", ""),
        ("#T_a td {font-family: '</style><script>'}", ""),
    ],
)
def test_css_is_kept_for_tables_only(css: str, kept: str):
    assert clean_css(css) == kept


def test_the_index_quotes_the_answer_of_a_page(monkeypatch):
    shown = []
    monkeypatch.setattr("nbkit.studies.notebook.display", shown.append)
    rates = pd.DataFrame({"model": ["a & b"], "value": [0.5], "low": [0.4], "high": [0.6]})
    answer("It passes {} of <all>.", rates)
    answer("It passes {}.", rates.head(0), empty="No model.")
    cells = [new_code_cell(outputs=[new_output("display_data", {"text/html": each.data})]) for each in shown]
    assert [excerpt(new_notebook(cells=[cell])).answer for cell in cells] == [
        "It passes 0.50 [0.40, 0.60] of <all>.", "No model."
    ]  # fmt: skip
