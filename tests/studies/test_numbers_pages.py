"""Figures and tables of the numbers pages: what is drawn is what the cases say; texts of others are inert."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nbkit.figures import theme
from nbkit.measure.numbers import error_types
from nbkit.numbers.formats import CAPABILITIES
from nbkit.studies import notebook
from nbkit.studies.numbers import NumbersParams, pages
from tests.pages import run_page

MODELS = ["Sandbox-Numbers", "Sandbox-Numbers + placeholder", "a-model-with-quite-a-long-name-of-my-own"]
PAIRS = ["en→de", "de→en", "en→zh"]
COPIED = "the source's number copied as it is"


def cases(models: list[str] = MODELS, column: str = "digits", values: tuple[int, ...] = (1, 2)) -> pd.DataFrame:
    """Of each capability and length four cases: one passes, three fail, two of them with the same error."""
    errors = ["", "digit dropped", "digit dropped", "separator not localised"]
    rows = [
        ("de", "out", pair, model, name, length, str(turn), not error, not error, error, "1,234" if error else "")
        for pair in PAIRS for model in models for name in CAPABILITIES for length in values
        for turn, error in enumerate(errors)
    ]  # fmt: skip
    columns = [*pages.OF, "capability", column, "value", "strict", "lenient", "error", "found"]
    return pd.DataFrame(rows, columns=columns)


def copies() -> pd.DataFrame:
    rows = [(pair, name, passed, passed) for pair in PAIRS for name in CAPABILITIES for passed in (True, False)]
    return pd.DataFrame(rows, columns=["pair", "capability", "strict", "lenient"])


def in_training(longest: int = 5) -> pd.DataFrame:
    rows = [("en→de", model, "digits", length, 7) for model in MODELS[:2] for length in range(1, longest + 1)]
    return pd.DataFrame(rows, columns=["pair", "model", "places", "length", "n"])


def lengths(found: pd.DataFrame, seen: pd.DataFrame) -> Figure:
    return pages.lengths_figure(found, seen, "integers")


def texts(figure: Figure) -> set[str]:
    """What the figure says, with everything laid out; warnings are errors of the suite."""
    with theme.style():
        figure.savefig(BytesIO(), format="svg")
    inside = {text.get_text() for axes in figure.axes for text in [*axes.texts, axes.title, *axes.get_yticklabels()]}
    return inside | {text.get_text() for legend in figure.legends for text in legend.get_texts()}


FIGURES = {
    "rates": lambda found: pages.rates_figure(found, copies()),
    "lengths": lambda found: lengths(found, in_training()),
    "errors": pages.errors_figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_and_without_rows_says_why(name: str) -> None:
    assert len(FIGURES[name](cases()).axes) > 1
    assert "this run" in theme.message_of(FIGURES[name](cases().iloc[:0]))


def test_pass_rates_are_drawn_where_they_are() -> None:
    figure = pages.rates_figure(cases(), copies())
    panel = figure.axes[CAPABILITIES.index("decimals")]
    marks = np.concatenate([each.get_offsets() for each in panel.collections if len(each.get_offsets())])
    for height in (PAIRS.index(pair) + offset for pair in PAIRS for offset in (-0.3, 0, 0.3)):
        assert any(np.allclose(mark, (0.25, height)) for mark in marks), height
    assert {"Integers", "Decimals", "Separators", "Numerals", *PAIRS, COPIED} <= texts(figure)


def test_what_is_longer_than_in_training_is_shaded_where_it_is_known() -> None:
    figure = lengths(cases(values=tuple(range(1, 11))), in_training(5))
    shades = [[patch.get_x() for patch in panel.patches] for panel in figure.axes]
    assert shades == [[5.5], [], []]  # the training of en→de alone is known
    assert {"the longest of its training", *MODELS} <= texts(figure)
    unknown = lengths(cases(), in_training().iloc[:0])
    assert not any("training" in text for text in texts(unknown))


def test_bars_of_errors_are_as_long_as_the_share_that_fails() -> None:
    figure = pages.errors_figure(cases())
    ends: dict[float, float] = {}
    for bar in figure.axes[0].patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0.0), bar.get_x() + bar.get_width())
    assert list(ends.values()) == [0.75] * 9
    assert {"digit dropped", "separator not localised"} <= texts(figure)


def test_all_types_of_errors_have_a_colour_of_their_own() -> None:
    assert list(pages._ERRORS) == [kind["name"] for kind in error_types()]
    assert len(set(pages._ERRORS.values())) == len(pages._ERRORS)


def test_a_run_without_failures_says_so() -> None:
    assert theme.message_of(pages.errors_figure(cases().assign(strict=True, error=""))) == pages.NO_FAILURE


def test_a_model_behind_the_step_has_the_colour_of_the_model() -> None:
    looks = theme.looks("model", MODELS)
    plain, by_rule = looks[MODELS[0]], looks[MODELS[1]]
    assert plain.colour == by_rule.colour and plain.marker != by_rule.marker
    assert by_rule.label == MODELS[1]


@pytest.mark.thorough
def test_each_of_many_models_is_named_where_it_is_drawn() -> None:
    """A legend of seventeen would be searched in vain; no two of them look the same."""
    names = [f"system {n}" for n in range(17)]
    looks = theme.model_looks(names).values()
    assert len({(look.colour, look.marker) for look in looks}) == len({look.colour for look in looks}) == 17
    found = cases(names)
    figure = pages.rates_figure(found[found["pair"] == "en→de"], copies()[lambda rows: rows["pair"] == "en→de"])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == names
    shown = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert not shown & set(names) and COPIED in shown
    panels = [panel for panel in lengths(found, in_training()).axes if panel.get_visible()]
    assert [panel.get_title() for panel in panels] == [f"{pair}\n{name}" for pair in PAIRS for name in names]


# ----------------------------------------------------------------------------
# Tables of sentences.


def failures(text: str = "Es kostete 1.0000.", **more: Any) -> pd.DataFrame:
    row = {
        "language": "de", "direction": "out", "pair": "en→de", "model": "m", "capability": "separators",
        "format": "d,ddd,ddd", "template": "It cost [NUM].", "written": "5,182,807", "smallest": "1,000",
        "smallest_format": "d,ddd", "source": "It cost 1,000.", "hypothesis": text, "error": "digit added",
        "found": "1.0000", "asked": 40, "proved": True, "correct": "1.000",
    }  # fmt: skip
    return pd.DataFrame([{**row, **more}, {**row, "found": "", "error": "number missing", **more}])


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path) -> list[Any]:
    """What is shown, in its order."""
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path))
    things: list[Any] = []
    monkeypatch.setattr(notebook, "display", lambda thing, metadata=None: things.append(thing))
    return things


def test_numbers_are_marked_where_they_stand(shown: list[Any]) -> None:
    pages.show_errors(failures(), "errors")
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", shown[0].to_html()) == ["1,000", "1.0000", "1,000"]
    assert pages._marked("12 of 2", "2").startswith("12 of <mark") and pages._marked("none", "") == "none"


@pytest.mark.parametrize("text", ["<script>alert('1,234')</script>", "<img src=x onerror=alert(1)>", "a & b </td>"])
def test_text_of_a_corpus_or_a_model_is_inert(text: str, shown: list[Any]) -> None:
    everywhere = {"source": text, "template": "[NUM]", "correct": text, "found": text, "written": text, "model": text}
    pages.show_errors(failures(text, **everywhere), "errors")
    pages.show_errors(pd.concat([failures(text, **everywhere), failures()]), "errors_of_two")
    pages.show_smallest(failures(text, **everywhere), "smallest")
    assert len(shown) == 3
    for table in shown:
        html = table.to_html()
        assert text not in html and not re.search(r"<(script|img)", html)


def test_nothing_simpler_is_stated_only_of_the_simplest_number_of_its_kind(shown: list[Any]) -> None:
    """Whatever was asked before: that all simpler ones pass says nothing where there is none."""
    pages.show_smallest(failures().assign(smallest=["1,000", "1,001"], proved=True), "smallest")
    pages.show_smallest(failures().assign(smallest=["1,002", "1,001"], proved=False), "more")
    answers = [re.findall(r">(yes|neighbours|nothing simpler)<", each.to_html()) for each in shown]
    assert answers == [["nothing simpler", "yes"], ["neighbours", "neighbours"]]


def test_a_table_without_rows_says_why(shown: list[Any]) -> None:
    pages.show_errors(failures().iloc[:0], "errors")
    pages.show_smallest(failures().iloc[:0], "smallest")
    assert all("this run" in each.to_html() for each in shown)


# ----------------------------------------------------------------------------
# Whole pages, in a run whose translator copies what it is asked.

PAGES = ("test_cases", "pass_rates", "length", "errors", "notation", "smallest_failures", "placeholders", "model_card")
EMPTY = {
    "no model": {"models": []},
    "one": {},
    "two directions, two models": {"directions": ["out", "back"], "models": ["dummy", "placeholder:dummy"]},
}


@pytest.fixture
def copying(tmp_path, monkeypatch: pytest.MonkeyPatch, translator) -> NumbersParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    translator(lambda text: text)
    return NumbersParams(models=["dummy"], n_numbers=1, n_templates=2, n_shrunk=1, harvest_pairs=60)


@pytest.mark.thorough
@pytest.mark.parametrize("run", EMPTY)
def test_pages_of_runs_large_and_empty(run: str, copying: NumbersParams, tmp_path, monkeypatch) -> None:
    params = copying.model_copy(update=EMPTY[run])
    for name in PAGES:
        page = run_page(f"numbers/{name}", params.model_dump(), tmp_path / name, monkeypatch)
        assert "Where these results come from" in page.text
        if run == "no model" and name != "test_cases":
            assert "this run" in page.text.lower(), name


def test_the_papers_averages_stand_beside_ours(copying: NumbersParams, tmp_path, monkeypatch) -> None:
    """§3: Numerals 70.8 %, and R 77.8, A 80.6, B 90.4 over all capabilities; nothing else of Table 3 is text."""
    both = copying.model_copy(update={"models": ["dummy", "placeholder:dummy"]})
    page = run_page("numbers/pass_rates", both.model_dump(), tmp_path / "page", monkeypatch)
    averages = page.frame("table3_averages").set_index("name")
    printed = averages["printed"][averages["printed"] != "not printed"].astype(float)
    assert printed.to_dict() == {"Numerals": 70.8, "R (research)": 77.8, "A (commercial)": 80.6, "B (commercial)": 90.4}
    assert averages.loc["Separators", "percent"] == "0.0"  # those by rule are no part of a capability's average
    assert averages.loc["dummy + placeholder", "percent"] == "100.0" and averages.loc["dummy", "percent"] == "25.0"
    assert averages.loc["Numerals", "difference"] == "-70.8" and averages.loc["dummy", "cells"] == 4
    table = page.shown["rates-table"].data.set_index("capability")
    rates = page.frame("table3_pass_rates").query("model == 'dummy'")
    whole, mean = (table.loc[each, "dummy"] for each in ("all test cases", "mean of the capabilities"))
    assert whole.startswith(f"{100 * (rates['strict'] * rates['n']).sum() / rates['n'].sum():.1f} [")
    assert mean == f"{100 * rates['strict'].mean():.1f}"
    assert "font-weight: bold" in page.shown["rates-table"].to_html()


def test_what_the_step_buys_is_its_rate_minus_that_of_the_model_alone(copying, tmp_path, monkeypatch) -> None:
    both = copying.model_copy(update={"models": ["dummy", "placeholder:dummy"]})
    page = run_page("numbers/placeholders", both.model_dump(), tmp_path / "page", monkeypatch)
    table = page.frame("placeholder_step").set_index("capability")
    assert list(table.index) == list(CAPABILITIES)
    assert table["gain"].to_numpy() == pytest.approx((table["by_rule"] - table["plain"]).to_numpy())
    assert (table[["carried", "lost", "doubled", "no_number"]].sum(axis=1) == table["n"]).all()
    assert table.loc["separators", "gain"] == 1


def test_types_of_errors_name_their_model_where_the_others_have_none(copying, tmp_path, monkeypatch) -> None:
    both = copying.model_copy(update={"models": ["dummy", "placeholder:dummy"]})
    page = run_page("numbers/errors", both.model_dump(), tmp_path / "page", monkeypatch)
    counts = pd.read_csv(page.kept["tables/table4_error_types.texts.csv"])
    assert list(counts["model"]) == ["dummy"] * len(error_types()) + ["dummy + placeholder"] * len(error_types())
    assert counts[counts["model"] == "dummy"]["share"].sum() == pytest.approx(1)
    shown = page.shown["types-table"].data
    assert (shown["n"] > 0).all() and "dummy" in set(shown["model"])


def test_a_bug_report_is_one_line(copying, tmp_path, monkeypatch, capsys) -> None:
    run_page("numbers/smallest_failures", copying.model_dump(), tmp_path / "page", monkeypatch)
    [line] = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"en→de dummy: 1\.1 → 1\.1 \(separator not localised\) in “.+” → “.+”", line)
