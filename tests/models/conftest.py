"""Tiny checkpoints with random weights, of every architecture, saved as their published ones are."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
import sentencepiece

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SENTENCES = (
    "Tom said he could not find a decent place to live .",
    "The little dog sleeps under the old table in the kitchen .",
    "Ein Mann mit einem orangefarbenen Hut starrt etwas an .",
    "Le petit chien dort sous la vieille table de la cuisine .",
    "El perro duerme en la casa de mi hermana .",
    "A woman in a red shirt is riding a bicycle down the street .",
    "Маленькая собака спит под старым столом на кухне .",
    "我不知道他为什么今天没有来学校。",
    "彼は昨日新しい本を買いました。",
    "Die Kinder spielen jeden Tag im Garten hinter dem Haus .",
)
SHAPES = {"small": (16, 1, 2), "other": (24, 2, 3)}  # width, layers, heads


def sentencepiece_model(kind: str, pieces: int = 160) -> bytes:
    """A SentencePiece model of the test sentences; bos, eos and unk where the fairseq models have them."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_writer=model,
        model_type=kind,
        vocab_size=pieces,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    return model.getvalue()


def sizes(shape: str) -> dict:
    width, layers, heads = SHAPES[shape]
    return {
        "d_model": width,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": 2 * width,
        "decoder_ffn_dim": 2 * width,
        "max_position_embeddings": 64,
        "init_std": 0.5,  # wide, so that hypotheses differ from one source to the next
    }


def _pieces(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    return [piece for piece in pieces if piece not in ("<s>", "</s>", "<unk>")]


def make_unlikely(network, ids: list[int]) -> None:
    """Makes a random model unlikely to generate these tokens (language codes), which no text would show."""
    import torch

    with torch.no_grad():
        network.get_input_embeddings().weight[ids] *= 0.01


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def save_marian(folder: Path, shape: str = "small", tgt: str = "de") -> Path:
    from transformers import MarianConfig, MarianMTModel

    model = sentencepiece_model("unigram")
    names = ["</s>", "<unk>", ">>cmn_Hans<<", *_pieces(model), "<pad>"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.spm").write_bytes(model)
    (folder / "target.spm").write_bytes(model)
    write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": tgt, "model_max_length": 512},
    )
    pad = len(names) - 1
    config = MarianConfig(
        **sizes(shape), vocab_size=len(names), pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad
    )
    network = MarianMTModel(config)
    network.generation_config.update(bad_words_ids=[[pad]], num_beams=6, max_length=512, forced_eos_token_id=0)
    network.save_pretrained(folder)
    return folder


def save_mbart50(folder: Path, shape: str = "small") -> Path:
    from transformers import MBart50Tokenizer, MBartConfig, MBartForConditionalGeneration

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_model("unigram"))
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "MBart50Tokenizer", "model_max_length": 1024})
    tokenizer = MBart50Tokenizer.from_pretrained(folder)
    config = MBartConfig(
        **sizes(shape),
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,
    )
    network = MBartForConditionalGeneration(config)
    make_unlikely(network, tokenizer.all_special_ids)
    network.generation_config.update(num_beams=5, max_length=200, early_stopping=True, forced_eos_token_id=2)
    network.save_pretrained(folder)
    return folder


def save_mbart25(folder: Path, shape: str = "small") -> Path:
    """As mBART of 25 languages is published: the language ends a text, and begins decoding."""
    from transformers import MBartConfig, MBartForConditionalGeneration, MBartTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_model("unigram"))
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "MBartTokenizer", "model_max_length": 1024})
    tokenizer = MBartTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    ids = {name: getattr(tokenizer, name) for name in ("pad_token_id", "bos_token_id", "eos_token_id")}
    network = MBartForConditionalGeneration(MBartConfig(**sizes(shape), vocab_size=len(tokenizer), **ids))
    make_unlikely(network, tokenizer.all_special_ids)
    network.save_pretrained(folder)
    return folder


def save_m2m100(folder: Path, shape: str = "small") -> Path:
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    model = sentencepiece_model("unigram")
    names = ["<s>", "<pad>", "</s>", "<unk>", *_pieces(model)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    languages = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    write_json(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "M2M100Tokenizer", "model_max_length": 1024, "additional_special_tokens": languages},
    )
    tokenizer = M2M100Tokenizer.from_pretrained(folder)
    network = M2M100ForConditionalGeneration(M2M100Config(**sizes(shape), vocab_size=len(tokenizer) + 8))
    make_unlikely(network, tokenizer.all_special_ids)
    network.generation_config.update(num_beams=5, max_length=200, early_stopping=True)
    network.save_pretrained(folder)
    return folder


def save_nllb(folder: Path, shape: str = "small") -> Path:
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_model("bpe"))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "NllbTokenizer",
            "model_max_length": 1024,
            "additional_special_tokens": FAIRSEQ_LANGUAGE_CODES,
        },
    )
    tokenizer = NllbTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)  # published ones come with tokenizer.json
    network = M2M100ForConditionalGeneration(M2M100Config(**sizes(shape), vocab_size=len(tokenizer)))
    make_unlikely(network, tokenizer.all_special_ids)
    network.generation_config.update(max_length=200)
    network.save_pretrained(folder)
    return folder


#: The four of the paper (two sizes of M2M-100), and NLLB.
CHECKPOINTS = {
    "marian": (save_marian, "small"),
    "mbart50": (save_mbart50, "small"),
    "m2m100-418m": (save_m2m100, "small"),
    "m2m100-1.2b": (save_m2m100, "other"),
    "nllb": (save_nllb, "small"),
}


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory) -> dict[str, Path]:
    """A folder for each of `CHECKPOINTS`."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(3)
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("checkpoints")
    return {name: save(root / name, shape) for name, (save, shape) in CHECKPOINTS.items()}


@pytest.fixture(scope="session")
def mbart25(tmp_path_factory) -> Path:
    """The one whose decoder starts with the language; no backend but transformers runs it."""
    import torch

    torch.manual_seed(3)
    return save_mbart25(tmp_path_factory.mktemp("mbart25"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch) -> Path:
    """Every test has a cache of its own, and no hub."""
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("NBKIT_CACHE", str(cache))
    monkeypatch.setenv("HF_HOME", str(cache / "huggingface"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return cache


@pytest.fixture
def sentences() -> tuple[str, ...]:
    """Texts that the tiny vocabularies were made of."""
    return SENTENCES
