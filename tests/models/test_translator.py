"""Every architecture of the paper through the same code, with tiny random weights."""

from __future__ import annotations

import random
import shutil

import pytest

from nbkit.errors import ModelError
from nbkit.models import MODELS, Decoding, Entry, model, seq2seq
from nbkit.store import Store
from tests.models.by_name import load_translator, translate_remembered

from .trained import replace_weights

#: Each checkpoint, and the token that has to open a German hypothesis.
FORCED = {
    "marian": None,
    "mbart50": "de_DE",
    "m2m100-418m": "__de__",
    "m2m100-1.2b": "__de__",
    "nllb": "deu_Latn",
}
SHORT = Decoding(beams=3, max_new_tokens=12)

each_architecture = pytest.mark.parametrize("name", FORCED)


@pytest.fixture(scope="module")
def translators(checkpoints):
    return {name: load_translator(str(folder), "en", "de") for name, folder in checkpoints.items()}


def spy(translator, monkeypatch) -> list:
    """Records what goes into `generate` and what comes out of it."""
    calls, generate = [], translator.model.generate

    def recorded(**inputs):
        calls.append((inputs, generate(**inputs)))
        return calls[-1][1]

    monkeypatch.setattr(translator.model, "generate", recorded)
    return calls


@each_architecture
def test_source_and_target_language_are_stated_in_the_familys_way(name, translators, sentences, monkeypatch):
    translator = translators[name]
    calls = spy(translator, monkeypatch)
    hypotheses = translator.translate(sentences[:2], "en", "de", SHORT, progress=False)
    (inputs, output), tokenizer = calls[0], translator.tokenizer
    pieces = [tokenizer.convert_ids_to_tokens(row) for row in inputs["input_ids"].tolist()]
    if FORCED[name] is None:
        assert all(row[0].startswith("▁") for row in pieces)
    else:
        source_token = {"mbart50": "en_XX", "nllb": "eng_Latn"}.get(name, "__en__")
        assert {row[0] for row in pieces} == {source_token}
        assert set(output[:, 1].tolist()) == {tokenizer.convert_tokens_to_ids(FORCED[name])}
    assert "</s>" in pieces[0]
    assert not any(FORCED[name] in hypothesis for hypothesis in hypotheses if FORCED[name])
    assert output[:, 0].unique().tolist() == [translator.model.config.decoder_start_token_id]


@each_architecture
def test_hypotheses_are_those_of_plain_generate(name, translators, checkpoints, sentences):
    """The reference: one text at a time, transformers by hand, as its documentation shows it."""
    import torch
    from transformers import AutoModelForSeq2SeqLM

    translator = translators[name]
    model = AutoModelForSeq2SeqLM.from_pretrained(checkpoints[name]).eval()
    tokenizer = translator.tokenizer
    options = {}
    if FORCED[name]:
        tokenizer.src_lang = {"mbart50": "en_XX", "nllb": "eng_Latn"}.get(name, "en")
        options["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(FORCED[name])
    expected = []
    for text in sentences[:4]:
        with torch.inference_mode():
            tokens = model.generate(
                **tokenizer(text, return_tensors="pt"),
                num_beams=3,
                max_new_tokens=12,
                early_stopping=False,
                length_penalty=1.0,
                **options,
            )
        expected.append(tokenizer.decode(tokens[0], skip_special_tokens=True).strip())
    assert any(expected)
    assert translator.translate(sentences[:4], "en", "de", SHORT, progress=False) == expected


@each_architecture
def test_order_batch_and_company_change_nothing(name, translators, sentences, monkeypatch):
    translator = translators[name]
    alone = [translator.translate([text], "en", "de", SHORT, progress=False)[0] for text in sentences]
    order = list(range(len(sentences))) * 2
    random.Random(0).shuffle(order)
    texts = [sentences[i] for i in order]
    for budget in (40, 400):
        monkeypatch.setattr(translator.network.budget, "tokens", budget)
        assert translator.translate(texts, "en", "de", SHORT, progress=False) == [alone[i] for i in order]


def test_equal_texts_are_translated_once(translators, sentences, monkeypatch):
    translator = translators["marian"]
    calls = spy(translator, monkeypatch)
    translator.translate([sentences[0], sentences[1], sentences[0]] * 5, "en", "de", SHORT, progress=False)
    assert sum(len(inputs["input_ids"]) for inputs, _ in calls) == 2


def test_memory_that_runs_out_halves_the_batch(translators, sentences, monkeypatch):
    import torch

    translator = translators["m2m100-418m"]
    expected = translator.translate(sentences, "en", "de", SHORT, progress=False)
    sizes, generate = [], translator.model.generate

    def small(**inputs):
        sizes.append(len(inputs["input_ids"]))
        if sizes[-1] > 3:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return generate(**inputs)

    monkeypatch.setattr(translator.model, "generate", small)
    assert translator.translate(sentences, "en", "de", SHORT, progress=False) == expected
    assert max(sizes) > 3 >= sizes[-1]


@each_architecture
def test_an_end_alone_is_blank(name, translators, sentences):
    found = translators[name].translate(["</s>", sentences[0]], "en", "de", SHORT, progress=False)
    assert [bool(each) for each in found] == [False, True]
    assert translators[name].translate(["</s>"], "en", "de", SHORT, progress=False) == [""]


def test_blank_and_overlong_texts(translators, sentences):
    translator = translators["m2m100-418m"]
    assert translator.translate(["", " \t", sentences[0]], "en", "de", SHORT, progress=False)[:2] == ["", ""]
    assert translator.translate([], "en", "de", SHORT, progress=False) == []
    with pytest.warns(UserWarning, match="cut to its 64 positions"):
        translator.translate([" ".join(sentences)], "en", "de", SHORT, progress=False)


def test_settings_of_the_checkpoint_do_not_leak(translators, sentences, monkeypatch):
    """Its beams and lengths give way, what it forbids stays."""
    translator = translators["marian"]
    calls = spy(translator, monkeypatch)
    translator.translate(sentences[:1], "en", "de", Decoding(beams=1), progress=False)
    config = calls[0][0]["generation_config"]
    assert (config.num_beams, config.max_new_tokens, config.max_length) == (1, 63, None)
    assert config.bad_words_ids == [[translator.tokenizer.pad_token_id]]
    assert config.forced_eos_token_id == 0


def test_marian_of_several_targets_gets_its_mark(checkpoints, sentences, monkeypatch):
    entry = Entry(hub=str(checkpoints["marian"]), family="marian", prefixes={"zh": ">>cmn_Hans<<"})
    MODELS.register("marks", entry, replace=True)
    translator = load_translator("marks", "en", "zh")
    calls = spy(translator, monkeypatch)
    translator.translate(sentences[:1], "en", "zh", SHORT, progress=False)
    first = calls[0][0]["input_ids"][0, 0].item()
    assert translator.tokenizer.convert_ids_to_tokens(first) == ">>cmn_Hans<<"


def test_languages_devices_and_types_that_cannot_be(checkpoints, translators, sentences):
    with pytest.raises(ModelError, match="does not translate to 'fr'"):
        load_translator(str(checkpoints["marian"]), "en", "fr")
    with pytest.raises(ModelError, match="does not translate to 'cy'"):
        translators["mbart50"].translate(sentences[:1], "en", "cy", SHORT)
    with pytest.raises(ModelError, match="device 'nonsense'"):
        load_translator(str(checkpoints["marian"]), "en", "de", device="nonsense")
    with pytest.raises(ModelError, match="unknown dtype 'int8'"):
        load_translator(str(checkpoints["marian"]), "en", "de", dtype="int8")


def test_a_missing_tokenizer_and_damaged_weights_are_named(tmp_path, checkpoints):
    folder = shutil.copytree(checkpoints["marian"], tmp_path / "model")
    (folder / "source.spm").unlink()
    with pytest.raises(ModelError, match="no MarianTokenizer can be loaded"):
        load_translator(str(folder), "en", "de")
    shutil.copy(checkpoints["marian"] / "source.spm", folder)
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match=r"model .* cannot be loaded"):
        load_translator(str(folder), "en", "de")


def test_remembered_translations_load_no_model(tmp_path, checkpoints, sentences, monkeypatch):
    folder, store = str(checkpoints["marian"]), Store(tmp_path)
    loads, load = [], seq2seq.load
    monkeypatch.setattr(seq2seq, "load", lambda *a, **k: loads.append(a) or load(*a, **k))
    monkeypatch.setattr(model, "_kept", {})
    first = translate_remembered(folder, sentences[:3], "en", "de", SHORT, store=store, progress=False)
    assert len(loads) == 1
    again = translate_remembered(folder, sentences[2::-1], "en", "de", SHORT, store=store, progress=False)
    assert (again, len(loads)) == (first[::-1], 1)
    translate_remembered(folder, sentences[:4], "en", "de", SHORT, store=store, progress=False)
    assert len(loads) == 1  # one text was missing; the model was still there
    other = translate_remembered(folder, sentences[:1], "en", "de", Decoding(beams=1), store=store, progress=False)
    assert len(other) == 1


def test_another_model_in_the_same_folder_answers_for_itself(tmp_path, checkpoints, sentences):
    folder, store = shutil.copytree(checkpoints["marian"], tmp_path / "model"), Store(tmp_path / "store")
    first = translate_remembered(str(folder), sentences, "en", "de", SHORT, store=store, progress=False)
    replace_weights(folder)
    second = translate_remembered(str(folder), sentences, "en", "de", SHORT, store=store, progress=False)
    fresh = load_translator(str(folder), "en", "de").translate(sentences, "en", "de", SHORT, progress=False)
    assert second == fresh != first


@pytest.mark.thorough
@pytest.mark.parametrize(("pair", "published"), [("de", 26.5), ("fr", 41.5)])
def test_small_real_models(pair, published, data_folder, monkeypatch):
    """BLEU on the first 200 captions, near what their README gives for all 1,000."""
    import sacrebleu

    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    sources, references = (
        (data_folder / "multi30k" / f"test_2016_flickr.{lang}").read_text(encoding="utf-8").splitlines()[:200]
        for lang in ("en", pair)
    )
    translator = load_translator("${NBKIT_DATA}/models/m30k-{src}-{tgt}", "en", pair)
    hypotheses = translator.translate(sources, "en", pair, Decoding(), progress=False)
    assert sacrebleu.corpus_bleu(hypotheses, [references]).score == pytest.approx(published, abs=3.5)
    alone = [translator.translate([text], "en", pair, Decoding(), progress=False)[0] for text in sources[:25]]
    assert hypotheses[:25] == alone
