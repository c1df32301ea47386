"""What models are trained by: one model of each recipe is both the API and the command line's options.

Recipes that come with the package are data, in the ``recipes.yaml`` files beside this module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from nbkit.corpora.idioms import training_copies
from nbkit.errors import ModelError, NbkitError, ParamsError, UnknownNameError, schema_problems
from nbkit.languages import check_language, is_unspaced
from nbkit.models.catalogue import MOST_SEED

#: What no number of a recipe is beyond.
_MOST = 10**9


class Recipe(BaseModel):
    """What every model that is trained here is trained by: optimisation, seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Goes up when the same recipe gives another model.
    version: ClassVar[int] = 1
    #: What a checkpoint that is fine-tuned brings along: fields that say nothing beside start.
    of_new_models: ClassVar[frozenset[str]] = frozenset()

    steps: int | None = Field(None, ge=1, description="optimiser steps; alternative to epochs")
    epochs: float | None = Field(None, gt=0, description="passes over the data; alternative to steps")
    batch_tokens: int = Field(4096, ge=16, description="tokens of a batch, both sides, padding included")
    warmup: int = Field(100, ge=0, description="steps until the highest learning rate; it then falls in a line to 0")
    save_every: int = Field(500, ge=1, description="steps between checkpoints, from which an interrupted run resumes")
    seed: int = Field(0, ge=0, le=MOST_SEED, description="seed of initial weights, dropout and order of batches")
    threads: int = Field(1, ge=1, description="CPU threads; another number may round differently")

    @field_validator("*")
    @classmethod
    def _sensible(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not -_MOST <= value <= max(_MOST, MOST_SEED):  # nan is neither
            raise ValueError(f"{value:g} given, at most {_MOST:,} expected")
        return value

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.steps is None and self.epochs is None:
            raise ValueError("neither steps nor epochs given: how long is it to learn?")
        if self.steps is not None and self.epochs is not None:
            raise ValueError(f"both steps ({self.steps}) and epochs ({self.epochs}) given; one of them expected")
        return self

    @classmethod
    def checked(cls, values: Mapping[str, Any], place: str = "recipe") -> Self:
        """The recipe of *values*; a `ParamsError` names each field that does not fit, and the closest match.

        >>> TranslatorRecipe.checked({"step": 10}, "tiny.yaml")
        Traceback (most recent call last):
        nbkit.errors.ParamsError: tiny.yaml: step: unknown field; did you mean 'steps'?
        """
        try:
            return cls(**values)
        except ValidationError as error:
            found = schema_problems(error.errors(), lambda _: cls.model_fields, "field")
            lines = [": ".join(filter(None, (place, ".".join(map(str, where)), text))) for where, text in found]
            raise ParamsError("\n".join(lines)) from None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of its texts, in the order of folder names."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """The fields that made the model, for its card."""
        told = self.model_dump(mode="json")
        ignored = self.of_new_models if told.get("start") is not None else ()
        return {field: value for field, value in told.items() if field not in ignored}

    def digest(self, *more: object) -> str:
        """16 hexadecimal digits for the recipe, the version of the training code, and *more* that matters."""
        parts = json.dumps([self.model_dump(mode="json"), self.version, *more], sort_keys=True)
        return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()


class PairsRecipe(Recipe):
    """What every model that is trained here on pairs of texts is trained by."""

    train: str = Field("sandbox:train", description="corpus to train on: a name, name:split, or a path")
    pairs: int | None = Field(
        None, ge=1, description="training pairs (of translators: a target language); all there are where not given"
    )


def _added(default: Any, description: str, **limits: Any) -> Any:
    """A field from after the first models: recipes that leave it as it was keep their digest, and their models."""
    return Field(default, description=description, exclude_if=lambda value: value == default, **limits)


def _check_languages(languages: Iterable[str]) -> None:
    for lang in languages:
        try:
            check_language(lang)
        except NbkitError as error:
            raise ValueError(str(error)) from None


class TranslatorRecipe(PairsRecipe):
    """Architecture, data and optimisation of a translator, trained from scratch or from a checkpoint on.

    >>> TranslatorRecipe(targets=("fr",), steps=100).d_model
    128
    """

    of_new_models: ClassVar[frozenset[str]] = frozenset(
        {"architecture", "vocabulary", "coverage", "split_digits", "d_model", "ffn", "heads", "kernel"}
        | {"encoder_layers", "decoder_layers"}
    )

    architecture: Literal["marian", "m2m100", "mbart", "lstm", "convs2s"] = Field(
        "marian", description="of a model from scratch: one target, but for m2m100, which takes several"
    )
    start: str | None = _added(
        None, "checkpoint to fine-tune, of any architecture nbkit translates with: a name, a folder or a hub id"
    )
    src: str = Field("en", description="source language")
    targets: tuple[str, ...] = Field(("de",), min_length=1, description="target languages")
    idioms: str | None = _added(None, "corpus of idiom-train: more training pairs, as often as condition says")
    condition: str = _added("joint", "zero, joint or upsample-N: without idioms, with them once, or N times")
    idiom_pairs: int | None = _added(None, "pairs of idioms; all there are where not given", ge=1)
    dev: str = Field("sandbox:dev", description="corpus for the model card's development BLEU")
    test: str = Field("sandbox:test", description="corpus for the model card's test BLEU")
    card_pairs: int = Field(200, ge=1, description="pairs of dev and test a target language behind the card's BLEU")
    keep: Literal["last", "average", "best"] = _added(
        "last", "which weights: the last ones, the mean of the last checkpoints, or those of the best dev BLEU"
    )
    averaged: int = _added(5, "checkpoints behind keep average", ge=1)
    dev_pairs: int = _added(1000, "pairs of dev a target language behind keep best, at most", ge=1)
    joined: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of training sources written as tokens joined by spaces, as perturbed sentences are",
    )
    mask: float = _added(0.0, "share of source tokens that are masked in training, drawn anew each time", ge=0, lt=1)
    replace_source: float = _added(0.0, "share of source tokens replaced by random ones in training", ge=0, lt=1)
    replace_target: float = _added(
        0.0, "share of the decoder's input tokens replaced by random ones in training; labels stay", ge=0, lt=1
    )
    vocabulary: int = Field(4000, ge=50, description="pieces of the joint SentencePiece vocabulary, at most")
    coverage: float = _added(1.0, "share of all characters that the vocabulary has pieces for", gt=0, le=1)
    split_digits: bool = _added(
        False, "whether each digit is a piece of its own, so that a number is written digit by digit"
    )
    d_model: int = Field(128, ge=8, description="width of the model, embeddings included")
    ffn: int = Field(512, ge=8, description="width of a Transformer's feed-forward layers")
    heads: int = Field(4, ge=1, description="a Transformer's attention heads; they divide d_model")
    encoder_layers: int = Field(2, ge=1, description="layers of the encoder")
    decoder_layers: int = Field(2, ge=1, description="layers of the decoder")
    kernel: int = _added(3, "positions that a convolution of convs2s sees; odd", ge=1)
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout in training")
    attention_dropout: float = _added(0.0, "dropout of a Transformer's attention weights", ge=0, lt=1)
    learning_rate: float = Field(2e-3, gt=0, description="highest learning rate, after the warm-up")
    schedule: Literal["linear", "inverse_sqrt", "constant"] = _added(
        "linear", "after the warm-up: in a line to 0, with the inverse square root of the step, or constant"
    )
    beta2: float = _added(0.98, "Adam's second β", gt=0, lt=1)
    epsilon: float = _added(1e-8, "Adam's ε", gt=0)
    accumulate: int = _added(1, "batches a step: a large step on a small GPU", ge=1)
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="label smoothing")

    @model_validator(mode="after")
    def _consistent(self) -> TranslatorRecipe:
        scratch = self.architecture if self.start is None else None
        if scratch not in (None, "m2m100") and len(self.targets) != 1:
            raise ValueError(
                f"architecture {scratch} takes one target, {len(self.targets)} given; m2m100 takes several"
            )
        _check_languages(self.languages)
        if self.d_model % self.heads or self.d_model % 2:
            raise ValueError(f"d_model {self.d_model}: an even multiple of heads ({self.heads}) expected")
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel {self.kernel}: an odd number expected, as many positions on either side")
        try:
            training_copies(self.condition)
        except NbkitError as error:
            raise ValueError(str(error)) from None
        if self.idioms is None and (self.condition != "joint" or self.idiom_pairs is not None):
            raise ValueError(f"condition {self.condition}: no idioms given that could be trained on")
        return self

    @property
    def languages(self) -> tuple[str, ...]:
        """The source language and the targets."""
        return (self.src, *self.targets)

    @property
    def copies(self) -> int:
        """How often idiom-train is part of the training data."""
        return 0 if self.idioms is None else training_copies(self.condition)

    @property
    def is_noisy(self) -> bool:
        """Whether any token is masked or replaced in training."""
        return bool(self.mask or self.replace_source or self.replace_target)


#: What classifiers are trained from scratch.
ClassifierArchitecture = Literal["roberta", "bart", "distilbert", "infersent", "bilstm", "convnet"]


#: Those that encode each sentence by itself (Conneau et al. 2017).
SENTENCE_ENCODERS = frozenset({"infersent", "bilstm", "convnet"})


class ClassifierRecipe(PairsRecipe):
    """Architecture, data and optimisation of an NLI classifier, trained from scratch or from a checkpoint on.

    With ``max_entropy`` λ the loss is eq. 5 of "Unnatural Language Inference" (§7): the mean over pairs of

    −log p(y | p, h) − λ · Σ_j H(y | p̂_j, ĥ_j)

    in nats, with j over *copies* permuted copies of the pair.

    >>> ClassifierRecipe(architecture="infersent", steps=100).has_words
    True
    """

    version: ClassVar[int] = 2
    of_new_models: ClassVar[frozenset[str]] = frozenset(
        {"architecture", "unit", "lowercase", "vocabulary", "vectors", "embedding", "width", "ffn", "heads", "layers"}
        | {"comparison", "dropout"}
    )

    architecture: ClassifierArchitecture | None = Field(
        None, description="what is trained from scratch; alternative to start"
    )
    start: str | None = Field(
        None,
        description="masked language model or classifier to fine-tune: a language model's name, a folder or a hub id; "
        "alternative to that",
    )
    lang: str = Field("en", description="language of the data")
    dev: str = Field("sandbox:dev", description="corpus that decides when to stop and which checkpoint is kept")
    dev_start: int = Field(
        0, ge=0, description="pairs of dev that are passed over: those trained on, where it is train"
    )
    test: str = Field("sandbox:test", description="corpus for the model card's test accuracy")
    held_out: int = Field(5000, ge=1, description="pairs of dev and of test, at most")
    joined: float = Field(
        0.0, ge=0, le=1, description="share of training pairs written as tokens joined by spaces, as permuted ones are"
    )
    tokens: str = Field(
        "tokenizer", description="what cuts joined and permuted pairs into words: tokenizer, jieba, or a spaCy pipeline"
    )
    unit: Literal["word", "character", "piece"] | None = Field(
        None,
        description="what a sentence encoder reads: words, characters (the default where words have no spaces between "
        "them), or pieces of words",
    )
    lowercase: bool = Field(True, description="sentence encoders and DistilBERT: write all in lower case first")
    vocabulary: int = Field(20000, ge=50, description="entries of the vocabulary, at most")
    vectors: str | None = Field(
        None, description="word vectors to start from (GloVe's text format), as wide as embedding; sentence encoders"
    )
    embedding: int = Field(300, ge=2, description="width of the word vectors of a sentence encoder")
    width: int = Field(128, ge=4, description="width of a Transformer, or an LSTM's units in each direction")
    ffn: int = Field(256, ge=4, description="width of a Transformer's feed-forward layers")
    heads: int = Field(4, ge=1, description="attention heads; they divide the width")
    layers: int = Field(2, ge=1, description="layers of a Transformer (BART: of encoder and of decoder)")
    comparison: int = Field(512, ge=4, description="width of the layer that compares two sentence codes")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout in training")
    max_entropy: float = Field(0.0, ge=0, description="λ: weight of the entropy on permuted copies of each pair")
    copies: int = Field(1, ge=1, description="permuted copies of each pair, where max_entropy is above 0")
    learning_rate: float | None = Field(
        None, gt=0, description="highest learning rate, after the warm-up; 0.001, or 0.00002 from a checkpoint on"
    )
    weight_decay: float = Field(0.0, ge=0, description="AdamW's weight decay")
    patience: int | None = Field(
        None, ge=1, description="stop after so many looks at dev (one every save_every steps) without a better one"
    )

    @model_validator(mode="after")
    def _consistent(self) -> ClassifierRecipe:
        _check_languages(self.languages)
        if (self.architecture is None) == (self.start is None):
            given = "neither architecture nor start" if self.start is None else "both architecture and start"
            raise ValueError(f"{given} given: a model is trained from scratch, or from a checkpoint on")
        if self.architecture not in (None, *SENTENCE_ENCODERS) and self.width % self.heads:
            raise ValueError(f"width {self.width}: a multiple of heads ({self.heads}) expected")
        if self.vectors is not None and not self.has_words:
            raise ValueError("vectors are for the words of infersent, bilstm and convnet")
        return self

    @property
    def languages(self) -> tuple[str, ...]:
        """The language, alone."""
        return (self.lang,)

    def digest(self, *more: object) -> str:
        """See `Recipe.digest`."""
        # The second way to learn word pieces: the same texts give the same ones. Other models are what they were.
        return super().digest(*more, *(["word pieces 2"] if self.architecture == "distilbert" else []))

    @property
    def reads(self) -> Literal["word", "character", "piece"]:
        """The unit of a sentence encoder, the language's usual one where none is given."""
        return self.unit or ("character" if is_unspaced(self.lang) else "word")

    @property
    def rate(self) -> float:
        """The learning rate, the usual one where none is given."""
        return self.learning_rate or (1e-3 if self.start is None else 2e-5)

    @property
    def has_words(self) -> bool:
        """Whether it is a sentence encoder over words."""
        return self.architecture in SENTENCE_ENCODERS and self.reads == "word"


class LanguageModelRecipe(Recipe):
    """Architecture, data and optimisation of a language model, trained from scratch.

    The loss is the mean of −log p in nats: causal (gpt2), of every next token and the end; masked (the others), of
    tokens that were drawn to be guessed (Devlin et al. 2019, §3.1: of the drawn ones 80 % are masked, 10 % are replaced
    by any token, 10 % stay).

    >>> LanguageModelRecipe(architecture="bert", steps=100).is_causal
    False
    """

    architecture: Literal["gpt2", "bert", "distilbert", "roberta"] = Field(
        "gpt2", description="gpt2: causal; bert, distilbert, roberta: masked"
    )
    lang: str = Field("en", description="language of the texts")
    train: tuple[str, ...] = Field(
        ("sandbox:train",),
        min_length=1,
        description="what to train on, commas between: corpora (name, name:split, path; their side of the language), "
        "nli:CORPUS (premise and hypothesis, read together by masked models), text:FILE (a text a line)",
    )
    texts: int | None = Field(None, ge=1, description="training texts of each of these, at most; all where not given")
    dev: str = Field("sandbox:dev", description="corpus or text:FILE for the model card's development perplexity")
    test: str = Field("sandbox:test", description="corpus or text:FILE for the model card's test perplexity")
    held_out: int = Field(200, ge=1, description="texts of dev and of test behind the card's perplexities")
    joined: float = Field(
        0.0, ge=0, le=1, description="share of training texts written as tokens joined by spaces, as perturbed ones are"
    )
    repeated: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of single texts that a masked model reads twice in a row, as the two of a pair: what is "
        "masked in one stands in the other, and finding it there is what a classifier of pairs starts from",
    )
    vocabulary: int = Field(4000, ge=300, description="entries of the vocabulary, at most")
    lowercase: bool = Field(False, description="bert and distilbert: write all in lower case first")
    width: int = Field(128, ge=8, description="width of the model")
    ffn: int = Field(256, ge=8, description="width of its feed-forward layers")
    heads: int = Field(4, ge=1, description="attention heads; they divide the width")
    layers: int = Field(2, ge=1, description="layers")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout in training")
    masked: float = Field(0.15, gt=0, lt=1, description="share of tokens that a masked model is to guess")
    learning_rate: float = Field(2e-3, gt=0, description="highest learning rate, after the warm-up")
    weight_decay: float = Field(0.01, ge=0, description="AdamW's weight decay")

    @field_validator("train", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _consistent(self) -> LanguageModelRecipe:
        _check_languages(self.languages)
        if self.width % self.heads:
            raise ValueError(f"width {self.width}: a multiple of heads ({self.heads}) expected")
        return self

    @property
    def languages(self) -> tuple[str, ...]:
        """The language, alone."""
        return (self.lang,)

    @property
    def is_causal(self) -> bool:
        """Whether it is a causal language model."""
        return self.architecture == "gpt2"


# ----------------------------------------------------------------------------
# Recipes that come with the package.


@cache
def recipes_in(file: str) -> dict[str, dict[str, Any]]:
    """The fields of every recipe in a file beside this module, by name.

    >>> recipes_in("recipes.yaml")["paper-lstm"]["encoder_layers"]
    5
    """
    return yaml.safe_load(Path(__file__).with_name(file).read_text(encoding="utf-8"))


def recipe_fields(file: str, recipe: str | None, what: str) -> dict[str, Any]:
    """The fields of a recipe of *file*; a `ModelError` says of *what* it is asked, and what there is.

    >>> recipe_fields("recipes.yaml", "sandbox-opus", "model 'x'")
    Traceback (most recent call last):
    nbkit.errors.ModelError: model 'x': no recipe 'sandbox-opus'; there are: ...
    """
    recipes = recipes_in(file)
    if recipe not in recipes:
        raise ModelError(f"{what}: no recipe '{recipe}'; there are: {', '.join(recipes)}")
    return dict(recipes[recipe])


def named_recipe(name: str) -> dict[str, Any]:
    """The fields of a recipe of ``recipes.yaml``. Raises `UnknownNameError` with the closest name.

    >>> named_recipe("paper-lstm")["encoder_layers"]
    5
    """
    recipes = recipes_in("recipes.yaml")
    if name not in recipes:
        raise UnknownNameError("recipe", name, recipes)
    return dict(recipes[name])
