"""Which language model a name means: the catalogue, folders and hub ids; and whether it is causal or masked.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from nbkit.errors import ModelError
from nbkit.models.backends import split_backend
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
from nbkit.models.weights import check_trained_for, read_json

Kind = Literal["causal", "masked"]


#: What the classes of either kind are called, by how their names end.
_CLASSES: Mapping[Kind, tuple[str, ...]] = {
    "causal": ("LMHeadModel", "ForCausalLM"),
    "masked": ("ForMaskedLM", "ForPreTraining"),
}


@dataclass(frozen=True, kw_only=True)
class LanguageModelEntry(Entry):
    """A language model that goes by a name: an entry of ``catalogue.yaml``, or one of the user's own.

    hub: hub id (``@revision`` pins it) or folder, in which ``{lang}`` and ``${VARIABLE}`` are filled in; None where
    *recipe* names a model that is trained here. label: what figures call it. languages: those it was trained for,
    the usual one first; None: any. python: Python code of the user's own.

    >>> entry = LanguageModelEntry(hub="${HOME}/models/captions-gpt", languages=("en",))
    >>> from nbkit.registry import Registry
    >>> registry = Registry("language model")  # in use: nbkit.models.LANGUAGE_MODELS
    >>> registry.register("mine", entry)
    """

    languages: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LanguageModelReference(Origin):
    """What a name means for one language; None where neither the name nor the caller says which."""

    entry: LanguageModelEntry
    lang: str | None

    auto_class: ClassVar[str] = "AutoModelForCausalLM or AutoModelForMaskedLM"

    @property
    def languages(self) -> dict[str, str | None]:
        """The language, as Python code is offered it."""
        return {"lang": self.lang}


#: The language models that go by a short name; `Registry.register` adds one's own `LanguageModelEntry`, or
#: Python code that scores texts (`nbkit.models.python`).
LANGUAGE_MODELS = read_catalogue(LanguageModelEntry, "language model", Path(__file__).with_name("catalogue.yaml"))


def language_model_label(name: str) -> str:
    """What figures call a language model: the catalogue's label, the last part of a path or hub id otherwise.

    >>> language_model_label("gpt2"), language_model_label("models/mine-{lang}")
    ('GPT-2', 'mine')
    >>> language_model_label("gpt2@ct2")
    'GPT-2 CT2'
    """
    name, backend = split_backend(name)
    if backend.label:
        return f"{language_model_label(name)} {backend.label}"
    return catalogue_label(LANGUAGE_MODELS, name)


def resolve_language_model(name: str, lang: str | None = None) -> LanguageModelReference:
    """What *name* means: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    After any of these, ``@ct2`` or ``@ct2-int8`` says that CTranslate2 runs it (`nbkit.models.backends`): GPT-2 alone.
    lang: the language of the texts; without one, the first that the entry names.

    Raises `UnknownNameError` for a name that is none of these, with the closest match, and `ModelError` for a
    language that it was not trained for or a placeholder that cannot be filled in.

    >>> resolve_language_model("bert-german").lang
    'de'
    >>> resolve_language_model("gpt2", "de")
    Traceback (most recent call last):
    nbkit.errors.ModelError: language model 'gpt2' is not for 'de'; it is for: en
    """
    name, backend = split_backend(name)
    check_suffix(name, LANGUAGE_MODELS)
    entry = find_entry(LANGUAGE_MODELS, LanguageModelEntry, name)
    if entry.languages is not None:
        lang = lang or entry.languages[0]
    what = f"language model '{name}'"
    check_made_for(what, entry.languages, lang)
    values = {} if lang is None else {"lang": lang}
    return LanguageModelReference(name, entry, lang, **origin_of(what, name, entry, backend, values))


def kind_of(reference: LanguageModelReference, folder: Path) -> Kind:
    """Whether the model in *folder* is causal (the next token) or masked (a token between others).

    Raises `ModelError` where its settings name no such model, or another language than the one asked for.
    """
    config: dict[str, Any] = read_json(folder / "config.json")
    names = config.get("architectures") or []
    check_trained_for(f"language model '{reference.name}'", folder, reference.lang)
    for kind, endings in _CLASSES.items():
        if any(str(name).endswith(endings) for name in names):
            return kind
    found = ", ".join(map(str, names)) or f"a '{config.get('model_type')}' model of no stated kind"
    raise ModelError(
        f"language model '{reference.name}': {folder} holds {found}, which is neither a causal language model "
        "(…LMHeadModel, …ForCausalLM) nor a masked one (…ForMaskedLM)"
    )
