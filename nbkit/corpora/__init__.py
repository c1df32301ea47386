"""Where text comes from: readers, named data sets and the sandbox. Importing it reads no data and no big library."""

from nbkit.corpora.corpus import (
    CORPORA,
    Corpus,
    Request,
    check_corpus,
    corpus_identity,
    file_corpus,
    find_corpus,
    is_endless,
    load_pairs,
)
from nbkit.files import OnError, Skipped
from nbkit.text.sentences import Pair

__all__ = [
    "CORPORA",
    "Corpus",
    "OnError",
    "Pair",
    "Request",
    "Skipped",
    "check_corpus",
    "corpus_identity",
    "file_corpus",
    "find_corpus",
    "is_endless",
    "load_pairs",
]
