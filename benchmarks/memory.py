"""Whether memory stays flat while streams get longer: the same work at two sizes, each in a process of its own.

    python benchmarks/memory.py [--tenth] [--quick] [--kinds mined:0.1 scored …]

- mined: pairs of the sandbox's homographs, counted shard by shard into the store;
- scored: perplexities of a stream of texts by a tiny GPT-2, kept in the store;
- perturbed: the word-order study's texts of sandbox pairs, kept in the store, chunk by chunk;
- classified: a stream of pairs by a tiny RoBERTa;
- permuted: the NLI study's scores of 400 sandbox pairs, by a tiny RoBERTa, with more and more permutations of each;

The bar: twice as much takes at most a twentieth more memory at its peak, and never more than 4 GiB. ``--tenth`` is
a tenth of what the project is made for (1.5 million pairs mined, 390,000 texts scored, 100,000 perturbed sentences
kept; most of an hour on two cores) beside a hundredth of it: ten times as much, under the same bar.
"""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from reporting import Report, parse, parser, peak_of


class Sizes(NamedTuple):
    """usual, tenth: of the longer stream. of: what is counted."""

    usual: int
    tenth: int
    of: str


#: A sandbox pair has some 14.8 different perturbed sentences.
SIZES = {
    "mined": Sizes(40_000, 1_500_000, "pairs"),
    "scored": Sizes(40_000, 390_000, "texts"),
    "perturbed": Sizes(12_000, 10_000, "pairs"),
    "classified": Sizes(40_000, 390_000, "pairs"),
    "permuted": Sizes(200, 100, "permutations a pair"),
}

_OWN_CACHE = """
import os, sys
os.environ["NBKIT_CACHE"] = sys.argv[3]
"""
#: Each is given the number of items, the folder of the tiny model and that of the cache.
WORK = {
    "mined": """
import sys
from nbkit.studies.disambiguation import STUDY, DisambiguationParams
params = DisambiguationParams(
    models=[], masked_lm=None, causal_lm=None, training_corpus="sandbox-homographs", training_pairs=int(sys.argv[1]),
    lexicon="own",
)
senses = STUDY.read(params, "senses")
assert senses.loc[senses["kind"] == "pairs read", "n"].sum() == params.training_pairs
""",
    "scored": """
import sys
from tests.models.by_name import iter_perplexities
from nbkit.store import Store
texts = (f"Sentence {i} of many that are scored." for i in range(int(sys.argv[1])))
found = sum(1 for _ in iter_perplexities(sys.argv[2], texts, store=Store(), device="cpu", progress=False))
assert found == int(sys.argv[1])
""",
    "perturbed": """
import sys
from nbkit.studies.parts import Run
from nbkit.studies.word_order import STUDY, WordOrderParams
params = WordOrderParams(corpus="sandbox", languages=["de"], models=[], n_pairs=int(sys.argv[1]))
Run(STUDY, params).fill(["difficulty"])
""",
    "classified": """
import sys
from tests.models.by_name import load_classifier
pairs = ((f"Sentence {i} of many.", f"It is {i % 97} of {i}.") for i in range(int(sys.argv[1])))
assert sum(1 for _ in load_classifier(sys.argv[2], device="cpu").rows(pairs)) == int(sys.argv[1])
""",
    "permuted": """
import sys
from nbkit.studies.nli_permutation import STUDY, NliPermutationParams
n, model, corpus = int(sys.argv[1]), sys.argv[2], "sandbox:test"
params = NliPermutationParams(corpora=[corpus], models=[model], n_pairs=400, permutations=n)
assert len(STUDY.read(params, "pairs"))
""",
}


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--tenth", action="store_true", help="the sizes of a tenth of the largest work")
    made.add_argument("--share", type=float, default=1.0, help="of these sizes")
    made.add_argument("--at-once", type=int, default=1, help="kinds that are run at the same time")
    made.add_argument("--kinds", nargs="+", default=list(WORK), metavar="KIND[:SHARE]", help=", ".join(WORK))
    options = parse(made, share=0.25)
    kinds = {kind: float(share or 1) for kind, _, share in (each.partition(":") for each in options.kinds)}
    if unknown := kinds.keys() - WORK.keys():
        made.error(f"there is no {', '.join(unknown)}; there are: {', '.join(WORK)}")
    from random_models import SHAPES, random_classifier, random_language_model

    longer = "ten times" if options.tenth else "twice"
    report = Report(__file__, f"Memory of streams: one and one {longer} as long", options)
    made_of = {"scored": random_language_model, "classified": random_classifier, "permuted": random_classifier}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.at_once) as pool:
        models = {kind: made_of[kind](Path(folder) / kind, SHAPES["tiny"]) for kind in kinds if kind in made_of}

        def measure(kind: str) -> tuple[int, int, list[int], float]:
            size, began = SIZES[kind], time.perf_counter()
            long = max(10, int((size.tenth if options.tenth else size.usual) * options.share * kinds[kind]))
            short = long // (10 if options.tenth else 2)
            peaks = [
                peak_of(_OWN_CACHE + WORK[kind], n, models.get(kind, ""), Path(folder) / f"{kind}-{n}")
                for n in (short, long)
            ]
            return short, long, peaks, time.perf_counter() - began

        for kind, (short, long, peaks, seconds) in zip(kinds, pool.map(measure, kinds), strict=True):
            of = SIZES[kind].of
            note = f"{peaks[0]} MiB for {short:,} {of}, {peaks[1]} MiB for {long:,} ({seconds:,.0f} s)"
            against = "a tenth of it" if options.tenth else "half of it"
            report.add(f"{kind}: peak memory", peaks[1] / peaks[0], against=against, bar="≤ 1.05", note=note)
            report.add(f"{kind}: peak memory", peaks[1] / 1024, "GiB", bar="≤ 4")
            if options.tenth:
                grown = (peaks[1] - peaks[0]) / (long - short)
                full = peaks[1] + grown * 9 * long
                note = f"{grown * 2**20:,.0f} bytes for each of the {of}"
                report.add(f"{kind}: ten times as much, as it grows", full / 1024, "GiB", bar="≤ 4", note=note)
            report.write()  # what is there after hours stays, whatever happens then


if __name__ == "__main__":
    main()
