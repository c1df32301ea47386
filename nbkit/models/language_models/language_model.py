"""Language models: texts in, perplexities out; masked ones also give the probabilities of words in context.

In the order of the file: texts as token ids; log-probabilities of chosen tokens without all logits in memory; the
causal and the masked model, with their formulas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, tee
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from nbkit.errors import ModelError
from nbkit.models.batching import Budgeted, CutWarning, bulk_encoded, has_bulk
from nbkit.models.catalogue import Kind, LanguageModelReference, kind_of, language_model_label
from nbkit.models.classifiers.classifier import at_most
from nbkit.models.language_models.lifecycle import Likelihood, Span, one_by_one
from nbkit.models.lifecycle import positions
from nbkit.models.loading import load_tokenizer, load_trained, on_device, padded, torch_device, torch_dtype
from nbkit.progress import progress_bar

# ----------------------------------------------------------------------------
# Texts as token ids for language models: whole, masked token by token, and with candidates in a span.

Ids = tuple[int, ...]


_CHUNK = 1024


class Filled(NamedTuple):
    """A text as ids with its special tokens; *start* to *stop* (exclusive) are those in the span."""

    ids: Ids
    start: int
    stop: int


@dataclass(frozen=True)
class TextEncoder:
    """A fast tokenizer and its model's number of *positions*; longer texts are truncated, with a warning."""

    tokenizer: Any
    positions: int
    name: str

    def __post_init__(self) -> None:
        if not self.tokenizer.is_fast:
            raise ModelError(
                f"language model '{self.name}': its tokenizer, {type(self.tokenizer).__name__}, has no offsets, so it "
                "cannot locate tokens. Use a model with a fast tokenizer (tokenizer.json)"
            )

    def contents(self, texts: Iterable[str], room: int) -> Iterator[Ids]:
        """The ids of each text without special tokens, the first *positions* less *room* of them.

        Marks such as ``<|endoftext|>`` in a text are treated as ordinary text.
        """
        stream, most = iter(texts), self.positions - room
        warn = CutWarning(f"language model '{self.name}'")
        while chunk := list(islice(stream, _CHUNK)):
            for text, ids in zip(chunk, self._contents(chunk), strict=True):
                if len(ids) > most:
                    warn(len(ids), self._cut(most), text)
                    ids = ids[:most]
                yield tuple(ids)

    def _contents(self, texts: Sequence[str]) -> Iterator[list[int]]:
        if has_bulk(self.tokenizer):
            return (encoded.ids for encoded in bulk_encoded(self.tokenizer, texts, specials=False))
        return iter(self._tokenized(texts, add_special_tokens=False)["input_ids"])

    def frame(self) -> tuple[Ids, Ids]:
        """The special tokens before and after a text."""
        ids = self._tokenized([""], add_special_tokens=True)["input_ids"][0]
        middle = 1 if len(ids) > 1 else 0  # [CLS] [SEP], <s> </s>
        return tuple(ids[:middle]), tuple(ids[middle:])

    def filled(self, asked: Iterable[tuple[str, Span, str]]) -> Iterator[Filled]:
        """Each text with its candidate in the span; a long one is truncated on both sides of it.

        A span within a word is extended to the whole subwords that it touches. Raises `ModelError` for a span outside
        the text, and for a candidate without any subword.
        """
        stream, warn = iter(asked), CutWarning(f"language model '{self.name}'")
        before, after = self.frame()
        most = self.positions - len(before) - len(after)
        while chunk := list(islice(stream, _CHUNK)):
            for text, (start, stop), _ in chunk:
                if not 0 <= start <= stop <= len(text):
                    raise ModelError(f"span {start}:{stop} is outside the text of {len(text)} characters: {text!r}")
            texts = [text[:start] + candidate + text[stop:] for text, (start, stop), candidate in chunk]
            encoded = self._tokenized(texts, add_special_tokens=False, return_offsets_mapping=True)
            rows = zip(chunk, texts, encoded["input_ids"], encoded["offset_mapping"], strict=True)
            for (_, (start, _), candidate), text, ids, offsets in rows:
                end = start + len(candidate)
                # RoBERTa's separate piece for the space before a word is empty and at the word's start.
                places = [i for i, (a, b) in enumerate(offsets) if (a < end and b > start) or a == b == start]
                if not places or not candidate.strip():
                    raise ModelError(f"candidate {candidate!r}: language model '{self.name}' has no token for it")
                first, last = places[0], places[-1] + 1
                if last - first > most:
                    raise ModelError(f"candidate {candidate[:60]!r} has more than {most} tokens")
                if len(ids) > most:
                    warn(len(ids), self._cut(most), text)
                # As much on either side, and all of a short side.
                left = max(0, min(first - (most - (last - first)) // 2, len(ids) - most))
                shift = len(before) - left
                yield Filled((*before, *ids[left : left + most], *after), first + shift, last + shift)

    def _tokenized(self, texts: Sequence[str], **options: Any) -> Any:
        return self.tokenizer(
            list(texts),
            return_attention_mask=False,
            return_token_type_ids=False,
            split_special_tokens=True,
            verbose=False,
            **options,
        )

    def _cut(self, most: int) -> str:
        return f"{most}, as it has {self.positions} positions"


# ----------------------------------------------------------------------------
# Log-probabilities of chosen tokens from any transformers language model, without all of its logits in memory.
#
# Batch × length × vocabulary logits dominate memory when sentences are scored. Here the network's last layer gets its
# inputs only at the requested positions, a few rows at a time; each chunk of logits is reduced to the normaliser and
# the requested tokens.

#: Maximum number of logits in memory, by kind of device.
LOGITS = {"cpu": 2**23, "cuda": 2**28}


@contextmanager
def given_instead(layer: torch.nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within this context *layer* gets *change* of its input."""
    hook = layer.register_forward_pre_hook(lambda _, given: (change(given[0]), *given[1:]))
    try:
        yield
    finally:
        hook.remove()


class OutputLayer:
    """The layer of *model* that has an output for each entry of the vocabulary.

    Raises `ModelError` if there is none, or if its logits are modified afterwards (soft caps, scales).
    """

    def __init__(self, model: Any, name: str):
        self.model, self.layer = model, model.get_output_embeddings()
        if self.layer is None:
            raise ModelError(
                f"language model '{name}': {type(model).__name__} has no output layer over a vocabulary, so it cannot "
                "be scored; use another model"
            )
        self.vocabulary: int = self.layer.weight.shape[0]
        self._check(name)

    def states(self, chosen: Tensor, **inputs: Any) -> Tensor:
        """The layer's input at the positions where *chosen* (texts × tokens) is true, (positions × width)."""
        caught: list[Tensor] = []

        def catch(given: Tensor) -> Tensor:
            caught.append(given[chosen])
            return given[:0]  # leaves nothing to compute for the layer

        with given_instead(self.layer, catch):
            self.model(**inputs)
        return caught[0]

    def log_probabilities(self, states: Tensor, tokens: Tensor) -> Tensor:
        """log p of *tokens* (positions × any number) at the positions of *states*, float32, the same shape."""
        parts = []
        for rows, wanted in zip(self._chunks(states), self._chunks(tokens), strict=True):
            logits = self._logits(rows)
            parts.append(logits.gather(1, wanted) - logits.logsumexp(1, keepdim=True))
        return torch.cat(parts) if parts else torch.zeros(tokens.shape)

    def _chunks(self, rows: Tensor) -> Iterator[Tensor]:
        size = max(1, LOGITS.get(rows.device.type, LOGITS["cpu"]) // self.vocabulary)
        return iter(rows.split(size)) if len(rows) else iter(())

    def _logits(self, rows: Tensor) -> Tensor:
        """Logits in float32. Half precision would err by up to half a nat, as GPT-2's are about −100."""
        weight, bias = self.layer.weight, getattr(self.layer, "bias", None)
        if rows.is_cuda and rows.dtype != torch.float32:
            logits = torch.mm(rows, weight.t(), out_dtype=torch.float32)
            return logits if bias is None else logits + bias
        return linear(rows.float(), weight.float(), None if bias is None else bias.float())

    @torch.inference_mode()
    def _check(self, name: str) -> None:
        """Compare both ways once: a model that modifies its logits would be scored wrongly."""
        ids = torch.arange(min(8, self.vocabulary), device=self.layer.weight.device).unsqueeze(0)
        whole = self.model(input_ids=ids).logits[0].float()
        ours = self._logits(self.states(torch.ones_like(ids, dtype=torch.bool), input_ids=ids))
        if not torch.allclose(whole, ours, rtol=0.05, atol=0.05):
            raise ModelError(
                f"language model '{name}': {type(self.model).__name__} changes its logits after the output layer, "
                "so it cannot be scored; use another model"
            )


# ----------------------------------------------------------------------------
# Perplexities by a causal or a masked model.
#
# **Causal** (GPT-2): the perplexity of a text of the tokens t₁ … tₙ is
#
#     exp(−1/n · Σᵢ log p(tᵢ | BOS, t₁ … tᵢ₋₁))
#
# with the model's start token (GPT-2's ``<|endoftext|>``) before the text, so that the first token counts like the
# others; the end is not scored. A model without such a token cannot predict the first one: the sum is then over the
# n − 1 tokens i = 2 … n.
#
# **Masked** (BERT): the pseudo-perplexity of Salazar et al. 2020, "Masked Language Model Scoring",
#
#     exp(−1/n · Σᵢ log p(tᵢ | the text with tᵢ masked))
#
# A text without scored tokens has no perplexity: NaN.

#: Texts, or candidates in a span, per window.
WINDOW = 4096


def load_trained_language_model(
    reference: LanguageModelReference, folder: Path, device: str, dtype: str
) -> CausalLanguageModel | MaskedLanguageModel:
    """Load the language model in *folder* with transformers."""
    import transformers

    kind = kind_of(reference, folder)
    auto: Any = transformers.AutoModelForCausalLM if kind == "causal" else transformers.AutoModelForMaskedLM
    what = reference.called
    model = load_trained(auto, folder, torch_device(device), torch_dtype(dtype), what, f"{kind} model")
    return (CausalLanguageModel if kind == "causal" else MaskedLanguageModel)(reference, folder, model)


class LanguageModel(Budgeted, ABC):
    """A language model's tokenizer, and batches of the network that a subclass runs.

    positions: the longest text in tokens, None if the model does not state it.
    """

    kind: ClassVar[Kind]
    #: Tokens per batch. Larger batches are slower on a CPU, as they exceed its caches.
    budgets: ClassVar = {"cpu": 2048, "cuda": 131072}

    def __init__(self, reference: LanguageModelReference, folder: Path, device: torch.device, positions: int | None):
        self.name, self.lang = reference.full_name, reference.lang
        self.reference, self.folder, self.device = reference, folder, device
        self.tokenizer = load_tokenizer(folder, reference.called)
        self._encoder = TextEncoder(self.tokenizer, at_most(positions, self.tokenizer), self.name)

    def perplexities(self, texts: Sequence[str], *, progress: bool = True) -> np.ndarray:
        """The perplexity of every text, float64, in order; for the formula see the section's comment.

        Equal texts are scored once. Perplexities do not depend on other texts, as far as float arithmetic allows. A
        text longer than the model's positions is truncated, with a warning; a text without a scored token is NaN.
        """
        with progress_bar(language_model_label(self.name), len(texts), progress) as bar:
            found = [each.perplexity for each in self.likelihoods(texts, done=bar.update)]
        return np.array(found, dtype=np.float64)

    @abstractmethod
    def likelihoods(
        self, texts: Iterable[str], done: Callable[[int], object] = lambda count: None
    ) -> Iterator[Likelihood]:
        """The likelihoods behind `perplexities`, for a stream of texts; one window at a time is in memory."""


class NextTokenModel(LanguageModel):
    """A model of the next token, such as GPT-2, on any backend."""

    kind = "causal"

    @abstractmethod
    def _score(self, batch: list[Ids]) -> list[Likelihood]:
        """The likelihood of the tokens of each row except the first."""

    def likelihoods(
        self, texts: Iterable[str], done: Callable[[int], object] = lambda count: None
    ) -> Iterator[Likelihood]:
        """See `LanguageModel.likelihoods`."""
        begin = self.tokenizer.bos_token_id
        before: Ids = () if begin is None else (begin,)
        ids = ((*before, *content) for content in self._encoder.contents(texts, len(before)))
        # Later tokens do not affect earlier ones, so texts of different lengths are padded at the end, unmasked.
        return self._batches(ids, len, self._score, done=done, ahead=self.device.type == "cuda")


class CausalLanguageModel(NextTokenModel):
    """A model of the next token, run by transformers."""

    def __init__(self, reference: LanguageModelReference, folder: Path, model: Any):
        super().__init__(reference, folder, model.device, positions(model))
        self.model, self._output = model, OutputLayer(model, self.name)

    def _score(self, batch: list[Ids]) -> list[Likelihood]:
        scored = np.fromiter(map(len, batch), np.int64, len(batch)) - 1
        scored = scored.clip(min=0)
        if not scored.any():
            return [Likelihood(0.0, 0) for _ in batch]
        ids = padded(batch, 0)
        rows = on_device(ids, self.device)
        chosen = on_device(torch.from_numpy(np.arange(ids.shape[1]) < scored[:, np.newaxis]), self.device)
        with torch.inference_mode():
            states = self._output.states(chosen, input_ids=rows, use_cache=False)
            following = rows.roll(-1, dims=1)[chosen].unsqueeze(1)
            log_p = self._output.log_probabilities(states, following).double().cpu().squeeze(1).numpy()
        sums = np.zeros(len(batch))
        sums[scored > 0] = np.add.reduceat(log_p, (scored.cumsum() - scored)[scored > 0])
        return list(map(Likelihood, sums.tolist(), scored.tolist()))


class MaskedPlace(NamedTuple):
    """A text with masks, a position, and the tokens whose probabilities are requested there."""

    ids: Ids
    at: int
    tokens: Ids


class MaskedLanguageModel(LanguageModel):
    """A model of masked tokens, such as BERT, run by transformers."""

    kind = "masked"

    def __init__(self, reference: LanguageModelReference, folder: Path, model: Any):
        super().__init__(reference, folder, model.device, positions(model))
        self.model, self._output = model, OutputLayer(model, self.name)

    def likelihoods(
        self, texts: Iterable[str], done: Callable[[int], object] = lambda count: None
    ) -> Iterator[Likelihood]:
        """See `LanguageModel.likelihoods`; a text of n tokens goes through the network n times."""
        before, after = self._encoder.frame()
        contents, counted = tee(self._encoder.contents(texts, len(before) + len(after)))
        mask, start = self.tokenizer.mask_token_id, len(before)

        def places() -> Iterator[MaskedPlace]:
            for content in contents:
                ids = (*before, *content, *after)
                for i, token in enumerate(content, start):
                    yield MaskedPlace((*ids[:i], mask, *ids[i + 1 :]), i, (token,))

        found = self._run(places())
        for content in counted:
            yield Likelihood(sum(log_p for (log_p,) in islice(found, len(content))), len(content))
            done(1)

    def masked_log_probabilities(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        candidates: Sequence[Sequence[str]],
        *,
        progress: bool = True,
    ) -> list[np.ndarray]:
        """log p of each candidate in the masked span of its text: one array per text, one entry per candidate, in nats.

        spans: the characters (first, after the last) that the candidates replace. A candidate of one subword
        has the probability that the model gives it at one mask. One of k subwords replaces k masks, which are
        filled from left to right:

            log p = Σᵢ log p(cᵢ | the text, c₁ … cᵢ₋₁, masks for cᵢ … cₖ)

        which is a probability among all fillers of k subwords. A candidate with a character unknown to the
        vocabulary has −∞. A span within a word is extended to the whole subwords that it touches.

        Raises `ModelError` for a span outside its text and for a candidate without any subword.
        """
        asked = one_by_one(texts, spans, candidates)
        with progress_bar(language_model_label(self.name), len(asked), progress) as bar:
            values = iter(list(self.fits(asked, done=bar.update)))
        return [np.fromiter(islice(values, len(several)), np.float64, len(several)) for several in candidates]

    def fits(
        self, asked: Iterable[tuple[str, Span, str]], done: Callable[[int], object] = lambda count: None
    ) -> Iterator[float]:
        """`masked_log_probabilities` for a stream of (text, span, candidate)."""
        stream = self._encoder.filled(asked)
        while window := list(islice(stream, WINDOW)):
            steps = [self._steps(each) for each in window]
            # All candidates of a span are looked up in one pass over its text.
            wanted: dict[tuple[Ids, int], dict[int, None]] = {}
            for ids, at, token in (step for each in steps for step in each):
                wanted.setdefault((ids, at), {})[token] = None
            places = [MaskedPlace(ids, at, tuple(tokens)) for (ids, at), tokens in wanted.items()]
            known = {
                (place.ids, place.at, token): log_p
                for place, row in zip(places, self._run(places), strict=True)
                for token, log_p in zip(place.tokens, row, strict=True)
            }
            unknown = self.tokenizer.unk_token_id
            for each, item in zip(steps, window, strict=True):
                is_known = unknown not in item.ids[item.start : item.stop]
                yield sum(known[step] for step in each) if is_known else float("-inf")
            done(len(window))

    def _steps(self, filled: Filled) -> list[tuple[Ids, int, int]]:
        """Masked ids, position and token of each subword in the span, with those before it filled in."""
        mask, (ids, start, stop) = self.tokenizer.mask_token_id, filled
        return [((*ids[:i], *(mask,) * (stop - i), *ids[stop:]), i, ids[i]) for i in range(start, stop)]

    def _run(self, places: Iterable[MaskedPlace]) -> Iterator[tuple[float, ...]]:
        # Texts of one length need no padding and no mask, which makes attention fastest.
        def length(place: MaskedPlace) -> int:
            return len(place.ids)

        return self._batches(places, length, self._look_up, group=length)

    def _states(self, batch: list[MaskedPlace]) -> torch.Tensor:
        rows = on_device(torch.tensor([place.ids for place in batch]), self.device)
        at = on_device(torch.tensor([place.at for place in batch]), self.device)
        chosen = torch.arange(rows.shape[1], device=self.device) == at.unsqueeze(1)
        with torch.inference_mode():
            return self._output.states(chosen, input_ids=rows)

    def _look_up(self, batch: list[MaskedPlace]) -> list[tuple[float, ...]]:
        most = max(len(place.tokens) for place in batch)
        rows = [place.tokens + (0,) * (most - len(place.tokens)) for place in batch]
        tokens = on_device(torch.tensor(rows), self.device)
        with torch.inference_mode():
            log_p = self._output.log_probabilities(self._states(batch), tokens).double().tolist()
        return [tuple(row[: len(place.tokens)]) for row, place in zip(log_p, batch, strict=True)]
