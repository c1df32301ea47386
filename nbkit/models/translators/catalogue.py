"""Which translator a name means: the catalogue, families of architectures, and the pairs that a model speaks.

Nothing here loads a model or imports torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import yaml

from nbkit.errors import ModelError
from nbkit.languages import in_order
from nbkit.models.backends import TRANSFORMERS, split_backend
from nbkit.models.catalogue import (
    Entry,
    Origin,
    catalogue_label,
    check_suffix,
    filled,
    find_entry,
    last_part,
    origin_of,
    read_catalogue,
)
from nbkit.models.services.names import RemoteModel, is_remote, parse_remote
from nbkit.models.weights import read_json, read_record, tokenizer_config

_HERE = Path(__file__).parent


#: What a model's name begins with where numbers are carried over by rule (`nbkit.models.translators.placeholder`).
BY_RULE = "placeholder:"


#: The highest seed that numpy and torch both take.
MOST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Family:
    """An architecture: its tokenizer class, and how it is told the languages (``families.yaml``).

    tokenizer: name of the transformers class. model_type: as in ``config.json``.
    token: format of the language token, None where the family has none (Marian).
    codes: languages to the family's own codes; empty where every checkpoint has its own pair.
    token_starts: whether the language token begins what the decoder reads, as mBART's does, and is not generated first.
    converts: whether CTranslate2 runs it.
    """

    name: str
    tokenizer: str
    model_type: str
    token: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    token_starts: bool = False
    converts: bool = False

    def code(self, lang: str) -> str | None:
        """The family's own code of a language, None where it does not speak it.

        >>> families()["mbart50"].code("de"), families()["nllb"].code("zho_Hant"), families()["mbart50"].code("cy")
        ('de_DE', 'zho_Hant', None)
        """
        if lang in self.codes:
            return self.codes[lang]
        own = self.name == "nllb" and re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", lang) is not None
        return lang if own or lang in self.codes.values() else None


@dataclass(frozen=True, kw_only=True)
class ModelEntry(Entry):
    """A model that goes by a name: an entry of ``catalogue.yaml``, or one of the user's own.

    hub: hub id (``@revision`` pins it), folder, or name of a model behind a service (``openai:…``), in which
    ``{src}``, ``{tgt}`` and ``${VARIABLE}`` are filled in; None where *recipe* names a model that is trained here.
    family: a name of ``families.yaml``, or None: read from the files. label: what figures call it.
    codes: language to the hub's spelling in ``{src}`` and ``{tgt}``.
    sources, targets: the languages it was made for; None: all of its family's.
    prefixes: target language to what every source text begins with. python: Python code of the user's own.

    >>> captions = ModelEntry(hub="${HOME}/models/captions-{src}-{tgt}", label="Captions")
    >>> from nbkit.registry import Registry
    >>> registry = Registry("model")  # in use: nbkit.models.MODELS
    >>> registry.register("captions", captions)
    """

    family: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)


# ----------------------------------------------------------------------------
# One recipe, several models: by their seeds, and by the condition of their training data.
#
# ``NAME#2`` is the model NAME, trained with the seed 2 and otherwise the same. A name with ``{condition}`` in
# it, such as ``sandbox-idioms-{condition}``, stands for a model a condition: ``sandbox-idioms-zero``,
# ``sandbox-idioms-upsample-20``.


_CONDITION = "{condition}"


_CONDITIONS = r"(?P<condition>zero|joint|upsample-[1-9]\d*)"


@dataclass(frozen=True)
class Variant:
    """What a recipe is changed by; None: as it stands there."""

    seed: int | None = None
    condition: str | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of the recipe that it sets."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def label(self) -> str:
        """What a model's label ends with.

        >>> Variant(2, "zero").label, Variant().label
        (' zero (seed 2)', '')
        """
        condition = f" {self.condition}" if self.condition else ""
        return condition + (f" (seed {self.seed})" if self.seed is not None else "")


AS_IT_IS = Variant()


def split_seed(name: str) -> tuple[str, int | None]:
    """A model's name without its seed, and the seed; None where it names none.

    Raises `ModelError` for a seed that no random generator takes.

    >>> split_seed("sandbox-wsd-lstm#2"), split_seed("opus-mt"), split_seed("models/a#b")
    (('sandbox-wsd-lstm', 2), ('opus-mt', None), ('models/a#b', None))
    """
    base, mark, seed = name.rpartition("#")
    if not mark or "/" in name or not re.fullmatch(r"[0-9]+", seed):
        return name, None  # a folder is called what it is called
    if len(seed) > len(str(MOST_SEED)) or int(seed) > MOST_SEED:
        raise ModelError(f"model '{name:.80}': a seed is a number from 0 to {MOST_SEED}")
    return base, int(seed)


def check_condition(name: str) -> None:
    """Raises `ModelError` for a name that no condition was put into: it stands for several models."""
    if _CONDITION in name:
        raise ModelError(f"model '{name}': write zero, joint or upsample-N (such as upsample-20) for {_CONDITION}")


def matching(name: str, names: Iterable[str]) -> tuple[str, str | None]:
    """The one of *names* that *name* is called by, and the condition that stands for its placeholder.

    >>> matching("idioms-zero", ["idioms-{condition}", "idioms-mask-{condition}"])
    ('idioms-{condition}', 'zero')
    >>> matching("opus-mt", ["opus-mt"])
    ('opus-mt', None)
    """
    for known in names:
        if name != known and _CONDITION in known:
            pattern = re.escape(known).replace(re.escape(_CONDITION), _CONDITIONS)
            found = re.fullmatch(pattern, name)
            if found:
                return known, found["condition"]
    return name, None


# ----------------------------------------------------------------------------
# Names.


@dataclass(frozen=True)
class Reference(Origin):
    """What a name means for one language pair.

    remote: a model behind a service, which has no files here: no folder, hub id or recipe.
    variant: what its recipe is changed by, for a model that is trained here.
    """

    entry: ModelEntry
    src: str
    tgt: str
    remote: RemoteModel | None = field(default=None, kw_only=True)
    variant: Variant = field(default=AS_IT_IS, kw_only=True)

    auto_class: ClassVar[str] = "AutoModelForSeq2SeqLM"

    @property
    def stem(self) -> str:
        """The name without a seed, which the recipe's digest holds."""
        return split_seed(self.name)[0]

    @property
    def languages(self) -> dict[str, str]:
        """The pair, as Python code is offered it."""
        return {"src": self.src, "tgt": self.tgt}


#: The models that go by a short name; `Registry.register` adds one's own `ModelEntry`, or Python code that translates
#: (`nbkit.models.python`).
MODELS = read_catalogue(ModelEntry, "model", _HERE / "catalogue.yaml")


def label(name: str) -> str:
    """What figures call a model: the catalogue's label, the last part of a path or hub id otherwise.

    >>> label("m2m100-418m"), label("models/m30k-{src}-{tgt}"), label("Helsinki-NLP/opus-mt-en-de")
    ('M2M-100-418M', 'm30k', 'opus-mt-en-de')
    >>> label("mine/{src}-{tgt}"), label("placeholder:opus-mt")
    ('mine', 'Helsinki-OPUS + placeholder')
    >>> label("sandbox-marian#2"), label("sandbox-idioms-zero")
    ('Sandbox-Marian (seed 2)', 'random zero')
    >>> label("opus-mt@ct2"), label("placeholder:./models/{src}-{tgt}@ct2-int8")
    ('Helsinki-OPUS CT2', 'models CT2 int8 + placeholder')
    >>> label("openai:Qwen/Qwen3-8B@http://localhost:8000/v1"), label("deep-translator:google")
    ('Qwen3-8B', 'Google')
    """
    if name.startswith(BY_RULE):
        return f"{label(name.removeprefix(BY_RULE))} + placeholder"
    if is_remote(name):
        return parse_remote(name).label
    name, backend = split_backend(name)
    if backend.label:
        return f"{label(name)} {backend.label}"
    base, variant = split_variant(name)
    return f"{catalogue_label(MODELS, base)}{variant.label}" if base in MODELS else last_part(name)


def resolve(name: str, src: str, tgt: str) -> Reference:
    """What *name* means for the pair: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    A name ends in ``#2`` for the same model trained with that seed, and has a condition where the catalogue's has
    ``{condition}`` (`nbkit.models.translators.recipe`). ``placeholder:NAME`` is the same model, asked
    otherwise: the reference is that of *NAME*. ``NAME@ct2`` and ``NAME@ct2-int8`` are the same weights, run by another
    backend (`nbkit.models.backends`). ``openai:MODEL`` and ``deep-translator:SERVICE`` are models behind a service
    (`nbkit.models.services.names`).

    Raises `UnknownNameError` for a name that is none of these, with the closest match, and `ModelError` for a
    placeholder, ``{condition}`` among them, or an environment variable that cannot be filled in.

    >>> resolve("opus-mt", "en", "ja").hub
    'Helsinki-NLP/opus-mt-en-jap'
    >>> resolve("opus-nt", "en", "de")
    Traceback (most recent call last):
    nbkit.errors.UnknownNameError: unknown model 'opus-nt'; did you mean 'opus-mt'? There are: ...
    """
    name = name.removeprefix(BY_RULE)
    if is_remote(name):
        return _behind_service(name, ModelEntry(hub=name), src, tgt)
    name, backend = split_backend(name)
    check_suffix(name, MODELS)
    base, variant = split_variant(name)
    check_condition(name)
    entry = find_entry(MODELS, ModelEntry, base, name)
    if variant.seed is not None and entry.recipe is None:
        raise ModelError(f"model '{name}': '{base}' is not trained here, so it has no other seeds")
    if entry.recipe is None and entry.python is None and is_remote(entry.hub or ""):
        if backend != TRANSFORMERS:
            raise ModelError(f"model '{name}' is behind a service: no backend '{backend.suffix}' runs it here")
        return _behind_service(name, entry, src, tgt)
    values = _codes(entry, src, tgt) | ({"condition": variant.condition} if variant.condition else {})
    origin = origin_of(f"model '{name}'", name, entry, backend, values)
    return Reference(name, entry, src, tgt, **origin, variant=variant if entry.recipe else AS_IT_IS)


def split_variant(name: str) -> tuple[str, Variant]:
    """The catalogue's name of a model without its seed and condition, and these.

    >>> split_variant("sandbox-wsd-lstm#2"), split_variant("opus-mt")[0]
    (('sandbox-wsd-lstm', Variant(seed=2, condition=None)), 'opus-mt')
    """
    base, seed = split_seed(name)
    known, condition = matching(base, MODELS)
    return known, Variant(seed, condition)


def _behind_service(name: str, entry: ModelEntry, src: str, tgt: str) -> Reference:
    codes = _codes(entry, src, tgt)
    place = entry.hub or ""
    named = place if place.startswith(("command:", "outputs:")) else filled(place, name, codes)
    return Reference(name, entry, src, tgt, remote=parse_remote(named).for_pair(codes["src"], codes["tgt"]))


def _codes(entry: ModelEntry, src: str, tgt: str) -> dict[str, str]:
    return {"src": entry.codes.get(src, src), "tgt": entry.codes.get(tgt, tgt)}


# ----------------------------------------------------------------------------
# Architectures, and which pairs a model speaks: by the catalogue, its own files and its family's codes.

_THREE_LETTERS = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "rus": "ru",
    "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "jap": "ja", "tam": "ta", "nep": "ne", "npi": "ne",
}  # fmt: skip


@cache
def families() -> Mapping[str, Family]:
    """All architectures by name, from ``families.yaml``."""
    entries = yaml.safe_load((_HERE / "families.yaml").read_text(encoding="utf-8"))
    return MappingProxyType({name: Family(name=name, **fields) for name, fields in entries.items()})


def family_of(reference: Reference, folder: Path) -> Family:
    """The architecture of the model in *folder*: the catalogue's word, or what its files say.

    Raises `ModelError` for an architecture that is not in ``families.yaml``.
    """
    if reference.entry.family is not None:
        if reference.entry.family not in families():
            known = ", ".join(families())
            raise ModelError(f"model '{reference.name}': unknown family '{reference.entry.family}'; there are: {known}")
        return families()[reference.entry.family]
    model_type = read_json(folder / "config.json").get("model_type")
    tokenizer = tokenizer_config(folder).get("tokenizer_class", "").removesuffix("Fast")
    alike = [family for family in families().values() if family.model_type == model_type]
    for candidate in alike:
        if candidate.tokenizer == tokenizer or (not tokenizer and len(alike) == 1):
            return candidate
    known = ", ".join(f"{family.model_type} with {family.tokenizer}" for family in families().values())
    raise ModelError(
        f"model '{reference.name}': {folder} holds a '{model_type}' model with the tokenizer "
        f"'{tokenizer or 'not named'}'; nbkit translates with {known}"
    )


def check_pair(reference: Reference, family: Family, folder: Path | None) -> None:
    """Raises `ModelError`, naming the languages there are, where the model does not speak the pair.

    folder: the model's files; None where they are not at hand, and the catalogue and the family alone are asked.
    """
    for side, lang, spoken in (
        ("from", reference.src, _spoken(reference, family, folder, "source")),
        ("to", reference.tgt, _spoken(reference, family, folder, "target")),
    ):
        unknown = spoken is not None and lang not in spoken
        if unknown or (family.codes and family.code(lang) is None):
            raise not_spoken(reference.name, side, lang, spoken if spoken is not None else family.codes)


def not_spoken(name: str, side: str, lang: str, spoken: Iterable[str]) -> ModelError:
    """The error about a language that a model does not translate from, or to, with those that it does."""
    known = ", ".join(in_order(spoken))
    return ModelError(f"model '{name}' does not translate {side} '{lang}'; it translates {side}: {known}")


def check_backend(reference: Reference, family: Family) -> None:
    """Raises `ModelError` where the backend of the model's name does not run its architecture."""
    if reference.backend != TRANSFORMERS and not family.converts:
        raise ModelError(
            f"model '{reference.full_name}': {reference.backend.package} has no conversion of its architecture "
            f"({family.name}); leave the backend out: '{reference.name}'"
        )


def _spoken(reference: Reference, family: Family, folder: Path | None, side: str) -> Iterable[str] | None:
    """The languages of one side as far as somebody says so; None: whatever the family has codes for."""
    named = reference.entry.sources if side == "source" else reference.entry.targets
    if named is not None or folder is None:
        return named
    record = read_record(folder)
    if record:
        return record[f"{side}s"]
    if family.codes or reference.entry.family is not None:
        return None
    # A Marian checkpoint that nobody vouched for: its tokenizer knows the pair, in two or three letters. Names of
    # groups of languages ("ROMANCE") say nothing about a single one.
    own = tokenizer_config(folder).get(f"{side}_lang") or ""
    code = _THREE_LETTERS.get(own, own)
    return [code] if len(code) == 2 else None
