"""What is trained here from nothing: vocabularies learnt from texts, and networks with random weights.

Tokenizers are of the classes that published models have. Networks are data (``architectures.yaml``): the class of each
and what its settings are called.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import sentencepiece
import torch
import yaml
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from nbkit.corpora.nli import LABELS
from nbkit.errors import DataError, ModelError
from nbkit.models.catalogue import families
from nbkit.models.recipes import SENTENCE_ENCODERS, ClassifierRecipe, LanguageModelRecipe, TranslatorRecipe
from nbkit.models.translators.seq2seq import load_tokenizer

#: The longest input of the Transformers that are trained here, in tokens.
POSITIONS = 512
#: BERT's and DistilBERT's, in the order of their ids.
_BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
#: The meaning of the outputs of a classifier that is trained here, as stated in its settings.
NAMES: dict[str, Any] = {
    "id2label": dict(enumerate(LABELS)),
    "label2id": {name: i for i, name in enumerate(LABELS)},
}
#: What transformers calls the two projections that attention compares.
_COMPARED = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"))


@cache
def _architectures() -> Mapping[str, Mapping[str, Any]]:
    """All architectures by name, from ``architectures.yaml``."""
    return yaml.safe_load(Path(__file__).with_name("architectures.yaml").read_text(encoding="utf-8"))


def module_of(recipe: TranslatorRecipe) -> str | None:
    """The module of this package that knows the recipe's network; None for one that transformers knows.

    >>> module_of(TranslatorRecipe(architecture="lstm", steps=1)).partition(".")[0]
    'nbkit'
    """
    module = _architectures()[recipe.architecture]["translator"].partition(":")[0]
    return module if module.startswith("nbkit.") else None


# ----------------------------------------------------------------------------
# Vocabularies of subwords, learnt from texts, for the tokenizer classes that published Transformers have.


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
    single = _trained(kept, 0, lowercase, _BERT_SPECIALS)
    continuations = sorted(piece for piece in single if len(piece) == 3 and piece.startswith("##"))
    learnt = _trained(kept, size, lowercase, (*_BERT_SPECIALS, *continuations))
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
            vocab_size=recipe.vocabulary,
            character_coverage=recipe.coverage,
            split_digits=recipe.split_digits,
            input_sentence_size=_SENTENCES,
            num_threads=recipe.threads,
            **_architectures()["sentencepiece"],
        )
    except RuntimeError as error:
        raise ModelError(f"vocabulary: {recipe.vocabulary} pieces are too few: {error}") from error
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    pieces = [piece for piece in pieces if piece not in _SENTENCEPIECE_SPECIALS]
    has_languages = recipe.architecture == "m2m100"
    layout = _architectures()["m2m100" if has_languages else "marian"]["vocabulary"]
    names = [*layout["before"], *pieces, *layout["behind"]]
    for file in layout["files"]:
        (folder / file).write_bytes(model.getvalue())
    _write_json(folder / "vocab.json", {name: i for i, name in enumerate(names)})
    languages = dict(zip(layout["languages"], recipe.languages, strict=False))  # the source and the first target
    settings = {"tokenizer_class": layout["tokenizer"], **languages}
    _write_json(folder / "tokenizer_config.json", settings)
    if has_languages:
        # The language tokens follow the vocabulary; they must be listed to be special and omitted from decoded texts.
        tokens = list(load_tokenizer(families()["m2m100"], folder).lang_token_to_id)
        _write_json(folder / "tokenizer_config.json", {**settings, "extra_special_tokens": tokens})


def encode_all(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of *texts* without special tokens: what the tokenizer gives, a hundred times as fast.

    The Python tokenizers of Marian and M2M-100 go through each text token by token; here SentencePiece cuts all of them
    at once. Only for tokenizers that `train_vocabulary` made, whose two sides share one vocabulary.
    """
    processor = getattr(tokenizer, "sp_model", None) or tokenizer.spm_source
    unknown = tokenizer.encoder[tokenizer.unk_token]
    ids = [tokenizer.encoder.get(processor.id_to_piece(i), unknown) for i in range(processor.get_piece_size())]
    return [[ids[i] for i in row] for row in processor.encode(list(texts))]


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


# ----------------------------------------------------------------------------
# Tokenizers for classifiers and language models, of the classes that published ones have.

# A word is a run of letters and digits, cut as treebanks cut it (do|n't, dog|'s, can|not), so that tokens that were
# joined by spaces again, as permuted text is, are the same words; any other sign is a word by itself.
_WORD = r"can(?=not\b)|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]"
_CHARACTER = r"[\p{Han}\p{Hiragana}\p{Katakana}]|[^\W\p{Han}\p{Hiragana}\p{Katakana}]+|[^\w\s]"


def train_tokenizer(texts: Iterable[str], recipe: ClassifierRecipe | LanguageModelRecipe) -> Any:
    """The tokenizer of the recipe's architecture, its vocabulary learnt from *texts*.

    GPT-2, RoBERTa and BART: byte pairs; BERT and DistilBERT: word pieces; sentence encoders: words, characters, or
    pieces of words.
    """
    if isinstance(recipe, ClassifierRecipe) and recipe.architecture in SENTENCE_ENCODERS:
        return _sentence_tokenizer(texts, recipe)
    entry = _architectures()[recipe.architecture or ""]
    if "byte_pairs" in entry:
        learnt = byte_pairs(texts, recipe.vocabulary, entry["byte_pairs"])
    else:
        learnt = word_pieces(texts, recipe.vocabulary, lowercase=recipe.lowercase)
    return resolve_name(entry["tokenizer"])(**learnt, model_max_length=POSITIONS)


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


# ----------------------------------------------------------------------------
# Networks with random weights. Transformers that have few texts to learn from begin with mimetic attention and
# sinusoidal positions.


def new_model(recipe: TranslatorRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights.

    The embedding of ``<pad>``, with which Marian's decoder starts, is zero and stays zero in training, as in
    published Marian models (converters to other formats rely on it). Looking ``<pad>`` up never changes it, but the
    output layer, which shares the embeddings, would: its part of the gradient is cut off. ``<pad>`` is never
    generated.
    """
    model = _new("translator", recipe, tokenizer)
    pad = tokenizer.pad_token_id
    rest = torch.ones(len(tokenizer), 1)
    rest[pad] = 0
    tables = [side.embed_tokens.weight for side in (model.get_encoder(), model.get_decoder())]
    for shared in {id(table): table for table in tables}.values():
        with torch.no_grad():
            shared[pad].zero_()
        shared.register_hook(lambda gradient: gradient * rest.to(gradient))
    model.generation_config.update(num_beams=4, max_length=POSITIONS, bad_words_ids=[[pad]])
    return model


def new_classifier(recipe: ClassifierRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights, or with given word vectors.

    Raises `DataError` for word vectors that cannot be read.
    """
    model = _new("classifier", recipe, tokenizer, **NAMES)
    if recipe.architecture not in SENTENCE_ENCODERS:
        attend_to_the_like(model)
        place_in_waves(model)
    elif recipe.vectors is not None:
        _fill(model.embeddings.get_parameter("weight"), tokenizer.get_vocab(), Path(recipe.vectors))
    return model


def new_language_model(recipe: LanguageModelRecipe, tokenizer: Any) -> Any:
    """A model of the recipe's architecture and sizes with random weights; its output layer shares the embeddings."""
    model = _new("language_model", recipe, tokenizer)
    if recipe.architecture != "gpt2":
        attend_to_the_like(model)
        place_in_waves(model)
    return model


def _new(purpose: str, recipe: Any, tokenizer: Any, **more: Any) -> Any:
    """A network of the recipe's architecture; *more* goes over its settings, such as the names of its outputs."""
    entry, known = _architectures()[recipe.architecture], _known(recipe, tokenizer)
    settings = {name: known[source] for name, source in entry["settings"].items()}
    return resolve_name(entry[purpose])(resolve_name(entry["config"])(**settings, **entry.get("fixed", {}), **more))


def _known(recipe: Any, tokenizer: Any) -> dict[str, Any]:
    """What settings can be: the recipe's fields, and what follows from it and from the vocabulary.

    spread: standard deviation of random weights: outputs as large as inputs. The published 0.02 suits a width of 768.
    """
    width = recipe.d_model if isinstance(recipe, TranslatorRecipe) else recipe.width
    return {
        **dict(recipe),
        "entries": len(tokenizer),
        "pad": tokenizer.pad_token_id,
        "begin": tokenizer.bos_token_id,
        "end": tokenizer.eos_token_id,
        "positions": POSITIONS,
        "positions_behind_pad": POSITIONS + (tokenizer.pad_token_id or 0) + 1,
        "spread": width**-0.5,
        "fairseq_spread": 0.1 * (512 / width) ** 0.5,  # its 0.1 at its width of 512, and sums as large at any other
    }


@torch.no_grad()
def attend_to_the_like(model: torch.nn.Module) -> None:
    """Lets each token attend to tokens like itself at first: keys are projected as queries are.

    Which words of the hypothesis stand in the premise is what pairs are judged by; from random projections that takes
    a Transformer more pairs to find out than small sets have. After Trockman & Kolter 2023, "Mimetic Initialization of
    Self-Attention Layers", who found such projections in pretrained models.
    """
    for module in model.modules():
        for query, key in _COMPARED:
            if hasattr(module, query) and hasattr(module, key):
                getattr(module, key).weight.copy_(getattr(module, query).weight)


@torch.no_grad()
def place_in_waves(model: torch.nn.Module) -> None:
    """Lets positions begin as sines and cosines (Vaswani et al. 2017), so that near ones are alike; they are learnt on.

    As large as the random vectors of words, so that neither drowns the other.
    """
    for name, table in model.named_modules():
        if isinstance(table, torch.nn.Embedding) and "position" in name:
            positions, width = table.weight.shape
            rates = 10000 ** (-torch.arange(0, width, 2) / width)
            angles = torch.arange(positions).unsqueeze(1) * rates
            waves = torch.stack((angles.sin(), angles.cos()), 2).reshape(positions, -1)[:, :width]
            table.weight.copy_(waves * (2 / width) ** 0.5)


def _fill(table: torch.Tensor, vocabulary: dict[str, int], path: Path) -> None:
    """Writes the vectors of known words into *table*: one word a line, then its numbers, as GloVe has them."""
    width = table.shape[1]
    with path.open(encoding="utf-8") as lines, torch.no_grad():
        for number, line in enumerate(lines, 1):
            word, *values = line.rstrip().rsplit(" ", width)
            if len(values) == 1 and number == 1:
                continue  # fastText begins with the numbers of words and of dimensions
            if len(values) != width:
                raise DataError(f"a word and {width} numbers expected (the width set by embedding)", path, number)
            if word in vocabulary:
                try:
                    table[vocabulary[word]] = torch.tensor([float(value) for value in values])
                except ValueError as error:
                    raise DataError(str(error), path, number) from None
