"""What is done on a GPU, as far as a machine without one can tell."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from nbkit.models import load, loading
from nbkit.models.batching import Budget
from nbkit.models.classify import Classifier
from nbkit.models.lm import LanguageModel
from nbkit.models.seq2seq import Seq2Seq


def test_tensors_go_to_a_gpu_from_pinned_memory(monkeypatch):
    done: list[object] = []

    class Watched:
        def pin_memory(self) -> Watched:
            done.append("pinned")
            return self

        def to(self, device: object, non_blocking: bool = False) -> Watched:
            done.append((str(device), non_blocking))
            return self

    monkeypatch.setattr(torch, "from_numpy", lambda table: Watched())
    loading.padded([(1, 2), (3,)], 0, "cuda")
    assert done == ["pinned", ("cuda", True)]
    done.clear()
    loading.padded([(1, 2), (3,)], 0)
    assert done == [("cpu", False)]


def test_a_gpu_computes_in_bfloat16_unless_another_type_is_set():
    def dtype(device: str, dtype: str) -> str:
        return load("opus-mt", "translate", "en", "de", device=device, dtype=dtype).identity()["dtype"]

    assert (dtype("cuda:1", "auto"), dtype("cuda", "float16"), dtype("cpu", "auto")) == (
        "bfloat16", "float16", "float32",
    )  # fmt: skip


@pytest.mark.parametrize("kind", [Seq2Seq, Classifier, LanguageModel])
def test_batches_of_a_gpu_are_larger(kind):
    assert Budget(kind.budgets, "cuda").tokens > 20 * Budget(kind.budgets, "cpu").tokens
    assert Budget(kind.budgets, "mps").tokens == Budget(kind.budgets, "cpu").tokens


@pytest.mark.parametrize(("gib", "times"), [(8, 1), (32, 1), (80, 2), (139, 4)])
def test_a_gpu_with_more_memory_searches_more_texts_at_a_time(gib, times, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=gib << 30))

    def tokenized(self, reference, folder):
        self.device, self.budget = "cuda", Budget(self.budgets, "cuda")
        self.tokenizer = SimpleNamespace(model_max_length=64)

    config = SimpleNamespace(max_position_embeddings=64)
    network = SimpleNamespace(device=torch.device("cuda"), config=config, generation_config=SimpleNamespace())
    monkeypatch.setattr("nbkit.models.seq2seq.Tokenized.__init__", tokenized)
    monkeypatch.setattr("nbkit.models.seq2seq.load", lambda *_: network)
    assert Seq2Seq(None, None).budget.tokens == 65536 * times
