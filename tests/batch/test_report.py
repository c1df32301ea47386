"""The report of a run: one offline page an executed notebook, and the archive for an e-mail."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from nbkit.cli import main
from nbkit.errors import DataError, NbkitError
from nbkit.report import page as pages_of
from nbkit.report import site as report

_CELLS = [{"cell_type": "markdown", "metadata": {}, "source": "# Page"}]
NOTEBOOK = {"cells": _CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
SCRIPT = "<script>window.ran"  # begins every hostile sentence of the fixture


def _decoded(html: str) -> str:
    """A page with its embedded pictures decoded, so that a search finds what they hold."""
    pictures = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", html)
    return html + "".join(base64.b64decode(picture).decode() for picture in pictures)


@pytest.mark.thorough
def test_every_notebook_has_a_page_and_the_index_lists_it(finished_run: Path):
    index = report.build(finished_run)
    assert index == finished_run / "index.html"
    html = index.read_text()
    labels = {path.stem for path in (finished_run / "notebooks").glob("*.ipynb")}
    assert {path.stem for path in (finished_run / "html").glob("*.html")} == labels
    assert all(f'href="html/{label}.html' in html for label in labels)


def test_pages_name_no_address_that_a_browser_would_fetch(finished_run: Path):
    report.build(finished_run)
    for page in [finished_run / "index.html", *(finished_run / "html").iterdir()]:
        html = page.read_text()
        fetching = re.findall(r"<(?:link|script|img|iframe|object|embed)\b[^>]*", html)
        addresses = re.findall(r"""\b(?:src|href|data)=["']?([^"'> ]*)""", " ".join(fetching))
        assert addresses and all(address.startswith("data:image/") for address in addresses)
        assert "@import" not in html and "url(" not in html


def test_corpus_text_is_escaped_on_every_page(finished_run: Path):
    report.build(finished_run)
    for page in [finished_run / "index.html", *(finished_run / "html").iterdir()]:
        assert SCRIPT not in page.read_text(), page.name
        assert page.read_text().count("<script>") == 1


def test_a_failure_stands_on_the_index_with_its_last_line(finished_run: Path):
    html = report.build(finished_run).read_text()
    failures = html.partition('id="failures"')[2].partition("</section>")[0]
    assert "1 of 6 notebooks failed" in failures
    assert "ValueError: no tree for Der &lt;script&gt;" in failures
    assert 'href="html/word_order-lengths-ja-opus-mt.html#failure"' in failures
    page = (finished_run / "html" / "word_order-lengths-ja-opus-mt.html").read_text()
    assert 'id="failure"' in page and 'class="traceback"' in page and "(not run)" in page


def test_work_that_failed_before_the_notebooks_is_reported(finished_run: Path):
    html = report.build(finished_run).read_text()
    broken = html.partition('id="broken"')[2].partition("</section>")[0]
    assert "translate ja" in broken and "ModelError: Der &lt;script&gt;" in broken


@pytest.mark.parametrize(("status", "is_unfinished"), [("done", False), ("interrupted", True), ("running", True)])
def test_an_unfinished_run_says_so(tmp_path: Path, status: str, is_unfinished: bool):
    (tmp_path / "run.json").write_text(json.dumps({"status": status}))
    assert ("This run is not finished" in report.build(tmp_path).read_text()) is is_unfinished


def test_summaries_of_several_grids_stand_apart_and_paths_are_shortened(tmp_path: Path):
    params = {"models": ["/home/somebody/models/m30k"], "n_pairs": 200}
    used = {"n_pairs": [30], "n_test": [7], "n_cases": [11, 12]}
    grids = [{"name": name, "params": params, "used": used} for name in ("multi30k", "pud")]
    (tmp_path / "run.json").write_text(json.dumps({"runs": grids}))
    for room in ("cells", "notebooks"):
        (tmp_path / room).mkdir()
    for name in ("multi30k", "pud"):
        record = {"status": "done", "scope": "grid", "tags": {"run": name}}
        (tmp_path / "cells" / f"{name}.json").write_text(json.dumps(record))
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(json.dumps(NOTEBOOK))
    html = report.build(tmp_path).read_text()
    assert html.count('<ol class="cards">') == 2 and ">multi30k</h2>" in html and ">pud</h2>" in html
    assert "<dd>m30k</dd>" in html and "somebody" not in html
    assert "<dt>Pairs</dt><dd>30</dd>" in html  # of those there are, whatever was asked for
    assert "<dt>Test pairs</dt><dd>7</dd>" in html and "<dt>Test sentences</dt><dd>11, 12</dd>" in html


def test_pages_of_one_model_come_first_and_pages_lead_to_their_neighbours(finished_run: Path):
    html = report.build(finished_run).read_text()
    order = re.findall(r'<li data-search[^>]*><a href="html/([^"]+)', html)
    assert order[-1] == "word_order-summary.html" and len(order) == 6
    pages = [(finished_run / "html" / name).read_text() for name in order]
    assert ['rel="prev"' in page for page in pages] == [False, *[True] * 5]
    assert [f'rel="next" href="{name}"' in page for page, name in zip(pages, order[1:], strict=False)] == [True] * 5


def test_progress_bars_leave_nothing_and_warnings_are_folded(finished_run: Path):
    report.build(finished_run)
    html = (finished_run / "html" / "word_order-summary.html").read_text()
    messages = html.partition('class="messages"')[2].partition("</details>")[0]
    assert "a warning" in messages
    assert messages.count("it/s") <= 1 and "\r" not in messages


def test_every_page_has_provenance_and_the_sandbox_notice(finished_run: Path):
    report.build(finished_run)
    for page in (finished_run / "html").iterdir():
        html = page.read_text()
        assert html.count('class="nbkit-provenance"') == 1, page.name
        assert "test bench with known answers" in html
    assert "&lt;i&gt;nrefs:1&lt;/i&gt;" in (finished_run / "html" / "word_order-summary.html").read_text()
    assert "0123abc" in (finished_run / "html" / "word_order-lengths-ja-opus-mt.html").read_text()


def test_only_changed_pages_are_made_anew(finished_run: Path):
    report.build(finished_run)
    pages = {page: page.stat().st_mtime_ns for page in (finished_run / "html").iterdir()}
    record = finished_run / "cells" / "word_order-robustness-ja-opus-mt.json"
    before = record.read_text()
    record.write_text(before.replace("12.5", "13.5"))
    report.build(finished_run)
    changed = {page.stem for page, time in pages.items() if page.stat().st_mtime_ns != time}
    record.write_text(before)
    assert changed == {"word_order-robustness-ja-opus-mt"}


def test_when_and_how_long_a_run_was_changes_no_page(finished_run: Path):
    record = finished_run / "run.json"
    before = record.read_text()
    then = {"date": "2026-01-01 12:00 UTC", "wall_time": "5.0 s"}
    later = {"date": "2026-01-01 12:05 UTC", "wall_time": "7.0 s"}
    written = []
    for when in (then, later, {**later, "commit": "fedcba9"}):
        run = json.loads(before)
        record.write_text(json.dumps({**run, "provenance": run.get("provenance", {}) | when}))
        report.build(finished_run)
        written.append({page.name: page.stat().st_mtime_ns for page in (finished_run / "html").iterdir()})
    record.write_text(before)
    assert written[0] == written[1] and written[1] != written[2]


def test_a_page_whose_notebook_is_gone_goes_too(finished_run: Path):
    report.build(finished_run)
    (finished_run / "html" / "old.html").write_text((finished_run / "html" / "word_order-summary.html").read_text())
    (finished_run / "html" / "mine.html").write_text("not made by nbkit")
    report.build(finished_run)
    assert not (finished_run / "html" / "old.html").exists()
    assert (finished_run / "html" / "mine.html").exists()
    (finished_run / "html" / "mine.html").unlink()


def test_the_archive_holds_pages_figures_and_tables_and_nothing_that_runs(finished_run: Path):
    path = report.archive(finished_run)
    assert path == finished_run.parent / "demo.zip"
    with zipfile.ZipFile(path) as bundle:
        names = bundle.namelist()
        assert bundle.read("demo/index.html") == (finished_run / "index.html").read_bytes()
    assert {Path(name).suffix for name in names} == {".html", ".csv", ".pdf"}
    assert (
        "demo/tables/word_order-summary/flips.texts.csv" in names
        and "demo/figures/word_order-summary/fig1.pdf" in names
    )
    assert sum(name.startswith("demo/html/") for name in names) == 6


def test_the_archive_without_text_holds_no_sentence_of_the_corpus(finished_run: Path):
    path = report.archive_without_text(finished_run)
    with zipfile.ZipFile(path) as bundle:
        members = {name: _decoded(bundle.read(name).decode("latin1")) for name in bundle.namelist()}
    assert path.name == "demo-no-text.zip"
    for name, content in members.items():
        assert "Vogelhaus" not in content, name  # only the fixture's corpus sentence has the word
    assert (
        "demo/tables/word_order-summary/flips.texts.csv" not in members
        and "demo/tables/word_order-summary/scores.csv" in members
    )
    page = members["demo/html/word_order-summary.html"]
    assert "../tables/word_order-summary/scores.csv" in page
    assert page.count("Removed from this copy") == 4
    assert "0.610" in page  # the table of scores is still there
    assert "ValueError" in members["demo/html/word_order-lengths-ja-opus-mt.html"]
    with_text = report.archive(finished_run)
    with zipfile.ZipFile(with_text) as bundle:
        assert "Vogelhaus" in bundle.read("demo/html/word_order-summary.html").decode()


def test_the_health_of_outputs_is_shown_first(finished_run: Path):
    record = finished_run / "run.json"
    before = record.read_text()
    bad = {"system": "bad", "counts": {"empty": 213, "chatter": 1}, "lines_with": 214}
    bad["quoted"] = [{"kind": "chatter", "line": 1430, "evidence": "<b>Vogelhaus"}]
    good = {"system": "good", "counts": {}, "lines_with": 0, "quoted": []}
    health = {"file": "source.en", "source": "en", "target": "de", "lines": 26886, "systems": [bad, good]}
    health["kinds"] = {"empty": "no translation", "chatter": "a refusal or a remark of the system"}
    fine = {"file": "news.en", "source": "en", "target": "de", "lines": 10, "systems": [good]}
    try:
        record.write_text(json.dumps({**json.loads(before), "health": [health, fine]}))
        html = report.build(finished_run).read_text()
        shown = html.partition('id="health"')[2].partition("</section>")[0]
        assert html.index('id="health"') < html.index("All sentences" if "All sentences" in html else "Model by model")
        assert re.findall(r'<th scope="col" title="[^"]+">(\w+)', shown) == ["empty", "chatter"]
        assert "213" in shown and "0.80%" in shown and "line 1,430" in shown and "&lt;b&gt;Vogelhaus" in shown
        assert "nothing was found in 10 lines of good" in shown
        with zipfile.ZipFile(report.archive_without_text(finished_run)) as bundle:
            index = bundle.read("demo/index.html").decode()
        assert "213" in index and "Vogelhaus" not in index
        record.write_text(json.dumps({**json.loads(before), "health": [health] * 4}))
        html = report.build(finished_run).read_text()
        assert html.count("<details><summary>source.en, en→de: most in bad, 0.80% of its lines") == 4
    finally:
        record.write_text(before)


def test_a_link_out_of_the_folder_is_not_archived(finished_run: Path, tmp_path: Path):
    (tmp_path / "secret.csv").write_text("secret")
    link = finished_run / "tables" / "link.csv"
    link.symlink_to(tmp_path / "secret.csv")
    try:
        with zipfile.ZipFile(report.archive(finished_run)) as bundle:
            assert "demo/tables/word_order-summary/link.csv" not in bundle.namelist()
    finally:
        link.unlink()


def test_foreign_and_damaged_folders_are_refused(tmp_path: Path):
    with pytest.raises(NbkitError, match="no such folder"):
        report.build(tmp_path / "nowhere")
    with pytest.raises(NbkitError, match=r"no run\.json"):
        report.build(tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(DataError, match=r"run\.json: cannot be read as JSON"):
        report.build(tmp_path)


def test_a_damaged_notebook_is_named(tmp_path: Path):
    (tmp_path / "run.json").write_text("{}")
    for folder in ("cells", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "cells" / "a.json").write_text(json.dumps({"status": "done"}))
    (tmp_path / "notebooks" / "a.ipynb").write_text("{}")
    with pytest.raises(DataError, match=r"a\.ipynb: not a Jupyter notebook"):
        report.build(tmp_path)


def test_a_run_without_notebooks_says_so(tmp_path: Path):
    (tmp_path / "run.json").write_text("{}")
    assert "No notebook of this run has been executed yet" in report.build(tmp_path).read_text()


NUMBER, TEXT, LIST = 5, "abc", [5]
DAMAGES = {
    "run.json": [
        {"runs": NUMBER, "order": 7, "failures": 3}, {"runs": LIST}, {"runs": [{"params": LIST}]}, {"order": [LIST]},
        {"failures": LIST}, {"provenance": TEXT}, LIST, NUMBER,
    ],
    "cells/page.json": [
        {"seconds": TEXT}, {"seconds": float("nan")}, {"seconds": True}, {"tags": LIST},
        {"parameters": TEXT}, {"provenance": NUMBER}, LIST,
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "content"), [(file, each) for file, all_ in DAMAGES.items() for each in all_], ids=str
)
def test_a_damaged_record_is_named_with_its_key(tmp_path: Path, file: str, content):
    one_page(tmp_path, "page")
    assert report.build(tmp_path).is_file()
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(DataError, match=rf"{file}: .*(is not what nbkit writes there|expected).*run again"):
        report.archive(tmp_path)
    result = CliRunner().invoke(main, ["report", str(tmp_path)])
    assert result.exit_code == 2 and file in result.output and isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("file", ["run.json", "cells/page.json"])
def test_a_record_that_is_too_deep(tmp_path: Path, file: str):
    one_page(tmp_path, "page")
    (tmp_path / file).write_text("[" * 100_000)
    with pytest.raises(DataError, match="cannot be read as JSON"):
        report.build(tmp_path)


def test_odd_names_get_into_no_page_and_no_archive(tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    one_page(folder, "page")
    (folder / "tables" / "page").mkdir(parents=True)
    hostile = '"><img src=x onerror=alert(1)>.csv'
    for name in (hostile, "a\nb.csv", "scores.texts.csv", "Abb. 1 (neu).csv"):
        (folder / "tables" / "page" / name).write_text("a\n")
    with zipfile.ZipFile(report.archive(folder)) as bundle:
        names = [name.rpartition("/")[2] for name in bundle.namelist() if "/tables/" in name]
    assert names == ["Abb. 1 (neu).csv", "scores.texts.csv"]
    page = (folder / "html" / "page.html").read_text()
    assert "onerror" not in page and "scores.texts.csv" in page
    one_page(folder, hostile.removesuffix(".csv"))
    with pytest.raises(DataError, match="is not a name that nbkit gives"):
        report.build(folder)


def one_page(folder: Path, label: str) -> None:
    """A run of one notebook."""
    (folder / "run.json").write_text("{}")
    for room in ("cells", "notebooks"):
        (folder / room).mkdir(exist_ok=True)
    (folder / "notebooks" / f"{label}.ipynb").write_text(json.dumps(NOTEBOOK))
    (folder / "cells" / f"{label}.json").write_text(json.dumps({"seconds": 1.5, "tags": {"language": "de"}}))


def cells_of(cells: list[dict], folder: Path) -> str:
    (folder / "page.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    return str(pages_of.cells(pages_of.read_notebook(folder / "page.ipynb"))[0])


def test_formulas_are_mathml_that_needs_no_network(tmp_path: Path):
    cells = [{"cell_type": "markdown", "metadata": {}, "source": text} for text in (
        r"The score is $\beta_1 = \kappa(\hat t', t)$, at least 0.", "$$\n\\frac{a}{b} < 1\n$$",
        r"$\href{javascript:x()}{y} \text{<script>alert(1)</script>}$", r"$\left( x$ and `$x$` cost $5.",
    )]  # fmt: skip
    shown = cells_of(cells, tmp_path).split('<div class="prose">')[1:]
    assert '<math display="inline"><mrow><msub><mi>β</mi><mn>1</mn></msub><mo>=</mo>' in shown[0]
    assert '<math display="block">' in shown[1] and "<mfrac>" in shown[1] and "<mo>&lt;</mo>" in shown[1]
    assert "javascript" not in shown[2] and "<script" not in shown[2] and "&lt;script&gt;" in shown[2]
    assert r"<code>\left( x</code>" in shown[3] and "<code>$x$</code> cost $5." in shown[3]


def test_code_of_cells_by_hand_is_open(tmp_path: Path):
    def cell(*tags: str) -> dict:
        known = {"metadata": {"tags": list(tags)}, "execution_count": 1, "outputs": []}
        return {"cell_type": "code", "source": "1", **known}

    html = cells_of([cell(), cell("by-hand"), cell("parameters")], tmp_path)
    assert re.findall(r'<div class="(source.*?)">', html) == ["source", "source open", "source"]
    assert re.findall(r'<p class="what">(.*?)</p>', html) == ["Parameters and their defaults"]


def test_markdown_that_a_cell_shows_has_no_anchors_and_names_no_page(tmp_path: Path):
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": "## Found\n\n*Are they robust?*"}}
    cell = {"cell_type": "code", "metadata": {}, "source": "1", "execution_count": 1, "outputs": [shown]}
    html = cells_of([cell], tmp_path)
    assert "<h2>Found</h2>" in html and "<em>Are they robust?</em>" in html and "<a" not in html
