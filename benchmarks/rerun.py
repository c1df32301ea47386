"""How long it takes to read 85,000 translations again, against making them: a finished grid that is run again.

    NBKIT_DATA=… python benchmarks/rerun.py [--rows 85000] [--sample 200] [--repeat 3] [--quick]

A store is filled under the address of the small real Marian model's translations. A process of its own then asks for
all of them, as a notebook or another run would: its start, imports and the reading are timed together, and it fails
where torch, transformers or CTranslate2 was imported. The first run is made for a sample of Multi30k's captions and
taken times the number: by transformers, the default, and by ``@ct2``, both loaded before the clock starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from reporting import Report, child_seconds, data_folder, in_turn, need, parse, parser

MODEL = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"

AGAIN = """
import sys
from pathlib import Path
from nbkit.models import Decoding
from tests.models.by_name import translate_remembered
from nbkit.store import Store

texts = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
found = translate_remembered(sys.argv[1], texts, "en", "de", Decoding(beams=4), store=Store(), device="cpu")
assert found == [text[::-1] for text in texts]
loaded = {"torch", "transformers", "ctranslate2"} & set(sys.modules)
assert not loaded, loaded
"""


def filled(model: str, texts: list[str]) -> None:
    """Keeps a hypothesis for each of *texts* where the model's would be."""
    from nbkit.models import Decoding
    from nbkit.store import Store
    from tests.models.by_name import translation_config

    config = translation_config(model, "en", "de", Decoding(beams=4), device="cpu")
    inputs = [(text,) for text in texts]
    Store().records(config, inputs, lambda missing: [{"hypothesis": text[::-1]} for (text,) in missing])


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=85_000, help="translations that are read again")
    made.add_argument("--sample", type=int, default=200, help="captions that the first run is timed on")
    options = parse(made, sample=32)
    captions = (data_folder() / "multi30k" / "test_2016_flickr.en").read_text(encoding="utf-8").splitlines()
    need("ctranslate2")
    import torch

    from nbkit.models import Decoding
    from tests.models.by_name import load_translator

    torch.set_num_threads(1)
    report = Report(__file__, "A finished grid run again, against its first run", options)
    texts = [f"Sentence {i} of a corpus, as long as sentences tend to be there." for i in range(options.rows)]
    systems = {"transformers": MODEL, "@ct2": f"{MODEL}@ct2"}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NBKIT_CACHE"] = cache
        filled(MODEL, texts)
        asked = Path(cache, "texts")
        asked.write_text("\n".join(texts) + "\n", encoding="utf-8")
        command = [sys.executable, "-c", AGAIN, MODEL, str(asked)]
        again = in_turn({"again": lambda: subprocess.run(command, check=True)}, options.repeat, child_seconds)["again"]
        report.add(f"{options.rows:,} results read by a new process", again.median, "s", bar="≤ 3",
                   note="start and imports included; no torch, transformers or CTranslate2 imported")  # fmt: skip
        sample = captions[: options.sample]
        loaded = {name: load_translator(model, "en", "de", device="cpu") for name, model in systems.items()}
        first = in_turn(
            {
                name: lambda each=each: each.translate(sample, "en", "de", Decoding(beams=4), progress=False)
                for name, each in loaded.items()
            },
            options.repeat,
        )
    for name in systems:
        seconds = first[name].median / len(sample) * options.rows
        report.add("run again", seconds / again.median, against=f"first run, {name}", bar="≥ 500",
                   note=f"first run {seconds:,.0f} s, from {len(sample)} captions")  # fmt: skip
    report.write()


if __name__ == "__main__":
    main()
