"""Encoders of classifiers by CTranslate2: what is converted, and what stands in the place of transformers' own.

The encoder alone is converted. The classifier's head, a matrix or two that see one place of each text, is kept beside
it in float32 and runs in torch, so that rounding the weights of the encoder does not round the logits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import ctranslate2
import numpy as np
import torch
from ctranslate2.converters import transformers as stock
from ctranslate2.specs.transformer_spec import TransformerEncoderModelSpec
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutputWithPooling

from nbkit.errors import ModelError
from nbkit.models.catalogue import Origin
from nbkit.models.classifiers.catalogue import ClassifierReference
from nbkit.models.classifiers.classifier import INPUTS, Encoded, PairClassifier
from nbkit.models.classifiers.lifecycle import Row
from nbkit.models.ct2.translator import checked, converted_once, damaged, load_engine, save_spec
from nbkit.models.loading import attention_mask, load_trained, padded, quiet, torch_device
from nbkit.models.pretrained import positions

#: The classifier without its encoder: settings as transformers writes them, and weights.
HEAD_FILE = "head.safetensors"


def ensure_converted_classifier(reference: Origin, folder: Path) -> Path:
    """The folder of the converted encoder and the classifier's head; converted now where it is not there yet.

    folder: the checkpoint's files, of an architecture of `backends.ENCODERS`. Of several processes that ask, one
    converts.

    Raises `ModelError` for settings that CTranslate2 does not know, and where the files cannot be read or written.
    """
    reference.backend.require()

    def convert(target: Path) -> None:
        from safetensors.torch import save_file
        from transformers import AutoModelForSequenceClassification as Auto

        what = f"classifier '{reference.name}'"
        model = load_trained(Auto, folder, torch.device("cpu"), torch.float32, what, "classifier")
        _check_settings(reference, model.config)
        head = {name: tensor.contiguous() for name, tensor in model.state_dict().items() if _is_of_head(model, name)}
        loader = LOADERS[model.config.model_type]()
        save_spec(loader, model.base_model, target)
        save_file(head, target / HEAD_FILE)

    return converted_once(reference, folder, convert)


def load_converted_classifier(
    reference: Origin, folder: Path, device: torch.device, dtype: str
) -> tuple[Any, int | None]:
    """transformers' classifier of the checkpoint in *folder* whose encoder CTranslate2 runs, and its positions.

    The model is called as transformers' own is, with a mask of where padding begins.

    Raises `ModelError` as `ensure_converted_classifier` does, and for a dtype that the device does not have.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForSequenceClassification

    converted = checked(reference, ensure_converted_classifier(reference, folder))
    engine = load_engine(ctranslate2.Encoder, reference, converted, device, dtype)
    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    with torch.device("meta"), quiet():  # weights of the encoder are never made
        model = AutoModelForSequenceClassification.from_config(config)
    most = positions(model)
    body = ConvertedEncoder(engine, device, getattr(model.base_model, "pooler", None))
    try:
        head = load_file(converted / HEAD_FILE, device=str(device))
        setattr(model, model.base_model_prefix, body)
        model.load_state_dict(head, assign=True)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise damaged(reference, converted, error) from error
    return model.eval(), most


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


def _is_of_head(model: Any, name: str) -> bool:
    body = f"{model.base_model_prefix}."
    return not name.startswith(body) or name.startswith(f"{body}pooler.")


def _check_settings(reference: Origin, config: Any) -> None:
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


class _ById:
    """Names tokens by their ids: a mixin for loaders, as the checkpoint's own tokenizer cuts the texts."""

    def get_vocabulary(self, model: Any, tokenizer: Any) -> list[str]:
        return []

    def set_vocabulary(self, spec: TransformerEncoderModelSpec, tokens: list[str]) -> None:
        spec.register_vocabulary(list(map(str, range(spec.get_vocabulary_size()))))


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


#: What converts the encoder of each model type.
LOADERS: dict[str, type[stock.ModelLoader]] = {
    "bert": _BertLike,
    "camembert": _BertLike,
    "distilbert": _DistilBert,
    "roberta": _BertLike,
    "xlm-roberta": _BertLike,
}


# ----------------------------------------------------------------------------
# Classifiers whose encoder CTranslate2 runs.


class ConvertedClassifier(PairClassifier):
    """`PairClassifier` on a converted encoder: the same pairs, cut as there, and the same head.

    The engine leaves padding out of all products but attention's, so that batches are of like lengths, not of one.
    """

    budgets: ClassVar = {"cpu": 2048, "cuda": 131072}

    def __init__(self, reference: ClassifierReference, folder: Path, device: str, dtype: str):
        model, positions = load_converted_classifier(reference, folder, torch_device(device), dtype)
        super().__init__(reference, folder, model, positions=positions)

    def _group(self, item: Encoded) -> None:
        return None

    def _classify(self, batch: list[Encoded]) -> list[Row]:
        rows = [padded(column, 0).to(self.device) for column in zip(*batch, strict=True)]
        mask = attention_mask([item[0] for item in batch])
        with torch.inference_mode():
            return self._as_rows(self.model(**dict(zip(INPUTS, rows, strict=False)), attention_mask=mask).logits)
