"""The printed values of the disambiguation paper: complete, as printed, and odd exactly where their notes say so."""

from __future__ import annotations

import pytest

from nbkit.measure.statistics import COHEN, adjusted_thresholds
from nbkit.studies.disambiguation import STUDY

paper = STUDY.printed
MODELS = [f"{domain} {name}" for domain in ("OS18", "WMT19") for name in ("Transformer", "LSTM", "ConvS2S")]


def base_rate_of(threshold: float, d: float) -> float:
    """The smaller of the two shares at which *d* is equivalent to *threshold*: the inverse of equation 8."""
    product = threshold**2 / (d * d * (1 - threshold**2))
    return (1 - (1 - 4 * product) ** 0.5) / 2


@pytest.mark.parametrize("name", ["table7", "table8"])
@pytest.mark.parametrize("inferred", list(COHEN))
def test_thresholds_follow_from_one_base_rate_a_model(name, inferred):
    """The base rates are not printed: each is inferred from one of its thresholds, and the other two must follow."""
    table = paper.load(name).set_index(["model", "size"])["threshold"]
    assert len(table) == 18
    for model in MODELS:
        # Four decimals leave the base rate open within a little: both ends of the rounding are tried.
        ends = [base_rate_of(table[model, inferred] + end, COHEN[inferred]) for end in (-0.00005, 0.00005)]
        for size in COHEN:
            low, high = (adjusted_thresholds(rate)[size] for rate in ends)
            assert low - 0.000051 <= table[model, size] <= high + 0.000051


def test_base_rates_of_the_notes():
    rates = [base_rate_of(value, 0.2) for value in paper.load("table7").query("size == 'small'")["threshold"]]
    assert [round(100 * rate, 1) for rate in rates] == [8.0, 12.8, 14.9, 3.8, 5.6, 6.8]
    rates = [base_rate_of(value, 0.2) for value in paper.load("table8").query("size == 'small'")["threshold"]]
    assert [round(100 * rate, 1) for rate in rates] == [3.0, 2.9, 2.8, 0.7, 0.8, 1.2]


@pytest.mark.parametrize(("name", "columns"), [("table3", 7), ("table5", 4)])
def test_every_correlation_is_there_once_and_freq_diff_is_the_strongest(name, columns):
    table = paper.load(name)
    assert list(dict.fromkeys(table["model"])) == MODELS and len(table) == 6 * columns
    wide = table.pivot(index="model", columns="measure", values="rbc").abs()
    assert (wide.idxmax(axis=1) == "freq_diff").all()


def test_values_read_off_the_page():
    rbc = paper.load("table3").set_index(["model", "measure"])["rbc"]
    assert rbc["OS18 ConvS2S", "freq_diff"] == 0.723 and rbc["WMT19 Transformer", "length"] == -0.004
    assert paper.load("table5").set_index(["model", "measure"])["rbc"]["WMT19 LSTM", "ppmi_diff"] == 0.231
    assert paper.load("table2").set_index(["model", "test"])["bleu"]["WMT19 ConvS2S", "test2019"] == 32.5
    settings = paper.load("table12").set_index(["parameter", "architecture"])["value"]
    assert settings["# encoder layers", "LSTM"] == "5 (bidirectional)" and len(settings) == 18 * 3


def test_samples_are_whole_and_hold_the_words_that_are_marked():
    table = paper.load("table6")
    assert table.groupby("table").size().to_dict() == {6: 4, **dict.fromkeys(range(13, 19), 5)}
    for row in table.to_dict("records"):
        assert row["attractor"] in row["source"] and row["homograph"] in row["source"]
        assert row["replaced"] in row["source"] and row["original_word"] in row["original"]
        assert row["perturbed_word"] in row["perturbed"]


def test_corpus_tables_are_consistent_but_for_the_noted_cell():
    for name in ("table9", "table10"):
        table = paper.load(name).set_index(["statistic", "split"])
        for (statistic, split), row in table.iterrows():
            if statistic.startswith("# words/sentence") or not statistic.startswith("# words ("):
                continue
            words = float(row["value"].replace(",", ""))
            sentences = float(table.loc[("# sentences", split), "value"].replace(",", ""))
            mean = table.loc[(statistic.replace("# words (", "# words/sentence ("), split)]
            printed = float(mean["value"].replace(",", "."))
            assert (abs(words / sentences - printed) < 0.0051) == (mean["note"] == "")


def test_every_artefact_has_its_place():
    names = paper.names()
    assert {f"table{n}" for n in range(1, 19)} <= set(names) and {"fig1", "fig2", "fig3"} <= set(names)
    assert paper.note("fig1").startswith("Published values: not printed")
    assert all(paper.note(name) is not None and paper.title(name) for name in names)


def test_the_note_on_table_3_says_what_the_research_code_does_with_a_sentence():
    note = paper.note("table3")
    assert "divides the bias of a sentence by its length, as equation 3 does" in note and "adds 100" in note
