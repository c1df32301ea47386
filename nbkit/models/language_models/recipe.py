"""What a language model is trained by: one model is both the API and the command line's options."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from nbkit.errors import NbkitError
from nbkit.languages import check_language
from nbkit.models.translators.recipe import Recipe

Architecture = Literal["gpt2", "bert", "distilbert", "roberta"]


class LanguageModelRecipe(Recipe):
    """Architecture, data and optimisation of a language model, trained from scratch.

    The loss is the mean of −log p in nats: causal (gpt2), of every next token and the end; masked (the others), of
    tokens that were drawn to be guessed (Devlin et al. 2019, §3.1: of the drawn ones 80 % are masked, 10 % are replaced
    by any token, 10 % stay).

    >>> LanguageModelRecipe(architecture="bert", steps=100).is_causal
    False
    """

    architecture: Architecture = Field("gpt2", description="gpt2: causal; bert, distilbert, roberta: masked")
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
        try:
            check_language(self.lang)
        except NbkitError as error:
            raise ValueError(str(error)) from None
        if self.width % self.heads:
            raise ValueError(f"width {self.width}: a multiple of heads ({self.heads}) expected")
        return self

    @property
    def is_causal(self) -> bool:
        """Whether it is a causal language model."""
        return self.architecture == "gpt2"
