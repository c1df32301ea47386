"""How many perturbed sentences a second one core makes, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/perturb.py [--lang en] [--texts 1000] [--repeat 10] [--quick]

All 16 perturbations of PUD with its gold trees (of the sandbox where NBKIT_DATA is not set), counted as 16 times the
number of sentences, as orders and as texts. The peer, `naive` below, does the same from the same trees in the way one
would write first: every perturbation looks at the sentence anew, seeds a NumPy generator and builds a string.
Both are timed in turn, ten texts at a time, in seconds of CPU time, on sentences that carry nothing over from an
earlier run; for each ten the fastest of the repeats counts, as the others measure what else the machine was doing.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Report, cpu_seconds, parse, parser

from nbkit.corpora import sandbox
from nbkit.perturb import NAMES, perturb_all, perturb_text
from nbkit.seeding import generator
from nbkit.text.conllu import read_conllu
from nbkit.text.sentences import Sentence, Text, base_noun_phrases

BAR = 100_000  # perturbed sentences a second and core


def main() -> None:
    made = parser(__doc__, repeat=10)
    made.add_argument("--lang", default="en", help="language of the sentences")
    made.add_argument("--texts", type=int, default=1000, help="how many")
    options = parse(made, texts=50, repeat=3)
    texts, source = corpus(options.lang, options.texts)
    sentences = sum(len(text.sentences) for text in texts)
    tokens = sum(map(len, texts))
    title = f"Perturbing {sentences} sentences of {tokens / sentences:.1f} tokens ({source}), fastest of the turns"
    report = Report(__file__, title, options)

    def orders(texts: list[Text]) -> list[Any]:
        return [perturb_all(text) for text in texts]

    def written(texts: list[Text]) -> list[Any]:
        return [[text.reorder(orders) for orders in perturb_all(text).values() if orders is not None] for text in texts]

    def peer(texts: list[Text]) -> list[Any]:
        return [[naive(sentence, name) for name in NAMES] for text in texts for sentence in text.sentences]

    seconds = in_turn([orders, written, peer], texts, options.repeat)
    rates = [len(NAMES) * sentences / spent for spent in seconds]
    for what, rate in zip(("orders", "texts"), rates, strict=False):
        report.add(f"{what} a second and core", rate, "", bar=f"≥ {BAR}", note=f"{1e6 / rate:.1f} µs each")
        report.add(what, rate / rates[2], against="texts, written down plainly")
    for name in NAMES:

        def one(texts: list[Text], name: str = name) -> list[Any]:
            return [perturb_text(text, name) for text in texts]

        (spent,) = in_turn([one], texts, options.repeat)
        applied = sum(orders is not None for orders in one(texts))
        report.add(f"{name} alone", 1e6 * spent / sentences, "µs", note=f"N = {applied}")
    report.write()


def corpus(lang: str, n: int) -> tuple[list[Text], str]:
    """Parsed texts, and where they are from."""
    folder = os.environ.get("NBKIT_DATA")
    if folder:
        return list(read_conllu(Path(folder) / "pud" / f"{lang}.conllu", lang))[:n], f"PUD {lang}"
    if lang == "en":
        return [pair.source for pair in sandbox.pairs("en", "de", n=n)], "sandbox en"
    return [pair.target for pair in sandbox.pairs("en", lang, n=n)], f"sandbox {lang}"


def in_turn(functions: Sequence[Callable[[list[Text]], Any]], texts: list[Text], repeats: int) -> list[float]:
    """The seconds of CPU time that each function takes for all texts: for each ten of them the fewest."""
    seconds = [0.0] * len(functions)
    for start in range(0, len(texts), 10):
        best = [float("inf")] * len(functions)
        for _ in range(repeats):
            for index, function in enumerate(functions):
                fresh = [
                    Text(tuple(dataclasses.replace(s) for s in text.sentences)) for text in texts[start : start + 10]
                ]
                started = cpu_seconds()
                function(fresh)
                best[index] = min(best[index], cpu_seconds() - started)
        seconds = [total + spent for total, spent in zip(seconds, best, strict=True)]
    return seconds


def naive(sentence: Sentence, name: str) -> str | None:
    """The text of a perturbed sentence; None where nothing changes. The same definitions, written down plainly."""
    assert sentence.upos is not None
    rng = generator(0, name, sentence.text, 0)
    end = len(sentence)
    while end and sentence.upos[end - 1] == "PUNCT":
        end -= 1
    body, tags = list(sentence.tokens[:end]), sentence.upos[:end]
    nouns = [(s, e) for s, e in base_noun_phrases(sentence) if e <= end]
    verbs = [i for i, tag in enumerate(tags) if tag in ("VERB", "AUX")]
    free = [i for i in verbs if not any(s <= i < e for s, e in nouns)]

    def single(*wanted: str) -> list[tuple[int, int]]:
        return [(i, i + 1) for i, tag in enumerate(tags) if tag in wanted]

    new: list[str] | None
    if name.startswith("tree") or name == "rotate_around_root":
        new = [sentence.tokens[i] for i in walk(sentence, sentence.root, name) if i < end]
    elif name in ("noun_swaps", "verb_swaps", "functional_shuffle"):
        units = {"noun_swaps": nouns, "verb_swaps": single("VERB", "AUX")}.get(name)
        units = single("ADP", "DET", "CCONJ", "SCONJ") if units is None else units
        new = shuffled(body, units, rng, everywhere=name == "functional_shuffle")
    elif name in ("noun_verb_swap", "noun_verb_mismatched"):
        new = paired(body, nouns, free, 1 if name == "noun_verb_swap" else -1)
    elif name == "adverb_verb_swap":
        new = paired(body, single("ADV"), verbs, 1)
    elif name == "noun_adj_swap":
        new = paired(body, single("NOUN", "PROPN"), [i for i, _ in single("ADJ")], 1)
    elif name == "verb_at_beginning":
        first = [i for i, tag in enumerate(tags) if tag == "VERB"] or verbs
        new = [body[first[0]], *body[: first[0]], *body[first[0] + 1 :]] if first else None
    elif name == "reversed":
        new = body[::-1]
    else:
        middle = (end + 1) // 2
        start, stop = {"shuffle_first_half": (0, middle), "shuffle_last_half": (middle, end)}.get(name, (0, end))
        new = shuffled(body, [(i, i + 1) for i in range(start, stop)], rng, everywhere=False)
    if new is None or new == body:
        return None
    return sentence.separator.join([*new, *sentence.tokens[end:]])


def walk(sentence: Sentence, node: int, name: str) -> list[int]:
    left = [walk(sentence, child, name) for child in sentence.children[node] if child < node]
    right = [walk(sentence, child, name) for child in sentence.children[node] if child > node]
    if name == "rotate_around_root" and node != sentence.root:
        parts = [*left, [node], *right]
    else:
        parts = {
            "tree_mirror_pre": [[node], *right, *left],
            "tree_mirror_post": [*right, *left, [node]],
        }.get(name, [*right, [node], *left])
    return [token for part in parts for token in part]


def shuffled(
    body: list[str], units: list[tuple[int, int]], rng: np.random.Generator, everywhere: bool
) -> list[str] | None:
    if len({tuple(body[s:e]) for s, e in units}) < 2:
        return None
    for _ in range(1000):
        permutation = rng.permutation(len(units)).tolist()
        if everywhere and any(i == j for i, j in enumerate(permutation)):
            continue
        new = exchanged(body, {units[i]: units[j] for i, j in enumerate(permutation)})
        if new != body:
            return new
    return None


def paired(body: list[str], units: list[tuple[int, int]], others: list[int], sign: int) -> list[str]:
    left_over, trades = list(others), {}
    for s, e in units:
        if left_over:
            distances = [sign * (s - i if i < s else i - e + 1) for i in left_over]
            other = left_over[distances.index(min(distances))]
            left_over.remove(other)
            trades[s, e], trades[other, other + 1] = (other, other + 1), (s, e)
    return exchanged(body, trades)


def exchanged(body: list[str], contents: dict[tuple[int, int], tuple[int, int]]) -> list[str]:
    new, done = [], 0
    for slot in sorted(contents):
        new += body[done : slot[0]] + body[slice(*contents[slot])]
        done = slot[1]
    return new + body[done:]


if __name__ == "__main__":
    main()
