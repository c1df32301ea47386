"""The network's side of the idiom probes: encoder states of one context put among those of another, and what follows.

Source: idioms paper, §4, Figures 4, 17, 19 and 21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from nbkit.models.collate import padded
from nbkit.models.decoding import Decoding
from nbkit.models.seq2seq import Seq2SeqTranslator
from nbkit.models.tokenized import Ids


class Piece(NamedTuple):
    """Subwords of a source that are encoded as if they were all of it.

    places: half-open range of their positions in the source. ids: what is encoded. before: special tokens before them.
    """

    places: tuple[int, int]
    ids: Ids
    before: int


class Input(NamedTuple):
    """A source, what each context encodes by itself, and the labels of its reference."""

    source: Ids
    contexts: tuple[tuple[Piece, ...], ...]
    labels: Ids


class Outcome(NamedTuple):
    """What one context leads to: a hypothesis, and of each label its log-probability and its distribution's entropy."""

    hypothesis: str
    log_probabilities: tuple[float, ...]
    entropies: tuple[float, ...]


def probe_batch(
    translator: Seq2SeqTranslator, batch: Sequence[Input], target: int | None, decoding: Decoding
) -> list[tuple[Outcome, ...]]:
    """An outcome for each context of each input of a batch; one pass through the encoder a context.

    target: the language token that hypotheses begin with, None where the family has none. Only labels that the model
    chooses (`chosen`) are part of an outcome.
    """
    rows = [each.source for each in batch]
    full, mask = encode(translator, rows)
    limit = min(decoding.limit(max(map(len, rows))), translator.positions - 1)
    labels = [each.labels for each in batch]
    contexts = []
    for pieces in zip(*(each.contexts for each in batch), strict=True):
        states = replaced(translator, full, pieces)
        inputs = {"encoder_outputs": _copied(states), "attention_mask": mask}
        ids = translator._search(inputs, target, decoding, limit)
        hypotheses = translator.tokenizer.batch_decode(ids, skip_special_tokens=True)
        judged = _under_references(translator, states, mask, labels, chosen(translator, target))
        contexts.append([Outcome(text.strip(), *each) for text, each in zip(hypotheses, judged, strict=True)])
    return list(zip(*contexts, strict=True))


def chosen(translator: Seq2SeqTranslator, target: int | None) -> slice:
    """Which labels of a reference the model chooses: not the language token, the first or, in mBART-25, the last."""
    if translator.family.token_starts:
        return slice(0, -1)
    return slice(0 if target is None else 1, None)


@torch.inference_mode()
def encode(translator: Seq2SeqTranslator, rows: Sequence[Ids]) -> tuple[Any, torch.Tensor]:
    """What the encoder makes of rows of ids, a ModelOutput of (rows × positions × width) states, and their mask."""
    inputs = translator._padded(list(rows))
    return translator.model.get_encoder()(**inputs, return_dict=True), inputs["attention_mask"]


@torch.inference_mode()
def replaced(translator: Seq2SeqTranslator, full: Any, pieces: Sequence[Sequence[Piece]]) -> Any:
    """The encoder's output *full*, with the states of each row's *pieces* from where these are encoded by themselves.

    Everything that the encoder gives for each position is replaced; what it gives for a source as a whole (the last
    states of a recurrent encoder) stays that of the whole source.
    """
    alone = list(dict.fromkeys(piece.ids for row in pieces for piece in row))
    if not alone:
        return full
    donors, _ = encode(translator, alone)
    number = {ids: i for i, ids in enumerate(alone)}
    result = dict(full.items())
    for name, states in full.items():
        if not _has_positions(states, full.last_hidden_state):
            continue
        result[name] = states.clone()
        for row, found in enumerate(pieces):
            for (start, end), ids, before in found:
                result[name][row, start:end] = donors[name][number[ids], before : before + end - start]
    return type(full)(**result)


def _has_positions(states: Any, like: torch.Tensor) -> bool:
    return isinstance(states, torch.Tensor) and states.ndim > 2 and states.shape[:2] == like.shape[:2]


@torch.inference_mode()
def _under_references(
    translator: Seq2SeqTranslator, states: Any, mask: torch.Tensor, references: Sequence[Ids], part: slice
) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Of each reference's labels, ln p(y_t | y_<t, H) and the entropy of p(· | y_<t, H), H the encoder's states."""
    labels = padded(list(references), -100).to(translator.device)
    logits = translator.model(encoder_outputs=_copied(states), attention_mask=mask, labels=labels).logits
    found = []
    for row, reference in zip(logits, references, strict=True):  # one by one: a batch in float32 is many times a row
        log_p = row[: len(reference)][part].float().log_softmax(-1)
        of_labels = log_p.gather(-1, labels.new_tensor(reference[part]).unsqueeze(-1)).squeeze(-1)
        entropy = torch.special.entr(log_p.exp()).sum(-1)
        found.append((tuple(of_labels.tolist()), tuple(entropy.tolist())))
    return found


def _copied(states: Any) -> Any:
    """A ModelOutput of its own, of the same tensors: `generate` puts in the states of every beam, in place."""
    return type(states)(**dict(states.items()))
