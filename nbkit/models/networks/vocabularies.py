"""Vocabularies of subwords, learnt from texts, for the tokenizer classes that published Transformers have."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from nbkit.errors import ModelError
from nbkit.models.recipes import SENTENCE_ENCODERS, ClassifierRecipe, TranslatorRecipe
from nbkit.models.translators.catalogue import families
from nbkit.models.translators.seq2seq import load_tokenizer

#: The longest input of the Transformers that are trained here, in tokens.
POSITIONS = 512


#: RoBERTa's and BART's, DistilBERT's and BERT's, in the order of their ids.
ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def byte_pairs(texts: Iterable[str], size: int, specials: Sequence[str]) -> dict[str, Any]:
    """Byte pairs: ``vocab`` and ``merges``, as RoBERTa's and GPT-2's tokenizers take them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    return {"vocab": learnt["vocab"], "merges": [tuple(merge) for merge in learnt["merges"]]}


def word_pieces(texts: Iterable[str], size: int, *, lowercase: bool) -> dict[str, Any]:
    """Word pieces: ``vocab`` and ``do_lower_case``, as BERT's and DistilBERT's tokenizers take them."""
    kept = list(texts)
    # The trainer numbers continuations in the order of a hash table, and breaks ties by these numbers: only where it is
    # told them beforehand do the same texts give the same vocabulary again.
    single = _trained(kept, 0, lowercase, BERT_SPECIALS)
    continuations = sorted(piece for piece in single if len(piece) == 3 and piece.startswith("##"))
    learnt = _trained(kept, size, lowercase, (*BERT_SPECIALS, *continuations))
    return {"vocab": learnt, "do_lower_case": lowercase}


def _trained(texts: list[str], size: int, lowercase: bool, first: Sequence[str]) -> dict[str, int]:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(first), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer.get_vocab()


# ----------------------------------------------------------------------------
# SentencePiece vocabularies for models trained here, as the tokenizers of the published families expect them.

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


# ----------------------------------------------------------------------------
# Tokenizers for classifiers that are trained from scratch, of the classes that published models have.

# A word is a run of letters and digits, cut as treebanks cut it (do|n't, dog|'s, can|not), so that tokens that were
# joined by spaces again, as permuted text is, are the same words; any other sign is a word by itself.
_WORD = r"can(?=not\b)|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]"


_CHARACTER = r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W\p{Han}\p{Hiragana}\p{Katakana}]+|[^\w\s]"


def train_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe) -> Any:
    """The tokenizer of the recipe's architecture, its vocabulary learnt from *texts*.

    RoBERTa and BART: byte pairs; DistilBERT: word pieces; sentence encoders: words, characters, or pieces of words.
    """
    if recipe.architecture in SENTENCE_ENCODERS:
        return _sentence_tokenizer(texts, recipe)
    return (_piece_tokenizer if recipe.architecture == "distilbert" else _byte_tokenizer)(texts, recipe)


def _sentence_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe) -> Any:
    from transformers import PreTrainedTokenizerFast

    pad, unknown, begin, end = specials = ["<pad>", "<unk>", "<s>", "</s>"]
    is_piece = recipe.reads == "piece"
    tokenizer = Tokenizer(models.BPE(unk_token=unknown) if is_piece else models.WordLevel(unk_token=unknown))
    steps: list[normalizers.Normalizer] = [normalizers.NFC()]
    tokenizer.normalizer = normalizers.Sequence(steps + [normalizers.Lowercase()] * recipe.lowercase)
    pattern = _CHARACTER if recipe.reads == "character" else _WORD
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(pattern), "isolated")]
    )
    options: dict[str, Any] = {"vocab_size": recipe.vocabulary, "special_tokens": specials, "show_progress": False}
    # A word that was met once is an unknown one: the model has to meet some of these in training.
    trainer = trainers.BpeTrainer(**options) if is_piece else trainers.WordLevelTrainer(min_frequency=2, **options)
    tokenizer.train_from_iterator(texts, trainer)
    marks = [(mark, tokenizer.token_to_id(mark)) for mark in (begin, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} {begin}:1 $B:1 {end}:1", special_tokens=marks
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        unk_token=unknown,
        bos_token=begin,
        eos_token=end,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def _byte_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe) -> Any:
    from transformers import RobertaTokenizer  # BART's, too

    return RobertaTokenizer(**byte_pairs(texts, recipe.vocabulary, ROBERTA_SPECIALS), model_max_length=POSITIONS)


def _piece_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe) -> Any:
    from transformers import DistilBertTokenizer

    learnt = word_pieces(texts, recipe.vocabulary, lowercase=recipe.lowercase)
    return DistilBertTokenizer(**learnt, model_max_length=POSITIONS)
