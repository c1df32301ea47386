"""How much of real text each difference between two papers and their research code changes.

    NBKIT_DATA=… python benchmarks/research_code.py

The differences are re-implemented here, on PUD's gold tags and trees (English, nbkit's base noun phrases for spaCy's
chunks), on SICK and on Tatoeba. The shares are those of the ``research_code.csv`` of both papers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import factorial, prod

import numpy as np
import spacy
from reporting import Report, data_folder, parse, parser

from nbkit.perturb import View, perturb
from nbkit.studies.nli_permutation import STUDY
from nbkit.text.conllu import read_conllu
from nbkit.text.sentences import Sentence

#: What the mirrors look for; the pre-order one also takes a colon and dots for the end of a sentence.
MARKS = {"tree_mirror_pre": {".", ":", "...", "!", "?", ";"}}
MARKS["tree_mirror_post"] = MARKS["tree_mirror_in"] = {".", "!", "?", ";"}


def main() -> None:
    made = parser(__doc__)
    options = parse(made)
    folder = data_folder()
    report = Report(__file__, "What the research code changes", options)
    pud = [sentence for text in read_conllu(folder / "pud" / "en.conllu", "en") for sentence in text.sentences]
    for what, changed, of in [*word_order(pud), *tatoeba(folder), *sick(folder), *printed()]:
        report.add(what, 100 * changed / of, "%", note=f"{changed:,.0f} of {of:,}")
    report.write()


def word_order(pud: Sequence[Sentence]) -> Iterator[tuple[str, float, int]]:
    """Each difference with the sentences it changes and those it could."""
    for name in MARKS:
        ours = {s: order for s in pud if (order := perturb(s, name)) is not None}
        texts = {s: mirrored(s, name) for s in ours}
        lost = sum(t is not None and Counter(t) != Counter("".join(s.tokens)) for s, t in texts.items())
        same = sum(t == "".join(s.tokens[i] for i in ours[s]) for s, t in texts.items())
        yield f"{name}: crashes", sum(t is None for t in texts.values()), len(ours)
        yield f"{name}: tokens lost", lost, len(ours)
        yield f"{name}: another order or text", len(ours) - same, len(ours)
    ends = [len(s.tokens) - View(s).length for s in pud]
    yield "final punctuation is not one token", sum(end != 1 for end in ends), len(pud)
    verbs = [[s.tokens[i] for i in range(len(s.tokens)) if s.upos[i] == "VERB"] for s in pud]
    yield "verb_at_beginning: more than one VERB", sum(len(v) > 1 for v in verbs), sum(len(v) > 0 for v in verbs)
    swapped = [words(s, "VERB", "AUX") for s in pud]
    swapped = [found for found in swapped if len(set(found)) > 1]
    yield "verb_swaps: left as it was (expected)", sum(1 / arrangements(found) for found in swapped), len(swapped)
    function = [(words(s, "DET", "ADP"), words(s, "CCONJ", "SCONJ")) for s in pud]
    function = [(found, others) for found, others in function if len(found) > 1]
    stays = sum(1 - derangements(len(found)) / factorial(len(found)) for found, _ in function)
    yield "functional_shuffle: a token stays (expected)", stays, len(function)
    yield "functional_shuffle: conjunctions stay", sum(bool(others) for _, others in function), len(function)
    for name, pairs in STACKS.items():
        both = [(s, order) for s in pud if pairs(s) and (order := perturb(s, name, unit="token")) is not None]
        yield f"{name}: another order", sum(exchanged(s, pairs(s)) != o.tolist() for s, o in both), len(both)
    for name, last in (("noun_verb_swap", 0), ("noun_verb_mismatched", -1)):
        both = [(s, order) for s in pud if (order := perturb(s, name)) is not None]
        texts = [chunks_exchanged(s, last) for s, _ in both]
        kept = [
            Counter(text.replace(" ", "")) == Counter("".join(s.tokens))
            for text, (s, _) in zip(texts, both, strict=True)
        ]
        yield f"{name}: letters lost or added", len(kept) - sum(kept), len(kept)
        same = [t.split() == s.reorder(order).split() for t, (s, order) in zip(texts, both, strict=True)]
        yield f"{name}: another order or text", len(same) - sum(same), len(same)


def mirrored(sentence: Sentence, name: str) -> str | None:
    """The research code's mirrored sentence without spaces; None where it raises."""
    tokens, marks = sentence.tokens, MARKS[name]
    last = next((token for token in reversed(tokens) if token in marks), None)
    root = sentence.heads.index(-1)
    if last is None or tokens[root] in marks:  # str.replace(None), or an assertion
        return None

    def walk(node: int) -> Iterator[str]:
        own = [i for i, head in enumerate(sentence.heads) if head == node and tokens[node] not in marks]
        right, left = [i for i in own if i > node], [i for i in own if i < node]
        before = name == "tree_mirror_pre"
        between = name == "tree_mirror_in"
        if before:
            yield tokens[node]
        for child in right:
            yield from walk(child)
        if between:
            yield tokens[node]
        for child in left:
            yield from walk(child)
        if not before and not between:
            yield tokens[node]

    return (" ".join(walk(root)).replace(last, "") + last).replace(" ", "")


def words(sentence: Sentence, *tags: str) -> list[str]:
    return [token for token, tag in zip(sentence.tokens, sentence.upos, strict=True) if tag in tags]


def places(sentence: Sentence, *tags: str) -> list[int]:
    return [i for i, tag in enumerate(sentence.upos) if tag in tags]


def arrangements(found: Sequence[str]) -> int:
    return factorial(len(found)) // prod(factorial(n) for n in Counter(found).values())


def derangements(n: int) -> int:
    return round(factorial(n) / np.e) if n else 1


#: What is exchanged with what: stacks from which the last (or first) of each is taken in turn.
STACKS: dict[str, Callable[[Sentence], list[tuple[int, int]]]] = {
    "adverb_verb_swap": lambda s: list(zip(places(s, "ADV")[::-1], places(s, "VERB")[::-1], strict=False)),
    "noun_adj_swap": lambda s: list(zip(places(s, "NOUN", "PRON")[::-1], places(s, "ADJ"), strict=False)),
}


def exchanged(sentence: Sentence, pairs: Sequence[tuple[int, int]]) -> list[int]:
    order = list(range(len(sentence.tokens)))
    for one, other in pairs:
        order[one], order[other] = other, one
    return order


def chunks_exchanged(sentence: Sentence, last: int) -> str:
    """Noun phrases and verbs exchanged as by the research code: text for text, whatever lies in each other's place."""
    tokens = sentence.tokens
    verbs = places(sentence, "VERB", "AUX") if last == 0 else places(sentence, "VERB")
    written, skipped = [""] * len(tokens), [0] * len(tokens)
    for start, end in View(sentence).nominals:
        phrase = " ".join(tokens[start:end])
        if verbs:
            verb = verbs.pop(last)
            written[verb], written[start] = phrase, tokens[verb]
            skipped[verb] = 1
        else:
            written[start] = phrase
        skipped[start] = end - start
    for verb in verbs:
        written[verb], skipped[verb] = tokens[verb], 1
    place = 0
    while place < len(tokens):
        if not skipped[place]:
            written[place] = tokens[place]
        place += skipped[place] or 1
    return " ".join(" ".join(written).split())


def tatoeba(folder) -> Iterator[tuple[str, float, int]]:
    rules = spacy.blank("en")
    lines = (folder / "tatoeba" / "en-de.tsv").read_text(encoding="utf-8").splitlines()[1:]
    lengths = [len(rules(line.split("\t")[0])) for line in lines]
    yield "sentences of 4 or 5 tokens (Tatoeba)", sum(4 <= n <= 5 for n in lengths), sum(n >= 4 for n in lengths)


def sick(folder) -> Iterator[tuple[str, float, int]]:
    """Derangements of places, of which 100 are drawn: does a word form ever stand where it stood?"""
    rules, drawn = spacy.blank("en"), np.random.default_rng(0)
    lines = (folder / "sick" / "SICK_test_annotated.txt").read_text(encoding="utf-8").splitlines()[1:]
    kept = total = repeated = 0
    sides = list(dict.fromkeys(side for line in lines for side in line.split("\t")[1:3]))
    for side in sides:
        forms = np.array([token.text.casefold() for token in rules(side) if not token.is_punct])
        if len(forms) < 2:
            continue
        repeated += len(set(forms)) < len(forms)
        draws = drawn.permuted(np.tile(np.arange(len(forms)), (400, 1)), axis=1)
        draws = draws[(draws != np.arange(len(forms))).all(axis=1)][:100]
        kept += (forms[draws] == forms).any(axis=1).sum()
        total += len(draws)
    yield "SICK: permutations that leave a word form in place", kept, total
    yield "SICK: sentences with a repeated word", repeated, len(sides)


def printed() -> Iterator[tuple[str, float, int]]:
    """Tables 2 and 3: cells whose Ω_max is below 1, so that pairs without an accepted permutation may be in D^c."""
    tables = [STUDY.printed.load(name) for name in ("table2", "table3")]
    found = [table[table["measure"].eq("omega_max") & table["corpus"].str.contains(":")]["value"] for table in tables]
    yield "𝒫^c: printed cells that may change", sum(int((v < 1).sum()) for v in found), sum(map(len, found))


if __name__ == "__main__":
    main()
