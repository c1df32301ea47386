"""The study's definitions, on translators whose answers are known and against scores computed the long way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from nbkit.errors import NbkitError, ParamsError
from nbkit.languages import TARGETS
from nbkit.metrics.tokens import cut
from nbkit.models import remember
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS, Perturbation
from nbkit.store import Store
from nbkit.studies import STUDIES, word_order
from nbkit.studies.word_order import WordOrderParams, per_sentence
from nbkit.studies.word_order import variants as variants_module
from nbkit.studies.word_order.relations import length_groups

from .conftest import Dummy, trees

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
    store = Store()
    pairs = variants_module.read_chunk(params, "de", 0, store)
    variants = {(v.pair, v.perturbation): v for v in variants_module.variants(params, pairs, 0)}
    bleu = sacrebleu.BLEU(tokenize="none", effective_order=True)

    def kappa(hypothesis: str, reference: str, lang: str) -> float:
        one, other = (" ".join(cut(text, lang)) for text in (hypothesis, reference))
        return bleu.sentence_score(one, [other]).score / 100

    table = word_order.scores(params)
    table = table[table["metric"] == "bleu"]
    assert len(table) == len(variants)
    for row in table.itertuples():
        variant, pair = variants[row.pair, row.perturbation], pairs[row.pair]
        perturbed_translation = variant.perturbed_source  # word for word
        assert row.beta == pytest.approx(kappa(pair.source.text, pair.target.text, "de"))
        assert row.beta1 == pytest.approx(kappa(perturbed_translation, pair.target.text, "de"))
        assert row.beta2 == pytest.approx(kappa(perturbed_translation, variant.perturbed_reference, "de"))
        assert row.alpha_source == pytest.approx(kappa(variant.perturbed_source, pair.source.text, "en"))
        assert row.alpha_target == pytest.approx(kappa(variant.perturbed_reference, pair.target.text, "de"))
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


def test_similarity_is_symmetric_with_ones_on_the_diagonal(params):
    table = word_order.similarity(params)
    wide = table[(table["side"] == "source") & (table["metric"] == "levenshtein")].pivot(
        index="perturbation_a", columns="perturbation_b", values="kappa"
    )
    values = wide.to_numpy()
    assert np.allclose(values, values.T, equal_nan=True)
    assert np.allclose(np.diag(values), 1)
    assert set(wide.columns) == set(NAMES)


def test_chunks_change_nothing(params, faithful, monkeypatch):
    whole = word_order.scores(params)
    for module in (variants_module, per_sentence):
        monkeypatch.setattr(module, "CHUNK", 5)
    pd.testing.assert_frame_equal(word_order.scores(params), whole)


def test_limited_to_the_first_pairs_is_a_part_of_the_whole(params, faithful):
    whole = word_order.scores(params)
    part = word_order.scores(params.model_copy(update={"n_pairs": 7}))
    expected = whole[whole["pair"] < 7].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, expected)


def test_without_models_only_the_perturbations_are_studied(params):
    alone = params.model_copy(update={"models": []})
    assert word_order.scores(alone).empty
    assert not word_order.counts(alone).empty
    assert not word_order.difficulty(alone).empty
    for function in (
        "quality",
        "by_perturbation",
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


def test_models_are_compared_pair_by_pair(params, monkeypatch):
    from nbkit.models import remember

    known = {"./dummy": Dummy(lambda text: text), "./other": Dummy(lambda text: " ".join(reversed(text.split())))}
    monkeypatch.setattr(remember, "kept_translator", lambda name, *args, **kwargs: known[name])
    monkeypatch.setattr(remember, "translation_config", lambda name, *_, **__: {"kind": "t", "model": {"name": name}})
    monkeypatch.setattr(WordOrderParams, "model_key", lambda self, language, model: {"name": model})
    tests = word_order.model_tests(params.model_copy(update={"models": ["./dummy", "./other"]}))
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
        ({"beams": 0}, "greater than or equal to 1"),
        ({"dtype": "flot32"}, "float32"),
        ({"device": "gpu"}, "cuda"),
        ({"parsers": {"dee": "de_core_news_sm"}}, "did you mean 'de'"),
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
    assert any("no last pair" in problem for problem in problems)
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
    monkeypatch.setattr(remember, "model_identity", identity)
    monkeypatch.setattr(per_sentence, "ensure_model", lambda name, *_: here.append(name))
    hub = params.model_copy(update={"models": ["some/model"]})
    assert STUDIES.get("word_order").units(hub)[0].label == "download model de"
    word_order.scores(hub)
    assert here == ["some/model"]
    assert [unit.label for unit in STUDIES.get("word_order").units(hub)] == ["texts de", "translate model de"]
    asked = len(robust.asked)
    word_order.scores(hub)
    assert len(robust.asked) == asked and here == ["some/model"]


def test_length_groups_cover_all_lengths_once():
    lengths = [4] * 50 + [5] * 3 + [6, 7, 8, 9, 20]
    groups = length_groups(lengths)
    assert groups[0][0] == 4 and groups[-1][1] == 20
    assert all(a[1] < b[0] for a, b in pairwise(groups))
    assert all(any(low <= n <= high for low, high in groups) for n in lengths)
