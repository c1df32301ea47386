"""GPT-2 by CTranslate2 against transformers: the same perplexities, tokens counted alike."""

from __future__ import annotations

import json
import math
import shutil
from itertools import pairwise

import numpy as np
import pytest

ctranslate2 = pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')

from nbkit.errors import MissingExtraError, ModelError, UnknownNameError  # noqa: E402
from nbkit.models import (  # noqa: E402
    check_language_model,
    ensure_language_model,
    language_model_identity,
    language_model_label,
    load_language_model,
    perplexities_remembered,
    resolve_language_model,
)
from nbkit.store import Store  # noqa: E402

from .language_checkpoints import TEXTS, save_language_model  # noqa: E402

MANY = (*TEXTS, " ".join(TEXTS), "a", "", TEXTS[2])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    from transformers.utils import logging

    logging.disable_progress_bar()
    root = tmp_path_factory.mktemp("converted-language-models")
    return {name: save_language_model(root / name, name) for name in ("gpt2", "bert")}


@pytest.fixture(scope="module")
def models(folders, tmp_path_factory):
    """GPT-2 by transformers, by CTranslate2, and with rounded weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBKIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        return [load_language_model(f"{folders['gpt2']}{suffix}") for suffix in ("", "@ct2", "@ct2-int8")]


def test_perplexities_are_those_of_transformers(models):
    expected, found, rounded = (each.perplexities(MANY, progress=False) for each in models)
    assert len(set(expected[:-1].tolist())) > len(TEXTS)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert math.isnan(found[-2]) and found[-1] == found[2]
    counts = [[each.tokens for each in model.likelihoods(MANY)] for model in models]
    assert counts[0] == counts[1] == counts[2]
    differ = abs(rounded / expected - 1)
    assert 1e-6 < np.nanmax(differ) < 0.2 and np.nanmean(differ) < 0.05


def test_a_model_without_a_beginning_scores_one_token_less(folders, tmp_path, models):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "gpt2")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        if (folder / name).is_file():
            settings = json.loads((folder / name).read_text())
            settings["bos_token"] = None
            (folder / name).write_text(json.dumps(settings))
    rows = [list(load_language_model(f"{folder}{end}").likelihoods(MANY)) for end in ("", "@ct2")]
    first, second = (np.array([each.perplexity for each in row]) for row in rows)
    np.testing.assert_allclose(second, first, rtol=1e-5)
    with_beginning = [each.tokens for each in models[1].likelihoods(MANY)]
    assert [each.tokens for each in rows[1]] == [max(0, count - 1) for count in with_beginning]


def test_order_batch_and_company_change_nothing(models, monkeypatch):
    model = models[1]
    found = model.perplexities(MANY, progress=False)
    order = np.random.default_rng(0).permutation(len(MANY))
    monkeypatch.setattr(type(model), "budgets", {"cpu": 40})
    again = model.perplexities([MANY[i] for i in order], progress=False)
    np.testing.assert_allclose(again, found[order], rtol=1e-5)
    assert model.perplexities([], progress=False).shape == (0,)


def test_long_texts_are_cut_where_transformers_cuts_them(models):
    long, found = [" ".join(TEXTS * 40)], []
    for model in models[:2]:
        with pytest.warns(UserWarning, match="positions"):
            found.append(next(iter(model.likelihoods(long))))
    assert found[0].tokens == found[1].tokens == 511
    assert found[1].log_probability == pytest.approx(found[0].log_probability, rel=1e-5)


def test_what_is_not_a_gpt2_is_refused_before_anything_is_loaded(folders, monkeypatch):
    monkeypatch.setattr("nbkit.models.language_models.language_model.load_trained", None)
    monkeypatch.setattr("nbkit.models.language_models.training.train_language_model", None)
    for place in (str(folders["bert"]), "sandbox-bert"):
        message = check_language_model(f"{place}@ct2")
        assert message is not None and f"language model '{place}@ct2': ctranslate2 does not support its" in message
        assert message.endswith(
            f"(bert); it supports: gpt2. Drop the backend suffix to run it with transformers: '{place}'"
        )
        for attempt in (load_language_model, ensure_language_model):
            with pytest.raises(ModelError, match="does not support its architecture"):
                attempt(f"{place}@ct2-int8")


def test_settings_and_types_that_the_engine_does_not_know(folders, tmp_path):
    folder = shutil.copytree(folders["gpt2"], tmp_path / "gpt2")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"scale_attn_by_inverse_layer_idx": True}))
    with pytest.raises(ModelError, match=r"scale_attn_by_inverse_layer_idx: True, which ctranslate2 does not support"):
        load_language_model(f"{folder}@ct2")
    with pytest.raises(ModelError, match=r"dtype 'bfloat16' not available on 'cpu'; there are: .*float32"):
        load_language_model(f"{folders['gpt2']}@ct2", device="cpu", dtype="bfloat16")
    with pytest.raises(UnknownNameError, match="unknown backend 'ct2-int4'; did you mean 'ct2-int8'"):
        resolve_language_model("gpt2@ct2-int4")


def test_a_backend_that_is_missing_is_said(folders, monkeypatch):
    monkeypatch.setattr("nbkit.models.backends.find_spec", lambda package: None)
    assert 'pip install "nbkit[ct2]"' in check_language_model(f"{folders['gpt2']}@ct2")
    for attempt in (load_language_model, ensure_language_model):
        with pytest.raises(MissingExtraError):
            attempt(f"{folders['gpt2']}@ct2")


def test_converted_once_and_remembered_as_a_system_of_its_own(folders, own_cache, monkeypatch, tmp_path):
    plain = str(folders["gpt2"])
    names = [plain, f"{plain}@ct2", f"{plain}@ct2-int8"]
    assert [language_model_label(name) for name in names] == ["gpt2", "gpt2 CT2", "gpt2 CT2 int8"]
    keys = [language_model_identity(name, device="cpu") for name in names]
    assert [(key["backend"], key.get("quantization")) for key in keys] == [
        ("transformers", None),
        ("ctranslate2", None),
        ("ctranslate2", "int8"),
    ]
    assert keys[1]["ctranslate2"] == ctranslate2.__version__ and len({key["weights"] for key in keys}) == 1
    store = Store(tmp_path / "store")
    rows = [perplexities_remembered(name, TEXTS, store=store, progress=False) for name in names]
    assert len(list((own_cache / "models" / "ctranslate2").glob("[!.]*"))) == 1
    assert all((first != second).any() for first, second in pairwise(rows))
    monkeypatch.setattr("nbkit.models.language_models.lifecycle.LANGUAGE_MODEL.kept", None)
    again = [perplexities_remembered(name, TEXTS, store=store, progress=False) for name in names]
    np.testing.assert_array_equal(again, rows)
