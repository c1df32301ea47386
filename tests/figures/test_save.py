"""Copies beside the report: in the run's folder, whole or not at all, text marked as text."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from nbkit.figures import draw, styles, theme
from nbkit.figures import panels as save
from nbkit.studies import notebook


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path / "run"))
    return tmp_path / "run"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_figure_is_kept_as_pdf_and_handed_on(folder: Path) -> None:
    figure = Figure()
    figure.subplots().plot([1, 2])
    save.save_figure(save.Picture(figure), "fig1")
    first = (folder / "figures/fig1.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    save.save_figure(save.Picture(figure), "fig1")
    assert (folder / "figures/fig1.pdf").read_bytes() == first


def test_a_copy_is_drawn_again_only_where_the_figure_changed(folder: Path) -> None:
    with theme.style():
        figure, ((panel,),) = draw.figure()
        panel.plot([1, 2])
    save.save_figure(save.Picture(figure), "fig1")
    copy = folder / "figures/fig1.pdf"
    first, written = copy.read_bytes(), copy.stat().st_mtime_ns
    save.save_figure(save.Picture(figure), "fig1")
    assert copy.stat().st_mtime_ns == written
    panel.plot([2, 1])
    save.save_figure(save.Picture(figure), "fig1")
    assert copy.read_bytes() != first


def test_tables_are_kept_with_their_own_column_names(folder: Path) -> None:
    frame = pd.DataFrame({"beta1": [0.123456]})
    save.save_table(styles.styled(frame), "a")
    save.save_table(frame, "b")
    assert files(folder) == ["tables/a.csv", "tables/a.tex", "tables/b.csv"]
    assert (folder / "tables/a.csv").read_text() == (folder / "tables/b.csv").read_text() == "beta1\n0.123456\n"
    assert r"$\beta_1$" in (folder / "tables/a.tex").read_text()


def test_sentences_carry_the_suffix_that_a_report_without_text_leaves_out(folder: Path) -> None:
    save.save_table(pd.DataFrame({"source": ["Tom sleeps."]}), "samples", text=True)
    assert files(folder) == ["tables/samples.texts.csv"]


def test_a_name_cannot_leave_the_folder(folder: Path) -> None:
    save.save_table(pd.DataFrame({"a": [1]}), "../../card de {model}/x")
    assert files(folder) == ["tables/card-de-model-x.csv"]


def test_a_failed_write_leaves_the_old_file_and_no_rest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(canvas: FigureCanvasPdf, filename: Path, **options: object) -> None:
        filename.write_bytes(b"%PDF")
        raise OSError("disk full")

    save.save_table(pd.DataFrame({"a": [1]}), "t")
    monkeypatch.setattr(FigureCanvasPdf, "print_pdf", broken)
    with pytest.raises(OSError, match="disk full"):
        save.save_figure(save.Picture(Figure()), "t")
    assert files(folder) == ["tables/t.csv"]


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBKIT_OUTPUT", raising=False)
    assert save.output_folder() == Path("outputs/explore")


def width(path: Path) -> float:
    """The width of a PDF's page in inches."""
    box = re.search(rb"/MediaBox \[ ?([\d. ]+)\]", path.read_bytes())
    assert box is not None
    return float(box[1].split()[2]) / 72


def test_what_does_not_fit_a_column_has_no_copy_for_one(folder: Path) -> None:
    with theme.style():
        figure, ((left, right),) = draw.figure(1, 2)
        left.plot([1, 2])
        right.plot([2, 1])
        save.save_figure(save.Picture(figure), "beside")
        figure, ((panel,),) = draw.figure()
        marks = panel.plot([1, 2], label="a name of a system that is as long as names of systems are, and then some")
        legend = figure.legend(handles=marks, loc="outside lower center", ncols=3)
        save.save_figure(save.Picture(figure), "long")
    assert files(folder) == ["figures/beside.pdf", "figures/long.pdf"]
    assert legend._ncols == 1 and figure.get_size_inches().tolist() == [theme.WIDTH, 3]


def test_copies_for_a_paper_fit_its_page_and_the_figure_keeps_its_size(folder: Path) -> None:
    with theme.style():
        figure, ((panel,),) = draw.figure()
        panel.plot([1, 2])
        panel.set_xlabel("tokens")
    save.save_figure(save.Picture(figure), "fig1")
    assert width(folder / "figures/fig1.pdf") <= theme.PAGE + 0.3
    assert 2.5 < width(folder / "figures/fig1.column.pdf") <= theme.COLUMN + 0.3
    assert figure.get_size_inches().tolist() == [theme.WIDTH, 3]
    assert 7 <= panel.xaxis.label.get_fontsize() <= 9


def test_tables_for_a_paper_have_a_caption_and_a_label(folder: Path) -> None:
    frame = pd.DataFrame({"rising ↑": ["✓"], "n": [3]})
    save.save_table(styles.styled(frame, caption="Wrong_senses & β, 50% of all ↓"), "table1")
    text = (folder / "tables/table1.tex").read_text(encoding="utf-8")
    assert r"\caption{Wrong\_senses \& $\beta$, 50\% of all $\downarrow$}" in text and r"\label{tab:table1}" in text
    assert not set(text) & set("✓✗↑↓→β%") - {"%"}


def test_headings_reach_latex():
    """pandas asks for the heading of an escaped name; and a bare percent sign would comment out the row."""
    frame = pd.DataFrame({"n_pairs": [1], "omega_max": [0.5], "low": [0.2]})
    text = styles.to_latex(styles.styled(frame, headings={"omega_max": "Ω max", "low": "95% from"}))
    assert r"n pairs & $\Omega$ max & 95\% from \\" in text


def test_only_what_a_run_made_leads_to_its_sentences(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, object]] = []
    monkeypatch.setattr(notebook, "display", lambda _, metadata=None: shown.append(metadata or {}))
    rows = pd.DataFrame({"model": ["m", "m"], "value": [1, 2]})
    notebook.show(rows, "table1")
    for name, fold in (("", "The paper's whole Table 1"), ("", ""), ("table1_published", "")):
        notebook.show(rows, name, fold=fold)
    assert [each.get("sentences") for each in shown] == [{"model": "m"}, None, None, None]
