"""Figures and tables of the disambiguation study on hand-made tables: what is drawn, and what empty ones say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nbkit.studies.disambiguation import PUBLISHED, DisambiguationParams, figures, styled
from nbkit.studies.disambiguation.tables import ATTRACTOR_BIASES, MEASURED

MODELS = ["Transformer", "LSTM"]


def correlations(measures) -> pd.DataFrame:
    columns = ["model", "measure", "aggregate", "space", "main", "rbc", "low", "high", "p", "n_yes", "n_no"]
    rows = [
        (model, measure, "mean", "pooled", True, 0.1 * i, 0.1 * i - 0.05, 0.1 * i + 0.05, 1e-6, 10, 90)
        for model in MODELS
        for i, measure in enumerate(measures)
    ]
    return pd.DataFrame(rows, columns=columns).assign(small=0.05, medium=0.13, large=0.2, effect="x")


def rates(what, values) -> pd.DataFrame:
    rows = [
        (model, value, 50, 5 * (i + 1), 0.1 * (i + 1), 0.1 * i, 0.1 * i + 0.2, 0.8, 1, 2, 1.5 if i else np.nan, 5)
        for model in MODELS
        for i, value in enumerate(values)
    ]
    columns = ["model", what, "n", "successes", "rate", "low", "high", "ceiling", "another_sense", "undecided"]
    return pd.DataFrame(rows, columns=[*columns, "factor", "errors"])


def html(table) -> str:
    return table.to_html()


def text_of(figure: Figure) -> str:
    return " ".join(text.get_text() for panel in figure.axes for text in panel.texts)


def test_correlations_have_a_mark_a_model_and_the_papers_beside_them():
    for measures, artefact in ((MEASURED, "table3"), (ATTRACTOR_BIASES, "table5")):
        figure = figures.correlations_figure(correlations(measures), PUBLISHED.load(artefact))
        (panel,) = figure.axes
        assert [label.get_text() for label in panel.get_yticklabels()] == [styled.measure(name) for name in measures]
        assert len(panel.collections) >= 2 * len(MODELS) + 1
        shown = html(styled.correlations_table(correlations(measures)))
        assert "FREQ diff" in shown and "*" in shown


def test_ours_stand_beside_the_papers_of_the_same_domain():
    own = correlations(MEASURED)[["model", "measure", "rbc"]]
    assert "0.708" in html(styled.compared_table(own, "table3", "OS18"))
    assert "has no values for the domain" in html(styled.compared_table(own, "table3", "sandbox"))
    three = html(styled.compared_table(own.assign(as_computed=0.5), "table3", "OS18"))
    assert "as their code computes it" in three and "as defined − printed" in three


def test_rates_of_sets_and_of_kinds():
    sets = rates("set", ["challenge", "random", "rare sense"])
    whole = pd.DataFrame({"model": MODELS, "rate": 0.2, "low": 0.1, "high": 0.3, "n": 99, "errors": 20, "undecided": 1})
    assert len(figures.error_rates_figure(sets, whole).axes) == 1
    assert "1.50" in html(styled.error_rates_table(sets)) and "20.0 [10.0, 30.0]" in html(styled.errors_table(whole))
    success = rates("set", ["challenge", "random", "random, at the homograph"])
    assert len(figures.success_figure(success).axes) == 1 and "80.0" in html(styled.rates_table(success, "set"))
    kinds = rates("kind", ["IH", "RH", "InH", "RnH"])
    assert len(figures.kinds_figure(kinds).axes) == 1 and "RnH" in html(styled.rates_table(kinds, "kind"))


@pytest.mark.parametrize("what", ["success", "errors"])
def test_the_mark_beside_a_rate_is_that_of_its_own_set(what):
    """The ceiling of the challenge set stood in the row of the random set, of which it is not the ceiling."""
    names = ["challenge", "random", "random, at the homograph"]
    sets = rates("set", names).assign(ceiling=[0.9, 0.7, 0.8, 0.6, 0.4, 0.5])
    whole = pd.DataFrame({"model": MODELS, "rate": [0.25, 0.35]})
    figure = figures.success_figure(sets) if what == "success" else figures.error_rates_figure(sets, whole)
    points = [tuple(at) for each in figure.axes[0].collections for at in np.asarray(each.get_offsets())]
    heights = {value: {height for x, height in points if x == value} for value, _ in points}
    for i, (model, name, rate, ceiling) in enumerate(sets[["model", "set", "rate", "ceiling"]].values):
        height = i // 3 + (-0.3, 0.0, 0.3)[names.index(name)]
        assert any(abs(each - height) < 1e-9 for each in heights[rate]), (model, name)
        mark = ceiling if what == "success" else whole["rate"][i // 3]
        assert any(abs(each - height) < 1e-9 for each in heights[mark]), (model, name)
        if what == "success":
            assert len(heights[mark]) == 1


def test_a_matrix_of_shared_successes():
    rows = [("OS18", "A", "B", "models", 5, 5, 10, 0.25, 0.1, 0.4, 0.05),
            ("OS18", "A", "A-2", "random seed", 5, 5, 5, 1 / 3, 0.1, 0.5, 0.05)]  # fmt: skip
    columns = [
        "domain",
        "model_a",
        "model_b",
        "relation",
        "only_a",
        "both",
        "only_b",
        "jaccard",
        "low",
        "high",
        "chance",
    ]
    table = pd.DataFrame(rows, columns=columns)
    assert "25.0" in text_of(figures.transfer_figure(table))
    shown = html(styled.transfer_table(table))
    assert "10.1 to 18.2" in shown and "25.2" in shown


def test_samples_are_marked_and_escaped():
    row = {
        "text": "an <i> old spring",
        "start": 7,
        "end": 10,
        "replaced": "new",
        "homograph_start": 11,
        "homograph_end": 17,
    }
    shown = styled.sample_html(row)
    assert "&lt;i&gt;" in shown and "<i>" not in shown
    assert shown.index("line-through") < shown.index(">old</span>") < shown.index(">spring</span>")
    assert "line-through" not in styled.sample_html({**row, "replaced": ""})


@pytest.mark.parametrize("table", [6, *range(13, 19)])
def test_printed_samples_are_marked(table):
    shown = html(styled.printed_successes_table(table))
    assert shown.count(styled.ATTRACTOR) >= 8 and shown.count(styled.HOMOGRAPH) >= 8


def test_printed_tables_of_the_paper():
    assert "perturbation" not in html(styled.TABLES.printed("table3", ["model"], "measure"))
    assert "0.2740" in html(styled.TABLES.printed("table7", ["model"], "size"))
    assert "6,71" in html(styled.TABLES.printed("table9", ["statistic"], "split"))
    assert "24,576" in html(styled.TABLES.printed("table12", ["parameter"], "architecture"))
    assert "summer" in html(styled.printed_attractors_table()) and "hot" in html(styled.printed_perturbations_table())
    assert "72.63" in html(styled.claims_table("overlap"))


def test_empty_tables_say_why():
    nothing = correlations(MEASURED).iloc[:0]
    assert "No correlation" in text_of(figures.correlations_figure(nothing, PUBLISHED.load("table3")))
    assert "No model in this run" in text_of(figures.error_rates_figure(rates("set", []), pd.DataFrame()))
    assert "No adversarial sample" in text_of(figures.success_figure(rates("set", ["challenge"]).assign(n=0)))
    assert "has only one model" in text_of(figures.transfer_figure(pd.DataFrame(columns=["jaccard"])))
    assert "bleu_pairs" in text_of(figures.bleu_figure(pd.DataFrame(), pd.DataFrame()))
    assert "nbkit annotate senses" in html(styled.judges_tables(DisambiguationParams())["naturalness"])
    assert "no Java" in html(styled.grammar_table(pd.DataFrame(), "no Java"))
    assert "No attack" in html(styled.successes_table(pd.DataFrame(columns=["model"])))


def test_senses_of_homographs():
    clusters = pd.DataFrame(
        {"homograph": ["bat", "bat"], "sense": ["animal", "club"], "gloss": "", "translations": "x", "pairs": [3, 1],
         "share": [0.75, 0.25]}
    )  # fmt: skip
    assert "animal" in text_of(figures.senses_figure(clusters))
    assert "No pair" in text_of(figures.senses_figure(clusters.assign(share=np.nan)))
    assert "75.0%" in html(styled.show("clusters", clusters))
