"""How much faster nbkit scores texts by GPT-2 than a plain loop, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/perplexity.py [--texts 200] [--shape gpt2] [--threads 1] [--repeat 3] [--quick]

Captions of Multi30k, in corpus order, are scored by a GPT-2 with random weights turn by turn: by a plain loop over
padded batches of 32, which takes all logits and their log-softmax; by nbkit on torch. Beside the
ratio of the medians stands by how much perplexities differ from the loop's.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Report, data_folder, in_turn, parse, parser

LOOP = "batches of 32, in order"
LOOP_BATCH = 32
#: By the suffix of the name.
SYSTEMS = {"nbkit, torch": ""}


def plain_loop(model: Any, tokenizer: Any, texts: list[str]) -> np.ndarray:
    """exp of the mean negative log-probability of each text's tokens, the first one after the token that begins."""
    import torch

    found: list[float] = []
    for start in range(0, len(texts), LOOP_BATCH):
        batch = [f"{tokenizer.bos_token}{text}" for text in texts[start : start + LOOP_BATCH]]
        inputs = tokenizer(batch, return_tensors="pt", padding=True)
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        with torch.inference_mode():
            log_p = model(**inputs).logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        present = mask[:, 1:]
        found += (-(log_p * present).double().sum(1) / present.sum(1)).exp().tolist()
    return np.array(found)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--texts", type=int, default=200)
    made.add_argument("--shape", default="gpt2")
    made.add_argument("--threads", type=int, default=1)
    options = parse(made, texts=64, shape="gpt2-3")
    folder = data_folder()
    import torch
    from random_models import SHAPES, random_language_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tests.models.by_name import load_language_model

    torch.set_num_threads(options.threads)
    report = Report(__file__, f"Perplexities: a {options.shape} with random weights, captions of Multi30k", options)
    lines = (folder / "multi30k" / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()
    texts = lines[: options.texts]
    with tempfile.TemporaryDirectory() as temporary:
        name = random_language_model(Path(temporary) / "gpt2", SHAPES[options.shape])
        tokenizer = AutoTokenizer.from_pretrained(name)
        tokenizer.pad_token = tokenizer.eos_token
        model = AutoModelForCausalLM.from_pretrained(name).eval()
        sides = {LOOP: lambda: plain_loop(model, tokenizer, texts)}
        for what, suffix in SYSTEMS.items():
            ours = load_language_model(f"{name}{suffix}", device="cpu")
            sides[what] = lambda ours=ours: ours.perplexities(texts, progress=False)
        turns = in_turn(sides, options.repeat)
    loop = turns[LOOP]
    for what in SYSTEMS:
        differ = abs(turns[what].result / loop.result - 1)
        note = f"{loop.median:.2f} s against {turns[what].median:.2f} s; "
        note += f"perplexities differ by {100 * differ.max():.1g} % at most, {100 * differ.mean():.1g} % on average"
        report.add(what, loop.median / turns[what].median, against=LOOP, note=note)
    report.write()


if __name__ == "__main__":
    main()
