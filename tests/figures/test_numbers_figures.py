"""Figures and tables of the numbers study: what is drawn is what the tables say; empty tables say why."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nbkit.figures import styles, theme
from nbkit.measure.numbers import error_types
from nbkit.measure.statistics import share_interval
from nbkit.numbers.formats import CAPABILITIES
from nbkit.studies.numbers import PUBLISHED, figures, styled

MODELS = ["Sandbox-Numbers", "Sandbox-Numbers + placeholder", "a-model-with-quite-a-long-name-of-my-own"]
PAIRS = ["en→de", "de→en", "en→zh"]


def rates(by: str = "capability", values: tuple = CAPABILITIES, n: int = 20) -> pd.DataFrame:
    """A table as `numbers.pass_rates` makes it; the i-th row of a group passes as often as its place says."""
    rows = []
    for pair in PAIRS:
        for m, model in enumerate(MODELS):
            for i, value in enumerate(values):
                strict, lenient = (share_interval(np.arange(n) < passed) for passed in (2 * i + m, 2 * i + m + 3))
                intervals = [*(strict.mean, strict.low, strict.high), *(lenient.mean, lenient.low, lenient.high)]
                rows.append(("de", "out", pair, model, value, n, *intervals))
    names = [f"{name}{end}" for name in ("strict", "lenient") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["language", "direction", "pair", "model", by, "n", *names])


def copies() -> pd.DataFrame:
    rows = [(pair, name, 10, 0.5, 0.7) for pair in PAIRS for name in CAPABILITIES]
    return pd.DataFrame(rows, columns=["pair", "capability", "n", "strict", "lenient"])


def in_training(longest: int = 5) -> pd.DataFrame:
    rows = [
        ("de", "out", "en→de", model, places, length, 7)
        for model in MODELS[:2]
        for places in ("digits", "fraction")
        for length in range(1, longest + 1)
    ]
    return pd.DataFrame(rows, columns=["language", "direction", "pair", "model", "places", "length", "n"])


def results() -> pd.DataFrame:
    """Of each capability four cases: one passes, three fail, two of them with the same error."""
    errors = ["", "digit dropped", "digit dropped", "separator not localised"]
    rows = [
        ("de", "out", pair, model, name, "It cost [NUM].", "It cost 1,234.", "Es kostete 1,234.", not error, not error,
         error, "1,234" if error else "")
        for pair in PAIRS for model in MODELS for name in CAPABILITIES for error in errors
    ]  # fmt: skip
    columns = ["language", "direction", "pair", "model", "capability", "template", "source", "hypothesis", "strict",
               "lenient", "error", "found"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def mitigation() -> pd.DataFrame:
    table = rates()[rates()["model"] == MODELS[0]]
    for name, source in (("plain", "strict"), ("by_rule", "lenient")):
        table = table.rename(columns={f"{source}{end}": f"{name}{end}" for end in ("", "_low", "_high")})
    return table.assign(gain=table["by_rule"] - table["plain"], carried=18, lost=1, doubled=0, no_number=1)


def found(text: str = "Es kostete 1,234.") -> pd.DataFrame:
    failed = results()[lambda table: ~table["strict"]].head(3)
    return failed.assign(correct="1.234", hypothesis=text)


def error_counts() -> pd.DataFrame:
    rows = [
        ("m", kind["name"], kind["meaning"], 2 * (i == 2), float(i == 2), "en→de" if i == 2 else "", "It cost [NUM].",
         "It cost 1,234.", "Es kostete 1,234.", "1,234")
        for i, kind in enumerate(error_types())
    ]  # fmt: skip
    columns = ["model", "error", "meaning", "n", "share", "pair", "template", "source", "hypothesis", "found"]
    return pd.DataFrame(rows, columns=columns)


def shrunk(text: str = "Es kostete 1.0000.") -> pd.DataFrame:
    row = {
        "language": "de", "direction": "out", "pair": "en→de", "model": "m", "capability": "separators",
        "format": "d,ddd,ddd", "template": "It cost [NUM].", "written": "5,182,807", "smallest": "1,000",
        "smallest_format": "d,ddd", "source": "It cost 1,000.", "hypothesis": text, "error": "digit added",
        "found": "1.0000", "asked": 40, "proved": True,
    }  # fmt: skip
    return pd.DataFrame([row, {**row, "proved": False, "found": "", "error": "number missing"}])


FIGURES = {
    "rates": lambda cut: figures.rates_figure(cut(rates()), copies()),
    "digits": lambda cut: figures.digits_figure(cut(rates("digits", tuple(range(1, 11)))), in_training()),
    "fraction": lambda cut: figures.fraction_figure(cut(rates("fraction_digits", (1, 2, 3, 4))), in_training(2)),
    "errors": lambda cut: figures.errors_figure(cut(results())),
    "notation": lambda cut: figures.notation_figure(cut(rates())),
    "placeholder": lambda cut: figures.placeholder_figure(cut(mitigation())),
}
TABLES = {
    "rates": lambda cut: styled.rates_table(cut(rates())),
    "formats": lambda cut: styled.format_rates_table(cut(rates("format", ("d", "dd.d")).assign(capability="integers"))),
    "length": lambda cut: styled.show("lengths", cut(rates("digits", (1, 2))), length="digits", heading="digits"),
    "training": lambda cut: styled.training_table(cut(in_training()), 2000),
    "notation": lambda cut: styled.notation_table(cut(rates())),
    "mitigation": lambda cut: styled.mitigation_table(cut(mitigation())),
    "errors": lambda cut: styled.errors_table(cut(found())),
    "types": lambda cut: styled.error_types_table(cut(error_counts())),
    "shrunk": lambda cut: styled.shrunk_table(cut(shrunk())),
    "passed": lambda cut: styled.show("passed", cut(found())),
}


def whole(table: pd.DataFrame) -> pd.DataFrame:
    return table


def nothing(table: pd.DataFrame) -> pd.DataFrame:
    return table.iloc[:0]


def drawn(figure: Figure) -> str:
    """The figure as SVG, so that everything in it is laid out; warnings are errors of the suite."""
    out = BytesIO()
    with theme.style():
        figure.savefig(out, format="svg")
    return out.getvalue().decode()


def texts(figure: Figure) -> set[str]:
    drawn(figure)
    inside = {text.get_text() for axes in figure.axes for text in [*axes.texts, axes.title, *axes.get_yticklabels()]}
    return inside | {text.get_text() for legend in figure.legends for text in legend.get_texts()}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_and_without_rows_says_why(name: str) -> None:
    assert len(FIGURES[name](whole).axes) > 1
    empty = FIGURES[name](nothing)
    assert len(empty.axes) == 1
    assert any("this run" in text.get_text() or "formats" in text.get_text() for text in empty.axes[0].texts)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_shown_and_without_rows_says_why(name: str) -> None:
    table = TABLES[name](whole)
    assert table.to_html().count("<tr") > 1
    assert "tabular" in styles.to_latex(table)
    empty = TABLES[name](nothing).to_html()
    assert empty.count("<tr") == 1 and "this run" in empty


def test_pass_rates_are_drawn_where_they_are() -> None:
    figure = figures.rates_figure(rates(), copies())
    panel = figure.axes[CAPABILITIES.index("decimals")]
    marks = np.concatenate(
        [collection.get_offsets() for collection in panel.collections if len(collection.get_offsets())]
    )
    own = rates()[lambda table: table["capability"] == "decimals"]
    for pair, model, strict in own[["pair", "model", "strict"]].itertuples(index=False):
        height = PAIRS.index(pair) + (-0.3, 0, 0.3)[MODELS.index(model)]
        assert any(np.allclose(mark, (strict, height)) for mark in marks), (pair, model)
    assert {"Integers", "Decimals", "Separators", "Numerals", *PAIRS, styled.copied().label} <= texts(figure)


def test_what_is_longer_than_in_training_is_shaded_where_it_is_known() -> None:
    figure = figures.digits_figure(rates("digits", tuple(range(1, 11))), in_training(5))
    shades = [[patch.get_x() for patch in panel.patches] for panel in figure.axes]
    assert shades == [[5.5], [], []]  # the training of en→de alone is known
    unknown = figures.digits_figure(rates("digits", (1, 2)), in_training().iloc[:0])
    assert not any("training" in text for text in texts(unknown))


def test_bars_of_errors_are_as_long_as_the_share_that_fails() -> None:
    panel = figures.errors_figure(results()).axes[0]
    ends: dict[float, float] = {}
    for bar in panel.patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0.0), bar.get_x() + bar.get_width())
    assert list(ends.values()) == [0.75] * 9
    assert {"digit dropped", "separator not localised"} <= texts(figures.errors_figure(results()))


def test_all_types_of_errors_have_a_colour_of_their_own() -> None:
    looks = styled.error_looks()
    assert list(looks) == [kind["name"] for kind in error_types()]
    assert len({look.colour for look in looks.values()}) == len(looks)


def test_types_of_errors_name_their_model_where_the_others_have_none() -> None:
    counts = pd.concat([error_counts(), error_counts().assign(model="faultless", n=0)])
    assert list(styled.error_types_table(counts).data["model"]) == ["m"]


def test_a_run_without_failures_says_so() -> None:
    good = results().assign(strict=True, error="")
    assert styled.TABLES.why("errors") in {
        text.get_text().replace("\n", " ") for text in figures.errors_figure(good).axes[0].texts
    }
    assert styled.TABLES.why("errors") in styled.error_types_table(error_counts().assign(n=0)).to_html()


def test_the_best_of_a_row_is_bold_and_capabilities_are_averaged() -> None:
    two = rates()[lambda table: (table["pair"] == "en→de") & (table["model"] != MODELS[1])]
    table = styled.rates_table(two)
    whole, means = table.data.iloc[-2], table.data.iloc[-1]
    assert (whole["capability"], means["capability"]) == (styled.ALL, styled.MEAN)
    of = two[two["model"] == MODELS[0]]
    assert whole[MODELS[0]] == f"{100 * (of['strict'] * of['n']).sum() / of['n'].sum():.1f}"
    assert (
        whole["n"] == of["n"].sum()
        and means[MODELS[0]] == f"{100 * two[two['model'] == MODELS[0]]['strict'].mean():.1f}"
    )
    html = re.sub(r"\s+", " ", table.to_html())
    assert len(re.findall("font-weight: bold", html)) >= 1
    assert table.data[MODELS[0]].iloc[0].startswith("0.0 [0.0, ")


def test_averages_stand_beside_those_of_the_paper() -> None:
    ours = pd.DataFrame({"kind": ["capability", "system"], "name": ["numerals", "mine"], "percent": [60.8, 50.0],
                         "cells": [4, 8]})  # fmt: skip
    shown = styled.averages_table(PUBLISHED.beside(ours, "table3", on=["kind", "name"])).data
    assert shown[["name", "percent", "printed", "difference"]].values.tolist() == [
        ["Numerals", "60.8", "70.8", "-10.0"],
        ["mine", "50.0", "not printed", styles.NOTHING],
    ]


def test_numbers_are_marked_where_they_stand() -> None:
    html = styled.errors_table(found()).to_html()
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", html)[:2] == ["1,234", "1,234"]
    assert "1.234" in html
    marked = styled._marked("12 of 2", "2")
    assert marked.startswith("12 of <mark") and styled._marked("none", "") == "none"


def test_a_bug_report_is_one_line() -> None:
    first, second = styled.bug_reports(shrunk())
    assert first == "en→de m: 1,000 → 1.0000 (digit added) in “It cost 1,000.” → “Es kostete 1.0000.”"
    assert "→ nothing (number missing)" in second and "\n" not in first + second


@pytest.mark.parametrize("text", ["<script>alert('1,234')</script>", "<img src=x onerror=alert(1)>", "a & b </td>"])
def test_text_of_a_corpus_or_a_model_is_inert(text: str) -> None:
    capabilities = pd.DataFrame(
        [("en", "integers", "d", text, text)], columns=["lang", "capability", "format", "number", "sentence"]
    )
    for table in (
        styled.errors_table(found(text).assign(source=text, template="[NUM]", correct=text, found=text)),
        styled.shrunk_table(shrunk(text).assign(source=text, template="[NUM]", smallest=text, found=text)),
        styled.error_types_table(error_counts().assign(source=text, template="[NUM]", hypothesis=text, found=text)),
        styled.show("passed", found(text).assign(source=text, template="[NUM]")),
        styled.show("capabilities", capabilities),
        styled.show("templates", pd.DataFrame([("en", "integers", text, text, "m")],
                                            columns=["lang", "capability", "template", "place", "models"])),
    ):  # fmt: skip
        html = table.to_html()
        assert text not in html and not re.search(r"<(script|img)", html)


def test_nothing_simpler_is_said_only_of_the_simplest_number_of_its_kind() -> None:
    """Whatever was asked before: that all simpler ones pass says nothing where there is none."""
    html = styled.shrunk_table(shrunk().assign(smallest=["1,000", "1,001"], proved=True)).to_html()
    said = re.findall(r">(yes|neighbours|nothing simpler)<", html)
    assert said == ["nothing simpler", "yes"]


def test_a_model_behind_the_step_has_the_colour_of_the_model() -> None:
    looks = styled.model_looks(MODELS)
    plain, by_rule = looks[MODELS[0]], looks[MODELS[1]]
    assert plain.colour == by_rule.colour and plain.marker != by_rule.marker
    assert by_rule.label == MODELS[1]


def test_each_of_many_models_is_named_where_it_is_drawn():
    """A legend of seventeen would be searched in vain; no two of them look the same."""
    names = [f"system {n}" for n in range(17)]
    one = rates()[lambda table: (table["pair"] == "en→de") & (table["model"] == MODELS[2])]
    many = pd.concat([one.assign(model=name) for name in names])
    looks = theme.model_looks(names).values()
    assert len({(look.colour, look.marker) for look in looks}) == len({look.colour for look in looks}) == 17
    figure = figures.rates_figure(many, copies())
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == names
    shown = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert not shown & set(names) and styled.copied().label in shown
    by_length = rates("digits", (1, 2, 3))
    by_length = pd.concat([by_length[by_length["model"] == MODELS[2]].assign(model=name) for name in names])
    panels = [panel for panel in figures.digits_figure(by_length, in_training()).axes if panel.get_visible()]
    assert [panel.get_title() for panel in panels] == [f"{pair}  {name}" for pair in PAIRS for name in names]
