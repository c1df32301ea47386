"""Memory that runs out in the middle of work that is remembered: what an accelerator says, injected on a CPU."""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name

import pytest

from nbkit.errors import ModelError
from nbkit.models import Decoding, ask, load, missing, model
from nbkit.store import Store
from tests.models.by_name import translate_remembered

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

    def __get__(self, network, kind):
        return partial(self, network)

    def __call__(self, network, batch, *arguments, **options):
        self.sizes.append(len(batch))
        if len(batch) > self.rows:
            raise RuntimeError(self.message)
        return self.run(network, batch, *arguments, **options)

    @property
    def refused(self) -> int:
        return sum(size > self.rows for size in self.sizes)


@pytest.fixture
def texts(sentences) -> list[str]:
    return [f"{sentence} {number}" for number in range(4) for sentence in sentences]


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(model, "_kept", {})


@pytest.mark.parametrize(
    ("backend", "message", "kind"),
    [
        ("", TORCH, "nbkit.models.seq2seq:Seq2Seq"),
        ("", CUBLAS, "nbkit.models.seq2seq:Seq2Seq"),
        ("@ct2", CTRANSLATE2, "nbkit.models.ct2:Converted"),
    ],
    ids=["torch", "cublas", "ct2"],
)
def test_the_same_is_stored_as_with_memory_enough(backend, message, kind, checkpoints, texts, tmp_path, monkeypatch):
    if backend:
        pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')
    name, kind = f"{checkpoints['marian']}{backend}", resolve_name(kind)
    expected = translate_remembered(name, texts, "en", "de", SHORT, store=None, progress=False)
    monkeypatch.setattr(model, "_kept", {})
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


def test_a_text_that_never_fits_is_reported_and_what_came_is_stored(checkpoints, texts, tmp_path, monkeypatch):
    store, kind, translated = Store(tmp_path), resolve_name("nbkit.models.seq2seq:Seq2Seq"), []
    marian = load(str(checkpoints["marian"]), "translate", "en", "de", decoding=SHORT)
    inputs, run = [(text,) for text in texts], kind._generate

    def broken(network, batch, *arguments, **options):
        if len(translated) + len(batch) > 5:
            raise RuntimeError(TORCH)
        translated.extend(batch)
        return run(network, batch, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "_generate", broken)
        with pytest.raises(ModelError, match=r"out of memory with a single text of \d+ tokens: .*a smaller model"):
            list(ask(marian, inputs, store, progress=False))
    assert 0 < len(missing(marian, inputs, store)) < len(texts)  # what came before is stored
    assert len(list(ask(marian, inputs, store, progress=False))) == len(texts)
    assert missing(marian, inputs, store) == []
