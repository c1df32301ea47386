"""Where text comes from: readers, named data sets and the sandbox."""

from nbkit.corpora.pair import Pair

__all__ = ["Pair"]
