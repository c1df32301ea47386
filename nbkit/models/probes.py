"""Idiom probes: how an encoder-decoder translates an idiom encoded with less and less context.

The whole source is encoded, and the states of the idiom's subwords are replaced, before the decoder reads
them, by the states of the same subwords encoded

    full      in the whole source: nothing is replaced
    phrase    in the idiom only (each of its spans in the source separately)
    word      in each of its words separately

The paper does not specify the details. Here the subwords are those of the whole source: a part of it is not
tokenized again, so states replace states one to one. A part is encoded like any text of the model: from the
first position, between the special tokens around the source (language code or mark, end), whose states
remain those of the whole source. Words are separated by white space; in a language written without it each
subword is a word; a subword of two words belongs to the first. Every subword that shares a character with
the idiom is replaced.

The research code also replaces the states of the special tokens after the source. In this variant
(`EndState` "replaced") they become those of the last separately encoded part.

Source: idioms paper, §4 and appendix D, Figures 4 to 7 and 16 to 21.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from nbkit.corpora.idioms import IdiomPair
from nbkit.errors import ModelError, NbkitError
from nbkit.languages import is_unspaced
from nbkit.models.backends import DEFAULT, TRANSFORMERS, Decoding
from nbkit.models.batching import run_batches
from nbkit.models.catalogue import BY_RULE, label, resolve
from nbkit.models.lifecycle import with_revision
from nbkit.models.translators.lifecycle import TRANSLATOR, check_model, ensure_model, model_identity
from nbkit.progress import progress_bar
from nbkit.store import Store
from nbkit.text.parsers import Span, tokens_in

if TYPE_CHECKING:
    from torch import Tensor

    from nbkit.models.translators.seq2seq import Ids, Seq2SeqTranslator, TokenizedTranslator

Context: TypeAlias = Literal["full", "phrase", "word"]
#: Whether the states of the special tokens after the source are "kept", as the paper words it, or "replaced", as its
#: research code does.
EndState: TypeAlias = Literal["kept", "replaced"]
#: From the most context to the least, the order of the paper's bars.
CONTEXTS: tuple[Context, ...] = get_args(Context)
#: Changes when the algorithm changes so that a result can.
VERSION = 1
#: Pairs that are probed before any of them is remembered.
_SHARD = 500


@dataclass(frozen=True)
class ContextProbe:
    """A model's results for one sentence pair whose idiom is encoded in one context.

    hypothesis: found by the search from these encoder states H. log_probabilities: ln p(y_t | y_<t, H) of each
    subword of the reference, including its end. entropies: of these distributions, in nats.
    offsets: the characters of the reference that each covers, (0, 0) for its end. replaced: number of subwords of the
    source with replaced states, including special tokens after it if they are replaced.

    >>> probe = ContextProbe("word", "du gâteau", (-1.0, -3.0), (0.5, 1.0), ((0, 9), (0, 0)), 3)
    >>> round(probe.perplexity, 3)
    7.389
    """

    context: Context
    hypothesis: str
    log_probabilities: tuple[float, ...] = field(repr=False)
    entropies: tuple[float, ...] = field(repr=False)
    offsets: tuple[Span, ...] = field(repr=False)
    replaced: int

    @property
    def perplexity(self) -> float:
        """Of the reference, by subword: exp(−1/|y| · Σ_t ln p(y_t | y_<t, H)). Source: idioms paper, §4.2."""
        return float(np.exp(-np.mean(self.log_probabilities)))


def probe_problem(name: str, src: str, tgt: str) -> str | None:
    """Why a model cannot be probed for a pair, in one message; None if it can. Loads nothing.

    >>> probe_problem("openai:gpt-4o", "en", "fr")
    "model 'openai:gpt-4o' cannot be probed: ..."
    """
    try:
        _check_name(name, src, tgt)
    except NbkitError as error:
        return str(error)
    return check_model(name, src, tgt)


def probe_config(
    name: str,
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    end_state: EndState = "kept",
    device: str = "auto",
    dtype: str = "auto",
) -> dict[str, Any]:
    """Store key of a model's probes, for `Store.missing` in estimates (with `probe_key` of each pair)."""
    model = model_identity(name, src, tgt, device=device, dtype=dtype)
    return {
        "kind": "idiom-probe",
        "version": VERSION,
        "model": model,
        "src": src,
        "tgt": tgt,
        "decoding": decoding.identity(),
        **({} if end_state == "kept" else {"end_state": end_state}),  # probes of before there was a choice stay known
    }


def probe_key(pair: IdiomPair) -> tuple[str, str, str]:
    """The parts of a pair that can change its probes: source, reference and the idiom's spans.

    >>> probe_key(IdiomPair("7", "a piece of cake", "du gâteau", "piece of cake", ((2, 15),)))
    ('a piece of cake', 'du gâteau', '[[2, 15]]')
    """
    return pair.source, pair.target, json.dumps(pair.spans)


def probe_remembered(
    name: str,
    pairs: Iterable[IdiomPair],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    end_state: EndState = "kept",
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> Iterator[dict[Context, ContextProbe]]:
    """The probes of each pair, by context, in order: read from *store*, or computed now and stored.

    pairs: may be a stream; some thousands are in memory at a time. If no probe is missing, no model is loaded.
    Raises what `load_translator` and `probe` raise, but only if a probe is missing.
    Source: idioms paper, §4 (beam search of 5 there: ``Decoding(beams=5)``).
    """
    _check_name(name, src, tgt)
    config = with_revision(
        lambda: probe_config(name, src, tgt, decoding, end_state=end_state, device=device, dtype=dtype),
        lambda: ensure_model(name, src, tgt),
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
        translator: Any = TRANSLATOR.kept(config["model"], name, src, tgt, device=device, dtype=dtype)
        wanted = [
            IdiomPair("", source, reference, "", tuple((start, end) for start, end in json.loads(spans)))
            for source, reference, spans in missing
        ]
        return map(_record, probe(translator, wanted, src, tgt, decoding, end_state=end_state, progress=progress))

    return map(_read, store.iter_records(config, map(probe_key, pairs), compute, shard=_SHARD))


def probe(
    translator: Seq2SeqTranslator,
    pairs: Sequence[IdiomPair],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    end_state: EndState = "kept",
    progress: bool = True,
) -> list[dict[Context, ContextProbe]]:
    """The probes of each pair, by context, in order. They depend only on the pair, as far as float arithmetic allows.

    Sources and references longer than the model's positions are truncated, with a warning.
    end_state: see `EndState`.
    Raises `ModelError` for a tokenizer without offsets and for a language that the model does not support, and
    `NbkitError` for an idiom without a subword (after truncation) and for an empty reference.
    """
    for pair in pairs:
        if not pair.target.strip():
            raise NbkitError(f"probes: the reference of {pair.source[:60]!r} is empty; drop this pair")
    target = translator._languages(src, tgt)
    sources = subwords(translator, [pair.source for pair in pairs], tgt)
    contexts = [_pieces(pair, source, src, end_state) for pair, source in zip(pairs, sources, strict=True)]
    references = list(subwords(translator, [pair.target for pair in pairs], tgt, target=True))
    items = [Input(*found, reference.ids) for found, reference in zip(contexts, references, strict=True)]
    part = chosen(translator, target)
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
        return [
            {
                context: ContextProbe(
                    context, *found, reference.offsets[part], sum(end - start for (start, end), *_ in own)
                )
                for context, found, own in zip(CONTEXTS, outcome, each.contexts, strict=True)
            }
            for each, outcome, reference in zip(items, outcomes, references, strict=True)
        ]


#: What of a `ContextProbe` a record holds by context; offsets are those of the reference in every context.
_RECORDED = ("hypothesis", "log_probabilities", "entropies", "replaced")


def _record(probes: Mapping[Context, ContextProbe]) -> dict[str, Any]:
    """A pair's probes as a flat record of the store."""
    starts, ends = zip(*probes["full"].offsets, strict=True)
    record: dict[str, Any] = {"starts": list(starts), "ends": list(ends)}
    for context, each in probes.items():
        for name in _RECORDED:
            value = getattr(each, name)
            record[f"{context}_{name}"] = list(value) if isinstance(value, tuple) else value
    return record


def _read(record: Mapping[str, Any]) -> dict[Context, ContextProbe]:
    offsets = tuple((int(start), int(end)) for start, end in zip(record["starts"], record["ends"], strict=True))
    probes: dict[Context, ContextProbe] = {}
    for context in CONTEXTS:
        hypothesis, *rows, replaced = (record[f"{context}_{name}"] for name in _RECORDED)
        log_probabilities, entropies = (tuple(map(float, row)) for row in rows)
        probes[context] = ContextProbe(context, hypothesis, log_probabilities, entropies, offsets, replaced)
    return probes


def has_states(name: str, src: str, tgt: str) -> bool:
    """Whether a model's encoder can be looked into at all: not with outputs alone, behind a service, or in Python.

    >>> has_states("opus-mt", "en", "fr"), has_states("openai:gpt-4o", "en", "fr")
    (True, False)
    """
    reference = resolve(name, src, tgt)
    return reference.remote is None and reference.entry.python is None


def _check_name(name: str, src: str, tgt: str) -> None:
    """Raises `ModelError` for a model whose encoder is not accessible."""
    reference = resolve(name, src, tgt)
    reason = None
    if name.startswith(BY_RULE):
        reason = "the rule for numbers has no encoder; probe the model without 'placeholder:'"
    elif reference.remote is not None:
        reason = "it runs behind a service, which does not expose its encoder's states"
    elif reference.entry.python is not None:
        reason = "it is Python code, which does not expose its encoder's states"
    elif reference.backend != TRANSFORMERS:
        reason = (
            f"its encoder runs in {reference.backend.label or reference.backend.suffix}; probe it without the suffix"
        )
    if reason:
        raise ModelError(f"model '{name}' cannot be probed: {reason}")


# ----------------------------------------------------------------------------
# Where the subwords that a translator reads and writes stand in their text, whatever tokenizer cuts them.

#: Offsets of a token that covers no characters: language codes, marks, the end.
NOWHERE: Span = (0, 0)


@dataclass(frozen=True)
class Subwords:
    """A text as a model sees it.

    ids: all of them, in order. offsets: the characters that each covers, without white space at its edges;
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
    Raises `ModelError`, naming the model, if its tokenizer cannot map subwords to characters.
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
            f"model '{translator.name}': its tokenizer, {type(tokenizer).__name__}, has no offsets, so it cannot map "
            "subwords to characters. Use a model with tokenizer.json or a SentencePiece model"
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
        f"model '{translator.name}': the offsets of its {tokenizer} do not match its subwords of {text[:60]!r}; "
        "drop this text"
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
    """A source, the parts that each context encodes separately, and the labels of its reference."""

    source: Ids
    contexts: tuple[tuple[Piece, ...], ...]
    labels: Ids


#: What one context leads to: a hypothesis, and of each label its log-probability and its distribution's entropy.
Outcome: TypeAlias = tuple[str, tuple[float, ...], tuple[float, ...]]


def _pieces(
    pair: IdiomPair, source: Subwords, src: str, end_state: EndState
) -> tuple[Ids, tuple[tuple[Piece, ...], ...]]:
    """The ids of the source, and the parts that each context (full, phrase, word) encodes separately."""
    try:
        phrases = [source.places(span) for span in pair.spans]
        words = [place for span in pair.spans for place in _words(pair.source, span, source, src)]
    except NbkitError as error:
        raise NbkitError(f"probes: {pair.source[:60]!r}: the idiom has no subword: {error}; drop this pair") from None
    length = len(source.ids)
    contexts: list[tuple[Piece, ...]] = [()]
    for places in (phrases, words):
        own = [Piece(place, source.alone(place), source.before) for place in _apart(places)]
        if end_state == "replaced":  # the special tokens after the source are part of the last piece
            ids = own[-1].ids
            own.append(Piece((length - source.after, length), ids, len(ids) - source.after))
        contexts.append(tuple(own))
    return source.ids, tuple(contexts)


def _words(text: str, span: Span, source: Subwords, src: str) -> list[tuple[int, int]]:
    """The places of the words of a span, one by one."""
    start, end = source.places(span)
    if is_unspaced(src):
        return [(place, place + 1) for place in range(start, end)]
    spans = [(span[0] + match.start(), span[0] + match.end()) for match in re.finditer(r"\S+", text[slice(*span)])]
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


def probe_batch(
    translator: Seq2SeqTranslator, batch: Sequence[Input], target: int | None, decoding: Decoding
) -> list[tuple[Outcome, ...]]:
    """An outcome for each context of each input of a batch; one pass through the encoder a context.

    target: the language token that hypotheses begin with, None where the family has none. Only labels that the model
    chooses (`chosen`) are part of an outcome.
    """
    import torch

    rows = [each.source for each in batch]
    limit = min(decoding.limit(max(map(len, rows))), translator.positions - 1)
    labels = [each.labels for each in batch]
    contexts = []
    with torch.inference_mode():
        full, mask = encode(translator, rows)
        for pieces in zip(*(each.contexts for each in batch), strict=True):
            states = replaced(translator, full, pieces)
            inputs = {"encoder_outputs": _copied(states), "attention_mask": mask}
            ids = translator._search(inputs, target, decoding, limit)
            hypotheses = translator.tokenizer.batch_decode(ids, skip_special_tokens=True)
            judged = _under_references(translator, states, mask, labels, chosen(translator, target))
            contexts.append([(text.strip(), *each) for text, each in zip(hypotheses, judged, strict=True)])
    return list(zip(*contexts, strict=True))


def chosen(translator: Seq2SeqTranslator, target: int | None) -> slice:
    """Which labels of a reference the model chooses: not the language token, the first or, in mBART-25, the last."""
    if translator.family.token_starts:
        return slice(0, -1)
    return slice(0 if target is None else 1, None)


def encode(translator: Seq2SeqTranslator, rows: Sequence[Ids]) -> tuple[Any, Tensor]:
    """What the encoder makes of rows of ids, a ModelOutput of (rows × positions × width) states, and their mask."""
    inputs = translator._padded(list(rows))
    return translator.model.get_encoder()(**inputs, return_dict=True), inputs["attention_mask"]


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
        if getattr(states, "ndim", 0) < 3 or states.shape[:2] != shape:
            continue
        result[name] = states.clone()
        for row, found in enumerate(pieces):
            for (start, end), ids, before in found:
                result[name][row, start:end] = donors[name][number[ids], before : before + end - start]
    return type(full)(**result)


def _under_references(
    translator: Seq2SeqTranslator, states: Any, mask: Tensor, references: Sequence[Ids], part: slice
) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Of each reference's labels, ln p(y_t | y_<t, H) and the entropy of p(· | y_<t, H), H the encoder's states."""
    import torch

    rows = translator._padded(list(references))
    labels = rows["input_ids"].masked_fill(rows["attention_mask"] == 0, -100)
    logits = translator.model(encoder_outputs=_copied(states), attention_mask=mask, labels=labels).logits
    found = []
    for row, reference in zip(logits, references, strict=True):  # one by one: a batch in float32 is many times a row
        log_p = row[: len(reference)][part].float().log_softmax(-1)
        of_labels = log_p.gather(-1, labels.new_tensor(reference[part]).unsqueeze(-1)).squeeze(-1)
        entropy = torch.special.entr(log_p.exp()).sum(-1)
        found.append((tuple(of_labels.tolist()), tuple(entropy.tolist())))
    return found


def _copied(states: Any) -> Any:
    """A shallow copy of a ModelOutput: `generate` replaces its states by those of every beam, in place."""
    return type(states)(**dict(states.items()))


# ----------------------------------------------------------------------------
# From subwords to words: how uncertain a decoder is about the words that translate an idiom, and about the others.
#
# Pure functions of what a probe measured.
#
# Source: idioms paper, §4.3 and appendix D.3, Figures 7, 20 and 21.


@dataclass(frozen=True)
class SplitEntropy:
    """Mean entropies of a reference's words in nats, NaN if there are none, and the numbers of these words.

    idiom: words that are aligned to a word of the idiom. other: those aligned to other words of the source alone.
    Words that are aligned to nothing are in neither.
    """

    idiom: float
    other: float
    idiom_words: int
    other_words: int


def word_entropies(probe: ContextProbe, words: Sequence[Span]) -> np.ndarray:
    """The entropy of each word in nats: the mean over its subwords, NaN where none shares a character with it.

    H(w) = 1/|w| Σ_{t in w} H(p(· | y_<t, H))

    words: characters of the reference. A subword of two words (*word.*) counts for both; the reference's end is not
    a word. The paper says that it maps subwords to words, not how; the mean keeps a word of many subwords comparable.
    Source: idioms paper, §4.3 and footnote 7.

    >>> probe = ContextProbe("full", "", (-1.0,) * 4, (0.5, 1.0, 2.0, 9.0), ((0, 2), (3, 5), (5, 9), (0, 0)), 0)
    >>> word_entropies(probe, [(0, 2), (3, 9), (10, 11)]).tolist()
    [0.5, 1.5, nan]
    """
    means = []
    for start, end in words:
        inside = [
            entropy
            for entropy, (first, last) in zip(probe.entropies, probe.offsets, strict=True)
            if first < end and start < last
        ]
        means.append(np.mean(inside) if inside else np.nan)
    return np.array(means, dtype=np.float64)


def split_by_alignment(
    entropies: Sequence[float] | np.ndarray, links: Iterable[tuple[int, int]], idiom: Collection[int]
) -> SplitEntropy:
    """Mean entropies of the words of a reference that translate an idiom, and of those that translate other words.

    entropies: of each word; NaN values are ignored. links: (source word, reference word). idiom: its source words. A
    word that is linked to the idiom and to another word is one of the idiom's.
    Raises `NbkitError` for an idiom without words and for a link outside the reference. Source: idioms paper, §4.3.

    >>> split_by_alignment([3.0, 2.0, 0.5, 0.1], [(0, 2), (1, 0), (2, 1), (0, 1)], {1, 2})
    SplitEntropy(idiom=2.5, other=0.5, idiom_words=2, other_words=1)
    """
    values = np.asarray(entropies, dtype=np.float64)
    if not idiom:
        raise NbkitError("entropies: the idiom has no words in the source; give at least one")
    of_idiom, linked = np.zeros((2, len(values)), bool)
    for source, target in links:
        if not 0 <= target < len(values):
            raise NbkitError(f"entropies: link {source}-{target} is outside a reference of {len(values)} words")
        linked[target] = True
        of_idiom[target] |= source in idiom
    parts = [values[places & ~np.isnan(values)] for places in (of_idiom, linked & ~of_idiom)]
    idiom_mean, other_mean = (float(part.mean()) if part.size else float("nan") for part in parts)
    return SplitEntropy(idiom_mean, other_mean, parts[0].size, parts[1].size)


def corpus_perplexity(log_probability: ArrayLike, subwords: ArrayLike) -> np.ndarray:
    """The perplexity of several references together, by subword: exp(−Σ ln p / Σ |y|); NaN without subwords.

    log_probability: Σ ln p in nats. subwords: Σ |y|. Of arrays, element by element: one entry a set of references.
    A mean of `ContextProbe.perplexity` counts each pair once in place of each subword.

    >>> corpus_perplexity([-8.0, 0.0], [4, 0]).round(3).tolist()
    [7.389, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.exp(-np.asarray(log_probability, dtype=np.float64) / np.asarray(subwords))
