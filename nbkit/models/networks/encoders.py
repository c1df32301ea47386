"""The three sentence encoders of Conneau et al. 2017, as ordinary transformers models.

Each sentence of a pair is encoded by itself; what compares the two codes u and v sees [u, v, |u − v|, u ∗ v]. Importing
this module tells transformers about them, so that ``AutoModelForSequenceClassification`` loads them.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig, PreTrainedModel
from transformers import initialization as init
from transformers.modeling_outputs import SequenceClassifierOutput

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


def recurrent_states(lstm: nn.LSTM, words: Tensor, lengths: Tensor) -> Tensor:
    """The states of a bidirectional *lstm* over sentences of these *lengths*; zeros behind each.

    They are packed, as the backward direction has to begin at each sentence's own last word.
    """
    packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=words.shape[1])[0]


class RecurrentEncoder(nn.Module):
    """InferSent: a bidirectional LSTM, of which each unit's largest value over the words is kept.

    As ``bilstm`` its states go through a linear projection first.
    """

    def __init__(self, config: SentencePairConfig):
        super().__init__()
        self.size = 2 * config.hidden_size
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, batch_first=True, bidirectional=True)
        is_projected = config.encoder == "bilstm"
        self.projection = nn.Linear(self.size, self.size, bias=False) if is_projected else nn.Identity()

    def forward(self, words: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return self.projection(self.lstm(words)[0]).amax(1)
        states = recurrent_states(self.lstm, words, mask.sum(1))
        return self.projection(states).masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(1)


class ConvolutionalEncoder(nn.Module):
    """The hierarchical ConvNet: four convolutions above each other; the largest values of each, side by side."""

    def __init__(self, config: SentencePairConfig):
        super().__init__()
        channels = 2 * config.hidden_size
        widths = [config.embedding_size, *(channels,) * CONVOLUTIONS]
        self.size = CONVOLUTIONS * channels
        self.convolutions = nn.ModuleList(
            nn.Conv1d(below, above, kernel_size=3, padding=1) for below, above in pairwise(widths)
        )

    def forward(self, words: Tensor, mask: Tensor | None) -> Tensor:
        # Each layer sees zeros beyond the sentence, as it does without padding.
        present = 1 if mask is None else mask.unsqueeze(1)
        states, found = words.transpose(1, 2) * present, []
        for convolution in self.convolutions:
            states = convolution(states).relu() * present
            found.append(states.amax(2))
        return torch.cat(found, 1)


ENCODERS: dict[str, type[RecurrentEncoder] | type[ConvolutionalEncoder]] = {
    "infersent": RecurrentEncoder,
    "bilstm": RecurrentEncoder,
    "convnet": ConvolutionalEncoder,
}


class SentencePairClassifier(PreTrainedModel):
    """A sentence encoder and what compares two of its codes: softmax(W₂ tanh(W₁ [u, v, |u − v|, u ∗ v])).

    The input is that of any classifier of pairs: both sentences in one row of ids, told apart by ``token_type_ids``.

    >>> config = SentencePairConfig(vocab_size=9, embedding_size=4, hidden_size=3, comparison_size=5, num_labels=3)
    >>> model = SentencePairClassifier(config).eval()
    >>> ids, sides = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[0, 0, 1, 1]])
    >>> model(ids, token_type_ids=sides).logits.shape
    torch.Size([1, 3])
    """

    config_class = SentencePairConfig
    base_model_prefix = "encoder"

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
        """Layers of any width start with outputs as large as their inputs; the rest as transformers has it."""
        if isinstance(module, nn.Linear | nn.Conv1d):
            init.xavier_uniform_(module.weight)
            if module.bias is not None:
                init.zeros_(module.bias)
        else:
            super()._init_weights(module)

    def get_input_embeddings(self) -> nn.Module:
        return self.embeddings

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.embeddings = value

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
        if token_type_ids is None:
            raise ValueError("token_type_ids: 0 for the premise, 1 for the hypothesis; both are needed")
        present = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        in_premise = (present * (1 - token_type_ids)).bool()
        in_hypothesis = (present * token_type_ids).bool()
        first, second = (self.encode(*_side(input_ids, chosen)) for chosen in (in_premise, in_hypothesis))
        logits = self.compare(first, second)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)


def _side(ids: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """The chosen ids of each row, moved to its beginning, and their mask."""
    lengths = chosen.sum(1)
    width = int(lengths.max())
    order = (~chosen).to(torch.int8).argsort(dim=1, stable=True)[:, :width]
    mask = torch.arange(width, device=ids.device) < lengths.unsqueeze(1)
    return ids.gather(1, order), mask


AutoConfig.register(SentencePairConfig.model_type, SentencePairConfig)
AutoModelForSequenceClassification.register(SentencePairConfig, SentencePairClassifier)
