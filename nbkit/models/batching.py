"""One room above every backend: equal items once, batches of like length under a token budget, order restored.

A batch that does not fit in memory is halved and the run goes on. Items are taken from a stream a window at a
time, so that memory stays flat however many there are; the next window can be made ready while an accelerator is at
work on this one.
"""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import ClassVar, TypeVar

from nbkit.errors import ModelError

Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")

#: Items looked at together: enough to find many of one length, few enough to be nothing in memory.
WINDOW = 16384
_MEMORY_MESSAGES = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
    "failed to allocate",
    "status_alloc_failed",
)


class Budgeted:
    """A model whose batches have budgets: less from the time on that one did not fit.

    >>> class Model(Budgeted):
    ...     budgets = {"cpu": 2048}
    >>> model = Model()
    >>> model._shrink(500)
    >>> model._budget_on("cpu")
    500
    """

    #: Tokens of a batch after padding, by kind of device.
    budgets: ClassVar[Mapping[str, int]]
    _fitting = sys.maxsize

    def _budget_on(self, kind: str) -> int:
        return min(self._fitting, self.budgets.get(kind, self.budgets["cpu"]))

    def _shrink(self, budget: int) -> None:
        """A batch did not fit; from now on at most *budget*."""
        self._fitting = min(self._fitting, budget)


def run_batches(
    items: Iterable[Item],
    length: Callable[[Item], int],
    run: Callable[[list[Item]], Sequence[Result]],
    budget: int,
    *,
    group: Callable[[Item], Hashable] = lambda item: None,
    window: int = WINDOW,
    done: Callable[[int], object] = lambda count: None,
    free: Callable[[], object] = gc.collect,
    shrunk: Callable[[int], object] = lambda budget: None,
    ahead: bool = False,
) -> Iterator[Result]:
    """The result of every item, in the order of the items.

    length: an item's size in tokens. run: the results of one batch, in its order.
    budget: most tokens of a batch after padding, that is, items × longest; a longer item is a batch of its own.
    group: items of different groups never share a batch. window: how many items are in memory at a time; equal ones
    among them are run once. done: told how many items are finished, for a progress bar.
    free: gives memory back after a batch that did not fit; half of that batch's tokens are the budget from
    then on, and *shrunk* is told of it, so that a later call need not find out again.
    ahead: a thread takes the next window of items (tokenizes it, mostly) while this one is run. That gains where an
    accelerator computes and this process waits, and on a CPU nothing.

    Raises `ModelError` where a single item does not fit.

    >>> calls = []
    >>> def run(batch):
    ...     calls.append(batch)
    ...     return [text.upper() for text in batch]
    >>> list(run_batches(["a", "bbb", "cc", "a", "dddd"], len, run, budget=6))
    ['A', 'BBB', 'CC', 'A', 'DDDD']
    >>> calls
    [['dddd'], ['bbb', 'cc'], ['a']]
    """
    if budget < 1 or window < 1:
        raise ModelError(f"budget and window: at least 1 expected, {budget} and {window} given")
    for taken in _windows(iter(items), window, ahead):
        counts: dict[Item, int] = {}
        for item in taken:
            counts[item] = counts.get(item, 0) + 1
        # Longest first: a batch that does not fit shows at once, and the bar's estimate errs on the safe side.
        waiting = sorted(counts, key=length, reverse=True)
        results: dict[Item, Result] = {}
        start = 0
        while start < len(waiting):
            batch = _next_batch(waiting, start, length, group, budget)
            outcome = _try(run, batch)
            if outcome is None:
                free()
                if len(batch) == 1:
                    raise ModelError(
                        f"out of memory with a single text of {length(batch[0])} tokens: "
                        "take a machine with more memory, a smaller model, fewer beams or a shorter text"
                    )
                budget = max(1, len(batch) // 2 * length(batch[0]))
                shrunk(budget)
                continue
            results.update(zip(batch, outcome, strict=True))
            start += len(batch)
            done(sum(counts[item] for item in batch))
        yield from (results[item] for item in taken)


def _windows(stream: Iterator[Item], size: int, ahead: bool) -> Iterator[list[Item]]:
    """So many items of *stream* at a time; *ahead*: the next ones are taken by a thread meanwhile."""
    if not ahead:
        while taken := list(islice(stream, size)):
            yield taken
        return
    with ThreadPoolExecutor(1, thread_name_prefix="nbkit-ahead") as thread:
        coming = thread.submit(lambda: list(islice(stream, size)))
        while taken := coming.result():
            coming = thread.submit(lambda: list(islice(stream, size)))
            yield taken


def _next_batch(
    waiting: list[Item], start: int, length: Callable[[Item], int], group: Callable[[Item], Hashable], budget: int
) -> list[Item]:
    longest = max(1, length(waiting[start]))
    most = max(1, budget // longest)
    # As few batches as hold what is left, and of one size: a small last one would take longer for each item.
    rest = len(waiting) - start
    batch = waiting[start : start + math.ceil(rest / math.ceil(rest / most))]
    first = group(batch[0])
    return batch[: next((i for i, item in enumerate(batch) if group(item) != first), len(batch))]


def _try(run: Callable[[list[Item]], Sequence[Result]], batch: list[Item]) -> Sequence[Result] | None:
    """The batch's results, or None where memory did not suffice; the error and all it holds are gone by then."""
    try:
        return run(batch)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on the CPU or on an accelerator.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"))
    True
    >>> is_out_of_memory(RuntimeError("shapes do not match"))
    False
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return any(message in str(error).lower() for message in _MEMORY_MESSAGES)
