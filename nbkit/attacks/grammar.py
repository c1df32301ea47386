"""Grammar errors by LanguageTool: an optional extra that needs Java, or a LanguageTool server elsewhere.

Source: disambiguation paper, §3.3, which counts the samples with more errors than their seeds, as Morris et al.
2020 do.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from nbkit.errors import MissingExtraError
from nbkit.store import Store

#: The address of a LanguageTool server of one's own, such as http://localhost:8081; no Java is needed here then.
SERVER = "NBKIT_LANGUAGETOOL"
_CODES = {"en": "en-US", "de": "de-DE"}
_INSTALL = 'pip install "nbkit[languagetool]"'


def grammar_problem() -> str | None:
    """Why grammar cannot be checked here, or None."""
    if not find_spec("language_tool_python"):
        return f"grammar: LanguageTool is not installed; {_INSTALL}, and have Java, or a server named by {SERVER}"
    if not os.environ.get(SERVER) and not shutil.which("java"):
        return f"grammar: LanguageTool needs Java, which is not on the PATH, or a server named by {SERVER}"
    return None


def grammar_identity() -> dict[str, Any]:
    """What the numbers of errors depend on, as far as it can be told here."""
    installed = version("language-tool-python") if find_spec("language_tool_python") else None
    return {"languagetool": installed, "server": os.environ.get(SERVER)}


def grammar_errors(texts: Sequence[str], lang: str, *, store: Store) -> list[int]:
    """How many errors LanguageTool finds in each text, remembered. Raises `MissingExtraError` where it cannot run."""

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, int]]:
        problem = grammar_problem()
        if problem:
            raise MissingExtraError(problem)
        import language_tool_python

        tool = language_tool_python.LanguageTool(_CODES.get(lang, lang), remote_server=os.environ.get(SERVER) or None)
        try:
            for (text,) in missing:
                yield {"errors": len(tool.check(text))}
        finally:
            tool.close()

    config = {"kind": "grammar", "version": 1, "lang": lang, **grammar_identity()}
    return [record["errors"] for record in store.records(config, [(text,) for text in texts], compute)]
