"""Models that CTranslate2 runs: translators, classifiers and language models, with the checkpoint's own tokenizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import ctranslate2
import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, AutoModelForSequenceClassification
from transformers.modeling_outputs import BaseModelOutputWithPooling

from nbkit.errors import ModelError
from nbkit.models.backends import Origin
from nbkit.models.catalogue import ClassifierReference, LanguageModelReference, Reference
from nbkit.models.classifiers.classifier import INPUTS, Encoded, PairClassifier
from nbkit.models.classifiers.lifecycle import Row
from nbkit.models.ct2.conversion import HEAD_FILE, SEARCH_FILE, SETTINGS_FILE, ensure_converted
from nbkit.models.decoding import Decoding
from nbkit.models.language_models.language_model import NextTokenModel
from nbkit.models.language_models.lifecycle import Likelihood
from nbkit.models.loading import attention_mask, padded, quiet, torch_device
from nbkit.models.pretrained import positions
from nbkit.models.translators.seq2seq import Ids, TokenizedTranslator
from nbkit.models.weights import check_bytes, read_json

_SEARCH_FIELDS = (
    *("suppress_sequences", "no_repeat_ngram_size", "repetition_penalty", "first", "forced_end", "positions"),
)
#: Texts of one batch of the engine on a CPU, about, and source tokens × beams at most (measured in
#: benchmarks/backends.py).
_EXAMPLES, _MOST_TOKENS = 64, 16384
_AGAIN = "converted again"


def load_engine(engine: Any, reference: Origin, folder: Path, device: torch.device, dtype: str) -> tuple[Any, Path]:
    """An *engine* (``ctranslate2.Translator``, ``Encoder``, ``Generator``) of a checkpoint, and the converted folder.

    folder: the checkpoint's files, converted now where they are not yet (`ensure_converted`). dtype: what is computed
    in; weights are rounded further where the backend of the model's name says so.

    Raises `ModelError` as `ensure_converted` does, for a type that the device does not have, and for a converted folder
    that is damaged.
    """
    converted = ensure_converted(reference, folder)
    way_out = f"delete the folder {converted}, and the model is {_AGAIN}"
    check_bytes(converted, f"model '{reference.full_name}'", way_out)
    quantization = reference.backend.quantization
    compute_type = f"{quantization}_{dtype}" if quantization else dtype
    try:
        made = engine(
            str(converted),
            device=device.type,
            device_index=device.index or 0,
            compute_type=compute_type,
            intra_threads=torch.get_num_threads(),
        )
    except Exception as error:  # C++ has many kinds for damaged files
        if isinstance(error, ValueError) and device.type in ("cpu", "cuda"):
            known = ", ".join(sorted(ctranslate2.get_supported_compute_types(device.type)))
            raise ModelError(
                f"model '{reference.full_name}': cannot compute in '{compute_type}' on '{device}'; there are: {known}"
            ) from error
        raise _damaged(reference, converted, error) from error
    return made, converted


def _read_settings(reference: Origin, path: Path, *needed: str) -> dict[str, Any]:
    """What was kept beside a converted model, *needed* above all. Raises `ModelError` where it is damaged."""
    try:
        found = read_json(path)
    except ModelError as error:
        raise _damaged(reference, path.parent, error) from None
    missing = [name for name in needed if name not in found]
    if missing:
        raise _damaged(reference, path.parent, ModelError(f"{path.name} holds no {', '.join(missing)}"))
    return found


def _damaged(reference: Origin, folder: Path, error: Exception) -> ModelError:
    """The error about what was converted and cannot be used, with the way out."""
    return ModelError(
        f"model '{reference.full_name}': {folder} cannot be loaded: {error}. Delete this folder, and the model is "
        f"{_AGAIN}"
    )


class CTranslate2Translator(TokenizedTranslator):
    """A converted encoder-decoder with the checkpoint's own tokenizer.

    Greedy search gives the hypotheses that transformers gives. So does beam search with ``early_stopping``; without it
    this engine has no exact counterpart, and the search goes on until one hypothesis more than there are beams is
    finished, which is nearest (some 97 of 100 captions the same). Weights are rounded where the backend's name says
    so.
    """

    #: What the engine is given at a time. On a CPU it takes it in smaller batches (`_examples`), all but the last one
    #: of one size: the fewer the texts of a batch, the longer each takes.
    budgets: ClassVar = {"cpu": 16384, "cuda": 65536}

    def __init__(self, reference: Reference, folder: Path, device: str, dtype: str):
        place = torch_device(device)
        super().__init__(reference, folder, device)
        self.model, converted = load_engine(ctranslate2.Translator, reference, folder, place, dtype)
        self._search = _read_settings(reference, converted / SEARCH_FILE, *_SEARCH_FIELDS)
        self.positions = min(self._search["positions"], self.tokenizer.model_max_length)

    def _generate(self, batch: list[Ids], target: int | None, decoding: Decoding, limit: int) -> list[list[int]]:
        first = self._search["first"] if target is None else target
        results = self.model.translate_batch(
            [_names(row) for row in batch],
            max_batch_size=_examples(batch, decoding.beams) if self.kind == "cpu" else 0,
            target_prefix=None if first is None else [_names((first,))] * len(batch),
            beam_size=decoding.beams,
            patience=patience(decoding),
            length_penalty=decoding.length_penalty,
            # An end that is forced takes the last place.
            max_decoding_length=limit - 1 if self._search["forced_end"] else limit,
            min_decoding_length=0,
            max_input_length=0,
            suppress_sequences=self._search["suppress_sequences"] or None,
            no_repeat_ngram_size=self._search["no_repeat_ngram_size"],
            repetition_penalty=self._search["repetition_penalty"],
        )
        return [list(map(int, result.hypotheses[0][0 if target is None else 1 :])) for result in results]

    def _log_probabilities(self, batch: list[tuple[Ids, Ids]], *, forced: bool) -> list[float]:
        results = self.model.score_batch(
            [_names(source) for source, _ in batch],
            [_names(labels[:-1]) for _, labels in batch],  # it puts the end there itself
            offset=1 if forced else 0,
            max_input_length=0,
        )
        return [math.fsum(result.log_probs) / len(result.log_probs) for result in results]


def patience(decoding: Decoding) -> float:
    """How many hypotheses have to be finished for the search to stop, as a multiple of the beams.

    >>> patience(Decoding(beams=4, early_stopping=True)), patience(Decoding(beams=4))
    (1.0, 1.25)
    """
    if decoding.early_stopping or decoding.beams == 1:
        return 1.0
    return (decoding.beams + 1) / decoding.beams


def _examples(batch: Sequence[Ids], beams: int) -> int:
    """Texts of one batch of the engine on a CPU: no more of short ones are faster, and long ones fill memory.

    All batches of one size: the fewer the texts of a batch, the longer each takes.

    >>> [_examples([(5,) * length] * 100, beams=4) for length in (20, 50, 500)]
    [50, 50, 8]
    """
    most = max(1, _MOST_TOKENS // (beams * max(map(len, batch))))
    batches = max(round(len(batch) / _EXAMPLES), math.ceil(len(batch) / most))
    return math.ceil(len(batch) / batches)


def _names(ids: Ids) -> list[str]:
    return list(map(str, ids))


class ConvertedClassifier(PairClassifier):
    """`PairClassifier` on a converted encoder: the same pairs, cut as there, and the same head.

    The engine leaves padding out of all products but attention's, so that batches are of like lengths, not of one.
    """

    budgets: ClassVar = {"cpu": 2048, "cuda": 131072}

    def __init__(self, reference: ClassifierReference, folder: Path, device: str, dtype: str):
        place = torch_device(device)
        engine, converted = load_engine(ctranslate2.Encoder, reference, folder, place, dtype)
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        with torch.device("meta"), quiet():  # weights of the encoder are never made
            model = AutoModelForSequenceClassification.from_config(config)
        most = positions(model)
        body = ConvertedEncoder(engine, place, getattr(model.base_model, "pooler", None))
        try:
            head = load_file(converted / HEAD_FILE, device=str(place))
            setattr(model, model.base_model_prefix, body)
            model.load_state_dict(head, assign=True)
        except (OSError, RuntimeError, SafetensorError) as error:
            raise _damaged(reference, converted, error) from error
        super().__init__(reference, folder, model.eval(), positions=most)

    def _group(self, item: Encoded) -> None:
        return None

    def _classify(self, batch: list[Encoded]) -> list[Row]:
        rows = [padded(column, 0).to(self.device) for column in zip(*batch, strict=True)]
        mask = attention_mask([item[0] for item in batch])
        with torch.inference_mode():
            return self._as_rows(self.model(**dict(zip(INPUTS, rows, strict=False)), attention_mask=mask).logits)


class ConvertedEncoder(torch.nn.Module):
    """A CTranslate2 encoder in the place of transformers' own; gives what the heads of classifiers look at.

    That is the state of the first place, and what the *pooler* makes of it where the architecture has one (BERT).
    """

    def __init__(self, engine: Any, device: torch.device, pooler: torch.nn.Module | None):
        super().__init__()
        self.engine, self.place, self.pooler = engine, device, pooler

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None, **_: Any) -> Any:
        rows = np.ascontiguousarray(input_ids.cpu().numpy(), dtype=np.int32)
        lengths = attention_mask.sum(1).cpu().numpy().astype(np.int32)
        found = self.engine.forward_batch(
            ctranslate2.StorageView.from_array(rows),
            ctranslate2.StorageView.from_array(lengths),
            token_type_ids=None if token_type_ids is None else token_type_ids.tolist(),
        )
        view = found.last_hidden_state.to(ctranslate2.DataType.float32)
        states = torch.as_tensor(np.asarray(view) if self.place.type == "cpu" else view, device=self.place)
        first = states[:, :1].clone()
        return BaseModelOutputWithPooling(
            last_hidden_state=first, pooler_output=None if self.pooler is None else self.pooler(first)
        )


class ConvertedLanguageModel(NextTokenModel):
    """A converted GPT-2 with the checkpoint's own tokenizer. The engine looks the tokens' log-probabilities up itself.

    The tokens that are scored, and what stands before them, are those of transformers' GPT-2 here.
    """

    #: All logits of a batch are in memory: half a gigabyte for 2048 tokens of GPT-2.
    budgets: ClassVar = {"cpu": 1024, "cuda": 16384}

    def __init__(self, reference: LanguageModelReference, folder: Path, device: str, dtype: str):
        place = torch_device(device)
        engine, converted = load_engine(ctranslate2.Generator, reference, folder, place, dtype)
        settings = _read_settings(reference, converted / SETTINGS_FILE, "positions")
        super().__init__(reference, folder, place, settings["positions"])
        self.model = engine

    def _score(self, batch: list[Ids]) -> list[Likelihood]:
        filled = [list(map(str, ids)) for ids in batch if len(ids) > 1]
        scored = iter(self.model.score_batch(filled, max_input_length=0))
        found = [next(scored).log_probs if len(ids) > 1 else () for ids in batch]
        return [Likelihood(math.fsum(log_p), len(log_p)) for log_p in found]
