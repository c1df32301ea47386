"""How much faster nbkit classifies than a plain loop over shuffled batches, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/classify.py [--examples 200] [--permutations 4] [--threads 1] [--repeat 3] [--quick]

A RoBERTa of the base size with random weights classifies permuted pairs of SICK's test set in shuffled order, turn by
turn: with a plain loop over padded batches of 32, and with nbkit in float32 and in bfloat16. Beside the ratio of the
medians stands how many labels are the loop's, and how near to a tie those are that differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Report, data_folder, in_turn, parse, parser

LOOP = "batches of 32, shuffled"
LOOP_BATCH = 32
BARS = {"float32": "≥ 1.4", "bfloat16": "≥ 5"}
Pair = tuple[str, str]


def permuted_pairs(n: int) -> Iterator[Pair]:
    """The *n* permutations of each pair of SICK's test set that has so many."""
    from nbkit.corpora.nli import load_nli
    from nbkit.perturb.derangements import derange_pair

    for pair in load_nli("sick:test", "en", parsers={"en": "tokenizer"}):
        found = derange_pair(pair.premise, pair.hypothesis, n)
        if found is not None:
            yield from found.texts()


def plain_loop(model: Any, tokenizer: Any, pairs: list[Pair]) -> np.ndarray:
    """What one would write first: tokenize and classify thirty-two pairs at a time."""
    import torch

    rows = []
    for start in range(0, len(pairs), LOOP_BATCH):
        premises, hypotheses = map(list, zip(*pairs[start : start + LOOP_BATCH], strict=True))
        inputs = tokenizer(premises, hypotheses, return_tensors="pt", padding=True, truncation=True)
        with torch.inference_mode():
            rows.append(model(**inputs).logits.softmax(-1).numpy())
    return np.concatenate(rows)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--examples", type=int, default=200)
    made.add_argument("--permutations", type=int, default=4)
    made.add_argument("--shape", default="roberta-base")
    made.add_argument("--threads", type=int, default=1)
    options = parse(made, examples=16, permutations=2)
    data_folder()
    import torch
    from random_models import SHAPES, random_classifier
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from nbkit.models import load_classifier

    torch.set_num_threads(options.threads)
    report = Report(__file__, f"NLI: a {options.shape} with random weights, permuted pairs of SICK", options)
    pairs = list(islice(permuted_pairs(options.permutations), options.examples * options.permutations))
    pairs = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))]
    with tempfile.TemporaryDirectory() as folder:
        name = random_classifier(Path(folder) / "roberta", SHAPES[options.shape])
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSequenceClassification.from_pretrained(name).eval()
        order = load_classifier(name, device="cpu")._order
        sides = {LOOP: lambda: plain_loop(model, tokenizer, pairs)[:, order]}
        for dtype in BARS:
            ours = load_classifier(name, device="cpu", dtype=dtype)
            sides[dtype] = lambda ours=ours: ours.probabilities(pairs, progress=False)
        turns = in_turn(sides, options.repeat)
    loop = turns[LOOP]
    for dtype, bar in BARS.items():
        found = turns[dtype].result
        other = loop.result.argmax(1) != found.argmax(1)
        note = f"{loop.median:.1f} s against {turns[dtype].median:.1f} s; "
        note += f"{len(pairs) - other.sum()} of {len(pairs)} labels identical"
        if other.any():
            first, second = np.sort(loop.result[other], 1)[:, -1:-3:-1].T
            note += f", the others within {(first - second).max():.1e} of a tie"
        report.add(f"nbkit on torch, {dtype}", loop.median / turns[dtype].median, against=LOOP, bar=bar, note=note)
    report.remark(
        "CTranslate2 (bar 3.5×) and 8-bit weights (8×) are for translators alone so far: classifiers have no `@ct2`."
    )
    report.write()


if __name__ == "__main__":
    main()
