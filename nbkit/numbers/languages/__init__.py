"""The number rules of ten languages, as data: one YAML file a language, described in ``README.md``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nbkit.errors import UnknownNameError

_FOLDER = Path(__file__).parent


@cache
def language_data(lang: str) -> dict[str, Any]:
    """What the language's file says. Raises `UnknownNameError` for a language without number rules.

    >>> language_data("de")["locales"]
    ['de', 'de_CH']
    """
    path = _FOLDER / f"{lang}.yaml"
    known = [file.stem for file in _FOLDER.glob("*.yaml")]
    if lang not in known:
        raise UnknownNameError("language of the number rules", lang, known)
    return yaml.safe_load(path.read_text(encoding="utf-8"))
