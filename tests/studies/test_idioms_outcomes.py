"""The outcomes of the idioms study: its results follow from them, and an item's id from the item alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbkit.corpora.idioms import IdiomPair, write_idiom_pairs
from nbkit.models.probes import CONTEXTS, ContextProbe
from nbkit.models.translators import texts
from nbkit.store import Store
from nbkit.studies import headline, idioms, outcomes, read_outcomes, write_outcomes
from nbkit.studies.idioms import IdiomsParams, steps
from nbkit.studies.idioms.steps import token_spans

from .conftest import Dummy, register
from .idioms_cases import PLACES, literally, pairs, toy_params

#: The intervals of corpus scores resample sentences in their order, which outcomes do not have.
CORPUS_SCORES = ["bleu", "chrf"]


def half_literally(text: str) -> str:
    """One place in three said as the reference has it, another with what no text has."""
    said = literally(text)
    return said.replace("cognent le seau", "meurent") if "here" in text else f"{said} xyz" if "soon" in text else said


def surprised(name, wanted, src, tgt, decoding, **_):
    for number, pair in enumerate(wanted, start=1):
        words = token_spans(pair.target, tgt)
        entropies = tuple(map(float, range(len(words))))
        yield {
            context: ContextProbe(context, " ".join(pair.target.split()[factor - 1 :]),
                                  (-float(factor * number),) * len(words), entropies, words, 1)
            for factor, context in enumerate(CONTEXTS, start=1)
        }  # fmt: skip


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(steps, "probe_remembered", surprised)
    monkeypatch.setattr(steps, "has_states", lambda *_: True)
    register(Dummy(half_literally))
    return toy_params(tmp_path).model_copy(update={"conditions": ["zero", "joint"], "contexts": list(CONTEXTS)})


def assert_headline_follows(params: IdiomsParams, found: list[pd.DataFrame]) -> None:
    """Values and numbers are those of `idioms.results`, and the intervals of all that is averaged over idioms."""
    ours, again = idioms.results(params), headline(params, found)
    keys = ["language", "condition", "model", "measure", "of"]
    ours, again = (table.sort_values(keys, ignore_index=True) for table in (ours, again))
    of_corpus = ours["measure"].isin(CORPUS_SCORES)
    assert of_corpus.sum() and again.loc[of_corpus, ["low", "high"]].isna().all(axis=None)
    ours.loc[of_corpus, ["low", "high"]] = np.nan
    pd.testing.assert_frame_equal(ours, again, rtol=1e-12)


def test_results_follow_from_outcomes(params):
    assert_headline_follows(params, list(outcomes(params)))
    both = params.model_copy(update={"contexts": [], "dictionary": "induced", "models": {"random": "dummy-zero"}})
    assert_headline_follows(both, list(outcomes(both)))


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_results_follow_from_a_file_of_outcomes(params, form, tmp_path):
    write_outcomes(outcomes(params, texts=True), tmp_path / f"outcomes.{form}", form)
    assert_headline_follows(params, list(read_outcomes(tmp_path / f"outcomes.{form}")))


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_results_follow_from_the_outcomes_of_any_run(params, tmp_path, random):
    """Runs of any sentences, some of them twice, with a word of the target language anywhere."""

    def text() -> str:
        return " ".join(random.choices(["ils", "meurent", "seau", "cognent", "."], k=random.randint(1, 4)))

    places = [*PLACES, *random.choices(PLACES, k=random.randint(0, 3))]
    drawn = [
        IdiomPair(str(n), f"They kick the bucket {place} .", text(), "kick the bucket", ((5, 20),))
        for n, place in enumerate(places)
    ]
    write_idiom_pairs(drawn, *(tmp_path / name for name in ("set.en", "set.fr", "set.spans.en")))
    news = [f"{pair.source}\t{pair.target}\n" for pair in drawn]
    (tmp_path / "news.tsv").write_text("".join([*news, *news[:2]]), encoding="utf-8")
    said = {pair.source: text() for pair in drawn}
    register(Dummy(lambda text: said[text]))
    plain = params.model_copy(update={"contexts": [], "conditions": ["zero"]})
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as cache:
        patch.setenv("NBKIT_CACHE", cache)
        for name in ("corpus_bleu", "corpus_chrf"):  # resampling takes most of the time, and is not compared
            patch.setattr(steps, name, partial(getattr(texts, name), resamples=0))
        assert_headline_follows(plain, list(outcomes(plain)))


def test_what_litter_decides_and_why(params, tmp_path):
    found = pd.concat(outcomes(params, texts=True))
    litter = found[found["measure"] == "litter"]
    assert len(litter) == 4 * (2 + 2)
    assert idioms.STUDY.used(params, Store()) == {"n_test": [4]}
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


def test_probes_are_treatments_of_the_sentence(params):
    found = pd.concat(outcomes(params))
    probes = found[found["measure"] == "probe/perplexity"]
    assert set(probes["system"]) == {"random, zero", "random, joint"}
    assert probes.groupby("system")["item"].nunique().eq(4 * 3).all()
    effects = idioms.context_effects(params).query("measure == 'perplexity'")
    of = {(row["condition"], row["context"]): row["value"] for _, row in effects.iterrows()}
    for context in CONTEXTS:
        own = [groups["context"] == context and groups["condition"] == "zero" for groups in probes["groups"]]
        surprise, subwords = np.array(list(probes.loc[own, "sums"])).sum(axis=0)
        assert np.exp(-surprise / subwords) == pytest.approx(of["zero", context])


def test_corpus_scores_add_up_and_are_no_means(params):
    found = pd.concat(outcomes(params, texts=True))
    bleu = found[(found["measure"] == "bleu/news") & (found["system"] == "random, zero")]
    assert len(bleu) == 2 and set(bleu["groups"].map(lambda groups: groups["set"])) == {"news"}
    assert {tuple(map(len, rows)) for rows in (found.loc[found["measure"] == f"{name}/news", "sums"]
                                               for name in CORPUS_SCORES)} == {(10,) * 8, (18,) * 8}  # fmt: skip
    scores = idioms.global_scores(params).query("of == 'idiom-test' and measure == 'bleu' and condition == 'zero'")
    parts = found[(found["measure"] == "bleu/idiom-test") & (found["system"] == "random, zero")]
    assert parts["value"].mean() != pytest.approx(scores["value"].iloc[0])


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
    monkeypatch.setattr(steps, "_CHUNK", 3)
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "other"))
    assert ids(mined) == whole
    assert {key: before[key] for key in before.keys() & whole.keys()}.items() <= whole.items()


def test_identical_sentences_are_one_item(params, tmp_path):
    (tmp_path / "news.tsv").write_text("It is here .\tCela est ici .\n" * 3, encoding="utf-8")
    found = pd.concat(outcomes(params))
    news = found[(found["measure"] == "bleu/news") & (found["system"] == "references")]
    assert news["count"].tolist() == [3]
    assert_headline_follows(params, list(outcomes(params)))
    assert not found.duplicated(["system", "item", "measure"]).any()
