"""What models are trained by: one model is both the API and the command line's options."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from nbkit.corpora.idioms import training_copies
from nbkit.errors import ModelError, NbkitError, ParamsError, schema_problems
from nbkit.languages import check_language

#: What no number of a recipe is beyond.
_MOST = 10**9
#: The highest seed that numpy and torch both take.
MOST_SEED = 2**32 - 1


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
        for lang in (self.src, *self.targets):
            try:
                check_language(lang)
            except NbkitError as error:
                raise ValueError(str(error)) from None
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
    def copies(self) -> int:
        """How often idiom-train is part of the training data."""
        return 0 if self.idioms is None else training_copies(self.condition)

    @property
    def is_noisy(self) -> bool:
        """Whether any token is masked or replaced in training."""
        return bool(self.mask or self.replace_source or self.replace_target)


# ----------------------------------------------------------------------------
# One recipe, several models: by their seeds, and by the condition of their training data.
#
# ``NAME#2`` is the model NAME, trained with the seed 2 and otherwise the same. A name with ``{condition}`` in
# it, such as ``sandbox-idioms-{condition}``, stands for a model a condition: ``sandbox-idioms-zero``,
# ``sandbox-idioms-upsample-20``.


_CONDITION = "{condition}"


_CONDITIONS = r"(?P<condition>zero|joint|upsample-[1-9]\d*)"


@dataclass(frozen=True)
class Variant:
    """What a recipe is changed by; None: as it stands there."""

    seed: int | None = None
    condition: str | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of the recipe that it sets."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def label(self) -> str:
        """What a model's label ends with.

        >>> Variant(2, "zero").label, Variant().label
        (' zero (seed 2)', '')
        """
        condition = f" {self.condition}" if self.condition else ""
        return condition + (f" (seed {self.seed})" if self.seed is not None else "")


AS_IT_IS = Variant()


def split_seed(name: str) -> tuple[str, int | None]:
    """A model's name without its seed, and the seed; None where it names none.

    Raises `ModelError` for a seed that no random generator takes.

    >>> split_seed("sandbox-wsd-lstm#2"), split_seed("opus-mt"), split_seed("models/a#b")
    (('sandbox-wsd-lstm', 2), ('opus-mt', None), ('models/a#b', None))
    """
    base, mark, seed = name.rpartition("#")
    if not mark or "/" in name or not re.fullmatch(r"[0-9]+", seed):
        return name, None  # a folder is called what it is called
    if len(seed) > len(str(MOST_SEED)) or int(seed) > MOST_SEED:
        raise ModelError(f"model '{name:.80}': a seed is a number from 0 to {MOST_SEED}")
    return base, int(seed)


def check_condition(name: str) -> None:
    """Raises `ModelError` for a name that no condition was put into: it stands for several models."""
    if _CONDITION in name:
        raise ModelError(f"model '{name}': write zero, joint or upsample-N (such as upsample-20) for {_CONDITION}")


def matching(name: str, names: Iterable[str]) -> tuple[str, str | None]:
    """The one of *names* that *name* is called by, and the condition that stands for its placeholder.

    >>> matching("idioms-zero", ["idioms-{condition}", "idioms-mask-{condition}"])
    ('idioms-{condition}', 'zero')
    >>> matching("opus-mt", ["opus-mt"])
    ('opus-mt', None)
    """
    for known in names:
        if name != known and _CONDITION in known:
            pattern = re.escape(known).replace(re.escape(_CONDITION), _CONDITIONS)
            found = re.fullmatch(pattern, name)
            if found:
                return known, found["condition"]
    return name, None
