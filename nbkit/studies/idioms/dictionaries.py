"""The word dictionary of a run: the sandbox's own, MUSE's, a file, or one induced from word alignments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import NbkitError
from nbkit.fingerprint import digest
from nbkit.metrics.word_dictionary import WordDictionary, fetch_muse, induced_dictionary, muse_problem, read_dictionary
from nbkit.store import Store
from nbkit.studies.idioms.alignments import aligned_pairs, aligner_key, run_aligner, training_key
from nbkit.studies.idioms.params import IdiomsParams
from nbkit.studies.idioms.sandbox_data import sandbox_dictionary, sandbox_identity
from nbkit.syntax.files import expand_path, file_digest

if TYPE_CHECKING:
    import pandas as pd

MUSE = "muse:"


def run_dictionary(params: IdiomsParams, language: str, store: Store) -> WordDictionary:
    """The dictionary from the source language into *language*; an induced one is remembered.

    Raises `NbkitError` and `DataError` for a file that cannot be read.
    """
    if params.dictionary == "sandbox":
        return sandbox_dictionary(params.source, language)
    if params.dictionary == "induced":
        return _induced(params, language, store)
    if params.dictionary.startswith(MUSE):
        return fetch_muse(params.source, language, _place(params, language, MUSE))
    return read_dictionary(_place(params, language))


def dictionary_key(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change the dictionary, without making one."""
    if params.dictionary == "sandbox":
        return {"dictionary": "sandbox", **sandbox_identity(params.source, language)}
    if params.dictionary == "induced":
        return {
            "dictionary": "induced",
            "aligner": aligner_key(params, language, params.aligners[0]),
            "from": training_key(params, language),
        }
    muse = params.dictionary.startswith(MUSE)
    path = Path(_place(params, language, MUSE)) if muse else Path(_place(params, language))
    path = path / f"muse-{params.source}-{language}.txt" if muse else path
    return {"dictionary": path.name, "digest": file_digest(path) if path.is_file() else None}


def dictionary_problems(params: IdiomsParams, language: str) -> list[str]:
    """What stands in the way of the dictionary; a file is read, MUSE's is asked for and not fetched."""
    try:
        if params.dictionary == "sandbox":
            sandbox_identity(params.source, language)
        elif params.dictionary.startswith(MUSE):
            problem = muse_problem(params.source, language, _place(params, language, MUSE))
            return [problem] if problem else []
        elif params.dictionary != "induced":
            read_dictionary(_place(params, language))
    except NbkitError as error:
        return [str(error)]
    return []


def _place(params: IdiomsParams, language: str, prefix: str = "") -> str:
    place = expand_path(params.dictionary.removeprefix(prefix), "dictionary")
    return place.replace("{src}", params.source).replace("{tgt}", language)


def _code() -> str:
    return digest("nbkit.studies.idioms.dictionaries")


def _induced(params: IdiomsParams, language: str, store: Store) -> WordDictionary:
    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = aligned_pairs(params, language, store)
        links = run_aligner(params, language, params.aligners[0], store).align(pairs)
        found = induced_dictionary(pairs, links, name)
        rows = [(word, translation) for word, translations in found.entries.items() for translation in translations]
        return pd.DataFrame(rows, columns=["word", "translation"])

    name = "+".join([*params.aligned_corpora, "idiom-train"])
    table = store.table({"kind": "idioms.dictionary", "code": _code(), **dictionary_key(params, language)}, compute)
    groups = table.groupby("word", sort=False)["translation"]
    return WordDictionary(name, "induced", {str(word): tuple(found) for word, found in groups})
