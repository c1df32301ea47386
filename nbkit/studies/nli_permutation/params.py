"""Parameters of the NLI permutation study, and the parts of them that enter the keys of stored results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Field, field_validator, model_validator

from nbkit.corpora.nli import find_nli, nli_identity, nli_tokenizer
from nbkit.languages import is_unspaced
from nbkit.models import classifier_identity
from nbkit.perturb.derangements import PermutedUnit, Punctuation
from nbkit.studies.base import (
    Classifiers,
    Count,
    JudgedParams,
    Language,
    Parsers,
    or_value_error,
    without_repeats,
)
from nbkit.text.parsers import OnError

Permutations: TypeAlias = Annotated[int, Field(ge=1, le=10_000, strict=True)]


class NliPermutationParams(JudgedParams):
    """Which pairs are permuted, how, and which classifiers label them.

    Without models, only the permutations themselves are studied.
    """

    corpora: list[str] = Field(
        default=["sandbox:test"],
        min_length=1,
        description="NLI sets in one language: names (nbkit list corpora), NAME:SPLIT, or files.",
    )
    language: Language = Field(default="en", description="Language of the NLI sets.")
    models: Classifiers = Field(
        default=["sandbox-infersent"],
        description="Classifiers: names (nbkit list models), Hugging Face ids or folders; empty: permutations only.",
    )
    n_pairs: Count | None = Field(default=200, description="Pairs from the top of each set; null: all.")
    permutations: Permutations = Field(default=100, description="Permutations per side; pairs with fewer are excluded.")
    unit: PermutedUnit = Field(
        default="word", description="What is permuted: word, or (in Chinese and Japanese) character."
    )
    punctuation: Punctuation = Field(
        default="keep", description="Whether punctuation keeps its place (keep) or moves like a word (move)."
    )
    hypothesis_only: bool = Field(default=True, description="Also permute the hypothesis alone (Figure 8).")
    clumps: list[float] = Field(
        default=[0.25, 0.5, 0.75], description="Also keep these shares of the words together as one block (Figure 9)."
    )
    clumped_permutations: Permutations = Field(default=10, description="Permutations per side for each of clumps.")
    max_entropy: dict[str, str] = Field(
        default={}, description="A model, and the same model after maximum-entropy training (Table 5)."
    )
    training_corpus: str = Field(default="sandbox:train", description="NLI set on which POS mini-trees are counted.")
    training_pairs: Count | None = Field(default=2000, description="Pairs of training_corpus to count; null: all.")
    radius: int = Field(
        default=2, ge=1, le=10, strict=True, description="Radius r of mini-trees: neighbours on either side of a word."
    )
    top_k: int = Field(
        default=4, ge=1, le=17, strict=True, description="k of mini-trees: most frequent neighbours that are compared."
    )
    annotations: dict[str, str] = Field(
        default={}, description="annotator, and the form that they filled in (nbkit annotate make)"
    )
    annotation_key: str | None = Field(default=None, description="key of these forms, written with the form")
    parsers: Parsers = Field(
        default={},
        description="How texts are tokenized: language, and spaCy pipeline (name or folder), tokenizer or jieba.",
    )
    on_error: OnError = Field(
        default="raise",
        description="Malformed rows of a set: stop with an error (raise), or skip and count them (skip).",
    )

    @field_validator("corpora")
    @classmethod
    def _canonical_corpora(cls, specs: list[str]) -> list[str]:
        return without_repeats([or_value_error(canonical, spec) for spec in specs])

    @field_validator("training_corpus")
    @classmethod
    def _canonical_training(cls, spec: str) -> str:
        return or_value_error(canonical, spec)

    @field_validator("clumps")
    @classmethod
    def _shares(cls, shares: list[float]) -> list[float]:
        for share in shares:
            if not 0 < share < 1:
                raise ValueError(
                    f"{share} is not a share of words to keep together: use a number between 0 and 1, such as 0.5"
                )
        return sorted(set(shares))

    @model_validator(mode="after")
    def _consistent(self) -> NliPermutationParams:
        if self.unit == "character" and not is_unspaced(self.language):
            raise ValueError(
                f"unit 'character' is for languages without spaces; '{self.language}' has them: use unit: word"
            )
        for name in self.max_entropy:
            if name not in self.models:
                raise ValueError(f"max_entropy: '{name}' is not among the models {self.models}; add it there")
        return self

    @property
    def scored_models(self) -> list[str]:
        """All classifiers of the run, those trained with maximum entropy last."""
        return list(dict.fromkeys([*self.models, *self.max_entropy.values()]))

    def schemes(self, model: str | None = None) -> list[str]:
        """What *model* is tested on: "permuted" (both sides), and the variants, for models of the main comparison."""
        if model is not None and model not in self.models:
            return [PERMUTED]
        return [PERMUTED, *([HYPOTHESIS] if self.hypothesis_only else []), *map(clumped, self.clumps)]

    def narrowed(self, language: str, model: str) -> NliPermutationParams:
        """The same parameters for one model; a run has only one language."""
        twin = {name: other for name, other in self.max_entropy.items() if name == model}
        return self.model_copy(update={"models": [model], "max_entropy": twin})

    def tokenizer(self, corpus: str) -> tuple[str, bool]:
        """The tokenizer of *corpus*, and whether it tags parts of speech."""
        return nli_tokenizer(corpus, self.language, self.parsers or None)

    def read_key(self, corpus: str, n: int | None) -> dict[str, Any]:
        """Everything that can change the pairs read from the top of a set; part of store keys."""
        found = nli_identity(corpus, self.language, n=n, parsers=self.parsers or None)
        return {"corpus": found, "on_error": self.on_error}

    def corpus_key(self, corpus: str) -> dict[str, Any]:
        """Everything that can change the permuted texts of one set."""
        return {
            **self.read_key(corpus, self.n_pairs),
            "permutations": self.permutations,
            "unit": self.unit,
            "punctuation": self.punctuation,
            "seed": self.seed,
        }

    def n_of(self, scheme: str) -> int:
        """How many permutations a pair has under *scheme*."""
        return self.clumped_permutations if share_of(scheme) else self.permutations

    def training_key(self) -> dict[str, Any]:
        """Everything that can change the mini-trees of the training corpus."""
        return {
            **self.read_key(self.training_corpus, self.training_pairs),
            "unit": self.unit,
            "radius": self.radius,
        }

    def model_key(self, model: str) -> Mapping[str, Any]:
        """Everything that can change the answers of a classifier."""
        return classifier_identity(model, self.language, **self.running)


#: Both sides permuted, the paper's main experiment.
PERMUTED = "permuted"
#: The hypothesis permuted, the premise in its own order (Appendix C).
HYPOTHESIS = "hypothesis"
_CLUMPED = "clumped "


def clumped(share: float) -> str:
    """The name of the variant in which *share* of the words stays together (Appendix D).

    >>> clumped(0.25), share_of("clumped 0.25"), share_of("permuted")
    ('clumped 0.25', 0.25, None)
    """
    return f"{_CLUMPED}{share:g}"


def share_of(scheme: str) -> float | None:
    """The share of words that a variant keeps together, None for the others."""
    return float(scheme.removeprefix(_CLUMPED)) if scheme.startswith(_CLUMPED) else None


def canonical(corpus: str) -> str:
    """*corpus* with its split, which tables and published values know it by.

    >>> canonical("sick"), canonical("snli:dev"), canonical("mine.tsv")
    ('sick:test', 'snli:dev', 'mine.tsv')
    """
    found, split = find_nli(corpus)
    if split is None and found.splits and ":" not in corpus:
        return f"{corpus}:{found.splits[0]}"
    return corpus
