"""Translators over transformers: texts in, texts out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import DynamicCache, EncoderDecoderCache

from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.batching import run_batches
from nbkit.models.catalogue import BY_RULE, Family, Reference, label, resolve
from nbkit.models.collate import padded
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.identity import resolve_device, resolve_dtype
from nbkit.models.languages import check_pair
from nbkit.models.loading import progress_bar, quiet, torch_device, torch_dtype
from nbkit.models.local import ensure_trained, place

#: Padded source tokens × beams of one batch. More than this is no faster on a CPU, where the arithmetic of small
#: batches already fills the cores (measured in benchmarks/translate.py).
BUDGETS = {"cpu": 2048, "cuda": 65536}
_CHUNK = 1024


class Translator(Protocol):
    """What every backend offers (CTranslate2 and servers come in here). name: stands for it in tables and keys.

    >>> class Copy:  # a baseline that leaves every text as it is
    ...     name = "copy"
    ...     def translate(self, texts, src, tgt, decoding=DEFAULT, *, progress=True):
    ...         return [text.strip() for text in texts]
    ...     def score(self, texts, references, src, tgt):
    ...         return [0.0 if text == reference else float("-inf") for text, reference in zip(texts, references)]
    >>> translator: Translator = Copy()
    >>> translator.translate(["Tom sleeps .", " "], "en", "de"), translator.score(["Tom"], ["Thomas"], "en", "de")
    (['Tom sleeps .', ''], [-inf])
    """

    name: str

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The best hypothesis that the search finds for every text, in order: one a text.

        y* = argmax_y log p(y | x) / |y|^λ

        decoding: beams, limits and the length penalty λ of the search. progress: whether a bar is shown.
        A blank text gives an empty hypothesis. A hypothesis depends on its own text alone, not on its batch.

        Raises `ModelError` for a language that the model does not speak.
        Source: Wu et al. 2016, §7 (beam search with a length penalty), in the form that transformers gives it.
        """
        ...

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """How likely the model finds each reference, given its text: natural logarithms a token, at most 0.

        score(y | x) = 1/|y| · Σ_t log p(y_t | y_<t, x)

        Raises `ModelError` where texts and references are not of the same number, or for an unknown language.
        Source: Sennrich 2017, "How Grammatical is Character-level Neural Machine Translation?" (contrastive scoring).
        """
        ...


def load_translator(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """The translator of that name for the pair, on the device; downloaded or trained first where it must be.

    name: a catalogue name, a hub id (``id@revision`` pins it) or a folder; ``{src}`` and ``{tgt}`` are filled in. With
    ``placeholder:`` before it, its numbers are carried over by rule.
    device: ``auto`` (CUDA where there is one), ``cpu``, ``cuda``, ``cuda:1``. dtype: ``auto`` (bfloat16 on CUDA,
    float32 on the CPU) or a torch dtype's name.

    Raises `UnknownNameError` for a name that nothing is known by, and `ModelError` for weights that cannot be had, a
    device that is not there, an unknown architecture, or a language that the model does not speak.
    """
    if name.startswith(BY_RULE):
        from nbkit.models.placeholder import PlaceholderTranslator

        inner = load_translator(name.removeprefix(BY_RULE), src, tgt, device=device, dtype=dtype)
        return PlaceholderTranslator(inner, name)
    reference = resolve(name, src, tgt)
    folder = weights.fetch(reference) if reference.recipe is None else ensure_trained(reference)
    family = weights.family(reference, folder)
    check_pair(reference, family, folder)
    place = resolve_device(device)
    return Seq2SeqTranslator(reference, family, folder, place, resolve_dtype(dtype, place))


class Seq2SeqTranslator:
    """A transformers encoder-decoder and its tokenizer; for one thread, as a tokenizer remembers its languages."""

    def __init__(self, reference: Reference, family: Family, folder: Path, device: str, dtype: str):
        self.name = reference.name
        self.reference, self.family, self.folder = reference, family, folder
        self.device = torch_device(device)
        self.tokenizer = load_tokenizer(family, folder)
        self.model = _load_model(reference, folder, self.device, torch_dtype(dtype))
        # Emptied, so that what is passed to `generate` is all there is: transformers fills gaps from here.
        self._defaults = self.model.generation_config
        self.model.generation_config = type(self._defaults)()

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The model's best hypothesis for every text, in order; equal texts are translated once.

        A blank text gives an empty hypothesis. A text longer than the model's positions is cut, with a warning.
        Hypotheses do not depend on what else is translated, as far as float arithmetic allows.

        Raises `ModelError` for a language that the model does not speak.
        """
        target = self._languages(src, tgt)
        filled = [text for text in texts if text.strip()]
        with progress_bar(f"{label(self.name)} {src}→{tgt}", len(filled), progress) as bar:
            hypotheses = run_batches(
                self._encoded(filled, tgt),
                length=len,
                run=lambda batch: self._generate(batch, target, decoding),
                budget=max(1, self._budget // decoding.beams),
                group=lambda ids: decoding.limit(len(ids)),
                window=max(1, len(filled)),
                done=bar.update,
                free=self._free,
            )
            return [next(hypotheses) if text.strip() else "" for text in texts]

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """How likely the model finds each reference, given its text.

        score(y | x) = 1/|y| · Σ_t log p(y_t | y_<t, x)

        in natural logarithms per token of the model, the end token included and the language token, which is forced,
        left out. For Marian this is what beam search with length penalty 1 ranks hypotheses by.

        Raises `ModelError` where texts and references are not of the same number, or for an unknown language.
        """
        if len(texts) != len(references):
            raise ModelError(f"{len(texts)} texts and {len(references)} references: as many of both expected")
        target = self._languages(src, tgt)
        sources = self._encoded(texts, tgt)
        labels = self._encoded(references, tgt, target=True)
        return list(
            run_batches(
                zip(sources, labels, strict=True),
                length=lambda pair: len(pair[0]) + len(pair[1]),
                run=lambda batch: self._log_probabilities(batch, forced=target is not None),
                budget=self._budget,
                window=max(1, len(texts)),
                free=self._free,
            )
        )

    @property
    def _budget(self) -> int:
        return BUDGETS.get(self.device.type, BUDGETS["cpu"])

    def _languages(self, src: str, tgt: str) -> int | None:
        """Sets the tokenizer to the pair; the id of the target language's token, None for Marian."""
        reference = resolve(self.name, src, tgt)
        if place(reference) != place(self.reference):
            pair = f"{self.reference.src}→{self.reference.tgt}"
            raise ModelError(f"model '{self.name}' was loaded for {pair}: load it for {src}→{tgt}")
        check_pair(reference, self.family, self.folder)
        if self.family.token is None:
            return None
        self.tokenizer.src_lang = self.family.code(src)
        self.tokenizer.tgt_lang = self.family.code(tgt)
        token = self.family.token.format(code=self.family.code(tgt))
        target = self.tokenizer.convert_tokens_to_ids(token)
        if target in (None, self.tokenizer.unk_token_id):
            raise ModelError(f"model '{self.name}': its vocabulary has no token '{token}' for '{tgt}'")
        return int(target)

    def _encoded(self, texts: Sequence[str], tgt: str, *, target: bool = False) -> Iterator[tuple[int, ...]]:
        """Token ids of every text, tokenized in bulk."""
        prefix = "" if target else self._prefix(tgt)
        side = "text_target" if target else "text"
        stream = iter(texts)
        cut = 0
        while chunk := list(islice(stream, _CHUNK)):
            rows = self.tokenizer(**{side: [prefix + text for text in chunk]}, truncation=False, verbose=False)
            for text, row in zip(chunk, rows["input_ids"], strict=True):
                if len(row) > self._positions:
                    cut += 1
                    if cut == 1:
                        size = f"{len(row)} tokens cut to its {self._positions} positions"
                        warnings.warn(f"model '{self.name}': {size}: {text[:60]!r} …", stacklevel=3)
                    ends = self.tokenizer(**{side: prefix + text, "truncation": True, "max_length": self._positions})
                    row = ends["input_ids"]
                yield tuple(row)

    @property
    def _positions(self) -> int:
        return min(self.model.config.max_position_embeddings, self.tokenizer.model_max_length)

    def _prefix(self, tgt: str) -> str:
        """The target-language mark of a Marian model of several target languages, empty for others."""
        wanted = self.reference.entry.prefixes.get(tgt, f">>{tgt}<<")
        return f"{wanted} " if wanted in getattr(self.tokenizer, "supported_language_codes", ()) else ""

    def _generate(self, batch: list[tuple[int, ...]], target: int | None, decoding: Decoding) -> list[str]:
        config = self._generation_config(target, decoding, decoding.limit(max(map(len, batch))))
        with torch.inference_mode(), quiet():
            tokens = self.model.generate(
                **self._padded(batch),
                generation_config=config,
                past_key_values=_BeamCache(DynamicCache(), DynamicCache()),
            )
        # The decoder's start and the forced language token, which not every tokenizer knows to be a special one.
        own = tokens[:, 1 if target is None else 2 :]
        return [text.strip() for text in self.tokenizer.batch_decode(own, skip_special_tokens=True)]

    def _generation_config(self, target: int | None, decoding: Decoding, limit: int) -> Any:
        """The checkpoint's own settings (what it forbids and forces), with the search's set over them."""
        config = type(self._defaults).from_dict(self._defaults.to_dict())
        config.update(
            num_beams=decoding.beams,
            length_penalty=decoding.length_penalty,
            early_stopping=decoding.early_stopping and decoding.beams > 1,
            max_new_tokens=min(limit, self._positions - 1),
            max_length=None,
            min_length=None,
            do_sample=False,
            num_return_sequences=1,
            use_cache=True,
        )
        if target is not None:
            config.forced_bos_token_id = target
        return config

    def _log_probabilities(self, batch: list[tuple[tuple[int, ...], tuple[int, ...]]], *, forced: bool) -> list[float]:
        labels = padded([pair[1] for pair in batch], -100).to(self.device)
        with torch.inference_mode():
            logits = self.model(**self._padded([pair[0] for pair in batch]), labels=labels).logits.float()
        start = 1 if forced else 0  # the language token was not chosen
        logits, labels = logits[:, start:], labels[:, start:]
        kept = labels != -100
        chosen = logits.log_softmax(-1).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return ((chosen * kept).sum(1) / kept.sum(1)).tolist()

    def _padded(self, batch: list[tuple[int, ...]]) -> dict[str, torch.Tensor]:
        ids = padded(batch, fill=self.tokenizer.pad_token_id)
        mask = padded([(1,) * len(row) for row in batch], fill=0)
        return {"input_ids": ids.to(self.device), "attention_mask": mask.to(self.device)}

    def _free(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


class _BeamCache(EncoderDecoderCache):
    """Keeps the encoder's part in place when beams are reordered: it is the same for all beams of a text."""

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        self.self_attention_cache.reorder_cache(beam_idx)


def load_tokenizer(family: Family, folder: Path) -> Any:
    """The family's tokenizer from the files in *folder*; `ModelError` where they do not make one."""
    import transformers

    with warnings.catch_warnings():
        # The Marian tokenizer recommends sacremoses for a normaliser that it then never calls.
        warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
        try:
            return getattr(transformers, family.tokenizer).from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
            raise ModelError(f"{folder}: its {family.tokenizer} cannot be loaded: {error}") from error


def _load_model(reference: Reference, folder: Path, device: torch.device, dtype: torch.dtype) -> Any:
    from safetensors import SafetensorError
    from transformers import AutoModelForSeq2SeqLM

    try:
        with quiet():
            model = AutoModelForSeq2SeqLM.from_pretrained(
                folder, dtype=dtype, local_files_only=True, trust_remote_code=False, use_safetensors=True
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"model '{reference.name}': {folder} cannot be loaded: {error}") from error
    return model.to(device).eval()
