"""The network's side of the idiom probes: encoder states of one context put among those of another, and what follows.

Source: idioms paper, §4, Figures 4, 17, 19 and 21; `nbkit.models.probes` says what a context is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from nbkit.corpora.idioms import IdiomPair
from nbkit.errors import ModelError, NbkitError
from nbkit.languages import is_unspaced
from nbkit.models.batching import run_batches
from nbkit.models.catalogue import label
from nbkit.models.decoding import Decoding
from nbkit.models.loading import padded
from nbkit.models.translators.seq2seq import Ids, Seq2SeqTranslator, TokenizedTranslator
from nbkit.progress import progress_bar
from nbkit.text.parsers import Span, tokens_in

# ----------------------------------------------------------------------------
# Where the subwords that a translator reads and writes stand in their text, whatever tokenizer cuts them.

#: Of a token that stands for no characters: language codes, marks, the end.
NOWHERE: Span = (0, 0)


@dataclass(frozen=True)
class Subwords:
    """A text as a model sees it.

    ids: all of them, in order. offsets: the characters that each stands for, without white space at its edges;
    `NOWHERE` for special tokens. A token of white space alone goes with the token after it.
    """

    ids: Ids
    offsets: tuple[Span, ...]

    @property
    def before(self) -> int:
        """How many special tokens stand before the text: language codes and marks."""
        return next((place for place, span in enumerate(self.offsets) if span != NOWHERE), len(self.ids))

    @property
    def after(self) -> int:
        """How many special tokens stand after the text: its end, and language codes."""
        return next((place for place, span in enumerate(reversed(self.offsets)) if span != NOWHERE), 0)

    def places(self, span: Span) -> tuple[int, int]:
        """The half-open range of ids that share a character with *span*; `NbkitError` where none does.

        >>> Subwords((7, 4, 5, 6, 0), (NOWHERE, (0, 2), (3, 5), (5, 8), NOWHERE)).places((4, 6))
        (2, 4)
        """
        found = tokens_in([span], self.offsets)
        return found[0], found[-1] + 1

    def alone(self, places: tuple[int, int]) -> Ids:
        """The ids of some *places* with the special tokens that stand around the text: what the model is given where
        they are all of its text.

        >>> Subwords((7, 4, 5, 6, 0), (NOWHERE, (0, 2), (3, 5), (5, 8), NOWHERE)).alone((2, 3))
        (7, 5, 0)
        """
        tail = self.ids[len(self.ids) - self.after :]
        return (*self.ids[: self.before], *self.ids[places[0] : places[1]], *tail)


def subwords(
    translator: TokenizedTranslator, texts: Sequence[str], tgt: str, *, target: bool = False
) -> Iterator[Subwords]:
    """The subwords of *texts* with their offsets; *target*: texts are references, as labels of the model are.

    The translator's languages are set already. What goes over its positions is cut off, with a warning.
    Raises `ModelError`, naming the model, where its tokenizer cannot say what a subword stands for.
    """
    prefix = "" if target else translator._prefix(tgt)
    finder = _by_tokenizer if getattr(translator.tokenizer, "is_fast", False) else _by_sentencepiece
    for text, ids in zip(texts, translator._encoded(texts, tgt, target=target), strict=True):
        offsets = finder(translator, ids, prefix, text, target)
        yield Subwords(ids, _attached(offsets, text))


def _by_tokenizer(translator: TokenizedTranslator, ids: Ids, prefix: str, text: str, target: bool) -> list[Span | None]:
    """Offsets of a tokenizer of the tokenizers library, which knows them itself."""
    row = translator.tokenizer(
        **{"text_target" if target else "text": prefix + text},
        truncation=True,
        max_length=translator.positions,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    if tuple(row["input_ids"]) != ids:
        raise _unknown(translator, text)
    return [
        None if special or (prefix and end <= len(prefix)) else (max(start - len(prefix), 0), end - len(prefix))
        for (start, end), special in zip(row["offset_mapping"], row["special_tokens_mask"], strict=True)
    ]


def _by_sentencepiece(
    translator: TokenizedTranslator, ids: Ids, prefix: str, text: str, target: bool
) -> list[Span | None]:
    """Offsets of a tokenizer in Python (Marian, M2M-100), by the SentencePiece model inside it."""
    tokenizer = translator.tokenizer
    side = "spm_target" if target else "spm_source"
    processor = getattr(tokenizer, side, None) or getattr(tokenizer, "sp_model", None)
    if processor is None:
        raise ModelError(
            f"model '{translator.name}': its tokenizer, {type(tokenizer).__name__}, has no offsets: it cannot say "
            "which characters a subword stands for. Take a model with tokenizer.json, or with a SentencePiece model"
        )
    found = processor.encode(text, out_type="offset_mapping")
    if target and getattr(tokenizer, "separate_vocabs", False):
        known = [tokenizer.target_encoder.get(piece, tokenizer.unk_token_id) for piece in found["pieces"]]
    else:
        known = list(tokenizer.convert_tokens_to_ids(list(found["pieces"])))
    (empty,) = tokenizer(**{"text_target" if target else "text": [prefix]}, verbose=False)["input_ids"]
    before = next((place for place, (a, b) in enumerate(zip(empty, ids, strict=False)) if a != b), 0)
    after = len(empty) - before
    inside = list(ids[before : len(ids) - after])
    # The two are cut by one model; they part where a text spells a special token out.
    if inside != known[: len(inside)] or (len(inside) < len(known) and len(ids) < translator.positions):
        raise _unknown(translator, text)
    spans = [(int(start), int(end)) for start, end in found["offsets"][: len(inside)]]
    return [*[None] * before, *spans, *[None] * after]


def _unknown(translator: TokenizedTranslator, text: str) -> ModelError:
    tokenizer = type(translator.tokenizer).__name__
    return ModelError(
        f"model '{translator.name}': the offsets of its {tokenizer} do not fit its subwords of {text[:60]!r}: "
        "leave this text out"
    )


def _attached(offsets: Sequence[Span | None], text: str) -> tuple[Span, ...]:
    """Offsets without white space at their edges. A token of white space alone has those of the token after it, or, at
    the end of the text, before it; None is `NOWHERE`.
    """
    tidy = [None if span is None else _trimmed(*span, text) for span in offsets]
    filled = [span for span in tidy if span]
    neighbour: Span = filled[-1] if filled else NOWHERE
    attached: list[Span] = []
    for span in reversed(tidy):
        neighbour = span or neighbour
        attached.append(NOWHERE if span is None else neighbour)
    return tuple(reversed(attached))


def _trimmed(start: int, end: int, text: str) -> Span | tuple[()]:
    """The range without white space at its edges, () where it is all white space."""
    piece = text[start:end]
    left, right = len(piece) - len(piece.lstrip()), len(piece) - len(piece.rstrip())
    return (start + left, end - right) if piece.strip() else ()


_WORD = re.compile(r"\S+")


# ----------------------------------------------------------------------------
# What each context encodes, and what the network makes of it.


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


class Probed(NamedTuple):
    """Outcomes of a pair by context and the subwords replaced in each; where the reference's subwords stand in it."""

    outcomes: tuple[Outcome, ...]
    replaced: tuple[int, ...]
    offsets: tuple[Span, ...]


def probed(
    translator: Seq2SeqTranslator,
    pairs: Sequence[IdiomPair],
    src: str,
    tgt: str,
    decoding: Decoding,
    end_state: str,
    *,
    progress: bool,
) -> list[Probed]:
    """What the model makes of each pair, in order; see `nbkit.models.probes.probe`."""
    for pair in pairs:
        if not pair.target.strip():
            raise NbkitError(f"probes: the reference of {pair.source[:60]!r} is empty")
    target = translator._languages(src, tgt)
    sources = subwords(translator, [pair.source for pair in pairs], tgt)
    inputs = [_input(pair, source, src, end_state) for pair, source in zip(pairs, sources, strict=True)]
    references = list(subwords(translator, [pair.target for pair in pairs], tgt, target=True))
    items = [each._replace(labels=reference.ids) for each, reference in zip(inputs, references, strict=True)]
    with progress_bar(f"{label(translator.name)} {src}→{tgt}, idioms", len(items), progress) as bar:
        outcomes = run_batches(
            items,
            length=lambda each: len(each.source) + len(each.labels),
            run=lambda batch: probe_batch(translator, batch, target, decoding),
            budget=max(1, translator._budget // decoding.beams),
            group=lambda each: decoding.limit(len(each.source)),
            window=max(1, len(items)),
            done=bar.update,
            free=translator._free,
            shrunk=lambda budget: translator._shrink(budget * decoding.beams),
        )
        part = chosen(translator, target)
        return [
            Probed(outcome, tuple(map(_replaced, each.contexts)), reference.offsets[part])
            for each, outcome, reference in zip(items, outcomes, references, strict=True)
        ]


def _input(pair: IdiomPair, source: Subwords, src: str, end_state: str) -> Input:
    """The source with what each context encodes by itself (full, phrase, word); no labels yet."""
    try:
        phrases = [source.places(span) for span in pair.spans]
        words = [place for span in pair.spans for place in _words(pair.source, span, source, src)]
    except NbkitError as error:
        raise NbkitError(f"probes: {pair.source[:60]!r}: the idiom has no subword: {error}") from None
    contexts: list[tuple[Piece, ...]] = [()]
    for places in (phrases, words):
        own = [Piece(place, source.alone(place), source.before) for place in _apart(places)]
        contexts.append((*own, *_end(source, own[-1], end_state)))
    return Input(source.ids, tuple(contexts), ())


def _end(source: Subwords, last: Piece, end_state: str) -> tuple[Piece, ...]:
    """The special tokens after the source as part of the *last* piece; none where they are kept."""
    if end_state == "kept":
        return ()
    length = len(source.ids)
    return (last._replace(places=(length - source.after, length), before=len(last.ids) - source.after),)


def _words(text: str, span: Span, source: Subwords, src: str) -> list[tuple[int, int]]:
    """The places of the words of a span, one by one."""
    start, end = source.places(span)
    if is_unspaced(src):
        return [(place, place + 1) for place in range(start, end)]
    spans = [(span[0] + match.start(), span[0] + match.end()) for match in _WORD.finditer(text[slice(*span)])]
    return [source.places(word) for word in spans]


def _apart(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places from left to right, without what one before them has already; none of what is then left empty.

    >>> _apart([(4, 6), (1, 3), (2, 3), (2, 4)])
    [(1, 3), (3, 4), (4, 6)]
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        start = max(start, found[-1][1]) if found else start
        if start < end:
            found.append((start, end))
    return found


def _replaced(pieces: Iterable[Piece]) -> int:
    return sum(end - start for (start, end), _, _ in pieces)


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
    shape = full.last_hidden_state.shape[:2]
    for name, states in full.items():
        if not isinstance(states, torch.Tensor) or states.ndim < 3 or states.shape[:2] != shape:
            continue
        result[name] = states.clone()
        for row, found in enumerate(pieces):
            for (start, end), ids, before in found:
                result[name][row, start:end] = donors[name][number[ids], before : before + end - start]
    return type(full)(**result)


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
