"""Today's results, plans, keys and texts are the frozen ones (README.md here)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.frozen import texts
from tests.frozen.compare import VALUES, difference, differences
from tests.frozen.made import GROUPS, STUDIES, made, place
from tests.frozen.shown import csv_text, figure_text

#: What `make test` makes; the rest belongs to `make thorough`, as it takes minutes.
SAMPLE = ("demo.yaml", "numbers.yaml", "word_order.yaml", "commands")
#: spaCy's pipelines: where one is installed, the texts speak of it.
PIPELINES = [f"{lang}_core_{kind}_sm" for lang, kind in (("en", "web"), ("de", "news"), ("fr", "news"), ("es", "news"),
             ("it", "news"), ("ru", "news"), ("zh", "web"), ("ja", "news"))]  # fmt: skip


@pytest.mark.parametrize(
    "group", [pytest.param(each, marks=() if each in SAMPLE else (pytest.mark.thorough,)) for each in GROUPS]
)
def test_what_is_made_now_is_what_is_frozen(group: str, tmp_path: Path) -> None:
    if group not in STUDIES and any(map(find_spec, PIPELINES)):
        pytest.skip("a pipeline of spaCy is installed here: the texts were frozen without")
    differing = differences(made(group, tmp_path), place(group))
    if differing:
        pytest.fail(differing, pytrace=False)


def test_every_frozen_file_is_small_and_belongs_to_a_group() -> None:
    sizes = {str(path.relative_to(VALUES)): path.stat().st_size for path in VALUES.rglob("*.txt")}
    assert max(sizes.values()) < 300_000 and sum(sizes.values()) < 1_500_000
    assert {name.rpartition("/")[0] for name in sizes} == {*map(place, (*GROUPS, *texts.RUN_FILES))}


def test_a_small_difference_of_numbers_is_none_and_a_larger_one_is_shown() -> None:
    assert not difference("a,0.1,1e-17", "a,0.10000000000000001,2e-17")
    assert "- a,0.1\n+ a,0.1001" in difference("x\na,0.1", "x\na,0.1001")
    assert difference("n,10000000000", "n,10000000001")  # counts are exact
    assert difference("[0.1, 0.2]", "[0.1, 0.2, 0.3]")
    long = "x" * 1000
    assert len(max(difference(f"{long}1{long}", f"{long}2{long}").splitlines(), key=len)) < 300


def test_the_digest_of_a_long_table_knows_every_value() -> None:
    rows = [f"{i},{i / 7!r}" for i in range(100)]
    whole = csv_text("\n".join(["n,x", *rows]))
    assert len(whole.splitlines()) < 15
    assert whole == csv_text("\n".join(["n,x", *rows[:-1], f"99,{99 / 7 + 1e-13!r}"]))
    changed = csv_text("\n".join(["n,x", *rows[:-1], "99,14.15"]))
    assert [line.partition(":")[0] for line in difference(whole, changed).splitlines()[2:]] == ["- # x", "+ # x"]


def test_what_is_drawn_is_reported() -> None:
    from matplotlib.figure import Figure

    def drawn(height: float) -> str:
        figure = Figure()
        panel = figure.subplots()
        panel.bar(["a", "b"], [1, height], label="bars")
        panel.plot([0, 1], [0, 2])
        panel.scatter([0, 1], [0, 3])
        panel.legend()
        return figure_text(figure)

    assert drawn(2) == drawn(2)
    lines = difference(drawn(2), drawn(2.5)).splitlines()
    assert sum(line.startswith('+ {"bar"') for line in lines) == 1
