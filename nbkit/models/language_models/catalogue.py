"""Which language model a name means: the catalogue, folders and hub ids; and whether it is causal or masked.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml

from nbkit.errors import ModelError
from nbkit.models.backends import split_backend
from nbkit.models.python import as_entry
from nbkit.models.translators.catalogue import Origin, check_python, check_suffix, is_place, last_part, located
from nbkit.models.weights import RECORD_FILE, read_json
from nbkit.registry import Registry

Kind = Literal["causal", "masked"]


#: What the classes of either kind are called, by how their names end.
_CLASSES: Mapping[Kind, tuple[str, ...]] = {
    "causal": ("LMHeadModel", "ForCausalLM"),
    "masked": ("ForMaskedLM", "ForPreTraining"),
}


@dataclass(frozen=True)
class LanguageModelEntry:
    """A language model that goes by a name: an entry of ``language_model_catalogue.yaml``, or one of the user's own.

    hub: hub id (``@revision`` pins it) or folder, in which ``{lang}`` and ``${VARIABLE}`` are filled in; None where
    *recipe* names a model that is trained here. label: what figures call it. languages: those it was trained for,
    the usual one first; None: any. python: Python code of the user's own.

    >>> entry = LanguageModelEntry(hub="${HOME}/models/captions-gpt", languages=("en",))
    >>> registry = Registry("language model")  # in use: nbkit.models.LANGUAGE_MODELS
    >>> registry.register("mine", entry)
    """

    hub: str | None = None
    label: str = ""
    summary: str = ""
    languages: tuple[str, ...] | None = None
    recipe: str | None = None
    python: Any = None


@dataclass(frozen=True)
class LanguageModelReference(Origin):
    """What a name means for one language; None where neither the name nor the caller says which."""

    entry: LanguageModelEntry
    lang: str | None

    auto_class: ClassVar[str] = "AutoModelForCausalLM or AutoModelForMaskedLM"


def _read_catalogue() -> Registry[LanguageModelEntry]:
    registry: Registry[LanguageModelEntry] = Registry(
        "language model", partial(as_entry, LanguageModelEntry, "language model")
    )
    path = Path(__file__).with_name("catalogue.yaml")
    for name, fields in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        fields["languages"] = tuple(fields["languages"])
        registry.register(name, LanguageModelEntry(**fields), summary=fields["summary"])
    return registry


#: The language models that go by a short name; `Registry.register` adds one's own `LanguageModelEntry`, or
#: Python code that scores texts (`nbkit.models.python`).
LANGUAGE_MODELS = _read_catalogue()


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
    return (LANGUAGE_MODELS.get(name).label or name) if name in LANGUAGE_MODELS else last_part(name)


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
    known = name in LANGUAGE_MODELS or not is_place(name)
    entry = LANGUAGE_MODELS.get(name) if known else LanguageModelEntry(hub=name)
    if entry.languages is not None:
        lang = lang or entry.languages[0]
        if lang not in entry.languages:
            raise ModelError(f"language model '{name}' is not for '{lang}'; it is for: {', '.join(entry.languages)}")
    if entry.recipe is not None:
        return LanguageModelReference(name, entry, lang, recipe=entry.recipe, backend=backend)
    if entry.python is not None:
        check_python(name, backend)
        return LanguageModelReference(name, entry, lang)
    if entry.hub is None:
        raise ModelError(f"language model '{name}': its entry has neither hub id, folder nor recipe")
    values = {} if lang is None else {"lang": lang}
    return LanguageModelReference(name, entry, lang, **located(name, entry.hub, values), backend=backend)


def kind_of(reference: LanguageModelReference, folder: Path) -> Kind:
    """Whether the model in *folder* is causal (the next token) or masked (a token between others).

    Raises `ModelError` where its settings name no such model, or another language than the one asked for.
    """
    config: dict[str, Any] = read_json(folder / "config.json")
    names = config.get("architectures") or []
    record = folder / RECORD_FILE
    lang = read_json(record).get("lang") if record.is_file() else None
    if lang is not None and reference.lang not in (None, lang):
        raise ModelError(f"language model '{reference.name}' was trained for '{lang}', not for '{reference.lang}'")
    for kind, endings in _CLASSES.items():
        if any(str(name).endswith(endings) for name in names):
            return kind
    found = ", ".join(map(str, names)) or f"a '{config.get('model_type')}' model of no stated kind"
    raise ModelError(
        f"language model '{reference.name}': {folder} holds {found}, which is neither a causal language model "
        "(…LMHeadModel, …ForCausalLM) nor a masked one (…ForMaskedLM)"
    )
