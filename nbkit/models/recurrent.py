"""The LSTM of Luong et al. 2015, as an ordinary transformers model: attention over a bidirectional encoder.

As fairseq has it, layer by layer and to the number of parameters (disambiguation paper, Table 12): attention is of the
*general* form, and what it makes is fed into the next step. One thing differs: the decoder begins with projections of
the encoder's last states alone (forward at the last word, backward at the first), in every layer, where fairseq takes
each layer's own. So the decoder is a function of the encoder's states, which probes may replace.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModelForSeq2SeqLM
from transformers import initialization as init

from nbkit.models.encoder_decoder import EncoderDecoder, EncoderDecoderConfig, History, empty_padding, encoder_output


class LstmConfig(EncoderDecoderConfig):
    """Settings of an `LstmTranslator`.

    d_model: width of embeddings and of the LSTMs (the encoder has as many units in each direction). dropout: on
    embeddings, between layers and on what attention makes. init_std: weights begin uniform between −init_std and this.
    """

    model_type = "nbkit-lstm"

    encoder_layers: int = 5
    decoder_layers: int = 5
    tie_word_embeddings: bool = True


class RecurrentEncoder(nn.Module):
    """A bidirectional LSTM over the embedded source: (sentences × words × 2 d_model)."""

    main_input_name = "input_ids"

    def __init__(self, config: LstmConfig):
        super().__init__()
        width = config.d_model
        self.embed_tokens = nn.Embedding(config.vocab_size, width, config.pad_token_id)
        self.dropout = nn.Dropout(config.dropout)
        between = config.dropout if config.encoder_layers > 1 else 0.0
        self.lstm = nn.LSTM(width, width, config.encoder_layers, batch_first=True, bidirectional=True, dropout=between)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ):
        words = self.dropout(self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds)
        mask = words.new_ones(words.shape[:2]) if attention_mask is None else attention_mask
        # Packed, as the backward direction has to begin at each sentence's own last word.
        packed = pack_padded_sequence(words, mask.sum(1).long().cpu(), batch_first=True, enforce_sorted=False)
        states = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])[0]
        return encoder_output(self.dropout(states), output_hidden_states, return_dict)


class GlobalAttention(nn.Module):
    """Luong's *general* attention: a = softmax(sᵀ W h), and what goes on is tanh(W′ [Σ a_i s_i; h]).

    h: the decoder's state; s: the encoder's states. Source: Luong et al. 2015, §3.1.
    """

    def __init__(self, width: int, memory: int):
        super().__init__()
        self.query = nn.Linear(width, memory, bias=False)
        self.output = nn.Linear(memory + width, width, bias=False)

    def keys(self, memory: Tensor) -> Tensor:
        """Wᵀ s for each of the encoder's states: the same at every position of the target."""
        return memory @ self.query.weight

    def forward(self, state: Tensor, keys: Tensor, memory: Tensor, absent: Tensor) -> tuple[Tensor, Tensor]:
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
            states = [history.of(layer)[:, -1] for layer in layers]
            cells = [history.beside(layer)[:, -1] for layer in layers]
            fed = history.of(len(layers))[:, -1]
        else:
            ends = self._ends(memory, mask)
            states = [self.first_state(ends)] * len(layers)
            cells = [self.first_cell(ends)] * len(layers)
            fed = torch.zeros_like(states[0])
        absent, keys = ~mask, self.attention.keys(memory)
        made, weights = [], []
        kept: list[list[tuple[Tensor, Tensor]]] = [[] for _ in layers]
        for word in words.unbind(1):
            below = torch.cat([word, fed], -1)
            for layer, cell in enumerate(self.cells):
                states[layer], cells[layer] = cell(below, (states[layer], cells[layer]))
                kept[layer].append((states[layer], cells[layer]))
                below = self.dropout(states[layer])
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
    def _ends(memory: Tensor, mask: Tensor) -> Tensor:
        """The encoder's forward state at the last word of each sentence, and its backward state at the first."""
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
        encoder = RecurrentEncoder(config)
        self.encoder = encoder
        self.decoder = RecurrentDecoder(config, encoder.embed_tokens)
        self.post_init()

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.encoder.embed_tokens = self.decoder.embed_tokens = value

    def logits(self, states: Tensor) -> Tensor:
        return nn.functional.linear(states, self.decoder.embed_tokens.weight)

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        spread = self.config.init_std
        for weight in module.parameters(recurse=False):
            init.uniform_(weight, -spread, spread)
        if isinstance(module, nn.Embedding):
            empty_padding(module)


AutoConfig.register(LstmConfig.model_type, LstmConfig)
AutoModelForSeq2SeqLM.register(LstmConfig, LstmTranslator)
