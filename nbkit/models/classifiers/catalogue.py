"""Which classifier a name means: the catalogue, folders and hub ids, and what their outputs stand for.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from nbkit.corpora.nli import LABELS
from nbkit.corpora.nli import catalogue as nli_catalogue
from nbkit.errors import ModelError
from nbkit.models.backends import TRANSFORMERS, split_backend
from nbkit.models.catalogue import (
    Entry,
    Origin,
    catalogue_label,
    check_made_for,
    check_suffix,
    find_entry,
    origin_of,
    read_catalogue,
)
from nbkit.models.weights import read_json

_OPTION = "?labels="


@dataclass(frozen=True, kw_only=True)
class ClassifierEntry(Entry):
    """A classifier that goes by a name: an entry of ``catalogue.yaml``, or one of the user's own.

    hub: hub id (``@revision`` pins it) or folder, in which ``{lang}`` and ``${VARIABLE}`` are filled in; None where
    *recipe* names a model that is trained here. label: what figures call it. languages: those it was trained for;
    None: any. labels: what its outputs stand for, in their order, for a checkpoint that does not say so itself.
    python: Python code of the user's own.

    >>> entry = ClassifierEntry(hub="${HOME}/models/my-nli", labels=("contradiction", "neutral", "entailment"))
    >>> from nbkit.registry import Registry
    >>> registry = Registry("classifier")  # in use: nbkit.models.CLASSIFIERS
    >>> registry.register("mine", entry)
    """

    languages: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ClassifierReference(Origin):
    """What a name means for one language; *labels* in the order of the outputs, where it was given."""

    entry: ClassifierEntry
    lang: str
    labels: tuple[str, ...] | None = None

    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"

    @property
    def languages(self) -> dict[str, str]:
        """The language, as Python code is offered it."""
        return {"lang": self.lang}


#: The classifiers that go by a short name; `Registry.register` adds one's own `ClassifierEntry`, or Python
#: code that classifies (`nbkit.models.python`).
CLASSIFIERS = read_catalogue(ClassifierEntry, "classifier", Path(__file__).with_name("catalogue.yaml"))


def classifier_label(name: str) -> str:
    """What figures call a classifier: the catalogue's label, the last part of a path or hub id otherwise.

    >>> classifier_label("bart-large-mnli"), classifier_label("models/mine?labels=neutral,entailment,contradiction")
    ('BART (large)', 'mine')
    >>> classifier_label("roberta-large-mnli@ct2"), classifier_label("models/mine@ct2-int8")
    ('RoBERTa (large) CT2', 'mine CT2 int8')
    """
    name, backend = split_backend(name)
    if backend.label:
        return f"{classifier_label(name)} {backend.label}"
    return catalogue_label(CLASSIFIERS, name.partition(_OPTION)[0])


def resolve_classifier(name: str, lang: str) -> ClassifierReference:
    """What *name* means: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    After any of these, ``?labels=contradiction,neutral,entailment`` says what the outputs stand for, in their order,
    of a checkpoint that does not (or not rightly) say so itself. Last of all, ``@ct2`` or ``@ct2-int8`` says that
    CTranslate2 runs it (`nbkit.models.backends`).

    Raises `UnknownNameError` for a name that is none of these, with the closest match, and `ModelError` for a
    language that it was not trained for, for labels that are not the three, or a placeholder that cannot be filled in.

    >>> resolve_classifier("roberta-large-mnli", "en").hub
    'FacebookAI/roberta-large-mnli'
    >>> resolve_classifier("roberta-large-mnli@ct2", "en").backend.package
    'ctranslate2'
    >>> resolve_classifier("roberta-large-mnli", "zh")
    Traceback (most recent call last):
    nbkit.errors.ModelError: classifier 'roberta-large-mnli' is not for 'zh'; it is for: en
    """
    name, backend = split_backend(name)
    place, option, given = name.partition(_OPTION)
    if backend == TRANSFORMERS and split_backend(place)[1] != TRANSFORMERS:
        weights, backend = split_backend(place)
        right = f"{weights}{option}{given}@{backend.suffix}"
        raise ModelError(f"classifier '{name}': the backend comes last of all: '{right}'")
    check_suffix(place, CLASSIFIERS)
    entry = find_entry(CLASSIFIERS, ClassifierEntry, place)
    check_made_for(f"classifier '{place}'", entry.languages, lang)
    labels = tuple(map(str.strip, given.split(","))) if option else entry.labels
    if labels is not None:
        order_of(labels, name)
    origin = origin_of(f"classifier '{place}'", name, entry, backend, {"lang": lang}, place)
    if option and not origin:
        raise ModelError(f"classifier '{place}' is Python code of your own: {_OPTION}… says nothing about it")
    return ClassifierReference(name, entry, lang, labels if origin else None, **origin)


def order_of(labels: Sequence[str], place: str) -> list[int]:
    """The model's output for each of `LABELS`, given what its outputs are called.

    Raises `ModelError` where the names are not entailment, neutral and contradiction, in any order and spelling.

    >>> order_of(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], "roberta-large-mnli")
    [2, 1, 0]
    """
    spellings: Mapping[str, Sequence[str]] = nli_catalogue()["labels"]
    meant = [next((name for name in LABELS if label.lower() in spellings[name]), None) for label in labels]
    if sorted(filter(None, meant)) == sorted(LABELS) and len(meant) == len(LABELS):
        return [meant.index(name) for name in LABELS]
    raise ModelError(
        f"classifier '{place}': its outputs are called {', '.join(map(repr, labels)) or 'nothing'}, which are not "
        f"{', '.join(LABELS)}. If they mean these all the same, say behind the name what each output stands for, "
        f"in their order: {place.partition(_OPTION)[0]}{_OPTION}contradiction,neutral,entailment"
    )


def output_order(reference: ClassifierReference, folder: Path) -> list[int]:
    """The output for each of `LABELS`: by the labels given, else by the ``id2label`` or ``label2id`` in *folder*.

    An order is never assumed. Raises `ModelError`, with the names found, where they are not the three labels, or
    where the two entries of the settings contradict each other.
    """
    config = read_json(folder / "config.json")
    forward, backward = _both_names(config, folder)
    outputs = len(forward or backward) or config.get("num_labels")
    if reference.labels is not None:
        if outputs not in (None, len(LABELS)):
            raise ModelError(f"classifier '{reference.name}': it has {outputs} outputs, {len(LABELS)} expected")
        return order_of(reference.labels, reference.name)
    known = [order for order in map(_order_or_none, (forward, backward)) if order is not None]
    if len(known) == 2 and known[0] != known[1]:
        raise ModelError(
            f"classifier '{reference.name}': id2label ({', '.join(forward)}) and label2id ({', '.join(backward)}) of "
            f"its settings contradict each other; say which holds: {reference.name}{_OPTION}{','.join(forward)}"
        )
    return known[0] if known else order_of(forward or backward, reference.name)


def _order_or_none(labels: Sequence[str]) -> list[int] | None:
    try:
        return order_of(labels, "")
    except ModelError:
        return None


def known_order(folder: Path) -> list[int] | None:
    """The output for each of `LABELS` by the settings in *folder*, None where they do not say."""
    forward, backward = _both_names(read_json(folder / "config.json"), folder)
    return _order_or_none(forward or backward)


def _both_names(config: Mapping[str, Any], folder: Path) -> tuple[list[str], list[str]]:
    """The names of the outputs by ``id2label`` and by ``label2id``."""
    backward = {i: name for name, i in (config.get("label2id") or {}).items()}
    return _names(config.get("id2label"), folder), _names(backward, folder)


def _names(entries: Any, folder: Path) -> list[str]:
    """Labels by output from ``{"0": "neutral", …}``; empty where there are none."""
    try:
        found = {int(i): str(name) for i, name in (entries or {}).items()}
    except (AttributeError, TypeError, ValueError):
        raise ModelError(f"{folder / 'config.json'}: its labels cannot be read: {entries!r}") from None
    if sorted(found) != list(range(len(found))):
        raise ModelError(f"{folder / 'config.json'}: its labels have no order: {entries!r}")
    return [found[i] for i in range(len(found))]
