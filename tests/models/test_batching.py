"""Laws of batching: order restored, equal items once, budgets kept, memory errors survived."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import ModelError
from nbkit.models.batching import Budget, is_out_of_memory, warn_of_cuts, windows

texts = st.lists(st.text("ab", max_size=12), max_size=40)


@given(texts, st.integers(1, 40))
def test_results_are_in_order_and_budgets_are_kept(items, tokens):
    batches = []

    def run(batch):
        batches.append(batch)
        return [item[::-1] for item in batch]

    assert Budget({"cpu": tokens}, "cpu").results(items, len, run) == [item[::-1] for item in items]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(map(len, batch)) <= tokens
    seen = [item for batch in batches for item in batch]
    assert sorted(seen) == sorted(set(items))  # equal items are run once


@given(texts, st.integers(1, 40))
def test_groups_do_not_mix(items, tokens):
    def run(batch):
        assert len({len(item) // 4 for item in batch}) == 1
        return batch

    assert Budget({"cpu": tokens}, "cpu").results(items, len, run, group=lambda item: len(item) // 4) == items


@given(texts, st.integers(12, 60))
def test_batches_that_do_not_fit_are_halved(items, fits):
    """A machine with room for *fits* tokens: everything is done all the same, nothing twice, and it is remembered."""
    done, refused, budget = [], [], Budget({"cpu": 1000}, "cpu")

    def run(batch):
        if len(batch) * max(map(len, batch)) > fits:
            refused.append(batch)
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes")
        done.extend(batch)
        return batch

    assert budget.results(items, len, run) == items
    assert sorted(done) == sorted(set(items))
    if refused:
        assert budget.tokens < 1000
        refused.clear()
        longest = max(map(len, items))
        budget.results([item for item in items if len(item) == longest], len, run)
        assert not refused


@pytest.mark.parametrize("most", [1, 2, 5, 17])
def test_a_device_that_holds_so_many_items_gets_no_more_of_them(most):
    sizes, budget = [], Budget({"cpu": 4096}, "cpu")

    def run(batch):
        sizes.append(len(batch))
        if len(batch) > most:
            raise MemoryError
        return batch

    items = [f"{number:02}" for number in range(40)]
    assert budget.results(items, len, run) == items
    assert max(sizes) > most and len([size for size in sizes if size > most]) <= 6
    assert 1 <= budget.tokens // 2 <= most


def test_accelerator_errors_count_and_others_do_not():
    import torch

    assert is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory."))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))

    def broken(batch):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        Budget({"cpu": 10}, "cpu").results(["a"], len, broken)


def test_a_single_text_that_does_not_fit():
    def full(batch):
        raise MemoryError

    with pytest.raises(ModelError, match="single text of 3 tokens"):
        Budget({"cpu": 10}, "cpu").results(["abc", "a"], len, full)


def test_memory_on_an_accelerator_is_emptied(monkeypatch):
    import torch

    emptied = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(1))

    def run(batch):
        if len(batch) > 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return batch

    assert Budget({"cpu": 1, "cuda": 100}, "cuda").results("abcdef", len, run) == list("abcdef")
    assert emptied


def test_a_stream_is_taken_a_window_at_a_time():
    stream = iter(range(1000))
    first = next(windows(stream, 50))
    assert first == list(range(50)) and next(stream) == 50


def test_one_warning_names_the_first_text_that_is_cut():
    with pytest.warns(UserWarning) as given:
        warn_of_cuts("model 'x'", ["short", "long " * 20, "longer " * 20], [1, 20, 40], 10)
    assert [str(each.message)[:46] for each in given] == ["model 'x': 20 tokens cut to its 10 positions: "]
