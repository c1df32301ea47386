"""Parameters of the disambiguation study, and which of them enter the keys of stored results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, model_validator

from nbkit import models
from nbkit.corpora import corpus_identity
from nbkit.corpora.homographs import HomographLexicon, OnConflict, load_homographs
from nbkit.measure.aligners import load_aligner
from nbkit.measure.senses import Reach, TargetNouns, nouns_of
from nbkit.models.services.outputs import OutputsModel
from nbkit.studies.base import (
    MOST,
    Beams,
    Count,
    JudgedParams,
    Language,
    Once,
    Parsers,
    TranslatorParams,
    Translators,
    or_value_error,
)
from nbkit.studies.disambiguation.mining import FILE, Mining
from nbkit.text.parsers import OnError, parser_for, parser_identity

Kind = Literal["IH", "RH", "InH", "RnH"]


class DisambiguationParams(TranslatorParams, JudgedParams):
    """Parameters of the disambiguation study: where homographs are tested, who translates them, how they are attacked.

    References
    ----------
    Emelin, Titov and Sennrich (2020), *Detecting Word Sense Disambiguation Biases in Machine Translation for
    Model-Agnostic Adversarial Attacks*.

    Examples
    --------
    >>> DisambiguationParams(models=["sandbox-wsd-marian"], n_pairs=50).corpora
    ['sandbox-homographs:test']
    """

    tasks: ClassVar[Mapping[str, str]] = {**JudgedParams.tasks, "naturalness": "naturalness_key"}

    domain: str = Field(
        default="sandbox",
        description="Name of the data in tables. The paper's domains are OS18 and WMT19; a run that uses one of these "
        "names is compared with the paper's numbers.",
    )
    source: Language = Field(default="en", description="Source language, in which the homographs are.")
    target: Language = Field(default="de", description="Target language, whose words show the sense.")
    lexicon: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        default="sandbox",
        description="Sense clusters: own (nbkit's lexicon), sandbox, or a .yaml or .json file. +repairs behind it "
        "corrects the published senses, +own adds the words that only nbkit's lexicon has.",
    )
    on_conflict: OnConflict = Field(
        default="raise",
        description="What to do with a translation listed in two clusters of a lexicon file: raise an error, or drop "
        "the translation.",
    )
    models: Translators = Field(
        default=["sandbox-wsd-marian"],
        description="Translation models to compare: names (nbkit list models), Hugging Face ids or folders.",
    )
    twins: dict[str, str] = Field(
        default={},
        description="For each model, another model of the same architecture trained from a different random seed "
        "(section 4), as in {a: a-again}.",
    )
    training_corpus: str = Field(
        default="sandbox-homographs:train", description="Corpus on which biases are counted: the models' training data."
    )
    training_pairs: Count | None = Field(default=10000, description="Pairs read from the training corpus; None: all.")
    test_corpora: Once[str] = Field(
        default=["sandbox-homographs:test"], description="Corpora that the test pairs come from."
    )
    n_pairs: Count | None = Field(default=1000, description="Pairs read from each test corpus; None: all.")
    n_test: Count | None = Field(
        default=None, description="Test pairs that are translated, drawn at random of those found; None: all."
    )
    folds: int = Field(
        default=0,
        ge=0,
        le=100,
        strict=True,
        description="Number of parts for cross-fitting, which also tests on the training corpus: each part is tested "
        "with biases counted on the others. 0: no cross-fitting.",
    )
    min_tokens: int = Field(
        default=10, ge=1, le=1000, strict=True, description="Shortest source sentence tested, in tokens; the paper: 10."
    )
    aligner: str = Field(
        default="gold",
        description="Word alignment of the training pairs: gold (the corpus has its alignment, and so must the test "
        "corpora), eflomal, pharaoh:FILE or another aligner.",
    )
    hypothesis_aligner: str = Field(
        default="lexicon",
        description="Word alignment of sources with translations, and of test pairs without gold alignment: eflomal, "
        "lexicon:FILE, embeddings:MODEL, or lexicon (a word list made from the gold alignment, which needs "
        "aligner: gold).",
    )
    aligner_pairs: Count | None = Field(
        default=4000, description="Training pairs from which eflomal or the word list is learned; None: all."
    )
    target_words: Literal["lemmas", "forms"] = Field(
        default="forms",
        description="How words of a translation are looked up in the lexicon: as lemmas (translations are parsed) or "
        "as forms (unchanged).",
    )
    target_nouns: TargetNouns = Field(
        default="tagged",
        description="Which target words can show a noun's sense. tagged: nouns by part of speech, in German also by "
        "their capital letter (for forms, the capital alone); tagged_or_capital: either is enough; any: all words, for "
        "languages with neither.",
    )
    reach: Reach = Field(
        default="links",
        description="Where a translation shows the sense: links (the aligned words), or, if these show none, also "
        "window (nouns up to three words from them) or translation (all nouns).",
    )
    voters: Translators = Field(
        default=[],
        description="For test corpora without references, whose target side is not read: the systems, at least four, "
        "that identify the right sense. It is the one that two thirds of the *other* ones chose, at least three of "
        "them; a system with another sense disagrees with the others, which is not always an error. Empty: that of the "
        "references.",
    )
    ppmi: Literal["pooled", "homograph", "published"] = Field(
        default="pooled",
        description="How PPMI estimates probabilities: pooled (over the pairs of all homographs, equation 2), "
        "homograph (over those of one homograph), or published (as the research code computes it).",
    )
    bias: Literal["mean", "sum"] = Field(
        default="mean",
        description="How the biases of a sentence's words are combined: mean (equation 3) or sum (nbkit's variant).",
    )
    bleu_pairs: int = Field(
        default=200, ge=0, le=MOST, strict=True, description="Pairs of each test corpus on which BLEU is computed."
    )
    challenge_size: Count = Field(
        default=100,
        description="Pairs in a challenge set, and in the random set it is compared with; the paper: 3,000.",
    )
    kinds: Once[Kind] = Field(
        default=["IH", "RH", "InH", "RnH"],
        min_length=1,
        description="Types of perturbation: insert or replace (I, R) an adjective at the homograph (H) or at another "
        "noun (nH).",
    )
    masked_lm: str | None = Field(
        default="sandbox-wsd-bert",
        description="Masked language model of the target language. A sentence is attacked only if the model expects "
        "the reference's sense; None: no such filter.",
    )
    causal_lm: str | None = Field(
        default="sandbox-wsd-gpt",
        description="Causal language model of the source language whose perplexity filters the samples; None: no such "
        "filter.",
    )
    most_biased: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="Share of the seeds dropped because they are the most biased to a wrong sense.",
    )
    perplexity_rise: float = Field(
        default=0.2,
        ge=0,
        le=1000,
        description="By how much a sample's perplexity may exceed its seed's; 0.2: by 20%.",
    )
    n_seeds: Count | None = Field(default=200, description="Seeds to attack, drawn at random; None: all.")
    n_samples: Count | None = Field(default=None, description="Samples per seed, drawn at random; None: all.")
    attack_size: Count = Field(default=200, description="Samples in an attack challenge set; the paper: 10,000.")
    per_homograph: Count = Field(
        default=50, description="Most samples of one homograph in an attack challenge set; the paper: 1,000."
    )
    grammar: Literal["off", "languagetool"] = Field(
        default="off",
        description='Grammar check of the samples: off, or languagetool (pip install "nbkit[languagetool]", and Java).',
    )
    annotations: dict[str, str] = Field(
        default={}, description="Completed forms of the first task (which sense?), by annotator."
    )
    annotation_key: str | None = Field(default=None, description="Key of the forms of the first task.")
    naturalness: dict[str, str] = Field(
        default={}, description="Completed forms of the second task (how natural?), by annotator."
    )
    naturalness_key: str | None = Field(default=None, description="Key of the forms of the second task.")
    parsers: Parsers = Field(
        default={}, description="spaCy pipelines (name or folder) by language, in place of the default ones."
    )
    beams: Beams = 5
    on_error: OnError = Field(
        default="raise",
        description="What to do with a malformed line of a corpus: raise an error, or skip and count it.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> DisambiguationParams:
        if self.source == self.target:
            raise ValueError(f"source and target are both '{self.source}': choose another target")
        if self.folds == 1:
            raise ValueError(
                "folds: with 1 part, none is left to count biases on; use 0 (no cross-fitting) or at least 2"
            )
        if self.voters and (self.folds or len(self.voters) < 4):
            raise ValueError(
                f"voters: {len(self.voters)} systems with folds: {self.folds}; at least four are needed, so that three "
                "others decide, and folds: 0"
            )
        if not self.folds and not self.test_corpora:
            raise ValueError("test_corpora: nothing to test on; name a corpus, or use cross-fitting (folds: 10)")
        for name, twin in self.twins.items():
            if name not in self.models:
                raise ValueError(f"twins: '{name}' is not in models {self.models}; add it there")
            if twin in self.models:
                raise ValueError(
                    f"twins: '{twin}' is already in models; name a model trained from another seed than '{name}'"
                )
        self._check_aligners()
        nouns = nouns_of(self.target)
        if self.target_words == "forms" and self.target_nouns != "any" and not (nouns and nouns.capitals):
            raise ValueError(
                f"target_nouns: '{self.target_nouns}' cannot identify nouns of '{self.target}' by their form alone; "
                "parse the translations (target_words: lemmas), or count all words (target_nouns: any)"
            )
        if self.lexicon.isidentifier():  # a name; files are checked by `problems`, where other problems of the run are
            or_value_error(DisambiguationParams._lexicon, self)  # not stored: a copy may have another lexicon
        return self

    def _check_aligners(self) -> None:
        name = self.hypothesis_aligner
        ways_out = "use eflomal, lexicon:FILE or embeddings:MODEL"
        if name == "gold" or name.startswith(FILE):
            raise ValueError(f"hypothesis_aligner: '{name}' does not align translations made by this run; {ways_out}")
        if name == "lexicon" and self.aligner != "gold":
            raise ValueError(
                f"hypothesis_aligner: 'lexicon' is made from the gold alignment, and 'aligner: {self.aligner}' has "
                f"none; {ways_out}"
            )

    @property
    def translated_by(self) -> list[str]:
        """All translators of the run, twins last."""
        return list(dict.fromkeys([*self.models, *self.twins.values()]))

    @property
    def asked(self) -> list[str]:
        """All translators of the run, and the voters."""
        return list(dict.fromkeys([*self.translated_by, *self.voters]))

    @property
    def attackable(self) -> list[str]:
        """The translators that can be asked for samples, twins last: not files, which hold what was translated."""
        remotes = {model: models.resolve(model, self.source, self.target).remote for model in self.translated_by}
        return [model for model, each in remotes.items() if not (isinstance(each, OutputsModel) and each.is_fixed)]

    @property
    def corpora(self) -> list[str]:
        """Every corpus that test pairs come from; a cross-fitted training corpus comes first."""
        own = [self.training_corpus] if self.folds else []
        return list(dict.fromkeys([*own, *self.test_corpora]))

    def is_cross_fitted(self, corpus: str) -> bool:
        """Whether the biases of a part of this corpus are counted on its other parts."""
        return bool(self.folds) and corpus == self.training_corpus

    @property
    def read(self) -> list[tuple[str, str, int | None]]:
        """The corpora to read, each with the parameter that limits its pairs and the limit; training first."""
        tests = [(corpus, "n_pairs", self.n_pairs) for corpus in self.test_corpora]
        return [(self.training_corpus, "training_pairs", self.training_pairs), *tests]

    def narrowed(self, domain: str, model: str) -> DisambiguationParams:
        """These parameters for one model and its twin; a run has one domain."""
        twins = {name: twin for name, twin in self.twins.items() if name == model}
        return self.model_copy(update={"models": [model], "twins": twins})

    def corpus_key(self, corpus: str, n: int | None) -> dict[str, Any]:
        """Everything that can change the first *n* pairs of a corpus."""
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
        """What biases are counted on, not yet cut into shards (`nbkit.studies.disambiguation.pool.training`)."""
        return Mining(
            self.training_corpus, self.source, self.target, self.training_pairs, self.parsers or None, self.on_error,
            self.lexicon, self.on_conflict, self.aligner, target_nouns=self.target_nouns,
        )  # fmt: skip

    def counts_key(self) -> dict[str, Any]:
        """Everything that can change the counts of the training corpus."""
        return {
            "corpus": self.corpus_key(self.training_corpus, self.training_pairs),
            "lexicon": self.homographs.digest,
            "aligner": self.mined.aligner_key(),
            "target_nouns": self.target_nouns,
            "folds": self.folds,
        }

    def learned_key(self) -> dict[str, Any]:
        """Everything that can change the alignment of translations, besides the translations."""
        name = self.hypothesis_aligner  # "lexicon": the word list is of the counted pairs
        linked = name if name == "lexicon" else load_aligner(name, self.source, self.target).identity
        return {"counts": self.counts_key(), "hypothesis_aligner": linked, "aligner_pairs": self.aligner_pairs}

    def pool_key(self) -> dict[str, Any]:
        """Everything that can change the test pairs and their biases."""
        others = {"voters": {model: self.translation_key(model) for model in self.voters}}
        return {
            **self.learned_key(),
            "test": {corpus: self.corpus_key(corpus, self.n_of(corpus)) for corpus in self.corpora},
            "min_tokens": self.min_tokens,
            **(others if self.voters else {}),
        }

    def n_of(self, corpus: str) -> int | None:
        """How many pairs of a corpus are read."""
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
        """Everything that can change the scores of a language model; None without a model."""
        return None if name is None else models.language_model_identity(name, lang, **self.running)

    def translation_key(self, model: str) -> dict[str, Any]:
        """Everything that can change the senses found in a model's translations, besides the sources."""
        spec = parser_for(self.target, self.parsers or None)
        lemmas = parser_identity(spec, self.target) if self.target_words == "lemmas" else None
        reach = {} if self.reach == "links" else {"reach": self.reach}
        return {**self.model_key(model), "lemmas": lemmas, **reach}

    def model_key(self, model: str) -> dict[str, Any]:
        """Everything that can change a translator's translations."""
        return self.translator_key(model, self.source, self.target)
