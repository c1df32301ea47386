"""The NLI permutation study's definitions, on classifiers whose answers are known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from shutil import rmtree

import numpy as np
import pandas as pd
import pytest
import spacy

from nbkit.batch.workers import run_unit
from nbkit.corpora.nli import LABELS, load_nli
from nbkit.errors import NbkitError, ParamsError
from nbkit.models import CLASSIFIERS
from nbkit.perturb.derangements import derangements
from nbkit.store import Store
from nbkit.studies import STUDIES
from nbkit.studies import nli_permutation as study
from nbkit.studies.nli_permutation import NliPermutationParams, steps
from nbkit.studies.nli_permutation.styled import PUBLISHED
from nbkit.studies.nli_permutation.tables import HARMONIC_MEAN, MEAN
from nbkit.text.sentences import Sentence

from .conftest import tables_of, zero_widths

SETTINGS = {"n_pairs": 40, "permutations": 12, "clumped_permutations": 4, "training_pairs": 60}


#: Nearly the same probability for all labels; entailment is ahead.
UNDECIDED = [1 / 3 + 1e-6, 1 / 3, 1 / 3 - 1e-6]


class Dummy:
    """A classifier that answers by rule; it remembers what it was asked."""

    identity = "a test's own"

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def probabilities(self, pairs: Sequence[tuple[str, str]], *, progress: bool = True) -> np.ndarray:
        self.asked += pairs
        return np.array([self.answer(*pair) for pair in pairs]).reshape(-1, 3)


def sure(label: str, p: float = 0.8) -> list[float]:
    return [p if name == label else (1 - p) / 2 for name in LABELS]


def gold(n: int) -> dict[tuple[str, ...], str]:
    """The label of each pair by its words, whatever their order."""
    pairs = load_nli("sandbox:test", "en", n=n)
    return {bag(pair.premise.joined, pair.hypothesis.joined): pair.label for pair in pairs}


def bag(premise: str, hypothesis: str) -> tuple[str, ...]:
    """The letters of both sides: the same for a text as it is written and re-joined in any order."""
    return tuple("".join(sorted(side.replace(" ", ""))) for side in (premise, hypothesis))


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Classifiers by name, in the place of real ones; everything remembered goes to a folder of the test's own."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    known = gold(SETTINGS["n_pairs"])
    made = {
        "bag": Dummy(lambda p, h: sure(known[bag(p, h)])),
        "neutral": Dummy(lambda p, h: sure("neutral")),
        # Sees tokens written apart, which all permutations are, and is then as good as undecided.
        "strict": Dummy(lambda p, h: UNDECIDED if p.endswith(" .") else sure(known[bag(p, h)])),
    }

    for name, dummy in made.items():
        CLASSIFIERS.register(name, dummy)
    return made


def params(*names: str, **more) -> NliPermutationParams:
    return NliPermutationParams(models=list(names), **{**SETTINGS, **more})


def value(table: pd.DataFrame, **where) -> float:
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    return table["value"].item()


def test_a_bag_of_words_is_blind_to_order(models):
    results = study.results(params("bag"))
    for measure in ("accuracy", "omega_max", "p_correct", "omega_rand"):
        assert value(results, measure=measure) == 1
    assert np.isnan(value(results, measure="p_flipped"))  # nothing flips
    assert (study.thresholds(params("bag"))["omega"] == 1).all()
    assert (study.bleu_effect(params("bag"))["rate"] == 1).all()
    assert study.control(params("bag"))["difference"].item() == 0


def test_a_constant_accepts_what_it_gets_right(models):
    """Ω of a constant prediction is the label's share, for every threshold: the floor of `floor_table`."""
    p = params("neutral", "bag")
    share = Counter(study.properties(p, "sandbox:test")["label"])["neutral"] / len(study.properties(p, "sandbox:test"))
    results, floors = study.results(p), study.floor_table(p)
    for measure in ("accuracy", "omega_max", "omega_rand"):
        assert value(results, model="neutral", measure=measure) == pytest.approx(share)
    most = max(Counter(study.properties(p, "sandbox:test")["label"]).values()) / len(
        study.properties(p, "sandbox:test")
    )
    assert value(floors, model="neutral", predictor="constant", measure="accuracy") == pytest.approx(most)
    assert value(floors, model="bag", predictor="bag of words", measure="omega_max") == 1
    both = study.accuracy_beside_majority(p).set_index("model")
    assert both.loc["neutral", "majority"] == both.loc["bag", "majority"] == pytest.approx(most)


def test_every_pair_is_classified_once_and_a_rerun_asks_nothing(models):
    p = params("bag")
    for function in (study.results, study.hypothesis_only, study.clump_effect, study.accepted_examples):
        function(p)
    asked = models["bag"].asked
    assert len(asked) == len(set(asked))
    study.results(p)
    study.annotation_sample(p, 10)
    assert len(models["bag"].asked) == len(asked)
    fewer = params("bag", permutations=5)  # the first five permutations of twelve: nothing new to classify
    study.results(fewer)
    assert len(models["bag"].asked) == len(asked)


def test_results_do_not_depend_on_the_size_of_a_chunk(models, monkeypatch):
    whole = study.results(params("neutral")), study.entropies(params("neutral"))
    for module in (steps,):
        monkeypatch.setattr(module, "CHUNK", 7)
    parts = study.results(params("neutral")), study.entropies(params("neutral"))
    for one, other in zip(whole, parts, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_scores_are_what_the_definitions_say(models):
    """M_cor, correctness and entropy of one pair, recomputed from its own texts."""
    p = params("strict")
    found = steps.scores(p, "sandbox:test", "strict")
    (first, *_) = load_nli("sandbox:test", "en", n=1)
    for side, text in (("premise", first.premise), ("hypothesis", first.hypothesis)):
        (sentence,) = text.sentences
        orders = derangements(Sentence(sentence.tokens, "en", upos=sentence.upos), 12, side=side)
        assert orders is not None and len(orders) == 12
    assert found.index[0] == 0 and found.label[0] == first.label
    assert found.length[0] == len(first.premise) + len(first.hypothesis)
    assert found.correct.all()  # as written, the mark follows the last word without a space
    assert np.allclose(found.entropies, -np.sum(UNDECIDED * np.log(UNDECIDED)))
    assert (found.accepted == (found.label == "entailment")[:, None]).all()
    assert (found.control == (found.label == "entailment")).all()
    # spacing alone is what this model goes by, and the control says so
    assert study.control(p)["difference"].item() < -0.5


def test_bleu_of_the_table_is_the_mean_of_both_sides(models):
    """BLEU-2 without smoothing is √(p₁p₂), and all words are there: p₁ = 1. Bigrams counted the long way."""
    p = params("bag")
    table = study.properties(p, "sandbox:test")
    pairs = steps.read_chunk(p, "sandbox:test", 0, Store())
    item = next(iter(steps.variants(p, pairs, 0)))
    expected = []
    for texts in item.permuted.texts():
        sides = []
        for permuted, original in zip(texts, item.permuted.control, strict=True):
            kept = Counter(pairwise(permuted.split())) & Counter(pairwise(original.split()))
            sides.append((kept.total() / (len(original.split()) - 1)) ** 0.5)
        expected.append(np.mean(sides))
    assert np.allclose(table["bleu2"].iloc[0], expected, atol=1e-6)


def test_means_over_sets(models):
    table = study.results(params("neutral", corpora=["sandbox:test", "sandbox:dev"]))
    own = table[~table["corpus"].isin([MEAN, HARMONIC_MEAN])]
    for measure, group in own.groupby("measure"):
        known = group["value"].dropna()
        if len(known):
            assert value(table, corpus=MEAN, measure=measure) == pytest.approx(known.mean())
            expected = len(known) / (1 / known).sum() if (known > 0).all() else 0
            assert value(table, corpus=HARMONIC_MEAN, measure=measure) == pytest.approx(expected)


def test_variants_are_compared_on_the_same_pairs(models):
    p = params("bag", clumps=[0.5])
    both = steps.scores(p, "sandbox:test", "bag")
    alone = steps.scores(p, "sandbox:test", "bag", study.HYPOTHESIS)
    assert (both.index == alone.index).all() and both.accepted.shape == alone.accepted.shape
    clumped = steps.scores(p, "sandbox:test", "bag", study.clumped(0.5))
    assert set(clumped.index) <= set(both.index) and clumped.accepted.shape[1] == 4
    # more of the order is kept
    means = study.clump_means(p).set_index("share")
    assert means.loc[0.5, "bleu2"] > means.loc[0.0, "bleu2"]


def test_pairs_without_enough_permutations_are_dropped_and_counted(models, tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [
        "premise\thypothesis\tlabel",
        "a b c d e f g\tg f e d c b a\tneutral",
        "one two three\ta b c d e f g\tneutral",
        "a b c d e f g\tthe the the the\tentailment",
        "x\ty\t-",
    ]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    p = params(corpora=[str(path)], n_pairs=None, parsers={"en": "tokenizer"}, clumps=[], on_error="skip")
    left = study.left_out(p).set_index("reason")["n"]
    assert left["no gold label, or malformed"] == 1 and left["a side has no 12 derangements"] == 2
    assert study.kept(p)[["n", "of"]].iloc[0].tolist() == [1, 3]


def test_examples_of_permutations_keep_words_and_final_mark(models):
    examples = study.permutation_examples(params("bag"), k=3)
    assert Counter(examples["scheme"])["permuted"] == 3
    original = examples[examples["scheme"] == "original"].iloc[0]
    for row in examples[examples["scheme"] == "permuted"].itertuples():
        assert bag(row.premise, row.hypothesis) == bag(original.premise, original.hypothesis)
        for permuted, text in ((row.premise, original.premise), (row.hypothesis, original.hypothesis)):
            assert permuted[-1] == text[-1] and permuted != text
    alone = examples[examples["scheme"] == study.HYPOTHESIS]
    assert set(alone["premise"].str.replace(" ", "")) == {original.premise.replace(" ", "")}


def test_mini_trees_of_the_run(models):
    p = params("bag")
    effect = study.mini_tree_effect(p)
    assert (effect["rate"] == 1).all() and effect["permutations"].sum() == 12 * len(study.properties(p, "sandbox:test"))
    word = study.word_signature(p)
    sums = word.groupby("where")["probability"].sum()
    assert np.allclose(sums[["training", "original", "permuted"]], 1)
    original, permuted = (word[word["where"] == where]["sentence"].iloc[0] for where in ("original", "permuted"))
    assert word["word"].iloc[0] in original.casefold().split() and sorted(original.split()) == sorted(permuted.split())
    assert study.word_signature(p, word="no-such-word").empty


def test_without_parts_of_speech_there_are_no_mini_trees(models, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("premise\thypothesis\tlabel\na b c d e f g\tg f e d c b a\tneutral\n", "utf-8")
    p = params("neutral", corpora=[str(path)], n_pairs=None, parsers={"en": "tokenizer"}, clumps=[])
    assert study.mini_tree_effect(p).empty and study.word_signature(p).empty


def test_length_and_entropy_are_of_the_two_groups(models):
    p = params("neutral")
    table = study.length_effect(p)
    assert set(table["group"]) == {"D^c"} and (table["rate"] == 1).all()  # a constant flips nothing
    entropies = study.entropies(p)
    assert set(entropies["group"]) == {"D^c"}
    expected = -(0.8 * np.log(0.8) + 0.2 * np.log(0.1))
    assert np.allclose(entropies["entropy"], expected)
    means = study.entropy_means(p).set_index("group")
    assert means.loc["D^c", "value"] == pytest.approx(expected) and means.loc["D^f", "n"] == 0


def test_max_entropy_puts_both_trainings_side_by_side(models):
    p = params("bag", max_entropy={"bag": "strict"})
    table = study.max_entropy(p)
    assert value(table, training="V", measure="omega_max") == 1
    assert value(table, training="ME", measure="omega_max") < 0.6
    assert value(table, training="ME", measure="accuracy") == 1
    # The stand-ins are as sure of everything: 0.8 for one label, 0.1 for the others.
    sure = -(0.8 * np.log(0.8) + 0.2 * np.log(0.1))
    assert value(table, training="V", measure="entropy") == pytest.approx(sure)
    assert value(table, training="V", measure="control_entropy") == pytest.approx(sure)
    assert p.schemes("strict") == [study.PERMUTED]  # the twin is asked for no more than Table 5 needs
    assert study.max_entropy(params("bag")).empty


def test_the_annotation_sample_is_balanced_and_accepted(models):
    p = params("bag", n_pairs=40)
    sample = study.annotation_sample(p, 20)
    assert len(sample) == 20 and not sample.duplicated(["premise", "hypothesis"]).any()
    assert Counter(sample["length_group"]) == {"short": 10, "long": 10}
    assert (
        sample.query("length_group == 'short'")["length"].max()
        <= sample.query("length_group == 'long'")["length"].min()
    )
    assert set(sample["stratum"]) == {"D^c"}  # a bag of words flips nothing: the others give what D^f lacks
    known = gold(40)
    for row in sample.itertuples():
        assert known[bag(row.premise, row.hypothesis)] == row.label
        assert bag(row.premise, row.hypothesis) == bag(row.original_premise, row.original_hypothesis)
        assert row.premise != row.original_premise
    assert sample.equals(study.annotation_sample(p, 20))
    with pytest.raises(NbkitError, match="accepts a permutation of only"):
        study.annotation_sample(p, 500)
    with pytest.raises(NbkitError, match="name one in models"):
        study.annotation_sample(params(), 5)


def test_examples_of_table_1_are_accepted_pairs(models):
    p = params("bag")
    table = study.accepted_examples(p, k=2)
    assert Counter(table["label"]) == dict.fromkeys(LABELS, 2)
    assert (table["accepted"] == 1).all()
    for row in table.itertuples():
        assert sorted(row.premise.replace(" ", "")) == sorted(row.permuted_premise.replace(" ", ""))


def test_the_papers_examples_are_derangements_of_our_tokens():
    """Table 1: spaCy's English rules give the tokens of the printed permutations, and only the full stop stays."""
    cut = spacy.blank("en")
    for row in PUBLISHED.load("table1").itertuples():
        for text, permuted in ((row.premise, row.permuted_premise), (row.hypothesis, row.permuted_hypothesis)):
            tokens, moved = [token.text for token in cut(text)], permuted.split()
            assert sorted(tokens) == sorted(moved)
            stays = {token for token, other in zip(tokens, moved, strict=True) if token.casefold() == other.casefold()}
            assert stays == {"."}


def test_wrong_parameters_are_named():
    for given, reason in {
        "corpora": ({"corpora": ["sik"]}, "corpora: unknown NLI corpus 'sik'; did you mean 'sick'"),
        "clumps": ({"clumps": [1.0]}, "1.0 is not a share"),
        "unit": ({"unit": "character"}, "unit 'character' is for languages without spaces; 'en'"),
        "twin": ({"max_entropy": {"x": "y"}}, "max_entropy: 'x' is not among the models"),
        "typo": ({"permutation": 5}, "did you mean 'permutations'"),
        "labels": ({"models": ["a/x", "b/x"]}, "would both be called 'x'"),
        "forms": ({"annotations": {"X": "x.xlsx"}}, "annotations and annotation_key belong together"),
        "device": ({"device": "gpu"}, "device"),
    }.values():
        with pytest.raises(ParamsError, match=reason):
            NliPermutationParams.checked(given)


def test_specs_are_canonical():
    p = NliPermutationParams(corpora=["sick", "sick:test", "snli:dev"])
    assert p.corpora == ["sick:test", "snli:dev"]


def test_problems_are_told_without_a_model(monkeypatch):
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    told = "\n".join(
        study.STUDY.problems(NliPermutationParams(corpora=["sick"], models=["no-such-model"], n_pairs=None))
    )
    assert "NBKIT_DATA is not set" in told and "no-such-model" in told
    chinese = NliPermutationParams(corpora=["ocnli"], language="zh", models=[], parsers={"zh": "tokenizer"})
    assert any("parsers: {zh: jieba}" in problem for problem in study.STUDY.problems(chinese))
    assert study.STUDY.problems(NliPermutationParams(models=[])) == []
    endless = study.STUDY.problems(NliPermutationParams(models=[], n_pairs=None))
    assert any("is unbounded" in problem for problem in endless)
    forms = NliPermutationParams(models=[], annotations={"X": "no.xlsx"}, annotation_key="no.key.json")
    assert any("there is no file no.xlsx" in problem for problem in study.STUDY.problems(forms))


def test_units_fill_the_store(models):
    p = params("neutral", max_entropy={"neutral": "bag"})
    work = study.STUDY.units(p)
    assert [unit.stage for unit in work] == sorted(unit.stage for unit in work)
    for unit in work:
        run_unit(unit.function, unit.arguments, {})
    asked = len(models["neutral"].asked), len(models["bag"].asked)
    study.results(p), study.max_entropy(p), study.hypothesis_only(p), study.clump_effect(p), study.mini_tree_effect(p)
    assert (len(models["neutral"].asked), len(models["bag"].asked)) == asked
    counted = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert all(unit.texts == unit.stored > 0 for unit in counted)
    # Where the tables are lost, or made by other code now, the texts of some pairs tell that all are classified.
    for folder in Path(Store().url).glob("nli_permutation.scores*"):
        rmtree(folder)
    again = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert [(unit.texts, unit.stored) for unit in again] == [(unit.texts, unit.stored) for unit in counted]


def test_large_sets_are_classified_in_parts(models, monkeypatch):
    p = params("neutral")
    (whole,) = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert whole.label == "classify neutral sandbox:test"
    monkeypatch.setattr(steps, "CHUNK", 3)
    parts = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert [unit.label for unit in parts] == [f"classify neutral sandbox:test {start}" for start in (0, 15, 30)]
    assert sum(unit.texts for unit in parts) == whole.texts
    run_unit(parts[1].function, parts[1].arguments, {})
    remembered = [scores_there(p, start) for start in range(0, 40, 3)]
    assert remembered == [15 <= start < 30 for start in range(0, 40, 3)]
    unknown = params("neutral", n_pairs=None)  # how many pairs there are is not known before they are read
    (whole,) = [unit for unit in study.STUDY.units(unknown) if unit.stage == 1]
    assert whole.label == "classify neutral sandbox:test" and whole.arguments["start"] is None


def scores_there(p: NliPermutationParams, start: int) -> bool:
    return steps.scores_chunk.rows(p, "sandbox:test", p.models[0], study.PERMUTED, start) is not None


def test_a_page_reads_each_block_once(models, monkeypatch):
    p = params("neutral", corpora=["sandbox:test", "sandbox:dev"], n_pairs=14)
    read, table = Counter(), Store.table

    def counted(self, config, compute):
        read[json.dumps(config, sort_keys=True)] += config["kind"].endswith("_chunk")
        return table(self, config, compute)

    monkeypatch.setattr(steps, "CHUNK", 7)
    monkeypatch.setattr(Store, "table", counted)
    for _ in range(2):
        study.results(p), study.floor_table(p), study.entropies(p), study.clump_effect(p), study.clump_means(p)
        study.bleu_effect(p), study.mini_tree_effect(p), study.length_effect(p)
    both_sides = 2 * 2 * 4  # sets, chunks, variants
    assert Counter(read.values())[1] == 2 * both_sides + 4 and max(read.values()) == 1
    monkeypatch.setattr(steps, "_KEPT", 0)  # what is too large is read anew
    steps._whole_tables.clear()
    assert study.results(p).equals(study.results(p)) and max(read.values()) > 1


def test_texts_are_counted_without_permuting_them(models):
    """What a set is at most before it was read, and exactly the texts that are classified after."""
    p = params("neutral")
    (before,) = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert (before.texts, before.stored) == (40 * (2 + 12 + 12 + 3 * 4), 0)
    for scheme in p.schemes():
        steps.scores(p, "sandbox:test", "neutral", scheme)
        steps.properties(p, "sandbox:test", scheme)
    (after,) = [unit for unit in study.STUDY.units(p, count=True) if unit.stage == 1]
    assert after.texts == after.stored < before.texts
    assert after.texts == pytest.approx(len(models["neutral"].asked), rel=0.01)  # some pairs are alike


def test_the_study_is_registered_with_its_cells():
    found = STUDIES.get("nli_permutation")
    cells = found.cells(
        NliPermutationParams(models=["sandbox-infersent", "sandbox-bilstm"], max_entropy={"sandbox-bilstm": "x/me"})
    )
    assert [cell.params.models for cell in cells] == [["sandbox-infersent"], ["sandbox-bilstm"]]
    assert [cell.params.max_entropy for cell in cells] == [{}, {"sandbox-bilstm": "x/me"}]
    assert found.cells(NliPermutationParams(models=[])) == []


def test_no_interval_of_any_table_has_width_zero(models):
    """A bag of words accepts every permutation, and nothing flips: 1.000 [1.000, 1.000]."""
    found = dict(tables_of(study, params("bag", "neutral"), but=["annotation_sample"]))
    assert sum("low" in "".join(map(str, table)) for table in found.values()) >= 5
    assert {name: ends for name, table in found.items() if (ends := zero_widths(table))} == {}
