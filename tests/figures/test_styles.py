"""How tables are shown, whatever the study."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.colors import to_hex

import nbkit
from nbkit.figures import draw, panels, styles, theme


def test_a_word_that_never_ends_does_not_widen_a_table():
    table = styles.styled(pd.DataFrame({"translation": ["l'" + "é" * 100, "a < b"], "n": [1, 2]}))
    html = table.to_html()
    assert html.count("<wbr>") == 2 and "a &lt; b" in html
    assert "wbr" not in styles.to_latex(table)
    assert styles.marked("x" * 90, [(0, 50)]).count("<wbr>") == 1


def test_an_n_of_few_units_is_marked_beside_intervals_and_explained_once():
    rows = pd.DataFrame({"beta": [0.5, 0.4], "low": [0.4, 0.1], "high": [0.6, 0.8], "n": [30, 29]})
    html = styles.styled(rows, caption="Means").to_html()
    assert ">29†<" in html and ">30<" in html and html.count(styles.FEW_NOTE) == 1
    assert "29$\\dagger$" in styles.to_latex(styles.styled(rows))
    in_cells = pd.DataFrame({"model": ["a", "b"], "cell": ["0.5 [0.4, 0.6]", "0.4 [0.1, 0.8]"], "n": [80, 7]})
    assert ">7†<" in styles.styled(in_cells).to_html()
    assert styles.FEW_NOTE in styles.styled(in_cells.drop(columns="n").assign(cell="0.4 [0.1, 0.8]†")).to_html()
    enough = styles.styled(rows.assign(n=[30, 3000]), caption="Means").to_html()
    assert "†" not in enough


def test_counts_that_no_mean_stands_on_are_not_marked():
    left_out = pd.DataFrame({"reason": ["too long", "empty"], "n": [3, 200]})
    assert "†" not in styles.styled(left_out).to_html()


def test_marks_of_few_units_are_hollow_and_explained_once_a_figure():
    rows = pd.DataFrame({"value": [0.5, 0.4], "low": [0.4, 0.1], "high": [0.6, 0.8], "n": [30, 29]})
    look = theme.Look("a", "#111111", "o")
    with theme.style():
        figure, axes = draw.figure(1, 2)
        for panel in axes[0]:
            panels.intervals(panel, rows, [0, 1], look)
    marks = [each for panel in axes[0] for each in panel.collections if len(each.get_offsets()) == 2]
    assert [[to_hex(face) for face in each.get_facecolors()] for each in marks] == [["#111111", "#ffffff"]] * 2
    assert [text.get_text() for legend in figure.legends for text in legend.get_texts()] == [
        "N below 30: read with care"
    ]
    with theme.style():
        figure, axes = draw.figure()
        panels.intervals(axes[0, 0], rows.assign(n=30), [0, 1], look)
    assert not figure.legends


def test_marks_stand_out_from_white():
    """WCAG 2.1 asks for 3:1; areas that hold writing (senses, fill) and grid lines are not marks."""
    files = [Path(theme.__file__).with_name("theme.yaml"), *Path(nbkit.__file__).parent.glob("studies/*/looks.yaml")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    marks = [line for line in lines if not re.match(r"senses:|\s+grid|.*\bfill:", line)]
    colours = set(re.findall("#[0-9A-Fa-f]{6}", "\n".join(marks)))
    assert len(colours) > 20

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert {colour: 1.05 / (luminance(colour) + 0.05) for colour in colours if luminance(colour) > 0.3} == {}


@pytest.mark.parametrize("text", ["<script>alert('x')</script>", "<img src=x onerror=alert(1)>", "a & b </td>"])
def test_corpus_text_is_inert(text: str) -> None:
    table = styles.styled(pd.DataFrame({text: [text]}), caption=text, headings={text: text})
    html = table.to_html()
    assert text not in html and not re.search(r"<(script|img)", html)
    assert text not in styles.note(text).data
    assert text not in styles.folded(styles.styled(pd.DataFrame({"a": [text]})), text).data
    assert text not in styles.marked(f"x {text}", [(0, len(text))])


def test_headings_are_escaped() -> None:
    """The label of a model, or a column that nothing was said of, may hold anything."""
    table = styles.styled(pd.DataFrame({"a": [1], "<i>&": [2]}), headings={"a": "<b>x</b> & y", "<i>&": "<u>"})
    html = table.to_html()
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in html and "&lt;u&gt;" in html and "<b>" not in html and "<u>" not in html
    assert "&lt;i&gt;&amp;" in styles.styled(pd.DataFrame({"<i>&": [2]})).to_html()


def test_latex_specials_are_escaped() -> None:
    latex = styles.to_latex(styles.styled(pd.DataFrame({"source": ["50% of_all & more $"]})))
    assert r"50\% of\_all \& more \$" in latex


def test_numbers_have_minus_signs_and_nothing_has_no_sign() -> None:
    rows = {"difference": [-0.106, -0.0001], "cell": ["-0.2 [-0.30, -0.00]", "–"], "model": "-7b"}
    table = styles.styled(pd.DataFrame(rows))
    html = table.to_html()
    assert ">−0.106<" in html and ">0.000<" in html and ">−0.2 [−0.30, 0.00]<" in html
    assert table.data["cell"][0] == "-0.2 [-0.30, -0.00]"  # a copy for programs keeps what they read
    assert "$-$0.106" in styles.to_latex(table)


def test_what_moved_is_marked_and_nothing_else() -> None:
    text = "played <b> today ."
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", styles.marked(text, [(0, 6), (7, 10)])) == ["played", "&lt;b&gt;"]
    assert styles.marked(text, []) == "played &lt;b&gt; today ."
