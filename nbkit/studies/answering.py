"""How the models of a study are asked: one class for each kind of model, with the same few functions.

The engine (`nbkit.studies.study`) knows models by these functions alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nbkit import models
from nbkit.models.catalogue import BY_RULE
from nbkit.models.classifiers.lifecycle import label_identity
from nbkit.models.lifecycle import is_missing
from nbkit.models.services.names import LABEL_FILE, RemoteModel
from nbkit.models.services.outputs import OutputsModel
from nbkit.models.translators.placeholder import masked_texts
from nbkit.store import Store


class Cell(NamedTuple):
    """A point of a study's grid; without a model, what is known before one is asked.

    source, target: the languages of the texts and of the answers; a study of classifiers has the name of a corpus as
    the second (`nbkit.studies.study.Study.of` names both).
    """

    source: str
    target: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.source}→{self.target} {self.model}".strip(" →")


class Translators:
    """Translations (`nbkit.models.translate_remembered`).

    langs: the languages that a model is asked in. check: why it cannot be used here, or None. known, is_here, remote:
    what it is, whether it need not be trained or downloaded, the service that it is. identity: everything about it and
    how it is asked that can change an answer. sent: the distinct texts that it is sent when it is asked *texts*.
    unanswered: those whose answers are not stored. ask: the answers in the order of the texts, each asked for once.
    """

    unit = "nbkit.studies.answering:ensure_translator"

    @staticmethod
    def langs(cell: Cell) -> tuple[str, ...]:
        return cell.source, cell.target

    @staticmethod
    def label(name: str) -> str:
        return models.label(name)

    @staticmethod
    def check(name: str, src: str, tgt: str) -> str | None:
        return models.check_model(name, src, tgt)

    @staticmethod
    def known(name: str, src: str, tgt: str) -> Mapping[str, Any]:
        return models.model_identity(name, src, tgt)

    @staticmethod
    def is_here(name: str, src: str, tgt: str) -> bool:
        return models.is_trained(name, src, tgt)

    @staticmethod
    def remote(name: str, src: str, tgt: str) -> RemoteModel | None:
        return models.resolve(name, src, tgt).remote

    @staticmethod
    def identity(params: Any, cell: Cell) -> dict[str, Any]:
        return params.translator_key(cell.model, cell.source, cell.target)

    @staticmethod
    def sent(cell: Cell, texts: Sequence[str]) -> list[str]:
        is_by_rule = cell.model.startswith(BY_RULE)
        return list(dict.fromkeys(masked_texts(texts, cell.source) if is_by_rule else texts))

    @staticmethod
    def unanswered(params: Any, cell: Cell, texts: Sequence[str]) -> list[str]:
        langs, name = cell[:2], cell.model.removeprefix(BY_RULE)
        distinct = list(dict.fromkeys(texts))
        remote = models.resolve(name, *langs).remote
        if isinstance(remote, OutputsModel):
            return remote.missing([text for text in distinct if text.strip()], *langs)
        config = models.translation_config(name, *langs, params.decoding, **params.running)
        return [text for (text,) in Store().missing(config, [(text,) for text in distinct])]

    @staticmethod
    def ask(params: Any, cell: Cell, texts: Sequence[str]) -> list[Any]:
        return params.translate(cell.model, list(texts), cell.source, cell.target, Store(), progress=False)


class Classifiers:
    """Probabilities of labels (`nbkit.models.classify_remembered`), of a text of two lines: premise and hypothesis."""

    unit = "nbkit.studies.answering:ensure_classifier"

    @staticmethod
    def langs(cell: Cell) -> tuple[str, ...]:
        return (cell.source,)

    @staticmethod
    def label(name: str) -> str:
        return models.classifier_label(name)

    @staticmethod
    def check(name: str, lang: str) -> str | None:
        return models.check_classifier(name, lang)

    @staticmethod
    def known(name: str, lang: str) -> Mapping[str, Any]:
        return models.classifier_identity(name, lang)

    @staticmethod
    def is_here(name: str, lang: str) -> bool:
        return models.is_classifier_here(name, lang)

    @staticmethod
    def remote(name: str, lang: str) -> RemoteModel | None:
        return models.resolve_classifier(name, lang).remote

    @staticmethod
    def identity(params: Any, cell: Cell) -> dict[str, Any]:
        identity = {"model": models.classifier_identity(cell.model, cell.source, **params.running)}
        remote = Classifiers.remote(cell.model, cell.source)
        return identity if remote is None else {**identity, "decoding": label_identity(remote, cell.source)}

    @staticmethod
    def sent(cell: Cell, texts: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(texts))

    @staticmethod
    def unanswered(params: Any, cell: Cell, texts: Sequence[str]) -> list[str]:
        pairs = {tuple(text.split("\n")): text for text in texts}
        remote = models.resolve_classifier(cell.model, cell.source).remote
        if isinstance(remote, OutputsModel):
            return remote.missing([remote.asked(*pair) for pair in pairs], cell.source, LABEL_FILE)
        config = models.classification_config(cell.model, cell.source, **params.running)
        return [pairs[pair] for pair in Store().missing(config, list(pairs))]

    @staticmethod
    def ask(params: Any, cell: Cell, texts: Sequence[str]) -> list[Any]:
        pairs = [tuple(text.split("\n")) for text in texts]
        settings = {"lang": cell.source, "store": Store(), "progress": False, **params.running}
        return list(models.classify_remembered(cell.model, pairs, **settings))


class LanguageModels:
    """Language models that a study uses beside those of its grid."""

    unit = "nbkit.studies.answering:ensure_language_model"

    @staticmethod
    def label(name: str) -> str:
        return models.language_model_label(name)

    @staticmethod
    def check(name: str, lang: str, kind: str | None = None) -> str | None:
        return models.check_language_model(name, lang, **({"kind": kind} if kind else {}))

    @staticmethod
    def known(name: str, lang: str) -> Mapping[str, Any]:
        return models.language_model_identity(name, lang)

    @staticmethod
    def is_here(name: str, lang: str) -> bool:
        return models.is_language_model_here(name, lang)

    @staticmethod
    def remote(name: str, lang: str) -> RemoteModel | None:
        return None


def ensure_translator(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: train or download a translator, unless it is here."""
    models.ensure_model(model, *langs)


def ensure_classifier(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: train or download a classifier, unless it is here."""
    models.ensure_classifier(model, *langs)


def ensure_language_model(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: train or download a language model, unless it is here."""
    models.ensure_language_model(model, *langs)


@dataclass(frozen=True)
class Use:
    """A model that a run asks, in these languages. wanted: "causal" or "masked" where a language model must be it."""

    kind: Any
    name: str
    langs: tuple[str, ...]
    wanted: str | None = None

    @property
    def label(self) -> str:
        """The name of the model in tables."""
        return self.kind.label(self.name)

    @property
    def remote(self) -> RemoteModel | None:
        """The model behind a service that it is, None if it is loaded here."""
        return self.kind.remote(self.name, *self.langs)

    @property
    def asked_in(self) -> tuple[str, str]:
        """The languages of its texts and of its answers; a classifier answers in labels."""
        return self.langs[0], self.langs[1] if len(self.langs) > 1 else LABEL_FILE

    def problem(self) -> str | None:
        """Why it cannot be used here, or None; loads nothing."""
        wanted = {"kind": self.wanted} if self.wanted else {}
        return self.kind.check(self.name, *self.langs, **wanted)

    def source(self) -> Any:
        """What it is trained or downloaded from, None where it is here; loads nothing."""
        identity = self.kind.known(self.name, *self.langs)
        if not is_missing(identity) and self.kind.is_here(self.name, *self.langs):
            return None
        return identity.get("hub") or identity["weights"]

    def verb(self) -> str:
        """What has to be done to have it."""
        return "download" if "hub" in self.kind.known(self.name, *self.langs) else "train"


def of_distinct(ask: Any, texts: Iterable[str]) -> dict[str, Any]:
    """The answer to each text, asked for once."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, ask(distinct), strict=True)) if distinct else {}
