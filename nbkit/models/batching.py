"""Batching for every backend: equal items once, batches of similar length under a token budget, order restored.

A batch that does not fit in memory is halved, and the run continues. Items are read from a stream one window at a
time, so that memory is constant; the next window can be prepared while an accelerator works on the current one.
"""

from __future__ import annotations

import gc
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, ClassVar, TypeVar

from nbkit.errors import ModelError

Item = TypeVar("Item", bound=Hashable)


Result = TypeVar("Result")


#: Items per window: enough to find many of one length, few enough to need little memory.
WINDOW = 16384


_MEMORY_MESSAGES = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
    "failed to allocate",
    "status_alloc_failed",
)


class CutWarning:
    """Warns of the first text that is truncated to the positions of the model *what*, and of no other.

    >>> warn = CutWarning("model 'tiny'")
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warn(90, "its 64 positions", "a long story"), warn(70, "its 64 positions", "another one")
    (None, None)
    >>> [str(each.message) for each in given]
    ["model 'tiny': 90 tokens cut to its 64 positions: 'a long story' …"]
    """

    def __init__(self, what: str):
        self.what, self._was_given = what, False

    def __call__(self, tokens: int, cut: str, text: str) -> None:
        if not self._was_given:
            self._was_given = True
            warnings.warn(f"{self.what}: {tokens} tokens cut to {cut}: {text[:60]!r} …", stacklevel=3)


class Budgeted:
    """A model whose batches have token budgets, which shrink when a batch does not fit in memory.

    >>> class Model(Budgeted):
    ...     budgets = {"cpu": 2048}
    ...     device_kind = "cpu"
    >>> model = Model()
    >>> model._shrink(500)
    >>> model._budget
    500
    """

    #: Tokens of a batch after padding, by kind of device.
    budgets: ClassVar[Mapping[str, int]]
    #: The torch device that it is on.
    device: Any
    _fitting = sys.maxsize

    @property
    def device_kind(self) -> str:
        """``cpu`` or ``cuda``, whatever its number."""
        return str(self.device.type)

    @property
    def _budget(self) -> int:
        return min(self._fitting, self.budgets.get(self.device_kind, self.budgets["cpu"]))

    def _batches(
        self,
        items: Iterable[Item],
        length: Callable[[Item], int],
        run: Callable[[list[Item]], Sequence[Result]],
        **options: Any,
    ) -> Iterator[Result]:
        """`run_batches` with the model's budget, unless *options* give another one."""
        given = {"budget": self._budget, "shrunk": self._shrink, **options}
        return run_batches(items, length, run, free=self._free, **given)

    def _free(self) -> None:
        """Release memory after a batch that did not fit; has no effect on a CPU."""
        if self.device_kind == "cuda":
            import torch

            torch.cuda.empty_cache()

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
    budget: maximum number of tokens per batch after padding, that is, items × longest; a longer item forms a batch
    alone. group: items of different groups never share a batch. window: number of items in memory; equal ones
    among them are run once. done: receives the number of finished items, for a progress bar.
    free: releases memory after a batch that did not fit; half of that batch's tokens become the budget, which *shrunk*
    receives, so that later calls start with it.
    ahead: a thread prepares the next window of items (mostly tokenizes it) while the current one runs. This helps if
    an accelerator computes while this process waits, not on a CPU.

    Raises `ModelError` if a single item does not fit.

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
        raise ModelError(f"budget and window: 1 or more expected, {budget} and {window} given")
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
                        "use a machine with more memory, a smaller model, fewer beams or a shorter text"
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
    """Whether an error means that memory ran out, on the CPU or on an accelerator.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"))
    True
    >>> is_out_of_memory(RuntimeError("shapes do not match"))
    False
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return any(message in str(error).lower() for message in _MEMORY_MESSAGES)


# ----------------------------------------------------------------------------
# Many texts to token ids and back, with the results of transformers' tokenizers but without their overhead per text.

#: SentencePiece's sign for a space.
_SPACE = "▁"


#: What Hugging Face's tokenizers take for no in ``TOKENIZERS_PARALLELISM``.
_NO = frozenset({"", "off", "false", "f", "no", "n", "0"})


#: Stands for a text among the special tokens that are put around it.
_HERE = -1


def has_bulk(tokenizer: Any) -> bool:
    """Whether *tokenizer* does no more to a text than the Rust tokenizer in it: slow ones, and a few others, do."""
    from transformers import TokenizersBackend

    kind = type(tokenizer)
    return isinstance(tokenizer, TokenizersBackend) and all(
        getattr(kind, name) is getattr(TokenizersBackend, name) for name in ("__call__", "_encode_plus")
    )


def bulk_encoded(tokenizer: Any, items: Sequence[Any], *, specials: bool = True) -> Sequence[Any]:
    """The tokenizer's ``ids`` and ``type_ids`` of each text or pair of texts, without truncation and padding.

    specials: whether to add special tokens. Marks such as ``</s>`` in a text are treated as ordinary text. Offsets are
    not returned. Requires a *tokenizer* with `has_bulk`.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = True
    return backend.encode_batch_fast(list(items), add_special_tokens=specials)


class BulkPieces:
    """Texts to ids and back, equal to Marian's and M2M-100's tokenizers, which are Python around SentencePiece.

    SentencePiece gets many texts at a time, and the ids of pieces are cached. A text with a mark of the vocabulary
    (``</s>``, ``>>de<<``, ``__de__``) is passed to the tokenizer. With ``TOKENIZERS_PARALLELISM=false``, as in the
    workers of a grid on CPUs, it uses one thread.
    """

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._pieces = getattr(tokenizer, "spm_source", None) or tokenizer.sp_model
        self._ids: dict[str, int] = _Asked(tokenizer.convert_tokens_to_ids)
        self._names: dict[int, str] = _Asked(tokenizer.convert_ids_to_tokens)
        marks = [">>", *tokenizer.added_tokens_encoder]
        begins = "".join(re.escape(mark[0]) for mark in marks)  # one character check instead of a hundred marks
        self._odd = re.compile(f"(?=[{begins}])(?:{'|'.join(map(re.escape, marks))})")
        self._special_ids = frozenset(tokenizer.all_special_ids)
        self._special_names = frozenset(tokenizer.all_special_tokens)
        self._threads = 1 if os.environ.get("TOKENIZERS_PARALLELISM", "on").lower() in _NO else -1

    @staticmethod
    def fits(tokenizer: Any) -> bool:
        """Whether *tokenizer* is one of these, with one vocabulary for both languages."""
        from transformers import M2M100Tokenizer, MarianTokenizer

        known = type(tokenizer) in (M2M100Tokenizer, MarianTokenizer)
        return known and not getattr(tokenizer, "separate_vocabs", False)

    def encoded(self, texts: Sequence[str], mark: str = "") -> list[list[int]]:
        """The ids of each source text, those that its language puts around it included; whole.

        mark: what stands before each text, with a space between, where a Marian model has several target languages.
        """
        frame = self._tokenizer.build_inputs_with_special_tokens([_HERE])
        before, after = frame[: frame.index(_HERE)], frame[frame.index(_HERE) + 1 :]
        odd = [bool(self._odd.search(text)) for text in texts]
        rest = [text for text, is_odd in zip(texts, odd, strict=True) if not is_odd]
        if mark:
            before, rest = [*before, self._ids[mark]], [f" {text}" for text in rest]
            texts = [f"{mark} {text}" for text in texts]
        pieces = iter(self._pieces.encode(rest, out_type=str, num_threads=self._threads))
        return [
            self._tokenizer(text, truncation=False, verbose=False)["input_ids"]
            if is_odd
            else [*before, *map(self._ids.__getitem__, next(pieces)), *after]
            for text, is_odd in zip(texts, odd, strict=True)
        ]

    def decoded(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of each row of ids, without special tokens and surrounding space."""
        named = [[self._names[number] for number in row if number not in self._special_ids] for row in rows]
        odd = [not self._special_names.isdisjoint(row) for row in named]
        rest = [row for row, is_odd in zip(named, odd, strict=True) if row and not is_odd]
        texts = iter(self._pieces.decode(rest, num_threads=self._threads) if rest else ())
        found = []
        for ids, row, is_odd in zip(rows, named, odd, strict=True):
            if is_odd:
                found.append(self._tokenizer.decode(list(ids), skip_special_tokens=True).strip())
                continue
            text = next(texts).replace(_SPACE, " ").strip() if row else ""
            clean = self._tokenizer.clean_up_tokenization_spaces
            found.append(self._tokenizer.clean_up_tokenization(text).strip() if clean else text)
        return found


class _Asked(dict):
    """The results of a function by key, each computed once."""

    def __init__(self, ask: Callable[[Any], Any]):
        self._ask = ask

    def __missing__(self, key: Any) -> Any:
        self[key] = found = self._ask(key)
        return found
