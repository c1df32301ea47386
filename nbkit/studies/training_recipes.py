"""How a translator of a run was trained, where nbkit trained it."""

from __future__ import annotations

from nbkit.errors import NbkitError
from nbkit.models import resolve
from nbkit.models.local import recipe_for
from nbkit.models.recipe import TranslatorRecipe
from nbkit.models.weights import RECORD_FILE, read_json


def trained_by(model: str, src: str, tgt: str) -> TranslatorRecipe | None:
    """The recipe of a model that nbkit trained, for the catalogue or into a folder; None for any other.

    >>> trained_by("sandbox-marian", "en", "de").architecture, trained_by("opus-mt", "en", "de")
    ('marian', None)
    """
    try:
        reference = resolve(model, src, tgt)
        if reference.recipe is not None:
            return recipe_for(reference)
        record = reference.folder / RECORD_FILE if reference.folder is not None else None
        fields = read_json(record).get("recipe") if record is not None and record.is_file() else None
        return None if fields is None else TranslatorRecipe.checked(fields, str(record))
    except NbkitError:
        return None  # what is wrong with a model is said where it is asked to translate
