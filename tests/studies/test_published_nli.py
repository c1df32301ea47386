"""The printed values of the NLI permutation paper: complete, as printed, and odd exactly where their notes say so."""

from __future__ import annotations

from itertools import product

import pytest

from nbkit.measure.acceptance import MEASURES
from nbkit.studies.nli_permutation import STUDY

paper = STUDY.printed
TRANSFORMERS = ("roberta-large-mnli", "bart-large-mnli", "distilbert-mnli")
SETS = ["mnli:dev", "mnli-mm:dev", "snli:dev", "snli:test", "anli-r1:dev", "anli-r2:dev", "anli-r3:dev"]


@pytest.mark.parametrize(("name", "rows"), [("table2", 3 * 9 * 5), ("table3", 3 * 9 * 5), ("table4", 4 * 5)])
def test_every_cell_is_there_once(name, rows):
    table = paper.load(name)
    assert len(table) == rows and not table.duplicated(["model", "corpus", "measure"]).any()
    assert list(dict.fromkeys(table["measure"])) == list(MEASURES)
    assert table["value"].between(0, 1).all()


def test_cells_read_off_the_page():
    """A handful of numbers from different corners of the printed tables."""
    cells = {
        ("table2", "roberta-large-mnli", "mnli:dev", "omega_max"): 0.987,
        ("table2", "bart-large-mnli", "anli-r3:dev", "p_flipped"): 0.333,
        ("table2", "distilbert-mnli", "Harmonic Mean", "omega_rand"): 0.490,
        ("table3", "infersent", "mnli:dev", "p_correct"): 0.842,
        ("table3", "convnet", "snli:test", "accuracy"): 0.501,
        ("table3", "bilstm", "Mean", "omega_max"): 0.814,
        ("table4", "ocnli-convnet", "ocnli:dev", "p_correct"): 0.808,
    }
    for (name, model, corpus, measure), printed in cells.items():
        values = paper.load(name).set_index(["model", "corpus", "measure"])["value"]
        assert values[model, corpus, measure] == printed
    me = paper.load("table5").query("corpus == 'mnli:dev' and training == 'ME'").set_index("measure")["value"]
    assert me.to_dict() == {"accuracy": 0.908, "omega_max": 0.328}


@pytest.mark.parametrize("name", ["table2", "table3"])
def test_printed_means_are_those_of_the_printed_rows(name):
    table = paper.load(name)
    for _, group in table.groupby(["model", "measure"]):
        values = group.set_index("corpus")["value"]
        own = values[SETS]
        assert values["Mean"] == pytest.approx(own.mean(), abs=0.00105)
        assert values["Harmonic Mean"] == pytest.approx(len(own) / (1 / own).sum(), abs=0.00105)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("table2", {*product(TRANSFORMERS, SETS[5:]), ("distilbert-mnli", SETS[4])}),
        ("table3", {*product(("infersent", "convnet", "bilstm"), SETS[4:])}),
    ],
)
def test_flipped_pairs_outnumber_correct_ones_where_the_note_says_so(name, rows):
    """|D^f| is at least Ω_max − 𝒜, which section 4 says is less than 𝒜."""
    wide = paper.load(name).pivot(index=["model", "corpus"], columns="measure", values="value")
    wide = wide[wide.index.get_level_values("corpus").isin(SETS)]
    assert set(wide.index[wide["omega_max"] - wide["accuracy"] > wide["accuracy"]]) == rows
    assert "D^f" in paper.note(name)


def test_table_5_differs_from_table_2_where_noted():
    table2 = paper.load("table2").query("model == 'roberta-large-mnli'").set_index(["corpus", "measure"])["value"]
    table5 = paper.load("table5")
    odd = [row.training == "V" and row.value != table2[row.corpus, row.measure] for row in table5.itertuples()]
    assert (table5["note"] != "").tolist() == odd and sum(odd) > 5
    largest = max(
        abs(row.value - table2[row.corpus, row.measure])
        for row in table5.query("training == 'V' and measure == 'omega_max'").itertuples()
    )
    assert largest == pytest.approx(0.010)


def test_table_6_half_widths_mean_different_numbers_of_pairs():
    table = paper.load("table6").query("interval != ''")
    for row in table.itertuples():
        pairs = row.value * (1 - row.value) * (1.96 / float(row.interval)) ** 2
        assert row.note.endswith(f"means {pairs:.0f} pairs")


def test_every_table_and_figure_has_its_place():
    assert paper.names() == [*(f"table{i}" for i in range(1, 7)), *(f"fig{i}" for i in range(1, 10))]
    assert paper.note("fig9").startswith("Published values: not printed")
