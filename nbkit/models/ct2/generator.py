"""Causal language models by CTranslate2: log-probabilities of texts, without a logit ever reaching Python."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, ClassVar

import ctranslate2
import torch
from ctranslate2.converters import transformers as stock

from nbkit.errors import ModelError
from nbkit.models.ct2.translator import checked, converted_once, load_engine, read_settings, save_spec
from nbkit.models.language_models.catalogue import LanguageModelReference
from nbkit.models.language_models.language_model import Ids, NextTokenModel
from nbkit.models.language_models.lifecycle import Likelihood
from nbkit.models.loading import load_trained, torch_device

#: How long a text can be.
SETTINGS_FILE = "language_model.json"


#: Settings of GPT-2 that change what it computes, and that CTranslate2 does not look at; each with the value it has.
_EXPECTED = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}


class ConvertedLanguageModel(NextTokenModel):
    """A converted GPT-2 with the checkpoint's own tokenizer. The engine looks the tokens' log-probabilities up itself.

    The tokens that are scored, and what stands before them, are those of transformers' GPT-2 here.
    """

    #: All logits of a batch are in memory: half a gigabyte for 2048 tokens of GPT-2.
    budgets: ClassVar = {"cpu": 1024, "cuda": 16384}

    def __init__(self, reference: LanguageModelReference, folder: Path, device: str, dtype: str):
        converted = checked(reference, ensure_converted_language_model(reference, folder))
        place = torch_device(device)
        settings = read_settings(reference, converted / SETTINGS_FILE, "positions")
        super().__init__(reference, folder, place, settings["positions"])
        self.model = load_engine(ctranslate2.Generator, reference, converted, place, dtype)

    def _score(self, batch: list[Ids]) -> list[Likelihood]:
        filled = [list(map(str, ids)) for ids in batch if len(ids) > 1]
        scored = iter(self.model.score_batch(filled, max_input_length=0))
        found = [next(scored).log_probs if len(ids) > 1 else () for ids in batch]
        return [Likelihood(math.fsum(log_p), len(log_p)) for log_p in found]


def ensure_converted_language_model(reference: LanguageModelReference, folder: Path) -> Path:
    """The folder of the converted model; converted now where it is not there yet.

    folder: the checkpoint's files, of an architecture of `backends.DECODERS`. Of several processes that ask, one
    converts.

    Raises `ModelError` for settings that CTranslate2 does not know, and where the files cannot be read or written.
    """
    reference.backend.require()

    def convert(target: Path) -> None:
        from transformers import AutoModelForCausalLM

        what = f"language model '{reference.name}'"
        model = load_trained(AutoModelForCausalLM, folder, torch.device("cpu"), torch.float32, what, "causal model")
        _check_settings(reference, model.config)
        save_spec(LOADERS[model.config.model_type](), model, target)
        settings = {"positions": model.config.max_position_embeddings}
        (target / SETTINGS_FILE).write_text(json.dumps(settings), encoding="utf-8")

    return converted_once(reference, folder, convert)


def _check_settings(reference: LanguageModelReference, config: Any) -> None:
    """Raises `ModelError` for what CTranslate2's GPT-2 does not do."""
    odd = [f"{name}: {getattr(config, name)}" for name, value in _EXPECTED.items() if getattr(config, name) != value]
    if config.activation_function not in stock._SUPPORTED_ACTIVATIONS:
        odd.append(f"activation_function: {config.activation_function}")
    if odd:
        raise ModelError(
            f"language model '{reference.full_name}': its settings have {', '.join(odd)}, which "
            f"{reference.backend.package} does not know; take '{reference.name}'"
        )


class _GPT2(stock.GPT2Loader):
    """Names tokens by their ids, as the checkpoint's own tokenizer cuts the texts."""

    def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
        return []

    def set_vocabulary(self, spec: Any, tokens: list[str]) -> None:
        spec.register_vocabulary(list(map(str, range(spec.get_vocabulary_size()))))

    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        # No id is out of the vocabulary, and nothing is generated: none of these is ever needed.
        config.bos_token = config.eos_token = config.unk_token = "0"
        config.layer_norm_epsilon = model.config.layer_norm_epsilon


#: What converts each model type.
LOADERS: dict[str, type[stock.ModelLoader]] = {"gpt2": _GPT2}
