"""nbkit's networks as ordinary transformers models: three sentence encoders, an LSTM and ConvS2S.

Importing this module registers them with transformers, so that its ``Auto`` classes load their folders.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import glu, pad
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    Cache,
    DynamicCache,
    EncoderDecoderCache,
    GenerationMixin,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers import initialization as init
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput, SequenceClassifierOutput
from transformers.models.bart.modeling_bart import shift_tokens_right
from transformers.utils import can_return_tuple


def recurrent_states(lstm: nn.LSTM, words: Tensor, lengths: Tensor) -> Tensor:
    """The states of a bidirectional *lstm* over sentences of these *lengths*; zeros behind each.

    They are packed, as the backward direction has to begin at each sentence's own last word.
    """
    packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=words.shape[1])[0]


# ----------------------------------------------------------------------------
# The three sentence encoders of Conneau et al. 2017.
#
# Each sentence of a pair is encoded separately; the layer that compares the codes u and v reads [u, v, |u − v|, u ∗ v].

#: Convolutions of the ConvNet, one above the other; the code holds what each of them found.
CONVOLUTIONS = 4


class SentencePairConfig(PreTrainedConfig):
    """Settings of a `SentencePairClassifier`.

    encoder: ``infersent``, ``bilstm`` or ``convnet``. embedding_size: width of the word vectors. hidden_size: units of
    the LSTM in each direction; convolutions have twice as many channels. comparison_size: width of the layer that
    compares the two codes. dropout: in that layer, and on the word vectors.
    """

    model_type = "nbkit-sentence-pair"

    encoder: str = "infersent"
    vocab_size: int = 30000
    embedding_size: int = 300
    hidden_size: int = 2048
    comparison_size: int = 512
    dropout: float = 0.0
    initializer_range: float = 0.1
    pad_token_id: int | None = 0


class SentenceLstm(nn.Module):
    """InferSent: a bidirectional LSTM with max pooling over the words.

    As ``bilstm``, its states are first projected linearly.
    """

    def __init__(self, config: SentencePairConfig):
        super().__init__()
        self.size = 2 * config.hidden_size
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, batch_first=True, bidirectional=True)
        is_projected = config.encoder == "bilstm"
        self.projection = nn.Linear(self.size, self.size, bias=False) if is_projected else nn.Identity()

    def forward(self, words: Tensor, mask: Tensor | None) -> Tensor:
        """The code of each sentence: the maximum over positions of projected LSTM states."""
        if mask is None:
            return self.projection(self.lstm(words)[0]).amax(1)
        states = recurrent_states(self.lstm, words, mask.sum(1))
        return self.projection(states).masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(1)


class SentenceConvNet(nn.Module):
    """The hierarchical ConvNet: four stacked convolutions, whose max-pooled outputs are concatenated."""

    def __init__(self, config: SentencePairConfig):
        super().__init__()
        channels = 2 * config.hidden_size
        widths = [config.embedding_size, *(channels,) * CONVOLUTIONS]
        self.size = CONVOLUTIONS * channels
        self.convolutions = nn.ModuleList(
            nn.Conv1d(below, above, kernel_size=3, padding=1) for below, above in pairwise(widths)
        )

    def forward(self, words: Tensor, mask: Tensor | None) -> Tensor:
        """The code of each sentence: the maxima over positions of all convolutions' states."""
        # Each layer sees zeros beyond the sentence, as it does without padding.
        present = 1 if mask is None else mask.unsqueeze(1)
        states, found = words.transpose(1, 2) * present, []
        for convolution in self.convolutions:
            states = convolution(states).relu() * present
            found.append(states.amax(2))
        return torch.cat(found, 1)


ENCODERS: dict[str, Any] = {"infersent": SentenceLstm, "bilstm": SentenceLstm, "convnet": SentenceConvNet}


class SentencePairClassifier(PreTrainedModel):
    """A sentence encoder and what compares two of its codes: softmax(W₂ tanh(W₁ [u, v, |u − v|, u ∗ v])).

    The input is that of any classifier of pairs: both sentences in one row of ids, distinguished by ``token_type_ids``.

    >>> config = SentencePairConfig(vocab_size=9, embedding_size=4, hidden_size=3, comparison_size=5, num_labels=3)
    >>> model = SentencePairClassifier(config).eval()
    >>> ids, sides = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[0, 0, 1, 1]])
    >>> model(ids, token_type_ids=sides).logits.shape
    torch.Size([1, 3])
    """

    config_class = SentencePairConfig
    base_model_prefix = "encoder"
    _input_embed_layer = "embeddings"

    def __init__(self, config: SentencePairConfig):
        super().__init__(config)
        self.embeddings: nn.Module = nn.Embedding(config.vocab_size, config.embedding_size, config.pad_token_id)
        encoder = ENCODERS[config.encoder](config)
        self.encoder = encoder
        self.dropout = nn.Dropout(config.dropout)
        self.comparison = nn.Linear(4 * encoder.size, config.comparison_size)
        self.output = nn.Linear(config.comparison_size, config.num_labels or 1)
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Initialise layers of any width so that outputs are as large as inputs; others as transformers does."""
        if isinstance(module, nn.Linear | nn.Conv1d):
            init.xavier_uniform_(module.weight)
            if module.bias is not None:
                init.zeros_(module.bias)
        else:
            super()._init_weights(module)

    def encode(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Codes of sentences, (sentences × code). mask: False where *ids* are padding; None where none are."""
        return self.encoder(self.dropout(self.embeddings(ids)), mask)

    def compare(self, premises: Tensor, hypotheses: Tensor) -> Tensor:
        """Logits of pairs, (pairs × labels), from the codes of their two sides."""
        features = [premises, hypotheses, (premises - hypotheses).abs(), premises * hypotheses]
        hidden = self.comparison(self.dropout(torch.cat(features, 1))).tanh()
        return self.output(self.dropout(hidden))

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> SequenceClassifierOutput:
        """Logits (and loss) of pairs; *token_type_ids*, which is required: 0 for premise, 1 for hypothesis."""
        if token_type_ids is None:
            raise ValueError("token_type_ids: 0 for the premise and 1 for the hypothesis expected; both are needed")
        present = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        in_premise = (present * (1 - token_type_ids)).bool()
        in_hypothesis = (present * token_type_ids).bool()
        first, second = (self.encode(*_chosen_ids(input_ids, chosen)) for chosen in (in_premise, in_hypothesis))
        logits = self.compare(first, second)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def _chosen_ids(ids: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """The ids of each row where *chosen*, moved to the row's beginning, and a mask of them."""
    lengths = chosen.sum(1)
    width = int(lengths.max())
    order = (~chosen).to(torch.int8).argsort(dim=1, stable=True)[:, :width]
    mask = torch.arange(width, device=ids.device) < lengths.unsqueeze(1)
    return ids.gather(1, order), mask


AutoConfig.register(SentencePairConfig.model_type, SentencePairConfig)
AutoModelForSequenceClassification.register(SentencePairConfig, SentencePairClassifier)


# ----------------------------------------------------------------------------
# Encoder-decoders: one step of each, as transformers' `generate` expects it.
#
# What a decoder remembers of the positions before is a history: one row a position in an ordinary `DynamicCache`, from
# which each takes what it needs (the last state of an LSTM, the last inputs of a convolution). Beams are therefore
# reordered, and positions cropped, as those of any Transformer.


class History:
    """What a decoder computed at the positions before, layer by layer; a view of a transformers cache.

    >>> history = History(DynamicCache())
    >>> history.add(0, torch.zeros(1, 2, 3))
    >>> history.length, history.of(0).shape
    (2, torch.Size([1, 2, 3]))
    """

    def __init__(self, cache: Cache):
        self.cache: Any = getattr(cache, "self_attention_cache", cache)

    @property
    def length(self) -> int:
        """The number of remembered positions."""
        return int(self.cache.get_seq_length())

    def of(self, layer: int) -> Tensor:
        """The remembered rows of a layer, (sentences × positions × width)."""
        return self.cache.layers[layer].keys[:, 0]

    def last(self, layer: int) -> tuple[Tensor, Tensor]:
        """Of the last position in a layer: its row and what was stored beside it, (sentences × width) each."""
        return self.of(layer)[:, -1], self.cache.layers[layer].values[:, 0, -1]

    def add(self, layer: int, rows: Tensor, beside: Tensor | None = None) -> None:
        """Remember the *rows* of new positions, and *beside* them another tensor."""
        # A cache requires two tensors with equal positions; with one kind of rows, the other tensor is narrow.
        other = rows[..., :1] if beside is None else beside
        self.cache.update(rows.unsqueeze(1), other.unsqueeze(1), layer)


class EncoderDecoderConfig(PreTrainedConfig):
    """Settings of any `EncoderDecoder`; d_model: the width of its embeddings and layers."""

    vocab_size: int = 32000
    d_model: int = 512
    encoder_layers: int = 1
    decoder_layers: int = 1
    dropout: float = 0.2
    init_std: float = 0.1
    max_position_embeddings: int = 1024
    is_encoder_decoder: bool = True
    use_cache: bool = True
    pad_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 0
    decoder_start_token_id: int | None = 0


class EncoderDecoder(PreTrainedModel, GenerationMixin):
    """An encoder and a decoder that a subclass makes; the decoder's embeddings are also its output layer.

    Texts are padded on their right. What is encoded is a function of a text alone, and what is decoded one of the
    encoder's last states, their mask and the target's tokens: nothing else passes from one to the other.
    """

    encoder: Any
    decoder: Any

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        """No: the cache has a layer for each history, and `forward` makes it."""
        # Its cache has one layer per history, not per attention; `forward` makes it.
        return False

    def get_input_embeddings(self) -> nn.Module:
        """The encoder's word embeddings."""
        return self.encoder.embed_tokens

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace the encoder's word embeddings."""
        self.encoder.embed_tokens = value
        if self.config.tie_word_embeddings:
            self.decoder.embed_tokens = value

    @can_return_tuple
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: Any = None,
        past_key_values: Cache | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
    ) -> Any:
        """As any encoder-decoder of transformers; *decoder_attention_mask* has no effect: decoders are causal."""
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds)
        elif isinstance(encoder_outputs, tuple):
            encoder_outputs = BaseModelOutput(*encoder_outputs)
        memory = encoder_outputs[0]
        mask = memory.new_ones(memory.shape[:2]) if attention_mask is None else attention_mask
        if decoder_input_ids is None:
            if labels is None:
                raise ValueError("neither decoder_input_ids nor labels given; pass one of them")
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        if past_key_values is None and (not self.training if use_cache is None else use_cache):
            past_key_values = EncoderDecoderCache(DynamicCache(), DynamicCache())
        history = None if past_key_values is None else History(past_key_values)
        states, weights = self.decoder(decoder_input_ids, memory, mask.bool(), history)
        logits = nn.functional.linear(states, self.decoder.embed_tokens.weight, getattr(self.decoder, "bias", None))
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100)
        return Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            past_key_values=past_key_values,  # type: ignore[arg-type]
            decoder_hidden_states=(states,) if output_hidden_states else None,
            cross_attentions=weights if output_attentions else None,
            encoder_last_hidden_state=memory,
            encoder_hidden_states=(memory,) if output_hidden_states else None,
        )

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        """The decoder's inputs: *labels* one position later, after the start token."""
        return shift_tokens_right(labels, self.config.pad_token_id, self.config.decoder_start_token_id)


class Encoder(nn.Module):
    """Embeddings of tokens, and what a subclass makes of them (`encoded`), in the form that transformers has for it."""

    main_input_name = "input_ids"
    embed_tokens: nn.Embedding

    def encoded(self, words: Tensor, attention_mask: Tensor | None) -> Tensor:
        """The states of embedded *words*, (sentences × words × width)."""
        raise NotImplementedError

    @can_return_tuple
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
    ) -> Any:
        """As any encoder of transformers: the states of *input_ids* or *inputs_embeds*."""
        states = self.encoded(self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds, attention_mask)
        return BaseModelOutput(last_hidden_state=states, hidden_states=(states,) if output_hidden_states else None)


def empty_padding(embeddings: nn.Embedding) -> None:
    """Set the padding vector of new embeddings to zero; loaded embeddings are unchanged."""
    if embeddings.padding_idx is not None and not getattr(embeddings.weight, "_is_hf_initialized", False):
        init.zeros_(embeddings.weight[embeddings.padding_idx])


# ----------------------------------------------------------------------------
# The LSTM of Luong et al. 2015, as an ordinary transformers model: attention over a bidirectional encoder.
#
# As in fairseq, layer by layer and with the same number of parameters (disambiguation paper, Table 12):
# attention is of the *general* form, and what it makes is fed into the next step. One thing differs: the
# decoder begins with projections of the encoder's last states alone (forward at the last word, backward at
# the first), in every layer, where fairseq takes each layer's own. So the decoder is a function of the
# encoder's states, which probes may replace.


class LstmConfig(EncoderDecoderConfig):
    """Settings of an `LstmTranslator`.

    d_model: width of embeddings and of the LSTMs (the encoder has as many units in each direction). dropout: on
    embeddings, between layers and on what attention makes. init_std: weights begin uniform between −init_std and this.
    """

    model_type = "nbkit-lstm"

    encoder_layers: int = 5
    decoder_layers: int = 5
    tie_word_embeddings: bool = True


class RecurrentEncoder(Encoder):
    """A bidirectional LSTM over the embedded source: (sentences × words × 2 d_model)."""

    def __init__(self, config: LstmConfig):
        super().__init__()
        width = config.d_model
        self.embed_tokens = nn.Embedding(config.vocab_size, width, config.pad_token_id)
        self.dropout = nn.Dropout(config.dropout)
        between = config.dropout if config.encoder_layers > 1 else 0.0
        self.lstm = nn.LSTM(width, width, config.encoder_layers, batch_first=True, bidirectional=True, dropout=between)

    def encoded(self, words: Tensor, attention_mask: Tensor | None) -> Tensor:
        """The states of a bidirectional LSTM over embedded *words*, (sentences × words × width)."""
        words = self.dropout(words)
        mask = words.new_ones(words.shape[:2]) if attention_mask is None else attention_mask
        return self.dropout(recurrent_states(self.lstm, words, mask.sum(1).long()))


class GlobalAttention(nn.Module):
    """Luong's *general* attention: a = softmax(sᵀ W h), and what goes on is tanh(W′ [Σ a_i s_i; h]).

    h: the decoder's state; s: the encoder's states. Source: Luong et al. 2015, §3.1.
    """

    def __init__(self, width: int, memory: int):
        super().__init__()
        self.query = nn.Linear(width, memory, bias=False)
        self.output = nn.Linear(memory + width, width, bias=False)

    def keys(self, memory: Tensor) -> Tensor:
        """Wᵀ s for each encoder state s: computed once for all positions of the target."""
        return memory @ self.query.weight

    def forward(self, state: Tensor, keys: Tensor, memory: Tensor, absent: Tensor) -> tuple[Tensor, Tensor]:
        """The attentional state, and the attention to the words that are not *absent*; keys: from `keys`."""
        scores = torch.bmm(keys, state.unsqueeze(2)).squeeze(2)
        weights = scores.masked_fill(absent, float("-inf")).softmax(-1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        return self.output(torch.cat([context, state], -1)).tanh(), weights


class RecurrentDecoder(nn.Module):
    """LSTM cells above each other, the first of which also sees what attention made at the position before."""

    def __init__(self, config: LstmConfig, embeddings: nn.Embedding):
        super().__init__()
        width = config.d_model
        self.embed_tokens = embeddings
        self.dropout = nn.Dropout(config.dropout)
        self.first_state = nn.Linear(2 * width, width)
        self.first_cell = nn.Linear(2 * width, width)
        inputs = [2 * width, *(width,) * (config.decoder_layers - 1)]
        self.cells = nn.ModuleList(nn.LSTMCell(size, width) for size in inputs)
        self.attention = GlobalAttention(width, 2 * width)

    def forward(
        self, input_ids: Tensor, memory: Tensor, mask: Tensor, history: History | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """States, (sentences × positions × d_model), and the one attention, (sentences × 1 × positions × words)."""
        words = self.dropout(self.embed_tokens(input_ids))
        layers = range(len(self.cells))
        if history is not None and history.length:
            states = [history.last(layer) for layer in layers]
            fed = history.last(len(layers))[0]
        else:
            ends = self._final_states(memory, mask)
            states = [(self.first_state(ends), self.first_cell(ends))] * len(layers)
            fed = torch.zeros_like(states[0][0])
        absent, keys = ~mask, self.attention.keys(memory)
        made, weights = [], []
        kept: list[list[tuple[Tensor, Tensor]]] = [[] for _ in layers]
        for word in words.unbind(1):
            below = torch.cat([word, fed], -1)
            for layer, cell in enumerate(self.cells):
                states[layer] = cell(below, states[layer])
                kept[layer].append(states[layer])
                below = self.dropout(states[layer][0])
            fed, weight = self.attention(below, keys, memory, absent)
            fed = self.dropout(fed)
            made.append(fed)
            weights.append(weight)
        rows = torch.stack(made, 1)
        if history is not None:
            for layer in layers:
                history.add(layer, *(torch.stack(part, 1) for part in zip(*kept[layer], strict=True)))
            history.add(len(layers), rows)
        return rows, (torch.stack(weights, 1).unsqueeze(1),)

    @staticmethod
    def _final_states(memory: Tensor, mask: Tensor) -> Tensor:
        """The encoder's final states: forward at the last word of each sentence, backward at the first."""
        width = memory.shape[-1] // 2
        last = mask.sum(1).long() - 1
        forward = memory[torch.arange(len(memory), device=memory.device), last, :width]
        return torch.cat([forward, memory[:, 0, width:]], -1)


class LstmTranslator(EncoderDecoder):
    """An LSTM with attention.

    >>> model = LstmTranslator(LstmConfig(vocab_size=9, d_model=4, encoder_layers=1, decoder_layers=2)).eval()
    >>> output = model(torch.tensor([[5, 6, 0]]), labels=torch.tensor([[7, 0]]), output_attentions=True)
    >>> output.logits.shape, output.cross_attentions[0].shape
    (torch.Size([1, 2, 9]), torch.Size([1, 1, 2, 3]))
    """

    config_class = LstmConfig
    _tied_weights_keys = {"decoder.embed_tokens.weight": "encoder.embed_tokens.weight"}  # noqa: RUF012

    def __init__(self, config: LstmConfig):
        super().__init__(config)
        self.encoder = RecurrentEncoder(config)
        self.decoder = RecurrentDecoder(config, self.encoder.embed_tokens)
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Initialise weights uniformly within ±`init_std`."""
        spread = self.config.init_std
        for weight in module.parameters(recurse=False):
            init.uniform_(weight, -spread, spread)
        if isinstance(module, nn.Embedding):
            empty_padding(module)


AutoConfig.register(LstmConfig.model_type, LstmConfig)
AutoModelForSeq2SeqLM.register(LstmConfig, LstmTranslator)


# ----------------------------------------------------------------------------
# ConvS2S of Gehring et al. 2017, as an ordinary transformers model: gated convolutions with attention in each
# layer.
#
# As in fairseq, with the same number of parameters (disambiguation paper, Table 12). Source: "Convolutional
# Sequence to Sequence Learning", §3.

#: Sums of two are scaled by this, so that they vary as much as each of them (§3.5).
HALF = 0.5**0.5


class ConvS2SConfig(EncoderDecoderConfig):
    """Settings of a `ConvS2STranslator`.

    d_model: width of embeddings and of the layers. kernel_size: positions that a convolution sees; odd. init_std:
    standard deviation of embeddings at first.
    """

    model_type = "nbkit-convs2s"

    encoder_layers: int = 8
    decoder_layers: int = 8
    kernel_size: int = 3
    tie_word_embeddings: bool = False


class _Convolutional(nn.Module):
    """Tokens and their positions, embedded, as wide as the layers, and the convolutions of these."""

    def __init__(self, config: ConvS2SConfig, layers: int):
        super().__init__()
        width = config.d_model
        self.embed_tokens = nn.Embedding(config.vocab_size, width, config.pad_token_id)
        self.embed_positions = nn.Embedding(config.max_position_embeddings, width)
        self.dropout = nn.Dropout(config.dropout)
        self.inward = weight_norm(nn.Linear(width, width))
        self.outward = weight_norm(nn.Linear(width, width))
        self.kernel = config.kernel_size
        self.convolutions = nn.ModuleList(
            weight_norm(nn.Conv1d(width, 2 * width, config.kernel_size)) for _ in range(layers)
        )

    def embedded(self, words: Tensor, before: int = 0) -> Tensor:
        """Embedded *words* with the embeddings of their positions, which begin at *before*."""
        positions = torch.arange(before, before + words.shape[1], device=words.device)
        return self.dropout(words + self.embed_positions(positions))


class ConvolutionalEncoder(_Convolutional, Encoder):
    """Gated convolutions over the source: keys and values of attention, (sentences × words × 2 d_model)."""

    def __init__(self, config: ConvS2SConfig):
        super().__init__(config, config.encoder_layers)
        self.attentions = config.decoder_layers

    def encoded(self, words: Tensor, attention_mask: Tensor | None) -> Tensor:
        """Keys and values for attention, side by side, (sentences × words × 2 · width)."""
        words = self.embedded(words)
        # Each layer sees zeros beyond the sentence, as it does without padding.
        present = 1 if attention_mask is None else attention_mask.unsqueeze(-1).to(words.dtype)
        states = self.inward(words) * present
        sides = (self.kernel // 2, self.kernel // 2)
        for convolution in self.convolutions:
            seen = pad(self.dropout(states).transpose(1, 2), sides)
            states = (glu(convolution(seen), 1).transpose(1, 2) + states) * HALF * present
        keys = self.outward(states)
        if keys.requires_grad:
            # As many attentions send gradients back (§3.5).
            keys.register_hook(lambda gradient: gradient / (2 * self.attentions))
        return torch.cat([keys, (keys + words) * HALF], -1)


class _Attention(nn.Module):
    """Attention of one layer: what is looked for is made of its state and of the word before (§3.3)."""

    def __init__(self, width: int):
        super().__init__()
        self.inward = weight_norm(nn.Linear(width, width))
        self.outward = weight_norm(nn.Linear(width, width))

    def forward(self, states: Tensor, words: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The states of a decoder's layer with what they attend to in *memory* added, and the attention."""
        keys, values = memory.chunk(2, -1)
        query = (self.inward(states) + words) * HALF
        weights = (query @ keys.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1)
        # The mean of m words varies less than each of them: scaled back, as if attention were uniform (§3.5).
        scale = mask.sum(1).to(states.dtype).sqrt().view(-1, 1, 1)
        return (self.outward(weights @ values * scale) + states) * HALF, weights.unsqueeze(1)


class ConvolutionalDecoder(_Convolutional):
    """Gated convolutions over the target up to each position, with attention to the source in every layer."""

    def __init__(self, config: ConvS2SConfig):
        super().__init__(config, config.decoder_layers)
        self.attentions = nn.ModuleList(_Attention(config.d_model) for _ in range(config.decoder_layers))
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(
        self, input_ids: Tensor, memory: Tensor, mask: Tensor, history: History | None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """States, (sentences × positions × d_model); each layer's attention, (sentences × 1 × positions × words)."""
        before = 0 if history is None else history.length
        words = self.embedded(self.embed_tokens(input_ids), before)
        states, looked = self.inward(words), []
        for layer, (convolution, attention) in enumerate(zip(self.convolutions, self.attentions, strict=True)):
            seen = self.dropout(states)
            if history is not None:
                history.add(layer, seen)
                seen = history.of(layer)
            reach = words.shape[1] + self.kernel - 1
            seen = seen[:, -reach:].transpose(1, 2)
            gated = glu(convolution(pad(seen, (reach - seen.shape[2], 0))), 1).transpose(1, 2)
            found, weights = attention(gated, words, memory, mask)
            states = (found + states) * HALF
            looked.append(weights)
        return self.dropout(self.outward(states)), tuple(looked)


class ConvS2STranslator(EncoderDecoder):
    """A convolutional encoder-decoder.

    >>> model = ConvS2STranslator(ConvS2SConfig(vocab_size=9, d_model=4, encoder_layers=1, decoder_layers=2)).eval()
    >>> output = model(torch.tensor([[5, 6, 0]]), labels=torch.tensor([[7, 0]]), output_attentions=True)
    >>> output.logits.shape, len(output.cross_attentions), output.cross_attentions[0].shape
    (torch.Size([1, 2, 9]), 2, torch.Size([1, 1, 2, 3]))
    """

    config_class = ConvS2SConfig

    def __init__(self, config: ConvS2SConfig):
        super().__init__(config)
        self.encoder = ConvolutionalEncoder(config)
        self.decoder = ConvolutionalDecoder(config)
        self.post_init()

    @torch.no_grad()
    def generate(self, *args: Any, **options: Any) -> Any:
        """Generate as any model does, but normalise weights once instead of at every position."""
        with parametrize.cached():
            return super().generate(*args, **options)  # type: ignore[misc]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Initialise weights so that outputs vary as inputs do: a gate halves them, dropout leaves (1 − p) (§3.5)."""
        if isinstance(module, nn.Embedding):
            init.normal_(module.weight, 0.0, self.config.init_std)
            empty_padding(module)
        elif isinstance(module, nn.Linear | nn.Conv1d):
            parts: Any = module.parametrizations
            size, direction = parts["weight"].parameters()
            share = 4 * (1 - self.config.dropout) if isinstance(module, nn.Conv1d) else 1.0
            init.normal_(direction, 0.0, (share / direction[0].numel()) ** 0.5)
            init.copy_(size, direction.flatten(1).norm(dim=1).view_as(size))
            if module.bias is not None:
                init.zeros_(module.bias)
        elif isinstance(module, ConvolutionalDecoder):
            init.zeros_(module.bias)


AutoConfig.register(ConvS2SConfig.model_type, ConvS2SConfig)
AutoModelForSeq2SeqLM.register(ConvS2SConfig, ConvS2STranslator)
