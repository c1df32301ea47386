"""Figures and tables of the idioms study: what is drawn is what the tables say; empty tables say why."""

from __future__ import annotations

import json
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from nbkit.figures import styles, theme
from nbkit.studies import idioms as study
from nbkit.studies.idioms import figures, styled

MODELS = ["random", "tuned", "my own"]
CONDITIONS = ["zero", "joint", "upsample-20"]
CONTROLS = ["references", "copy of the source"]


def systems(languages: tuple[str, ...] = ("fr",)) -> pd.DataFrame:
    rows = [(language, condition, model) for language in languages for condition in CONDITIONS for model in MODELS]
    rows += [(language, "", model) for language in languages for model in CONTROLS]
    return pd.DataFrame(rows, columns=["language", "condition", "model"])


def scored(table: pd.DataFrame, top: float = 0.6) -> pd.DataFrame:
    """Values that fall row by row, those of the controls last."""
    value = np.linspace(top, top / 10, len(table))
    bounds = {name: value + shift for name, shift in (("low", -0.02), ("high", 0.02))}
    micro = {"micro": value, "micro_low": value - 0.01, "micro_high": value + 0.01}
    return table.assign(value=value, **bounds, **micro, n=40, idioms=11, signature="LitTER|…")


def errors(languages: tuple[str, ...] = ("fr",)) -> pd.DataFrame:
    frames = [scored(systems(languages)).assign(variant=variant, pairs=pairs, covered_pairs=0.9, open_pairs=0.8,
                                                covered_idioms=0.95)
              for variant in ("paper", "published", "aligned") for pairs in ("paper", "covered")]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


MEASURES = ("unigram_precision", "unigram_precision_published", "aligned_chrf")


def accuracy() -> pd.DataFrame:
    frames = [scored(systems()).assign(aligner=aligner, measure=measure, empty_reference=0.022, empty_hypothesis=0.1)
              for aligner in ("lexicon", "eflomal") for measure in MEASURES]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def scores() -> pd.DataFrame:
    frames = [scored(systems(), 40 if measure == "bleu" else 0.6).assign(of=of, measure=measure)
              for of in ("idiom-test", "regular") for measure in ("bleu", "chrf")]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def effects(languages: tuple[str, ...] = ("fr",)) -> pd.DataFrame:
    rows = []
    for row in systems(languages).itertuples():
        for measure in ("chrf", "perplexity", "entropy_idiom", "entropy_other"):
            for i, context in enumerate(("full", "phrase", "word")):
                change = (np.nan,) * 3 if i == 0 else (-0.1, -0.12, -0.08)
                rows.append((row.language, row.condition, row.model, measure, context, 1 - 0.1 * i, 0.9 - 0.1 * i,
                             1.1 - 0.1 * i, *change, 40))  # fmt: skip
    table = pd.DataFrame(rows, columns=["language", "condition", "model", "measure", "context", "value", "low", "high",
                                        "change", "change_low", "change_high", "n"])  # fmt: skip
    return table[~table["model"].isin(CONTROLS)]


def frequencies(n: int) -> pd.DataFrame:
    rows = [("fr", rank, f"idiom {rank}", max(1, n // rank - 1), n // rank) for rank in range(1, n + 1)]
    return pd.DataFrame(rows, columns=["language", "rank", "idiom", "train", "test"])


def svg(figure: Figure) -> str:
    file = BytesIO()
    with theme.style():
        figure.savefig(file, format="svg")
    return file.getvalue().decode()


def bars(figure: Figure) -> list[float]:
    return [patch.get_height() for panel in figure.axes for patch in panel.patches if isinstance(patch, Rectangle)]


def test_a_bar_a_system_and_a_line_a_control():
    table = errors()
    figure = figures.litter_figure(table)
    own = table[(table["variant"] == "paper") & (table["pairs"] == "paper")]
    drawn = own[~own["model"].isin(CONTROLS)]["value"]
    assert sorted(bars(figure)) == pytest.approx(sorted(drawn))
    panel = figure.axes[0]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["zero", "joint", "upsample\n20x"]
    lines = [line.get_ydata()[0] for line in panel.lines]
    assert lines == pytest.approx(list(own[own["model"].isin(CONTROLS)]["value"]))
    assert {text.get_text() for text in figure.legends[-1].get_texts()} == {*MODELS, *CONTROLS}


def test_each_of_many_systems_is_named_below_its_bar():
    table = errors()
    one = table[table["model"] == MODELS[0]]
    names = [f"system {n}" for n in range(21)]
    figure = figures.litter_figure(pd.concat([one.assign(model=name) for name in names]))
    ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert len(ticks) == 3 * 21 and ticks[:2] == ["system 0, zero", "system 1, zero"]
    assert not {text.get_text() for legend in figure.legends for text in legend.get_texts()} & set(names)
    assert len({patch.get_facecolor() for patch in figure.axes[0].patches}) == 21


def test_every_figure_can_be_drawn():
    two = ("fr", "es")
    printed = study.published_results(study.IdiomsParams(languages=["fr", "es"]))
    drawn = [
        figures.litter_figure(errors(two)),
        figures.accuracy_figure(accuracy(), "lexicon"),
        figures.bleu_figure(scores()),
        figures.published_figure(printed, [("litter", "")]),
        figures.published_figure(printed, [("bleu", "WMT"), ("bleu", "idiom-test")]),
        figures.frequencies_figure(frequencies(12)),
        figures.frequencies_figure(frequencies(200)),
        figures.context_figure(effects(two), ["chrf"]),
        figures.context_figure(effects(), ["entropy_idiom", "entropy_other"]),
    ]
    for figure in drawn:
        assert svg(figure).startswith("<?xml")


def test_contexts_are_as_high_as_their_values_and_lighter_with_less_context():
    table = effects()
    figure = figures.context_figure(table, ["chrf"])
    assert sorted(bars(figure)) == pytest.approx(sorted(table[table["measure"] == "chrf"]["value"]))
    shades = [sum(styled.shade("#0072B2", name)) for name in ("full", "phrase", "word")]
    assert shades == sorted(shades)


def test_empty_tables_say_why():
    nothing = errors().head(0)
    assert "This run has no model" in svg_text(figures.litter_figure(nothing))
    assert "Nothing was probed" in svg_text(figures.context_figure(effects().head(0), ["chrf"]))
    printed = study.published_results(study.IdiomsParams(languages=["de"]))
    assert "none of the languages" in svg_text(figures.published_figure(printed, [("litter", "")]))
    for table in (
        styled.litter_table(nothing), styled.variants_table(nothing), styled.accuracy_table(accuracy().head(0)),
        styled.scores_table(scores().head(0)), styled.contexts_table(effects().head(0), ["chrf"]),
        styled.examples_table(pd.DataFrame()),
        styled.context_examples_table(pd.DataFrame(), ["full"]), styled.matches_table([]),
    ):  # fmt: skip
        html = table.to_html()
        assert len(table.data) == 1 and "nothing to show" not in html.partition("<tbody>")[2]


def svg_text(figure: Figure) -> str:
    return " ".join(text.get_text() for panel in figure.axes for text in panel.texts).replace("\n", " ")


def test_tables_have_a_row_a_system_and_mark_the_best():
    html = styled.litter_table(errors()).to_html()
    assert html.count("<tr>") == 1 + len(systems()) and html.count("font-weight: bold") == 1
    assert "published figures" in html
    wide = styled.accuracy_table(accuracy()).data
    assert len(wide) == 2 * len(systems()) and "2.2%" in set(wide["empty_reference"])
    assert len(styled.variants_table(errors()).data) == len(systems())
    assert len(styled.scores_table(scores()).data) == len(systems())
    assert styled.contexts_table(effects(), ["chrf", "perplexity"]).data.shape[0] == 2 * 9 * 3
    assert "fast-align" in set(styled.alignments_table(accuracy()).data["aligner"])
    assert styled.coverage_table(errors(("fr", "es"))).data["language"].tolist() == ["fr", "es"]


def test_findings_say_whether_they_hold():
    rows = [
        ("fr", "random: zero > joint", 0.2, 0.1, 0.3, "yes", 40),
        ("fr", "random: joint > upsample 20x", -0.1, -0.2, -0.05, "no", 12),
    ]
    table = pd.DataFrame(rows, columns=["language", "finding", "difference", "low", "high", "holds", "n"])
    html = styled.show("findings", table).to_html()
    assert ">40<" in html and ">12†<" in html and styles.FEW_NOTE in html
    assert "+0.200 [+0.100, +0.300]" in html and "−0.100" in html and "yes" in html
    assert "no two conditions" in styled.show("findings", table.head(0)).to_html()


def test_the_papers_table_as_printed():
    table = styled.printed_table("table3").data
    assert table.shape == (14, 2 + 11)
    assert table.iloc[0]["LitTER ↓"] == "0.563" and table.iloc[-1]["BLEU ↑ (idiom-test)"] == "35.8"
    assert styled.printed_table("table2").data.shape == (12, 2 + 6)
    assert styled.printed_table("table4").data.shape == (14, 2 + 11)


def test_ours_beside_the_papers():
    results = pd.DataFrame({
        "language": "fr", "condition": ["zero", "zero"], "model": ["random", "my own"], "measure": "litter", "of": "",
        "value": [0.6, 0.5], "low": [0.5, 0.4], "high": [0.7, 0.6], "n": 50, "as_computed": [0.571, 0.4],
        "published": [0.563, np.nan],
        "printed": ["0.563", "not printed"], "difference": [0.037, np.nan], "note": "",
    })  # fmt: skip
    html = styled.beside_table(results, ["litter"]).to_html()
    assert "+0.037" in html and "my own" not in html
    assert "0.571" in html and "+0.008" in html and "as their code computes it" in html
    assert "does not print" in styled.beside_table(results.tail(1), ["litter"]).to_html()
    assert "0.563" not in styled.results_table(results).to_html()


def test_texts_are_escaped_and_marked():
    row = {
        "language": "fr", "condition": "zero", "model": "<i>random</i>", "idiom": "kick the bucket",
        "source": "<b> kick the bucket", "spans": json.dumps([[4, 19]]), "reference": "mourir & <script>",
        "hypothesis": "le <seau>", "blocklists": json.dumps([["bucket", ["seau", "<u>"], True], ["kick", ["x"], 0]]),
        "triggers": json.dumps([["seau", [2]]]), "error": True,
    }  # fmt: skip
    html = styled.examples_table(pd.DataFrame([row])).to_html()
    assert "<script>" not in html and "<u>" not in html and "<i>random" not in html
    assert "kick the bucket</mark>" in html and "seau</mark>&gt;" in html
    assert "<s>kick → x</s>" in html and "literal error: seau" in html


def test_the_papers_examples_are_shown():
    html = styled.examples_table(study.published_examples(), "fr").to_html()
    assert html.count("as printed") == 5 and "arbre</mark>" in html
    assert html.count("<s>") == 2  # eye and candy: the reference has both


def test_what_the_matcher_finds_is_drawn():
    phrase = "pull the wool over someone's eyes"
    found = study.find_phrases(["He <b>pulled the wool over her eyes.", "Nothing."], [phrase])
    html = styled.matches_table(found).to_html()
    assert "&lt;b&gt;" in html and "pulled the wool over her eyes</mark>" in html and "none" in html
    assert "pull the wool" in styled.matches(found).data and "<b>" not in styled.matches(found).data
    assert "LEMMA" in styled.rules_table(phrase).to_html()


def test_a_model_looks_the_same_whatever_it_is_called():
    looks = styled.model_looks(["tuned +mask", "mBART+mask", "my own", "references"])
    assert looks["tuned +mask"].colour == looks["mBART+mask"].colour and "references" not in looks
    assert looks["my own"].label == "my own"


def test_pages_say_which_states_are_replaced():
    kept, replaced = (styled.replaced_states(study.IdiomsParams(end_state=each)).data for each in ("kept", "replaced"))
    assert "as the paper describes" in kept and "end_state" in kept
    assert "research code" in replaced and "set end_state" not in replaced
    assert "special tokens after the sentence" in replaced


@pytest.mark.parametrize("measure", ["chrf", "perplexity", "entropy"])
def test_the_procedure_of_each_probe_is_drawn_with_its_three_contexts(measure):
    """Figures 4, 17, 19 and 21: each context's words, the states given to the decoder, and what is measured."""
    figure = figures.probe_figure(measure)
    shown = [text.get_text() for text in figure.axes[0].texts]
    drawn = styled.illustration()
    idiom = drawn["source"].split()[slice(*drawn["idiom"])]
    assert [shown.count(word) for word in idiom] == [4] * len(idiom)  # three contexts, and the states
    assert shown.count("yesterday") == 2 and drawn["steps"][measure]["below"] in shown
    marked = [text for text in figure.axes[0].texts if text.get_text() == "mort"]
    assert (marked[0].get_bbox_patch().get_facecolor() != (1.0, 1.0, 1.0, 1.0)) == (measure == "entropy")
