"""Tables whose words are data, a paper's tables and remarks, and the footer of a page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from nbkit.errors import UnknownNameError
from nbkit.studies.idioms import IdiomsParams
from nbkit.studies.nli_permutation import NliPermutationParams
from nbkit.studies.numbers import NumbersParams
from nbkit.studies.page import Page, Sheets, footer, licences
from nbkit.studies.paper import Paper
from nbkit.studies.word_order import WordOrderParams

ENTRIES = """
headings: {model: system}
rates:
  caption: "Rates of {what}"
  empty: "No rates of <b>."
  columns: lang? model? {column} note text
  cells: {rate: {ends: [low, high], times: 100, form: .1f}}
  headings: {"{column}": "rate of {what}"}
  html: [text]
  css: {text: "min-width: 9em", absent: "min-width: 1em"}
printed: {caption: "The paper: {title}"}
beside: {caption: "{title}", headings: {"{value}": ours}, empty: It tested others.}
beside_coded: {caption: "{title}, three ways", headings: {coded: as coded}}
"""
ARTEFACTS = """
table1: {title: "Table 1: scores", file: table1.csv, value: score, note: Odd.}
fig2: {title: "Figure 2: scores"}
fig3: {title: "Figure 3: how"}
"""


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    (tmp_path / "tables.yaml").write_text(ENTRIES, encoding="utf-8")
    (tmp_path / "artefacts.yaml").write_text(ARTEFACTS, encoding="utf-8")
    (tmp_path / "table1.csv").write_text("model,set,score,note\na,x,0.50,\nb,x,0.75,\na,y,0.25,why\n", encoding="utf-8")
    return Sheets(
        tmp_path / "tables.yaml",
        Paper(tmp_path, str),
        names={"model": str.upper},
        texts={"text": lambda row: f"<i>{row['model']}</i>"},
    )


RATES = pd.DataFrame({"lang": "fr", "model": ["a", "b"], "rate": [0.5, 0.25], "low": 0.1, "high": 0.8, "text": "?"})


def test_an_entry_says_what_is_shown_and_how(sheets: Sheets) -> None:
    table = sheets.show("rates", RATES, what="<all>", column="rate")
    shown = table.data  # type: ignore[attr-defined]
    assert shown.columns.tolist() == ["model", "rate", "text"]  # one language; no column note
    assert shown["model"].tolist() == ["A", "B"] and shown["rate"].tolist()[0] == "50.0 [10.0, 80.0]"
    html = table.to_html()
    assert "<i>a</i>" in html and "Rates of &lt;all&gt;" in html and ">rate of &lt;all&gt;<" in html
    assert ">system<" in html and "td.col2 {\n  min-width: 9em" in html and "1em" not in html


def test_a_table_without_rows_says_why(sheets: Sheets) -> None:
    assert sheets.why("rates") == "No rates of <b>."
    assert "No rates of &lt;b&gt;." in sheets.show("rates", RATES[:0], what="", column="rate").to_html()
    assert "Another reason" in sheets.show("rates", RATES[:0], why="Another reason", what="", column="rate").to_html()
    assert "No model in this run" in sheets.show("printed", RATES[:0], title="").to_html()
    with pytest.raises(KeyError, match="what"):
        sheets.show("rates", RATES, column="rate")


def test_a_printed_table_is_shown_whole_as_it_is_printed(sheets: Sheets) -> None:
    table = sheets.printed("table1", "set", "model")
    assert table.data.to_numpy().tolist() == [["x", "0.50", "0.75"], ["y", "0.25", "–"]]  # type: ignore[attr-defined]
    assert "The paper: Table 1: scores" in table.to_html() and ">A<" in table.to_html()
    with pytest.raises(UnknownNameError):
        sheets.printed("table9", "set", "model")


def test_our_numbers_stand_beside_the_printed_ones(sheets: Sheets) -> None:
    ours = pd.DataFrame({"model": ["a", "c"], "set": "x", "score": [0.75, 1.0]})
    table = sheets.beside(ours, "table1", ["model", "set"])
    assert table.data.to_numpy().tolist() == [["A", "x", 0.75, "0.50", 0.25]]  # type: ignore[attr-defined]
    assert ">ours<" in table.to_html()
    coded = sheets.beside(ours.assign(coded=0.5, set="y"), "table1", ["model", "set"])
    assert coded.data.iloc[0, 5:].tolist() == [0.5, 0.25, "why"]  # type: ignore[attr-defined]
    assert "It tested others." in sheets.beside(ours[1:], "table1", ["model", "set"]).to_html()
    assert "as a drawing only" in sheets.beside(ours, "fig2", ["model"]).to_html()


def test_remarks_on_what_the_paper_has(sheets: Sheets) -> None:
    assert "Odd. Published values: not printed, the paper shows Figure 2 " in sheets.remark("table1", "fig2").data
    assert "the paper only draws Figure 2 and Figure 3. More.<" in sheets.drawn_only("fig2", "fig3", more="More.").data
    assert "those that Figure 2 draw are printed in Table 1.<" in sheets.drawn_from(["fig2"], ["table1"]).data
    assert "without values: Figure 3: how.<" in sheets.illustrated("fig3").data
    assert "fewer &lt; 3" in sheets.note("fewer < 3").data


def test_a_footer_has_facts_and_models_once() -> None:
    facts = footer(NumbersParams(), {"rules": "own"}, ["opus-mt"] * 2, lambda name: {}, pairs=[("en", "de")]).facts
    assert facts["metrics"] == {"rules": "own"} and facts["models"] == ["opus-mt"] and facts["seed"] == 0
    assert "models" not in footer(NumbersParams()).facts


def test_a_footer_says_what_programs_and_files_are(tmp_path: Path) -> None:
    """The command and its version, what cannot be noticed, the round that is shown; once for a system by rule."""
    (tmp_path / "1.en-de.en").write_text("One.\nTwo.\n", encoding="utf-8")
    (tmp_path / "1.en-de.de").write_text("Eins.\n\n", encoding="utf-8")
    command, files = "command:cat -u {src}", f"outputs:{tmp_path}"
    params = NumbersParams(models=[command, f"placeholder:{command}", files, "sandbox-numbers"])
    shown = footer(params, models=params.models, pairs=[("en", "de")])
    assert shown.facts["systems"] == [
        f"{command} (cat -u en; version: not given; noticed is a change of the command, its version or the file cat, "
        "but not of anything else that it uses)",
        f"{files} (en→de: round 1, 2 lines, 1 empty)",
    ]
    assert list(shown.facts["costs"]) == [command]  # files cost nothing
    classified = NliPermutationParams(models=[files])
    (tmp_path / "1.en-labels.en").write_text("One. ||| Two.\n", encoding="utf-8")
    (tmp_path / "1.en-labels.labels").write_text("neutral\n", encoding="utf-8")
    of_files = footer(classified, models=[files], language="en").facts["systems"]
    assert of_files == [f"{files} (en→labels: round 1, 1 lines, 0 empty)"]


def test_one_call_shows_saves_and_puts_the_printed_value_beside(
    sheets: Sheets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shown: list = []
    monkeypatch.setattr("nbkit.studies.page.display", lambda *things, **_: shown.extend(things))
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path / "run"))
    page = Page(sheets)
    figure, frame = Figure(), pd.DataFrame({"model": ["A"], "score": [0.5]})
    table = sheets.show("printed", frame, title="")

    def kept() -> list[str]:
        found = sorted(str(path.relative_to(tmp_path / "run")) for path in (tmp_path / "run").rglob("*.*"))
        shutil.rmtree(tmp_path / "run")
        return found

    page.show("fig", figure, data=frame, printed=["table1", "fig2"])
    assert shown[0] is figure and "Odd." in shown[1].data and "Figure 2" in shown[1].data
    assert kept() == ["figures/fig.pdf", "tables/fig.csv"]
    shown.clear()
    page.show("table", table, fold="All of it", printed="table1", whole=("model", "set"))
    assert "<summary>All of it</summary>" in shown[0].data
    assert "<summary>The paper&#x27;s whole Table 1, by set</summary>" in shown[1].data and len(shown) == 3
    assert kept() == ["tables/table.csv", "tables/table.tex"]
    shown.clear()
    page.show("text", table, text=frame, beside=table)
    assert shown == [table, table] and kept() == ["tables/text.texts.csv"]
    page.save("all", frame)
    page.research_code()  # there is none
    assert len(shown) == 2 and kept() == ["tables/all.csv"]


def test_a_footer_shows_licences_of_named_corpora_and_of_weights_from_the_hub() -> None:
    """Not of files and models of the user's, of what is trained here, and of the built-in world."""
    params = IdiomsParams(data="mined", corpora={"A": "opus100:train", "B": "tsv:mine.tsv"}, aligned_corpora=["pud"])
    found = licences(params, ["placeholder:nllb-600m@ct2", "mine/model", "sandbox-lstm#2", "./here", "openai:gpt"])
    assert found == {
        "opus100": "not stated; see opus.nlpl.eu/opus-100.php",
        "pud": "CC BY-SA 3.0",
        "placeholder:nllb-600m@ct2": "CC BY-NC 4.0",
        "mine/model": "see its model card",
    }
    assert licences(NliPermutationParams(corpora=["sick:test", "sandbox:dev"]), []) == {"sick": "CC BY-NC-SA 3.0"}
    assert licences(NumbersParams(templates="corpus:tatoeba"), []) == {"tatoeba": "CC BY 2.0 FR"}
    facts = footer(WordOrderParams(corpus="multi30k")).facts
    assert (facts["licences"], facts["domains"]) == ({"multi30k": "CC BY-NC-SA 4.0"}, {"multi30k": "image captions"})
    assert "domains" not in footer(WordOrderParams(corpus="mine.tsv")).facts
