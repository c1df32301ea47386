"""What is done on a GPU, as far as a machine without one can tell."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from nbkit.models.backends import backend_identity
from nbkit.models.classifiers import classifier
from nbkit.models.language_models import language_model
from nbkit.models.loading import on_device
from nbkit.models.translators.seq2seq import Seq2SeqTranslator

CPU, GPU = torch.device("cpu"), torch.device("cuda")


class Watched:
    """A tensor that says what is done with it."""

    def __init__(self, *done: object):
        self.done = done

    def pin_memory(self) -> Watched:
        return Watched(*self.done, "pinned")

    def to(self, device: torch.device, non_blocking: bool = False) -> Watched:
        return Watched(*self.done, device.type, non_blocking)


def test_tensors_go_to_a_gpu_from_pinned_memory_and_nowhere_else():
    assert on_device(Watched(), GPU).done == ("pinned", "cuda", True)
    assert on_device(Watched(), CPU).done == ("cpu", False)
    tensor = torch.ones(2)
    assert on_device(tensor, CPU) is tensor


def test_a_gpu_computes_in_bfloat16_unless_it_is_told_otherwise():
    assert backend_identity("cuda:1", "auto")["dtype"] == "bfloat16"
    assert backend_identity("cuda", "float16")["dtype"] == "float16"
    assert backend_identity("cpu", "auto")["dtype"] == "float32"


@pytest.mark.parametrize(("device", "ahead"), [(CPU, False), (GPU, True)])
def test_texts_are_tokenized_ahead_where_a_gpu_computes(device, ahead, monkeypatch):
    given = []
    monkeypatch.setattr("nbkit.models.batching.run_batches", lambda *_, **options: given.append(options))
    pairs = object.__new__(classifier.PairClassifier)
    pairs.device, pairs._encoded = device, lambda items: items
    pairs.rows([("a", "b")])
    texts = object.__new__(language_model.CausalLanguageModel)
    texts.device, texts.tokenizer = device, SimpleNamespace(bos_token_id=0)
    texts._encoder = SimpleNamespace(contents=lambda items, before: iter(items))
    texts.likelihoods(["a"])
    assert [options["ahead"] for options in given] == [ahead] * 2
    budgets = (131072, 131072) if ahead else (1024, 2048)
    assert tuple(options["budget"] for options in given) == budgets
    # What did not fit is known from then on, to this model alone.
    given[0]["shrunk"](500)
    assert pairs._budget == 500 and texts._budget == budgets[1]


@pytest.mark.parametrize(("gib", "times"), [(8, 1), (32, 1), (80, 2), (139, 4)])
def test_a_gpu_with_more_memory_searches_more_texts_at_a_time_until_they_do_not_fit(gib, times, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=gib << 30))
    translator = object.__new__(Seq2SeqTranslator)
    translator.device, translator.kind = GPU, "cuda"
    assert (translator._search_budget, translator._budget) == (65536 * times, 65536)
    translator._shrink(70_000)
    assert translator._search_budget == min(65536 * times, 70_000)
    translator._shrink(500)
    assert (translator._search_budget, translator._budget) == (500, 500)
    translator.device, translator.kind = CPU, "cpu"
    assert translator._search_budget == 500
