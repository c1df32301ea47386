"""Stop words: words that say much about grammar and little about a topic, for tables of telling words."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml

from nbkit.errors import UnknownNameError


@cache
def stop_words(lang: str) -> frozenset[str]:
    """Lemmas and forms of function words in lower case (``stop_words.yaml``). Raises `UnknownNameError`.

    >>> "the" in stop_words("en"), "like" in stop_words("en")
    (True, False)
    """
    lists = yaml.safe_load((files(__package__) / "stop_words.yaml").read_text(encoding="utf-8"))
    if lang not in lists:
        raise UnknownNameError("language of stop words", lang, lists)
    return frozenset(word for group in lists[lang].values() for word in str(group).split())
