"""The reference backend: encoder-decoders of transformers, on torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from transformers import DynamicCache, EncoderDecoderCache

from nbkit.errors import ModelError
from nbkit.models.catalogue import Family, Reference
from nbkit.models.collate import attention_mask, padded
from nbkit.models.decoding import Decoding
from nbkit.models.loading import on_device, quiet, times_the_memory, torch_device, torch_dtype
from nbkit.models.tokenized import Ids, TokenizedTranslator


class Seq2SeqTranslator(TokenizedTranslator):
    """A transformers encoder-decoder and its tokenizer."""

    #: More than this is no faster on a CPU, where the arithmetic of small batches already fills the cores (measured in
    #: benchmarks/backends.py).
    budgets: ClassVar = {"cpu": 2048, "cuda": 65536}

    def __init__(self, reference: Reference, family: Family, folder: Path, device: str, dtype: str):
        self.device = torch_device(device)
        super().__init__(reference, family, folder, device)
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

    def _log_probabilities(self, batch: list[tuple[Ids, Ids]], *, forced: bool) -> list[float]:
        labels = on_device(padded([pair[1] for pair in batch], -100), self.device)
        with torch.inference_mode():
            logits = self.model(**self._padded([pair[0] for pair in batch]), labels=labels).logits.float()
        if self.family.token_starts:
            # The language token ends the labels, as it does the published data; the model never has to write it.
            labels = labels.scatter(1, (labels != -100).sum(1, keepdim=True) - 1, -100)
            forced = False
        start = 1 if forced else 0  # the language token was not chosen
        logits, labels = logits[:, start:], labels[:, start:]
        kept = labels != -100
        chosen = logits.log_softmax(-1).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        return ((chosen * kept).sum(1) / kept.sum(1)).tolist()

    def _padded(self, batch: list[Ids]) -> dict[str, torch.Tensor]:
        ids = padded(batch, fill=self.tokenizer.pad_token_id)
        mask = on_device(attention_mask(batch), self.device)
        return {"input_ids": on_device(ids, self.device), "attention_mask": mask}

    def _free(self) -> None:
        if self.kind == "cuda":
            torch.cuda.empty_cache()


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
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    import nbkit.models.convolutional
    import nbkit.models.recurrent  # noqa: F401 - makes the project's own architectures known to transformers

    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            for name, value in (changes or {}).items():
                if hasattr(config, name):
                    setattr(config, name, value)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                folder,
                config=config,
                dtype=dtype,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"model '{reference.name}': {folder} cannot be loaded: {error}") from error
    return model.eval()
