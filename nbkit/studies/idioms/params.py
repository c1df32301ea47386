"""Parameters of the idioms study, and what of them goes into the keys of remembered results."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from nbkit import models
from nbkit.corpora.idioms import training_copies
from nbkit.models import Decoding
from nbkit.models.decoding import MOST_BEAMS, MOST_NEW_TOKENS
from nbkit.models.probes import CONTEXTS, Context, EndState
from nbkit.studies.base import (
    MOST,
    Device,
    Dtype,
    Language,
    Languages,
    Once,
    Parsers,
    StudyParams,
    Written,
    or_value_error,
    told_apart,
    without_repeats,
)

#: What stands for a training condition in a model's name.
CONDITION = "{condition}"
#: The condition of a model that was not trained for this study.
AS_IT_IS = "as it is"

#: Ways of counting literal errors beside the paper's own ("paper"), each a variant with a name of its own.
Variant = Literal["inflected", "compounds", "accents", "aligned"]


#: What is judged beside the systems of a run is called so in tables: the references, and a copy of the source.
CONTROL_NAMES = ("references", "copy of the source")


def paper_name(model: str) -> str:
    """What a model of the paper is called here, however its name is written.

    >>> paper_name("tuned +mask"), paper_name("mBART +replace (dec)"), paper_name("pretrained")
    ('mbart+mask', 'mbart+replace(dec)', 'mbart')
    """
    return "".join(model.casefold().split()).replace("pretrained", "mbart").replace("tuned", "mbart")


class System(NamedTuple):
    """A model trained in one condition, or a control, of which condition and name are empty.

    model: what tables call it, whatever the condition. name: of the model, `nbkit.models.resolve`.
    """

    model: str
    condition: str
    name: str

    @property
    def label(self) -> str:
        """Model and condition.

        >>> System("random", "zero", "sandbox-idioms-zero").label
        'random, zero'
        """
        return self.model if self.condition in ("", AS_IT_IS) else f"{self.model}, {self.condition}"


class IdiomsParams(StudyParams):
    """Which idioms in which sentences, which translators in which training conditions, what is measured by what.

    source: the language of the idioms. languages: those that are translated into. data: where sentence pairs with
    idioms come from: a corpus that knows its idioms ("sandbox-idioms"), line-aligned files with spans
    (``files:FOLDER/NAME``: NAME.en, NAME.fr, NAME.spans.en), or ``mined``: found by the phrase matcher in *corpora*.
    corpora: parallel corpora that are mined together, by the name they go by in tables (*Europarl* and *IWSLT* stand
    beside the paper's): registered ones (`nbkit list corpora`) or paths. idioms: the phrase list of the
    matcher: "own" (nbkit's), or a file with a phrase a line. n_test: pairs of idiom-test that are translated, drawn
    idiom by idiom; None: all. models: what tables call a model, to its name; ``{condition}`` in a name stands for each
    of *conditions*, a name without it is one model as it is. Called *random*, *mBART*, *pretrained* or *tuned*, with
    ``+mask``, ``+replace (enc)`` or ``+replace (dec)``, a model stands beside the paper's. conditions: zero, joint,
    upsample-N: how often idiom-train is part of the training data. generic: test sets without idioms, by name: any
    parallel corpus. n_generic: pairs of each. dictionary: of LitTER: "sandbox", "induced" (from word alignments of
    idiom-train and *aligned_corpora*, by the first aligner), "muse:FOLDER", or a file, with ``{src}`` and ``{tgt}``.
    aligners: of APT-Eval; the first one also serves the induced dictionary and the probes. aligned_corpora: what a
    statistical aligner learns from beside idiom-train, and an induced dictionary is counted from. n_aligned: pairs of
    each; None: all. variants: ways of counting literal errors beside the paper's. contexts: what idioms are encoded in
    by the probes; "full" is always among them; empty: no probes. end_state: of the sentence's end in the probes:
    "kept", as the paper words it, or "replaced" as well, as its research code does. n_probed: pairs of idiom-test that
    are probed. parsers: of the matcher, by language. beams, max_new_tokens: decoding. device, dtype: where and in
    which precision models run. seed: part of the address of every random draw, of splits and of bootstraps.
    """

    source: Language = "en"
    languages: Languages = Field(default=["fr"], min_length=1)
    data: str = "sandbox-idioms"
    corpora: dict[str, str] = Field(default={})
    idioms: str = "own"
    n_test: int | None = Field(default=None, ge=2, le=MOST, strict=True)
    models: Annotated[dict[Annotated[str, Field(min_length=1)], str], Written] = Field(
        default={"random": "sandbox-idioms-{condition}"}
    )
    conditions: list[str] = Field(default=["zero", "joint"], min_length=1)
    generic: dict[str, str] = Field(default={"regular": "sandbox-idioms:test"})
    n_generic: int | None = Field(default=200, ge=2, le=MOST, strict=True)
    dictionary: str = "sandbox"
    aligners: Once[str] = Field(default=["lexicon"], min_length=1)
    aligned_corpora: Once[str] = Field(default=["sandbox-idioms:regular"])
    n_aligned: int | None = Field(default=4000, ge=1, le=MOST, strict=True)
    variants: Once[Variant] = Field(default=["inflected", "accents", "aligned"])
    contexts: list[Context] = Field(default=["full", "phrase", "word"])
    end_state: EndState = "kept"
    n_probed: int | None = Field(default=100, ge=2, le=MOST, strict=True)
    parsers: Parsers = Field(default={})
    beams: int = Field(default=5, ge=1, le=MOST_BEAMS, strict=True)
    max_new_tokens: int | None = Field(default=None, ge=1, le=MOST_NEW_TOKENS, strict=True)
    device: Device = "auto"
    dtype: Dtype = "auto"

    @field_validator("data")
    @classmethod
    def _known_data(cls, name: str) -> str:
        if name not in ("sandbox-idioms", "mined") and not re.match("files:.", name):
            raise ValueError(f"unknown data {name!r}: sandbox-idioms, mined or files:FOLDER/NAME")
        return name

    @field_validator("models")
    @classmethod
    def _told_apart(cls, names: dict[str, str]) -> dict[str, str]:
        told_apart(list(names), paper_name, way_out="call one otherwise (the keys of models)")
        reserved = {name for name in names if name.casefold() in CONTROL_NAMES}
        if reserved:
            raise ValueError(
                f"'{reserved.pop()}' is what a control is called: call the model otherwise (a key of models)"
            )
        return names

    @field_validator("conditions")
    @classmethod
    def _known_conditions(cls, names: list[str]) -> list[str]:
        for name in names:
            or_value_error(training_copies, name)
        return without_repeats(names)

    @field_validator("contexts")
    @classmethod
    def _from_wide_to_narrow(cls, names: list[str]) -> list[str]:
        wanted = {*names, "full"} if names else set()
        return [name for name in CONTEXTS if name in wanted]

    @model_validator(mode="after")
    def _consistent(self) -> IdiomsParams:
        if self.source in self.languages:
            raise ValueError(f"'{self.source}' is both the source and a target; remove it from languages")
        if self.data == "mined" and not self.corpora:
            raise ValueError("data is 'mined', yet corpora is empty: name the parallel corpora to mine")
        if self.corpora and self.data != "mined":
            raise ValueError(f"corpora are mined where data is 'mined'; it is '{self.data}'")
        return self

    @cached_property
    def decoding(self) -> Decoding:
        """The decoding settings of every translation of this run."""
        return Decoding(beams=self.beams, max_new_tokens=self.max_new_tokens)

    @property
    def running(self) -> dict[str, Any]:
        """Where and in which precision models run."""
        return {"device": self.device, "dtype": self.dtype}

    @property
    def probing(self) -> dict[str, Any]:
        """The settings of every probe beside decoding."""
        return {"end_state": self.end_state, **self.running}

    @property
    def systems(self) -> list[System]:
        """Each model in each of its conditions, by condition, as the paper's tables have them."""
        found = [
            System(model, condition, name.replace(CONDITION, condition))
            for condition in self.conditions
            for model, name in self.models.items()
            if CONDITION in name
        ]
        return found + [System(model, AS_IT_IS, name) for model, name in self.models.items() if CONDITION not in name]

    def narrowed(self, language: str, model: str) -> IdiomsParams:
        """One language and one model, in all conditions."""
        return self.model_copy(update={"languages": [language], "models": {model: self.models[model]}})

    def model_key(self, system: System, language: str) -> dict[str, Any]:
        """Everything that can change the translations of one system into one language."""
        identity = models.model_identity(system.name, self.source, language, **self.running)
        return {"model": identity, "decoding": self.decoding.identity()}
