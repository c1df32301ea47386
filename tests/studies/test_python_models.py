"""Whole studies by plain Python functions: what they are asked, what is kept on disk of it, and what pages say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbkit.models import CLASSIFIERS, MODELS
from nbkit.store import Store
from nbkit.studies import STUDIES, nli_permutation, numbers, word_order
from nbkit.studies.nli_permutation import acceptance
from tests.pages import html, run_page

from .conftest import registered

REMARK = "mine (not remembered: register an identity)"


class Asked:
    """A function of a list that counts what it is asked."""

    def __init__(self, answer: Callable[[Any], Any]):
        self.answer = answer
        self.asked: list[Any] = []

    def __call__(self, inputs: list[Any]) -> list[Any]:
        self.asked += inputs
        return [self.answer(each) for each in inputs]


def kept_of_models() -> list[Path]:
    """What is kept on disk that a model's identity is part of."""
    configs = Path(Store().url).rglob("config.json")
    return [path for path in configs if '"python": "mine"' in path.read_text(encoding="utf-8")]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_word_order_by_a_function(params):
    mine = Asked(lambda text: text)
    MODELS.register("mine", mine)
    params = params.model_copy(update={"models": ["mine"]})
    table = word_order.STUDY.read(params)
    assert table["beta2"].median() == 1 and set(table["model"]) == {"mine"}  # it keeps every order
    word_order.STUDY.read(params, "as_coded")
    assert len(mine.asked) == len(set(mine.asked)) > 100  # once in this process
    assert list(Path(Store().url).rglob("*.parquet")) and not kept_of_models()
    mine.identity = "v1"
    assert word_order.STUDY.read(params).equals(table)
    assert {json.loads(path.read_text())["kind"] for path in kept_of_models()} >= {
        "translation",
        "word_order.outcomes",
    }


def test_numbers_by_a_function(cache):
    params = numbers.NumbersParams(models=["mine"], languages=["de"], n_numbers=2, n_templates=1)
    mine = Asked(lambda text: text)
    MODELS.register("mine", mine)
    for unit in STUDIES.get("numbers").units(params, count=True):
        assert unit.stored == 0
    table = numbers.STUDY.read(params)
    assert len(table) and mine.asked and not kept_of_models()
    mine.identity = "v1"
    assert numbers.STUDY.read(params).equals(table) and kept_of_models()


def test_nli_by_a_function_that_gives_labels(cache):
    params = nli_permutation.NliPermutationParams(
        models=["mine"], n_pairs=20, permutations=4, clumped_permutations=2, training_pairs=20
    )
    mine = Asked(lambda pair: "neutral")
    CLASSIFIERS.register("mine", mine)
    results = acceptance.results(nli_permutation.STUDY.read(params, "pairs"))
    assert set(results["model"]) == {"mine"} and len(mine.asked) == len(set(mine.asked))
    assert not kept_of_models()
    mine.identity = "v1"
    assert acceptance.results(nli_permutation.STUDY.read(params, "pairs")).equals(results) and kept_of_models()


def test_no_page_of_a_function_is_finished_for_another_process(params):
    """Its key is of this registration alone."""
    inputs = STUDIES.get("word_order").inputs
    params, found = params.model_copy(update={"models": ["mine"]}), []
    for identity in (None, None, "v1", "v1"):
        mine = Asked(lambda text: text)
        mine.identity = identity
        MODELS.register("mine", mine, replace=True)
        found.append(json.dumps(inputs(params)))
    assert len(set(found)) == 3 and found[2] == found[3]


@pytest.mark.thorough
@pytest.mark.parametrize("identity", [None, "v1"])
def test_a_page_says_what_is_not_remembered(params, tmp_path, monkeypatch, identity):
    mine = Asked(lambda text: text)
    mine.identity = identity
    run = params.model_copy(update={"models": ["mine"]}).model_dump()
    with registered(mine, ["mine"]):
        page = run_page("word_order/robust_or_faithful", run, tmp_path / "page", monkeypatch)
    assert len(mine.asked) == len(set(mine.asked))
    assert (REMARK in html(list(page.shown.values())[-1])) == (identity is None)
    assert bool(kept_of_models()) == (identity is not None)
