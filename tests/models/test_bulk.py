"""Texts to ids in bulk: exactly what transformers' tokenizers give for one text at a time, whatever that holds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from nbkit.models.batching import BulkPieces, bulk_encoded, has_bulk
from nbkit.models.catalogue import families
from nbkit.models.translators.seq2seq import load_tokenizer

from .nli_checkpoints import save_classifier

ODD = [
    "", " ", "  two  spaces ", "</s>", "a </s> b", "<unk>", ">>de<< a man", ">>cmn_Hans<< a man", "a >>de<< man",
    "a >> b", ">", "__en__ hello", "_ _ __", "日本語です。", "naïve café", "a\nb\tc", "\u200b\u00a0x", "🚲 rides",
    "▁a▁", "<pad><s>", "A man is riding the red bicycle.", "the " * 300,
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(st.sampled_from(ODD), st.text(max_size=12), st.text(alphabet="abc <>/_▁seunk", max_size=20)), max_size=8
)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tokenizers(checkpoints):
    found = {}
    for name, family in (("marian", "marian"), ("m2m100-418m", "m2m100"), ("nllb", "nllb"), ("mbart50", "mbart50")):
        found[name] = load_tokenizer(families()[family], checkpoints[name])
    for name in ("m2m100-418m", "nllb", "mbart50"):
        family = families()[name.removesuffix("-418m")]
        found[name].src_lang, found[name].tgt_lang = family.code("en"), family.code("de")
    return found


def one_by_one(tokenizer, texts):
    return [tokenizer(text, truncation=False, verbose=False)["input_ids"] for text in texts]


@pytest.mark.parametrize("name", ["marian", "m2m100-418m"])
@given(texts=TEXTS)
@MANY
def test_pieces_are_the_tokenizers_own_and_back(tokenizers, name, texts):
    tokenizer = tokenizers[name]
    bulk = BulkPieces(tokenizer)
    rows = bulk.encoded(texts)
    assert rows == one_by_one(tokenizer, texts)
    expected = [text.strip() for text in tokenizer.batch_decode(rows, skip_special_tokens=True)] if rows else []
    assert bulk.decoded(rows) == expected


@given(texts=TEXTS)
@MANY
def test_a_mark_before_every_text(tokenizers, texts):
    tokenizer, mark = tokenizers["marian"], ">>cmn_Hans<<"
    assert tokenizer.supported_language_codes == [mark]
    expected = one_by_one(tokenizer, [f"{mark} {text}" for text in texts])
    assert BulkPieces(tokenizer).encoded(texts, mark) == expected


@pytest.mark.parametrize("name", ["marian", "m2m100-418m"])
@given(data=st.data())
@MANY
def test_any_ids_become_the_same_text(tokenizers, name, data):
    """A model may write what no text is: unknown ids, languages in the middle, ends at the beginning."""
    tokenizer = tokenizers[name]
    ids = st.integers(0, len(tokenizer) - 1)
    rows = data.draw(st.lists(st.lists(ids, max_size=9), min_size=1, max_size=6))
    expected = [text.strip() for text in tokenizer.batch_decode(rows, skip_special_tokens=True)]
    assert BulkPieces(tokenizer).decoded(rows) == expected


def test_the_language_may_change_between_two_calls(tokenizers):
    tokenizer = tokenizers["m2m100-418m"]
    bulk, before = BulkPieces(tokenizer), tokenizer.src_lang
    first = bulk.encoded(["a man"])
    tokenizer.src_lang = "fr"
    assert bulk.encoded(["a man"]) == one_by_one(tokenizer, ["a man"]) != first
    tokenizer.src_lang = before


def test_other_tokenizers_are_left_alone(tokenizers, monkeypatch):
    assert not BulkPieces.fits(tokenizers["nllb"]) and not BulkPieces.fits(tokenizers["mbart50"])
    monkeypatch.setattr(tokenizers["marian"], "separate_vocabs", True)
    assert not BulkPieces.fits(tokenizers["marian"])
    assert has_bulk(tokenizers["nllb"]) and not has_bulk(tokenizers["marian"])


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    root = tmp_path_factory.mktemp("fast")
    return {
        name: AutoTokenizer.from_pretrained(save_classifier(root / name, name)) for name in ("roberta", "distilbert")
    }


@pytest.mark.parametrize("name", ["roberta", "distilbert"])
@given(firsts=TEXTS, seconds=TEXTS)
@MANY
def test_pairs_and_texts_of_a_tokenizer_in_rust(fast, name, firsts, seconds):
    tokenizer = fast[name]
    assert has_bulk(tokenizer)
    tokenizer("a man", truncation=True, max_length=3, padding="max_length")  # leaves its settings behind
    pairs = list(zip(firsts, seconds, strict=False))
    for items, specials in ((pairs, True), (firsts, False)):
        found = bulk_encoded(tokenizer, items, specials=specials)
        for item, encoded in zip(items, found, strict=True):
            sides = item if isinstance(item, tuple) else (item,)
            expected = tokenizer(
                *([side] for side in sides), add_special_tokens=specials, split_special_tokens=True,
                return_token_type_ids=True, verbose=False,
            )  # fmt: skip
            assert (encoded.ids, encoded.type_ids) == (expected["input_ids"][0], expected["token_type_ids"][0])
