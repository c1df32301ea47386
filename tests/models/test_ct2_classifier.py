"""Classifiers by CTranslate2 against transformers: the same probabilities, whatever the architecture."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

ctranslate2 = pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')

from nbkit.errors import MissingExtraError, ModelError, UnknownNameError  # noqa: E402
from nbkit.models import (  # noqa: E402
    check_classifier,
    classifier_identity,
    classifier_label,
    classify_remembered,
    ct2,
    ensure_classifier,
    load_classifier,
    resolve_classifier,
)
from nbkit.models.backends import ENCODERS  # noqa: E402
from nbkit.store import Store  # noqa: E402

from .nli_checkpoints import LABELS, MORE, PAIRS, save_classifier, save_other  # noqa: E402

CONVERTED = ("roberta", "distilbert", *MORE)
#: What transformers alone runs.
REFUSED = ("bart", "infersent", "bilstm", "convnet")
MANY = (*PAIRS, *((second, first) for first, second in PAIRS), ("", "a man"), PAIRS[3])


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder for each architecture, as transformers 5 saves it."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("converted-classifiers")
    found = {name: save_classifier(root / name, name) for name in LABELS}
    return found | {name: save_other(root / name, name, found[like]) for name, (_, like, _) in MORE.items()}


@pytest.fixture(scope="module")
def pairs(folders, tmp_path_factory):
    """Each that is converted by transformers, by CTranslate2 and with rounded weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBKIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        suffixes = ("", "@ct2", "@ct2-int8")
        return {name: [load_classifier(f"{folders[name]}{suffix}") for suffix in suffixes] for name in CONVERTED}


@pytest.mark.parametrize("name", CONVERTED)
def test_probabilities_are_those_of_transformers(name, pairs):
    expected, found, rounded = (each.probabilities(MANY, progress=False) for each in pairs[name])
    assert len(np.unique(expected.round(4), axis=0)) > len(PAIRS) / 3  # else nothing would have been compared
    np.testing.assert_allclose(found, expected, atol=1e-5)
    differ = found.argmax(1) != expected.argmax(1)
    first, second = np.sort(expected, 1)[:, -1:-3:-1].T
    assert (first - second)[differ].max(initial=0) < 2e-5
    assert abs(rounded - expected).max() > 1e-6
    assert abs(rounded - expected).mean() < 0.05


def test_which_sentence_a_token_is_in_is_not_lost(pairs):
    """BERT is told; the same ids with all of them in the first sentence give something else."""
    transformers, converted, _ = pairs["bert"]
    encoded = next(converted._encoded([PAIRS[1]]))
    assert len(encoded) == 2 and set(encoded[1]) == {0, 1}
    other = (encoded[0], (0,) * len(encoded[0]))
    for item in (encoded, other):
        np.testing.assert_allclose(converted._classify([item]), transformers._classify([item]), atol=1e-5)
    assert not np.allclose(converted._classify([encoded]), converted._classify([other]), atol=1e-3)


@pytest.mark.parametrize("name", ["roberta", "bert"])
def test_order_batch_and_company_change_nothing(name, pairs, monkeypatch):
    classifier = pairs[name][1]
    found = classifier.probabilities(MANY, progress=False)
    order = np.random.default_rng(0).permutation(len(MANY))
    monkeypatch.setattr(type(classifier), "budgets", {"cpu": 40})
    again = classifier.probabilities([MANY[i] for i in order], progress=False)
    np.testing.assert_allclose(again, found[order], atol=2e-6)


def test_a_long_pair_is_cut_where_transformers_cuts_it(pairs):
    long = [("the dog " * 400, "a man is riding")]
    for name in CONVERTED:
        rows = []
        for classifier in pairs[name][:2]:
            with pytest.warns(UserWarning, match=r"cut to its \d+ positions"):
                rows.append(classifier.probabilities(long, progress=False))
        np.testing.assert_allclose(*rows, atol=2e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_architectures_without_a_conversion_are_refused_before_anything_is_loaded(name, folders, monkeypatch):
    monkeypatch.setattr("nbkit.models.classifiers.classifier.load_trained", None)
    monkeypatch.setattr("nbkit.models.classifiers.training.train_classifier", None)
    for place in (str(folders[name]), f"sick-{name}"):
        message = check_classifier(f"{place}@ct2-int8")
        assert message is not None and f"classifier '{place}@ct2-int8': ctranslate2 does not support its" in message
        assert "it supports: bert, camembert, distilbert, roberta, xlm-roberta" in message
        assert message.endswith(f"Drop the backend suffix to run it with transformers: '{place}'")
        for attempt in (load_classifier, ensure_classifier):
            with pytest.raises(ModelError, match="does not support its architecture"):
                attempt(f"{place}@ct2")
    assert set(ENCODERS) == set(CONVERTED)


def test_settings_that_the_engine_does_not_know(folders, tmp_path):
    for changed, message in (
        ({"hidden_act": "gelu_10"}, "the activation 'gelu_10'"),
        ({"position_embedding_type": "relative_key"}, "'relative_key' positions"),
        ({"is_decoder": True}, "is_decoder"),
    ):
        folder = shutil.copytree(folders["roberta"], tmp_path / message.split("'")[-2 if "'" in message else 0][:12])
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changed))
        with pytest.raises(ModelError, match="ctranslate2 does not support") as error:
            load_classifier(f"{folder}@ct2")
        assert message in str(error.value) and str(error.value).endswith(f"use '{folder}'")


def test_names_labels_and_types_that_cannot_be(folders, own_cache):
    with pytest.raises(UnknownNameError, match="unknown backend 'ct2-int4'; did you mean 'ct2-int8'"):
        resolve_classifier("sick-roberta@ct2-int4", "en")
    labels = "?labels=contradiction,neutral,entailment"
    assert resolve_classifier(f"org/model@v2{labels}@ct2", "en").revision == "v2"
    with pytest.raises(ModelError, match=r"the backend suffix must come last: 'org/model\?labels=.*@ct2'"):
        resolve_classifier(f"org/model@ct2{labels}", "en")
    with pytest.raises(ModelError, match=r"dtype 'bfloat16' not available on 'cpu'; there are: .*float32"):
        load_classifier(f"{folders['roberta']}@ct2", device="cpu", dtype="bfloat16")
    (converted,) = (own_cache / "models" / "ctranslate2").glob("[!.]*")
    (converted / ct2.HEAD_FILE).write_bytes(b"damaged")
    with pytest.raises(ModelError, match=f"{ct2.HEAD_FILE} is damaged"):
        load_classifier(f"{folders['roberta']}@ct2")


def test_a_backend_that_is_missing_is_said_before_anything_is_made(folders, own_cache, monkeypatch):
    monkeypatch.setattr(
        "nbkit.models.backends.find_spec", lambda package: None if package == "ctranslate2" else package
    )
    install = "backend 'ct2' needs the package ctranslate2: pip install \"nbkit[ct2]\""
    assert check_classifier(f"{folders['bert']}@ct2") == install
    for attempt in (load_classifier, ensure_classifier):
        with pytest.raises(MissingExtraError, match="pip install"):
            attempt(f"{folders['bert']}@ct2")
    assert not (own_cache / "models" / "ctranslate2").exists()


def test_labels_are_read_as_they_are_for_transformers(folders, tmp_path, pairs):
    folder = shutil.copytree(folders["roberta"], tmp_path / "roberta")
    plain = pairs["roberta"][1].probabilities(PAIRS, progress=False)
    given = load_classifier(f"{folder}?labels=neutral,entailment,contradiction@ct2")
    np.testing.assert_allclose(given.probabilities(PAIRS, progress=False), plain[:, [1, 2, 0]], atol=2e-6)
    assert "?labels=" in check_classifier(f"{folder}?labels=a,b,c@ct2")


def test_converted_once_and_remembered_as_a_system_of_its_own(folders, own_cache, monkeypatch, tmp_path):
    plain = str(folders["distilbert"])
    names = [plain, f"{plain}@ct2", f"{plain}@ct2-int8"]
    assert [classifier_label(name) for name in names] == ["distilbert", "distilbert CT2", "distilbert CT2 int8"]
    keys = [classifier_identity(name, device="cpu") for name in names]
    assert [key["backend"] for key in keys] == ["transformers", "ctranslate2", "ctranslate2"]
    assert [key.get("quantization") for key in keys] == [None, None, "int8"]
    assert all("torch" in key for key in keys) and keys[1]["ctranslate2"] == ctranslate2.__version__
    assert len({key["weights"] for key in keys}) == 1
    assert [check_classifier(name) for name in names] == [None] * 3

    saved, save = [], ct2.save_spec
    monkeypatch.setattr(ct2, "save_spec", lambda *given: saved.append(given) or save(*given))
    store = Store(tmp_path / "store")
    tables = [classify_remembered(name, PAIRS, store=store, progress=False) for name in names]
    assert ensure_classifier(names[2]) == folders["distilbert"]
    assert len(saved) == 1 and len(list((own_cache / "models" / "ctranslate2").glob("[!.]*"))) == 1
    assert (tables[0] != tables[1]).any() and (tables[1] != tables[2]).any()
    monkeypatch.setattr("nbkit.models.classifiers.lifecycle.CLASSIFIER.kept", None)
    again = [classify_remembered(name, PAIRS, store=store, progress=False) for name in names]
    np.testing.assert_array_equal(again, tables)
