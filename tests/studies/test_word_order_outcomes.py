"""The word-order study's outcomes: its headline follows from them, and an item is the same in every run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbkit.models import MODELS
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS
from nbkit.store import Store
from nbkit.studies import headline, outcomes, read_outcomes, word_order, write_outcomes
from nbkit.studies.word_order import WordOrderParams, steps
from tests.pages import run_page

from .conftest import Dummy, trees


def helped_by_some_orders(text: str) -> str:
    """A translator that is helped by some orders, so that there are flips."""
    return text if text.split()[0].islower() else " ".join(reversed(text.split()))


@pytest.fixture
def run(params: WordOrderParams, translator) -> WordOrderParams:
    """Two models, both spacings, and a number that leaves some perturbations out of the mean."""
    translator(helped_by_some_orders)
    MODELS.register("other", Dummy(lambda text: text), replace=True)
    return params.model_copy(update={"models": ["dummy", "other"], "spacings": ["original", "joined"], "min_n": 8})


def found(params: WordOrderParams, carried: bool = False, **named: Any) -> pd.DataFrame:
    """The outcomes by the paper's scores, or nbkit's own measure."""
    table = pd.concat(outcomes(params, **named), ignore_index=True)
    table = table[table["measure"].eq("carried displacement") == carried].reset_index(drop=True)
    names = ("perturbation", "category", "spacing", "length")
    return table.assign(**{name: [groups[name] for groups in table["groups"]] for name in names})


def test_the_headline_follows_from_outcomes_alone(run, tmp_path):
    table = word_order.preference(run)
    assert len(table) == 6
    again = headline(run, outcomes(run))
    ends = ["low", "high"]
    pd.testing.assert_frame_equal(again.drop(columns=ends), table.drop(columns=ends))
    # Some pairs are too short, so that others are drawn together; the intervals are as wide.
    widths = [(each["high"] - each["low"]).to_numpy() for each in (again, table)]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)
    write_outcomes(outcomes(run), tmp_path / "outcomes.jsonl", "jsonl")
    pd.testing.assert_frame_equal(headline(run, read_outcomes(tmp_path / "outcomes.jsonl")), again)


def test_intervals_of_the_headline_are_the_same_where_every_pair_counts(run):
    """Pairs are numbered as they come, as in the corpus."""
    whole = run.model_copy(update={"min_tokens": 1})
    assert word_order.left_out(whole)["n"].sum() == 0
    pd.testing.assert_frame_equal(headline(whole, outcomes(whole)), word_order.preference(whole))


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True),
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_so_it_does_in_any_run(run, names, n, min_n, seed):
    values = {"perturbations": names, "n_pairs": n, "min_n": min_n, "seed": seed, "metrics": ["bleu"]}
    drawn = WordOrderParams(**run.model_dump() | values)
    ends = ["low", "high"]
    expected = word_order.preference(drawn).drop(columns=ends)
    again = headline(drawn, outcomes(drawn)).drop(columns=ends)
    pd.testing.assert_frame_equal(again, expected, check_dtype=bool(len(expected)))


def test_carried_displacement_of_a_copier_and_a_repairer(run, translator):
    plain = {
        " ".join(sorted(text.lower().split())): text
        for text in (row.pair.source.joined for row in steps.read_chunk(run, "de", 0, Store()).variants())
    }
    translator(lambda text: plain.get(" ".join(sorted(text.lower().split())), text))  # puts all words back
    joined = run.model_copy(update={"spacings": ["joined"]})
    table = word_order.carried(joined)
    assert set(table["perturbation"]) == set(found(joined)["perturbation"]) - {CONTROL}
    known = table[table["n"] > 0]
    assert (known.loc[known["model"] == "other", "carried"] == 1).all()
    assert (known.loc[known["model"] == "dummy", "carried"] == 0).all()
    assert known.loc[known["perturbation"] == "reversed", "chance"].between(0.5, 0.6).all()
    own = found(joined, carried=True)
    assert own["value"].isna().equals(own["verdict"].eq("undecided"))
    means = own.groupby(["system", "perturbation"])["value"].mean().dropna()
    assert means.to_dict() == {(r["model"], r["perturbation"]): r["carried"] for _, r in known.iterrows()}


def test_ids_depend_on_nothing_but_the_item(run, monkeypatch):
    whole = found(run)
    keys = ["item", "source_language", "target_language", "measure", "cluster", "perturbation", "spacing", "length"]

    def of(table: pd.DataFrame, system: str = "dummy") -> set[tuple[str, ...]]:
        return set(table.loc[table["system"] == system, keys].itertuples(index=False, name=None))

    assert of(whole) == of(whole, "other")
    alone = found(run.model_copy(update={"models": ["other"], "spacings": ["joined"], "metrics": ["bleu"]}))
    expected = whole[whole["spacing"].eq("joined") & whole["measure"].str.startswith("bleu")]
    assert of(alone, "other") == of(expected)
    first = found(WordOrderParams(**run.model_dump() | {"n_pairs": 7, "perturbations": ["reversed"]}))
    assert of(first) < of(whole)
    monkeypatch.setattr(steps, "CHUNK", 5)
    assert of(found(run)) == of(whole)


def test_the_order_of_the_corpus_changes_no_id(run, tmp_path):
    before = found(run)
    for lang in ("en", "de"):
        file = tmp_path / f"{lang}.conllu"
        blocks = file.read_text(encoding="utf-8").strip().split("\n\n")
        file.write_text("\n\n".join(reversed(blocks)) + "\n", encoding="utf-8")
    after = found(run)
    columns = ["item", "count", "system", "measure", "value", "verdict", "cluster"]
    key = ["item", "system", "measure"]
    one, other = (table.sort_values(key)[columns].reset_index(drop=True) for table in (before, after))
    pd.testing.assert_frame_equal(one, other)


def test_identical_items_are_one_row_with_their_number(run, tmp_path):
    before = found(run)
    assert set(before["count"]) == {1}
    for lang in ("en", "de"):
        file = tmp_path / f"{lang}.conllu"
        block = file.read_text(encoding="utf-8").split("\n\n")[0]
        file.write_text(f"{file.read_text(encoding='utf-8').strip()}\n\n{block}\n", encoding="utf-8")
    after = found(run)
    assert len(after) == len(before) and not after.duplicated(["item", "system", "measure"]).any()
    twice = after[after["count"] == 2]
    assert twice["cluster"].nunique() == 1 and set(after["count"]) == {1, 2}
    columns = ["language", "model", "metric", "difference", "n"]
    pd.testing.assert_frame_equal(headline(run, [after])[columns], word_order.preference(run)[columns])


def test_random_perturbations_carry_their_seed_and_others_do_not(run):
    one, other = found(run), found(run.model_copy(update={"seed": 1}))
    drawn = [name for name in NAMES if PERTURBATIONS.get(name).random]
    for name, own in one.groupby("perturbation"):
        shared = set(own["item"]) & set(other.loc[other["perturbation"] == name, "item"])
        assert shared == (set() if name in drawn else set(own["item"])), name
    assert one["item"].nunique() * 2 * 9 == len(one)


def test_verdicts_are_flips(run):
    table = found(run)
    main = table[table["spacing"].eq("original") & table["perturbation"].ne(CONTROL)]
    judged = main[main["verdict"].notna()]
    assert set(judged["measure"]) == {"bleu/beta1", "levenshtein/beta1", "chrf/beta1"}
    assert table.loc[table["perturbation"] == CONTROL, "verdict"].isna().all()
    assert (judged["reason"].ne("") == judged["verdict"].eq("fail")).all()
    flips = word_order.flips(run, by=["model"]).set_index(["model", "metric"])
    assert flips["flips"].sum() > flips["inferred"].sum() > 0
    for (model, measure), own in judged.groupby(["system", "measure"]):
        row = flips.loc[model, measure.removesuffix("/beta1")]
        counted = Counter(own["reason"])
        assert (row["n"], row["flips"]) == (len(own), own["verdict"].eq("fail").sum())
        assert row["inferred"] == counted["flip, β ≤ ½ < β₁"]


def test_texts_are_those_that_were_scored_and_moved_words_are_marked(run):
    small = WordOrderParams(**run.model_dump() | {"n_pairs": 6, "models": ["other"], "metrics": ["bleu"]})
    table = found(small, texts=True)
    for row in table.itertuples():
        assert row.output == (row.source if row.measure == "bleu/beta" else row.changed)
        assert (row.changed is None) == (row.measure == "bleu/beta")
        texts = {"changed": row.changed, "reference": row.reference}
        marked = Counter(texts[span["text"]][span["start"] : span["end"]] for span in row.spans)
        assert all(span["label"] == "moved" and span["start"] < span["end"] for span in row.spans)
        assert bool(marked) == (row.perturbation != CONTROL and row.measure != "bleu/beta")
    beta2 = table[table["measure"] == "bleu/beta2"]
    fixed = beta2[~beta2["perturbation"].map(lambda name: name != CONTROL and PERTURBATIONS.get(name).random)]
    assert (fixed["value"] > 0.99).all() and {"reversed", CONTROL} <= set(fixed["perturbation"])


def test_variants_are_made_once_for_all_that_needs_them(run, monkeypatch):
    """Both sides, and a second draw of the reference: three calls a pair, not three for each table."""
    calls: Counter[str] = Counter()
    perturb_all = steps.perturb_all

    def counting(*arguments: Any, **named: Any) -> Any:
        calls["perturb_all"] += 1
        return perturb_all(*arguments, **named)

    monkeypatch.setattr(steps, "perturb_all", counting)
    used = int(steps.n_pairs(run, "de")) - int(word_order.left_out(run)["n"].sum())
    for unit in run.study.units(run):
        getattr(steps, unit.function.partition(":")[2]).work(**unit.arguments)
        assert calls["perturb_all"] == 3 * used, unit.label  # 12 · used when each table made its own
    assert 0 < used <= len(trees())


class CountingStore(Store):
    """Counts how often each table is asked for."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.asked: Counter[str] = Counter()

    def table(self, config, compute):
        self.asked[json.dumps(config, sort_keys=True)] += 1
        return super().table(config, compute)

    def sums(self) -> Counter[str]:
        return Counter({name: n for name, n in self.asked.items() if json.loads(name)["kind"].endswith("_sums")})


def test_tables_of_one_page_read_each_block_once(run):
    pages = {
        "score_sums": (word_order.quality, word_order.spacing_effect, word_order.by_perturbation,
                       word_order.preference, word_order.preference_by_perturbation),
        "difficulty_sums": (word_order.counts, word_order.difficulty, word_order.below_min_n),
        "similarity_sums": (word_order.similarity, word_order.similarity_of_languages),
        "flips": (word_order.flips, *(lambda params, store, by=by: word_order.flips(params, store, by=by)
                                      for by in (["language", "model"], ["perturbation", "model"], []))),
    }  # fmt: skip
    for name, tables in pages.items():
        store = CountingStore(f"{Store().url}-{name}")
        first = [table(run, store) for table in tables]
        assert set(store.sums().values()) == {1}, name
        assert sum(store.sums().values()) >= (2 if name in ("score_sums", "flips") else 1)
        for table, before in zip(tables, first, strict=True):
            before.loc[:, before.columns[0]] = "changed by who asked"
            assert "changed by who asked" not in set(table(run, store)[before.columns[0]])


@pytest.mark.parametrize("page", ["robust_or_faithful", "flips", "similarity", "perturbations"])
def test_a_page_reads_each_block_once(run, page, tmp_path: Path, monkeypatch):
    asked: Counter[str] = Counter()
    table = Store.table

    def counting(self: Store, config: Any, compute: Any) -> pd.DataFrame:
        if config["kind"].endswith("_sums"):
            asked[json.dumps(config, sort_keys=True)] += 1
        return table(self, config, compute)

    monkeypatch.setattr(Store, "table", counting)
    run_page(f"word_order/{page}", run.model_dump(), tmp_path / "page", monkeypatch)
    assert asked and set(asked.values()) == {1}
