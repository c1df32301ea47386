"""What notebooks draw alike: on three shapes of grid, on tables with holes, on empty tables, without a warning."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from nbkit.errors import UnknownNameError
from nbkit.figures import panels, theme
from nbkit.figures.draw import curves, forest, heatmap
from nbkit.languages import TARGETS
from nbkit.perturb import CONTROL, NAMES

#: One language and one model; a middling grid with a model of one's own; a paper's grid.
SHAPES = {
    "1x1": (["de"], ["sandbox-marian"]),
    "3x2": (["de", "ru", "ja"], ["sandbox-marian", "a-model-with-quite-a-long-name-of-my-own"]),
    "7x4": (list(TARGETS), ["opus-mt", "mbart50", "m2m100-418m", "m2m100-1.2b"]),
}
AXES: dict[str, list[str]] = {
    "perturbation": [*NAMES, CONTROL], "score": ["beta1", "beta2", "beta", "chance"], "spacing": ["joined"],
}  # fmt: skip


def table(shape: str, *columns: str, **axes: list) -> pd.DataFrame:
    """Invented means with intervals, one row per combination of values."""
    languages, models = SHAPES[shape]
    known = {**AXES, "target_language": languages, "model": models, **axes}
    rows = pd.MultiIndex.from_product([known[name] for name in columns], names=columns).to_frame(index=False)
    rng = np.random.default_rng(0)
    value, half = rng.uniform(0.1, 0.8, len(rows)), rng.uniform(0.01, 0.1, len(rows))
    return rows.assign(value=value, low=value - half, high=value + half, n=rng.integers(20, 200, len(rows)))


def similarity(shape: str) -> pd.DataFrame:
    rows = table(shape, "target_language", "perturbation_a", "perturbation_b", perturbation_a=[*NAMES],
                 perturbation_b=[*NAMES])  # fmt: skip
    rank = {name: place for place, name in enumerate(NAMES)}
    return rows[rows["perturbation_a"].map(rank) >= rows["perturbation_b"].map(rank)]


FIGURES: dict[str, tuple[Callable[..., Figure], Callable[[str], pd.DataFrame]]] = {
    "languages": (
        lambda rows: forest(rows, "target_language", hue="model", zero=0, limits="zero", label="x"),
        lambda shape: table(shape, "target_language", "model"),
    ),
    "perturbations": (
        lambda rows: forest(rows, "perturbation", hue="score", panel=["target_language", "model"], joined=True,
                            limits="unit", per_line=4),
        lambda shape: table(shape, "target_language", "model", "perturbation", "score"),
    ),
    "dodged perturbations": (
        lambda rows: forest(rows, "perturbation", hue="model", panel="target_language", zero=(0, 1), limits=(0, 2),
                            marks=rows[["perturbation", "target_language", "value"]], mark="chance"),
        lambda shape: table(shape, "target_language", "model", "perturbation"),
    ),
    "panels of models": (
        lambda rows: forest(rows, "target_language", hue="score", panel="model", limits=(-1, 1), per_line=4),
        lambda shape: table(shape, "target_language", "model", "score"),
    ),
    "curves": (
        lambda rows: curves(rows[rows["score"] != "beta"], "length", hue="model", panel=["target_language", "score"],
                            marks=rows[rows["score"] == "beta"].assign(score="beta1"), mark="ceiling", per_line=2),
        lambda shape: table(shape, "target_language", "model", "score", "length", length=[4.5, 6.5, 12.0],
                            score=["beta1", "beta2", "beta"]),
    ),
    "curves of names": (
        lambda rows: curves(rows, "perturbation", hue="model", panel="target_language"),
        lambda shape: table(shape, "target_language", "model", "perturbation", perturbation=["reversed", "noun_swaps"]),
    ),
    "heatmap": (
        lambda rows: heatmap(rows, "perturbation", "target_language", panel=["model", "score"], columns=str),
        lambda shape: table(shape, "target_language", "model", "perturbation", "score", score=["beta1", "beta2"]),
    ),
    "lower half": (
        lambda rows: heatmap(rows, "perturbation_a", "perturbation_b", panel="target_language"),
        similarity,
    ),
}  # fmt: skip


def draw(figure: Figure) -> None:
    """Lay the figure out and draw it; whatever matplotlib warns of is an error."""
    with warnings.catch_warnings(), theme.style():
        warnings.simplefilter("error")
        figure.draw_without_rendering()


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def make(name: str, rows: pd.DataFrame) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return FIGURES[name][0](rows)


@pytest.mark.parametrize("shape", ["1x1", "3x2", pytest.param("7x4", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", FIGURES)
def test_draws_every_shape_of_grid(name: str, shape: str) -> None:
    rows = FIGURES[name][1](shape)
    figure = make(name, rows)
    draw(figure)
    shown = "\n".join(texts(figure))
    assert all(theme.language_label(code) in shown or f"\n{code}\n" in f"\n{shown}\n" for code in SHAPES[shape][0])
    if "model" in rows:
        assert all(look.label in shown for look in theme.model_looks(SHAPES[shape][1]).values())


@pytest.mark.parametrize("name", FIGURES)
def test_an_empty_table_is_a_sentence_and_not_a_crash(name: str) -> None:
    figure = make(name, FIGURES[name][1]("1x1").iloc[:0])
    draw(figure)
    assert "No model in this run" in theme.message_of(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_holes_and_missing_intervals_are_left_blank(name: str) -> None:
    rows = FIGURES[name][1]("3x2").copy()
    numbers = ["value", "low", "high"]
    holes = np.random.default_rng(1).random((len(rows), len(numbers))) < 0.3
    rows[numbers] = rows[numbers].mask(holes)
    draw(make(name, rows))
    draw(make(name, rows.assign(**dict.fromkeys(numbers, float("nan")))))


def test_the_order_of_rows_changes_nothing() -> None:
    def as_svg(figure: Figure) -> bytes:
        stream = io.BytesIO()
        with theme.style():
            figure.savefig(stream, format="svg", metadata={"Date": None})
        return stream.getvalue()

    rows = table("1x1", "perturbation", "target_language")
    one, other = (heatmap(each, "perturbation", "target_language") for each in (rows, rows.iloc[::-1]))
    assert as_svg(one) == as_svg(other)


def test_cells_say_what_is_written_for_them_and_few_units_have_a_dagger() -> None:
    rows = pd.DataFrame({"perturbation_a": ["reversed"], "perturbation_b": ["word_shuffle"], "value": [0.65], "n": [8]})
    assert "0.65†" in texts(heatmap(rows, "perturbation_a", "perturbation_b"))
    rows = rows.assign(words="0.65\n±.04")
    assert "0.65\n±.04" in texts(heatmap(rows, "perturbation_a", "perturbation_b", written="words"))


def test_an_axis_of_differences_has_zero_and_wastes_no_room() -> None:
    rows = table("1x1", "target_language", "model")
    low, high = make("languages", rows).axes[0].get_xlim()
    assert low < 0 and rows["high"].max() < high < 1.2 * rows["high"].max() + 0.02


def test_no_two_names_overlap_on_the_axis_of_perturbations() -> None:
    figure = make("perturbations", FIGURES["perturbations"][1]("1x1"))
    draw(figure)
    boxes = [tick.get_window_extent() for tick in figure.axes[0].get_yticklabels() if tick.get_text()]
    assert len(boxes) == len(NAMES) + 1
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_marks_of_a_row_are_joined_and_bars_have_no_interval() -> None:
    rows = table("1x1", "perturbation", "score", perturbation=["reversed"])
    axis = forest(rows, "perturbation", hue="score", joined=True).axes[0]
    marks = rows.set_index("score")["value"]
    lines = [
        segment[:, 0] for each in axis.collections if hasattr(each, "get_segments") for segment in each.get_segments()
    ]
    assert any(np.allclose(sorted(ends), sorted(marks[["beta1", "beta2"]])) for ends in lines)
    assert not any(np.allclose(sorted(ends), rows[rows["score"] == "beta"][["low", "high"]]) for ends in lines)


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
    rows = table("1x1", "target_language", "perturbation").assign(value=lambda each: np.linspace(0, 1, len(each)), n=90)
    figure = heatmap(rows, "perturbation", "target_language")
    colours = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert colours["1.00"] == "white"
    assert all(colour == "black" for text, colour in colours.items() if text < "0.4")


def test_panels_have_numbers_and_the_broken_line_stands_in_the_legend() -> None:
    figure = make("curves", FIGURES["curves"][1]("1x1"))
    draw(figure)
    left, right = figure.axes
    assert [any(label.get_visible() for label in panel.get_yticklabels()) for panel in (left, right)] == [True, True]
    (legend,) = (each for each in figure.legends if each.get_gid() is None)
    assert legend.get_texts()[-1].get_text() == "ceiling"
    assert legend.get_lines()[-1].get_linestyle() == "--"
    assert [line.get_linestyle() for line in left.lines] == ["-", "--"] and len(right.lines) == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda rows: forest(rows, "lenght", hue="model"),
        lambda rows: curves(rows, "lenght", hue="model"),
        lambda rows: heatmap(rows, "model", "target_language", panel=["lenght"]),
    ],
)
def test_a_column_that_a_table_lacks_is_named(draw):
    rows = table("1x1", "target_language", "model").assign(length=3)
    with pytest.raises(UnknownNameError, match="unknown column 'lenght'; did you mean 'length'"):
        draw(rows)
    assert theme.message_of(draw(rows.head(0)))  # an empty table may have any columns


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda rows: forest(rows.drop(columns="low"), "model"), "unknown column 'low'"),
        (lambda rows: curves(rows.drop(columns="value"), "model", hue="model"), "unknown column 'value'"),
        (lambda rows: heatmap(rows, "model", "target_language", written="texts"), "unknown column 'texts'"),
        (lambda rows: forest(rows, "model", marks=rows[["model"]]), "unknown column 'value'"),
        (lambda rows: forest(rows, "model", limits="units"), "unknown limits 'units'; did you mean 'unit'"),
    ],
)
def test_what_is_drawn_is_named_where_it_is_not_there(draw, message):
    with pytest.raises(UnknownNameError, match=message):
        draw(table("1x1", "target_language", "model"))
