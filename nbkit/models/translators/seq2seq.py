"""Translators with a transformers tokenizer: their common part, and the reference backend on torch.

`nbkit.models.ct2` runs the same checkpoints by CTranslate2.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import DynamicCache, EncoderDecoderCache

from nbkit.errors import ModelError
from nbkit.models.backends import DEFAULT, Decoding
from nbkit.models.batching import Budgeted, BulkPieces, CutWarning
from nbkit.models.catalogue import Family, Reference, check_pair, family_of, label, own_architecture, resolve
from nbkit.models.loading import (
    SAFELY,
    attention_mask,
    on_device,
    padded,
    quiet,
    reading,
    times_the_memory,
    torch_device,
    torch_dtype,
)
from nbkit.models.translators.lifecycle import TRANSLATOR
from nbkit.progress import progress_bar

# ----------------------------------------------------------------------------
# What they share, whatever runs the network: text to ids, batches, and back.

Ids = tuple[int, ...]


_CHUNK = 1024


class TokenizedTranslator(Budgeted, ABC):
    """A tokenizer, and the batches of a network that a subclass runs; for one thread: tokenizers remember languages.

    A subclass sets *positions*, the longest text in tokens, and runs one batch at a time (`_generate`).
    """

    #: Padded source tokens × beams of one batch, by kind of device.
    budgets: ClassVar[Mapping[str, int]]
    positions: int

    def __init__(self, reference: Reference, folder: Path, device: str):
        self.name = reference.full_name
        self.reference, self.family, self.folder = reference, family_of(reference, folder), folder
        check_pair(reference, self.family, folder)
        self.kind = device.partition(":")[0]
        self.tokenizer = load_tokenizer(self.family, folder)
        self._silent = frozenset(self.tokenizer.all_special_ids) - {self.tokenizer.unk_token_id}
        self._bulk = BulkPieces(self.tokenizer) if BulkPieces.fits(self.tokenizer) else None

    @abstractmethod
    def _generate(
        self, batch: list[Ids], target: int | None, decoding: Decoding, limit: int
    ) -> Sequence[Sequence[int]]:
        """The ids of the best hypothesis of every source, without the decoder's start and the language token.

        target: the language token to begin with, None where the family has none. limit: most new tokens.
        """

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The model's best hypothesis for every text, in order; equal texts are translated once.

        A blank text gives an empty hypothesis, and so does one that the tokenizer reduces to special tokens (``</s>``,
        a zero-width space), for which transformers invents a sentence and CTranslate2 does not. A text longer than the
        model's positions is truncated, with a warning.
        Hypotheses do not depend on other texts, as far as float arithmetic allows.

        Raises `ModelError` for a language that the model does not support.
        """
        target = self._languages(src, tgt)
        filled = [text for text in texts if text.strip()]
        with progress_bar(f"{label(self.name)} {src}→{tgt}", len(filled), progress) as bar:
            hypotheses = self._batches(
                self._encoded(filled, tgt),
                len,
                lambda batch: self._hypotheses(batch, target, decoding),
                budget=max(1, self._search_budget // decoding.beams),
                group=lambda ids: decoding.limit(len(ids)),
                window=max(1, len(filled)),
                done=bar.update,
                shrunk=lambda budget: self._shrink(budget * decoding.beams),
            )
            return [next(hypotheses) if text.strip() else "" for text in texts]

    @property
    def device_kind(self) -> str:
        """See `Budgeted.device_kind`."""
        return self.kind

    @property
    def _search_budget(self) -> int:
        """Padded source tokens × beams of one batch that is searched."""
        return self._budget

    def _hypotheses(self, batch: list[Ids], target: int | None, decoding: Decoding) -> list[str]:
        limit = min(decoding.limit(max(map(len, batch))), self.positions - 1)
        spoken = [ids for ids in batch if not self._silent.issuperset(ids)]
        rows = self._generate(spoken, target, decoding, limit) if spoken else ()
        found = dict(zip(spoken, self._decoded(rows), strict=True))
        return [found.get(ids, "") for ids in batch]

    def _decoded(self, rows: Sequence[Sequence[int]]) -> list[str]:
        if self._bulk is not None:
            return self._bulk.decoded(rows)
        # Given no rows at all, it takes them for one that is empty.
        texts = self.tokenizer.batch_decode(rows, skip_special_tokens=True) if rows else ()
        return [text.strip() for text in texts]

    def _languages(self, src: str, tgt: str) -> int | None:
        """Sets the tokenizer to the pair; the id of the target language's token, None for Marian."""
        reference = resolve(self.name, src, tgt)
        if TRANSLATOR.place(reference) != TRANSLATOR.place(self.reference):
            pair = f"{self.reference.src}→{self.reference.tgt}"
            raise ModelError(f"model '{self.name}' was loaded for {pair}; load it again for {src}→{tgt}")
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

    def _encoded(self, texts: Sequence[str], tgt: str, *, target: bool = False) -> Iterator[Ids]:
        """Token ids of every text, tokenized in bulk."""
        prefix = "" if target else self._prefix(tgt)
        side = "text_target" if target else "text"
        stream, warn = iter(texts), CutWarning(f"model '{self.name}'")
        while chunk := list(islice(stream, _CHUNK)):
            if self._bulk is not None and not target:
                rows = self._bulk.encoded(chunk, prefix.strip())
            else:
                written = [prefix + text for text in chunk]
                rows = self.tokenizer(**{side: written}, truncation=False, verbose=False)["input_ids"]
            for text, row in zip(chunk, rows, strict=True):
                if len(row) > self.positions:
                    warn(len(row), f"its {self.positions} positions", text)
                    ends = self.tokenizer(**{side: prefix + text, "truncation": True, "max_length": self.positions})
                    row = ends["input_ids"]
                yield tuple(row)

    def _prefix(self, tgt: str) -> str:
        """The target-language mark of a Marian model of several target languages, empty for others."""
        wanted = self.reference.entry.prefixes.get(tgt, f">>{tgt}<<")
        return f"{wanted} " if wanted in getattr(self.tokenizer, "supported_language_codes", ()) else ""


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
        except Exception as error:  # libraries in C++ and Rust have many kinds for damaged files, a bare one too
            raise ModelError(f"{folder}: its {family.tokenizer} cannot be loaded: {error}") from error


# ----------------------------------------------------------------------------
# The reference backend: encoder-decoders of transformers, on torch.


class Seq2SeqTranslator(TokenizedTranslator):
    """A transformers encoder-decoder and its tokenizer."""

    #: More than this is no faster on a CPU, where the arithmetic of small batches already fills the cores (measured in
    #: benchmarks/backends.py).
    budgets: ClassVar = {"cpu": 2048, "cuda": 65536}

    def __init__(self, reference: Reference, folder: Path, device: str, dtype: str):
        self.device = torch_device(device)
        super().__init__(reference, folder, device)
        self.model = load_seq2seq(reference, folder, torch_dtype(dtype)).to(self.device)
        # Emptied, so that what is passed to `generate` is all there is: transformers fills gaps from here.
        self._defaults = self.model.generation_config
        self.model.generation_config = type(self._defaults)()
        self.positions = min(self.model.config.max_position_embeddings, self.tokenizer.model_max_length)

    @property
    def _search_budget(self) -> int:
        # A step takes a GPU about as long for a few texts as for many: as many as it has memory for.
        return min(self._fitting, self._budget * times_the_memory(self.device))

    def _generate(self, batch: list[Ids], target: int | None, decoding: Decoding, limit: int) -> list[list[int]]:
        return self._search(self._padded(batch), target, decoding, limit)

    def _search(self, inputs: Mapping[str, Any], target: int | None, decoding: Decoding, limit: int) -> list[list[int]]:
        """`_generate` for padded ids, or for states of the encoder, with their mask."""
        with torch.inference_mode(), quiet():
            tokens = self.model.generate(
                **inputs,
                generation_config=self._generation_config(target, decoding, limit),
                past_key_values=_BeamCache(DynamicCache(), DynamicCache()),
            )
        # The decoder's start and the forced language token, which not every tokenizer knows to be a special one.
        return tokens[:, 1 if target is None or self.family.token_starts else 2 :].tolist()

    def _generation_config(self, target: int | None, decoding: Decoding, limit: int) -> Any:
        """The checkpoint's own settings (what it forbids and forces), with the search's set over them."""
        config = type(self._defaults).from_dict(self._defaults.to_dict())
        config.update(
            num_beams=decoding.beams,
            length_penalty=decoding.length_penalty,
            early_stopping=decoding.early_stopping and decoding.beams > 1,
            max_new_tokens=limit,
            max_length=None,
            min_length=None,
            do_sample=False,
            num_return_sequences=1,
            use_cache=True,
        )
        if target is not None and self.family.token_starts:
            config.decoder_start_token_id, config.forced_bos_token_id = target, None
        elif target is not None:
            config.forced_bos_token_id = target
        return config

    def _padded(self, batch: list[Ids]) -> dict[str, torch.Tensor]:
        ids = padded(batch, fill=self.tokenizer.pad_token_id)
        mask = on_device(attention_mask(batch), self.device)
        return {"input_ids": on_device(ids, self.device), "attention_mask": mask}


class _BeamCache(EncoderDecoderCache):
    """Keeps the encoder's part in place when beams are reordered: it is the same for all beams of a text."""

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        self.self_attention_cache.reorder_cache(beam_idx)


def load_seq2seq(
    reference: Reference, folder: Path, dtype: torch.dtype, changes: Mapping[str, Any] | None = None
) -> Any:
    """The encoder-decoder in *folder*, for inference on the CPU; `ModelError` where its files do not make one.

    changes: settings that are not to be those of the folder, where the architecture has them.
    """
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    own_architecture(folder)  # makes it known to transformers
    with reading(f"model '{reference.name}'", folder):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        for name, value in (changes or {}).items():
            if hasattr(config, name):
                setattr(config, name, value)
        return AutoModelForSeq2SeqLM.from_pretrained(folder, config=config, dtype=dtype, **SAFELY).eval()
