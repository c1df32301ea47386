"""Parameters of the disambiguation study, and what of them goes into the keys of remembered results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from nbkit import models
from nbkit.corpora import corpus_identity
from nbkit.corpora.homographs import HomographLexicon, OnConflict, load_homographs
from nbkit.measure.aligners import load_aligner
from nbkit.measure.senses import TargetNouns, nouns_of
from nbkit.models import Decoding
from nbkit.models.decoding import MOST_BEAMS, MOST_NEW_TOKENS
from nbkit.studies.base import (
    MOST,
    Device,
    Dtype,
    Language,
    Parsers,
    StudyParams,
    Translators,
    or_value_error,
    without_repeats,
)
from nbkit.studies.disambiguation.mining import FILE, Mining
from nbkit.text.parsers import OnError, parser_for, parser_identity

Kind = Literal["IH", "RH", "InH", "RnH"]


class DisambiguationParams(StudyParams):
    """Which homographs are looked for where, who translates them, and how they are attacked.

    domain: what the data is called in tables; the paper's are "OS18" and "WMT19", and theirs stand beside these.
    source, target: languages. lexicon: sense clusters: "own", "sandbox", or a file (`nbkit.corpora.homographs`).
    models: translators, compared with each other. twins: model to another of the same architecture that was trained
    from another random seed (§4), such as ``{"a": "a-again"}``.
    training_corpus, training_pairs: what biases are counted on, and how many of its pairs (None: all).
    test_corpora, n_pairs: where test pairs come from, and how many pairs of each are looked at (None: all).
    folds: 0, or into how many parts the training corpus is cut, so that it serves as a test corpus too: the biases of
    each part are counted on the others.
    bleu_pairs: pairs of each test corpus that BLEU is computed on.
    min_tokens: the shortest source sentence that is tested (the paper: 10).
    on_conflict: what becomes of a translation that stands in two clusters of a lexicon's file: "raise" or "drop".
    aligner: what links the training pairs: "gold" (their own links, which test pairs then have too), or an aligner.
    hypothesis_aligner: what links sources with their translations, and test pairs without gold links; eflomal
    learns from the first aligner_pairs training pairs (None: all), "lexicon" is the word list of their gold links,
    so that it needs ``aligner: gold``.
    target_words: whether translations are looked up by their "lemmas" (parsed) or as they stand ("forms").
    target_nouns: which words of references and translations can show a noun's sense. "tagged": nouns by their part of
    speech, and in German by the capital letter (of words that stand as "forms", by that alone); "tagged_or_capital":
    either is enough; "any": all words, for targets that have neither.
    ppmi: over which pairs probabilities are: "pooled" over all homographs (equation 2), or "homograph"; "published" is
    the research code's PPMI (`nbkit.measure.senses.ppmi_published`). All three are shown beside Table 3.
    bias: whether a sentence's bias is the "mean" over its words (equation 3, and the research code) or their "sum", a
    variant of nbkit's own; both are shown beside Table 3.
    challenge_size: pairs of a challenge set, and of a random one (the paper: 3,000).
    kinds: perturbations. masked_lm: language model that has to expect the reference's sense; causal_lm: the one whose
    perplexity a sample may raise. None: no such filter.
    most_biased: share of the seeds with the strongest bias to a wrong sense that are dropped.
    perplexity_rise: how much of the seed's perplexity a sample's may be above it.
    n_seeds: seeds that are attacked, drawn; None: all. n_samples: samples of a seed, drawn; None: all.
    attack_size, per_homograph: samples of an attack challenge set (the paper: 10,000), and of one homograph in it
    (1,000).
    grammar: "languagetool" has samples checked by it (``pip install "nbkit[languagetool]"`` and Java), "off" not.
    annotations, annotation_key: filled forms by annotator, and their key (see `nbkit.measure.forms`).
    naturalness, naturalness_key: the same for the second task.
    parsers: language to its spaCy pipeline (name or folder), where it is not the default one.
    beams, max_new_tokens: decoding (the paper: 5 beams). device, dtype: where and in which precision models run.
    on_error: whether a malformed line of a corpus is an error ("raise") or is counted ("skip").
    seed: part of the address of every random draw.
    """

    domain: str = "sandbox"
    source: Language = "en"
    target: Language = "de"
    lexicon: Annotated[str, StringConstraints(strip_whitespace=True)] = "sandbox"
    on_conflict: OnConflict = "raise"
    models: Translators = Field(default=["sandbox-wsd-marian"])
    twins: dict[str, str] = Field(default={})
    training_corpus: str = "sandbox-homographs:train"
    training_pairs: int | None = Field(default=10000, ge=1, le=MOST, strict=True)
    test_corpora: list[str] = Field(default=["sandbox-homographs:test"])
    n_pairs: int | None = Field(default=1000, ge=1, le=MOST, strict=True)
    folds: int = Field(default=0, ge=0, le=100, strict=True)
    min_tokens: int = Field(default=10, ge=1, le=1000, strict=True)
    aligner: str = "gold"
    hypothesis_aligner: str = "lexicon"
    aligner_pairs: int | None = Field(default=4000, ge=1, le=MOST, strict=True)
    target_words: Literal["lemmas", "forms"] = "forms"
    target_nouns: TargetNouns = "tagged"
    ppmi: Literal["pooled", "homograph", "published"] = "pooled"
    bias: Literal["mean", "sum"] = "mean"
    bleu_pairs: int = Field(default=200, ge=0, le=MOST, strict=True)
    challenge_size: int = Field(default=100, ge=1, le=MOST, strict=True)
    kinds: list[Kind] = Field(default=["IH", "RH", "InH", "RnH"], min_length=1)
    masked_lm: str | None = "sandbox-wsd-bert"
    causal_lm: str | None = "sandbox-wsd-gpt"
    most_biased: float = Field(default=0.1, ge=0, lt=1)
    perplexity_rise: float = Field(default=0.2, ge=0, le=1000)
    n_seeds: int | None = Field(default=200, ge=1, le=MOST, strict=True)
    n_samples: int | None = Field(default=None, ge=1, le=MOST, strict=True)
    attack_size: int = Field(default=200, ge=1, le=MOST, strict=True)
    per_homograph: int = Field(default=50, ge=1, le=MOST, strict=True)
    grammar: Literal["off", "languagetool"] = "off"
    annotations: dict[str, str] = Field(default={})
    annotation_key: str | None = None
    naturalness: dict[str, str] = Field(default={})
    naturalness_key: str | None = None
    parsers: Parsers = Field(default={})
    beams: int = Field(default=5, ge=1, le=MOST_BEAMS, strict=True)
    max_new_tokens: int | None = Field(default=None, ge=1, le=MOST_NEW_TOKENS, strict=True)
    device: Device = "auto"
    dtype: Dtype = "auto"
    on_error: OnError = "raise"

    @field_validator("kinds", "test_corpora")
    @classmethod
    def _once(cls, names: list[str]) -> list[str]:
        return without_repeats(names)

    @model_validator(mode="after")
    def _consistent(self) -> DisambiguationParams:
        if self.source == self.target:
            raise ValueError(f"'{self.source}' is both source and target: translate into another language")
        if self.folds == 1:
            raise ValueError("folds: 1 part leaves no other to count biases on; 0 (no cross-fitting) or at least 2")
        if not self.folds and not self.test_corpora:
            raise ValueError("test_corpora: there is nothing to test on; name a corpus, or cross-fit (folds: 10)")
        for name, twin in self.twins.items():
            if name not in self.models:
                raise ValueError(f"twins: '{name}' is not among the models {self.models}; add it there")
            if twin in self.models:
                raise ValueError(f"twins: '{twin}' is among the models already; a twin is another training of '{name}'")
        for what, forms, key in (
            ("annotation", self.annotations, self.annotation_key),
            ("naturalness", self.naturalness, self.naturalness_key),
        ):
            if bool(forms) != bool(key):
                raise ValueError(f"{what}: filled forms and the key of the form belong together")
        self._check_aligners()
        nouns = nouns_of(self.target)
        if self.target_words == "forms" and self.target_nouns != "any" and not (nouns and nouns.capitals):
            raise ValueError(
                f"target_nouns: '{self.target_nouns}' cannot tell nouns of '{self.target}' as they stand; parse "
                "translations (target_words: lemmas), or let all words count (target_nouns: any)"
            )
        if self.lexicon.isidentifier():  # a name; files are looked at by `problems`, where others of the run are
            or_value_error(DisambiguationParams._lexicon, self)  # not kept: a copy may be of another one
        return self

    def _check_aligners(self) -> None:
        name = self.hypothesis_aligner
        ways_out = "name eflomal, lexicon:FILE or embeddings:MODEL"
        if name == "gold" or name.startswith(FILE):
            raise ValueError(f"hypothesis_aligner: '{name}' knows no links of translations made here; {ways_out}")
        if name == "lexicon" and self.aligner != "gold":
            raise ValueError(
                f"hypothesis_aligner: 'lexicon' is the word list of gold links, and 'aligner: {self.aligner}' has "
                f"none; {ways_out}"
            )

    @cached_property
    def decoding(self) -> Decoding:
        """The decoding settings of every translation of this run."""
        return Decoding(beams=self.beams, max_new_tokens=self.max_new_tokens)

    @property
    def translated_by(self) -> list[str]:
        """All translators of the run, twins last."""
        return list(dict.fromkeys([*self.models, *self.twins.values()]))

    @property
    def corpora(self) -> list[str]:
        """Every corpus that test pairs come from: the training corpus first where it is cross-fitted."""
        own = [self.training_corpus] if self.folds else []
        return list(dict.fromkeys([*own, *self.test_corpora]))

    def is_cross_fitted(self, corpus: str) -> bool:
        """Whether the biases of a test corpus are counted on its other parts."""
        return bool(self.folds) and corpus == self.training_corpus

    @property
    def read(self) -> list[tuple[str, str, int | None]]:
        """The corpora that are read, with the parameter that limits their pairs, and the limit; training first."""
        tests = [(corpus, "n_pairs", self.n_pairs) for corpus in self.test_corpora]
        return [(self.training_corpus, "training_pairs", self.training_pairs), *tests]

    def narrowed(self, domain: str, model: str) -> DisambiguationParams:
        """The same parameters for one model and its twin; all of a run is in one domain."""
        twins = {name: twin for name, twin in self.twins.items() if name == model}
        return self.model_copy(update={"models": [model], "twins": twins})

    def corpus_key(self, corpus: str, n: int | None) -> dict[str, Any]:
        """What the first *n* pairs of a corpus depend on."""
        return {
            **corpus_identity(corpus, self.source, self.target, n=n, parsers=self.parsers or None),
            "on_error": self.on_error,
        }

    @cached_property
    def homographs(self) -> HomographLexicon:
        """The sense clusters. Raises as `load_homographs` does."""
        return self._lexicon()

    def _lexicon(self) -> HomographLexicon:
        return load_homographs(self.lexicon, self.target, src=self.source, on_conflict=self.on_conflict)

    @property
    def mined(self) -> Mining:
        """What biases are counted on, but for the shards (`nbkit.studies.disambiguation.pool.training`)."""
        return Mining(
            self.training_corpus, self.source, self.target, self.training_pairs, self.parsers or None, self.on_error,
            self.lexicon, self.on_conflict, self.aligner, target_nouns=self.target_nouns,
        )  # fmt: skip

    def counts_key(self) -> dict[str, Any]:
        """Everything that can change what is counted on the training corpus."""
        return {
            "corpus": self.corpus_key(self.training_corpus, self.training_pairs),
            "lexicon": self.homographs.digest,
            "aligner": self.mined.aligner_key(),
            "target_nouns": self.target_nouns,
            "folds": self.folds,
        }

    def learned_key(self) -> dict[str, Any]:
        """Everything that can change the links of translations, besides themselves."""
        name = self.hypothesis_aligner  # "lexicon": the word list is of the counted pairs
        linked = name if name == "lexicon" else load_aligner(name, self.source, self.target).identity
        return {"counts": self.counts_key(), "hypothesis_aligner": linked, "aligner_pairs": self.aligner_pairs}

    def pool_key(self) -> dict[str, Any]:
        """Everything that can change the test pairs and their biases."""
        return {
            **self.learned_key(),
            "test": {corpus: self.corpus_key(corpus, self.n_of(corpus)) for corpus in self.corpora},
            "min_tokens": self.min_tokens,
        }

    def n_of(self, corpus: str) -> int | None:
        """How many pairs of a corpus are looked at."""
        return self.training_pairs if self.is_cross_fitted(corpus) else self.n_pairs

    def seeds_key(self) -> dict[str, Any]:
        """Everything that can change the seed sentences."""
        return {
            "pool": self.pool_key(),
            "masked_lm": self.language_model_key(self.masked_lm, self.target),
            **self.model_dump(include={"most_biased", "n_seeds", "ppmi", "bias", "seed"}),
        }

    def samples_key(self) -> dict[str, Any]:
        """Everything that can change the adversarial samples."""
        return {
            "seeds": self.seeds_key(),
            "kinds": sorted(self.kinds),
            "causal_lm": self.language_model_key(self.causal_lm, self.source),
            **self.model_dump(include={"perplexity_rise", "n_samples"}),
        }

    def language_model_key(self, name: str | None, lang: str) -> Mapping[str, Any] | None:
        """Everything that can change the scores of a language model; None where there is none."""
        settings = {"device": self.device, "dtype": self.dtype}
        return None if name is None else models.language_model_identity(name, lang, **settings)

    def translation_key(self, model: str) -> dict[str, Any]:
        """Everything that can change the senses found in a model's translations, besides their sources."""
        spec = parser_for(self.target, self.parsers or None)
        lemmas = parser_identity(spec, self.target) if self.target_words == "lemmas" else None
        return {**self.model_key(model), "lemmas": lemmas}

    def model_key(self, model: str) -> dict[str, Any]:
        """Everything that can change a translator's translations."""
        return {
            "model": models.model_identity(model, self.source, self.target, device=self.device, dtype=self.dtype),
            "decoding": self.decoding.identity(),
        }
