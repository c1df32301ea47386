"""The life of a model, of whichever kind: found, checked, trained or fetched, known by an identity, loaded, kept.

======================  ================================================================================
what its name means     `ModelKind.resolve`: an `nbkit.models.catalogue.Origin`
why it cannot be had    `ModelKind.check`
its files               `ModelKind.ensure`: downloaded, trained by its recipe, converted for its backend
what stands for it      `ModelKind.identity`, in the keys of all that is remembered of it
loaded                  `ModelKind.load`; in this process `ModelKind.kept`
======================  ================================================================================

What differs between translators, classifiers and language models is said by one subclass each. Their networks, and what
trains and converts them, go by name and are imported when they are needed: nothing here imports torch.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Generic, TypeVar

from nbkit.errors import ModelError, as_problem
from nbkit.models import recipes, weights
from nbkit.models.backends import TRANSFORMERS, Kept, Origin, backend_identity, resolve_device, resolve_dtype
from nbkit.models.weights import folder_digest, models_folder

ReferenceT = TypeVar("ReferenceT", bound=Any)
RecipeT = TypeVar("RecipeT", bound=recipes.Recipe)
ModelT = TypeVar("ModelT")

#: Loaded models of a kind that stay in a process, the last used ones: enough to go back and forth between two.
KEPT = 2


class ModelKind(ABC, Generic[ReferenceT, RecipeT, ModelT]):
    """One kind of model; a subclass sets

    - field: what its `version` is called in an identity
    - recipe_file, recipe_type: its recipes; resolve: what a name means for languages
    - python: what asks Python code (`nbkit.models.python`)
    - trainer and converter, functions that train by a recipe and convert for another backend than transformers, and
      loaders, which make a model of a folder, by the package of the backend: all as ``"package.module:name"``
    - shards: how much is computed and written together, by device: what an interruption costs at most
    """

    field: ClassVar[str]
    #: Goes up when what it answers changes in a way that settings do not show.
    version: ClassVar[int] = 1
    recipe_file: ClassVar[str]
    recipe_type: ClassVar[Any]
    resolve: ClassVar[Callable[..., Any]]
    python: ClassVar[Any]
    trainer: ClassVar[str]
    converter: ClassVar[str]
    loaders: ClassVar[Mapping[str, str]]
    shards: ClassVar[Mapping[str, int]] = {"cpu": 4096, "cuda": 32768}

    def __init__(self) -> None:
        self.loaded: Kept[ModelT] = Kept(KEPT)

    # What a subclass says.

    @abstractmethod
    def recipe_changes(self, reference: ReferenceT, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What *reference* changes of the *fields* of its recipe: the languages, at least."""

    @abstractmethod
    def recipe_digest(self, recipe: RecipeT) -> str:
        """What a model trained here is known by: its recipe, the training code's version, its data and its start."""

    @abstractmethod
    def check_folder(self, reference: ReferenceT, folder: Path) -> object:
        """Raises `ModelError` where *folder* does not hold a model of this kind, for the languages and the backend."""

    def check_known(self, reference: ReferenceT) -> None:
        """Raises `ModelError` for what is known to be wrong before there are any files."""

    def recipe_problem(self, recipe: RecipeT) -> str | None:
        """Why nothing can be trained by *recipe*, as far as that is known beforehand."""
        return None

    def check_answering(self, reference: ReferenceT) -> None:
        """Raises `NbkitError` where a model without files, in Python or behind a service, is not for this."""
        self.identity_of(reference)

    def answering_identity(self, reference: ReferenceT, device: str, dtype: str) -> dict[str, Any]:
        """What stands for a model without files."""
        return dict(reference.entry.python.identity(self._offered(reference, device, dtype)))

    def more_identity(self, reference: ReferenceT) -> dict[str, Any]:
        """What else stands for a model."""
        return {}

    def answering(self, reference: ReferenceT, device: str, dtype: str) -> ModelT:
        """A model without files."""
        model: ModelT = self.python(reference.entry.python, self._offered(reference, device, dtype))
        return model

    def opened(self, reference: ReferenceT, folder: Path, device: str, dtype: str) -> ModelT:
        """The model in *folder*, whose bytes were checked, loaded."""
        model: ModelT = resolve_name(self.loaders[reference.backend.package])(reference, folder, device, dtype)
        return model

    def kept_under(self, reference: ReferenceT, identity: Mapping[str, Any]) -> Hashable:
        """The key of a loaded model: references that one and the same model is for have the same."""
        return (json.dumps(identity, sort_keys=True), *reference.languages.values())

    # What all of them do.

    def recipe(self, reference: ReferenceT) -> RecipeT:
        """The recipe of a model that is trained here, for the languages asked for."""
        fields = recipes.recipe_fields(self.recipe_file, reference.recipe, reference.called)
        values = {**fields, **self.recipe_changes(reference, fields)}
        recipe: RecipeT = self.recipe_type.checked(values, f"{self.recipe_file}: {reference.recipe}")
        return recipe

    def weights_digest(self, reference: ReferenceT) -> str | None:
        """The digest of the recipe and data of a model that is trained here, None for others."""
        return None if reference.recipe is None else self.recipe_digest(self.recipe(reference))

    def trained_folder(self, reference: ReferenceT) -> Path | None:
        """The folder of a model that is trained here, whether it is there yet or not; None for one that is not."""
        if reference.recipe is None:
            return None
        recipe = self.recipe(reference)
        return models_folder() / "-".join((reference.stem, *recipe.languages, self.recipe_digest(recipe)))

    def files(self, reference: ReferenceT) -> Path:
        """The folder that holds a model's files; trained or downloaded now where they are not there yet.

        Of several processes that ask, one trains and the others wait for it.
        """
        self.check_known(reference)
        folder = self.trained_folder(reference)
        if folder is None:
            return self.fetched(reference)
        if not weights.is_complete(folder):
            resolve_name(self.trainer)(self.recipe(reference), folder)
        return folder

    def fetched(self, reference: ReferenceT) -> Path:
        """The folder of a model that is not trained here; downloaded now where it is not there yet."""
        folder = weights.fetch(reference)
        self.check_folder(reference, folder)
        return folder

    def ensure(self, *asked: Any) -> Path | None:
        """Makes sure that a model's files are on this machine: trains, downloads, converts them; gives their folder.

        asked: as for `resolve`: a name, and languages. None for a model without files.
        """
        reference = self.resolve(*asked)
        if not reference.has_files:
            return None
        reference.backend.require()
        folder = self.files(reference)
        if reference.backend != TRANSFORMERS:
            resolve_name(self.converter)(reference, folder)
        return folder

    def is_here(self, *asked: Any) -> bool:
        """Whether a model's files are on this machine: trained, or downloaded, already."""
        reference = self.resolve(*asked)
        trained = self.trained_folder(reference)
        if trained is not None:
            return weights.is_complete(trained)
        return not reference.has_files or weights.find(reference) is not None

    def identity(self, *asked: Any, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
        """All about a model that can change what it answers, JSON-able; costs no model load."""
        return self.identity_of(self.resolve(*asked), device, dtype)

    def identity_of(self, reference: ReferenceT, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
        """`identity` of what a name means."""
        if reference.has_files:
            found = origin_identity(reference, self.weights_digest(reference))
            found |= backend_identity(device, dtype, reference.backend)
        else:
            found = self.answering_identity(reference, device, dtype)
        return {self.field: self.version, **found, **self.more_identity(reference)}

    def start_identity(self, reference: ReferenceT) -> dict[str, Any]:
        """What stands for a model that another one is fine-tuned from; a hub model that is not here is fetched first.

        Before that its commit is not known, and the model would be known by another name after it was trained. Where it
        cannot be had it stands there without one: whoever trains says why.
        """
        trained = self.weights_digest(reference)
        identity = origin_identity(reference, trained)
        if is_missing(identity) and weights.obstacle(reference) is None:
            weights.fetch(reference)
            return origin_identity(reference, trained)
        return identity

    @as_problem
    def check(self, *asked: Any) -> str | None:
        """Why a model cannot be had, in one message; None where nothing stands against it. Loads nothing.

        Looks at the name, the languages, the backend, and the files (on disk, in the Hugging Face cache, or offered by
        the hub) or the training data. Where no network is reachable this takes seconds at most.
        """
        reference = self.resolve(*asked)
        if not reference.has_files:
            self.check_answering(reference)
            return None
        reference.backend.require()
        self.check_known(reference)
        if reference.recipe is not None:
            return self.recipe_problem(self.recipe(reference))
        folder = weights.find(reference)
        if folder is None:
            return weights.obstacle(reference)
        self.check_folder(reference, folder)
        return None

    def load(self, *asked: Any, device: str = "auto", dtype: str = "auto") -> ModelT:
        """The model, on the device; downloaded or trained first where it must be, and its bytes checked."""
        reference = self.resolve(*asked)
        if not reference.has_files:
            return self.answering(reference, device, dtype)
        reference.backend.require()
        folder = self.files(reference)
        weights.check_bytes(folder, reference.called, weights=reference.backend == TRANSFORMERS)
        place = resolve_device(device)
        return self.opened(reference, folder, place, resolve_dtype(dtype, place))

    def kept(self, identity: Mapping[str, Any], *asked: Any, device: str = "auto", dtype: str = "auto") -> ModelT:
        """`load`, with the last `KEPT` models of the kind kept in this process.

        identity: of the model that is meant, as the store's address holds it. A name or a folder would not do: what
        lies there may be another model by now. Raises `ModelError` where it became another one while it was loaded.
        """
        reference = self.resolve(*asked)
        if reference.entry.python is not None:  # keeps what it made itself
            return self.load(*asked, device=device, dtype=dtype)

        def load() -> ModelT:
            model = self.load(*asked, device=device, dtype=dtype)
            # Models with a recipe or a commit are known by that. What another one in the folder gives would be
            # remembered as this one's.
            is_folder = identity.get("weights") is not None and not {"recipe", "hub"} & set(identity)
            if is_folder and self.identity(*asked, device=device, dtype=dtype)["weights"] != identity["weights"]:
                raise ModelError(f"model '{asked[0]}' was changed while it was used: run it again")
            return model

        return self.loaded.get((self.kept_under(reference, identity), asked[0], device, dtype), load)

    def shard(self, device: str) -> int:
        """How much is computed and written together on *device*."""
        return self.shards.get(resolve_device(device).partition(":")[0], self.shards["cpu"])

    def check_architecture(self, reference: ReferenceT, architecture: str | None, known: Sequence[str]) -> None:
        """Raises `ModelError` where the backend, which runs transformers' architectures *known* alone, does not run it.

        architecture: as ``config.json`` has it, None where that does not say.
        """
        if reference.backend != TRANSFORMERS and architecture not in known:
            raise ModelError(
                f"{reference.noun} '{reference.full_name}': {reference.backend.package} has no conversion of its "
                f"architecture ({architecture or 'not stated'}), but of: {', '.join(known)}. "
                f"Leave the backend out, transformers runs it: '{reference.name}'"
            )

    def check_tokenizer(self, reference: ReferenceT, folder: Path) -> None:
        """Raises `ModelError` where *folder* holds none: transformers would make an empty one, that knows no word."""
        if not weights.has_tokenizer(folder):
            raise ModelError(f"{reference.called}: {folder} holds no tokenizer (tokenizer.json)")

    def _offered(self, reference: ReferenceT, device: str, dtype: str) -> dict[str, Any]:
        """What Python code that makes a model may ask for: the languages, and the device and dtype spelled out."""
        place = resolve_device(device)
        return {**reference.languages, "device": place, "dtype": resolve_dtype(dtype, place)}


def origin_identity(origin: Origin, trained: str | None) -> dict[str, Any]:
    """What stands for a model's files; *trained* is the digest of the recipe of a model that is trained here."""
    if origin.recipe is not None:
        return {"recipe": origin.recipe, "weights": trained}
    if origin.hub is not None:
        return {"hub": origin.hub, "weights": weights.revision(origin)}
    folder = weights.find(origin)
    return {"weights": None if folder is None else folder_digest(folder)}


def is_missing(identity: Mapping[str, Any]) -> bool:
    """Whether an identity is that of a hub model that is not on this machine, so that its revision is not known yet.

    >>> is_missing({"hub": "google/mt", "weights": None}), is_missing({"hub": "google/mt", "weights": "9ab3"})
    (True, False)
    """
    return "hub" in identity and identity["weights"] is None


def with_revision(address: Callable[[], dict[str, Any]], download: Callable[[], object]) -> dict[str, Any]:
    """The store's *address* of a model's results, its revision in it: a hub model that is not here is fetched first.

    >>> here = []
    >>> address = lambda: {"model": {"hub": "google/mt", "weights": here[0] if here else None}}
    >>> with_revision(address, lambda: here.append("9ab3"))
    {'model': {'hub': 'google/mt', 'weights': '9ab3'}}
    """
    config = address()
    if is_missing(config["model"]):
        download()
        return address()
    return config
