"""Classifiers: the same probabilities as one pair at a time, whatever the batches, order and labels."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

from nbkit.corpora.nli import LABELS
from nbkit.errors import ModelError, UnknownNameError
from nbkit.models import CLASSIFIERS, Entry, ask, load
from nbkit.models.folders import output_order
from nbkit.store import Store
from tests.models.by_name import (
    check_classifier,
    classifier_identity,
    classify_remembered,
    iter_classified,
    load_classifier,
)

from .nli_checkpoints import LABELS as PUBLISHED
from .nli_checkpoints import PAIRS, relabel, save_classifier
from .trained import replace_weights


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder for each architecture."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("classifiers")
    return {name: save_classifier(root / name, name) for name in PUBLISHED}


@pytest.fixture
def folder(folders, tmp_path):
    """A copy of the RoBERTa, to be spoilt."""
    return shutil.copytree(folders["roberta"], tmp_path / "roberta")


def one_by_one(folder, pairs):
    """What one would write first: transformers alone, a pair at a time; columns by the names in the settings."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    import nbsandbox.networks  # noqa: F401

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    columns = {name.lower(): i for i, name in model.config.id2label.items()}
    rows = []
    for premise, hypothesis in pairs:
        with torch.no_grad():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        rows.append(logits.double().softmax(-1)[[columns[name] for name in LABELS]].tolist())
    return np.array(rows)


def _order(classifier) -> list[int]:
    return output_order(load(classifier.name, "classify", "en").reference, classifier.network.folder)


@pytest.mark.parametrize("architecture", PUBLISHED)
def test_probabilities_are_those_of_one_pair_at_a_time(architecture, folders, monkeypatch):
    pairs = [*PAIRS, PAIRS[3], ("", "a man")]
    classifier = load_classifier(str(folders[architecture]))
    expected = one_by_one(folders[architecture], pairs)
    found = classifier.probabilities(pairs, progress=False)
    assert found.shape == (len(pairs), 3)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_allclose(found.sum(1), 1)
    assert len(np.unique(found.round(4), axis=0)) > len(PAIRS) / 3  # else nothing would have been compared

    order = np.random.default_rng(0).permutation(len(pairs))
    shuffled = classifier.probabilities([pairs[i] for i in order], progress=False)
    np.testing.assert_allclose(shuffled, found[order], atol=2e-6)
    monkeypatch.setattr(classifier.network.budget, "tokens", 40)
    np.testing.assert_allclose(classifier.probabilities(pairs, progress=False), found, atol=2e-6)
    assert classifier.probabilities([], progress=False).shape == (0, 3)
    assert classifier.probabilities([("a man", "")], progress=False).sum() == pytest.approx(1)


@pytest.mark.parametrize("architecture", ["infersent", "bilstm", "convnet"])
def test_sentence_encoders_do_not_see_padding(architecture, folders):
    """As the model gets them in training, in one padded batch, and as they are classified, sentence by sentence."""
    classifier = load_classifier(str(folders[architecture]))
    batch = classifier.tokenizer(*map(list, zip(*PAIRS, strict=True)), padding=True, return_tensors="pt")
    assert not batch["attention_mask"].all()
    with torch.no_grad():
        logits = classifier.model(**batch).logits
        padded = classifier.model(
            **{name: torch.nn.functional.pad(rows, (0, 5)) for name, rows in batch.items()}
        ).logits
    torch.testing.assert_close(logits, padded)
    rows = logits.double().softmax(-1)[:, _order(classifier)].numpy()
    np.testing.assert_allclose(classifier.probabilities(PAIRS, progress=False), rows, atol=2e-6)


def test_the_three_encoders_are_conneaus(folders):
    """InferSent written out: max over the states of the words; and [u, v, |u − v|, u ∗ v]."""
    model = load_classifier(str(folders["infersent"])).model
    words = torch.tensor([[4, 7, 5, 6]])
    with torch.no_grad():
        states = model.encoder.lstm(model.embeddings(words))[0]
        torch.testing.assert_close(model.encode(words), states.max(1).values)
        u, v = model.encode(words), model.encode(words.flip(1))
        features = torch.cat([u, v, abs(u - v), u * v], 1)
        torch.testing.assert_close(model.compare(u, v), model.output(torch.tanh(model.comparison(features))))
        projected = load_classifier(str(folders["bilstm"])).model
        states = projected.encoder.lstm(projected.embeddings(words))[0] @ projected.encoder.projection.weight.T
        torch.testing.assert_close(projected.encode(words), states.max(1).values)
        convnet = load_classifier(str(folders["convnet"])).model
        states, found = convnet.embeddings(words).transpose(1, 2), []
        for convolution in convnet.encoder.convolutions:
            states = torch.relu(convolution(states))
            found.append(states.max(2).values)
        torch.testing.assert_close(convnet.encode(words), torch.cat(found, 1))
    assert len(found) == 4


def test_no_mask_and_fast_attention(folders, monkeypatch):
    """Pairs of one length go together, unpadded: no mask reaches the model, which attends by SDPA."""
    classifier = load_classifier(str(folders["roberta"]))
    assert classifier.model.config._attn_implementation == "sdpa"
    given, forward = [], classifier.model.forward
    monkeypatch.setattr(classifier.model, "forward", lambda **inputs: given.append(inputs) or forward(**inputs))
    classifier.probabilities([*PAIRS, *PAIRS], progress=False)
    assert all(set(inputs) == {"input_ids"} for inputs in given)
    assert sum(len(inputs["input_ids"]) for inputs in given) == len(set(PAIRS))  # equal pairs are classified once


def test_each_distinct_sentence_is_encoded_once(folders, monkeypatch):
    classifier = load_classifier(str(folders["convnet"]))
    encoded, encode = [], classifier.model.encode
    monkeypatch.setattr(classifier.model, "encode", lambda ids: encoded.extend(ids.tolist()) or encode(ids))
    pairs = [("the dog sleeps", text) for _, text in PAIRS]
    classifier.probabilities(pairs, progress=False)
    assert len(encoded) == len({tuple(ids) for ids in encoded}) == 1 + len({text for _, text in PAIRS})


@pytest.mark.parametrize("architecture", ["roberta", "infersent"])
def test_out_of_memory_halves_the_batch(architecture, folders, monkeypatch):
    classifier = load_classifier(str(folders[architecture]))
    expected = classifier.probabilities(PAIRS, progress=False)
    name = "_probabilities" if architecture == "roberta" else "_encode"
    run, sizes = getattr(classifier.network, name), []

    def small(batch, *more):
        sizes.append(len(batch))
        if len(batch) > 1:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return run(batch, *more)

    monkeypatch.setattr(classifier.network, name, small)
    np.testing.assert_allclose(classifier.probabilities(PAIRS, progress=False), expected, atol=2e-6)
    assert max(sizes) > 1


def test_a_stream_is_taken_a_window_at_a_time(folders, monkeypatch):
    monkeypatch.setattr("nbkit.models.answers._WINDOW", 8)
    model, taken = load(str(folders["bilstm"]), "classify", "en"), []
    model.shard = 8
    rows = ask(model, (taken.append(pair) or pair for pair in PAIRS * 4), None, progress=False)
    next(rows)
    assert len(taken) == 8
    assert sum(1 for _ in rows) == len(PAIRS) * 4 - 1


def test_a_long_pair_is_cut_with_a_warning(folders):
    long = ("the dog " * 400, "a man is riding")
    for architecture in ("roberta", "bart", "distilbert"):
        classifier = load_classifier(str(folders[architecture]))
        with pytest.warns(UserWarning, match=r"cut to its 512 positions: 'the dog"):
            rows = classifier.probabilities([long, PAIRS[0]], progress=False)
        np.testing.assert_allclose(rows.sum(1), 1)


def test_marks_in_a_text_are_text(folders):
    """BART reads its answer off the last end-of-sentence mark, and fails where pairs have not equally many."""
    classifier = load_classifier(str(folders["bart"]))
    rows = classifier.probabilities([("a man </s> sleeps", "a <s> dog"), ("a man sleeps", "a dog")], progress=False)
    assert abs(rows[0] - rows[1]).max() > 1e-6


def test_labels_are_read_and_never_assumed(folder, monkeypatch):
    """The trap: the same weights under another order of names are another classifier."""
    before = load_classifier(str(folder)).probabilities(PAIRS, progress=False)
    relabel(folder, ("neutral", "entailment", "contradiction"))
    after = load_classifier(str(folder)).probabilities(PAIRS, progress=False)
    # Outputs 0, 1, 2 were contradiction, neutral, entailment.
    np.testing.assert_allclose(after, before[:, [1, 2, 0]])
    given = load_classifier(f"{folder}?labels=contradiction,neutral,entailment")
    np.testing.assert_allclose(given.probabilities(PAIRS, progress=False), before)
    entry = Entry(hub=str(folder), labels=("contradiction", "neutral", "entailment"))
    CLASSIFIERS.register("mine", entry)
    np.testing.assert_allclose(load_classifier("mine").probabilities(PAIRS, progress=False), before)
    assert classifier_identity("mine") != classifier_identity(str(folder))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), "its outputs are named 'LABEL_0', 'LABEL_1', 'LABEL_2'"),
        (("entailment", "not_entailment"), "'entailment', 'not_entailment'"),
        (("entailment", "neutral", "maybe"), "not entailment, neutral, contradiction"),
        (("entailment", "neutral", "contradiction", "other"), "'other'"),
        (None, "its outputs are named nothing"),
    ],
)
def test_labels_that_are_not_the_three(folder, labels, message):
    relabel(folder, labels)
    with pytest.raises(ModelError) as error:
        load_classifier(str(folder))
    for problem in (check_classifier(str(folder)), str(error.value)):
        assert message in problem
        assert "?labels=contradiction,neutral,entailment" in problem


def test_settings_that_contradict_themselves(folder):
    config = json.loads((folder / "config.json").read_text())
    config["label2id"] = {"entailment": 0, "neutral": 1, "contradiction": 2}
    (folder / "config.json").write_text(json.dumps(config))
    assert "contradict each other" in check_classifier(str(folder))
    assert check_classifier(f"{folder}?labels=contradiction,neutral,entailment") is None
    del config["id2label"]
    (folder / "config.json").write_text(json.dumps(config))
    assert check_classifier(str(folder)) is None  # label2id alone says it, too


def test_checkpoints_that_are_no_classifiers(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["RobertaForMaskedLM"]}))
    assert "holds RobertaForMaskedLM, which is not a classifier; fine-tune it" in check_classifier(str(folder))
    (folder / "config.json").write_text(json.dumps(config))

    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    body = {name: tensor for name, tensor in weights.items() if not name.startswith("classifier")}
    save_file(body, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"not a trained AutoModel.*; missing: classifier\.dense"):
        load_classifier(str(folder))
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_classifier(str(folder))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "AutoModelForSequenceClassification.from_pretrained" in check_classifier(str(folder))
    assert "there is no folder" in check_classifier(str(tmp_path / "none" / "here"))


def test_names_languages_and_devices_that_cannot_be(folders):
    with pytest.raises(UnknownNameError, match="did you mean 'sick-roberta'"):
        load_classifier("sick-robrta")
    assert "does not support 'de'; it supports: en" in check_classifier("bart-large-mnli", "de")
    assert "'x' is not" not in (
        check_classifier(str(folders["bart"]), "zh") or ""
    )  # a folder of one's own: any language
    with pytest.raises(ModelError, match="not entailment, neutral, contradiction"):
        load_classifier(f"{folders['bart']}?labels=a,b,c")
    with pytest.raises(ModelError, match="'float3'"):
        load_classifier(str(folders["bart"]), dtype="float3")
    assert "HF_HUB_OFFLINE is set" in check_classifier("roberta-large-mnli")


def test_a_missing_tokenizer_is_named(folder):
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(ModelError, match="holds no tokenizer"):
        load_classifier(str(folder))


def test_remembered_pairs_load_no_model(folders, tmp_path, monkeypatch):
    store, name = Store(tmp_path / "store"), str(folders["distilbert"])
    first = classify_remembered(name, [*PAIRS, PAIRS[0]], store=store, progress=False)
    np.testing.assert_allclose(first[-1], first[0])
    monkeypatch.setattr("nbkit.models.answers.Weights.answers", None)
    again = classify_remembered(name, PAIRS[::-1], store=store, progress=False)
    np.testing.assert_array_equal(again, first[:-1][::-1])
    streamed = list(iter_classified(name, iter(PAIRS), store=store, progress=False))
    np.testing.assert_array_equal(streamed, first[:-1])
    assert classify_remembered(name, [], store=store).shape == (0, 3)

    code = (
        "import sys; from tests.models.by_name import classify_remembered; from nbkit.store import Store;"
        f"store = Store({str(tmp_path / 'store')!r});"
        f"rows = classify_remembered({name!r}, {list(PAIRS)!r}, store=store, device='cpu');"
        "print(len(rows), [m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == f"{len(PAIRS)} []"


def test_another_model_in_the_same_folder_answers_for_itself(folder, tmp_path):
    name, store = str(folder), Store(tmp_path / "store")
    first = classify_remembered(name, PAIRS, store=store, progress=False)
    replace_weights(folder)
    second = classify_remembered(name, PAIRS, store=store, progress=False)
    np.testing.assert_array_equal(second, load_classifier(name).probabilities(PAIRS, progress=False))
    assert not np.allclose(first, second)


def test_shards_are_written_as_it_goes(folders, tmp_path, monkeypatch):
    """An interruption costs one shard: what was classified before it is in the store."""
    from tests.models.by_name import classification_config

    monkeypatch.setattr("nbkit.models.model.Model.shard", 4)
    store, name = Store(tmp_path), str(folders["convnet"])
    classifier, calls = load_classifier(name), []

    class Interrupted:
        identity = "v1"

        def probabilities(self, pairs, *, progress):
            calls.append(len(pairs))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return classifier.probabilities(pairs, progress=False)

    CLASSIFIERS.register("interrupted", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        classify_remembered("interrupted", PAIRS, store=store)
    assert calls == [4, 4, 4]
    assert len(store.missing(classification_config("interrupted"), PAIRS)) == len(set(PAIRS)) - 8


def test_bfloat16_agrees_roughly(folders):
    exact = load_classifier(str(folders["roberta"])).probabilities(PAIRS, progress=False)
    coarse = load_classifier(str(folders["roberta"]), dtype="bfloat16").probabilities(PAIRS, progress=False)
    assert 0 < abs(coarse - exact).max() < 0.1
