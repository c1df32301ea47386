"""Laws of batching: order restored, equal items once, budgets kept, memory errors survived."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import ModelError
from nbkit.models.batching import is_out_of_memory, run_batches

texts = st.lists(st.text("ab", max_size=12), max_size=40)


@given(texts, st.integers(1, 40), st.integers(1, 50))
def test_results_are_in_order_and_budgets_are_kept(items, budget, window):
    batches = []

    def run(batch):
        batches.append(batch)
        return [item[::-1] for item in batch]

    assert list(run_batches(items, len, run, budget, window=window)) == [item[::-1] for item in items]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(map(len, batch)) <= budget
        assert len(set(batch)) == len(batch)


@given(texts)
def test_equal_items_are_run_once(items):
    seen = []
    list(run_batches(items, len, lambda batch: seen.extend(batch) or batch, budget=20))
    assert sorted(seen) == sorted(set(items))


@given(texts, st.integers(1, 40))
def test_groups_do_not_mix(items, budget):
    def run(batch):
        assert len({len(item) // 4 for item in batch}) == 1
        return batch

    assert list(run_batches(items, len, run, budget, group=lambda item: len(item) // 4)) == items


@given(texts, st.integers(12, 60))
def test_batches_that_do_not_fit_are_halved(items, fits):
    """A machine with room for *fits* tokens: everything is done all the same, nothing twice."""
    done, freed, finished = [], [], []

    def run(batch):
        if len(batch) * max(map(len, batch)) > fits:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes")
        done.extend(batch)
        return batch

    results = run_batches(items, len, run, 1000, free=lambda: freed.append(1), done=finished.append)
    assert list(results) == items
    assert sorted(done) == sorted(set(items))
    assert sum(finished) == len(items)
    if len(set(items)) * max(map(len, items), default=0) > fits:
        assert freed


def test_accelerator_errors_count_and_others_do_not():
    import torch

    assert is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory."))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))

    def broken(batch):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        list(run_batches(["a"], len, broken, 10))


def test_a_single_text_that_does_not_fit():
    def full(batch):
        raise MemoryError

    with pytest.raises(ModelError, match="single text of 3 tokens"):
        list(run_batches(["abc", "a"], len, full, 10))


def test_memory_is_flat_in_the_number_of_items():
    """A stream is taken a window at a time: nothing is read before what was read is answered."""
    taken = 0

    def stream():
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield str(number)

    results = run_batches(stream(), len, lambda batch: batch, 10, window=50)
    next(results)
    assert taken <= 51
    assert sum(1 for _ in results) == 999


def test_a_budget_that_shrank_is_told():
    told = []

    def run(batch):
        if len(batch) > 2:
            raise MemoryError
        return batch

    items = [f"{number:02}" for number in range(20)]
    assert list(run_batches(items, len, run, budget=40, shrunk=told.append)) == items
    assert told == [20, 10, 4]


def test_the_next_window_is_made_ready_while_this_one_is_run():
    """Each waits for the other: one after the other they would wait for ever."""
    taken = [threading.Event() for _ in range(3)]

    def items():
        for number in range(30):
            taken[number // 10].set()
            yield str(number)

    def run(batch):
        following = int(batch[0]) // 10 + 1
        assert following == 3 or taken[following].wait(60)
        return [text * 2 for text in batch]

    found = run_batches(items(), lambda text: 1, run, budget=5, window=10, ahead=True)
    assert next(found) == "00" and not taken[2].is_set()  # a window ahead, and not all there is
    assert list(found) == [str(number) * 2 for number in range(1, 30)]


@given(texts, st.integers(1, 40), st.integers(1, 9))
def test_windows_made_ready_ahead_change_nothing(items, budget, window):
    def run(batch):
        return [item[::-1] for item in batch]

    assert list(run_batches(iter(items), len, run, budget, window=window, ahead=True)) == [i[::-1] for i in items]


def test_an_error_of_the_stream_comes_through_a_thread_too():
    def items():
        yield "a"
        raise ModelError("no more")

    with pytest.raises(ModelError, match="no more"):
        list(run_batches(items(), len, lambda batch: batch, 5, window=1, ahead=True))
