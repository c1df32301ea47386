"""The sandbox: a small world with a synchronous grammar that speaks eight languages.

A sentence is drawn once, as a tree of concepts, and realised in each language by that language's own rules, so every
pair has gold parts of speech, lemmas, trees and word alignments. It needs no data and no network. It is a test bench
with known answers, not a sample of a language.
"""

from nbkit.corpora.sandbox.generate import SPLITS, VERSION
from nbkit.corpora.sandbox.inference import entailment, entailment_identity
from nbkit.corpora.sandbox.lexicon import LANGUAGES
from nbkit.corpora.sandbox.stream import identity, pairs

__all__ = ["LANGUAGES", "SPLITS", "VERSION", "entailment", "entailment_identity", "identity", "pairs"]
