"""The sandbox's words as a bilingual dictionary: what each word is translated by where it is meant literally."""

from __future__ import annotations

from collections import Counter
from functools import cache

from nbkit.corpora.sandbox.stream import pairs

#: Gold-aligned pairs of regular text behind the dictionary: each form of each word of an idiom is in them.
DICTIONARY_PAIRS = 4000
_WORDS = frozenset({"NOUN", "VERB", "ADJ"})
#: A translation that a word has less often than this is a chance of the alignment.
_RARE = 0.02


@cache
def idiom_dictionary(src: str, tgt: str) -> dict[str, tuple[str, ...]]:
    """Source words, lower-cased, to their literal translations, the most frequent first: nouns, verbs and adjectives.

    Counted over the gold links of regular text of the mixture ``idioms``, which has no idiom, so that no figurative
    translation is among them. The forms of words are words of their own, as in MUSE's dictionaries.
    Raises as `pairs` does. Source of the use: idioms paper, §2.1, step 2.

    >>> idiom_dictionary("en", "fr")["bucket"], "sterben" in idiom_dictionary("en", "de")["kick"]
    (('seau',), False)
    """
    counts: dict[str, Counter[str]] = {}
    for pair in pairs(src, tgt, n=DICTIONARY_PAIRS, split="regular", mixture="idioms"):
        assert pair.alignment is not None
        tags = [
            [tag for sentence in text.sentences for tag in sentence.upos or ()] for text in (pair.source, pair.target)
        ]
        for source, target in pair.alignment:
            if tags[0][source] in _WORDS and tags[0][source] == tags[1][target]:
                word = pair.source.tokens[source].lower()
                counts.setdefault(word, Counter())[pair.target.tokens[target].lower()] += 1
    return {word: _ranked(counts[word]) for word in sorted(counts)}


def _ranked(counts: Counter[str]) -> tuple[str, ...]:
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, count in ranked if count >= _RARE * total)
