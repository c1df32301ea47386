"""Tokenizers for classifiers that are trained from scratch, of the classes that published models have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from nbkit.models.classifier_recipe import SENTENCE_ENCODERS, ClassifierRecipe

#: Positions of the Transformers.
POSITIONS = 512

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

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    learnt = json.loads(tokenizer.to_str())["model"]
    merges: Any = [tuple(merge) for merge in learnt["merges"]]
    return RobertaTokenizer(vocab=learnt["vocab"], merges=merges, model_max_length=POSITIONS)


def _piece_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe) -> Any:
    from transformers import DistilBertTokenizer

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=recipe.lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=recipe.vocabulary, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return DistilBertTokenizer(vocab=tokenizer.get_vocab(), do_lower_case=recipe.lowercase, model_max_length=POSITIONS)
