"""What workers of an idioms run do beside and after one another, and what a change behind a remembered table does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbkit.errors import NbkitError
from nbkit.measure import aligners as eflomal_aligner
from nbkit.models import probes
from nbkit.models.recipes import TranslatorRecipe
from nbkit.store import Store
from nbkit.studies import engine, idioms
from nbkit.studies.idioms import STUDY, IdiomsParams, steps
from nbkit.studies.idioms.steps import CONTROLS, load_data, run_dictionaries

from .conftest import Dummy, register
from .idioms_cases import literally, pairs, toy_params


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    register(Dummy(literally))
    return toy_params(tmp_path)


def test_all_systems_are_judged_against_one_alignment_of_the_references(params, monkeypatch):
    """Links that cannot be sampled twice alike are there before systems are judged side by side."""
    sampled: list[set[tuple[str, ...]]] = []

    def sample(pairs, settings, priors):
        sampled.append({target for _, target in pairs})
        return {way: ["0-0"] * len(pairs) for way in ("forward", "backward")}

    monkeypatch.setattr(eflomal_aligner, "_sample", sample)
    monkeypatch.setattr(eflomal_aligner.EflomalAligner, "_priors", ["a b 1"])
    eflomal = params.model_copy(update={"aligners": ["eflomal"]})
    dump = eflomal.model_dump(mode="json")
    steps.align_references.work(dump, language="fr")
    references = {tuple(steps.tokens(pair.target, "fr")) for pair in load_data(eflomal, "fr", Store()).test}
    assert references in sampled
    sampled.clear()
    for system in (*eflomal.systems, *CONTROLS):
        steps.judge.work(dump, language="fr", system=list(system))
    assert references not in sampled and len(sampled) == 2  # one model's translations, and a copy of the sources


def test_mining_goes_on_where_it_was_killed(params, tmp_path, monkeypatch):
    """A chunk is remembered when it is mined; rows and counts are those of one pass."""
    mined = mined_params(params, tmp_path)
    whole = steps.mine(mined, "fr", Store())
    asked: list[int] = []
    texts = steps.source_texts

    def counted(params, sources):
        asked.append(len(sources))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return texts(params, sources)

    monkeypatch.setattr(steps, "_CHUNK", 3)
    monkeypatch.setattr(steps, "source_texts", counted)
    other = Store(tmp_path / "other")
    with pytest.raises(KeyboardInterrupt):
        steps.mine(mined, "fr", other)
    assert not steps.is_mined(mined, "fr", other)
    assert steps.mine(mined, "fr", other) == whole and asked == [3, 3, 3, 3, 2]  # the first chunk once


def test_units_mine_first_and_probe_last(params, tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "has_states", lambda *_: True)  # the dummy is Python code
    mined = mined_params(params, tmp_path).model_copy(update={"contexts": ["full", "word"]})
    stages = {unit.label.partition(" ")[0]: unit.stage for unit in STUDY.units(mined, count=True)}
    assert stages == {"mine": 0, "align": 2, "translate": 1, "judge": 2, "probe": 3}
    assert [unit.stage for unit in STUDY.units(mined) if unit.label.startswith("align references")] == [1]
    steps.mined.work(params=mined.model_dump(mode="json"), language="fr", corpus=mined.corpora["mine"])
    assert steps.is_mined(mined, "fr", Store())
    assert {unit.texts for unit in STUDY.units(mined, count=True) if unit.label.startswith("probe")} == {4}


def test_remembered_tables_know_the_code_behind_them(params, tmp_path, monkeypatch):
    """Mined pairs, an induced dictionary, the matcher's recall and probes are made again where code changed."""
    mined = mined_params(params, tmp_path).model_copy(update={"dictionary": "induced"})
    system = mined.systems[0]

    def keys(folder: str) -> list[str]:
        seen: list[dict] = []

        class Spy(Store):
            def table(self, config, compute):
                seen.append(dict(config))
                return super().table(config, compute)

        spy = Spy(tmp_path / folder)
        run_dictionaries(mined, "fr", spy)
        idioms.matcher_recall(mined, spy)
        monkeypatch.setattr(steps, "_probes", lambda *_: iter(()))
        monkeypatch.setattr(steps, "probed_pairs", lambda *_: ())
        steps.probed(mined, "fr", system, store=spy)
        wanted = {"idioms.mined", "idioms.induced", "idioms.recall", "idioms.probed"}
        return sorted({json.dumps(each, sort_keys=True) for each in seen if each["kind"] in wanted})

    before = keys("one")
    assert keys("two") == before
    monkeypatch.setattr(engine, "digest", lambda *_, **__: "changed")
    monkeypatch.setattr(probes, "VERSION", 10**6)
    assert not set(keys("three")) & set(before)


def test_an_aligner_learns_once_in_a_process(params, monkeypatch):
    read: list[int] = []
    monkeypatch.setattr(steps, "load_data", lambda *args: read.append(1) or load_data(*args))
    eflomal = params.model_copy(update={"aligners": ["eflomal"]})
    first = steps.run_aligner(eflomal, "fr", "eflomal", Store())
    assert steps.run_aligner(eflomal.model_copy(), "fr", "eflomal", Store()) is first and read == [1]


def test_training_data_that_holds_a_test_sentence_is_an_error(params, tmp_path, monkeypatch):
    leak = load_data(params, "fr", Store()).test[0].source.upper()
    recipe = TranslatorRecipe(src="en", targets=("fr",), train=f"{tmp_path}/news.tsv", pairs=None, steps=1)
    monkeypatch.setattr(steps, "trained_by", lambda *_: recipe)
    assert idioms.training_checked(params)["pairs"].tolist() == [2]
    (tmp_path / "news.tsv").write_text(f"It is here .\tCela est ici .\n{leak}\tIls meurent .\n", encoding="utf-8")
    with pytest.raises(NbkitError, match="1 test sentence is in the training data"):
        idioms.training_checked(params)
    monkeypatch.setattr(steps, "trained_by", lambda *_: None)
    assert idioms.training_checked(params)["pairs"].isna().all()


def mined_params(params: IdiomsParams, folder: Path) -> IdiomsParams:
    """The same pairs, mined out of a corpus."""
    lines = [f"{pair.source}\t{pair.target}\n" for pair in pairs()]
    (folder / "corpus.tsv").write_text("".join([*lines, *(f"It is {i} .\tCela est {i} .\n" for i in range(3))]),
                                       encoding="utf-8")  # fmt: skip
    (folder / "list.txt").write_text("kick the bucket\nhot potato\n", encoding="utf-8")
    mined = {"data": "mined", "corpora": {"mine": f"{folder}/corpus.tsv"}, "idioms": f"{folder}/list.txt"}
    return params.model_copy(update=mined)
