"""Figures and tables of the NLI permutation study: what is drawn is what the tables say; empty tables say why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nbkit.corpora.nli import LABELS
from nbkit.figures import styles
from nbkit.measure.forms import accuracy_table, agreement
from nbkit.studies.nli_permutation import figures, styled

MODELS = ["RoBERTa (large)", "SICK-InferSent"]
CORPORA = ["sick:test", "folder/mine.tsv"]


def results() -> pd.DataFrame:
    rows = [
        (model, corpus, measure, 0.1 * (i + 1) + 0.2 * m + 0.05 * c, 0.05, 0.95, 100)
        for m, model in enumerate(MODELS)
        for c, corpus in enumerate(CORPORA)
        for i, measure in enumerate([*styled.MEASURES, "p_correct_coded"])
    ]
    return pd.DataFrame(rows, columns=["model", "corpus", "measure", "value", "low", "high", "n"])


def floors() -> pd.DataFrame:
    rows = [
        (model, corpus, predictor, measure, 1 / 3)
        for model in MODELS
        for corpus in CORPORA
        for predictor in ("constant", "bag of words", "chance")
        for measure in styled.MEASURES
    ]
    return pd.DataFrame(rows, columns=["model", "corpus", "predictor", "measure", "value"])


def control() -> pd.DataFrame:
    rows = [(model, corpus, 0.9, 0.8, -0.1, -0.2, 0.0, 100) for model in MODELS for corpus in CORPORA]
    columns = ["model", "corpus", "accuracy", "control", "difference", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def kept() -> pd.DataFrame:
    rows = [(corpus, scheme, n, 10, n / 10) for corpus in CORPORA for scheme, n in [("permuted", 9), ("clumped", 3)]]
    return pd.DataFrame(rows, columns=["corpus", "scheme", "n", "of", "share"])


def judged() -> pd.DataFrame:
    rows = [(who, i, LABELS[i % 3], LABELS[i % 2], "D^c") for who in "XY" for i in range(6)]
    return pd.DataFrame(rows, columns=["annotator", "item", "judgement", "label", "stratum"])


def bins(**more) -> pd.DataFrame:
    rows = [
        (model, left / 10, left / 10 + 0.1, 0.5, 0.4, 0.6, 100, 3 if left == 4 else 50)
        for model in MODELS
        for left in range(5)
    ]
    columns = ["model", "left", "right", "rate", "low", "high", "permutations", "examples"]
    return pd.DataFrame(rows, columns=columns).assign(**more)


def conditions(column: str, names: list[str], measures: list[str]) -> pd.DataFrame:
    rows = [
        (MODELS[0], corpus, name, measure, 0.3 + 0.1 * i, 0.2, 0.8, 10)
        for corpus in CORPORA
        for i, name in enumerate(names)
        for measure in measures
    ]
    return pd.DataFrame(rows, columns=["model", "corpus", column, "measure", "value", "low", "high", "n"])


def curves() -> pd.DataFrame:
    rows = [(m, c, x / 10, 1 - x / 10, 0.0, 1.0, 9) for m in MODELS for c in CORPORA for x in range(10)]
    return pd.DataFrame(rows, columns=["model", "corpus", "threshold", "omega", "low", "high", "n"])


def entropies() -> pd.DataFrame:
    rows = [(m, c, g, i, i / 10) for m in MODELS for c in CORPORA for g in ("D^c", "D^f") for i in range(8)]
    return pd.DataFrame(rows, columns=["model", "corpus", "group", "pair", "entropy"])


def unsure() -> pd.DataFrame:
    """The median entropy of the control, by model and set."""
    rows = [(m, c, 0.2 + 0.1 * i) for m in MODELS for i, c in enumerate(CORPORA)]
    return pd.DataFrame(rows, columns=["model", "corpus", "value"])


def word() -> pd.DataFrame:
    shares = {"DET": 0.6, "VERB": 0.4, "X": 0.0}
    rows = [
        ("x", "river", where, tag, p, True, "")
        for where in ("training", "original", "permuted")
        for tag, p in shares.items()
    ]
    return pd.DataFrame(rows, columns=["corpus", "word", "where", "tag", "probability", "in_top", "sentence"])


FIGURES = {
    "results": lambda: figures.results_figure(results(), floors()),
    "fig1": lambda: figures.fig1_entropy(entropies(), unsure()),
    "fig2": lambda: figures.fig2_bleu(bins()),
    "fig3": lambda: figures.fig3_mini_trees(bins()),
    "fig4": lambda: figures.fig4_max_entropy(conditions("training", ["V", "ME"], ["accuracy", "omega_max"]), floors()),
    "fig5": lambda: figures.fig5_length(pd.concat([bins(group="D^c"), bins(group="D^f")])),
    "fig6": lambda: figures.fig6_word(word()),
    "fig7": lambda: figures.fig7_thresholds(curves(), floors()),
    "fig8": lambda: figures.fig8_hypothesis_only(
        conditions("scheme", ["permuted", "hypothesis"], ["omega_max", "acceptance"]), floors(), control()
    ),
    "kept": lambda: figures.kept_figure(kept()),
    "human": lambda: figures.human_figure(styled.PUBLISHED.load("table6"), accuracy_table(judged(), labels=LABELS)),
    "fig9": lambda: figures.fig9_clumped(pd.concat([bins(order=order) for order in (2, 3, 4)])),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_with_named_axes(name, tmp_path):
    figure = FIGURES[name]()
    assert isinstance(figure, Figure)
    figure.savefig(tmp_path / "figure.svg")
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert all(panel.has_data() for panel in shown)
    texts = (tmp_path / "figure.svg").read_text("utf-8")
    assert "¤" not in texts
    assert any(panel.get_xlabel() or panel.get_title() for panel in shown)


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (lambda empty: figures.fig1_entropy(empty, empty), styled.TABLES.why("results")),
        (figures.fig2_bleu, styled.TABLES.why("results")),
        (figures.fig3_mini_trees, styled.TABLES.why("mini_trees")),
        (lambda empty: figures.fig4_max_entropy(empty, floors()), styled.TABLES.why("max_entropy")),
        (figures.fig5_length, styled.TABLES.why("results")), (figures.fig6_word, styled.TABLES.why("mini_trees")),
        (lambda empty: figures.fig7_thresholds(empty, floors()), styled.TABLES.why("results")),
        (lambda empty: figures.fig8_hypothesis_only(empty, floors(), control()), styled.TABLES.why("hypothesis_only")),
        (figures.fig9_clumped, styled.TABLES.why("clumped")),
    ],
)  # fmt: skip
def test_a_figure_without_data_says_why(draw, reason):
    figure = draw(pd.DataFrame({name: [] for name in ("model", "corpus", "measure", "group", "order", "tag")}))
    text = "".join(figure.axes[0].texts[0].get_text().split())  # lines end at hyphens, too
    assert text == "".join(reason.split())


def test_bins_of_few_pairs_are_not_drawn():
    panel = figures.fig2_bleu(bins()).axes[0]
    lines = [line for line in panel.lines if len(line.get_xdata()) == 4]
    assert len(lines) == len(MODELS)
    assert np.allclose(lines[0].get_xdata(), [0.05, 0.15, 0.25, 0.35])  # the fifth holds 3 pairs


def test_a_panel_without_enough_pairs_says_so():
    few = bins(group="D^f").assign(examples=figures.FEW_PAIRS - 1)
    left, right = figures.fig5_length(pd.concat([bins(group="D^c"), few])).axes
    assert [text.get_text() for text in right.texts] == ["no bin of 5 pairs"] and not left.texts


def test_without_a_model_hypotheses_are_not_what_is_missing():
    figure = figures.fig8_hypothesis_only(pd.DataFrame(), floors().iloc[:0], control().iloc[:0])
    assert " ".join(figure.axes[0].texts[0].get_text().split()) == styled.TABLES.why("results")


def test_a_model_looks_like_its_architecture():
    looks = styled.model_looks(["SICK-BART", "DistilBERT", "OCNLI-ConvNet", "my-own"])
    published = styled.model_looks(["BART (large)", "ConvNet"])
    assert looks["SICK-BART"].colour == published["BART (large)"].colour
    assert looks["OCNLI-ConvNet"].marker == published["ConvNet"].marker
    assert looks["DistilBERT"].colour != looks["SICK-BART"].colour
    twice = styled.model_looks(["SICK-BART", "Sandbox-BART"])
    assert twice["SICK-BART"] != twice["Sandbox-BART"]


def test_p_correct_stands_beside_the_printed_one_as_defined_and_as_coded():
    """Each in columns of its own; the other measures have nothing as coded."""
    ours = results().assign(model="RoBERTa (large)", corpus="mnli:dev").drop_duplicates("measure")
    frame = styled.beside(ours, "table2", ["model", "corpus", "measure"]).data.set_index("measure")
    assert len(frame) == 5
    row = frame.loc[styled.measure("p_correct")]
    by_measure = ours.set_index("measure")["value"]
    assert row["value"] == by_measure["p_correct"] != row["coded"] == by_measure["p_correct_coded"]
    assert row["coded_difference"] == row["coded"] - 0.707
    assert frame["coded"].notna().sum() == 1


def test_p_flipped_has_its_own_n():
    of_flipped = results().assign(n=lambda table: np.where(table["measure"] == "p_flipped", 7, 100))
    frame = styled.results_table(of_flipped).data
    assert set(frame["n"]) == {100} and set(frame["n_flipped"]) == {7}


def test_symbols_are_those_of_the_paper():
    symbols = {"accuracy": "𝒜", "omega_max": "Ω_max", "p_correct": "𝒫^c", "p_flipped": "𝒫^f", "omega_rand": "Ω_rand"}
    assert {name: styled.measure(name) for name in styled.MEASURES} == symbols


def test_the_table_of_results_marks_the_highest_and_shows_intervals():
    styler = styled.results_table(results())
    frame, html = styler.data, styler.to_html()
    assert frame.loc[0, "accuracy"] == 0.1 and frame["n"].tolist() == [100] * 4
    assert styled.results_intervals(results()).data.loc[0, "accuracy"] == "0.100 [0.05, 0.95]"
    assert html.count("font-weight: bold") == 1  # one rule, for the best row
    assert styled.results_table(results().iloc[:0]).data.iloc[0, 0] == styled.TABLES.why("results")


def test_symbols_are_typeset_wherever_they_are_read():
    html = styled.results_table(results()).to_html()
    assert "Ω<sub>max</sub>" in html and "𝒫<sup>c</sup>" in html and "Ω_max" not in html
    long = results().assign(model="<i>a_max</i>")
    html = styled.plain(long, "Ω_x & D^f").to_html()
    assert "Ω<sub>rand</sub></td>" in html and "Ω<sub>x</sub> &amp; D<sup>f</sup>" in html
    assert "&lt;i&gt;a_max&lt;/i&gt;" in html  # a name is not a symbol, and is escaped
    assert styled.plain(long, "").data["measure"].iloc[1] == "Ω_max"  # what a CSV copy holds
    remark = styled.note(styled.PUBLISHED.note("table2")).data
    assert "𝒫<sup>c</sup>" in remark and "^" not in remark and "&lt;" in styled.note("<b>").data


def test_latex_copies_typeset_symbols_too():
    latex = styles.to_latex(styled.results_table(results()))
    assert r"$\Omega_{\mathrm{max}}$ & $\mathcal{P}^{\mathrm{c}}$" in latex
    latex = styles.to_latex(styled.plain(results(), ""))
    assert r"95\% from" in latex and "<" not in latex
    assert "<br>" not in styles.to_latex(styled.results_intervals(results()))


def test_intervals_stand_below_their_values_where_there_are_many():
    assert "0.100<br>[0.05, 0.95]" in styled.results_intervals(results()).to_html()


def test_floors_and_control_stand_beside_both_ways_of_permuting():
    figure = FIGURES["fig8"]()
    labels = [text.get_text() for text in figure.legends[-1].get_texts()]
    assert labels[2:] == [
        "always the most frequent label",
        "a label at random",
        "the control: original order, re-joined",
    ]
    for panel in figure.axes:  # a bar for each of the two sets
        places = [tuple(points.get_offsets()[:, 0]) for points in panel.collections if len(points.get_offsets()) == 2]
        assert places[:3] == [(1 / 3,) * 2, (1 / 3,) * 2, (0.8,) * 2]


def test_a_bag_of_words_stands_beside_each_model():
    """Its accuracy in Figure 7 and in the figure of the results, its entropy (that of the control) in Figure 1."""
    own = floors()
    bags = own["predictor"] == "bag of words"
    own.loc[bags & (own["model"] == MODELS[0]), "value"] = 0.7
    own.loc[bags & (own["model"] == MODELS[1]), "value"] = 0.8
    for panel in figures.fig7_thresholds(curves(), own).axes:
        dotted = [line.get_ydata()[0] for line in panel.lines if line.get_linestyle() == ":"]
        assert dotted == [0.7, 0.8]
    for panel in figures.results_figure(results(), own).axes:
        places = [tuple(points.get_offsets()[:, 0]) for points in panel.collections if len(points.get_offsets())]
        assert (0.7, 0.7) in places and (0.8, 0.8) in places
    for panel in figures.fig1_entropy(entropies(), unsure()).axes:
        bars = panel.collections[-1].get_segments()
        assert np.allclose([bar.mean(axis=0) for bar in bars], [[0.2, 0], [0.3, 1]])


def test_bold_and_means_are_explained_where_there_are_any():
    caption = styled.results_table(results()).caption
    assert "Bold: the highest of all models on a set. " in caption and "of means" not in caption
    assert "Bold" not in styled.results_table(results().iloc[:5]).caption
    means = results().assign(corpus="Mean", low=np.nan, high=np.nan)
    assert "of means, sets" in styled.results_table(pd.concat([results(), means.iloc[:5]])).caption


def test_annotators_of_this_run_stand_above_those_of_the_paper():
    printed = styled.PUBLISHED.load("table6")
    rows = [text.get_text() for text in FIGURES["human"]().axes[0].get_yticklabels()]
    assert rows == ["X (this run)", "Y (this run)", "X (paper)", "Y (paper)"]
    panel = figures.human_figure(printed).axes[0]
    places = np.concatenate(
        [points.get_offsets()[:, 0] for points in panel.collections if len(points.get_offsets()) == 2]
    )
    assert sorted(places) == sorted(printed.loc[printed["measure"] == "accuracy", "value"].astype(float))


def test_the_paper_is_asked_before_it_is_shown():
    ours = results().assign(corpus="mnli:dev")
    on = ["model", "corpus", "measure"]
    assert styled.has_printed(ours, "table2", on) and not styled.has_printed(results(), "table2", on)


def test_published_values_stand_beside_ours():
    ours = pd.DataFrame(
        [("RoBERTa (large)", "mnli:dev", "accuracy", 0.9), ("RoBERTa (large)", "sick:test", "accuracy", 0.8)],
        columns=["model", "corpus", "measure", "value"],
    )
    frame = styled.beside(ours, "table2", ["model", "corpus", "measure"]).data
    assert frame["printed"].tolist() == ["0.906"] and frame["difference"].round(6).tolist() == [-0.006]
    none = styled.beside(ours.iloc[1:], "table2", ["model", "corpus", "measure"]).data
    assert "does not print a number" in none.iloc[0, 0]


def test_whole_tables_are_as_printed():
    table6 = styled.as_printed("table6", ["annotator", "stratum"]).data
    assert table6.loc[0, "accuracy"] == "0.581 ± 0.068" and table6.loc[0, "macro_f1"] == "0.454"
    table2 = styled.as_printed("table2", ["model", "corpus"]).data
    first = ["RoBERTa (large)", "mnli:dev", "0.906", "0.987", "0.707", "0.383", "0.794"]
    assert len(table2) == 27 and table2.loc[0].tolist() == first
    table5 = styled.as_printed("table5", ["corpus", "training"]).data
    assert len(table5) == 14


def test_human_judgements_are_shown():
    shown = styled.show("agreement", agreement(judged(), labels=LABELS, resamples=9)).data
    assert shown["measure"].tolist() == ["raw agreement", "Cohen's κ", "Fleiss' κ", "Krippendorff's α"]
    assert shown["value"].str.startswith("1.000").all()
    accuracy = styled.human_table(accuracy_table(judged(), labels=LABELS)).data
    assert accuracy["pairs"].tolist() == ["all", "D^c"] * 2 and (accuracy["n"] == 6).all()


def test_sentences_are_escaped():
    examples = styled.PUBLISHED.load("table1").assign(premise="<script>x</script>")
    assert "<script>" not in styled.examples_table(examples).to_html()


def test_both_trainings_stand_side_by_side_measure_by_measure():
    measures = ["accuracy", "omega_max", "p_correct", "entropy", "control_entropy"]
    both = conditions("training", ["V", "ME"], measures)
    assert list(styled.max_entropy_table(both).data.columns[2:]) == ["𝒜 (V)", "𝒜 (ME)", "Ω_max (V)", "Ω_max (ME)"]
    undecided = styled.undecided_table(both).data
    assert list(undecided.columns[2:]) == [
        *("𝒫^c (V)", "𝒫^c (ME)", "H permuted (V)", "H permuted (ME)", "H original order (V)", "H original order (ME)")
    ]
    row = both.query("training == 'ME' and measure == 'entropy'").iloc[0]
    assert undecided.iloc[0]["H permuted (ME)"] == styles.with_interval(*row[["value", "low", "high"]], n=row["n"])
