"""How many parsed pairs a second one core counts, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/mine_senses.py [--pairs 2000] [--repeat 5] [--quick]

The counting alone: parsed pairs with links go in, counts of attractors and adjectives come out. Pairs are real captions
with the real lexicon where NBKIT_DATA is set, of the sandbox otherwise. The peer, `naive` below, counts the same in the
way one would write first: every token of every source is compared with every homograph, every linked word with every
translation. Both are timed in turn, in seconds of CPU time on pairs that carry nothing over; the fastest run counts.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
from reporting import Report, cpu_seconds, parse, parser

from nbkit.corpora import load_pairs
from nbkit.corpora.homographs import HomographLexicon, load_homographs
from nbkit.measure.aligners import load_aligner
from nbkit.measure.senses import COLUMNS, SenseCounts, SenseFinder, SenseMatching
from nbkit.store import Store
from nbkit.studies.disambiguation.mining import sense_rows
from nbkit.text.sentences import Text

BAR = 20_000  # parsed pairs a second and core

Triples = list[tuple[Text, Text, Any]]


def main() -> None:
    made = parser(__doc__, repeat=5)
    made.add_argument("--pairs", type=int, default=2000, help="how many")
    options = parse(made, pairs=200)
    triples, lexicon, source = corpus(options.pairs)
    tokens = sum(len(source) for source, _, _ in triples) / len(triples)
    report = Report(__file__, "Mining senses: counting alone, fastest of the turns", options)
    best = {"counted": float("inf"), "naive": float("inf")}
    for _ in range(options.repeat):
        for name, function in (("counted", count), ("naive", naive)):
            given = fresh(triples)
            started = cpu_seconds()
            function(given, lexicon)
            best[name] = min(best[name], cpu_seconds() - started)
    rate = len(triples) / best["counted"]
    given = f"{len(triples)} pairs of {tokens:.1f} source tokens ({source}), {len(lexicon)} homographs"
    report.add("parsed pairs a second and core", rate, "", bar=f"≥ {BAR}", note=given)
    report.add("counting", best["naive"] / best["counted"], against="the same written down plainly")
    counts = count_senses(triples, lexicon)
    report.remark(f"{counts.total} extracted pairs, {sum(counts.undecided.values())} undecided occurrences")
    report.remark(f"The plain count agrees: {count(triples, lexicon) == naive(triples, lexicon)}")
    report.write()


def corpus(n: int) -> tuple[Triples, HomographLexicon, str]:
    """Parsed pairs with links, a lexicon, and where they are from."""
    folder = os.environ.get("NBKIT_DATA")
    if not folder:
        pairs = load_pairs("sandbox", "en", "de", n=n)
        return [(pair.source, pair.target, pair.alignment) for pair in pairs], load_homographs("own"), "sandbox"
    parsers = {lang: str(Path(folder) / "models" / f"{lang}_ud_sm") for lang in ("en", "de")}
    pairs = list(load_pairs("multi30k:train", "en", "de", n=n, parsers=parsers, store=Store()))
    aligner = load_aligner("eflomal", "en", "de", store=Store())
    links = aligner.align([(pair.source.tokens, pair.target.tokens) for pair in pairs])
    lexicon = load_homographs(str(Path(folder) / "homographs" / "en-de.sense_clusters.json"))
    triples = [(pair.source, pair.target, own) for pair, own in zip(pairs, links, strict=True)]
    return triples, lexicon, "Multi30k train"


def fresh(triples: Triples) -> Triples:
    """The pairs without what an earlier run left in them."""
    return [(anew(source), anew(target), links) for source, target, links in triples]


def anew(text: Text) -> Text:
    return Text(tuple(dataclasses.replace(sentence) for sentence in text.sentences))


def count_senses(triples: Triples, lexicon: HomographLexicon, matching: SenseMatching = "compounds") -> SenseCounts:
    """The counts of the pairs, as the study's table ``senses`` has them."""
    finder, rows = SenseFinder(lexicon, matching), Counter[Any]()
    for source, target, links in triples:
        rows.update(sense_rows(source, target, links, finder))
    return SenseCounts.from_table(pd.DataFrame([(*row, n) for row, n in rows.items()], columns=COLUMNS))


def count(triples: Triples, lexicon: HomographLexicon) -> Counter[Any]:
    return count_senses(triples, lexicon, matching="exact").pairs


def naive(triples: Triples, lexicon: HomographLexicon) -> Counter[Any]:
    """Extracted pairs by sense, attractors counted beside; the same definitions, written down plainly."""
    pairs: Counter[Any] = Counter()
    attractors: Counter[Any] = Counter()
    adjectives: Counter[Any] = Counter()
    for source, target, links in triples:
        lemmas = [lemma for sentence in source.sentences for lemma in sentence.lemmas or ()]
        tags = [tag for sentence in source.sentences for tag in sentence.upos or ()]
        target_lemmas = [lemma for sentence in target.sentences for lemma in sentence.lemmas or ()]
        nouns = []
        for sentence in target.sentences:
            for place, (token, tag) in enumerate(zip(sentence.tokens, sentence.upos or (), strict=True)):
                nouns.append(tag in ("NOUN", "PROPN") and (token[0].isupper() or place == 0))
        for homograph in lexicon.homographs.values():
            senses = set()
            for token, lemma in enumerate(lemmas):
                if lemma.lower() != homograph.word or tags[token] != "NOUN":
                    continue
                aligned = set()
                for here, there in links:
                    if not nouns[there]:
                        continue
                    for cluster in homograph.clusters:
                        words = (target_lemmas[there], target.tokens[there])
                        lowered = [word.casefold() for word in words]
                        for translation in cluster.translations:
                            if here == token and translation.casefold() == lowered[0]:
                                aligned.add(cluster.name)
                        if here == token and not any(
                            lowered[0] == translation.casefold()
                            for other in homograph.clusters
                            for translation in other.translations
                        ):
                            aligned |= {cluster.name for each in cluster.translations if each.casefold() == lowered[1]}
                if len(aligned) == 1:
                    senses |= aligned
            if len(senses) == 1:
                (sense,) = senses
                pairs[homograph.word, sense] += 1
                for word in set(lemmas):
                    if word.lower() != homograph.word:
                        attractors[homograph.word, sense, word.lower()] += 1
        for sentence in source.sentences:
            for token, relation in enumerate(sentence.deprels or ()):
                if relation == "amod" and sentence.upos and sentence.upos[token] == "ADJ":
                    adjectives[sentence.lemmas[sentence.heads[token]], sentence.lemmas[token]] += 1
    return pairs


if __name__ == "__main__":
    main()
