"""Tokenizers for classifiers that are trained from scratch, of the classes that published models have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from nbkit.models.classifier_recipe import SENTENCE_ENCODERS, ClassifierRecipe
from nbkit.models.subwords import POSITIONS, ROBERTA_SPECIALS, byte_pairs, word_pieces

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
