"""What the models of the study are trained on, as files: regular pairs and idiom-train, with idiom-test beside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbkit.corpora.idiom_splits import fits, without_leaks
from nbkit.corpora.idioms import write_idiom_pairs
from nbkit.errors import NbkitError
from nbkit.models.texts import text_pairs
from nbkit.store import Store
from nbkit.studies.idioms.data import load_data
from nbkit.studies.idioms.mining import mined_corpus
from nbkit.studies.idioms.params import IdiomsParams


def write_training_data(
    params: IdiomsParams, language: str, folder: Path, store: Store | None = None
) -> dict[str, int]:
    """Write the splits of one language pair to *folder*, line-aligned; returns how many pairs each file has.

    ``regular.{en,fr}`` (mined corpora only) and ``idiom-train.{en,fr}`` are what ``nbkit train translator`` takes as
    ``--train`` and ``--idioms``; ``idiom-train.spans.en`` and ``idiom-test.*`` say where the idioms are. A file appears
    when it is complete. No sentence of idiom-test, and no idiom that was discarded, is in ``regular``.
    Source: idioms paper, §3.1.
    """
    store = store or Store()
    data = load_data(params, language, store)
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"regular": 0}
    if params.corpora:
        regular = without_leaks(_regular(params, language, store), data.splits.test)
        counts["regular"] = _write(regular, folder / f"regular.{params.source}", folder / f"regular.{language}")
    for name, pairs in (("idiom-train", data.splits.train), ("idiom-test", data.splits.test)):
        paths = (folder / f"{name}.{end}" for end in (params.source, language, f"spans.{params.source}"))
        write_idiom_pairs(pairs, *paths)
        counts[name] = len(pairs)
    return counts


def _regular(params: IdiomsParams, language: str, store: Store) -> Iterator[tuple[str, str]]:
    """The pairs of all corpora that pass the length filters and have no idiom."""
    for corpus in params.corpora.values():
        table = mined_corpus(params, language, corpus, store)
        with_idioms = set(table.loc[table["kind"] == "idiom", "id"])
        for pair in text_pairs(corpus, params.source, language):
            if pair.id not in with_idioms and fits(pair.source, pair.target, src=params.source, tgt=language):
                yield pair.source, pair.target


def _write(pairs: Iterable[tuple[str, str]], *paths: Path) -> int:
    """One file a side, a line a pair; each under a temporary name until all is there."""
    temporary = [path.with_name(f".{path.name}.{os.getpid()}") for path in paths]
    count = 0
    try:
        with temporary[0].open("w", encoding="utf-8") as first, temporary[1].open("w", encoding="utf-8") as second:
            for texts in pairs:
                count += 1
                for file, text in zip((first, second), texts, strict=True):
                    file.write(" ".join(text.split()) + "\n")
        if not count:
            raise NbkitError(f"{paths[0]}: there is no regular pair to write")
        for unfinished, path in zip(temporary, paths, strict=True):
            unfinished.replace(path)
    finally:
        for unfinished in temporary:
            unfinished.unlink(missing_ok=True)
    return count
