"""The study's definitions, on translators whose answers are known and against scores computed the long way."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from nbkit.errors import NbkitError, ParamsError
from nbkit.languages import TARGETS
from nbkit.measure.bleu import BleuAsCoded, cut
from nbkit.measure.statistics import mean_interval
from nbkit.models import MODELS
from nbkit.models.translators import lifecycle
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS, Perturbation, View
from nbkit.store import Store
from nbkit.studies import STUDIES, engine, word_order
from nbkit.studies.word_order import WordOrderParams, steps
from nbkit.studies.word_order.steps import flip_criteria
from nbkit.studies.word_order.tables import length_groups

from .conftest import Dummy, tables_of, trees, zero_widths

DETERMINISTIC = [name for name in NAMES if not PERTURBATIONS.get(name).random]


def test_a_faithful_translator_has_full_faithfulness_where_nothing_is_drawn(params, faithful):
    table = word_order.scores(params)
    fixed = table[table["perturbation"].isin(DETERMINISTIC)]
    assert set(fixed["perturbation"]) == set(DETERMINISTIC)
    assert np.allclose(fixed["beta2"], 1)
    assert np.allclose(fixed["beta1"], fixed["alpha_source"])
    assert np.allclose(table["beta"], 1)
    assert (word_order.preference(params)["difference"] < 0).all()


def test_a_faithful_translators_draws_are_at_chance(params, faithful):
    """Source and reference are perturbed by independent draws, so word by word is as good as another draw."""
    table = word_order.scores(params)
    drawn = table[(table["perturbation"] == "word_shuffle") & (table["metric"] == "levenshtein")]
    assert drawn["chance"].notna().all()
    assert (drawn["beta2"] < 1).any()
    assert abs(drawn["beta2"].mean() - drawn["chance"].mean()) < 0.15
    assert table[table["perturbation"].isin(DETERMINISTIC)]["chance"].isna().all()


def test_a_robust_translator_has_full_robustness(params, robust):
    table = word_order.scores(params)
    assert np.allclose(table["beta1"], 1)
    assert np.allclose(table["beta2"], table["alpha_target"])
    assert (word_order.preference(params)["difference"] > 0).all()
    assert word_order.flips(params)["flips"].sum() == 0  # β is 1 already
    assert word_order.flip_samples(params).empty


def test_every_text_is_translated_once_and_a_rerun_asks_nothing(params, robust: Dummy):
    word_order.scores(params)
    assert len(robust.asked) == len(set(robust.asked))
    asked = len(robust.asked)
    again = params.model_copy(update={"metrics": ["bleu"]})  # other tables, the same translations
    word_order.scores(again)
    word_order.samples(params)
    assert len(robust.asked) == asked


def test_scores_are_kappa_of_what_the_definitions_say(params, faithful):
    """β, β1, β2 and α of §3, recomputed with sacreBLEU from the texts themselves."""
    chunk = steps.read_chunk(params, "de", 0, Store())
    pairs, variants = chunk.pairs, {(v.index, v.perturbation): v for v in chunk.variants()}
    bleu = sacrebleu.BLEU(tokenize="none", effective_order=True)

    def kappa(hypothesis: str, reference: str, lang: str) -> float:
        one, other = (" ".join(cut(text, lang)) for text in (hypothesis, reference))
        return bleu.sentence_score(one, [other]).score / 100

    table = word_order.scores(params)
    table = table[table["metric"] == "bleu"]
    assert len(table) == len(variants)
    for row in table.itertuples():
        variant, pair = variants[row.pair, row.perturbation], pairs[row.pair]
        perturbed_translation = variant.source  # word for word
        assert row.beta == pytest.approx(kappa(pair.source.text, pair.target.text, "de"))
        assert row.beta1 == pytest.approx(kappa(perturbed_translation, pair.target.text, "de"))
        assert row.beta2 == pytest.approx(kappa(perturbed_translation, variant.reference, "de"))
        assert row.alpha_source == pytest.approx(kappa(variant.source, pair.source.text, "en"))
        assert row.alpha_target == pytest.approx(kappa(variant.reference, pair.target.text, "de"))
        assert row.length == len(pair.source)


def test_n_counts_pairs_in_which_both_sides_can_be_perturbed(params, faithful):
    counts = word_order.counts(params).set_index("perturbation")
    table = word_order.scores(params)
    for name in NAMES:
        n = table[(table["perturbation"] == name) & (table["metric"] == "bleu")]["pair"].nunique()
        assert counts.loc[name, "n"] == n
    assert (counts["total"] == len(trees())).all()
    left_out = word_order.left_out(params)
    control = table[(table["perturbation"] == CONTROL) & (table["metric"] == "bleu")]
    assert left_out["n"].sum() + len(control) == len(trees())


def test_the_control_scores_as_the_original_whatever_the_spacing(params, faithful):
    both = params.model_copy(update={"spacings": ["joined", "original"]})
    effect = word_order.spacing_effect(both)
    assert set(effect["spacing"]) == {"joined", "original"}
    assert np.allclose(effect["control"], effect["beta"])


def test_means_are_means_and_lie_in_their_intervals(params, faithful):
    table = word_order.scores(params)
    means = word_order.by_perturbation(params)
    assert list(dict.fromkeys(means["perturbation"])) == [CONTROL, *NAMES]
    for row in means.itertuples():
        own = table[(table["perturbation"] == row.perturbation) & (table["metric"] == row.metric)]
        assert row.n == len(own)
        for score in ("beta", "beta1", "beta2"):
            assert getattr(row, score) == pytest.approx(own[score].mean())
            low, high = getattr(row, f"{score}_low"), getattr(row, f"{score}_high")
            assert low - 1e-9 <= getattr(row, score) <= high + 1e-9
    overall = word_order.preference(params).set_index("metric")
    perturbed = means[means["perturbation"] != CONTROL]
    for metric, group in perturbed.groupby("metric"):
        assert overall.loc[metric, "difference"] == pytest.approx(group["difference"].mean())  # every Ψ counts once


def test_sums_of_blocks_are_those_of_all_rows_whatever_the_chunks(params, faithful, monkeypatch):
    """Every table, and its intervals, is the same if pairs come five at a time."""
    names = ("by_perturbation", "preference", "similarity_of_languages", "difficulty", "flips", "correlations")
    whole = {name: getattr(word_order, name)(params) for name in names}
    drawn = word_order.samples(params)
    monkeypatch.setattr(steps, "CHUNK", 5)
    for name in names:
        pd.testing.assert_frame_equal(getattr(word_order, name)(params), whole[name], check_exact=False, rtol=1e-6)
    pd.testing.assert_frame_equal(word_order.samples(params), drawn)


def test_flips_are_counted_and_pooled(params, translator):
    """A translator that is helped by some orders: β1 > β, counted the long way."""
    translator(lambda text: text if text.split()[0].islower() else " ".join(reversed(text.split())))
    table = word_order.scores(params)
    table = table[table["perturbation"] != CONTROL]
    flipped = table[table["beta1"] > table["beta"]]
    assert len(flipped)
    counted = word_order.flips(params).set_index(["perturbation", "metric"])
    for key, group in table.groupby(["perturbation", "metric"], observed=True):
        assert counted.loc[key, "n"] == len(group)
        assert counted.loc[key, "flips"] == (group["beta1"] > group["beta"]).sum()
    pooled = word_order.flips(params, by=["language", "model"]).set_index("metric")
    for metric, group in table.groupby("metric", observed=True):
        row = pooled.loc[metric]
        assert (row["flips"], row["n"]) == ((flipped["metric"] == metric).sum(), len(group))
        assert row["low"] < row["share"] < row["high"] or row["share"] == 0


def test_flips_are_counted_by_the_inferred_criterion_too(params, translator):
    translator(lambda text: text if text.split()[0].islower() else " ".join(reversed(text.split())))
    table = word_order.scores(params)
    table = table[table["perturbation"] != CONTROL]
    counted = word_order.flips(params).set_index(["perturbation", "metric"])
    assert 0 < counted["inferred"].sum() < counted["flips"].sum()
    for key, group in table.groupby(["perturbation", "metric"], observed=True):
        expected = ((group["beta"] <= 0.5) & (group["beta1"] > 0.5)).sum()
        assert counted.loc[key, "inferred"] == expected
        assert counted.loc[key, "inferred_share"] == pytest.approx(expected / len(group))


def test_the_printed_samples_are_where_the_inferred_criterion_comes_from():
    """All 75 have β ≤ ½, all but one β₁ > ½; β₁ > β alone says less of them."""
    samples = word_order.PUBLISHED.load("samples")
    found = flip_criteria(samples)
    assert len(samples) == 75 and found["flip"].all()
    assert (samples["beta"] <= 0.50).all()
    assert (samples["beta1"] > 0.50).sum() == found["flip_inferred"].sum() == 74


def test_quality_as_coded_is_the_mean_of_the_research_codes_bleu(params, translator, monkeypatch):
    """On the pairs of β, whatever the chunks; the translator says the reference without its first two words."""
    translator(lambda text: " ".join(text.split()[2:]))
    pairs = steps.read_chunk(params, "de", 0, Store()).pairs
    used = [pair.target.text for pair in pairs if len(pair.source) >= params.min_tokens]
    expected = BleuAsCoded().scores([" ".join(text.split()[2:]) for text in used], used, "de")
    assert 0 < expected.mean() < 1
    row = word_order.quality_as_coded(params).iloc[0]
    assert row["beta"] == pytest.approx(expected.mean()) and row["n"] == len(used)
    assert row["n"] == word_order.quality(params)["n"].iloc[0]
    monkeypatch.setattr(steps, "CHUNK", 5)
    assert word_order.quality_as_coded(params).iloc[0]["beta"] == pytest.approx(expected.mean())


def test_a_mean_over_perturbations_leaves_out_those_of_few_pairs(params, faithful):
    """N = 5 would weigh as much as N = 150; they are named instead, and shown wherever perturbations are told apart."""
    counts = word_order.counts(params).set_index("perturbation")["n"]
    limit = int(counts.median())
    limited = params.model_copy(update={"min_n": limit})
    small = word_order.below_min_n(limited)
    assert small["n"].tolist() == counts[(counts > 0) & (counts < limit)].tolist() != []
    means = word_order.by_perturbation(limited)
    assert set(small["perturbation"]) < set(means["perturbation"])
    enough = means[(means["perturbation"] != CONTROL) & (means["n"] >= limit)]
    overall = word_order.preference(limited).set_index("metric")["difference"]
    for metric, group in enough.groupby("metric"):
        assert overall[metric] == pytest.approx(group["difference"].mean())
    by_name = word_order.preference_by_perturbation(limited)
    assert set(by_name["perturbation"]) == set(enough["perturbation"])
    beyond = params.model_copy(update={"min_n": 10_000})
    assert word_order.preference(beyond).empty and len(word_order.below_min_n(beyond)) == (counts > 0).sum()


def test_chance_counts_only_draws_of_more_than_one_outcome(params, faithful):
    """Two verbs allow one order: as chance it would be 1 whatever a model does."""
    pairs = steps.read_chunk(params, "de", 0, Store()).pairs
    verbs = {i: View(pair.target.sentences[0]).verbs for i, pair in enumerate(pairs) if len(pair.target.sentences) == 1}
    table = word_order.scores(params).query("perturbation == 'verb_swaps' and metric == 'bleu'")
    two = [len(verbs[pair]) == 2 for pair in table["pair"]]
    assert any(two) and not all(two)
    assert table["chance"].isna().tolist() == two
    row = word_order.by_perturbation(params).query("perturbation == 'verb_swaps' and metric == 'bleu'").iloc[0]
    assert row["chance_n"] == len(two) - sum(two) < row["n"] == len(two)
    assert row["chance"] == pytest.approx(table["chance"].mean())


def test_the_interval_of_a_similarity_is_that_of_its_pairs(params):
    """Pooled over two languages that say the same, means stay, and intervals too: the pairs are the same pairs."""
    table = steps.similarity_chunk(params, "de", 0)
    one = table[(table["side"] == "source") & (table["metric"] == "levenshtein")]
    one = one[(one["perturbation_a"] == "noun_swaps") & (one["perturbation_b"] == "reversed")]
    row = word_order.similarity(params).set_index(["side", "metric", "perturbation_a", "perturbation_b"])
    row = row.loc[("source", "levenshtein", "noun_swaps", "reversed")]
    expected = mean_interval(one["kappa"].to_numpy(), within=(0, 1))
    assert (row["kappa"], row["n"]) == (pytest.approx(expected.mean), expected.n)
    width = expected.high - expected.low
    assert [row["low"], row["high"]] == pytest.approx([expected.low, expected.high], abs=0.2 * width)
    pooled = word_order.similarity_of_languages(params).set_index(
        ["side", "metric", "perturbation_a", "perturbation_b"]
    )
    same = pooled.loc[("source", "levenshtein", "noun_swaps", "reversed")]
    assert (same["kappa"], same["low"], same["high"]) == (row["kappa"], row["low"], row["high"])


def test_memory_does_not_grow_with_the_grid(params, monkeypatch, tmp_path):
    """A grid of many models keeps no more of its rows than one model does."""

    def chunk(params, language, model, start, store):
        rows = 8_000
        names = pd.Categorical(np.tile(NAMES, rows // 16), categories=[CONTROL, *NAMES])
        values = np.random.default_rng(0).random((3, rows))
        scores = dict(zip(("beta", "beta1", "beta2"), values, strict=True))
        return pd.DataFrame({
            "language": language, "model": model, "pair": np.arange(rows) // 16, "perturbation": names,
            "spacing": "joined", "metric": "bleu", "length": 9, **scores, "chance": np.nan,
        })  # fmt: skip

    monkeypatch.setattr(steps, "score_chunk", chunk)
    monkeypatch.setattr(steps, "n_pairs", lambda *_: 500)
    monkeypatch.setattr(WordOrderParams, "model_key", lambda params, language, model: {"model": model})

    def peak(models: int) -> int:
        grid = params.model_copy(update={"models": [f"./m{i}" for i in range(models)], "metrics": ["bleu"]})
        store = Store(tmp_path / str(models))  # nothing is remembered there
        tracemalloc.start()
        word_order.preference(grid, store)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)  # what is loaded and cached on first use
    assert peak(9) < 1.1 * peak(2)


def test_similarity_is_symmetric_with_ones_on_the_diagonal(params):
    table = word_order.similarity(params)
    wide = table[(table["side"] == "source") & (table["metric"] == "levenshtein")].pivot(
        index="perturbation_a", columns="perturbation_b", values="kappa"
    )
    values = wide.to_numpy()
    assert np.allclose(values, values.T, equal_nan=True)
    assert np.allclose(np.diag(values), 1)
    same = table["perturbation_a"] == table["perturbation_b"]
    assert table.loc[same, ["low", "high"]].isna().all(axis=None), "1 by definition, not of a sample"
    others = table[~same]
    assert others["kappa"].between(others["low"] - 1e-9, others["high"] + 1e-9).all()
    assert set(wide.columns) == set(NAMES)


def test_chunks_change_nothing(params, faithful, monkeypatch):
    whole = word_order.scores(params)
    monkeypatch.setattr(steps, "CHUNK", 5)
    pd.testing.assert_frame_equal(word_order.scores(params), whole)


def test_limited_to_the_first_pairs_is_a_part_of_the_whole(params, faithful):
    whole = word_order.scores(params)
    part = word_order.scores(params.model_copy(update={"n_pairs": 7}))
    expected = whole[whole["pair"] < 7].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, expected)


def test_languages_may_have_numbers_of_pairs_of_their_own(params):
    both = params.model_copy(update={"models": []})
    mapped = WordOrderParams(**both.model_dump() | {"n_pairs": {"de": 7, "es": 10_000}})
    alone = both.model_copy(update={"n_pairs": 7})
    pd.testing.assert_frame_equal(word_order.counts(mapped), word_order.counts(alone))
    assert mapped.language_key("de") == alone.language_key("de")
    wider = WordOrderParams(languages=["de", "es"], models=["opus-mt"], n_pairs={"de": 7, "es": 2001})
    assert [cell.params.n_pairs for cell in STUDIES.get("word_order").cells(wider)] == [7, 2001]
    labels = [unit.label for unit in STUDIES.get("word_order").units(wider) if unit.stage == 1]
    assert labels[0] == "sums of texts es" and labels[1] == "translate Helsinki-OPUS de"
    assert labels[2:] == [f"translate Helsinki-OPUS es 0 {part}/10" for part in range(1, 11)]  # 2001 · 18 texts


def test_a_whole_corpus_is_cut_into_units_where_it_can_be_counted(params, faithful, tmp_path, monkeypatch):
    (tmp_path / "pairs.tsv").write_text("a b c d\te f g h\n" * 11 + "malformed\n", encoding="utf-8")
    monkeypatch.setattr(steps, "CHUNK", 5)
    study = STUDIES.get("word_order")
    counted = params.model_copy(update={"corpus": str(tmp_path / "pairs.tsv")})
    labels = {stage: [u.label for u in study.units(counted) if u.stage == stage] for stage in range(4)}
    assert labels[0] == ["texts de 0", "texts de 5", "texts de 10"]
    assert labels[1] == ["sums of texts de", "translate dummy de 0"]
    assert labels[2] == ["score dummy de 0", "score dummy de 5", "score dummy de 10"]
    assert labels[3] == ["sums of dummy de"]
    whole = ["texts de", "translate dummy de", "score dummy de"]
    assert [unit.label for unit in study.units(params)] == whole  # has to be parsed
    missing = params.model_copy(update={"corpus": str(tmp_path / "none.tsv")})
    assert [unit.label for unit in study.units(missing)] == whole


def test_units_cut_finely_give_the_same_and_none_translates_what_another_does(params, robust, monkeypatch):
    """Chunks of five pairs, four a span, parts of about forty texts: the tables are those of the whole."""
    whole = word_order.scores(params)
    asked = sorted(robust.asked)
    robust.asked.clear()
    monkeypatch.setattr(steps, "CHUNK", 5)
    monkeypatch.setattr(steps, "PART_TEXTS", 40)
    cut = params.model_copy(update={"n_pairs": len(trees())})
    units = STUDIES.get("word_order").units(cut, count=True)
    assert len([unit for unit in units if unit.stage == 1]) > 10
    again = Store(str(Store().url) + "-again")
    monkeypatch.setattr(engine, "Store", lambda: again)
    said = 0
    for unit in units:
        done = getattr(steps, unit.function.partition(":")[2]).work(**unit.arguments)
        said += done if unit.label.startswith("translate") else 0
    assert sorted(robust.asked) == asked and said == len(asked)
    pd.testing.assert_frame_equal(word_order.scores(cut, again), whole)
    assert sorted(robust.asked) == asked
    after = STUDIES.get("word_order").units(cut, count=True, store=again)
    assert all(unit.stored == unit.texts for unit in after)
    beyond = params.model_copy(update={"n_pairs": 10_000})
    assert steps.score_texts.work(params=beyond.model_dump(mode="json"), language="de", start=9_995) == 0


def test_what_was_never_read_is_counted_without_parsing_it(params, faithful, tmp_path, monkeypatch):
    """A dry run of raw text parses nothing (here it could not): it says how many texts there are at most."""
    monkeypatch.setattr("nbkit.corpora.corpus.parser_identity", lambda spec, lang: {"parser": spec})
    (tmp_path / "pairs.tsv").write_text("a b c d\te f g h\n" * 11, encoding="utf-8")
    raw = params.model_copy(update={"corpus": str(tmp_path / "pairs.tsv")})
    units = STUDIES.get("word_order").units(raw, count=True)
    assert [(unit.texts, unit.stored) for unit in units] == [(11, 0), (11 * 18, 0), (0, 0)]


def test_texts_are_scored_once_and_their_unit_says_how_many(params):
    study = STUDIES.get("word_order")
    (before,) = study.units(params.model_copy(update={"models": []}), count=True)
    assert (before.texts, before.stored) == (len(trees()), 0)
    assert steps.score_texts.work(**before.arguments) == len(trees())
    (after,) = study.units(params.model_copy(update={"models": []}), count=True)
    assert (after.texts, after.stored) == (len(trees()), len(trees()))
    assert steps.score_texts.work(**after.arguments) == 0


def test_without_models_only_the_perturbations_are_studied(params):
    alone = params.model_copy(update={"models": []})
    assert word_order.scores(alone).empty
    assert not word_order.counts(alone).empty
    assert not word_order.difficulty(alone).empty
    for function in (
        "quality",
        "quality_as_coded",
        "by_perturbation",
        "by_perturbation_of_models",
        "robust_and_faithful",
        "scores_by_difficulty",
        "preference",
        "preference_by_perturbation",
        "flips",
        "flip_samples",
        "correlations",
        "length_effect",
        "length_correlations",
        "model_tests",
        "spacing_effect",
        "samples",
    ):
        table = getattr(word_order, function)(alone)
        assert table.empty and len(table.columns) > 4, function


def test_an_average_over_models_is_the_mean_of_their_means(params):
    MODELS.register("dummy", Dummy(lambda text: text))
    MODELS.register("other", Dummy(lambda text: " ".join(reversed(text.split()))))
    both = params.model_copy(update={"models": ["dummy", "other"]})
    each, together = word_order.by_perturbation(both), word_order.by_perturbation_of_models(both)
    keys = ["language", "perturbation", "metric", "spacing"]
    means = each[each["perturbation"] != "control"].groupby(keys)[["beta1", "beta2"]].mean()
    found = together[together["perturbation"] != "control"].set_index(keys)
    assert len(found) == len(means) > 5
    np.testing.assert_allclose(found[["beta1", "beta2"]].sort_index(), means.sort_index())
    assert (found["beta1_low"] <= found["beta1"]).all() and (found["beta1"] <= found["beta1_high"]).all()


def test_scores_by_difficulty_and_against_each_other_are_those_of_the_sentences(params):
    MODELS.register("dummy", Dummy(lambda text: text))
    one = params.model_copy(update={"models": ["dummy"], "metrics": ["bleu", "levenshtein"]})
    scores, alphas = word_order.scores(one), word_order.difficulties(one)
    own = scores[(scores["metric"] == "bleu") & (scores["perturbation"] != "control")]
    own = own[own["spacing"] == one.spacings[0]]
    alpha = alphas[alphas["metric"] == "levenshtein"].set_index(["pair", "perturbation"])["alpha_source"]
    found = word_order.scores_by_difficulty(one).query("metric == 'bleu' and score == 'beta2'")
    assert set(found["difficulty"]) == {"levenshtein"} and len(found) > 3
    for row in found.itertuples():
        at = [alpha[key] for key in zip(own["pair"], own["perturbation"], strict=True)]
        inside = own[[row.alpha_low <= a and (a < row.alpha_high or row.alpha_high == 1) for a in at]]
        assert (row.n, row.mean) == (inside["pair"].nunique(), pytest.approx(inside["beta2"].mean()))
    (rho,) = word_order.robust_and_faithful(one).query("metric == 'bleu'")["rho"]
    assert rho == pytest.approx(own["beta1"].rank().corr(own["beta2"].rank()))


def test_models_are_compared_pair_by_pair(params):
    MODELS.register("dummy", Dummy(lambda text: text))
    MODELS.register("other", Dummy(lambda text: " ".join(reversed(text.split()))))
    tests = word_order.model_tests(params.model_copy(update={"models": ["dummy", "other"]}))
    row = tests[
        (tests["perturbation"] == "tree_mirror_pre") & (tests["metric"] == "bleu") & (tests["score"] == "beta2")
    ]
    assert len(row) == 1
    assert row["mean_a"].item() == pytest.approx(1) and row["difference"].item() > 0 and row["effect"].item() > 0.9
    assert (tests["p_corrected"] >= tests["p"]).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"languges": ["de"]}, "did you mean 'languages'"),
        ({"languages": ["xx"]}, "unknown language 'xx'"),
        ({"languages": ["en"]}, "both the source and a target"),
        ({"languages": []}, "at least 1"),
        ({"perturbations": ["tree_miror_pre"]}, "did you mean 'tree_mirror_pre'"),
        ({"metrics": ["blue"]}, "did you mean 'bleu'"),
        ({"kappa": "chrf", "metrics": ["bleu"]}, "not among the metrics"),
        ({"metric_options": {"bleu": {"max_ordr": 2}}}, "did you mean 'max_order'"),
        ({"spacings": ["glued"]}, "joined"),
        ({"n_pairs": 0}, "at least 1, found 0"),
        ({"n_pairs": True}, "at least 1, found True"),
        ({"n_pairs": "all"}, "at least 1, found 'all'"),
        ({"n_pairs": {"de": 5, "xx": 5}}, "unknown language 'xx'"),
        ({"n_pairs": {"de": None}}, "found None for de"),
        ({"n_pairs": {"fr": 5}}, "n_pairs gives no number for de"),
        ({"beams": 0}, "must be at least 1"),
        ({"dtype": "flot32"}, "float32"),
        ({"device": "gpu"}, "cuda"),
        ({"parsers": {"deu": "de_core_news_sm"}}, "did you mean 'de'"),
        ({"models": ["old/{src}-{tgt}/m30k", "new/{src}-{tgt}/m30k"]}, "would both be called 'm30k'"),
    ],
)
def test_bad_parameters_are_named(values, message):
    with pytest.raises(ParamsError, match=message):
        WordOrderParams.checked(values, "params.yaml")


def test_the_papers_spellings_and_any_order_are_taken():
    params = WordOrderParams(perturbations=["reversed", "TreeMirrorPo"], languages=["ja", "de"])
    assert params.perturbation_names == ["tree_mirror_post", "reversed"]
    assert params.languages == ["de", "ja"]


def test_problems_are_found_before_any_model_is_loaded(copies):
    params = WordOrderParams(corpus=copies, languages=["de"], models=["./nowhere"])
    assert any("nowhere" in problem for problem in STUDIES.get("word_order").problems(params))
    elsewhere = WordOrderParams(corpus="pudd", models=[])
    assert any("did you mean 'pud'" in problem for problem in STUDIES.get("word_order").problems(elsewhere))


def test_a_corpus_without_end_and_a_device_that_is_not_there_are_problems():
    params = WordOrderParams(n_pairs=None, device="cuda:99")
    problems = STUDIES.get("word_order").problems(params)
    assert any("is unbounded" in problem for problem in problems)
    assert any("device 'cuda:99'" in problem for problem in problems)


def test_a_corpus_without_pairs_is_an_error_that_says_so(params, tmp_path):
    for lang in ("en", "de"):
        (tmp_path / f"{lang}.conllu").write_text("", encoding="utf-8")
    with pytest.raises(NbkitError, match="holds no usable pair en-de"):
        word_order.counts(params)


def test_a_corpus_file_that_is_edited_meanwhile_is_read_again(params, tmp_path):
    before = word_order.difficulties(params)
    for lang in ("en", "de"):
        path = tmp_path / f"{lang}.conllu"
        path.write_text("\n\n".join(path.read_text(encoding="utf-8").split("\n\n")[1:]), encoding="utf-8")
    after = word_order.difficulties(params)
    assert after["pair"].max() == before["pair"].max() - 1
    first = before[before["pair"] == 1]["alpha_source"].to_numpy()
    assert np.array_equal(after[after["pair"] == 0]["alpha_source"].to_numpy(), first)


def test_a_perturbation_of_ones_own_that_changes_is_computed_again(params, monkeypatch):
    monkeypatch.setattr(PERTURBATIONS, "_entries", dict(PERTURBATIONS._entries))

    def first_last(view, draws):
        return [*range(1, view.length), 0]

    def never(view, draws):
        return None

    def n_of(function) -> int:
        PERTURBATIONS.register("own", Perturbation("own", "random", (), "tokens", function), replace=True)
        return word_order.counts(params.model_copy(update={"perturbations": ["own"]}))["n"].item()

    assert n_of(first_last) > 0
    assert n_of(never) == 0
    assert "own_perturbations" not in params.language_key("de")


def test_cells_are_languages_by_models():
    params = WordOrderParams(languages=list(TARGETS), models=["opus-mt", "m2m100-418m"])
    cells = STUDIES.get("word_order").cells(params)
    assert len(cells) == 14 and len({cell.label for cell in cells}) == 14
    assert cells[0].params.languages == ["de"] and cells[0].params.models == ["opus-mt"]
    assert cells[0].tags == {"language": "de", "model": "Helsinki-OPUS", "corpus": "sandbox"}


def test_units_count_what_is_stored(params, robust):
    study = STUDIES.get("word_order")
    (unit,) = [unit for unit in study.units(params, count=True) if unit.stage == 1]
    assert unit.texts > 0 and unit.stored == 0
    word_order.scores(params)
    (unit,) = [unit for unit in study.units(params, count=True) if unit.stage == 1]
    assert unit.stored == unit.texts == len(robust.asked)


def test_a_model_of_the_hub_is_here_before_its_revision_is_part_of_a_key(params, robust, monkeypatch):
    from nbkit import models

    here: list[str] = []

    def identity(name: str, *_: str, **__: str) -> dict[str, str | None]:
        return {"hub": name, "weights": "commit" if name in here else None}

    monkeypatch.setattr(models, "model_identity", identity, raising=False)
    monkeypatch.setattr(lifecycle, "model_identity", identity)
    monkeypatch.setattr(models, "ensure_model", lambda name, *_: here.append(name), raising=False)
    MODELS.register("some/model", robust)
    hub = params.model_copy(update={"models": ["some/model"]})
    assert STUDIES.get("word_order").units(hub)[0].label == "download model en→de"
    word_order.scores(hub)
    assert here == ["some/model"]
    assert [unit.label for unit in STUDIES.get("word_order").units(hub)] == [
        "texts de",
        "translate model de",
        "score model de",
    ]
    asked = len(robust.asked)
    word_order.scores(hub)
    assert len(robust.asked) == asked and here == ["some/model"]


def test_length_groups_cover_all_lengths_once():
    lengths = [4] * 50 + [5] * 3 + [6, 7, 8, 9, 20]
    groups = length_groups(lengths)
    assert groups[0][0] == 4 and groups[-1][1] == 20
    assert all(a[1] < b[0] for a, b in pairwise(groups))
    assert all(any(low <= n <= high for low, high in groups) for n in lengths)


def test_no_interval_of_any_table_has_width_zero(params, faithful):
    """β₂ of a translator that keeps every order is 1 in every sentence, and no translation flips: both were certain."""
    found = dict(tables_of(word_order, params))
    assert sum("low" in "".join(map(str, table)) for table in found.values()) >= 10
    assert {name: ends for name, table in found.items() if (ends := zero_widths(table))} == {}
