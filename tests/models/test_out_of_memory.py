"""Memory that runs out in the middle of work that is remembered: what an accelerator says, injected on a CPU."""

from __future__ import annotations

from functools import partial

import pytest

from nbkit.errors import ModelError
from nbkit.models import Decoding, load_translator, translate_remembered
from nbkit.models.backends import Kept
from nbkit.models.translators.lifecycle import TRANSLATOR, translation_config
from nbkit.models.translators.seq2seq import TokenizedTranslator
from nbkit.store import Store

SHORT = Decoding(beams=2, max_new_tokens=8)
TORCH = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB"
#: What the other engine says, and what cuBLAS does where its workspace does not fit.
CTRANSLATE2 = "CUDA failed with error out of memory"
CUBLAS = "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"


class Memory:
    """Holds so many rows; what asks for more gets the error, and is counted."""

    def __init__(self, run, rows: int, message: str):
        self.run, self.rows, self.message = run, rows, message
        self.sizes: list[int] = []

    def __get__(self, translator, kind):
        return partial(self, translator)

    def __call__(self, translator, batch, *arguments, **options):
        self.sizes.append(len(batch))
        if len(batch) > self.rows:
            raise RuntimeError(self.message)
        return self.run(translator, batch, *arguments, **options)

    @property
    def refused(self) -> int:
        return sum(size > self.rows for size in self.sizes)


@pytest.fixture
def texts(sentences) -> list[str]:
    return [f"{sentence} {number}" for number in range(4) for sentence in sentences]


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(TRANSLATOR, "loaded", Kept(2))


@pytest.mark.parametrize(
    ("backend", "message"), [("", TORCH), ("", CUBLAS), ("@ct2", CTRANSLATE2)], ids=["torch", "cublas", "ct2"]
)
def test_the_same_is_stored_as_with_memory_enough(backend, message, checkpoints, texts, tmp_path, monkeypatch):
    if backend:
        pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')
    name = f"{checkpoints['marian']}{backend}"
    expected = load_translator(name, "en", "de").translate(texts, "en", "de", SHORT, progress=False)
    kind: type[TokenizedTranslator] = type(load_translator(name, "en", "de"))
    memory = Memory(kind._generate, 3, message)
    monkeypatch.setattr(kind, "_generate", memory)
    store = Store(tmp_path)
    found = translate_remembered(name, texts, "en", "de", SHORT, store=store, progress=False)
    assert found == expected and memory.refused and max(memory.sizes) > 3
    # What fits is known to the model then: nothing is asked for in vain again.
    refused = memory.refused
    more = [text.upper() for text in texts]
    translate_remembered(name, more, "en", "de", SHORT, store=store, progress=False)
    assert memory.refused == refused
    assert translate_remembered(name, texts, "en", "de", SHORT, store=Store(tmp_path), progress=False) == expected


def test_a_text_that_never_fits_is_told_and_what_was_stored_is_kept(checkpoints, texts, tmp_path, monkeypatch):
    name, store = str(checkpoints["marian"]), Store(tmp_path)
    expected = load_translator(name, "en", "de").translate(texts, "en", "de", SHORT, progress=False)
    kind = type(load_translator(name, "en", "de"))
    run, records, translated = kind._generate, store.records, []

    def broken(translator, batch, *arguments, **options):
        translated.extend(batch)
        if len(translated) > 20:
            raise RuntimeError(TORCH)
        return run(translator, batch, *arguments, **options)

    monkeypatch.setattr(store, "records", lambda *given, **more: records(*given, **more, shard=10))
    with monkeypatch.context() as patch:
        patch.setattr(kind, "_generate", broken)
        with pytest.raises(ModelError, match=r"out of memory with a single text of \d+ tokens: .*a smaller model"):
            translate_remembered(name, texts, "en", "de", SHORT, store=store, progress=False)
    config = translation_config(name, "en", "de", SHORT)
    assert store.missing(config, [(text,) for text in texts]) == [(text,) for text in texts[20:]]
    translated.clear()
    monkeypatch.setattr(
        kind, "_generate", lambda own, batch, *a, **o: translated.extend(batch) or run(own, batch, *a, **o)
    )
    assert translate_remembered(name, texts, "en", "de", SHORT, store=store, progress=False) == expected
    assert len(translated) == len(texts) - 20
