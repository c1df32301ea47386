"""The outcomes of the idioms study as cards and browsers read them: its numbers follow from them, and an item's id from
the item alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbkit.corpora.idioms import IdiomPair, write_idiom_pairs
from nbkit.models.probes import CONTEXTS
from nbkit.studies import results
from nbkit.studies.behaviours import behaviour_of
from nbkit.studies.exports import write_outcomes
from nbkit.studies.idioms import STUDY, IdiomsParams, scores
from tests.studies.long_files import outcomes, read_outcomes

from .conftest import Dummy, register
from .idioms_cases import literally, litter, pairs, probed, toy_params


def half_literally(text: str) -> str:
    """One place in three said as the reference has it, another with what no text has."""
    translation = literally(text)
    return (
        translation.replace("cognent le seau", "meurent")
        if "here" in text
        else f"{translation} xyz"
        if "soon" in text
        else translation
    )


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    register(Dummy(half_literally))
    with probed():
        yield toy_params(tmp_path).model_copy(update={"conditions": ["zero", "joint"], "contexts": list(CONTEXTS)})


def test_a_cards_number_is_that_of_the_page(params):
    estimates = pytest.importorskip("nbcards").estimates
    measure = behaviour_of(STUDY).measures["litter"]
    table = estimates(results.computed(params), measure).set_index("system")
    for system in params.systems:
        row = litter(params, condition=system.condition)
        assert tuple(table.loc[system.label, ["value", "low", "high", "clusters"]]) == pytest.approx(
            tuple(row[["value", "low", "high", "idioms"]])
        )
    assert table.loc["references", "value"] == 0


def test_every_declared_measure_is_one_of_the_outcomes(params):
    """A measure whose columns no table has would be skipped without a word."""
    # Without compounds, which are those of German, and without what voters take the place of.
    declared = set(behaviour_of(STUDY).outcomes.measures) - {"literal", "litter/compounds"}
    found = pd.concat(outcomes(params))
    names = {name.partition("{")[0] for name in declared}
    assert {name for name in names if not any(each.startswith(name) for each in set(found["measure"]))} == set()


@pytest.mark.parametrize("form", ["parquet"])
def test_a_file_of_outcomes_holds_the_same(params, form, tmp_path):
    """What is written is what is read, to the last bit."""
    ours = pd.concat(outcomes(params, texts=True), ignore_index=True)
    write_outcomes([params], tmp_path / f"outcomes.{form}", form)
    again = pd.concat(read_outcomes(tmp_path / f"outcomes.{form}"), ignore_index=True)
    columns = ["item", "system", "measure", "value", "verdict", "reason", "cluster", "source", "output", "groups"]
    both = []
    for table in (ours, again):
        named = table["groups"].map(lambda each: str(sorted(each.items())))
        table = table[columns].assign(groups=named, verdict=table["verdict"].fillna(""))
        both.append(table.sort_values(["measure", "system", "item", "groups", "output"], ignore_index=True))
    pd.testing.assert_frame_equal(*both, check_exact=True, check_dtype=False)


def test_what_litter_decides_and_why(params, tmp_path):
    found = pd.concat(outcomes(params, texts=True))
    litter = found[found["measure"] == "litter"]
    assert len(litter) == 4 * (2 + 2)
    assert STUDY.used(params) == {"n_test": [4]}
    row = litter[(litter["system"] == "random, zero") & litter["source"].str.contains("potato")].iloc[0]
    assert (row["verdict"], row["value"], row["reason"]) == ("fail", 1, "chaude, patate")
    assert row["cluster"] == row["groups"]["idiom"] == "hot potato" and row["groups"]["condition"] == "zero"
    marked = [(each["label"], row[each["text"]][each["start"] : each["end"]]) for each in row["spans"]]
    assert marked == [("idiom", "hot potato"), ("trigger", "chaude"), ("trigger", "patate")]
    references = litter[litter["system"] == "references"]
    assert set(references["verdict"]) == {"pass"} and set(references["value"]) == {0}
    (tmp_path / "words.tsv").write_text("bucket\tseau\nhot\tgênant\n", encoding="utf-8")
    again = pd.concat(outcomes(params.model_copy(update={"idioms": "own"}))).query("measure == 'litter'")
    undecided = again[again["verdict"] == "undecided"]
    assert set(undecided["cluster"]) == {"hot potato"} and set(undecided["value"]) == {0}
    assert set(undecided["reason"]) == {"the reference has a translation of each of the idiom's words"}
    (tmp_path / "words.tsv").write_text("bucket\tseau\n", encoding="utf-8")
    again = pd.concat(outcomes(params)).query("measure == 'litter' and verdict == 'undecided'")
    assert set(again["reason"]) == {"the dictionary has none of the idiom's words"}


def test_on_a_card_function_words_are_no_literal_translation(params, tmp_path):
    """A dictionary's *le* is in every sentence: the paper counts it, the card looks up nouns and adjectives alone."""
    (tmp_path / "words.tsv").write_text("the\tle\nbucket\tseau\n", encoding="utf-8")
    for output, decided in (("Ils passent le pont .", "pass"), ("Ils cognent le seau .", "fail")):
        dummy = Dummy(lambda text, output=output: output)
        dummy.identity = output
        register(dummy)
        found = pd.concat(outcomes(params))
        own = found[(found["system"] == "random, zero") & (found["cluster"] == "kick the bucket")]
        verdicts = own.groupby("measure")["verdict"].agg(set)
        assert verdicts["litter"] == {"fail"} and verdicts["litter/decided"] == {decided}


def test_probes_are_of_the_sentence_in_a_context(params):
    found = pd.concat(outcomes(params))
    probes = found[found["measure"] == "probe/perplexity"]
    assert set(probes["system"]) == {"random, zero", "random, joint"}
    contexts = probes["groups"].map(lambda groups: groups["context"])
    assert probes.groupby(["system", contexts])["item"].nunique().eq(4).all() and set(contexts) == set(CONTEXTS)
    surprise = {context: float(np.exp(factor)) for factor, context in enumerate(CONTEXTS, start=1)}
    assert probes["value"].to_numpy() == pytest.approx(contexts.map(surprise).to_numpy())


def test_corpus_scores_add_up_and_are_no_means(params):
    found = pd.concat(outcomes(params, texts=True))
    bleu = found[(found["measure"] == "bleu/news") & (found["system"] == "random, zero")]
    assert len(bleu) == 2 and set(bleu["groups"].map(lambda groups: groups["set"])) == {"news"}
    rows = results.computed(params).rows.query("of == 'news'")
    assert {tuple(map(len, rows[f"{name}_sums"])) for name in ("bleu", "chrf")} == {(10,) * 8, (18,) * 8}
    table = scores.global_scores(scores.read(params, "similar"))
    whole = table.query("of == 'idiom-test' and measure == 'bleu' and condition == 'zero'")["value"].item()
    parts = found[(found["measure"] == "bleu/idiom-test") & (found["system"] == "random, zero")]
    assert parts["value"].mean() != pytest.approx(whole)


def test_ids_are_the_items_own(params, tmp_path, monkeypatch):
    """Whatever their order, the other items, the models, and the chunks in which a corpus is mined."""

    def ids(of: IdiomsParams) -> dict[tuple[str, str, str, str], str]:
        table = pd.concat(outcomes(of, texts=True))
        context = table["groups"].map(lambda groups: groups.get("context", ""))
        keys = zip(table["source"], table["reference"], table["measure"], context, strict=True)
        return dict(zip(keys, table["item"], strict=True))

    before = ids(params)
    of_litter = {key: item for key, item in before.items() if key[2] == "litter"}
    assert len(set(of_litter.values())) == len(of_litter) == 4

    turned = [*pairs()[::-1], IdiomPair("9", "He kicks the bucket .", "Il meurt .", "kick the bucket", ((3, 19),))]
    write_idiom_pairs(turned, *(tmp_path / name for name in ("set.en", "set.fr", "set.spans.en")))
    register(Dummy(str.upper))
    after = ids(params.model_copy(update={"models": {"other": "dummy-joint"}, "seed": 5}))
    shared = before.keys() & after.keys()
    assert {measure for _, _, measure, _ in shared} >= {"litter", "probe/chrf", "bleu/news", "bleu/idiom-test"}
    assert {key: before[key] for key in shared} == {key: after[key] for key in shared}

    (tmp_path / "corpus.tsv").write_text("".join(f"{each.source}\t{each.target}\n" for each in pairs()), "utf-8")
    (tmp_path / "list.txt").write_text("kick the bucket\nhot potato\n", encoding="utf-8")
    update = {"data": "mined", "corpora": {"mine": f"{tmp_path}/corpus.tsv"}, "idioms": f"{tmp_path}/list.txt"}
    mined = params.model_copy(update=update)
    whole = ids(mined)
    monkeypatch.setitem(STUDY.table("mined").__dict__, "unit", 3)
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "other"))
    assert ids(mined) == whole
    assert {key: before[key] for key in before.keys() & whole.keys()}.items() <= whole.items()


def test_identical_sentences_are_one_item(params, tmp_path):
    """Each counts, and they are resampled together."""
    (tmp_path / "news.tsv").write_text("It is here .\tCela est ici .\n" * 3, encoding="utf-8")
    found = pd.concat(outcomes(params))
    news = found[(found["measure"] == "bleu/news") & (found["system"] == "references")]
    assert len(news) == 3 and news["item"].nunique() == news["cluster"].nunique() == 1
