"""Translators that CTranslate2 runs: checkpoints in its format, converted once, with the checkpoint's own tokenizer.

Conversions are cached under the digest of their files. The converted vocabulary consists of the ids ("0", "1", …), as
the checkpoint's tokenizer processes the texts in any case. So no token can be missing from a list of names, which
differs between tokenizers and releases.

For a translator, the embedding of ``<pad>``, with which Marian's decoder starts, is converted like any other. Published
Marian models have zeros there, as the stock converter assumes; checkpoints trained in transformers do not, and two
thirds of their hypotheses would differ.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import ctranslate2
import torch
from ctranslate2.converters import transformers as stock
from ctranslate2.specs.model_spec import SequenceToSequenceModelSpec
from filelock import FileLock

from nbkit.errors import ModelError
from nbkit.models.backends import CONVERSION, Decoding
from nbkit.models.catalogue import Reference, check_backend, family_of
from nbkit.models.loading import torch_device
from nbkit.models.translators.seq2seq import Ids, TokenizedTranslator, load_seq2seq
from nbkit.models.weights import DIGESTS, check_bytes, folder_digest, models_folder, read_json, write_digests

# ----------------------------------------------------------------------------
# Conversion.

#: What a checkpoint's generation settings say about the search, in CTranslate2's words.
SEARCH_FILE = "search.json"
#: Generation settings that would change a beam search, and that CTranslate2 has no counterpart of; each with the value
#: that says nothing.
_UNKNOWN_SETTINGS = {
    "begin_suppress_tokens": None,
    "diversity_penalty": 0.0,
    "encoder_no_repeat_ngram_size": 0,
    "encoder_repetition_penalty": 1.0,
    "exponential_decay_length_penalty": None,
    "guidance_scale": None,
    "min_new_tokens": None,
    "num_beam_groups": 1,
    "sequence_bias": None,
    "stop_strings": None,
}


def ensure_converted(reference: Reference, folder: Path) -> Path:
    """The folder of the converted model; converts it if it is missing.

    folder: the checkpoint's files, of an architecture in ``families.yaml``. If several
    processes call this, one converts and the others wait; an interrupted conversion leaves nothing that could be taken
    for a model.

    Raises `ModelError` for an unsupported architecture or setting, and if files cannot be read or written.
    """
    reference.backend.require()
    check_backend(reference, family_of(reference, folder))
    name = f"{folder_digest(folder)}-{reference.backend.version}-{CONVERSION}"
    target = models_folder() / reference.backend.package / name
    if (target / DIGESTS).is_file():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{name}.lock")):
            if not (target / DIGESTS).is_file():  # what was never whole, or is of an early version, is made anew
                shutil.rmtree(target, ignore_errors=True)
                partial = target.with_name(f".{target.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir()
                try:
                    # The conversion is a separate model from now on.
                    check_bytes(folder, f"model '{reference.full_name}'")
                    _convert(reference, folder, partial)
                    write_digests(partial)
                    partial.replace(target)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"model '{reference.full_name}': {target} cannot be written: {error}") from error
    return target


def _convert(reference: Reference, folder: Path, target: Path) -> None:
    model = load_seq2seq(reference, folder, torch.float32)
    search = _search_settings(reference, model)
    save_spec(model, model, target)
    (target / SEARCH_FILE).write_text(json.dumps(search), encoding="utf-8")


def save_spec(model: Any, part: Any, target: Path) -> None:
    """Writes the converted *part* of a transformers model; tokens are named by their ids."""
    with torch.no_grad():
        converted = LOADERS[model.config.model_type]()(part, None)
    converted.validate()
    converted.optimize()
    converted.save(str(target))


def _refuse(reference: Reference, settings: str, unknown: Sequence[str]) -> None:
    """Raises `ModelError` for *settings* of a checkpoint that the engine does not support."""
    if unknown:
        raise ModelError(
            f"{reference.noun} '{reference.full_name}': its {settings} have {', '.join(unknown)}, which "
            f"{reference.backend.package} does not support; use '{reference.name}'"
        )


def _search_settings(reference: Reference, model: Any) -> dict[str, Any]:
    """Forbidden and forced tokens and lengths of a checkpoint, which `Seq2SeqTranslator` respects as well."""
    settings = model.generation_config
    found = {name: getattr(settings, name, None) for name in _UNKNOWN_SETTINGS}
    odd = [f"{name}: {value!r}" for name, value in found.items() if value not in (None, _UNKNOWN_SETTINGS[name])]
    _refuse(reference, "generation settings", odd)
    forbidden = [*(settings.bad_words_ids or []), *([token] for token in settings.suppress_tokens or [])]
    return {
        "suppress_sequences": [list(map(str, row)) for row in forbidden],
        "no_repeat_ngram_size": settings.no_repeat_ngram_size or 0,
        "repetition_penalty": settings.repetition_penalty or 1.0,
        "first": settings.forced_bos_token_id,
        "forced_end": settings.forced_eos_token_id is not None,
        "positions": model.config.max_position_embeddings,
    }


class _ById(stock.ModelLoader):
    """Names tokens by their ids: no token is out of the vocabulary, so an unknown token is never needed."""

    #: Settings that the stock loader reads, and that transformers 5 has no longer.
    settings: ClassVar[Mapping[str, Any]] = {}

    def get_model_spec(self, model: Any) -> Any:
        model.config.update(self.settings)
        return super().get_model_spec(model)

    def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
        return []

    def set_vocabulary(self, spec: Any, tokens: list[str]) -> None:
        if isinstance(spec, SequenceToSequenceModelSpec):
            (source,) = spec.get_source_vocabulary_size()
            spec.register_source_vocabulary(_names(range(source)))
            spec.register_target_vocabulary(_names(range(spec.get_target_vocabulary_size())))
        else:
            spec.register_vocabulary(_names(range(spec.get_vocabulary_size())))


class _Translator(_ById, stock.BartLoader):
    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.bos_token = config.eos_token = config.unk_token = str(model.config.eos_token_id)
        config.decoder_start_token = str(model.config.decoder_start_token_id)


class _Marian(_Translator):
    settings: ClassVar = {"normalize_before": False, "normalize_embedding": False}


class _MBart(_Translator):
    settings: ClassVar = {"normalize_before": True}


class _M2M100(_Translator, stock.M2M100Loader):
    """M2M-100 and NLLB."""


#: What converts each model type.
LOADERS: dict[str, type[stock.ModelLoader]] = {
    **{"marian": _Marian, "mbart": _MBart, "m2m_100": _M2M100},
}


# ----------------------------------------------------------------------------
# Engines.

#: Texts of one batch of the engine on a CPU, about, and source tokens × beams at most (measured in
#: benchmarks/backends.py).
_EXAMPLES, _MOST_TOKENS = 64, 16384


def load_engine(engine: Any, reference: Reference, folder: Path, device: torch.device, dtype: str) -> tuple[Any, Path]:
    """An *engine* (``ctranslate2.Translator``) of a checkpoint, and the converted folder.

    folder: the checkpoint's files, converted now where they are not yet (`ensure_converted`). dtype: what is computed
    in; weights are rounded further where the backend of the model's name says so.

    Raises `ModelError` as `ensure_converted` does, for a type that the device does not have, and for a converted folder
    that is damaged.
    """
    converted = ensure_converted(reference, folder)
    what = f"model '{reference.full_name}'"
    check_bytes(converted, what, f"delete the folder {converted} to convert the model again")
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
    except Exception as error:  # C++ has many kinds
        if isinstance(error, ValueError) and device.type in ("cpu", "cuda"):
            known = ", ".join(sorted(ctranslate2.get_supported_compute_types(device.type)))
            raise ModelError(
                f"{what}: dtype '{compute_type}' not available on '{device}'; there are: {known}"
            ) from error
        raise ModelError(
            f"{what}: {converted} cannot be loaded: {error}. Delete this folder to convert the model again"
        ) from error
    return made, converted


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
        self._search = read_json(converted / SEARCH_FILE)
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


def _names(ids: Iterable[int]) -> list[str]:
    return list(map(str, ids))
