"""Checkpoints in CTranslate2's format: converted once, kept in the cache under the digest of their files.

The converted vocabulary is the ids themselves ("0", "1", …), as the texts are cut by the checkpoint's own tokenizer in
any case. That way no token can be missing from a list of names, which differs from one tokenizer and release to the
next.

The embedding of ``<pad>``, with which Marian's decoder starts, is kept as any other. Published Marian models have zeros
there, and the stock converter takes that for granted; checkpoints trained in transformers do not, and then
two thirds of their hypotheses would come out different.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import ctranslate2
import torch
from ctranslate2.converters import transformers as stock
from filelock import FileLock

from nbkit.errors import ModelError
from nbkit.models.backends import CONVERSION
from nbkit.models.catalogue import Origin
from nbkit.models.decoding import Decoding
from nbkit.models.loading import torch_device
from nbkit.models.translators.catalogue import Family, Reference, check_backend, family_of
from nbkit.models.translators.seq2seq import Ids, TokenizedTranslator, load_seq2seq
from nbkit.models.weights import check_bytes, folder_digest, models_folder, read_json, write_digests

#: What the checkpoint's generation settings say about the search, in CTranslate2's words.
SEARCH_FILE = "search.json"


SEARCH_FIELDS = (
    *("suppress_sequences", "no_repeat_ngram_size", "repetition_penalty", "first", "forced_end", "positions"),
)


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
    """The folder of the converted model; converted now where it is not there yet.

    folder: the checkpoint's files. Of several processes that ask, one converts and the others wait; a conversion that
    was broken off leaves nothing behind that could be taken for a model.

    Raises `ModelError` for an architecture that has no conversion, for settings that CTranslate2 does not know, and
    where the files cannot be read or written.
    """
    reference.backend.require()
    family = family_of(reference, folder)
    check_backend(reference, family)

    def convert(target: Path) -> None:
        model = load_seq2seq(reference, folder, torch.float32)
        search = _search_settings(reference, model)
        save_spec(_LOADERS[family.model_type](), model, target)
        (target / SEARCH_FILE).write_text(json.dumps(search), encoding="utf-8")

    return converted_once(reference, folder, convert)


def converted_once(reference: Origin, folder: Path, convert: Callable[[Path], None]) -> Path:
    """The folder that *convert* filled from the checkpoint in *folder*, kept in the cache: now, or some time before."""
    name = f"{folder_digest(folder)}-{reference.backend.version}-{CONVERSION}"
    target = models_folder() / reference.backend.package / name
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f".{name}.lock")):
            if not target.is_dir():
                partial = target.with_name(f".{target.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir()
                try:
                    # What is converted is a model by itself from now on.
                    check_bytes(folder, f"model '{reference.full_name}'")
                    convert(partial)
                    write_digests(partial)
                    partial.replace(target)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"model '{reference.full_name}': {target} cannot be written: {error}") from error
    return target


def save_spec(loader: stock.ModelLoader, model: Any, target: Path) -> None:
    """Writes what *loader* makes of a transformers model; tokens are named by their ids."""
    with torch.no_grad():
        converted = loader(model, None)
    converted.validate()
    converted.optimize()
    converted.save(str(target))


def _search_settings(reference: Reference, model: Any) -> dict[str, Any]:
    """What a checkpoint forbids and forces, and its length, as `Seq2SeqTranslator` honours it."""
    settings = model.generation_config
    for name, silent in _UNKNOWN_SETTINGS.items():
        value = getattr(settings, name, None)
        if value not in (None, silent):
            raise ModelError(
                f"model '{reference.full_name}': its generation settings have {name}: {value!r}, which "
                f"{reference.backend.package} does not know; take '{reference.name}'"
            )
    forbidden = [*(settings.bad_words_ids or []), *([token] for token in settings.suppress_tokens or [])]
    return {
        "suppress_sequences": [list(map(str, row)) for row in forbidden],
        "no_repeat_ngram_size": settings.no_repeat_ngram_size or 0,
        "repetition_penalty": settings.repetition_penalty or 1.0,
        "first": settings.forced_bos_token_id,
        "forced_end": settings.forced_eos_token_id is not None,
        "positions": model.config.max_position_embeddings,
    }


class _ById(stock.BartLoader):
    """Names tokens by their ids."""

    def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
        return []

    def set_vocabulary(self, spec: Any, tokens: list[str]) -> None:
        (source,) = spec.get_source_vocabulary_size()
        spec.register_source_vocabulary(list(map(str, range(source))))
        spec.register_target_vocabulary(list(map(str, range(spec.get_target_vocabulary_size()))))

    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        end = str(model.config.eos_token_id)
        # No id is out of the vocabulary, so that what stands for an unknown one is never needed.
        config.bos_token = config.eos_token = config.unk_token = end
        config.decoder_start_token = str(model.config.decoder_start_token_id)


class _Marian(_ById):
    def get_model_spec(self, model: Any) -> Any:
        model.config.normalize_before = False
        model.config.normalize_embedding = False
        return super().get_model_spec(model)


class _MBart(_ById):
    def get_model_spec(self, model: Any) -> Any:
        model.config.normalize_before = True  # no longer in the config since transformers 5
        return super().get_model_spec(model)


class _M2M100(_ById, stock.M2M100Loader):
    """M2M-100 and NLLB."""


_LOADERS = {"marian": _Marian, "mbart": _MBart, "m2m_100": _M2M100}


# ----------------------------------------------------------------------------
# Loading what was converted into one of CTranslate2's engines.

_AGAIN = "converted again"


def checked(reference: Origin, folder: Path) -> Path:
    """The *folder* of a converted model; `ModelError` where a file in it is not what was converted."""
    check_bytes(folder, f"model '{reference.full_name}'", f"delete the folder {folder}, and the model is {_AGAIN}")
    return folder


def read_settings(reference: Origin, path: Path, *needed: str) -> dict[str, Any]:
    """What was kept beside a converted model, *needed* above all. Raises `ModelError` where it is damaged."""
    try:
        found = read_json(path)
    except ModelError as error:
        raise damaged(reference, path.parent, error) from None
    missing = [name for name in needed if name not in found]
    if missing:
        raise damaged(reference, path.parent, ModelError(f"{path.name} holds no {', '.join(missing)}"))
    return found


def load_engine(engine: Any, reference: Origin, folder: Path, device: torch.device, dtype: str) -> Any:
    """An *engine* (``ctranslate2.Translator``, ``Encoder``, ``Generator``) of the converted model in *folder*.

    dtype: what is computed in; weights are rounded further where the backend of the model's name says so. Raises
    `ModelError` for a type that the device does not have, and for a folder that is damaged.
    """
    quantization = reference.backend.quantization
    compute_type = f"{quantization}_{dtype}" if quantization else dtype
    try:
        return engine(
            str(folder),
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
        raise damaged(reference, folder, error) from error


def damaged(reference: Origin, folder: Path, error: Exception) -> ModelError:
    """The error about what was converted and cannot be used, with the way out."""
    return ModelError(
        f"model '{reference.full_name}': {folder} cannot be loaded: {error}. Delete this folder, and the model is "
        f"{_AGAIN}"
    )


# ----------------------------------------------------------------------------
# The CTranslate2 backend: the same checkpoints, run by an engine that is several times as fast on a CPU.

#: Texts of one batch of the engine on a CPU, about, and source tokens × beams at most (measured in
#: benchmarks/backends.py).
_EXAMPLES, _MOST_TOKENS = 64, 16384


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

    def __init__(self, reference: Reference, family: Family, folder: Path, device: str, dtype: str):
        place = torch_device(device)
        super().__init__(reference, family, folder, device)
        converted = checked(reference, ensure_converted(reference, folder))
        self._search = read_settings(reference, converted / SEARCH_FILE, *SEARCH_FIELDS)
        self.positions = min(self._search["positions"], self.tokenizer.model_max_length)
        self.model = load_engine(ctranslate2.Translator, reference, converted, place, dtype)

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
