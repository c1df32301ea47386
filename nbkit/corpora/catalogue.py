"""The corpora by name: `CORPORA`, filled from ``catalogue.yaml`` and open to anybody's own."""

from __future__ import annotations

from importlib import resources
from typing import Any

import yaml

from nbkit.corpora.corpus import FORMATS, Corpus, FileCorpus, Layout
from nbkit.corpora.places import HubPlace, LocalPlace, Place
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.registry import Registry

#: All corpora that have a name. Register your own: ``CORPORA.register("mine", corpus, summary="…")``.
CORPORA: Registry[Corpus] = Registry("corpus")

_SUFFIXES = {".tsv": "tsv", ".conllu": "conllu", ".parquet": "parquet"}
#: What may stand before the colon of a path; the four columns of coded-tsv need the catalogue's codes.
_PREFIXES = ("tsv", "moses", "conllu", "parquet")


def file_corpus(name: str, entry: dict[str, Any]) -> FileCorpus:
    """The corpus of a catalogue entry.

    >>> corpus = file_corpus("mine", {"format": "tsv", "files": "data/{src}-{tgt}.tsv", "languages": ["en", "de"]})
    >>> corpus.languages
    ('en', 'de')
    """
    if entry["format"] not in FORMATS:
        raise UnknownNameError(f"format of corpus {name}", entry["format"], FORMATS)
    hub = entry.get("hub")
    place: Place = (
        HubPlace(hub["repository"], hub["revision"], entry["files"], name) if hub else LocalPlace(entry["files"], name)
    )
    layout = Layout(
        languages=tuple(entry.get("languages", ())),
        splits=tuple(entry.get("splits", ())),
        columns=tuple(entry.get("columns", ())),
        header=entry.get("header", 0),
        pivot=entry.get("pivot"),
        codes=entry.get("codes", {}),
        varieties={lang: tuple(codes) for lang, codes in entry.get("varieties", {}).items()},
    )
    return FORMATS[entry["format"]](name, place, layout)


def find_corpus(spec: str) -> tuple[Corpus, str | None]:
    """The corpus that *spec* stands for, and the split it names.

    spec: a registered name, ``name:split``, ``tsv:PATH``, ``moses:PREFIX`` (``PREFIX.en``, ``PREFIX.de``),
    ``conllu:PATH``, ``parquet:PATH``, or a path that ends in .tsv, .conllu or .parquet. In a path,
    ``{src}``, ``{tgt}``, ``{pair}``, ``{lang}`` and environment variables are filled in.

    Raises `UnknownNameError` with the closest name, `NbkitError` for a path that cannot be a corpus.

    >>> find_corpus("pud")[0].languages
    ('en', 'de', 'fr', 'es', 'zh', 'ja')
    >>> find_corpus("multi30k:val")[1]
    'val'
    >>> find_corpus("multi3k")
    Traceback (most recent call last):
    ...
    nbkit.errors.UnknownNameError: unknown corpus 'multi3k'; did you mean 'multi30k'? There are: ...
    """
    head, colon, rest = spec.partition(":")
    if colon and head in _PREFIXES:
        return _path_corpus(spec, head, rest), None
    if head in CORPORA:
        if colon and not rest:
            raise NbkitError(f"corpus '{spec}' names no split after the colon")
        return CORPORA.get(head), rest or None
    for suffix, format_name in _SUFFIXES.items():
        if spec.endswith(suffix):
            return _path_corpus(spec, format_name, spec), None
    if "/" in spec:
        raise NbkitError(
            f"corpus '{spec}' is a path without a format; write tsv:PATH, moses:PREFIX, conllu:PATH or parquet:PATH"
        )
    raise UnknownNameError("corpus", head, CORPORA.names())


def _path_corpus(spec: str, format_name: str, path: str) -> FileCorpus:
    if not path:
        raise NbkitError(f"corpus '{spec}' names no path after the colon")
    if format_name == "moses" and "{lang}" not in path:
        path += ".{lang}"
    if format_name == "conllu" and "{lang}" not in path:
        raise NbkitError(
            f"corpus '{spec}': a CoNLL-U corpus has one file a language; write {{lang}} where the code stands"
        )
    return file_corpus(spec, {"format": format_name, "files": path})


def _register() -> None:
    CORPORA.register(
        "sandbox",
        "nbkit.corpora.sandbox_corpus:SANDBOX",
        summary="the built-in world: eight languages, gold trees and word alignments",
    )
    CORPORA.register(
        "sandbox-numbers",
        "nbkit.corpora.sandbox_corpus:SANDBOX_NUMBERS",
        summary="sentences of the built-in world with numbers in every written form; longer ones in test than in train",
    )
    CORPORA.register(
        "sandbox-homographs",
        "nbkit.corpora.sandbox_corpus:SANDBOX_HOMOGRAPHS",
        summary="sentences of the built-in world with homographs; in test, the context often attracts another sense",
    )
    CORPORA.register(
        "sandbox-idioms",
        "nbkit.corpora.sandbox_corpus:SANDBOX_IDIOMS",
        summary="regular text of the built-in world without idioms, and idiom sentences to train and to test on",
    )
    text = resources.files("nbkit.corpora").joinpath("catalogue.yaml").read_text("utf-8")
    for name, entry in yaml.safe_load(text).items():
        CORPORA.register(name, file_corpus(name, entry), summary=f"{entry['summary']} ({entry['licence']})")


_register()
