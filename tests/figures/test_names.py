"""Names of systems as they are: with dollar signs, and in scripts that matplotlib's own font lacks."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.font_manager import fontManager

from nbkit.figures import draw, theme
from nbkit.studies.notebook import show

NAMES = ["cost $5 and $6", "only $one", r"$\frac{$", "$x_1$ is mine", "a_b^c", "#&%{}~"]


def written(names: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of a figure that is shown, saved and drawn, in the order of *names*."""
    monkeypatch.setenv("NBKIT_OUTPUT", str(folder))
    table = pd.DataFrame({"model": names, "value": 0.5, "low": 0.4, "high": 0.6})
    figure = draw.forest(table, "model", label=theme.symbol("beta1", "bleu"))
    show(figure, "names")
    assert (folder / "figures" / "names.pdf").is_file()
    figure.canvas.draw()
    [axis] = figure.axes
    assert axis.xaxis.label.get_parse_math()
    labels = [label for label in axis.get_yticklabels() if label.get_text()]
    assert not any(label.get_parse_math() for label in labels if "$" in label.get_text())
    return [label.get_text() for label in labels]


def test_dollar_signs_in_names_are_dollar_signs(tmp_path, monkeypatch):
    assert sorted(written(NAMES, tmp_path, monkeypatch)) == sorted(NAMES)


@pytest.mark.thorough
def test_a_font_that_is_installed_writes_what_the_first_lacks(tmp_path, monkeypatch):
    """Of a font of one sign, made here: no box for this sign, a warning for another."""
    monkeypatch.setattr(fontManager, "ttflist", [*fontManager.ttflist])
    fontManager.addfont(font_of("漢", tmp_path / "han.ttf"))
    theme.fonts.cache_clear()
    try:
        assert "Noto Sans CJK JP" in theme.fonts()
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            written(["漢漢"], tmp_path, monkeypatch)
            assert [str(each.message) for each in found if "Glyph" in str(each.message)] == []
            written(["ไทย"], tmp_path, monkeypatch)
            assert "missing from" in "".join(str(each.message) for each in found)
    finally:
        monkeypatch.undo()
        theme.fonts.cache_clear()


def font_of(sign: str, path: Path) -> Path:
    """A font that is called as one of theme.yaml, whose only sign is a triangle."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((500, 700))
    pen.lineTo((1000, 0))
    pen.closePath()
    made = FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder([".notdef", "sign"])
    made.setupCharacterMap({ord(sign): "sign"})
    made.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "sign": pen.glyph()})
    made.setupHorizontalMetrics(dict.fromkeys((".notdef", "sign"), (1000, 0)))
    made.setupHorizontalHeader(ascent=800, descent=-200)
    made.setupNameTable({"familyName": "Noto Sans CJK JP", "styleName": "Regular"})
    made.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    made.setupPost()
    made.save(path)
    return path
