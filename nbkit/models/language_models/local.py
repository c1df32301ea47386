"""Language models on this machine: trained here on first use, from recipes kept as data, or downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import ModelError, NbkitError
from nbkit.models import weights
from nbkit.models.backends import DECODERS, TRANSFORMERS
from nbkit.models.language_models.catalogue import LanguageModelReference, kind_of, resolve_language_model
from nbkit.models.python import PythonLanguageModel
from nbkit.models.recipes import files_of, is_here, recipe_fields
from nbkit.models.translators.identity import backend_identity, offered, origin_identity
from nbkit.models.translators.languages import check_architecture
from nbkit.models.translators.local import models_folder

if TYPE_CHECKING:
    from nbkit.models.language_models.recipe import LanguageModelRecipe

RECIPES = "language_model_recipes.yaml"


#: Goes up when scoring changes in a way that settings do not show.
VERSION = 1


def language_model_recipe(reference: LanguageModelReference) -> LanguageModelRecipe:
    """The recipe of a language model that is trained here, for the language asked for."""
    from nbkit.models.language_models.recipe import LanguageModelRecipe

    fields = recipe_fields(RECIPES, reference.recipe, f"language model '{reference.name}'")
    return LanguageModelRecipe.checked({**fields, "lang": reference.lang or "en"}, f"{RECIPES}: {reference.recipe}")


def recipe_digest(recipe: LanguageModelRecipe) -> str:
    """What a trained language model is known by: its recipe, the training code's version and the data behind it."""
    from nbkit.models.language_models.training import corpus_digest

    return recipe.digest(*(corpus_digest(corpus, recipe.lang) for corpus in recipe.train))


def trained_folder(reference: LanguageModelReference) -> Path | None:
    """The folder of a language model that is trained here, whether it is there yet or not; None for one that is not."""
    if reference.recipe is None:
        return None
    recipe = language_model_recipe(reference)
    return models_folder() / f"{reference.recipe}-{recipe.lang}-{recipe_digest(recipe)}"


def language_model_files(reference: LanguageModelReference) -> Path:
    """The folder that holds a language model's files; trained or downloaded now where they are not there yet.

    Of several processes that ask, one trains and the others wait for it.
    """
    if reference.recipe is not None:
        _check_backend(reference, architecture_of(reference))

    def train(folder: Path) -> Path:
        from nbkit.models.language_models.training import train_language_model

        return train_language_model(language_model_recipe(reference), folder)

    return files_of(reference, trained_folder(reference), train, _check_folder)


def ensure_language_model(name: str, lang: str | None = None) -> Path | None:
    """Makes sure that a language model's files are here: trains, downloads, converts them; gives their folder.

    Python code has no files: None.

    The first stage of a grid calls this once a model, so that the workers after it find everything there.

    Raises what `load_language_model` raises for a language model that cannot be had.
    """
    reference = resolve_language_model(name, lang)
    if reference.entry.python is not None:
        return None
    reference.backend.require()
    folder = language_model_files(reference)
    if reference.backend != TRANSFORMERS:
        from nbkit.models.ct2.conversion import ensure_converted

        ensure_converted(reference, folder)
    return folder


def is_language_model_here(name: str, lang: str | None = None) -> bool:
    """Whether a language model's files are on this machine: trained, or downloaded, already.

    >>> is_language_model_here("nowhere/none")
    False
    """
    reference = resolve_language_model(name, lang)
    return reference.entry.python is not None or is_here(reference, trained_folder(reference))


def language_model_identity(
    name: str, lang: str | None = None, *, device: str = "auto", dtype: str = "auto"
) -> dict[str, Any]:
    """All about a language model that can change what it answers, JSON-able; costs no model load.

    A folder stands there as the digest of its files, a hub model as its id and the commit in the cache, a model
    trained here as the digest of its recipe and data; beside it the backend, its version and torch's, the kind of
    device and the dtype.

    Raises `UnknownNameError` and `ModelError` as `resolve_language_model` does.

    >>> language_model_identity("gpt2", device="cpu")["hub"]
    'openai-community/gpt2'
    """
    reference = resolve_language_model(name, lang)
    if reference.entry.python is not None:
        given = reference.entry.python.identity(offered(device, dtype, lang=reference.lang))
        return {"language_model": VERSION, **given, "lang": reference.lang}
    return {
        "language_model": VERSION,
        **origin_identity(reference, weights_digest(reference)),
        **backend_identity(device, dtype, reference.backend),
    }


def architecture_of(reference: LanguageModelReference) -> str | None:
    """The architecture of a language model as ``config.json`` has it, None where its files are not here."""
    if reference.recipe is not None:
        return language_model_recipe(reference).architecture
    folder = weights.find(reference)
    return None if folder is None else weights.read_json(folder / "config.json").get("model_type")


def weights_digest(reference: LanguageModelReference) -> str | None:
    """The digest of the recipe and data of a model that is trained here, None for others."""
    return None if reference.recipe is None else recipe_digest(language_model_recipe(reference))


def check_language_model(name: str, lang: str | None = None, *, kind: str | None = None) -> str | None:
    """Why a language model cannot be had for a language, in one message; None where nothing stands against it.

    Looks at the name, the backend, the language and the files (on disk, in the Hugging Face cache, or offered by the
    hub) or the training data, without loading the model. kind: "causal" or "masked", where only one of them will do.

    >>> check_language_model("gpt2", "de")
    "language model 'gpt2' is not for 'de'; it is for: en"
    >>> check_language_model("sandbox-gpt", kind="masked")
    "language model 'sandbox-gpt' is causal; a masked one is needed"
    """
    try:
        reference = resolve_language_model(name, lang)
        if reference.entry.python is not None:
            language_model_identity(name, lang)
            scorer = PythonLanguageModel(reference.entry.python, offered("auto", "auto", lang=lang))
            return None if kind == "causal" else _other_kind(name, scorer.kind, kind)
        reference.backend.require()
        if reference.recipe is not None:
            _check_backend(reference, architecture_of(reference))
            from nbkit.models.language_models.training import corpus_problem

            recipe = language_model_recipe(reference)
            found = "causal" if recipe.is_causal else "masked"
            corpora = dict.fromkeys((*recipe.train, recipe.dev, recipe.test))
            problems = (corpus_problem(corpus, recipe.lang) for corpus in corpora)
            problem = next(filter(None, problems), None)
            return problem or _other_kind(name, found, kind)
        folder = weights.find(reference)
        if folder is None:
            return weights.obstacle(reference)
        return _other_kind(name, _check_folder(reference, folder), kind)
    except NbkitError as error:
        return str(error)


def _check_backend(reference: LanguageModelReference, architecture: str | None) -> None:
    check_architecture("language model", reference, architecture, DECODERS)


def _other_kind(name: str, found: str, wanted: str | None) -> str | None:
    if wanted in (None, found):
        return None
    return f"language model '{name}' is {found}; a {wanted} one is needed"


def _check_folder(reference: LanguageModelReference, folder: Path) -> str:
    """The kind of the model in *folder*; raises `ModelError` where it holds no language model with its tokenizer."""
    weights.check_files(reference, folder)
    kind = kind_of(reference, folder)
    _check_backend(reference, weights.read_json(folder / "config.json").get("model_type"))
    # Without its files transformers would make an empty tokenizer, to which every word is unknown.
    if not weights.has_tokenizer(folder):
        raise ModelError(f"language model '{reference.name}': {folder} holds no tokenizer (tokenizer.json)")
    return kind
