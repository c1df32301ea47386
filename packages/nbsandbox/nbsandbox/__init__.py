"""The sandbox: a small world with a synchronous grammar that speaks eight languages.

A sentence is drawn once, as a tree of concepts, and realised in each language by that language's own rules, so every
pair has gold parts of speech, lemmas, trees and word alignments. It needs no data and no network. It is a test bench
with known answers, not a sample of a language.

>>> pair = next(pairs("en", "de", n=1))
>>> pair.source.text
'They went to the market to repair the ship.'
"""

from __future__ import annotations

from nbsandbox.errors import SandboxError, UnknownNameError
from nbsandbox.inference import entailment, entailment_identity
from nbsandbox.meaning import LANGUAGES
from nbsandbox.phenomena import IDIOM_SPLITS, homograph_lexicon
from nbsandbox.sentences import Pair, Sentence, Text
from nbsandbox.stream import (
    SPLITS,
    VERSION,
    GoldIdiom,
    GoldSense,
    gold_idiom,
    gold_senses,
    identity,
    idiom_dictionary,
    mixtures,
    pairs,
    training_splits,
)

__all__ = [
    "GoldIdiom",
    "GoldSense",
    "IDIOM_SPLITS",
    "LANGUAGES",
    "Pair",
    "SPLITS",
    "SandboxError",
    "Sentence",
    "Text",
    "UnknownNameError",
    "VERSION",
    "entailment",
    "entailment_identity",
    "gold_idiom",
    "gold_senses",
    "homograph_lexicon",
    "identity",
    "idiom_dictionary",
    "mixtures",
    "pairs",
    "training_splits",
]
