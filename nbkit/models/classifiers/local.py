"""Classifiers on this machine: trained here on first use, from recipes kept as data, or downloaded."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import ModelError, NbkitError
from nbkit.models import weights
from nbkit.models.backends import ENCODERS, TRANSFORMERS
from nbkit.models.classifiers.catalogue import ClassifierEntry, ClassifierReference, output_order, resolve_classifier
from nbkit.models.language_models.catalogue import LANGUAGE_MODELS, resolve_language_model
from nbkit.models.language_models.local import (
    architecture_of,
    check_language_model,
    ensure_language_model,
    weights_digest,
)
from nbkit.models.recipes import files_of, is_here, recipe_fields
from nbkit.models.translators.catalogue import located
from nbkit.models.translators.identity import backend_identity, fetched_identity, offered, origin_identity
from nbkit.models.translators.languages import check_architecture
from nbkit.models.translators.local import models_folder

if TYPE_CHECKING:
    from nbkit.models.classifiers.recipe import ClassifierRecipe

RECIPES = "classifier_recipes.yaml"


#: Goes up when classifying changes in a way that settings do not show.
VERSION = 1


def classifier_recipe(reference: ClassifierReference) -> ClassifierRecipe:
    """The recipe of a classifier that is trained here, for the language asked for."""
    from nbkit.models.classifiers.recipe import ClassifierRecipe

    fields = recipe_fields(RECIPES, reference.recipe, f"classifier '{reference.name}'")
    return ClassifierRecipe.checked({**fields, "lang": reference.lang}, f"{RECIPES}: {reference.recipe}")


def recipe_digest(recipe: ClassifierRecipe) -> str:
    """What a trained classifier is known by: its recipe, the training code's version, data and weights behind it."""
    from nbkit.corpora.nli import find_nli

    found = map(find_nli, (recipe.train, recipe.dev))
    start = [] if recipe.start is None else [_start_identity(recipe.start, recipe.lang)]
    return recipe.digest(*(corpus.identity(recipe.lang, split) for corpus, split in found), *start)


def start_files(start: str, lang: str) -> Path:
    """The folder of what a classifier is fine-tuned from; trained or downloaded now where it is not there yet.

    Raises `ModelError` where it cannot be had, and for a causal language model.
    """
    if start not in LANGUAGE_MODELS:
        return weights.fetch(_start_reference(start, lang))
    problem = check_language_model(start, lang, kind="masked")
    if problem is not None:
        raise ModelError(problem)
    folder = ensure_language_model(start, lang)
    if folder is None:
        raise ModelError(f"start '{start}' is in Python code: a model with files is needed to be trained on")
    return folder


def _start_identity(start: str, lang: str) -> dict[str, Any]:
    if start in LANGUAGE_MODELS:
        reference = resolve_language_model(start, lang)
        return fetched_identity(reference, weights_digest(reference))
    return fetched_identity(_start_reference(start, lang), None)


def _start_reference(start: str, lang: str) -> ClassifierReference:
    return ClassifierReference(start, ClassifierEntry(hub=start), lang, **located(start, start, {}))


def trained_folder(reference: ClassifierReference) -> Path | None:
    """The folder of a classifier that is trained here, whether it is there yet or not; None for one that is not."""
    if reference.recipe is None:
        return None
    recipe = classifier_recipe(reference)
    return models_folder() / f"{reference.recipe}-{recipe.lang}-{recipe_digest(recipe)}"


def classifier_files(reference: ClassifierReference) -> Path:
    """The folder that holds a classifier's files; trained or downloaded now where they are not there yet.

    Of several processes that ask, one trains and the others wait for it.
    """
    if reference.recipe is not None:
        _check_recipe(reference)

    def train(folder: Path) -> Path:
        from nbkit.models.classifiers.training import train_classifier

        return train_classifier(classifier_recipe(reference), folder)

    return files_of(reference, trained_folder(reference), train, _check_folder)


def ensure_classifier(name: str, lang: str = "en") -> Path | None:
    """Makes sure that a classifier's files are on this machine: trains, downloads, converts them; gives their folder.

    Python code has no files: None.

    The first stage of a grid calls this once a model, so that the workers after it find everything there.

    Raises what `load_classifier` raises for a classifier that cannot be had.
    """
    reference = resolve_classifier(name, lang)
    if reference.entry.python is not None:
        return None
    reference.backend.require()
    folder = classifier_files(reference)
    if reference.backend != TRANSFORMERS:
        from nbkit.models.ct2.conversion import ensure_converted

        ensure_converted(reference, folder)
    return folder


def is_classifier_here(name: str, lang: str = "en") -> bool:
    """Whether a classifier's files are on this machine: trained, or downloaded, already.

    >>> is_classifier_here("nowhere/none")
    False
    """
    reference = resolve_classifier(name, lang)
    return reference.entry.python is not None or is_here(reference, trained_folder(reference))


def classifier_identity(name: str, lang: str = "en", *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """All about a classifier that can change what it answers, JSON-able; costs no model load.

    A folder stands there as the digest of its files, a hub model as its id and the commit in the cache, a model
    trained here as the digest of its recipe and data; beside it the labels, where the name or the catalogue
    gives them, the backend, its version and torch's, the kind of device and the dtype.

    Raises `UnknownNameError` and `ModelError` as `resolve_classifier` does.

    >>> classifier_identity("bart-large-mnli", device="cpu")["hub"]
    'facebook/bart-large-mnli'
    """
    reference = resolve_classifier(name, lang)
    if reference.entry.python is not None:
        given = reference.entry.python.identity(offered(device, dtype, lang=lang))
        return {"classification": VERSION, **given}
    trained = None if reference.recipe is None else recipe_digest(classifier_recipe(reference))
    backend = backend_identity(device, dtype, reference.backend)
    # The head is torch's in every case.
    identity = {"classification": VERSION, **origin_identity(reference, trained), **backend, "torch": version("torch")}
    return identity if reference.labels is None else {**identity, "labels": list(reference.labels)}


def check_classifier(name: str, lang: str = "en") -> str | None:
    """Why a classifier cannot be had for a language, in one message; None where nothing stands against it.

    Looks at the name, the backend, the language, the labels and the files (on disk, in the Hugging Face cache, or
    offered by the hub) or the training data, without loading the model.

    >>> check_classifier("distilbert-mnli", "zh")
    "classifier 'distilbert-mnli' is not for 'zh'; it is for: en"
    """
    try:
        reference = resolve_classifier(name, lang)
        if reference.entry.python is not None:
            classifier_identity(name, lang)
            return None
        reference.backend.require()
        if reference.recipe is not None:
            from nbkit.corpora.nli import check_nli

            _check_recipe(reference)

            recipe = classifier_recipe(reference)
            corpora = dict.fromkeys((recipe.train, recipe.dev, recipe.test))
            problems = [problem for corpus in corpora for problem in check_nli(corpus, lang, n=1)]
            if recipe.start in LANGUAGE_MODELS:
                problems += filter(None, [check_language_model(recipe.start or "", lang, kind="masked")])
            return problems[0] if problems else None
        folder = weights.find(reference)
        if folder is None:
            return weights.obstacle(reference)
        _check_folder(reference, folder)
    except NbkitError as error:
        return str(error)
    return None


def _check_recipe(reference: ClassifierReference) -> None:
    """Raises `ModelError` where the backend does not run what would be trained."""
    if reference.backend == TRANSFORMERS:
        return
    recipe = classifier_recipe(reference)
    architecture: str | None = recipe.architecture
    if recipe.start is not None and recipe.start in LANGUAGE_MODELS:
        architecture = architecture_of(resolve_language_model(recipe.start, recipe.lang))
    elif recipe.start is not None:
        folder = weights.find(_start_reference(recipe.start, recipe.lang))
        if folder is None:
            return  # not known before it is downloaded; whoever converts it looks at it again
        architecture = weights.read_json(folder / "config.json").get("model_type")
    check_architecture("classifier", reference, architecture, ENCODERS)


def _check_folder(reference: ClassifierReference, folder: Path) -> None:
    """Raises `ModelError` where *folder* holds no classifier of the three labels, for the language."""
    weights.check_files(reference, folder)
    config = weights.read_json(folder / "config.json")
    kinds = config.get("architectures") or []
    if not any("Classif" in kind for kind in kinds):
        found = ", ".join(kinds) or f"a '{config.get('model_type')}' model of no stated kind"
        raise ModelError(
            f"classifier '{reference.name}': {folder} holds {found}, which is no classifier; fine-tune it first: "
            f"nbkit train classifier OUTPUT --start {folder}"
        )
    check_architecture("classifier", reference, config.get("model_type"), ENCODERS)
    # Without its files transformers would make an empty tokenizer, to which every word is unknown.
    if not weights.has_tokenizer(folder):
        raise ModelError(f"classifier '{reference.name}': {folder} holds no tokenizer (tokenizer.json)")
    record = folder / weights.RECORD_FILE
    lang = weights.read_json(record).get("lang") if record.is_file() else None
    if lang not in (None, reference.lang):
        raise ModelError(f"classifier '{reference.name}' was trained for '{lang}', not for '{reference.lang}'")
    output_order(reference, folder)
