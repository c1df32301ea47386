"""Every figure draws: on three shapes of grid, on tables with holes, on empty tables, without a warning."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from nbkit.figures import panels, theme
from nbkit.perturb import NAMES
from nbkit.studies.word_order import figures
from tests.figures.synthetic import SHAPES, Synthetic

FIGURES: dict[str, tuple[Callable[..., Figure], str]] = {
    "fig1": (figures.fig1_preference, "preference"),
    "fig2": (figures.fig2_preference_by_perturbation, "preference_by_perturbation"),
    "fig5": (figures.fig5_similarity, "similarity_of_languages"),
    "fig6": (figures.fig6_length, "length_effect"),
    "fig7": (figures.fig7_correlations, "correlations"),
    "fig8": (figures.fig8_robustness_and_faithfulness, "by_perturbation"),
    "fig8 average": (figures.fig8_average, "by_perturbation_of_models"),
    "fig12": (figures.fig12_difficulty, "difficulty"),
    "fig13": (figures.fig13_heatmaps, "by_perturbation"),
    "fig14": (figures.fig14_similarity_by_language, "similarity"),
    "fig15": (figures.fig15_difficulty_by_length, "difficulty_by_length"),
    "fig15 scores": (figures.fig15_scores_by_difficulty, "scores_by_difficulty"),
}
NEEDS_MODEL = {"fig1", "fig2", "fig6", "fig7", "fig8", "fig8 average", "fig13", "fig15 scores"}


def draw(figure: Figure) -> None:
    """Lay the figure out and draw it; whatever matplotlib warns of is an error."""
    with warnings.catch_warnings(), theme.style():
        warnings.simplefilter("error")
        figure.draw_without_rendering()


def as_svg(figure: Figure) -> bytes:
    stream = io.BytesIO()
    with theme.style():
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def make(name: str, table: pd.DataFrame, metric: str = "bleu") -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return FIGURES[name][0](table, metric)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", FIGURES)
def test_draws_every_shape_of_grid(name: str, shape: str) -> None:
    languages, models = SHAPES[shape]
    table = getattr(Synthetic(languages, models), FIGURES[name][1])()
    figure = make(name, table)
    draw(figure)
    shown = " ".join(texts(figure))
    if name not in ("fig2", "fig5"):  # these average over languages
        assert all(
            theme.language_label(code) in shown or f"\n{code}\n" in "\n".join(texts(figure)) for code in languages
        )
    if name in NEEDS_MODEL - {"fig2", "fig8 average"}:
        assert all(look.label in shown for look in theme.model_looks(models).values())


@pytest.mark.parametrize("name", FIGURES)
def test_an_empty_table_is_a_sentence_and_not_a_crash(name: str) -> None:
    table = getattr(Synthetic(*SHAPES["1x1"]), FIGURES[name][1])().iloc[:0]
    figure = make(name, table)
    draw(figure)
    assert any("No model in this run" in t for t in texts(figure)) == (name in NEEDS_MODEL)
    assert figure.axes  # Jupyter shows no figure without a panel


@pytest.mark.parametrize("name", FIGURES)
def test_a_metric_that_was_not_computed_is_named(name: str) -> None:
    table = getattr(Synthetic(*SHAPES["1x1"]), FIGURES[name][1])()
    shown = " ".join(texts(make(name, table, "bertscore")))
    assert "BERTScore: not computed in this run" in shown and "bertscore" in shown


@pytest.mark.parametrize("name", FIGURES)
def test_holes_and_missing_intervals_are_left_blank(name: str) -> None:
    table = getattr(Synthetic(*SHAPES["3x2"]), FIGURES[name][1])()
    numbers = [column for column in table.select_dtypes("float") if column not in ("length_low", "length_high")]
    holes = np.random.default_rng(1).random((len(table), len(numbers))) < 0.3
    table[numbers] = table[numbers].mask(holes)
    draw(make(name, table))


@pytest.mark.parametrize("name", FIGURES)
def test_all_nan_is_like_empty(name: str) -> None:
    table = getattr(Synthetic(*SHAPES["1x1"]), FIGURES[name][1])()
    numbers = table.select_dtypes("float").columns
    draw(make(name, table.assign(**dict.fromkeys(numbers, float("nan")))))


def test_the_order_of_rows_changes_nothing() -> None:
    table = Synthetic(*SHAPES["1x1"]).by_perturbation()
    assert as_svg(make("fig13", table)) == as_svg(make("fig13", table.iloc[::-1]))


def test_similarity_shows_means_and_half_their_intervals() -> None:
    keys = {"side": "source", "metric": "bleu", "perturbation_a": "reversed", "perturbation_b": "word_shuffle"}
    table = pd.DataFrame([{"kappa": 0.65, "low": 0.6, "high": 0.68, "n": 40, **keys}])
    assert "0.65\n±.04" in texts(make("fig5", table))


def test_preference_points_to_robust_on_the_right() -> None:
    figure = make("fig1", Synthetic(*SHAPES["1x1"]).preference())
    label = figure.axes[0].get_xlabel()
    assert label.index("faithful") < label.index("robust")
    low, high = figure.axes[0].get_xlim()
    assert low == -high


def test_no_two_names_overlap_on_the_axis_of_perturbations() -> None:
    figure = make("fig8", Synthetic(*SHAPES["1x1"]).by_perturbation())
    draw(figure)
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels() if tick.get_text()]
    assert len(boxes) == len(NAMES) + 1
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_a_model_keeps_its_colour_in_every_company() -> None:
    alone = theme.model_looks(["mbart50"])["mbart50"]
    assert alone == theme.model_looks(["opus-mt", "zzz", "mbart50"])["mbart50"]
    assert alone.colour == theme.model_looks(["mBART50"])["mBART50"].colour
    looks = theme.model_looks([*SHAPES["7x4"][1], "sandbox-marian", "sandbox-m2m", "one", "two", "three"])
    assert len({look.colour for look in looks.values()}) == len(looks)


def test_perturbations_stand_in_the_papers_order_by_category() -> None:
    heights = panels.perturbation_rows(panels.in_paper_order(reversed(NAMES)))
    assert list(heights) == list(NAMES)
    assert list(heights.values()) == sorted(heights.values())
    assert heights["noun_swaps"] - heights["rotate_around_root"] > 1


def test_numbers_of_a_heatmap_stand_out_from_their_cells() -> None:
    figure = make("fig5", Synthetic(*SHAPES["1x1"]).similarity_of_languages())
    colours = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert colours["1.00"] == "white"
    assert all(colour == "black" for text, colour in colours.items() if text < "0.4")


def test_both_panels_of_a_language_have_numbers_and_the_broken_line_stands_in_the_legend() -> None:
    figure = make("fig6", Synthetic(*SHAPES["1x1"]).length_effect())
    draw(figure)
    left, right = figure.axes
    assert [any(label.get_visible() for label in panel.get_yticklabels()) for panel in (left, right)] == [True, True]
    assert "unperturbed" not in left.get_title(loc="left")
    (legend,) = (each for each in figure.legends if each.get_gid() is None)
    assert "unperturbed" in legend.get_texts()[-1].get_text()
    assert legend.get_lines()[-1].get_linestyle() == "--"
