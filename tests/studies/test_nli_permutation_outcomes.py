"""The NLI permutation study's outcomes: the results table follows from them, and ids say what was asked and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nbkit.corpora.nli import LABELS
from nbkit.models import CLASSIFIERS
from nbkit.studies import headline, outcomes, read_outcomes, write_outcomes
from nbkit.studies import nli_permutation as study
from nbkit.studies.nli_permutation import NliPermutationParams, figures, steps, styled

SETTINGS = {"n_pairs": 14, "permutations": 5, "clumps": [0.5], "clumped_permutations": 3}
NAMES = ("one", "two", "twin")


class Drawn:
    """A classifier that answers by a checksum of the texts."""

    def __init__(self, name: str):
        self.name = self.identity = name

    def probabilities(self, pairs: Sequence[tuple[str, str]], *, progress: bool = True) -> np.ndarray:
        drawn = [crc32("\0".join((self.name, *pair)).encode()) % 3 for pair in pairs]
        return np.full((len(pairs), 3), 0.1) + 0.7 * np.eye(3)[drawn]


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Classifiers that answer anything; what is remembered goes to a folder of the test's own."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    for name in NAMES:
        CLASSIFIERS.register(name, Drawn(name))


def params(**more) -> NliPermutationParams:
    return NliPermutationParams(**{"models": ["one"], **SETTINGS, **more})


def whole(p: NliPermutationParams, **how) -> pd.DataFrame:
    table = pd.concat(outcomes(p, **how), ignore_index=True)
    return table.assign(**{name: [of[name] for of in table["groups"]] for name in ("corpus", "scheme", "comparison")})


def own_set(path, rows: Sequence[str]) -> str:
    path.write_text("\n".join(["premise\thypothesis\tlabel", *rows]) + "\n", encoding="utf-8")
    return str(path)


def of_file(*paths: str, **more) -> NliPermutationParams:
    return params(corpora=list(paths), n_pairs=None, parsers={"en": "tokenizer"}, on_error="skip", **more)


def rows_of_pairs(*numbers: int) -> list[str]:
    words = ["a", "b", "c", "d", "e", "f", "g", "h"]
    return [f"{' '.join(words)} p{n}\t{' '.join(reversed(words))} h{n}\t{LABELS[n % 3]}" for n in numbers]


def assert_follows(p: NliPermutationParams) -> None:
    """The table of results follows from the outcomes, values and N exactly, intervals too."""
    pd.testing.assert_frame_equal(study.results(p), headline(p, outcomes(p)))


def test_the_results_follow_from_outcomes_alone(models, tmp_path):
    p = params(models=["one", "two"], max_entropy={"one": "twin"}, corpora=["sandbox:test", "sandbox:dev"])
    assert_follows(p)
    for form in ("parquet", "jsonl"):
        file = tmp_path / f"outcomes.{form}"
        write_outcomes(outcomes(p, texts=True), file, form)
        pd.testing.assert_frame_equal(study.results(p), headline(p, read_outcomes(file)))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=2),
    n=st.integers(1, 7),
    seed=st.integers(0, 3),
)
def test_the_results_follow_from_outcomes_of_any_run(models, tmp_path, pairs, n, seed):
    """Pairs that a set holds twice, or two sets do, are counted as often as they stand there."""
    paths = [own_set(tmp_path / f"{i}.tsv", rows_of_pairs(*numbers)) for i, numbers in enumerate(pairs)]
    p = of_file(*paths, models=["one", "two"], permutations=n, seed=seed)
    ours, theirs = study.results(p), headline(p, outcomes(p))
    keys = ["model", "corpus", "measure"]  # what occurs twice comes last
    pd.testing.assert_frame_equal(*(table.sort_values(keys, ignore_index=True) for table in (ours, theirs)))


def test_there_is_a_row_for_every_pair_draw_and_classifier(models):
    p = params(models=["one", "two"], max_entropy={"one": "twin"})
    table = whole(p)
    kept = len(study.properties(p, "sandbox:test"))
    each = {"original": 1, "control": 1, "permuted": 5, "hypothesis": 5}
    counts = table.groupby(["system", "scheme"]).size()
    for name in ("one", "two"):
        assert {scheme: counts[name, scheme] for scheme in each} == {scheme: kept * n for scheme, n in each.items()}
        assert counts[name, "clumped 0.5"] == 3 * len(study.properties(p, "sandbox:test", study.clumped(0.5)))
    assert set(counts["twin"].index) == {"original", "control", "permuted"}  # it is asked for no more
    assert set(table.loc[table["system"] == "twin", "comparison"]) == {"maximum entropy"}
    assert set(table.loc[table["system"] != "twin", "comparison"]) == {"main"}
    assert not table.duplicated(["system", "item"]).any() and (table["count"] == 1).all()
    of_pair = table[table["cluster"] == table["cluster"].iloc[0]]
    assert (of_pair.groupby("system").size() == [1 + 1 + 5 + 5 + 3, 1 + 1 + 5, 1 + 1 + 5 + 5 + 3]).all()


def test_the_gold_label_passes_and_another_is_the_reason(models):
    table = whole(params(), texts=True)
    right = table["output"] == table["reference"]
    assert right.any() and not right.all()
    assert (table["value"] == right).all()
    assert (table["verdict"] == np.where(right, "pass", "fail")).all()
    assert (table["reason"] == table["output"].where(~right, "")).all()
    assert (table["reference"] == [of["label"] for of in table["groups"]]).all()


def test_texts_are_what_was_classified(models):
    p = params()
    table = whole(p, texts=True)
    answer = Drawn("one").probabilities
    asked = table["changed"].where(table["changed"].notna(), table["source"]).str.split("\n")
    said = [LABELS[answer([(premise, hypothesis)]).argmax()] for premise, hypothesis in asked]
    assert said == table["output"].tolist()
    assert table.loc[table["scheme"] == "original", "changed"].isna().all()
    one_side = table[table["scheme"] == "hypothesis"]
    changed, source = (one_side[name].str.partition("\n")[0].str.replace(" ", "") for name in ("changed", "source"))
    assert (changed == source).all()


def ids(p: NliPermutationParams) -> dict[str, tuple[str, str]]:
    """Each item's scheme and cluster."""
    table = whole(p)
    return dict(zip(table["item"], zip(table["scheme"], table["cluster"], strict=True), strict=True))


def test_ids_depend_on_nothing_but_the_item(models, tmp_path, monkeypatch):
    some = own_set(tmp_path / "some.tsv", rows_of_pairs(1, 2, 3))
    more = own_set(tmp_path / "more.tsv", rows_of_pairs(7, 3, 2, 9, 1))
    found = ids(of_file(some))
    assert found == ids(of_file(some, models=["two"]))
    assert found.items() <= ids(of_file(more)).items()  # in another order, among others, in another set
    assert found.items() <= ids(of_file(some, permutations=8, clumps=[0.25, 0.5], clumped_permutations=4)).items()
    monkeypatch.setattr(steps, "CHUNK", 2)
    assert found == ids(of_file(some))
    monkeypatch.setattr(steps, "_OUTCOMES", 1)
    assert found == ids(of_file(some))


def test_ids_change_with_what_was_done(models, tmp_path):
    path = own_set(tmp_path / "pairs.tsv", ["a b c d e f .\tg h i j k l .\tneutral"])
    found = ids(of_file(path))
    untouched = {item for item, (scheme, _) in found.items() if scheme in ("original", "control")}
    for other in ({"seed": 1}, {"punctuation": "move"}):
        assert found.keys() & ids(of_file(path, **other)).keys() == untouched
    relabelled = own_set(tmp_path / "other.tsv", ["a b c d e f .\tg h i j k l .\tentailment"])
    assert not found.keys() & ids(of_file(relabelled)).keys()


def test_identical_pairs_are_one_row_with_their_number(models, tmp_path):
    twice = own_set(tmp_path / "twice.tsv", rows_of_pairs(1, 2, 1))
    again = own_set(tmp_path / "again.tsv", rows_of_pairs(1))
    table = whole(of_file(twice, again))
    assert not table.duplicated(["corpus", "item"]).any()
    (cluster,) = table.loc[table["corpus"] == again, "cluster"].unique()
    counts = table.groupby(["corpus", table["cluster"] == cluster])["count"].unique()
    assert counts[twice, True].tolist() == [2] and counts[twice, False].tolist() == [1]
    assert counts[again, True].tolist() == [1]  # the same items in another set
    assert set(table.loc[table["corpus"] == again, "item"]) <= set(table.loc[table["corpus"] == twice, "item"])


class Reluctant:
    """A chat model's labels: certain ones, and no label where a checksum of the texts says so."""

    def __init__(self, share: float):
        self.share, self.drawn = share, Drawn("reluctant")

    def __call__(self, name: str, pairs: Iterable[tuple[str, str]], **_: object) -> Iterator[tuple[float, ...]]:
        for pair in pairs:
            refused = self.refuses(pair)
            (row,) = np.eye(3)[self.drawn.probabilities([pair]).argmax(axis=1)]
            yield (float("nan"),) * 3 if refused else tuple(row * 0.8 + 0.2 / 3)

    def refuses(self, pair: tuple[str, str]) -> bool:
        return crc32("\0".join(("refused", *pair)).encode()) % 1000 < 1000 * self.share


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_a_refusal_is_no_answer_and_reaches_no_mean(models, tmp_path, monkeypatch, share):
    reluctant = Reluctant(share)
    monkeypatch.setattr(steps, "iter_classified", reluctant)
    p = params(models=["one"], max_entropy={"one": "twin"}, n_pairs=40)
    assert_follows(p)
    file = tmp_path / "outcomes.jsonl"
    write_outcomes(outcomes(p), file, "jsonl")
    pd.testing.assert_frame_equal(study.results(p), headline(p, read_outcomes(file)))

    table = whole(p, texts=True)
    asked = table["changed"].where(table["changed"].notna(), table["source"]).str.split("\n")
    refused = np.array([reluctant.refuses((premise, hypothesis)) for premise, hypothesis in asked])
    assert 0.2 < refused.mean() < 0.4 if share < 1 else refused.all()
    assert (table["verdict"] == "undecided").eq(refused).all() and table["value"].isna().eq(refused).all()
    assert (table.loc[refused, "reason"] == "refused").all() and table.loc[refused, "output"].isna().all()

    # By hand, of what was answered.
    main = table[table["comparison"] == "main"]
    found, original = study.results(p).set_index("measure"), main[main["scheme"] == "original"]["value"]
    answered = original.notna().sum()
    assert found.loc["accuracy", "n"] == answered
    assert found.loc["accuracy", "value"] == pytest.approx(original.mean(), nan_ok=True)
    assert found.loc["p_correct", "n"] + found.loc["p_flipped", "n"] <= answered
    permuted = main[main["scheme"] == "permuted"]["value"]
    assert found.loc["refused", "value"] == pytest.approx(permuted.isna().mean())
    assert found.loc["omega_max", "n"] == len(original)

    certain = -(np.log(0.8 + 0.2 / 3) * (0.8 + 0.2 / 3) + 2 * np.log(0.2 / 3) * 0.2 / 3)
    expected = pytest.approx(certain if share < 1 else np.nan, nan_ok=True)
    assert study.control_entropies(p)["value"].item() == expected
    both = study.max_entropy(p)
    means = both[both["measure"].isin(["entropy", "control_entropy"])]
    assert len(means) == 4 and all(value == expected for value in means["value"])
    assert (means["n"] == 0).all() if share == 1 else (means["n"] > 0).all()
    entropies = study.entropies(p)
    assert entropies["entropy"].notna().all() and len(entropies) == study.entropy_means(p)["n"].sum()

    control = study.control(p).iloc[0]
    again = main[main["scheme"] == "control"]["value"].to_numpy()
    shifts = again - original.to_numpy()
    assert control["n"] == np.isfinite(shifts).sum()
    assert control["control"] - control["accuracy"] == pytest.approx(control["difference"], nan_ok=True)
    if share == 1:
        assert study.accepted_examples(p).empty and control[["accuracy", "control"]].isna().all()
    note = f"refused to label are not accepted: one (sandbox:test): {permuted.isna().mean():.1%}"
    assert note in styled.results_table(study.results(p)).caption
    for figure in (
        figures.fig1_entropy(entropies, study.control_entropies(p)),
        figures.results_figure(study.results(p), study.floor_table(p)),
        figures.fig4_max_entropy(both, study.floor_table(p)),
    ):
        figure.canvas.draw()
