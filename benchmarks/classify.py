"""How much faster batching makes classifying, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/classify.py [--examples 200] [--permutations 4] [--threads 1] [--repeat 2]

A RoBERTa of the base size (random weights, a vocabulary learnt from SICK) classifies permuted pairs of SICK's test set
in shuffled order, twice: with a plain loop over padded batches of 32, and with nbkit. Printed are the seconds of CPU
time (so that other work on the machine counts less), their ratio, and whether the labels are identical. Then what
memory a stream takes: a small InferSent classifies 20,000 and 80,000 pairs; after each the process's peak is printed.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from nbkit.corpora.nli import load_nli, raw_nli
from nbkit.models import ClassifierRecipe, load_classifier
from nbkit.models.classifier_architecture import new_classifier
from nbkit.models.classifier_vocabulary import train_tokenizer
from nbkit.perturb.derangements import derange_pair

LOOP_BATCH = 32
SIZES = {
    "roberta": {"width": 768, "ffn": 3072, "heads": 12, "layers": 12, "vocabulary": 50000},
    "infersent": {"width": 64, "embedding": 50, "comparison": 64},
}

Pair = tuple[str, str]


def save_random(architecture: str, folder: Path) -> Path:
    """A classifier with random weights, wide enough that pairs get different labels."""
    recipe = ClassifierRecipe(architecture=architecture, steps=1, **SIZES[architecture])
    texts = [text for premise, hypothesis, _ in raw_nli("sick:train", "en") for text in (premise, hypothesis)]
    tokenizer = train_tokenizer(texts, recipe)
    torch.manual_seed(0)
    model = new_classifier(recipe, tokenizer)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.normal_(0, 0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def permuted_pairs(n: int) -> Iterator[Pair]:
    """The *n* permutations of each pair of SICK's test set that has so many."""
    for pair in load_nli("sick:test", "en", parsers={"en": "tokenizer"}):
        found = derange_pair(pair.premise, pair.hypothesis, n)
        if found is not None:
            yield from found.texts()


def plain_loop(model, tokenizer, pairs: list[Pair]) -> np.ndarray:
    """What one would write first: tokenize and classify thirty-two pairs at a time."""
    rows = []
    for start in range(0, len(pairs), LOOP_BATCH):
        premises, hypotheses = map(list, zip(*pairs[start : start + LOOP_BATCH], strict=True))
        inputs = tokenizer(premises, hypotheses, return_tensors="pt", padding=True, truncation=True)
        with torch.inference_mode():
            rows.append(model(**inputs).logits.softmax(-1).numpy())
    return np.concatenate(rows)


def timed(function: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    started = time.process_time()
    return function(), time.process_time() - started


def compare(pairs: list[Pair], folder: Path, repeat: int) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    classifier = load_classifier(str(folder), device="cpu")
    loop_seconds, our_seconds = [], []
    for _ in range(repeat):  # turn by turn, so that a slow spell of the machine hits both
        loop, seconds = timed(lambda: plain_loop(model, tokenizer, pairs))
        loop_seconds.append(seconds)
        ours, seconds = timed(lambda: classifier.probabilities(pairs, progress=False))
        our_seconds.append(seconds)
    same = int((loop.argmax(1) == ours.argmax(1)).sum())
    print(
        f"loop {min(loop_seconds):.1f} s, nbkit {min(our_seconds):.1f} s, "
        f"ratio {min(loop_seconds) / min(our_seconds):.2f}; {same} of {len(pairs)} labels identical "
        f"({np.bincount(ours.argmax(1), minlength=3).tolist()} of each), "
        f"largest difference of a probability {abs(loop - ours).max():.1e}"
    )


def watch_memory(folder: Path, permutations: int) -> None:
    classifier = load_classifier(str(folder), device="cpu")
    for n in (20_000, 80_000):
        pairs = islice(permuted_pairs(permutations), n)
        deque(classifier.rows(pairs), maxlen=0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"stream of {n} pairs: at most {peak:.0f} MiB in use so far")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if not os.environ.get("NBKIT_DATA"):
        parser.error("NBKIT_DATA is not set: it names the folder of real data")
    pairs = list(islice(permuted_pairs(options.permutations), options.examples * options.permutations))
    order = np.random.default_rng(0).permutation(len(pairs))
    with tempfile.TemporaryDirectory() as folder:
        print(
            f"{options.examples} pairs of SICK, {options.permutations} permutations each, "
            f"{options.threads} thread(s), torch {torch.__version__}"
        )
        compare([pairs[i] for i in order], save_random("roberta", Path(folder) / "roberta"), options.repeat)
        watch_memory(save_random("infersent", Path(folder) / "infersent"), 100)


if __name__ == "__main__":
    main()
