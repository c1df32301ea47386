"""CTranslate2 against transformers: the same hypotheses and scores, from one conversion of each checkpoint."""

from __future__ import annotations

import json
import random
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

ctranslate2 = pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')

from nbkit.errors import ModelError  # noqa: E402
from nbkit.models import MODELS, Decoding, Entry, ct2  # noqa: E402
from nbkit.models.names import families  # noqa: E402
from tests.models.by_name import check_model, ensure_model, load_translator, resolve  # noqa: E402

NAMES = ("marian", "mbart50", "m2m100-418m", "m2m100-1.2b", "nllb")
SHORT = Decoding(beams=3, max_new_tokens=12, early_stopping=True)

each_architecture = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def pairs(checkpoints, tmp_path_factory):
    """Each checkpoint by transformers and by CTranslate2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBKIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {
            name: [load_translator(f"{folder}{suffix}", "en", "de") for suffix in ("", "@ct2")]
            for name, folder in checkpoints.items()
        }


@each_architecture
@pytest.mark.parametrize("decoding", [Decoding(beams=1, max_new_tokens=12), SHORT, Decoding(beams=4)])
def test_hypotheses_are_those_of_transformers(name, decoding, pairs, sentences):
    expected, found = (each.translate(sentences, "en", "de", decoding, progress=False) for each in pairs[name])
    assert len(set(expected)) > 1
    assert found == expected


@each_architecture
def test_order_batch_and_company_change_nothing(name, pairs, sentences, monkeypatch):
    translator = pairs[name][1]
    alone = [translator.translate([text], "en", "de", SHORT, progress=False)[0] for text in sentences]
    order = list(range(len(sentences))) * 2
    random.Random(0).shuffle(order)
    for budget in (40, 400):
        monkeypatch.setattr(translator.network.budget, "tokens", budget)
        together = translator.translate([sentences[i] for i in order], "en", "de", SHORT, progress=False)
        assert together == [alone[i] for i in order]


def test_its_batches_are_those_of_every_backend(pairs, sentences, monkeypatch):
    """Equal texts once, halves where memory runs out, blank texts not at all."""
    translator, sizes = pairs["marian"][1], []
    expected = translator.translate(sentences, "en", "de", SHORT, progress=False)

    class Small:
        def translate_batch(self, source, **options):
            sizes.append(len(source))
            if len(source) > 3:
                raise RuntimeError("mkl_malloc: failed to allocate memory")
            return engine.translate_batch(source, **options)

    engine = translator.network.engine
    monkeypatch.setattr(translator.network, "engine", Small())
    found = translator.translate([*sentences, " ", *sentences], "en", "de", SHORT, progress=False)
    assert found == [*expected, "", *expected]
    assert max(sizes) > 3 and sum(size for size in sizes if size <= 3) == len(sentences)


def test_rounded_weights_are_another_model(pairs, checkpoints, sentences):
    plain = pairs["nllb"][1]
    rounded = load_translator(f"{checkpoints['nllb']}@ct2-int8", "en", "de")
    assert rounded.name == f"{checkpoints['nllb']}@ct2-int8"
    assert (plain.network.engine.compute_type, rounded.network.engine.compute_type) == ("float32", "int8_float32")


def test_what_a_checkpoint_forbids_stays_forbidden(tmp_path, checkpoints, sentences, own_cache):
    folder = shutil.copytree(checkpoints["m2m100-418m"], tmp_path / "model")
    before = load_translator(f"{folder}@ct2", "en", "de")
    greedy = Decoding(beams=1, max_new_tokens=12)
    words = before.translate(sentences, "en", "de", greedy, progress=False)
    reference = resolve(f"{folder}@ct2", "en", "de")
    ids = before.network.encoded(reference, sentences[:1])
    frequent = int(before.network._generate(ids, before.network.set_languages(reference), greedy, 12)[0][2])
    settings = json.loads((folder / "generation_config.json").read_text())
    settings |= {"bad_words_ids": [[frequent]], "repetition_penalty": 1.3, "no_repeat_ngram_size": 2}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    after, reference = (load_translator(f"{folder}{suffix}", "en", "de") for suffix in ("@ct2", ""))
    found = after.translate(sentences, "en", "de", greedy, progress=False)
    assert found != words
    assert found == reference.translate(sentences, "en", "de", greedy, progress=False)
    settings |= {"encoder_no_repeat_ngram_size": 3}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="encoder_no_repeat_ngram_size: 3, which ctranslate2 does not support"):
        load_translator(f"{folder}@ct2", "en", "de")
    assert len(list((own_cache / "models" / "ctranslate2").glob("[!.]*"))) == 2


def test_a_start_that_is_not_of_zeros_is_kept(tmp_path, checkpoints, sentences):
    """Published Marian models have zeros for ``<pad>``, checkpoints trained in transformers need not."""
    import torch
    from transformers import MarianMTModel

    model = MarianMTModel.from_pretrained(checkpoints["marian"])
    start = model.config.decoder_start_token_id
    assert model.get_input_embeddings().weight[start].norm() == 0
    folder = shutil.copytree(checkpoints["marian"], tmp_path / "start")
    with torch.no_grad():
        model.get_input_embeddings().weight[start] = torch.linspace(-3, 3, model.config.d_model)
    model.save_pretrained(folder)
    expected, found, other = (
        load_translator(name, "en", "de").translate(sentences, "en", "de", SHORT, progress=False)
        for name in (str(folder), f"{folder}@ct2", f"{checkpoints['marian']}@ct2")
    )
    assert found == expected != other


def test_marian_of_several_targets_gets_its_mark(checkpoints, sentences):
    MODELS.register("marked", Entry(hub=str(checkpoints["marian"]), family="marian"), replace=True)
    texts = [f">>cmn_Hans<< {text}" for text in sentences]
    by_hand = load_translator("marked@ct2", "en", "zh").translate(texts, "en", "zh", SHORT, progress=False)
    entry = Entry(hub=str(checkpoints["marian"]), family="marian", prefixes={"zh": ">>cmn_Hans<<"})
    MODELS.register("marked", entry, replace=True)
    assert load_translator("marked@ct2", "en", "zh").translate(sentences, "en", "zh", SHORT, progress=False) == by_hand


def test_converted_once_for_all_who_ask(tmp_path, checkpoints, own_cache, monkeypatch):
    conversions, convert = [], ct2._convert
    monkeypatch.setattr(ct2, "_convert", lambda *given: conversions.append(given) or convert(*given))
    copy = shutil.copytree(checkpoints["nllb"], tmp_path / "copy")
    names = [f"{folder}{suffix}" for folder in (checkpoints["nllb"], copy) for suffix in ("@ct2", "@ct2-int8")]
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda name: ensure_model(name, "en", "de"), names))
    assert folders == [checkpoints["nllb"]] * 2 + [copy] * 2
    load_translator(names[0], "en", "fr")
    assert len(conversions) == 1
    (converted,) = (own_cache / "models" / "ctranslate2").glob("[!.]*")
    assert (converted / "model.bin").is_file()
    monkeypatch.setattr(ct2, "CONVERSION", 2)
    ensure_model(names[0], "en", "de")
    assert len(conversions) == 2


def test_architectures_without_a_conversion_are_refused_before_they_are_trained(mbart25, monkeypatch):
    monkeypatch.setattr("nbtrain.translators.train_translator", None)
    for name in ("sandbox-lstm@ct2", "sandbox-wsd-convs2s@ct2-int8", f"{mbart25}@ct2"):
        found = check_model(name, "en", "de")
        assert found is not None and "ctranslate2 does not support its architecture" in found
        with pytest.raises(ModelError, match="does not support its architecture"):
            ensure_model(name, "en", "de")
    converted = {family.model_type for family in families().values() if family.converts}
    assert converted == set(ct2._LOADERS)


def test_a_conversion_that_breaks_off_leaves_no_model(checkpoints, own_cache, monkeypatch, sentences):
    reference = resolve(f"{checkpoints['marian']}@ct2", "en", "de")
    with monkeypatch.context() as patch:
        patch.setattr(ct2, "_SEARCH", "nowhere/search.json")  # the last thing to be written
        with pytest.raises(ModelError, match=r"cannot be written: .*No such file"):
            ct2.ensure_converted(reference, checkpoints["marian"])
    place = own_cache / "models" / "ctranslate2"
    assert [path.name for path in place.iterdir() if not path.name.endswith(".lock")] == []
    target = ct2.ensure_converted(reference, checkpoints["marian"])
    (target / "model.bin").write_bytes(b"damaged")
    with pytest.raises(ModelError, match=r"model\.bin is damaged"):
        load_translator(reference.full_name, "en", "de")


def test_languages_devices_and_types_that_cannot_be(checkpoints, pairs, sentences):
    with pytest.raises(ModelError, match="does not translate to 'cy'"):
        pairs["mbart50"][1].translate(sentences[:1], "en", "cy", SHORT)
    with pytest.raises(ModelError, match=r"dtype 'bfloat16' not available on 'cpu'; there are: .*float32"):
        load_translator(f"{checkpoints['marian']}@ct2", "en", "de", device="cpu", dtype="bfloat16")
    with pytest.raises(ModelError, match="device 'nonsense'"):
        load_translator(f"{checkpoints['marian']}@ct2", "en", "de", device="nonsense")
    with pytest.warns(UserWarning, match="cut to its 64 positions"):
        pairs["nllb"][1].translate([" ".join(sentences)], "en", "de", SHORT, progress=False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("decoding", "agreeing"),
    [(Decoding(beams=1), 100), (Decoding(beams=4, early_stopping=True), 99), (Decoding(beams=4), 95)],
)
def test_agreement_on_real_captions(decoding, agreeing, data_folder, monkeypatch):
    """Of 100 captions: all by greedy search, and all but near-ties where the searches stop alike."""
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    texts = (data_folder / "multi30k" / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()[:100]
    name = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"
    expected, found = (
        load_translator(f"{name}{suffix}", "en", "de", device="cpu").translate(
            texts, "en", "de", decoding, progress=False
        )
        for suffix in ("", "@ct2")
    )
    assert sum(map(str.__eq__, expected, found)) >= agreeing


def test_rounding_costs_little_on_real_captions(data_folder, monkeypatch):
    import sacrebleu

    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    texts, references = (
        (data_folder / "multi30k" / f"test_2016_flickr.{lang}").read_text(encoding="utf-8").splitlines()[:100]
        for lang in ("en", "de")
    )
    plain, rounded = (
        load_translator(f"{data_folder}/models/m30k-en-de{suffix}", "en", "de", device="cpu")
        for suffix in ("@ct2", "@ct2-int8")
    )
    hypotheses = [each.translate(texts, "en", "de", progress=False) for each in (plain, rounded)]
    bleu = [sacrebleu.corpus_bleu(each, [references]).score for each in hypotheses]
    assert bleu[1] == pytest.approx(bleu[0], abs=1.5)
    assert sum(map(str.__eq__, *hypotheses)) >= 55


@pytest.mark.parametrize("suffix", ["", "@ct2", "@ct2-int8"])
def test_a_text_of_nothing_but_special_tokens_is_blank(suffix, checkpoints):
    translator = load_translator(f"{checkpoints['marian']}{suffix}", "en", "de", device="cpu")
    texts = ["</s>", "A man.", "\u200b", "</s>"]
    found = translator.translate(texts, "en", "de", progress=False)
    assert [bool(each) for each in found] == [False, True, False, False]


def test_a_conversion_that_is_damaged_says_what_to_do(checkpoints, own_cache):
    name = f"{checkpoints['marian']}@ct2"
    load_translator(name, "en", "de", device="cpu")
    for file in ("model.bin", "search.json"):
        (path,) = own_cache.glob(f"models/ctranslate2/*/{file}")
        path.write_bytes(b"")
        with pytest.raises(
            ModelError, match=rf"{file} is damaged: .*; delete the folder .* to convert the model again"
        ):
            load_translator(name, "en", "de", device="cpu")
        shutil.rmtree(path.parent)
        load_translator(name, "en", "de", device="cpu")
