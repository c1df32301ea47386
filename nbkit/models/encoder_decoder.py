"""What the project's own encoder-decoders share: one step of any of them, as transformers' ``generate`` expects it.

Importing `nbkit.models.recurrent` and `nbkit.models.convolutional` tells transformers about them, so that
``AutoModelForSeq2SeqLM`` loads their folders.

What a decoder remembers of the positions before is a history: one row a position in an ordinary `DynamicCache`, from
which each takes what it needs (the last state of an LSTM, the last inputs of a convolution). Beams are therefore
reordered, and positions cropped, as those of any Transformer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache, DynamicCache, EncoderDecoderCache, GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers import initialization as init
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput


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
        """How many positions are remembered."""
        return int(self.cache.get_seq_length())

    def of(self, layer: int) -> Tensor:
        """The remembered rows of a layer, (sentences × positions × width)."""
        return self.cache.layers[layer].keys[:, 0]

    def beside(self, layer: int) -> Tensor:
        """The second rows of a layer, where it has any."""
        return self.cache.layers[layer].values[:, 0]

    def add(self, layer: int, rows: Tensor, beside: Tensor | None = None) -> None:
        """Remembers the *rows* of new positions, and what belongs *beside* them."""
        # A cache wants two tensors of as many positions; where there is one kind of rows, the other is kept thin.
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
    """An encoder and a decoder; a subclass makes both, and says what a decoder's step is.

    Texts are padded on their right. What is encoded is a function of a text alone, and what is decoded one of the
    encoder's last states, their mask and the target's tokens: nothing else passes from one to the other.
    """

    base_model_prefix = ""
    main_input_name = "input_ids"
    encoder: Any
    decoder: Any

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        # Its cache has a layer a remembered thing, not one an attention; `forward` makes it.
        return False

    def get_encoder(self, modality: str | None = None) -> nn.Module:
        return self.encoder

    def get_decoder(self) -> nn.Module:
        return self.decoder

    def get_input_embeddings(self) -> nn.Module:
        return self.encoder.embed_tokens

    def get_output_embeddings(self) -> nn.Module | None:
        return None  # the decoder's embeddings, as `logits` uses them

    def logits(self, states: Tensor) -> Tensor:
        """Scores of all tokens, from the decoder's states: embeddings are tied."""
        raise NotImplementedError

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
        return_dict: bool | None = None,
    ) -> Any:
        """As of any encoder-decoder of transformers; *decoder_attention_mask* changes nothing: decoders are causal."""
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds)
        elif isinstance(encoder_outputs, tuple):
            encoder_outputs = BaseModelOutput(*encoder_outputs)
        memory = encoder_outputs[0]
        mask = memory.new_ones(memory.shape[:2]) if attention_mask is None else attention_mask
        if decoder_input_ids is None:
            if labels is None:
                raise ValueError("neither decoder_input_ids nor labels given: what is to be decoded?")
            decoder_input_ids = self._shifted(labels)
        if past_key_values is None and (not self.training if use_cache is None else use_cache):
            past_key_values = EncoderDecoderCache(DynamicCache(), DynamicCache())
        history = None if past_key_values is None else History(past_key_values)
        states, weights = self.decoder(decoder_input_ids, memory, mask.bool(), history)
        logits = self.logits(states)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=-100)
        output = Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            past_key_values=past_key_values,  # type: ignore[arg-type]
            decoder_hidden_states=(states,) if output_hidden_states else None,
            cross_attentions=weights if output_attentions else None,
            encoder_last_hidden_state=memory,
            encoder_hidden_states=(memory,) if output_hidden_states else None,
        )
        return output.to_tuple() if return_dict is False else output

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        return self._shifted(labels)

    def _shifted(self, labels: Tensor) -> Tensor:
        """The decoder's inputs: its start, then the labels but the last."""
        start = torch.full_like(labels[:, :1], self.config.decoder_start_token_id)
        return torch.cat([start, labels[:, :-1]], 1).masked_fill_(
            torch.cat([start.new_zeros(start.shape, dtype=torch.bool), labels[:, :-1] == -100], 1),
            self.config.pad_token_id,
        )


def encoder_output(states: Tensor, output_hidden_states: bool | None, return_dict: bool | None) -> Any:
    """What an encoder gives back, as transformers names it."""
    output = BaseModelOutput(last_hidden_state=states, hidden_states=(states,) if output_hidden_states else None)
    return output.to_tuple() if return_dict is False else output


def empty_padding(embeddings: nn.Embedding) -> None:
    """The vector of padding is zero in embeddings that are being made, and as it is in those that were loaded."""
    if embeddings.padding_idx is not None and not getattr(embeddings.weight, "_is_hf_initialized", False):
        init.zeros_(embeddings.weight[embeddings.padding_idx])
