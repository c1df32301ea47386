"""How much faster batching makes translation, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/translate.py [--pair de] [--texts 1000] [--threads 1] [--repeat 2]

The small Marian model of NBKIT_DATA translates Multi30k test twice: with a plain loop of transformers' `generate` over
batches of 16 in corpus order, and with nbkit. Printed are the seconds of CPU time (so that other work on the machine
counts less), their ratio, and every hypothesis that differs, with both scores: a near-tie, not an error. Then how
many texts the 16 perturbations and the control of a grid come to, and how many of them are translated.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import torch

from nbkit.models import Decoding, load_translator

MODEL = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"
LOOP_BATCH = 16


def plain_loop(translator, texts: list[str], decoding: Decoding) -> list[str]:
    """What one would write first: tokenize, generate and decode sixteen texts at a time."""
    hypotheses = []
    for start in range(0, len(texts), LOOP_BATCH):
        batch = texts[start : start + LOOP_BATCH]
        inputs = translator.tokenizer(batch, return_tensors="pt", padding=True)
        with torch.inference_mode():
            tokens = translator.model.generate(
                **inputs,
                num_beams=decoding.beams,
                length_penalty=decoding.length_penalty,
                early_stopping=decoding.early_stopping,
                max_new_tokens=decoding.max_new_tokens,
                decoder_start_token_id=translator.model.config.decoder_start_token_id,
                pad_token_id=translator.model.config.pad_token_id,
                eos_token_id=translator.model.config.eos_token_id,
            )
        hypotheses += translator.tokenizer.batch_decode(tokens, skip_special_tokens=True)
    return [hypothesis.strip() for hypothesis in hypotheses]


def timed(function: Callable[[], list[str]]) -> tuple[list[str], float]:
    started = time.process_time()
    return function(), time.process_time() - started


def compare(translator, texts: list[str], pair: str, decoding: Decoding, repeat: int) -> None:
    loop_seconds, our_seconds = [], []
    for _ in range(repeat):  # turn by turn, so that a slow spell of the machine hits both
        loop, seconds = timed(lambda: plain_loop(translator, texts, decoding))
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
    print(f"{len(texts)} captions, en→{options.pair}, {options.threads} thread(s), torch {torch.__version__}")
    for beams in (1, 4):
        compare(translator, texts, options.pair, Decoding(beams=beams, max_new_tokens=80), options.repeat)


if __name__ == "__main__":
    main()
