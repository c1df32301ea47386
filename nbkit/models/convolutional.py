"""ConvS2S of Gehring et al. 2017, as an ordinary transformers model: gated convolutions with attention in each layer.

As fairseq has it, to the number of parameters (disambiguation paper, Table 12). Source: "Convolutional Sequence to
Sequence Learning", §3.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import glu, pad
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm
from transformers import AutoConfig, AutoModelForSeq2SeqLM
from transformers import initialization as init

from nbkit.models.encoder_decoder import EncoderDecoder, EncoderDecoderConfig, History, empty_padding, encoder_output

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


class _Embedded(nn.Module):
    """Tokens and their positions, embedded, and as wide as the layers."""

    def __init__(self, config: ConvS2SConfig):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.d_model, config.pad_token_id)
        self.embed_positions = nn.Embedding(config.max_position_embeddings, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.inward = weight_norm(nn.Linear(config.d_model, config.d_model))
        self.outward = weight_norm(nn.Linear(config.d_model, config.d_model))
        self.kernel = config.kernel_size

    def embedded(self, words: Tensor, before: int = 0) -> Tensor:
        positions = torch.arange(before, before + words.shape[1], device=words.device)
        return self.dropout(words + self.embed_positions(positions))


def _convolutions(config: ConvS2SConfig, layers: int) -> nn.ModuleList:
    return nn.ModuleList(
        weight_norm(nn.Conv1d(config.d_model, 2 * config.d_model, config.kernel_size)) for _ in range(layers)
    )


class ConvolutionalEncoder(_Embedded):
    """Gated convolutions over the source: keys and values of attention, (sentences × words × 2 d_model)."""

    main_input_name = "input_ids"

    def __init__(self, config: ConvS2SConfig):
        super().__init__(config)
        self.convolutions = _convolutions(config, config.encoder_layers)
        self.attentions = config.decoder_layers

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ):
        words = self.embedded(self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds)
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
        memory = torch.cat([keys, (keys + words) * HALF], -1)
        return encoder_output(memory, output_hidden_states, return_dict)


class _Attention(nn.Module):
    """Attention of one layer: what is looked for is made of its state and of the word before (§3.3)."""

    def __init__(self, width: int):
        super().__init__()
        self.inward = weight_norm(nn.Linear(width, width))
        self.outward = weight_norm(nn.Linear(width, width))

    def forward(self, states: Tensor, words: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = memory.chunk(2, -1)
        query = (self.inward(states) + words) * HALF
        weights = (query @ keys.transpose(1, 2)).masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1)
        # The mean of m words varies less than each of them: scaled back, as if attention were uniform (§3.5).
        scale = mask.sum(1).to(states.dtype).sqrt().view(-1, 1, 1)
        return (self.outward(weights @ values * scale) + states) * HALF, weights.unsqueeze(1)


class ConvolutionalDecoder(_Embedded):
    """Gated convolutions over the target up to each position, with attention to the source in every layer."""

    def __init__(self, config: ConvS2SConfig):
        super().__init__(config)
        self.convolutions = _convolutions(config, config.decoder_layers)
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

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.encoder.embed_tokens = value

    def logits(self, states: Tensor) -> Tensor:
        return nn.functional.linear(states, self.decoder.embed_tokens.weight, self.decoder.bias)

    @torch.no_grad()
    def generate(self, *args: Any, **options: Any) -> Any:
        """As of any model; weights are normalised once and not at every position."""
        with parametrize.cached():
            return super().generate(*args, **options)  # type: ignore[misc]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Outputs vary as much as inputs do: a gate halves them, and dropout leaves (1 − p) of them (§3.5)."""
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
