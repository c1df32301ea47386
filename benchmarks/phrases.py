"""How many parsed sentences a second one core searches for the project's idioms, in one run on one machine.

    NBKIT_DATA=… python benchmarks/phrases.py [--repeat 3] [--quick]

Sentences of PUD with their gold lemmas, and the idioms paper's sentences, each of which has an idiom (sentences of the
sandbox where NBKIT_DATA is not set). The bar is 10,000 a second with the full list. The peer is spaCy's `Matcher` with
all the same rules, over documents of the same words and lemmas. Then the recall of rules made of the paper's labels
against its spans.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from reporting import Report, in_turn, parse, parser
from spacy.lang.lex_attrs import LEX_ATTRS
from spacy.matcher import Matcher
from spacy.tokens import Doc
from spacy.vocab import Vocab

from nbkit.corpora import sandbox
from nbkit.corpora.idioms import english_idioms, read_idiom_pairs
from nbkit.text.conllu import read_conllu
from nbkit.text.parsers import load_parser
from nbkit.text.phrases import PhraseMatcher
from nbkit.text.sentences import Text


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--texts", type=int, help="sentences of each corpus, at most")
    options = parse(made, texts=100)
    matcher = PhraseMatcher(english_idioms())
    plain = plain_matcher(matcher)
    folder = os.environ.get("NBKIT_DATA")
    report = Report(__file__, f"Looking for {len(matcher.phrases)} idioms", options)
    if not folder:
        texts = [pair.source for pair in sandbox.pairs("en", "de", n=options.texts or 1000)]
        compare(report, "sandbox", texts, matcher, plain, options.repeat)
        report.write()
        return
    data = Path(folder)
    pud = list(read_conllu(data / "pud" / "en.conllu", "en"))[: options.texts]
    compare(report, "PUD", pud, matcher, plain, options.repeat)
    names = ("idioms.en", "idioms.fr", "idioms.spans.en")
    pairs = list(read_idiom_pairs(*(data / "idioms" / name for name in names)))[: options.texts]
    texts = list(load_parser(str(data / "models" / "en_ud_sm"), "en").parse(pair.source for pair in pairs))
    compare(report, "idiom sentences", texts, matcher, plain, options.repeat)
    labels = PhraseMatcher(sorted({pair.idiom for pair in pairs}))
    found = [labels.find_all(text) for text in texts]
    given = hits = named = 0
    for pair, text, matches in zip(pairs, texts, found, strict=True):
        # By their text, as the parser squeezes white space. Some lines hold the spans of two idioms under one label.
        spans = {text.text[slice(*match.span)] for match in matches}
        own = {text.text[slice(*match.span)] for match in matches if match.phrase == pair.idiom}
        given += len(pair.words)
        hits += sum(words in spans for words in pair.words)
        named += any(words in own for words in pair.words)
    report.remark(
        f"Rules of {len(labels.phrases)} labels: {hits} of {given} given spans are matches, {named} of {len(pairs)} "
        "sentences have their label at a span."
    )
    report.write()


def compare(
    report: Report,
    name: str,
    texts: Sequence[Text],
    matcher: PhraseMatcher,
    plain: Callable[[Text], int],
    repeat: int,
) -> None:
    """The speed of both sides, and how many matches each has."""
    sides = {
        "ours": lambda: [matcher.find_all(text) for text in texts],
        "plain": lambda: [plain(text) for text in texts],
    }
    turns = in_turn(sides, repeat)
    ours, theirs = turns["ours"], turns["plain"]
    given = f"{len(texts)} sentences of {sum(map(len, texts)) / len(texts):.0f} tokens"
    report.add(f"{name}: sentences a second", len(texts) / ours.median, "", bar="≥ 10000", note=given)
    found = f"{sum(map(len, ours.result))} matches, {sum(theirs.result)} by lemma alone"
    report.add(name, theirs.median / ours.median, against="spaCy's Matcher, all rules", note=found)


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


if __name__ == "__main__":
    main()
