"""Models on this machine: trained here on first use, from recipes kept as data, or downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import UnknownNameError
from nbkit.models.backends import TRANSFORMERS
from nbkit.models.recipes import recipe_fields, recipes_in
from nbkit.models.translators.catalogue import Reference, families, resolve
from nbkit.models.translators.languages import check_backend, check_pair
from nbkit.models.translators.recipe import split_seed
from nbkit.models.weights import fetch, is_complete
from nbkit.store import cache_folder

if TYPE_CHECKING:
    from nbkit.models.translators.recipe import TranslatorRecipe

RECIPES = "recipes.yaml"


def models_folder() -> Path:
    """Where trained models are kept: ``models/`` in the cache, which has to be local for them.

    A cache on an object store holds results only; models then go to the default place.
    """
    place = cache_folder()
    return Path("~/.cache/nbkit" if "://" in place else place).expanduser() / "models"


def recipe_for(reference: Reference) -> TranslatorRecipe:
    """The recipe of a model that is trained here, for the pair asked for.

    A Marian recipe is for one pair; one of several targets is for all that the catalogue gives it, so that every pair
    finds the same model. Raises `ModelError` for a language the recipe is not for, and for a backend that does not run
    its architecture.
    """
    from nbkit.models.translators.recipe import TranslatorRecipe

    entry = reference.entry
    family = families()[entry.family or "marian"]
    check_pair(reference, family, None)
    check_backend(reference, family)
    fields = recipe_fields(RECIPES, reference.recipe, f"model '{reference.name}'")
    targets = entry.targets if fields.get("architecture") == "m2m100" else (reference.tgt,)
    values = {**fields, "src": reference.src, "targets": targets, **reference.variant.changes}
    return TranslatorRecipe.checked(values, f"{RECIPES}: {reference.recipe}")


def named_recipe(name: str) -> dict[str, Any]:
    """The fields of a recipe of ``recipes.yaml``. Raises `UnknownNameError` with the closest name.

    >>> named_recipe("paper-lstm")["encoder_layers"]
    5
    """
    recipes = recipes_in(RECIPES)
    if name not in recipes:
        raise UnknownNameError("recipe", name, recipes)
    return dict(recipes[name])


def recipe_digest(recipe: TranslatorRecipe) -> str:
    """What a trained model is known by: its recipe, the training code's version and the sandbox's.

    Of other data than the sandbox's general sentences, which the version stands for, their identity is part of it, and
    so is that of a checkpoint to start from.
    """
    from nbkit import sandbox
    from nbkit.corpora import corpus_identity

    more: list[Any] = []
    decides = recipe.dev if recipe.keep == "best" else None
    for corpus in filter(None, (recipe.train, recipe.idioms, decides)):
        if corpus.partition(":")[0] != "sandbox":
            more += [corpus_identity(corpus, recipe.src, tgt) for tgt in recipe.targets]
    if recipe.start is not None:
        more.append(_start_identity(recipe.start, recipe.src, recipe.targets[0]))
    return recipe.digest(sandbox.VERSION, *more)


def _start_identity(start: str, src: str, tgt: str) -> dict[str, Any]:
    """What stands for the checkpoint that a model is fine-tuned from."""
    from nbkit.models.translators.identity import fetched_identity

    reference = resolve(start, src, tgt)
    return fetched_identity(reference, None if reference.recipe is None else recipe_digest(recipe_for(reference)))


def model_folder(name: str, recipe: TranslatorRecipe) -> Path:
    """The folder of a trained model, whether it is there yet or not."""
    return models_folder() / f"{split_seed(name)[0]}-{recipe.src}-{'-'.join(recipe.targets)}-{recipe_digest(recipe)}"


def place(reference: Reference) -> tuple[str | None, ...]:
    """Where the model's files belong; equal for two pairs that one and the same model translates."""
    if reference.recipe is not None:
        return (str(model_folder(reference.name, recipe_for(reference))),)
    if reference.remote is not None:
        # Where it is may come from the environment, and what it is asked from a file: both can change meanwhile.
        return (repr(reference.remote.identity()),)
    if reference.entry.python is not None:
        return (reference.entry.python.token,)
    return (str(reference.folder), reference.hub, reference.revision)


def ensure_trained(reference: Reference) -> Path:
    """The folder of a model that is trained here; trained now where it is not there yet.

    Of several processes that ask, one trains and the others wait for it.
    """
    recipe = recipe_for(reference)
    folder = model_folder(reference.name, recipe)
    if is_complete(folder):
        return folder
    from nbkit.models.translators.training import train_translator

    return train_translator(recipe, folder)


def ensure_model(name: str, src: str, tgt: str) -> Path | None:
    """Makes sure that a model's files are on this machine: trains, downloads and converts them; gives their folder.

    A model behind a service, or in Python code, has no files: None.

    The first stage of a grid calls this once a model, so that the workers after it find everything there.

    Raises what `load_translator` raises for a model that cannot be had.
    """
    reference = resolve(name, src, tgt)
    if reference.remote is not None or reference.entry.python is not None:
        return None
    reference.backend.require()
    folder = fetch(reference) if reference.recipe is None else ensure_trained(reference)
    if reference.backend != TRANSFORMERS:
        from nbkit.models.ct2.conversion import ensure_converted

        ensure_converted(reference, folder)
    return folder


def is_trained(name: str, src: str, tgt: str) -> bool:
    """Whether a model that is trained here has been trained already; True for every other model.

    >>> is_trained("opus-mt", "en", "de")
    True
    """
    reference = resolve(name, src, tgt)
    return reference.recipe is None or is_complete(model_folder(reference.name, recipe_for(reference)))
