"""How much faster nbkit classifies than a plain loop over shuffled batches, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/classify.py [--examples 50] [--permutations 20] [--threads 1] [--repeat 3] [--quick]

A RoBERTa of the base size with random weights classifies permuted pairs of SICK's test set in shuffled order, turn by
turn: with a plain loop over padded batches of 32, with nbkit on torch in float32 and in bfloat16. Beside the ratio of
the medians stands how many labels are the loop's, and how near to a tie those are that differ. Random weights magnify
what rounding does; where a classifier that was trained is on this machine (``--trained``), its labels are counted, too.

Two rows say what there is to gain at all: tokens of the loop's batches against tokens of the pairs, and the time of the
products of matrices alone, as one large product takes it in torch.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Report, data_folder, in_turn, parse, parser

LOOP = "batches of 32, shuffled"
LOOP_BATCH = 32
#: Suffix of the name, dtype and bar of everything that is compared with the loop.
SYSTEMS = {
    "torch, float32": ("", "float32", "≥ 1.4"),
    "torch, bfloat16": ("", "bfloat16", "≥ 5"),
}
Pair = tuple[str, str]


def permuted_pairs(n: int) -> Iterator[Pair]:
    """The *n* permutations of each pair of SICK's test set that has so many.

    The pairs come in random order, as their lengths, which the whole comparison is about, are not those of the set at
    its top.
    """
    from nbkit.corpora.nli import load_nli
    from nbkit.perturb.derangements import derange_pair

    pairs = list(load_nli("sick:test", "en", parsers={"en": "tokenizer"}))
    for i in np.random.default_rng(0).permutation(len(pairs)):
        found = derange_pair(pairs[i].premise, pairs[i].hypothesis, n)
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


def product_rate(width: int, ffn: int, rows: int = 1024) -> float:
    """Operations a second of CPU time of one product as the layers have it: the fastest of ten, float32 in torch."""
    import torch

    states, weight = torch.randn(rows, width), torch.randn(ffn, width)
    seconds = []
    with torch.inference_mode():
        for _ in range(10):
            began = time.process_time()
            torch.nn.functional.linear(states, weight)
            seconds.append(time.process_time() - began)
    return 2 * rows * width * ffn / min(seconds)


def agreement(expected: np.ndarray, found: np.ndarray) -> str:
    """How many labels are the same, and how near to a tie the others were.

    >>> first = np.array([[0.6, 0.3, 0.1], [0.4, 0.35, 0.25]])
    >>> agreement(first, first[:, [0, 1, 2]])
    '2 of 2 labels identical; probabilities differ by 0.0e+00 at most'
    >>> agreement(first, np.array([[0.6, 0.3, 0.1], [0.35, 0.4, 0.25]]))
    '1 of 2 labels identical, the others within 5.0e-02 of a tie; probabilities differ by 5.0e-02 at most'
    """
    other = expected.argmax(1) != found.argmax(1)
    note = f"{len(expected) - other.sum()} of {len(expected)} labels identical"
    if other.any():
        first, second = np.sort(expected[other], 1)[:, -1:-3:-1].T
        note += f", the others within {(first - second).max():.1e} of a tie"
    return f"{note}; probabilities differ by {abs(expected - found).max():.1e} at most"


def ceilings(report: Report, tokenizer: Any, pairs: list[Pair], shape: Any, seconds: float) -> None:
    """What the loop could gain: by leaving padding out, and by doing nothing but its products of matrices."""
    lengths = [len(ids) for ids in tokenizer(*map(list, zip(*pairs, strict=True)))["input_ids"]]
    padded = sum(
        len(batch) * max(batch)
        for batch in (lengths[start : start + LOOP_BATCH] for start in range(0, len(lengths), LOOP_BATCH))
    )
    weights = shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.ffn)
    alone = 2 * weights * sum(lengths) / product_rate(shape.width, shape.ffn)
    report.add("ceiling: no padding", padded / sum(lengths), against=LOOP, note=f"{sum(lengths):,} tokens")
    note = f"{alone:.1f} s for the tokens that are there"
    report.add("ceiling: float32 products of matrices alone, in torch", seconds / alone, against=LOOP, note=note)


def trained_labels(report: Report, name: str, pairs: list[Pair]) -> None:
    """Rows on a classifier that was trained: how many labels another backend changes."""
    from tests.models.by_name import is_classifier_here, load_classifier

    if not is_classifier_here(name):
        report.remark(f"{name} is not trained on this machine: labels of a trained classifier were not counted.")
        return
    expected = load_classifier(name, device="cpu").probabilities(pairs, progress=False)
    for what, (suffix, dtype, _) in SYSTEMS.items():
        if (suffix, dtype) != ("", "float32"):
            found = load_classifier(f"{name}{suffix}", device="cpu", dtype=dtype).probabilities(pairs, progress=False)
            same = 100 * (expected.argmax(1) == found.argmax(1)).mean()
            note = agreement(expected, found)
            report.add(f"labels of a trained classifier, {what}", same, "%", against="torch, float32", note=note)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--examples", type=int, default=50)
    made.add_argument("--permutations", type=int, default=20)
    made.add_argument("--shape", default="roberta-base")
    made.add_argument("--systems", nargs="+", default=[*SYSTEMS], choices=[*SYSTEMS])
    made.add_argument("--trained", default="sick-roberta", help="a trained classifier whose labels are counted")
    made.add_argument("--threads", type=int, default=1)
    options = parse(made, examples=32, permutations=16, shape="roberta-base-3")
    data_folder()
    import torch
    from random_models import SHAPES, random_classifier
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from tests.models.by_name import classifier_label, load_classifier

    torch.set_num_threads(options.threads)
    settings = dict(vars(options), trained=classifier_label(options.trained))  # a folder's path is nobody's business
    title = f"NLI: a {options.shape} with random weights, permuted pairs of SICK"
    report = Report(__file__, title, type(options)(**settings))
    pairs = list(islice(permuted_pairs(options.permutations), options.examples * options.permutations))
    pairs = [pairs[i] for i in np.random.default_rng(0).permutation(len(pairs))]
    with tempfile.TemporaryDirectory() as folder:
        shape = SHAPES[options.shape]
        name = random_classifier(Path(folder) / "roberta", shape)
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForSequenceClassification.from_pretrained(name).eval()
        order = load_classifier(name, device="cpu")._order
        sides = {LOOP: lambda: plain_loop(model, tokenizer, pairs)[:, order]}
        for what in options.systems:
            suffix, dtype, _ = SYSTEMS[what]
            ours = load_classifier(f"{name}{suffix}", device="cpu", dtype=dtype)
            sides[what] = lambda ours=ours: ours.probabilities(pairs, progress=False)
        turns = in_turn(sides, options.repeat)
    loop = turns[LOOP]
    for what in options.systems:
        found, bar = turns[what], SYSTEMS[what][2]
        note = f"{loop.median:.1f} s against {found.median:.1f} s; {agreement(loop.result, found.result)}"
        report.add(f"nbkit, {what}", loop.median / found.median, against=LOOP, bar=bar, note=note)
    ceilings(report, tokenizer, pairs, shape, loop.median)
    trained_labels(report, options.trained, pairs)
    report.write()


if __name__ == "__main__":
    main()
