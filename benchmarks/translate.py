"""How much faster batching makes translation, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/translate.py [--pair de] [--texts 1000] [--threads 1] [--repeat 2]

The small Marian model of NBKIT_DATA translates Multi30k test twice: with a plain loop of transformers' `generate` over
batches of 16 in corpus order, and with nbkit. Printed are the seconds of CPU time (so that other work on the machine
counts less), their ratio, and every hypothesis that differs, with both scores: a near-tie, not an error. Then what a
grid comes to: how many texts 16 perturbations, their control and the unperturbed side are, and how many distinct ones
of these the model is given.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import torch
from transformers import AutoModelForSeq2SeqLM

from nbkit.corpora import load_pairs
from nbkit.models import Decoding, load_translator
from nbkit.perturb import perturb_all

MODEL = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"
LOOP_BATCH = 16


def plain_loop(model, tokenizer, texts: list[str], decoding: Decoding) -> list[str]:
    """What one would write first: tokenize, generate and decode sixteen texts at a time."""
    hypotheses = []
    for start in range(0, len(texts), LOOP_BATCH):
        inputs = tokenizer(texts[start : start + LOOP_BATCH], return_tensors="pt", padding=True)
        with torch.inference_mode():
            tokens = model.generate(**inputs, num_beams=decoding.beams, max_new_tokens=decoding.max_new_tokens)
        hypotheses += tokenizer.batch_decode(tokens, skip_special_tokens=True)
    return [hypothesis.strip() for hypothesis in hypotheses]


def timed(function: Callable[[], list[str]]) -> tuple[list[str], float]:
    started = time.process_time()
    return function(), time.process_time() - started


def compare(translator, model, texts: list[str], pair: str, decoding: Decoding, repeat: int) -> None:
    loop_seconds, our_seconds = [], []
    for _ in range(repeat):  # turn by turn, so that a slow spell of the machine hits both
        loop, seconds = timed(lambda: plain_loop(model, translator.tokenizer, texts, decoding))
        loop_seconds.append(seconds)
        ours, seconds = timed(lambda: translator.translate(texts, "en", pair, decoding, progress=False))
        our_seconds.append(seconds)
    different = [i for i in range(len(texts)) if loop[i] != ours[i]]
    print(
        f"beam {decoding.beams}: loop {min(loop_seconds):.1f} s, nbkit {min(our_seconds):.1f} s, "
        f"ratio {min(loop_seconds) / min(our_seconds):.2f}, {len(texts) - len(different)} of {len(texts)} identical"
    )
    if different:
        sources = [texts[i] for i in different]
        scores = (translator.score(sources, [side[i] for i in different], "en", pair) for side in (loop, ours))
        for i, first, second in zip(different, *scores, strict=True):
            print(f"  {i}: {first:.5f} {loop[i]}\n  {' ' * len(str(i))}  {second:.5f} {ours[i]}")


def count_distinct(translator, pair: str, n: int = 100) -> None:
    """Counts what reaches the model of a grid's texts: sandbox sentences under all perturbations."""
    texts = []
    for entry in load_pairs("sandbox", "en", pair, n=n):
        for orders in perturb_all(entry.source).values():
            if orders is not None:  # every perturbation asks for its own text, the control and the plain one
                texts += [entry.source.reorder(orders), entry.source.joined, entry.source.text]
    given, generate = 0, translator._generate

    def counted(batch, *rest):
        nonlocal given
        given += len(batch)
        return generate(batch, *rest)

    translator._generate = counted
    translator.translate(texts, "en", pair, Decoding(beams=1, max_new_tokens=8), progress=False)
    print(f"grid: {n} sentences are {len(texts)} texts; {len(set(texts))} are distinct, and {given} were translated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", default="de", choices=["de", "fr"])
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if not os.environ.get("NBKIT_DATA"):
        parser.error("NBKIT_DATA is not set: it names the folder of real data")
    folder = Path(os.environ["NBKIT_DATA"]) / "multi30k"
    texts = (folder / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()[: options.texts]
    translator = load_translator(MODEL, "en", options.pair, device="cpu")
    model = AutoModelForSeq2SeqLM.from_pretrained(os.path.expandvars(MODEL).format(src="en", tgt=options.pair)).eval()
    model.generation_config.max_length = None  # of two limits transformers would warn at every batch
    print(f"{len(texts)} captions, en→{options.pair}, {options.threads} thread(s), torch {torch.__version__}")
    for beams in (1, 4):
        compare(translator, model, texts, options.pair, Decoding(beams=beams, max_new_tokens=80), options.repeat)
    count_distinct(translator, options.pair)


if __name__ == "__main__":
    main()
