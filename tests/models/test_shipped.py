"""The models that come with nbsandbox: found, identified by their bytes, as good as their recipes promise, whole."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from nbkit.models.recipes import recipes_in
from nbkit.models.weights import folder_digest

from nbkit.corpora.nli import load_nli
from nbkit.errors import ModelError
from nbkit.models import (
    Decoding,
    check_model,
    classifier_identity,
    load_classifier,
    load_translator,
    model_identity,
    resolve,
)
from nbkit.models.translators.texts import corpus_bleu, text_pairs
from nbsandbox import trained

FOLDERS = sorted(trained.shipped_folder().iterdir())
FILES = ("recipes.yaml", "classifier_recipes.yaml", "language_model_recipes.yaml")
PAIRS = [("en", lang) for lang in ("de", "fr", "es", "it", "ru", "zh", "ja")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_weights_are_of_todays_recipe(folder):
    """Where this fails, train the model again, or take back the change of its recipe."""
    name = re.sub(r"(-(zero|joint|upsample-\d+))?(-seed-\d+)?(-en)?(-de|-fr)?$", "", folder.name)
    [recipe] = [recipes_in(file)[name] for file in FILES if name in recipes_in(file)]
    trained_by = json.loads((folder / "nbkit.json").read_text())["recipe"]
    today = {"seed": 0, **recipe, "targets": trained_by.get("targets")}
    today |= {each: trained_by[each] for each in ("seed", "condition") if each in trained_by}
    differing = {field for field, value in today.items() if trained_by.get(field) != value}
    assert not differing - {"targets"}


def test_the_identity_is_the_digest_of_the_weights():
    for src, tgt in (*PAIRS, ("ja", "en")):
        identity = model_identity("sandbox", src, tgt)
        assert identity["weights"] == folder_digest(trained.model_folder("sandbox")) and "recipe" not in identity
    assert identity["weights"] != model_identity("sandbox-small", "ja", "en")["weights"]
    folder = trained.model_folder("sandbox-convnet", "en")
    assert classifier_identity("sandbox-convnet", "en")["weights"] == folder_digest(folder)
    assert "recipe" in classifier_identity("sandbox-convnet", "de")  # trained on first use, as before
    assert resolve("sandbox-wsd-marian#2", "en", "de").folder.name == "sandbox-wsd-marian-seed-2-en-de"
    assert resolve("sandbox-wsd-marian#3", "en", "de").recipe == "sandbox-wsd-marian"


def test_a_pair_without_english_is_refused_with_the_languages():
    problem = check_model("sandbox", "de", "fr")
    assert "model 'sandbox' translates to and from 'en', not de→fr; its languages: " in problem and "zh" in problem


def test_damaged_weights_are_named_with_the_way_out(tmp_path, monkeypatch):
    shutil.copytree(trained.model_folder("sandbox"), tmp_path / "sandbox")
    monkeypatch.setattr(trained, "shipped_folder", lambda: tmp_path)
    monkeypatch.setattr("nbkit.models.lifecycle.shipped_folder", lambda: tmp_path)
    weights = tmp_path / "sandbox/model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ModelError, match=r"is damaged: it differs.*install it again: pip install"):
        load_translator("sandbox", "en", "de")


def test_without_its_models_nbsandbox_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "shipped_folder", lambda: tmp_path)
    assert "has no trained models; install it again: pip install" in check_model("sandbox", "en", "de")
    assert check_model("sandbox-wsd-lstm", "en", "de") is None  # is trained on first use


def test_they_are_good():
    def bleu(name: str, corpus: str, src: str, tgt: str, n: int = 20) -> float:
        pairs = list(text_pairs(corpus, src, tgt, n))
        sources = [pair.source for pair in pairs]
        hypotheses = load_translator(name, src, tgt).translate(sources, src, tgt, Decoding(), progress=False)
        return corpus_bleu(hypotheses, [pair.target for pair in pairs], tgt, resamples=0).score

    assert bleu("sandbox", "sandbox:test", "en", "de") > bleu("sandbox-small", "sandbox:test", "en", "de")
    pairs = list(load_nli("sandbox:test", "en", n=60))
    texts = [(pair.premise.text, pair.hypothesis.text) for pair in pairs]
    found = load_classifier("sandbox-convnet", lang="en").probabilities(texts, progress=False).argmax(1)
    labels = ("entailment", "neutral", "contradiction")
    assert sum(labels[i] == pair.label for i, pair in zip(found, pairs, strict=True)) > 50
