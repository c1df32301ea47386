"""How fast each backend translates, against named peers, measured in one run on one machine.

    NBKIT_DATA=… python benchmarks/backends.py [--pair de] [--texts 200] [--beams 4] [--threads 1] [--repeat 3]
    NBKIT_DATA=… python benchmarks/backends.py --base --length 24 [--texts 64]  # random weights of a base-size Marian

The captions of Multi30k are translated turn by turn by
- transformers' `generate` over batches of 16 in corpus order, as one would write it first;
- nbkit with transformers, with ``@ct2`` and with ``@ct2-int8``;
- CTranslate2 alone: `translate_batch` over the same texts sorted by length, with the same converted model and settings,
  tokenized and detokenized in bulk.

The table gives the median of the seconds of CPU time, how many times as long the plain loop takes (ratio), how many
hypotheses are those of nbkit with transformers, and BLEU where the weights are real. It is printed and written to
``benchmarks/results/`` with machine, versions and settings. Random weights serve for speed alone: their hypotheses
never end before the longest length (``--length``), and rounding them changes nearly all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import sacrebleu
import torch

from nbkit.models import Decoding, load_translator
from nbkit.models.ct2 import CTranslate2Translator, patience
from nbkit.models.seq2seq import Seq2SeqTranslator
from nbkit.provenance import device as device_name

MODEL = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"
LOOP_BATCH = 16
#: Examples of one batch of CTranslate2 alone; of 16, 32, 64 and 128 about the fastest on a CPU core.
RAW_BATCH = 32
#: The shape of opus-mt: Marian's "base" Transformer.
BASE = {
    "d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8,
    "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "max_position_embeddings": 512,
    "activation_function": "swish", "scale_embedding": True,
}  # fmt: skip
BASE_VOCABULARY = 58101
COLUMNS = ("system", "CPU seconds", "ratio", "as nbkit", "BLEU")
Table = list[tuple[str, ...]]


def plain_loop(reference: Seq2SeqTranslator, texts: Sequence[str], decoding: Decoding) -> list[str]:
    """Tokenize, generate and decode sixteen texts at a time, in the order of the corpus."""
    hypotheses = []
    for start in range(0, len(texts), LOOP_BATCH):
        inputs = reference.tokenizer(list(texts[start : start + LOOP_BATCH]), return_tensors="pt", padding=True)
        config = reference._generation_config(None, decoding, decoding.max_new_tokens or 0)
        with torch.inference_mode():
            tokens = reference.model.generate(**inputs, generation_config=config)
        hypotheses += reference.tokenizer.batch_decode(tokens, skip_special_tokens=True)
    return [hypothesis.strip() for hypothesis in hypotheses]


def raw(translator: CTranslate2Translator, texts: Sequence[str], decoding: Decoding) -> list[str]:
    """CTranslate2 without nbkit's batches: equal texts once, sorted by length, in batches of a fixed size."""
    distinct = list(dict.fromkeys(texts))
    rows = translator.tokenizer(distinct)["input_ids"]
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    results = translator.model.translate_batch(
        [list(map(str, rows[i])) for i in order],
        max_batch_size=RAW_BATCH,
        beam_size=decoding.beams,
        patience=patience(decoding),
        max_decoding_length=(decoding.max_new_tokens or 0) - translator._search["forced_end"],
        suppress_sequences=translator._search["suppress_sequences"] or None,
    )
    found = [list(map(int, result.hypotheses[0])) for result in results]
    decoded = translator.tokenizer.batch_decode(found, skip_special_tokens=True)
    by_text = {distinct[i]: text.strip() for i, text in zip(order, decoded, strict=True)}
    return [by_text[text] for text in texts]


def base_model(folder: Path, source: Path) -> str:
    """A Marian model of base size with random weights, and the tokenizer in *source* with words made up."""
    import shutil

    from transformers import MarianConfig, MarianMTModel

    for name in ("source.spm", "target.spm", "tokenizer_config.json"):
        shutil.copy(source / name, folder)
    names = json.loads((source / "vocab.json").read_text(encoding="utf-8"))
    names |= {f"▁word{i}": i for i in range(len(names), BASE_VOCABULARY)}
    (folder / "vocab.json").write_text(json.dumps(names), encoding="utf-8")
    pad, end = names["<pad>"], names["</s>"]
    torch.manual_seed(0)
    config = MarianConfig(
        **BASE, vocab_size=BASE_VOCABULARY, pad_token_id=pad, eos_token_id=end, decoder_start_token_id=pad
    )
    model = MarianMTModel(config)
    model.generation_config.update(bad_words_ids=[[end], [pad]])
    model.save_pretrained(folder)
    return str(folder)


def timed(function: Callable[[], list[str]]) -> tuple[list[str], float]:
    started = time.process_time()
    return function(), time.process_time() - started


def measure(model: str, texts: Sequence[str], references: Sequence[str] | None, options: argparse.Namespace) -> Table:
    """Every system in turn, *repeat* times over; a row each."""
    decoding = Decoding(beams=options.beams, max_new_tokens=options.length)
    ours = {
        f"nbkit{suffix}": load_translator(f"{model}{suffix}", "en", options.pair, device="cpu")
        for suffix in ("", "@ct2", "@ct2-int8")
    }
    systems: dict[str, Callable[[], list[str]]] = {
        "generate, batches of 16": lambda: plain_loop(ours["nbkit"], texts, decoding)
    }
    for name, translator in ours.items():
        systems[name] = lambda each=translator: each.translate(texts, "en", options.pair, decoding, progress=False)
        if name != "nbkit":
            systems[name.replace("nbkit@ct2", "CTranslate2")] = lambda each=translator: raw(each, texts, decoding)
    hypotheses: dict[str, list[str]] = {}
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(options.repeat):  # turn by turn, so that a slow spell of the machine hits all
        for name, run in systems.items():
            hypotheses[name], spent = timed(run)
            seconds[name].append(spent)
    loop = statistics.median(seconds["generate, batches of 16"])
    rows = []
    for name in systems:
        middle = statistics.median(seconds[name])
        same = sum(map(str.__eq__, hypotheses[name], hypotheses["nbkit"]))
        bleu = f"{sacrebleu.corpus_bleu(hypotheses[name], [references]).score:.1f}" if references else "-"
        rows.append((name, f"{middle:.2f}", f"{loop / middle:.2f}", f"{same}/{len(texts)}", bleu))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", default="de", choices=["de", "fr"])
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--length", type=int, default=80, help="the longest hypothesis in tokens")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--base", action="store_true", help="random weights of a base-size Marian model")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if not os.environ.get("NBKIT_DATA"):
        parser.error("NBKIT_DATA is not set: it names the folder of real data")
    folder = Path(os.environ["NBKIT_DATA"]) / "multi30k"
    texts, references = (
        (folder / f"test_2016_flickr.{lang}").read_text(encoding="utf-8").splitlines()[: options.texts]
        for lang in ("en", options.pair)
    )
    small = Path(os.path.expandvars(MODEL).format(src="en", tgt=options.pair))
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["NBKIT_CACHE"] = temporary  # what is converted here is of no use later
        if options.base:
            (Path(temporary) / "base").mkdir()
            rows = measure(base_model(Path(temporary) / "base", small), texts, None, options)
        else:
            rows = measure(str(small), texts, references, options)
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "ctranslate2"))
    settings = (
        f"# {'Marian base, random weights' if options.base else small.name}; {len(texts)} captions, "
        f"beam {options.beams}, at most {options.length} tokens, {options.threads} thread(s), "
        f"median of {options.repeat}; {device_name('cpu')}, python {platform.python_version()}, {packages}"
    )
    lines = [settings, *("\t".join(row) for row in (COLUMNS, *rows))]
    print("\n".join(lines))
    output = Path(__file__).with_name("results") / f"backends{'-base' if options.base else ''}-beam{options.beams}.tsv"
    output.parent.mkdir(exist_ok=True)
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
