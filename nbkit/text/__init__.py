"""Sentences and texts, and what is known of their words: trees, parsers, noun phrases, phrases.

spaCy is imported when a pipeline is loaded.
"""

from nbkit.text.sentences import Pair, Sentence, Text

__all__ = ["Pair", "Sentence", "Text"]
