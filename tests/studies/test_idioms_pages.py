"""Every page of the idioms study, run on idioms whose translations are known: what it draws, shows and keeps."""

from __future__ import annotations

import math
import re
import shutil

import pytest

from nbkit.models.probes import CONTEXTS
from nbkit.studies.idioms import STUDY
from nbkit.studies.idioms.scores import OF
from tests.pages import Page, html, run_page

from .conftest import Dummy, register, registered
from .idioms_cases import literally, probed, toy_params

pytestmark = pytest.mark.thorough

#: The languages of the paper, and the table that has all its results.
LANGUAGES = {"fr": "table3", "es": "table4"}
PUBLISHED = STUDY.printed


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """All pages of one run into both languages of the paper, whose files say the same."""
    folder = tmp_path_factory.mktemp("idioms")
    params = toy_params(folder).model_dump()
    shutil.copy(folder / "set.fr", folder / "set.es")
    run = params | {"languages": list(LANGUAGES), "conditions": ["zero", "joint"], "contexts": list(CONTEXTS)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBKIT_CACHE", str(folder / "cache"))
        with registered(Dummy(literally)), probed():
            return {each.path: run_page(each.path, run, folder / each.path, patch) for each in STUDY.notebooks}


def test_every_page_draws_what_its_tables_say(pages: dict[str, Page]) -> None:
    """Marks stand where the tables' values are, in panels of both languages; the footer comes last."""
    found = pages["idioms/literal_errors"]
    drawn = found.frame("litter_variants").query("variant == 'paper' and pairs == 'paper'")
    assert sorted(marks(found.figures["cell-4"], 0)) == pytest.approx(sorted(drawn["value"])) and len(drawn) == 8
    effects = pages["idioms/context_likelihood"].frame("fig6_perplexity_by_context").query("measure == 'perplexity'")
    figure = pages["idioms/context_likelihood"].figures["cell-4"]
    lines = [value for panel in figure.axes for line in panel.lines for value in line.get_ydata() if len(panel.lines)]
    assert sorted(lines) == pytest.approx(sorted(effects["value"]))
    assert sorted(set(effects["value"])) == pytest.approx([math.e, math.e**2, math.e**3])
    titles = [panel.get_title() for panel in figure.axes if panel.get_visible()]
    assert titles == ["zero, fr", "joint, fr", "zero, es", "joint, es"]
    for page in pages.values():
        assert "Where these results come from" in html(list(page.shown.values())[-1])
        assert len([name for name in page.kept if name.startswith("figures/") and ".column." not in name]) == len(
            page.figures
        )
    assert {name: len(page.figures) for name, page in pages.items() if page.figures} == {
        "idioms/idiom_data": 2, "idioms/literal_errors": 3, "idioms/accuracy": 2, "idioms/global_scores": 2,
        "idioms/context_translation": 3, "idioms/context_likelihood": 2, "idioms/uncertainty": 2,
        "idioms/worked_examples": 1, "idioms/model_card": 4,
    }  # fmt: skip


def test_bleu_of_the_run_and_of_the_paper_has_one_axis(pages: dict[str, Page]) -> None:
    figures = pages["idioms/global_scores"].figures
    panels = [panel for name in ("cell-4", "cell-6") for panel in figures[name].axes if panel.get_visible()]
    assert len(panels) == 10 and len({panel.get_xlim() for panel in panels}) == 1
    assert {panel.get_xlabel() for panel in panels} <= {"BLEU", ""}


def test_the_papers_values_stand_beside_those_of_both_languages(pages: dict[str, Page]) -> None:
    for page, table, measures in (
        ("literal_errors", "litter_beside", {"litter"}),
        ("accuracy", "apt_eval_beside", {"unigram_precision", "aligned_chrf"}),
        ("global_scores", "global_scores_beside", {"bleu", "chrf"}),
    ):
        found = pages[f"idioms/{page}"].frame(table)
        assert set(found["language"]) == set(LANGUAGES) and set(found["condition"]) == {"zero", "joint"}
        assert set(found["measure"]) == measures and found["printed"].notna().all()
    beside = pages["idioms/literal_errors"].frame("litter_beside").query("model == 'random'")
    assert beside.set_index(["language", "condition"])["published"].to_dict() == {
        (language, condition): value
        for language, table in LANGUAGES.items()
        for _, condition, model, measure, *_, value, _ in PUBLISHED.load(table).itertuples(index=False)
        if (model, measure) == ("random", "litter") and condition in ("zero", "joint")
    }
    statistics = pages["idioms/idiom_data"].frame("table1_statistics").set_index(["language", "statistic"])["published"]
    assert statistics["fr", "Idiom-test"] == 1383 and statistics["es", "Idiom-train"] == 1312
    text = pages["idioms/global_scores"].text
    for table in ("table2", "table3", "table4"):
        assert PUBLISHED.title(table) in text
        for row in PUBLISHED.load(table).itertuples():
            assert f"{row.value:.{1 if row.measure == 'bleu' else 3}f}" in text


def test_every_artefact_of_the_paper_is_named_by_its_number(pages: dict[str, Page]) -> None:
    """In what a page shows, not in its prose alone: illustrations too, and the figures of the second language."""
    names = [*(f"fig{n}" for n in range(1, 22)), *(f"table{n}" for n in range(1, 5))]
    numbers = {PUBLISHED.title(name).partition(":")[0] for name in names}
    shown = "\n".join(page.text for page in pages.values())
    assert not {number for number in numbers if not re.search(rf"\b{number}\b", shown, re.IGNORECASE)}


def test_examples_and_matches_are_marked(pages: dict[str, Page]) -> None:
    shown = pages["idioms/worked_examples"].shown["cell-6"]
    assert html(shown).count("as printed") == 5 and "arbre</mark>" in html(shown)
    assert "tables/fig14_fig15_published.texts.csv" in pages["idioms/worked_examples"].kept
    matcher = pages["idioms/phrase_matcher"]
    assert "pulled the wool over our eyes</mark>" in html(matcher.shown["cell-5"])
    assert matcher.frame("matcher_recall")["language"].tolist() == list(LANGUAGES)


@pytest.mark.parametrize("given", ["models", "idioms", "voters"])
def test_a_run_without_something_says_so_on_every_page(given: str, tmp_path, monkeypatch) -> None:
    """Without models, without idioms, and with voters in the place of references: words instead of errors."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    names = ["dummy", "dummy-zero", "dummy-joint", "dummy-2"]
    register(Dummy(literally), names)
    params = toy_params(tmp_path).model_dump()
    (tmp_path / "corpus.tsv").write_text("Nothing here .\tRien ici .\n", encoding="utf-8")
    corpus = {"data": "mined", "corpora": {"mine": f"{tmp_path}/corpus.tsv"}}
    without = {
        "models": {"models": {}},
        "idioms": corpus,
        "voters": {"voters": names, "models": {name: name for name in names}},
    }[given]
    message = {
        "models": "This run has no model",
        "idioms": "No idiom is in the data",
        "voters": "voters and no references",
    }
    for notebook in STUDY.notebooks:
        done = run_page(notebook.path, params | without | {"contexts": []}, tmp_path / notebook.path, monkeypatch)
        assert "Where these results come from" in html(list(done.shown.values())[-1])
        if notebook.path.rpartition("/")[2] in ("literal_errors", "accuracy", "global_scores", "model_card"):
            assert message[given] in done.text, notebook.path


def test_one_error_by_hand_comes_to_what_the_study_finds(pages: dict[str, Page]) -> None:
    """The pair that the page works through has an error, and its means are those of the tables."""
    page = pages["idioms/literal_errors"]
    (judgement,), one = page.values["judgements"], page.values["one"].iloc[0]
    assert judgement.error and one["error"] and page.values["of_idiom"][one["idiom"]] > 0
    found = page.frame("litter_variants").query("variant == 'paper' and pairs == 'paper'").set_index([*OF])["value"]
    assert page.values["of_idiom"].mean() == pytest.approx(found[tuple(one[OF])])


def test_pages_into_a_language_that_the_paper_lacks_show_its_tables(tmp_path, monkeypatch) -> None:
    """One model with a name of forty letters, into Arabic, no idiom's word in the dictionary: nothing is decided."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    params = toy_params(tmp_path)
    (tmp_path / "set.ar").write_text("هم يموتون اليوم .\n" * 8, encoding="utf-8")
    (tmp_path / "words.tsv").write_text("nothing\tلا\n", encoding="utf-8")
    register(Dummy(lambda text: "هم يركلون الدلو اليوم ."))
    run = params.model_dump() | {"languages": ["ar"], "models": {"m" * 40: "dummy-{condition}"}, "contexts": []}
    run |= {"variants": ["accents", "aligned"]}
    for notebook in STUDY.notebooks:
        done = run_page(notebook.path, run, tmp_path / notebook.path, monkeypatch)
        assert "Where these results come from" in html(list(done.shown.values())[-1])
        if notebook.path == "idioms/literal_errors":
            assert "No translation of this run has an open blocklist" in done.text
            assert len(done.figures["cell-6"].axes) == 2  # both languages of the paper
        if notebook.path == "idioms/idiom_data":
            assert "2007723" in done.text and "<summary>The paper's whole Table 1" not in "".join(
                html(each) for things in done.all_shown.values() for each in things
            )


def marks(figure, across: int) -> list[float]:
    """Where the marks of a figure stand on an axis."""
    found = [each for panel in figure.axes for each in panel.collections]
    points = [each.get_offsets() for each in found if type(each).__name__ == "PathCollection"]
    return [point[across] for own in points for point in own]
