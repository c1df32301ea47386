"""What models are trained by: one model is both the API and the command line's options."""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nbkit.errors import NbkitError, ParamsError, schema_problems
from nbkit.languages import check_language


class Recipe(BaseModel):
    """What every model that is trained here is trained by: data, optimisation, seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    #: Goes up when the same recipe gives another model.
    version: ClassVar[int] = 1

    train: str = Field("sandbox:train", description="corpus to train on: a name, name:split, or a path")
    pairs: int | None = Field(
        None, ge=1, description="training pairs (of translators: a target language); all there are where not given"
    )
    steps: int | None = Field(None, ge=1, description="optimiser steps; alternative to epochs")
    epochs: float | None = Field(None, gt=0, description="passes over the data; alternative to steps")
    batch_tokens: int = Field(4096, ge=16, description="tokens of a batch, both sides, padding included")
    warmup: int = Field(100, ge=0, description="steps until the highest learning rate; it then falls in a line to 0")
    save_every: int = Field(500, ge=1, description="steps between checkpoints, from which an interrupted run resumes")
    seed: int = Field(0, ge=0, description="seed of initial weights, dropout and order of batches")
    threads: int = Field(1, ge=1, description="CPU threads; another number may round differently")

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

    def digest(self, *more: object) -> str:
        """16 hexadecimal digits for the recipe, the version of the training code, and *more* that matters."""
        parts = json.dumps([self.model_dump(mode="json"), self.version, *more], sort_keys=True)
        return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()


class TranslatorRecipe(Recipe):
    """Architecture, data and optimisation of a translator that is trained from scratch.

    >>> TranslatorRecipe(targets=("fr",), steps=100).d_model
    128
    """

    architecture: Literal["marian", "m2m100"] = Field("marian", description="marian: one pair; m2m100: several targets")
    src: str = Field("en", description="source language")
    targets: tuple[str, ...] = Field(("de",), min_length=1, description="target languages; one for marian")
    dev: str = Field("sandbox:dev", description="corpus for the model card's development BLEU")
    test: str = Field("sandbox:test", description="corpus for the model card's test BLEU")
    card_pairs: int = Field(200, ge=1, description="pairs of dev and test a target language behind the card's BLEU")
    joined: float = Field(
        0.5,
        ge=0,
        le=1,
        description="share of training sources written as tokens joined by spaces, as perturbed sentences are",
    )
    vocabulary: int = Field(4000, ge=50, description="pieces of the joint SentencePiece vocabulary, at most")
    split_digits: bool = Field(
        False,
        exclude_if=operator.not_,  # recipes from before there was this field keep their digest, and their models
        description="whether each digit is a piece of its own, so that a number is written digit by digit",
    )
    d_model: int = Field(128, ge=8, description="width of the model")
    ffn: int = Field(512, ge=8, description="width of its feed-forward layers")
    heads: int = Field(4, ge=1, description="attention heads; they divide d_model")
    encoder_layers: int = Field(2, ge=1, description="layers of the encoder")
    decoder_layers: int = Field(2, ge=1, description="layers of the decoder")
    dropout: float = Field(0.1, ge=0, lt=1, description="dropout in training")
    learning_rate: float = Field(2e-3, gt=0, description="highest learning rate, after the warm-up")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="label smoothing")

    @model_validator(mode="after")
    def _consistent(self) -> TranslatorRecipe:
        if self.architecture == "marian" and len(self.targets) != 1:
            raise ValueError(f"architecture marian takes one target, {len(self.targets)} given; m2m100 takes several")
        for lang in (self.src, *self.targets):
            try:
                check_language(lang)
            except NbkitError as error:
                raise ValueError(str(error)) from None
        if self.d_model % self.heads or self.d_model % 2:
            raise ValueError(f"d_model {self.d_model}: an even multiple of heads ({self.heads}) expected")
        return self
