"""The printed values: complete, as printed, and odd exactly where their notes say so."""

import numpy as np
import pandas as pd
import pytest

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.languages import TARGETS
from nbkit.studies.word_order import STUDY

published = STUDY.printed
MODELS = ["opus-mt", "mbart50", "m2m100-418m", "m2m100-1.2b"]
PERTURBATIONS = {
    *("tree_mirror_pre", "tree_mirror_post", "tree_mirror_in", "rotate_around_root"),
    *("noun_swaps", "verb_swaps", "adverb_verb_swap", "noun_adj_swap", "noun_verb_swap", "noun_verb_mismatched"),
    *("functional_shuffle", "verb_at_beginning"),
    *("word_shuffle", "shuffle_first_half", "shuffle_last_half", "reversed"),
}


@pytest.mark.parametrize(
    ("name", "keys", "rows"),
    [
        ("table1", ["language", "perturbation"], 7 * 16),
        ("table2", ["language", "model"], 7 * 4),
        ("table3", ["language", "model"], 7 * 4),
        ("table6_by_language", ["language", "perturbation"], 7 * 16),
        ("table6_by_model", ["model", "perturbation"], 4 * 16),
    ],
)
def test_every_cell_of_a_printed_table_is_there_once(name, keys, rows):
    table = published.load(name)
    assert len(table) == rows
    assert not table.duplicated(keys).any()
    assert not table.isna().any().any()
    for key, values in (("language", set(TARGETS)), ("model", set(MODELS)), ("perturbation", PERTURBATIONS)):
        if key in keys:
            assert set(table[key]) == values


def test_cells_read_off_the_page():
    """A handful of numbers from different corners of the printed tables."""
    n = published.load("table1").set_index(["language", "perturbation"]).n
    assert (n["de", "tree_mirror_pre"], n["zh", "tree_mirror_pre"], n["ja", "functional_shuffle"]) == (3869, 155, 7004)
    assert (n["zh", "reversed"], n["it", "noun_adj_swap"], n["ru", "verb_at_beginning"]) == (7074, 600, 3939)
    beta = published.load("table2").set_index(["language", "model"])
    assert tuple(beta.loc[("ja", "opus-mt"), ["beta", "interval"]]) == (0.69, 4.01e-6)
    assert tuple(beta.loc[("it", "mbart50"), ["beta", "bold"]]) == (0.37, True)
    flips = published.load("table3").set_index(["language", "model"]).flips
    assert (flips["it", "opus-mt"], flips["ja", "mbart50"], flips["zh", "m2m100-1.2b"]) == (914, 0, 230)
    by_language = published.load("table6_by_language").set_index(["language", "perturbation"]).flips
    assert (by_language["ja", "verb_at_beginning"], by_language["es", "reversed"]) == (351, 12)
    by_model = published.load("table6_by_model").set_index(["model", "perturbation"]).flips
    assert (by_model["opus-mt", "shuffle_first_half"], by_model["m2m100-1.2b", "word_shuffle"]) == (615, 142)


def test_table_1_is_odd_exactly_where_its_notes_say_so():
    table = published.load("table1")
    weakest = table.query("perturbation == 'word_shuffle'").set_index("language").n
    odd = (table.n > table.total) | (table.n > table.language.map(weakest))
    assert (odd == (table.note != "")).all()
    assert table[table.n > table.total][["language", "perturbation"]].values.tolist() == [["ja", "functional_shuffle"]]
    beyond = table[odd & (table.n <= table.total)]
    assert set(beyond.language) == {"es", "it", "ru"} and set(beyond.perturbation) == {"verb_at_beginning"}


def test_table_2_marks_the_best_of_the_three_multilingual_models():
    multilingual = published.load("table2").query("model != 'opus-mt'")
    best = multilingual.groupby("language").beta.transform("max")
    assert ((multilingual.beta == best) == multilingual.bold).all()
    assert not published.load("table2").query("model == 'opus-mt'").bold.any()


def test_table_2_intervals_are_too_narrow_for_means_of_sentence_scores():
    """An interval of 10⁻⁵ at 10,000 sentences means a standard deviation below 0.001 around a mean of 0.07 to 0.69."""
    implied_deviation = published.load("table2").interval * np.sqrt(10_000)
    assert implied_deviation.max() < 0.001


def test_table_6_adds_up_to_table_3_only_with_another_heading():
    by_language = published.load("table6_by_language").groupby("language").flips.sum()
    table3 = published.load("table3").groupby("language").flips.sum()
    distance = (by_language - table3).abs()
    assert distance[distance > 0].index.tolist() == sorted(TARGETS)  # none adds up exactly
    assert {language for language in TARGETS if distance[language] > 3} == {"fr", "es", "it", "ru", "ja"}
    printed_heading = ["de", "fr", "ru", "ja", "es", "it", "zh"]
    read_as = dict(zip(printed_heading, sorted(printed_heading), strict=True))
    distance = {head: abs(by_language[head] - table3[language]) for head, language in read_as.items()}
    assert max(distance.values()) == 35
    for head, language in read_as.items():
        notes = published.load("table6_by_language").query("language == @head").note.str.split(";").str[0].unique()
        assert len(notes) == 1
        numbers = {f"{by_language[head]:,}", f"{table3[head]:,}", f"{table3[language]:,}"}
        assert all(number in notes[0] for number in numbers)


def test_table_6_by_model_agrees_with_its_other_half_and_nearly_with_table_3():
    by_model = published.load("table6_by_model")
    by_language = published.load("table6_by_language")
    assert by_model.groupby("perturbation").flips.sum().equals(by_language.groupby("perturbation").flips.sum())
    table3 = published.load("table3").groupby("model").flips.sum()
    missing = table3 - by_model.groupby("model").flips.sum()
    assert (missing.min(), missing.max()) == (5, 43)
    for model, count in by_model.groupby("model").flips.sum().items():
        notes = by_model.query("model == @model").note.unique()
        assert notes.tolist() == [f"column adds up to {count:,}, Table 3 to {table3[model]:,}"]


def test_bold_marks_the_largest_of_a_row_but_once():
    for name, row in (
        ("table3", "language"),
        ("table6_by_language", "perturbation"),
        ("table6_by_model", "perturbation"),
    ):
        table = published.load(name)
        odd = table[table.bold != (table.flips == table.groupby(row).flips.transform("max"))]
        if name == "table6_by_language":
            assert set(zip(odd.language, odd.flips, strict=True)) == {("ru", 138), ("ja", 142)}
            assert odd[odd.bold].note.str.endswith("printed in bold, yet ja has 142").all()
        else:
            assert odd.empty


def test_samples_are_flips_that_keep_their_tokens():
    samples = published.load("samples")
    assert set(samples.perturbation) <= PERTURBATIONS
    assert set(zip(samples.table, samples.model, strict=True)) == {(4, "opus-mt"), (4, "mbart50")} | {
        (5, "m2m100-418m"),
        (5, "m2m100-1.2b"),
    }
    assert (samples.beta1 > samples.beta).all()
    letters = samples[["source", "perturbed_source"]].map(lambda text: sorted(text.replace(" ", "")))
    assert (letters.source == letters.perturbed_source).all()
    unchanged = samples.source.str.replace(" ", "") == samples.perturbed_source.str.replace(" ", "")
    assert (samples.note[unchanged] == "printed without any change of order").all()
    assert unchanged.sum() == samples.note.str.startswith("printed without").sum() == 1


def test_beside_keeps_our_rows_and_their_order():
    ours = pd.DataFrame(
        {
            "language": pd.Categorical(["ja", "de", "de"]),
            "model": ["sandbox-marian", "opus-mt", "mbart50"],
            "metric": ["bleu", "bleu", "levenshtein"],
            "beta": [0.5, 0.45, 0.7],
        },
        index=[7, 3, 5],
    )
    joined = published.beside(ours, "table2", on=["language", "model", "metric"])
    assert joined.beta.tolist() == ours.beta.tolist()
    assert joined.printed.tolist() == ["not printed", "0.40 ± 7.77e-06", "not printed"]
    assert joined.difference.round(9).fillna(-1).tolist() == [-1, 0.05, -1]
    assert joined.note.tolist() == ["", "", ""]


def test_beside_a_figure_says_that_it_is_not_printed():
    joined = published.beside(pd.DataFrame({"language": ["de"], "difference": [0.2]}), "fig1", on=["language"])
    assert joined.printed.tolist() == ["not printed"]
    assert joined.published.isna().all()


def test_beside_an_empty_table():
    ours = pd.DataFrame({"language": [], "model": [], "flips": []})
    joined = published.beside(ours, "table3", on=["language", "model"])
    assert joined.empty and {"published", "printed", "difference", "note"} <= set(joined)


def test_what_cannot_be_compared_is_named():
    with pytest.raises(NbkitError, match="no column model"):
        published.beside(pd.DataFrame({"language": ["de"], "flips": [1]}), "table3", on=["language", "model"])
    with pytest.raises(NbkitError, match="do not single out"):
        published.beside(pd.DataFrame({"language": ["de"], "flips": [1]}), "table3", on=["language"])
    with pytest.raises(UnknownNameError, match="did you mean 'table1'"):
        published.load("table_1")
    with pytest.raises(NbkitError, match="drawing only"):
        published.load("fig2")
