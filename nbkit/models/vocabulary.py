"""SentencePiece vocabularies for models trained here, as the tokenizers of the published families expect them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from nbkit.errors import ModelError
from nbkit.models.catalogue import families
from nbkit.models.recipe import TranslatorRecipe
from nbkit.models.tokenized import load_tokenizer

_SENTENCEPIECE_SPECIALS = ("<unk>", "<s>", "</s>")
#: Text that the vocabulary is learnt from; more changes nothing and takes longer.
_SENTENCES = 100_000


def train_vocabulary(texts: Iterable[str], recipe: TranslatorRecipe, folder: Path) -> None:
    """Learns one SentencePiece vocabulary for all languages and writes the family's tokenizer to *folder*.

    texts: both sides of the training data, every language early on, as no more than 100,000 are learnt from. The
    vocabulary comes out smaller than asked for where they do not hold that many pieces.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=recipe.vocabulary,
            hard_vocab_limit=False,
            character_coverage=recipe.coverage,
            split_digits=recipe.split_digits,
            input_sentence_size=_SENTENCES,
            shuffle_input_sentence=False,
            num_threads=recipe.threads,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise ModelError(f"vocabulary: {recipe.vocabulary} pieces are too few: {error}") from error
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    pieces = [piece for piece in pieces if piece not in _SENTENCEPIECE_SPECIALS]
    writer = _write_m2m100 if recipe.architecture == "m2m100" else _write_marian
    writer(folder, model.getvalue(), pieces, recipe)


def encode_all(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of *texts* without special tokens: what the tokenizer gives, a hundred times as fast.

    The Python tokenizers of Marian and M2M-100 go through each text token by token; here SentencePiece cuts all of them
    at once. Only for tokenizers that `train_vocabulary` made, whose two sides share one vocabulary.
    """
    processor = getattr(tokenizer, "sp_model", None) or tokenizer.spm_source
    unknown = tokenizer.encoder[tokenizer.unk_token]
    ids = [tokenizer.encoder.get(processor.id_to_piece(i), unknown) for i in range(processor.get_piece_size())]
    return [[ids[i] for i in row] for row in processor.encode(list(texts))]


def _write_marian(folder: Path, model: bytes, pieces: list[str], recipe: TranslatorRecipe) -> None:
    names = ["</s>", "<unk>", *pieces, "<pad>"]
    (folder / "source.spm").write_bytes(model)
    (folder / "target.spm").write_bytes(model)
    _write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    languages = {"source_lang": recipe.src, "target_lang": recipe.targets[0]}
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", **languages})


def _write_m2m100(folder: Path, model: bytes, pieces: list[str], recipe: TranslatorRecipe) -> None:
    names = ["<s>", "<pad>", "</s>", "<unk>", *pieces]
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    _write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    settings = {"tokenizer_class": "M2M100Tokenizer", "src_lang": recipe.src, "tgt_lang": recipe.targets[0]}
    _write_json(folder / "tokenizer_config.json", settings)
    # The language tokens follow the vocabulary; only where they are listed are they special, and left out of texts.
    tokens = list(load_tokenizer(families()["m2m100"], folder).lang_token_to_id)
    _write_json(folder / "tokenizer_config.json", {**settings, "extra_special_tokens": tokens})


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
