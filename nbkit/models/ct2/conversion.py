"""Checkpoints in CTranslate2's format: converted once, kept in the cache under the digest of their files.

The converted vocabulary is the ids themselves ("0", "1", …), as the texts are cut by the checkpoint's own tokenizer in
any case. That way no token can be missing from a list of names, which differs from one tokenizer and release to the
next.

Of a translator, the embedding of ``<pad>``, with which Marian's decoder starts, is kept as any other. Published Marian
models have zeros there, and the stock converter takes that for granted; checkpoints trained in transformers do not, and
then two thirds of their hypotheses would come out different.

Of a classifier the encoder alone is converted. Its head, a matrix or two that see one place of each text, is kept
beside it in float32 and runs in torch, so that rounding the weights of the encoder does not round the logits.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from ctranslate2.converters import transformers as stock
from ctranslate2.specs.model_spec import SequenceToSequenceModelSpec
from filelock import FileLock
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from nbkit.errors import ModelError
from nbkit.models.backends import CONVERSION, Origin
from nbkit.models.catalogue import ClassifierReference, Reference, check_backend, family_of
from nbkit.models.loading import load_trained
from nbkit.models.translators.seq2seq import load_seq2seq
from nbkit.models.weights import check_bytes, folder_digest, models_folder, write_digests

#: What a translator's generation settings say about the search, in CTranslate2's words; how long a text of a language
#: model can be; a classifier without its encoder.
SEARCH_FILE, SETTINGS_FILE, HEAD_FILE = "search.json", "language_model.json", "head.safetensors"
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
#: Settings of GPT-2 that change what it computes, and that CTranslate2 does not look at; each with the value it has.
_EXPECTED = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}


def ensure_converted(reference: Origin, folder: Path) -> Path:
    """The folder of the converted model; converted now where it is not there yet.

    folder: the checkpoint's files, of an architecture that `nbkit.models.backends` or ``families.yaml`` has. Of several
    processes that ask, one converts and the others wait; a conversion that was broken off leaves nothing behind that
    could be taken for a model.

    Raises `ModelError` for an architecture that has no conversion, for settings that CTranslate2 does not know, and
    where the files cannot be read or written.
    """
    reference.backend.require()
    if isinstance(reference, Reference):
        check_backend(reference, family_of(reference, folder))
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
                    _convert(reference, folder, partial)
                    write_digests(partial)
                    partial.replace(target)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"model '{reference.full_name}': {target} cannot be written: {error}") from error
    return target


def _convert(reference: Origin, folder: Path, target: Path) -> None:
    if isinstance(reference, Reference):
        model = load_seq2seq(reference, folder, torch.float32)
        search = _search_settings(reference, model)
        save_spec(model, model, target)
        (target / SEARCH_FILE).write_text(json.dumps(search), encoding="utf-8")
    elif isinstance(reference, ClassifierReference):
        model = _loaded(AutoModelForSequenceClassification, f"classifier '{reference.name}'", folder, "classifier")
        _check_encoder(reference, model.config)
        head = {name: tensor.contiguous() for name, tensor in model.state_dict().items() if _is_of_head(model, name)}
        save_spec(model, model.base_model, target)
        save_file(head, target / HEAD_FILE)
    else:
        model = _loaded(AutoModelForCausalLM, f"language model '{reference.name}'", folder, "causal model")
        _check_decoder(reference, model.config)
        save_spec(model, model, target)
        settings = {"positions": model.config.max_position_embeddings}
        (target / SETTINGS_FILE).write_text(json.dumps(settings), encoding="utf-8")


def _loaded(auto: Any, what: str, folder: Path, kind: str) -> Any:
    return load_trained(auto, folder, torch.device("cpu"), torch.float32, what, kind)


def save_spec(model: Any, part: Any, target: Path) -> None:
    """Writes the converted *part* of a transformers model; tokens are named by their ids."""
    with torch.no_grad():
        converted = LOADERS[model.config.model_type]()(part, None)
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


def _is_of_head(model: Any, name: str) -> bool:
    body = f"{model.base_model_prefix}."
    return not name.startswith(body) or name.startswith(f"{body}pooler.")


def _check_encoder(reference: Origin, config: Any) -> None:
    """Raises `ModelError` for what CTranslate2's encoders do not do."""
    activation = getattr(config, "hidden_act", None) or config.activation
    kind = getattr(config, "position_embedding_type", "absolute")
    problem = None
    if activation not in stock._SUPPORTED_ACTIVATIONS:
        problem = f"the activation '{activation}'"
    elif kind != "absolute":
        problem = f"positions that are '{kind}'"
    elif getattr(config, "is_decoder", False):
        problem = "an encoder that sees what went before alone (is_decoder)"
    if problem is not None:
        raise ModelError(
            f"classifier '{reference.full_name}': {reference.backend.package} does not know {problem}, which its "
            f"settings have; take '{reference.name}'"
        )


def _check_decoder(reference: Origin, config: Any) -> None:
    """Raises `ModelError` for what CTranslate2's GPT-2 does not do."""
    odd = [f"{name}: {getattr(config, name)}" for name, value in _EXPECTED.items() if getattr(config, name) != value]
    if config.activation_function not in stock._SUPPORTED_ACTIVATIONS:
        odd.append(f"activation_function: {config.activation_function}")
    if odd:
        raise ModelError(
            f"language model '{reference.full_name}': its settings have {', '.join(odd)}, which "
            f"{reference.backend.package} does not know; take '{reference.name}'"
        )


class _ById(stock.ModelLoader):
    """Names tokens by their ids: none is out of the vocabulary, and what stands for an unknown one is never needed."""

    def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
        return []

    def set_vocabulary(self, spec: Any, tokens: list[str]) -> None:
        if isinstance(spec, SequenceToSequenceModelSpec):
            (source,) = spec.get_source_vocabulary_size()
            spec.register_source_vocabulary(_ids(source))
            spec.register_target_vocabulary(_ids(spec.get_target_vocabulary_size()))
        else:
            spec.register_vocabulary(_ids(spec.get_vocabulary_size()))


def _ids(size: int) -> list[str]:
    return list(map(str, range(size)))


class _Translator(_ById, stock.BartLoader):
    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.bos_token = config.eos_token = config.unk_token = str(model.config.eos_token_id)
        config.decoder_start_token = str(model.config.decoder_start_token_id)


class _Marian(_Translator):
    def get_model_spec(self, model: Any) -> Any:
        model.config.normalize_before = False
        model.config.normalize_embedding = False
        return super().get_model_spec(model)


class _MBart(_Translator):
    def get_model_spec(self, model: Any) -> Any:
        model.config.normalize_before = True  # no longer in the config since transformers 5
        return super().get_model_spec(model)


class _M2M100(_Translator, stock.M2M100Loader):
    """M2M-100 and NLLB."""


class _BertLike(_ById, stock.RobertaLoader):
    """BERT, and RoBERTa and its kin, whose positions are counted from after the padding id."""

    def get_model_spec(self, model: Any) -> Any:
        model.config.position_embedding_type = "absolute"  # no longer in the config since transformers 5
        model.pooler = None  # is the head's
        return super().get_model_spec(model)

    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.unk_token = "0"  # never needed: no id is out of the vocabulary
        config.layer_norm_epsilon = model.config.layer_norm_eps

    def set_position_encodings(self, spec: Any, module: Any) -> None:
        spec.encodings = module.weight if module.padding_idx is None else module.weight[module.padding_idx + 1 :]


class _DistilBert(_ById, stock.DistilBertLoader):
    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.unk_token = "0"
        config.layer_norm_epsilon = model.transformer.layer[0].sa_layer_norm.eps


class _GPT2(_ById, stock.GPT2Loader):
    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.bos_token = config.eos_token = config.unk_token = "0"
        config.layer_norm_epsilon = model.config.layer_norm_epsilon


#: What converts each model type.
LOADERS: dict[str, type[stock.ModelLoader]] = {
    **{"marian": _Marian, "mbart": _MBart, "m2m_100": _M2M100},
    **dict.fromkeys(("bert", "camembert", "roberta", "xlm-roberta"), _BertLike),
    "distilbert": _DistilBert,
    "gpt2": _GPT2,
}
