"""The sandbox: a small world with a synchronous grammar that speaks eight languages.

A sentence is drawn once, as a tree of concepts, and realised in each language by that language's own rules, so every
pair has gold parts of speech, lemmas, trees and word alignments. It needs no data and no network. It is a test bench
with known answers, not a sample of a language.
"""

from __future__ import annotations

from nbkit.sandbox.inference import entailment, entailment_identity
from nbkit.sandbox.meaning import LANGUAGES
from nbkit.sandbox.phenomena import IDIOM_SPLITS, homograph_lexicon
from nbkit.sandbox.stream import (
    SPLITS,
    VERSION,
    GoldIdiom,
    GoldSense,
    gold_idiom,
    gold_senses,
    identity,
    idiom_dictionary,
    pairs,
    training_splits,
)

__all__ = [
    "GoldIdiom",
    "GoldSense",
    "IDIOM_SPLITS",
    "LANGUAGES",
    "SPLITS",
    "VERSION",
    "entailment",
    "entailment_identity",
    "gold_idiom",
    "gold_senses",
    "homograph_lexicon",
    "identity",
    "idiom_dictionary",
    "pairs",
    "training_splits",
]
