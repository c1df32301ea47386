"""BERTScore: greedy matching of contextual token embeddings, computed by the bert-score package's functions.

P = mean over hypothesis tokens of the largest cosine with a reference token, R the other way round, F1 = 2PR/(P+R).

Source: Zhang et al. 2020; the word-order paper's figure 10. bert-score 0.3.13 loads models in ways that are not
wanted here (pickles, a path that contains "t5" taken for T5) and trips over empty texts and over tokenizers without a
length limit; loading and batching are therefore nbkit's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from nbkit.errors import MissingExtraError, ModelError, NbkitError
from nbkit.measure.base import check_pairs, indices_of
from nbkit.models import pretrained
from nbkit.models.batching import run_batches
from nbkit.progress import progress_bar

#: bert-score's own choice for every target language of the papers but Chinese, and one for all is comparable.
DEFAULT_MODEL = "google-bert/bert-base-multilingual-cased"


_DEFAULT_LAYER = 9


_MEASURES = ("precision", "recall", "f1")


_INSTALL = 'bertscore needs the package bert-score: pip install "nbkit[bertscore]"'


#: Pairs whose embeddings are in memory together.
_WINDOW = 1024


class _Encoder(NamedTuple):
    tokenizer: Any
    network: Any


@dataclass(frozen=True)
class BertScore:
    """BERTScore without idf weights and without rescaling, in [0, 1].

    model: hub id or folder of any encoder. layer: whose output is the embedding, counted from 1; None: the one
    that bert-score lists for the model, which must be given for a model that it does not list.
    measure: "f1", "precision" or "recall". device: "auto" (CUDA where there is one), "cpu", "cuda".

    An empty side scores 0, as in bert-score. Cosines below 0, which trained encoders hardly ever give, count as 0.

    >>> BertScore().signature("de")
    'BERTScore|model:google-bert/bert-base-multilingual-cased|layer:9|measure:f1|idf:no|rescale:no|bert-score:0.3.13'
    """

    model: str = DEFAULT_MODEL
    layer: int | None = None
    measure: Literal["f1", "precision", "recall"] = "f1"
    device: str = "auto"
    name: ClassVar[str] = "bertscore"
    symbol: ClassVar[str] = "BERT"
    bounded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.layer is not None and self.layer < 1:
            raise NbkitError(f"bertscore: layers are counted from 1; layer {self.layer} asked for")
        if self.measure not in _MEASURES:
            raise NbkitError(f"bertscore: unknown measure '{self.measure}'; there are: {', '.join(_MEASURES)}")

    def signature(self, lang: str) -> str:
        """The model (a folder without its path), the layer and the settings; *lang* changes nothing.

        Raises `MissingExtraError` without the package bert-score, `ModelError` for a model whose layer is not known.

        >>> BertScore(model="roberta-large", layer=17, measure="recall").signature("en")
        'BERTScore|model:roberta-large|layer:17|measure:recall|idf:no|rescale:no|bert-score:0.3.13'
        """
        return (
            f"BERTScore|model:{pretrained.signature_label(self.model)}|layer:{self._layer}|measure:{self.measure}"
            f"|idf:no|rescale:no|bert-score:{_package_version()}"
        )

    def identity(self, lang: str) -> dict[str, Any]:
        """The metric's part of a cache key: name, signature, what stands for the weights, device and versions.

        Loads nothing. Weights that cannot be had are None here. Raises what `signature` raises.

        >>> sorted(BertScore(device="cpu").identity("en"))
        ['device', 'hub', 'metric', 'signature', 'torch', 'transformers', 'weights']
        """
        return {
            "metric": self.name,
            "signature": self.signature(lang),
            **pretrained.network_identity(self.model, self.device),
        }

    def problem(self, lang: str | None = None) -> str | None:
        """Why it cannot be used here: the package, the layer, or the weights; None where nothing is missing."""
        if find_spec("bert_score") is None:
            return _INSTALL
        try:
            self._layer  # noqa: B018
        except ModelError as error:
            return str(error)
        return pretrained.obstacle(self.model)

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """The chosen measure (F1, P or R; see the module) of each pair: a float64 array in [0, 1], one entry a pair.

        A pair with a blank side scores 0 and needs no model. Raises `NbkitError` where the lists are not equally long
        or hold anything but texts, `MissingExtraError` without the package, `ModelError` for weights that cannot be
        had. Source: Zhang et al. 2020, §3.

        >>> BertScore().scores(["", "a cat"], ["a cat", " "], "en").tolist()
        [0.0, 0.0]
        """
        check_pairs(self.name, hypotheses, references, lang)
        values = np.zeros(len(hypotheses))
        # All hypotheses of a reference stand together, so that a window embeds it once.
        filled = [
            i
            for places in indices_of(references).values()
            for i in places
            if hypotheses[i].strip() and references[i].strip()
        ]
        with progress_bar(f"{self.name} {lang}", len(filled), unit="pair") as bar:
            for start in range(0, len(filled), _WINDOW):
                places = filled[start : start + _WINDOW]
                values[places] = self._window([(hypotheses[i], references[i]) for i in places])
                bar.update(len(places))
        return np.clip(values, 0.0, 1.0)

    def _window(self, pairs: list[tuple[str, str]]) -> list[float]:
        import torch

        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens = dict(zip(texts, map(self._tokens, texts), strict=True))
        size = pretrained.budget(self._encoder.network)
        embedded = run_batches(tokens.values(), len, self._embed, size, group=len, window=len(texts))
        embeddings = dict(zip(texts, embedded, strict=True))
        special = {self._encoder.tokenizer.cls_token_id, self._encoder.tokenizer.sep_token_id}
        weights = {text: torch.tensor([float(token not in special) for token in tokens[text]]) for text in texts}

        def match(batch: list[tuple[str, str]]) -> list[float]:
            from bert_score.utils import greedy_cos_idf

            # Embeddings, mask and weights of references and hypotheses; copies, because they are changed in place.
            sides = [
                (
                    torch.stack([embeddings[pair[side]] for pair in batch]),
                    torch.ones(len(batch), len(tokens[batch[0][side]]), device=self._encoder.network.device),
                    torch.stack([weights[pair[side]] for pair in batch]).to(self._encoder.network.device),
                )
                for side in (1, 0)
            ]
            with torch.inference_mode():
                measures = greedy_cos_idf(*sides[0], *sides[1])
            return measures[_MEASURES.index(self.measure)].tolist()

        def lengths(pair: tuple[str, str]) -> tuple[int, int]:
            return len(tokens[pair[0]]), len(tokens[pair[1]])

        # Only pairs of equal lengths share a batch: padding would count as a token of cosine 0.
        return list(run_batches(pairs, lambda pair: sum(lengths(pair)), match, size, group=lengths, window=len(pairs)))

    def _tokens(self, text: str) -> tuple[int, ...]:
        from bert_score.utils import sent_encode

        return tuple(sent_encode(self._encoder.tokenizer, text))

    def _embed(self, batch: list[tuple[int, ...]]) -> list[Any]:
        """The embeddings of token sequences of one length: tokens × dimensions each, on the network's device."""
        import torch
        from bert_score.utils import bert_encode

        tokens = torch.tensor(batch, device=self._encoder.network.device)
        return list(bert_encode(self._encoder.network, tokens, torch.ones_like(tokens)))

    @cached_property
    def _layer(self) -> int:
        if self.layer is not None:
            return self.layer
        if self.model == DEFAULT_MODEL:
            return _DEFAULT_LAYER
        _package_version()
        from bert_score.utils import model2layers

        hub = pretrained.origin_of(self.model).hub
        listed = [name for name in (hub, (hub or "").rpartition("/")[2]) if name in model2layers]
        if not listed:
            raise ModelError(
                f"bertscore: bert-score lists no layer for the model '{self.model}'; say which one with layer=, "
                "such as layer=9 of the 12 of a base model"
            )
        return model2layers[listed[0]]

    @cached_property
    def _encoder(self) -> _Encoder:
        """The tokenizer and the lower `layer` layers of the encoder, loaded now."""
        _package_version()
        tokenizer, network = pretrained.load_network(
            self.model, "AutoModel", self.device, num_hidden_layers=self._layer
        )
        if network.config.is_encoder_decoder:
            network = network.get_encoder()
        return _Encoder(tokenizer, network)


def _package_version() -> str:
    """The version of bert-score; `MissingExtraError` where it is not installed."""
    if find_spec("bert_score") is None:
        raise MissingExtraError(_INSTALL)
    return version("bert-score")


#: The published base checkpoint, ported to transformers.
BLEURT_MODEL = "Elron/bleurt-base-128"


class _Regressor(NamedTuple):
    tokenizer: Any
    network: Any


@dataclass(frozen=True)
class Bleurt:
    """BLEURT by a sequence classifier of one output; the scale is the checkpoint's own, mostly −1 to 1.

    model: hub id or folder of an ``AutoModelForSequenceClassification`` with ``num_labels=1``; it reads reference and
    candidate, in this order. device: "auto" (CUDA where there is one), "cpu", "cuda".
    The longer side of a pair that is too long for the model is cut. Empty texts are scored like others.

    >>> Bleurt().signature("de")
    'BLEURT|model:Elron/bleurt-base-128|nrefs:1|case:mixed'
    """

    model: str = BLEURT_MODEL
    device: str = "auto"
    name: ClassVar[str] = "bleurt"
    symbol: ClassVar[str] = "BLEURT"
    bounded: ClassVar[bool] = False

    def signature(self, lang: str) -> str:
        """The model (a folder without its path) and the settings; *lang* changes nothing.

        >>> Bleurt(model="Elron/bleurt-tiny-512").signature("en")
        'BLEURT|model:Elron/bleurt-tiny-512|nrefs:1|case:mixed'
        """
        return f"BLEURT|model:{pretrained.signature_label(self.model)}|nrefs:1|case:mixed"

    def identity(self, lang: str) -> dict[str, Any]:
        """The metric's part of a cache key: name, signature, what stands for the weights, device and versions.

        Loads nothing. Weights that cannot be had are None here.

        >>> sorted(Bleurt(device="cpu").identity("en"))
        ['device', 'hub', 'metric', 'signature', 'torch', 'transformers', 'weights']
        """
        return {
            "metric": self.name,
            "signature": self.signature(lang),
            **pretrained.network_identity(self.model, self.device),
        }

    def problem(self, lang: str | None = None) -> str | None:
        """Why it cannot be used here, or None; loads nothing."""
        return pretrained.obstacle(self.model)

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """The regression model's rating of each pair: a float64 array on the checkpoint's own scale, not bounded.

        Raises `NbkitError` where the lists are not equally long or hold anything but texts, `ModelError` for weights
        that cannot be had or that are no regression model. Source: Sellam et al. 2020.

        >>> Bleurt().scores([], [], "en").tolist()
        []
        """
        check_pairs(self.name, hypotheses, references, lang)
        if not len(hypotheses):
            return np.zeros(0)
        pairs = (
            self._tokens(reference, candidate) for reference, candidate in zip(references, hypotheses, strict=True)
        )
        with progress_bar(f"{self.name} {lang}", len(hypotheses), unit="pair") as bar:
            values = run_batches(
                pairs,
                length=lambda pair: len(pair[0]),
                run=self._run,
                budget=pretrained.budget(self._regressor.network),
                group=lambda pair: len(pair[0]),
                done=bar.update,
            )
            return np.fromiter(values, dtype=np.float64, count=len(hypotheses))

    def _tokens(self, reference: str, candidate: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Token and segment numbers of a pair."""
        tokenizer = self._regressor.tokenizer
        encoded = tokenizer(
            reference,
            candidate,
            truncation="longest_first",
            max_length=tokenizer.model_max_length,
            return_token_type_ids=True,
        )
        return tuple(encoded["input_ids"]), tuple(encoded["token_type_ids"])

    def _run(self, batch: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[float]:
        """Scores of pairs that have as many tokens as each other."""
        import torch

        network = self._regressor.network
        tokens, segments = (torch.tensor(side, device=network.device) for side in zip(*batch, strict=True))
        given = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if getattr(network.config, "type_vocab_size", 0) > 1:
            given["token_type_ids"] = segments
        with torch.inference_mode():
            return network(**given).logits[:, 0].tolist()

    @cached_property
    def _regressor(self) -> _Regressor:
        """The tokenizer and the classifier, loaded now."""
        tokenizer, network = pretrained.load_network(self.model, "AutoModelForSequenceClassification", self.device)
        if network.config.num_labels != 1:
            raise ModelError(
                f"bleurt: '{self.model}' has {network.config.num_labels} outputs; "
                "a regression model has one (num_labels=1)"
            )
        return _Regressor(tokenizer, network)
