"""Styled tables: numbers where they belong, the best marked, every text inert, and a copy for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest
from pandas.io.formats.style import Styler

from nbkit.figures import styles
from nbkit.studies.word_order import PUBLISHED as published
from nbkit.studies.word_order import WordOrderParams, styled
from tests.figures.synthetic import SHAPES, Synthetic

TABLES: dict[str, tuple[Callable[..., Styler], str]] = {
    "table1": (styled.table1, "counts"),
    "counts beside": (styled.counts_beside, "counts"),
    "table2": (styled.table2, "quality"),
    "table3": (lambda flips: styled.flip_table(flips, "language", "model"), "flips_by_language_and_model"),
    "table3 inferred": (
        lambda flips: styled.flip_table(flips, "language", "model", inferred=True),
        "flips_by_language_and_model",
    ),
    "table2 three ways": (lambda table: styled.quality_beside(table, table), "quality"),
    "table6 languages": (lambda flips: styled.flip_table(flips, "perturbation", "language"), "flips_by_language"),
    "table6 models": (lambda flips: styled.flip_table(flips, "perturbation", "model"), "flips_by_model"),
    "figure 5": (styled.similarity, "similarity_of_languages"),
    "figure 14": (lambda table: styled.similarity(table, "levenshtein", "target"), "similarity"),
    "scores": (styled.perturbation_scores, "by_perturbation"),
    "tests": (styled.model_tests, "model_tests"),
    "spacing": (styled.spacing_table, "spacing_effect"),
    "correlations": (lambda table: styled.correlation_table(table, "bleu", "β"), "correlations"),
    "examples": (styled.examples, "examples"),
    "sentences": (lambda table: styled.sentences(table, "Flips"), "flip_samples"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_shown_and_kept(name: str, shape: str) -> None:
    make, source = TABLES[name]
    table = make(getattr(Synthetic(*SHAPES[shape]), source)())
    assert "<table" in table.to_html()
    assert not re.search(r"[βακρ₁₂−–]", styles.to_latex(table))


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_says_why(name: str) -> None:
    make, source = TABLES[name]
    html = make(getattr(Synthetic(*SHAPES["1x1"]), source)().iloc[:0]).to_html()
    assert "<table" in html


@pytest.mark.parametrize("text", ["<script>alert('x')</script>", "<img src=x onerror=alert(1)>", "a & b </td>"])
def test_corpus_text_is_inert(text: str) -> None:
    samples = Synthetic(*SHAPES["1x1"]).flip_samples()
    words = ["source", "perturbed_source", "reference", "hypothesis", "perturbed_hypothesis"]
    examples = Synthetic(*SHAPES["1x1"]).examples()
    examples = examples.assign(text=text, perturbed=f"x {text}", moved=[((0, len(text)),)] * len(examples))
    for table in (
        styled.sentences(samples.assign(**dict.fromkeys(words, text)), caption=text),
        styled.examples(examples),
        styles.styled(pd.DataFrame({text: [text]}), caption=text, headings={text: text}),
    ):
        html = table.to_html()
        assert text not in html and not re.search(r"<(script|img)", html)
    assert text not in styles.note(text).data
    assert text not in styles.folded(styles.styled(pd.DataFrame({"a": [text]})), text).data


def test_headings_are_escaped() -> None:
    """The label of a model, or a column that nothing was said of, may hold anything."""
    table = styles.styled(pd.DataFrame({"a": [1], "<i>&": [2]}), headings={"a": "<b>x</b> & y", "<i>&": "<u>"})
    html = table.to_html()
    assert "&lt;b&gt;x&lt;/b&gt; &amp; y" in html and "&lt;u&gt;" in html and "<b>" not in html and "<u>" not in html
    assert "&lt;i&gt;&amp;" in styles.styled(pd.DataFrame({"<i>&": [2]})).to_html()


def test_latex_specials_are_escaped() -> None:
    latex = styles.to_latex(styles.styled(pd.DataFrame({"source": ["50% of_all & more $"]})))
    assert r"50\% of\_all \& more \$" in latex


def test_numbers_have_minus_signs_and_nothing_has_no_sign() -> None:
    rows = {"difference": [-0.106, -0.0001], "cell": ["-0.2 [-0.30, -0.00]", "–"], "model": "-7b"}
    table = styles.styled(pd.DataFrame(rows))
    html = table.to_html()
    assert ">−0.106<" in html and ">0.000<" in html and ">−0.2 [−0.30, 0.00]<" in html
    assert table.data["cell"][0] == "-0.2 [-0.30, -0.00]"  # a copy for programs keeps what they read
    assert "$-$0.106" in styles.to_latex(table)


def test_the_best_of_a_row_is_bold_and_only_the_best() -> None:
    quality = pd.DataFrame(
        {"language": ["de", "de"], "model": ["opus-mt", "mbart50"], "metric": "bleu", "beta": [0.4, 0.3], "low": 0.2,
         "high": 0.5, "n": 9}
    )  # fmt: skip
    latex = styles.to_latex(styled.table2(quality))
    assert re.findall(r"\\bfseries ([\d.]+)", latex) == ["0.400"]
    assert "Helsinki-OPUS & mBART50" in latex


def test_flips_stand_with_their_share_and_its_interval() -> None:
    flips = pd.DataFrame(
        {"language": ["de", "fr"], "model": "m", "metric": "bleu", "flips": [3, 1400], "n": [20, 2800],
         "share": [0.15, 0.5], "low": [0.05, 0.48], "high": [0.3, 0.52]}
    )  # fmt: skip
    table = styled.flip_table(flips, "language", "model").data
    assert table["m"].tolist() == ["3 (15.0% [5.0, 30.0])†", "1,400 (50.0% [48.0, 52.0])"]


def test_each_two_perturbations_stand_once_with_the_interval_of_their_similarity() -> None:
    rows = [("reversed", "noun_swaps"), ("noun_swaps", "reversed"), ("reversed", "reversed")]
    table = pd.DataFrame(rows, columns=["perturbation_a", "perturbation_b"])
    table = table.assign(
        side="source", metric="bleu", kappa=[0.4, 0.4, 1.0], low=[0.3, 0.3, 1], high=[0.5, 0.5, 1], n=9
    )
    expected = [["Noun swaps", "Reversed", "0.40 [0.30, 0.50]", 9]]
    assert styled.similarity(table).data.values.tolist() == expected
    by_language = pd.concat([table.assign(language="ja"), table.assign(language="de", kappa=0.45)])
    shown = styled.similarity(by_language).data
    assert list(shown.columns) == ["perturbation_a", "perturbation_b", "de", "ja"]
    assert shown["de"].tolist() == ["0.45 [0.30, 0.50]†"]


def test_beside_says_whose_number_is_whose() -> None:
    ours = pd.DataFrame(
        {"language": ["de", "ja"], "model": ["Helsinki-OPUS", "mine"], "metric": "bleu", "beta": [0.5, 0.1]}
    )
    html = styled.TABLES.beside(ours, "table2", ["language", "model", "metric"]).to_html()
    assert "this run − paper" in html and "0.40 ± 7.77e-06" in html and "+0.100" in html
    assert "mine" not in html and "not a replication" in html
    alone = styled.TABLES.beside(ours[1:], "table2", ["language", "model", "metric"]).to_html()
    assert "tested other models" in alone
    assert "not printed" in styled.TABLES.beside(ours, "fig1", ["language"]).to_html()


def test_quality_stands_three_ways_and_never_mixed() -> None:
    rows = {"language": ["de", "ja"], "model": ["Helsinki-OPUS", "mine"], "metric": "bleu", "n": 9}
    ours, coded = pd.DataFrame({**rows, "beta": [0.5, 0.1]}), pd.DataFrame({**rows, "beta": [0.42, 0.03]})
    table = styled.quality_beside(ours, coded)
    assert table.data["printed"].tolist() == ["0.40 ± 7.77e-06", "not printed"]
    assert table.data["beta"].tolist() == [0.5, 0.1] and table.data["coded"].tolist() == [0.42, 0.03]
    assert table.data["difference"].round(6).iloc[0] == 0.1 and table.data["coded_difference"].round(6).iloc[0] == 0.02
    html = table.to_html()
    assert "smooth:none" in html and "this run, as defined" in html and "this run, as coded" in html


def test_the_inferred_criterion_is_said_to_be_inferred() -> None:
    flips = Synthetic(*SHAPES["1x1"]).flips_by_language_and_model()
    assert "β₁ &gt; β)" in styled.flip_table(flips, "language", "model").to_html()
    table = styled.flip_table(flips, "language", "model", inferred=True)
    assert "inferred from the 75 printed samples" in table.to_html()
    own = flips[flips["metric"] == "bleu"].iloc[0]
    assert f"{own['inferred']:,} ({own['inferred_share']:.1%}" in table.to_html()


def test_what_stays_out_of_means_is_named_with_its_n() -> None:
    few = pd.DataFrame({"language": ["de"], "perturbation": ["adverb_verb_swap"], "n": [5]})
    assert "fewer than 30" in styled.below_min_n(few, 30).data
    assert "Adverb–verb swap (de, N = 5)" in styled.below_min_n(few, 30).data
    assert "Every perturbation" in styled.below_min_n(few[:0], 30).data
    tests = Synthetic(*SHAPES["7x4"]).model_tests().assign(n=lambda t: 5 + 100 * t["perturbation"].eq("reversed"))
    assert set(styled.model_tests(tests, "bleu", 30).data["tests"]) == {1}


def test_chance_of_fewer_draws_says_of_how_many() -> None:
    html = styled.perturbation_scores(Synthetic(*SHAPES["1x1"]).by_perturbation()).to_html()
    assert html.count("(N ") == 1  # the one perturbation of which a draw was forced


def test_counts_are_compared_as_shares() -> None:
    counts = pd.DataFrame({"language": ["zh"], "perturbation": ["reversed"], "n": [80], "total": [100]})
    row = styled.counts_beside(counts).data.iloc[0]
    assert (row["share"], row["paper_share"]) == (0.8, 0.7074)
    assert row["difference"] == pytest.approx(9.26)


def test_flips_are_compared_as_shares_of_what_was_perturbed() -> None:
    shared = {"metric": "bleu", "flips": [3], "share": [0.1], "inferred": [1], "inferred_share": [0.02]}
    n = published.load("table1").query("language == 'de'")["n"]
    row = styled.flips_beside(pd.DataFrame({"language": ["de"], "model": "opus-mt", **shared}), "table3").data
    assert row[["flips", "published"]].values.tolist() == [[3, 514]]
    assert row["paper_share"].tolist() == pytest.approx([514 / n.sum()])
    assert row["difference"].tolist() == pytest.approx([100 * (0.1 - 514 / n.sum())])
    assert row["inferred_difference"].tolist() == pytest.approx([100 * (0.02 - 514 / n.sum())])
    flips = pd.DataFrame({"perturbation": ["tree_mirror_pre"], "language": "de", **shared})
    html = styled.flips_beside(flips, "table6_by_language").to_html()
    n_of_one = published.load("table1").query("language == 'de' and perturbation == 'tree_mirror_pre'")["n"].item()
    assert f"{82 / n_of_one / 4:.1%}" in html  # all four models together
    assert "adds up" not in html  # said once, below the table
    flips = pd.DataFrame({"perturbation": ["tree_mirror_pre"], "model": "opus-mt", **shared})
    n_of_all = published.load("table1").query("perturbation == 'tree_mirror_pre'")["n"].sum()
    assert styled.flips_beside(flips, "table6_by_model").data["paper_share"].item() == 196 / n_of_all
    assert "tested other models" in styled.flips_beside(flips.assign(model="mine"), "table6_by_model").to_html()


@pytest.mark.parametrize("artefact", [name for name in published.names() if published.is_printed(name)])
def test_the_papers_own_tables_are_shown_as_printed(artefact: str) -> None:
    if artefact == "samples":
        shown = styled.sentences(published.load(artefact), published.title(artefact)).to_html()
        assert "printed without any change of order" in shown
        return
    table = published.load(artefact)
    rows, columns = [name for name in ("perturbation", "language", "model") if name in table][:2]
    html = styled.TABLES.printed(artefact, rows, columns).to_html()
    assert html.count("<td") == table[rows].nunique() * (table[columns].nunique() + 1)


def test_what_moved_is_marked_and_nothing_else() -> None:
    text = "played <b> today ."
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", styles.marked(text, [(0, 6), (7, 10)])) == ["played", "&lt;b&gt;"]
    assert styles.marked(text, []) == "played &lt;b&gt; today ."


def test_significant_perturbations_are_counted() -> None:
    tests = pd.DataFrame(
        {"language": "de", "perturbation": ["reversed", "noun_swaps", "verb_swaps"], "metric": "bleu", "score": "beta1",
         "model_a": "a", "model_b": "b", "mean_a": 0.5, "mean_b": 0.4, "difference": [0.1, -0.1, 0.2],
         "p": 0.01, "p_corrected": [0.01, 0.02, 0.3], "effect": 0.2, "n": 50}
    )  # fmt: skip
    assert styled.model_tests(tests).data[["a", "b", "tests"]].values.tolist() == [[1, 1, 3]]


def test_signatures_name_their_languages() -> None:
    found = styled.signatures(WordOrderParams(languages=["de", "ja"], metrics=["bleu"]))
    assert list(found) == ["BLEU (en, de)", "BLEU (ja)"]
    assert all(signature.startswith("BLEU|") for signature in found.values())
    assert styled.kappa_signature(WordOrderParams(languages=["de", "ja"])) == " and ".join(found.values())


def test_flips_of_models_are_compared_and_those_of_languages_are_not() -> None:
    rows = Synthetic(["de", "fr"], ["opus-mt", "mbart50"])
    assert "bfseries" in styles.to_latex(styled.flip_table(rows.flips_by_model(), "perturbation", "model"))
    assert "bfseries" not in styles.to_latex(styled.flip_table(rows.flips_by_language(), "perturbation", "language"))


def test_samples_show_the_reference_that_was_perturbed_alike() -> None:
    samples = Synthetic(*SHAPES["1x1"]).flip_samples().assign(perturbed_reference="место найти мог не Том.")
    html = styled.sentences(samples, "Flips").to_html()
    assert html.index("reference, perturbed alike") > html.index("reference:</span>")
    assert "место найти мог не Том." in html
