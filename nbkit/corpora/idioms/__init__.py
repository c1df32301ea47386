"""Idioms: the project's own list (``en.txt``), and sentence pairs with the places of the idioms in their sources.

>>> len(english_idioms()) >= 225
True
"""

from nbkit.corpora.idioms.own_list import english_idioms
from nbkit.corpora.idioms.pairs import IdiomPair, annotate, read_idiom_pairs, write_idiom_pairs

__all__ = ["IdiomPair", "annotate", "english_idioms", "read_idiom_pairs", "write_idiom_pairs"]
