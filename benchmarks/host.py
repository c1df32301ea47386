"""What nbkit costs a text beside the network: strings to batches, and numbers to results, on one thread.

    python benchmarks/host.py [--texts 20000] [--work opus-mt m2m100 nli gpt2 remembered] [--quick]

An accelerator waits for what is slower than itself. The networks here answer at once, with zeros; all else is what runs
on an accelerator, in its batches. ``remembered`` is gpt2 with every perplexity kept in the store. The peer is
transformers' tokenizer alone, called for a thousand texts at a time, and its way back to text.

The bars are what an H200's whole time for the work leaves for one text (the bars of ``gpu.py``). Tokenizing is left out
of them: it takes as many threads as there are, and its time on one stands in the note.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from random_models import SHAPES, drawn_texts, random_classifier, random_language_model, random_translator
from reporting import Report, in_turn, parse, parser

CHUNK = 1024
#: Tokens of a hypothesis.
LENGTH = 25
#: Seconds that an H200 may take, and texts.
LEFT = {
    "opus-mt": (10, 80_000),
    "m2m100": (25, 80_000),
    "nli": (60, 981_500),
    "gpt2": (75, 3_900_000),
    "remembered": (75, 3_900_000),
}
#: What is called for all texts: nbkit, its tokenizing alone, transformers' tokenizer.
Sides = tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]


def chunks(items: list[Any]) -> Iterator[list[Any]]:
    return (items[start : start + CHUNK] for start in range(0, len(items), CHUNK))


def as_on_an_accelerator(model: Any) -> Any:
    """With the batches it has there."""
    model.network.budget.tokens = type(model.network).budgets["cuda"]
    return model


def translating(folder: Path, architecture: str, n: int) -> Sides:
    from nbkit.models import Decoding, load
    from tests.models.by_name import load_translator

    name = random_translator(folder, SHAPES["tiny"], architecture)
    translator = as_on_an_accelerator(load_translator(name, "en", "de", device="cpu"))
    network, reference = translator.network, load(name, "translate", "en", "de").reference
    network._generate = lambda batch, target, decoding, limit: [list(ids[:LENGTH]) for ids in batch]
    texts = list(drawn_texts(n, (8, 20), "sentences"))
    decoding = Decoding(beams=4, max_new_tokens=LENGTH)

    def tokenize() -> None:
        rows = [list(ids[:LENGTH]) for ids in network.encoded(reference, texts)]
        network.tokenizer.batch_decode(rows, skip_special_tokens=True)

    def theirs() -> None:
        for chunk in chunks(texts):
            rows = translator.tokenizer(chunk, truncation=False, verbose=False)["input_ids"]
            translator.tokenizer.batch_decode([ids[:LENGTH] for ids in rows], skip_special_tokens=True)

    return lambda: translator.translate(texts, "en", "de", decoding, progress=False), tokenize, theirs


def classifying(folder: Path, n: int) -> Sides:
    import torch

    from tests.models.by_name import load_classifier

    classifier = as_on_an_accelerator(load_classifier(random_classifier(folder, SHAPES["tiny"]), device="cpu"))
    network = classifier.network

    def zeros(input_ids: Any) -> Any:
        return SimpleNamespace(logits=torch.zeros(len(input_ids), 3))

    zeros.device = torch.device("cpu")  # type: ignore[attr-defined]
    network.model = zeros
    premises = list(drawn_texts(n, (8, 16), "premises"))
    pairs = list(zip(premises, drawn_texts(n, (5, 9), "hypotheses"), strict=True))
    tokenizer = classifier.tokenizer

    def theirs() -> None:
        for chunk in chunks(pairs):
            tokenizer(*map(list, zip(*chunk, strict=True)), return_attention_mask=False, verbose=False)

    def tokenize() -> None:
        network._tokenized(pairs, truncation=False)

    return lambda: sum(1 for _ in classifier.rows(pairs)), tokenize, theirs


def scoring(folder: Path, n: int, *, remembered: bool) -> Sides:
    import torch

    from nbkit.models.answers import Weights
    from nbkit.store import Store
    from tests.models.by_name import iter_perplexities, load_language_model

    name = random_language_model(folder, SHAPES["tiny"])
    model = as_on_an_accelerator(load_language_model(name, device="cpu"))
    network = model.network
    network.output.states = lambda chosen, **_: torch.zeros(int(chosen.sum()), 1)
    network.output.log_probabilities = lambda states, tokens: torch.zeros(tokens.shape)
    texts = list(drawn_texts(n, (6, 12), "scored"))
    Weights.network = lambda self: network  # type: ignore[method-assign]
    stores: Iterator[Store] = (Store(folder / f"store-{time.time_ns()}") for _ in iter(int, 1))

    def ours() -> Any:
        if not remembered:
            return sum(1 for _ in model.likelihoods(texts))
        found = iter_perplexities(name, texts, store=next(stores), device="cpu", progress=False)
        return sum(1 for _ in found)

    def theirs() -> None:
        for chunk in chunks(texts):
            model.tokenizer(chunk, add_special_tokens=False, return_attention_mask=False, verbose=False)

    def tokenize() -> None:
        model.tokenizer(texts, add_special_tokens=False, return_attention_mask=False, verbose=False)

    return ours, tokenize, theirs


WORK: dict[str, Callable[[Path, int], Sides]] = {
    "opus-mt": lambda folder, n: translating(folder, "marian", n),
    "m2m100": lambda folder, n: translating(folder, "m2m100", n),
    "nli": classifying,
    "gpt2": lambda folder, n: scoring(folder, n, remembered=False),
    "remembered": lambda folder, n: scoring(folder, n, remembered=True),
}


def main(arguments: Sequence[str] | None = None, results: Path | None = None) -> Path:
    """Returns where the table is written. results: another folder than the project's."""
    made = parser(__doc__, repeat=5)  # a difference of two times is looked at, of which each varies
    made.add_argument("--texts", type=int, default=20_000)
    made.add_argument("--work", nargs="+", default=list(WORK), choices=list(WORK))
    options = parse(made, arguments, texts=5_000)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch

    torch.set_num_threads(1)
    report = Report(__file__, "What nbkit costs beside the network, on one thread, fastest of the turns", options)
    with tempfile.TemporaryDirectory() as folder:
        for work in options.work:
            names = ("nbkit", "tokenizing", "transformers")
            sides = dict(zip(names, WORK[work](Path(folder) / work, options.texts), strict=True))
            in_turn(sides, 1)  # what is learnt once, such as the ids of pieces
            ours, tokenizing, theirs = (turns.least for turns in in_turn(sides, options.repeat).values())
            each = 1e6 / options.texts
            note = f"{ours * each:.0f} µs in all, {tokenizing * each:.0f} µs of them tokenizing"
            seconds, texts = LEFT[work]
            bar = f"≤ {1e6 * seconds / texts:.0f}"
            report.add(f"{work}: a text beside tokenizing", (ours - tokenizing) * each, "µs", bar=bar, note=note)
            note = f"{theirs * each:.0f} µs"
            report.add(f"{work}: a text, all of it", theirs / ours, against="transformers' tokenizer alone", note=note)
    return report.write(results)


if __name__ == "__main__":
    main()
