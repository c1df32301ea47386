"""What an NLI classifier is trained by: one model is both the API and the command line's options."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from nbkit.errors import NbkitError
from nbkit.languages import check_language, is_unspaced
from nbkit.models.translators.recipe import PairsRecipe

Architecture = Literal["roberta", "bart", "distilbert", "infersent", "bilstm", "convnet"]


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

    architecture: Architecture | None = Field(None, description="what is trained from scratch; alternative to start")
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
        try:
            check_language(self.lang)
        except NbkitError as error:
            raise ValueError(str(error)) from None
        if (self.architecture is None) == (self.start is None):
            given = "neither architecture nor start" if self.start is None else "both architecture and start"
            raise ValueError(f"{given} given: a model is trained from scratch, or from a checkpoint on")
        if self.architecture not in (None, *SENTENCE_ENCODERS) and self.width % self.heads:
            raise ValueError(f"width {self.width}: a multiple of heads ({self.heads}) expected")
        if self.vectors is not None and not self.has_words:
            raise ValueError("vectors are for the words of infersent, bilstm and convnet")
        return self

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
