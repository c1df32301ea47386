"""The training texts of language models, as far as keys and checks need them: names, digests, problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbkit.corpora import Corpus, Request, find_corpus
from nbkit.corpora.nli import check_nli, find_nli
from nbkit.errors import NbkitError, as_problem
from nbkit.files import expand_path, file_digest

#: Prefixes of the name of a file with one text per line, and of a set of pairs that are read together.
LINES, PAIRS = "text:", "nli:"


def corpus_digest(corpus: str, lang: str) -> dict[str, Any]:
    """What the texts of *corpus* depend on, for store keys; no parser, as texts are not parsed."""
    if corpus.startswith(LINES):
        return {"lines": file_digest(line_file(corpus))}
    if corpus.startswith(PAIRS):
        nli, split = find_nli(corpus.removeprefix(PAIRS))
        return nli.identity(Request(lang, lang, split, parsed=False))
    found, request = _corpus_and_request(corpus, lang)
    return found.identity(request)


@as_problem
def corpus_problem(corpus: str, lang: str) -> str | None:
    """What prevents reading *corpus*, or None."""
    if corpus.startswith(LINES):
        line_file(corpus)
        return None
    if corpus.startswith(PAIRS):
        problems = check_nli(corpus.removeprefix(PAIRS), lang, n=1)
    else:
        found, request = _corpus_and_request(corpus, lang, 1)
        problems = found.problems(request)
    return next(iter(problems), None)


def _corpus_and_request(corpus: str, lang: str, n: int | None = None) -> tuple[Corpus, Request]:
    """A corpus and the request for its texts in *lang*, without trees."""
    found, split = find_corpus(corpus)
    return found, Request(lang, other_language(found, lang), split, n, parsed=False)


def other_language(corpus: Any, lang: str) -> str:
    """A language other than *lang* to request pairs with; its texts are not used."""
    pivot = getattr(getattr(corpus, "layout", None), "pivot", None)
    others = [pivot, *corpus.languages, "en", "de"]
    return next(other for other in others if other not in (None, lang))


def line_file(corpus: str) -> Path:
    """The path of a corpus given as ``text:FILE``. Raises `NbkitError` if it does not exist."""
    path = Path(expand_path(corpus.removeprefix(LINES), "corpus")).expanduser()
    if not path.is_file():
        raise NbkitError(f"corpus '{corpus}': there is no file {path}; text:FILE names a file with one text per line")
    return path
