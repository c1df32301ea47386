"""Recipes that come with the package, kept as data, and the files of models that are trained by them on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.translators.catalogue import Origin

Named = TypeVar("Named", bound=Origin)


@cache
def recipes_in(file: str) -> dict[str, dict[str, Any]]:
    """The fields of every recipe in a file beside this module, by name.

    >>> recipes_in("recipes.yaml")["paper-lstm"]["encoder_layers"]
    5
    """
    return yaml.safe_load(Path(__file__).with_name(file).read_text(encoding="utf-8"))


def recipe_fields(file: str, recipe: str | None, what: str) -> dict[str, Any]:
    """The fields of a recipe of *file*; a `ModelError` says of *what* it is asked, and what there is.

    >>> recipe_fields("recipes.yaml", "sandbox-opus", "model 'x'")
    Traceback (most recent call last):
    nbkit.errors.ModelError: model 'x': no recipe 'sandbox-opus'; there are: ...
    """
    recipes = recipes_in(file)
    if recipe not in recipes:
        raise ModelError(f"{what}: no recipe '{recipe}'; there are: {', '.join(recipes)}")
    return dict(recipes[recipe])


def files_of(
    reference: Named, trained: Path | None, train: Callable[[Path], Path], check: Callable[[Named, Path], object]
) -> Path:
    """The folder of a model's files, made now where it is not there yet.

    trained: where a model that is trained here belongs, and *train* puts it; None for one that is downloaded, which
    *check* looks at. Of several processes that ask, one trains and the others wait for it.
    """
    if trained is None:
        folder = weights.fetch(reference)
        check(reference, folder)
        return folder
    return trained if weights.is_complete(trained) else train(trained)


def is_here(reference: Origin, trained: Path | None) -> bool:
    """Whether a model's files are on this machine: trained, or downloaded, already."""
    return weights.find(reference) is not None if trained is None else weights.is_complete(trained)
