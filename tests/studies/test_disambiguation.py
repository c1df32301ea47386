"""The disambiguation study on the sandbox and a translator whose character is known: it follows the words around."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nbkit import models
from nbkit.batch.workers import run_unit
from nbkit.errors import NbkitError, ParamsError
from nbkit.measure.literal import lemmas
from nbkit.store import Store
from nbkit.studies import STUDIES
from nbkit.studies import disambiguation as study
from nbkit.studies.disambiguation import DisambiguationParams, styled, tables
from nbkit.studies.disambiguation.pool import capped, counts_without, jaccard, ranked, rarity, source_of
from nbkit.studies.disambiguation.steps import (
    KEPT,
    OTHER,
    RIGHT,
    SEED_WRONG,
    SUCCESS,
    UNDECIDED,
    WRONG,
    _judged,
    _outcome,
    attacked_chunk,
    chunks,
)
from nbkit.studies.disambiguation.tables import _in_turns, strength
from tests.pages import Page, html, run_page

from .conftest import Dummy, registered, tables_of, zero_widths


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """Parameters, a store, and a translator that chooses senses by nothing but the words around (naive Bayes)."""
    cache = tmp_path_factory.mktemp("cache")
    patch = pytest.MonkeyPatch()
    patch.setenv("NBKIT_CACHE", str(cache))
    params = DisambiguationParams(
        models=["follower"], masked_lm=None, causal_lm=None, training_pairs=1200, n_pairs=300, bleu_pairs=20,
        aligner_pairs=800, challenge_size=40, n_seeds=40, n_samples=12, attack_size=60, per_homograph=20,
    )  # fmt: skip
    store = Store()
    known, lexicon = study.counts(params, store), params.homographs
    # Plain tables: the model may run within any page, and is none of the code that a page's key counts.
    attractors, of_homograph = known.attractors, known.of_word_and_homograph

    def likelihood(homograph: str, sense: str, words: list[str]) -> float:
        n = known.pairs[homograph, sense]
        seen = [word for word in words if of_homograph[homograph][word]]
        of_sense = attractors.get((homograph, sense), {})
        return math.log(n + 1) + sum(math.log((of_sense.get(word, 0) + 0.5) / (n + 1)) for word in seen)

    def follow(text: str) -> str:
        words = [word.strip(".,?!").lower() for word in text.split()]
        out = []
        for word in words:
            homograph = next((each for each in (word, word.rstrip("s")) if each in lexicon.homographs), None)
            if homograph is None:
                out.append(word)
                continue
            senses = lexicon.homographs[homograph].clusters
            out.append(min(max(senses, key=lambda sense: likelihood(homograph, sense.name, words)).translations))
        return " ".join(out)

    dummy = Dummy(follow)
    with registered(dummy, ["follower"]):
        yield params, store, dummy
    patch.undo()


def test_bias_predicts_the_errors_of_a_translator_that_follows_it(run):
    params, store, _ = run
    rates = study.errors(params, store).iloc[0]
    assert 0.02 < rates["rate"] < 0.6 and rates["low"] <= rates["rate"] <= rates["high"]
    found = study.correlations(params, store)
    main = found[found["main"]].set_index("measure")
    assert main.loc["freq_diff", "rbc"] > 0.25 and main.loc["freq_diff", "p"] < 1e-3
    assert main.loc["ppmi_diff", "rbc"] > 0.5 and main.loc["ppmi_diff", "p"] < 1e-5
    assert main.loc["freq_diff", "effect"] == "large" and main.loc["freq_correct", "rbc"] < 0
    assert main.loc["freq_diff", "low"] <= main.loc["freq_diff", "rbc"] <= main.loc["freq_diff", "high"]
    assert set(found["aggregate"]) == {"mean", "sum"}
    assert set(found["space"]) == {"pooled", "homograph", "published"}
    beside = study.beside_research_code(found).set_index("measure")
    assert len(beside) == len(main) and beside["as_computed"].notna().all()
    same = beside["rbc"] == beside["as_computed"]  # PPMI alone is computed otherwise
    assert same[["freq_correct", "freq_wrong", "freq_diff", "length"]].all()
    published = found[(found["space"] == "published") & (found["aggregate"] == "mean")].set_index("measure")["rbc"]
    assert beside.loc["ppmi_diff", "as_computed"] == published["ppmi_diff"]
    limits = study.thresholds(params, store)
    assert limits["threshold"].is_monotonic_increasing and (limits["base_rate"] == rates["rate"]).all()


def test_challenge_sets_are_harder_and_as_large_as_asked_for(run):
    params, store, _ = run
    found = study.challenge_errors(params, store).set_index("set")
    assert found.loc["challenge", "rate"] > found.loc["random", "rate"] and found.loc["challenge", "factor"] > 1
    assert all(len(places) == 40 for places in tables.sets(params, store).values())
    overlap = study.rare_overlap(params, store).set_index("set")
    assert overlap.loc["rare sense", "percent"] > overlap.loc["random", "percent"]


def test_senses_that_were_never_seen_are_the_rarest_and_the_only_one_seen_is_not(run, monkeypatch):
    params, store, _ = run
    pairs = study.pool(params, store)
    own = pairs["homograph"] == pairs["homograph"].mode()[0]
    seen = pairs.loc[own, "sense"].mode()[0]
    known = study.counts(params, store)
    left = Counter(
        {key: n for key, n in known.pairs.items() if key[0] != pairs["homograph"].mode()[0] or key[1] == seen}
    )
    monkeypatch.setattr(tables, "counts", lambda *_: replace(known, pairs=left))
    places = tables.sets(params.model_copy(update={"challenge_size": len(pairs)}), store)["rare sense"]
    never = (own & (pairs["sense"] != seen)).to_numpy()[places]
    only = (own & (pairs["sense"] == seen)).to_numpy()[places]
    assert never[: never.sum()].all() and only[-only.sum() :].all() and never.any()


def test_informed_attacks_beat_random_ones(run):
    params, store, _ = run
    found = study.attack_challenge(params, store).set_index("set")
    assert found.loc["challenge", "rate"] > found.loc["random", "rate"]
    assert (found["rate"] <= found["ceiling"] + 1e-12).all()
    correlations = study.attack_correlations(params, store).set_index("measure")
    assert correlations.loc["freq_diff", "rbc"] > 0


def test_samples_keep_what_they_promise(run):
    params, store, _ = run
    samples = study.generated(params, store)
    seeds = study.pool(params, store).set_index("key")
    known = study.counts(params, store)
    assert samples["sample"].is_unique and set(samples["kind"]) == {"IH", "RH", "InH", "RnH"}
    for row in samples.to_dict("records"):
        seed, sense = seeds.loc[row["key"], "source"].split(), (row["homograph"], row["sense"])
        changed = [
            step for step in difflib.SequenceMatcher(a=seed, b=row["text"].split(), autojunk=False).get_opcodes()
            if step[0] != "equal"
        ]  # fmt: skip
        assert len(changed) == 1 and max(changed[0][2] - changed[0][1], changed[0][4] - changed[0][3]) == 1
        assert row["text"][row["start"] : row["end"]] == row["attractor"]
        assert row["adversarial"] != row["sense"] and row["freq_wrong"] > 0
        if row["kind"] in ("IH", "RH"):
            assert row["attractor"] in known.sense_adjectives[sense]
    assert samples.groupby("key").size().max() <= 12


def test_success_means_right_before_and_in_the_attractors_sense_after(run):
    params, store, _ = run
    outcomes = study.attacked(params, "follower", store)
    pairs = study.pool(params, store).assign(made=study.judged(params, "follower", store=store)["outcome"])
    seed = pairs.set_index("key")["made"].reindex(outcomes["key"]).to_numpy()
    assert ((outcomes["outcome"] == SEED_WRONG).to_numpy() == (seed != RIGHT)).all()
    found = pd.concat([attacked_chunk(params, "follower", start, store=store) for start in chunks(params, store)])
    assert outcomes["sample"].tolist() == found["sample"].tolist()
    sense = found["found"].to_numpy()
    for outcome, expected in ((SUCCESS, outcomes["adversarial"]), (KEPT, outcomes["sense"]), (UNDECIDED, "")):
        own = (outcomes["outcome"] == outcome).to_numpy()
        assert (own == ((sense == expected) & (seed == RIGHT))).all()
        assert own.any() or outcome == UNDECIDED
    chosen = study.successes(params, 4, store)
    assert 0 < len(chosen) <= 4 and (chosen["seed_words"] != chosen["words"]).all()


@pytest.mark.parametrize(
    ("seed", "found", "outcome"),
    [
        (RIGHT, "water", SUCCESS),
        (RIGHT, "season", KEPT),
        (RIGHT, "coil", OTHER),
        (RIGHT, "", UNDECIDED),
        (WRONG, "water", SEED_WRONG),
        (UNDECIDED, "water", SEED_WRONG),
        (WRONG, "", SEED_WRONG),
    ],
)
def test_an_attack_comes_to_one_of_five_outcomes(seed, found, outcome):
    assert _outcome(seed, found, sense="season", adversarial="water") == outcome


def test_a_translation_is_right_wrong_or_undecided():
    assert [_judged(found, "season") for found in ("season", "water", "")] == [RIGHT, WRONG, UNDECIDED]


def test_seeds_lose_a_tenth_to_bias_and_are_drawn(run):
    params, store, _ = run
    left = study.seeds_left(params, store).set_index("fate")["n"]
    pool = len(study.pool(params, store))
    assert left.sum() == pool and left["seed"] == 40 and left["most biased"] == round(0.1 * pool)
    fates, biases = study.seeds(params, store=store)["fate"], study.pool(params, store)["freq_wrong_mean"]
    assert biases[fates == "most biased"].min() >= biases[fates == "seed"].max()


def test_what_is_left_out_adds_up(run):
    params, store, _ = run
    left = study.pool_left_out(params, store).set_index("reason")["n"]
    assert left["pairs read"] == 300 and left["in the pool"] == len(study.pool(params, store))
    assert (study.pool(params, store)["length"] >= params.min_tokens).all()


def test_nothing_is_translated_twice_and_units_fill_what_tables_need(run):
    params, store, dummy = run
    study.transfer(params, store)
    before = len(dummy.asked)
    for unit in study.STUDY.units(params, store=store):
        if ":ensure" not in unit.function:
            run_unit(unit.function, unit.arguments, {})
    study.bleu(params, store), study.success_by_kind(params, store)
    after = len(dummy.asked)
    assert after - before <= 20  # the sentences for BLEU
    assert len(set(dummy.asked)) == len(dummy.asked)


def test_a_judgement_sample_is_half_adversarial(run):
    params, store, _ = run
    sample = study.judgement_sample(params, 20, store)
    assert sample["set"].value_counts().to_dict() == {"adversarial": 10, "regular": 10}
    assert sample["sentence"].is_unique and (sample["correct"] != sample["other"]).all()


def test_cross_fitting_takes_a_part_out_of_its_own_biases(run):
    params, store, _ = run
    crossed = params.model_copy(update={"folds": 3, "test_corpora": [], "training_pairs": 300})
    pairs = study.pool(crossed, store)
    assert set(pairs["fold"]) == {0, 1, 2}
    whole = study.counts(crossed, store)
    assert whole.read == 300
    assert sum(counts_without(crossed, fold, store).read for fold in range(3)) == 600
    differ = 0
    for row in pairs.itertuples():
        words = lemmas(source_of(crossed, row._asdict()))
        without = counts_without(crossed, row.fold, store)
        expected, leaked = (
            sum(known.frequency(word, row.homograph, row.sense) for word in words) for known in (without, whole)
        )
        assert row.freq_right_sum == expected
        differ += expected != leaked
    assert differ > len(pairs) / 2  # so that biases with the part in them would be told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "at least 2"),
        ({"test_corpora": []}, "nothing to test on"),
        ({"twins": {"other": "x"}}, "not in models"),
        ({"kinds": ["IX"]}, "kinds"),
        ({"lexicon": "owm"}, "did you mean 'own'"),
        ({"annotations": {"A": "a.xlsx"}}, "or neither"),
        ({"target": "en"}, "source and target are both 'en'"),
        ({"min_token": 3}, "did you mean 'min_tokens'"),
    ],
)
def test_bad_parameters_are_told(change, message):
    with pytest.raises(ParamsError, match=message):
        DisambiguationParams.checked(change)


def test_problems_are_told_before_anything_runs(tmp_path: Path):
    params = DisambiguationParams(
        models=["nobody/knows-this-model"], masked_lm="sandbox-gpt", annotations={"A": str(tmp_path / "a.xlsx")},
        annotation_key=str(tmp_path / "k.json"),
    )  # fmt: skip
    found = "\n".join(study.STUDY.problems(params))
    assert "masked one is needed" in found and "there is no file" in found


@pytest.fixture(scope="module")
def pages(run, tmp_path_factory) -> dict[str, Page]:
    params, folder = run[0].model_dump(), tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        return {each.path: run_page(each.path, params, folder / each.path, patch) for each in study.STUDY.notebooks}


def test_pages_show_and_keep_what_the_tables_say(run, pages):
    params, store, _ = run
    for page, name, table in (
        ("error_prediction", "table3_correlations_all", study.correlations),
        ("challenge_sets", "fig1_error_rates_all", study.challenge_errors),
        ("attack_success", "fig2_kinds_all", study.success_by_kind),
        ("models", "table2_bleu_all", study.bleu),
        ("transferability", "section4_transfer_all", study.transfer),
    ):
        found, expected = pages[f"disambiguation/{page}"].frame(name), table(params, store=store)
        assert len(found) == len(expected) and list(found.columns) == list(expected.columns)
        for column in expected.select_dtypes("number"):
            assert found[column].to_numpy(float) == pytest.approx(expected[column].to_numpy(float), nan_ok=True)
    assert {name.partition("/")[2]: len(page.figures) for name, page in pages.items() if page.figures} == {
        "models": 1, "attractors": 1, "error_prediction": 2, "challenge_sets": 1, "attack_success": 3,
        "model_card": 3,  # transferability needs two models and says so
    }  # fmt: skip
    for page in pages.values():
        assert "Where these results come from" in html(list(page.shown.values())[-1])
        assert len([name for name in page.kept if name.startswith("figures/") and ".column." not in name]) == len(
            page.figures
        )
        copies = [path.read_text(encoding="utf-8") for name, path in page.kept.items() if name.endswith(".texts.csv")]
        assert not any("<span" in copy for copy in copies)  # marks are for reading, not for a spreadsheet


def test_one_sentence_by_hand_comes_to_what_the_study_finds(run, pages):
    params, store, _ = run
    values = pages["disambiguation/error_prediction"].values
    pair = values["one"].iloc[0]
    means = values["words"].mean(numeric_only=True)
    assert means["FREQ✓"] == pytest.approx(pair["freq_right_mean"])
    assert means["FREQ✗"] == pytest.approx(pair["freq_wrong_mean"])
    assert means["PPMI✓"] == pytest.approx(pair["ppmi_right_mean"])
    assert pair["gap"] == pytest.approx(values["gap"].max())
    judged = study.judged(params, params.models[0], store=store).set_index("key").loc[pair["key"]]
    assert values["hypotheses"] == [judged["hypothesis"]]
    if judged["found"]:
        assert judged["found"] in values["clusters"].values()


def test_a_footer_says_what_tables_call_a_model():
    assert "Transformer is sandbox-wsd-marian" in str(styled.footer(DisambiguationParams()))


def test_every_artefact_of_the_paper_is_named_by_its_number(pages):
    names = [*(f"fig{n}" for n in range(1, 4)), *(f"table{n}" for n in range(1, 19))]
    numbers = {study.PUBLISHED.title(name).partition(":")[0] for name in names}
    shown = "\n".join(page.text for page in pages.values())
    assert not {number for number in numbers if not re.search(rf"\b{number}\b", shown)}


def test_language_models_filter_seeds_and_samples(run, monkeypatch):
    params, store, _ = run

    def first_filler(name, texts, spans, candidates, **settings):
        return [np.array([0.0, *[-1.0] * (len(each) - 1)]) for each in candidates]

    def length(name, texts, **settings):
        return np.array([float(len(text)) for text in texts])

    monkeypatch.setattr(models, "language_model_identity", lambda name, *_, **__: {"name": name}, raising=False)
    monkeypatch.setattr(models, "masked_remembered", first_filler, raising=False)
    monkeypatch.setattr(models, "perplexities_remembered", length, raising=False)
    strict = params.model_copy(
        update={"masked_lm": "m", "causal_lm": "c", "perplexity_rise": 0.05, "most_biased": 0.0, "n_seeds": None}
    )
    found = study.seeds(strict, store=store).merge(study.pool(params, store), on="key")
    lexicon = strict.homographs.homographs
    for row in found.itertuples():
        first = min(word for cluster in lexicon[row.homograph].clusters for word in cluster.translations)
        assert row.expected == lexicon[row.homograph].cluster_of(first).name
        assert (row.fate == "seed") == (row.expected == row.sense)
    made = study.samples_made(strict, store).set_index("kind")
    assert 0 < made.loc["InH", "fluent"] < made.loc["InH", "made"]
    seeds = found.set_index("key")["source"]
    kept = study.generated(strict, store)
    assert all(len(row.text) <= 1.05 * len(seeds[row.key]) + 1e-9 for row in kept.itertuples())


def test_successes_of_the_challenge_set_come_first_and_homographs_in_turn():
    rows = [{"late": late, "name": name} for late, name in [(False, "a"), (False, "a"), (True, "a"), (False, "b")]]
    ordered = _in_turns(rows, lambda row: (row["late"], row["name"]))
    assert [(row["late"], row["name"]) for row in ordered] == [
        (False, "a"), (False, "b"), (False, "a"), (True, "a"),
    ]  # fmt: skip


def test_without_models_tables_are_empty_and_say_their_columns(run):
    params, store, _ = run
    none = params.model_copy(update={"models": []})
    for table in (study.errors, study.correlations, study.challenge_errors, study.attack_challenge, study.transfer,
                  study.successes, study.success_by_kind, study.attack_correlations, study.bleu):  # fmt: skip
        found = table(none, store=store)
        assert found.empty and len(found.columns) > 3
    assert study.correlations(none, store)["main"].dtype == bool  # of no rows a mask, too


def test_grammar_is_skipped_with_a_reason_and_counted_where_it_runs(run, monkeypatch):
    params, store, _ = run
    assert study.grammar(params, store).empty and "languagetool" in study.grammar_skipped(params)
    checked = params.model_copy(update={"grammar": "languagetool"})
    monkeypatch.setattr(tables, "grammar_problem", lambda: "no Java")
    assert study.grammar(checked, store).empty and study.grammar_skipped(checked) == "no Java"
    monkeypatch.setattr(tables, "grammar_problem", lambda: None)
    monkeypatch.setattr(tables, "grammar_errors", lambda texts, lang, store: [int(len(text) > 60) for text in texts])
    row = study.grammar(checked, store).iloc[0]
    assert (
        row["percent"] == pytest.approx(100 * row["worse"] / row["n"]) and row["low"] <= row["percent"] <= row["high"]
    )


def test_the_study_is_registered():
    assert STUDIES.get("disambiguation") is study.STUDY


def test_pairs_of_the_rarest_sense_come_first():
    counts = {("bat", "club"): 10, ("bat", "animal"): 0, ("bank", "money"): 3, ("bank", "river"): 1, ("bank", "x"): 1}
    counts |= {("seal", "animal"): 0, ("seal", "stamp"): 0}
    pairs = [("bat", "animal"), ("bank", "river"), ("bank", "x"), ("bank", "money"), ("bat", "club"), ("seal", "stamp")]
    assert rarity(*zip(*pairs, strict=True), counts).tolist() == [1.0, 0.8, 0.8, -0.6, -1.0, -1.0]


def test_sets_of_samples():
    assert capped([0, 1, 2, 3], "aabb", 3, 1).tolist() == [0, 2]
    assert jaccard([], []) != jaccard([], [])  # nan
    assert jaccard([1, 2], [2]) == 0.5
    scores = np.array([1.0, 3.0, 2.0])
    assert ranked(scores, "abc").tolist() == [1, 2, 0]
    # Of equal scores, the order is drawn by name and does not depend on places.
    assert [("xyz")[i] for i in ranked([0.0] * 3, "xyz", 5)] == [("zyx")[i] for i in ranked([0.0] * 3, "zyx", 5)]


def test_strength_is_nan_without_both_groups_and_refuses_odd_lengths():
    assert np.isnan(strength([1.0, 2.0], [False, False], [0, 1]).rbc)
    with pytest.raises(NbkitError, match="2 scores"):
        strength([1.0, 2.0], [True], [0])


def test_no_interval_of_any_table_has_width_zero(run):
    """A set without a single success was [0.000, 0.000]."""
    found = dict(tables_of(study, run[0]))
    assert sum("low" in "".join(map(str, table)) for table in found.values()) >= 6
    assert {name: ends for name, table in found.items() if (ends := zero_widths(table))} == {}
