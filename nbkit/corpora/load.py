"""`load_pairs`: the pairs of any corpus; what identifies them; and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbkit.corpora.catalogue import find_corpus
from nbkit.corpora.corpus import Request
from nbkit.corpora.pair import Pair
from nbkit.errors import NbkitError
from nbkit.store import Store
from nbkit.syntax import OnError, Skipped


def load_pairs(
    corpus: str,
    src: str,
    tgt: str,
    *,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
    store: Store | None = None,
    start: int = 0,
) -> Iterator[Pair]:
    """The first *n* pairs of a corpus (all without *n*), parsed on both sides, streaming.

    corpus: a registered name, ``name:split``, or a path; see `nbkit.corpora.catalogue.find_corpus`.
    parsers: a spaCy pipeline (name or folder) a language, where it is not to be the default one; corpora with
    gold trees need none.
    on_error: "raise" ends with the first malformed line, "skip" leaves it out and adds it to *skipped*. Left
    out lines do not count towards *n*.
    store: where parses are remembered (default: `Store()`).
    start: leave out this many pairs first, unparsed: ``n=100, start=100`` is the second hundred.

    Raises `UnknownNameError` (corpus, split, language), `MissingExtraError` (parser), `DataError` (file and
    line), `NbkitError` (files, environment variables, hub), the first two before anything is read.
    """
    found, split = find_corpus(corpus)
    if n is not None and n < 1:
        raise NbkitError(f"n is {n}; at least one pair is needed (or no n, for all of corpus {corpus})")
    if start < 0:
        raise NbkitError(f"start is {start}; it counts pairs from 0")
    return found.pairs(Request(src, tgt, split, n, parsers, on_error, skipped, store, start))


def is_endless(corpus: str) -> bool:
    """Whether a corpus has no last pair, so that there must be an *n*. Raises as `find_corpus` does.

    >>> is_endless("sandbox-idioms:regular"), is_endless("sandbox-idioms:idiom-test"), is_endless("pud")
    (True, False, False)
    """
    found, split = find_corpus(corpus)
    return getattr(found, "endless", False) and (split or found.splits[0]) not in getattr(found, "finite", ())


def corpus_identity(
    corpus: str,
    src: str,
    tgt: str,
    *,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What the pairs of `load_pairs` depend on, for cache keys: content digests or pinned revisions, the
    parsers' identities, languages and *n*. Reads files but parses nothing.
    """
    found, split = find_corpus(corpus)
    identity = found.identity(Request(src, tgt, split, n, parsers))
    return {**identity, "src": src, "tgt": tgt, "n": n}


def check_corpus(
    corpus: str,
    src: str,
    tgt: str,
    parsers: Mapping[str, str] | None = None,
    *,
    n: int | None = None,
    on_error: OnError = "raise",
) -> list[str]:
    """What stands in the way of `load_pairs`, a message each: an unknown name, a language or split that the
    corpus has not got, files, variables, the hub, parsers. Files of this machine are read, as far as the first
    *n* pairs, and the first malformed line is named. Loads no parser.

    >>> check_corpus("sandbocks", "en", "de")
    ["unknown corpus 'sandbocks'; did you mean 'sandbox'? There are: ..."]
    """
    try:
        found, split = find_corpus(corpus)
        return found.problems(Request(src, tgt, split, n, parsers, on_error))
    except NbkitError as error:
        return [str(error)]
