"""Resolving model names of every kind: catalogue entries, and where an entry's files come from.

In the order of the file: what all kinds share; translators, with families of architectures and supported pairs;
classifiers, with the meaning of their outputs; language models, causal or masked. The catalogues are data files beside
this module. Nothing here loads a model or imports torch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from string import Formatter, Template
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from nbkit.corpora.nli import LABELS
from nbkit.corpora.nli import catalogue as nli_catalogue
from nbkit.errors import ModelError, UnknownNameError
from nbkit.files import looks_secret, public_environment
from nbkit.languages import in_order
from nbkit.models.backends import BACKENDS, TRANSFORMERS, Backend, Origin, split_backend
from nbkit.models.python import PythonModel
from nbkit.models.services.names import RemoteModel, ServerModel, is_remote, parse_remote
from nbkit.models.weights import check_trained_for, read_json, read_record, tokenizer_config
from nbkit.registry import Registry, load_packages
from nbkit.yaml_text import read_own
from nbsandbox.trained import model_folder

_LONGEST_PART = 255


#: What the hub id of a model begins with whose weights are data of nbsandbox, and how to get these.
SHIPPED, REINSTALL = "nbsandbox:", "install it again: pip install --force-reinstall --no-deps packages/nbsandbox"
_HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True)
class Entry:
    """A named model, from a catalogue or custom: the fields that the catalogues of all kinds of models share.

    Parameters
    ----------
    hub : str or None
        Hub id (``@revision`` pins it) or folder, in which ``${VARIABLE}`` and languages (of a translator ``{src}`` and
        ``{tgt}``, of other models ``{lang}``) are filled in; None for a model that is *trained*.
    label : str
        Name in figures.
    summary : str
        One line for lists.
    trained : function or None
        Of a package that trains: from the reference to the `Trained` model.
    python : object
        Custom Python code (`nbkit.models.python`).
    """

    hub: str | None = None
    _: KW_ONLY
    label: str = ""
    summary: str = ""
    trained: Callable[[Any], Trained] | None = None
    python: Any = None


class Trained(Protocol):
    """A model that another package trains: what identifies it, its folder, and how it is made.

    identity: ``recipe`` and ``weights``, for keys. fields: what it is trained by, as in the record beside its weights.
    kind: of a language model, "causal" or "masked".
    """

    @property
    def identity(self) -> Mapping[str, Any]: ...

    @property
    def folder(self) -> Path: ...

    @property
    def fields(self) -> Mapping[str, Any]: ...

    @property
    def kind(self) -> str: ...

    def check(self) -> None:
        """Raises `NbkitError` for what would prevent training."""

    def train(self) -> None:
        """Make the folder."""


EntryT = TypeVar("EntryT", bound=Entry)


class Catalogue(Registry[EntryT]):
    """The named models of one *kind*: those of a data file beside this module, and registered ones.

    `register` adds a custom *entry*, or Python code (`nbkit.models.python`).
    """

    def __init__(self, kind: str, entry: type[EntryT], file: str):
        super().__init__(kind, self.as_entry)
        self.entry = entry
        #: Asked first for the entry of a name: a trained model with another seed.
        self.variants: list[Callable[[str], EntryT | None]] = []
        for name, fields in read_own(Path(__file__).with_name(file)).items():
            licence = fields.pop("licence", "")
            values: dict[str, Any] = {
                field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()
            }
            self.register(name, entry(**values), summary=fields["summary"], licence=licence)

    def as_entry(self, name: str, thing: Any) -> EntryT:
        """The entry to register for a *thing*: an entry unchanged; Python code is wrapped."""
        made = thing if isinstance(thing, self.entry) else self.entry(python=PythonModel(self.kind, name, thing))
        if made.python is None or isinstance(made.python, PythonModel):
            return made
        return replace(made, python=PythonModel(self.kind, name, made.python))

    def _read_plugins(self) -> None:
        super()._read_plugins()
        load_packages("nbkit.models")

    def variant(self, name: str) -> EntryT | None:
        """The entry of a name that a package reads in another way, if one does."""
        self.names()  # packages register what they know when names are read
        return next(filter(None, (variant(name) for variant in self.variants)), None)

    def label(self, name: str) -> str:
        """A model's name in figures: the catalogue's label, or else the last part of a path or hub id."""
        entry = self.get(name) if name in self else self.variant(name)
        return (entry.label if entry else "") or last_part(name)

    def find(self, name: str, place: str | None = None) -> EntryT:
        """The entry called *name*, or a new entry for a folder or hub id (or *place*, if given).

        Raises `UnknownNameError`, with the closest match, for a name that is neither, and for a catalogue name followed
        by ``@`` and an unknown backend.
        """
        if entry := self.variant(name):
            return entry
        model, at, suffix = name.rpartition("@")
        if at and name not in self and model in self:
            raise UnknownNameError("backend", suffix, BACKENDS)
        place = place or name
        if name not in self and is_place(place):
            return self.entry(hub=place)
        folder = Path(os.environ.get("NBKIT_DATA", ""), "models", name)
        if name and name not in self and folder.is_dir():
            raise UnknownNameError(self.kind, name, self, f"; for the folder {folder}, write its path")
        return self.get(name)

    def origin(
        self, name: str, entry: EntryT, backend: Backend, values: Mapping[str, str], place: str | None = None
    ) -> dict[str, Any]:
        """The fields of an `Origin`: files, or none for Python code and what is trained.

        values: fill the placeholders of the entry's hub id or folder. place: the model's name in messages, if not
        *name*.

        Raises `ModelError` for a placeholder that cannot be filled in, for an entry without hub id or folder,
        and for Python code with a backend.
        """
        place = place or name
        shipped = model_folder(name, *(values[each] for each in ("src", "tgt", "lang") if each in values))
        if shipped is not None:
            return {"folder": shipped, "backend": backend}
        if entry.trained is not None:
            return {"backend": backend}
        if entry.python is not None:
            if backend != TRANSFORMERS:
                raise ModelError(
                    f"'{name}' is custom Python code, which backend '{backend.suffix}' cannot run; "
                    f"drop the suffix '@{backend.suffix}'"
                )
            return {}
        if entry.hub is None:
            raise ModelError(f"{self.kind} '{place}': its entry has no hub id or folder; add one of them")
        return {**located(place, entry.hub, values), "backend": backend}


def last_part(name: str) -> str:
    """The last part of a path or hub id that does not consist of placeholders."""
    parts = [re.sub(r"[-_.]*\{\w+\}[-_.]*", "", part) for part in name.rstrip("/").split("/")]
    return next((part for part in reversed(parts) if part), name)


def check_made_for(what: str, languages: tuple[str, ...] | None, lang: str | None) -> None:
    """Raises `ModelError` for a language that the model *what* does not support. languages: None: any."""
    if languages is not None and lang not in languages:
        raise ModelError(f"{what} does not support '{lang}'; it supports: {', '.join(languages)}")


def located(name: str, template: str, values: Mapping[str, str]) -> dict[str, Any]:
    """An `Origin`'s folder, or its hub id and revision, from a template with ``{placeholders}`` and ``${VARIABLES}``.

    Raises `ModelError` for a placeholder or variable that cannot be filled in.
    """
    place = filled(template, name, values)
    if place.startswith(SHIPPED):  # of a name that `Catalogue.origin` did not find there
        raise ModelError(f"model '{name}': this installation of nbsandbox has no trained models; {REINSTALL}")
    folder = Path(place).expanduser()
    if folder.is_dir() or not _HUB_ID.fullmatch(place):
        return {"folder": folder}
    hub, _, revision = place.partition("@")
    return {"hub": hub, "revision": revision or None}


def is_place(name: str) -> bool:
    """Whether a name outside the catalogues can be a folder or a hub id. Raises `ModelError` if it is too long."""
    if any(len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART for part in re.split(r"[/\\]", name)):
        raise ModelError(
            f"model '{name:.60}…': the name is longer than {_LONGEST_PART} bytes, so it cannot be a folder or a hub id"
        )
    return "/" in name or "\\" in name or name.startswith(("~", "$", ".")) or Path(name).is_dir()


def filled(template: str, name: str, values: Mapping[str, str]) -> str:
    """A hub id or folder with its placeholders and variables filled in. Raises `ModelError` if one has no value."""
    try:
        place = Template(template).substitute(public_environment())
    except KeyError as error:
        variable = error.args[0]
        reason = "looks like a key; names must not contain keys" if looks_secret(variable) else "is not set"
        raise ModelError(f"model '{name}': the environment variable {variable} {reason}") from None
    except ValueError:
        raise ModelError(f"model '{name}': '$' without a variable name; write '$$' for a literal '$'") from None
    try:
        wanted: set[Any] = {part[1] for part in Formatter().parse(place) if part[1] is not None}
    except ValueError as error:
        raise ModelError(f"model '{name}': {error}") from None
    if wanted - set(values):
        strange = ", ".join(f"{{{part}}}" for part in sorted(wanted - set(values)))
        known = " and ".join(f"{{{part}}}" for part in values)
        raise ModelError(f"model '{name}': unknown placeholder {strange}; use {known}")
    return place.format(**values)


# ----------------------------------------------------------------------------
# Translators.

#: Prefix of a model whose numbers are carried over by rule (`nbkit.models.translators.placeholder`).
BY_RULE = "placeholder:"


@dataclass(frozen=True)
class Family:
    """An architecture: its tokenizer class and its language tokens (``families.yaml``).

    tokenizer: name of the transformers class. model_type: as in ``config.json``.
    token: format of the language token, None if the family has none (Marian).
    codes: languages to the family's codes; empty if every checkpoint has its own pair.
    token_starts: whether the language token is the decoder's first input, as in mBART, rather than generated first.
    converts: whether CTranslate2 supports it.
    """

    name: str
    tokenizer: str
    model_type: str
    token: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    token_starts: bool = False
    converts: bool = False

    def code(self, lang: str) -> str | None:
        """The family's code for a language, None if it does not support the language.

        >>> families()["mbart50"].code("de"), families()["nllb"].code("zho_Hant"), families()["mbart50"].code("cy")
        ('de_DE', 'zho_Hant', None)
        """
        if lang in self.codes:
            return self.codes[lang]
        own = self.name == "nllb" and re.fullmatch(r"[a-z]{3}_[A-Z][a-z]{3}", lang) is not None
        return lang if own or lang in self.codes.values() else None


@dataclass(frozen=True, kw_only=True)
class ModelEntry(Entry):
    """A named translator: an entry of ``translators.yaml``, or a custom one.

    Parameters
    ----------
    hub, label, summary, trained, python
        As of `Entry`; *hub* may also name a model behind a service (``openai:…``).
    family : str or None
        A name of ``families.yaml``; None: read from the files.
    codes : mapping
        Languages to their spelling in the hub id, for ``{src}`` and ``{tgt}``.
    sources, targets : tuple of str, or None
        Supported source and target languages; None: all of the family.
    prefixes : mapping
        Target languages to the prefix of every source text.
    pivot : str or None
        The language that every pair has on one side; None: any pair.

    Examples
    --------
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
    pivot: str | None = None


# ----------------------------------------------------------------------------
# Names.


@dataclass(frozen=True)
class Reference(Origin):
    """A name resolved for one language pair.

    remote: a model behind a service, which has no local files: no folder and no hub id.
    """

    entry: ModelEntry
    src: str
    tgt: str
    remote: RemoteModel | None = field(default=None, kw_only=True)

    auto_class: ClassVar[str] = "AutoModelForSeq2SeqLM"

    @property
    def languages(self) -> dict[str, str]:
        """The pair, as passed to Python code."""
        return {"src": self.src, "tgt": self.tgt}


#: The catalogue of translators; `Registry.register` adds a custom `ModelEntry`, or Python code that translates
#: (`nbkit.models.python`).
MODELS = Catalogue("model", ModelEntry, "translators.yaml")


def label(name: str) -> str:
    """Name of a model in figures: the catalogue's label, or else the last part of a path or hub id.

    Examples
    --------
    >>> label("m2m100-418m"), label("models/m30k-{src}-{tgt}"), label("Helsinki-NLP/opus-mt-en-de")
    ('M2M-100-418M', 'm30k', 'opus-mt-en-de')
    >>> label("mine/{src}-{tgt}"), label("placeholder:opus-mt")
    ('mine', 'Helsinki-OPUS + placeholder')
    >>> label("opus-mt@ct2"), label("placeholder:./models/{src}-{tgt}@ct2-int8")
    ('Helsinki-OPUS CT2', 'models CT2 int8 + placeholder')
    >>> label("openai:Qwen/Qwen3-8B@http://localhost:8000/v1")
    'Qwen3-8B'
    """
    if name.startswith(BY_RULE):
        return f"{label(name.removeprefix(BY_RULE))} + placeholder"
    if is_remote(name):
        return parse_remote(name).label
    name, backend = split_backend(name)
    return f"{MODELS.label(name)} {backend.label}".rstrip()


def resolve(name: str, src: str, tgt: str) -> Reference:
    """Resolve *name* for the pair: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    ``placeholder:NAME`` is the same model with another input: the reference is that of *NAME*. ``NAME@ct2`` and
    ``NAME@ct2-int8`` are the same weights run by another backend (`nbkit.models.backends`). ``openai:MODEL`` is a model
    behind a service (`nbkit.models.services.names`).

    Raises `UnknownNameError`, with the closest match, for a name that is none of these, and `ModelError` for a
    placeholder or an environment variable that cannot be filled in.

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
    entry = MODELS.find(name)
    if entry.trained is None and entry.python is None and is_remote(entry.hub or ""):
        if backend != TRANSFORMERS:
            raise ModelError(
                f"model '{name}' runs behind a service, so backend '{backend.suffix}' does not apply; "
                f"drop the suffix '@{backend.suffix}'"
            )
        return _behind_service(name, entry, src, tgt)
    return Reference(name, entry, src, tgt, **MODELS.origin(name, entry, backend, _codes(entry, src, tgt)))


def _behind_service(name: str, entry: ModelEntry, src: str, tgt: str) -> Reference:
    codes, place = _codes(entry, src, tgt), entry.hub or ""
    # Programs and files fill in languages themselves.
    named = place if place.startswith(("command:", "outputs:")) else filled(place, name, codes)
    return Reference(name, entry, src, tgt, remote=parse_remote(named).for_pair(codes["src"], codes["tgt"]))


def _codes(entry: ModelEntry, src: str, tgt: str) -> dict[str, str]:
    return {"src": entry.codes.get(src, src), "tgt": entry.codes.get(tgt, tgt)}


# ----------------------------------------------------------------------------
# Architectures, and the pairs that a model supports: by the catalogue, its files and its family's codes.

_THREE_LETTERS = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "rus": "ru",
    "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "jap": "ja", "tam": "ta", "nep": "ne", "npi": "ne",
}  # fmt: skip


@cache
def families() -> Mapping[str, Family]:
    """All architectures by name, from ``families.yaml``."""
    entries = read_own(Path(__file__).with_name("families.yaml"))
    return MappingProxyType({name: Family(name=name, **fields) for name, fields in entries.items()})


def family_of(reference: Reference, folder: Path) -> Family:
    """The architecture of the model in *folder*: as given in the catalogue, or else as given in its files.

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
        f"'{tokenizer or 'not named'}', which nbkit does not support; it supports {known}"
    )


def check_pair(reference: Reference, family: Family | None = None, folder: Path | None = None) -> None:
    """Raises `ModelError`, listing the supported languages, if the model does not support the pair.

    family: None for a model without files. folder: the model's files; None if they are not available: then only the
    catalogue and the family are checked.
    """
    codes = family.codes if family is not None else {}
    pivot = reference.entry.pivot
    if pivot is not None and pivot not in (reference.src, reference.tgt):
        languages = ", ".join(in_order(reference.entry.sources or ()))
        raise ModelError(
            f"model '{reference.name}' translates to and from '{pivot}', not {reference.src}→{reference.tgt}; "
            f"its languages: {languages}"
        )
    for side, lang, spoken in (
        ("from", reference.src, _spoken(reference, codes, folder, "source")),
        ("to", reference.tgt, _spoken(reference, codes, folder, "target")),
    ):
        unknown = spoken is not None and lang not in spoken
        if unknown or (family is not None and codes and family.code(lang) is None):
            known = ", ".join(in_order(spoken if spoken is not None else codes))
            raise ModelError(
                f"model '{reference.name}' does not translate {side} '{lang}'; it translates {side}: {known}"
            )


def check_backend(reference: Reference, family: Family) -> None:
    """Raises `ModelError` if the backend in the model's name does not support its architecture."""
    if reference.backend != TRANSFORMERS and not family.converts:
        raise ModelError(
            f"model '{reference.full_name}': {reference.backend.package} does not support its architecture "
            f"({family.name}); drop the backend suffix: '{reference.name}'"
        )


def _spoken(reference: Reference, codes: Mapping[str, str], folder: Path | None, side: str) -> Iterable[str] | None:
    """The stated languages of one side; None: all for which the family has codes."""
    named = reference.entry.sources if side == "source" else reference.entry.targets
    if named is not None or folder is None:
        return named
    record = read_record(folder)
    if record:
        return record[f"{side}s"]
    if codes or reference.entry.family is not None:
        return None
    # A Marian checkpoint outside the catalogue: its tokenizer names the pair, in two or three letters. Names of
    # language groups ("ROMANCE") say nothing about a single language.
    own = tokenizer_config(folder).get(f"{side}_lang") or ""
    code = _THREE_LETTERS.get(own, own)
    return [code] if len(code) == 2 else None


#: Architectures of other packages: by the ``model_type`` of ``config.json``, the module that makes it known to
#: transformers, or ``"package.module:class"`` where nbkit has to ask it in another way.
ARCHITECTURES: dict[str, str] = {}


def own_architecture(folder: Path) -> Any:
    """The class of another package that asks the model in *folder*, None if nbkit's does; imports its architecture."""
    model_type = read_json(folder / "config.json").get("model_type")
    MODELS.names()  # packages register theirs when names are read
    place = ARCHITECTURES.get(model_type) if isinstance(model_type, str) else None
    found = None if place is None else resolve_name(place)
    return found if isinstance(found, type) else None


# ----------------------------------------------------------------------------
# Classifiers.

_OPTION = "?labels="
#: What the names of classifiers without files here begin with.
_CLASSIFYING = ("openai:", "outputs:")
#: The prompt by which a chat model is asked for a label.
_PROMPT = "classify"


@dataclass(frozen=True, kw_only=True)
class ClassifierEntry(Entry):
    """A named classifier: an entry of ``classifiers.yaml``, or a custom one.

    Parameters
    ----------
    hub, label, summary, trained, python
        As of `Entry`.
    languages : tuple of str, or None
        Supported languages; None: any.
    labels : tuple of str, or None
        Meaning of the outputs, in their order, for a checkpoint whose settings do not state it.

    Examples
    --------
    >>> entry = ClassifierEntry(hub="${HOME}/models/my-nli", labels=("contradiction", "neutral", "entailment"))
    >>> from nbkit.registry import Registry
    >>> registry = Registry("classifier")  # in use: nbkit.models.CLASSIFIERS
    >>> registry.register("mine", entry)
    """

    languages: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ClassifierReference(Origin):
    """What a name means for one language; *labels* in the order of the outputs, if they were given.

    remote: a chat model behind a server, or labels in files; there is nothing to load then.
    """

    entry: ClassifierEntry
    lang: str
    labels: tuple[str, ...] | None = None
    remote: RemoteModel | None = field(default=None, kw_only=True)

    noun: ClassVar[str] = "classifier"
    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"

    @property
    def languages(self) -> dict[str, str]:
        """The language, as Python code is offered it."""
        return {"lang": self.lang}


#: The catalogue of classifiers; `Registry.register` adds a custom `ClassifierEntry`, or Python code that classifies
#: (`nbkit.models.python`).
CLASSIFIERS = Catalogue("classifier", ClassifierEntry, "classifiers.yaml")


def classifier_label(name: str) -> str:
    """Name of a classifier in figures: the catalogue's label, or else the last part of a path or hub id.

    >>> classifier_label("bart-large-mnli"), classifier_label("models/mine?labels=neutral,entailment,contradiction")
    ('BART (large)', 'mine')
    """
    if name.startswith(_CLASSIFYING):
        return parse_remote(name).label
    return CLASSIFIERS.label(name.partition(_OPTION)[0])


def resolve_classifier(name: str, lang: str) -> ClassifierReference:
    """Resolve *name*: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    After any of these, ``?labels=contradiction,neutral,entailment`` states the meaning of the outputs, in their order,
    for a checkpoint whose settings do not state it, or state it wrongly.

    Raises `UnknownNameError`, with the closest match, for a name that is none of these, and `ModelError` for an
    unsupported language, for labels other than the three, or a placeholder that cannot be filled in.

    >>> resolve_classifier("roberta-large-mnli", "en").hub
    'FacebookAI/roberta-large-mnli'
    >>> resolve_classifier("roberta-large-mnli", "zh")
    Traceback (most recent call last):
    nbkit.errors.ModelError: classifier 'roberta-large-mnli' does not support 'zh'; it supports: en
    """
    if name.startswith(_CLASSIFYING):
        remote = parse_remote(name).for_pair(lang, lang)
        if isinstance(remote, ServerModel) and "prompt=" not in name:
            remote = replace(remote, prompt=_PROMPT)
        return ClassifierReference(name, ClassifierEntry(), lang, remote=remote)
    place, option, given = name.partition(_OPTION)
    _refuse_backend("classifier", name, place)
    entry = CLASSIFIERS.find(place)
    check_made_for(f"classifier '{place}'", entry.languages, lang)
    labels = tuple(map(str.strip, given.split(","))) if option else entry.labels
    if labels is not None:
        order_of(labels, name)
    origin = CLASSIFIERS.origin(name, entry, TRANSFORMERS, {"lang": lang}, place)
    if option and not origin:
        raise ModelError(f"classifier '{place}' is custom Python code, to which {_OPTION}… does not apply; drop it")
    return ClassifierReference(name, entry, lang, labels if origin else None, **origin)


def _refuse_backend(noun: str, *names: str) -> None:
    """Raises `ModelError` if one of *names* ends in the suffix of a backend, which runs translators alone."""
    for name in names:
        plain, backend = split_backend(name)
        if backend != TRANSFORMERS:
            raise ModelError(
                f"{noun} '{name}': {backend.package} runs translators alone; drop the backend suffix: '{plain}'"
            )


def order_of(labels: Sequence[str], place: str) -> list[int]:
    """The index of the model's output for each of `LABELS`, given the names of its outputs.

    Raises `ModelError` if the names are not entailment, neutral and contradiction, in any order and spelling.

    >>> order_of(["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], "roberta-large-mnli")
    [2, 1, 0]
    """
    order = _order(labels)
    if order is not None:
        return order
    raise ModelError(
        f"classifier '{place}': its outputs are named {', '.join(map(repr, labels)) or 'nothing'}, not "
        f"{', '.join(LABELS)}. If they have these meanings, append the labels to the name, "
        f"in the order of the outputs: {place.partition(_OPTION)[0]}{_OPTION}contradiction,neutral,entailment"
    )


def output_order(reference: ClassifierReference, folder: Path) -> list[int]:
    """The output for each of `LABELS`: by the given labels, or else by ``id2label`` or ``label2id`` in *folder*.

    No order is ever assumed. Raises `ModelError`, with the names found, if they are not the three labels or the two
    settings contradict each other.
    """
    config = read_json(folder / "config.json")
    forward, backward = _both_names(config, folder)
    outputs = len(forward or backward) or config.get("num_labels")
    if reference.labels is not None:
        if outputs not in (None, len(LABELS)):
            raise ModelError(f"{reference.called}: {len(LABELS)} outputs expected, the model has {outputs}")
        return order_of(reference.labels, reference.name)
    known = [order for order in map(_order, (forward, backward)) if order is not None]
    if len(known) == 2 and known[0] != known[1]:
        raise ModelError(
            f"{reference.called}: id2label ({', '.join(forward)}) and label2id ({', '.join(backward)}) in its "
            f"config.json contradict each other; state the right order: {reference.name}{_OPTION}{','.join(forward)}"
        )
    return known[0] if known else order_of(forward or backward, reference.name)


def _order(labels: Sequence[str]) -> list[int] | None:
    spellings: Mapping[str, Sequence[str]] = nli_catalogue()["labels"]
    meant = [next((name for name in LABELS if label.lower() in spellings[name]), None) for label in labels]
    if sorted(filter(None, meant)) != sorted(LABELS) or len(meant) != len(LABELS):
        return None
    return [meant.index(name) for name in LABELS]


def known_order(folder: Path) -> list[int] | None:
    """The output for each of `LABELS` by the settings in *folder*, None if they do not state it."""
    forward, backward = _both_names(read_json(folder / "config.json"), folder)
    return _order(forward or backward)


def _both_names(config: Mapping[str, Any], folder: Path) -> tuple[list[str], list[str]]:
    """The names of the outputs according to ``id2label`` and to ``label2id``."""
    backward = {i: name for name, i in (config.get("label2id") or {}).items()}
    return _names(config.get("id2label"), folder), _names(backward, folder)


def _names(entries: Any, folder: Path) -> list[str]:
    """Labels by output from ``{"0": "neutral", …}``; empty if there are none."""
    try:
        found = {int(i): str(name) for i, name in (entries or {}).items()}
    except (AttributeError, TypeError, ValueError):
        raise ModelError(f"{folder / 'config.json'}: its labels cannot be read: {entries!r}") from None
    if sorted(found) != list(range(len(found))):
        raise ModelError(f"{folder / 'config.json'}: its labels are not numbered 0, 1, 2, …: {entries!r}")
    return [found[i] for i in range(len(found))]


# ----------------------------------------------------------------------------
# Language models.

Kind = Literal["causal", "masked"]


#: Endings of the class names of either kind.
_CLASSES: Mapping[Kind, tuple[str, ...]] = {
    "causal": ("LMHeadModel", "ForCausalLM"),
    "masked": ("ForMaskedLM", "ForPreTraining"),
}


@dataclass(frozen=True, kw_only=True)
class LanguageModelEntry(Entry):
    """A named language model: an entry of ``language_models.yaml``, or a custom one.

    Parameters
    ----------
    hub, label, summary, trained, python
        As of `Entry`.
    languages : tuple of str, or None
        Supported languages, the default one first; None: any.

    Examples
    --------
    >>> entry = LanguageModelEntry(hub="${HOME}/models/captions-gpt", languages=("en",))
    >>> from nbkit.registry import Registry
    >>> registry = Registry("language model")  # in use: nbkit.models.LANGUAGE_MODELS
    >>> registry.register("mine", entry)
    """

    languages: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LanguageModelReference(Origin):
    """A name resolved for one language; None if neither the name nor the caller specifies it."""

    entry: LanguageModelEntry
    lang: str | None

    noun: ClassVar[str] = "language model"
    auto_class: ClassVar[str] = "AutoModelForCausalLM or AutoModelForMaskedLM"

    @property
    def languages(self) -> dict[str, str | None]:
        """The language, as Python code is offered it."""
        return {"lang": self.lang}


#: The catalogue of language models; `Registry.register` adds a custom `LanguageModelEntry`, or Python code that scores
#: texts (`nbkit.models.python`).
LANGUAGE_MODELS = Catalogue("language model", LanguageModelEntry, "language_models.yaml")


def language_model_label(name: str) -> str:
    """Name of a language model in figures: the catalogue's label, or else the last part of a path or hub id.

    >>> language_model_label("gpt2"), language_model_label("models/mine-{lang}")
    ('GPT-2', 'mine')
    """
    return LANGUAGE_MODELS.label(name)


def resolve_language_model(name: str, lang: str | None = None) -> LanguageModelReference:
    """Resolve *name*: a catalogue entry, a folder, or a hub id with an optional ``@revision``.

    lang: the language of the texts; the entry's first language by default.

    Raises `UnknownNameError`, with the closest match, for a name that is none of these, and `ModelError` for an
    unsupported language or a placeholder that cannot be filled in.

    >>> resolve_language_model("bert-german").lang
    'de'
    >>> resolve_language_model("gpt2", "de")
    Traceback (most recent call last):
    nbkit.errors.ModelError: language model 'gpt2' does not support 'de'; it supports: en
    """
    _refuse_backend("language model", name, name)
    entry = LANGUAGE_MODELS.find(name)
    if entry.languages is not None:
        lang = lang or entry.languages[0]
    check_made_for(f"language model '{name}'", entry.languages, lang)
    values = {} if lang is None else {"lang": lang}
    return LanguageModelReference(name, entry, lang, **LANGUAGE_MODELS.origin(name, entry, TRANSFORMERS, values))


def kind_of(reference: LanguageModelReference, folder: Path) -> Kind:
    """Whether the model in *folder* is causal (predicts the next token) or masked (predicts a token in context).

    Raises `ModelError` if its settings name no such model, or another language than the requested one.
    """
    config: dict[str, Any] = read_json(folder / "config.json")
    names = config.get("architectures") or []
    check_trained_for(reference.called, folder, reference.lang)
    for kind, endings in _CLASSES.items():
        if any(str(name).endswith(endings) for name in names):
            return kind
    found = ", ".join(map(str, names)) or f"a '{config.get('model_type')}' model of unspecified kind"
    raise ModelError(
        f"{reference.called}: {folder} holds {found}, which is neither a causal language model "
        "(…LMHeadModel, …ForCausalLM) nor a masked one (…ForMaskedLM)"
    )


# ----------------------------------------------------------------------------
# Licences of weights.


def weights_licence(name: str) -> str:
    """The licence of the weights of a model from the hub, of whichever kind; empty for all other models.

    Of models that the catalogues do not know, it says where the licence is stated. Nothing is downloaded for it.

    >>> weights_licence("nllb-600m@ct2"), weights_licence("mine/model"), weights_licence("sandbox-marian")
    ('CC BY-NC 4.0', 'see its model card', '')
    """
    place = name.removeprefix(BY_RULE)
    if is_remote(place):
        return ""
    place = split_backend(place)[0].partition(_OPTION)[0]
    for catalogue in (MODELS, CLASSIFIERS, LANGUAGE_MODELS):
        if place in catalogue:
            if licence := catalogue.licence(place):
                return licence
            place = catalogue.get(place).hub or ""
    from_hub = "/" in place and not place.startswith((".", "/", "~", "$")) and not is_remote(place)
    return "see its model card" if from_hub and not Path(place).is_dir() else ""
