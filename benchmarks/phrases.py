"""How many parsed sentences a second one core searches for the project's idioms, in one run on one machine.

    NBKIT_DATA=… python benchmarks/phrases.py [--repeats 3]

Sentences of PUD with their gold lemmas, and the idioms paper's sentences, each of which has an idiom (sentences of the
sandbox where NBKIT_DATA is not set). The bar is 10,000 a second with the full list. The peer is spaCy's `Matcher` with
all the same rules, over documents of the same words and lemmas. Then the recall of rules made of the paper's labels
against its spans. Everything is timed in seconds of CPU time; medians count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.matcher import Matcher
from spacy.tokens import Doc
from spacy.vocab import Vocab

from nbkit.corpora import sandbox
from nbkit.corpora.idioms import english_idioms, read_idiom_pairs
from nbkit.syntax import load_parser, read_conllu
from nbkit.syntax.phrases import PhraseMatcher
from nbkit.text import Text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="how often each side is timed")
    options = parser.parse_args()
    matcher = PhraseMatcher(english_idioms())
    plain = plain_matcher(matcher)
    folder = os.environ.get("NBKIT_DATA")
    print(f"{len(matcher.phrases)} idioms, median of {options.repeats}\n")
    if not folder:
        texts = [pair.source for pair in sandbox.pairs("en", "de", n=1000)]
        compare("sandbox", texts, matcher, plain, options.repeats)
        return
    data = Path(folder)
    compare("PUD", list(read_conllu(data / "pud" / "en.conllu", "en")), matcher, plain, options.repeats)
    names = ("idioms.en", "idioms.fr", "idioms.spans.en")
    pairs = read_idiom_pairs(*(data / "idioms" / name for name in names))
    texts = list(load_parser(str(data / "models" / "en_ud_sm"), "en").parse(pair.source for pair in pairs))
    compare("idiom sentences", texts, matcher, plain, options.repeats)
    labels = PhraseMatcher(sorted({pair.idiom for pair in pairs}))
    seconds, found = timed(lambda: [labels.find_all(text) for text in texts], options.repeats)
    given = hits = named = 0
    for pair, text, matches in zip(pairs, texts, found, strict=True):
        # By their text, as the parser squeezes white space. Some lines hold the spans of two idioms under one label.
        spans = {text.text[slice(*match.span)] for match in matches}
        own = {text.text[slice(*match.span)] for match in matches if match.phrase == pair.idiom}
        given += len(pair.words)
        hits += sum(words in spans for words in pair.words)
        named += any(words in own for words in pair.words)
    print(f"rules of {len(labels.phrases)} labels, {len(texts) / seconds:,.0f} sentences a second:")
    print(f"  {hits} of {given} given spans are matches, {named} of {len(pairs)} sentences have their label at a span")


def compare(
    name: str, texts: Sequence[Text], matcher: PhraseMatcher, plain: Callable[[Text], int], repeats: int
) -> None:
    """Print the speed of both sides and how many matches each has."""
    ours, found = timed(lambda: [matcher.find_all(text) for text in texts], repeats)
    theirs, counts = timed(lambda: [plain(text) for text in texts], 1)
    tokens = sum(map(len, texts)) / len(texts)
    print(f"{name}: {len(texts)} sentences of {tokens:.0f} tokens")
    print(f"  nbkit    {len(texts) / ours:10,.0f} a second, {sum(map(len, found))} matches")
    print(f"  Matcher  {len(texts) / theirs:10,.0f} a second, {sum(counts)} matches (by lemma alone)\n")


def plain_matcher(matcher: PhraseMatcher) -> Callable[[Text], int]:
    """spaCy's `Matcher` with all rules at once; how many matches a text has."""
    vocab = Vocab(lex_attr_getters=LEX_ATTRS)
    rules = Matcher(vocab)
    for phrase in matcher.phrases:
        rules.add(phrase, matcher.rules(phrase), greedy="LONGEST")

    def count(text: Text) -> int:
        lemmas = [lemma.lower() for sentence in text.sentences for lemma in sentence.lemmas or sentence.tokens]
        return len(rules(Doc(vocab, words=list(text.tokens), lemmas=lemmas)))

    return count


def timed(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median CPU seconds and the result of *function*."""
    seconds, result = [], None
    for _ in range(repeats):
        started = time.process_time()
        result = function()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds), result


if __name__ == "__main__":
    main()
